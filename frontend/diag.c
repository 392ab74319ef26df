/* diag.c - collecting messages, and the table that diag.def declares. diagtext.c makes the report. */
#include "diag.h"

#include <string.h>

static const struct {
    const char *name;
    Severity severity;
    const char *exception, *format;
} rows[DIAG__COUNT] = {
#define DIAG(code, severity, exception, message) [DIAG_##code] = {#code, severity, exception, message},
#include "diag.def"
#undef DIAG
};

const char *diag_name(DiagCode code) { return rows[code].name; }
const char *diag_exception(DiagCode code) { return rows[code].exception; }
Severity diag_severity(DiagCode code) { return rows[code].severity; }

static bool same_place(const DiagFrame *a, const DiagFrame *b) {
    return strcmp(a->file ? a->file : "", b->file ? b->file : "") == 0 &&
           memcmp(&a->span, &b->span, sizeof a->span) == 0;
}

static bool reported(const DiagList *l, DiagCode code, const DiagFrame *at, const char *message) {
    for (uint32_t i = 0; i < l->diags.n; i++) {
        const Diag *d = &l->diags.at[i];
        if (d->code == code && same_place(&d->at, at) && (at->span.col || strcmp(d->message, message) == 0))
            return true;
    }
    return false;
}

/* Frames lie in the caller's memory, which may change: the chain is copied. */
static const DiagFrame *keep_callers(Arena *arena, const DiagFrame *f) {
    if (!f) return NULL;
    DiagFrame *kept = ARENA_NEW(arena, DiagFrame);
    *kept = *f;
    kept->caller = keep_callers(arena, f->caller);
    return kept;
}

/* A second report of the same mistake gets a Diag that nobody shows, so that help and notes can be added as ever.
 * Without columns (Python 3.10) two mistakes of one kind on a line differ in their words only. */
Diag *diag_vreport(DiagList *l, DiagCode code, const DiagFrame *at, va_list args) {
    Diag d = {.code = code, .at = *at};
    d.message = arena_vprintf(l->arena, rows[code].format, args);
    if (reported(l, code, at, d.message)) {
        Diag *unseen = ARENA_NEW(l->arena, Diag);
        *unseen = d;
        return unseen;
    }
    d.at.caller = keep_callers(l->arena, at->caller);
    if (rows[code].severity == SEV_ERROR) l->nerrors++;
    VEC_PUSH(l->arena, &l->diags, d);
    return &l->diags.at[l->diags.n - 1];
}

Diag *diag_report(DiagList *l, DiagCode code, const DiagFrame *at, ...) {
    va_list args;
    va_start(args, at);
    Diag *d = diag_vreport(l, code, at, args);
    va_end(args);
    return d;
}

void diag_help(DiagList *l, Diag *d, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    d->help = arena_vprintf(l->arena, fmt, args);
    va_end(args);
}

void diag_note(DiagList *l, Diag *d, const DiagFrame *at, const char *fmt, ...) {
    DiagNote note = {.has_place = at != NULL};
    if (at) note.at = *at;
    va_list args;
    va_start(args, fmt);
    note.text = arena_vprintf(l->arena, fmt, args);
    va_end(args);
    VEC_PUSH(l->arena, &d->notes, note);
}
