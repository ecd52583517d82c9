"""The program ``benchwright``, whose code is in the module."""

import os
import signal
import sys

from . import _benchwright


def main():
    # Python would note the signal and wait for its own code to go on, which it does not.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if sys.prefix != sys.base_prefix:
        # The solver is looked for here, as where an environment is active.
        os.environ.setdefault("VIRTUAL_ENV", sys.prefix)
    # Workers are the same program again, by the script that pip made.
    _benchwright._main(os.path.abspath(sys.argv[0]), sys.argv[1:])
