/* hostcall.c - a device function called from Python with scalars: native code, called through libffi. */
#include "core.h"

#include <ffi.h>

static ffi_type *ffi_type_of(Type t) {
    switch (t) {
    case T_BOOL:
    case T_U8: return &ffi_type_uint8;
    case T_I8: return &ffi_type_sint8;
    case T_I16: return &ffi_type_sint16;
    case T_I32: return &ffi_type_sint32;
    case T_I64: return &ffi_type_sint64;
    case T_U16:
    case T_F16:
    case T_BF16: return &ffi_type_uint16;
    case T_U32: return &ffi_type_uint32;
    case T_U64: return &ffi_type_uint64;
    case T_F32: return &ffi_type_float;
    case T_F64: return &ffi_type_double;
    case T_VOID: return &ffi_type_void;
    default: return &ffi_type_pointer;
    }
}

static uint32_t result_parts(const ArgType *t, DType *dtypes, uint32_t n);

/* The same of what gpu._messages builds: the values are as records have them. */
static uint32_t built_parts(const ArgType *t, DType *dtypes, uint32_t n) {
    for (uint32_t i = 0; i < t->nitems && n <= MOST_RESULTS; i++) {
        const ArgType *item = &t->items[i];
        bool composite = item->kind == ARG_TEXT || item->kind == ARG_TUPLE;
        uint32_t before = n;
        n = composite ? built_parts(item, dtypes, n) : result_parts(item, dtypes, n);
        for (uint32_t k = before; !composite && k < n; k++) dtypes[k] = dt_is_float(dtypes[k]) ? DT_F64 : DT_I64;
    }
    return n;
}

/* Scalar results in the order in which the code returns them; counting stops beyond MOST_RESULTS. */
static uint32_t result_parts(const ArgType *t, DType *dtypes, uint32_t n) {
    if (n > MOST_RESULTS) return n;
    switch ((ArgKind)t->kind) {
    case ARG_TEXT: return built_parts(t, dtypes, n);
    case ARG_TUPLE:
        for (uint32_t i = 0; i < t->nitems; i++) n = result_parts(&t->items[i], dtypes, n);
        return n;
    case ARG_WEAK_BOOL: dtypes[n] = DT_BOOL; return n + 1;
    case ARG_WEAK_INT: dtypes[n] = DT_I64; return n + 1;
    case ARG_WEAK_FLOAT: dtypes[n] = DT_F64; return n + 1;
    case ARG_WEAK_COMPLEX: dtypes[n] = dtypes[n + 1] = DT_F64; return n + 2;
    case ARG_SCALAR:
        dtypes[n] = dtypes[n + 1] = dtype_info[t->dtype].part;
        return n + (dt_is_complex((DType)t->dtype) ? 2 : 1);
    case ARG_RECORD: dtypes[n] = DT_I64; return n + 1; /* the ticks of a date */
    default: return n;
    }
}

static PyObject *make_date(const Record *r, int64_t ticks) {
    PyObject *dtype = record_dtype(r), *type = dtype ? PyObject_GetAttrString(dtype, "type") : NULL;
    PyObject *date = type ? PyObject_CallFunction(type, "Ls", (long long)ticks, time_units[r->unit]) : NULL;
    Py_XDECREF(type);
    return date;
}

static PyObject *make_result(const ArgType *t, const uint64_t **slot) {
    char bytes[16];
    DType d = (DType)t->dtype;
    switch ((ArgKind)t->kind) {
    case ARG_WEAK_BOOL: return PyBool_FromLong(*(const uint8_t *)(*slot)++ != 0);
    case ARG_WEAK_INT: return PyLong_FromLongLong((int64_t) * (*slot)++);
    case ARG_WEAK_FLOAT: {
        double value;
        memcpy(&value, (*slot)++, sizeof value);
        return PyFloat_FromDouble(value);
    }
    case ARG_WEAK_COMPLEX: {
        double parts[2];
        memcpy(parts, *slot, sizeof parts);
        *slot += 2;
        return PyComplex_FromDoubles(parts[0], parts[1]);
    }
    case ARG_SCALAR:
        if (dt_is_complex(d)) {
            unsigned part = dtype_bytes(d) / 2;
            memcpy(bytes, (*slot)++, part);
            memcpy(bytes + part, (*slot)++, part);
        } else {
            memcpy(bytes, (*slot)++, dtype_bytes(d));
        }
        return numpy_make_scalar(d, bytes);
    case ARG_TUPLE: {
        PyObject *tuple = PyTuple_New(t->nitems);
        for (uint32_t i = 0; tuple && i < t->nitems; i++) {
            PyObject *item = make_result(&t->items[i], slot);
            if (!item) Py_CLEAR(tuple);
            else PyTuple_SET_ITEM(tuple, i, item);
        }
        return tuple;
    }
    case ARG_OBJECT: return Py_NewRef((PyObject *)t->object);
    case ARG_RECORD: return make_date(t->record, (int64_t) * (*slot)++);
    default: Py_RETURN_NONE;
    }
}

typedef struct Native {
    ffi_cif *cif;
    void (*entry)(void);
    void *result, **values;
} Native;

static void enter(void *arg) {
    const Native *n = arg;
    ffi_call(n->cif, n->entry, n->result, n->values);
}

/* One result is returned; several come through a pointer to 8-byte slots, passed first. Code that raises takes an
 * ErrorRecord, and code that prints a PrintTarget's fields, last. */
static int call(const Variant *v, char *params, const DType *results, uint32_t nresults, uint64_t *slots,
                ErrorRecord *error) {
    ffi_type *types[MAX_ARGS * 2 + 5];
    void *values[MAX_ARGS * 2 + 5];
    uint32_t n = 0;
    void *slots_pointer = slots;
    const Image *image = v->image;
    if (image->nparams > MAX_ARGS * 2) return PyErr_SetString(PyExc_TypeError, "too many arguments"), -1;
    if (nresults > 1) {
        types[n] = &ffi_type_pointer;
        values[n++] = &slots_pointer;
    }
    for (uint32_t i = 0; i < image->nparams; i++) {
        types[n] = ffi_type_of((Type)image->params[i].type);
        values[n++] = params + image->params[i].offset;
    }
    if (image->raises) {
        types[n] = &ffi_type_pointer;
        values[n++] = &error;
    }
    PrintLog *log = image->prints ? runtime_prints_begin() : NULL;
    if (image->prints && !log) return PyErr_NoMemory(), -1;
    PrintTarget target = {.log = (uint64_t)(uintptr_t)log, .owner = (uint64_t)(uintptr_t)v};
    uint64_t *const hidden[] = {&target.log, &target.owner, &target.launch};
    for (int i = 0; log && i < 3; i++) {
        types[n] = &ffi_type_uint64;
        values[n++] = hidden[i];
    }
    ffi_cif cif;
    ffi_type *result = nresults == 1 ? ffi_type_of(dtype_info[results[0]].ir) : &ffi_type_void;
    if (ffi_prep_cif(&cif, FFI_DEFAULT_ABI, n, result, types) != FFI_OK) {
        PyErr_SetString(PyExc_SystemError, "libffi can't call this function");
        if (log) runtime_prints_end(log);
        return -1;
    }
    Native native = {.cif = &cif, .result = slots, .values = values};
    GilWaiter waiting;
    memcpy(&native.entry, &image->host_fn, sizeof native.entry);
    waiter_begin(&waiting);
    if (image->no_loops || image->calls_out) waiting.waiter.interrupted = NULL; /* it ends soon */
    Failure failure;
    Status status = runtime_call(image, enter, &native, &waiting.waiter, &failure);
    waiter_end(&waiting);
    if (log) runtime_prints_end(log);
    if (prints_show(runtime_cpu()) < 0) return -1;
    return status == GPU_OK ? 0 : errors_from_failure(&failure, NULL, NULL);
}

/* An array in it may be the memory of an argument. */
static PyObject *built_result(const Bound *b, const Variant *v, const uint64_t *slots, uint32_t n) {
    PyObject *module = PyImport_ImportModule("gpu._messages"), *args = PyTuple_New(b->nvalues), *result = NULL;
    for (uint32_t i = 0; args && i < b->nvalues; i++) PyTuple_SET_ITEM(args, i, Py_NewRef(b->values[i]));
    if (module && args)
        result = PyObject_CallMethod(module, "result", "OOy#O", v->result, v->kernel->dialect_name, (const char *)slots,
                                     (Py_ssize_t)(n * sizeof *slots), args);
    Py_XDECREF(module);
    Py_XDECREF(args);
    return result;
}

PyObject *hostcall(Bound *b, Variant *v) {
    const ArgType *type = &((TypeObject *)v->result)->type;
    DType results[MOST_RESULTS + 2];
    uint64_t slots[MOST_RESULTS + 2] = {0};
    _Alignas(16) char few[512];
    uint32_t n = result_parts(type, results, 0);
    if (!v->image->host_fn || n > MOST_RESULTS || v->image->params_bytes > sizeof few) {
        PyErr_Format(PyExc_TypeError, "%U() can't be called from Python: it has %u results or too many arguments",
                     b->kernel->name, n);
        return NULL;
    }
    ErrorRecord error = {0};
    if (args_pack(b, v->image, few) < 0 || call(v, few, results, n, slots, &error) < 0) return NULL;
    if (error.site) {
        errors_from_record(v, &error);
        return NULL;
    }
    if (type->kind == ARG_TEXT) return built_result(b, v, slots, n);
    const uint64_t *slot = slots;
    return make_result(type, &slot);
}
