#!/usr/bin/env python3
"""Programs on two tiers of memory under no migration, the kernel's own tiering, and Pagetide: which share of
their cache misses fast memory serves in the last third, beside what the best placement for it would serve.
Boots guests (make lab), one per case; what was measured before is kept.

The lab's meter counts misses from outside the guest. Memory is where the kernel put it at first, fast first.
The clairvoyant has on the fast tier those units of 2 MiB with the most misses in the last third, as many as
were free before the program started; it moves nothing and costs nothing. Where popular objects are scattered, base
pages that are moved one by one reach more."""

import csv
import io
import json
import pathlib
import re
import statistics
import subprocess

import common
from compare.programs import DRAM, MODES, PROGRAMS

LAB = pathlib.Path(__file__).resolve().parent / "lab"
TOPOLOGY = """name = "compare"
title = "two tiers"

[[node]]
name = "DRAM"
cpus = 2
memory = "{dram}M"
latency_ns = {fast}
bandwidth_gb_s = 100

[[node]]
name = "CXL"
memory = "2G"
latency_ns = {slow}
bandwidth_gb_s = 15
"""
FAST_NS, SLOW_NS = 100, 350
# What moving a base page of 4 KiB, or 512 of them at once as a huge page, takes (`pagetide bench migrate`), us.
PAGE_US, HUGE_US = 2.0, 120.0
UNIT = 2 << 20
# A case counts where the best placement serves so many points more than none.
MATTERS = 5.0


def run(args, program, dram, mode, path):
    """One guest; writes what came out of it."""
    out = args.scratch / f"pagetide-compare-{path.stem}"
    topology = out.with_suffix(".toml")
    topology.write_text(TOPOLOGY.format(dram=dram, fast=FAST_NS, slow=SLOW_NS), encoding="utf-8")
    options = f"--budget {args.budget}% {args.options}"
    variables = {
        "PAGETIDE": args.pagetide,
        "LAB": args.lab,
        "MODE": mode,
        "PROGRAM": f"{args.pagetide} workload {program.words.format(page=args.page)}",
        "SECONDS_": args.seconds,
        "OPTIONS": options,
    }
    command = [args.lab, "run", "-t", topology, "--boot-timeout", "300", "--timeout", "1800", "--out", out]
    command += ["--meter", out.with_suffix(".meter"), "--units", out.with_suffix(".units")]
    command += ["--copy", f"{LAB / 'compare.sh'}:/compare.sh"]
    for each in (args.pagetide, args.lab, *program.needs):
        command += ["--with", each]
    for key, value in variables.items():
        command += ["--env", f"{key}={value}"]
    load = common.load()
    command += ["--", "sh", "/compare.sh"]
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        print(f"{path.stem}: the guest ended with {done.returncode}\n{done.stdout}")
        return
    found = {"program": program.name, "about": program.about, "dram_mib": dram, "mode": mode, "page": args.page}
    found |= {"commit": common.commit(), "load_before": load, "load_after": common.load()}
    found |= printed(done.stdout)
    if mode.startswith("pagetide"):
        found["options"] = options
        found["run"] = json.loads(common.read(out / "run.json"))
        (path.with_suffix(".jsonl")).write_text(common.read(out / "log.jsonl"), encoding="utf-8")
    found |= metered(common.read(out.with_suffix(".units")), found["areas"], found["free_kib"] * 1024)
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    for suffix in (".toml", ".meter", ".units"):
        out.with_suffix(suffix).unlink(missing_ok=True)


def stripped(program, scratch):
    """The program without its debug information, which would lie in the guest's fast memory."""
    folder = scratch / "pagetide-compare"
    folder.mkdir(exist_ok=True)
    subprocess.run(["objcopy", "--strip-debug", program, folder / "pagetide"], check=True)
    return folder / "pagetide"


def printed(text):
    """What the script in the guest said."""
    found = {"areas": []}
    for line in text.splitlines():
        words = line.split()
        match words:
            case ["before" | "after", _, _]:
                found.setdefault(words[0], {})[words[1]] = int(words[2])
            case ["area", range_, _]:
                area = [int(end, 16) for end in range_.split("-")]
                found["areas"] += [area] if area not in found["areas"] else []
            case ["free", kib]:
                found["free_kib"] = int(kib)
            case ["start" | "end", at]:
                found[words[0]] = float(at)
            case ["ready" | "done", *_]:
                found[words[0]] = line
    return found


def metered(text, areas, fast_bytes):
    """Misses between the marks over time, and in the last third by whom they were served."""
    rows = [row for row in csv.DictReader(io.StringIO(text)) if not row["seconds"].startswith("#")]
    begin = max((float(row["seconds"]) for row in rows if row["mark"] == "0"), default=0.0)
    own = [row for row in rows if row["mark"] == "1" and inside(int(row["address"], 16), areas)]
    end = max((float(row["seconds"]) for row in own), default=begin)
    over_time, last, fast = {}, {}, 0
    for row in own:
        count, at = int(row["reads"]) + int(row["writes"]), float(row["seconds"])
        sums = over_time.setdefault(at, [0, 0])
        sums[0] += count
        sums[1] += count if row["node"] == "0" else 0
        if at > begin + 2 * (end - begin) / 3:
            last[row["address"]] = last.get(row["address"], 0) + count
            fast += count if row["node"] == "0" else 0
    all_ = max(sum(last.values()), 1)
    best = sum(sorted(last.values(), reverse=True)[: fast_bytes // UNIT])
    return {
        "misses": sum(sums[0] for sums in over_time.values()),
        "fast_misses": sum(sums[1] for sums in over_time.values()),
        "last_third": {"misses": all_, "fast_share": fast / all_, "clairvoyant": best / all_},
        "over_time": [[round(at - begin, 2), *sums] for at, sums in sorted(over_time.items())],
    }


def inside(address, areas):
    """Whether a unit holds part of one of the areas."""
    return any(address < end and address + UNIT > start for start, end in areas)


def moved_pages(found):
    """Base pages and huge pages that the kernel moved, on whose behalf ever."""
    grown = {key: found["after"][key] - value for key, value in found["before"].items()}
    huge = grown.get("thp_migration_success", 0)
    return grown["pgmigrate_success"] - 512 * huge, huge


def stall_ns(found):
    """Modelled stall per miss: waiting for memory, moving, observing."""
    fast, all_ = found["fast_misses"], max(found["misses"], 1)
    waiting = fast * FAST_NS + (all_ - fast) * SLOW_NS
    base, huge = moved_pages(found)
    observing = found.get("run", {}).get("observer_s", 0.0) * 1e9 / common.DILATION
    return (waiting + (base * PAGE_US + huge * HUGE_US) * 1e3 + observing) / all_


def cases(folder):
    """By program and DRAM, what was found by mode."""
    found = {}
    for path in sorted(folder.glob("*.json")):
        case = json.loads(path.read_text(encoding="utf-8"))
        found.setdefault((case["program"], case["dram_mib"]), {})[case["mode"]] = case
    order = {program.name: at for at, program in enumerate(PROGRAMS)}
    return dict(sorted(found.items(), key=lambda item: (order.get(item[0][0], 99), item[0][1])))


def show(folder, markdown):
    """The table of all cases, and how the goals stand."""
    found = cases(folder)
    lines, goals = [], Goals()
    for (program, dram), modes in found.items():
        share = {mode: 100 * case["last_third"]["fast_share"] for mode, case in modes.items()}
        clairvoyant = statistics.median(100 * case["last_third"]["clairvoyant"] for case in modes.values())
        mib = {mode: sum(n * size for n, size in zip(moved_pages(case), (1, 512), strict=True)) / 256 for mode, case in modes.items()}
        none = stall_ns(modes["none"]) if "none" in modes else None
        for mode, case in sorted(modes.items(), key=lambda item: MODES.index(item[0])):
            stall = f"{stall_ns(case) / none:.2f}" if none else ""
            free = f"{case['free_kib'] / 1024:.0f} MiB"
            observer = case.get("run", {}).get("observer_s")
            lines.append(
                [program, free, mode, f"{share[mode]:.1f} %", f"{clairvoyant:.1f} %", f"{mib[mode]:.0f} MiB"]
                + ["" if observer is None else f"{observer:.1f} s", stall]
            )
        goals.add(program, dram, share, clairvoyant, mib)
    header = ["program", "fast", "tiering", "last third", "clairvoyant", "moved", "observer", "stall over none's"]
    if markdown:
        rows = [header, ["---"] * len(header), *lines]
        print("\n".join("| " + " | ".join(str(cell) for cell in row) + " |" for row in rows))
    else:
        common.table(header, lines)
    goals.say()


class Goals:
    """How Pagetide stands against the others."""

    def __init__(self):
        self.reached, self.behind, self.bytes, self.worse = [], [], [], []

    def add(self, program, dram, share, clairvoyant, mib):
        """One row; nothing where a mode was not measured."""
        if not {"none", "kernel", "pagetide"} <= share.keys():
            return
        name = f"{program} {dram}"
        ours, none = share["pagetide"], share["none"]
        # Where base pages of one unit differ, more is possible than this clairvoyant reaches.
        if clairvoyant - none >= MATTERS and clairvoyant >= max(share.values()):
            self.reached.append((name, (ours - none) / (clairvoyant - none)))
        self.behind.append((name, max(none, share["kernel"]) - ours))
        self.bytes.append((name, mib["pagetide"] / max(mib["kernel"], 1e-9)))
        self.worse.append((name, none - ours))

    def say(self):
        """Prints a line per goal."""
        if not self.behind:
            return
        good = sum(part >= 0.95 for _, part in self.reached)
        least = min(self.reached, key=lambda row: row[1], default=("none", 1.0))
        print(f"\n- 0.95 of what a placement can gain: {good} of {len(self.reached)} rows (goal: two thirds); least {least[1]:.2f}, {least[0]}")
        worst = max(self.behind, key=lambda row: row[1])
        print(f"- points behind the better other: at most {worst[1]:.1f} (goal: 2), {worst[0]}")
        print(f"- bytes moved over the kernel's: median {statistics.median(part for _, part in self.bytes):.2f} (goal: 0.5)")
        worst = max(self.worse, key=lambda row: row[1])
        print(f"- points below no migration: at most {worst[1]:.1f} (goal: 1), {worst[0]}")


def main():
    """Measures what is not there yet, prints the table."""
    parser = common.lab_arguments(__doc__, "compare")
    parser.add_argument("--only", default="", help="cases whose names match this, e.g. 'redis-.*-pagetide'")
    parser.add_argument("--seconds", type=int, default=50, help="how long each is watched")
    parser.add_argument("--page", default="4K", help="pages of the project's own programs: 4K or 2M")
    parser.add_argument("--markdown", action="store_true", help="print the table for docs/comparison.md")
    args = parser.parse_args()
    args.folder = args.results / args.name
    if not args.show:
        common.open_results(args).joinpath(args.name).mkdir(exist_ok=True)
        args.pagetide = stripped(args.pagetide, args.scratch)
        for dram, program, mode in ((d, p, m) for d in DRAM for p in PROGRAMS for m in MODES):
            path = args.folder / f"{program.name}-{dram}-{mode}.json"
            if re.search(args.only, path.stem) and not path.exists():
                run(args, program, dram, mode, path)
    show(args.folder, args.markdown)


if __name__ == "__main__":
    main()
