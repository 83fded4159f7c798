#!/usr/bin/env python3
"""The recorder's slowdown of the program that it watches, at its default rate: pairs of the same
workload alone and under `pagetide record`, in alternating order; accesses per second compared."""

import pathlib
import random
import re
import subprocess
import sys
import tempfile

import common

# Both of a pair start the workload the same way, at the same precedence.
START = "import os,sys; os.setpriority(0,0,0); os.execv(sys.argv[1], sys.argv[1:])"


def speed(output):
    """Accesses per second from the workload's last line."""
    return float(re.search(r"per_second=([\d.]+)", output)[1])


def run(args, page, watched, scratch):
    """One run: accesses per second."""
    command = [sys.executable, "-c", START, args.pagetide, "workload", "hot-cold"]
    command += ["--size", f"{args.size_mib}M", "--hot", f"{args.size_mib // 20 * 4}M"]
    command += ["--page-size", page, "--seconds", args.seconds]
    if watched:
        name = pathlib.Path(scratch) / "o.heat"
        subprocess.run(["rm", "-rf", name], check=True)
        command = [args.pagetide, "record", "-q", "-o", name, "--", *command]
    words = [str(word) for word in command]
    done = subprocess.run(
        words, check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    return speed(done.stdout)


def interval(values, repeats=10_000):
    """95 % bootstrap interval of the median."""
    rng = random.Random(1)
    medians = [
        common.quantile(rng.choices(values, k=len(values)), 0.5) for _ in range(repeats)
    ]
    return common.quantile(medians, 0.025), common.quantile(medians, 0.975)


def verdict(slow):
    """The figure in words."""
    low, high = interval(slow)
    if low <= 0 <= high:
        return f"below {100 * high:.2f} %"
    return f"{100 * common.quantile(slow, 0.5):.2f} % ({100 * low:.2f} to {100 * high:.2f})"


def show(out):
    """Median and interval per page size, over all pairs and over those of a quiet machine."""
    rows = common.rows_of(out / "overhead.csv")
    lines = []
    for page in ("4K", "2M"):
        slow = [
            float(row["alone_per_s"]) / float(row["watched_per_s"]) - 1
            for row in rows
            if row["page"] == page
        ]
        if slow:
            spread = [f"{100 * common.quantile(slow, share):.2f} %" for share in (0.1, 0.5, 0.9)]
            loads = [float(row["load"]) for row in rows if row["page"] == page]
            lines.append([page, len(slow), *spread, verdict(slow), max(loads)])
    header = ["page", "pairs", "10 %", "median", "90 %", "slowdown (95 %)", "highest load"]
    common.table(header, lines)


def main():
    parser = common.arguments(__doc__)
    parser.add_argument("--pages", default="4K,2M", help="page sizes")
    parser.add_argument("--pairs", type=int, default=30)
    parser.add_argument("--size-mib", type=int, default=1000)
    parser.add_argument("--seconds", type=int, default=6)
    args = parser.parse_args()
    out = common.open_results(args)
    if args.show:
        show(out)
        return
    path = out / "overhead.csv"
    for page in args.pages.split(","):
        done = sum(1 for row in common.rows_of(path) if row["page"] == page)
        for pair in range(done, args.pairs):
            found = {}
            load = common.load()
            with tempfile.TemporaryDirectory(dir=args.scratch) as scratch:
                for watched in (False, True) if pair % 2 else (True, False):
                    found[watched] = run(args, page, watched, scratch)
            row = {"page": page, "pair": pair, "seconds": args.seconds, "size_mib": args.size_mib}
            row |= {"alone_per_s": found[False], "watched_per_s": found[True], "load": load}
            common.append(path, row)
            print(f"{page} {pair}: {100 * (found[False] / found[True] - 1):+.2f} %", file=sys.stderr)
    show(out)


if __name__ == "__main__":
    main()
