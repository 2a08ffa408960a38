"""Block sizes of kernels as C++ text of the host program, which knows the sizes.

In: nothing. Out: text. They depend on sizes alone, so that sums have one order on every device.
"""

from __future__ import annotations

TEXT = """\
NPC_FN npc_i64 npc_word(double x) { return (npc_i64)__builtin_bit_cast(npc_u64, x); }
NPC_FN npc_i64 npc_word(float x) { return (npc_i64)__builtin_bit_cast(npc_u32, x); }
NPC_FN npc_i64 npc_word(npc_f16 x) { return (npc_i64)x.bits; }
template <class T> NPC_FN npc_i64 npc_word(T x) { return (npc_i64)x; }
NPC_FN npc_i64 npc_log2(npc_i64 n) { npc_i64 k = 0; while (k < 62 && (1ll << k) < n) ++k; return k; } /* rounded up */
NPC_FN npc_i64 npc_magnitude(npc_i64 a) { return a < 0 ? -a : a; }
NPC_FN npc_i64 npc_cdiv(npc_i64 a, npc_i64 b) { return (a + b - 1) / b; }
/* log2 of rows, of columns and of warps of a block; the fourth: all columns at once; the fifth: parts of the columns */
static inline void npc_blocks(npc_i64 rows, npc_i64 cols, npc_i64 size, bool inner, bool whole, npc_i64 *p) {
  npc_i64 lc = npc_log2(cols), lr = npc_log2(rows), most = size > 4 ? 13 : 14;
  p[3] = whole && (inner ? lc <= most : lc <= 6);
  if (inner) {
    p[1] = p[3] ? lc : 12;
    p[0] = p[1] < 11 ? 11 - p[1] : 0;
  } else {
    p[1] = p[3] ? lc : 5;
    p[0] = 12 - p[1] < 7 ? 12 - p[1] : 7;
  }
  p[0] = p[0] < lr ? p[0] : lr;
  npc_i64 total = p[0] + p[1];
  npc_i64 bytes = size << total;
  p[2] = total <= 5 ? 0 : bytes <= 1 << 14 ? 2 : bytes <= 1 << 15 ? 3 : size > 4 ? 5 : 4;
  npc_i64 programs = npc_cdiv(rows, 1ll << p[0]), n = npc_cdiv(cols, 4ll << p[1]), want = npc_cdiv(1024, programs ? programs : 1);
  p[4] = p[3] || programs >= 512 || n < 2 ? 1 : n < want ? n : want;
  if (inner && !p[3] && p[4] == 1 && lc > 12) p[0] = 0, p[1] = 13, p[2] = 5; /* many long rows: few large programs */
}
"""
