#!/usr/bin/env python3
"""Adaptive's systems on exact streams of real programs (liblinear, PageRank, updates at random), beside the models of the same
programs that `pagetide reproduce adaptive` simulates. Each program is recorded once (`record --exact --stream`), its accesses
past the caches are made several times, a minute or so, on the machine `adaptive-cxl`, memory as large as it was: all systems
make the same accesses, and what is compared is the time that they take. What was simulated before is kept. Needs
liblinear-train (scripts/deps.sh truth)."""

import itertools
import json
import subprocess

import common
from truth.liblinear import Liblinear
from truth.program import Place

# Nobody takes so long.
MOST_SECONDS = 600
SHARES = (0.25, 0.5)
# For how long each is recorded, of its own time, so that hardly any of what repeats is filling (liblinear reads its rows for 3 s),
# and how often that is made.
RECORDED = {"liblinear": ("40s", 3), "pagerank": ("12s", 6), "gups": ("12s", 8)}
BARE = "adaptive:churn=0,patience=0,floor=0,backoff=1"
SYSTEMS = {
    "no-migration": 'name = "no-migration"',
    "TPP-mod": 'name = "tpp-mod"',
    "Adaptive": f'name = "adaptive"\ngovernor = "{BARE}"',
    "Pagetide": 'name = "pagetide"',
}


def programs(args):
    """Name to command."""
    place = Place(args.scratch, args.scratch, args.pagetide)
    liblinear = Liblinear()
    own = [str(args.pagetide), "workload"]
    return {
        "liblinear": (lambda: liblinear.prepare(place), liblinear.command(place)),
        "pagerank": (lambda: None, [*own, "graph", "--scale", "18", "--algorithm", "pagerank", "--page-size", "4K", "--seconds", "9999"]),
        "gups": (lambda: None, [*own, "gups", "--size", "128M", "--page-size", "4K", "--seconds", "9999"]),
    }


def stream(args, name):
    """The recorded stream of a program."""
    path = args.scratch / f"adaptive-{name}.stream"
    if not path.exists():
        prepare, command = programs(args)[name]
        prepare()
        heat, part = path.with_suffix(".heat"), path.with_suffix(".part")
        subprocess.run(["rm", "-rf", heat, part], check=True)
        subprocess.run(
            [args.pagetide, "record", "-q", "--exact", "--for", RECORDED[name][0], "--stream", part, "-o", heat, "--", *command],
            check=True, stdout=subprocess.DEVNULL,
        )
        part.rename(path)
    return path


def simulate(args, name, share, system):
    """What came of one system, as JSON."""
    scenario = args.scratch / f"adaptive-{name}.toml"
    scenario.write_text(
        f'machine = "adaptive-cxl"\nseconds = {MOST_SECONDS}\nhuge_pages = false\n[system]\n{SYSTEMS[system]}\n[[tenant]]\n'
        f'name = "{name}"\nstream = "{stream(args, name)}"\nrepeat = {RECORDED[name][1]}\npopulate = true\nfast_share = {share}\n',
        encoding="utf-8",
    )
    command = [args.pagetide, "sim", "-q", "--json", "--threads", "1", scenario]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def row(name, share, system, text):
    """What came of it."""
    (outcome,) = json.loads(text)["outcomes"]
    (tenant,) = outcome["tenants"]
    turns = tenant["turns"]
    if tenant["ended_s"] is None:
        raise SystemExit(f"{name} under {system} was not done after {MOST_SECONDS} s; give it more, or make it less often (RECORDED)")
    return {
        "program": name, "fast_share": share, "system": system,
        "accesses": tenant["accesses"], "seconds": tenant["ended_s"], "fast": tenant["fast_share"],
        "promoted_bytes": tenant["promoted_bytes"], "demoted_bytes": tenant["demoted_bytes"],
        "stops": sum(not turn["migrates"] for turn in turns), "restarts": sum(turn["migrates"] for turn in turns),
    }


def same_accesses(rows):
    """Ends the script where systems made other accesses than each other, of recordings that differ."""
    made = {}
    for one in rows:
        first = made.setdefault(one["program"], one["accesses"])
        if one["accesses"] != first:
            raise SystemExit(f"{one['program']}: {first} accesses in one row and {one['accesses']} in another, of two recordings; delete its rows and simulate it again")


def show(rows):
    """Speed over no migration."""
    same_accesses(rows)
    found = {(one["program"], float(one["fast_share"]), one["system"]): one for one in rows}
    lines = []
    for name, share, system in found:
        none = found.get((name, share, "no-migration"))
        one = found[name, share, system]
        if none:
            over = float(none["seconds"]) / float(one["seconds"])
            lines.append([
                name, f"{100 * share:.0f} %", system, f"{over:.3f}", f"{100 * float(one['fast']):.1f} %",
                f"{float(one['promoted_bytes']) / 2**20:.0f} MiB", f"{one['stops']}, {one['restarts']}",
            ])
    common.table(["program", "fast memory", "system", "over no migration", "served by it", "promoted", "stops, restarts"], lines, True)


def main():
    """Simulates what is not there yet, prints the table."""
    parser = common.arguments(__doc__)
    parser.add_argument("--only", choices=RECORDED, help="this program alone")
    parser.add_argument("--share", type=float, choices=SHARES, help="this share of fast memory alone")
    args = parser.parse_args()
    path = args.results / "adaptive-streams.csv"
    if not args.show:
        common.open_results(args)
        done = {(one["program"], float(one["fast_share"]), one["system"]) for one in common.rows_of(path)}
        names = RECORDED if args.only is None else (args.only,)
        shares = SHARES if args.share is None else (args.share,)
        for name, share, system in itertools.product(names, shares, SYSTEMS):
            if (name, share, system) not in done:
                common.append(path, row(name, share, system, simulate(args, name, share, system)))
    show(common.rows_of(path))


if __name__ == "__main__":
    main()
