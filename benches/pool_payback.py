#!/usr/bin/env python3
"""Pages that pay for their move, against no migration: five programs on the paper's pool and on one behind a CXL
switch with 2 and 48 misses under way, of other seeds and lengths (docs/pool.md).

    benches/pool_payback.py run PAGETIDE FOLDER [SEED...]    sweeps, into tables; goes on where it was
    benches/pool_payback.py table FOLDER                     gains over no migration, as Markdown
"""

import csv
import pathlib
import subprocess
import sys

SCENARIO = "scenarios/pool-payback.toml"
PROGRAMS = ["lulesh", "simplemoc", "pennant", "minife", "is"]
CXL = ["--set", "pool=cxl-2025", "--set"]
MACHINES = {
    "pcm": [],
    "cxl-48": [*CXL, "pool.core.outstanding=48"],
    "cxl-2": [*CXL, "pool.core.outstanding=2"],
}
# Of a core, that count: a program may end before its moves have paid.
LENGTHS = {2: [10_000_000, 30_000_000, 100_000_000], 3: [100_000_000], 4: [100_000_000]}
# As shares of the time; the last stands for no bound.
DEBTS = "0.02,1000000"


def run(pagetide: str, folder: pathlib.Path, seeds: list[int]) -> None:
    for seed in seeds:
        for program in PROGRAMS:
            for machine, settings in MACHINES.items():
                for length in LENGTHS[seed]:
                    base = [pagetide, "sweep", SCENARIO, "-q", "--set", f'program=[{{kind="{program}"}}]', *settings]
                    base += ["--set", "warm_up=100000000", "--set", f"instructions={length}", "--set", f"seed={seed}"]
                    moving = ["--vary", f"migration.most_debt={DEBTS}"]
                    still = ["--set", "migration.most=0", "--vary", "migration.most_debt=1000000"]
                    name = f"{program}-{machine}-{length // 1_000_000}M-{seed}"
                    for end, options in [("", moving), ("-still", still)]:
                        subprocess.run([*base, *options, "-o", str(folder / f"{name}{end}.csv")], check=True)


def ipcs(file: pathlib.Path) -> list[float]:
    with file.open(encoding="utf-8") as text:
        return [float(row["ipc"]) for row in csv.DictReader(text)]


def table(folder: pathlib.Path) -> None:
    print("| pool | instructions, seed | " + " | ".join(PROGRAMS) + " |")
    print("|---|---|" + "---|" * len(PROGRAMS))
    for machine in MACHINES:
        for seed, lengths in LENGTHS.items():
            for length in lengths:
                cells = []
                for program in PROGRAMS:
                    name = f"{program}-{machine}-{length // 1_000_000}M-{seed}"
                    moving, still = folder / f"{name}.csv", folder / f"{name}-still.csv"
                    if not still.exists() or not moving.exists():
                        cells.append("")
                        continue
                    of = [f"{ipc / ipcs(still)[0]:.3f}" for ipc in ipcs(moving)]
                    cells.append(" / ".join(of))
                print(f"| {machine} | {length // 1_000_000} M, {seed} | " + " | ".join(cells) + " |")


if sys.argv[1:2] == ["run"] and len(sys.argv) >= 4:
    run(sys.argv[2], pathlib.Path(sys.argv[3]), [int(seed) for seed in sys.argv[4:]] or list(LENGTHS))
elif sys.argv[1:2] == ["table"] and len(sys.argv) == 3:
    table(pathlib.Path(sys.argv[2]))
else:
    sys.exit(__doc__)
