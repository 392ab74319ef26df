"""``python -m gpu.numba script.py [arguments]``: the script's ``import numba`` gives `gpu.cuda`."""

import sys

from . import run

if len(sys.argv) < 2 or (sys.argv[1] == "-m" and len(sys.argv) < 3):
    sys.exit("usage: python -m gpu.numba script.py [arguments]\n       python -m gpu.numba -m module [arguments]")
run(sys.argv[1:])
