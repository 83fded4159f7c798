#!/usr/bin/env bash
# Installs what the tests need, runs all of them, and ends with one line that counts them.
# Arguments, if any, replace --workspace: scripts/test.sh -p pagetide-host
# A test that cannot run here prints "SKIPPED name: reason"; it counts as skipped, not passed.
source "$(dirname "$0")/lib.sh"

# The packages, and the Python environment in which one test reads a recording with DuckDB.
scripts/venv.sh scripts/test-requirements.txt

# Reading page tables needs root: run the test programs through sudo where it asks for nothing.
if [ "$(id -u)" != 0 ]; then
    if have sudo && { sudo -n true 2>/dev/null || { [ -t 0 ] && sudo true; }; }; then
        export CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER="sudo -E"
    else
        say "not root and no sudo: the tests that read page tables will be skipped"
    fi
fi

# The same properties on the same cases every time; PROPTEST_RNG_SEED=... tries others.
export PROPTEST_RNG_SEED="${PROPTEST_RNG_SEED:-1}"

say "building and running the tests; the whole output goes to .cache/test.log"
status=0
cargo test --locked "${@:---workspace}" --no-fail-fast --color never -- --show-output </dev/null 2>&1 |
    tee .cache/test.log | scripts/test-summary.awk || status=1
exit "$status"
