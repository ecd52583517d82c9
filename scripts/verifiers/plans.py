"""The calls of the oracle, out of a folder of runs, as the plans of `scripted_model.py`.

    python3 plans.py TASKS RUNS >PLANS.jsonl

A run names its tasks by id and digest in the ledger, a trial names its task by digest, and its folder holds the trace.
"""

import json
import pathlib
import sqlite3
import sys


def main(tasks, runs):
    ledger = sqlite3.connect(f"file:{runs / 'ledger.sqlite'}?mode=ro", uri=True)
    ids = {}
    for (line,) in ledger.execute("select line from task"):
        task = json.loads(line)
        ids[task["digest"]] = task["id"]
    calls = {}
    for told in sorted(runs.glob("*/trials/*/trial.json")):
        key = json.loads(told.read_text())["key"]
        if key["agent"] == "oracle":
            trace = json.loads(told.with_name("trace.json").read_text())
            calls[ids[key["task"]]] = [{"tool": call["tool"], "arguments": call["arguments"]} for call in trace["calls"]]
    wanted = sorted(folder.name for folder in (tasks / "open").iterdir())
    missing = [task for task in wanted if task not in calls]
    if missing:
        sys.exit(f"the oracle has no trial of {', '.join(missing)}")
    for task in wanted:
        instruction = (tasks / "open" / task / "instruction.md").read_text()
        print(json.dumps({"task": task, "instruction": instruction, "calls": calls[task]}))


if __name__ == "__main__":
    main(*map(pathlib.Path, sys.argv[1:3]))
