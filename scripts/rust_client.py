"""Writes the types and the operations of the Rust client: rust_client.py DOCUMENT DIRECTORY

The document is regular, because one program writes it. What this generator does not know is an error that names the
place, never a guess.
"""

import json
import re
import sys
from pathlib import Path

HEAD = "// Written by scripts/rust-client from docs/openapi.json. Change neither by hand.\n"

# The names of enumerations that the document defines where they are used.
ENUMS = {
    ("ACTIVE", "SUSPENDED", "INACTIVE"): "Status",
    ("ACTIVE", "SUSPENDED"): "ManifestStatus",
    ("HUMAN", "SERVICE"): "UserKind",
    ("TENANT", "ORGANIZATION", "ANY"): "RoleScope",
    ("PENDING", "ACCEPTED", "REVOKED", "EXPIRED"): "InvitationStatus",
    ("totp", "passkey"): "FactorType",
    ("OFF", "LINK", "CREATE"): "Provisioning",
    ("sub", "oid"): "SubjectClaim",
    ("native", "ocsf"): "EventFormat",
    ("ID", "NAME"): "AuthzenIdentifiers",
    ("OFF", "ON"): "EmailLoginSetting",
    ("ALLOWED", "FEDERATED"): "PasswordLoginSetting",
    ("seed", "nist-800-63b-4", "asvs-5"): "PasswordPolicy",
    ("OFF", "OPTIONAL", "REQUIRED"): "SecondFactorSetting",
    ("execute_all", "deny_on_first_deny", "permit_on_first_permit"): "EvaluationsSemantic",
    ("KEEP", "REVOKE"): "NewVerdict",
    ("KEEP", "REVOKE", "UNDECIDED"): "ItemDecision",
    ("createdAt", "updatedAt", "email", "firstName", "lastName", "lastLoginAt", "status"): "UserSort",
    ("name", "createdAt", "updatedAt"): "OrganizationSort",
    ("asc", "desc"): "SortOrder",
    ("keep", "suspend"): "UsersOfDirectory",
    ("ALLOWED", "REFUSED"): "UnregisteredAttributes",
    ("STRING", "NUMBER", "BOOLEAN", "STRINGS", "OBJECT"): "AttributeType",
}
# Written by hand, in another module of the crate.
BY_HAND = {"Problem": "crate::Problem", "FieldError": "crate::FieldError"}
# Fields whose values `Debug` must not show. `token` of AuthZEN is the position of a page, `key` of an attribute its name.
SECRETS = {
    "accessToken", "challenge", "clientSecret", "code", "codeVerifier", "credential", "currentPassword", "flow", "key",
    "newPassword", "password", "qr", "recoveryCode", "recoveryCodes", "refreshToken", "secret", "token", "uri",
}  # fmt: skip
NOT_SECRET = {("AuthzenPage", "token"), ("OrganizationAttribute", "key"), ("UserAttribute", "key")}
# Generic types with the values of the document in `data`.
GENERIC = {"Collection": "Collection", "List": "List", "AuthzenResults": None}

# Operations that the client has in another form, and why.
LEFT_OUT = {
    "refresh": "Client::refresh",
    "listEvents": "Client::events",
    "logOutByFederation": "sent by identity providers",
    "returnFromFederation": "sent by browsers",
    "getPublicKeys": "TokenVerifier",
}
# Parameters that choose another format than JSON.
LEFT_OUT_PARAMETERS = {("exportUser", "format")}
# Operations whose answer has tokens that the client keeps.
LOGINS = {
    "login", "finishLogin", "register", "logInByPasskey", "finishEmailLogin", "finishFederation", "acceptInvitation",
}  # fmt: skip
LOGOUTS = {"logout", "logoutAll"}
# POST operations that change nothing, so they can be sent again without a key.
READS = {
    "check", "checkAll", "evaluate", "evaluateAll", "introspect", "lookUpInvitation", "searchActions",
    "searchResources", "searchSubjects", "discoverFederation",
}  # fmt: skip

KEYWORDS = {"type", "use", "move", "ref", "match", "in", "for", "where", "mod", "crate", "self", "super", "as"}


def fail(message):
    sys.exit(f"rust_client.py: {message}")


def snake(name):
    text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.replace("-", "_")).lower()
    return f"r#{text}" if text in KEYWORDS else text


def camel(name):
    parts = re.split(r"[_\-\s]+", name)
    return "".join(part[:1].upper() + (part[1:].lower() if part.isupper() else part[1:]) for part in parts)


def renamed(key):
    """The attribute of a field whose name in JSON is not its name in camelCase."""
    words = snake(key).removeprefix("r#").split("_")
    return [] if words[0] + "".join(word.capitalize() for word in words[1:]) == key else [f'rename = "{key}"']


def derived(derives, lines):
    """The derives of a struct, with the case of its names in JSON if one needs it."""
    case = '#[serde(rename_all = "camelCase")]\n' if any("_" in line.split(":")[0] for line in lines if " pub " in line) else ""
    return f"#[derive({', '.join(derives)})]\n{case}"


def documentation(*texts, indent=""):
    """The lines of a doc comment. What rustdoc would take for a link or for HTML is escaped, outside of code."""
    lines = []
    for text in filter(None, texts):
        if lines:
            lines.append("")
        pieces = re.split(r"(`[^`]*`|<https://[^>]*>)", text.strip())
        plain = [re.sub(r"([\[\]<>])", r"\\\1", piece) if index % 2 == 0 else piece for index, piece in enumerate(pieces)]
        lines += "".join(plain).split("\n")
    return "".join(f"{indent}///{' ' + line if line else ''}\n" for line in lines)


class Document:
    def __init__(self, document):
        self.paths = document["paths"]
        self.schemas = document["components"]["schemas"]
        self.enums = {}
        self.named_enums = {
            tuple(schema["enum"]): name for name, schema in self.schemas.items() if "enum" in schema
        }
        # Items of generic types that have no schema of their own.
        for name, schema in list(self.schemas.items()):
            if "_" in name:
                generic, item = name.split("_", 1)
                if generic not in GENERIC:
                    fail(f"{name} is of an unknown generic type")
                values = schema["properties"]["results" if generic == "AuthzenResults" else "data"]
                self.schemas.setdefault(item, values["items"])
                values["items"] = {"$ref": f"#/components/schemas/{item}"}
        self.requests, self.responses = set(), set()

    # Types

    def reference(self, name):
        if name == "Time":
            return "DateTime<Utc>"
        if name in BY_HAND:
            return BY_HAND[name]
        generic, _, item = name.partition("_")
        if item and GENERIC[generic]:
            return f"{GENERIC[generic]}<{item}>"
        return camel(name) if item else name

    def enumeration(self, schema, place):
        values = tuple(schema["enum"])
        name = self.named_enums.get(values) or ENUMS.get(values)
        if not name:
            fail(f"{place} is an enumeration without a name: {values}")
        self.enums.setdefault(name, (values, schema.get("description")))
        return name

    def type_of(self, schema, place):
        """The type, and whether it can be null."""
        if "$ref" in schema:
            return self.reference(schema["$ref"].rsplit("/", 1)[1]), False
        if "oneOf" in schema:
            kinds = [kind for kind in schema["oneOf"] if kind != {"type": "null"}]
            if len(kinds) != 1 or len(schema["oneOf"]) != 2:
                fail(f"{place} is of several types")
            return self.type_of(kinds[0], place)[0], True
        if "anyOf" in schema:
            return "String", False
        if "allOf" in schema:
            fail(f"{place} is composed of several types")
        kind, null = schema.get("type"), False
        if isinstance(kind, list):
            kind, null = next(one for one in kind if one != "null"), True
        if "enum" in schema:
            return self.enumeration(schema, place), null
        if kind == "array":
            return f"Vec<{self.type_of(schema['items'], place)[0]}>", null
        if kind == "object" or kind is None:
            if "properties" in schema:
                fail(f"{place} is an object without a name")
            return ("Map<String, Value>" if "additionalProperties" in schema else "Value"), null
        if kind == "string":
            return {"uuid": "Uuid", "date-time": "DateTime<Utc>"}.get(schema.get("format"), "String"), null
        if kind == "integer":
            size = "32" if schema.get("format") == "int32" else "64"
            return ("u" if schema.get("minimum", -1) >= 0 else "i") + size, null
        if kind in ("number", "boolean"):
            return {"number": "f64", "boolean": "bool"}[kind], null
        return fail(f"{place} is of the unknown type {kind}")

    def fields(self, name, schema):
        """The fields of an object, with those of the objects that it extends."""
        if "$ref" in schema:
            name = schema["$ref"].rsplit("/", 1)[1]
            schema = self.schemas[name]
        if "allOf" in schema:
            return [field for part in schema["allOf"] for field in self.fields(name, part)]
        required = schema.get("required", [])
        return [(name, key, value, key in required) for key, value in schema.get("properties", {}).items()]

    # Directions

    def reach(self, schema, found):
        """Collects the names of the schemas that a body contains."""
        if isinstance(schema, list):
            for part in schema:
                self.reach(part, found)
        elif isinstance(schema, dict):
            if "$ref" in schema:
                name = schema["$ref"].rsplit("/", 1)[1]
                item = name.partition("_")[2]
                for one in filter(None, (name, item)):
                    if one not in found:
                        found.add(one)
                        self.reach(self.schemas[one], found)
            for key, part in schema.items():
                if key not in ("example", "examples"):
                    self.reach(part, found)

    def enum_names(self, names):
        found = set()

        def walk(part):
            if isinstance(part, list):
                for one in part:
                    walk(one)
            elif isinstance(part, dict):
                if "enum" in part:
                    values = tuple(part["enum"])
                    found.add(self.named_enums.get(values) or ENUMS.get(values))
                for key, one in part.items():
                    if key not in ("example", "examples"):
                        walk(one)

        for name in names:
            walk(self.schemas[name])
        return found

    # Models

    def structure(self, name, schema):
        request, response = name in self.requests, name in self.responses
        if not (request or response):
            return ""
        lines, defaults = [], True
        for owner, key, value, required in self.fields(name, schema):
            kind, null = self.type_of(value, f"{name}.{key}")
            if key in SECRETS and (owner, key) not in NOT_SECRET:
                kind = {"String": "Secret", "Value": "Secret<Value>", "Vec<String>": "Vec<Secret>"}.get(kind, kind)
            rust, attributes = snake(key), renamed(key)
            if request and null and not required and name.endswith("Patch"):
                kind = f"Change<{kind}>"
                attributes += ['skip_serializing_if = "Change::is_unchanged"']
            elif null or not required:
                kind = f"Option<{kind}>"
                if request and not required:
                    attributes += ['skip_serializing_if = "Option::is_none"']
            elif kind in self.enums or kind in self.named_enums.values():
                defaults = False
            elif self.schemas.get(kind, {}).get("oneOf") or (kind in self.schemas and not self.has_default(kind)):
                defaults = False
            lines.append(documentation(value.get("description"), indent="    "))
            if attributes:
                lines.append(f"    #[serde({', '.join(attributes)})]\n")
            lines.append(f"    pub {rust}: {kind},\n")
        derives = ["Clone", "Debug"] + ["Default"] * (request and defaults) + ["PartialEq"]
        derives += ["Deserialize"] * response + ["Serialize"] * request
        # A later version of the service may add fields to what it answers.
        open_ended = "" if request else "#[non_exhaustive]\n"
        text = documentation(schema.get("description") or f"An item of a list: {name}.")
        return f"{text}{derived(derives, lines)}{open_ended}pub struct {camel(name) if '_' in name else name} {{\n{''.join(lines)}}}\n\n"

    def has_default(self, name):
        if "enum" in self.schemas[name]:
            return False
        for _, key, value, required in self.fields(name, self.schemas[name]):
            kind, null = self.type_of(value, f"{name}.{key}")
            if required and not null:
                if kind in self.enums or kind in self.named_enums.values():
                    return False
                if kind in self.schemas and not self.has_default(kind):
                    return False
        return True

    def models(self):
        text = ""
        for name, schema in sorted(self.schemas.items()):
            generic = name.partition("_")[0]
            if name == "Time" or name in BY_HAND or (generic != name and GENERIC.get(generic)):
                continue
            if "enum" in schema:
                self.enums.setdefault(name, (tuple(schema["enum"]), schema.get("description")))
            elif name == "AuthzenAnswer":
                # The one choice between objects.
                text += documentation(schema["description"]) + (
                    "#[derive(Clone, Debug, PartialEq, Deserialize)]\n#[serde(untagged)]\npub enum AuthzenAnswer {\n"
                    "    /// The decisions of several questions.\n    Several(AuthzenDecisions),\n"
                    "    /// The decision of the only question.\n    One(AuthzenDecision),\n}\n\n"
                )
            elif "oneOf" in schema:
                fail(f"{name} is of several types")
            elif schema.get("type") == "object" or "allOf" in schema:
                text += self.structure(name, schema)
            elif schema.get("type") == "string":
                text += documentation(schema.get("description")) + f"pub type {name} = String;\n\n"
            else:
                fail(f"{name} is of an unknown kind")
        return text

    def enumerations(self):
        requests, responses = self.enum_names(self.requests), self.enum_names(self.responses)
        text = ""
        for name, (values, description) in sorted(self.enums.items()):
            derives = ["Clone", "Copy", "Debug", "PartialEq", "Eq", "Hash"]
            derives += ["Deserialize"] * (name in responses) + ["Serialize"] * (name in requests or name in self.queried)
            if not {"Deserialize", "Serialize"} & set(derives):
                continue
            variants = "".join(
                f'    /// `{value}`\n    #[serde(rename = "{value}")]\n    {camel(value)},\n' for value in values
            )
            text += documentation(description or f"One of {', '.join(f'`{value}`' for value in values)}.")
            text += f"#[derive({', '.join(derives)})]\npub enum {name} {{\n{variants}}}\n\n"
        return text

    # Operations

    def query(self, operation_id, parameters):
        """The parameters of an operation as a type."""
        name, lines, defaults = camel(operation_id), [], True
        if name in self.schemas or name in self.enums:
            fail(f"the parameters of {operation_id} need another name")
        for parameter in parameters:
            kind, _ = self.type_of(parameter["schema"], f"{operation_id} {parameter['name']}")
            if kind in self.enums:
                self.queried.add(kind)
            rust, attributes = snake(parameter["name"]), renamed(parameter["name"])
            if not parameter.get("required"):
                kind = f"Option<{kind}>"
                attributes.append('skip_serializing_if = "Option::is_none"')
            elif kind in self.enums:
                defaults = False
            lines.append(documentation(parameter.get("description"), indent="    "))
            if attributes:
                lines.append(f"    #[serde({', '.join(attributes)})]\n")
            lines.append(f"    pub {rust}: {kind},\n")
        derives = ["Clone", "Debug"] + ["Default"] * defaults + ["PartialEq", "Serialize"]
        text = f"/// The parameters of [`Client::{snake(operation_id)}`](crate::Client::{snake(operation_id)}).\n"
        return name, f"{text}{derived(derives, lines)}pub struct {name} {{\n{''.join(lines)}}}\n\n"

    def answer(self, operation):
        """The types of an answer with JSON, without and with `preview`."""
        types = []
        for status, response in operation["responses"].items():
            if status.startswith("2"):
                content = response.get("content") or {}
                if "application/x-ndjson" in content:
                    types.append(f"Lines<{self.type_of(content['application/x-ndjson']['schema'], '')[0]}>")
                    continue
                schema = content.get("application/json", {}).get("schema")
                if schema is None:
                    types.append("()")
                    continue
                for part in schema.get("oneOf", [schema]):
                    types.append(self.type_of(part, operation["operationId"])[0])
        plain = [kind for kind in types if kind != "Preview"]
        if len(plain) == 2 and "()" in plain:
            plain = [f"Option<{next(kind for kind in plain if kind != '()')}>"]
        if len(plain) != 1:
            fail(f"{operation['operationId']} has several answers: {types}")
        return plain[0], "Preview" in types

    def operations(self):
        functions, queries = "", ""
        for path, methods in self.paths.items():
            for method, operation in methods.items():
                if method not in ("get", "post", "put", "patch", "delete") or operation["operationId"] in LEFT_OUT:
                    continue
                function, query = self.operation(path, method, operation, "servers" in methods)
                functions += function
                queries += query
        return functions, queries

    def operation(self, path, method, operation, at_root):
        operation_id = operation["operationId"]
        name = snake(operation_id)
        parameters = operation.get("parameters", [])
        answer, has_preview = self.answer(operation)
        arguments, call = [], []
        for parameter in parameters:
            if parameter["in"] == "path":
                if parameter["schema"].get("format") != "uuid":
                    fail(f"{operation_id}: {parameter['name']} is not a UUID")
                arguments.append(f"{snake(parameter['name'])}: Uuid")
        target = re.sub(r"\{(\w+)\}", lambda match: "{" + snake(match[1]) + "}", path)
        target = f'format!("{target}")' if arguments else f'"{target}"'
        headers = {parameter["name"] for parameter in parameters if parameter["in"] == "header"}
        if unknown := headers - {"Idempotency-Key", "If-Match", "If-None-Match"}:
            fail(f"{operation_id} has the unknown headers {unknown}")
        if at_root:
            call.append("at_root()")
        if operation["x-required-permission"] == "public":
            call.append("public()")
        if "Idempotency-Key" in headers:
            call.append("keyed()")
        if operation_id in READS:
            call.append("reads()")
        if operation_id in LOGINS:
            call.append("keeps_tokens()")
        if operation_id in LOGOUTS:
            call.append("forgets_tokens()")
        if "requestBody" in operation:
            schema = operation["requestBody"]["content"]["application/json"]["schema"]
            arguments.append(f"body: &{self.type_of(schema, operation_id)[0]}")
            call.append("json(body)")
        queried = [
            parameter for parameter in parameters
            if parameter["in"] == "query" and not (has_preview and parameter["name"] == "preview")
            and (operation_id, parameter["name"]) not in LEFT_OUT_PARAMETERS
        ]  # fmt: skip
        query = ""
        if queried:
            kind, query = self.query(operation_id, queried)
            arguments.append(f"query: &{kind}")
            call.append("query(query)")
        needs = operation["x-required-permission"]
        needs = {"public": "", "session": "Needs a session."}.get(needs, f"Needs `{needs}`.")
        text = documentation(
            operation["summary"] + ".", operation.get("description"), f"`{method.upper()} {path}`. {needs}".strip(),
            indent="    ",
        )  # fmt: skip
        arguments = ", ".join(["&self", *arguments])
        call = f"Call::new(Method::{method.upper()}, {target})" + "".join(f".{part}" for part in call)
        function = f"{text}    pub fn {name}({arguments}) -> Request<{answer}> {{\n        self.send({call})\n    }}\n\n"
        if has_preview:
            text = documentation(f"Shows what [`Self::{name}`] would do, and changes nothing.", indent="    ").replace("\\", "")
            function += f"{text}    pub fn preview_{name}({arguments}) -> Request<Preview> {{\n        self.send({call}.preview())\n    }}\n\n"
        return function, query

    def write(self, directory):
        self.queried = set()
        for methods in self.paths.values():
            for operation in methods.values():
                if isinstance(operation, dict) and operation.get("operationId") not in LEFT_OUT:
                    self.reach(operation.get("requestBody", {}), self.requests)
                    for status, response in operation["responses"].items():
                        if status.startswith("2"):
                            self.reach(response, self.responses)
        # Of operations that the client has in another form.
        self.reach({"$ref": "#/components/schemas/Events"}, self.responses)
        self.reach({"$ref": "#/components/schemas/Tokens"}, self.responses)
        self.reach({"$ref": "#/components/schemas/Refresh"}, self.requests)
        models = self.models()
        functions, queries = self.operations()
        enumerations = self.enumerations()
        uses = "use chrono::{DateTime, Utc};\nuse serde::{Deserialize, Serialize};\nuse serde_json::{Map, Value};\nuse uuid::Uuid;\n\n"
        own = "use crate::value::{Change, Secret};\n\n"
        models = f"{HEAD}\n//! The types of requests and answers.\n\n{uses}{own}{enumerations}{models}"
        (directory / "models.rs").write_text(models)
        uses = "use serde::Serialize;\nuse uuid::Uuid;\n\nuse chrono::{DateTime, Utc};\n\n"
        queries = f"{HEAD}\n//! The parameters of operations.\n\n{uses}use super::models::*;\n\n{queries}"
        (directory / "queries.rs").write_text(queries)
        uses = "use reqwest::Method;\nuse uuid::Uuid;\n\nuse super::models::*;\nuse super::queries::*;\n"
        own = "use crate::call::{Call, Request};\nuse crate::client::Client;\nuse crate::export::Lines;\nuse crate::page::{Collection, List};\n\n"
        functions = f"{HEAD}\n//! The operations.\n\n{uses}{own}impl Client {{\n{functions}}}\n"
        (directory / "operations.rs").write_text(functions)


Document(json.loads(Path(sys.argv[1]).read_text())).write(Path(sys.argv[2]))
