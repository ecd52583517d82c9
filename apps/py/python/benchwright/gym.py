"""Gymnasium: a task as an environment, and many at once.

    from benchwright.gym import Env, VectorEnv

An action is the text of a JSON object, ``{"tool": NAME, "arguments": {...}}``; the empty text says that the work is done. An observation is
text: the instruction, then what each call answers. The reward is paid once, at the end, by the judge; a state that could not be judged
raises, and is never 0.
"""

import json
import string

import numpy
from gymnasium import Env as GymEnv
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv as GymVectorEnv

from . import Batch

_LONGEST_ACTION = 1 << 16
_LONGEST_OBSERVATION = 1 << 24


class Writing(spaces.Text):
    """Text of any characters; what is drawn from it is printable."""

    def __init__(self, longest):
        super().__init__(min_length=0, max_length=longest, charset=frozenset(string.printable))

    def contains(self, x):
        return isinstance(x, str) and len(x) <= self.max_length


def _call(action):
    """The tool and the arguments of an action, or what is wrong with it."""
    try:
        order = json.loads(action)
        tool, arguments = order["tool"], order.get("arguments") or {}
    except (ValueError, TypeError, KeyError, AttributeError):
        return None, 'an action is {"tool": NAME, "arguments": {...}}, or empty when the work is done'
    if not isinstance(tool, str) or not isinstance(arguments, dict):
        return None, "`tool` is a name and `arguments` an object"
    return (tool, json.dumps(arguments)), None


class Env(GymEnv):
    """One task. ``tools`` is ``"all"``, ``"oracle"``, ``"oracle+5"`` or a list of names."""

    metadata = {"render_modes": []}

    def __init__(self, task, tools=None):
        self.task = task
        self.offer = tools
        self.action_space = Writing(_LONGEST_ACTION)
        self.observation_space = Writing(_LONGEST_OBSERVATION)
        self.episode = None
        self._calls = 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        if self.episode is None:
            self.episode = self.task.begin(self.offer)
        else:
            self.episode.reset()
        self._calls = 0
        return self.task.instruction, {"task": self.task.id}

    def step(self, action):
        if self.episode is None:
            raise RuntimeError("reset() comes first")
        if not action.strip():
            verdict = self.episode.grade()
            return "", verdict.reward, True, False, {"passed": verdict.passed, "failed": verdict.failed}
        call, wrong = _call(action)
        self._calls += 1
        if call is None:
            answer, refused = json.dumps({"error": wrong}), True
        else:
            said = self.episode.call(*call)
            answer, refused = said.text, said.refused
        if self._calls < self.task.max_calls:
            return answer, 0.0, False, False, {"refused": refused}
        verdict = self.episode.grade()
        return answer, verdict.reward, False, True, {"refused": refused, "passed": verdict.passed, "failed": verdict.failed}


class VectorEnv(GymVectorEnv):
    """Many episodes, stepped in one call on all cores: of a task, or of several in turn."""

    def __init__(self, tasks, num_envs, tools=None):
        self.tasks = list(tasks) if isinstance(tasks, (list, tuple)) else [tasks]
        self.num_envs = num_envs
        self.batch = Batch(self.tasks, num_envs, tools=tools)
        self.metadata = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}
        self.single_action_space = Writing(_LONGEST_ACTION)
        self.single_observation_space = Writing(_LONGEST_OBSERVATION)
        self.action_space = spaces.Tuple((self.single_action_space,) * num_envs)
        self.observation_space = spaces.Tuple((self.single_observation_space,) * num_envs)
        self._calls = numpy.zeros(num_envs, dtype=numpy.int64)
        self._is_over = numpy.zeros(num_envs, dtype=bool)

    def _task(self, place):
        return self.tasks[place % len(self.tasks)]

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.batch.reset()
        self._calls[:] = 0
        self._is_over[:] = False
        return tuple(self._task(place).instruction for place in range(self.num_envs)), {}

    def step(self, actions):
        over = numpy.flatnonzero(self._is_over).tolist()
        if over:
            self.batch.reset(over)
            self._calls[over] = 0
        tools, arguments = [None] * self.num_envs, [None] * self.num_envs
        seen = [""] * self.num_envs
        ended = []
        for place, action in enumerate(actions):
            if self._is_over[place]:
                seen[place] = self._task(place).instruction
                continue
            if not action.strip():
                ended.append(place)
                continue
            call, wrong = _call(action)
            self._calls[place] += 1
            if call is None:
                seen[place] = json.dumps({"error": wrong})
            else:
                tools[place], arguments[place] = call
        for place, answer in enumerate(self.batch.step(tools, arguments)):
            if answer is not None:
                seen[place] = answer.text
        rewards = numpy.zeros(self.num_envs, dtype=numpy.float64)
        terminated = numpy.zeros(self.num_envs, dtype=bool)
        truncated = numpy.array([self._calls[place] >= self._task(place).max_calls for place in range(self.num_envs)])
        terminated[ended] = True
        truncated[ended] = False
        judged = numpy.flatnonzero(terminated | truncated).tolist()
        passed = numpy.zeros(self.num_envs, dtype=bool)
        for place, verdict in zip(judged, self.batch.grade(judged)):
            rewards[place] = verdict.reward
            passed[place] = verdict.passed
        self._is_over = terminated | truncated
        return tuple(seen), rewards, terminated, truncated, {"passed": passed, "_passed": self._is_over.copy()}
