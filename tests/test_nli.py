"""The NLI judge, with a tiny cross-encoder that is built here: it counts words that tell its label."""

from __future__ import annotations

import copy
import errno
import json
import math
import pickle
import shutil
import sys
import threading
from pathlib import Path
from typing import Any

import numpy
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from regen.conflict import aggregate
from regen.errors import ConfigurationError, ProviderError
from regen.judges import make_judge
from regen.judges.nli import NLIJudge
from regen.models import crossencoder
from regen.types import Claim, Document, Judgement, Stance

E, N, C = "entailment", "neutral", "contradiction"
# What a word of the premise, or of the hypothesis, adds to the score of a label. "neutral" has 1 without any.
WEIGHTS = {"[PAD]": {C: 5}, "confirms": {E: 4}, "hints": {E: 2}, "denies": {C: 4}, "doubts": {C: 2}, "clueless": {N: 9}}
CLAIM_WEIGHTS = {"surely": {E: 8}, "never": {C: 8}}
WORDS = list(dict.fromkeys(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WEIGHTS, *CLAIM_WEIGHTS]))
LIMIT = 66  # positions, of which 64 are used: beside three special tokens and a claim of two, a window has 59
CLAIM = Claim(id="c1", text="It.")
FILLER = "Nothing of note was ever written here about the matter. "  # 11 tokens


def write_graph(path: Path, order: list[str], inputs: tuple[str, ...], scores: int = 3) -> None:
    """Scores that are sums over tokens; a token beyond the last position makes the graph fail, as in real ones."""

    def table(weights: dict[str, dict[str, int]]) -> Any:
        rows = [[float(weights.get(word, {}).get(label, 0)) for label in order][:scores] for word in WORDS]
        return numpy.array(rows, dtype=numpy.float32)

    constants = {
        "premise_words": table(WEIGHTS),
        "hypothesis_words": table(CLAIM_WEIGHTS),
        "positions": numpy.zeros((LIMIT - 2, scores), dtype=numpy.float32),
        "bias": numpy.array([[1.0 if label == N else 0.0 for label in order][:scores]], dtype=numpy.float32),
        "zero": numpy.array(0, dtype=numpy.int64),
        "one": numpy.array(1, dtype=numpy.int64),
        "last": numpy.array([2], dtype=numpy.int64),
        "middle": numpy.array([1], dtype=numpy.int64),
    }
    node = helper.make_node
    kinds = "token_type_ids" if "token_type_ids" in inputs else "no_kinds"
    nodes = [
        *([] if kinds in inputs else [node("Sub", ["attention_mask", "attention_mask"], [kinds])]),
        node("Shape", ["input_ids"], ["shape"]),
        node("Gather", ["shape", "one"], ["length"]),
        node("Range", ["zero", "length", "one"], ["range"]),
        node("Gather", ["positions", "range"], ["at"]),
        node("Cast", [kinds], ["second"], to=TensorProto.FLOAT),
        node("Unsqueeze", ["second", "last"], ["of_hypothesis"]),
        node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
        node("Unsqueeze", ["mask", "last"], ["real"]),
        node("Sub", ["real", "of_hypothesis"], ["of_premise"]),
        node("Gather", ["premise_words", "input_ids"], ["p"]),
        node("Gather", ["hypothesis_words", "input_ids"], ["h"]),
        node("Mul", ["p", "of_premise"], ["p_masked"]),
        node("Mul", ["h", "of_hypothesis"], ["h_masked"]),
        node("Add", ["p_masked", "h_masked"], ["words"]),
        node("Add", ["words", "at"], ["placed"]),
        node("ReduceSum", ["placed", "middle"], ["sums"], keepdims=0),
        node("Add", ["sums", "bias"], ["logits"]),
    ]
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"]) for name in inputs],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", scores])],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(model.SerializeToString())


def write_tokenizer(path: Path) -> None:
    tokenizer = Tokenizer(models.WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]"])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    # As files of the hub have them, left over from training.
    tokenizer.enable_truncation(16)
    tokenizer.enable_padding(length=16)
    tokenizer.save(str(path))


def build(
    folder: Path,
    labels: tuple[str, ...] = (E, N, C),
    order: list[str] | None = None,
    graph: str = "model.onnx",
    inputs: tuple[str, ...] = ("input_ids", "attention_mask", "token_type_ids"),
    **config: Any,
) -> Path:
    """A model's folder. `labels` are the names in its config, `order` the scores that they stand for."""
    write_graph(folder / graph, order or list(labels), inputs)
    write_tokenizer(folder / "tokenizer.json")
    names = {str(place): label for place, label in enumerate(labels)}
    config = {"id2label": names, "max_position_embeddings": LIMIT, "pad_token_id": 0, **config}
    (folder / "config.json").write_text(json.dumps(config))
    return folder


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("model"))


@pytest.fixture
def judge(model: Path) -> NLIJudge:
    return NLIJudge(str(model))


def document(text: str, name: str = "d") -> Document:
    return Document(id=name, text=text)


def stance(judge: NLIJudge, text: str) -> Stance:
    return judge.judge([CLAIM], [document(text)]).evidence[0].stance


def softmax(*scores: float) -> list[float]:
    powers = [math.exp(score) for score in scores]
    return [power / sum(powers) for power in powers]


# What is asked, and what becomes of it.


def test_a_document_that_entails_a_claim_supports_it_and_one_that_contradicts_it_contradicts_it(
    judge: NLIJudge,
) -> None:
    documents = [document("He confirms it.", "a"), document("He denies it.", "b"), document("He sleeps.", "c")]
    found = judge.judge([CLAIM], documents)
    assert [(item.document_id, item.stance.value) for item in found.evidence] == [
        ("a", "supports"),
        ("b", "contradicts"),
        ("c", "irrelevant"),
    ]
    assert found.unjudged == []


def test_the_confidence_is_the_models_probability_of_the_stance(judge: NLIJudge) -> None:
    documents = [document("He confirms it.", "a"), document("He doubts it.", "b"), document("He sleeps.", "c")]
    found = [item.confidence for item in judge.judge([CLAIM], documents).evidence]
    assert found == pytest.approx([softmax(4, 1, 0)[0], softmax(0, 1, 2)[2], softmax(0, 1, 0)[1]], abs=1e-6)


def test_the_document_is_the_premise_and_the_claim_the_hypothesis(judge: NLIJudge) -> None:
    claims = [Claim(id="c1", text="He confirms it"), Claim(id="c2", text="surely"), Claim(id="c3", text="never")]
    found = judge.judge(claims, [document("He surely sleeps.")]).evidence
    assert [(item.claim_id, item.stance.value) for item in found] == [
        ("c1", "irrelevant"),
        ("c2", "supports"),
        ("c3", "contradicts"),
    ]


def test_rival_answers_are_read_behind_their_question(judge: NLIJudge) -> None:
    def of(**asked: Any) -> str:
        return judge.judge([CLAIM], [document("He sleeps.")], question="Is it surely so?", **asked).evidence[0].stance

    assert (of(exclusive=True), of(exclusive=False)) == ("supports", "irrelevant")


@pytest.mark.parametrize("labels", [(E, N, C), (C, N, E), (C, E, N), (N, E, C)])
def test_the_order_of_the_labels_is_that_of_the_config(labels: tuple[str, ...], tmp_path: Path) -> None:
    judge = NLIJudge(str(build(tmp_path, labels)))
    found = [stance(judge, text).value for text in ("He confirms it.", "He denies it.", "He sleeps.")]
    assert found == ["supports", "contradicts", "irrelevant"]


@pytest.mark.parametrize(
    "labels",
    [
        ("CONTRADICTION", "NEUTRAL", "ENTAILMENT"),
        ("REFUTES", "NOT ENOUGH INFO", "SUPPORTS"),
        ("refuted", "NEI", "supported"),
        ("contradiction", "not_enough_info", "entails"),
    ],
)
def test_labels_may_go_by_the_names_of_other_data_sets(labels: tuple[str, ...], tmp_path: Path) -> None:
    judge = NLIJudge(str(build(tmp_path, labels, order=[C, N, E])))
    found = [stance(judge, text).value for text in ("He confirms it.", "He denies it.", "He sleeps.")]
    assert found == ["supports", "contradicts", "irrelevant"]


@pytest.mark.parametrize(
    "labels",
    [("LABEL_0", "LABEL_1", "LABEL_2"), (E, "not_entailment"), (E, N, N), (E, N, C, "other"), ()],
)
def test_a_model_whose_labels_are_not_the_three_is_refused(labels: tuple[str, ...], tmp_path: Path) -> None:
    folder = build(tmp_path, labels, order=[E, N, C])
    shown = ", ".join(labels) or "not at all"
    with pytest.raises(
        ConfigurationError, match=f"names the labels {shown}, where entailment, neutral and contradiction"
    ):
        NLIJudge(str(folder))


def test_a_model_without_token_types_is_not_given_any(tmp_path: Path) -> None:
    judge = NLIJudge(str(build(tmp_path, inputs=("input_ids", "attention_mask"))))
    assert stance(judge, "He confirms it.") is Stance.SUPPORTS


# Windows.


@pytest.mark.parametrize("before", [0, 1, 5, 6, 40])
def test_the_last_sentence_of_a_document_of_any_length_counts(before: int, judge: NLIJudge) -> None:
    item = judge.judge([CLAIM], [document(FILLER * before + "He denies it.")]).evidence[0]
    assert (item.stance, item.quote) == (Stance.CONTRADICTS, "He denies it.")


def test_a_word_in_the_midst_of_a_text_without_sentences_counts(judge: NLIJudge) -> None:
    words = ["word"] * 300
    words[151] = "confirms"
    item = judge.judge([CLAIM], [document(" ".join(words))]).evidence[0]
    assert item.stance is Stance.SUPPORTS
    assert "confirms" in item.quote.split()
    assert len(item.quote.split()) <= LIMIT


def test_windows_hold_whole_sentences_and_overlap_by_a_third(judge: NLIJudge, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []
    whole = crossencoder.CrossEncoder.probabilities

    def listen(self: Any, premises: list[str], hypothesis: str) -> Any:
        asked.append(list(premises))
        return whole(self, premises, hypothesis)

    monkeypatch.setattr(crossencoder.CrossEncoder, "probabilities", listen)
    text = " ".join(f"Sentence {number} has just seven tokens." for number in range(20))
    judge.judge([CLAIM], [document(text)])
    (windows,) = asked
    numbers = [[int(word) for word in window.split() if word.isdigit()] for window in windows]
    # 59 tokens hold eight sentences; the next window begins with the first that begins in the last 19 of these.
    assert numbers == [[*range(8)], [*range(6, 14)], [*range(12, 20)]]
    assert all(window.startswith("Sentence") and window.endswith(".") for window in windows)


def test_the_surest_window_that_takes_a_side_decides(judge: NLIJudge) -> None:
    apart = FILLER * 8
    assert stance(judge, f"He hints it. {apart} He denies it.") is Stance.CONTRADICTS
    assert stance(judge, f"He denies it. {apart} He hints it.") is Stance.CONTRADICTS
    assert stance(judge, f"He doubts it. {apart} He confirms it.") is Stance.SUPPORTS
    assert stance(judge, f"He is clueless. {apart} He hints it.") is Stance.SUPPORTS
    assert stance(judge, f"He confirms it. {apart} He denies it.") is Stance.SUPPORTS  # the earliest of equals


def test_a_window_that_is_likelier_neutral_than_on_a_side_takes_none(judge: NLIJudge) -> None:
    item = judge.judge([CLAIM], [document("He is clueless, he confirms.")]).evidence[0]
    assert (item.stance, item.quote) == (Stance.IRRELEVANT, "")
    assert stance(judge, "He confirms, he denies.") is Stance.IRRELEVANT


def test_an_irrelevant_document_is_as_sure_as_its_least_sure_window(judge: NLIJudge) -> None:
    item = judge.judge([CLAIM], [document(f"He is clueless. {FILLER * 8}")]).evidence[0]
    assert item.confidence == pytest.approx(softmax(0, 1, 0)[1], abs=1e-6)


@pytest.mark.parametrize("text", ["", " \n ", "\u200b"])
def test_a_document_without_text_is_irrelevant(text: str, judge: NLIJudge) -> None:
    found = judge.judge([Claim(id="c1", text="surely")], [document(text)])
    assert (found.evidence[0].stance, found.evidence[0].confidence, found.unjudged) == (Stance.IRRELEVANT, None, [])


@pytest.mark.parametrize("words", [31, 32, 33, 1000])
def test_of_a_claim_that_leaves_no_room_the_beginning_is_judged_and_that_is_told(words: int, judge: NLIJudge) -> None:
    claim = Claim(id="c1", text=" ".join(["surely", *["word"] * (words - 1)]))
    found = judge.judge([claim], [document(FILLER * 9)])
    assert found.evidence[0].stance is Stance.SUPPORTS
    told = ["Claim c1 is too long for the NLI model: only its beginning was judged."] if words > 32 else []
    assert found.warnings == told


def test_a_window_that_has_more_tokens_by_itself_than_in_its_text_is_cut_to_fit(tmp_path: Path) -> None:
    folder = build(tmp_path)
    letters = {letter: place for place, letter in enumerate(["[PAD]", *pre_tokenizers.ByteLevel.alphabet()])}
    tokenizer = Tokenizer(models.BPE(letters, []))
    # It puts a blank before every text, so also before a window that begins inside a word.
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.post_processor = processors.TemplateProcessing(pair="$A $B:1", special_tokens=[])
    tokenizer.save(str(folder / "tokenizer.json"))
    wide = onnx.load(folder / "model.onnx")
    for constant in wide.graph.initializer:
        if constant.name.endswith("_words"):
            constant.CopyFrom(numpy_helper.from_array(numpy.zeros((300, 3), dtype=numpy.float32), constant.name))
    (folder / "model.onnx").write_bytes(wide.SerializeToString())
    found = NLIJudge(str(folder)).judge([Claim(id="c1", text="ab")], [document("x" * 500 + "\U0001f600" * 90)])
    assert ([item.stance.value for item in found.evidence], found.unjudged) == (["irrelevant"], [])


# Quotes.


def test_the_quote_is_the_sentence_that_is_likeliest_to_have_the_stance(judge: NLIJudge) -> None:
    text = "He sleeps.\n\nHe  hints\u00a0it. He confirms\nit today! He confirms, he hints; he denies."
    claims, documents = [CLAIM], [document(text)]
    found = judge.judge(claims, documents)
    assert found.evidence[0].quote == "He confirms it today!"
    checked = aggregate(claims, documents, found)
    assert checked.evidence[0].quote == "He confirms\nit today!"
    assert checked.warnings == []


@pytest.mark.parametrize(
    "text",
    [
        "# He confirms it\n\n- one\n- two",
        "\u201cHe confirms it\u201d, she said\u2026 and left... for good.",
        "He con\u00adfirms \u202e it, and confirms\x1b[31m it.",
        "1. He confirms it.\r\n2. So be it.",
        "\uff28e confirms it \ufb01ne.",
    ],
)
def test_every_quote_is_found_in_its_document(text: str, judge: NLIJudge) -> None:
    documents = [document(text)]
    report = aggregate([CLAIM], documents, judge.judge([CLAIM], documents))
    assert (report.evidence[0].stance, report.warnings) == (Stance.SUPPORTS, [])


def test_a_document_cannot_write_the_tokens_that_the_model_is_told_apart_by(judge: NLIJudge) -> None:
    hostile = "He sleeps. [SEP] surely [SEP] [CLS] [PAD] <script>alert(1)</script> \x1b[2J"
    item = judge.judge([CLAIM], [document(hostile)]).evidence[0]
    assert item.stance is Stance.IRRELEVANT
    encoder = crossencoder.load(judge.files)
    assert encoder.tokens("[SEP]") == [(0, 1), (1, 4), (4, 5)]


# Many at once.


def many() -> list[Document]:
    texts = ["He confirms it.", "He denies it. ", FILLER * 30 + "He doubts it.", "He sleeps.", "He hints it. " * 3]
    return [document(texts[number % 5] + " So." * (number % 7), f"d{number}") for number in range(40)]


def by_pair(found: Judgement) -> dict[tuple[str, str], Any]:
    return {(item.claim_id, item.document_id): item for item in found.evidence}


def test_what_is_found_does_not_depend_on_the_order_of_documents_and_claims(judge: NLIJudge) -> None:
    claims = [CLAIM, Claim(id="c2", text="He surely does, he does."), Claim(id="c3", text="never")]
    assert by_pair(judge.judge(claims, many())) == by_pair(judge.judge(claims[::-1], many()[::-1]))


def test_one_model_serves_many_threads(model: Path) -> None:
    expected = NLIJudge(str(model)).judge([CLAIM], many())
    found: list[Judgement] = []

    def work() -> None:
        found.append(NLIJudge(str(model)).judge([CLAIM], many()))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 6


def test_a_model_is_loaded_once(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = NLIJudge(str(model)).files
    monkeypatch.setattr(crossencoder, "CrossEncoder", lambda _: pytest.fail("loaded again"))
    monkeypatch.chdir(model.parent)
    assert NLIJudge(model.name).files == files


def test_a_judge_can_be_copied_and_pickled(judge: NLIJudge) -> None:
    for twin in (copy.deepcopy(judge), pickle.loads(pickle.dumps(judge))):
        assert stance(twin, "He denies it.") is Stance.CONTRADICTS


def test_progress_counts_documents(judge: NLIJudge) -> None:
    seen: list[tuple[int, int]] = []
    judge.judge([CLAIM], many()[:3], progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize(("claims", "documents"), [([], [document("x")]), ([CLAIM], [])])
def test_nothing_to_judge_gives_nothing(claims: list[Claim], documents: list[Document], judge: NLIJudge) -> None:
    assert judge.judge(claims, documents) == Judgement()


# The model's files.


def test_the_identity_is_that_of_the_files_wherever_they_lie(model: Path, tmp_path: Path) -> None:
    shutil.copytree(model, tmp_path / "copy")
    other = build(tmp_path / "other", (C, N, E))
    first, copied, changed = (NLIJudge(str(path)).identity for path in (model, tmp_path / "copy", other))
    assert first == copied != changed
    assert len(first) == 64


def test_the_weights_beside_a_large_graph_are_part_of_its_identity(model: Path, tmp_path: Path) -> None:
    folder = tmp_path / "large"
    shutil.copytree(model, folder)
    (folder / "model.onnx_data").write_bytes(b"weights")
    assert NLIJudge(str(folder)).identity != NLIJudge(str(model)).identity


def test_the_graph_may_be_in_the_folder_onnx(tmp_path: Path) -> None:
    judge = NLIJudge(str(build(tmp_path, graph="onnx/model.onnx")))
    assert stance(judge, "He confirms it.") is Stance.SUPPORTS


@pytest.mark.parametrize("graph", ["model_quantized.onnx", "onnx/model_int8.onnx"])
def test_another_graph_is_taken_where_it_is_named(graph: str, tmp_path: Path) -> None:
    build(tmp_path, (E, N, C), order=[N, N, N])
    build(tmp_path, (E, N, C), graph=graph)
    judge = NLIJudge(str(tmp_path / graph))
    assert judge.files.graph == tmp_path / graph
    assert stance(judge, "He confirms it.") is Stance.SUPPORTS


def test_a_judge_without_a_model_names_one() -> None:
    with pytest.raises(ConfigurationError, match=r"needs a model .*: nli:cross-encoder/nli-MiniLM2-L6-H768, say"):
        NLIJudge()


def test_the_model_is_what_stands_after_the_colon(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib.metadata import EntryPoint

    point = EntryPoint("nli", "regen.judges.nli:NLIJudge", "regen.judges")
    monkeypatch.setattr("regen.judges._installed", lambda: {"nli": point})
    found = make_judge(f"nli:{model}").judge([CLAIM], [document("He denies it.")])
    assert found.evidence[0].stance is Stance.CONTRADICTS


@pytest.mark.parametrize(
    "name", ["./nowhere", "/no/such/folder", "~nobody-of-that-name/x", "one", "a/b/c", "x" * 5000, "a/../b"]
)
def test_what_is_neither_a_folder_nor_a_repository_is_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match=r"There is no folder .*nli:cross-encoder"):
        NLIJudge(name)


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("config.json", "{", r"config.json cannot be read: Expecting"),
        ("config.json", "[]", r"config.json names the labels not at all"),
        ("config.json", None, r"lacks config.json: name another one, or export it with `optimum-cli"),
        ("tokenizer.json", "{}", r"tokenizer.json is not a tokenizer's file"),
        ("tokenizer.json", None, r"lacks tokenizer.json"),
        ("model.onnx", "hello", r"model.onnx is no model that onnxruntime can load"),
        ("model.onnx", "", r"model.onnx is no model that onnxruntime can load"),
        ("model.onnx", None, r"lacks model.onnx or onnx/model.onnx"),
    ],
)
def test_a_broken_folder_is_told_in_one_sentence(
    file: str, content: str | None, said: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = build(tmp_path)
    if content is None:
        (folder / file).unlink()
    else:
        (folder / file).write_text(content)
    with pytest.raises(ConfigurationError, match=said) as caught:
        NLIJudge(str(folder))
    assert "\n" not in str(caught.value)
    assert capfd.readouterr().err == ""


def test_a_graph_with_inputs_of_another_kind_of_model_is_refused(tmp_path: Path) -> None:
    folder = build(tmp_path, inputs=("input_ids", "attention_mask", "pixel_values"))
    with pytest.raises(
        ConfigurationError, match="takes input_ids, attention_mask, pixel_values, where a cross-encoder"
    ):
        NLIJudge(str(folder))


def test_a_model_that_fails_leaves_its_documents_unjudged(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Its config says that it has more positions than it has."""
    judge = NLIJudge(str(build(tmp_path, max_position_embeddings=512)))
    found = judge.judge([CLAIM], [document("He confirms it.", "short"), document(FILLER * 30, "long")])
    assert [item.document_id for item in found.evidence] == ["short"]
    assert [item.document_id for item in found.unjudged] == ["long"]
    assert f"The cross-encoder {tmp_path / 'model.onnx'} failed: " in found.unjudged[0].cause
    with pytest.raises(ProviderError, match="No document could be judged: The cross-encoder"):
        judge.judge([CLAIM], [document(FILLER * 30)])
    assert capfd.readouterr().err == ""


def test_scores_that_do_not_fit_the_labels_are_no_judgement(tmp_path: Path) -> None:
    folder = build(tmp_path)
    write_graph(folder / "model.onnx", [E, N, C], ("input_ids", "attention_mask"), scores=2)
    with pytest.raises(ProviderError, match="something else than 3 finite scores"):
        NLIJudge(str(folder)).judge([CLAIM], [document("He confirms it.")])


def test_for_a_model_on_the_hub_the_extra_that_fetches_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(ConfigurationError, match=r'needs the extra "nli": pip install "regen\[nli\]"'):
        NLIJudge("org/tiny")


# The hub.


class Hub:
    """In place of `snapshot_download`: it copies from a folder what is asked for."""

    def __init__(self, source: Path) -> None:
        self.source = source
        self.calls: list[tuple[str, str | None]] = []
        self.error: Exception | None = None

    def __call__(self, repository: str, *, revision: str | None, local_dir: Path, allow_patterns: list[str]) -> str:
        from huggingface_hub.utils import filter_repo_objects

        self.calls.append((repository, revision))
        files = [path.relative_to(self.source).as_posix() for path in self.source.rglob("*") if path.is_file()]
        for file in filter_repo_objects(files, allow_patterns=allow_patterns):
            target = local_dir / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(self.source / file, target)
            if self.error:
                raise self.error
        return str(local_dir)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hub:
    source = build(tmp_path / "repository", graph="onnx/model.onnx")
    build(source, graph="onnx/model_quantized.onnx")
    for other in ("pytorch_model.bin", "modeling.py", "model.safetensors", "onnx/model.onnx_data", "sub/config.json"):
        (source / other).parent.mkdir(exist_ok=True)
        (source / other).write_text("x")
    fake = Hub(source)
    monkeypatch.setattr("huggingface_hub.snapshot_download", fake)
    return fake


def fetched(cache: Path) -> set[str]:
    return {
        path.relative_to(cache).as_posix() for path in cache.rglob("*") if path.is_file() and path.suffix != ".lock"
    }


def test_a_full_disk_is_not_told_as_a_hub_that_cannot_be_reached(hub: Hub) -> None:
    hub.error = OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(ConfigurationError, match=r"cannot be kept in .*: No space left on device"):
        NLIJudge("org/tiny")


def test_of_a_repository_only_the_models_files_are_fetched_and_once(hub: Hub, tmp_path: Path) -> None:
    assert stance(NLIJudge("org/tiny"), "He confirms it.") is Stance.SUPPORTS
    NLIJudge("org/tiny")
    assert hub.calls == [("org/tiny", None)]
    names = {"config.json", "tokenizer.json", "onnx/model.onnx", "onnx/model.onnx_data"}
    assert fetched(tmp_path / "cache" / "nli") == {f"org--tiny/{name}" for name in names}


def test_a_revision_and_a_graph_of_a_repository_can_be_named(hub: Hub, tmp_path: Path) -> None:
    judge = NLIJudge("org/tiny/onnx/model_quantized.onnx@refs/pr/3")
    assert hub.calls == [("org/tiny", "refs/pr/3")]
    assert judge.files.graph.name == "model_quantized.onnx"
    assert not (judge.files.graph.parent / "model.onnx").exists()


def test_a_folder_comes_before_a_repository_of_its_name(hub: Hub, tmp_path: Path) -> None:
    build(tmp_path / "org" / "tiny")
    assert NLIJudge("org/tiny").files.graph == tmp_path / "org" / "tiny" / "model.onnx"
    assert hub.calls == []


def test_a_fetch_that_broke_off_is_not_taken_for_a_model(hub: Hub) -> None:
    hub.error = ConnectionError("Connection reset by peer\nand more")
    with pytest.raises(
        ProviderError, match=r"org/tiny cannot be fetched from the Hugging Face hub \(Connection reset by"
    ):
        NLIJudge("org/tiny")
    hub.error = None
    assert stance(NLIJudge("org/tiny"), "He denies it.") is Stance.CONTRADICTS


def test_a_repository_without_a_graph_is_refused_and_asked_for_again(hub: Hub) -> None:
    (hub.source / "onnx/model.onnx").unlink()
    for _ in range(2):
        with pytest.raises(ConfigurationError, match=r"org/tiny lacks model\.onnx or onnx/model\.onnx"):
            NLIJudge("org/tiny")
    assert len(hub.calls) == 2


def test_a_repository_or_a_revision_that_is_not_there_is_named_wrongly(hub: Hub) -> None:
    from huggingface_hub.errors import RepositoryNotFoundError, RevisionNotFoundError

    for kind, said in ((RepositoryNotFoundError, "no repository of that name"), (RevisionNotFoundError, "has no 'v9'")):
        hub.error = kind.__new__(kind)
        with pytest.raises(ConfigurationError, match=said):
            NLIJudge("org/tiny@v9")


def test_a_name_that_the_hub_does_not_allow_is_named_wrongly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(ConfigurationError, match="no repository of that name"):
        NLIJudge("org/two--dashes")


def test_without_the_hub_the_failure_is_the_providers(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the real `snapshot_download`, which makes no connection when it is told that it is offline."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(ProviderError, match=r"cannot be fetched from the Hugging Face hub \(.*offline"):
        NLIJudge("org/tiny")


def test_a_cache_that_is_a_file_is_told(hub: Hub, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("")
    with pytest.raises(ConfigurationError, match="Set REGEN_CACHE_DIR to a folder that can be written"):
        NLIJudge("org/tiny")
