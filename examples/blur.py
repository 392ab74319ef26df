"""A 5 x 5 blur of Matplotlib's photograph: a block reads its part and the rim around it once, into shared memory."""

import gpu
import numpy as np
from common import best_of, check, output, report, small
from matplotlib import cbook
from PIL import Image

WIDTH, HEIGHT, RIM = 32, 8, 2
BINOMIAL = np.array([1, 4, 6, 4, 1], np.float32) / np.float32(16)


@gpu.jit(fma=False)
def blur(image, out):
    part = gpu.shared.array((HEIGHT + 2 * RIM, WIDTH + 2 * RIM), np.float32)
    tx, ty = gpu.threadIdx.x, gpu.threadIdx.y
    left, top = WIDTH * gpu.blockIdx.x - RIM, HEIGHT * gpu.blockIdx.y - RIM
    for row in range(ty, HEIGHT + 2 * RIM, HEIGHT):
        for column in range(tx, WIDTH + 2 * RIM, WIDTH):
            y = min(max(top + row, 0), image.shape[0] - 1)  # the border goes on outside
            x = min(max(left + column, 0), image.shape[1] - 1)
            part[row, column] = image[y, x]
    gpu.syncthreads()
    total = np.float32(0)
    for i in range(2 * RIM + 1):
        for j in range(2 * RIM + 1):
            total += BINOMIAL[i] * BINOMIAL[j] * part[ty + i, tx + j]
    x, y = gpu.grid(2)
    if y < image.shape[0] and x < image.shape[1]:
        out[y, x] = total


def with_numpy(image: np.ndarray) -> np.ndarray:
    """The same operations in the same order, shape of `image`, float32."""
    padded = np.pad(image, RIM, mode="edge")
    total = np.zeros_like(image)
    for i in range(2 * RIM + 1):
        for j in range(2 * RIM + 1):
            total += BINOMIAL[i] * BINOMIAL[j] * padded[i : i + image.shape[0], j : j + image.shape[1]]
    return total


def photograph() -> np.ndarray:
    """The picture as grey levels from 0 to 1, shape (height, width), float32."""
    with cbook.get_sample_data("grace_hopper.jpg") as f:
        grey = Image.open(f).convert("L")
        return np.asarray(grey.resize((64, 76)) if small() else grey, np.float32) / np.float32(255)


def main() -> None:
    image = photograph()
    height, width = image.shape
    out = np.zeros_like(image)
    launch = blur[(-(-width // WIDTH), -(-height // HEIGHT)), (WIDTH, HEIGHT)]
    launch(image, out)
    kernel_s, _ = best_of(lambda: launch(image, out))
    numpy_s, want = best_of(lambda: with_numpy(image))
    check("blur", out, want)
    path = output("blur.png")
    Image.fromarray((255 * out).astype(np.uint8)).save(path)
    report("blur", f"{width} x {height} photograph in {path.name}", kernel_s, numpy_s)


if __name__ == "__main__":
    main()
