"""Every setting, in one typed model, read from flags, the environment, `.env` and a config file, in that order."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from regen.errors import ConfigurationError
from regen.paths import config_file


class Settings(BaseSettings):
    """What regen runs with. Each is also an environment variable: `REGEN_` and the name in capitals."""

    model_config = SettingsConfigDict(
        env_prefix="REGEN_", env_file=".env", extra="ignore", env_ignore_empty=True, hide_input_in_errors=True
    )

    model: str | None = Field(
        default=None,
        description="Model that answers: a DSPy model string (openai/gpt-4.1-mini), 'embedded', or a .gguf file.",
    )
    judge_model: str | None = Field(default=None, description="Model that judges; the answering model where not set.")
    api_base: str | None = Field(default=None, description="Address of an OpenAI-compatible API.")
    api_key: SecretStr | None = Field(default=None, description="Key for that API; else the provider's own variable.")
    model_path: Path | None = Field(default=None, description="A .gguf file to use in place of the embedded model's.")
    judge: str = Field(default="auto", description="Judge: auto, lm, contrast, or one that a package registers.")
    docs: Path | None = Field(default=None, description="Folder of documents to search.")
    k: int = Field(default=10, ge=1, le=100, description="Documents to retrieve.")
    max_rounds: int = Field(default=1, ge=0, le=10, description="Regenerations at most; 0 only scores.")
    support: Literal["partial", "strict"] = Field(
        default="partial", description="Whether a document that supports only part of a claim supports it."
    )
    check_quotes: bool = Field(
        default=True, description="Whether a stance without a quote found in the document counts as irrelevant."
    )
    temperature: float = Field(default=0.0, ge=0, le=2, description="Sampling temperature.")
    seed: int = Field(default=0, ge=0, description="Seed of the model and of every shuffle.")
    max_tokens: int = Field(default=1024, ge=16, description="New tokens of one model call at most.")
    timeout: float = Field(default=120.0, gt=0, description="Seconds to wait for one model call.")
    retries: int = Field(default=3, ge=0, le=10, description="Tries again after a failed model call.")
    concurrency: int = Field(default=8, ge=1, le=256, description="Model calls at the same time, in the whole process.")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings, dotenv_settings, TomlConfigSettingsSource(settings_cls, config_file())


def load(flags: Mapping[str, Any] | None = None) -> Settings:
    """The settings in force. `flags` are those given on the command line; None values are left out.

    Raises:
        ConfigurationError: a value that is out of range or of the wrong type, or an unreadable file.
    """
    for file in (config_file(), Path(".env")):
        _check_readable(file)
    given = {name: value for name, value in (flags or {}).items() if value is not None}
    try:
        return Settings(**given)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0]) if first["loc"] else "settings"
        source = origins(given).get(name, "settings")
        raise ConfigurationError(f"Setting {name!r} (from {source}) is not valid: {first['msg']}.") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"The config file {config_file()} is not valid TOML: {error}.") from None
    except RecursionError:
        raise ConfigurationError(f"The config file {config_file()} is nested too deep.") from None


def origins(flags: Mapping[str, Any] | None = None) -> dict[str, str]:
    """Where each setting's value comes from: 'flag', 'environment', '.env', the config file, or 'default'."""
    found = dict.fromkeys(Settings.model_fields, "default")
    sources: list[tuple[str, PydanticBaseSettingsSource]] = [
        (str(config_file()), TomlConfigSettingsSource(Settings, config_file())),
        (".env", DotEnvSettingsSource(Settings)),
        ("environment", EnvSettingsSource(Settings)),
    ]
    for label, source in sources:
        found.update({name: label for name in source() if name in found})
    found.update({name: "flag" for name, value in (flags or {}).items() if value is not None and name in found})
    return found


def _check_readable(file: Path) -> None:
    try:
        if file.is_file():
            file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ConfigurationError(f"{file} is not UTF-8 text: save it as UTF-8.") from None
    except OSError as error:
        raise ConfigurationError(f"{file} cannot be read: {error.strerror}.") from None
