/* autosize.c - k[gpu.auto]: how many threads, along which axes.
 *
 * The largest array says how many. In two and three dimensions the code says which of the array's axes the thread's x
 * goes along: in `if i < a.shape[0] and j < a.shape[1]` that is the axis whose size x is compared with, so that both
 * `i, j = gpu.grid(2)` and `j, i = gpu.grid(2)` reach every element. */
#include "core.h"

enum { DEPTH = 8, MOST_LIMITS = sizeof((Indices){0}).limits / sizeof((Indices){0}).limits[0] };

/* ---- what the code says ------------------------------------------------------------------------ */

/* What a sum is made of: indices of blocks, one bit for each of x, y, z, and sizes of arrays. */
typedef struct Terms {
    uint32_t threads, nsizes;
    const IrParam *size;
} Terms;

static void add_terms(const IrModule *m, Ref r, int depth, Terms *t) {
    const Instr *in = &m->instrs.at[r];
    if (in->op == OP_SREG && in->sub >= SREG_CTAID_X && in->sub <= SREG_CTAID_Z)
        t->threads |= 1u << (in->sub - SREG_CTAID_X);
    if (in->op == OP_PARAM && m->params.at[in->imm].kind == PARAM_SHAPE) {
        t->nsizes++;
        t->size = &m->params.at[in->imm];
    }
    bool two = in->op == OP_ADD || in->op == OP_SUB || in->op == OP_MUL;
    if (!depth || !(two || in->op == OP_CONVERT)) return;
    add_terms(m, in->args[0], depth - 1, t);
    if (two) add_terms(m, in->args[1], depth - 1, t);
}

/* The number of the only bit, or -1. */
static int only(uint32_t bits) { return bits == 1 ? 0 : bits == 2 ? 1 : bits == 4 ? 2 : -1; }

static void add_limit(const Terms *index, const Terms *size, Indices *out) {
    int thread = only(index->threads);
    if (thread < 0 || index->nsizes || size->threads || size->nsizes != 1 || size->size->axis > UINT8_MAX) return;
    for (uint32_t i = 0; i < out->nlimits; i++)
        if (out->limits[i].thread == thread && out->limits[i].leaf == size->size->leaf &&
            out->limits[i].axis == size->size->axis)
            return;
    if (out->nlimits == MOST_LIMITS) return;
    out->limits[out->nlimits].leaf = size->size->leaf;
    out->limits[out->nlimits].axis = (uint8_t)size->size->axis;
    out->limits[out->nlimits++].thread = (uint8_t)thread;
}

static bool tells_threads_apart(Sreg s) {
    return (s >= SREG_TID_X && s <= SREG_TID_Z) || (s >= SREG_CTAID_X && s <= SREG_CTAID_Z) || s == SREG_LANEID;
}

/* Could it keep a thread from an element? `i < 0`, of every index that may count from the end, doesn't. */
static bool may_bound(const IrModule *m, const Instr *in) {
    if (in->op == OP_CMP) {
        const Instr *to = &m->instrs.at[in->args[1]];
        return in->sub != PRED_LT || to->op != OP_CONST || to->imm != 0;
    }
    switch (in->op) {
    case OP_MIN:
    case OP_MAX:
    case OP_AND:
    case OP_SHR:
    case OP_FLOORDIV:
    case OP_FLOORMOD:
    case OP_TRUNCDIV:
    case OP_TRUNCMOD: return true;
    default: return false;
    }
}

void indices_of(const IrModule *m, Indices *out) {
    *out = (Indices){.axes = 1};
    for (uint32_t i = 1; i < m->instrs.n; i++) {
        const Instr *in = &m->instrs.at[i];
        if (in->op == OP_SREG && tells_threads_apart((Sreg)in->sub)) out->any = true;
        if (in->op == OP_SREG && (in->sub == SREG_TID_Y || in->sub == SREG_CTAID_Y) && out->axes < 2) out->axes = 2;
        if (in->op == OP_SREG && (in->sub == SREG_TID_Z || in->sub == SREG_CTAID_Z)) out->axes = 3;
        out->compares = out->compares || may_bound(m, in);
        if (in->op != OP_CMP) continue;
        Terms a = {0}, b = {0};
        add_terms(m, in->args[0], DEPTH, &a);
        add_terms(m, in->args[1], DEPTH, &b);
        add_limit(&a, &b, out);
        add_limit(&b, &a, out);
    }
}

/* ---- the size ---------------------------------------------------------------------------------- */

static uint32_t axes_by_arguments(const Bound *b) {
    uint32_t axes = 1;
    for (uint32_t i = 0; i < b->nleaves; i++)
        if (b->leaves[i].is_array && b->leaves[i].ndim > (int)axes) axes = (uint32_t)b->leaves[i].ndim;
    return axes < 3 ? axes : 3;
}

static bool is_limit(const Indices *known, uint32_t leaf) {
    for (uint32_t i = 0; i < known->nlimits; i++)
        if (known->limits[i].leaf == leaf) return true;
    return false;
}

/* Of equally large ones, the first whose sizes limit indices: a transpose has the other one's shape reversed. */
static const Leaf *largest_array(const Bound *b, const Indices *known, uint64_t *most) {
    const Leaf *largest = NULL;
    for (uint32_t i = 0; i < b->nleaves; i++) {
        const Leaf *l = &b->leaves[i];
        uint64_t n = 1;
        if (!l->is_array || (known->axes > 1 && l->ndim < (int)known->axes)) continue;
        for (int d = 0; d < l->ndim; d++) n *= (uint64_t)l->shape[d];
        bool as_large =
            largest && n == *most && is_limit(known, i) && !is_limit(known, (uint32_t)(largest - b->leaves));
        if (largest && n <= *most && !as_large) continue;
        largest = l;
        *most = n;
    }
    return largest;
}

/* Which axis of the array each of x, y, z goes along: what the code says of this array, else of another, else the
 * first that is left. */
static void order_of(const Bound *b, const Indices *known, const Leaf *array, uint32_t axes, int order[3]) {
    uint32_t taken = 0;
    for (uint32_t thread = 0; thread < axes; thread++) {
        order[thread] = -1;
        for (int others = 0; others < 2 && order[thread] < 0; others++)
            for (uint32_t i = 0; i < known->nlimits && order[thread] < 0; i++) {
                uint32_t axis = known->limits[i].axis;
                if (known->limits[i].thread != thread || (int)axis >= array->ndim || taken >> axis & 1) continue;
                if (!others && &b->leaves[known->limits[i].leaf] != array) continue;
                order[thread] = (int)axis;
            }
        if (order[thread] >= 0) taken |= 1u << order[thread];
    }
    for (uint32_t thread = 0; thread < axes; thread++)
        for (int axis = 0; order[thread] < 0; axis++)
            if (!(taken >> axis & 1)) taken |= 1u << (order[thread] = axis);
}

/* Blocks are whole, so that the last ones reach beyond the array. */
static int warn_of_too_many(const Bound *b, const Config *c, const uint64_t shape[3], uint32_t axes) {
    for (uint32_t d = 0; d < axes; d++) {
        uint64_t threads = (uint64_t)c->launch.grid[d] * c->launch.block[d];
        if (threads <= shape[d]) continue;
        return PyErr_WarnFormat(
            PyExc_RuntimeWarning, 1,
            "%U[gpu.auto]: %llu threads run along %c, the array has %llu elements there, and the code "
            "never compares an index with a size, so that some threads are beyond the end: "
            "if i < len(x): ...",
            b->kernel->name, (unsigned long long)threads, "xyz"[d], (unsigned long long)shape[d]);
    }
    return 0;
}

int size_from_arguments(const Bound *b, Config *c, const Indices *known) {
    Indices unknown = {.axes = axes_by_arguments(b)};
    if (!known) known = &unknown;
    uint64_t most = 0;
    const Leaf *largest = largest_array(b, known, &most);
    if (!largest) {
        PyObject *cls = errors_class("LaunchError");
        char axes[32] = "";
        if (known->axes > 1) PyOS_snprintf(axes, sizeof axes, " of %u or more dimensions", known->axes);
        PyErr_Format(cls,
                     "k[gpu.auto]: no argument of %U is an array%s, so the size must be given: k[grid, block] or "
                     "k.forall(n)",
                     b->kernel->name, axes);
        Py_DECREF(cls);
        return -1;
    }
    uint64_t shape[3] = {most, 1, 1};
    int order[3] = {0, 1, 2};
    if (known->axes > 1) order_of(b, known, largest, known->axes, order);
    for (uint32_t d = 0; known->axes > 1 && d < known->axes; d++) shape[d] = (uint64_t)largest->shape[order[d]];
    config_for_threads(c, shape, known->axes);
    if (known != &unknown && known->any && !known->compares) return warn_of_too_many(b, c, shape, known->axes);
    if (known == &unknown || known->any || most < 2) return 0;
    return PyErr_WarnFormat(
        PyExc_RuntimeWarning, 1,
        "%U[gpu.auto]: the code never asks for its thread's index, such as gpu.grid(1), so each of "
        "the threads does the same, all at the same time; for a loop in one thread launch %U[1, 1], "
        "or let @gpu.parallel make a kernel of it",
        b->kernel->name, b->kernel->name);
}
