"""Routes of reviews: what people say of the claims, and how far they agree."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Query, Response
from pydantic import BaseModel, ConfigDict, Field

from factcheck_local.serve.access import Caller
from factcheck_local.serve.check import Check
from factcheck_local.serve.problems import Problem
from factcheck_local.serve.reviews import Agreement, State, Word, rows_of
from factcheck_local.serve.service import Service, caller_for, reviews, sees

Reviewing = Annotated[Caller, Depends(caller_for("review"))]

#: Checks that are looked at for a page of reviews.
PAGE = 200


class ReviewRequest(BaseModel):
    """A reviewer's word on a claim."""

    model_config = ConfigDict(extra="forbid")

    verdict: Word
    reason: str = Field("", max_length=10_000, description="For people.")


def add_reviews(app: FastAPI, service: Service) -> None:
    """Add the routes."""

    def done(check: Check) -> dict[str, Any]:
        result = service.jobs.result(check.id)
        if result is None:
            raise Problem(409, f"the check is {check.state}")
        return result

    def page(
        caller: Caller, state: State | None, before: int | None
    ) -> tuple[list[dict[str, Any]], int | None]:
        """Claims of the checks that the caller may review, and where the next page begins."""
        found = service.jobs.latest(None, state="done", before=before, limit=PAGE)
        rows = [
            row
            for check in found
            if sees(caller, check) or reviews(caller, check)
            for row in rows_of(check.id, done(check), service.reviews.latest(check.id))
            if state in (None, row["state"])
        ]
        return rows, found[-1].number if len(found) == PAGE else None

    @app.post("/v1/checks/{check_id}/claims/{claim_id}/review", status_code=201)
    def review(
        check_id: str, claim_id: str, body: ReviewRequest, caller: Reviewing
    ) -> dict[str, Any]:
        """Say what is true of a claim; an earlier word of the same reviewer is kept, too."""
        check = service.check(check_id, caller, others=True)
        claims = {row["claim"] for row in rows_of(check.id, done(check), [])}
        if claim_id not in claims:
            raise Problem(404, "no such claim, or one that was not checked")
        service.audit.add(
            caller.name, "claim.reviewed", check=check.id, claim=claim_id, verdict=body.verdict
        )
        kept = service.reviews.add(check.id, claim_id, caller.name, body.verdict, body.reason)
        return asdict(kept)

    @app.get("/v1/checks/{check_id}/reviews")
    def of_check(check_id: str, caller: Reviewing) -> dict[str, Any]:
        """All reviews of a check in the order in which they were made, and the agreement."""
        check = service.check(check_id, caller, others=True)
        verdicts = {atom["id"]: atom["verdict"] for atom in done(check)["atoms"]}
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
        rows, more = page(caller, state, before)
        return {"claims": rows, "before": more}

    @app.get("/v1/reviews.jsonl")
    def export(caller: Reviewing) -> Response:
        """The claims on which all reviewers agree, as `factcheck calibrate --risk` reads them."""
        rows, more = page(caller, "agreed", None)
        while more is not None:
            further, more = page(caller, "agreed", more)
            rows += further
        service.audit.add(caller.name, "reviews.exported", claims=len(rows))
        return Response(
            "".join(f"{json.dumps(row)}\n" for row in rows), media_type="application/jsonl"
        )
