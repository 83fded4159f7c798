"""A compressor with a long window over text and tables."""

import itertools

from truth.program import Program, kept

MEGABYTES = 700


def write(path, rng):
    """Paragraphs of words drawn by zipf 1.0, some of them said before, and rows of numbers between them."""
    letters = "etaoinshrdlucmfwypvbgkqjxz"
    weights = [1 / (rank + 2) for rank in range(len(letters))]
    words = ["".join(rng.choices(letters, weights, k=rng.randint(2, 11))) for _ in range(200_000)]
    sums = list(itertools.accumulate(1 / rank for rank in range(1, len(words) + 1)))
    old = []
    left = MEGABYTES * 10**6
    with path.open("wb") as file:
        while left > 0:
            kind = rng.random()
            if kind < 0.35 and old:
                block = rng.choice(old)
            elif kind < 0.85:
                block = " ".join(rng.choices(words, cum_weights=sums, k=6000)).encode() + b".\n"
            else:
                row = rng.randrange(10**9)
                lines = (f"{row + i},{rng.random():.6f},{rng.choice(words)}\n" for i in range(800))
                block = "".join(lines).encode()
            old.append(block)
            if len(old) > 3000:  # what is repeated lies up to about 100 MB back
                old.pop(0)
            file.write(block)
            left -= len(block)


class Zstd(Program):
    """Hash chains over a window of 128 MiB."""

    name = "zstd"
    about = "zstd -9 --long=27, one thread, on 700 MB of words and tables"
    packages = ("zstd",)
    fill_seconds = 30

    def text(self, place):
        return place.inputs / f"text-{place.seed}.txt"

    def prepare(self, place):
        kept(self.text(place), lambda path: write(path, place.random()))

    def command(self, place):
        return ["zstd", "-9", "--long=27", "--single-thread", "-q", "-c", "-o", "/dev/null", "-f", str(self.text(place))]
