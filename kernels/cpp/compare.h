/* Comparisons, logic, bits, shifts, select, classification. Comparisons of complex numbers are lexicographic as NumPy's. */
//@ eq:ints+floats+bool, ne:ints+floats+bool, lt:ints+floats+bool, le:ints+floats+bool, gt:ints+floats+bool, ge:ints+floats+bool < each_int
#define NPC_M(T, W) \
  NPC_FN npc_bool npc_eq(T a, T b) { return (npc_bool)(a == b); } \
  NPC_FN npc_bool npc_ne(T a, T b) { return (npc_bool)(a != b); } \
  NPC_FN npc_bool npc_lt(T a, T b) { return (npc_bool)(a < b); } \
  NPC_FN npc_bool npc_le(T a, T b) { return (npc_bool)(a <= b); } \
  NPC_FN npc_bool npc_gt(T a, T b) { return (npc_bool)(a > b); } \
  NPC_FN npc_bool npc_ge(T a, T b) { return (npc_bool)(a >= b); }
NPC_EACH_INT(NPC_M)
NPC_EACH_FLOAT(NPC_M)
NPC_M(npc_bool, npc_u8)
#undef NPC_M
/* int64 against uint64, by value */
NPC_FN npc_bool npc_eq(npc_i64 a, npc_u64 b) { return (npc_bool)((a >= 0) & ((npc_u64)a == b)); }
NPC_FN npc_bool npc_lt(npc_i64 a, npc_u64 b) { return (npc_bool)((a < 0) | ((npc_u64)a < b)); }
NPC_FN npc_bool npc_le(npc_i64 a, npc_u64 b) { return (npc_bool)((a < 0) | ((npc_u64)a <= b)); }
NPC_FN npc_bool npc_ne(npc_i64 a, npc_u64 b) { return (npc_bool)(npc_eq(a, b) ^ 1); }
NPC_FN npc_bool npc_gt(npc_i64 a, npc_u64 b) { return (npc_bool)(npc_le(a, b) ^ 1); }
NPC_FN npc_bool npc_ge(npc_i64 a, npc_u64 b) { return (npc_bool)(npc_lt(a, b) ^ 1); }
NPC_FN npc_bool npc_eq(npc_u64 a, npc_i64 b) { return npc_eq(b, a); }
NPC_FN npc_bool npc_ne(npc_u64 a, npc_i64 b) { return npc_ne(b, a); }
NPC_FN npc_bool npc_lt(npc_u64 a, npc_i64 b) { return npc_gt(b, a); }
NPC_FN npc_bool npc_le(npc_u64 a, npc_i64 b) { return npc_ge(b, a); }
NPC_FN npc_bool npc_gt(npc_u64 a, npc_i64 b) { return npc_lt(b, a); }
NPC_FN npc_bool npc_ge(npc_u64 a, npc_i64 b) { return npc_le(b, a); }
//@ eq:f16, ne:f16, lt:f16, le:f16, gt:f16, ge:f16 < half
NPC_FN npc_bool npc_eq(npc_f16 a, npc_f16 b) { return (npc_bool)(npc_float(a) == npc_float(b)); }
NPC_FN npc_bool npc_ne(npc_f16 a, npc_f16 b) { return (npc_bool)(npc_float(a) != npc_float(b)); }
NPC_FN npc_bool npc_lt(npc_f16 a, npc_f16 b) { return (npc_bool)(npc_float(a) < npc_float(b)); }
NPC_FN npc_bool npc_le(npc_f16 a, npc_f16 b) { return (npc_bool)(npc_float(a) <= npc_float(b)); }
NPC_FN npc_bool npc_gt(npc_f16 a, npc_f16 b) { return (npc_bool)(npc_float(a) > npc_float(b)); }
NPC_FN npc_bool npc_ge(npc_f16 a, npc_f16 b) { return (npc_bool)(npc_float(a) >= npc_float(b)); }
//@ eq:complex, ne:complex, lt:complex, le:complex, gt:complex, ge:complex < each_int
#define NPC_M(T, R) \
  NPC_FN npc_bool npc_eq(T a, T b) { return (npc_bool)((a.re == b.re) & (a.im == b.im)); } \
  NPC_FN npc_bool npc_ne(T a, T b) { return (npc_bool)((a.re != b.re) | (a.im != b.im)); } \
  NPC_FN npc_bool npc_lt(T a, T b) { \
    return (npc_bool)(((a.re < b.re) & (a.im == a.im) & (b.im == b.im)) | ((a.re == b.re) & (a.im < b.im))); } \
  NPC_FN npc_bool npc_le(T a, T b) { \
    return (npc_bool)(((a.re < b.re) & (a.im == a.im) & (b.im == b.im)) | ((a.re == b.re) & (a.im <= b.im))); } \
  NPC_FN npc_bool npc_gt(T a, T b) { return npc_lt(b, a); } \
  NPC_FN npc_bool npc_ge(T a, T b) { return npc_le(b, a); }
NPC_EACH_COMPLEX(NPC_M)
#undef NPC_M
//@ truth:ints+floats+bool+complex < each_int
#define NPC_M(T, W) NPC_FN bool npc_truth(T a) { return a != 0; }
NPC_EACH_INT(NPC_M)
NPC_EACH_FLOAT(NPC_M)
NPC_M(npc_bool, npc_u8)
#undef NPC_M
#define NPC_M(T, W) NPC_FN bool npc_truth(T a) { return (a.re != 0) | (a.im != 0); }
NPC_EACH_COMPLEX(NPC_M)
#undef NPC_M
//@ truth:f16
NPC_FN bool npc_truth(npc_f16 a) { return (a.bits & 0x7fff) != 0; }
//@ logical_and, logical_or, logical_xor, logical_not < truth
template <class T> NPC_FN npc_bool npc_logical_and(T a, T b) { return (npc_bool)(npc_truth(a) & npc_truth(b)); }
template <class T> NPC_FN npc_bool npc_logical_or(T a, T b) { return (npc_bool)(npc_truth(a) | npc_truth(b)); }
template <class T> NPC_FN npc_bool npc_logical_xor(T a, T b) { return (npc_bool)(npc_truth(a) != npc_truth(b)); }
template <class T> NPC_FN npc_bool npc_logical_not(T a) { return (npc_bool)!npc_truth(a); }
//@ select
template <class T> NPC_FN T npc_select(npc_bool m, T a, T b) { return m ? a : b; }
NPC_FN npc_c64 npc_select(npc_bool m, npc_c64 a, npc_c64 b) { return npc_c64{m ? a.re : b.re, m ? a.im : b.im}; }
NPC_FN npc_c128 npc_select(npc_bool m, npc_c128 a, npc_c128 b) { return npc_c128{m ? a.re : b.re, m ? a.im : b.im}; }
NPC_FN npc_f16 npc_select(npc_bool m, npc_f16 a, npc_f16 b) { return npc_f16{m ? a.bits : b.bits}; }
//@ bit_and:ints+bool, bit_or:ints+bool, bit_xor:ints+bool, bit_not:ints+bool < each_int
#define NPC_M(T, W) \
  NPC_FN T npc_bit_and(T a, T b) { return (T)(a & b); } \
  NPC_FN T npc_bit_or(T a, T b) { return (T)(a | b); } \
  NPC_FN T npc_bit_xor(T a, T b) { return (T)(a ^ b); }
NPC_EACH_INT(NPC_M)
#undef NPC_M
NPC_FN npc_bool npc_bit_and(npc_bool a, npc_bool b) { return (npc_bool)((a != 0) & (b != 0)); } /* a view of bytes holds any */
NPC_FN npc_bool npc_bit_or(npc_bool a, npc_bool b) { return (npc_bool)((a | b) != 0); }
NPC_FN npc_bool npc_bit_xor(npc_bool a, npc_bool b) { return (npc_bool)((a != 0) != (b != 0)); }
#define NPC_M(T, W) NPC_FN T npc_bit_not(T a) { return (T)~a; }
NPC_EACH_INT(NPC_M)
#undef NPC_M
NPC_FN npc_bool npc_bit_not(npc_bool a) { return (npc_bool)(a == 0); }
//@ shl:ints, shr:ints < each_int
#define NPC_M(T, W) \
  NPC_FN T npc_shl(T a, T b) { W w = sizeof(T) * 8, s = (W)b; return (T)(s < w ? (W)a << (s & (w - 1)) : (W)0); }
NPC_EACH_INT(NPC_M)
#undef NPC_M
#define NPC_M(T, W) \
  NPC_FN T npc_shr(T a, T b) { W w = sizeof(T) * 8, s = (W)b; return (T)(a >> (s < w ? s : w - 1)); }
NPC_EACH_SIGNED(NPC_M)
#undef NPC_M
#define NPC_M(T, W) \
  NPC_FN T npc_shr(T a, T b) { W w = sizeof(T) * 8, s = (W)b; return (T)(s < w ? (W)a >> (s & (w - 1)) : (W)0); }
NPC_EACH_UNSIGNED(NPC_M)
#undef NPC_M
//@ isnan:ints+bool+floats+complex, isinf:ints+bool+floats+complex, isfinite:ints+bool+floats+complex < each_int
#define NPC_M(T, W) \
  NPC_FN npc_bool npc_isnan(T) { return (npc_bool)0; } \
  NPC_FN npc_bool npc_isinf(T) { return (npc_bool)0; } \
  NPC_FN npc_bool npc_isfinite(T) { return (npc_bool)1; }
NPC_EACH_INT(NPC_M)
NPC_M(npc_bool, npc_u8)
#undef NPC_M
NPC_FN npc_bool npc_isnan(float a) { return (npc_bool)((npc_bits(a) & 0x7fffffffu) > 0x7f800000u); }
NPC_FN npc_bool npc_isinf(float a) { return (npc_bool)((npc_bits(a) & 0x7fffffffu) == 0x7f800000u); }
NPC_FN npc_bool npc_isfinite(float a) { return (npc_bool)((npc_bits(a) & 0x7fffffffu) < 0x7f800000u); }
NPC_FN npc_bool npc_isnan(double a) { return (npc_bool)((npc_bits(a) & 0x7fffffffffffffffull) > 0x7ff0000000000000ull); }
NPC_FN npc_bool npc_isinf(double a) { return (npc_bool)((npc_bits(a) & 0x7fffffffffffffffull) == 0x7ff0000000000000ull); }
NPC_FN npc_bool npc_isfinite(double a) { return (npc_bool)((npc_bits(a) & 0x7fffffffffffffffull) < 0x7ff0000000000000ull); }
#define NPC_M(T, R) \
  NPC_FN npc_bool npc_isnan(T a) { return (npc_bool)(npc_isnan(a.re) | npc_isnan(a.im)); } \
  NPC_FN npc_bool npc_isinf(T a) { return (npc_bool)(npc_isinf(a.re) | npc_isinf(a.im)); } \
  NPC_FN npc_bool npc_isfinite(T a) { return (npc_bool)(npc_isfinite(a.re) & npc_isfinite(a.im)); }
NPC_EACH_COMPLEX(NPC_M)
#undef NPC_M
//@ isnan:f16, isinf:f16, isfinite:f16, signbit:f16
NPC_FN npc_bool npc_isnan(npc_f16 a) { return (npc_bool)((a.bits & 0x7fff) > 0x7c00); }
NPC_FN npc_bool npc_isinf(npc_f16 a) { return (npc_bool)((a.bits & 0x7fff) == 0x7c00); }
NPC_FN npc_bool npc_isfinite(npc_f16 a) { return (npc_bool)((a.bits & 0x7fff) < 0x7c00); }
NPC_FN npc_bool npc_signbit(npc_f16 a) { return (npc_bool)(a.bits >> 15); }
//@ signbit:floats
NPC_FN npc_bool npc_signbit(float a) { return (npc_bool)(npc_bits(a) >> 31); }
NPC_FN npc_bool npc_signbit(double a) { return (npc_bool)(npc_bits(a) >> 63); }
