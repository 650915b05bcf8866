"""A wrong configuration is one clear line at planning; a wrong claim stops no other."""

from pathlib import Path

import pytest
import yaml
from campaign_project import Project, write_project


def configure(project: Project, **fields: object) -> None:
    file = project.root / "config/config.yaml"
    file.write_text(yaml.safe_dump(yaml.safe_load(file.read_text()) | fields))


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"repeats": "many"}, "configuration: repeats: 'many' is not of type 'integer'"),
        ({"seting": ["x"]}, "'seting' was unexpected"),
        ({"judges": ["cheks"]}, "configuration: judges: 'cheks' has no file config/judges/cheks.yaml"),
        ({"settings": ["nope"]}, "configuration: settings: 'nope' has no file"),
        ({"tasks": "nowhere"}, "configuration: tasks: there is no directory 'nowhere'"),
        ({"claims": ["A-1"]}, "claims: there is no 'A-1'; give the directory name 'A-1_sum'"),
        ({"claims": ["Z-9"]}, "claims: there is no 'Z-9'; see the directories in 'tasks'"),
        ({"claims": []}, "configuration: claims: there is none to run"),
    ],
)
def test_what_is_wrong_is_said_before_anything_runs(
    finished_project: Project, tmp_path: Path, fields: dict[str, object], line: str
) -> None:
    project = finished_project.copy(tmp_path / "project")
    configure(project, **fields)
    finished = project.snakemake("--dry-run")
    assert not finished.ok
    assert line in finished.stdout + finished.stderr
    assert "Traceback" not in finished.stderr


def test_what_is_left_out_of_the_configuration_has_its_default(tmp_path: Path) -> None:
    project = write_project(tmp_path / "project")
    (project.root / "config/config.yaml").write_text("settings: [scripted]\njudges: [checks]\n")
    assert "reproduce A-1_sum" in project.planned()


def test_a_broken_claim_fails_by_name_and_stops_no_other(tmp_path: Path) -> None:
    project = write_project(tmp_path / "project")
    (project.root / "tasks/B-2_sum/meta/claim.yaml").write_text("title: [oops\n")
    finished = project.snakemake()
    assert not finished.ok
    said = finished.stdout + finished.stderr
    assert "B-2_sum/meta/claim.yaml: line" in said, said
    assert (project.root / "results/runs/A-1_sum/scripted/1/evaluations/checks.json").is_file()
    assert not (project.root / "results/runs/B-2_sum").exists()
