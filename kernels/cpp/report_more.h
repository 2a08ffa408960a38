/* Condition predicates of float16, complex numbers and casts, made from those of report.h. */
//@ rep_half < rep_base, half
/* What rounding x to float16 adds. */
NPC_FN unsigned npc_rep_half(float x) {
  float r = npc_float(npc_half(x));
  return npc_mask(0, npc_fin(x) & !npc_fin(r), (__builtin_fabsf(x) < 0x1p-14f) & (x != r) & !npc_nan(x), 0);
}
//@ rep_sqrt:f16 < rep_sqrt:f32, rep_half
NPC_FN unsigned npc_rep_sqrt(npc_f16 a, npc_f16 r) { return npc_rep_sqrt(npc_float(a), npc_float(r)); }
//@ rep_rint:f16 < rep_rint:f32, rep_half
NPC_FN unsigned npc_rep_rint(npc_f16 a, npc_f16 r) { return npc_rep_rint(npc_float(a), npc_float(r)); }
//@ rep_floor:f16 < rep_floor:f32, rep_half
NPC_FN unsigned npc_rep_floor(npc_f16 a, npc_f16 r) { return npc_rep_floor(npc_float(a), npc_float(r)); }
//@ rep_ceil:f16 < rep_ceil:f32, rep_half
NPC_FN unsigned npc_rep_ceil(npc_f16 a, npc_f16 r) { return npc_rep_ceil(npc_float(a), npc_float(r)); }
//@ rep_trunc:f16 < rep_trunc:f32, rep_half
NPC_FN unsigned npc_rep_trunc(npc_f16 a, npc_f16 r) { return npc_rep_trunc(npc_float(a), npc_float(r)); }
//@ rep_abs:f16 < rep_abs:f32, rep_half
NPC_FN unsigned npc_rep_abs(npc_f16 a, npc_f16 r) { return npc_rep_abs(npc_float(a), npc_float(r)); }
//@ rep_sign:f16 < rep_sign:f32, rep_half
NPC_FN unsigned npc_rep_sign(npc_f16 a, npc_f16 r) { return npc_rep_sign(npc_float(a), npc_float(r)); }
//@ rep_cbrt:f16 < rep_cbrt:f32, rep_half
NPC_FN unsigned npc_rep_cbrt(npc_f16 a, npc_f16 r) { return npc_rep_cbrt(npc_float(a), npc_float(r)); }
//@ rep_spacing:f16 < rep_spacing:f32, rep_half
NPC_FN unsigned npc_rep_spacing(npc_f16 a, npc_f16 r) { return npc_fin(npc_float(a)) ? npc_fin(npc_float(r)) ? 0 : 2 : 8; }
//@ rep_exp2:f16 < rep_exp2:f32, rep_half
NPC_FN unsigned npc_rep_exp2(npc_f16 a, npc_f16 r) { return npc_rep_exp2(npc_float(a), npc_float(r)); }
//@ rep_expm1:f16 < rep_expm1:f32, rep_half
NPC_FN unsigned npc_rep_expm1(npc_f16 a, npc_f16 r) { return npc_rep_expm1(npc_float(a), npc_float(r)); }
//@ rep_sinh:f16 < rep_sinh:f32, rep_half
NPC_FN unsigned npc_rep_sinh(npc_f16 a, npc_f16 r) { return npc_rep_sinh(npc_float(a), npc_float(r)); }
//@ rep_cosh:f16 < rep_cosh:f32, rep_half
NPC_FN unsigned npc_rep_cosh(npc_f16 a, npc_f16 r) { return npc_rep_cosh(npc_float(a), npc_float(r)); }
//@ rep_log:f16 < rep_log:f32, rep_half
NPC_FN unsigned npc_rep_log(npc_f16 a, npc_f16 r) { return npc_rep_log(npc_float(a), npc_float(r)); }
//@ rep_log2:f16 < rep_log2:f32, rep_half
NPC_FN unsigned npc_rep_log2(npc_f16 a, npc_f16 r) { return npc_rep_log2(npc_float(a), npc_float(r)); }
//@ rep_log10:f16 < rep_log10:f32, rep_half
NPC_FN unsigned npc_rep_log10(npc_f16 a, npc_f16 r) { return npc_rep_log10(npc_float(a), npc_float(r)); }
//@ rep_log1p:f16 < rep_log1p:f32, rep_half
NPC_FN unsigned npc_rep_log1p(npc_f16 a, npc_f16 r) { return npc_rep_log1p(npc_float(a), npc_float(r)); }
//@ rep_acosh:f16 < rep_acosh:f32, rep_half
NPC_FN unsigned npc_rep_acosh(npc_f16 a, npc_f16 r) { return npc_rep_acosh(npc_float(a), npc_float(r)); }
//@ rep_atanh:f16 < rep_atanh:f32, rep_half
NPC_FN unsigned npc_rep_atanh(npc_f16 a, npc_f16 r) { return npc_rep_atanh(npc_float(a), npc_float(r)); }
//@ rep_sin:f16 < rep_sin:f32, rep_half
NPC_FN unsigned npc_rep_sin(npc_f16 a, npc_f16 r) { return npc_rep_sin(npc_float(a), npc_float(r)); }
//@ rep_cos:f16 < rep_cos:f32, rep_half
NPC_FN unsigned npc_rep_cos(npc_f16 a, npc_f16 r) { return npc_rep_cos(npc_float(a), npc_float(r)); }
//@ rep_tan:f16 < rep_tan:f32, rep_half
NPC_FN unsigned npc_rep_tan(npc_f16 a, npc_f16 r) { return npc_rep_tan(npc_float(a), npc_float(r)); }
//@ rep_asin:f16 < rep_asin:f32, rep_half
NPC_FN unsigned npc_rep_asin(npc_f16 a, npc_f16 r) { return npc_rep_asin(npc_float(a), npc_float(r)); }
//@ rep_acos:f16 < rep_acos:f32, rep_half
NPC_FN unsigned npc_rep_acos(npc_f16 a, npc_f16 r) { return npc_rep_acos(npc_float(a), npc_float(r)); }
//@ rep_atan:f16 < rep_atan:f32, rep_half
NPC_FN unsigned npc_rep_atan(npc_f16 a, npc_f16 r) { return npc_rep_atan(npc_float(a), npc_float(r)); }
//@ rep_tanh:f16 < rep_tanh:f32, rep_half
NPC_FN unsigned npc_rep_tanh(npc_f16 a, npc_f16 r) { return npc_rep_tanh(npc_float(a), npc_float(r)); }
//@ rep_asinh:f16 < rep_asinh:f32, rep_half
NPC_FN unsigned npc_rep_asinh(npc_f16 a, npc_f16 r) { return npc_rep_asinh(npc_float(a), npc_float(r)); }
//@ rep_erf:f16 < rep_erf:f32, rep_half
NPC_FN unsigned npc_rep_erf(npc_f16 a, npc_f16 r) { return npc_rep_erf(npc_float(a), npc_float(r)); }
//@ rep_lgamma:f16 < rep_lgamma:f32, rep_half
NPC_FN unsigned npc_rep_lgamma(npc_f16 a, npc_f16 r) { return npc_rep_lgamma(npc_float(a), npc_float(r)); }
//@ rep_exp:f16 < rep_exp:f32, rep_half
NPC_FN unsigned npc_rep_exp(npc_f16 a, npc_f16 r) {
  float x = npc_float(a), y = npc_float(r);
  return npc_rep_exp(x, y) | npc_mask(0, 0, npc_fin(x) & (y < 0x1p-14f), 0);
}
//@ rep_pow:f16 < rep_pow:f32, rep_half
NPC_FN unsigned npc_rep_pow(npc_f16 a, npc_f16 b, npc_f16 r) {
  float y = npc_float(b);
  return npc_rep_pow(npc_float(a), y, npc_float(r)) & (npc_fin(y) ? 15u : 14u); /* 0 ** -inf is silent here */
}
//@ rep_fmod:f16 < rep_fmod:f32, rep_half
NPC_FN unsigned npc_rep_fmod(npc_f16 a, npc_f16 b, npc_f16 r) { return npc_rep_fmod(npc_float(a), npc_float(b), npc_float(r)); }
//@ rep_mod:f16 < rep_mod:f32, rep_half
NPC_FN unsigned npc_rep_mod(npc_f16 a, npc_f16 b, npc_f16 r) { return npc_rep_mod(npc_float(a), npc_float(b), npc_float(r)); }
//@ rep_floordiv:f16 < rep_floordiv:f32, floordiv:f32, rep_half
NPC_FN unsigned npc_rep_floordiv(npc_f16 a, npc_f16 b, npc_f16) {
  float x = npc_float(a), y = npc_float(b), r = npc_floordiv(x, y);
  return npc_rep_floordiv(x, y, r) | npc_rep_half(r);
}
//@ rep_atan2:f16 < rep_atan2:f32, rep_half
NPC_FN unsigned npc_rep_atan2(npc_f16 a, npc_f16 b, npc_f16 r) { return npc_rep_atan2(npc_float(a), npc_float(b), npc_float(r)); }
//@ rep_hypot:f16 < rep_hypot:f32, rep_half
NPC_FN unsigned npc_rep_hypot(npc_f16 a, npc_f16 b, npc_f16 r) { return npc_rep_hypot(npc_float(a), npc_float(b), npc_float(r)); }
//@ rep_logaddexp:f16 < rep_logaddexp:f32, rep_half
NPC_FN unsigned npc_rep_logaddexp(npc_f16 a, npc_f16 b, npc_f16 r) { return npc_rep_logaddexp(npc_float(a), npc_float(b), npc_float(r)); }
//@ rep_logaddexp2:f16 < rep_logaddexp2:f32, rep_half
NPC_FN unsigned npc_rep_logaddexp2(npc_f16 a, npc_f16 b, npc_f16 r) { return npc_rep_logaddexp2(npc_float(a), npc_float(b), npc_float(r)); }
//@ rep_nextafter:f16 < rep_nextafter:f32, rep_half
NPC_FN unsigned npc_rep_nextafter(npc_f16 a, npc_f16 b, npc_f16 r) { return npc_rep_nextafter(npc_float(a), npc_float(b), npc_float(r)); }
//@ rep_heaviside:f16 < rep_heaviside:f32, rep_half
NPC_FN unsigned npc_rep_heaviside(npc_f16 a, npc_f16 b, npc_f16 r) { return npc_rep_heaviside(npc_float(a), npc_float(b), npc_float(r)); }
//@ rep_copysign:f16 < rep_copysign:f32, rep_half
NPC_FN unsigned npc_rep_copysign(npc_f16 a, npc_f16 b, npc_f16 r) { return npc_rep_copysign(npc_float(a), npc_float(b), npc_float(r)); }
//@ rep_ldexp:f16 < rep_ldexp:f32, rep_half
template <class E> NPC_FN unsigned npc_rep_ldexp(npc_f16 a, E e, npc_f16 r) { return npc_rep_ldexp(npc_float(a), e, npc_float(r)); }
//@ rep_add:f16 < rep_add:f32, rep_half
NPC_FN unsigned npc_rep_add(npc_f16 a, npc_f16 b, npc_f16) {
  float x = npc_float(a), y = npc_float(b), r = x + y;
  return npc_rep_add(x, y, r) | npc_rep_half(r);
}
//@ rep_half_sum:f16 < rep_add:f32, rep_half
NPC_FN unsigned npc_rep_half_sum(npc_f16 a, float b, npc_f16) {
  float x = npc_float(a), r = x + b;
  return npc_rep_add(x, b, r) | npc_rep_half(r);
}
//@ rep_sub:f16 < rep_sub:f32, rep_half
NPC_FN unsigned npc_rep_sub(npc_f16 a, npc_f16 b, npc_f16) {
  float x = npc_float(a), y = npc_float(b), r = x - y;
  return npc_rep_sub(x, y, r) | npc_rep_half(r);
}
//@ rep_mul:f16 < rep_mul:f32, rep_half
NPC_FN unsigned npc_rep_mul(npc_f16 a, npc_f16 b, npc_f16) {
  float x = npc_float(a), y = npc_float(b), r = x * y;
  return npc_rep_mul(x, y, r) | npc_rep_half(r);
}
//@ rep_div:f16 < rep_div:f32, rep_half
NPC_FN unsigned npc_rep_div(npc_f16 a, npc_f16 b, npc_f16) {
  float x = npc_float(a), y = npc_float(b), r = x / y;
  return npc_rep_div(x, y, r) | npc_rep_half(r);
}
//@ rep_square:f16 < rep_square:f32, rep_half
NPC_FN unsigned npc_rep_square(npc_f16 a, npc_f16) {
  float x = npc_float(a), r = x * x;
  return npc_rep_square(x, r) | npc_rep_half(r);
}
//@ rep_reciprocal:f16 < rep_reciprocal:f32, rep_half
NPC_FN unsigned npc_rep_reciprocal(npc_f16 a, npc_f16) {
  float x = npc_float(a), r = 1.0f / x;
  return npc_rep_reciprocal(x, r) | npc_rep_half(r);
}
//@ rep_deg2rad:f16 < rep_deg2rad:f32, rep_half
NPC_FN unsigned npc_rep_deg2rad(npc_f16 a, npc_f16) {
  float x = npc_float(a), r = x * (3.14159265358979323846f / 180.0f);
  return npc_rep_deg2rad(x, r) | npc_rep_half(r);
}
//@ rep_rad2deg:f16 < rep_rad2deg:f32, rep_half
NPC_FN unsigned npc_rep_rad2deg(npc_f16 a, npc_f16) {
  float x = npc_float(a), r = x * (180.0f / 3.14159265358979323846f);
  return npc_rep_rad2deg(x, r) | npc_rep_half(r);
}
//@ rep_add:complex, rep_sub:complex < rep_add:floats, each_int
#define NPC_M(T, R) \
  NPC_FN unsigned npc_rep_add(T a, T b, T r) { return npc_rep_add(a.re, b.re, r.re) | npc_rep_add(a.im, b.im, r.im); } \
  NPC_FN unsigned npc_rep_sub(T a, T b, T r) { return npc_rep_add(a.re, b.re, r.re) | npc_rep_add(a.im, b.im, r.im); }
NPC_EACH_COMPLEX(NPC_M)
#undef NPC_M
//@ rep_mul:complex, rep_square:complex < rep_mul:floats, rep_add:floats, each_int
/* The second product of each part may be fused with the sum, as in the product itself. */
#if defined(__FMA__) || defined(__aarch64__)
#define NPC_M(T, R) \
  NPC_FN unsigned npc_rep_fma(R a, R b, R c, R r) { \
    return npc_mask(0, npc_fin(a) & npc_fin(b) & npc_fin(c) & !npc_fin(r), 0, npc_nan(r) & !npc_nan(a) & !npc_nan(b) & !npc_nan(c)); \
  } \
  NPC_FN unsigned npc_rep_mul(T a, T b, T r) { \
    R q = a.im * b.im, t = a.im * b.re; \
    return npc_rep_mul(a.im, b.im, q) | npc_rep_mul(a.im, b.re, t) | npc_rep_fma(a.re, b.re, -q, r.re) | \
           npc_rep_fma(a.re, b.im, t, r.im); \
  } \
  NPC_FN unsigned npc_rep_square(T a, T r) { return npc_rep_mul(a, a, r); }
#else
#define NPC_M(T, R) \
  NPC_FN unsigned npc_rep_mul(T a, T b, T r) { \
    R p = a.re * b.re, q = a.im * b.im, s = a.re * b.im, t = a.im * b.re; \
    return npc_rep_mul(a.re, b.re, p) | npc_rep_mul(a.im, b.im, q) | npc_rep_mul(a.re, b.im, s) | \
           npc_rep_mul(a.im, b.re, t) | npc_rep_sub(p, q, r.re) | npc_rep_add(s, t, r.im); \
  } \
  NPC_FN unsigned npc_rep_square(T a, T r) { return npc_rep_mul(a, a, r); }
#endif
NPC_EACH_COMPLEX(NPC_M)
#undef NPC_M
//@ rep_div:complex, rep_reciprocal:complex < rep_mul:floats, rep_add:floats, each_int
#define NPC_M(T, R, ABS) \
  NPC_FN unsigned npc_rep_div(T a, T b, T r) { \
    R br = ABS(b.re), bi = ABS(b.im); \
    bool big = br >= bi; \
    if ((br == 0) & (bi == 0)) return npc_rep_div(a.re, br, r.re) | npc_rep_div(a.im, br, r.im); \
    R lo = big ? b.im : b.re, hi = big ? b.re : b.im, rat = lo / hi, t = lo * rat, den = hi + t, scl = (R)1 / den; \
    R p = big ? a.re : a.im, q = big ? a.im : a.re, pr = p * rat, qr = q * rat, x = p + qr, y = big ? q - pr : pr - q; \
    unsigned cmp = (br != br) | (bi != bi) ? 8u : 0u; /* NumPy compares the parts */ \
    return cmp | npc_rep_div(lo, hi, rat) | npc_rep_mul(lo, rat, t) | npc_rep_add(hi, t, den) | npc_rep_div((R)1, den, scl) | \
           npc_rep_mul(p, rat, pr) | npc_rep_mul(q, rat, qr) | npc_rep_add(p, qr, x) | npc_rep_sub(q, pr, y) | \
           npc_rep_mul(x, scl, r.re) | npc_rep_mul(y, scl, r.im); \
  } \
  NPC_FN unsigned npc_rep_reciprocal(T b, T r) { \
    bool big = ABS(b.im) <= ABS(b.re); \
    R lo = big ? b.im : b.re, hi = big ? b.re : b.im, rat = lo / hi, t = lo * rat, den = hi + t; \
    unsigned cmp = (b.re != b.re) | (b.im != b.im) ? 8u : 0u; \
    return cmp | npc_rep_div(lo, hi, rat) | npc_rep_mul(lo, rat, t) | npc_rep_add(hi, t, den) | \
           npc_rep_div(big ? (R)1 : rat, den, r.re) | npc_rep_div(big ? -rat : (R)-1, den, r.im); \
  }
NPC_M(npc_c64, float, __builtin_fabsf)
NPC_M(npc_c128, double, __builtin_fabs)
#undef NPC_M
//@ rep_abs:complex, rep_rint:complex, rep_sign:complex < rep_hypot:floats, rep_rint:floats, each_int
#define NPC_M(T, R) \
  NPC_FN unsigned npc_rep_abs(T a, R r) { return npc_rep_hypot(a.re, a.im, r); } \
  NPC_FN unsigned npc_rep_rint(T a, T r) { return npc_rep_rint(a.re, r.re) | npc_rep_rint(a.im, r.im); } \
  NPC_FN unsigned npc_rep_sign(T, T) { return 0; }
NPC_EACH_COMPLEX(NPC_M)
#undef NPC_M
//@ rep_complex < rep_base, each_int
/* Functions of a complex variable: by what enters and what comes out. */
#define NPC_M(T, R) \
  NPC_FN unsigned npc_rep_complex(T a, T r, bool pole) { \
    bool fin = npc_fin(a.re) & npc_fin(a.im), nan = npc_nan(a.re) | npc_nan(a.im), bad = npc_nan(r.re) | npc_nan(r.im); \
    bool inf = (!npc_fin(r.re) & !npc_nan(r.re)) | (!npc_fin(r.im) & !npc_nan(r.im)); \
    return npc_mask(fin & inf & pole, fin & inf & !pole, 0, bad & !nan); \
  }
NPC_EACH_COMPLEX(NPC_M)
#undef NPC_M
//@ rep_exp:complex < rep_complex
template <class T> NPC_FN auto npc_rep_exp(T a, T r) -> decltype(npc_rep_complex(a, r, false)) { return npc_rep_complex(a, r, false); }
//@ rep_log:complex < rep_complex
template <class T> NPC_FN auto npc_rep_log(T a, T r) -> decltype(npc_rep_complex(a, r, true)) { return npc_rep_complex(a, r, true); }
//@ rep_sqrt:complex < rep_complex
template <class T> NPC_FN auto npc_rep_sqrt(T a, T r) -> decltype(npc_rep_complex(a, r, false)) { return npc_rep_complex(a, r, false); }
//@ rep_sin:complex < rep_complex
template <class T> NPC_FN auto npc_rep_sin(T a, T r) -> decltype(npc_rep_complex(a, r, false)) { return npc_rep_complex(a, r, false); }
//@ rep_cos:complex < rep_complex
template <class T> NPC_FN auto npc_rep_cos(T a, T r) -> decltype(npc_rep_complex(a, r, false)) { return npc_rep_complex(a, r, false); }
//@ rep_tan:complex < rep_complex
template <class T> NPC_FN auto npc_rep_tan(T a, T r) -> decltype(npc_rep_complex(a, r, false)) { return npc_rep_complex(a, r, false); }
//@ rep_asin:complex < rep_complex
template <class T> NPC_FN auto npc_rep_asin(T a, T r) -> decltype(npc_rep_complex(a, r, false)) { return npc_rep_complex(a, r, false); }
//@ rep_acos:complex < rep_complex
template <class T> NPC_FN auto npc_rep_acos(T a, T r) -> decltype(npc_rep_complex(a, r, false)) { return npc_rep_complex(a, r, false); }
//@ rep_atan:complex < rep_complex
template <class T> NPC_FN auto npc_rep_atan(T a, T r) -> decltype(npc_rep_complex(a, r, true)) { return npc_rep_complex(a, r, true); }
//@ rep_sinh:complex < rep_complex
template <class T> NPC_FN auto npc_rep_sinh(T a, T r) -> decltype(npc_rep_complex(a, r, false)) { return npc_rep_complex(a, r, false); }
//@ rep_cosh:complex < rep_complex
template <class T> NPC_FN auto npc_rep_cosh(T a, T r) -> decltype(npc_rep_complex(a, r, false)) { return npc_rep_complex(a, r, false); }
//@ rep_tanh:complex < rep_complex
template <class T> NPC_FN auto npc_rep_tanh(T a, T r) -> decltype(npc_rep_complex(a, r, false)) { return npc_rep_complex(a, r, false); }
//@ rep_asinh:complex < rep_complex
template <class T> NPC_FN auto npc_rep_asinh(T a, T r) -> decltype(npc_rep_complex(a, r, false)) { return npc_rep_complex(a, r, false); }
//@ rep_acosh:complex < rep_complex
template <class T> NPC_FN auto npc_rep_acosh(T a, T r) -> decltype(npc_rep_complex(a, r, false)) { return npc_rep_complex(a, r, false); }
//@ rep_atanh:complex < rep_complex
template <class T> NPC_FN auto npc_rep_atanh(T a, T r) -> decltype(npc_rep_complex(a, r, true)) { return npc_rep_complex(a, r, true); }
//@ rep_exp2:complex < rep_complex
template <class T> NPC_FN auto npc_rep_exp2(T a, T r) -> decltype(npc_rep_complex(a, r, false)) { return npc_rep_complex(a, r, false); }
//@ rep_expm1:complex < rep_complex
template <class T> NPC_FN auto npc_rep_expm1(T a, T r) -> decltype(npc_rep_complex(a, r, false)) { return npc_rep_complex(a, r, false); }
//@ rep_log2:complex < rep_complex
template <class T> NPC_FN auto npc_rep_log2(T a, T r) -> decltype(npc_rep_complex(a, r, true)) { return npc_rep_complex(a, r, true); }
//@ rep_log10:complex < rep_complex
template <class T> NPC_FN auto npc_rep_log10(T a, T r) -> decltype(npc_rep_complex(a, r, true)) { return npc_rep_complex(a, r, true); }
//@ rep_log1p:complex < rep_complex
template <class T> NPC_FN auto npc_rep_log1p(T a, T r) -> decltype(npc_rep_complex(a, r, true)) { return npc_rep_complex(a, r, true); }
//@ rep_pow:complex < rep_complex
template <class T> NPC_FN auto npc_rep_pow(T a, T b, T r) -> decltype(npc_rep_complex(a, r, false)) {
  return npc_rep_complex(a, r, false) | (npc_rep_complex(b, r, false) & 2u);
}
//@ rep_convert < convert, rep_base, rep_half
/* npc_rep_convert<D>(a): of npc_convert<D>(a). */
template <class D, class S> NPC_FN unsigned npc_rep_convert(S a) {
  if constexpr (__is_same(D, S) || __is_same(D, npc_bool)) return 0;
  else if constexpr (npc_kind<S>::complex && npc_kind<D>::complex) {
    typedef typename npc_kind<D>::part R;
    return npc_rep_convert<R>(a.re) | npc_rep_convert<R>(a.im);
  }
  else if constexpr (npc_kind<S>::complex) return npc_rep_convert<D>(a.re);
  else if constexpr (npc_kind<D>::complex) return npc_rep_convert<typename npc_kind<D>::part>(a);
  else if constexpr (__is_same(S, npc_f16)) return npc_kind<D>::real ? 0 : npc_rep_convert<D>(npc_float(a));
  else if constexpr (__is_same(D, npc_f16)) {
    if constexpr (!npc_kind<S>::real) return npc_mask(0, !npc_fin(npc_float(npc_half((float)a))), 0, 0);
    else {
      float r = npc_float(npc_half(a));
      return npc_mask(0, npc_fin(a) & !npc_fin(r), (a < 0x1p-14) & (a > -0x1p-14) & ((S)r != a), 0);
    }
  }
  else if constexpr (npc_kind<S>::real && npc_kind<D>::real) {
    D r = (D)a;
    return npc_mask(0, npc_fin(a) & !npc_fin(r), npc_small(r) & ((S)r != a) & !npc_nan(a), sizeof(D) < sizeof(S) && npc_snan(a));
  }
  else if constexpr (npc_kind<S>::real) {
    const S hi = (S)(__is_same(D, npc_u64) ? 0x1p64 : sizeof(D) == 8 || __is_same(D, npc_u32) ? 0x1p63 : 0x1p31);
    const S lo = (S)(sizeof(D) == 8 || __is_same(D, npc_u32) ? -0x1p63 : -0x1p31);
    return npc_mask(0, 0, 0, !((sizeof(S) == 8 && lo == (S)-0x1p31 ? a > lo - 1 : a >= lo) && a < hi));
  }
  else return 0;
}
//@ rep_lt:complex, rep_le:complex, rep_gt:complex, rep_ge:complex < rep_base, each_int
/* Ordering compares real parts, and imaginary ones where those are equal; NaN in what is compared is invalid. */
#define NPC_M(T, R) \
  NPC_FN unsigned npc_rep_lt(T a, T b, npc_bool) { \
    bool re = npc_nan(a.re) | npc_nan(b.re), im = npc_nan(a.im) | npc_nan(b.im); \
    return npc_mask(0, 0, 0, re | ((a.re == b.re) & im)); \
  } \
  NPC_FN unsigned npc_rep_le(T a, T b, npc_bool r) { return npc_rep_lt(a, b, r); } \
  NPC_FN unsigned npc_rep_gt(T a, T b, npc_bool r) { return npc_rep_lt(a, b, r); } \
  NPC_FN unsigned npc_rep_ge(T a, T b, npc_bool r) { return npc_rep_lt(a, b, r); }
NPC_EACH_COMPLEX(NPC_M)
#undef NPC_M
