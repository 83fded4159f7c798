#!/usr/bin/env bash
# The truth bench: real programs counted exactly and sampled in the same run, plans of both compared
# (docs/measurements.md). Remembers finished programs in .cache/truth/done and goes on where it was.
# Arguments go to benches/truth.py: --list, --only NAME, --native, --markdown ...
source "$(dirname "$0")/lib.sh"

scripts/deps.sh truth
scripts/venv.sh benches/requirements.txt
scripts/venv.sh benches/truth/requirements.txt
say "building"
cargo build --locked --release --quiet -p pagetide
as_root .cache/venv/bin/python benches/truth.py "$@"
