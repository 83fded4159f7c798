#!/usr/bin/env python3
"""How often the recorder's self test fails on a machine where it ought to pass: runs it again and
again beside busy programs, and counts the single tries that failed and the tests that did."""

import json
import multiprocessing
import subprocess
import sys

import common

PAGE = 4096
MEMORY = 64 << 20


def busy():
    """Touches memory for ever."""
    memory = bytearray(MEMORY)
    while True:
        for at in range(0, MEMORY, PAGE):
            memory[at] ^= 1


def measure(args, run, out):
    """One self test; one row per test of it."""
    load = common.load()
    words = [str(args.pagetide), "doctor", "--json"]
    done = subprocess.run(words, text=True, stdout=subprocess.PIPE, check=False)
    for test in json.loads(done.stdout)["self_test"]:
        keys = ["page", "spinning", "random", "recall", "precision", "tries"]
        row = {"run": run, "busy": args.busy} | {key: test[key] for key in keys} | {"load": load}
        common.append(out / "self-test.csv", row)


def passed(row):
    """As docs/json.md says."""
    return all(float(row[share]) >= 0.99 for share in ["recall", "precision"])


def show(out):
    """By page size and how many busy programs ran beside it."""
    rows = [row for row in common.rows_of(out / "self-test.csv") if int(row["tries"]) > 0]
    lines = []
    for page, busy_programs in sorted({(row["page"], int(row["busy"])) for row in rows}):
        own = [row for row in rows if (row["page"], int(row["busy"])) == (page, busy_programs)]
        tries = sum(int(row["tries"]) for row in own)
        failed = sum(not passed(row) for row in own)
        lines.append([page, busy_programs, len(own), tries, tries - len(own) + failed, failed])
    common.table(["page", "busy", "tests", "tries", "tries failed", "tests failed"], lines)


def main():
    parser = common.arguments(__doc__)
    parser.add_argument("--runs", type=int, default=40, help="self tests")
    parser.add_argument("--busy", type=int, default=12, help="programs that run beside them")
    args = parser.parse_args()
    out = common.open_results(args)
    if args.show:
        show(out)
        return
    beside = [multiprocessing.Process(target=busy, daemon=True) for _ in range(args.busy)]
    for program in beside:
        program.start()
    try:
        rows = common.rows_of(out / "self-test.csv")
        done = {int(row["run"]) for row in rows if int(row["busy"]) == args.busy}
        for run in sorted(set(range(args.runs)) - done):
            print(f"{run + 1} of {args.runs}", file=sys.stderr, flush=True)
            measure(args, run, out)
    finally:
        for program in beside:
            program.terminate()
    show(out)


if __name__ == "__main__":
    main()
