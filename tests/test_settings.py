"""Settings: which source wins, where a value is said to come from, and what is said about a wrong one."""

from __future__ import annotations

from pathlib import Path

import pytest

from regen import settings
from regen.errors import ConfigurationError

SECRET = "sk-secret-0123456789"


@pytest.fixture
def config_file(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


@pytest.fixture
def dotenv(tmp_path: Path) -> Path:
    return tmp_path / ".env"


def test_without_any_source_the_defaults_are_in_force() -> None:
    assert (settings.load().k, settings.origins()["k"]) == (10, "default")


SOURCES = ["file", ".env", "environment", "flag"]


@pytest.mark.parametrize("last", range(len(SOURCES)))
def test_flag_beats_environment_beats_dotenv_beats_file(
    last: int, config_file: Path, dotenv: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flags = {}
    for place, source in enumerate(SOURCES[: last + 1]):
        value = 20 + place
        match source:
            case "file":
                config_file.write_text(f"k = {value}\n")
            case ".env":
                dotenv.write_text(f"REGEN_K={value}\n")
            case "environment":
                monkeypatch.setenv("REGEN_K", str(value))
            case "flag":
                flags["k"] = value
    label = str(config_file) if SOURCES[last] == "file" else SOURCES[last]
    assert (settings.load(flags).k, settings.origins(flags)["k"]) == (20 + last, label)


def test_a_flag_that_was_not_given_leaves_the_other_sources_in_force(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGEN_K", "7")
    assert (settings.load({"k": None}).k, settings.origins({"k": None})["k"]) == (7, "environment")


def test_an_empty_variable_counts_as_not_set(config_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config_file.write_text("k = 5\n")
    monkeypatch.setenv("REGEN_K", "")
    assert (settings.load().k, settings.origins()["k"]) == (5, str(config_file))


def test_a_name_without_the_prefix_in_dotenv_is_no_setting(dotenv: Path) -> None:
    dotenv.write_text("K=5\nMODEL=other/model\nOTHER=1\n")
    assert (settings.load().k, settings.load().model) == (10, None)


@pytest.mark.parametrize(
    ("name", "value"),
    [("k", "0"), ("k", "many"), ("k", "101"), ("support", "loose"), ("temperature", "-1"), ("timeout", "0")],
)
def test_a_wrong_value_is_refused_with_its_name_and_source(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"REGEN_{name.upper()}", value)
    with pytest.raises(ConfigurationError, match=rf"^Setting '{name}' \(from environment\) is not valid: .*\.$"):
        settings.load()


def test_a_wrong_value_in_the_file_is_refused_with_the_files_name(config_file: Path) -> None:
    config_file.write_text('k = "many"\n')
    with pytest.raises(ConfigurationError) as error:
        settings.load()
    assert str(config_file) in str(error.value)


def test_a_file_that_is_not_toml_is_refused_by_name(config_file: Path) -> None:
    config_file.write_text("k: 5\n")
    with pytest.raises(ConfigurationError, match="not valid TOML") as error:
        settings.load()
    assert str(config_file) in str(error.value)


@pytest.mark.parametrize("name", ["config.toml", ".env"])
def test_a_file_that_is_not_utf_8_is_refused_by_name(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes('REGEN_MODEL="caf\u00e9"\n'.encode("latin-1"))
    with pytest.raises(ConfigurationError, match=rf"{name} is not UTF-8 text"):
        settings.load()


def test_a_config_file_that_is_a_folder_is_told(config_file: Path) -> None:
    config_file.mkdir()
    with pytest.raises(ConfigurationError, match="is a folder"):
        settings.load()


def test_a_folder_of_the_name_env_is_somebody_elses(dotenv: Path) -> None:
    dotenv.mkdir()
    assert settings.load().k == 10


def test_a_key_is_not_shown_with_the_settings() -> None:
    loaded = settings.load({"api_key": SECRET})
    assert SECRET not in repr(loaded) + str(loaded) + loaded.model_dump_json()


def test_a_key_is_not_in_the_error_about_another_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGEN_API_KEY", SECRET)
    monkeypatch.setenv("REGEN_K", "0")
    with pytest.raises(ConfigurationError) as error:
        settings.load()
    assert SECRET not in str(error.value)


def test_a_key_is_not_in_the_error_about_itself(config_file: Path) -> None:
    config_file.write_text(f'api_key = ["{SECRET}"]\n')
    with pytest.raises(ConfigurationError) as error:
        settings.load()
    assert SECRET not in str(error.value)


@pytest.mark.parametrize("text", [f'api_key = "{SECRET}', f"api_key = {SECRET}\n", f'a.b = 1\n"{SECRET}"'])
def test_a_key_is_not_in_the_error_about_its_file(text: str, config_file: Path) -> None:
    config_file.write_text(text)
    with pytest.raises(ConfigurationError) as error:
        settings.load()
    assert SECRET not in str(error.value)


def test_every_setting_is_known_to_decide_an_answer_or_not_to() -> None:
    # What these come to, and not what they are set to, is what a file of answers is held to (`regen.cli.setup`).
    comes_to = {"model", "judge_model", "api_base", "model_path", "judge", "docs", "search", "recorded"}
    comes_to |= {"credibility", "credibility_list", "credibility_threshold"}
    nothing = {"api_key", "log_conflicts", "search_timeout", "page_deadline", "timeout", "retries", "concurrency"}
    assert settings.JUDGING < settings.ANSWERING
    assert sorted([*settings.ANSWERING, *comes_to, *nothing]) == sorted(settings.Settings.model_fields)


def test_a_misspelt_variable_is_told_with_what_is_meant() -> None:
    names = [
        "REGEN_JUGDE",
        "regen_modle",
        "REGEN_SEARXNG_ULR",
        "REGEN_JUDGE",
        "REGEN_CACHE_DIR",
        "REGEN_OF_ANOTHER_TOOL",
    ]
    assert settings.misspelt(names) == {
        "REGEN_JUGDE": "REGEN_JUDGE",
        "regen_modle": "REGEN_MODEL",
        "REGEN_SEARXNG_ULR": "REGEN_SEARXNG_URL",
    }
