"""A campaign under the real Snakemake: what is done, what is done again, and what is left alone."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from campaign_project import REPOSITORY, Project, write_project

from matproof.core.processes import Finished
from matproof.tables.store import read_rows

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


def test_tables_and_report_are_refreshed_without_touching_runs(project: Project) -> None:
    before = record(project, A)
    for made in ("tables/leaderboard.md", "report/index.html"):
        (project.root / "results" / made).unlink()
    finished = project.snakemake("leaderboard")
    assert finished.ok, finished.stderr
    assert (project.root / "results/tables/leaderboard.md").is_file()
    assert (project.root / "results/report/index.html").is_file()
    assert record(project, A) == before
    assert project.planned() == []


def rerun(project: Project, claim: str, *options: str) -> Finished:
    snakefile, profile = str(REPOSITORY / "Snakefile"), str(REPOSITORY / "profiles/local")
    return project.run("matproof", "rerun", claim, "--snakefile", snakefile, "--profile", profile, *options)


def test_a_rerun_adds_an_attempt_to_one_claim_and_leaves_what_others_miss(project: Project) -> None:
    shutil.rmtree(project.root / "results/runs" / B)
    finished = rerun(project, "A-1")
    assert finished.returncode == 0, finished.stderr
    assert record(project, A)["attempt"] == 2
    assert record(project, A, "evaluations/checks.json")["attempt"] == 2
    assert (project.root / f"results/runs/{A}/scripted/1/attempts/001/run.json").is_file()
    assert not (project.root / "results/runs" / B).exists()
    tables = project.root / "results/tables"
    assert [(row["claim"], row["attempt"]) for row in read_rows(tables.parent, "runs")] == [(A, 2)]
    report = project.root / "results/report/index.html"
    assert report.stat().st_mtime_ns >= (tables / "leaderboard.md").stat().st_mtime_ns
    assert project.planned() == sorted([*SHARED, f"evaluate {B}", f"reproduce {B}"])


def test_a_rerun_that_can_not_start_or_is_only_shown_touches_nothing(project: Project) -> None:
    assert rerun(project, "A-1", "--profile", "nowhere").returncode != 0
    shown = rerun(project, "A-1", "--dry-run")
    assert shown.returncode == 0
    assert f"runs/{A}/scripted/1/run.json" in shown.stdout + shown.stderr
    assert record(project, A)["attempt"] == 1
    unknown = rerun(project, "C-3")
    assert (unknown.returncode, "no run of this campaign" in unknown.stderr) == (2, True)


def lose_the_provider(project: Project, setting: str, claims: str) -> None:
    """Give `setting` a model whose provider can't be reached."""
    (project.root / "key").write_text("placeholder")
    (project.root / "key").chmod(0o600)
    (project.root / "config/models.yaml").write_text(
        "providers: {lost: {api: anthropic, base_url: 'http://127.0.0.1:9', key_file: "
        f"'{project.root}/key'}}}}\nmodels: {{lost-model: {{provider: lost}}}}\n"
    )
    (project.root / f"config/settings/{setting}.yaml").write_text(
        f"agent: orchestrated\nmodel: lost-model\nclaims: [{claims}]\n"
    )


def test_a_lost_rerun_leaves_the_newest_complete_attempt_in_the_tables(project: Project) -> None:
    lose_the_provider(project, "scripted", A)
    finished = rerun(project, "A-1")
    assert finished.returncode != 0
    (row,) = [row for row in read_rows(project.root / "results", "runs") if row["claim"] == A]
    assert (row["attempt"], row["outcome"], row["complete"]) == (1, "completed", True)
    assert (row["attempts"], row["lost_attempts"]) == (3, 2)
    judged = [row for row in read_rows(project.root / "results", "evaluations") if row["claim"] == A]
    assert [(row["attempt"], row["success"]) for row in judged] == [(1, True)]
    page = (project.root / f"results/report/runs/{A}/scripted/1.html").read_text()
    assert "attempt 1 of 3, 2 lost to infrastructure" in page


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


def test_a_lost_run_is_named_and_the_others_reach_leaderboard_and_report(tmp_path: Path) -> None:
    project = write_project(tmp_path / "project")
    lose_the_provider(project, "lost", A)
    with (project.root / "config/settings/scripted.yaml").open("a") as setting:
        setting.write(f"claims: [{B}]\n")
    config = project.root / "config/config.yaml"
    config.write_text(config.read_text().replace("[scripted]", "[scripted, lost]"))
    for part in ("Snakefile", "workflow", "profiles", "envs", "docs/schemas", "scripts/demo.sh"):
        copy = shutil.copytree if (REPOSITORY / part).is_dir() else shutil.copy
        (project.root / part).parent.mkdir(exist_ok=True)
        copy(REPOSITORY / part, project.root / part)
    finished = project.run("scripts/demo.sh")
    assert finished.returncode == 1
    assert f"no run:       results/runs/{A}/lost/1/run.json" in finished.stderr
    assert "runs/B-2_sum" not in finished.stderr
    assert "2 claims · 1 run · 1 lost to infrastructure · 2 lost attempts" in finished.stdout
    assert f"report: {project.root}/results/report/index.html" in finished.stdout
    assert A in (project.root / "results/report/index.html").read_text()
    run = project.root / f"results/runs/{A}/lost/1"
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


def test_runs_are_deleted_only_where_that_is_confirmed(tmp_path: Path) -> None:
    project, results = Project(tmp_path), tmp_path / "results"
    results.mkdir()
    makefile = str(REPOSITORY / "Makefile")
    refused = project.run("make", "-f", makefile, "clean")
    assert not refused.ok
    assert "make clean CONFIRM=yes" in refused.stdout
    assert results.is_dir()
    assert project.run("make", "-f", makefile, "clean", "CONFIRM=yes").ok
    assert not results.exists()
