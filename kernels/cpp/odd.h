/* Filters for condition reports and near functions, cheap enough for the loop itself: `npc_odd_P(args..., r)` is an unsigned
   of the width of the elements whose top bit is set when NumPy may report divide, overflow or invalid for this element, or
   when `npc_near_P` is undefined there. Gather the words of a loop by `|`; if `npc_top` of the result holds, run the loop
   again with `npc_P` and the exact predicates `npc_rep_P`. Underflow is not looked for. Hardware flags would not do: own
   functions do not raise what they report, and vectorised conditionals raise what they do not. */
//@ odd
/* Is it infinite or NaN? All conditions on floats have such a result. */
NPC_FN npc_u64 npc_odd(double r) { return (npc_bits(r) & ~(1ull << 63)) + (1ull << 52); }
NPC_FN npc_u32 npc_odd(float r) { return (npc_bits(r) & ~(1u << 31)) + (1u << 23); }
NPC_FN npc_u16 npc_odd(npc_f16 r) { return (npc_u16)((r.bits & 0x7fff) + 0x0400); }
NPC_FN npc_u64 npc_odd(npc_c128 r) { return npc_odd(r.re) | npc_odd(r.im); }
NPC_FN npc_u32 npc_odd(npc_c64 r) { return npc_odd(r.re) | npc_odd(r.im); }
//@ number
/* Is it no NaN? */
NPC_FN npc_u64 npc_number(double r) { return (npc_bits(r) & ~(1ull << 63)) - ((0x7ffull << 52) + 1); }
NPC_FN npc_u32 npc_number(float r) { return (npc_bits(r) & ~(1u << 31)) - (0x7f800000u + 1); }
//@ odd_acos:f16+f32+f64+complex < odd
template <class T> NPC_FN auto npc_odd_acos(T, T r) { return npc_odd(r); }
//@ odd_acosh:f16+f32+f64+complex < odd
template <class T> NPC_FN auto npc_odd_acosh(T, T r) { return npc_odd(r); }
//@ odd_add:f16+f32+f64+complex < odd
template <class T> NPC_FN auto npc_odd_add(T, T, T r) { return npc_odd(r); }
//@ odd_asin:f16+f32+f64+complex < odd
template <class T> NPC_FN auto npc_odd_asin(T, T r) { return npc_odd(r); }
//@ odd_atan2:f16+f32+f64 < odd
template <class T> NPC_FN auto npc_odd_atan2(T, T, T r) { return npc_odd(r); }
//@ odd_atanh:f16+f32+f64+complex < odd
template <class T> NPC_FN auto npc_odd_atanh(T, T r) { return npc_odd(r); }
//@ odd_ceil:f16+f32+f64 < odd
template <class T> NPC_FN auto npc_odd_ceil(T, T r) { return npc_odd(r); }
//@ odd_cos:f32+f64 < odd, far_cos:floats
NPC_FN npc_u64 npc_odd_cos(double a, double r) { return npc_odd(r) | npc_far_cos(a); }
NPC_FN npc_u32 npc_odd_cos(float a, float r) { return npc_odd(r) | npc_far_cos(a); }
//@ odd_cos:f16 < odd
NPC_FN npc_u16 npc_odd_cos(npc_f16, npc_f16 r) { return npc_odd(r); }
//@ odd_cos:c64 < odd
NPC_FN auto npc_odd_cos(npc_c64, npc_c64 r) { return npc_odd(r); }
//@ odd_cos:c128 < odd
NPC_FN auto npc_odd_cos(npc_c128, npc_c128 r) { return npc_odd(r); }
//@ odd_cosh:f16+f32+f64+complex < odd
template <class T> NPC_FN auto npc_odd_cosh(T, T r) { return npc_odd(r); }
//@ odd_deg2rad:f16+f32+f64 < odd
template <class T> NPC_FN auto npc_odd_deg2rad(T, T r) { return npc_odd(r); }
//@ odd_div:f16+f32+f64+complex < odd
template <class T> NPC_FN auto npc_odd_div(T, T, T r) { return npc_odd(r); }
//@ odd_exp:f16+f32+f64+complex < odd
template <class T> NPC_FN auto npc_odd_exp(T, T r) { return npc_odd(r); }
//@ odd_exp2:f16+f32+f64+complex < odd
template <class T> NPC_FN auto npc_odd_exp2(T, T r) { return npc_odd(r); }
//@ odd_expm1:f16+f32+f64+complex < odd
template <class T> NPC_FN auto npc_odd_expm1(T, T r) { return npc_odd(r); }
//@ odd_floor:f16+f32+f64 < odd
template <class T> NPC_FN auto npc_odd_floor(T, T r) { return npc_odd(r); }
//@ odd_floordiv:f32+f64 < odd, far_floordiv:floats
NPC_FN npc_u64 npc_odd_floordiv(double a, double b, double r) { return npc_odd(r) | npc_far_floordiv(a, b); }
NPC_FN npc_u32 npc_odd_floordiv(float a, float b, float r) { return npc_odd(r) | npc_far_floordiv(a, b); }
//@ odd_floordiv:f16 < odd
NPC_FN npc_u16 npc_odd_floordiv(npc_f16, npc_f16, npc_f16 r) { return npc_odd(r); }
//@ odd_fmod:f32+f64 < odd, far_fmod:floats
NPC_FN npc_u64 npc_odd_fmod(double a, double b, double r) { return npc_odd(r) | npc_far_fmod(a, b); }
NPC_FN npc_u32 npc_odd_fmod(float a, float b, float r) { return npc_odd(r) | npc_far_fmod(a, b); }
//@ odd_fmod:f16 < odd
NPC_FN npc_u16 npc_odd_fmod(npc_f16, npc_f16, npc_f16 r) { return npc_odd(r); }
//@ odd_heaviside:f16+f32+f64 < odd
template <class T> NPC_FN auto npc_odd_heaviside(T, T, T r) { return npc_odd(r); }
//@ odd_hypot:f16+f32+f64 < odd
template <class T> NPC_FN auto npc_odd_hypot(T, T, T r) { return npc_odd(r); }
//@ odd_ldexp:f16+f32+f64 < odd
template <class T, class E> NPC_FN auto npc_odd_ldexp(T, E, T r) { return npc_odd(r); }
//@ odd_log:f16+f32+f64+complex < odd
template <class T> NPC_FN auto npc_odd_log(T, T r) { return npc_odd(r); }
//@ odd_log10:f16+f32+f64+complex < odd
template <class T> NPC_FN auto npc_odd_log10(T, T r) { return npc_odd(r); }
//@ odd_log1p:f16+f32+f64+complex < odd
template <class T> NPC_FN auto npc_odd_log1p(T, T r) { return npc_odd(r); }
//@ odd_log2:f16+f32+f64+complex < odd
template <class T> NPC_FN auto npc_odd_log2(T, T r) { return npc_odd(r); }
//@ odd_logaddexp:f32+f64 < odd
template <class T> NPC_FN auto npc_odd_logaddexp(T a, T b, T r) { return npc_odd(r) | npc_odd(a - b); }
//@ odd_logaddexp2:f32+f64 < odd
template <class T> NPC_FN auto npc_odd_logaddexp2(T a, T b, T r) { return npc_odd(r) | npc_odd(a - b); }
//@ odd_logaddexp:f16 < odd
NPC_FN auto npc_odd_logaddexp(npc_f16, npc_f16, npc_f16 r) { return npc_odd(r); }
//@ odd_logaddexp2:f16 < odd
NPC_FN auto npc_odd_logaddexp2(npc_f16, npc_f16, npc_f16 r) { return npc_odd(r); }
//@ odd_mod:f32+f64 < odd, far_mod:floats
NPC_FN npc_u64 npc_odd_mod(double a, double b, double r) { return npc_odd(r) | npc_far_mod(a, b); }
NPC_FN npc_u32 npc_odd_mod(float a, float b, float r) { return npc_odd(r) | npc_far_mod(a, b); }
//@ odd_mod:f16 < odd
NPC_FN npc_u16 npc_odd_mod(npc_f16, npc_f16, npc_f16 r) { return npc_odd(r); }
//@ odd_mul:f16+f32+f64+complex < odd
template <class T> NPC_FN auto npc_odd_mul(T, T, T r) { return npc_odd(r); }
//@ odd_nextafter:f16+f32+f64 < odd
template <class T> NPC_FN auto npc_odd_nextafter(T, T, T r) { return npc_odd(r); }
//@ odd_pow:f16+f32+f64+complex < odd
template <class T> NPC_FN auto npc_odd_pow(T, T, T r) { return npc_odd(r); }
//@ odd_rad2deg:f16+f32+f64 < odd
template <class T> NPC_FN auto npc_odd_rad2deg(T, T r) { return npc_odd(r); }
//@ odd_reciprocal:f16+f32+f64+complex < odd
template <class T> NPC_FN auto npc_odd_reciprocal(T, T r) { return npc_odd(r); }
//@ odd_rint:f16+f32+f64+complex < odd
template <class T> NPC_FN auto npc_odd_rint(T, T r) { return npc_odd(r); }
//@ odd_sin:f32+f64 < odd, far_sin:floats
NPC_FN npc_u64 npc_odd_sin(double a, double r) { return npc_odd(r) | npc_far_sin(a); }
NPC_FN npc_u32 npc_odd_sin(float a, float r) { return npc_odd(r) | npc_far_sin(a); }
//@ odd_sin:f16 < odd
NPC_FN npc_u16 npc_odd_sin(npc_f16, npc_f16 r) { return npc_odd(r); }
//@ odd_sin:c64 < odd
NPC_FN auto npc_odd_sin(npc_c64, npc_c64 r) { return npc_odd(r); }
//@ odd_sin:c128 < odd
NPC_FN auto npc_odd_sin(npc_c128, npc_c128 r) { return npc_odd(r); }
//@ odd_sinh:f16+f32+f64+complex < odd
template <class T> NPC_FN auto npc_odd_sinh(T, T r) { return npc_odd(r); }
//@ odd_spacing:f16+f32+f64 < odd
template <class T> NPC_FN auto npc_odd_spacing(T, T r) { return npc_odd(r); }
//@ odd_sqrt:f16+f32+f64+complex < odd
template <class T> NPC_FN auto npc_odd_sqrt(T, T r) { return npc_odd(r); }
//@ odd_square:f16+f32+f64+complex < odd
template <class T> NPC_FN auto npc_odd_square(T, T r) { return npc_odd(r); }
//@ odd_sub:f16+f32+f64+complex < odd
template <class T> NPC_FN auto npc_odd_sub(T, T, T r) { return npc_odd(r); }
//@ odd_tan:f32+f64 < odd, far_tan:floats
NPC_FN npc_u64 npc_odd_tan(double a, double r) { return npc_odd(r) | npc_far_tan(a); }
NPC_FN npc_u32 npc_odd_tan(float a, float r) { return npc_odd(r) | npc_far_tan(a); }
//@ odd_tan:f16 < odd
NPC_FN npc_u16 npc_odd_tan(npc_f16, npc_f16 r) { return npc_odd(r); }
//@ odd_tan:c64 < odd
NPC_FN auto npc_odd_tan(npc_c64, npc_c64 r) { return npc_odd(r); }
//@ odd_tan:c128 < odd
NPC_FN auto npc_odd_tan(npc_c128, npc_c128 r) { return npc_odd(r); }
//@ odd_trunc:f16+f32+f64 < odd
template <class T> NPC_FN auto npc_odd_trunc(T, T r) { return npc_odd(r); }
//@ odd_abs:complex < odd
NPC_FN npc_u64 npc_odd_abs(npc_c128, double r) { return npc_odd(r); }
NPC_FN npc_u32 npc_odd_abs(npc_c64, float r) { return npc_odd(r); }
//@ odd_atan:complex < odd
template <class T> NPC_FN auto npc_odd_atan(T, T r) { return npc_odd(r); }
//@ odd_tanh:complex < odd
template <class T> NPC_FN auto npc_odd_tanh(T, T r) { return npc_odd(r); }
//@ odd_asinh:complex < odd
template <class T> NPC_FN auto npc_odd_asinh(T, T r) { return npc_odd(r); }
//@ odd_lt:complex, odd_le:complex, odd_gt:complex, odd_ge:complex < odd
template <class T> NPC_FN auto npc_odd_lt(T a, T b, npc_bool) { return npc_odd(a) | npc_odd(b); }
template <class T> NPC_FN auto npc_odd_le(T a, T b, npc_bool) { return npc_odd(a) | npc_odd(b); }
template <class T> NPC_FN auto npc_odd_gt(T a, T b, npc_bool) { return npc_odd(a) | npc_odd(b); }
template <class T> NPC_FN auto npc_odd_ge(T a, T b, npc_bool) { return npc_odd(a) | npc_odd(b); }
//@ odd_floordiv:ints, odd_mod:ints, odd_fmod:ints, odd_reciprocal:ints < each_int
#define NPC_M(T, U) \
  NPC_FN U npc_odd_mod(T, T b, T) { return b == 0 ? (U)~((U)-1 >> 1) : (U)0; } \
  NPC_FN U npc_odd_fmod(T, T b, T) { return b == 0 ? (U)~((U)-1 >> 1) : (U)0; } \
  NPC_FN U npc_odd_floordiv(T a, T b, T) { \
    bool least = (T)-1 < 0 && ((b == (T)-1) & (a == (T)~((U)-1 >> 1))); \
    return (b == 0) | least ? (U)~((U)-1 >> 1) : (U)0; \
  } \
  NPC_FN U npc_odd_reciprocal(T a, T) { return a == 0 ? (U)~((U)-1 >> 1) : (U)0; }
NPC_M(npc_i8, npc_u8)
NPC_M(npc_i16, npc_u16)
NPC_M(npc_i32, npc_u32)
NPC_M(npc_i64, npc_u64)
NPC_M(npc_u8, npc_u8)
NPC_M(npc_u16, npc_u16)
NPC_M(npc_u32, npc_u32)
NPC_M(npc_u64, npc_u64)
#undef NPC_M
//@ odd_convert < odd, convert
/* npc_odd_convert<D>(a), of the width of a (of its parts): beyond the largest magnitude that D surely takes. */
template <int N> struct npc_word;
template <> struct npc_word<1> { typedef npc_u8 type; };
template <> struct npc_word<2> { typedef npc_u16 type; };
template <> struct npc_word<4> { typedef npc_u32 type; };
template <> struct npc_word<8> { typedef npc_u64 type; };
template <class D> constexpr double npc_reach() {
  return __is_same(D, npc_f16) ? 65520.0 : __is_same(D, float) ? 0x1.ffffffp127 : sizeof(D) == 8 || __is_same(D, npc_u32) ? 0x1p63 : 0x1p31;
}
template <class D, class S> NPC_FN auto npc_odd_convert(S a) {
  if constexpr (npc_kind<D>::complex) {
    typedef typename npc_kind<D>::part R;
    if constexpr (npc_kind<S>::complex) return npc_odd_convert<R>(a.re) | npc_odd_convert<R>(a.im);
    else return npc_odd_convert<R>(a);
  }
  else if constexpr (npc_kind<S>::complex) return npc_odd_convert<D>(a.re);
  else if constexpr (__is_same(S, npc_f16)) return npc_kind<D>::real || __is_same(D, npc_bool) || __is_same(D, S) ? (npc_u16)0 : npc_odd(a);
  else if constexpr (npc_kind<S>::real) {
    auto w = npc_bits(a) << 1 >> 1, zero = w - w;
    if constexpr (__is_same(D, npc_bool) || __is_same(D, double) || __is_same(D, S)) return zero;
    else return w + (((zero + 1) << (sizeof(S) * 8 - 1)) - npc_bits((S)npc_reach<D>()));
  }
  else {
    typedef typename npc_word<sizeof(S)>::type U;
    return (U)(__is_same(D, npc_f16) && sizeof(S) > 1 && ((double)a >= 65520.0 || (double)a <= -65520.0) ? (U)~((U)-1 >> 1) : (U)0);
  }
}
