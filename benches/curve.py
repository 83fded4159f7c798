#!/usr/bin/env python3
"""`pagetide curve` against libCacheSim on the same oracleGeneral files, in turn: LRU, FIFO and CLOCK at one size, and at
eight. One thread each; misses must be equal. Ours counts as a whole process from start to exit, libCacheSim
without Python's start; with its default table (2^24 places), and with the one that suits the cache (as
many places as objects). Needs: scripts/venv.sh benches/curve/requirements.txt; cargo build --release -p pagetide"""

import json
import math
import os
import pathlib
import subprocess
import sys
import time

import common
import numpy

PAGE = 4096
POLICIES = {"lru": "LRU", "fifo": "FIFO", "clock": "Clock"}
# Shares of all pages.
ONE = 0.1
EIGHT = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8)
# Name: objects, requests, exponent of Zipf's law (0: uniform), pages of a scan after every million requests.
TRACES = {
    "zipf": (1_000_000, 20_000_000, 1.0, 0),
    "wide": (10_000_000, 20_000_000, 0.8, 0),
    "scans": (1_000_000, 20_000_000, 1.0, 300_000),
}
RECORD = numpy.dtype([("time", "<u4"), ("object", "<u8"), ("size", "<u4"), ("next", "<i8")])


def write(path, objects, requests, exponent, scan):
    """The same trace every time."""
    rng = numpy.random.default_rng(1)
    names = rng.integers(1 << 63, size=objects + scan, dtype=numpy.uint64)
    weights = numpy.cumsum(numpy.arange(1, objects + 1, dtype=float) ** -exponent)
    with path.open("wb") as file:
        for first in range(0, requests, 1_000_000):
            ranks = numpy.searchsorted(weights, rng.random(1_000_000) * weights[-1])
            drawn = names[ranks]
            # What is only read once, in between.
            drawn[:scan] = names[objects:]
            records = numpy.zeros(len(drawn), RECORD)
            records["time"] = (first + numpy.arange(len(drawn))) // 1000
            records["object"] = drawn
            records["size"] = PAGE
            records["next"] = -1
            records.tofile(file)


def ours(args, trace, options):
    """A whole process: what it says, its seconds of wall and CPU."""
    command = [str(args.pagetide), "curve", "--json", *options, str(trace)]
    before, start = os.times(), time.perf_counter()
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    wall, after = time.perf_counter() - start, os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return json.loads(done.stdout), wall, cpu


def theirs(trace, policy, tuned, sizes):
    """One run per size: their answers, and the sums of their seconds."""
    script = pathlib.Path(__file__).parent / "curve" / "peer.py"
    answers = []
    for size in sizes:
        hashpower = max(4, math.ceil(math.log2(size))) if tuned else "default"
        command = [sys.executable, script, trace, POLICIES[policy], hashpower, size]
        done = subprocess.run([str(word) for word in command], check=True, stdout=subprocess.PIPE)
        answers.append(json.loads(done.stdout))
    return answers, sum(a["wall_s"] for a in answers), sum(a["cpu_s"] for a in answers)


def compare(args, out, name, trace, policy, sizes, number):
    """One round: ours, theirs with the default table, theirs with one that fits."""
    words = ",".join(f"{size}p" for size in sizes)
    load = common.load()
    own, wall, cpu = ours(args, trace, ["--policy", policy, "--sizes", words])
    row = {"trace": name, "policy": policy, "sizes": len(sizes), "round": number}
    row |= {"requests": own["accesses"], "pages": own["pages"], "wall_s": wall, "cpu_s": cpu}
    misses = [point["misses"] for point in own["policies"][0]["points"]]
    for kind in ("default", "tuned"):
        answers, wall, cpu = theirs(trace, policy, kind == "tuned", sizes)
        expected = [round(answer["miss_ratio"] * own["accesses"]) for answer in answers]
        if misses != expected:
            sys.exit(f"{name}, {policy}: misses {misses}, libCacheSim {expected}")
        row |= {f"{kind}_wall_s": wall, f"{kind}_cpu_s": cpu}
    row |= {"misses": ";".join(map(str, misses)), "load": load, "commit": common.commit()}
    common.append(out / "curve.csv", row)


def alone(args, out, name, trace, sizes, number):
    """What only we have: every size at once, and samples beside what is exact."""
    words = ",".join(f"{size}p" for size in sizes)
    exact, _, _ = ours(args, trace, ["--policy", "lru", "--sizes", words])
    truth = [point["miss_ratio"] for point in exact["policies"][0]["points"]]
    for kind, options in {
        "all": ["--all"],
        "0.01": ["--sizes", words, "--sample", "0.01"],
        "16384": ["--sizes", words, "--sample", "16384"],
    }.items():
        own, wall, cpu = ours(args, trace, ["--policy", "lru", *options])
        row = {"trace": name, "kind": kind, "round": number, "wall_s": wall, "cpu_s": cpu}
        if kind != "all":
            points = own["policies"][0]["points"]
            pairs = [(p, t) for p, t in zip(points, truth, strict=True) if p["misses"] is not None]
            off = [abs(point["miss_ratio"] - true) for point, true in pairs]
            said = [point["error"] for point, _ in pairs]
            row |= {"told": len(pairs), "off_mean": sum(off) / len(off), "off_max": max(off)}
            row |= {"said_mean": sum(said) / len(said)}
            row["held"] = sum(o <= s for o, s in zip(off, said, strict=True))
        row |= {"load": common.load(), "commit": common.commit()}
        common.append(out / "curve_alone.csv", row)


def median(rows, column):
    """Of a column of numbers."""
    return common.quantile([float(row[column]) for row in rows], 0.5)


def show(out):
    """Medians, ratios of medians, and the range of ratios over rounds."""
    rows = common.rows_of(out / "curve.csv")
    lines = []
    for key in dict.fromkeys((row["trace"], row["policy"], row["sizes"]) for row in rows):
        own = [row for row in rows if (row["trace"], row["policy"], row["sizes"]) == key]
        line = [*key, len(own), f"{1e9 * median(own, 'wall_s') / float(own[0]['requests']):.1f}"]
        for kind in ("default", "tuned"):
            ratio = median(own, f"{kind}_wall_s") / median(own, "wall_s")
            each = [float(row[f"{kind}_wall_s"]) / float(row["wall_s"]) for row in own]
            line += [f"{ratio:.1f}", f"{min(each):.1f}-{max(each):.1f}"]
            line += [f"{median(own, f'{kind}_cpu_s') / median(own, 'cpu_s'):.1f}"]
        lines.append(line)
    header = ["trace", "policy", "sizes", "rounds", "ns", "x default", "rounds", "x CPU"]
    common.table([*header, "x tuned", "rounds", "x CPU"], lines)
    rows = common.rows_of(out / "curve_alone.csv")
    lines = []
    for key in dict.fromkeys((row["trace"], row["kind"]) for row in rows):
        own = [row for row in rows if (row["trace"], row["kind"]) == key]
        line = [*key, f"{median(own, 'wall_s'):.3f}"]
        if own[0].get("told"):
            line += [own[0]["told"], f"{100 * float(own[0]['off_mean']):.2f}"]
            line += [f"{100 * float(own[0]['off_max']):.2f}", f"{100 * float(own[0]['said_mean']):.2f}"]
            line += [own[0]["held"]]
        else:
            line += ["", "", "", "", ""]
        lines.append(line)
    print()
    common.table(["trace", "lru", "s", "told", "off, points", "most", "said", "held"], lines)


def main():
    parser = common.arguments(__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="at one size")
    parser.add_argument("--rounds-eight", type=int, default=3, help="at eight sizes")
    parser.add_argument("--traces", default=",".join(TRACES), help="of " + ", ".join(TRACES))
    args = parser.parse_args()
    out = common.open_results(args)
    if args.show:
        show(out)
        return
    for name in args.traces.split(","):
        trace = args.scratch / f"pagetide-curve-{name}.oracleGeneral"
        if not trace.exists():
            write(trace, *TRACES[name])
        pages = ours(args, trace, ["--policy", "fifo", "--sizes", "1p"])[0]["pages"]
        eight = [round(share * pages) for share in EIGHT]
        for sizes, rounds in (([round(ONE * pages)], args.rounds), (eight, args.rounds_eight)):
            for number in range(rounds):
                for policy in POLICIES:
                    print(f"{name}: {policy}, {len(sizes)} sizes, round {number}", file=sys.stderr)
                    compare(args, out, name, trace, policy, sizes, number)
        for number in range(args.rounds):
            alone(args, out, name, trace, eight, number)
    show(out)


if __name__ == "__main__":
    main()
