#!/usr/bin/env bash
# What must be clean before a commit.
source "$(dirname "$0")/lib.sh"

scripts/deps.sh build

say "format"
cargo fmt --all --check

say "lints"
cargo clippy --locked --workspace --all-targets --features pagetide-lab/guests --quiet -- -D warnings

# A workspace of their own, which nothing else compiles but `make test-long`.
say "fuzz targets"
if have clang++ || have g++; then
    cargo check --locked --quiet --manifest-path fuzz/Cargo.toml
else
    say "SKIPPED fuzz targets: libFuzzer is compiled from C++, and there is no compiler"
fi

say "documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --locked --workspace --no-deps --quiet

say "licences of the dependencies"
scripts/licences.py

# Bans, sources and yanked versions as well, and advisories where their database can be reached.
PATH="$PWD/.cache/tools/bin:$PATH"
if have cargo-deny; then
    cargo deny --locked check licenses bans sources
    if cargo deny fetch db >/dev/null 2>&1; then
        cargo deny --locked check advisories
    else
        say "SKIPPED advisories: their database cannot be reached"
    fi
else
    say "SKIPPED cargo deny: not installed (cargo install --locked --root .cache/tools cargo-deny)"
fi

say "links in documents"
scripts/links.py

say "tests named in docs/specification.md and SECURITY.md"
scripts/claims.py

say "mutations"
scripts/mutations.py --check

say "scripts"
for script in scripts/*.sh .ci/run; do bash -n "$script"; done
if have shellcheck; then
    shellcheck --external-sources --source-path=scripts scripts/*.sh .ci/run
else
    say "SKIPPED shellcheck: not installed"
fi

say "length of files"
too_long=0
while read -r lines file; do
    [ "$file" = total ] || [ "$lines" -le 800 ] || { echo "$file: $lines lines; split it"; too_long=1; }
done < <(git ls-files -z '*.rs' '*.c' '*.h' '*.sh' '*.py' | xargs -0 wc -l)
[ "$too_long" = 0 ] || die "files over 800 lines"
say "all clean"
