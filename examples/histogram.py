"""Histogram of the photograph that Matplotlib ships: each block counts its part in shared memory, then adds it up."""

import gpu
import numpy as np
from common import best_of, check, output, report, small
from matplotlib import cbook
from PIL import Image, ImageDraw

LEVELS = 256


@gpu.jit
def histogram(pixels, counts):
    part = -(-pixels.size // gpu.gridDim.x)
    first = part * gpu.blockIdx.x
    mine = gpu.block.histogram(pixels[first : first + part], LEVELS)
    for level in range(gpu.threadIdx.x, LEVELS, gpu.blockDim.x):
        gpu.atomic.add(counts, level, mine[level])


def photograph() -> np.ndarray:
    """The picture's grey levels, shape (height * width,), uint8."""
    with cbook.get_sample_data("grace_hopper.jpg") as f:
        grey = Image.open(f).convert("L")
        return np.asarray(grey.resize((64, 76)) if small() else grey).ravel()


def draw(counts: np.ndarray) -> Image.Image:
    """Bars of `counts`, two pixels wide."""
    picture = Image.new("L", (2 * LEVELS, 200), 255)
    pen = ImageDraw.Draw(picture)
    for level, height in enumerate(200 * counts / counts.max()):
        pen.rectangle((2 * level, 200 - height, 2 * level + 1, 200), fill=0)
    return picture


def main() -> None:
    pixels = photograph()
    counts = np.zeros(LEVELS, np.int64)

    def count() -> None:
        counts[:] = 0
        histogram[32, 256](pixels, counts)

    count()
    kernel_s, _ = best_of(count)
    numpy_s, want = best_of(lambda: np.bincount(pixels, minlength=LEVELS))
    check("histogram", counts, want)
    path = output("histogram.png")
    draw(counts).save(path)
    report("histogram", f"{pixels.size} pixels, bars in {path.name}", kernel_s, numpy_s)


if __name__ == "__main__":
    main()
