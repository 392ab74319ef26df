"""Shows or compares generated kernels: see the package."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))


def main() -> None:
    kind = import_module(f"generate.{sys.argv[1]}")
    if sys.argv[2] != "--run":
        print(kind.show(int(sys.argv[2])))
        return
    first, count = int(sys.argv[3]), int(sys.argv[4])
    faults = refused = 0
    for seed in range(first, first + count):
        result = kind.compare(seed)
        if result and result.startswith("refused"):
            refused += 1
        elif result:
            faults += 1
            print(result, end="\n\n", flush=True)
    print(f"{count - faults} of {count} kernels agree, {refused} of them refused")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
