/* types.h - the frontend's types, interned, and the values that inference and building pass around.
 *
 * A type is a pointer to an interned node: two types are the same if the pointers are. A value (Val)
 * is its type, maybe an exact constant, and the IR values of its parts. Inference knows types and
 * constants only (all refs are REF_NONE); building has refs too. Composite values (arrays, tuples,
 * ranges, iterators, inner functions) have items, whose number is ty->n:
 *
 *   array     data pointer, shape[0..ndim), and for LAYOUT_A strides[0..ndim) in bytes
 *   tuple     its items                         range    start, stop, step
 *   slice     start, stop, step                 method   self
 *   record    its address: a record is a reference, as NumPy's is
 *   expr      operands, shape[0..ndim)          Val.i: what memory was when it was made (Eval.epoch)
 *
 * Shapes and strides are weak integers (int64 in the Numba dialect), maybe constant. */
#ifndef GPU_TYPES_H
#define GPU_TYPES_H

#include "frontend.h"
#include "pyir.h"

typedef enum TyKind {
    TY_POISON,      /* an error was reported; everything made of it is POISON too, in silence */
    TY_UNDEF,       /* a variable before any assignment */
    TY_NONE,
    TY_SCALAR,      /* dtype; weak: a Python bool, int, float, complex (DT_BOOL, DT_I64, DT_F64, DT_C128) */
    TY_PTR,         /* the data pointer in an array's items; `space` */
    TY_ARRAY,       /* dtype, record, align, ndim, layout, readonly, space; weak: bytes, whose items are Python ints */
    TY_RECORD,      /* record, align, readonly, space; obj: the host's record, whose bytes are constant */
    TY_TIME,        /* record, a date's or a difference's; its item is an int64: ticks of the unit. See times.c */
    TY_POINTER,     /* dtype, align, space: an address, from which elements are counted; nothing says how many there are */
    TY_EXPR,        /* elements that are computed where they are used: `sub` is an ExprKind, `layout` its code, `name` the
                       function, `fields` its keywords; dtype and ndim of the result */
    TY_TUPLE,       /* also named tuples: `fields`, sets, and lists that don't change: sub is a TupleKind */
    TY_SLICE,
    TY_RANGE,
    TY_ITER,        /* `sub` is an IterKind */
    TY_DTYPE,       /* np.float32, np.dtype("f4"), x.dtype ...: dtype, record */
    TY_DICT,        /* a dict: key, value, key, value ...; keys are constants */
    TY_INSTANCE,    /* of a class, obj: its `fields`. sub 1: its __init__ runs, and may set them; sub 2: `made` */
    TY_LIST,        /* a list that changes: `made`. Others are tuples */
    TY_SHARED_VAR,  /* a variable that inner functions assign, or see change: `made` */
    TY_PARTIAL,     /* functools.partial: function, tuple of arguments, dict of keywords */
    TY_SUPER,       /* super(): the instance; obj: the class whose bases are meant */
    TY_OBJECT,      /* a host object, known when compiling: function, module, class, str, name of devfn.def */
    TY_FUNCTION,    /* a function made inside the kernel (def, lambda); obj: its code; items: defaults, kwdefaults, closure, each maybe
                       None, and the host function whose globals it sees */
    TY_TEXT,        /* text that the host puts together; `sub` is a TextKind, name: a word more; items: its values (printfns.c) */
    TY_EXCEPTION,   /* an instance of an exception class; obj: the class; items: the arguments */
    TY_GROUP,       /* a cooperative group: `sub` is a GroupKind; a tile's item is its size */
    TY_MAYBE,       /* None, or a value: whether it is there (bool), the value. See maybe.c */
    TY_CHOICE,      /* one of several functions or enum members: which, and each of them. See choice.c */
    TY_METHOD       /* self.name, items[0]: self. A device function "ndarray.NAME" or "scalar.NAME", or obj: a Python function */
} TyKind;

/* ITER_RANGE: current, stop, step, base (range.c). ITER_SEQ: container, index, end. ITER_RSEQ: container, index counting down.
 * ITER_ENUM: count, inner. ITER_ZIP: inner iterators. ITER_ND: number of the index in C order, how many there are, tuple
 * of sizes, array or None. */
typedef enum IterKind { ITER_RANGE, ITER_SEQ, ITER_RSEQ, ITER_ENUM, ITER_ZIP, ITER_ND } IterKind;

/* TAKE: of an array, by arrays of integers; `layout` is the axis where they stand, `name` which axes they index (takes.c). */
typedef enum ExprKind { EXPR_BINARY, EXPR_UNARY, EXPR_COMPARE, EXPR_CALL, EXPR_CONVERT, EXPR_TAKE } ExprKind;

/* FORMAT: format(value, specification), name: the conversion 's', 'r', 'a' or none. PERCENT: items[0] % items[1]. METHOD:
 * items[0].format(...), fields: keywords, "" for none. The others stand for objects that are shown whole. ARRAY: nested tuples,
 * name: the dtype. DICT: key, value, key, value ... INSTANCE: the class, then the fields. */
/* VIEW: address, shape, strides of an array, name: the dtype. VALUE: one item, whole. CHOICE: which of the constant strings in name,
 * each of which CHOICE_END ends. */
#define CHOICE_END '\x1f'
typedef enum TextKind { TEXT_JOIN, TEXT_FORMAT, TEXT_PERCENT, TEXT_METHOD, TEXT_ARRAY, TEXT_DICT, TEXT_INSTANCE, TEXT_RECORD, TEXT_VIEW, TEXT_VALUE, TEXT_CHOICE, TEXT_LIST, TEXT_TIME } TextKind;

typedef enum TupleKind { TUPLE_ITSELF, TUPLE_OF_LIST, TUPLE_OF_SET } TupleKind;

typedef enum GroupKind { GROUP_GRID, GROUP_BLOCK, GROUP_TILE } GroupKind;

typedef struct TyNode TyNode;
typedef const TyNode *Ty;

struct TyNode {
    TyKind kind;
    uint8_t dtype;              /* DType */
    uint8_t align;              /* of elements, in bytes: less than natural in packed records */
    uint8_t ndim, layout;       /* Layout */
    uint8_t space;              /* Type: T_PTR, T_PTRS, T_PTRC, T_PTRL */
    uint8_t sub;
    bool weak, readonly;
    uint32_t n;                 /* items of a value of this type */
    uint32_t parts, depth;      /* with those of the items, and theirs; how deep they are nested */
    const Ty *items;            /* their types */
    const char *const *fields;  /* named tuple, instance */
    const Record *record;
    struct Mutable *made;       /* what changes after it was made: its item is the address (mutable.c) */
    HostRef obj;                /* named tuple, instance: the class */
    const char *name;           /* TY_METHOD */
    uint32_t hash;
    const TyNode *next;
};

/* A scalar type as the promotion tables see it. */
typedef struct Scalar { uint8_t dtype; bool weak; } Scalar;
#define SCALAR(d, w) ((Scalar){(uint8_t)(d), (w)})

__extension__ typedef __int128 Wide;      /* constant integers: exact far beyond 64 bits */

/* What an array's elements are. */
typedef struct Elem { uint8_t dtype, align; const Record *record; } Elem;

typedef enum KonstKind { KONST_NONE, KONST_INT /* ints and bools */, KONST_FLOAT, KONST_COMPLEX } KonstKind;

typedef struct Val {
    Ty ty;                      /* NULL: absent (an argument that wasn't given) */
    uint8_t konst;              /* KonstKind: scalars only */
    Ref ref[2];                 /* scalar or pointer; [1]: imaginary part. REF_NONE for constants until val_ref() */
    uint32_t likely;            /* a size, a slice: its length unless the array ends before (sizes.c); 0: nobody knows */
    union {
        Wide i;                 /* KONST_INT */
        struct { double re, im; } f;
    };
    const struct Val *items;    /* ty->n items of composite values */
    HostRef member;             /* of a constant: the enum member that it is, or NULL */
} Val;

/* Of none, `from` may be NULL. */
static inline void vals_copy(Val *to, const Val *from, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) to[i] = from[i];
}

typedef struct Types Types;     /* the table of interned types of one compilation */

Types *types_new(Arena *arena, const Host *host, Dialect dialect);
Ty ty_poison(Types *t);
Ty ty_undef(Types *t);
Ty ty_none(Types *t);
Ty ty_scalar(Types *t, DType d, bool weak);
Ty ty_ptr(Types *t, Type space);
Ty ty_array(Types *t, Elem elem, unsigned ndim, Layout layout, bool readonly, Type space);
Ty ty_bytes(Types *t, Type space);
Ty ty_record(Types *t, const Record *r, unsigned align, bool readonly, Type space, HostRef obj);
Ty ty_pointer(Types *t, Elem elem, Type space);
Ty ty_time(Types *t, const Record *r);
Ty ty_expr(Types *t, ExprKind kind, unsigned code, DType d, unsigned ndim, uint32_t n, const Val *items, const char *name,
           const char *const *fields);
Ty ty_made(Types *t, TyKind kind, HostRef obj, struct Mutable *made);
Ty ty_dtype(Types *t, DType d);
Ty ty_dtype_of(Types *t, Elem elem);
Ty ty_object(Types *t, HostRef obj);
Ty ty_composite(Types *t, TyKind kind, unsigned sub, uint32_t n, const Val *items, HostRef obj, const char *name,
                const char *const *fields);      /* tuple, slice, range, iterator, dict, instance, function, method */
uint32_t hash_mix(uint32_t h, uint64_t v);
const char *ty_text(Types *t, Ty ty);            /* "float32", "float (weak)", "array(float32, 2d, C)" ... */
const char *record_text(Arena *a, const Record *r);   /* "record(x: float32, y: int32[3])" */
const char *elem_text(Arena *a, DType d, const Record *r);
const char *wide_text(Arena *a, Wide v);           /* decimal */
/* Names of this package as programs of the dialect spell them: cuda.grid for gpu.grid. */
const char *dialect_text(Arena *a, Dialect dialect, const char *text);
const char *val_text(Types *t, Val v);           /* the same; constants with their value: "int 3 (weak)" */

static inline Elem elem_scalar(DType d) { return (Elem){(uint8_t)d, (uint8_t)elem_align(d, NULL), NULL}; }
static inline Elem elem_record(const Record *r, unsigned align) { return (Elem){DT_RECORD, (uint8_t)align, r}; }
static inline Elem elem_of(Ty array) { return (Elem){array->dtype, array->align, array->record}; }
static inline bool elem_is_askew(Elem e) { return !e.record && e.align < elem_align((DType)e.dtype, NULL); }   /* a scalar that may lie anywhere */
static inline uint32_t elem_size(Elem e) { return elem_bytes((DType)e.dtype, e.record); }
static inline bool ty_is(Ty t, TyKind k) { return t->kind == k; }
static inline bool val_is_scalar(Val v) { return v.ty->kind == TY_SCALAR; }
static inline Scalar val_sc(Val v) { return SCALAR(v.ty->dtype, v.ty->weak); }
static inline DType val_dtype(Val v) { return (DType)v.ty->dtype; }
static inline bool val_is_list(Val v) { return v.ty->kind == TY_LIST || (v.ty->kind == TY_TUPLE && v.ty->sub == TUPLE_OF_LIST); }
static inline bool val_is_set(Val v) { return v.ty->kind == TY_TUPLE && v.ty->sub == TUPLE_OF_SET; }
static inline bool val_const(Val v) { return v.konst != KONST_NONE; }

/* ---- dtypes -------------------------------------------------------------------------------- */
Wide dt_min(DType d);           /* integers and bool */
Wide dt_max(DType d);
bool dt_fits(DType d, Wide v);

#endif
