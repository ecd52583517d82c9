#!/usr/bin/env bash
# Real MCP clients on a live episode: the Python `mcp` package of today and of the era before, and Inspect's client. Installs them
# into a scratch folder from PyPI, starts the server, and stops it. Usage: bash scripts/clients.sh [BENCHWRIGHT]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
benchwright=${1:-target/release/benchwright}
scratch=$(mktemp -d)
server=
finish() {
    if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; fi
    rm -rf "$scratch"
}
trap finish EXIT

"$benchwright" demo -o "$scratch/demo" >/dev/null
"$benchwright" serve "$scratch/demo" --grade >"$scratch/served" 2>"$scratch/log" &
server=$!
for _ in $(seq 100); do
    if [ -s "$scratch/served" ]; then break; fi
    sleep 0.1
done
task=$(basename "$(find "$scratch/demo/open" -mindepth 1 -maxdepth 1 | sort | head -1)")
episode=$(python3 - "$scratch/served" "$task" <<'PY'
import json, sys, urllib.request
served = json.loads(open(sys.argv[1]).readline())
body = json.dumps({"task": sys.argv[2]}).encode()
headers = {"Authorization": "Bearer " + served["token"], "Content-Type": "application/json"}
made = urllib.request.Request(served["control"] + "/episodes", data=body, headers=headers)
made = json.load(urllib.request.urlopen(made, timeout=10))
print(made["urls"]["mcp"], made["token"])
PY
)
read -r url token <<<"$episode"
tool=res_partner_search_read
arguments='{"limit": 2, "fields": ["name"]}'

client() {
    local name=$1 script=$2
    shift 2
    python3 -m venv "$scratch/$name"
    "$scratch/$name/bin/pip" install --quiet --disable-pip-version-check "$@"
    timeout 60 "$scratch/$name/bin/python" "scripts/clients/$script" "$url" "$token" "$tool" "$arguments"
}

client today mcp_client.py 'mcp>=2'
client before mcp_client.py 'mcp<2'
client inspect inspect_client.py inspect_ai 'mcp<2'
