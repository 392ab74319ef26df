"""A ray tracer: spheres over a chequered floor, with shadows and mirrors, written to out/rays.png.

One thread for each point of the picture; functions on the device return tuples.
"""

import math
import pathlib
import sys

import numpy as np
from gpu import cuda
from PIL import Image

DEPTH = 4
FAR = 1e30
# x, y, z, radius, red, green, blue, how much it mirrors
SPHERES = np.array(
    [
        [0.0, 1.0, 4.0, 1.0, 0.9, 0.2, 0.2, 0.3],
        [-2.1, 0.8, 3.2, 0.8, 0.2, 0.7, 0.3, 0.2],
        [1.9, 0.7, 2.8, 0.7, 0.2, 0.3, 0.9, 0.5],
        [0.4, 0.35, 2.0, 0.35, 0.9, 0.8, 0.2, 0.1],
    ]
)
LIGHT = (-0.48, 0.8, -0.36)


@cuda.jit(device=True)
def dot(ax, ay, az, bx, by, bz):
    return ax * bx + ay * by + az * bz


@cuda.jit(device=True)
def nearest(spheres, ox, oy, oz, dx, dy, dz):
    """Distance to what the ray meets first and its number: a sphere's, -1 for the floor, -2 for the sky."""
    best = FAR
    hit = -2
    if dy < -1e-6:
        best = -oy / dy
        hit = -1
    for s in range(spheres.shape[0]):
        cx, cy, cz = ox - spheres[s, 0], oy - spheres[s, 1], oz - spheres[s, 2]
        b = dot(cx, cy, cz, dx, dy, dz)
        inside = b * b - dot(cx, cy, cz, cx, cy, cz) + spheres[s, 3] ** 2
        if inside > 0.0:
            t = -b - math.sqrt(inside)
            if 1e-4 < t < best:
                best = t
                hit = s
    return best, hit


@cuda.jit(device=True)
def surface(spheres, hit, x, y, z):
    """Normal, colour and mirror of a point."""
    if hit < 0:
        shade = 0.9 if (math.floor(x) + math.floor(z)) % 2 == 0 else 0.25
        return 0.0, 1.0, 0.0, shade, shade, shade, 0.15
    r = spheres[hit, 3]
    nx, ny, nz = (x - spheres[hit, 0]) / r, (y - spheres[hit, 1]) / r, (z - spheres[hit, 2]) / r
    return nx, ny, nz, spheres[hit, 4], spheres[hit, 5], spheres[hit, 6], spheres[hit, 7]


@cuda.jit
def render(spheres, image):
    column, row = cuda.grid(2)
    height, width, _ = image.shape
    if column >= width or row >= height:
        return
    dx, dy, dz = (column - width / 2) / height, (height / 2 - row) / height - 0.15, 1.0
    length = math.sqrt(dot(dx, dy, dz, dx, dy, dz))
    dx, dy, dz = dx / length, dy / length, dz / length
    ox, oy, oz = 0.0, 1.3, -2.5
    red = green = blue = 0.0
    weight = 1.0
    for _ in range(DEPTH):
        t, hit = nearest(spheres, ox, oy, oz, dx, dy, dz)
        if hit == -2:
            glow = 0.5 + 0.5 * dy
            red += weight * (1.0 - 0.5 * glow)
            green += weight * (1.0 - 0.3 * glow)
            blue += weight
            break
        ox, oy, oz = ox + t * dx, oy + t * dy, oz + t * dz
        nx, ny, nz, r, g, b, mirror = surface(spheres, hit, ox, oy, oz)
        light = 0.15
        _, shadow = nearest(spheres, ox + 1e-3 * nx, oy + 1e-3 * ny, oz + 1e-3 * nz, *LIGHT)
        if shadow == -2:
            light += 0.85 * max(dot(nx, ny, nz, *LIGHT), 0.0)
        red += weight * (1 - mirror) * light * r
        green += weight * (1 - mirror) * light * g
        blue += weight * (1 - mirror) * light * b
        weight *= mirror
        back = 2 * dot(dx, dy, dz, nx, ny, nz)
        dx, dy, dz = dx - back * nx, dy - back * ny, dz - back * nz
        ox, oy, oz = ox + 1e-3 * nx, oy + 1e-3 * ny, oz + 1e-3 * nz
    image[row, column, 0] = red
    image[row, column, 1] = green
    image[row, column, 2] = blue


def first_hits(spheres, height, width):
    """What each ray from the eye meets first, by NumPy: the number of a sphere, -1, or -2."""
    row, column = np.mgrid[:height, :width]
    d = np.stack([(column - width / 2) / height, (height / 2 - row) / height - 0.15, np.ones(row.shape)], axis=-1)
    d /= np.linalg.norm(d, axis=-1, keepdims=True)
    c = np.array([0.0, 1.3, -2.5]) - spheres[:, :3]
    b = d @ c.T
    inside = b**2 - (c**2).sum(axis=1) + spheres[:, 3] ** 2
    t = np.where(inside > 0, -b - np.sqrt(np.maximum(inside, 0)), FAR)
    floor = np.where(d[..., 1] < -1e-6, -1.3 / np.minimum(d[..., 1], -1e-6), FAR)
    nearest = t.argmin(axis=-1)
    return np.where(t.min(axis=-1) < floor, nearest, np.where(floor < FAR, -1, -2))


def main():
    height, width = (48, 64) if "--small" in sys.argv else (1080, 1920)
    image = np.zeros((height, width, 3))
    render[(-(-width // 16), -(-height // 16)), (16, 16)](SPHERES, image)

    hits = first_hits(SPHERES, height, width)
    sky = hits == -2
    glow = image[sky][:, 0]
    assert np.all(image[sky][:, 2] == 1) and np.all((glow > 0.49) & (glow < 0.8))
    matte = image[hits == 0]  # the red sphere is red, also where it mirrors the sky
    assert np.all(matte[:, 0] > 0.09) and matte[:, 0].mean() > 1.5 * matte[:, 1].mean()
    path = pathlib.Path(__file__).resolve().parents[2] / "out" / "rays.png"
    path.parent.mkdir(exist_ok=True)
    Image.fromarray((255 * np.clip(image, 0, 1)).astype(np.uint8)).save(path)
    seen = ", ".join(f"{name} {(hits == k).mean():.0%}" for name, k in (("sky", -2), ("floor", -1)))
    print(f"rays: {width} x {height} points in {path.name}, {seen}; what rays meet equals NumPy")


if __name__ == "__main__":
    main()
