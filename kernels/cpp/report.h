/* Which floating-point conditions NumPy reports for given operands and result: bit 0 divide, 1 overflow, 2 underflow
   3 invalid. Predicates look at values only and never at hardware flags. `invalid` includes signalling NaN operands for
   the functions that IEEE 754 defines; underflow of transcendentals follows the result, not NumPy's implementation. */
//@ rep_base
NPC_FN bool npc_fin(float a) { return (npc_bits(a) & 0x7f800000u) != 0x7f800000u; }
NPC_FN bool npc_fin(double a) { return (npc_bits(a) & (0x7ffull << 52)) != 0x7ffull << 52; }
NPC_FN bool npc_nan(float a) { return (npc_bits(a) & 0x7fffffffu) > 0x7f800000u; }
NPC_FN bool npc_nan(double a) { return (npc_bits(a) & ~(1ull << 63)) > 0x7ffull << 52; }
NPC_FN bool npc_snan(float a) { return npc_nan(a) & !(npc_bits(a) & 0x00400000u); }
NPC_FN bool npc_snan(double a) { return npc_nan(a) & !(npc_bits(a) & (1ull << 51)); }
NPC_FN bool npc_sub(float a) { npc_u32 e = npc_bits(a) & 0x7fffffffu; return (e < 0x00800000u) & (e != 0); }
NPC_FN bool npc_sub(double a) { npc_u64 e = npc_bits(a) & ~(1ull << 63); return (e < 1ull << 52) & (e != 0); }
NPC_FN bool npc_small(float a) { return (npc_bits(a) & 0x7fffffffu) < 0x00800000u; }
NPC_FN bool npc_small(double a) { return (npc_bits(a) & ~(1ull << 63)) < 1ull << 52; }
NPC_FN unsigned npc_mask(bool divide, bool over, bool under, bool invalid) {
  return (unsigned)divide | (unsigned)over << 1 | (unsigned)under << 2 | (unsigned)invalid << 3;
}
//@ rep_add:floats, rep_sub:floats < rep_base, each_int
#define NPC_M(T, W) \
  NPC_FN unsigned npc_rep_add(T a, T b, T r) { \
    return npc_mask(0, npc_fin(a) & npc_fin(b) & !npc_fin(r), 0, \
                    (npc_nan(r) & !npc_nan(a) & !npc_nan(b)) | npc_snan(a) | npc_snan(b)); \
  } \
  NPC_FN unsigned npc_rep_sub(T a, T b, T r) { return npc_rep_add(a, b, r); }
NPC_EACH_FLOAT(NPC_M)
#undef NPC_M
//@ rep_mul:floats, rep_div:floats, rep_square:floats, rep_reciprocal:floats, rep_deg2rad:floats, rep_rad2deg:floats < rep_base, each_int
/* Tiny is meant after rounding with unbounded exponent, as on x86: found by scaling, with exact products. */
NPC_FN bool npc_tiny_mul(float a, float b, float r) {
  double p = (double)a * (double)b;
  return (__builtin_fabsf((float)(p * 0x1p80)) < 0x1p-46f) & (p != (double)r);
}
NPC_FN bool npc_tiny_mul(double a, double b, double r) {
  double x = __builtin_fabs(a), y = __builtin_fabs(b), s = (x < y ? x : y) * 0x1p540, g = x < y ? y : x;
  double p = s * g, q = __builtin_fabs(r) * 0x1p540;
  return (p < 0x1p-482) & ((x != 0) & (y != 0)) & (r == 0 || p != q || __builtin_fma(s, g, -q) != 0);
}
NPC_FN bool npc_tiny_div(float a, float b, float r) {
  return (__builtin_fabsf((float)((double)a / (double)b * 0x1p80)) < 0x1p-46f) & ((double)r * (double)b != (double)a);
}
NPC_FN bool npc_tiny_div(double a, double b, double r) {
  double s = a * 0x1p540, q = r * 0x1p540;
  return (__builtin_fabs(s / b) < 0x1p-482) & (__builtin_fma(q, b, -s) != 0);
}
#define NPC_M(T, W) \
  NPC_FN unsigned npc_rep_mul(T a, T b, T r) { \
    bool f = npc_fin(a) & npc_fin(b); \
    return npc_mask(0, f & !npc_fin(r), f && npc_tiny_mul(a, b, r), \
                    (npc_nan(r) & !npc_nan(a) & !npc_nan(b)) | npc_snan(a) | npc_snan(b)); \
  } \
  NPC_FN unsigned npc_rep_div(T a, T b, T r) { \
    bool f = npc_fin(a) & npc_fin(b); \
    return npc_mask(npc_fin(a) & (a != 0) & (b == 0), f & (b != 0) & !npc_fin(r), f && b != 0 && npc_tiny_div(a, b, r), \
                    (npc_nan(r) & !npc_nan(a) & !npc_nan(b)) | npc_snan(a) | npc_snan(b)); \
  } \
  NPC_FN unsigned npc_rep_square(T a, T r) { return npc_rep_mul(a, a, r); } \
  NPC_FN unsigned npc_rep_reciprocal(T a, T r) { return npc_rep_div((T)1, a, r); } \
  NPC_FN unsigned npc_rep_deg2rad(T a, T r) { return npc_rep_mul(a, (T)3.14159265358979323846 / (T)180, r); } \
  NPC_FN unsigned npc_rep_rad2deg(T a, T r) { return npc_rep_mul(a, (T)180 / (T)3.14159265358979323846, r); }
NPC_EACH_FLOAT(NPC_M)
#undef NPC_M
//@ rep_sqrt:floats, rep_rint:floats, rep_floor:floats, rep_ceil:floats, rep_trunc:floats, rep_abs:floats, rep_sign:floats, rep_cbrt:floats, rep_spacing:floats < rep_base, each_int
#define NPC_M(T, W) \
  NPC_FN unsigned npc_rep_sqrt(T a, T) { return npc_mask(0, 0, 0, (a < 0) | npc_snan(a)); } \
  NPC_FN unsigned npc_rep_rint(T a, T) { return npc_mask(0, 0, 0, npc_snan(a)); } \
  NPC_FN unsigned npc_rep_floor(T a, T) { return npc_mask(0, 0, 0, npc_snan(a)); } \
  NPC_FN unsigned npc_rep_ceil(T a, T) { return npc_mask(0, 0, 0, npc_snan(a)); } \
  NPC_FN unsigned npc_rep_trunc(T a, T) { return npc_mask(0, 0, 0, npc_snan(a)); } \
  NPC_FN unsigned npc_rep_abs(T, T) { return 0; } \
  NPC_FN unsigned npc_rep_sign(T, T) { return 0; } \
  NPC_FN unsigned npc_rep_cbrt(T, T) { return 0; } \
  NPC_FN unsigned npc_rep_spacing(T a, T r) { return npc_mask(0, npc_fin(a) & !npc_fin(r), npc_sub(a), npc_snan(a)); }
NPC_EACH_FLOAT(NPC_M)
#undef NPC_M
//@ rep_exp:floats, rep_exp2:floats, rep_expm1:floats, rep_sinh:floats, rep_cosh:floats < rep_base, each_int
#define NPC_M(T, W) \
  NPC_FN unsigned npc_rep_exp(T a, T r) { return npc_mask(0, npc_fin(a) & !npc_fin(r), npc_fin(a) & npc_small(r), 0); } \
  NPC_FN unsigned npc_rep_exp2(T a, T r) { \
    bool exact = (r != 0) & (npc_fin(a) && a == (T)(npc_i64)(npc_small(r) ? a : (T)0)); \
    return npc_mask(0, npc_fin(a) & !npc_fin(r), npc_fin(a) & npc_small(r) & !exact, 0); \
  } \
  NPC_FN unsigned npc_rep_expm1(T a, T r) { return npc_mask(0, npc_fin(a) & !npc_fin(r), 0, 0); } \
  NPC_FN unsigned npc_rep_sinh(T a, T r) { return npc_rep_expm1(a, r); } \
  NPC_FN unsigned npc_rep_cosh(T a, T r) { return npc_rep_expm1(a, r); }
NPC_EACH_FLOAT(NPC_M)
#undef NPC_M
//@ rep_log:floats, rep_log2:floats, rep_log10:floats, rep_log1p:floats, rep_acosh:floats, rep_atanh:floats < rep_base, each_int
#define NPC_M(T, W) \
  NPC_FN unsigned npc_rep_log(T a, T) { return npc_mask(a == 0, 0, 0, a < 0); } \
  NPC_FN unsigned npc_rep_log2(T a, T) { return npc_mask(a == 0, 0, 0, a < 0); } \
  NPC_FN unsigned npc_rep_log10(T a, T) { return npc_mask(a == 0, 0, 0, a < 0); } \
  NPC_FN unsigned npc_rep_log1p(T a, T) { return npc_mask(a == -1, 0, 0, a < -1); } \
  NPC_FN unsigned npc_rep_acosh(T a, T) { return npc_mask(0, 0, 0, a < 1); } \
  NPC_FN unsigned npc_rep_atanh(T a, T) { return npc_mask((a == 1) | (a == -1), 0, 0, (a > 1) | (a < -1)); }
NPC_EACH_FLOAT(NPC_M)
#undef NPC_M
//@ rep_sin:floats, rep_cos:floats, rep_tan:floats, rep_asin:floats, rep_acos:floats, rep_atan:floats, rep_tanh:floats, rep_asinh:floats, rep_erf:floats, rep_lgamma:floats < rep_base, each_int
#define NPC_M(T, W) \
  NPC_FN unsigned npc_rep_sin(T a, T) { return npc_mask(0, 0, npc_sub(a), !npc_fin(a) & !npc_nan(a)); } \
  NPC_FN unsigned npc_rep_cos(T a, T) { return npc_mask(0, 0, 0, !npc_fin(a) & !npc_nan(a)); } \
  NPC_FN unsigned npc_rep_tan(T a, T) { return npc_mask(0, 0, 0, !npc_fin(a) & !npc_nan(a)); } \
  NPC_FN unsigned npc_rep_asin(T a, T) { return npc_mask(0, 0, 0, (a > 1) | (a < -1)); } \
  NPC_FN unsigned npc_rep_acos(T a, T) { return npc_mask(0, 0, 0, (a > 1) | (a < -1)); } \
  NPC_FN unsigned npc_rep_atan(T, T) { return 0; } \
  NPC_FN unsigned npc_rep_tanh(T, T) { return 0; } \
  NPC_FN unsigned npc_rep_asinh(T, T) { return 0; } \
  NPC_FN unsigned npc_rep_erf(T, T) { return 0; } /* SciPy's: silent */ \
  NPC_FN unsigned npc_rep_lgamma(T, T) { return 0; }
NPC_EACH_FLOAT(NPC_M)
#undef NPC_M
//@ rep_pow:floats, rep_fmod:floats, rep_mod:floats, rep_floordiv:floats < rep_base, each_int
#define NPC_M(T, W) \
  NPC_FN unsigned npc_rep_pow(T a, T b, T r) { \
    bool f = npc_fin(a) & npc_fin(b), o = (b > 0) & !npc_fin(b) & npc_fin(a) & !npc_fin(a * a); /* squared on the way */ \
    return npc_mask((a == 0) & (b < 0), (f & (a != 0) & !npc_fin(r) & !npc_nan(r)) | o, f & npc_small(r) & (a != 0), \
                    npc_nan(r) & !npc_nan(a) & !npc_nan(b)); \
  } \
  NPC_FN unsigned npc_rep_fmod(T a, T b, T r) { \
    return npc_mask(0, 0, 0, (npc_nan(r) & !npc_nan(a) & !npc_nan(b)) | npc_snan(a) | npc_snan(b)); \
  } \
  NPC_FN unsigned npc_rep_mod(T a, T b, T r) { return npc_rep_fmod(a, b, r); } \
  NPC_FN unsigned npc_rep_floordiv(T a, T b, T r) { \
    bool over = npc_fin(a) & npc_fin(b) & (b != 0) & !npc_fin(r); /* then inf - inf follows */ \
    return npc_mask(npc_fin(a) & (a != 0) & (b == 0), over, 0, npc_rep_fmod(a, b, r) | over); \
  }
NPC_EACH_FLOAT(NPC_M)
#undef NPC_M
//@ rep_atan2:floats, rep_hypot:floats, rep_logaddexp:floats, rep_logaddexp2:floats, rep_nextafter:floats, rep_ldexp:floats, rep_heaviside:floats, rep_copysign:floats < rep_base, each_int
#define NPC_M(T, W) \
  NPC_FN unsigned npc_rep_atan2(T a, T b, T r) { return npc_mask(0, 0, npc_fin(a) & npc_fin(b) & (a != 0) & npc_small(r), 0); } \
  NPC_FN unsigned npc_rep_hypot(T a, T b, T r) { return npc_mask(0, npc_fin(a) & npc_fin(b) & !npc_fin(r), 0, 0); } \
  NPC_FN unsigned npc_rep_logaddexp(T a, T b, T r) { \
    return npc_mask(0, npc_fin(a) & npc_fin(b) & !(npc_fin(r) & npc_fin(a - b)), 0, npc_nan(r)); /* NumPy compares a - b */ \
  } \
  NPC_FN unsigned npc_rep_logaddexp2(T a, T b, T r) { return npc_rep_logaddexp(a, b, r); } \
  NPC_FN unsigned npc_rep_nextafter(T a, T b, T r) { \
    return npc_mask(0, npc_fin(a) & !npc_fin(r) & !npc_nan(r), (a != b) & npc_small(r), npc_snan(a) | npc_snan(b)); \
  } \
  template <class E> NPC_FN unsigned npc_rep_ldexp(T a, E, T r) { \
    return npc_mask(0, npc_fin(a) & !npc_fin(r), npc_fin(a) & (a != 0) & (r == 0), npc_snan(a)); \
  } \
  NPC_FN unsigned npc_rep_heaviside(T a, T, T) { return npc_mask(0, 0, 0, npc_snan(a)); } \
  NPC_FN unsigned npc_rep_copysign(T, T, T) { return 0; }
NPC_EACH_FLOAT(NPC_M)
#undef NPC_M
//@ rep_floordiv:ints, rep_mod:ints, rep_fmod:ints, rep_reciprocal:ints, rep_sign:ints, rep_abs:ints, rep_pow:ints, rep_square:ints < each_int
#define NPC_M(T, W) \
  NPC_FN unsigned npc_rep_mod(T, T b, T) { return b == 0; } \
  NPC_FN unsigned npc_rep_fmod(T, T b, T) { return b == 0; } \
  NPC_FN unsigned npc_rep_reciprocal(T a, T) { return a == 0 ? 9u : 0u; } \
  NPC_FN unsigned npc_rep_sign(T, T) { return 0; } \
  NPC_FN unsigned npc_rep_abs(T, T) { return 0; } \
  NPC_FN unsigned npc_rep_square(T, T) { return 0; } \
  NPC_FN unsigned npc_rep_pow(T, T, T) { return 0; }
NPC_EACH_INT(NPC_M)
#undef NPC_M
#define NPC_M(T, W) \
  NPC_FN unsigned npc_rep_floordiv(T a, T b, T) { return b == 0 ? 1u : b == -1 && a == (T)((W)1 << (sizeof(T) * 8 - 1)) ? 2u : 0u; }
NPC_EACH_SIGNED(NPC_M)
#undef NPC_M
#define NPC_M(T, W) NPC_FN unsigned npc_rep_floordiv(T, T b, T) { return b == 0; }
NPC_EACH_UNSIGNED(NPC_M)
#undef NPC_M
