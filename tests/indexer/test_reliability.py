"""Profiles: matching, front matter, and errors that name file and line."""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from factcheck_local.core.errors import DocumentError, ProfileError
from factcheck_local.indexer.loaders import load
from factcheck_local.indexer.reliability import (
    DEFAULT_PRIOR,
    ReliabilityProfile,
    is_glob,
    matches,
)
from factcheck_local.indexer.reliability.profile import Reliability
from factcheck_local.indexer.reliability.rules import SourceRule

from .helpers import of_document, of_source, write

PROFILE = """\
default = 0.8

[[source]]
match = "policies/**"
prior = 0.98
note = "signed off by Legal"

[[source]]
match = "policies/drafts/**"   # never reached: the first match wins
prior = 0.1

[[source]]
match = "**/*.eml"
prior = 0.7
"""


def profile(folder: Path, text: str) -> ReliabilityProfile:
    write(folder, {"reliability.toml": text})
    return ReliabilityProfile.load(folder / "reliability.toml")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("policies/leave.md", Reliability(0.98, "policies/** (signed off by Legal)")),
        ("policies/drafts/leave.md", Reliability(0.98, "policies/** (signed off by Legal)")),
        ("hr/policies/leave.md", Reliability(0.8, "default")),
        ("mail.eml", Reliability(0.7, "**/*.eml")),
        ("a/b/mail.eml", Reliability(0.7, "**/*.eml")),
        ("wiki.md", Reliability(0.8, "default")),
    ],
)
def test_first_match_wins(tmp_path: Path, source: str, expected: Reliability) -> None:
    assert of_source(profile(tmp_path, PROFILE), source) == expected


def test_a_rule_may_match_any_name_of_a_source(tmp_path: Path) -> None:
    rules = profile(tmp_path, PROFILE)
    assert of_source(rules, "docs/policies/a.md").rule == "default"
    assert of_source(rules, "policies/a.md", "docs/policies/a.md").prior == 0.98


@pytest.mark.parametrize(
    ("glob", "name", "expected"),
    [
        ("*.md", "a/b.md", True),
        ("/*.md", "a/b.md", False),
        ("a/*.md", "a/b/c.md", False),
        ("a/**/c.md", "a/c.md", True),
        ("drafts/", "x/drafts/a.md", True),
        ("a?.md", "ab.md", True),
        ("A.md", "a.md", False),
        ("L\u00f6hne/**", "Lo\u0308hne/a.md", True),  # as macOS may spell it
        ("Lo\u0308hne/?.md", "L\u00f6hne/\u00e4.md", True),
    ],
)
def test_globs_are_those_of_gitignore(glob: str, name: str, expected: bool) -> None:
    assert matches(glob, name) is expected


def test_without_a_profile(tmp_path: Path) -> None:
    assert ReliabilityProfile.beside(tmp_path) == ReliabilityProfile()
    assert of_source(ReliabilityProfile(), "a.md") == (DEFAULT_PRIOR, "default")


def test_a_folder_that_cannot_be_looked_into_has_not_the_default_profile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_path: Path) -> os.stat_result:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(Path, "stat", refused)
    monkeypatch.setattr(Path, "is_file", os.path.isfile)  # as Python 3.14 has it
    with pytest.raises(ProfileError, match=r"toml: cannot be read: Permission denied$"):
        ReliabilityProfile.beside(tmp_path)


def test_profile_beside_a_corpus(tmp_path: Path) -> None:
    profile(tmp_path, "default = 0.5\n")
    assert ReliabilityProfile.beside(tmp_path).default_prior == 0.5


def test_rule_text() -> None:
    assert str(SourceRule("a/**", 0.5)) == "a/**"
    assert str(SourceRule("a/**", 0.5, "old")) == "a/** (old)"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("default = 1.3", 1, "default must be between 0 and 1, both excluded, got 1.3"),
        ("default = 0", 1, "default must be between 0 and 1"),
        ("default = 1", 1, "default must be between 0 and 1"),
        ("\ndefault = nan", 2, "default must be between 0 and 1, both excluded, got nan"),
        ("default = inf", 1, "default must be between 0 and 1"),
        ("default = true", 1, "default must be a number between 0 and 1, got True"),
        ('default = "0.9"', 1, "default must be a number between 0 and 1, got '0.9'"),
        (PROFILE.replace("0.7", "1.3"), 14, "prior must be between 0 and 1, both excluded"),
        (PROFILE.replace("0.1", "-1"), 10, "prior must be between"),
        (PROFILE.replace("0.98", "false"), 5, "prior must be a number"),
        (PROFILE.replace('"**/*.eml"', "3"), 13, "match must be a glob, got 3"),
        (PROFILE.replace('"**/*.eml"', '""'), 13, "match must be a glob"),
        (PROFILE.replace('"**/*.eml"', '"!x"'), 13, "match must be a glob"),
        (PROFILE.replace('"signed off by Legal"', "7"), 6, "note must be a text, got 7"),
        (PROFILE.replace("prior = 0.7", "priority = 0.7"), 14, "unknown key 'priority' in"),
        (PROFILE.replace("prior = 0.7", ""), 12, "[[source]] lacks 'prior'"),
        ("[[source]]\nprior = 0.5", 1, "[[source]] lacks 'match'"),
        ("[sources]\nx = 1", 1, "unknown key 'sources' in the profile"),
        ("[source]\nx = 1", 1, "source must be tables [[source]]"),
        ("a = 1\nsource = 3", 1, "unknown key 'a'"),
        ('\nsource = [{match = "a", prior = 2}]', 2, "prior must be between"),
        ("default = 0.5\ndefault = ", 2, "Invalid value"),
        ('[[source]]  match = "a"', 1, "Expected newline"),
    ],
)
def test_errors_name_file_and_line(tmp_path: Path, text: str, line: int, message: str) -> None:
    with pytest.raises(ProfileError) as caught:
        profile(tmp_path, text)
    assert str(caught.value).startswith(f"{tmp_path / 'reliability.toml'}:{line}: {message}")
    assert "\n" not in str(caught.value)


def test_profile_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match=r"none\.toml: cannot be read: No such file"):
        ReliabilityProfile.load(tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes(b"# caf\xe9")
    with pytest.raises(ProfileError, match=r"latin\.toml: is not valid UTF-8 \(offset 5\)"):
        ReliabilityProfile.load(tmp_path / "latin.toml")


def test_front_matter_wins(tmp_path: Path) -> None:
    write(tmp_path, {"policies/a.md": "---\nreliability: 0.25\n---\ntext"})
    document = load(tmp_path / "policies/a.md", "policies/a.md")
    assert of_document(profile(tmp_path, PROFILE), document) == (0.25, "front matter")


def test_document_without_front_matter_follows_the_rules(tmp_path: Path) -> None:
    write(tmp_path, {"policies/a.md": "text"})
    document = load(tmp_path / "policies/a.md", "policies/a.md")
    assert of_document(profile(tmp_path, PROFILE), document).prior == 0.98


@pytest.mark.parametrize("value", ["1.3", "0", "yes", "high", "[1]", ".nan", "'0.5'"])
def test_front_matter_with_a_wrong_prior(tmp_path: Path, value: str) -> None:
    write(tmp_path, {"a.md": f"---\ntitle: x\nreliability: {value}\n---\ntext"})
    document = load(tmp_path / "a.md", "a.md")
    with pytest.raises(DocumentError, match=r"^a\.md: front matter, line 3: reliability must be"):
        of_document(ReliabilityProfile(), document)


def test_html_meta_with_a_wrong_prior(tmp_path: Path) -> None:
    write(tmp_path, {"a.html": '<meta name="reliability" content="high"><p>text'})
    document = load(tmp_path / "a.html", "a.html")
    with pytest.raises(DocumentError, match="reliability must be a number between 0 and 1"):
        of_document(ReliabilityProfile(), document)


@pytest.mark.parametrize(
    ("glob", "name"),
    [
        ("*?" * 40 + "Z", "a" * 250),
        ("*a" * 40 + "Z", "a" * 250),
        ("**/a/" * 40 + "Z", "a/" * 120 + "a"),
        ("*a*a*a*/" * 30 + "Z", "/".join(["a" * 20] * 40)),
    ],
)
def test_no_glob_takes_long(glob: str, name: str) -> None:
    begun = time.process_time()
    assert not matches(glob, name)
    assert matches(glob.replace("Z", "*"), name)
    assert time.process_time() - begun < 1.0


PARTS = st.text("ab.*?", min_size=1, max_size=4) | st.sampled_from(
    [
        "**",
        "***",
        "[ab]",
        "[!a]*",
        "[^a]",
        "[]a]*",
        "a[a-c]*b",
        "[a",
        r"\*",
        r"a\?",
        r"[\]",
        " a ",
        "#",
    ]
)


@given(
    st.lists(PARTS | st.just(""), min_size=1, max_size=5).map("/".join),
    st.lists(st.text(r"abc.*?]\ ", min_size=1, max_size=4), min_size=1, max_size=5),
)
def test_globs_match_what_pathspec_matches(glob: str, parts: list[str]) -> None:
    assume(parts[0] != ".")  # which it takes for the folder itself
    name = "/".join(parts)
    assert matches(glob, name) == GitIgnoreSpec.from_lines([glob]).match_file(name)


@pytest.mark.parametrize("glob", ["folder\\", "[z-a]"])
def test_what_is_no_glob_is_an_error(glob: str) -> None:
    with pytest.raises(ValueError, match=r"glob|pattern|Escape"):
        matches(glob, "a.md")
    assert not is_glob(glob)
