"""Loads every exported task with the Harbor taskset of the verifiers package, and says how many it took. The tasks are put where its
download would put them, as only published ones can be downloaded.

Usage: load_with_verifiers.py SCRATCH_FOLDER TASKS_FOLDER...
"""

import os
import pathlib
import shutil
import sys
from importlib.metadata import version


def main():
    scratch = pathlib.Path(sys.argv[1]).resolve()
    os.environ["HOME"] = str(scratch)  # its downloads are below the home folder, which it asks for when it is imported

    from verifiers.v1.tasksets.harbor import HarborConfig, HarborTaskset
    from verifiers.v1.tasksets.harbor.taskset import cache_dir

    config = HarborConfig(dataset="benchwright/exported")
    for number, root in enumerate(sys.argv[2:]):
        shutil.copytree(root, cache_dir(config) / str(number))
    exported = sum(1 for _ in cache_dir(config).glob("*/*/task.toml"))
    taken = list(HarborTaskset(config))
    lacking = [task.data.name for task in taken if not (task.data.image and task.data.verifier and task.data.collect and task.data.prompt)]
    print(f"verifiers {version('verifiers')}: took {len(taken)} of {exported} tasks")
    for name in lacking:
        print(f"  {name}: without an image, an instruction, a collect command or a verifier of its own")
    return 0 if len(taken) == exported > 0 and not lacking else 1


sys.exit(main())
