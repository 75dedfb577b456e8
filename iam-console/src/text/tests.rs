use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use chrono::NaiveDate;
use fluent_syntax::ast::{Entry, Expression, InlineExpression, Pattern, PatternElement};
use fluent_syntax::parser;

use super::*;

/// The texts that a name of the services chooses, by the starts of their ids.
const CHOSEN_BY_NAME: [&str; 7] =
    ["core-", "language-name", "log-action-", "log-field-", "log-resource-", "problem-", "resource-"];

const FILES: [(&str, &str); 2] =
    [("en", include_str!("../../locales/en.ftl")), ("de", include_str!("../../locales/de.ftl"))];

/// Returns the texts of a file with their variables.
fn texts(file: &str) -> BTreeMap<String, BTreeSet<String>> {
    let resource = parser::parse(file).unwrap_or_else(|(_, errors)| panic!("{errors:#?}"));
    let mut found = BTreeMap::new();
    for entry in resource.body {
        let Entry::Message(message) = entry else { continue };
        let mut variables = BTreeSet::new();
        collect(message.value.as_ref().unwrap(), &mut variables);
        assert!(message.attributes.is_empty(), "{}", message.id.name);
        assert!(found.insert(message.id.name.to_owned(), variables).is_none(), "{} is there twice", message.id.name);
    }
    found
}

fn collect(pattern: &Pattern<&str>, variables: &mut BTreeSet<String>) {
    for element in &pattern.elements {
        let PatternElement::Placeable { expression } = element else { continue };
        let (Expression::Inline(inline) | Expression::Select { selector: inline, .. }) = expression;
        match inline {
            InlineExpression::VariableReference { id } => variables.extend([id.name.to_owned()]),
            InlineExpression::StringLiteral { .. } => {}
            other => panic!("{other:?}"),
        }
        if let Expression::Select { variants, .. } = expression {
            variants.iter().for_each(|variant| collect(&variant.value, variables));
        }
    }
}

/// Returns the files of folders of this crate, except this one.
fn sources(folders: &[&str]) -> String {
    fn read(folder: &Path, into: &mut String) {
        for entry in fs::read_dir(folder).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            if path.is_dir() {
                read(&path, into);
            } else if !path.ends_with("text/tests.rs") {
                into.push_str(&fs::read_to_string(&path).unwrap());
            }
        }
    }
    let (root, mut all) = (Path::new(env!("CARGO_MANIFEST_DIR")), String::new());
    for folder in folders {
        read(&root.join(folder), &mut all);
    }
    all
}

fn in_german<T>(shown: impl FnOnce() -> T) -> T {
    LANGUAGE.sync_scope(&GERMAN, shown)
}

#[test]
fn each_language_has_the_same_texts_with_the_same_variables() {
    let english = texts(FILES[0].1);
    for (tag, file) in FILES {
        let (found, language) = (texts(file), Language::named(tag).unwrap());
        let missing: Vec<_> = english.iter().filter(|(id, variables)| found.get(*id) != Some(*variables)).collect();
        assert!(missing.is_empty(), "{tag}: {missing:#?}");
        let extra: Vec<_> = found.keys().filter(|id| !english.contains_key(*id)).collect();
        assert!(extra.is_empty(), "{tag}: {extra:#?}");
        assert!(found.keys().all(|id| language.text(id).is_some_and(|text| !text.is_empty())), "{tag}");
    }
    assert_eq!(Language::all().len(), FILES.len());
}

#[test]
fn each_text_that_is_used_exists_and_each_that_exists_is_used() {
    let sentences = sources(&["src/text/sentences"]);
    let (english, sources) = (texts(FILES[0].1), sources(&["src", "templates"]));
    let chosen = [&*sentences, include_str!("../audit/facts.rs")].concat();
    // A long call stands on several lines.
    let sources: String = sources.split_whitespace().collect();
    let starts = ["t(\"", "t_with(\"", "=>\"said-", "{\"said-", "=>\"run-", "=>\"password-hint-"];
    let mut used = BTreeSet::new();
    for start in starts {
        for (at, _) in sources.match_indices(start) {
            let before = sources[..at].chars().next_back().unwrap();
            if start.starts_with('t') && (before.is_alphanumeric() || before == '_' || before == '.') {
                continue;
            }
            let quote = at + start.find('"').unwrap() + 1;
            let id = sources[quote..].split('"').next().unwrap();
            assert!(english.contains_key(id), "no text has the id {id}");
            used.insert(id);
        }
    }
    let unused = |id: &&String| {
        let is_chosen = CHOSEN_BY_NAME.iter().any(|start| id.starts_with(start));
        !is_chosen && !used.contains(&***id) && !chosen.contains(&format!("\"{id}\""))
    };
    let unused: Vec<_> = english.keys().filter(unused).collect();
    assert!(unused.is_empty(), "{unused:#?}");
}

#[test]
fn numbers_days_and_lengths_of_time_have_the_forms_of_the_language() {
    let day = |month, day| NaiveDate::from_ymd_opt(2026, month, day).unwrap();
    let forms = || {
        let days = [day(1, 31), day(3, 1), day(5, 2), day(12, 24)].map(short_day);
        let lengths = [60, 5_400, 90_061].map(duration);
        let users = [0, 1, 2].map(|count| users_affected(count, count > 0, count > 0));
        let one_way = [users_affected(1, true, false), users_affected(2, false, true)];
        (days, lengths, users, one_way, [1, 1_234].map(roles_found))
    };
    let (days, lengths, users, one_way, roles) = forms();
    assert_eq!(days, ["31 Jan", "1 Mar", "2 May", "24 Dec"]);
    assert_eq!(lengths, ["1 minute", "1 hour 30 minutes", "1 day 1 hour 1 minute 1 second"]);
    assert_eq!(users[0], "No user gains or loses a permission.");
    assert_eq!(users[1..], ["1 user gains or loses permissions:", "2 users gain or lose permissions:"]);
    assert_eq!(one_way, ["1 user gains permissions:", "2 users lose permissions:"]);
    assert_eq!(roles, ["1 role", "1234 roles"]);
    let (days, lengths, users, one_way, roles) = in_german(forms);
    assert_eq!(days, ["31. Jan.", "1. März", "2. Mai", "24. Dez."]);
    assert_eq!(lengths, ["1 Minute", "1 Stunde 30 Minuten", "1 Tag 1 Stunde 1 Minute 1 Sekunde"]);
    assert_eq!(users[0], "Kein Benutzer erhält oder verliert eine Berechtigung.");
    assert_eq!(
        users[1..],
        ["1 Benutzer erhält oder verliert Berechtigungen:", "2 Benutzer erhalten oder verlieren Berechtigungen:"]
    );
    assert_eq!(one_way, ["1 Benutzer erhält Berechtigungen:", "2 Benutzer verlieren Berechtigungen:"]);
    assert_eq!(roles, ["1 Rolle", "1234 Rollen"]);
}

#[test]
fn each_action_and_each_type_of_resource_in_the_log_has_its_words() {
    use super::sentences::events::log_id;

    let mut expected = BTreeSet::new();
    for recorded in iam_core::audit::CATALOGUE {
        expected.insert(log_id("resource", recorded.resource_type.as_str()));
        expected.extend(recorded.actions.iter().map(|action| log_id("action", action)));
    }
    for (tag, file) in FILES {
        let found = texts(file).into_keys();
        let found: BTreeSet<String> =
            found.filter(|id| id.starts_with("log-action-") || id.starts_with("log-resource-")).collect();
        assert_eq!(found, expected, "{tag}");
    }
    assert_eq!(in_german(|| log_action("USER_SUSPENDED")), Some("Benutzer gesperrt"));
    assert_eq!(log_action("SENT"), None);
}

#[test]
fn a_field_of_an_entry_has_words_or_its_own_name() {
    let fields = ["parentId", "attributes.desk.room", "ownField", "own.field"];
    assert_eq!(fields.map(log_field), ["Parent organization", "Attributes: desk.room", "ownField", "own.field"]);
    assert_eq!(in_german(|| log_field("parentId")), "Übergeordnete Organisation");
}

#[test]
fn the_end_of_role_assignments_is_told_by_the_nearer_days() {
    assert_eq!(
        [(0, 2), (1, 1), (2, 3), (100, 100)].map(|(next, soon)| ending(next, soon, 100)),
        [
            "2 role assignments end within 30 days",
            "1 role assignment ends within 7 days",
            "2 role assignments end within 7 days, 3 within 30 days",
            "100 or more role assignments end within 7 days",
        ]
    );
}

#[test]
fn a_text_for_a_script_keeps_its_variables() {
    assert_eq!(t("import-progress"), "{done} of {total} rows");
    assert_eq!(in_german(|| t("import-progress")), "{done} von {total} Zeilen");
}

#[tokio::test]
async fn a_spawned_task_has_no_language() {
    let spawned = LANGUAGE.scope(&GERMAN, async {
        assert_eq!(t("save"), "Speichern");
        tokio::spawn(async { t("save") }).await.unwrap()
    });
    assert_eq!(spawned.await, "Save");
}

#[test]
fn what_the_services_say_is_shown_in_the_language_of_the_page() {
    use iam_core::audit::ResourceType;
    use iam_core::{Conflict, Error};
    use iam_model::error::Shortfall;

    let forbidden = |permission: &str| {
        let shortfall = Shortfall::new(permission.parse().unwrap(), None);
        Error::from(iam_core::Forbidden::Escalation(shortfall)).to_string()
    };
    for (said, expected) in [
        (Error::NotFound(ResourceType::ROLE_ASSIGNMENT).to_string(), "Rollenzuweisung nicht gefunden."),
        (Error::from(Conflict::RoleNameTaken).to_string(), "Es gibt bereits eine Rolle mit diesem Namen."),
        (
            forbidden("users:*"),
            "Sie können keine höheren Rechte als Ihre eigenen vergeben oder übernehmen: Ihnen fehlt dort users:*.",
        ),
        ("must be 1 to 120 characters".to_owned(), "muss 1 bis 120 Zeichen lang sein"),
        ("must have at most 3 items".to_owned(), "darf höchstens 3 Einträge haben"),
        ("must have 8 to 72 characters, a digit".to_owned(), "braucht 8 bis 72 Zeichen, eine Ziffer"),
        ("See users.".to_owned(), "Benutzer sehen."),
        ("is of no use".to_owned(), "is of no use"),
    ] {
        assert_eq!(in_german(|| of_service(&said)), expected);
        assert_eq!(of_service(&said), said);
    }
}

#[test]
fn a_text_that_no_file_has_says_that_it_is_in_english() {
    let shown = |text: &str| in_german(|| said(text).to_string());
    assert_eq!(shown("The <moon> is full."), "<span lang=\"en\">The &#60;moon&#62; is full.</span>");
    assert_eq!(
        shown("must have a value of at most a lot"),
        "<span lang=\"en\">must have a value of at most a lot</span>"
    );
    assert_eq!(shown("See users."), "Benutzer sehen.");
    for native in ["Speichern", "3 von 5 erledigt", "Name darf nicht leer sein."] {
        assert_eq!(shown(native), native);
    }
    assert_eq!(said("The <moon> is full.").to_string(), "The &#60;moon&#62; is full.");
    assert_eq!(in_german(|| about("Name", "must not be empty")), "Name darf nicht leer sein.");
    assert_eq!(in_german(|| about("Code", "Der Code ist falsch.")), "Der Code ist falsch.");
}

#[test]
fn built_in_permissions_and_roles_have_their_texts() {
    let id = "019c1355-8e20-7000-80be-0a57733ee76a";
    for (permission, description) in iam_core::permission::BUILT_IN {
        assert!(!in_german(|| is_foreign(description)), "{description}");
        assert!(named(&format!("resource-{}", permission.resource())).is_some(), "{permission}");
    }
    let roles = iam_model::role::built_in_roles(id.parse().unwrap(), chrono::Utc::now(), || id.parse().unwrap());
    for role in roles.unwrap() {
        assert!(!in_german(|| is_foreign(role.description.as_str())), "{}", role.description);
    }
}

#[test]
fn each_error_of_the_services_has_its_text() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../foundation/iam-model/src/error.rs");
    let source = fs::read_to_string(path).unwrap();
    let texts =
        source.split("#[error(").skip(1).filter_map(|rest| rest.trim_start().strip_prefix('"')?.split('"').next());
    let texts: BTreeSet<&str> = texts.filter(|text| text.contains(" ") && !text.starts_with("{context}")).collect();
    assert!(texts.len() > 120, "{}", texts.len());
    let value = |text: &str| {
        let parts: Vec<&str> = text.split('{').collect();
        parts
            .iter()
            .map(|part| part.split_once('}').map_or((*part).to_owned(), |(_, rest)| format!("7{rest}")))
            .collect()
    };
    let foreign = |text: &&&str| {
        let text: String = value(text);
        in_german(|| is_foreign(&text))
    };
    let foreign: Vec<_> = texts.iter().filter(foreign).collect();
    assert!(foreign.is_empty(), "{foreign:#?}");
}
