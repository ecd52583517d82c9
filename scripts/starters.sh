#!/usr/bin/env bash
# The starters of workers, each with the real scheduler on this machine: one run, planned once, worked on by its workers, of which some are killed.
# All trials are recorded, and the records are those of one process on SQLite.
#
#   bash scripts/starters.sh PROGRAM TASKS STORE slurm     deploy/slurm.sbatch: 8 array tasks, of which two are killed
#   bash scripts/starters.sh PROGRAM TASKS STORE ray       benchwright.ray: 4 actors, of which one is killed
#   bash scripts/starters.sh PROGRAM TASKS STORE s3s-fs    4 processes on an object store of its own (STORE is a folder for it), which is killed once
#
# STORE is a folder, or s3://BUCKET/PREFIX with AWS_… set. ATTEMPTS is k [default: 4]. ALONE is a folder with the run of one process, made
# where it is not. PACKAGE is a wheel, or a folder that holds the Python package with its library [default: the newest wheel of `bash scripts/wheel`]. PATIENCE is how many seconds each step may take [default: 600],
# HOLD how long a worker that was killed is waited for [default: 30].
# Exit 77 where the packages cannot be installed: no verdict. Slurm's (slurm-wlm, munge) come with apt-get, which makes their users and /etc/munge and
# /etc/slurm; neither is used: the daemons have their configuration, key, state and logs in a folder that goes with the run, and listen on loopback.
set -euo pipefail
if [ $# != 4 ] || [[ $4 != slurm && $4 != ray && $4 != s3s-fs ]]; then
    sed -n '5,7p' "${BASH_SOURCE[0]}" >&2
    exit 2
fi
program=$(realpath "$1") tasks=$(realpath "$2") part=$4 patience=${PATIENCE:-600}
case $3 in *://*) store=${3%/}/$part ;; *) store=$(realpath -m "$3")/$part ;; esac
cd "$(dirname "${BASH_SOURCE[0]}")/.."
place=$(mktemp -d)
chmod 755 "$place"
job='' planner='' driver='' daemons=() hold=${HOLD:-30}
clean() {
    if [ -n "$job" ]; then
        scancel "$job" 2>/dev/null || true
        within 20 no_task_left || true
    fi
    for pid in $driver $planner "${daemons[@]}"; do kill "$pid" 2>/dev/null || true; done
    for pid in $driver $planner "${daemons[@]}"; do within 20 is_gone "$pid" || kill -9 "$pid" 2>/dev/null || true; done
    [ ! -d "$place/objects" ] || bash scripts/objects down "$place/objects" || true
    [ ! -d "$place/server" ] || bash scripts/postgres down "$place/server" || true
    rm -rf "$place"
}
fail() {
    echo "starters: $*" >&2
    exit 1
}
# Asks until it is so, for that many seconds at most.
within() {
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        [ "$SECONDS" -lt "$end" ] || return 1
        sleep 0.2
    done
}
is_gone() { ! kill -0 "$1" 2>/dev/null; }
no_task_left() { [ -z "$(squeue -h -j "$job" 2>/dev/null)" ]; }
field() { python3 -c 'import json, sys; told = json.load(sys.stdin); print(*(told[key] for key in sys.argv[1:]))' "$@"; }
asked() { psql "$ledger" -qtAc "$1" 2>/dev/null; }
is_planned() { [ "$(asked 'select count(*) from benchwright.run')" = 1 ]; }
# So many workers hold work.
hold() { [ "$(asked 'select count(distinct worker) from benchwright.lease')" -ge "$1" ]; }
running() { squeue -h -r -t RUNNING -j "$job" -o "%A"; }
run=("$program" run "$tasks" --agent idle --agent random --agent oracle -k "${ATTEMPTS:-4}" --json)

slurm_install() {
    if ! command -v slurmctld slurmd munged sbatch >/dev/null; then
        export DEBIAN_FRONTEND=noninteractive
        local line=(apt-get -qq install -y --no-install-recommends slurm-wlm munge)
        "${line[@]}" >"$place/apt.log" 2>&1 || { apt-get -qq update && "${line[@]}"; } >"$place/apt.log" 2>&1 || true
    fi
    command -v slurmctld slurmd munged sbatch >/dev/null || { echo "Slurm cannot be installed: apt-get install slurm-wlm munge" >&2; exit 77; }
}

slurm_up() {
    mkdir "$place/state" "$place/spool" "$place/munge"
    head -c 128 /dev/urandom >"$place/munge/key"
    chmod 600 "$place/munge/key"
    # No cgroups, no accounts, and more tasks than there are cores.
    cat >"$place/slurm.conf" <<CONF
ClusterName=benchwright
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$place/munge/socket
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=2
StateSaveLocation=$place/state
SlurmdSpoolDir=$place/spool
SlurmctldPidFile=$place/slurmctld.pid
SlurmdPidFile=$place/slurmd.pid
SlurmctldLogFile=$place/slurmctld.log
SlurmdLogFile=$place/slurmd.log
SlurmctldPort=46817
SlurmdPort=46818
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
NodeName=localhost NodeAddr=127.0.0.1 CPUs=$(nproc) RealMemory=$(awk '/^MemTotal/ { print int($2 / 1024) }' /proc/meminfo) State=UNKNOWN
PartitionName=main Nodes=localhost Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:8
CONF
    export SLURM_CONF=$place/slurm.conf
    munged --foreground --key-file="$place/munge/key" --socket="$place/munge/socket" --pid-file="$place/munge/pid" \
        --log-file="$place/munge/log" --seed-file="$place/munge/seed" >"$place/munged.log" 2>&1 &
    daemons+=($!)
    within 10 test -S "$place/munge/socket" || { cat "$place/munged.log" >&2; fail "munged does not start"; }
    slurmctld -D >/dev/null 2>&1 &
    daemons=($! "${daemons[@]}")
    slurmd -D -N localhost >/dev/null 2>&1 &
    daemons=($! "${daemons[@]}")
    is_idle() { [ "$(sinfo -h -o %T 2>/dev/null)" = idle ]; }
    within 30 is_idle || { tail -20 "$place/slurmctld.log" "$place/slurmd.log" >&2; fail "the node does not come up"; }
}

slurm_work() {
    job=$(BENCHWRIGHT=$program BENCHWRIGHT_LEDGER=$ledger BENCHWRIGHT_STORE=$store BENCHWRIGHT_HOLD=$hold sbatch --parsable --array=0-7 \
        --output="$place/task-%a.log" deploy/slurm.sbatch)
    within "$patience" hold 2 || fail "no worker took work: $(cat "$place"/task-*.log)"
    # Better all of them, that those who are killed hold some; but not at the price of there being none left.
    within 3 hold 8 || true
    killed=0
    for task in $(running | head -2); do
        # shellcheck disable=SC2046
        kill -9 $(scontrol listpids "$task" | awk 'NR > 1 && $1 > 1 { print $1 }') && killed=$((killed + 1))
    done
    within "$patience" no_task_left || fail "workers still run: $(squeue -h -r -j "$job")"
    ended=$(scontrol show job "$job" | grep -c 'JobState=COMPLETED') || true
    [ "$killed $ended" = "2 6" ] || fail "$killed tasks were killed and $ended ended well: $(scontrol show job "$job" | grep -o 'JobState=.*')"
    told="8 tasks of an array, 2 killed"
}

ray_install() {
    package=${PACKAGE:-$(ls -t target/wheels/benchwright-*.whl 2>/dev/null | head -1 || true)}
    [ -n "$package" ] || fail "there is no wheel: bash scripts/wheel, or PACKAGE"
    python3 -m venv "$place/venv"
    "$place/venv/bin/pip" install --quiet --disable-pip-version-check ray >"$place/pip.log" 2>&1 ||
        { echo "Ray cannot be installed: pip install ray" >&2; exit 77; }
    case $package in
    *.whl) "$place/venv/bin/pip" install --quiet --disable-pip-version-check "$package" ;;
    *) PYTHONPATH=$(realpath "$package") && export PYTHONPATH ;;
    esac
}

ray_up() {
    # Ray listens on every address: where it can, it gets a network in which there is only loopback.
    inside=()
    if [ "$(id -u)" = 0 ] && [[ $store != *://* ]] && unshare --net ip link set lo up 2>/dev/null; then
        # shellcheck disable=SC2016
        inside=(unshare --net bash -c 'ip link set lo up && exec "$@"' inside)
    fi
    head -c 32 /dev/urandom | od -An -v -tx1 | tr -d ' \n' >"$place/token"
    chmod 600 "$place/token"
    # Its workers would give way to whatever else this machine does.
    export RAY_AUTH_TOKEN_PATH=$place/token RAY_TMPDIR=$place RAY_USAGE_STATS_ENABLED=0 RAY_worker_niceness=0
}

actor() { pgrep -P "$(pgrep -P "$driver" -x raylet)" -f 'ray::_Worker' | head -1; }
has_child() { pgrep -P "$(actor)" >/dev/null; }
ray_work() {
    BENCHWRIGHT=$program "${inside[@]}" "$place/venv/bin/python" - "$ledger" "$store" >"$place/ray.log" 2>&1 <<'PYTHON' &
import sys

import ray

import benchwright.ray

ray.init(num_cpus=4, include_dashboard=False, object_store_memory=100 << 20)
benchwright.ray.work(4, ledger=sys.argv[1], store=sys.argv[2])
PYTHON
    driver=$!
    holds_or_gone() { hold 2 || is_gone "$driver"; }
    within "$patience" holds_or_gone && within 10 has_child || fail "no worker took work: $(tail -20 "$place/ray.log")"
    within 3 hold 4 || true
    kill -9 "$(actor)"
    within "$patience" is_gone "$driver" || fail "the actors still run: $(tail -20 "$place/ray.log")"
    wait "$driver" || fail "the actors did not end well: $(tail -20 "$place/ray.log")"
    driver=''
    grep -q 'Worker exit type: SYSTEM_ERROR' "$place/ray.log" || fail "no actor died"
    told="4 actors, 1 killed"
}

s3s-fs_install() {
    mkdir "$place/objects"
    # What it keeps is where it was asked for.
    mkdir -p "$store" && ln -s "$store" "$place/objects/data"
    exports=$(bash scripts/objects up s3s-fs "$place/objects") || exit $?
    eval "$exports"
    store=s3://benchwright/started
}
s3s-fs_up() { :; }
s3s-fs_work() {
    for nth in 1 2 3 4; do
        "$program" work --ledger "$ledger" --store "$store" --jobs 1 --hold "$hold" >"$place/work-$nth.log" 2>&1 &
        daemons+=($!)
    done
    within "$patience" hold 4 || fail "no worker took work: $(cat "$place"/work-*.log)"
    # Some of what is recorded is in it by then, and some comes after.
    has_half() { [ "$(asked 'select count(*) from benchwright.trial_1 where state = 2')" -ge $((planned / 3)) ]; }
    within "$patience" has_half || fail "nothing is recorded: $(cat "$place"/work-*.log)"
    bash scripts/objects kill "$place/objects"
    for pid in "${daemons[@]}"; do
        within "$patience" is_gone "$pid" || fail "workers still run"
        wait "$pid" || fail "a worker failed: $(cat "$place"/work-*.log)"
    done
    daemons=()
    told="4 processes on s3s-fs, which was killed with a third recorded"
}

trap clean EXIT
alone=${ALONE:-$place/alone}
[ -d "$alone" ] || "${run[@]}" --runs "$alone" >/dev/null 2>&1
read -r planned digest <<<"$("$program" report --runs "$alone" --json | field attempted records)"
"${part}_install"
ledger=$(bash scripts/postgres up "$place/server") || exit $?
"${part}_up"
begun=$SECONDS
"${run[@]}" --ledger "$ledger" --store "$store" >"$place/run.json" 2>"$place/run.log" &
planner=$!
within "$patience" is_planned || fail "nothing was planned: $(cat "$place/run.log")"
"${part}_work"
within "$patience" is_gone "$planner" || fail "not all is recorded: $("$program" report --ledger "$ledger" --store "$store" --json | field attempted)"
wait "$planner" || fail "the run failed: $(cat "$place/run.log")"
planner=''
took=$((SECONDS - begun))
read -r recorded errors records <<<"$("$program" report --ledger "$ledger" --store "$store" --json | field attempted errors records)"
[ "$errors" = 0 ] || fail "$errors trials are errors"
[ "$recorded $records" = "$planned $digest" ] || fail "$recorded of $planned trials are recorded, and the records are $records, not $digest"
echo "$recorded trials by $told, in $took s, none lost, none twice; records $records"
