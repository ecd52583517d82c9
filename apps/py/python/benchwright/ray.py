"""Ray: workers of a shared run as actors, wherever a cluster has room.

    import benchwright.ray

    benchwright.ray.work(16, ledger="postgres://USER@HOST/DATABASE", store="s3://BUCKET/RUNS")

Each actor starts ``benchwright work`` as a child, so that a fault of the program does not take the actor. A child that was killed is started
again by its actor, and an actor that died by Ray. Who stops early, by an interrupt, SIGTERM or an error, has the workers give back what they
have not finished. Every node needs this package; ``BENCHWRIGHT`` in a node's environment names another program than the one that came with it.
"""

import contextlib
import ctypes
import functools
import os
import shutil
import signal
import subprocess
import sysconfig
import threading
from typing import Any, Mapping
from urllib.parse import parse_qs, urlsplit

# How often a worker is started again, how often it looks whether it is to stop, and how long all of them may take over that.
_RESTARTS = 10
_GLANCE_SECONDS = 0.2
_GRACE_SECONDS = 60
_PR_SET_PDEATHSIG = 1
# What opens the ledger and the store begins with these.
_SECRETS = ("PGPASSWORD", "AWS_", "GOOGLE_", "AZURE_")
# The resources for which Ray has options; every other is the cluster's own.
_OPTIONS = {"CPU": "num_cpus", "GPU": "num_gpus", "memory": "memory"}


def _program() -> str:
    """The program that came with the package, unless the environment names another."""
    found = os.environ.get("BENCHWRIGHT") or shutil.which("benchwright", path=sysconfig.get_path("scripts")) or shutil.which("benchwright")
    if found is None:
        raise FileNotFoundError("this node has no program `benchwright`: pip install the wheel on it, or set BENCHWRIGHT to its path")
    return found


def _arguments(ledger: str, store: str, jobs: int, forever: bool) -> list[str]:
    address = urlsplit(ledger)
    if address.scheme not in ("postgres", "postgresql"):
        raise ValueError("actors share a ledger in PostgreSQL: ledger='postgres://USER@HOST/DATABASE'")
    if address.password or "password" in parse_qs(address.query):
        raise ValueError("the ledger's address has a password in it, which others would see; give it in PGPASSWORD")
    return ["work", "--ledger", ledger, "--store", store, "--jobs", str(jobs)] + ["--forever"] * forever


def _options(resources: Mapping[str, float] | None, forever: bool) -> dict[str, Any]:
    """What Ray is told of each actor."""
    asked = {"CPU": 1, **(resources or {})}
    return {
        **{_OPTIONS[name]: amount for name, amount in asked.items() if name in _OPTIONS},
        "resources": {name: amount for name, amount in asked.items() if name not in _OPTIONS},
        "max_restarts": -1 if forever else _RESTARTS,
        "max_task_retries": -1,
    }


class _Worker:
    """One child at a time, until it ends well or is to stop."""

    def run(self, arguments: list[str], secrets: dict[str, str]) -> None:
        import ray

        is_canceled = ray.get_runtime_context().is_canceled
        line, environment = [_program(), *arguments], {**os.environ, **secrets}
        # An actor that is killed can tell its child nothing; the kernel does.
        follow = functools.partial(ctypes.CDLL(None).prctl, _PR_SET_PDEATHSIG, signal.SIGTERM)
        for _ in range(_RESTARTS + 1):
            child = subprocess.Popen(line, env=environment, stdin=subprocess.DEVNULL, preexec_fn=follow)
            try:
                while child.poll() is None and not is_canceled():
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        child.wait(_GLANCE_SECONDS)
            finally:
                # Ray ends an actor by an exit of its main thread, which is here.
                child.terminate()
                code = child.wait()
            if code == 0 or is_canceled():
                return
            if code > 0:
                raise RuntimeError(f"`benchwright work` ended with {code}; the log of this actor has what it said")
        raise RuntimeError(f"`benchwright work` was killed {_RESTARTS + 1} times, at last by signal {-code}; has the node memory enough?")


def work(n: int, *, ledger: str, store: str, resources: Mapping[str, float] | None = None, forever: bool = False) -> None:
    """Works with ``n`` actors on what ``benchwright run … --ledger … --store …`` planned, and returns when all have ended well.

    ``resources`` is what each actor takes, one CPU unless it says otherwise: ``{"CPU": 4, "memory": 8 << 30}``; it has as many leases at a time as
    CPUs. With ``forever`` it waits for more work. The ledger's password is taken from ``PGPASSWORD``, and what opens the store from ``AWS_…``,
    ``GOOGLE_…`` or ``AZURE_…``. They go to the actors as arguments, because Ray writes the variables of a ``runtime_env`` into its logs.
    """
    if n < 1:
        raise ValueError("at least one actor: work(1, ...)")
    options = _options(resources, forever)
    arguments = _arguments(ledger, store, max(1, int(options["num_cpus"])), forever)
    secrets = {name: value for name, value in os.environ.items() if name.startswith(_SECRETS)}
    try:
        import ray
    except ImportError as error:
        raise ImportError("benchwright.ray needs Ray: pip install ray") from error
    if not ray.is_initialized():
        ray.init()
    # Ray lays a handler of its own over Python's, which would end this process before the workers have.
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.getsignal(signal.SIGTERM))
    workers: list[Any] = [ray.remote(**options)(_Worker).remote() for _ in range(n)]
    ends = [worker.run.remote(arguments, secrets) for worker in workers]
    try:
        ray.get(ends)
    except BaseException:
        for end in ends:
            ray.cancel(end)
        ray.wait(ends, num_returns=n, timeout=_GRACE_SECONDS)
        raise
