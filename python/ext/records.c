/* records.c - NumPy's structured dtypes, dates and strings as Records, of each layout one, kept as long as the process.
 *
 * Launches meet the same dtype objects again and again: the last ones met are remembered by address. */
#include "core.h"

#include <stdlib.h>

enum { BUCKETS = 64, RECENT = 64, DEEPEST = 16 };

typedef struct Entry {
    Record record;
    PyObject *dtype; /* the first one seen with this layout */
    uint32_t hash;
    struct Entry *next;
} Entry;

static Entry *table[BUCKETS];

/* A dtype may get other names: it is the same only with the tuple of names that it had. */
static struct {
    PyObject *dtype, *names;
    const Record *record;
} recent[RECENT];

static const Record *make(PyObject *dtype, int depth);

/* ---- layouts that were seen before --------------------------------------------------------------- */
static uint32_t mix(uint32_t h, uint64_t v) {
    uint64_t x = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(x >> 32) ^ (uint32_t)x;
}

static uint32_t mix_text(uint32_t h, const char *s) {
    for (; s && *s; s++) h = mix(h, (uint8_t)*s);
    return mix(h, s != NULL);
}

static uint32_t hash_record(const Record *r) {
    uint32_t h = mix(mix(r->bytes, r->n), r->kind | (uint64_t)r->unit << 8);
    for (uint32_t i = 0; i < r->n; i++) {
        const RecordField *f = &r->fields[i];
        h = mix_text(mix_text(mix_text(h, f->name), f->title), f->opaque);
        h = mix(mix(h, f->dtype | (uint64_t)f->offset << 16 | (uint64_t)f->ndim << 48), (uintptr_t)f->record);
        for (int k = 0; k < f->ndim; k++) h = mix(h, (uint64_t)f->shape[k]);
    }
    return h;
}

static bool same_text(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

static bool same_record(const Record *a, const Record *b) {
    if (a->bytes != b->bytes || a->n != b->n || a->kind != b->kind || a->unit != b->unit) return false;
    for (uint32_t i = 0; i < a->n; i++) {
        const RecordField *f = &a->fields[i], *g = &b->fields[i];
        if (!same_text(f->name, g->name) || !same_text(f->title, g->title) || !same_text(f->opaque, g->opaque) ||
            f->dtype != g->dtype || f->record != g->record || f->offset != g->offset || f->ndim != g->ndim)
            return false;
        for (int k = 0; k < f->ndim; k++)
            if (f->shape[k] != g->shape[k]) return false;
    }
    return true;
}

/* ---- one field ------------------------------------------------------------------------------------- */
static void free_fields(RecordField *fields, uint32_t n) {
    for (uint32_t i = 0; fields && i < n; i++) {
        free((void *)(uintptr_t)fields[i].name);
        free((void *)(uintptr_t)fields[i].title);
        free((void *)(uintptr_t)fields[i].opaque);
    }
    free(fields);
}

static int keep_text(const char **out, const char *s) {
    size_t n = s ? strlen(s) + 1 : 0;
    char *copy = s ? malloc(n) : NULL;
    if (!copy) return s ? (PyErr_NoMemory(), -1) : -1;
    *out = memcpy(copy, s, n);
    return 0;
}

static int keep_name(const char **out, PyObject *o) {
    Py_ssize_t n;
    const char *s = PyUnicode_AsUTF8AndSize(o, &n);
    if (s && strlen(s) == (size_t)n) return keep_text(out, s);
    if (s) PyErr_Format(PyExc_TypeError, "a field is named %R, and a kernel's names have no NUL in them", o);
    return -1;
}

/* Why a kernel can't read fields of the dtype. */
static int set_opaque(RecordField *f, PyObject *dtype) {
    f->dtype = DT_NONE;
    PyObject *kind = PyObject_GetAttrString(dtype, "kind"), *native = PyObject_GetAttrString(dtype, "isnative");
    PyObject *text = NULL;
    if (kind && native) {
        const char *k = PyUnicode_AsUTF8(kind);
        const char *what = native == Py_False ? "in the other byte order"
                           : k && *k == 'S'   ? "a byte string"
                           : k && *k == 'U'   ? "a string"
                           : k && *k == 'M'   ? "a date"
                           : k && *k == 'm'   ? "a time difference"
                                              : "of another dtype";
        text = PyUnicode_FromFormat("%s (%S)", what, dtype);
    }
    const char *s = text ? PyUnicode_AsUTF8(text) : NULL;
    int status = s ? keep_text(&f->opaque, s) : -1;
    Py_XDECREF(kind);
    Py_XDECREF(native);
    Py_XDECREF(text);
    return status;
}

/* The shape of a field that is an array: its elements' dtype, a new reference. */
static PyObject *read_shape(RecordField *f, PyObject *dtype) {
    PyObject *pair = PyObject_GetAttrString(dtype, "subdtype");
    if (!pair || pair == Py_None) {
        Py_XDECREF(pair);
        return pair ? Py_NewRef(dtype) : NULL;
    }
    PyObject *base = NULL,
             *shape = PyTuple_Check(pair) && PyTuple_GET_SIZE(pair) == 2 ? PyTuple_GET_ITEM(pair, 1) : NULL;
    if (shape && PyTuple_Check(shape) && PyTuple_GET_SIZE(shape) <= MAX_NDIM) {
        base = Py_NewRef(PyTuple_GET_ITEM(pair, 0));
        f->ndim = (uint8_t)PyTuple_GET_SIZE(shape);
        for (int k = 0; base && k < f->ndim; k++) {
            f->shape[k] = PyLong_AsLongLong(PyTuple_GET_ITEM(shape, k));
            if (f->shape[k] < 0) Py_CLEAR(base);
        }
    }
    if (!base && !PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "the field '%s' is an array of more than %d dimensions", f->name, MAX_NDIM);
    Py_DECREF(pair);
    return base;
}

/* What else than fields a dtype of NumPy's own may have; RECORD_FIELDS: nothing, or in another byte order. */
static int kind_of(PyObject *dtype) {
    PyObject *kind = PyObject_GetAttrString(dtype, "kind"), *native = PyObject_GetAttrString(dtype, "isnative");
    const char *k = kind && native ? PyUnicode_AsUTF8(kind) : NULL;
    int found = !k                   ? -1
                : native == Py_False ? RECORD_FIELDS
                : *k == 'M'          ? RECORD_DATE
                : *k == 'm'          ? RECORD_DELTA
                : *k == 'S'          ? RECORD_BYTES
                : *k == 'U'          ? RECORD_TEXT
                                     : RECORD_FIELDS;
    Py_XDECREF(kind);
    Py_XDECREF(native);
    return found;
}

/* The unit of a date or a difference. */
static int read_unit(PyObject *dtype, uint8_t *unit) {
    PyObject *numpy = PyImport_ImportModule("numpy");
    PyObject *data = numpy ? PyObject_CallMethod(numpy, "datetime_data", "O", dtype) : NULL;
    const char *name = NULL;
    int count = 0, status = -1;
    if (data && PyArg_ParseTuple(data, "si", &name, &count)) {
        for (int u = 0; u < UNIT__COUNT && status < 0; u++)
            if (count == 1 && strcmp(name, time_units[u]) == 0) {
                *unit = (uint8_t)u;
                status = 0;
            }
        if (status < 0)
            PyErr_Format(PyExc_TypeError,
                         "a kernel counts single units, and this is %S: astype() with '[%s]' makes such", dtype, name);
    }
    Py_XDECREF(data);
    Py_XDECREF(numpy);
    return status;
}

static int read_field(RecordField *f, PyObject *name, PyObject *entry, int depth) {
    if (keep_name(&f->name, name) < 0) return -1;
    if (!PyTuple_Check(entry) || PyTuple_GET_SIZE(entry) < 2)
        return PyErr_SetString(PyExc_TypeError, "no such dtype"), -1;
    PyObject *title = PyTuple_GET_SIZE(entry) > 2 ? PyTuple_GET_ITEM(entry, 2) : NULL;
    if (title && PyUnicode_Check(title) && keep_name(&f->title, title) < 0) return -1;
    long long offset = PyLong_AsLongLong(PyTuple_GET_ITEM(entry, 1));
    if (offset < 0) return -1;
    f->offset = (uint32_t)offset;
    PyObject *base = read_shape(f, PyTuple_GET_ITEM(entry, 0));
    PyObject *names = base ? PyObject_GetAttrString(base, "names") : NULL;
    int status = names ? 0 : -1, value = names == Py_None ? kind_of(base) : RECORD_FIELDS;
    if (value < 0) status = -1;
    if (status == 0 && (names != Py_None || value != RECORD_FIELDS)) {
        f->record = make(base, depth + 1);
        f->dtype = DT_RECORD;
        status = f->record ? 0 : -1;
    } else if (status == 0 && (f->dtype = numpy_dtype_of(base, NULL)) == DT_NONE) {
        f->ndim = 0;
        status = set_opaque(f, base);
    }
    Py_XDECREF(names);
    Py_XDECREF(base);
    return status;
}

/* ---- a record --------------------------------------------------------------------------------------- */
static unsigned aligned_at(unsigned align, uint32_t offset) {
    while (offset % align) align /= 2;
    return align;
}

static uint32_t best_align(const Record *r) {
    uint32_t align = 1;
    for (uint32_t i = 0; i < r->n; i++) {
        const RecordField *f = &r->fields[i];
        if (f->opaque) continue;
        uint32_t here = aligned_at(aligned_at(elem_align(f->dtype, f->record), f->offset), r->bytes);
        if (here > align) align = here;
    }
    return align;
}

/* The dtype has no objects, and its size can be counted. */
static int check(PyObject *dtype, long long *bytes) {
    PyObject *size = PyObject_GetAttrString(dtype, "itemsize"), *objects = PyObject_GetAttrString(dtype, "hasobject");
    *bytes = size ? PyLong_AsLongLong(size) : -1;
    int has = objects ? PyObject_IsTrue(objects) : -1;
    Py_XDECREF(size);
    Py_XDECREF(objects);
    if (has < 0 || (*bytes < 0 && PyErr_Occurred())) return -1;
    if (has) {
        PyErr_Format(PyExc_TypeError,
                     "a record with a Python object in it can't be used in a kernel (dtype %S): pass an "
                     "array of the other fields",
                     dtype);
        return -1;
    }
    if (*bytes > 0 && *bytes <= INT32_MAX) return 0;
    PyErr_Format(PyExc_TypeError, "a record of %lld bytes can't be used in a kernel", *bytes);
    return -1;
}

static const Record *intern(Record *r, PyObject *dtype) {
    uint32_t hash = hash_record(r);
    for (Entry *e = table[hash % BUCKETS]; e; e = e->next) {
        if (e->hash != hash || !same_record(&e->record, r)) continue;
        free_fields((RecordField *)(uintptr_t)r->fields, r->n);
        return &e->record;
    }
    Entry *e = malloc(sizeof *e);
    if (!e) {
        free_fields((RecordField *)(uintptr_t)r->fields, r->n);
        return (const Record *)PyErr_NoMemory();
    }
    *e = (Entry){*r, Py_NewRef(dtype), hash, table[hash % BUCKETS]};
    table[hash % BUCKETS] = e;
    return &e->record;
}

static const Record *make(PyObject *dtype, int depth) {
    PyObject *names = PyObject_GetAttrString(dtype, "names"), *fields = PyObject_GetAttrString(dtype, "fields");
    long long bytes;
    RecordField *made = NULL;
    const Record *found = NULL;
    int kind = names == Py_None ? kind_of(dtype) : RECORD_FIELDS;
    if (!names || !fields || kind < 0 || check(dtype, &bytes) < 0) goto done;
    if (kind != RECORD_FIELDS) {
        Record value = {.bytes = (uint32_t)bytes, .kind = (uint8_t)kind};
        value.align = kind == RECORD_BYTES ? 1 : kind == RECORD_TEXT ? 4 : 8;
        bool time = kind == RECORD_DATE || kind == RECORD_DELTA;
        if (!time || read_unit(dtype, &value.unit) == 0) found = intern(&value, dtype);
        goto done;
    }
    if (!PyTuple_Check(names) || depth > DEEPEST) {
        PyErr_Format(PyExc_TypeError, depth > DEEPEST ? "records are nested more than %d deep" : "no structured dtype",
                     DEEPEST);
        goto done;
    }
    uint32_t n = (uint32_t)PyTuple_GET_SIZE(names);
    made = calloc(n + 1u, sizeof *made);
    if (!made) {
        PyErr_NoMemory();
        goto done;
    }
    for (uint32_t i = 0; i < n; i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i), *entry = PyObject_GetItem(fields, name);
        int status = entry ? read_field(&made[i], name, entry, depth) : -1;
        Py_XDECREF(entry);
        if (status < 0) {
            free_fields(made, n);
            goto done;
        }
    }
    Record r = {.bytes = (uint32_t)bytes, .n = n, .fields = made};
    r.align = best_align(&r);
    found = intern(&r, dtype);
done:
    Py_XDECREF(names);
    Py_XDECREF(fields);
    return found;
}

static const Record *remember(size_t at, PyObject *dtype, PyObject *names) {
    const Record *r = make(dtype, 0);
    if (!r) return NULL;
    PyObject *before = recent[at].dtype, *names_before = recent[at].names;
    recent[at].dtype = Py_NewRef(dtype);
    recent[at].names = Py_NewRef(names);
    recent[at].record = r;
    Py_XDECREF(before);
    Py_XDECREF(names_before);
    return r;
}

int record_of_dtype(PyObject *dtype, const Record **out) {
    static PyObject *str_names;
    if (!str_names && !(str_names = PyUnicode_InternFromString("names"))) return -1;
    size_t at = ((uintptr_t)dtype >> 4) % RECENT;
    PyObject *names = PyObject_GetAttr(dtype, str_names);
    if (!names) return -1;
    bool seen = recent[at].dtype == dtype && recent[at].names == names;
    int kind = seen || names != Py_None ? RECORD_FIELDS : kind_of(dtype);
    bool structured = seen || names != Py_None || kind > 0;
    if (kind < 0) {
        Py_DECREF(names);
        return -1;
    }
    *out = !structured ? NULL : seen ? recent[at].record : remember(at, dtype, names);
    Py_DECREF(names);
    return !structured ? 0 : *out ? 1 : -1;
}

/* The compiler has records of its own for dates. */
PyObject *record_dtype(const Record *r) {
    static PyObject *times[2][UNIT__COUNT];
    if (r->kind != RECORD_DATE && r->kind != RECORD_DELTA) return ((const Entry *)(const void *)r)->dtype;
    PyObject **dtype = &times[r->kind == RECORD_DELTA][r->unit];
    if (*dtype) return *dtype;
    PyObject *numpy = PyImport_ImportModule("numpy");
    char name[32];
    bool generic = r->unit == UNIT_GENERIC;
    PyOS_snprintf(name, sizeof name, "%c8%s%s%s", r->kind == RECORD_DATE ? 'M' : 'm', generic ? "" : "[",
                  generic ? "" : time_units[r->unit], generic ? "" : "]");
    *dtype = numpy ? PyObject_CallMethod(numpy, "dtype", "s", name) : NULL;
    Py_XDECREF(numpy);
    return *dtype;
}
