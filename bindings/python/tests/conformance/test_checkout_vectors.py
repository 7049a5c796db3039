"""Every vector of a checkout, blocking and with asyncio. ``pytest -k TEXT`` runs those with TEXT in their name or group."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, cast

import pytest

import kassa

from .canonical import canonical
from .checkout_app import NAMES, App, matches
from .stage import Scene, Stage
from .vectors import DIRECTORY, read
from .ways import Blocking, InLoop, Way

FILES = [read(file) for file in sorted((DIRECTORY / "checkout").glob("*.json"))]
VECTORS = [(file["group"], vector) for file in FILES for vector in file["vectors"]]
RUNS = {f"{group}/{way}/{vector['name']}": vector for way in ("blocking", "asyncio") for group, vector in VECTORS}
# Most wait for what goes over sockets, and each has a server of its own.
AT_ONCE = 8


@pytest.fixture(scope="module")
def running(request: pytest.FixtureRequest) -> Iterator[dict[str, Future[None]]]:
    """The vectors that were chosen, all under way."""
    own = [item for item in request.session.items if isinstance(item, pytest.Function)]
    chosen = [str(item.callspec.params["name"]) for item in own if item.originalname == "test_vector_of_a_checkout"]
    in_loop = InLoop()
    with Stage() as stage, ThreadPoolExecutor(AT_ONCE) as pool:
        yield {
            name: pool.submit(run, stage, RUNS[name], in_loop if "/asyncio/" in name else Blocking()) for name in chosen
        }
    in_loop.stop()


@pytest.mark.parametrize("name", RUNS, ids=RUNS)
def test_vector_of_a_checkout(name: str, running: dict[str, Future[None]]) -> None:
    running[name].result()


def test_no_vector_is_left_out() -> None:
    assert len(VECTORS) > 60
    assert len(RUNS) == 2 * len(VECTORS), "two vectors have one name"


def run(stage: Stage, vector: Any, way: Way) -> None:
    scene = stage.open(vector.get("scene"))
    apps: dict[str, App] = {}
    for number, step in enumerate(vector["steps"], 1):
        _numbered(number, step, vector.get("never", []), apps, scene, way)
    apps.clear()
    scene.close()


def _numbered(number: int, step: Any, never: list[str], apps: dict[str, App], scene: Scene, way: Way) -> None:
    try:
        _step(step, never, apps, scene, way)
    except AssertionError as problem:
        raise AssertionError(f"step {number} ({step['do']}): {problem}") from None


def _step(step: Any, never: list[str], apps: dict[str, App], scene: Scene, way: Way) -> None:
    name, device, given = step["do"], step.get("device", "phone"), _placed(step.get("input"), scene)
    if name == "until":
        apps[device].until(step.get("expect"), never)
        return
    came = _come(name, device, given, apps, scene, way)
    if name == "print":
        # Each language prints in its own way, but none a token.
        assert "http://127.0.0.1:" in came["answer"]
        assert scene.client_token not in came["answer"]
    elif "expect" in step:
        assert matches(step["expect"], came), f"must be {step['expect']} and is {came}"
    else:
        assert "error" not in came, f"must be no error and is {came}"


def _come(name: str, device: str, given: Any, apps: dict[str, App], scene: Scene, way: Way) -> Any:
    try:
        if name == "open":
            apps[device] = App(way, scene, given or {})
        elif name == "kill":
            del apps[device]
        elif name in NAMES:
            return {"answer": apps[device].act(name, given)}
        else:
            return {"answer": scene.step(name, given)}
    except kassa.PaymentError as error:
        return {"error": canonical(error)}
    return {"answer": None}


def _placed(given: Any, scene: Scene) -> Any:
    """``{"$new_token": true}`` stands for one."""
    fields = cast("dict[str, Any]", given or {})
    return {key: scene.new_token() if value == {"$new_token": True} else value for key, value in fields.items()}
