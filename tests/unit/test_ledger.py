"""The ledger: what many writers spent, read without locks, whatever they do meanwhile."""

import json
import os
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ledger_fixture import head, reserve, spend

from matproof.core.errors import InfrastructureError
from matproof.records.account import Account, Entry, parse_entry, read_account
from matproof.records.ledger import FOLD_AT, Ledger, spent


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "results/ledger"


def total(ledger: Path) -> float:
    return Ledger(ledger).look().of(scripted=False).usd


def files(ledger: Path) -> list[Path]:
    return sorted(ledger.glob("*.jsonl"))


def test_a_campaign_that_spent_nothing_has_spent_zero(tmp_path: Path) -> None:
    found = spent(tmp_path / "results")
    assert (found.usd, found.usd_reason, found.tokens, found.requests) == (0.0, None, 0, 0)


def test_what_is_spent_is_the_sum_of_all_attempts_and_judgings(ledger: Path) -> None:
    spend(ledger, usd=1.0, tokens=10)
    spend(ledger, usd=2.0, tokens=20, attempt=2, end=False)
    spend(ledger, usd=4.0, tokens=40, judge="strict")
    spend(ledger, usd=8.0, tokens=80, setting="other")
    found = spent(ledger.parent)
    assert (found.usd, found.tokens, found.requests) == (15.0, 150, 4)
    assert {name: one.usd for name, one in found.settings.items()} == {"live": 7.0, "other": 8.0}
    assert {name: one.usd for name, one in found.judges.items()} == {"strict": 4.0}


def test_a_rehearsal_by_script_costs_nothing(ledger: Path) -> None:
    spend(ledger, usd=1.0, tokens=10)
    spend(ledger, usd=100.0, tokens=1000, scripted=True)
    found = spent(ledger.parent)
    assert (found.usd, found.tokens) == (1.0, 10)
    assert found.rehearsed is not None
    assert found.rehearsed.usd == 100.0


def test_an_unknown_cost_makes_the_total_unknown_and_says_how_often(ledger: Path) -> None:
    account = Account(ledger, head())
    account.settle(1, tokens=10, usd=1.0, estimated_usd=None)
    account.settle(2, tokens=10, usd=0.5, estimated_usd=0.5)
    account.close()
    found = spent(ledger.parent)
    assert found.usd is None
    assert found.usd_reason == "the cost of 1 of 2 requests is unknown"
    assert (found.usd_counted, found.unknown) == (1.5, 1)


def test_a_reader_sees_what_is_new_since_its_last_look(ledger: Path) -> None:
    reader = Ledger(ledger)
    account = spend(ledger, usd=1.0, end=False)
    assert reader.look().of(scripted=False).usd == 1.0
    account.settle(2, tokens=0, usd=2.0, estimated_usd=None)
    account.write()
    spend(ledger, usd=4.0, attempt=2)
    assert reader.look().of(scripted=False).usd == 7.0
    account.close()
    assert reader.look().of(scripted=False).usd == 7.0


def test_a_torn_last_line_leaves_the_line_before(ledger: Path) -> None:
    spend(ledger, usd=1.0, end=False)
    (file,) = files(ledger)
    for cut in (b'{"claim": "A', b"\0" * 100):
        with file.open("ab") as stream:
            stream.write(cut)
        assert total(ledger) == 1.0


def test_an_account_of_which_not_even_the_first_line_was_written_spent_nothing(ledger: Path) -> None:
    ledger.mkdir(parents=True)
    (ledger / "a.jsonl").write_bytes(b'{"cla')
    assert total(ledger) == 0.0


@pytest.mark.parametrize("field", ["usd", "tokens", "held_usd", "gpu_s"])
@pytest.mark.parametrize("value", [-1, float("nan"), float("inf"), 1e300, "much"])
def test_a_number_that_makes_no_sense_is_an_error_that_names_file_and_field(
    ledger: Path, field: str, value: object
) -> None:
    spend(ledger, usd=1.0)
    (file,) = files(ledger)
    line = json.loads(file.read_text().splitlines()[-1])
    with file.open("a") as stream:
        stream.write(json.dumps(line | {field: value}) + "\n")
    with pytest.raises(InfrastructureError, match=f"{file.name}.*{field}|{file.name}.*last line"):
        total(ledger)


def test_an_account_that_is_gone_is_an_error_not_a_refund(ledger: Path) -> None:
    spend(ledger, usd=1.0, end=False)
    reader = Ledger(ledger)
    reader.look()
    files(ledger)[0].unlink()
    with pytest.raises(InfrastructureError, match="is gone; restore it"):
        reader.look()


def test_what_a_dead_writer_had_under_way_counts_once_another_takes_its_place(ledger: Path) -> None:
    dead = spend(ledger, usd=1.0, tokens=5, end=False)
    reserve(dead, usd=0.25, tokens=100)
    reader = Ledger(ledger)
    assert reader.look().of(scripted=False).usd == 1.0
    assert spent(ledger.parent).under_way == 1
    left = reader.left_open(head().who)
    assert left == [dead.name]
    heir = Account(ledger, head(attempt=2, succeeds=left))
    found = spent(ledger.parent)
    assert (found.usd, found.usd_counted, found.unknown, found.under_way) == (None, 1.25, 1, 0)
    assert reader.left_open(head().who) == [heir.name]
    assert reader.succeeded(dead.name)


def test_two_runs_of_one_name_have_two_accounts(ledger: Path) -> None:
    spend(ledger, usd=1.0)
    spend(ledger, usd=1.0)
    assert (len(files(ledger)), total(ledger)) == (2, 2.0)


def test_names_of_claims_never_lead_out_of_the_ledger(ledger: Path) -> None:
    spend(ledger, usd=1.0, claim="../../x" * 50, setting="/etc/passwd\n")
    assert len(files(ledger)) == 1
    assert total(ledger) == 1.0


def test_folding_changes_no_sum_and_shortens_the_list(ledger: Path) -> None:
    for number in range(FOLD_AT):
        spend(ledger, usd=1.0, attempt=number)
    dead = spend(ledger, usd=2.0, end=False, repeat=2)
    reserve(dead, usd=3.0)
    live = Account(ledger, head(repeat=2, attempt=2, succeeds=[dead.name]))
    before, reader = spent(ledger.parent), Ledger(ledger)
    reader.look()
    Ledger(ledger).fold()
    assert [path.name for path in files(ledger)] == [live.name]
    assert spent(ledger.parent) == before
    assert reader.look().of(scripted=False).usd == before.usd_counted == FOLD_AT + 5.0
    assert len(list((ledger / "past").iterdir())) == FOLD_AT + 1


def test_what_two_fold_at_once_counts_once(ledger: Path) -> None:
    for number in range(5):
        spend(ledger, usd=1.0, attempt=number)
    kept = {path.name: path.read_bytes() for path in files(ledger)}
    Ledger(ledger).fold(at=1)
    for name, text in kept.items():  # as if another had listed them before they moved, and folded them after
        (ledger / name).write_bytes(text)
    Ledger(ledger).fold(at=1)
    assert len(list((ledger / "pages").iterdir())) == 2
    assert total(ledger) == 5.0


def test_a_crash_between_page_and_move_changes_nothing(ledger: Path) -> None:
    for number in range(5):
        spend(ledger, usd=1.0, attempt=number)
    kept = {path.name: path.read_bytes() for path in files(ledger)}
    Ledger(ledger).fold(at=1)
    for name, text in kept.items():
        (ledger / name).write_bytes(text)
    assert total(ledger) == 5.0


def test_readers_see_every_cent_while_others_write_end_and_fold(ledger: Path) -> None:
    """A look never shows less than what was durable before it, nor more than what was begun."""
    begun, durable, lock, over, wrong = [0], [0], threading.Lock(), threading.Event(), []

    def work(writer: int) -> None:
        for attempt in range(12):
            with lock:
                begun[0] += 2
            account = Account(ledger, head(repeat=writer, attempt=attempt))
            for number in range(2):
                account.settle(number, tokens=0, usd=1.0, estimated_usd=None)
                account.write()
                with lock:
                    durable[0] += 1
            account.close()
            Ledger(ledger).fold(at=3)

    def watch() -> None:
        reader = Ledger(ledger)
        while not over.is_set():
            least = durable[0]
            seen = reader.look().of(scripted=False).usd
            if not least <= seen <= begun[0]:
                wrong.append((least, seen, begun[0]))

    writers = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    readers = [threading.Thread(target=watch) for _ in range(2)]
    for thread in (*writers, *readers):
        thread.start()
    for thread in writers:
        thread.join()
    over.set()
    for thread in readers:
        thread.join()
    assert wrong == []
    assert total(ledger) == 96.0


def test_once_a_line_could_not_be_written_nothing_more_is(ledger: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    account = Account(ledger, head())
    whole = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: whole(handle, data[:20]))
    with pytest.raises(InfrastructureError, match="only a part of a line"):
        account.write()
    monkeypatch.undo()
    with pytest.raises(InfrastructureError, match="only a part of a line"):
        account.write()
    with pytest.raises(InfrastructureError):
        account.close()
    assert total(ledger) == 0.0


def test_a_ledger_that_can_not_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("a file")
    with pytest.raises(InfrastructureError, match="no account can be opened there"):
        Account(tmp_path / "results/ledger", head())


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300))
def test_no_bytes_in_a_file_make_the_reader_stumble(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    file = tmp_path_factory.getbasetemp() / "account.jsonl"
    file.write_bytes(data)
    try:
        assert read_account(file) is None or b"\n" in data
    except InfrastructureError as error:
        assert file.name in str(error)


@given(st.integers(0, 10**9), st.floats(0, 1e6), st.integers(0, 10**6))
def test_a_line_is_read_as_it_was_written(tokens: int, usd: float, held: int) -> None:
    entry = head(tokens=tokens, usd=usd, held_tokens=held, held=1 if held else 0)
    assert parse_entry(entry.model_dump_json(), Path("x")) == entry
    assert Entry.as_ended(entry).tokens == tokens + held
