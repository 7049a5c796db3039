"""Reads the vector files: constants are put in, defaults filled up."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

DIRECTORY = Path(__file__).parents[4] / "tests/conformance"
FILES = sorted(DIRECTORY.glob("*.json"))


@dataclass(frozen=True)
class Vector:
    """One vector, with everything that it says spelled out."""

    group: str
    name: str
    spec: Any

    @property
    def steps(self) -> list[Any]:
        return self.spec.get("steps") or [self.spec]


def load() -> list[Vector]:
    common = read(DIRECTORY / "common.json")
    return [vector for file in FILES if file.name != "common.json" for vector in _expanded(common, read(file))]


def read(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


def _expanded(common: Any, file: Any) -> list[Vector]:
    constants = common["constants"] | file.get("constants", {})
    defaults = _merged(common["defaults"], file.get("defaults", {}))
    return [
        Vector(file["group"], vector["name"], _resolved(_merged(defaults, vector), constants))
        for vector in file["vectors"]
    ]


def _merged(defaults: Any, vector: Any) -> Any:
    """A key that the vector lacks comes from the defaults; ``config`` is filled up key by key."""
    return defaults | vector | {"config": defaults.get("config", {}) | vector.get("config", {})}


def _resolved(value: Any, constants: Any) -> Any:
    match value:
        case list():
            return [_resolved(item, constants) for item in cast("Iterable[Any]", value)]
        case {"$use": name, **more}:
            constant = _resolved(constants[name], constants)
            return constant | _resolved(more["$with"], constants) if "$with" in more else constant
        case {"$repeat": text, "times": times}:
            return text * times
        case {"$concat": parts}:
            return "".join(_resolved(parts, constants))
        case dict():
            return {key: _resolved(item, constants) for key, item in cast("dict[str, Any]", value).items()}
        case _:
            return value
