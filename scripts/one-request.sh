#!/usr/bin/env bash
# Proves that a scenario is one folder and a way of the policy one line: puts both beside the program's own, makes tasks of them, audits
# these, and takes them away again. Nothing is built, and nothing in the tree is touched.
set -euo pipefail
cd "$(dirname "$0")/.."

bin=$PWD/${CARGO_TARGET_DIR:-target}/debug/benchwright
[ -x "$bin" ] || cargo build --quiet --locked --workspace --features cloud --profile test --lib --bin benchwright
away=$(mktemp -d)
trap 'rm -rf "$away"' EXIT
cp -r domains "$away/domains"
folder=$away/patterns/csm/probe-return
mkdir -p "$folder"

cat > "$folder/scenario.toml" <<'EOF'
title  = "A case goes to somebody who is back"
domain = "csm"
seat   = "admin"
asks   = "lead"

[cast]
lead     = "draw user(role = manager, active = true)"
case     = "draw customer_case(state in {new, in_progress}, assignment_group != null)"
engineer = "draw user(role = agent) where none customer_case(assigned_to = it.id)"

# Known to the group, and not active since the leave.
[[plant]]
table = "group_member"
group = "= case.assignment_group"
user  = "= engineer"

[[plant]]
change = "engineer"
active = "= false"

[[do]]
id     = "hand"
change = "case"
to     = { assigned_to = "engineer" }

[blocked.no-such-case]
kind = "not_found"
lost = "case.number"
EOF
cat > "$folder/words.toml" <<'EOF'
[ask]
lead = """
This is {lead.name}. [hand: {engineer.name} is back from leave and takes {case.number}.]
"""
hurried = """
[hand: {case.number} to {engineer.name}, please,] who is back. Thanks, {lead.name}
"""
formal = """
Good morning. [hand: We ask you to assign the case {case.number} to {engineer.name}.] With kind regards, {lead.name}
"""
EOF

expect() {
    grep -Eq -- "$1" <<<"$2" || { echo "expected $1 in:" >&2; echo "$2" >&2; exit 1; }
}
given=(--domains "$away/domains" --patterns "$away/patterns")
"$bin" check "$folder" "${given[@]}"

# Without the way nobody may be given the case: no draw makes a task.
out=$("$bin" new csm/probe-return --tier easy --seed 1 -o "$away/without" "${given[@]}" 2>&1) && { echo "a task without the way" >&2; exit 1; }
expect 'assignee-can-work' "$out"

# One line.
line='ways    = [{ says = "An agent who comes back is made active again.", if = "assigned_to.role = agent and assigned_to.active = false", do = "change assigned_to to active = true" }]'
awk -v line="$line" '{ print } /^\[rules.assignee-can-work\]/ { here = 1 } here && /^by / { print line; here = 0 }' \
    domains/csm/policy.toml > "$away/domains/csm/policy.toml"
[ "$(diff domains/csm/policy.toml "$away/domains/csm/policy.toml" | grep -c '^[<>]')" = 1 ] || { echo "more than one line" >&2; exit 1; }

"$bin" new csm/probe-return --tier easy --seed 1 --count 3 -o "$away/out" "${given[@]}"
expect 'policy assignee-can-work: An agent who comes back is made active again' \
    "$(cat "$away"/out/sealed/*/sealed.json)"
"$bin" audit "$away/out" "${given[@]}"
echo "one request: csm/probe-return and a way of its own made three tasks, and no trial could break them"
