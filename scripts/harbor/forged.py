"""Reads the four jobs of `harbor-check --forge`: which attacks went through, whether the verdict under attack is the one without, and
whether a verdict says that the agent ran as root.

Usage: forged.py JOBS_FOLDER
"""

import collections
import json
import pathlib
import sys

def only(folder, pattern):
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise SystemExit(f"error: {len(found)} files {pattern} in {folder}")
    return found[0]


def attacks(job):
    """Counts the lines of the attacks by their first word, and prints those that must not be."""
    lines = only(job, "*/agent/oracle.txt").read_text(errors="replace").splitlines()
    counts = collections.Counter(line.split(" ", 1)[0] for line in lines)
    stayed = list(job.glob("*/artifacts/logs/artifacts/stayed.txt"))
    late = collections.Counter(stayed[0].read_text().splitlines()) if stayed else {}
    breaches = [line for line in lines if line.startswith(("reached ", "missing "))]
    breaches += [f"the process that stays: {seen}" for seen in late if "," in seen]
    if not late:
        breaches.append("missing the notes of the process that stays")
    refused, planted = counts["refused"], counts["planted"]
    print(f"{job.name}: {refused} attacks refused, {planted} allowed and without effect, {len(breaches)} went through")
    print(f"  the process that stays: {', '.join(f'{count} times {seen}' for seen, count in late.items())}")
    for line in breaches:
        print(f"  {line}")
    return not breaches and refused > 0 and planted > 0


def main():
    jobs = pathlib.Path(sys.argv[1])
    verdict = {kind: json.loads(only(jobs / f"forge-{kind}", "*/verifier/verdict.json").read_text()) for kind in ("plain", "oracle", "idle", "root")}
    right = all([attacks(jobs / "forge-oracle"), attacks(jobs / "forge-idle")])
    same = verdict["plain"] == verdict["oracle"]
    print(f"the verdict with attacks is {'the same as' if same else 'NOT the same as'} without")
    for key in sorted({key for kind in ("plain", "oracle") for key in verdict[kind] if verdict["plain"].get(key) != verdict["oracle"].get(key)}):
        print(f"  {key}: {verdict['plain'].get(key)} without, {verdict['oracle'].get(key)} with")
    told = [kind for kind, inner in verdict.items() if inner.get("as_root")] == ["root"]
    print(f"the verdict of the agent that ran as root {'says so' if told else 'does NOT say so'}")
    return 0 if right and same and told else 1


sys.exit(main())
