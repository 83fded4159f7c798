#!/usr/bin/env python3
"""One pass of the scan against the kernel's own walk of the same memory (`/proc/PID/smaps`), and what
clearing costs per GiB: measured sizes, and what they mean for larger ones. Needs the example:
cargo build --release -p pagetide-scan --example scan-speed"""

import re
import subprocess
import sys

import common

# Looks per unit and epoch beside the clearing are few; a pass and a clearing is the least.
LARGER = (("4K", 10), ("4K", 100), ("2M", 1024))
EPOCH_S = 5


def measure(args, page, gib, out):
    """Repeats on one idle process of that size."""
    command = [args.pagetide, "workload", "uniform", "--size", f"{gib}G", "--page-size", page]
    command += ["--seconds", "600", "--rate", "1000"]
    words = [str(word) for word in command]
    program = subprocess.Popen(words, text=True, stdout=subprocess.PIPE)
    try:
        ready = common.wait_line(program, "ready")
        area = re.search(r"range=0x(\w+)-0x(\w+)", ready)
        example = common.ROOT / "target" / "release" / "examples" / "scan-speed"
        huge = "1" if page == "2M" else "0"
        words = [str(example), str(program.pid), area[1], area[2], huge, str(args.repeats)]
        load = common.load()
        done = subprocess.run(words, check=True, text=True, stdout=subprocess.PIPE)
    finally:
        common.end(program)
    for line in done.stdout.splitlines():
        kind, size, seconds, calls = line.split(",")
        row = {"page": page, "gib": float(size), "kind": kind, "seconds": seconds, "calls": calls}
        common.append(out / "scan_speed.csv", row | {"load": load})


def medians(rows, page, gib):
    """Median seconds per kind, and calls of a clearing. Only the first clearing finds every page
    accessed (populating wrote to it); the later ones find next to none, and count apart."""
    found, calls = {}, 1
    for kind in ("scan", "smaps", "clear", "longest-clear"):
        own = [r for r in rows if r["page"] == page and float(r["gib"]) == gib and r["kind"] == kind]
        seconds = [float(row["seconds"]) for row in own]
        found[kind] = common.quantile(seconds, 0.5)
        if kind == "clear":
            found["first-clear"] = seconds[0]
            calls = int(own[0]["calls"])
    return found, calls


def show(out):
    """Ratios and costs, then the larger sizes from the largest that was measured."""
    rows = common.rows_of(out / "scan_speed.csv")
    lines, per_gib = [], {}
    for page, gib in sorted({(row["page"], float(row["gib"])) for row in rows}):
        found, calls = medians(rows, page, gib)
        per_gib[page] = (found["scan"] / gib, found["first-clear"] / gib)
        lines.append(
            [page, f"{gib:g}"]
            + [f"{1e3 * found[kind]:.3f}" for kind in ("scan", "smaps")]
            + [f"{found['smaps'] / found['scan']:.1f}"]
            + [f"{1e3 * found[kind] / gib:.2f}" for kind in ("first-clear", "clear")]
            + [f"{1e6 * found['first-clear'] / calls:.1f}"]
        )
    header = ["page", "GiB", "scan ms", "smaps ms", "smaps/scan"]
    common.table([*header, "clear ms/GiB", "idle ms/GiB", "us/call"], lines)
    print(f"\nwatching everything once per epoch of {EPOCH_S} s (one clearing, one pass), from the above:")
    lines = []
    for page, gib in LARGER:
        if page in per_gib:
            scan, clear = (cost * gib for cost in per_gib[page])
            share = (scan + clear) / EPOCH_S
            rest = min(1.0, 0.01 / share)
            row = [page, gib, f"{clear:.2f}", f"{scan:.2f}", f"{100 * share:.1f} %"]
            lines.append([*row, f"{100 * rest:.0f} %"])
    header = ["page", "GiB", "clear s", "scan s", "of one core", "of it watched for 1 %"]
    common.table(header, lines)


def main():
    parser = common.arguments(__doc__)
    parser.add_argument("--gib", default="1,10", help="sizes")
    parser.add_argument("--repeats", type=int, default=15)
    args = parser.parse_args()
    out = common.open_results(args)
    if args.show:
        show(out)
        return
    for gib in args.gib.split(","):
        for page in ("4K", "2M"):
            done = {(row["page"], float(row["gib"])) for row in common.rows_of(out / "scan_speed.csv")}
            if (page, float(gib)) not in done:
                print(f"{page}, {gib} GiB", file=sys.stderr, flush=True)
                measure(args, page, gib, out)
    show(out)


if __name__ == "__main__":
    main()
