"""`snakemake m2m` on the bundled sample under the real Snakemake: its tables and page, and what is done again."""

import json
import re
import shutil
from pathlib import Path

import pytest
from campaign_project import REPOSITORY, Project, write_project

from matproof.core.files import write_text
from matproof.tables.m2m import read_m2m

SAMPLE = "suites/matter_to_mechanism"
BLOCK = (REPOSITORY / "config/config.yaml").read_text(encoding="utf-8").partition("\nm2m:\n")[2]
STYLES = ("jargon", "mirror", "verbose")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The suite's campaign as shipped, run once; copy it before changing anything."""
    project = write_project(tmp_path_factory.mktemp("m2m") / "project")
    shutil.copytree(REPOSITORY / SAMPLE, project.root / SAMPLE)
    config = project.root / "config/config.yaml"
    write_text(config, f"{config.read_text(encoding='utf-8')}m2m:\n{BLOCK}")
    ended = project.snakemake("m2m")
    assert ended.ok, ended.stdout + ended.stderr
    return project


@pytest.fixture
def copied(finished: Project, tmp_path: Path) -> Project:
    """A copy of it."""
    return finished.copy(tmp_path / "project")


def jobs(project: Project, *arguments: str) -> set[str]:
    """What would run for the target m2m: rule names, with the system or profile of those that have one."""
    ended = project.snakemake("--dry-run", "m2m", *arguments)
    assert ended.ok, ended.stdout + ended.stderr
    told = re.findall(r"^(?:local)?rule (\w+):\n((?: +.*\n)*)", ended.stdout + ended.stderr, re.MULTILINE)
    found = ((rule, re.search(r"wildcards: \w+=(\S+)", body)) for rule, body in told)
    return {f"{rule} {one[1]}" if one else rule for rule, one in found}


def replace(project: Project, file: str, old: str, new: str) -> None:
    """Change one place of a file."""
    path = project.root / file
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    write_text(path, text.replace(old, new))


def log(project: Project, name: str) -> str:
    return (project.root / "results/logs/m2m" / f"{name}.log").read_text(encoding="utf-8")


def test_the_reference_leads_and_the_weak_system_trails(finished: Project) -> None:
    board = read_m2m(finished.root / "results/tables/m2m_leaderboard.parquet", "m2m_leaderboard")
    assert [row["system"] for row in board] == ["Reference", "scripted-direct", "scripted-weak"]
    assert [row["rank"] for row in board] == [1, 2, 3]
    assert [row["rows"] for row in board] == [60, 59, 58]
    assert [row["scripted"] for row in board] == [False, True, True]
    assert board[0]["cbs_low"] > board[1]["cbs_high"] > board[2]["cbs_high"]


def test_replies_that_can_t_be_read_are_counted_and_named(finished: Project) -> None:
    assert "1 without a hypothesis" in log(finished, "generate-scripted-direct")
    assert "2 without a hypothesis" in log(finished, "generate-scripted-weak")
    record = finished.root / "results/m2m/systems/scripted-weak.parquet.generation.json"
    unusable = json.loads(record.read_text(encoding="utf-8"))["unusable"]
    assert {one["paper_id"] for one in unusable} == {"goodenough1976-nasicon", "monroe2005-shear"}


@pytest.mark.parametrize("style", STYLES)
def test_a_programmed_attack_raises_alignment_but_not_the_composite(finished: Project, style: str) -> None:
    gains = read_m2m(finished.root / "results/tables/m2m_attacks.parquet", "m2m_attacks")
    delta = {row["metric"]: row for row in gains if row["style"] == style}
    assert delta["hpa"]["low"] > 0
    assert delta["cbs"]["high"] < 0
    assert delta["cbs"]["pairs"] == 60


def test_judges_see_both_orders_and_what_they_leave_open_is_counted(finished: Project) -> None:
    rates = read_m2m(finished.root / "results/tables/m2m_judgements.parquet", "m2m_judgements")
    of = {(row["what"], row["judge"]): row for row in rates}
    assert of["unscored", "scripted-longer"]["value"] == 0
    assert 0 < of["unscored", "scripted-counting"]["value"] < 0.2
    assert of["order_flip_rate", "scripted-longer"]["value"] == 0
    assert all(row["scripted"] for row in rates)
    lines = (finished.root / "results/m2m/judgements.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 2 * 2 * 3 * 15


def test_the_page_shows_every_system_and_says_which_are_scripted(finished: Project) -> None:
    page = (finished.root / "results/report/m2m.html").read_text(encoding="utf-8")
    for word in ("Reference", "scripted-direct", "scripted-weak", *STYLES, "scripted"):
        assert word in page


def test_tables_of_every_analysis_are_there(finished: Project) -> None:
    made = {path.name for path in (finished.root / "results/tables").glob("m2m_*.parquet")}
    wanted = {"leaderboard", "taxonomy", "validation", "ablation", "attacks", "judgements"}
    assert {f"m2m_{name}.parquet" for name in wanted} <= made


def test_a_second_start_has_nothing_to_do(finished: Project) -> None:
    assert jobs(finished) == set()


def test_the_main_campaign_runs_none_of_it(finished: Project) -> None:
    assert not [job for job in finished.planned() if job.startswith("m2m")]


def test_editing_a_script_asks_that_system_alone(copied: Project) -> None:
    replace(copied, f"{SAMPLE}/scripts/scripted-weak.yaml", "There are many possible ways", "There are several ways")
    planned = jobs(copied)
    assert "m2m_generate scripted-weak" in planned
    assert "m2m_score published" in planned
    assert not planned & {"m2m_generate scripted-direct", "m2m_attack"}


def test_changing_a_system_s_options_asks_that_system_alone(copied: Project) -> None:
    replace(copied, "config/config.yaml", "{kind: direct,", "{kind: direct, temperature: 0.5,")
    assert {job for job in jobs(copied) if "generate" in job} == {"m2m_generate scripted-direct"}


def test_another_judge_asks_no_system(copied: Project) -> None:
    replace(copied, "config/config.yaml", "    pairs: 15 ", "    pairs: 3 ")
    assert jobs(copied) == {"m2m", "m2m_judge", "m2m_report"}


def test_a_new_profile_scores_under_that_profile_only(copied: Project) -> None:
    shipped = REPOSITORY / "src/matproof/suites/matter_to_mechanism/profiles/word.yaml"
    shutil.copy(shipped, copied.root / "mine.yaml")
    replace(copied, "config/config.yaml", "[published, word]", "[published, word, mine.yaml]")
    assert {job for job in jobs(copied) if "score" in job} == {"m2m_score mine"}


def test_editing_a_problem_asks_about_that_problem_alone(copied: Project) -> None:
    replace(copied, f"{SAMPLE}/problems.csv", "No cheap and safe iron cathode works", "No cheap iron cathode works")
    planned = jobs(copied)
    assert {"m2m_generate scripted-direct", "m2m_generate scripted-weak", "m2m_score published"} <= planned
    ended = copied.snakemake("results/m2m/systems/scripted-direct.parquet")
    assert ended.ok, ended.stdout + ended.stderr
    assert "1 requests, 59 from the record" in log(copied, "generate-scripted-direct")


def test_a_field_that_is_none_is_one_clear_line(copied: Project) -> None:
    replace(copied, "config/config.yaml", "{kind: direct,", "{kind: direct, temperture: 0,")
    ended = copied.snakemake("m2m", "--dry-run")
    assert not ended.ok
    assert "configuration: m2m.systems.scripted-direct" in ended.stderr
    assert "'temperture' was unexpected" in ended.stderr


def test_a_failure_of_the_suite_says_nothing_of_the_main_campaign(copied: Project) -> None:
    write_text(copied.root / SAMPLE / "scripts/scripted-weak.yaml", "version: 1\nsessions: {}\n")
    ended = copied.snakemake("m2m")
    assert not ended.ok
    assert "sessions" in log(copied, "generate-scripted-weak")
    assert "no run:" not in ended.stderr
    assert read_m2m(copied.root / "results/tables/m2m_attacks.parquet", "m2m_attacks")
