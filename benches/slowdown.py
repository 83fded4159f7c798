#!/usr/bin/env python3
"""Slowdowns that `plan` says against slowdowns that a program feels. In guests whose memory is as slow as on the machine
(machines/cxl.toml; `guest.FELT`) a program runs with all of its memory fast, is recorded so, and runs with less fast
memory: left where the kernel put it, or under `pagetide run`. Felt is how much less often it misses the caches then,
which it does as often for each piece of work. How much of its time it waits for memory, which `plan` cannot see, is
taken from the meter; beside it stands the range that `plan` gives without that.
Boots guests (make lab); what was measured before is kept."""

import itertools
import json
import re
import subprocess

import common
import guest
from compare.programs import PROGRAMS
from verify import BLOCK, LARGE, RESERVE, TAKEN, at

# How long a program is watched; judged is the second half.
SECONDS = 60
# Fast memory for the program, percent of what it uses.
SIZES = (25, 50)
# What `plan` calls what is done with it.
POLICIES = {"stay": "first-touch", "run": "rate"}
MIB = 1 << 20


def measure(args, program, do, fast, path):
    """One guest; `fast`: so many MiB of fast memory for the program, 0: enough."""
    options = f"--unit 4K --budget {args.budget}%" if do == "record" else guest.run_options(args)
    leave = fast + (RESERVE if do == "run" else 0)
    given = {"DO": do, "PROGRAM": f"/program workload {program.words.format(page='4K')}", "SECONDS_": SECONDS, "OPTIONS": options}
    given["LEAVE"] = leave or ""
    dram = -(-(leave + TAKEN) // BLOCK) * BLOCK if fast else LARGE
    text, out = guest.run(args, path.stem, "verify.sh", dram, given, program.needs)
    if text is None:
        return
    lines = [line.split() for line in text.splitlines()]
    areas = [[int(end, 16) for end in words[1].split("-")] for words in lines if words[:1] == ["area"]]
    free, left = (next(int(words[1]) for words in lines if words[:1] == [key]) << 10 for key in ("free", "left"))
    found = {"program": program.name, "do": do, "held": free - left, "commit": common.commit()}
    for what, columns in (("misses", ("reads", "writes")), ("leads", ("leads",))):
        found[what] = guest.over_time(guest.misses(out, areas, what=columns))
    if do == "run":
        log = [json.loads(line) for line in common.read(out / "log.jsonl").splitlines()]
        found["held"] = [epoch["held"] for epoch in log if "held" in epoch][-1]
    if do == "record":
        share = waits(json.loads(path.with_name(f"{program.name}-alone.json").read_text(encoding="utf-8")), args.clock)
        found["plans"] = [plan(args, out / "seen.heat", more) for more in ((), ("--memory-share", f"{100 * share:.1f}%"))]
    path.write_text(json.dumps(found) + "\n", encoding="utf-8")
    guest.forget(out)


def plan(args, recording, more):
    """Slowdowns by policy and fast memory, from what is known of the program's waiting."""
    command = [args.pagetide, "plan", recording, "--json", "--machine", "cxl", *more]
    said = json.loads(subprocess.run(command, text=True, stdout=subprocess.PIPE, check=True).stdout)
    ends = lambda point: point if isinstance(point, list) else [point["low"], point["high"]]
    return {policy["policy"]: [[point["fast_bytes"], *ends(point["slowdown"])] for point in policy["points"]] for policy in said["policies"]}


def rate(found, what="misses"):
    """Misses per second in the second half."""
    half = [row for row in found[what] if row[0] > SECONDS / 2]
    return sum(row[1] for row in half) / (half[-1][0] - SECONDS / 2)


def waits(alone, clock):
    """The share of its time that a program waits for memory, all of it fast."""
    return min(rate(alone, "leads") * clock.fast_ns / 1e9, 1.0)


def show(args):
    """Every run beside what the plan says for as much fast memory as it held."""
    rows = []
    for program in PROGRAMS:
        found = {path.stem.removeprefix(f"{program.name}-"): json.loads(path.read_text(encoding="utf-8")) for path in args.folder.glob(f"{program.name}-*.json")}
        if not {"alone", "record"} <= found.keys():
            continue
        alone = rate(found["alone"])
        for percent in SIZES:
            for do, policy in POLICIES.items():
                one = found.get(f"{do}-{percent}")
                if one is None:
                    continue
                bare, known = ([at([[row[0], row[end]] for row in curves[policy]], one["held"]) for end in (1, 2)] for curves in found["record"]["plans"])
                felt = alone / rate(one) - 1
                rows.append([program.name, f"{one['held'] / MIB:.0f} MiB", f"{do} ({policy})", f"{100 * waits(found['alone'], args.clock):.0f} %"])
                rows[-1] += [f"{100 * bare[0]:.1f} – {100 * bare[1]:.1f} %", f"{100 * sum(known) / 2:.1f} %", f"{100 * felt:.1f} %"]
    header = ["program", "fast", "tiering", "waits", "plan: range", "plan, waits known", "felt"]
    common.table(header, rows, args.markdown)


def to_measure(args, first):
    """What is not there yet, of what comes first or of the rest, as a function and its arguments."""
    rest = [("record", None), *itertools.product(POLICIES, SIZES)]
    for program in PROGRAMS:
        for do, percent in [("alone", None)] if first else rest:
            path = args.folder / (f"{program.name}-{do}.json" if percent is None else f"{program.name}-{do}-{percent}.json")
            if re.search(args.only, path.stem) and not path.exists():
                yield measure, args, program, do, program.size * (percent or 0) // 100, path


def main():
    """Measures what is not there yet, prints the table."""
    args = guest.arguments(__doc__, "slowdown", guest.FELT).parse_args()
    args.folder = args.results / args.name
    if not args.show:
        common.open_results(args).joinpath(args.name).mkdir(exist_ok=True)
        args.pagetide = guest.stripped(args.pagetide, args.scratch)
        # A plan goes by how much the program waits, which is known from it alone.
        for first in (True, False):
            guest.at_once(args, to_measure(args, first))
    show(args)


if __name__ == "__main__":
    main()
