/* math.cl: library math: ROCm's device library on the GPU, the C library on the host.
 * Each word of output is a float; bounds in units of the last place are in sweep.py.
 * SPDX-License-Identifier: MIT
 */
#include "port.h"

#ifdef __AMDGCN__
#define F32(name) __ocml_##name##_f32
#define F64(name) __ocml_##name##_f64
#else
#define F32(name) name##f
#define F64(name) name
#endif
float F32(exp)(float), F32(exp2)(float), F32(log)(float), F32(log2)(float);
float F32(sin)(float), F32(cos)(float), F32(tan)(float), F32(atan)(float);
float F32(pow)(float, float), F32(sinh)(float), F32(tanh)(float), F32(cbrt)(float);
float F32(hypot)(float, float), F32(atan2)(float, float), F32(erf)(float);
float F32(asin)(float), F32(fmod)(float, float), F32(expm1)(float), F32(log1p)(float);
double F64(exp)(double), F64(log)(double), F64(sin)(double), F64(pow)(double, double);

KERNEL math_f32(ARGS)
{
    MINE_IN;
    MINE_OUT;
    float a = tame(x[0]) * 4.0f, b = __builtin_fabsf(tame(x[1])) * 8.0f + 0.01f;
    y[0] = f32_bits(F32(exp)(a)), y[1] = f32_bits(F32(exp2)(a));
    y[2] = f32_bits(F32(log)(b)), y[3] = f32_bits(F32(log2)(b));
    y[4] = f32_bits(F32(sin)(a)), y[5] = f32_bits(F32(cos)(a));
    y[6] = f32_bits(F32(tan)(a)), y[7] = f32_bits(F32(atan)(a));
    y[8] = f32_bits(F32(pow)(b, a)), y[9] = f32_bits(F32(sinh)(a));
    y[10] = f32_bits(F32(tanh)(a)), y[11] = f32_bits(F32(cbrt)(a));
    y[12] = f32_bits(F32(hypot)(a, b)), y[13] = f32_bits(F32(atan2)(a, b));
    y[14] = f32_bits(F32(erf)(a)), y[15] = f32_bits(F32(fmod)(b * 100.0f, a));
}

KERNEL math_f32_more(ARGS)
{
    MINE_IN;
    MINE_OUT;
    float a = tame(x[0]), b = tame(x[1]) * 1000.0f;
    y[0] = f32_bits(F32(asin)(a * 0.25f)), y[1] = f32_bits(F32(expm1)(a));
    y[2] = f32_bits(F32(log1p)(__builtin_fabsf(a))), y[3] = f32_bits(F32(sin)(b));
    y[4] = f32_bits(F32(cos)(b * 100.0f)), y[5] = f32_bits(F32(exp)(as_float(x[2])));
    y[6] = f32_bits(F32(log)(as_float(x[3]))), y[7] = f32_bits(F32(exp)(a * 20.0f - 80.0f));
}

KERNEL math_f64(ARGS)
{
    MINE_IN;
    MINE_OUT;
    double a = tame64(get64(x)), b = __builtin_fabs(tame64(get64(x + 2))) + 0.01;
    put64(y, f64_bits(F64(exp)(a * 10.0)));
    put64(y + 2, f64_bits(F64(log)(b)));
    put64(y + 4, f64_bits(F64(sin)(a * 3.0)));
    put64(y + 6, f64_bits(F64(pow)(b, a)));
}
