"""The description itself."""

from __future__ import annotations

import json
from typing import Any
from urllib.request import Request, urlopen

import pytest
from kassa_server.testing import KassaServer
from openapi_schema_validator import OAS31Validator
from openapi_spec_validator import validate


@pytest.fixture
def description(kassa_server: KassaServer) -> dict[str, Any]:
    with urlopen(f"{kassa_server.url}/openapi.json") as answer:
        assert answer.headers["Content-Type"] == "application/json"
        document: dict[str, Any] = json.load(answer)
        return document


def test_it_is_valid_openapi(description: dict[str, Any], kassa_server: KassaServer) -> None:
    assert description["openapi"].startswith("3.1.")
    assert description["servers"] == [{"url": kassa_server.url}]
    validate(description)


def test_examples_fit_their_own_schemas(description: dict[str, Any]) -> None:
    found = 0
    for item in description["paths"].values():
        for operation in item.values():
            content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            if "example" in content:
                schema = {**content["schema"], "components": description["components"]}
                OAS31Validator(schema).validate(content["example"])
                found += 1
    assert found >= 5


def test_answers_fit_the_description(description: dict[str, Any], kassa_server: KassaServer) -> None:
    operation = description["paths"]["/v1/checkouts"]["post"]
    body = operation["requestBody"]["content"]["application/json"]["example"]
    headers = {"Authorization": f"Bearer {kassa_server.api_key}", "Content-Type": "application/json"}
    request = Request(f"{kassa_server.url}/v1/checkouts", json.dumps(body).encode(), headers)
    with urlopen(request) as answer:
        schema = operation["responses"][str(answer.status)]["content"]["application/json"]["schema"]
        checkout = json.load(answer)
    OAS31Validator({**schema, "components": description["components"]}).validate(checkout)
