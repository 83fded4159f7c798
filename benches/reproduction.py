#!/usr/bin/env python3
"""Draws the pictures of docs/reproduction.md from the tables of benches/results/amp."""

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "pagetide"
matplotlib.rcParams["svg.fonttype"] = "none"

import collections

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


def main():
    args = common.arguments(__doc__).parse_args()
    frequency(args.results)
    scan_ratios(args.results)
    within(args.results)


if __name__ == "__main__":
    main()
