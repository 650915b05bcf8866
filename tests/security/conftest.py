"""The guests under whom each attack is tried."""

import importlib.util
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from sandbox_guest import HERE, ORDINARY, Guest, ordinary_python

LIBRARIES = (
    "matproof",
    "pydantic",
    "pydantic_core",
    "annotated_types",
    "typing_inspection",
    "typing_extensions",
    "yaml",
)


@pytest.fixture(scope="session")
def library() -> Iterator[Path]:
    """The package and what it imports, where every user can read them, whatever directory the project is in."""
    folder = Path(tempfile.mkdtemp(prefix="matproof-library-"))
    for name in LIBRARIES:
        found = importlib.util.find_spec(name)
        assert found is not None and found.origin is not None
        origin = Path(found.origin)
        if origin.name == "__init__.py":
            shutil.copytree(origin.parent, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(origin, folder)
    shutil.copy(HERE / "sandbox_driver.py", folder)
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    for path in folder.rglob("*.so"):
        path.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(params=["self", "ordinary"])
def guest(request: pytest.FixtureRequest) -> Iterator[Guest]:
    """Whoever runs the tests; and, where that is root, an ordinary user too."""
    folder = Path(tempfile.mkdtemp(prefix="matproof guest é "))
    folder.chmod(0o755)
    if request.param == "self":
        made = Guest("self", os.geteuid(), folder, sys.executable)
    else:
        if os.geteuid() != 0:
            pytest.skip("the tests already run as an ordinary user")
        python = ordinary_python()
        made = Guest("ordinary", ORDINARY, folder, python, request.getfixturevalue("library"))
        made.own()
    yield made
    shutil.rmtree(folder)
