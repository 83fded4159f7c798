"""The project's own programs with known patterns: a graph, and objects of unequal popularity."""

from truth.program import Program


class Own(Program):
    """`pagetide workload`: populated before it says ready."""

    words = ()

    def command(self, place):
        # The emulator passes no advice about huge pages on: there the bench makes them.
        page = self.page if place.native else "4K"
        words = [str(place.pagetide), "workload", *self.words, "--page-size", page]
        return [*words, "--seed", str(place.seed), "--seconds", "100000"]


class Graph(Own):
    """Breadth-first searches and PageRank in turn."""

    name = "graph"
    about = "workload graph, 2 million vertices, 16 edges each: breadth-first searches and PageRank in turn"
    words = ("graph", "--scale", "21")
    fill_seconds = 40


class Zipf(Own):
    """Popular objects anywhere."""

    name = "zipf"
    about = "workload zipf, 400 MiB of objects of 4 KiB, exponent 0.99, scattered"
    words = ("zipf", "--size", "400M", "--keys", "scattered")
    fill_seconds = 10


class ZipfHuge(Zipf):
    """The same on huge pages."""

    name = "zipf-huge"
    about = Zipf.about + ", on huge pages"
    page = "2M"


class HotColdHuge(Own):
    """Two temperatures."""

    name = "hot-cold-huge"
    about = "workload hot-cold, 512 MiB, a quarter of it 20 times as hot, on huge pages"
    words = ("hot-cold", "--size", "512M", "--hot", "128M", "--ratio", "20")
    page = "2M"
    fill_seconds = 10
