"""What `workflow/rules/matter_to_mechanism.smk` asks: files and options of the campaign's `m2m` block.

As light as `workflow`, for the same reason, and asked only where a rule of the suite is planned, so the main campaign
neither needs the block nor pays for it. Its shape is checked by the campaign's schema before anything is asked here.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from matproof.core.errors import InputError
from matproof.records.places import Results

Wildcards = Any
_WITHIN = ("temperature", "max_output_tokens", "parallel", "limit_usd", "limit_requests", "limit_tokens")
_SYSTEM = ("script", "base_url", "key_env", "corpus", "k", "candidates", "ideas")
_ATTACK = ("n", "seed", "style", "model", "script")
_SHIPPED = ("published", "word")
SAMPLE = "suites/matter_to_mechanism/problems.csv"
"""Problems where the block names none: the model's own default, which only a whole block is filled in with."""


class Suite:
    """Functions of the rules: each takes wildcards and answers with files or options.

    Raises InputError where a file is asked for that the block doesn't name.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._config = config

    @staticmethod
    def asked_alone(targets: Iterable[str]) -> bool:
        """Whether every target is of the suite: its failures say nothing of the main campaign's runs."""
        named = list(targets)
        return bool(named) and all(any(part.startswith("m2m") for part in Path(name).parts) for name in named)

    def problems(self, _: Wildcards) -> str:
        """The rows file with problems and the literature's hypotheses."""
        return self._problems

    def system_files(self, wildcards: Wildcards) -> list[str]:
        """What a system reads besides the problems: an edit of it runs that system again, and no other."""
        told = self._system(wildcards.system)
        return [str(told[name]) for name in ("script", "corpus") if told.get(name)]

    def system_options(self, wildcards: Wildcards) -> list[str]:
        """Options of `matproof m2m generate`."""
        name = wildcards.system
        told = self._system(name)
        named = ["--system", str(told["kind"]), "--name", name, "--model", str(told.get("model") or name)]
        return [*named, *_options(told, (*_SYSTEM, *_WITHIN))]

    def gathered(self, _: Wildcards) -> list[str]:
        """All rows files, in the order in which tables meet their systems."""
        written = [str(self._results.m2m.system(system)) for system in self._block.get("systems") or {}]
        return [self._problems, *(self._block.get("rows") or []), *written]

    def records(self, _: Wildcards) -> list[str]:
        """What is known of each system's generation."""
        return [f"{self._results.m2m.system(system)}.generation.json" for system in self._block.get("systems") or {}]

    def record_options(self, _: Wildcards) -> list[str]:
        """Options that name them."""
        return [word for file in self.records(_) for word in ("--generation", file)]

    def profile(self, wildcards: Wildcards) -> str:
        """What `--profile` is given: of the wildcard, or where there is none, of the profile that ranks."""
        profiles = self._profiles
        return str(_one(profiles, getattr(wildcards, "profile", next(iter(profiles))), "profiles"))

    def profile_files(self, wildcards: Wildcards) -> list[str]:
        """The file of a profile that isn't shipped."""
        said = self.profile(wildcards)
        return [] if said in _SHIPPED else [said]

    def scores(self, _: Wildcards) -> str:
        """Scores under the profile that ranks."""
        return self._scores[0]

    def other_scores(self, _: Wildcards) -> list[str]:
        """Scores under the other profiles."""
        return self._scores[1:]

    def also(self, _: Wildcards) -> list[str]:
        """Options that name those of the other profiles."""
        return [word for file in self._scores[1:] for word in ("--also", file)]

    def validation_options(self, _: Wildcards) -> list[str]:
        """Options of `matproof m2m validate`."""
        return ["--reference", self._reference, *_options(self._block, ("embedding_dir",))]

    def attacked(self, _: Wildcards) -> str:
        """Rows that are attacked: the problems' file for the literature's, so that no model is waited for."""
        whose = self._attacks.get("of") or self._reference
        return str(self._problems if whose == self._reference else self._results.m2m.rows)

    def attack_files(self, _: Wildcards) -> list[str]:
        """What an attack reads besides rows."""
        script = self._attacks.get("script")
        return [str(script)] if script else []

    def attack_options(self, _: Wildcards) -> list[str]:
        """Options of `matproof m2m attack`."""
        told = self._attacks
        if told.get("script"):
            told.setdefault("model", Path(told["script"]).stem)
        return ["--system", str(told.get("of") or self._reference), *_options(told, (*_ATTACK, *_WITHIN))]

    def judge_files(self, _: Wildcards) -> list[str]:
        """What judges read besides rows and scores."""
        return [str(script) for script in self._judging.get("scripts") or []]

    def judge_options(self, _: Wildcards) -> list[str]:
        """Options of `matproof m2m judge`."""
        told = self._judging
        judges = [word for judge in told["judges"] for word in ("--judge", judge)]
        scripts = [word for script in told.get("scripts") or [] for word in ("--script", script)]
        return [*judges, *scripts, *_options(told, ("pairs", "seed", *_WITHIN))]

    def scripted(self, _: Wildcards) -> str:
        """Whether tables rank scripted systems with the others."""
        return "--include-scripted" if self._config.get("include_scripted") else "--leave-out-scripted"

    def tables(self, _: Wildcards) -> list[str]:
        """Tables of the page: of every job that the block asks for."""
        names = ["leaderboard", "taxonomy", "validation", "ablation", "attacks"]
        if self._block.get("judging") is not None:
            names.append("judgements")
        return [str(self._results.tables / f"m2m_{name}.parquet") for name in names]

    @property
    def _block(self) -> dict[str, Any]:
        return dict(self._config["m2m"])

    @property
    def _problems(self) -> str:
        return str(self._block.get("problems", SAMPLE))

    @property
    def _results(self) -> Results:
        return Results(Path(self._config["results"]))

    @property
    def _reference(self) -> str:
        return str(self._block.get("reference", "Reference"))

    @property
    def _attacks(self) -> dict[str, Any]:
        return dict(self._block.get("attacks") or {})

    @property
    def _judging(self) -> dict[str, Any]:
        return dict(self._block["judging"])

    @property
    def _profiles(self) -> dict[str, str]:
        given = self._block.get("profiles") or list(_SHIPPED)
        named = {profile if profile in _SHIPPED else Path(profile).stem: str(profile) for profile in given}
        if len(named) < len(given):
            raise InputError("configuration", "m2m.profiles", "two have the same name", "rename a file")
        return named

    @property
    def _scores(self) -> list[str]:
        return [str(self._results.m2m.scores(profile)) for profile in self._profiles]

    def _system(self, system: str) -> dict[str, Any]:
        return dict(_one(self._block.get("systems") or {}, system, "systems"))


def _one(named: Mapping[str, Any], name: str, what: str) -> Any:
    if name not in named:
        raise InputError("configuration", f"m2m.{what}", f"there is no {name!r}", f"use one of {', '.join(named)}")
    return named[name]


def _options(told: Mapping[str, Any], names: Iterable[str]) -> list[str]:
    options: list[str] = []
    for name in names:
        if told.get(name) is not None:
            options += [f"--{name.replace('_', '-')}" if len(name) > 1 else f"-{name}", str(told[name])]
    return options
