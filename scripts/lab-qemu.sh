#!/usr/bin/env bash
# Fetches a QEMU that emulates volatile CXL memory at the speed of memory (11 and later) into .cache/lab/qemu, with the
# libraries that it needs. It is unpacked there, never installed. What is there already is not fetched again, and
# nothing is where the machine's own QEMU is new enough. Guests without CXL memory run on the machine's own.
source "$(dirname "$0")/lib.sh"

# The package that this was tried with, of Debian's trixie-backports; another one: PAGETIDE_LAB_QEMU.
version=${PAGETIDE_LAB_QEMU:-1:11.1.3+ds-1~bpo13+1}
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
qemu=.cache/lab/qemu

there=$(cat "$qemu/complete" 2>/dev/null || true)
[ -z "$there" ] || [ "$there" != "${PAGETIDE_LAB_QEMU:-$there}" ] || exit 0
own=$(qemu-system-x86_64 --version 2>/dev/null | sed -n 's/^QEMU emulator version \([0-9]*\)\..*/\1/p')
[ "${own:-0}" -lt 11 ] || exit 0

have apt-get || die "a QEMU with CXL memory comes from Debian's package qemu-system-x86 $version; there is no apt-get"
[ -e "$keyring" ] || die "there is no $keyring, by which Debian's packages are checked (package debian-archive-keyring)"
# The archive that this machine's own packages come from.
archive=$(apt-get indextargets --format '$(ORIGIN) $(CODENAME) $(REPO_URI)' |
    awk '$1 == "Debian" && $2 !~ /-/ && !found++ { print $3 }')
[ -n "$archive" ] || die "apt knows no archive of Debian, from which a QEMU with CXL memory comes"

work=$PWD/.cache/lab/unpacking-qemu
log=.cache/lab/apt-qemu.log
rm -rf "$work"
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
: >"$work/status"
for suite in trixie trixie-backports; do
    echo "deb [arch=amd64 signed-by=$keyring] $archive $suite main"
done >"$work/sources.list"
# Lists, packages and state of its own: nothing of the machine's apt changes. No package counts as installed, so all that
# QEMU needs comes along, down to the C library.
apt_here() {
    apt-get -q -o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts=- -o Dir::Etc::preferencesparts=- \
        -o Dir::State::lists="$work/lists" -o Dir::State::status="$work/status" -o Dir::State="$work" -o Dir::Cache="$work/cache" \
        -o APT::Architecture=amd64 -o Acquire::Languages=none -o APT::Sandbox::User=root -o Debug::NoLocking=1 "$@" \
        >>"$log" 2>&1 </dev/null
}
: >"$log"
say "fetching a QEMU with CXL memory: $version (unpacked into $qemu, not installed; log in $log)"
apt_here update || { tail -n 15 "$log" >&2; die "apt-get could not read the lists of trixie and trixie-backports"; }
apt_here install -y --no-install-recommends --download-only -t trixie-backports "qemu-system-x86=$version" || {
    tail -n 15 "$log" >&2
    die "apt-get could not download qemu-system-x86 $version; where the archive has another one by now," \
        "PAGETIDE_LAB_QEMU=VERSION $0 takes that"
}
for package in "$work"/cache/archives/*.deb; do dpkg -x "$package" "$work/root"; done
# What the lab needs of it: the program, libraries, firmware.
mkdir -p "$work/kept/bin" "$work/kept/lib" "$work/kept/share"
mv "$work/root/usr/bin/qemu-system-x86_64" "$work/kept/bin/"
cp -P "$work"/root/usr/lib/x86_64-linux-gnu/*.so* "$work/kept/lib/"
cp "$work"/root/usr/share/seabios/* "$work"/root/usr/share/qemu/*.{bin,rom} "$work/kept/share/"
rm -rf "$qemu"
mv "$work/kept" "$qemu"
"$qemu/lib/ld-linux-x86-64.so.2" --library-path "$qemu/lib" "$qemu/bin/qemu-system-x86_64" --version >>"$log" 2>&1 || {
    tail -n 5 "$log" >&2
    die "the QEMU that was fetched does not start"
}
echo "$version" >"$qemu/complete"
