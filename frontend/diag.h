/* diag.h - messages: what is wrong, where, why, and what to write instead.
 *
 * Passes report and go on; the pipeline stops between passes when there are errors. A wrong operand gets
 * the type POISON, so that one mistake makes one message. diag.def has one row for each kind. */
#ifndef GPU_DIAG_H
#define GPU_DIAG_H

#include "pyir.h"

typedef enum Severity { SEV_ERROR, SEV_WARNING } Severity;

typedef enum DiagCode {
#define DIAG(code, severity, exception, message) DIAG_##code,
#include "diag.def"
#undef DIAG
    DIAG__COUNT
} DiagCode;

/* One frame of the chain of calls, innermost first. */
typedef struct DiagFrame {
    const char *file, *function;
    PySpan span;
    const struct DiagFrame *caller;   /* NULL: the kernel */
} DiagFrame;

typedef struct DiagNote { const char *text; DiagFrame at; bool has_place; } DiagNote;

typedef struct Diag {
    DiagCode code;
    const char *message;              /* formatted */
    DiagFrame at;
    const char *help;                 /* NULL or what to write instead */
    VEC(DiagNote) notes;              /* other places that matter: "'x' is int64 here" */
} Diag;

typedef struct DiagList {
    Arena *arena;
    VEC(Diag) diags;
    uint32_t nerrors;
} DiagList;

/* The message's format is the row's; the arguments follow it. Returns the Diag, to which help and notes are added.
 * The same code at the same place is reported once. */
Diag *diag_report(DiagList *l, DiagCode code, const DiagFrame *at, ...);
Diag *diag_vreport(DiagList *l, DiagCode code, const DiagFrame *at, va_list args);
void diag_help(DiagList *l, Diag *d, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void diag_note(DiagList *l, Diag *d, const DiagFrame *at, const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* The whole report as text, source lines with carets through the host; colour: ANSI. `kernel` is the
 * closing line's kernel with its argument types, or NULL. */
char *diag_render(const DiagList *l, const Host *host, const char *kernel, bool colour);   /* warnings only if there are no errors */
Severity diag_severity(DiagCode code);
const char *diag_exception(DiagCode code);        /* "TypingError" ... */
const char *diag_name(DiagCode code);

#endif
