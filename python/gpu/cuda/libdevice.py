"""The 317 functions of CUDA's libdevice under its names, for kernels: ``libdevice.sinf(x)``.

They are computed by what every device has, so the same results come on all of them; arguments are converted to the
types that libdevice has, and functions that write through pointers there return tuples here. Each is a device function
made of its row when it is first asked for.
"""

from __future__ import annotations

from typing import Any

# Name, types of the arguments, type of the result, expression of x, y, z. Types: d float64, f float32, h int16,
# i int32, l int64; u and m: the bits of an int32 or int64 as unsigned. D: two functions, in float64 and, named
# with an f, in float32. E: the same, but the expression is evaluated in float64. Results in parentheses are tuples.
_TABLE = """
abs i i: abs(x)
acos D D: math.acos(x)
acosh D D: math.acosh(x)
asin D D: math.asin(x)
asinh D D: math.asinh(x)
atan D D: math.atan(x)
atan2 DD D: math.atan2(x, y)
atanh D D: math.atanh(x)
brev u i: gpu.brev(x)
brevll m l: gpu.brev(x)
byte_perm uuu i: gpu.byte_perm(x, y, z)
cbrt D D: gpu.cbrt(x)
ceil D D: np.ceil(x)
clz u i: gpu.clz(x)
clzll m i: gpu.clz(x)
copysign DD D: math.copysign(x, y)
cos D D: math.cos(x)
cosh D D: math.cosh(x)
cospi E E: special.cospi(x)
double2hiint d i: x.view(np.int64) >> 32
double2loint d i: x.view(np.int64)
double_as_longlong d l: x.view(np.int64)
erf D D: math.erf(x)
erfc D D: math.erfc(x)
erfcinv E E: special.erfcinv(x)
erfcx E E: special.erfcx(x)
erfinv E E: special.erfinv(x)
exp D D: math.exp(x)
exp10 D D: math.pow(D(10), x)
exp2 D D: np.exp2(x)
expm1 D D: math.expm1(x)
fabs D D: abs(x)
fast_cosf f f: math.cos(x)
fast_exp10f f f: math.pow(np.float32(10), x)
fast_expf f f: math.exp(x)
fast_fdividef ff f: x / y
fast_log10f f f: math.log10(x)
fast_log2f f f: math.log2(x)
fast_logf f f: math.log(x)
fast_powf ff f: math.pow(x, y)
fast_sincosf f (ff): (math.sin(x), math.cos(x))
fast_sinf f f: math.sin(x)
fast_tanf f f: math.tan(x)
fdim DD D: x - y if x > y else (D(0) if x <= y else x + y)
ffs i i: gpu.ffs(x)
ffsll l i: gpu.ffs(x)
finitef f i: math.isfinite(x)
isfinited d i: math.isfinite(x)
float2half_rn f h: np.float16(x).view(np.int16)
float_as_int f i: x.view(np.int32)
floor D D: np.floor(x)
fma DDD D: gpu.fma(x, y, z)
fmax DD D: np.fmax(x, y)
fmin DD D: np.fmin(x, y)
fmod DD D: np.fmod(x, y)
frexp D (Di): np.frexp(x)
frsqrt_rn f f: 1.0 / math.sqrt(np.float64(x))
hadd ii i: (np.int64(x) + np.int64(y)) >> 1
half2float h f: x.view(np.float16)
hiloint2double iu d: ((np.int64(x) << 32) | np.int64(y)).view(np.float64)
hypot DD D: math.hypot(x, y)
ilogb D i: np.frexp(x)[1] - 1 if x != 0 and math.isfinite(x) else (2147483647 if math.isinf(x) else -2147483648)
int2double_rn i d: x
int_as_float i f: x.view(np.float32)
isinfd d i: math.isinf(x)
isinff f i: math.isinf(x)
isnand d i: math.isnan(x)
isnanf f i: math.isnan(x)
j0 E E: special.j0(x)
j1 E E: special.j1(x)
jn iE E: special.jn(x, y)
ldexp Di D: np.ldexp(x, y)
lgamma D D: math.lgamma(x)
llabs l l: abs(x)
llmax ll l: max(x, y)
llmin ll l: min(x, y)
llrint D l: np.rint(x)
llround E l: special.round_away(x)
log D D: math.log(x)
log10 D D: math.log10(x)
log1p D D: math.log1p(x)
log2 D D: math.log2(x)
logb D D: np.frexp(x)[1] - 1 if x != 0 and math.isfinite(x) else (-math.inf if x == 0 else abs(x))
longlong_as_double l d: x.view(np.float64)
max ii i: max(x, y)
min ii i: min(x, y)
modf D (DD): math.modf(x)
mul24 ii i: np.int64((x << 8) >> 8) * np.int64((y << 8) >> 8)
mul64hi ll l: gpu.mulhi(x, y)
mulhi ii i: (np.int64(x) * np.int64(y)) >> 32
nearbyint D D: np.rint(x)
nextafter DD D: np.nextafter(x, y)
normcdf E E: special.normcdf(x)
normcdfinv E E: special.normcdfinv(x)
popc u i: gpu.popc(x)
popcll m i: gpu.popc(x)
pow DD D: math.pow(x, y)
powi Di D: math.pow(x, D(y))
rcbrt E E: 1.0 / gpu.cbrt(x)
remainder DD D: math.remainder(x, y)
remquo EE (Ei): special.remquo(x, y)
rhadd ii i: (np.int64(x) + np.int64(y) + 1) >> 1
rint D D: np.rint(x)
round E E: special.round_away(x)
rsqrt D D: gpu.rsqrt(x)
sad iiu i: abs(np.int64(x) - np.int64(y)) + np.int64(z)
saturatef f f: gpu.saturate(x)
scalbn Di D: np.ldexp(x, y)
signbitd d i: np.signbit(x)
signbitf f i: np.signbit(x)
sin D D: math.sin(x)
sincos D (DD): (math.sin(x), math.cos(x))
sincospi E (EE): (special.sinpi(x), special.cospi(x))
sinh D D: math.sinh(x)
sinpi E E: special.sinpi(x)
sqrt D D: math.sqrt(x)
tan D D: math.tan(x)
tanh D D: math.tanh(x)
tgamma D D: math.gamma(x)
trunc D D: np.trunc(x)
uhadd uu i: (np.int64(x) + np.int64(y)) >> 1
uint2double_rn u d: x
ullmax mm l: max(x, y)
ullmin mm l: min(x, y)
umax uu i: max(x, y)
umin uu i: min(x, y)
umul24 uu i: np.int64(x & 16777215) * np.int64(y & 16777215)
umul64hi mm l: gpu.mulhi(x, y)
umulhi uu i: (np.uint64(x) * np.uint64(y)) >> np.uint64(32)
urhadd uu i: (np.int64(x) + np.int64(y) + 1) >> 1
usad uuu i: abs(np.int64(x) - np.int64(y)) + np.int64(z)
y0 E E: special.y0(x)
y1 E E: special.y1(x)
yn iE E: special.yn(x, y)
"""

# The same with a rounding mode in the name (rn, rd, ru, rz) and in the expression (M).
_DIRECTED = """
dadd dd d: rounding.add(x, y, M)
ddiv dd d: rounding.div(x, y, M)
dmul dd d: rounding.mul(x, y, M)
drcp d d: rounding.div(1.0, x, M)
dsqrt d d: rounding.sqrt(x, M)
double2float d f: rounding.to_float(x, 0.0, M)
double2int d i: rounding.whole(x, M)
double2ll d l: rounding.whole(x, M)
double2uint d u: rounding.whole(x, M)
double2ull d m: rounding.whole(x, M)
fadd ff f: rounding.addf(x, y, M)
fdiv ff f: rounding.divf(x, y, M)
float2int f i: rounding.whole(x, M)
float2ll f l: rounding.whole(x, M)
float2uint f u: rounding.whole(x, M)
float2ull f m: rounding.whole(x, M)
fma ddd d: rounding.fma(x, y, z, M)
fmaf fff f: rounding.fmaf(x, y, z, M)
fmul ff f: rounding.mulf(x, y, M)
frcp f f: rounding.divf(np.float32(1), x, M)
fsqrt f f: rounding.sqrtf(x, M)
fsub ff f: rounding.addf(x, np.float32(-y), M)
int2float i f: rounding.from_intf(np.int64(x), M)
ll2double l d: rounding.from_int(x, M)
ll2float l f: rounding.from_intf(x, M)
uint2float u f: rounding.from_intf(np.int64(x), M)
ull2double m d: rounding.from_uint(x, M)
ull2float m f: rounding.from_uintf(x, M)
"""

# How an argument becomes a type; "w": a float32 that the expression sees as a float64.
_ARGUMENT = {
    "d": "np.float64({})",
    "f": "np.float32({})",
    "w": "np.float64(np.float32({}))",
    "h": "np.int16({})",
    "i": "np.int32({})",
    "l": "np.int64({})",
    "u": "np.uint32(np.int32({}))",
    "m": "np.uint64(np.int64({}))",
}
# How the expression becomes the result: libdevice has no unsigned types.
_RESULT = {**_ARGUMENT, "u": "np.int32(np.uint32({}))", "m": "np.int64(np.uint64({}))"}


def _rows() -> dict[str, tuple[str, str, str]]:
    """Types of the arguments, type of the result and expression, by the function's name."""
    found = {}
    for line in _TABLE.strip().splitlines():
        head, _, text = line.partition(": ")
        name, args, result = head.split()
        if not {"D", "E"} & set(args):
            found[name] = (args, result, text)
            continue
        found[name] = (
            args.replace("D", "d").replace("E", "d"),
            result.replace("D", "d").replace("E", "d"),
            text.replace("D(", "np.float64("),
        )
        found[name + "f"] = (
            args.replace("D", "f").replace("E", "w"),
            result.replace("D", "f").replace("E", "f"),
            text.replace("D(", "np.float32("),
        )
    for line in _DIRECTED.strip().splitlines():
        head, _, text = line.partition(": ")
        name, args, result = head.split()
        for mode in "nduz":
            found[f"{name}_r{mode}"] = (args, result, text.replace("M", repr(mode)))
    return found


_functions = _rows()


def _source(name: str) -> str:
    """The source of a device function."""
    args, result, text = _functions[name]
    names = "xyz"[: len(args)]
    lines = [f"def {name}_({', '.join(names)}):"]  # abs() here is Python's
    lines += [f"    {x} = {_ARGUMENT[kind].format(x)}" for x, kind in zip(names, args, strict=True)]
    if result.startswith("("):
        kinds = result.strip("()")
        lines.append(f"    r = {text}")
        parts = [_RESULT[kind].format(f"r[{i}]") for i, kind in enumerate(kinds)]
        lines.append(f"    return {', '.join(parts)}")
    else:
        lines.append(f"    return {_RESULT[result].format(text)}")
    return "\n".join(lines) + "\n"


def __getattr__(name: str) -> Any:
    if name not in _functions:
        raise AttributeError(f"libdevice has no function '{name}'")
    import math

    import gpu
    import numpy as np

    from . import _rounding, _special
    from ._tables import device_function

    names: dict[str, Any] = {
        "__name__": __name__,
        "gpu": gpu,
        "math": math,
        "np": np,
        "rounding": _rounding,
        "special": _special,
    }
    function = globals()[name] = device_function(_source(name), name, names)
    return function


def __dir__() -> list[str]:
    return sorted(_functions)
