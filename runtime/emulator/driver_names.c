/* driver_names.c - cuGetProcAddress, the texts of errors, versions, and the functions that are refused by name. */
#include "driver.h"

#include <string.h>

/* ---- errors ------------------------------------------------------------------------------------ */

static const struct {
    CUresult code;
    const char *name, *text;
} errors[] = {
#define CUDA_ERROR(code, name, text, advice) {(CUresult)code, #name, text},
#include "../cuda_errors.def"
};

static CUresult error_text(Entry entry, CUresult code, const char **out, bool name) {
    CUresult r = call_check(entry, NEEDS_NOTHING);
    if (r) return r;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    *out = NULL;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        if (errors[i].code == code) *out = name ? errors[i].name : errors[i].text;
    }
    return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorName(CUresult code, const char **out) { return error_text(ENTRY_cuGetErrorName, code, out, true); }
CUresult cuGetErrorString(CUresult code, const char **out) {
    return error_text(ENTRY_cuGetErrorString, code, out, false);
}

/* ---- versions ---------------------------------------------------------------------------------- */

CUresult cuDriverGetVersion(int *version) {
    CUresult r = call_check(ENTRY_cuDriverGetVersion, NEEDS_NOTHING);
    if (r) return r;
    if (!version) return CUDA_ERROR_INVALID_VALUE;
    if (!driver.options.driver) return driver.start_error; /* what the environment says makes no sense */
    *version = (int)driver.options.driver;
    return CUDA_SUCCESS;
}

/* ---- names ------------------------------------------------------------------------------------- */

enum { NONE, PTDS, PTSZ };

/* A driver gives out variants for the thread's own default stream from this version on. */
enum { PER_THREAD_SINCE = 7000 };

static const struct {
    const char *base;
    int since, stream;
    void (*function)(void);
} names[ENTRY_COUNT] = {
#define CUDA_USED(name, base, since, stream, parameters) {#base, since, stream, (void (*)(void))name},
#define CUDA_MORE CUDA_USED
#define CUDA_REFUSED(name, base, since, stream) {#base, since, stream, (void (*)(void))name},
#include "../cuda_api.def"
};

/* The newest variant of `base` that a caller who knows `version` can call. Work of a thread's own default stream is
 * done in the same order as that of the legacy one: one function serves both. */
static CUresult find_name(const char *base, void **out, int version, uint64_t flags,
                          CUdriverProcAddressQueryResult *found) {
    int best = -1;
    bool known = false;
    for (int i = 0; i < ENTRY_COUNT; i++) {
        if (strcmp(names[i].base, base) != 0) continue;
        known = true;
        int since = names[i].since;
        if (flags & CU_GET_PROC_ADDRESS_PER_THREAD_STREAM && names[i].stream != NONE && since < PER_THREAD_SINCE)
            since = PER_THREAD_SINCE;
        if (since <= version && since <= (int)driver.options.driver && (best < 0 || names[i].since > names[best].since))
            best = i;
    }
    *out = NULL;
    if (best >= 0) memcpy(out, &names[best].function, sizeof *out);
    if (found) {
        *found = best >= 0 ? CU_GET_PROC_ADDRESS_SUCCESS
                 : known   ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                           : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    }
    return best >= 0 ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetProcAddress(const char *base, void **out, int version, uint64_t flags) {
    CUresult r = call_check(ENTRY_cuGetProcAddress, NEEDS_NOTHING);
    if (r) return r;
    if (!base || !out || flags > 3) return CUDA_ERROR_INVALID_VALUE;
    return find_name(base, out, version, flags, NULL);
}

/* With a place for the result, a name that isn't found is no error. */
CUresult cuGetProcAddress_v2(const char *base, void **out, int version, uint64_t flags,
                             CUdriverProcAddressQueryResult *found) {
    CUresult r = call_check(ENTRY_cuGetProcAddress_v2, NEEDS_NOTHING);
    if (r) return r;
    if (!base || !out || flags > 3) return CUDA_ERROR_INVALID_VALUE;
    r = find_name(base, out, version, flags, found);
    return found ? CUDA_SUCCESS : r;
}

/* Tables of functions that NVIDIA's own libraries use: there are none here. */
CUresult cuGetExportTable(const void **table, const CUuuid *id) {
    CUresult r = call_check(ENTRY_cuGetExportTable, NEEDS_NOTHING);
    if (r) return r;
    if (!table || !id) return CUDA_ERROR_INVALID_VALUE;
    *table = NULL;
    return CUDA_ERROR_NOT_FOUND;
}

/* ---- NVIDIA's profiler ------------------------------------------------------------------------- */

CUresult cuProfilerInitialize(const char *config, const char *output, int mode) {
    (void)config, (void)output, (void)mode;
    CUresult r = call_check(ENTRY_cuProfilerInitialize, NEEDS_WORKING);
    return r ? r : CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuProfilerStart(void) { return call_check(ENTRY_cuProfilerStart, NEEDS_WORKING); }
CUresult cuProfilerStop(void) { return call_check(ENTRY_cuProfilerStop, NEEDS_WORKING); }

/* ---- refused ----------------------------------------------------------------------------------- */

#define CUDA_REFUSED(name, base, since, stream)                                                                        \
    CUresult name(void) {                                                                                              \
        CUresult r = call_check(ENTRY_##name, NEEDS_INIT);                                                             \
        return r ? r : CUDA_ERROR_NOT_SUPPORTED;                                                                       \
    }
#include "../cuda_api.def"
