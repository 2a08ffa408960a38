"""Traces functions and compares the replayed segment with plain Python: results, mutation, exceptions, every exit forced."""

import copy
import inspect
import itertools
import sys
import warnings

import numpy as np

from npcompile.ir.verifier import verify
from npcompile.testing import difference
from npcompile.tracer import replay, trace


def bound(fn, args, kwargs=None):
    """Bound parameters in `co_varnames` order."""
    b = inspect.signature(fn).bind(*args, **(kwargs or {}))
    b.apply_defaults()
    code = fn.__code__
    n = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
    return tuple(b.arguments[k] for k in code.co_varnames[:n])


def outcome(call):
    """(value or exception, line in which it was raised)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return call(), None
        except Exception as e:
            tb = e.__traceback__
            lines = []
            while tb is not None:
                if (
                    tb.tb_frame.f_code.co_filename == __file__
                    or "npcompile" in tb.tb_frame.f_code.co_filename.split("/tests/")[0]
                ):
                    tb = tb.tb_next
                    continue
                lines.append((tb.tb_frame.f_code.co_name, tb.tb_lineno))
                tb = tb.tb_next
            return e, lines


def same(a, b):
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        flags = a.flags.writeable == b.flags.writeable
        steps = all(n <= 1 or s == t for n, s, t in zip(a.shape, a.strides, b.strides))
        return a.dtype == b.dtype and a.shape == b.shape and (steps or not a.size) and flags and bits(a) == bits(b)
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(map(same, a.values(), b.values()))
    if isinstance(a, BaseException):
        return str(a) == str(b)
    if isinstance(a, (float, complex, np.generic)):
        return bits(np.asarray(a)) == bits(np.asarray(b))
    if isinstance(a, slice):
        return same((a.start, a.stop, a.step), (b.start, b.stop, b.step))
    if callable(a) and hasattr(a, "__code__"):
        return a.__code__ is b.__code__
    return a == b


def bits(a):
    """Contents with all NaNs alike."""
    a = np.asarray(a)
    if a.dtype.kind in "fc":
        a = np.where(np.isnan(a), np.array(np.nan, a.dtype), a)
    return a.tobytes()


def check(fn, *args, breaks=(), exits=True, traced_with=None, kwargs=None, args_out=True, most=400, tolerance=""):
    """Trace `fn` and compare with plain Python.

    breaks : reason ids expected, in order. exits : also take every exit met, in turn.
    traced_with : other arguments to trace with. most : how many exits to force, evenly chosen from those met.
    tolerance : a class of `npcompile.testing.TOLERANCES`, where results need not have the same bits.
    """
    result = trace(fn, bound(fn, copy.deepcopy(traced_with if traced_with is not None else args), kwargs))
    verify(result.graph, result.spec)
    assert tuple(b.reason for b in result.breaks) == tuple(breaks), result.breaks

    def alike(a, b):
        return same(a, b) or bool(tolerance and difference(a, b, tolerance, scale=10.0) is None)

    def make():
        return bound(fn, *copy.deepcopy((args, kwargs)))

    plain_args = make()
    want = outcome(lambda: call_plain(fn, plain_args))
    ways = [lambda a: replay.run(result, fn, a)]
    if exits:
        met = []
        replay_outcome = outcome(lambda: replay.run(result, fn, make(), lambda e: bool(met.append(e))))
        assert not isinstance(replay_outcome[0], replay.GuardFailed), replay_outcome
        for n in sorted({k * len(met) // most for k in range(most)} if len(met) > most else range(len(met))):
            ways.append(lambda a, n=n: replay.run(result, fn, a, taking(n)))
    for k, way in enumerate(ways):
        own = make()
        got = outcome(lambda: way(own))  # noqa: B023
        assert alike(want[0], got[0]), (k, want, got)
        assert want[1] == got[1] or _line_varies(want[0]), (k, want, got)
        if args_out:
            assert alike(list(plain_args), list(own)), (k, plain_args, own)
    return result


def _line_varies(error):
    """CPython 3.11, once it has specialised code, may give the line of the store before for a variable that is not bound: a store
    and the load after it are then one instruction."""
    return isinstance(error, UnboundLocalError) and sys.version_info < (3, 12)


def taking(n):
    """Take the n-th exit that is met."""
    count = itertools.count()
    return lambda exit: next(count) == n


def call_plain(fn, params):
    """Call with bound parameters."""
    code = fn.__code__
    names = code.co_varnames
    n, k = code.co_argcount, code.co_kwonlyargcount
    args = list(params[:n])
    kwargs = dict(zip(names[n : n + k], params[n : n + k]))
    rest = list(params[n + k :])
    if code.co_flags & 4:
        args += rest.pop(0)
    if code.co_flags & 8:
        kwargs |= rest.pop(0)
    return fn(*args, **kwargs)


def prims(result):
    """Names of all prims of a trace."""
    return [node.prim for node in result.graph.body.walk()]
