"""Indexing as a job: brings the store up to date with a folder that the server names.

It runs beside the checks, in a process and a queue of its own, so that neither waits for the other.
What is cut off goes on where it stopped, as ``factcheck index`` does.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from factcheck_local.core.errors import InputError
from factcheck_local.indexer.store import Store
from factcheck_local.indexer.sync import Step, sync
from factcheck_local.serve.check import Claimed
from factcheck_local.serve.jobs import Jobs
from factcheck_local.serve.worker import Teller, do_next

#: What a run reports by its counts alone, and with sources and reasons.
COUNTED, LISTED = ("indexed", "unchanged", "removed"), ("skipped", "failed")


def index_next(jobs: Jobs, place: Path, folders: Mapping[str, str]) -> bool:
    """Index the folder that waits longest; False if none does.

    Args:
        jobs: where what is asked for waits.
        place: the store's folder.
        folders: name -> path.
    """

    def indexed(claimed: Claimed) -> dict[str, Any]:
        name = claimed.check.request["folder"]
        if name not in folders:
            raise InputError(f"the server has no folder named {name!r} any more")
        teller = Teller(jobs, claimed)

        def tell(step: Step) -> None:
            # Without the source's name, which not everybody may see.
            done = {key: value for key, value in step._asdict().items() if key != "source"}
            teller.tell("index", done, counts=step.files < step.all_files)

        with Store.open(place) as store:
            report = sync([Path(folders[name])], store, progress=tell)
            found: dict[str, Any] = {part: len(getattr(report, part)) for part in COUNTED}
            for part in LISTED:
                found[part] = [entry._asdict() for entry in getattr(report, part)]
            return found | {"passages": store.count(), "digest": store.digest()}

    return do_next(jobs, indexed)
