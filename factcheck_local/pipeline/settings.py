"""The settings of a run, all of them, and the signature that names them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from factcheck_local import __version__
from factcheck_local.core.errors import InputError
from factcheck_local.core.plugins import ASSESSORS as PLUGINS
from factcheck_local.core.plugins import plugin_names
from factcheck_local.indexer.scope import Condition
from factcheck_local.markov import Method, Parameterisation
from factcheck_local.models.registry import DEFAULT_EMBEDDER, DEFAULT_LLM

AtomizerName = Literal["atoms", "verify", "veriscore"]
Queries = Literal["atom", "headings", "question", "llm"]
Retrieval = Literal["dense", "lexical", "fused"]
Tables = Literal["stated", "raw"]

#: Those that build a graphical model from relations.
GRAPH_ASSESSORS = ("fr1", "fr2", "fr3", "fr4")

#: Those that ask the LLM about each claim or segment, see ``verdicts.factreasoner.judges``.
JUDGES: tuple[str, ...] = (
    "factscore",
    "factverify",
    "veriscore",
    "veriscore-binary",
    "verify",
    "judge",
    "felm-segment",
    "felm-segment-cot",
    "felm-segment-content",
    "felm-claim",
    "felm-claim-cot",
    "felm-claim-content",
)
# Those of other distributions, see ``core.plugins``; ours cannot be replaced.
JUDGES += tuple(n for n in plugin_names(PLUGINS) if n not in (*GRAPH_ASSESSORS, *JUDGES))
ASSESSORS = (*GRAPH_ASSESSORS, *JUDGES)


@dataclass(frozen=True, slots=True)
class Settings:
    """What decides an assessment, beside the answer, the store and the models' files.

    Attributes:
        assessor: ``fr1``: each atom with its own contexts; ``fr2``: every atom
            with every context; ``fr3``: contexts with each other too; ``fr4``: and
            with the documents they come from, copies of a text counted once. Or one of
            ``JUDGES``: the LLM decides each atom itself, from the same contexts.
        atomizer: how an answer is split. ``atoms``: see ``claims.atomize.atomize``; ``verify``:
            VERIFY's labelled units, each made understandable on its own; ``veriscore``:
            VeriScore's verifiable claims, which need no rewording.
        k: contexts retrieved for an atom, at least 1.
        retrieval: ``dense``, ``lexical`` or ``fused``, see ``retrieval.search.search``.
        where: conditions on the sources that may be used, see ``indexer.scope.Condition``.
        as_groups: groups whose access restricts what may be used; None for no restriction.
        queries: what is looked for beside an atom's own words. ``atom``: nothing;
            ``headings``: what stands above it in the answer, too; ``question``: the
            question in front of it; ``llm``: queries that the LLM writes, see
            ``retrieval.queries.write_queries``.
        query_rounds: how often the LLM may look at what its queries find and write
            another, at least 0.
        rerank: what reads the best passages again before the k are taken: ``encoder``
            (the one in the package), the name of an NLI encoder or reranker; None for
            nothing.
        summarize: whether of long passages the LLM's summaries for each claim are related,
            see ``relation.summaries.summarize``.
        llm: model that splits, rewords and, for ``relation="llm"``, judges.
        relation: ``llm``, ``encoder`` (the one in the package), the name of an LLM or
            NLI encoder, or two joined by ``+``: a cascade, the fast one first;
            ``cascade`` is ``encoder+llm``.
        budget: pairs that the slow model of a cascade may read; None for all that the
            fast one leaves open.
        quantities: whether quantities of claim and passage that exclude each other
            weigh against entailment, see ``relation.guard``.
        cut_instructions: whether the relation model reads a text without what is hidden in it
            or addressed to a model, see ``text.hostile.readable``.
        tables: how the relation model reads tables: ``stated``, each row as a statement with
            its headers, see ``relation.tables``, or ``raw``.
        embedder: model of the store; also picks quotes and related pairs.
        parameterisation: of the relation factors, see ``markov.relation_factor``.
        method: of inference, see ``markov.infer``.
        min_similarity: cosine below which a pair is taken as unrelated, without
            asking the relation model. At 0.2 99.8 % of the related pairs of
            factcheckbench-dev are read, 99.6 % of fever-symmetric-dev, 99.1 % of the
            windows of WiCE dev (``benchmarks/relation.py --gate``).
        min_pooled_similarity: the same for a context that was retrieved for
            another atom only; what is missed here costs an FR2 edge beyond FR1's.
        min_context_similarity: the same between two contexts, for ``fr3`` and ``fr4``.
        relation_correlation: of the relation model's errors on two premises of one
            hypothesis, in [0, 1], see ``verdicts.network.discounted``; 0 is FactReasoner. With ½
            the Brier score of FR2's P is 0.221 instead of 0.270 on 72 claims of
            Factcheck-Bench and 0.174 instead of 0.180 on 65 of the handbook, with the
            same verdicts.
        source_correlation: of a passage with its document, for ``fr4``, see
            ``verdicts.documents.with_sources``; two passages correlate by its square.
        strong: how much a relation has to weigh, p times the source's prior, for
            opposing evidence to count as a conflict of sources.
        alpha: weight of an undecided unit in the hallucination score.
    """

    assessor: str = "fr2"
    atomizer: AtomizerName = "atoms"
    k: int = 3
    retrieval: Retrieval = "dense"
    where: tuple[str, ...] = ()
    as_groups: tuple[str, ...] | None = None
    queries: Queries = "atom"
    query_rounds: int = 1
    rerank: str | None = None
    summarize: bool = False
    llm: str = DEFAULT_LLM
    relation: str = "llm"
    budget: int | None = None
    quantities: bool = True
    cut_instructions: bool = True
    tables: Tables = "stated"
    embedder: str = DEFAULT_EMBEDDER
    parameterisation: Parameterisation = "conditional"
    method: Method = "auto"
    min_similarity: float = 0.2
    min_pooled_similarity: float = 0.45
    min_context_similarity: float = 0.6
    relation_correlation: float = 0.5
    source_correlation: float = 0.7
    strong: float = 0.5
    alpha: float = 0.5

    def __post_init__(self) -> None:
        """Refuse what no run can use.

        Raises:
            InputError: naming the setting, what is expected and what came.
        """
        if self.assessor not in ASSESSORS:
            raise InputError(f"assessor: expected {', '.join(ASSESSORS)}, got {self.assessor!r}")
        if self.atomizer not in get_args(AtomizerName):
            expected = ", ".join(get_args(AtomizerName))
            raise InputError(f"atomizer: expected {expected}, got {self.atomizer!r}")
        if self.retrieval not in get_args(Retrieval):
            expected = ", ".join(get_args(Retrieval))
            raise InputError(f"retrieval: expected {expected}, got {self.retrieval!r}")
        for condition in self.where:
            Condition.parse(condition)
        if self.queries not in get_args(Queries):
            expected = ", ".join(get_args(Queries))
            raise InputError(f"queries: expected {expected}, got {self.queries!r}")
        if self.tables not in get_args(Tables):
            expected = ", ".join(get_args(Tables))
            raise InputError(f"tables: expected {expected}, got {self.tables!r}")
        if self.summarize and self.assessor in JUDGES:
            raise InputError(f"summarize: {self.assessor} reads the passages as they are")
        if self.query_rounds < 0:
            raise InputError(f"query_rounds: expected at least 0, got {self.query_rounds}")
        if self.k < 1:
            raise InputError(f"k: expected at least 1, got {self.k}")
        if self.budget is not None and self.budget < 0:
            raise InputError(f"budget: expected at least 0, got {self.budget}")
        for name in ("min_similarity", "min_pooled_similarity", "min_context_similarity"):
            if not -1 <= getattr(self, name) <= 1:
                raise InputError(f"{name}: expected a cosine, got {getattr(self, name)}")
        for name in ("relation_correlation", "source_correlation", "strong", "alpha"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(f"{name}: expected a value in [0, 1], got {getattr(self, name)}")

    def as_dict(self) -> dict[str, Any]:
        """All settings by name, as JSON gives them back."""
        values = asdict(self)
        return {name: list(v) if isinstance(v, tuple) else v for name, v in values.items()}

    def signature(self) -> str:
        """Version and every setting on one line, to stand beside a score."""
        values = "|".join(f"{name}:{value}" for name, value in self.as_dict().items())
        return f"factcheck-local:{__version__}|{values}"
