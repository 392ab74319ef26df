/* arrayindex.c - x[key] for the keys that programs write most: integers, slices, None and '...'.
 *
 * What isn't one of them, or is out of bounds, is left to python/gpu/_array.py, which lets NumPy find the words for it.
 */
#include "array.h"

typedef struct Cursor {
    const ArrayObject *from;
    int axis; /* of `from`: the next one that an item takes */
    HostArray to;
    int64_t offset;
    bool empty;
} Cursor;

static bool add_axis(Cursor *c, int64_t size, int64_t stride) {
    if (c->to.ndim == MAX_DIMS) return false;
    c->to.shape[c->to.ndim] = size;
    c->to.strides[c->to.ndim++] = stride;
    c->empty = c->empty || size == 0;
    return true;
}

static bool take_slice(Cursor *c, PyObject *slice) {
    Py_ssize_t start, stop, step;
    int64_t size = c->from->shape[c->axis], stride = c->from->strides[c->axis], longer;
    if (PySlice_Unpack(slice, &start, &stop, &step) < 0) return false;
    Py_ssize_t n = PySlice_AdjustIndices((Py_ssize_t)size, &start, &stop, step);
    if (__builtin_mul_overflow(stride, (int64_t)step, &longer)) return false;
    if (n > 0) c->offset += start * stride;
    c->axis++;
    return add_axis(c, n, longer);
}

static bool take_integer(Cursor *c, PyObject *index) {
    Py_ssize_t i = PyNumber_AsSsize_t(index, PyExc_IndexError);
    int64_t size = c->from->shape[c->axis];
    if (i == -1 && PyErr_Occurred()) return false;
    if (i < 0) i += (Py_ssize_t)size;
    if (i < 0 || i >= size) return false;
    c->offset += i * c->from->strides[c->axis++];
    return true;
}

static bool is_integer(PyObject *o) {
    return PyLong_CheckExact(o) || (PyIndex_Check(o) && !PyBool_Check(o) && !numpy_is_array(o));
}

/* Axes that no item names: `named` are left for those behind an Ellipsis. */
static bool take_rest(Cursor *c, int named) {
    bool fits = true;
    for (; fits && c->axis < c->from->ndim - named; c->axis++)
        fits = add_axis(c, c->from->shape[c->axis], c->from->strides[c->axis]);
    return fits;
}

static bool take_items(Cursor *c, PyObject *const *items, Py_ssize_t n) {
    int named = 0, ellipses = 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        if (items[i] == Py_Ellipsis) ellipses++;
        else if (items[i] != Py_None) named++;
    }
    if (ellipses > 1 || named > c->from->ndim) return false;
    bool fits = true;
    for (Py_ssize_t i = 0; fits && i < n; i++) {
        PyObject *o = items[i];
        if (o == Py_None) {
            fits = add_axis(c, 1, 0);
        } else if (o == Py_Ellipsis) {
            fits = take_rest(c, named);
        } else {
            named--;
            fits = PySlice_Check(o) ? take_slice(c, o) : is_integer(o) && take_integer(c, o);
        }
    }
    return fits && take_rest(c, 0);
}

PyObject *array_index(PyObject *self, PyObject *key) {
    ArrayObject *a = (ArrayObject *)self;
    Cursor c = {.from = a, .to = {.dtype = (DType)a->dtype, .record = a->record, .readonly = a->readonly}};
    bool tuple = PyTuple_Check(key);
    if (!take_items(&c, tuple ? ((PyTupleObject *)key)->ob_item : &key, tuple ? PyTuple_GET_SIZE(key) : 1)) {
        PyErr_Clear();
        Py_RETURN_NONE;
    }
    c.to.data = c.empty ? a->data : a->data + c.offset;
    return array_make(Py_TYPE(self), (MemoryObject *)Py_NewRef(a->memory), &c.to);
}
