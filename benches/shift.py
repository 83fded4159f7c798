#!/usr/bin/env python3
"""`pagetide shift` in guests of the lab's topology `shift` (make lab), one per case; what was measured is kept.

*growth*: a program fills more memory than there is DRAM at three rates, or, *spare*, less than there is; unmanaged, and
with one trigger or another. *keep*: it keeps it for a minute; *guess*: so does
one that fits. *follow*: another one begins while
a device is being given back. *graph*: a program that builds a graph and ranks its vertices. *give-back*: a device of 640 MiB (512 MiB as memory), of which a program uses a part, is
given back. *redis*: redis-server in persistent memory that becomes storage, where the DRAM beside it is full, on a machine of two
such pairs; its misses are counted by node while it serves five operations (table 1 of PMShifter). An emulated CPU reads devices some ten times slower: times stand for themselves only in comparison.

For each case NAME.json, what the guest said; of growth also NAME.csv, memory four times a second, and NAME.jsonl, the
daemon's checks."""

import argparse
import csv
import dataclasses
import io
import itertools
import json
import math
import pathlib
import re
import shutil
import subprocess
import tempfile
import time

import common
import guest

# DRAM that is free at the moment which all triggers are compared by: the default threshold.
REFERENCE = 0.10
# Seconds that a guest may take once it is up, and give-back in it.
TIMEOUT, LIMIT = 500, 120
GIB = 1 << 30


@dataclasses.dataclass(frozen=True)
class Manager:
    """Options of `pagetide shift run`, none for no daemon, and the growth factor among them."""

    options: str = ""
    growth: float = 5


MANAGERS = {
    "unmanaged": Manager(),
    "default": Manager("--demote"),
    "quick": Manager("--demote --every 250ms"),
    "no-lead": Manager("--demote --lead 0"),
    "early": Manager("--demote --threshold 25% --growth 3", 3),
    # The least that can be asked for: nothing but stalls is looked at.
    "psi": Manager("--demote --lead 0 --threshold 0% --stalled 1%"),
}
RATES = (30, 60, 120)


@dataclasses.dataclass(frozen=True)
class Case:
    """One guest."""

    name: str
    kind: str
    settings: dict
    manager: str = ""
    rate: int = 0
    dram: str = "1G"


def growth(manager, rate, size="1200M", name="growth", hold=5, follow=""):
    """A program that fills memory at so many MiB a second, keeps it for some seconds, and verifies it; `follow`: and the
    same again, so many seconds after the last device began to be given back."""
    settings = {"OPTIONS": MANAGERS[manager].options, "SIZE": size, "RATE": f"{rate}M", "HOLD": hold, "FOLLOW": follow}
    return Case(f"{name}-{manager}-{rate}", "growth", settings, manager, rate)


def give_back(percent, dram="2G", name="give-back"):
    """Memory of which a program uses so much."""
    return Case(f"{name}-{percent}", "give-back", {"PERCENT": percent, "LIMIT": LIMIT}, dram=dram)


def graph(manager, scale, dram):
    """A program that builds a graph and then ranks its vertices, in DRAM of five sevenths of what it needs (section
    5.4 of PMShifter: 28 GB in 20)."""
    program = f"workload graph --scale {scale} --algorithm pagerank --page-size 4K --seconds 40"
    settings = {"OPTIONS": MANAGERS[manager].options, "PROGRAM": program}
    return Case(f"graph-{manager}", "growth", settings, manager, dram=dram)


# As firmware says it of Optane: a socket's own persistent memory is nearest to its DRAM, the rest is equally far from it.
PAIRS = """name = "pairs"
title = "Two sockets with DRAM and persistent memory each"
modules = ["nfit", "nd_pmem", "device_dax", "dax_pmem", "kmem"]
kernel = "memory_hotplug.memmap_on_memory=Y"
setup = \"\"\"
echo 8c1d0a3d5b9e4c0f9a52d3f0c0ffee11 >/etc/machine-id
echo offline >/sys/devices/system/memory/auto_online_blocks
\"\"\"
distances = [[10, 21, 17, 28], [21, 10, 28, 17], [17, 28, 10, 28], [28, 17, 28, 10]]
node = [
    { name = "DRAM 0", cpus = 1, memory = "768M", latency_ns = 81, bandwidth_gb_s = 105 },
    { name = "DRAM 1", cpus = 1, memory = "1G", latency_ns = 81, bandwidth_gb_s = 105 },
    { name = "PM 0", near = 0, latency_ns = 169, bandwidth_gb_s = 39 },
    { name = "PM 1", near = 1, latency_ns = 169, bandwidth_gb_s = 39 },
]
nvdimm = [{ node = 2, size = "512M" }, { node = 3, size = "512M" }]
"""


def redis(how):
    """Redis whose persistent memory becomes storage, by the kernel's own offlining or by ours."""
    return Case(f"redis-{how}", "redis", {"HOW": how, "KEYS": 100_000, "REQUESTS": 6_000})


CASES = [redis(how) for how in ("stock", "ours")]
# The same operations on this machine, where all memory is DRAM.
CASES.append(Case("redis-here", "redis-here", {"KEYS": 100_000, "REQUESTS": 100_000}))
OPERATIONS = ("mset", "set", "get", "lpush", "rpop")
CASES += [give_back(percent) for percent in (0, 10, 50, 100)]
CASES.append(give_back(100, "1G", "give-back-short"))
CASES += [growth(manager, rate) for manager in MANAGERS for rate in RATES]
# What is kept for longer is what memory is taken for.
CASES += [growth("default", rate, name="keep", hold=60) for rate in RATES]
# What the lead takes although all of this fits into DRAM, for as long.
CASES.append(growth("default", 120, "550M", "guess", hold=60))
# Seconds into a give-back of some four.
CASES += [growth("default", 120, name=f"follow-{seconds}", follow=seconds) for seconds in (0, 2)]
# 640 MiB are needed, and some 455 of this are free.
CASES += [graph(manager, 22, "640M") for manager in ("unmanaged", "default")]
# All of this fits into DRAM: whatever grows, grows for nothing.
CASES += [growth(manager, 120, "550M", "spare") for manager in MANAGERS if MANAGERS[manager].options]


def run_redis(args, case, folder):
    """One metered guest; what of redis's memory was missed where, by operation. Nodes are those of the topology."""
    more, paths = guest.programs(args, [shutil.which(name) for name in ("redis-server", "redis-benchmark")])
    out = args.scratch / f"pagetide-{args.name}-{case.name}"
    more += ["--meter", out.with_suffix(".meter"), "--units", out.with_suffix(".units")]
    text, out = guest.boot(args, case.name, PAIRS, "shift-redis.sh", case.settings | paths, more, TIMEOUT)
    if text is None:
        return
    found = {"case": dataclasses.asdict(case), "commit": common.commit(), "where": {}, "operations": {}, "said": []}
    marks, areas = {}, []
    for line in text.splitlines():
        match line.split():
            case ["where", when, *mib]:
                found["where"][when] = [int(word) for word in mib]
            case ["operation", name, mark, requests]:
                marks[mark] = name
                found["operations"][name] = {"requests": int(requests), "reads": [0] * 4, "writes": [0] * 4}
            case ["area", ends, _]:
                areas.append([int(end, 16) for end in ends.split("-")])
            case _:
                found["said"].append(line)
    for row in csv.DictReader(io.StringIO(common.read(out.with_suffix(".units")))):
        address = int(row["address"], 16) if row["address"] else 0
        node = int(row["node"] or -1)
        if row["mark"] in marks and node >= 0 and any(address < end and address + guest.UNIT > start for start, end in areas):
            operation = found["operations"][marks[row["mark"]]]
            operation["reads"][node] += int(row["reads"])
            operation["writes"][node] += int(row["writes"])
    guest.forget(out)
    (folder / f"{case.name}.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(f"{case.name}: {found['where']}")


def run_redis_here(args, case, folder):
    """Requests per second of redis on this machine, server and client on a core each."""
    with tempfile.TemporaryDirectory(dir=args.scratch) as place:
        socket = pathlib.Path(place) / "redis"
        command = ["taskset", "1", "redis-server", "--save", "", "--appendonly", "no", "--port", "0", "--unixsocket", socket]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as server:
            while not socket.exists():
                time.sleep(0.1)
            keys, requests = case.settings["KEYS"], case.settings["REQUESTS"]
            ask = ["taskset", "2", "redis-benchmark", "-s", socket, "-r", str(keys), "-d", "1000", "--csv"]
            rate = lambda operation, number: float(subprocess.check_output([*ask, "-t", operation, "-n", str(number)], text=True).splitlines()[-1].split('"')[3])
            for operation in ("mset", "lpush"):
                rate(operation, keys // 5)
            # The fastest of three: other programs only make it slower.
            found = {operation: max(rate(operation, requests) for _ in range(3)) for operation in OPERATIONS}
            server.terminate()
    found = {"case": dataclasses.asdict(case), "commit": common.commit(), "load": common.load(), "per_second": found}
    (folder / f"{case.name}.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(f"{case.name}: {found['per_second']}")


def run(args, case, folder):
    """One guest; writes what came out of it."""
    if case.kind == "redis-here":
        run_redis_here(args, case, folder)
        return
    if case.kind == "redis":
        run_redis(args, case, folder)
        return
    topology = common.read(common.ROOT / "lab/topologies/shift.toml")
    topology = topology.replace('memory = "1G"', f'memory = "{case.dram}"')
    more, paths = guest.programs(args)
    found = {"case": dataclasses.asdict(case), "commit": common.commit(), "load_before": common.load()}
    variables = case.settings | paths | {"KIND": case.kind}
    text, out = guest.boot(args, case.name, topology, "shift.sh", variables, more, TIMEOUT)
    if text is None:
        return
    found |= {"load_after": common.load()} | printed(text)
    if case.kind == "give-back":
        found["back"] = json.loads(common.read(out / "back.json") or "{}")
    else:
        for file, suffix in (("samples.csv", "csv"), ("checks.jsonl", "jsonl")):
            if text := common.read(out / file):
                (folder / f"{case.name}.{suffix}").write_text(text, encoding="utf-8")
    (folder / f"{case.name}.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(f"{case.name}: done in {found['end'] - found['begin']:.1f} s of the guest")


def printed(text):
    """What the script in the guest said."""
    found = {"before": {}, "after": {}, "kib": {}, "verified": False}
    for line in text.splitlines():
        match line.split():
            case ["at", name, seconds]:
                found[name] = float(seconds)
            case ["before" | "after" | "kib" as of, key, value]:
                found[of][key] = int(value)
            case ["filled", *_]:
                found["filled_s"] = float(line.split()[-2])
            case ["verified", _]:
                found["verified"] = True
            case ["signatures", count, "nonzero", others]:
                found["left"] = {"signatures": int(count), "nonzero": int(others)}
            case ["failed", _]:
                found["failed"] = line
    return found


def counted(found, key):
    """By how much a counter of the kernel's grew."""
    return found["after"].get(key, 0) - found["before"].get(key, 0)


def swapped_mib(found):
    """Memory swapped out while the program ran."""
    return counted(found, "pswpout") / 256


def free(row):
    """Free memory of both nodes and page cache, KiB, of a sample."""
    return sum(row[key] for key in ("dram_free", "dram_file", "pm_free", "pm_file"))


def samples_of(path):
    """Samples as numbers. A last one that is not whole is left out."""
    rows = [row for row in common.rows_of(path) if all(row.values())]
    return [{key: float(value) for key, value in row.items()} for row in rows]


def online_at(samples):
    """When the first of the storage was memory; none: never."""
    return next((row["seconds"] for row in samples if row["pm_total"] > 0), None)


def since_below(samples, limit):
    """Seconds from less than so many KiB being free to memory online; less than 0: it was online before."""
    below = next((row["seconds"] for row in samples if free(row) < limit), None)
    online = online_at(samples)
    return None if below is None or online is None else online - below


def checks_until(checks):
    """Checks that saw less free than their threshold, up to the one that first grew: how many; why it grew."""
    count = 0
    for check in checks:
        pair = check["pairs"][0]
        count += pair["free"] < pair["threshold"]
        for event in check["happened"]:
            if event["event"] == "grew":
                return count, event["why"]
    return count, None


def devices(checks):
    """How many became memory, and how many of them were given back although less would have done all the time."""
    here, taken, unneeded = {}, 0, 0
    for at, check in enumerate(checks):
        for event in check["happened"]:
            if event["event"] == "grew":
                taken += 1
                here[event["device"]] = (at + 1, len(here) + 1)
            elif event["event"] == "again":
                here[event["device"]] = (at + 1, len(here) + 1)
            elif event["event"] == "shrank":
                since, rank = here.pop(event["device"])
                pairs = [check["pairs"][0] for check in checks[since : at + 1]]
                needed = [math.ceil(max(pair["memory"] - pair["free"], 0) / event["bytes"]) for pair in pairs]
                unneeded += max(needed, default=0) < rank
    return taken, unneeded


def apart(checks):
    """Fewest seconds between a change of direction and the shift before it; none: it never changed."""
    shifts = []
    for check in checks:
        end = check["seconds"]
        for event in check["happened"]:
            if event["event"] in ("grew", "shrank"):
                shifts.append((event["event"], end, end := end + event["seconds"]))
    return min((two[1] - one[2] for one, two in itertools.pairwise(shifts) if one[0] != two[0]), default=None)


def memory_seconds(samples, goal):
    """Of memory that was storage, MiB x seconds: used, not used, and of the latter what is beyond the goal (KiB)."""
    used = unused = beyond = 0.0
    for row, after in itertools.pairwise(samples):
        seconds = after["seconds"] - row["seconds"]
        idle = min(row["pm_total"], free(row))
        used += (row["pm_total"] - idle) * seconds / 1024
        unused += idle * seconds / 1024
        # What of the goal lies in DRAM needs no other memory.
        beyond += min(idle, max(free(row) - goal, 0)) * seconds / 1024
    return used, unused, beyond


def between_seconds(checks):
    """Of devices, MiB x seconds in which they were no memory any more and not storage yet: being zeroed, or waiting for it.
    Neither programs nor whoever owns the storage can use them. None where it was not told to the end (by programs that
    zeroed devices before they told that they are gone)."""
    since, total = {}, 0.0
    for check in checks:
        for event in check["happened"]:
            device = event.get("device")
            if event["event"] == "shrank":
                since[device] = (check["seconds"] + event["seconds"], event["bytes"])
            elif event["event"] in ("zeroed", "again") and device in since:
                left, bytes_ = since.pop(device)
                # What was zeroed is told later, with how long it took.
                seconds = event["seconds"] if event["event"] == "zeroed" else max(check["seconds"] - left, 0)
                total += bytes_ / (1 << 20) * seconds
    return None if since else total


def or_none(value, form):
    """A figure, or a dash where there is none."""
    return "–" if value is None else form.format(value)


def show_growth(folder, markdown):
    """Two tables: what was swapped out, how soon memory was there; and what it was good for."""
    swaps, uses = [], []
    for case in CASES:
        path = folder / f"{case.name}.json"
        if case.kind != "growth" or not path.exists():
            continue
        found = json.loads(path.read_text(encoding="utf-8"))
        samples = samples_of(path.with_suffix(".csv"))
        all_checks = [json.loads(line) for line in common.read(path.with_suffix(".jsonl")).splitlines()]
        # The last line tells what was zeroed at the end, and saw nothing.
        checks = [check for check in all_checks if check["pairs"]]
        swapped, online = swapped_mib(found), online_at(samples)
        alone = folder / f"growth-unmanaged-{case.rate}.json"
        avoided = None
        if case.name.startswith("growth") and checks and alone.exists():
            avoided = swapped_mib(json.loads(alone.read_text(encoding="utf-8"))) - swapped
        before = [row["swapped_out"] for row in samples if online is None or row["seconds"] <= online]
        threshold = checks[0]["pairs"][0]["threshold"] / 1024 if checks else 0
        dram = samples[0]["dram_total"]
        count, why = checks_until(checks)
        swaps.append(
            [case.name, why or "–", or_none(since_below(samples, threshold) if threshold else None, "{:.1f} s")]
            + [count if why and threshold else "–", or_none(since_below(samples, REFERENCE * dram), "{:.1f} s")]
            + [f"{swapped:.0f} MiB", f"{(before[-1] - found['before']['pswpout']) / 256:.0f} MiB"]
            + [or_none(avoided, "{:.0f} MiB"), counted(found, "oom_kill")]
            + [f"{found['filled_s']:.1f} s" if "filled_s" in found else "–"]
            + ["–" if "PROGRAM" in case.settings else "yes" if found["verified"] else "NO"]
        )
        if not checks:
            continue
        taken, unneeded = devices(checks)
        used, unused, beyond = memory_seconds(samples, MANAGERS[case.manager].growth * threshold)
        between = between_seconds(all_checks)
        uses.append(
            [case.name, taken, unneeded, f"{used / 1024:.1f}", f"{unused / 1024:.1f}", f"{beyond / 1024:.1f}"]
            + [f"{beyond / used:.2f}" if used else "–", or_none(between and between / 1024, "{:.1f}")]
            + ["–" if between is None or not used else f"{(beyond + between) / used:.2f}"]
            + [or_none(apart(checks), "{:.1f} s")]
        )
    header = ["case", "grew by", "own threshold to online", "checks", "10 % free to online", "swapped out"]
    common.table([*header, "before online", "avoided", "OOM kills", "filled in", "data right"], swaps, markdown)
    print()
    header = ["case", "devices taken", "for nothing", "used GiB x s", "not used", "beyond growth", "beyond / used"]
    common.table([*header, "neither memory nor storage", "both / used", "least apart"], uses, markdown)


def show_give_back(folder, markdown):
    """A row per case."""
    lines = []
    for case in CASES:
        path = folder / f"{case.name}.json"
        if case.kind != "give-back" or not path.exists():
            continue
        found = json.loads(path.read_text(encoding="utf-8"))
        kib, back = found["kib"], found["back"]
        seconds = found["end"] - found["begin"]
        used = kib["pm_MemTotal"] - kib["pm_MemFree"]
        bytes_ = back.get("bytes", 0)
        left = found.get("left")
        lines.append(
            [case.name, f"{used / 1024:.0f} of {kib['pm_MemTotal'] / 1024:.0f} MiB"]
            + [f"{kib['dram_MemFree'] / 1024:.0f} MiB"]
            + ["done" if bytes_ else f"refused: {'; '.join(back.get('refused', []))}", f"{seconds:.1f} s"]
            + [f"{seconds * GIB / bytes_:.1f}" if bytes_ else "–", f"{back.get('moved', 0) / (1 << 20):.0f} MiB"]
            + [f"{counted(found, 'pgmigrate_success') / 256:.0f} MiB", f"{swapped_mib(found):.0f} MiB"]
            + ["–" if not case.settings["PERCENT"] else "yes" if found["verified"] else "NO"]
            + [left["nonzero"] if left else "–"]
        )
    header = ["case", "used", "DRAM free", "outcome", "took", "s per GiB", "moved by us", "moved in all", "swapped out"]
    common.table([*header, "data right", "words left"], lines, markdown)


# Figure 5: one large program that stays as it is, and memory that is filled and freed at three rates (120 MiB/s were asked
# for where 73 were reached).
PANELS = {"graph-default": "a graph program", "keep-default-30": "30 MiB/s", "keep-default-60": "60 MiB/s", "keep-default-120": "73 MiB/s"}


def write_series(folder, path):
    """Total and used memory over time, for benches/reproduction.py --series."""
    rows = ["panel,series,published,x_label,y_label,x,y"]
    for name, panel in PANELS.items():
        if not (folder / f"{name}.csv").exists():
            print(f"{name}: not measured")
            continue
        samples = samples_of(folder / f"{name}.csv")
        start = samples[0]["seconds"]
        # One for each second.
        for seconds, sample in {int(sample["seconds"] - start): sample for sample in samples}.items():
            total = sample["dram_total"] + sample["pm_total"]
            for series, kib in (("total", total), ("used", total - free(sample))):
                rows.append(f"{panel},{series},no,seconds,MiB,{seconds},{kib / 1024:.1f}")
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")


def main():
    """Measures what is not there yet, prints the tables."""
    parser = guest.basic_arguments(__doc__, "shift-figures")
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--series", type=pathlib.Path, help="write what figure 5 is drawn from into this file, and end")
    args = parser.parse_args()
    folder = args.results / args.name
    if args.series:
        write_series(folder, args.series)
        return
    if not args.show:
        common.open_results(args).joinpath(args.name).mkdir(exist_ok=True)
        args.pagetide = guest.stripped(args.pagetide, args.scratch)
        for case in CASES:
            if re.search(args.only, case.name) and not (folder / f"{case.name}.json").exists():
                run(args, case, folder)
    show_give_back(folder, args.markdown)
    print()
    show_growth(folder, args.markdown)


if __name__ == "__main__":
    main()
