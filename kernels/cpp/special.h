/* erf, cbrt, hypot of float64 and float32. Branch-free. Polynomials: tools/. */
//@ erf:f64 < exp_q:f64
/* Below 3/4 an odd polynomial; above 1 - exp(-p(a)), where p = -log erfc needs less accuracy the larger a is.
   Long polynomials go by even and odd powers: a chain of dependent steps is what limits them. */
NPC_FN double npc_erf(double x) {
  double a = __builtin_fabs(x), t = a > 6.0 ? 6.0 : a, z = a * a, z2 = z * z, t2 = t * t;
  double s = 0x1.8a4a7b07334c0p-27, so = -0x1.5653e51af0289p-23;
  s = NPC_FMA(s, z2, 0x1.b90f77a1bd388p-20);
  so = NPC_FMA(so, z2, -0x1.f4c5ecd8afc67p-17);
  s = NPC_FMA(s, z2, 0x1.f9a2b0583cefbp-14);
  so = NPC_FMA(so, z2, -0x1.c02db127a4809p-11);
  s = NPC_FMA(s, z2, 0x1.565bcd038079dp-8);
  so = NPC_FMA(so, z2, -0x1.b82ce31257d6dp-6);
  s = NPC_FMA(s, z2, 0x1.ce2f21a0424ddp-4);
  so = NPC_FMA(so, z2, -0x1.812746b0379e0p-2);
  s = NPC_FMA(s, z2, 0x1.06eba8214db69p-3);
  s = NPC_FMA(so, z, s);
  double p = -0x1.046ca4f7a2fe8p-39, po = 0x1.616751c1b4663p-34;
  p = NPC_FMA(p, t2, -0x1.c1781187b4010p-30);
  po = NPC_FMA(po, t2, 0x1.63d4b508f0cffp-26);
  p = NPC_FMA(p, t2, -0x1.8870318e4809bp-23);
  po = NPC_FMA(po, t2, 0x1.3ef520d3bf99bp-20);
  p = NPC_FMA(p, t2, -0x1.88984f7ac74b2p-18);
  po = NPC_FMA(po, t2, 0x1.6ee1a1e3a1f6ap-16);
  p = NPC_FMA(p, t2, -0x1.f685d208fcf79p-15);
  po = NPC_FMA(po, t2, 0x1.b0fdacb5a9476p-14);
  p = NPC_FMA(p, t2, -0x1.b96a0b02672c1p-17);
  po = NPC_FMA(po, t2, -0x1.257683994d09ap-11);
  p = NPC_FMA(p, t2, 0x1.b8076907f3e1fp-10);
  po = NPC_FMA(po, t2, -0x1.a7ffeb145694cp-13);
  p = NPC_FMA(p, t2, -0x1.396c9fc267b8cp-6);
  po = NPC_FMA(po, t2, 0x1.a4f4b528a05c0p-4);
  p = NPC_FMA(p, t2, 0x1.45f30e1934082p-1);
  po = NPC_FMA(po, t2, 0x1.20dd73ff28abcp+0);
  p = NPC_FMA(p, t2, 0x1.ba25248fc67aap-28);
  p = NPC_FMA(po, t, p);
  npc_exp64 e = npc_exp_split(-p);
  double w = npc_f64_of((e.bits + 1023) << 52), big = 1.0 - NPC_FMA(w, NPC_FMA(e.r * e.r, npc_exp_q(e.r), e.r), w);
  return __builtin_copysign(a < 0.75 ? NPC_FMA(a, s, a) : big, x);
}
//@ erf:f32 < exp_q:f32
NPC_FN float npc_erf(float x) {
  float a = __builtin_fabsf(x), t = a > 4.0f ? 4.0f : a, z = a * a, t2 = t * t;
  float s = -0x1.627a12p-11f;
  s = NPC_FMAF(s, z, 0x1.4f47f6p-8f);
  s = NPC_FMAF(s, z, -0x1.b7abfap-6f);
  s = NPC_FMAF(s, z, 0x1.ce2af4p-4f);
  s = NPC_FMAF(s, z, -0x1.81273ap-2f);
  s = NPC_FMAF(s, z, 0x1.06eba8p-3f);
  float p = 0x1.7c9426p-19f, po = -0x1.17c67ap-16f;
  p = NPC_FMAF(p, t2, -0x1.cc7cd0p-13f);
  po = NPC_FMAF(po, t2, 0x1.c94cb6p-9f);
  p = NPC_FMAF(p, t2, -0x1.85e550p-6f);
  po = NPC_FMAF(po, t2, 0x1.b4f33ap-4f);
  p = NPC_FMAF(p, t2, 0x1.44e1bcp-1f);
  po = NPC_FMAF(po, t2, 0x1.2107a0p+0f);
  p = NPC_FMAF(p, t2, -0x1.6dce68p-14f);
  p = NPC_FMAF(po, t, p);
  npc_exp32 e = npc_exp_split(-p);
  float w = npc_f32_of((e.bits + 127) << 23), big = 1.0f - NPC_FMAF(w, NPC_FMAF(e.r * e.r, npc_exp_q(e.r), e.r), w);
  return __builtin_copysignf(a < 0.75f ? NPC_FMAF(a, s, a) : big, x);
}
//@ cbrt:f64 < fma, fused
/* x = 2^(3k) m, 1 <= m < 8; y = m^(-1/3) by a polynomial and two Newton steps without division, m y^2 corrected once. */
NPC_FN double npc_cbrt(double x) {
  double a = __builtin_fabs(x);
  bool tiny = a < 0x1p-1022;
  npc_u64 b = npc_bits(tiny ? a * 0x1p54 : a), m1 = (b & 0x000fffffffffffffull) | 0x3ff0000000000000ull;
  npc_u64 e = (b >> 52) + (tiny ? 3072 - 1023 - 54 : 3072 - 1023); /* multiple of 3 added */
  npc_u64 k = (e * 43691) >> 17, j = e - 3 * k; /* e / 3 for e < 2^15 */
  double u = npc_f64_of(m1), m = u * (j == 0 ? 1.0 : j == 1 ? 2.0 : 4.0);
  double y = -0x1.1bd082757ac02p-6;
  y = NPC_FMA(y, u, 0x1.444be4cf29a5ap-3);
  y = NPC_FMA(y, u, -0x1.358eacd8b4395p-1);
  y = NPC_FMA(y, u, 0x1.40eb895e27ac1p+0);
  y = NPC_FMA(y, u, -0x1.92b497cd9b6b6p+0);
  y = NPC_FMA(y, u, 0x1.c875d3ae962e4p+0);
  y *= j == 0 ? 1.0 : j == 1 ? 0x1.965fea53d6e3dp-1 : 0x1.428a2f98d728bp-1;
  y = NPC_FMA(y * 0x1.5555555555555p-2, NPC_FMA(-m * y, y * y, 1.0), y);
  y = NPC_FMA(y * 0x1.5555555555555p-2, NPC_FMA(-m * y, y * y, 1.0), y);
  double y2 = y * y, c = m * y2, c2 = c * c, d = npc_fused(c, c, -c2); /* c^3 - m exactly enough */
  double f = npc_fused(c2, c, -m) + d * c;
  c = NPC_FMA(f * -0x1.5555555555555p-2, y2, c);
  double r = c * npc_f64_of((k - 1024 + 1023) << 52);
  return a > 0 && a < __builtin_inf() ? __builtin_copysign(r, x) : x + x;
}
//@ cbrt:f32 < fma
/* In double, where one Newton step is enough. */
NPC_FN float npc_cbrt(float x) {
  double a = (double)__builtin_fabsf(x);
  npc_u64 b = npc_bits(a), e = (b >> 52) + (3072 - 1023), k = (e * 43691) >> 17, j = e - 3 * k;
  double u = npc_f64_of((b & 0x000fffffffffffffull) | 0x3ff0000000000000ull), m = u * (j == 0 ? 1.0 : j == 1 ? 2.0 : 4.0);
  double y = -0x1.1bd082757ac02p-6;
  y = NPC_FMA(y, u, 0x1.444be4cf29a5ap-3);
  y = NPC_FMA(y, u, -0x1.358eacd8b4395p-1);
  y = NPC_FMA(y, u, 0x1.40eb895e27ac1p+0);
  y = NPC_FMA(y, u, -0x1.92b497cd9b6b6p+0);
  y = NPC_FMA(y, u, 0x1.c875d3ae962e4p+0);
  y *= j == 0 ? 1.0 : j == 1 ? 0x1.965fea53d6e3dp-1 : 0x1.428a2f98d728bp-1;
  y = NPC_FMA(y * 0x1.5555555555555p-2, NPC_FMA(-m * y, y * y, 1.0), y);
  float r = (float)(m * y * y * npc_f64_of((k - 1024 + 1023) << 52));
  return a > 0 && a < __builtin_inf() ? __builtin_copysignf(r, x) : x + x;
}
//@ hypot:f64 < fma, product
/* sqrt of the sum of squares in two parts, scaled by a power of two; the root is corrected once. */
NPC_FN double npc_hypot(double x, double y) {
  double a = __builtin_fabs(x), b = __builtin_fabs(y), inf = __builtin_inf(), hi = a > b ? a : b, lo = a > b ? b : a;
  double s = hi > 0x1p500 ? 0x1p-600 : hi < 0x1p-450 ? 0x1p600 : 1.0, back = hi > 0x1p500 ? 0x1p600 : hi < 0x1p-450 ? 0x1p-600 : 1.0;
  double p = hi * s, q = lo * s, p2 = p * p, q2 = q * q, t = p2 + q2;
  double e = ((p2 - t) + q2) + npc_product_error(p, p, p2) + npc_product_error(q, q, q2), r = __builtin_sqrt(t);
  double c = (e - npc_product_error(r, r, t)) / (r + r);
  r = hi == 0 ? hi : (r + c) * back;
  return (a == inf) | (b == inf) ? inf : a != a || b != b ? a + b : r;
}
//@ hypot:f32
/* In double the squares are exact. */
NPC_FN float npc_hypot(float x, float y) {
  double a = (double)x, b = (double)y;
  float inf = __builtin_inff(), r = (float)__builtin_sqrt(a * a + b * b);
  return (__builtin_fabsf(x) == inf) | (__builtin_fabsf(y) == inf) ? inf : r;
}
