"""A linear solver over sparse data whose features are as unequally frequent as words are."""

import itertools
import os

from truth.program import Program, kept

ROWS, PER_ROW, FEATURES = 100_000, 100, 1_000_000


def write(path, rng):
    """Rows of about 100 features each, drawn by zipf 1.0, with a label that a few of them decide."""
    sums = list(itertools.accumulate(1 / rank for rank in range(1, FEATURES + 1)))
    table = [f" {i + 1}:{rng.uniform(0.1, 1):.3f}" for i in range(FEATURES)]
    with path.open("w", encoding="ascii") as file:
        for _ in range(ROWS):
            row = sorted(set(rng.choices(range(FEATURES), cum_weights=sums, k=PER_ROW)))
            label = "+1" if (sum(row[: PER_ROW // 4]) + rng.randrange(7)) % 2 else "-1"
            file.write(label + "".join([table[i] for i in row]) + "\n")


class Liblinear(Program):
    """Dual coordinate descent: rows in random order, and one weight per feature."""

    name = "liblinear"
    about = "liblinear-train -s 1 on 100,000 rows of 100 of a million features, drawn by zipf 1.0"
    packages = ("liblinear-tools",)
    fill_seconds = 25

    def data(self, place):
        return place.inputs / f"liblinear-{place.seed}.txt"

    def prepare(self, place):
        kept(self.data(place), lambda path: write(path, place.random()))

    def command(self, place):
        return ["liblinear-train", "-s", "1", "-e", "1e-12", "-q", str(self.data(place)), os.devnull]
