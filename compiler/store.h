/* store.h - compiled code in a folder, found again by all that it was made from. */
#ifndef GPU_STORE_H
#define GPU_STORE_H

#include "compiler.h"

/* Where the code of a module with options is kept, all in the module's arena; path NULL: nowhere. */
typedef struct StoreEntry {
    const char *folder, *path;
    const uint8_t *key;
    size_t key_size;
} StoreEntry;

/* For a module that the passes over our IR have seen, and o->cache_dir. */
StoreEntry store_entry(const IrModule *m, const CompileOptions *o);

/* The code, malloc'ed, with a NUL behind it; NULL: it isn't there, or isn't whole. */
void *store_read(const StoreEntry *e, size_t *size);

/* Keeps code for others; where that can't be, nothing happens. */
void store_write(const StoreEntry *e, const void *code, size_t size);

#endif
