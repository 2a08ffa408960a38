"""What users see: logs, `.stats`, reports of `explain`, errors of `fullgraph`, the command line, settings that mean nothing."""

import inspect
import logging
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

import npcompile
from npcompile.__main__ import main
from npcompile.testing import difference

A, B = np.arange(6.0), np.linspace(1, 2, 6)


def hypot(x, y):
    return np.sqrt(x * x + y * y)


def noisy(x):
    y = x * 2
    print("half", file=None)
    return y + 1


def logged(caplog, topic, fn, *calls):
    jitted = npcompile.jit(fn)
    with caplog.at_level("INFO", logger=f"npcompile.{topic}"):
        logging.getLogger(f"npcompile.{topic}").propagate = True
        for args in calls:
            jitted(*args)
    return [r.getMessage() for r in caplog.records if r.name == f"npcompile.{topic}"]


# ---------------------------------------------------------------------------------------------- logs


def test_the_ir_is_logged(caplog):
    (text,) = logged(caplog, "ir", hypot, (A, B))
    assert text.startswith("hypot:\n") and "ir.sqrt(" in text


def test_guards_are_logged_in_the_users_words(caplog):
    (text,) = logged(caplog, "guards", hypot, (A, B))
    assert text.startswith("hypot:\n")
    assert "argument `x`: float64 array, 1 axis, C-contiguous" in text and "x.shape[0] == y.shape[0]" in text


def test_kernels_are_logged_without_what_every_unit_begins_with(caplog):
    (text,) = logged(caplog, "kernels", hypot, (A, B))
    assert text.startswith("hypot:\n// k0: ") and "npc_mul(" in text and "typedef" not in text


def test_breaks_are_logged(caplog):
    (text,) = logged(caplog, "graph_breaks", noisy, (A,))
    assert text.startswith("noisy: [side-effect-call]") and text.endswith(f":{inspect.getsourcelines(noisy)[1] + 2}")


def test_recompiles_are_logged(caplog):
    (text,) = logged(caplog, "recompiles", hypot, (A, B), (A.astype("f4"), B))
    assert text == "hypot: argument `x`: dtype float32, compiled for float64"


@pytest.mark.parametrize("topic", [*npcompile.logs.TOPICS, "all"])
def test_every_topic_of_the_environment_prints(tmp_path, topic):
    script = tmp_path / "script.py"
    script.write_text(
        "import numpy as np, npcompile\n"
        "@npcompile.jit\n"
        "def f(x):\n    y = x + 1\n    print('.', file=None)\n    return y * 2\n"
        "f(np.ones(3)), f(np.ones(3, 'f4'))\n"
    )
    run = process(tmp_path, script, NPCOMPILE_LOGS=topic)
    for t in npcompile.logs.TOPICS if topic == "all" else [topic]:
        assert f"[npcompile.{t}] f" in run.stderr, run.stderr


def process(tmp_path, *args, **env):
    """A process with these variables on top of ours; its standard error is checked by the caller."""
    env = {**os.environ, "NPCOMPILE_COMPILE": "first", **env}
    return subprocess.run([sys.executable, "-P", *map(str, args)], env=env, text=True, capture_output=True, check=True)


# ---------------------------------------------------------------------------------------------- stats


class Model:
    def __init__(self, w):
        self.w = w


LIMIT = 3


def of_all_kinds(x, n, model, flag, rows):
    y = x * model.w + n
    if flag == "twice":
        y = y * 2
    return y[:LIMIT] + rows[0]


def call(**changes):
    args = {"x": np.arange(8.0), "n": 2, "model": Model(3.0), "flag": "once", "rows": [1.0, 2.0]} | changes
    return tuple(args.values())


@pytest.mark.parametrize(
    "changed, said",
    [
        ({"x": np.arange(8)}, "argument `x`: dtype int64, compiled for float64"),
        ({"x": np.ones((8, 8))}, "argument `x`: 2 axes, compiled for 1"),
        ({"x": np.arange(16.0)[::2]}, "argument `x`: strided, compiled for C-contiguous"),
        ({"x": np.arange(1.0)}, "argument `x`: length 1 along axis 0, compiled for no axis"),
        ({"x": 1.5}, "argument `x`: float, compiled for float64 array, 1 axis, C-contiguous"),
        ({"n": 2.5}, "argument `n`: float, compiled for int from -2147483648 to 2147483648"),
        ({"n": np.float32(2)}, "argument `n`: np.float32, compiled for int from -2147483648 to 2147483648"),
        ({"model": Model(3)}, "`model.w`: int, compiled for float"),
        ({"flag": "twice"}, "argument `flag`: 'twice', compiled for 'once'"),
        ({"rows": (1.0,)}, "argument `rows`: tuple, compiled for `list`"),
        ({"rows": [1, 2]}, "`rows[0]`: int, compiled for float"),
        ({"x": np.arange(2.0)}, "compiled for x.shape[0] >= LIMIT, here they are 2 and 3"),
    ],
)
def test_recompiles_say_what_was_not_as_compiled_for(changed, said):
    f = npcompile.jit(of_all_kinds)
    f(*call())
    assert f.stats.recompiles == []
    try:
        want = of_all_kinds(*call(**changed))
    except TypeError:  # a number has no slices
        with pytest.raises(TypeError):
            f(*call(**changed))
    else:
        assert difference(want, f(*call(**changed))) is None
    (text,) = f.stats.recompiles
    assert text == f"of_all_kinds: {said}"


def test_overlap_is_named():
    def f(x, y):
        x[1:] = y[:-1] * 2
        return x

    g = npcompile.jit(f)
    g(A.copy(), B)
    a = A.copy()
    g(a, a)
    (text,) = g.stats.recompiles
    assert text.endswith("compiled for arrays that do not overlap in memory")


def test_first_compiles_are_no_recompiles():
    f = npcompile.jit(noisy)  # a segment from the start, one after the break
    for _ in range(3):
        f(A)
    assert f.stats.compiles == 2 and f.stats.recompiles == []
    f(A.astype("f4"))
    assert [text.partition(":")[0] for text in f.stats.recompiles] == [
        "noisy",
        f"noisy from line {inspect.getsourcelines(noisy)[1] + 3}",
    ]
    assert f.stats.recompiles[1].endswith("variable `y`: dtype float32, compiled for float64")


def test_explain_is_not_counted():
    f = npcompile.jit(hypot)
    npcompile.explain(f, A, B)
    assert (f.stats.compiles, f.stats.hits, f.stats.misses, f.stats.plain_calls) == (0, 0, 0, 0)
    f(A, B)
    npcompile.explain(f, A, B)
    assert (f.stats.compiles, f.stats.hits) == (1, 1)


# ---------------------------------------------------------------------------------------------- explain


def test_a_report_says_why_there_are_two_segments():
    def over_a_list(xs):
        out = 0.0
        for x in xs:
            out = out + (x * 2).sum()
        return out

    report = npcompile.explain(over_a_list, [A] * 100)
    (left,) = [e for e in report.exits if e.id == "loop-turn"]
    assert left.count >= 99 and left.line == inspect.getsourcelines(over_a_list)[1] + 2
    assert "[loop-turn]" in str(report)


def test_exits_of_this_call_are_counted():
    def f(x, n):
        for k in range(n):
            x = x * 2
            if k == 2:
                print("here", file=None)
        return x

    report = npcompile.explain(f, A, 5)
    assert [(e.id, e.count) for e in report.exits] == [("side-effect-call", 1)]
    assert npcompile.explain(f, A, 2).exits == []


def test_a_report_of_a_large_function_is_short():
    body = "\n".join(f"    x = x @ x + {k}\n    x = np.sort(x) / x.max()\n    print(end='', file=None)" for k in range(15))
    space = {"np": np}
    exec(f"def large(x):\n{body}\n    return x", space)
    report = npcompile.explain(space["large"], np.ones((3, 3)))
    assert len(report.graph_breaks) == 15 and len(report.segments) == 15
    text = str(report)
    assert "... and 9 more in .graph_breaks" in text and "more in .guards" in text
    assert len(text.splitlines()) < 200 and max(map(len, text.splitlines())) < 160


def test_kernels_and_breaks_are_in_the_users_words():
    report = npcompile.explain(lambda x, k: (x * 2)[k], A, 9, run=False)
    assert "index k is out of range for length x.shape[0]" in report.graph_breaks[0].detail
    assert "over x.shape[0]" in str(report)


def test_why_nothing_is_compiled():
    assert "disable=True" in npcompile.explain(npcompile.jit(hypot, disable=True), A, B).declined
    report = npcompile.explain(npcompile.jit(lambda x: (yield x)), A)
    assert "generators" in report.declined and next(report.result) is A
    assert npcompile.explain(abs, -3).result == 3


def test_a_disabled_process_does_not_compile_to_explain(tmp_path):
    script = (
        "import numpy as np, npcompile\n"
        "r = npcompile.explain(lambda x: x + 1, np.ones(3))\n"
        "print(r.declined, r.result, r.segments)"
    )
    out = process(tmp_path, "-c", script, NPCOMPILE_DISABLE="1").stdout
    assert out == "npcompile is disabled (NPCOMPILE_DISABLE is set) [2. 2. 2.] []\n"


# ---------------------------------------------------------------------------------------------- errors of fullgraph


def test_errors_of_fullgraph_have_a_column_and_can_be_sent_to_other_processes():
    with pytest.raises(npcompile.UnsupportedError) as info:
        npcompile.jit(noisy, fullgraph=True)(A)
    e = pickle.loads(pickle.dumps(info.value))
    assert (e.id, e.file, e.line, e.column) == ("side-effect-call", __file__, inspect.getsourcelines(noisy)[1] + 2, 5)
    assert f"{__file__}:{e.line}:5" in str(e) and e.hint in str(e) and str(e) == str(info.value)


def test_what_numpy_refuses_is_called_so():
    with pytest.raises(npcompile.UnsupportedError) as info:
        npcompile.jit(lambda x: x.astype("i8", casting="safe"), fullgraph=True)(A)
    assert info.value.id == "invalid-arguments"


def test_defects_are_errors_under_fullgraph(monkeypatch):
    from npcompile import compiler

    def broken(*args, **kwargs):
        raise ZeroDivisionError("by design")

    monkeypatch.setattr(compiler, "PROCESS", npcompile.records.replace(compiler.PROCESS, strict=False))
    monkeypatch.setattr(compiler.passes, "run", broken)
    with pytest.raises(npcompile.UnsupportedError, match="by design") as info:
        npcompile.jit(hypot, fullgraph=True)(A, B)
    assert info.value.id == "internal-error"
    f = npcompile.jit(hypot)
    assert difference(hypot(A, B), f(A, B)) is None and f.stats.plain_calls == 1


# ---------------------------------------------------------------------------------------------- the command line


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "somewhere.py").write_text("def f(x):\n    return x + 1\n\n\nnumber = 3\n")
    (tmp_path / "failing.py").write_text("raise ValueError('not today')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    for name in ("somewhere", "failing"):
        monkeypatch.delitem(sys.modules, name, raising=False)


@pytest.mark.parametrize(
    "args, status, said",
    [
        (["explain", "somewhere:nope"], 2, "module 'somewhere' has no 'nope'"),
        (["explain", "somewhere:number"], 2, "not callable"),
        (["explain", "somewhere"], 2, "not of the form module:function"),
        (["explain", "nowhere:f"], 2, "ModuleNotFoundError"),
        (["explain", "failing:f"], 2, "ValueError: not today"),
        (["explain", "somewhere:f", "np.one(3)"], 2, "argument 'np.one(3)': AttributeError"),
        (["explain", "somewhere:f", "1 +"], 2, "argument '1 +': SyntaxError"),
        (["explain", "somewhere:f"], 1, "missing 1 required positional argument"),
        (["run", "nowhere.py"], 2, "there is no file 'nowhere.py'"),
        (["run", "--logs", "ir,nope", "somewhere.py"], 2, "there is no topic 'nope'"),
    ],
)
def test_wrong_commands_give_one_line(module, capsys, args, status, said):
    assert main(args) == status
    out = capsys.readouterr()
    assert out.out == "" and said in out.err and out.err.count("\n") == 1 and out.err.startswith(f"npcompile {args[0]}: ")


def test_commands(module, capsys):
    assert main(["explain", "somewhere:f", "np.ones(3)", "--ir", "--source"]) == 0
    out = capsys.readouterr().out
    assert "f: 1 segment, 1 kernel, 0 graph breaks" in out and "ir.add(" in out and "npc_add(" in out
    assert main(["cache"]) == 0 and "entries" in capsys.readouterr().out
    assert main(["doctor"]) == 0 and "probe: compiled and right" in capsys.readouterr().out


# ---------------------------------------------------------------------------------------------- settings

SCRIPT = """
import numpy as np, npcompile
f = npcompile.jit(lambda x: x + 1, options={"compile": "first"})
for _ in range(3):
    assert f(np.ones(3))[0] == 2
g = npcompile.jit(lambda x: x + 2)
g(np.ones(3)), g(np.ones(3))
"""


@pytest.mark.parametrize(
    "name, value, said",
    [
        ("NPCOMPILE_COMPILE", "always", "NPCOMPILE_COMPILE is 'always', which is none of first, hot: 'hot' is used"),
        ("NPCOMPILE_LOGS", "guards,nope", "NPCOMPILE_LOGS: there is no topic 'nope'"),
        ("OMP_NUM_THREADS", "many", "OMP_NUM_THREADS is 'many', which is no positive number"),
        ("OMP_NUM_THREADS", "0", "OMP_NUM_THREADS is '0', which is no positive number"),
        ("NPCOMPILE_CXX", "nope -O3", "NPCOMPILE_CXX is 'nope -O3', which is no command that can be run"),
        ("NPCOMPILE_CXX", "g++ '", 'NPCOMPILE_CXX is "g++ \'", which is no command that can be run'),
        ("NPCOMPILE_CXX", "/bin/false", "NPCOMPILE_CXX is '/bin/false', which does not work as a compiler"),
        ("NPCOMPILE_CACHE_DIR", "/dev/null", "NPCOMPILE_CACHE_DIR is not used: /dev/null: it is not a directory"),
        ("NPCOMPILE_CACHE_DIR", "/proc/nowhere", "NPCOMPILE_CACHE_DIR is not used: /proc/nowhere"),
    ],
)
def test_settings_that_mean_nothing_are_reported_once(tmp_path, name, value, said):
    for flags in ([], ["-W", "error"]):
        run = process(tmp_path, *flags, "-c", SCRIPT, **{name: value})
        assert run.stderr.count("NpcompileWarning") == 1 and said in run.stderr, run.stderr


def test_a_cache_that_others_may_write_to_is_not_used(tmp_path):
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    run = process(tmp_path, "-c", SCRIPT, NPCOMPILE_CACHE_DIR=str(tmp_path / "open"))
    assert run.stderr.count("NpcompileWarning") == 1 and "others may write to it" in run.stderr


def test_settings_that_are_right_are_not_reported(tmp_path):
    assert process(tmp_path, "-W", "error", "-c", SCRIPT, OMP_NUM_THREADS="2,1", NPCOMPILE_COMPILE="hot").stderr == ""
