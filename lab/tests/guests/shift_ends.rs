//! However `pagetide shift` ends: killed anywhere, asked to while it zeroes, or with no room left for its journal.

use crate::lab::{can_boot, pagetide};
use crate::shift::{clean, script};

/// Killed at so many points; `PAGETIDE_KILLS` asks for another number.
const KILLS: u32 = 10;

/// What stands in the journal of a round: each of two devices becomes memory, and storage again, and is begun and ended.
const STEPS: u32 = 8;

/// What takes memory back, which is killed, too: whoever wants storage; the daemon, which zeroes between its checks; and
/// the daemon while a program wants what it zeroes.
const WAYS: [&str; 3] = [
    "pagetide shift give-back --size 700M",
    "pagetide shift run --threshold 10% --growth 2 --for 20s",
    "pagetide shift run --threshold 10% --growth 2 --for 20s & wanted",
];

#[test]
fn killed_at_random_points_it_is_made_right_after_a_reboot() {
    let test = "killed_at_random_points_it_is_made_right_after_a_reboot";
    let Some(pagetide) = pagetide(test).filter(|_| can_boot(test)) else { return };
    let keep = tempfile::tempdir().unwrap();
    let kills =
        std::env::var("PAGETIDE_KILLS").ok().and_then(|it| it.parse().ok()).unwrap_or(KILLS);
    script(
        &pagetide,
        keep.path(),
        "set -e; pagetide shift prepare --region $pm --size 512M --count 2",
    );
    for (kill, way) in (0..kills).zip(WAYS.iter().cycle()) {
        // Seconds would hit the long steps alone: each step in turn, and in it a random time.
        let step = 1 + kill % STEPS;
        let within = if step == 1 || step == 3 { 100 } else { 1000 };
        let run = script(
            &pagetide,
            keep.path(),
            &format!(
                r#"set -e
            pagetide shift recover | sed 's/^/recover: /'
            none_online
            leftover
            # What was given back before is offered again.
            for device in /sys/bus/dax/devices/*; do
                pagetide shift prepare --device ${{device##*/}} >/dev/null
            done
            journal=/var/lib/pagetide/shift/journal
            before=$(wc -l <$journal)
            wanted() {{
                until tail -n +$((before + 1)) $journal | grep -q to-storage; do usleep 100000; done
                numactl --membind=0 pagetide-lab probe fill --size 300M --rate 150M --hold 100
            }}
            (pagetide shift run --threshold 100% --for 2s; {way}) >/dev/null 2>&1 & all=$!
            (until numactl --membind=1 pagetide-lab probe fill --size 64M --hold 100; do usleep 100000; done) >/dev/null 2>&1 &
            at=$(awk 'BEGIN {{ srand(); print int(rand() * {within}) }}')
            # Looked at without a process of its own: a device is memory some tenths of a second after that begins.
            lines() {{ n=0; while read -r line; do n=$((n + 1)); done <$journal; }}
            began=$(date +%s)
            lines
            while [ $n -lt $((before + {step})) ] && [ $(($(date +%s) - began)) -lt 40 ]; do
                for i in $(seq 20); do lines; [ $n -lt $((before + {step})) ] || break; done
            done
            usleep $((at * 1000))
            echo killed $at ms after step {step}: "{way}"
            # The one that changes things, and whoever follows it.
            kill -9 $all || true
            for pid in $(pidof pagetide); do kill -9 $pid || true; done
            tail -n +$((before + 1)) $journal | sed 's/.*"event":"\([a-z-]*\)".*/event \1/'"#
            ),
        );
        println!("{kill}:\n{}", run.out);
        assert!(run.out.contains("ms after step"), "{kill}: {run:?}");
        clean(&run.out);
    }
    let last =
        script(&pagetide, keep.path(), "set -e; pagetide shift recover; none_online; leftover");
    println!("in the end:\n{}", last.out);
    clean(&last.out);
}

#[test]
fn asked_to_end_while_it_zeroes_it_says_so_and_zeroes_to_the_end() {
    let test = "asked_to_end_while_it_zeroes_it_says_so_and_zeroes_to_the_end";
    let Some(pagetide) = pagetide(test).filter(|_| can_boot(test)) else { return };
    let keep = tempfile::tempdir().unwrap();
    let run = script(
        &pagetide,
        keep.path(),
        r#"set -e
        pagetide shift prepare --region $pm --size 512M --count 2
        pagetide shift run --threshold 100% --for 3s >/dev/null
        some_online
        journal=/var/lib/pagetide/shift/journal
        leaves() { [ "$(grep -c to-storage $journal)" = 2 ]; }
        pagetide shift run --threshold 10% >/tmp/said 2>&1 & manager=$!
        # The last one leaves: no machine zeroes it that fast.
        until_it leaves
        kill -TERM $manager
        code=0
        wait $manager || code=$?
        cat /tmp/said
        echo code $code
        pagetide shift status --json | grep -c '"state": "storage"' | sed 's/^/storage /'
        # And who gives back ends after the device at hand.
        pagetide shift run --threshold 100% --for 3s >/dev/null
        both() { [ "$(online)" = 2 ]; }
        both
        before=$(wc -l <$journal)
        begun() { tail -n +$((before + 1)) $journal | grep -q to-storage; }
        pagetide shift give-back --size 700M >/tmp/back 2>&1 & back=$!
        until_it begun
        kill -TERM $back
        code=0
        wait $back || code=$?
        sed 's/^/back: /' /tmp/back
        echo back code $code
        for state in withdrawn memory; do
            pagetide shift status --json | grep -c "\"state\": \"$state\"" | sed "s/^/back $state /"
        done
        leftover"#,
    );
    for part in
        ["back code 130", "back withdrawn 1", "back memory 1", "is brought to its end first"]
    {
        assert!(run.out.contains(part), "{part}: {run:?}");
    }
    let said = run.out.find("what is no memory any more is zeroed before this ends");
    let zeroed = run.out.rfind("is storage again, zeroed");
    assert!(said.is_some() && said < zeroed, "{run:?}");
    assert!(run.out.contains("code 130") && run.out.contains("storage 2"), "{run:?}");
    clean(&run.out);
}

#[test]
fn a_journal_that_cannot_be_written_ends_it_and_recover_makes_right_what_it_left() {
    let test = "a_journal_that_cannot_be_written_ends_it_and_recover_makes_right_what_it_left";
    let Some(pagetide) = pagetide(test).filter(|_| can_boot(test)) else { return };
    let keep = tempfile::tempdir().unwrap();
    // A disk that gets full by something else while the journal grows.
    let run = script(
        &pagetide,
        keep.path(),
        r#"mkdir /tmp/small; mount -t tmpfs -o size=64k none /tmp/small
        state="--state /tmp/small"
        pagetide shift prepare $state --region $pm --size 512M --count 1
        for i in $(seq 16); do dd if=/dev/zero of=/tmp/small/other$i bs=4k count=1 2>/dev/null; done
        # Room for the two locks.
        rm /tmp/small/other1 /tmp/small/other2
        for i in $(seq 20); do
            pagetide shift run $state --threshold 100% --for 2s >/tmp/said 2>&1 || { code=$?; break; }
            pagetide shift run $state --threshold 1% --growth 1 --for 8s >/tmp/said 2>&1 || { code=$?; break; }
        done
        echo code $code
        cat /tmp/said
        echo then; pagetide shift status $state
        rm /tmp/small/other*
        pagetide shift recover $state
        pagetide shift run $state --threshold 1% --growth 1 --for 20s
        echo recovered; pagetide shift status $state
        leftover"#,
    );
    assert!(run.out.contains("code 1\n") && run.out.contains("No space left"), "{run:?}");
    assert!(run.out.contains("/tmp/small/journal"), "{run:?}");
    clean(&run.out);
}
