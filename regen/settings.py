"""Every setting, in one typed model, read from flags, the environment, `.env` and a config file, in that order."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from datetime import date
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, SecretStr, ValidationError
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    EnvSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from regen.errors import ConfigurationError, InputError
from regen.layers import LayeredSettings, problem
from regen.paths import config_file


def _split(value: object) -> object:
    given = value if isinstance(value, list | tuple) else [value]
    parts = [part.strip().removeprefix("*.") for item in given for part in str(item).split(",")]
    for part in parts:
        if not _SITE.fullmatch(part):
            raise ValueError(f"{part[:60]!r} is no site: write it as example.org, or example.org/part")
    return tuple(parts)


def _day(value: object) -> object:
    if isinstance(value, str) and not re.fullmatch(r"\d{4}-\d\d-\d\d", value.strip()):
        raise ValueError("write it as 2025-01-31")
    return value.strip() if isinstance(value, str) else value


_SITE = re.compile(r"(?:https?://)?[\w-]+(?:\.[\w-]+)*(?::\d+)?(?:/\S*)?")


# In the environment and in `.env`, with commas.
_Sites = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split)]


# What decides a score as it is set, and what an answer besides; the models, the judge and the search are what the
# settings, and keys that are set, come to.
JUDGING = frozenset({"judge_samples", "claims", "support", "check_quotes", "temperature", "seed", "max_tokens"})
ANSWERING = JUDGING | {
    "sites", "exclude_sites", "since", "read_pages", "allow_private", "k", "max_rounds", "strategy", "kinds", "resolve",
}  # fmt: skip


class Settings(LayeredSettings):
    """What regen runs with. Each is also an environment variable: `REGEN_` and the name in capitals."""

    model_config = SettingsConfigDict(env_prefix="REGEN_")

    model: str | None = Field(
        default=None,
        description="Model that answers: a DSPy model string (openai/gpt-4.1-mini), 'embedded', or a .gguf file.",
    )
    judge_model: str | None = Field(default=None, description="Model that judges; the answering model where not set.")
    api_base: str | None = Field(default=None, description="Address of an OpenAI-compatible API.")
    api_key: SecretStr | None = Field(default=None, description="Key for that API; else the provider's own variable.")
    model_path: Path | None = Field(default=None, description="A .gguf file to use in place of the embedded model's.")
    judge: str = Field(
        default="auto",
        description="Judge: auto, lm, contrast, builtin, cascade, ensemble, nli:MODEL, heuristic, or a package's.",
    )
    claims: Literal["atomic", "salient", "merged", "whole"] = Field(
        default="atomic", description="What an answer is taken apart into: every fact, the few that matter, or larger."
    )
    strategy: Literal["conflict-score", "vanilla", "pipeline", "taxonomy", "oracle"] = Field(
        default="conflict-score", description="How regen ask answers; only conflict-score checks the answer."
    )
    kinds: Literal["off", "rules", "model"] = Field(
        default="off", description="What tells the kind of conflict, for regen ask's feedback: rules, or the model."
    )
    judge_samples: int = Field(default=1, ge=1, le=20, description="How often the judge is asked; the majority counts.")
    credibility: Literal["off", "weight", "filter"] = Field(
        default="off", description="Whether what documents say counts by how far they can be relied on as sources."
    )
    credibility_list: Path | None = Field(
        default=None, description="File of sources and their weights; the model assesses the others."
    )
    credibility_threshold: float = Field(
        default=0.3, ge=0, le=1, description="With the filter: what weighs less counts for no side."
    )
    docs: Path | None = Field(default=None, description="Folder of documents to search.")
    search: str | None = Field(
        default=None, description="Where documents come from: a provider's name, or several with commas."
    )
    recorded: Path | None = Field(default=None, description="A recording of searches, for the provider 'recorded'.")
    sites: _Sites = Field(default=(), description="Only results from these sites.")
    exclude_sites: _Sites = Field(default=(), description="No results from these sites.")
    since: Annotated[date | None, BeforeValidator(_day)] = Field(
        default=None, description="No results known to be older than this date."
    )
    read_pages: bool = Field(default=True, description="Whether the pages behind web results are read.")
    allow_private: bool = Field(default=False, description="Whether pages on private addresses may be read.")
    search_timeout: float = Field(default=20.0, gt=0, le=600, description="Seconds to wait for one search.")
    page_deadline: float = Field(default=15.0, gt=0, le=600, description="Seconds to wait for all pages together.")
    k: int = Field(default=10, ge=1, le=100, description="Documents to retrieve.")
    max_rounds: int = Field(default=1, ge=0, le=10, description="Regenerations at most; 0 only scores.")
    support: Literal["partial", "strict"] = Field(
        default="partial", description="Whether a document that supports only part of a claim supports it."
    )
    check_quotes: bool = Field(
        default=True, description="Whether a stance without a quote found in the document counts as irrelevant."
    )
    resolve: Literal["none", "recency"] = Field(
        default="none",
        description="Which of the documents that contradict each other ask's second answer is given from: all, or "
        "the newest.",
    )
    log_conflicts: Path | None = Field(default=None, description="A file that ask adds a line on each question to.")
    temperature: float = Field(default=0.0, ge=0, le=2, description="Sampling temperature.")
    seed: int = Field(default=0, ge=0, description="Seed of the model and of every shuffle.")
    max_tokens: int = Field(default=1024, ge=16, description="New tokens of one model call at most.")
    timeout: float = Field(default=120.0, gt=0, description="Seconds to wait for one model call.")
    retries: int = Field(default=3, ge=0, le=10, description="Tries again after a failed model call or search.")
    concurrency: int = Field(default=8, ge=1, le=256, description="Model calls at the same time, in the whole process.")


def load(flags: Mapping[str, Any] | None = None) -> Settings:
    """The settings in force. `flags` are those given on the command line; None values are left out.

    Raises:
        InputError: a flag's value that is out of range or of the wrong type.
        ConfigurationError: another one's, or an unreadable file.
    """
    for file in (config_file(), Path(".env")):
        _check_readable(file)
    _check_names()
    given = {name: value for name, value in (flags or {}).items() if value is not None}
    try:
        return Settings(**given)
    except ValidationError as error:
        name, cause = problem(error)
        source = origins(given).get(name, "settings")
        if source == "flag":
            raise InputError(f"--{name.removesuffix('s').replace('_', '-')} is not valid: {cause}.") from None
        raise ConfigurationError(f"Setting {name!r} (from {source}) is not valid: {cause}.") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"The config file {config_file()} is not valid TOML: {error}.") from None
    except RecursionError:
        raise ConfigurationError(f"The config file {config_file()} is nested too deep.") from None


def origins(flags: Mapping[str, Any] | None = None, of: type[BaseSettings] = Settings) -> dict[str, str]:
    """Where each setting's value comes from: 'flag', 'environment', '.env', the config file, or 'default'.

    Args:
        flags: Those given on the command line.
        of: The class of the settings: regen's own, or a search provider's.
    """
    found = dict.fromkeys(of.model_fields, "default")
    sources: list[tuple[str, PydanticBaseSettingsSource]] = [
        (str(config_file()), TomlConfigSettingsSource(of, config_file())),
        (".env", DotEnvSettingsSource(of)),
        ("environment", EnvSettingsSource(of)),
    ]
    for label, source in sources:
        found.update({name: label for name in source() if name in found})
    found.update({name: "flag" for name, value in (flags or {}).items() if value is not None and name in found})
    return found


def _check_names() -> None:
    """Refuses a config file with a name that no setting has: a misspelt one would be ignored in silence."""
    try:
        given = TomlConfigSettingsSource(Settings, config_file()).toml_data
    except (tomllib.TOMLDecodeError, RecursionError):
        return  # Told by `load`.
    unknown = [name for name in given if name not in Settings.model_fields]
    if not unknown:
        return
    from search.base import provider_settings

    known = [*Settings.model_fields, *provider_settings()]
    for name in unknown:
        if name not in known:
            if name.endswith("_key"):
                raise ConfigurationError(
                    f"The config file {config_file()} has {name!r}, which is no setting: keys of model providers "
                    "belong in the environment or in .env, by the provider's own name for them."
                )
            near = get_close_matches(name, known, 1)
            meant = f": is {near[0]!r} meant?" if near else "; `regen config` lists them all."
            raise ConfigurationError(f"The config file {config_file()} has {name!r}, which is no setting{meant}")


def misspelt(names: Iterable[str]) -> dict[str, str]:
    """Of variables' names that begin with `REGEN_`, those that are no setting, each with the nearest that is one."""
    known = {f"REGEN_{name}".upper() for name in Settings.model_fields}
    others = [name for name in names if name.upper() not in known]
    if not others:
        return {}
    from search.base import provider_settings

    known |= {f"REGEN_{name}".upper() for name in provider_settings()}
    near = {name: get_close_matches(name.upper(), known, 1, 0.85) for name in others if name.upper() not in known}
    return {name: found[0] for name, found in near.items() if found}


def _check_readable(file: Path) -> None:
    if file.is_dir() and file == config_file():
        raise ConfigurationError(f"{file} is a folder: name the config file itself with REGEN_CONFIG.")
    try:
        if file.is_file():
            file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ConfigurationError(f"{file} is not UTF-8 text: save it as UTF-8.") from None
    except OSError as error:
        raise ConfigurationError(f"{file} cannot be read: {error.strerror}.") from None
