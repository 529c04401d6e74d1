"""docs/reliability.md: it names every key, and its numbers are right."""

from __future__ import annotations

import tomllib
from datetime import date
from pathlib import Path

import pytest

from factcheck_local.core.types import EvidenceLink, RelationLabel
from factcheck_local.indexer.loaders import load
from factcheck_local.indexer.loaders.text import META_KEYS
from factcheck_local.indexer.reliability import (
    ReliabilityProfile,
    check_statements,
    storable,
    supersession,
)
from factcheck_local.indexer.reliability.access import own_groups
from factcheck_local.indexer.reliability.profile import decayed
from factcheck_local.markov import Network, infer, prior_factor, relation_factor
from factcheck_local.pipeline.settings import Settings
from factcheck_local.pipeline.verdicts.network import discounted
from tests.indexer.helpers import write

from .pages import PAGES, blocks

PAGE = PAGES["docs/reliability.md"]
PROFILES = blocks("docs/reliability.md", "toml")
FRONT_MATTER = [text + "\n" for text in blocks("docs/reliability.md", "yaml")]


def profile(folder: Path, text: str) -> ReliabilityProfile:
    write(folder, {"reliability.toml": text})
    return ReliabilityProfile.load(folder / "reliability.toml")


def test_every_key_is_on_the_page() -> None:
    shown: set[str] = set()
    for values in map(tomllib.loads, PROFILES):
        shown.update(values)
        for table in ("source", "access"):
            shown.update(f"{table}.{key}" for rule in values.get(table, ()) for key in rule)
    source = {"match", "owner", "where", "prior", "half_life_days", "note"}
    assert shown == (
        {"default", "half_life_days", "superseded", "versions_by_name", "source", "access"}
        | {f"source.{key}" for key in source}
        | {"access.match", "access.where", "access.groups"}
    )
    assert all(f"`{key}`" in PAGE for key in META_KEYS)


def test_the_front_matter_on_the_page_is_read(tmp_path: Path) -> None:
    files = {f"{n}.md": text + "text" for n, text in enumerate(FRONT_MATTER)}
    files |= {"leave-2023.md": "text", "leave-2024.md": "text"}
    write(tmp_path, files)
    documents = [load(tmp_path / name, name) for name in files]
    for document in documents:
        check_statements(document)
    stated = {document.source: storable(document.metadata) for document in documents}
    assert stated["0.md"]["reliability"] == 0.9
    assert supersession(stated.items(), by_name=False) == {
        "leave-2023.md": "1.md",
        "leave-2024.md": "1.md",
    }
    assert own_groups(stated["2.md"]) == frozenset({"hr", "board"})


def test_the_numbers_on_age(tmp_path: Path) -> None:
    rules = profile(tmp_path, next(text for text in PROFILES if "prices" in text))
    found = rules.reliability(["prices/a.md"], {"date": "2025-01-01"}, today=date(2025, 6, 30))
    assert found == (0.725, "prices/**; 180 days old, half-life 180 days")
    assert decayed(0.95, 360, 180) == 0.6125


def test_the_numbers_on_priors() -> None:
    """½ + prior · (s - ½), and odds that multiply, by the inference itself."""

    def posterior(*passages: tuple[float, RelationLabel], strength: float = 0.95) -> float:
        factors, names = [prior_factor("claim", 0.5)], ["claim"]
        for number, (prior, label) in enumerate(passages):
            name = f"passage{number}"
            names.append(name)
            factors.append(prior_factor(name, prior))
            factors.append(
                relation_factor(
                    label, name, "claim", strength, parameterisation="conditional", prior_y=0.5
                )
            )
        return infer(Network(tuple(names), tuple(factors))).p_true["claim"]

    yes, no = RelationLabel.ENTAILMENT, RelationLabel.CONTRADICTION
    assert posterior((0.98, yes)) == pytest.approx(0.941)
    assert posterior((0.6, yes)) == pytest.approx(0.77)
    assert posterior((0.5, yes)) == pytest.approx(0.5 + 0.45 / 2)
    # odds 0.941/0.059 · 0.23/0.77
    assert posterior((0.98, yes), (0.6, no)) == pytest.approx(0.8265, abs=5e-5)
    links = [EvidenceLink(name, "claim", yes, probability=1.0, strength=0.95) for name in "ab"]
    weaker = discounted(links, Settings().relation_correlation)[0].strength
    left = posterior((0.98, yes), (0.6, no), strength=weaker)
    assert left == pytest.approx(0.715, abs=5e-4)
    for number in ("94 %", "77 %", "83 %", "71.5 %"):
        assert number in PAGE
