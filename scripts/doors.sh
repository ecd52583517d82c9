#!/usr/bin/env bash
# The doors of the Python package, each tried with the real package from PyPI in a virtual environment of its own: Gymnasium, Inspect AI,
# the schemas and rows that TRL reads, and the packages that take Arrow. BENCHWRIGHT names the program, for shards.
# Usage: bash scripts/doors.sh PACKAGE_FOLDER RUNS [TASKS]
#   PACKAGE_FOLDER  holds the package `benchwright`; `-` where it is installed from a wheel by $WHEEL
#   RUNS            a folder of runs in which the oracle worked on the demo
#   TASKS           a folder of tasks whose tools must all have schemas
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
package=$1
runs=$(realpath "$2")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 -m venv "$scratch/venv"
# litellm carries the vocabulary that Inspect counts tokens with; without it Inspect would ask the network.
"$scratch/venv/bin/pip" install --quiet --disable-pip-version-check gymnasium inspect-ai litellm transformers datasets pandas polars duckdb pyarrow ${WHEEL:+"$WHEEL"}
vocabulary=$("$scratch/venv/bin/python" -c 'import importlib.util, os; print(os.path.dirname(importlib.util.find_spec("litellm").origin))')
export TIKTOKEN_CACHE_DIR=$vocabulary/litellm_core_utils/tokenizers HF_HUB_OFFLINE=1 LITELLM_LOCAL_MODEL_COST_MAP=True
export BENCHWRIGHT_RUNS=$runs BENCHWRIGHT_TASKS=${3:+$(realpath "$3")}
[ "$package" = - ] || export PYTHONPATH=$package
"$scratch/venv/bin/python" -W ignore -m unittest --quiet apps/py/tests/test_doors.py
"$scratch/venv/bin/pip" list 2>/dev/null | grep -iE '^(gymnasium|inspect_ai|transformers|datasets|pandas|polars|duckdb|pyarrow) '
