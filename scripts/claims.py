#!/usr/bin/env python3
"""Checks that every test named in docs/specification.md and SECURITY.md exists in the crate that it
names, and that no two claims of a page have the same number.

A test is named as `crate: name`; names that follow without a crate belong to the one before, up
to the next semicolon or cell."""

import pathlib
import re
import sys

FOLDERS = {"lab": "lab", "workloads": "workloads"}
PAGES = [pathlib.Path("docs/specification.md"), pathlib.Path("SECURITY.md")]


def tests_of(crate: str) -> set[str]:
    folder = pathlib.Path(FOLDERS.get(crate, f"crates/{crate}"))
    code = "\n".join(file.read_text(encoding="utf-8") for file in sorted(folder.rglob("*.rs")))
    # Also inside of proptest!, where the attribute stands some lines above.
    return set(re.findall(r"\bfn (\w+)\s*\(", code))


known: dict[str, set[str]] = {}
wrong = 0
for page in PAGES:
    claims: dict[str, int] = {}
    named = 0
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        claim = re.match(r"\| (\d+) \|", line)
        if not claim:
            continue
        first = claims.setdefault(claim[1], number)
        if first != number:
            print(f"{page}:{number}: {claim[1]} is the number of the claim in line {first}, too")
            wrong += 1
        for part in re.split(r"[;|]", line):
            crate = None
            for prefix, name in re.findall(r"`(?:([a-z]+): )?([a-z0-9]+(?:_[a-z0-9]+)+)`", part):
                crate = prefix or crate
                if crate is None:
                    continue  # a column or a key, no test
                named += 1
                if name not in known.setdefault(crate, tests_of(crate)):
                    print(f"{page}:{number}: there is no test {name} in {crate}")
                    wrong += 1
    if not named:
        sys.exit(f"{page} names no tests; has its form changed?")
sys.exit(1 if wrong else 0)
