"""Records one program: exactly and sampled in the same emulated run, or sampled natively."""

import os
import shutil
import subprocess
import sys
import time

from truth import guest, target
from truth.program import Served

WALL = 3  # times as long as asked for, at most: the machine may have other work


def say(text):
    print(f"    {text}", file=sys.stderr, flush=True)


def wait_ready(program, place, process, seconds=120):
    """Until a server answers."""
    until = time.monotonic() + seconds
    while not program.ready(place):
        if process.poll() is not None or time.monotonic() > until:
            raise RuntimeError(f"{program.name} did not start to serve; see {place.folder}/log")
        time.sleep(0.2)


def compute(pid, process, seconds):
    """Lets a batch program compute for so many CPU seconds, or to its end."""
    until = time.monotonic() + WALL * seconds
    goal = target.used(pid)[0] + seconds
    while process.poll() is None and time.monotonic() < until and target.used(pid)[0] < goal:
        time.sleep(0.5)


def live(program, place, process, pid, seconds):
    """The program's life: filled, on its pages, loaded; returns what was served and how it was."""
    begun, said = time.monotonic(), {}
    if program.server:
        wait_ready(program, place, process)
        program.fill(place, seconds)
    else:
        compute(pid, process, 0 if place.native else program.fill_seconds)
    said["fill_s"] = round(time.monotonic() - begun, 1)
    if program.page == "2M" and not place.native:
        said["collapsed"] = round(target.collapse(pid), 3)
    say(f"filled: {said}")
    begun = time.monotonic()
    served = Served(0, 0.0)
    if program.server:
        served = program.serve(place, seconds)
    else:
        compute(pid, process, seconds)
    cpu, resident = target.used(pid)
    said |= {"watched_s": round(time.monotonic() - begun, 1), "cpu_s": round(cpu, 1), "resident_bytes": resident}
    said |= {"requests": served.requests, "served_s": round(served.seconds, 1), "missing": served.missing}
    return said


def own_copy(program, place, binary):
    """A program that the user of a target can start, wherever the checkout lies."""
    if not program.user:
        return binary
    return shutil.copy(binary, place.folder / "pagetide")


def attach(args, program, pid, output, log, native=False):
    """The sampling recorder, on a process that runs."""
    words = [args.sampler, "record", "-q", "-p", pid, "--epoch", args.epoch, "-o", output]
    if not native:
        words += ["--range", f"0-{target.GUEST_END:x}"]
    words += [*args.sampling, *program.record]
    return subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=log.open("a"),
                            stderr=subprocess.STDOUT, start_new_session=True)


def emulated(args, program, place):
    """Both recordings of one run: (exact or None, sampled, what is known of the run)."""
    log = place.folder / "log"
    log.touch(mode=0o666)
    log.chmod(0o666)
    words = program.command(place)
    arguments = words[1:]
    exact = None if args.no_exact else place.folder / "exact.heat"
    if exact:
        recorder = own_copy(program, place, args.pagetide)
        words = [recorder, "record", "--exact", "-q", "--epoch", args.exact_epoch, "-o", exact, "--", *words]
    else:
        words = [target.executable(target.EMULATOR), target.executable(words[0]), *words[1:]]
    # The plugin is built at first use; what another user runs keeps it in the run's folder.
    environment = {"PAGETIDE_CACHE": str(place.folder / "cache")} if program.user else None
    process = target.start(program, place, words, log, environment)
    sampler = None
    try:
        pid = target.emulated(process, arguments)
        sampler = attach(args, program, pid, place.folder / "all.heat", log)
        said = live(program, place, process, pid, args.seconds or program.seconds)
        target.end(sampler)
    finally:
        target.end(process)
        if sampler:
            target.end(sampler)
    sampled = place.folder / "sampled.heat"
    guest.cut(place.folder / "all.heat", sampled, exact, began=True)
    return exact, sampled, said


def native(args, program, place):
    """The sampled recording of a native run with the same seed."""
    log = place.folder / "log-native"
    log.touch()
    log.chmod(0o666)
    output = place.folder / "native.heat"
    words = program.command(place)
    if not program.user:
        recorder = [args.sampler, "record", "-q", "--epoch", args.epoch, "-o", output]
        words = [*recorder, *args.sampling, *program.record, "--", *words]
    process = target.start(program, place, words, log)
    sampler = None
    try:
        if program.user:
            sampler = attach(args, program, process.pid, output, log, native=True)
        said = live(program, place, process, process.pid, args.native_seconds or program.native_seconds)
        if sampler:
            target.end(sampler)
    finally:
        target.end(process)
        if sampler:
            target.end(sampler)
    return output, said


def prepare(program, place):
    """Its input, and a folder that its user may enter."""
    os.chmod(place.folder, 0o755)
    place.inputs.mkdir(parents=True, exist_ok=True)
    program.prepare(place)
