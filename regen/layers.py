"""Where settings come from: flags, then the environment, then `.env`, then the config file."""

from __future__ import annotations

from pydantic import ValidationError
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from regen.paths import config_file


class LayeredSettings(BaseSettings):
    """Base of regen's own settings and of a search provider's."""

    model_config = SettingsConfigDict(env_file=".env", extra="ignore", env_ignore_empty=True, hide_input_in_errors=True)

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


def problem(error: ValidationError) -> tuple[str, str]:
    """The name of the first setting that is not valid, or "", and what is wrong with it. Never its value."""
    first = error.errors(include_input=False, include_url=False)[0]
    return str(first["loc"][0]) if first["loc"] else "", first["msg"].removeprefix("Value error, ")
