"""Worlds in which agents are measured and trained, in one process.

    import benchwright as bw

    suite = bw.demo()
    task = suite[0]
    episode = task.begin()
    answer = episode.call(task.tools()[0]["name"])
    verdict = episode.grade()
"""

from ._benchwright import Answer, Batch, Episode, Error, Run, Suite, Table, Task, Verdict, __version__, demo, load_suite, open_run

__all__ = [
    "Answer",
    "Batch",
    "Episode",
    "Error",
    "Run",
    "Suite",
    "Table",
    "Task",
    "Verdict",
    "__version__",
    "demo",
    "load_suite",
    "open_run",
]
