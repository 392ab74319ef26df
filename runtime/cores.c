/* cores.c - see cores.h.
 *
 * A container limited to two cores of a large machine still sees all of them in its affinity. More threads than the
 * quota pays for end with all of them stopped for the rest of each period, so the quota counts. It is read where Linux
 * documents it: cpu.max of version 2 (Documentation/admin-guide/cgroup-v2.rst), cpu.cfs_quota_us of version 1
 * (Documentation/scheduler/sched-bwc.rst), in the group of the process and in those around it. */
#define _GNU_SOURCE
#include "cores.h"

#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool read_numbers(const char *folder, const char *file, long long *a, long long *b) {
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    FILE *f = fopen(path, "re");
    if (!f) return false;
    int n = fscanf(f, b ? "%lld %lld" : "%lld", a, b); /* "max 100000" has none */
    fclose(f);
    return n == (b ? 2 : 1);
}

/* Of this group itself; 0: none. */
static int quota_of(const char *folder) {
    long long quota, period;
    bool there =
        read_numbers(folder, "cpu.max", &quota, &period) || (read_numbers(folder, "cpu.cfs_quota_us", &quota, NULL) &&
                                                             read_numbers(folder, "cpu.cfs_period_us", &period, NULL));
    if (!there || quota <= 0 || period <= 0 || quota / period >= INT_MAX) return 0;
    return (int)((quota + period - 1) / period);
}

/* The least of a group and those around it. In a container the path may be the host's, which isn't there: what is
 * mounted is then the container's own group. */
static int least_quota(const char *root, const char *mount, const char *group) {
    char folder[PATH_MAX];
    int least = 0, n = snprintf(folder, sizeof folder, "%s%s", root, mount);
    int whole = snprintf(folder, sizeof folder, "%s%s%s", root, mount, group);
    if (whole < 0 || whole >= (int)sizeof folder) return 0;
    for (;;) {
        int quota = quota_of(folder);
        if (quota && (!least || quota < least)) least = quota;
        char *slash = strrchr(folder, '/');
        if (!slash || slash < folder + n) return least;
        *slash = 0;
    }
}

static bool has_controller(const char *list, const char *name) {
    size_t n = strlen(name);
    for (const char *at = list; at; at = strchr(at, ','), at = at ? at + 1 : NULL)
        if (strncmp(at, name, n) == 0 && (at[n] == ',' || at[n] == 0)) return true;
    return false;
}

int cores_of_groups(const char *root) {
    char path[PATH_MAX], line[PATH_MAX + 256], controllers[256], group[PATH_MAX];
    int least = 0;
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *f = fopen(path, "re");
    if (!f) return 0;
    while (fgets(line, sizeof line, f)) { /* "0::/user.slice", "4:cpu,cpuacct:/docker/1234" */
        *controllers = 0;
        bool second = sscanf(line, "0::%4095[^\n]", group) == 1;
        bool first = !second && sscanf(line, "%*d:%255[^:]:%4095[^\n]", controllers, group) == 2 &&
                     has_controller(controllers, "cpu");
        if (!first && !second) continue;
        int quota = least_quota(root, second ? "/sys/fs/cgroup" : "/sys/fs/cgroup/cpu", group);
        if (quota && (!least || quota < least)) least = quota;
    }
    fclose(f);
    return least;
}

static int cores_of_affinity(void) {
    /* The set may be larger than cpu_set_t holds: grow until the kernel takes it. */
    for (int n = CPU_SETSIZE; n <= 1 << 20; n *= 2) {
        cpu_set_t *set = CPU_ALLOC((size_t)n);
        if (!set) break;
        size_t size = CPU_ALLOC_SIZE((size_t)n);
        CPU_ZERO_S(size, set);
        int count = sched_getaffinity(0, size, set) == 0 ? CPU_COUNT_S(size, set) : 0;
        CPU_FREE(set);
        if (count > 0) return count;
    }
    return 1;
}

int cores_usable(void) {
    int cores = cores_of_affinity(), quota = cores_of_groups("");
    return quota && quota < cores ? quota : cores;
}
