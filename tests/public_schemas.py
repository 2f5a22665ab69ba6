"""Documents held against the schemas that others publish for them; see tests/fixtures/public_schemas/README.md."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote_to_bytes

import xmlschema
from jsonschema import Draft4Validator

FOLDER: Final = Path(__file__).parent / "fixtures" / "public_schemas"
_URI: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*:)?([A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-F]{2})+")


@cache
def _sarif() -> tuple[str, Draft4Validator]:
    schema = json.loads((FOLDER / "sarif-schema-2.1.0.json").read_text(encoding="utf-8"))
    Draft4Validator.check_schema(schema)
    return schema["id"], Draft4Validator(schema)


@cache
def _junit() -> xmlschema.XMLSchema:
    return xmlschema.XMLSchema(str(FOLDER / "junit-10.xsd"))


def sarif(text: str) -> dict[str, Any]:
    """The only run of a SARIF log, which is valid, and what the schema can't say of it holds too."""
    value = json.loads(text)
    name, validator = _sarif()
    validator.validate(value)
    assert value["$schema"] == name
    (run,) = value["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    assert all(rule["shortDescription"]["text"] for rule in rules)
    for result in run["results"]:
        index = result["ruleIndex"]
        assert index == -1 or rules[index]["id"] == result["ruleId"]
        assert result["message"]["text"]
        assert result["locations"]
        for location in result["locations"]:
            if "physicalLocation" in location:
                assert _URI.fullmatch(location["physicalLocation"]["artifactLocation"]["uri"])
    assert isinstance(run, dict)
    return run


def file_of(result: dict[str, Any]) -> bytes:
    """The file that a SARIF result is about."""
    return unquote_to_bytes(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])


def junit(text: str) -> ET.Element:
    """The root of a JUnit document, which is valid, and whose counts are those of its cases."""
    _junit().validate(text)
    root = ET.fromstring(text)
    suites = root.findall("testsuite")
    assert suites
    for element, cases in [(root, list(root.iter("testcase"))), *((suite, suite.findall("testcase")) for suite in suites)]:
        assert element.get("tests") == str(len(cases))
        assert element.get("failures") == str(sum(case.find("failure") is not None for case in cases))
        assert element.get("errors") == str(sum(case.find("error") is not None for case in cases))
    names = [(case.get("classname"), case.get("name")) for case in root.iter("testcase")]
    assert len(set(names)) == len(names)
    return root


_COMMAND: Final = re.compile(r"::(error|warning|notice) ([^:]*)::(.*)")


def github(text: str) -> Iterator[tuple[str, dict[str, str], str]]:
    """Level, properties and message of each workflow command."""
    for line in text.splitlines():
        if not line.startswith("::"):
            continue
        command = _COMMAND.fullmatch(line)
        assert command is not None, line
        properties = dict(each.split("=", 1) for each in command[2].split(","))
        yield command[1], {key: _decoded(value) for key, value in properties.items()}, _decoded(command[3])


def _decoded(text: str) -> str:
    assert re.fullmatch(r"([^%\r\n]|%(25|0D|0A|3A|2C))*", text)
    return re.sub("%(..)", lambda escape: chr(int(escape[1], 16)), text)
