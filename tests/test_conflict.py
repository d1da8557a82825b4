"""Aggregation: from stances to CS-C and CS-R, checked by hand and by properties."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regen.conflict import aggregate
from regen.types import Claim, ConflictReport, Credibility, Document, Evidence, Judgement, Stance, Unjudged

QUOTE = "quoted words"
STANCE = {"+": "supports", "~": "supports", "-": "contradicts", "0": "irrelevant"}


def claims(count: int) -> list[Claim]:
    return [Claim(id=f"c{number}", text=f"Claim {number}.") for number in range(count)]


def documents(count: int) -> list[Document]:
    return [Document(id=f"d{number}", text=f"Document {number} has {QUOTE} in it.") for number in range(count)]


def stances(table: list[str]) -> list[Evidence]:
    """One row a claim, one mark a document: + supports, ~ supports in part, - contradicts, 0 irrelevant, blank none."""
    return [
        Evidence(
            claim_id=f"c{row}",
            document_id=f"d{column}",
            stance=Stance(STANCE[mark]),
            partial=mark == "~",
            quote="" if mark == "0" else QUOTE,
        )
        for row, marks in enumerate(table)
        for column, mark in enumerate(marks)
        if mark != " "
    ]


def report(table: list[str], **options: Any) -> ConflictReport:
    width = max(map(len, table), default=0)
    return aggregate(claims(len(table)), documents(width), Judgement(evidence=stances(table)), **options)


tables = st.integers(1, 5).flatmap(
    lambda width: st.lists(st.text("+~-0", min_size=width, max_size=width), min_size=1, max_size=6)
)


# By hand.


@pytest.mark.parametrize(
    ("table", "cs_c", "cs_r"),
    [
        (["++", "--"], 0.0, 0.5),  # one claim all for it (0/2), one all against it (2/2), none with both sides
        (["+-", "00"], 0.5, 0.25),  # (1/2 + 0) / 2
        (["+---", "+++-", "++00"], 2 / 3, (3 / 4 + 1 / 4 + 0) / 3),
        (["-"], 0.0, 1.0),
        (["0"], 0.0, 0.0),
    ],
)
def test_scores_are_those_worked_out_by_hand(table: list[str], cs_c: float, cs_r: float) -> None:
    found = report(table)
    assert (found.cs_c, found.cs_r) == pytest.approx((cs_c, cs_r))


VACCINATION = [
    Document(id="agency", text="Vaccination is recommended for everyone over the age of six months."),
    Document(id="school", text="All of us should get vaccinated, because that protects the whole community."),
    Document(id="clinic", text="People with a severe allergy to an ingredient should not be vaccinated."),
    Document(id="trial", text="Not everybody should get a live vaccine: it is unsafe when immunity is suppressed."),
]


def test_a_sweeping_answer_has_both_sides_against_it_in_the_shape_of_the_papers_figure_1() -> None:
    """The shape is that of Figure 1 of Liu et al. (2026), the texts are ours.

    Four documents on whether everybody should be vaccinated; two support and two contradict the one sweeping claim.
    So CS-C = 1/1 and CS-R = 2 / (2 + 2).
    """
    sweeping = Claim(id="c1", text="Everybody should be vaccinated.")
    evidence = [
        Evidence(
            claim_id="c1", document_id="agency", stance=Stance.SUPPORTS, quote="Vaccination is recommended for everyone"
        ),
        Evidence(claim_id="c1", document_id="school", stance=Stance.SUPPORTS, quote="All of us should get vaccinated"),
        Evidence(
            claim_id="c1",
            document_id="clinic",
            stance=Stance.CONTRADICTS,
            quote="People with a severe allergy to an ingredient should not be vaccinated.",
        ),
        Evidence(
            claim_id="c1",
            document_id="trial",
            stance=Stance.CONTRADICTS,
            quote="Not everybody should get a live vaccine",
        ),
    ]
    found = aggregate([sweeping], VACCINATION, Judgement(evidence=evidence))
    assert (found.cs_c, found.cs_r) == (1.0, 0.5)


def test_a_qualified_answer_that_nobody_contradicts_scores_0_and_0_in_the_shape_of_the_papers_figure_1() -> None:
    """The shape is that of Figure 1 of Liu et al. (2026), the texts are ours: one claim a side, none contradicted."""
    qualified = [
        Claim(id="c1", text="Most people are advised to get vaccinated."),
        Claim(id="c2", text="Some people with an allergy or suppressed immunity are advised not to."),
    ]
    quotes = {
        ("c1", "agency"): "Vaccination is recommended for everyone",
        ("c1", "school"): "All of us should get vaccinated",
        ("c2", "clinic"): "People with a severe allergy",
        ("c2", "trial"): "unsafe when immunity is suppressed",
    }
    evidence = [
        Evidence(
            claim_id=claim.id,
            document_id=document.id,
            stance=Stance.SUPPORTS if (claim.id, document.id) in quotes else Stance.IRRELEVANT,
            quote=quotes.get((claim.id, document.id), ""),
        )
        for claim in qualified
        for document in VACCINATION
    ]
    found = aggregate(qualified, VACCINATION, Judgement(evidence=evidence))
    assert (found.cs_c, found.cs_r) == (0.0, 0.0)


def test_a_response_without_claims_scores_0() -> None:
    found = aggregate([], documents(2), Judgement())
    assert (found.cs_c, found.cs_r, found.unjudged) == (0.0, 0.0, [])


def test_claims_with_both_sides_and_with_neither_are_named() -> None:
    found = report(["+-", "00", "++", "--"])
    assert (found.in_conflict, found.unverified) == (["c0"], ["c1"])


def test_sides_are_the_evidence_for_and_against() -> None:
    plus, minus = report(["+0-+"]).sides("c0")
    assert ([item.document_id for item in plus], [item.document_id for item in minus]) == (["d0", "d3"], ["d2"])


# Support.


def test_support_of_a_part_counts_by_default() -> None:
    assert report(["~-"]).cs_r == 0.5


def test_support_of_a_part_does_not_count_under_strict() -> None:
    found = report(["~-"], support="strict")
    assert (found.cs_c, found.cs_r, found.warnings) == (0.0, 1.0, [])


# Quotes.


def with_quote(quote: str, stance: Stance = Stance.CONTRADICTS, **options: Any) -> ConflictReport:
    evidence = [Evidence(claim_id="c0", document_id="d0", stance=stance, quote=quote)]
    return aggregate(claims(1), documents(1), Judgement(evidence=evidence), **options)


@pytest.mark.parametrize("quote", ["", "words that are nowhere in the document"])
def test_a_stance_without_a_quote_from_its_document_counts_as_irrelevant(quote: str) -> None:
    assert [item.stance for item in with_quote(quote).evidence] == [Stance.IRRELEVANT]


def test_a_stance_that_lost_its_quote_is_told_in_a_warning_that_names_the_document() -> None:
    (warning,) = with_quote("words that are nowhere in the document").warnings
    assert "d0" in warning and "1 of its stances" in warning and "irrelevant" in warning


def test_a_stance_without_a_quote_counts_where_quotes_are_not_checked() -> None:
    assert with_quote("", check_quotes=False).cs_r == 1.0


def test_a_quote_that_is_not_in_the_document_is_never_shown_as_one() -> None:
    (item,) = with_quote("words that are nowhere in the document", check_quotes=False).evidence
    assert item.quote == ""


def test_an_irrelevant_stance_shows_no_quote() -> None:
    (item,) = with_quote("words that are nowhere in the document", Stance.IRRELEVANT).evidence
    assert item.quote == ""


def test_support_of_a_part_that_strict_leaves_out_shows_no_quote() -> None:
    (item,) = report(["~"], support="strict").evidence
    assert item.quote == ""


def test_the_quote_of_the_report_is_the_documents_own_words() -> None:
    (item,) = with_quote("QUOTED   Words").evidence
    assert item.quote == "quoted words"


# What could not be judged.


def test_a_document_that_was_not_judged_is_told_with_its_cause() -> None:
    judgement = Judgement(evidence=stances(["+ "]), unjudged=[Unjudged(document_id="d1", cause="it timed out")])
    found = aggregate(claims(1), documents(2), judgement)
    assert found.unjudged == [Unjudged(document_id="d1", cause="it timed out")]
    assert found.warnings == ["Document d1 was not judged: it timed out."]


def test_a_document_without_a_stance_is_unjudged_and_not_irrelevant() -> None:
    found = report(["+ ", "+0"])
    assert [item.document_id for item in found.unjudged] == ["d1"]
    assert "1 of 2 claims" in found.unjudged[0].cause
    assert ("c0", "d1") not in {(item.claim_id, item.document_id) for item in found.evidence}


# Bad evidence.


@pytest.mark.parametrize(
    ("some_claims", "some_documents"),
    [([*claims(1), *claims(1)], documents(1)), (claims(1), [*documents(1), *documents(1)])],
)
def test_ids_that_are_not_unique_are_an_error(some_claims: list[Claim], some_documents: list[Document]) -> None:
    with pytest.raises(ValueError, match="not unique"):
        aggregate(some_claims, some_documents, Judgement())


def test_two_stances_of_one_document_on_one_claim_are_an_error() -> None:
    with pytest.raises(ValueError, match="two stances"):
        aggregate(claims(1), documents(1), Judgement(evidence=[*stances(["+"]), *stances(["-"])]))


@pytest.mark.parametrize("table", [["0+"], ["0", "+"]])
def test_evidence_for_an_unknown_claim_or_document_is_an_error(table: list[str]) -> None:
    with pytest.raises(ValueError, match="unknown"):
        aggregate(claims(1), documents(1), Judgement(evidence=stances(table)))


# Properties.


@settings(max_examples=100, deadline=None)
@given(table=tables, seed=st.integers(0, 1000))
def test_the_order_of_claims_documents_and_evidence_never_matters(table: list[str], seed: int) -> None:
    shuffle = random.Random(seed).shuffle
    some_claims, some_documents, evidence = claims(len(table)), documents(len(table[0])), stances(table)
    expected = report(table)
    for items in (some_claims, some_documents, evidence):
        shuffle(items)
    found = aggregate(some_claims, some_documents, Judgement(evidence=evidence))
    assert (found.cs_c, found.cs_r) == (expected.cs_c, expected.cs_r)  # to the last digit
    assert sorted(found.in_conflict) == sorted(expected.in_conflict)
    assert sorted(found.unverified) == sorted(expected.unverified)


@settings(max_examples=100, deadline=None)
@given(table=tables)
def test_scores_are_the_definitions_worked_out_in_fractions(table: list[str]) -> None:
    sides = [(len(row) - row.count("0") - row.count("-"), row.count("-")) for row in table]
    ratios = [Fraction(minus, plus + minus) if plus + minus else Fraction(0) for plus, minus in sides]
    found = report(table)
    assert found.cs_c == float(Fraction(sum(bool(plus and minus) for plus, minus in sides), len(table)))
    assert found.cs_r == pytest.approx(float(sum(ratios) / len(ratios)), abs=1e-15)


@settings(max_examples=100, deadline=None)
@given(table=tables)
def test_cs_c_is_0_exactly_when_no_claim_has_both_sides(table: list[str]) -> None:
    found = report(table)
    both = [all(found.sides(claim.id)) for claim in found.claims]
    assert (found.cs_c == 0) == (not any(both))


@settings(max_examples=100, deadline=None)
@given(table=tables, more=st.integers(1, 4))
def test_documents_that_have_no_bearing_change_no_score(table: list[str], more: int) -> None:
    found, expected = report([row + "0" * more for row in table]), report(table)
    assert (found.cs_c, found.cs_r) == (expected.cs_c, expected.cs_r)


@settings(max_examples=100, deadline=None)
@given(table=tables)
def test_strict_support_finds_no_more_conflicts_and_never_a_lower_ratio(table: list[str]) -> None:
    # Taking documents out of D+ can only leave fewer claims with both sides, and raise |D-| / (|D+| + |D-|).
    strict, partial = report(table, support="strict"), report(table)
    assert strict.cs_c <= partial.cs_c
    assert strict.cs_r >= partial.cs_r


@settings(max_examples=60, deadline=None)
@given(table=tables, gone=st.integers(0, 4))
def test_a_document_that_failed_leaves_the_scores_of_the_others(table: list[str], gone: int) -> None:
    gone %= len(table[0])
    evidence = [item for item in stances(table) if item.document_id != f"d{gone}"]
    failed = [Unjudged(document_id=f"d{gone}", cause="it timed out")]
    found = aggregate(claims(len(table)), documents(len(table[0])), Judgement(evidence=evidence, unjudged=failed))
    expected = report([row[:gone] + row[gone + 1 :] for row in table])
    assert (found.cs_c, found.cs_r, found.unjudged) == (expected.cs_c, expected.cs_r, failed)


# Weights.


def weighed(weights: list[float]) -> list[Credibility]:
    return [
        Credibility(document_id=f"d{place}", weight=weight, reason="a reason", source="list")
        for place, weight in enumerate(weights)
    ]


some_weights = st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0]), min_size=5, max_size=5)


def test_weighted_cs_r_is_that_worked_out_by_hand() -> None:
    # 0.5 / (1 + 0.7 + 0.5) and 0.7 / (0.5 + 0.7), then one claim that nobody speaks of.
    found = report(["++-", "0-+", "000"], credibility=weighed([1.0, 0.7, 0.5]))
    assert found.cs_r_weighted == pytest.approx((0.5 / 2.2 + 0.7 / 1.2 + 0) / 3)
    assert found.cs_r == pytest.approx((1 / 3 + 1 / 2) / 3)


def test_without_credibility_there_is_no_weighted_cs_r() -> None:
    found = report(["+-"])
    assert (found.cs_r_weighted, found.credibility, found.discounted) == (None, [], [])


def test_a_document_without_a_weight_weighs_1() -> None:
    found = report(["+-"], credibility=weighed([0.5]))
    assert found.cs_r_weighted == pytest.approx(1 / 1.5)


def test_evidence_below_the_threshold_stays_and_counts_for_no_side() -> None:
    found = report(["+--", "0-0"], credibility=weighed([1.0, 0.2, 0.3]), threshold=0.3)
    assert (found.discounted, found.in_conflict, found.unverified) == (["d1"], ["c0"], ["c1"])
    assert (found.cs_c, found.cs_r) == (0.5, 0.25)
    assert len(found.evidence) == 6
    assert [item.document_id for item in found.not_counted("c0")] == ["d1"]
    assert [item.document_id for item in found.sides("c0")[1]] == ["d2"]
    assert found.warnings == [
        "Document d1 was discounted: its weight is below 0.3, so what it says counts for no side."
    ]


@pytest.mark.parametrize(
    ("credibility", "words"),
    [(weighed([1.0, 1.0, 1.0]), "unknown document"), ([*weighed([1.0]), *weighed([0.5])], "not unique")],
)
def test_credibility_of_an_unknown_document_or_twice_of_one_is_an_error(
    credibility: list[Credibility], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        report(["+-"], credibility=credibility)


@settings(max_examples=100, deadline=None)
@given(table=tables, weight=st.floats(0.001, 1))
def test_with_all_weights_equal_the_weighted_cs_r_is_the_plain_one(table: list[str], weight: float) -> None:
    found = report(table, credibility=weighed([weight] * len(table[0])))
    assert found.cs_r_weighted == found.cs_r == report(table).cs_r  # to the last digit


@settings(max_examples=100, deadline=None)
@given(table=tables, weights=some_weights, threshold=st.sampled_from([0.0, 0.3, 0.6]), seed=st.integers(0, 1000))
def test_the_order_of_anything_never_matters_to_weighted_scores(
    table: list[str], weights: list[float], threshold: float, seed: int
) -> None:
    shuffle = random.Random(seed).shuffle
    credibility = weighed(weights[: len(table[0])])
    expected = report(table, credibility=credibility, threshold=threshold)
    some_claims, some_documents, evidence = claims(len(table)), documents(len(table[0])), stances(table)
    for items in (some_claims, some_documents, evidence, credibility):
        shuffle(items)
    judgement = Judgement(evidence=evidence)
    found = aggregate(some_claims, some_documents, judgement, credibility=credibility, threshold=threshold)
    assert (found.cs_c, found.cs_r, found.cs_r_weighted) == (expected.cs_c, expected.cs_r, expected.cs_r_weighted)
    assert sorted(found.discounted) == sorted(expected.discounted)


@settings(max_examples=100, deadline=None)
@given(table=tables, weights=some_weights, threshold=st.sampled_from([0.0, 0.3, 0.6]))
def test_weighted_cs_r_is_the_definition_worked_out_in_fractions(
    table: list[str], weights: list[float], threshold: float
) -> None:
    kept = [Fraction(str(weight)) if weight >= threshold else Fraction(0) for weight in weights]
    ratios = []
    for row in table:
        minus = sum(weight for mark, weight in zip(row, kept, strict=False) if mark == "-")
        both = minus + sum(weight for mark, weight in zip(row, kept, strict=False) if mark in "+~")
        ratios.append(Fraction(minus, both) if both else Fraction(0))
    found = report(table, credibility=weighed(weights[: len(table[0])]), threshold=threshold)
    assert found.cs_r_weighted == pytest.approx(float(sum(ratios) / len(ratios)), abs=1e-15)
    assert found.cs_r_weighted is not None and 0 <= found.cs_r_weighted <= 1


@settings(max_examples=100, deadline=None)
@given(table=tables, weights=some_weights, threshold=st.sampled_from([0.3, 0.6]))
def test_what_is_discounted_scores_as_if_it_had_no_bearing(
    table: list[str], weights: list[float], threshold: float
) -> None:
    aside = [place for place, weight in enumerate(weights) if weight < threshold]
    without = ["".join("0" if place in aside else mark for place, mark in enumerate(row)) for row in table]
    found = report(table, credibility=weighed(weights[: len(table[0])]), threshold=threshold)
    expected = report(without)
    assert (found.cs_c, found.cs_r, found.unverified) == (expected.cs_c, expected.cs_r, expected.unverified)
