#!/usr/bin/env python3
"""The memory for 96.7 % of the misses, straight from the tables of recordings and not through the
replay: of a sampled recording, and of an exact one of the same run if there is one."""

import argparse
import pathlib

from truth import raw


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sampled", type=pathlib.Path, help="a recording by accessed bits (or any)")
    parser.add_argument("exact", type=pathlib.Path, nargs="?", help="exact counts of the same run")
    parser.add_argument("--skip", type=int, default=0, help="epochs of the sampled recording to leave out")
    parser.add_argument("--skip-exact", type=int, default=0, help="epochs of the exact one to leave out")
    args = parser.parse_args()
    plans = [{"warm_up": {"epochs": skip}} for skip in (args.skip_exact, args.skip)]
    print(raw.show(raw.answers(args.exact, plans[0], args.sampled, plans[1])))


if __name__ == "__main__":
    main()
