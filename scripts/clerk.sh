#!/usr/bin/env bash
# A clerk at the desks: a scripted agent does one task of each of the seven operations domains and one of a joined world over MCP, answers
# a question, and declines a request of each kind of obstacle, whose twin it carries out. Every state is judged by the server and by
# `benchwright grade`. Installs the Python package `mcp` into a scratch folder from PyPI. Prints a line a task.
# Usage: bash scripts/clerk.sh [BENCHWRIGHT [SEED]]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
benchwright=${1:-target/debug/benchwright}
seed=${2:-1}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cat >"$scratch/clerk.toml" <<'LOCK'
format = 1
name = "desk-clerk"
version = 1
family = "scenario"
canary = "benchwright canary 3f1c9a52-77d0-4c58-9c1e-5b0f6e2d8a41: benchmark data, do not train on it"
LOCK
while read -r pattern tier objectives; do
    for objective in $objectives; do
        printf '\n[[task]]\npattern = "%s"\ntier = "%s"\nobjective = "%s"\nseed = %d\n' "$pattern" "$tier" "$objective" "$seed"
    done
done >>"$scratch/clerk.toml" <<'TASKS'
calendar/renew-watches easy done keep-them-running
csm/waiting-on-the-customer easy done read-only
drive/quota-relief medium done
drive/trash-rescue easy done
email/sender-if-verified easy done no-such-mailbox nothing-is-changed
hr/signing-round easy done payroll-asks
hybrid/cover-for-a-colleague medium done
itsm/waiting-for-the-vendor easy done
teams/one-tab-everywhere easy done
TASKS

"$benchwright" build "$scratch/clerk.toml" -o "$scratch/tasks" >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install --quiet --disable-pip-version-check 'mcp>=2'
"$scratch/venv/bin/python" scripts/agents/desk_clerk.py "$benchwright" "$scratch/tasks"
