//! The texts of the console in all of its languages: the files of `locales`, one for each language.
//!
//! A text is read in the language of the present request, which [`Language::speak`] keeps in the task. **A task that a
//! request spawns has no language**: there, and outside of requests, all texts are English. So a page is rendered in
//! the task of its request, and a spawned task keeps no text of the console for a later page.
//!
//! Moments and days in ISO form are the same in all languages. So are the names of things that a person has made, and
//! those of the API, such as permissions and the fields of the log.

mod patterns;
mod sentences;
mod services;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource, FluentValue};
use fluent_syntax::ast::Entry;
use tokio::task_local;

use self::patterns::Patterns;
pub(crate) use self::sentences::*;
pub(crate) use self::services::{about, has_all, is_foreign, of_service, said};

const ENGLISH_FILE: &str = include_str!("../../locales/en.ftl");

static ENGLISH: LazyLock<Language> = LazyLock::new(|| Language::read("en", ENGLISH_FILE));
static GERMAN: LazyLock<Language> = LazyLock::new(|| Language::read("de", include_str!("../../locales/de.ftl")));

task_local! {
    static LANGUAGE: &'static Language;
}

/// A language of the console, with its texts.
pub(crate) struct Language {
    /// Its tag, as in the attribute `lang`.
    pub(crate) tag: &'static str,
    bundle: FluentBundle<FluentResource>,
    /// The texts without arguments, which are the most. Those with arguments have `{name}` in place of the variable.
    plain: HashMap<String, String>,
    /// Finds its own texts.
    patterns: Patterns,
}

impl fmt::Debug for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Language").field(&self.tag).finish()
    }
}

impl Language {
    /// Reads a file. What is wrong in it is left out, and a test finds it.
    fn read(tag: &'static str, file: &'static str) -> Self {
        let resource = FluentResource::try_new(file.to_owned()).unwrap_or_else(|(resource, _)| resource);
        let messages = resource.entries().filter_map(|entry| match entry {
            Entry::Message(message) => Some(message.id.name.to_owned()),
            _ => None,
        });
        let ids: Vec<String> = messages.collect();
        let mut bundle = FluentBundle::new_concurrent(tag.parse().into_iter().collect());
        // The marks around a value would be in texts that scripts and tests compare; HTML isolates where it matters.
        bundle.set_use_isolating(false);
        bundle.add_resource_overriding(resource);
        let plain = |id: String| {
            let text = bundle.format_pattern(bundle.get_message(&id)?.value()?, None, &mut Vec::new());
            let text = text.replace("{$", "{");
            Some((id, text))
        };
        let plain = ids.into_iter().filter_map(plain).collect();
        Self { tag, bundle, plain, patterns: Patterns::read(file, |_| true) }
    }

    /// Does some work with texts in this language.
    pub(crate) async fn speak<T>(&'static self, work: impl Future<Output = T>) -> T {
        LANGUAGE.scope(self, work).await
    }

    /// The language of a person who has chosen none, and whose browser asks for none of them.
    pub(crate) fn english() -> &'static Self {
        &ENGLISH
    }

    /// All languages. The first one is that of a person who has chosen none.
    pub(crate) fn all() -> [&'static Self; 2] {
        [&ENGLISH, &GERMAN]
    }

    /// Returns the language with this tag.
    pub(crate) fn named(tag: &str) -> Option<&'static Self> {
        Self::all().into_iter().find(|language| language.tag == tag)
    }

    /// The language of the present request.
    pub(crate) fn current() -> &'static Self {
        LANGUAGE.try_with(|language| *language).unwrap_or(&ENGLISH)
    }

    /// The languages that a person can choose in place of the present one.
    pub(crate) fn others() -> impl Iterator<Item = &'static Self> {
        let current = Self::current().tag;
        Self::all().into_iter().filter(move |language| language.tag != current)
    }

    /// The name of the language in itself.
    pub(crate) fn name(&'static self) -> &'static str {
        self.text("language-name").unwrap_or(self.tag)
    }

    fn text(&'static self, id: &str) -> Option<&'static str> {
        self.plain.get(id).map(String::as_str)
    }

    fn text_with(&'static self, id: &str, arguments: &FluentArgs<'_>) -> Option<String> {
        let pattern = self.bundle.get_message(id)?.value()?;
        Some(self.bundle.format_pattern(pattern, Some(arguments), &mut Vec::new()).into_owned())
    }
}

/// Returns the text with this id, in the language of the request.
pub(crate) fn t(id: &'static str) -> &'static str {
    Language::current().text(id).or_else(|| ENGLISH.text(id)).unwrap_or(id)
}

/// Returns the text with an id that a name of the services is a part of, in the language of the request. `None` if there
/// is none.
pub(crate) fn named(id: &str) -> Option<&'static str> {
    Language::current().text(id).or_else(|| ENGLISH.text(id))
}

/// Returns the text with this id and these arguments, in the language of the request.
pub(crate) fn t_with<'a>(id: &str, arguments: impl IntoIterator<Item = (&'a str, FluentValue<'a>)>) -> String {
    let arguments: FluentArgs<'_> = arguments.into_iter().collect();
    let language = Language::current();
    language.text_with(id, &arguments).or_else(|| ENGLISH.text_with(id, &arguments)).unwrap_or_else(|| id.to_owned())
}
