"""What came of a run of `vf-eval`: how many tasks earned what, and nothing else than REWARD on each of COUNT tasks.

    python3 rewards.py TRACES.jsonl COUNT REWARD
"""

import collections
import json
import sys


def main(path, count, reward):
    counts, failed = collections.Counter(), []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            episode = json.loads(line)
            # One agent plays an episode, so it has one trace; without one it broke before it began.
            for trace in episode["traces"] or [{}]:
                given = (trace.get("rewards") or {}).get("nemo_gym")
                counts["none" if given is None else f"{given['score']:g}"] += 1
            errors = episode["errors"] + [error for trace in episode["traces"] for error in trace["errors"]]
            if errors or not episode["ok"]:
                failed.append(json.dumps(errors)[:400])
    print(json.dumps({"rewards": dict(counts), "errors": len(failed)}))
    for why in failed[:3]:
        print(why, file=sys.stderr)
    if failed or dict(counts) != {f"{float(reward):g}": int(count)}:
        sys.exit(f"not {reward} on each of {count} tasks")


if __name__ == "__main__":
    main(*sys.argv[1:4])
