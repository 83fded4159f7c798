#!/usr/bin/env bash
# Runs the tests that boot guests, one after the other. What passed is remembered in
# .cache/lab/passed with what it depends on, and not run again until that changes: an interrupted
# run goes on where it was. Arguments, if any, are parts of the names of tests to run (again).
source "$(dirname "$0")/lib.sh"

scripts/deps.sh lab

say "building; the output goes to .cache/test-lab.log"
# Optimized: an emulated CPU is slow enough.
cargo build --locked --release -q -p pagetide # the tests build the lab
cargo build --locked --release -q -p pagetide-migrate --example awkward
cargo test --locked --release -q --no-run -p pagetide-lab --features guests --test guests
tests=$(cargo test --locked --release --no-run -p pagetide-lab --features guests --test guests --message-format=json 2>/dev/null |
    sed -n 's/.*"executable":"\([^"]*\/guests-[^"]*\)".*/\1/p' | tail -n 1)
[ -x "$tests" ] || die "the tests were not built"

folder=${CARGO_TARGET_DIR:-target}/release
kernel=$(basename .cache/lab/kernel/lib/modules/*)
cxl=$(cat .cache/lab/qemu/complete 2>/dev/null || qemu-system-x86_64 --version | head -n 1) # what boots guests with CXL memory
# What all tests depend on, and what those in modules of that name depend on besides.
all=$({ echo "$kernel"; cat "$tests" "$folder/pagetide-lab"; } | sha256sum | cut -c 1-32)
more=$(cat "$folder/pagetide" "$folder/examples/awkward" | sha256sum | cut -c 1-32)

passed=0 failed=0 skipped=0 before=0
: >.cache/test-lab.log
mkdir -p .cache/lab/passed
while read -r name; do
    if [ $# -gt 0 ]; then
        wanted=0
        for part in "$@"; do case $name in *"$part"*) wanted=1 ;; esac; done
        [ "$wanted" = 1 ] || continue
    fi
    key=$all
    case $name in with_pagetide::* | movers::* | pairs::* | shift*::* | tiers::*) key="$all $more" ;; esac
    case $name in shift_cxl::*) key="$key $cxl" ;; esac
    stamp=.cache/lab/passed/${name//::/.}
    if [ $# = 0 ] && [ "$(cat "$stamp" 2>/dev/null)" = "$key" ]; then
        printf '%-72s passed before\n' "$name"
        before=$((before + 1))
        continue
    fi
    started=$SECONDS
    log=.cache/lab/test.log
    if (cd lab && timeout --foreground 3600 "$tests" --exact "$name" --nocapture) >"$log" 2>&1 </dev/null; then
        if why=$(grep -m 1 -o 'SKIPPED .*' "$log"); then
            result=$why skipped=$((skipped + 1))
        else
            result=ok passed=$((passed + 1))
            echo "$key" >"$stamp"
        fi
    else
        result=FAILED failed=$((failed + 1))
        tail -n 40 "$log"
    fi
    cat "$log" >>.cache/test-lab.log
    printf '%-72s %s (%d s)\n' "$name" "$result" $((SECONDS - started))
done < <("$tests" --list --format terse | sed -n 's/: test$//p')
echo "$passed passed, $failed failed, $skipped skipped, $before passed before"
[ "$failed" = 0 ]
