"""Word vectors in training: rows of half a kilobyte, gathered and written back by zipf."""

import sys

from truth.program import Script

SCRIPT = '''
"""Skip-grams with negative samples, in batches, over two tables of vectors."""
import sys

import numpy

ROWS, COLUMNS, BATCH = 280_000, 128, 2048
rng = numpy.random.default_rng(int(sys.argv[1]))
sums = numpy.cumsum(1 / numpy.arange(1, ROWS + 1) ** 1.05)
place = rng.permutation(ROWS)
inner, outer = (rng.standard_normal((ROWS, COLUMNS), dtype=numpy.float32) for _ in range(2))


def draw(count, power):
    """Words by zipf, or flatter, as negative samples are."""
    return place[numpy.searchsorted(sums, rng.random(count) ** power * sums[-1])]


while True:
    words, others = draw(BATCH, 1.0), draw(BATCH, 0.75)
    sign = numpy.where(rng.random(BATCH) < 0.2, 1, 0).astype(numpy.float32)
    a, b = inner[words], outer[others]
    slope = 0.02 * (sign - 1 / (1 + numpy.exp(-numpy.einsum("ij,ij->i", a, b))))[:, None]
    inner[words] = a + slope * b
    outer[others] = b + slope * a
'''


class Embedding(Script):
    """Rows of 512 bytes, eight lines in a row."""

    name = "embedding"
    about = "numpy, skip-grams over two tables of 280,000 vectors of 512 bytes, zipf 1.05, scattered"
    file = "train.py"
    text = SCRIPT
    packages = ("python3",)
    fill_seconds = 25

    def environment(self, place):
        return {"OPENBLAS_NUM_THREADS": "1"}

    def command(self, place):
        return [sys.executable, str(self.script(place)), str(place.seed)]
