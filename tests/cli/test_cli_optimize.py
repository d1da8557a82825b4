"""`regen optimize`, `regen program`, and --program of the other commands."""

from __future__ import annotations

import json
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from fake_model import FakeModel
from test_cli_eval import line

from regen.cli import app as app_module

QUESTION = "What was our revenue in 2025?"


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command is there, whatever was installed."""
    point = EntryPoint("optimize", "optimizing.command:optimize", "regen.commands")
    real = app_module.entry_points
    monkeypatch.setattr(
        app_module, "entry_points", lambda group: [point] if group == "regen.commands" else real(group=group)
    )


@pytest.fixture
def data(tmp_path: Path, model: FakeModel) -> Path:
    """Twelve items; the model says $6.8M once it is shown examples, which is right, and $4.2M before."""
    model.first = model.second = "It was $6.8M."
    file = tmp_path / "items.jsonl"
    file.write_text("\n".join(line(number) for number in range(1, 13)))
    return file


def compile_it(cli: Any, data: Path, *more: str) -> Any:
    return cli("optimize", "--optimizer", "labeled", "--train", str(data), "--out", "p", *more)


def test_a_program_is_compiled_shown_and_used(cli: Any, data: Path) -> None:
    ended = compile_it(cli, data)
    assert ended.code == 0, ended.err
    assert "over 3 held-back items" in ended.out and "Program: p" in ended.out
    assert "best so far" in ended.err
    card = json.loads(Path("p/card.json").read_text())
    assert {name: one["n"] for name, one in card["data"].items()} == {"training": 6, "validation": 3, "test": 3}
    assert (card["judge"], card["predictors"]) == ("contrast", ["choose", "judge.read"])
    shown = cli("program", "show", "p")
    assert shown.code == 0 and "+ example 1\n+   documents: <document" in shown.out and "(as by default)" in shown.out
    assert "\nAudit" not in shown.out
    assert cli("program", "show", "p", "--json").json["finished"] is True
    asked = cli("ask", QUESTION, "--choice", "$6.8M", "--choice", "$4.2M", "--program", "p", "--json")
    assert asked.code == 0, asked.err


def test_the_compiled_prompts_reach_the_model_in_every_command(cli: Any, data: Path, model: FakeModel) -> None:
    compile_it(cli, data)
    state = json.loads(Path("p/program.json").read_text())
    for name in ("choose", "claims", "judge.read"):
        state[name]["signature"]["instructions"] += f"\nThis is the compiled {name}."
    state["choose"]["demos"] = []
    Path("p/program.json").write_text(json.dumps(state))
    other = data.parent / "other.jsonl"
    other.write_text(line(50))
    pairs = data.parent / "pairs.jsonl"
    pairs.write_text(
        json.dumps(
            {"claim": "It was $6.8M.", "document": "It was $6.8M.", "stance": "supports", "question": "How much?"}
        )
    )
    items = data.parent / "items.jsonl"
    items.write_text(
        json.dumps({"id": "1", "claim": "It was $6.8M.", "documents": ["It was $6.8M."], "conflict": False})
    )
    # That judge has no prompts, but what takes the claims apart has.
    apart = ("--claims", "atomic", "--judge", "builtin")
    for arguments, wanted in [
        (("ask", QUESTION, "-c", "$6.8M", "-c", "$4.2M"), ("choose", "judge.read")),
        (("score", "--response", "Revenue in 2025 was $4.2M.", "--question", QUESTION), ("claims", "judge.read")),
        (("eval", "choices", "--data", str(other), "--run", "r"), ("choose", "judge.read")),
        (("eval", "stance", "--data", str(pairs), "--run", "s"), ("judge.read",)),
        (("eval", "conflictbench", "--data", str(items), *apart, "--run", "t"), ("claims",)),
    ]:
        model.prompts.clear()
        ended = cli(*arguments, "--program", "p", "--json")
        assert ended.code == 0, ended.err
        for name in wanted:
            assert any(f"This is the compiled {name}." in prompt for prompt in model.prompts), (arguments, name)
    configs = [json.loads(Path(f"{run}/config.json").read_text())["config"] for run in "rs"]
    assert configs[0]["program"] == configs[1]["program"]
    plain = cli("eval", "choices", "--data", str(other), "--run", "r")
    assert plain.code == 2 and "begun with other settings" in plain.err


def test_an_evaluation_on_what_was_trained_on_is_refused(cli: Any, data: Path) -> None:
    compile_it(cli, data)
    ended = cli("eval", "choices", "--data", str(data), "--run", "r", "--program", "p")
    assert ended.code == 2
    # Six to learn from, and three to choose by.
    assert "9 of the 12 items to evaluate on were in the training of the program in p" in ended.err


def test_a_program_for_another_judge_or_no_program_is_refused(cli: Any, data: Path) -> None:
    compile_it(cli, data)
    ended = cli("ask", "What?", "--program", "p", "--judge", "lm")
    assert ended.code == 2 and "compiled for --judge contrast" in ended.err
    ended = cli("ask", "What?", "--program", "nowhere")
    assert ended.code == 2 and "There is no compiled program in nowhere" in ended.err


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--budget", "some"), "--budget is light, medium, heavy or a number of calls"),
        (("--metric", "stance"), "does not go with the format choices"),
        (("--format", "stance", "--metric", "net"), "does not go with the format stance"),
        (("--harm", "2"), "--harm goes with --metric net"),
        (("--only", "claims"), "There is nothing to compile: of claims, these items use choose, judge.read."),
    ],
)
def test_what_cannot_be_compiled_is_told_in_a_sentence(cli: Any, data: Path, more: tuple[str, ...], said: str) -> None:
    ended = compile_it(cli, data, *more)
    assert ended.code == 2 and said in " ".join(ended.err.split())


def test_mipro_without_its_package_says_what_to_install(cli: Any, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regen.compiling.find_spec", lambda name: None)
    ended = cli("optimize", "--optimizer", "mipro", "--train", str(data), "--out", "p")
    assert ended.code == 3 and 'pip install "regen[mipro]"' in ended.err


def test_ctrl_c_ends_with_130_and_says_what_is_kept(cli: Any, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import regen.compiling as compiling

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(compiling._Job, "_score", interrupted)
    ended = compile_it(cli, data)
    assert ended.code == 130
    assert "The best program so far is in p; the same command goes on" in ended.err
