/* lower.h - from our IR to LLVM IR: what the files lower*.c share.
 *
 * lower.c walks the module; lower_int.c, lower_float.c, lower_math.c and lower_mem.c hold one function
 * for each operation, lower_atomic.c atomics and fences, lower_wide.c and lower_hints.c accesses that are wide or have
 * hints; lower_nv.c, lower_nv_sync.c and lower_cpu.c hold what only one target has, behind LowerTarget.
 *
 * How values are held:
 *   bool        i1 (a byte in memory)
 *   i8 ... u64  the LLVM integer of that width
 *   f16, bf16   i16, the bits: widened to f32 for arithmetic and rounded back (lower_float.c)
 *   f32, f64    float, double
 *   pointers    LLVM pointers, in the address space that the target gives the IR type
 *
 * The functions for pure operations work on scalars and on vectors alike: types come from ll_type and
 * constants from ll_int and ll_float, which splat when `lanes` is above one. */
#ifndef GPU_LOWER_H
#define GPU_LOWER_H

#include "compiler.h"

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

typedef struct Lower Lower;
typedef LLVMValueRef Val;
typedef LLVMTypeRef Ty;

/* A row of mathfn.def. */
typedef struct MathInfo {
    const char *libdevice, *libm;
    uint8_t args;
    bool vector;        /* libmvec has it */
    const char *native; /* LLVM's intrinsic */
} MathInfo;

/* What a target brings. `begin` makes the function and leaves the builder where the entry block's code goes. */
typedef struct LowerTarget {
    unsigned address_space[T__COUNT]; /* of the pointer types */
    void (*begin)(Lower *L);
    Val (*param)(Lower *L, uint32_t index);
    Val (*sreg)(Lower *L, Sreg r);
    Val (*library)(Lower *L, const MathInfo *fn, Type t, Ty result, unsigned n, Val *args);
    void (*leave)(Lower *L, const Instr *ret);   /* RET */
    void (*raise)(Lower *L, const Instr *raise); /* RAISE */
    void (*where)(Lower *L, Val *out);           /* thread x, y, z, block x, y, z: of what goes into a record */
    Val (*shared)(Lower *L, const Instr *in);    /* SHARED; this and the next: NULL where legal.c refuses them */
    Val (*sync)(Lower *L, const Instr *in, Val *a); /* operations with SYNC */
    Val (*clock)(Lower *L, const Instr *in);
    Val (*local)(Lower *L, Ref r);               /* ALLOCA; NULL: of the function's stack */
    bool parks;                                  /* `sync` ends the block: its thread goes on in another region */
    void (*end)(Lower *L);
} LowerTarget;

struct Lower {
    const IrModule *m;
    const CompileOptions *o;
    const LowerTarget *target;
    LLVMContextRef ctx;
    LLVMModuleRef mod;
    LLVMBuilderRef b;
    unsigned lanes;
    bool f16_arithmetic; /* the target has f16 add, mul and fma of its own */
    bool f16_convert;    /* ... converts f16 from and to f32 */
    bool f16_from_f64;   /* ... rounds f64 to f16 in one step */
    bool bf16_convert;   /* ... rounds f32 to bf16 */
    bool minimum_of_numbers; /* ... has minima and maxima of f32 and f64 that ignore a NaN and know zero's sign */
    unsigned simd_bits;  /* the CPU's widest vectors that libmvec has functions for */
    Ty i1, i8, i16, i32, i64, half, bfloat, f32, f64, void_;
    struct Debug *debug; /* debuginfo.c; NULL without line information */

    Val fn;                          /* the function that holds the body */
    LLVMBasicBlockRef entry;         /* its first block, for allocas */
    Val *value;                      /* of each Ref */
    bool *done;                      /* of each Ref: made with its neighbours (lower_wide.c) */
    LLVMBasicBlockRef *first, *last; /* of each of our blocks: expansions may split a block */
    Val *data;                       /* globals of the module's constant data */
    Val error;                       /* pointer to the error record, when the kernel raises */
    Val print[3];                    /* fields of the PrintTarget, when it prints: a pointer, i64, i64 */
    struct CpuState *cpu;            /* lower_cpu.c */
    const struct Vectors *vectors;   /* of a CPU kernel that runs in vectors of threads, else NULL */
    struct Body *body;               /* lower_cpu_vector.c */
    Val own_stride;                  /* of a thread's own arrays, in elements, where other threads' lie between; else NULL */
    const struct Regions *regions;   /* of a CPU kernel whose threads wait for each other, else NULL */
    Val *variable;                   /* by Ref: the stack slot of a value that lives across a wait; NULL: none. May be NULL */
};

/* ---- lower.c -------------------------------------------------------------------------------- */
/* Fills `mod` with the lowered kernel or host function. */
void lower_module(LLVMContextRef ctx, LLVMModuleRef mod, LLVMTargetMachineRef tm, const IrModule *m,
                  const CompileOptions *o, const struct Regions *regions, const struct Vectors *vectors);
/* Lowers n blocks, given in postorder, into L->fn; the builder's place leads to order[n - 1]. Edges from other blocks are
 * left out. */
void lower_blocks(Lower *L, const BlockId *order, uint32_t n);
void lower_again(Lower *L, Ref r);    /* computes a value at the builder's place */
Val lower_root(Lower *L, Ref r);      /* ... of one that has no operands */
Val lower_operation(Lower *L, const Instr *in, Val *args);   /* of one that takes only its operands' values */
Val ll_value(Lower *L, Ref r);        /* a value as it is here */
void lower_regions(Lower *L);         /* lower_cpu_regions.c: all functions of a kernel with regions */
void cpu_lower_vectors(Lower *L, const BlockId *order, uint32_t n);   /* lower_cpu.c: the body of a kernel without waits */

extern const LowerTarget lower_nv, lower_nv_function, lower_cpu, lower_host, lower_cpu_parked;

Ty ll_type(const Lower *L, Type t); /* of a value, with lanes */
Ty ll_scalar(const Lower *L, Type t);
Ty ll_memory_type(const Lower *L, Type t);    /* bool is a byte there */
Ty ll_wide(const Lower *L, Ty scalar);        /* the scalar type with lanes */
Val ll_int(const Lower *L, Ty t, uint64_t v); /* a constant of the integer type or vector t */
Val ll_float(const Lower *L, Ty t, double v);
Val ll_intrinsic(Lower *L, const char *name, Ty overload, unsigned n, Val *args); /* overloaded on one type or none */
Val ll_intrinsic2(Lower *L, const char *name, Ty o1, Ty o2, unsigned n, Val *args);
Val ll_select(Lower *L, Val c, Val a, Val b);
Val ll_icmp(Lower *L, LLVMIntPredicate p, Val a, Val b);
Val ll_fcmp(Lower *L, LLVMRealPredicate p, Val a, Val b);
Val ll_relaxed(Lower *L, Val v); /* puts the fast-math flags on a float instruction */
void ll_attribute(const Lower *L, Val fn, LLVMAttributeIndex at, const char *name, uint64_t v);
void ll_string_attribute(const Lower *L, Val fn, const char *name, const char *value);
void ll_range(Lower *L, Val v, uint64_t low, uint64_t high); /* !range [low, high) on an i32 load or call */
LLVMBasicBlockRef ll_block(Lower *L, const char *name);
bool ll_const_int(const IrModule *m, Ref r, uint64_t *out);

/* ---- one function for each operation: (lower, instruction, operands) ------------------------- */
typedef Val LowerFn(Lower *L, const Instr *in, Val *a);
LowerFn lower_add, lower_sub, lower_mul, lower_div, lower_fma, lower_neg, lower_abs, lower_floordiv, lower_floormod,
    lower_truncdiv, lower_truncmod, lower_min, lower_max, lower_fmin, lower_fmax, lower_nanmin, lower_nanmax,
    lower_mulhi, lower_pow, lower_and, lower_or, lower_xor, lower_not, lower_shl, lower_shr, lower_popc, lower_clz,
    lower_ctz, lower_brev, lower_cmp, lower_select, lower_convert, lower_bitcast, lower_math,
    lower_approx;
LowerFn lower_prmt, lower_fshl, lower_fshr, lower_atomic, lower_cas, lower_fence, lower_pause;
LowerFn lower_addr, lower_aligned, lower_address, lower_load, lower_store, lower_alloca, lower_data;

/* ---- lower_wide.c: makes a load or store and its neighbours as one access; false: it stands alone ---- */
bool lower_wide(Lower *L, Ref r);

/* ---- lower_hints.c: accesses of 1 to 16 bytes whose flags `sub` have a hint for the caches ---- */
bool ll_hinted(const Lower *L, uint16_t sub, Val at);
Val ll_load_hinted(Lower *L, uint16_t sub, Ty memory, unsigned bytes, Val at);
void ll_store_hinted(Lower *L, uint16_t sub, unsigned bytes, Val at, Val v);

/* lower_approx.c: what fastmath makes of a function of f32 on a GPU; NULL: it takes the usual one */
Val lower_fastmath(Lower *L, const MathInfo *fn, Val *args);

void ll_mark_invariant(Lower *L, Val load); /* lower_mem.c */

/* ---- lower_int.c ---- */
LowerFn lower_int_floordiv, lower_int_floormod, lower_int_truncdiv, lower_int_truncmod;

/* ---- lower_float.c: small floats and the float half of the operations that take both ---- */
Val float_widen(Lower *L, Type t, Val v);  /* f16, bf16 to f32; others as they are */
Val float_narrow(Lower *L, Type t, Val v); /* f32 to f16, bf16, rounded to nearest even */

/* ---- lower_math.c ---- */
extern const MathInfo math_info[MATH__COUNT];
Val math_call(Lower *L, const char *symbol, Ty result, unsigned n, Val *args); /* a pure external function */
bool math_in_vectors(MathFn fn);           /* MATH takes vectors, on the CPU */
Val math_fmod(Lower *L, Type t, Val a, Val b);

/* ---- lower_nv_sync.c ---- */
Val lower_nv_shared(Lower *L, const Instr *in);
Val lower_nv_sync(Lower *L, const Instr *in, Val *a);
Val lower_nv_clock(Lower *L, const Instr *in);

/* ---- lower_raise.c ---- */
/* Puts the exception of RAISE into the error record, unless another thread came first. The builder then stands where the
 * thread ends. */
void lower_record(Lower *L, const Instr *raise);
/* ... into a record that no other thread has, over what is there. */
void lower_record_again(Lower *L, const Instr *raise, const Val *args);
Val lower_as_8_bytes(Lower *L, Type t, Val v); /* a value as records have it */

/* ---- lower_foreign.c ---- */
Val lower_call(Lower *L, const Instr *in);

/* ---- lower_print.c ---- */
void lower_print(Lower *L, const Instr *in, const Val *args);
/* The hidden parameters of what raises or prints, behind n others: their types; then L->error and L->print from L->fn. */
uint32_t hidden_types(Lower *L, unsigned address_space, Ty *types, uint32_t n);
void hidden_params(Lower *L, uint32_t n);

/* ---- api.c ---- */
/* The offset of the next parameter of type t in the launch's buffer, whose end so far is *end. */
uint32_t param_offset(uint32_t *end, Type t);
const char *entry_symbol(const IrModule *m, const CompileOptions *o);

/* ---- debuginfo.c ---- */
void debug_begin(Lower *L);
void debug_at(Lower *L, uint32_t span);
void debug_variable(Lower *L, Ref place);   /* a variable may lie there */
void debug_end(Lower *L);

#endif
