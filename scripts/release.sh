#!/usr/bin/env bash
# Builds one binary without any shared library, and proves that it runs in an empty file system.
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

say "checking that it needs no shared library and runs in an empty file system"
case $(readelf --dynamic --program-headers "$out/$name") in
*NEEDED* | *INTERP*) die "$out/$name needs shared libraries; see ldd $out/$name" ;;
esac
empty=$(mktemp -d)
trap 'rm -rf "$empty"' EXIT
cp "$out/$name" "$empty/pagetide"
as_root chroot "$empty" /pagetide --version
as_root chroot "$empty" /pagetide policies >/dev/null
(cd "$out" && sha256sum "$name" THIRD-PARTY.txt >SHA256SUMS)
say "$out/$name, $(du -h "$out/$name" | cut -f 1); beside it SHA256SUMS and THIRD-PARTY.txt"
