#!/usr/bin/env bash
# Records a real PostgreSQL three times (scripts/test-postgres.sh), kills `pagetide shift` at 100 random points in guests (an
# hour; KILLS=100), and fuzzes every reader of what others
# wrote, for MINUTES each (2 by default), from the corpus in fuzz/corpus. Installs PostgreSQL, cargo-fuzz and a
# nightly toolchain if they are missing; what is found is left in fuzz/artifacts.
# Usage: test-long.sh [postgres|kills|TARGET...]
source "$(dirname "$0")/lib.sh"

# Ten at a time, with a reboot after each; what they said is kept in .cache/kills.
kills() {
    local left=${KILLS:-100}
    mkdir -p .cache/kills
    while [ "$left" -gt 0 ]; do
        say "kills: $left left"
        PAGETIDE_KILLS=$((left < 10 ? left : 10)) scripts/test-lab.sh killed_at_random_points
        cp .cache/lab/test.log ".cache/kills/$(date +%F-%H%M%S).txt"
        left=$((left - 10))
    done
}

if [ $# -eq 0 ]; then
    scripts/test-postgres.sh
    kills
elif [ "$1" = kills ]; then
    shift
    kills
    [ $# -gt 0 ] || exit 0
elif [ "$1" = postgres ]; then
    shift
    scripts/test-postgres.sh
    [ $# -gt 0 ] || exit 0
fi

have clang++ || have g++ || die "libFuzzer is compiled from C++: install g++"
cargo +nightly --version >/dev/null 2>&1 || rustup toolchain install nightly --profile minimal
if ! have cargo-fuzz && ! [ -x .cache/tools/bin/cargo-fuzz ]; then
    say "installing cargo-fuzz into .cache/tools"
    cargo install --quiet --locked --root .cache/tools cargo-fuzz
fi
PATH="$PWD/.cache/tools/bin:$PATH"

targets=("$@")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(cd fuzz && cargo +nightly fuzz list)
seconds=$(( ${MINUTES:-2} * 60 ))
for target in "${targets[@]}"; do
    say "fuzzing $target for $seconds s"
    mkdir -p "fuzz/corpus/$target" ".cache/fuzz/$target"
    # What it finds on the way goes beside the corpus that is committed.
    cargo +nightly fuzz run --sanitizer none "$target" ".cache/fuzz/$target" "fuzz/corpus/$target" -- \
        -max_total_time="$seconds" -rss_limit_mb=4096 -malloc_limit_mb=4096 -timeout=20 -verbosity=0 \
        -print_final_stats=1
done
say "nothing was found"
