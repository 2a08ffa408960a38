"""The package imports under its one name, its extension speaks the ABI of the kernels' header, and importing loads little."""

import pathlib
import subprocess
import sys
import tomllib

import npcompile.kernels
import npcompile.lowering

import npcompile
from npcompile.runtime import _dispatch


def test_abi_version_matches_the_header():
    header = (pathlib.Path(npcompile.kernels.__file__).parent / "cpp" / "abi.h").read_text()
    assert f"#define NPC_ABI_VERSION {_dispatch.ABI_VERSION}\n" in header
    assert npcompile.lowering.__name__ == "npcompile.lowering"


def test_every_package_of_the_checkout_is_installed():
    root = pathlib.Path(__file__).parent.parent
    listed = set(tomllib.loads((root / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"])
    found = {
        ".".join((*prefix, *path.parent.relative_to(root).parts))
        for folder, prefix in (("npcompile", ()), ("lowering", ("npcompile",)), ("kernels", ("npcompile",)))
        for path in (root / folder).rglob("__init__.py")
    }
    assert listed == found


SCRIPT = """
import sys
import numpy as np

before = set(sys.modules)
import npcompile

@npcompile.jit
def f(x):
    return x * 2 + 1

print(" ".join(sorted(set(sys.modules) - before)))
f(np.ones(3))
print(" ".join(sorted(set(sys.modules) - before)))
f(np.ones(3))
assert f.stats.hits == 1
print(" ".join(sorted(set(sys.modules) - before)))
"""


def test_the_compiler_is_imported_when_something_is_compiled(tmp_path):
    """Decorating and a first call that runs plain load the face of the package only, and a unit from the disk no compiler's
    driver; SciPy and `numpy.random` are for functions that need them."""
    env = {"NPCOMPILE_CACHE_DIR": str(tmp_path), "PATH": "/usr/bin:/bin:/usr/local/bin"}
    for filled in (False, True):
        run = subprocess.run([sys.executable, "-P", "-c", SCRIPT], env=env, text=True, capture_output=True, check=True)
        decorated, plain, compiled = (set(line.split()) for line in run.stdout.splitlines())
        for names in (decorated, plain):
            inside = {n for n in names if n.startswith("npcompile.")}
            assert inside <= {f"npcompile.{n}" for n in FACE}, inside
            assert not names & HEAVY
        assert "npcompile.tracer" in compiled and not compiled & {"scipy", "logging", "numpy.random"}
        assert not filled or not compiled & HEAVY


FACE = ("api", "config", "errors", "explain", "logs", "policy", "records", "runtime", "runtime._dispatch", "state", "stats")
HEAVY = {"scipy", "subprocess", "tempfile", "shutil", "pathlib", "logging", "html", "urllib"}
