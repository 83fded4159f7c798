"""redis-server under the project's own load: the demo's mix, and popular keys scattered over the memory."""

import re
import subprocess

from truth.program import Program, Served


class Redis(Program):
    """A store of objects that an allocator has put in the order of filling."""

    packages = ("redis-server",)
    server = True
    keys = 400_000
    load = ()

    def socket(self, place):
        return place.folder / "socket"

    def command(self, place):
        words = ["redis-server", "--port", "0", "--save", "", "--appendonly", "no", "--databases", "1"]
        return [*words, "--dir", str(place.folder), "--unixsocket", str(self.socket(place))]

    def ready(self, place):
        return self.socket(place).exists()

    def fill(self, place, seconds):
        """One process fills and serves, for it fills whenever it starts."""
        words = [place.pagetide, "workload", "redis-load", "--server", self.socket(place)]
        words += ["--keys", self.keys, "--seconds", seconds, "--seed", place.seed, *self.load]
        self.client = subprocess.Popen([str(word) for word in words], text=True, stdout=subprocess.PIPE)
        if "ready" not in self.client.stdout.readline():
            raise RuntimeError("the load of redis ended before it had filled the store")

    def serve(self, place, seconds):
        found = re.search(r"requests=(\d+) seconds=([\d.]+) .*missing=(\d+)", self.client.stdout.read())
        self.client.wait()
        return Served(int(found[1]), float(found[2]), int(found[3]))


class Latest(Redis):
    """The demo's load."""

    name = "redis-latest"
    about = "redis-server, 400,000 values of 1,000 bytes, zipf 1.2, the latest popular (the demo's load)"


class Scattered(Redis):
    """Popular keys anywhere."""

    name = "redis-scattered"
    about = "redis-server, 300,000 values of 1,000 bytes, zipf 0.99, popular keys scattered"
    keys = 300_000
    load = ("--popular", "scattered", "--exponent", "0.99")
