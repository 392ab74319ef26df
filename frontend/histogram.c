/* histogram.c - gpu.block.histogram: how often each number comes among the values of a block.
 *
 * The counts are a shared array of the place that makes the call. The threads clear it together, count by atomic
 * additions, and wait for each other around both, so that whoever reads the result of the call before is done. */
#include "warpfns.h"

static void barrier(Eval *e) { e_emit(e, OP_BARRIER, T_VOID, 0, NULL, 0, 0); }

/* ---- the threads of the block go through 0 ... n-1 together ------------------------------------------------------ */
typedef struct Loop {
    BlockId head, done;
    Ref i, step; /* i64 */
} Loop;

static Loop begin_loop(Eval *e, Ref n) {
    Loop l = {.head = e_new_block(e), .done = e_new_block(e), .step = e_conv(e, T_I64, block_threads(e))};
    BlockId before = e_current(e), body = e_new_block(e);
    Ref first = e_conv(e, T_I64, block_rank(e));
    e_jump(e, l.head);
    e_set_block(e, l.head);
    l.i = e_phi(e, T_I64);
    e_phi_add(e, l.i, before, first);
    e_branch(e, e_cmp(e, PRED_LT, l.i, n), body, l.done);
    e_set_block(e, body);
    return l;
}

static void end_loop(Eval *e, const Loop *l) {
    e_phi_add(e, l->i, e_current(e), e_op2(e, OP_ADD, T_I64, l->i, l->step));
    e_jump(e, l->head);
    e_set_block(e, l->done);
}

/* ---- counting ------------------------------------------------------------------------------------------------------
 */
typedef struct Histogram {
    const CallSite *site;
    Ref counts; /* the array's address */
    Wide bins;
    Val key; /* absent: a value is its bin */
} Histogram;

static Ref bin_address(Eval *e, const Histogram *h, Ref bin) {
    return e_emit(e, OP_ADDR, T_PTRS, 2, (Ref[]){h->counts, bin}, 0, type_bytes(T_I32));
}

static void clear(Eval *e, const Histogram *h) {
    Loop l = begin_loop(e, e_int(e, T_I64, (int64_t)h->bins));
    e_store(e, bin_address(e, h, l.i), e_int(e, T_I32, 0));
    end_loop(e, &l);
}

/* Values without a bin aren't counted. False: reported. */
static bool count(Eval *e, const Histogram *h, Val value) {
    const CallSite call = {.span = h->site->span, .name = "key", .at = h->site->at};
    Val bin = h->key.ty ? eval_call(e, &call, h->key, 1, &value) : value;
    if (val_poisoned(bin)) return false;
    if (!val_is_scalar(bin) || !(dt_is_int(val_dtype(bin)) || val_dtype(bin) == DT_BOOL)) {
        e_fail(e, h->site->span, "a bin is an integer; key=lambda x: int(...) makes one of a value", DIAG_ARG_TYPE,
               h->key.ty ? "key" : h->site->name, e_text(e, bin));
        return false;
    }
    Ref r = val_conv_ref(e, bin, DT_I64), most = e_int(e, T_U64, (int64_t)h->bins), one = e_int(e, T_I32, 1);
    BlockId adds = e_new_block(e), joined = e_new_block(e);
    e_branch(e, e_cmp(e, PRED_LT, e_conv(e, T_U64, r), most), adds, joined);
    e_set_block(e, adds);
    Ref args[2] = {bin_address(e, h, r), one};
    e_emit(e, OP_ATOMIC, T_I32, 2, args, ATOMIC_SUB_OF(ATOMIC_ADD, SCOPE_BLOCK, ORDER_RELAXED), 0);
    e_jump(e, joined);
    e_set_block(e, joined);
    return true;
}

/* One value for each thread, several, or an array whose elements the threads share out. */
static bool count_all(Eval *e, const Histogram *h, Val values) {
    PySpan span = arg_span(h->site, 0);
    if (values.ty->kind == TY_TUPLE) {
        for (uint32_t i = 0; i < values.ty->n; i++)
            if (!count(e, h, values.items[i])) return false;
        return true;
    }
    if (values.ty->kind != TY_ARRAY) return count(e, h, values);
    if (values.ty->ndim != 1) {
        bad_arg(e, h->site, 0, values, "x.ravel() has one axis");
        return false;
    }
    Loop l = begin_loop(e, val_ref(e, eval_len(e, span, values)));
    bool ok = count(e, h, array_element(e, span, values, val_rt_int(e, l.i)));
    end_loop(e, &l);
    return ok;
}

Val fn_block_histogram(Eval *e, const CallSite *site, uint32_t n, const Val *args) {
    static const char *const params[] = {"values", "bins", "?key"};
    Val v[3];
    Histogram h = {.site = site};
    if (!call_bind(e, site, n, args, 3, params, v)) return val_poison(e);
    if (!val_is_scalar(v[1]) || !dt_is_int(val_dtype(v[1])) || !val_as_int(v[1], &h.bins))
        return e_fail(e, arg_span(site, 1), "the counts are shared memory, whose size is a constant", DIAG_ARG_CONSTANT,
                      site->name, "bins", e_text(e, v[1]));
    if (h.bins < 1) return e_fail(e, arg_span(site, 1), NULL, DIAG_ARG_VALUE, site->name, "it needs a bin to count in");
    h.key = v[2].ty && v[2].ty->kind == TY_NONE ? (Val){0} : v[2];
    Val counts = shared_array(e, site, DT_I32, 1, &v[1]);
    if (val_poisoned(counts)) return counts;
    h.counts = counts.items[0].ref[0];
    barrier(e);
    clear(e, &h);
    barrier(e);
    if (!count_all(e, &h, v[0])) return val_poison(e);
    barrier(e);
    return counts;
}
