/* failure.c - why a call of the runtime failed. */
#include "runtime.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Status failure_set(Failure *f, Status status, const char *format, ...) {
    memset(f, 0, sizeof *f);
    f->status = status;
    if (!format) return status;
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(NULL, 0, format, ap);
    va_end(ap);
    f->text = n < 0 ? NULL : malloc((size_t)n + 1);
    if (!f->text) return status;
    va_start(ap, format);
    vsnprintf(f->text, (size_t)n + 1, format, ap);
    va_end(ap);
    return status;
}

Status failure_memory(Failure *f) { return failure_set(f, GPU_ERROR_MEMORY, "the host has no memory left"); }

void failure_clear(Failure *f) {
    free(f->text);
    free(f->log);
    free(f->fault.kernel);
    free(f->fault.file);
    free(f->fault.variable);
    memset(f, 0, sizeof *f);
}
