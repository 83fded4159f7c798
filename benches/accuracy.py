#!/usr/bin/env python3
"""Estimated against true rates: records `workload hot-cold --truth` over page sizes, hot shares and
ratios, in units of 2 MiB or of 4 KiB; says how far rates, the knee and the recommended fast memory are from the truth's."""

import itertools
import json
import pathlib
import subprocess
import sys
import tempfile

import duckdb

import common

REGION = 2 << 20
UNITS = {"2M": REGION, "4K": 4 << 10}  # what gets a rate of its own
KEPT = 4096  # rates of single units per cell, at most
WARM_UP = 2  # epochs
MEANS = """
with e as (select * from '{name}/epochs-*.parquet' where epoch >= {skip})
select u.index, sum(h.rate * e.length_s) / sum(e.length_s) as rate,
       avg(h.saturated::int) as saturated
from '{name}/heat-*.parquet' h
join e using (epoch)
join '{name}/units-*.parquet' u using (unit)
group by u.index order by u.index
"""


def cells():
    """(page size, hot per cent, ratio), the extremes first."""
    extreme = set(itertools.product((5, 80), (20, 1000)))
    every = set(itertools.product((5, 20, 50, 80), (20, 100, 1000)))
    centre = {(20, 100), (50, 100)}
    for group in (extreme, centre, every - extreme - centre):
        for hot, ratio in sorted(group):
            yield from ((page, hot, ratio) for page in ("4K", "2M"))


def means(recording, skip):
    """Mean rate and share of epochs marked saturated, per index of a unit."""
    query = MEANS.format(name=recording, skip=skip)
    return {index: (rate, saturated) for index, rate, saturated in duckdb.sql(query).fetchall()}


def recommended(plan):
    """(fast bytes, policy, size of the hot set) of a plan; None where it cannot tell."""
    if not plan:
        return None, "no plan", None
    hot = (plan["hot_set"] or {}).get("bytes")
    answer = plan["recommendation"]
    if not answer:
        return None, plan["why_not"], hot
    return answer["fast_bytes"], answer["policy"], hot


def short(plan):
    """What explains a recommendation: the answer and every policy's need, without curves."""
    if not plan:
        return None
    policies = [
        {key: policy[key] for key in ("policy", "fast_bytes", "knee_bytes", "at_recommended")}
        for policy in plan["policies"]
    ]
    recording = {key: value for key, value in plan["recording"].items() if key not in ("name", "target")}
    if plan["recommendation"]:
        plan["recommendation"].pop("sentence")
    kept = ("warm_up", "memory_share", "recommendation", "why_not", "hot_set")
    return {key: plan[key] for key in kept} | {"recording": recording, "policies": policies}


def compare(pairs, hot_units):
    """Errors of the rates and the knee; pairs of (true, estimated), one per unit."""
    pairs = sorted(pairs, reverse=True)
    hot, cold = pairs[:hot_units], pairs[hot_units:]
    found = {}
    for name, part in (("hot", hot), ("cold", cold)):
        ratios = [estimate / true for true, estimate in part if true > 0]
        for label, share in (("median", 0.5), ("p10", 0.1), ("p90", 0.9)):
            found[f"{name}_{label}"] = round(common.quantile(ratios, share), 4)
    mean = [sum(true for true, _ in part) / len(part) for part in (hot, cold)]
    threshold = (mean[0] * mean[1]) ** 0.5
    found["true_hot_rate"], found["true_cold_rate"] = (round(rate, 1) for rate in mean)
    knee = sum(1 for _, estimate in pairs if estimate >= threshold)
    # Does a hottest-first order by the estimate put the hot units in front?
    order = sorted(range(len(pairs)), key=lambda i: -pairs[i][1])[:hot_units]
    found["hot_in_front"] = round(sum(1 for i in order if i < hot_units) / hot_units, 4)
    found["knee_over_hot"] = round(knee / hot_units, 4)
    return found


def measure(args, page, hot, ratio, out):
    """One cell: records, compares, keeps the rates per unit and one row."""
    unit = UNITS[args.unit]
    units = args.size_mib * 2**20 // unit
    hot_mib = 2 * max(1, round(args.size_mib / 2 * hot / 100))
    hot_units = hot_mib * 2**20 // unit
    with tempfile.TemporaryDirectory(dir=args.scratch) as scratch:
        estimate, truth = (str(pathlib.Path(scratch) / name) for name in ("e.heat", "t.heat"))
        command = [args.pagetide, "record", "-q", "--unit", args.unit, "-o", estimate, "--"]
        command += [args.pagetide, "workload"]
        command += ["hot-cold", "--size", f"{args.size_mib}M", "--hot", f"{hot_mib}M"]
        command += ["--ratio", ratio, "--page-size", page, "--seconds", args.seconds]
        command += ["--truth-unit", args.unit, "--truth", truth] + (["--rate", args.rate] if args.rate else [])
        before = common.load()
        subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        true, estimated = means(truth, 1), means(estimate, WARM_UP)
        pairs = [(rate, estimated.get(i, (0.0, 0))[0]) for i, (rate, _) in true.items()]
        saturated = [estimated.get(i, (0, 0))[1] for i in true]
        plans = [common.plan(args.pagetide, name) for name in (estimate, truth)]
        fast, policy, own_knee = recommended(plans[0])
        true_fast, true_policy, _ = recommended(plans[1])
    name = f"{page}-{hot:02}-{ratio:04}" + (f"-rate{args.rate}" if args.rate else "")
    name += "" if args.unit == "2M" else f"-unit{args.unit}"
    folder = out / "accuracy"
    folder.mkdir(exist_ok=True)
    with (folder / f"{name}.csv").open("w", encoding="utf-8") as file:
        file.write("true_per_s,estimated_per_s\n")
        few = sorted(pairs)[:: -max(1, len(pairs) // KEPT)]
        file.writelines(f"{true:.6g},{estimate:.6g}\n" for true, estimate in few)
    kept = dict(zip(("estimate", "truth"), map(short, plans), strict=True))
    (folder / f"{name}.json").write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    row = {"page": page, "hot_percent": hot, "ratio": ratio, "rate": args.rate or "unlimited"}
    row |= {"size_mib": args.size_mib, "hot_units": hot_units, "units": units}
    row |= compare(pairs, hot_units)
    row["saturated_share_of_units"] = round(sum(saturated) / len(saturated), 4)
    row["plan_knee_over_hot"] = round(own_knee / (hot_units * unit), 4) if own_knee else ""
    row |= {"fast_bytes": fast, "policy": policy}
    row |= {"true_fast_bytes": true_fast, "true_policy": true_policy}
    row["fast_over_true"] = round(fast / true_fast, 4) if fast and true_fast else ""
    row |= {"load_before": before, "load_after": common.load(), "unit": args.unit}
    common.append(out / "accuracy.csv", row)


def key(row):
    """What makes a cell."""
    # Rows without the column are of units of 2 MiB.
    unit = row.get("unit") or "2M"
    return unit, row["page"], str(row["hot_percent"]), str(row["ratio"]), row["rate"]


def show(out):
    """The table of all finished cells."""
    columns = ["unit", "page", "hot_percent", "ratio", "rate", "hot_median", "hot_p10", "hot_p90"]
    columns += ["cold_median", "cold_p10", "cold_p90", "knee_over_hot", "plan_knee_over_hot"]
    columns += ["fast_over_true", "load_after"]
    rows = common.rows_of(out / "accuracy.csv")
    rows = [row | {"unit": row.get("unit") or "2M"} for row in rows]
    common.table(columns, [[row[column] for column in columns] for row in sorted(rows, key=key)])


def main():
    parser = common.arguments(__doc__)
    parser.add_argument("--size-mib", type=int, default=512, help="footprint F")
    parser.add_argument("--seconds", type=int, default=35, help="length of each cell")
    parser.add_argument("--rate", type=int, help="accesses per second (default: unlimited)")
    parser.add_argument("--unit", choices=UNITS, default="2M", help="what gets a rate of its own")
    parser.add_argument("--pages", default="4K,2M", help="page sizes")
    parser.add_argument("--cells", type=int, default=24, help="stop after so many")
    args = parser.parse_args()
    out = common.open_results(args)
    if args.show:
        show(out)
        return
    chosen = (cell for cell in cells() if cell[0] in args.pages.split(","))
    for page, hot, ratio in itertools.islice(chosen, args.cells):
        wanted = (args.unit, page, str(hot), str(ratio), str(args.rate or "unlimited"))
        if wanted in {key(row) for row in common.rows_of(out / "accuracy.csv")}:
            continue
        print(f"{page}, {hot} % hot, 1:{ratio}", file=sys.stderr, flush=True)
        measure(args, page, hot, ratio, out)
    show(out)


if __name__ == "__main__":
    main()
