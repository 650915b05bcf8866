"""Packages load, ours and the published data set's, and what nobody has set is named."""

import json
from pathlib import Path
from typing import Any

import pytest

from matproof.claims.loading import claim_metadata, find_claims, load_claim
from matproof.core.errors import InputError

REAL = Path(__file__).resolve().parents[2].parent / "shared" / "real" / "tasks"


def write(root: Path, **files: str | bytes) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def published(tmp_path: Path, **provenance: Any) -> Path:
    files: dict[str, str | bytes] = {
        "meta/provenance.json": json.dumps(provenance or {"doi": "10.1000/1"}),
        "meta/claim.md": "# Claim\nThe gap is 1 eV.\n# Instructions\n1. Do the hidden thing.\n",
        "agent_view/claim.txt": "The gap is 1 eV.\n",
        "agent_view/Miller2020.PDF": b"%PDF-1.4",
        "agent_view/inputs/a.csv": "1\n",
        "agent_view/code/run.py": "print(1)\n",
        "reference/solution.py": "print(2)\n",
    }
    return write(tmp_path / "claims" / "AUTOMAT-0007_miller", **files)


@pytest.mark.real
@pytest.mark.skipif(not REAL.is_dir(), reason="the shared real tasks are not beside this checkout")
def test_the_real_packages_load_unchanged() -> None:
    claims = {name: load_claim(REAL / name) for name in find_claims(REAL)}
    assert [claim.metadata.id for claim in claims.values()] == [f"REAL-000{n}" for n in (1, 2, 3, 4)]
    assert all(claim.unknown_fields == () for claim in claims.values())
    first, second, third, fourth = claims.values()
    assert first.expected is not None
    assert first.expected.orderings[0][0] == "mae_tpot"
    assert second.expected is not None
    assert {quantity.name: quantity.value for quantity in second.expected.quantities}["records"] == 1545
    assert third.metadata.software == ["python", "phonopy"]
    assert len(third.inputs) == 23
    assert fourth.expected is not None
    assert fourth.expected.outcome == "contradicted"
    assert fourth.text.startswith("The relaxed cell parameters")


def test_the_published_layout_loads_and_says_what_is_unknown(tmp_path: Path) -> None:
    claim = load_claim(published(tmp_path))
    assert (claim.metadata.id, claim.name) == ("AUTOMAT-0007", "AUTOMAT-0007_miller")
    assert {"title", "subdomain", "reproduction_type", "verification", "resources"} <= set(claim.unknown_fields)
    assert [path.name for path in claim.paper_files] == ["Miller2020.PDF"]
    assert [path.name for path in claim.inputs] == ["a.csv", "run.py"]
    assert claim.procedure is not None
    assert claim.procedure.name == "claim.md"
    assert claim.expected is None


def test_provenance_fills_what_it_says(tmp_path: Path) -> None:
    root = published(
        tmp_path, claim_id="AUTOMAT-0099", title="Gaps", subdomain="DFT", claim_type="From paper", software="a, b"
    )
    claim = load_claim(root)
    assert claim.metadata.id == "AUTOMAT-0099"
    assert (claim.metadata.title, claim.metadata.subdomain) == ("Gaps", "dft")
    assert (claim.metadata.reproduction_type, claim.metadata.software) == ("from_paper", ["a", "b"])
    assert "subdomain" not in claim.unknown_fields
    assert "verification" in claim.unknown_fields


@pytest.mark.parametrize("beside", ["claims/manifest.parquet", "manifest.parquet"])
def test_the_manifest_beside_the_claims_fills_what_it_says(tmp_path: Path, beside: str) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    root = published(tmp_path)
    rows = [
        {"claim_id": "AUTOMAT-0001", "subdomain": "md", "verification": "figure"},
        {"claim_id": "AUTOMAT-0007", "subdomain": "Stat/ML", "verification": "Scalar match"},
    ]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / beside)
    metadata = claim_metadata(root)
    assert (metadata.subdomain, metadata.verification) == ("statml", "scalar")


def test_words_of_a_manifest_that_mean_nothing_here_are_unknown(tmp_path: Path) -> None:
    claim = load_claim(published(tmp_path, subdomain="alchemy", title=["x"]))
    assert claim.metadata.subdomain == "unknown"
    assert {"subdomain", "title"} <= set(claim.unknown_fields)


def test_a_damaged_manifest_is_named(tmp_path: Path) -> None:
    root = published(tmp_path)
    (tmp_path / "manifest.parquet").write_bytes(b"not parquet")
    with pytest.raises(InputError, match=r"manifest\.parquet: .*not readable as Parquet"):
        load_claim(root)


def test_the_claim_text_is_never_taken_from_the_file_that_holds_the_instructions(tmp_path: Path) -> None:
    root = published(tmp_path)
    (root / "agent_view/claim.txt").unlink()
    with pytest.raises(InputError, match=r"claim\.txt"):
        load_claim(root)


def test_unknown_is_named_in_our_own_layout_too(tmp_path: Path) -> None:
    root = published(tmp_path)
    write(root, **{"meta/claim.yaml": "id: X-1\ntitle: t\nsubdomain: md\n"})
    assert load_claim(root).unknown_fields == ("reproduction_type", "verification")


def test_byte_order_marks_and_line_ends_do_not_reach_the_claim(tmp_path: Path) -> None:
    root = write(published(tmp_path), **{"agent_view/claim.txt": b"\xef\xbb\xbfOne\r\ntwo\r\n"})
    assert load_claim(root).text == "One\ntwo"


@pytest.mark.parametrize(
    ("file", "content", "says"),
    [
        ("agent_view/claim.txt", b"\xe9", "byte 0: not UTF-8; save the file as UTF-8"),
        ("agent_view/claim.txt", b"", "is empty"),
        ("meta/claim.yaml", b"id: a\nid: b\n", "line 2: the key 'id' stands twice"),
        ("meta/claim.yaml", b"id: a\n", "title: missing; add it"),
        ("reference/expected.yaml", b"outcome: perhaps\n", "outcome: 'perhaps' is not allowed"),
        ("meta/provenance.json", b"[1]", "not a JSON object"),
    ],
)
def test_what_does_not_load_is_named(tmp_path: Path, file: str, content: bytes, says: str) -> None:
    root = write(published(tmp_path), **{file: content})
    with pytest.raises(InputError) as caught:
        load_claim(root)
    assert str(caught.value).startswith(str(root / file))
    assert says in str(caught.value)


def test_a_directory_name_that_gives_no_id_is_named(tmp_path: Path) -> None:
    root = published(tmp_path)
    with pytest.raises(InputError, match="no usable id"):
        load_claim(root.rename(root.with_name("_miller")))


def test_packages_are_found_by_name_and_nothing_else_is(tmp_path: Path) -> None:
    for name in ("B-1_b/meta", "A-1_a/agent_view", "notes", ".hidden/meta"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "README.md").write_text("x")
    assert find_claims(tmp_path) == ["A-1_a", "B-1_b"]
    with pytest.raises(InputError, match="no such directory"):
        find_claims(tmp_path / "gone")
