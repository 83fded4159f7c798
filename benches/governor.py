#!/usr/bin/env python3
"""Whether a run stops where migrating does not pay, live: one or two programs in a guest with two tiers of memory,
and `pagetide run` beside them. Boots guests (make lab), one per case; what was measured before is kept.

The *friendly* program has a hot set that fits the fast tier, the *unfriendly* one reads all of its memory alike. The
lab's meter counts cache misses from outside the guest; where each program's memory lies is read from its numa_maps
every two seconds, and when it was stopped is what the run says. Guests are as fast as a machine (`guest.FELT`), and
all constants as they ship; by the host's clock they are eleven times as slow, which makes phases of minutes quick to measure,
and prices and `--budget` are in their seconds."""

import dataclasses
import json
import re

import common
import guest

DRAM = 256
FRIENDLY = "hot-cold --size 400M --hot 100M --ratio 400 --page-size 4K"
UNFRIENDLY = "gups --size 400M --page-size 4K"
# 30, 60 and 30 GB of 80 with 16 GB of fast memory, a hundredth of it (Adaptive, section 5.2).
PHASES = "phases --size 800M --sizes 300M,600M,300M --scattered --page-size 4K --every"


@dataclasses.dataclass(frozen=True)
class Case:
    """One guest."""

    name: str
    first: str
    second: str = ""
    mode: str = "pagetide"
    seconds: int = 150
    options: str = ""
    # Seconds after which the second program starts, and after which the first ends; 0: it does not.
    gap: int = 45
    ends: int = 0


CASES = [
    Case("friendly-none", FRIENDLY, mode="none", seconds=30),
    Case("friendly", FRIENDLY, seconds=90),
    Case("unfriendly", UNFRIENDLY, seconds=120),
    Case("friendly-then-unfriendly", FRIENDLY, UNFRIENDLY),
    Case("unfriendly-then-friendly", UNFRIENDLY, FRIENDLY),
    # What the first had of fast memory is room for the second, which has been stopped by then.
    Case("friendly-ends", FRIENDLY, UNFRIENDLY, seconds=300, ends=150),
    Case("phases-none", f"{PHASES} 20", mode="none", seconds=60),
    Case("phases", f"{PHASES} 120", seconds=360, options="--fast 160M"),
    # Longer than `gain` takes to judge a minute, to learn half of one, and to be sure of a change.
    Case("phases-long", f"{PHASES} 200", seconds=600, options="--fast 160M"),
    Case(
        "phases-adaptive",
        f"{PHASES} 200",
        seconds=600,
        options="--fast 160M --policy lru --payback 0 --governor adaptive",
    ),
]


def run(args, case, path):
    """One guest; writes what came out of it."""
    variables = {
        "MODE": case.mode,
        "FIRST": case.first,
        "SECOND": case.second,
        "GAP": case.gap,
        "ENDS": case.ends,
        "SECONDS_": case.seconds,
        "OPTIONS": guest.run_options(args, case.options),
    }
    found = {"case": dataclasses.asdict(case), "clock": dataclasses.asdict(args.clock), "commit": common.commit(), "load_before": common.load()}
    text, out = guest.run(args, case.name, "governor.sh", DRAM, variables)
    if text is None:
        return
    found |= {"load_after": common.load()} | printed(text)
    if case.mode == "pagetide":
        found["options"] = variables["OPTIONS"]
        found["run"] = json.loads(common.read(out / "run.json"))
        lines = [json.loads(line) for line in common.read(out / "log.jsonl").splitlines()]
        keys = ("start_s", "length_s", "observer_s", "cpu_s", "promote", "demote", "watched_share", "glance")
        found["epochs"] = [{key: line[key] for key in keys} for line in lines]
    for name, tenant in found["tenants"].items():
        rows = guest.misses(out, tenant["areas"])
        tenant["over_time"] = guest.over_time(rows)
        _, tenant["fast_share"] = guest.last_third(tenant["over_time"])
        print(f"{case.name}: {name} {100 * tenant['fast_share']:.1f} %")
    path.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    guest.forget(out)


def printed(text):
    """What the script in the guest said: of each tenant its number, its areas, and over time what of it was fast."""
    tenants, start = {}, 0.0
    for line in text.splitlines():
        match line.split():
            case ["pid", name, pid]:
                tenants[name] = {"pid": int(pid), "areas": [], "fast_mib": []}
            case ["area", name, range_, _]:
                tenants[name]["areas"].append([int(end, 16) for end in range_.split("-")])
            case ["fast", name, at, mib]:
                tenants[name]["fast_mib"].append([float(at), float(mib)])
            case ["start", at]:
                start = float(at)
    for tenant in tenants.values():
        tenant["fast_mib"] = [[round(at - start, 2), mib] for at, mib in tenant["fast_mib"]]
    return {"tenants": tenants}


def turns(found, tenant):
    """When a tenant was stopped or went on: seconds, whether stopped."""
    all_ = found.get("run", {}).get("turns", [])
    return [(turn["at_s"], turn["stopped"]) for turn in all_ if turn["pid"] == tenant["pid"]]


def raised(found, tenant):
    """MiB that went up while a tenant was stopped: all rises of what of it is fast. None: never stopped."""
    changes = turns(found, tenant)
    if not changes:
        return None
    # What an epoch decided before a stop may take some seconds.
    def stopped(at):
        before = [is_stop for when, is_stop in changes if when + (2 if is_stop else 0) < at]
        return bool(before) and before[-1]
    pairs = zip(tenant["fast_mib"], tenant["fast_mib"][1:], strict=False)
    return sum(max(new[1] - old[1], 0.0) for old, new in pairs if stopped(old[0]))


def observing(found, what):
    """CPU seconds per second of the observer (or of the whole program): epochs of full length before anyone stopped, and with
    all stopped; none where nobody wrote it down."""
    stops = {tenant["pid"]: turns(found, tenant) for tenant in found["tenants"].values()}
    first = min((changes[0][0] for changes in stops.values() if changes), default=None)
    if first is None or not all(changes and changes[-1][1] for changes in stops.values()):
        return None
    last = max(changes[-1][0] for changes in stops.values())
    rate = lambda chosen: sum(e[what] for e in chosen) / max(sum(e["length_s"] for e in chosen), 1e-9)
    full = [e for e in found["epochs"] if e["length_s"] > 4 and what in e]
    before = [e for e in full if e["start_s"] + e["length_s"] <= first]
    after = [e for e in full if e["start_s"] >= last]
    return (rate(before), rate(after)) if before and after else None


def show(folder, markdown):
    """A row per tenant of a case."""
    lines = []
    for case in CASES:
        path = folder / f"{case.name}.json"
        if not path.exists():
            continue
        found = json.loads(path.read_text(encoding="utf-8"))
        watching = [observing(found, what) if "run" in found else None for what in ("observer_s", "cpu_s")]
        for name, tenant in found["tenants"].items():
            program = (case.first if name == "first" else case.second).split()[0]
            changes = ", ".join(f"{'stop' if stop else 'on'} {at:.0f} s" for at, stop in turns(found, tenant))
            up = raised(found, tenant)
            lines.append(
                [case.name, program, f"{100 * tenant['fast_share']:.1f} %", changes or "–"]
                + ["–" if up is None else f"{up:.1f} MiB"]
                + [f"{tenant['fast_mib'][0][1]:.0f} -> {tenant['fast_mib'][-1][1]:.0f} MiB"]
                + ["–" if of is None else f"{100 * of[0]:.1f} -> {100 * of[1]:.1f} %" for of in watching]
            )
    header = ["case", "program", "fast, last third", "stopped, went on", "up while stopped", "fast memory", "observer", "all CPU time"]
    common.table(header, lines, markdown)


def main():
    """Measures what is not there yet, prints the table."""
    args = guest.parse_either_clock(guest.arguments(__doc__, "governor", guest.FELT))
    folder = args.results / args.name
    if not args.show:
        common.open_results(args).joinpath(args.name).mkdir(exist_ok=True)
        args.pagetide = guest.stripped(args.pagetide, args.scratch)
        paths = ((case, folder / f"{case.name}.json") for case in CASES if re.search(args.only, case.name))
        guest.at_once(args, ((run, args, case, path) for case, path in paths if not path.exists()))
    show(folder, args.markdown)


if __name__ == "__main__":
    main()
