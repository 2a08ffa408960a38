"""Runs functions under jit beside plain Python, call after call, and compares what they return and what they leave behind."""

import collections
import contextlib
import copy
import enum
import io
import types
import warnings

import numpy as np

import npcompile


def form(value, seen=None):
    """A comparable form of any value: types, contents, and which objects are the same."""
    seen = {} if seen is None else seen
    if isinstance(value, (int, str, bytes, type(None), enum.Enum, range, type)):
        return (type(value).__name__, value if not isinstance(value, type) else value.__name__)
    if isinstance(value, (float, complex, np.generic)):
        return (type(value).__name__, form_of_bits(np.asarray(value)))
    if id(value) in seen:
        return ("seen", seen[id(value)][0])
    seen[id(value)] = (len(seen), value)
    if isinstance(value, np.ndarray):
        return ("array", value.dtype.str, value.shape, form_of_bits(value), value.flags.writeable)
    if isinstance(value, dict):
        return (type(value).__name__, [(form(k, seen), form(v, seen)) for k, v in value.items()])
    if isinstance(value, (set, frozenset)):
        return (type(value).__name__, sorted((form(v, seen) for v in value), key=repr))
    if isinstance(value, collections.deque):
        return ("deque", value.maxlen, [form(v, seen) for v in value])
    if isinstance(value, (list, tuple)):
        return (type(value).__name__, [form(v, seen) for v in value])
    if isinstance(value, slice):
        return ("slice", [form(v, seen) for v in (value.start, value.stop, value.step)])
    if isinstance(value, BaseException):
        return (type(value).__name__, str(value))
    if isinstance(value, types.FunctionType):
        return ("function", value.__qualname__, value.__code__)
    if isinstance(value, types.MethodType):
        return ("method", value.__func__.__qualname__, form(value.__self__, seen))
    slots = {k: getattr(value, k) for c in type(value).__mro__ for k in getattr(c, "__slots__", ()) if hasattr(value, k)}
    return (type(value).__name__, form({**slots, **getattr(value, "__dict__", {})}, seen))


def form_of_bits(a):
    if a.dtype.kind in "fc":
        a = np.where(np.isnan(a), np.array(np.nan, a.dtype), a)
    return a.tobytes()


def outcome(fn, args, kwargs):
    """What a call gives: (form of result or exception and of the arguments, printed text, warnings)."""
    text = io.StringIO()
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(text):
        warnings.simplefilter("always")
        try:
            result = fn(*args, **kwargs)
        except Exception as e:
            result = e
    return form([result, args, kwargs]), text.getvalue(), [(str(w.message), w.lineno) for w in caught]


def agree(make, *calls, breaks=0, between=None, compiles=None, ordered=True):
    """Compare jit with plain Python.

    make : gives a new function (so that state of its own starts anew); calls : functions that give the arguments of one call, or
    tuples of arguments. Each is called twice, so that compiled code runs. between : called with the function and the number of
    the call before each. breaks : graph breaks of the first call; None: do not look. compiles : how often all calls may compile.
    """
    calls = [call if callable(call) else (lambda call=call: copy.deepcopy(call)) for call in calls for _ in range(2)]
    plain, under = make(), make()
    jitted = npcompile.jit(under, options={"compile": "first"})
    for n, call in enumerate(calls):
        if between is not None:
            between(plain, n)
        args = call()
        want = outcome(plain, args, {})
        if between is not None:
            between(under, n)
        args = call()
        got = outcome(jitted, args, {})
        assert want[:2] == got[:2], (n, want[:2], got[:2])
        assert (want[2] if ordered else sorted(want[2])) == (got[2] if ordered else sorted(got[2])), (n, want[2], got[2])
    if compiles is not None:
        assert jitted.stats.compiles <= compiles, jitted.stats.compiles
    if breaks is not None:
        fresh = make()
        if between is not None:
            between(fresh, 0)
        report = quiet(lambda: npcompile.explain(fresh, *calls[0]()))
        assert len(report.segments) >= 1, report.declined
        assert len(report.graph_breaks) == breaks, [(b.id, b.detail, b.line) for b in report.graph_breaks]
    return jitted


def quiet(call):
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        return call()


def stays(jitted):
    """No call of a function has left compiled code but by returning."""
    assert jitted.stats.plain_calls == 0, jitted.stats
    for entry in jitted.entries:
        left = [
            (spec.reason, spec.detail, spec.line) for spec, n in zip(entry.info.exits, entry.exits) if n and spec.kind != "return"
        ]
        assert not left, left
