#!/usr/bin/env python3
"""What the stock compactor does with fragmented memory: guests (make lab) in which a program fragments memory, and
the kernel compacts all of it on request, sampled meanwhile. The model of physical memory (crates/sim/src/frames) is
held against what comes out: `pagetide reproduce pmshifter calibration`. What was measured before is kept.

For each case: NAME.frames, every frame of the zone at the start; NAME.csv, over time what was migrated and how many
blocks of each order are free; NAME.json, the rest. An emulated CPU takes some ten times as long, so times mean nothing:
compare by pages migrated and scanned."""

import argparse
import collections
import dataclasses
import json
import pathlib
import re
import struct
import subprocess

import common
import guest

MEMORY = 640
TOPOLOGY = f"""name = "frames"
title = "one node"

[[node]]
name = "DRAM"
cpus = 2
memory = "{MEMORY}M"
latency_ns = 100
bandwidth_gb_s = 100
"""
ZONE = "DMA32"
BLOCK, LARGEST = 512, 1024
ORDERS = range(11)
# Bits of /proc/kpageflags (include/uapi/linux/kernel-page-flags.h).
LRU, BUDDY = 1 << 5, 1 << 10
FREE, MOVABLE, UNMOVABLE = range(3)


@dataclasses.dataclass(frozen=True)
class Case:
    """One guest."""

    name: str
    fragment: str


CASES = [
    Case("movable", "--free 50"),
    Case("few-pipes", "--free 50 --pipes 10M"),
    Case("many-pipes", "--free 50 --pipes 16M"),
    Case("mostly-free", "--free 75 --pipes 12M"),
    Case("mostly-used", "--free 15 --pipes 12M"),
    Case("uneven", "--free 50 --pipes 12M --uneven"),
]


def run(args, case, folder):
    """One guest; writes what came out of it."""
    out = args.scratch / f"pagetide-{args.name}-{case.name}"
    topology = out.with_suffix(".toml")
    topology.write_text(TOPOLOGY, encoding="utf-8")
    command = [args.lab, "run", "-t", topology, "--boot-timeout", "300", "--timeout", str(args.timeout), "--out", out]
    command += ["--copy", f"{guest.LAB / 'frames.sh'}:/script.sh", "--with", args.lab]
    for key, value in {"LAB": args.lab, "FRAGMENT": case.fragment, "FRAMES": MEMORY * 256}.items():
        command += ["--env", f"{key}={value}"]
    load = common.load()
    for _ in range(guest.BOOTS):
        done = subprocess.run([*command, "--", "sh", "/script.sh"], text=True, stdout=subprocess.PIPE, check=False)
        if done.returncode != guest.NOT_RUN:
            break
    topology.unlink()
    if done.returncode != 0:
        print(f"{case.name}: the guest ended with {done.returncode}\n{done.stdout}")
        return
    write(folder, case, done.stdout, out, {"commit": common.commit(), "load_before": load, "load_after": common.load()})


def write(folder, case, text, out, about):
    """The three files of a case."""
    states, samples, events = printed(text)
    before = flags(out / "before", states["before"])
    after = flags(out / "after", states["before"])
    types = block_types(before, events, states["before"])
    lines = [f"# {case.name}: {case.fragment}; zone {ZONE} before it is compacted (benches/frames.py)"]
    for number, type_ in enumerate(types):
        frames = before[number * BLOCK : (number + 1) * BLOCK]
        digits = "".join(f"{4 * one + two:x}" for one, two in zip(frames[::2], frames[1::2], strict=True))
        lines.append(f"{'M' if type_ == 'Movable' else 'U'} {digits}")
    (folder / f"{case.name}.frames").write_text("\n".join(lines) + "\n", encoding="utf-8")
    begin = samples[0]
    rows = ["seconds,migrated,failed,isolated,other_zones," + ",".join(f"order_{order}" for order in ORDERS)]
    for sample in samples:
        counts = [sample[key] - begin[key] for key in ("pgmigrate_success", "pgmigrate_fail", "compact_isolated")]
        rows.append(",".join(map(str, [round(sample["at"] - begin["at"], 2), *counts, sample["other"], *sample[ZONE]])))
    (folder / f"{case.name}.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    blocks = [collections.Counter(after[at : at + BLOCK]) for at in range(0, len(after), BLOCK)]
    found = {"case": dataclasses.asdict(case), **about, "said": re.search(r"^ready .*$", text, re.M)[0]}
    found |= {"states": states, "types": dict(collections.Counter(types))}
    found["changes"] = len(events)
    found["after"] = [[count[FREE], count[MOVABLE], count[UNMOVABLE]] for count in blocks]
    (folder / f"{case.name}.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(f"{case.name}: free blocks of 2 MiB {large(begin[ZONE])} -> {large(states['drained']['buddy'][ZONE])}")


def large(counts):
    """Free blocks of 2 MiB, those of 4 MiB as two."""
    return counts[9] + 2 * counts[10]


def printed(text):
    """What the script in the guest said: states by name, samples, and which pageblocks became what."""
    states, samples, events, name = {}, [], [], ""
    for line in text.splitlines():
        word = line.split()
        match word:
            case ["==", name]:
                states[name] = {"buddy": {}, "blocks": {}, "vmstat": {}, "zone": {}}
            case ["Node", _, "zone", zone, *counts] if len(counts) == len(ORDERS) and counts[0].isdigit():
                (states[name]["buddy"] if zone not in states[name]["buddy"] else states[name]["blocks"])[zone] = [
                    int(count) for count in counts
                ]
            case ["Node", _, "zone", zone, *counts] if len(counts) == len(states[name].get("types", [])):
                states[name]["blocks"][zone] = dict(zip(states[name]["types"], map(int, counts), strict=True))
            case ["Number", "of", "blocks", "type", *types]:
                states[name]["types"] = types
            case ["zone", zone, key, value]:
                states[name]["zone"].setdefault(zone.rstrip(","), []).append([key.rstrip(":"), int(value)])
            case ["sample", at, *pairs]:
                sample = {"at": float(at), "other": 0}
                for key, value in (pair.split("=") for pair in pairs):
                    if "," in value:
                        sample[key] = [int(count) for count in value.split(",")]
                        sample["other"] += 0 if key == ZONE else large(sample[key])
                    else:
                        sample[key] = int(value)
                samples.append(sample)
            case [key, value] if name in states and value.isdigit() and name != "events":
                states[name]["vmstat"][key] = int(value)
            case _ if name == "events" and (found := re.search(r"pfn=(\w+).* alloc_migratetype=(\d+).*change_ownership=(\d)", line)):
                if found[3] == "1":
                    events.append((int(found[1], 0), int(found[2])))
    states.pop("events", None)
    return states, samples, events


def bounds(state):
    """First frame of the zone, and the end, in whole blocks of the largest order."""
    first = next(value for key, value in state["zone"][ZONE] if key == "start_pfn")
    return -(-first // LARGEST) * LARGEST, MEMORY * 256 // LARGEST * LARGEST


def flags(path, state):
    """Of every frame of the zone what it is."""
    first, end = bounds(state)
    data = path.read_bytes()[8 * first : 8 * end]
    kinds = []
    for (bits,) in struct.iter_unpack("<Q", data):
        kinds.append(FREE if bits & BUDDY else MOVABLE if bits & LRU else UNMOVABLE)
    assert len(kinds) == end - first, f"{path}: {len(kinds)} frames of {end - first}"
    return kinds


def block_types(frames, events, state):
    """The type of each pageblock: from the traced changes; those from before the trace by what fits the counts of
    /proc/pagetypeinfo, the blocks with most unmovable pages."""
    first, _ = bounds(state)
    names = ["Unmovable", "Movable", "Reclaimable"]
    types = ["Movable"] * (len(frames) // BLOCK)
    for frame, type_ in events:
        if frame >= first and (frame - first) // BLOCK < len(types):
            types[(frame - first) // BLOCK] = names[min(type_, 2)]
    counts = state["blocks"].get(ZONE, {})
    missing = sum(counts.get(name, 0) for name in counts if name != "Movable") - sum(name != "Movable" for name in types)
    unmovable = lambda block: frames[block * BLOCK : (block + 1) * BLOCK].count(UNMOVABLE)
    left = sorted((block for block, name in enumerate(types) if name == "Movable"), key=unmovable, reverse=True)
    for block in left[: max(missing, 0)]:
        types[block] = "Unmovable"
    return types


def show(folder, markdown):
    """A row per case."""
    lines = []
    for case in CASES:
        path = folder / f"{case.name}.json"
        if not path.exists():
            continue
        found = json.loads(path.read_text(encoding="utf-8"))
        before, after = found["states"]["before"], found["states"]["drained"]
        grew = lambda key: after["vmstat"].get(key, 0) - before["vmstat"].get(key, 0)
        free = [large(state["buddy"][ZONE]) for state in (before, found["states"]["end"], after)]
        lines.append([case.name, case.fragment, *free, grew("pgmigrate_success"), grew("pgmigrate_fail")])
        lines[-1] += [grew("compact_migrate_scanned"), grew("compact_free_scanned")]
    header = ["case", "program", "free before", "at the end", "drained", "migrated", "failed", "scanned", "scanned for free"]
    common.table(header, lines, markdown)


def main():
    """Measures what is not there yet, prints the table."""
    parser = common.arguments(__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--lab", type=pathlib.Path, default=common.ROOT / "target/release/pagetide-lab")
    parser.add_argument("--name", default="frames", help="folder below the results")
    parser.add_argument("--only", default="", help="cases whose names match this expression")
    parser.add_argument("--timeout", type=int, default=300, help="seconds that a guest may take")
    parser.add_argument("--markdown", action="store_true", help="print the table for the documentation")
    args = parser.parse_args()
    folder = args.results / args.name
    if not args.show:
        common.open_results(args).joinpath(args.name).mkdir(exist_ok=True)
        for case in CASES:
            if re.search(args.only, case.name) and not (folder / f"{case.name}.json").exists():
                run(args, case, folder)
    show(folder, args.markdown)


if __name__ == "__main__":
    main()
