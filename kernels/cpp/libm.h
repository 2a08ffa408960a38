/* Functions that have no vector text yet: plain scalar calls of libm. docs/accuracy.md lists them. */
//@ libm
/* Python's math module: libm's own bits. */
extern "C" {
double acos(double) noexcept;
double acosh(double) noexcept;
double asin(double) noexcept;
double asinh(double) noexcept;
double atan(double) noexcept;
double atanh(double) noexcept;
double cbrt(double) noexcept;
double ceil(double) noexcept;
double cos(double) noexcept;
double cosh(double) noexcept;
double erf(double) noexcept;
double erfc(double) noexcept;
double exp(double) noexcept;
double exp2(double) noexcept;
double expm1(double) noexcept;
double fabs(double) noexcept;
double floor(double) noexcept;
double log(double) noexcept;
double log10(double) noexcept;
double log1p(double) noexcept;
double log2(double) noexcept;
double sin(double) noexcept;
double sinh(double) noexcept;
double sqrt(double) noexcept;
double tan(double) noexcept;
double tanh(double) noexcept;
double trunc(double) noexcept;
double lgamma(double) noexcept;
double tgamma(double) noexcept;
double atan2(double, double) noexcept;
double copysign(double, double) noexcept;
double fmod(double, double) noexcept;
double pow(double, double) noexcept;
double hypot(double, double) noexcept;
double nextafter(double, double) noexcept;
double remainder(double, double) noexcept;
}
//@ exp2:f64
extern "C" double exp2(double) noexcept;
NPC_FN double npc_exp2(double x) { return exp2(x); }
//@ exp2:f32
extern "C" float exp2f(float) noexcept;
NPC_FN float npc_exp2(float x) { return exp2f(x); }
//@ expm1:f64
extern "C" double expm1(double) noexcept;
NPC_FN double npc_expm1(double x) { return expm1(x); }
//@ expm1:f32
extern "C" float expm1f(float) noexcept;
NPC_FN float npc_expm1(float x) { return expm1f(x); }
//@ log2:f64
extern "C" double log2(double) noexcept;
NPC_FN double npc_log2(double x) { return log2(x); }
//@ log2:f32
extern "C" float log2f(float) noexcept;
NPC_FN float npc_log2(float x) { return log2f(x); }
//@ log10:f64
extern "C" double log10(double) noexcept;
NPC_FN double npc_log10(double x) { return log10(x); }
//@ log10:f32
extern "C" float log10f(float) noexcept;
NPC_FN float npc_log10(float x) { return log10f(x); }
//@ log1p:f64
extern "C" double log1p(double) noexcept;
NPC_FN double npc_log1p(double x) { return log1p(x); }
//@ log1p:f32
extern "C" float log1pf(float) noexcept;
NPC_FN float npc_log1p(float x) { return log1pf(x); }
//@ sin:f64
extern "C" double sin(double) noexcept;
NPC_FN double npc_sin(double x) { return sin(x); }
//@ sin:f32
extern "C" float sinf(float) noexcept;
NPC_FN float npc_sin(float x) { return sinf(x); }
//@ cos:f64
extern "C" double cos(double) noexcept;
NPC_FN double npc_cos(double x) { return cos(x); }
//@ cos:f32
extern "C" float cosf(float) noexcept;
NPC_FN float npc_cos(float x) { return cosf(x); }
//@ tan:f64
extern "C" double tan(double) noexcept;
NPC_FN double npc_tan(double x) { return tan(x); }
//@ tan:f32
extern "C" float tanf(float) noexcept;
NPC_FN float npc_tan(float x) { return tanf(x); }
//@ asin:f64
extern "C" double asin(double) noexcept;
NPC_FN double npc_asin(double x) { return asin(x); }
//@ asin:f32
extern "C" float asinf(float) noexcept;
NPC_FN float npc_asin(float x) { return asinf(x); }
//@ acos:f64
extern "C" double acos(double) noexcept;
NPC_FN double npc_acos(double x) { return acos(x); }
//@ acos:f32
extern "C" float acosf(float) noexcept;
NPC_FN float npc_acos(float x) { return acosf(x); }
//@ atan:f64
extern "C" double atan(double) noexcept;
NPC_FN double npc_atan(double x) { return atan(x); }
//@ atan:f32
extern "C" float atanf(float) noexcept;
NPC_FN float npc_atan(float x) { return atanf(x); }
//@ sinh:f64
extern "C" double sinh(double) noexcept;
NPC_FN double npc_sinh(double x) { return sinh(x); }
//@ sinh:f32
extern "C" float sinhf(float) noexcept;
NPC_FN float npc_sinh(float x) { return sinhf(x); }
//@ cosh:f64
extern "C" double cosh(double) noexcept;
NPC_FN double npc_cosh(double x) { return cosh(x); }
//@ cosh:f32
extern "C" float coshf(float) noexcept;
NPC_FN float npc_cosh(float x) { return coshf(x); }
//@ tanh:f64
extern "C" double tanh(double) noexcept;
NPC_FN double npc_tanh(double x) { return tanh(x); }
//@ tanh:f32
extern "C" float tanhf(float) noexcept;
NPC_FN float npc_tanh(float x) { return tanhf(x); }
//@ asinh:f64
extern "C" double asinh(double) noexcept;
NPC_FN double npc_asinh(double x) { return asinh(x); }
//@ asinh:f32
extern "C" float asinhf(float) noexcept;
NPC_FN float npc_asinh(float x) { return asinhf(x); }
//@ acosh:f64
extern "C" double acosh(double) noexcept;
NPC_FN double npc_acosh(double x) { return acosh(x); }
//@ acosh:f32
extern "C" float acoshf(float) noexcept;
NPC_FN float npc_acosh(float x) { return acoshf(x); }
//@ atanh:f64
extern "C" double atanh(double) noexcept;
NPC_FN double npc_atanh(double x) { return atanh(x); }
//@ atanh:f32
extern "C" float atanhf(float) noexcept;
NPC_FN float npc_atanh(float x) { return atanhf(x); }
//@ cbrt:f64
extern "C" double cbrt(double) noexcept;
NPC_FN double npc_cbrt(double x) { return cbrt(x); }
//@ cbrt:f32
extern "C" float cbrtf(float) noexcept;
NPC_FN float npc_cbrt(float x) { return cbrtf(x); }
//@ erf:f64
extern "C" double erf(double) noexcept;
NPC_FN double npc_erf(double x) { return erf(x); }
//@ erf:f32
extern "C" float erff(float) noexcept;
NPC_FN float npc_erf(float x) { return erff(x); }
//@ lgamma:f64
extern "C" double lgamma(double) noexcept;
NPC_FN double npc_lgamma(double x) { return lgamma(x); }
//@ lgamma:f32
extern "C" float lgammaf(float) noexcept;
NPC_FN float npc_lgamma(float x) { return lgammaf(x); }
//@ atan2:f64
extern "C" double atan2(double, double) noexcept;
NPC_FN double npc_atan2(double x, double y) { return atan2(x, y); }
//@ atan2:f32
extern "C" float atan2f(float, float) noexcept;
NPC_FN float npc_atan2(float x, float y) { return atan2f(x, y); }
//@ hypot:f64
extern "C" double hypot(double, double) noexcept;
NPC_FN double npc_hypot(double x, double y) { return hypot(x, y); }
//@ hypot:f32
extern "C" float hypotf(float, float) noexcept;
NPC_FN float npc_hypot(float x, float y) { return hypotf(x, y); }
//@ pow:f64
extern "C" double pow(double, double) noexcept;
NPC_FN double npc_pow(double x, double y) { return pow(x, y); }
//@ pow:f32
extern "C" float powf(float, float) noexcept;
NPC_FN float npc_pow(float x, float y) { return powf(x, y); }
//@ fmod:f64
extern "C" double fmod(double, double) noexcept;
NPC_FN double npc_fmod(double x, double y) { return fmod(x, y); }
//@ fmod:f32
extern "C" float fmodf(float, float) noexcept;
NPC_FN float npc_fmod(float x, float y) { return fmodf(x, y); }
