/* exp and its family, float64 and float32: x = n ln 2 + r with |r| <= ln 2 / 2 and a polynomial in r; scaling by powers of
   two in steps of which only the last can round. Branch-free; a NaN passes through every step. Polynomials: tools/. */
//@ fma
#if defined(__FMA__) || defined(__aarch64__)
#define NPC_FMA(a, b, c) __builtin_fma(a, b, c)
#define NPC_FMAF(a, b, c) __builtin_fmaf(a, b, c)
#else
#define NPC_FMA(a, b, c) ((a) * (b) + (c))
#define NPC_FMAF(a, b, c) ((a) * (b) + (c))
#endif
//@ product < fma
/* a b - p for p = a * b rounded: exact. */
#if defined(__FMA__) || defined(__aarch64__)
NPC_FN double npc_product_error(double a, double b, double p) { return __builtin_fma(a, b, -p); }
NPC_FN float npc_product_error(float a, float b, float p) { return __builtin_fmaf(a, b, -p); }
#else
NPC_FN double npc_product_error(double a, double b, double p) { /* Dekker; 0 where that overflows */
  double s = a * 0x1.0000002p27, t = b * 0x1.0000002p27, ah = s - (s - a), bh = t - (t - b), al = a - ah, bl = b - bh;
  double e = ((ah * bh - p) + ah * bl + al * bh) + al * bl;
  return e == e ? e : 0.0;
}
NPC_FN float npc_product_error(float a, float b, float p) { return (float)((double)a * (double)b - (double)p); }
#endif
//@ exp_q:f64 < fma
/* (e^r - 1 - r) / r^2, and the split x = n ln 2 + r; `bits` is 0x4338000000000000 + n. */
NPC_FN double npc_exp_q(double r) {
  double q = 0x1.af85838e72eaep-26;
  q = NPC_FMA(q, r, 0x1.28b0744a86484p-22);
  q = NPC_FMA(q, r, 0x1.71dddfd38d9dbp-19);
  q = NPC_FMA(q, r, 0x1.a0199666097b0p-16);
  q = NPC_FMA(q, r, 0x1.a01a01badc340p-13);
  q = NPC_FMA(q, r, 0x1.6c16c185b7ce9p-10);
  q = NPC_FMA(q, r, 0x1.111111110d654p-7);
  q = NPC_FMA(q, r, 0x1.555555554ffe6p-5);
  q = NPC_FMA(q, r, 0x1.5555555555561p-3);
  return NPC_FMA(q, r, 0x1.000000000000cp-1);
}
struct npc_exp64 { double r; npc_u64 bits; };
NPC_FN npc_exp64 npc_exp_split(double x) {
  double k = NPC_FMA(x, 0x1.71547652b82fep0, 0x1.8p52), n = k - 0x1.8p52;
  return npc_exp64{NPC_FMA(n, -0x1.ef35793c76730p-45, NPC_FMA(n, -0x1.62e42fefa3800p-1, x)), npc_bits(k)};
}
//@ exp_q:f32 < fma
/* The same; `bits` is 0x4b400000 + n. */
NPC_FN float npc_exp_q(float r) {
  float q = 0x1.a1a192p-13f;
  q = NPC_FMAF(q, r, 0x1.6d74d0p-10f);
  q = NPC_FMAF(q, r, 0x1.111090p-7f);
  q = NPC_FMAF(q, r, 0x1.5554aep-5f);
  q = NPC_FMAF(q, r, 0x1.555556p-3f);
  return NPC_FMAF(q, r, 0x1.0p-1f);
}
struct npc_exp32 { float r; npc_u32 bits; };
NPC_FN npc_exp32 npc_exp_split(float x) {
  float k = NPC_FMAF(x, 0x1.715476p0f, 0x1.8p23f), n = k - 0x1.8p23f;
  return npc_exp32{NPC_FMAF(n, -0x1.7f7d1cp-20f, NPC_FMAF(n, -0x1.62e4p-1f, x)), npc_bits(k)};
}
//@ exp:f64 < exp_q:f64
NPC_FN double npc_exp(double x) {
  double t = x > 710.0 ? 710.0 : x;
  t = t < -746.0 ? -746.0 : t;
  npc_exp64 a = npc_exp_split(t);
  npc_u64 u = a.bits - (0x4338000000000000ull - 2046), h = u >> 1;
  double p = 1.0 + NPC_FMA(a.r * a.r, npc_exp_q(a.r), a.r);
  return p * npc_f64_of(h << 52) * npc_f64_of((u - h) << 52);
}
//@ exp:f32 < fma
NPC_FN float npc_exp(float x) {
  float t = x > 89.0f ? 89.0f : x;
  t = t < -104.0f ? -104.0f : t;
  float k = NPC_FMAF(t, 0x1.715476p0f, 0x1.8p23f);
  npc_u32 u = npc_bits(k) - (0x4b400000u - 254), h = u >> 1;
  k -= 0x1.8p23f;
  float r = NPC_FMAF(k, -0x1.62e4p-1f, t);
  r = NPC_FMAF(k, -0x1.7f7d1cp-20f, r);
  float q = 0x1.6db464p-10f;
  q = NPC_FMAF(q, r, 0x1.123b92p-7f);
  q = NPC_FMAF(q, r, 0x1.55545ep-5f);
  q = NPC_FMAF(q, r, 0x1.55548ep-3f);
  q = NPC_FMAF(q, r, 0x1.0p-1f);
  float p = 1.0f + NPC_FMAF(r * r, q, r);
  return p * npc_f32_of(h << 23) * npc_f32_of((u - h) << 23);
}
//@ exp2:f64 < fma
NPC_FN double npc_exp2(double x) {
  double t = x > 1025.0 ? 1025.0 : x;
  t = t < -1080.0 ? -1080.0 : t;
  double k = t + 0x1.8p52;
  npc_u64 u = npc_bits(k) - (0x4338000000000000ull - 2046), h = u >> 1;
  double r = t - (k - 0x1.8p52);
  double q = 0x1.ea188632474e9p-32;
  q = NPC_FMA(q, r, 0x1.e61d5563a1d08p-28);
  q = NPC_FMA(q, r, 0x1.b524cdc9d1b43p-24);
  q = NPC_FMA(q, r, 0x1.62bfc66db8d61p-20);
  q = NPC_FMA(q, r, 0x1.ffcbfc7c511a5p-17);
  q = NPC_FMA(q, r, 0x1.4309130f53074p-13);
  q = NPC_FMA(q, r, 0x1.5d87fe78a0e26p-10);
  q = NPC_FMA(q, r, 0x1.3b2ab6fb9feb1p-7);
  q = NPC_FMA(q, r, 0x1.c6b08d704a0d7p-5);
  q = NPC_FMA(q, r, 0x1.ebfbdff82c5a5p-3);
  q = NPC_FMA(q, r, 0x1.62e42fefa39efp-1);
  return NPC_FMA(q, r, 1.0) * npc_f64_of(h << 52) * npc_f64_of((u - h) << 52);
}
//@ exp2:f32 < fma
NPC_FN float npc_exp2(float x) {
  float t = x > 129.0f ? 129.0f : x;
  t = t < -152.0f ? -152.0f : t;
  float k = t + 0x1.8p23f;
  npc_u32 u = npc_bits(k) - (0x4b400000u - 254), h = u >> 1;
  float r = t - (k - 0x1.8p23f);
  float q = 0x1.44906ep-13f;
  q = NPC_FMAF(q, r, 0x1.5f4898p-10f);
  q = NPC_FMAF(q, r, 0x1.3b29aap-7f);
  q = NPC_FMAF(q, r, 0x1.c6aecep-5f);
  q = NPC_FMAF(q, r, 0x1.ebfbe0p-3f);
  q = NPC_FMAF(q, r, 0x1.62e430p-1f);
  return NPC_FMAF(q, r, 1.0f) * npc_f32_of(h << 23) * npc_f32_of((u - h) << 23);
}
//@ expm1_scaled:f64 < exp_q:f64
/* (e^x - 1) / 2^shift while n - shift fits the exponent field. */
NPC_FN double npc_expm1_scaled(double x, int shift) {
  npc_exp64 a = npc_exp_split(x);
  double s = npc_f64_of((a.bits + 1023 - (npc_u64)shift) << 52), c = s - (shift == 0 ? 1.0 : shift == 1 ? 0.5 : 0.25);
  return NPC_FMA(s, a.r * a.r * npc_exp_q(a.r), NPC_FMA(s, a.r, c));
}
//@ expm1_scaled:f32 < exp_q:f32
NPC_FN float npc_expm1_scaled(float x, int shift) {
  npc_exp32 a = npc_exp_split(x);
  float s = npc_f32_of((a.bits + 127 - (npc_u32)shift) << 23), c = s - (shift == 0 ? 1.0f : shift == 1 ? 0.5f : 0.25f);
  return NPC_FMAF(s, a.r * a.r * npc_exp_q(a.r), NPC_FMAF(s, a.r, c));
}
//@ expm1:f64 < expm1_scaled:f64
NPC_FN double npc_expm1(double x) {
  double t = x > 709.9 ? 709.9 : x;
  t = t < -40.0 ? -40.0 : t;
  double r = 2.0 * npc_expm1_scaled(t, 1);
  return __builtin_fabs(x) < 0x1p-54 ? x : r;
}
//@ expm1:f32 < expm1_scaled:f32
NPC_FN float npc_expm1(float x) {
  float t = x > 88.9f ? 88.9f : x;
  t = t < -20.0f ? -20.0f : t;
  float r = 2.0f * npc_expm1_scaled(t, 1);
  return __builtin_fabsf(x) < 0x1p-25f ? x : r;
}
//@ sinh:f64, cosh:f64 < expm1_scaled:f64
/* With h = (e^|x| - 1) / 4, so that only the final doubling overflows. */
NPC_FN double npc_sinh(double x) {
  double a = __builtin_fabs(x), t = a > 710.6 ? 710.6 : a, h = npc_expm1_scaled(t, 2);
  double r = 2.0 * (h + h / NPC_FMA(4.0, h, 1.0));
  return a < 0x1p-28 ? x : __builtin_copysign(r, x);
}
NPC_FN double npc_cosh(double x) {
  double a = __builtin_fabs(x), t = a > 710.6 ? 710.6 : a, h = npc_expm1_scaled(t, 2) + 0.25;
  return 2.0 * (h + 0.0625 / h);
}
//@ sinh:f32, cosh:f32 < expm1_scaled:f32
NPC_FN float npc_sinh(float x) {
  float a = __builtin_fabsf(x), t = a > 89.6f ? 89.6f : a, h = npc_expm1_scaled(t, 2);
  float r = 2.0f * (h + h / NPC_FMAF(4.0f, h, 1.0f));
  return a < 0x1p-13f ? x : __builtin_copysignf(r, x);
}
NPC_FN float npc_cosh(float x) {
  float a = __builtin_fabsf(x), t = a > 89.6f ? 89.6f : a, h = npc_expm1_scaled(t, 2) + 0.25f;
  return 2.0f * (h + 0.0625f / h);
}
//@ tanh:f64 < expm1_scaled:f64
NPC_FN double npc_tanh(double x) {
  double a = __builtin_fabs(x), t = a > 22.0 ? 22.0 : a, e = npc_expm1_scaled(2.0 * t, 0), r = e / (e + 2.0);
  return a < 0x1p-28 ? x : __builtin_copysign(r, x);
}
//@ tanh:f32 < expm1_scaled:f32
NPC_FN float npc_tanh(float x) {
  float a = __builtin_fabsf(x), t = a > 10.0f ? 10.0f : a, e = npc_expm1_scaled(2.0f * t, 0), r = e / (e + 2.0f);
  return a < 0x1p-13f ? x : __builtin_copysignf(r, x);
}
