"""The description itself, and what no OpenAPI tool can send: a GET with a body."""

from __future__ import annotations

import http.client
import json
from base64 import b64encode
from contextlib import closing
from typing import Any
from urllib.parse import urlencode, urlsplit
from urllib.request import urlopen

import pytest
from kassa_sandbox import Sandbox
from openapi_schema_validator import OAS31Validator
from openapi_spec_validator import validate
from patience import PATIENCE

STATUS = "/api/v1.1.0/status"
METHODS = ("get", "post", "patch", "delete")


@pytest.fixture(scope="session")
def description(kassa_sandbox_session: Sandbox) -> dict[str, Any]:
    with urlopen(f"{kassa_sandbox_session.base_url}/openapi.json") as answer:
        assert answer.headers["Content-Type"] == "application/json"
        document: dict[str, Any] = json.load(answer)
        return document


def call(sandbox: Sandbox, method: str, path: str, body: object = None, query: str = "") -> tuple[int, str]:
    address = urlsplit(sandbox.base_url).netloc
    login = b64encode(":".join(sandbox.credentials).encode()).decode()
    with closing(http.client.HTTPConnection(address, timeout=PATIENCE)) as connection:
        text = None if body is None else json.dumps(body)
        connection.request(method, f"{path}?{query}", text, {"Authorization": f"Basic {login}"})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def assert_described(description: dict[str, Any], method: str, path: str, status: int, body: str) -> None:
    media = description["paths"][path][method]["responses"][str(status)]["content"]
    schema = {**media["application/json"]["schema"], "components": description["components"]}
    OAS31Validator(schema).validate(json.loads(body))


def test_it_is_valid_openapi(description: dict[str, Any]) -> None:
    assert description["openapi"].startswith("3.1.")
    validate(description)


def test_it_names_every_endpoint(description: dict[str, Any]) -> None:
    described = [(path, method) for path, item in description["paths"].items() for method in item if method in METHODS]
    gateway = {(path, method) for path, method in described if not path.startswith("/admin/")}
    assert gateway == {
        ("/api/v1.1.0/payment", "post"),
        ("/api/v1.1.0/status", "get"),
        ("/api/v1.1.0/mbank/pay", "post"),
        ("/api/v1.1.0/mbank/confirm", "post"),
        ("/api/v1.1.0/mega/check", "post"),
        ("/api/v1.1.0/mega/check", "get"),
        ("/api/v1.1.0/mega/pay", "post"),
        ("/api/v1.1.0/pay-form", "post"),
        ("/api/v1.1.0/get-status", "post"),
        ("/gen/qr/dynamic", "post"),
        ("/gen/qr/dynamic/data", "post"),
        ("/gen/qr/transaction/status", "get"),
    }
    for path, method in described:
        assert description["paths"][path][method]["summary"], (path, method)


def test_every_example_is_taken(description: dict[str, Any], kassa_sandbox: Sandbox) -> None:
    for path, item in description["paths"].items():
        for method, operation in item.items():
            content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            if "example" not in content:
                continue
            schema = {**content["schema"], "components": description["components"]}
            OAS31Validator(schema).validate(content["example"])
            if path.startswith("/admin/"):
                continue
            status, body = call(kassa_sandbox, method.upper(), path, content["example"])
            # The payment of an example that asks for one need not exist.
            assert status in ({200, 404} if "404" in operation["responses"] else {200}), (path, body)


@pytest.mark.parametrize("way", ["body", "query"])
def test_status_by_get(description: dict[str, Any], kassa_sandbox: Sandbox, way: str) -> None:
    payment = {"orderNumber": "GET-1", "phone": "996555000101", "amount": 250, "comment": "Lunch"}
    number = json.loads(call(kassa_sandbox, "POST", "/api/v1.1.0/mbank/pay", payment)[1])["data"]["paymentId"]

    def request(**fields: object) -> tuple[int, str]:
        in_body = fields if way == "body" else None
        return call(kassa_sandbox, "GET", STATUS, in_body, "" if in_body else urlencode(fields))

    for expected, fields in [
        (200, {"orderNumber": number}),
        (200, {"orderNumber": number, "language": "ky"}),
        (404, {"orderNumber": "GET-1"}),
        (400, {"orderNumber": " "}),
        (400, {"orderNumber": number, "language": "english"}),
        (400, {"orderNumber": number, "provider": "MBank"}),
        (400, {}),
    ]:
        status, body = request(**fields)
        assert status == expected, body
        assert_described(description, "get", STATUS, status, body)


@pytest.mark.parametrize(
    "body", [[], "text", 1, None, {"orderNumber": 1}, {"orderNumber": None}, {"orderNumber": ["a"]}]
)
def test_wrong_body_of_a_get_is_refused(description: dict[str, Any], kassa_sandbox: Sandbox, body: object) -> None:
    status, answer = call(kassa_sandbox, "GET", STATUS, body)
    assert status == 400, answer
    assert_described(description, "get", STATUS, status, answer)
