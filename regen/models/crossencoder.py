"""NLI cross-encoders through ONNX Runtime: where their files are, how they are fetched, what one says of a pair.

The ONNX graph of one is beside its `config.json` and `tokenizer.json`, or in their folder `onnx`. Nothing else of a
repository is fetched, and no code from it is run. The graph in full precision, `model.onnx`, is the default, so that
the figures of the model's card hold for it; a quantized one is taken where its file is named.
"""

from __future__ import annotations

import errno
import re
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from regen.errors import ConfigurationError, ProviderError
from regen.models.graphs import CONFIG, GRAPH, TOKENIZER, Files, TextGraph, said
from regen.models.server import cores
from regen.paths import cache_dir
from regen.types import Stance

EXAMPLE = "nli:cross-encoder/nli-MiniLM2-L6-H768"
# Cross-encoders are trained on pairs of at most so many tokens, also where they have room for more.
MAX_TOKENS = 512
_LOCAL = (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM, errno.EROFS)
_GRAPHS = (GRAPH, f"onnx/{GRAPH}")
_REPOSITORY = re.compile(
    r"(?P<repository>[\w-][\w.-]*/[\w-][\w.-]*)(?:/(?P<graph>(?:[\w-][\w.-]*/)*[\w-][\w.-]*\.onnx))?"
    r"(?:@(?P<revision>[\w./-]+))?",
    re.ASCII,
)
_STANCES = {
    **dict.fromkeys("entailment entail entails entailed support supports supported".split(), Stance.SUPPORTS),
    **dict.fromkeys("contradiction contradict contradicts refute refutes refuted".split(), Stance.CONTRADICTS),
    **dict.fromkeys(("neutral", "not enough info", "not enough information", "nei"), Stance.IRRELEVANT),
}


class CrossEncoder(TextGraph):
    """A model that tells of two texts whether the first entails the second, contradicts it, or neither.

    Raises:
        ConfigurationError: the files are not those of such a model.
    """

    kind = "cross-encoder"

    def __init__(self, files: Files) -> None:
        # A core a pair, and as many pairs at once as there are cores: it is faster than all cores on one pair or on a
        # batch of them, which also costs what the shorter ones are filled up with.
        super().__init__(files, threads=1)
        self.stances = _stances(self.config, files.config)
        # RoBERTa's positions begin at 2.
        self.max_tokens = self.positions(MAX_TOKENS, unused=2)
        self._running = threading.BoundedSemaphore(cores())

    def tokens(self, text: str) -> list[tuple[int, int]]:
        """Where in `text` each of its tokens begins and ends."""
        return list(self._tokenizer.encode(text, add_special_tokens=False).offsets)

    def room(self, hypothesis: str) -> int:
        """How many tokens of a premise can be read with `hypothesis`."""
        special = self._tokenizer.num_special_tokens_to_add(is_pair=True)
        return self.max_tokens - special - len(self.tokens(hypothesis))

    def probabilities(self, premises: Sequence[str], hypothesis: str) -> list[dict[Stance, float]]:
        """For each premise, the probability that it supports `hypothesis`, contradicts it, or neither.

        Each is run by itself: a quantized model's figures depend a little on what else is in a batch.

        Raises:
            ProviderError: the model fails.
        """
        encoded = [self._encode(premise, hypothesis) for premise in premises]
        return [dict(zip(self.stances, self._run(item), strict=True)) for item in encoded]

    def _encode(self, premise: str, hypothesis: str) -> Any:
        encoded = self._tokenizer.encode(premise, hypothesis)
        excess = len(encoded) - self.max_tokens
        if excess <= 0:
            return encoded
        # A window can have a token or two more by itself than it had in its text.
        starts = [start for (start, _), text in zip(encoded.offsets, encoded.sequence_ids, strict=True) if text == 0]
        return self._encode(premise[: starts[-excess]], hypothesis)

    def _run(self, encoded: Any) -> list[float]:
        import numpy

        with self._running:
            logits = self.run([encoded])
        if logits.shape != (1, len(self.stances)) or not numpy.isfinite(logits).all():
            raise ProviderError(
                f"The {self.kind} {self.name} gave something else than {len(self.stances)} finite scores."
            )
        powers = numpy.exp(logits.astype(float) - logits.max())
        shares: list[float] = (powers / powers.sum())[0].tolist()
        return shares


_loading = threading.Lock()
_loaded: dict[Files, CrossEncoder] = {}


def load(files: Files) -> CrossEncoder:
    """The model of these files, loaded once in a process. Raises what `CrossEncoder` raises."""
    with _loading:
        if files not in _loaded:
            _loaded[files] = CrossEncoder(files)
        return _loaded[files]


def find(name: str) -> Files:
    """The files of a model, fetched first where it is on the Hugging Face hub and not in regen's cache yet.

    Args:
        name: A folder, or a repository `org/name`, with `@revision` where that isn't `main`; a folder of that name
            comes first. The path of an ONNX file in it may follow: `org/name/onnx/model_quantized.onnx@revision`. A
            repository is fetched once: what changes on the hub later does not change what is judged here.

    Raises:
        ConfigurationError: there is no such model, it lacks a file, or a package is missing.
        ProviderError: the hub cannot be reached, or breaks off.
    """
    try:
        path = Path(name).expanduser()
        if path.is_dir():
            return _files(path.resolve(), None, name)
        if path.is_file():
            path = path.resolve()
            folder = path.parent if (path.parent / CONFIG).is_file() else path.parent.parent
            return _files(folder, path.relative_to(folder).as_posix(), name)
    except (OSError, RuntimeError):
        pass  # no path at all: too long, or in a home that nobody has
    on_hub = _REPOSITORY.fullmatch(name)
    if on_hub is None:
        raise ConfigurationError(
            f"There is no folder {name!r}, and no repository can have that name: name a model as in {EXAMPLE}."
        )
    return _files(_fetched(name, **on_hub.groupdict()), on_hub["graph"], name)


def _files(folder: Path, graph: str | None, name: str) -> Files:
    wanted = [graph] if graph else _GRAPHS
    found = next((folder / path for path in wanted if (folder / path).is_file()), None)
    lacks = [file for file in (CONFIG, TOKENIZER) if not (folder / file).is_file()]
    if found is None:
        lacks.append(" or ".join(wanted))
    if found is None or lacks:
        raise ConfigurationError(
            f"The NLI model {name} lacks {', '.join(lacks)}: name another one, or export it with "
            "`optimum-cli export onnx --model NAME FOLDER` and name the folder."
        )
    return Files(folder / CONFIG, folder / TOKENIZER, found)


def _fetched(name: str, repository: str, graph: str | None, revision: str | None) -> Path:
    """The folder in the cache that holds the files of a repository."""
    folder = cache_dir() / "nli" / name.replace("/", "--")
    if folder.is_dir():
        return folder
    from filelock import FileLock

    graphs = [graph] if graph else _GRAPHS
    unfinished = folder.with_name(f"{folder.name}.part")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(folder.with_name(f"{folder.name}.lock")):
            if not folder.is_dir():
                _download(repository, revision, [CONFIG, TOKENIZER, *graphs], unfinished)
                _files(unfinished, graph, name)
                unfinished.rename(folder)
    except OSError as error:
        raise ConfigurationError(
            f"The NLI model {name} cannot be kept in {folder.parent}: {error.strerror or error}. "
            "Set REGEN_CACHE_DIR to a folder that can be written."
        ) from None
    return folder


def _download(repository: str, revision: str | None, files: Sequence[str], folder: Path) -> None:
    try:
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HFValidationError, RepositoryNotFoundError, RevisionNotFoundError
    except ImportError:
        raise ConfigurationError(
            'A model on the Hugging Face hub needs the extra "nli": pip install "regen[nli]".'
        ) from None
    # A large graph keeps its weights in files beside it, and ONNX Runtime refuses those that are links, as they are
    # in the hub's own cache: hence a folder of its own.
    patterns = [*files, *(f"{file}[._]data*" for file in files if file.endswith(".onnx"))]
    try:
        snapshot_download(repository, revision=revision, local_dir=folder, allow_patterns=patterns)
    except (RepositoryNotFoundError, HFValidationError):
        raise ConfigurationError(
            f"There is no folder {repository!r} here, and no repository of that name that may be read on the Hugging "
            f"Face hub: name a model as in {EXAMPLE}, or set HF_TOKEN where it is private or gated."
        ) from None
    except RevisionNotFoundError:
        raise ConfigurationError(f"The repository {repository} on the Hugging Face hub has no {revision!r}.") from None
    except Exception as error:  # the hub's, its HTTP client's, and those of a download's own program
        if isinstance(error, OSError) and error.errno in _LOCAL:
            raise  # It is this machine that refuses.
        raise ProviderError(
            f"The NLI model {repository} cannot be fetched from the Hugging Face hub ({said(error.__cause__ or error)}"
            "): try again, or name a folder that holds it."
        ) from error


def _stances(config: dict[str, Any], path: Path) -> list[Stance]:
    """What each of the model's labels means, in the order of its scores."""
    labels = config.get("id2label")
    try:
        names = [str(labels[str(place)]) for place in range(len(labels))] if isinstance(labels, dict) else []
    except KeyError:
        names = []
    found = [_STANCES.get(" ".join(re.split(r"[\W_]+", name.casefold())).strip()) for name in names]
    stances = [stance for stance in found if stance is not None]
    if len(found) != len(Stance) or set(stances) != set(Stance):
        raise ConfigurationError(
            f"{path} names the labels {', '.join(names) or 'not at all'}, where entailment, neutral and contradiction "
            "are needed: name another model, or, where they only lack their names, put these into its id2label."
        )
    return stances
