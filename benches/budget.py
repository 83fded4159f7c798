#!/usr/bin/env python3
"""Whether the recorder keeps its budget (1 % of one core) on large memory: watches slow uniform
programs and sums up what clearing, scanning and everything took per second."""

import pathlib
import subprocess
import sys
import tempfile

import duckdb

import common

QUERY = """
select epoch, length_s, clear_s, scan_s, recorder_s, longest_clear_s, watched_share
from '{name}/epochs-*.parquet' order by epoch
"""


def measure(args, page, gib, out):
    """Watches one program; one row per epoch."""
    command = [args.pagetide, "workload", "uniform", "--size", f"{gib}G", "--page-size", page]
    command += ["--seconds", "600", "--rate", "100000"]
    words = [str(word) for word in command]
    program = subprocess.Popen(words, text=True, stdout=subprocess.PIPE)
    try:
        common.wait_line(program, "ready")
        with tempfile.TemporaryDirectory(dir=args.scratch) as scratch:
            name = pathlib.Path(scratch) / "b.heat"
            command = [args.pagetide, "record", "-q", "--for", args.seconds, "-o", name]
            words = [str(word) for word in [*command, "-p", program.pid]]
            load = common.load()
            subprocess.run(words, check=True, stderr=subprocess.DEVNULL)
            epochs = duckdb.sql(QUERY.format(name=name))
            for values in epochs.fetchall():
                row = dict(zip(epochs.columns, values, strict=True))
                common.append(out / "budget.csv", {"page": page, "gib": gib} | row | {"load": load})
    finally:
        common.end(program)


def show(out):
    """Shares of one core, over all epochs and without the first."""
    rows = common.rows_of(out / "budget.csv")
    lines = []
    for page, gib in sorted({(row["page"], int(row["gib"])) for row in rows}):
        own = [row for row in rows if (row["page"], int(row["gib"])) == (page, gib)]
        line = [page, gib, len(own)]
        for part in (own, own[1:]):
            seconds = sum(float(row["length_s"]) for row in part)
            spent = sum(float(row["clear_s"]) + float(row["scan_s"]) for row in part)
            line.append(f"{100 * spent / seconds:.2f} %")
            everything = sum(float(row["recorder_s"]) for row in part)
            line.append(f"{100 * everything / seconds:.2f} %")
        line.append(f"{1e3 * max(float(row['longest_clear_s']) for row in own):.3f}")
        line.append(f"{100 * float(own[-1]['watched_share']):.1f} %")
        lines.append([*line, own[0]["load"]])
    header = ["page", "GiB", "epochs", "clear+scan", "all", "without 1st", "all w/o 1st"]
    common.table([*header, "longest clear ms", "watched", "load"], lines)


def main():
    parser = common.arguments(__doc__)
    parser.add_argument("--gib", default="1,10", help="sizes")
    parser.add_argument("--pages", default="4K,2M", help="page sizes")
    parser.add_argument("--seconds", type=int, default=20)
    args = parser.parse_args()
    out = common.open_results(args)
    if args.show:
        show(out)
        return
    for gib in args.gib.split(","):
        for page in args.pages.split(","):
            done = {(row["page"], row["gib"]) for row in common.rows_of(out / "budget.csv")}
            if (page, gib) not in done:
                print(f"{page}, {gib} GiB", file=sys.stderr, flush=True)
                measure(args, page, gib, out)
    show(out)


if __name__ == "__main__":
    main()
