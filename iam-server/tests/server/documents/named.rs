//! The tests that the page on security names as its evidence.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use crate::documents::block::repository;

const PAGE: &str = "docs/security.md";

/// The parts of a text between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| line.split('`').skip(1).step_by(2))
}

/// The directories of each suite, from the table of the page.
fn suites(page: &str) -> BTreeMap<&str, Vec<PathBuf>> {
    let (_, table) = page.split_once("| Suite | Directory |").unwrap();
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let mut suites = BTreeMap::new();
    for row in rows {
        let (names, directories) = row.trim_matches('|').split_once('|').unwrap();
        let directories: Vec<PathBuf> = quoted(directories).map(|directory| repository().join(directory)).collect();
        suites.extend(quoted(names).map(|name| (name, directories.clone())));
    }
    suites
}

/// The source of a module in one of these directories.
fn source(directories: &[PathBuf], module: &str) -> Option<String> {
    directories.iter().find_map(|directory| fs::read_to_string(directory.join(format!("{module}.rs"))).ok())
}

#[test]
fn the_tests_that_the_page_on_security_names_exist() {
    let page = fs::read_to_string(repository().join(PAGE)).unwrap();
    let suites = suites(&page);
    let is_test = |text: &&str| text.contains("::") && text.contains('/') && *text != "suite/file::name";
    let named: Vec<&str> = quoted(&page).filter(is_test).collect();
    assert!(named.len() > 100, "{PAGE} names {} tests", named.len());
    let is_missing = |named: &&str| {
        let (module, test) = named.split_once("::").unwrap();
        let (suite, module) = module.split_once('/').unwrap();
        let source = suites.get(suite).and_then(|directories| source(directories, module));
        source.is_none_or(|source| !source.contains(&format!("fn {test}(")))
    };
    let missing: Vec<&str> = named.into_iter().filter(is_missing).collect();
    assert!(missing.is_empty(), "{PAGE} names tests that do not exist: {missing:#?}");
}
