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


def test_examples_of_what_it_says_fit_their_schemas(description: dict[str, Any]) -> None:
    event = description["webhooks"]["event"]["post"]["requestBody"]
    answers = [
        answer
        for item in description["paths"].values()
        for operation in item.values()
        for answer in operation["responses"].values()
    ]
    found: set[str] = set()
    for message in [event, *answers]:
        content = message.get("content", {}).get("application/json", {})
        for name, example in content.get("examples", {}).items():
            OAS31Validator({**content["schema"], "components": description["components"]}).validate(example["value"])
            found.add(name)
    kinds = description["components"]["schemas"]["Event"]["properties"]["type"]["x-extensible-enum"]
    assert found == {*kinds, "open", "open_with_payment", "paid", "expired", "cancelled"}


def test_answers_fit_the_description(description: dict[str, Any], kassa_server: KassaServer) -> None:
    operation = description["paths"]["/v1/checkouts"]["post"]
    body = operation["requestBody"]["content"]["application/json"]["example"]
    headers = {"Authorization": f"Bearer {kassa_server.api_key}", "Content-Type": "application/json"}
    request = Request(f"{kassa_server.url}/v1/checkouts", json.dumps(body).encode(), headers)
    with urlopen(request) as answer:
        schema = operation["responses"][str(answer.status)]["content"]["application/json"]["schema"]
        checkout = json.load(answer)
    OAS31Validator({**schema, "components": description["components"]}).validate(checkout)


def test_events_fit_the_description(description: dict[str, Any], kassa_server: KassaServer) -> None:
    """Events of a payment that a person resolved have the most members."""
    order = {"reference": "order-18", "amount": "390", "description": "Honey", "return_url": "http://127.0.0.1:9/paid"}
    checkout = kassa_server.request("POST", "/v1/checkouts", order)
    token = kassa_server.request("POST", f"/v1/checkouts/{checkout['id']}/tokens")["token"]
    with kassa_server.sandbox.faults.add("request-lost", times=1):
        begun = {"method": "mbank", "phone": "996700000001"}
        payment = kassa_server.request("POST", "/v1/checkout/payments", begun, key=token, idempotency_key="order-18")
    assert payment["state"] == "unknown"
    decided = {"outcome": "charged", "reason": "It is in the gateway's list", "by": "Aida"}
    kassa_server.request("POST", f"/v1/payments/{payment['id']}/resolve", decided)

    sent = description["webhooks"]["event"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    validator = OAS31Validator({**sent, "components": description["components"]})
    kinds = description["components"]["schemas"]["Event"]["properties"]["type"]["x-extensible-enum"]
    schemas = description["components"]["schemas"]
    told = [at["event"] for at in kassa_server.request("GET", "/v1/events")["events"]]
    for event in told:
        validator.validate(event)
        assert event["type"] in kinds
        assert event["data"].keys() <= schemas["EventData"]["properties"].keys()
        assert event["data"].get("payment", {}).keys() <= schemas["EventPayment"]["properties"].keys()
    resolved = next(event for event in told if event["type"] == "payment.resolved")
    assert resolved["data"].keys() >= {"payment", "reason", "by", "via"}
