"""Programs, each larger than the fast memory that it gets. Their memory is on the fast tier first, until
that is full, as the kernel does it."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Program:
    """What runs in a guest."""

    name: str
    about: str
    # Of `pagetide workload`.
    words: str
    # What it uses, MiB.
    size: int
    # Programs of the host that it needs.
    needs: tuple = ()


SIZE = 720
PROGRAMS = [
    Program(
        "hot-cold",
        "random reads, 96 of 720 MiB 400 times as often as the rest, scattered",
        f"hot-cold --size {SIZE}M --hot 96M --ratio 400 --page-size {{page}} --seconds 9999",
        SIZE,
    ),
    Program(
        "zipf",
        "objects of 4 KiB, the k-th with a probability of k^-1.2, scattered",
        f"zipf --size {SIZE}M --exponent 1.2 --keys scattered --page-size {{page}} --seconds 9999",
        SIZE,
    ),
    Program(
        "phases",
        "random reads in one of four sets of 96 MiB, another one every 30 s",
        f"phases --size {SIZE}M --sets 4 --set-size 96M --every 30 --page-size {{page}} --seconds 9999",
        SIZE,
    ),
    Program(
        "graph",
        "PageRank over a Kronecker graph of 2^21 vertices",
        "graph --scale 21 --algorithm pagerank --page-size {page} --seconds 9999",
        310,
    ),
    Program(
        "gups",
        "random updates everywhere: nothing is hot",
        f"gups --size {SIZE}M --page-size {{page}} --seconds 9999",
        SIZE,
    ),
    Program(
        "redis",
        "redis-server, 600,000 values of 1,000 bytes, zipf 0.99, popular keys scattered",
        "demo-redis --keys 600000 --popular scattered --exponent 0.99 --seconds 9999",
        720,
        ("redis-server",),
    ),
]
# Fast memory, MiB, of which the kernel and what the lab takes along have about 70.
DRAM = (256, 384)
# The same where all of their memory fits.
ALONE = 1536
MODES = ("none", "kernel", "pagetide")
