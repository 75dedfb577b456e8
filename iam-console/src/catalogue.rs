//! The meanings of permissions, in sentences.

use std::collections::{BTreeMap, BTreeSet};

use iam_core::page::{MAX_LIMIT, PageRequest};
use iam_core::permission::{BUILT_IN, PatternKind, PermissionPattern, RegisteredPermission};
use iam_core::{Caller, Error, Iam};

use crate::paging::MAX_PAGES;
use crate::problem::if_allowed;
use crate::text;

/// So begins the description of a built-in permission that no operation asks for yet.
pub(crate) const RESERVED: &str = "Reserved";

/// The permissions of the tenant, with their descriptions.
pub(crate) struct Catalogue(BTreeMap<String, String>);

/// A permission, or all of a resource.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) name: String,
    /// Its meaning.
    pub(crate) text: String,
    pub(crate) is_chosen: bool,
}

/// The choices of a resource.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Group {
    /// Empty for the choice of everything.
    pub(crate) resource: String,
    pub(crate) choices: Vec<Choice>,
}

impl Group {
    /// How many of the choices are chosen.
    pub(crate) fn chosen(&self) -> usize {
        self.choices.iter().filter(|choice| choice.is_chosen).count()
    }
}

impl Catalogue {
    /// Reads the catalogue. A caller that may not read it gets the built-in permissions.
    pub(crate) async fn read(iam: &Iam, caller: &Caller) -> Result<Self, Error> {
        let found = if_allowed(all(iam, caller).await)?.unwrap_or_default();
        let described = found.into_iter().map(|found| (found.name.to_string(), found.description.into()));
        let mut texts: BTreeMap<String, String> = described.collect();
        if texts.is_empty() {
            texts.extend(BUILT_IN.iter().map(|(name, text)| (name.to_string(), (*text).to_owned())));
        }
        Ok(Self(texts))
    }

    /// Returns the meaning of a permission, or of a pattern of permissions.
    pub(crate) fn sentence(&self, name: &str) -> String {
        let described = self.0.get(name).filter(|text| !text.is_empty());
        let described = || described.map_or_else(|| name.to_owned(), |text| text::of_service(text));
        match name.parse::<PermissionPattern>() {
            Ok(pattern) => match pattern.kind() {
                PatternKind::Everything => text::t("may-everything").to_owned(),
                PatternKind::Resource(resource) => text::may_everything_with(resource),
                PatternKind::Exact(_) => described(),
            },
            Err(_) => described(),
        }
    }

    /// Returns the names of the permissions that an operation may ask for.
    fn known(&self) -> impl Iterator<Item = String> {
        self.0.iter().filter(|(_, text)| !text.starts_with(RESERVED)).map(|(name, _)| name.clone())
    }

    /// Returns all choices, of the catalogue and of a role. Those that no operation asks for are left out.
    pub(crate) fn choices(&self, chosen: &BTreeSet<String>) -> Vec<Group> {
        let whole = self.0.keys().filter_map(|name| Some(format!("{}:*", name.split_once(':')?.0)));
        self.grouped(self.known().chain(whole).chain(["*".to_owned()]).chain(chosen.iter().cloned()).collect(), chosen)
    }

    /// Returns the permissions of the catalogue and what some roles have. Those that no operation asks for, and
    /// wildcards, are left out unless a role has them.
    pub(crate) fn listed(&self, held: &BTreeSet<String>) -> Vec<Group> {
        self.grouped(self.known().chain(held.iter().cloned()).collect(), held)
    }

    /// Returns the choice.
    pub(crate) fn chosen(&self, chosen: &BTreeSet<String>) -> Vec<Group> {
        self.grouped(chosen.clone(), chosen)
    }

    /// The names are sorted, and `*` comes before every letter.
    fn grouped(&self, names: BTreeSet<String>, chosen: &BTreeSet<String>) -> Vec<Group> {
        let mut groups: BTreeMap<String, Vec<Choice>> = BTreeMap::new();
        for name in names {
            let resource = name.split_once(':').map_or("", |(resource, _)| resource).to_owned();
            let choice = Choice { text: self.sentence(&name), is_chosen: chosen.contains(&name), name };
            groups.entry(resource).or_default().push(choice);
        }
        groups.into_iter().map(|(resource, choices)| Group { resource, choices }).collect()
    }
}

/// Returns the permissions of the catalogue by their names, at most 1,000.
pub(crate) async fn all(iam: &Iam, caller: &Caller) -> Result<Vec<RegisteredPermission>, Error> {
    let mut permissions = Vec::new();
    for number in 1..=MAX_PAGES {
        let page = iam.permissions().list(caller, PageRequest::new(number, MAX_LIMIT)?).await?;
        let has_next = page.has_next();
        permissions.extend(page.items);
        if !has_next {
            break;
        }
    }
    permissions.sort_by(|one: &RegisteredPermission, other| one.name.as_str().cmp(other.name.as_str()));
    Ok(permissions)
}

/// Returns the permissions of the catalogue with their meanings, for a field that offers them.
pub(crate) async fn described_permissions(iam: &Iam, caller: &Caller) -> Result<Vec<(String, String)>, Error> {
    let described = Catalogue::read(iam, caller).await?.0.into_iter();
    Ok(described.map(|(name, meaning)| (name, text::of_service(&meaning))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(texts: &[&str]) -> BTreeSet<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn choices_are_grouped_by_resource_with_everything_first() {
        let catalogue = Catalogue([("b:go".to_owned(), "Goes.".to_owned()), ("a:do".to_owned(), String::new())].into());
        let groups = catalogue.choices(&names(&["b:*", "c:old"]));
        let shown: Vec<(&str, Vec<(&str, bool)>)> = groups
            .iter()
            .map(|group| {
                let choices = group.choices.iter().map(|choice| (choice.name.as_str(), choice.is_chosen)).collect();
                (group.resource.as_str(), choices)
            })
            .collect();
        let expected = [
            ("", vec![("*", false)]),
            ("a", vec![("a:*", false), ("a:do", false)]),
            ("b", vec![("b:*", true), ("b:go", false)]),
            ("c", vec![("c:old", true)]),
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_reserved_permission_is_offered_only_if_a_role_has_it() {
        let catalogue = Catalogue([("a:do".to_owned(), "Reserved: later.".to_owned())].into());
        let offered = |chosen: &[&str]| -> Vec<String> {
            let groups = catalogue.choices(&names(chosen)).into_iter();
            groups.flat_map(|group| group.choices).map(|choice| choice.name).collect()
        };
        assert_eq!(offered(&[]), ["*", "a:*"]);
        assert_eq!(offered(&["a:do"]), ["*", "a:*", "a:do"]);
    }

    #[test]
    fn a_permission_without_a_description_is_shown_by_its_name() {
        let catalogue = Catalogue([("b:go".to_owned(), "Goes.".to_owned()), ("a:do".to_owned(), String::new())].into());
        let groups = catalogue.chosen(&names(&["a:do", "b:go"]));
        let texts: Vec<&str> = groups.iter().flat_map(|group| &group.choices).map(|choice| &*choice.text).collect();
        assert_eq!(texts, ["a:do", "Goes."]);
    }
}
