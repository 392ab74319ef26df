/* arena.c - bump allocation from chunks that are all freed together.
 *
 * Chunks come zeroed from calloc and no byte is handed out twice, so that every allocation is zero
 * without a memset of its own. The size of the chunks doubles, so that a small compilation costs one
 * or two calls and a large one few. */
#include "arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ArenaChunk {
    ArenaChunk *older;
    size_t size;
};

enum { ALIGN = 16, FIRST_CHUNK = 32 * 1024, LARGEST_CHUNK = 1024 * 1024 };

static size_t round_up(size_t n) { return (n + (ALIGN - 1)) & ~(size_t)(ALIGN - 1); }

_Noreturn static void out_of_memory(Arena *a) {
    if (a->on_oom) longjmp(*a->on_oom, 1);
    abort();
}

void arena_init(Arena *a, jmp_buf *on_oom) {
    memset(a, 0, sizeof *a);
    a->on_oom = on_oom;
}

void arena_free(Arena *a) {
    for (ArenaChunk *c = a->head; c;) {
        ArenaChunk *older = c->older;
        free(c);
        c = older;
    }
    a->head = NULL;
    a->next = a->end = NULL;
}

/* Starts a chunk that has room for `size` bytes. */
static void add_chunk(Arena *a, size_t size) {
    size_t want = a->head ? a->head->size * 2 : FIRST_CHUNK;
    if (want > LARGEST_CHUNK) want = LARGEST_CHUNK;
    size_t header = round_up(sizeof(ArenaChunk));
    if (size > SIZE_MAX / 2) out_of_memory(a);
    if (want < size + header) want = size + header;
    if (a->fail_after > 0 && --a->fail_after == 0) out_of_memory(a);
    ArenaChunk *c = calloc(1, want);
    if (!c) out_of_memory(a);
    c->older = a->head;
    c->size = want;
    a->head = c;
    a->next = (char *)c + header;
    a->end = (char *)c + want;
}

void *arena_alloc(Arena *a, size_t size) {
    if (size > SIZE_MAX / 2) out_of_memory(a);
    size = round_up(size ? size : 1);
    if ((size_t)(a->end - a->next) < size) add_chunk(a, size);
    void *p = a->next;
    a->next += size;
    return p;
}

/* The last allocation grows where it stands; any other is copied. */
void *arena_grow(Arena *a, void *old, size_t old_size, size_t new_size) {
    if (!old || old_size == 0) return arena_alloc(a, new_size);
    if (new_size <= old_size) return old;
    char *old_end = (char *)old + round_up(old_size);
    if (old_end == a->next && new_size <= SIZE_MAX / 2) {
        size_t more = round_up(new_size) - round_up(old_size);
        if ((size_t)(a->end - a->next) >= more) {
            a->next += more;
            return old;
        }
    }
    void *p = arena_alloc(a, new_size);
    memcpy(p, old, old_size);
    return p;
}

void vec_grow(Arena *a, void **at, uint32_t *cap, size_t elem) {
    if (*cap > UINT32_MAX / 2) out_of_memory(a);
    uint32_t more = *cap ? *cap * 2 : 4;
    *at = arena_grow(a, *at, *cap * elem, more * elem);
    *cap = more;
}

char *arena_strndup(Arena *a, const char *s, size_t n) {
    char *p = arena_alloc(a, n + 1);
    memcpy(p, s, n);
    return p;
}

char *arena_strdup(Arena *a, const char *s) { return arena_strndup(a, s, strlen(s)); }

char *arena_vprintf(Arena *a, const char *fmt, va_list ap) {
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    if (n < 0) return arena_strdup(a, "");
    char *p = arena_alloc(a, (size_t)n + 1);
    vsnprintf(p, (size_t)n + 1, fmt, ap);
    return p;
}

char *arena_printf(Arena *a, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    char *p = arena_vprintf(a, fmt, ap);
    va_end(ap);
    return p;
}
