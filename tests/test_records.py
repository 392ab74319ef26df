"""Records in kernels: every device leaves in the arrays what NumPy leaves."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import gpu
import numpy as np
import pytest
from gpu import cuda

DEVICES = ("cpu", "emulated", "python")
INNER = np.dtype([("a", "f8"), ("b", "i2")], align=True)
PARTICLE = np.dtype([("id", "i4"), ("inner", INNER), ("vec", "f4", 3), ("grid", "u2", (2, 2)), ("on", "?")], align=True)
PACKED = np.dtype(
    [("id", "u1"), ("inner", [("a", "f8"), ("b", "i2")]), ("vec", "f4", 3), ("grid", "u2", (2, 2)), ("on", "?")]
)
SPREAD = np.dtype(
    {
        "names": ["id", "inner", "vec", "grid", "on"],
        "formats": ["i8", [("a", "f4"), ("b", "f8")], ("f8", 3), ("i4", (2, 2)), "?"],
        "offsets": [40, 64, 8, 88, 2],
        "itemsize": 120,
    }
)


def filled(dtype: Any, n: int = 5) -> np.ndarray:
    """Records of different numbers, and of 0x55 where no field is."""
    r = np.full(n * dtype.itemsize, 0x55, np.uint8).view(dtype)
    r["id"] = np.arange(n) + 1
    r["inner"]["a"] = np.arange(n) * 1.5
    r["inner"]["b"] = -np.arange(n)
    r["vec"] = np.arange(3 * n).reshape(n, 3) / 4
    r["grid"] = np.arange(4 * n).reshape(n, 2, 2)
    r["on"] = np.arange(n) % 2
    return r


def reads(r, out):
    i = gpu.grid(1)
    e = r[i]
    out[i] = e.id + e["inner"].a * 2 + e.inner["b"] + e.vec[1] + e["grid"][1, 0]
    if e.on:
        out[i] += 1000


def writes(r, out):
    i = gpu.grid(1)
    e = r[i]
    e.id = i * 3
    e["inner"]["a"] = 0.5
    e.inner.b += 7
    e.vec[2] = e.vec[0] + 1
    e["grid"][0, i % 2] = 9
    r[i].on = not e.on


def columns(r, out):
    i = gpu.grid(1)
    ids, a, vec = r["id"], r["inner"]["a"], r.vec
    out[i] = ids[i] + a[-1] + vec[i, 2] + len(ids) + r["grid"].shape[2] + r["on"][i]
    ids[i] = vec.shape[1]
    r.inner.b[i] += 1


def numbered(r, out):
    i = gpu.grid(1)
    e = r[i]
    out[i] = e[0] + e[-4][0] + len(e) + e[2][1]
    e[0] = 4


def unpacked(r, out):
    i = gpu.grid(1)
    a, b = r[i].inner
    out[i] = a - b
    for x in r[i].inner:
        out[i] += x


def whole(r, out):
    i = gpu.grid(1)
    if i > 0:
        r[i] = r[0]
        r[i].id = 77


def whole_inner(r, out):
    i = gpu.grid(1)
    r[i].inner = (i, i + 0.75)
    if i == 1:
        r[i].inner = r[0]["inner"]
    if i == 2:
        r[i].inner = 3
    out[i] = r[i].inner.a


def swapped(r, out):
    i = gpu.grid(1)
    if i < 2:
        keep = r[i].copy()
        r[i] = r[4 - i]
        r[4 - i] = keep
        keep.id = 100
        out[i] = keep.id + r[4 - i].id


def compared(r, out):
    i = gpu.grid(1)
    out[i] = 10 * (r[i] == r[2]) + (r[i].inner != r[3].inner)


def chosen(r, out):
    i = gpu.grid(1)
    e = r[0] if i % 2 else r[i]
    out[i] = e.id
    for k in range(i):
        e = r[k]
    e.inner.b = 50 + i


def scale(e, factor):
    e.vec[0] = e.vec[0] * factor
    return e


def passed(r, out):
    i = gpu.grid(1)
    out[i] = scale(r[i], 3).inner.a


def iterated(r, out):
    if gpu.grid(1) == 0:
        for k, e in enumerate(r):
            out[k] = e.id
            e.id = k
        for e in r:
            out[0] += e.vec[0]


def facts(r, out):
    i = gpu.grid(1)
    e = r[i]
    out[i] = r.itemsize + r.nbytes + len(e.dtype.names) + r.dtype.itemsize + r["vec"].ndim + e.itemsize
    if r.dtype == e.dtype:
        out[i] += 0.5


def assigned(r, out):
    if gpu.grid(1) == 0:
        r[0] = (3, (1.5, -2), (7, 8, 9), ((1, 2), (3, 4)), True)
        r[1].vec = r[0].vec
        r[2].grid = 6
        r[3] = 1
        r["inner"]["b"][::2] = 12
        r.vec[:, 0] = r["id"]
        r[4] = (5, r[0].inner, r[1].vec, r[2].grid, False)
        r[:2]["on"] = r["on"][3:]


def sliced(r, out):
    if gpu.grid(1) == 0:
        r[1:3] = r[0]
        r["inner"][3:] = r[0].inner
        r[::-1][:1] = r[3:4]
        out[:5] = r["vec"][:, 1] * 2 + r["inner"]["a"]


def listed(r, out):
    if gpu.grid(1) == 0:
        for k, e in enumerate(r.flat):
            a, *rest = tuple(e.inner)
            out[k] = sum(e.inner) + a + len(rest) + max(e.inner)
        for name in ("id", "on"):
            r[1][name] = r[2][name]
        for name in r.dtype.names[1:3]:
            r[0][name] = r[3][name]


KERNELS = [
    reads,
    writes,
    columns,
    numbered,
    unpacked,
    whole,
    whole_inner,
    swapped,
    compared,
    chosen,
    passed,
    iterated,
    facts,
    assigned,
    sliced,
    listed,
]


def run(device: str, kernel: Callable[..., Any], args: list[Any], n: int = 5) -> list[Any]:
    """The arguments after a launch of a block of n threads."""
    with gpu.device(device):
        gpu.jit(kernel)[1, n](*args)
    return args


def reference(kernel: Callable[..., Any], args: list[Any], n: int = 5) -> list[Any]:
    """The arguments after the plain function ran on record arrays, thread by thread."""
    for i in range(n):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(gpu, "grid", lambda ndim, i=i: i)
            kernel(*[a.view(np.recarray) if isinstance(a, np.ndarray) and a.dtype.names else a for a in args])
    return args


def copied(args: list[Any]) -> list[Any]:
    """Copies to the last byte: NumPy's leave out what isn't a field."""
    return [np.frombuffer(bytearray(a.tobytes()), a.dtype).reshape(a.shape) for a in args]


def contents(a: np.ndarray) -> list[bytes]:
    """The bytes of all numbers and strings: what lies between fields, some releases of NumPy copy and some don't."""
    if a.dtype.names is None:
        return [a.tobytes()]
    return [text for name in a.dtype.names for text in contents(a[name])]


def same(got: list[Any], wanted: list[Any]) -> None:
    for g, w in zip(got, wanted, strict=True):
        assert contents(g) == contents(w), f"{g}\n{w}"


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [PARTICLE, PACKED, SPREAD], ids=["aligned", "packed", "spread"])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.__name__)
def test_kernels(kernel: Callable[..., Any], dtype: np.dtype, device: str) -> None:
    args = [filled(dtype), np.zeros(5)]
    wanted = reference(kernel, copied(args))
    same(run(device, kernel, args), wanted)


def test_other_dtypes() -> None:
    """A record of another dtype is assigned field by field, by their order, and converted."""

    def kernel(r, other):
        i = gpu.grid(1)
        if i % 2:
            r[i] = other[i]
        else:
            other[i] = r[i]
        other[i].third = r[i].inner

    names = {"first": "f8", "third": [("p", "i8"), ("q", "f4")], "vec": ("i2", 3), "grid": ("f4", (2, 2)), "on": "u1"}
    other = np.dtype(list(names.items()))
    for device in DEVICES:
        args = [filled(PARTICLE), np.zeros(5, other)]
        args[1]["first"], args[1]["third"]["q"], args[1]["vec"][:, 1], args[1]["grid"][:, 0] = 7, 8, 9, 10
        wanted = copied(args)
        for i in range(5):
            if i % 2:
                wanted[0][i] = wanted[1][i]
            else:
                wanted[1][i] = wanted[0][i]
            wanted[1][i]["third"] = wanted[0][i]["inner"]
        run(device, kernel, args)
        assert all((args[0][name] == wanted[0][name]).all() for name in PARTICLE.names), device
        assert all((args[1][name] == wanted[1][name]).all() for name in other.names), device


# ---- records as arguments, constants and memory of the block


def by_value(p, r, out):
    i = gpu.grid(1)
    q = p.copy()
    q.inner.b += 1
    out[i] = p.id + p["inner"]["a"] + p.vec[i % 3] + p.grid[i % 2, 1] + q.inner.b
    r[i].inner = p.inner
    if p.on:
        r[i] = q


def in_a_tuple(pair, r, out):
    i = gpu.grid(1)
    out[i] = pair[0].id * 2.0 * pair[1] + pair[0].inner.a
    r[i].inner = pair[0].inner


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [PARTICLE, PACKED, SPREAD], ids=["aligned", "packed", "spread"])
@pytest.mark.parametrize("kernel", [by_value, in_a_tuple], ids=lambda k: k.__name__)
def test_record_by_value(kernel: Callable[..., Any], dtype: np.dtype, device: str) -> None:
    """A record is passed as the bytes that it is, and the caller's stays what it was."""
    record = filled(dtype)[3]
    before = record.tobytes()
    args = [filled(dtype), np.zeros(5)]
    wanted = copied(args)
    for i in range(5):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(gpu, "grid", lambda ndim, i=i: i)
            seen = record.copy().view((np.record, dtype)) if kernel is by_value else None
            first = seen if kernel is by_value else (filled(dtype).view(np.recarray)[3], 2)
            kernel(first, wanted[0].view(np.recarray), wanted[1])
    run(device, kernel, [record if kernel is by_value else (record, 2), *args])
    same(args, wanted)
    assert record.tobytes() == before


@pytest.mark.parametrize("device", ("cpu", "emulated"))
@pytest.mark.parametrize("dtype", [PARTICLE, PACKED, SPREAD], ids=["aligned", "packed", "spread"])
def test_record_by_reference(dtype: np.dtype, device: str) -> None:
    """In the Numba dialect a record is the caller's."""

    @cuda.jit
    def kernel(r, v):
        r.id = v
        r["inner"].b -= 2
        r.vec[1] = r.vec[0] + 5

    records = filled(dtype).view(np.recarray)
    with gpu.device(device):
        kernel[1, 1](records[2], 9)
        held = gpu.array(records)
        kernel[1, 1](held[3], 9)
    assert records["id"].tolist() == [1, 2, 9, 4, 5] and records["vec"][2, 1] == records["vec"][2, 0] + 5
    assert records["inner"]["b"].tolist() == [0, -1, -4, -3, -4]
    assert held[3]["id"] == 9 and held[3]["inner"]["b"] == -5


@pytest.mark.parametrize("device", DEVICES)
def test_memory_of_the_kernel(device: str) -> None:
    """Shared and local arrays of records, and records that were captured, whose numbers are constants."""
    size = np.array([(3, 0.5, [1, 2])], np.dtype([("n", "i4"), ("step", "f8"), ("at", "u1", 2)]))
    one = size[0]

    def kernel(r, out):
        i = gpu.grid(1)
        block = gpu.shared.array(8, PARTICLE)
        own = gpu.local.array(one.n, PARTICLE)
        block[i] = r[i]
        block[i].id += 100
        gpu.syncthreads()
        own[1] = block[(i + 1) % 5]
        own[1].vec[0] = size[0].step
        out[i] = own[1].id + own[1].vec[0] + len(own) + one.at[i % 2]
        if one.n == 3:
            r[i] = own[1]
        else:
            r[i] = no_such_name  # noqa: F821

    args = [filled(PARTICLE), np.zeros(5)]
    records = args[0].copy()
    run(device, kernel, args)
    assert args[1].tolist() == [records["id"][(i + 1) % 5] + 103.5 + 1 + i % 2 for i in range(5)]
    assert args[0]["inner"]["a"].tolist() == np.roll(records["inner"]["a"], -1).tolist()


@pytest.mark.parametrize("device", ("cpu", "emulated"))
def test_atomics(device: str) -> None:
    """On fields of arrays and of shared arrays; where they aren't aligned, they are refused."""

    def kernel(r, out):
        i = gpu.grid(1)
        gpu.atomic.add(r["id"], 0, i)
        gpu.atomic.max(r.inner.a, 1, i * 2.0)
        gpu.atomic.add(r[2].vec, 1, 1)

    r = filled(PARTICLE)
    run(device, kernel, [r, np.zeros(1)], 16)
    assert r["id"][0] == 121 and r["inner"]["a"][1] == 30 and r["vec"][2, 1] == 1.75 + 16
    with pytest.raises(gpu.CompileError, match="aren't aligned in memory"):
        run(device, kernel, [filled(PACKED), np.zeros(1)])


# ---- arrays of a device


@pytest.mark.parametrize("device", ("cpu", "emulated"))
def test_device_arrays(device: str) -> None:
    host = filled(PARTICLE)
    with gpu.device(device):
        d = gpu.array(host)
        assert d.dtype == PARTICLE and d.itemsize == PARTICLE.itemsize
        same([d.copy_to_host()], [host])
        assert d["vec"].shape == (5, 3) and d["inner"]["b"].copy_to_host().tolist() == host["inner"]["b"].tolist()
        d["id"] = 7
        d[1]["inner"]["a"] = 3.25
        d[2]["vec"][1:] = 8
        d[3] = (1, (2, 3), [4, 5, 6], [[7, 8], [9, 10]], True)
        d[4] = host[0]
        wanted = filled(PARTICLE)
        wanted["id"] = 7
        wanted[1]["inner"]["a"] = 3.25
        wanted[2]["vec"][1:] = 8
        wanted[3] = (1, (2, 3), [4, 5, 6], [[7, 8], [9, 10]], True)
        wanted[4] = host[0]
        assert all((d.copy_to_host()[name] == wanted[name]).all() for name in PARTICLE.names)
        assert d[3]["id"] == 1 and d[3]["vec"].tolist() == [4, 5, 6]
        assert gpu.zeros(2, PARTICLE).copy_to_host().tobytes() == bytes(2 * PARTICLE.itemsize)
        args = [gpu.array(host), gpu.zeros(5)]
        reads_too = reference(reads, [filled(PARTICLE), np.zeros(5)])
        gpu.jit(reads)[1, 5](*args)
        assert args[1].copy_to_host().tolist() == reads_too[1].tolist()
        packed = gpu.array(filled(PACKED))
        packed[1]["inner"] = (1.5, 3)
        assert packed.copy_to_host()["inner"].tolist() == [(0, 0), (1.5, 3), (3, -2), (4.5, -3), (6, -4)]
        with pytest.raises(KeyError, match="no field 'mass'"):
            d["mass"]


def test_other_memory() -> None:
    """C structs of ctypes, and arrays that only say what they are."""

    class Point(ctypes.Structure):
        _fields_ = (("x", ctypes.c_float), ("n", ctypes.c_int))

    class Described:
        def __init__(self, a: np.ndarray) -> None:
            self.array = a
            self.__array_interface__ = a.__array_interface__

    def kernel(points, out):
        i = gpu.grid(1)
        out[i] = points[i].x + points[i].n
        points[i].n = i

    points = (Point * 5)(*((k / 2, k) for k in range(5)))
    out = np.zeros(5)
    run("cpu", kernel, [points, out])
    assert out.tolist() == [0, 1.5, 3, 4.5, 6] and [p.n for p in points] == list(range(5))
    described = Described(np.array([(k / 2, k) for k in range(5)], [("x", "f4"), ("n", "i4")]))
    run("cpu", kernel, [described, out])
    assert out.tolist() == [0, 1.5, 3, 4.5, 6]


# ---- what is refused at the launch, signatures


@pytest.mark.parametrize(
    ("dtype", "message"),
    [
        ([("o", "O")], "Python object"),
        ("V8", "dtype"),
        ([], "a record of 0 bytes"),
    ],
)
def test_refused(dtype: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        run("cpu", facts, [np.zeros(3, np.dtype(dtype)), np.zeros(3)])


def test_c_struct() -> None:
    """Numba's way to make the type of a record."""
    types = cuda.types
    inner = types.Record.make_c_struct([("a", types.int8), ("b", types.NestedArray(types.float32, (2,)))])
    made = types.Record.make_c_struct([("x", types.int16), ("y", types.float64), ("z", inner)])
    assert repr(made[:]) == "array(record(x: int16, y: float64, z: record(a: int8, b: float32[2])), 1d, A)"
    assert made.dtype.isalignedstruct and made == cuda.from_dtype(made.dtype)


def test_signatures() -> None:
    dtype = np.dtype([("x", "f4"), ("n", "i2", 3)], align=True)
    assert repr(gpu.from_dtype(dtype)[::1]) == "array(record(x: float32, n: int16[3]), 1d, C)"
    assert gpu.from_dtype(dtype) == gpu.from_dtype(np.dtype([("x", "f4"), ("n", "i2", 3)], align=True))

    @gpu.jit("record(x: float32, n: int16[3])[::1], f8[:]")
    def kernel(r, out):
        out[gpu.grid(1)] = r[gpu.grid(1)].n[1]

    out = np.zeros(2)
    kernel[1, 2](np.array([(1, [2, 3, 4])] * 2, dtype), out)
    assert out.tolist() == [3, 3]
    with pytest.raises(TypeError, match=r"is array\(record\(x: float32, n: int16\[3\]\), 1d, C\) by the signature"):
        kernel[1, 2](filled(PARTICLE), out)
    for text in (
        "record(x: float32, n: int16[3])",
        "record(a: uint8, b: record(c: bool, d: complex64, packed), e: int32, packed)",
        "record(a: uint8 @ 3, b: float64[2, 2] @ 8, 64 bytes)",
    ):
        assert repr(gpu.signature.parse(text).args[0]) == text
        assert repr(gpu.signature.parse(text + "[:, ::1]").args[0]) == f"array({text}, 2d, C)"
    for text in ("record(x float32)", "record(x: float32 @ 8)", "record(x: nothing)", "record(x: float32[)"):
        with pytest.raises(gpu.SignatureError):
            gpu.signature.parse(text)


def prints(r, out):
    e = r[gpu.grid(1)]
    print(e, e.inner, e.vec, f"{e.id:03d}")


@pytest.mark.parametrize("device", DEVICES)
def test_print(device: str, capfd: pytest.CaptureFixture) -> None:
    """A record is shown as NumPy shows it."""
    r = filled(PARTICLE)
    run(device, prints, [r, np.zeros(1)], 2)
    gpu.synchronize()
    shown = [f"{e} {e['inner']} {e['vec']} {e['id']:03d}\n" for e in r[:2]]
    assert capfd.readouterr().out == "".join(shown)


def test_unassigned() -> None:
    """In the Numba dialect an unassigned number is 0; there is no record that could be."""

    @cuda.jit
    def kernel(r, out):
        if out[0] > 0:
            e = r[0]
        out[0] = e.id

    with pytest.raises(gpu.CompileError, match="'e' is not assigned on every path"):
        kernel[1, 1](filled(PARTICLE), np.zeros(1))


@pytest.mark.parametrize("device", ("cpu", "emulated"))
def test_large_records(device: str) -> None:
    """By value as far as parameters go, beyond that as an array; copied in a loop."""
    dtype = np.dtype([("v", "f8", 400), ("n", "i4"), ("w", "u1", 3)], align=True)

    def kernel(r, p, out):
        i = gpu.grid(1)
        out[i] = p.v[i + 300] + p.n + p.w[2]
        r[i] = p
        r[i].v[0] = i

    record = np.zeros(1, dtype)[0]
    record["v"], record["n"], record["w"] = np.arange(400), 70000, [1, 2, 3]
    args = [np.zeros(2, dtype), record, np.zeros(2)]
    run(device, kernel, args, 2)
    assert args[2].tolist() == [70303, 70304]
    record["v"][0] = 0
    assert contents(args[0][:1]) == contents(record.reshape(1))
    record["v"][0] = 1
    assert contents(args[0][1:]) == contents(record.reshape(1))
    with pytest.raises(TypeError, match="a record of 40000 bytes is too large for a copy"):
        run(device, kernel, [args[0], np.zeros(1, [("v", "f8", 5000)])[0], args[2]])


@pytest.mark.parametrize("device", DEVICES)
def test_columns_as_arguments(device: str) -> None:
    """A field of packed records is an array like any other; its numbers lie anywhere."""

    def kernel(a, vec, ids):
        i = gpu.grid(1)
        a[i] += vec[i, 1] * 2 + ids[i]
        vec[i, 0] = i

    r = filled(PACKED)
    wanted = copied([r])[0]
    for i in range(5):
        wanted["inner"]["a"][i] += wanted["vec"][i, 1] * 2 + wanted["id"][i]
        wanted["vec"][i, 0] = i
    got = copied([r])[0]
    run(device, kernel, [got["inner"]["a"], got["vec"], got["id"]])
    assert got["inner"]["a"].tolist() == wanted["inner"]["a"].tolist()
    assert contents(got) == contents(wanted)
    shifted = np.frombuffer(bytearray(41), np.float64, offset=1)

    def sets(x, y):
        x[gpu.grid(1)] = y

    run(device, sets, [shifted, 2.5])
    assert shifted.tolist() == [2.5] * 5


def test_unaligned_and_signatures() -> None:
    @gpu.jit("f8[:]")
    def kernel(x):
        x[0] = 1

    kernel[1, 1](np.zeros(3))
    packed = filled(PACKED)["inner"]["a"]
    assert not packed.flags.aligned
    kernel[1, 1](packed)
    assert packed[0] == 1
