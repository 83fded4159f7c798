#!/usr/bin/env python3
"""Runs libCacheSim over a trace, one cache per line of the answer: peer.py TRACE POLICY HASHPOWER SIZE...
Time counts from before the cache is made to after the last request; Python's own start does not count."""

import json
import sys
import time

import libcachesim

PAGE = 4096


def run(trace, policy, hashpower, pages):
    """One cache over the whole trace."""
    wall, cpu = time.perf_counter(), time.process_time()
    options = {} if hashpower == "default" else {"hashpower": int(hashpower)}
    cache = getattr(libcachesim, policy)(cache_size=pages * PAGE, **options)
    reader = libcachesim.TraceReader(trace, libcachesim.TraceType.ORACLE_GENERAL_TRACE)
    ratio, _ = cache.process_trace(reader)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(json.dumps({"pages": pages, "miss_ratio": ratio, "wall_s": wall, "cpu_s": cpu}), flush=True)


if __name__ == "__main__":
    for size in sys.argv[4:]:
        run(sys.argv[1], sys.argv[2], sys.argv[3], int(size))
