#!/usr/bin/env bash
# Measures the figures of docs/measurements.md on this machine (about an hour, as root, alone).
# Raw results and pictures go to benches/results/DATE-MACHINE; what is there is not repeated.
source "$(dirname "$0")/lib.sh"

scripts/venv.sh benches/requirements.txt
venv=.cache/venv

say "building"
cargo build --locked --release --quiet -p pagetide
cargo build --locked --release --quiet -p pagetide-scan --example scan-speed

say "measuring; anything else that runs now disturbs it"
results=benches/results/$(date +%F)-$("$venv/bin/python" -c \
    'import sys; sys.path.insert(0, "benches"); import common; print(common.machine_name())')
for script in self_test scan_speed budget accuracy overhead stability; do
    say "benches/$script.py"
    as_root "$venv/bin/python" "benches/$script.py" --results "$results"
done
say "benches/accuracy.py --pages 2M --rate 500000"
as_root "$venv/bin/python" benches/accuracy.py --results "$results" --pages 2M --rate 500000
# Two tiers of memory, in guests.
scripts/deps.sh lab
cargo build --locked --release --quiet -p pagetide-lab
for script in migrate tiering felt; do
    say "benches/$script.py"
    "$venv/bin/python" "benches/$script.py" --results "$results"
done
# Guests as fast as a machine would take hours for phases of minutes.
say "benches/governor.py --by-host"
"$venv/bin/python" benches/governor.py --by-host --results "$results"
as_root "$venv/bin/python" benches/pictures.py --results "$results"
say "raw results and pictures are in $results"
