/* host.h - what the frontend asks of the Python that it serves, as one table of functions.
 *
 * The extension fills it in with CPython calls; tests fill it in with rows of bytecode. Objects are
 * opaque handles that stay valid for the whole compilation. All functions return NULL or false for "no such thing" and never raise. */
#ifndef GPU_HOST_H
#define GPU_HOST_H

#include "../compiler/ir.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct HostObject *HostRef;
struct ArgType;                                 /* frontend.h */

typedef enum HostKind {
    HOST_NONE, HOST_BOOL, HOST_INT, HOST_FLOAT, HOST_COMPLEX, HOST_STR, HOST_ELLIPSIS,
    HOST_TUPLE,        /* also a namedtuple: `fields` set */
    HOST_LIST, HOST_DICT, HOST_SET, HOST_SLICE,
    HOST_SCALAR,       /* a NumPy scalar, a ml_dtypes scalar: `type` */
    HOST_RECORD,       /* a NumPy record: `array`, of no dimensions */
    HOST_DTYPE,        /* np.float32, np.dtype('f4'), cuda.float32, types.float32: `type`; a structured one: `record` */
    HOST_ARRAY,        /* a NumPy array: `array` */
    HOST_BYTES,        /* bytes: `array`, of uint8 */
    HOST_MODULE,
    HOST_FUNCTION,     /* a Python function, or a gpu.jit object wrapping one */
    HOST_NAMED,        /* something devfn.def knows by `path`: "math.sin", "builtins.abs", "numpy.where", "gpu.grid" */
    HOST_ENUM,         /* an enum member: attr "value", `text` its name */
    HOST_FOREIGN,      /* a declared function: `text` its symbol; see foreign.c */
    HOST_CODE,         /* a code object */
    HOST_CLASS,        /* a class that isn't a dtype: exceptions among them (`is_exception`) */
    HOST_OTHER
} HostKind;

/* Frontend scalar types: the IR's scalars, complex, and nothing weak. */
typedef enum DType {
    DT_BOOL, DT_I8, DT_I16, DT_I32, DT_I64, DT_U8, DT_U16, DT_U32, DT_U64,
    DT_F16, DT_BF16, DT_F32, DT_F64, DT_C64, DT_C128, DT__COUNT,
    DT_RECORD = DT__COUNT,      /* an element that is a record, and no scalar: its Record says all else */
    DT_NONE = 255
} DType;

typedef enum DKind { DK_BOOL, DK_INT, DK_UINT, DK_FLOAT, DK_COMPLEX, DK_RECORD } DKind;
typedef struct DTypeInfo {
    const char *name;           /* "float32" */
    const char *code;           /* "f4", as NumPy's array interface has it; bfloat16 has none */
    uint8_t bytes, bits;        /* in memory; 1 bit for bool */
    DKind kind;
    Type ir;                    /* complex: the type of a part */
    DType part;                 /* complex: dtype of a part; else itself */
} DTypeInfo;
extern const DTypeInfo dtype_info[DT__COUNT + 1];   /* types.c; DT_RECORD has no bytes there: elem_bytes() */
DType dtype_of_code(const char *code);          /* DT_NONE: none has it */
static inline bool dt_is_int(DType d) { return dtype_info[d].kind == DK_INT || dtype_info[d].kind == DK_UINT; }
static inline bool dt_is_float(DType d) { return dtype_info[d].kind == DK_FLOAT; }
static inline bool dt_is_complex(DType d) { return dtype_info[d].kind == DK_COMPLEX; }

typedef enum Layout { LAYOUT_C, LAYOUT_F, LAYOUT_A } Layout;   /* contiguous C, Fortran, any strides */
#define MAX_NDIM 16

/* A field of a structured dtype: a number, a record, or an array of either (ndim above 0), in C order. */
typedef struct Record Record;
typedef struct RecordField {
    const char *name, *title;    /* title: a second name, or NULL */
    const char *opaque;          /* why a kernel can't read it: "a string (S5)"; NULL: it can */
    DType dtype;                 /* DT_RECORD: `record`; DT_NONE: opaque */
    const Record *record;
    uint32_t offset;             /* bytes */
    uint8_t ndim;
    int64_t shape[MAX_NDIM];
} RecordField;

/* What an element is that no DType stands for: fields, a date or a difference of dates (int64 ticks of `unit`), a byte
 * string, a string (of 32-bit codes); strings end with zeros. */
typedef enum RecordKind { RECORD_FIELDS, RECORD_DATE, RECORD_DELTA, RECORD_BYTES, RECORD_TEXT } RecordKind;
typedef enum TimeUnit {
    UNIT_Y, UNIT_M, UNIT_W, UNIT_D, UNIT_H, UNIT_MIN, UNIT_S, UNIT_MS, UNIT_US, UNIT_NS, UNIT_PS, UNIT_FS, UNIT_AS, UNIT_GENERIC,
    UNIT__COUNT
} TimeUnit;
extern const char *const time_units[UNIT__COUNT];   /* types.c; "D" */

/* A structured dtype, or one of the other kinds, which have no fields. Of each layout (names and titles included) there is one. */
struct Record {
    uint32_t bytes, n;
    uint8_t kind, unit;          /* RecordKind, TimeUnit */
    uint32_t align;              /* of an element's address, with which all fields lie as well as they can: 1 to 8 */
    const RecordField *fields;
};

static inline uint32_t elem_bytes(DType d, const Record *r) { return r ? r->bytes : dtype_info[d].bytes; }
/* What an element's address is a multiple of, unless something lies askew. */
static inline uint32_t elem_align(DType d, const Record *r) { return r ? r->align : dtype_info[dtype_info[d].part].bytes; }

typedef struct HostArray {
    DType dtype;
    const Record *record;        /* DT_RECORD */
    uint8_t ndim;
    Layout layout;
    bool readonly;
    bool askew;                  /* scalars that aren't where their type wants them: they may lie anywhere */
    bool on_device;              /* one of ours, on a device: the kernel uses it where it is, and may write it */
    int64_t shape[MAX_NDIM], strides[MAX_NDIM];   /* strides in bytes */
    const void *data;
} HostArray;

typedef struct HostInfo {
    HostKind kind;
    DType type;              /* SCALAR, DTYPE */
    const Record *record;    /* DTYPE: structured */
    bool i64, u64;           /* INT, BOOL: fits int64 / uint64 (both false: too large) */
    uint64_t bits;           /* INT, BOOL, integer SCALAR: value, sign extended */
    double re, im;           /* FLOAT, COMPLEX, INT rounded, float SCALAR */
    const char *text;        /* STR: UTF-8; ENUM and CLASS and MODULE: name; INT: decimal if it fits neither */
    const char *path;        /* NAMED */
    size_t n;                /* TUPLE, LIST, DICT, SET: length */
    const char *const *fields;   /* namedtuple: names; else NULL */
    const HostArray *array;
    bool is_exception;
    const char *type_name;   /* type(obj).__name__, for messages */
} HostInfo;

/* The parts of a code object. Pointers stay valid for the compilation. */
typedef struct HostCode {
    int version;                    /* 310, 311, 312, 313, 314 */
    const uint8_t *code;            /* with inline caches as stored (adaptive = False) */
    size_t code_size;
    const uint8_t *exception_table; size_t exception_table_size;   /* 3.11+ */
    HostRef *consts; size_t nconsts;
    const char **names; size_t nnames;
    const char **varnames; size_t nvarnames;       /* co_varnames */
    const char **cellvars; size_t ncellvars;
    const char **freevars; size_t nfreevars;
    const char **localsplus; size_t nlocalsplus;   /* 3.11+: the order of fast locals; NULL on 3.10 */
    uint32_t argcount, posonlyargcount, kwonlyargcount, flags, first_line;
    bool library;                   /* a function of the package's own: users don't want to see its lines */
    const char *file, *name, *qualname;
    const uint32_t (*positions)[4]; /* per code unit (2 bytes): line, end_line, col, end_col; col from 0 in characters, +1 stored; 0 = unknown */
} HostCode;

typedef struct Host {
    void *self;
    bool (*info)(void *self, HostRef obj, HostInfo *out);
    HostRef (*global)(void *self, HostRef function, const char *name);       /* globals, then builtins */
    HostRef (*closure)(void *self, HostRef function, const char *name);      /* contents of a free variable; NULL if empty */
    HostRef (*attr)(void *self, HostRef obj, const char *name);
    HostRef (*item)(void *self, HostRef obj, size_t index);                  /* tuple, list; dict: see `lookup` */
    HostRef (*lookup)(void *self, HostRef dict, HostRef key);
    /* The items of a container, a string or a class of enum members as a tuple; of a dict, its pairs. Interned strings. */
    HostRef (*items)(void *self, HostRef obj);
    /* What a class or its bases have under this name, as it stands there: a property, a staticmethod, a function. With
     * `after`, one of the bases, the search begins behind that. */
    HostRef (*class_attr)(void *self, HostRef cls, HostRef after, const char *name);
    bool (*subclass)(void *self, HostRef cls, HostRef of);
    HostRef (*call)(void *self, HostRef callable, size_t n, const HostRef *args);   /* of something without side effects */
    bool (*code)(void *self, HostRef function_or_code, HostCode *out);
    HostRef (*default_value)(void *self, HostRef function, const char *param);
    bool (*same)(void *self, HostRef a, HostRef b);                          /* identity, for `is` and memo keys */
    HostRef (*make_int)(void *self, int64_t v);                              /* constants that folding makes */
    HostRef (*make_str)(void *self, const char *s);                          /* one object for each text */
    HostRef (*make_float)(void *self, double x);
    const char *(*repr)(void *self, HostRef obj);                            /* at most 80 characters */
    const char *(*source_line)(void *self, const char *file, uint32_t line); /* without newline; NULL if there is no source */
    HostRef (*import)(void *self, const char *module);
    /* What overloads of Numba's kind give for a call of a function: a Python function to call in its place. NULL: none;
     * *why says so where there are some, and none takes these types. May be NULL: there are no overloads. */
    HostRef (*overload)(void *self, HostRef function, size_t n, const struct ArgType *types, const HostRef *constants,
                        size_t nkw, const char *const *kwnames, const char **why); /* constants: NULL where it is none */
    size_t (*stack_left)(void *self);                                        /* bytes of this thread's; may be NULL */
    HostRef none;                                                            /* None */
} Host;

#endif
