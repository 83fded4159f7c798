#!/usr/bin/env bash
# What AMP's section 6.6 and figures 3, 4 and 7 stand on, for scripts/reproduce.sh: records, as root,
# what benches/results/amp has no table of (45 minutes if there is none), replays, draws.
# RESULTS=DIR: another folder of tables. UNSCALED=1: section 6.6 also in its own time, 35 minutes.
source "$(dirname "$0")/lib.sh"

pagetide=target/release/pagetide
tool=("$pagetide" reproduce amp --recorded)
results=${RESULTS:-benches/results/amp}
# Recordings: an interrupted run goes on where it was.
scratch=.cache/record-amp/${results//\//-}

scripts/venv.sh benches/requirements.txt
say "building"
cargo build --locked --release --quiet -p pagetide
mkdir -p "$results" "$scratch"

# A table of $results, unless it is there: table NAME COMMAND...
table() {
    local name=$1
    shift
    [ -e "$results/$name.csv" ] && return
    "$@" >"$scratch/$name.csv"
    mv "$scratch/$name.csv" "$results/$name.csv"
}
missing() { [ ! -e "$results/$1.csv" ]; }
as_user() { as_root chown -R "$(id -u):$(id -g)" "$scratch"; }

# A recording, unless it is there: record NAME OPTION... -- COMMAND...
record() {
    local name=$1
    shift
    [ -e "$scratch/$name.heat" ] && return
    as_root rm -rf "$scratch/under-way.heat"
    as_root "$pagetide" record --quiet --output "$scratch/under-way.heat" "$@"
    as_user
    mv "$scratch/under-way.heat" "$scratch/$name.heat"
}

# Section 6.6: the programs one after the other, each a process of its own, in all changes of
# table 5. Five epochs make an interval of the policy, which is 5 s in the paper; 60 intervals each.
programs() {
    local name=$1 source=$2 scale=$3 chain='' number=0 counted=() favour rate
    missing "accessed-$name" || missing "accessed-$name-counted" || return 0
    rate=$(awk "BEGIN { print int(2e6 / $scale) }")
    for favour in lru lfu lru random lfu random lru; do
        number=$((number + 1))
        counted+=("$scratch/$name-counted-$number.heat")
        chain+="$pagetide workload amp --size 320M --rate $rate --source $source --favour $favour"
        chain+=" --scale $scale --seconds $(awk "BEGIN { print 300 * $scale }")"
        chain+=" --truth ${counted[-1]} --truth-epoch $scale || exit; "
    done
    if [ ! -e "$scratch/$name.heat" ]; then
        say "recording the programs of section 6.6 as in its $source, $(
            awk "BEGIN { print 35 * $scale }") minutes"
        as_root rm -rf "${counted[@]}"
    fi
    record "$name" --epoch "${scale}s" --budget 20% -- sh -c "$chain"
    table "accessed-$name" "${tool[@]}" accessed "$scratch/$name.heat"
    table "accessed-$name-counted" "${tool[@]}" accessed "${counted[@]}"
}

# Figures 3 and 4: regions of 2 MiB in epochs of 1 s; figure 7: base pages in epochs of 4 s.
regions() {
    local name=$1
    shift
    missing "frequency-$name" || missing "scan-ratios-$name" || return 0
    say "recording $name in units of 2 MiB, 2 minutes and its start"
    record "$name" --epoch 1s --budget 10% -- "$pagetide" workload "$@" --seconds 120
    table "frequency-$name" "${tool[@]}" frequency "$name" "$scratch/$name.heat"
    table "scan-ratios-$name" "${tool[@]}" scan-ratios "$name" "$scratch/$name.heat"
}
pages() {
    local name=$1
    shift
    missing "within-$name" || return 0
    say "recording $name in single pages, 100 s and its start"
    record "$name-4k" --unit 4K --epoch 4s --budget 60% -- "$pagetide" workload "$@" --seconds 100
    table "within-$name" "${tool[@]}" within "$name" "$scratch/$name-4k.heat"
}

for source in text code; do programs "$source" "$source" 0.2; done
[ -z "${UNSCALED:-}" ] || programs code-unscaled code 1

regions pagerank graph --algorithm pagerank
regions bfs graph --algorithm bfs
regions redis demo-redis
regions zipf zipf --size 512M
regions gups gups --size 512M
regions strided strided --size 512M
regions phases phases --size 512M --every 10

pages pagerank graph --algorithm pagerank --page-size 4K
pages bfs graph --algorithm bfs --page-size 4K
pages redis demo-redis
pages redis-scattered demo-redis --popular scattered
pages gups gups --size 512M --page-size 4K
pages zipf zipf --size 512M --page-size 4K
pages zipf-20000-per-s zipf --size 512M --page-size 4K --rate 20000

if [ ! -e "$results/machine.txt" ]; then
    .cache/venv/bin/python -c 'import sys; sys.path.insert(0, "benches"); import common
print(common.machine_text(), end="")' >"$results/machine.txt"
fi

say "replaying and drawing"
"${tool[@]}" choices "$results" >"$results/choices.csv"
.cache/venv/bin/python benches/reproduction.py --recorded "$results"
