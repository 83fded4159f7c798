#!/usr/bin/env python3
"""Targets that are made to cost a recorder much: 15 processes of 65,000 areas each, 30,000 threads, files with names of
4 KiB. What each costs it: memory at most, share of a core, beside an ordinary target of the same kind. Needs root."""

import ctypes
import json
import mmap
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

import common

PAGE = 4096
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
LIBC.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
# What a target may cost at most: memory of ours, and of one core, over a recording of half a minute at a budget of 1 %.
MOST_MEMORY_MIB = 512
MOST_SHARE = 0.1


def areas(number):
    """So many areas in this process, each other one a page that is touched."""
    private_anonymous = 0x22
    start = LIBC.mmap(None, number * PAGE, mmap.PROT_READ, private_anonymous, -1, 0)
    for page in range(0, number, 2):
        at = start + page * PAGE
        if LIBC.mprotect(at, PAGE, mmap.PROT_READ | mmap.PROT_WRITE):
            sys.exit(f"error: mprotect: {os.strerror(ctypes.get_errno())}; vm.max_map_count is too small")
        ctypes.memset(at, 1, 8)
    return start


def crowd_of_areas(processes, number):
    """Processes with so many areas each."""
    pids = []
    for _ in range(processes):
        pid = os.fork()
        if pid == 0:
            start = areas(number)
            while True:
                for page in range(0, number, 64):
                    ctypes.memset(start + page * PAGE, 2, 8)
                time.sleep(0.5)
        pids.append(pid)
    for pid in pids:
        while count_areas(pid) < number:
            time.sleep(0.2)
    return pids


def count_areas(pid):
    with open(f"/proc/{pid}/maps", "rb") as maps:
        return sum(1 for _ in maps)


def threads(number):
    """So many threads that sleep, on stacks from one mapping: each of its own would soon be more than vm.max_map_count."""
    stack = 16 << 10
    attributes, thread = (ctypes.c_char * 256)(), ctypes.c_ulong()
    pause = ctypes.cast(LIBC.pause, ctypes.c_void_p)
    start = LIBC.mmap(None, number * stack, mmap.PROT_READ | mmap.PROT_WRITE, 0x22, -1, 0)
    LIBC.pthread_attr_init(attributes)
    for at in range(start, start + number * stack, stack):
        LIBC.pthread_attr_setstack(attributes, ctypes.c_void_p(at), ctypes.c_size_t(stack))
        error = LIBC.pthread_create(ctypes.byref(thread), attributes, pause, None)
        if error:
            sys.exit(f"error: pthread_create: {os.strerror(error)}; are there enough process numbers?")


def crowd_of_threads(number):
    """A process with so many threads that sleep, and one that works."""
    pid = os.fork()
    if pid == 0:
        threads(number)
        start = areas(1000)
        while True:
            for page in range(0, 1000, 2):
                ctypes.memset(start + page * PAGE, 2, 8)
            time.sleep(0.01)
    while len(os.listdir(f"/proc/{pid}/task")) < number:
        time.sleep(0.5)
    return [pid]


def crowd_of_names(number, length, folder):
    """A process that maps files whose paths have so many bytes."""
    os.chdir(folder)
    left = length - len(folder) - 16
    while left > 0:
        part = "n" * min(left, 250)
        os.mkdir(part)
        os.chdir(part)
        left -= len(part) + 1
    for file in range(number):
        pathlib.Path(f"{file:08}").write_bytes(b"x" * PAGE)
    pid = os.fork()
    if pid == 0:
        maps = []
        for file in range(number):
            with open(f"{file:08}", "r+b") as opened:
                maps.append(mmap.mmap(opened.fileno(), PAGE))
        while True:
            for each in maps:
                each[0] = 1
            time.sleep(0.05)
    while count_areas(pid) < number:
        time.sleep(0.2)
    os.chdir("/")
    return [pid]


def record(args, pids, output):
    """Records them; the recorder's memory at most and its share of a core."""
    words = [str(args.pagetide), "record", "-q", "--for", f"{args.seconds}s", "-o", str(output)]
    for pid in pids:
        words += ["-p", str(pid)]
    started = time.monotonic()
    recorder = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    memory = 0
    # Of its own: what it waited for is the self-test's program, which has much memory.
    while recorder.poll() is None:
        found = re.search(r"VmHWM:\s+(\d+)", common.read(f"/proc/{recorder.pid}/status"))
        memory = max(memory, int(found[1]) if found else 0)
        time.sleep(0.1)
    said = recorder.stderr.read()
    wall = time.monotonic() - started
    if recorder.returncode:
        sys.exit(f"error: record ended with {recorder.returncode}: {said}")
    info = subprocess.run([str(args.pagetide), "trace", "info", "--json", str(output)], check=True, stdout=subprocess.PIPE)
    info = json.loads(info.stdout)
    return {
        "memory_mib": memory / 1024,
        "wall_s": wall,
        "epochs": info["epochs"],
        "seconds": info["seconds"],
        "recorder_share": info["recorder_share"],
        "watched_share": info["watched_share"],
        "areas": info["areas"],
        "units": info["units"],
        "disk_bytes": info["disk_bytes"],
        "said": [line for line in said.splitlines() if "note" in line],
    }


def main():
    parser = common.arguments(__doc__)
    parser.add_argument("--seconds", type=int, default=30, help="of each recording")
    parser.add_argument("--processes", type=int, default=15)
    parser.add_argument("--areas", type=int, default=65_000, help="of each process")
    parser.add_argument("--threads", type=int, default=30_000, help="with 32,768 process numbers on a machine that others use take fewer")
    parser.add_argument("--names", type=int, default=2_000, help="files")
    parser.add_argument("--only", help="one case")
    args = parser.parse_args()
    args.pagetide = args.pagetide.resolve()
    if os.geteuid():
        sys.exit("error: recording needs root")
    with tempfile.TemporaryDirectory(prefix="pagetide-crowds-", dir=args.scratch) as scratch:
        cases = {
            "one process, 1,000 areas": lambda: crowd_of_areas(1, 1_000),
            f"{args.processes} processes, {args.areas:,} areas each": lambda: crowd_of_areas(args.processes, args.areas),
            "one thread": lambda: crowd_of_threads(1),
            f"{args.threads:,} threads": lambda: crowd_of_threads(args.threads),
            f"{args.names:,} files, short names": lambda: crowd_of_names(args.names, 0, scratch),
            f"{args.names:,} files, names of 4 KiB": lambda: crowd_of_names(args.names, 4_000, scratch),
        }
        folder = args.results.resolve() / "crowds"
        folder.mkdir(parents=True, exist_ok=True)
        rows, bad = [], []
        for number, (name, crowd) in enumerate(cases.items()):
            path = folder / f"{number}.json"
            if not path.exists() and not args.show and (not args.only or args.only in name):
                os.chdir(common.ROOT)
                pids = crowd()
                try:
                    raw = record(args, pids, pathlib.Path(scratch) / f"{number}.heat")
                finally:
                    for pid in pids:
                        os.kill(pid, signal.SIGKILL)
                        os.waitpid(pid, 0)
                path.write_text(json.dumps({"case": name, **raw}, indent=1) + "\n", encoding="utf-8")
            if not path.exists():
                continue
            raw = json.loads(path.read_text(encoding="utf-8"))
            rows.append((raw["case"], raw["areas"], raw["epochs"], f"{raw['memory_mib']:.0f}",
                         f"{raw['recorder_share']:.1%}", f"{raw['watched_share']:.0%}"))
            if raw["memory_mib"] > MOST_MEMORY_MIB or raw["recorder_share"] > MOST_SHARE:
                bad.append(f"{raw['case']}: {raw['memory_mib']:.0f} MiB, {raw['recorder_share']:.1%} of a core")
    common.table(("target", "areas", "epochs", "memory, MiB", "of one core", "watched"), rows)
    if bad:
        sys.exit("error: beyond bounds: " + "; ".join(bad))


if __name__ == "__main__":
    main()
