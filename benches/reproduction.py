#!/usr/bin/env python3
"""Draws the pictures of docs/reproduction: of AMP from the tables of recordings in a folder
(--recorded), and one for every *-series.csv that `pagetide reproduce --csv` wrote (--series)."""

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "pagetide"
matplotlib.rcParams["svg.fonttype"] = "none"

import argparse
import collections
import pathlib

import common
import matplotlib.pyplot as plot

PANELS = 4


def panels(out, prefix, size):
    """A figure with a panel of `size` inches for every recording that has a table of this kind, and
    the panels with the rows of the tables."""
    tables = sorted(out.glob(f"{prefix}-*.csv"))
    columns = min(PANELS, len(tables))
    lines = -(-len(tables) // columns)
    figure, axes = plot.subplots(
        lines,
        columns,
        figsize=(size[0] * columns, size[1] * lines),
        squeeze=False,
        layout="constrained",
    )
    for axis in axes.flat[len(tables) :]:
        axis.axis("off")
    axes = list(axes.flat[: len(tables)])
    for axis, table in zip(axes, tables, strict=True):
        axis.set_title(table.stem.removeprefix(f"{prefix}-"), fontsize=9)
        axis.tick_params(labelsize=7)
    return figure, list(zip(axes, map(common.rows_of, tables), strict=True))


def save(figure, path):
    figure.savefig(path, metadata={"Date": None})
    plot.close(figure)


def frequency(out):
    """Figure 3: memory by frequency over time, the most frequent at the bottom."""
    figure, drawn = panels(out, "frequency", (2.9, 2.3))
    colours = plot.get_cmap("viridis_r")
    for axis, rows in drawn:
        seconds = [float(row["seconds"]) for row in rows]
        layers = [[float(row[f"mib_{n}"]) for row in rows] for n in range(8, -1, -1)]
        axis.stackplot(
            seconds, layers, colors=[colours(n / 8) for n in range(8, -1, -1)], linewidth=0
        )
        axis.margins(0)
    scale = plot.cm.ScalarMappable(cmap=colours, norm=plot.Normalize(0, 8))
    bar = figure.colorbar(scale, ax=[axis for axis, _ in drawn], fraction=0.02)
    bar.set_label("of the last 8 epochs of 4 s", fontsize=8)
    figure.supxlabel("seconds", fontsize=9)
    figure.supylabel("MiB", fontsize=9)
    save(figure, out / "frequency.svg")


def scan_ratios(out):
    """Figure 4: performance of the two lists over both scan ratios."""
    figure, drawn = panels(out, "scan-ratios", (2.6, 2.6))
    for axis, rows in drawn:
        lists = [row for row in rows if row["policy"] == "two-lists"]
        ratios = sorted({int(row["active"]) for row in lists})
        value = {
            (int(row["active"]), int(row["inactive"])): float(row["performance_low"]) for row in lists
        }
        cells = [[value[active, inactive] for inactive in ratios] for active in reversed(ratios)]
        middle = (min(value.values()) + max(value.values())) / 2
        axis.imshow(cells, cmap="Blues", extent=(-10, 110, -10, 110))
        for active in ratios:
            for inactive in ratios:
                axis.text(
                    inactive,
                    active,
                    f"{value[active, inactive]:.2f}",
                    ha="center",
                    va="center",
                    fontsize=6,
                    color="white" if value[active, inactive] > middle else "black",
                )
        axis.set(xticks=ratios, yticks=ratios)
    figure.supxlabel("inactive lists scanned, %", fontsize=9)
    figure.supylabel("active lists scanned, %", fontsize=9)
    save(figure, out / "scan-ratios.svg")


def within(out):
    """Figure 7: base pages accessed in regions of 2 MiB where any is, as distributions."""
    figure, axis = plot.subplots(figsize=(6.5, 3.2), layout="constrained")
    for table in sorted(out.glob("within-*.csv")):
        counts = collections.Counter()
        for row in common.rows_of(table):
            if row["accessed_pages"].isdigit():
                counts[int(row["accessed_pages"])] += int(row["regions"])
        shares, below, total = [0.0], [0.0], 0
        for pages in sorted(counts):
            shares += [100 * pages / 512] * 2
            below += [100 * total / counts.total()]
            total += counts[pages]
            below += [100 * total / counts.total()]
        axis.plot([*shares, 100], [*below, 100], label=table.stem.removeprefix("within-"), linewidth=1.2)
    axis.set(xlabel="base pages accessed, % of 2 MiB", ylabel="of such regions, %")
    axis.legend(fontsize=7)
    axis.margins(x=0.01)
    save(figure, out / "within.svg")


def number(text):
    """What is a number, or None."""
    try:
        return float(text)
    except ValueError:
        return None


def order_of(values):
    """Each once, in the order in which they come."""
    return list(dict.fromkeys(values))


def bars(axis, lines, names):
    """Groups of bars, a group for each word on the x axis; what was published is hatched."""
    words = order_of(row["x"] for rows in lines.values() for row in rows)
    width = 0.8 / len(lines)
    for place, (key, rows) in enumerate(lines.items()):
        at = [words.index(row["x"]) + (place - (len(lines) - 1) / 2) * width for row in rows]
        published = key[1] == "yes"
        axis.bar(
            at,
            [float(row["y"]) for row in rows],
            width,
            label=label(key),
            color=f"C{names.index(key[0]) % 10}",
            alpha=0.5 if published else 1,
            hatch="///" if published else None,
        )
    slanted = len(words) > 4 or max(map(len, words)) > 8
    axis.set_xticks(range(len(words)), words, rotation=30 if slanted else 0, ha="right" if slanted else "center")


def lines_of(axis, lines, names):
    """Lines with a mark at every point, or marks alone where x goes back and forth; what was published is
    dashed. Over more than two orders of magnitude x is logarithmic. A choice has an axis of its own."""
    for key, rows in lines.items():
        x = [number(row["x"]) for row in rows]
        style = "o--" if key[1] == "yes" else "o-"
        chosen = key[0] == "choice" and len(lines) > 1
        on = axis.twinx() if chosen else axis
        if chosen:
            on.set_ylabel(rows[0]["series"], fontsize=8)
            on.set_yticks(sorted({float(row["y"]) for row in rows}))
            on.tick_params(labelsize=7)
            # The one legend is the axis'.
            axis.plot([], [], ".", color=f"C{names.index(key[0]) % 10}", label=label(key))
        on.plot(
            x,
            [float(row["y"]) for row in rows],
            "." if chosen else style if x == sorted(x) else "o",
            label=label(key),
            color=f"C{names.index(key[0]) % 10}",
            markersize=3,
            linewidth=1.2,
        )
    known = [number(row["x"]) for rows in lines.values() for row in rows]
    if min(known) > 0 and max(known) > 100 * min(known):
        axis.set_xscale("log", base=2)
    axis.set_ylim(bottom=min(0, axis.get_ylim()[0]))


def label(key):
    name, published = key
    return f"{name}, published" if published == "yes" and name != "published" else name


def series(table):
    """The picture of one figure: a panel for each that its series name."""
    rows = common.rows_of(table)
    panels_of = order_of(row["panel"] for row in rows)
    names = order_of(row["series"] for row in rows)
    columns = min(PANELS, len(panels_of))
    height = -(-len(panels_of) // columns)
    size = (max(6.5, 3.2 * columns), 3.2 * height)
    figure, axes = plot.subplots(height, columns, figsize=size, squeeze=False, layout="constrained")
    for axis in axes.flat[len(panels_of) :]:
        axis.axis("off")
    for axis, panel in zip(axes.flat, panels_of, strict=False):
        lines = collections.defaultdict(list)
        for row in rows:
            if row["panel"] == panel:
                lines[row["series"], row["published"]].append(row)
        here = [row for line in lines.values() for row in line]
        draw = lines_of if all(number(row["x"]) is not None for row in here) else bars
        draw(axis, lines, names)
        axis.set_xlabel(here[0]["x_label"], fontsize=8)
        axis.set_ylabel(here[0]["y_label"], fontsize=8)
        axis.set_title(panel, fontsize=9)
        axis.tick_params(labelsize=7)
    axes.flat[0].legend(fontsize=7)
    save(figure, table.with_name(table.name.removesuffix("-series.csv") + ".svg"))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recorded", type=pathlib.Path, metavar="DIR", help="tables of recordings of AMP")
    parser.add_argument("--series", type=pathlib.Path, metavar="DIR", help="tables *-series.csv")
    args = parser.parse_args()
    if not args.recorded and not args.series:
        parser.error("give --recorded or --series")
    if args.recorded:
        frequency(args.recorded)
        scan_ratios(args.recorded)
        within(args.recorded)
    if args.series:
        for table in sorted(args.series.glob("*-series.csv")):
            series(table)


if __name__ == "__main__":
    main()
