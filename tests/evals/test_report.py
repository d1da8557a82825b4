"""The report of a run: that it shows everything, takes nothing for markup, and is the same for the same run."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from lxml import html

from eval_truthfulqa import plots, report, views
from eval_truthfulqa.items import ChoiceItem
from eval_truthfulqa.metrics import SETTINGS, Row, groups, paired
from eval_truthfulqa.results import Printed, Results, results
from regen.conflict import aggregate
from regen.errors import InputError
from regen.output import failure, schema_of
from regen.runs import Run
from regen.types import Answer, Claim, Decision, Document, Evidence, Judgement, Result, Round, Unjudged, Usage

HOSTILE = (
    '<script src="https://evil.example/x.js">alert(1)</script><img src="https://evil.example/i.png" onerror="alert(1)">'
    "\"'></svg></title></pre></style><style>*{display:none}</style> {{ 7 * 7 }} {% raw %} $\\frac$ ]]> | `x` "
    "![i](https://evil.example/i.png) [x](javascript:alert(1)) \x1b[31m\x00 \u202e\u2066gpj.exe\u200b \ufffe"
)

ADDRESS = "https://evil.example/\"onclick='alert(1)'><script>alert(1)</script>"


def item(number: int, *, category: str = "Law", extra: str = "") -> ChoiceItem:
    return ChoiceItem(
        id=f"i{number}{extra}",
        question=f"What is matter {number}? {extra}",
        choices=[f"true-{number}{extra}", f"false-{number}{extra}"],
        answer=0,
        category=category + extra,
        type="Adversarial" + extra,
    )


class World:
    """A run whose stages the test writes, and its report."""

    def __init__(self, run: Run) -> None:
        self.run = run

    def answer(
        self, one: ChoiceItem, first: int, second: int, *, text: str = "", extra: str = "", url: str = "", calm: int = 0
    ) -> None:
        """Keeps an item with three documents: two for its right choice, one against it (`calm`: none)."""
        right, wrong = one.choices
        says = [right, right, right if calm else wrong]
        documents = [
            Document(
                id=f"d{place}{extra}",
                text=f"Document {place} of {one.id}: {choice}.{text}",
                title=f"Page {place} of {one.id}{extra}",
                url=url or f"https://site-{place}.example/{one.id.strip()}",
                published="2024-05-06",
                source=f"serper{extra}",
            )
            for place, choice in enumerate(says, 1)
        ]
        found = {
            "documents": [document.model_dump(mode="json") for document in documents],
            "excluded": [f"https://answers.example/{one.id}{extra}"],
            "warnings": [f"A page could not be read.{extra}"],
        }
        self.run.keep(one.id, "retrieval", found, Usage())

        def scored(choice: int) -> tuple[Answer, Any]:
            evidence = [
                Evidence(
                    claim_id="c1",
                    document_id=document.id,
                    stance="supports" if said == one.choices[choice] else "contradicts",
                    quote=said,
                )
                for document, said in zip(documents, says, strict=True)
            ]
            report = aggregate([Claim(id="c1", text=one.choices[choice])], documents, Judgement(evidence=evidence))
            return Answer(text=one.choices[choice], choice=choice), report

        (answer, before), (again, after) = scored(first), scored(second)
        decision = Decision(kept="first" if first == second else "regenerated", reason=f"because of {one.id}{extra}")
        tried = Round(feedback=f"Feedback on {one.id}{extra}", answer=again, report=after, decision=decision)
        result = Result(
            question=one.question,
            choices=one.choices,
            answer=again,
            initial_answer=answer,
            initial_report=before,
            report=after,
            rounds=[] if calm else [tried],
            decision=decision,
            warnings=[f"A stance was dropped.{extra}"],
        )
        kept = {"order": [0, 1], "first": first, "choice": second, "first_usage": {}}
        kept["result"] = result.model_dump(mode="json", exclude={"documents"})
        self.run.keep(one.id, "regenerated", kept, Usage(calls=5))
        for name in ("closed", "control"):
            self.run.keep(one.id, name, {"order": [0, 1], "choice": first}, Usage(calls=1))

    def write(self, settings: Sequence[str] = SETTINGS, **how: Any) -> Results:
        found = results(self.run, settings, **{"complete": True, **how})
        report.write(self.run, found)
        return found

    @property
    def page(self) -> str:
        return (self.run.folder / "report.html").read_text(encoding="utf-8")

    @property
    def tree(self) -> Any:
        return html.document_fromstring(self.page)

    @property
    def markdown(self) -> str:
        return (self.run.folder / "report.md").read_text(encoding="utf-8")


ITEMS = [item(number, category="Law" if number < 5 else "Health") for number in range(1, 7)]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """Six items: one mended, one spoiled, one wrong and one right in both, one failed, one that nothing contradicts."""
    config = {"model": "scripted/x", "seed": 0, "settings": list(SETTINGS)}
    data = [(one.id, one.model_dump(mode="json")) for one in ITEMS]
    with Run.begin(tmp_path / "run", "truthfulqa", config, data) as run:
        made = World(run)
        for one, first, second in zip(ITEMS, (1, 0, 1, 0), (0, 1, 1, 0), strict=False):
            made.answer(one, first, second)
        run.fail("i5", "retrieval", "The search is down.", 4)
        made.answer(ITEMS[5], 0, 0, calm=1)
        yield made


def words(element: Any) -> str:
    return " ".join(element.text_content().split())


def test_every_item_is_there_under_its_kind(world: World) -> None:
    world.write()
    questions = {
        group.get("id"): re.findall(r"What is matter (\d)\?", group.text_content())
        for group in world.tree.iterfind(".//details[@class='kind']/div")
    }
    assert questions == {"mended": ["1"], "spoiled": ["2"], "wrong": ["3"], "right": ["4", "6"], "failed": ["5"]}


def test_an_item_shows_both_answers_the_evidence_the_feedback_the_decision_and_the_documents(world: World) -> None:
    world.write()
    shown = words(world.tree.get_element_by_id("item-1"))
    for text in (
        "i1, Law, CS-R 0.67 to 0.33, in conflict",
        "right: true-1 wrong: false-1",
        "closed wrong: false-1",
        "rag wrong: false-1",
        "regenerated right: true-1",
        "First answer wrong: false-1 CS-R 0.67 [3] supports it: \u201cfalse-1\u201d [1] contradicts it",
        "Answered again The feedback that was given Feedback on i1 right: true-1 CS-R 0.33 [1] supports it",
        "The regenerated answer was kept: because of i1.",
        "[2] Page 2 of i1 2024-05-06, serper https://site-2.example/i1 Document 2 of i1: true-1",
        "A page could not be read.",
        "A stance was dropped.",
        "found and taken out: https://answers.example/i1",
    ):
        assert text in shown
    assert "The same answer, so the same evidence." in words(world.tree.get_element_by_id("item-4"))
    assert "The search is down." in words(world.tree.get_element_by_id("item-5"))


def test_what_was_not_judged_is_named(world: World) -> None:
    documents = [Document(id="a", text="It is so."), Document(id="b", text="It is not.")]
    judgement = Judgement(
        evidence=[Evidence(claim_id="c1", document_id="a", stance="irrelevant")],
        unjudged=[Unjudged(document_id="b", cause="the judge went away")],
    )
    scored = aggregate([Claim(id="c1", text="It is so.")], documents, judgement)
    answer = Answer(text="true-1", choice=0)
    result = Result(
        question="What?",
        answer=answer,
        initial_answer=answer,
        initial_report=scored,
        report=scored,
        decision=Decision(kept="first", reason="no document contradicts it"),
    )
    (attempt,) = views._attempts(result, [0, 1], ITEMS[0], documents)
    assert attempt.unjudged == [(2, "the judge went away")]
    assert attempt.claims[0].irrelevant == [1]
    assert attempt.decision == "The first answer was kept: no document contradicts it."


def test_a_document_that_is_cut_says_so(world: World) -> None:
    world.answer(ITEMS[4], 0, 0, text=" long" * 1000)
    world.write()
    shown = words(world.tree.get_element_by_id("item-5"))
    # "Document 1 of i5: true-5." and "Document 3 of i5: false-5." before 5,000 characters.
    assert shown.count("Cut: the first 2,000 of 5,025 characters.") == 2
    assert shown.count("Cut: the first 2,000 of 5,026 characters.") == 1
    assert "Cut:" not in words(world.tree.get_element_by_id("item-4"))
    texts = [pre.text_content() for pre in world.tree.iterfind(".//details[@class='document']/pre")]
    assert max(map(len, texts)) == 2000


def test_many_documents_share_what_a_browser_opens(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    # Five items with three documents each: 150 characters, ten for each.
    monkeypatch.setattr(views, "_ALTOGETHER", 150)
    world.write()
    texts = [pre.text_content() for pre in world.tree.iterfind(".//details[@class='document']/pre")]
    assert set(texts) == {"Document 1", "Document 2", "Document 3"}
    assert "Cut: the first 10 of" in words(world.tree.get_element_by_id("item-1"))


@pytest.fixture
def hostile(tmp_path: Path) -> World:
    """A run in which every text that comes from elsewhere is markup, escapes and marks that turn writing around."""
    items = [item(number, extra=HOSTILE) for number in (1, 2, 3)]
    config = {
        "model": HOSTILE,
        "seed": 0,
        "exclude_sites": [HOSTILE],
        "answer_keys": "taken out",
        "part": {"x": HOSTILE},
    }
    data = [(one.id, one.model_dump(mode="json")) for one in items]
    with Run.begin(tmp_path / "hostile", HOSTILE, config, data) as run:
        made = World(run)
        made.answer(items[0], 1, 0, text=HOSTILE, extra=HOSTILE, url="javascript:alert(1)" + HOSTILE)
        made.answer(items[1], 0, 1, text=HOSTILE, extra=HOSTILE, url=ADDRESS)
        run.fail(items[2].id, "retrieval", HOSTILE, 4)
        made.write(complete=False, stopped=HOSTILE, notes=[HOSTILE])
    return made


def test_no_text_is_taken_for_markup(hostile: World) -> None:
    tags = {element.tag for element in hostile.tree.iter() if isinstance(element.tag, str)}
    assert not tags & {"script", "img", "iframe", "object", "link", "form", "base"}
    attributes = {name for element in hostile.tree.iter() for name in element.attrib}
    assert not [name for name in attributes if name.startswith("on") or name in ("src", "action", "formaction")]
    assert len(hostile.tree.findall(".//style")) == 1
    assert "49" not in hostile.tree.find(".//h1").text_content()
    assert hostile.page.count("&lt;script src=") > 50
    assert "<script" not in hostile.markdown and "<img" not in hostile.markdown
    assert "](" not in hostile.markdown and "![" not in hostile.markdown


def test_only_addresses_of_the_web_are_followed(hostile: World) -> None:
    followed = {link.get("href") for link in hostile.tree.iterfind(".//a")}
    assert {link for link in followed if not link.startswith("#")} == {ADDRESS}
    assert "javascript:alert(1)" in words(hostile.tree.get_element_by_id("item-1"))


def test_a_link_says_nothing_of_who_follows_it(world: World) -> None:
    world.write()
    links = [link for link in world.tree.iterfind(".//a") if not link.get("href").startswith("#")]
    assert len(links) == 15
    assert {(link.get("rel"), link.text_content() == link.get("href")) for link in links} == {
        ("noopener noreferrer nofollow", True)
    }


@pytest.mark.parametrize("name", ["report.html", "report.md"])
def test_no_character_moves_a_terminal_or_turns_the_writing_around(hostile: World, name: str) -> None:
    text = (hostile.run.folder / name).read_text(encoding="utf-8")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u200b\u202a-\u202e\u2066-\u2069]", text)
    assert "gpj.exe" in text


def test_the_page_may_run_and_load_nothing(world: World) -> None:
    world.write()
    (policy,) = world.tree.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert policy == "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    assert world.page.index("Content-Security-Policy") < world.page.index("<style>")
    assert "@import" not in world.page
    assert set(re.findall(r"url\((.)", world.page)) == {"#"}


def test_each_plot_can_be_read_without_being_seen(world: World) -> None:
    world.write()
    said = {}
    for plot in world.tree.iterfind(".//svg"):
        assert plot.get("role") == "img"
        said[words(world.tree.get_element_by_id(plot.get("aria-labelledby")))] = words(
            world.tree.get_element_by_id(plot.get("aria-describedby"))
        )
    # `regenerated` is right on items 1, 4 and 6 of five. In conflict are 1 to 4: 1 and 3 wrong at first, 1 mended; 2
    # and 4 right at first, 2 spoiled. CS-R first: 2/3 for 1 and 3, 1/3 for 2 and 4, 0 for 6; kept: 1 and 2 swap.
    assert "regenerated: 60.0% of 5, 95% interval 23.1 to 88.2%." in said["Accuracy by setting"]
    assert said["Improve rate and harm rate by category"] == (
        "Law: 4 in conflict, improve rate 1 of 2, harm rate 1 of 2."
    )
    assert said["CS-R of the first answers and of those kept"].startswith(
        "CS-R 0: 1 by the first answer, 1 by the answer kept; CS-R 0 to 0.25: 0 by the first answer"
    )
    assert "CS-R 0.25 to 0.5: 2 of 2" not in said["Accuracy of rag by the CS-R of its answer"]
    assert len(said) == 4


def test_categories_without_a_conflict_are_left_out_of_the_plot_and_named(world: World) -> None:
    world.write()
    assert "Left out, since nothing in them is in conflict: Health." in words(world.tree)
    (plot,) = world.tree.xpath("//svg[@class='rates']")
    labels = [text.text_content() for text in plot.iterfind(".//text")]
    assert "Law (4)" in labels and not [label for label in labels if "Health" in label]


def test_plots_take_every_colour_from_the_page_and_refer_to_nothing_else(world: World) -> None:
    world.write()
    shown = world.tree.xpath("//svg")
    styles = "; ".join(style for plot in shown for style in plot.xpath(".//@style"))
    assert set(re.findall(r"(?:fill|stroke): ([^;]+)", styles)) <= {
        f"var(--{name})" for name in ("text", "soft", "line", "bar", "good", "bad")
    } | {"none"}
    assert "font-family" not in styles
    ids = world.tree.xpath("//@id")
    assert len(ids) == len(set(ids))
    refers = {link.removeprefix("#") for link in world.tree.xpath("//@href") if link.startswith("#")}
    refers |= set(re.findall(r"url\(#([^)]+)\)", world.page))
    assert refers <= set(ids)


def test_a_plot_is_the_same_whatever_matplotlib_is_told(world: World) -> None:
    import matplotlib

    found = world.write()
    before = plots.rates("rates", "Rates", found.categories)
    with matplotlib.rc_context({"svg.fonttype": "path", "font.size": 30, "axes.facecolor": "black"}):
        assert plots.rates("rates", "Rates", found.categories) == before
        assert matplotlib.rcParams["font.size"] == 30


def test_nothing_to_plot_is_no_plot() -> None:
    rows = [Row(id="1", right=0, category="Law", answers={"rag": 0})]
    assert plots.shares("a", "A", []) == ""
    assert plots.rates("a", "A", groups(rows, ["rag"], lambda row: row.category)) == ""
    assert plots.cs_r("a", "A", rows) == ""


def test_the_same_run_gives_the_same_report(world: World) -> None:
    world.write()
    names = ("report.html", "report.md", "results.json")
    first = [(world.run.folder / name).read_bytes() for name in names]
    code = (
        "import sys; from pathlib import Path; from regen.runs import Run; from eval_truthfulqa import report\n"
        "from eval_truthfulqa.results import results; from eval_truthfulqa.metrics import SETTINGS\n"
        "run = Run.read(Path(sys.argv[1])); report.write(run, results(run, SETTINGS, complete=True))"
    )
    subprocess.run([sys.executable, "-c", code, str(world.run.folder)], check=True)
    assert [(world.run.folder / name).read_bytes() for name in names] == first


def test_settings_without_answering_again_have_a_report_too(world: World) -> None:
    world.write(["closed"])
    kinds = [words(kind) for kind in world.tree.iterfind(".//details[@class='kind']/summary")]
    # Items 1 and 3 are wrong, 2, 4 and 6 right, and of 5 only the retrieval was tried.
    assert kinds == ["Wrong 2", "Right 3", "Without an answer 1"]
    assert [plot.get("class") for plot in world.tree.iterfind(".//svg")] == ["accuracy"]


def test_items_that_a_stopped_run_has_not_come_to_are_counted(world: World) -> None:
    world.run._db.execute("DELETE FROM failures")
    world.write(complete=False, stopped="The limit of 20 calls is reached.")
    assert "Every item that was asked; 1 was not." in words(world.tree)


def test_results_json_is_what_its_schema_says(world: World) -> None:
    world.write()
    found = json.loads((world.run.folder / "results.json").read_text(encoding="utf-8"))
    schema = schema_of(Results)
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(found, schema)
    assert set(schema["required"]) == set(found)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**found, "more": 1}, schema)


def test_what_eval_prints_is_what_its_schema_says(world: World) -> None:
    found = world.write()
    jsonschema.validate(json.loads(found.model_dump_json(exclude={"rows"})), schema_of(Printed))
    jsonschema.validate(json.loads(failure(InputError("No.")).model_dump_json()), schema_of(Printed))


def test_the_command_line_does_not_wait_for_matplotlib() -> None:
    code = "import sys, regen.cli.app, eval_truthfulqa.report; sys.exit('matplotlib' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def row(number: int, rag: int, regenerated: int) -> Row:
    return Row(id=str(number), right=0, answers={"rag": rag, "regenerated": regenerated})


@pytest.mark.parametrize(
    ("rows", "shown"),
    [
        ([], "\u2013"),
        ([row(1, 0, 0), row(2, 1, 1)], "\u2013"),
        # One change: either way is as likely.
        ([row(1, 1, 0)], "1.0000"),
        # 2 / 2^6, and 2 / 2^16.
        ([row(number, 1, 0) for number in range(6)], "0.0312"),
        ([row(number, 1, 0) for number in range(16)], "< 0.0001"),
    ],
)
def test_a_test_over_no_change_is_a_dash(rows: list[Row], shown: str) -> None:
    assert report.p_value(paired(rows, "rag", "regenerated")) == shown
