#!/usr/bin/env bash
# Measures in guests with two tiers of memory. First argument, what: compare (Pagetide beside the kernel's own tiering, into
# docs/comparison.md), verify (plans beside live runs, into docs/measurements.md). Keeps what was measured in
# benches/results and goes on where it was. Further arguments go to benches/WHAT.py: --only NAME, --page 2M, --show ...
source "$(dirname "$0")/lib.sh"

what=$1
shift
scripts/deps.sh lab
scripts/deps.sh demo
scripts/venv.sh benches/requirements.txt
say "building"
cargo build --locked --release --quiet -p pagetide -p pagetide-lab
as_root .cache/venv/bin/python "benches/$what.py" "$@"
