"""Fails if a link in the HTML pages of a directory leads nowhere: check_links.py DIRECTORY"""

import html.parser
import pathlib
import sys
import urllib.error
import urllib.parse
import urllib.request

ATTRIBUTES = {"href", "src"}


class Page(html.parser.HTMLParser):
    """The links and the identifiers of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.ids = set(), set()
        self.feed(path.read_text())

    def handle_starttag(self, tag, attrs):
        self.links.update(value for name, value in attrs if name in ATTRIBUTES and value)
        self.ids.update(value for name, value in attrs if name == "id")


def is_missing(url):
    """Whether a server says that it has no such page. Without a network, nothing is known."""
    try:
        request = urllib.request.Request(url, headers={"User-Agent": "check_links.py"})
        urllib.request.urlopen(request, timeout=10).close()
    except urllib.error.HTTPError as error:
        return error.code in (404, 410)
    except OSError as error:
        print(f"note: {url} was not checked: {error}", file=sys.stderr)
    return False


root = pathlib.Path(sys.argv[1]).resolve()
pages = {path: Page(path) for path in root.rglob("*.html")}
links = sorted((path, link) for path, page in pages.items() for link in page.links)
web = {link for _, link in links if link.startswith(("http://", "https://"))}
broken = {link for link in web if is_missing(link)}
failures = 0
for path, link in links:
    if link in web:
        leads = link not in broken
    elif path.name == "404.html":
        continue  # its links begin at the root of the site
    else:
        url = urllib.parse.urlsplit(link)
        target = (path.parent / urllib.parse.unquote(url.path)).resolve() if url.path else path
        has_part = not url.fragment or target not in pages or urllib.parse.unquote(url.fragment) in pages[target].ids
        leads = target.exists() and has_part
    if not leads:
        failures += 1
        print(f"{path.relative_to(root)}: {link} leads nowhere", file=sys.stderr)
print(f"{len(links)} links on {len(pages)} pages, {failures} of them broken")
sys.exit(failures > 0 or not links)
