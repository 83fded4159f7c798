#!/usr/bin/env python3
"""Checks that every relative link in the tracked Markdown files leads to a file, and `#heading` to a
heading of it or to an `<a id>`."""

import functools
import pathlib
import re
import subprocess
import sys


@functools.cache
def anchors(page: pathlib.Path) -> set[str]:
    """By GitHub's rule: lower case, no punctuation, a hyphen for each blank; -1, -2 for those that repeat."""
    text = re.sub(r"(?ms)^ *```.*?^ *```", "", page.read_text(encoding="utf-8"))
    there = set(re.findall(r"<a id=\"([^\"]+)\"", text))
    for heading in re.findall(r"(?m)^#{1,6} +(.+?)[ #]*$", text):
        words = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        name = first = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        again = 0
        while name in there:
            again += 1
            name = f"{first}-{again}"
        there.add(name)
    return there


listed = subprocess.run(["git", "ls-files", "-z", "*.md"], check=True, stdout=subprocess.PIPE)
broken = 0
for name in filter(None, listed.stdout.decode().split("\0")):
    page = pathlib.Path(name)
    if not page.exists():
        continue
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        for link in re.findall(r"\]\(([^)\s]+)\)", line):
            if "://" in link:
                continue
            path, _, anchor = link.partition("#")
            target = page.parent / path if path else page
            if not target.exists():
                print(f"{name}:{number}: {link} leads nowhere")
                broken += 1
            elif anchor and target.suffix == ".md" and anchor not in anchors(target):
                print(f"{name}:{number}: {link} leads to no heading of {target.name}")
                broken += 1
sys.exit(1 if broken else 0)
