"""Turn a trained checkpoint into the encoder that ships: int8 ONNX and its tokenizer.

    python -m training.encoder.export RUN/model --out factcheck_local/models/weights/NAME
    python -m training.encoder.export RUN/model --mean BEFORE --out DIR

Prints the tables of files for the model's card in ``factcheck_local/models/cards/``.

Weights become int8, one scale per output channel; activations are scaled as
they come (dynamic quantisation). The word embeddings, a table that is looked
up and not multiplied, become int8 too.

With ``--mean`` it is the mean of two checkpoints, of a run and of what it began with: what a run
gains on data like its own is mostly kept then, and what it lost elsewhere mostly won back
(Wortsman et al. 2022, "Robust fine-tuning of zero-shot models").
"""

from __future__ import annotations

import inspect
import json
import shutil
import tempfile
from pathlib import Path

import click
import onnx
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.quantization.preprocess import quant_pre_process
from transformers import (
    AutoConfig,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    PreTrainedModel,
)

from factcheck_local.models.cards import describe_files
from factcheck_local.models.onnx_encoder import LABELS_KEY, MODEL_FILE, TOKENIZER_FILE


def average(model: PreTrainedModel, other: PreTrainedModel) -> None:
    """Put the mean of both models' weights into the first.

    Raises:
        click.ClickException: if they differ in labels, or in names or shapes of weights.
    """
    own, others = model.state_dict(), other.state_dict()
    shapes = [{name: tuple(weight.shape) for name, weight in s.items()} for s in (own, others)]
    if model.config.id2label != other.config.id2label or shapes[0] != shapes[1]:
        raise click.ClickException("the checkpoint of --mean has other labels, layers or sizes")
    model.load_state_dict({name: (own[name] + others[name]) / 2 for name in own})


@click.command()
@click.argument("checkpoint", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option(
    "--mean",
    "other",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Another checkpoint of this shape: the mean of both is exported.",
)
@click.option("--full", is_flag=True, help="Keep 32-bit weights, to measure what int8 costs.")
def main(checkpoint: Path, out: Path, other: Path | None, full: bool) -> None:
    """Export CHECKPOINT, a folder written by ``training.encoder.train``."""
    config = AutoConfig.from_pretrained(checkpoint, attn_implementation="eager")
    model = AutoModelForSequenceClassification.from_pretrained(checkpoint, config=config).eval()
    if other:
        average(model, AutoModelForSequenceClassification.from_pretrained(other))
    out.mkdir(parents=True, exist_ok=True)
    target = out / MODEL_FILE
    # MPNet knows no token types, BERT and MiniLM do.
    known = AutoTokenizer.from_pretrained(checkpoint).model_input_names
    # The exporter names inputs by position, in the order of the signature.
    names = [name for name in inspect.signature(model.forward).parameters if name in known]
    example = {name: torch.ones((2, 40), dtype=torch.int64) for name in names}
    # An ordinary word of any vocabulary: the first ids are marks such as padding.
    example["input_ids"] *= 10
    axes = {0: "pairs", 1: "tokens"}
    with tempfile.TemporaryDirectory() as folder:
        exported, prepared = Path(folder) / "model.onnx", Path(folder) / "prepared.onnx"
        torch.onnx.export(
            model,
            (example,),
            str(exported),
            input_names=names,
            output_names=["logits"],
            dynamic_axes=dict.fromkeys(names, axes) | {"logits": {0: "pairs"}},
            opset_version=17,
            dynamo=False,
        )
        quant_pre_process(str(exported), str(prepared), skip_symbolic_shape=True)
        if full:
            shutil.copy(prepared, target)
        else:
            quantize_dynamic(prepared, target, weight_type=QuantType.QInt8, per_channel=True)
    found = onnx.load(target)
    labels = [config.id2label[i] for i in range(config.num_labels)]
    onnx.helper.set_model_props(found, {LABELS_KEY: json.dumps(labels)})
    onnx.save(found, target)
    shutil.copy(checkpoint / "tokenizer.json", out / TOKENIZER_FILE)
    click.echo(f"{target}: {target.stat().st_size / 1e6:.0f} MB", err=True)
    for file in describe_files(out, (target, out / TOKENIZER_FILE)):
        click.echo(
            f'[[files]]\npath = "{file.path}"\nsize = {file.size}\nsha256 = "{file.sha256}"\n'
        )


if __name__ == "__main__":
    main()
