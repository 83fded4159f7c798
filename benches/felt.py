#!/usr/bin/env python3
"""Felt memory against machine files: a pointer chase and a stream on both nodes of a guest, whose
meter holds up the CPUs, in the machine's time (make lab). Needs two free CPUs."""

import pathlib
import subprocess
import sys

import common

# Machine, dilation (measured if none), and by node what its file says: ns of a read, GB/s read.
# A stream of the fast tiers is none: an emulated CPU cannot read that fast.
CASES = [
    ("disaggregated-pcm", None, [(60, None), (340, 3.4)]),
    ("cxl", 40, [(100, None), (250, 28)]),
]


def words(text, prefix):
    """The numbers of the line that begins so."""
    for line in text.splitlines():
        if line.startswith(prefix):
            found = []
            for word in line[len(prefix) :].split():
                try:
                    found.append(float(word))
                except ValueError:
                    continue
            return found
    sys.exit(f"no line '{prefix}' in\n{text}")


def measure(args, machine, dilation, nodes):
    """One guest: the best of nine rounds on each node."""
    command = [args.lab, "run", "--boot-timeout", "300", "--meter", "/dev/null", "--felt", machine]
    command += ["--dilation", str(dilation)] if dilation else []
    command += ["--", "sh", "-ec", "echo dilation $PAGETIDE_DILATION; pagetide-lab probe times --nodes 0,1"]
    before = common.load()
    done = subprocess.run(command, text=True, stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(f"{machine}: the guest ended with {done.returncode}\n{done.stdout}")
    factor = words(done.stdout, "dilation")[0]
    for node, (latency, bandwidth) in enumerate(nodes):
        chase, chase_median, line, line_median = words(done.stdout, f"node {node}")
        row = {
            "machine": machine,
            "node": node,
            "dilation": round(factor, 3),
            "chase_ns": round(chase / factor, 1),
            "chase_median_ns": round(chase_median / factor, 1),
            "machine_ns": latency,
            "stream_gb_s": round(64 / (line / factor), 2),
            "stream_median_gb_s": round(64 / (line_median / factor), 2),
            "machine_gb_s": bandwidth or "",
            "load_before": before,
            "commit": common.commit(),
        }
        common.append(args.results / "felt.csv", row)


def show(path):
    """Felt and the machine's, and how far apart they are."""
    lines = []
    for row in common.rows_of(path):
        cells = [row["machine"], row["node"], row["dilation"]]
        for felt, machine in (("chase_ns", "machine_ns"), ("stream_gb_s", "machine_gb_s")):
            cells += [row[felt], row[machine] or "–"]
            cells.append(f"{100 * (float(row[felt]) / float(row[machine]) - 1):+.1f} %" if row[machine] else "–")
        lines.append(cells)
    common.table(["machine", "node", "dilation", "chase, ns", "file", "off", "stream, GB/s", "file", "off"], lines)


def main():
    """Measures what is not there yet, prints the table."""
    parser = common.arguments(__doc__)
    parser.add_argument("--lab", type=pathlib.Path, default=common.ROOT / "target/release/pagetide-lab")
    parser.add_argument("--repeat", type=int, default=3, help="guests per machine")
    args = parser.parse_args()
    path = args.results / "felt.csv"
    if not args.show:
        common.open_results(args)
        for machine, dilation, nodes in CASES:
            done = sum(row["machine"] == machine for row in common.rows_of(path)) // len(nodes)
            for _ in range(done, args.repeat):
                measure(args, machine, dilation, nodes)
    show(path)


if __name__ == "__main__":
    main()
