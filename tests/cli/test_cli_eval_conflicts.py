"""`regen eval conflicts`: from lines of CONFLICTS to the figures of every strategy."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import validate
from scripted import system_text

from regen.errors import ProviderError
from regen.runs import Run

OLD, NEW = "Entry costs 10 euros.", "Entry costs 12 euros since May."
DATA = "conflicts.jsonl"
COMMAND = ("eval", "conflicts", "--data", DATA, "--run", "r", "--judge", "lm")


def line(number: int, kind: str, right: str = "", **more: Any) -> str:
    found = [
        {"doc_id": "d1", "source_url": "https://fees.example.org", "snippet": OLD, "timestamp": "2019-01-31"},
        {"doc_id": "d2", "source_url": "https://news.example.org", "snippet": NEW, "timestamp": None},
    ]
    item = {"id": f"c{number}", "query": f"What is fee {number}?", "conflict_type": kind, "retrieved_docs": found}
    return json.dumps({**item, "gold_answer": right, **more})


class World:
    """A model that answers with both fees as soon as it is told of a conflict, with the old one before.

    It takes every item for outdated information. `says` has its replies to prompts with those words in them, or what is
    raised in their place. At `stops` calls comes Ctrl-C.
    """

    def __init__(self) -> None:
        self.calls = 0
        self.says: dict[str, str | Exception] = {}
        self.stops: int | None = None

    def __call__(self, system: str, user: str, request: Any) -> str:
        if self.calls == self.stops:
            raise KeyboardInterrupt
        self.calls += 1
        prompt = " ".join(f"{system_text(request)}\n{user}".split())
        for words, reply in self.says.items():
            if words in prompt:
                if isinstance(reply, Exception):
                    raise reply
                return reply
        if "List the factual claims" in prompt:
            return "\n".join(re.split(r"(?<=\.)\s+", user.partition("Response: ")[2]))
        if "Say what kind of conflict" in prompt:
            return '{"reason": "[2] is newer.", "kind": "outdated"}'
        if "Say for each claim" in prompt:
            return self.judge(user)
        if "The response is material to judge" in prompt:
            yes = "12 euros" in user.partition("Response: ")[2]
            return next(letter for letter, said in re.findall(r"^([A-Z]): (.*)$", user, re.M) if (said == "yes") == yes)
        told = "Guidance: " in user or "Feedback" in user or "after you have said" in prompt
        answer = "Entry costs 12 euros since May [2]. It was 10 euros. [1] Bring cash." if told else f"{OLD} [1]"
        return f"Kind: outdated\n{answer}" if "after you have said" in prompt else answer

    def judge(self, user: str) -> str:
        text = NEW if NEW in user.partition("</document>")[0] else OLD
        verdicts = []
        for number, claim in re.findall(r"^(\d+)\. (.*)$", user, re.M):
            fees = [fee for fee in ("10", "12") if fee in claim]
            stance = "irrelevant" if not fees else "supports" if fees[0] in text else "contradicts"
            verdicts.append({"claim": int(number), "stance": stance, "quote": text, "confidence": None})
        return json.dumps({"verdicts": verdicts})


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch, scripted_lm: Callable[..., Any]) -> World:
    """The model of the command, in this process; and three items, of three kinds."""
    world = World()
    lm = scripted_lm(world)
    monkeypatch.setattr("eval_conflicts.session.make_model", lambda *_: lm)
    monkeypatch.setenv("REGEN_MODEL", "llamacpp/fake")
    monkeypatch.setenv("REGEN_API_BASE", "http://127.0.0.1:9/v1")
    lines = [line(1, "Conflict due to outdated information", "12 euros"), line(2, "No conflict", "10 euros")]
    Path(DATA).write_text("\n".join([*lines, line(3, "Conflicting opinions and research outcomes")]))
    return world


def figures_of(found: Any) -> Any:
    """What two runs that were asked the same must share."""
    return {name: found[name] for name in ("kinds", "strategies", "n", "unjudged", "failures")}


def test_every_strategy_is_measured_and_nothing_is_asked_twice(cli: Any, model: World) -> None:
    ended = cli(*COMMAND, "--json")
    assert ended.code == 0, ended.err
    found = ended.json
    validate(found, cli("schema", "eval-conflicts").json)
    kinds = {one["by"]: one for one in found["kinds"]}
    baselines = ["always no-conflict", "majority (no-conflict)"]
    assert [*kinds] == ["rules", "model", "conflict-score", "taxonomy", *baselines]
    assert kinds["model"]["accuracy"]["count"] == 1 and kinds["model"]["confusion"]["opinions"]["outdated"] == 1
    # One of three kinds has an F1: 2·1/(1+3), and the other two have none.
    assert kinds["model"]["macro_f1"]["value"] == pytest.approx(0.5 / 3)
    told = {one["strategy"]: one for one in found["strategies"]}
    assert [*told] == ["vanilla", "conflict-score", "pipeline", "oracle", "taxonomy"]
    adhering = {name: one["adherence"]["share"]["count"] for name, one in told.items()}
    assert adhering == {**dict.fromkeys(told, 3), "vanilla": 0}
    # Opinions leave no one answer right.
    assert {one["answer_recall"]["share"]["of"] for one in told.values()} == {2}
    grounded = {
        name: (one["grounding"]["share"]["count"], one["grounding"]["share"]["of"]) for name, one in told.items()
    }
    # Two of three sentences are supported by what they cite; the third one cites nothing.
    assert grounded == {**dict.fromkeys(told, (6, 9)), "vanilla": (3, 3)}
    assert (told["oracle"]["uncited"], told["vanilla"]["uncited"]) == (3, 0)
    costs = {cost["setting"]: cost["calls"] for cost in found["costs"]}
    # Pipeline is told the kind that the model was asked for once.
    assert (costs["kind by model"], costs["pipeline"], costs["oracle"], costs["vanilla"]) == (1, 1, 1, 1)
    assert found["usage"]["calls"] == model.calls == pytest.approx(3 * found["per_item"]["calls"])
    results = json.loads(Path("r/results.json").read_text())
    validate(results, cli("schema", "conflicts-results").json)
    assert results["rows"][0]["answers"]["oracle"]["sentences"][1]["text"] == "It was 10 euros."
    assert "    - cites nothing: Bring cash." in Path("r/report.md").read_text()
    calls = model.calls
    shown = cli(*COMMAND)
    assert (shown.code, model.calls) == (0, calls)
    assert "oracle" in shown.out and "6/9 = 66.7%" in shown.out and "majority (no-conflict)" in shown.out


@pytest.mark.parametrize("after", [3, 20])
def test_a_run_that_was_broken_off_goes_on_to_the_same_figures_and_pays_nothing_twice(
    cli: Any, model: World, after: int
) -> None:
    command = ["parts" if part == "r" else part for part in COMMAND] + ["--json", "--limit", "1"]
    whole = cli(*COMMAND, "--json", "--limit", "1").json
    asked, model.calls, model.stops = model.calls, 0, after
    broken = cli(*command)
    assert broken.code == 130 and Run.read(Path("parts")).usage().calls == after
    model.stops = None
    parts = cli(*command)
    assert (parts.code, model.calls) == (0, asked)
    assert figures_of(parts.json) == figures_of(whole)


def test_what_a_judge_says_that_cannot_be_read_is_not_judged_and_in_no_share(cli: Any, model: World) -> None:
    """A reply without a letter is neither side; a failure is one, and done again when that is asked for."""
    model.says = {
        "Say whether the response answers the question with the right answer": "Maybe.",
        "different results. Say whether": ProviderError("The endpoint went away."),
    }
    ended = cli(*COMMAND, "--json", "--strategy", "vanilla,oracle", "--kinds", "rules")
    assert ended.code == 4
    vanilla, oracle = ended.json["strategies"]
    assert (oracle["answer_recall"]["share"]["of"], oracle["answer_recall"]["unjudged"]) == (0, 2)
    assert (vanilla["adherence"]["share"]["of"], vanilla["adherence"]["unjudged"]) == (2, 1)
    assert "replied 'Maybe.'" in next(iter(ended.json["unjudged"]))
    assert ended.json["failures"][0]["stage"] == "vanilla: adherence"
    assert "oracle: not judged, and in no share: adherence 1, answer recall 2." in ended.err
    assert "model" not in [one["by"] for one in ended.json["kinds"]]
    del model.says["different results. Say whether"]
    again = cli(*COMMAND, "--json", "--strategy", "vanilla,oracle", "--kinds", "rules", "--retry-failed")
    assert (again.code, again.json["strategies"][0]["adherence"]["unjudged"]) == (0, 0)


def test_where_the_model_names_no_kind_the_rules_tell_it_and_that_is_counted(cli: Any, model: World) -> None:
    model.says = {"Say what kind of conflict": '{"reason": "", "kind": "strange"}'}
    found = cli(*COMMAND, "--json", "--strategy", "pipeline").json
    kinds = {one["by"]: one for one in found["kinds"]}
    assert kinds["model"]["by_rules"] == 3
    assert kinds["model"]["confusion"] == kinds["rules"]["confusion"]


def test_documents_and_answers_are_no_markup_in_the_report(cli: Any, model: World) -> None:
    model.says = {"Answer the question from the documents": "It is <b>10</b> [1] | \x1b[31m ![x](http://e.org)"}
    assert cli(*COMMAND, "--strategy", "vanilla", "--kinds", "rules").code == 0
    report = Path("r/report.md").read_text()
    assert "&lt;b&gt;10" in report and "<b>" not in report and "\x1b" not in report and "![x]" not in report


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "line 2: not JSON"),
        (line(2, "Conflict of interest"), "line 2: 'conflict_type: Conflict of interest' is missing or unknown"),
        (line(2, "No conflict", query=" "), "line 2: question: it is blank"),
        (line(2, "No conflict", retrieved_docs=[]), "line 2: documents"),
        (line(2, "No conflict", retrieved_docs=[{"doc_id": "d", "snippet": "x", "timestamp": "May"}]), "line 2: docum"),
        (line(2, "No conflict", retrieved_docs=[{"doc_id": "d", "snippet": "x"}] * 2), "line 2: Two documents"),
        (line(1, "No conflict"), "line 2: the id 'c1' stands in line 1 as well"),
    ],
)
def test_a_wrong_line_is_named(cli: Any, model: World, text: str, why: str) -> None:
    Path(DATA).write_text(f"{line(1, 'No conflict')}\n{text}\n")
    ended = cli(*COMMAND)
    assert (ended.code, why in ended.err) == (2, True), ended.err
    assert not Path("r").exists()


def test_a_strategy_that_is_not_there_is_told(cli: Any, model: World) -> None:
    ended = cli(*COMMAND, "--strategy", "vanilla,best")
    assert (ended.code, "There is no strategy 'best'; there are: vanilla, conflict-score" in ended.err) == (2, True)
