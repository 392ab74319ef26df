/* cores.h - how many cores this process may keep busy. */
#ifndef GPU_CORES_H
#define GPU_CORES_H

/* Cores that its affinity allows, or fewer if a control group (of a container, a batch system) gives it less time. */
int cores_usable(void);

/* Cores' worth of time that the control groups leave, rounded up; 0: no limit. `root` stands before /proc and /sys. */
int cores_of_groups(const char *root);

#endif
