#!/usr/bin/env python3
"""Checks that every dependency may be distributed with Pagetide.

Reads `cargo metadata`; fails on a licence that is not on the list below. With --list, prints
each crate of the binary with its version and licence instead (for the release)."""

import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tomllib

ALLOWED = {
    "0BSD", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD-2-Clause", "BSD-3-Clause",
    "BSL-1.0", "CC0-1.0", "ISC", "MIT", "MIT-0", "Unicode-3.0", "Unlicense", "Zlib",
}  # fmt: skip


def allowed(expression):
    """Evaluates an SPDX expression: OR needs one side, AND both; AND binds tighter."""
    tokens = re.findall(r"\(|\)|[^\s()]+", expression.replace("/", " OR "))

    def either():
        found = both()
        while tokens and tokens[0] == "OR":
            tokens.pop(0)
            found = both() or found
        return found

    def both():
        found = one()
        while tokens and tokens[0] == "AND":
            tokens.pop(0)
            found = one() and found
        return found

    def one():
        token = tokens.pop(0)
        if token == "(":
            found = either()
            tokens.pop(0)
            return found
        if tokens and tokens[0] == "WITH":
            tokens.pop(0)
            token += " WITH " + tokens.pop(0)
        return token in ALLOWED

    return either()


def packages(kinds):
    """Packages that the workspace reaches through dependencies of these kinds."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    command += ["--filter-platform", "x86_64-unknown-linux-gnu"]
    metadata = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    todo, seen = list(metadata["workspace_members"]), set()
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            for dependency in nodes[name]["deps"]:
                if any(kind["kind"] in kinds for kind in dependency["dep_kinds"]):
                    todo.append(dependency["pkg"])
    found = [package for package in metadata["packages"] if package["id"] in seen]
    return sorted(found, key=lambda package: (package["name"], package["version"]))


def vendored():
    """What is committed as it was published, each with an origin.toml that says what it is."""
    root = pathlib.Path(__file__).parent.parent
    for path in sorted(root.glob("crates/*/vendor/*/origin.toml")):
        origin = tomllib.loads(path.read_text())
        yield {**origin, "folder": path.parent}


def vendored_problems(origin):
    """Files that are not as published, a licence that is not allowed or not there."""
    if not allowed(origin["license"]):
        yield f"{origin['license']} is not allowed"
    if not (origin["folder"] / "LICENSE").is_file():
        yield "its LICENSE is missing"
    for file, expected in origin["sha256"].items():
        found = hashlib.sha256((origin["folder"] / file).read_bytes()).hexdigest()
        if found != expected:
            yield f"{file} is not as published"


def main():
    if sys.argv[1:] == ["--list"]:
        for package in [*packages({None}), *vendored()]:
            print(f"{package['name']} {package['version']}: {package['license']}")
        return
    assert allowed("MIT/Apache-2.0") and allowed("(MIT OR GPL-3.0) AND Zlib")
    assert not allowed("MIT AND GPL-3.0") and not allowed("GPL-2.0-only")
    checked = packages({None, "build", "dev"})
    bad = [p for p in checked if not p["license"] or not allowed(p["license"])]
    for package in bad:
        print(f"{package['name']} {package['version']}: {package['license']} is not allowed")
    others = list(vendored())
    for origin in others:
        for problem in vendored_problems(origin):
            bad.append(origin)
            print(f"{origin['folder']}: {problem}")
    if bad:
        sys.exit(1)
    print(f"    {len(checked)} packages and {len(others)} vendored, all allowed")


if __name__ == "__main__":
    main()
