"""Random kernels for differential tests: the same source on several devices, and by NumPy or Numba where they apply.

    python tests/generate KIND SEED                # shows a kernel
    python tests/generate KIND --run FIRST COUNT   # compares COUNT kernels on the devices

Each kind is a module with two functions: ``show(seed)`` gives the source, and ``compare(seed)`` None if all agree, a
text that starts with "refused" where the compiler may refuse, or what differs. Those of kernels take names of devices,
too.
"""
