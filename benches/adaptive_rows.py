#!/usr/bin/env python3
"""Pagetide's rows of `reproduce adaptive all` and `unseen` alone, for who changes its rules: accesses a second of each
program at each size of DRAM, beside those without migration and those of the other systems, as they were committed. The
programs are read from the sources, so the rows are those of the figures (docs/reproduction/adaptive.md).

    benches/adaptive_rows.py run PAGETIDE TABLE.csv [--figure all|unseen] [--programs LU,SP] [--gb 16,32,48] [--seed N]
    benches/adaptive_rows.py against TABLE.csv       speed-ups and shares of the best of each row of `all`
    benches/adaptive_rows.py publish TABLE.csv       puts them into the figures' tables, benches/results/reproduce

The pictures of these tables: benches/reproduction.py --series benches/results/reproduce"""

import argparse
import csv
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCES = pathlib.Path(__file__).parent.parent / "crates/reproduce/src/adaptive"
RESULTS = pathlib.Path(__file__).parent / "results"
NONE = RESULTS / "2026-11-26-amdepyc-2cores/adaptive-rows/accesses-per-s.csv"
REPRODUCED = RESULTS / "reproduce"
SERIES = REPRODUCED / "adaptive-all-series.csv"
PAGE = pathlib.Path(__file__).parent.parent / "docs/reproduction/adaptive.md"
FIGURES = {"all": "programs.rs", "unseen": "unseen.rs"}
# As runs.rs has them.
THREADS, SCALE = 24, 1024
FIELDS = ("figure", "program", "dram_gb", "seed", "system", "accesses_per_s", "promoted_bytes", "demoted_bytes")


def programs(figure):
    """Name to memory in GB, ns of computing, GB of a loop or None, parts."""
    text = (SOURCES / FIGURES[figure]).read_text(encoding="utf-8")
    found = re.findall(r'Program \{\s+name: "(\w+)",\s+memory_gb: ([\d.]+),.*?compute_ns: ([\d.]+),\s+'
                       r'loop_gb: (?:Some\(([\d.]+)\)|None),\s+parts: r#"(.*?)"#', text, re.DOTALL)
    return {name: (float(memory), float(compute), float(loop) if loop else None, parts)
            for name, memory, compute, loop, parts in found}


def scenario(program, name, dram_gb, seed):
    """The scenario of one point."""
    memory, compute, loop, parts = program
    barrier = f"barrier = {round(loop * 2**24 / THREADS)}\n" if loop else ""
    pattern = re.sub(r"\s*\n\s*", " ", parts.strip())
    # Keys of the pattern's table, one after the other.
    keys = re.sub(r"\] (?=\w+ = )", "], ", pattern)
    return f"""machine = "adaptive-cxl"
scale = {SCALE}
seconds = 300
seed = {seed}
huge_pages = false
[system]
name = "pagetide"
[[tenant]]
name = "{name}"
memory = "{memory}G"
fast = "{dram_gb}G"
threads = {THREADS}
compute_ns = {compute}
{barrier}pattern = {{ kind = "regions", {keys} }}
"""


def run(arguments):
    """Points that the table has not, one after the other."""
    table = pathlib.Path(arguments.table)
    rows = list(csv.DictReader(table.open(encoding="utf-8"))) if table.exists() else []
    there = {(row["figure"], row["program"], int(row["dram_gb"]), int(row["seed"])) for row in rows}
    known = programs(arguments.figure)
    for name in arguments.programs.split(",") if arguments.programs else known:
        for dram_gb in map(int, arguments.gb.split(",")):
            if (arguments.figure, name, dram_gb, arguments.seed) in there:
                continue
            with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
                file.write(scenario(known[name], name, dram_gb, arguments.seed))
                file.flush()
                done = subprocess.run([arguments.pagetide, "sim", "--json", "-q", file.name], check=False,
                                      capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"error: {name}, {dram_gb} GB: {done.stderr}")
            outcome = json.loads(done.stdout)["outcomes"][0]["tenants"][0]
            rows.append({"figure": arguments.figure, "program": name, "dram_gb": dram_gb, "seed": arguments.seed,
                         "system": "Pagetide"} | {key: outcome[key] for key in FIELDS[5:]})
            write(table, FIELDS, rows)
            print(f"{name} {dram_gb} GB: {rows[-1]['accesses_per_s']:.4g} accesses/s", flush=True)


def write(table, fields, rows):
    """A table as it was, with these rows."""
    with table.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, fields, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def rates(table, figure, system):
    """(program, GB, seed) to accesses a second."""
    return {(row["program"], int(row["dram_gb"]), int(row["seed"])): float(row["accesses_per_s"])
            for row in csv.DictReader(pathlib.Path(table).open(encoding="utf-8"))
            if (row["figure"], row["system"]) == (figure, system)}


def gains(table, figure):
    """Speed-ups over no migration."""
    none = rates(NONE, figure, "No migration")
    return {point: rate / none[point] for point, rate in rates(table, figure, "Pagetide").items() if point in none}


def committed():
    """(program, GB) to speed-ups of the other systems over no migration, in the figure's order."""
    others = {}
    for row in csv.DictReader(SERIES.open(encoding="utf-8")):
        if row["y"] and row["panel"].endswith(" GB of DRAM"):
            point = others.setdefault((row["x"], int(row["panel"].split()[0])), {})
            point[row["series"]] = 1 / float(row["y"])
    return others


def geomean(values):
    """The geometric mean."""
    return math.exp(sum(map(math.log, values)) / len(values))


def against(arguments):
    """Prints how far each point is from the best system of its row."""
    others, shares, found = committed(), [], gains(arguments.table, "all")
    for (name, dram_gb, seed), gain in found.items():
        row = {system: speed for system, speed in others[name, dram_gb].items() if system != "Pagetide"}
        best = max(row, key=row.get)
        shares.append(gain / row[best])
        print(f"{name:10} {dram_gb} GB, seed {seed}: {gain:6.3f} times no migration, {100 * shares[-1]:6.2f} % of {best}")
    print(f"{geomean(found.values()):.4f} on the geometric mean; {sum(share >= 0.98 for share in shares)} of {len(shares)} "
          f"within 2 % of the best; {100 * (1 - min(1, *shares)):.1f} % behind at worst")


def publish(arguments):
    """Puts whole figures into their tables; those of other systems stay."""
    found = {(name, dram_gb): gain for (name, dram_gb, _), gain in gains(arguments.table, "all").items()}
    others = committed()
    if found.keys() == others.keys():
        for point, gain in found.items():
            others[point]["Pagetide"] = gain
        rows = list(csv.DictReader(SERIES.open(encoding="utf-8")))
        for row in rows:
            if row["series"] == "Pagetide" and row["panel"].endswith(" GB of DRAM"):
                row["y"] = 1 / found[row["x"], int(row["panel"].split()[0])]
        write(SERIES, list(rows[0]), rows)
        put("adaptive-all.csv", dict(of_all(others)))
    by_seed = gains(arguments.table, "unseen")
    if {(name, seed) for name, _, seed in by_seed} == {(name, seed) for name in programs("unseen") for seed in (0, 1)}:
        lines = {f"{name}, Pagetide: speed-up, mean of the seeds":
                 geomean([gain for (other, _, _), gain in by_seed.items() if other == name]) for name in programs("unseen")}
        lines["Pagetide: speed-up over no migration, geometric mean"] = geomean(by_seed.values())
        # Of the others the mean of the seeds is known; of no migration both.
        lines["Pagetide: of the best of a row, at worst"] = 100 * min(
            gain / max(best_of_others(name), gain) for (name, _, _), gain in by_seed.items())
        put("adaptive-unseen.csv", lines)


def best_of_others(name):
    """The most that another system, or no migration, reaches on a program of `unseen`."""
    rows = csv.DictReader((REPRODUCED / "adaptive-unseen.csv").open(encoding="utf-8"))
    ours = f"{name}, Pagetide: "
    return max([1.0] + [float(row["ours"]) for row in rows
                        if row["what"].startswith(f"{name}, ") and not row["what"].startswith(ours)])


def of_all(rows):
    """The lines of `all` that Pagetide's rows change."""
    mine = [row["Pagetide"] for row in rows.values()]
    yield "Pagetide: speed-up over no migration, geometric mean", geomean(mine)
    for system in next(iter(rows.values())):
        yield (f"{system}: of the best system of a row, at worst",
               100 * min(row[system] / max(row.values()) for row in rows.values()))
    near = 0
    for (name, dram_gb), row in rows.items():
        best = max(row, key=row.get)
        yield f"{name}, {dram_gb} GB: best is {best}; Pagetide of it", 100 * row["Pagetide"] / row[best]
        near += row["Pagetide"] / row[best] >= 0.98
    yield f"Pagetide: 2 % behind the best at most, of {len(rows)} rows", near
    yield "Pagetide: speed-up over no migration, at worst", min(mine)


def put(name, lines):
    """Lines of a table by what they say, or by what they begin with where which system is best has changed."""
    table = REPRODUCED / name
    rows = list(csv.DictReader(table.open(encoding="utf-8")))
    page = PAGE.read_text(encoding="utf-8")
    # The part of the page that has this table.
    start = page.index("### Figure " + name.removeprefix("adaptive-").removesuffix(".csv") + ":")
    before, part = page[:start], page[start:]
    for row in rows:
        start = row["what"].split(": best is ")[0] + ": best is "
        what = next((what for what in lines if what == row["what"] or what.startswith(start)), None)
        if what:
            shown = f"{lines[what]:.3g} {row['unit']}".strip()
            part = re.sub(rf"(?m)^\| {re.escape(row['what'])} \|  \| [^|]*\|", f"| {what} |  | {shown} |", part, count=1)
            row["what"], row["ours"] = what, lines[what]
    write(table, list(rows[0]), rows)
    PAGE.write_text(before + part, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("run")
    command.add_argument("pagetide")
    command.add_argument("table")
    command.add_argument("--figure", default="all", choices=FIGURES)
    command.add_argument("--programs")
    command.add_argument("--gb", default="16,32,48")
    command.add_argument("--seed", type=int, default=0)
    command.set_defaults(do=run)
    for name, does in [("against", against), ("publish", publish)]:
        command = commands.add_parser(name)
        command.add_argument("table")
        command.set_defaults(do=does)
    arguments = parser.parse_args()
    arguments.do(arguments)


if __name__ == "__main__":
    main()
