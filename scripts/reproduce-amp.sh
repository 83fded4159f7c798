#!/usr/bin/env bash
# The table of AMP's section 6.6 (IEEE TC 2020) into docs/reproduction.md: records its synthetic
# programs for 23 minutes, as root, and replays AMP on that. A recording that is there is used again.
source "$(dirname "$0")/lib.sh"

pagetide=target/release/pagetide
page=docs/reproduction.md
each=190
programs=lru,lfu,lru,random,lfu,random,lru
seen=.cache/amp-recorded.heat
truth=.cache/amp-truth.heat

scripts/deps.sh build
say "building"
cargo build --release --quiet -p pagetide
cargo build --release --quiet -p pagetide-replay --example reproduce-amp

if [ ! -e "$seen" ]; then
    say "recording $programs, $each s each"
    as_root rm -rf "$truth" .cache/amp-under-way.heat
    as_root "$pagetide" record --epoch 1s -o .cache/amp-under-way.heat -- \
        "$pagetide" workload amp --size 256M --rate 2000000 --favour "$programs" --each "$each" \
        --seconds $((7 * each)) --truth "$truth" --truth-epoch 1
    as_root mv .cache/amp-under-way.heat "$seen"
fi

say "replaying"
table=$(as_root target/release/examples/reproduce-amp "$each" "$truth" "$seen")
start='<!-- begin: make reproduce-amp -->'
end='<!-- end: make reproduce-amp -->'
grep -qF "$start" "$page" || die "$page has no line '$start'"
{
    sed "/$start/q" "$page"
    printf '%s\n\n' "$table"
    sed -n "/$end/,\$p" "$page"
} >.cache/reproduction.md
mv .cache/reproduction.md "$page"
say "the table is in $page"
