"""Tables as a relation model reads them: a row as a statement with its headers.

A small model that reads a Markdown table takes the cell of another row or column for the one a
claim is about. Written out ("Length of service: Up to 5 years; Notice: 2 months") each value
stands beside what it is the value of. Links are read without their targets. Only the model
reads that; passages and quotes stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from factcheck_local.core.text.links import without_targets
from factcheck_local.core.types import Relation
from factcheck_local.indexer.tables import cells, indent, rule_below, split_lead, tables
from factcheck_local.pipeline.relation.scorer import Premise, RelationModel, at_once


class StatedRelationModel:
    """A relation model that reads tables row by row; implements ``RelationModel``."""

    def __init__(self, model: RelationModel, cut: Callable[[str], str] = str) -> None:
        """Wrap a model.

        Args:
            model: gets texts whose tables are written out.
            cut: takes from a text what is hidden in it, before its tables are sought: a
                pipe that nobody sees would move the cells behind it to other headers.
        """
        self.model = model
        self.id = f"{model.id}+stated"
        self.sha256 = model.sha256
        self.at_once = at_once(model)
        self._cut = cut

    def relate(self, premise: Premise, hypotheses: Sequence[str]) -> list[Relation]:
        """The model's relations of the texts as they are written out; see ``RelationModel``."""
        cut = self._cut
        shown = replace(premise, title=cut(premise.title), text=cut(premise.text))
        return self.model.relate(written_out(shown), [stated(cut(h)) for h in hypotheses])


def written_out(premise: Premise) -> Premise:
    """A passage with its tables as statements.

    Where it begins within a table, the header is the last of its titles (`Chunk.lead`);
    it goes into the rows, and leaves the title.
    """
    title, lead = split_lead(premise.title)
    begin = premise.text.partition("\n")[0]
    if not lead or "|" not in begin:
        return replace(premise, text=stated(premise.text))
    front = indent(begin)
    whole = f"{front}{lead}\n{front}{rule_below(lead)}\n{premise.text}"
    return replace(premise, title=title, text=stated(whole))


@lru_cache(maxsize=4096)
def stated(text: str) -> str:
    """The text with the rows of its Markdown tables as lines "header: value; …".

    A header stands once, in each of its rows; where the header row is empty, a row of two
    cells is a name and its value. Cells beyond the headers stand alone. Of links their words
    stay. Everything else stays as it is, the rows of code fences too.
    """
    text = without_targets(text)
    if "|" not in text:
        return text
    return "\n".join(_lines(text.split("\n")))


def _lines(lines: Sequence[str]) -> Iterator[str]:
    at = 0
    for table in tables(lines):
        yield from lines[at : table.first]
        for row in lines[table.first + 2 : table.end]:
            yield _front(row) + _statement(table.headers, cells(row))
        at = table.end
    yield from lines[at:]


def _front(row: str) -> str:
    """The marks of the block quote that a row stands in."""
    front = indent(row)
    return front if ">" in front else ""


def _statement(headers: Sequence[str], values: Sequence[str]) -> str:
    if not any(headers) and len(values) == 2 and all(values):
        return f"- {values[0]}: {values[1]}"
    padded = [*headers, *[""] * (len(values) - len(headers))]
    said = (f"{h}: {c}" if h else c for h, c in zip(padded, values, strict=False) if c)
    return "- " + "; ".join(said)
