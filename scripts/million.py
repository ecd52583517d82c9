#!/usr/bin/env python3
"""A run of a million grid trials on the ledger of a laptop: killed on the way, resumed, counted, and judged again in part.

    python3 scripts/million.py PROGRAM GRIDS FOLDER [TRIALS [KILLS]]

PROGRAM is a released program, GRIDS a folder with the suite grid-324, FOLDER an empty one for the run. It prints the trials a second from start to
end and of the first and the last tenth, what the run takes on disk, and the peak of memory; it fails where a trial is lost or twice, where a drawn
trial does not come to its state and verdict again, or where a bar is missed.
"""

import json
import pathlib
import re
import sqlite3
import subprocess
import sys
import time

LEAST = 2_000
LAST_TO_FIRST = 0.8
MOST_FILES = 1_000
MOST_BYTES = 1_024
SAMPLE = 10_000
AGENTS = ["idle", "greedy", "oracle"]


def numbers(text):
    for part in text.split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


class Ledger:
    """How many trials are recorded, by the chain, read beside who writes it."""

    def __init__(self, path):
        self.path, self.place, self.seen = path, 0, 0

    def look(self):
        if self.path.exists():
            with sqlite3.connect(f"file:{self.path}?mode=ro", uri=True, timeout=30) as asks:
                try:
                    rows = asks.execute("select place, numbers from link where place > ? order by place", [self.place]).fetchall()
                except sqlite3.OperationalError:
                    return self.seen  # it is being made
            for place, told in rows:
                self.place, self.seen = place, self.seen + sum(1 for _ in numbers(told))
        return self.seen


def main(program, grids, folder, trials=1_000_000, kills=3):
    attempts = -(-int(trials) // (324 * len(AGENTS)))
    planned, kills = attempts * 324 * len(AGENTS), int(kills)
    runs = pathlib.Path(folder) / "runs"
    line = [program, "run", grids, "--runs", str(runs), "-k", str(attempts), "--json"]
    line = ["/usr/bin/time", "-f", "%M", *line, *(word for agent in AGENTS for word in ("--agent", agent))]
    ledger, marks, peak = Ledger(runs / "ledger.sqlite"), [(0.0, 0)], 0
    begun = time.monotonic()
    for turn in range(kills + 1):
        process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        until = planned * (turn + 1) / (kills + 1) if turn < kills else None
        while process.poll() is None:
            time.sleep(0.5)
            marks.append((time.monotonic() - begun, ledger.look()))
            if until is not None and marks[-1][1] >= until:
                subprocess.run(["pkill", "-9", "-P", str(process.pid)], check=True)
                until = None
        out, err = process.communicate()
    took = time.monotonic() - begun
    if process.returncode:
        sys.exit(f"the last run ended with {process.returncode}: {err[-2000:]}")
    peak = int(err.strip().splitlines()[-1])
    told = json.loads(out)

    def reached(count):
        """When so many were recorded, between two looks."""
        (before, few), (after, many) = next(pair for pair in zip(marks, marks[1:]) if pair[1][1] >= count)
        return before + (after - before) * (count - few) / max(many - few, 1)

    def rate(share):
        """Trials a second of a tenth."""
        return 0.1 * planned / (reached(planned * (share + 0.1)) - reached(planned * share))

    first, last, end = rate(0.0), rate(0.9), reached(planned)
    with sqlite3.connect(runs / "ledger.sqlite") as asks:
        count, done = asks.execute("select count(*), sum(state = 2) from trial").fetchone()
        links = [told for (told,) in asks.execute("select numbers from link order by place")]
    recorded = [number for told_in in links for number in numbers(told_in)]
    files = [path for path in runs.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    print(f"{planned} trials in {took:.0f} s with {kills} kills: {planned / took:.0f} a second ({planned / end:.0f} until the last was recorded); first tenth {first:.0f}, last tenth {last:.0f}")
    print(f"{len(files)} files, {size / planned:.0f} bytes a trial, peak of the last process {peak // 1024} MiB, which recorded for {told['seconds']:.0f} s")
    faults = []
    if not count == done == planned == len(recorded) == len(set(recorded)) == told["scored"]:
        faults.append(f"{count} rows, {done} done, {len(recorded)} recorded, {len(set(recorded))} of them once, {told['scored']} scored")
    for name, held in [
        ("trials a second", planned / took >= LEAST),
        ("last tenth", last >= LAST_TO_FIRST * first),
        ("files", len(files) <= MOST_FILES),
        ("bytes", size / planned <= MOST_BYTES),
    ]:
        faults += [] if held else [f"missed: {name}"]
    begun = time.monotonic()
    again = subprocess.run([program, "report", "--runs", str(runs), "--verify", "--sample", str(SAMPLE)], capture_output=True, text=True)
    print(f"{again.stdout.strip()} ({time.monotonic() - begun:.0f} s)")
    if again.returncode or not re.search(rf"{min(SAMPLE, planned)} judged again to the same verdict", again.stdout):
        faults.append(f"not all that were drawn are as they were recorded: {again.stderr[-500:]}")
    sys.exit("; ".join(faults) or None)


main(*sys.argv[1:])
