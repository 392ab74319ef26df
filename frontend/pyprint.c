/* pyprint.c - the text of a PyFunc: what `inspect("bytecode")` shows and what the tests compare.
 *
 * Without spans it is the same for one source under all Python versions. */
#define _POSIX_C_SOURCE 200809L
#include "pyir.h"

#include <stdlib.h>
#include <string.h>

static const char *const op_names[PY__COUNT] = {
#define X(name, n, what) [PY_##name] = #name,
    PYIR_OPS(X)
#undef X
};
static const char *const binary_names[PYB__COUNT] = {"+", "&",  "//", "<<", "@", "*", "%",
                                                     "|", "**", ">>", "-",  "/", "^"};
static const char *const compare_names[] = {"<", "<=", "==", "!=", ">", ">="};
static const char *const unary_names[] = {"-", "+", "~"};

static void print_span(FILE *out, const PySpan *s) {
    if (s->col) fprintf(out, "   ; %u:%u-%u:%u", s->line, s->col, s->end_line, s->end_col);
    else if (s->line) fprintf(out, "   ; %u", s->line);
}

static void print_what(FILE *out, const PyInstr *in) {
    switch ((PyOp)in->op) {
    case PY_BINARY: fprintf(out, " %s%s", binary_names[in->imm % PYB_INPLACE], in->imm & PYB_INPLACE ? "=" : ""); break;
    case PY_COMPARE: fprintf(out, " %s", compare_names[in->imm]); break;
    case PY_UNARY: fprintf(out, " %s", unary_names[in->imm]); break;
    case PY_IS:
    case PY_CONTAINS:
        if (in->imm) fputs(" not", out);
        break;
    case PY_PARAM: fprintf(out, " %u", in->imm); break;
    case PY_FORMAT:
        if (in->imm) fprintf(out, " !%c", (int)in->imm);
        break;
    case PY_UNPACK_ITEM: fprintf(out, " %u of %u", in->imm, in->imm2); break;
    case PY_UNPACK_EX: fprintf(out, " %u of %u+*+%u", in->imm, in->imm2 >> 16, in->imm2 & 0xffff); break;
    default: break;
    }
    if (in->name) fprintf(out, " %s", in->name);
}

static void print_instr(FILE *out, const PyFunc *f, PyRef r) {
    const PyInstr *in = &f->instrs.at[r];
    fprintf(out, "  %%%u = %s", r, op_names[in->op]);
    print_what(out, in);
    uint32_t first_kw = in->nargs - in->kwnames.n;
    for (uint32_t i = 0; i < in->nargs; i++) {
        fputs(i ? ", " : " ", out);
        if (in->op == PY_CALL && i >= first_kw) fprintf(out, "%s=", in->kwnames.at[i - first_kw]);
        if (in->args[i]) fprintf(out, "%%%u", in->args[i]);
        else fputc('-', out);
    }
}

static void print_term(FILE *out, const PyBlock *b) {
    switch (b->term) {
    case PYT_JUMP: fprintf(out, "  jump b%u", b->succ[0]); break;
    case PYT_BRANCH: fprintf(out, "  branch %%%u, b%u, b%u", b->arg, b->succ[0], b->succ[1]); break;
    case PYT_RETURN: fprintf(out, "  return %%%u", b->arg); break;
    case PYT_RAISE:
        fputs("  raise", out);
        if (b->arg) fprintf(out, " %%%u", b->arg);
        if (b->cause) fprintf(out, " from %%%u", b->cause);
        break;
    case PYT_UNREACHABLE: fputs("  unreachable", out); break;
    }
}

/* As in Python: PyFunc has *args behind the keyword-only parameters, which follow it in source. */
static void print_params(const PyFunc *f, FILE *out) {
    const char *sep = "", *star = NULL;
    bool first_kwonly = true;
    for (uint32_t i = 0; i < f->params.n; i++)
        if (f->params.at[i].vararg) star = f->params.at[i].name;
    for (uint32_t i = 0; i < f->params.n; i++) {
        const PyParam *p = &f->params.at[i];
        if ((p->kwonly && first_kwonly) || (p->vararg && first_kwonly)) {
            fprintf(out, "%s*%s", sep, star ? star : "");
            first_kwonly = false;
            sep = ", ";
        }
        if (p->vararg) continue;
        fprintf(out, "%s%s%s", sep, p->varkw ? "**" : "", p->name);
        sep = ", ";
        if (i + 1 == f->nposonly) fputs(", /", out);
    }
}

void pyfunc_print(const PyFunc *f, FILE *out, bool spans) {
    fprintf(out, "def %s(", f->name);
    print_params(f, out);
    fputs(")\n", out);
    for (uint32_t b = 0; b < f->blocks.n; b++) {
        const PyBlock *blk = &f->blocks.at[b];
        fprintf(out, "b%u:", b);
        for (uint32_t i = 0; i < blk->preds.n; i++) fprintf(out, "%s b%u", i ? "," : "  ; from", blk->preds.at[i]);
        fputs(blk->loop_header ? ", a loop\n" : "\n", out);
        for (uint32_t i = 0; i < blk->instrs.n; i++) {
            print_instr(out, f, blk->instrs.at[i]);
            if (spans) print_span(out, &f->instrs.at[blk->instrs.at[i]].span);
            fputc('\n', out);
        }
        print_term(out, blk);
        if (spans) print_span(out, &blk->term_span);
        fputc('\n', out);
    }
}

char *pyfunc_to_string(const PyFunc *f, bool spans) {
    char *text = NULL, *kept;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) return arena_strdup(f->arena, "");
    pyfunc_print(f, out, spans);
    fclose(out);
    kept = arena_strndup(f->arena, text, size);
    free(text);
    return kept;
}
