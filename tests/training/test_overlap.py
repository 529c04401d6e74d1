"""What counts as a sentence that is held out."""

from __future__ import annotations

import json
from pathlib import Path

from training.overlap import Held, normalised


def test_a_shared_sentence_is_found_whatever_its_punctuation(tmp_path: Path) -> None:
    rows = [
        {"premise": "Penn -LRB- born 1960 -RRB- is an American actor .", "hypothesis": "A b."},
        {"claim": "The bridge was opened in May 1998.", "evidence": ["It cost nine million."]},
    ]
    path = tmp_path / "held.jsonl"
    path.write_text("".join(json.dumps(r) + "\n" for r in rows))
    held = Held.of([path])
    assert held.shares("Before. Penn (born 1960) is an American actor. After.", "Something else.")
    assert held.shares("Something else.", "the bridge was opened in may 1998")
    assert not held.shares("A b.", "Penn is an actor.")
    assert normalised("A-B, c!") == "a b c"
