#!/usr/bin/env python3
"""Chooses the tasks of suites/ops-1150.toml and suites/ops-refusal-300.toml.

  scripts/choose-ops.py candidates FILE.toml [--patterns DIR] [--seeds N]
      writes a suite with every scenario at every tier and so many seeds, and every blocked variant
  benchwright build FILE.toml -o DIR        makes them; those that cannot be made are told, and left out
  scripts/choose-ops.py choose DIR [--suites DIR]
      chooses, writes both lock files without digests, and prints every share beside what was wanted
  benchwright build suites/ops-1150.toml -o out --lock      locks them

Nothing is random: the same candidates give the same choice. A task of ops-1150 that can be carried out is chosen only at the tier that its
own calls make it, easy to seven, medium to thirteen, hard from fourteen; blocked tasks and their twins are not held to that.
"""

import argparse
import collections
import json
import pathlib
import sys
import tomllib

HEAD = 'format = 1\nname = "{name}"\nversion = 1\nfamily = "scenario"\ncanary = "{canary}"\n'
CANARY = "benchwright canary 3f1c9a52-77d0-4c58-9c1e-5b0f6e2d8a41: benchmark data, do not train on it"
TIERS = ("easy", "medium", "hard")
# Tasks, mean calls, the least share with a way of the policy and the shares of the tiers, in hundredths. Over all groups the tiers are 40,
# 40 and 20; in each they are what its mean allows.
GROUPS = {
    "csm": (185, 12.0, 65, (32, 40, 28)),
    "itsm": (182, 10.0, 60, (40, 39, 21)),
    "hr": (185, 11.5, 55, (34, 40, 26)),
    "teams": (100, 8.5, 40, (48, 40, 12)),
    "calendar": (104, 7.5, 30, (55, 38, 7)),
    "email": (105, 6.5, 30, (60, 37, 3)),
    "drive": (105, 8.5, 30, (48, 40, 12)),
    "hybrid": (154, 10.5, 45, (36, 40, 24)),
}
# Least shares of all tasks, in hundredths, with a margin. A way more than is wanted costs nothing: whoever does only what is asked for
# must fail.
SHARES = {"sets": 42, "doubles": 27, "branches": 27, "dates": 22}
LONG, LONGER = 18, 30
MOST_OF_A_SCENARIO = 8
MOST_OF_A_VOICE = 3
# Chosen once, and found wanting by the audit: two whose whole work is one call, which cannot be done in part, and one whose request has
# a number that is also the id of a row. The next of the scenario takes the place of each.
SPARED = {
    ("hybrid/room-for-a-case", "easy", 2),
    ("teams/all-hands-townhall", "easy", 9),
    ("teams/product-webinar", "hard", 6),
}
BLOCKED = {"policy": 13, "no_tool": 7, "not_found": 6, "permission": 3, "contradiction": 1}
BLOCKED_IN = {"itsm": 6, "csm": 6, "hr": 5, "calendar": 4, "drive": 3, "email": 2, "teams": 2, "hybrid": 2}
PAIRS = {"policy": 60, "permission": 25, "no_tool": 25, "not_found": 25, "contradiction": 15}


def scenarios(patterns):
    for file in sorted(pathlib.Path(patterns).glob("*/*/scenario.toml")):
        yield "/".join(file.parts[-3:-1]), tomllib.loads(file.read_text())


def line(pattern, tier, objective, seed):
    return f'\n[[task]]\npattern = "{pattern}"\ntier = "{tier}"\nobjective = "{objective}"\nseed = {seed}\n'


def candidates(options):
    text = [HEAD.format(name="candidates", canary=CANARY)]
    for name, scenario in scenarios(options.patterns):
        for tier in TIERS:
            text += [line(name, tier, "done", seed) for seed in range(1, options.seeds + 1)]
        for variant in scenario.get("blocked", {}):
            text += [line(name, tier, variant, seed) for tier in ("easy", "medium") for seed in (1,)]
    pathlib.Path(options.file).write_text("".join(text))
    print(f"{len(text) - 1} candidates in {options.file}")


def tier_of(calls):
    return "easy" if calls <= 7 else "medium" if calls <= 13 else "hard"


class Task:
    def __init__(self, sealed):
        case = sealed["case"]
        self.pattern, self.objective = sealed["pattern"], sealed["objective"]
        self.tier, self.seed = sealed["tier"], sealed["seed"]
        self.group = self.pattern.split("/")[0]
        self.measures, self.ways, self.voice = case["measures"], case["ways"], case["voice"]
        self.calls = self.measures["calls"]
        self.asked = tuple(case.get("asked", ()))
        self.branches = tuple(case.get("branches", ()))
        self.sizes = tuple(sorted((name, len(rows)) for name, rows in case["cast"].items() if isinstance(rows, list)))
        rows = collections.Counter(row["table"] for row in (sealed["effects"] or {}).get("expected", ()))
        self.key = (self.pattern, self.asked, self.sizes, tuple(self.ways), tuple(sorted(rows.items())))
        refusal = (sealed["effects"] or {}).get("refusal")
        self.obstacle = refusal["obstacle"] if refusal else None
        self.order = (self.pattern, TIERS.index(self.tier), self.objective, self.seed)

    def is_set(self):
        return any(size >= 3 for _, size in self.sizes)

    def has(self, what):
        return {
            "sets": self.is_set(),
            "doubles": self.measures["doubles"] > 0,
            "branches": bool(self.branches),
            "dates": self.measures["computed"] > 0,
        }[what]


def read(folder):
    tasks = [Task(json.loads(file.read_text())) for file in pathlib.Path(folder).glob("sealed/*/sealed.json")]
    return sorted(tasks, key=lambda task: task.order)


def choose_group(pool, count, mean, ways, mix):
    """Takes one after the other what brings the whole nearest to what is wanted."""
    chosen, keys = [], set()
    of, voices, tiers, shares = (collections.Counter() for _ in range(4))
    calls = with_way = 0
    mix = dict(zip(TIERS, mix))
    pool = list(pool)
    while len(chosen) < count:
        so_far = len(chosen) + 1

        def price(task):
            lack = mix[task.tier] / 100 * so_far - tiers[task.tier]
            off = abs((calls + task.calls) / so_far - mean)
            short = (ways + 8) / 100 * so_far - with_way
            way = -4 * min(short, 1) if task.ways else 2 * max(min(short, 1), 0)
            # The longest are few, and wanted.
            long = -2.5 if task.calls >= LONGER else -0.8 if task.calls >= LONG else 0
            wanting = sum(
                2 * max(min(share / 100 * so_far - shares[what], 1), 0)
                for what, share in SHARES.items()
                if not task.has(what)
            )
            return (of[task.pattern] * 1.2 - 2 * min(lack, 1.5) + 6 * max(off - 0.3, 0) + way + wanting + long, task.order)

        fits = [
            task
            for task in pool
            if task.key not in keys
            and of[task.pattern] < MOST_OF_A_SCENARIO
            and voices[task.pattern, task.voice] < MOST_OF_A_VOICE
        ]
        if not fits:
            break
        best = min(fits, key=price)
        chosen.append(best)
        keys.add(best.key)
        of[best.pattern] += 1
        voices[best.pattern, best.voice] += 1
        tiers[best.tier] += 1
        shares.update(what for what in SHARES if best.has(what))
        calls += best.calls
        with_way += bool(best.ways)
        pool.remove(best)
    return chosen


def choose_blocked(pool, wanted, places=None):
    """Blocked tasks by kind, spread over scenarios, and over groups where it is said how many each has."""
    chosen, of, groups = [], collections.Counter(), collections.Counter()
    for kind, count in sorted(wanted.items(), key=lambda item: item[1]):
        for _ in range(count):
            fits = [
                task
                for task in pool
                if task.obstacle == kind
                and (places is None or groups[task.group] < places[task.group])
                and not any(task.pattern == other.pattern and task.objective == other.objective for other in chosen)
            ]
            if not fits:
                break
            best = min(fits, key=lambda task: (of[task.pattern], groups[task.group], task.order))
            chosen.append(best)
            of[best.pattern] += 1
            groups[best.group] += 1
    return chosen


def write(folder, name, tasks):
    text = HEAD.format(name=name, canary=CANARY) + "".join(
        line(task.pattern, task.tier, task.objective, task.seed) for task in tasks
    )
    path = pathlib.Path(folder) / f"{name}.toml"
    path.write_text(text)
    print(f"{len(tasks)} tasks in {path}")


def share(tasks, test):
    return 100 * sum(map(bool, map(test, tasks))) / max(len(tasks), 1)


def tell(tasks):
    print("group      tasks wanted  calls wanted  ways % wanted  easy medium hard  sets %  scenarios")
    for group, (count, mean, ways, _) in GROUPS.items():
        own = [task for task in tasks if task.group == group]
        calls = sum(task.calls for task in own) / max(len(own), 1)
        tiers = collections.Counter(task.tier for task in own)
        print(
            f"{group:10} {len(own):5} {count:6} {calls:6.2f} {mean:6} {share(own, lambda task: task.ways):7.0f} {ways:6}"
            f"  {tiers['easy']:4} {tiers['medium']:6} {tiers['hard']:4} {share(own, Task.is_set):7.0f}"
            f"  {len({task.pattern for task in own}):9}"
        )
    calls = [task.calls for task in tasks]
    branched = [task for task in tasks if task.branches]
    taken = share(branched, lambda task: task.branches[0] in task.asked)
    print(f"all: {len(tasks)} tasks, mean calls {sum(calls) / max(len(calls), 1):.2f}, longest {max(calls, default=0)},")
    print(f"  of 18 calls and more {sum(c >= 18 for c in calls)} (60), of 30 and more {sum(c >= 30 for c in calls)} (10)")
    print(f"  a set of three and more {share(tasks, Task.is_set):.0f} % (40)")
    print(f"  a double {share(tasks, lambda task: task.measures['doubles']):.0f} % (25)")
    print(f"  a branch {share(tasks, lambda task: task.branches):.0f} % (25), the first side of it taken in {taken:.0f} % of them")
    print(f"  a computed date {share(tasks, lambda task: task.measures['computed']):.0f} % (20)")
    print(f"  a way {share(tasks, lambda task: task.ways):.0f} %, ways taken {len({way for task in tasks for way in task.ways})}")
    print(f"  edges a task {sum(task.measures['edges'] for task in tasks) / max(len(tasks), 1):.2f}")


def choose(options):
    tasks = read(options.file)
    done = [task for task in tasks if task.objective == "done" and tier_of(task.calls) == task.tier]
    blocked = [task for task in tasks if task.obstacle]
    twins = {(task.pattern, task.tier, task.seed): task for task in tasks if task.objective == "done"}
    refused = choose_blocked(blocked, BLOCKED, BLOCKED_IN)
    chosen = []
    for group, (count, mean, ways, mix) in GROUPS.items():
        pool = [task for task in done if task.group == group]
        chosen += choose_group(pool, count, mean, ways, mix)
    for spared in [task for task in chosen if (task.pattern, task.tier, task.seed) in SPARED]:
        keys, of = {task.key for task in chosen}, collections.Counter(task.pattern for task in chosen)
        others = [
            task
            for task in done
            if task.group == spared.group
            and task.key not in keys
            and (task.pattern, task.tier, task.seed) not in SPARED
            and (task.pattern == spared.pattern or of[task.pattern] < MOST_OF_A_SCENARIO)
        ]
        nearest = lambda task: (task.pattern != spared.pattern, task.tier != spared.tier, task.order)
        chosen[chosen.index(spared)] = min(others, key=nearest)
    # The twin of each blocked task is there too.
    have = {task.order for task in chosen}
    twin_orders = {twins[t.pattern, t.tier, t.seed].order for t in refused}
    for task in refused:
        twin = twins[task.pattern, task.tier, task.seed]
        if twin.order not in have:
            # It takes the place of one of its scenario, or else of its group, that is no twin.
            others = [o for o in chosen if o.group == task.group and o.order not in twin_orders]
            others.sort(key=lambda o: (o.pattern != task.pattern, o.key != twin.key, o.order))
            if others:
                chosen.remove(others[0])
            chosen = [o for o in chosen if o.key != twin.key] + [twin]
            have = {o.order for o in chosen}
    tell(chosen)
    kinds = collections.Counter(task.obstacle for task in refused)
    print("blocked:", dict(kinds), "wanted", BLOCKED)
    whole = sorted(chosen, key=lambda task: task.order) + sorted(refused, key=lambda task: task.order)
    write(options.suites, "ops-1150", whole)
    paired = choose_blocked(blocked, PAIRS)
    print("pairs:", dict(collections.Counter(task.obstacle for task in paired)), "wanted", PAIRS)
    print("  of", len({task.pattern for task in paired}), "scenarios (100)")
    both = [each for task in paired for each in (twins[task.pattern, task.tier, task.seed], task)]
    seen, unique = set(), []
    for task in both:
        if task.order not in seen:
            seen.add(task.order)
            unique.append(task)
    write(options.suites, "ops-refusal-300", unique)


def main():
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("what", choices=["candidates", "choose"])
    reader.add_argument("file", metavar="FILE|DIR")
    reader.add_argument("--patterns", default="patterns")
    reader.add_argument("--seeds", type=int, default=16)
    reader.add_argument("--suites", default="suites")
    options = reader.parse_args()
    {"candidates": candidates, "choose": choose}[options.what](options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
