"""A run of an evaluation: what it figures, and that nothing of it is lost or paid for twice, however it ends."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dspy
import pytest
import typer
from worlds import ITEMS, Bench, figures, item

from eval_truthfulqa import metrics
from eval_truthfulqa.metrics import SETTINGS
from eval_truthfulqa.results import results
from eval_truthfulqa.runner import in_order, shown_order
from eval_truthfulqa.session import Plan, _end
from regen.errors import ConfigurationError, InputError, ProviderError, RegenError
from regen.journal import Calls, Journal
from regen.runner import Stage, complete, work_through
from regen.runs import Call, Run
from regen.settings import load
from regen.types import Document, Usage
from search.base import SearchError, SearchResults


@pytest.fixture
def bench(tmp_path: Path, scripted_lm: Callable[..., Any]) -> Bench:
    return Bench(tmp_path / "run", scripted_lm)


def test_each_setting_is_asked_and_regenerated_begins_with_the_answer_of_rag(bench: Bench) -> None:
    found = bench.run()
    # Odd matters are answered wrongly at first, and mended by the feedback: 3 of 6 against 6 of 6.
    counts = {setting: metrics.accuracy(found, setting).all.count for setting in SETTINGS}
    assert counts == {"closed": 3, "rag": 3, "control": 3, "regenerated": 6}
    regeneration = metrics.regeneration(found)
    assert (regeneration.improve.count, regeneration.improve.of, regeneration.harm.count) == (3, 3, 0)
    assert bench.complete and bench.board.items == 6


def test_usage_is_that_of_each_setting(bench: Bench) -> None:
    row = bench.run(ITEMS[:1])[0]
    # Three documents are judged, and the odd item is answered a second time.
    assert {name: used.calls for name, used in row.usage.items()} == {
        "closed": 1,
        "rag": 1,
        "control": 1,
        "regenerated": 5,
    }
    assert row.usage["regenerated"].prompt_tokens == 500
    assert row.usage["regenerated"].cached_tokens == 300
    assert bench.spent.calls == bench.model.calls == 7


def test_the_run_counts_what_the_program_counts(bench: Bench) -> None:
    bench.run(ITEMS[:1])
    run = Run.read(bench.folder)
    kept = run.finished()["i1"]["regenerated"]
    assert kept.data["result"]["usage"]["calls"] == kept.usage.calls
    assert kept.data["result"]["usage"]["prompt_tokens"] == kept.usage.prompt_tokens


def test_a_finished_run_is_not_paid_for_again(bench: Bench) -> None:
    first = bench.run()
    calls = bench.model.calls
    assert bench.run() == first
    assert bench.model.calls == calls


@pytest.mark.parametrize("after", [1, 6, 17, 30])
def test_a_run_that_was_broken_off_goes_on_to_the_same_figures_and_pays_nothing_twice(
    tmp_path: Path, scripted_lm: Callable[..., Any], after: int
) -> None:
    whole, broken = Bench(tmp_path / "whole", scripted_lm), Bench(tmp_path / "broken", scripted_lm)
    expected = whole.run()
    broken.run(max_calls=after)
    assert broken.model.calls == after
    assert broken.journal is not None and broken.journal.calls.stopped == (
        f"The limit of {after} calls (--max-calls) is reached."
    )
    assert not broken.complete
    assert figures(broken.run()) == figures(expected)
    assert broken.model.calls == whole.model.calls
    assert broken.spent.calls == whole.spent.calls


KILLED = """
import os, sys
sys.path[:0] = [sys.argv[1], os.path.dirname(sys.argv[1])]
from pathlib import Path
import dspy
from scripted import ScriptedEngine
from worlds import Bench

def make_lm(script):
    return dspy.LM("scripted/x", engine=ScriptedEngine(script), cache=False, num_retries=0)

bench = Bench(Path(sys.argv[2]), make_lm)
def before(calls):
    if calls == int(sys.argv[3]):
        os.kill(os.getpid(), 9)
bench.model.before = before
bench.run()
"""


def test_kill_9_and_resume_lose_nothing_but_the_calls_in_flight(bench: Bench, tmp_path: Path) -> None:
    expected = Bench(tmp_path / "whole", bench.make_lm)
    rows_expected = expected.run()
    script = tmp_path / "killed.py"
    script.write_text(KILLED)
    here = os.fspath(Path(__file__).parent)
    ended = subprocess.run([sys.executable, script, here, os.fspath(bench.folder), "20"], timeout=120, check=False)
    assert ended.returncode == -9
    kept = Run.read(bench.folder).usage().calls
    # Four calls may be in flight at once: what they were about to bring is all that is lost.
    assert 16 <= kept <= 20
    assert figures(bench.run()) == figures(rows_expected)
    assert bench.model.calls == expected.model.calls - kept


def test_a_reply_outlives_its_process_and_a_finished_stage_is_waited_for(tmp_path: Path) -> None:
    with Run.begin(tmp_path / "run", "tried", {}, [("a", {})]) as run:
        run.keep("a", "one", {}, Usage())
        assert run._db.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL: the disk has it.
    code = f"""if True:
        import os
        from pathlib import Path
        from regen.runs import Call, KeptReply, Run

        with Run.begin(Path({str(tmp_path / "run")!r}), "tried", {{}}, [("a", {{}})]) as run:
            run.keep_reply(Call("a", "two", "asked", 0), KeptReply("m", {{}}, {{"said": 1}}))
            os.kill(os.getpid(), 9)
        """
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -9
    reply = Run.read(tmp_path / "run").reply(Call("a", "two", "asked", 0))
    assert reply is not None and reply.response == {"said": 1}


def test_an_item_that_failed_is_kept_with_its_error_and_counted(bench: Bench) -> None:
    bench.model.broken = {2}
    found = bench.run()
    broken = next(row for row in found if row.id == "i2")
    assert broken.answers == {}
    assert broken.errors == dict.fromkeys(SETTINGS, "The endpoint went away.")
    accuracy = metrics.accuracy(found, "regenerated")
    assert (accuracy.answered.count, accuracy.answered.of, accuracy.all.of, accuracy.failed) == (5, 5, 6, 1)
    assert bench.complete


def test_an_answer_that_could_not_be_checked_counts_as_failed(bench: Bench) -> None:
    bench.model.broken_judge = True
    found = bench.run(ITEMS[:1], settings=["rag", "regenerated"])
    assert found[0].errors["regenerated"] == "No document could be judged: The endpoint went away."


def test_what_failed_is_done_again_only_when_asked_for(bench: Bench) -> None:
    bench.model.broken = {2}
    bench.run()
    bench.model.broken = set()
    assert metrics.accuracy(bench.run(), "rag").failed == 1
    assert metrics.accuracy(bench.run(retry=True), "rag").failed == 0


def test_a_provider_that_is_down_ends_the_run(bench: Bench) -> None:
    bench.model.broken = set(range(1, 100))
    with pytest.raises(ProviderError, match=r"10 items failed in a row, the last one so: The endpoint went away\."):
        bench.run([item(number) for number in range(1, 40)])
    assert Run.read(bench.folder).counts()[2] < 20


def test_a_wrong_key_ends_the_run_at_once(bench: Bench) -> None:
    def refuse(_: int) -> None:
        raise ConfigurationError("The key was refused.")

    bench.model.before = refuse
    with pytest.raises(ConfigurationError, match="refused"):
        bench.run()
    assert Run.read(bench.folder).failures() == {}


class Refused:
    """A search whose key is not taken."""

    name = "refused"

    def top(self, query: str, k: int = 10) -> SearchResults:
        raise SearchError("The key was refused: check it.", "credentials")


def test_a_wrong_search_key_ends_the_run_before_anything_is_paid_for(bench: Bench) -> None:
    asked = [one.model_copy(update={"documents": None}) for one in ITEMS]
    with pytest.raises(SearchError, match="refused"):
        bench.run(asked, search=Refused())
    assert Run.read(bench.folder).failures() == {}
    assert not bench.model.calls


@pytest.mark.parametrize(("exit_code", "of_the_provider"), [(1, True), (2, False), (3, True), (4, True)])
def test_every_failure_but_an_items_own_is_the_providers(tmp_path: Path, exit_code: int, of_the_provider: bool) -> None:
    with Run.begin(tmp_path / "run", "choices", {}, [(ITEMS[0].id, ITEMS[0].model_dump(mode="json"))]) as run:
        run.fail("i1", "closed", "It failed.", exit_code)
        assert results(run, ["closed"], complete=True).provider_failed is of_the_provider


def test_a_failure_of_the_provider_that_no_setting_shows_ends_with_4(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Run.begin(tmp_path / "run", "choices", {}, [(ITEMS[0].id, ITEMS[0].model_dump(mode="json"))]) as run:
        run.fail("i1", "retrieval", "The search is down.", 4)
        found = results(run, ["closed"], complete=True)
    assert found.failures == []
    with pytest.raises(typer.Exit) as ended:
        _end(Plan(name="choices", items=ITEMS[:1], asked=["closed"], settings=load(), data={}), found, run.folder)
    assert ended.value.exit_code == 4


def test_a_stage_is_settled_by_its_own_end_or_by_that_of_what_it_needs(tmp_path: Path) -> None:
    def work(*_: Any) -> dict[str, Any]:
        return {}

    stages = [Stage("one", work), Stage("two", work), Stage("three", work, needs=("one",))]
    with Run.begin(tmp_path / "run", "choices", {}, [("a", {})]) as run:
        run.fail("a", "one", "It failed.", 4)
        assert not complete(run, stages)
        run.keep("a", "two", {}, Usage())
        assert complete(run, stages)


def test_a_reply_with_half_a_character_is_kept(bench: Bench) -> None:
    bench.lm = bench.make_lm(lambda *_: "A \ud83d")
    found = bench.run(ITEMS[:1], settings=["closed"])
    assert found[0].answers == {"closed": shown_order(ITEMS[0], 0)[0]}


def test_half_a_character_can_be_kept_anywhere(tmp_path: Path) -> None:
    with Run.begin(tmp_path / "run", "choices", {}, [("a", {"text": "\ud83d"})]) as run:
        run.keep("a", "one", {"text": "\ud83d"}, Usage())
        run.fail("a", "two", "It said \ud83d.", 4)
        assert run.finished()["a"]["one"].data == run.items()["a"] == {"text": "\ud83d"}
        assert run.failures()["a"]["two"].message == "It said \\ud83d."


def test_ctrl_c_keeps_what_was_paid_for(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    import regen.runner

    def interrupt(futures: Any) -> None:
        while bench.model.calls < 9:
            pass
        raise KeyboardInterrupt

    monkeypatch.setattr(regen.runner, "_first_error", interrupt)
    with pytest.raises(KeyboardInterrupt):
        bench.run()
    assert Run.read(bench.folder).usage().calls == bench.model.calls


def test_a_limit_on_cost_needs_a_known_price(bench: Bench) -> None:
    with pytest.raises(ConfigurationError, match="price of scripted/x is not known"):
        bench.run(max_cost=1.0)


def test_a_limit_on_cost_ends_the_run(bench: Bench) -> None:
    bench.lm = bench.make_lm(bench.model, model="openai/gpt-4.1-mini")
    # A call costs (40 fresh · $0.40 + 60 cached · $0.10 + 5 new · $1.60) / 1,000,000 = $0.00003.
    bench.run(max_cost=0.000295)
    assert bench.journal is not None and "--max-cost" in (bench.journal.calls.stopped or "")
    # Ten calls reach it; at most three others were in flight then.
    assert 10 <= bench.spent.calls <= 13
    assert bench.spent.cost_usd == pytest.approx(0.00003 * bench.spent.calls)


def test_another_configuration_is_refused_by_name(bench: Bench) -> None:
    bench.run(config={"model": "a", "k": 10})
    with pytest.raises(InputError, match=r'begun with other settings \(model was "a" and is "b"\)'):
        bench.run(config={"model": "b", "k": 10})


def test_a_folder_with_other_files_is_left_alone(bench: Bench) -> None:
    bench.folder.mkdir()
    (bench.folder / "thesis.doc").write_text("mine")
    with pytest.raises(InputError, match="holds other files and no run"):
        bench.run()


def test_a_run_belongs_to_one_process(bench: Bench) -> None:
    bench.run()
    code = (
        "import sys\nfrom pathlib import Path\nfrom regen.runs import Run\n"
        "with Run.begin(Path(sys.argv[1]), 'choices', {}, []): pass"
    )
    with Run.begin(bench.folder, "choices", {}, [(one.id, {}) for one in ITEMS]):
        ended = subprocess.run(
            [sys.executable, "-c", code, os.fspath(bench.folder)], capture_output=True, text=True, check=False
        )
    assert "Another process works on the run" in ended.stderr


def test_both_orders_are_asked_of_a_model_without_log_probabilities(bench: Bench) -> None:
    found = bench.run(both_orders=True, settings=["rag"])
    assert bench.model.calls == 12
    position = metrics.position(found, "rag")
    # What it answers does not depend on the place, so each option was chosen first exactly half the time.
    assert position is not None
    assert (position.same.count, position.first.count, position.first.of) == (6, 6, 12)


def test_an_asking_in_the_other_order_that_failed_is_told(bench: Bench) -> None:
    def fail_the_second(calls: int) -> None:
        if calls:
            raise ProviderError("The endpoint went away.")

    bench.model.before = fail_the_second
    (row,) = bench.run(ITEMS[:1], both_orders=True, settings=["rag"])
    assert (list(row.answers), row.reversed) == (["rag"], {})
    assert row.errors == {"rag reversed": "The endpoint went away."}


def test_a_model_with_log_probabilities_is_asked_in_both_orders_anyway(bench: Bench) -> None:
    bench.lm = bench.make_lm(lambda *call: (bench.model(*call), {bench.model(*call): -0.1}), gives_logprobs=True)
    found = bench.run(both_orders=True, settings=["closed"])
    assert found[0].usage["closed"].calls == 2
    assert metrics.position(found, "closed") is None


class Folder:
    """A search that finds a truth, a falsehood, and the answer key; nothing on matter 3, and that 4 is down."""

    name = "folder"

    def top(self, query: str, k: int = 10) -> SearchResults:
        number = int(query.rstrip("?").split()[-1])
        if number == 3:
            return SearchResults(warnings=["a.example could not be read."])
        if number == 4:
            raise ProviderError("The search is down.")
        texts = {f"It is true-{number}.": "a.example", f"It is false-{number}.": "b.example", "Key": "key.example"}
        return SearchResults(
            documents=[Document(id=site, text=text, url=f"https://{site}/") for text, site in texts.items()]
        )


def test_one_retrieval_serves_every_setting_and_answer_keys_are_taken_out(bench: Bench) -> None:
    asked = [one.model_copy(update={"documents": None}) for one in ITEMS[:4]]
    found = {row.id: row for row in bench.run(asked, search=Folder(), exclude=["key.example"])}
    assert found["i1"].answers == {"closed": 1, "rag": 1, "control": 1, "regenerated": 1}
    kept = Run.read(bench.folder).finished()["i1"]["retrieval"].data
    assert [document["id"] for document in kept["documents"]] == ["a.example", "b.example"]
    assert kept["excluded"] == ["https://key.example/"]
    # Without documents, only the setting that needs none is answered.
    assert set(found["i3"].answers) == set(found["i4"].answers) == {"closed"}
    assert found["i3"].errors["rag"].startswith("No document was found")
    assert found["i3"].errors["rag"].endswith("a.example could not be read.")
    assert found["i4"].errors == dict.fromkeys(["rag", "control", "regenerated"], "The search is down.")


def test_settings_are_put_in_order_and_checked() -> None:
    assert in_order(["regenerated", "closed"]) == ["closed", "rag", "regenerated"]
    with pytest.raises(InputError, match="no setting 'rga'; there are: closed, rag"):
        in_order(["rga"])


def test_a_mistake_in_the_program_is_not_hidden(bench: Bench) -> None:
    def broken(*_: Any) -> Any:
        raise ZeroDivisionError

    with Run.begin(bench.folder, "choices", {}, [("a", {})]) as run, pytest.raises(ZeroDivisionError):
        work_through(run, Journal(Calls(run)), [Stage("one", broken)], bench.board, at_once=1)


@pytest.fixture(autouse=True)
def no_model_left() -> Iterator[None]:
    yield
    dspy.configure(lm=None)


def test_a_store_that_is_gone_ends_the_run_and_is_no_failure_of_an_item(bench: Bench, tmp_path: Path) -> None:
    def broken(*_: Any) -> Any:
        raise RegenError("The process that keeps the run's calls has ended.")

    with Run.begin(tmp_path / "gone", "test", {}, [("a", {}), ("b", {})]) as run:
        with pytest.raises(RegenError, match="has ended"):
            work_through(run, Journal(Calls(run)), [Stage("one", broken)], bench.board, at_once=1)
        assert run.failures() == {}
