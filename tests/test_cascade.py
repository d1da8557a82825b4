"""The cascade: what the first judge is sure of stays, the rest goes on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import dspy
import pytest

from regen.errors import ConfigurationError, ProviderError
from regen.judges import asks_model, default_judge, make_judge
from regen.judges.cascade import SURE as SURE_BY_DEFAULT
from regen.judges.cascade import CascadeJudge
from regen.judges.vote import vote
from regen.types import Claim, Document, Evidence, Judgement, Stance, Unjudged

CLAIMS = [Claim(id="c1", text="The fee is 10 euros."), Claim(id="c2", text="It opens on Mondays.")]
DOCUMENTS = [Document(id=name, text=f"Page {name}.") for name in ("a", "b", "c")]
SURE, UNSURE = 0.95, 0.6


class Fake:
    """Says of every claim and document what a table says of the document, and keeps what it was asked."""

    def __init__(self, said: dict[str, Any], unjudged: Sequence[str] = ()) -> None:
        self.said, self.unjudged = said, unjudged
        self.asked: list[tuple[list[str], list[str], dict[str, Any]]] = []

    def judge(self, claims: Sequence[Claim], documents: Sequence[Document], **options: Any) -> Judgement:
        self.asked.append(([claim.id for claim in claims], [document.id for document in documents], options))
        evidence = [
            Evidence(
                claim_id=claim.id,
                document_id=document.id,
                stance=self.said[document.id][0],
                confidence=self.said[document.id][1],
            )
            for document in documents
            if document.id not in self.unjudged
            for claim in claims
        ]
        failed = [Unjudged(document_id=name, cause="It broke") for name in self.unjudged]
        return Judgement(evidence=evidence, unjudged=failed, warnings=[f"{len(documents)} read"])


def cascade(cheap: Fake, dear: Fake, given: str = "contrast,lm,0.9") -> CascadeJudge:
    made = CascadeJudge(given)
    made.judges = [cheap, dear]
    return made


def of(judgement: Judgement) -> dict[str, tuple[str, str]]:
    return {item.document_id: (item.stance.value, item.by) for item in judgement.evidence if item.claim_id == "c1"}


def test_only_what_the_first_is_not_sure_of_goes_on_and_each_stance_says_whose_it_is() -> None:
    cheap = Fake({"a": ("supports", SURE), "b": ("contradicts", UNSURE), "c": ("irrelevant", 0.9)})
    dear = Fake({"b": ("supports", UNSURE)})
    found = cascade(cheap, dear).judge(CLAIMS, DOCUMENTS, question="How much?", exclusive=True)
    assert of(found) == {"a": ("supports", "contrast"), "b": ("supports", "lm"), "c": ("irrelevant", "contrast")}
    claims, documents, options = dear.asked[0]
    assert (claims, documents) == (["c1", "c2"], ["b"])
    assert (options["question"], options["exclusive"]) == ("How much?", True)
    assert found.warnings == ["3 read", "1 read"]


def test_where_the_first_is_sure_of_all_the_second_is_not_asked() -> None:
    cheap, dear = Fake(dict.fromkeys("abc", ("supports", SURE))), Fake({})
    seen: list[tuple[int, int]] = []
    found = cascade(cheap, dear).judge(CLAIMS, DOCUMENTS, progress=lambda done, total: seen.append((done, total)))
    assert not dear.asked
    assert len(found.evidence) == 6
    assert seen == [(3, 3)]


def test_a_document_of_which_one_claim_is_doubtful_goes_on_whole() -> None:
    class Half(Fake):
        def judge(self, claims: Sequence[Claim], documents: Sequence[Document], **options: Any) -> Judgement:
            found = super().judge(claims, documents, **options)
            unsure = [
                item.model_copy(update={"confidence": None}) if item.claim_id == "c2" else item
                for item in found.evidence
            ]
            return found.model_copy(update={"evidence": unsure})

    cheap, dear = Half({"a": ("supports", SURE)}), Fake({"a": ("contradicts", UNSURE)})
    found = cascade(cheap, dear).judge(CLAIMS, DOCUMENTS[:1])
    assert [item.by for item in found.evidence] == ["lm", "lm"]


def test_what_the_first_could_not_judge_goes_on_and_what_the_second_could_not_is_unjudged() -> None:
    cheap = Fake({"a": ("supports", SURE), "c": ("irrelevant", UNSURE)}, unjudged=["b"])
    dear = Fake({"b": ("contradicts", SURE)}, unjudged=["c"])
    found = cascade(cheap, dear).judge(CLAIMS, DOCUMENTS)
    assert dear.asked[0][1] == ["b", "c"]
    assert of(found) == {"a": ("supports", "contrast"), "b": ("contradicts", "lm")}
    assert [item.document_id for item in found.unjudged] == ["c"]


@pytest.mark.parametrize(
    ("given", "names", "sure"),
    [
        ("", ["builtin", "lm"], None),
        ("0.5", ["builtin", "lm"], 0.5),
        ("lm,contrast", ["lm", "contrast"], None),
        ("builtin,lm:pair,1", ["builtin", "lm:pair"], 1.0),
        ("contrast", ["contrast", "lm"], None),
    ],
)
def test_its_parts_can_be_named(given: str, names: list[str], sure: float | None) -> None:
    made = CascadeJudge(given)
    assert made.names == names
    assert made.sure == (SURE_BY_DEFAULT if sure is None else dict.fromkeys(Stance, sure))


@pytest.mark.parametrize("given", ["a,b,c", "lm,contrast,nli,0.5", "1.5", "lm,contrast,-0.1", "nan"])
def test_other_parts_are_refused(given: str) -> None:
    with pytest.raises(ConfigurationError):
        CascadeJudge(given)


def test_the_second_judge_is_the_one_that_suits_the_model(scripted_lm: Callable[..., Any]) -> None:
    lm = scripted_lm(lambda *_: "")
    assert default_judge(lm) == "lm"
    lm.model = "embedded/qwen"
    with dspy.context(lm=lm):
        made = make_judge("cascade")
    assert isinstance(made, CascadeJudge)
    assert made.names == ["builtin", "contrast"]


def test_a_second_judge_that_fails_on_everything_leaves_what_the_first_was_sure_of() -> None:
    class Broken(Fake):
        def judge(self, *_: Any, **__: Any) -> Judgement:
            raise ProviderError("It went away.")

    cheap = Fake({"a": ("supports", SURE), "b": ("contradicts", UNSURE), "c": ("irrelevant", SURE)})
    found = cascade(cheap, Broken({})).judge(CLAIMS, DOCUMENTS)
    assert of(found) == {"a": ("supports", "contrast"), "c": ("irrelevant", "contrast")}
    assert [(item.document_id, item.cause) for item in found.unjudged] == [("b", "It went away")]
    with pytest.raises(ConfigurationError):
        cascade(cheap, _Refused({})).judge(CLAIMS, DOCUMENTS)


class _Refused(Fake):
    def judge(self, *_: Any, **__: Any) -> Judgement:
        raise ConfigurationError("The key was refused.")


def test_every_stance_has_a_bound() -> None:
    assert set(CascadeJudge("contrast,lm").sure) == set(Stance)


def test_where_the_first_fails_on_everything_the_second_is_asked_of_everything() -> None:
    dear = Fake(dict.fromkeys("abc", ("supports", UNSURE)))
    found = cascade(_Broken({}), dear).judge(CLAIMS, DOCUMENTS)
    assert dear.asked[0][1] == ["a", "b", "c"]
    assert len(found.evidence) == 6
    with pytest.raises(ConfigurationError):
        cascade(_Refused({}), dear).judge(CLAIMS, DOCUMENTS)


class _Broken(Fake):
    def judge(self, *_: Any, **__: Any) -> Judgement:
        raise ProviderError("It went away.")


def test_own_answers_are_those_of_the_judge_that_decided() -> None:
    class Reads(Fake):
        def judge(self, claims: Sequence[Claim], documents: Sequence[Document], **options: Any) -> Judgement:
            found = super().judge(claims, documents, **options)
            return found.model_copy(update={"answers": {document.id: "ten" for document in documents}})

    cheap = Reads({"a": ("supports", SURE), "b": ("contradicts", UNSURE), "c": ("irrelevant", SURE)})
    found = cascade(cheap, Fake({"b": ("irrelevant", UNSURE)})).judge(CLAIMS, DOCUMENTS)
    assert found.answers == {"a": "ten", "c": "ten"}


@pytest.mark.parametrize(
    ("name", "asks"),
    [
        ("cascade", True),
        ("cascade:0.9", True),
        ("cascade:builtin,lm", True),
        ("cascade:builtin,builtin", False),
        ("ensemble:builtin=2,builtin", False),
        ("ensemble:builtin,cascade", True),
    ],
)
def test_judges_that_are_made_of_others_ask_a_model_where_one_of_those_does(name: str, asks: bool) -> None:
    assert asks_model(name) is asks


def test_a_seed_reaches_judges_within_judges() -> None:
    outer = make_judge("ensemble:cascade=2,contrast", seed=7)
    inner = outer.judges[0].judges[1]  # type: ignore[attr-defined]
    assert (outer.judges[1].seed, getattr(inner, "seed", 7)) == (7, 7)  # type: ignore[attr-defined]
    assert make_judge("cascade:builtin,contrast", seed=7).judges[1].seed == 7  # type: ignore[attr-defined]


def test_a_vote_keeps_who_decided_where_all_that_agree_name_the_same() -> None:
    def said(stance: str, by: str) -> Judgement:
        return Judgement(evidence=[Evidence(claim_id="c1", document_id="a", stance=stance, by=by)])

    def who(*said: Judgement) -> str:
        return vote(list(said), [1.0] * len(said), CLAIMS[:1], DOCUMENTS[:1]).evidence[0].by

    assert who(said("supports", "lm"), said("supports", "lm"), said("contradicts", "x")) == "lm"
    assert who(said("supports", "lm"), said("supports", "builtin")) == ""
