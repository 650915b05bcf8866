import json
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from records_fixture import checked, judgement, run_record, write_claim, write_run

from matproof.commands.export import command
from matproof.core.errors import InputError
from matproof.core.files import sha256_of, write_text
from matproof.core.hashes import file_hashes
from matproof.export.crate import About
from matproof.export.dataset import export_tables
from matproof.export.leaving import Leaving
from matproof.export.runs import Choices, export_crate
from matproof.records.evaluation import EvaluationRecord
from matproof.records.places import Results
from matproof.records.run import RunRecord
from matproof.tables.gather import gather
from matproof.tables.store import read_rows

KEY_LIKE = "-".join(("sk", "ant", 8 * "a1B2"))
"""As a provider's key looks."""
HIDDEN = "90 to 100"
"""An expected value, which only reference/ and the program's checks hold."""
PROFILES = [
    "https://w3id.org/ro/wfrun/process/0.5",
    "https://w3id.org/ro/wfrun/workflow/0.5",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0",
]
SNAKEFILE = """configfile: "config/config.yaml"
include: "workflow/rules/gather.smk"
include: "../elsewhere.smk"
include: "/etc/hostname"
include: f"{PLACE}.smk"
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """One claim, run twice, judged by an agent and by a program; a setting; a workflow; tables."""
    root = tmp_path / "place-of-mine"
    write_text(root / "Snakefile", SNAKEFILE)
    write_text(root / "workflow/rules/gather.smk", "rule gather:\n    shell: 'matproof gather results'\n")
    write_text(root / "config/config.yaml", "results: results\n")
    write_claim(root / "tasks", "MD-1_a")
    write_text(root / "config/settings/live.yaml", "agent: orchestrated\nmodel: model-a\n")
    for repeat, score in ((1, 4), (2, 2)):
        run = run_record("MD-1_a", repeat=repeat, versions=file_hashes(setting=root / "config/settings/live.yaml"))
        place = write_run(root / "results", run, judgement(run, score), checked(run))
        write_text(place.attempt(1).steps / "relax/1.out", f"read {root / 'results'}/x.json\n")
    gather(root / "results", root / "tasks")
    return root


def _choices(project: Path, **more: Any) -> Choices:
    return Choices(
        **{"tasks": project / "tasks", "config": project / "config", "snakefile": project / "Snakefile"} | more
    )


def _one(project: Path) -> Path:
    return project / "results/runs/MD-1_a/live/1"


def _graph(crate: Path) -> dict[str, dict[str, Any]]:
    return {entity["@id"]: entity for entity in json.loads((crate / "ro-crate-metadata.json").read_bytes())["@graph"]}


def _types(entity: dict[str, Any]) -> list[str]:
    found = entity["@type"]
    return [found] if isinstance(found, str) else found


def _ids(found: Any) -> list[str]:
    return [one["@id"] for one in (found if isinstance(found, list) else [found])]


def _everything(directory: Path) -> bytes:
    return b"\n".join(path.read_bytes() for path in sorted(directory.rglob("*")) if path.is_file())


def test_the_rocrate_library_reads_a_run_with_its_actions_files_and_hashes(project: Path, tmp_path: Path) -> None:
    rocrate = pytest.importorskip("rocrate.rocrate", reason="the rocrate library is not installed")
    export_crate(_one(project), tmp_path / "crate", _choices(project))
    crate = rocrate.ROCrate(str(tmp_path / "crate"))
    assert [one.id for one in crate.root_dataset["conformsTo"]] == PROFILES
    workflow = crate.mainEntity
    assert (workflow.id, workflow.type) == ("Snakefile", ["File", "SoftwareSourceCode", "ComputationalWorkflow"])
    assert workflow["programmingLanguage"]["name"] == "Snakemake"
    assert [one.id for one in workflow["hasPart"]] == ["workflow/rules/gather.smk"]
    run = crate.dereference("#run/MD-1_a/live/1")
    assert run.type == "CreateAction"
    assert [one.id for one in run["instrument"]][:2] == ["#agent/orchestrated/unknown", "#model/model-a"]
    assert (run["startTime"], run["actionStatus"]) == (
        "2026-01-31T12:00:00.000Z",
        "http://schema.org/CompletedActionStatus",
    )
    assert {one.id for one in run["object"]} == {"settings/live.yaml", "inputs/claim.txt"}
    for entity in [*run["object"], *run["result"]]:
        assert entity["sha256"] == sha256_of(tmp_path / "crate" / entity.id)
    assert "artifacts/results.json" in {one.id for one in run["result"]}
    facts = {
        one["name"]: one["value"]
        for one in crate.dereference("#evaluation/MD-1_a/live/1/judge-a")["additionalProperty"]
    }
    assert (facts["overall"], facts["success"]) == (4, True)
    written = tmp_path / "again"
    crate.write(str(written))
    assert (written / "artifacts/results.json").read_bytes() == (tmp_path / "crate/artifacts/results.json").read_bytes()


def test_every_reference_in_a_crate_leads_somewhere_and_every_file_is_described(project: Path, tmp_path: Path) -> None:
    export_crate(project / "results", tmp_path / "crate", _choices(project))
    graph = _graph(tmp_path / "crate")

    def references(value: Any) -> list[str]:
        if isinstance(value, dict):
            return (
                [value["@id"]]
                if set(value) == {"@id"}
                else [one for each in value.values() for one in references(each)]
            )
        return [one for each in value for one in references(each)] if isinstance(value, list) else []

    outside = ("http://schema.org/", "https://w3id.org/ro/crate/1.1")
    missing = {one for one in references(list(graph.values())) if one not in graph and not one.startswith(outside)}
    assert missing == set()
    files = {str(path.relative_to(tmp_path / "crate")) for path in (tmp_path / "crate").rglob("*") if path.is_file()}
    assert {name for name, entity in graph.items() if "File" in _types(entity)} == files - {"ro-crate-metadata.json"}
    assert len([one for one in graph.values() if one["@type"] == "CreateAction"]) == 7


def test_a_crate_meets_what_workflow_run_crate_demands(project: Path, tmp_path: Path) -> None:
    """Every MUST of Process Run Crate 0.5, Workflow Run Crate 0.5 and Workflow RO-Crate 1.0 that concerns it."""
    export_crate(project / "results", tmp_path / "crate", _choices(project, about=About(by="A. Person")))
    graph = _graph(tmp_path / "crate")
    head, root = graph["ro-crate-metadata.json"], graph["./"]
    assert _ids(head["conformsTo"]) == ["https://w3id.org/ro/crate/1.1", PROFILES[2]]
    assert _ids(root["conformsTo"]) == PROFILES
    assert all(graph[one]["@type"] == "CreativeWork" and graph[one]["version"] for one in PROFILES)
    assert root["license"]
    main = graph[root["mainEntity"]["@id"]]
    assert set(_types(main)) >= {"File", "SoftwareSourceCode", "ComputationalWorkflow"}
    assert {main["@id"], *_ids(main["hasPart"])} <= set(_ids(root["hasPart"]))
    assert graph[main["programmingLanguage"]["@id"]]["@type"] == "ComputerLanguage"
    assert main["sha256"] == sha256_of(project / "Snakefile")
    actions = [one for one in graph.values() if one["@type"] == "CreateAction"]
    assert {one["@id"] for one in actions} <= set(_ids(root["mentions"]))
    tools = {"SoftwareApplication", "SoftwareSourceCode", "ComputationalWorkflow", "CreativeWork"}
    for action in actions:
        for tool in _ids(action["instrument"]):
            assert tools & set(_types(graph[tool]))
        assert action["name"]
        assert action["startTime"] <= action.get("endTime", "9")
        assert graph[action["agent"]["@id"]]["@type"] == "Person"
        assert ("error" in action) == action["actionStatus"]["@id"].endswith("FailedActionStatus")
    (whole,) = [one for one in actions if _ids(one["instrument"]) == ["Snakefile"]]
    for made in actions:
        if made is not whole:
            assert set(_ids(made["result"])) <= set(_ids(whole["result"]))
    assert {"config.yaml", "settings/live.yaml"} <= set(_ids(whole["object"]))
    assert "tables/leaderboard.csv" in _ids(whole["result"])


def test_without_a_workflow_a_crate_describes_processes_only(project: Path, tmp_path: Path) -> None:
    export_crate(_one(project), tmp_path / "crate", _choices(project, snakefile=project / "none"))
    graph = _graph(tmp_path / "crate")
    assert _ids(graph["./"]["conformsTo"]) == PROFILES[:1]
    assert "mainEntity" not in graph["./"]
    assert "#workflow-run" not in graph


def test_a_campaign_with_a_lost_run_is_a_failed_workflow_run(project: Path, tmp_path: Path) -> None:
    lost = run_record("MD-1_a", repeat=3, outcome="infrastructure", reason="the node died", self_reproduced=None)
    write_run(project / "results", lost)
    export_crate(project / "results", tmp_path / "crate", _choices(project))
    action = _graph(tmp_path / "crate")["#workflow-run"]
    assert action["actionStatus"] == {"@id": "http://schema.org/FailedActionStatus"}
    assert action["error"] == "1 of 3 runs were lost"


def test_the_same_results_give_the_same_crate(project: Path, tmp_path: Path) -> None:
    for name in ("one.zip", "two.zip"):
        export_crate(project / "results", tmp_path / name, _choices(project))
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    assert "runs/MD-1_a/live/2/run.json" in zipfile.ZipFile(tmp_path / "one.zip").namelist()


def test_hidden_material_leaves_only_on_request(project: Path, tmp_path: Path) -> None:
    export_crate(project / "results", tmp_path / "public", _choices(project))
    export_crate(project / "results", tmp_path / "whole", _choices(project, with_reference=True))
    assert HIDDEN.encode() not in _everything(tmp_path / "public")
    assert not (tmp_path / "public/reference").exists()
    assert HIDDEN.encode() in _everything(tmp_path / "whole")
    assert (tmp_path / "whole/reference/MD-1_a/expected.yaml").is_file()
    public = json.loads((tmp_path / "public/runs/MD-1_a/live/1/evaluations/judge-a.json").read_bytes())
    assert public["whole_record_sha256"] == sha256_of(_one(project) / "evaluations/judge-a.json")
    EvaluationRecord.read(tmp_path / "whole/runs/MD-1_a/live/1/evaluations/judge-a.json")


def test_no_secret_no_path_and_no_machine_leaves(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_API_TOKEN", "correct-horse-battery")
    artifacts = _one(project) / "attempts/001/artifacts"
    write_text(artifacts / "leak.txt", f"key {KEY_LIKE}")
    write_text(artifacts / "token.txt", "correct-horse-battery")
    write_text(artifacts / "where.txt", str(project / "results/x"))
    write_text(
        _one(project) / "attempts/001/trace.jsonl", json.dumps({"text": f"{KEY_LIKE} correct-horse-battery"}) + "\n"
    )
    made = export_crate(_one(project), tmp_path / "crate", _choices(project))
    assert {left.path for left in made.left} == {f"artifacts/{name}.txt" for name in ("leak", "token", "where")}
    everything = _everything(tmp_path / "crate")
    for word in (KEY_LIKE, "correct-horse-battery", str(project), "node-1"):
        assert word.encode() not in everything
    assert b"read [path]/x.json" in everything
    assert json.loads((tmp_path / "crate/trace.jsonl").read_bytes()) == {"text": "[key] [key]"}


def test_no_link_is_followed_and_no_size_exceeded(project: Path, tmp_path: Path) -> None:
    artifacts = _one(project) / "attempts/001/artifacts"
    (tmp_path / "outside.txt").write_text("from outside")
    (artifacts / "link.txt").symlink_to(tmp_path / "outside.txt")
    (artifacts / "folder").symlink_to(tmp_path)
    os.mkfifo(artifacts / "pipe")
    (artifacts / "large.bin").write_bytes(b"0" * 5000)
    (artifacts / "odd\nname").write_text("x")
    made = export_crate(_one(project), tmp_path / "crate", _choices(project, most_file=4000))
    assert b"from outside" not in _everything(tmp_path / "crate")
    assert {left.path: left.reason for left in made.left} == {
        "artifacts/large.bin": "more than 4,000 bytes",
        "artifacts/odd\\nname": "its name can't be written everywhere",
    }
    graph = _graph(tmp_path / "crate")
    assert graph["#left-out/artifacts/large.bin"]["contentSize"] == "5000"


def test_the_total_is_bounded_and_says_what_is_missing(project: Path, tmp_path: Path) -> None:
    made = export_crate(_one(project), tmp_path / "crate", _choices(project, most_total=0))
    assert "artifacts/results.json" in {left.path for left in made.left}
    assert not (tmp_path / "crate/artifacts").exists()


def test_an_unscored_judgement_is_a_failed_action_without_a_score(tmp_path: Path) -> None:
    run = run_record("A_x", outcome="walltime", reason="the limit of 2 h")
    place = write_run(tmp_path / "results", run, judgement(run, None))
    export_crate(place.root, tmp_path / "crate", Choices())
    graph = _graph(tmp_path / "crate")
    judged = graph["#evaluation/A_x/live/1/judge-a"]
    assert judged["actionStatus"] == {"@id": "http://schema.org/FailedActionStatus"}
    assert (judged["error"], "additionalProperty" in judged) == ("the judge timed out", False)
    assert graph["#run/A_x/live/1"]["error"] == "the limit of 2 h"


def test_something_that_is_there_is_never_overwritten(project: Path, tmp_path: Path) -> None:
    (tmp_path / "crate").mkdir()
    (tmp_path / "crate/mine.txt").write_text("mine")
    with pytest.raises(InputError, match="is there already"):
        export_crate(_one(project), tmp_path / "crate", _choices(project))
    assert [path.name for path in tmp_path.joinpath("crate").iterdir()] == ["mine.txt"]


def test_a_short_root_and_a_short_secret_are_no_reason(tmp_path: Path) -> None:
    leaving = Leaving([Path("/root")], {"API_KEY": "abc"})
    assert leaving.problem(b"/root/abc") is None
    assert leaving.clean("/root/abc") == "/root/abc"


def test_the_data_set_has_a_card_and_hashes_that_fit(project: Path, tmp_path: Path) -> None:
    import pyarrow.parquet as pq
    import yaml

    export_tables(project / "results", tmp_path / "set", tasks=project / "tasks", licence="cc-by-4.0")
    sums = {line[66:]: line[:64] for line in (tmp_path / "set/SHA256SUMS").read_text().splitlines()}
    files = {str(path.relative_to(tmp_path / "set")) for path in (tmp_path / "set").rglob("*") if path.is_file()}
    assert set(sums) == files - {"SHA256SUMS"}
    assert all(sha256_of(tmp_path / "set" / name) == value for name, value in sums.items())
    card = (tmp_path / "set/README.md").read_text()
    head = yaml.safe_load(card.split("---\n")[1])
    assert head["license"] == "cc-by-4.0"
    assert all((tmp_path / "set" / one["data_files"]).is_file() for one in head["configs"])
    assert "| live | judge-a | False | 2 | 2 | 0 | 0 | 3.000 | 0.500 |" in card
    assert "`file.setting`: sha256:" in card
    schema = pq.read_schema(tmp_path / "set/data/runs.parquet")
    assert schema.metadata[b"matproof.source_sha256"].decode() == sha256_of(project / "results/tables/runs.parquet")


def test_the_data_set_keeps_the_reference_and_the_machines_to_itself(project: Path, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    export_tables(project / "results", tmp_path / "set", tasks=project / "tasks")
    assert not (tmp_path / "set/data/checks.parquet").exists()
    assert not (tmp_path / "set/data/problems.parquet").exists()
    for table, column in (("claims", "outcome"), ("failures", "evidence"), ("runs", "host"), ("runs", "job")):
        found = pq.ParquetFile(tmp_path / f"set/data/{table}.parquet").read()[column]
        assert found.null_count == len(found) > 0
    export_tables(project / "results", tmp_path / "whole", tasks=project / "tasks", with_reference=True)
    assert (tmp_path / "whole/data/checks.parquet").exists()


def test_the_commands_say_what_they_wrote_and_what_they_left(project: Path, tmp_path: Path) -> None:
    (_one(project) / "attempts/001/artifacts/large.bin").write_bytes(b"0" * 20_000)
    options = ["--tasks", str(project / "tasks"), "--config", str(project / "config"), "--max-file-mb", "0.01"]
    done = CliRunner().invoke(command, ["ro-crate", str(_one(project)), "-o", str(tmp_path / "c.zip"), *options])
    assert done.exit_code == 0
    assert "left out: artifacts/large.bin: more than 10,000 bytes" in done.stderr
    assert done.stdout.endswith("1 left out\n")
    done = CliRunner().invoke(command, ["parquet", str(project / "results"), "-o", str(tmp_path / "d")])
    assert done.exit_code == 0
    assert (tmp_path / "d/README.md").is_file()


def test_a_number_of_the_leaderboard_is_followed_to_its_files_and_back(project: Path) -> None:
    results = project / "results"
    (board,) = [row for row in read_rows(results, "leaderboard") if row["judge"] == "judge-a"]
    counted = [
        row
        for row in read_rows(results, "evaluations")
        if (row["setting"], row["judge"], row["dimension"]) == (board["setting"], "judge-a", "overall")
    ]
    assert board["mean_score"] == sum(row["score"] for row in counted) / len(counted) == 3.0
    runs = {row["repeat"]: row for row in read_rows(results, "runs")}
    for row in counted:
        place = Results(results).run(row["claim"], row["setting"], row["repeat"])
        judged, run = EvaluationRecord.read(place.evaluation(row["judge"])), RunRecord.read(place.run_json)
        assert (judged.overall, judged.attempt) == (row["score"], run.attempt)
        assert place.attempt(run.attempt).run_json.read_bytes() == place.run_json.read_bytes()
        said = json.loads(runs[row["repeat"]]["versions"])
        assert said["file.setting"] == f"sha256:{sha256_of(project / 'config/settings' / (run.setting + '.yaml'))}"
        cited = {one.file for dimension in judged.dimensions for one in dimension.evidence}
        assert all((place.attempt(run.attempt).root / file).is_file() for file in cited)
    run = RunRecord.read(Results(results).run("MD-1_a", "live", 2).run_json)
    write_run(results, run, judgement(run, 4))
    gather(results, project / "tasks")
    (board,) = [row for row in read_rows(results, "leaderboard") if row["judge"] == "judge-a"]
    assert board["mean_score"] == 4.0


def test_hashes_of_files_name_each_and_invent_none(tmp_path: Path) -> None:
    write_text(tmp_path / "s.yaml", "a: 1\n")
    write_text(tmp_path / "policies/agent.yaml", "b: 2\n")
    found = file_hashes(setting=tmp_path / "s.yaml", policies=tmp_path / "policies", models=tmp_path / "none.yaml")
    assert found == {
        "file.setting": f"sha256:{sha256_of(tmp_path / 's.yaml')}",
        "file.policies/agent.yaml": f"sha256:{sha256_of(tmp_path / 'policies/agent.yaml')}",
    }
