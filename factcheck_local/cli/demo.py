"""factcheck demo: a sample answer against the sample handbook that comes with the package."""

from __future__ import annotations

import sys
from importlib import resources
from pathlib import Path

import click

from factcheck_local.cli.common import (
    llm_option,
    make_view,
    relation_option,
    settings_values,
    write_report,
)
from factcheck_local.cli.messages import tell
from factcheck_local.cli.models import pull_models
from factcheck_local.cli.progress import index_progress, stage_progress
from factcheck_local.cli.watch import live_claims
from factcheck_local.core.errors import InputError, ModelError, StoreError
from factcheck_local.core.types import Answer
from factcheck_local.indexer.fingerprint import REBUILD
from factcheck_local.indexer.folder import STORE_NAME
from factcheck_local.indexer.store import Store
from factcheck_local.indexer.sync import sync
from factcheck_local.models.cards import data_directory, find_card
from factcheck_local.pipeline.checker import FactChecker
from factcheck_local.pipeline.relation.load import relation_card
from factcheck_local.pipeline.settings import Settings
from factcheck_local.report import to_dict

#: The answer that is verified, in the handbook; the answers are no part of the corpus.
_ANSWER = Path("answers", "onboarding.md")
_NOT_INDEXED = ("answers/**",)


@click.command("demo")
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where the store and the reports go; by default beside the models.",
)
@click.option("--pull", is_flag=True, help="Fetch models that are missing without asking.")
@llm_option
@relation_option
def command(folder: Path | None, pull: bool, **chosen: str | None) -> None:
    """Verify a sample answer against the sample handbook that comes with the package.

    Run again, it takes the store that is there.

    \b
    Example:
      factcheck demo
    """
    settings = Settings(**settings_values(**chosen))
    relation = (relation_card(n, settings.llm).id for n in settings.relation.split("+"))
    _ensure_models((settings.embedder, settings.llm, *relation), pull=pull)
    own = folder is None
    folder = folder or data_directory() / "demo"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made: {error.strerror}") from error
    handbook = Path(str(resources.files("factcheck_local"))) / "sample" / "handbook"
    tell(f"the handbook: {handbook}")
    with _made(folder / STORE_NAME, own=own) as store, index_progress() as progress:
        report = sync([handbook], store, exclude=_NOT_INDEXED, progress=progress)
        if report.failed:
            raise InputError(f"{handbook}: cannot be read: {report.failed[0].source}")
    text = (handbook / _ANSWER).read_text(encoding="utf-8")
    tell(f"the answer: {handbook / _ANSWER}")
    with (
        Store.open(folder / STORE_NAME) as store,
        FactChecker(settings, store, progress=stage_progress()) as checker,
    ):
        view = make_view("text", None)
        on_event = live_claims("text", None, view).begin(1, _ANSWER.name)
        assessment = to_dict(checker.verify(Answer(text, _ANSWER.name), on_event=on_event))
    for form in ("json", "html"):
        output = folder / f"{_ANSWER.stem}.{form}"
        write_report([assessment], form, output, make_view(form, output))
    write_report([assessment], "text", None, view)
    tell(f"to review it in a browser: {folder / _ANSWER.stem}.html")


def _made(place: Path, *, own: bool) -> Store:
    """The demo's store; its own, which holds the sample alone, is made again after an upgrade."""
    try:
        return Store.create(place)
    except StoreError as error:
        if not own or not (error.hint or "").startswith(REBUILD):
            raise
    Store.erase(place)
    return Store.create(place)


def _ensure_models(names: tuple[str, ...], *, pull: bool) -> None:
    """See that models are here; fetch them if the user agrees.

    Raises:
        ModelError: if one is missing and the user does not agree, or cannot be asked.
    """
    cards = [find_card(name) for name in dict.fromkeys(names)]
    missing = [card for card in cards if not card.is_installed()]
    if not missing:
        return
    what = ", ".join(f"{card.id} ({card.size / 1e6:,.0f} MB)" for card in missing)
    if not pull and sys.stdin.isatty():
        pull = click.confirm(f"The demo needs {what}. Fetch it now?", err=True)
    wanted = tuple(card.id for card in missing)
    if not pull:
        raise ModelError(
            f"the demo needs models that are not here: {what}",
            hint=f"factcheck models pull {' '.join(wanted)}",
        )
    click.get_current_context().invoke(pull_models, names=wanted)
