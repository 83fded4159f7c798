"""What the measuring scripts share: where results lie, the machine's description, running Pagetide."""

import argparse
import csv
import datetime
import json
import os
import pathlib
import platform
import re
import signal
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def arguments(doc):
    """A parser with the options that every script has."""
    parser = argparse.ArgumentParser(description=doc)
    parser.add_argument(
        "--results",
        type=pathlib.Path,
        default=ROOT / "benches" / "results" / f"{datetime.date.today()}-{machine_name()}",
        help="directory of the raw results; what it already holds is not measured again",
    )
    parser.add_argument(
        "--pagetide",
        type=pathlib.Path,
        default=ROOT / "target" / "release" / "pagetide",
        help="the program (cargo build --release -p pagetide)",
    )
    parser.add_argument(
        "--scratch",
        type=pathlib.Path,
        default=pathlib.Path(tempfile.gettempdir()),
        help="where recordings lie while they are measured",
    )
    parser.add_argument("--show", action="store_true", help="measure nothing, print the table")
    return parser


def read(path):
    """A small file as text, empty if it is not there."""
    try:
        return pathlib.Path(path).read_text(encoding="utf-8")
    except OSError:
        return ""


def cpu_model():
    """The processor's name."""
    found = re.search(r"^model name\s*:\s*(.*)$", read("/proc/cpuinfo"), re.M)
    return found[1].strip() if found else platform.machine()


def machine_name():
    """A short name of the machine's kind for the directory: processor and cores, no host name."""
    words = re.sub(r"\([^)]*\)|Processor|CPU|@.*", " ", cpu_model()).split()
    return "-".join(["".join(words).lower() or "cpu", f"{os.cpu_count()}cores"])


def commit():
    """The commit that is checked out, short."""
    command = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, check=False).stdout.strip()


def machine_text():
    """What a reader must know of the machine to judge a figure."""
    memory = int(re.search(r"MemTotal:\s*(\d+)", read("/proc/meminfo"))[1]) / 2**20
    cpuinfo = read("/proc/cpuinfo")
    family = [
        re.search(rf"^{key}\s*:\s*(\S+)", cpuinfo, re.M)[1]
        for key in ("cpu family", "model\t", "stepping")
    ]
    thp = re.search(r"\[(\w+)\]", read("/sys/kernel/mm/transparent_hugepage/enabled"))
    virtual = "virtual machine" if " hypervisor" in cpuinfo else "no virtual machine"
    return "\n".join(
        [
            f"CPU      {cpu_model()}, family {family[0]} model {family[1]} stepping {family[2]}",
            f"cores    {os.cpu_count()}, {virtual}",
            f"kernel   {'.'.join(platform.release().split('-')[0].split('.')[:3])}",
            f"memory   {memory:.1f} GiB",
            f"THP      {thp[1] if thp else 'unknown'}",
            f"commit   {commit()}",
            f"date     {datetime.date.today()}",
            "",
        ]
    )


def open_results(args):
    """Makes the directories for results and recordings, and describes the machine in that of the results."""
    for folder in (args.results, args.scratch):
        folder.mkdir(parents=True, exist_ok=True)
    machine = args.results / "machine.txt"
    if not machine.exists():
        machine.write_text(machine_text(), encoding="utf-8")
    return args.results


def load():
    """Load average of the last minute: what else ran."""
    return round(os.getloadavg()[0], 2)


def rows_of(path):
    """Rows of a CSV file as dictionaries, none if it is not there."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def append(path, row):
    """Adds a row to a CSV file. The first one brings the header; a column that it lacks is added,
    empty in older rows."""
    rows = [*rows_of(path), row]
    header = list(dict.fromkeys(column for each in rows for column in each))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=header, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def plan(pagetide, recording):
    """The plan of a recording as the object that --json prints; None if there is none."""
    done = subprocess.run(
        [pagetide, "plan", "--json", recording], text=True, stdout=subprocess.PIPE, check=False
    )
    return json.loads(done.stdout) if done.stdout else None


def end(process):
    """Ends a program that we started."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def wait_line(process, word, seconds=120):
    """Reads a program's output up to the line that contains `word`, and returns that line."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        line = process.stdout.readline()
        if word in line or not line:
            return line
    return ""


def quantile(values, share):
    """The value below which this share of the values lies."""
    ordered = sorted(values)
    if not ordered:
        return float("nan")
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def table(header, rows, markdown=False):
    """Prints aligned columns, or a table of Markdown."""
    if markdown:
        for row in [header, ["---"] * len(header), *rows]:
            print("| " + " | ".join(str(cell) for cell in row) + " |")
        return
    text = [[str(cell) for cell in row] for row in [header, *rows]]
    widths = [max(len(row[i]) for row in text) for i in range(len(header))]
    for row in text:
        print("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)))
