"""docs/settings.md: its tables are those of the code, and its file is one."""

from __future__ import annotations

from pathlib import Path

from factcheck_local.cli.settings import reference
from factcheck_local.pipeline.chosen import FILE_NAME, choose

from .pages import PAGES, blocks

PAGE = "docs/settings.md"


def test_the_tables_are_those_of_the_code() -> None:
    """To renew them: factcheck settings --format markdown."""
    made = "\n".join(reference())
    _, _, rest = PAGES[PAGE].partition("<!-- made by: factcheck settings --format markdown -->\n")
    assert rest.partition("\n<!-- end -->")[0] == made


def test_the_example_of_a_file_is_one(tmp_path: Path) -> None:
    (example,) = blocks(PAGE, "toml")
    (tmp_path / FILE_NAME).write_text(example, encoding="utf-8")
    found = choose({}, folders=[tmp_path])
    assert (found.settings.k, found.settings.budget) == (5, 200)
    assert found.settings.where == ("source=policies/**",)
    assert found.origins["budget"] == "preset house"
    assert found.origins["k"] == str(tmp_path / FILE_NAME)
