"""A chess engine: positions hashed into a table, anywhere."""

from truth.program import Program


class Stockfish(Program):
    """A transposition table of 256 MiB, one line at a time, beside a network's weights."""

    name = "stockfish"
    about = "stockfish, one thread, 256 MiB of hash, its own positions 30 plies deep"
    packages = ("stockfish",)
    fill_seconds = 20

    def command(self, place):
        return ["/usr/games/stockfish", "bench", "256", "1", "30"]
