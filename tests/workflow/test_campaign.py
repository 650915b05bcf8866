"""A campaign under the real Snakemake: what is done, what is done again, and what is left alone."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from campaign_project import REPOSITORY, Project, write_project

A, B = "A-1_sum", "B-2_sum"
SHARED = ["all", "gather", "report"]


def record(project: Project, claim: str, name: str = "run.json") -> dict[str, object]:
    data = json.loads((project.root / "results/runs" / claim / "scripted/1" / name).read_text())
    assert isinstance(data, dict)
    return data


def test_every_station_leaves_its_files(finished_project: Project) -> None:
    assert record(finished_project, A)["outcome"] == "completed"
    assert record(finished_project, A)["scripted"] is True
    assert record(finished_project, A, "evaluations/checks.json")["success"] is True
    assert record(finished_project, B, "evaluations/checks.json")["success"] is True
    assert record(finished_project, B)["self_reproduced"] is False
    assert "scripted" in (finished_project.root / "results/tables/leaderboard.md").read_text()
    assert (finished_project.root / "results/report/index.html").is_file()


def test_nothing_is_done_twice(finished_project: Project) -> None:
    assert finished_project.planned() == []


def test_removing_one_claims_runs_redoes_that_claim_only(project: Project) -> None:
    import shutil

    shutil.rmtree(project.root / "results/runs" / A)
    assert project.planned() == sorted([*SHARED, f"evaluate {A}", f"reproduce {A}"])


def test_removing_only_a_run_record_redoes_that_run(project: Project) -> None:
    (project.root / "results/runs" / A / "scripted/1/run.json").unlink()
    assert f"reproduce {A}" in project.planned()
    assert f"reproduce {B}" not in project.planned()


def test_editing_a_paper_redoes_that_claim_only(project: Project, edit: Callable[[str, str], None]) -> None:
    edit(f"tasks/{A}/agent_view/paper.md", "\nThe sum is of integers.\n")
    jobs = project.planned()
    assert f"parse {A}" in jobs
    assert f"reproduce {A}" in jobs
    assert not [job for job in jobs if B in job]


def test_editing_the_expectation_judges_again_without_a_new_run(
    project: Project, edit: Callable[[str, str], None]
) -> None:
    edit(f"tasks/{A}/reference/expected.yaml", "orderings: []\n")
    assert project.planned() == sorted([*SHARED, f"evaluate {A}", f"package {A}"])


def test_a_new_setting_runs_that_setting_only(project: Project) -> None:
    settings = project.root / "config/settings"
    (settings / "second.yaml").write_text((settings / "scripted.yaml").read_text())
    config = project.root / "config/config.yaml"
    config.write_text(config.read_text().replace("settings: [scripted]", "settings: [scripted, second]"))
    dry = project.snakemake("--dry-run")
    assert "runs/A-1_sum/second/1/run.json" in dry.stdout + dry.stderr
    assert "output: results/runs/A-1_sum/scripted/1/run.json" not in dry.stdout + dry.stderr


def test_the_leaderboard_is_refreshed_without_touching_runs(project: Project) -> None:
    before = record(project, A)
    (project.root / "results/tables/leaderboard.md").unlink()
    finished = project.snakemake("leaderboard")
    assert finished.ok, finished.stderr
    assert (project.root / "results/tables/leaderboard.md").is_file()
    assert record(project, A) == before


def test_a_rerun_adds_an_attempt_to_one_claim_and_keeps_the_first(project: Project) -> None:
    finished = project.run("matproof", "rerun", "A-1", "--profile", "local")
    assert not finished.ok  # no such profile here: Snakemake says so, nothing was touched
    assert record(project, A)["attempt"] == 1
    finished = project.snakemake("--forcerun", f"results/runs/{A}/scripted/1/run.json", "--", "all")
    assert finished.ok, finished.stderr
    assert record(project, A)["attempt"] == 2
    assert record(project, B)["attempt"] == 1
    assert (project.root / f"results/runs/{A}/scripted/1/attempts/001/run.json").is_file()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("repeats: none\n", "repeats"),
        ("seting: x\n", "seting"),
        ("judges: []\n", "judges"),
    ],
)
def test_a_wrong_configuration_is_refused_by_name(tmp_path: Path, wrong: str, words: str) -> None:
    project = write_project(tmp_path / "project")
    name = wrong.split(":")[0]
    config = project.root / "config/config.yaml"
    kept = [line for line in config.read_text().splitlines() if not line.startswith(f"{name}:")]
    config.write_text("\n".join([*kept, wrong]))
    finished = project.snakemake("--dry-run")
    assert not finished.ok
    assert words in finished.stderr + finished.stdout
    assert "Traceback" not in finished.stderr


def test_a_provider_that_fails_is_infrastructure_tried_again_and_no_result(tmp_path: Path) -> None:
    project = write_project(tmp_path / "project")
    (project.root / "key").write_text("placeholder")
    (project.root / "key").chmod(0o600)
    (project.root / "config/models.yaml").write_text(
        "providers: {lost: {api: anthropic, base_url: 'http://127.0.0.1:9', key_file: "
        f"'{project.root}/key'}}}}\nmodels: {{lost-model: {{provider: lost}}}}\n"
    )
    (project.root / "config/settings/scripted.yaml").write_text("agent: orchestrated\nmodel: lost-model\n")
    finished = project.snakemake("--", f"results/runs/{A}/scripted/1/run.json")
    assert not finished.ok
    run = project.root / f"results/runs/{A}/scripted/1"
    assert not (run / "run.json").exists()
    attempts = sorted(path.name for path in (run / "attempts").iterdir())
    assert attempts == ["001", "002"]
    told = json.loads((run / "attempts/002/run.json").read_text())
    assert told["outcome"] == "infrastructure"
    assert "provider" in told["reason"]


def test_rules_hold_no_logic() -> None:
    for rules in (REPOSITORY / "workflow/rules").glob("*.smk"):
        text = rules.read_text()
        for word in ("pandas", "glob(", "\n    run:", "lambda", "\n    script:", "retries:"):
            assert word not in text, f"{rules.name}: {word}"
