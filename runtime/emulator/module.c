/* module.c - loading: sources are read, linked, laid out and decoded; what is left is a PtxCode. */
#include "parse.h"

#include <stdlib.h>
#include <string.h>

/* A PtxCode with what it owns. */
typedef struct Module {
    PtxCode code;
    Store store;
    Allocations allocations;
} Module;

static void release(Module *m, Memory *memory) {
    for (uint32_t i = 0; i < m->allocations.count; i++) memory_free(memory, m->allocations.addresses[i]);
    store_close(&m->store);
    free(m);
}

/* One text of all sources, a line break between; NULs at a source's end don't count. */
static void join_sources(Load *load, const PtxSource *sources, uint32_t n) {
    size_t total = 0;
    for (uint32_t i = 0; i < n; i++) total += sources[i].size + 1;
    char *text = store_alloc(load->keep, total + 1, 1), *at = text;
    uint32_t lines = 0;
    for (uint32_t i = 0; i < n; i++) {
        Source *s = &load->sources[i];
        size_t size = sources[i].size;
        while (size && !sources[i].text[size - 1]) size--;
        memcpy(at, sources[i].text, size);
        s->name = sources[i].name ? sources[i].name : "ptx input";
        s->text = at;
        s->end = at + size;
        s->first_line = lines;
        for (const char *p = at; p < s->end; p++) lines += *p == '\n';
        lines++;
        at += size;
        *at++ = '\n';
    }
    *at = 0;
    load->code->text = text;
}

static bool parse_all(Load *load) {
    for (uint32_t i = 0; i < load->nsources; i++) {
        Source *s = &load->sources[i];
        Parser p = {.load = load, .source = s, .source_index = i};
        parse_source(&p);
        if (s->sm > load->code->sm) load->code->sm = s->sm;
        if (s->version > load->code->version) load->code->version = s->version;
    }
    return load->log->errors == 0;
}

static bool run_load(Load *load, const PtxSource *sources, uint32_t n) {
    load->sources = STORE_ARRAY(&load->scratch, Source, n + 1);
    load->nsources = n;
    join_sources(load, sources, n);
    if (!spellings_open(&load->words)) longjmp(*load->scratch.full, 1);
    STORE_PUSH(&load->scratch, load->code->locs, load->code->nlocs, load->locs_room) = (PtxLoc){0}; /* 0 is none */
    load->pending = STORE_ARRAY(&load->scratch, PendingLoc, load->locs_room);
    return parse_all(load) && link_sources(load) && layout_module(load) && decode_functions(load);
}

/* Running out of memory comes back here. */
static bool guarded_load(Load *load, const PtxSource *sources, uint32_t n) {
    jmp_buf full;
    load->keep->full = load->scratch.full = &full;
    if (setjmp(full)) {
        load->log->out_of_memory = true;
        return false;
    }
    return run_load(load, sources, n);
}

PtxCode *ptx_load(const PtxSource *sources, uint32_t n, Memory *memory, uint16_t sm, PtxLog *log) {
    Module *m = calloc(1, sizeof *m);
    Load *load = calloc(1, sizeof *load);
    log->errors = 0;
    if (log->size) log->buffer[log->used] = 0;
    log->out_of_memory = !m || !load;
    if (m && load) {
        load->code = &m->code;
        load->keep = &m->store;
        load->memory = memory;
        load->allocations = &m->allocations;
        load->log = log;
        load->sm = sm;
        bool good = guarded_load(load, sources, n);
        spellings_close(&load->words);
        store_close(&load->scratch);
        if (!good) {
            release(m, memory);
            m = NULL;
        }
    } else {
        free(m);
        m = NULL;
    }
    free(load);
    return m ? &m->code : NULL;
}

void ptx_unload(PtxCode *code, Memory *memory) {
    if (code) release((Module *)code, memory);
}

const PtxFunc *ptx_function(const PtxCode *code, const char *name) {
    for (uint32_t i = 0; i < code->nfuncs; i++)
        if (strcmp(code->funcs[i].name, name) == 0) return &code->funcs[i];
    return NULL;
}

const PtxGlobal *ptx_global(const PtxCode *code, const char *name) {
    for (uint32_t i = 0; i < code->nglobals; i++)
        if (strcmp(code->globals[i].name, name) == 0) return &code->globals[i];
    return NULL;
}
