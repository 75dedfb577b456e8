//! The book, as pages beside Swagger UI, so that a running server shows the text of its own release.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;

use axum::Router;
use axum::extract::Path;
use axum::http::HeaderMap;
use axum::response::{Redirect, Response};
use axum::routing::get;
use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};
use tokio::sync::OnceCell;

use crate::problem::{Kind, Problem};
use crate::static_file::{self, StaticFile};

/// The path of the pages.
pub(crate) const BOOK: &str = "/docs/book";

macro_rules! pages {
    ($($name:literal),+) => { [$(($name, include_str!(concat!("book/", $name, ".md")))),+] };
}

/// The pages in the order of the book: their names, and their text in Markdown.
const PAGES: [(&str, &str); 23] = pages![
    "introduction",
    "design",
    "embedding",
    "http-api",
    "integrating",
    "authzen",
    "foresight",
    "access-requests",
    "manifests",
    "importing",
    "federation",
    "identity-providers",
    "directories",
    "versioning",
    "audit",
    "security",
    "custom-store",
    "install",
    "operating",
    "deploying",
    "performance",
    "scaling",
    "releasing"
];

/// The style and the pictures: their names, types and content.
const FILES: [(&str, &str, &str); 3] = [
    ("style.css", "text/css; charset=utf-8", include_str!("book/style.css")),
    ("load-postgres.svg", "image/svg+xml", include_str!("book/load-postgres.svg")),
    ("load-sqlite.svg", "image/svg+xml", include_str!("book/load-sqlite.svg")),
];

/// Returns the routes of the pages, their style and their pictures.
pub(crate) fn routes() -> Router {
    let introduction = async || Redirect::temporary(&format!("{BOOK}/introduction"));
    Router::new().route(BOOK, get(introduction)).route(&format!("{BOOK}/{{name}}"), get(file))
}

async fn file(Path(name): Path<String>, headers: HeaderMap) -> Result<Response, Problem> {
    static WRITTEN: OnceCell<BTreeMap<&str, StaticFile>> = OnceCell::const_new();
    let files = static_file::once(&WRITTEN, files).await?;
    let found = files.get(name.as_str());
    let found = found.ok_or_else(|| Problem::new(Kind::NotFound).detail("The book has no such page."))?;
    Ok(found.response(&headers))
}

fn files() -> io::Result<BTreeMap<&'static str, StaticFile>> {
    let pages = PAGES.iter().map(|(name, text)| (*name, "text/html; charset=utf-8", written(name, text)));
    let files = FILES.iter().map(|(name, content_type, content)| (*name, *content_type, (*content).to_owned()));
    pages.chain(files).map(|(name, of, content)| Ok((name, StaticFile::new(of, content)?))).collect()
}

/// Returns a page in HTML.
fn written(name: &str, text: &str) -> String {
    let mut navigation = String::from("<li><a href=\"/docs\">API reference</a>");
    for (other, text) in PAGES {
        let current = if other == name { " aria-current=\"page\"" } else { "" };
        // Writing to a string cannot fail.
        let _ = write!(navigation, "<li><a href=\"{other}\"{current}>{}</a>", title(text));
    }
    let mut body = String::new();
    html::push_html(&mut body, events(text).into_iter());
    // The content security policy refuses the attribute style.
    let body = body
        .replace("style=\"text-align: right\"", "class=\"right\"")
        .replace("<table>", "<div class=\"table\"><table>")
        .replace("</table>", "</table></div>");
    format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>{}</title>\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <link rel=\"stylesheet\" href=\"style.css\"><nav aria-label=\"Book\"><ul>{navigation}</ul></nav><main>{body}</main>",
        title(text)
    )
}

/// Returns the first heading of a page.
fn title(text: &str) -> &str {
    text.lines().next().unwrap_or_default().trim_start_matches("# ")
}

/// Returns the parts of a page: its headings have identifiers, and its links lead to other pages of the book.
fn events(text: &str) -> Vec<Event<'_>> {
    let mut events: Vec<Event<'_>> = Parser::new_ext(text, Options::ENABLE_TABLES).collect();
    // The link or heading that is open: links to files of the repository are left out, but not their text.
    let mut leaves_out = false;
    let mut heading = None;
    let mut headings = Vec::new();
    for (place, event) in events.iter_mut().enumerate() {
        match event {
            Event::Start(Tag::Link { dest_url, .. }) => match linked(dest_url) {
                Some(url) => *dest_url = url.into(),
                None => {
                    leaves_out = true;
                    *event = Event::Text(CowStr::Borrowed(""));
                }
            },
            Event::End(TagEnd::Link) if leaves_out => {
                leaves_out = false;
                *event = Event::Text(CowStr::Borrowed(""));
            }
            Event::Start(Tag::Heading { .. }) => heading = Some((place, String::new())),
            Event::Text(text) | Event::Code(text) => {
                if let Some((_, heading)) = &mut heading {
                    heading.push_str(text);
                }
            }
            Event::End(TagEnd::Heading(level)) => {
                headings.extend(heading.take().map(|(place, text)| (place, *level, text)))
            }
            _ => {}
        }
    }
    for (place, level, text) in headings {
        if let Some(event) = events.get_mut(place) {
            *event = start_of_heading(level, &text);
        }
    }
    events
}

fn start_of_heading(level: HeadingLevel, text: &str) -> Event<'static> {
    Event::Start(Tag::Heading { level, id: Some(anchor(text).into()), classes: Vec::new(), attrs: Vec::new() })
}

/// Returns the identifier of a heading, as forges make it.
fn anchor(heading: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, '-' | '_' | ' ');
    heading.to_lowercase().chars().filter(kept).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Returns where a link of the book leads on the server. A file of the repository is not there.
fn linked(url: &str) -> Option<String> {
    if url == "openapi.json" {
        return Some("/openapi.json".to_owned());
    }
    let (file, anchor) = url.split_once('#').map_or((url, ""), |(file, anchor)| (file, anchor));
    if file.is_empty() || file.contains("://") {
        return Some(url.to_owned());
    }
    let page = file.strip_suffix(".md")?;
    let hash = if anchor.is_empty() { "" } else { "#" };
    PAGES.iter().any(|(name, _)| *name == page).then(|| format!("{page}{hash}{anchor}"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The values of an attribute in a page.
    fn values<'a>(page: &'a str, attribute: &str) -> Vec<&'a str> {
        let start = format!(" {attribute}=\"");
        page.split(start.as_str()).skip(1).map(|rest| rest.split('"').next().unwrap()).collect()
    }

    #[test]
    fn every_link_in_the_book_leads_to_a_heading_or_a_page() {
        let pages: BTreeMap<&str, String> = PAGES.iter().map(|(name, text)| (*name, written(name, text))).collect();
        let anchors = |page: &str| values(&pages[page], "id").into_iter().map(str::to_owned).collect::<BTreeSet<_>>();
        let others = ["/docs", "/openapi.json", "style.css"];
        let mut checked = 0;
        for (name, page) in &pages {
            for link in values(page, "href").into_iter().filter(|link| !link.contains("://") && !others.contains(link))
            {
                let (target, anchor) = link.split_once('#').unwrap_or((link, ""));
                let target = if target.is_empty() { name } else { target };
                assert!(pages.contains_key(target), "{name}: {link}");
                assert!(anchor.is_empty() || anchors(target).contains(anchor), "{name}: {link}");
                checked += 1;
            }
            for picture in values(page, "src") {
                assert!(FILES.iter().any(|(file, ..)| *file == picture), "{name}: {picture}");
            }
        }
        assert!(checked > 100, "{checked} links");
    }

    #[test]
    fn the_pages_are_those_of_the_summary() {
        let summary = include_str!("../../docs/SUMMARY.md");
        let named: Vec<&str> = summary.split("](").skip(1).map(|rest| rest.split(".md)").next().unwrap()).collect();
        assert_eq!(named, PAGES.map(|(name, _)| name));
    }

    #[test]
    fn the_text_of_a_link_to_a_file_stays() {
        let mut page = String::new();
        html::push_html(
            &mut page,
            events("See [the `file`](../deploy/x.sql), [here](audit.md#retention).").into_iter(),
        );
        assert_eq!(page, "<p>See the <code>file</code>, <a href=\"audit#retention\">here</a>.</p>\n");
    }

    #[test]
    fn a_heading_has_the_identifier_of_forges() {
        assert_eq!(anchor("Time limits, `X-Y` & more"), "time-limits-x-y--more");
    }
}
