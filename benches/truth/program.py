"""What a program of the truth bench is: its command, its input, its load and when its memory is full."""

import dataclasses
import pathlib
import random


@dataclasses.dataclass
class Place:
    """Where one run of a program works, and what its random choices come from."""

    inputs: pathlib.Path  # kept between runs: what is made from the seed
    folder: pathlib.Path  # of this run: sockets, data that the program writes
    pagetide: pathlib.Path  # its load generators
    seed: int = 1
    native: bool = False

    def random(self):
        """The generator of all random choices."""
        return random.Random(self.seed)


@dataclasses.dataclass
class Served:
    """What a load did."""

    requests: int
    seconds: float
    missing: int = 0


class Program:
    """One program. A batch program defines `prepare` and `command`; a server also `ready`, `fill` and `serve`."""

    name = ""
    about = ""  # one line: version, data, load
    packages = ()  # Debian packages
    page = "4K"  # what maps its memory: base pages, or huge pages once it is full
    seconds = 75  # how long the emulated program is watched after it is full
    native_seconds = 45  # the same for a native run
    fill_seconds = 0  # what a batch program needs to fill its memory, emulated
    user = None  # who runs it, if not the caller
    record = ()  # options of the sampling recorder
    server = False

    def prepare(self, place):
        """Makes the input; what is already there stays."""

    def command(self, place):
        """The program and its arguments."""
        raise NotImplementedError

    def environment(self, place):
        """What it needs in its environment beside ours."""
        return {}

    def ready(self, place):
        """Whether a server answers."""
        return True

    def fill(self, place, seconds):
        """Fills a server's memory; a load of so many seconds follows."""

    def serve(self, place, seconds):
        """Loads a server for so long; returns Served."""


class Script(Program):
    """A batch program that an interpreter reads."""

    file = ""  # its name
    text = ""

    def script(self, place):
        return place.inputs / self.file

    def prepare(self, place):
        self.script(place).write_text(self.text, encoding="utf-8")


def kept(path, make):
    """The file, made by `make(temporary path)` unless it is there."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        half = path.with_name(path.name + ".half")
        make(half)
        half.rename(path)
    return path
