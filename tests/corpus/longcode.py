"""Functions too long for one-byte arguments and jumps: EXTENDED_ARG everywhere, jumps over more than 255 units."""

from . import Cases

cases = Cases()


def _make(source, name, **space):
    exec(compile(source, __file__, "exec"), space)
    return space[name]


_many = "\n".join(f"        v{k} = v{k - 1} + {k}.5 if flag else v{k - 1}" for k in range(1, 280))
long_loop = _make(
    f"""
def long_loop(n, flag, v0=0.0):
    out = []
    for i in range(n):
        try:
{_many.replace("        v", "            v")}
        except TypeError:
            return "wrong"
        out.append(v279 + i)
        if flag and i:
            break
    else:
        return "all", out
    return v1, v278, out
""",
    "long_loop",
)

_names = ", ".join(f"n{k}" for k in range(270))
many_keywords = _make(
    f"""
def callee(**k):
    return len(k), k["k269"]

def many_keywords(x):
    {_names} = range(270)
    box = type("Box", (), {{}})()
    box.n1 = x
    return callee({", ".join(f"k{k}=n{k}" for k in range(270))}), n269, x.__class__.__name__, box.n1, [n268 for n268 in (n267,)]
""",
    "many_keywords",
)
for _function, _makers in (
    (long_loop, (lambda: (1, False), lambda: (0, True))),
    (many_keywords, (lambda: (1,),)),
):
    cases(*_makers)(_function)
