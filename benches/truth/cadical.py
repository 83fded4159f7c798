"""A SAT solver on a random formula."""

from truth.program import Program, kept

VARIABLES, CLAUSES = 700_000, 2_800_000


def write(path, rng):
    """Clauses of three literals each: random 3-SAT below the threshold, which takes long at this size."""
    with path.open("w", encoding="ascii") as file:
        file.write(f"p cnf {VARIABLES} {CLAUSES}\n")
        for _ in range(CLAUSES):
            a, b, c = (rng.randrange(1, VARIABLES + 1) * rng.choice((1, -1)) for _ in range(3))
            file.write(f"{a} {b} {c} 0\n")


class Cadical(Program):
    """Watches of literals and clauses all over the memory."""

    name = "cadical"
    about = "cadical on random 3-SAT, 700,000 variables, 2.8 million clauses"
    packages = ("cadical",)
    fill_seconds = 25

    def formula(self, place):
        return place.inputs / f"cadical-{place.seed}.cnf"

    def prepare(self, place):
        kept(self.formula(place), lambda path: write(path, place.random()))

    def command(self, place):
        return ["cadical", "-q", "-n", f"--seed={place.seed}", str(self.formula(place))]
