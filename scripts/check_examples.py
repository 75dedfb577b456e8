"""Checks the properties and the examples of docs/openapi.json.

Every property has a sentence. It also has an example, unless it consists of other schemas. Every example fits its schema.
"""

import json
import sys

from jsonschema import Draft202012Validator, FormatChecker

DOCUMENT = "docs/openapi.json"


def consists_of_others(schema):
    if any(key in schema for key in ("$ref", "properties", "allOf")):
        return True
    inner = schema.get("oneOf", []) + [schema[key] for key in ("items",) if key in schema]
    return any(consists_of_others(schema) for schema in inner)


def properties(name, schema):
    """Yields all properties in a schema."""
    for key, value in schema.get("properties", {}).items():
        yield f"{name}.{key}", value
        yield from properties(f"{name}.{key}", value)
    for key in ("allOf", "anyOf", "oneOf"):
        for part in schema.get(key, []):
            yield from properties(name, part)
    if "items" in schema:
        yield from properties(f"{name}[]", schema["items"])


def operations(document):
    for item in document["paths"].values():
        for operation in item.values():
            if "operationId" in operation:
                yield operation


def resolved(document, value):
    while "$ref" in value:
        section, name = value["$ref"].split("/")[-2:]
        value = document["components"][section][name]
    return value


def contents(document):
    """Yields the bodies of all requests and responses."""
    for operation in operations(document):
        bodies = {"request": operation.get("requestBody", {}), **operation["responses"]}
        for kind, body in bodies.items():
            for content in resolved(document, body).get("content", {}).values():
                yield f"{operation['operationId']} {kind}", content


def findings(document):
    def misfits(name, schema, example):
        whole = {**schema, "components": document["components"]}
        for error in Draft202012Validator(whole, format_checker=FormatChecker()).iter_errors(example):
            yield f"the example of {name} does not fit: {error.message}"

    for name, schema in document["components"]["schemas"].items():
        for name, schema in [(name, schema), *properties(name, schema)]:
            is_property = "." in name
            if is_property and not schema.get("description"):
                yield f"{name} has no sentence"
            if "example" in schema:
                yield from misfits(name, schema, schema["example"])
            elif is_property and not consists_of_others(schema):
                yield f"{name} has no example"
    for name, content in contents(document):
        examples = [example["value"] for example in content.get("examples", {}).values()]
        for example in examples + ([content["example"]] if "example" in content else []):
            yield from misfits(name, content["schema"], example)
        if name.endswith(" request") and "example" not in content:
            yield f"{name} has no example"


    for operation in operations(document):
        for parameter in operation.get("parameters", []):
            name = f"{operation['operationId']} {parameter['name']}"
            if "example" in parameter:
                yield from misfits(name, parameter["schema"], parameter["example"])
            elif parameter["in"] == "path":
                yield f"{name} has no example"


def main():
    with open(DOCUMENT, encoding="utf-8") as file:
        document = json.load(file)
    found = sorted(set(findings(document)))
    for finding in found:
        print(f"{DOCUMENT}: {finding}", file=sys.stderr)
    return 1 if found else 0


sys.exit(main())
