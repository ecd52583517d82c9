"""Reads the trials of a Harbor job and says in one line how many there are, how many had which reward, and how many ended in an error.
Harbor's own mean counts an error as 0, so each trial's result is read.

Usage: results.py JOB_FOLDER TASKS WANTED SECONDS
Exits 0 only if there is one trial for each of TASKS tasks, none with an error, and every reward is {"reward": WANTED}.
"""

import json
import pathlib
import sys


def main():
    job, tasks, wanted, seconds = pathlib.Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
    trials = [json.loads(path.read_text()) for path in sorted(job.glob("*/result.json"))]
    rewards = [(trial.get("verifier_result") or {}).get("rewards") for trial in trials]
    errors = [trial for trial in trials if trial.get("exception_info")]
    ones, zeros = (sum(reward == {"reward": value} for reward in rewards) for value in (1, 0))
    print(f"{job.name}: {len(trials)} trials of {tasks} tasks, {ones} with 1.0, {zeros} with 0.0, {len(errors)} errors, {seconds} s")
    for trial in errors:
        error = trial["exception_info"]
        print(f"  {trial['task_name']}: {error['exception_type']}: {error['exception_message'].strip()[-300:]}")
    right = sum(reward == {"reward": wanted} for reward in rewards)
    return 0 if tasks == len(trials) == right and tasks and not errors else 1


sys.exit(main())
