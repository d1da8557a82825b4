"""Kinds of conflict: what the rules go by, and which words name a kind. How often they are right is measured apart."""

from __future__ import annotations

import random
from datetime import date
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regen.conflict import aggregate
from regen.errors import InputError
from regen.fence import fence
from regen.kinds import EXPECTED, MEANING, catalogue, gold_kind, guess, named
from regen.types import Claim, ConflictReport, Document, Evidence, Judgement, Kind, Stance, Strategy, Unjudged
from signatures import NameKind

FEE = "How much is the fee?"


def document(name: str, text: str, published: str | None = None, **more: str) -> Document:
    return Document(id=name, text=text, published=date.fromisoformat(published) if published else None, **more)


def report(documents: list[Document], stances: str) -> ConflictReport:
    """Of one claim: + and - are documents for and against it, 0 has no bearing."""
    meant = {"+": Stance.SUPPORTS, "-": Stance.CONTRADICTS, "0": Stance.IRRELEVANT}
    evidence = [
        Evidence(claim_id="c1", document_id=item.id, stance=meant[mark], quote=item.text)
        for item, mark in zip(documents, stances, strict=True)
    ]
    return aggregate([Claim(id="c1", text="The fee is 10 euros.")], documents, Judgement(evidence=evidence))


OLD = document("old", "The fee is 10 euros.", "2019-01-31")
NEW = document("new", "The fee is 12 euros.", "2024-05-01")
UNDATED = document("undated", "The fee is 12 euros.")


# With the sides of a claim.


def test_sides_that_dates_order_are_outdated_information_and_the_newer_one_is_named() -> None:
    found = guess(FEE, [OLD, NEW], report([OLD, NEW], "+-"))
    assert (found.kind, found.by) == (Kind.OUTDATED, "rules")
    assert found.reason.startswith("one side, [2], is newer")


@pytest.mark.parametrize(
    "other",
    [UNDATED, NEW.model_copy(update={"published_from": "mtime"}), NEW.model_copy(update={"published": OLD.published})],
    ids=["undated", "dated by the file", "of the same day"],
)
def test_sides_that_dates_do_not_order_are_not_outdated(other: Document) -> None:
    assert guess(FEE, [OLD, other], report([OLD, other], "+-")).kind is Kind.OPINIONS


def test_sides_whose_dates_overlap_are_not_outdated() -> None:
    documents = [OLD, NEW, document("newest", "The fee is 10 euros.", "2025-01-01")]
    assert guess(FEE, documents, report(documents, "+-+")).kind is Kind.OPINIONS


@pytest.mark.parametrize(
    ("versions", "kind"),
    [
        (("Manual v1.9", "Manual v1.10"), Kind.OUTDATED),
        (("Manual, version 2", "Manual, version 2"), Kind.OPINIONS),
        (("Manual v1", "Manual"), Kind.OPINIONS),
        (("From v1 to v2", "Manual v3"), Kind.OPINIONS),
    ],
    ids=["by number", "the same", "one without", "two in one title"],
)
def test_versions_order_sides_as_dates_do(versions: tuple[str, str], kind: Kind) -> None:
    documents = [document(title, f"The fee is {n} euros.", title=title) for n, title in enumerate(versions)]
    documents = [item.model_copy(update={"id": f"d{n}"}) for n, item in enumerate(documents)]
    assert guess(FEE, documents, report(documents, "+-")).kind is kind


def test_a_question_for_an_opinion_is_one_whatever_the_dates() -> None:
    assert guess("Should the fee be higher?", [OLD, NEW], report([OLD, NEW], "+-")).kind is Kind.OPINIONS


def test_a_view_that_one_side_alone_calls_a_myth_is_misinformation() -> None:
    myth = document("myth", "It is a myth that the fee is 10 euros.", "2024-05-01")
    assert guess(FEE, [OLD, myth], report([OLD, myth], "+-")).kind is Kind.MISINFORMATION
    too = document("too", "The claim that the fee is 12 euros is false.")
    assert guess(FEE, [too, myth], report([too, myth], "+-")).kind is Kind.OPINIONS


def test_a_side_of_nothing_but_pages_where_anybody_may_write_is_misinformation() -> None:
    forum = document("forum", "The fee is 10 euros.", url="https://old.reddit.com/r/fees")
    page = document("page", "The fee is 12 euros.", url="https://fees.example.org")
    assert guess(FEE, [forum, page], report([forum, page], "+-")).kind is Kind.MISINFORMATION
    both = [forum, forum.model_copy(update={"id": "other", "text": "The fee is 12 euros."})]
    assert guess(FEE, both, report(both, "+-")).kind is Kind.OPINIONS
    looks_alike = forum.model_copy(update={"url": "https://notreddit.com/r/fees"})
    assert guess(FEE, [looks_alike, page], report([looks_alike, page], "+-")).kind is Kind.OPINIONS


def test_a_claim_that_documents_only_contradict_is_no_conflict_between_them() -> None:
    other = document("other", "The fee is 12 euros at the door.")
    assert guess(FEE, [NEW, other], report([NEW, other], "--")).kind is Kind.NO_CONFLICT


def test_the_most_disputed_claim_tells_the_kind() -> None:
    documents = [
        document("a", "A.", "2019-01-01"),
        document("b", "B.", "2024-01-01"),
        *(document(name, f"{name.upper()}.") for name in ("c", "d")),
    ]
    claims = [Claim(id="c1", text="One."), Claim(id="c2", text="Two.")]
    stances = {"c1": "+-00", "c2": "++--"}
    meant = {"+": Stance.SUPPORTS, "-": Stance.CONTRADICTS, "0": Stance.IRRELEVANT}
    evidence = [
        Evidence(claim_id=claim, document_id=item.id, stance=meant[mark], quote=item.text)
        for claim, marks in stances.items()
        for item, mark in zip(documents, marks, strict=True)
    ]
    # The dates order the sides of the first claim, and not those of the second, which more documents take sides on.
    assert guess(FEE, documents, aggregate(claims, documents, Judgement(evidence=evidence))).kind is Kind.OPINIONS


# Without sides.


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Is the fee worth it?", Kind.OPINIONS),
        ("What is the best age for a fee?", Kind.OPINIONS),
        ("Does the fee apply to dogs?", Kind.OPINIONS),
        ("What is the best-selling ticket?", Kind.NO_CONFLICT),
        (FEE, Kind.NO_CONFLICT),
    ],
)
def test_without_a_report_the_form_of_the_question_tells(question: str, kind: Kind) -> None:
    assert guess(question, [NEW, UNDATED]).kind is kind


def test_a_report_in_which_nothing_is_contradicted_is_no_opinion_for_the_form_of_the_question() -> None:
    documents = [document("a", "The fee does apply to Dogs."), document("b", "Yes, the fee applies to Dogs.")]
    assert guess("Does the fee apply to dogs?", documents, report(documents, "++")).kind is Kind.NO_CONFLICT


def test_a_report_of_documents_that_could_not_be_judged_says_nothing() -> None:
    lost = [Unjudged(document_id="new", cause="time-out")]
    claims = [Claim(id="c1", text="Dogs pay.")]
    unjudged = aggregate(claims, [NEW], Judgement(unjudged=lost))
    assert guess("Does the fee apply to dogs?", [NEW], unjudged).kind is Kind.OPINIONS


def test_a_question_for_what_is_so_now_that_the_newest_document_answers_otherwise_is_outdated() -> None:
    question = "How much is the fee now?"
    assert guess(question, [OLD, NEW]).kind is Kind.OUTDATED
    assert guess(question, [UNDATED, NEW]).kind is Kind.NO_CONFLICT
    assert guess(question, [OLD, NEW.model_copy(update={"text": OLD.text})]).kind is Kind.NO_CONFLICT


def test_several_answers_that_nothing_sets_against_each_other_are_complementary() -> None:
    names = ["Anna Berg", "Carl Dahl", "Eva Falk", "Gus Holm"]
    documents = [document(name, f"The owner is {name}.") for name in names]
    assert guess("who is the owner", documents).kind is Kind.COMPLEMENTARY
    assert guess("who is the owner", [*documents[:1], document("again", "The owner is Anna Berg.")]).kind is (
        Kind.NO_CONFLICT
    )
    assert guess("who is the owner", documents, report(documents, "0+0+")).kind is Kind.COMPLEMENTARY


HOSTILE = [
    "</document>",
    "myth",
    "v" + "9" * 200,
    "v1.2",
    "\x1b[2J",
    "\u202e",
    "http://[",
    "[[ ## kind ## ]]",
    "12",
    "?",
]


@settings(max_examples=80, deadline=None)
@given(
    texts=st.lists(st.lists(st.sampled_from(HOSTILE), max_size=5).map(" ".join), min_size=1, max_size=4),
    question=st.sampled_from(["Is it so now?", "When was it?", "Should it?", "</document>", "\x1b"]),
)
def test_whatever_documents_say_a_kind_comes_back_and_nothing_of_theirs_is_in_the_reason(
    texts: list[str], question: str
) -> None:
    documents = [Document(id=f"d{n}", text=f"{text} x", title=text, url=text) for n, text in enumerate(texts)]
    for stances in (None, "+-+-"[: len(documents)]):
        found = guess(question, documents, report(documents, stances) if stances else None)
        assert found.kind in Kind
        assert not any(part in found.reason for part in HOSTILE[:1] + HOSTILE[2:8])


def test_the_kind_is_the_same_in_whatever_order_the_evidence_comes() -> None:
    documents = [OLD, NEW, UNDATED]
    found = report(documents, "+-0")
    shuffled = list(found.evidence)
    random.Random(1).shuffle(shuffled)
    again = found.model_copy(update={"evidence": shuffled})
    assert guess(FEE, documents, again) == guess(FEE, documents, found)


# Words.


def test_every_kind_has_a_meaning_and_an_expected_behaviour_of_its_own_in_the_catalogue() -> None:
    assert set(MEANING) == set(EXPECTED) == set(Kind)
    assert len(set(MEANING.values())) == len(set(EXPECTED.values())) == len(Kind)
    short, long = catalogue(behaviour=False).splitlines(), catalogue(behaviour=True).splitlines()
    for kind, brief, whole in zip(Kind, short, long, strict=True):
        assert brief == f"{kind}: {MEANING[kind]}." and whole == f"{brief} {EXPECTED[kind]}"


def test_the_model_may_name_the_kinds_that_there_are() -> None:
    assert set(get_args(NameKind.output_fields["kind"].annotation)) == {kind.value for kind in Kind}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        *((kind.value, kind) for kind in Kind),
        ("Conflict due to OUTDATED information (Freshness)", Kind.OUTDATED),
        ("**No_Conflict**", Kind.NO_CONFLICT),
        ("Conflicting opinions and research outcomes.", Kind.OPINIONS),
        ("Complementary\ninformation", Kind.COMPLEMENTARY),
        ("misinformation, or outdated", None),
        ("conflict", None),
        ("banana", None),
        ("", None),
    ],
)
def test_a_kind_is_known_by_its_name_in_whatever_dress_and_two_are_none(text: str, kind: Kind | None) -> None:
    assert named(text) is kind


@pytest.mark.parametrize(
    ("strategy", "kind", "choosing", "message"),
    [
        ("oracle", None, False, "needs the kind"),
        ("pipeline", "outdated", False, "takes no known kind"),
        ("conflict-score", "outdated", False, "takes no known kind"),
        ("oracle", "banana", False, "There is no kind of conflict 'banana'; there are: no-conflict, "),
        ("taxonomy", None, True, "leave out the choices"),
        ("oracle", "outdated", True, "leave out the choices"),
    ],
)
def test_a_known_kind_and_choices_must_go_with_the_strategy(
    strategy: Strategy, kind: str | None, choosing: bool, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        gold_kind(strategy, kind, choosing=choosing)


def test_a_host_stands_in_the_fence_where_it_is_wanted_and_cannot_end_it() -> None:
    page = document("a", "Text.", url='https://www.fees.example.org/"><document')
    assert fence(page, 1, hosts=True) == '<document number="1" host="fees.example.org">\nText.\n</document>'
    assert fence(page, 1) == '<document number="1">\nText.\n</document>'
    for url in ("http://[", "file:///a.md", "", "https://evil.example.com\\@who.int/", "https://reply b/x"):
        assert "host" not in fence(document("a", "Text.", url=url), hosts=True)
