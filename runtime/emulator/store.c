/* store.c - memory that is given back all at once. */
#include "store.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct StoreBlock {
    StoreBlock *next;
    uint64_t pad;
};

enum { BLOCK_BYTES = 1 << 16 };

void store_close(Store *s) {
    for (StoreBlock *b = s->blocks, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    *s = (Store){0};
}

/* A block of its own for what is large; else a fresh one, whose rest serves what follows. */
static void *from_block(Store *s, size_t bytes) {
    bool large = bytes > BLOCK_BYTES / 4;
    if (bytes > SIZE_MAX / 2) longjmp(*s->full, 1);
    size_t room = large ? bytes : BLOCK_BYTES;
    StoreBlock *b = calloc(1, sizeof *b + room);
    if (!b) longjmp(*s->full, 1);
    b->next = s->blocks;
    s->blocks = b;
    char *start = (char *)(b + 1);
    if (large) return start;
    s->next = start + bytes;
    s->end = start + room;
    return start;
}

void *store_alloc(Store *s, size_t count, size_t size) {
    if (size && count > SIZE_MAX / 4 / size) longjmp(*s->full, 1);
    size_t bytes = (count * size + 15) & ~(size_t)15;
    if (bytes > (size_t)(s->end - s->next)) return from_block(s, bytes);
    void *p = s->next;
    s->next += bytes;
    return p;
}

char *store_string(Store *s, const char *text, size_t n) {
    char *copy = store_alloc(s, n + 1, 1);
    memcpy(copy, text, n);
    return copy;
}

void *store_grow(Store *s, void *array, uint32_t count, uint32_t *room, size_t size) {
    if (count < *room) return array;
    if (*room > UINT32_MAX / 4) longjmp(*s->full, 1);
    *room = *room ? *room * 2 : 8;
    void *grown = store_alloc(s, *room, size);
    if (count) memcpy(grown, array, count * size);
    return grown;
}
