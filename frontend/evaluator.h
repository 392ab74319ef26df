/* evaluator.h - the evaluator's state and the functions that its own files share.
 *
 * eval.c      state, messages, making and reading values, emission
 * convert.c   conversions of scalars, coercion to a joined type
 * lattice.c   equality and join of abstract values; maybe.c values that may be None
 * arith.c     operators; complexops.c complex arithmetic
 * arrays.c    arrays; indices.c subscripts; records.c records; range.c ranges; iter.c iterators; calls.c calls
 * mutable.c   what changes after it was made; lists.c lists that do; sets.c sets
 * objects.c   instances of classes; containers.c lists, sets and dicts; patterns.c match statements and generators
 * masks.c     numbers made of a[mask], and a[mask] op= number; patterns.c match, generator expressions and their order
 * attrs.c     attributes; step.c one instruction of Python SSA; typetests.c types that are compared
 * infer.c     the fixed point over one function; unroll.c loops that must be unrolled; undef.c variables that aren't assigned on every path
 * printfns.c  text, print, raise
 * recursion.c functions that call themselves at run time; frames.c where their values are meanwhile
 * build.c     the IR of a function; variables.c what a debugger shows; contract.c products and sums that become FMA */
#ifndef GPU_EVALUATOR_H
#define GPU_EVALUATOR_H

#include "devfn.h"
#include "eval.h"
#include "promote.h"
#include "suggest.h"

enum { MOST_VALUE_PARTS = 1 << 17, DEEPEST_VALUE = 100 };   /* of a value: tuples in tuples */

/* A PHI operand to be entered when all edges are known. */
typedef struct PhiFeed { Ref phi; BlockId pred; Ref value; } PhiFeed;

/* Two assignments that have no common type. */
typedef struct Conflict { Val a, b; PyRef from_a, from_b; } Conflict;

/* What a function is besides its code: where its globals and free variables are found. */
typedef struct Callee {
    HostRef code;               /* function or code object: what names the PyFunc */
    HostRef globals;            /* the host function whose globals it sees */
    Val closure;                /* inner functions: tuple of the free variables' values; else absent */
    Val self;                   /* inner functions: the function itself, which may be one of those; else absent */
} Callee;

/* storage.c: what a call may do: store to arrays or objects of the thread's own that it gets, give one that is memory of
 * its own, let one object have another as an item. */
typedef struct CallEffects { bool writes, makes, keeps; } CallEffects;

/* A function specialised by the types and constants of its arguments: the result of inference. */
typedef struct Instance {
    const PyFunc *base;         /* the function as it is written */
    const PyFunc *f;            /* the same, maybe with loops unrolled */
    Callee callee;
    uint32_t nargs;
    Val *args;                  /* abstract */
    Val *cell;                  /* type and constant of each PyRef; ty NULL: not reached */
    bool *maybe_undef;          /* of each PHI: an UNDEF may reach it */
    Conflict **conflict;        /* of each PHI, or NULL */
    bool (*edge)[2];            /* executable edges of each block */
    bool *reached;              /* executable blocks */
    bool *stops;                /* blocks that end in a call that never returns */
    Val result;                 /* ty NULL: never returns */
    Conflict *result_conflict;
    bool unsettled;             /* the types still rose after many sweeps */
    bool foldable;              /* the result is known, and a call does nothing else */
    bool recursive;             /* it calls itself with arguments of the same types and constants */
    Val assumed;                /* recursive: what those calls were taken to return; ty NULL: nothing yet */
    uint32_t fails;             /* instructions that can't be typed */
    uint32_t hash;
    struct Instance *next, *next_alike;     /* those made before; those in the same bucket */
} Instance;

/* A function being inferred or built. */
typedef struct Frame {
    Instance *inst;
    Val *vals;                  /* infer: inst->cell; build: values with refs */
    const Val *args;
    Val closure, self;          /* build: the callee's with refs; else absent */
    DiagFrame at;               /* file, function, caller; the span of the current instruction */
    uint32_t func, inlined_at;  /* of IrModule.funcs and spans */
    bool library;               /* what it does happens at `inlined_at`, where the user called it */
    uint32_t *marks;            /* build: how many operations the kernel had at each GEN_START, GEN_PLACE; or NULL */
    bool guarded;               /* the current instruction is in a `try` that has a `finally` */
    const PyInstr *in;          /* the current instruction */
    struct Frame *caller;
} Frame;

typedef struct FuncEntry {
    HostRef code;
    PyFunc *f;
    uint32_t ninstances;
    CallEffects effects;        /* of all of them: storage.c, when all is inferred */
} FuncEntry;
typedef struct DataEntry { const void *data; uint32_t index; } DataEntry;

/* A shared array, which all calls of a function with arguments of the same types have in common. */
typedef struct SharedEntry {
    const Instance *inst;
    const PyInstr *at;
    uint32_t index;             /* of IrModule.shared */
} SharedEntry;

/* An attribute of a host object, asked once: a property may give another object each time. */
typedef struct AttrEntry {
    HostRef obj, value;
    const char *name;
} AttrEntry;

/* A call of a function from inside itself. Until frames.c has done its work, `from` jumps to `back`. */
typedef struct CallAgain {
    struct Recursion *caller;   /* the innermost activation at the call */
    BlockId from, back;         /* where it leaves for the function; where it comes back */
    Ref step;                   /* a constant to be set: from the caller's frame to the new one, in bytes */
    Ref limit;                  /* a constant to be set: the last place in the stack where a frame may lie */
    Ref base;                   /* caller's place + step */
    RefVec args, results;       /* for the PHIs of the function's entry; PHIs of `back` */
} CallAgain;

/* A function that calls itself at run time: one body for all activations, whose values lie in a stack of the thread's own. */
typedef struct Recursion {
    const Instance *inst;
    BlockId entry, exit, done;  /* PHIs of the parameters; PHIs of the results; what follows the first call */
    Ref place;                  /* PHI of entry: where the activation's frame lies in the stack, in bytes */
    Ref frame;                  /* its address */
    Ref outer_step, outer_limit;    /* of the first call, inside another recursion: as in CallAgain; else REF_NONE */
    RefVec params, results;
    VEC(CallAgain) calls;
    bool connected;             /* calls jump to the entry */
    uint32_t bytes;             /* of the frame: the number of the call that made it, then arrays */
    struct Recursion *around;   /* the recursion in whose body this one is */
} Recursion;

/* A parameter whose constants recursion would never end to make new instances for: it is taken as a run-time value. */
typedef struct Widened { const PyFunc *f; uint32_t param; } Widened;

/* What one instruction makes and others change: see mutable.c. */
typedef struct MutableItem {
    const char *name;
    Val v;                      /* abstract: all that is stored; ty NULL: nothing yet */
    Val initial;                /* what all begin with; ty NULL: nothing */
    bool sure;                  /* assigned wherever one is made */
    bool failed;                /* a store to it is reported */
} MutableItem;

typedef struct Mutable {
    const PyFunc *base;         /* the instruction, and the types of its arguments */
    PyRef origin;
    uint32_t nkey;
    const Ty *key;
    TyKind kind;
    HostRef obj;                /* the class */
    uint32_t nitems;
    MutableItem *items;
    struct Mutable *same;       /* another one, which this has met and is one with; or NULL */
    uint32_t count;             /* of a list: its items when it is made */
    bool uniform, grows;        /* of a list: all items are as `elem`; its length is known at run time */
    bool failed;                /* of a list: a store to it is reported */
    Val elem;
    bool merged;                /* it is one with another: what one of them is sure to have, the other may lack */
    struct Mutable *next;
} Mutable;

/* A store of a value that has no common type with the others of its place. It is reported in the end if nothing else
 * is: what is read from the place means nothing, and may have been what is stored. */
typedef struct StoreFailure {
    const char *name, *was, *is;
    DiagFrame at;
} StoreFailure;

/* An object whose __init__ runs, called from the frame. */
typedef struct Making {
    Mutable *of;
    const struct Frame *frame;
    const struct Making *around;
} Making;

/* Counts what may have changed the thread's own memory, and any other: array expressions made before are stale. */
typedef struct Epoch { uint32_t other, local; } Epoch;

struct Eval {
    Arena *arena;
    const Host *host;
    const FrontendRequest *req;
    Dialect dialect;
    Types *types;
    DiagList *diags;
    TypedSpans *typed;
    bool building;
    bool checking;              /* the next raise is a check of debug mode */
    bool keep_products;         /* inside complex arithmetic and device functions: no FMA */
    Frame *frame;
    IrModule *m;
    BlockId cur;
    uint32_t span;
    const PySpan *index_spans;  /* of the items of the subscript being evaluated, or NULL */
    uint32_t nindex_spans;
    PySpan value_span;          /* of the value being stored */
    VEC(PhiFeed) feeds;
    VEC(FuncEntry) funcs;
    VEC(DataEntry) data;
    VEC(SharedEntry) shared;
    VEC(AttrEntry) attrs;
    VEC(Widened) widened;
    bool restart;               /* one was added: what was inferred so far is to be forgotten */
    bool again;                 /* what was inferred is to be inferred again: a Mutable is more than it was taken for */
    Mutable *mutables;
    const Making *making;
    StoreFailure failed_store;  /* the first that was met */
    VEC(HostRef) changing;      /* classes whose instances change */
    uint8_t lists;              /* 1: lists change that are written, 2: those of comprehensions, too */
    uint8_t lists_wanted;       /* the same for the next round of inference */
    Recursion *recursion;       /* the innermost that is being built, or NULL */
    VEC(Recursion *) recursions;    /* all that were built, inner ones first */
    Ref stack;                  /* what they lie in; REF_NONE: there are none */
    Instance *instances;        /* the last one that was made */
    Instance **alike;           /* infer.c: the same by their hash */
    uint64_t steps;             /* of inference so far, each as many as its value has parts */
    bool spent;                 /* they were too many: that is reported, and inference ends */
    const Instance *effects_known;  /* the effects of instances from this one on are known */
    uint32_t fails;             /* mistakes met in infer mode, where they aren't reported */
    DiagList unheard;           /* the last of them */
    DiagFrame untyped;          /* the first place where code was built without a value, though nothing was reported; or 0 */
    uint32_t calls;             /* built inline so far */
    uint32_t depth;
    uint32_t nested;            /* tuples from outside that are being read, one in the other */
    Epoch epoch;
};

/* numbawords.c */
void numba_words_of(Eval *e, Diag *d, va_list args);    /* in the Numba dialect a note with Numba's words, if there are any */
const char *numba_call_text(Eval *e, const PyFunc *f, uint32_t n, const Val *args);
void numba_of_method(Eval *e, Diag *d, HostRef method);
void numba_untyped(Eval *e, Diag *d, PySpan span);
const char *numba_help_for(Eval *e, HostRef cls);       /* what to write for a class of numba's; NULL: it's somebody else's */

/* eval.c */
Ref e_emit(Eval *e, Op op, Type t, uint32_t n, const Ref *args, uint16_t sub, uint64_t imm);
Ref e_alloca(Eval *e, uint64_t bytes);              /* memory of the thread's own */
Ref e_emit_early(Eval *e, BlockId b, Op op, Type t, uint32_t nargs, const Ref *args, uint64_t imm);
void e_set_span(Eval *e, PySpan span);
void e_finish_phis(Eval *e);
void e_ret(Eval *e, uint32_t n, const Ref *values);
bool e_terminated(const Eval *e);
uint64_t val_bits(Val v, DType d);                  /* a constant of dtype d as IR bits; complex: the real part */
uint64_t double_bits(DType d, double x);
Val val_scalar(Eval *e, Scalar s, const Ref ref[2]);
HostRef val_builtin(Eval *e, const char *name);     /* of the module builtins; NULL: none */
Val val_from_bits(Eval *e, Scalar s, uint64_t bits);
Val val_composite(Eval *e, TyKind kind, unsigned sub, uint32_t n, const Val *items);
static inline Scalar e_python_int(const Eval *e) { return SCALAR(DT_I64, e->dialect == DIALECT_NUMPY); }
static inline Scalar e_python_float(const Eval *e) { return SCALAR(DT_F64, e->dialect == DIALECT_NUMPY); }
static inline Scalar e_python_bool(const Eval *e) { return SCALAR(DT_BOOL, e->dialect == DIALECT_NUMPY); }
static inline bool val_poisoned(Val v) { return !v.ty || v.ty->kind == TY_POISON; }

/* lattice.c */
bool val_same(Val a, Val b);                        /* type and constants, not refs */
uint32_t val_hash(Val v);                           /* of those */
Val val_abstract(Eval *e, Val v);                   /* without refs */
bool val_join(Eval *e, Val a, Val b, Val *out);     /* false: no common type. bottom (ty NULL) is neutral */
bool val_is_known(Val v);                           /* nothing of it exists at run time */

/* convert.c */
Val val_coerce(Eval *e, Val v, Val target);         /* to the type of a join; parts that aren't constant get refs */
Val val_zero(Eval *e, Val abstract);                /* what is there where nothing can see it: zeros */
Val val_phi(Eval *e, Val abstract);                 /* PHIs for the parts, in the current block */
void val_phi_feed(Eval *e, Val phi, BlockId pred, Val v);

/* arith.c, complexops.c */
Val eval_logic(Eval *e, bool both, Val a, Val b);          /* two bools: and, else or */
bool val_integer_outside(Pred p, Val a, Val b, bool *holds); /* a constant decides the comparison whatever the other is */
Val eval_is(Eval *e, PySpan span, Val a, Val b, bool negate);
Val eval_contains(Eval *e, PySpan span, Val item, Val container, bool negate);
bool val_elem_named(Eval *e, Val v, Elem *out);           /* the same, structured dtypes too */
bool val_dtype_named(Eval *e, Val v, DType *out);         /* np.float32, "f4", float: what np.dtype() takes */
Val complex_arith(Eval *e, PyBinary op, Scalar s, Val a, Val b);
Val complex_unary(Eval *e, PyUnary op, Scalar s, Val a);

/* arrays.c, indices.c; arrays.h has what their files share */
Val array_param(Eval *e, const ArgType *a, Ref data, const Ref *shape, const Ref *strides);
Val array_captured(Eval *e, const HostArray *a, bool is_bytes);
Val array_element(Eval *e, PySpan span, Val array, Val index);   /* array[index], index known to be in 0 ... n-1 */
Val array_attr(Eval *e, Val array, const char *name);                /* ty NULL: no such attribute */
Val array_flatten_to_a(Eval *e, Val array);         /* the same array with explicit strides */
Val array_made(Eval *e, Elem elem, bool readonly, Type space, Ref data, uint32_t ndim, const Val *shape);   /* in C order */
/* The address of a[index], for what isn't a plain load or store; `written`: the element is. False: reported. */
bool array_address(Eval *e, PySpan span, Val array, Val index, bool written, Ref *out);
/* A value as an element of the dtype, with the checks of an assignment; POISON: reported at `span`. */
Val array_stored(Eval *e, PySpan span, DType d, Val v);
Ref array_neighbour(Eval *e, Val a, Ref p, uint32_t k);
Ref imag_address(Eval *e, DType d, Ref p);          /* of the imaginary part of an element at p */

/* records.c */
Val record_at(Eval *e, Elem elem, bool readonly, Type space, Ref at);
Val record_captured(Eval *e, HostRef obj, const HostArray *a);
Ref record_offset(Eval *e, Type space, Ref at, uint32_t bytes);
Val record_attr(Eval *e, PySpan span, Val v, const char *name);      /* of a record, or of an array of records; ty NULL: none */
Val record_getitem(Eval *e, PySpan span, Val v, Val index);
void record_setitem(Eval *e, PySpan span, Val v, Val index, Val value);
bool record_setattr(Eval *e, PySpan span, Val v, const char *name, Val value);   /* false: there is no such field */
void record_store(Eval *e, PySpan span, Val to, Val value);          /* the whole record */
Val record_tuple(Eval *e, PySpan span, Val v);                       /* its fields, as reading them one by one gives them */
Val record_compare(Eval *e, PySpan span, PyCompare op, Val a, Val b);   /* ty NULL: these aren't compared */
Val record_names(Eval *e, const Record *r);                            /* a tuple of strings */
const char *fields_text(Arena *a, const Record *r);                    /* "its fields are 'x', 'y'" */
void suggest_fields(Suggestion *s, const Record *r);

static inline bool record_is_time(const Record *r) { return r->kind == RECORD_DATE || r->kind == RECORD_DELTA; }
/* What is assigned to an element at `at`. */
static inline Val record_target(Eval *e, Ty array, Ref at) {
    return record_at(e, elem_of(array), array->readonly, (Type)array->space, at);
}

/* pointers.c */
void expect_overlap(Eval *e);                       /* arrays.c: what LLVM is told of the arguments; building only */
Val pointer_at(Eval *e, Elem elem, Type space, Ref at);
Val pointer_getitem(Eval *e, PySpan span, Val p, Val index);
void pointer_setitem(Eval *e, PySpan span, Val p, Val index, Val value);

/* times.c: ty NULL: no times, or not so */
Val time_of(Eval *e, const Record *r, Val ticks);
bool time_join(Eval *e, Val a, Val b, Val *out);    /* in the finer unit; false: there is none */
Val time_coerce(Eval *e, Val v, Val target);
Val time_ticks(Eval *e, const void *bytes);         /* of a constant */
Val time_load(Eval *e, Elem elem, Ref p);
void time_store(Eval *e, PySpan span, Val to, Val value);
Val time_binary(Eval *e, PySpan span, PyBinary op, Val a, Val b);
Val time_unary(Eval *e, PyUnary op, Val v);
Val time_compare(Eval *e, PySpan span, PyCompare op, Val a, Val b);
bool time_operands(Val a, Val b, const char **help);   /* one of them is a time: what to do with those */

/* strings.c: ty NULL: no strings */
void string_store(Eval *e, PySpan span, Val to, Val value);
Val string_compare(Eval *e, PySpan span, PyCompare op, Val a, Val b);
Val string_len(Eval *e, PySpan span, Val v);

/* iter.c */
Val eval_iter_has(Eval *e, PySpan span, Val it);
Val eval_iter_value(Eval *e, PySpan span, Val it);
Val eval_iter_next(Eval *e, PySpan span, Val it);
Val tuple_item(Eval *e, PySpan span, Val tuple, Val index);
/* A range, an iterator or an array whose length is known as the tuple of its items; others as they are. */
bool iter_trips(Eval *e, Val it, Wide *n);          /* how many items are left; false: known at run time only */
Val sequence_items(Eval *e, PySpan span, Val v);

/* range.c */
Val range_len(Eval *e, PySpan span, Val range);
Val range_item(Eval *e, Val range, Val index);      /* index known to be in 0 ... len-1 */
Val range_contains(Eval *e, PySpan span, Val item, Val range);
Val range_iter(Eval *e, PySpan span, Val range);
Val range_has(Eval *e, PySpan span, Val iter);
Val range_value(Eval *e, Val iter);
Val range_next(Eval *e, Val iter);

/* attrs.c */
Val find_attr(Eval *e, PySpan span, Val v, const char *name);   /* ty NULL: no such attribute */

/* containers.c */
bool is_enum_class(Eval *e, Val v);
Val val_items(Eval *e, Val v);                      /* a container outside, or a dict, as the tuple that iterating gives */
Val list_items(Eval *e, Val v);                     /* a list outside as a tuple; others as they are */
Val dict_of(Eval *e, uint32_t n, const Val *keys_and_values);
Val dict_known(Eval *e, Val v);                     /* a dict outside as TY_DICT; others as they are */
Val dict_part(Eval *e, Val d, DictPart part);
Val dict_with(Eval *e, PySpan span, Val d, Val key, Val value);
Val dict_binary(Eval *e, PySpan span, PyBinary op, bool in_place, Val a, Val b);  /* d | e; ty NULL: not of dicts */
Val dict_compare(Eval *e, PySpan span, PyCompare op, Val a, Val b);        /* ty NULL: neither is a dict, or an order */
Val dict_merged(Eval *e, PySpan span, Val a, Val b);
Val dict_item(Eval *e, PySpan span, Val d, Val key);
bool dict_find(Eval *e, Val d, Val key, Val *out);
HostRef val_as_object(Eval *e, Val v);
Val call_constant(Eval *e, HostRef f, uint32_t n, const Val *args);

/* maybe.c */
bool choice_join(Eval *e, Val a, Val b, Val *out);  /* choice.c: of functions, of members; false: they aren't */
Val choice_coerce(Eval *e, Val v, Val target);
Val choice_attr(Eval *e, PySpan span, Val choice, const char *name);         /* ty NULL: an alternative has none */
Val choice_truth(Eval *e, PySpan span, Val choice);
Val choice_compare(Eval *e, PySpan span, PyCompare op, Val a, Val b);        /* ty NULL: neither is a choice, or no order */
Val choice_is(Eval *e, PySpan span, Val a, Val b, bool negate);              /* ty NULL: neither is */
Val choice_call(Eval *e, const CallSite *site, Val choice, uint32_t n, const Val *args);
bool maybe_join(Eval *e, Val a, Val b, Val *out);   /* false: neither may be None, or they have no join */
Val maybe_coerce(Eval *e, Val v, Val target);
Val maybe_is_none(Eval *e, PySpan span, Val v, bool negate);
Val maybe_truth(Eval *e, PySpan span, Val v);
Val maybe_value(Eval *e, PySpan span, Val v, bool known);
bool maybe_is_known(const Frame *fr, PyBlockId b, PyRef r);
Val maybe_narrowed(const Frame *fr, PyBlockId from, PyBlockId to, PyRef r, Val v);

/* patterns.c */
Val match_class(Eval *e, PySpan span, Val subject, Val cls, Val names, uint32_t positional);
Val match_keys(Eval *e, Val subject, Val keys);
bool generator_taker(Eval *e, PySpan span, Val consumer);    /* false: reported */
Val generator_start(Eval *e, PySpan span, Val consumer);
Val generator_step(Eval *e, PySpan span, Val consumer, Val items, Val item);
Val generator_done(Eval *e, Val consumer, Val items);
Val generator_end(Eval *e, Val consumer, Val items);
void generator_mark(Eval *e, PyRef r);               /* building only: r is a GEN_START or GEN_PLACE of the frame */
/* May the operations built since there were `begin` take turns with those of the items of `place`, a GEN_PLACE? False: reported. */
bool generator_before_loop(Eval *e, PyRef iterated, uint32_t depth);   /* a loop over it needn't take turns with items; false: reported */
bool generator_in_order(Eval *e, PySpan span, PyRef place, uint32_t begin);

/* pyfns.c */
bool instance_of(Eval *e, Val x, Val cls, bool *known);   /* isinstance(); *known is cleared if cls is none */

/* mutable.c */
Val mutable_new(Eval *e, TyKind kind, HostRef obj, uint32_t nkey, const Val *key);
bool mutable_join(Eval *e, Val a, Val b, Val *out);
Val mutable_get(Eval *e, PySpan span, Val of, const char *name);
Val mutable_set(Eval *e, PySpan span, Val of, const char *name, Val v, bool sure, Val initial);
Val mutable_failed(Eval *e, PySpan span, const char *help, const char *name, Val was, Val is);
bool class_changes(const Eval *e, HostRef cls);
bool change_class(Eval *e, HostRef cls);
Val instance_made(Eval *e, PySpan span, Val v, uint32_t nkey, const Val *key);
Val instance_now(Eval *e, PySpan span, Val v);
uint32_t instance_names(Eval *e, Val v, const char *const **names);

Mutable *mutable_found(Mutable *m);                 /* what it is one with now */
Mutable *mutable_here(Eval *e, TyKind kind, HostRef obj, uint32_t nkey, const Val *key);
Val mutable_reference(Eval *e, Mutable *m, Ref at);
void mutable_skip(Val abs, uint32_t *at);           /* past the parts of such a value */
Val mutable_load(Eval *e, Val abs, Ref at, uint32_t *offset);
void mutable_store(Eval *e, Val abs, Val v, Ref at, uint32_t *offset);
bool holds_lazy(Ty ty);
bool devfn_makes(const DevFn *fn);                      /* storage.c: what it gives is no argument, nor a part of one */
bool lazy_changes_alone(Eval *e, const Frame *fr);      /* lazynames.c: nothing else holds what the frame's instruction
                                                         * changes in place */

/* lists.c */
bool lists_change(Eval *e, Val v);                  /* v, a tuple, may be a list that is changed: false: it is none */
Val list_operated(Eval *e, PySpan span, Val v);     /* v op= ...: ty NULL: it is no list */
bool lists_join(Eval *e, Mutable *x, Mutable *y);
Val list_made(Eval *e, const PyFunc *f, PyRef r, Val v);
Val list_of(Eval *e, uint32_t n, const Val *items);
Val list_length(Eval *e, Val v);
Val list_marked(Eval *e, Val v);                     /* a tuple as the list that it stands for */
Val tuple_marked(Eval *e, Val v);                    /* the items of a list as a tuple */
Val set_marked(Eval *e, Val v);                      /* a tuple of items that differ as a set */
Val list_given(Eval *e, Val v);                      /* what a function gave, a tuple, as a new list */
Val list_get(Eval *e, PySpan span, Val v, Val index);
void list_set(Eval *e, PySpan span, Val v, Val index, Val value);
Val list_now(Eval *e, PySpan span, Val v);          /* its items as a tuple; POISON: reported */
bool list_grows(Val v);
bool list_holds_made(Ty list);                      /* may its items be things that change? */
Val list_contains(Eval *e, PySpan span, Val v, Val item);
Val list_binary(Eval *e, PySpan span, PyBinary op, bool in_place, Val a, Val b);
Val list_compare(Eval *e, PySpan span, PyCompare op, Val a, Val b);     /* ty NULL: tuples can be compared instead */
bool slice_is_constant(Val slice);
void list_delete(Eval *e, PySpan span, Val v, Val index);
Val list_append(Eval *e, PySpan span, Val v, Val item);
Val lists_now(Eval *e, PySpan span, Val v);         /* the same of lists inside tuples, too */
Val call_with_lists(Eval *e, const CallSite *site, const DevFn *fn, uint32_t n, const Val *args, Val *out);   /* ty NULL: *out is what it takes */

/* sets.c */
Val set_of(Eval *e, PySpan span, uint32_t n, const Val *items);
Val set_with(Eval *e, PySpan span, Val set, Val item, bool only_tested);   /* of items at run time only `in` needs no number */
Val set_binary(Eval *e, PySpan span, PyBinary op, bool in_place, Val a, Val b);   /* ty NULL: not of sets */
Val set_compare(Eval *e, PySpan span, PyCompare op, Val a, Val b);         /* ty NULL: neither is a set, or an order with something else */

/* objects.c */
Val object_class(Eval *e, Val instance);
Val instance_attr(Eval *e, PySpan span, Val v, const char *name);    /* ty NULL: no such attribute; also of named tuples */
Val super_attr(Eval *e, PySpan span, Val v, const char *name);
Val eval_super(Eval *e, PySpan span, Val cls, Val self);
Val instance_with(Eval *e, PySpan span, Val v, const char *name, Val value, bool making);
Val make_instance(Eval *e, const CallSite *site, HostRef cls, uint32_t n, const Val *args);   /* ty NULL: it can't be made */
Val instance_replaced(Eval *e, const CallSite *site, Val v, uint32_t n, const Val *args);
Val instance_special(Eval *e, PySpan span, Val v, const char *name, Val other);
Val instance_number(Eval *e, PySpan span, Val v, const char *name);
Val instance_binary(Eval *e, PySpan span, PyBinary op, bool in_place, Val a, Val b);     /* ty NULL: neither class defines it */
Val instance_compare(Eval *e, PySpan span, PyCompare op, Val a, Val b);
Val make_partial(Eval *e, Val fn, Val args, Val keywords);
Val partial_from_host(Eval *e, HostRef obj);
Val call_partial(Eval *e, const CallSite *site, Val fn, uint32_t n, const Val *args);

/* calls.c */
PyFunc *func_for(Eval *e, HostRef code);            /* NULL: reported */
/* A result as the function's declared signature has it; the value itself if it declares none. */
Val call_declared_result(Eval *e, const CallSite *site, const Instance *inst, Val result);
Val call_devfn(Eval *e, const CallSite *site, const DevFn *fn, uint32_t n, const Val *args);
Val call_python(Eval *e, const CallSite *site, const Callee *callee, Val fn, uint32_t n, const Val *args);

/* masks.c */
bool is_mask(Val a, Val i);                         /* i has a bool for each element of the array a */
bool mask_changes(const Frame *fr, PyRef subscript);    /* it is the a[mask] of `a[mask] op= v` */
bool mask_operator(const Frame *fr, PyRef op);          /* it is the operator of one */
/* What makes a number of a[mask] at once, "numpy.sum" or "builtins.len"; NULL: nothing does. */
const char *mask_reduced(Eval *e, const Frame *fr, PyRef subscript);
Val mask_number(Eval *e, PySpan span, const char *path, Val a, Val mask);   /* that number */
void mask_put(Eval *e, PySpan span, Val target, Val mask, Val values);  /* target[mask] = values, an array or a tuple of numbers */

/* step.c */
bool is_list_display(const PyFunc *f, PyRef r);
Val eval_step(Eval *e, Frame *fr, PyRef r);         /* ty NULL: the instruction never returns */
Val eval_exception(Eval *e, PySpan span, Val v);      /* what `raise v` raises: TY_EXCEPTION, or POISON */

/* typetests.c; ty NULL: this compares no types, or as other values */
Val compare_types(Eval *e, const Frame *fr, Val x, Val y);
Val types_among(Eval *e, const Frame *fr, Val x, Val types);

/* foreign.c */
Val call_foreign(Eval *e, const CallSite *site, HostRef obj, uint32_t n, const Val *args);

/* printfns.c */
Val eval_format(Eval *e, PySpan span, const char *what, char conversion, Val v, Val spec /* maybe absent */);
Val eval_join(Eval *e, PySpan span, uint32_t n, const Val *pieces);          /* the pieces of an f-string */
bool text_join(Eval *e, Val a, Val b, Val *out);                             /* of constant strings: one of them; false: they aren't */
Val text_coerce(Eval *e, Val v, Val target);                                 /* to such a join */
Val text_compare(Eval *e, PySpan span, PyCompare op, Val a, Val b);          /* ty NULL: not of such a join */
Val text_binary(Eval *e, PySpan span, PyBinary op, Val a, Val b);            /* ty NULL: no operation on text */
/* What goes back to Python from a host function, and its type; false: reported. Numbers and tuples come as they are; an ARG_TEXT
 * has values as records have them, for gpu._messages. */
bool host_result(Eval *e, PySpan span, Val v, RefVec *out, ArgType *type);
void eval_raise(Eval *e, PySpan span, Val exception);                        /* building only */
void raise_index_error(Eval *e, PySpan span, Val index, uint32_t axis, Val n); /* building only: NumPy's IndexError */

/* recursion.c */
Instance *running_instance(const Eval *e, const PyFunc *f, const Callee *c, uint32_t n, const Val *args);   /* this call is inside of; or NULL */
bool recursion_multiplies(Eval *e, const PyFunc *f);   /* constants make very many instances of it */
bool widen_recursion(Eval *e, const PyFunc *f, uint32_t n, const Val *args);   /* false: nothing that could be */
void widen_arguments(Eval *e, const PyFunc *f, uint32_t n, Val *args);
Recursion *recursion_of(const Eval *e, const Instance *inst);      /* being built; or NULL */
Val build_recursive(Eval *e, Instance *inst, const Callee *callee, const Val *args);
Val call_again(Eval *e, PySpan span, Recursion *r, const Callee *callee, const Val *args);
Ref frame_memory(Eval *e, uint64_t bytes);          /* of the innermost activation */
Val val_without_constants(Eval *e, Val v);

/* frames.c: gives the recursions their ways back and their stack. */
void finish_recursions(Eval *e);

/* infer.c */
FuncEntry *func_entry(Eval *e, const PyFunc *f);    /* there is one */
void forget_instances(Eval *e, const Instance *since);     /* those made after it; NULL: all */
void spend_steps(Eval *e, uint32_t n);
bool same_callee(const Eval *e, const Callee *a, const Callee *b);
bool infer_edge_taken(const Instance *inst, PyBlockId from, PyBlockId to);
Instance *infer_instance(Eval *e, const PyFunc *f, const Callee *callee, uint32_t nargs, const Val *args);

void infer_again(Eval *e, Instance *inst, const PyFunc *f);    /* another version of the function */

/* unroll.c */
void unroll_until_typed(Eval *e, Instance *inst);
/* storage.c: the PHIs of arrays of the thread's own that have memory, into which the edges copy (by PyRef). Reports arrays
 * that would be overwritten while they are in use. */
const bool *phis_that_copy(Eval *e, const Instance *inst);
bool *loop_blocks(Arena *arena, const PyFunc *f);   /* which blocks lie in loops (some others may count, too) */
typedef struct EdgeCopy { Ref to; Elem elem; Val v; Ref part /* or REF_NONE: of an object, not of an array */; } EdgeCopy;
typedef VEC(EdgeCopy) EdgeCopies;
Val copying_phi(Eval *e, Val abstract);
Val mutable_like(Eval *e, Val abstract);            /* mutable.c: such an object, for copies */
void mutable_copy(Eval *e, EdgeCopies *c, Val to, Val from);
void edge_read(Eval *e, EdgeCopies *c, Val phi, Val v);     /* all PHIs of an edge are read before the first is written */
void edge_write(Eval *e, const EdgeCopies *c);

/* undef.c */
PySpan span_of_name(const Eval *e, const PyFunc *f, PySpan span, const char *name);   /* where the line has the name, if once */
PySpan span_first_line(const Eval *e, const PyFunc *f, PySpan span);
void check_defined(Eval *e, Frame *fr, PyBlockId use, PyRef operand, PySpan span);
/* The same expression of the same values? `reads`: also of what is read from memory, if nothing was written in between. */
bool congruent(const PyFunc *f, PyRef a, PyRef b, bool reads);

/* build.c */
/* A call of a function that has overloads of Numba's kind (overloads.c); false: it has none, or none for these types where
 * the function has a meaning of its `own`. */
bool call_overload(Eval *e, const CallSite *site, HostRef function, bool own, uint32_t n, const Val *args, Val *out);
Val overloaded_attr(Eval *e, PySpan span, Val v, const char *name);    /* ty NULL: a program gave the type no such attribute */
ArgType argtype_of(Eval *e, Ty ty);                  /* what the host makes a Python object of; ARG_NONE: it can't */
Val build_inline(Eval *e, Instance *inst, const Callee *callee, const Val *args);     /* at the current place; ty NULL: never returns */
/* The body at the current place, its results' PHIs in `exit`; returns those. */
Val build_at(Eval *e, Instance *inst, const Callee *callee, const Val *args, BlockId exit);
void build_kernel(Eval *e, Instance *inst, const Val *args);

/* variables.c */
/* The variables of the block that get their values before instruction number i, from the next-th on: into the memory where a
 * debugger finds them. Returns the next one. */
uint32_t name_variables(Eval *e, Frame *fr, const PyBlock *block, uint32_t next, uint32_t i);
uint32_t def_line(Eval *e, const PyFunc *f);        /* decorators come before; not looked for unless `variables` */

/* contract.c */
void contract_products(IrModule *m, bool fma);

#endif
