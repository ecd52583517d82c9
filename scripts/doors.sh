#!/usr/bin/env bash
# The doors of the Python package, each tried with the real package from PyPI in a virtual environment of its own: Gymnasium, Inspect AI,
# the schemas and rows that TRL reads, and the packages that take Arrow. BENCHWRIGHT names the program, for shards.
# Usage: bash scripts/doors.sh PACKAGE_FOLDER RUNS [TASKS]
#   PACKAGE_FOLDER  holds the package `benchwright`; `-` where it is installed from a wheel by $WHEEL
#   RUNS            a folder of runs in which the oracle worked on the demo
#   TASKS           a folder of tasks whose tools must all have schemas
#   VENV            the virtual environment, which is made if it is not whole [default: one that goes with the run]
#   ONLY_INSTALL    if it is set, ends when that is made
#   PACKAGES, TESTS what is installed, and which tests are run of it, as unittest takes them [default: all]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
venv=${VENV:-$scratch/venv}
packages=${PACKAGES:-gymnasium inspect-ai litellm transformers datasets pandas polars duckdb pyarrow}
# litellm carries the vocabulary that Inspect counts tokens with; without it Inspect would ask the network.
if [ ! -e "$venv/whole" ]; then
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check $packages ${WHEEL:+"$WHEEL"}
    touch "$venv/whole"
fi
[ -z "${ONLY_INSTALL:-}" ] || exit 0
package=$1
runs=$(realpath "$2")
vocabulary=$("$venv/bin/python" -c 'import importlib.util, os; print(os.path.dirname(importlib.util.find_spec("litellm").origin))')
export TIKTOKEN_CACHE_DIR=$vocabulary/litellm_core_utils/tokenizers HF_HUB_OFFLINE=1 LITELLM_LOCAL_MODEL_COST_MAP=True
export BENCHWRIGHT_RUNS=$runs BENCHWRIGHT_TASKS=${3:+$(realpath "$3")}
[ "$package" = - ] || export PYTHONPATH=$package
"$venv/bin/python" -W ignore -m unittest --quiet ${TESTS:-} apps/py/tests/test_doors.py
"$venv/bin/pip" list 2>/dev/null | grep -iE '^(gymnasium|inspect_ai|transformers|datasets|pandas|polars|duckdb|pyarrow) '
