"""A relation model that is shown no text which nobody sees or which is addressed to a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from factcheck_local.core.text.hostile import is_cut, readable, unread_spans, without_invisible
from factcheck_local.core.types import Atom, Context, Relation
from factcheck_local.pipeline.relation.scorer import Premise, RelationModel, at_once
from factcheck_local.pipeline.relation.tables import written_out
from factcheck_local.pipeline.settings import Tables

#: What a text says of another of which nothing is left to read.
_NOTHING = Relation(0.0, 0.0, 1.0)

#: Passages that a note names.
_NAMED = 5


class HardenedRelationModel:
    """A relation model behind ``text.hostile.readable``; implements ``RelationModel``.

    What is cut from a text is cut for the model alone. Where nothing is left of the premise
    or of a hypothesis, the two are neutral: instructions to a model state nothing.
    """

    def __init__(self, model: RelationModel) -> None:
        self.model = model
        self.id = f"{model.id}+hardened"
        self.sha256 = model.sha256
        self.at_once = at_once(model)

    def relate(self, premise: Premise, hypotheses: Sequence[str]) -> list[Relation]:
        """The model's relations of what is left; see ``RelationModel``."""
        shown = replace(premise, title=readable(premise.title), text=readable(premise.text))
        texts = [readable(h) for h in hypotheses]
        found = [_NOTHING] * len(texts)
        read = [i for i, text in enumerate(texts) if text.strip()] if shown.text.strip() else []
        if read:
            relations = self.model.relate(shown, [texts[i] for i in read])
            for i, relation in zip(read, relations, strict=True):
                found[i] = relation
        return found


def cut_notes(
    contexts: Sequence[Context], atoms: Sequence[Atom], tables: Tables = "raw"
) -> list[str]:
    """What a run says of text that was kept from its relation model: how much, and where.

    Args:
        contexts: the passages.
        atoms: the claims.
        tables: how the model reads tables; a header and its cell may be addressed to it together.
    """
    found = []
    places = [place for c in contexts if (place := _cut_place(c, tables))]
    if places:
        more = f" and {len(places) - _NAMED} more" if len(places) > _NAMED else ""
        found.append(
            "passages with text that is hidden or addressed to a model, which it was not shown: "
            f"{len(places)}: {', '.join(places[:_NAMED])}{more}"
        )
    if claims := [a.id for a in atoms if is_cut(a.text)]:
        found.append(f"claims addressed to a model, which was not shown that: {len(claims)}")
    return found


def _cut_place(context: Context, tables: Tables) -> str | None:
    """Source and line of the first stretch that is cut; None where nothing is."""
    if not is_cut(context.title) and not is_cut(context.text):
        read = written_out(Premise(context.title, readable(context.text))).text
        return _place(context) if tables == "stated" and is_cut(read) else None
    return _place(context)


def _place(context: Context) -> str:
    if context.line is None:
        return context.source
    spans = unread_spans(without_invisible(context.text))
    before = without_invisible(context.text)[: spans[0].start] if spans else ""
    return f"{context.source}:{context.line + before.count(chr(10))}"
