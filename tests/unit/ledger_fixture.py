"""What the ledger's tests share: accounts, and a program that hammers one cap through a real gateway."""

from pathlib import Path
from typing import Any

from matproof.records.account import Account, Entry, Holding


def head(**fields: Any) -> Entry:
    """The opening line of an account."""
    given = {"claim": "A-1_sum", "setting": "live", "repeat": 1, "attempt": 1, "scripted": False, "time": "t"}
    return Entry.model_validate({**given, **fields})


def spend(ledger: Path, *, tokens: int = 0, usd: float = 0.0, end: bool = True, **fields: Any) -> Account:
    """An account of one request, ended or not."""
    account = Account(ledger, head(**fields))
    account.settle(1, tokens=tokens, usd=usd, estimated_usd=None)
    account.write()
    if end:
        account.close()
    return account


def reserve(account: Account, *, tokens: int = 0, usd: float = 0.0) -> None:
    """A request that is under way, or was when its writer died."""
    account.hold(7, Holding(tokens, usd))
    account.write()
