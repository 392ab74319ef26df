; libclc.ll - where libclc's functions for PTX are wrong, and how they are put right.
;
; @fixed.SYMBOL takes the place of libclc's @SYMBOL, which it may call; cmake/split_libclc.cmake does that when it takes the
; functions apart. What is wrong (LLVM 22): f32 functions flush subnormal results and operands to zero; sinh and cosh
; look up a table with what isn't a number of its; pow and fmod of doubles overflow inside; gamma is off by 1,500 ULP;
; ldexp loses NaN. tests/test_devices_agree.py compares the functions with those of the CPU device.

target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-unknown-unknown"

declare float @_Z3expf(float)
declare float @_Z4exp2f(float)
declare float @_Z5exp10f(float)
declare float @_Z4erfcf(float)
declare double @_Z4erfcd(double)
declare double @_Z3powdd(double, double)
declare double @_Z4sinhd(double)
declare double @_Z4coshd(double)
declare float @_Z4fmodff(float, float)
declare double @_Z4fmoddd(double, double)
declare double @_Z6lgammad(double)
declare double @_Z3expd(double)
declare double @_Z3sind(double)
declare double @_Z3cosd(double)
declare float @llvm.fabs.f32(float)
declare double @llvm.fabs.f64(double)
declare double @llvm.floor.f64(double)
declare double @llvm.rint.f64(double)
declare double @llvm.fma.f64(double, double, double)
declare i32 @llvm.smax.i32(i32, i32)
declare i32 @llvm.smin.i32(i32, i32)

; ---- results below the smallest normal number: exp(x) = exp(x/2)^2 ---------------------------------------

define float @fixed._Z3expf(float %x) #0 {
  %low = fcmp olt float %x, -8.700000e+01
  %half = fmul float %x, 5.000000e-01
  %at = select i1 %low, float %half, float %x
  %e = call float @_Z3expf(float %at)
  %square = fmul float %e, %e
  %r = select i1 %low, float %square, float %e
  ret float %r
}

define float @fixed._Z4exp2f(float %x) #0 {
  %low = fcmp olt float %x, -1.260000e+02
  %half = fmul float %x, 5.000000e-01
  %at = select i1 %low, float %half, float %x
  %e = call float @_Z4exp2f(float %at)
  %square = fmul float %e, %e
  %r = select i1 %low, float %square, float %e
  ret float %r
}

define float @fixed._Z5exp10f(float %x) #0 {
  %low = fcmp olt float %x, -3.750000e+01
  %half = fmul float %x, 5.000000e-01
  %at = select i1 %low, float %half, float %x
  %e = call float @_Z5exp10f(float %at)
  %square = fmul float %e, %e
  %r = select i1 %low, float %square, float %e
  ret float %r
}

define float @fixed._Z4erfcf(float %x) #0 {
  %high = fcmp ogt float %x, 9.000000e+00
  br i1 %high, label %tiny, label %plain
tiny:
  %wide = fpext float %x to double
  %w = call double @_Z4erfcd(double %wide)
  %narrow = fptrunc double %w to float
  ret float %narrow
plain:
  %r = call float @_Z4erfcf(float %x)
  ret float %r
}

; ---- operands that overflow inside ------------------------------------------------------------------------

; x to 2^66 is 0, 1 or infinite for every x, as for all larger exponents, which are even.
define double @fixed._Z3powdd(double %x, double %y) #0 {
  %high = fcmp ogt double %y, 0x4410000000000000
  %y1 = select i1 %high, double 0x4410000000000000, double %y
  %low = fcmp olt double %y1, 0xC410000000000000
  %y2 = select i1 %low, double 0xC410000000000000, double %y1
  %r = call double @_Z3powdd(double %x, double %y2)
  ret double %r
}

; From 711 on both are infinite.
define double @fixed._Z4sinhd(double %x) #0 {
  %high = fcmp ogt double %x, 8.000000e+02
  %x1 = select i1 %high, double 8.000000e+02, double %x
  %low = fcmp olt double %x1, -8.000000e+02
  %x2 = select i1 %low, double -8.000000e+02, double %x1
  %nan = fcmp uno double %x, %x
  %at = select i1 %nan, double 0.000000e+00, double %x2
  %s = call double @_Z4sinhd(double %at)
  %r = select i1 %nan, double %x, double %s
  ret double %r
}

define double @fixed._Z4coshd(double %x) #0 {
  %size = call double @llvm.fabs.f64(double %x)
  %inside = fcmp olt double %size, 8.000000e+02
  %at = select i1 %inside, double %size, double 8.000000e+02
  %c = call double @_Z4coshd(double %at)
  %nan = fcmp uno double %x, %x
  %r = select i1 %nan, double %x, double %c
  ret double %r
}

; fmod(x, y) = fmod(16 fmod(x / 16, y), y): each step is exact.
define double @fixed._Z4fmoddd(double %x, double %y) #0 {
  %size = call double @llvm.fabs.f64(double %x)
  %high = fcmp ogt double %size, 0x7FB0000000000000
  %finite = fcmp olt double %size, 0x7FF0000000000000
  %both = and i1 %high, %finite
  br i1 %both, label %large, label %plain
large:
  %part = fmul double %x, 6.250000e-02
  %first = call double @_Z4fmoddd(double %part, double %y)
  %again = fmul double %first, 1.600000e+01
  %last = call double @_Z4fmoddd(double %again, double %y)
  ret double %last
plain:
  %r = call double @_Z4fmoddd(double %x, double %y)
  ret double %r
}

; A subnormal remainder comes of a divisor that is nearly so.
define float @fixed._Z4fmodff(float %x, float %y) #0 {
  %size = call float @llvm.fabs.f32(float %y)
  %tiny = fcmp olt float %size, 0x39B0000000000000
  br i1 %tiny, label %exact, label %plain
exact:
  %wide.x = fpext float %x to double
  %wide.y = fpext float %y to double
  %wide = call double @_Z4fmoddd(double %wide.x, double %wide.y)
  %narrow = fptrunc double %wide to float
  ret float %narrow
plain:
  %r = call float @_Z4fmodff(float %x, float %y)
  ret float %r
}

; ---- gamma -------------------------------------------------------------------------------------------------

; Lanczos' approximation with g = 6.0246800407767296 and 13 terms, as a quotient of polynomials (Godfrey 2001; Boost):
; gamma(x) = sum(x) (x + g - 1/2)^(x - 1/2) / exp(x + g - 1/2) for x > 0, and by reflection below.
define internal double @lanczos_sum(double %x) #0 {
  %n11 = call double @llvm.fma.f64(double 0x40040D931FF62705, double %x, double 0x406A5A607BBC3B52)
  %n10 = call double @llvm.fma.f64(double %n11, double %x, double 0x40BF87AC0858D804)
  %n9 = call double @llvm.fma.f64(double %n10, double %x, double 0x4106B6421F8787EB)
  %n8 = call double @llvm.fma.f64(double %n9, double %x, double 0x4145F1E95080F44C)
  %n7 = call double @llvm.fma.f64(double %n8, double %x, double 0x417DF876F95DCC98)
  %n6 = call double @llvm.fma.f64(double %n7, double %x, double 0x41ADAB0C7BB95F2A)
  %n5 = call double @llvm.fma.f64(double %n6, double %x, double 0x41D57418F5D3F33F)
  %n4 = call double @llvm.fma.f64(double %n5, double %x, double 0x41F67FC1B3A5A1E8)
  %n3 = call double @llvm.fma.f64(double %n4, double %x, double 0x4210B0B522E8261A)
  %n2 = call double @llvm.fma.f64(double %n3, double %x, double 0x4220A132818AB61A)
  %n1 = call double @llvm.fma.f64(double %n2, double %x, double 0x4223FC7075F54C57)
  %n0 = call double @llvm.fma.f64(double %n1, double %x, double 0x4215EA5143C1A49E)
  %d11 = call double @llvm.fma.f64(double 0x3FF0000000000000, double %x, double 0x4050800000000000)
  %d10 = call double @llvm.fma.f64(double %d11, double %x, double 0x409E140000000000)
  %d9 = call double @llvm.fma.f64(double %d10, double %x, double 0x40DFE78000000000)
  %d8 = call double @llvm.fma.f64(double %d9, double %x, double 0x4115D0BC00000000)
  %d7 = call double @llvm.fma.f64(double %d8, double %x, double 0x41441F7B00000000)
  %d6 = call double @llvm.fma.f64(double %d7, double %x, double 0x41697171E0000000)
  %d5 = call double @llvm.fma.f64(double %d6, double %x, double 0x4185EEB690000000)
  %d4 = call double @llvm.fma.f64(double %d5, double %x, double 0x4199187170000000)
  %d3 = call double @llvm.fma.f64(double %d4, double %x, double 0x41A1FDA6B0000000)
  %d2 = call double @llvm.fma.f64(double %d3, double %x, double 0x419CBD6980000000)
  %d1 = call double @llvm.fma.f64(double %d2, double %x, double 0x418308A800000000)
  %d0 = call double @llvm.fma.f64(double %d1, double %x, double 0x0000000000000000)
  %r = fdiv double %n0, %d0
  ret double %r
}

; sin(pi x) for x >= 0, by the nearest multiple of 1/2.
define internal double @sinpi(double %x) #0 {
  %h = fmul double %x, 5.000000e-01
  %f = call double @llvm.floor.f64(double %h)
  %whole = fmul double %f, 2.000000e+00
  %t = fsub double %x, %whole
  %t2 = fmul double %t, 2.000000e+00
  %n = call double @llvm.rint.f64(double %t2)
  %n2 = fmul double %n, 5.000000e-01
  %u = fsub double %t, %n2
  %a = fmul double %u, 0x400921FB54442D18
  %s = call double @_Z3sind(double %a)
  %c = call double @_Z3cosd(double %a)
  %i = fptosi double %n to i32
  %i1 = and i32 %i, 1
  %i2 = and i32 %i, 2
  %odd = icmp ne i32 %i1, 0
  %below = icmp ne i32 %i2, 0
  %v = select i1 %odd, double %c, double %s
  %minus = fneg double %v
  %r = select i1 %below, double %minus, double %v
  ret double %r
}

; The power in two halves, since it may overflow where the quotient doesn't. `z` makes up for the rounding of x + g - 1/2.
define double @fixed._Z6tgammad(double %x) #0 {
  %size = call double @llvm.fabs.f64(double %x)
  %inside = fcmp olt double %size, 1.860000e+02
  %a = select i1 %inside, double %size, double 1.860000e+02
  %y = fadd double %a, 0x40161945B9800000
  %more = fcmp ogt double %a, 0x40161945B9800000
  %first = select i1 %more, double %a, double 0x40161945B9800000
  %second = select i1 %more, double 0x40161945B9800000, double %a
  %q = fsub double %y, %first
  %lost = fsub double %q, %second
  %scaled = fmul double %lost, 0x40181945B9800000
  %z = fdiv double %scaled, %y
  %halved = fmul double %a, 5.000000e-01
  %power = fsub double %halved, 2.500000e-01
  %root = call double @_Z3powdd(double %y, double %power)
  %e = call double @_Z3expd(double %y)
  %sum = call double @lanczos_sum(double %a)
  %negative = fcmp olt double %x, 0.000000e+00
  br i1 %negative, label %below, label %above
above:
  %p = fdiv double %sum, %e
  %pz = fmul double %z, %p
  %p1 = fadd double %p, %pz
  %p2 = fmul double %p1, %root
  %p3 = fmul double %p2, %root
  br label %both
below:
  %s = call double @sinpi(double %a)
  %m = fdiv double 0xC00921FB54442D18, %s
  %m1 = fdiv double %m, %a
  %m2 = fdiv double %m1, %sum
  %m3 = fmul double %m2, %e
  %mz = fmul double %z, %m3
  %m4 = fsub double %m3, %mz
  %m5 = fdiv double %m4, %root
  %m6 = fdiv double %m5, %root
  br label %both
both:
  %g = phi double [ %p3, %above ], [ %m6, %below ]
  %floor = call double @llvm.floor.f64(double %x)
  %half = fmul double %floor, 5.000000e-01
  %half.whole = call double @llvm.floor.f64(double %half)
  %even = fcmp oeq double %half, %half.whole
  %zero = select i1 %even, double 0.000000e+00, double -0.000000e+00
  %far = fcmp olt double %x, -1.850000e+02
  %r1 = select i1 %far, double %zero, double %g
  %is.whole = fcmp oeq double %floor, %x
  %pole = and i1 %negative, %is.whole
  %r2 = select i1 %pole, double 0x7FF8000000000000, double %r1
  %tiny = fcmp olt double %size, 0x3BC79CA10C924223
  %inverse = fdiv double 1.000000e+00, %x
  %r3 = select i1 %tiny, double %inverse, double %r2
  %nan = fcmp uno double %x, %x
  %r = select i1 %nan, double %x, double %r3
  ret double %r
}

define float @fixed._Z6tgammaf(float %x) #0 {
  %wide = fpext float %x to double
  %g = call double @fixed._Z6tgammad(double %wide)
  %r = fptrunc double %g to float
  ret float %r
}

define float @fixed._Z6lgammaf(float %x) #0 {
  %wide = fpext float %x to double
  %g = call double @_Z6lgammad(double %wide)
  %r = fptrunc double %g to float
  ret float %r
}

; ---- ldexp -------------------------------------------------------------------------------------------------

; By powers of two within the range of the exponent; going down, all but the last step keep 53 bits (2^-969 = 2^(53-1022)), so
; that it is rounded once.
define double @fixed._Z5ldexpdi(double %x, i32 %n) #0 {
  %floor = call i32 @llvm.smax.i32(i32 %n, i32 -4000)
  %n0 = call i32 @llvm.smin.i32(i32 %floor, i32 4000)
  %down = call double @scaled(double %x, i32 %n0)
  %n1 = call i32 @left(i32 %n0)
  %next = call double @scaled(double %down, i32 %n1)
  %n2 = call i32 @left(i32 %n1)
  %low = call i32 @llvm.smax.i32(i32 %n2, i32 -1022)
  %n3 = call i32 @llvm.smin.i32(i32 %low, i32 1023)
  %biased = add i32 %n3, 1023
  %wide = zext i32 %biased to i64
  %bits = shl i64 %wide, 52
  %power = bitcast i64 %bits to double
  %r = fmul double %next, %power
  ret double %r
}

define internal double @scaled(double %x, i32 %n) #0 {
  %low = icmp slt i32 %n, -1022
  %high = icmp sgt i32 %n, 1023
  %f = select i1 %high, double 0x7FE0000000000000, double 1.000000e+00
  %g = select i1 %low, double 0x0360000000000000, double %f
  %r = fmul double %x, %g
  ret double %r
}

define internal i32 @left(i32 %n) #0 {
  %low = icmp slt i32 %n, -1022
  %high = icmp sgt i32 %n, 1023
  %less = add i32 %n, -1023
  %more = add i32 %n, 969
  %f = select i1 %high, i32 %less, i32 %n
  %r = select i1 %low, i32 %more, i32 %f
  ret i32 %r
}

; In double it is exact until the end.
define float @fixed._Z5ldexpfi(float %x, i32 %n) #0 {
  %low = call i32 @llvm.smax.i32(i32 %n, i32 -600)
  %n1 = call i32 @llvm.smin.i32(i32 %low, i32 600)
  %biased = add i32 %n1, 1023
  %wide = zext i32 %biased to i64
  %bits = shl i64 %wide, 52
  %power = bitcast i64 %bits to double
  %d = fpext float %x to double
  %product = fmul double %d, %power
  %r = fptrunc double %product to float
  ret float %r
}

attributes #0 = { alwaysinline nofree norecurse nosync nounwind willreturn memory(none) }
