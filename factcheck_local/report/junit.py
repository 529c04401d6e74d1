"""Assessments as JUnit XML, which every CI server shows: a suite an answer, a case a claim."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any
from xml.etree import ElementTree as ET

from factcheck_local.report.places import answer_file
from factcheck_local.report.view import citations, described, one_line, percent, remarks, uncited

#: Verdicts that are failures unless others are chosen.
FAILURES = ("contradicted", "unsupported", "conflicting", "undecided", "not_found")


def to_junit(assessments: Sequence[dict[str, Any]], *, failing: Collection[str] = FAILURES) -> str:
    """One document with a suite for each answer.

    A claim that is not check-worthy is skipped, one that could not be scored an error. All
    texts are on one line and printable, so nothing is left that XML 1.0 forbids.

    Args:
        assessments: what ``to_dict`` gives for each.
        failing: the verdicts that are failures.
    """
    root = ET.Element("testsuites", name="factcheck")
    totals = dict.fromkeys(("tests", "failures", "errors", "skipped"), 0)
    for assessment in assessments:
        suite = _suite(assessment, failing)
        for name in totals:
            totals[name] += int(suite.attrib[name])
        root.append(suite)
    root.attrib |= {name: str(count) for name, count in totals.items()}
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _suite(assessment: dict[str, Any], failing: Collection[str]) -> ET.Element:
    run = assessment["run"]
    name = one_line(assessment["answer"]["path"] or "") or "an answer"
    suite = ET.Element("testsuite", name=name, timestamp=one_line(run["started"]))
    properties = ET.SubElement(suite, "properties")
    ET.SubElement(properties, "property", name="signature", value=one_line(run["signature"]))
    for model in run["models"]:
        value = one_line(f"{model['id']} sha256 {model['sha256']}")
        ET.SubElement(properties, "property", name=one_line(model["role"]), value=value)
    file, _, _ = answer_file(assessment["answer"])
    cases = [_case(assessment, atom, failing) for atom in assessment["atoms"]]
    for case in cases:
        case.set("classname", name)
        if file is not None:
            case.set("file", one_line(file))
    suite.extend(cases)
    count = {tag: sum(c.find(tag) is not None for c in cases) for tag in _COUNTED}
    suite.attrib |= {"tests": str(len(cases)), "time": f"{sum(run['seconds'].values()):.2f}"}
    suite.attrib |= {name: str(count[tag]) for tag, name in _COUNTED.items()}
    return suite


_COUNTED = {"failure": "failures", "error": "errors", "skipped": "skipped"}


def _case(assessment: dict[str, Any], atom: dict[str, Any], failing: Collection[str]) -> ET.Element:
    case = ET.Element("testcase", name=one_line(atom["text"]))
    verdict = atom["verdict"]
    words = one_line(verdict.replace("_", " "))
    if verdict == "skipped":
        ET.SubElement(case, "skipped", message=f"not check-worthy: {one_line(atom['kind'])}")
    elif verdict == "unscored":
        ET.SubElement(case, "error", type=verdict, message=one_line(atom["reason"]))
    else:
        said = f"{words}, P = {percent(atom['probability'])}"
        if verdict in failing:
            detail = ET.SubElement(case, "failure", type=verdict, message=said)
            detail.text = "\n".join(_evidence(assessment, atom))
        else:
            ET.SubElement(case, "system-out").text = "\n".join([said, *_evidence(assessment, atom)])
    return case


def _evidence(assessment: dict[str, Any], atom: dict[str, Any]) -> Iterator[str]:
    """A line for each piece of evidence, the deciding one first."""
    yield f"In the answer: “{one_line(atom['original'])}”"
    found = list(citations(assessment, atom))
    for c in found:
        yield one_line(described(c))
    if not found:
        yield one_line(uncited(assessment, atom))
    for sentence in remarks(assessment, atom):
        yield one_line(sentence)
