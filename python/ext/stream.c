/* stream.c - streams and events of a device, as Python objects. */
#include "array.h"

#include <structmember.h>

/* ---- the current stream ------------------------------------------------------------------------ */

/* A list of Streams in the order of the `with` blocks, in the thread's own dict. */
static PyObject *thread_streams(bool make) {
    static PyObject *key; /* interned once, under the GIL */
    PyObject *dict = PyThreadState_GetDict();
    if (!key) key = PyUnicode_InternFromString("gpu.streams");
    if (!dict || !key) return NULL;
    PyObject *list = PyDict_GetItemWithError(dict, key);
    if (list || !make) return list;
    list = PyList_New(0);
    int status = list ? PyDict_SetItem(dict, key, list) : -1;
    Py_XDECREF(list);
    return status < 0 ? NULL : list;
}

/* How many `with stream:` this process is in: the launch path looks no further while there are none. */
static uint32_t entered;

StreamObject *stream_current(const Device *d) {
    PyObject *list = entered ? thread_streams(false) : NULL;
    for (Py_ssize_t i = list ? PyList_GET_SIZE(list) : 0; i-- > 0;) {
        StreamObject *s = (StreamObject *)PyList_GET_ITEM(list, i);
        if (s->device == d) return s;
    }
    return NULL;
}

int stream_named(PyObject *o, const Device *d, Stream **out, PyObject **object) {
    *out = NULL;
    *object = NULL;
    if (o == Py_None) {
        StreamObject *s = stream_current(d);
        if (s) {
            *out = s->stream;
            *object = (PyObject *)s;
        }
        return 0;
    }
    if (PyObject_TypeCheck(o, &Stream_Type)) {
        StreamObject *s = (StreamObject *)o;
        if (s->device != d) {
            PyErr_Format(PyExc_ValueError, "this is a stream of %s, and the work is %s's", s->device->name, d->name);
            return -1;
        }
        *out = s->stream;
        *object = o;
        return 0;
    }
    if (PyLong_CheckExact(o) && PyObject_Not(o) == 1) return 0;
    PyErr_Format(PyExc_TypeError,
                 "a stream is a gpu.Stream, 0 for the default stream, or None for the current one; not %R. "
                 "gpu.external_stream(...) makes one of another library's handle",
                 o);
    return -1;
}

/* ---- Stream ------------------------------------------------------------------------------------ */

static StreamObject *stream_object(PyTypeObject *type, Device *d) {
    StreamObject *s = (StreamObject *)type->tp_alloc(type, 0);
    if (s) s->device = d;
    return s;
}

/* Stream._create(device, non_blocking, priority) */
static PyObject *stream_create(PyObject *cls, PyObject *args) {
    const char *name;
    int non_blocking, priority;
    if (!PyArg_ParseTuple(args, "spi:_create", &name, &non_blocking, &priority)) return NULL;
    Device *d = device_named(name);
    StreamObject *s = d ? stream_object((PyTypeObject *)cls, d) : NULL;
    if (!s) return NULL;
    Failure f;
    if (d->ops->stream_create(d, non_blocking ? STREAM_NON_BLOCKING : 0, priority, &s->stream, &f) != GPU_OK) {
        errors_from_failure(&f, d, NULL);
        Py_DECREF(s);
        return NULL;
    }
    s->destroy = true;
    return (PyObject *)s;
}

/* Stream._wrap(device, handle, owner): another library's. */
static PyObject *stream_wrap(PyObject *cls, PyObject *args) {
    const char *name;
    unsigned long long handle;
    PyObject *owner;
    if (!PyArg_ParseTuple(args, "sKO:_wrap", &name, &handle, &owner)) return NULL;
    Device *d = device_named(name);
    StreamObject *s = d ? stream_object((PyTypeObject *)cls, d) : NULL;
    if (!s) return NULL;
    Failure f;
    if (d->ops->stream_wrap(d, (void *)(uintptr_t)handle, &s->stream, &f) != GPU_OK) {
        errors_from_failure(&f, d, NULL);
        Py_DECREF(s);
        return NULL;
    }
    s->destroy = true;
    s->owner = Py_NewRef(owner);
    return (PyObject *)s;
}

/* Stream._default(device, per_thread) */
static PyObject *stream_default(PyObject *cls, PyObject *args) {
    const char *name;
    int per_thread;
    if (!PyArg_ParseTuple(args, "sp:_default", &name, &per_thread)) return NULL;
    Device *d = device_named(name);
    StreamObject *s = d ? stream_object((PyTypeObject *)cls, d) : NULL;
    if (s) s->stream = d->ops->default_stream(d, per_thread ? STREAM_PER_THREAD : STREAM_LEGACY);
    return (PyObject *)s;
}

/* Stream._current(device): that of the innermost `with`, else the default one. */
static PyObject *stream_of_thread(PyObject *cls, PyObject *args) {
    const char *name;
    if (!PyArg_ParseTuple(args, "s:_current", &name)) return NULL;
    Device *d = device_named(name);
    StreamObject *s = d ? stream_current(d) : NULL;
    if (!d || s) return Py_XNewRef((PyObject *)s);
    s = stream_object((PyTypeObject *)cls, d);
    if (s) s->stream = d->ops->default_stream(d, STREAM_LEGACY);
    return (PyObject *)s;
}

static void stream_dealloc(PyObject *self) {
    StreamObject *s = (StreamObject *)self;
    if (s->destroy) s->device->ops->stream_destroy(s->stream);
    Py_XDECREF(s->owner);
    Py_TYPE(self)->tp_free(self);
}

static PyObject *stream_synchronize(PyObject *self, PyObject *unused) {
    (void)unused;
    StreamObject *s = (StreamObject *)self;
    Device *d = s->device;
    Failure f;
    GilWaiter w;
    const Waiter *waiter = waiter_begin(&w);
    Status status = s->stream ? d->ops->stream_synchronize(s->stream, waiter, &f) : d->ops->synchronize(d, waiter, &f);
    waiter_end(&w);
    return prints_after(d, status, &f, NULL) == 0 ? Py_NewRef(Py_None) : NULL;
}

static PyObject *answer(Status status, Failure *f, Device *d) {
    bool ready = status != GPU_NOT_READY;
    return prints_after(d, ready ? status : GPU_OK, f, NULL) == 0 ? PyBool_FromLong(ready) : NULL;
}

static PyObject *stream_query(PyObject *self, PyObject *unused) {
    (void)unused;
    StreamObject *s = (StreamObject *)self;
    Failure f;
    return answer(s->device->ops->stream_query(s->stream, &f), &f, s->device);
}

static PyObject *stream_wait(PyObject *self, PyObject *o) {
    StreamObject *s = (StreamObject *)self;
    if (!PyObject_TypeCheck(o, &Event_Type))
        return PyErr_Format(PyExc_TypeError, "wait takes a gpu.Event, not %.80s", Py_TYPE(o)->tp_name);
    EventObject *e = (EventObject *)o;
    Failure f;
    if (e->device->ops != s->device->ops)
        return PyErr_Format(PyExc_ValueError, "an event of %s can't hold up a stream of %s", e->device->name,
                            s->device->name);
    if (s->device->ops->stream_wait_event(s->stream, e->event, &f) == GPU_OK) Py_RETURN_NONE;
    errors_from_failure(&f, s->device, NULL);
    return NULL;
}

/* In a thread of the driver's. */
static void run_callback(void *arg) {
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *fn = arg, *result = PyObject_CallNoArgs(fn);
    if (!result) PyErr_WriteUnraisable(fn);
    Py_XDECREF(result);
    Py_DECREF(fn);
    PyGILState_Release(gil);
}

static PyObject *stream_callback(PyObject *self, PyObject *fn) {
    StreamObject *s = (StreamObject *)self;
    if (!PyCallable_Check(fn))
        return PyErr_SetString(PyExc_TypeError, "a callback is a function without arguments"), NULL;
    Failure f;
    Status status;
    Py_INCREF(fn);
    Py_BEGIN_ALLOW_THREADS
    status = s->device->ops->stream_callback(s->stream, run_callback, fn, &f);
    Py_END_ALLOW_THREADS
    if (status == GPU_OK) Py_RETURN_NONE;
    Py_DECREF(fn);
    errors_from_failure(&f, s->device, NULL);
    return NULL;
}

static PyObject *stream_enter(PyObject *self, PyObject *unused) {
    (void)unused;
    PyObject *list = thread_streams(true);
    if (!list || PyList_Append(list, self) < 0) return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    entered++;
    return Py_NewRef(self);
}

static PyObject *stream_exit(PyObject *self, PyObject *args) {
    (void)args;
    PyObject *list = thread_streams(false);
    for (Py_ssize_t i = list ? PyList_GET_SIZE(list) : 0; i-- > 0;) {
        if (PyList_GET_ITEM(list, i) != self) continue;
        if (PySequence_DelItem(list, i) < 0) return NULL;
        entered--;
        break;
    }
    Py_RETURN_NONE;
}

static PyObject *stream_handle(PyObject *self, void *unused) {
    (void)unused;
    const StreamObject *s = (const StreamObject *)self;
    return PyLong_FromVoidPtr(s->stream ? s->stream->handle : NULL);
}

static PyObject *device_name(PyObject *self, void *unused) {
    (void)unused;
    return PyUnicode_FromString(((const StreamObject *)self)->device->name);
}

static PyMethodDef stream_methods[] = {
    {"_create", stream_create, METH_VARARGS | METH_CLASS, "_create(device, non_blocking, priority)"},
    {"_wrap", stream_wrap, METH_VARARGS | METH_CLASS, "_wrap(device, handle, owner)"},
    {"_default", stream_default, METH_VARARGS | METH_CLASS, "_default(device, per_thread)"},
    {"_current", stream_of_thread, METH_VARARGS | METH_CLASS, "_current(device)"},
    {"synchronize", stream_synchronize, METH_NOARGS,
     "Wait until all work in the stream is done. Raises what a kernel in it raised."},
    {"query", stream_query, METH_NOARGS, "Tell whether all work in the stream is done."},
    {"wait", stream_wait, METH_O, "Let what comes later in this stream wait for an event. Returns at once."},
    {"callback", stream_callback, METH_O,
     "Call a function without arguments, in another thread, when the stream comes here. It must not use the device."},
    {"__enter__", stream_enter, METH_NOARGS, "Make this the stream of launches and copies of this thread."},
    {"__exit__", stream_exit, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef stream_getset[] = {
    {"handle", stream_handle, NULL, "The driver's handle, as other libraries take it; 0: the default stream.", NULL},
    {"device", device_name, NULL, "Name of the device.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyTypeObject Stream_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "gpu._core.StreamBase",
    .tp_basicsize = sizeof(StreamObject),
    .tp_dealloc = stream_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_doc = "What gpu.Stream is made of.",
    .tp_methods = stream_methods,
    .tp_getset = stream_getset,
};

/* ---- Event ------------------------------------------------------------------------------------- */

/* Event._create(device, timing, blocking) */
static PyObject *event_create(PyObject *cls, PyObject *args) {
    const char *name;
    int timing, blocking;
    if (!PyArg_ParseTuple(args, "spp:_create", &name, &timing, &blocking)) return NULL;
    Device *d = device_named(name);
    EventObject *e = d ? (EventObject *)((PyTypeObject *)cls)->tp_alloc((PyTypeObject *)cls, 0) : NULL;
    if (!e) return NULL;
    e->device = d;
    Failure f;
    uint32_t flags = (timing ? 0u : EVENT_NO_TIMING) | (blocking ? EVENT_BLOCKING : 0u);
    if (d->ops->event_create(d, flags, &e->event, &f) == GPU_OK) return (PyObject *)e;
    e->event = NULL;
    errors_from_failure(&f, d, NULL);
    Py_DECREF(e);
    return NULL;
}

static void event_dealloc(PyObject *self) {
    EventObject *e = (EventObject *)self;
    if (e->event) e->device->ops->event_destroy(e->event);
    Py_TYPE(self)->tp_free(self);
}

static PyObject *event_record(PyObject *self, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"stream", NULL};
    EventObject *e = (EventObject *)self;
    PyObject *stream_object = Py_None, *object;
    Stream *stream;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O:record", names, &stream_object)) return NULL;
    if (stream_named(stream_object, e->device, &stream, &object) < 0) return NULL;
    Failure f;
    if (e->device->ops->event_record(e->event, stream, &f) == GPU_OK) return Py_NewRef(self);
    errors_from_failure(&f, e->device, NULL);
    return NULL;
}

static PyObject *event_query(PyObject *self, PyObject *unused) {
    (void)unused;
    EventObject *e = (EventObject *)self;
    Failure f;
    return answer(e->device->ops->event_query(e->event, &f), &f, e->device);
}

static PyObject *event_synchronize(PyObject *self, PyObject *unused) {
    (void)unused;
    EventObject *e = (EventObject *)self;
    Failure f;
    GilWaiter w;
    const Waiter *waiter = waiter_begin(&w);
    Status status = e->device->ops->event_synchronize(e->event, waiter, &f);
    waiter_end(&w);
    return prints_after(e->device, status, &f, NULL) == 0 ? Py_NewRef(Py_None) : NULL;
}

static PyObject *event_elapsed(PyObject *self, PyObject *o) {
    EventObject *e = (EventObject *)self, *end = (EventObject *)o;
    if (!PyObject_TypeCheck(o, &Event_Type) || end->device != e->device) {
        PyErr_SetString(PyExc_TypeError, "elapsed takes the event at the end, of the same device");
        return NULL;
    }
    float ms;
    Failure f;
    if (e->device->ops->event_elapsed(e->event, end->event, &ms, &f) == GPU_OK) return PyFloat_FromDouble((double)ms);
    errors_from_failure(&f, e->device, NULL);
    return NULL;
}

static PyObject *event_handle(PyObject *self, void *unused) {
    (void)unused;
    return PyLong_FromVoidPtr(((const EventObject *)self)->event->handle);
}

static PyObject *event_device(PyObject *self, void *unused) {
    (void)unused;
    return PyUnicode_FromString(((const EventObject *)self)->device->name);
}

static PyMethodDef event_methods[] = {
    {"_create", event_create, METH_VARARGS | METH_CLASS, "_create(device, timing, blocking)"},
    {"record", (PyCFunction)(void (*)(void))event_record, METH_VARARGS | METH_KEYWORDS,
     "record(stream=None): the event is when the stream comes here. Returns the event."},
    {"query", event_query, METH_NOARGS, "Tell whether the event has been; True before it is recorded."},
    {"synchronize", event_synchronize, METH_NOARGS, "Wait for the event."},
    {"elapsed", event_elapsed, METH_O, "elapsed(end): milliseconds from this event to another, both past."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef event_getset[] = {
    {"handle", event_handle, NULL, "The driver's handle.", NULL},
    {"device", event_device, NULL, "Name of the device.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyTypeObject Event_Type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "gpu._core.EventBase",
    .tp_basicsize = sizeof(EventObject),
    .tp_dealloc = event_dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_doc = "What gpu.Event is made of.",
    .tp_methods = event_methods,
    .tp_getset = event_getset,
};
