"""What the README shows is what happens."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from recorded import MODEL, cassette

from regen.cli.app import run

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
_TRANSCRIPT = re.compile(r"(<!-- transcript[^\n]*-->\n```text\n)(.*?)(```)", re.DOTALL)
_SECONDS = re.compile(r"[\d.,]+ s(?= |$|\n)")


def first_line() -> str:
    block = re.search(r"```sh\n(pip install [^\n]*regen ask[^\n]*)\n", README)
    assert block
    return block.group(1).partition("&&")[2].strip()


def test_first_command_prints_the_transcript(
    recording: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("REGEN_TIMEOUT", "900")
    command = shlex.split(first_line())
    assert command[0] == "regen"
    with cassette("readme", record=recording) as endpoint:
        monkeypatch.setenv("REGEN_API_KEY", endpoint.api_key)
        # The command as it stands takes the embedded model; here the same model answers from the cassette.
        code = run([*command[1:], "--model", MODEL, "--api-base", endpoint.api_base, "--judge", "contrast"])
    shown = f"$ {first_line()}\n{capsys.readouterr().out}"
    assert code == 0
    if recording:
        text = _TRANSCRIPT.sub(lambda found: found.group(1) + shown + found.group(3), README)
        (ROOT / "README.md").write_text(text, encoding="utf-8")
        return
    found = _TRANSCRIPT.search(README)
    assert found
    assert _SECONDS.sub("N s", shown) == _SECONDS.sub("N s", found.group(2))


@pytest.mark.parametrize("line", re.findall(r"^(regen [^\n#]*?)\s*(?:#[^\n]*)?$", README, re.MULTILINE))
def test_commands_take_the_options_shown(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Each ends with what is missing (the folder, the file), never with a wrong command line's usage."""
    run(shlex.split(line)[1:])
    assert "See regen" not in capsys.readouterr().err


def test_python_example_runs(scripted_lm, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    import dspy

    def reply(system: str, user: str, request: object) -> str:
        if "List the factual claims" in system:
            return "The API allows 100 requests a minute."
        if "Answer the question" in system:
            return "The API allows 100 requests a minute [1]."
        stance = "supports" if "allows 100" in user.partition("</document>")[0] else "contradicts"
        quote = "The API allows 100 requests a minute." if stance == "supports" else "now allows 500 requests a minute"
        return f'{{"verdicts": [{{"claim": 1, "quote": "{quote}", "stance": "{stance}", "confidence": 0.9}}]}}'

    lm = scripted_lm(reply)
    monkeypatch.setattr(dspy, "LM", lambda model: lm)
    code = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    assert code
    exec(compile(code.group(1), "README.md", "exec"), {})
    assert "1.0 0.5" in capsys.readouterr().out


def test_the_lines_of_data_are_those_that_the_evaluations_read(tmp_path: Path) -> None:
    from eval_choices.data import load as load_choices
    from eval_conflictbench.data import ITEMS, PAIRS, load
    from eval_reports.data import load as load_topics

    (block,) = re.findall(r"```json\n(.*?)```", README, re.DOTALL)
    choices, pair, item, topic = (tmp_path / name for name in ("choices", "pair", "item", "topic"))
    for file, line in zip((choices, pair, item, topic), block.splitlines(), strict=True):
        file.write_text(line)
    assert load_choices(choices)[0][0].choices == ["yes", "no"]
    assert load(pair, "plain", PAIRS)[0].stance == "contradicts"
    assert load(item, "plain", ITEMS)[0].conflict
    assert load_topics(topic)[0].topic == "When the museum is open"


def test_the_list_of_sources_is_one_that_is_read(tmp_path: Path) -> None:
    from regen.credibility import SourceList

    (block,) = re.findall(r"```text\n(example\.org .*?)```", README, re.DOTALL)
    (tmp_path / "sources.txt").write_text(block)
    found = SourceList.read(tmp_path / "sources.txt")
    assert (dict(found.hosts), dict(found.files), found.others) == (
        {"example.org": 0.9, "gov": 1.0},
        {"archive/*": 0.4},
        0.5,
    )
