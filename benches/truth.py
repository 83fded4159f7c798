#!/usr/bin/env python3
"""The truth bench: records real programs exactly and sampled, both in the same emulated run, plans from
both recordings and compares. Needs root. What is finished is not measured again until the program, its
definition or an option changes."""

import datetime
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import traceback

import common
from truth import answers, raw, registry, run, table
from truth.program import Place

CACHE = common.ROOT / ".cache" / "truth"


def arguments():
    parser = common.arguments(__doc__)
    parser.add_argument("--only", action="append", default=[], metavar="NAME",
                        help="only this program, again even if finished; may be repeated")
    parser.add_argument("--list", action="store_true", help="list the programs")
    parser.add_argument("--markdown", action="store_true", help="print the table for docs/measurements.md")
    parser.add_argument("--sampler", type=pathlib.Path, help="another pagetide for the sampled side (default: --pagetide)")
    parser.add_argument("--no-exact", action="store_true", help="no exact counts: the sampled side alone")
    parser.add_argument("--native", action="store_true", help="also record a native run with the same seed")
    parser.add_argument("--seconds", type=float, help="of the emulated load, if not the program's own")
    parser.add_argument("--native-seconds", type=float, help="of the native load, if not the program's own")
    parser.add_argument("--epoch", default="5s", help="epochs of the sampled recording")
    parser.add_argument("--exact-epoch", default="300ms", help="epochs of the exact one, in the program's own time")
    parser.add_argument("--sampling", default="", help="more options for the sampling recorder, e.g. '--budget 5%%'")
    parser.add_argument("--plan", default="", help="options of both plans, e.g. '--policy rate'")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=pathlib.Path, help="keep the recordings in this folder")
    parser.add_argument("--replan", action="store_true", help="record nothing: plan the kept recordings (--keep) again")
    args = parser.parse_args()
    # The programs run in folders of their own.
    args.pagetide, args.sampler = args.pagetide.resolve(), (args.sampler or args.pagetide).resolve()
    args.sampling, args.plan = args.sampling.split(), args.plan.split()
    return args


def definition(program):
    """The file that defines a program."""
    return pathlib.Path(sys.modules[type(program).__module__].__file__).read_bytes()


def inputs(program):
    """Where its input lies; that of an older definition goes."""
    folder = CACHE / "inputs"
    mine = f"{program.name}-{hashlib.sha256(definition(program)).hexdigest()[:8]}"
    for old in folder.glob(f"{program.name}-????????"):
        if old.name != mine:
            shutil.rmtree(old)
    return folder / mine


def key(args, program):
    """What a result depends on: the two programs, the definition, the options."""
    found = hashlib.sha256(definition(program))
    for path in (args.pagetide, args.sampler):
        found.update(path.read_bytes())
    options = (args.no_exact, args.native, args.seconds, args.epoch, args.exact_epoch, args.sampling, args.plan, args.seed)
    found.update(repr(options).encode())
    return found.hexdigest()[:32]


def of_exact(args, exact):
    """Plans of exact counts, charged with all lines, and with leads; None without such a recording."""
    charges = {"exact": answers.LINES, "leads": []}
    return {name: exact and answers.plan(args.pagetide, exact, charge + args.plan) for name, charge in charges.items()}


def measure(args, program, scratch):
    """Runs one program and returns its result."""
    place = Place(inputs(program), scratch, args.pagetide, args.seed)
    run.prepare(program, place)
    before = common.load()
    exact, sampled, said = run.emulated(args, program, place)
    plans = {"sampled": answers.plan(args.sampler, sampled, args.plan)}
    plans |= of_exact(args, exact)
    found = raw.answers(exact, plans["exact"], sampled, plans["sampled"])
    result = {"program": program.name, "about": program.about, "page": program.page, "seed": args.seed}
    result |= {"date": str(datetime.date.today()), "commit": common.commit(), "run": said}
    result |= {"load_before": before, "load_after": common.load(), "raw": found}
    result["row"] = answers.row(plans["exact"], plans["sampled"], found)
    result["curves"] = answers.curves(plans)
    if args.native:
        place.native = True
        if program.user or program.server:
            shutil.rmtree(scratch / "again", ignore_errors=True)
            place.folder = scratch / "again"
            place.folder.mkdir()
            run.prepare(program, place)
        recording, said = run.native(args, program, place)
        plans["native"] = answers.plan(args.sampler, recording, args.plan)
        tables = raw.Tables(recording, raw.skip_of(plans["native"]))
        size = answers.recommended(plans["native"])[0]
        need = result["row"]["true_bytes"]
        result["native"] = {"run": said, "bytes": size, "ratio": answers.share(size, need), "raw": raw.sampled(tables)}
    result["plans"] = {name: answers.short(plan) for name, plan in plans.items()}
    return result


def replan(args, folder):
    """Plans what was kept again, and puts the answers into the results."""
    for program in chosen(args):
        kept, path = args.keep / program.name, folder / f"{program.name}.json"
        if not (path.exists() and (kept / "exact.heat").exists()):
            continue
        result = json.loads(path.read_text(encoding="utf-8"))
        plans = {"sampled": answers.plan(args.sampler, kept / "sampled.heat", args.plan)}
        plans |= of_exact(args, kept / "exact.heat")
        found = raw.answers(kept / "exact.heat", plans["exact"], kept / "sampled.heat", plans["sampled"])
        result |= {"commit": common.commit(), "raw": found}
        result["row"] = answers.row(plans["exact"], plans["sampled"], found)
        result["curves"] = answers.curves(plans)
        result["plans"] |= {name: answers.short(plan) for name, plan in plans.items()}
        path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        common.append(folder / "truth.csv", {"program": program.name, "date": result["date"], "commit": result["commit"]}
                      | result["row"] | {"load_after": result["load_after"]})
    return 0


def chosen(args):
    names = {program.name for program in registry.PROGRAMS}
    for name in set(args.only) - names:
        sys.exit(f"error: there is no program {name}; --list lists them")
    return [program for program in registry.PROGRAMS if not args.only or program.name in args.only]


def bench(args, folder):
    """Measures what is not finished; returns how many failed."""
    failed = 0
    (CACHE / "done").mkdir(parents=True, exist_ok=True)
    for program in chosen(args):
        stamp, now = CACHE / "done" / program.name, key(args, program)
        path = folder / f"{program.name}.json"
        if not args.only and path.exists() and common.read(stamp) == now:
            print(f"{program.name}: measured before", file=sys.stderr)
            continue
        print(f"{program.name}: {program.about}", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory(dir=args.scratch, prefix="pagetide-truth-") as scratch:
            try:
                result = measure(args, program, pathlib.Path(scratch))
            except (RuntimeError, OSError, subprocess.SubprocessError, KeyError) as error:
                failed += 1
                traceback.print_exception(error)
                print(common.read(pathlib.Path(scratch) / "log")[-2000:], file=sys.stderr)
                continue
            finally:
                if args.keep:
                    kept = args.keep / program.name
                    shutil.rmtree(kept, ignore_errors=True)
                    kept.mkdir(parents=True)
                    for recording in pathlib.Path(scratch).glob("*.heat"):
                        shutil.copytree(recording, kept / recording.name)
        path.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        common.append(folder / "truth.csv", {"program": program.name, "date": result["date"], "commit": result["commit"]}
                      | result["row"] | {"load_after": result["load_after"]})
        stamp.write_text(now, encoding="utf-8")
        print("   ", dict(zip(table.SHORT, table.cells(result), strict=True)), file=sys.stderr, flush=True)
    return failed


def main():
    args = arguments()
    names = [program.name for program in registry.PROGRAMS]
    if args.list:
        common.table(("name", "page", "what"), [(p.name, p.page, p.about) for p in registry.PROGRAMS])
        return
    if missing := [path for path in (args.pagetide, args.sampler) if not path.exists()]:
        sys.exit(f"error: there is no {missing[0]}; cargo build --release -p pagetide builds it")
    folder = common.open_results(args) / "truth"
    folder.mkdir(exist_ok=True)
    if args.replan and not args.keep:
        sys.exit("error: --replan plans what is kept; name the folder with --keep")
    work = replan if args.replan else bench
    failed = 0 if args.show or args.markdown else work(args, folder)
    if args.markdown:
        print(table.markdown(folder, names))
    else:
        table.show(folder, names)
    if failed:
        sys.exit(f"error: {failed} failed")


if __name__ == "__main__":
    os.umask(0o022)
    main()
