/* Sums in NumPy's pairwise order, bit for bit. Below 8 elements serially from -0.0; up to 128 elements 8 accumulators;
   above, halves whose first part is rounded down to a multiple of 8. `fill(T *out, npc_i64 start, npc_i64 count)` evaluates
   at most 2 KB of elements into an aligned block: a few leaves at once, to spread the cost of its loop.
   float16 sums its values as float. */
//@ pairwise_shape
NPC_FN npc_i64 npc_pairwise_half(npc_i64 n) { npc_i64 h = n / 2; return h - h % 8; }
/* Subtree `index` of the 2^depth ones below the root of n elements: its first element and size. Every subtree must come
   from nodes of more than 128 elements, which holds when n >= 512 << depth. Sum them by npc_pairwise_join. */
NPC_FN npc_i64 npc_pairwise_part(npc_i64 n, npc_i64 depth, npc_i64 index, npc_i64 *first) {
  npc_i64 lo = 0;
  for (npc_i64 bit = depth; bit-- > 0;) {
    npc_i64 h = npc_pairwise_half(n), right = (index >> bit) & 1;
    lo += right ? h : 0;
    n = right ? n - h : h;
  }
  *first = lo;
  return n;
}
template <class T> NPC_FN T npc_pairwise_join(T *parts, npc_i64 depth) {
  for (npc_i64 n = (npc_i64)1 << depth; n > 1; n /= 2)
    for (npc_i64 i = 0; i < n / 2; i++) parts[i] = parts[2 * i] + parts[2 * i + 1];
  return parts[0];
}
//@ pairwise:floats < pairwise_shape
/* Eight accumulators, in vectors that the processor has. */
template <class T> struct npc_eight;
template <> struct npc_eight<double> { typedef double V __attribute__((vector_size(NPC_WIDTH), aligned(8), may_alias)); };
template <> struct npc_eight<float> {
  typedef float V __attribute__((vector_size(NPC_WIDTH < 32 ? NPC_WIDTH : 32), aligned(4), may_alias));
};
template <class T> struct npc_sums {
  typedef typename npc_eight<T>::V V;
  enum { L = sizeof(V) / sizeof(T) };
  V r[8 / L];
  __attribute__((always_inline)) npc_sums(const T *p) {
    for (int k = 0; k < 8 / L; ++k) r[k] = *(const V *)(p + k * L);
  }
  __attribute__((always_inline)) void add(const T *p) {
    for (int k = 0; k < 8 / L; ++k) r[k] += *(const V *)(p + k * L);
  }
  __attribute__((always_inline)) T operator[](int k) const { return r[k / L][k % L]; }
};
template <class T> NPC_FN T npc_pairwise_leaf(const T *p, npc_i64 n) {
  T s = (T)-0.0;
  npc_i64 i = 0;
  if (n >= 8) {
    npc_sums<T> r(p);
    for (i = 8; i < n - n % 8; i += 8) r.add(p + i);
    s = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
  }
  for (; i < n; i++) s += p[i];
  return s;
}
template <class T> static T npc_pairwise_memory(const T *p, npc_i64 n) {
  if (n <= 128) return npc_pairwise_leaf(p, n);
  npc_i64 h = npc_pairwise_half(n);
  T left = npc_pairwise_memory(p, h);
  return left + npc_pairwise_memory(p + h, n - h);
}
template <class T, class F> static T npc_pairwise(npc_i64 start, npc_i64 n, const F &fill) {
  const npc_i64 size = 2048 / sizeof(T);
  if (n > size) {
    npc_i64 h = npc_pairwise_half(n);
    T left = npc_pairwise<T>(start, h, fill);
    return left + npc_pairwise<T>(start + h, n - h, fill);
  }
  alignas(64) T block[size];
  fill((T *)block, start, n);
  return npc_pairwise_memory((const T *)block, n);
}
//@ pairwise:f16 < half, pairwise:f32
/* float16 producers fill a float16 block; the sum is a float that the caller adds to its start value and rounds once. */
template <class F> static float npc_pairwise_f16(npc_i64 start, npc_i64 n, const F &fill) {
  return npc_pairwise<float>(start, n, [&](float *out, npc_i64 first, npc_i64 count) {
    alignas(64) npc_f16 block[512];
    fill((npc_f16 *)block, first, count);
    for (npc_i64 i = 0; i < count; i++) out[i] = npc_float(block[i]);
  });
}
//@ pairwise:complex < pairwise:floats
template <class T> struct npc_part;
template <> struct npc_part<npc_c64> { typedef float type; };
template <> struct npc_part<npc_c128> { typedef double type; };
template <class T> NPC_FN T npc_pairwise_complex_leaf(const T *q, npc_i64 count) {
  typedef typename npc_part<T>::type R;
  const R *p = (const R *)q;
  R re = (R)-0.0, im = (R)-0.0;
  npc_i64 n = 2 * count, i = 0;
  if (n >= 8) {
    npc_sums<R> r(p);
    for (i = 8; i < n - n % 8; i += 8) r.add(p + i);
    re = (r[0] + r[2]) + (r[4] + r[6]);
    im = (r[1] + r[3]) + (r[5] + r[7]);
  }
  for (; i < n; i += 2) { re += p[i]; im += p[i + 1]; }
  return T{re, im};
}
template <class T> static T npc_pairwise_complex_memory(const T *p, npc_i64 count) {
  if (count <= 64) return npc_pairwise_complex_leaf(p, count);
  npc_i64 h = npc_pairwise_half(2 * count) / 2;
  T a = npc_pairwise_complex_memory(p, h), b = npc_pairwise_complex_memory(p + h, count - h);
  return T{a.re + b.re, a.im + b.im};
}
template <class T, class F> static T npc_pairwise_complex(npc_i64 start, npc_i64 count, const F &fill) {
  const npc_i64 size = 2048 / sizeof(T);
  if (count > size) {
    npc_i64 h = npc_pairwise_half(2 * count) / 2;
    T a = npc_pairwise_complex<T>(start, h, fill), b = npc_pairwise_complex<T>(start + h, count - h, fill);
    return T{a.re + b.re, a.im + b.im};
  }
  alignas(64) T block[size];
  fill((T *)block, start, count);
  return npc_pairwise_complex_memory((const T *)block, count);
}
