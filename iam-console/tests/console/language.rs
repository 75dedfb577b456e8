#![cfg(test)]

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use axum::body::Body;
use axum::http::{Method, StatusCode, header};
use fluent_syntax::ast::{Entry, Expression, Pattern, PatternElement};
use fluent_syntax::parser;

use crate::access_table::World;
use crate::app::{Answer, App, EMAIL, HOST, ORIGIN, PASSWORD, encoded, request};

const ENGLISH: &str = include_str!("../../locales/en.ftl");
const GERMAN: &str = include_str!("../../locales/de.ftl");

/// The attributes that a person reads, or hears. A script shows those that begin with `data-`.
const READ: [&str; 5] = [" aria-label=\"", " title=\"", " placeholder=\"", " data-", " alt=\""];

/// Returns the texts of a file: whether each is the whole one, and its parts between variables.
fn texts(file: &str) -> BTreeMap<String, (bool, Vec<String>)> {
    fn parts(pattern: &Pattern<&str>, into: &mut Vec<String>) {
        let mut text = String::new();
        for element in &pattern.elements {
            match element {
                PatternElement::TextElement { value } => text.push_str(value),
                PatternElement::Placeable { expression } => {
                    into.push(std::mem::take(&mut text));
                    if let Expression::Select { variants, .. } = expression {
                        variants.iter().for_each(|variant| parts(&variant.value, into));
                    }
                }
            }
        }
        into.push(text);
    }
    let resource = parser::parse(file).unwrap();
    // The names of kinds are also names of fields in the log.
    let messages = resource.body.iter().filter_map(|entry| match entry {
        Entry::Message(message) if !message.id.name.starts_with("core-quota-") => Some(message),
        _ => None,
    });
    let of_message = messages.map(|message| {
        let mut found = Vec::new();
        parts(message.value.as_ref().unwrap(), &mut found);
        (message.id.name.to_owned(), (found.len() == 1, found))
    });
    of_message.collect()
}

/// The English texts that no page in German may have.
struct Foreign {
    /// Those that are a whole text of a page.
    whole: BTreeSet<String>,
    /// Those that can be a part of one.
    parts: Vec<String>,
}

impl Foreign {
    fn read() -> Self {
        let (english, german) = (texts(ENGLISH), texts(GERMAN));
        let native: BTreeSet<&str> = german.values().flat_map(|(_, parts)| parts).map(|part| part.trim()).collect();
        let whole = english.values().filter(|(is_whole, _)| *is_whole).flat_map(|(_, parts)| parts);
        let parts = english.values().flat_map(|(_, parts)| parts);
        let is_long = |part: &&str| part.len() >= 20 && part.split(' ').count() >= 3;
        Self {
            whole: whole.map(|text| text.trim()).filter(|text| !native.contains(text)).map(str::to_owned).collect(),
            parts: parts
                .map(|part| part.trim())
                .filter(is_long)
                .filter(|part| !native.iter().any(|text| text.contains(part)))
                .map(str::to_owned)
                .collect(),
        }
    }

    /// Returns those that a page has.
    fn on(&self, page: &str) -> Vec<String> {
        let is_foreign =
            |text: &String| self.whole.contains(text) || self.parts.iter().any(|part| text.contains(&**part));
        shown(page).into_iter().filter(is_foreign).collect()
    }
}

/// Returns the texts of a page, except code, and what says that it is in English.
fn shown(page: &str) -> Vec<String> {
    let (mut found, mut rest, mut skipped) = (Vec::new(), page, None::<String>);
    let decoded = |text: &str| {
        let text = text.replace("&#39;", "'").replace("&#34;", "\"").replace("&quot;", "\"").replace("&#60;", "<");
        text.replace("&#62;", ">").replace("&#38;", "&").replace("&amp;", "&").trim().to_owned()
    };
    while let Some((text, after)) = rest.split_once('<') {
        if skipped.is_none() {
            found.push(decoded(text));
        }
        let (tag, after) = after.split_once('>').unwrap();
        let name = tag.split([' ', '\n']).next().unwrap().to_owned();
        if skipped.as_ref().is_some_and(|end| *end == name) {
            skipped = None;
        } else if skipped.is_none() {
            let is_other =
                matches!(&*name, "code" | "script" | "style" | "time" | "kbd") || tag.contains(" lang=\"en\"");
            // The language of the page stands in the element of the whole page.
            skipped = is_other.then(|| format!("/{name}"));
            for attribute in READ.iter().flat_map(|start| tag.split(*start).skip(1)) {
                // Only names of fields are there.
                if attribute.starts_with("local=") {
                    continue;
                }
                let value = attribute.split_once("=\"").map_or(attribute, |(_, value)| value);
                found.push(decoded(value.split('"').next().unwrap()));
            }
        }
        rest = after;
    }
    found.retain(|text| !text.is_empty());
    found
}

/// Returns a path with a mark in place of each id and value, so that pages of the same kind have the same one.
fn kind_of(path: &str) -> String {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let steps = path.split('/').map(|step| if step.len() == 36 { "{id}" } else { step }).collect::<Vec<_>>().join("/");
    let names = query.split('&').map(|pair| pair.split('=').next().unwrap()).collect::<Vec<_>>().join("&");
    format!("{steps}?{names}")
}

#[test]
fn no_page_mixes_languages() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(Box::pin(walk()));
}

/// Opens all pages to which links lead, in a tenant that has something of each kind.
async fn walk() {
    let world = World::new().await;
    world.fill().await;
    let foreign = Foreign::read();
    assert!(foreign.whole.len() > 800 && foreign.parts.len() > 500);
    let signed_in = format!("{}; __Host-iam-console-language=de", world.app.sign_in(EMAIL).await);
    let signed_out = "__Host-iam-console-language=de".to_owned();
    let mut mixed = Vec::new();
    let mut kinds = BTreeSet::new();
    for (cookie, starts) in [
        (signed_out, vec!["/console/sign-in", "/console/register", "/console/forgot-password", "/console/nothing"]),
        (signed_in, vec!["/console", "/console/charts", "/console/nothing", "/console/users?status=WRONG"]),
    ] {
        let mut open: VecDeque<String> = starts.into_iter().map(str::to_owned).collect();
        let (mut seen, mut visits): (BTreeSet<String>, HashMap<String, u32>) = Default::default();
        while let Some(path) = open.pop_front() {
            let visits = visits.entry(kind_of(&path)).or_default();
            if *visits >= 3 || !seen.insert(path.clone()) {
                continue;
            }
            *visits += 1;
            let answer = world.app.get(&path, &cookie).await;
            let is_page =
                answer.headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind == "text/html; charset=utf-8");
            if !is_page {
                continue;
            }
            kinds.insert(kind_of(&path).split('?').next().unwrap().to_owned());
            assert!(answer.body.contains(r#"<html lang="de""#), "{path}: {}", answer.body);
            mixed.extend(foreign.on(&answer.body).into_iter().map(|text| format!("{}: {text}", kind_of(&path))));
            let links = answer.body.split("href=\"/console").skip(1);
            let links = links.map(|link| format!("/console{}", link.split('"').next().unwrap().replace("&amp;", "&")));
            open.extend(links.map(|link| link.split('#').next().unwrap().replace("&#38;", "&")));
        }
    }
    mixed.sort();
    mixed.dedup();
    assert!(mixed.is_empty(), "{mixed:#?}");
    assert!(kinds.len() > 60, "{kinds:#?}");
}

#[tokio::test]
async fn a_person_chooses_the_language_and_comes_back_to_its_page() {
    let app = App::new().await;
    let cookie = app.sign_in(EMAIL).await;
    let page = app.get("/console/users", &cookie).await;
    assert!(page.body.contains(r#"<html lang="en""#) && page.body.contains(r#"lang="de" formaction"#), "{page:?}");
    assert!(page.body.contains("</svg>Deutsch</button>") && !page.body.contains("English"), "{page:?}");
    let token = app.form_token(&cookie).await;
    let chosen = |language: &str| {
        let builder = request(Method::POST, "/console/account/language", &cookie)
            .header(header::ORIGIN, ORIGIN)
            .header(header::REFERER, format!("https://{HOST}/console/users?page=2"))
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        builder.body(Body::from(encoded(&[("language", language), ("form-token", &token)]))).unwrap()
    };
    let answer = app.send(chosen("de")).await;
    assert_eq!((answer.status, answer.location()), (StatusCode::SEE_OTHER, "/console/users?page=2"));
    let line = answer.headers[header::SET_COOKIE].to_str().unwrap();
    assert_eq!(line, "__Host-iam-console-language=de; Path=/; HttpOnly; SameSite=Strict; Secure; Max-Age=31536000");
    let both = answer.cookies(&cookie);
    for path in ["/console/users", "/console/nothing"] {
        let page = app.get(path, &both).await;
        assert!(page.body.contains(r#"<html lang="de""#) && page.body.contains("English</button>"), "{path}: {page:?}");
        assert_eq!(page.headers[header::CONTENT_LANGUAGE], "de");
    }
    let answer = app.send(chosen(r#""><script>"#)).await;
    assert_eq!((answer.status, answer.headers.get(header::SET_COOKIE)), (StatusCode::BAD_REQUEST, None));
}

#[tokio::test]
async fn what_a_service_refuses_is_said_in_the_language_of_the_page() {
    let app = App::new().await;
    let cookie = format!("{}; __Host-iam-console-language=de", app.sign_in(EMAIL).await);
    let fields = [("email", "ada"), ("password", "short"), ("firstName", ""), ("lastName", "Lovelace")];
    let page = app.post_signed("/console/users/new", &cookie, &fields).await;
    for text in [
        "E-Mail-Adresse muss eine gültige E-Mail-Adresse sein.",
        "Vorname muss 1 bis 100 Zeichen lang sein.",
        "Es wurde nichts gespeichert. Korrigieren Sie die markierten Felder.",
    ] {
        assert!(page.body.contains(text), "{}", page.body);
    }
    let refused = app.post_signed("/console/users/new", &cookie, &[("email", EMAIL), fields[1]]).await;
    assert!(!refused.body.contains("must"), "{}", refused.body);
    let taken = [("email", EMAIL), ("password", PASSWORD), ("firstName", "Ada"), ("lastName", "Lovelace")];
    let taken = app.post_signed("/console/users/new", &cookie, &taken).await;
    assert!(taken.body.contains("Es gibt bereits einen Benutzer mit dieser E-Mail-Adresse."), "{}", taken.body);
}

#[tokio::test]
async fn the_choice_of_the_person_comes_before_what_the_browser_asks_for() {
    let app = App::new().await;
    let page = async |chosen: &str, accepted: &str| -> Answer {
        let cookie = format!("__Host-iam-console-language={chosen}");
        let asked = request(Method::GET, "/console/sign-in", &cookie).header(header::ACCEPT_LANGUAGE, accepted);
        app.send(asked.body(Body::empty()).unwrap()).await
    };
    for (chosen, accepted, expected) in [
        ("de", "en", "de"),
        ("en", "de", "en"),
        ("", "de", "de"),
        ("fr", "de, en;q=0.5", "de"),
        ("\"><script>", "fr", "en"),
    ] {
        let answer = page(chosen, accepted).await;
        assert_eq!(answer.headers[header::CONTENT_LANGUAGE], expected, "{chosen} {accepted}");
        assert!(answer.body.contains(&format!(r#"<html lang="{expected}""#)), "{}", answer.body);
        let varies = answer.headers.get_all(header::VARY).iter().any(|line| line == "Accept-Language, Cookie");
        assert!(varies, "{:?}", answer.headers);
    }
}
