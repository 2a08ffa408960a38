/* Products of matrices, of vectors, and of both: by BLAS, called as NumPy calls it so that the bits are NumPy's, else by
   loops that add up each element from 0 in order of the summed index. Steps are in bytes. */
//@ product_loops
struct npc_mat { char *p; npc_i64 r, c; }; /* first element, steps from row to row and from column to column */
NPC_FN npc_mat npc_transposed(npc_mat x) { return npc_mat{x.p, x.c, x.r}; }
template <class T> NPC_FN T &npc_at(npc_mat x, npc_i64 i, npc_i64 j) { return *(T *)(x.p + i * x.r + j * x.c); }
template <class T> struct npc_sum; /* acc: type of a running sum; add: one more product; end: the element, conditions in `f` */
/* c = a b, a of shape m x n, b of n x p. Returns conditions that are not in the hardware flags. */
template <class T> static __attribute__((noinline)) npc_i64 npc_product(
    npc_mat a, npc_mat b, npc_mat c, npc_i64 m, npc_i64 n, npc_i64 p) {
  typedef npc_sum<T> S;
  typedef typename S::acc A;
  npc_i64 f = 0;
  if (p == 1 || (b.r < 0 ? -b.r : b.r) < (b.c < 0 ? -b.c : b.c)) {
    bool flat = a.c == (npc_i64)sizeof(T) && b.r == (npc_i64)sizeof(T);
    for (npc_i64 i = 0; i < m; ++i)
      for (npc_i64 j = 0; j < p; ++j) {
        A s = A();
        const char *x = a.p + i * a.r, *y = b.p + j * b.c;
        if (flat) for (npc_i64 k = 0; k < n; ++k) S::add(s, ((const T *)x)[k], ((const T *)y)[k]);
        else for (npc_i64 k = 0; k < n; ++k) S::add(s, *(const T *)(x + k * a.c), *(const T *)(y + k * b.r));
        npc_at<T>(c, i, j) = S::end(s, f);
      }
    return f;
  }
  for (npc_i64 i = 0; i < m; ++i)
    for (npc_i64 j = 0; j < p; j += 128) {
      A s[128] = {};
      npc_i64 w = p - j < 128 ? p - j : 128;
      for (npc_i64 k = 0; k < n; ++k) {
        const T x = npc_at<T>(a, i, k);
        const char *y = b.p + k * b.r + j * b.c;
        if (b.c == (npc_i64)sizeof(T)) for (npc_i64 q = 0; q < w; ++q) S::add(s[q], x, ((const T *)y)[q]);
        else for (npc_i64 q = 0; q < w; ++q) S::add(s[q], x, *(const T *)(y + q * b.c));
      }
      for (npc_i64 q = 0; q < w; ++q) npc_at<T>(c, i, j + q) = S::end(s[q], f);
    }
  return f;
}
//@ product:ints < product_loops
#define NPC_M(T, U, W) \
  template <> struct npc_sum<T> { \
    typedef U acc; \
    NPC_FN void add(U &s, T a, T b) { s = (U)((W)s + (W)(U)a * (W)(U)b); } \
    NPC_FN T end(U s, npc_i64 &) { return (T)s; } \
  };
NPC_M(npc_i8, npc_u8, npc_u32)
NPC_M(npc_i16, npc_u16, npc_u32)
NPC_M(npc_i32, npc_u32, npc_u32)
NPC_M(npc_i64, npc_u64, npc_u64)
NPC_M(npc_u8, npc_u8, npc_u32)
NPC_M(npc_u16, npc_u16, npc_u32)
NPC_M(npc_u32, npc_u32, npc_u32)
NPC_M(npc_u64, npc_u64, npc_u64)
#undef NPC_M
//@ product:bool < product_loops
template <> struct npc_sum<npc_bool> {
  typedef npc_u8 acc;
  NPC_FN void add(npc_u8 &s, npc_bool a, npc_bool b) { s = (npc_u8)(s | ((npc_u8)a & (npc_u8)b)); }
  NPC_FN npc_bool end(npc_u8 s, npc_i64 &) { return (npc_bool)s; }
};
//@ product:f16 < product_loops, half
template <> struct npc_sum<npc_f16> {
  typedef float acc;
  NPC_FN void add(float &s, npc_f16 a, npc_f16 b) { s += npc_float(a) * npc_float(b); }
  NPC_FN npc_f16 end(float s, npc_i64 &f) {
    npc_u32 size = npc_bits(s) & 0x7fffffffu; /* as bits: comparing NaNs would set a flag */
    f |= (npc_i64)(size >= npc_bits(65520.0f) && size < 0x7f800000u) << 1;
    return npc_half(s);
  }
};
//@ product:floats+complex < product_loops
#define NPC_M(T) \
  template <> struct npc_sum<T> { \
    typedef T acc; \
    NPC_FN T mul(T a, T b) { return a * b; } \
    NPC_FN void add(T &s, T a, T b) { s += a * b; } \
    NPC_FN T end(T s, npc_i64 &) { return s; } \
  };
NPC_M(float)
NPC_M(double)
#undef NPC_M
/* The sign is flipped as an integer: GCC would fuse a subtraction beside an addition, -ffp-contract=off or not. */
NPC_FN float npc_flipped(float x) { return npc_f32_of(npc_bits(x) ^ 0x80000000u); }
NPC_FN double npc_flipped(double x) { return npc_f64_of(npc_bits(x) ^ 0x8000000000000000u); }
#define NPC_M(T) \
  template <> struct npc_sum<T> { \
    typedef T acc; \
    NPC_FN T mul(T a, T b) { return T{a.re * b.re + npc_flipped(a.im * b.im), a.re * b.im + a.im * b.re}; } \
    NPC_FN void add(T &s, T a, T b) { \
      T x = mul(a, b); \
      s.re += x.re; \
      s.im += x.im; \
    } \
    NPC_FN T end(T s, npc_i64 &) { return s; } \
  };
NPC_M(npc_c64)
NPC_M(npc_c128)
#undef NPC_M
//@ blas:floats+complex < product:floats+complex
/* Functions that only decide and call: translated quickly rather than well. */
#if defined(__clang__)
#define NPC_APART __attribute__((noinline, minsize))
#else
#define NPC_APART __attribute__((noinline, optimize("O1")))
#endif
enum { NPC_ROWS = 101, NPC_COLUMNS = 102, NPC_PLAIN = 111, NPC_TRANSPOSED = 112, NPC_UPPER = 121 };
template <class T> struct npc_one { /* how CBLAS takes coefficients: real ones by value */
  typedef T arg;
  T one = 1, zero = 0;
  template <class I, class F> NPC_FN void dot(F f, I n, const T *a, I s, const T *b, I t, double *sum) {
    *sum += ((T(*)(I, const T *, I, const T *, I))f)(n, a, s, b, t);
  }
  NPC_FN T total(const double *sum) { return (T)*sum; }
  NPC_FN arg given(const T &x) { return x; }
};
template <class T, class R> struct npc_one_complex {
  typedef const T *arg;
  T values[2] = {T{1, 0}, T{0, 0}};
  arg one = values, zero = values + 1;
  template <class I, class F> NPC_FN void dot(F f, I n, const T *a, I s, const T *b, I t, double *sum) {
    T part;
    ((void (*)(I, const T *, I, const T *, I, T *))f)(n, a, s, b, t, &part);
    sum[0] += part.re;
    sum[1] += part.im;
  }
  NPC_FN T total(const double *sum) { return T{(R)sum[0], (R)sum[1]}; }
  NPC_FN arg given(const T &x) { return &x; }
};
template <> struct npc_one<npc_c64> : npc_one_complex<npc_c64, float> {};
template <> struct npc_one<npc_c128> : npc_one_complex<npc_c128, double> {};
/* I: the integers of the library. M: scratch memory, kept from call to call; `reserve(bytes)` gives 0 when there is none. */
template <class T, class I, class M> struct npc_blas {
  M &room;
  void *gemm, *gemv, *syrk, *dot, *axpy;
  typedef typename npc_one<T>::arg C;
  static constexpr npc_i64 S = sizeof(T), MOST = (npc_i64)(((npc_u64)1 << (8 * sizeof(I) - 1)) - 2);

  NPC_FN bool step(npc_i64 s) { return s > 0 && s % S == 0 && s / S <= MOST; }
  NPC_FN bool rows(npc_mat x, npc_i64 columns) { return x.c == S && x.r % S == 0 && x.r / S >= columns && x.r / S <= MOST; }
  NPC_FN bool usable(npc_mat x, npc_i64 m, npc_i64 n) { return rows(x, n) || rows(npc_transposed(x), m); }
  NPC_FN bool bad(npc_i64 s, npc_i64 n) { return s < 0 || s % S || (s == 0 && n > 1); }
  NPC_FN bool c_order(npc_mat x, npc_i64 m, npc_i64 n) { return (n == 1 || x.c == S) && (m == 1 || x.r == n * S); }
  NPC_FN bool f_order(npc_mat x, npc_i64 m, npc_i64 n) { return c_order(npc_transposed(x), n, m); }
  NPC_FN npc_mat packed(char *p, npc_i64 n) { return npc_mat{p, n * S, S}; }
  NPC_APART static void copy(npc_mat from, npc_mat to, npc_i64 m, npc_i64 n) {
    for (npc_i64 i = 0; i < m; ++i)
      for (npc_i64 j = 0; j < n; ++j) npc_at<T>(to, i, j) = npc_at<T>(from, i, j);
  }
  NPC_APART T sum_of_products(const char *a, npc_i64 s, const char *b, npc_i64 t, npc_i64 n) const {
    T out = T();
    if (!step(s) || !step(t)) {
      npc_product<T>(npc_mat{(char *)a, 0, s}, npc_mat{(char *)b, t, 0}, npc_mat{(char *)&out, 0, 0}, 1, n, 1);
      return out;
    }
    double sum[2] = {0, 0};
    for (npc_i64 take; n > 0; n -= take, a += take * s, b += take * t) {
      take = n < MOST / 2 + 1 ? n : MOST / 2 + 1;
      npc_one<T>::dot(dot, (I)take, (const T *)a, (I)(s / S), (const T *)b, (I)(t / S), sum);
    }
    return npc_one<T>::total(sum);
  }
  NPC_APART void times_vector(int order, int trans, npc_i64 m, npc_i64 n, const char *a, npc_i64 ld, const char *x, npc_i64 s, char *y,
                    npc_i64 t) const {
    npc_one<T> k;
    ((void (*)(int, int, I, I, C, const T *, I, const T *, I, C, T *, I))gemv)(
        order, trans, (I)m, (I)n, k.one, (const T *)a, (I)ld, (const T *)x, (I)(s / S), k.zero, (T *)y, (I)(t / S));
  }
  /* c (rows ldc apart) = a b, each given as its rows lie in memory or transposed; `same`: b is a transposed. */
  NPC_APART void matrices(int ta, const char *a, npc_i64 lda, int tb, const char *b, npc_i64 ldb, char *c, npc_i64 ldc, npc_i64 m,
                npc_i64 n, npc_i64 p, bool same) const {
    npc_one<T> k;
    if (!same || ta == tb) {
      ((void (*)(int, int, int, I, I, I, C, const T *, I, const T *, I, C, T *, I))gemm)(
          NPC_ROWS, ta, tb, (I)m, (I)p, (I)n, k.one, (const T *)a, (I)lda, (const T *)b, (I)ldb, k.zero, (T *)c, (I)ldc);
      return;
    }
    ((void (*)(int, int, int, I, I, C, const T *, I, C, T *, I))syrk)(
        NPC_ROWS, NPC_UPPER, ta, (I)p, (I)n, k.one, (const T *)a, (I)(ta == NPC_PLAIN ? lda : ldb), k.zero, (T *)c, (I)ldc);
    for (npc_i64 i = 0; i < p; ++i)
      for (npc_i64 j = i + 1; j < p; ++j) ((T *)c)[j * ldc + i] = ((const T *)c)[i * ldc + j];
  }
  NPC_FN bool twins(npc_mat a, npc_mat b, npc_i64 m, npc_i64 p) { return a.p == b.p && m == p && a.r == b.c && a.c == b.r; }

  /* One element, the usual case in a few instructions; `matmul`: as np.matmul does it, else as np.dot. */
  __attribute__((always_inline)) npc_i64 vectors(npc_mat a, npc_mat b, npc_mat c, npc_i64 n, bool matmul_) {
    if (!__builtin_expect(n > 1 && n <= MOST / 2 && step(a.c) && step(b.r), 1))
      return matmul_ ? matmul(a, b, c, 1, n, 1) : dot_product(a, b, c, 1, n, 1);
    double sum[2] = {0, 0};
    npc_one<T>::dot(dot, (I)n, (const T *)a.p, (I)(a.c / S), (const T *)b.p, (I)(b.r / S), sum);
    *(T *)c.p = npc_one<T>::total(sum);
    return 0;
  }

  /* As np.matmul does one matrix. */
  NPC_APART npc_i64 matmul(npc_mat a, npc_mat b, npc_mat c, npc_i64 m, npc_i64 n, npc_i64 p) {
    bool loops = !m || !n || !p || m > MOST || n > MOST || p > MOST;
    if (!loops && m > 1 && n > 1 && p > 1) return matmul_matrices(a, b, c, m, n, p);
    loops = loops || (n == 1 && (m == 1) != (p == 1));
    if (!loops && m == 1 && p == 1)
      npc_at<T>(c, 0, 0) = sum_of_products(a.p, a.c, b.p, b.r, n);
    else if (!loops && m == 1 && usable(b, n, p) && step(a.c))
      matmul_vector(npc_transposed(b), a.p, a.c, c.p, c.c, p, n);
    else if (!loops && p == 1 && usable(a, m, n) && step(b.r))
      matmul_vector(a, b.p, b.r, c.p, c.r, m, n);
    else
      npc_product<T>(a, b, c, m, n, p);
    return 0;
  }
  void matmul_vector(npc_mat a, const char *x, npc_i64 s, char *y, npc_i64 t, npc_i64 m, npc_i64 n) const {
    bool r = rows(a, n);
    times_vector(r ? NPC_COLUMNS : NPC_ROWS, NPC_TRANSPOSED, n, m, a.p, (r ? a.r : a.c) / S, x, s, y, t);
  }
  NPC_FN bool wide(npc_i64 s, npc_i64 t) { return (s < 0 ? -s : s) < (t < 0 ? -t : t); }
  NPC_APART npc_i64 matmul_matrices(npc_mat a, npc_mat b, npc_mat c, npc_i64 m, npc_i64 n, npc_i64 p) {
    bool own_a = !usable(a, m, n), own_b = !usable(b, n, p), own_c = !usable(c, m, p), turned = wide(c.r, c.c);
    npc_mat out = c;
    if (own_a || own_b || own_c) {
      char *t = room.reserve((own_a * m * n + own_b * n * p + own_c * m * p) * S);
      if (!t) return 1;
      if (own_a) a = packed_like(a, &t, m, n);
      if (own_b) b = packed_like(b, &t, n, p);
      if (own_c) out = turned ? npc_mat{t, S, m * S} : packed(t, p);
    }
    if (turned) matmul_ordered(npc_transposed(b), npc_transposed(a), npc_transposed(out), p, n, m);
    else matmul_ordered(a, b, out, m, n, p);
    if (own_c) copy(out, c, m, p);
    return 0;
  }
  static npc_mat packed_like(npc_mat x, char **t, npc_i64 m, npc_i64 n) {
    npc_mat to = wide(x.r, x.c) ? npc_mat{*t, S, m * S} : packed(*t, n);
    copy(x, to, m, n);
    *t += m * n * S;
    return to;
  }
  void matmul_ordered(npc_mat a, npc_mat b, npc_mat c, npc_i64 m, npc_i64 n, npc_i64 p) const {
    bool ra = rows(a, n), rb = rows(b, p);
    matrices(ra ? NPC_PLAIN : NPC_TRANSPOSED, a.p, (ra ? a.r : a.c) / S, rb ? NPC_PLAIN : NPC_TRANSPOSED, b.p,
             (rb ? b.r : b.c) / S, c.p, c.r / S, m, n, p, twins(a, b, m, p));
  }

  /* As np.dot does vectors and matrices; c is in C order. */
  NPC_APART npc_i64 dot_product(npc_mat a, npc_mat b, npc_mat c, npc_i64 m, npc_i64 n, npc_i64 p) {
    if (!m || !n || !p || m > MOST || n > MOST || p > MOST) {
      npc_product<T>(a, b, c, m, n, p);
      return 0;
    }
    bool many_a = m > 1 && n > 1, many_b = n > 1 && p > 1, matrices_both = m > 1 && p > 1;
    bool own_a = bad(a.r, m) || bad(a.c, n), own_b = bad(b.r, n) || bad(b.c, p);
    own_a = own_a || ((matrices_both || many_a) && !c_order(a, m, n) && !f_order(a, m, n));
    own_b = own_b || ((matrices_both || (m == 1 && many_b)) && !c_order(b, n, p) && !f_order(b, n, p));
    if (own_a || own_b) {
      char *t = room.reserve((own_a * m * n + own_b * n * p) * S);
      if (!t) return 1;
      if (own_a) {
        copy(a, packed(t, n), m, n);
        a = packed(t, n);
        t += m * n * S;
      }
      if (own_b) {
        copy(b, packed(t, p), n, p);
        b = packed(t, p);
      }
    }
    if (n == 1 && (m == 1 || p == 1)) {
      times_number(p == 1 ? a.p : b.p, p == 1 ? a.r : b.c, *(const T *)(p == 1 ? b.p : a.p), c.p, p == 1 ? c.r : c.c, m * p);
    } else if (m == 1 && p == 1) {
      npc_at<T>(c, 0, 0) = sum_of_products(a.p, a.c, b.p, b.r, n);
    } else if (p == 1) {
      bool r = c_order(a, m, n);
      times_vector(r ? NPC_ROWS : NPC_COLUMNS, NPC_PLAIN, m, n, a.p, r ? n : m, b.p, b.r, c.p, c.r);
    } else if (m == 1) {
      bool r = c_order(b, n, p);
      times_vector(r ? NPC_ROWS : NPC_COLUMNS, NPC_TRANSPOSED, n, p, b.p, r ? p : n, a.p, a.c, c.p, c.c);
    } else {
      bool fa = f_order(a, m, n), fb = f_order(b, n, p);
      matrices(fa ? NPC_TRANSPOSED : NPC_PLAIN, a.p, fa ? m : n, fb ? NPC_TRANSPOSED : NPC_PLAIN, b.p, fb ? n : p, c.p,
               c.r / S, m, n, p, twins(a, b, m, p));
    }
    return 0;
  }
  void times_number(const char *x, npc_i64 s, const T &k, char *y, npc_i64 t, npc_i64 n) const {
    if (n == 1) {
      *(T *)y = npc_sum<T>::mul(k, *(const T *)x);
      return;
    }
    for (npc_i64 i = 0; i < n; ++i) *(T *)(y + i * t) = T();
    ((void (*)(I, C, const T *, I, T *, I))axpy)((I)n, npc_one<T>::given(k), (const T *)x, (I)(s / S), (T *)y, (I)(t / S));
  }
  /* As np.dot does arrays of more axes: every element by itself. */
  NPC_APART npc_i64 dot_elements(npc_mat a, npc_mat b, npc_mat c, npc_i64 m, npc_i64 n, npc_i64 p) {
    for (npc_i64 i = 0; i < m; ++i)
      for (npc_i64 j = 0; j < p; ++j) npc_at<T>(c, i, j) = sum_of_products(a.p + i * a.r, a.c, b.p + j * b.c, b.r, n);
    return 0;
  }
};
