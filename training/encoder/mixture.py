"""What a run for the encoder draws from: shares of tokens by source.

The encoder knows less of language than an LLM, so it gets more of the large public sets than
the adapter; what it is for are passages as the authored ones.
"""

from __future__ import annotations

from pathlib import Path

from training.adapter.groups import soft
from training.mixture import Source, own_sources, public_sources, without
from training.overlap import Held

#: Share of a run's tokens, by authored file.
AUTHORED = {
    "policies": 0.02,
    "technical": 0.02,
    "organisations": 0.025,
    "operations": 0.03,
    "encyclopedic": 0.025,
    "wiki": 0.02,
    "tables": 0.03,
    "long-claims": 0.02,
    "long-claims-2": 0.02,
    "evidence": 0.04,
    "pages-science": 0.06,
    "pages-culture": 0.06,
    "pages-everyday": 0.06,
    "handbook-people": 0.05,
    "handbook-technical": 0.05,
    "web-checks": 0.06,
    "web-checks-2": 0.06,
    "handbook-answers": 0.06,
    "handbook-plain": 0.06,
    "handbook-long": 0.06,
}

#: The same by file of sets.
SETS = {
    "industry": 0.03,
    "people": 0.03,
    "software": 0.03,
    "handbooks": 0.045,
    "systems": 0.045,
    "regulated": 0.045,
    "institutions": 0.045,
    "products": 0.045,
    "offices": 0.045,
    "services": 0.045,
    "intranets": 0.045,
    "manuals": 0.045,
    "answers": 0.045,
    "pages": 0.045,
}

#: The same by public file, with the fewest claims that a premise needs to be drawn.
PUBLIC = {
    "fever": (0.10, 1),
    "vitaminc": (0.10, 1),
    "train-fool-me-twice": (0.05, 1),
    "check-covid": (0.04, 1),
    "check-covid-abstract": (0.005, 2),
    "scifact": (0.03, 1),
    "wanli": (0.06, 1),
    "taxinli": (0.04, 1),
    "train-cad-nli": (0.025, 2),
    "train-conjnli": (0.02, 1),
    "ambient": (0.015, 1),
    "negation-nli": (0.01, 1),
    "folio": (0.01, 1),
    "med": (0.005, 1),
    "infotabs": (0.05, 6),
    "tabfact": (0.02, 2),
    "factcg-doc": (0.03, 1),
    "contractnli": (0.015, 1),
    "wice-partial": (0.01, 1),
}


def sources(own: Path, public: Path, held: Held) -> list[Source]:
    """All labelled sources without what is held out.

    Args:
        own: the folder ``training/data``.
        public: a folder with ``public/*.jsonl`` and ``train-*.jsonl``.
        held: see ``mixture.without``.
    """
    read = [*own_sources(own, AUTHORED, SETS), *public_sources(public, PUBLIC)]
    return without(read, held)


def soft_source(path: Path, share: float) -> Source:
    """Pairs that a teacher labelled, as a source.

    Args:
        path: rows as ``adapter.groups.soft`` reads them.
        share: of all tokens, in (0, 1); those of ``sources`` keep the rest.
    """
    labelled = sum(AUTHORED.values()) + sum(SETS.values()) + sum(s for s, _ in PUBLIC.values())
    return Source(path.stem, labelled * share / (1.0 - share), soft(path))
