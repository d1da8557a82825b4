"""ONNX graphs that read text, with their tokenizers: their files, how they are loaded and checked, and what they give.

Three files make one: `config.json`, `tokenizer.json` and an ONNX graph. No code that comes with a model is run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regen.errors import ConfigurationError, ProviderError

CONFIG, TOKENIZER, GRAPH = "config.json", "tokenizer.json", "model.onnx"
_INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids"})


@dataclass(frozen=True)
class Files:
    """The files of one model."""

    config: Path
    tokenizer: Path
    graph: Path

    def sha256(self) -> str:
        """One hash over them, and over what a large graph keeps beside it: the same wherever the model lies."""
        beside = sorted(path for path in self.graph.parent.iterdir() if _is_data(path.name, self.graph.name))
        digest = hashlib.sha256()
        for path in (self.config, self.tokenizer, self.graph, *beside):
            with path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
        return digest.hexdigest()


class TextGraph:
    """A graph that takes the tokens of texts.

    Args:
        files: Its files.
        threads: How many one run of it uses.

    Raises:
        ConfigurationError: the files are not those of such a model.
    """

    kind = "model"
    """What a model of the kind is called, after `a` and after `The`."""

    def __init__(self, files: Files, *, threads: int) -> None:
        import onnxruntime
        import tokenizers

        self.config = _read(files.config)
        self.name = str(files.graph)
        self._pad: int = self.config.get("pad_token_id") or 0
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 4  # what fails is told by its exception
        try:
            self._session = onnxruntime.InferenceSession(self.name, options, providers=["CPUExecutionProvider"])
        except Exception as error:  # ONNX Runtime's have no base of their own
            raise ConfigurationError(f"{files.graph} is no model that onnxruntime can load: {said(error)}.") from error
        try:
            self._tokenizer = tokenizers.Tokenizer.from_file(str(files.tokenizer))
        except Exception as error:  # what tokenizers raises is no other type
            raise ConfigurationError(f"{files.tokenizer} is not a tokenizer's file: {said(error)}.") from error
        # What the file says of these is meant for training. A document's "[SEP]" must not end the document.
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._tokenizer.encode_special_tokens = True
        self._inputs = [item.name for item in self._session.get_inputs()]
        if "input_ids" not in self._inputs or not set(self._inputs) <= _INPUTS:
            raise ConfigurationError(
                f"{files.graph} takes {', '.join(self._inputs)}, where a {self.kind} takes "
                f"{', '.join(sorted(_INPUTS))}: name another model."
            )

    def positions(self, most: int, unused: int = 0) -> int:
        """How many tokens it can read: as many as its config has positions, less those that are unused, or `most`."""
        positions: Any = self.config.get("max_position_embeddings")
        # Models whose positions are relative say -1, or nothing.
        return min(most, positions - unused) if isinstance(positions, int) and positions >= 64 else most

    def run(self, encoded: Sequence[Any]) -> Any:
        """The graph's first output for encoded texts, the first of its axes theirs.

        Raises:
            ProviderError: the model fails.
        """
        import numpy

        longest = max(len(item) for item in encoded)

        def column(attribute: str, fill: int) -> Any:
            rows = [getattr(item, attribute) for item in encoded]
            return numpy.array([[*row, *[fill] * (longest - len(row))] for row in rows], dtype=numpy.int64)

        columns = {
            "input_ids": column("ids", self._pad),
            "attention_mask": column("attention_mask", 0),
            "token_type_ids": column("type_ids", 0),
        }
        try:
            return self._session.run(None, {name: columns[name] for name in self._inputs})[0]
        except Exception as error:  # ONNX Runtime's have no base of their own
            raise ProviderError(f"The {self.kind} {self.name} failed: {said(error)}.") from error


def said(error: BaseException) -> str:
    """The first line of what an error says."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0].rstrip(".")[:300] if lines else type(error).__name__


def _read(path: Path) -> dict[str, Any]:
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{path} cannot be read: {said(error)}.") from None
    return config if isinstance(config, dict) else {}


def _is_data(name: str, graph: str) -> bool:
    return name.startswith((f"{graph}_data", f"{graph}.data"))
