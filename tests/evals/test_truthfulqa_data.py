"""TruthfulQA's data: what is taken for it, how it is fetched, and which part of it is asked."""

from __future__ import annotations

import json
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from evals_data import FIRST, write_truthfulqa

from eval_truthfulqa.data import COLUMNS, fetched, load, names_answers, quotas, read_questions, select
from regen.errors import InputError, ProviderError
from regen.paths import cache_dir


@pytest.fixture
def truthfulqa(tmp_path: Path) -> Path:
    """A file that passes for TruthfulQA's."""
    return write_truthfulqa(tmp_path / "TruthfulQA.csv")


class Host:
    """Serves one file on loopback, and counts how often."""

    def __init__(self, content: bytes) -> None:
        host = self
        self.content, self.asked = content, 0

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                host.asked += 1
                self.send_response(200)
                self.end_headers()
                self.wfile.write(host.content)

            def log_message(self, *_: object) -> None:
                """Not on the screen."""

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/TruthfulQA.csv"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()


@pytest.fixture
def host(truthfulqa: Path) -> Iterator[Host]:
    host = Host(truthfulqa.read_bytes())
    yield host
    host.server.shutdown()
    host.server.server_close()


def test_every_row_is_an_item_numbered_in_order(truthfulqa: Path) -> None:
    items = load(truthfulqa)
    assert (items[0].id, items[-1].id, len(items)) == ("tqa-1", "tqa-790", 790)
    assert (items[0].question, items[0].right, items[0].wrong) == (FIRST, "right 1", "wrong 1")


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (COLUMNS[4], "Wrong Answer", "other columns"),
        (FIRST, "What else?", "its first question is another one"),
        ("right 7,", ",", "line 8: 'Best Answer' is empty"),
        ("wrong 9,", "right 9,", "line 10: the right answer and the wrong one are the same"),
    ],
)
def test_another_file_is_refused(truthfulqa: Path, old: str, new: str, why: str) -> None:
    truthfulqa.write_text(truthfulqa.read_text().replace(old, new, 1))
    with pytest.raises(InputError, match=why):
        load(truthfulqa)


def test_a_file_of_another_length_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="817 rows, 790 expected"):
        load(write_truthfulqa(tmp_path / "old.csv", 817))


def test_it_is_fetched_once_and_then_taken_from_the_cache(host: Host) -> None:
    first = fetched(host.url)
    assert fetched(host.url) == first
    assert (len(load(first)), host.asked) == (790, 1)
    assert [file.name for file in first.parent.iterdir()] == ["TruthfulQA.csv"]


def test_a_broken_copy_in_the_cache_is_fetched_anew(host: Host) -> None:
    fetched(host.url).write_text("broken off")
    assert len(load(fetched(host.url))) == 790


def test_a_page_that_is_something_else_is_not_kept(host: Host) -> None:
    host.content = b"<html>Moved</html>"
    with pytest.raises(ProviderError, match=r"is not TruthfulQA's edition .* --data FILE"):
        fetched(host.url)
    assert not list((cache_dir() / "truthfulqa").iterdir())


def test_offline_one_sentence_names_the_way_out() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/TruthfulQA.csv"
        with pytest.raises(ProviderError, match=r"cannot be fetched from .*: try again, or give a copy with --data"):
            fetched(url)


def test_a_category_and_a_type_narrow_the_items(truthfulqa: Path) -> None:
    chosen = select(load(truthfulqa), categories=["law"], types=["non-adversarial"], limit=3)
    assert [item.id for item in chosen] == ["tqa-15", "tqa-30", "tqa-45"]


def test_a_file_names_questions_by_words_ids_or_json(truthfulqa: Path, tmp_path: Path) -> None:
    items = load(truthfulqa)
    file = tmp_path / "questions"
    words = items[4].question.upper().replace(" ", "  ")
    file.write_text(f"tqa-9\n\n{words}\n{json.dumps({'question': items[2].question, 'truth': []})}\n")
    assert select(items, questions=read_questions(file)) == [items[2], items[4], items[8]]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "There is no question in"),
        ("\n\n", "There is no question in"),
        ("{\n", "line 1: no JSON object with a question"),
        ('{"q": "What?"}', "line 1: no JSON object with a question"),
        ('{"question": null}', "line 1: no JSON object with a question"),
    ],
)
def test_a_file_without_questions_is_told(tmp_path: Path, text: str, why: str) -> None:
    file = tmp_path / "questions"
    file.write_text(text)
    with pytest.raises(InputError, match=why):
        read_questions(file)


def test_a_question_that_is_not_there_is_told_with_the_nearest(truthfulqa: Path) -> None:
    items = load(truthfulqa)
    with pytest.raises(InputError, match=r"has no question .* meant\?") as caught:
        select(items, questions=[items[0].question[:-3]])
    assert items[0].question in str(caught.value)


def test_a_misspelt_category_is_told_what_may_be_meant(truthfulqa: Path) -> None:
    with pytest.raises(InputError, match="is 'Health' meant"):
        select(load(truthfulqa), categories=["Heath"])


def test_a_sample_keeps_the_shares_of_the_categories_and_the_order(truthfulqa: Path) -> None:
    items = load(truthfulqa)
    drawn = select(items, sample=30, seed=1)
    assert Counter(item.category for item in drawn) == {"Health": 20, "Law": 10}
    assert [item.id for item in drawn] == [item.id for item in items if item in drawn]
    assert drawn == select(items, sample=30, seed=1)
    assert drawn != select(items, sample=30, seed=2)


def test_quotas_by_largest_remainder() -> None:
    # Of 7 + 2 + 1 = 10, five: exact shares 3.5, 1.0 and 0.5; the one left goes to "a", first of the equal fractions.
    assert quotas({"a": 7, "b": 2, "c": 1}, 5) == {"a": 4, "b": 1, "c": 0}


@pytest.mark.parametrize(
    "url",
    [
        "https://arxiv.org/abs/2109.07958v2",
        "http://www.arxiv.org/pdf/2109.07958.pdf",
        "https://arxiv.org/html/2109.07958v2#S3",
        "https://doi.org/10.48550/arXiv.2109.07958",
        "https://doi.org/10.18653/v1/2022.acl-long.229",
        "https://aclanthology.org/2022.acl-long.229.pdf",
        "https://hf.co/datasets/truthful_qa",
        "https://hf.co/datasets/someone/copy",
        "https://datasets-server.huggingface.co/rows?dataset=truthful_qa",
        "https://raw.githubusercontent.com/sylinrl/TruthfulQA/main/TruthfulQA.csv",
        "https://paperswithcode.com/dataset/truthfulqa",
        "https://example.org/Truthful%20QA/answers.html",
    ],
)
def test_an_address_that_names_the_set_or_its_paper_is_known(url: str) -> None:
    assert names_answers(url)


@pytest.mark.parametrize(
    "url",
    ["https://arxiv.org/abs/2109.07959", "https://example.org/qa/truthful", "file:///home/me/truthfulqa/notes.md", ""],
)
def test_other_addresses_and_files_of_ones_own_are_left_alone(url: str) -> None:
    assert not names_answers(url)
