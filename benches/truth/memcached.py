"""memcached with popular keys scattered over its slabs, loaded by a client of ours over a unix socket."""

import bisect
import itertools
import socket
import time

from truth.program import Program, Served

BATCH = 64  # keys asked for at once


class Client:
    """Speaks memcached's text protocol."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(str(path))
        self.input = self.socket.makefile("rb", 1 << 20)

    def fill(self, keys, value):
        """Sets all keys, many in flight."""
        for start in range(0, keys, 256):
            batch = range(start, min(start + 256, keys))
            # The last of a batch is answered: everything before it has been set.
            words = [b"set %012d 0 0 %d noreply\r\n%s\r\n" % (key, len(value), value) for key in batch]
            self.socket.sendall(b"".join(words) + b"mn\r\n")
            self.input.readline()

    def get(self, keys):
        """Asks for keys at once; how many were there."""
        self.socket.sendall(b"get " + b" ".join(b"%012d" % key for key in keys) + b"\r\n")
        found = 0
        while (line := self.input.readline()) != b"END\r\n":
            self.input.read(int(line.rsplit(b" ", 1)[1]) + 2)
            found += 1
        return found


class Memcached(Program):
    """A store that puts objects of like size into slabs."""

    name = "memcached"
    about = "memcached, one thread, 400,000 values of 1,000 bytes, zipf 1.0, popular keys scattered, 5 % writes"
    packages = ("memcached",)
    server = True
    keys = 400_000
    exponent = 1.0

    def path(self, place):
        return place.folder / "socket"

    def command(self, place):
        # -u: as root it would want another user; the socket is ours alone.
        return ["memcached", "-u", "root", "-s", str(self.path(place)), "-a", "700", "-m", "800", "-t", "1"]

    def ready(self, place):
        return self.path(place).exists()

    def fill(self, place, seconds):
        Client(self.path(place)).fill(self.keys, b"v" * 1000)

    def serve(self, place, seconds):
        rng = place.random()
        names = list(range(self.keys))
        rng.shuffle(names)
        sums = list(itertools.accumulate(1 / rank**self.exponent for rank in range(1, self.keys + 1)))
        client = Client(self.path(place))
        served = Served(0, 0.0)
        start = time.monotonic()
        while (now := time.monotonic() - start) < seconds:
            keys = [names[bisect.bisect_left(sums, rng.random() * sums[-1])] for _ in range(BATCH)]
            if rng.random() < 0.05:
                for key in keys:
                    client.socket.sendall(b"set %012d 0 0 1000 noreply\r\n%s\r\n" % (key, b"w" * 1000))
                client.socket.sendall(b"mn\r\n")
                client.input.readline()
            else:
                served.missing += len(keys) - client.get(keys)
            served.requests += len(keys)
        served.seconds = now
        return served
