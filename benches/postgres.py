#!/usr/bin/env python3
"""The integration test with a real PostgreSQL: Debian's server under pgbench, recorded three times, and once
with each of four other distributions of its look-ups.

The answers of the three must agree, and the buffer pool must be called shared memory. What of it nobody maps must be
counted: all that a plan shows of the pool is held against the file behind it, and the plan must say what it counted.
Where nearly all look-ups go to one tenth of the table that lies together, half of what even look-ups need is enough; where
the tenth is scattered, the plan says why it is not. Needs root; nothing listens but a socket in a folder of its own.
Debian's server cannot be counted exactly (docs/exact.md): `make truth` does that with a build of PostgreSQL's that
can."""

import argparse
import json
import os
import pathlib
import pwd
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import common
from truth.postgres import SCRIPT

USER = "postgres"
AGREE = 1.10
# What the plan shows of the pool is within so much of what the kernel holds; less is not worth a word.
COUNTED = 0.05
# Which rows are looked up: evenly; 97 % in one tenth of the table, which lies together or is scattered over it.
EVEN = "\\set key random(1, 100000 * :scale)\n"
TENTH = """\\set part random(1, 100)
\\if :part <= 97
\\set key random(1, 10000 * :scale)
\\else
\\set key random(1, 100000 * :scale)
\\endif
"""
LOOK_UP = "select abalance from pgbench_accounts where aid = :key;\n"
# Nobody asks for the other nine tenths, which somebody had read before.
ONLY = "\\set key random(1, 10000 * :scale)\n"
LOADS = {"zipf": SCRIPT, "even": EVEN + LOOK_UP, "together": TENTH + LOOK_UP,
         "only": ONLY + LOOK_UP,
         "scattered": TENTH + "\\set key permute(:key, 100000 * :scale, 7)\n" + LOOK_UP}
# A load that ends when it is told to.
ENDLESS = 100_000


def programs():
    """Where Debian's package has the server's programs: the newest of them."""
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: int(path.parts[-3]))
    if not found:
        sys.exit("error: there is no PostgreSQL; scripts/deps.sh long installs Debian's")
    return found[-1].parent


class Server:
    """A cluster in a folder of its own."""

    def __init__(self, folder, scale, buffers):
        self.folder, self.scale, self.buffers, self.bin = folder, scale, buffers, programs()
        self.data = folder / "data"

    def run(self, *words, **more):
        """Runs one of PostgreSQL's programs as its user."""
        words = [str(self.bin / words[0]), *map(str, words[1:])]
        account = pwd.getpwnam(USER)
        more = {"check": True, "text": True, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL} | more
        return subprocess.run(words, user=account.pw_uid, group=account.pw_gid, extra_groups=[], cwd=self.folder, **more)

    def make(self):
        """A new cluster with pgbench's tables."""
        shutil.chown(self.folder, USER)
        self.run("initdb", "-D", self.data, "-N", "--auth=trust", "-U", "postgres")
        self.start()
        self.run("pgbench", *self.client(), "-i", "-q", "-s", self.scale, "postgres")
        self.stop()

    def client(self):
        return "-U", "postgres", "-h", self.folder

    def start(self):
        settings = {"listen_addresses": "''", "fsync": "off", "shared_buffers": self.buffers, "max_wal_size": "4GB",
                    "autovacuum": "off", "huge_pages": "off", "jit": "off"}
        flags = f"-k {self.folder} " + " ".join(f"-c {key}={value}" for key, value in settings.items())
        self.run("pg_ctl", "start", "-w", "-D", self.data, "-o", flags, stdout=subprocess.DEVNULL)

    def stop(self):
        self.run("pg_ctl", "stop", "-w", "-m", "fast", "-D", self.data)

    def postmaster(self):
        return int(common.read(self.data / "postmaster.pid").split()[0])

    def fill(self):
        """Reads the table into the buffer pool through its index, in a process that ends then: what it touched
        stays in the pool, and nobody maps it."""
        ask = "set enable_seqscan = off; set enable_bitmapscan = off; select sum(abalance) from pgbench_accounts where aid > 0"
        self.run("psql", *self.client(), "-X", "-t", "-c", ask, "postgres")

    def load(self, kind):
        """Starts a load; `end` ends it, and not a time: the recording is to see nothing else."""
        script = self.folder / "load.sql"
        script.write_text(LOADS[kind], encoding="ascii")
        account = pwd.getpwnam(USER)
        words = [self.bin / "pgbench", *self.client(), "-n", "-M", "prepared", "-c", 4, "-T", ENDLESS, "-f", script,
                 "-D", f"scale={self.scale}", "--random-seed=1", "postgres"]
        return subprocess.Popen([str(word) for word in words], user=account.pw_uid, group=account.pw_gid, extra_groups=[],
                                cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    @staticmethod
    def end(load):
        """Ends a load as its time does; the transactions that it made."""
        load.send_signal(signal.SIGALRM)
        done = re.search(r"actually processed: (\d+)", load.communicate()[0])
        return int(done[1]) if done else 0

    def pool_bytes(self):
        """What the buffer pool holds, mapped or not: the blocks of the file behind the postmaster's largest
        shared mapping."""
        pid, largest, blocks = self.postmaster(), 0, 0
        for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines():
            found = re.match(r"(\w+)-(\w+) rw-s .*/dev/zero", line)
            if found and (size := int(found[2], 16) - int(found[1], 16)) > largest:
                largest = size
                blocks = os.stat(f"/proc/{pid}/map_files/{found[1].lstrip('0')}-{found[2].lstrip('0')}").st_blocks
        return 512 * blocks


def record(args, server, folder, number, kind):
    """One run: the server started anew, filled, loaded and recorded; its plan, and what its pool held."""
    server.start()
    try:
        server.fill()
        output = folder / f"run-{number}-{kind}.heat"
        load = server.load(kind)
        time.sleep(2)
        words = [args.pagetide, "record", "-q", "--clear-shared", "--epoch", "5s", "--for", f"{args.seconds}s",
                 "-p", server.postmaster(), "-o", output]
        try:
            subprocess.run([str(word) for word in words], check=True)
            pool = server.pool_bytes()
        finally:
            done = server.end(load)
    finally:
        server.stop()
    words = [args.pagetide, "plan", "--json", output, *args.plan.split()]
    plan = json.loads(subprocess.run([str(word) for word in words], check=True, stdout=subprocess.PIPE).stdout)
    return plan, pool, done


def shown(plan):
    """What the plan shows of the pool: mapped, and by nobody."""
    return [sum(area["bytes"] for area in plan["areas"] if area["name"] == name)
            for name in ("shared memory", "shared memory, not mapped")]


def mib(value):
    return "–" if value is None else f"{value / 2**20:.0f}"


def need(plan):
    """What a plan recommends."""
    return (plan["recommendation"] or {}).get("fast_bytes")


def complaints(kinds, plans, pools):
    """What is not as it must be, in words."""
    found = []
    of = {kind: [need(plan) for other, plan in zip(kinds, plans, strict=True) if other == kind] for kind in LOADS}
    for number, plan in enumerate(plans, 1):
        if not plan["recommendation"]:
            found.append(f"run {number}: no recommendation: {plan['why_not']}")
    alike = of["zipf"]
    if alike and all(alike) and max(alike) > AGREE * min(alike):
        found.append(f"the answers differ by {max(alike) / min(alike) - 1:.0%}: {', '.join(map(mib, alike))} MiB")
    for even, together in zip(of["even"], of["together"]):
        if even and together and together > even / 2:
            found.append(f"97 % of the look-ups in one tenth need {mib(together)} MiB, even ones {mib(even)}")
    for number, (kind, plan, pool) in enumerate(zip(kinds, plans, pools, strict=True), 1):
        names = [area["name"] for area in plan["areas"]]
        if "shared memory" not in names:
            found.append(f"run {number}: no area is called shared memory: {', '.join(names)}")
        says = " ".join(plan["said"]["caveats"] + plan["said"]["stands_on"])
        mapped, unmapped = shown(plan)
        if abs(mapped + unmapped - pool) > COUNTED * pool:
            found.append(f"run {number}: the plan shows {mib(mapped + unmapped)} MiB of a pool of {mib(pool)}")
        if unmapped > COUNTED * pool and "mapped by no process" not in says:
            found.append(f"run {number}: {mib(unmapped)} MiB of the pool are mapped by nobody; the plan says: {says}")
        if kind == "scattered" and "scattered among what is not" not in says:
            found.append(f"run {number}: the plan does not say why so much is needed")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pagetide", type=pathlib.Path, default=common.ROOT / "target" / "release" / "pagetide")
    parser.add_argument("--scale", type=int, default=10, help="of pgbench: 15 MB each")
    parser.add_argument("--buffers", default="200MB", help="PostgreSQL's shared_buffers")
    parser.add_argument("--seconds", type=int, default=60, help="of each recording")
    parser.add_argument("--runs", type=int, default=3, help="with the main load (zipf)")
    parser.add_argument("--loads", nargs="*", default=["even", "together", "scattered", "only"], choices=LOADS, help="one run each")
    parser.add_argument("--raw", type=pathlib.Path, help="write what the table is made of into this file, as JSON")
    parser.add_argument("--plan", default="", help="options of the plans, e.g. '--target-slowdown 10%%'")
    parser.add_argument("--keep", type=pathlib.Path, help="keep the recordings in this folder")
    args = parser.parse_args()
    args.pagetide = args.pagetide.resolve()
    if os.geteuid():
        sys.exit("error: recording needs root")
    with tempfile.TemporaryDirectory(prefix="pagetide-postgres-") as scratch:
        os.chmod(scratch, 0o755)
        folder = pathlib.Path(scratch) / "server"
        folder.mkdir()
        server = Server(folder, args.scale, args.buffers)
        server.make()
        kinds = ["zipf"] * args.runs + args.loads
        runs = [record(args, server, pathlib.Path(scratch), *run) for run in enumerate(kinds, 1)]
        if args.keep:
            args.keep.mkdir(parents=True, exist_ok=True)
            for recording in pathlib.Path(scratch).glob("*.heat"):
                shutil.copytree(recording, args.keep / recording.name, dirs_exist_ok=True)
    plans, pools, done = zip(*runs, strict=True)
    rows, raw = [], []
    for number, (kind, (plan, pool, served)) in enumerate(zip(kinds, runs, strict=True), 1):
        answer, facts = plan["recommendation"] or {}, plan["recording"]
        interval = answer.get("interval") or {}
        raw.append({"run": number, "load": kind, "transactions": served, "pool_bytes": pool, "recording": facts,
                    "recommendation": plan["recommendation"], "why_not": plan["why_not"], "said": plan["said"],
                    "needs": {policy["policy"]: policy["fast_bytes"] for policy in plan["policies"]},
                    "areas": plan["areas"][:4]})
        rows.append((number, kind, served, mib(facts["footprint_bytes"]), mib(pool), mib(shown(plan)[1]),
                     mib(answer.get("fast_bytes")), f"{mib(interval.get('low'))} – {mib(interval.get('high'))}",
                     answer.get("policy", "–"), f"{facts['uncleared_share']:.1%}"))
    if args.raw:
        args.raw.parent.mkdir(parents=True, exist_ok=True)
        about = {"scale": args.scale, "shared_buffers": args.buffers, "seconds": args.seconds}
        args.raw.write_text(json.dumps({"settings": about, "runs": raw}, indent=1) + "\n", encoding="utf-8")
    common.table(("run", "load", "transactions", "footprint", "pool", "unmapped", "needs", "interval", "policy", "unknown"), rows)
    if found := complaints(kinds, plans, pools):
        sys.exit("error: " + "\nerror: ".join(found))


if __name__ == "__main__":
    main()
