"""The doors into other packages, each with the real package: Gymnasium, Inspect AI, and what TRL reads (`transformers`, `datasets`).

BENCHWRIGHT_RUNS is as in test_package.py. The model of Inspect is its own mock, which says what it is told to: no model is asked.
"""

import glob
import inspect
import json
import os
import pathlib
import pickle
import subprocess
import tempfile
import unittest
import warnings

import benchwright as bw

OTHERS = os.environ.get("BENCHWRIGHT_TASKS")


def oracle():
    """The calls of the certified plan by the first state."""
    plans = {}
    for folder in glob.glob(os.path.join(os.environ["BENCHWRIGHT_RUNS"], "*", "trials", "*")):
        trial = json.loads(pathlib.Path(folder, "trial.json").read_text())
        if trial["key"]["agent"] == "oracle":
            trace = json.loads(pathlib.Path(folder, "trace.json").read_text())
            plans[trace["start"]] = [(call["tool"], json.loads(call["arguments"])) for call in trace["calls"]]
    return plans


class Doors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.suite = bw.demo()
        plans = oracle()
        cls.plans = {id: plans[cls.suite[id].begin().trace()["start"]] for id in cls.suite.ids}

    def test_gymnasium_takes_a_task_for_an_environment(self):
        from benchwright.gym import Env
        from gymnasium.utils.env_checker import check_env

        with warnings.catch_warnings():
            warnings.simplefilter("error")
            check_env(Env(self.suite[0], tools="oracle+5"), skip_render_check=True)
        for id, plan in self.plans.items():
            env = Env(self.suite[id])
            seen, about = env.reset(seed=1)
            self.assertEqual((seen, about["task"]), (self.suite[id].instruction, id))
            for tool, arguments in plan:
                _, reward, terminated, truncated, about = env.step(json.dumps({"tool": tool, "arguments": arguments}))
                self.assertEqual((reward, terminated, truncated, about["refused"]), (0.0, False, False, False))
            self.assertEqual(env.step("")[1:3], (1.0, True))
            env.reset()
            for wrong in ("nonsense", "[]", '{"tool": 5}', '{"tool": "no_such_tool"}'):
                self.assertTrue(env.step(wrong)[4]["refused"], wrong)
            self.assertEqual(env.step("")[1:3], (0.0, True))

    def test_many_environments_are_stepped_at_once(self):
        from benchwright.gym import VectorEnv

        tasks = [self.suite[id] for id in self.suite.ids]
        many = VectorEnv(tasks, 12)
        seen, _ = many.reset(seed=1)
        self.assertEqual(seen[7], tasks[2].instruction)
        plans = [self.plans[task.id] for task in tasks]
        earned, over = [0.0] * 12, [False] * 12
        for step in range(max(map(len, plans)) + 1):
            actions = []
            for place in range(12):
                plan = plans[place % 5]
                is_done = place >= 10 or step >= len(plan)
                actions.append("" if is_done else json.dumps({"tool": plan[step][0], "arguments": plan[step][1]}))
            again = list(over)
            seen, rewards, terminated, truncated, _ = many.step(actions)
            for place in range(12):
                if not over[place]:
                    earned[place] += rewards[place]
                over[place] = over[place] or bool(terminated[place] or truncated[place])
                if place >= 10 and again[place] and step == 1:
                    # What was over is begun again by the next step, which takes no action.
                    self.assertEqual((seen[place], terminated[place]), (tasks[place % 5].instruction, False))
        self.assertEqual(earned, [1.0] * 10 + [0.0] * 2)
        self.assertTrue(all(over))

    def test_inspect_plays_and_scores(self):
        import benchwright.inspect
        from inspect_ai import eval as evaluate
        from inspect_ai.model import ModelOutput, get_model

        def said(is_scripted):
            for id in self.suite.ids:
                for tool, arguments in self.plans[id] if is_scripted else []:
                    yield ModelOutput.for_tool_call("mockllm/model", tool, arguments)
                yield ModelOutput.from_content("mockllm/model", "done")

        for is_scripted in (True, False):
            model = get_model("mockllm/model", custom_outputs=list(said(is_scripted)))
            with tempfile.TemporaryDirectory() as logs:
                task = benchwright.inspect.benchwright(tools="oracle+5")
                log = evaluate(task, model=model, max_samples=1, display="none", log_dir=logs)[0]
                self.assertEqual(log.status, "success", log.error)
                scores = [sample.scores["judged"].value for sample in log.samples]
            wanted = float(is_scripted)
            self.assertEqual(scores, [{"reward": wanted, "passed": wanted}] * 5)
        self.assertEqual(benchwright.inspect._EPISODES, {})

    def test_trl_finds_the_tools_that_are_offered(self):
        from benchwright.trl import Spec
        from transformers.utils import get_json_schema

        spec = Spec(tools="oracle+5")
        factories = pickle.loads(pickle.dumps(spec.environment_factory))
        worked = []
        for row in spec.train_dataset:
            factory, task = factories[row["environment"]], self.suite[row["task"]]
            # As TRL looks for them: a prompt shows what the task offers, no more and no less.
            functions = inspect.getmembers(type(factory()), predicate=inspect.isfunction)
            found = {name for name, _ in functions if name != "reset" and not name.startswith("_")}
            offered = {tool["name"]: tool for tool in task.tools("oracle+5")}
            self.assertEqual(found, set(offered))
            # TRL would pay this beside the reward function, and so everything twice.
            self.assertFalse(hasattr(factory(), "get_reward"))
            for name in found:
                schema = get_json_schema(getattr(factory(), name))["function"]
                told = schema["parameters"].get("properties", {})
                self.assertEqual({each.rstrip("_") for each in told}, set(offered[name]["parameters"].get("properties", {})), name)
            environment = factory()
            environment.reset(**row)
            for tool, arguments in self.plans[row["task"]]:
                getattr(environment, tool)(**arguments)
            worked.append(environment)
        idle = factory()
        idle.reset(task=self.suite.ids[0])
        self.assertEqual(spec.reward_funcs[0](environments=worked + [idle]), [1.0] * 5 + [0.0])

    def test_tables_and_shards_are_read_by_others(self):
        import duckdb
        import pandas
        import polars
        import pyarrow

        table = self.suite.table()
        frame = polars.DataFrame(table)
        self.assertEqual(frame["id"].to_list(), self.suite.ids)
        self.assertEqual(pyarrow.table(table).column("instruction").to_pylist(), [self.suite[id].instruction for id in self.suite.ids])
        self.assertEqual(pandas.DataFrame.from_arrow(table)["max_calls"].sum(), frame["max_calls"].sum())
        (run,) = [path for path in glob.glob(os.path.join(os.environ["BENCHWRIGHT_RUNS"], "*")) if os.path.isdir(path)]
        trials = pyarrow.table(bw.open_run(run).table("trials"))
        passed = duckdb.sql("select agent, avg(reward), count(*) from trials group by agent order by agent").fetchall()
        self.assertIn(("oracle", 1.0), [row[:2] for row in passed])
        program = os.environ.get("BENCHWRIGHT")
        if program:
            with tempfile.TemporaryDirectory() as place:
                tasks, shards = os.path.join(place, "tasks"), os.path.join(place, "shards")
                subprocess.run([program, "demo", "-o", tasks], check=True, capture_output=True)
                subprocess.run([program, "export", "parquet", tasks, "-o", shards], check=True, capture_output=True)
                again = bw.load_suite(shards, grade=True)
                self.assertEqual(polars.DataFrame(again.table())["digest"].to_list(), frame["digest"].to_list())
                self.assertEqual(again[0].begin().grade().reward, 0.0)
                self.assertFalse(bw.load_suite(shards).grades)

    def test_every_tool_has_a_schema(self):
        from benchwright.trl import _method
        from transformers.utils import get_json_schema

        suites = [self.suite] + ([bw.load_suite(OTHERS)] if OTHERS else [])
        # An id begins with the domain, so that not every task has to be opened.
        tasks = {id.rsplit("-", 1)[0]: suite[id] for suite in suites for id in {id.rsplit("-", 1)[0]: id for id in suite.ids}.values()}
        count = 0
        for task in tasks.values():
            for tool in task.tools():
                get_json_schema(_method(tool).__get__(object()))
                count += 1
        self.assertGreaterEqual(count, 110)
        print(f"{count} tools of {len(tasks)} domains")


if __name__ == "__main__":
    unittest.main()
