"""`m2m` of `config/config.yaml`: what `snakemake m2m` generates, scores and compares.

Fields are the options of the same name of `matproof m2m generate`, `attack` and `judge`; what is left out is the
command's own default.
"""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from matproof.config.base import HandWritten

PlainName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,59}$")]
"""A name that is a file's name too."""
Kind = Literal["direct", "weak-prompt", "retrieval", "co-scientist", "researcher", "endpoint"]


class Within(HandWritten):
    """How models are asked, and within what."""

    temperature: float | None = Field(default=None, ge=0, le=2)
    """Null: the provider's own."""
    max_output_tokens: int | None = Field(default=None, ge=16)
    """Longest reply, in tokens."""
    parallel: int | None = Field(default=None, ge=1, le=64)
    """Rows asked about at once."""
    limit_usd: float | None = Field(default=None, gt=0)
    """Stop before more is spent, in US dollars."""
    limit_requests: int | None = Field(default=None, ge=1)
    """Stop after so many requests."""
    limit_tokens: int | None = Field(default=None, ge=1)
    """Stop after so many tokens."""


class System(Within):
    """A system that writes hypotheses."""

    kind: Kind
    """How it leads its conversation about a problem."""
    model: str | None = None
    """A name in models.yaml, or what the server of `base_url` calls it. Null: the system's own name."""
    script: str | None = None
    """Script that answers in place of a model."""
    base_url: str | None = None
    """endpoint: address of an OpenAI-compatible server."""
    key_env: str | None = None
    """endpoint: environment variable with the server's key."""
    corpus: str | None = None
    """retrieval: rows to read from. Null: the problems' own file."""
    k: int | None = Field(default=None, ge=1, le=20)
    """retrieval: rows in the prompt."""
    candidates: int | None = Field(default=None, ge=2, le=8)
    """co-scientist: proposals."""
    ideas: int | None = Field(default=None, ge=2, le=10)
    """researcher: ideas."""


class Attacks(Within):
    """Rows that game the metrics. Without `model` or `script` a program writes them."""

    model: str | None = None
    """A name in models.yaml."""
    script: str | None = None
    """Script that answers in place of a model."""
    of: str | None = None
    """System whose rows are attacked. Null: the literature's."""
    n: int | None = Field(default=None, ge=1)
    """Rows in each style."""
    seed: int | None = None
    """Which rows are drawn, and which words."""
    style: Literal["jargon", "mirror", "verbose", "all"] | None = None
    """Null: all."""


class Judging(Within):
    """Pairwise judging, in both orders."""

    judges: list[PlainName] = Field(min_length=1)
    """Names in models.yaml; of scripted judges, what they are called, beginning with `scripted-`."""
    scripts: list[str] = []
    """A script in place of each judge, or none."""
    pairs: int | None = Field(default=None, ge=1)
    """Problems for each pair of systems. Null: all."""
    seed: int | None = None
    """Which problems are drawn."""


class M2m(HandWritten):
    """The whole block."""

    problems: str = "suites/matter_to_mechanism/problems.csv"
    """Rows file: the problems, with the literature's hypotheses as rows of the system `reference`."""
    reference: str = "Reference"
    """System of the literature's rows."""
    systems: dict[PlainName, System] = {}
    """Name in every table → how the system is run. A scripted one's name begins with `scripted-`."""
    rows: list[str] = []
    """Further rows files, of hypotheses written elsewhere."""
    profiles: list[str] = Field(default=["published", "word"], min_length=1)
    """Lexicon profiles: shipped names or YAML files. The first one ranks; the others show how ranks move."""
    attacks: Attacks = Attacks()
    """How the metrics are gamed."""
    judging: Judging | None = None
    """Null: no model judges."""
    embedding_dir: str | None = None
    """Local embedding model for BERTScore and embedding cosine. Null: both are skipped by name."""
