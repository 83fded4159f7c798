#!/usr/bin/env python3
"""Hot and cold memory on two tiers: share of accesses from fast memory over time, without
migration, with the kernel's own tiering, with Pagetide. Boots guests (make lab), one per case.

All of the memory is in the slow tier at first; the fast one is free, or full of page cache. Cache misses are counted from
outside the guest by the lab's meter. T = 0 is when the tiering begins. Guests are as fast as a machine (`guest.FELT`), and all constants
as they ship; by the host's clock they are eleven times as slow, and what is per second is given as much more."""

import dataclasses
import json
import re

import common
import guest

CASES = [(page, mode) for page in ("2M", "4K") for mode in ("none", "kernel", "pagetide")]
# How long a case is watched; by the host's clock Pagetide as long as the kernel.
SECONDS = {"none": 5, "kernel": 40, "pagetide": 20}
SIZE, HOT, RATIO = "1200M", "300M", 400
HOT_UNITS = 150
# MiB; the kernel, and what the lab takes along, have some 110 of it.
DRAM = 1152
# Between rows of the meter; so long a share must last to be reached.
EVERY_S, LASTS_S = 0.2, 1.0
# When the table looks.
TIMES = (1, 2, 3, 5, 10)


def run(args, page, mode, number):
    """One guest; what it left, in the folder of the results."""
    name = f"{page}-{mode}-{number}"
    options = guest.run_options(args)
    seconds = SECONDS["kernel" if args.by_host and mode == "pagetide" else mode]
    variables = {"MODE": mode, "PAGE": page, "SIZE": SIZE, "HOT": HOT, "RATIO": RATIO, "SECONDS_": seconds, "OPTIONS": options}
    variables["FILES"] = "1" if args.files else ""
    found = {"page": page, "mode": mode, "clock": dataclasses.asdict(args.clock), "commit": common.commit()}
    text, out = guest.run(args, name, "tiering.sh", DRAM, variables, meter=("2M", EVERY_S))
    if text is None:
        return
    for line in text.splitlines():
        words = line.split()
        if words and words[0] in ("before", "after"):
            found.setdefault(words[0], {})[words[1]] = int(words[2])
        elif words and words[0] in ("start", "end"):
            found[words[0]] = float(words[1])
        elif words and words[0] in ("ready", "done"):
            found[f"load_{words[0]}"] = line
    if mode == "pagetide":
        found["options"] = options
        found["run"] = json.loads(common.read(out / "run.json"))
        (args.folder / f"{name}.jsonl").write_text(common.read(out / "log.jsonl"), encoding="utf-8")
    at = re.search(r"range=(0x\w+)-(0x\w+)", found["load_ready"])
    # Cache misses of the workload's memory between the marks, as the meter counted them.
    write(args.folder / f"{name}.csv", sums(guest.misses(out, [[int(end, 16) for end in at.groups()]])))
    guest.forget(out)
    (args.folder / f"{name}.migrate").write_text(common.read(out / "migrate.json"), encoding="utf-8")
    (args.folder / f"{name}.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def sums(rows):
    """Of (time, unit, count, whether fast): by time all counts and the fast ones, and those of the
    units that are hottest over all of the time."""
    units, times = {}, {}
    rows = list(rows)
    for _, unit, count, _ in rows:
        units[unit] = units.get(unit, 0) + count
    hot = set(sorted(units, key=units.get, reverse=True)[:HOT_UNITS])
    for time, unit, count, fast in rows:
        sum_ = times.setdefault(time, [0, 0, 0, 0])
        for at, ours in ((0, True), (2, unit in hot)):
            sum_[at] += count if ours else 0
            sum_[at + 1] += count if ours and fast else 0
    return sorted(times.items())


def write(path, rows):
    """A table of sums: seconds since the tiering began, counts, share of fast memory; of all, and
    of what went to the hot set."""
    text = ["seconds,all,fast_share,hot,hot_fast_share"]
    for seconds, (all_, fast, hot, hot_fast) in rows:
        shares = (fast / max(all_, 1), hot_fast / max(hot, 1))
        text.append(f"{seconds:.2f},{all_:.0f},{shares[0]:.4f},{hot:.0f},{shares[1]:.4f}")
    path.write_text("\n".join([*text, ""]), encoding="utf-8")


def when(rows, share):
    """Seconds until the share of the hot set's fast accesses reaches `share` and stays there for a while."""
    lasts = round(LASTS_S / EVERY_S)
    for i, row in enumerate(rows):
        if all(float(r["hot_fast_share"]) >= share for r in rows[i : i + lasts]):
            return f"{float(row['seconds']):.1f} s"
    return "–"


def at(rows, seconds):
    """The hot set's share in the interval that ends next after so many seconds."""
    for row in rows:
        if float(row["seconds"]) >= seconds:
            return f"{100 * float(row['hot_fast_share']):.1f} %"
    return "–"


def alone(path):
    """How long moving the hot set up took by itself in the same boot, after the program's end."""
    text = common.read(path.with_suffix(".migrate"))
    lines = json.loads(text)["lines"] if text else []
    took = [line["row"]["seconds"] for line in lines if line["row"] and line["case"]["mode"] == "promote"]
    return f"{min(took):.1f} s" if took else "–"


def show(folder, markdown):
    """The table of all cases measured."""
    lines = []
    for page, mode in CASES:
        for path in sorted(folder.glob(f"{page}-{mode}-*.json")):
            found = json.loads(path.read_text(encoding="utf-8"))
            rows = common.rows_of(path.with_suffix(".csv"))
            grown = {key: found["after"][key] - value for key, value in found["before"].items()}
            moved = grown["pgmigrate_success"] * 4096 / 2**20
            lines.append(
                [page, mode, *(at(rows, time) for time in TIMES), at(rows, float(rows[-1]["seconds"]))]
                + [when(rows, 0.9), when(rows, 0.99), f"{moved:.0f} MiB", alone(path), grown.get("thp_migration_split", 0)]
            )
    header = ["page", "tiering", *(f"{time} s" for time in TIMES), "at the end", "90 % after"]
    common.table([*header, "99 % after", "moved", "alone", "splits"], lines, markdown)


def main():
    """Measures what is not there yet, prints the table."""
    parser = guest.arguments(__doc__, "tiering", guest.FELT)
    parser.add_argument("--repeat", type=int, default=1, help="guests per case")
    parser.add_argument("--files", action="store_true", help="page cache fills fast memory at first")
    args = guest.parse_either_clock(parser)
    args.folder = args.results / args.name
    if not args.show:
        common.open_results(args).joinpath(args.name).mkdir(exist_ok=True)
        names = [(page, mode, number) for number in range(1, args.repeat + 1) for page, mode in CASES]
        wanted = [case for case in names if re.search(args.only, "{}-{}-{}".format(*case))]
        guest.at_once(args, ((run, args, *case) for case in wanted if not (args.folder / "{}-{}-{}.json".format(*case)).exists()))
    show(args.folder, args.markdown)


if __name__ == "__main__":
    main()
