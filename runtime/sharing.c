/* sharing.c - files in memory, and the handles by which other processes open them. See sharing.h. */
#define _GNU_SOURCE
#include "sharing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SEALS = F_SEAL_SHRINK | F_SEAL_GROW };

/* The 64 bytes of a handle. */
typedef struct SharingHandle {
    char kind[8];
    int32_t process, descriptor;
    uint64_t bytes, device, number;
    uint8_t rest[24];
} SharingHandle;
_Static_assert(sizeof(SharingHandle) == 64, "as large as a driver's");

size_t sharing_whole_pages(size_t bytes) { return (bytes + SHARING_PAGE - 1) & ~(size_t)(SHARING_PAGE - 1); }

static bool fill(int file, const char *from, size_t bytes) {
    for (size_t done = 0; done < bytes;) {
        ssize_t n = pwrite(file, from + done, bytes - done, (off_t)done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        done += (size_t)n;
    }
    return true;
}

int sharing_begin(void *pages, size_t bytes) {
    int file = memfd_create("gpu array", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0) return -1;
    if (ftruncate(file, (off_t)bytes) == 0 && fcntl(file, F_ADD_SEALS, SEALS) == 0 && fill(file, pages, bytes) &&
        mmap(pages, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED)
        return file;
    int why = errno;
    close(file);
    errno = why;
    return -1;
}

bool sharing_end(void *pages, size_t bytes, int file) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    if (mmap(pages, bytes, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED) return false;
    close(file);
    return true;
}

bool sharing_describe(int file, size_t bytes, uint8_t handle[64]) {
    struct stat about;
    if (fstat(file, &about)) return false;
    SharingHandle h = {.kind = "gpu mem", .process = getpid(), .descriptor = file, .bytes = bytes};
    h.device = about.st_dev;
    h.number = about.st_ino;
    memcpy(handle, &h, sizeof h);
    return true;
}

pid_t sharing_process(const uint8_t handle[64]) {
    SharingHandle h;
    memcpy(&h, handle, sizeof h);
    return h.process;
}

int sharing_open(const uint8_t handle[64], size_t *bytes) {
    SharingHandle h;
    memcpy(&h, handle, sizeof h);
    errno = EINVAL;
    if (memcmp(h.kind, "gpu mem", sizeof h.kind) || !h.bytes || h.bytes > SIZE_MAX / 2) return -1;
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)h.process, (int)h.descriptor);
    int file = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return -1;
    struct stat about;
    bool same = fstat(file, &about) == 0 && about.st_dev == h.device && about.st_ino == h.number &&
                about.st_size == (off_t)sharing_whole_pages(h.bytes) && (fcntl(file, F_GET_SEALS) & SEALS) == SEALS;
    if (same) {
        *bytes = h.bytes;
        return file;
    }
    close(file);
    errno = ESTALE;
    return -1;
}
