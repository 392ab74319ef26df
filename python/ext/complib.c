/* complib.c - the compiler library, with LLVM in it: opened when something is first compiled. */
#include "core.h"

#include <dlfcn.h>

static const CompilerApi *api;

/* It lies beside this extension. */
PyObject *compiler_path(void) {
    Dl_info info;
    if (!dladdr(&api, &info) || !info.dli_fname) return PyUnicode_FromString("libgpu_compiler.so");
    const char *slash = strrchr(info.dli_fname, '/');
    PyObject *folder = PyUnicode_DecodeFSDefaultAndSize(info.dli_fname, slash ? slash - info.dli_fname + 1 : 0);
    PyObject *path = folder ? PyUnicode_FromFormat("%Ulibgpu_compiler.so", folder) : NULL;
    Py_XDECREF(folder);
    return path;
}

const CompilerApi *compiler_api(void) {
    if (api) return api;
    PyObject *path = compiler_path();
    const char *text = path ? PyUnicode_AsUTF8(path) : NULL;
    if (!text) {
        Py_XDECREF(path);
        return NULL;
    }
    void *library;
    Py_BEGIN_ALLOW_THREADS
    library = dlopen(text, RTLD_NOW | RTLD_LOCAL);
    Py_END_ALLOW_THREADS
    const CompilerApi *(*entry)(void) = NULL;
    if (library) {
        void *symbol = dlsym(library, "gpu_compiler");
        memcpy(&entry, &symbol, sizeof entry);
    }
    if (entry) api = entry();
    else
        PyErr_Format(PyExc_ImportError,
                     "the compiler of the gpu package can't be loaded (%s); install the package again, from where it "
                     "came",
                     dlerror());
    Py_DECREF(path);
    return api;
}
