"""Mistakes with records and their fields."""

import gpu
import numpy as np

POINT = np.dtype([("position", "f4", 3), ("mass", "f8"), ("id", "i4")], align=True)
NAMED = np.dtype([("name", "V8"), ("mass", ">f4"), ("id", "i4")])
ORIGIN = np.zeros((), POINT)[()]


@gpu.jit
def misspelled(r):
    r[gpu.grid(1)].mas += 1


@gpu.jit
def unknown(r, out):
    out[0] = r[0]["velocity"]


@gpu.jit
def unknown_column(r, out):
    out[0] = r.weight[0] + r["idd"][0]


@gpu.jit
def assigns_unknown(r):
    r[0].velocity = 1.0


@gpu.jit
def variable_field(r, out):
    i = gpu.grid(1)
    out[i] = r[0][i]


@gpu.jit
def beyond_the_last_field(r, out):
    out[0] = r[0][3]


@gpu.jit
def opaque():
    r = gpu.shared.array(4, NAMED)
    r[0].mass += 1
    r[1].name = r[0].name


@gpu.jit
def record_as_a_number(r, out):
    out[0] = r[0] + 1


@gpu.jit
def record_into_an_array(r, out):
    out[0] = r[0]


@gpu.jit
def array_into_a_number(r):
    r[0].id = r[0].position


@gpu.jit
def too_few_values(r):
    r[0] = (1.0, 2.0)


@gpu.jit
def array_into_a_record(r, out):
    r[0] = out


@gpu.jit
def other_fields(r):
    a = gpu.local.array(1, NAMED)
    if r[0] == a[0]:
        r[0].id = 1


@gpu.jit
def order_of_records(r):
    if r[0] < r[1]:
        r[0].id = 1


@gpu.jit
def by_value(r):
    r.id = 1


@gpu.jit
def captured():
    ORIGIN.id = 1


@gpu.jit
def unpacks(r, out):
    position, mass = r[0]
    out[0] = mass


@gpu.jit
def calls_a_record_dtype(r, out):
    out[0] = r.dtype()


# >>> message misspelled(record(position: float32[3], mass: float64, id: int32)[::1])
# NameResolutionError: records.py:13:5: error: record(position: float32[3], mass: float64, id: int32) has no attribute 'mas'
#    13 |     r[gpu.grid(1)].mas += 1
#       |     ^^^^^^^^^^^^^^^^^^
#    help: did you mean 'mass'?
#    in kernel misspelled(array(record(position: float32[3], mass: float64, id: int32), 1d, C))
# <<<
# >>> message unknown(record(position: float32[3], mass: float64, id: int32)[::1], f8[::1])
# TypingError: records.py:18:19: error: record(position: float32[3], mass: float64, id: int32) has no field 'velocity'
#    18 |     out[0] = r[0]["velocity"]
#       |                   ^^^^^^^^^^
#    help: its fields are 'position', 'mass', 'id'
#    in kernel unknown(array(record(position: float32[3], mass: float64, id: int32), 1d, C), array(float64, 1d, C))
# <<<
# >>> message unknown_column(record(position: float32[3], mass: float64, id: int32)[::1], f8[::1])
# CompileError: records.py:23:14: error: array(record(position: float32[3], mass: float64, id: int32), 1d, C) has no attribute 'weight'
#    23 |     out[0] = r.weight[0] + r["idd"][0]
#       |              ^^^^^^^^
#    help: its fields are 'position', 'mass', 'id'
#
# records.py:23:30: error: array(record(position: float32[3], mass: float64, id: int32), 1d, C) has no field 'idd'
#    23 |     out[0] = r.weight[0] + r["idd"][0]
#       |                              ^^^^^
#    help: did you mean 'id'?
#    in kernel unknown_column(array(record(position: float32[3], mass: float64, id: int32), 1d, C), array(float64, 1d, C))
# <<<
# >>> message assigns_unknown(record(position: float32[3], mass: float64, id: int32)[::1])
# TypingError: records.py:28:5: error: record(position: float32[3], mass: float64, id: int32) has no field 'velocity'
#    28 |     r[0].velocity = 1.0
#       |     ^^^^^^^^^^^^^
#    help: its fields are 'position', 'mass', 'id'
#    in kernel assigns_unknown(array(record(position: float32[3], mass: float64, id: int32), 1d, C))
# <<<
# >>> message variable_field(record(position: float32[3], mass: float64, id: int32)[::1], f8[::1])
# TypingError: records.py:33:9: error: a field is named by a constant string, and this is int (weak)
#    33 |     i = gpu.grid(1)
#       |         ^^^^^^^^^^^
#    help: each field has a type of its own: which one is read is known when compiling
#    in kernel variable_field(array(record(position: float32[3], mass: float64, id: int32), 1d, C), array(float64, 1d, C))
# <<<
# >>> message beyond_the_last_field(record(position: float32[3], mass: float64, id: int32)[::1], f8[::1])
# TypingError: records.py:39:19: error: index 3 is out of range for a record of 3 fields
#    39 |     out[0] = r[0][3]
#       |                   ^
#    help: its fields are 'position', 'mass', 'id'
#    in kernel beyond_the_last_field(array(record(position: float32[3], mass: float64, id: int32), 1d, C), array(float64, 1d, C))
# <<<
# >>> message opaque()
# UnsupportedError: records.py:45:5: error: the field 'mass' is in the other byte order (>f4), and a kernel can't use it
#    45 |     r[0].mass += 1
#       |     ^^^^^^^^^
#    help: the kernel can use the other fields, and copy whole records
#
# records.py:46:17: error: the field 'name' is of another dtype (|V8), and a kernel can't use it
#    46 |     r[1].name = r[0].name
#       |                 ^^^^^^^^^
#    help: the kernel can use the other fields, and copy whole records
#    in kernel opaque()
# <<<
# >>> message record_as_a_number(record(position: float32[3], mass: float64, id: int32)[::1], f8[::1])
# TypingError: records.py:51:14: error: + does not take (record(position: float32[3], mass: float64, id: int32), int (weak) 1)
#    51 |     out[0] = r[0] + 1
#       |              ^^^^^^^^
#    help: name a field, as in r.x or r['x']
#    in kernel record_as_a_number(array(record(position: float32[3], mass: float64, id: int32), 1d, C), array(float64, 1d, C))
# <<<
# >>> message record_into_an_array(record(position: float32[3], mass: float64, id: int32)[::1], f8[::1])
# TypingError: records.py:56:14: error: an element of array(float64, 1d, C) can't hold record(position: float32[3], mass: float64, id: int32)
#    56 |     out[0] = r[0]
#       |              ^^^^
#    help: an element is one number: name a field of the record
#    in kernel record_into_an_array(array(record(position: float32[3], mass: float64, id: int32), 1d, C), array(float64, 1d, C))
# <<<
# >>> message array_into_a_number(record(position: float32[3], mass: float64, id: int32)[::1])
# TypingError: records.py:61:15: error: the field 'id' (int32) can't hold array(float32, 1d, C)
#    61 |     r[0].id = r[0].position
#       |               ^^^^^^^^^^^^^
#    help: the field is one number
#    in kernel array_into_a_number(array(record(position: float32[3], mass: float64, id: int32), 1d, C))
# <<<
# >>> message too_few_values(record(position: float32[3], mass: float64, id: int32)[::1])
# TypingError: records.py:66:12: error: record(position: float32[3], mass: float64, id: int32) can't hold tuple(float (weak), float (weak))
#    66 |     r[0] = (1.0, 2.0)
#       |            ^^^^^^^^^^
#    help: it has 3 fields: as many values are needed
#    in kernel too_few_values(array(record(position: float32[3], mass: float64, id: int32), 1d, C))
# <<<
# >>> message array_into_a_record(record(position: float32[3], mass: float64, id: int32)[::1], f8[::1])
# TypingError: records.py:71:12: error: record(position: float32[3], mass: float64, id: int32) can't hold array(float64, 1d, C)
#    71 |     r[0] = out
#       |            ^^^
#    help: a record takes a record, a tuple with a value for each field, or one number for all
#    in kernel array_into_a_record(array(record(position: float32[3], mass: float64, id: int32), 1d, C), array(float64, 1d, C))
# <<<
# >>> message other_fields(record(position: float32[3], mass: float64, id: int32)[::1])
# TypingError: records.py:77:8: error: == does not take (record(position: float32[3], mass: float64, id: int32), record(name: of another dtype (|V8), mass: in the other byte order (>f4), id: int32))
#    77 |     if r[0] == a[0]:
#       |        ^^^^^^^^^^^^
#    help: records with fields of the same names are equal or not; else compare fields
#    in kernel other_fields(array(record(position: float32[3], mass: float64, id: int32), 1d, C))
# <<<
# >>> message order_of_records(record(position: float32[3], mass: float64, id: int32)[::1])
# TypingError: records.py:83:8: error: < does not take (record(position: float32[3], mass: float64, id: int32), record(position: float32[3], mass: float64, id: int32))
#    83 |     if r[0] < r[1]:
#       |        ^^^^^^^^^^^
#    help: records with fields of the same names are equal or not; else compare fields
#    in kernel order_of_records(array(record(position: float32[3], mass: float64, id: int32), 1d, C))
# <<<
# >>> message by_value(record(position: float32[3], mass: float64, id: int32))
# TypingError: records.py:89:5: error: this record is read-only: record(position: float32[3], mass: float64, id: int32)
#    89 |     r.id = 1
#       |     ^^^^
#    help: a record comes by its value: r.copy() may be changed, an array of records brings changes back
#    in kernel by_value(record(position: float32[3], mass: float64, id: int32))
# <<<
# >>> message captured()
# TypingError: records.py:94:5: error: this record is read-only: record(position: float32[3], mass: float64, id: int32)
#    94 |     ORIGIN.id = 1
#       |     ^^^^^^^^^
#    help: what a kernel captures is constant: pass it as an argument
#    in kernel captured()
# <<<
# >>> message unpacks(record(position: float32[3], mass: float64, id: int32)[::1], f8[::1])
# TypingError: records.py:99:5: error: 3 values for 2 names
#    99 |     position, mass = r[0]
#       |     ^^^^^^^^^^^^^^
#    in kernel unpacks(array(record(position: float32[3], mass: float64, id: int32), 1d, C), array(float64, 1d, C))
# <<<
# >>> message calls_a_record_dtype(record(position: float32[3], mass: float64, id: int32)[::1], f8[::1])
# TypingError: records.py:105:14: error: dtype record(position: float32[3], mass: float64, id: int32) can't be called
#   105 |     out[0] = r.dtype()
#       |              ^^^^^^^^^
#    in kernel calls_a_record_dtype(array(record(position: float32[3], mass: float64, id: int32), 1d, C), array(float64, 1d, C))
# <<<
