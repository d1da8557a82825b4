"""Compiling: DSPy's optimizers on the program or a part of it, with every call kept and the best prompts written."""

from __future__ import annotations

import copy
import hashlib
import math
import random
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import dspy
from dspy.utils.callback import BaseCallback

from regen.choosing import LETTERS
from regen.compiled import PROGRAM, Card, Compiled, DataSet, Score, prompt_hashes, question_key, refuse_leaks, write
from regen.conflict import aggregate
from regen.errors import ConfigurationError, InputError, ProviderError, RegenError
from regen.fence import fence, fence_all, one_line
from regen.journal import Calls, Journal, Ledger, Stopped
from regen.judges.cascade import CascadeJudge
from regen.metrics import Metric
from regen.models.failures import expected, translate
from regen.program import Regen
from regen.prompts import prompts_hash
from regen.readings import best_sentence
from regen.runs import Run
from regen.types import Claim, Document, Stance
from signatures import Verdict

Optimizer = Literal["gepa", "mipro", "bootstrap", "simba", "labeled"]
Only = Literal["answer", "claims", "judge"]
Budget = Literal["light", "medium", "heavy"]
Tell = Callable[[str], None]
_Identity = tuple[int, ...]

WORK = "work"
# Predictors of each part.
_PARTS: dict[str, tuple[str, ...]] = {"answer": ("answer", "choose"), "claims": ("claims",), "judge": ("judge.",)}
# Candidate programs of random search, steps of SIMBA, labelled demonstrations, validation items of MIPRO.
_CANDIDATES = {"light": 4, "medium": 8, "heavy": 16}
_STEPS = {"light": 2, "medium": 4, "heavy": 8}
_LABELLED = {"light": 4, "medium": 8, "heavy": 16}
_MIPRO_VALIDATION = {"light": 100, "medium": 300, "heavy": 1000}
_SIMBA_BATCH = 32
_DEMONSTRATIONS = 4
# Items at the same time: each judges its documents at the same time as well.
_THREADS = 16
# A run with at least this score is a demonstration of how it is done: of the composite, what a right answer has.
_SUCCESS = 0.6
# An instruction is longer than an answer.
_PROPOSAL_TOKENS = 4096
_RESAMPLES = 2000
# What of the card must be the same where a compilation is gone on with.
_CONFIG = {
    "optimizer", "metric", "only", "seed", "model", "prompt_model", "judge", "claims", "data", "signatures", "prompts",
}  # fmt: skip
# Examples that are run to see which predictors they use.
_PROBED = 3


class Student(dspy.Module):
    """What an optimizer sees: the chosen predictors of a program, and the program as what they are called by.

    It answers examples of questions, and those of a claim and a document with the program's judge alone. A predictor
    that examples never reach would be one that GEPA can make nothing of, and others spend trials on.
    """

    def __init__(self, program: Regen, names: Iterable[str]) -> None:
        super().__init__()
        self.inside = _Inside(program)
        predictors = dict(program.named_predictors())
        for name in names:
            setattr(self, attribute(name), predictors[name])

    @property
    def program(self) -> Regen:
        """The program, whose predictors are those of the student."""
        return self.inside.program

    def forward(self, **inputs: Any) -> Any:
        """As `Regen`, or for `claim`, `document` and `question` a prediction with `stance` and `report`."""
        program = self.program
        if "claim" not in inputs:
            return program(**inputs)
        claims, documents = [Claim(id="c1", text=inputs["claim"])], [inputs["document"]]
        with program.judging():
            judgement = program.judge.judge(claims, documents, question=inputs.get("question"))
        report = aggregate(claims, documents, judgement, support=program.support, check_quotes=program.check_quotes)
        if not report.evidence:
            raise ProviderError(f"The judge failed: {report.unjudged[0].cause}.")
        return dspy.Prediction(stance=report.evidence[0].stance, report=report)

    def deepcopy(self) -> Student:
        """A copy whose program has the copy's predictors: DSPy's own falls back to one where they come apart."""
        return copy.deepcopy(self)


class _Inside:
    """Keeps a program out of DSPy's search for predictors."""

    def __init__(self, program: Regen) -> None:
        self.program = program


class Watch(BaseCallback):
    """Scores by candidate, as the metric gives them: the optimizers have no common way to tell of them.

    Args:
        metric: What is optimized.
        among: The examples whose scores count.
        need: How many of them make a candidate's mean count.
        best: Told of a student that is better than all before it, and its mean.
        tell: Told how many runs were scored, and the best mean so far.
        stop: Told of a wrong key or setting, with which no other call would do better.
    """

    def __init__(
        self,
        metric: Metric,
        among: Sequence[Any],
        need: int,
        *,
        best: Callable[[Student, float], None],
        tell: Callable[[int, float | None], None],
        stop: Tell,
    ) -> None:
        self._metric, self._need, self._told, self._tell, self._stop = metric, need, best, tell, stop
        self._among = {_identity(example.inputs().values()) for example in among}
        self._scores: dict[int, tuple[Student, dict[_Identity, float]]] = {}
        self._lock = threading.Lock()
        self._here = threading.local()
        self._runs = 0
        self.best: tuple[float, Student] | None = None
        self.failure: RegenError | None = None
        """The wrong key or setting, or else what failed last."""
        self._mistake: Exception | None = None
        self.failed_calls = self.failed_answers = 0

    def on_module_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        """Notes which student runs in this thread, and on what: its score comes next."""
        if isinstance(instance, Student):
            self._here.call, self._here.student = call_id, instance
            self._here.asked = _identity(inputs["kwargs"].values())

    def on_module_end(self, call_id: str, outputs: Any, exception: BaseException | None = None) -> None:
        """Notes a failure. A student that fails gets no score of the metric: it gets 0."""
        if isinstance(exception, expected()):
            self._fail(exception)
            if call_id == getattr(self._here, "call", None):
                with self._lock:
                    self.failed_answers += 1
                self._note(0.0)
        elif isinstance(exception, Exception):
            self._wrong(exception)

    def on_lm_end(self, call_id: str, outputs: Any, exception: BaseException | None = None) -> None:
        """Counts a failed call. The optimizers pass over what a model that writes instructions fails with."""
        if isinstance(exception, expected()):
            with self._lock:
                self.failed_calls += 1
            self._fail(exception)

    def check(self) -> None:
        """Raises what ends a compilation, and what an optimizer passes over: it would score 0 and go on.

        Raises:
            ConfigurationError: a wrong key or setting was met.
            Exception: a mistake of the metric, or of the program.
        """
        if self._mistake is not None:
            raise self._mistake
        if isinstance(self.failure, ConfigurationError):
            raise self.failure

    def _wrong(self, mistake: Exception) -> None:
        self._mistake = self._mistake or mistake
        self._stop(str(mistake))

    def _fail(self, exception: BaseException) -> None:
        if isinstance(self.failure, ConfigurationError):
            return
        self.failure = translate(exception)
        if isinstance(self.failure, ConfigurationError):
            self._stop(str(self.failure))

    def metric(
        self, example: Any, prediction: Any, trace: Any = None, pred_name: str | None = None, pred_trace: Any = None
    ) -> Any:
        """The metric, listened to. An answer that failed, which SIMBA has scored as well, is 0."""
        if not prediction:
            return 0.0
        try:
            score = self._metric(example, prediction, trace, pred_name, pred_trace)
        except Exception as error:
            self._wrong(error)
            raise
        if pred_name is None:
            self._note(float(score))
        return score

    def _note(self, score: float) -> None:
        student, asked = self._here.student, self._here.asked
        with self._lock:
            self._runs += 1
            if asked in self._among:
                _, scores = self._scores.setdefault(id(student), (student, {}))
                scores[asked] = score
                mean = sum(scores.values()) / len(scores)
                if len(scores) >= self._need and (self.best is None or mean > self.best[0]):
                    self.best = mean, student.deepcopy()
                    self._told(self.best[1], mean)
            self._tell(self._runs, self.best[0] if self.best else None)


def optimize(
    trainset: Sequence[Any],
    valset: Sequence[Any],
    testset: Sequence[Any] = (),
    *,
    metric: Metric,
    out: Path | str,
    optimizer: Optimizer = "gepa",
    budget: Budget | int = "light",
    only: Only | None = None,
    program: Regen | None = None,
    prompt_lm: Any = None,
    seed: int = 0,
    concurrency: int = 8,
    tell: Tell | None = None,
    note: Tell | None = None,
) -> Regen:
    """Compiles the prompts of a program, with the model that DSPy is configured for, and saves them with their card.

    Every call is kept in `out`, so that the same call of this function goes on where one was broken off; at temperature
    0 no prompt is asked twice. The best program so far is there all the time.

    Args:
        trainset: `dspy.Example`s as `regen.metrics` describes them, inputs marked.
        valset: What chooses among candidates. SIMBA chooses by `trainset`.
        testset: Held back: what the default prompts and the compiled ones are scored on in the end.
        metric: One of `regen.metrics`, or your own.
        out: The folder to write; new, or one of the same compilation.
        optimizer: "gepa" (instructions), "mipro" (instructions and demonstrations), "bootstrap" (demonstrations by
            random search), "simba" (rules and demonstrations) or "labeled" (demonstrations from the labels, no search).
        budget: How far it goes, or the number of calls after which the best so far is taken; the scores on `testset`
            come on top of those.
        only: A part of the program; all that the examples use where None.
        program: What to compile; its search is not used, so that examples without documents fail.
        prompt_lm: What writes instructions; the configured model where None.
        seed: Of every draw.
        concurrency: Model calls at the same time.
        tell: Told what is going on, often.
        note: Told each new best, in a line.

    Returns:
        The compiled program, as it was saved.

    Raises:
        InputError: no examples, an item that is in two of the sets, `out` holds something else, or nothing to compile.
        ConfigurationError: no model, or the optimizer needs a package.
        ProviderError: the model failed for good.
        KeyboardInterrupt: with the best so far in `out`.
    """
    if dspy.settings.lm is None:
        raise ConfigurationError("There is no model: `dspy.configure(lm=...)` names one.")
    _check(optimizer, trainset, valset, testset)
    return _Job(
        (trainset, valset, testset),
        metric,
        Path(out),
        optimizer,
        budget,
        program or Regen(),
        seed=seed,
        concurrency=concurrency,
        only=only,
        prompt_lm=prompt_lm,
        tell=tell or (lambda _: None),
        note=note or (lambda _: None),
    ).run()


class _Job:
    """One compilation."""

    def __init__(
        self,
        sets: tuple[Sequence[Any], Sequence[Any], Sequence[Any]],
        metric: Metric,
        out: Path,
        optimizer: Optimizer,
        budget: Budget | int,
        program: Regen,
        *,
        seed: int,
        concurrency: int,
        only: Only | None,
        prompt_lm: Any,
        tell: Tell,
        note: Tell,
    ) -> None:
        self.train, self.val, self.test = map(list, sets)
        if optimizer == "mipro":
            # It would draw as many itself, and the best so far is known by all of them having been scored.
            size = _MIPRO_VALIDATION[_size(budget)]
            self.val = random.Random(seed).sample(self.val, min(size, len(self.val)))
        self.metric, self.out, self.optimizer, self.budget, self.only = metric, out, optimizer, budget, only
        self.seed, self.concurrency, self.tell, self.note = seed, concurrency, tell, note
        self.lm, self.prompt_lm = dspy.settings.lm, prompt_lm or dspy.settings.lm
        self.base = copy.copy(program)
        self.base.search, self.base.on_step = None, None
        self.judge_lm = program.judge_lm
        named = {"training": self.train, "validation": self.val, "test": self.test}
        self.card = Card(
            optimizer=optimizer,
            metric=_name(metric),
            budget=f"{budget} calls" if isinstance(budget, int) else budget,
            only=only,
            predictors=[],
            seed=seed,
            model=self.lm.model,
            prompt_model=self.prompt_lm.model,
            judge=program.judge_name,
            claims=program.claim_kind,
            data={name: data_set(examples) for name, examples in named.items()},
            seen=sorted(_keys([*self.train, *self.val])),
            signatures=prompt_hashes(program),
            prompts=prompts_hash(program),
            versions={name: version(name) for name in ("regen", "dspy")},
        )

    def run(self) -> Regen:
        card = self.card
        if not (self.out / WORK).exists() and self.out.is_dir() and any(self.out.iterdir()):
            raise InputError(f"{self.out} holds other files: name a new folder.")
        config = card.model_dump(mode="json", include=_CONFIG)
        config |= {name: getattr(self.base, name) for name in ("support", "check_quotes", "max_rounds")}
        config |= {name: self.lm.kwargs.get(name) for name in ("temperature", "max_tokens")}
        if not isinstance(self.budget, int):
            config["budget"] = self.budget
        with Run.begin(self.out / WORK, "optimize", config, [("program", {})]) as run, run.session():
            if run.finished("program") and (self.out / PROGRAM).exists():
                return self._loaded()
            limit = self.budget if isinstance(self.budget, int) else None
            journal = self._journal(Calls(run, max_calls=limit))
            watch = Watch(
                self.metric,
                *self._watched(),
                best=self._best,
                tell=partial(self._tell, journal),
                stop=journal.calls.stop,
            )
            try:
                with self._context(journal, watch):
                    found = self._compile(watch, journal).program
                watch.check()
            except Stopped:
                watch.check()
                found = watch.best[1].program if watch.best else self.base
                took = (
                    "The best so far was taken."
                    if watch.best
                    else "Nothing was scored in full: these are the defaults."
                )
                self._update(stopped=f"The limit of {limit:,} calls is reached. {took}")
            self._update(failed_calls=watch.failed_calls, failed_answers=watch.failed_answers)
            if watch.failed_calls or watch.failed_answers:
                self.note(
                    f"{watch.failed_calls:,} model calls and {watch.failed_answers:,} answers failed, the last one so: "
                    f"{watch.failure} An answer that fails counts as 0."
                )
            self._save(found, validation=watch.best[0] if watch.best else None)
            loaded = self._loaded()
            if self.test:
                self._score(run, loaded)
            self._save(loaded, finished=True, usage=run.usage())
            if self.card.stopped is None:
                # With a larger budget, one that was stopped can be gone on with: it needs its replies.
                run.keep("program", "compile", {"prompts": self.card.prompts}, self.card.usage)
            return self._loaded()

    def _compile(self, watch: Watch, journal: Journal) -> Student:
        names = self._names()
        self._update(predictors=names)
        student = Student(self._fresh(self.base), names)
        prompt_lm = journal.lm(self.prompt_lm)
        # Without it, a proposal that is asked for once more is another one.
        prompt_lm.kwargs.pop("seed", None)
        if "max_tokens" in prompt_lm.kwargs:
            prompt_lm = prompt_lm.copy(max_tokens=max(_PROPOSAL_TOKENS, prompt_lm.kwargs["max_tokens"] or 0))
        compile_with = {
            "gepa": self._gepa,
            "mipro": self._mipro,
            "bootstrap": self._bootstrap,
            "simba": self._simba,
            "labeled": self._labeled,
        }[self.optimizer]
        try:
            found: Student = compile_with(student, watch.metric, prompt_lm)
        except expected() as error:
            raise translate(error) from error
        except Exception as error:
            watch.check()
            # DSPy gives up with an exception of no type of its own, which says no more than that it did.
            if watch.failure is None or type(error) is not Exception:
                raise
            raise type(watch.failure)(str(watch.failure)) from error
        return found

    def _gepa(self, student: Student, metric: Metric, prompt_lm: Any) -> Any:
        warm = {} if prompt_lm.kwargs.get("temperature") is None else {"temperature": 1.0}
        return dspy.GEPA(
            metric=metric,
            auto=_size(self.budget),
            reflection_lm=prompt_lm.copy(**warm),
            num_threads=self._threads,
            seed=self.seed,
        ).compile(student, trainset=self.train, valset=self.val)

    def _mipro(self, student: Student, metric: Metric, prompt_lm: Any) -> Any:
        return dspy.MIPROv2(
            metric=metric,
            auto=_size(self.budget),
            prompt_model=prompt_lm,
            max_bootstrapped_demos=_DEMONSTRATIONS,
            # A labelled example of the whole program is none of a single predictor.
            max_labeled_demos=0,
            metric_threshold=_SUCCESS,
            num_threads=self._threads,
            seed=self.seed,
        ).compile(student, trainset=self.train, valset=self.val, program_aware_proposer=False)

    def _bootstrap(self, student: Student, metric: Metric, _: Any) -> Any:
        from dspy.teleprompt import BootstrapFewShotWithRandomSearch

        train = random.Random(self.seed).sample(self.train, len(self.train))
        candidates = _CANDIDATES[_size(self.budget)]
        return BootstrapFewShotWithRandomSearch(
            metric=metric,
            max_bootstrapped_demos=_DEMONSTRATIONS,
            max_labeled_demos=0,
            metric_threshold=_SUCCESS,
            num_candidate_programs=candidates,
            num_threads=self._threads,
        ).compile(student, trainset=train, valset=self.val, restrict=[-3, *range(-1, candidates)])

    def _simba(self, student: Student, metric: Metric, prompt_lm: Any) -> Any:
        return dspy.SIMBA(
            metric=metric,
            bsize=self._simba_batch,
            max_steps=_STEPS[_size(self.budget)],
            max_demos=_DEMONSTRATIONS,
            prompt_model=prompt_lm,
            num_threads=self._threads,
        ).compile(student, trainset=self.train, seed=self.seed)

    def _labeled(self, student: Student, metric: Metric, _: Any) -> Any:
        examples = random.Random(self.seed).sample(self.train, len(self.train))
        for name, predictor in student.program.named_predictors():
            made = [labelled(example, name, number) for number, example in enumerate(examples)]
            demos = [demo for demo in made if demo is not None]
            if hasattr(student, attribute(name)) and demos:
                k = _LABELLED[_size(self.budget)]
                predictor.demos = dspy.LabeledFewShot(k=k).compile(predictor, trainset=demos, sample=False).demos
        if not any(predictor.demos for predictor in student.predictors()):
            raise InputError(
                "The labels say nothing about single prompts here: labeled goes with questions that have choices, and "
                "with stances for the judge lm."
            )
        dspy.Evaluate(devset=self.val, metric=metric, num_threads=self._threads)(student)
        return student

    def _names(self) -> list[str]:
        """The predictors to compile: of the part that is wanted, those that the examples use."""
        probe = Student(self._fresh(self.base), [])
        names = {id(predictor): name for name, predictor in probe.program.named_predictors()}
        used = set()
        if isinstance(probe.program.judge, CascadeJudge):
            # Three examples may be such that the first judge is sure of them all.
            probe.program.judge.sure = dict.fromkeys(Stance, math.inf)
        for example in self.train[:_PROBED]:
            self.tell("compiling: looking which prompts are used")
            with dspy.context(trace=[]):
                try:
                    probe(**example.inputs())
                except expected() as error:
                    raise translate(error) from error
                used |= {names[id(step[0])] for step in dspy.settings.trace if id(step[0]) in names}
        wanted = _PARTS[self.only] if self.only else ("",)
        found = [name for name in names.values() if name in used and name.startswith(wanted)]
        if not found:
            there = ", ".join(sorted(used)) or "none"
            raise InputError(f"There is nothing to compile: of {self.only or 'the program'}, these items use {there}.")
        return found

    def _watched(self) -> tuple[list[Any], int]:
        return (self.train, self._simba_batch) if self.optimizer == "simba" else (self.val, len(self.val))

    def _best(self, student: Student, mean: float) -> None:
        self._save(student.program, validation=mean)
        self.note(f"best so far: {mean:.3f}, kept in {self.out}")

    def _save(self, program: Regen, **values: Any) -> None:
        kept = self._fresh(program)
        for predictor in kept.predictors():
            # A trace holds log-probabilities and the like as well.
            fields = predictor.signature.fields
            predictor.demos = [
                dspy.Example(**{name: demo[name] for name in fields if demo.get(name) is not None})
                for demo in predictor.demos
            ]
            predictor.lm, predictor.traces, predictor.train = None, [], []
        self._update(prompts=prompts_hash(kept), **values)
        write(self.out, kept, self.card)

    def _loaded(self) -> Regen:
        program: Regen = Compiled.read(self.out).apply(self._fresh(self.base))
        program.judge_lm = self.judge_lm
        return program

    @staticmethod
    def _fresh(program: Regen) -> Regen:
        """A copy of a program. Models stay what they are: they hold connections."""
        plain = copy.copy(program)
        plain.judge_lm = None
        made = copy.deepcopy(plain)
        made.judge_lm = program.judge_lm
        return made

    def _score(self, run: Run, compiled: Regen) -> None:
        values: list[list[float]] = []
        failed: list[int] = []
        f1: list[Score | None] = []
        for what, program in (("the default prompts", self.base), ("the compiled prompts", compiled)):
            journal = self._journal(Calls(run))
            watch = Watch(
                self.metric,
                [],
                0,
                best=lambda *_: None,
                tell=partial(self._tell_scored, what),
                stop=journal.calls.stop,
            )
            with self._context(journal, watch):
                evaluate = dspy.Evaluate(
                    devset=self.test, metric=watch.metric, num_threads=self._threads, max_errors=len(self.test) + 1
                )
                student = Student(self._fresh(program), [])
                student.program.judge_lm = self.base.judge_lm
                results = evaluate(student).results
            watch.check()
            values.append([float(score) for _, _, score in results])
            failed.append(sum(not prediction.keys() for _, prediction, _ in results))
            stances = all("stance" in example for example in self.test)
            pairs = (
                [(example.stance, prediction.get("stance")) for example, prediction, _ in results] if stances else []
            )
            f1.append(macro_f1_of(pairs, failed[-1]) if pairs else None)
            if failed[-1] == len(self.test) and watch.failure is not None:
                raise type(watch.failure)(str(watch.failure))
        base, now = values
        self._update(
            base=mean_of(base, failed[0]),
            compiled=mean_of(now, failed[1]),
            difference=mean_of([after - before for before, after in zip(base, now, strict=True)]),
            base_macro_f1=f1[0],
            compiled_macro_f1=f1[1],
        )

    def _update(self, **values: Any) -> None:
        self.card = Card.model_validate({**self.card.model_dump(exclude={"written"}), **values})

    def _journal(self, calls: Calls) -> Journal:
        return Journal(calls, concurrency=self.concurrency, ledger=Ledger("program", "compile", once=True))

    def _tell(self, journal: Journal, runs: int, best: float | None) -> None:
        so_far = "" if best is None else f", best {best:.3f}"
        self.tell(f"compiling: {runs:,} answers scored{so_far}, {journal.calls.spent().calls:,} calls")

    def _tell_scored(self, what: str, runs: int, _: float | None) -> None:
        # DSPy begins slow ones a second time.
        self.tell(f"scoring {what}: {min(runs, len(self.test)):,} of {len(self.test):,}")

    @contextmanager
    def _context(self, journal: Journal, watch: Watch) -> Iterator[None]:
        """While inside, calls are kept and watched. However that ends, no further one begins; those under way are paid
        for, and kept.
        """
        lm = journal.lm(self.lm)
        # Samples at a higher temperature would all be the same.
        lm.kwargs.pop("seed", None)
        self.base.judge_lm = journal.lm(self.judge_lm) if self.judge_lm is not None else None
        try:
            with dspy.context(lm=lm, callbacks=[*(dspy.settings.callbacks or []), watch]):
                yield
        finally:
            # Threads of DSPy's go on with what they have begun.
            journal.calls.stop("It has ended.")
            journal.calls.settle()

    @property
    def _simba_batch(self) -> int:
        return min(_SIMBA_BATCH, len(self.train))

    @property
    def _threads(self) -> int:
        # The local model has one slot; and DSPy begins a task anew beside itself that takes two minutes.
        return 1 if str(self.lm.model).startswith("embedded/") else min(self.concurrency, _THREADS)


def attribute(name: str) -> str:
    """What a predictor is called in a `Student`, and so in what GEPA asks a metric."""
    return re.sub(r"\W+", "_", name).strip("_")


def labelled(example: Any, name: str, number: int) -> Any:
    """An example as a demonstration for the predictor of that name; None where its labels say nothing about it.

    By the demonstration's `number`, the right choice stands first, second and so on: no letter is right more often.
    """
    if name == "choose" and "choices" in example:
        choices = list(example.choices)
        place = number % len(choices)
        choices.insert(place, choices.pop(example.answer))
        options = [f"{letter}: {one_line(text, 400)}" for letter, text in zip(LETTERS, choices, strict=False)]
        return dspy.Example(
            documents=fence_all(example.documents),
            question=example.question,
            options="\n".join(options),
            answer=LETTERS[place],
        )
    if name.startswith("judge.") and name.endswith(".verdict") and "claim" in example:
        question, text = example.get("question") or "", example.document.text
        quote = "" if example.stance == Stance.IRRELEVANT else best_sentence(text, example.claim, question)
        verdict = Verdict.model_validate({"claim": 1, "quote": quote, "stance": example.stance, "confidence": None})
        return dspy.Example(
            document=fence(example.document, 1),
            question=question,
            claims=f"1. {one_line(example.claim, 600)}",
            verdicts=[verdict],
            # What the document answers to a question, the labels don't say.
            **({} if question else {"answer": ""}),
        )
    return None


def mean_of(values: Sequence[float], failed: int = 0) -> Score:
    """The mean of the items' scores with its interval."""
    import numpy

    found = numpy.array(values)
    drawn = numpy.random.default_rng(0).integers(0, len(found), size=(_RESAMPLES, len(found)))
    low, high = numpy.percentile(found[drawn].mean(axis=1), [2.5, 97.5])
    return Score(mean=float(found.mean()), low=float(low), high=float(high), n=len(found), failed=failed)


def macro_f1_of(outcomes: Sequence[tuple[str, str | None]], failed: int = 0) -> Score:
    """The mean F1 of the labels, with its interval; labels that the items, or a resample of them, lack are left out.

    Args:
        outcomes: The label by people, and the one that was found: None where that failed, which no label is.
        failed: How many those are.
    """
    import numpy

    counts = Counter(outcomes)
    cells = list(counts)

    def mean_f1(drawn: Any) -> Any:
        """Of counts of the cells, an array of (draws, cells)."""
        scores = []
        for label in {meant for meant, _ in cells}:
            meant = drawn[:, [gold == label for gold, _ in cells]].sum(axis=1)
            found = drawn[:, [guess == label for _, guess in cells]].sum(axis=1)
            both = drawn[:, [gold == guess == label for gold, guess in cells]].sum(axis=1)
            scores.append(numpy.where(meant > 0, 2 * both / numpy.maximum(meant + found, 1), numpy.nan))
        return numpy.nanmean(scores, axis=0)

    given = numpy.array([[counts[cell] for cell in cells]])
    drawn = numpy.random.default_rng(0).multinomial(len(outcomes), given[0] / len(outcomes), size=_RESAMPLES)
    low, high = numpy.percentile(mean_f1(drawn), [2.5, 97.5])
    return Score(mean=float(mean_f1(given)[0]), low=float(low), high=float(high), n=len(outcomes), failed=failed)


def asked(example: Any) -> str:
    """What examples are told apart by: the question; for a judge the claim, where it answers no question."""
    return str(example.get("question") or example.claim)


def data_set(examples: Sequence[Any]) -> DataSet:
    """What identifies a set of examples."""
    said = "\n".join(
        repr([(name, _timeless(value)) for name, value in sorted(example.items())]) for example in examples
    )
    return DataSet(
        n=len(examples),
        questions=len({question_key(asked(example)) for example in examples}),
        sha256=hashlib.sha256(said.encode("utf-8", "replace")).hexdigest(),
    )


def _check(optimizer: Optimizer, train: Sequence[Any], val: Sequence[Any], test: Sequence[Any]) -> None:
    if not train or not val:
        raise InputError("There is nothing to learn from, or to choose by: give examples for training and validation.")
    refuse_leaks(map(_texts, val), _keys(train), "training as well")
    refuse_leaks(map(_texts, test), _keys([*train, *val]), "training or validation as well")
    if optimizer == "mipro" and find_spec("optuna") is None:
        raise ConfigurationError('The optimizer mipro needs the package optuna: pip install "regen[mipro]".')


def _keys(examples: Sequence[Any]) -> set[str]:
    return {question_key(text) for example in examples for text in _texts(example)}


def _texts(example: Any) -> list[str]:
    return [text for name in ("question", "claim") if (text := example.get(name))]


def _timeless(value: Any) -> Any:
    """A value of an example without when its documents were found."""
    if isinstance(value, Document):
        return value.model_dump(mode="json", exclude={"retrieved_at"})
    return [_timeless(item) for item in value] if isinstance(value, list) else value


def _identity(values: Iterable[Any]) -> _Identity:
    # An optimizer hands an example's own objects on.
    return tuple(map(id, values))


def _size(budget: Budget | int) -> Budget:
    return "medium" if isinstance(budget, int) else budget


def _name(metric: Metric) -> str:
    if isinstance(metric, partial):
        given = ", ".join(f"{name}={value}" for name, value in metric.keywords.items())
        return f"{_name(metric.func)}({given})"
    return str(getattr(metric, "__name__", type(metric).__name__))
