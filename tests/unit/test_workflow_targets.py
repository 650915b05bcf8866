"""What the Snakefile asks: targets, files and resources of a campaign."""

from pathlib import Path

import pytest

from matproof.config.workflow import (
    claims,
    evaluation_files,
    package_files,
    resource,
    run_files,
    runs_of,
    tell_missing,
)
from matproof.core.errors import InputError


@pytest.fixture
def config(tmp_path: Path) -> dict[str, object]:
    for name, extra in (("A-1_x", ""), ("B-2_y", "requires: {commands: [no-such-program]}\n")):
        claim = tmp_path / "tasks" / name
        for folder in ("agent_view/inputs", "meta", "reference"):
            (claim / folder).mkdir(parents=True)
        (claim / "agent_view" / "claim.txt").write_text("c")
        (claim / "agent_view" / "inputs" / "data.csv").write_text("1")
        (claim / "reference" / "expected.yaml").write_text("outcome: supported")
        (claim / "meta" / "claim.yaml").write_text(
            f"id: {name}\nresources: {{cpus: 4, memory_gb: 8, walltime_h: 2}}\n{extra}"
        )
    return {
        "tasks": str(tmp_path / "tasks"),
        "results": "results",
        "config_dir": str(tmp_path / "config"),
        "claims": "all",
        "settings": ["s1", "s2"],
        "judges": ["checks"],
        "repeats": 2,
    }


def test_targets_are_claims_times_settings_times_repeats_times_judges(config: dict[str, object]) -> None:
    assert len(run_files(config)) == 8
    assert "results/runs/A-1_x/s2/1/evaluations/checks.json" in evaluation_files(config)


def test_a_claim_without_its_software_is_skipped_by_name(
    config: dict[str, object], capsys: pytest.CaptureFixture[str]
) -> None:
    assert claims({**config, "skip_missing_software": True}) == ["A-1_x"]
    assert "skipping B-2_y: no-such-program not found" in capsys.readouterr().err


def test_a_setting_may_run_on_some_claims_only(config: dict[str, object], tmp_path: Path) -> None:
    (tmp_path / "config/settings").mkdir(parents=True)
    (tmp_path / "config/settings/s2.yaml").write_text("claims: [B-2_y]")
    runs = run_files({**config, "repeats": 1})
    assert runs == [f"results/runs/{run}/1/run.json" for run in ("A-1_x/s1", "B-2_y/s1", "B-2_y/s2")]


def test_hidden_files_are_no_input_of_what_the_agent_sees(config: dict[str, object]) -> None:
    tasks = str(config["tasks"])
    assert [Path(path).name for path in package_files(tasks, "A-1_x", "agent")] == [
        "claim.yaml",
        "claim.txt",
        "data.csv",
    ]
    assert [Path(path).name for path in package_files(tasks, "A-1_x", "judge")] == [
        "expected.yaml",
        "claim.txt",
        "claim.yaml",
    ]


def test_resources_come_from_the_claim_with_room_for_the_harness(config: dict[str, object]) -> None:
    found = [resource(str(config["tasks"]), "A-1_x", name) for name in ("cpus", "memory_mb", "walltime_min")]
    assert found == [4, 9000, 125]


def test_a_rerun_names_the_runs_of_one_claim(config: dict[str, object]) -> None:
    assert runs_of(config, "A-1", ("s1",), 2) == ["results/runs/A-1_x/s1/2/run.json"]
    assert evaluation_files(config, ["results/runs/A-1_x/s1/2/run.json"]) == [
        "results/runs/A-1_x/s1/2/evaluations/checks.json"
    ]
    with pytest.raises(InputError, match="no run of this campaign"):
        runs_of(config, "ghost", (), None)


def test_missing_runs_and_judgements_are_named(
    config: dict[str, object], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config |= {"results": str(tmp_path / "results"), "repeats": 1, "settings": ["s1"]}
    first, second = (Path(path) for path in run_files(config))
    first.parent.mkdir(parents=True)
    first.write_text("{}")
    tell_missing(config)
    told = capsys.readouterr().err.splitlines()
    assert told[:2] == [f"no run:       {second}", f"no judgement: {first.parent}/evaluations/checks.json"]
    assert len(told) == 3
    for path in (*run_files(config), *evaluation_files(config)):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text("{}")
    tell_missing(config)
    assert capsys.readouterr().err == ""


def test_a_long_list_of_missing_runs_is_cut(config: dict[str, object], capsys: pytest.CaptureFixture[str]) -> None:
    tell_missing({**config, "repeats": 10})
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 22
    assert told[20] == "… and 20 more"
