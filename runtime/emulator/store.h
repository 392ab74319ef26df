/* store.h - memory that is given back all at once: what a module is read into, and what it leaves.
 *
 * Running out of memory jumps to where the load began, so that nothing in between checks for it. */
#ifndef EMU_STORE_H
#define EMU_STORE_H

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

typedef struct StoreBlock StoreBlock;
typedef struct Store {
    StoreBlock *blocks;
    char *next, *end;
    jmp_buf *full;
} Store;

/* A zero Store is empty; `full` must be set before the first use. */
void store_close(Store *s);
/* `count` elements of `size` zero bytes, aligned to 16. Never NULL. */
void *store_alloc(Store *s, size_t count, size_t size);
char *store_string(Store *s, const char *text, size_t n);

#define STORE_NEW(s, type) ((type *)store_alloc((s), 1, sizeof(type)))
#define STORE_ARRAY(s, type, n) ((type *)store_alloc((s), (n), sizeof(type)))
/* Appends room for one element to a growing array: the old one stays in the store, which costs at most as much again.
 */
void *store_grow(Store *s, void *array, uint32_t count, uint32_t *room, size_t size);
#define STORE_PUSH(s, array, count, room)                                                                              \
    (*((array) = store_grow((s), (array), (count), &(room), sizeof *(array)), &(array)[(count)++]))

#endif
