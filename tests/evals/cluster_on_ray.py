"""A run on a Ray cluster, started here: the figures of one machine, and nothing lost when workers die."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Any

import dspy
import pytest
import typer
from pydantic import SecretStr
from worlds import Quiet

from eval_truthfulqa.items import ChoiceItem
from eval_truthfulqa.metrics import SETTINGS
from eval_truthfulqa.session import Plan, _on_a_worker, evaluate
from regen.cluster import Cluster, _Store, connected
from regen.errors import ConfigurationError, ProviderError
from regen.journal import Calls, Journal, Ledger
from regen.models import choose
from regen.models.engine import OpenAIEngine
from regen.runner import Stage, work_through
from regen.runs import Run
from regen.settings import load
from regen.types import Document
from search.base import SearchResults

sys.path.append(str(Path(__file__).parents[1] / "cli"))
from fake_model import FakeModel

TEXTS = ["Audit: $6.8M.", "Report: $6.8M.", "Estimate: $4.2M."]


@pytest.fixture(scope="module", autouse=True)
def ray() -> Iterator[Any]:
    """A cluster of this machine, with two processors, that every test uses."""
    ray = pytest.importorskip("ray")
    here = Path(__file__).parent
    with pytest.MonkeyPatch.context() as changed:
        # What this module sends to workers is imported there.
        changed.setenv("PYTHONPATH", os.pathsep.join([str(here), str(here.parent), os.environ.get("PYTHONPATH", "")]))
        ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
        yield ray
        ray.shutdown()


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeModel]:
    """A model that first says $4.2M, and $6.8M with feedback; it wants a key that only this process has."""
    fake = FakeModel()
    fake.second = "It was $6.8M."
    monkeypatch.setenv("OPENAI_BASE_URL", fake.url)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-this-process")
    yield fake
    fake.close()
    dspy.configure(lm=None)


class Here:
    """A search that cannot leave its process."""

    name = "here"

    def __init__(self) -> None:
        self.lock = threading.Lock()

    def top(self, query: str, k: int = 10) -> SearchResults:
        with self.lock:
            documents = [Document(id=f"d{place}", text=f"{query} {text}") for place, text in enumerate(TEXTS)]
            return SearchResults(documents=documents)


def plan(folder: Path, engine: Any, **more: Any) -> Plan:
    """Four items: the first answer is wrong for three of them, and the second right."""
    items = [
        ChoiceItem(
            id=f"q{number}",
            question=f"What was the revenue of firm {number}?",
            choices=["$6.8M", "$4.2M"],
            answer=int(number == 4),
            documents=None if more.get("searches") else [Document(id=text, text=text) for text in TEXTS],
        )
        for number in range(1, 5)
    ]
    settings = load({"model": "openai/fake", "judge": "contrast", "retries": 0, "concurrency": 5})
    given = {"asked": SETTINGS, "settings": settings, "data": {}, "json": True, "quiet": True, **more}
    return Plan(name="choices", items=items, run=folder, engine=engine, **given)


def results(folder: Path) -> dict[str, Any]:
    """What the report of a run says, without seconds, which no two runs share."""
    found: dict[str, Any] = json.loads(
        (folder / "results.json").read_text(),
        object_hook=lambda part: {key: value for key, value in part.items() if "seconds" not in key},
    )
    return found


def test_the_figures_and_answers_are_those_of_one_machine(
    model: FakeModel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("regen.cli.searching.prepared", lambda *_, **__: Here())
    evaluate(plan(tmp_path / "threads", "threads", searches=True))
    asked = len(model.prompts)
    capsys.readouterr()

    def complete(*_: Any) -> Any:
        raise AssertionError("A call was made in the process of the run.")

    monkeypatch.setattr(OpenAIEngine, "complete", complete)
    model.keys.clear()
    evaluate(plan(tmp_path / "ray", "ray", searches=True))
    assert json.loads(capsys.readouterr().out)["accuracy"]["regenerated"] == 0.75
    one, other = (results(tmp_path / engine) for engine in ("threads", "ray"))
    same = (
        "accuracy",
        "rows",
        "settings",
        "regeneration",
        "pairs",
        "usage",
        "costs",
        "config",
        "retrieval",
        "failures",
    )
    assert {name: other[name] for name in same} == {name: one[name] for name in same}
    assert len(model.prompts) == 2 * asked
    assert model.keys == {"sk-of-this-process"}


def test_a_run_of_one_machine_goes_on_within_its_limit_and_pays_nothing_twice(
    model: FakeModel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    for engine, limit in (("threads", 20), ("ray", 35)):
        with pytest.raises(typer.Exit) as ended:
            evaluate(plan(folder, engine, max_calls=limit))
        assert ended.value.exit_code == 5
        assert f"The limit of {limit} calls (--max-calls) is reached." in capsys.readouterr().err
        assert len(model.prompts) == Run.read(folder).usage().calls == limit
    evaluate(plan(folder, "ray"))
    # As on one machine: both orders for each of four answers and three documents, of four items.
    assert len(model.prompts) == 4 * 2 * (4 + 3)
    assert results(folder)["accuracy"] == {"closed": 0.25, "rag": 0.25, "control": 0.25, "regenerated": 0.75}


Done = Mapping[str, Mapping[str, Any]]


def ask_three_times(folder: Path, data: Mapping[str, Any], _: Done, __: Ledger) -> dict[str, Any]:
    """After two calls, an unlucky item's worker dies once, a deadly one's always."""
    marker = folder / "died"
    for turn in range(3):
        if turn == 2 and (data["name"] == "deadly" or (data["name"] == "unlucky" and not marker.exists())):
            marker.touch()
            os._exit(1)
        dspy.settings.lm(f"{data['name']} {turn}")
    return {"pid": os.getpid(), "key": os.environ.get("SOME_KEY")}


def asking(url: str, folder: Path, journal: Journal) -> tuple[Any, list[Stage]]:
    lm = dspy.LM("llamacpp/fake", engine=OpenAIEngine(base_url=url, wire_model="fake"), cache=False, num_retries=0)
    return journal.lm(lm), [Stage("one", partial(ask_three_times, folder))]


def failing(error: Exception, _: Journal) -> tuple[Any, list[Stage]]:
    def work(*_: Any) -> dict[str, Any]:
        raise error

    return None, [Stage("one", work)]


def go_through(
    ray: Any, folder: Path, make: Any, names: Sequence[str], *, free: int = 2, **limits: Any
) -> dict[str, Any]:
    """Works through items of one stage, two at a time, on a worker for each of the processors that are `free`."""
    while ray.available_resources().get("CPU") != free:
        time.sleep(0.5)  # The workers of the test before are still there.
    with Run.begin(folder, "test", {}, [(name, {"name": name}) for name in names]) as run:
        with Cluster(ray, folder, make, {"SOME_KEY": SecretStr("k")}, concurrency=2, **limits) as cluster:
            stage = cluster.stage(Stage("one", lambda *_: {}))
            work_through(run, Journal(cluster.calls), [stage], Quiet(), at_once=2)
            assert cluster.calls.spent() == run.usage()
        return {
            "finished": {name: kept["one"].data for name, kept in run.finished().items()},
            "failed": {name: kept["one"].message for name, kept in run.failures().items()},
        }


def test_a_worker_that_dies_loses_nothing_that_was_kept(ray: Any, model: FakeModel, tmp_path: Path) -> None:
    names = ["a", "b", "unlucky", "c", "deadly", "d"]
    found = go_through(ray, tmp_path / "run", partial(asking, model.url, tmp_path), names, max_calls=17)
    assert set(found["failed"]) == {"deadly"}, found
    assert set(found["finished"]) == {"a", "b", "unlucky", "c", "d"}
    pids = {kept["pid"] for kept in found["finished"].values()}
    assert len(pids) > 1 and os.getpid() not in pids
    assert {kept["key"] for kept in found["finished"].values()} == {"k"}
    assert found["failed"]["deadly"].startswith("3 workers died over one of deadly, the last one so: The actor is dead")
    # What the dead ones had asked was not asked again.
    expected = [f"{name} {turn}" for name in names for turn in range(3) if (name, turn) != ("deadly", 2)]
    assert Counter(model.prompts) == Counter(expected)


def test_what_kills_its_workers_takes_nothing_with_it(ray: Any, model: FakeModel, tmp_path: Path) -> None:
    # With one processor in use elsewhere there is one worker, so that the other item is beside it each time.
    elsewhere = ray.remote(num_cpus=1)(Quiet).remote()
    model.slow, model.delay = "beside 2", 0.5
    found = go_through(ray, tmp_path / "run", partial(asking, model.url, tmp_path), ["beside", "deadly"], free=1)
    ray.kill(elsewhere)
    assert set(found["failed"]) == {"deadly"}, found


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ConfigurationError("The key was refused."), "The key was refused"),
        (ProviderError("It went away."), "10 items failed in a row, the last one so: It went away"),
        (ZeroDivisionError("A mistake."), "A mistake"),
    ],
)
def test_what_ends_a_run_on_one_machine_ends_it_on_a_cluster(
    ray: Any, tmp_path: Path, error: Exception, said: str
) -> None:
    names = [f"i{number}" for number in range(30)]
    with pytest.raises(type(error), match=said):
        go_through(ray, tmp_path / "run", partial(failing, error), names)
    assert Run.read(tmp_path / "run").counts()[2] < len(names)


class Elsewhere:
    """What no other machine has."""

    def __reduce__(self) -> Any:
        return __import__, ("a_package_that_is_only_here",)


def test_workers_that_miss_a_package_end_the_run(ray: Any, tmp_path: Path) -> None:
    with pytest.raises(
        ConfigurationError, match=r"cannot start \(.*No module named 'a_package.*: install the same regen"
    ):
        go_through(ray, tmp_path / "run", partial(failing, Elsewhere()), ["a"])
    assert Run.read(tmp_path / "run").failures() == {}


def test_the_places_of_a_dead_workers_calls_are_free_again(tmp_path: Path) -> None:
    with Run.begin(tmp_path / "run", "test", {}, [("a", {})]):
        store = _Store(tmp_path / "run", 1, None)
        assert store.begin(1) is None
        begun: Future[str | None] = Future()
        threading.Thread(target=lambda: begun.set_result(store.begin(2)), daemon=True).start()
        store.lost(1)
        assert begun.result(10) is None
        # What it still asks comes too late, and leaves the other one's place alone.
        store.end(1)
        store.end(2)
        assert store.begin(1) is not None
        assert store.begin(3) is None
        store.close()


def test_a_machine_with_other_prompts_is_refused(model: FakeModel, tmp_path: Path) -> None:
    asked = plan(tmp_path / "run", "ray")
    said = pytest.raises(ConfigurationError, match="has other prompts, or a judge of other files")
    with Run.begin(tmp_path / "run", "choices", {}, []) as run, said:
        _on_a_worker(asked, "contrast", [choose(asked.settings)], ("0" * 16, None), Journal(Calls(run)))


def test_the_embedded_model_is_refused_before_anything_is_fetched(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="--engine ray needs a model behind an API"):
        given = load({"model": "embedded"})
        evaluate(Plan("choices", [], SETTINGS, settings=given, data={}, run=tmp_path / "run", engine="ray"))
    assert not (tmp_path / "run").exists()


def test_without_ray_the_way_to_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ConfigurationError, match=r'needs the ray package: pip install "regen\[ray\]"'), connected():
        pass


def test_a_cluster_that_is_reached_from_outside_is_refused(ray: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setenv("RAY_ADDRESS", "ray://203.0.113.1:10001")
    with pytest.raises(ConfigurationError, match="RAY_ADDRESS names a cluster to be reached from outside"), connected():
        pass
