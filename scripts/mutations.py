#!/usr/bin/env python3
"""Undoes what SECURITY.md says is prevented, one mend at a time, and runs the test that the row names:
it must fail. Works on a copy in .cache/mutations, the tree stays as it is.

mutations.py [--again] [WORD...]   those of which test or file hold a word, or of that row; all without
mutations.py --check               only looks whether scripts/mutations.toml fits the code and SECURITY.md

What was seen to fail is kept in .cache/mutations/seen with the code it stood on, and not run again
until the crate of the test or of the mutation changes, but with --again."""

import hashlib
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import time
import tomllib

PLACE = pathlib.Path(".cache/mutations")
TREE, SEEN = PLACE / "tree", PLACE / "seen"
# Not the tree's own: cargo tells two trees of one workspace apart by the time of their files alone.
TARGET = (PLACE / "target").absolute()
PACKAGES = {"cli": "pagetide"}
# A mutation may make a test wait for ever, or allocate what it was to refuse.
LONGEST_S = 300
MOST_BYTES = 8 << 30


def changes(mutation: dict) -> list[dict]:
    return [mutation, *mutation.get("also", [])]


def named() -> dict[str, set[str]]:
    """The tests of each row of SECURITY.md, as `crate: name`; those in guests are not run here."""
    rows: dict[str, set[str]] = {}
    for line in pathlib.Path("SECURITY.md").read_text(encoding="utf-8").splitlines():
        row = re.match(r"\| (\d+) \|", line)
        for part in line.split(";") if row else []:
            crate = None
            for prefix, name in re.findall(r"`(?:([a-z]+): )?([a-z0-9]+(?:_[a-z0-9]+)+)`", part):
                crate = prefix or crate
                if crate and crate != "lab":
                    rows.setdefault(row[1], set()).add(f"{crate}: {name}")
    return rows


def check(mutations: list[dict]) -> int:
    """What does not fit."""
    wrong = []
    for mutation in mutations:
        for change in changes(mutation):
            file, old = pathlib.Path(change["file"]), change["old"]
            found = file.read_text(encoding="utf-8").count(old) if file.exists() else 0
            if found != 1:
                wrong.append(f"{file}: row {mutation['row']}: {old!r} stands there {found} times")
    undone = {(str(mutation["row"]), mutation["test"]) for mutation in mutations}
    there = {(row, test) for row, tests in named().items() for test in tests}
    wrong += [f"SECURITY.md: nothing is undone for {t}, row {r}" for r, t in sorted(there - undone)]
    wrong += [f"scripts/mutations.toml: row {r} does not name {t}" for r, t in sorted(undone - there)]
    for text in wrong:
        print(text)
    return len(wrong)


def copy_tree() -> None:
    """Brings the copy up to date; what is the same keeps its time, so that it is not built again."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    out = subprocess.run(listed, check=True, capture_output=True).stdout
    files = {pathlib.Path(os.fsdecode(name)) for name in out.split(b"\0") if name}
    files = {file for file in files if file.is_file() and not file.is_symlink()}
    for old in [path for path in TREE.rglob("*") if path.is_file()] if TREE.exists() else []:
        if old.relative_to(TREE) not in files:
            old.unlink()
    for file in files:
        there, content = TREE / file, file.read_bytes()
        if not there.exists() or there.read_bytes() != content:
            there.parent.mkdir(parents=True, exist_ok=True)
            there.write_bytes(content)
            there.chmod(file.stat().st_mode & 0o777)


def place_of(crate: str, name: str) -> list[str]:
    """How cargo is asked for the program that holds a test."""
    folder = TREE / "crates" / crate
    for file in sorted(folder.rglob("*.rs")):
        if re.search(rf"\bfn {name}\(", file.read_text(encoding="utf-8")):
            parts = file.relative_to(folder).parts
            if parts[0] == "tests":
                return ["--test", parts[1].removesuffix(".rs")]
            return ["--bins"] if crate == "cli" else ["--lib"]
    return []


def run(command: list[str], log) -> int | None:
    """Its exit code; none if it did not end in time."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, MOST_BYTES))
    environment = {**os.environ, "CARGO_TARGET_DIR": str(TARGET), "PROPTEST_RNG_SEED": "1"}
    process = subprocess.Popen(command, cwd=TREE, env=environment, stdout=log, stderr=log,
                               stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=limit)
    building = "--no-run" in command
    try:
        return process.wait(None if building else LONGEST_S)
    except subprocess.TimeoutExpired:
        return None
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def outcome(mutation: dict) -> str:
    """What became of the test while the mend is undone: "failed" is right."""
    crate, name = mutation["test"].split(": ")
    cargo = ["cargo", "test", "--locked", "-q", "-p", PACKAGES.get(crate, f"pagetide-{crate}")]
    cargo += place_of(crate, name)
    before = {change["file"]: (TREE / change["file"]).read_bytes() for change in changes(mutation)}
    log_at = PLACE / "log"
    try:
        for change in changes(mutation):
            file = TREE / change["file"]
            text = file.read_text(encoding="utf-8")
            file.write_text(text.replace(change["old"], change["new"]), encoding="utf-8")
        with log_at.open("w") as log:
            if run([*cargo, "--no-run"], log) != 0:
                return "does not build: see .cache/mutations/log"
            code = run([*cargo, name, "--", "--nocapture"], log)
    finally:
        for file, content in before.items():
            (TREE / file).write_bytes(content)
    said = log_at.read_text(encoding="utf-8", errors="replace")
    if code is None:
        return "failed" if "running 1 test" in said else "did not begin"
    if "SKIPPED" in said:
        return "skipped: " + re.search(r"SKIPPED (.*)", said)[1]
    if "running 1 test" not in said:
        return "no such test, or several"
    return "failed" if code else "PASSED WITHOUT ITS MEND"


def key(mutation: dict) -> str:
    """What an outcome stands on: the mutation, and the code of the changed and of the test's crate."""
    crates = {mutation["test"].split(": ")[0]}
    crates |= {pathlib.Path(change["file"]).parts[1] for change in changes(mutation)}
    all_of = hashlib.sha256(repr(mutation).encode())
    for crate in sorted(crates):
        for file in sorted((TREE / "crates" / crate).rglob("*")):
            if file.suffix in {".rs", ".c", ".h"}:
                all_of.update(file.read_bytes())
    return all_of.hexdigest()


def main() -> int:
    mutations = tomllib.loads(pathlib.Path("scripts/mutations.toml").read_text())["mutation"]
    options = [word for word in sys.argv[1:] if word.startswith("--")]
    words = [word for word in sys.argv[1:] if word not in options]
    if set(options) - {"--check", "--again"}:
        sys.exit(__doc__)
    if check(mutations):
        return 1
    if "--check" in options:
        return 0
    # What is built for one is of use for the next.
    mutations.sort(key=lambda mutation: (mutation["test"].split(":")[0], mutation["file"]))
    copy_tree()
    SEEN.mkdir(parents=True, exist_ok=True)
    seen = {file.name for file in SEEN.iterdir()}
    count = {}
    for mutation in mutations:
        row, text = str(mutation["row"]), f"{mutation['test']} {mutation['file']}"
        if words and not any(word == row if word.isdigit() else word in text for word in words):
            continue
        name = key(mutation)
        if name in seen and "--again" not in options:
            result = "failed before"
        else:
            started = time.monotonic()
            result = outcome(mutation)
            if result == "failed":
                (SEEN / name).touch()
            result += f" ({time.monotonic() - started:.0f} s)"
        print(f"{row:>3}  {mutation['test']}: {result}", flush=True)
        kind = result.split(" (")[0].removesuffix(" before").split(":")[0]
        count[kind] = count.get(kind, 0) + 1
    print(", ".join(f"{many} {kind}" for kind, many in count.items()))
    return 0 if set(count) <= {"failed", "skipped"} else 1


# Whoever ends us ends what we started, and has the copy as it was.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
sys.exit(main())
