#!/usr/bin/env python3
"""Whether `pagetide plan` of the demo's program (redis under a zipf load) recommends the same fast
memory every time: the spread over several runs."""

import json
import subprocess
import sys

import common


def measure(args, run, path):
    """One run of the demo."""
    load = common.load()
    command = [args.pagetide, "plan", "--json", "-q", "--", args.pagetide, "workload", "demo-redis"]
    command += ["--keys", args.keys] if args.keys else []
    words = [str(word) for word in command]
    done = subprocess.run(
        words, check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    plan = json.loads(done.stdout[done.stdout.index("{\n") :])
    answer = plan["recommendation"] or {}
    row = {"run": run, "fast_bytes": answer.get("fast_bytes", ""), "policy": answer.get("policy", "")}
    row |= {"certainty": answer.get("certainty", ""), "why_not": plan["why_not"] or ""}
    row |= {
        key: plan["recording"][key]
        for key in ("footprint_bytes", "evaluated_epochs", "accesses_per_s", "watched_share", "saturated_share")
    }
    common.append(path, row | {"load_before": load, "load_after": common.load()})


def show(path):
    """All runs and their spread."""
    rows = common.rows_of(path)
    columns = ["run", "fast_bytes", "policy", "certainty", "footprint_bytes", "load_after"]
    common.table(columns, [[row[column] for column in columns] for row in rows])
    fast = [int(row["fast_bytes"]) for row in rows if row["fast_bytes"]]
    if len(fast) > 1:
        print(f"spread of fast_bytes: {100 * (max(fast) / min(fast) - 1):.1f} %")


def main():
    parser = common.arguments(__doc__)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--keys", type=int, help="of the store, if not the demo's")
    args = parser.parse_args()
    name = f"stability-{args.keys}-keys.csv" if args.keys else "stability.csv"
    path = common.open_results(args) / name
    if not args.show:
        for run in range(len(common.rows_of(path)), args.runs):
            print(f"run {run}", file=sys.stderr, flush=True)
            measure(args, run, path)
    show(path)


if __name__ == "__main__":
    main()
