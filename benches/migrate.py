#!/usr/bin/env python3
"""Runs `pagetide bench migrate` in a guest with two tiers (make lab) and on this machine, and
shows the guest's table: throughput by page size, batch, threads and mode, and what a page's move
is made of. The figures are of an emulated CPU: ratios within the table count, rates do not."""

import json
import pathlib
import subprocess
import sys

import common


def measured(command, path):
    """Runs a bench and keeps its JSON with the load around it."""
    before = common.load()
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(f"{path.stem}: ended with {done.returncode}")
    loads = {"commit": common.commit(), "load_before": before, "load_after": common.load()}
    found = {**loads, **json.loads(done.stdout)}
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def time(seconds):
    """A time in microseconds, or in milliseconds if it is long."""
    return f"{seconds * 1e6:.3g} us" if seconds < 1e-3 else f"{seconds * 1e3:.3g} ms"


def show(path):
    """Both tables of a bench."""
    found = json.loads(common.read(path))
    size = {"2M": 2 << 20, "4K": 4 << 10}
    parts = dict(found["parts"])
    single, moves, missing = {}, {}, []
    lines = []
    for line in found["lines"]:
        case, row = line["case"], line["row"]
        page = case["page"]
        if row is None:
            missing.append(f"{case['batch']} x {page} by {case['threads']}, {case['mode']}")
            continue
        each = row["seconds"] / (row["bytes"] / size[page])
        single.setdefault(page, each)
        usual = case["batch"] == {"2M": 8, "4K": 512}[page]
        if usual and case["mode"] == "promote":
            moves.setdefault(page, (each, row, case))
        cells = [page, case["batch"], case["threads"], case["mode"], f"{size[page] / each / 1e6:.0f} MB/s"]
        cells += [time(each), f"{single[page] / each:.1f} x", f"{100 * parts[page]['copy_s'] / each:.0f} %"]
        lines.append([*cells, time(row["longest_call_s"]), row["failed"], row["splits"]])
    header = ["page", "batch", "threads", "mode", "moved", "a page", "to one", "of a copy", "longest call"]
    common.table([*header, "failed", "splits"], lines)
    lines = []
    for page, (each, row, case) in moves.items():
        part = parts[page]
        check = row["checking_s"] / (row["bytes"] / size[page])
        known = [part["call_s"] / case["batch"], part["find_s"], check, part["copy_s"]]
        lines.append([page, time(each), *map(time, known), time(max(each - sum(known), 0))])
    common.table(["page", "a page", "call", "find", "check", "copy", "the rest"], lines)
    if missing:
        print("not measurable (emulated CPUs, or too few):", "; ".join(missing))


def main():
    """Measures what is not there yet, prints the tables."""
    parser = common.arguments(__doc__)
    parser.add_argument("--lab", type=pathlib.Path, default=common.ROOT / "target/release/pagetide-lab")
    args = parser.parse_args()
    guest = args.results / "migrate-guest.json"
    host = args.results / "migrate-host.json"
    bench = [args.pagetide, "bench", "migrate", "--json"]
    if not args.show:
        common.open_results(args)
        if not guest.exists():
            lab = [args.lab, "run", "--boot-timeout", "300", "--timeout", "1500"]
            measured([*lab, "--with", args.pagetide, "--", *bench], guest)
        if not host.exists():
            measured(bench, host)
    show(guest)


if __name__ == "__main__":
    main()
