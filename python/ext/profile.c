/* profile.c - the emulator's counters as Python objects; python/gpu/_profile.py makes reports of them. */
#include "../../runtime/profile.h"

#include "core.h"

PyObject *profile_count(PyObject *module, PyObject *on) {
    (void)module;
    int truth = PyObject_IsTrue(on);
    if (truth < 0) return NULL;
    Failure f;
    Status status;
    Py_BEGIN_ALLOW_THREADS
    status = emulated_profile(truth, &f);
    Py_END_ALLOW_THREADS
    if (status == GPU_OK) Py_RETURN_NONE;
    errors_from_failure(&f, NULL, NULL);
    return NULL;
}

static const struct {
    const char *name;
    size_t offset;
} counters[] = {
#define COUNTER(field)                                                                                                 \
    { #field, offsetof(LineCounters, field) }
    COUNTER(instructions), COUNTER(lanes),        COUNTER(divergent),       COUNTER(branches),
    COUNTER(requests),     COUNTER(sectors),      COUNTER(ideal_sectors),   COUNTER(shared_requests),
    COUNTER(shared_waves), COUNTER(ideal_waves),  COUNTER(atomic_requests), COUNTER(atomic_rounds),
    COUNTER(bytes_read),   COUNTER(bytes_written)
#undef COUNTER
};

/* (kernel, file or None, line, launches, counters by name). */
static PyObject *line_tuple(const EmulatorLine *l) {
    PyObject *dict = PyDict_New();
    for (size_t i = 0; dict && i < sizeof counters / sizeof *counters; i++) {
        uint64_t value;
        memcpy(&value, (const char *)&l->counters + counters[i].offset, sizeof value);
        PyObject *o = PyLong_FromUnsignedLongLong(value);
        if (!o || PyDict_SetItemString(dict, counters[i].name, o) < 0) Py_CLEAR(dict);
        Py_XDECREF(o);
    }
    if (!dict) return NULL;
    PyObject *file = l->file ? PyUnicode_DecodeFSDefault(l->file) : Py_NewRef(Py_None);
    if (!file) return Py_DECREF(dict), NULL;
    return Py_BuildValue("sNIKN", l->kernel, file, l->line, (unsigned long long)l->launches, dict);
}

PyObject *profile_read(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    EmulatorLine *lines = NULL;
    size_t n = 0;
    Failure f;
    Status status;
    Py_BEGIN_ALLOW_THREADS
    status = emulated_profile_read(&lines, &n, &f);
    Py_END_ALLOW_THREADS
    if (status != GPU_OK) return errors_from_failure(&f, NULL, NULL), NULL;
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (size_t i = 0; list && i < n; i++) {
        PyObject *line = line_tuple(&lines[i]);
        if (!line) Py_CLEAR(list);
        else PyList_SET_ITEM(list, (Py_ssize_t)i, line);
    }
    emulated_profile_free(lines);
    return list;
}
