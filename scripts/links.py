#!/usr/bin/env python3
"""Checks that every relative link in the tracked Markdown files leads to a file."""

import pathlib
import re
import subprocess
import sys

listed = subprocess.run(["git", "ls-files", "-z", "*.md"], check=True, stdout=subprocess.PIPE)
broken = 0
for name in filter(None, listed.stdout.decode().split("\0")):
    page = pathlib.Path(name)
    if not page.exists():
        continue
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        for link in re.findall(r"\]\(([^)\s]+)\)", line):
            path = link.split("#")[0]
            if path and "://" not in path and not (page.parent / path).exists():
                print(f"{name}:{number}: {link} leads nowhere")
                broken += 1
sys.exit(1 if broken else 0)
