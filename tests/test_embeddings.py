"""Sentence embeddings, with the model that comes with regen."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path
from typing import Any

import numpy
import pytest

from regen.errors import ConfigurationError, ProviderError
from regen.models import embeddings
from regen.models.embeddings import Embedder

REVENUE, RESTATED = "The revenue in 2024 was $4.2M.", "Revenue for 2024 has been restated as $3.8M."
LONG = " ".join(
    "the fish and the bird went to the rock by the sea again today".split()[number % 13] for number in range(600)
)


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return embeddings.load()


def test_embeddings_have_length_one_and_384_numbers(embedder: Embedder) -> None:
    found = embedder.embed([REVENUE, "", "\x1b[31m \u202e", LONG])
    assert (found.shape, found.dtype) == ((4, 384), numpy.float32)
    assert numpy.linalg.norm(found, axis=1) == pytest.approx([1.0] * 4, abs=1e-5)


def test_texts_on_one_topic_are_similar_and_others_are_not(embedder: Embedder) -> None:
    one, same, other = embedder.embed([REVENUE, RESTATED, "Gulls breed on cliffs near the sea."])
    assert one @ same > 0.68
    assert one @ other < 0.3


def test_the_embeddings_are_those_of_the_model_in_full_precision(embedder: Embedder) -> None:
    """The first three numbers of sentence-transformers' all-MiniLM-L6-v2 for this text, in 32-bit floats."""
    found = embedder.embed(["This is an example sentence"])[0]
    assert found[:3] == pytest.approx([0.0677, 0.0635, 0.0487], abs=0.015)


def test_what_a_text_comes_to_does_not_depend_on_what_else_is_embedded(embedder: Embedder) -> None:
    alone = embedder.embed([REVENUE])[0]
    assert (embedder.embed([LONG, REVENUE, ""])[1] == alone).all()


def test_a_long_text_is_the_mean_of_its_windows_by_their_tokens(embedder: Embedder) -> None:
    """Each word is a token, and [CLS] and [SEP] stand around each window of 256."""
    words = LONG.split()
    parts = [" ".join(words[place : place + 254]) for place in range(0, len(words), 254)]
    encoded = [embedder._tokenizer.encode(part) for part in parts]
    assert [len(one) for one in encoded] == [256, 256, 94]
    means = [embedder._vectors(one).mean(axis=0) for one in encoded]
    mean = numpy.average(means, axis=0, weights=[256, 256, 94])
    assert embedder.embed([LONG])[0] == pytest.approx(mean / numpy.linalg.norm(mean), abs=1e-4)


def test_a_text_cannot_write_the_tokens_that_the_model_is_told_apart_by(embedder: Embedder) -> None:
    ids = embedder._tokenizer.encode("[SEP] [CLS] [PAD]").ids
    special = {embedder._tokenizer.token_to_id(name) for name in ("[SEP]", "[CLS]", "[PAD]")}
    assert special & set(ids[1:-1]) == set()


def test_one_model_serves_many_threads(embedder: Embedder) -> None:
    texts = [f"{REVENUE} {number}" for number in range(10)]
    expected = embedder.embed(texts)
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(embedder.embed(texts))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert all((one == expected).all() for one in found)


def test_a_model_is_loaded_once(embedder: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embeddings, "Embedder", lambda _: pytest.fail("loaded again"))
    assert embeddings.load() is embedder


def test_a_missing_file_is_told_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ConfigurationError, match=r"lacks tokenizer\.json, model\.onnx: install regen again"):
        embeddings.load(tmp_path)


def test_a_model_of_another_kind_is_refused_when_it_is_used(tmp_path: Path) -> None:
    from test_nli import build

    shutil.copytree(build(tmp_path / "scores"), tmp_path / "model")
    with pytest.raises(ProviderError, match="something else than a finite vector for each token"):
        embeddings.load(tmp_path / "model").embed(["a text"])
