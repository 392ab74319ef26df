"""Fast Fourier transforms of a photograph's rows: what is left when only its slow waves are kept.

Stockham's form of the transform: each block of threads transforms a row in shared memory, in log2(n) steps between
barriers, and no step needs its input in another order. The picture without its fast waves is written to out/fft.png.
"""

import cmath
import math
import pathlib
import sys

import numpy as np
from gpu import cuda
from matplotlib import cbook
from PIL import Image

N = 512
HALF = N // 2


@cuda.jit
def transform(rows, sign):
    """Each row of N values in place, not scaled; sign -1 forward, 1 back."""
    buffer = cuda.shared.array((2, N), np.complex64)
    j = cuda.threadIdx.x
    row = cuda.blockIdx.x
    buffer[0, j] = rows[row, j]
    buffer[0, j + HALF] = rows[row, j + HALF]
    cuda.syncthreads()
    source = 0
    span = 1
    while span < N:
        k = j % span
        angle = sign * math.pi * k / span
        turn = np.complex64(cmath.exp(1j * angle))
        a = buffer[source, j]
        b = buffer[source, j + HALF] * turn
        at = 2 * j - k
        buffer[1 - source, at] = a + b
        buffer[1 - source, at + span] = a - b
        cuda.syncthreads()
        source = 1 - source
        span *= 2
    rows[row, j] = buffer[source, j]
    rows[row, j + HALF] = buffer[source, j + HALF]


@cuda.jit
def keep_slow(rows, most):
    """Zero for waves that swing more often than `most` times, and the factor that the way back needs."""
    row, k = cuda.grid(2)
    if row < rows.shape[0] and k < N:
        rows[row, k] = rows[row, k] / N if min(k, N - k) <= most else 0


def main():
    with cbook.get_sample_data("grace_hopper.jpg") as file:
        picture = Image.open(file).convert("L").resize((N, 16 if "--small" in sys.argv else 600))
    image = np.asarray(picture, np.complex64)
    rows = cuda.to_device(image)
    transform[image.shape[0], HALF](rows, -1)
    assert np.allclose(rows.copy_to_host(), np.fft.fft(image), rtol=0, atol=0.05 * N)
    keep_slow[(-(-image.shape[0] // 16), N // 16), (16, 16)](rows, 24)
    transform[image.shape[0], HALF](rows, 1)
    smooth = rows.copy_to_host()

    spectrum = np.fft.fft(image)
    spectrum[:, 25 : N - 24] = 0
    assert np.allclose(smooth, np.fft.ifft(spectrum), rtol=0, atol=0.01)
    path = pathlib.Path(__file__).resolve().parents[2] / "out" / "fft.png"
    path.parent.mkdir(exist_ok=True)
    Image.fromarray(np.clip(smooth.real, 0, 255).astype(np.uint8)).save(path)
    print(f"fft: {image.shape[0]} rows of {N}, 24 waves kept, in {path.name}; equals NumPy")


if __name__ == "__main__":
    main()
