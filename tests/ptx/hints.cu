// Instructions that change nothing but time: prefetches, discards, sleeping, launch control.
// nvcc -arch=sm_90
/*
x = np.arange(64, dtype=np.int32)
out = np.zeros(64, np.int32)
launch("k", 1, 64, out, x)
same(out, x + 1)
*/
extern "C" __global__ void k(int *out, const int *x) {
    int i = threadIdx.x;
    asm volatile("prefetch.global.L1 [%0]; prefetch.global.L2 [%0]; prefetchu.L1 [%0];" ::"l"(x + i));
    asm volatile("griddepcontrol.wait;" ::: "memory");
    int v;
    asm volatile("ldu.global.u32 %0, [%1];" : "=r"(v) : "l"(x + i));
    __nanosleep(100);
    asm volatile("applypriority.global.L2::evict_normal [%0], 128;" ::"l"((unsigned long long)(out + i) & ~127ull));
    out[i] = v + 1;
    asm volatile("pmevent 3;");
    asm volatile("griddepcontrol.launch_dependents;");
}
