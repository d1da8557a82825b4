"""Contradictions in a folder of documents."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from regen.check import CheckReport, Finding, _once_each, check
from regen.errors import ConfigurationError, InputError, ProviderError
from regen.neighbors import Neighbors
from regen.types import Claim, Document, Evidence, Judgement, Stance

EXAMPLES = Path(__file__).parent.parent / "examples"


def folder(tmp_path: Path, **texts: str) -> Path:
    """A folder of documents by name: the title and date above a line of dashes, if any, then the text."""
    home = tmp_path / "docs"
    home.mkdir(exist_ok=True)
    for name, text in texts.items():
        (home / f"{name}.md").write_text(text, encoding="utf-8")
    return home


def dated(day: str, title: str, text: str) -> str:
    return f"---\ntitle: {title}\ndate: {day}\n---\n{text}\n"


def pairs(report: CheckReport) -> list[tuple[str, str]]:
    return [(one.sides[0].document, one.sides[1].document) for one in report.findings]


def test_two_documents_that_contradict_each_other_are_found_with_quotes_dates_and_the_newer_one(tmp_path: Path) -> None:
    docs = folder(
        tmp_path,
        a=dated("2025-04-15", "Changes", "Hello.\n\n# Limits\nThe API of Tide now allows 500 requests a minute."),
        b=dated("2023-02-08", "Limits", "The API of Tide allows 100 requests a minute. Ask for more."),
        c="Lunch is at noon on Tuesdays.",
    )
    report = check(docs)
    (found,) = report.findings
    assert (found.kind, found.difference, found.newer) == (
        "number",
        "numbers differ: 100 requests / 500 requests",
        "second",
    )
    assert [(side.document, str(side.published), side.title) for side in found.sides] == [
        ("b.md", "2023-02-08", "Limits"),
        ("a.md", "2025-04-15", "Changes"),
    ]
    assert all(side.quote in (docs / side.document).read_text() for side in found.sides)
    assert (report.documents, report.document_pairs, report.suspected) == (3, 3, 1)


@pytest.mark.parametrize(
    ("first", "second", "newer"),
    [("date: 2025-01-01", "date: 2025-01-01", "same day"), ("date: 2025-01-01", "title: X", "undated")],
)
def test_which_is_newer_is_not_guessed(tmp_path: Path, first: str, second: str, newer: str) -> None:
    docs = folder(
        tmp_path,
        a=f"---\n{first}\n---\nA parcel costs $5 to send.",
        b=f"---\n{second}\n---\nA parcel costs $9 to send.",
    )
    (found,) = check(docs).findings
    assert (found.newer, [side.document for side in found.sides]) == (newer, ["a.md", "b.md"])


def test_the_same_sentence_in_several_documents_is_one_finding(tmp_path: Path) -> None:
    docs = folder(
        tmp_path,
        a="The guest network needs a password.",
        b="Intro. The guest network needs a password.",
        c="The guest network needs no password.",
        d="The guest network needs a password. The guest network needs no password.",
    )
    (found,) = check(docs).findings
    assert sorted([found.sides[0].document, *found.sides[0].also]) == ["a.md", "b.md"]
    assert (found.sides[1].document, found.sides[1].also) == ("c.md", [])


@pytest.mark.parametrize(
    ("titles", "texts"),
    [
        (
            ("Results 2023", "Results 2024"),
            ("The shops had a revenue of $4 million.", "The shops had a revenue of $5 million."),
        ),
        (("Manual of Kestrel", "Manual of Osprey"), ("The battery lasts 5 hours.", "The battery lasts 9 hours.")),
        (("Parking for visitors", "Parking for tenants"), ("A day costs $5 here.", "A day costs $9 here.")),
        (("Kestrel", "Osprey"), ("This page is checked twice a year.", "This page is checked every week.")),
    ],
)
def test_titles_tell_what_a_sentence_is_about(tmp_path: Path, titles: Sequence[str], texts: Sequence[str]) -> None:
    def found(*titles: str) -> int:
        a, b = (dated("2025-01-01", *one) for one in zip(titles, texts, strict=True))
        docs = folder(tmp_path, a=a, b=b, c="We sell Kestrel and Osprey.")
        return len(check(docs).findings)

    assert (found(titles[0], titles[0]), found(*titles)) == (1, 0)


REST = "We bake in the oven, park in the garage, and travel on an expense account with our settings for security."


@pytest.mark.parametrize(
    ("titles", "texts"),
    [
        (("Apple crumble", "Potato gratin"), ("Bake for 30 minutes.", "Bake for 45 minutes.")),
        (("Brimley", "Oxhaven"), ("The town has 5,000 inhabitants.", "The town has 9,000 inhabitants.")),
        (
            ("Guide to Brimley", "Guide to Oxhaven"),
            ("The public harbor opens at 8 a.m. for ships.", "The public harbor opens at 9 a.m. for ships."),
        ),
        (
            ("Job posting: nurse", "Job posting: driver"),
            ("A driving license is required.", "A driving license is not required."),
        ),
        (("Event: summer party", "Event: winter ball"), ("Doors open at 6 p.m. here.", "Doors open at 8 p.m. here.")),
        (("App for tablets", "App for watches"), ("The app needs 80 MB of space.", "The app needs 120 MB of space.")),
        (("Breeza desk fan", "Gustaf tower fan"), ("The guarantee lasts 3 years.", "The guarantee lasts 2 years.")),
        (
            ("Pottery", "Watercolor"),
            (
                "All materials are included in the price. Groups of the course have 10 members.",
                "All materials are not included in the price. Groups of the course have 14 members.",
            ),
        ),
    ],
)
def test_titles_of_two_things_of_one_kind_tell_them_apart(
    tmp_path: Path, titles: Sequence[str], texts: Sequence[str]
) -> None:
    def found(*titles: str) -> int:
        a, b = (f"# {title}\n\n{text}\n" for title, text in zip(titles, texts, strict=True))
        return len(check(folder(tmp_path, a=a, b=b, c=REST)).findings)

    assert found(titles[0], titles[0]) > 0
    assert found(*titles) == 0


@pytest.mark.parametrize(
    ("titles", "texts"),
    [
        (("Travel policy 2023", "Expenses FAQ"), ("Hotel nights cost up to $150.", "Hotel nights cost up to $180.")),
        (("Business trips", "Claiming expenses"), ("Hotel nights cost up to $150.", "Hotel nights cost up to $180.")),
        (
            ("Wiki: build pipeline", "Announcement: continuous integration"),
            ("Old artifacts are deleted after 14 days.", "From now on old artifacts are deleted after 60 days."),
        ),
        (("Account settings", "Account security"), ("Passwords last for 90 days.", "Passwords last for 60 days.")),
        (("Parking", "Security"), ("The garage closes at 8 p.m.", "The garage closes at 10 p.m.")),
        (("Waste collection", "Garden"), ("Waste is collected every week.", "Waste is collected every month.")),
        (
            ("Pasta", "Sauce"),
            ("Simmer for 20 minutes on the stove.", "Serve it over pasta. Simmer for 50 minutes on the stove."),
        ),
        (
            ("Vans", "Travel"),
            (
                "Guests pay $5. Lunch lasts 30 minutes. The garage is near the old oven. Bring a coat in winter."
                " Keys hang by the door. Ask Jo for maps. Take the stairs at night. Smile at the camera. Lock up.",
                "Guests pay $9. Lunch lasts 60 minutes. Doors are blue. Bees live on the roof. Ravens like bread."
                " Snow falls early here. The lamp is dim. Nobody whistles. Sing along. Bread is baked at dawn.",
            ),
        ),
        (
            ("Visiting rules", "New brochure"),
            ("Guests pay $5. Lunch lasts 30 minutes.", "Guests pay $9. Lunch lasts 60 minutes."),
        ),
    ],
)
def test_titles_of_two_texts_on_one_thing_hide_no_contradiction(
    tmp_path: Path, titles: Sequence[str], texts: Sequence[str]
) -> None:
    a, b = (f"# {title}\n\n{text}\n" for title, text in zip(titles, texts, strict=True))
    assert check(folder(tmp_path, a=a, b=b, c=REST)).findings


@pytest.mark.parametrize(
    ("titles", "count"),
    [
        (("Nurse", "Driver", "Cook"), 0),
        (("Pay policy", "Questions on pay", "Announcement: pay"), 3),
        (("Pay", "New pay", "Money"), 3),
    ],
)
def test_what_three_documents_say_in_three_ways_is_of_three_things_unless_they_are_of_several_sorts(
    tmp_path: Path, titles: Sequence[str], count: int
) -> None:
    texts = {f"d{amount}": f"# {title}\n\nThe yearly salary is ${amount}.\n" for amount, title in enumerate(titles, 40)}
    assert (
        len(check(folder(tmp_path, **texts, rest="A cook can be a nurse. A driver can cook. They pay money.")).findings)
        == count
    )


def test_the_examples_contradictions_are_found_and_nothing_else() -> None:
    """The handbook has five planted conflicts (`benchmarks/handbook.jsonl`), the other folder three."""
    handbook = check(EXAMPLES / "company-handbook")
    assert {finding.sides[1].document for finding in handbook.findings} == {
        "engineering/2025-04-15-api-changelog.md",
        "finance/2025-06-10-restated-annual-revenue.md",
        "people/2025-02-05-all-hands-notes.txt",
        "products/2024-09-30-ftp-export-end-of-service.md",
        "wellbeing/how-much-water-to-drink.md",
    }
    three = check(EXAMPLES / "three-conflicts")
    assert {finding.sides[1].document for finding in three.findings} == {
        "policy/2025-11-03-company-laptops-only.md",
        "rate-limit/2026-01-26-release-notes.md",
        "revenue/2026-05-20-restated-revenue.md",
    }
    confidences = [finding.confidence for finding in handbook.findings]
    assert confidences == sorted(confidences, reverse=True)


class Scripted:
    """A judge that finds what a script says, or fails."""

    def __init__(self, script: Any) -> None:
        self.script, self.asked = script, list[tuple[str, str]]()

    def judge(self, claims: Sequence[Claim], documents: Sequence[Document], **how: Any) -> Judgement:
        self.asked.append((claims[0].text, documents[0].text))
        stance, confidence = self.script(documents[0].text)
        item = Evidence(claim_id="1", document_id=documents[0].id, stance=stance, confidence=confidence, reason="so")
        return Judgement(evidence=[item])


@pytest.fixture
def two_suspects(tmp_path: Path) -> Path:
    return folder(
        tmp_path,
        a="A parcel costs $5 to send. Badges are mandatory for guests.",
        b="A parcel costs $9 to send. Badges are optional for guests.",
    )


def test_a_judge_is_asked_about_what_seems_to_differ_alone(two_suspects: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = Scripted(lambda text: (Stance.CONTRADICTS if "$" in text else Stance.IRRELEVANT, 1.0))
    monkeypatch.setattr("regen.judges.make_judge", lambda name: said)
    report = check(two_suspects, "scripted")
    assert len(said.asked) == report.suspected == 2
    (found,) = report.findings
    (alone,) = [one for one in check(two_suspects).findings if one.kind == "number"]
    assert (found.reason, found.confidence) == ("so", pytest.approx((alone.confidence + 1) / 2, abs=0.001))


def test_a_judge_that_fails_on_a_pair_is_a_warning_and_on_all_of_them_an_error(
    two_suspects: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def sometimes(text: str) -> tuple[Stance, float]:
        if "$" in text or every:
            raise ProviderError("It is down.")
        return Stance.CONTRADICTS, 0.9

    monkeypatch.setattr("regen.judges.make_judge", lambda name: Scripted(sometimes))
    every = False
    report = check(two_suspects, "scripted")
    assert ([one.kind for one in report.findings], report.unjudged, report.warnings) == (
        ["denial"],
        1,
        ["A pair of sentences was not judged: It is down."],
    )
    every = True
    with pytest.raises(ProviderError, match="It is down"):
        check(two_suspects, "scripted")


def test_a_folder_without_anything_to_compare_has_no_finding(tmp_path: Path) -> None:
    report = check(folder(tmp_path, a="Hm."))
    assert (report.documents, report.sentence_pairs, report.findings) == (1, 0, [])


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    docs = folder(tmp_path, a="A parcel costs $5 to send.", empty="")
    assert check(docs).warnings == ["empty.md was not read: it is empty."]
    with pytest.raises(InputError, match="does not exist"):
        check(tmp_path / "nowhere")
    with pytest.raises(ConfigurationError, match="There is no judge 'nobody'"):
        check(docs, "nobody")


def test_texts_of_common_words_alone_are_found_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regen.neighbors.COMMON", 1)
    texts = [{"api", "plan"}, {"api", "plan"}, {"api", "tea"}, {"plan", "tea"}]
    near = Neighbors(texts, [set()] * 4)
    assert (0, 1) in set(near.pairs(1, 0.2, lambda one, two: True))


def test_neighbors_are_those_with_most_words_in_common_and_common_words_find_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("regen.neighbors.COMMON", 3)
    texts = [{"the", "red", "fox"}, {"the", "red", "hen"}, {"the", "owl"}, {"the", "red", "fox", "den"}]
    near = Neighbors(texts, [set()] * 4)
    assert set(near.pairs(1, 0.0, lambda one, two: True)) == {(0, 3), (0, 1)}
    assert set(near.pairs(3, 0.0, lambda one, two: {one, two} != {0, 3})) == {(0, 1), (1, 3)}


def test_a_finding_is_left_out_only_for_one_that_is_shown(tmp_path: Path) -> None:
    one = check(folder(tmp_path, a="A parcel costs $5 to send.", b="A parcel costs $9 to send.")).findings[0]

    def of(first: str, second: str) -> Finding:
        sides = (side.model_copy(update={"quote": q}) for side, q in zip(one.sides, (first, second), strict=True))
        return one.model_copy(update={"sides": tuple(sides)})

    pairs = [("s1", "t1"), ("s1", "t2"), ("s2", "t2")]
    assert list(_once_each([of(*pair) for pair in pairs])) == [of("s1", "t1"), of("s2", "t2")]


def test_sentences_that_differ_in_a_sign_are_two(tmp_path: Path) -> None:
    docs = folder(tmp_path, a="Alarms sound above > 5 bar.", b="Alarms sound above < 5 bar.")
    assert check(docs).sentences == 2
