#!/usr/bin/env bash
# Fetches the kernel of the lab's guests, Debian's 6.12 for clouds, into .cache/lab/kernel. It is
# unpacked there, never installed. What is there already is not fetched again.
source "$(dirname "$0")/lib.sh"

kernel=.cache/lab/kernel
[ -e "$kernel/complete" ] && exit 0

# The newest that apt knows; as a dependency of the package that always names the newest one, or,
# where that is called otherwise, by its own name.
newest() {
    apt-cache depends linux-image-6.12-cloud-amd64 linux-image-cloud-amd64 2>/dev/null |
        sed -n 's/^ *Depends: \(linux-image-6\.12\.[^ ]*-cloud-amd64\)$/\1/p' | sort -V | tail -n 1
}
have apt-get || die "the lab's kernel comes from Debian's package linux-image-6.12.*-cloud-amd64;" \
    "without apt-get, unpack it by hand: docs/lab.md says how"
package=$(newest)
if [ -z "$package" ]; then
    as_root apt-get update -q >.cache/apt.log 2>&1 </dev/null || true
    package=$(newest)
fi
[ -n "$package" ] || die "apt knows no linux-image-6.12.*-cloud-amd64 (Debian has it in bookworm-security" \
    "and in trixie); docs/lab.md says how to unpack one by hand"

say "fetching the guests' kernel: $package (unpacked into $kernel, not installed)"
work=.cache/lab/unpacking
rm -rf "$work" "$kernel"
mkdir -p "$work"
(cd "$work" && apt-get download -q "$package" >../apt.log 2>&1) || {
    # Lists that are older than the archive name files that are gone.
    as_root apt-get update -q >>.cache/lab/apt.log 2>&1 </dev/null || true
    (cd "$work" && apt-get download -q "$package" >>../apt.log 2>&1)
} || { tail -n 15 .cache/lab/apt.log >&2; die "apt-get could not download $package"; }
dpkg -x "$work"/*.deb "$work/root"
# Guests load modules as they are: a busybox need not know xz, nor our programs.
[ -d "$work/root/lib/modules" ] || { mkdir -p "$work/root/lib"; mv "$work/root/usr/lib/modules" "$work/root/lib/"; }
find "$work/root/lib/modules" -name '*.ko.xz' -exec xz -d {} +
version=$(basename "$work"/root/lib/modules/*)
busybox depmod -b "$work/root" "$version"
mv "$work/root" "$kernel"
rm -rf "$work"
touch "$kernel/complete"
