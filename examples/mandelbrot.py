"""The Mandelbrot set, written to out/mandelbrot.png."""

import gpu
import numpy as np
from common import best_of, check, output, report, small
from PIL import Image

LEFT, RIGHT, BOTTOM, TOP = -2.0, 0.6, -1.15, 1.15
MAX_ITER = 200


def escape_time(cr, ci):
    """Number of steps of z = z * z + c until abs(z) > 2, at most MAX_ITER."""
    zr = zi = 0.0
    for n in range(MAX_ITER):
        zr2 = zr * zr
        zi2 = zi * zi
        if zr2 + zi2 > 4.0:
            return n
        zi = 2.0 * zr * zi + ci
        zr = zr2 - zi2 + cr
    return MAX_ITER


@gpu.jit(fma=False)
def mandelbrot(out):
    x, y = gpu.grid(2)
    height, width = out.shape
    if x < width and y < height:
        cr = LEFT + x * ((RIGHT - LEFT) / width)
        ci = BOTTOM + y * ((TOP - BOTTOM) / height)
        out[y, x] = escape_time(cr, ci)


def with_numpy(height: int, width: int) -> np.ndarray:
    """The same counts by array operations, shape (height, width), uint8."""
    cr = LEFT + np.arange(width) * ((RIGHT - LEFT) / width)
    ci = BOTTOM + np.arange(height)[:, None] * ((TOP - BOTTOM) / height)
    zr = np.zeros((height, width))
    zi = np.zeros((height, width))
    count = np.zeros((height, width), np.uint8)
    alive = np.ones((height, width), bool)
    for _ in range(MAX_ITER):
        zr2, zi2 = zr * zr, zi * zi
        alive &= ~(zr2 + zi2 > 4.0)
        count += alive
        zi = np.where(alive, 2.0 * zr * zi + ci, zi)
        zr = np.where(alive, zr2 - zi2 + cr, zr)
    return count


def main() -> None:
    height, width = (90, 120) if small() else (900, 1200)
    out = np.zeros((height, width), np.uint8)
    block = (16, 16)
    grid = (-(-width // 16), -(-height // 16))
    mandelbrot[grid, block](out)
    kernel_s, _ = best_of(lambda: mandelbrot[grid, block](out))
    numpy_s, want = best_of(lambda: with_numpy(height, width), repeat=1)
    check("mandelbrot", out, want)
    path = output("mandelbrot.png")
    Image.fromarray(out[::-1]).save(path)
    report("mandelbrot", f"{width} x {height} pixels in {path.name}", kernel_s, numpy_s)


if __name__ == "__main__":
    main()
