"""The models that a run would use, and whatever others are here."""

from __future__ import annotations

from collections.abc import Generator

from factcheck_local.core.errors import FactcheckError, ModelError
from factcheck_local.doctor.finding import Finding
from factcheck_local.models.cards import ModelCard, find_card, load_cards
from factcheck_local.models.onnx_embedder import EMBEDDER_BACKEND, exported_file
from factcheck_local.models.registry import DEFAULT_ENCODER
from factcheck_local.pipeline.relation.load import relation_card
from factcheck_local.pipeline.settings import Settings


def chosen_cards(settings: Settings) -> dict[str, ModelCard]:
    """The cards of all models that these settings name, by id.

    Raises:
        ModelError: if there is no such model, or it is of another role.
    """
    cards = [find_card(settings.embedder, "embedder"), find_card(settings.llm, "llm")]
    cards += [relation_card(name, settings.llm) for name in settings.relation.split("+")]
    if settings.rerank is not None:
        cards.append(find_card({"encoder": DEFAULT_ENCODER}.get(settings.rerank, settings.rerank)))
    return {card.id: card for card in cards}


def check_models(settings: Settings) -> Generator[Finding, None, list[ModelCard] | None]:
    """Hash every model that is here, and ask the servers of those that were chosen.

    Returns:
        The cards of those, None where the settings name a model that there is not.
    """
    try:
        cards = load_cards()
        chosen = chosen_cards(settings)
    except ModelError as error:
        yield Finding("models", "problem", str(error), error.hint)
        return None
    others = {c.id: c for c in cards.values() if c.files and c.is_installed()}
    for card in (others | chosen).values():
        try:
            found = _check(card)
        except FactcheckError as error:
            yield Finding("models", "problem", str(error), error.hint)
        else:
            yield Finding("models", "ok", f"{card.id} ({card.role}): {found}")
            if card.backend == EMBEDDER_BACKEND and exported_file(card) is None:
                slower = "queries load torch, which takes seconds at every start"
                fix = f"factcheck models pull {card.id}"
                yield Finding("models", "warning", f"{card.id} is not exported: {slower}", fix)
    return list(chosen.values())


def _check(card: ModelCard) -> str:
    card.check()
    if card.server is None:
        return f"{card.size / 1e6:,.0f} MB, sha256 {card.weights[:16]}… as its card says"
    from factcheck_local.models.openai_server.model import check_server

    return f"{card.server} answers: {check_server(card)}"
