#!/usr/bin/env python3
"""Pages that pay for their move, against no migration and against fixed cells: on the paper's pool and on one
behind a CXL switch with 2 and 48 misses under way, programs of the paper and others, of other seeds and lengths
(docs/pool.md).

    benches/pool_payback.py run PAGETIDE FOLDER [SEED...]     sweeps, into tables; goes on where it was
    benches/pool_payback.py fixed PAGETIDE FOLDER SEED...     the same of fixed cells, where they may gain
    benches/pool_payback.py unseen PAGETIDE FOLDER SEED...    both, of programs that nothing was tuned on
    benches/pool_payback.py table FOLDER                      gains over no migration, as Markdown
    benches/pool_payback.py worst FOLDER                      least gains, and shares of the best fixed cell
"""

import csv
import itertools
import pathlib
import re
import subprocess
import sys

SCENARIO = "scenarios/pool-payback.toml"
PROGRAMS = ["lulesh", "simplemoc", "pennant", "minife", "is"]
# Patterns of `pagetide workload`, chosen once: nothing of the pool was made with them in view.
UNSEEN = {
    "zipf": ("512M", '{kind="zipf",exponent=0.99,keys="scattered"}'),
    "hot-cold": ("512M", '{kind="hot-cold",hot=0.0625,ratio=20}'),
    "phases": ("512M", '{kind="phases",sets=4,every=0.005}'),
    "gups": ("512M", '{kind="gups"}'),
    "chase": ("128M", '{kind="pointer-chase"}'),
    "strided": ("512M", '{kind="strided",stride="256B"}'),
}
CXL = ["--set", "pool=cxl-2025", "--set"]
MACHINES = {
    "pcm": [],
    "cxl-48": [*CXL, "pool.core.outstanding=48"],
    "cxl-2": [*CXL, "pool.core.outstanding=2"],
}
# By machine, cycles: 5 or 10 us, and 10, 100 and 1,000 times as long.
EPOCHS = {
    "pcm": "10000,100000,1000000,10000000",
    "cxl-48": "30000,300000,3000000,30000000",
    "cxl-2": "30000,300000,3000000,30000000",
}
# Of a core, that count: a program may end before its moves have paid.
LENGTHS = [10_000_000, 30_000_000, 100_000_000]
LONGEST_ONLY = [3, 4]
# As shares of the time; the last stands for no bound.
DEBTS = "0.02,1000000"


def program(name: str) -> str:
    if name in PROGRAMS:
        return f'program=[{{kind="{name}"}}]'
    memory, pattern = UNSEEN[name]
    return f'program=[{{kind="pattern",memory="{memory}",instructions=40,pattern={pattern}}}]'


def sweep(pagetide: str, file: pathlib.Path, name: str, machine: str, options: list[str]) -> None:
    # A table that is whole has no points beside it.
    if file.exists() and not file.with_name(f"{file.name}.points.jsonl").exists():
        return
    base = [pagetide, "sweep", SCENARIO, "-q", "--set", program(name), *MACHINES[machine]]
    subprocess.run([*base, "--set", "warm_up=100000000", *options, "-o", str(file)], check=True)


def lengths(seed: int) -> list[int]:
    return LENGTHS[-1:] if seed in LONGEST_ONLY else LENGTHS


def run(pagetide: str, folder: pathlib.Path, programs: list[str], seeds: list[int]) -> None:
    for seed, name, machine in itertools.product(seeds, programs, MACHINES):
        for length in lengths(seed):
            of = ["--set", f"instructions={length}", "--set", f"seed={seed}"]
            moving = ["--vary", f"migration.most_debt={DEBTS}"]
            still = ["--set", "migration.most=0", "--vary", "migration.most_debt=1000000"]
            stem = f"{name}-{machine}-{length // 1_000_000}M-{seed}"
            for end, options in [("", moving), ("-still", still)]:
                sweep(pagetide, folder / f"{stem}{end}.csv", name, machine, [*of, *options])


def fixed(pagetide: str, folder: pathlib.Path, programs: list[str], seeds: list[int]) -> None:
    hottest = ["--set", "migration.policy=hottest", "--set", "migration.keep_counts=false"]
    for seed, name, machine in itertools.product(seeds, programs, MACHINES):
        for length in lengths(seed):
            cells = ["--vary", f"migration.epoch_cycles={EPOCHS[machine]}"]
            cells += ["--vary", "migration.most=50,500", "--vary", "migration.threshold=10,30"]
            of = ["--set", f"instructions={length}", "--set", f"seed={seed}"]
            stem = f"{name}-{machine}-{length // 1_000_000}M-{seed}-fixed"
            sweep(pagetide, folder / f"{stem}.csv", name, machine, [*hottest, *of, *cells])


def column(file: pathlib.Path, name: str) -> list[float]:
    with file.open(encoding="utf-8") as text:
        return [float(row[name]) for row in csv.DictReader(text)]


class Cell:
    """A program on a machine, with its length and seed: gains with the default and without a bound, in instructions
    per cycle, which are the mean of all cores, and in time, for which the last core decides; and that of the best
    fixed cell, which may be to move nothing."""

    def __init__(self, still: pathlib.Path) -> None:
        stem = still.name.removesuffix("-still.csv")
        found = re.fullmatch(r"(.+)-(pcm|cxl-48|cxl-2)-(\d+)M-(\d+)", stem)
        if not found:
            sys.exit(f"{still}: not a table of this script's")
        self.name, self.machine = found[1], found[2]
        self.length, self.seed = int(found[3]), int(found[4])
        base, moving = column(still, "ipc")[0], still.with_name(f"{stem}.csv")
        self.gains = [ipc / base for ipc in column(moving, "ipc")]
        self.in_time = column(still, "seconds")[0] / column(moving, "seconds")[0]
        cells = still.with_name(f"{stem}-fixed.csv")
        self.best = max(1.0, max(column(cells, "ipc")) / base) if cells.exists() else None


def cells_of(folder: pathlib.Path) -> list[Cell]:
    return [Cell(still) for still in sorted(folder.glob("*-still.csv"))]


def table(folder: pathlib.Path) -> None:
    cells = cells_of(folder)
    by = {(cell.machine, cell.length, cell.seed, cell.name): cell for cell in cells}
    for programs in [PROGRAMS, list(UNSEEN)]:
        rows = sorted({key[:3] for key in by if key[3] in programs})
        if not rows:
            continue
        print("\n| pool, instructions, seed | " + " | ".join(programs) + " |")
        print("|---|" + "---|" * len(programs))
        for machine, length, seed in sorted(rows, key=lambda row: (list(MACHINES).index(row[0]), row[2], row[1])):
            texts = []
            for name in programs:
                cell = by.get((machine, length, seed, name))
                gains = [f"{gain:.3f}" for gain in cell.gains] if cell else []
                if cell and cell.best:
                    gains.append(f"{cell.best:.3f}")
                texts.append(" / ".join(gains))
            print(f"| {machine}, {length} M, {seed} | " + " | ".join(texts) + " |")


def worst(folder: pathlib.Path) -> None:
    cells = cells_of(folder)
    behind = sorted(cells, key=lambda cell: cell.gains[0])
    print(f"{len(cells)} cells, {sum(cell.gains[0] < 0.98 for cell in cells)} more than 2 % behind no migration")
    for cell in behind[:8]:
        print(f"  {cell.gains[0]:.3f}  {cell.name}, {cell.machine}, {cell.length} M, seed {cell.seed}")
    in_time = sorted(cells, key=lambda cell: cell.in_time)
    print(f"in time {sum(cell.in_time < 0.98 for cell in cells)} more than 2 % behind")
    for cell in in_time[:4]:
        print(f"  {cell.in_time:.3f}  {cell.name}, {cell.machine}, {cell.length} M, seed {cell.seed}")
    beside = [(cell.gains[0] / cell.best, cell) for cell in cells if cell.best]
    beside.sort(key=lambda pair: pair[0])
    print(f"{len(beside)} beside fixed cells, {sum(of < 0.9 for of, _ in beside)} below 90 % of the best of them")
    for of, cell in beside[:12]:
        print(f"  {of:.3f}  {cell.name}, {cell.machine}, {cell.length} M, seed {cell.seed}: best {cell.best:.3f}")


def main(arguments: list[str]) -> None:
    match arguments:
        case ["run", pagetide, folder, *seeds]:
            run(pagetide, pathlib.Path(folder), PROGRAMS, [int(seed) for seed in seeds] or [2, 3, 4])
        case ["fixed", pagetide, folder, *seeds] if seeds:
            fixed(pagetide, pathlib.Path(folder), PROGRAMS, [int(seed) for seed in seeds])
        case ["unseen", pagetide, folder, *seeds] if seeds:
            run(pagetide, pathlib.Path(folder), list(UNSEEN), [int(seed) for seed in seeds])
            fixed(pagetide, pathlib.Path(folder), list(UNSEEN), [int(seed) for seed in seeds])
        case ["table", folder]:
            table(pathlib.Path(folder))
        case ["worst", folder]:
            worst(pathlib.Path(folder))
        case _:
            sys.exit(__doc__)


main(sys.argv[1:])
