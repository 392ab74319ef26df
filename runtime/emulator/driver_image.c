/* driver_image.c - images that can be loaded: PTX text, fat binaries with PTX in them, and our own linked images.
 *
 * Machine code can't be executed here; of a fat binary the PTX for the newest architecture that the device has is
 * taken. */
#define _POSIX_C_SOURCE 200809L
#include "driver.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void log_add(PtxLog *log, const char *format, ...) {
    if (!log->buffer || log->used >= log->size) return;
    va_list args;
    va_start(args, format);
    int n = vsnprintf(log->buffer + log->used, log->size - log->used, format, args);
    va_end(args);
    size_t room = log->size - log->used;
    if (n > 0) log->used += (size_t)n < room ? (size_t)n : room - 1;
    log->errors++;
}

/* ---- lists of texts ---------------------------------------------------------------------------- */

static bool add(Sources *s, const char *text, size_t size, const char *name, char *owned) {
    PtxSource *list = realloc(s->list, (s->n + 1) * sizeof *list);
    if (list) s->list = list;
    char **all = realloc(s->owned, (s->n + 1) * sizeof *all);
    if (all) s->owned = all;
    if (!list || !all) return false;
    s->list[s->n] = (PtxSource){text, size, name};
    s->owned[s->n++] = owned;
    return true;
}

void image_close(Sources *s) {
    for (uint32_t i = 0; i < s->n; i++) free(s->owned[i]);
    free(s->owned);
    free(s->list);
    *s = (Sources){0};
}

bool image_copy(Sources *s) {
    for (uint32_t i = 0; i < s->n; i++) {
        if (s->owned[i]) continue;
        char *text = malloc(s->list[i].size + 1);
        if (!text) return false;
        memcpy(text, s->list[i].text, s->list[i].size);
        text[s->list[i].size] = 0;
        s->owned[i] = text;
        s->list[i].text = text;
    }
    return true;
}

bool image_join(Sources *s, Sources *more) {
    for (uint32_t i = 0; i < more->n; i++) {
        if (!add(s, more->list[i].text, more->list[i].size, more->list[i].name, more->owned[i])) return false;
        more->owned[i] = NULL;
    }
    return true;
}

/* ---- linked images ----------------------------------------------------------------------------- */

/* This, then the texts, each ended by a NUL; its size follows from `sizes`. */
typedef struct Packed {
    char magic[8];
    uint32_t n, max_registers;
    uint64_t sizes[];
} Packed;

static const char packed_magic[8] = "\177gpuptx";

void *image_pack(const Sources *s, size_t *size) {
    size_t bytes = sizeof(Packed) + s->n * sizeof(uint64_t);
    for (uint32_t i = 0; i < s->n; i++) bytes += s->list[i].size + 1;
    Packed *p = malloc(bytes);
    if (!p) return NULL;
    memcpy(p->magic, packed_magic, sizeof p->magic);
    p->n = s->n;
    p->max_registers = s->max_registers;
    char *at = (char *)&p->sizes[s->n];
    for (uint32_t i = 0; i < s->n; i++) {
        p->sizes[i] = s->list[i].size;
        memcpy(at, s->list[i].text, s->list[i].size);
        at[s->list[i].size] = 0;
        at += s->list[i].size + 1;
    }
    *size = bytes;
    return p;
}

static bool unpack(const Packed *p, Sources *out) {
    const char *at = (const char *)&p->sizes[p->n];
    out->max_registers = p->max_registers;
    for (uint32_t i = 0; i < p->n; i++) {
        if (!add(out, at, p->sizes[i], "linked", NULL)) return false;
        at += p->sizes[i] + 1;
    }
    return true;
}

/* ---- fat binaries ------------------------------------------------------------------------------ */

/* What a program compiled by nvcc passes: it points to the fat binary. */
typedef struct FatWrapper {
    uint32_t magic, version;
    const void *data;
} FatWrapper;

typedef struct FatHeader {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes; /* behind the header */
} FatHeader;

typedef struct FatEntry {
    uint16_t kind, version;
    uint32_t header_bytes;
    uint64_t bytes; /* behind the entry's header */
    uint32_t compressed_bytes, reserved;
    uint16_t minor, major;
    uint32_t sm;
    uint32_t name_offset, name_bytes;
    uint64_t flags, zero;
    uint64_t text_bytes; /* when decompressed */
} FatEntry;

enum { FAT_KIND_PTX = 1, FAT_LZ4 = 0x2000, FAT_ZSTD = 0x8000 };
static const char fat_wrapper[] = "\xb1\x43\x62\x46", fat_magic[] = "\x50\xed\x55\xba";

/* A block of LZ4. False: it isn't one that makes exactly `size` bytes. */
static bool unpack_lz4(const uint8_t *from, size_t bytes, uint8_t *to, size_t size) {
    size_t in = 0, out = 0;
    while (in < bytes) {
        uint8_t token = from[in++];
        size_t literals = token >> 4, match = token & 15;
        if (literals == 15) {
            uint8_t more;
            do {
                if (in == bytes) return false;
                literals += more = from[in++];
            } while (more == 255);
        }
        if (literals > bytes - in || literals > size - out) return false;
        memcpy(to + out, from + in, literals);
        in += literals;
        out += literals;
        if (in == bytes) break;
        if (bytes - in < 2) return false;
        size_t distance = from[in] | (size_t)from[in + 1] << 8;
        in += 2;
        if (match == 15) {
            uint8_t more;
            do {
                if (in == bytes) return false;
                match += more = from[in++];
            } while (more == 255);
        }
        match += 4;
        if (!distance || distance > out || match > size - out) return false;
        for (; match; match--, out++) to[out] = to[out - distance];
    }
    return out == size;
}

/* The same for zstd, by the system's library where there is one. */
static bool unpack_zstd(const uint8_t *from, size_t bytes, uint8_t *to, size_t size, PtxLog *log) {
    void *library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
    void *symbol = library ? dlsym(library, "ZSTD_decompress") : NULL;
    if (!symbol) {
        log_add(log,
                "fatal   : the PTX in this fat binary is compressed by zstd, and libzstd.so.1 isn't there; build it "
                "with nvcc -no-compress\n");
        return false;
    }
    size_t (*decompress)(void *, size_t, const void *, size_t);
    memcpy(&decompress, &symbol, sizeof symbol);
    bool good = decompress(to, size, from, bytes) == size;
    dlclose(library);
    return good;
}

/* The entry's text, decompressed if it must be. */
static CUresult take(const FatEntry *e, PtxLog *log, Sources *out) {
    const char *data = (const char *)e + e->header_bytes;
    if (!(e->flags & (FAT_LZ4 | FAT_ZSTD))) {
        return add(out, data, strnlen(data, e->bytes), "fatbin", NULL) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (e->text_bytes > (UINT64_C(1) << 32) || e->compressed_bytes > e->bytes) return CUDA_ERROR_INVALID_IMAGE;
    char *text = malloc(e->text_bytes + 1);
    if (!text) return CUDA_ERROR_OUT_OF_MEMORY;
    const uint8_t *from = (const uint8_t *)data;
    bool good = e->flags & FAT_ZSTD ? unpack_zstd(from, e->compressed_bytes, (uint8_t *)text, e->text_bytes, log)
                                    : unpack_lz4(from, e->compressed_bytes, (uint8_t *)text, e->text_bytes);
    CUresult r = CUDA_ERROR_INVALID_IMAGE;
    if (good) {
        text[e->text_bytes] = 0;
        r = add(out, text, strnlen(text, e->text_bytes), "fatbin", text) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (r) free(text);
    return r;
}

static CUresult open_fat(const FatHeader *h, size_t size, uint32_t sm, PtxLog *log, Sources *out) {
    if (!h || strncmp((const char *)h, fat_magic, 4) != 0) return CUDA_ERROR_INVALID_IMAGE;
    if ((size && size < sizeof *h) || h->header_bytes < sizeof *h) return CUDA_ERROR_INVALID_IMAGE;
    if (size && (size < h->header_bytes || size - h->header_bytes < h->bytes)) return CUDA_ERROR_INVALID_IMAGE;
    const char *at = (const char *)h + h->header_bytes, *end = at + h->bytes;
    const FatEntry *best = NULL;
    while (end - at >= (ptrdiff_t)sizeof(FatEntry)) {
        const FatEntry *e = (const FatEntry *)(const void *)at;
        if (e->header_bytes < sizeof *e || e->header_bytes > (size_t)(end - at) ||
            e->bytes > (size_t)(end - at) - e->header_bytes) {
            return CUDA_ERROR_INVALID_IMAGE;
        }
        if (e->kind == FAT_KIND_PTX && e->sm <= sm && (!best || e->sm > best->sm)) best = e;
        at += e->header_bytes + e->bytes;
    }
    if (best) return take(best, log, out);
    log_add(log,
            "fatal   : no PTX for sm_%u or older in this fat binary: the emulator executes PTX, not machine code\n",
            (unsigned)sm);
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
}

/* ---- all kinds --------------------------------------------------------------------------------- */

/* Whether an image begins with these bytes. None of them is 0, so that a shorter text isn't read beyond its end. */
static bool begins(const char *image, const char *magic) { return !strncmp(image, magic, strlen(magic)); }

CUresult image_open(const void *image, size_t size, uint32_t sm, PtxLog *log, Sources *out) {
    const char *text = image;
    *out = (Sources){0};
    if (!image || (size && size < sizeof packed_magic)) return CUDA_ERROR_INVALID_VALUE;
    CUresult r;
    if (begins(text, "\177ELF")) {
        log_add(log, "fatal   : this is machine code (a cubin), and the emulator executes PTX\n");
        r = CUDA_ERROR_NO_BINARY_FOR_GPU;
    } else if (begins(text, fat_wrapper)) {
        r = open_fat(((const FatWrapper *)image)->data, 0, sm, log, out);
    } else if (begins(text, fat_magic)) {
        r = open_fat(image, size, sm, log, out);
    } else if (begins(text, packed_magic)) {
        r = unpack(image, out) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    } else {
        r = add(out, text, size ? strnlen(text, size) : strlen(text), "ptx", NULL) ? CUDA_SUCCESS
                                                                                   : CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (r) image_close(out);
    return r;
}
