/* profile.c - the emulator's counters (emulator/private_api.h), asked for through its library. */
#include "profile.h"

#include "cuda.h"

static Status emulator(const CudaDriver **out, Failure *f) {
    Status status = cuda_driver("emulated", out, f);
    if (status == GPU_OK && cuda_forked(*out))
        return failure_set(f, GPU_ERROR_NO_DEVICE, "this process was forked after the emulator was used");
    return status;
}

Status emulated_profile(bool on, Failure *f) {
    const CudaDriver *cu;
    Status status = emulator(&cu, f);
    if (status == GPU_OK) cu->profile(on);
    return status;
}

Status emulated_profile_read(EmulatorLine **lines, size_t *n, Failure *f) {
    const CudaDriver *cu;
    Status status = emulator(&cu, f);
    if (status == GPU_OK) *lines = cu->profile_read(n);
    return status;
}

void emulated_profile_free(EmulatorLine *lines) {
    const CudaDriver *cu;
    Failure f;
    if (emulator(&cu, &f) == GPU_OK) cu->free_lines(lines);
    else failure_clear(&f);
}
