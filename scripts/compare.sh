#!/usr/bin/env bash
# Pagetide beside the kernel's own tiering and no migration: programs in guests with two tiers of memory, into
# docs/comparison.md. Keeps what was measured in benches/results and goes on where it was.
# Arguments go to benches/compare.py: --only NAME, --seconds N, --page 2M, --show ...
source "$(dirname "$0")/lib.sh"

scripts/deps.sh lab
scripts/deps.sh demo
scripts/venv.sh benches/requirements.txt
say "building"
cargo build --locked --release --quiet -p pagetide -p pagetide-lab
as_root .cache/venv/bin/python benches/compare.py "$@"
