#!/usr/bin/env bash
# Installs what is missing of the packages and checks the Rust toolchain.
# Usage: deps.sh build|demo|test|release|lab|exact|truth|long
source "$(dirname "$0")/lib.sh"

# Compiling: clang for the eBPF programs; libelf and zlib for their loader; gcc and make for it.
packages=(clang gcc libc6-dev libelf-dev zlib1g-dev make pkg-config)
case "${1:-build}" in
build) ;;
demo) packages+=(redis-server) ;;
release) packages+=(autoconf automake autopoint bison flex gawk gettext python3) ;;
test) packages+=(python3 python3-venv redis-server qemu-user) ;;
# QEMU's user mode, in which programs are counted; gcc, in any case, builds our plugin for it.
exact) packages+=(qemu-user) ;;
# QEMU, the guests' tools, and what unpacks its kernel (which is not installed).
lab) packages+=(qemu-system-x86 busybox-static numactl ndctl daxctl xz-utils) ;;
# The programs that the truth bench measures (benches/truth), and QEMU, which executes them.
truth)
    packages+=(qemu-user python3 python3-venv redis-server memcached liblinear-tools cadical)
    packages+=(sqlite3 zstd xz-utils g++ lua5.4 stockfish bwa default-jdk-headless golang-go nodejs ruby
        perl rocksdb-tools octave ocaml-nox povray)
    ;;
# The server that the long tests record. It is started by them alone: no cluster is made at installation.
long)
    packages+=(python3 postgresql)
    if [ ! -e /etc/postgresql-common/createcluster.conf ]; then
        as_root mkdir -p /etc/postgresql-common
        echo "create_main_cluster = false" | as_root tee /etc/postgresql-common/createcluster.conf >/dev/null
    fi
    ;;
*) die "usage: deps.sh build|demo|test|release|lab|exact|truth|long" ;;
esac

installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

install() {
    say "installing: $* (apt-get; log in .cache/apt.log)"
    local get=(apt-get install -y -q --no-install-recommends -o Dpkg::Options::=--force-confold)
    # Package lists may be absent or old: refresh them only if the first try fails.
    as_root "${get[@]}" "$@" >.cache/apt.log 2>&1 </dev/null && return
    as_root apt-get update -q >>.cache/apt.log 2>&1 </dev/null || true
    as_root "${get[@]}" "$@" >>.cache/apt.log 2>&1 </dev/null && return
    tail -n 15 .cache/apt.log >&2
    die "apt-get could not install: $*"
}

missing=()
if have dpkg-query && have apt-get; then
    for package in "${packages[@]}"; do
        installed "$package" || missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] || install "${missing[@]}"
    # Pages are tested in a browser; where none is packaged (Ubuntu has it as a snap only), those
    # tests say that they are skipped.
    if [ "${1:-build}" = test ] && ! have chromium && ! have google-chrome; then
        case $(apt-cache policy chromium 2>/dev/null) in
        *'Candidate: '*snap* | *'Candidate: (none)'* | '') ;;
        *) install chromium ;;
        esac
    fi
else
    for tool in clang gcc make pkg-config; do
        have "$tool" || missing+=("$tool")
    done
    [ -e /usr/include/libelf.h ] || missing+=(libelf)
    [ -e /usr/include/zlib.h ] || missing+=(zlib)
    [ ${#missing[@]} -eq 0 ] || die "this is no Debian or Ubuntu; install the equivalents of" \
        "${missing[*]} (with headers) and try again"
fi

# Rust: rustup reads the pinned toolchain from rust-toolchain.toml and fetches it by itself.
wanted=$(sed -n 's/^channel = "\(.*\)"/\1/p' rust-toolchain.toml)
if ! have cargo && [ -x "$HOME/.cargo/bin/cargo" ]; then
    die "cargo lies in ~/.cargo/bin, which is not in PATH; run: . ~/.cargo/env"
fi
# Newer Debian and Ubuntu have rustup as a package; their own cargo is too old.
if ! have cargo && ! have rustup && have apt-get; then
    case $(apt-cache policy rustup 2>/dev/null) in
    *'Candidate: '[0-9]*) install rustup ;;
    esac
fi
if ! have cargo; then
    die "Rust is missing. Install rustup, which brings the toolchain $wanted that is pinned here:
  curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --profile minimal
  . ~/.cargo/env
and try again."
fi
version=$(cargo --version 2>.cache/cargo.log | awk '{print $2}') || {
    cat .cache/cargo.log >&2
    die "cargo does not work; with rustup: rustup toolchain install $wanted"
}
oldest=$(printf '%s\n' "$wanted" "$version" | sort -V | head -n 1)
[ "$oldest" = "$wanted" ] ||
    die "cargo is $version, and $wanted or newer is needed; install rustup (https://rustup.rs)"

if [ "${1:-build}" = lab ]; then
    scripts/lab-kernel.sh
    scripts/lab-qemu.sh || say "guests with CXL memory cannot be booted here; their tests say that they are skipped"
fi
