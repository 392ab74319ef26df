/* log.c - messages as ptxas writes them, with the text of the line below. */
#include "parse.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MAX_ERRORS = 20 };

static void put(PtxLog *log, const char *text, size_t n) {
    if (log->size == 0 || log->used + 1 >= log->size) return;
    size_t room = log->size - 1 - log->used;
    if (n > room) n = room;
    memcpy(log->buffer + log->used, text, n);
    log->used += n;
    log->buffer[log->used] = 0;
}

static void put_text(PtxLog *log, const char *text) { put(log, text, strlen(text)); }

/* The line without the blanks around it; of a very long one its start. */
static void put_line(PtxLog *log, const Source *s, uint32_t line) {
    const char *p = s->text;
    for (; line > 1 && p < s->end; p++) line -= *p == '\n';
    while (p < s->end && (*p == ' ' || *p == '\t')) p++;
    const char *q = p;
    while (q < s->end && *q != '\n' && *q != '\r' && *q && q - p < 200) q++;
    if (q == p) return;
    put_text(log, "    ");
    put(log, p, (size_t)(q - p));
    put_text(log, "\n");
}

void load_error(Load *load, const Source *source, uint32_t line, const char *format, ...) {
    PtxLog *log = load->log;
    if (log->errors++ >= MAX_ERRORS) return;
    char text[512];
    int n = snprintf(text, sizeof text, "%s, line %u; error   : ", source->name, line);
    if (n < 0 || (size_t)n >= sizeof text) n = 0;
    va_list args;
    va_start(args, format);
    vsnprintf(text + n, sizeof text - (size_t)n, format, args);
    va_end(args);
    put_text(log, text);
    put_text(log, "\n");
    put_line(log, source, line);
    if (log->errors == MAX_ERRORS) put_text(log, "more errors are not shown\n");
}

void load_fatal(Load *load, const char *format, ...) {
    PtxLog *log = load->log;
    if (log->errors++ >= MAX_ERRORS) return;
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    put_text(log, "error   : ");
    put_text(log, text);
    put_text(log, "\n");
}

bool load_gives_up(const Load *load) { return load->log->errors >= MAX_ERRORS; }
