"""The commands beside `ask` and `score`, and what holds for all of them."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from conftest import QUESTION
from fake_model import FakeModel

import regen
from regen.errors import ProviderError


def test_help_loads_nothing_heavy() -> None:
    heavy = "dspy openai litellm tantivy trafilatura xllamacpp pydantic pydantic_settings prompt_toolkit httpx asyncio"
    code = f"""if True:
        import sys
        from regen.cli.app import run
        code = run(["--help"])
        print(code, [name for name in {heavy.split()!r} if name in sys.modules])"""
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.splitlines()[-1] == "0 []"


def test_version(cli: Any) -> None:
    assert (cli("--version").code, cli("--version").out) == (0, f"regen {regen.__version__}\n")


def test_help_gives_ranges_and_defaults(cli: Any) -> None:
    shown = " ".join(cli("ask", "--help").out.replace("│", " ").split())
    assert "-k N [1<=x<=100] How many documents to read (default 10)." in shown
    assert "--max-rounds N [0<=x<=10] How often to answer again at most (default 1)." in shown


def test_no_help_is_cut_off_at_80_columns(cli: Any) -> None:
    """Of every command that the groups' own help lists."""
    left, seen = [[]], 0
    while left:
        path = left.pop()
        shown = cli(*path, "--help").out
        assert "\u2026" not in shown, path
        assert all(len(line) <= 80 for line in shown.splitlines()), path
        _, _, commands = shown.partition("\u2500 Commands ")
        left += [[*path, name] for name in re.findall(r"^\u2502 (\w[\w-]*)", commands, re.MULTILINE)]
        seen += 1
    assert seen > 25


def test_without_arguments_the_help_is_shown(cli: Any) -> None:
    ended = cli()
    assert "Usage: regen" in ended.out and ended.err == ""


def test_an_unknown_command_is_told_with_the_like(cli: Any) -> None:
    ended = cli("aks")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == "regen: No such command 'aks'. Did you mean 'ask'? See regen --help.\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_script_is_printed(cli: Any, monkeypatch: pytest.MonkeyPatch, shell: str) -> None:
    import shellingham

    monkeypatch.setattr(shellingham, "detect_shell", lambda *_: (shell, f"/bin/{shell}"))
    ended = cli("--show-completion")
    assert ended.code == 0
    assert "_REGEN_COMPLETE" in ended.out


def test_config_tells_values_and_origins_and_no_secret(
    cli: Any, model: FakeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REGEN_API_KEY", "sk-secret")
    monkeypatch.setenv("REGEN_API_BASE", "https://user:sk-secret@host/v1")
    Path("config.toml").write_text("k = 5\nseed = 1\n")
    Path(".env").write_text("REGEN_SEED=2\n")
    ended = cli("config", "--json")
    assert ended.json["k"] == {"value": "5", "from": str(Path("config.toml").absolute())}
    assert ended.json["seed"] == {"value": "2", "from": ".env"}
    assert ended.json["judge"] == {"value": "contrast", "from": "environment"}
    assert ended.json["timeout"]["from"] == "default"
    assert ended.json["api_base"]["value"] == "https://host/v1"
    assert ended.json["api_key"]["value"].strip("*") == ""
    shown = cli("config").out
    assert "sk-secret" not in shown + ended.out
    assert "seed" in shown and ".env" in shown


def test_doctor_tells_what_would_be_used(cli: Any, model: FakeModel) -> None:
    ended = cli("doctor")
    assert (ended.code, ended.err) == (0, "")
    shown = " ".join(ended.out.split())
    assert f"llamacpp/fake at {model.url}, which answers" in shown
    assert "3 files)" in shown


def test_doctor_tells_everything_that_is_missing_without_the_key(
    cli: Any, model: FakeModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REGEN_API_BASE", "http://user:sk-secret@127.0.0.1:9/v1")
    monkeypatch.setenv("REGEN_API_KEY", "sk-secret")
    monkeypatch.setenv("REGEN_JUDGE", "nobody")
    Path("empty").mkdir()
    ended = cli("doctor", "--docs", "empty", "--json")
    assert ended.code == 3
    assert not ended.json["ok"]
    assert [item["name"] for item in ended.json["checks"] if not item["ok"]] == ["model", "judge", "search"]
    assert "sk-secret" not in ended.out + ended.err


def test_models_lists_and_removes(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "not fetched yet: regen models pull" in cli("models").out
    monkeypatch.setenv("REGEN_MODEL_PATH", "own.gguf")
    assert "names own.gguf, which is used instead" in cli("models").out
    folder = Path("cache/models")
    folder.mkdir(parents=True)
    (folder / "mine.gguf").write_bytes(b"GGUF")
    (folder / "other.gguf.part").write_bytes(b"GGUF")
    shown = cli("models", "list").out
    assert "mine  0 MB" in shown and "broken off" in shown
    ended = cli("models", "remove", "nobody")
    assert (ended.code, ended.err) == (2, "regen: No model 'nobody' is installed (installed: mine, other).\n")
    assert cli("models", "remove", "mine").code == 0
    assert not (folder / "mine.gguf").exists()


def test_verify_without_a_model_is_told(cli: Any) -> None:
    ended = cli("models", "verify")
    assert ended.code == 3
    assert ended.err.startswith("regen: The embedded model is not installed")


@pytest.mark.parametrize("command", ["ask", "score"])
def test_schema_describes_the_answer_and_the_failure(cli: Any, command: str) -> None:
    assert {"Failure", f"{command.capitalize()}Output"} <= set(cli("schema", command).json["$defs"])


@pytest.mark.parametrize(
    ("of", "types"),
    [
        ("eval", {"Figures", "Failure"}),
        ("results", {"Accuracy", "Row"}),
        ("eval-reports", {"ReportFigures", "Failure"}),
        ("reports-results", {"Figure", "Row"}),
    ],
)
def test_schema_describes_what_an_evaluation_prints_and_writes(cli: Any, of: str, types: set[str]) -> None:
    assert types <= set(cli("schema", of).json["$defs"])


def test_schema_of_something_else_is_told(cli: Any) -> None:
    ended = cli("schema", "doctor")
    assert ended.code == 2
    known = (
        "ask, check, conflicts, conflicts-results, eval, eval-conflicts, eval-reports, judge, judge-results, "
        "program, reports-results, results, score, search"
    )
    assert f"There is no schema of 'doctor'; there are: {known}." in ended.err


def test_the_keys_of_an_env_file_are_used(cli: Any, model: FakeModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "")
    monkeypatch.delenv("OPENAI_API_KEY")
    Path(".env").write_text("OPENAI_API_KEY=sk-of-env\n")
    monkeypatch.setenv("REGEN_MODEL", "openai/fake")
    monkeypatch.setenv("REGEN_JUDGE", "contrast")
    assert cli("ask", QUESTION, "--max-rounds", "0").code == 0


def test_commands_of_packages_are_added_once_however_often_a_line_is_run(cli: Any) -> None:
    from regen.cli.app import app, evals

    for _ in range(3):
        cli("eval", "--help")
        cli("schema", "ask")
    for names in ([one.name for one in app.registered_commands], [one.name for one in evals.registered_commands]):
        assert len(names) == len(set(names)) and ("optimize" in names or "truthfulqa" in names)


def test_a_misspelt_variable_is_a_warning(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGEN_JUGDE", "lm")
    Path(".env").write_text("REGEN_MODLE=embedded\n")
    ended = cli("config", "--json")
    assert (ended.code, ended.json is not None) == (0, True)
    told = " ".join(ended.err.split())
    assert "regen: REGEN_JUGDE is no setting and is passed over: is REGEN_JUDGE meant?" in told
    assert "is REGEN_MODEL meant?" in told


def test_what_an_interrupt_breaks_in_a_library_is_an_interrupt(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import regen.cli.app

    def broken(_: list[str]) -> int:
        with suppress(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(5)
        raise ProviderError("The model failed: module aiohttp has no attribute client_exceptions.")

    monkeypatch.setattr(regen.cli.app, "_run", broken)
    ended = cli("config")
    assert (ended.code, ended.err) == (130, "regen: Interrupted.\n")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
