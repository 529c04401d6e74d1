"""An adapter over a real model: on for one prompt, off for everything else, checked first."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from gguf import GGUFWriter

from factcheck_local.core.errors import ChecksumError, ModelError
from factcheck_local.models.adapters import Adapter, adapter_folder, adapters_of
from factcheck_local.models.add import card_table
from factcheck_local.models.cards import ModelCard, card_from, find_card
from factcheck_local.models.contracts import Message, adapted_to, identity
from factcheck_local.models.llama_cpp import LlamaCppModel
from factcheck_local.models.reply_cache import CachedChatModel
from factcheck_local.pipeline.relation.llm import ADAPTED_PROMPT, LlmPairScorer, card_key
from factcheck_local.pipeline.relation.scorer import Premise

pytestmark = pytest.mark.long

PREMISE = Premise("Leave policy", "Full-time employees receive 27 days. Days lapse on 31 March.")
CLAIMS = ["Employees get 27 days.", "Employees get 30 days of leave.", "Leave never lapses."]
CHAT = [Message("user", "The sky is ")]
WIDTH, RANK = 576, 4


def write_adapter(path: Path, *, size: float, width: int = WIDTH, layers: int = 30) -> Adapter:
    """A random adapter for SmolLM2's attention output; of size 0 it changes nothing."""
    draw = np.random.default_rng(0)

    def matrix(rows: int, columns: int, scale: float) -> npt.NDArray[np.float16]:
        return (scale * draw.standard_normal((rows, columns))).astype(np.float16)

    writer = GGUFWriter(path, "llama")
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", float(RANK))
    for layer in range(layers):
        name = f"blk.{layer}.attn_output.weight"
        writer.add_tensor(f"{name}.lora_a", matrix(RANK, width, 1.0))
        writer.add_tensor(f"{name}.lora_b", matrix(width, RANK, size))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return Adapter(path, hashlib.sha256(path.read_bytes()).hexdigest())


def with_adapter(adapter: Adapter) -> ModelCard:
    return replace(find_card("smollm2-135m", "llm"), adapters={ADAPTED_PROMPT: adapter})


@pytest.fixture
def changed(tmp_path: Path) -> Iterator[LlamaCppModel]:
    card = with_adapter(write_adapter(tmp_path / "changes.gguf", size=0.02))
    model = LlamaCppModel.from_card(card)
    yield model
    model.close()


def test_it_changes_the_scores_of_its_prompt_and_nothing_else(
    changed: LlamaCppModel, smollm: LlamaCppModel
) -> None:
    plain = smollm.score_labels(CHAT, ["blue", "green"], ["A", "B"])
    said = smollm.generate(CHAT, max_tokens=5)
    assert (changed.score_labels(CHAT, ["blue", "green"], ["A", "B"]) == plain).all()
    adapted = changed.adapted(ADAPTED_PROMPT).score_labels(CHAT, ["blue", "green"], ["A", "B"])
    assert np.abs(adapted - plain).max() > 0.01
    # Off again: nothing of the adapter is left in the cache.
    assert (changed.score_labels(CHAT, ["blue", "green"], ["A", "B"]) == plain).all()
    assert changed.generate(CHAT, max_tokens=5) == said


def test_one_that_is_on_is_not_recorded_nor_switched(changed: LlamaCppModel) -> None:
    adapted = changed.adapted(ADAPTED_PROMPT)
    assert identity(adapted) == {"id": changed.id, "sha256": changed.sha256}
    assert adapted_to(adapted, ADAPTED_PROMPT) is None
    assert identity(changed)["adapters"] == dict(changed.adapters)


def test_an_adapter_of_zeros_changes_nothing(tmp_path: Path, smollm: LlamaCppModel) -> None:
    card = with_adapter(write_adapter(tmp_path / "zeros.gguf", size=0.0))
    model = LlamaCppModel.from_card(card)
    scorer = LlmPairScorer.of_card(card, model)
    same_prompt = LlmPairScorer(smollm, prompt=ADAPTED_PROMPT)
    assert scorer.score(PREMISE, CLAIMS) == pytest.approx(same_prompt.score(PREMISE, CLAIMS))
    model.close()


def test_sharing_the_passage_changes_no_probability(changed: LlamaCppModel) -> None:
    scorer = LlmPairScorer(changed.adapted(ADAPTED_PROMPT), prompt=ADAPTED_PROMPT)
    together = scorer.score(PREMISE, CLAIMS)
    for claim, row in zip(CLAIMS, together, strict=True):
        changed.forget()
        assert (scorer.score(PREMISE, [claim])[0] == row).all()


def test_a_passage_is_kept_by_its_adapter(changed: LlamaCppModel, tmp_path: Path) -> None:
    """What the adapter makes of a passage is another state than what the model alone does."""
    premise = Premise(PREMISE.title, f"{PREMISE.text} " * 12)
    models = (changed.adapted(ADAPTED_PROMPT), changed)
    expected = [LlmPairScorer(m, prompt=ADAPTED_PROMPT).score(premise, CLAIMS) for m in models]
    assert (expected[0] != expected[1]).any()
    keeping = [m.remembering(tmp_path / "states") for m in models]
    for _ in range(2):
        for model, scores in zip(keeping, expected, strict=True):
            changed.forget()
            found = LlmPairScorer(model, prompt=ADAPTED_PROMPT).score(premise, CLAIMS)
            assert (found == scores).all()
    assert len(list((tmp_path / "states").glob("*.state"))) == 2


def test_a_scorer_is_named_by_its_adapter(tmp_path: Path) -> None:
    adapter = write_adapter(tmp_path / "named.gguf", size=0.0)
    assert card_key(with_adapter(adapter)) == f"relate-v2+adapter-{adapter.sha256[:8]}"
    assert card_key(find_card("smollm2-135m", "llm")) == "relate-v1"


def test_one_of_another_model_is_refused(tmp_path: Path) -> None:
    model = LlamaCppModel.from_card(
        with_adapter(write_adapter(tmp_path / "wide.gguf", size=0.1, width=640))
    )
    with pytest.raises(ModelError, match=r"wide\.gguf: llama\.cpp cannot load this adapter"):
        model.adapted(ADAPTED_PROMPT).score_labels(CHAT, ["blue"], ["A", "B"])
    with pytest.raises(ModelError, match="no adapter for the prompt atomize-v1"):
        model.adapted("atomize-v1")
    model.close()


def test_it_is_hashed_before_it_is_loaded(tmp_path: Path) -> None:
    adapter = write_adapter(tmp_path / "altered.gguf", size=0.1)
    card = with_adapter(adapter)
    card.check()
    data = bytearray(adapter.path.read_bytes())
    data[-1] ^= 1
    adapter.path.write_bytes(data)
    with pytest.raises(ChecksumError, match=r"altered\.gguf: sha256 is"):
        card.check()
    adapter.path.unlink()
    with pytest.raises(ModelError, match="an adapter of smollm2-135m"):
        card.check()


def test_a_card_keeps_its_adapters() -> None:
    table = {ADAPTED_PROMPT: {"file": "smollm2-135m/relate-v2.gguf", "sha256": "0" * 64}}
    found = adapters_of(table)[ADAPTED_PROMPT]
    assert found.path == adapter_folder() / "smollm2-135m" / "relate-v2.gguf"
    card = replace(find_card("smollm2-135m", "llm"), adapters={ADAPTED_PROMPT: found})
    assert card_from(card_table(card), "here").adapters == card.adapters


def test_a_malformed_table_is_refused() -> None:
    table = card_table(find_card("smollm2-135m", "llm"))
    with pytest.raises(ModelError, match="an adapter: expected a file and a sha256"):
        card_from({**table, "adapters": {ADAPTED_PROMPT: {"file": "x"}}}, "here")


def test_what_an_adapted_model_said_is_kept_by_the_adapter(
    tmp_path: Path, changed: LlamaCppModel
) -> None:
    path = tmp_path / "replies.sqlite"

    def kept(sha256: str) -> CachedChatModel:
        return CachedChatModel(
            lambda: changed,
            changed.id,
            changed.sha256,
            path,
            {ADAPTED_PROMPT: Adapter(path, sha256)},
        )

    first = kept("1" * 64)
    rows = first.adapted(ADAPTED_PROMPT).score_labels(CHAT, ["blue"], ["A", "B"])
    again = kept("1" * 64)
    assert (again.adapted(ADAPTED_PROMPT).score_labels(CHAT, ["blue"], ["A", "B"]) == rows).all()
    assert again.waited == 0
    other = kept("2" * 64)
    other.adapted(ADAPTED_PROMPT).score_labels(CHAT, ["blue"], ["A", "B"])
    assert other.waited > 0
    with pytest.raises(ModelError, match="no adapter for the prompt atomize-v1"):
        other.adapted("atomize-v1")
    # Without the adapter it says something else.
    assert not (other.score_labels(CHAT, ["blue"], ["A", "B"]) == rows).all()
