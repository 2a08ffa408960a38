"""Defects of npcompile raise in its own tests, compiled code is used at the first call also under coverage or a debugger,
and all tests of a run share one cache of compiled units, private to the run."""

import os
import tempfile

from hypothesis import settings

# A busy machine is no failure. A run is repeatable, so that a change is judged by what it changes; NPCOMPILE_TEST_FRESH=1
# searches with other examples each time.
settings.register_profile("npcompile", deadline=None, derandomize=os.environ.get("NPCOMPILE_TEST_FRESH") != "1")
settings.load_profile("npcompile")

_cache = os.environ.get("NPCOMPILE_TEST_CACHE")
if not _cache:
    _cache = os.environ["NPCOMPILE_TEST_CACHE"] = tempfile.mkdtemp(prefix="npcompile-tests-")
    os.environ["NPCOMPILE_TEST_CACHE_OWNER"] = str(os.getpid())
os.environ.update(NPCOMPILE_STRICT="1", NPCOMPILE_COMPILE="first", NPCOMPILE_TRACE_DEBUG="1", NPCOMPILE_CACHE_DIR=_cache)


def pytest_unconfigure(config):
    """The process that made the cache removes it."""
    if os.environ.get("NPCOMPILE_TEST_CACHE_OWNER") == str(os.getpid()):
        import shutil

        shutil.rmtree(_cache, ignore_errors=True)
