"""Checks that imports run downwards: between the crates of the service, and between the files inside each crate.

The order of the crates is the list FLOORS. A crate may depend only on crates of lower floors, except in its tests.

Inside a crate, the files and folders beside each other must import each other in one direction only, on every level of
its `src`. An import through a re-export counts as an import of the file that defines the name. Tests do not count.
"""

import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

# From the bottom up. A crate that is on no floor, such as an example, may depend on all of them.
FLOORS = [
    ["iam-json", "iam-model"],
    ["iam-audit-proof", "iam-webauthn", "iam-openid", "iam-scim", "iam-import", "iam-store-sql", "iam-http-client"],
    ["iam-store-memory", "iam-store-sqlite", "iam-store-postgres", "iam-mail", "iam-webhook"],
    ["iam-core"],
    ["iam-conformance", "iam-axum"],
    ["iam-console"],
    ["iam-server"],
]
# What an author of a store must not have to build.
NOT_IN_THE_MODEL = {"argon2", "aws-lc-rs", "jsonwebtoken", "tokio"}

TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|b?r(?P<h>\#*)".*?"(?P=h)|b?"(?:\\.|[^"\\])*"|b?'(?:\\.|[^'\\])'""",
    re.S,
)
PATH = re.compile(r"\b(?:crate|self|super)(?:::\w+)+")
USE = re.compile(r"(?P<pub>\bpub(?:\([^)]*\))?\s+)?\buse\s+(?P<tree>[^;]+);")
DEFINITION = re.compile(
    r"\b(?:struct|enum|union|trait|type|fn|const|static|mod)\s+(?P<name>\w+)|macro_rules!\s*(?P<macro>\w+)"
)


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def block_end(text, start):
    """The index behind the block or the `;` that ends the item at `start`."""
    depth = 0
    for index in range(start, len(text)):
        char = text[index]
        if char in "{([":
            depth += 1
        elif char in "})]":
            depth -= 1
            if depth == 0 and char == "}":
                return index + 1
        elif char == ";" and depth == 0:
            return index + 1
    return len(text)


def without_tests(text):
    pattern = re.compile(r"#\[cfg\((?:test\b|any\(test\b)[^\n]*\]")
    position = 0
    while match := pattern.search(text, position):
        end = block_end(text, match.end())
        text = text[: match.start()] + re.sub(r"[^\n]", " ", text[match.start() : end]) + text[end:]
        position = end
    return text


def expanded(tree):
    """The paths of a `use` tree, with the name under which each is imported."""
    tree = tree.strip()
    if (brace := tree.find("{")) < 0:
        path, _, alias = tree.partition(" as ")
        yield [part.strip() for part in path.split("::")], alias.strip() or None
        return
    prefix, depth, start = tree[:brace], 0, brace + 1
    for index in range(brace, len(tree)):
        if tree[index] == "{":
            depth += 1
        elif tree[index] == "}":
            depth -= 1
        if (tree[index] == "," and depth == 1) or depth == 0:
            if item := tree[start:index].strip():
                yield from expanded(prefix + item)
            start = index + 1
            if depth == 0:
                return


class Crate:
    def __init__(self, root):
        self.src = root.parent
        self.files, self.texts, self.defines, self.exports = {}, {}, {}, defaultdict(dict)
        self.globs = defaultdict(list)
        self.read((), root)

    def read(self, module, file):
        text = without_tests(TOKEN.sub(blank, file.read_text()))
        self.files[module], self.texts[module] = file, text
        self.defines[module] = {m["name"] or m["macro"] for m in DEFINITION.finditer(text)}
        folder = file.parent if file.name in ("mod.rs", "lib.rs", "main.rs") else file.with_suffix("")
        for name in re.findall(r"\bmod\s+(\w+)\s*;", text):
            for child in (folder / f"{name}.rs", folder / name / "mod.rs"):
                if child.exists():
                    self.read((*module, name), child)
        for use in USE.finditer(text):
            for path, alias in expanded(use["tree"]):
                if path[-1] == "*":
                    self.globs[module].append(path[:-1])
                else:
                    self.exports[module][alias or path[-1]] = path

    def absolute(self, module, path):
        path = list(path)
        if path[0] == "crate":
            return (), path[1:]
        if path[0] in self.defines[module] and (*module, path[0]) in self.files:
            return module, path
        if path[0] not in ("self", "super"):
            return None
        while path and path[0] in ("self", "super"):
            module = module[:-1] if path.pop(0) == "super" else module
        return module, path

    def resolve(self, module, path, seen=()):
        """The module that defines what a path names; `None` for another crate's."""
        if (found := self.absolute(module, path)) is None or (module, tuple(path)) in seen:
            return None
        seen, (module, rest) = (*seen, (module, tuple(path))), found
        while rest and (*module, rest[0]) in self.files:
            module, rest = (*module, rest[0]), rest[1:]
        if not rest or rest[0] == "self":
            return module
        if rest[0] in self.exports[module]:
            return self.resolve(module, self.exports[module][rest[0]] + rest[1:], seen)
        if rest[0] in self.defines[module]:
            return module
        for glob in self.globs[module]:
            target = self.resolve(module, glob + rest, seen)
            if target is not None and target != module:
                return target
        return module

    def imports(self):
        """Every import of a file by another one, with the line and the path."""
        for module, text in self.texts.items():
            taken = []
            for use in USE.finditer(text):
                # A re-export is followed from where the name is used.
                if not use["pub"]:
                    taken += [(use.start(), path) for path, _ in expanded(use["tree"])]
            bare = USE.sub(blank, text)
            taken += [(match.start(), match.group().split("::")) for match in PATH.finditer(bare)]
            for start, path in taken:
                target = self.resolve(module, path[:-1] if path[-1] == "*" else path)
                if target is not None and target != module:
                    yield module, target, text.count("\n", 0, start) + 1, "::".join(path)


def circles(edges):
    """The strongly connected components of more than one node (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in edges.get(node, ()):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            component = []
            while True:
                component.append(stack.pop())
                if component[-1] == node:
                    break
            if len(component) > 1:
                found.append(sorted(component))

    for node in sorted(edges):
        if node not in index:
            visit(node)
    return found


def room(crate, module, level):
    """The file or folder of a module, on a level of the tree: level 0 lies in `src` itself."""
    parts = crate.files[module].relative_to(crate.src).parts
    return "/".join(parts[: level + 1])


def check_crate(name, root):
    crate, count = Crate(root), 0
    imports = list(crate.imports())
    depth = max(len(file.relative_to(crate.src).parts) for file in crate.files.values())
    for level in range(depth):
        edges, why = defaultdict(set), defaultdict(list)
        for source, target, line, path in imports:
            a, b = room(crate, source, level), room(crate, target, level)
            # Only what lies in the same folder is compared; the rest is on a level of its own.
            if a != b and a.split("/")[:level] == b.split("/")[:level]:
                edges[a].add(b)
                edges[b] |= set()
                why[a, b].append(f"{crate.files[source].relative_to(crate.src)}:{line}: {path}")
        for circle in circles(edges):
            count += 1
            print(f"{name}: a circle of {', '.join(circle)}")
            for (a, b), reasons in sorted(why.items()):
                if a in circle and b in circle:
                    print(f"    {a} -> {b} ({len(reasons)}): {reasons[0]}")
    return count


def check_crates(packages):
    floor_of = {crate: floor for floor, crates in enumerate(FLOORS) for crate in crates}
    count = 0
    for package in packages:
        name, own = package["name"], floor_of.get(package["name"])
        for dependency in package["dependencies"]:
            other = floor_of.get(dependency["name"])
            if dependency["kind"] == "dev" or own is None:
                continue
            if other is not None and other >= own:
                count += 1
                print(f"{name} depends on {dependency['name']}, which is not on a lower floor")
            if name == "iam-model" and dependency["name"] in NOT_IN_THE_MODEL:
                count += 1
                print(f"{name} depends on {dependency['name']}")
    return count


def main():
    metadata = json.loads(
        subprocess.check_output(["cargo", "metadata", "--format-version=1", "--no-deps", "--locked"])
    )
    count = check_crates(metadata["packages"])
    for package in metadata["packages"]:
        for target in package["targets"]:
            root = Path(target["src_path"])
            if {"lib", "bin"} & set(target["kind"]) and root.parent.name == "src":
                count += check_crate(package["name"], root)
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
