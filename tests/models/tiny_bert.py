"""A BERT that is made on the spot, with random weights and a vocabulary of a few words."""

from __future__ import annotations

from pathlib import Path

import torch
from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

WORDS = "staff get days of leave a year the office opens at nine no 25 30 .".split()
_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def random_bert(outputs: int) -> BertForSequenceClassification:
    """The same weights each time, large enough that every input gives other numbers."""
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(_SPECIAL) + len(WORDS),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
        initializer_range=0.5,
    )
    config.num_labels = outputs
    model = BertForSequenceClassification(config)
    model.train(False)
    return model


def save_with_tokenizer(model: BertForSequenceClassification, folder: Path) -> Path:
    """Write the model and its tokenizer to a folder, which is made."""
    model.save_pretrained(folder)
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join([*_SPECIAL, *WORDS]))
    BertTokenizer(vocab=str(vocabulary)).save_pretrained(folder)
    return folder
