"""Two filters over the photograph that Matplotlib ships: a Gaussian blur and a median, with tiles in shared memory.

The picture before and after is written to out/filters.png.
"""

import pathlib
import sys

import numpy as np
from gpu import cuda
from matplotlib import cbook
from numpy.lib.stride_tricks import sliding_window_view
from PIL import Image

TILE = 16
RADIUS = 3
WIDTH = TILE + 2 * RADIUS
_x = np.exp(-(np.arange(-RADIUS, RADIUS + 1) ** 2) / 4.0)
WEIGHTS = (np.outer(_x, _x) / _x.sum() ** 2).astype(np.float32)


@cuda.jit(device=True)
def clamp(x, n):
    return min(max(x, 0), n - 1)


@cuda.jit(device=True)
def load_tile(image, tile):
    """The block's part of the image with a border of RADIUS; beyond the edge the outermost point counts."""
    top = cuda.blockIdx.y * TILE - RADIUS
    left = cuda.blockIdx.x * TILE - RADIUS
    for y in range(cuda.threadIdx.y, WIDTH, TILE):
        for x in range(cuda.threadIdx.x, WIDTH, TILE):
            tile[y, x] = image[clamp(top + y, image.shape[0]), clamp(left + x, image.shape[1])]
    cuda.syncthreads()


@cuda.jit
def blur(image, out):
    tile = cuda.shared.array((WIDTH, WIDTH), dtype=np.float32)
    weights = cuda.const.array_like(WEIGHTS)
    load_tile(image, tile)
    x, y = cuda.grid(2)
    if x < image.shape[1] and y < image.shape[0]:
        total = np.float32(0)
        for i in range(2 * RADIUS + 1):
            for j in range(2 * RADIUS + 1):
                total += weights[i, j] * tile[cuda.threadIdx.y + i, cuda.threadIdx.x + j]
        out[y, x] = total


@cuda.jit
def median(image, out):
    tile = cuda.shared.array((WIDTH, WIDTH), dtype=np.float32)
    near = cuda.local.array(9, dtype=np.float32)
    load_tile(image, tile)
    x, y = cuda.grid(2)
    if x < image.shape[1] and y < image.shape[0]:
        for i in range(3):
            for j in range(3):
                value = tile[cuda.threadIdx.y + RADIUS - 1 + i, cuda.threadIdx.x + RADIUS - 1 + j]
                at = i * 3 + j
                while at > 0 and near[at - 1] > value:  # insertion sort
                    near[at] = near[at - 1]
                    at -= 1
                near[at] = value
        out[y, x] = near[4]


def with_numpy(image):
    """Both filters."""
    windows = sliding_window_view(np.pad(image, RADIUS, mode="edge"), WEIGHTS.shape)
    near = sliding_window_view(np.pad(image, 1, mode="edge"), (3, 3))
    return np.einsum("yxij,ij->yx", windows, WEIGHTS), np.median(near, axis=(2, 3))


def main():
    with cbook.get_sample_data("grace_hopper.jpg") as file:
        picture = Image.open(file).convert("L")
    if "--small" in sys.argv:
        picture = picture.resize((50, 60))
    rng = np.random.default_rng(3)
    image = np.asarray(picture, np.float32)
    image = np.where(rng.random(image.shape) < 0.05, np.float32(255), image)  # salt

    device = cuda.to_device(image)
    blurred, cleaned = cuda.device_array_like(device), cuda.device_array_like(device)
    blocks = (-(-image.shape[1] // TILE), -(-image.shape[0] // TILE))
    blur[blocks, (TILE, TILE)](device, blurred)
    median[blocks, (TILE, TILE)](device, cleaned)

    want_blurred, want_cleaned = with_numpy(image)
    assert np.allclose(blurred.copy_to_host(), want_blurred, rtol=0, atol=0.01)
    assert np.array_equal(cleaned.copy_to_host(), want_cleaned)
    path = pathlib.Path(__file__).resolve().parents[2] / "out" / "filters.png"
    path.parent.mkdir(exist_ok=True)
    both = np.hstack([image, blurred.copy_to_host(), cleaned.copy_to_host()])
    Image.fromarray(both.astype(np.uint8)).save(path)
    print(f"filters: blur and median of {image.shape[1]} x {image.shape[0]} points in {path.name}; equals NumPy")


if __name__ == "__main__":
    main()
