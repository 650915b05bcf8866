"""The two payloads: what is in them, what is never in them, and copies that are what was packaged."""

import hashlib
import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from matproof.claims.payload import PayloadManifest, copy_payload, package
from matproof.commands.package import command
from matproof.core.errors import InputError
from matproof.core.files import read_model

REAL = Path(__file__).resolve().parents[2].parent / "shared" / "real" / "tasks"
FILES = {
    "meta/claim.yaml": "id: A-1\ntitle: Secret title\nquantities: [{name: gap, unit: eV}]\n",
    "meta/provenance.json": '{"source": "https://example.org/code"}',
    "agent_view/claim.txt": "The gap is 1 eV.\n",
    "agent_view/paper.md": "Code at https://example.org/code\n",
    "agent_view/paper.pdf": "%PDF-1.4",
    "agent_view/figures/bands.png": "png",
    "agent_view/inputs/deep/a.csv": "1,2\n",
    "agent_view/inputs/supplement.pdf": "%PDF-1.4",
    "agent_view/code/run.sh": "#!/bin/sh\n",
    "agent_view/code/__pycache__/run.pyc": "litter",
    "reference/procedure.md": "1. Do it.\n",
    "reference/expected.yaml": "outcome: supported\n",
    "reference/deep/solution.py": "print(1)\n",
}
REFERENCE = ["expected.yaml", "paper.md", "procedure.md"]
AGENT = ["claim.txt", "code/run.sh", "figures/bands.png", "inputs/deep/a.csv", "inputs/supplement.pdf", "paper.md"]
JUDGE = ["claim.txt", "deep/solution.py", "expected.yaml", "paper.md", "procedure.md"]


@pytest.fixture
def task(tmp_path: Path) -> Path:
    root = tmp_path / "tasks" / "A-1_gap"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / "agent_view/code/run.sh").chmod(0o755)
    return root


@pytest.fixture
def paper(tmp_path: Path) -> Path:
    path = tmp_path / "results" / "claims" / "A-1_gap" / "paper.md"
    path.parent.mkdir(parents=True)
    path.write_text("Code at [link removed]\n")
    return path


def manifest_of(paper: Path, audience: str = "agent") -> Path:
    return paper.parent / "package" / f"{audience}.json"


def tree(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


def test_the_agent_gets_the_claim_the_parsed_paper_and_its_inputs(task: Path, paper: Path, tmp_path: Path) -> None:
    result = package(task, "agent", paper, manifest_of(paper))
    assert [file.path for file in result.files] == sorted([*AGENT, "quantities.json"])
    assert (result.claim, result.claim_id) == ("A-1_gap", "A-1")
    copy_payload(manifest_of(paper), tmp_path / "copy")
    assert tree(tmp_path / "copy") == sorted([*AGENT, "quantities.json"])
    assert (tmp_path / "copy/paper.md").read_text() == "Code at [link removed]\n"
    assert json.loads((tmp_path / "copy/quantities.json").read_text()) == [{"name": "gap", "unit": "eV"}]


def test_nothing_of_meta_or_reference_is_in_the_agents_payload(task: Path, paper: Path, tmp_path: Path) -> None:
    package(task, "agent", paper, manifest_of(paper))
    copy_payload(manifest_of(paper), tmp_path / "copy")
    hidden = {text for name, text in FILES.items() if name.startswith(("meta/", "reference/"))}
    for path in (tmp_path / "copy").rglob("*"):
        assert path.is_dir() or path.read_text() not in hidden
        assert not path.is_symlink()
    assert "Secret title" not in manifest_of(paper).read_text()


def test_judges_get_the_reference_and_no_inputs(task: Path, paper: Path, tmp_path: Path) -> None:
    package(task, "judge", paper, manifest_of(paper, "judge"))
    copy_payload(manifest_of(paper, "judge"), tmp_path / "copy")
    assert tree(tmp_path / "copy") == JUDGE


def test_payloads_are_relative_links_and_the_manifest_tells_size_and_digest(task: Path, paper: Path) -> None:
    result = package(task, "agent", paper, manifest_of(paper))
    links = [path for path in (paper.parent / "package/agent").rglob("*") if not path.is_dir()]
    assert links
    assert all(path.is_symlink() and not path.readlink().is_absolute() for path in links)
    for file in result.files:
        data = (paper.parent / "package/agent" / file.path).read_bytes()
        assert (file.size, file.sha256) == (len(data), hashlib.sha256(data).hexdigest())
    assert read_model(PayloadManifest, manifest_of(paper)) == result


def test_quantities_are_given_only_where_the_claim_names_some(task: Path, paper: Path) -> None:
    (task / "meta/claim.yaml").write_text("id: A-1\ntitle: t\n")
    assert [file.path for file in package(task, "agent", paper, manifest_of(paper)).files] == AGENT


def test_the_published_instructions_stand_in_for_a_missing_procedure(task: Path, paper: Path) -> None:
    (task / "reference/procedure.md").unlink()
    (task / "meta/claim.md").write_text("# Claim\n# Instructions\n1. Do it.\n")
    judge = package(task, "judge", paper, manifest_of(paper, "judge"))
    agent = package(task, "agent", paper, manifest_of(paper))
    assert {file.path: file.source for file in judge.files}["procedure.md"] == "meta/claim.md"
    assert all("meta" not in file.source for file in agent.files)


def test_packaging_again_replaces_what_was_there(task: Path, paper: Path, tmp_path: Path) -> None:
    package(task, "agent", paper, manifest_of(paper))
    (task / "agent_view/inputs/deep/a.csv").unlink()
    package(task, "agent", paper, manifest_of(paper))
    assert not (paper.parent / "package/agent/inputs/deep/a.csv").is_symlink()
    copy_payload(manifest_of(paper), tmp_path / "copy")
    assert sorted(path.name for path in (paper.parent / "package").iterdir()) == [
        "agent",
        "agent.json",
        "quantities.json",
    ]


def test_a_directory_of_someone_elses_files_is_never_replaced(task: Path, paper: Path) -> None:
    (paper.parent / "package/agent").mkdir(parents=True)
    (paper.parent / "package/agent/thesis.txt").write_text("precious")
    with pytest.raises(InputError, match="is no payload"):
        package(task, "agent", paper, manifest_of(paper))
    assert (paper.parent / "package/agent/thesis.txt").read_text() == "precious"


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("agent_view/inputs/x", "../../../outside"),
        ("agent_view/inputs/x", "/etc/hostname"),
        ("agent_view/inputs/x", "/etc"),
        ("agent_view/inputs/x", "../../reference/expected.yaml"),
        ("agent_view/inputs/x", "../../meta"),
        ("agent_view/x", "../reference"),
        ("agent_view/inputs/x", "nowhere"),
        ("agent_view/inputs/x", "x"),
        ("agent_view/inputs/x", ".."),
    ],
)
def test_a_link_that_leaves_what_the_agent_may_see_is_an_error(task: Path, paper: Path, name: str, target: str) -> None:
    (task.parent / "outside").write_text("secret")
    (task / name).symlink_to(target)
    with pytest.raises(InputError) as caught:
        package(task, "agent", paper, manifest_of(paper))
    assert Path(caught.value.file).is_relative_to(task / name)
    assert not manifest_of(paper).exists()


def test_a_link_out_of_the_task_in_the_reference_is_an_error(task: Path, paper: Path) -> None:
    (task / "reference/x").symlink_to("/etc/hostname")
    with pytest.raises(InputError, match="leaves the task"):
        package(task, "judge", paper, manifest_of(paper, "judge"))


def test_a_pipe_among_the_inputs_is_an_error_and_never_waited_for(task: Path, paper: Path) -> None:
    os.mkfifo(task / "agent_view/inputs/pipe")
    with pytest.raises(InputError, match="pipe, socket or device"):
        package(task, "agent", paper, manifest_of(paper))


def test_links_inside_agent_view_are_followed(task: Path, paper: Path, tmp_path: Path) -> None:
    (task / "agent_view/inputs/b.csv").symlink_to("deep/a.csv")
    (task / "agent_view/data").symlink_to("inputs/deep")
    package(task, "agent", paper, manifest_of(paper))
    copy_payload(manifest_of(paper), tmp_path / "copy")
    assert (tmp_path / "copy/inputs/b.csv").read_text() == "1,2\n"
    assert (tmp_path / "copy/data/a.csv").read_text() == "1,2\n"


def test_two_files_for_one_place_are_an_error(task: Path, paper: Path) -> None:
    (task / "reference/paper.md").write_text("x")
    with pytest.raises(InputError, match=r"would stand at 'paper\.md'"):
        package(task, "judge", paper, manifest_of(paper, "judge"))


@pytest.mark.parametrize("file", ["agent_view/claim.txt", "meta/claim.yaml"])
def test_a_package_without_claim_or_metadata_is_an_error(task: Path, paper: Path, file: str) -> None:
    (task / file).unlink()
    if file == "meta/claim.yaml":
        (task / "meta/provenance.json").unlink()
    with pytest.raises(InputError, match="missing"):
        package(task, "agent", paper, manifest_of(paper))


def test_a_copy_is_read_only_and_keeps_programs_executable(task: Path, paper: Path, tmp_path: Path) -> None:
    package(task, "agent", paper, manifest_of(paper))
    copy_payload(manifest_of(paper), tmp_path / "copy")
    assert (tmp_path / "copy/claim.txt").stat().st_mode & 0o777 == 0o444
    assert (tmp_path / "copy/code/run.sh").stat().st_mode & 0o777 == 0o555


def test_a_file_that_changed_since_packaging_is_not_copied(task: Path, paper: Path, tmp_path: Path) -> None:
    package(task, "agent", paper, manifest_of(paper))
    (task / "agent_view/claim.txt").write_text("The gap is 2 eV.\n")
    with pytest.raises(InputError, match="changed since it was packaged; run `matproof package` again"):
        copy_payload(manifest_of(paper), tmp_path / "copy")
    assert list(tmp_path.glob("*copy*")) == []


@pytest.mark.parametrize("swap", ["gone", "pipe", "secret"])
def test_a_file_that_was_swapped_is_not_copied(task: Path, paper: Path, tmp_path: Path, swap: str) -> None:
    package(task, "agent", paper, manifest_of(paper))
    path = task / "agent_view/claim.txt"
    path.unlink()
    if swap == "pipe":
        os.mkfifo(path)
    if swap == "secret":
        path.symlink_to("../reference/expected.yaml")
    with pytest.raises(InputError, match="run `matproof package` again"):
        copy_payload(manifest_of(paper), tmp_path / "copy")


@pytest.mark.parametrize("path", ["../out", "/tmp/out", "a/../../out", ""])
def test_a_manifest_whose_paths_leave_the_copy_is_refused(task: Path, paper: Path, tmp_path: Path, path: str) -> None:
    package(task, "agent", paper, manifest_of(paper))
    data = json.loads(manifest_of(paper).read_text())
    data["files"][0]["path"] = path
    manifest_of(paper).write_text(json.dumps(data))
    with pytest.raises(InputError, match="leaves the payload"):
        copy_payload(manifest_of(paper), tmp_path / "copy")


def test_a_copy_never_overwrites(task: Path, paper: Path, tmp_path: Path) -> None:
    package(task, "agent", paper, manifest_of(paper))
    copy_payload(manifest_of(paper), tmp_path / "copy")
    with pytest.raises(InputError, match="is not empty"):
        copy_payload(manifest_of(paper), tmp_path / "copy")


def test_the_digest_is_of_what_is_given_and_of_nothing_else(task: Path, paper: Path, tmp_path: Path) -> None:
    package(task, "agent", paper, manifest_of(paper))
    before = copy_payload(manifest_of(paper), tmp_path / "one")
    (task / "reference/procedure.md").write_text("other")
    moved = task.rename(task.with_name("A-1_moved"))
    package(moved, "agent", paper, manifest_of(paper))
    assert copy_payload(manifest_of(paper), tmp_path / "two") == before
    (moved / "agent_view/inputs/deep/a.csv").write_text("2,1\n")
    package(moved, "agent", paper, manifest_of(paper))
    assert copy_payload(manifest_of(paper), tmp_path / "three") != before


def test_the_command_makes_one_payload_or_both(task: Path, paper: Path, tmp_path: Path) -> None:
    arguments = [str(task), "--paper", str(paper), "--out"]
    assert CliRunner().invoke(command, [*arguments, str(tmp_path / "both")]).exit_code == 0
    assert {path.name for path in (tmp_path / "both").iterdir()} == {
        "agent", "agent.json", "judge", "judge.json", "quantities.json",
    }  # fmt: skip
    one = CliRunner().invoke(command, [*arguments, str(tmp_path / "one/judge.json"), "--audience", "judge"])
    assert one.exit_code == 0
    assert {path.name for path in (tmp_path / "one").iterdir()} == {"judge", "judge.json"}


@pytest.mark.real
@pytest.mark.skipif(not REAL.is_dir(), reason="the shared real tasks are not beside this checkout")
def test_the_real_packages_are_packaged_and_copied(tmp_path: Path) -> None:
    for root in REAL.iterdir():
        for audience in ("agent", "judge"):
            manifest = tmp_path / root.name / f"{audience}.json"
            package(root, "agent" if audience == "agent" else "judge", root / "agent_view/paper.md", manifest)
            copy_payload(manifest, tmp_path / "copies" / root.name / audience)
        inputs = tree(root / "agent_view/inputs")
        assert tree(tmp_path / "copies" / root.name / "agent/inputs") == inputs
        assert tree(tmp_path / "copies" / root.name / "judge") == ["claim.txt", *REFERENCE]
