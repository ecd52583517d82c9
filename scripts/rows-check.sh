#!/usr/bin/env bash
# Rows for training and logs of runs, read by the programs that they are made for: datasets, polars, duckdb, Inspect, and Harbor's validator
# where it is installed. Exports tasks of a folder, or of the demo, and prints counts.
#
#   scripts/rows-check.sh PROGRAM [DIR]
#
# VENV names a Python environment with datasets, polars, duckdb and inspect-ai; one is made if it is not there. HARBOR_PYTHON names a
# Python that has harbor.
set -euo pipefail
cd "$(dirname "$0")/.."
program=$(realpath "${1:?the program}")
venv=${VENV:-target/rows-venv}
if [ ! -x "$venv/bin/python" ]; then
  python3 -m venv "$venv"
  "$venv/bin/pip" install -q datasets==5.2.0 polars duckdb inspect-ai==0.3.285
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ $# -ge 2 ]; then
  tasks=$(realpath "$2")
else
  tasks=$work/demo
  "$program" demo -o "$tasks" > /dev/null
fi

"$program" export sft "$tasks" -o "$work/sft" --of-locked
"$program" export preferences "$tasks" -o "$work/pairs" --of-locked
"$venv/bin/python" scripts/rows-check.py "$work/sft" "$work/pairs"

"$program" run "$tasks" --agent oracle --agent idle --runs "$work/runs" > /dev/null
run=$(find "$work/runs" -mindepth 1 -maxdepth 1 -type d -printf '%f\n')
"$program" export sft "$tasks" -o "$work/passed" --of-locked --runs "$work/runs"
for agent in oracle idle; do
  "$program" export inspect "$run" -o "$work/$agent.eval" --runs "$work/runs" --agent "$agent"
done
"$venv/bin/python" - "$work/oracle.eval" "$work/idle.eval" <<'PYTHON'
import sys
from inspect_ai.log import read_eval_log
for path, reward in zip(sys.argv[1:], (1.0, 0.0)):
    log = read_eval_log(path)
    assert log.status == "success" and all(sample.scores["reward"].value == reward for sample in log.samples), path
    print(f"inspect: {len(log.samples)} samples of {log.eval.model}, mean reward {log.results.scores[0].metrics['mean'].value}")
PYTHON
"$program" export atif "$run" -o "$work/atif" --runs "$work/runs"
if [ -n "${HARBOR_PYTHON:-}" ]; then
  for file in "$work"/atif/*.json; do
    HARBOR_TELEMETRY=0 "$HARBOR_PYTHON" -m harbor.utils.trajectory_validator "$file" > /dev/null
  done
  echo "harbor: $(find "$work/atif" -name '*.json' | wc -l) trajectories are valid"
fi
