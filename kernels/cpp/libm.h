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
double hypot(double, double) noexcept;
double pow(double, double) noexcept;
double hypot(double, double) noexcept;
double nextafter(double, double) noexcept;
double remainder(double, double) noexcept;
}
//@ lgamma:f64
extern "C" double lgamma(double) noexcept;
NPC_FN double npc_lgamma(double x) { return lgamma(x); }
//@ lgamma:f32
extern "C" float lgammaf(float) noexcept;
NPC_FN float npc_lgamma(float x) { return lgammaf(x); }
