"""Connected components of the bright parts of a photograph: union-find, by atomic minima, in two launches."""

import gpu
import numpy as np
from common import best_of, check, output, report, small
from matplotlib import cbook
from PIL import Image


@gpu.jit(device=True)
def root(parent, i):
    """Read in one piece each time: others change it meanwhile."""
    while (up := gpu.atomic.load(parent, i, order="relaxed")) != i:
        i = up
    return i


@gpu.jit(device=True)
def unite(parent, i, j):
    """The larger root comes under the smaller one; who was overtaken tries again with what it found there."""
    i, j = root(parent, i), root(parent, j)
    while i != j:
        if i < j:
            i, j = j, i
        old = gpu.atomic.min(parent, i, j)
        if old == i:
            break
        i = root(parent, old)
        j = root(parent, j)


@gpu.jit
def link(bright, parent):
    x, y = gpu.grid(2)
    height, width = bright.shape
    if x < width and y < height and bright[y, x]:
        i = y * width + x
        if x and bright[y, x - 1]:
            unite(parent, i, i - 1)
        if y and bright[y - 1, x]:
            unite(parent, i, i - width)


@gpu.jit
def flatten(parent):
    i = gpu.grid(1)
    if i < parent.size:
        gpu.atomic.store(parent, i, root(parent, i), order="relaxed")


def components(bright: np.ndarray) -> np.ndarray:
    """The number of the first pixel of each pixel's component, shape (height * width,), int32."""
    height, width = bright.shape
    parent = np.arange(bright.size, dtype=np.int32)
    link[(-(-width // 32), -(-height // 8)), (32, 8)](bright, parent)
    flatten[-(-bright.size // 256), 256](parent)
    return parent


def with_numpy(bright: np.ndarray) -> np.ndarray:
    """The same: neighbours take the smaller label, then labels take their label's, until nothing changes."""
    label = np.arange(bright.size, dtype=np.int32).reshape(bright.shape)
    across, down = bright[:, 1:] & bright[:, :-1], bright[1:] & bright[:-1]
    while True:
        before = label.copy()
        for a, b, joined in ((label[:, 1:], label[:, :-1], across), (label[1:], label[:-1], down)):
            np.minimum(a, b, out=a, where=joined)
            np.minimum(a, b, out=b, where=joined)
        np.minimum.at(label.reshape(-1), before.reshape(-1), label.reshape(-1))
        label = label.reshape(-1)[label]
        if (label == before).all():
            return label.reshape(-1)


def photograph() -> np.ndarray:
    """Which pixels of the picture are bright, shape (height, width), bool."""
    with cbook.get_sample_data("grace_hopper.jpg") as f:
        grey = Image.open(f).convert("L")
        return np.asarray(grey.resize((64, 76)) if small() else grey) > 120


def main() -> None:
    bright = photograph()
    components(bright)
    kernel_s, got = best_of(lambda: components(bright))
    numpy_s, want = best_of(lambda: with_numpy(bright), repeat=1)
    check("components", got, want)
    path = output("components.png")
    shades = np.random.default_rng(1).integers(64, 255, (bright.size, 3), np.uint8)[got] * bright.reshape(-1, 1)
    Image.fromarray(shades.reshape(*bright.shape, 3)).save(path)
    count = len(np.unique(got[bright.ravel()]))
    report(
        "components", f"{count} parts of {bright.shape[1]} x {bright.shape[0]} pixels, {path.name}", kernel_s, numpy_s
    )


if __name__ == "__main__":
    main()
