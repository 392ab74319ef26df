/* module.c - gpu._core: the module itself. Importing it loads neither NumPy nor the compiler. */
#include "launch.h"

#ifndef GPU_VERSION
#define GPU_VERSION "0"
#endif

static PyObject *auto_repr(PyObject *self) {
    (void)self;
    return PyUnicode_FromString("gpu.auto");
}

static PyTypeObject Auto_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "gpu._core._Auto",
    .tp_basicsize = sizeof(PyObject),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "The class of gpu.auto: a launch as large as the largest array argument.",
    .tp_repr = auto_repr,
};

static PyObject *set_threads(PyObject *module, PyObject *n) {
    (void)module;
    long v = PyLong_AsLong(n);
    if (v == -1 && PyErr_Occurred()) return NULL;
    if (v < 0 || v > 1024)
        return PyErr_Format(PyExc_ValueError, "the cpu device uses 1 to 1024 threads, or 0 for one a core; not %ld", v);
    runtime_cpu_set_threads((int)v);
    Py_RETURN_NONE;
}

static PyObject *get_threads(PyObject *module, PyObject *unused) {
    (void)module, (void)unused;
    return PyLong_FromLong(runtime_cpu_threads());
}

static PyMethodDef methods[] = {
    {"inspect", (PyCFunction)(void (*)(void))inspect_text, METH_VARARGS | METH_KEYWORDS,
     "inspect(kernel, types, what, arch=None): the text of one stage."},
    {"architectures", compile_architectures, METH_NOARGS, "architectures(): GPUs that code is made for, sm numbers."},
    {"ptx", inspect_ptx, METH_VARARGS, "ptx(kernel, types, arch, options): (text, entry, parameters, bytes)."},
    {"result_type", inspect_result, METH_VARARGS,
     "result_type(function, types): the Type of what a device function returns."},
    {"devfn_table", inspect_devfns, METH_NOARGS,
     "devfn_table(): path, signature and doc of all that a kernel may use."},
    {"compiler_info", inspect_compiler, METH_NOARGS,
     "compiler_info(): loads the compiler; its path and LLVM's version."},
    {"set_device", device_set, METH_O, "set_device(name): the device that this thread launches on."},
    {"current_device", device_get, METH_NOARGS, "current_device(): the name of this thread's device."},
    {"device_names", device_list, METH_NOARGS, "device_names(): names that set_device takes."},
    {"device_count", device_count, METH_O, "device_count(kind): how many devices there are; loads the driver."},
    {"device_problem", device_problem, METH_O, "device_problem(name): why it can't be used, or None."},
    {"device_properties", device_properties, METH_O, "device_properties(name): a dict."},
    {"device_pin", device_pin, METH_VARARGS, "device_pin(name, address, bytes): pin host memory; bytes 0: no longer."},
    {"device_owner", device_owner, METH_VARARGS,
     "device_owner(name, address): the number of the device; -1: none knows."},
    {"device_share", device_share, METH_VARARGS,
     "device_share(name, address): (handle, offset) of memory for another process."},
    {"device_open_shared", device_open_shared, METH_VARARGS,
     "device_open_shared(name, handle): the address of another process's allocation."},
    {"device_close_shared", device_close_shared, METH_VARARGS,
     "device_close_shared(name, address): what was opened is used no more."},
    {"device_profiler", device_profiler, METH_VARARGS, "device_profiler(name, records): tell the vendor's profilers."},
    {"device_peers", device_peers, METH_VARARGS, "device_peers(name, other): whether it reaches the other's memory."},
    {"stats", launch_stats, METH_VARARGS, "stats(kernel, types, device, threads, shared_bytes): a dict."},
    {"synchronize_device", device_synchronize_named, METH_O,
     "synchronize_device(name): the same of the device of that name."},
    {"synchronize", device_synchronize, METH_NOARGS, "synchronize(): wait until all launches of this device are done."},
    {"dtype_known", array_dtype_known, METH_O, "dtype_known(dtype): whether arrays in kernels can have it."},
    {"memory_info", array_memory_info, METH_O, "memory_info(device): (free, total) bytes."},
    {"memory_stats", array_memory_stats, METH_VARARGS, "memory_stats(device, reset): what the pool did, as a dict."},
    {"empty_cache", array_empty_cache, METH_O, "empty_cache(device): give unused memory back to the driver."},
    {"pending_read", pending_read, METH_O,
     "pending_read(device): items and bytes that wait to be given back, bytes of the device. From now on it has a "
     "list."},
    {"pending_hold", pending_hold, METH_VARARGS,
     "pending_hold(device, hold): limits don't count until this is undone."},
    {"pending_limits", pending_limits, METH_VARARGS,
     "pending_limits(items, part): what waits to be given back at most."},
    {"dlpack_export", dlpack_export, METH_VARARGS,
     "dlpack_export(array, device_type, device_id, versioned, copied): a DLPack capsule."},
    {"dlpack_import", dlpack_import, METH_O,
     "dlpack_import(capsule): (device type, device id, address, shape, strides, dtype, readonly, owner)."},
    {"warn_of_host_arrays", launch_warn_of_host_arrays, METH_O,
     "warn_of_host_arrays(on): whether launches in the Numba dialect warn of arrays that are copied."},
    {"profile_count", profile_count, METH_O, "profile_count(on): whether the emulated devices count what kernels do."},
    {"profile_read", profile_read, METH_NOARGS,
     "profile_read(): a list of (kernel, file, line, launches, counters by name)."},
    {"set_num_threads", set_threads, METH_O,
     "set_num_threads(n): how many OS threads the cpu device uses; 0: all cores."},
    {"num_threads", get_threads, METH_NOARGS, "num_threads(): how many OS threads the cpu device uses."},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "gpu._core", .m_doc = "The C part of gpu.",
                                        .m_size = -1, .m_methods = methods};

static int add_type(PyObject *module, PyTypeObject *type, const char *name) {
    if (PyType_Ready(type) < 0) return -1;
    return PyModule_AddObjectRef(module, name, (PyObject *)type);
}

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void) {
    PyObject *module = PyModule_Create(&definition);
    if (!module) return NULL;
    if (numpy_init() < 0 || add_type(module, &Type_Type, "Type") < 0 || add_type(module, &Kernel_Type, "Kernel") < 0 ||
        add_type(module, &Launcher_Type, "Launcher") < 0 || add_type(module, &Memory_Type, "Memory") < 0 ||
        add_type(module, &Array_Type, "ArrayBase") < 0 || add_type(module, &Stream_Type, "StreamBase") < 0 ||
        add_type(module, &Event_Type, "EventBase") < 0 || add_type(module, &Auto_Type, "_Auto") < 0 ||
        PyModule_AddStringConstant(module, "__version__", GPU_VERSION) < 0)
        goto error;
    auto_object = _PyObject_New(&Auto_Type);
    if (!auto_object || PyModule_AddObjectRef(module, "auto", auto_object) < 0) goto error;
    return module;
error:
    Py_DECREF(module);
    return NULL;
}
