/* devices.c - the devices of this machine as Python names them, and the one that each thread launches on. */
#define _GNU_SOURCE
#include "launch.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- waiting without the GIL ------------------------------------------------------------------- */

/* Called without the GIL while something runs, on the CPU in a signal's handler that interrupted the kernel. True: a
 * handler of Python's raised. */
static bool signal_raised(void *arg) {
    GilWaiter *w = arg;
    PyEval_RestoreThread(w->state);
    bool raised = PyErr_CheckSignals() < 0;
    w->state = PyEval_SaveThread();
    return raised;
}

static _Thread_local bool main_known;

/* The thread that forked is the only one in the child, and its main thread. */
static void forget_main(void) { main_known = false; }

static void register_fork(void) { pthread_atfork(NULL, NULL, forget_main); }

/* Python runs signal handlers in its main thread alone: on Linux the one whose id is the process's. */
static bool in_main_thread(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    static _Thread_local bool is_main;
    if (!main_known) {
        pthread_once(&once, register_fork);
        is_main = gettid() == getpid();
        main_known = true;
    }
    return is_main;
}

const Waiter *waiter_begin(GilWaiter *w) {
    w->waiter = (Waiter){in_main_thread() ? signal_raised : NULL, w};
    w->state = PyEval_SaveThread();
    return &w->waiter;
}

void waiter_end(GilWaiter *w) { PyEval_RestoreThread(w->state); }

/* ---- the table --------------------------------------------------------------------------------- */

/* A direct call: with names as kernels see them. */
static PyObject *call_plain(KernelObject *k, PyObject *args, PyObject *kwargs) {
    PyObject *module = PyImport_ImportModule("gpu._pydevice");
    PyObject *result = module ? PyObject_CallMethod(module, "call", "OOO", k, args, kwargs ? kwargs : Py_None) : NULL;
    Py_XDECREF(module);
    return result;
}

/* The two that are always there, then GPUs in the order in which they were first used. The python device has the limits
 * of the CPU device. */
static DeviceRow rows[2 + 2 * MOST_DEVICES] = {{.name = "cpu", .run = launch_image, .call = kernel_call_native},
                                               {.name = "python", .run = launch_python, .call = call_plain}};
static uint32_t nrows = 2;

static const DeviceRow *row_of(Device *d) {
    for (uint32_t i = 2; i < nrows; i++)
        if (rows[i].device == d) return &rows[i];
    if (nrows == sizeof rows / sizeof *rows) return NULL;
    DeviceRow *row = &rows[nrows++];
    memcpy(row->name, d->name, sizeof row->name);
    row->device = d;
    row->run = launch_image;
    row->call = kernel_call_native;
    return row;
}

static Status open_device(const char *name, Device **out, Failure *f) {
    Status status;
    Py_BEGIN_ALLOW_THREADS
    status = runtime_device(name, out, f);
    Py_END_ALLOW_THREADS
    return status;
}

Device *device_named(const char *name) {
    Device *d;
    Failure f;
    if (open_device(name, &d, &f) == GPU_OK) return d;
    errors_from_failure(&f, NULL, NULL);
    return NULL;
}

const DeviceRow *device_row(const char *name) {
    for (int i = 0; i < 2; i++)
        if (strcmp(rows[i].name, name) == 0) {
            rows[i].device = runtime_cpu();
            return &rows[i];
        }
    Device *d;
    Failure f;
    if (open_device(name, &d, &f) == GPU_OK) return row_of(d);
    if (f.status == GPU_ERROR_VALUE) {
        const char *chosen = getenv("GPU_DEVICE");
        PyObject *names = device_list(NULL, NULL), *comma = PyUnicode_FromString(", ");
        PyObject *text = names && comma ? PyUnicode_Join(comma, names) : NULL;
        if (text)
            PyErr_Format(PyExc_ValueError, "no device '%s' here%s; there are %U", name,
                         chosen && strcmp(chosen, name) == 0 ? ", which GPU_DEVICE names" : "", text);
        Py_XDECREF(names), Py_XDECREF(comma), Py_XDECREF(text);
        failure_clear(&f);
    } else errors_from_failure(&f, NULL, NULL);
    return NULL;
}

/* ---- the current one --------------------------------------------------------------------------- */

static _Thread_local const DeviceRow *current;

/* No driver is installed, and none is named; or there is one, which knows no GPU. */
static bool no_gpu_here(const Failure *f) {
    static const char none[] = "there is no NVIDIA driver";
    return f->call ? f->code == 100 /* CUDA_ERROR_NO_DEVICE */
                   : !f->text || strncmp(f->text, none, sizeof none - 1) == 0;
}

/* The first GPU, else the CPU. A GPU or a driver that is there and can't be used is worth a warning. */
static const DeviceRow *default_row(void) {
    static const DeviceRow *found;
    Device *d;
    Failure f;
    if (found) return found;
    if (open_device("cuda:0", &d, &f) == GPU_OK) return found = row_of(d);
    int status = 0;
    if (!no_gpu_here(&f))
        status =
            PyErr_WarnFormat(PyExc_RuntimeWarning, 1,
                             "kernels run on the CPU, since cuda:0 can't be used: %s. GPU_DEVICE=cpu asks for that "
                             "without this warning",
                             f.text ? f.text : "the driver fails");
    failure_clear(&f);
    return status < 0 ? NULL : (found = device_row("cpu"));
}

const DeviceRow *device_current(void) {
    if (!current) {
        const char *name = getenv("GPU_DEVICE");
        current = name && *name ? device_row(name) : default_row();
    }
    return current;
}

PyObject *device_set(PyObject *module, PyObject *name) {
    (void)module;
    char numbered[40];
    const char *text = PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    if (PyLong_Check(name) && !PyBool_Check(name)) {
        PyOS_snprintf(numbered, sizeof numbered, "cuda:%ld", PyLong_AsLong(name));
        text = PyErr_Occurred() ? NULL : numbered;
    }
    if (!text) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_TypeError, "set_device takes the name of a device, or the number of a GPU, not %.80s",
                         Py_TYPE(name)->tp_name);
        return NULL;
    }
    const DeviceRow *row = device_row(text);
    if (!row) return NULL;
    current = row;
    Py_RETURN_NONE;
}

PyObject *device_get(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    const DeviceRow *row = device_current();
    return row ? PyUnicode_FromString(row->name) : NULL;
}

/* ---- what there is ----------------------------------------------------------------------------- */

/* How many; 0 and the reason in *f. */
static uint32_t count_of(const char *kind, Failure *f) {
    uint32_t n = 0;
    Status status;
    Py_BEGIN_ALLOW_THREADS
    status = runtime_count(kind, &n, f);
    Py_END_ALLOW_THREADS
    if (status == GPU_OK && n == 0) failure_set(f, GPU_ERROR_NO_DEVICE, "the driver knows no device");
    return status == GPU_OK ? n : 0;
}

static int add_name(PyObject *list, const char *name) {
    PyObject *o = PyUnicode_FromString(name);
    int status = o ? PyList_Append(list, o) : -1;
    Py_XDECREF(o);
    return status;
}

static int add_kind(PyObject *list, const char *kind) {
    Failure f;
    uint32_t n = count_of(kind, &f);
    if (n == 0) failure_clear(&f);
    for (uint32_t i = 0; i < n; i++) {
        char name[24];
        PyOS_snprintf(name, sizeof name, "%s:%u", kind, i);
        if (add_name(list, name) < 0) return -1;
    }
    return 0;
}

PyObject *device_list(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    PyObject *list = PyList_New(0), *names = NULL;
    if (list && add_kind(list, "cuda") == 0 && add_name(list, "cpu") == 0 && add_kind(list, "emulated") == 0 &&
        add_name(list, "python") == 0)
        names = PyList_AsTuple(list);
    Py_XDECREF(list);
    return names;
}

bool device_there(const char *kind) {
    Failure f;
    uint32_t n = count_of(kind, &f);
    if (n == 0) failure_clear(&f);
    return n > 0;
}

/* device_count(kind): how many devices of that kind; loads the driver. */
PyObject *device_count(PyObject *module, PyObject *kind) {
    (void)module;
    const char *text = PyUnicode_Check(kind) ? PyUnicode_AsUTF8(kind) : NULL;
    if (!text) return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "a kind of device is a string");
    Failure f;
    uint32_t n = count_of(text, &f);
    if (n == 0) failure_clear(&f);
    return PyLong_FromUnsignedLong(n);
}

/* device_problem(name): why a device can't be used, or None. */
PyObject *device_problem(PyObject *module, PyObject *name) {
    (void)module;
    const char *text = PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    if (!text) return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "the name of a device is a string");
    Device *d;
    Failure f;
    if (strcmp(text, "python") == 0 || open_device(text, &d, &f) == GPU_OK) Py_RETURN_NONE;
    PyObject *problem = PyUnicode_DecodeUTF8(f.text ? f.text : "", f.text ? (Py_ssize_t)strlen(f.text) : 0, "replace");
    failure_clear(&f);
    return problem;
}

static const struct {
    const char *name;
    size_t offset;
} info_rows[] = {
#define INFO(field, attribute, meaning) {#field, offsetof(DeviceInfo, field)},
#include "../../runtime/device_info.def"
};

static int put(PyObject *dict, const char *key, PyObject *value) {
    int status = value ? PyDict_SetItemString(dict, key, value) : -1;
    Py_XDECREF(value);
    return status;
}

/* device_properties(name): a dict of what device_info.def lists, and name, kind, uuid, memory_bytes, driver_version. */
PyObject *device_properties(PyObject *module, PyObject *name) {
    (void)module;
    const char *text = PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    if (!text) return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "the name of a device is a string");
    const DeviceRow *row = device_row(text);
    PyObject *dict = row ? PyDict_New() : NULL;
    if (!dict) return NULL;
    const Device *d = row->device;
    const DeviceInfo *info = &d->info;
    int status = put(dict, "device", PyUnicode_FromString(row->name));
    if (status == 0) status = put(dict, "kind", PyUnicode_FromString(d->ops->kind));
    if (status == 0)
        status = put(dict, "name", PyUnicode_DecodeUTF8(info->name, (Py_ssize_t)strlen(info->name), "replace"));
    if (status == 0) status = put(dict, "uuid", PyBytes_FromStringAndSize((const char *)info->uuid, sizeof info->uuid));
    if (status == 0) status = put(dict, "memory_bytes", PyLong_FromUnsignedLongLong(info->memory_bytes));
    if (status == 0) status = put(dict, "driver_version", PyLong_FromLong(info->driver_version));
    if (status == 0) status = put(dict, "ptx_version", PyLong_FromLong(d->ptx_version));
    for (size_t i = 0; status == 0 && i < sizeof info_rows / sizeof *info_rows; i++) {
        int32_t value;
        memcpy(&value, (const char *)info + info_rows[i].offset, sizeof value);
        status = put(dict, info_rows[i].name, PyLong_FromLong(value));
    }
    if (status < 0) Py_CLEAR(dict);
    return dict;
}

/* ---- host memory, other devices ---------------------------------------------------------------- */

static PyObject *none_or_failure(Status status, Failure *f, Device *d) {
    if (status == GPU_OK) Py_RETURN_NONE;
    errors_from_failure(f, d, NULL);
    return NULL;
}

/* device_pin(name, address, bytes): host memory that is there becomes pinned; bytes 0: no longer. The driver may wait.
 */
PyObject *device_pin(PyObject *module, PyObject *args) {
    (void)module;
    const char *name;
    unsigned long long address;
    Py_ssize_t bytes;
    if (!PyArg_ParseTuple(args, "sKn:device_pin", &name, &address, &bytes)) return NULL;
    const DeviceRow *row = device_row(name);
    if (!row) return NULL;
    Device *d = row->device;
    void *at = (void *)(uintptr_t)address;
    Failure f;
    Status status;
    Py_BEGIN_ALLOW_THREADS
    status = bytes > 0 ? d->ops->pin(d, at, (size_t)bytes, 0, &f) : d->ops->unpin(d, at, &f);
    Py_END_ALLOW_THREADS
    return none_or_failure(status, &f, d);
}

/* device_peers(name, other): whether kernels and copies of a device reach the memory of another directly; from then on
 * they do. */
PyObject *device_peers(PyObject *module, PyObject *args) {
    (void)module;
    const char *name, *other;
    if (!PyArg_ParseTuple(args, "ss:device_peers", &name, &other)) return NULL;
    const DeviceRow *row = device_row(name), *to = row ? device_row(other) : NULL;
    if (!to) return NULL;
    bool possible;
    Failure f;
    Status status;
    Py_BEGIN_ALLOW_THREADS
    status = row->device->ops->peer_access(row->device, to->device, &possible, &f);
    Py_END_ALLOW_THREADS
    if (status == GPU_OK) return PyBool_FromLong(possible);
    errors_from_failure(&f, row->device, NULL);
    return NULL;
}

/* The arguments (name, address) of a function that `format` names. NULL: an exception is set. */
static const DeviceRow *device_and_address(PyObject *args, const char *format, void **at) {
    const char *name;
    unsigned long long address;
    if (!PyArg_ParseTuple(args, format, &name, &address)) return NULL;
    *at = (void *)(uintptr_t)address;
    return device_row(name);
}

/* device_owner(name, address): the number of the device whose memory an address is in, of that kind; -1: nobody knows.
 */
PyObject *device_owner(PyObject *module, PyObject *args) {
    (void)module;
    void *at;
    const DeviceRow *row = device_and_address(args, "sK:device_owner", &at);
    if (!row) return NULL;
    int ordinal;
    Failure f;
    Status status;
    Py_BEGIN_ALLOW_THREADS
    status = row->device->ops->owner(row->device, at, &ordinal, &f);
    Py_END_ALLOW_THREADS
    if (status == GPU_OK) return PyLong_FromLong(ordinal);
    errors_from_failure(&f, row->device, NULL);
    return NULL;
}

/* ---- memory for other processes, profilers -------------------------------------------------------- */

/* device_share(name, address): the driver's handle of the allocation, and where in it the address is. */
PyObject *device_share(PyObject *module, PyObject *args) {
    (void)module;
    void *at;
    const DeviceRow *row = device_and_address(args, "sK:device_share", &at);
    if (!row) return NULL;
    SharedMemory shared;
    Failure f;
    Status status;
    Py_BEGIN_ALLOW_THREADS
    status = row->device->ops->share(row->device, at, &shared, &f);
    Py_END_ALLOW_THREADS
    if (status != GPU_OK) return none_or_failure(status, &f, row->device);
    return Py_BuildValue("y#n", (const char *)shared.handle, (Py_ssize_t)sizeof shared.handle,
                         (Py_ssize_t)shared.offset);
}

/* device_open_shared(name, handle): the address of the allocation, in this process. */
PyObject *device_open_shared(PyObject *module, PyObject *args) {
    (void)module;
    const char *name, *handle;
    Py_ssize_t size;
    SharedMemory shared = {{0}, 0};
    if (!PyArg_ParseTuple(args, "sy#:device_open_shared", &name, &handle, &size)) return NULL;
    if (size != (Py_ssize_t)sizeof shared.handle)
        return PyErr_Format(PyExc_ValueError, "a handle of memory has %zu bytes, not %zd", sizeof shared.handle, size);
    const DeviceRow *row = device_row(name);
    if (!row) return NULL;
    memcpy(shared.handle, handle, sizeof shared.handle);
    void *at;
    Failure f;
    Status status;
    Py_BEGIN_ALLOW_THREADS
    status = row->device->ops->open_shared(row->device, &shared, &at, &f);
    Py_END_ALLOW_THREADS
    return status == GPU_OK ? PyLong_FromVoidPtr(at) : none_or_failure(status, &f, row->device);
}

/* device_close_shared(name, address): no longer used here. */
PyObject *device_close_shared(PyObject *module, PyObject *args) {
    (void)module;
    void *at;
    const DeviceRow *row = device_and_address(args, "sK:device_close_shared", &at);
    if (!row) return NULL;
    Failure f;
    Status status;
    Py_BEGIN_ALLOW_THREADS
    status = row->device->ops->close_shared(row->device, at, &f);
    Py_END_ALLOW_THREADS
    return none_or_failure(status, &f, row->device);
}

/* device_profiler(name, records): the vendor's profilers record from here on, or no further. */
PyObject *device_profiler(PyObject *module, PyObject *args) {
    (void)module;
    const char *name;
    int records;
    if (!PyArg_ParseTuple(args, "sp:device_profiler", &name, &records)) return NULL;
    const DeviceRow *row = device_row(name);
    if (!row) return NULL;
    Failure f;
    Status status;
    Py_BEGIN_ALLOW_THREADS
    status = row->device->ops->profiler(row->device, records, &f);
    Py_END_ALLOW_THREADS
    return none_or_failure(status, &f, row->device);
}

/* ---- waiting for all --------------------------------------------------------------------------- */

static int wait_for_all(Device *d) {
    Failure failure;
    GilWaiter w;
    const Waiter *waiter = waiter_begin(&w);
    Status status = d->ops->synchronize(d, waiter, &failure);
    waiter_end(&w);
    int result = prints_after(d, status, &failure, NULL);
    launch_settled();
    return result;
}

PyObject *device_synchronize(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    const DeviceRow *row = device_current();
    return row && wait_for_all(row->device) == 0 ? Py_NewRef(Py_None) : NULL;
}

PyObject *device_synchronize_named(PyObject *module, PyObject *name) {
    (void)module;
    const char *text = PyUnicode_AsUTF8(name);
    Device *d = text ? device_named(text) : NULL;
    return d && wait_for_all(d) == 0 ? Py_NewRef(Py_None) : NULL;
}
