"""Inspect AI: the tasks of a folder as an Inspect task, in process and without a server.

    inspect eval benchwright.inspect -T folder=out --model MODEL

Each sample is an episode. ``tools`` is ``"oracle+5"`` unless it is told otherwise, because the whole list of a large domain costs tens of
thousands of tokens a turn; ``"all"`` offers everything.
"""

from typing import Any

from inspect_ai import Task, task
from inspect_ai.agent import as_solver, react
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import Score, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, TaskState, solver
from inspect_ai.tool import ToolDef, ToolError, ToolParams

from . import demo, load_suite

# Episodes that were begun and not judged yet, by the sample that they are of.
_EPISODES: dict[str, Any] = {}


def _tool(episode, tool):
    async def call(**arguments: Any) -> str:
        answer = episode.call(tool["name"], {name: value for name, value in arguments.items() if value is not None})
        if answer.refused:
            raise ToolError(answer.why)
        return answer.text

    # Inspect wants a description of every argument; where a name says it all, it is the name.
    known = tool["parameters"].get("properties", {})
    told = {name: {"description": name.replace("_", " "), **schema} for name, schema in known.items()}
    schema = {**tool["parameters"], "properties": told, "additionalProperties": False}
    parameters = ToolParams.model_validate(schema)
    return ToolDef(call, name=tool["name"], description=tool["description"], parameters=parameters).as_tool()


@solver
def episode(suite, tools):
    """Begins an episode for the sample and lets the model work in it."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        task = suite[str(state.sample_id)]
        begun = task.begin(tools)
        _EPISODES[state.uuid] = begun
        offered = [_tool(begun, tool) for tool in task.tools(tools)]
        # A reply without a call is the end, as in `benchwright run`: a model that only talks would be asked to go on for ever.
        return await as_solver(react(tools=offered, submit=False))(state, generate)

    return solve


@scorer(metrics={"reward": [mean(), stderr()], "passed": [mean(), stderr()]})
def judged():
    """The judge's verdict on the state that the episode was left in. Where there is none the sample fails with an error, and has no score."""

    async def score(state: TaskState, target: Target) -> Score:
        verdict = _EPISODES.pop(state.uuid).grade()
        return Score(
            value={"reward": verdict.reward, "passed": float(verdict.passed)},
            explanation=", ".join(verdict.failed) or "every check passed",
        )

    return score


@task
def benchwright(folder: str = "", tools: str = "oracle+5") -> Task:
    """The tasks of a folder, or those that come with the package."""
    suite = load_suite(folder, grade=True) if folder else demo()
    samples = [Sample(id=id, input=suite[id].instruction) for id in suite.ids]
    return Task(dataset=MemoryDataset(samples, name=folder or "demo"), solver=episode(suite, tools), scorer=judged())
