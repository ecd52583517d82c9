#!/usr/bin/env python3
"""Asks the ten questions of docs/steps.md to a run kept in segments, and says how long each took.

    python3 scripts/steps.py RUN [--most SECONDS]

RUN is the folder of a run, runs/NAME. With --most it fails if a question takes longer. It needs duckdb.
"""

import pathlib
import re
import sys
import time

import duckdb

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs" / "steps.md"


def main(run, most=None):
    page = PAGE.read_text()
    asks = duckdb.connect()
    asks.execute("set threads = 2")
    (views,) = re.findall(r"```sql view\n(.*?)```", page, re.S)
    for view in views.strip().split(";\n"):
        asks.execute(view.replace("runs/NAME", run.rstrip("/")))
    questions = re.findall(r"^(\d+)\. ([^\n]+)\n\n```sql\n(.*?)```", page, re.S | re.M)
    assert [int(nth) for nth, _, _ in questions] == list(range(1, 11)), "the page has ten questions"
    steps = asks.execute("select count(*) from steps").fetchone()[0]
    print(f"{steps} steps")
    slow = []
    for nth, question, sql in questions:
        begun = time.monotonic()
        rows = asks.execute(sql).fetchall()
        took = time.monotonic() - begun
        print(f"{nth:>2}. {took:6.2f} s  {len(rows):>4} rows  {question}  {str(rows[:2])[:90]}", flush=True)
        slow += [nth] if most is not None and took > most else []
    if slow:
        sys.exit(f"longer than {most} s: {', '.join(slow)}")


if __name__ == "__main__":
    args = sys.argv[1:]
    main(args[0], float(args[2]) if args[1:2] == ["--most"] else None)
