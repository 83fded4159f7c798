"""The bench's table, for a terminal and for docs/measurements.md."""

import json

import common

SHORT = ("program", "footprint", "true", "leads", "sampled", "ratio", "interval", "in it", "true hits", "raw", "order", "s")


def mib(size):
    return "" if size in (None, "") else f"{float(size) / 2**20:.0f}"


def cells(result):
    """One program's row as texts; sizes in MiB."""
    row = result["row"]
    interval = f"{mib(row['low'] or row['sampled_bytes'])} – {mib(row['high'] or row['sampled_bytes'])}"
    answer = mib(row["sampled_bytes"]) if row["sampled_bytes"] else "no answer"
    return [
        result["program"],
        mib(row["footprint_bytes"]),
        mib(row["true_bytes"]),
        mib(row["raw_leads"]),
        answer,
        "" if row["ratio"] is None else f"{row['ratio']:.2f}",
        interval if row["high"] or row["low"] not in (None, row["sampled_bytes"]) else "none",
        {True: "yes", False: "no", None: ""}[row["contains"]],
        "" if row["true_hits"] is None else f"{100 * row['true_hits']:.1f} %",
        f"{mib(row['raw_lines'])} / {mib(row['raw_self'])} / {mib(row['raw_crossed'])}",
        mib(row["raw_order"]),
        str(round(result["run"]["fill_s"] + result["run"]["watched_s"])),
    ]


def results(folder, names):
    """What is measured so far, in the order of the programs."""
    paths = (folder / f"{name}.json" for name in names)
    return [json.loads(path.read_text(encoding="utf-8")) for path in paths if path.exists()]


def show(folder, names):
    common.table(SHORT, [cells(result) for result in results(folder, names)])


def markdown(folder, names):
    """The table as docs/measurements.md has it."""
    lines = ["| " + " | ".join(SHORT) + " |", "|" + "---|" * len(SHORT)]
    lines += ["| " + " | ".join(cells(result)) + " |" for result in results(folder, names)]
    about = [f"- *{result['program']}*: {result['about']}" for result in results(folder, names)]
    return "\n".join([*lines, "", *about])
