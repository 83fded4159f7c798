#!/usr/bin/env bash
# Builds one binary without any shared library, and proves that it runs, records and plans in an
# empty file system.
source "$(dirname "$0")/lib.sh"

scripts/deps.sh release
target=$(uname -m)-unknown-linux-gnu
out=target/dist
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
name=pagetide-$version-$(uname -m)-linux

say "building $name, statically linked (some minutes the first time)"
# libelf and zlib are built from the sources that libbpf-sys brings: a distribution's static libelf
# may not link (Debian 13). With --target, build scripts and procedural macros stay dynamic.
RUSTFLAGS="-C target-feature=+crt-static" \
    cargo build --release --quiet --locked -p pagetide --target "$target" \
    --features pagetide-scan/vendored
mkdir -p "$out"
install -m 0755 "target/$target/release/pagetide" "$out/$name"
strip --strip-debug "$out/$name"
{
    echo "Pagetide $version is Apache-2.0 OR MIT; its eBPF programs are GPL-2.0-only OR MIT."
    echo "Linked into the binary beside the crates below: libbpf (BSD-2-Clause OR LGPL-2.1-only),"
    echo "libelf (GPL-2.0-or-later OR LGPL-3.0-or-later), zlib (Zlib), glibc (LGPL-2.1-or-later)."
    echo
    scripts/licences.py --list
} >"$out/THIRD-PARTY.txt"

say "writing the manual pages and the completions"
rm -rf "$out/share"
"$out/$name" man -o "$out/share/man/man1"
completions() { # SHELL FOLDER FILE, where distributions put it
    mkdir -p "$out/share/$2"
    "$out/$name" completions "$1" >"$out/share/$2/$3"
}
completions bash bash-completion/completions pagetide
completions zsh zsh/site-functions _pagetide
completions fish fish/vendor_completions.d pagetide.fish

say "checking that it needs no shared library and runs in an empty file system"
case $(readelf --dynamic --program-headers "$out/$name") in
*NEEDED* | *INTERP*) die "$out/$name needs shared libraries; see ldd $out/$name" ;;
esac
empty=$(mktemp -d)
trap 'as_root rm -rf --one-file-system "$empty"' EXIT
cp "$out/$name" "$empty/pagetide"
mkdir "$empty/proc" "$empty/sys" "$empty/dev"
# Nothing but itself and what the kernel shows; the mounts are gone with their namespace.
inside() {
    # shellcheck disable=SC2016 # expanded in there
    as_root unshare --mount bash -c 'set -e
        mount -t proc none "$0/proc"
        mount --rbind /sys "$0/sys"
        mount --rbind /dev "$0/dev"
        exec env -i "$(type -P chroot)" "$0" /pagetide "$@"' "$empty" "$@"
}
inside --version
inside policies >/dev/null
if inside doctor --no-self-test >"$out/doctor.log"; then
    workload=(/pagetide workload hot-cold --size 64M --hot 16M --rate 20000 --seconds 12)
    inside record --quiet --epoch 1s -o /release.heat -- "${workload[@]}"
    inside plan /release.heat >/dev/null
    inside trace info /release.heat | grep -E '^ +(Time|Memory|CPU) '
else
    say "SKIPPED recording with it: this machine cannot record, see $out/doctor.log"
fi
(cd "$out" && find "$name" THIRD-PARTY.txt share -type f -print0 | sort -z | xargs -0 sha256sum >SHA256SUMS)
say "$out/$name, $(du -h "$out/$name" | cut -f 1); beside it SHA256SUMS, THIRD-PARTY.txt and"
say "share/, to be copied to /usr/local/share"
