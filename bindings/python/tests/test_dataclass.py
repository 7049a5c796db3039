"""The package's data classes are what the standard library would have made of them, and are made later."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, Literal

import pytest

import kassa
from kassa import _dataclass

ours: Any = _dataclass


class Checked:
    __slots__ = ()

    def __post_init__(self) -> None:
        this: Any = self
        if this.count < 0:
            raise ValueError("negative")


def shown(_: object) -> str:
    return "mine"


class Pair:
    """One class by both."""

    def __init__(self, content: dict[str, Any], bases: tuple[type, ...] = (), **settings: Any) -> None:
        def made(by: Any) -> Any:
            given = {name: by.field(**each) if each is KIND else each for name, each in content.items()}
            origin = type(
                "Sample", bases, {"__doc__": "A sample.", "__module__": __name__, "__qualname__": "Sample", **given}
            )
            return by.dataclass(frozen=True, slots=True, **settings)(origin)

        self.own, self.standard = made(ours), made(dataclasses)

    def both(self) -> tuple[Any, Any]:
        return self.own, self.standard


HINTS: dict[str, Any] = {"name": str, "count": int, "note": str | None, "kind": Literal["a"], "KNOWN": ClassVar[str]}
KIND: dict[str, Any] = {"default": "a", "repr": False, "kw_only": True}
PAIRS = [
    Pair({"__annotations__": HINTS, "note": None, "kind": KIND}),
    Pair({"__annotations__": HINTS, "note": None, "kind": KIND}, (Checked,)),
    Pair({"__annotations__": {"name": str, "note": str, "count": int}, "note": "-"}, kw_only=True),
    Pair({"__annotations__": {"name": str}}),
    Pair({"__annotations__": {}}),
    Pair({"__annotations__": {"name": str}, "__repr__": shown}, repr=False),
]
VALUES: list[tuple[Pair, dict[str, Any]]] = [
    (PAIRS[0], {"name": "n", "count": 1, "note": "x"}),
    (PAIRS[1], {"name": "n", "count": 1}),
    (PAIRS[2], {"name": "n", "count": 1}),
    (PAIRS[3], {"name": "n"}),
    (PAIRS[4], {}),
    (PAIRS[5], {"name": "n"}),
]


def outcome(of: Any) -> Any:
    """What a function gives, or the error it ends with."""
    try:
        return of()
    except Exception as error:  # noqa: BLE001 (whatever it is)
        return type(error), str(error)


@pytest.mark.parametrize("pair", PAIRS)
def test_class_is_described_as_the_standard_librarys(pair: Pair) -> None:
    own, standard = pair.both()
    for of in (own, standard):
        assert dataclasses.is_dataclass(of)
    assert inspect.signature(own) == inspect.signature(standard)
    assert own.__init__.__annotations__ == standard.__init__.__annotations__
    assert own.__init__.__qualname__ == standard.__init__.__qualname__
    assert own.__match_args__ == standard.__match_args__
    assert own.__slots__ == standard.__slots__
    assert own.__doc__ == standard.__doc__
    assert repr(own.__dataclass_params__) == repr(standard.__dataclass_params__)
    assert repr(own.__dataclass_fields__) == repr(standard.__dataclass_fields__)
    assert hasattr(own, "__replace__") == hasattr(standard, "__replace__")


@pytest.mark.parametrize(("pair", "given"), VALUES)
def test_value_behaves_as_the_standard_librarys(pair: Pair, given: dict[str, Any]) -> None:
    own, standard = (of(**given) for of in pair.both())
    assert (repr(own), hash(own)) == (repr(standard), hash(standard))
    assert dataclasses.asdict(own) == dataclasses.asdict(standard)
    assert own == pair.own(**given)
    assert own != standard
    assert copy.copy(own) == copy.deepcopy(own) == dataclasses.replace(own) == own
    assert own.__getstate__() == standard.__getstate__()
    assert not hasattr(own, "__dict__")
    # Of any other name, the standard library's slots make a TypeError in some Pythons.
    for name in (*given, "other"):
        setting, deleting = partial(setattr, own, name, "x"), partial(delattr, own, name)
        assert outcome(setting)[0] is outcome(deleting)[0] is dataclasses.FrozenInstanceError
        if name in given:
            assert outcome(setting) == outcome(partial(setattr, standard, name, "x"))
            assert outcome(deleting) == outcome(partial(delattr, standard, name))
    if given:
        assert dataclasses.replace(own, name="other") != own
        assert hash(dataclasses.replace(own, name="other")) != hash(own)


@pytest.mark.parametrize(("pair", "given"), VALUES)
def test_wrong_call_ends_as_the_standard_librarys(pair: Pair, given: dict[str, Any]) -> None:
    calls: list[Callable[[Any], Any]] = [
        lambda of: of(**given, unknown=1),
        lambda of: of(*range(9)),
        lambda of: of(**{**given, "count": -1}),
        lambda of: of(**dict(list(given.items())[1:])),
    ]
    for call in calls:
        own, standard = (outcome(partial(call, of)) for of in pair.both())
        assert isinstance(own, tuple) == isinstance(standard, tuple)
        if isinstance(own, tuple):
            assert own == standard


def test_subclass_has_what_its_base_has() -> None:
    class Own(kassa.PaymentRef):
        """A merchant's, with an attribute."""

        def __init__(self, order: str) -> None:
            super().__init__(kassa.PaymentKind.CARD, order)
            self.shop = "s"

    mine = Own("o-1")
    assert (mine.order_number, mine.shop, str(mine)) == ("o-1", "s", "kassa1:kind=card&order=o-1")
    assert mine != kassa.PaymentRef(kassa.PaymentKind.CARD, "o-1")
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'order_number'"):
        mine.order_number = "o-2"  # type: ignore[misc] # pyright: ignore[reportAttributeAccessIssue]


def test_what_was_pickled_by_the_standard_librarys_is_read() -> None:
    ref = kassa.PaymentRef.card("o-1", 10, "KGS")
    assert pickle.loads(pickle.dumps(ref)) == ref  # noqa: S301
    again = kassa.PaymentRef.__new__(kassa.PaymentRef)
    state: Any = again
    state.__setstate__([getattr(ref, field.name) for field in dataclasses.fields(ref)])
    assert again == ref
