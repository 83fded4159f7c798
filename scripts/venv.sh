#!/usr/bin/env bash
# The packages that tests need (deps.sh), and the Python environment of all scripts, .cache/venv:
# installs what a file of requirements names; what other files brought in stays.
# Usage: venv.sh scripts/test-requirements.txt|benches/requirements.txt|benches/truth/requirements.txt
source "$(dirname "$0")/lib.sh"

scripts/deps.sh test
file=$1
venv=.cache/venv
# Made anew, with nothing in it, only if it does not work: half made, or its Python is gone.
"$venv/bin/python" -m pip --version >/dev/null 2>&1 || python3 -m venv --clear "$venv"
# The benchmarks' requirements build on the tests': a change of either counts.
wanted=$(cat scripts/test-requirements.txt "$file")
stamp=$venv/installed-$(dirname "$file" | tr / -)
[ -e "$stamp" ] && [ "$wanted" = "$(cat "$stamp")" ] && exit
say "installing $(grep -v '^[#-]' "$file" | tr '\n' ' ')into $venv"
"$venv/bin/python" -m pip install -q --disable-pip-version-check -r "$file"
printf '%s\n' "$wanted" >"$stamp"
