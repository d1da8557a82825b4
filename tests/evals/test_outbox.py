"""A run whose calls go through the Batch API: the same figures in few rounds, and nothing sent or paid for twice."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dspy
import pytest
from fake_batches import KEY, BatchServer, completion
from worlds import ITEMS, Bench, Hasty, figures, item

from regen.errors import ConfigurationError, ProviderError
from regen.models import batch_api
from regen.models.batch_api import UnansweredError
from regen.models.engine import OpenAIEngine
from regen.parallel import Awaited, in_turn, run_all
from regen.runs import Run
from regen.usage import usage_of


class CrashError(BaseException):
    """The process is gone."""


class Served(Bench):
    """A bench whose model is served at an address, one by one or in batches."""

    def __init__(self, folder: Path, server: BatchServer, *, model: str = "openai/served", **options: Any) -> None:
        def make_lm(_: Any) -> Any:
            engine = OpenAIEngine(server.url, options.pop("key", KEY), **{"gives_logprobs": True, **options})
            return dspy.LM(model, engine=engine, cache=False, num_retries=0)

        super().__init__(folder, make_lm)


def read_by(model: Hasty) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """What a server says that serves such a model."""

    def reply(body: dict[str, Any]) -> dict[str, Any]:
        system, user = body["messages"][0]["content"], body["messages"][-1]["content"]
        text = model("", user, SimpleNamespace(system=system))
        return completion(text, logprobs=bool(body.get("logprobs")))

    return reply


@pytest.fixture
def server() -> Iterator[BatchServer]:
    fake = BatchServer(read_by(Hasty()))
    yield fake
    fake.close()
    assert fake.wrong == []
    dspy.configure(lm=None)


@pytest.fixture
def bench(tmp_path: Path, server: BatchServer) -> Served:
    return Served(tmp_path / "run", server)


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that would have been waited."""
    found: list[float] = []
    monkeypatch.setattr("regen.outbox.sleep", found.append)
    monkeypatch.setattr("regen.models.batch_api.sleep", found.append)
    return found


def matter(number: int) -> Callable[[dict[str, Any]], bool]:
    """Tells requests about one item."""
    return lambda body: re.search(rf"(?:matter |true-|false-){number}\b", body["messages"][-1]["content"]) is not None


def answers(bench: Bench) -> dict[str, Any]:
    """What is kept of each stage of each item, without seconds."""
    found = {}
    for name, stages in Run.read(bench.folder).finished().items():
        for stage, kept in stages.items():
            data = {key: value for key, value in kept.data.items() if key != "first_usage"}
            data |= {"result": {**data["result"], "usage": None}} if "result" in data else {}
            found[f"{name} {stage}"] = data
    return found


@pytest.mark.parametrize("logprobs", [True, False])
def test_a_run_in_batches_has_the_figures_of_one_without_in_three_rounds(
    tmp_path: Path, server: BatchServer, logprobs: bool
) -> None:
    plain = Served(tmp_path / "plain", server, gives_logprobs=logprobs)
    batched = Served(tmp_path / "batched", server, gives_logprobs=logprobs)
    expected = plain.run()
    assert server.sent == []
    assert figures(batched.run(batch=True)) == figures(expected)
    assert answers(batched) == answers(plain)
    assert batched.complete and batched.board.items == 6
    # The first answers of every setting, what the documents say, and the second answers.
    assert len(server.batches) == 3
    assert len(server.sent) == server.direct == plain.spent.calls == batched.spent.calls


def test_a_finished_run_sends_nothing(bench: Served, server: BatchServer) -> None:
    bench.run(batch=True)
    asked = len(server.asked)
    bench.run(batch=True)
    assert len(server.asked) == asked


def test_both_ways_can_be_mixed(tmp_path: Path, server: BatchServer) -> None:
    whole, mixed = Served(tmp_path / "whole", server), Served(tmp_path / "mixed", server)
    expected = whole.run()
    mixed.run(max_calls=30)
    assert figures(mixed.run(batch=True)) == figures(expected)
    assert len(server.sent) == whole.spent.calls - 30


def test_progress_is_told_by_batch(bench: Served, waits: list[float]) -> None:
    bench.run(batch=True, settings=["closed"])
    assert bench.board.batches == [(1, 6, 12), (1, 6, 12), (1, 12, 12)]
    assert waits == [5, 10]


def test_calls_cost_what_they_cost_in_a_batch(tmp_path: Path, server: BatchServer) -> None:
    bench = Served(tmp_path / "run", server, model="openai/gpt-4.1-mini")
    bench.run(batch=True)
    # 100 new tokens · $0.20 + 5 · $0.80 a million: in a batch, this model's cached tokens cost what new ones do.
    assert bench.spent.cost_usd == pytest.approx(0.000024 * bench.spent.calls)
    kept = Run.read(bench.folder).finished()["i1"]["regenerated"]
    assert kept.usage.cost_usd == pytest.approx(0.000024 * kept.usage.calls)
    assert kept.data["result"]["usage"]["cost_usd"] == pytest.approx(kept.usage.cost_usd)


@pytest.mark.parametrize(
    ("model", "cost"),
    [
        # 40 new, 60 cached and 5 written tokens at the prices of a batch: $0.125, $0.0125 and $1.00 a million.
        ("openai/gpt-5-mini", 40 * 0.125 + 60 * 0.0125 + 5 * 1.0),
        # No price of a batch is listed for this one: half of $1.25, $0.125 and $10 a million.
        ("openai/gpt-5-chat-latest", (40 * 1.25 + 60 * 0.125 + 5 * 10.0) / 2),
    ],
)
def test_the_price_in_a_batch(model: str, cost: float) -> None:
    counts = {"prompt_tokens": 100, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 60}}
    assert usage_of([(model, {**counts, "batch": True})]).cost_usd == pytest.approx(cost / 1e6)


def crash(*_: Any) -> Any:
    raise CrashError


@pytest.mark.parametrize("at_wait", [1, 2, 3, 5])
def test_a_run_that_broke_off_while_it_waited_fetches_what_it_sent(
    tmp_path: Path, server: BatchServer, monkeypatch: pytest.MonkeyPatch, at_wait: int
) -> None:
    whole, broken = Served(tmp_path / "whole", server), Served(tmp_path / "broken", server)
    expected = whole.run(batch=True)
    sent = len(server.sent)
    with monkeypatch.context() as patched, pytest.raises(CrashError):
        waited: list[float] = []
        patched.setattr("regen.outbox.sleep", lambda s: waited.append(s) if len(waited) < at_wait - 1 else crash())
        broken.run(batch=True)
    assert len(Run.read(broken.folder).batches()) == 1
    assert figures(broken.run(batch=True)) == figures(expected)
    assert len(server.sent) == 2 * sent
    assert broken.spent.calls == whole.spent.calls


def test_a_batch_whose_id_was_not_kept_is_found(
    bench: Served, server: BatchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched, pytest.raises(CrashError):
        patched.setattr(Run, "name_batch", crash)
        bench.run(batch=True, settings=["rag"])
    assert [batch.provider_id for batch in Run.read(bench.folder).batches()] == [None]
    server.others = 150  # more than are listed at once
    bench.run(batch=True, settings=["rag"])
    assert bench.complete
    assert (len(server.batches), len(server.sent)) == (1, 12)


def test_a_batch_that_was_never_made_is_made_again(
    bench: Served, server: BatchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched, pytest.raises(CrashError):
        patched.setattr(batch_api.BatchAPI, "create", crash)
        bench.run(batch=True, settings=["rag"])
    bench.run(batch=True, settings=["rag"])
    assert bench.complete and Run.read(bench.folder).batches() == []
    assert (len(server.batches), len(server.sent)) == (1, 12)


def test_a_batch_whose_making_was_not_answered_is_not_made_twice(bench: Served, server: BatchServer) -> None:
    server.broken = [("POST batches", 502)]
    bench.run(batch=True, settings=["rag"])
    assert bench.complete
    assert (len(server.batches), len(server.sent)) == (1, 12)


def test_what_a_batch_expired_without_is_asked_again(tmp_path: Path, server: BatchServer) -> None:
    whole, expired = Served(tmp_path / "whole", server), Served(tmp_path / "expired", server)
    expected = whole.run()
    server.expires = [10]
    assert figures(expired.run(batch=True)) == figures(expected)
    # 36 first answers, ten of which came; the other rounds are whole.
    assert len(server.sent) == whole.spent.calls + 26
    assert expired.spent.calls == whole.spent.calls


def test_what_expires_again_and_again_fails(bench: Served, server: BatchServer) -> None:
    server.expires = [0, 0, 0]
    (row,) = bench.run(ITEMS[:1], batch=True, settings=["closed"])
    assert len(server.batches) == 3
    assert "the batch ended without it: The completion window expired" in row.errors["closed"]


@pytest.mark.parametrize("status", [429, 500, 0])
def test_what_may_go_well_another_time_is_asked_again(bench: Served, server: BatchServer, status: int) -> None:
    failed: list[Any] = []

    def fault(body: dict[str, Any]) -> tuple[int, str] | None:
        if matter(2)(body) and len(failed) < 2:
            failed.append(body)
            return status, "Not now."
        return None

    server.fault = fault
    found = bench.run(batch=True, settings=["closed"])
    assert all(row.answers for row in found)
    assert (len(server.batches), len(server.sent)) == (2, 14)


def test_a_refused_request_fails_its_item_alone(bench: Served, server: BatchServer) -> None:
    server.fault = lambda body: (400, "This is not allowed.") if matter(2)(body) else None
    found = {row.id: row for row in bench.run(batch=True)}
    assert found["i2"].answers == {}
    assert all("This is not allowed" in error for error in found["i2"].errors.values())
    assert all(len(row.answers) == 4 for name, row in found.items() if name != "i2")
    assert len([line for line in server.sent if matter(2)(line["body"])]) == 6  # three answers, in both orders
    server.fault = lambda _: None
    assert {row.id: len(row.answers) for row in bench.run(batch=True, retry=True)}["i2"] == 4


def test_a_document_whose_request_is_refused_is_unjudged(bench: Served, server: BatchServer) -> None:
    def fault(body: dict[str, Any]) -> tuple[int, str] | None:
        reads = body["messages"][0]["content"].startswith("You read one document")
        return (400, "This is not allowed.") if reads and "Page 1: it is true-2." in str(body) else None

    server.fault = fault
    found = {row.id: row.unjudged for row in bench.run(batch=True, settings=["rag", "regenerated"])}
    assert found == {"i1": 0, "i2": 1, "i3": 0, "i4": 0, "i5": 0, "i6": 0}


def test_ten_items_in_a_row_that_fail_end_the_run(bench: Served, server: BatchServer) -> None:
    server.fault = lambda _: (429, "You exceeded your quota.") if True else None
    with pytest.raises(ProviderError, match="10 items failed in a row"):
        bench.run([item(number) for number in range(1, 40)], batch=True, settings=["closed"])


@pytest.mark.parametrize(
    ("code", "kind", "said"),
    [
        ("billing_hard_limit_reached", ProviderError, r"batch batch_1 failed in its line 3: It cannot be\."),
        ("model_not_found", ConfigurationError, "has no model openai/served"),
    ],
)
def test_a_batch_that_is_refused_ends_the_run_with_the_cause(
    bench: Served, server: BatchServer, code: str, kind: type[Exception], said: str
) -> None:
    server.refuses = [{"code": code, "message": "It cannot be.", "line": 3, "param": None}, {"code": code}]
    with pytest.raises(kind, match=said) as raised:
        bench.run(batch=True, settings=["closed"])
    assert "(and 1 more)" in str(raised.value)
    server.refuses = []
    assert all(row.answers for row in bench.run(batch=True, settings=["closed"]))


def test_what_is_too_much_at_a_time_goes_in_parts(tmp_path: Path, server: BatchServer) -> None:
    whole, parts = Served(tmp_path / "whole", server), Served(tmp_path / "parts", server)
    expected = whole.run()
    server.most_waiting = 20
    assert figures(parts.run(batch=True)) == figures(expected)
    # All 36 of the first round are too many; from then on, there are never more than half of those at a time.
    assert [batch["status"] for batch in server.batches.values()].count("failed") == 1
    sizes = [batch["request_counts"]["total"] for batch in server.batches.values()]
    assert (sizes[0], max(sizes), sum(sizes)) == (0, 18, whole.spent.calls)


def test_a_request_that_is_too_much_alone_ends_the_run(bench: Served, server: BatchServer) -> None:
    server.most_waiting = 0
    with pytest.raises(ProviderError, match="Enqueued token limit reached"):
        bench.run(batch=True, settings=["closed"])
    assert [batch["status"] for batch in server.batches.values()] == ["failed"] * 4  # of 12, 6, 3 and 1


@pytest.mark.parametrize("judge", ["lm", "lm:pair", "ensemble:lm,contrast"])
def test_a_judge_asks_all_that_it_asks_in_one_round(tmp_path: Path, server: BatchServer, judge: str) -> None:
    model = read_by(Hasty())

    def reply(body: dict[str, Any]) -> dict[str, Any]:
        if "response_format" not in body:
            return model(body)
        document, _, claims = body["messages"][-1]["content"].partition("</document>")
        said = re.findall(r"(?:true|false)-\d+", document)[0]
        verdicts = [
            {"claim": number, "quote": said, "stance": "supports" if said in claim else "contradicts", "confidence": 1}
            for number, claim in enumerate(re.findall(r"\d\. .* is: (.*)", claims), 1)
        ]
        return completion(json.dumps({"answer": said, "verdicts": verdicts}))

    server.reply = reply
    plain, batched = Served(tmp_path / "plain", server), Served(tmp_path / "batched", server)
    expected = plain.run(judge=judge)
    assert figures(batched.run(batch=True, judge=judge)) == figures(expected)
    assert {row.conflict for row in expected} == {True}
    assert len(server.batches) == 3


def test_a_batch_that_was_cancelled_keeps_what_came(bench: Served, server: BatchServer) -> None:
    server.cancels, server.expires = True, [4]
    with pytest.raises(ProviderError, match=r"batch_1 was cancelled at http://127\.0\.0\.1"):
        bench.run(batch=True, settings=["closed"])
    server.cancels = False
    assert all(row.answers for row in bench.run(batch=True, settings=["closed"]))
    assert len(server.sent) == 12 + 8


@pytest.mark.parametrize("part", ["files", "batches"])
def test_an_endpoint_without_the_batch_api_is_told(bench: Served, server: BatchServer, part: str) -> None:
    server.absent = {part}
    with pytest.raises(ConfigurationError, match=r"/v1 has no Batch API: leave --batch out"):
        bench.run(batch=True, settings=["closed"])
    # Without it, the run goes on.
    assert Run.read(bench.folder).batches() == []
    assert all(row.answers for row in bench.run(settings=["closed"]))


def test_a_batch_that_is_gone_is_told(bench: Served, server: BatchServer, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched, pytest.raises(CrashError):
        patched.setattr("regen.outbox.sleep", crash)
        bench.run(batch=True, settings=["closed"])
    server.batches.clear()
    with pytest.raises(ConfigurationError, match=r"does not know the batch batch_1 or its files \(any more\)"):
        bench.run(batch=True, settings=["closed"])


def test_a_wrong_key_is_told_and_not_shown(tmp_path: Path, server: BatchServer) -> None:
    bench = Served(tmp_path / "run", server, key="sk-wrong-0123456789", key_variable="SERVED_KEY")
    with pytest.raises(ConfigurationError, match="refused the key for openai/served: check SERVED_KEY") as raised:
        bench.run(batch=True, settings=["closed"])
    assert "sk-wrong" not in str(raised.value)


def test_a_model_of_another_engine_is_refused(tmp_path: Path, scripted_lm: Callable[..., Any]) -> None:
    bench = Bench(tmp_path / "run", scripted_lm)
    with pytest.raises(ConfigurationError, match=r"scripted/x cannot be asked in batches: --batch is for models of"):
        bench.run(batch=True)


def test_looks_that_fail_for_a_while_are_borne(bench: Served, server: BatchServer) -> None:
    server.broken = [("GET batches", 503)] * 9
    bench.run(batch=True, settings=["closed"])
    assert bench.complete


def test_an_endpoint_that_stays_away_ends_the_run_which_goes_on_later(bench: Served, server: BatchServer) -> None:
    server.broken = [("GET batches", 503)] * 13
    with pytest.raises(UnansweredError, match="failed while it worked"):
        bench.run(batch=True, settings=["closed"])
    bench.run(batch=True, settings=["closed"])
    assert bench.complete and len(server.sent) == 12


def test_a_batch_beyond_the_limit_on_calls_is_not_sent(bench: Served, server: BatchServer) -> None:
    bench.run(batch=True, max_calls=60)
    assert bench.journal is not None and bench.journal.calls.stopped == (
        "The limit of 60 calls (--max-calls) is reached. 36 were made, and the next batch has 36."
    )
    assert (len(server.sent), bench.complete) == (36, False)
    bench.run(batch=True, max_calls=84)
    assert bench.complete and len(server.sent) == bench.spent.calls == 84


def test_no_batch_is_sent_once_the_limit_on_cost_is_reached(tmp_path: Path, server: BatchServer) -> None:
    bench = Served(tmp_path / "run", server, model="openai/gpt-4.1-mini")
    bench.run(batch=True, max_cost=0.0008)
    assert bench.journal is not None and bench.journal.calls.stopped == "The limit of $0.0008 (--max-cost) is reached."
    assert len(server.sent) == 36


def test_ctrl_c_while_it_waits_leaves_the_batch_under_way(
    bench: Served, server: BatchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr("regen.outbox.sleep", interrupt)
        bench.run(batch=True, settings=["closed"])
    assert [batch.provider_id for batch in Run.read(bench.folder).batches()] == ["batch_1"]


@pytest.mark.parametrize(("name", "most", "batches"), [("MOST_REQUESTS", 5, [5, 5, 2]), ("MOST_BYTES", 1, [1] * 12)])
def test_more_calls_than_a_batch_takes_go_in_several(
    bench: Served, server: BatchServer, monkeypatch: pytest.MonkeyPatch, name: str, most: int, batches: list[int]
) -> None:
    monkeypatch.setattr(batch_api, name, most)
    bench.run(batch=True, settings=["closed"])
    assert bench.complete
    assert [len(content.splitlines()) for name, content in server.files.values() if "_" not in name] == batches


def test_a_batch_is_no_larger_than_the_limit(
    bench: Served, server: BatchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batch_api, "MOST_BYTES", 2000)
    bench.run(batch=True, settings=["closed"])
    sizes = [len(content) for name, content in server.files.values() if "_" not in name]
    assert len(sizes) > 1 and max(sizes) <= 2000


def test_a_judge_of_another_endpoint_has_batches_of_its_own(tmp_path: Path, server: BatchServer) -> None:
    other = BatchServer(read_by(Hasty()))
    judge = Served(tmp_path / "unused", other, model="openai/judge").lm
    bench = Served(tmp_path / "run", server)
    bench.run(batch=True, judge_lm=judge, settings=["rag", "regenerated"])
    other.close()
    assert bench.complete and other.wrong == []
    assert {line["body"]["model"] for line in server.sent} == {"served"}
    assert {line["body"]["model"] for line in other.sent} == {"judge"}
    assert len(other.batches) == 1


def test_a_judge_of_the_same_endpoint_has_batches_of_its_own(tmp_path: Path, server: BatchServer) -> None:
    bench = Served(tmp_path / "run", server)
    judge = Served(tmp_path / "unused", server, model="openai/judge").lm
    bench.run(batch=True, judge_lm=judge, settings=["rag", "regenerated"])
    assert bench.complete


def test_other_line_ends_in_a_reply_are_text(bench: Served, server: BatchServer) -> None:
    server.reply = lambda body: completion("A", logprobs=True) | {"id": "one\u2028two \u0085"}
    assert all(row.answers for row in bench.run(batch=True, settings=["closed"]))


def test_a_run_of_before_can_be_read_and_gone_on_with(bench: Served) -> None:
    bench.run(settings=["closed"])
    with sqlite3.connect(bench.folder / "run.sqlite") as db:
        db.execute("DROP TABLE batches")
    assert Run.read(bench.folder).batched() == 0
    bench.run(batch=True)
    assert bench.complete


def test_all_calls_side_by_side_are_wanted_before_any_is_waited_for() -> None:
    begun: list[int] = []

    def work(number: int) -> int:
        begun.append(number)
        raise Awaited

    with pytest.raises(Awaited):
        run_all(work, range(100), ())
    assert sorted(begun) == list(range(100))
    with pytest.raises(Awaited):
        in_turn(work, range(3))
    assert begun[100:] == [0, 1, 2]


def test_a_call_that_failed_beside_one_that_is_awaited_waits_for_it_and_a_mistake_does_not() -> None:
    """The stage would be given up otherwise, and the call that was noted sent and paid for all the same."""

    def work(given: BaseException) -> None:
        raise given

    with pytest.raises(Awaited):
        in_turn(work, [Awaited(), ProviderError("It was refused.")])
    with pytest.raises(ProviderError, match="It was refused"):
        in_turn(work, [ProviderError("It was refused."), Awaited()])
    with pytest.raises(ZeroDivisionError):
        in_turn(work, [Awaited(), ZeroDivisionError()])
