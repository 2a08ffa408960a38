/* Filters for condition reports, cheap enough for the loop itself: `npc_odd_P(args..., r)`, or `npc_odd(r)` where there is none,
   is an unsigned of the width of the elements whose top bit is set when NumPy may report divide, overflow or invalid for this
   element. Gather the words of a loop by `|`; if `npc_top` of the result holds, ask NumPy. Underflow is not looked for. Hardware
   flags would not do: own functions do not raise what they report, and vectorised conditionals raise what they do not. */
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
//@ odd_logaddexp:f32+f64 < odd
template <class T> NPC_FN auto npc_odd_logaddexp(T a, T b, T r) { return npc_odd(r) | npc_odd(a - b); }
//@ odd_logaddexp2:f32+f64 < odd
template <class T> NPC_FN auto npc_odd_logaddexp2(T a, T b, T r) { return npc_odd(r) | npc_odd(a - b); }
//@ odd_pow:complex < odd
/* A huge exponent overflows on the way to a zero. */
template <class T> NPC_FN auto npc_odd_pow(T, T b, T r) { return npc_odd(r) | npc_odd(T{b.re * 1024, b.im * 1024}); }
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
