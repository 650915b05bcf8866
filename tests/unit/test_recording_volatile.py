"""What differs from run to run: found, named, and never mistaken for a result."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from matproof.models.volatile import difference, expected, finds, normalise, nth

VOLATILE = {
    "uuid": ["3f0c2a4e-8b1d-4c7e-9a55-0123456789ab", "3F0C2A4E-8B1D-4C7E-9A55-0123456789AB"],
    "path": [
        "/tmp/tmp.liJg8q6pDB",
        "/tmp/pytest-of-root/pytest-0/out.txt",
        "/var/tmp/x/y.log",
        "/dev/shm/a",
        "/home/alice",
        "/home/alice/notes.txt",
        "/root",
        "/root/.cache/x",
        "/Users/bob/Desktop",
        "/run/user/1000/bus",
        "/opt/state/.claude/projects/-work/abc.jsonl",
        "/opt/h/.codex/sessions/x",
        "/w/tool-results/toolu_1.txt",
    ],
    "mktemp": ["tmp.liJg8q6pDB", "tmpab12_x9q"],
    "date": [
        "2026-11-21",
        "2026-11-21T22:33:50Z",
        "2026-11-21T22:33:50.123456+00:00",
        "2026-11-21 22:33:50,123",
        "Sat Nov 21 22:33:50 UTC 2026",
        "Sat Nov 21 22:33:50 2026",
        "Sat Nov  7 10:33:50 PM UTC 2026",
        "Sat, 21 Nov 2026 22:33:50 +0000",
        "November 21, 2026",
        "20261121_223350",
        "20261121T223350",
    ],
    "time": ["22:33:50", "9:05:01.250"],
    "epoch": ["1795301824", "1795301824.394", "1795301824394", "1795301824394275892"],
    "address": ["0x7f3c12345678"],
    "hex": ["d41d8cd98f00b204e9800998ecf8427e", "a" * 64, "0123456789abcdef"],
}
KEPT = [
    "5.4307",
    "-15.8513 eV",
    "3.1415926535897932",
    "0.05",
    "12 atoms",
    "/work/artifacts/results.json",
    "/rootfs",
    "/tmp",
    "/usr/bin/python3",
    "a0 = 5.43e+00",
    "deadbeef",
    "version 2.1.329",
    "Nov 21",
    "127.0.0.1",
    "1e10",
]
PARTS = st.one_of(
    st.sampled_from([value for values in VOLATILE.values() for value in values]),
    st.sampled_from(KEPT),
    st.sampled_from(
        ["-rw-r--r-- 1 root root 55 Nov 21 22:33 ", "total 8\n", "drwxr-xr-x 2 a b 1795301824 Nov 21  2025 x"]
    ),
    st.sampled_from(
        ["Wall time: 0.0512 seconds", "session ID 39216", "agentId: a1b2c3", "localhost:41234", "passed in 0.03s"]
    ),
    st.sampled_from([" ", "\n", "\t", ": ", "/", ".", "-", "⟨", "⟩", "⟨path⟩", "/work/a", "/work/a/b", "{{", "'"]),
    st.text(max_size=6),
)
TEXTS = st.lists(PARTS, max_size=12).map("".join)


@pytest.mark.parametrize(("kind", "value"), [(kind, value) for kind, values in VOLATILE.items() for value in values])
def test_what_differs_from_run_to_run_is_found_whole(kind: str, value: str) -> None:
    assert normalise(f"it is {value} here") == f"it is ⟨{kind}⟩ here"
    assert normalise(f'{{"at": "{value}"}}') == f'{{"at": "⟨{kind}⟩"}}'
    assert nth(f"x {value}.\ny", kind, 0) == value


@pytest.mark.parametrize("text", KEPT)
def test_what_a_run_found_out_is_kept(text: str) -> None:
    assert normalise(f"it is {text} here") == f"it is {text} here"


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("saved /work/a/b/t.json", "saved ⟨cwd⟩/t.json"),
        ("in /work/a/b.", "in ⟨cwd⟩."),
        ("file:///work/a/b/x", "file://⟨cwd⟩/x"),
        ("/work/a/bc /work/a/b-2 /x/work/a/b /work/a/b.txt", "/work/a/bc /work/a/b-2 /x/work/a/b /work/a/b.txt"),
    ],
)
def test_the_working_directory_has_a_name_of_its_own(text: str, normal: str) -> None:
    assert normalise(text, "/work/a/b") == normal


def test_a_root_directory_is_no_name_for_everything() -> None:
    assert normalise("/usr/bin and /", "/") == "/usr/bin and /"


def test_a_working_directory_below_tmp_or_home_is_still_the_working_directory() -> None:
    for cwd in ("/tmp/pytest-1/work", "/home/alice/work", "/work"):
        assert normalise(f"{cwd}/t.json beside /tmp/x", cwd) == "⟨cwd⟩/t.json beside ⟨path⟩"


def test_a_listing_keeps_modes_sizes_and_names_alone() -> None:
    here = "total 12\n-rw-r--r-- 1 root root  55 Nov 21 22:33 t.json\ndrwxr-xr-x 2 root root 4096 Nov 21 22:33 sub"
    there = (
        "total 4\n-rw-r--r-- 1 nobody nogroup 55 Jan  3  2025 t.json\ndrwxr-xr-x 5 nobody nogroup 60 Jan  3 01:02 sub"
    )
    assert normalise(here) == normalise(there)
    assert normalise(here) == "⟨total⟩\n-rw-r--r-- ⟨owner⟩ 55 ⟨date⟩ t.json\ndrwxr-xr-x ⟨owner⟩ ⟨size⟩ ⟨date⟩ sub"
    assert normalise(here) != normalise(here.replace("55", "56"))


@pytest.mark.parametrize(
    ("here", "there"),
    [
        ("Chunk ID: f3a1b2\nWall time: 0.0512 seconds", "Chunk ID: 00c4d1\nWall time: 12.2 seconds"),
        ("Original token count: 12", "Original token count: 13"),
        ("agentId: a1b2c3 (internal)", "agentId: f00 (internal)"),
        ("<usage>duration_ms: 456</usage>", "<usage>duration_ms: 7</usage>"),
        ("Process running with session ID 39216", "Process running with session ID 4"),
        ("Command running in background with ID: bx1", "Command running in background with ID: c22"),
        ("3 passed in 0.03s", "3 passed in 1.20s"),
        ("real\t0m0.012s\nuser\t0m0.001s", "real\t1m0.0s\nuser\t0m0.002s"),
        ("http://127.0.0.1:41234/s", "http://127.0.0.1:50001/s"),
    ],
)
def test_what_clients_and_shells_put_around_a_result_is_the_same_everywhere(here: str, there: str) -> None:
    assert normalise(here) == normalise(there)


@given(TEXTS, st.sampled_from([None, "/work/a", "/tmp/w"]))
def test_normalising_twice_changes_nothing(text: str, cwd: str | None) -> None:
    once = normalise(text, cwd)
    assert normalise(once, cwd) == once


@given(TEXTS, st.sampled_from([None, "/work/a"]))
def test_every_find_can_be_asked_for_by_its_number(text: str, cwd: str | None) -> None:
    counts: dict[str, int] = {}
    for find in finds(text, cwd):
        number = counts[find.kind] = counts.get(find.kind, -1) + 1
        assert nth(text, find.kind, number, cwd) == text[find.start : find.end]
    with pytest.raises(LookupError):
        nth(text, "uuid", counts.get("uuid", -1) + 1, cwd)


def test_a_long_result_is_kept_by_its_beginning_its_size_and_its_hash() -> None:
    long = "\n".join(f"step {number}: -15.8 eV at 22:33:50" for number in range(1000))
    kept = expected(long)
    assert len(kept) < 1200
    assert kept.endswith("⟩")
    assert expected(long.replace("22:33:50", "01:02:03")) == kept
    assert expected(long.replace("step 999: -15.8", "step 999: -15.9")) != kept


@pytest.mark.parametrize(
    "text",
    [
        "/" * 1_000_000,
        "/a" * 500_000,
        "/tmp/" * 200_000,
        "-rw-r--r-- 1" + " " * 1_000_000,
        "Mon" + " " * 1_000_000,
        "deadbeef" * 125_000,
        "1" * 1_000_000,
    ],
    ids=["slashes", "parts", "tmp", "listing", "weekday", "hex", "digits"],
)
def test_hostile_text_takes_no_longer_than_other_text(text: str) -> None:
    began = time.process_time()
    expected(text)
    assert time.process_time() - began < 2


def test_a_difference_is_told_by_its_first_line() -> None:
    assert difference("a\nb\nc", "a\nB\nC") == "line 2 was 'b', is 'B'"
    assert difference("a\nb", "a") == "line 2 was 'b', is not there"
    assert difference("a", "a\n") == "line 2 was not there, is ''"
    told = difference(f"{'x' * 5000}yes{'.' * 500}", f"{'x' * 5000}no{'.' * 500}")
    assert len(told) < 400
    assert "xyes." in told
    assert "xno." in told
