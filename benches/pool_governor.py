#!/usr/bin/env python3
"""What governors change on pools: five programs on the paper's pool and on one behind a CXL switch, in epochs
of three lengths, under no governor, `adaptive` and `gain` (docs/pool.md).

    benches/pool_governor.py run PAGETIDE FOLDER    sweeps, into tables; goes on where it was
    benches/pool_governor.py table FOLDER           gains over no migration, as Markdown
"""

import csv
import pathlib
import subprocess
import sys

SCENARIO = "scenarios/pool-governor.toml"
PROGRAMS = ["lulesh", "simplemoc", "pennant", "minife", "is"]
CXL = ["--set", "pool=cxl-2025", "--set"]
# By name: what is set, and the lengths of epochs, cycles: 5 or 10 us, ten and a hundred times as long.
MACHINES = {
    "pcm": ([], "10000,100000,1000000"),
    "cxl-48": ([*CXL, "pool.core.outstanding=48"], "30000,300000,3000000"),
    "cxl-2": ([*CXL, "pool.core.outstanding=2"], "30000,300000,3000000"),
}
# A second of `gain`'s is 50 us here: it looks ahead for one millisecond, and gives what lasts no longer.
GOVERNORS = ["none", "adaptive", "gain:horizon=20,credit=0"]


def run(pagetide: str, folder: pathlib.Path) -> None:
    for program in PROGRAMS:
        for machine, (settings, epochs) in MACHINES.items():
            base = [pagetide, "sweep", SCENARIO, "-q", "--set", f"program.0.kind={program}", *settings]
            moving = ["--vary", f"migration.epoch_cycles={epochs}"]
            governors = ",".join(f'"{governor}"' for governor in GOVERNORS)
            moving += ["--vary", f"migration.governor={governors}"]
            still = ["--vary", "migration.most=0", "--set", "migration.governor=none"]
            for name, options in [(f"{program}-{machine}", moving), (f"{program}-{machine}-still", still)]:
                subprocess.run([*base, *options, "-o", str(folder / f"{name}.csv")], check=True)


def rows(file: pathlib.Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8") as text:
        return list(csv.DictReader(text))


def table(folder: pathlib.Path) -> None:
    print("| pool | epoch, cycles | " + " | ".join(PROGRAMS) + " |")
    print("|---|---|" + "---|" * len(PROGRAMS))
    for machine, (_, epochs) in MACHINES.items():
        for epoch in epochs.split(","):
            cells = []
            for program in PROGRAMS:
                still = float(rows(folder / f"{program}-{machine}-still.csv")[0]["ipc"])
                of = {
                    row["migration.governor"]: float(row["ipc"]) / still
                    for row in rows(folder / f"{program}-{machine}.csv")
                    if row["migration.epoch_cycles"] == epoch
                }
                cells.append(" / ".join(f"{gain:.2f}" for gain in of.values()))
            print(f"| {machine} | {int(epoch):,} | " + " | ".join(cells) + " |")


if sys.argv[1:2] == ["run"] and len(sys.argv) == 4:
    run(sys.argv[2], pathlib.Path(sys.argv[3]))
elif sys.argv[1:2] == ["table"] and len(sys.argv) == 3:
    table(pathlib.Path(sys.argv[2]))
else:
    sys.exit(__doc__)
