/* cuda_load.c - the driver's library: found, opened, asked for its functions. Or: why there is none.
 *
 * Functions are asked for with cuGetProcAddress at the version from which on they have the parameters that cuda_api.def
 * gives, so that a newer driver hands out the same variant; a driver without it (before 11.3) by name. The real driver
 * is libcuda.so.1, or what GPU_LIBCUDA names; the emulator lies beside this library. */
#define _GNU_SOURCE
#include "cuda.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Library {
    CudaDriver driver;
    bool tried, initialized;
    bool forked;
    char *problem; /* of the attempt that failed */
} Library;

static Library libraries[2] = {{.driver = {.kind = "cuda"}}, {.driver = {.kind = "emulated"}}};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- fork -------------------------------------------------------------------------------------- */

static void before_fork(void) { pthread_mutex_lock(&lock); }
static void in_parent(void) { pthread_mutex_unlock(&lock); }

static void in_child(void) {
    for (int i = 0; i < 2; i++) libraries[i].forked = libraries[i].initialized;
    pthread_mutex_unlock(&lock);
}

static void watch_forks(void) { pthread_atfork(before_fork, in_parent, in_child); }

/* The driver is the first member of its Library. */
bool cuda_forked(const CudaDriver *cu) { return ((const Library *)(const void *)cu)->forked; }

/* ---- opening ----------------------------------------------------------------------------------- */

static bool exists(const char *path) { return access(path, F_OK) == 0; }

/* Why dlopen refused a file that is there. */
static Status bad_file(const char *path, const char *error, Failure *f) {
    unsigned char head[20] = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof head);
    if (fd >= 0) close(fd);
    uint16_t machine = (uint16_t)(head[18] | head[19] << 8);
    if (n == 0) return failure_set(f, GPU_ERROR_NO_DEVICE, "%s is empty: install the NVIDIA driver again", path);
    if (n == sizeof head && memcmp(head, ELFMAG, SELFMAG) == 0 &&
        (machine != EM_X86_64 || head[EI_CLASS] != ELFCLASS64))
        return failure_set(f, GPU_ERROR_NO_DEVICE,
                           "%s is a library for another architecture (ELF machine %u), and this Python runs on x86-64: "
                           "install the driver of this architecture, or a Python of that one",
                           path, machine);
    return failure_set(f, GPU_ERROR_NO_DEVICE, "%s can't be loaded: %s", path, error);
}

static Status no_library(const char *path, const char *error, Failure *f) {
    if (strchr(path, '/')) {
        if (exists(path)) return bad_file(path, error, f);
        return failure_set(f, GPU_ERROR_NO_DEVICE, "%s isn't there", path);
    }
    /* "/usr/lib/libcuda.so.1: file too short", "libcuda.so.1: cannot open shared object file: No such file ..." */
    if (!strstr(error, "No such file")) {
        char file[512];
        snprintf(file, sizeof file, "%.*s", (int)strcspn(error, ":"), error);
        return bad_file(file, error, f);
    }
    const char *help = exists("/proc/driver/nvidia/version") || exists("/dev/nvidiactl")
                           ? "the kernel has NVIDIA's driver, so its libraries are missing: in a container, start it "
                             "with its devices (docker run --gpus all), else install libcuda1"
                       : exists("/dev/dxg") ? "in WSL 2 it comes with the Windows driver: update that"
                                            : "for an NVIDIA GPU install its driver; without one GPU_DEVICE=cpu and "
                                              "GPU_DEVICE=emulated work";
    return failure_set(f, GPU_ERROR_NO_DEVICE, "there is no NVIDIA driver here: %s isn't installed; %s", path, help);
}

static Status open_path(const char *path, void **out, Failure *f) {
    *out = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (*out) return GPU_OK;
    const char *error = dlerror();
    return no_library(path, error ? error : "no reason is given", f);
}

static Status open_real(void **out, Failure *f) {
    static const char windows[] = "/usr/lib/wsl/lib/libcuda.so.1";
    const char *named = getenv("GPU_LIBCUDA");
    if (named && *named) return open_path(named, out, f);
    if (!(*out = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) && exists(windows)) return open_path(windows, out, f);
    return *out ? GPU_OK : open_path("libcuda.so.1", out, f);
}

/* The emulator lies in the folder of the library or program that has this code. */
static Status open_emulator(void **out, Failure *f) {
    static const char name[] = "libgpu_emulated.so";
    Dl_info info;
    char path[4096];
    const char *self = dladdr(&libraries, &info) && info.dli_fname ? info.dli_fname : "";
    const char *slash = strrchr(self, '/');
    int n = snprintf(path, sizeof path, "%.*s%s", slash ? (int)(slash - self) + 1 : 0, self, name);
    if (n < 0 || n >= (int)sizeof path) return failure_set(f, GPU_ERROR_NO_DEVICE, "the path of %s is too long", name);
    Status status = open_path(path, out, f);
    if (status == GPU_OK || exists(path)) return status;
    failure_clear(f);
    return failure_set(f, GPU_ERROR_NO_DEVICE, "the emulator %s isn't there: install the package gpu again", path);
}

/* ---- functions --------------------------------------------------------------------------------- */

typedef struct Row {
    const char *name, *base;
    int since;
    size_t offset;
} Row;

static const Row table[] = {
#define CUDA_USED(name, base, since, stream, parameters) {#name, #base, since, offsetof(CudaDriver, name)},
#include "cuda_api.def"
};
enum { NROWS = sizeof table / sizeof *table };

typedef CUresult (*GetProc)(const char *, void **, int, uint64_t, CUdriverProcAddressQueryResult *);

static Status too_old(CudaDriver *cu, const char *missing, Failure *f) {
    return failure_set(
        f, GPU_ERROR_NO_DEVICE,
        "the NVIDIA driver is too old: it is for CUDA %d.%d%s%s, and gpu needs one for CUDA %d.%d or later "
        "(R%d); install a newer driver",
        cu->version / 1000, cu->version % 1000 / 10, missing ? " and lacks " : "", missing ? missing : "",
        OLDEST_DRIVER / 1000, OLDEST_DRIVER % 1000 / 10, 450);
}

static Status find_functions(CudaDriver *cu, void *library, Failure *f) {
    GetProc get = NULL;
    void *symbol = dlsym(library, "cuGetProcAddress_v2");
    memcpy(&get, &symbol, sizeof get);
    for (int i = 0; i < NROWS; i++) {
        const Row *row = &table[i];
        CUdriverProcAddressQueryResult found;
        void *fn = NULL;
        if (get && get(row->base, &fn, row->since, CU_GET_PROC_ADDRESS_LEGACY_STREAM, &found) != CUDA_SUCCESS)
            fn = NULL;
        if (!fn) fn = dlsym(library, row->name);
        if (!fn && row->since <= OLDEST_DRIVER) return too_old(cu, row->name, f);
        memcpy((char *)cu + row->offset, &fn, sizeof fn);
    }
    return GPU_OK;
}

/* What only the emulator exports. */
static void find_private(CudaDriver *cu, void *library) {
    const struct {
        const char *name;
        void *at;
    } rows[] = {{"gpuEmulatorTakeFault", &cu->take_fault},     {"gpuEmulatorFreeFault", &cu->free_fault},
                {"gpuEmulatorPrintFaults", &cu->print_faults}, {"gpuEmulatorForgive", &cu->forgive},
                {"gpuEmulatorInterrupt", &cu->interrupt},      {"gpuEmulatorProfile", &cu->profile},
                {"gpuEmulatorProfileRead", &cu->profile_read}, {"gpuEmulatorFreeLines", &cu->free_lines}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        void *fn = dlsym(library, rows[i].name);
        memcpy(rows[i].at, &fn, sizeof fn);
    }
}

/* ---- starting ---------------------------------------------------------------------------------- */

/* What the device files say where the driver only says that there is nothing. */
static const char *device_files(void) {
    if (exists("/dev/dxg")) return "";
    if (!exists("/dev/nvidiactl"))
        return exists("/.dockerenv") || exists("/run/.containerenv")
                   ? "; this container has no GPU devices (/dev/nvidiactl): start it with --gpus all"
                   : "; there is no /dev/nvidiactl: is the kernel module loaded? (modprobe nvidia)";
    if (access("/dev/nvidiactl", R_OK | W_OK) != 0)
        return "; this user may not open /dev/nvidiactl: see its group and permissions";
    return "";
}

static Status cannot_start(CudaDriver *cu, CUresult r, const char *call, Failure *f) {
    const char *advice = cuda_error_advice(r), *visible = getenv("CUDA_VISIBLE_DEVICES");
    if (strcmp(cu->kind, "cuda") != 0)
        return failure_set(f, GPU_ERROR_NO_DEVICE, "the emulated driver doesn't start: %s (%s from %s)%s",
                           cuda_error_text(cu, r), cuda_error_name(cu, r), call,
                           r == CUDA_ERROR_INVALID_VALUE
                               ? "; a variable GPU_EMULATOR_... has a value that makes no sense, stderr says which"
                               : "");
    failure_set(f, GPU_ERROR_NO_DEVICE, "the NVIDIA driver doesn't start: %s (%s from cuInit)%s%s%s%s%s",
                cuda_error_text(cu, r), cuda_error_name(cu, r), *advice ? "; " : "", advice, device_files(),
                visible ? "; CUDA_VISIBLE_DEVICES is " : "", visible ? (*visible ? visible : "empty") : "");
    f->code = (int)r;
    f->call = "cuInit";
    return f->status;
}

/* Before anything else: a driver that is too old is to be told from one that is broken. */
static Status ask_version(CudaDriver *cu, void *library, Failure *f) {
    CUresult (*get_version)(int *) = NULL;
    void *symbol = dlsym(library, "cuDriverGetVersion");
    memcpy(&get_version, &symbol, sizeof get_version);
    if (!get_version)
        return failure_set(f, GPU_ERROR_NO_DEVICE, "the library isn't a CUDA driver: it has no cuDriverGetVersion");
    CUresult r = get_version(&cu->version);
    if (r && strcmp(cu->kind, "cuda") != 0) return cannot_start(cu, r, "cuDriverGetVersion", f);
    if (r) {
        cuda_fail(NULL, cu, r, "cuDriverGetVersion", f);
        return f->status = GPU_ERROR_NO_DEVICE;
    }
    return cu->version < OLDEST_DRIVER ? too_old(cu, NULL, f) : GPU_OK;
}

static Status start(Library *l, Failure *f) {
    void *library;
    CudaDriver *cu = &l->driver;
    bool real = strcmp(cu->kind, "cuda") == 0;
    Status status = real ? open_real(&library, f) : open_emulator(&library, f);
    if (status == GPU_OK) status = ask_version(cu, library, f);
    if (status == GPU_OK) status = find_functions(cu, library, f);
    if (status != GPU_OK) return status;
    CUresult r = cu->cuInit(0);
    if (r) return cannot_start(cu, r, "cuInit", f);
    find_private(cu, library);
    if (cu->take_fault && cu->print_faults) cu->print_faults(false); /* they become exceptions */
    l->initialized = true;
    return GPU_OK;
}

Status cuda_driver(const char *kind, const CudaDriver **out, Failure *f) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, watch_forks);
    Library *l = &libraries[strcmp(kind, libraries[1].driver.kind) == 0];
    Status status = GPU_OK;
    pthread_mutex_lock(&lock);
    *out = &l->driver;
    if (!l->tried) {
        l->tried = true;
        status = start(l, f);
        if (status != GPU_OK) l->problem = strdup(f->text ? f->text : "the driver doesn't start");
    } else if (!l->initialized) {
        status = failure_set(f, GPU_ERROR_NO_DEVICE, "%s", l->problem ? l->problem : "the driver doesn't start");
    }
    pthread_mutex_unlock(&lock);
    return status;
}
