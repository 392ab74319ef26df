"""k-means: a photograph in few colours, written to out/kmeans.png.

Blocks add up the colours of their points for each cluster in shared memory, and then the sums with atomic additions.
"""

import pathlib
import sys

import numpy as np
from gpu import cuda
from matplotlib import cbook
from PIL import Image

CLUSTERS = 12
THREADS = 128


@cuda.jit
def assign(points, centres, label):
    i = cuda.grid(1)
    if i < points.shape[0]:
        best = 0
        least = np.float32(np.inf)
        for c in range(CLUSTERS):
            distance = np.float32(0)
            for k in range(3):
                distance += (points[i, k] - centres[c, k]) ** 2
            if distance < least:
                least = distance
                best = c
        label[i] = best


@cuda.jit
def add_up(points, label, sums, counts):
    block_sums = cuda.shared.array((CLUSTERS, 3), np.int64)
    block_counts = cuda.shared.array(CLUSTERS, np.int32)
    me = cuda.threadIdx.x
    if me < CLUSTERS:
        block_counts[me] = 0
        for k in range(3):
            block_sums[me, k] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), points.shape[0], cuda.gridsize(1)):
        cuda.atomic.add(block_counts, label[i], 1)
        for k in range(3):
            cuda.atomic.add(block_sums, (label[i], k), np.int64(points[i, k]))
    cuda.syncthreads()
    if me < CLUSTERS:
        cuda.atomic.add(counts, me, block_counts[me])
        for k in range(3):
            cuda.atomic.add(sums, (me, k), block_sums[me, k])


def cluster(points, centres, rounds):
    """The colours of the clusters and the cluster of each point, after so many rounds."""
    device = cuda.to_device(points)
    label = cuda.device_array(len(points), np.int32)
    for _ in range(rounds):
        assign[-(-len(points) // THREADS), THREADS](device, centres, label)
        sums, counts = np.zeros((CLUSTERS, 3), np.int64), np.zeros(CLUSTERS, np.int32)
        add_up[64, THREADS](device, label, sums, counts)
        centres = (sums / np.maximum(counts, 1)[:, None]).astype(np.float32)
    return centres, label.copy_to_host()


def with_numpy(points, centres, rounds):
    """The same."""
    for _ in range(rounds):
        distance = np.zeros((len(points), CLUSTERS), np.float32)
        for k in range(3):
            distance += (points[:, k, None] - centres[None, :, k]) ** 2
        label = distance.argmin(axis=1)
        counts = np.bincount(label, minlength=CLUSTERS)
        sums = np.stack([np.bincount(label, points[:, k], CLUSTERS) for k in range(3)], axis=1)
        centres = (sums / np.maximum(counts, 1)[:, None]).astype(np.float32)
    return centres, label


def main():
    with cbook.get_sample_data("grace_hopper.jpg") as file:
        picture = Image.open(file).convert("RGB")
    if "--small" in sys.argv:
        picture = picture.resize((50, 60))
    points = np.asarray(picture, np.float32).reshape(-1, 3)
    start = points[np.linspace(0, len(points) - 1, CLUSTERS).astype(int)]

    centres, label = cluster(points, start, 10)
    want_centres, want_label = with_numpy(points, start, 10)
    # A colour exactly between two centres may go to either when a product and a sum are rounded once.
    assert np.allclose(centres, want_centres, rtol=0, atol=0.5) and (label == want_label).mean() > 0.999
    path = pathlib.Path(__file__).resolve().parents[2] / "out" / "kmeans.png"
    path.parent.mkdir(exist_ok=True)
    Image.fromarray(centres[label].astype(np.uint8).reshape(picture.height, picture.width, 3)).save(path)
    print(f"kmeans: {len(points):,} points in {CLUSTERS} colours in {path.name}; equals NumPy")


if __name__ == "__main__":
    main()
