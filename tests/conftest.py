"""Fixtures that several rooms of the tests share."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "workflow"))

from campaign_project import Project, write_project
from single_run import Bench


@pytest.fixture(scope="session")
def finished_project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A small campaign run through all stations, once for all tests; copy it before changing anything."""
    project = write_project(tmp_path_factory.mktemp("campaign") / "project")
    finished = project.snakemake()
    assert finished.ok, finished.stdout + finished.stderr
    return project


@pytest.fixture
def project(finished_project: Project, tmp_path: Path) -> Project:
    """A copy of the finished campaign."""
    return finished_project.copy(tmp_path / "project")


@pytest.fixture
def edit(project: Project) -> Callable[[str, str], None]:
    """Append to a file of the project."""

    def append(file: str, text: str) -> None:
        path = project.root / file
        path.write_text(path.read_text() + text)

    return append


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A project in which single runs are made, without Snakemake."""
    return Bench(write_project(tmp_path / "bench"))
