"""The kernels of reductions and scans: which element is combined with which, and their text for each kind of device.

Elements are combined in one way that depends on shape and axes alone, so that a sum of floats is the same to the bit
on all devices. A thread of the CPU does in order, or side by side in a vector, what the 32 lanes of a GPU's warp do:

* rows: a chunk of 2048 elements along the axis; lane l combines the elements l, l + 32, l + 64, ...; then lane l
  takes in lane l + 16, l + 8, ...
* ordered rows, for functions that don't commute: lane l combines 32 neighbours, and takes in lane l + 1, l + 2, ...
* columns, where the results lie closer together than what is combined: each result goes along its chunk alone.
* scans: a tile of 256 elements, 8 neighbours for each lane; lane l takes in lane l - 1, l - 2, l - 4, ...

What chunks or tiles give is treated in the same way, until one is left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

LANES = 32
CHUNK = 2048  # elements of rows and columns
ORDERED_CHUNK = 1024  # of ordered rows: 32 for each lane
RUN = 8  # neighbours that a lane scans
TILE = RUN * LANES

_HEAD = """\
def kernel(out, n, parts, {params}):
    t = gpu.grid(1){of_warp}
    if t < out.size:
        row = t // parts
        part = t % parts
        first = part * {chunk}
        count = min({chunk}, n - first)
"""

_FEW = """\
        if count < 32:
{guard}            total = {first}
{pad}            for i in range(first + 1, first + count):
{pad}                total = {total_i}
{pad}            out[row, part] = total
"""

_ROWS_IN_ORDER = """\
        else:
            lanes = gpu.local.array(32, acc)
            rest = count % 32
            for lane in range(32):
                lanes[lane] = {item_lane}
            for at in range(first + 32, first + count - rest, 32):
                for lane in range(32):
                    lanes[lane] = {lane_at}
            for lane in range(32):
                if lane < rest:
                    lanes[lane] = {lane_rest}
            half = 16
            while half > 0:
                for lane in range(half):
                    lanes[lane] = {lane_half}
                half = half // 2
            out[row, part] = lanes[0]
"""

_ROWS_BY_WARP = """\
        else:
            rest = count % 32
            total = {item_lane}
            for at in range(first + 32, first + count - rest, 32):
                total = {total_at}
            if lane < rest:
                total = {total_rest}
            half = 16
            while half > 0:
                total = {total_half}
                half = half // 2
            if lane == 0:
                out[row, part] = total
"""

_ORDERED_IN_ORDER = """\
        lanes = gpu.local.array(32, acc)
        active = (count + 31) // 32
        for lane in range(active):
            start = first + 32 * lane
            total = {item_start}
            for i in range(start + 1, min(start + 32, first + count)):
                total = {total_i}
            lanes[lane] = total
        step = 1
        while step < active:
            for lane in range(0, active - step, 2 * step):
                lanes[lane] = {lane_step}
            step = 2 * step
        out[row, part] = lanes[0]
"""

_ORDERED_BY_WARP = """\
        active = (count + 31) // 32
        start = first + 32 * min(lane, active - 1)
        total = {item_start}
        for i in range(start + 1, min(start + 32, first + count)):
            total = {total_i}
        step = 1
        while step < 32:
            other = gpu.shfl_down_sync(0xFFFFFFFF, total, step)
            if lane + step < active and lane % (2 * step) == 0:
                total = {total_other}
            step = 2 * step
        if lane == 0:
            out[row, part] = total
"""

_COLUMNS_IN_ORDER = """\
def kernel(out, n, parts, {params}):
    t = gpu.grid(1)
    groups = (out.shape[0] + 31) // 32
    if t < groups * parts:
        part = t // groups
        left = t % groups * 32
        first = part * {chunk}
        last = min(first + {chunk}, n)
        if left + 32 <= out.shape[0]:
            lanes = gpu.local.array(32, acc)
            for lane in range(32):
                lanes[lane] = {item_column}
            for i in range(first + 1, last):
                for lane in range(32):
                    lanes[lane] = {lane_column}
            for lane in range(32):
                out[left + lane, part] = lanes[lane]
        else:
            for row in range(left, out.shape[0]):
                total = {first}
                for i in range(first + 1, last):
                    total = {total_i}
                out[row, part] = total
"""

_COLUMNS_BY_THREAD = """\
def kernel(out, n, parts, {params}):
    t = gpu.grid(1)
    if t < out.shape[0] * parts:
        part = t // out.shape[0]
        row = t % out.shape[0]
        first = part * {chunk}
        total = {first}
        for i in range(first + 1, min(first + {chunk}, n)):
            total = {total_i}
        out[row, part] = total
"""


def _combine(a: str, b: str) -> str:
    return f"acc(op({a}, {b}))"


def fold_source(mode: str, by_warp: bool, params: str, item: Callable[[str, str], str]) -> str:
    """The text of a reduction of chunks.

    Parameters
    ----------
    mode : str
        ``"rows"``, ``"ordered"`` or ``"columns"``.
    by_warp : bool
        Lanes are the threads of a warp, not elements of an array.
    params : str
        Names of the parameters that `item` uses.
    item : function
        The text of an element, of type ``acc``, from those of its row and its place along the axis.
    """
    texts = {
        "params": params,
        "chunk": ORDERED_CHUNK if mode == "ordered" else CHUNK,
        "of_warp": " // 32" if by_warp else "",
        "first": item("row", "first"),
        "total_i": _combine("total", item("row", "i")),
        "item_lane": item("row", "first + lane"),
        "item_start": item("row", "start"),
        "lane_at": _combine("lanes[lane]", item("row", "at + lane")),
        "total_at": _combine("total", item("row", "at + lane")),
        "lane_rest": _combine("lanes[lane]", item("row", "first + count - rest + lane")),
        "total_rest": _combine("total", item("row", "first + count - rest + lane")),
        "lane_half": _combine("lanes[lane]", "lanes[lane + half]"),
        "total_half": _combine("total", "gpu.shfl_down_sync(0xFFFFFFFF, total, half)"),
        "lane_step": _combine("lanes[lane]", "lanes[lane + step]"),
        "total_other": _combine("total", "other"),
        "item_column": item("left + lane", "first"),
        "lane_column": _combine("lanes[lane]", item("left + lane", "i")),
        "guard": "            if lane == 0:\n    " if by_warp else "",
        "pad": "    " if by_warp else "",
    }
    if mode == "columns":
        text = _COLUMNS_BY_THREAD if by_warp else _COLUMNS_IN_ORDER
    else:
        lane = "        lane = gpu.laneid\n" if by_warp else ""
        few = _FEW if mode == "rows" else ""
        rest = {
            ("rows", False): _ROWS_IN_ORDER,
            ("rows", True): _ROWS_BY_WARP,
            ("ordered", False): _ORDERED_IN_ORDER,
            ("ordered", True): _ORDERED_BY_WARP,
        }[mode, by_warp]
        text = _HEAD + lane + few + rest
    return text.format(**texts)


# ---- scans

_SCAN_HEAD = """\
def kernel(out, n, tiles, {params}):
    t = gpu.grid(1){of_warp}
    if t < {rows} * tiles:
        row = t // tiles
        tile = t % tiles
        first = tile * {tile}
        last = min(first + {tile}, n)
        active = (last - first + {run} - 1) // {run}
"""

_PREFIX_IN_ORDER = """\
        lanes = gpu.local.array(32, acc)
        before = gpu.local.array(32, acc)
        for lane in range(active):
            start = first + {run} * lane
            total = {item_start}
            for i in range(start + 1, min(start + {run}, last)):
                total = {total_i}
            lanes[lane] = total
        step = 1
        while step < active:
            for lane in range(active):
                before[lane] = lanes[lane]
            for lane in range(step, active):
                lanes[lane] = {prefix_lane}
            step = 2 * step
"""

_PREFIX_BY_WARP = """\
        lane = gpu.laneid
        start = first + {run} * min(lane, active - 1)
        total = {item_start}
        for i in range(start + 1, min(start + {run}, last)):
            total = {total_i}
        step = 1
        while step < 32:
            other = gpu.shfl_up_sync(0xFFFFFFFF, total, step)
            if lane >= step:
                total = {other_total}
            step = 2 * step
"""

_TOTALS_IN_ORDER = """\
        out[row, tile] = lanes[active - 1]
"""

_TOTALS_BY_WARP = """\
        if lane == active - 1:
            out[row, tile] = total
"""

_WRITE_IN_ORDER = """\
        for lane in range(active):
            start = first + {run} * lane
            stop = min(start + {run}, last)
            if lane > 0:
                value = {carried_lane}
                begun = True
            elif {has_carry}:
                value = {carry}
                begun = True
            else:
                value = {item_start}
                begun = False
"""

_WRITE_BY_WARP = """\
        previous = gpu.shfl_up_sync(0xFFFFFFFF, total, 1)
        if lane < active:
            stop = min(start + {run}, last)
            if lane > 0:
                value = {carried_previous}
                begun = True
            elif {has_carry}:
                value = {carry}
                begun = True
            else:
                value = {item_start}
                begun = False
"""

_INCLUSIVE = """\
            if begun:
                value = {value_start}
            out[row, start] = value
            for i in range(start + 1, stop):
                value = {value_i}
                out[row, i] = value
"""

_EXCLUSIVE = """\
            for i in range(start, stop):
                kept = {item_i}
                out[row, i] = value
                value = {value_kept}
"""


def scan_source(kind: str, by_warp: bool, params: str, item: Callable[[str, str], str], carry: str) -> str:
    """The text of a pass of a scan.

    Parameters
    ----------
    kind : str
        ``"totals"`` of tiles; ``"inclusive"`` or ``"exclusive"``: the results.
    by_warp : bool
    params : str
        Names of the parameters that `item` and the carries use, in order.
    item : function
        As for `fold_source`.
    carry : str
        What comes in from the left: ``""`` nothing, ``"init"`` a value, ``"tiles"`` the scanned totals, ``"both"``.
    """
    value, has = {
        "": ("", "False"),
        "init": ("acc(init)", "True"),
        "tiles": ("carries[row, tile - 1]", "tile > 0"),
        "both": ("acc(init) if tile == 0 else acc(op(acc(init), carries[row, tile - 1]))", "True"),
    }[carry]

    def after_carry(inner: str) -> str:
        if not carry:
            return inner
        whole = _combine(value if carry != "both" else f"({value})", inner)
        return whole if has == "True" else f"{whole} if {has} else {inner}"

    texts = {
        "params": params,
        "of_warp": " // 32" if by_warp else "",
        "rows": "out.shape[0]",
        "tile": TILE,
        "run": RUN,
        "item_start": item("row", "start"),
        "item_i": item("row", "i"),
        "total_i": _combine("total", item("row", "i")),
        "prefix_lane": _combine("before[lane - step]", "before[lane]"),
        "other_total": _combine("other", "total"),
        "has_carry": has,
        "carry": value or item("row", "start"),
        "carried_lane": after_carry("lanes[lane - 1]"),
        "carried_previous": after_carry("previous"),
        "value_start": _combine("value", item("row", "start")),
        "value_i": _combine("value", item("row", "i")),
        "value_kept": _combine("value", "kept"),
    }
    text = _SCAN_HEAD + (_PREFIX_BY_WARP if by_warp else _PREFIX_IN_ORDER)
    if kind == "totals":
        text += _TOTALS_BY_WARP if by_warp else _TOTALS_IN_ORDER
    else:
        text += _WRITE_BY_WARP if by_warp else _WRITE_IN_ORDER
        text += _INCLUSIVE if kind == "inclusive" else _EXCLUSIVE
    return text.format(**texts)
