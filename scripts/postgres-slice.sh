#!/usr/bin/env bash
# A ledger in a real PostgreSQL: the contract that every ledger is held to, then one run by several `work` processes, of which some are killed,
# and the server with all its processes too. All trials are recorded, none twice, and the records are those of one process on SQLite. Then
# tasks, made and audited in the same way.
#
#   bash scripts/postgres-slice.sh PROGRAM GRIDS [TRIALS [WORKERS [KILLS]]]
#
# PROGRAM is the program, GRIDS a folder with the suite grid-324. 20,000 trials, 4 workers and one kill of each kind unless more are asked for.
# HOLD is how many seconds a worker that was killed is waited for [default: 6].
# Exit 77 where PostgreSQL cannot be had: no verdict.
set -euo pipefail
program=$(realpath "$1")
grids=$(realpath "$2")
trials=${3:-20000} workers=${4:-4} kills=${5:-1} hold=${HOLD:-6}
cd "$(dirname "${BASH_SOURCE[0]}")/.."
attempts=$(((trials + 971) / 972))
planned=$((attempts * 972))
place=$(mktemp -d)
chmod 755 "$place"
pids=()
clean() {
    for pid in "${pids[@]}"; do kill -9 "$pid" 2>/dev/null || true; done
    bash scripts/postgres down "$place/server" || true
    rm -rf "$place"
}
trap clean EXIT
url=$(bash scripts/postgres up "$place/server") || exit $?

plan() { "$program" run "$grids" --agent idle --agent random --agent oracle -k "$attempts" "$@" --json; }
field() { python3 -c 'import json, sys; told = json.load(sys.stdin); print(*(told[key] for key in sys.argv[1:]))' "$@"; }
at=(--ledger "$url" --store "$place/store")
begun=$(date +%s.%N)
plan "${at[@]}" >"$place/plan.json" 2>"$place/plan.err" &
planner=$!
pids[0]=$planner
until grep -qs "trials are recorded" "$place/plan.err"; do
    sleep 0.2
    kill -0 "$planner" 2>/dev/null || { cat "$place/plan.err" >&2; exit 1; }
done
start() {
    "$program" work "${at[@]}" --jobs 1 --hold "$hold" --json >"$place/out-$1.json" 2>"$place/err-$1" &
    pids[$1]=$!
}
# Every claim and every finish, for what was claimed more than once.
psql "$url" -qv ON_ERROR_STOP=1 <<'SQL'
create table seen (number bigint not null, fence bigint not null, state smallint not null);
create function see() returns trigger language plpgsql as
    'begin insert into seen values (new.number, case new.state when 1 then new.fence else old.fence end, new.state); return null; end';
create trigger see after update on benchwright.trial_1 for each row when (new.state in (1, 2) and new.fence <> old.fence) execute function see();
SQL
for nth in $(seq "$workers"); do start "$nth"; done
recorded() { psql "$url" -qtAc 'select count(*) from benchwright.trial_1 where state = 2' 2>/dev/null || echo 0; }
down=0 killed=0
for kill in $(seq "$kills"); do
    # At moments spread over the run.
    until [ "$(recorded)" -ge $((planned * kill / (kills + 1))) ]; do
        sleep 0.2
        kill -0 "$planner" 2>/dev/null || break
    done
    # A fifth of those who work, and the server with all its processes.
    for victim in $(shuf -i "1-$workers" -n $(((workers + 4) / 5))); do
        kill -9 "${pids[$victim]}" 2>/dev/null && killed=$((killed + 1))
        { wait "${pids[$victim]}" || true; } 2>/dev/null
        start "$victim"
    done
    before=$(date +%s.%N)
    bash scripts/postgres kill "$place/server"
    down=$(python3 -c "print(round($down + $(date +%s.%N) - $before, 1))")
done
# One is asked to end: it gives back what it has not finished, and ends well.
asked=$((1 + (kills + 1) % workers))
kill -TERM "${pids[$asked]}" 2>/dev/null || true
for nth in $(seq "$workers"); do
    wait "${pids[$nth]}" || { echo "worker $nth failed:" >&2; cat "$place/err-$nth" >&2; exit 1; }
done
wait "$planner" || { cat "$place/plan.err" >&2; exit 1; }
took=$(python3 -c "print(round($(date +%s.%N) - $begun, 1))")

read -r recorded errors records <<<"$("$program" report "${at[@]}" --json | field attempted errors records)"
[ "$recorded" = "$planned" ] || { echo "$recorded of $planned trials are recorded" >&2; exit 1; }
[ "$errors" = 0 ] || { echo "$errors trials are errors" >&2; exit 1; }
"$program" report "${at[@]}" --verify --sample 100
if [ "$planned" -le 50000 ]; then
    alone=$(plan --runs "$place/alone" >/dev/null && "$program" report --runs "$place/alone" --json | field records)
    [ "$records" = "$alone" ] || { echo "the records are other ones than those of one process: $records, $alone" >&2; exit 1; }
fi
# What is recorded was recorded by somebody who was told so, but for what those recorded who were killed.
told=$(cat "$place"/out-*.json | python3 -c 'import json, sys; print(sum(json.loads(part)["recorded"] for part in sys.stdin.read().replace("}\n{", "}\0{").split("\0") if part.strip()))')
[ "$told" -le "$planned" ] || { echo "workers were told of $told recorded trials, and there are $planned" >&2; exit 1; }
# What was claimed and not recorded by that claim: the leases of those who were killed or asked to end, or who lost them with the server.
read -r finishes numbers again leases <<<"$(psql "$url" -qtA -F ' ' -c 'select
    (select count(*) from seen where state = 2), (select count(distinct number) from seen where state = 2), count(*), count(distinct fence)
    from seen claim where state = 1 and not exists (select from seen where state = 2 and (number, fence) = (claim.number, claim.fence))')"
[ "$finishes $numbers" = "$planned $planned" ] || { echo "$finishes finishes of $numbers trials; planned are $planned" >&2; exit 1; }
[ "$leases" -le $((killed + kills * workers + 1)) ] || { echo "$leases leases were lost, and only $killed workers killed" >&2; exit 1; }
echo "$planned trials by $workers workers in $took s, $killed workers and $kills times the server killed ($down s down), none lost, none twice;" \
    "$leases leases lost with $again trials; records $records"

# Tasks that two workers make, of which one is killed, are byte for byte those of one process.
tasks=${MADE:-3000}
make() { "$program" new grid/course --tier h09-b09 --seed 1 --count "$tasks" --json "$@"; }
make -o "$place/one" >/dev/null
make -o made "${at[@]}" >"$place/made.json" 2>"$place/made.err" &
planner=$!
pids[0]=$planner
start 1 && start 2
until [ "$(find "$place/store/made/open" -name '*.parquet' 2>/dev/null | wc -l)" -ge 1 ]; do
    sleep 0.2
    kill -0 "$planner" 2>/dev/null || { cat "$place/made.err" >&2; exit 1; }
    # They came before the plan did.
    kill -0 "${pids[1]}" 2>/dev/null || start 1
done
kill -9 "${pids[1]}" 2>/dev/null && { wait "${pids[1]}" || true; } 2>/dev/null
start 1
wait "$planner" || { cat "$place/made.err" >&2; exit 1; }
diff -r "$place/one" "$place/store/made" || { echo "the tasks are other ones than those of one process" >&2; exit 1; }
echo "$tasks tasks made by two workers, one killed, byte for byte those of one process"

# An audit by two workers, of which one is killed, finds what one process finds.
audit() { "$program" audit "$1" --depth sample --trial idle --trial near-miss "${@:2}" >"$place/audit.out" 2>&1; }
tasks=60
make -o "$place/few" --shards >/dev/null
make -o few "${at[@]}" >/dev/null 2>&1 &
planner=$!
pids[0]=$planner
wait "${pids[1]}" "${pids[2]}" 2>/dev/null || true
start 1
until wait "${pids[1]}" && ! kill -0 "$planner" 2>/dev/null; do start 1; done
audit "$place/few" || { cat "$place/audit.out" >&2; exit 1; }
audit few "${at[@]}" &
planner=$!
pids[0]=$planner
sleep 1
start 1 && start 2
sleep 1
kill -9 "${pids[1]}" 2>/dev/null && { wait "${pids[1]}" || true; } 2>/dev/null
until ! kill -0 "$planner" 2>/dev/null; do
    kill -0 "${pids[2]}" 2>/dev/null || start 2
    sleep 0.5
done
wait "$planner" || { cat "$place/audit.out" >&2; exit 1; }
diff -r "$place/few" "$place/store/few" || { echo "the audit found something else than that of one process" >&2; exit 1; }
echo "$tasks tasks audited by two workers, one killed: what one process finds"

# What it leaves nobody could work on, so it comes last.
if [ -z "${NO_CONTRACT:-}" ]; then
    BENCHWRIGHT_POSTGRES=$url cargo nextest run --workspace --locked --features cloud --run-ignored only -E 'package(benchwright-run) & test(contract::in_postgres)'
fi
