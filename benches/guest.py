"""Guests in which tiering is measured: what the scripts that boot them share.

Their time goes by the host's clock (`BY_HOST`), by which a virtual CPU with the meter takes many times as long for the
same work and memory is not felt, or by instructions and misses (`FELT`): then a guest is about as fast as a machine,
memory as slow as on one, and how fast the host is and what else it does change nothing."""

import concurrent.futures
import csv
import dataclasses
import io
import os
import pathlib
import re
import subprocess
import sys
import threading
import tomllib

import common

LAB = pathlib.Path(__file__).resolve().parent / "lab"
# A unit of the meter, if nothing else is said.
UNIT = 2 << 20
# Exit codes: of a guest that has less free than others (common.sh), of the lab for one that did not come up. Then
# it is booted again, so often in all.
LESS_FREE, NOT_RUN, BOOTS = 77, 125, 5


@dataclasses.dataclass(frozen=True)
class Clock:
    """How a guest's time goes."""

    # So many of its seconds are one of a machine's. What decides whether a move pays is given in the guest's seconds:
    # latencies, prices of moves, the time within which moves must pay. Epochs stay as long as they are by default, or a
    # guest would have to run for an hour.
    dilation: int
    # The same for observing, so for its budget.
    observing: int
    cpus: int
    # Latencies of a machine's two tiers.
    fast_ns: int
    slow_ns: int
    # Options of the lab.
    lab: tuple = ()

    def payback(self):
        """The default times within which moves must pay: 30 s of a machine for each, and as `gain` judges them together."""
        if self.dilation == 1:
            return ""
        return f"--payback {30 * self.dilation}s --governor gain:horizon={60 * self.dilation},patience={10 * self.dilation}"

    def topology(self, dram, disk=False):
        """Two tiers, the fast one of so many MiB; a disk in memory, as large as that."""
        more = DISK.format(kib=dram << 10) if disk else ""
        return more + TOPOLOGY.format(dram=dram, cpus=self.cpus, fast_ns=self.fast_ns * self.dilation, slow_ns=self.slow_ns * self.dilation)


# docs/lab.md: with the meter an emulated CPU computes 11 times as slowly as the host's.
BY_HOST = Clock(dilation=11, observing=11, cpus=2, fast_ns=100, slow_ns=350)
# As fast as a machine: instructions of programs and of the kernel take what they do on an AMD Zen 5, on the geometric mean of
# some (instruction_time.py), and a miss what it takes on machines/cxl.toml besides. One CPU: of several one would run at a time.
FELT = Clock(dilation=1, observing=1, cpus=1, fast_ns=100, slow_ns=250, lab=("--instruction-ns", "0.08,0.13", "--felt", "cxl"))


DISK = """modules = ["brd"]
setup = "rmmod brd; insmod /lab/modules/$(tail -1 /lab/modules.list) rd_nr=1 rd_size={kib}"
"""


TOPOLOGY = """name = "tiers"
title = "two tiers"

[[node]]
name = "DRAM"
cpus = {cpus}
memory = "{dram}M"
latency_ns = {fast_ns}
bandwidth_gb_s = 100

[[node]]
name = "CXL"
memory = "2G"
latency_ns = {slow_ns}
bandwidth_gb_s = 28
"""


def basic_arguments(doc, name):
    """Options of all scripts that boot guests and put what they find into a folder of that name."""
    parser = common.arguments(doc)
    parser.add_argument("--lab", type=pathlib.Path, default=common.ROOT / "target/release/pagetide-lab")
    parser.add_argument("--name", default=name, help="folder below the results")
    parser.add_argument("--only", default="", help="cases whose names match this expression")
    parser.add_argument("--markdown", action="store_true", help="print the table for the documentation")
    return parser


def arguments(doc, name, clock=BY_HOST):
    """The same, of scripts in whose guests Pagetide runs."""
    parser = basic_arguments(doc, name)
    parser.set_defaults(clock=clock)
    parser.add_argument("--budget", type=int, default=3 * clock.observing, help="of pagetide run, percent of a CPU of the guest")
    parser.add_argument("--options", default="", help="more options of pagetide run")
    if clock.lab:
        parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="guests at a time: what else the host does changes nothing")
    return parser


def parse_either_clock(parser):
    """Parses options of a script whose guests may go by the host's clock instead, one at a time."""
    parser.add_argument("--by-host", action="store_true", help="guests whose time goes by the host's clock; leave it idle")
    args = parser.parse_args()
    if args.by_host:
        args.clock, args.budget, args.jobs = BY_HOST, 3 * BY_HOST.observing, 1
    return args


def at_once(args, jobs):
    """Calls functions with their arguments, so many at a time as the options say. On Ctrl-C no further one begins, and the
    guests end by it too."""
    pool = concurrent.futures.ThreadPoolExecutor(args.jobs)
    interrupted = threading.Event()
    begin = lambda do, *rest: None if interrupted.is_set() else do(*rest)
    try:
        for job in [pool.submit(begin, *job) for job in jobs]:
            job.result()
    except KeyboardInterrupt:
        interrupted.set()
        sys.exit("interrupted; what was measured is kept")
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def stripped(program, scratch):
    """The program without its debug information, which would lie in the guest's fast memory."""
    folder = scratch / "pagetide-guest"
    folder.mkdir(exist_ok=True)
    subprocess.run(["objcopy", "--strip-debug", program, folder / "pagetide"], check=True)
    return folder / "pagetide"


def machine_file(scratch, clock):
    """The default machine's file as it is by this clock."""
    machine = (common.ROOT / "machines" / "cxl.toml").read_text(encoding="utf-8")
    times = lambda found: f"{found[1]}{int(found[2]) * clock.dilation}"
    text = re.sub(r"((?:latency_ns|page_4k_us|page_2m_us) = )(\d+)", times, machine)
    assert tomllib.loads(text)["migration"]["page_4k_us"] == clock.dilation * tomllib.loads(machine)["migration"]["page_4k_us"]
    path = scratch / "pagetide-guest-machine.toml"
    # Another guest may be about to read it.
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")
    return path


def boot(args, name, topology, script, variables, more=(), timeout=7200):
    """Boots a guest of this topology that runs a script of benches/lab. `more`: options of the lab. Gives what the
    guest printed and the path to its folder; none if it failed."""
    out = args.scratch / f"pagetide-{args.name}-{name}"
    file = out.with_suffix(".toml")
    file.write_text(topology, encoding="utf-8")
    command = [args.lab, "run", "-t", file, "--boot-timeout", "300", "--timeout", str(timeout), "--out", out]
    command += ["--copy", f"{LAB / script}:/script.sh", *more]
    for key, value in variables.items():
        command += ["--env", f"{key}={value}"]
    for _ in range(BOOTS):
        done = subprocess.run([*command, "--", "sh", "/script.sh"], text=True, stdout=subprocess.PIPE, check=False)
        if done.returncode not in (LESS_FREE, NOT_RUN):
            break
    file.unlink()
    if done.returncode != 0:
        print(f"{name}: the guest ended with {done.returncode}\n{done.stdout}")
        return None, out
    return done.stdout, out


def programs(args, needs=()):
    """Options of the lab for the programs that a guest gets, and their variables."""
    more = [word for each in (args.pagetide, args.lab, *needs) for word in ("--with", each)]
    return more, {"PAGETIDE": args.pagetide, "LAB": args.lab}


def run(args, name, script, dram, variables, needs=(), meter=("2M", 1)):
    """Boots a guest with so much DRAM in MiB that runs a script of benches/lab. `meter`: its units, and seconds
    between its rows; none: as no meter slows it down. Gives what the guest printed and the path to its folder, beside
    which lies what the meter counted; none if it failed."""
    out = args.scratch / f"pagetide-{args.name}-{name}"
    # Of large memory it does not matter.
    least = dram - 80 - 8 * len(needs) if dram < 512 else 0
    more, paths = programs(args, needs)
    if meter:
        more += ["--meter", out.with_suffix(".meter"), "--units", out.with_suffix(".units")]
        more += ["--unit-size", meter[0], "--units-every", str(round(10 * meter[1]))]
        more += args.clock.lab
    more += ["--copy", f"{LAB / 'common.sh'}:/common.sh", "--copy", f"{machine_file(args.scratch, args.clock)}:/machine.toml"]
    variables = variables | paths | {"LEAST_FREE": least}
    return boot(args, name, args.clock.topology(dram, getattr(args, "files", False)), script, variables, more)


def run_options(args, more=None):
    """Options of `pagetide run` in a guest. `more` in place of the times within which moves must pay."""
    more = args.clock.payback() if more is None else more
    return " ".join(["--budget", f"{args.budget}%", "--machine", "/machine.toml", *more.split(), *args.options.split()])


def misses(out, areas, unit=UNIT, what=("reads", "writes")):
    """What the meter counted between the marks 1 and 2 of units that hold part of an area: seconds since, address,
    misses (or of them the leads, which no prefetcher can have fetched), whether served by fast memory."""
    text = common.read(out.with_suffix(".units"))
    rows = list(csv.DictReader(io.StringIO(text)))
    lost = [row["seconds"] for row in rows if row["seconds"].startswith("#")]
    assert not lost, f"the meter had no room: {lost[-1]}"
    begin = max((float(row["seconds"]) for row in rows if row["mark"] == "0"), default=0.0)
    found = []
    for row in rows:
        address = int(row["address"], 16)
        if row["mark"] == "1" and any(address < end and address + unit > start for start, end in areas):
            count = sum(int(row[column]) for column in what)
            found.append((float(row["seconds"]) - begin, address, count, row["node"] == "0"))
    return found


def over_time(rows):
    """Seconds, misses, and those from fast memory."""
    sums = {}
    for seconds, _, count, fast in rows:
        sum_ = sums.setdefault(seconds, [0, 0])
        sum_[0] += count
        sum_[1] += count if fast else 0
    return [[round(seconds, 2), *sum_] for seconds, sum_ in sorted(sums.items())]


def last_third(times):
    """Misses in the last third of the time, and the share of fast memory in them."""
    end = times[-1][0] if times else 0.0
    last = [row for row in times if row[0] > 2 * end / 3]
    misses = sum(row[1] for row in last)
    return misses, sum(row[2] for row in last) / max(misses, 1)


def forget(out):
    """Removes what the meter left."""
    for suffix in (".meter", ".units"):
        out.with_suffix(suffix).unlink(missing_ok=True)
