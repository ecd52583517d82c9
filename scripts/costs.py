#!/usr/bin/env python3
"""What tasks cost: the CPU of making and of auditing some tasks of every ERP pattern, and from these what a million would cost.

    python3 scripts/costs.py PROGRAM FOLDER [COUNT [DRAWN [DOLLARS]]]

PROGRAM is a released program, FOLDER one for the tasks, COUNT how many of each pattern [default: 7], at its own tier and objective, DRAWN on how many of
them the four costly trials are run [default: 1], DOLLARS the price of an hour of a core [default: 0.04]. A million is as many of each pattern, every trial on every task
but the costly ones, which are run on 299 tasks of each pattern, as `audit --depth sample` does. It prints a line a pattern as soon as it is known, keeps
them in FOLDER/costs.json and goes on there when it is started again, and fails where a task cannot be made or a trial fails.
"""

import json
import pathlib
import resource
import shutil
import subprocess
import sys

DEAR = ["near-miss", "both-sides", "ablate", "dominance"]
MILLION, SAMPLE = 1_000_000, 299


def spent(line):
    """The CPU seconds of a command with all that it starts, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done


def main(program, folder, count="7", drawn="1", dollars="0.04"):
    folder = pathlib.Path(folder)
    _, listed = spent([program, "patterns", "--json"])
    patterns = [pattern for pattern in json.loads(listed.stdout) if pattern["family"] == "erp"]
    kept = folder / "costs.json"
    known = json.loads(kept.read_text()) if kept.exists() else {}
    found, wrong, cheap = [], [], []
    print(f"{'pattern':<58}{'tier':>8}{'make':>8}{'every':>8}{'dear':>8}   CPU-s a task")
    for pattern in patterns:
        name, tier = pattern["name"], pattern["tiers"][0]
        if name in known:
            found.append(known[name])
            print(f"{name:<58}{tier:>8}" + "".join(f"{cost:>8.2f}" for cost in known[name]))
            continue
        tasks = folder / name.replace("/", "-")
        shutil.rmtree(tasks, ignore_errors=True)
        objective = pattern["cells"][tier][0]
        line = [program, "new", name, "--tier", tier, "--objective", objective, "--seed", "1", "--count", count, "-o", tasks]
        make, done = spent(line)
        if done.returncode:
            wrong.append(f"{name}: not all tasks were made")
            continue
        if not cheap:
            # All trials there are, as an audit tells them.
            _, done = spent([program, "audit", tasks, "--json", "--sample", "1"])
            cheap = [trial for trial in json.loads(done.stdout)["trials"] if trial not in DEAR + ["suite"]]
        told = {}
        costs = [make / int(count)]
        for trials, sample in ((cheap, count), (DEAR, drawn)):
            cost, done = spent([program, "audit", tasks, "--json", "--sample", sample, *[f"--trial={trial}" for trial in trials]])
            told.update(json.loads(done.stdout)["trials"])
            costs.append(cost / int(sample))
        failed = [f"{trial} {result['failed']}" for trial, result in told.items() if result["failed"]]
        wrong.extend(f"{name}: {each}" for each in failed)
        found.append(costs)
        if not failed:
            known[name] = costs
            kept.write_text(json.dumps(known, indent=1))
        print(f"{name:<58}{tier:>8}" + "".join(f"{cost:>8.2f}" for cost in costs), flush=True)
    make, every, dear = (sum(costs) / max(len(found), 1) for costs in zip(*found))
    hours = [MILLION * make / 3600, (MILLION * every + SAMPLE * len(found) * dear) / 3600]
    print(f"{len(found)} patterns, {len(found) * int(count)} tasks: {make:.2f} to make, {every:.2f} for every task's trials, {dear:.2f} for the costly ones")
    price = sum(hours) * float(dollars)
    print(f"a million: {hours[0]:.0f} core-hours to make, {hours[1]:.0f} to audit; {price:.0f} dollars at {dollars} an hour")
    for each in wrong:
        print(f"wrong: {each}", file=sys.stderr)
    return 1 if wrong or not found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
