"""The package as a user has it: what it says of itself, episodes, forks, batches, threads, verdicts, and what it refuses.

BENCHWRIGHT_RUNS names a folder of runs in which the oracle worked on the demo's tasks (`benchwright run DEMO --agent oracle --runs DIR`): its
calls made from Python must earn what they earned there.
"""

import ast
import glob
import inspect
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
import unittest.mock

import benchwright as bw
import benchwright.ray

LOOK = ("res_partner_search_read", {"limit": 2, "fields": ["name"]})


def runs():
    """The calls and the reward of every trial on the demo's tasks, by the first state."""
    found = []
    for folder in glob.glob(os.path.join(os.environ["BENCHWRIGHT_RUNS"], "*", "trials", "*")):
        trace = json.loads(pathlib.Path(folder, "trace.json").read_text())
        trial = json.loads(pathlib.Path(folder, "trial.json").read_text())
        found.append((trial["key"]["agent"], trace, trial["end"]["scored"]["reward"]))
    return found


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.suite = bw.demo()
        cls.tasks = [cls.suite[id] for id in cls.suite.ids]

    def test_tables_are_handed_over_as_arrow(self):
        table = self.suite.table()
        self.assertEqual((len(table), table.columns[:2], "pattern" in table.columns), (5, ["id", "domain"], True))
        self.assertIn("arrow_array_stream", repr(table.__arrow_c_stream__()))
        (run,) = [path for path in glob.glob(os.path.join(os.environ["BENCHWRIGHT_RUNS"], "*")) if os.path.isdir(path)]
        run = bw.open_run(run)
        trials, tasks = run.table("trials"), run.table("tasks")
        self.assertEqual((len(tasks), len(trials) % 5, trials.columns[:4]), (5, 0, ["task", "agent", "attempt", "passed"]))
        with self.assertRaises(KeyError):
            run.table("steps")
        with tempfile.TemporaryDirectory() as empty, self.assertRaisesRegex(bw.Error, "no ledger"):
            bw.open_run(os.path.join(empty, "x"))

    def test_a_suite_is_a_sequence_of_tasks(self):
        self.assertEqual(len(self.suite), 5)
        self.assertEqual(self.suite[0].id, self.suite.ids[0])
        self.assertEqual(self.suite[-1].id, self.suite.ids[-1])
        self.assertIn(self.suite.ids[2], self.suite)
        for wrong, error in ((7, IndexError), ("nowhere", KeyError), (1.5, TypeError)):
            with self.assertRaises(error):
                self.suite[wrong]

    def test_what_the_oracle_did_elsewhere_earns_the_same_here(self):
        starts = {task.begin().trace()["start"]: task for task in self.tasks}
        passed = failed = 0
        for agent, trace, reward in runs():
            episode = starts[trace["start"]].begin()
            for call in trace["calls"]:
                episode.call(call["tool"], call["arguments"])
            self.assertEqual(episode.trace(), trace, agent)
            verdict = episode.grade()
            self.assertEqual(verdict.reward, reward, agent)
            self.assertEqual(verdict.passed, reward == 1.0, agent)
            passed += verdict.passed
            failed += not verdict.passed
        self.assertGreaterEqual(passed, 5)
        self.assertGreaterEqual(failed, 5)

    def test_a_fork_goes_its_own_way(self):
        task = self.tasks[0]
        _, trace, _ = next(run for run in runs() if run[0] == "oracle" and run[1]["start"] == task.begin().trace()["start"])
        one = task.begin()
        half = len(trace["calls"]) // 2
        for call in trace["calls"][:half]:
            one.call(call["tool"], call["arguments"])
        two = one.fork()
        for call in trace["calls"][half:]:
            two.call(call["tool"], call["arguments"])
        self.assertTrue(two.grade().passed)
        self.assertFalse(one.grade().passed)
        self.assertNotEqual(one.snapshot(), two.snapshot())
        two.reset()
        self.assertEqual(two.diff(), task.begin().diff())
        self.assertEqual(two.snapshot(), task.begin().snapshot())

    def test_only_offered_tools_are_there(self):
        task = self.tasks[0]
        every = {tool["name"] for tool in task.tools()}
        few = {tool["name"] for tool in task.tools("oracle")}
        more = {tool["name"] for tool in task.tools("oracle+5")}
        self.assertTrue(few < more < every)
        self.assertEqual(len(more), len(few) + 5)
        hidden = sorted(every - more)[0]
        answer = task.begin("oracle+5").call(hidden)
        self.assertTrue(answer.refused)
        self.assertIn("there is no tool", answer.why)
        for tool in task.tools():
            self.assertEqual(tool["parameters"]["type"], "object", tool["name"])
        for wrong in ("everything", "oracle+0", ["no_such_tool"]):
            with self.assertRaises(bw.Error):
                task.begin(wrong)
        with self.assertRaises(TypeError):
            task.begin(5)

    def test_a_task_outlives_its_suite(self):
        task = bw.demo()[0]
        self.assertEqual(len(task.tools("oracle")), len(self.tasks[0].tools("oracle")))
        self.assertFalse(task.begin("oracle+5").grade().passed)

    def test_an_answer_is_text_and_data(self):
        answer = self.tasks[0].begin().call(*LOOK)
        self.assertFalse(answer.refused)
        self.assertIsNone(answer.why)
        self.assertEqual(json.loads(answer.text), answer.data)
        refused = self.tasks[0].begin().call(LOOK[0], {"limit": "many"})
        self.assertTrue(refused.refused)
        self.assertIn("limit", refused.why)

    def test_a_batch_does_what_its_episodes_would(self):
        oracle = {trace["start"]: trace for agent, trace, _ in runs() if agent == "oracle"}
        batch = bw.Batch(self.tasks, 20)
        plans = [oracle[task.begin().trace()["start"]]["calls"] for task in self.tasks]
        for step in range(max(map(len, plans))):
            tools, arguments = [], []
            for place in range(20):
                plan = plans[place % 5]
                # The last five do nothing.
                call = plan[step] if step < len(plan) and place < 15 else None
                tools.append(call["tool"] if call else None)
                arguments.append(call["arguments"] if call else None)
            answers = batch.step(tools, arguments)
            self.assertEqual([answer is None for answer in answers], [tool is None for tool in tools])
        self.assertEqual([verdict.passed for verdict in batch.grade()], [True] * 15 + [False] * 5)
        batch.reset([0])
        self.assertEqual([verdict.passed for verdict in batch.grade()], [False] + [True] * 14 + [False] * 5)
        with self.assertRaises(ValueError):
            batch.step([None], [None])
        with self.assertRaises(ValueError):
            batch.reset([20])

    def test_threads_work_beside_each_other(self):
        episode = self.tasks[0].begin()
        wrong = []

        def work():
            for _ in range(200):
                if episode.call(*LOOK).refused:
                    wrong.append(1)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
        self.assertEqual(len(episode.trace()["calls"]), 800)

    def test_what_is_sealed_stays_shut(self):
        with tempfile.TemporaryDirectory() as folder:
            copy_open(self.suite, folder)
            suite = bw.load_suite(folder)
            self.assertFalse(suite.grades)
            episode = suite[0].begin()
            self.assertFalse(episode.call(*LOOK).refused)
            for shut in (episode.grade, lambda: suite[0].tools("oracle")):
                with self.assertRaisesRegex(bw.Error, "grade=True"):
                    shut()
            # Where the sealed part is not there, a verdict is an error and no 0.
            with self.assertRaises(bw.Error):
                bw.load_suite(folder, grade=True)[0]
        with self.assertRaises(bw.Error):
            bw.load_suite(folder)

    def test_the_stubs_say_what_is_there(self):
        stub = ast.parse(pathlib.Path(bw.__file__).with_name("_benchwright.pyi").read_text())
        told = {}
        for node in stub.body:
            if isinstance(node, ast.ClassDef):
                told[node.name] = {part.name for part in node.body if isinstance(part, ast.FunctionDef)} - {"__init__"}
            elif isinstance(node, ast.FunctionDef):
                told[node.name] = None
        module = bw._benchwright
        public = {name for name in dir(module) if not name.startswith("_")}
        self.assertEqual({name for name in told if name not in ("Tools", "Arguments")}, public)
        self.assertEqual(set(bw.__all__) - {"__version__"}, public)
        for name, members in told.items():
            thing = getattr(module, name)
            self.assertTrue((thing.__doc__ or "").strip(), name)
            if members is None or name == "Error":
                continue
            special = {"__len__", "__contains__", "__getitem__", "__arrow_c_stream__"}
            there = {part for part in vars(thing) if not part.startswith("__") or part in special}
            self.assertEqual(members, there, name)
            for member in there - special:
                self.assertTrue((vars(thing)[member].__doc__ or "").strip(), f"{name}.{member}")
        functions = [node for node in ast.walk(stub) if isinstance(node, ast.FunctionDef)]
        signatures = {node.name: [part.arg for part in node.args.args + node.args.kwonlyargs] for node in functions}
        for name, thing in (("load_suite", bw.load_suite), ("call", bw.Episode.call), ("begin", bw.Task.begin), ("step", bw.Batch.step)):
            self.assertEqual(signatures[name], list(inspect.signature(thing).parameters), name)


class Ray(unittest.TestCase):
    """What needs no Ray; `scripts/starters.sh` tries the rest with it."""

    WHERE = {"ledger": "postgres://me@db/runs", "store": "s3://bucket/runs"}

    def test_wrong_arguments_are_refused_before_ray_is_asked_for(self):
        wrong = (
            (0, {}, "at least one"),
            (1, {"ledger": "runs/ledger.sqlite"}, "postgres://"),
            (1, {"ledger": "postgres://me:hidden-word@db/runs"}, "PGPASSWORD"),
            (1, {"ledger": "postgres://db/runs?user=me&password=hidden-word"}, "PGPASSWORD"),
        )
        for n, change, told in wrong:
            with self.assertRaisesRegex(ValueError, told) as raised:
                benchwright.ray.work(n, **{**self.WHERE, **change})
            self.assertNotIn("hidden-word", str(raised.exception))

    def test_without_ray_the_next_step_is_told(self):
        with unittest.mock.patch.dict(sys.modules, {"ray": None}), self.assertRaisesRegex(ImportError, "pip install ray"):
            benchwright.ray.work(1, **self.WHERE)

    def test_an_actor_works_on_what_it_takes(self):
        module = benchwright.ray
        options = module._options({"CPU": 4, "memory": 1 << 30, "rack-7": 1}, forever=True)
        told = (options["num_cpus"], options["memory"], options["resources"], options["max_restarts"])
        self.assertEqual(told, (4, 1 << 30, {"rack-7": 1}, -1))
        self.assertEqual(module._options(None, forever=False)["num_cpus"], 1)
        self.assertGreater(module._options(None, forever=False)["max_restarts"], 0)
        line = module._arguments(**self.WHERE, jobs=4, forever=True)
        self.assertEqual(line, "work --ledger postgres://me@db/runs --store s3://bucket/runs --jobs 4 --forever".split())
        self.assertNotIn("--forever", module._arguments(**self.WHERE, jobs=4, forever=False))

    def test_the_program_is_found_or_asked_for(self):
        with tempfile.TemporaryDirectory() as empty, unittest.mock.patch.object(benchwright.ray.sysconfig, "get_path", return_value=empty):
            with unittest.mock.patch.dict(os.environ, {"PATH": empty, "BENCHWRIGHT": ""}):
                with self.assertRaisesRegex(FileNotFoundError, "pip install the wheel"):
                    benchwright.ray._program()
                own = pathlib.Path(empty, "benchwright")
                own.touch(mode=0o755)
                self.assertEqual(benchwright.ray._program(), str(own))
            with unittest.mock.patch.dict(os.environ, {"BENCHWRIGHT": "another"}):
                self.assertEqual(benchwright.ray._program(), "another")


class Program(unittest.TestCase):
    """The program in the module, started by the script that pip writes for it."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.script = cls.folder / "benchwright"
        cls.script.write_text(f"#!{sys.executable}\nimport sys\nfrom benchwright._program import main\nsys.exit(main())\n")
        cls.script.chmod(0o755)

    def said(self, *words, code=0):
        line = subprocess.run([self.script, *words], cwd=self.folder, capture_output=True, text=True, timeout=300)
        self.assertEqual(line.returncode, code, line.stderr)
        return line

    def test_it_says_what_it_is_and_how_it_ends(self):
        self.assertEqual(self.said("--version").stdout, f"benchwright {bw.__version__}\n")
        self.assertIn("similar subcommand exists: 'run'", self.said("rnu", code=2).stderr)
        self.assertIn("try:", self.said("show", "nowhere", code=2).stderr)

    def test_its_workers_are_itself_again(self):
        self.said("demo", "-o", "tasks")
        # Trials run in worker processes.
        told = json.loads(self.said("audit", "tasks", "--trial", "oracle", "--json").stdout)
        self.assertEqual((told["trials"]["oracle"]["passed"], told["errors"]), (5, []))

    def test_it_can_be_interrupted(self):
        process = subprocess.Popen([self.script, "serve"], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertTrue(process.stderr.readline() or process.stdout.readline())
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)


def copy_open(suite, folder):
    """The open parts of a suite, in another folder."""
    root = pathlib.Path(repr(suite).split('"')[1])
    for file in sorted((root / "open").rglob("*")):
        place = pathlib.Path(folder, file.relative_to(root))
        if file.is_dir():
            place.mkdir(parents=True, exist_ok=True)
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(file.read_bytes())


if __name__ == "__main__":
    unittest.main()
