/* driver_ipc.c - memory that another process opens. Events have no handles: queues are a process's own. */
#define _GNU_SOURCE
#include "../sharing.h"
#include "driver.h"

#include <stdlib.h>
#include <unistd.h>

CUresult cuIpcGetMemHandle(CUipcMemHandle *out, CUdeviceptr address) {
    Context *c;
    CUresult r = call_begin(ENTRY_cuIpcGetMemHandle, NEEDS_WORKING, &c);
    if (r) return r;
    Buffer *b = buffer_at(address);
    if (!out || !b || b->kind != ALLOC_DEVICE || b->pool || b->opened) return call_end(CUDA_ERROR_INVALID_VALUE);
    r = work_idle(b->context); /* what writes now would write into pages that are being exchanged */
    if (r) return call_end(r);
    int file = memory_share(b->device->memory, address);
    bool done = file >= 0 && sharing_describe(file, b->bytes, (uint8_t *)out->reserved);
    return call_end(done ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED);
}

/* Takes the file. */
static CUresult open_buffer(Context *c, int file, size_t bytes, CUdeviceptr *out) {
    Buffer *b = calloc(1, sizeof *b);
    uint64_t address = b ? memory_open_shared(c->device->memory, file, bytes) : 0;
    if (address) {
        *b = (Buffer){.address = address, .bytes = bytes, .kind = ALLOC_DEVICE, .opened = true};
        b->context = c;
        b->device = c->device;
        *out = address;
        if (buffer_add(b)) return CUDA_SUCCESS;
        memory_free(c->device->memory, address);
    } else {
        close(file);
    }
    free(b);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult open_handle(Entry entry, CUdeviceptr *out, const CUipcMemHandle *handle, uint32_t flags) {
    Context *c;
    CUresult r = call_begin(entry, NEEDS_WORKING, &c);
    if (r) return r;
    size_t bytes;
    if (!out || flags & ~(uint32_t)CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) return call_end(CUDA_ERROR_INVALID_VALUE);
    int file = sharing_open((const uint8_t *)handle->reserved, &bytes);
    if (file < 0) return call_end(CUDA_ERROR_INVALID_VALUE);
    if (sharing_process((const uint8_t *)handle->reserved) != getpid())
        return call_end(open_buffer(c, file, bytes, out));
    close(file); /* a process has its own memory without */
    return call_end(CUDA_ERROR_INVALID_CONTEXT);
}

CUresult cuIpcOpenMemHandle(CUdeviceptr *out, CUipcMemHandle handle, uint32_t flags) {
    return open_handle(ENTRY_cuIpcOpenMemHandle, out, &handle, flags);
}
CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *out, CUipcMemHandle handle, uint32_t flags) {
    return open_handle(ENTRY_cuIpcOpenMemHandle_v2, out, &handle, flags);
}

CUresult cuIpcCloseMemHandle(CUdeviceptr address) {
    Context *c;
    CUresult r = call_begin(ENTRY_cuIpcCloseMemHandle, NEEDS_WORKING, &c);
    if (r) return r;
    Buffer *b = buffer_at(address);
    if (!b || !b->opened) return call_end(CUDA_ERROR_INVALID_VALUE);
    r = work_idle(b->context);
    if (!r) buffer_drop(b);
    return call_end(r);
}

static CUresult refuse(Entry entry) {
    CUresult r = call_check(entry, NEEDS_WORKING);
    return r ? r : CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuIpcGetEventHandle(CUipcEventHandle *out, CUevent event) {
    (void)out, (void)event;
    return refuse(ENTRY_cuIpcGetEventHandle);
}
CUresult cuIpcOpenEventHandle(CUevent *out, CUipcEventHandle handle) {
    (void)out, (void)handle;
    return refuse(ENTRY_cuIpcOpenEventHandle);
}
