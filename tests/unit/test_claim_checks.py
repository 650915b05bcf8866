"""`matproof check` finds what is wrong with a package, all of it, and nothing in a sound one."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from matproof.claims.checks import check
from matproof.commands.check import command

REAL = Path(__file__).resolve().parents[2].parent / "shared" / "real" / "tasks"

CLAIM = """\
id: MD-0001
title: Lattice constant of copper
subdomain: md
reproduction_type: from_paper
verification: scalar
software: [python]
resources: {cpus: 1, memory_gb: 2, gpus: 0, walltime_h: 0.5}
quantities:
  - {name: lattice_constant, unit: angstrom}
  - {name: cohesive_energy, unit: eV}
"""
EXPECTED = """\
outcome: supported
quantities:
  - {name: lattice_constant, value: 3.6149, unit: angstrom, abs_tol: 0.005}
  - {name: cohesive_energy, value: -3.5402, unit: eV, rel_tol: 0.01}
signs: {cohesive_energy: negative}
"""
PROCEDURE = """\
1. Build a face-centred cubic cell of copper with the supplied potential file.
2. Minimise the energy over nine lattice constants between 3.5 and 3.7 and fit a parabola.
3. Compare the minimum with the claim.
"""
CLAIM_TEXT = "Copper has a lattice constant of 3.615 angstrom and a cohesive energy of -3.54 eV in this potential.\n"
PAPER = "# Copper\n\nWe fit a potential. The lattice constant is 3.6149 angstrom and the energy -3.5402 eV per atom.\n"


def write(root: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


@pytest.fixture
def sound(tmp_path: Path) -> Path:
    return write(
        tmp_path / "tasks" / "MD-0001_copper",
        {
            "meta/claim.yaml": CLAIM,
            "meta/provenance.json": '{"doi": "10.1000/1"}',
            "agent_view/claim.txt": CLAIM_TEXT,
            "agent_view/paper.md": PAPER,
            "agent_view/inputs/table.csv": "a,e\n3.6149,-3.5402\n3.7,-3.4\n" + "1.0,2.0\n" * 50,
            "reference/procedure.md": PROCEDURE,
            "reference/expected.yaml": EXPECTED,
            "reference/solution.py": "print('fit a parabola to nine energies')\n",
        },
    )


def lines(root: Path) -> list[str]:
    return [problem.line() for problem in check([root]).problems]


def test_a_sound_package_has_no_problem(sound: Path) -> None:
    assert lines(sound) == []


@pytest.mark.real
@pytest.mark.skipif(not REAL.is_dir(), reason="the shared real tasks are not beside this checkout")
def test_the_real_packages_have_no_problem() -> None:
    report = check([REAL])
    assert [problem.line() for problem in report.problems] == []
    assert len(report.packages) == 4


BROKEN: list[tuple[str, str | bytes | None, str]] = [
    # file, new content (None: removed), what a line must say
    ("meta/claim.yaml", "id: [", "meta/claim.yaml: line 1: not valid YAML"),
    ("meta/claim.yaml", "id: a\n\ttitle: b\n", "meta/claim.yaml: line 2: a tab in YAML; indent with spaces"),
    ("meta/claim.yaml", "", "meta/claim.yaml: (whole file): empty"),
    ("meta/claim.yaml", "- id: a\n", "meta/claim.yaml: (whole file): a list at the top"),
    ("meta/claim.yaml", "just words", "meta/claim.yaml: (whole file): a str at the top"),
    ("meta/claim.yaml", CLAIM + "---\nid: b\n", "several documents"),
    ("meta/claim.yaml", CLAIM + "colour: red\n", "meta/claim.yaml: colour: unknown field; remove it"),
    ("meta/claim.yaml", CLAIM + "title: again\n", "the key 'title' stands twice"),
    ("meta/claim.yaml", CLAIM.replace("id: MD-0001\n", ""), "meta/claim.yaml: id: missing; add it"),
    ("meta/claim.yaml", CLAIM.replace("MD-0001", "0001"), "meta/claim.yaml: id: "),
    ("meta/claim.yaml", CLAIM.replace("MD-0001", "../up"), "use letters, digits"),
    ("meta/claim.yaml", CLAIM.replace("MD-0001", "a b"), "meta/claim.yaml: id: "),
    ("meta/claim.yaml", CLAIM.replace("MD-0001", "a/b"), "meta/claim.yaml: id: "),
    ("meta/claim.yaml", CLAIM.replace("subdomain: md", "subdomain: MD"), "subdomain: 'MD' is not allowed; use 'dft'"),
    ("meta/claim.yaml", CLAIM.replace("cpus: 1", "cpus: 0"), "resources.cpus: "),
    (
        "meta/claim.yaml",
        CLAIM.replace("cpus: 1", "cpus: '1'"),
        "resources.cpus: Input should be a valid integer; write the",
    ),
    ("meta/claim.yaml", CLAIM.replace("cpus: 1", "cpus: yes"), "resources.cpus: "),
    ("meta/claim.yaml", CLAIM.replace("walltime_h: 0.5", "walltime_h: .nan"), "resources.walltime_h: "),
    ("meta/claim.yaml", CLAIM.replace("unit: eV", "unit: bananas"), "pint does not know the unit 'bananas'"),
    (
        "meta/claim.yaml",
        CLAIM.replace("unit: eV", "unit: meV"),
        "quantities.1.unit: 'meV' is not the unit in reference",
    ),
    (
        "meta/claim.yaml",
        CLAIM.replace("name: cohesive_energy", "name: energy"),
        "'energy' is not in reference/expected.yaml",
    ),
    ("meta/claim.yaml", CLAIM.encode("utf-16"), "not UTF-8"),
    ("meta/claim.yaml", b"id: caf\xe9\n", "meta/claim.yaml: byte 7: not UTF-8; save the file as UTF-8"),
    ("meta/claim.yaml", b"# " + b"x" * 1_100_000, "is larger than 1000000 bytes"),
    ("meta/claim.yaml", "a: &a [" + "x," * 400 + "]\nb: [" + "*a," * 600 + "]\n", "too large"),
    ("meta/claim.yaml", "[" * 5000, "nested too deeply"),
    ("meta/claim.yaml", "id: !!python/object/apply:os.system [ls]\n", "not valid YAML"),
    ("meta/provenance.json", "{", "meta/provenance.json: line 1: not valid JSON"),
    ("meta/provenance.json", "[]", "meta/provenance.json: (whole file): not a JSON object"),
    ("agent_view/claim.txt", None, "agent_view/claim.txt: (whole file): missing claim text"),
    ("agent_view/claim.txt", "", "empty claim text"),
    ("agent_view/claim.txt", " \n\r\n\t", "empty claim text"),
    ("agent_view/claim.txt", b"\xff\xfe\x00", "agent_view/claim.txt: byte 0: not UTF-8"),
    ("agent_view/claim.txt", b"a\0b", "NUL"),
    ("agent_view/paper.md", None, "agent_view/paper.md: (whole file): no paper; add paper.md or a PDF"),
    ("agent_view/paper.md", "\n \n", "an empty paper"),
    ("agent_view/paper.md", b"caf\xe9", "agent_view/paper.md: byte 3: not UTF-8"),
    (
        "agent_view/paper.md",
        "see ![figure](../reference/fig.png)",
        "refers to '../reference/fig.png', which is outside",
    ),
    ("agent_view/paper.md", "see [it](/etc/passwd)", "refers to '/etc/passwd'"),
    ("agent_view/paper.PDF", b"", "an empty paper (no bytes)"),
    ("agent_view/paper.pdf", b"<html>", "is not a PDF"),
    ("agent_view/paper.pdf", b"%PDF-1.4\n garbage", "can't be opened"),
    ("reference/procedure.md", None, "reference/procedure.md: (whole file): missing"),
    ("reference/procedure.md", "", "reference/procedure.md: (whole file): is empty"),
    ("reference/procedure.md", b"\xe9", "not UTF-8"),
    ("reference/expected.yaml", None, "reference/expected.yaml: (whole file): missing"),
    ("reference/expected.yaml", "outcome: supported\n", "says an outcome and nothing that would show it"),
    ("reference/expected.yaml", EXPECTED.replace("supported", "true"), "outcome: True is not allowed"),
    ("reference/expected.yaml", EXPECTED.replace("abs_tol: 0.005", "abs_tol: -1"), "quantities.0.abs_tol: "),
    ("reference/expected.yaml", EXPECTED.replace(", abs_tol: 0.005", ""), "quantities.0: give exactly one of abs_tol"),
    (
        "reference/expected.yaml",
        EXPECTED.replace("abs_tol:", "interval: [1, 2], abs_tol:"),
        "quantities.0: give either",
    ),
    ("reference/expected.yaml", EXPECTED.replace("value: 3.6149", 'value: "3.6149"'), "bare value, without quotes"),
    ("reference/expected.yaml", EXPECTED.replace("value: 3.6149", "value: 3.6 A"), "bare value, without quotes"),
    ("reference/expected.yaml", EXPECTED.replace("value: 3.6149", "value: .inf"), "quantities.0.value: "),
    ("reference/expected.yaml", EXPECTED.replace("unit: eV", "unit: eVolts"), "quantities.1.unit: pint does not know"),
    (
        "reference/expected.yaml",
        EXPECTED.replace("{cohesive_energy: neg", "{cohesion: neg"),
        "names 'cohesion', which is no",
    ),
    ("reference/expected.yaml", EXPECTED.replace("negative", "positive"), "positive, but its value is -3.5402"),
    ("reference/expected.yaml", EXPECTED + "orderings: [[lattice_constant, gap]]\n", "orderings.0: names 'gap'"),
    ("reference/expected.yaml", EXPECTED + "orderings: [[lattice_constant]]\n", "orderings.0: "),
    (
        "reference/expected.yaml",
        EXPECTED.replace("cohesive_energy, v", "lattice_constant, v"),
        "two quantities have one name",
    ),
    ("reference/expected.yaml", EXPECTED + "statements: [words]\n", "statements.0: "),
    (
        "reference/expected.yaml",
        EXPECTED.replace("unit: eV", "unit: angstrom") + "orderings: [[lattice_constant, cohesive_energy]]\n",
        "stands before 'cohesive_energy', but its value is larger",
    ),
    ("reference/expected.yaml", EXPECTED.replace("value: -3.5402", "value: 0"), "give abs_tol instead"),
]


@pytest.mark.parametrize(("file", "content", "says"), BROKEN, ids=[f"{n}-{row[0]}" for n, row in enumerate(BROKEN)])
def test_a_broken_file_is_named_with_field_and_remedy(
    sound: Path, file: str, content: str | bytes | None, says: str
) -> None:
    if content is None:
        (sound / file).unlink()
    else:
        write(sound, {file: content})
    found = lines(sound)
    assert any(says in line for line in found), found
    assert all(line.count(": ") >= 2 and "; " in line and "\n" not in line for line in found)


@pytest.mark.parametrize(
    "unit", ["", "1/K", "angstrom", "GPa", "kcal/mol", "S cm−1", "eV/atom", "at.%", "%", "W/m/K", "cm²/s", "mJ m^-2"]
)
def test_units_as_people_write_them_pass(sound: Path, unit: str) -> None:
    write(sound, {"reference/expected.yaml": EXPECTED.replace("unit: eV", f'unit: "{unit}"')})
    write(sound, {"meta/claim.yaml": CLAIM.replace("unit: eV", f'unit: "{unit}"')})
    assert lines(sound) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [("rel_tol: 0.01", "rel_tol: 1e-2"), ("value: -3.5402", "value: -35402e-4"), ("abs_tol: 0.005", "abs_tol: .005")],
)
def test_numbers_as_people_write_them_pass(sound: Path, old: str, new: str) -> None:
    write(sound, {"reference/expected.yaml": EXPECTED.replace(old, new)})
    assert lines(sound) == []


def test_windows_line_ends_and_byte_order_marks_pass(sound: Path) -> None:
    for file in ("meta/claim.yaml", "reference/expected.yaml", "agent_view/claim.txt", "agent_view/paper.md"):
        text = (sound / file).read_text()
        (sound / file).write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    assert lines(sound) == []


def test_every_problem_of_every_package_is_reported(sound: Path) -> None:
    other = shutil.copytree(sound, sound.with_name("MD-0002_other"))
    write(sound, {"meta/claim.yaml": CLAIM.replace("subdomain: md", "subdomain: x\ncolour: red\nsize: 1")})
    (other / "agent_view/claim.txt").unlink()
    (other / "agent_view/paper.md").unlink()
    found = lines(sound.parent)
    for says in ("subdomain: 'x'", "colour: unknown", "size: unknown", "missing claim text", "no paper"):
        assert len([line for line in found if says in line]) == 1, found


def test_two_claims_with_one_id_are_named_both(sound: Path) -> None:
    other = shutil.copytree(sound, sound.with_name("MD-0002_other"))
    found = check([sound, other]).problems
    assert len(found) == 1
    assert (found[0].path, found[0].field) == (other / "meta/claim.yaml", "id")
    assert str(sound) in found[0].problem


def test_a_package_given_twice_is_checked_once(sound: Path) -> None:
    report = check([sound, sound.parent, sound / "../MD-0001_copper"])
    assert (len(report.packages), report.problems) == (1, ())


@pytest.mark.parametrize("folder", ["agent_view", "meta", "reference"])
def test_a_missing_directory_is_named(sound: Path, folder: str) -> None:
    shutil.rmtree(sound / folder)
    assert any(line.startswith(f"{sound / folder}: (directory): missing; ") for line in lines(sound))


@pytest.mark.parametrize(
    "file", ["meta/claim.yaml", "agent_view/claim.txt", "agent_view/paper.md", "reference/expected.yaml"]
)
def test_a_directory_or_pipe_in_place_of_a_file_is_named_and_never_waited_for(sound: Path, file: str) -> None:
    (sound / file).unlink()
    (sound / file).mkdir()
    assert any(line.startswith(f"{sound / file}: (whole file): is a directory") for line in lines(sound))
    (sound / file).rmdir()
    os.mkfifo(sound / file)
    assert any(f"{sound / file}: (whole file): " in line and "pipe" in line for line in lines(sound))


def link_out(sound: Path) -> Path:
    (sound.parent / "secret").write_text("x")
    path = sound / "agent_view/inputs/out"
    path.symlink_to("../../../secret")
    return path


def link_absolute(sound: Path) -> Path:
    path = sound / "agent_view/inputs/absolute"
    path.symlink_to(sound / "agent_view/inputs/table.csv")
    return path


def link_dangling(sound: Path) -> Path:
    path = sound / "reference/gone"
    path.symlink_to("nowhere")
    return path


def link_to_itself(sound: Path) -> Path:
    path = sound / "agent_view/inputs/self"
    path.symlink_to("self")
    return path


def link_to_parent(sound: Path) -> Path:
    path = sound / "agent_view/inputs/up"
    path.symlink_to("..")
    return path


def link_to_hidden(sound: Path) -> Path:
    path = sound / "agent_view/inputs/notes"
    path.symlink_to("../../reference/solution.py")
    return path


def link_of_directory_to_hidden(sound: Path) -> Path:
    path = sound / "agent_view/code"
    path.symlink_to("../reference")
    return path


def link_to_etc(sound: Path) -> Path:
    path = sound / "agent_view/code"
    path.symlink_to("/etc")
    return path


def a_pipe(sound: Path) -> Path:
    path = sound / "agent_view/inputs/pipe"
    os.mkfifo(path)
    return path


@pytest.mark.parametrize(
    "make",
    [
        link_out,
        link_absolute,
        link_dangling,
        link_to_itself,
        link_to_parent,
        link_to_hidden,
        link_of_directory_to_hidden,
        link_to_etc,
        a_pipe,
    ],
)
def test_a_link_that_leaves_or_leads_nowhere_is_named(sound: Path, make: Callable[[Path], Path]) -> None:
    path = make(sound)
    assert any(line.startswith(f"{path}: ") for line in lines(sound))


def test_a_relative_link_inside_agent_view_passes(sound: Path) -> None:
    (sound / "agent_view/inputs/same.csv").symlink_to("table.csv")
    (sound / "agent_view/code").symlink_to("inputs")
    assert lines(sound) == []


def test_two_directories_linked_to_each_other_end(sound: Path) -> None:
    a, b = sound / "agent_view/inputs/a", sound / "agent_view/inputs/b"
    a.mkdir()
    b.mkdir()
    (a / "to_b").symlink_to("../b")
    (b / "to_a").symlink_to("../a")
    assert any("circle" in line for line in lines(sound))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
@pytest.mark.parametrize(
    "name", ["agent_view/claim.txt", "meta/claim.yaml", "agent_view/inputs", "meta", "reference", "."]
)
def test_what_may_not_be_read_is_named_once(sound: Path, name: str) -> None:
    mode = (sound / name).stat().st_mode
    (sound / name).chmod(0)
    try:
        found = lines(sound)
    finally:
        (sound / name).chmod(mode)
    assert [line.split(": ")[0] for line in found] == [str(sound / name)]
    assert "can't be read" in found[0]


def test_a_directory_name_that_no_rule_could_carry_is_named(sound: Path) -> None:
    odd = sound.rename(sound.with_name("MD 0001\ncopper"))
    found = lines(odd)
    assert any("(directory name)" in line for line in found)
    assert all("\n" not in line for line in found)


def test_the_published_layout_passes_and_says_what_is_unknown(sound: Path) -> None:
    (sound / "meta/claim.yaml").unlink()
    (sound / "reference/expected.yaml").unlink()
    (sound / "reference/procedure.md").unlink()
    write(sound, {"meta/claim.md": f"# Claim\n{CLAIM_TEXT}\n# Reproduction\n{PROCEDURE}"})
    report = check([sound])
    assert report.problems == ()
    assert "unknown: " in report.notes[0]
    assert "subdomain" in report.notes[0]


def test_a_package_without_any_metadata_is_named(sound: Path) -> None:
    shutil.rmtree(sound / "meta")
    (sound / "meta").mkdir()
    assert f"{sound / 'meta/claim.yaml'}: (whole file): missing; add it (docs/claims.md)" in lines(sound)


def test_what_is_no_package_is_said(tmp_path: Path, sound: Path) -> None:
    (tmp_path / "empty").mkdir()
    (sound.parent / "not_one").mkdir()
    (sound.parent / "README.md").write_text("x")
    assert "holds no packages" in lines(tmp_path / "empty")[0]
    assert "no such directory" in lines(tmp_path / "gone")[0]
    assert [line for line in lines(sound.parent) if "is not a claim package" in line] != []
    assert check([sound, sound.parent / "README.md"]).problems == ()
    assert check([sound.parent / "README.md"]).problems != ()


def test_the_command_prints_a_line_a_problem_and_a_summary(sound: Path) -> None:
    good = CliRunner().invoke(command, [str(sound)])
    assert (good.exit_code, good.output) == (0, "1 package, 0 problems\n")
    (sound / "agent_view/claim.txt").unlink()
    bad = CliRunner().invoke(command, [str(sound)])
    assert bad.exit_code == 1
    assert bad.output.splitlines() == [
        f"{sound}/agent_view/claim.txt: (whole file): missing claim text; write the claim there",
        "1 package, 1 problem",
    ]
    answer = json.loads(CliRunner().invoke(command, ["--json", str(sound)]).output)
    assert [problem["field"] for problem in answer["problems"]] == ["(whole file)"]


@settings(max_examples=60, deadline=None)
@given(
    claim=st.binary(max_size=80) | st.text("id: []{}'\"\n\t&*!|>-ab1", max_size=80).map(str.encode),
    expected=st.binary(max_size=80) | st.text("outcome: []{}'\"\n\t&*!|>-ab1.", max_size=80).map(str.encode),
)
def test_any_bytes_in_the_yaml_files_give_lines_and_no_traceback(
    claim: bytes, expected: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = write(
        tmp_path_factory.mktemp("p") / "A-1_x",
        {
            "meta/claim.yaml": claim,
            "reference/expected.yaml": expected,
            "reference/procedure.md": PROCEDURE,
            "agent_view/claim.txt": CLAIM_TEXT,
            "agent_view/paper.md": PAPER,
        },
    )
    found = lines(root)
    assert any("meta/claim.yaml" in line for line in found)
    assert all(line.isprintable() for line in found)


def pdf(path: Path, text: str) -> None:
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(path))
    canvas.rect(10, 10, 100, 100)
    canvas.drawString(100, 700, text)
    canvas.save()


@pytest.mark.parametrize("name", ["Miller2020.pdf", "PAPER.PDF"])
def test_a_pdf_alone_is_a_paper_where_it_has_text(sound: Path, name: str) -> None:
    (sound / "agent_view/paper.md").unlink()
    pdf(sound / "agent_view" / name, "The energy of copper")
    assert lines(sound) == []
    pdf(sound / "agent_view" / name, " ")
    assert [line for line in lines(sound) if "an empty paper: a PDF without text" in line] == lines(sound) != []


def test_a_scan_passes_beside_its_text(sound: Path) -> None:
    pdf(sound / "agent_view/paper.pdf", " ")
    assert lines(sound) == []
