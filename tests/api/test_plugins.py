"""What a distribution adds by entry points is found, used, and named where it cannot be loaded."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

METADATA = "Metadata-Version: 2.1\nName: my-plugins\nVersion: 1.5\n"
ENTRY_POINTS = """
[factcheck_local.loaders]
.shout = my_plugins:load_shout
.number = my_plugins:load_number
.broken = my_plugins_lost:load
.md = my_plugins:load_number

[factcheck_local.models]
mine = my_plugins:build
lost = my_plugins:no_such_name

[factcheck_local.assessors]
coin = my_plugins:COIN
broken = my_plugins_lost:JUDGE
fr2 = my_plugins_lost:JUDGE

[factcheck_local.reports]
csv = my_plugins:to_csv
number = my_plugins:to_number
broken = my_plugins_lost:report
json = my_plugins_lost:report
"""
MODULE = """
from factcheck_local.indexer.loaders.plain import load as load_text
from factcheck_local.models.fake import FakeEmbedder
from factcheck_local.core.types import Verdict
from factcheck_local.pipeline.verdicts.judges.case import Judged, Judgement


def load_shout(data, source):
    return load_text(data.upper(), source)


def load_number(data, source):
    return 3


def build(card):
    return FakeEmbedder(dimension=card.options["dimension"])


class Coin:
    wants_contexts = False

    def judge(self, case, llm, progress):
        return Judged({a.id: Judgement(Verdict.SUPPORTED, 0.75) for a in case.atoms})


COIN = Coin()


def to_csv(assessments):
    rows = [(a["text"], a["verdict"]) for found in assessments for a in found["atoms"]]
    return "\\n".join(",".join(row) for row in rows)


def to_number(assessments):
    return 3
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A folder for the path of Python with a distribution that is installed there."""
    site = tmp_path / "site"
    info = site / "my_plugins-1.5.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(METADATA, encoding="utf-8")
    (info / "entry_points.txt").write_text(ENTRY_POINTS, encoding="utf-8")
    (site / "my_plugins.py").write_text(MODULE, encoding="utf-8")
    return site


def run(path: Path, code: str) -> subprocess.CompletedProcess[str]:
    """Run a program with the distribution, in the folder above it."""
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=path.parent,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(path), str(ROOT)])},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


LOADERS = """
from pathlib import Path
from factcheck_local.core.errors import DocumentError
from factcheck_local.indexer.loaders import load, why_unsupported

Path("a.shout").write_text("Leave is 25 days.")
for name in ("a.number", "a.broken", "a.md"):
    Path(name).write_text("# Leave")
assert why_unsupported("a.SHOUT") is None and why_unsupported("a.other") is not None
print(load(Path("a.shout"), "a.shout").text)
print(load(Path("a.md"), "a.md").title)
for name in ("a.number", "a.broken"):
    try:
        load(Path(name), name)
    except DocumentError as error:
        print(error)
"""


def test_loaders(path: Path) -> None:
    done = run(path, LOADERS)
    assert done.stdout.splitlines() == [
        "LEAVE IS 25 DAYS.",
        "Leave",
        "a.number: its plugin gives int, expected a Document",
        "a.broken: plugin '.broken' of my-plugins 1.5 (factcheck_local.loaders): cannot be loaded: "
        "ModuleNotFoundError: No module named 'my_plugins_lost'",
    ], done.stderr


INDEXED = """
from factcheck_local.cli import main
import sys
sys.argv = ["factcheck", "index", "--formats"]
main()
"""


def test_the_formats_that_can_be_read_are_listed(path: Path) -> None:
    lines = run(path, INDEXED).stdout.splitlines()
    assert [line.split()[0] for line in lines if line.endswith("by a plugin")] == [
        ".broken",
        ".number",
        ".shout",
    ]
    assert sum(line.startswith(".md ") for line in lines) == 1, "ours cannot be replaced"


MODELS = """
from factcheck_local.core.errors import ModelError
from factcheck_local.models.cards import ModelCard
from factcheck_local.models.registry import _builder

def card(backend):
    return ModelCard("m", "M", "embedder", "MIT", backend, (), {"dimension": 7})

print(_builder(card("mine"))(card("mine")).dimension)
for backend in ("lost", "none"):
    try:
        _builder(card(backend))
    except ModelError as error:
        print(error)
"""


def test_models(path: Path) -> None:
    made, lost, unknown = run(path, MODELS).stdout.splitlines()
    assert made == "7"
    assert lost.startswith(
        "model m: plugin 'lost' of my-plugins 1.5 (factcheck_local.models): cannot be loaded: "
        "AttributeError: "
    )
    assert unknown.startswith("model m: unknown backend 'none', expected ")
    assert "lost, mine, " in unknown


ASSESSORS = """
import json
from factcheck_local import Answer, Atom, FactChecker, FactcheckError, Record, Settings
from factcheck_local.models.fake import FakeChatModel, FakeEmbedder
from factcheck_local.pipeline.settings import ASSESSORS
from factcheck_local.report import to_dict
from factcheck_local.report.render import FORMATS, View, render

record = Record(Answer("Leave is 25 days."), atoms=(Atom("a1", "Leave is 25 days.", "Leave"),))

def verify(assessor):
    llm = FakeChatModel(lambda _: "")
    return FactChecker(Settings(assessor=assessor), llm=llm, embedder=FakeEmbedder()).verify(record)

assert ASSESSORS.count("fr2") == 1 and FORMATS["json"] == ".json" and FORMATS["csv"] == ".csv"
found = to_dict(verify("coin"))
view = View(80, False, "utf-8")
said = [found["atoms"][0]["probability"], render([found], "csv", view)]
assert json.loads(render([found], "json", view)) == found
attempts = [lambda f=f: render([found], f, view) for f in ("broken", "number")]
for attempt in (lambda: verify("broken"), *attempts):
    try:
        attempt()
    except FactcheckError as error:
        said.append(str(error))
print(json.dumps(said))
"""


def test_assessors_and_reports(path: Path) -> None:
    done = run(path, ASSESSORS)
    assert done.returncode == 0, done.stderr
    why = "cannot be loaded: ModuleNotFoundError: No module named 'my_plugins_lost'"
    assert json.loads(done.stdout) == [
        0.75,
        "Leave is 25 days.,supported\n",
        f"plugin 'broken' of my-plugins 1.5 (factcheck_local.assessors): {why}",
        f"plugin 'broken' of my-plugins 1.5 (factcheck_local.reports): {why}",
        "the plugin of format number gives int, expected str",
    ]


CORRECT = """
import sys
from pathlib import Path
from factcheck_local.cli import main

Path("r.json").write_text(
    '{"output": "Leave is 25 days.", "contexts": [{"id": "c1", "text": "25 days."}], '
    '"atoms": [{"id": "a1", "text": "Leave is 25 days.", "contexts": ["c1"]}]}'
)
sys.argv = ["factcheck", "correct", "r.json", "--set", "assessor=coin"]
main()
"""


def test_a_judge_gives_nothing_to_correct_from(path: Path) -> None:
    """Said before anything is verified."""
    done = run(path, CORRECT)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "factcheck: assessor coin: a judge gives no evidence to correct from\n"


EXTRAS = """
import sys
from pathlib import Path
from factcheck_local.core.errors import DocumentError
from factcheck_local.indexer.loaders import load

sys.modules["docutils"] = sys.modules["mwparserfromhell"] = None
Path("a.rst").write_text("Leave\\n=====\\n\\n25 days.\\n")
Path("a.xml").write_text(
    "<mediawiki><page><title>T</title><revision><text>x</text></revision></page></mediawiki>"
)
Path("b.xml").write_text("<other/>")
for name in ("a.rst", "a.xml", "b.xml"):
    try:
        load(Path(name), name)
    except DocumentError as error:
        print(error)
"""


def test_a_format_whose_extra_is_missing_says_so(path: Path) -> None:
    done = run(path, EXTRAS)
    assert done.stdout.splitlines() == [
        "a.rst: needs docutils: pip install 'factcheck-local[rst]'",
        "a.xml: needs mwparserfromhell: pip install 'factcheck-local[wiki]'",
        "b.xml: is XML, but no MediaWiki or Confluence export (its root is <other>)",
    ], done.stderr
