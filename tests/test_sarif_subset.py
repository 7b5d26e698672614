"""What logs are held to is a part of SARIF: compared with classes that are made from the standard's schema."""

from __future__ import annotations

import attrs
import pytest
import sarif_om

from tests.sarif_subset import OBJECTS, sarif_mistakes


@pytest.mark.parametrize("name", OBJECTS)
def test_properties_are_those_of_the_standard(name: str) -> None:
    properties, required = OBJECTS[name]
    fields = attrs.fields(getattr(sarif_om, name))
    known = {field.metadata["schema_property_name"] for field in fields}
    demanded = {field.metadata["schema_property_name"] for field in fields if field.default is attrs.NOTHING}
    assert set(properties) <= known
    assert demanded <= set(required)


def test_mistakes_are_found() -> None:
    driver = {"name": "fencepost"}
    assert sarif_mistakes({"version": "2.1.0", "runs": [{"tool": {"driver": driver}}]}) == []
    assert sarif_mistakes({"version": "2.2", "runs": []})
    assert sarif_mistakes({"version": "2.1.0", "runs": [{"tool": {"driver": driver | {"title": "x"}}}]})
    assert sarif_mistakes({"version": "2.1.0", "runs": [{"results": []}]})
