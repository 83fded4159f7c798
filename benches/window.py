#!/usr/bin/env python3
"""How far this machine's CPU runs on beyond loads that miss: what the lab's lab/meter/overlap.h and streams are held
against (docs/lab.md). Other programs take time, so the least of several runs counts."""

import subprocess
import tempfile

import common

SOURCE = common.ROOT / "benches" / "window" / "window.c"


def measure(runs, out):
    """All of them, one after the other."""
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/window"
        subprocess.run(["gcc", "-O2", SOURCE, "-o", program], check=True)
        for run in range(runs):
            text = subprocess.run(program, text=True, stdout=subprocess.PIPE, check=True).stdout
            for what, kind, count, ns in map(str.split, text.splitlines()):
                common.append(out / "window.csv", {"run": run, "what": what, "kind": kind, "count": count, "ns": ns})


def least(out):
    """ns by what, kind and count."""
    found = {}
    for row in common.rows_of(out / "window.csv"):
        key = (row["what"], row["kind"], int(row["count"]))
        found[key] = min(found.get(key, float("inf")), float(row["ns"]))
    return found


def show(out):
    """Where the second of two loads no longer waits beside the first; what more of them take; a stream."""
    ns = least(out)
    if not ns:
        raise SystemExit(f"{out} has no window.csv; measure without --show")
    load_ns = min(each for (what, _, _), each in ns.items() if what == "beside")
    table = [["a load by itself", f"{load_ns:.0f} ns"]]
    for kind in ("nop", "add"):
        counts = sorted(count for what, of, count in ns if (what, of) == ("between", kind))
        beside = max(count for count in counts if ns["between", kind, count] < 1.5 * load_ns)
        after = next((count for count in counts if count > beside), None)
        table.append([f"instructions ({kind}) between two that wait beside each other", f"{beside}, not {after}"])
    for count in (8, 16, 24, 32, 48):
        table.append([f"{count} loads beside each other", f"{ns['beside', 'load', count] / load_ns:.2f} times as long"])
    stream_ns = ns["stream", "line", 1]
    table.append(["lines of a stream on their way", f"{load_ns / stream_ns:.0f} ({stream_ns:.2f} ns a line)"])
    common.table(["what", "here"], table)


def main():
    parser = common.arguments(__doc__)
    parser.add_argument("--runs", type=int, default=10)
    args = parser.parse_args()
    out = common.open_results(args)
    if not args.show:
        measure(args.runs, out)
    show(out)


if __name__ == "__main__":
    main()
