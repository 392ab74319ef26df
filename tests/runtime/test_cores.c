/* test_cores.c - the limits of control groups, as files of both versions state them. */
#define _GNU_SOURCE
#include "../../runtime/cores.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int failures;

#define CHECK(x) ((x) ? (void)0 : (void)(failures++, printf("%s:%d: %s\n", __FILE__, __LINE__, #x)))

typedef struct File {
    const char *path, *text;
} File;

static void write_file(const char *root, const File *file) {
    char path[512];
    snprintf(path, sizeof path, "%s%s", root, file->path);
    for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = 0;
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *f = fopen(path, "w");
    CHECK(f && fputs(file->text, f) >= 0);
    if (f) fclose(f);
}

/* Below a folder of its own. */
static int cores_with(const File *files, size_t n) {
    char root[] = "/tmp/test_cores_XXXXXX", command[64];
    CHECK(mkdtemp(root));
    for (size_t i = 0; i < n; i++) write_file(root, &files[i]);
    int cores = cores_of_groups(root);
    snprintf(command, sizeof command, "rm -r %s", root);
    CHECK(system(command) == 0);
    return cores;
}

#define CORES(...) cores_with((const File[]){__VA_ARGS__}, sizeof((const File[]){__VA_ARGS__}) / sizeof(File))

int main(void) {
    const File v2 = {"/proc/self/cgroup", "0::/a/b\n"}, whole = {"/proc/self/cgroup", "0::/\n"};
    const File v1 = {"/proc/self/cgroup", "5:memory:/m\n4:cpu,cpuacct:/docker/1\n3:cpuset:/c\n0::/\n"};

    CHECK(cores_of_groups("/nowhere") == 0);
    CHECK(CORES(v2) == 0);
    CHECK(CORES(whole, {"/sys/fs/cgroup/cpu.max", "max 100000\n"}) == 0);
    CHECK(CORES(whole, {"/sys/fs/cgroup/cpu.max", "200000 100000\n"}) == 2);
    CHECK(CORES(whole, {"/sys/fs/cgroup/cpu.max", "150000 100000\n"}) == 2);
    CHECK(CORES(whole, {"/sys/fs/cgroup/cpu.max", "1000 100000\n"}) == 1);
    CHECK(CORES(whole, {"/sys/fs/cgroup/cpu.max", "nonsense\n"}) == 0);
    /* the least of all around */
    CHECK(CORES(v2, {"/sys/fs/cgroup/a/b/cpu.max", "800000 100000\n"}, {"/sys/fs/cgroup/a/cpu.max", "300000 100000\n"},
                {"/sys/fs/cgroup/cpu.max", "max 100000\n"}) == 3);
    /* a container that sees the host's path and its own files */
    CHECK(CORES(v2, {"/sys/fs/cgroup/cpu.max", "400000 100000\n"}) == 4);
    CHECK(CORES(v1, {"/sys/fs/cgroup/cpu/docker/1/cpu.cfs_quota_us", "250000\n"},
                {"/sys/fs/cgroup/cpu/docker/1/cpu.cfs_period_us", "100000\n"}) == 3);
    CHECK(CORES(v1, {"/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"},
                {"/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"}) == 0);
    CHECK(CORES(v1, {"/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n"},
                {"/sys/fs/cgroup/cpu/cpu.cfs_period_us", "50000\n"}) == 1);
    CHECK(cores_usable() >= 1);
    printf("test_cores: %s\n", failures ? "FAILED" : "ok");
    return failures != 0;
}
