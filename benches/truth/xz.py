"""A compressor that finds matches in binary trees over its window."""

from truth.zstd import Zstd


class Xz(Zstd):
    """A tree node of two numbers for each byte of 16 MiB, beside the window and a hash table."""

    name = "xz"
    about = "xz -7, one thread, on 700 MB of words and tables"
    packages = ("xz-utils",)
    fill_seconds = 60

    def command(self, place):
        return ["xz", "-7", "-T1", "-k", "-c", str(self.text(place))]
