"""Sobel edges of the photograph that Matplotlib ships, written to out/sobel.png."""

import math

import gpu
import numpy as np
from common import best_of, check, output, report, small
from matplotlib import cbook
from PIL import Image


@gpu.jit(fma=False)
def sobel(image, out):
    x, y = gpu.grid(2)
    height, width = image.shape
    if 0 < x < width - 1 and 0 < y < height - 1:
        gx = image[y - 1, x + 1] + 2.0 * image[y, x + 1] + image[y + 1, x + 1]
        gx -= image[y - 1, x - 1] + 2.0 * image[y, x - 1] + image[y + 1, x - 1]
        gy = image[y + 1, x - 1] + 2.0 * image[y + 1, x] + image[y + 1, x + 1]
        gy -= image[y - 1, x - 1] + 2.0 * image[y - 1, x] + image[y - 1, x + 1]
        out[y, x] = math.sqrt(gx * gx + gy * gy)


def with_numpy(a: np.ndarray) -> np.ndarray:
    """Gradient magnitude, the shape of `a`, zero at the border, float32."""
    out = np.zeros_like(a)
    gx = a[:-2, 2:] + np.float32(2) * a[1:-1, 2:] + a[2:, 2:]
    gx -= a[:-2, :-2] + np.float32(2) * a[1:-1, :-2] + a[2:, :-2]
    gy = a[2:, :-2] + np.float32(2) * a[2:, 1:-1] + a[2:, 2:]
    gy -= a[:-2, :-2] + np.float32(2) * a[:-2, 1:-1] + a[:-2, 2:]
    out[1:-1, 1:-1] = np.sqrt(gx * gx + gy * gy)
    return out


def photograph() -> np.ndarray:
    """The picture as grey levels from 0 to 1, shape (height, width), float32."""
    with cbook.get_sample_data("grace_hopper.jpg") as f:
        grey = Image.open(f).convert("L")
        if small():
            grey = grey.resize((64, 76))
        return np.asarray(grey, np.float32) / np.float32(255)


def main() -> None:
    image = photograph()
    height, width = image.shape
    out = np.zeros_like(image)
    grid, block = (-(-width // 32), -(-height // 8)), (32, 8)
    sobel[grid, block](image, out)
    kernel_s, _ = best_of(lambda: sobel[grid, block](image, out))
    numpy_s, want = best_of(lambda: with_numpy(image))
    check("sobel", out, want)
    path = output("sobel.png")
    Image.fromarray((255 * out / out.max()).astype(np.uint8)).save(path)
    report("sobel", f"{width} x {height} photograph in {path.name}", kernel_s, numpy_s)


if __name__ == "__main__":
    main()
