"""The table of operations: one row for every NumPy operation that is compiled, in each way in which it can be written.

Plain data: `ROWS` is a tuple of `Row`s. `operation_operands` makes arguments for a row, `test_operations` compares compiled
code with plain NumPy; other backends may take the same rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

BOOL, SIGNED, UNSIGNED, FLOATS, COMPLEX = "?", "bhil", "BHIL", "efd", "FD"
INTS = SIGNED + UNSIGNED
REAL = BOOL + INTS + FLOATS
ALL = REAL + COMPLEX
INEXACT = FLOATS + COMPLEX


@dataclass(frozen=True)
class Row:
    """One operation.

    name : unique. text : a function's body: an expression, or statements. operands : its parameters, by kind (see
    `operation_operands.operands`). dtypes : of the main operand, as type characters.
    tolerance : a class of `npcompile.testing.TOLERANCES`; "order": exact where NumPy's order of summation is known (one axis,
    or all of an array; one without gaps before NumPy 2.3), else "sum".
    mixed : other operands take any of the dtypes. others : dtypes of "b". second : contents of other operands than "a".
    contents, ranks, shapes, empty, layouts : what the main operand may be; `shapes` lists shapes of all operands together.
    outs : layouts of "o".
    spread : "b" may have fewer or shorter axes. makes : expression with the dtype and shape of "o"; casts : "o" may have
    another dtype that the result casts to.
    variants : how many sets of operands are compiled.
    warns : False where NumPy leaves its floating-point conditions to the C library.
    refuses : reason id of the break that stands in for a rule; such rows are only compared.
    """

    name: str
    text: str
    operands: str = "a"
    dtypes: str = ALL
    tolerance: str = "exact"
    mixed: bool = False
    others: str = ""
    second: str = ""
    contents: tuple[str, ...] = ("plain", "special", "wide", "integral")
    ranks: tuple[int, int] = (0, 3)
    shapes: tuple[tuple[tuple[int, ...], ...], ...] = ()
    empty: bool = True
    spread: bool = True
    layouts: tuple[str, ...] = ("C", "C", "F", "strided", "negative", "broadcast", "permuted", "offset")
    outs: tuple[str, ...] = ("C", "F", "strided", "negative", "permuted")
    makes: str = ""
    casts: bool = False
    variants: int = 2
    warns: bool = True
    refuses: str = ""


def rows(*names: str, prefix: str = "", **fields) -> list[Row]:
    """Rows whose name is their text."""
    return [Row(prefix + n, n, **fields) for n in names]


SMALL = ("plain", "integral", "small")
TAME = ("plain", "integral")
WRITEABLE = ("C", "C", "F", "strided", "negative", "permuted", "offset")

# ---------------------------------------------------------------------------------------------- ufuncs of one operand

EXACT_UNARY = {
    "negative": INTS + INEXACT, "positive": INTS + INEXACT, "absolute": REAL, "fabs": BOOL + INTS + FLOATS, "sign": INTS + FLOATS,
    "square": ALL[1:], "reciprocal": INTS + FLOATS, "sqrt": REAL, "rint": ALL, "floor": REAL, "ceil": REAL, "trunc": REAL,
    "conjugate": ALL[1:], "deg2rad": REAL, "rad2deg": REAL, "radians": FLOATS, "degrees": FLOATS, "isnan": ALL, "isinf": ALL,
    "isfinite": ALL, "signbit": REAL, "spacing": FLOATS, "logical_not": ALL, "invert": BOOL + INTS, "modf": FLOATS,
}  # fmt: skip
ULP_UNARY = (
    "exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh cbrt"
).split()

UNARY = [Row(f"np.{f}", f"np.{f}(a)", dtypes=d, variants=6) for f, d in EXACT_UNARY.items()]
UNARY += [Row(f"np.{f}", f"np.{f}(a)", dtypes=REAL, tolerance="ulp", variants=5) for f in ULP_UNARY]
UNARY += [
    Row(f"np.{f} complex", f"np.{f}(a)", dtypes=COMPLEX, tolerance="ulp", contents=TAME, warns=False)
    for f in ("absolute", "sqrt", "reciprocal", "sign", *ULP_UNARY[:-1])
]
_OUT_UNARY = [(f, "exact", d.replace("F", "").replace("D", "")) for f, d in EXACT_UNARY.items() if f != "modf"]
_OUT_UNARY += [(f, "ulp", FLOATS) for f in ULP_UNARY]
for _f, _t, _d in _OUT_UNARY:
    _makes = f"np.{_f}(a)"
    if _f in ("isnan", "isinf", "isfinite", "signbit"):  # NumPy 2.4 itself goes wrong over outputs turned round
        UNARY.append(Row(f"np.{_f} out", f"np.{_f}(a, out=o)", "ao", _d, makes=_makes, outs=("C", "F", "strided"), variants=1))
        continue
    UNARY += [
        Row(f"np.{_f} out", f"np.{_f}(a, out=o)", "ao", _d, _t, makes=_makes, casts=_t == "exact", variants=1),
        Row(f"np.{_f} where", f"np.{_f}(a, out=o, where=m)", "aom", _d, _t, makes=_makes, variants=1),
    ]
UNARY += [
    Row("exp out none", "np.exp(a, out=(None,))", "a", FLOATS, "ulp"),
    Row("modf out", "np.modf(a, out=(o, None))", "ao", FLOATS, makes="np.modf(a)[0]"),
    Row("exp dtype", "np.exp(a, dtype='f4')", dtypes="?bBhHef", tolerance="ulp"),
    Row("sqrt dtype", "np.sqrt(a, dtype='f8')", dtypes=BOOL + INTS + FLOATS),
    Row("negative dtype", "np.negative(a, dtype='i8')", dtypes="bhilBHI"),
    Row("negative casting", "np.negative(a, dtype='i2', casting='unsafe')", dtypes="bhilBHI"),
    Row("sin order C", "np.sin(a, order='C')", dtypes="fd", tolerance="ulp", ranks=(1, 3)),
    Row("abs order F", "np.absolute(a, order='F')", dtypes="fdi", ranks=(1, 3)),
    Row("square order A", "np.square(a, order='A')", dtypes="fdi", ranks=(1, 3)),
]

# ---------------------------------------------------------------------------------------------- ufuncs of two operands

EXACT_BINARY = {
    "add": ALL, "subtract": ALL[1:], "multiply": REAL, "divide": REAL, "floor_divide": REAL, "remainder": REAL, "fmod": REAL,
    "divmod": REAL, "maximum": ALL, "minimum": ALL, "fmax": ALL, "fmin": ALL, "copysign": REAL, "nextafter": FLOATS,
    "heaviside": REAL, "gcd": INTS, "lcm": INTS, "bitwise_and": BOOL + INTS, "bitwise_or": BOOL + INTS,
    "bitwise_xor": BOOL + INTS, "left_shift": INTS, "right_shift": INTS, "equal": ALL, "not_equal": ALL, "less": ALL,
    "less_equal": ALL, "greater": ALL, "greater_equal": ALL, "logical_and": ALL, "logical_or": ALL, "logical_xor": ALL,
}  # fmt: skip
ULP_BINARY = {
    "power": REAL,
    "float_power": REAL[:-3] + "fd",
    "arctan2": REAL,
    "hypot": REAL,
    "logaddexp": REAL,
    "logaddexp2": REAL,
}
_SECOND = {"left_shift": "integral", "right_shift": "integral", "power": "small", "float_power": "small"}
BINARY: list[Row] = []
for _f, _d in {**EXACT_BINARY, **ULP_BINARY}.items():
    _t = "ulp" if _f in ULP_BINARY else "exact"
    _o = {"dtypes": _d, "tolerance": _t, "mixed": True, "second": _SECOND.get(_f, "")}
    BINARY += [
        Row(f"np.{_f}", f"np.{_f}(a, b)", "ab", **{**_o, "variants": 8}),
        Row(f"np.{_f} number", f"np.{_f}(a, s)", "as", **_o),
        Row(f"np.{_f} number first", f"np.{_f}(s, a)", "as", **_o),
    ]
    _makes = f"np.{_f}(a, c)"
    if _f != "divmod":
        BINARY += [
            Row(f"np.{_f} out", f"np.{_f}(a, c, out=o)", "aco", **{**_o, "variants": 1}, makes=_makes, casts=_t == "exact"),
            Row(f"np.{_f} where", f"np.{_f}(a, c, out=o, where=m)", "acom", **{**_o, "variants": 1}, makes=_makes),
        ]
BINARY += [
    Row("multiply complex", "np.multiply(a, b)", "ab", COMPLEX, "ulp", mixed=True, contents=TAME),
    Row("divide complex", "np.divide(a, b)", "ab", COMPLEX, "ulp", mixed=True, contents=TAME),
    Row("power complex", "np.power(a, b)", "ab", COMPLEX, "ulp", mixed=True, contents=TAME, warns=False),
    Row("ldexp", "np.ldexp(a, b)", "ab", FLOATS, others="bil", second="integral", variants=4),
    Row("divmod out", "np.divmod(a, c, out=(o, None))", "aco", INTS + FLOATS, makes="np.divmod(a, c)[0]"),
    Row("add dtype", "np.add(a, b, dtype='f8')", "ab", "?bhilBHIfd", mixed=True),
    Row("multiply dtype", "np.multiply(a, b, dtype='i2', casting='unsafe')", "ab", "bhil", mixed=True),
    Row("divide dtype", "np.divide(a, b, dtype='f4')", "ab", "?bBef", mixed=True),
    Row("add order", "np.add(a, b, order='F')", "ab", "fdi", ranks=(1, 3)),
    Row("subtract of bools", "np.subtract(a, b)", "ab", "?"),
    Row("add mixed to complex", "np.add(a, b)", "ab", ALL, others=COMPLEX, variants=4),
    Row("add int64 uint64", "np.add(a, b)", "ab", "lL", others="lL", variants=4),
    Row("less int64 uint64", "np.less(a, b)", "ab", "lL", others="lL", contents=("wide", "special"), variants=4),
    Row("add long long", "a + b", "ab", "qQ", others="lLqQi", variants=4, refuses="dtype"),
    Row("sum long long", "a.sum(), a * 2, a / 2, -a", dtypes="qQ", refuses="dtype"),
]

# ---------------------------------------------------------------------------------------------- operators

_OPS = {
    "+": (ALL, "exact"), "-": (ALL[1:], "exact"), "*": (REAL, "exact"), "/": (REAL, "exact"), "//": (REAL, "exact"),
    "%": (REAL, "exact"), "**": (REAL, "ulp"), "<<": (INTS, "exact"), ">>": (INTS, "exact"), "&": (BOOL + INTS, "exact"),
    "|": (BOOL + INTS, "exact"), "^": (BOOL + INTS, "exact"),
}  # fmt: skip
OPERATORS: list[Row] = []
for _op, (_d, _t) in _OPS.items():
    _o = {"dtypes": _d, "tolerance": _t, "mixed": True, "second": "small" if _op == "**" else "integral" if _op in "<<>>" else ""}
    _i = {**_o, "layouts": WRITEABLE}
    OPERATORS += [
        Row(f"a {_op} b", f"a {_op} b", "ab", **{**_o, "variants": 3}),
        Row(f"a {_op} s", f"a {_op} s", "as", **{**_o, "variants": 3}),
        Row(f"s {_op} a", f"s {_op} a", "as", **_o),
        Row(f"a {_op}= b", f"a {_op}= b; return a", "ab", **_i),
        Row(f"a {_op}= s", f"a {_op}= s; return a", "as", **_i),
        Row(f"a {_op}= window", f"a {_op}= v", "av", **{**_i, "mixed": False, "ranks": (1, 3)}),
        Row(f"scalars {_op}", f"a[0] {_op} b[0]", "ab", **{**_o, "ranks": (1, 1), "empty": False, "spread": False, "variants": 3}),
        Row(f"scalar {_op} number", f"a[0] {_op} p, p {_op} a[0]", "ap", **{**_o, "ranks": (1, 1), "empty": False}),
        Row(f"accumulate {_op}", f"x = a[0]\nfor k in range(3):\n    x = x {_op} b[0]\nreturn x", "ab",
            **{**_o, "ranks": (1, 1), "empty": False, "spread": False, "variants": 1}),
    ]  # fmt: skip
for _op in ("==", "!=", "<", "<=", ">", ">="):
    OPERATORS += [
        Row(f"a {_op} b", f"a {_op} b", "ab", mixed=True, variants=3),
        Row(f"a {_op} s", f"a {_op} s, s {_op} a", "as", mixed=True),
        Row(f"scalars {_op}", f"a[0] {_op} b[0]", "ab", mixed=True, ranks=(1, 1), empty=False, spread=False),
    ]
OPERATORS += (
    rows("-a", "+a", dtypes=ALL[1:], variants=3) + rows("~a", dtypes=BOOL + INTS) + rows("abs(a)", dtypes=REAL, variants=3)
)
OPERATORS += rows("-a[0], +a[0], abs(a[0])", dtypes=INTS + FLOATS, ranks=(1, 1), empty=False)
OPERATORS += rows("~a[0]", "not a[0]", dtypes=BOOL + INTS, ranks=(1, 1), empty=False)
OPERATORS += [
    Row("divmod(a, b)", "divmod(a, b)", "ab", INTS + FLOATS, mixed=True, variants=3),
    Row("divmod scalars", "divmod(a[0], b[0])", "ab", INTS + FLOATS, mixed=True, ranks=(1, 1), empty=False, spread=False),
    *(
        Row(f"a ** {e}", f"a ** {e}", dtypes=INEXACT + INTS * (e != "-1"), tolerance="ulp", contents=SMALL, variants=3)
        for e in ("2", "0.5", "-1", "3", "1", "0", "2.0")
    ),
    *(Row(f"a **= {e}", f"a **= {e}; return a", dtypes=FLOATS, tolerance="ulp", layouts=WRITEABLE) for e in ("2", "0.5", "-1")),
]

# ---------------------------------------------------------------------------------------------- reductions

AXES = {
    "": (0, 3), "axis=0": (1, 3), "axis=-1": (1, 3), "axis=1": (2, 3), "axis=(0, 1)": (2, 3), "keepdims=True": (0, 3),
    "axis=0, keepdims=True": (1, 3), "axis=()": (1, 3), "axis=(-1, 0)": (2, 3),
}  # fmt: skip
_REDUCTIONS = {
    "sum": (ALL, "order"), "prod": (REAL, "order"), "mean": (ALL, "sum"), "var": (ALL, "sum"), "std": (ALL, "sum"),
    "min": (ALL, "exact"), "max": (ALL, "exact"), "any": (ALL, "exact"), "all": (ALL, "exact"), "ptp": (ALL[1:], "exact"),
    "count_nonzero": (ALL, "exact"),
}  # fmt: skip
_AMOUNTS = {"sum": SMALL, "prod": SMALL, "mean": SMALL, "var": SMALL, "std": SMALL}
REDUCTIONS: list[Row] = []
for _f, (_d, _t) in _REDUCTIONS.items():
    for _axis, _ranks in AXES.items():
        if _f == "ptp" and _axis == "axis=()":
            continue
        REDUCTIONS.append(
            Row(f"np.{_f}({_axis})", f"np.{_f}(a{', ' * bool(_axis)}{_axis})", dtypes=_d, tolerance=_t, ranks=_ranks,
                contents=_AMOUNTS.get(_f, ("plain", "special", "wide", "integral")), variants=3)
        )  # fmt: skip
REDUCTIONS += rows(
    "np.prod(a)",
    "np.prod(a, axis=0)",
    "np.prod(a, axis=-1)",
    prefix="complex ",
    dtypes=COMPLEX,
    tolerance="sum",
    contents=SMALL,
    ranks=(1, 3),
)
for _f in ("argmax", "argmin"):
    for _axis, _ranks in AXES.items():
        if "(" not in _axis:
            REDUCTIONS.append(Row(f"np.{_f}({_axis})", f"np.{_f}(a{', ' * bool(_axis)}{_axis})", ranks=_ranks, variants=3))
for _f in ("sum", "prod", "max", "min", "any", "all", "mean", "var", "std", "argmax", "argmin"):
    _t = {"sum": "order", "prod": "order", "mean": "sum", "var": "sum", "std": "sum"}.get(_f, "exact")
    _d = REAL if _f == "prod" else ALL
    REDUCTIONS += [
        Row(f"a.{_f}()", f"a.{_f}()", dtypes=_d, tolerance=_t, contents=SMALL),
        Row(f"a.{_f}(0)", f"a.{_f}(0)", dtypes=_d, tolerance=_t, contents=SMALL, ranks=(1, 3)),
        Row(
            f"{_f} of conditions",
            f"a.{_f}()",
            dtypes=INEXACT,
            contents=("special", "wide"),
            ranks=(1, 2),
            tolerance="sum",
            warns=_t != "sum",
        ),
    ]
REDUCTIONS += [
    *rows("np.sum(a, dtype='f4')", "np.sum(a, dtype='i4')", "np.sum(a, axis=0, dtype='f8')", "np.prod(a, dtype='i8')",
          "np.mean(a, dtype='f4')", "np.mean(a, axis=0, dtype='f8')", "np.var(a, dtype='f8')", "np.std(a, dtype='f4')",
          dtypes=REAL, tolerance="sum", contents=SMALL, ranks=(1, 3)),
    *rows("np.mean(a, dtype='c16')", "np.sum(a, dtype='c8')", dtypes="efdFD", tolerance="sum", contents=SMALL, ranks=(1, 2)),
    *rows("np.var(a, ddof=1)", "np.var(a, axis=0, ddof=1)", "np.std(a, ddof=1)", "np.std(a, axis=-1, ddof=1, keepdims=True)",
          "np.var(a, correction=1)", "np.var(a, axis=0, mean=np.mean(a, axis=0, keepdims=True))",
          dtypes=ALL, tolerance="sum", contents=SMALL, ranks=(1, 3)),
    *rows("np.sum(a, initial=3)", "np.prod(a, axis=0, initial=2)", dtypes=INTS + FLOATS, tolerance="sum", contents=SMALL, ranks=(1, 3)),
    *rows("np.max(a, initial=1)", "np.min(a, axis=0, initial=1)", dtypes=INTS + FLOATS, ranks=(1, 3)),
    *(Row(f"np.{f} out", f"np.{f}(a, axis=0, out=o)", "ao", ALL, t, contents=SMALL, ranks=(1, 3), makes=f"np.{f}(a, axis=0)")
      for f, t in (("sum", "sum"), ("prod", "sum"), ("max", "exact"), ("min", "exact"), ("any", "exact"), ("mean", "sum"), ("var", "sum"),
                   ("std", "sum"), ("argmax", "exact"), ("ptp", "exact"))),
    *(Row(f"np.{f} where", f"np.{f}(a, axis=0, where=m)", "am", ALL, t, contents=SMALL, ranks=(1, 3))
      for f, t in (("sum", "sum"), ("prod", "sum"), ("any", "exact"), ("all", "exact"), ("mean", "sum"), ("var", "sum"), ("std", "sum"))),
    Row("np.max where", "np.max(a, where=m, initial=0)", "am", INTS + FLOATS),
    Row("np.min where", "np.min(a, axis=0, where=m, initial=0)", "am", INTS + FLOATS, ranks=(1, 3)),
    *(Row(f"np.{f}.reduce", f"np.{f}.reduce(a)", dtypes=d, tolerance=t, contents=SMALL, ranks=(1, 3))
      for f, d, t in (("add", ALL, "order"), ("multiply", REAL, "order"), ("maximum", ALL, "exact"), ("minimum", ALL, "exact"),
                      ("logical_or", ALL, "exact"), ("logical_and", ALL, "exact"), ("bitwise_or", BOOL + INTS, "exact"),
                      ("bitwise_and", BOOL + INTS, "exact"), ("bitwise_xor", BOOL + INTS, "exact"))),
    Row("add.reduce None", "np.add.reduce(a, axis=None)", tolerance="order", contents=SMALL),
    Row("two sums", "a.sum(axis=0), (a * 2).sum(axis=0), a.max(axis=0)", dtypes=ALL[1:], tolerance="order", contents=SMALL, ranks=(1, 3)),
    Row("sum, prod, any", "a.sum(), a.prod(), a.any(), np.count_nonzero(a)", dtypes=REAL, tolerance="order", contents=SMALL),
    Row("max, any, argmax", "np.max(a), np.any(a), np.argmax(a)", dtypes=REAL, empty=False),
    Row("sum of produced", "np.sum(np.sqrt(a * a + 1), axis=0)", dtypes="fd", tolerance="order", contents=SMALL, ranks=(1, 3)),
    Row("softmax", "e = np.exp(a - a.max(axis=-1, keepdims=True)); return e / e.sum(axis=-1, keepdims=True)", dtypes="fd",
        tolerance="sum", contents=SMALL, ranks=(1, 3), empty=False),
    Row("normalise", "(a - a.mean(axis=0)) / (a.std(axis=0) + 1)", dtypes="efd", tolerance="sum", contents=SMALL, ranks=(1, 3), empty=False),
    *(Row(f"np.{f}({x})", f"np.{f}(a{', ' * bool(x)}{x})", dtypes=ALL, tolerance="exact" if f in ("nanmax", "nanmin") else "sum",
          contents=("plain", "special" if f in ("nanmax", "nanmin") else "small"), ranks=(1, 3), empty=False)
      for f in ("nansum", "nanprod", "nanmean", "nanvar", "nanstd", "nanmax", "nanmin")
      for x in ("", "axis=0", "axis=-1, keepdims=True")),
    Row("nan reductions of NaN", "np.nansum(a), np.nanmean(a), np.nanmax(a), np.nanprod(a, axis=0)", dtypes=FLOATS, tolerance="sum",
        contents=("special",), ranks=(1, 2), empty=False, warns=False),
    *rows("np.nanvar(a, ddof=1)", "np.average(a)", "np.average(a, axis=0)", dtypes=REAL[1:], tolerance="sum", contents=SMALL, ranks=(1, 3), empty=False),
    *rows("np.linalg.norm(a)", "np.linalg.norm(a, axis=0)", "np.linalg.norm(a, ord=1, axis=-1)", "np.linalg.norm(a, ord=np.inf, axis=0)",
          dtypes=REAL + COMPLEX, tolerance="sum", contents=SMALL, ranks=(1, 3), empty=False),
    *(Row(f"{f}({x})", f"{f}(a{', ' * bool(x)}{x})", dtypes=REAL if "prod" in f else ALL, contents=SMALL, ranks=(1, 3))
      for f in ("np.cumsum", "np.cumprod", "np.nancumsum", "np.nancumprod") for x in ("", "axis=0", "axis=-1")),
    *rows("np.cumprod(a)", "np.cumprod(a, axis=0)", prefix="complex ", dtypes=COMPLEX, tolerance="sum", contents=SMALL, ranks=(1, 2)),
    *rows("a.cumsum(dtype='f4')", "np.cumsum(a, axis=0, dtype='f8')", dtypes=REAL, contents=SMALL, ranks=(1, 2)),
    *rows("np.add.accumulate(a)", "np.maximum.accumulate(a)", "np.multiply.accumulate(a, axis=-1)", "a.cumprod(0)", dtypes=INTS + FLOATS, contents=SMALL, ranks=(1, 3)),
    *rows("np.cumulative_sum(a, axis=0)", "np.cumulative_prod(a, axis=0)", dtypes=INTS + FLOATS, contents=SMALL, ranks=(1, 2)),
    *rows("np.diff(a, axis=0)", "np.diff(a, n=2)", dtypes=ALL, contents=SMALL, ranks=(2, 2)),
    *rows("np.trace(a)", "a.trace(1)", dtypes=ALL, contents=SMALL, ranks=(2, 2), layouts=("C", "F", "strided", "offset")),
]  # fmt: skip

# ---------------------------------------------------------------------------------------------- selection

SELECTION = [
    Row("where", "np.where(m, a, b)", "abm", ALL, mixed=True, variants=4),
    Row("where number", "np.where(m, a, s)", "ams", ALL, mixed=True, variants=3),
    Row("where number first", "np.where(m, s, a)", "ams", ALL, mixed=True),
    *rows("np.where(a, 1, 0)", "np.where(a > 0, a, 0)", "np.where(a != a, 0.5, a)", dtypes=ALL, variants=3),
    *rows(
        "np.clip(a, -1, 2)",
        "a.clip(-0.5, 1.5)",
        "np.clip(a, None, 2)",
        "a.clip(0)",
        "np.clip(a, 1, None)",
        dtypes=REAL,
        variants=3,
    ),
    *rows("a.clip(False, True)", "a.clip(0, 1)", dtypes=BOOL),
    Row("clip arrays", "np.clip(a, b, c)", "abc", REAL, mixed=True, variants=3),
    Row("clip out", "np.clip(a, -1, 1, out=o)", "ao", SIGNED + FLOATS, makes="np.clip(a, -1, 1)"),
    Row("select", "np.select([a > 1, a < 0], [a, c], default=0)", "ac", INTS + FLOATS, ranks=(1, 2)),
    Row("copyto", "np.copyto(a, b)", "ab", REAL, mixed=True, layouts=WRITEABLE),
    Row("copyto where", "np.copyto(a, b, where=m)", "abm", FLOATS, layouts=WRITEABLE),
    *rows("np.nan_to_num(a)", "np.nan_to_num(a, nan=2.0, posinf=9.0)", dtypes=ALL, variants=3),
    *rows("np.round(a)", "a.round()", dtypes=INTS + FLOATS),
    *rows("np.around(a, 2)", "np.round(a, -1)", dtypes=FLOATS, contents=("plain", "integral")),
    *rows("np.real(a)", dtypes=ALL),
    *rows("np.imag(a)", "a.imag", "np.iscomplex(a)", "np.isreal(a)", dtypes=COMPLEX),
    *rows("np.imag(a)", "a.imag", "np.iscomplex(a)", "np.isreal(a)", prefix="real ", dtypes=REAL, refuses="numpy-arguments"),
    *rows("np.angle(a)", dtypes=ALL[1:], tolerance="ulp", contents=TAME),
]

# ---------------------------------------------------------------------------------------------- products

_VECTORS = (((3,), (3,)), ((0,), (0,)), ((1,), (1,)), ((150,), (150,)))
_MATRICES = (((3, 4), (4, 5)), ((1, 4), (4, 1)), ((20, 9), (9, 33)), ((0, 3), (3, 2)), ((2, 0), (0, 3)))
_MORE = (((3, 4), (4,)), ((4,), (4, 3)), ((2, 3, 4), (4, 5)), ((2, 3, 4), (2, 4, 2)), ((1, 3, 4), (5, 4, 2)), ((20, 20), (20,)))
_P = {"operands": "ab", "tolerance": "contraction", "contents": TAME, "dtypes": ALL}
PRODUCTS = [
    *rows("a @ b", "np.matmul(a, b)", shapes=_VECTORS + _MATRICES + _MORE, variants=6, **_P),
    *rows("np.dot(a, b)", "a.dot(b)", shapes=_VECTORS + _MATRICES + _MORE[:3], variants=5, **_P),
    *rows("np.vdot(a, b)", "np.inner(a, b)", shapes=_VECTORS, variants=3, **_P),
    *rows("np.inner(a, b)", prefix="matrices ", shapes=(((3, 4), (5, 4)), ((2, 3, 4), (4,))), variants=2, **_P),
    *rows("np.outer(a, b)", shapes=(*_VECTORS, ((3,), (5,)), ((2, 3), (4,))), variants=3, **_P),
    *rows("a @ b", prefix="mixed ", shapes=_VECTORS + _MATRICES, mixed=True, variants=4, **_P),
    *rows("a @ a.T", "a.T @ a", "(a * 2) @ a.T + 1", shapes=(((3, 4),), ((17, 9),), ((1, 3),)), **{**_P, "operands": "a", "dtypes": ALL[1:]}),
    Row("matmul out", "np.matmul(a, b, out=o)", "abo", FLOATS + COMPLEX, "contraction", contents=TAME,
        shapes=(((3, 4), (4, 5), ()), ((20, 9), (9, 3), ())), makes="a @ b"),
    Row("a @= b", "a @= b; return a", "ab", "fdFD", "contraction", contents=TAME, shapes=(((3, 4), (4, 4)),), layouts=WRITEABLE),
]  # fmt: skip

# ---------------------------------------------------------------------------------------------- creation and conversion

_SHAPED = {"dtypes": ALL, "ranks": (1, 3)}
CREATION = [
    *rows("np.zeros(a.shape)", "np.ones(a.shape, a.dtype)", "np.full(a.shape, 2.5)", "np.zeros_like(a)", "np.ones_like(a)",
          "np.full_like(a, 3)", "np.zeros_like(a, dtype='f4')", "np.ones_like(a, order='F')", "np.full(a.shape[0], 7, dtype='i2')",
          "np.zeros((a.shape[0], 2), order='F')", **_SHAPED),
    *rows("np.zeros_like(a, shape=(2, 3))", dtypes=ALL, ranks=(1, 1)),
    *rows("x = np.empty(a.shape); x.fill(2); return x", "x = np.empty_like(a); x[...] = 1; return x", **_SHAPED),
    *rows("np.arange(n)", "np.arange(n, 7)", "np.arange(n, 9, 2)", "np.arange(9, n, -1)", "np.arange(n, dtype='f4')",
          "np.eye(n)", "np.eye(3, n, k=1)", "np.identity(n)", "np.eye(n, dtype='i4')",
          "np.linspace(0, 1, 5 + n)", "np.linspace(1, n, 4, endpoint=False)", "np.tri(n, 3)", "np.ones(n)", "np.zeros((n, 2), dtype=bool)",
          "np.full((2, n), 1.5)", operands="an", dtypes="d", ranks=(1, 1), variants=2),
    *rows("np.arange(0.0, n)", "np.arange(0, n, 0.5)", operands="an", dtypes="d", ranks=(1, 1), variants=1, refuses="data-dependent-shape"),
    *rows("np.linspace(s, 3, 7)", "np.full(4, s)", operands="as", dtypes="dil", ranks=(1, 1), contents=TAME, tolerance="ulp"),
    *(Row(f"astype {d}", f"a.astype('{d}')", dtypes=REAL, variants=4) for d in "?bhilBHILefd"),
    *(Row(f"astype {d}", f"a.astype('{d}')", variants=3) for d in "FD"),
    *rows("a.astype('f8', copy=False)", "a.astype('f4', order='F')", "a.copy()", "a.copy('F')", "np.copy(a)", "np.array(a)",
          "np.array(a, dtype='c16')", "np.asarray(a)", "np.asarray(a, dtype='f8')", "np.ascontiguousarray(a)", "np.asfortranarray(a)",
          "np.array([a, a])", "np.asanyarray(a)", dtypes=REAL, ranks=(1, 3)),
    *rows("np.array([a[0], 2.0, 1])", "np.array([[a[0], a[0]], [1, 2]])", dtypes=INTS + FLOATS, ranks=(1, 1), empty=False),
    *rows("np.float32(a[0])", "np.int64(a[0])", "np.float64(a[0]) + 1", "np.bool(a[0])", "np.complex128(a[0])", "float(a[0])", "int(a[0])", "bool(a[0])",
          "a[0].item()", "a[0].astype('f4')", dtypes=REAL, ranks=(1, 1), empty=False, contents=TAME),
    *rows("np.tril(a)", "np.triu(a, 1)", dtypes=ALL, ranks=(2, 2)),
    *rows("np.diag(a)", "a.diagonal()", "np.diagonal(a, 1)", dtypes=ALL, ranks=(2, 2), layouts=("C", "F", "strided", "offset")),
    *rows("np.diag(a)", prefix="vector ", dtypes=ALL, ranks=(1, 1)),
    *rows("np.indices((2, 3))", "np.meshgrid(a, a)", dtypes=FLOATS, ranks=(1, 1)),
]  # fmt: skip

# ---------------------------------------------------------------------------------------------- shaping

_ANY = {"dtypes": ALL, "ranks": (1, 3)}
_2D = {"dtypes": ALL, "ranks": (2, 3)}
SHAPING = [
    *rows("a.reshape(-1)", "a.reshape(a.size)", "np.reshape(a, (-1, 1))", "a.reshape(1, -1)", "np.ravel(a)", "a.ravel()", "a.ravel('F')",
          "a.flatten()", "a.flatten('F')", "a.T", "a.transpose()", "np.transpose(a)", "np.expand_dims(a, 0)", "np.expand_dims(a, -1)",
          "np.squeeze(a)", "a.squeeze()", "a[None].squeeze(0)", "np.broadcast_to(a, (2,) + a.shape)", "np.roll(a, 1)", "np.roll(a, -2, axis=0)",
          "np.flip(a)", "np.flip(a, 0)", "np.repeat(a, 2)", "np.repeat(a, 2, axis=0)", "np.append(a, a)",
          "np.atleast_1d(a)", "np.atleast_2d(a)", "np.atleast_3d(a)", "a.reshape(a.shape + (1,))", "a.T.reshape(-1)", "a.reshape(-1, order='F')",
          **_ANY),
    *rows("a.swapaxes(0, 1)", "np.swapaxes(a, 0, -1)", "np.moveaxis(a, 0, -1)", "np.rollaxis(a, 1)", "a.reshape(a.shape[0], -1)",
          "a.transpose(1, 0) if a.ndim == 2 else a.transpose(2, 0, 1)", "np.fliplr(a)", "np.flipud(a)", "np.rot90(a)", "np.roll(a, (1, 2), axis=(0, 1))", "a.mT", "np.matrix_transpose(a)", "a.T + a.T", "np.ravel(a.T)", **_2D),
    *rows("np.concatenate([a, c])", "np.concatenate((a, c), axis=-1)", "np.concatenate([a, c], axis=None)", "np.stack([a, c])",
          "np.stack([a, c], axis=-1)", "np.vstack([a, c])", "np.hstack([a, c])", "np.dstack([a, c])", "np.column_stack([a, c])",
          operands="ac", **_ANY),
    Row("concatenate mixed", "np.concatenate([a, b])", "ab", ALL, mixed=True, ranks=(1, 3), spread=False, variants=4),
    Row("concatenate three", "np.concatenate([a, c, a * 2])", "ac", ALL[1:], ranks=(1, 2), contents=TAME),
    Row("stack rows", "np.stack([a + 1, a * 2, c], axis=1)", "ac", INTS + FLOATS, ranks=(1, 2), contents=TAME),
    *rows("np.broadcast_arrays(a, c)[0]", operands="ac", **_ANY),
    *rows("a.shape, a.ndim, a.size, a.dtype, a.itemsize, a.nbytes", "len(a), np.shape(a), np.size(a), np.ndim(a)", "a.strides", "a.real", **_ANY),
    *rows("a.tolist()", refuses="data-dependent-shape", **_ANY),
    Row("shape arithmetic", "a.reshape(a.shape[0] * a.shape[1], -1) + a.ndim", dtypes=FLOATS, ranks=(2, 3)),
    Row("view then compute", "b = a.T[::-1]; return b + b.T.T", dtypes=FLOATS, ranks=(2, 2)),
    *rows("np.tile(a, 2)", "np.tile(a, (2, 3))", dtypes=ALL, ranks=(1, 3), empty=False),
    Row("fill", "a.fill(3); return a", dtypes=ALL, layouts=WRITEABLE),
]  # fmt: skip

# ---------------------------------------------------------------------------------------------- indexing

INDEXING = [
    *rows("a[::2]", "a[::-1]", "a[1:]", "a[:-1]", "a[-2:]", "a[None]", "a[...]", "a[..., None]", "a[1:3] * 2", "a[::-2]", "a[5:2]", "a[-3:-1]",
          "a[:n]", "a[n:]", "a[n:n + 2]", "a[..., ::-1]", "a[::-1] + a", "a[1:] - a[:-1]", operands="an", **_ANY),
    *rows("a[0]", "a[-1]", "a[i]", "a[i:]", "a[:i]", operands="ai", dtypes=ALL, ranks=(1, 3), empty=False),
    *rows("a[:, 0]", "a[0, ::-1]", "a[:, None]", "a[..., 0]", "a[1:, :-1]", "a[::-1, ::2]", "a[:, ::-1].T", "a[None, :, None]", "a[0][1:]",
          "a[0, 0]", "a[i][0]", "a[..., 1:, 0]", "a[:, 1:] + a[:, :-1]", operands="ai", dtypes=ALL, ranks=(2, 3), empty=False),
    *rows("a[0] = 1; return a", "a[-1] = a[0]", "a[1:] = a[:-1]", "a[:-1] = a[1:]", "a[::2] = 0", "a[...] = 3", "a[:] = a[::-1]", "a[::-1] = a",
          "a[1:-1] = a[2:] + a[:-2]", "a[i] = 2", "a[i:] = a[i]", "a[:i] += 1", "a[::-1] *= 2",
          operands="ai", dtypes=INTS + INEXACT, ranks=(1, 2), empty=False, layouts=WRITEABLE, contents=TAME),
    *rows("a[:, 0] = 1", "a[0, :] = a[-1]", "a[1:, 1:] = a[:-1, :-1]", "a[:, ::-1] = a", "a[0, 0] = 5", "a[..., -1] += 2", "a[:, 1:] -= a[:, :-1]",
          "a[1:-1] = a[2:] + a[:-2]; a[0] = 0; return a.sum()", "a[:, 0], a[:, -1] = a[:, -1], a[:, 0]", "a[i, :] *= 3", "a[:] = a.T if a.shape[0] == a.shape[1] else a",
          operands="ai", dtypes=INTS + INEXACT, ranks=(2, 2), empty=False, layouts=WRITEABLE, contents=TAME, tolerance="sum"),
    *rows("a[...] = c", "a[::-1] = c", "a[1:] = c[:-1]", "a[:] += c", "a[::2] = c[::2] * 2", operands="ac", dtypes=ALL[1:], ranks=(1, 2), layouts=WRITEABLE),
    Row("store casts", "a[...] = b", "ab", REAL, mixed=True, layouts=WRITEABLE, variants=4),
    Row("store number", "a[...] = s", "as", REAL, mixed=True, layouts=WRITEABLE, variants=4),
    *rows("a[a > 0] = 0; return a", "a[a < 1] = 2", dtypes=INTS + FLOATS, layouts=WRITEABLE, ranks=(1, 3)),
    *rows("a[m] += 1", "a[m] *= s", "a[~m] -= a[~m] * 2", "a[a > 1] = np.sqrt(a[a > 1])", "a[m] = -a[m]; return a[m]", "a[m] /= s",
          operands="ams", dtypes=FLOATS, layouts=WRITEABLE, ranks=(1, 2), tolerance="ulp", spread=False),
    *rows("a[m] += 1", "a[a < 2] *= 2", "a[m] = abs(a[m])", prefix="integers ", operands="am", dtypes=INTS, layouts=WRITEABLE, ranks=(1, 2), spread=False),
    *rows("a[m] = 1", "a[m] = s", "a[~m] = 0; return a.sum()", operands="ams", dtypes=INTS + FLOATS, layouts=WRITEABLE, ranks=(1, 1), contents=TAME, tolerance="sum", spread=False),
    *rows("x = a[1:]; x[:] = 7; return a, x", "x = a.T; x *= 2; return a", "x = a.ravel(); x[0] = 9; return x", "x = a.copy(); x[0] = 1; return a, x",
          "x = a[::-1]; a += x; return x", dtypes=INTS + FLOATS, layouts=WRITEABLE, ranks=(1, 2), empty=False, contents=TAME),
    *rows("s = 0.0\nfor k in range(len(a)):\n    s += a[k]\nreturn s", "for k in range(1, len(a)):\n    a[k] = a[k - 1] * 0.5 + a[k]\nreturn a",
          "for k in range(len(a) - 1):\n    a[k] = a[k + 1]", "x = np.zeros(len(a))\nfor k in range(len(a)):\n    x[k] = a[-k - 1] + k\nreturn x",
          "for k in range(3):\n    a[1:-1] = (a[2:] + a[:-2]) * 0.5", dtypes=FLOATS, layouts=WRITEABLE, ranks=(1, 1), contents=TAME),
]  # fmt: skip

CHAINS = [
    Row("polynomial", "((a * 2 + 1) * a - 3) * c + a / 2", "ac", "efdil", contents=TAME, variants=3),
    Row("distance", "np.sqrt((a - c) ** 2 + a ** 2)", "ac", "efd", contents=TAME, variants=3),
    Row("mixed chain", "(a > 0) & (b < 1) | np.isnan(a + b)", "ab", INTS + FLOATS, mixed=True, variants=3),
    Row(
        "blocks",
        "np.where(a > c, a, -c).sum(axis=0) + a.min(axis=0)",
        "ac",
        "fd",
        "order",
        contents=TAME,
        ranks=(1, 2),
        empty=False,
        variants=3,
    ),
    Row(
        "gaussian",
        "np.exp(-0.5 * ((a - 1) / 2) ** 2) / (2 * np.sqrt(2 * np.pi))",
        dtypes="d",
        tolerance="ulp",
        contents=TAME,
        variants=3,
    ),
    Row("conditions of a chain", "np.log(a) / (c - a) + np.sqrt(c)", "ac", "fd", "ulp", contents=("special",), variants=4),
    Row("conditions and casts", "(a * 1e300).astype('f4'), (a / 0).astype('i4')", dtypes="d", contents=("special", "plain")),
]


def _unique(every: list[Row]) -> tuple[Row, ...]:
    """Rows with a number behind a name that others have, too."""
    seen: dict[str, int] = {}
    out = []
    for r in every:
        seen[r.name] = seen.get(r.name, 0) + 1
        out.append(r if seen[r.name] == 1 else replace(r, name=f"{r.name} #{seen[r.name]}"))
    return tuple(out)


ROWS = _unique([*UNARY, *BINARY, *OPERATORS, *REDUCTIONS, *SELECTION, *PRODUCTS, *CREATION, *SHAPING, *INDEXING, *CHAINS])
