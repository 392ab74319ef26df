/* arena.h - memory that lives as long as one compilation.
 *
 * Everything a compilation makes is allocated from one arena and freed with it; nothing is freed
 * one by one. What outlives the compilation (code, parameter list, messages) is copied out once.
 * Allocation never returns NULL: when memory ends, the arena longjmps to `arena->on_oom`, which the
 * owner set with setjmp before it started. */
#ifndef GPU_ARENA_H
#define GPU_ARENA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ArenaChunk ArenaChunk;

typedef struct Arena {
    ArenaChunk *head;
    char *next, *end;
    jmp_buf *on_oom;     /* where an allocation that fails goes; NULL aborts */
    long fail_after;     /* tests: the n-th chunk allocation fails; 0 = never */
} Arena;

void arena_init(Arena *a, jmp_buf *on_oom);
void arena_free(Arena *a);
void *arena_alloc(Arena *a, size_t size);                    /* zeroed, 16-byte aligned */
void *arena_grow(Arena *a, void *old, size_t old_size, size_t new_size);
char *arena_strdup(Arena *a, const char *s);
char *arena_strndup(Arena *a, const char *s, size_t n);
char *arena_printf(Arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
char *arena_vprintf(Arena *a, const char *fmt, va_list ap);

#define ARENA_NEW(a, T) ((T *)arena_alloc((a), sizeof(T)))
#define ARENA_ARRAY(a, T, n) ((T *)arena_alloc((a), sizeof(T) * (size_t)(n)))

/* A growing array {T *at; uint32_t n, cap;}: VEC_PUSH(arena, vec, value). */
#define VEC(T) struct { T *at; uint32_t n, cap; }
#define VEC_PUSH(a, v, x) \
    ((v)->n == (v)->cap ? (void)vec_grow((a), (void **)&(v)->at, &(v)->cap, sizeof *(v)->at) : (void)0, \
     (v)->at[(v)->n++] = (x))
void vec_grow(Arena *a, void **at, uint32_t *cap, size_t elem);

#endif
