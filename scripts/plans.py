#!/usr/bin/env python3
"""A suite of planning tasks, whole: made from its proofs without a solver, twice; counted; audited; and tried by every scripted agent.

    python3 scripts/plans.py PROGRAM SUITE.toml FOLDER [STEP...]

The steps are build, count, audit and run [default: all], in this order; each prints its figures and what is wrong, keeps both in FOLDER/STEP.json, and an
audit or a run that was cut off goes on where it stopped. The audit of a large suite takes hours. It fails where the suite falls short of what is asked of
every planning suite:

  build   the same bytes twice, without a solver, each within ten minutes
  count   every easy task is proved, medium within 3 % of the bound, hard within 5 %, stages within 25 %; a headline rule binds in six of ten of its tasks
          (six of ten of them all in a suite with one task of each workflow); every trap is live; no two tasks have the same plan
  audit   nothing failed and nothing without a verdict; mutation score 1; closed-book on every task
  run     oracle passes all; idle, random and spam pass none, idle earns 0 and the other two at most 0.005; greedy passes none at medium and hard; reader
          passes 19 of 20 tasks without stages; hurried and forgetful pass at most a quarter at medium and hard
"""

import collections
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import time
import tomllib

ADMITTED = {"easy": 0, "medium": 3, "hard": 5}
AGENTS = ["idle", "random", "spam", "greedy", "hurried", "forgetful", "reader", "oracle"]
WORKFLOWS = pathlib.Path(__file__).resolve().parent.parent / "domains" / "planning"


def spent(line, **env):
    """What a command printed, with the seconds that it took by the wall and of the CPU."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run([str(word) for word in line], stdout=subprocess.PIPE, text=True, check=False, env={**os.environ, **env})
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - begun
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"    {wall:.0f} s, {cpu:.0f} s of CPU: {' '.join(str(word) for word in line[1:])}", flush=True)
    return done, wall, cpu


def sealed(folder):
    """The sealed part of every task that was made."""
    return [json.loads(path.read_text()) for path in sorted((folder / "plans" / "sealed").glob("*/sealed.json"))]


def build(program, suite, folder):
    wrong, found, walls = [], {}, []
    for name in ("plans", "again"):
        done, wall, cpu = spent([program, "build", suite, "-o", folder / name, "--json"], BENCHWRIGHT_SOLVER="/nonexistent")
        walls.append(wall)
        if done.returncode:
            return {}, [f"`build` ended with {done.returncode}"]
        told = json.loads(done.stdout)
        found = {key: told[key] for key in ("tasks", "digest", "by")}
    found["seconds"] = [round(wall, 1) for wall in walls]
    if subprocess.run(["diff", "-rq", folder / "plans", folder / "again"], check=False).returncode:
        wrong.append("made twice, the bytes differ")
    if max(walls) > 600:
        wrong.append("it takes more than ten minutes")
    return found, wrong


def headlines(task):
    workflow = WORKFLOWS / task["pattern"].split("/")[1]
    rules = list(tomllib.loads((workflow / "planning.toml").read_text()).get("headline", []))
    if task["tier"].endswith("-stages"):
        rules += tomllib.loads((workflow / "stages.toml").read_text()).get("headline", [])
    return rules


def count(_program, _suite, folder):
    wrong, proved, gaps, exact = [], collections.Counter(), {}, 0
    tiers, families, stages, binding = collections.Counter(), collections.Counter(), 0, collections.defaultdict(list)
    plans = collections.Counter()
    for task in sealed(folder):
        name, certificate = f"{task['pattern']} {task['tier']} {task['seed']}", task["certificate"]
        phase = certificate["phases"][0]
        value, bound = phase["value"], phase.get("bound", phase["value"])
        gap = 100 * abs(value - bound) / max(1, abs(value))
        is_staged = task["tier"].endswith("-stages")
        tiers[task["tier"]] += 1
        workflow = WORKFLOWS / task["pattern"].split("/")[1] / "planning.toml"
        families[tomllib.loads(workflow.read_text())["family"]] += 1
        stages += sum(clause == "stages" for clause in task["switches"])
        proved[task["tier"]] += phase["proved"]
        if not phase["proved"]:
            gaps[name] = round(gap, 2)
        if gap > (25 if is_staged else ADMITTED[task["tier"].split("-")[0]]):
            wrong.append(f"{name}: {gap:.2f} % above its bound")
        exact += any(isinstance(phase.get("exact"), dict) for phase in certificate["phases"])
        plans[json.dumps(certificate["plan"], sort_keys=True)] += 1
        weights = certificate.get("weights", {})
        for rule in headlines(task):
            # Rules that a task does not have, as they come with a tier, say nothing of it.
            if f"rule {rule}" in weights:
                binding[rule].append(weights[f"rule {rule}"] == "binds")
        wrong.extend(f"{name}: {what} {said}" for what, said in weights.items() if what.startswith("trap ") and "misleads nobody" in said)
    # Of one task no share can be told: where there is one of each workflow, all headline rules count together.
    if all(len(binds) == 1 for binds in binding.values()):
        binding = {"a headline rule": [binds[0] for binds in binding.values()]}
    weak = {rule: f"{sum(binds)} of {len(binds)}" for rule, binds in sorted(binding.items()) if sum(binds) < 0.6 * len(binds)}
    wrong.extend(f"{rule} binds in {said} of its tasks" for rule, said in weak.items())
    if plans and max(plans.values()) > 1:
        wrong.append("two tasks have the same plan")
    found = {"tiers": tiers, "families": families, "proved": proved, "gaps": gaps, "exact bounds": exact, "tasks with stages": stages}
    return found, wrong


def audit(program, suite, folder):
    done, wall, cpu = spent([program, "audit", folder / "plans", "--json"])
    if not done.stdout:
        return {}, [f"`audit` ended with {done.returncode}"]
    (folder / "audited.json").write_text(done.stdout)
    told = json.loads(done.stdout)
    trials, wrong = told["trials"], []
    for name, trial in trials.items():
        if trial["failed"] or trial["no_verdict"] or trial["run"] != trial["passed"] + trial["na"]:
            wrong.append(f"{name}: {trial['failed']} failed, {trial['no_verdict']} without a verdict")
    if told["mutation_score"] != 1:
        wrong.append(f"mutation score {told['mutation_score']}")
    if trials["closed-book"]["passed"] != told["tasks"]:
        wrong.append(f"closed-book on {trials['closed-book']['passed']} of {told['tasks']}")
    wrong.extend(": ".join(short) for short in told.get("shortfalls", []))
    kept = {name: {key: trial[key] for key in ("passed", "na", "seconds")} for name, trial in trials.items()}
    found = {"tasks": told["tasks"], "mutation score": told["mutation_score"], "near-misses": trials["near-miss"].get("counts", {})}
    return {**found, "wall": round(wall), "cpu": round(cpu), "trials": kept}, wrong


def run(program, suite, folder):
    agents = [word for agent in AGENTS for word in ("--agent", agent)]
    done, wall, cpu = spent([program, "run", folder / "plans", *agents, "-k", "1", "--runs", folder / "runs", "--json"])
    told, _, _ = spent([program, "report", "--runs", folder / "runs", "--json"])
    if done.returncode or told.returncode:
        return {}, ["`run` or `report` did not end well"]
    wrong, found = [], {"wall": round(wall), "cpu": round(cpu)}
    for agent in json.loads(told.stdout)["agents"]:
        name, tiers = agent["agent"], {}
        for group in agent["by"]["tier"]:
            figures = group["figures"]
            trials = figures["counts"]["scored"]
            tiers[group["name"]] = (round(figures["pass_at_1"]["value"] * trials), trials, figures["mean_reward"]["value"])
        found[name] = tiers

        def of(*words):
            """Passed and tried at tiers of these names, with the mean reward."""
            some = [each for tier, each in tiers.items() if not words or re.split("-", tier)[0] in words]
            passed, tried = sum(each[0] for each in some), sum(each[1] for each in some)
            return passed, tried, sum(each[1] * each[2] for each in some) / max(1, tried)

        passed, tried, reward = of()
        harder, of_harder, _ = of("medium", "hard")
        once = [each for tier, each in tiers.items() if not tier.endswith("-stages")]
        holds = {
            "idle": passed == 0 and reward == 0,
            "random": passed == 0 and reward <= 0.005,
            "spam": passed == 0 and reward <= 0.005,
            "greedy": harder == 0,
            "hurried": harder <= of_harder / 4,
            "forgetful": harder <= of_harder / 4,
            "reader": sum(each[0] for each in once) >= 0.95 * sum(each[1] for each in once),
            "oracle": passed == tried,
        }[name]
        if not holds:
            wrong.append(f"{name} passes {passed} of {tried} ({harder} of {of_harder} at medium and hard) and earns {reward:.4f}")
    return found, wrong


STEPS = {"build": build, "count": count, "audit": audit, "run": run}


def main(program, suite, folder, *steps):
    folder = pathlib.Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    program, suite, fell = pathlib.Path(program).resolve(), pathlib.Path(suite).resolve(), False
    for name in steps or STEPS:
        print(name, flush=True)
        found, wrong = STEPS[name](program, suite, folder)
        (folder / f"{name}.json").write_text(json.dumps({"found": found, "wrong": wrong}, indent=1))
        for key, value in found.items():
            print(f"    {key}: {json.dumps(value)}")
        for each in wrong:
            print(f"    wrong: {each}")
        sys.stdout.flush()
        fell = fell or bool(wrong)
    return 1 if fell else 0


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
