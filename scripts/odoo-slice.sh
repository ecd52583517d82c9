#!/usr/bin/env bash
# A small slice against a real Odoo, install included: the conformance cases, one pattern with oracle, idle and near-misses, 20 drawn
# sequences, and the agent that runs on both. For CI; keeps within a quarter of an hour on two cores.
#
#   scripts/odoo-slice.sh [BENCHWRIGHT]     the program; target/release/benchwright if none is given
#
# Exit code 0: passed. 1: the two disagree. 77: no verdict, because the package cannot be had; that is not a pass.
# $ODOO_PACKAGE names a kept package. The conformance cases run before everything else.
set -euo pipefail
cd "$(dirname "$0")/.."
program=${1:-target/release/benchwright}
root=${BENCHWRIGHT_ODOO:-$PWD/target/odoo}
out=$(mktemp -d)
export BENCHWRIGHT_ODOO=$root
trap 'scripts/odoo down --root "$root" || true; rm -rf "$out"' EXIT

code=0
scripts/odoo up --root "$root" ${ODOO_PACKAGE:+--package "$ODOO_PACKAGE"} || code=$?
if [ "$code" = 3 ]; then
    echo "odoo-slice: no verdict: the package cannot be had" >&2
    exit 77
elif [ "$code" != 0 ]; then
    exit 1
fi
# Line 13 of the attacks: no other user of this machine gets at the database, and a package that was not tested is not taken.
if setpriv --reuid 65534 --regid 65534 --clear-groups psql -h "$root/pg" -p "${BENCHWRIGHT_PG_PORT:-5571}" -U postgres -c 'select 1' postgres >/dev/null 2>&1; then
    echo "odoo-slice: somebody else is let into the database" >&2
    exit 1
fi
mkdir -p "$out/deb/DEBIAN"
printf 'Package: odoo-19\nVersion: 19.0.0+dfsg-1\nArchitecture: all\nMaintainer: none\nDescription: another package of the same name\n' >"$out/deb/DEBIAN/control"
dpkg-deb --build "$out/deb" "$out/other.deb" >/dev/null
code=0
scripts/odoo up --root "$out/other" --package "$out/other.deb" >"$out/other.log" 2>&1 || code=$?
if [ "$code" != 3 ] || ! grep -q -- '--accept' "$out/other.log"; then
    echo "odoo-slice: a package with another digest was not refused" >&2
    exit 1
fi
pattern=production/lowest-cost-sourcing-route
"$program" new "$pattern" --tier medium --seed 7 --count 1 -o "$out/tasks"
"$program" new production/screened-shared-component-plan --tier medium --seed 7 --count 1 -o "$out/world"
replay() { "$program" odoo replay "$out/world" --task "$(ls "$out/world/open" | head -1)" --sequences 20; }
if [ -e "$root/run/moved" ]; then
    echo "odoo-slice: the package is not the tested one: the conformance cases run first" >&2
fi
"$program" odoo cases "$out/world" --task "$(ls "$out/world/open" | head -1)"
"$program" odoo check "$out/tasks"
replay
python3 scripts/agents/both.py "$program" "$out/tasks" "$(ls "$out/tasks/open" | head -1)" "$out/both"
echo "odoo-slice: passed in $SECONDS s"
