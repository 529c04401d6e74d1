"""A run on a GPU, checked on the CPU: the same weights, lessons and losses as elsewhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from gguf import GGMLQuantizationType, GGUFWriter
from gguf.quants import dequantize
from transformers import AttentionInterface, Qwen2Config, Qwen2ForCausalLM

from factcheck_local.models.chat_format import chat_format
from factcheck_local.models.prompts import load_prompt
from factcheck_local.pipeline.claims.atomize.asking import PROMPT
from factcheck_local.pipeline.relation.llm import ADAPTED_PROMPT
from training.adapter.groups import NOT_ENTAILMENT, NUMBERS, Claim, Group, soft
from training.adapter.model import ATTENTION, Adapted, LowRank
from training.adapter.model import _attention as attention
from training.adapter.names import NAMES
from training.adapter.packing import Packer
from training.claims.answers import answers
from training.claims.packing import KIND_WEIGHT, taught
from training.claims.packing import Packer as AnswersPacker
from training.claims.train import DATA
from training.claims.train import Teacher as AnswersTeacher
from training.gpu.lessons import STEP, Lesson, batches, padded, read, save
from training.gpu.model import Model
from training.gpu.prepare import main as prepare
from training.gpu.prepare import of_group, of_sequence
from training.gpu.train import FIRST_WEIGHT, Teacher
from training.gpu.train import main as train
from training.gpu.weights import Weights, dequantised, write
from training.losses import loss_of

WIDTH, LAYERS, VOCABULARY, RANK, ALPHA = 32, 3, 300, 4, 8.0
LETTERS = [ord(c) for c in "ABC"]


def letters(text: str) -> list[int]:
    """A tokeniser of single characters."""
    return [min(ord(c), VOCABULARY - 1) for c in text]


@pytest.fixture(scope="module")
def network() -> Qwen2ForCausalLM:
    """A small random model in transformers, in float32."""
    AttentionInterface.register(ATTENTION, attention)
    torch.manual_seed(0)
    config = Qwen2Config(
        vocab_size=VOCABULARY,
        hidden_size=WIDTH,
        intermediate_size=64,
        num_hidden_layers=LAYERS,
        num_attention_heads=4,
        num_key_value_heads=2,
        rope_parameters={"rope_type": "default", "rope_theta": 10_000.0},
        tie_word_embeddings=False,
    )
    config._attn_implementation = ATTENTION
    found: Any = Qwen2ForCausalLM(config)
    with torch.no_grad():
        for parameter in found.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.3)
    found.requires_grad_(False)
    return cast(Qwen2ForCausalLM, found)


@pytest.fixture(scope="module")
def folder(network: Qwen2ForCausalLM, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same model as a GGUF file, and of that what a GPU gets: all ids but the first."""
    here = tmp_path_factory.mktemp("gpu")
    writer = GGUFWriter(here / "model.gguf", "qwen2")
    writer.add_block_count(LAYERS)
    writer.add_head_count(4)
    writer.add_head_count_kv(2)
    writer.add_layer_norm_rms_eps(network.config.rms_norm_eps)
    writer.add_rope_freq_base(10_000.0)
    theirs = {"input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm"} | NAMES
    for name, values in network.state_dict().items():
        parts = name.split(".")
        if parts[1] == "layers":
            at, kind = ".".join(parts[3:-1]), parts[-1]
            called = f"blk.{parts[2]}.{theirs[at]}.{kind}"
        else:
            called = {
                "model.embed_tokens.weight": "token_embd.weight",
                "model.norm.weight": "output_norm.weight",
                "lm_head.weight": "output.weight",
            }[name]
        writer.add_tensor(called, values.numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    ids = list(range(5, VOCABULARY))
    write(here / "model.gguf", ids, ids[3:], here / "weights")
    return here / "weights"


@pytest.fixture
def model(folder: Path) -> Model:
    return Model(Weights(folder), "cpu", torch.float32)


@pytest.fixture
def teacher(model: Model, folder: Path) -> Teacher:
    return Teacher(model, Weights(folder), LETTERS)


@pytest.fixture
def adapted(network: Qwen2ForCausalLM) -> Adapted:
    """The model of ``training.adapter`` with a random adapter from the second layer on."""
    torch.manual_seed(1)
    for layer in network.model.layers[1:]:
        for block, names in (("self_attn", "qkvo"), ("mlp", ("gate", "up", "down"))):
            for name in names:
                place = getattr(layer, block)
                base = getattr(place, f"{name}_proj")
                fresh = LowRank(getattr(base, "base", base), RANK, ALPHA)
                torch.nn.init.normal_(fresh.b, std=0.1)
                setattr(place, f"{name}_proj", fresh)
    return Adapted(network, letters, LETTERS, ALPHA)


GROUPS = (
    Group(
        "own",
        "Leave",
        "Staff receive 27 days.",
        (
            Claim("Staff get 27 days.", "entailment"),
            Claim("Staff get 30.", "contradiction"),
            Claim("It is paid.", "neutral"),
        ),
    ),
    Group("public", "", "Tea is served at four.", (Claim("Tea is at five.", NOT_ENTAILMENT),)),
)


@pytest.fixture
def packer() -> Packer:
    return Packer(letters, chat_format("chatml"), load_prompt(ADAPTED_PROMPT))


@pytest.mark.parametrize(
    ("kind", "size", "scales"),
    [
        (GGMLQuantizationType.Q4_K, 144, (0, 2)),
        (GGMLQuantizationType.Q6_K, 210, (208,)),
    ],
)
def test_blocks_are_read_as_ggml_reads_them(
    kind: GGMLQuantizationType, size: int, scales: tuple[int, ...]
) -> None:
    rng = np.random.default_rng(0)
    raw = rng.integers(0, 256, (6, size), dtype=np.uint8)
    for at in scales:
        raw[:, at : at + 2] = rng.random((6, 1)).astype(np.float16).view(np.uint8)
    expected = dequantize(raw, kind).reshape(3, 512)
    found = dequantised(kind.name, torch.from_numpy(raw).flatten(), (3, 512))
    assert np.array_equal(found.numpy(), expected)


def test_another_format_is_refused() -> None:
    with pytest.raises(ValueError, match="Q5_K"):
        dequantised("Q5_K", torch.zeros(176, dtype=torch.uint8), (256,))


def test_labels_and_gradients_are_those_of_the_adapter_s_own_training(
    adapted: Adapted, teacher: Teacher, packer: Packer
) -> None:
    labels = [claim.label for group in GROUPS for claim in group.claims]
    logits = adapted.logits(packer.pack(GROUPS))
    (loss_of(logits, labels, 0.03) / len(labels)).backward()  # type: ignore[no-untyped-call]
    adapter = {n: torch.nn.Parameter(p.detach().clone()) for n, p in adapted.adapter.items()}
    got = teacher.rows([of_group(group, packer) for group in GROUPS])
    states = teacher.states(got, adapter, ALPHA / RANK)
    found = teacher.log_p(got, states)
    assert torch.allclose(found, logits.log_softmax(dim=1), atol=1e-4)
    assert got.labels.tolist() == [NUMBERS[label] for label in labels]
    teacher.loss(got, states, 0.03).backward()  # type: ignore[no-untyped-call]
    for name, theirs in adapted.adapter.items():
        mine, other = adapter[name].grad, theirs.grad
        assert mine is not None
        assert other is not None
        assert torch.allclose(mine, other, rtol=1e-3, atol=1e-5), name


def test_replies_cost_what_they_cost_the_adapter_s_own_training(
    adapted: Adapted, teacher: Teacher
) -> None:
    packer = AnswersPacker(letters, chat_format("chatml"), load_prompt(PROMPT))
    answer = answers(DATA / "atoms" / "internal.jsonl", held_out=False)[0]
    sequence = next(iter(packer.sequences(answer, most=2500)))
    read_by_the_other = taught(*sequence, first=KIND_WEIGHT)
    ids = torch.arange(8, VOCABULARY)
    losses, weights = AnswersTeacher(adapted, 0, ids).loss(read_by_the_other, 0)
    adapter = {n: torch.nn.Parameter(p.detach().clone()) for n, p in adapted.adapter.items()}
    got = teacher.rows([of_sequence(sequence, "internal")])
    nats = teacher.nats(got, teacher.states(got, adapter, ALPHA / RANK))
    assert len(sequence[1]) > 1
    # The other one keeps what the lower layers made of it in bfloat16.
    assert torch.allclose(nats, losses, atol=0.1)
    assert torch.equal(torch.where(got.first, FIRST_WEIGHT, 1.0), weights)


def lesson(size: int, source: str = "own") -> Lesson:
    return Lesson(list(range(20, 20 + size)), [[30, 31, 32], [40]], [3, 0], [1, -1], source)


def test_lessons_are_kept(tmp_path: Path) -> None:
    kept = [lesson(5), lesson(40, "public")]
    save(kept, tmp_path / "lessons.pt")
    assert read(tmp_path / "lessons.pt") == kept


def test_batches_hold_all_lessons_within_their_tokens() -> None:
    kept = [lesson(20 * (i % 17) + 1) for i in range(90)]
    made = list(batches(kept, 1000, 3))
    assert sorted(len(x) for b in made for x in b) == sorted(map(len, kept))
    assert all(len(b) == 1 or len(b) * padded(max(map(len, b))) <= 1000 for b in made)
    assert made != list(batches(kept, 1000, 4))
    assert made == list(batches(kept, 1000, 3))


def test_rows_are_as_long_as_the_kernels_want_them(teacher: Teacher) -> None:
    assert padded(1) == padded(STEP) == STEP
    assert teacher.rows([lesson(STEP)]).tokens.shape == (1, 2 * STEP)


def test_a_run_learns_and_says_what_it_did(folder: Path, packer: Packer, tmp_path: Path) -> None:
    lessons = [of_group(group, packer) for group in GROUPS]
    save(lessons * 40, tmp_path / "lessons.pt")
    save(lessons, tmp_path / "measured.pt")
    command = ["--weights", folder, "--lessons", tmp_path / "lessons.pt", "--tokens", 2000]
    command += ["--measured", tmp_path / "measured.pt", "--asked", tmp_path / "measured.pt"]
    command += [x for i in LETTERS for x in ("--letters", i)]
    command += ["--rank", RANK, "--alpha", ALPHA, "--first-layer", 1, "--lr", 0.02]
    out = tmp_path / "run"
    found = CliRunner().invoke(train, [*map(str, command), "--device", "cpu", "--out", str(out)])
    assert found.exit_code == 0, found.output
    before, after, asked = (
        torch.load(out / f"{name}.pt", weights_only=True)["log_p"]
        for name in ("scores-before", "scores", "answers")
    )
    gold = torch.tensor([0, 1, 2])
    assert before.shape == after.shape == (4, 3)
    assert torch.equal(after, asked)
    sure = after[:3].gather(1, gold[:, None]).mean()
    assert sure > before[:3].gather(1, gold[:, None]).mean() + 0.03
    about = json.loads((out / "run.json").read_text())
    assert about["lessons"] == about["of_lessons"] == 80
    saved = torch.load(out / "adapter.pt", weights_only=True)
    assert (saved["rank"], saved["alpha"], saved["first_layer"]) == (RANK, ALPHA, 1)
    assert len(saved["adapter"]) == 2 * len(NAMES) * (LAYERS - 1)
    again = [*map(str, command), "--device", "cpu", "--out", str(out)]
    begun = ["--from", str(out / "adapter.pt")]
    for wrong, said in ((["--alpha", "4"], "alpha / rank 2"), (["--first-layer", "2"], "layer 1")):
        refused = CliRunner().invoke(train, [*again, *begun, *wrong])
        assert refused.exit_code == 2
        assert said in refused.output
    (tmp_path / "measured.jsonl").write_text(
        "".join(
            json.dumps({"title": "t", "premise": "p", "hypothesis": f"h{i}"}) + "\n"
            for i in range(4)
        )
    )
    made = ["soft", "--asked", tmp_path / "measured.pt", "--answers", out / "answers.pt"]
    made += ["--out", tmp_path / "soft.jsonl"]
    assert CliRunner().invoke(prepare, list(map(str, made))).exit_code == 0
    (group,) = soft(tmp_path / "soft.jsonl")
    assert [claim.text for claim in group.claims] == ["h0", "h1", "h2", "h3"]
    assert group.claims[0].p == pytest.approx(asked[0].exp().tolist())
