#!/usr/bin/env python3
"""Checks that every test named in docs/specification.md and SECURITY.md exists in the crate that it
names, and that no two claims of a page have the same number.

A test is named as `crate: name`; names that follow without a crate belong to the one before, up
to the next semicolon or cell. Tests of a claim that has many stand at the end of its page, in an entry
of a list that the claim links (`tests-NUMBER`)."""

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
    listed: dict[str, int] = {}
    linked: set[str] = set()
    named = 0
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        claim = re.match(r"\| (\d+) \|", line)
        entry = re.match(r'- <a id="tests-(\d+)">', line)
        if not claim and not entry:
            continue
        linked |= set(re.findall(r"\]\(#tests-(\d+)\)", line)) & ({claim[1]} if claim else set())
        first = (claims if claim else listed).setdefault((claim or entry)[1], number)
        if first != number:
            print(f"{page}:{number}: {(claim or entry)[1]} is the number of line {first}, too")
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
    for claim in sorted(set(listed) - linked, key=int):
        print(f"{page}:{listed[claim]}: no claim links these tests")
        wrong += 1
    if not named:
        sys.exit(f"{page} names no tests; has its form changed?")
sys.exit(1 if wrong else 0)
