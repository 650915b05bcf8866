"""Templates to pages.

Every value is escaped by the template engine, always, and cleaned of control characters on the way: `finalize` does
it for whatever a template prints, so that no template can forget. The page allows itself nothing from anywhere: its
policy names one style and one script by hash, and both are ours.
"""

import base64
import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from matproof.tables import words
from matproof.tables.board_text import row_cost

_HERE = Path(__file__).parent


@cache
def _static(name: str) -> str:
    return (_HERE / "static" / name).read_text(encoding="utf-8")


def design_hash() -> str:
    """A hash of everything of ours that shapes a page: templates, style, script and code."""
    digest = hashlib.sha256()
    for path in sorted(
        [*_HERE.glob("*.py"), *_HERE.glob("templates/*"), *_HERE.glob("static/*"), Path(words.__file__)]
    ):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def content_policy() -> str:
    """The page's Content-Security-Policy."""
    style, script = (_sha256(_static(name)) for name in ("site.css", "site.js"))
    return (
        f"default-src 'none'; style-src 'sha256-{style}'; script-src 'sha256-{script}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def render(template: str, **values: Any) -> str:
    """The page that `template` makes of `values`."""
    return str(_environment().get_template(template).render(**values))


def _sha256(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _finalize(value: Any) -> Any:
    """Clean what a template prints; None is a mistake of the template, so it is shown as unknown."""
    from markupsafe import Markup

    if isinstance(value, Markup):
        return value
    return words.UNKNOWN if value is None else words.clean(str(value))


@cache
def _environment() -> Any:
    import jinja2
    from markupsafe import Markup

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = {
        "seconds": words.seconds_text,
        "money": words.money_text,
        "count": words.count_text,
        "one_line": words.one_line,
        "when": when_text,
        "size": size_text,
        "spaced": lambda text: text.replace("_", " "),
        "plural": words.plural,
        "number": number_text,
    }
    environment.filters.update(filters)
    # The only text that is not escaped: two files of this package.
    environment.globals.update(
        css=Markup(_static("site.css")),  # noqa: S704
        js=Markup(_static("site.js")),  # noqa: S704
        policy=content_policy(),
        score_text=words.score_text,
        share_text=words.share_text,
        cost_text=words.cost_text,
        row_cost=row_cost,
    )
    return environment


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
