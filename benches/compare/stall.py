"""Modelled stall: what a program would wait for memory on the default machine, by what the meter counted, and what moves and the
observer take besides. Not in it is what the kernel's own scans and hint faults take."""

import pathlib
import tomllib

MACHINE = tomllib.loads((pathlib.Path(__file__).parents[2] / "machines/cxl.toml").read_text(encoding="utf-8"))
FAST_NS, SLOW_NS = (tier["read_latency_ns"] for tier in MACHINE["tier"])
BASE_US, HUGE_US = MACHINE["migration"]["page_4k_us"], MACHINE["migration"]["page_2m_us"]


def seconds_a_second(over_time, moved, observer_s):
    """Of misses by time (second, all, from fast memory), base and huge pages that moved, and CPU seconds of the observer."""
    all_, fast = (sum(row[at] for row in over_time) for at in (1, 2))
    waits_s = (fast * FAST_NS + (all_ - fast) * SLOW_NS) * 1e-9
    base, huge = moved
    return (waits_s + (base * BASE_US + huge * HUGE_US) * 1e-6 + observer_s) / over_time[-1][0]


def observer_s(run):
    """What Pagetide's run took besides moving, CPU seconds."""
    return run["cpu_s"] - run["moves"]["cpu_ns"] * 1e-9 if run and "cpu_s" in run else 0.0


def page_us(run):
    """What moving a base page took, CPU time in us; none where few moved, or huge ones, too."""
    moves = (run or {}).get("moves", {})
    if "cpu_ns" not in moves:
        return None
    base, huge = (sum(moves.get(way, {}).get(size, 0) for way in ("promoted", "demoted")) for size in ("base_pages", "huge_pages"))
    return moves["cpu_ns"] * 1e-3 / base if base >= 10_000 and not huge else None
