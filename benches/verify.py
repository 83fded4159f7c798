#!/usr/bin/env python3
"""Plans held against live runs: a program is recorded in a guest with much fast memory and planned for; then it runs
under `pagetide run` in a guest with as much fast memory as the plan names. The share of its cache misses that fast
memory serves there, counted by the lab's meter from outside the guest, stands beside the share that the plan says.
Boots guests (make lab), two per program; what was measured before is kept."""

import json
import re
import shutil
import statistics
import subprocess

import common
import guest
from compare.programs import PROGRAMS, SIZE, Program

# Memory that dies and is born hot is what first touch and the policy place together.
ALL = [
    *PROGRAMS,
    Program(
        "newest",
        "60 slots of 12 MiB, a new one every 4 s; nine of ten reads go to the newest four",
        f"newest --size {SIZE}M --slots 60 --every 4 --page-size {{page}} --seconds 9999",
        SIZE,
    ),
]
# Of the guest that is recorded: the program and the recording fit.
LARGE = 1536
# What the kernel and the lab take of a guest's fast memory at most; what `run` keeps free of some 500 MiB; a block of memory, MiB.
TAKEN, RESERVE, BLOCK = 125, 24, 128
# How long a program is recorded, and run; judged is the second half of the run.
RECORD_S, RUN_S = 60, 120


def variables(args, program, do, seconds, options):
    """What the script in the guest is given."""
    words = program.words.format(page=args.page)
    return {"DO": do, "PROGRAM": f"/program workload {words}", "SECONDS_": seconds, "OPTIONS": options}


def record(args, program, path):
    """One guest with fast memory for all; keeps the plan for the recording."""
    options = f"--unit {args.page} --budget {args.budget}%"
    given = variables(args, program, "record", RECORD_S, options)
    text, out = guest.run(args, path.stem, "verify.sh", LARGE, given, program.needs)
    if text is None:
        return
    command = [args.pagetide, "plan", out / "seen.heat", "--json", "--machine", guest.machine_file(args.scratch, args.clock)]
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, check=True)
    plan = json.loads(done.stdout)
    keep = {key: plan[key] for key in ("recording", "warm_up", "recommendation", "why_not")}
    curve = lambda policy: [[point["fast_bytes"], round(point["hit_ratio"], 5)] for point in policy["points"]]
    keep["hits"] = {policy["policy"]: curve(policy) for policy in plan["policies"]}
    keep |= {"program": program.name, "about": program.about, "commit": common.commit()}
    path.write_text(json.dumps(keep) + "\n", encoding="utf-8")
    if args.keep:
        shutil.copytree(out / "seen.heat", args.keep / f"{program.name}.heat", dirs_exist_ok=True)
    guest.forget(out)


def run(args, program, fast, path):
    """One guest with so many MiB of fast memory for the program under `pagetide run`. Guests have whole blocks of memory; a
    file takes the rest."""
    options = guest.run_options(args)
    given = variables(args, program, "run", RUN_S, options) | {"LEAVE": fast + RESERVE}
    dram = -(-(fast + RESERVE + TAKEN) // BLOCK) * BLOCK
    found = {"program": program.name, "dram_mib": dram, "page": args.page, "options": options}
    found |= {"commit": common.commit(), "load_before": common.load()}
    text, out = guest.run(args, path.stem, "verify.sh", dram, given, program.needs)
    if text is None:
        return
    found |= {"load_after": common.load(), "said": [line for line in text.splitlines() if line.startswith(("ready", "done", "free"))]}
    areas = [[int(end, 16) for end in line.split()[1].split("-")] for line in text.splitlines() if line.startswith("area")]
    found["run"] = json.loads(common.read(out / "run.json"))
    log = [json.loads(line) for line in common.read(out / "log.jsonl").splitlines()]
    keys = ("start_s", "length_s", "resident", "held", "free", "unknown_share", "fast_share", "promote", "demote")
    found["epochs"] = [{key: epoch[key] for key in keys} for epoch in log if "held" in epoch]
    found["over_time"] = guest.over_time(guest.misses(out, areas))
    for what in ("leads", "touches"):
        found[f"{what}_over_time"] = guest.over_time(guest.misses(out, areas, what=(what,)))
    path.write_text(json.dumps(found) + "\n", encoding="utf-8")
    guest.forget(out)


def at(curve, fast):
    """The share of hits that a plan's curve gives for so much fast memory, between its points on a straight line."""
    before = curve[0]
    for point in curve:
        if point[0] >= fast:
            return before[1] + (fast - before[0]) / max(point[0] - before[0], 1) * (point[1] - before[1])
        before = point
    return curve[-1][1]


def share(times):
    """Of the second half of a run what fast memory served."""
    half = [row for row in times if RUN_S / 2 < row[0] <= RUN_S]
    return sum(row[2] for row in half) / max(sum(row[1] for row in half), 1)


def judged(found):
    """Of the second half of a run: shares of touches, leads and all misses that fast memory served, the share as the run saw
    it, what it held."""
    half = [epoch for epoch in found["epochs"] if epoch["start_s"] >= RUN_S / 2]
    seen = [epoch for epoch in half if epoch["fast_share"] is not None]
    own = sum(epoch["fast_share"] * epoch["length_s"] for epoch in seen) / max(sum(epoch["length_s"] for epoch in seen), 1e-9)
    held = statistics.mean(epoch["held"] for epoch in half)
    return *(share(found[f"{what}over_time"]) for what in ("touches_", "leads_", "")), own, held


def show(folder, markdown):
    """Every run beside what the plan says for as much fast memory as it held."""
    rows, off = [], []
    for program in ALL:
        plan = folder / f"{program.name}-plan.json"
        if not plan.exists():
            continue
        plan = json.loads(plan.read_text(encoding="utf-8"))
        best = plan["recommendation"]
        for path in sorted(folder.glob(f"{program.name}-run-*.json"), key=lambda path: int(path.stem.split("-")[-1])):
            touches, leads, all_, own, held = judged(json.loads(path.read_text(encoding="utf-8")))
            says = {policy: at(curve, held) for policy, curve in plan["hits"].items()}
            off.append(touches - says["rate"])
            need = "none" if best is None else f"{best['fast_bytes'] >> 20} MiB"
            rows.append(
                [program.name, need, f"{held / (1 << 20):.0f} MiB", f"{100 * says['rate']:.1f} %", f"{100 * touches:.1f} %", f"{100 * off[-1]:+.1f}"]
                + [f"{100 * leads:.1f} %", f"{100 * all_:.1f} %", f"{100 * own:.1f} %", f"{100 * says['first-touch']:.1f} %", f"{100 * says['clairvoyant']:.1f} %"]
            )
    header = ["program", "plan: needs", "held", "plan: hits", "meter: touches", "points off", "meter: leads", "meter: lines", "run: hits", "plan: first-touch", "plan: clairvoyant"]
    common.table(header, rows, markdown)
    if off:
        print(f"\n- Off by {100 * statistics.median(map(abs, off)):.1f} points on the median of {len(off)} runs, {100 * max(map(abs, off)):.1f} at most")


def main():
    """Measures what is not there yet, prints the table."""
    parser = guest.arguments(__doc__, "verify")
    parser.add_argument("--page", default="4K", help="pages of the project's own programs, and the unit of plans: 4K or 2M")
    parser.add_argument("--fast", default="100,50", help="fast memory of the runs, percent of what the plan says is needed")
    parser.add_argument("--keep", type=common.pathlib.Path, help="a folder for the recordings")
    args = parser.parse_args()
    folder = args.results / args.name
    if not args.show:
        common.open_results(args).joinpath(args.name).mkdir(exist_ok=True)
        args.pagetide = guest.stripped(args.pagetide, args.scratch)
        for program in ALL:
            if not re.search(args.only, program.name):
                continue
            plan = folder / f"{program.name}-plan.json"
            if not plan.exists():
                record(args, program, plan)
            best = plan.exists() and json.loads(plan.read_text(encoding="utf-8"))["recommendation"]
            for percent in map(int, args.fast.split(",") if best else []):
                path = folder / f"{program.name}-run-{percent}.json"
                if not path.exists():
                    run(args, program, best["fast_bytes"] * percent // 100 >> 20, path)
    show(folder, args.markdown)


if __name__ == "__main__":
    main()
