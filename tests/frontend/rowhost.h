/* rowhost.h - a Host that reads rows of text (rows.py writes them) in place of a Python. */
#ifndef GPU_ROWHOST_H
#define GPU_ROWHOST_H

#include "../../frontend/host.h"
#include "../../frontend/pyir.h"

typedef struct RowHost RowHost;

/* Reads a whole text; NULL and a message on stderr when it is malformed. The host lives in the arena. */
RowHost *rowhost_read(Arena *arena, const char *text);
const Host *rowhost_host(RowHost *h);
size_t rowhost_nroots(const RowHost *h);
HostRef rowhost_root(const RowHost *h, size_t i);
/* A host whose only object is a code object of these bytes: for fuzzing. Names and constants are made up. */
RowHost *rowhost_fuzz(Arena *arena, int version, const uint8_t *code, size_t size, const uint8_t *table, size_t table_size);

#endif
