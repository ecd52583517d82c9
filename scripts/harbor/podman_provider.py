"""A Harbor environment that runs each trial in one rootful podman container, for machines without a Docker daemon and without an image
registry. The image is local and named by its digest; the network is none where the task asks for none; the container is removed by its
id. Use it with `harbor run -e podman_provider:Podman`, with this folder in PYTHONPATH.

What the agent's user can write is not trusted: links it leaves in /logs are neither followed when a file is fetched nor written through.
"""

import asyncio
import os
from pathlib import Path

from harbor.environments.base import BaseEnvironment, ExecResult
from harbor.environments.capabilities import EnvironmentCapabilities, EnvironmentResourceCapabilities

LOGS = ("/logs/agent", "/logs/verifier", "/logs/artifacts")


class Podman(BaseEnvironment):
    container = ""

    @staticmethod
    def type():
        return "podman-container"

    @property
    def capabilities(self):
        return EnvironmentCapabilities(disable_internet=True)

    @classmethod
    def resource_capabilities(cls):
        return EnvironmentResourceCapabilities(cpu_limit=True, memory_limit=True, fractional_cpus=True)

    def _validate_definition(self):
        if "@sha256:" not in (self.task_env_config.docker_image or ""):
            raise ValueError("the task must name an image by its digest, as name@sha256:...")

    async def _podman(self, *arguments, timeout=None, check=True):
        """Runs podman and returns its exit code and what it wrote; raises where it fails and must not."""
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec("podman", *arguments, stdout=pipe, stderr=pipe)
        try:
            out, err = await asyncio.wait_for(process.communicate(), timeout)
        except TimeoutError:
            process.kill()
            raise RuntimeError(f"podman {arguments[0]} took longer than {timeout} s") from None
        if check and process.returncode:
            raise RuntimeError(f"podman {arguments[0]}: {err.decode(errors='replace')[-500:]}")
        return process.returncode, out, err

    async def start(self, force_build):
        config = self.task_env_config
        limits = ["--network", "none" if self._network_disabled else "bridge", "--security-opt", "no-new-privileges"]
        limits += ["--memory", f"{config.memory_mb}m"] if config.memory_mb else []
        limits += ["--cpus", str(config.cpus)] if config.cpus else []
        _, out, _ = await self._podman("run", "--detach", "--pull", "never", *limits, config.docker_image, "sleep", "infinity")
        self.container = out.decode().strip()
        if ledger := os.environ.get("BENCHWRIGHT_CONTAINERS"):  # whoever runs the trials removes what an aborted one leaves
            with open(ledger, "a") as file:
                file.write(f"{self.container}\n")
        # A folder that is missing would make every later command fail, which looks like an agent that did nothing.
        await self._podman("exec", "--user", "root", self.container, "mkdir", "-p", config.workdir or "/", *LOGS)
        await self._podman("exec", "--user", "root", self.container, "chmod", "777", *LOGS)
        await self._upload_environment_dir_after_start()

    async def stop(self, delete):
        if self.container:
            await self._podman("rm", "--force", "--time", "0", self.container)

    async def upload_file(self, source_path, target_path):
        await self.exec(f"mkdir -p '{Path(target_path).parent}'", cwd="/", user="root")
        await self._podman("cp", str(source_path), f"{self.container}:{target_path}")

    async def upload_dir(self, source_dir, target_dir):
        if target_dir == "/logs/agent":  # its own logs, fetched before: as root they would go through links the agent put there
            return
        await self.exec(f"mkdir -p '{target_dir}'", cwd="/", user="root")
        await self._podman("cp", f"{source_dir}/.", f"{self.container}:{target_dir}")

    async def download_file(self, source_path, target_path):
        read = ("dd", f"if={source_path}", "iflag=nofollow", "bs=1M", "status=none")
        _, out, _ = await self._podman("exec", "--user", "root", self.container, *read)
        Path(target_path).parent.mkdir(parents=True, exist_ok=True)
        Path(target_path).write_bytes(out)

    async def download_dir(self, source_dir, target_dir):
        Path(target_dir).mkdir(parents=True, exist_ok=True)
        await self._podman("cp", f"{self.container}:{source_dir}/.", str(target_dir))

    async def exec(self, command, cwd=None, env=None, timeout_sec=None, user=None):
        who = self._resolve_user(user)
        options = ["--user", str(who)] if who is not None else []
        options += [word for name, value in (self._merge_env(env) or {}).items() for word in ("--env", f"{name}={value}")]
        options += ["--workdir", cwd or self.task_env_config.workdir or "/"]
        code, out, err = await self._podman("exec", *options, self.container, "bash", "-c", command, timeout=timeout_sec, check=False)
        return ExecResult(stdout=out.decode(errors="replace"), stderr=err.decode(errors="replace"), return_code=code)
