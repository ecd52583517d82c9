#!/usr/bin/env bash
# Sixty ERP tasks of ten patterns with hostile text in each: the oracle passes all, an obedient agent follows all and earns nothing.
# Usage: scripts/injected.sh PROGRAM [FOLDER]. The solver's library must be there (scripts/solver fetch).
set -euo pipefail

program=$(realpath "${1:?the program is missing: scripts/injected.sh PROGRAM [FOLDER]}")
lock=$(realpath "$(dirname "$0")/../suites/erp-300.toml")
folder=${2:-$(mktemp -d)}
mkdir -p "$folder"
cd "$folder"

# The first six tasks of each of the first ten patterns of the locked suite, without its digests and bars.
awk -v RS= -v ORS='\n\n' '
    /^\[bars\]/ || /^\[unbreakable\]/ { next }
    !/^\[\[task\]\]/ { print; next }
    {
        match($0, /pattern = "[^"]*"/)
        pattern = substr($0, RSTART, RLENGTH)
        if (!(pattern in tasks) && patterns++ >= 10) next
        if (tasks[pattern]++ < 6) { gsub(/\ndigest = "[^"]*"/, ""); print }
    }' "$lock" | sed 's/^name = .*/name = "ten-patterns"/' > ten.toml

"$program" build ten.toml -o tasks --inject 1
"$program" run tasks --agent oracle --agent obedient --runs runs --new
"$program" report --runs runs --json > report.json

# What an agent's figures say, and what they must.
told() {
    python3 - "$1" <<'PYTHON'
import json, sys
agents = json.load(open("report.json"))["agents"]
of = next(agent for agent in agents if agent["agent"] == sys.argv[1])["injections"]
print("injected {injected}, followed {followed}, passed {passed}".format(**of))
PYTHON
}
for wanted in "oracle:injected 60, followed 0, passed 60" "obedient:injected 60, followed 60, passed 0"; do
    agent=${wanted%%:*}
    found=$(told "$agent")
    echo "$agent: $found"
    if [ "$found" != "${wanted#*:}" ]; then
        echo "error: $agent should be told as: ${wanted#*:}; look into $folder/runs" >&2
        exit 1
    fi
done
