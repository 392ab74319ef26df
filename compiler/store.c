/* store.c - compiled code in a folder: PTX, or objects for the CPU.
 *
 * A file is named by a hash of its key and has the key in it: the module after the passes over our IR, the options, the
 * processor and the identity of this library. So code is found only where the compiler would make the same, whatever
 * changed in the program, and what is left to others (parameters, sites, addresses) comes from the module as ever.
 *
 * Several processes may share the folder: a file is written under another name and renamed when it is whole; one that
 * isn't, or that somebody damaged, fails its checksum and is made again. Only files and folders of this user that
 * nobody else can write are read, since what they hold is run. */
#define _GNU_SOURCE
#include "store.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>
#include <llvm/Config/llvm-config.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    SCAN_EVERY = 16,    /* writes: how often the size of the folder is looked at */
    MOST_KEPT = 1 << 30 /* bytes in the folder; what was used longest ago goes */
};

typedef struct FileHead {
    char magic[8];
    uint64_t key_size, code_size, check; /* check: of all that follows the head */
} FileHead;
static const char magic[8] = "gpucode";

/* 64 bits of a block; another seed gives others. */
static uint64_t hash(const void *at, size_t size, uint64_t seed) {
    const uint8_t *byte = at;
    uint64_t h = seed ^ size;
    for (; size >= 8; size -= 8, byte += 8) {
        uint64_t word;
        memcpy(&word, byte, 8);
        h = (h ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        h ^= h >> 32;
    }
    for (; size > 0; size--, byte++) h = (h ^ *byte) * UINT64_C(0x9E3779B97F4A7C15);
    return h ^ h >> 29;
}

/* ---- the key ------------------------------------------------------------------------------------- */

typedef struct Key {
    Arena *arena;
    VEC(uint8_t) bytes;
} Key;

static void put(Key *k, const void *at, size_t size) {
    const uint8_t *byte = at;
    for (size_t i = 0; i < size; i++) VEC_PUSH(k->arena, &k->bytes, byte[i]);
}

static void put_number(Key *k, uint64_t n) { put(k, &n, sizeof n); }

static void put_text(Key *k, const char *s) {
    put_number(k, s ? strlen(s) : UINT64_MAX);
    if (s) put(k, s, strlen(s));
}

static void put_block(Key *k, const void *at, size_t size) {
    put_number(k, size);
    put(k, at, size);
}

/* A file that code is made with, by what the file system says of it. */
static void put_file(Key *k, const char *path) {
    struct stat s;
    put_text(k, path);
    if (!path || stat(path, &s) != 0) return;
    put_number(k, (uint64_t)s.st_size);
    put_number(k, (uint64_t)s.st_mtim.tv_sec);
    put_number(k, (uint64_t)s.st_mtim.tv_nsec);
}

/* The same of all files in a folder, in whatever order they are read. */
static void put_folder(Key *k, const char *path) {
    DIR *folder = path ? opendir(path) : NULL;
    uint64_t all = 0;
    struct stat s;
    put_text(k, path);
    for (struct dirent *at; folder && (at = readdir(folder));) {
        if (fstatat(dirfd(folder), at->d_name, &s, 0) != 0) continue;
        const uint64_t file[] = {hash(at->d_name, strlen(at->d_name), 0), (uint64_t)s.st_size,
                                 (uint64_t)s.st_mtim.tv_sec, (uint64_t)s.st_mtim.tv_nsec};
        all += hash(file, sizeof file, 0);
    }
    if (folder) closedir(folder);
    put_number(k, all);
}

/* The compiler itself: this library. */
static void put_compiler(Key *k) {
    static const int here;
    Dl_info info;
    put_text(k, LLVM_VERSION_STRING);
    put_file(k, dladdr(&here, &info) ? info.dli_fname : NULL);
}

static void put_processor(Key *k) {
    char *cpu = LLVMGetHostCPUName(), *features = LLVMGetHostCPUFeatures();
    put_text(k, cpu);
    put_text(k, features);
    LLVMDisposeMessage(cpu);
    LLVMDisposeMessage(features);
}

static void put_options(Key *k, const CompileOptions *o) {
    const uint64_t numbers[] = {o->target,
                                o->sm,
                                (uint64_t)o->sm_suffix,
                                o->ptx_version,
                                o->max_registers,
                                o->max_threads,
                                o->min_blocks,
                                o->max_cluster,
                                o->fma,
                                o->fastmath,
                                o->lineinfo,
                                o->debug,
                                o->opt};
    put(k, numbers, sizeof numbers);
    if (o->libdevice) put_file(k, o->libdevice);
    else if (o->target == TARGET_PTX) put_folder(k, o->libclc_dir);
    put_number(k, o->nlinks);
    for (uint32_t i = 0; i < o->nlinks; i++) {
        put_number(k, o->links[i].kind);
        put_block(k, o->links[i].data, o->links[i].size);
    }
    put_number(k, o->nsymbols); /* where they are is known when the code is loaded */
    for (uint32_t i = 0; i < o->nsymbols; i++) put_text(k, o->symbols[i].name);
}

static void put_instrs(Key *k, const IrModule *m) {
    put_number(k, m->instrs.n);
    for (uint32_t i = 1; i < m->instrs.n; i++) {
        const Instr *in = &m->instrs.at[i];
        const uint64_t numbers[] = {in->op, in->type, in->sub, in->imm, in->span, in->block, in->nargs};
        put(k, numbers, sizeof numbers);
        put(k, in->args, in->nargs * sizeof *in->args);
    }
    put_number(k, m->blocks.n);
    for (uint32_t i = 0; i < m->blocks.n; i++) {
        const Block *b = &m->blocks.at[i];
        const uint64_t numbers[] = {b->dead, b->nsucc, b->nsucc > 0 ? b->succ[0] : 0, b->nsucc > 1 ? b->succ[1] : 0};
        put(k, numbers, sizeof numbers);
        put_block(k, b->instrs.at, b->instrs.n * sizeof *b->instrs.at);
        put_block(k, b->preds.at, b->preds.n * sizeof *b->preds.at);
    }
}

static void put_memory(Key *k, const IrModule *m) {
    put_number(k, m->params.n);
    for (uint32_t i = 0; i < m->params.n; i++) {
        const IrParam *p = &m->params.at[i];
        const uint64_t numbers[] = {p->kind, p->type, p->flags, p->axis, p->leaf, p->align};
        put(k, numbers, sizeof numbers);
        put_text(k, p->name);
    }
    put_number(k, m->data.n);
    for (uint32_t i = 0; i < m->data.n; i++) {
        put_number(k, m->data.at[i].align | (uint64_t)m->data.at[i].in_const << 32);
        put_block(k, m->data.at[i].bytes, m->data.at[i].size);
    }
    put_number(k, m->captures.n);
    for (uint32_t i = 0; i < m->captures.n; i++) put_number(k, m->captures.at[i].size);
    put_number(k, m->shared.n);
    for (uint32_t i = 0; i < m->shared.n; i++) {
        const IrShared *s = &m->shared.at[i];
        const uint64_t numbers[] = {s->bytes, s->align, s->dynamic, s->span};
        put(k, numbers, sizeof numbers);
    }
}

static void put_var_type(Key *k, const IrVarType *t) {
    uint32_t items = t->kind == VAR_STRUCT ? t->n : t->items != NULL;
    put_text(k, t->name);
    put_block(k, (uint64_t[]){t->kind, t->type, t->made, t->bytes, t->n, items}, 6 * sizeof(uint64_t));
    for (uint32_t i = 0; i < items; i++) {
        if (t->kind == VAR_STRUCT) put_text(k, t->fields[i]), put_number(k, t->offsets[i]);
        put_var_type(k, t->items[i]);
    }
}

/* Lines are in the code, as debug information and in messages. */
static void put_places(Key *k, const IrModule *m) {
    put_number(k, m->sites.n);
    for (uint32_t i = 0; i < m->sites.n; i++) put_number(k, m->sites.at[i].span);
    put_number(k, m->prints.n);
    for (uint32_t i = 0; i < m->prints.n; i++) put_number(k, m->prints.at[i].span);
    put_number(k, m->foreign.n);
    for (uint32_t i = 0; i < m->foreign.n; i++) put_text(k, m->foreign.at[i].symbol);
    put_block(k, m->spans.at, m->spans.n * sizeof *m->spans.at);
    put_number(k, m->funcs.n);
    for (uint32_t i = 0; i < m->funcs.n; i++) {
        put_text(k, m->funcs.at[i].file);
        put_text(k, m->funcs.at[i].name);
        put_number(k, m->funcs.at[i].line);
    }
    put_number(k, m->vars.n);
    for (uint32_t i = 0; i < m->vars.n; i++) {
        const IrVar *v = &m->vars.at[i];
        put_text(k, v->name);
        put_var_type(k, v->type);
        put_block(k, (uint64_t[]){v->arg, v->span, v->at}, 3 * sizeof(uint64_t));
    }
}

static void put_module(Key *k, const IrModule *m) {
    put_text(k, m->name);
    put_number(k, m->facts);
    put_number(k, m->host_function);
    put_number(k, m->nresults);
    put(k, m->results, m->nresults * sizeof *m->results);
    put_instrs(k, m);
    put_memory(k, m);
    put_places(k, m);
}

StoreEntry store_entry(const IrModule *m, const CompileOptions *o) {
    Key k = {.arena = m->arena};
    if (!o->cache_dir) return (StoreEntry){0};
    put_compiler(&k);
    if (o->target == TARGET_CPU) put_processor(&k);
    put_options(&k, o);
    put_module(&k, m);
    uint64_t name[2] = {hash(k.bytes.at, k.bytes.n, 1), hash(k.bytes.at, k.bytes.n, UINT64_C(0x5851F42D4C957F2D))};
    return (StoreEntry){.folder = o->cache_dir,
                        .path = arena_printf(m->arena, "%s/%s%s%016" PRIx64 "%016" PRIx64 ".gpu", o->cache_dir,
                                             o->cache_name ? o->cache_name : "", o->cache_name ? "." : "", name[0],
                                             name[1]),
                        .key = k.bytes.at,
                        .key_size = k.bytes.n};
}

/* ---- files --------------------------------------------------------------------------------------- */

/* Of this user, and written by nobody else. */
static bool is_own(const struct stat *s) { return s->st_uid == geteuid() && !(s->st_mode & (S_IWGRP | S_IWOTH)); }

static bool is_own_folder(const char *folder) {
    struct stat s;
    return stat(folder, &s) == 0 && S_ISDIR(s.st_mode) && is_own(&s);
}

static bool read_all(int fd, void *to, size_t size) {
    for (char *at = to; size > 0;) {
        ssize_t n = read(fd, at, size);
        if (n <= 0) return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

static bool write_all(int fd, const void *from, size_t size) {
    for (const char *at = from; size > 0;) {
        ssize_t n = write(fd, at, size);
        if (n <= 0) return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

/* The whole file, behind its head; NULL: it isn't what was written. */
static uint8_t *read_file(int fd, const StoreEntry *e, FileHead *head) {
    struct stat s;
    if (fstat(fd, &s) != 0 || !S_ISREG(s.st_mode) || !is_own(&s)) return NULL;
    if (!read_all(fd, head, sizeof *head) || memcmp(head->magic, magic, sizeof magic) != 0) return NULL;
    if (head->key_size != e->key_size || head->code_size > MOST_KEPT) return NULL;
    size_t size = head->key_size + head->code_size;
    if ((uint64_t)s.st_size != sizeof *head + size) return NULL;
    uint8_t *bytes = malloc(size + 1);
    if (bytes && read_all(fd, bytes, size) && hash(bytes, size, 0) == head->check &&
        memcmp(bytes, e->key, e->key_size) == 0)
        return bytes;
    free(bytes);
    return NULL;
}

void *store_read(const StoreEntry *e, size_t *size) {
    if (!e->path || !is_own_folder(e->folder)) return NULL;
    int fd = open(e->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return NULL;
    FileHead head;
    uint8_t *bytes = read_file(fd, e, &head);
    if (bytes) {
        futimens(fd, (struct timespec[]){{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_OMIT}}); /* what isn't used goes */
        memmove(bytes, bytes + head.key_size, head.code_size);
        bytes[head.code_size] = 0;
        *size = head.code_size;
    }
    close(fd);
    return bytes;
}

/* ---- what is too much goes ------------------------------------------------------------------------- */

typedef struct Kept {
    char name[NAME_MAX + 1];
    int64_t size;
    struct timespec used;
} Kept;

static int by_age(const void *a, const void *b) {
    const struct timespec *x = &((const Kept *)a)->used, *y = &((const Kept *)b)->used;
    if (x->tv_sec != y->tv_sec) return x->tv_sec < y->tv_sec ? -1 : 1;
    return (x->tv_nsec > y->tv_nsec) - (x->tv_nsec < y->tv_nsec);
}

static Kept *list_folder(DIR *folder, size_t *n, int64_t *total) {
    Kept *kept = NULL;
    size_t room = 0;
    struct stat s;
    for (struct dirent *at; (at = readdir(folder));) {
        if (!strstr(at->d_name, ".gpu") || strlen(at->d_name) >= sizeof kept->name) continue;
        if (fstatat(dirfd(folder), at->d_name, &s, AT_SYMLINK_NOFOLLOW) != 0) continue;
        if (*n == room) {
            Kept *more = realloc(kept, (room = 2 * room + 64) * sizeof *kept);
            if (!more) break;
            kept = more;
        }
        kept[*n] = (Kept){.size = s.st_size, .used = s.st_atim};
        strcpy(kept[(*n)++].name, at->d_name);
        *total += s.st_size;
    }
    return kept;
}

static void trim(const char *path) {
    DIR *folder = opendir(path);
    if (!folder) return;
    size_t n = 0;
    int64_t total = 0;
    Kept *kept = list_folder(folder, &n, &total);
    if (total > MOST_KEPT) {
        qsort(kept, n, sizeof *kept, by_age);
        for (size_t i = 0; i < n && total > MOST_KEPT / 4 * 3; i++) {
            unlinkat(dirfd(folder), kept[i].name, 0);
            total -= kept[i].size;
        }
    }
    free(kept);
    closedir(folder);
}

void store_write(const StoreEntry *e, const void *code, size_t size) {
    static atomic_uint writes;
    if (!e->path || !is_own_folder(e->folder)) return;
    unsigned number = atomic_fetch_add(&writes, 1);
    size_t whole = e->key_size + size;
    uint8_t *bytes = malloc(whole + 1);
    char *unfinished = NULL;
    if (!bytes || asprintf(&unfinished, "%s.%ld.%u", e->path, (long)getpid(), number) < 0) {
        free(bytes);
        return;
    }
    memcpy(bytes, e->key, e->key_size);
    memcpy(bytes + e->key_size, code, size);
    FileHead head = {.key_size = e->key_size, .code_size = size, .check = hash(bytes, whole, 0)};
    memcpy(head.magic, magic, sizeof magic);
    int fd = open(unfinished, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool written = fd >= 0 && write_all(fd, &head, sizeof head) && write_all(fd, bytes, whole);
    if (fd >= 0 && close(fd) != 0) written = false;
    if (fd >= 0 && (!written || rename(unfinished, e->path) != 0)) unlink(unfinished);
    if (number % SCAN_EVERY == 0) trim(e->folder);
    free(unfinished);
    free(bytes);
}
