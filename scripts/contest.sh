#!/usr/bin/env bash
# A whole contest with secret seeds, and what a cheating organiser is told: `scripts/contest.sh PROGRAM [SUITE]`.
# It commits to a suite with the counts of SUITE (erp-300 unless another is named), opens it and verifies it; then it exchanges a task, changes a
# seed and makes a count wrong, as somebody would who makes the root anew, and each must be refused by its name. Every step tells its seconds.
set -euo pipefail
export LC_ALL=C
TIMEFORMAT='%R %U %S'

program=$(realpath "${1:?which program?}")
suite=${2:-erp-300}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cd "$place"

# Runs a step, tells its seconds and its last line, and holds its exit code to the wanted one.
step() {
    local name=$1 wanted=$2 code=0 seconds cpu
    shift 2
    { time "$@" >out.txt 2>err.txt; } 2>time.txt || code=$?
    read -r seconds cpu < <(awk '{ print $1, $2 + $3 }' time.txt)
    printf '%-10s %7.1f s %7.1f s of CPU  %s\n' "$name" "$seconds" "$cpu" "$(cat out.txt err.txt | grep -v '^  try' | tail -n 1 | cut -c 1-120)"
    [ "$code" = "$wanted" ] || { echo "exit code $code instead of $wanted"; cat err.txt; exit 1; }
}

# Holds the faults that were just told to this name alone.
told() {
    local names
    names=$(sed 's/^error: //' err.txt | grep -v '^  try' | sed 's/: .*//' | sort -u | paste -sd, -)
    [ "$names" = "$1" ] || { echo "refused as \`$names\`, not as \`$1\`"; exit 1; }
}

step commit 0 "$program" commit "$suite" --key key -o contest
step reveal 0 "$program" reveal contest --key key -o opening.json
step verify 0 "$program" verify contest/commitment.json opening.json
id=$(grep -m 1 '"id"' opening.json | cut -d '"' -f 4)
step prove 0 "$program" reveal contest --task "$id" -o proof.json
step proof 0 "$program" verify contest/commitment.json proof.json

python3 - <<'PYTHON'
"""Three forgeries, each with a root that was made anew."""
import copy, hashlib, json, struct

def written(document):
    return (json.dumps(document, indent=2, ensure_ascii=False) + "\n").encode()

def sha(data):
    return hashlib.sha256(data).digest()

def top(items):
    if len(items) == 1:
        return items[0]
    left = 1
    while left * 2 < len(items):
        left *= 2
    return sha(b"\1" + top(items[:left]) + top(items[left:]))

def forge(name, change):
    commitment, opening = (json.load(open(path)) for path in ("contest/commitment.json", "opening.json"))
    change(commitment["head"], opening["tasks"])
    items = [sha(b"\0" + written(opened["task"])) for opened in opening["tasks"]]
    head = commitment["head"]
    root = sha(b"\2" + sha(written(head)) + struct.pack("<Q", head["tasks"]) + top(items)).hex()
    was, commitment["root"], opening["root"] = commitment["root"], root, root
    assert name != "honest" or root == was, "the root is made otherwise here"
    open(f"{name}-commitment.json", "wb").write(written(commitment))
    open(f"{name}-opening.json", "wb").write(written(opening))

def exchanged(head, tasks):
    tasks[len(tasks) // 2]["task"]["digest"] = hashlib.sha256(b"another task").hexdigest()

def seed(head, tasks):
    tasks[len(tasks) // 2]["seed"] += 1

def count(head, tasks):
    head["counts"][0]["tasks"] += 1

forge("honest", lambda head, tasks: None)
for change in (exchanged, seed, count):
    forge(change.__name__, change)
PYTHON
step exchanged 1 "$program" verify exchanged-commitment.json exchanged-opening.json
told "task exchanged"
step seed 1 "$program" verify seed-commitment.json seed-opening.json
told "seed changed"
step count 1 "$program" verify count-commitment.json count-opening.json
told "count"
echo "all as it must be"
