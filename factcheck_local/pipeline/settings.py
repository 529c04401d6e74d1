"""The settings of a run: one table, which the command line, factcheck.toml and docs follow."""

# ruff: noqa: RUF009  (``setting`` makes fields, and is called once per class)

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, Self, get_type_hints

from factcheck_local import __version__
from factcheck_local.core.errors import InputError
from factcheck_local.core.plugins import ASSESSORS as PLUGINS
from factcheck_local.core.plugins import plugin_names
from factcheck_local.indexer.scope import Condition
from factcheck_local.markov import Method, Parameterisation
from factcheck_local.models.registry import DEFAULT_EMBEDDER, DEFAULT_LLM
from factcheck_local.pipeline.setting import Needs, Setting, described, setting

AtomizerName = Literal["atoms", "prompted", "factbench", "veriscore"]
Queries = Literal["unit", "atom", "headings", "question", "llm"]
Retrieval = Literal["dense", "lexical", "fused"]
Tables = Literal["stated", "raw"]
ThresholdsFrom = Literal["own", "shipped", "none"]

#: Those that build a graphical model from relations.
GRAPH_ASSESSORS = ("fr1", "fr2", "fr3", "fr4")

#: Those that ask the LLM about each claim or segment, see ``verdicts.judges``: to compare with.
JUDGES: tuple[str, ...] = (
    "factscore",
    "factverify",
    "veriscore",
    "veriscore-binary",
    "factbench",
    "judge",
    "felm-segment",
    "felm-segment-cot",
    "felm-segment-content",
    "felm-claim",
    "felm-claim-cot",
    "felm-claim-content",
)
#: Judges of other distributions, see ``core.plugins``; ours cannot be replaced.
PLUGGED = tuple(n for n in plugin_names(PLUGINS) if n not in (*GRAPH_ASSESSORS, *JUDGES))
_COMPARED = JUDGES
JUDGES += PLUGGED
ASSESSORS = (*GRAPH_ASSESSORS, *JUDGES)

#: What values, and settings, of earlier versions are called now; and those that are no more.
_OF_FACTBENCH = {"verify": "factbench"}
_RENAMED = {"parameterisation": "factors"}
_GONE = ("alpha",)


def _one_of(*assessors: str) -> Needs:
    return Needs("assessor", f"assessor={'|'.join(assessors)}", lambda value: value in assessors)


#: Of a setting whose value a run finds for itself.
AUTO = "auto"

#: Settings of how an answer is taken apart, without effect where its claims are given.
OF_SPLITTING = frozenset({"atomizer", "draws"})

#: Settings of the search for passages, without effect where these are given.
OF_SEARCH = frozenset(
    {"k", "retrieval", "where", "as_groups", "organisation", "queries", "query_rounds", "rerank"}
)

_NETWORK = _one_of(*GRAPH_ASSESSORS)
_CASCADE = Needs("relation", "relation=FAST+SLOW", lambda value: "+" in value)
_ATOMS = Needs("atomizer", "atomizer=atoms", lambda value: value == "atoms")
_OWN_QUERIES = Needs("queries", "queries=llm", lambda value: value == "llm")


@dataclass(frozen=True, slots=True)
class Settings:
    """What decides an assessment, beside the answer, the store and the models' files.

    ``docs/settings.md`` says what each one does; ``SETTINGS`` is the same table as values.

    Raises:
        InputError: for a value that a setting cannot have, and for one that is not its
            default and has no effect with the others.
    """

    assessor: str = setting(
        "fr2",
        "Which relations enter the network. fr1: of each claim with its own passages; fr2: of each "
        "claim with every passage; fr3: of passages with each other, too; fr4: also with "
        "the documents that they come from, and copies of a text count once.",
        choices=(*GRAPH_ASSESSORS, *PLUGGED),
        compared=_COMPARED,
        renamed=_OF_FACTBENCH,
    )
    atomizer: AtomizerName = setting(
        "atoms",
        "How an answer is split into claims: atoms, by the LLM's adapter if it has one and else by "
        "a prompt with examples; prompted, by that prompt in any case; or as FactBench's VERIFY "
        "or VeriScore do.",
        renamed=_OF_FACTBENCH,
    )
    draws: int = setting(
        3,
        "How many ways to take a part of the answer apart are drawn beside the likeliest; the one "
        "counts that is most like the others. Without an adapter for it: none.",
        low=0,
        high=20,
        needs=_ATOMS,
    )
    k: int = setting(3, "How many passages are retrieved per claim.", low=1, high=1000)
    retrieval: Retrieval = setting(
        "fused",
        "How passages are found: by meaning (dense), by words (lexical), or by both and by their "
        "best sentence (fused).",
    )
    where: tuple[str, ...] = setting(
        (), "Conditions that a source has to meet, such as source=policies/** or owner=Legal."
    )
    as_groups: tuple[str, ...] | None = setting(
        None, "Groups whose access limits the passages; none: everything is used."
    )
    organisation: str | None = setting(
        AUTO,
        "Whose documents these are, put above a passage's title and into the question that an "
        "answer is split by, where these do not name it: auto, as most of a folder's documents "
        "tell it; a name; or none.",
    )
    queries: Queries = setting(
        "unit",
        "What is looked for beside the claim: the sentence or item of the answer that it is from, "
        "under its headings (unit), nothing (atom), the claim under these headings, the claim "
        "behind the question, or queries that the LLM writes.",
    )
    query_rounds: int = setting(
        1,
        "How often the LLM looks at what its queries find and writes another.",
        low=0,
        high=10,
        needs=_OWN_QUERIES,
    )
    rerank: str | None = setting(
        None,
        "What reads the best passages again before the k are taken: encoder, or the name of "
        "an NLI encoder or reranker.",
    )
    summarize: bool = setting(
        False,
        "Whether a long passage is read as the LLM's summary of it for the claim.",
        needs=_NETWORK,
    )
    llm: str = setting(
        DEFAULT_LLM, "The model that splits and rewords; it reads, too, where relation names llm."
    )
    relation: str = setting(
        "encoder+llm",
        "The model that reads claim and passage: llm, encoder (the small one in the package), a "
        "model's name, or FAST+SLOW, where the second reads what leaves the first unsure.",
        renamed={"cascade": "encoder+llm"},
        needs=_NETWORK,
    )
    budget: int | None = setting(
        None,
        "How many pairs the second of two relation models may read; none: all that the first "
        "leaves open.",
        low=0,
        needs=_CASCADE,
    )
    quantities: bool = setting(
        True,
        "Whether numbers, dates and units that exclude each other weigh against a passage's "
        "stating a claim.",
        needs=_NETWORK,
    )
    cut_instructions: bool = setting(
        True,
        "Whether hidden text, and text that tells a model what to answer, is kept from the "
        "model that reads claim and passage.",
    )
    tables: Tables = setting(
        "stated",
        "How the relation model reads tables: as statements, each row with its headers, and links "
        "without their targets; or both raw.",
        needs=_NETWORK,
    )
    embedder: str = setting(
        DEFAULT_EMBEDDER,
        "The model of the store, which also picks quotes and the pairs that are read; a store "
        "brings its own.",
    )
    factors: Parameterisation = setting(
        "conditional",
        "What a relation says of a claim whose passage is false: nothing (conditional), or as in "
        "table 1 of FactReasoner's paper.",
        needs=_NETWORK,
    )
    method: Method = setting(
        "auto", "How posteriors are computed; auto is exact where that is possible.", needs=_NETWORK
    )
    min_similarity: float = setting(
        0.2,
        "The cosine of a claim and its passage below which the pair is not read.",
        low=-1,
        high=1,
        needs=_NETWORK,
    )
    min_pooled_similarity: float = setting(
        0.7,
        "The same for a passage that was retrieved for another claim.",
        low=-1,
        high=1,
        needs=_one_of("fr2", "fr3", "fr4"),
    )
    min_context_similarity: float = setting(
        0.6, "The same for two passages.", low=-1, high=1, needs=_one_of("fr3", "fr4")
    )
    relation_correlation: float = setting(
        0.5,
        "How far the relation model's errors on passages of one claim go together; 0 takes them "
        "as independent, as FactReasoner does.",
        low=0,
        high=1,
        needs=_NETWORK,
    )
    source_correlation: float = setting(
        0.7,
        "How far a passage's truth goes with its document's.",
        low=0,
        high=1,
        needs=_one_of("fr4"),
    )
    strong: float = setting(
        0.5,
        "What evidence on either side has to weigh, probability times the source's prior, for "
        "a claim to be called conflicting.",
        low=0,
        high=1,
        needs=_NETWORK,
    )
    conflict_within: float = setting(
        0.2,
        "How far from ½ the probability of a claim with such evidence may be for it to be called "
        "conflicting; beyond that the weightier side decides. 0.5: however far.",
        low=0,
        high=0.5,
        needs=_NETWORK,
    )
    thresholds: ThresholdsFrom = setting(
        "own",
        "From which certainty on a claim is called supported or contradicted, and not undecided: "
        "own, what calibrate --risk fitted for the store, if anything; shipped, else what the "
        "relation model comes with; none, any.",
        needs=_NETWORK,
    )

    def __post_init__(self) -> None:
        """Refuse what no run can use; see the class."""
        for row in SETTINGS.values():
            check_value(row, getattr(self, row.name))
        for name in self.without_effect():
            if getattr(self, name) != SETTINGS[name].default:
                raise no_effect(name)

    def without_effect(self) -> list[str]:
        """The names of settings that change nothing with the others as they are."""
        values = asdict(self)
        return [row.name for row in SETTINGS.values() if is_idle(row, values)]

    @classmethod
    def effective(cls, values: Mapping[str, Any]) -> Self:
        """Settings of values of which those without an effect go back to their defaults.

        Raises:
            InputError: for a value that a setting cannot have.
            TypeError: for a name that is none of a setting.
        """
        kept = dict(values)
        for row in SETTINGS.values():
            value = kept.get(row.name, row.default)
            row.check(value)
            if is_idle(row, kept):
                kept.pop(row.name, None)
        return cls(**kept)

    def as_dict(self) -> dict[str, Any]:
        """All settings by name, as JSON gives them back."""
        values = asdict(self)
        return {name: list(v) if isinstance(v, tuple) else v for name, v in values.items()}

    def line(self) -> str:
        """Version and every setting on one line, to stand beside a score."""
        return settings_line(self.as_dict())


def settings_line(values: Mapping[str, Any]) -> str:
    """See ``Settings.line``."""
    said = "|".join(f"{name}:{value}" for name, value in values.items())
    return f"factcheck-local:{__version__}|{said}"


def check_value(row: Setting, value: object) -> None:
    """Refuse a value that a setting cannot have, conditions on sources included.

    Raises:
        InputError: with the setting's name.
    """
    row.check(value)
    if row.name == "where" and isinstance(value, tuple):
        for condition in value:
            Condition.parse(condition)


def is_idle(row: Setting, values: Mapping[str, Any]) -> bool:
    """Whether a setting changes nothing with others as they are: what it needs, or that needs.

    Args:
        row: the setting.
        values: by name; the default for what is not there.
    """
    if row.needs is None:
        return False
    other = SETTINGS[row.needs.of]
    return not row.needs.holds(values.get(other.name, other.default)) or is_idle(other, values)


def no_effect(name: str, origin: str = "") -> InputError:
    """The error for a setting that changes nothing with the others chosen.

    Args:
        name: of a setting that needs another.
        origin: where it was set, to stand in front.
    """
    needs = SETTINGS[name].needs
    said = f", it needs {needs.said}" if needs else ""
    return InputError(f"{origin}{name}: has no effect with the settings chosen{said}")


#: Every setting by name. A setting that another one needs stands before it.
SETTINGS: dict[str, Setting] = {
    f.name: described(f.name, f.default, get_type_hints(Settings)[f.name], f.metadata)
    for f in fields(Settings)
}


#: What a network did before there was a setting for it: it took relations as independent, and any
#: P could be a conflict's.
_BEFORE = {"relation_correlation": 0.0, "conflict_within": 0.5}

#: Likewise for what takes an answer apart.
_BEFORE_SPLITTING = {"draws": 0}


def as_named_now(values: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a run of any version under the names and values of this one."""
    kept = {_RENAMED.get(name, name): v for name, v in values.items() if name not in _GONE}
    for name, value in kept.items():
        if name in SETTINGS and isinstance(value, str):
            kept[name] = SETTINGS[name].renamed.get(value, value)
    before = _BEFORE if kept.get("assessor") in GRAPH_ASSESSORS else {}
    return before | (_BEFORE_SPLITTING if kept.get("atomizer") == "atoms" else {}) | kept
