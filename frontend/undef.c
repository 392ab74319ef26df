/* undef.c - is a variable assigned on every path to its use?
 *
 * A PHI that an unassigned value may reach is looked at when it is used: from each edge on which it is unassigned,
 * the paths to the use are walked. A path is dropped where it can't be taken: after an edge that fixes the PHIs of
 * a block to constants that decide its branch (`for k in range(3)` runs at least once; a flag set beside the
 * variable), and where a condition that was decided one way earlier on the path would have to go the other way. */
#include "evaluator.h"

#include <string.h>

enum { MAX_STEPS = 2000, MAX_FACTS = 24, MAX_EXPR = 12 };

typedef struct Fact {
    PyRef cond;
    bool taken;
} Fact;

typedef struct Search {
    Eval *e;
    Frame *fr;
    const PyFunc *f;
    PyRef target; /* the PHI that is used */
    PyBlockId use;
    uint32_t steps, nfacts;
    Fact facts[MAX_FACTS];
    bool *on_path;          /* blocks of the current path */
    PyBlockId first_branch; /* of a path that was found: its first branch, and the way it goes; UINT32_MAX: none */
    uint32_t first_way;
    Val *scratch; /* the instance's cells, where one block's may be replaced for a moment */
} Search;

/* ---- conditions -------------------------------------------------------------------------------------- */

static bool congruent_at(const PyFunc *f, PyRef a, PyRef b, bool reads, uint32_t depth) {
    if (a == b) return true;
    const PyInstr *x = &f->instrs.at[a], *y = &f->instrs.at[b];
    if (!a || !b || depth > MAX_EXPR || x->op != y->op || x->imm != y->imm || x->imm2 != y->imm2 ||
        x->nargs != y->nargs || x->obj != y->obj || x->kwnames.n || y->kwnames.n)
        return false;
    if (!x->name != !y->name || (x->name && strcmp(x->name, y->name) != 0)) return false;
    switch (x->op) {
    case PY_CONST:
    case PY_GLOBAL:
    case PY_CLOSURE:
    case PY_UNARY:
    case PY_BINARY:
    case PY_COMPARE:
    case PY_NOT:
    case PY_ATTR:
    case PY_IS: break;
    case PY_TUPLE:
    case PY_SUBSCR:
    case PY_CALL:
        if (!reads) return false;
        break;
    default: return false;
    }
    for (uint32_t i = 0; i < x->nargs; i++)
        if (!congruent_at(f, x->args[i], y->args[i], reads, depth + 1)) return false;
    return true;
}

bool congruent(const PyFunc *f, PyRef a, PyRef b, bool reads) { return congruent_at(f, a, b, reads, 0); }

/* The condition without its nots; *flip: how often there were. */
static PyRef stripped(const PyFunc *f, PyRef c, bool *flip) {
    for (*flip = false; f->instrs.at[c].op == PY_NOT; c = f->instrs.at[c].args[0]) *flip = !*flip;
    return c;
}

static bool contradicts(const Search *s, PyRef cond, bool taken) {
    bool flip;
    PyRef c = stripped(s->f, cond, &flip);
    for (uint32_t i = 0; i < s->nfacts; i++)
        if (s->facts[i].taken != (taken != flip) && congruent(s->f, s->facts[i].cond, c, false)) return true;
    return false;
}

static void remember(Search *s, PyRef cond, bool taken) {
    bool flip;
    PyRef c = stripped(s->f, cond, &flip);
    if (s->nfacts < MAX_FACTS) s->facts[s->nfacts++] = (Fact){c, taken != flip};
}

/* After the edge from -> b, with b's PHIs at what they are on it: which way does b's branch go? -1: either. */
static int decided(const Search *s, PyBlockId from, PyBlockId b) {
    Eval *e = s->e;
    const PyBlock *block = &s->f->blocks.at[b];
    if (block->term != PYT_BRANCH) return -1;
    Instance *inst = s->fr->inst;
    Frame fr = *s->fr;
    fr.vals = s->scratch;
    e->building = false;
    e->frame = &fr;
    for (uint32_t i = 0; i < block->instrs.n; i++) {
        PyRef r = block->instrs.at[i];
        const PyInstr *in = &s->f->instrs.at[r];
        Val v = {0};
        if (in->op != PY_PHI) v = eval_step(e, &fr, r);
        for (uint32_t p = 0; in->op == PY_PHI && p < in->nargs; p++)
            if (block->preds.at[p] == from) v = inst->cell[in->args[p]];
        fr.vals[r] = v.ty && v.ty->kind != TY_UNDEF ? v : val_poison(e);
    }
    Val c = eval_truth(e, block->term_span, fr.vals[block->arg]);
    for (uint32_t i = 0; i < block->instrs.n; i++) s->scratch[block->instrs.at[i]] = inst->cell[block->instrs.at[i]];
    e->building = true;
    e->frame = s->fr;
    return val_const(c) ? (c.i ? 0 : 1) : -1;
}

/* ---- paths ------------------------------------------------------------------------------------------- */
static bool walk(Search *s, PyBlockId from, PyBlockId b, PyRef phi);

/* Over the edge b -> successor k, with `phi` unassigned in b. */
static bool walk_edge(Search *s, PyBlockId b, uint32_t k, PyRef phi) {
    const PyBlock *block = &s->f->blocks.at[b];
    PyBlockId to = block->succ[k];
    uint32_t facts = s->nfacts;
    if (!s->fr->inst->edge[b][k]) return false;
    if (block->term == PYT_BRANCH && block->succ[0] != block->succ[1]) {
        if (contradicts(s, block->arg, k == 0)) return false;
        remember(s, block->arg, k == 0);
    }
    Fact saved[MAX_FACTS];
    uint32_t nsaved = s->nfacts;
    memcpy(saved, s->facts, nsaved * sizeof *saved);
    if (to <= b) s->nfacts = 0; /* a new iteration: values of the loop are others */
    bool found = false;
    const PyBlock *next = &s->f->blocks.at[to];
    for (uint32_t i = 0; i < next->instrs.n && !found; i++) {
        PyRef r = next->instrs.at[i];
        const PyInstr *in = &s->f->instrs.at[r];
        if (in->op != PY_PHI) break;
        for (uint32_t p = 0; p < in->nargs && !found; p++)
            if (next->preds.at[p] == b && in->args[p] == phi) found = walk(s, b, to, r);
    }
    if (!found && s->f->instrs.at[phi].block != to) found = walk(s, b, to, phi);
    memcpy(s->facts, saved, nsaved * sizeof *saved);
    s->nfacts = facts;
    return found;
}

/* `phi` is unassigned at the top of b, which was entered from `from`. Is there a path to the use? */
static bool walk(Search *s, PyBlockId from, PyBlockId b, PyRef phi) {
    if (phi == s->target && b == s->use) return true;
    if (s->steps++ > MAX_STEPS) return true;
    const PyBlock *block = &s->f->blocks.at[b];
    if (s->fr->inst->stops[b] || s->on_path[b]) return false;
    int only = decided(s, from, b);
    bool found = false;
    s->on_path[b] = true;
    for (uint32_t k = 0; k < block->nsucc && !found; k++) {
        if (only >= 0 && (uint32_t)only != k) continue;
        found = walk_edge(s, b, k, phi);
        if (!found || block->term != PYT_BRANCH) continue;
        s->first_branch = b; /* callers overwrite it: the outermost is the first */
        s->first_way = k;
    }
    s->on_path[b] = false;
    return found;
}

/* The conditions that led to the end of b, as far as they are plain. */
static void facts_before(Search *s, PyBlockId b, PyBlockId to) {
    for (uint32_t n = 0; n < MAX_FACTS / 2; n++) {
        const PyBlock *block = &s->f->blocks.at[b];
        if (block->term == PYT_BRANCH && block->succ[0] != block->succ[1])
            remember(s, block->arg, block->succ[0] == to);
        if (block->preds.n != 1) return;
        to = b;
        b = block->preds.at[0];
    }
}

static bool is_unassigned(const Frame *fr, PyRef r) {
    Val v = fr->inst->cell[r];
    return v.ty && v.ty->kind == TY_UNDEF;
}

/* A path on which the PHI is unassigned at its use; *from -> *to is the edge where it starts. */
static bool find_path(Search *s, PyBlockId *from, PyBlockId *to) {
    for (PyBlockId b = 0; b < s->f->blocks.n; b++) {
        const PyBlock *block = &s->f->blocks.at[b];
        if (!s->fr->inst->reached[b]) continue;
        for (uint32_t i = 0; i < block->instrs.n; i++) {
            PyRef r = block->instrs.at[i];
            const PyInstr *in = &s->f->instrs.at[r];
            if (in->op != PY_PHI) break;
            if (!s->fr->inst->maybe_undef[r]) continue;
            for (uint32_t p = 0; p < in->nargs; p++) {
                *from = block->preds.at[p];
                *to = b;
                if (!is_unassigned(s->fr, in->args[p]) || !infer_edge_taken(s->fr->inst, *from, b)) continue;
                s->nfacts = 0;
                memset(s->on_path, 0, s->f->blocks.n * sizeof *s->on_path);
                facts_before(s, *from, b);
                s->first_branch = UINT32_MAX;
                if (walk(s, *from, b, r)) return true;
            }
        }
    }
    return false;
}

static uint32_t columns(const char *from, const char *to) {
    uint32_t n = 0;
    for (const char *p = from; p < to; p++) n += (*p & 0xc0) != 0x80;
    return n;
}

/* A loop's span covers its body: its first line is enough. */
PySpan span_first_line(const Eval *e, const PyFunc *f, PySpan span) {
    if (!span.col || span.end_line == span.line) return span;
    const char *line = e->host->source_line(e->host->self, f->file, span.line);
    return line ? (PySpan){span.line, span.col, span.line, columns(line, line + strlen(line)) + 1} : span;
}

static void note_branch(const Search *s, Diag *d, PyBlockId b, uint32_t way) {
    const PyBlock *block = &s->f->blocks.at[b];
    const PyInstr *cond = &s->f->instrs.at[block->arg];
    DiagFrame at = s->fr->at;
    at.span = cond->span.line ? cond->span : block->term_span;
    const char *text = way ? "it is unassigned when this is false" : "it is unassigned when this is true";
    if (cond->op == PY_ITER_HAS) at.span = span_first_line(s->e, s->f, at.span);
    if (cond->op == PY_ITER_HAS)
        text = way ? "it is unassigned when this loop has no iteration"
                   : "it is unassigned in the first iteration of this loop";
    diag_note(s->e->diags, d, &at, "%s", text);
}

/* The path in words: the nearest branch before the edge where it starts, else the first one after it. */
static void note_path(const Search *s, Diag *d, PyBlockId from, PyBlockId to) {
    for (uint32_t n = 0; n < s->f->blocks.n; n++) {
        const PyBlock *b = &s->f->blocks.at[from];
        if (b->term == PYT_BRANCH && b->succ[0] != b->succ[1]) {
            note_branch(s, d, from, b->succ[0] == to ? 0 : 1);
            return;
        }
        if (b->preds.n != 1) break;
        to = from;
        from = b->preds.at[0];
    }
    if (s->first_branch != UINT32_MAX) note_branch(s, d, s->first_branch, s->first_way);
}

static bool word_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || (c & 0x80);
}

/* Loads of variables have no place of their own: the only occurrence of the name in the line, if there is one. */
PySpan span_of_name(const Eval *e, const PyFunc *f, PySpan span, const char *name) {
    const char *line = span.col ? e->host->source_line(e->host->self, f->file, span.line) : NULL;
    size_t n = strlen(name);
    const char *found = NULL;
    for (const char *p = line; p && (p = strstr(p, name)); p += n) {
        if ((p > line && word_char(p[-1])) || word_char(p[n])) continue;
        if (found) return span;
        found = p;
    }
    if (!found) return span;
    uint32_t col = columns(line, found) + 1;
    return (PySpan){span.line, col, span.line, col + (uint32_t)n};
}

enum { NAME_DEPTH = 16 };

/* The variable that a value may come from unassigned: `k if c else 0` has no name of its own. */
static const char *name_behind(const Frame *fr, PyRef r, unsigned depth) {
    const PyInstr *in = &fr->inst->f->instrs.at[r];
    if (in->name) return in->name;
    for (uint32_t i = 0; in->op == PY_PHI && depth && i < in->nargs; i++)
        if (is_unassigned(fr, in->args[i]) || fr->inst->maybe_undef[in->args[i]])
            return name_behind(fr, in->args[i], depth - 1);
    return "this value";
}

void check_defined(Eval *e, Frame *fr, PyBlockId use, PyRef operand, PySpan span) {
    if (!e->building) return;
    const char *name = name_behind(fr, operand, NAME_DEPTH);
    Search s = {.e = e, .fr = fr, .f = fr->inst->f, .target = operand, .use = use};
    if (is_unassigned(fr, operand)) {
        e_diag(e, span_of_name(e, s.f, span, name), DIAG_NEVER_ASSIGNED, name);
        return;
    }
    if (!fr->inst->maybe_undef[operand]) return;
    s.on_path = ARENA_ARRAY(e->arena, bool, s.f->blocks.n);
    s.scratch = ARENA_ARRAY(e->arena, Val, s.f->instrs.n);
    memcpy(s.scratch, fr->inst->cell, s.f->instrs.n * sizeof *s.scratch);
    PyBlockId from, to;
    if (!find_path(&s, &from, &to)) return;
    bool zero = e_numba(e) && fr->inst->cell[operand].ty->kind != TY_RECORD; /* there is no record at address 0 */
    Diag *d = e_diag(e, span_of_name(e, s.f, span, name), zero ? DIAG_MAYBE_UNASSIGNED : DIAG_NOT_ASSIGNED, name);
    if (!d) return;
    note_path(&s, d, from, to);
    if (!zero) diag_help(e->diags, d, "give '%s' a value before that", name);
}
