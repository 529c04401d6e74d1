"""Routes of reviews: what people say of the claims, and how far they agree."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from factcheck_local.serve.access import Caller
from factcheck_local.serve.check import Problem
from factcheck_local.serve.reviews import (
    Agreement,
    Label,
    Review,
    State,
    Word,
    pairs_of,
    rows_of,
)
from factcheck_local.serve.service import Service, caller_for, reviews, sees

Reviewing = Annotated[Caller, Depends(caller_for("review"))]

#: A check's id, its assessment, and the latest word of each reviewer.
Reviewed = tuple[str, dict[str, Any], list[Review]]

#: Checks that are looked at for a page of reviews.
PAGE = 200


class ReviewRequest(BaseModel):
    """A reviewer's word on a claim."""

    model_config = ConfigDict(extra="forbid")

    verdict: Word
    reason: str = Field("", max_length=10_000, description="For people.")
    evidence: dict[str, Label] = Field(
        default_factory=dict, max_length=1_000, description="What passages say, by their ids."
    )


def add_reviews(app: FastAPI, service: Service) -> None:
    """Add the routes."""

    def page(caller: Caller, before: int | None) -> tuple[list[Reviewed], int | None]:
        """The checks that the caller may review, and where the next page begins."""
        found = service.jobs.latest(None, state="done", before=before, limit=PAGE)
        own = [check for check in found if sees(caller, check) or reviews(caller, check)]
        read = [(c.id, result, service.reviews.latest(c.id)) for c, result in service.results(own)]
        return read, found[-1].number if len(found) == PAGE else None

    @app.post("/v1/checks/{check_id}/claims/{claim_id:path}/review", status_code=201)
    def review(
        check_id: str, claim_id: str, body: ReviewRequest, caller: Reviewing
    ) -> dict[str, Any]:
        """Say what is true of a claim; an earlier word of the same reviewer is kept, too."""
        check = service.check(check_id, caller, others=True)
        result = service.result(check)
        claims = {row["claim"] for row in rows_of(check.id, result, [])}
        if claim_id not in claims:
            raise Problem(404, "no such claim, or one that was not checked")
        own = [atom["evidence"] for atom in result["atoms"] if atom["id"] == claim_id]
        unknown = body.evidence.keys() - {row["context"] for rows in own for row in rows}
        if unknown:
            raise Problem(422, f"evidence: no such passage of this claim: {min(unknown)!r}")
        service.audit.add(
            caller.name, "claim.reviewed", check=check.id, claim=claim_id, verdict=body.verdict
        )
        kept = service.reviews.add(
            check.id, claim_id, caller.name, body.verdict, body.reason, body.evidence
        )
        return asdict(kept)

    @app.get("/v1/checks/{check_id}/reviews")
    def of_check(check_id: str, caller: Reviewing) -> dict[str, Any]:
        """All reviews of a check in the order in which they were made, and the agreement."""
        check = service.check(check_id, caller, others=True)
        verdicts = {atom["id"]: atom["verdict"] for atom in service.result(check)["atoms"]}
        agreement = Agreement.of(service.reviews.latest(check.id), verdicts)
        return {
            "reviews": [asdict(one) for one in service.reviews.all(check.id)],
            "agreement": asdict(agreement),
        }

    @app.get("/v1/reviews")
    def list_reviews(
        caller: Reviewing,
        state: State | None = None,
        before: Annotated[int | None, Query(ge=1, le=2**62)] = None,
    ) -> dict[str, Any]:
        """Claims with what is said of them: open, agreed or disputed, the latest checks first."""
        found, more = page(caller, before)
        rows = [r for check in found for r in rows_of(*check) if state in (None, r["state"])]
        return {"claims": rows, "before": more}

    @app.get("/v1/reviews.jsonl")
    def export(caller: Reviewing) -> Response:
        """Claims and passages on which all reviewers agree, as `factcheck calibrate` reads them."""
        rows: list[dict[str, Any]] = []
        more, first = None, True
        while first or more is not None:
            found, more = page(caller, more)
            first = False
            rows += [r for check in found for r in rows_of(*check) if r["state"] == "agreed"]
            rows += [r for check in found for r in pairs_of(*check)]
        service.audit.add(caller.name, "reviews.exported", claims=len(rows))
        return Response(
            "".join(f"{json.dumps(row)}\n" for row in rows), media_type="application/jsonl"
        )
