"""The matching dialect: the given one, plus what the responses show. A person must say what a word or a refusal means."""

import copy
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any, cast

import kassa

WHOLE = "mbank_identifier"
MESSAGES = ("message", "msg", "text", "reason", "errormessage", "resulttext", "resultmessage", "note")
STATES = ("status", "state", "paymentstatus", "paymentstate", "transactionstatus", "operationstatus")
RESULTS = ("result", "response", "status", "head")
LONGEST_CODE = 8
NUMBER = re.compile(r"(?=.*\d)[A-Za-z0-9_-]{6,}", re.ASCII)
DEEPEST = 128
PNG = "iVBORw0KGgo"


@dataclass(frozen=True)
class Known:
    """The values of a request's payment, which identify their echo in a response."""

    order_number: str | None = None
    amounts: tuple[Decimal, ...] = ()
    addresses: tuple[str, ...] = ()


@dataclass(frozen=True)
class Leaf:
    """A string, a number or a boolean in a response."""

    path: tuple[str, ...]
    text: str
    json: str

    @property
    def pointer(self) -> str:
        """Its place as a JSON pointer."""
        return "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in self.path)

    @property
    def key(self) -> str:
        """The name of the member, unchanged."""
        return self.path[-1] if self.path else ""

    @property
    def name(self) -> str:
        """Letters and digits of the name, in lower case."""
        return _plain(self.key)

    @property
    def parent(self) -> str:
        """The same of the object that holds it."""
        return _plain(self.path[-2]) if len(self.path) > 1 else ""


@dataclass
class Proposal:
    """A dialect that grows."""

    dialect: kassa.Dialect
    form: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        self.form = json.loads(self.dialect.to_json())

    def copied(self) -> "Proposal":
        """An independent copy."""
        return Proposal(self.dialect)

    def _change(self, change: Callable[[dict[str, Any]], None]) -> bool:
        """Makes a change only if the result is a valid dialect."""
        form = copy.deepcopy(self.form)
        change(form)
        try:
            dialect = kassa.Dialect.from_json(json.dumps(form))
        except kassa.PaymentError:
            return False
        is_another = dialect != self.dialect
        self.form, self.dialect = form, dialect
        return is_another

    def put(self, endpoint: str, name: str, text: str) -> bool:
        """Adds a text to a list of an endpoint, behind those that the list has: what the base finds stays found."""

        def change(form: dict[str, Any]) -> None:
            known = form["endpoints"].get(endpoint, {}).get(name)
            if known is not None and text not in known:
                known.append(text)

        return self._change(change)

    def put_success_code(self, endpoint: str, code: str) -> bool:
        """Lists a code as a success. A masked code, or one of other characters than letters and digits, is not listed."""
        return _is_code(code) and self.put(endpoint, "success_codes", code)

    def has_word(self, name: str, word: str) -> bool:
        """Whether a list of the whole dialect has this status word."""
        return any(same_word(known, word) for known in self.form[name])

    def has_word_at(self, endpoint: str, name: str, word: str) -> bool:
        """Whether an endpoint's responses are read by this status word: by the endpoint's own list, or without one by that of
        the whole dialect."""
        own: list[str] | None = self.form["endpoints"].get(endpoint, {}).get(name)
        return self.has_word(name, word) if own is None else any(same_word(known, word) for known in own)

    def withdraw_word(self, name: str, word: str) -> bool:
        """Takes a status word out of a list of the whole dialect, and out of the endpoints' own. An endpoint whose own list has
        no other word is read by that of the whole dialect, which keeps its last word, because there is no dialect without."""

        def others(known: list[str]) -> list[str]:
            return [other for other in known if not same_word(other, word)]

        def change(form: dict[str, Any]) -> None:
            form[name] = others(form[name]) or form[name]
            for endpoint in form["endpoints"].values():
                if name in endpoint:
                    own = others(endpoint.pop(name))
                    endpoint.update({name: own} if own else {})

        return self._change(change)

    def put_word(self, name: str, word: str) -> bool:
        """Adds a status word to a list of the whole dialect."""
        return self._change(lambda form: form[name].append(word) if word not in form[name] else None)

    def set_identifier(self, pointer: str | None, confirm_field: str | None) -> bool:
        """Says where the mobile bank's identifier stands too, and where the confirmation carries it; nowhere for None."""
        pointers: list[str] = list(self._identifier().get("pointers") or ())
        if pointer is not None and pointer not in pointers:
            pointers.append(pointer)
        value: dict[str, Any] = {"pointers": pointers, "confirm_field": confirm_field}
        return self._change(lambda form: form.update({WHOLE: value}))

    def adopt_identifier(self, other: "Proposal") -> bool:
        """Takes over where another one says that the identifier stands and travels."""
        return self._change(lambda form: form.update({WHOLE: other.form.get(WHOLE)}))

    @property
    def has_identifier(self) -> bool:
        """Whether it names one."""
        return isinstance(self.form.get(WHOLE), dict)

    @property
    def confirm_field(self) -> str | None:
        """Where the confirmation carries it."""
        text: str | None = self._identifier().get("confirm_field")
        return text

    def _identifier(self) -> dict[str, Any]:
        named: dict[str, Any] = self.form.get(WHOLE) or {}
        return named

    def takes_any_number(self, endpoint: str) -> bool:
        """Whether a report of this endpoint may name a number that is none of the payment's own."""
        return bool(self.form["endpoints"][endpoint].get("numbers") == "any")

    def found(self, endpoint: str, raw: str, name: str) -> str | None:
        """The value of a field in a response, where the dialect finds one."""
        fields = self.dialect.explain(endpoint, raw).fields
        return next((found.value for found in fields if found.name == name), None)

    def learn(self, endpoint: str, raw: str, known: Known) -> list[str]:
        """Looks for what the dialect does not find in a response: the places that were learned, in words."""
        found = {found.name for found in self.dialect.explain(endpoint, raw).fields}
        all_leaves = tuple(leaves(raw))
        learned: list[str] = []
        for name in sorted(set(self.form["endpoints"].get(endpoint, {})) - found):
            leaf = _place(name, all_leaves, known)
            if leaf is not None and self.put(endpoint, name, leaf.pointer):
                learned.append(f"unread: {name} probably stands at {leaf.pointer}")
        return learned

    def file(self) -> str:
        """The file: the known dialect that is nearest to it, and what differs."""
        files = [text for name in kassa.Dialect.names() if (text := self._relative_to(name)) is not None]
        return min(files, key=len, default=_pretty(self.form))

    def _relative_to(self, name: str) -> str | None:
        base = json.loads(kassa.Dialect.named(name).to_json())
        text = _pretty({"base": name} | (_difference("", base, self.form) or {}))
        try:
            return text if kassa.Dialect.from_json(text) == self.dialect else None
        except kassa.PaymentError:
            return None


def leaves(raw: str) -> Iterator[Leaf]:
    """Everything in a response that has a value, in its order; nothing where it is not JSON."""
    try:
        document = json.loads(raw, parse_float=Decimal)
    except (ValueError, RecursionError, InvalidOperation):
        return
    yield from _inside(document, ())


def _inside(value: Any, path: tuple[str, ...]) -> Iterator[Leaf]:
    if len(path) > DEEPEST:
        return
    if isinstance(value, dict):
        for name, inner in cast("dict[str, Any]", value).items():
            yield from _inside(inner, (*path, name))
    elif isinstance(value, list):
        for index, inner in enumerate(cast("Sequence[Any]", value)):
            yield from _inside(inner, (*path, str(index)))
    elif isinstance(value, str):
        yield Leaf(path, value, json.dumps(value))
    elif value is not None:
        text = str(value).lower() if isinstance(value, bool) else str(value)
        yield Leaf(path, text, text)


def _place(name: str, all_leaves: tuple[Leaf, ...], known: Known) -> Leaf | None:
    """The most probable place of a field. The gateway's own numbers are not guessed by their looks: they are queried by."""
    tests: dict[str, tuple[Callable[[Leaf], bool], ...]] = {
        "code": (_is_named_code, _is_result_code),
        "reason": (lambda leaf: leaf.name in MESSAGES,),
        "status": (lambda leaf: leaf.name in STATES,),
        "order_number": (lambda leaf: known.order_number is not None and leaf.text == known.order_number,),
        "amount": (lambda leaf: _is_amount(leaf, known),),
        "currency": (lambda leaf: leaf.text.upper() == "KGS",),
        "confirmation_url": (lambda leaf: _is_page(leaf, known),),
        "pay_form_url": (lambda leaf: _is_page(leaf, known),),
        "image": (lambda leaf: leaf.text.startswith(PNG),),
        "qr_payload": (_is_elqr, _is_named_qr),
    }
    found = (leaf for test in tests.get(name, ()) for leaf in all_leaves if test(leaf))
    return next(found, None)


def is_number(text: str) -> bool:
    """Whether a text looks like a number of the gateway's."""
    return NUMBER.fullmatch(text) is not None


def same_word(one: str, other: str) -> bool:
    """Status words are compared without regard to letter case."""
    return one.lower() == other.lower()


def _is_code(text: str) -> bool:
    return 1 <= len(text) <= LONGEST_CODE and text.isascii() and text.isalnum()


def _is_named_code(leaf: Leaf) -> bool:
    return _is_code(leaf.text) and leaf.name.endswith("code") and "currency" not in leaf.name


def _is_result_code(leaf: Leaf) -> bool:
    return _is_code(leaf.text) and leaf.parent in RESULTS and leaf.text.isdigit()


def _is_amount(leaf: Leaf, known: Known) -> bool:
    if not any(name in leaf.name for name in ("amount", "sum", "total")):
        return False
    try:
        return Decimal(leaf.text) in known.amounts
    except InvalidOperation:
        return False


def _is_page(leaf: Leaf, known: Known) -> bool:
    return leaf.text.startswith(("https://", "http://")) and leaf.text not in known.addresses


def _is_elqr(leaf: Leaf) -> bool:
    return not leaf.text.startswith(PNG) and elqr(leaf.text) is not None


def _is_named_qr(leaf: Leaf) -> bool:
    return leaf.name.startswith("qr") and len(leaf.text) > LONGEST_CODE and not leaf.text.startswith(PNG)


def elqr(text: str) -> kassa.Elqr | None:
    """The code that a text is, if it is one."""
    try:
        return kassa.Elqr.parse(text)
    except kassa.PaymentError:
        return None


def _plain(text: str) -> str:
    return "".join(sign for sign in text if sign.isalnum()).lower()


def _pretty(form: dict[str, Any]) -> str:
    return json.dumps(form, indent=2, ensure_ascii=False) + "\n"


def _difference(name: str, base: Any, wanted: Any) -> Any:
    """The differences from the base; None if there are none."""
    if base == wanted:
        return None
    if name == WHOLE or not (isinstance(base, dict) and isinstance(wanted, dict)):
        return wanted
    ours, theirs = cast("dict[str, Any]", wanted), cast("dict[str, Any]", base)
    differing = {key: _difference(key, theirs.get(key), value) for key, value in ours.items()}
    return {key: value for key, value in differing.items() if value is not None}
