"""The judges by the name that ``--assessor`` knows them by.

FactScore (Min et al. 2023), FactVerify (as FactReasoner's paper compares it), VeriScore (Song
et al. 2024), the final judgement of FactBench's VERIFY (Bayat et al. 2024), FELM's evaluators
(Chen et al. 2023), and an LLM judge that may use what it knows itself.
"""

from __future__ import annotations

from factcheck_local.core import plugins
from factcheck_local.core.types import Verdict
from factcheck_local.pipeline.verdicts.judges.case import Judge
from factcheck_local.pipeline.verdicts.judges.labels import LabelJudge
from factcheck_local.pipeline.verdicts.judges.reasoned import ReasoningJudge
from factcheck_local.pipeline.verdicts.judges.segments import SegmentJudge

_TERNARY = {"A": Verdict.SUPPORTED, "B": Verdict.CONTRADICTED, "C": Verdict.NOT_FOUND}
_TRUE_FALSE = {"True": Verdict.SUPPORTED, "False": Verdict.CONTRADICTED}
_WRITTEN = {
    "supported": Verdict.SUPPORTED,
    "contradicted": Verdict.CONTRADICTED,
    "undecided": Verdict.NOT_FOUND,
}
_WRITTEN_TRUE_FALSE = {"true": Verdict.SUPPORTED, "false": Verdict.CONTRADICTED}

#: Replies that vote where a judge of FELM reasons: its authors take five; three cost less.
VOTES = 3

JUDGE_BY_NAME: dict[str, Judge] = {
    "factscore": LabelJudge(
        "judge_factscore", {"True": Verdict.SUPPORTED, "False": Verdict.UNSUPPORTED}
    ),
    "factverify": ReasoningJudge("judge_factverify", _WRITTEN),
    "veriscore": LabelJudge("judge_veriscore", _TERNARY),
    "veriscore-binary": LabelJudge(
        "judge_veriscore_binary",
        {"supported": Verdict.SUPPORTED, "unsupported": Verdict.UNSUPPORTED},
    ),
    "factbench": LabelJudge("judge_verify", _TERNARY),
    "judge": LabelJudge("judge_own_knowledge", {**_TRUE_FALSE, "Unknown": Verdict.NOT_FOUND}),
    "felm-segment": SegmentJudge("felm_segment"),
    "felm-segment-cot": SegmentJudge("felm_segment_cot", reasons=True, votes=VOTES),
    "felm-segment-content": SegmentJudge("felm_segment", wants_contexts=True),
    "felm-claim": LabelJudge("felm_claim", _TRUE_FALSE, wants_contexts=False),
    "felm-claim-cot": ReasoningJudge(
        "felm_claim_cot", _WRITTEN_TRUE_FALSE, votes=VOTES, wants_contexts=False
    ),
    "felm-claim-content": LabelJudge("felm_claim", _TRUE_FALSE),
}


def find_judge(name: str) -> Judge:
    """The judge of this name, of this package or of a plugin.

    Raises:
        InputError: if it is of a plugin that cannot be loaded.
    """
    if name in JUDGE_BY_NAME:
        return JUDGE_BY_NAME[name]
    judge: Judge = plugins.load_plugin(plugins.ASSESSORS, name)
    return judge
