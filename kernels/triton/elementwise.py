"""Triton text of elementwise primitives. Nothing imports this file: generated kernels paste in the functions they use.

Branches on dtypes are decided while a kernel is compiled. Operands are never float16 but where a function says so: the
printer widens them to float32 and rounds the result, which gives float16's own results for all of these functions.
"""

import triton
import triton.language as tl
from triton.language.extra import libdevice

NPC_NUMPY = 0  # the installed NumPy takes its place, 205 for 2.5


@triton.jit
def npc_neg(x):
    if x.dtype.is_floating():
        return x * -1.0
    else:
        return 0 - x


@triton.jit
def npc_abs(x):
    if x.dtype.is_floating():
        return tl.abs(x)
    elif x.dtype.is_int_signed() and x.dtype != tl.int1:
        return tl.where(x < 0, 0 - x, x)
    else:
        return x


@triton.jit
def npc_sign(x):
    if x.dtype.is_floating():
        r = tl.where(x == 0, 0.0, x)
        r = tl.where(x > 0, 1.0, r)
        return tl.where(x < 0, -1.0, r)
    elif x.dtype.is_int_signed():
        return tl.where(x > 0, x * 0 + 1, tl.where(x < 0, x * 0 - 1, x * 0))
    else:
        return tl.where(x != 0, x * 0 + 1, x)


@triton.jit
def npc_add(a, b):
    if a.dtype == tl.int1:
        return a | b
    else:
        return a + b


@triton.jit
def npc_mul(a, b):
    if a.dtype == tl.int1:
        return a & b
    else:
        return a * b


@triton.jit
def npc_div(a, b):
    if a.dtype == tl.float64:
        return a / b
    else:
        return tl.div_rn(a, b)


@triton.jit
def npc_sqrt(x):
    if x.dtype == tl.float64:
        return tl.sqrt(x)
    else:
        return tl.sqrt_rn(x)


@triton.jit
def npc_reciprocal(x):
    if x.dtype.is_floating():
        return npc_div(tl.where(x == x, 1.0, x), x)
    else:
        r = tl.where(x == 1, x, x * 0)
        if x.dtype.is_int_signed():
            r = tl.where(x == -1, x, r)
        if x.dtype == tl.int32:
            r = tl.where(x == 0, -2147483648, r)
        if x.dtype == tl.int64:
            r = tl.where(x == 0, -9223372036854775808, r)
        return r


@triton.jit
def npc_deg2rad(x):
    if x.dtype == tl.float64:
        return x * 0.017453292519943295
    else:
        return x * 0.01745329238474369


@triton.jit
def npc_rad2deg(x):
    if x.dtype == tl.float64:
        return x * 57.29577951308232
    else:
        return x * 57.2957763671875


@triton.jit
def npc_floor(x):
    return tl.floor(x) if x.dtype.is_floating() else x


@triton.jit
def npc_ceil(x):
    return tl.ceil(x) if x.dtype.is_floating() else x


@triton.jit
def npc_trunc(x):
    return libdevice.trunc(x) if x.dtype.is_floating() else x


@triton.jit
def npc_rint(x):
    return libdevice.rint(x) if x.dtype.is_floating() else x


@triton.jit
def npc_isnan(x):
    return x != x


@triton.jit
def npc_isinf(x):
    if x.dtype.is_floating():
        return tl.abs(x) == float("inf")
    else:
        return x != x


@triton.jit
def npc_isfinite(x):
    if x.dtype.is_floating():
        return tl.abs(x) < float("inf")
    else:
        return x == x


@triton.jit
def npc_bits(x):
    """The bits as a signed integer; float16 too."""
    if x.dtype == tl.float64:
        return x.to(tl.int64, bitcast=True)
    elif x.dtype == tl.float32:
        return x.to(tl.int32, bitcast=True)
    else:
        return x.to(tl.int16, bitcast=True)


@triton.jit
def npc_signbit(x):
    return npc_bits(x) < 0


@triton.jit
def npc_copysign(a, b):
    """float16 too."""
    if a.dtype == tl.float64:
        r = (npc_bits(a) & 0x7FFFFFFFFFFFFFFF) | (npc_bits(b) & -0x8000000000000000)
    elif a.dtype == tl.float32:
        r = (npc_bits(a) & 0x7FFFFFFF) | (npc_bits(b) & -0x80000000)
    else:
        r = (npc_bits(a) & 0x7FFF) | (npc_bits(b) & -0x8000)
    return r.to(a.dtype, bitcast=True)


@triton.jit
def npc_nextafter(a, b):
    """float16 too, and only as itself."""
    i = npc_bits(a)
    r = tl.where((a < b) == (i >= 0), i + 1, i - 1).to(a.dtype, bitcast=True)
    r = tl.where(a == 0, npc_copysign((i * 0 + 1).to(a.dtype, bitcast=True), b), r)
    same = b
    if NPC_NUMPY < 205:
        if a.dtype == tl.float16:
            same = a
    r = tl.where(a == b, same, r)
    return tl.where((a != a) | (b != b), a + b, r)


@triton.jit
def npc_spacing(x):
    """float16 too, and only as itself; there NumPy goes towards +inf."""
    if x.dtype == tl.float16:
        i = npc_bits(x).to(tl.int32) & 0xFFFF
        e = i & 0x7C00
        down = ((i & 0x83FF) == 0x8000).to(tl.int32)
        step = 0x2800 + (down << 10)
        k = (e >> 10) - 1 - down
        r = tl.where(e > step, e - step, tl.where(e > 0x0400, 1 << (k & 15), 1))
        r = tl.where(e == 0x7C00, 0x7E00, tl.where(i == 0x7BFF, 0x7C00, r))
        return r.to(tl.int16).to(tl.float16, bitcast=True)
    else:
        r = (npc_bits(x) + 1).to(x.dtype, bitcast=True) - x
        r = tl.where(x == 0, tl.abs(r), r)
        return tl.where(tl.abs(x) < float("inf"), r, float("nan"))


@triton.jit
def npc_maximum(a, b):
    """This and the next three: which of two equal zeros wins is NumPy's choice. float16 too."""
    if a.dtype == tl.int1:
        return a | b
    elif a.dtype.is_floating():
        wins = a >= b if a.dtype == tl.float16 else a > b
        return tl.where(wins | (a != a), a, b)
    else:
        return tl.where(a > b, a, b)


@triton.jit
def npc_minimum(a, b):
    if a.dtype == tl.int1:
        return a & b
    elif a.dtype.is_floating():
        wins = a <= b if a.dtype == tl.float16 else a < b
        return tl.where(wins | (a != a), a, b)
    else:
        return tl.where(a < b, a, b)


@triton.jit
def npc_fmax(a, b):
    if a.dtype.is_floating():
        wins = a >= b if a.dtype == tl.float16 else a > b
        return tl.where(wins | (b != b), a, b)
    else:
        return npc_maximum(a, b)


@triton.jit
def npc_fmin(a, b):
    if a.dtype.is_floating():
        wins = a <= b if a.dtype == tl.float16 else a < b
        return tl.where(wins | (b != b), a, b)
    else:
        return npc_minimum(a, b)


@triton.jit
def npc_heaviside(a, b):
    r = tl.where(a < 0, a * 0, tl.where(a == 0, b, 1.0))
    r = tl.where(a < 0, 0.0, r)
    return tl.where(a != a, a, r)


@triton.jit
def npc_lt(a, b):
    if a.dtype == tl.int1:
        return ~a & b
    elif a.dtype == tl.int64 and b.dtype == tl.uint64:
        return (a < 0) | (a.to(tl.uint64) < b)
    elif a.dtype == tl.uint64 and b.dtype == tl.int64:
        return (b >= 0) & (a < b.to(tl.uint64))
    else:
        return a < b


@triton.jit
def npc_eq(a, b):
    if a.dtype == tl.int64 and b.dtype == tl.uint64:
        return (a >= 0) & (a.to(tl.uint64) == b)
    elif a.dtype == tl.uint64 and b.dtype == tl.int64:
        return (b >= 0) & (a == b.to(tl.uint64))
    else:
        return a == b


@triton.jit
def npc_le(a, b):
    return npc_lt(a, b) | npc_eq(a, b)


@triton.jit
def npc_gt(a, b):
    return npc_lt(b, a)


@triton.jit
def npc_ge(a, b):
    return npc_lt(b, a) | npc_eq(a, b)


@triton.jit
def npc_ne(a, b):
    return ~npc_eq(a, b) if (a.dtype == tl.uint64) != (b.dtype == tl.uint64) else a != b


@triton.jit
def npc_logical_and(a, b):
    return (a != 0) & (b != 0)


@triton.jit
def npc_logical_or(a, b):
    return (a != 0) | (b != 0)


@triton.jit
def npc_fmod(a, b):
    if a.dtype.is_floating():
        return libdevice.fmod(a, b)
    elif a.dtype.is_int_signed():
        return a % tl.where((b == 0) | (b == -1), b * 0 + 1, b)
    else:
        return a % tl.where(b == 0, b * 0 + 1, b)


@triton.jit
def npc_mod(a, b):
    m = npc_fmod(a, b)
    if a.dtype.is_floating():
        r = tl.where((b < 0) ^ (m < 0), m + b, m)
        r = tl.where(m == 0, npc_copysign(m, b), r)
        return tl.where(b == 0, m, r)
    elif a.dtype.is_int_signed():
        return tl.where((b != 0) & (m != 0) & ((m ^ b) < 0), m + b, m)
    else:
        return m


@triton.jit
def npc_floordiv(a, b):
    if a.dtype.is_floating():
        m = npc_fmod(a, b)
        q = npc_div(a, b)
        d = npc_div(a - m, b)
        d = tl.where((m != 0) & ((b < 0) ^ (m < 0)), d - 1.0, d)
        f = tl.floor(d)
        f = tl.where(d - f > 0.5, f + 1.0, f)
        f = tl.where(d == 0, npc_copysign(d, q), f)
        return tl.where(b == 0, q, f)
    elif a.dtype.is_int_signed():
        odd = (b == 0) | (b == -1)
        d = tl.where(odd, b * 0 + 1, b)
        q = a // d
        r = a - q * d
        q = tl.where((r != 0) & ((r ^ d) < 0), q - 1, q)
        return tl.where(b == 0, b, tl.where(b == -1, 0 - a, q))
    else:
        return tl.where(b == 0, b, a // tl.where(b == 0, b * 0 + 1, b))


@triton.jit
def npc_shl(a, b):
    inside = (b >= 0) & (b < a.dtype.primitive_bitwidth)
    return tl.where(inside, a << tl.where(inside, b, b * 0), a * 0)


@triton.jit
def npc_shr(a, b):
    inside = (b >= 0) & (b < a.dtype.primitive_bitwidth)
    if a.dtype.is_int_signed():
        return a >> tl.where(inside, b, b * 0 + (a.dtype.primitive_bitwidth - 1))
    else:
        return tl.where(inside, a >> tl.where(inside, b, b * 0), a * 0)


@triton.jit
def npc_pow(a, b):
    if a.dtype.is_floating():
        return libdevice.pow(a, b)
    else:
        r = a * 0 + 1
        x = a
        e = b
        for _ in range(64):
            r = tl.where((e & 1) != 0, r * x, r)
            x = x * x
            e = e >> 1
        return r


@triton.jit
def npc_powi(x, n: tl.constexpr):
    """Few products are near enough; float32 has the accuracy of float64 to spare."""
    if x.dtype == tl.float64 and n > 4:
        return libdevice.pow(x, tl.where(x == x, n * 1.0, x))
    elif x.dtype == tl.float32 and n > 2:
        return npc_power(x.to(tl.float64), n).to(tl.float32)
    else:
        return npc_power(x, n)


@triton.jit
def npc_power(x, n: tl.constexpr):
    if n == 1:
        return x
    elif n % 2 == 0:
        return npc_power(x * x, n // 2)
    else:
        return npc_power(x * x, n // 2) * x


@triton.jit
def npc_magnitude(a):
    if a.dtype.is_int_signed():
        w = a.to(tl.int64)
        return tl.where(w < 0, 0 - w, w).to(tl.uint64, bitcast=True)
    else:
        return a.to(tl.uint64)


@triton.jit
def npc_gcd_of(x, y):
    for _ in range(93):
        d = tl.where(x == 0, x * 0 + 1, x)
        t = tl.where(x == 0, x, y % d)
        y = tl.where(x == 0, y, x)
        x = t
    return y


@triton.jit
def npc_gcd(a, b):
    return npc_gcd_of(npc_magnitude(a), npc_magnitude(b)).to(a.dtype)


@triton.jit
def npc_lcm(a, b):
    x = npc_magnitude(a)
    y = npc_magnitude(b)
    g = npc_gcd_of(x, y)
    return (x // tl.where(g == 0, g * 0 + 1, g) * y).to(a.dtype)


@triton.jit
def npc_ldexp(x, e):
    e = tl.where(e > 5000, 5000, tl.where(e < -5000, -5000, e))
    return libdevice.ldexp(x, e.to(tl.int32))


@triton.jit
def npc_lgamma(x):
    return libdevice.lgamma(x.to(tl.float64)).to(x.dtype)


@triton.jit
def npc_logaddexp(a, b):
    d = a - b
    t = libdevice.log1p(libdevice.exp(tl.abs(d) * -1.0))
    r = tl.where(d > 0, a + t, tl.where(d <= 0, b + t, d))
    return tl.where(a == b, a + 0.6931471805599453, r)


@triton.jit
def npc_logaddexp2(a, b):
    d = a - b
    t = libdevice.log1p(libdevice.exp2(tl.abs(d) * -1.0)) * 1.4426950408889634
    r = tl.where(d > 0, a + t, tl.where(d <= 0, b + t, d))
    return tl.where(a == b, a + 1.0, r)


@triton.jit
def npc_to_int(x, to: tl.constexpr):
    """A float to an integer as a processor does it: narrow types keep the low bits of a wider one."""
    if to == tl.uint64:
        low = x.to(tl.int64).to(tl.uint64, bitcast=True)
        return tl.where(x < 9223372036854775808.0, low, x.to(tl.uint64))
    elif to == tl.int64:
        return x.to(tl.int64)
    elif to == tl.uint32:
        return x.to(tl.int64).to(tl.uint32)
    else:
        return x.to(tl.int32).to(to)


@triton.jit
def npc_best(v, w, i, j, greater: tl.constexpr):
    """Is (w, j) before (v, i)? NaN is best of all, the first place wins."""
    if greater:
        better = npc_gt(w, v)
    else:
        better = npc_lt(w, v)
    equal = v == w
    if v.dtype.is_floating():
        better = better & (v == v) | (w != w) & (v == v)
        equal = equal | (v != v) & (w != w)
    return better | equal & (j < i)


@triton.jit
def npc_argmax(v, i, w, j):
    take = npc_best(v, w, i, j, True)
    return tl.where(take, w, v), tl.where(take, j, i)


@triton.jit
def npc_argmin(v, i, w, j):
    take = npc_best(v, w, i, j, False)
    return tl.where(take, w, v), tl.where(take, j, i)


@triton.jit
def npc_bit_not(x):
    if x.dtype == tl.int1:
        return ~x
    else:
        return x ^ (x * 0 - 1)


@triton.jit
def npc_bit_and(a, b):
    return a & b


@triton.jit
def npc_bit_or(a, b):
    return a | b


@triton.jit
def npc_bit_xor(a, b):
    return a ^ b
