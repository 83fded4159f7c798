"""RocksDB's own benchmark: a block cache over sorted tables, most keys from a part of them."""

import subprocess

from truth.program import Program


class Rocksdb(Program):
    """Blocks of 4 KiB of a dozen values in a cache, beside the tables' indexes and filters."""

    name = "rocksdb"
    about = "RocksDB 7.8, db_bench, 3 million values of 200 bytes, read at random with a skew, block cache of 300 MB"
    packages = ("rocksdb-tools",)
    fill_seconds = 120

    def data(self, place):
        return place.inputs / "rocksdb"

    def words(self, place, *more):
        return ["db_bench", f"--db={self.data(place)}", "--num=3000000", "--value_size=200", "--compression_type=none",
                "--bloom_bits=10", f"--seed={place.seed}", "--cache_size=300000000", *more]

    def prepare(self, place):
        done = self.data(place).with_suffix(".done")
        if not done.exists():
            words = self.words(place, "--benchmarks=fillrandom,compact", "--disable_wal=1")
            subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            done.touch()

    def command(self, place):
        return self.words(place, "--use_existing_db=1", "--benchmarks=readrandom", "--read_random_exp_range=6",
                          "--reads=1000000000", "--readonly=1")
