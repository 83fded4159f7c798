#!/usr/bin/env python3
"""Draws the pictures of docs/measurements.md and docs/history.md from raw results, without measuring anything."""

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "pagetide"

import common
import matplotlib.pyplot as plot


def accuracy(out):
    """True against estimated rate of every unit, one panel per cell."""
    cells = sorted((out / "accuracy").glob("*.csv"))
    if not cells:
        return
    columns = min(4, len(cells))
    lines = -(-len(cells) // columns)
    figure, axes = plot.subplots(
        lines, columns, figsize=(2.6 * columns, 2.6 * lines), squeeze=False, sharex=True, sharey=True
    )
    for axis in axes.flat[len(cells) :]:
        axis.axis("off")
    for axis, cell in zip(axes.flat, cells, strict=False):
        rows = common.rows_of(cell)
        true = [float(row["true_per_s"]) for row in rows]
        # A unit that was never seen is drawn at the lower edge.
        estimated = [max(float(row["estimated_per_s"]), 0.1) for row in rows]
        axis.plot([0.1, 1e7], [0.1, 1e7], color="grey", linewidth=0.7)
        axis.scatter(true, estimated, s=4, alpha=0.4, linewidths=0, rasterized=True)
        axis.set(xscale="log", yscale="log", xlim=(0.1, 1e7), ylim=(0.1, 1e7))
        page, hot, ratio, *rest = cell.stem.split("-")
        notes = [f"{word[4:]}/s" if word.startswith("rate") else f"units of {word[4:]}" for word in rest]
        title = f"{page}, {int(hot)} % hot, 1:{int(ratio)}"
        axis.set_title("\n".join([title, *notes]), fontsize=8)
        axis.tick_params(labelsize=7)
    figure.supxlabel("true accesses per second and unit (2 MiB if not said)", fontsize=9)
    figure.supylabel("estimated", fontsize=9)
    figure.tight_layout()
    figure.savefig(out / "accuracy.png", dpi=90)
    plot.close(figure)


def overhead(out):
    """Slowdown of every pair."""
    rows = common.rows_of(out / "overhead.csv")
    if not rows:
        return
    figure, axis = plot.subplots(figsize=(6, 2.4))
    for page in ("4K", "2M"):
        own = [row for row in rows if row["page"] == page]
        slow = [100 * (float(r["alone_per_s"]) / float(r["watched_per_s"]) - 1) for r in own]
        if slow:
            axis.plot(range(len(slow)), slow, "o", markersize=3, label=f"{page} pages")
    axis.axhline(0, color="grey", linewidth=0.7)
    axis.axhline(1, color="grey", linewidth=0.7, linestyle=":")
    axis.set(xlabel="pair", ylabel="slowdown, %")
    axis.legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(out / "overhead.svg", metadata={"Date": None})
    plot.close(figure)


def tiering(out):
    """The hot set's share of misses from fast memory over time, a line per mode, a panel per page size."""
    lines = [
        ("tiering", "none", "no migration", {"color": "grey"}),
        ("tiering", "kernel", "the kernel's own", {"color": "tab:orange"}),
        ("tiering", "pagetide", "Pagetide", {"color": "tab:blue"}),
        ("tiering-budget-11", "pagetide", "the same, a third of the budget", {"color": "tab:blue", "linestyle": ":"}),
    ]
    if not (out / "tiering").exists():
        return
    figure, axes = plot.subplots(1, 2, figsize=(8.4, 2.9), sharey=True)
    for axis, page in zip(axes, ("2M", "4K"), strict=True):
        for folder, mode, label, style in lines:
            for path in sorted((out / folder).glob(f"{page}-{mode}-?.csv")):
                rows = common.rows_of(path)
                times = [float(row["seconds"]) for row in rows]
                shares = [100 * float(row["hot_fast_share"]) for row in rows]
                axis.plot(times, shares, linewidth=1.2, label=label, **style)
                label = None
        axis.axhline(99, color="grey", linewidth=0.7, linestyle=":")
        axis.set(title=f"pages of {page[0]} {page[1]}iB", xlim=(-1, 51), ylim=(-3, 103))
        axis.set_xlabel("seconds since the tiering began")
    axes[0].set_ylabel("from fast memory, %")
    axes[1].legend(fontsize=8, loc="lower right")
    figure.tight_layout()
    figure.savefig(out / "tiering.svg", metadata={"Date": None})
    plot.close(figure)


def main():
    args = common.arguments(__doc__).parse_args()
    accuracy(args.results)
    overhead(args.results)
    tiering(args.results)


if __name__ == "__main__":
    main()
