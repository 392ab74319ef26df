/* core.h - the parts of the extension module gpu._core and how they hang together.
 *
 *   kernel.c      Kernel and Launcher: k[grid, block](...), the vectorcall
 *   config.c      grids and blocks
 *   args.c        Python arguments -> leaves (scalars and arrays) and the key of the specialisation
 *   key.c         that key: argument types as bytes;  convert.c  arguments made to fit an explicit signature
 *   numpy.c       NumPy arrays and scalars, without importing or compiling against NumPy;  records.c  structured dtypes
 *   captures.c    arrays of globals and closures
 *   variant.c     the table of specialisations;  compile.c  frontend and compiler library, joined
 *   host.c        what the frontend asks about Python objects;  hostcode.c  code objects
 *   devices.c     the table of devices;  launch.c  launches;  stage.c  host arrays on their way to a device and back
 *   faults.c      the array that a fault on the emulator or the CPU is about (launch.h)
 *   array.c       arrays on a device;  arrayindex.c  views of them;  arraycopy.c  copies between any two;
 *                 stream.c  streams and events;  dlpack.c  exchange with other libraries (array.h)
 *   profile.c     counters of the emulated devices
 *   hostcall.c    a device function called from Python, through libffi
 *   foreign.c     code that declared functions come with
 *   prints.c      what kernels print, and the values of exceptions
 *   errors.c      messages and kernel exceptions as Python exceptions
 *   inspect.c     text of each stage, PTX for the command line
 *   types.c       the Type object of signatures
 *   complib.c     the compiler library, opened at the first compilation
 *
 * Conventions of this zone: NULL or -1 with a Python exception set; the GIL is held unless said. Functions here are
 * glue: decisions are made in frontend/, compiler/ and runtime/. */
#ifndef GPU_CORE_H
#define GPU_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "../../compiler/compiler.h"
#include "../../frontend/frontend.h"
#include "../../runtime/runtime.h"

enum { MAX_ARGS = 255, MAX_ITEMS = 4096 /* of a tuple; parameters have 32,764 bytes */, MAX_DIMS = MAX_NDIM };

/* ---- types.c ----------------------------------------------------------------------------------- */

/* The ArgType points into the object itself and into its items, which it holds. */
typedef struct TypeObject {
    PyObject_HEAD
    ArgType type;
    ArgType *items;          /* malloc'ed copies of the items' ArgTypes */
    const char **names;      /* of `fields`: UTF-8 of the strings, which the tuple holds */
    PyObject *item_types;    /* tuple of Type */
    PyObject *fields;        /* tuple of str, or NULL */
    PyObject *object;        /* or NULL */
    Py_hash_t hash;
} TypeObject;

extern PyTypeObject Type_Type;

DType dtype_from_name(const char *name);                    /* DT_NONE if there is none */
PyObject *type_from_argtype(const ArgType *t);          /* a new Type */
PyObject *types_from_argtypes(const ArgType *t, uint32_t n);   /* a tuple of Type */
PyObject *types_from_key(const uint8_t *key, uint32_t size);   /* the same of a specialisation's key */
bool argtype_same(const ArgType *a, const ArgType *b);

/* ---- numpy.c ----------------------------------------------------------------------------------- */

int numpy_init(void);
bool numpy_is_array(PyObject *o);                       /* an ndarray or a subclass */
/* Fills in shape, strides, dtype ...: 1; 0: not an array; -1 with TypeError or ValueError (dtype, byte order, alignment ...).
 * Messages don't name the parameter. */
int numpy_array(PyObject *o, HostArray *out);
/* The same for everything else that shows its memory: __array_interface__ or the buffer protocol. The memory stays
 * valid while `*keep`, a new reference, lives. */
int foreign_array(PyObject *o, HostArray *out, PyObject **keep);
/* The same for __cuda_array_interface__: an array in a GPU's memory. *stream: the driver's handle of the stream whose
 * work on it must be waited for; NULL: none. */
int cuda_foreign_array(PyObject *o, HostArray *out, void **stream);
bool cuda_foreign_type(PyTypeObject *type); /* objects of this type were such arrays lately */
void array_look_aligned(HostArray *a);                  /* sets `askew` */
unsigned array_record_align(const HostArray *a);        /* of records: what all addresses are multiples of, at most the layout's own */
static inline unsigned array_item(const HostArray *a) { return elem_bytes(a->dtype, a->record); }
Layout array_layout(const HostArray *a);                /* from shape and strides */
DType numpy_scalar_dtype(PyTypeObject *t);              /* of NumPy and ml_dtypes scalar types, else DT_NONE */
const void *numpy_scalar_bytes(PyObject *o, DType d);   /* where a scalar object has its value */
/* The dtype that `o` names: np.float32, np.dtype("f4"), an object with _dtype; else DT_NONE. No error is set. */
DType numpy_dtype_of(PyObject *o, const Record **record);    /* record: of a structured dtype; NULL: those aren't asked for */
/* Where a NumPy record (np.void with fields) has its bytes: 1; 0: it is none; -1 with TypeError. *readonly: it may not be
 * written. */
int numpy_record(PyObject *o, const Record **record, const void **bytes, bool *readonly);
/* A NumPy scalar of a value in memory, or a Python number if NumPy isn't loaded. */
PyObject *numpy_make_scalar(DType d, const void *bytes);
static inline unsigned dtype_bytes(DType d) { return dtype_info[d].bytes; }     /* scalars */

/* ---- records.c --------------------------------------------------------------------------------- */

/* The layout of a structured dtype: 1; 0: it isn't one; -1 with TypeError: kernels can't have it. */
int record_of_dtype(PyObject *dtype, const Record **out);
PyObject *record_dtype(const Record *r);                /* borrowed: a dtype with that layout */

/* ---- complib.c --------------------------------------------------------------------------------- */

const CompilerApi *compiler_api(void);                  /* NULL with ImportError */
PyObject *compiler_path(void);                          /* new reference: where the library is looked for */

/* ---- kernel.c ---------------------------------------------------------------------------------- */

typedef struct Variant Variant;
typedef struct KernelObject KernelObject;

/* Options of gpu.jit, as gpu._jit normalised them. */
typedef struct Options {
    bool device, fma, fastmath, lineinfo, debug, boundscheck, cache;
    uint8_t opt;
    uint16_t max_registers;
    uint32_t max_threads, min_blocks, max_cluster, recursion_limit;
} Options;

struct KernelObject {
    PyObject_HEAD
    PyObject *function, *options, *dialect_name;
    PyObject *signatures;           /* tuple of tuples of Type */
    Dialect dialect;
    Options opt;
    PyObject *name;                 /* function's __name__ */
    PyObject *params;               /* tuple of str: the parameter names, *args last */
    uint32_t nparams, nposonly, nkwonly;   /* nparams counts all; keyword-only ones come last, before *args */
    bool vararg;
    PyObject *watched;              /* tuple of containers, or NULL: while one has items, k[...] is k._configured(...) */
    PyObject *constants;            /* dict: compile-time constants seen in keys, value -> the object that stands for it */
    struct Variants *variants;
    struct Captures *captures;      /* captures.c; NULL: none */
    PyThread_type_lock lock;        /* held while a variant is compiled */
    unsigned long compiling;        /* the thread that holds it, or 0 */
    pid_t lock_owner;               /* the process in which it was taken last */
    PyObject *weakrefs;
};

extern PyTypeObject Kernel_Type, Launcher_Type;
extern PyObject *auto_object;       /* gpu.auto */

int kernel_default(KernelObject *k, uint32_t param, PyObject **out);   /* borrowed; NULL in *out: has none */
int kernel_read_options(PyObject *dict, Options *out);
PyObject *kernel_call_native(KernelObject *k, PyObject *args, PyObject *kwargs);

/* ---- config.c ---------------------------------------------------------------------------------- */

typedef struct Config {
    LaunchConfig launch;
    PyObject *stream;       /* as it stands in k[...]; borrowed of the Launcher. NULL: the current one */
    uint64_t sized[3];      /* automatic and forall: threads along each axis; grid and block come from the device */
    uint32_t tpb;           /* forall's threads in a block; 0 = choose */
    bool automatic;         /* k[gpu.auto]: from the arguments */
    bool forall, empty;     /* forall(n); some dimension is 0 */
} Config;

int config_parse(Config *c, PyObject *item);            /* what stands in k[...] */
int config_configure(Config *c, PyObject *grid, PyObject *block, PyObject *stream, PyObject *shared, bool cooperative,
                     PyObject *cluster);
int config_forall(Config *c, PyObject *n, PyObject *tpb, PyObject *stream, PyObject *shared);
int config_check(const Config *c, const Device *d, const KernelObject *k);     /* limits of the device */
void config_for_threads(Config *c, const uint64_t *shape, uint32_t ndim);   /* a grid that covers the shape */

/* ---- args.c ------------------------------------------------------------------------------------ */

/* A flattened argument: what the parameters of an image are taken from. */
typedef struct Leaf {
    bool is_array;
    uint8_t dtype;
    uint8_t ndim;
    bool readonly;
    bool on_device;         /* the device of the launch can use the address as it is */
    const struct ArrayObject *array;    /* of array.h, or NULL: a host array, or another library's */
    const Record *record;   /* of an array's elements, or of a record; NULL: scalars */
    const void *data;       /* also of a record by value: its bytes on the host */
    const int64_t *shape, *strides;
    uint64_t bits[2];       /* a scalar's value, in its dtype's own form */
    uint16_t param;         /* which parameter it belongs to */
} Leaf;

enum { FEW_KEY = 240, FEW_LEAVES = 24, FEW_DIMS = 64, MAX_PRODUCERS = 4 };

typedef struct Spill Spill;     /* memory that outgrew the arrays below */

enum { MAX_DEPTH = 8 };

/* Of an argument that is passed by its parts: a field, an item of a dict, or an item of a tuple (no name). */
typedef struct ArgPart { PyObject *name; bool item; Py_ssize_t index; } ArgPart;

/* The arguments of one launch. Lives on the stack; what grows beyond the arrays in it is malloc'ed. */
typedef struct Bound {
    KernelObject *kernel;
    Device *device;                 /* whose memory the arrays must be in; NULL: the CPU */
    bool on_host;                   /* some array isn't on the device */
    uint32_t nproducers;            /* streams of other libraries that work on their arrays: handles of the driver */
    void *producers[MAX_PRODUCERS];
    Stream theirs;                  /* the only one of them, when the launch goes into it */
    PyObject *values[MAX_ARGS];     /* borrowed, one for each parameter */
    uint32_t nvalues;
    PyObject *rest;                 /* the tuple of *args, or NULL */
    PyObject *keep;                 /* list of references that memory depends on, or NULL */
    Leaf *leaves;
    uint32_t nleaves, cap_leaves;
    int64_t *dims;                  /* room for shapes and strides */
    uint32_t ndims, cap_dims;
    uint8_t *key;                   /* the types, as bytes: see args.c */
    uint32_t key_size, cap_key;
    Spill *spills;
    ArgPart parts[MAX_DEPTH + 1];   /* borrowed: where in an argument its taking apart is, for messages */
    uint32_t nparts;
    Leaf few_leaves[FEW_LEAVES];
    int64_t few_dims[FEW_DIMS];
    uint8_t few_key[FEW_KEY];
} Bound;

/* Binds positional and keyword arguments (vectorcall convention) to the parameters. */
int args_bind(Bound *b, KernelObject *k, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);
/* Takes them apart: leaves and key. */
int args_flatten(Bound *b);
void args_release(Bound *b);
/* Bytes first <= p < last of an array; none: first is last. */
typedef struct LeafExtent { uintptr_t first, last; } LeafExtent;
LeafExtent leaf_extent(const Leaf *l);
/* The facts that hold, given which leaves are written (all, if it isn't known yet). */
uint32_t args_facts(const Bound *b, const uint8_t *written, const LaunchConfig *c);
/* Copies what the image wants into its parameter buffer. */
int args_pack(const Bound *b, const Image *image, void *buffer);
/* ---- key.c ------------------------------------------------------------------------------------- */

/* A key is the types of all arguments as bytes, one after the other: kind, then what the kind has. Two calls with the
 * same types have the same key. Objects in it are `constants` of the kernel, which lives as long as they do. */
typedef struct KeyReader { const uint8_t *at, *end; } KeyReader;

/* How many bytes it takes: at most KEY_ARRAY_BYTES. `align`: of elements that are records. */
uint32_t key_put_array(uint8_t *at, const HostArray *a, unsigned align);
uint32_t key_put_record(uint8_t *at, const Record *r, unsigned align, bool readonly);   /* KEY_RECORD_BYTES */
enum { KEY_ASKEW = 128, KEY_ARRAY_BYTES = 5 + sizeof(void *), KEY_RECORD_BYTES = 3 + sizeof(void *), KEY_SCALAR_BYTES = 2, KEY_OBJECT_BYTES = 1 + sizeof(void *),
       KEY_TUPLE_BYTES = 3 + sizeof(void *), KEY_MOST_BYTES = 16 };
/* The object that stands for all that are equal to `o`; borrowed. NULL with TypeError if it can't be hashed, ValueError if
 * the kernel has too many. */
ArgForm form_of_class(PyObject *cls);                   /* of what a key has items of; NULL: a tuple */
PyObject *key_shape(PyObject *cls, PyObject *names);    /* key.c has the forms; NULL without an exception: a plain tuple */
PyObject *key_constant(KernelObject *k, PyObject *o);
bool key_read(KeyReader *r, Arena *a, ArgType *out);        /* the next type; false at the end */
ArgType *key_types(Arena *a, const uint8_t *key, uint32_t size, uint32_t *n);
uint32_t key_leaves(const ArgType *t, uint32_t n);          /* scalars and arrays in n types */
uint32_t key_usual_facts(const uint8_t *key, uint32_t size);   /* what most launches with these types have */
uint8_t *key_from_types(KernelObject *k, PyObject *types, uint32_t *size);   /* PyMem; NULL with an exception */

/* ---- convert.c --------------------------------------------------------------------------------- */

/* Arguments to the kernel's explicit signature: key and scalars become those of the first signature that takes them. */
int convert_to_signature(Bound *b);

/* ---- captures.c -------------------------------------------------------------------------------- */

/* The copy of an ndarray, or bytes, that the kernel has of its first compilation on; borrowed. */
PyObject *captures_freeze(KernelObject *k, PyObject *o);
/* An array on a device, which the kernel uses where it is; it keeps it, and `memory`, which may be NULL. */
int captures_hold(KernelObject *k, PyObject *array, PyObject *memory, const void *address, Device *d);
/* Parameters that are addresses of captured arrays. */
int captures_pack(KernelObject *k, const Image *image, Device *d, void *buffer);
/* The array of a capture and its address on the device; borrowed. NULL: it isn't there. */
PyObject *captures_on(const KernelObject *k, const ImageCapture *c, const Device *d, void **at);
int captures_traverse(KernelObject *k, visitproc visit, void *arg);
void captures_free(KernelObject *k);

/* ---- autosize.c -------------------------------------------------------------------------------- */

/* What a kernel's code says about the grid that it wants. */
typedef struct Indices {
    uint32_t axes;              /* how many of x, y, z it reads thread indices of */
    bool any;                   /* it reads one at all */
    bool compares;              /* ... and may keep some threads from what others do, or bound an index */
    uint32_t nlimits;
    struct {
        uint16_t leaf;
        uint8_t thread, axis;   /* the thread's index along x, y or z is compared with the size of this axis */
    } limits[8];
} Indices;

void indices_of(const IrModule *m, Indices *out);
/* k[gpu.auto]: a grid as large as the arguments; NULL: the kernel's code isn't known. */
int size_from_arguments(const Bound *b, Config *c, const Indices *known);

/* ---- variant.c --------------------------------------------------------------------------------- */

/* A compiled specialisation; never freed before its kernel, so that a launch may use it without the lock. */
struct Variant {
    Variant *next;              /* in its bucket */
    uint32_t hash, key_size;
    uint8_t *key;
    uint32_t facts;
    uint16_t sm;                /* which PTX; 0: native code */
    bool host_function;
    Image *image;
    uint8_t *written;           /* one for each leaf */
    uint32_t nleaves;
    Indices indices;
    PyObject *pins;             /* what the image refers to: exception classes */
    PyObject *types;            /* tuple of Type */
    PyObject *result;           /* host functions: Type of the result */
    PyObject *raises, *prints;  /* lists: of each place, the tuple of the Types of its values, or None */
    uint32_t cost;              /* LaunchConfig.cost */
    KernelObject *kernel;       /* borrowed: it owns the variant */
    Module **modules;           /* the image loaded on each device, by Device.index; NULL where it isn't */
    uint32_t nmodules;
    bool warned, held;          /* of stage.c and launch.c */
    uint32_t suggested, suggested_shared;   /* the block that a device's driver suggests */
    const Device *suggested_for;
};

int variants_init(KernelObject *k);
void variants_free(KernelObject *k);
int variants_traverse(KernelObject *k, visitproc visit, void *arg);
/* Finds or compiles the variant of bound arguments, for the device that they are bound for. */
Variant *variant_for_launch(Bound *b, const LaunchConfig *c);
Variant *variant_for_host_call(Bound *b);
int variant_compile_types(KernelObject *k, PyObject *types);     /* for the current device */
Variant *variant_of_types(KernelObject *k, PyObject *types, Device *d);
Module *variant_module(Variant *v, Device *d);          /* loads it where it isn't; NULL with an exception */
PyObject *variants_kept(KernelObject *k);                /* new reference: list of (types, bool) */
PyObject *variants_types(KernelObject *k);              /* list of tuples, in order of compilation */

/* ---- compile.c --------------------------------------------------------------------------------- */

/* A run of the frontend; the module lives until compilation_close(). */
typedef struct PyHost PyHost;
typedef struct Compilation {
    Arena arena;
    PyHost *host;
    DiagList diags;
    TypedSpans spans;
    ArgType *types;
    uint32_t ntypes;
    ArgType result;
    KernelObject *kernel;
    IrModule *module;
} Compilation;

typedef struct CompileRequest {
    KernelObject *kernel;
    const uint8_t *key;
    uint32_t key_size, facts;
    uint16_t sm;
    bool host_function, want_spans, self_contained;
    bool variables;                 /* those of the program are wanted: FrontendRequest */
    const Options *options;
} CompileRequest;

/* 0, or -1 with the CompileError. Warnings have been given. compilation_close() in either case. */
int compilation_open(Compilation *c, const CompileRequest *r);
void compilation_close(Compilation *c);
int compile_options(CompileOptions *o, const Options *from, TargetKind target, const char *arch);
int compile_options_sm(CompileOptions *o, const Options *from, uint16_t sm);    /* 0: native */
/* What code a device wants: the newest sm that it runs, that we know and whose PTX its driver reads; 0: native. -1 with
 * an exception. */
int compile_sm(const Device *d);
PyObject *compile_architectures(PyObject *module, PyObject *unused);
/* LLVM at work, without the GIL. The module is consumed. */
Image *compilation_image(Compilation *c, const CompileOptions *o);
char *compilation_text(Compilation *c, const CompileOptions *o, Stage stage);   /* to free() */

/* ---- foreign.c --------------------------------------------------------------------------------- */

/* Adds to the options what the module's declared functions and the kernel's option `link` bring; arrays in the
 * compilation's arena. -1 with an exception. */
int foreign_options(Compilation *c, CompileOptions *o);

/* ---- host.c ------------------------------------------------------------------------------------ */

struct PyHost {
    Host host;
    Arena *arena;
    PyObject *pins;             /* list: every object that a HostRef was given out for */
    KernelObject *kernel;       /* whose captured arrays are asked for */
    uintptr_t stack_end;        /* of the thread that compiles; 0: not asked yet */
};

int host_open(PyHost *h, Arena *arena);
void host_close(PyHost *h);
HostRef host_ref(PyHost *h, PyObject *o);               /* pins; NULL for NULL; steals nothing */
bool host_code(void *self, HostRef function_or_code, HostCode *out);    /* hostcode.c */
PyObject *host_function_of(PyObject *o);                /* of a Python function or a Kernel, else NULL; borrowed */
bool host_is_enum(PyObject *o);
bool host_is_for_kernels(const char *module);           /* of this package, and its functions are written for kernels */
/* Of a class's __module__: is it the package numba, or numba-cuda, which brings a copy of it? */
static inline bool is_numbas_module(const char *name) {
    return strncmp(name, "numba.", 6) == 0 || strncmp(name, "numba_cuda.", 11) == 0;
}
/* A container of numba's, or a jitclass: what these have is code for its own compiler. Runs no code of a metaclass. */
bool host_is_numbas(PyTypeObject *cls);
bool host_failed(void);         /* Clears the exception of a question that has no answer; always false */

/* ---- errors.c ---------------------------------------------------------------------------------- */

PyObject *errors_class(const char *name);               /* new reference: of gpu._errors, else a builtin, else Exception */
int errors_raise(const char *class_name, const char *format, ...) __attribute__((format(printf, 2, 3)));   /* -1 */
void errors_from_diags(const DiagList *l, const Host *host, const char *kernel);
int errors_warn(const DiagList *l);   /* 0, or -1: a warning became an error */
/* -1, with the exception for a call of the runtime that failed; the failure is cleared. `k`: the kernel that is meant,
 * or NULL. */
int errors_from_failure(Failure *f, const Device *d, const KernelObject *k);
int errors_interrupted(void);                           /* -1 with the exception: a waiter asked to stop */
void errors_from_record(const Variant *v, const ErrorRecord *e);

/* ---- prints.c ---------------------------------------------------------------------------------- */

int prints_keep_types(Variant *v, const IrModule *m);   /* after the passes, which number the places */
PyObject *prints_exception_args(const Variant *v, const ErrorRecord *e);    /* a tuple, empty if it carries none */
int prints_show(Device *d);         /* what was printed and is known by now: to sys.stdout */
/* The same after a call of the runtime, whose failure becomes the exception. */
int prints_after(Device *d, Status status, Failure *f, const KernelObject *k);
int prints_at_exit(const Device *d);    /* and at the end of the process */

/* ---- devices.c --------------------------------------------------------------------------------- */

/* A row of the device table. `run` gets the arguments bound, not taken apart: how a device likes its arguments is its
 * own affair. */
typedef struct DeviceRow {
    char name[24];
    Device *device;
    int (*run)(const struct DeviceRow *row, Bound *b, Config *c);
    PyObject *(*call)(KernelObject *k, PyObject *args, PyObject *kwargs);   /* k(...): no grid, a result */
} DeviceRow;

/* Waits without the GIL, with Ctrl-C: fills in a Waiter for a call of the runtime. */
typedef struct GilWaiter {
    Waiter waiter;
    PyThreadState *state;
} GilWaiter;
const Waiter *waiter_begin(GilWaiter *w);               /* gives up the GIL */
void waiter_end(GilWaiter *w);

Device *device_named(const char *name);                 /* opened if it isn't; NULL with an exception */
const DeviceRow *device_current(void);                  /* of this thread; NULL with an exception */
const DeviceRow *device_row(const char *name);          /* opened if it isn't; NULL with ValueError or DeviceError */
PyObject *device_set(PyObject *module, PyObject *name);
PyObject *device_get(PyObject *module, PyObject *unused);
PyObject *device_list(PyObject *module, PyObject *unused);
PyObject *device_synchronize(PyObject *module, PyObject *unused);
PyObject *device_synchronize_named(PyObject *module, PyObject *name);
PyObject *device_problem(PyObject *module, PyObject *kind);
PyObject *device_count(PyObject *module, PyObject *kind);
bool device_there(const char *kind); /* is there a device of that kind? Loads the driver */
PyObject *device_properties(PyObject *module, PyObject *name);
PyObject *device_pin(PyObject *module, PyObject *args);
PyObject *device_owner(PyObject *module, PyObject *args);
PyObject *device_share(PyObject *module, PyObject *args);
PyObject *device_open_shared(PyObject *module, PyObject *args);
PyObject *device_close_shared(PyObject *module, PyObject *args);
PyObject *device_profiler(PyObject *module, PyObject *args);
PyObject *device_peers(PyObject *module, PyObject *args);

/* ---- profile.c --------------------------------------------------------------------------------- */

PyObject *profile_count(PyObject *module, PyObject *on);
PyObject *launch_warn_of_host_arrays(PyObject *module, PyObject *on);     /* launch.c */
PyObject *profile_read(PyObject *module, PyObject *unused);

/* ---- hostcall.c -------------------------------------------------------------------------------- */

PyObject *hostcall(Bound *b, Variant *v);

/* ---- inspect.c --------------------------------------------------------------------------------- */

PyObject *inspect_text(PyObject *module, PyObject *args, PyObject *kwargs);
PyObject *inspect_ptx(PyObject *module, PyObject *args);
PyObject *inspect_result(PyObject *module, PyObject *args);
PyObject *inspect_devfns(PyObject *module, PyObject *unused);
PyObject *inspect_compiler(PyObject *module, PyObject *unused);

#endif
