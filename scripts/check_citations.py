"""Fails if a tracked file cites a page that is not in the repository, or a heading that its page does not have, or if a
link of a page leads to a file or a heading that is not there.

A citation is `docs/<page>.md#<heading>`, or the end of the path of any page, such as `<page>.md`.
"""

import pathlib
import re
import subprocess
import sys
from functools import cache

SUFFIXES = {"", ".md", ".py", ".rs", ".sh", ".sql", ".toml", ".yaml"}
URL = re.compile(r"https?://\S+")
CITATION = re.compile(r"(?:\.*/)*(?P<page>[\w./-]*\w\.md)\b(?:#(?P<heading>[\w-]+))?")
CODE = re.compile(r"^```.*?^```", re.M | re.S)
HEADING = re.compile(r"^#{1,6} (.+)$", re.M)
# Links of front pages, which are also read on a registry, begin with the address of the repository.
ADDRESS = re.search(r'^repository = "(.*)"$', pathlib.Path("Cargo.toml").read_text(), re.M)[1]
IN_REPOSITORY = re.compile(re.escape(ADDRESS) + "/(?:blob|tree)/main/")
LINK = re.compile(r"\[([^]]*)\]\(([^)\s]*)\)")


@cache
def anchors(page):
    """The identifiers of the headings of a page, as forges make them."""
    headings = HEADING.findall(CODE.sub("", pathlib.Path(page).read_text()))
    names = [re.sub(r"[^\w -]", "", LINK.sub(r"\1", text).lower()).replace(" ", "-") for text in headings]
    repeated = {f"{name}-{names[:place].count(name)}" for place, name in enumerate(names)}
    return repeated.union(names)


@cache
def what_is_wrong(page, heading):
    pages = [path for path in tracked if f"/{path}".endswith(f"/{page}")]
    if not pages:
        return f"{page} is not in the repository"
    if heading and not any(heading in anchors(path) for path in pages):
        return f"{page} has no heading #{heading}"
    return None


def broken_links(path):
    """The links of a page that lead nowhere. rustdoc checks links to Rust items. Pages of the web are not asked for."""
    for _, target in LINK.findall(CODE.sub("", path.read_text())):
        if "::" in target:
            continue
        inside = IN_REPOSITORY.sub("", target)
        name, _, heading = URL.sub("", inside).partition("#")
        directory = path.parent if inside == target else pathlib.Path()
        file = directory / name if name else path
        if not file.exists() or (heading and file.suffix == ".md" and heading not in anchors(file)):
            yield target


tracked = subprocess.run(["git", "ls-files"], check=True, capture_output=True, text=True).stdout.splitlines()
citations = failures = 0
for path in map(pathlib.Path, tracked):
    if path.suffix not in SUFFIXES or path.is_symlink():
        continue
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        for citation in CITATION.finditer(URL.sub("", line)):
            citations += 1
            if wrong := what_is_wrong(citation["page"], citation["heading"]):
                failures += 1
                print(f"{path}:{number}: {wrong}", file=sys.stderr)
    if path.suffix == ".md":
        for target in broken_links(path):
            failures += 1
            print(f"{path}: {target} leads nowhere", file=sys.stderr)
print(f"{citations} citations of pages, {failures} of them wrong")
sys.exit(failures > 0 or not citations)
