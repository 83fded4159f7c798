#!/usr/bin/env bash
# The Python environment in which results are measured and drawn: .cache/venv.
source "$(dirname "$0")/lib.sh"

scripts/deps.sh test
venv=.cache/venv
stamp=$venv/requirements.measuring
cmp -s benches/requirements.txt "$stamp" && exit
say "installing $(grep -v '^#' benches/requirements.txt | tr '\n' ' ')into $venv"
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/pip" install -q --disable-pip-version-check -r benches/requirements.txt
cp benches/requirements.txt "$stamp"
