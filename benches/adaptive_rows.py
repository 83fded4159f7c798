#!/usr/bin/env python3
"""Pagetide's rows of `reproduce adaptive all` alone, for who changes its rules: accesses a second of each program at each
size of DRAM, beside those without migration and those of the best other system, as they were committed. The programs are
read from the sources, so the rows are those of the figure (docs/reproduction/adaptive.md).

    benches/adaptive_rows.py run PAGETIDE TABLE.csv [--programs LU,SP] [--gb 16,32,48] [--seed N] [--system none]
    benches/adaptive_rows.py against TABLE.csv           speed-ups and shares of the best of each row"""

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
SERIES = RESULTS / "reproduce/adaptive-all-series.csv"
# As runs.rs has them.
THREADS, SCALE = 24, 1024
FIELDS = ("figure", "program", "dram_gb", "seed", "system", "accesses_per_s", "promoted_bytes", "demoted_bytes")


def programs():
    """Name to memory in GB, ns of computing, GB of a loop or None, parts."""
    text = (SOURCES / "programs.rs").read_text(encoding="utf-8")
    found = re.findall(r'Program \{\s+name: "(\w+)",\s+memory_gb: ([\d.]+),.*?compute_ns: ([\d.]+),\s+'
                       r'loop_gb: (?:Some\(([\d.]+)\)|None),\s+parts: r#"(.*?)"#', text, re.DOTALL)
    return {name: (float(memory), float(compute), float(loop) if loop else None, parts)
            for name, memory, compute, loop, parts in found}


def scenario(name, dram_gb, seed, system):
    """The scenario of one point."""
    memory, compute, loop, parts = programs()[name]
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
name = "{system}"
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
    there = {(row["program"], int(row["dram_gb"]), int(row["seed"]), row["system"]) for row in rows}
    wanted = arguments.programs.split(",") if arguments.programs else list(programs())
    for name in wanted:
        for dram_gb in map(int, arguments.gb.split(",")):
            label = {"none": "No migration", "pagetide": "Pagetide"}.get(arguments.system, arguments.system)
            if (name, dram_gb, arguments.seed, label) in there:
                continue
            with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
                file.write(scenario(name, dram_gb, arguments.seed, arguments.system))
                file.flush()
                done = subprocess.run([arguments.pagetide, "sim", "--json", "-q", file.name], check=False,
                                      capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"error: {name}, {dram_gb} GB: {done.stderr}")
            outcome = json.loads(done.stdout)["outcomes"][0]["tenants"][0]
            rows.append({"figure": "all", "program": name, "dram_gb": dram_gb, "seed": arguments.seed, "system": label,
                         "accesses_per_s": outcome["accesses_per_s"], "promoted_bytes": outcome["promoted_bytes"],
                         "demoted_bytes": outcome["demoted_bytes"]})
            with table.open("w", encoding="utf-8", newline="") as out:
                writer = csv.DictWriter(out, FIELDS, lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)
            print(f"{name} {dram_gb} GB: {rows[-1]['accesses_per_s']:.4g} accesses/s", flush=True)


def committed():
    """(program, GB) to the rate without migration, and to the execution times of other systems over it."""
    none = {(row["program"], int(row["dram_gb"])): float(row["accesses_per_s"])
            for row in csv.DictReader(NONE.open(encoding="utf-8"))
            if row["figure"] == "all" and row["system"] == "No migration" and row["seed"] == "0"}
    others = {}
    for row in csv.DictReader(SERIES.open(encoding="utf-8")):
        dram_gb = int(row["panel"].split()[0])
        if row["series"] != "Pagetide" and row["y"]:
            others.setdefault((row["x"], dram_gb), {})[row["series"]] = float(row["y"])
    return none, others


def against(arguments):
    """Prints how far each point is from the best system of its row."""
    none, others = committed()
    shares, gains = [], []
    for row in csv.DictReader(pathlib.Path(arguments.table).open(encoding="utf-8")):
        point = (row["program"], int(row["dram_gb"]))
        if row["system"] != "Pagetide" or row["seed"] != "0" or point not in none:
            continue
        gain = float(row["accesses_per_s"]) / none[point]
        best = min(others[point], key=others[point].get)
        share = gain * others[point][best]
        gains.append(gain)
        shares.append(share)
        moved = (float(row["promoted_bytes"]) + float(row["demoted_bytes"])) / 2**30
        print(f"{row['program']:10} {row['dram_gb']:>3} GB: {gain:6.3f} times no migration, {100 * share:6.2f} % of "
              f"{best}, {moved:6.1f} GiB moved")
    mean = math.exp(sum(map(math.log, gains)) / len(gains))
    print(f"{mean:.4f} on the geometric mean; {sum(share >= 0.98 for share in shares)} of {len(shares)} within 2 % of the "
          f"best; {100 * (1 - min(1, *shares)):.1f} % behind at worst")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("run")
    command.add_argument("pagetide")
    command.add_argument("table")
    command.add_argument("--programs")
    command.add_argument("--gb", default="16,32,48")
    command.add_argument("--seed", type=int, default=0)
    command.add_argument("--system", default="pagetide")
    command.set_defaults(do=run)
    command = commands.add_parser("against")
    command.add_argument("table")
    command.set_defaults(do=against)
    arguments = parser.parse_args()
    arguments.do(arguments)


if __name__ == "__main__":
    main()
