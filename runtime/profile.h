/* profile.h - what kernels do, counted for each line of their source on the emulated devices. */
#ifndef GPU_PROFILE_H
#define GPU_PROFILE_H

#include "emulator/private_api.h"
#include "runtime.h"

/* Counting on all emulated devices from now on, or no longer; what was counted stays. NO_DEVICE: no emulator here. */
Status emulated_profile(bool on, Failure *f);
/* All lines counted so far, once what was launched has ended; may wait. To be given to emulated_profile_free(). */
Status emulated_profile_read(EmulatorLine **lines, size_t *n, Failure *f);
void emulated_profile_free(EmulatorLine *lines);

#endif
