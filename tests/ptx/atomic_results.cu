// Atomics give the old value: tickets, exchange, compare-and-swap.
/*
tickets, seen = np.zeros(128, np.int32), np.zeros(128, np.int32)
cell = np.array([0, -1, 0], np.int32)
launch("k", 4, 32, cell, tickets, seen)
same(np.sort(tickets), np.arange(128, dtype=np.int32))
same(cell[:1], np.array([128], np.int32))
chain = set(seen.tolist()) | {int(cell[1])}
assert chain == set(range(-1, 128)), chain          # every value was exchanged out but the last
assert cell[2] == 128
*/
extern "C" __global__ void k(int *cell, int *tickets, int *seen) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tickets[i] = atomicAdd(cell, 1);
    seen[i] = atomicExch(cell + 1, i);
    int old = cell[2], assumed;
    do {
        assumed = old;
        old = atomicCAS(cell + 2, assumed, assumed + 1);
    } while (old != assumed);
}
