"""Templates to pages.

Every value is escaped by the template engine, always, and cleaned of control characters on the way: `finalize` does
it for whatever a template prints, so that no template can forget. A page allows itself nothing from anywhere: its
policy names one style and one script by hash, and both are ours.

Some pages read data from files beside them. `'self'` would not do for that: Chromium takes it to mean every file of
the disk where a page is opened from one, artifacts included. So such a page has `'strict-dynamic'`: what our own
script (named by hash) asks for is run, and a script element that somebody got into the page is not. Only a page that
`matproof serve` shows may talk to anyone, and then to that server alone.
"""

import base64
import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from matproof.tables import words
from matproof.tables.board_text import row_cost

_HERE = Path(__file__).parent
Script = Literal["site", "runs", "compare", "text"]
"""Which script a page has; every one but `text` holds `site.js` too."""
_READS_DATA = frozenset({"runs", "compare"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What all pages of one site share."""

    links: tuple[tuple[str, str], ...] = ()
    """(label, path below the site) of the pages that the head of every page links to."""
    live: bool = False
    """Whether `matproof serve` shows the site while it changes."""
    raw: bool = True
    """Whether pages link to files of the results directory, which a server does not show."""


@cache
def _static(name: str) -> str:
    return (_HERE / "static" / name).read_text(encoding="utf-8")


@cache
def _style(kind: Script) -> str:
    """The style sheet of a page of this kind, without what a browser doesn't need."""
    lines = (line.strip() for line in _static("text.css" if kind == "text" else "site.css").splitlines())
    return "\n".join(line for line in lines if line)


@cache
def _script(kind: Script, live: bool) -> str:
    """The one script of a page of this kind."""
    names = {"text": ("text.js",), "site": ("site.js",)}.get(kind, ("site.js", "data.js", f"{kind}.js"))
    parts = (f"{{\n{_static(name)}}}\n" for name in (*names, *(("live.js",) if live else ())))
    return '"use strict";\n' + "".join(parts)


@cache
def design_hash() -> str:
    """A hash of everything of ours that shapes a page: templates, style, script and code."""
    digest = hashlib.sha256()
    for path in sorted(
        [*_HERE.glob("*.py"), *_HERE.glob("templates/*"), *_HERE.glob("static/*"), Path(words.__file__)]
    ):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


@cache
def content_policy(kind: Script = "site", live: bool = False) -> str:
    """The Content-Security-Policy of a page of this kind."""
    reads = " 'strict-dynamic'" if kind in _READS_DATA else ""
    talks = "; connect-src 'self'" if live else ""
    return (
        f"default-src 'none'; style-src 'sha256-{_sha256(_style(kind))}'; "
        f"script-src 'sha256-{_sha256(_script(kind, live))}'{reads}; img-src data:{talks}; "
        "base-uri 'none'; form-action 'none'"
    )


def render(template: str, *, frame: Frame | None = None, script: Script = "site", **values: Any) -> str:
    """The page that `template` makes of `values`. They hold `root`, the link to the first page."""
    frame = frame or Frame()
    values.setdefault("here", "")
    values.setdefault("up", values["root"].removesuffix("index.html") if "root" in values else "")
    return str(
        _environment()
        .get_template(template)
        .render(
            **values,
            frame=frame,
            policy=content_policy(script, frame.live),
            css=_markup(_style(script)),
            js=_markup(_script(script, frame.live)),
        )
    )


def figure_svg(chart: Any) -> str:
    """A chart as an SVG file of its own, with its style and nothing that runs."""
    return render("figure.svg", chart=chart, figure_css=_markup(_static("figure.css")))


def _markup(text: str) -> Any:
    """`text` of this package, the only one that is not escaped."""
    from markupsafe import Markup

    return Markup(text)  # noqa: S704 - a file of ours


def _sha256(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _environment() -> Any:
    import jinja2
    from markupsafe import Markup

    def finalize(value: Any) -> Any:
        """Clean what a template prints; None is a mistake of the template, so it is shown as unknown."""
        if isinstance(value, (Markup, int)):
            return value
        return words.UNKNOWN if value is None else words.clean(str(value))

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE / "templates"),
        autoescape=True,  # for every template, whatever its name ends with
        undefined=jinja2.StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    filters = {
        "seconds": words.seconds_text,
        "money": words.money_text,
        "count": words.count_text,
        "one_line": words.one_line,
        "shorten": words.shorten,
        "when": when_text,
        "size": size_text,
        "spaced": lambda text: text.replace("_", " "),
        "plural": words.plural,
        "number": number_text,
        "number4": lambda value: "–" if value is None else f"{value:.4g}",
        "slug": slug,
    }
    environment.filters.update(filters)
    environment.globals.update(
        score_text=words.score_text,
        share_text=words.share_text,
        cost_text=words.cost_text,
        row_cost=row_cost,
    )
    return environment


def slug(text: str) -> str:
    """`text` as a part of a file name or an anchor: what else it held becomes a hash."""
    plain = "".join(char if char.isascii() and (char.isalnum() or char in "._") else "-" for char in text).strip(".-")
    return (
        plain[:60] if plain == text else f"{plain[:40]}-{hashlib.sha256(text.encode(errors='replace')).hexdigest()[:8]}"
    )


def when_text(iso: str) -> str:
    """An ISO 8601 time for people: `2026-01-31 12:00 UTC`; anything else as it is."""
    from datetime import UTC, datetime

    try:
        moment = datetime.fromisoformat(iso)
    except ValueError:
        return words.one_line(iso, 40)
    shown = moment.astimezone(UTC) if moment.tzinfo else moment
    return shown.strftime("%Y-%m-%d %H:%M" + (" UTC" if moment.tzinfo else ""))


def number_text(value: float | None) -> str:
    """A number of a result to six digits; a dash where there is none."""
    return "–" if value is None else f"{value:.6g}"


def size_text(size: int | None) -> str:
    """Bytes for people: `812 B`, `3.4 kB`, `1.2 MB`."""
    if size is None:
        return words.UNKNOWN
    value = float(size)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 999.5 or unit == "GB":
            break
        value /= 1000
    return f"{value:.0f} {unit}" if unit == "B" or value >= 99.5 else f"{value:.1f} {unit}"
