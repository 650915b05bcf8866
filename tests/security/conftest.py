"""The guests under whom each attack is tried."""

import importlib.util
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from sandbox_guest import HERE, NOBODY, ORDINARY, Guest, ordinary_python

LIBRARIES = (
    "matproof",
    "pydantic",
    "pydantic_core",
    "annotated_types",
    "typing_inspection",
    "typing_extensions",
    "yaml",
)


AS_ROOT_IN_APPTAINER = {
    "test_a_fork_bomb_is_contained",
    "test_a_key_of_the_session_is_not_readable",
    "test_daemons_end_with_the_timeout",
    "test_everything_ends_when_our_own_process_is_killed",
    "test_inner_state_of_the_kernel_is_not_readable",
    "test_neither_system_nor_python_can_be_written",
    "test_no_file_system_can_be_mounted_or_unmounted",
    "test_only_harmless_devices_exist",
    "test_private_places_are_limited",
    "test_settings_of_the_kernel_can_not_be_written",
    "test_the_gateway_answers_from_the_first_moment",
    "test_the_payload_can_not_be_changed",
    "test_there_are_no_capabilities_and_no_new_privileges",
}
"""Where root is more than another user; root tries all attacks in bubblewrap, and another user all in both."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what shows nothing new: a container takes ten times as long to start."""
    if os.geteuid() != 0:
        return
    out = [item for item in items if "self in apptainer" in item.name and _plain_name(item) not in AS_ROOT_IN_APPTAINER]
    config.hook.pytest_deselected(items=out)
    items[:] = [item for item in items if item not in out]


def _plain_name(item: pytest.Item) -> str:
    return item.name.partition("[")[0]


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


@pytest.fixture(params=["self", "ordinary", "self in apptainer", "ordinary in apptainer"])
def guest(request: pytest.FixtureRequest) -> Iterator[Guest]:
    """Whoever runs the tests; and, where that is root, an ordinary user too; each with both engines."""
    folder = Path(tempfile.mkdtemp(prefix="matproof guest é "))
    folder.chmod(0o755)
    own, contained = request.param.startswith("self"), "apptainer" in request.param
    places = {name: request.getfixturevalue(name) for name in ("apptainer", "image")} if contained else {}
    if own:
        made = Guest(request.param, os.geteuid(), folder, sys.executable, **places)
    else:
        if os.geteuid() != 0:
            pytest.skip("the tests already run as an ordinary user")
        python = ordinary_python()
        uid = NOBODY if contained else ORDINARY
        made = Guest(request.param, uid, folder, python, request.getfixturevalue("library"), **places)
        made.own()
    yield made
    shutil.rmtree(folder)
