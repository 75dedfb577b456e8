"""Writes src/iam_client/models.py and src/iam_client/operations.py from docs/openapi.json.

python generate.py          writes both
python generate.py --check  fails if one of them is not what it would write

It needs only the standard library, so that the package can be checked and built without a network.
"""

import json
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
DOCUMENT = HERE / "../../docs/openapi.json"
PACKAGE = HERE / "src/iam_client"
WIDTH = 120

Schema = dict[str, Any]

# The document names an instance of a generic type `Collection_User`. The package has the generic type.
GENERICS = {"Collection": "Page", "List": "Listed", "AuthzenResults": "AuthzenResults"}
# `Problem` is the exception of the package.
RENAMED = {"Problem": "ProblemDocument"}
# Fields that no representation shows. What else is secret has the format `password`. The `key` of an attribute is its
# name.
SECRETS = {
    "accessToken",
    "challenge",
    "clientSecret",
    "code",
    "codeVerifier",
    "credential",
    "flow",
    "key",
    "logout_token",
    "qr",
    "recoveryCode",
    "recoveryCodes",
    "refreshToken",
    "secret",
    "token",
    "uri",
}
NOT_SECRET = {("OrganizationAttribute", "key"), ("UserAttribute", "key")}
# Operations for browsers and identity providers, and the export, which is not one JSON value.
LEFT_OUT = {"returnFromFederation", "logOutByFederation", "exportAuditLogs"}
# Parameters that choose another format than JSON.
LEFT_OUT_PARAMETERS = {("exportUser", "format")}


def snake(name: str) -> str:
    """Returns the name of an attribute or a function."""
    name = re.sub(r"[ -]", "_", re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name)).lower()
    return f"{name}_" if name == "from" else name


def camel(name: str) -> str:
    """Returns the name in JSON that `Model` gives an attribute."""
    first, *rest = name.rstrip("_").split("_")
    return first + "".join(part.capitalize() for part in rest)


def sentence(text: str) -> str:
    """Returns the first sentence, in one line."""
    text = " ".join(text.split())
    return re.split(r"(?<=[.:]) (?=[A-Z`])", text)[0].rstrip(":.") + "." if text else ""


def docstring(text: str, indent: str) -> str:
    lines = textwrap.wrap(f'"""{text}"""', WIDTH - len(indent), break_long_words=False, break_on_hyphens=False)
    return "\n".join(indent + line for line in lines)


class Models:
    """The types of the document, and the classes for them."""

    def __init__(self, schemas: dict[str, Schema]) -> None:
        self.schemas = dict(schemas)
        for name, schema in schemas.items():
            kind, _, item = name.partition("_")
            if item and item not in self.schemas:
                # Only within the generic type has the document the type of its items.
                property_ = "results" if kind == "AuthzenResults" else "data"
                self.schemas[item] = schema["properties"][property_]["items"]

    def reference(self, name: str) -> str:
        kind, _, item = name.partition("_")
        if item:
            return f"{GENERICS[kind]}[{self.reference(item)}]"
        return "Time" if name == "Time" else RENAMED.get(name, name)

    def type(self, schema: Schema) -> str:
        """Returns the annotation of a value."""
        if "$ref" in schema:
            return self.reference(schema["$ref"].rpartition("/")[2])
        for choices in ("oneOf", "anyOf"):
            if choices in schema:
                return " | ".join(dict.fromkeys(self.type(choice) for choice in schema[choices]))
        if "allOf" in schema:
            sys.exit(f"a property is composed of several types: {schema.get('description')}")
        if schema.get("format") == "date":
            return "str"
        if "enum" in schema:
            # A later server may know more values.
            return f"Literal[{', '.join(json.dumps(value) for value in schema['enum'])}] | str"
        types = schema.get("type", [])
        if isinstance(types, list):
            return " | ".join(self.type({**schema, "type": one}) for one in types) or "Any"
        match types, schema.get("format"):
            case "string", "uuid":
                return "UUID"
            case "string", "date-time":
                return "Time"
            case "object", _:
                values = schema.get("additionalProperties")
                return f"dict[str, {self.type(values) if isinstance(values, dict) else 'Any'}]"
            case "array", _:
                return f"list[{self.type(schema['items'])}]"
        return {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}[types]

    def field(self, owner: str, name: str, schema: Schema, required: bool) -> str:
        attribute, annotation = snake(name), self.type(schema)
        options = []
        if not required:
            annotation = annotation if annotation.endswith("None") else f"{annotation} | None"
            options.append("default=None")
        is_secret = name in SECRETS and (owner, name) not in NOT_SECRET
        if is_secret or schema.get("format") == "password":
            options.append("repr=False")
        if camel(attribute) != name:
            options += [f'validation_alias="{name}"', f'serialization_alias="{name}"']
        if options == ["default=None"]:
            return f"    {attribute}: {annotation} = None"
        line = f"    {attribute}: {annotation}" + (f" = Field({', '.join(options)})" if options else "")
        if len(line) > WIDTH and options:
            return f"    {attribute}: {annotation} = Field(\n        {', '.join(options)}\n    )"
        return line

    def class_of(self, name: str, schema: Schema) -> str:
        parts = schema.get("allOf", [schema])
        bases = [self.type(part) for part in parts if "$ref" in part] or ["Model"]
        lines = [f"class {RENAMED.get(name, name)}({', '.join(bases)}):"]
        lines += [docstring(sentence(schema.get("description", f"{name}.")), "    "), ""]
        for part in parts:
            required = part.get("required", [])
            fields = part.get("properties", {}).items()
            # Arguments are given by name, and fields that a caller must give stand first.
            for field, of_field in sorted(fields, key=lambda item: item[0] not in required):
                lines.append(self.field(name, field, of_field, field in required))
        return "\n".join(lines).rstrip("\n")

    def alias(self, name: str, schema: Schema) -> str:
        if "oneOf" in schema or name == "PasskeyOptions":
            return f"{name} = {quoted(self.type(schema))}\n{docstring(sentence(schema['description']), '')}"
        values = ", ".join(json.dumps(value) for value in schema["enum"])
        return f"{name} = Literal[{values}] | str\n{docstring(sentence(schema['description']), '')}"

    def definitions(self) -> Iterator[str]:
        plain = {name: schema for name, schema in self.schemas.items() if "_" not in name and name != "Time"}
        composed = {name for name, schema in plain.items() if "allOf" in schema}
        aliases = {
            name for name, schema in plain.items() if "enum" in schema or "oneOf" in schema or name == "PasskeyOptions"
        }
        for name in sorted(aliases):
            if "oneOf" not in plain[name]:
                yield self.alias(name, plain[name])
        for name in sorted(plain.keys() - composed - aliases):
            yield self.class_of(name, plain[name])
        for name in sorted(composed, key=lambda name: (self.depth(name), name)):
            yield self.class_of(name, plain[name])
        for name in sorted(aliases):
            if "oneOf" in plain[name]:
                yield self.alias(name, plain[name])

    def depth(self, name: str) -> int:
        """Returns how many classes stand above this one."""
        parts = self.schemas[name].get("allOf", [])
        return sum(1 + self.depth(part["$ref"].rpartition("/")[2]) for part in parts if "$ref" in part)


def quoted(annotation: str) -> str:
    return annotation if "|" in annotation or "[" in annotation else f'"{annotation}"'


MODELS = '''"""The values of the API. Written by generate.py from docs/openapi.json: do not edit."""

from __future__ import annotations

from typing import Any, Generic, Literal, TypeVar
from uuid import UUID

from pydantic import Field

from iam_client._model import Model, Time

T = TypeVar("T")


class Page(Model, Generic[T]):
    """A page of a list."""

    data: list[T]
    pagination: Pagination


class Listed(Model, Generic[T]):
    """A list without pages."""

    data: list[T]


class AuthzenResults(Model, Generic[T]):
    """A page of what a search of AuthZEN has found."""

    page: AuthzenResultsPage
    results: list[T]


'''

OPERATIONS = '''"""The operations of the API. Written by generate.py from docs/openapi.json: do not edit.

Each function returns a request for `Client.send` or `AsyncClient.send`. A function whose name begins with `preview_`
asks what the operation would change, and changes nothing.
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from iam_client import models
from iam_client._operation import Operation, path, query

Id = UUID | str


'''


class Operations:
    """The functions for the operations of the document."""

    def __init__(self, document: Schema, models: Models) -> None:
        self.document, self.models = document, models

    def named(self, annotation: str) -> str:
        """Returns an annotation as it is written outside of the module of the models."""
        annotation = re.sub(r"\b(?!UUID\b|Time\b|None\b|Any\b|Literal\b)([A-Z]\w+)", r"models.\1", annotation)
        return annotation.replace("Time", "datetime")

    def definitions(self) -> Iterator[str]:
        for route, methods in self.document["paths"].items():
            if "servers" in methods:
                # At the root of the server, for other programs than clients.
                continue
            for method, operation in methods.items():
                if operation["operationId"] in LEFT_OUT:
                    continue
                results = self.results(operation)
                previews = [result for result in results if result == "models.Preview"]
                others = [result for result in results if result != "models.Preview"] or ["None"]
                assert len(others) == 1, operation["operationId"]
                yield self.function(route, method, operation, others[0], "", bool(previews))
                if previews:
                    yield self.function(route, method, operation, previews[0], "preview_", True)

    def results(self, operation: Schema) -> list[str]:
        """Returns the types of the values that the operation can answer."""
        found: dict[str, None] = {}
        for status, response in operation["responses"].items():
            if status.startswith("2"):
                schema = response.get("content", {}).get("application/json", {}).get("schema")
                for choice in schema.get("oneOf", [schema]) if schema else []:
                    found[self.named(self.models.type(choice))] = None
                if not schema:
                    found["None"] = None
        if len(found) > 1 and "None" in found and found.keys() != {"None", "models.Preview"}:
            # A 204 beside a value, for example of a step-up that begins no session.
            del found["None"]
            return [f"{result} | None" for result in found]
        return list(found)

    def function(self, route: str, method: str, operation: Schema, result: str, prefix: str, has_preview: bool) -> str:
        parameters = [resolve(self.document, parameter) for parameter in operation.get("parameters", [])]
        in_path = [parameter for parameter in parameters if parameter["in"] == "path"]
        in_query = [p for p in parameters if p["in"] == "query" and not (p["name"] == "preview" and has_preview)]
        in_query = [p for p in in_query if (operation["operationId"], p["name"]) not in LEFT_OUT_PARAMETERS]
        headers = {parameter["name"] for parameter in parameters if parameter["in"] == "header"}
        body = operation.get("requestBody")
        arguments = [f"{snake(parameter['name'])}: Id" for parameter in in_path]
        if body:
            type_ = self.named(self.models.type(body["content"]["application/json"]["schema"]))
            arguments.append(f"body: {type_}" if body.get("required") else f"body: {type_} | None = None")
        named = [self.argument(parameter) for parameter in in_query]
        named += ["idempotency_key: str | None = None"] * ("Idempotency-Key" in headers and not prefix)
        named += ["if_match: str | None = None"] * ("If-Match" in headers)
        arguments += ["*"] * bool(named) + named

        name = prefix + snake(operation["operationId"])
        lines = [signature(name, arguments, f"Operation[{result}]")]
        summary = operation["summary"].rstrip(".")
        if prefix:
            summary = f"Asks what this would change: {summary[0].lower()}{summary[1:]}"
        lines.append(docstring(summary + ".", "    "))
        values = [f'"{p["name"]}": {snake(p["name"])}' for p in in_query] + ['"preview": True'] * bool(prefix)
        calls = [f'"{method.upper()}"', self.filled(route, in_path), result]
        calls += [f"query=query({{{', '.join(values)}}})"] * bool(values)
        calls += ["body=body"] * bool(body)
        calls += ["public=True"] * (operation.get("x-required-permission") == "public")
        if "Idempotency-Key" in headers and not prefix:
            calls += ["once=True", "idempotency_key=idempotency_key"]
        calls += ["if_match=if_match"] * ("If-Match" in headers)
        lines.append(call("    return Operation", calls))
        return "\n".join(lines)

    def argument(self, parameter: Schema) -> str:
        annotation = self.named(self.models.type(parameter["schema"])).replace("UUID", "Id").replace(" | None", "")
        annotation = re.sub(r"Literal\[[^]]*\] \| str", "str", annotation)
        required = parameter.get("required", False)
        return f"{snake(parameter['name'])}: {annotation}" + ("" if required else " | None = None")

    def filled(self, route: str, in_path: list[Schema]) -> str:
        if not in_path:
            return f'"{route}"'
        pattern = re.sub(r"{\w+}", "{}", route)
        return f'path("{pattern}", {", ".join(snake(parameter["name"]) for parameter in in_path)})'


def resolve(document: Schema, value: Schema) -> Schema:
    while "$ref" in value:
        target: Any = document
        for part in value["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        value = target
    return value


def signature(name: str, arguments: list[str], result: str) -> str:
    line = f"def {name}({', '.join(arguments)}) -> {result}:"
    if len(line) <= WIDTH:
        return line
    return f"def {name}(\n" + "".join(f"    {argument},\n" for argument in arguments) + f") -> {result}:"


def call(function: str, arguments: list[str]) -> str:
    line = f"{function}({', '.join(arguments)})"
    if len(line) <= WIDTH:
        return line
    lines: list[str] = []
    for argument in arguments:
        if len(argument) + 9 > WIDTH and argument.startswith("query=query({"):
            items = argument.removeprefix("query=query({").removesuffix("})").split(", ")
            filled = textwrap.wrap(", ".join(items) + ",", WIDTH - 12)
            lines += ["        query=query({"] + [f"            {line}" for line in filled] + ["        }),"]
        else:
            lines.append(f"        {argument},")
    return f"{function}(\n" + "\n".join(lines) + "\n    )"


def written() -> dict[Path, str]:
    document = json.loads(DOCUMENT.read_text(encoding="utf-8"))
    models = Models(document["components"]["schemas"])
    operations = Operations(document, models)
    return {
        PACKAGE / "models.py": MODELS + "\n\n\n".join(models.definitions()) + "\n",
        PACKAGE / "operations.py": OPERATIONS + "\n\n\n".join(operations.definitions()) + "\n",
    }


def main() -> None:
    stale = []
    version = json.loads(DOCUMENT.read_text(encoding="utf-8"))["info"]["version"]
    if f'version = "{version}"\n' not in (HERE / "pyproject.toml").read_text(encoding="utf-8"):
        sys.exit(f"pyproject.toml: the version of the API is {version}")
    for file, text in written().items():
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            stale.append(file.name)
            if "--check" not in sys.argv[1:]:
                file.write_text(text, encoding="utf-8")
    if stale and "--check" in sys.argv[1:]:
        sys.exit(f"{', '.join(stale)}: not what docs/openapi.json says. Run clients/python/generate.py.")


if __name__ == "__main__":
    main()
