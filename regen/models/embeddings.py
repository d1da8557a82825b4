"""Sentence embeddings: all-MiniLM-L6-v2, int8, which comes with regen, or another sentence encoder in a folder."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from regen.errors import ConfigurationError, ProviderError
from regen.models.graphs import CONFIG, GRAPH, TOKENIZER, Files, TextGraph

MAX_TOKENS = 256
BUILT_IN = Path(__file__).parent / "minilm"


class Embedder(TextGraph):
    """Embeds sentences: the mean of the model's vectors of their tokens, of length 1 (Reimers and Gurevych 2019).

    A text is embedded by itself, so that what it comes to does not depend on what else is embedded; a quantized model
    would let it. A text of more than 256 tokens is read in windows of so many, and the mean is over the tokens of all.
    It can be used from several threads; each call uses one.

    Raises:
        ConfigurationError: the files are not those of such a model.
    """

    kind = "sentence encoder"

    def __init__(self, files: Files) -> None:
        super().__init__(files, threads=1)
        self._tokenizer.enable_truncation(self.positions(MAX_TOKENS))

    def embed(self, texts: Sequence[str]) -> Any:
        """The embeddings of texts: a numpy array of 32-bit floats, a row a text. The product of two is their cosine.

        A text without a token, such as an empty one, has an embedding too, which says nothing.

        Raises:
            ProviderError: the model fails.
        """
        import numpy

        return numpy.array([self._one(text) for text in texts], dtype=numpy.float32)

    def _one(self, text: str) -> Any:
        import numpy

        encoded = self._tokenizer.encode(text)
        vectors = numpy.concatenate([self._vectors(window) for window in (encoded, *encoded.overflowing)])
        mean = vectors.mean(axis=0, dtype=float)
        return mean / max(float(numpy.linalg.norm(mean)), 1e-12)

    def _vectors(self, window: Any) -> Any:
        """The vectors of a window's tokens, none of which is padding."""
        import numpy

        found = self.run([window])
        if found.ndim != 3 or found.shape[:2] != (1, len(window)) or not numpy.isfinite(found).all():
            raise ProviderError(f"The {self.kind} {self.name} gave something else than a finite vector for each token.")
        return found[0]


_loading = threading.Lock()
_loaded: dict[Path, Embedder] = {}


def load(folder: Path = BUILT_IN) -> Embedder:
    """The embedder in a folder, loaded once in a process. Raises what `Embedder` and `files` raise."""
    with _loading:
        if folder not in _loaded:
            _loaded[folder] = Embedder(files(folder))
        return _loaded[folder]


def files(folder: Path = BUILT_IN) -> Files:
    """The files of the embedder in a folder.

    Raises:
        ConfigurationError: one is missing.
    """
    lacks = [name for name in (CONFIG, TOKENIZER, GRAPH) if not (folder / name).is_file()]
    if lacks:
        raise ConfigurationError(f"The sentence encoder in {folder} lacks {', '.join(lacks)}: install regen again.")
    return Files(folder / CONFIG, folder / TOKENIZER, folder / GRAPH)
