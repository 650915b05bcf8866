"""What the agent must not see is found under agent_view/, and what it may see raises no alarm."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matproof.claims.checks import check
from matproof.claims.hidden import numbers, procedure_steps, significant_digits, words

REAL = Path(__file__).resolve().parents[2].parent / "shared" / "real" / "tasks"

CLAIM = "id: A-1\ntitle: t\nsubdomain: md\nreproduction_type: from_paper\nverification: scalar\n"
EXPECTED = """\
outcome: {outcome}
quantities:
  - {{name: lattice_constant, value: 3.6149, unit: angstrom, abs_tol: 0.005}}
  - {{name: bulk_modulus, value: 138.4, unit: GPa, rel_tol: 0.02}}
  - {{name: vacancy_energy, value: 1.3, unit: eV, abs_tol: 0.05}}
"""
PROCEDURE = """\
# How to reproduce it

1. Build a face-centred cubic cell of copper with the supplied potential file.
2. Minimise the energy over nine lattice constants and fit a third-order polynomial to them. Take its minimum.
3. Remove one atom, relax, and subtract the energies scaled to one atom less.
4. Compare.
"""
SOLUTION = "import numpy\n\nprint(numpy.polyfit([3.5, 3.6, 3.7], [1.0, 0.5, 1.1], 2))\n"
SUPPORTED = "Copper has a lattice constant of 3.6149 angstrom, a bulk modulus of 138.4 GPa, a vacancy of 1.3 eV.\n"
CONTRADICTED = "Copper has a lattice constant of 3.75 angstrom, a bulk modulus of 155 GPa, a vacancy of 0.9 eV.\n"


def package(tmp_path: Path, outcome: str = "supported", *, files: Mapping[str, str | bytes] | None = None) -> Path:
    root = tmp_path / "A-1_copper"
    contents: dict[str, str | bytes] = {
        "meta/claim.yaml": CLAIM,
        "meta/provenance.json": '{"source": "a repository of the authors"}',
        "agent_view/claim.txt": SUPPORTED if outcome == "supported" else CONTRADICTED,
        "agent_view/paper.md": "# Copper\n\nWe fit a potential to first-principles data.\n",
        "agent_view/inputs/runs.csv": "a,e\n"
        + "\n".join(f"{3.5 + i / 1000:.4f},{130 + i / 10:.1f}" for i in range(300)),
        "reference/procedure.md": PROCEDURE,
        "reference/expected.yaml": EXPECTED.format(outcome=outcome),
        "reference/solution.py": SOLUTION,
        **(files or {}),
    }
    for name, content in contents.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def flagged(root: Path) -> list[str]:
    return [str(problem.path.relative_to(root / "agent_view")) for problem in check([root]).problems]


@pytest.mark.parametrize("outcome", ["supported", "contradicted"])
def test_a_sound_package_raises_no_alarm(tmp_path: Path, outcome: str) -> None:
    assert flagged(package(tmp_path, outcome)) == []


STEPS = [line.split(". ", 1)[1] for line in PROCEDURE.splitlines() if line[:1].isdigit()]

LEAKS: list[tuple[str, str | bytes]] = [
    ("inputs/expected.yaml", "x: 1\n"),
    ("inputs/Expected.YML", "x: 1\n"),
    ("code/procedure.md", "words\n"),
    ("inputs/provenance.json", "{}"),
    ("inputs/answers.txt", "words\n"),
    ("claim.yaml", "x: 1\n"),
    ("inputs/notes.md", PROCEDURE),
    ("inputs/notes.md", PROCEDURE.replace("\n", "\r\n").upper()),
    ("inputs/notes.md", "* " + " ".join(STEPS)),
    ("inputs/notes.md", f"Hints: {STEPS[1]}"),
    ("inputs/notebook.ipynb", '{"source": ["' + PROCEDURE.replace("\n", "\\n") + '"]}'),
    ("code/run.py", f"# {STEPS[0]}\n# {STEPS[2]}\n"),
    ("code/run.py", SOLUTION),
    ("code/run.py", SOLUTION.replace("\n", "\r\n") + "\n\n"),
    ("claim.txt", SUPPORTED + PROCEDURE),
    ("claim.txt", SUPPORTED + STEPS[0]),
    ("paper.md", "# Copper\n\n" + PROCEDURE),
    ("paper.md", "# Copper\n\nWe compute. " + " ".join(STEPS[:2])),
    ("inputs/config.yaml", EXPECTED.format(outcome="supported")),
    ("paper.md", "# Copper\n\noutcome: supported\n"),
    ("inputs/config.json", '{"lattice_constant": 3.6149, "bulk_modulus": 138.4, "vacancy_energy": 1.3}'),
    ("inputs/config.csv", "lattice_constant,3.6149\nbulk_modulus,138.4\nvacancy_energy,1.30\n"),
    ("inputs/values.txt", "3.6149 138.4 1.3\n"),
    ("inputs/readme.txt", "The values to find are 3.6149 angstrom, 138.4 GPa and 1.3 eV.\n"),
]


@pytest.mark.parametrize(("name", "content"), LEAKS, ids=[f"{n}-{row[0]}" for n, row in enumerate(LEAKS)])
def test_hidden_material_is_found(tmp_path: Path, name: str, content: str | bytes) -> None:
    assert flagged(package(tmp_path, files={f"agent_view/{name}": content})) == [name]


@pytest.mark.parametrize(
    "text", ["3.6149", "3.6149 Å", "3.615 angstrom", "138.4 GPa", "138 GPa", "1.3 eV", "1.30 eV", "-3.61"]
)
@pytest.mark.parametrize("name", ["claim.txt", "paper.md", "inputs/README.md"])
def test_the_true_value_of_a_contradicted_claim_is_found_in_prose(tmp_path: Path, name: str, text: str) -> None:
    content = CONTRADICTED + f"In the released output it is really {text}, as the authors told us later by letter.\n"
    assert flagged(package(tmp_path, "contradicted", files={f"agent_view/{name}": content})) == [name]


def test_a_value_that_a_contradicted_claim_states_rightly_can_be_said_to_be_stated(tmp_path: Path) -> None:
    text = CONTRADICTED.replace("155 GPa", "138.4 GPa")
    assert flagged(package(tmp_path, "contradicted", files={"agent_view/claim.txt": text})) == ["claim.txt"]
    expected = EXPECTED.format(outcome="contradicted").replace("unit: GPa", "stated: true, unit: GPa")
    files: dict[str, str | bytes] = {"agent_view/claim.txt": text, "reference/expected.yaml": expected}
    assert flagged(package(tmp_path, "contradicted", files=files)) == []


HARMLESS: list[tuple[str, str | bytes]] = [
    (
        "paper.md",
        "# Copper\n\n" + SUPPORTED + "\nResults: lattice_constant: 3.6149, bulk_modulus: 138.4, vacancy_energy: 1.3",
    ),
    ("paper.md", "# Copper\n\nWe build a cell. " + STEPS[0]),
    ("inputs/table.csv", "\n".join(f"{x / 100},{x}" for x in range(3000)) + "\n3.6149,138.4,1.3\n"),
    ("inputs/run.in", "a = 3.6149\nrun 138\n"),
    ("inputs/energies.dat", "3.6149 1.0\n138.4 2.0\n" + "1.0 2.0\n" * 40),
    ("code/close.py", "import math\nassert math.isclose(1.0, 1.0, abs_tol=0.005)\n"),
    ("code/LICENSE", "Permission is hereby granted, free of charge\n"),
    ("inputs/solid_solution.cif", "data\n"),
    ("inputs/blob.bin", bytes(range(256)) * 100),
    ("inputs/empty", b""),
    ("inputs/outcomes.txt", "The outcome of the test was supported by the data of the authors.\n"),
]


@pytest.mark.parametrize(("name", "content"), HARMLESS, ids=[f"{n}-{row[0]}" for n, row in enumerate(HARMLESS)])
def test_what_may_be_seen_raises_no_alarm(tmp_path: Path, name: str, content: str | bytes) -> None:
    licence: dict[str, str | bytes] = {
        "reference/LICENSE": "Permission is hereby granted, free of charge\n",
        "reference/empty": b"",
    }
    assert flagged(package(tmp_path, files={f"agent_view/{name}": content, **licence})) == []


@pytest.mark.parametrize("name", ["inputs/in.csv", "inputs/deep/run.in", "inputs/poscar.dat"])
def test_numbers_in_data_of_a_contradicted_claim_raise_no_alarm(tmp_path: Path, name: str) -> None:
    content = "3.6149 138.4 1.3\n" + "3.1 4.1 5.9\n" * 30
    assert flagged(package(tmp_path, "contradicted", files={f"agent_view/{name}": content})) == []


def test_an_input_that_the_reference_carries_along_is_no_leak(tmp_path: Path) -> None:
    data = "one,two,three,four,five\n" * 3
    files: dict[str, str | bytes] = {"agent_view/inputs/a.csv": data, "reference/inputs/a.csv": data}
    assert flagged(package(tmp_path, files=files)) == []
    moved: dict[str, str | bytes] = {"agent_view/code/a.csv": data, "reference/inputs/a.csv": data}
    assert flagged(package(tmp_path / "b", files=moved)) == ["code/a.csv"]


def test_given_results_are_input_of_a_claim_that_interprets_them(tmp_path: Path) -> None:
    claim = CLAIM.replace("from_paper", "artifact_interpretation")
    files: dict[str, str | bytes] = {"agent_view/inputs/results.dat": "3.6149 138.4 1.3\n", "meta/claim.yaml": claim}
    assert flagged(package(tmp_path, files=files)) == []


def test_instructions_of_the_published_layout_count_as_the_procedure(tmp_path: Path) -> None:
    root = package(tmp_path, files={"meta/claim.md": f"# Claim\n{SUPPORTED}\n# Reproduction steps\n{PROCEDURE}"})
    (root / "reference/procedure.md").unlink()
    assert flagged(root) == []
    (root / "agent_view/inputs/notes.md").write_text(STEPS[1])
    assert flagged(root) == ["inputs/notes.md"]


@pytest.mark.real
@pytest.mark.skipif(not REAL.is_dir(), reason="the shared real tasks are not beside this checkout")
@pytest.mark.parametrize("name", sorted(path.name for path in REAL.iterdir()) if REAL.is_dir() else [])
@pytest.mark.parametrize("place", ["paper.md", "claim.txt", "inputs/notes.txt"])
@pytest.mark.parametrize("secret", ["procedure.md", "expected.yaml"])
def test_hidden_files_of_real_packages_are_found_wherever_they_are_pasted(
    tmp_path: Path, name: str, place: str, secret: str
) -> None:
    root = tmp_path / name
    for source in (path for path in (REAL / name).rglob("*") if path.is_file()):
        target = root / source.relative_to(REAL / name)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source.read_bytes())
    path = root / "agent_view" / place
    path.write_bytes((path.read_bytes() if path.exists() else b"") + (root / "reference" / secret).read_bytes())
    assert flagged(root) == [place]


def test_numbers_are_read_as_people_write_them() -> None:
    assert numbers("8.524, 8.232 and −1.5e-3; 3 x 10^-4, 4×10−2 .5 H2O v1") == [
        8.524,
        8.232,
        -0.0015,
        0.0003,
        0.04,
        0.5,
    ]
    assert set(numbers("1,545 records")) == {1545.0, 1.0, 545.0}
    assert numbers("3.6149angstrom") == [3.6149]


@pytest.mark.parametrize(("value", "digits"), [(8.524, 4), (8.5, 2), (1200.0, 2), (9.675e-6, 4), (0.0, 0), (-0.05, 1)])
def test_significant_digits_are_those_people_write(value: float, digits: int) -> None:
    assert significant_digits(value) == digits


def test_steps_are_sentences_without_headings_and_the_claim() -> None:
    text = "# Claim\nThe gap is one volt wide here.\n# Steps\n1. Do the first thing with care. Do the second one too.\n"
    assert procedure_steps(text) == ["do the first thing with care", "do the second one too"]


@given(st.text(max_size=200))
def test_any_text_can_be_searched(text: str) -> None:
    assert words(text) == words(words(text))
    assert all(isinstance(number, float) for number in numbers(text))
