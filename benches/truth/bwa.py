"""An aligner of sequenced reads: walks through a compressed index of a genome."""

import subprocess

from truth.program import Program, kept

BASES, READS, LENGTH = 160_000_000, 3_000_000, 100


def genome(path, rng):
    """Random bases, a third of them copies of a few thousand elements, as genomes have them."""
    elements = ["".join(rng.choices("ACGT", k=rng.randint(300, 6000))) for _ in range(2000)]
    written = 0
    with path.open("w", encoding="ascii") as file:
        file.write(">one\n")
        while written < BASES:
            if rng.random() < 0.33:
                piece = rng.choice(elements)
            else:
                piece = "".join(rng.choices("ACGT", k=3000))
            file.write(piece + "\n")
            written += len(piece)


def reads(path, rng, text):
    """Half of them from everywhere, half from genes that are read as unequally as cells do."""
    genes = [rng.randrange(len(text) - 5000) for _ in range(3000)]
    weights = [1 / rank for rank in range(1, len(genes) + 1)]
    with path.open("w", encoding="ascii") as file:
        for number in range(READS):
            start = rng.randrange(len(text) - LENGTH)
            if number % 2:
                start = rng.choices(genes, weights)[0] + rng.randrange(4000)
            read = text[start : start + LENGTH]
            at = rng.randrange(LENGTH)
            file.write(f"@{number}\n{read[:at]}{rng.choice('ACGT')}{read[at + 1 :]}\n+\n{'I' * LENGTH}\n")


class Bwa(Program):
    """Look-ups of a few lines, each at a place that the one before decides."""

    name = "bwa"
    about = "bwa mem, one thread, reads of 100 bases against 160 million, half of them of 3,000 genes"
    packages = ("bwa",)
    fill_seconds = 15

    def reference(self, place):
        return place.inputs / f"genome-{place.seed}.fa"

    def prepare(self, place):
        fasta = kept(self.reference(place), lambda path: genome(path, place.random()))
        if not fasta.with_suffix(".fa.sa").exists():
            subprocess.run(["bwa", "index", fasta], check=True, stderr=subprocess.DEVNULL)

        def write(path):
            text = fasta.read_text(encoding="ascii").split("\n", 1)[1].replace("\n", "")
            reads(path, place.random(), text)

        kept(self.reads(place), write)

    def reads(self, place):
        return place.inputs / f"reads-{place.seed}.fq"

    def command(self, place):
        return ["bwa", "mem", "-t", "1", "-v", "1", "-o", "/dev/null", str(self.reference(place)), str(self.reads(place))]
