/* driver_device.c - cuDevice...: which devices there are and what they pretend to be. */
#include "driver.h"

#include <stdio.h>
#include <string.h>

CUresult cuDeviceGet(CUdevice *out, int ordinal) {
    CUresult r = call_check(ENTRY_cuDeviceGet, NEEDS_INIT);
    if (r) return r;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    if (!device_find(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
    *out = ordinal;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count) {
    CUresult r = call_check(ENTRY_cuDeviceGetCount, NEEDS_INIT);
    if (r) return r;
    if (!count) return CUDA_ERROR_INVALID_VALUE;
    *count = (int)driver.options.devices;
    return CUDA_SUCCESS;
}

/* What the functions below begin with: `out` must be a pointer, the device there. */
static CUresult begin(Entry entry, const void *out, CUdevice ordinal, const Device **device) {
    CUresult r = call_check(entry, NEEDS_INIT);
    if (r) return r;
    if (!out) return CUDA_ERROR_INVALID_VALUE;
    *device = device_find(ordinal);
    return *device ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGetName(char *name, int length, CUdevice ordinal) {
    const Device *d;
    CUresult r = begin(ENTRY_cuDeviceGetName, name, ordinal, &d);
    if (r) return r;
    if (length <= 0) return CUDA_ERROR_INVALID_VALUE;
    snprintf(name, (size_t)length, "Emulated GPU sm_%d", d->arch->sm);
    return CUDA_SUCCESS;
}

static CUresult uuid(Entry entry, CUuuid *out, CUdevice ordinal) {
    const Device *d;
    CUresult r = begin(entry, out, ordinal, &d);
    if (r) return r;
    memcpy(out->bytes, "gpu emulator\0\0\0", 16);
    out->bytes[14] = (uint8_t)d->arch->sm;
    out->bytes[15] = (uint8_t)ordinal;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid *out, CUdevice ordinal) { return uuid(ENTRY_cuDeviceGetUuid, out, ordinal); }
CUresult cuDeviceGetUuid_v2(CUuuid *out, CUdevice ordinal) { return uuid(ENTRY_cuDeviceGetUuid_v2, out, ordinal); }

/* Identifiers of Windows. */
CUresult cuDeviceGetLuid(char *luid, uint32_t *mask, CUdevice ordinal) {
    const Device *d;
    CUresult r = begin(ENTRY_cuDeviceGetLuid, luid, ordinal, &d);
    return r ? r : mask ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice ordinal) {
    const Device *d;
    CUresult r = begin(ENTRY_cuDeviceTotalMem_v2, bytes, ordinal, &d);
    if (r) return r;
    uint64_t available, total;
    memory_info(d->memory, &available, &total);
    *bytes = total;
    return CUDA_SUCCESS;
}

static bool attribute(const Arch *a, int ordinal, int which, int *value) {
    switch (which) {
#define CUDA_DEVICE_ATTRIBUTE(number, name, emulated)                                                                  \
    case number:                                                                                                       \
        *value = emulated;                                                                                             \
        return true;
#include "../cuda_attributes.def"
    default: return false;
    }
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute which, CUdevice ordinal) {
    const Device *d;
    CUresult r = begin(ENTRY_cuDeviceGetAttribute, value, ordinal, &d);
    if (r) return r;
    return attribute(d->arch, ordinal, (int)which, value) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice ordinal) {
    const Device *d;
    CUresult r = begin(ENTRY_cuDeviceComputeCapability, major, ordinal, &d);
    if (r) return r;
    if (!minor) return CUDA_ERROR_INVALID_VALUE;
    *major = d->arch->sm / 10;
    *minor = d->arch->sm % 10;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetProperties(CUdevprop *p, CUdevice ordinal) {
    const Device *d;
    CUresult r = begin(ENTRY_cuDeviceGetProperties, p, ordinal, &d);
    if (r) return r;
    const struct {
        CUdevice_attribute which;
        int *to;
    } wanted[] = {
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &p->maxThreadsPerBlock},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, &p->maxThreadsDim[0]},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, &p->maxThreadsDim[1]},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, &p->maxThreadsDim[2]},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, &p->maxGridSize[0]},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, &p->maxGridSize[1]},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, &p->maxGridSize[2]},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, &p->sharedMemPerBlock},
        {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, &p->totalConstantMemory},
        {CU_DEVICE_ATTRIBUTE_WARP_SIZE, &p->SIMDWidth},
        {CU_DEVICE_ATTRIBUTE_MAX_PITCH, &p->memPitch},
        {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, &p->regsPerBlock},
        {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, &p->clockRate},
        {CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, &p->textureAlign},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        attribute(d->arch, ordinal, (int)wanted[i].which, wanted[i].to);
    return CUDA_SUCCESS;
}

/* ---- on a bus that isn't there ----------------------------------------------------------------- */

CUresult cuDeviceGetPCIBusId(char *id, int length, CUdevice ordinal) {
    const Device *d;
    CUresult r = begin(ENTRY_cuDeviceGetPCIBusId, id, ordinal, &d);
    if (r) return r;
    if (length < 13) return CUDA_ERROR_INVALID_VALUE;
    snprintf(id, (size_t)length, "0000:%02X:00.0", 1 + (unsigned)ordinal);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetByPCIBusId(CUdevice *out, const char *id) {
    CUresult r = call_check(ENTRY_cuDeviceGetByPCIBusId, NEEDS_INIT);
    if (r) return r;
    if (!out || !id) return CUDA_ERROR_INVALID_VALUE;
    unsigned domain = 0, bus, slot, function = 0;
    if (sscanf(id, "%x:%x:%x.%x", &domain, &bus, &slot, &function) != 4) {
        domain = function = 0;
        if (sscanf(id, "%x:%x.%x", &bus, &slot, &function) < 2) return CUDA_ERROR_INVALID_VALUE;
    }
    if (domain || slot || function || bus < 1 || !device_find((int)bus - 1)) return CUDA_ERROR_INVALID_DEVICE;
    *out = (int)bus - 1;
    return CUDA_SUCCESS;
}

/* ---- between devices: copies only -------------------------------------------------------------- */

CUresult cuDeviceCanAccessPeer(int *can, CUdevice ordinal, CUdevice peer) {
    const Device *d;
    CUresult r = begin(ENTRY_cuDeviceCanAccessPeer, can, ordinal, &d);
    if (r) return r;
    if (!device_find(peer)) return CUDA_ERROR_INVALID_DEVICE;
    *can = 0;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute which, CUdevice from, CUdevice to) {
    const Device *d;
    CUresult r = begin(ENTRY_cuDeviceGetP2PAttribute, value, from, &d);
    if (r) return r;
    if (!device_find(to) || from == to) return CUDA_ERROR_INVALID_DEVICE;
    if (which < 1 || which > 5) return CUDA_ERROR_INVALID_VALUE;
    *value = 0;
    return CUDA_SUCCESS;
}

/* ---- what isn't there -------------------------------------------------------------------------- */

CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t *width, CUarray_format format, uint32_t channels, CUdevice ordinal) {
    (void)format, (void)channels;
    const Device *d;
    CUresult r = begin(ENTRY_cuDeviceGetTexture1DLinearMaxWidth, width, ordinal, &d);
    return r ? r : CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuDeviceGetExecAffinitySupport(int *supported, CUexecAffinityType type, CUdevice ordinal) {
    (void)type;
    const Device *d;
    CUresult r = begin(ENTRY_cuDeviceGetExecAffinitySupport, supported, ordinal, &d);
    if (r) return r;
    *supported = 0;
    return CUDA_SUCCESS;
}
