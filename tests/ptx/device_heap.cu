// malloc and free in a kernel, with memset and memcpy.
/*
out = np.zeros(64, np.int32)
launch("k", 1, 64, out)
i = np.arange(64)
same(out, np.array([sum(range(k + 1)) + k * 0x01010101 for k in i]).astype(np.int64).astype(np.int32))
*/
extern "C" __global__ void k(int *out) {
    int i = threadIdx.x, sum = 0;
    int *list = (int *)malloc((i + 1) * sizeof(int)), *copy = (int *)malloc((i + 1) * sizeof(int));
    for (int j = 0; j <= i; j++) list[j] = j;
    memcpy(copy, list, (i + 1) * sizeof(int));
    for (int j = 0; j <= i; j++) sum += copy[j];
    memset(list, i, 4);
    out[i] = sum + list[0];
    free(list);
    free(copy);
}
