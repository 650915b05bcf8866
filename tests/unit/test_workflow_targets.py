"""What the Snakefile asks: targets, files and resources of a campaign."""

from pathlib import Path

import pytest

from matproof.config.workflow import (
    CHECKING_MIN,
    JUDGING_H,
    claims,
    constraint,
    evaluation_files,
    judging_min,
    package_files,
    resource,
    run_files,
    run_resource,
    runs_of,
    tell_missing,
    walltime_min,
)
from matproof.core.errors import InputError
from matproof.evaluation.judge import WALLTIME_S


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


def test_a_setting_without_its_client_is_skipped_by_name(
    config: dict[str, object], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    setting = tmp_path / "config/settings/s2.yaml"
    setting.parent.mkdir(parents=True)
    setting.write_text("agent: codex\nrequires: {commands: [./no-such-client], remedy: make agents}\n")
    assert len(run_files(config)) == 8
    assert {path.split("/")[3] for path in run_files({**config, "skip_missing_software": True})} == {"s1"}
    assert "skipping setting s2: ./no-such-client not found (make agents)" in capsys.readouterr().err


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
    tasks, folder = str(config["tasks"]), str(config["config_dir"])
    assert [resource(tasks, "A-1_x", name) for name in ("cpus", "memory_mb", "gpus")] == [4, 9000, 0]
    assert walltime_min(tasks, folder, "A-1_x", "s1") == 125
    assert constraint(tasks, folder, "A-1_x", "s1") is None


def test_a_setting_shortens_a_run_and_adds_what_its_nodes_must_have(config: dict[str, object], tmp_path: Path) -> None:
    tasks, folder = str(config["tasks"]), str(tmp_path / "config")
    (tmp_path / "config/settings").mkdir(parents=True)
    (tmp_path / "config/settings/short.yaml").write_text("constraint: a100\nlimits: {walltime_h: 0.5}")
    (tmp_path / "config/settings/long.yaml").write_text("limits: {walltime_h: 50}")
    claim = Path(tasks, "A-1_x/meta/claim.yaml")
    claim.write_text(claim.read_text().replace("cpus: 4", "cpus: 4, constraint: avx512"))
    assert walltime_min(tasks, folder, "A-1_x", "short") == 35
    assert walltime_min(tasks, folder, "A-1_x", "long") == 125
    assert constraint(tasks, folder, "B-2_y", "short") == "a100"
    assert constraint(tasks, folder, "A-1_x", "short") == "avx512&a100"


def test_a_judgements_job_lasts_as_long_as_its_judge_may(tmp_path: Path) -> None:
    (tmp_path / "judges").mkdir()
    (tmp_path / "judges/slow.yaml").write_text("answers: {model: m, limits: {walltime_h: 2}}")
    (tmp_path / "judges/plain.yaml").write_text("answers: {model: m}")
    (tmp_path / "judges/thrice.yaml").write_text("repeats: 3\nanswers: {model: m, limits: {walltime_h: 2}}")
    (tmp_path / "judges/checks.yaml").write_text("kind: checks")
    found = [judging_min(str(tmp_path), judge) for judge in ("slow", "plain", "thrice", "checks")]
    assert found == [125, JUDGING_H * 60 + 5, 365, CHECKING_MIN]
    assert JUDGING_H * 3600 == WALLTIME_S


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


def test_a_run_whose_steps_are_jobs_of_their_own_asks_for_little_itself(config: dict[str, object]) -> None:
    tasks, folder = str(config["tasks"]), str(config["config_dir"])
    claim = Path(tasks, "A-1_x/meta/claim.yaml")
    claim.write_text("id: A-1\nresources: {cpus: 16, memory_gb: 100, gpus: 2, constraint: a100}\n")
    setting = Path(folder, "settings/apart.yaml")
    setting.parent.mkdir(parents=True, exist_ok=True)
    setting.write_text("agent: orchestrated\nconstraint: egress\nsteps: {executor: slurm, host_memory_gb: 8}\n")
    asked = [run_resource(tasks, folder, "A-1_x", "apart", name) for name in ("cpus", "memory_mb", "gpus")]
    assert asked == [2, 9000, 0]
    assert constraint(tasks, folder, "A-1_x", "apart") == "egress"
