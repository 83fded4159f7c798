#!/usr/bin/env bash
# Runs every Criterion benchmark; results and earlier ones lie in target/criterion.
source "$(dirname "$0")/lib.sh"

scripts/deps.sh build
say "running the benchmarks; anything else that runs now disturbs them"
cargo bench --locked --workspace --bench '*' -- "$@"
