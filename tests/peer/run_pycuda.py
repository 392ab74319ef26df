"""PyCUDA on the emulated libcuda: a vector add from PTX, and a reduction with shared memory, both checked.

    LD_LIBRARY_PATH=build/lib/gpu/emulator python tests/peer/run_pycuda.py

PyCUDA itself must be installed (it is built with NVIDIA's toolkit at hand); nvcc isn't needed here.
"""

from __future__ import annotations

import numpy as np
import pycuda.driver as cuda

PTX = """
.version 7.0
.target sm_70
.address_size 64

.visible .entry add(.param .u64 c, .param .u64 a, .param .u64 b, .param .u32 n) {
    .reg .pred %p; .reg .b32 %r<5>; .reg .b64 %rd<8>; .reg .f32 %f<4>;
    ld.param.u64 %rd1, [c]; ld.param.u64 %rd2, [a]; ld.param.u64 %rd3, [b]; ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
    mad.lo.u32 %r2, %r2, %r3, %r4;
    setp.ge.u32 %p, %r2, %r1;
    @%p bra done;
    mul.wide.u32 %rd4, %r2, 4;
    add.u64 %rd5, %rd2, %rd4; ld.global.f32 %f1, [%rd5];
    add.u64 %rd6, %rd3, %rd4; ld.global.f32 %f2, [%rd6];
    add.f32 %f3, %f1, %f2;
    add.u64 %rd7, %rd1, %rd4; st.global.f32 [%rd7], %f3;
done:
    ret;
}

// out[block] = the sum of a block's 128 elements
.visible .entry reduce(.param .u64 out, .param .u64 a) {
    .shared .align 4 .f32 part[128];
    .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<6>; .reg .f32 %f<4>;
    ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [a];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;
    shl.b32 %r3, %r2, 7; add.u32 %r3, %r3, %r1;
    mul.wide.u32 %rd3, %r3, 4; add.u64 %rd3, %rd2, %rd3;
    ld.global.f32 %f1, [%rd3];
    mov.u32 %r4, part; shl.b32 %r5, %r1, 2; add.u32 %r5, %r4, %r5;
    st.shared.f32 [%r5], %f1;
    mov.u32 %r6, 64;
again:
    bar.sync 0;
    setp.ge.u32 %p1, %r1, %r6;
    @%p1 bra next;
    shl.b32 %r7, %r6, 2; add.u32 %r8, %r5, %r7;
    ld.shared.f32 %f1, [%r5]; ld.shared.f32 %f2, [%r8];
    add.f32 %f3, %f1, %f2; st.shared.f32 [%r5], %f3;
next:
    shr.u32 %r6, %r6, 1;
    setp.ne.u32 %p2, %r6, 0;
    @%p2 bra again;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra done;
    ld.shared.f32 %f1, [part];
    mul.wide.u32 %rd4, %r2, 4; add.u64 %rd5, %rd1, %rd4;
    st.global.f32 [%rd5], %f1;
done:
    ret;
}
"""


def vector_add(module: cuda.Module) -> None:
    """Arguments by PyCUDA's handlers, as most programs pass them, and prepared."""
    n = 1000
    a, b, c = np.arange(n, dtype=np.float32), np.full(n, 0.5, np.float32), np.zeros(n, np.float32)
    add = module.get_function("add")
    add(cuda.Out(c), cuda.In(a), cuda.In(b), np.uint32(n), grid=(8, 1), block=(128, 1, 1))
    assert (c == a + b).all()
    add.prepare("PPPI")
    pointers = [cuda.to_device(x) for x in (c, a, b)]
    add.prepared_call((8, 1), (128, 1, 1), *pointers, n)
    assert (cuda.from_device_like(pointers[0], c) == a + b).all()


def reduction(module: cuda.Module) -> None:
    """Asynchronous copies and a launch in a stream, with events around them."""
    a = np.arange(16 * 128, dtype=np.float32)
    stream, start, end = cuda.Stream(), cuda.Event(), cuda.Event()
    device, out = cuda.mem_alloc(a.nbytes), cuda.mem_alloc(16 * 4)
    result = cuda.pagelocked_empty(16, np.float32)
    start.record(stream)
    cuda.memcpy_htod_async(device, a, stream)
    module.get_function("reduce")(out, device, grid=(16, 1), block=(128, 1, 1), stream=stream)
    cuda.memcpy_dtoh_async(result, out, stream)
    end.record(stream).synchronize()
    assert (result == a.reshape(16, 128).sum(1)).all()
    assert start.time_till(end) > 0


def main() -> None:
    cuda.init()
    device = cuda.Device(0)
    context = device.make_context()
    try:
        print(device.name(), device.compute_capability(), device.total_memory() >> 20, "MiB")
        module = cuda.module_from_buffer(PTX.encode())
        vector_add(module)
        reduction(module)
        print("vector add and reduction: right")
    finally:
        context.pop()


if __name__ == "__main__":
    main()
