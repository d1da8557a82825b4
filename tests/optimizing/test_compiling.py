"""Compiling with a scripted model: what is chosen, kept, resumed, saved and refused."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy.utils.callback import BaseCallback
from small_world import BETTER, TEST, TRAIN, VAL, Model, example, pair

import regen
from regen import Regen, optimize
from regen.compiled import Card, Compiled, question_key
from regen.compiling import macro_f1_of
from regen.errors import ConfigurationError, InputError, ProviderError
from regen.judges.lm import LMJudge
from regen.metrics import net_improvement, stance_accuracy, truthful_choice
from regen.prompts import prompts_hash

MakeLM = Callable[..., Any]


def compile_with(optimizer: str, out: Path, model: Model, make_lm: MakeLM, **more: Any) -> Any:
    given = {"metric": truthful_choice, "out": out, "optimizer": optimizer, "program": Regen(judge="lm")}
    with dspy.context(lm=make_lm(model, model="scripted/x")):
        return optimize(TRAIN, VAL, TEST, **(given | more))


def card_of(out: Path) -> Card:
    return Compiled.read(out).card


def test_gepa_finds_the_better_instruction_and_the_card_says_what_it_is_worth(
    tmp_path: Path, scripted_lm: MakeLM
) -> None:
    out, model = tmp_path / "p", Model()
    program = compile_with("gepa", out, model, scripted_lm, budget=400, only="answer")
    assert program.choose.signature.instructions == BETTER
    # What the metric has to say of the conflict is what is reflected on.
    assert "The right answer is" in model.reflected_on[0] and "contradicted by document" in model.reflected_on[0]
    card = card_of(out)
    assert card.prompts == prompts_hash(program)
    assert card.finished and card.predictors == ["choose"]
    assert (card.base.mean, card.compiled.mean, card.difference.mean) == (0, 1, 1)
    assert (card.base.n, card.compiled.low) == (6, 1)
    assert card.data["training"].n == 6 and len(card.seen) == 10
    assert "compiled | 1.000" in (out / "card.md").read_text()


def test_bootstrap_keeps_demonstrations_of_right_answers_alone(tmp_path: Path, scripted_lm: MakeLM) -> None:
    model = Model()
    out = tmp_path / "p"
    # The model is never right, and so there is nothing to show.
    plain = compile_with("bootstrap", out, model, scripted_lm)
    assert [predictor.demos for predictor in plain.predictors() if predictor.demos] == []
    base = Regen(judge="lm")
    base.choose.signature = base.choose.signature.with_instructions("Guess. Reply with the letter.")
    shown = compile_with("bootstrap", tmp_path / "q", model, scripted_lm, program=base, only="answer").choose.demos
    assert shown and all(f"{demo['answer']}: true-" in demo["options"] for demo in shown)
    assert set(shown[0]) - {"feedback"} == {"documents", "question", "options", "answer"}


def test_simba_runs_and_its_choice_is_scored(tmp_path: Path, scripted_lm: MakeLM) -> None:
    compile_with("simba", tmp_path / "p", Model(), scripted_lm)
    assert card_of(tmp_path / "p").finished


def test_labels_become_demonstrations_of_single_prompts(tmp_path: Path, scripted_lm: MakeLM) -> None:
    program = compile_with("labeled", tmp_path / "p", Model(), scripted_lm)
    for demo in program.choose.demos:
        number = demo["question"].removesuffix("?").rpartition(" ")[2]
        assert f"{demo['answer']}: true-{number}" in demo["options"].splitlines()
    # No letter is the right one more often.
    assert sorted(demo["answer"] for demo in program.choose.demos) == ["A", "A", "B", "B"]
    assert card_of(tmp_path / "p").compiled.mean == 1


def test_a_judge_is_compiled_alone_on_stances(tmp_path: Path, scripted_lm: MakeLM) -> None:
    stances = ["supports", "contradicts", "irrelevant"]
    sets = [
        [pair(number, stances[number % 3]) for number in numbers] for numbers in (range(6), range(6, 9), range(9, 12))
    ]
    told: list[str] = []
    with dspy.context(lm=scripted_lm(Model())):
        program = optimize(
            *sets,
            metric=stance_accuracy,
            out=tmp_path / "p",
            optimizer="labeled",
            program=Regen(judge="lm"),
            tell=told.append,
        )
    card = card_of(tmp_path / "p")
    assert card.predictors == ["judge.verdict"]
    # The scripted model judges every one right, with examples and without.
    assert card.base_macro_f1 == card.compiled_macro_f1 == card.base.model_copy(update={"mean": 1, "low": 1, "high": 1})
    assert "| default, macro-F1 |" in (tmp_path / "p" / "card.md").read_text()
    assert {"scoring the default prompts: 1 of 3", "scoring the compiled prompts: 3 of 3"} <= set(told)
    stance_of = {demo["claims"]: demo["verdicts"][0] for demo in program.judge.verdict.demos}
    assert stance_of["1. Matter 0 is true-0."] == {
        "claim": 1, "quote": "A page on matter 0: it is true-0.", "stance": "supports", "confidence": None
    }  # fmt: skip
    assert program.choose.demos == []


def test_macro_f1_counts_labels_alike_and_a_failure_as_no_label() -> None:
    outcomes = [("supports", "supports")] * 6 + [("contradicts", "supports"), ("irrelevant", None)]
    score = macro_f1_of(outcomes, failed=1)
    # By hand: 2 * 6 / (6 + 7) of supports, and 0 of the two others.
    assert score.mean == pytest.approx(12 / 13 / 3)
    assert (score.n, score.failed) == (8, 1)
    assert score.low < score.mean < score.high


def test_a_label_that_a_resample_lacks_is_no_mistake() -> None:
    score = macro_f1_of([("supports", "supports")] * 40 + [("contradicts", "contradicts")] * 2)
    assert (score.mean, score.low, score.high) == (1, 1, 1)


def refuse(*_: Any) -> str:
    raise ConfigurationError("The key was refused.")


def test_a_refused_key_of_the_model_that_writes_instructions_ends_it(tmp_path: Path, scripted_lm: MakeLM) -> None:
    """GEPA goes on without instructions, and would give the default prompts for compiled ones."""
    model, prompt_lm = Model(), scripted_lm(refuse, model="scripted/y")
    with pytest.raises(ConfigurationError, match="The key was refused"):
        compile_with("gepa", tmp_path / "p", model, scripted_lm, only="answer", prompt_lm=prompt_lm)
    assert not card_of(tmp_path / "p").finished
    # Nothing more is paid for once it is known.
    assert model.calls < 150


@pytest.mark.parametrize("optimizer", ["gepa", "bootstrap", "simba", "labeled"])
def test_answers_that_failed_are_told_and_counted(optimizer: str, tmp_path: Path, scripted_lm: MakeLM) -> None:
    class Flaky(Model):
        def __call__(self, system: str, user: str, request: Any) -> str:
            if "matter 4?" in user or "matter 7?" in user:
                raise ProviderError("The endpoint went away.")
            return super().__call__(system, user, request)

    notes: list[str] = []
    more = {"budget": 200} if optimizer == "gepa" else {}
    compile_with(optimizer, tmp_path / "p", Flaky(), scripted_lm, only="answer", note=notes.append, **more)
    card = card_of(tmp_path / "p")
    assert card.failed_calls >= card.failed_answers > 0
    (said,) = [note for note in notes if "answers failed" in note]
    assert said.startswith(f"{card.failed_calls} model calls and {card.failed_answers} answers failed")
    assert "The endpoint went away. An answer that fails counts as 0." in said
    assert f"failed on the way: {card.failed_calls} calls" in (tmp_path / "p" / "card.md").read_text()


def test_a_mistake_of_a_metric_is_told_as_one_though_a_model_had_failed(tmp_path: Path, scripted_lm: MakeLM) -> None:
    class Once(Model):
        def __call__(self, system: str, user: str, request: Any) -> str:
            if "matter 6?" in user:
                raise ProviderError("The endpoint went away.")
            return super().__call__(system, user, request)

    def wrong(example: Any, prediction: Any, *_: Any) -> float:
        raise KeyError("no such field")

    model = Once()
    with pytest.raises(KeyError, match="no such field"):
        compile_with("gepa", tmp_path / "p", model, scripted_lm, only="answer", metric=wrong)
    # Nothing more is paid for once it is known.
    assert model.calls < 60


def test_a_mistake_of_a_judge_is_told_as_one_and_is_no_score(tmp_path: Path, scripted_lm: MakeLM) -> None:
    class Broken(LMJudge):
        def judge(self, claims: Any, documents: Any, **asked: Any) -> Any:
            if "7" in asked["question"]:
                raise ZeroDivisionError
            return super().judge(claims, documents, **asked)

    with pytest.raises(ZeroDivisionError):
        compile_with("labeled", tmp_path / "p", Model(), scripted_lm, only="answer", program=Regen(judge=Broken()))


def test_interrupted_the_best_is_kept_and_the_same_call_goes_on_without_paying_twice(
    tmp_path: Path, scripted_lm: MakeLM
) -> None:
    out, whole, model = tmp_path / "p", Model(), Model()
    compile_with("gepa", tmp_path / "whole", whole, scripted_lm, budget=400, only="answer")

    def stop(calls: int) -> None:
        if calls == 250:
            raise KeyboardInterrupt

    model.before = stop
    with pytest.raises(KeyboardInterrupt):
        compile_with("gepa", out, model, scripted_lm, budget=400, only="answer")
    best = card_of(out)
    assert (best.finished, best.validation, best.compiled) == (False, 1.0, None)
    assert Compiled.read(out).apply(Regen(judge="lm")).choose.signature.instructions == BETTER
    model.before = lambda calls: None
    compile_with("gepa", out, model, scripted_lm, budget=400, only="answer")
    assert card_of(out).finished and card_of(out).compiled == card_of(tmp_path / "whole").compiled
    # The call that was broken off, and those that were in flight beside it.
    assert model.calls <= whole.calls + 1 + 8
    calls = model.calls
    compile_with("gepa", out, model, scripted_lm, budget=400, only="answer")
    assert model.calls == calls


def test_killed_the_best_so_far_is_there(tmp_path: Path, scripted_lm: MakeLM) -> None:
    out, here = tmp_path / "p", Path(__file__).parent
    script = """
import os, sys
sys.path[:0] = [sys.argv[2], sys.argv[3]]
import dspy
from scripted import ScriptedEngine
from small_world import Model, TEST, TRAIN, VAL
from regen import Regen, optimize
from regen.metrics import truthful_choice
model = Model()
model.before = lambda calls: os._exit(9) if calls == 250 else None
dspy.configure(lm=dspy.LM("scripted/x", engine=ScriptedEngine(model), cache=False, num_retries=0))
optimize(
    TRAIN, VAL, TEST, metric=truthful_choice, out=sys.argv[1], optimizer="gepa", budget=400, only="answer",
    program=Regen(judge="lm"),
)
"""
    ended = subprocess.run([sys.executable, "-c", script, str(out), str(here), str(here.parent)], capture_output=True)
    assert ended.returncode == 9
    assert (card_of(out).finished, card_of(out).validation) == (False, 1.0)
    model = Model()
    compile_with("gepa", out, model, scripted_lm, budget=400, only="answer")
    # What was left of the budget, and twice six items, each at most two answers and three documents.
    assert card_of(out).finished and model.calls <= 400 - 250 + 8 + 2 * 6 * 5


def test_mipro_finds_the_better_instruction(tmp_path: Path, scripted_lm: MakeLM) -> None:
    pytest.importorskip("optuna", reason="MIPROv2 needs the extra 'mipro'")
    program = compile_with("mipro", tmp_path / "p", Model(), scripted_lm, only="answer")
    card = card_of(tmp_path / "p")
    assert (card.validation, card.base.mean, card.compiled.mean) == (1, 0, 1)
    assert program.choose.signature.instructions == BETTER


def test_a_larger_budget_goes_on_with_one_that_was_spent(tmp_path: Path, scripted_lm: MakeLM) -> None:
    model = Model()
    compile_with("gepa", tmp_path / "p", model, scripted_lm, budget=60, only="answer")
    spent = model.calls
    compile_with("gepa", tmp_path / "p", model, scripted_lm, budget=400, only="answer")
    fresh = Model()
    compile_with("gepa", tmp_path / "q", fresh, scripted_lm, budget=400, only="answer")
    assert spent < model.calls <= fresh.calls + 40
    assert card_of(tmp_path / "p").compiled == card_of(tmp_path / "q").compiled


def test_a_budget_of_calls_ends_it_with_the_best_so_far(tmp_path: Path, scripted_lm: MakeLM) -> None:
    model = Model()
    compile_with("gepa", tmp_path / "p", model, scripted_lm, budget=40)
    card = card_of(tmp_path / "p")
    assert card.finished and "limit of 40 calls is reached" in (card.stopped or "")
    assert card.budget == "40 calls" and card.compiled is not None


def test_a_model_that_fails_for_good_ends_it_with_its_cause(tmp_path: Path, scripted_lm: MakeLM) -> None:
    model = Model()

    def fail(calls: int) -> None:
        if calls > 20:
            raise ProviderError("The endpoint went away.")

    model.before = fail
    with pytest.raises(ProviderError, match="went away"):
        compile_with("bootstrap", tmp_path / "p", model, scripted_lm)


def test_saved_and_loaded_in_a_fresh_process_it_asks_the_same(tmp_path: Path, scripted_lm: MakeLM) -> None:
    out = tmp_path / "p"
    program = compile_with("labeled", out, Model(), scripted_lm)
    script = """
import json, sys
sys.path[:0] = [sys.argv[2], sys.argv[3]]
import dspy
from scripted import ScriptedEngine
from small_world import Model, example
from regen import Regen
from regen.compiled import Compiled
from pathlib import Path
engine = ScriptedEngine(Model())
lm = dspy.LM("scripted/x", engine=engine, cache=False)
program = Compiled.read(Path(sys.argv[1])).apply(Regen(judge="lm"))
with dspy.context(lm=lm):
    found = program(**example(20).inputs())
print(json.dumps([found.answer.text, sorted(str(request) for request in engine.requests)]))
"""
    here = Path(__file__).parent
    ended = subprocess.run(
        [sys.executable, "-c", script, str(out), str(here), str(here.parent)], capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stderr
    lm = scripted_lm(Model())
    with dspy.context(lm=lm):
        found = program(**example(20).inputs())
    assert json.loads(ended.stdout) == [found.answer.text, sorted(str(request) for request in lm.engine.requests)]
    assert sorted(path.name for path in out.iterdir()) == ["card.json", "card.md", "program.json", "work"]


PLANTED = [
    "what is said of matter 0?",
    "What is said of matter 1",
    "WHAT IS SAID OF MATTER 2?!",
    "  What is said -- of matter 3 ?",
    "\u201cWhat is said of matter 4?\u201d",
]


def test_planted_leaks_are_found_all_and_nothing_else(tmp_path: Path, scripted_lm: MakeLM) -> None:
    compile_with("labeled", tmp_path / "p", Model(), scripted_lm)
    compiled = Compiled.read(tmp_path / "p")
    fresh = ["What is said of matter 10?", "What is said of matter 45?"]
    compiled.check_unseen([text] for text in fresh)
    with pytest.raises(InputError, match=r"^5 of the 7 items to evaluate on were in the training of the program"):
        compiled.check_unseen([text] for text in fresh + PLANTED)
    assert all(question_key(text) != question_key("What is said of matter 5?") for text in PLANTED)


def test_a_test_item_that_was_trained_on_is_refused(tmp_path: Path, scripted_lm: MakeLM) -> None:
    with dspy.context(lm=scripted_lm(Model())), pytest.raises(InputError, match=r"^1 of the 2 items"):
        optimize(TRAIN, VAL, [example(3), example(30)], metric=truthful_choice, out=tmp_path / "p")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda card: card["versions"].update(regen="0.0.1"), "compiled with regen 0.0.1, and this is"),
        (lambda card: card["signatures"].update({"choose": "0" * 16}), "another signature of choose"),
        (lambda card: card["signatures"].pop("judge.verdict"), "no prompt for judge.verdict"),
        (lambda card: card.pop("judge"), "judge is missing or wrong"),
    ],
)
def test_a_program_that_does_not_fit_is_refused(
    tmp_path: Path, scripted_lm: MakeLM, change: Callable[[Any], Any], said: str
) -> None:
    compile_with("labeled", tmp_path / "p", Model(), scripted_lm)
    file = tmp_path / "p" / "card.json"
    card = json.loads(file.read_text())
    change(card)
    file.write_text(json.dumps(card))
    with pytest.raises(InputError, match=said):
        Compiled.read(tmp_path / "p").apply(Regen(judge="lm"))


def test_a_compiled_program_is_used_beside_the_prompts_of_kinds_which_stay_as_they_are(
    tmp_path: Path, scripted_lm: MakeLM
) -> None:
    compile_with("labeled", tmp_path / "p", Model(), scripted_lm)
    compiled = Compiled.read(tmp_path / "p")
    compiled.state["answer"]["signature"]["instructions"] = "Answer."
    program = compiled.apply(Regen(judge="lm", strategy="pipeline"))
    fresh = Regen(judge="lm", strategy="pipeline")
    assert program.answer.signature.instructions == "Answer."
    for name in ("by_kind", "kinds.tell", "kinds.choose"):
        now, then = (dict(one.named_predictors())[name].signature.instructions for one in (program, fresh))
        assert now == then


def test_a_judge_alone_and_one_that_is_asked_several_times_take_the_prompts(
    tmp_path: Path, scripted_lm: MakeLM
) -> None:
    from regen.judges import make_judge

    compile_with("labeled", tmp_path / "p", Model(), scripted_lm, only="answer")
    compiled = Compiled.read(tmp_path / "p")
    compiled.state["judge.verdict"]["signature"]["instructions"] = "Judge."
    for judge in (make_judge("lm"), make_judge("lm", samples=3)):
        compiled.apply(judge, "judge.")
        assert [one.signature.instructions for _, one in judge.named_predictors()] == ["Judge."]  # type: ignore[attr-defined]
    compiled.apply(Regen(judge="lm", judge_samples=3))
    with pytest.raises(InputError, match="compiled for --judge lm"):
        compiled.apply(Regen(judge="contrast"))


def test_no_model_is_taken_from_the_folder(tmp_path: Path, scripted_lm: MakeLM) -> None:
    compile_with("labeled", tmp_path / "p", Model(), scripted_lm)
    file = tmp_path / "p" / "program.json"
    state = json.loads(file.read_text())
    state["choose"]["lm"] = {"model": "openai/evil", "api_base": "http://evil.example"}
    file.write_text(json.dumps(state))
    assert Compiled.read(tmp_path / "p").apply(Regen(judge="lm")).choose.lm is None


def test_a_folder_with_other_files_or_another_compilation_is_left_alone(tmp_path: Path, scripted_lm: MakeLM) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="holds other files"):
        compile_with("labeled", tmp_path / "p", Model(), scripted_lm)
    compile_with("labeled", tmp_path / "q", Model(), scripted_lm)
    with pytest.raises(InputError, match="seed was 0 and is 1"):
        compile_with("labeled", tmp_path / "q", Model(), scripted_lm, seed=1)


class Trace(BaseCallback):
    """What a tracer sees: MLflow's and OpenTelemetry's for DSPy are callbacks as well."""

    def __init__(self) -> None:
        self.seen: set[str] = set()

    def on_compile_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        self.seen.add("compile")

    def on_module_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        self.seen.add(type(instance).__name__)

    def on_lm_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        self.seen.add("call")


def test_a_tracer_sees_the_compilation_and_all_in_it(tmp_path: Path, scripted_lm: MakeLM) -> None:
    trace = Trace()
    with dspy.context(callbacks=[trace]):
        compile_with("bootstrap", tmp_path / "p", Model(), scripted_lm, budget=100)
    assert trace.seen >= {"compile", "Student", "Regen", "Predict", "call"}


def test_a_judge_that_was_compiled_asked_several_times_can_be_asked_once(tmp_path: Path, scripted_lm: MakeLM) -> None:
    program = Regen(judge="lm", judge_samples=2)
    compile_with("labeled", tmp_path / "p", Model(), scripted_lm, program=program, only="answer")
    Compiled.read(tmp_path / "p").apply(Regen(judge="lm"))


def test_another_weight_is_another_metric(tmp_path: Path, scripted_lm: MakeLM) -> None:
    compile_with("labeled", tmp_path / "p", Model(), scripted_lm, metric=partial(net_improvement, harm=2))
    assert card_of(tmp_path / "p").metric == "net_improvement(harm=2)"
    with pytest.raises(InputError, match="metric was"):
        compile_with("labeled", tmp_path / "p", Model(), scripted_lm, metric=partial(net_improvement, harm=3))


def test_optimize_is_there_once_it_is_used() -> None:
    assert regen.optimize is optimize


def test_the_second_judge_of_a_cascade_is_compiled_also_where_the_first_is_sure_of_the_first_examples(
    tmp_path: Path, scripted_lm: MakeLM
) -> None:
    stances = ["supports", "contradicts", "irrelevant"]
    sets = [
        [pair(number, stances[number % 3]) for number in numbers] for numbers in (range(6), range(6, 9), range(9, 12))
    ]
    with dspy.context(lm=scripted_lm(Model())):
        program = optimize(
            *sets,
            metric=stance_accuracy,
            out=tmp_path / "p",
            optimizer="labeled",
            program=Regen(judge="cascade:builtin,lm,0"),
        )
    assert card_of(tmp_path / "p").predictors == ["judge.judges[1].verdict"]
    assert len(program.judge.judges[1].verdict.demos) == 4
    assert set(program.judge.sure.values()) == {0}
