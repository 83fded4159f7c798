"""Lines sorted in memory: an array that is merged run by run, and the text that it points to."""

import itertools

from truth.program import Program, kept

LINES = 14_000_000


def write(path, rng):
    """Numbers of ten digits in any order, each before a short text."""
    with path.open("w", encoding="ascii") as file:
        for start in range(0, LINES, 100_000):
            file.writelines(f"{rng.randrange(10**10):010} line {i} of a log\n"
                            for i in itertools.islice(itertools.count(start), 100_000))


class Sort(Program):
    """Merges of ever longer runs, each over a part of the array."""

    name = "sort"
    about = "GNU sort, one thread, 14 million lines of some 33 bytes in memory"
    packages = ("coreutils",)
    fill_seconds = 15

    def lines(self, place):
        return place.inputs / f"lines-{place.seed}.txt"

    def prepare(self, place):
        kept(self.lines(place), lambda path: write(path, place.random()))

    def environment(self, place):
        return {"LC_ALL": "C"}

    def command(self, place):
        return ["sort", "--parallel=1", "-S", "1500M", "-o", "/dev/null", str(self.lines(place))]
