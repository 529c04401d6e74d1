"""Which settings have an effect on a benchmark's scores; any other one that is set is refused.

What a benchmark's data bring, the pipeline does not look for: the claims, the passages, and of
which sources they may be.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from factcheck_local.core.errors import InputError
from factcheck_local.evaluate.collection import Collection
from factcheck_local.pipeline.chosen import Chosen
from factcheck_local.pipeline.settings import (
    GRAPH_ASSESSORS,
    OF_SEARCH,
    OF_SPLITTING,
    SETTINGS,
    Settings,
    settings_line,
)
from factcheck_local.pipeline.verdicts.judges.registry import find_judge

#: Of the relation model alone (``factor``), and of what takes an answer apart (``factscore``).
RELATION = frozenset({"relation", "budget", "quantities", "cut_instructions", "tables"})
SPLITTING = OF_SPLITTING | {"llm", "embedder"}


def of_relation(settings: Settings) -> frozenset[str]:
    """What counts where the relation model is measured alone."""
    return RELATION | ({"llm"} if _reads(settings) else set())


def of_collection(collection: Collection, by_assessor: Mapping[str, Settings]) -> frozenset[str]:
    """What counts for some assessor on some item.

    Args:
        collection: the items.
        by_assessor: the settings of each assessor that is compared.
    """
    records = [item.record for item in collection.items]
    splits = any(record.atoms is None for record in records)
    searches = any(record.contexts is None for record in records) and any(
        assessor in GRAPH_ASSESSORS or find_judge(assessor).wants_contexts
        for assessor in by_assessor
    )
    found = frozenset(SETTINGS) - {"where"}
    if not splits:
        found -= OF_SPLITTING
    if not searches:
        found -= OF_SEARCH
    if not any(_asks(s, splits=splits, searches=searches) for s in by_assessor.values()):
        found -= {"llm"}
    return found


def _asks(settings: Settings, *, splits: bool, searches: bool) -> bool:
    """Whether a run asks the LLM for anything."""
    return (
        splits
        or settings.assessor not in GRAPH_ASSESSORS
        or _reads(settings)
        or settings.summarize
        or (searches and settings.queries == "llm")
    )


def _reads(settings: Settings) -> bool:
    """Whether the relation model is the LLM, or has it for one of its two."""
    return "llm" in settings.relation.split("+")


def check_effects(name: str, chosen: Iterable[Chosen], effective: frozenset[str]) -> None:
    """Refuse what was set and cannot change a score.

    Args:
        name: of the benchmark, for the message.
        chosen: the settings, of each assessor where several are compared.
        effective: the names of those that count.

    Raises:
        InputError: naming the first, and the place that set it.
    """
    for one in chosen:
        for setting in one.places:
            if setting not in effective:
                raise InputError(
                    f"{one.places[setting]}{setting}: has no effect on the benchmark {name}"
                )


def compared_line(by_assessor: Mapping[str, Settings]) -> str:
    """The settings line of several assessors: each setting as those have it that it is for."""
    values = Settings().as_dict()
    for settings in by_assessor.values():
        values |= {
            n: v for n, v in settings.as_dict().items() if n not in settings.without_effect()
        }
    return settings_line(values | {"assessor": ",".join(by_assessor)})
