#!/usr/bin/env python3
"""How long an instruction takes on this machine: what a guest whose time goes by instructions is to be given
(docs/lab.md). The same programs run here and in a guest of 1 ns an instruction, where their CPU time counts
their instructions. Their data fit the caches, for the meter charges misses by themselves.

Where a library chooses its code by what the CPU can do, the guest may run another one."""

import statistics
import subprocess
import tempfile

import common
import guest

# What runs in the kernel for the most part. The last two change page tables, which a virtual machine's host may have to follow:
# they are told, and count for nothing.
KERNEL = ("getppid", "read-write", "pagemap", "mincore", "cold")
PAGE_TABLES = ("touch", "fork")
SCRIPT = guest.LAB / "instruction_time.sh"
BUSYBOX = "/bin/busybox"


def lines(text):
    """Name, CPU time in s, and what was done in it."""
    for name, first, *seconds in map(str.split, text.splitlines()):
        yield (name, float(seconds[0]), float(first)) if seconds else (name, float(first), 1.0)


def measure(args, out, kernel_time):
    """Here several times, and once in a guest."""
    subprocess.run(["gcc", "-O2", "-static", guest.LAB / "kernel_time.c", "-o", kernel_time], check=True)
    variables = {"BUSYBOX": BUSYBOX, "KERNEL_TIME": kernel_time, "PAGETIDE": args.pagetide}
    topology = guest.TOPOLOGY.format(dram=512, cpus=1, fast_ns=100, slow_ns=250)
    more = ["--instruction-ns", "1"] + [word for program in variables.values() for word in ("--with", program)]
    where = [("guest", lambda: guest.boot(args, "guest", topology, SCRIPT.name, variables, more)[0])]
    here = ["env", *(f"{key}={value}" for key, value in variables.items()), "sh", SCRIPT]
    where += [("here", lambda: subprocess.run(here, text=True, stdout=subprocess.PIPE, check=True).stdout)] * args.runs
    for run, (name, text) in enumerate(where):
        for program, cpu_s, done in lines(text()):
            common.append(out / "instruction-time.csv", {"where": name, "run": run, "program": program, "cpu_s": cpu_s, "done": done})


def show(out):
    """What an instruction takes here, by program and on the geometric mean."""
    rows = common.rows_of(out / "instruction-time.csv")
    table, each_ns = [], {"programs": [], "kernel": [], "page tables": []}
    for program in dict.fromkeys(row["program"] for row in rows):
        per = {
            where: [float(row["cpu_s"]) / float(row["done"]) for row in rows if (row["program"], row["where"]) == (program, where)]
            for where in ("guest", "here")
        }
        # A second of the guest is a billion instructions.
        ns = min(per["here"]) / per["guest"][0]
        each_ns["kernel" if program in KERNEL else "page tables" if program in PAGE_TABLES else "programs"].append(ns)
        spread = (max(per["here"]) - min(per["here"])) / min(per["here"])
        table.append([program, f"{ns:.3f}", f"{100 * spread:.0f} %"])
    for name, found in each_ns.items():
        table.append([f"geometric mean, {name}", f"{statistics.geometric_mean(found):.3f}", ""])
    common.table(["program", "ns an instruction", "runs differ by"], table)


def main():
    parser = guest.basic_arguments(__doc__, "instruction-time")
    parser.add_argument("--runs", type=int, default=5, help="here")
    args = parser.parse_args()
    out = common.open_results(args)
    if not args.show:
        with tempfile.TemporaryDirectory() as folder:
            measure(args, out, f"{folder}/kernel_time")
    show(out)


if __name__ == "__main__":
    main()
