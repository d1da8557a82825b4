"""`regen eval` and `regen runs`: a benchmark from the command line to its report."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from fake_model import FakeModel

from regen.types import Document
from search.base import SearchResults

sys.path.append(str(Path(__file__).parents[1] / "evals"))
from fake_batches import KEY, BatchServer

HOSTILE = '<script src="https://evil.example/x.js">alert(1)</script> | [x](javascript:alert(1)) ![i](https://evil.example/i.png)'


def line(number: int, *, answer: int = 0, extra: str = "", **more: Any) -> str:
    """An item whose documents say $6.8M twice and $4.2M once, as the model reads them."""
    texts = [f"Audit {number}: $6.8M.", f"Report {number}: $6.8M {extra}.", f"Estimate {number}: $4.2M."]
    documents = [{"text": text, "title": f"Page {place} {extra}"} for place, text in enumerate(texts, 1)]
    item = {
        "id": f"q{number}",
        "question": f"What was the revenue of firm {number}? {extra}".strip(),
        "choices": ["$6.8M", "$4.2M"],
        "answer": answer,
        "documents": documents,
    }
    return json.dumps(item | more)


@pytest.fixture
def data(tmp_path: Path, model: FakeModel) -> Path:
    """Four items: the model's first answer, $4.2M, is wrong for three of them, and its second, $6.8M, right."""
    model.second = "It was $6.8M."
    file = tmp_path / "items.jsonl"
    items = [line(1, category="A"), line(2, category="A"), line(3, category="B"), line(4, answer=1, category="B")]
    file.write_text("\n".join(items))
    return file


def run_choices(cli: Any, data: Path, *more: str) -> Any:
    return cli("eval", "choices", "--data", str(data), "--run", "r", *more)


def test_choices_end_to_end(cli: Any, data: Path) -> None:
    ended = run_choices(cli, data, "--json")
    assert ended.code == 0, ended.err
    found = ended.json
    assert found["accuracy"] == {"closed": 0.25, "rag": 0.25, "control": 0.25, "regenerated": 0.75}
    assert (found["n"], found["n_conflict"], found["improve_rate"], found["harm_rate"]) == (4, 4, 1.0, 1.0)
    # Four items changed, three for the better: 2 · (1 + 4) / 16 = 0.625.
    assert found["p_value"] == 0.625
    # Both orders for each of four answers, and for each of three documents.
    assert found["usage"]["calls"] == 4 * 2 * (4 + 3)
    assert json.loads(Path("r/results.json").read_text())["rows"][0]["id"] == "q1"


def test_the_screen_shows_the_main_figures_and_where_the_report_is(cli: Any, data: Path) -> None:
    ended = run_choices(cli, data)
    assert re.search(r"regenerated +3/4 = 75\.0%", ended.out)
    assert "improve rate       3/3 = 100.0%" in ended.out
    assert "Report: r/report.html" in ended.out


def test_a_limit_ends_the_run_with_its_own_code_and_the_run_goes_on_later(
    cli: Any, data: Path, model: FakeModel
) -> None:
    stopped = run_choices(cli, data, "--max-calls", "20", "--json")
    assert stopped.code == 5
    assert stopped.json["complete"] is False
    assert "The limit of 20 calls (--max-calls) is reached." in stopped.err
    assert "With a higher one, give the same command with --run r to go on." in stopped.err
    assert len(model.prompts) == 20
    assert "The run is not complete." in Path("r/report.md").read_text()
    ended = run_choices(cli, data, "--json")
    assert (ended.code, ended.json["complete"], ended.json["accuracy"]["regenerated"]) == (0, True, 0.75)
    assert len(model.prompts) == 56


def test_a_run_of_other_settings_is_refused(cli: Any, data: Path) -> None:
    run_choices(cli, data, "--settings", "closed")
    ended = run_choices(cli, data, "--settings", "closed", "--seed", "7")
    assert ended.code == 2
    assert "begun with other settings (seed was 0 and is 7)" in ended.err


def test_an_item_without_documents_is_told_and_is_no_failure_of_the_model(cli: Any, data: Path) -> None:
    data.write_text(data.read_text() + "\n" + line(5, documents=[]))
    ended = run_choices(cli, data, "--json", "--settings", "rag")
    assert ended.code == 0
    assert "1 of 5 items failed, the first one so: No document was found" in ended.err
    assert ended.json["settings"][0]["failed"] == 1
    assert ended.json["failures"][0]["id"] == "q5"


def test_a_model_that_fails_ends_with_4_and_can_be_asked_again(cli: Any, data: Path, model: FakeModel) -> None:
    model.broken = (500, {"error": {"message": "out of order"}})
    ended = run_choices(cli, data, "--json", "--settings", "closed")
    assert (ended.code, ended.json["complete"], ended.json["accuracy"]["closed"]) == (4, True, None)
    assert "4 of 4 items failed" in ended.err and "--retry-failed" in ended.err
    model.broken = None
    assert run_choices(cli, data, "--settings", "closed").code == 4
    again = run_choices(cli, data, "--json", "--settings", "closed", "--retry-failed")
    assert (again.code, again.json["settings"][0]["failed"]) == (0, 0)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "line 2: not JSON"),
        ('{"id": "q2"}', "line 2: 'documents' is missing"),
        (line(2, choices=["$6.8M"]), "line 2: choices"),
        (line(2, answer=2), "line 2: answer 2 is none of the 2 choices"),
        (line(1), "line 2: the id 'q1' stands in line 1 as well"),
        ("[]", "line 2: not an item"),
        (line(2, id=None), "line 2: not an item"),
        (line(2, id=True), "line 2: not an item"),
        (line(2, question="\ud800"), "line 2: holds half a character"),
        (line(2, question=" "), "line 2: question: it is blank"),
        (line(2, choices=["$6.8M", ""]), "line 2: choices.1: it is blank"),
        (line(2, answer=True), "line 2: answer"),
        (line(2, answer="1"), "line 2: answer"),
        (line(2, documents="One text."), "line 2: not an item"),
        (line(2, choices=["$6.8M", "$4.2M", "$6.8M"]), "line 2: two choices are the same"),
    ],
)
def test_a_wrong_line_is_named(cli: Any, data: Path, text: str, why: str) -> None:
    data.write_text(f"{line(1)}\n{text}\n")
    ended = run_choices(cli, data)
    assert ended.code == 2
    assert why in ended.err
    assert not Path("r").exists()


def test_a_wrong_setting_is_told(cli: Any, data: Path) -> None:
    ended = run_choices(cli, data, "--settings", "rag,magic")
    assert (ended.code, "There is no setting 'magic'" in ended.err) == (2, True)


class Links(HTMLParser):
    """Collects tags, and every address that a browser would follow or load."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.loads: list[str] = []
        self.hrefs: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            if name in ("src", "srcset", "data", "action", "poster") or (tag == "link" and name == "href"):
                self.loads.append(value)
            if tag == "a" and name == "href":
                self.hrefs.append(value)


def test_the_report_loads_nothing_and_takes_nothing_for_markup(cli: Any, data: Path) -> None:
    item = json.loads(line(1, extra=HOSTILE, category=HOSTILE))
    for document, url in zip(item["documents"], ["javascript:alert(1)", "https://a.example/?a=1&b=2", ""], strict=True):
        document["url"] = url
    data.write_text(json.dumps(item))
    assert run_choices(cli, data).code == 0
    page = Path("r/report.html").read_text()
    found = Links()
    found.feed(page)
    assert found.loads == []
    assert [link for link in found.hrefs if not link.startswith("#")] == ["https://a.example/?a=1&b=2"]
    assert not found.tags & {"script", "img", "iframe", "object", "link"}
    assert "&lt;script" in page
    text = Path("r/report.md").read_text()
    assert "<script" not in text and "](javascript" not in text and "![i]" not in text


def test_the_report_of_mended_and_spoiled_items_says_why(cli: Any, data: Path) -> None:
    run_choices(cli, data)
    text = Path("r/report.md").read_text()
    assert "## Mended items" in text and "## Spoiled items" in text
    assert "contradicts: Audit 1: $6.8M." in text
    assert "| A | 2 | 0.0% | 0.0% | 0.0% | 100.0% | 2 | 2/2 | 0/0 |" in text
    assert "every answer is the average over both orders" in text


class Everywhere:
    """A search that finds what is right twice, what is wrong once, and the answer key."""

    name = "everywhere"

    def top(self, query: str, k: int = 10) -> SearchResults:
        found = {"a.example": "It is right.", "b.example": "It is right indeed.", "c.example": "It is wrong."}
        found |= {"github.com/sylinrl/TruthfulQA": "The key.", "arxiv.org/html/2109.07958v2": "The paper."}
        return SearchResults(
            documents=[
                Document(id=site, url=f"https://{site}", text=f"{query} {text}") for site, text in found.items()
            ],
            warnings=["One page could not be read."],
        )


def test_truthfulqa_end_to_end(cli: Any, model: FakeModel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from evals_data import write_truthfulqa

    monkeypatch.setattr("regen.cli.searching.prepared", lambda *_, **__: Everywhere())
    model.answers, model.first, model.second = ["right", "wrong"], "It is wrong.", "It is right."
    file = write_truthfulqa(tmp_path / "TruthfulQA.csv")
    ended = cli(
        "eval", "truthfulqa", "--data", str(file), "--sample", "6", "--run", "t", "--json", "--exclude-site", "x.y"
    )
    assert ended.code == 0, ended.err
    found = ended.json
    assert found["accuracy"] == {"closed": 0.0, "rag": 0.0, "control": 0.0, "regenerated": 1.0}
    assert [group["name"] for group in found["categories"]] == ["Health", "Law"]
    assert found["retrieval"]["excluded"] == [
        "https://arxiv.org/html/2109.07958v2",
        "https://github.com/sylinrl/TruthfulQA",
    ]
    assert found["retrieval"]["warnings"] == {"One page could not be read.": 6}
    assert found["config"]["exclude_sites"][0] == "x.y" and "github.com/sylinrl" in found["config"]["exclude_sites"]
    report = Path("t/report.html").read_text()
    assert "No model was shown a page of these sites: x.y, github.com/sylinrl" in report
    assert "Nor one of any site whose address names TruthfulQA or its paper." in report


def test_a_run_is_not_gone_on_with_over_another_folder(
    cli: Any, model: FakeModel, folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from evals_data import write_truthfulqa

    file = write_truthfulqa(tmp_path / "TruthfulQA.csv")
    command = ["eval", "truthfulqa", "--data", str(file), "--limit", "1", "--settings", "rag", "--run", "t"]
    assert cli(*command).code == 0
    assert cli(*command).code == 0
    with monkeypatch.context() as changed:
        changed.setenv("REGEN_ALLOW_PRIVATE", "1")
        changed.setenv("REGEN_PAGE_DEADLINE", "3")
        ended = cli(*command)
        assert ended.code == 2
        assert "page_deadline was 15.0 and is 3.0; allow_private was false and is true" in ended.err
    (folder / "new.md").write_text("Watermelon seeds pass through you.")
    ended = cli(*command)
    assert (ended.code, "docs_files was 3 and is 4; docs_hash was" in ended.err) == (2, True)


def test_a_run_is_not_gone_on_with_over_another_recording(cli: Any, model: FakeModel, tmp_path: Path) -> None:
    from evals_data import FIRST, write_truthfulqa

    file, recording = write_truthfulqa(tmp_path / "TruthfulQA.csv"), tmp_path / "searches.jsonl"
    recording.write_text(json.dumps({"query": FIRST, "k": 10, "documents": []}) + "\n")
    command = ["eval", "truthfulqa", "--data", str(file), "--limit", "1", "--settings", "rag", "--run", "t"]
    command += ["--search", "recorded", "--recorded", str(recording)]
    assert cli(*command).code == 0
    recording.write_text(recording.read_text().replace("10", "11"))
    ended = cli(*command)
    assert (ended.code, "(recorded_sha256 was" in ended.err) == (2, True)


def test_a_key_is_not_in_the_run(cli: Any, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGEN_API_KEY", "sk-very-secret")
    run_choices(cli, data)
    for file in Path("r").iterdir():
        assert b"sk-very-secret" not in file.read_bytes()


def test_runs_are_listed_and_shown(cli: Any, data: Path) -> None:
    run_choices(cli, data)
    assert "r  choices, " in cli("runs", "list", ".").out
    shown = cli("runs", "show", "r").out
    assert "4 of 4 items begun, 0 with a failure; 56 calls" in " ".join(shown.split())
    assert "model: llamacpp/fake" in shown and "Report: r/report.html" in shown
    found = cli("runs", "show", "r", "--json").json
    assert found["sessions"][0]["how"] == "The run is complete."


@pytest.mark.parametrize(
    ("store", "why"),
    [
        (b"", "was not written by this version of regen"),
        (b"not a database, but long enough to be taken for one" * 40, "cannot be used as a run"),
    ],
)
def test_a_folder_without_a_readable_run_does_not_hide_the_others(cli: Any, data: Path, store: bytes, why: str) -> None:
    run_choices(cli, data, "--settings", "closed")
    Path("odd").mkdir()
    Path("odd/run.sqlite").write_bytes(store)
    ended = cli("runs", "list", ".")
    said = " ".join(ended.out.split())
    assert ended.code == 0
    assert "r choices, " in said and "odd " in said and why in said
    listed = {Path(run["folder"]).name: run for run in cli("runs", "list", ".", "--json").json}
    assert listed["r"]["name"] == "choices" and why in listed["odd"]["unreadable"]


def test_two_runs_are_compared_item_by_item(cli: Any, data: Path, model: FakeModel) -> None:
    run_choices(cli, data)
    model.first = "It is $6.8M."
    cli("eval", "choices", "--data", str(data), "--run", "s", "--seed", "1")
    ended = cli("runs", "diff", "r", "s")
    assert "seed was 0 and is 1" in ended.out
    assert "closed: right in 1 of 4 in A and in 3 of 4 in B; 3 mended, 1 spoiled" in " ".join(ended.out.split())
    assert "+ q1  What was the revenue of firm 1?  $4.2M \u2192 $6.8M" in ended.out
    stages = {stage["stage"]: stage for stage in cli("runs", "diff", "r", "s", "--json").json["stages"]}
    assert stages["regenerated"]["changed"] == []
    # What `regenerated` began with is what `rag` says.
    assert (stages["rag"]["n"], stages["rag"]["right_before"], stages["rag"]["right_after"]) == (4, 1, 3)


def test_a_folder_without_a_run_is_told(cli: Any, tmp_path: Path) -> None:
    ended = cli("runs", "show", "nowhere")
    assert (ended.code, "There is no run in nowhere" in ended.err) == (2, True)
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "run.sqlite").write_text("not a database, but long enough to be taken for one" * 40)
    ended = cli("runs", "show", "odd")
    assert (ended.code, "cannot be used as a run" in ended.err) == (2, True)


@pytest.fixture
def server(data: Path, model: FakeModel, monkeypatch: pytest.MonkeyPatch) -> Iterator[BatchServer]:
    """An endpoint with a Batch API, whose model says what the fake one says; no time passes while it works."""

    def reply(body: dict[str, Any]) -> dict[str, Any]:
        return model.completion("\n\n".join(str(message["content"]) for message in body["messages"]))

    fake = BatchServer(reply)
    monkeypatch.setenv("REGEN_API_BASE", fake.url)
    monkeypatch.setenv("REGEN_API_KEY", KEY)
    monkeypatch.setattr("regen.outbox.sleep", lambda _: None)
    yield fake
    fake.close()
    assert fake.wrong == []


def test_choices_in_batches(cli: Any, data: Path, server: BatchServer) -> None:
    ended = run_choices(cli, data, "--json", "--batch")
    assert ended.code == 0, ended.err
    assert ended.json["accuracy"] == {"closed": 0.25, "rag": 0.25, "control": 0.25, "regenerated": 0.75}
    assert (server.direct, len(server.batches), len(server.sent)) == (0, 3, 56)
    note = "56 of 56 calls went through the provider's Batch API, and are counted at its price."
    assert any(one.startswith(note) for one in ended.json["notes"])
    assert note in Path("r/report.md").read_text()
    assert ended.json["config"] == json.loads(Path("r/config.json").read_text())["config"]
    assert "batch" not in ended.json["config"]


def test_ctrl_c_leaves_a_batch_that_the_same_command_fetches(
    cli: Any, data: Path, server: BatchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("regen.outbox.sleep", interrupt)
        ended = run_choices(cli, data, "--batch")
    assert ended.code == 130
    assert "with --run r to go on" in ended.err
    assert "The provider goes on with a batch of 24 calls, which that command fetches." in ended.err
    refused = run_choices(cli, data)
    assert refused.code == 2
    assert "The run in r waits for a batch of 24 calls: give --batch as well, to fetch it." in refused.err
    assert run_choices(cli, data, "--batch").code == 0
    assert len(server.sent) == 56


def test_a_limit_that_the_next_batch_would_break_ends_with_5(cli: Any, data: Path, server: BatchServer) -> None:
    ended = run_choices(cli, data, "--batch", "--max-calls", "20")
    assert ended.code == 5
    assert "The limit of 20 calls (--max-calls) is reached. 0 were made, and the next batch has 24." in ended.err
    assert server.sent == []


def test_an_endpoint_without_the_batch_api_ends_with_3(cli: Any, data: Path, server: BatchServer) -> None:
    server.absent = {"files"}
    ended = run_choices(cli, data, "--batch")
    assert (ended.code, "has no Batch API: leave --batch out" in ended.err) == (3, True)


@pytest.mark.parametrize(("option", "name"), [("--model", "embedded"), ("--judge-model", "anthropic/claude-x")])
def test_a_model_that_takes_no_batches_ends_with_3_before_anything_is_loaded(
    cli: Any, data: Path, monkeypatch: pytest.MonkeyPatch, option: str, name: str
) -> None:
    monkeypatch.delenv("REGEN_API_BASE")
    monkeypatch.setenv("REGEN_MODEL", "openai/gpt-4.1-mini")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    ended = run_choices(cli, data, "--batch", option, name)
    assert ended.code == 3
    assert f"{name.partition('/')[0]}/" in ended.err and "cannot be asked in batches" in ended.err
    assert not Path("r").exists()


def test_batches_are_not_sent_from_a_ray_cluster(cli: Any, data: Path) -> None:
    ended = run_choices(cli, data, "--batch", "--engine", "ray")
    assert (ended.code, "give one of the two" in ended.err) == (2, True)
    assert not Path("r").exists()


def test_where_a_local_model_is_asked_items_are_worked_on_one_by_one() -> None:
    from regen.cli.evaluating import items_at_once
    from regen.settings import load

    given = load({"model": "llamacpp/x", "api_base": "http://127.0.0.1:1/v1", "judge_model": "embedded"})
    assert items_at_once(given, "answer") == given.concurrency == 8
    assert items_at_once(given, "answer", "judge") == items_at_once(given, "judge") == 1
