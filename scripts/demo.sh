#!/usr/bin/env bash
# From a fresh machine to the plan of a real program: redis-server under a zipf load.
source "$(dirname "$0")/lib.sh"

recording=.cache/demo.heat
report=.cache/demo.html
pagetide=target/release/pagetide
plan=("$pagetide" plan -o "$recording" --report "$report" -- "$pagetide" workload demo-redis)

say "make demo: installs what is missing of clang, gcc, make, pkg-config, libelf-dev, zlib1g-dev"
say "and redis-server (Debian or Ubuntu packages), builds Pagetide, records a redis-server under"
say "load for about a minute, and prints how much fast memory it needs. Nothing else is changed."
scripts/deps.sh demo

say "building (a few minutes the first time)"
cargo build --locked --release --quiet -p pagetide

as_root rm -rf "$recording"
say "running as root: ${plan[*]}"
as_root "${plan[@]}"
say "the recording is in $recording; look again with: $pagetide plan $recording"
say "the plan with its pictures is in $PWD/$report: open it in a browser"
say "your own program: sudo $pagetide plan -- ANY COMMAND"
