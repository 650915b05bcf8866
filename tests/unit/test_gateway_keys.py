"""Keys: where they may come from, and that no message ever quotes one. Choosing who answers."""

import os
from pathlib import Path

import pytest
from gateway_fixture import KEY, TABLE

from matproof.config.models import ModelInfo, ModelTable, Provider
from matproof.config.settings import Answers, Limits
from matproof.core.errors import InputError
from matproof.models.keys import read_key
from matproof.models.live import LiveBackend
from matproof.models.opening import open_backend
from matproof.models.scripted import ScriptedBackend


def provider(**where: str) -> Provider:
    return Provider(api="anthropic", base_url="http://127.0.0.1:9", **where)


def test_a_key_comes_from_the_environment_before_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", f" {KEY}\n")
    assert read_key(provider(key_env="SOME_KEY", key_file=str(tmp_path / "none"))) == KEY


@pytest.mark.parametrize("mode", [0o600, 0o400])
def test_a_key_comes_from_a_private_file(tmp_path: Path, mode: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOME_KEY", raising=False)
    file = tmp_path / "key"
    file.write_text(f"{KEY}\n")
    file.chmod(mode)
    assert read_key(provider(key_env="SOME_KEY", key_file=str(file))) == KEY


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o700, 0o644])
def test_a_file_that_others_could_read_is_refused(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "key"
    file.write_text(KEY)
    file.chmod(mode)
    with pytest.raises(InputError, match="chmod 600") as caught:
        read_key(provider(key_file=str(file)))
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("text", ["", "short", f"{KEY} {KEY}", f"{KEY}\nx", "clé-secrète-longue"])
def test_what_is_no_key_is_refused_without_quoting_it(tmp_path: Path, text: str) -> None:
    file = tmp_path / "key"
    file.write_text(text)
    file.chmod(0o600)
    with pytest.raises(InputError) as caught:
        read_key(provider(key_file=str(file)))
    assert not text or text not in str(caught.value)


def test_a_key_that_is_nowhere_is_named_with_its_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOME_KEY", raising=False)
    with pytest.raises(InputError, match="set SOME_KEY"):
        read_key(provider(key_env="SOME_KEY"), name="here")
    with pytest.raises(InputError, match="can't be read"):
        read_key(provider(key_file=str(tmp_path / "none")))
    os.mkfifo(tmp_path / "pipe", 0o600)
    holder = os.open(tmp_path / "pipe", os.O_RDWR)
    try:
        with pytest.raises(InputError, match="not a plain file"):
            read_key(provider(key_file=str(tmp_path / "pipe")))
    finally:
        os.close(holder)


def test_a_script_answers_where_there_is_one(tmp_path: Path) -> None:
    claim = tmp_path / "tasks" / "MD-1_x"
    (claim / "reference").mkdir(parents=True)
    (tmp_path / "demo").mkdir()
    script = "version: 1\nsessions:\n  plan:\n  - text: \"{{ file('reference/a.txt') }}\"\n"
    (tmp_path / "demo" / "MD-1_x.yaml").write_text(script)
    answers = Answers(model="any", script="demo/{claim}.yaml")
    assert isinstance(open_backend(answers, TABLE, claim_dir=claim, root=tmp_path), ScriptedBackend)
    with pytest.raises(InputError, match="claim"):
        open_backend(answers, TABLE, claim_dir=None, root=tmp_path)
    with pytest.raises(InputError, match="no such file"):
        open_backend(Answers(model="any", script="demo/none.yaml"), TABLE, claim_dir=claim, root=tmp_path)


def test_a_provider_answers_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", KEY)
    models = {"m": ModelInfo(provider="here"), "lost": ModelInfo(provider="nowhere")}
    table = ModelTable(providers={"here": provider(key_env="SOME_KEY")}, models=models)
    assert isinstance(open_backend(Answers(model="m"), table, claim_dir=None, root=tmp_path), LiveBackend)
    for model, problem in (("other", "not listed"), ("lost", "nowhere is not listed")):
        with pytest.raises(InputError, match=problem):
            open_backend(Answers(model=model), table, claim_dir=None, root=tmp_path)


def test_a_limit_in_dollars_needs_a_price_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_KEY", KEY)
    table = ModelTable(providers={"p": provider(key_env="SOME_KEY")}, models={"m": ModelInfo(provider="p")})
    with pytest.raises(InputError, match="add a price for m"):
        open_backend(Answers(model="m", limits=Limits(cost_usd=1)), table, claim_dir=None, root=tmp_path)
