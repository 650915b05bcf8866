"""The rows most like a problem, by TF-IDF: what the retrieval-augmented system reads.

A row never meets its own solution: rows with its `paper_id` are out, and so are rows under another id that state the
same problem or hold a hypothesis of its own rows, letter for letter but for case and spaces.
"""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from matproof.suites.matter_to_mechanism.problems import SHOWN_COLUMNS, Problem, problems_of

if TYPE_CHECKING:
    import pyarrow as pa

_TOKEN = re.compile(r"[a-z][a-z0-9-]{2,}")
MAX_TOKENS = 2000
"""Of a document; the rest does not count."""


@dataclass(frozen=True, slots=True)
class Note:
    """One row of the corpus as a system may read it."""

    paper_id: str
    problem: Problem
    hypothesis: str


def notes_of(table: "pa.Table") -> list[Note]:
    """The rows of a table that have a hypothesis, as notes, the first for each `paper_id`."""
    filled = [bool(text.strip()) for text in table.column("hypothesis").to_pylist()]
    table = table.filter(filled)
    first: dict[str, str] = {}
    for paper_id, hypothesis in zip(
        table.column("paper_id").to_pylist(), table.column("hypothesis").to_pylist(), strict=True
    ):
        first.setdefault(paper_id, hypothesis)
    return [Note(problem.paper_id, problem, first[problem.paper_id]) for problem in problems_of(table)]


class Retrieval:
    """A corpus that is asked for the notes nearest to a problem; asking is safe from several threads.

    Similarity is the cosine of smoothed TF-IDF vectors, ln((N+1)/(df+1)) + 1, of the corpus's problems and hypotheses
    with the problem's text. Ties go to the row that comes first.
    """

    def __init__(self, notes: list[Note], own: "pa.Table | None" = None) -> None:
        import numpy as np
        from scipy import sparse

        self._notes = notes
        documents = [_tokens(_text(note.problem) + "\n" + note.hypothesis) for note in notes]
        self._terms: dict[str, int] = {}
        for document in documents:
            for token in document:
                self._terms.setdefault(token, len(self._terms))
        counts = sparse.csr_array(_triplets(documents, self._terms), shape=(len(documents), len(self._terms)))
        frequency = np.asarray((counts > 0).sum(axis=0)).ravel()
        self._idf = np.log((len(documents) + 1) / (frequency + 1)) + 1
        self._matrix = _normalised(counts, self._idf)
        self._problems = [_plain(note.problem.fields["problem_statement"]) for note in notes]
        self._hypotheses = [_plain(note.hypothesis) for note in notes]
        self._own: dict[str, set[str]] = {}
        for table in [own] if own is not None and "hypothesis" in own.column_names else []:
            pairs = zip(table.column("paper_id").to_pylist(), table.column("hypothesis").to_pylist(), strict=True)
            for paper_id, hypothesis in pairs:
                self._own.setdefault(paper_id, set()).add(_plain(hypothesis))
        for note, hypothesis in zip(notes, self._hypotheses, strict=True):
            self._own.setdefault(note.paper_id, set()).add(hypothesis)

    def nearest(self, problem: Problem, k: int) -> list[Note]:
        """The `k` notes nearest to `problem`, nearest first; fewer where the corpus has no more that are allowed."""
        import numpy as np
        from scipy import sparse

        tokens = [token for token in _tokens(_text(problem)) if token in self._terms]
        query = sparse.csr_array(_triplets([tokens], self._terms), shape=(1, len(self._terms)))
        scores = (self._matrix @ _normalised(query, self._idf).T).toarray().ravel()
        statement, own = _plain(problem.fields["problem_statement"]), self._own.get(problem.paper_id, set())
        found = []
        for index in np.argsort(-scores, kind="stable"):
            note = self._notes[index]
            same = statement and self._problems[index] == statement
            if note.paper_id == problem.paper_id or same or self._hypotheses[index] in own:
                continue
            found.append(note)
            if len(found) == k:
                break
        return found


def _text(problem: Problem) -> str:
    return "\n".join(problem.fields[name] for name in SHOWN_COLUMNS)


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text[:200_000].lower())[:MAX_TOKENS]


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


def _triplets(documents: list[list[str]], terms: dict[str, int]) -> Any:
    rows = [row for row, document in enumerate(documents) for _ in document]
    columns = [terms[token] for document in documents for token in document]
    return [1.0] * len(rows), (rows, columns)


def _normalised(counts: Any, idf: Any) -> Any:
    import numpy as np
    from scipy import sparse

    weighted = sparse.csr_array(counts * idf)
    norms = np.sqrt(np.asarray(weighted.multiply(weighted).sum(axis=1)).ravel())
    norms[norms == 0] = 1.0
    return sparse.csr_array(sparse.diags_array(1 / norms) @ weighted)
