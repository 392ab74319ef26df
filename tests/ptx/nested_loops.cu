// Loops in loops with break and continue.
/*
out = np.zeros(100, np.int32)
launch("k", 1, 100, out)
def f(i):
    sum = 0
    for a in range(i % 17):
        if a % 3 == 1: continue
        for b in range(a):
            if a * b > i: break
            if (a ^ b) & 1: continue
            sum += a * b + 1
        if sum > 500: break
    return sum
same(out, np.array([f(i) for i in range(100)], np.int32))
*/
extern "C" __global__ void k(int *out) {
    int i = threadIdx.x, sum = 0;
    for (int a = 0; a < i % 17; a++) {
        if (a % 3 == 1) continue;
        for (int b = 0; b < a; b++) {
            if (a * b > i) break;
            if ((a ^ b) & 1) continue;
            sum += a * b + 1;
        }
        if (sum > 500) break;
    }
    out[i] = sum;
}
