/* Arithmetic that NumPy defines to the bit: + - * / neg abs sign square min max and the like, for all numeric types.
   Integers wrap. Complex products and quotients are in complex.h. */
//@ each_int
#define NPC_EACH_INT(M) M(npc_i8, npc_u32) M(npc_i16, npc_u32) M(npc_i32, npc_u32) M(npc_i64, npc_u64) \
  M(npc_u8, npc_u32) M(npc_u16, npc_u32) M(npc_u32, npc_u32) M(npc_u64, npc_u64)
#define NPC_EACH_SIGNED(M) M(npc_i8, npc_u32) M(npc_i16, npc_u32) M(npc_i32, npc_u32) M(npc_i64, npc_u64)
#define NPC_EACH_UNSIGNED(M) M(npc_u8, npc_u32) M(npc_u16, npc_u32) M(npc_u32, npc_u32) M(npc_u64, npc_u64)
#define NPC_EACH_FLOAT(M) M(float, float) M(double, double)
#define NPC_EACH_COMPLEX(M) M(npc_c64, float) M(npc_c128, double)
//@ add:ints+floats+complex+bool, sub:ints+floats+complex, mul:ints+floats+bool < each_int
#define NPC_M(T, W) \
  NPC_FN T npc_add(T a, T b) { return (T)((W)a + (W)b); } \
  NPC_FN T npc_sub(T a, T b) { return (T)((W)a - (W)b); } \
  NPC_FN T npc_mul(T a, T b) { return (T)((W)a * (W)b); }
NPC_EACH_INT(NPC_M)
NPC_EACH_FLOAT(NPC_M)
#undef NPC_M
#define NPC_M(T, R) \
  NPC_FN T npc_add(T a, T b) { return T{a.re + b.re, a.im + b.im}; } \
  NPC_FN T npc_sub(T a, T b) { return T{a.re - b.re, a.im - b.im}; }
NPC_EACH_COMPLEX(NPC_M)
#undef NPC_M
NPC_FN npc_bool npc_add(npc_bool a, npc_bool b) { return (npc_bool)(a | b); }
NPC_FN npc_bool npc_mul(npc_bool a, npc_bool b) { return (npc_bool)(a & b); }
//@ add:f16, sub:f16, mul:f16, div:f16 < half
NPC_FN npc_f16 npc_add(npc_f16 a, npc_f16 b) { return npc_half(npc_float(a) + npc_float(b)); }
NPC_FN npc_f16 npc_sub(npc_f16 a, npc_f16 b) { return npc_half(npc_float(a) - npc_float(b)); }
NPC_FN npc_f16 npc_mul(npc_f16 a, npc_f16 b) { return npc_half(npc_float(a) * npc_float(b)); }
NPC_FN npc_f16 npc_div(npc_f16 a, npc_f16 b) { return npc_half(npc_float(a) / npc_float(b)); }
//@ div:floats, reciprocal:floats
NPC_FN float npc_div(float a, float b) { return a / b; }
NPC_FN double npc_div(double a, double b) { return a / b; }
NPC_FN float npc_reciprocal(float a) { return 1.0f / a; }
NPC_FN double npc_reciprocal(double a) { return 1.0 / a; }
//@ reciprocal:f16 < half
NPC_FN npc_f16 npc_reciprocal(npc_f16 a) { return npc_half(1.0f / npc_float(a)); }
//@ reciprocal:ints < each_int
#define NPC_M(T, W) NPC_FN T npc_reciprocal(T a) { return (T)(a == 1 ? 1 : a == (T)-1 && (T)-1 < 0 ? -1 : 0); }
NPC_EACH_UNSIGNED(NPC_M)
NPC_M(npc_i8, npc_u32)
NPC_M(npc_i16, npc_u32)
#undef NPC_M
NPC_FN npc_i32 npc_reciprocal(npc_i32 a) { return a == 0 ? (-2147483647 - 1) : a == 1 ? 1 : a == -1 ? -1 : 0; }
NPC_FN npc_i64 npc_reciprocal(npc_i64 a) { return a == 0 ? (-9223372036854775807ll - 1) : a == 1 ? 1 : a == -1 ? -1 : 0; }
//@ neg:ints+floats+complex, positive:ints+floats+complex, square:ints+floats < each_int
#define NPC_M(T, W) \
  NPC_FN T npc_neg(T a) { return (T)(-(W)a); } \
  NPC_FN T npc_positive(T a) { return a; } \
  NPC_FN T npc_square(T a) { return (T)((W)a * (W)a); }
NPC_EACH_INT(NPC_M)
NPC_EACH_FLOAT(NPC_M)
#undef NPC_M
#define NPC_M(T, R) \
  NPC_FN T npc_neg(T a) { return T{-a.re, -a.im}; } \
  NPC_FN T npc_positive(T a) { return a; }
NPC_EACH_COMPLEX(NPC_M)
#undef NPC_M
//@ neg:f16, positive:f16, abs:f16
NPC_FN npc_f16 npc_neg(npc_f16 a) { return npc_f16{(npc_u16)(a.bits ^ 0x8000)}; }
NPC_FN npc_f16 npc_positive(npc_f16 a) { return a; }
NPC_FN npc_f16 npc_abs(npc_f16 a) { return npc_f16{(npc_u16)(a.bits & 0x7fff)}; }
//@ square:f16, sqrt:f16 < half
NPC_FN npc_f16 npc_square(npc_f16 a) { return npc_half(npc_float(a) * npc_float(a)); }
NPC_FN npc_f16 npc_sqrt(npc_f16 a) { return npc_half(__builtin_sqrtf(npc_float(a))); }
//@ sqrt:floats
NPC_FN float npc_sqrt(float a) { return __builtin_sqrtf(a); }
NPC_FN double npc_sqrt(double a) { return __builtin_sqrt(a); }
//@ abs:ints+floats+bool < each_int
#define NPC_M(T, W) NPC_FN T npc_abs(T a) { return (T)(a < 0 ? -(W)a : (W)a); }
NPC_EACH_SIGNED(NPC_M)
#undef NPC_M
#define NPC_M(T, W) NPC_FN T npc_abs(T a) { return a; }
NPC_EACH_UNSIGNED(NPC_M)
NPC_M(npc_bool, npc_u8)
#undef NPC_M
NPC_FN float npc_abs(float a) { return __builtin_fabsf(a); }
NPC_FN double npc_abs(double a) { return __builtin_fabs(a); }
//@ sign:ints+floats < each_int
#define NPC_M(T, W) NPC_FN T npc_sign(T a) { return (T)((a > 0) - (a < 0)); }
NPC_EACH_SIGNED(NPC_M)
#undef NPC_M
#define NPC_M(T, W) NPC_FN T npc_sign(T a) { return (T)(a != 0); }
NPC_EACH_UNSIGNED(NPC_M)
#undef NPC_M
#define NPC_M(T, W) NPC_FN T npc_sign(T a) { return a > 0 ? (T)1 : a < 0 ? (T)-1 : a == 0 ? (T)0 : a; }
NPC_EACH_FLOAT(NPC_M)
#undef NPC_M
//@ sign:f16 < half, is_nan_half
NPC_FN npc_f16 npc_sign(npc_f16 a) {
  npc_u16 r = (npc_u16)((a.bits & 0x8000) | 0x3c00);
  return npc_f16{npc_is_nan(a) ? a.bits : (a.bits & 0x7fff) ? r : (npc_u16)0};
}
//@ maximum:ints+bool, minimum:ints+bool, fmax:ints+bool, fmin:ints+bool < each_int
#define NPC_M(T, W) \
  NPC_FN T npc_maximum(T a, T b) { return a > b ? a : b; } \
  NPC_FN T npc_minimum(T a, T b) { return a < b ? a : b; } \
  NPC_FN T npc_fmax(T a, T b) { return a > b ? a : b; } \
  NPC_FN T npc_fmin(T a, T b) { return a < b ? a : b; }
NPC_EACH_INT(NPC_M)
NPC_M(npc_bool, npc_u8)
#undef NPC_M
//@ maximum:floats, minimum:floats, fmax:floats, fmin:floats < each_int
/* Two choices after each other: with the two tests in one condition, loops that keep a maximum do not vectorise. */
#define NPC_M(T, W) \
  NPC_FN T npc_maximum(T a, T b) { T m = a > b ? a : b; return a != a ? a : m; } \
  NPC_FN T npc_minimum(T a, T b) { T m = a < b ? a : b; return a != a ? a : m; } \
  NPC_FN T npc_fmax(T a, T b) { T m = a > b ? a : b; return b != b ? a : m; } \
  NPC_FN T npc_fmin(T a, T b) { T m = a < b ? a : b; return b != b ? a : m; }
NPC_EACH_FLOAT(NPC_M)
#undef NPC_M
//@ maximum:f16, minimum:f16, fmax:f16, fmin:f16 < half
NPC_FN npc_f16 npc_maximum(npc_f16 a, npc_f16 b) { float x = npc_float(a), y = npc_float(b); return x >= y || x != x ? a : b; }
NPC_FN npc_f16 npc_minimum(npc_f16 a, npc_f16 b) { float x = npc_float(a), y = npc_float(b); return x <= y || x != x ? a : b; }
NPC_FN npc_f16 npc_fmax(npc_f16 a, npc_f16 b) { float x = npc_float(a), y = npc_float(b); return x >= y || y != y ? a : b; }
NPC_FN npc_f16 npc_fmin(npc_f16 a, npc_f16 b) { float x = npc_float(a), y = npc_float(b); return x <= y || y != y ? a : b; }
//@ copysign:floats
NPC_FN float npc_copysign(float a, float b) { return __builtin_copysignf(a, b); }
NPC_FN double npc_copysign(double a, double b) { return __builtin_copysign(a, b); }
//@ copysign:f16
NPC_FN npc_f16 npc_copysign(npc_f16 a, npc_f16 b) { return npc_f16{(npc_u16)((a.bits & 0x7fff) | (b.bits & 0x8000))}; }
//@ deg2rad:floats, rad2deg:floats
NPC_FN float npc_deg2rad(float a) { return a * (3.14159265358979323846f / 180.0f); }
NPC_FN double npc_deg2rad(double a) { return a * (3.14159265358979323846 / 180.0); }
NPC_FN float npc_rad2deg(float a) { return a * (180.0f / 3.14159265358979323846f); }
NPC_FN double npc_rad2deg(double a) { return a * (180.0 / 3.14159265358979323846); }
//@ heaviside:floats < each_int
#define NPC_M(T, W) NPC_FN T npc_heaviside(T a, T b) { return a != a ? a : a == 0 ? b : a < 0 ? (T)0 : (T)1; }
NPC_EACH_FLOAT(NPC_M)
#undef NPC_M
