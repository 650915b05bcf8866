"""Fixtures that several rooms of the tests share."""

import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Started in the background of a shell: what tests interrupt would inherit deaf ears.
    signal.signal(signal.SIGINT, signal.default_int_handler)
signal.pthread_sigmask(signal.SIG_UNBLOCK, signal.valid_signals())
sys.path.insert(0, str(Path(__file__).parent / "workflow"))

from campaign_project import REPOSITORY, Project, write_project
from single_run import Bench

from matproof.core.files import write_text
from matproof.core.processes import run

BY_RESPONSES = {
    "kind": "agent",
    "backend": "responses",
    "answers": {"model": "gpt-5.4-2026-03-05", "script": "demo/scripts/judge.yaml", "limits": {"requests": 20}},
}


@pytest.fixture(scope="session")
def finished_project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A small campaign run through all stations, once for all tests; copy it before changing anything."""
    project = write_project(tmp_path_factory.mktemp("campaign") / "project")
    finished = project.snakemake()
    assert finished.ok, finished.stdout + finished.stderr
    return project


@pytest.fixture(scope="session")
def apptainer() -> Path:
    """Directory of the program: the machine's own, or one that is unpacked aside; skips where there is none."""
    found = shutil.which("apptainer")
    if found is not None:
        return Path(found).parent
    unpacked = run([str(REPOSITORY / "scripts/unpack-apptainer.sh")], timeout_s=300)
    if unpacked.returncode == 3:
        pytest.skip(unpacked.stderr.strip())
    assert unpacked.ok, unpacked.stderr
    return Path(unpacked.stdout.strip(), "usr/bin")


@pytest.fixture(scope="session")
def image() -> Iterator[Path]:
    """An image in a directory, of this machine's own programs."""
    folder = Path(tempfile.mkdtemp(prefix="matproof-image-"))
    folder.chmod(0o755)
    made = run([sys.executable, str(REPOSITORY / "containers/local_root.py"), str(folder / "small")], timeout_s=120)
    assert made.ok, made.stderr
    yield folder / "small"
    shutil.rmtree(folder)


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


@pytest.fixture(scope="session")
def ran_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with one run, and a judge for each back end; copy it before changing anything."""
    bench = Bench(write_project(tmp_path_factory.mktemp("ran") / "bench"))
    write_text(bench.root / "config/judges/by-responses.yaml", yaml.safe_dump(BY_RESPONSES))
    bench.run()
    return bench.root


@pytest.fixture
def ran(ran_once: Path, tmp_path: Path) -> Bench:
    """A copy of the project with one run."""
    return Bench(Project(Path(shutil.copytree(ran_once, tmp_path / "bench", symlinks=True))))
