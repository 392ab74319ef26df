"""``python -m gpu.numba script.py [arguments]``: the script's ``import numba`` gives `gpu.cuda`."""

import sys

from . import main

USAGE = "usage: python -m gpu.numba script.py [arguments]\n       python -m gpu.numba -m module [arguments]"

if sys.argv[1:] in (["-h"], ["--help"]):
    print(USAGE)
elif len(sys.argv) < 2 or sys.argv[1:] == ["-m"]:
    print(USAGE, file=sys.stderr)
    sys.exit(2)
else:
    main(sys.argv[1:])
