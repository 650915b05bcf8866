"""`matproof doctor` tries what a site offers and says what to change."""

import os
import socket
from pathlib import Path

import pytest
from campaign_project import Project, write_project

from matproof.commands.doctor import filesystem, providers, sandboxes, slurm
from matproof.commands.doctor.findings import Finding, found_by
from matproof.core.errors import InfrastructureError

MODELS = """providers: {{here: {{api: openai, base_url: "http://127.0.0.1:{port}", key_file: {key}}}}}
models: {{m: {{provider: here}}}}
"""


@pytest.fixture
def asked(tmp_path: Path) -> Project:
    """A campaign with a setting that asks a provider on a loopback port."""
    project = write_project(tmp_path / "project")
    (project.root / "config/settings/scripted.yaml").write_text("agent: orchestrated\nmodel: m\n")
    return project


def provide(project: Project, port: int, mode: int = 0o600) -> dict[str, str]:
    key = project.root / "key"
    key.write_text("a-placeholder-key")
    key.chmod(mode)
    (project.root / "config/models.yaml").write_text(MODELS.format(port=port, key=key))
    config: dict[str, object] = {"config_dir": "config", "settings": ["scripted"], "judges": ["checks"]}
    return {finding.subject: finding.verdict for finding in providers.providers(config, project.root)}


def test_a_provider_with_a_key_that_takes_connections_is_fine(asked: Project) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert provide(asked, server.getsockname()[1]) == {"key of here": "ok", "way to here": "ok"}


def test_a_closed_way_out_and_an_open_key_are_bad(asked: Project) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    assert provide(asked, port, 0o644) == {"key of here": "bad", "way to here": "bad"}


def test_the_key_is_never_shown(asked: Project) -> None:
    provide(asked, 9)
    told = asked.run("matproof", "doctor")
    assert "a-placeholder-key" not in told.stdout + told.stderr
    assert told.returncode == 1


def test_the_file_system_is_tried_and_left_clean(tmp_path: Path) -> None:
    found = {finding.subject: finding.verdict for finding in filesystem.results(tmp_path / "results")}
    assert found["rename over a file"] == found["hard links"] == "ok"
    assert list((tmp_path / "results").iterdir()) == []


def test_results_that_can_not_be_written_are_a_finding(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("a file")
    (finding,) = found_by(lambda: filesystem.results(tmp_path / "results"), "results")
    assert finding.verdict == "bad"


def test_an_error_of_a_check_is_a_finding_and_stops_no_other() -> None:
    def broken() -> object:
        raise InfrastructureError("gone")

    (finding,) = found_by(broken, "x")  # type: ignore[arg-type]
    assert finding == Finding("x", "bad", "gone")


@pytest.mark.parametrize(
    "text", ["default-resources:\n  slurm_partition: gpu\n", "default-resources: [slurm_partition=gpu]\n"]
)
def test_a_profile_is_read_in_both_of_its_forms(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.yaml").write_text(text)
    assert slurm.profile_resources(tmp_path) == {"slurm_partition": "gpu"}


def test_everything_here_is_tried_in_one_command(finished_project: Project, tmp_path: Path) -> None:
    project = finished_project.copy(tmp_path / "project")
    (project.root / "config/models.yaml").write_text(MODELS.format(port=9, key="none"))
    told = project.run("matproof", "doctor")
    assert "bubblewrap: " in told.stdout
    assert "model providers: none is asked" in told.stdout
    assert told.returncode == (1 if "\nbad" in told.stdout else 0)


def doctored(project: Project, **further: object) -> dict[str, Finding]:
    config = {"tasks": "tasks", "config_dir": "config", "claims": "all", "settings": ["scripted"], "judges": ["checks"]}
    found = found_by(lambda: sandboxes.sandboxes({**config, **further}, project.root), "sandbox")
    return {finding.subject: finding for finding in found}


def test_the_sandbox_that_a_campaign_uses_is_entered(tmp_path: Path) -> None:
    found = doctored(write_project(tmp_path / "project"))
    assert found["bubblewrap"].verdict == "ok"
    assert "entered as" in found["bubblewrap"].found


def test_the_engine_of_the_site_is_tried_in_place_of_the_default(
    tmp_path: Path, apptainer: Path, image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{apptainer}:{os.environ['PATH']}")
    project = write_project(tmp_path / "project")
    (project.root / "config/sandbox.yaml").write_text(f"engine: apptainer\nimage: {image}\n")
    found = doctored(project)
    assert "bubblewrap" not in found
    assert found[f"apptainer with {image.name}"].verdict == "ok", found
    assert "image sha256:" in found[f"apptainer with {image.name}"].found


def test_an_image_that_is_missing_or_another_one_is_bad(
    tmp_path: Path, apptainer: Path, image: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{apptainer}:{os.environ['PATH']}")
    project = write_project(tmp_path / "project")
    site = project.root / "config/sandbox.yaml"
    site.write_text("engine: apptainer\nimage: containers/gone.sif\n")
    assert doctored(project)["apptainer with gone.sif"].verdict == "bad"
    site.write_text(f"engine: apptainer\nimage: {image}\ndigests: {{{image.name}: 'sha256:{'0' * 64}'}}\n")
    assert doctored(project)[f"apptainer with {image.name}"].verdict == "bad"
