#!/usr/bin/env python3
"""Programs on two tiers of memory under no migration, the kernel's own tiering, and Pagetide: how fast they are
beside all of their memory fast, and which share of their cache misses fast memory serves, beside what the best placement
would serve. Boots guests (make lab), one per case; what was measured before is kept.

The lab's meter counts misses from outside the guest; speed is by what the program itself says that it got done.
Memory is where the kernel put it at first, fast first; its tiering is on before the program starts, as on a machine.
The clairvoyant has on the fast tier those base pages with the most misses in the last third, as many as were free
before the program started; it moves nothing and costs nothing. Misses are counted by page for it where nothing moves. Each miss
is put into one of two halves by chance; pages are chosen by one half and judged by the other, or it would be praised
for luck."""

import dataclasses
import hashlib
import itertools
import json
import random
import re
import statistics

import common
import guest
from compare import stall
from compare.programs import ALONE, DRAM, MODES, PROGRAMS

PAGES_PER_MIB = 256
# Between rows of the meter where it counts by page, seconds.
EVERY_S = 4
# How long each is watched.
SECONDS = 50
# What is counted by time: all misses, and of them the leads, which the program waits for.
MISSES, LEADS = "", "leads_"
COUNTED = {MISSES: ("reads", "writes"), LEADS: ("leads",)}
# A guest whose clock differs from the meter's by more than this part had a wrong one.
CLOCKS_DIFFER = 0.01
# A case counts where the best placement serves so many points more than none.
MATTERS = 5.0


def variables_of(args, program, mode):
    """What the script in the guest is given."""
    return {
        "MODE": mode,
        "PROGRAM": f"{args.pagetide} workload {program.words.format(page=args.page)}",
        "SECONDS_": args.seconds,
        "OPTIONS": guest.run_options(args),
    }


def run(args, program, dram, mode, path):
    """One guest; writes what came out of it."""
    variables = variables_of(args, program, mode)
    found = {"program": program.name, "about": program.about, "dram_mib": dram, "mode": mode, "page": args.page}
    found |= {"seconds": args.seconds, "clock": dataclasses.asdict(args.clock)} | args.build
    # Where nothing moves it is also counted by page, for the clairvoyant.
    by_page = (mode, dram) == (MODES[0], DRAM[0])
    meter = ("4K", EVERY_S) if by_page else ("2M", 1)
    text, out = guest.run(args, path.stem, "compare.sh", dram, variables, program.needs, meter)
    if text is None:
        return
    found |= printed(text)
    if mode.startswith("pagetide"):
        found["options"] = variables["OPTIONS"]
        found["run"] = json.loads(common.read(out / "run.json"))
        (path.with_suffix(".jsonl")).write_text(common.read(out / "log.jsonl"), encoding="utf-8")
    for key, what in COUNTED.items():
        rows = guest.misses(out, found["areas"], 4096 if by_page else guest.UNIT, what)
        found[f"{key}over_time"] = guest.over_time(rows)
        if by_page:
            found[f"{key}best_by_mib"] = best_by_mib(rows)
    guests_s, meters_s = found["end"] - found["start"], found["over_time"][-1][0]
    if abs(meters_s / guests_s - 1.0) > CLOCKS_DIFFER:
        print(f"{path.stem}: left out, for the meter counted {meters_s:.1f} s where the guest's clock says {guests_s:.1f}; measure it again")
        return
    path.write_text(json.dumps(found) + "\n", encoding="utf-8")
    guest.forget(out)


def best_by_mib(rows):
    """Share of the misses in the last third that the best pages serve, by how many MiB of them there are."""
    end = max((seconds for seconds, *_ in rows), default=0.0)
    chance = random.Random(1)
    counts = ({}, {})
    for seconds, address, count, _ in rows:
        if seconds > 2 * end / 3:
            first = chance.getrandbits(count).bit_count() if count else 0
            for counted, part in zip(counts, (first, count - first), strict=True):
                counted[address] = counted.get(address, 0) + part
    served = []
    for chosen_by, judged_by in (counts, counts[::-1]):
        pages = sorted(chosen_by.keys() | judged_by.keys(), key=lambda page: chosen_by.get(page, 0), reverse=True)
        sums = list(itertools.accumulate(judged_by.get(page, 0) for page in pages))
        mibs = range(0, len(pages) + PAGES_PER_MIB, PAGES_PER_MIB)
        served.append([sums[min(n, len(sums)) - 1] if n else 0 for n in mibs])
    all_ = max(sum(counts[0].values()) + sum(counts[1].values()), 1)
    return [round(sum(both) / all_, 5) for both in zip(*served, strict=True)]


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
            case ["has", when, kib]:
                found.setdefault("has_kib", {})[when] = int(kib)
            case ["start" | "end", at]:
                found[words[0]] = float(at)
            case ["ran", *which, ns]:
                found.setdefault("ran", {}).setdefault(" ".join(which[:-1]), {})[which[-1]] = int(ns)
            case ["ready" | "done", *_]:
                found[words[0]] = line
    return found


def metered(case):
    """Misses in the time that all were watched for, Pagetide's last moves aside, and in its last third by whom they were
    served."""
    watched = lambda times: [row for row in times if row[0] <= case.get("seconds", SECONDS)]
    times = watched(case["over_time"])
    first = next((row for row in times if row[1]), [0, 1, 0])
    return {
        "speed": work_per_s(case["done"]),
        "first_share": first[2] / first[1],
        # By what is counted; of older cases not of all.
        "last_third": {key: guest.last_third(watched(case[f"{key}over_time"]))[1] for key in COUNTED if f"{key}over_time" in case},
    }


def work_per_s(done):
    """Accesses, or requests, a second that the program got done from when its memory was there until it was ended."""
    return float(re.search(r"per_second=([\d.]+)", done)[1])


def moved_pages(found, since="before"):
    """Base pages and huge pages that the kernel moved, on whose behalf ever, while the program was watched, or since the
    guest was booted."""
    grown = {key: found["after"][key] - (value if since else 0) for key, value in found["before"].items()}
    huge = grown.get("thp_migration_success", 0)
    return grown["pgmigrate_success"] - 512 * huge, huge


def cpu_s(found):
    """CPU time of Pagetide, all that it did; none where it was not counted."""
    return found.get("run", {}).get("cpu_s")


def cases(folder, again):
    """By program and DRAM, what was found by mode. `again`: folders with more guests of some cases; of several the one with the
    median share in the last third (of an even number the lower), and the shares of all."""
    all_ = {}
    for path in sorted(path for each in (folder, *again) for path in each.glob("*.json")):
        case = json.loads(path.read_text(encoding="utf-8"))
        if "mode" in case:
            all_.setdefault((case["program"], case["dram_mib"], case["mode"]), []).append(case | metered(case))
    found = {}
    for (program, dram, mode), guests in all_.items():
        guests.sort(key=lambda case: case["last_third"][MISSES])
        shares = [case["last_third"][MISSES] for case in guests]
        found.setdefault((program, dram), {})[mode] = guests[(len(guests) - 1) // 2] | {"shares": shares}
    order = {program.name: at for at, program in enumerate(PROGRAMS)}
    return dict(sorted(found.items(), key=lambda item: (order.get(item[0][0], 99), item[0][1])))


def best(case, kib, key):
    """What the clairvoyant serves with so much fast memory, percent; none where that was not counted."""
    by_mib = (case or {}).get(f"{key}best_by_mib")
    return 100 * by_mib[min(kib // 1024, len(by_mib) - 1)] if by_mib else None


def room_kib(none):
    """The fast memory that a program gets where nothing moves: what was free before it started, and what the kernel took from
    others for it."""
    return max(none["free_kib"], none.get("has_kib", {}).get("after", 0))


def show(folder, again, markdown):
    """The table of all cases, how the goals stand, and what else was counted."""
    found = cases(folder, again)
    lines, more, goals = [], [], Goals()
    for (program, dram), modes in found.items():
        if dram == ALONE:
            continue
        share = {key: {mode: 100 * case["last_third"][key] for mode, case in modes.items() if key in case["last_third"]} for key in COUNTED}
        counted = found.get((program, DRAM[0]), {}).get("none")
        bests = {key: best(counted, room_kib(modes["none"]), key) if "none" in modes else None for key in COUNTED}
        mib = {mode: sum(n * size for n, size in zip(moved_pages(case, None), (1, 512), strict=True)) / 256 for mode, case in modes.items()}
        all_ = modes | found.get((program, ALONE), {})
        speed = {mode: case["speed"] / modes["none"]["speed"] for mode, case in all_.items()} if "none" in modes else {}
        stalls = {mode: stall_of(case) / stall_of(modes["none"]) for mode, case in modes.items()} if "none" in modes else {}
        for mode, case in sorted(all_.items(), key=lambda item: (*MODES, "alone").index(item[0])):
            faster = number(speed.get(mode), ".2f")
            if mode == "alone":
                lines.append([program, dram, "all of it fast", "", "", "", faster])
                continue
            served = last_third(case["shares"], share[MISSES][mode])
            lines.append([program, dram, mode, served, percent(bests[MISSES]), f"{mib[mode]:.0f} MiB", faster])
            had = " – ".join(f"{kib / 1024:.0f}" for kib in case.get("has_kib", {}).values())
            waits = [percent(share[LEADS].get(mode)), percent(bests[LEADS])]
            took = [number(stall.page_us(case.get("run")), ".1f"), number(cpu_s(case), ".1f", " s")]
            free = f"{case['free_kib'] / 1024:.0f}"
            more.append([program, dram, mode, free, had, f"{100 * case['first_share']:.0f} %", *waits, *took, number(stalls.get(mode), ".3f")])
        goals.add(f"{program} {dram}", (share, bests), mib, speed, stalls)
    rows = {(program, dram) for program, dram in found if dram != ALONE}
    goals.missing += [f"{program.name} {dram}" for program, dram in itertools.product(PROGRAMS, DRAM) if (program.name, dram) not in rows]
    row = ["program", "DRAM", "tiering"]
    common.table([*row, "last third", "possible", "moved", "speed"], lines, markdown)
    goals.show(markdown)
    print("\nWhat else was counted:\n")
    common.table([*row, "free", "has, MiB", "at first", "waits", "waits possible", "us a page", "CPU time", "stall"], more, markdown)


def stall_of(case):
    """Modelled stall of an access."""
    return stall.seconds_a_second(case["over_time"], moved_pages(case), stall.observer_s(case.get("run"))) / case["speed"]


def number(value, form, unit=""):
    """Nothing where it was not counted."""
    return "" if value is None else f"{value:{form}}{unit}"


def percent(share):
    """Nothing where it was not counted."""
    return number(share, ".1f", " %")


def last_third(shares, share):
    """The share of one guest; of several, in which range theirs lie."""
    several = f" ({100 * shares[0]:.1f} – {100 * shares[-1]:.1f})" if len(shares) > 1 else ""
    return f"{share:.1f} %{several}"


class Goals:
    """How Pagetide stands against the others: on rows that count, where the best placement serves much more than none,
    and on the others."""

    def __init__(self):
        self.rows = []
        self.missing = []

    def add(self, name, shares, mib, speed, stalls):
        """One row; only its name where something was not measured."""
        if not {"none", "kernel", "pagetide"} <= shares[0][MISSES].keys():
            self.missing.append(name)
            return
        row = {
            "name": name,
            "speed": speed["pagetide"] / max(speed[mode] for mode in speed if mode not in ("pagetide", "alone")),
            "slower": 100 * (1 - speed["pagetide"] / speed["none"]),
            "stall": 100 * (stalls["pagetide"] - 1),
            "bytes": mib["pagetide"] / max(mib["kernel"], 1e-9),
        }
        self.rows.append(row)
        for key, share, best_ in ((key, shares[0][key], shares[1][key]) for key in COUNTED):
            if best_ is None or not {"none", "kernel", "pagetide"} <= share.keys():
                continue
            possible = best_ - share["none"]
            row[f"{key}possible"] = possible
            row[f"{key}reached"] = (share["pagetide"] - share["none"]) / possible if possible >= MATTERS else None
            row[f"{key}behind"] = max(share[mode] for mode in share if mode != "pagetide") - share["pagetide"]

    def show(self, markdown):
        """Prints a table of goals."""
        if self.missing:
            print(f"\nNot measured as a whole, so in no goal: {', '.join(self.missing)}.")
        if not self.rows:
            return
        mean = statistics.geometric_mean(row["speed"] for row in self.rows)
        least = min(self.rows, key=lambda row: row["speed"])
        lines = [
            ["speed over the best of the others, least", "", f"{least['speed']:.3f}, {least['name']} (geometric mean of {len(self.rows)}: {mean:.3f})", ""],
            ["slower than without migration, most", "", most(self.rows, "slower", " %"), ""],
            ["modelled stall longer than without migration, most", "1 %", most(self.rows, "stall", " %"), ""],
        ]
        of = {key: [row for row in self.rows if f"{key}possible" in row] for key in COUNTED}
        counting = {key: [row for row in rows if row[f"{key}possible"] >= MATTERS] for key, rows in of.items()}
        others = {key: [row for row in rows if row not in counting[key]] for key, rows in of.items()}
        each = lambda say, rows: [say(key, rows[key]) if rows[key] else "–" for key in COUNTED]
        behind = lambda key, rows: most(rows, f"{key}behind", " points")
        reached = lambda key, rows: f"{sum(row[f'{key}reached'] >= 0.95 for row in rows)} of {len(rows)}"
        lowest = lambda key, rows: "{1:.2f}, {0}".format(*min(((row["name"], row[f"{key}reached"]) for row in rows), key=lambda row: row[1]))
        bytes_ = lambda _, rows: f"{statistics.median(row['bytes'] for row in rows):.2f}"
        there = f"where {MATTERS:.0f} points or more are possible"
        lines += [
            [f"rows {there}: 0.95 of what is possible over none reached", "two thirds", *each(reached, counting)],
            ["the least of that", "", *each(lowest, counting)],
            ["share behind the next best there, most", "2 points", *each(behind, counting)],
            ["bytes moved over the kernel's there, median", "0.5", *each(bytes_, counting)],
            ["share behind the next best in other rows, most", "", *each(behind, others)],
        ]
        print()
        common.table(["all rows together", "goal", "all misses", "those waited for"], lines, markdown)


def most(rows, key, unit):
    """The row with the most of something, in words."""
    row = max(rows, key=lambda row: row[key])
    return f"{row[key]:.1f}{unit}, {row['name']}" if row[key] > 0.0 else "never"


def to_measure(args):
    """What is not there yet, as a function and its arguments."""
    cases_ = [(ALONE, "alone"), *itertools.product(DRAM, MODES)]
    for (dram, mode), program in itertools.product(cases_, PROGRAMS):
        path = args.folder / f"{program.name}-{dram}-{mode}.json"
        if re.search(args.only, path.stem) and not path.exists():
            yield run, args, program, dram, mode, path


def main():
    """Measures what is not there yet, prints the table."""
    parser = guest.arguments(__doc__, "compare", guest.FELT)
    parser.add_argument("--seconds", type=int, default=SECONDS, help="how long each is watched")
    parser.add_argument("--page", default="4K", help="pages of the project's own programs: 4K or 2M")
    parser.add_argument("--again", action="append", default=[], metavar="NAME", help="more guests of the same cases, measured under this name: shows the median one and the range")
    args = parser.parse_args()
    args.folder = args.results / args.name
    if not args.show:
        common.open_results(args).joinpath(args.name).mkdir(exist_ok=True)
        args.pagetide = guest.stripped(args.pagetide, args.scratch)
        args.build = {"commit": common.commit(), "build": hashlib.sha256(args.pagetide.read_bytes()).hexdigest()[:12]}
        guest.at_once(args, to_measure(args))
    show(args.folder, [args.results / name for name in args.again], args.markdown)


if __name__ == "__main__":
    main()
