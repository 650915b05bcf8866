"""Experts' submissions become packages, however untidy they come."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from hypothesis import example, given, settings
from hypothesis import strategies as st

from matproof.claims import strict_yaml
from matproof.claims.checks import check
from matproof.claims.loading import load_claim
from matproof.claims.submission_form import submissions_in
from matproof.claims.submissions import Imported, import_submissions
from matproof.claims.untidy import read_documents, unquote
from matproof.commands.import_submissions import command
from matproof.core.errors import InputError

TIDY: dict[str, Any] = {
    "username": "expert",
    "paper_title": "Adsorption of gases on a monolayer",
    "paper_pdf": "https://example.org/paper.pdf",
    "identifier": "https://doi.org/10.1000/XYZ_12",
    "claim_type": "custom_code",
    "code_url": "https://example.org/code",
    "claims": [
        {
            "claim": "CO adsorbs with -0.24 eV.",
            "context": "Carbon down.",
            "instruction": ["Relax", "Subtract energies"],
        },
        {"claim": "NH3 adsorbs with -0.62 eV.", "instruction": ["Relax"]},
    ],
    "non_reproducible_claims": [{"claim": "It smells.", "reason": "needs a nose"}],
}


def run(tmp_path: Path, content: str | bytes, name: str = "in.yaml") -> Imported:
    file = tmp_path / name
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return import_submissions([file], tmp_path / "out")


def steps(package: Path) -> str:
    return (package / "reference/procedure.md").read_text()


@pytest.mark.parametrize("name", ["in.yaml", "in.json", "in.txt"])
@pytest.mark.parametrize("write", [json.dumps, yaml.safe_dump], ids=["json", "yaml"])
def test_each_claim_becomes_a_package_whatever_the_ending(tmp_path: Path, name: str, write: Any) -> None:
    result = run(tmp_path, write(TIDY), name)
    claims = [load_claim(package) for package in result.packages]
    assert [claim.text for claim in claims] == ["CO adsorbs with -0.24 eV.", "NH3 adsorbs with -0.62 eV."]
    assert all(claim.name == f"{claim.metadata.id}_{claim.name.split('_', 1)[1]}" for claim in claims)
    assert claims[0].metadata.id.startswith("10.1000-xyz-12-")
    assert {claims[0].metadata.subdomain, claims[0].metadata.verification} == {"unknown"}
    assert set(claims[0].unknown_fields) == {"subdomain", "reproduction_type", "verification"}
    assert steps(result.packages[0]).startswith("1. Relax\n2. Subtract energies\n")
    assert result.failed == []


def test_everything_submitted_is_kept_in_provenance(tmp_path: Path) -> None:
    text = json.dumps({**TIDY, "grant": {"number": 7}})
    package = run(tmp_path, text).packages[1]
    provenance = json.loads((package / "meta/provenance.json").read_text())
    assert provenance["submission"] == {**TIDY, "grant": {"number": 7}}
    assert provenance["source"] == {
        "file": "in.yaml",
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
        "submission": 1,
        "claim": 2,
    }


def test_context_and_links_to_code_stay_hidden_from_the_agent(tmp_path: Path) -> None:
    package = run(tmp_path, json.dumps(TIDY)).packages[0]
    visible = "".join(path.read_text() for path in (package / "agent_view").rglob("*") if path.is_file())
    assert "Carbon down" not in visible
    assert "example.org" not in visible
    assert "Carbon down" in steps(package)


def test_what_is_not_reproducible_is_listed_with_its_reason(tmp_path: Path) -> None:
    result = run(
        tmp_path, yaml.safe_dump({"claims": [], "non_reproducible_claims": [*TIDY["non_reproducible_claims"], "b"]})
    )
    assert [line.split(": submission 1: ")[1] for line in result.not_reproducible] == [
        "It smells. — needs a nose",
        "b — no reason given",
    ]
    assert (result.packages, result.failed) == ([], [])


@pytest.mark.parametrize("empty", ["", "   ", '""', None, "N/A", "..."])
def test_an_empty_claim_is_dropped_with_a_line(tmp_path: Path, empty: str | None) -> None:
    result = run(tmp_path, json.dumps({"claims": [{"claim": empty, "instruction": ["a"]}, {"claim": "b is 1"}]}))
    assert [line for line in result.dropped if "claim 1: dropped: no claim text" in line] == result.dropped
    assert len(result.packages) == 1


def test_an_imported_package_lacks_only_its_paper(tmp_path: Path) -> None:
    package = run(tmp_path, json.dumps(TIDY)).packages[0]
    problems = check([package]).problems
    assert [(problem.path.name, problem.problem) for problem in problems] == [("paper.md", "no paper")]
    (package / "agent_view/paper.md").write_text("A paper.")
    assert check([package]).problems == ()


def test_a_pdf_beside_the_submission_comes_along(tmp_path: Path) -> None:
    (tmp_path / "mine.pdf").write_bytes(b"%PDF-1.4 ...")
    package = run(tmp_path, json.dumps({**TIDY, "paper_pdf": "mine.pdf"})).packages[0]
    assert (package / "agent_view/paper.pdf").read_bytes() == b"%PDF-1.4 ..."


@pytest.mark.parametrize("named", ["../secret.pdf", "/etc/hostname", "gone.pdf", "notpdf.pdf", "a\0b", "."])
def test_a_paper_that_is_not_a_pdf_beside_the_submission_is_said_to_be_missing(tmp_path: Path, named: str) -> None:
    (tmp_path / "secret.pdf").write_bytes(b"%PDF-1.4")
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "notpdf.pdf").write_bytes(b"text")
    result = run(inner, json.dumps({**TIDY, "paper_pdf": named}))
    assert any("no paper" in note for note in result.notes)
    assert not list((inner / "out").rglob("*.pdf"))


def test_importing_twice_overwrites_nothing(tmp_path: Path) -> None:
    first = run(tmp_path, json.dumps(TIDY))
    edited = first.packages[0] / "agent_view/claim.txt"
    edited.write_text("edited by hand")
    second = run(tmp_path, json.dumps(TIDY))
    assert second.packages == []
    assert len(second.failed) == 2
    assert all("is there already" in line for line in second.failed)
    assert edited.read_text() == "edited by hand"


def test_the_same_claim_twice_in_one_import_is_dropped_with_a_line(tmp_path: Path) -> None:
    result = run(tmp_path, json.dumps([TIDY, TIDY]))
    assert len(result.packages) == 2
    assert len(result.dropped) == 2


@pytest.mark.parametrize(
    ("instruction", "expected"),
    [
        ("Do it", "1. Do it\n"),
        ("1. do a 2. do b 3. do c", "1. do a\n2. do b\n3. do c\n"),
        ("1. do a\n2. do b\nmore of b", "1. do a\n2. do b\n   more of b\n"),
        ("- do a\n- do b", "1. do a\n2. do b\n"),
        ("See Table 1. Then see Fig. 2. Stop.", "1. See Table 1. Then see Fig. 2. Stop.\n"),
        (["1. do a", "Step 2: do b", "3) do c", "(4) do d"], "1. do a\n2. do b\n3. do c\n4. do d\n"),
        (["3.5 eV is expected"], "1. 3.5 eV is expected\n"),
        ([{"Expected result": -0.24}, {"DFT setup": "PBE"}], "1. Expected result: -0.24\n2. DFT setup: PBE\n"),
        ([{"step": 1, "text": "do a"}, ["do b", "do c"], None, ""], "1. do a\n2. do b\n3. do c\n"),
        ({"1": "do a", "2": "do b"}, "1. do a\n2. do b\n"),
        (['"cd x"', 'echo "y"'], '1. cd x\n2. echo "y"\n'),
        (42, "1. 42\n"),
    ],
)
def test_steps_are_numbered_whatever_their_form(tmp_path: Path, instruction: Any, expected: str) -> None:
    result = run(tmp_path, json.dumps({"claims": [{"claim": "a is 1", "instruction": instruction}]}))
    assert steps(result.packages[0]) == expected


@pytest.mark.parametrize(
    "document",
    [
        {"Claims": [{"Claim": "a is 1", "Instructions": ["x"]}]},
        {"claims ": {"claim": "a is 1", "STEPS": "x"}},
        {"claims": {"claim_1": {"claim": "a is 1", "instruction": "x"}}},
        {"submissions": [{"claims": [{"claim": "a is 1", "instruction": "x"}]}]},
        {"claim": "a is 1", "instruction": "x"},
        [{"claim": "a is 1", "instruction": "x"}],
        {"cliams": [{"claim": "a is 1", "instrucion": ["x"]}]},
        {"claims": [{"claim": ' ""a is 1" ', "instruction": ["x"]}]},
    ],
)
def test_odd_shapes_and_spellings_are_understood(tmp_path: Path, document: Any) -> None:
    result = run(tmp_path, json.dumps(document))
    assert (result.packages[0] / "agent_view/claim.txt").read_text() == "a is 1\n"
    assert steps(result.packages[0]) == "1. x\n"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ('{"claims": [{"claim": "a is 1", "instruction": ["x",],},],}', 1),
        ('{"claims": [{"claim": "a is 1"}]}\n{"claims": [{"claim": "b is 2"}]}', 2),
        ("claims:\n- claim: a is 1\n---\nclaims:\n- claim: b is 2\n", 2),
        ("paper_title: Gas: a study\nclaims:\n- claim: The gap: 2 eV\n", 1),
        ('claims:\n- claim: "gap" is 2 eV\n  instruction:\n\t- x\n', 1),
        ("claims:\n- claim: @home it is 2 eV\n- claim: 100 % of b\n- claim: %x is 2\n", 3),
        ("steps: &a [x]\nclaims:\n- {claim: a is 1, instruction: *a}\n- {claim: b is 1, instruction: *a}\n", 2),
        ("\ufeffclaims:\r\n- claim: a is 1\r\n", 1),
        ("claims: [a is 1, b is 2, 2026-01-01 was cold]", 3),
    ],
)
def test_slips_of_syntax_do_not_lose_claims(tmp_path: Path, text: str, count: int) -> None:
    result = run(tmp_path, text)
    assert len(result.packages) == count, result
    assert result.failed == []


def test_windows_encodings_are_read_and_said(tmp_path: Path) -> None:
    result = run(tmp_path, "claims: [a is 1 ± 2 Å]".encode("cp1252"))
    assert (result.packages[0] / "agent_view/claim.txt").read_text() == "a is 1 ± 2 Å\n"
    assert any("Windows-1252" in note for note in result.notes)
    assert run(tmp_path, "claims: [b is 1 Å]".encode("utf-16")).packages != []


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "empty"),
        (b"\n\n", "empty"),
        (b"just words", "not a submission but text"),
        (b'{"claims": [', "line 1: not valid JSON"),
        (b'{"claims": [], "claims": [{"claim": "lost"}]}', "stands twice"),
        (b"claims: []\nclaims: [lost]\n", "stands twice"),
        (b"{}", "holds no claims"),
        (b"[" * 100_000, "not valid JSON"),
        (b"a: &a [*a]\nclaims: [b is 1]\n", "too large or too deeply nested"),
        (
            b"x: &a0 [l]\n"
            + b"".join(b"x%d: &a%d [%s*a%d]\n" % (i, i, b"*a%d," % (i - 1) * 8, i - 1) for i in range(1, 9)),
            "too large",
        ),
        (bytes(range(256)), ""),
    ],
)
def test_what_cannot_be_read_is_one_line_and_no_traceback(tmp_path: Path, content: bytes, why: str) -> None:
    result = run(tmp_path, content)
    assert result.packages == []
    assert len(result.failed) == 1
    assert why in result.failed[0]


def test_one_broken_file_does_not_stop_the_others(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(json.dumps(TIDY))
    bad.write_text("{")
    answer = CliRunner().invoke(command, [str(bad), str(good), str(tmp_path), "--out", str(tmp_path / "out")])
    assert answer.exit_code == 1
    assert answer.output.splitlines()[-1] == (
        "2 packages written, 1 claims not reproducible, 0 claims dropped, 2 failures"
    )
    assert len(list((tmp_path / "out").iterdir())) == 2


def test_a_file_in_place_of_the_output_directory_is_an_input_error(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(InputError, match="is not a directory"):
        run(tmp_path, json.dumps(TIDY))


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ('"a"', "a"),
        ("'\"a\"'", "a"),
        ("“a”", "a"),
        ('a"', "a"),
        ('"a', "a"),
        ('"a" or "b"', '"a" or "b"'),
        ('echo "x"', 'echo "x"'),
        ("Young's", "Young's"),
        ('""', ""),
        ('"', ""),
    ],
)
def test_stray_quotes_go_and_meant_ones_stay(raw: str, clean: str) -> None:
    assert unquote(raw) == clean


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["claims", "claim", "Instruction", "context", "reason", "x"]) | st.text(), inner
        )
    ),
    max_leaves=20,
)


@settings(max_examples=150, deadline=None)
@given(document=JSON)
def test_any_document_is_read_and_no_claim_vanishes(document: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    data = json.dumps(document).encode()
    found = [item for item in submissions_in(read_documents(data).documents) if not isinstance(item, str)]
    result = run(tmp_path_factory.mktemp("any"), data)
    assert len(result.packages) + len(result.dropped) == sum(len(item.claims) for item in found)
    assert [load_claim(package).name for package in result.packages] == [package.name for package in result.packages]


@settings(max_examples=150, deadline=None)
@given(data=st.binary(max_size=200) | st.text(alphabet="claims: -[]{}'\"\n\t&*#|>a1", max_size=120).map(str.encode))
def test_any_bytes_are_read_or_refused_with_a_reason(data: bytes) -> None:
    reading = read_documents(data)
    assert reading.problem is None or reading.problem.strip()


@settings(max_examples=100, deadline=None)
@given(
    texts=st.lists(
        st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1, max_size=60).filter(
            lambda t: any(c.isalnum() for c in t)
        ),
        min_size=1,
        max_size=4,
    )
)
def test_every_claim_text_survives_yaml_and_json_alike(texts: list[str]) -> None:
    document = {"claims": [{"claim": text, "instruction": ["x"]} for text in texts]}
    first = list(submissions_in(read_documents(json.dumps(document).encode()).documents))
    second = list(submissions_in(read_documents(yaml.safe_dump(document, allow_unicode=True).encode()).documents))
    assert not isinstance(first[0], str)
    assert not isinstance(second[0], str)
    assert [claim.text for claim in first[0].claims] == [claim.text for claim in second[0].claims]


@given(st.dictionaries(st.text(max_size=5), st.text(max_size=12) | st.from_regex(r"[-+.0-9e_]{1,8}", fullmatch=True)))
@example({"title": "1e-05"})
def test_text_that_looks_like_a_number_stays_text_in_what_is_written(fields: dict[str, str]) -> None:
    written = {key: value for key, value in fields.items() if key.isprintable() and value.isprintable()}
    assert strict_yaml.parse(strict_yaml.dump(written), file="x") == written
