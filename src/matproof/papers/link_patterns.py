"""What a link looks like: the regular expressions of `papers.links`, and where one ends.

They are matched against a `Shadow`, so percent escapes, entities and invisible characters are gone already. Host names
of code archives are also found with spaced or spelt-out dots and broken across lines; any other host needs a scheme,
`www`, or a path after a known top-level domain, or module names such as `ase.io` would be taken for one.
"""

import re
from typing import Literal

Kind = Literal["url", "doi", "arxiv", "swhid", "repository"]

_BROKEN = r"(?:-?[ \t]{0,8}\r?\n[ \t]{0,8})?"
_DOT = rf"(?:\.{_BROKEN}|[ \t]\.[ \t]?|[ \t]?[\[({{]\s?(?:dot|\.)\s?[\])}}][ \t]?|[ \t]dot[ \t])"
_ARCHIVES = (
    "github.com github.io githubusercontent.com gitlab.com gitlab.io bitbucket.org codeberg.org sourceforge.net "
    "gitee.com zenodo.org figshare.com osf.io huggingface.co materialscloud.org codeocean.com datadryad.org kaggle.com "
    "doi.org arxiv.org readthedocs.io readthedocs.org anaconda.org mybinder.org paperswithcode.com "
    "openreview.net softwareheritage.org mendeley.com openkim.org nomad-lab.eu tinyurl.com handle.net dropbox.com "
    "drive.google.com docs.google.com colab.research.google.com"
)
_TLD = (
    r"(?:com|org|net|edu|gov|mil|int|info|io|ai|co|dev|app|cloud|science|tech|xyz|site|online|eu|ac|uk|de|ch|fr|it|es|pt"
    r"|nl|be|at|se|no|fi|dk|pl|cz|ru|ua|gr|tr|il|in|cn|jp|kr|tw|sg|hk|au|nz|ca|us|br|mx|ar|za|ie|hu|ro|lu|li|is|gl|ly|ht)"
)
STOP = r"\s<>\"'`|{}\[\]^“”‘’«»"
_REST = rf"[^{STOP}]*"
_LABEL = r"[A-Za-z0-9][A-Za-z0-9-]{0,62}"
_PATH = rf"(?:(?:[/?#]|:[\w~/]){_REST}|(?:[ \t]?/[ \t]?[\w.~%+@:=-]+)*)"
_PREFIX = r"10\.(?:[ \t]*\r?\n[ \t]*)?\d{4,9}"
_RATIO = r"(?!\d+(?:\.\d+)?(?:[eE][+-]?\d+)?[.,;:!?)\]]*(?:\s|$))"


def _host(name: str) -> str:
    return _DOT.join(_BROKEN.join(re.escape(char) for char in label) for label in name.split("."))


_ARCHIVE = "(?:" + "|".join(_host(name) for name in _ARCHIVES.split()) + ")"

_FORMS: tuple[tuple[Kind, str], ...] = (
    ("doi", rf"(?:https?[ \t]?:[ \t]?/[ \t]?/[ \t]?)?(?:dx\.)?{_host('doi.org')}(?!\w){_PATH}"),
    ("doi", rf"\bdoi[ \t]?[:=][ \t]?{_PREFIX}[ \t]?/[ \t]?[^{STOP}]+"),
    ("doi", rf"(?<![\d.]){_PREFIX}/(?:[ \t]*\r?\n[ \t]*)?{_RATIO}(?=[\w(]\S{{3}})[^{STOP}]+"),
    ("doi", rf"(?<![\d.]){_PREFIX}/\d{{5,}}(?!\w|\.\d)"),
    ("url", rf"(?:(?<![a-z0-9])[a-z][a-z0-9+.-]{{1,20}}|h(?:tt|xx)ps?)[ \t]?:[ \t]?[/\\][ \t]?[/\\]+[ \t]?{_REST}"),
    ("url", rf"h(?:tt|xx)ps?:[/\\]?(?:{_LABEL}\.)+{_LABEL}{_PATH}"),
    ("url", rf"(?:[\w.-]{{1,64}}@|//)?(?:{_LABEL}\.){{0,4}}{_ARCHIVE}(?!\w){_PATH}"),
    ("url", rf"\bgit@(?:{_LABEL}\.){{1,4}}{_LABEL}:{_REST}"),
    ("url", rf"\bwww\d?{_DOT}{_LABEL}(?:\.{_LABEL}){{0,4}}(?:[/:?#]{_REST})?"),
    ("url", rf"(?:(?<=//)|(?<![\w@./-]))(?:{_LABEL}\.){{1,5}}{_TLD}(?::\d{{1,5}})?/{_REST}"),
    ("arxiv", r"\barxiv[ \t]?:[ \t]?(?:\d{4}\.\d{4,5}|[a-z-]+(?:\.[a-z]{2})?/\d{7})(?:v\d+)?"),
    ("swhid", r"\bswh:1:(?:cnt|dir|rev|rel|snp):[0-9a-f]{40}(?:;[^\s\])>]*)?"),
    ("repository", r"\b(?:github|gitlab|gh|bitbucket|hf)[ \t]?:[ \t]?[\w.-]+/[\w.-]+"),
    ("repository", r"(?<![\w./-])[\w.-]{1,64}/[\w.-]{1,64}\.git\b"),
)
PATTERNS = tuple((kind, re.compile(form, re.IGNORECASE)) for kind, form in _FORMS)

_LINE_END = re.compile(r"[ \t]*\r?\n[ \t]*(?=\S)")
_TOKEN = re.compile(rf"[^{STOP}]+")
_PLAIN_WORDS = frozenset(
    {
        "and",
        "or",
        "the",
        "a",
        "an",
        "with",
        "for",
        "in",
        "on",
        "at",
        "is",
        "are",
        "was",
        "were",
        "of",
        "to",
        "by",
        "via",
    }
    | {"which", "where", "under", "as", "that", "from", "we", "it", "this", "these", "our", "using", "see"}
    | {"and/or", "he/she", "w/o", "n/a"}
)
_AFTER_A_DOT = re.compile(rf"{_TLD}(?:[/:].*)?|\d{{4,}}.*|\d+\.\d+.*|.+/.+|[a-z]+\.\d.*|html?|pdf|git|zip|php")
_WITH_A_SLASH = re.compile(r"[a-z0-9_.~-]*[\w-]/[\w./~?=&#%-]+|/[\w./~-]+")


def continues(before: str, after: str) -> bool:
    """Whether the link that ends the line `before` goes on with the first word of the next line, `after`."""
    token = _TOKEN.match(after)
    if token is None or not before:
        return False
    word = token.group().rstrip(".,;:!?)*")
    if not word or word.lower() in _PLAIN_WORDS or re.fullmatch(r"[(\-*•#>+]+|\d{1,3}", word):
        return False
    if before[-1] in "/_=&%?#~@":
        return not re.fullmatch(r"[A-Z][a-z]*", word)
    if before[-1] == "-":
        return bool(re.match(r"[a-z0-9]|\w*[\d./_]", word))
    if before[-1] in ".:":
        return not word[0].isupper() and bool(_AFTER_A_DOT.fullmatch(word))
    return bool(_WITH_A_SLASH.fullmatch(word))


def link_end(text: str, start: int, end: int) -> int:
    """Where the link at `start` really ends: carried over line ends, without the sentence's own punctuation."""
    for _ in range(4):
        line_end = _LINE_END.match(text, end)
        if line_end is None or not continues(text[start:end], text[line_end.end() : line_end.end() + 300]):
            break
        token = _TOKEN.match(text, line_end.end())
        end = token.end() if token is not None else end
    while end - start > 4:
        last = text[end - 1]
        unopened = last == ")" and text.count(")", start, end) > text.count("(", start, end)
        if last not in ".,;:!?*" and not unopened:
            break
        end -= 1
    return end


def ends_in_link(text: str) -> bool:
    """Whether the last word of `text` is a link, or the beginning of one."""
    tail = text[-300:].rsplit(None, 1)
    return bool(tail) and any(found.end() == len(tail[-1]) for _, p in PATTERNS for found in p.finditer(tail[-1]))
