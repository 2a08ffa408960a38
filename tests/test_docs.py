"""Generated documents are as the registries say, and the registry of reasons is complete and without ids that nothing gives."""

import os
import pathlib
import re
import subprocess
import sys

import npcompile.lowering

import npcompile
from npcompile.tracer import reasons

ROOT = pathlib.Path(__file__).parent.parent


def sources():
    """The text of every module but the registry's own."""
    for package in (npcompile, npcompile.lowering):
        for folder, _, names in os.walk(pathlib.Path(package.__file__).parent, followlinks=True):
            for name in names:
                if name.endswith(".py") and name != "reasons.py":
                    yield pathlib.Path(folder, name).read_text()


def test_generated_documents_are_up_to_date():
    run = subprocess.run([sys.executable, "-P", ROOT / "docs" / "generate.py", "--check"], text=True, capture_output=True)
    assert run.returncode == 0, run.stdout + run.stderr


def test_every_reason_is_given_somewhere():
    text = "\n".join(sources())
    unused = [id for id in reasons.REASONS if not re.search(rf'["\']{id}["\']', text)]
    assert unused == []


def test_every_reason_says_what_it_means_and_what_to_do():
    for id, reason in reasons.REASONS.items():
        assert re.fullmatch(r"[a-z-]+", id) and reason.explanation.endswith(".") and reason.hint, id
        assert "|" not in reason.explanation + reason.hint, id


def test_documents_name_files_that_exist():
    for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text()):
            assert (path.parent / target).exists(), (path.name, target)
