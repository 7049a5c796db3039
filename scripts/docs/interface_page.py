"""A page for people of a description in OpenAPI 3.1: each operation with its members and answers, as tables.

Tools that make Markdown of such a description repeat the whole schema of every refusal: 15,000 lines for the server. Here a schema that
several operations share is shown once, in its own section.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

Json = dict[str, Any]


def interface_page(path: Path) -> str:
    described = json.loads(path.read_text())
    info = described["info"]
    lines = [f"# {info['title']}: the interface", "", info["description"], ""]
    lines += [f"[Its description in OpenAPI 3.1]({path.name}), for programs that read one.", ""]
    for tag in described["tags"]:
        operations = list(_operations(described, tag["name"]))
        if operations:
            lines += [f"## {_capital(tag['name'])}", "", tag.get("description", ""), ""]
            for heading, operation in operations:
                lines += _operation(heading, operation)
    schemas = described.get("components", {}).get("schemas", {})
    if schemas:
        lines += ["## Schemas", ""]
        for name, schema in sorted(schemas.items()):
            lines += [f"### {name}", "", _text(schema), "", *_members(schema)]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines).rstrip()) + "\n"


def _operations(described: Json, tag: str) -> Any:
    items = [(path, item) for path, item in described["paths"].items()]
    items += [(f"webhook {name}", item) for name, item in described.get("webhooks", {}).items()]
    for path, item in items:
        for method, operation in item.items():
            if tag in operation.get("tags", []):
                yield f"`{method.upper()} {path}`", operation


def _operation(heading: str, operation: Json) -> list[str]:
    lines = [f"### {heading}", "", f"**{operation['summary']}**", "", operation.get("description", ""), ""]
    if operation.get("parameters"):
        lines += ["| Parameter | In | Type | Meaning |", "|---|---|---|---|"]
        for parameter in operation["parameters"]:
            needed = " (needed)" if parameter.get("required") else ""
            schema, says = parameter["schema"], parameter.get("description", "")
            lines.append(
                f"| `{parameter['name']}`{needed} | {parameter['in']} | {_type(schema)} | {_cell(says or _text(schema))} |"
            )
        lines.append("")
    body = operation.get("requestBody")
    if body:
        lines += ["The body:", "", body.get("description", ""), "", *_content(body)]
    lines += ["| Answer | Meaning | Holds |", "|---|---|---|"]
    inline = []
    for status, answer in sorted(operation["responses"].items()):
        media: Json = next(iter(answer.get("content", {}).values()), {})
        schema = media.get("schema", {})
        lines.append(f"| {status} | {_cell(answer.get('description', ''))} | {_type(schema) if schema else ''} |")
        if schema.get("properties"):
            inline += [f"What {status} holds:", "", *_members(schema)]
    return [*lines, "", *inline]


def _content(message: Json) -> list[str]:
    lines: list[str] = []
    for media in message.get("content", {}).values():
        schema = media.get("schema", {})
        if schema.get("properties") or schema.get("anyOf") or schema.get("oneOf"):
            lines += _members(schema)
        elif schema:
            lines += [_type(schema), ""]
        if "example" in media:
            lines += ["```json", json.dumps(media["example"], indent=2, ensure_ascii=False), "```", ""]
        for name, example in media.get("examples", {}).items():
            lines += [f"`{name}`:", "", "```json", json.dumps(example["value"], indent=2, ensure_ascii=False), "```", ""]
    return lines


def _members(schema: Json) -> list[str]:
    lines: list[str] = []
    rows = list(_rows(schema, ""))
    if rows:
        lines += ["| Member | Type | Meaning |", "|---|---|---|", *rows, ""]
    for form in schema.get("oneOf", []) + schema.get("anyOf", []):
        if form.get("properties"):
            lines += [_text(form), "", *_members(form)]
        elif "const" in form:
            lines += [f"- `{form['const']}`: {_text(form)}"]
        elif form.get("type") != "null":
            lines += [f"- {_type(form)}"]
    if schema.get("enum"):
        lines += [", ".join(f"`{word}`" for word in schema["enum"]), ""]
    return [*lines, ""]


def _rows(schema: Json, prefix: str) -> Any:
    needed = schema.get("required", [])
    for name, member in schema.get("properties", {}).items():
        path = f"{prefix}{name}"
        yield f"| `{path}`{' (needed)' if name in needed else ''} | {_type(member)} | {_cell(_text(member))} |"
        yield from _rows(member, f"{path}.")
        yield from _rows(member.get("items", {}), f"{path}[].")


def _type(schema: Json) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return f"[{name}](#{name.lower()})"
    if "const" in schema:
        return f"`{schema['const']}`"
    if "enum" in schema:
        return ", ".join("null" if word is None else f"`{word}`" for word in schema["enum"])
    for forms in ("anyOf", "oneOf"):
        if forms in schema:
            return " or ".join(dict.fromkeys(_type(form) for form in schema[forms]))
    kind = schema.get("type", "anything")
    if kind == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def _text(schema: Json) -> str:
    said = schema.get("description", "")
    limits = [f"{words} {schema[key]}" for key, words in _LIMITS.items() if key in schema]
    words = ", ".join(f"`{word}`" for word in schema.get("x-extensible-enum", []))
    parts = [said, f"({', '.join(limits)})" if limits else "", f"Now: {words}." if words else ""]
    return " ".join(filter(None, parts))


_LIMITS = {
    "minimum": "at least",
    "maximum": "at most",
    "minLength": "shortest length",
    "maxLength": "longest length",
    "maxItems": "most members",
    "default": "if not given:",
}


def _cell(text: str) -> str:
    return text.replace("\n", " ").replace("|", "\\|")


def _capital(word: str) -> str:
    return word[:1].upper() + word[1:]
