"""Starting a program of the bench, emulated or natively, finding its processes, and choosing its pages."""

import ctypes
import os
import pathlib
import pwd
import re
import shutil
import signal
import subprocess
import time

LIBC = ctypes.CDLL(None, use_errno=True)
EMULATOR = "qemu-x86_64"
PR_SET_THP_DISABLE = 41
PROCESS_MADVISE, MADV_COLLAPSE = 440, 25
HUGE = 2 << 20
# The emulator maps the guest's memory below this address, and its own above it.
GUEST_END = 0x5000_0000_0000


class Iovec(ctypes.Structure):
    """One range of addresses for process_madvise."""

    _fields_ = (("start", ctypes.c_void_p), ("length", ctypes.c_size_t))


def base_pages():
    """Between fork and exec: no transparent huge pages for the program and what it starts."""
    LIBC.prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0)


def start(program, place, words, log, environment=None):
    """Starts the words in a process group of their own, as the program's user, on its pages."""
    more = {}
    if program.user:
        account = pwd.getpwnam(program.user)
        more = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
    return subprocess.Popen(
        [str(word) for word in words],
        cwd=place.folder,
        env=os.environ | program.environment(place) | (environment or {}),
        stdin=subprocess.DEVNULL,
        stdout=log.open("a"),
        stderr=subprocess.STDOUT,
        start_new_session=True,
        preexec_fn=base_pages if program.page == "4K" else None,
        **more,
    )


def end(process, seconds=60):
    """Asks the first process of a group to end, then ends all that is left of the group."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        pass
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def executable(path):
    """A program's path, for the emulator searches none."""
    found = shutil.which(path)
    if not found:
        raise RuntimeError(f"there is no program {path}; scripts/deps.sh truth installs what is missing")
    return found


def children(pid):
    """Process ids of all descendants, parents first."""
    found = []
    for task in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            direct = [int(word) for word in task.read_text().split()]
        except OSError:
            continue
        for child in direct:
            found += [child, *children(child)]
    return found


def emulated(process, arguments, seconds=60):
    """The emulator that runs a program with these arguments, among a recorder and its descendants: the
    recorder also has it run a small program, to time it."""
    arguments = [str(word) for word in arguments]
    until = time.monotonic() + seconds
    while time.monotonic() < until and process.poll() is None:
        for pid in (process.pid, *children(process.pid)):
            try:
                name = pathlib.Path(os.readlink(f"/proc/{pid}/exe")).name
                words = pathlib.Path(f"/proc/{pid}/cmdline").read_text().split("\0")[:-1]
            except OSError:
                continue
            if name.startswith(EMULATOR) and words[len(words) - len(arguments) :] == arguments:
                return pid
        time.sleep(0.02)
    raise RuntimeError("the emulator did not start")


def collapse(pid):
    """Maps a process's large private areas by huge pages, as THP would have; returns the share that came out so."""
    handle = os.pidfd_open(pid)
    areas = []
    for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines():
        found = re.match(r"(\w+)-(\w+) rw-p \w+ \S+ 0\s*(\S*)$", line)
        if found and int(found[2], 16) < GUEST_END:
            first, last = -(-int(found[1], 16) // HUGE) * HUGE, int(found[2], 16) // HUGE * HUGE
            areas += range(first, last, HUGE)
    huge = 0
    for address in areas:
        range_ = Iovec(address, HUGE)
        huge += LIBC.syscall(PROCESS_MADVISE, handle, ctypes.byref(range_), 1, MADV_COLLAPSE, 0) == HUGE
    os.close(handle)
    return huge / max(len(areas), 1)


def used(pid):
    """CPU seconds of a process and its descendants, and its resident bytes."""
    ticks, resident = 0, 0
    for each in (pid, *children(pid)):
        try:
            words = pathlib.Path(f"/proc/{each}/stat").read_text().rsplit(")", 1)[1].split()
            resident += int(words[21]) * os.sysconf("SC_PAGE_SIZE")
            ticks += int(words[11]) + int(words[12])
        except OSError:
            continue
    return ticks / os.sysconf("SC_CLK_TCK"), resident
