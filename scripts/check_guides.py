"""Fails if a guide leaves out a service of the library, a feature of a crate or a crate, or names one that is not there,
or if the front page of a published crate has a link that only works in the repository or in rustdoc."""

import pathlib
import re
import sys
import tomllib


def read(path):
    return pathlib.Path(path).read_text()


failures = []


def compare(what, guide, named, existing):
    """Compares the names in a guide with those in the code."""
    failures.extend(f"{guide}: the {what} {name} is missing" for name in sorted(existing - named))
    failures.extend(f"{guide}: there is no {what} {name}" for name in sorted(named - existing))


services = set(re.findall(r"pub fn (\w+)\(&self\) -> [A-Z]\w*<'_>", read("iam-core/src/services.rs")))
compare("service", "iam-core/src/overview.md", set(re.findall(r"\(Iam::(\w+)\)", read("iam-core/src/overview.md"))), services)

members = tomllib.loads(read("Cargo.toml"))["workspace"]["members"]
for member in members:
    manifest = tomllib.loads(read(f"{member}/Cargo.toml"))
    features = set(manifest.get("features", {})) - {"default"}
    guide = pathlib.Path(member, "README.md")
    if guide.exists():
        text = guide.read_text()
        failures.extend(f"{guide}: the feature {name} is missing" for name in features if f"`{name}`" not in text)
    if manifest["package"].get("publish", True):
        page = re.sub(r"^```.*?^```", "", guide.read_text(), flags=re.M | re.S)
        # A link needs an address, and a name in brackets is a link only in rustdoc.
        dead = [target for target in re.findall(r"\]\(([^)]*)\)", page) if not target.startswith("https://")]
        dead += re.findall(r"\[`[^`]*`\](?![(\[])", page)
        failures.extend(f"{guide}: {link} leads nowhere on a registry" for link in dead)

crates = {pathlib.Path(member).name for member in members}
cells = re.findall(r"^\| (`[^|]*) \|", read("CONTRIBUTING.md"), re.M)
named = {pathlib.Path(name).name for cell in cells for name in re.findall(r"`([\w/.-]+)`", cell)}
compare("crate", "CONTRIBUTING.md", {name for name in named if name in crates or name.startswith("iam-")}, crates)

print(f"{len(services)} services and {len(crates)} crates, {len(failures)} faults in the guides")
sys.exit("\n".join(failures) or None)
