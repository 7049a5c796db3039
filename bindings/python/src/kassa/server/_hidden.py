"""Secrets in local variables: error trackers print those of every frame."""

from dataclasses import dataclass, field
from typing import Generic, TypeVar

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Hidden(Generic[T_co]):
    """A value that is not printed."""

    value: T_co = field(repr=False)
