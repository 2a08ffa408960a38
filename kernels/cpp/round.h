/* Rounding to integers, neighbours, scaling by powers of two. Exact functions; only ldexp rounds. */
//@ round_base
#if defined(__SSE4_1__) || defined(__aarch64__)
NPC_FN double npc_rint_(double a) { return __builtin_rint(a); }
NPC_FN double npc_floor_(double a) { return __builtin_floor(a); }
NPC_FN double npc_ceil_(double a) { return __builtin_ceil(a); }
NPC_FN double npc_trunc_(double a) { return __builtin_trunc(a); }
NPC_FN float npc_rint_(float a) { return __builtin_rintf(a); }
NPC_FN float npc_floor_(float a) { return __builtin_floorf(a); }
NPC_FN float npc_ceil_(float a) { return __builtin_ceilf(a); }
NPC_FN float npc_trunc_(float a) { return __builtin_truncf(a); }
#else /* no instruction: adding 2^52 (2^23) rounds half to even; a NaN becomes quiet as the instruction makes it */
#define NPC_M(T, BIG, ABS, SIGN) \
  NPC_FN T npc_rint_(T a) { T x = ABS(a), r = x + BIG; r -= BIG; return x < BIG ? SIGN(r, a) : a + (T)0; } \
  NPC_FN T npc_trunc_(T a) { T x = ABS(a), r = x + BIG; r -= BIG; r -= r > x ? (T)1 : (T)0; return x < BIG ? SIGN(r, a) : a; } \
  NPC_FN T npc_floor_(T a) { T r = npc_rint_(a); return SIGN(r - (r > a ? (T)1 : (T)0), a); } \
  NPC_FN T npc_ceil_(T a) { T r = npc_rint_(a); return SIGN(r + (r < a ? (T)1 : (T)0), a); }
NPC_M(double, 0x1p52, __builtin_fabs, __builtin_copysign)
NPC_M(float, 0x1p23f, __builtin_fabsf, __builtin_copysignf)
#undef NPC_M
#endif
//@ rint:floats, floor:floats, ceil:floats, trunc:floats < round_base
NPC_FN double npc_rint(double a) { return npc_rint_(a); }
NPC_FN double npc_floor(double a) { return npc_floor_(a); }
NPC_FN double npc_ceil(double a) { return npc_ceil_(a); }
NPC_FN double npc_trunc(double a) { return npc_trunc_(a); }
NPC_FN float npc_rint(float a) { return npc_rint_(a); }
NPC_FN float npc_floor(float a) { return npc_floor_(a); }
NPC_FN float npc_ceil(float a) { return npc_ceil_(a); }
NPC_FN float npc_trunc(float a) { return npc_trunc_(a); }
//@ rint:f16, floor:f16, ceil:f16, trunc:f16 < round_base, half
NPC_FN npc_f16 npc_rint(npc_f16 a) { return npc_half(npc_rint_(npc_float(a))); }
NPC_FN npc_f16 npc_floor(npc_f16 a) { return npc_half(npc_floor_(npc_float(a))); }
NPC_FN npc_f16 npc_ceil(npc_f16 a) { return npc_half(npc_ceil_(npc_float(a))); }
NPC_FN npc_f16 npc_trunc(npc_f16 a) { return npc_half(npc_trunc_(npc_float(a))); }
//@ rint:complex < round_base
NPC_FN npc_c64 npc_rint(npc_c64 a) { return npc_c64{npc_rint_(a.re), npc_rint_(a.im)}; }
NPC_FN npc_c128 npc_rint(npc_c128 a) { return npc_c128{npc_rint_(a.re), npc_rint_(a.im)}; }
//@ floor:ints+bool, ceil:ints+bool, trunc:ints+bool, rint:ints < each_int
#define NPC_M(T, W) \
  NPC_FN T npc_floor(T a) { return a; } \
  NPC_FN T npc_ceil(T a) { return a; } \
  NPC_FN T npc_trunc(T a) { return a; } \
  NPC_FN T npc_rint(T a) { return a; }
NPC_EACH_INT(NPC_M)
NPC_M(npc_bool, npc_u8)
#undef NPC_M
//@ nextafter:f64, spacing:f64
NPC_FN double npc_nextafter(double a, double b) {
  npc_u64 i = npc_bits(a), up = (a < b) == ((npc_i64)i >= 0);
  double r = npc_f64_of(up ? i + 1 : i - 1);
  r = a == 0 ? npc_f64_of((npc_bits(b) & (1ull << 63)) | 1) : r;
  r = a == b ? b : r;
  return a != a || b != b ? a + b : r;
}
NPC_FN double npc_spacing(double a) {
  npc_u64 i = npc_bits(a);
  double r = npc_f64_of(i + 1) - a;
  r = a == 0 ? __builtin_fabs(r) : r;
  return __builtin_fabs(a) < __builtin_inf() ? r : npc_f64_of(0x7ff8000000000000ull);
}
//@ nextafter:f32, spacing:f32
NPC_FN float npc_nextafter(float a, float b) {
  npc_u32 i = npc_bits(a), up = (a < b) == ((npc_i32)i >= 0);
  float r = npc_f32_of(up ? i + 1 : i - 1);
  r = a == 0 ? npc_f32_of((npc_bits(b) & (1u << 31)) | 1) : r;
  r = a == b ? b : r;
  return a != a || b != b ? a + b : r;
}
NPC_FN float npc_spacing(float a) {
  npc_u32 i = npc_bits(a);
  float r = npc_f32_of(i + 1) - a;
  r = a == 0 ? __builtin_fabsf(r) : r;
  return __builtin_fabsf(a) < __builtin_inff() ? r : npc_f32_of(0x7fc00000u);
}
//@ nextafter:f16, spacing:f16 < is_nan_half, half
NPC_FN npc_f16 npc_nextafter(npc_f16 a, npc_f16 b) { /* of equal zeros the second one from NumPy 2.5 on, like wider types */
  float x = npc_float(a), y = npc_float(b);
  npc_u16 r = (npc_u16)((x < y) == (a.bits < 0x8000) ? a.bits + 1 : a.bits - 1);
  r = x == 0 ? (npc_u16)((b.bits & 0x8000) | 1) : r;
  return npc_f16{npc_is_nan(a) || npc_is_nan(b) ? (npc_u16)0x7e00 : x == y ? (NPC_NUMPY >= 205 ? b.bits : a.bits) : r};
}
NPC_FN npc_f16 npc_spacing(npc_f16 a) { /* towards +inf, unlike the wider types */
  npc_u32 e = a.bits & 0x7c00u, down = (a.bits & 0x83ffu) == 0x8000u;
  npc_u32 step = 0x2800u + (down << 10), k = (e >> 10) - 1 - down;
  npc_u32 r = e > step ? e - step : e > 0x0400u ? 1u << (k & 15) : 1u;
  return npc_f16{(npc_u16)(e == 0x7c00u ? 0x7e00u : a.bits == 0x7bffu ? 0x7c00u : r)};
}
//@ ldexp:f64
/* The exponent field is set directly; a subnormal result is first made 2^64 too large and then rounded once. */
NPC_FN double npc_ldexp(double a, npc_i64 e) {
  e = e > 4200 ? 4200 : e < -4200 ? -4200 : e;
  npc_u64 sign = npc_bits(a) & (1ull << 63), u = npc_bits(a) ^ sign;
  bool tiny = u < (1ull << 52);
  npc_u64 v = tiny ? npc_bits(__builtin_fabs(a) * 0x1p54) : u;
  npc_i64 f = (npc_i64)(v >> 52) + e - (tiny ? 54 : 0);
  bool sub = f < 1;
  npc_i64 g = sub ? (f + 64 < 1 ? 1 : f + 64) : (f > 2046 ? 2047 : f);
  npc_u64 w = (v & 0x000fffffffffffffull) | ((npc_u64)g << 52);
  w = f > 2046 ? 0x7ff0000000000000ull : f < -63 ? 0x3ull << 50 : w; /* half of the smallest value's half: rounds to 0 */
  double r = npc_f64_of(w) * (sub ? 0x1p-64 : 1.0);
  return a == 0 || !(__builtin_fabs(a) < __builtin_inf()) ? a : npc_f64_of(npc_bits(r) | sign);
}
NPC_FN double npc_ldexp(double a, npc_i32 e) { return npc_ldexp(a, (npc_i64)e); }
//@ ldexp:f32
NPC_FN float npc_ldexp(float a, npc_i64 e) {
  e = e > 400 ? 400 : e < -400 ? -400 : e;
  return (float)((double)a * npc_f64_of((npc_u64)(e + 1023) << 52)); /* the product is exact */
}
NPC_FN float npc_ldexp(float a, npc_i32 e) { return npc_ldexp(a, (npc_i64)e); }
//@ ldexp:f16 < half
NPC_FN npc_f16 npc_ldexp(npc_f16 a, npc_i64 e) {
  e = e > 100 ? 100 : e < -100 ? -100 : e;
  return npc_half((double)npc_float(a) * npc_f64_of((npc_u64)(e + 1023) << 52));
}
NPC_FN npc_f16 npc_ldexp(npc_f16 a, npc_i32 e) { return npc_ldexp(a, (npc_i64)e); }
