/* Complex arithmetic by NumPy's formulas; its transcendentals are libm's C99 functions, which are NumPy's own. */
//@ mul:complex, square:complex < fma
/* Fused where the hardware can, as NumPy's loops are. */
NPC_FN npc_c64 npc_mul(npc_c64 a, npc_c64 b) {
  return npc_c64{NPC_FMAF(a.re, b.re, -(a.im * b.im)), NPC_FMAF(a.re, b.im, a.im * b.re)};
}
NPC_FN npc_c128 npc_mul(npc_c128 a, npc_c128 b) {
  return npc_c128{NPC_FMA(a.re, b.re, -(a.im * b.im)), NPC_FMA(a.re, b.im, a.im * b.re)};
}
NPC_FN npc_c64 npc_square(npc_c64 a) { return npc_mul(a, a); }
NPC_FN npc_c128 npc_square(npc_c128 a) { return npc_mul(a, a); }
//@ div:complex, reciprocal:complex < each_int
/* Smith's algorithm; a zero divisor gives x/0 in both parts. */
#define NPC_M(T, R, ABS) \
  NPC_FN T npc_div(T a, T b) { \
    R br = ABS(b.re), bi = ABS(b.im); \
    bool big = br >= bi; \
    R lo = big ? b.im : b.re, hi = big ? b.re : b.im, rat = lo / hi, scl = (R)1 / (hi + lo * rat); \
    R p = big ? a.re : a.im, q = big ? a.im : a.re, pr = p * rat; \
    R re = (p + q * rat) * scl, im = ((big ? q : pr) - (big ? pr : q)) * scl; \
    bool zero = (br == 0) & (bi == 0); \
    return T{zero ? a.re / br : re, zero ? a.im / br : im}; \
  } \
  NPC_FN T npc_reciprocal(T b) { \
    bool big = ABS(b.im) <= ABS(b.re); \
    R lo = big ? b.im : b.re, hi = big ? b.re : b.im, rat = lo / hi, den = hi + lo * rat; \
    return T{(big ? (R)1 : rat) / den, (big ? -rat : (R)-1) / den}; \
  }
NPC_M(npc_c64, float, __builtin_fabsf)
NPC_M(npc_c128, double, __builtin_fabs)
#undef NPC_M
//@ conj:ints+floats+complex+bool+f16, real:complex, imag:complex, complex:floats
template <class T> NPC_FN T npc_conj(T a) { return a; }
NPC_FN npc_c64 npc_conj(npc_c64 a) { return npc_c64{a.re, -a.im}; }
NPC_FN npc_c128 npc_conj(npc_c128 a) { return npc_c128{a.re, -a.im}; }
NPC_FN float npc_real(npc_c64 a) { return a.re; }
NPC_FN double npc_real(npc_c128 a) { return a.re; }
NPC_FN float npc_imag(npc_c64 a) { return a.im; }
NPC_FN double npc_imag(npc_c128 a) { return a.im; }
NPC_FN npc_c64 npc_complex(float re, float im) { return npc_c64{re, im}; }
NPC_FN npc_c128 npc_complex(double re, double im) { return npc_c128{re, im}; }
//@ abs:complex < fma, each_int
/* max sqrt(1 + (min/max)^2), the bits of NumPy's loop; infinity wins over NaN. */
#define NPC_M(T, R, ABS, SQRT, FMA, INF) \
  NPC_FN R npc_abs(T a) { \
    R x = ABS(a.re), y = ABS(a.im), hi = x > y ? x : y, lo = x > y ? y : x, q = lo / hi; \
    R r = hi * SQRT(FMA(q, q, (R)1)); \
    r = hi == 0 ? x + y : r; \
    return (x == INF) | (y == INF) ? INF : r; \
  }
NPC_M(npc_c64, float, __builtin_fabsf, __builtin_sqrtf, NPC_FMAF, __builtin_inff())
NPC_M(npc_c128, double, __builtin_fabs, __builtin_sqrt, NPC_FMA, __builtin_inf())
#undef NPC_M
//@ maximum:complex, minimum:complex, fmax:complex, fmin:complex < ge:complex, isnan:complex, select, each_int
#define NPC_M(T, R) \
  NPC_FN T npc_maximum(T a, T b) { return npc_select((npc_bool)(npc_isnan(a) | npc_ge(a, b)), a, b); } \
  NPC_FN T npc_minimum(T a, T b) { return npc_select((npc_bool)(npc_isnan(a) | npc_le(a, b)), a, b); } \
  NPC_FN T npc_fmax(T a, T b) { return npc_select((npc_bool)(npc_isnan(b) | npc_ge(a, b)), a, b); } \
  NPC_FN T npc_fmin(T a, T b) { return npc_select((npc_bool)(npc_isnan(b) | npc_le(a, b)), a, b); }
NPC_EACH_COMPLEX(NPC_M)
#undef NPC_M
//@ sign:c64 < hypot:f32
NPC_FN npc_c64 npc_sign(npc_c64 a) {
  float r = npc_hypot(a.re, a.im), i = __builtin_inff(), n = __builtin_nanf("");
  bool ri = __builtin_fabsf(a.re) == i, ii = __builtin_fabsf(a.im) == i;
  float re = ri ? __builtin_copysignf(1, a.re) : 0, im = ri ? 0 : __builtin_copysignf(1, a.im);
  bool bad = (r != r) | (ri & ii), inf = r == i, zero = r == 0;
  return npc_c64{bad ? n : inf ? re : zero ? 0 : a.re / r, bad ? n : inf ? im : zero ? 0 : a.im / r};
}
//@ sign:c128 < hypot:f64
NPC_FN npc_c128 npc_sign(npc_c128 a) {
  double r = npc_hypot(a.re, a.im), i = __builtin_inf(), n = __builtin_nan("");
  bool ri = __builtin_fabs(a.re) == i, ii = __builtin_fabs(a.im) == i;
  double re = ri ? __builtin_copysign(1, a.re) : 0, im = ri ? 0 : __builtin_copysign(1, a.im);
  bool bad = (r != r) | (ri & ii), inf = r == i, zero = r == 0;
  return npc_c128{bad ? n : inf ? re : zero ? 0 : a.re / r, bad ? n : inf ? im : zero ? 0 : a.im / r};
}
//@ c99
typedef _Complex double npc_z;
typedef _Complex float npc_zf;
NPC_FN npc_z npc_pack(npc_c128 a) { return __builtin_bit_cast(npc_z, a); }
NPC_FN npc_zf npc_pack(npc_c64 a) { return __builtin_bit_cast(npc_zf, a); }
NPC_FN npc_c128 npc_unpack(npc_z a) { return __builtin_bit_cast(npc_c128, a); }
NPC_FN npc_c64 npc_unpack(npc_zf a) { return __builtin_bit_cast(npc_c64, a); }
//@ exp:c128 < c99
extern "C" npc_z cexp(npc_z) noexcept;
NPC_FN npc_c128 npc_exp(npc_c128 a) { return npc_unpack(cexp(npc_pack(a))); }
//@ exp:c64 < c99
extern "C" npc_zf cexpf(npc_zf) noexcept;
NPC_FN npc_c64 npc_exp(npc_c64 a) { return npc_unpack(cexpf(npc_pack(a))); }
//@ log:c128 < c99
extern "C" npc_z clog(npc_z) noexcept;
NPC_FN npc_c128 npc_log(npc_c128 a) { return npc_unpack(clog(npc_pack(a))); }
//@ log:c64 < c99
extern "C" npc_zf clogf(npc_zf) noexcept;
NPC_FN npc_c64 npc_log(npc_c64 a) { return npc_unpack(clogf(npc_pack(a))); }
//@ sqrt:c128 < c99
extern "C" npc_z csqrt(npc_z) noexcept;
NPC_FN npc_c128 npc_sqrt(npc_c128 a) { return npc_unpack(csqrt(npc_pack(a))); }
//@ sqrt:c64 < c99
extern "C" npc_zf csqrtf(npc_zf) noexcept;
NPC_FN npc_c64 npc_sqrt(npc_c64 a) { return npc_unpack(csqrtf(npc_pack(a))); }
//@ sin:c128 < c99
extern "C" npc_z csin(npc_z) noexcept;
NPC_FN npc_c128 npc_sin(npc_c128 a) { return npc_unpack(csin(npc_pack(a))); }
//@ sin:c64 < c99
extern "C" npc_zf csinf(npc_zf) noexcept;
NPC_FN npc_c64 npc_sin(npc_c64 a) { return npc_unpack(csinf(npc_pack(a))); }
//@ cos:c128 < c99
extern "C" npc_z ccos(npc_z) noexcept;
NPC_FN npc_c128 npc_cos(npc_c128 a) { return npc_unpack(ccos(npc_pack(a))); }
//@ cos:c64 < c99
extern "C" npc_zf ccosf(npc_zf) noexcept;
NPC_FN npc_c64 npc_cos(npc_c64 a) { return npc_unpack(ccosf(npc_pack(a))); }
//@ tan:c128 < c99
extern "C" npc_z ctan(npc_z) noexcept;
NPC_FN npc_c128 npc_tan(npc_c128 a) { return npc_unpack(ctan(npc_pack(a))); }
//@ tan:c64 < c99
extern "C" npc_zf ctanf(npc_zf) noexcept;
NPC_FN npc_c64 npc_tan(npc_c64 a) { return npc_unpack(ctanf(npc_pack(a))); }
//@ asin:c128 < c99
extern "C" npc_z casin(npc_z) noexcept;
NPC_FN npc_c128 npc_asin(npc_c128 a) { return npc_unpack(casin(npc_pack(a))); }
//@ asin:c64 < c99
extern "C" npc_zf casinf(npc_zf) noexcept;
NPC_FN npc_c64 npc_asin(npc_c64 a) { return npc_unpack(casinf(npc_pack(a))); }
//@ acos:c128 < c99
extern "C" npc_z cacos(npc_z) noexcept;
NPC_FN npc_c128 npc_acos(npc_c128 a) { return npc_unpack(cacos(npc_pack(a))); }
//@ acos:c64 < c99
extern "C" npc_zf cacosf(npc_zf) noexcept;
NPC_FN npc_c64 npc_acos(npc_c64 a) { return npc_unpack(cacosf(npc_pack(a))); }
//@ atan:c128 < c99
extern "C" npc_z catan(npc_z) noexcept;
NPC_FN npc_c128 npc_atan(npc_c128 a) { return npc_unpack(catan(npc_pack(a))); }
//@ atan:c64 < c99
extern "C" npc_zf catanf(npc_zf) noexcept;
NPC_FN npc_c64 npc_atan(npc_c64 a) { return npc_unpack(catanf(npc_pack(a))); }
//@ sinh:c128 < c99
extern "C" npc_z csinh(npc_z) noexcept;
NPC_FN npc_c128 npc_sinh(npc_c128 a) { return npc_unpack(csinh(npc_pack(a))); }
//@ sinh:c64 < c99
extern "C" npc_zf csinhf(npc_zf) noexcept;
NPC_FN npc_c64 npc_sinh(npc_c64 a) { return npc_unpack(csinhf(npc_pack(a))); }
//@ cosh:c128 < c99
extern "C" npc_z ccosh(npc_z) noexcept;
NPC_FN npc_c128 npc_cosh(npc_c128 a) { return npc_unpack(ccosh(npc_pack(a))); }
//@ cosh:c64 < c99
extern "C" npc_zf ccoshf(npc_zf) noexcept;
NPC_FN npc_c64 npc_cosh(npc_c64 a) { return npc_unpack(ccoshf(npc_pack(a))); }
//@ tanh:c128 < c99
extern "C" npc_z ctanh(npc_z) noexcept;
NPC_FN npc_c128 npc_tanh(npc_c128 a) { return npc_unpack(ctanh(npc_pack(a))); }
//@ tanh:c64 < c99
extern "C" npc_zf ctanhf(npc_zf) noexcept;
NPC_FN npc_c64 npc_tanh(npc_c64 a) { return npc_unpack(ctanhf(npc_pack(a))); }
//@ asinh:c128 < c99
extern "C" npc_z casinh(npc_z) noexcept;
NPC_FN npc_c128 npc_asinh(npc_c128 a) { return npc_unpack(casinh(npc_pack(a))); }
//@ asinh:c64 < c99
extern "C" npc_zf casinhf(npc_zf) noexcept;
NPC_FN npc_c64 npc_asinh(npc_c64 a) { return npc_unpack(casinhf(npc_pack(a))); }
//@ acosh:c128 < c99
extern "C" npc_z cacosh(npc_z) noexcept;
NPC_FN npc_c128 npc_acosh(npc_c128 a) { return npc_unpack(cacosh(npc_pack(a))); }
//@ acosh:c64 < c99
extern "C" npc_zf cacoshf(npc_zf) noexcept;
NPC_FN npc_c64 npc_acosh(npc_c64 a) { return npc_unpack(cacoshf(npc_pack(a))); }
//@ atanh:c128 < c99
extern "C" npc_z catanh(npc_z) noexcept;
NPC_FN npc_c128 npc_atanh(npc_c128 a) { return npc_unpack(catanh(npc_pack(a))); }
//@ atanh:c64 < c99
extern "C" npc_zf catanhf(npc_zf) noexcept;
NPC_FN npc_c64 npc_atanh(npc_c64 a) { return npc_unpack(catanhf(npc_pack(a))); }
/* The rest as NumPy composes them. */
//@ exp2:c128 < exp:c128
NPC_FN npc_c128 npc_exp2(npc_c128 a) { const double c = (double)0.693147180559945309417232121458176568; return npc_exp(npc_c128{a.re * c, a.im * c}); }
//@ exp2:c64 < exp:c64
NPC_FN npc_c64 npc_exp2(npc_c64 a) { const float c = (float)0.693147180559945309417232121458176568; return npc_exp(npc_c64{a.re * c, a.im * c}); }
//@ log2:c128 < log:c128
NPC_FN npc_c128 npc_log2(npc_c128 a) {
  const double c = (double)1.442695040888963407359924681001892137;
  npc_c128 l = npc_log(a);
  return npc_c128{l.re * c, l.im * c};
}
//@ log2:c64 < log:c64
NPC_FN npc_c64 npc_log2(npc_c64 a) {
  const float c = (float)1.442695040888963407359924681001892137;
  npc_c64 l = npc_log(a);
  return npc_c64{l.re * c, l.im * c};
}
//@ log10:c128 < log:c128
NPC_FN npc_c128 npc_log10(npc_c128 a) {
  const double c = (double)0.434294481903251827651128918916605082;
  npc_c128 l = npc_log(a);
  return npc_c128{l.re * c, l.im * c};
}
//@ log10:c64 < log:c64
NPC_FN npc_c64 npc_log10(npc_c64 a) {
  const float c = (float)0.434294481903251827651128918916605082;
  npc_c64 l = npc_log(a);
  return npc_c64{l.re * c, l.im * c};
}
//@ log1p:c128 < log:f64, hypot:f64, atan2:f64
NPC_FN npc_c128 npc_log1p(npc_c128 a) {
  double re = a.re + 1;
  return npc_c128{npc_log(npc_hypot(re, a.im)), npc_atan2(a.im, re)};
}
//@ log1p:c64 < log:f32, hypot:f32, atan2:f32
NPC_FN npc_c64 npc_log1p(npc_c64 a) {
  float re = a.re + 1;
  return npc_c64{npc_log(npc_hypot(re, a.im)), npc_atan2(a.im, re)};
}
//@ expm1:c128 < exp:f64, expm1:f64, sin:f64, cos:f64
NPC_FN npc_c128 npc_expm1(npc_c128 a) {
  double h = npc_sin(a.im / 2);
  return npc_c128{npc_expm1(a.re) * npc_cos(a.im) - 2 * h * h, npc_exp(a.re) * npc_sin(a.im)};
}
//@ expm1:c64 < exp:f32, expm1:f32, sin:f32, cos:f32
NPC_FN npc_c64 npc_expm1(npc_c64 a) {
  float h = npc_sin(a.im / 2);
  return npc_c64{npc_expm1(a.re) * npc_cos(a.im) - 2 * h * h, npc_exp(a.re) * npc_sin(a.im)};
}
//@ pow:c128 < c99, div:c128
extern "C" npc_z cpow(npc_z, npc_z) noexcept;
NPC_FN npc_c128 npc_product(npc_c128 a, npc_c128 b) { return npc_c128{a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
static inline npc_c128 npc_pow(npc_c128 a, npc_c128 b) {
  if (b.re == 0 && b.im == 0) return npc_c128{1, 0};
  if (a.re == 0 && a.im == 0) {
    double n = (double)__builtin_nan("");
    return b.re > 0 ? npc_c128{0, 0} : npc_c128{n, n};
  }
  if (b.im == 0 && b.re > -100 && b.re < 100 && b.re == (double)(int)b.re) { /* by squaring */
    int n = (int)b.re, m = n < 0 ? -n : n;
    if (n == 1) return a;
    if (n == 2) return npc_product(a, a);
    if (n == 3) return npc_product(a, npc_product(a, a));
    npc_c128 r = {1, 0}, p = a;
    for (int bit = 1;;) {
      if (m & bit) r = npc_product(r, p);
      bit <<= 1;
      if (m < bit) break;
      p = npc_product(p, p);
    }
    return n < 0 ? npc_div(npc_c128{1, 0}, r) : r;
  }
  return npc_unpack(cpow(npc_pack(a), npc_pack(b)));
}
//@ pow:c64 < c99, div:c64
extern "C" npc_zf cpowf(npc_zf, npc_zf) noexcept;
NPC_FN npc_c64 npc_product(npc_c64 a, npc_c64 b) { return npc_c64{a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
static inline npc_c64 npc_pow(npc_c64 a, npc_c64 b) {
  if (b.re == 0 && b.im == 0) return npc_c64{1, 0};
  if (a.re == 0 && a.im == 0) {
    float n = (float)__builtin_nan("");
    return b.re > 0 ? npc_c64{0, 0} : npc_c64{n, n};
  }
  if (b.im == 0 && b.re > -100 && b.re < 100 && b.re == (float)(int)b.re) { /* by squaring */
    int n = (int)b.re, m = n < 0 ? -n : n;
    if (n == 1) return a;
    if (n == 2) return npc_product(a, a);
    if (n == 3) return npc_product(a, npc_product(a, a));
    npc_c64 r = {1, 0}, p = a;
    for (int bit = 1;;) {
      if (m & bit) r = npc_product(r, p);
      bit <<= 1;
      if (m < bit) break;
      p = npc_product(p, p);
    }
    return n < 0 ? npc_div(npc_c64{1, 0}, r) : r;
  }
  return npc_unpack(cpowf(npc_pack(a), npc_pack(b)));
}
