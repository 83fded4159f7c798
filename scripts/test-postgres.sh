#!/usr/bin/env bash
# The integration test with Debian's PostgreSQL under pgbench (benches/postgres.py): three recordings, answers
# within 10 % of each other. Installs the server without starting one. Arguments go to the script: --scale N,
# --seconds S, --keep FOLDER ...
source "$(dirname "$0")/lib.sh"

scripts/deps.sh long
say "building"
cargo build --locked --release --quiet -p pagetide
say "recording PostgreSQL three times"
as_root python3 benches/postgres.py "$@"
