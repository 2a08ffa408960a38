/* pow of float64 and float32, and logaddexp. log2 |x| is an unevaluated sum of two doubles (float32: one double), so that
   the product with y is right where the result is large. Special cases by selects. Polynomials, by even and odd powers to
   shorten the chain of dependent steps: tools/. */
//@ pow_special < round_base
/* C99's rules on top of r = |x|^y, which is NaN where x or y is: sign for odd y, NaN for negative x and y not an integer, 1. */
NPC_FN double npc_pow_special(double x, double y, double r) {
  double t = __builtin_fabs(y), h = 0.5 * t;
  bool whole = npc_rint_(t) == t, even = npc_rint_(h) == h, minus = npc_bits(x) >> 63;
  r = minus & whole & !even ? -r : r;
  r = (x < 0) & !whole & (x > -__builtin_inf()) ? __builtin_nan("") : r;
  return (y == 0) | (x == 1) | ((x == -1) & (t == __builtin_inf())) ? 1 : r;
}
NPC_FN float npc_pow_special(float x, float y, float r) {
  float t = __builtin_fabsf(y), h = 0.5f * t;
  bool whole = npc_rint_(t) == t, even = npc_rint_(h) == h, minus = npc_bits(x) >> 31;
  r = minus & whole & !even ? -r : r;
  r = (x < 0) & !whole & (x > -__builtin_inff()) ? __builtin_nanf("") : r;
  return (y == 0) | (x == 1) | ((x == -1) & (t == __builtin_inff())) ? 1 : r;
}
//@ pow:f64 < log_split:f64, product, fma, pow_special
NPC_FN double npc_pow(double x, double y) {
  double a = __builtin_fabs(x), inf = __builtin_inf();
  npc_split64 g = npc_log_split(a);
  /* log m = 2 atanh s, s = f / (2 + f); s and its cube in two parts */
  double f = g.m - 1.0, d = g.m + 1.0, dl = g.m - (d - 1.0), v = 1.0 / d, s = f * v;
  double sl = (-npc_product_error(s, d, f) - s * dl) * v;
  double z = s * s, zl = npc_product_error(s, s, z) + 2.0 * s * sl;
  double z2 = z * z;
  double q = 0x1.0e4a43a735453p-3, qo = 0x1.0f7f1e6f393e3p-3;
  q = NPC_FMA(q, z2, 0x1.3b1ef47bec660p-3);
  qo = NPC_FMA(qo, z2, 0x1.745ce9b6208ebp-3);
  q = NPC_FMA(q, z2, 0x1.c71c722de57b9p-3);
  qo = NPC_FMA(qo, z2, 0x1.24924924577e9p-2);
  q = NPC_FMA(q, z2, 0x1.9999999999b33p-2);
  q = NPC_FMA(qo, z, q);
  /* w = 2/3 + z q, then s (2 + z w) */
  double u = q * z, w = 0x1.5555555555555p-1 + u, wl = (0x1.5555555555555p-1 - w) + u + 0x1.5555555555555p-55;
  double t = z * w, tl = npc_product_error(z, w, t) + NPC_FMA(z, wl, zl * w);
  double b = 2.0 + t, bl = (2.0 - b) + t + tl;
  double l = s * b, ll = npc_product_error(s, b, l) + NPC_FMA(s, bl, sl * b);
  /* times 1 / ln 2, plus e */
  double c = l * 0x1.71547652b82fep0;
  double cl = npc_product_error(l, 0x1.71547652b82fep0, c) + NPC_FMA(ll, 0x1.71547652b82fep0, l * 0x1.777d0ffda0d24p-56);
  double h = g.e + c, hl = (g.e - h) + c + cl;
  h = a == 0 ? -inf : a < inf ? h : a;
  /* 2^(y (h + hl)) */
  double p = y * h, pl = npc_product_error(y, h, p) + y * hl;
  pl = __builtin_fabs(p) < 1100.0 ? pl : 0.0;
  p = p > 1100.0 ? 1100.0 : p;
  p = p < -1100.0 ? -1100.0 : p;
  double k = p + 0x1.8p52;
  npc_u64 i = npc_bits(k) - (0x4338000000000000ull - 2046), j = i >> 1;
  double r = (p - (k - 0x1.8p52)) + pl;
  double r2 = r * r;
  double e = 0x1.ea188632474e9p-32, eo = 0x1.e61d5563a1d08p-28;
  e = NPC_FMA(e, r2, 0x1.b524cdc9d1b43p-24);
  eo = NPC_FMA(eo, r2, 0x1.62bfc66db8d61p-20);
  e = NPC_FMA(e, r2, 0x1.ffcbfc7c511a5p-17);
  eo = NPC_FMA(eo, r2, 0x1.4309130f53074p-13);
  e = NPC_FMA(e, r2, 0x1.5d87fe78a0e26p-10);
  eo = NPC_FMA(eo, r2, 0x1.3b2ab6fb9feb1p-7);
  e = NPC_FMA(e, r2, 0x1.c6b08d704a0d7p-5);
  eo = NPC_FMA(eo, r2, 0x1.ebfbdff82c5a5p-3);
  e = NPC_FMA(e, r2, 0x1.62e42fefa39efp-1);
  e = NPC_FMA(eo, r, e);
  return npc_pow_special(x, y, NPC_FMA(e, r, 1.0) * npc_f64_of(j << 52) * npc_f64_of((i - j) << 52));
}
//@ pow:f32 < fma, pow_special
NPC_FN float npc_pow(float x, float y) {
  double a = (double)__builtin_fabsf(x), inf = __builtin_inf();
  npc_u64 b = npc_bits(a) + (0x3ff0000000000000ull - 0x3fe6a09e667f3bcdull);
  double n = npc_f64_of((b >> 52) | 0x4330000000000000ull) - (0x1p52 + 1023);
  double f = npc_f64_of((b & 0x000fffffffffffffull) + 0x3fe6a09e667f3bcdull) - 1.0;
  double f2 = f * f;
  double q = 0x1.12b042b417cc2p-3, qo = -0x1.25bd5cde9eea6p-4;
  q = NPC_FMA(q, f2, 0x1.09f3e776378bep-3);
  qo = NPC_FMA(qo, f2, -0x1.1351b4532a46dp-3);
  q = NPC_FMA(q, f2, 0x1.483513f4cfd70p-3);
  qo = NPC_FMA(qo, f2, -0x1.23c85772d4a14p-3);
  q = NPC_FMA(q, f2, 0x1.a61a7fd981496p-3);
  qo = NPC_FMA(qo, f2, -0x1.718b2fb6c0961p-3);
  q = NPC_FMA(q, f2, 0x1.2776b98e7abdcp-2);
  qo = NPC_FMA(qo, f2, -0x1.ec6f114b80245p-3);
  q = NPC_FMA(q, f2, 0x1.ec709ddd5f2cdp-2);
  qo = NPC_FMA(qo, f2, -0x1.715478c7b5b5fp-2);
  q = NPC_FMA(q, f2, 0x1.71547652b6183p+0);
  qo = NPC_FMA(qo, f2, -0x1.71547651922b1p-1);
  q = NPC_FMA(qo, f, q);
  double h = NPC_FMA(q, f, n);
  h = a == 0 ? -inf : a < inf ? h : a;
  double p = (double)y * h;
  p = p > 200.0 ? 200.0 : p;
  p = p < -200.0 ? -200.0 : p;
  double k = p + 0x1.8p52, r = p - (k - 0x1.8p52);
  double e = 0x1.00f1c38ff3287p-16;
  e = NPC_FMA(e, r, 0x1.445f1abc25a22p-13);
  e = NPC_FMA(e, r, 0x1.5d8722b69ad20p-10);
  e = NPC_FMA(e, r, 0x1.3b29f0319ad0ap-7);
  e = NPC_FMA(e, r, 0x1.c6b08df544702p-5);
  e = NPC_FMA(e, r, 0x1.ebfbe07b82454p-3);
  e = NPC_FMA(e, r, 0x1.62e42fef7af8ep-1);
  float v = (float)(NPC_FMA(e, r, 1.0) * npc_f64_of((npc_bits(k) + 1023) << 52));
  return npc_pow_special(x, y, v);
}
