"""The bench's table, for a terminal and for docs/measurements.md."""

import collections
import json
import statistics

import common

SHORT = ("program", "footprint", "true", "leads", "sampled", "ratio", "interval", "in it", "true hits", "raw", "order", "s")
CURVES = ("program", "hits at ¼", "½", "¾", "all of the true need", "waits at ¼", "½", "¾")


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


def curves(found):
    """Sizes between, of those programs for which they are known: what was sampled beside exact counts."""
    rows, ratios = [], collections.defaultdict(list)
    for result in found:
        points = result.get("curves") or []
        cells = [f"{100 * point['hits']:.0f} / {100 * point['true_hits']:.0f}" for point in points]
        for point in points[:-1]:
            if point["waits"] and point["true_waits"]:
                ratios[point["fast_bytes"] / points[-1]["fast_bytes"]].append(point["waits"] / point["true_waits"])
        waits = [f"{point['waits'] / point['true_waits']:.2f}" for point in points[:-1] if point["true_waits"]]
        rows += [[result["program"], *cells, *waits]] if points else []
    return rows, {round(part, 2): statistics.median(of) for part, of in ratios.items()}


def of(head, rows):
    return ["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *("| " + " | ".join(row) + " |" for row in rows)]


def markdown(folder, names):
    """The tables as docs/measurements.md has them."""
    found = results(folder, names)
    lines = of(SHORT, [cells(result) for result in found])
    rows, medians = curves(found)
    lines += ["", *of(CURVES, rows), "", f"Median of the last three: {', '.join(f'{median:.2f}' for median in medians.values())}"]
    about = [f"- *{result['program']}*: {result['about']}" for result in found]
    return "\n".join([*lines, "", *about])
