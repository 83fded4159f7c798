#!/usr/bin/env bash
# Published figures, made again, into docs/reproduction/PAPER.md, with their pictures: scripts/reproduce.sh
# [PAPER...], all papers if none is named. What was computed before is kept (benches/results/reproduce), and
# so are tables of recordings (record-amp.sh makes those that are missing, as root).
# SCALE=N: memory N times smaller than the published. RESULTS=DIR: other tables of recordings.
source "$(dirname "$0")/lib.sh"

pagetide=target/release/pagetide
pages=docs/reproduction
results=benches/results/reproduce

scripts/venv.sh benches/requirements.txt
say "building"
cargo build --locked --release --quiet -p pagetide
mkdir -p .cache/reproduce

# Replaces what stands in a page between the markers of a command: section PAGE COMMAND FILE
section() {
    local page=$1 start="<!-- begin: $2 -->" end="<!-- end: $2 -->"
    if ! grep -qxF -e "$start" "$page" || ! grep -qxF -e "$end" "$page"; then
        die "$page has no '$start' with its end"
    fi
    awk -v start="$start" -v end="$end" -v text="$3" '
        $0 == end { inside = 0 }
        !inside { print }
        $0 == start {
            inside = 1
            while ((getline line < text) > 0) print line
            print ""
        }' "$page" >.cache/reproduce/page.md
    mv .cache/reproduce/page.md "$page"
}

# What has figures.
papers=("$@")
if [ ${#papers[@]} = 0 ]; then
    mapfile -t papers < <("$pagetide" reproduce --list --json |
        .cache/venv/bin/python -c 'import json, sys
print(*(paper["paper"] for paper in json.load(sys.stdin) if paper["figures"]), sep="\n")')
fi

for paper in "${papers[@]}"; do
    if [ "$paper" = amp ]; then
        tables=${RESULTS:-benches/results/amp}
        scripts/record-amp.sh
        "$pagetide" reproduce amp --recorded page "$tables" >.cache/reproduce/amp-recorded.md
        section "$pages/amp-recorded.md" "pagetide reproduce amp --recorded" .cache/reproduce/amp-recorded.md
    fi
    say "making the figures of $paper"
    {
        echo
        "$pagetide" reproduce "$paper" --slow ${SCALE:+--scale "$SCALE"} --results "$results" \
            --csv "$results" --markdown --pictures "../../$results"
    } >".cache/reproduce/$paper.md"
    section "$pages/$paper.md" "pagetide reproduce $paper" ".cache/reproduce/$paper.md"
done
.cache/venv/bin/python benches/reproduction.py --series "$results"
say "the tables are in $pages, what they stand on in $results and the pictures beside it"
