"""What the campaign's ledger costs where many runs have ended and many are running.

Run it as `python benchmarks/ledger.py [--ended 10000] [--directory /shared/scratch]`: in a directory on a shared file
system, the numbers are that system's.
"""

import argparse
import tempfile
from pathlib import Path

from matproof.core.clock import elapsed
from matproof.records.account import Account, Entry
from matproof.records.ledger import Ledger, spent
from matproof.records.places import Results

RUNNING = (0, 100, 500)
LOOKS = 20


def account(ledger: Path, number: int) -> Account:
    """An account with one request."""
    head = Entry(
        claim=f"claim-{number % 850}",
        setting=f"setting-{number % 5}",
        repeat=number,
        attempt=1,
        scripted=False,
        time="",
    )
    opened = Account(ledger, head)
    opened.settle(1, tokens=1000, usd=0.5, estimated_usd=None)
    opened.write()
    return opened


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ended", type=int, default=10_000)
    parser.add_argument("--directory", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.directory) as directory:
        results = Path(directory)
        ledger, folder = Results(results).ledger, Ledger(Results(results).ledger)
        for number in range(options.ended):
            account(ledger, number).close()
            folder.fold()
        began = elapsed()
        found = spent(results)
        print(f"spent():           {elapsed() - began:.3f} s for {found.requests:,} accounts")
        running: list[Account] = []
        for wanted in RUNNING:
            running += [account(ledger, options.ended + number) for number in range(len(running), wanted)]
            reader, began = Ledger(ledger), elapsed()
            reader.look()
            first, began = elapsed() - began, elapsed()
            for _ in range(LOOKS):
                reader.look()
            print(
                f"{wanted:4} jobs running: {first:.3f} s first, then {(elapsed() - began) / LOOKS * 1000:.2f} ms a look"
            )
        began = elapsed()
        for _ in range(100):
            running[0].write()
        print(f"durable line:      {(elapsed() - began) * 10:.2f} ms")


if __name__ == "__main__":
    main()
