"""TRL: the tasks of a folder as environments whose tools are methods.

    from benchwright.trl import Spec

    spec = Spec("out", tools="oracle+5")
    GRPOTrainer(..., train_dataset=spec.train_dataset, environment_factory=spec.environment_factory, reward_funcs=spec.reward_funcs)

There is a class for each set of tools that tasks offer. Its tools are functions of Python with a signature and a docstring, from which TRL
makes their schemas; a call that the world refuses answers with why. An episode that broke raises: it never earns 0.
"""

import inspect
import json
import keyword
import typing

from . import demo, load_suite

_TYPES = {"string": str, "integer": int, "number": float, "boolean": bool, "array": list, "object": dict}
_SUITES = {}


def _suite(folder):
    """The suite of a folder, opened once in each process."""
    if folder not in _SUITES:
        _SUITES[folder] = load_suite(folder, grade=True) if folder else demo()
    return _SUITES[folder]


def _type(schema):
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next(word for word in kind if word != "null")
    if kind == "array":
        return list[_type(schema["items"])] if schema.get("items") else list
    return _TYPES.get(kind, dict if "properties" in schema else str)


def _told(name, schema):
    """A line on an argument: what it is, or what it may be."""
    rest = {key: value for key, value in schema.items() if key not in ("description", "type")}
    words = [schema.get("description", name.replace("_", " "))] + ([json.dumps(rest)] if rest else [])
    return " ".join(" ".join(words).split())[:600]


def _spelled(name):
    """A name as Python can have it: a keyword gets an underscore."""
    return f"{name}_" if keyword.iskeyword(name) else name


def _method(tool):
    known = {_spelled(name): schema for name, schema in tool["parameters"].get("properties", {}).items()}
    names = {_spelled(name): name for name in tool["parameters"].get("properties", {})}
    required = [_spelled(name) for name in tool["parameters"].get("required", [])]
    places = sorted(known, key=lambda name: name not in required)
    parameters = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    annotations, lines = {}, [" ".join(tool["description"].split()) or tool["name"], ""]
    if places:
        lines.append("Args:")
    for name in places:
        kind = _type(known[name]) if name in required else typing.Optional[_type(known[name])]
        default = inspect.Parameter.empty if name in required else None
        parameters.append(inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=kind, default=default))
        annotations[name] = kind
        lines.append(f"    {name}: {_told(name, known[name])}")
    lines += ["", "Returns:", "    The answer as JSON."]

    def call(self, *values, **named):
        given = {**dict(zip(places, values)), **named}
        return self._call(tool["name"], {names.get(name, name): value for name, value in given.items() if value is not None})

    call.__name__ = call.__qualname__ = tool["name"]
    call.__doc__ = "\n".join(lines)
    call.__annotations__ = {**annotations, "return": str}
    call.__signature__ = inspect.Signature(parameters, return_annotation=str)
    return call


class Environment:
    """An episode at a time: ``reset`` begins the task of a row, ``reward`` has the judge say what it is worth where it was left.

    There is no ``get_reward``: TRL would pay it beside the reward function, and so everything twice.
    """

    def __init__(self, folder, offer):
        self._folder, self._offer = folder, offer
        self._episode = None

    def reset(self, task=None, **row):
        self._episode = _suite(self._folder)[task].begin(self._offer)
        return None

    def _reward(self):
        return self._episode.grade().reward

    def _call(self, tool, arguments):
        return self._episode.call(tool, arguments).text


class Factory:
    """Makes environments for the tasks that offer the same tools as one of them. It can be sent to another process, where it opens the folder
    again."""

    def __init__(self, folder, task, offer):
        self.folder, self.task, self.offer = folder, task, offer
        self._made = None

    def __getstate__(self):
        return {"folder": self.folder, "task": self.task, "offer": self.offer, "_made": None}

    def __call__(self):
        if self._made is None:
            task = _suite(self.folder)[self.task]
            methods = {tool["name"]: _method(tool) for tool in task.tools(self.offer)}
            self._made = type("".join(word.title() for word in task.domain.split("+")) + "Environment", (Environment,), methods)
        return self._made(self.folder, self.offer)


def reward(environments, **_):
    """The judge's reward of each episode."""
    return [environment._reward() for environment in environments]


class Spec:
    """What a trainer is given: rows, environments and rewards."""

    def __init__(self, folder="", tools="oracle+5"):
        self.suite, self.offer = _suite(folder), tools
        self.tasks = [self.suite[id] for id in self.suite.ids]
        # What a prompt shows is what its episode answers to, so tasks share an environment only where they offer the same tools.
        first, names, count = {}, {}, {}
        for task in self.tasks:
            key = (task.domain, *sorted(tool["name"] for tool in task.tools(tools)))
            if key not in first:
                count[task.domain] = count.get(task.domain, 0) + 1
                first[key] = (f"{task.domain}-{count[task.domain]}", Factory(folder, task.id, tools))
            names[task.id] = first[key][0]
        self.environments = names
        factories = dict(first.values())
        self.environment_factory = factories if len(factories) > 1 else next(iter(factories.values()))
        self.reward_funcs = [reward]

    @property
    def rows(self):
        """A row a task: the prompt, the task, and the environment that it is played in."""
        prompt = lambda task: [{"role": "user", "content": task.instruction}]
        return [{"prompt": prompt(task), "task": task.id, "environment": self.environments[task.id]} for task in self.tasks]

    @property
    def train_dataset(self):
        """The rows as a dataset of the package ``datasets``."""
        from datasets import Dataset

        return Dataset.from_list(self.rows)
