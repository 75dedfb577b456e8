//! What the users of a file become: their roles, organizations and homes, by a mapping that the operator writes.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use iam_core::attribute::{AttributeRules, UnregisteredAttributes};
use iam_core::user::{ImportedRole, ImportedUser};
use iam_core::{AttributeKey, Caller, FieldError, Iam, OrganizationId};
use iam_import::{ForeignPassword, Format, Record, short_list, shown_name};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::command::document::{Lines, Mistake, refused, text_of};
use crate::command::import::unused::{RoleName, Unused};
use crate::failure::Failure;

/// The name of a mapping in errors.
const WHAT: &str = "a mapping";

/// The maximum number of rules in a list.
const MAX_RULES: usize = 1_000;

/// A mapping, as it is written.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct Written {
    external_id: Option<bool>,
    email_verified: Option<bool>,
    without_password: WithoutPassword,
    unmapped: Unmapped,
    defaults: Vec<Given>,
    roles: Vec<Rule>,
    groups: Vec<Rule>,
    attributes: Vec<Named>,
}

/// What becomes of a user without a hash, or with one that cannot be taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(super) enum WithoutPassword {
    /// The user is refused.
    #[default]
    Refuse,
    /// The user is created without a password.
    Create,
}

/// What becomes of a role or a group that no rule names.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum Unmapped {
    #[default]
    LeaveOut,
    Refuse,
}

/// A role that every user gets.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Given {
    role: String,
    organization: Option<String>,
}

/// What a role or a group of the other system is here.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Rule {
    from: String,
    /// The client of Keycloak whose role it is; `None` for a role of the realm, and for all of the other systems.
    client: Option<String>,
    role: Option<String>,
    organization: Option<String>,
    #[serde(default)]
    home: bool,
}

/// The key of an attribute of the other system.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Named {
    from: String,
    /// The same as there, if there is none.
    key: Option<String>,
}

/// A mapping whose roles, organizations and keys of attributes exist.
pub(super) struct Mapping {
    takes_external_id: bool,
    takes_email_verified: bool,
    pub(super) without_password: WithoutPassword,
    unmapped: Unmapped,
    defaults: Vec<ImportedRole>,
    roles: HashMap<RoleName, Vec<Place>>,
    groups: HashMap<String, Vec<Place>>,
    /// The keys here, by those of the other system. `None` takes every attribute under its own key.
    attributes: Option<HashMap<String, String>>,
    unused: Unused,
}

/// What a rule gives.
struct Place {
    role: Option<ImportedRole>,
    home: Option<OrganizationId>,
}

/// A user as it is imported, and what of its record is left out.
pub(super) struct Mapped {
    pub(super) user: ImportedUser,
    pub(super) left_out: Vec<String>,
    /// The roles, groups and attributes that no rule names, such as `groups: /vip`, each once. They are in `left_out`,
    /// too, as far as that is short.
    pub(super) unmapped: Vec<String>,
}

impl Mapping {
    /// Reads the mapping of a file, or makes the one that holds without a file. All roles and organizations that it names
    /// must exist, and users of the tenant can have the attributes.
    pub(super) async fn read(iam: &Iam, caller: &Caller, file: Option<&Path>, format: Format) -> Result<Self, Failure> {
        let Some(file) = file else { return Ok(Self::of(&Written::default(), format)) };
        let text = text_of(file, WHAT)?;
        let read = || {
            let lines = Lines::read(&text, WHAT)?;
            let written: Written = lines.decode(lines.to_json())?;
            Ok((written, lines))
        };
        let (written, lines) = read().map_err(|mistake: Mistake| refused(file, &[mistake]))?;
        let mistakes = check(&written, &lines);
        if !mistakes.is_empty() {
            return Err(refused(file, &mistakes));
        }
        let tenant = iam.tenants().get(caller, caller.tenant()).await;
        let tenant = tenant.map_err(|error| Failure::new("looking for the attributes of the mapping", &error))?;
        let mistakes = check_keys(&written, &tenant.attribute_rules(), &lines);
        let mut names = Names { iam, caller, lines: &lines, mistakes };
        let mut mapping = Self { unused: unused(&written, &lines), ..Self::of(&written, format) };
        for (number, given) in written.defaults.iter().enumerate() {
            let field = format!("defaults[{number}]");
            let organization = names.organization(&field, given.organization.as_deref()).await?;
            mapping.defaults.extend(names.role(&field, &given.role, organization).await?);
        }
        for (number, rule) in written.roles.iter().enumerate() {
            let place = names.place(&format!("roles[{number}]"), rule).await?;
            mapping.roles.entry(RoleName::of(rule.client.as_deref(), &rule.from)).or_default().push(place);
        }
        for (number, rule) in written.groups.iter().enumerate() {
            let place = names.place(&format!("groups[{number}]"), rule).await?;
            mapping.groups.entry(rule.from.clone()).or_default().push(place);
        }
        if names.mistakes.is_empty() { Ok(mapping) } else { Err(refused(file, &names.mistakes)) }
    }

    fn of(written: &Written, format: Format) -> Self {
        // These files are written for this service, so their fields mean what they say.
        let is_own = matches!(format, Format::Csv | Format::Ndjson);
        Self {
            takes_external_id: written.external_id.unwrap_or(is_own),
            takes_email_verified: written.email_verified.unwrap_or(is_own),
            without_password: written.without_password,
            unmapped: written.unmapped,
            defaults: Vec::new(),
            roles: HashMap::new(),
            groups: HashMap::new(),
            attributes: (!is_own || !written.attributes.is_empty()).then(|| {
                let named =
                    |named: &Named| (named.from.clone(), named.key.clone().unwrap_or_else(|| named.from.clone()));
                written.attributes.iter().map(named).collect()
            }),
            unused: Unused::default(),
        }
    }

    /// Notes that the rules for what this record has are used.
    pub(super) fn note(&mut self, record: &Record) {
        self.unused.note(record);
    }

    /// Returns a warning for each rule that no record has used, with its line.
    pub(super) fn unused(&self) -> Vec<&Mistake> {
        self.unused.warnings()
    }

    /// Returns what a record becomes.
    ///
    /// # Errors
    ///
    /// The reasons for which the user is refused.
    pub(super) fn map(&self, record: Record) -> Result<Mapped, Vec<FieldError>> {
        let mut left_out = record.left_out;
        let mut errors = Vec::new();
        if record.email.trim().is_empty() {
            errors.push(FieldError::new("email", "is missing, and a user here has one"));
        }
        let (password_hash, problem) = match record.password {
            ForeignPassword::Hash(hash) => (Some(hash), None),
            ForeignPassword::None => (None, Some("is missing".to_owned())),
            ForeignPassword::Unusable(why) => (None, Some(format!("cannot be taken: {why}"))),
        };
        if let Some(problem) = problem {
            match self.without_password {
                WithoutPassword::Refuse => errors.push(FieldError::new("passwordHash", problem)),
                WithoutPassword::Create => left_out.push(format!("password: {problem}")),
            }
        }
        let mut all_unmapped = BTreeSet::new();
        let (mut roles, mut homes) = (self.defaults.iter().copied().collect::<BTreeSet<_>>(), BTreeSet::new());
        let named = |name: RoleName| (name.to_string(), self.roles.get(&name));
        let of_clients = record
            .client_roles
            .iter()
            .flat_map(|(client, roles)| roles.iter().map(move |role| named(RoleName::of(Some(client), role))));
        for (kind, names) in [
            ("roles", record.roles.iter().map(|role| named(RoleName::of(None, role))).collect::<Vec<_>>()),
            ("clientRoles", of_clients.collect()),
            ("groups", record.groups.iter().map(|group| (group.clone(), self.groups.get(group))).collect()),
        ] {
            for place in names.iter().filter_map(|(_, places)| *places).flatten() {
                roles.extend(place.role);
                homes.extend(place.home);
            }
            let unmapped: BTreeSet<&str> =
                names.iter().filter(|(_, places)| places.is_none()).map(|(name, _)| name.as_str()).collect();
            match self.unmapped {
                _ if unmapped.is_empty() => {}
                Unmapped::LeaveOut => {
                    all_unmapped.extend(unmapped.iter().map(|name| format!("{kind}: {}", shown_name(name))));
                    left_out.push(format!("{kind}: {}", short_list(unmapped)));
                }
                Unmapped::Refuse => {
                    errors.push(FieldError::new(kind, format!("are not in the mapping: {}", short_list(unmapped))));
                }
            }
        }
        if homes.len() > 1 {
            errors.push(FieldError::new("groups", "have more than one home in the mapping"));
        }
        let (attributes, unnamed) = self.attributes_of(record.attributes);
        if !unnamed.is_empty() {
            all_unmapped.extend(unnamed.iter().map(|name| format!("attributes: {}", shown_name(name))));
            left_out.push(format!("attributes: {}", short_list(unnamed.iter().map(String::as_str))));
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let user = ImportedUser {
            password_hash,
            status: record.status,
            external_id: record.foreign_id.filter(|_| self.takes_external_id),
            is_email_verified: record.is_email_verified && self.takes_email_verified,
            home: homes.pop_first(),
            roles: roles.into_iter().collect(),
            attributes,
            ..ImportedUser::new(record.email, record.first_name, record.last_name)
        };
        Ok(Mapped { user, left_out, unmapped: all_unmapped.into_iter().collect() })
    }

    /// Returns the attributes of a user, and the names of those that are left out.
    fn attributes_of(&self, foreign: BTreeMap<String, Value>) -> (Map<String, Value>, Vec<String>) {
        let Some(keys) = &self.attributes else { return (foreign.into_iter().collect(), Vec::new()) };
        let (mut attributes, mut unnamed) = (Map::new(), Vec::new());
        for (name, value) in foreign {
            match keys.get(&name) {
                Some(key) => drop(attributes.insert(key.clone(), value)),
                None => unnamed.push(name),
            }
        }
        (attributes, unnamed)
    }
}

/// Checks what needs no database.
fn check(written: &Written, lines: &Lines) -> Vec<Mistake> {
    let mut mistakes = Vec::new();
    let lists = [
        ("defaults", written.defaults.len()),
        ("roles", written.roles.len()),
        ("groups", written.groups.len()),
        ("attributes", written.attributes.len()),
    ];
    for (list, length) in lists {
        if length > MAX_RULES {
            mistakes.push(lines.mistake(list, &format!("must have at most {MAX_RULES} items")));
        }
    }
    for (list, rules) in [("roles", &written.roles), ("groups", &written.groups)] {
        for (number, rule) in rules.iter().enumerate() {
            let field = format!("{list}[{number}]");
            if rule.role.is_none() && !rule.home {
                mistakes.push(lines.mistake(&field, "must have a role, or home: true"));
            }
            if list == "groups" && rule.client.is_some() {
                mistakes.push(lines.mistake(&format!("{field}.client"), "is for rules of roles alone"));
            }
            if rule.home && rule.organization.is_none() {
                mistakes.push(lines.mistake(&field, "must have an organization, which is the home"));
            }
        }
    }
    let (mut sources, mut keys) = (BTreeSet::new(), BTreeSet::new());
    for (number, Named { from, key }) in written.attributes.iter().enumerate() {
        // A rule without a key gives the key of the other system.
        let (name, key) = key.as_ref().map_or(("from", from), |key| ("key", key));
        let (name, message) = if !sources.insert(from) {
            ("from", "is in a rule above, too")
        } else if !keys.insert(key) {
            (name, "gives a key that a rule above gives, too")
        } else {
            continue;
        };
        mistakes.push(lines.mistake(&format!("attributes[{number}].{name}"), message));
    }
    mistakes
}

/// Checks that users of the tenant can have the keys of attributes.
fn check_keys(written: &Written, rules: &AttributeRules, lines: &Lines) -> Vec<Mistake> {
    let mut mistakes = Vec::new();
    for (number, Named { from, key }) in written.attributes.iter().enumerate() {
        let (name, key) = key.as_ref().map_or(("from", from), |key| ("key", key));
        let message = match key.parse::<AttributeKey>() {
            Err(invalid) if name == "key" => invalid.to_string(),
            Err(invalid) => format!("is the key here, too, if the rule has none, and a key {invalid}"),
            Ok(_) if rules.unregistered == UnregisteredAttributes::Refused && rules.users.get(key).is_none() => {
                "is not an attribute that the tenant has defined".to_owned()
            }
            Ok(_) => continue,
        };
        mistakes.push(lines.mistake(&format!("attributes[{number}].{name}"), &message));
    }
    mistakes
}

/// Returns the warnings for the rules of a mapping, as long as no record has used them.
fn unused(written: &Written, lines: &Lines) -> Unused {
    let mut unused = Unused::default();
    let warning = |list: &str, number: usize| {
        lines.mistake(&format!("{list}[{number}].from"), "is in no record of the files, so the rule has no effect")
    };
    for (number, rule) in written.roles.iter().enumerate() {
        let name = RoleName::of(rule.client.as_deref(), &rule.from);
        unused.roles.entry(name).or_insert_with(|| warning("roles", number));
    }
    for (number, rule) in written.groups.iter().enumerate() {
        unused.groups.entry(rule.from.clone()).or_insert_with(|| warning("groups", number));
    }
    for (number, named) in written.attributes.iter().enumerate() {
        unused.attributes.entry(named.from.clone()).or_insert_with(|| warning("attributes", number));
    }
    unused
}

/// Finds the roles and organizations that a mapping names.
struct Names<'a> {
    iam: &'a Iam,
    caller: &'a Caller,
    lines: &'a Lines,
    mistakes: Vec<Mistake>,
}

impl Names<'_> {
    /// Returns what the rule gives that is this field.
    async fn place(&mut self, field: &str, rule: &Rule) -> Result<Place, Failure> {
        let organization = self.organization(field, rule.organization.as_deref()).await?;
        let role = match &rule.role {
            Some(role) => self.role(field, role, organization).await?,
            None => None,
        };
        Ok(Place { role, home: organization.filter(|_| rule.home) })
    }

    async fn organization(&mut self, field: &str, slug: Option<&str>) -> Result<Option<OrganizationId>, Failure> {
        let Some(slug) = slug else { return Ok(None) };
        let found = self.iam.organizations().by_slug(self.caller, slug).await;
        let found = found.map_err(|error| Failure::new("looking for the organizations of the mapping", &error))?;
        if found.is_none() {
            self.reject(&format!("{field}.organization"), &format!("there is no organization {}", short_list([slug])));
        }
        Ok(found.map(|organization| organization.id))
    }

    async fn role(
        &mut self,
        field: &str,
        name: &str,
        organization: Option<OrganizationId>,
    ) -> Result<Option<ImportedRole>, Failure> {
        let found = self.iam.roles().by_name(self.caller, name).await;
        let found = found.map_err(|error| Failure::new("looking for the roles of the mapping", &error))?;
        let field = format!("{field}.role");
        let Some(role) = found else {
            self.reject(&field, &format!("there is no role {}", short_list([name])));
            return Ok(None);
        };
        if let Err(rule) = role.scope.check(organization.is_some()) {
            self.reject(&field, &rule.to_string());
        }
        Ok(Some(ImportedRole { role: role.id, organization }))
    }

    fn reject(&mut self, field: &str, message: &str) {
        self.mistakes.push(self.lines.mistake(field, message));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use iam_core::TenantId;
    use iam_core::organization::NewOrganization;
    use iam_core::tenant::{NewTenant, TenantPatch};
    use iam_core::user::NewUser;
    use iam_import::{Source, read};
    use iam_store_memory::MemoryStore;

    use super::*;

    async fn service() -> (Iam, Caller) {
        let iam = Iam::builder(Arc::new(MemoryStore::new())).build().await.unwrap();
        let administrator = NewUser {
            email: "ada@example.com".into(),
            password: "Passw0rd!".into(),
            first_name: "Ada".into(),
            last_name: "Lovelace".into(),
        };
        let new = NewTenant { name: "Acme".into(), slug: None, administrator };
        let tenant: TenantId = iam.tenants().create("test", new).await.unwrap().tenant.id;
        let caller = Caller::system(tenant, "test");
        let north = NewOrganization { name: "North".into(), slug: Some("north".into()), parent: None };
        iam.organizations().create(&caller, north).await.unwrap();
        (iam, caller)
    }

    async fn mapping(text: &str) -> Result<Mapping, Failure> {
        let (iam, caller) = service().await;
        mapping_in(&iam, &caller, text).await
    }

    async fn mapping_in(iam: &Iam, caller: &Caller, text: &str) -> Result<Mapping, Failure> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mapping.yaml");
        std::fs::write(&file, text).unwrap();
        Mapping::read(iam, caller, Some(&file), Format::Ndjson).await
    }

    fn record(fields: &str) -> Record {
        let text =
            format!("{{\"email\": \"grace@example.com\", \"firstName\": \"Grace\", \"lastName\": \"Hopper\"{fields}}}");
        let source = Source::default();
        let row = read(Format::Ndjson, text.as_bytes(), &source).unwrap().next().unwrap().unwrap();
        row.user.unwrap()
    }

    fn errors(result: Result<Mapped, Vec<FieldError>>) -> Vec<String> {
        let errors = result.map(|mapped| mapped.user).unwrap_err();
        errors.iter().map(|error| format!("{} {}", error.field, error.message)).collect()
    }

    #[tokio::test]
    async fn rules_give_roles_and_a_home() {
        let mapping = mapping(
            "withoutPassword: CREATE\nexternalId: false\ndefaults:\n  - role: MEMBER\nroles:\n  - from: admin\n    \
             role: MEMBER\n    organization: north\ngroups:\n  - from: /north\n    organization: north\n    home: true\n",
        )
        .await
        .unwrap();
        let user =
            record(", \"roles\": [\"admin\", \"admin\", \"x\"], \"groups\": [\"/north\"], \"externalId\": \"7\"");
        let Mapped { user, left_out, .. } = mapping.map(user).unwrap();
        assert_eq!(left_out, ["password: is missing", "roles: x"]);
        assert_eq!((user.roles.len(), user.external_id), (2, None));
        assert!(user.home.is_some() && user.home == user.roles.iter().find_map(|role| role.organization));
    }

    /// A realm can have a role whose name is that of a client and of one of its roles.
    #[tokio::test]
    async fn a_role_of_a_client_is_another_one_than_a_role_of_the_realm() {
        let text = "withoutPassword: CREATE\nroles:\n  - from: clerk\n    client: shop\n    role: MEMBER\n    \
                    organization: north\n  - from: shop/admin\n    role: MEMBER\n";
        let mut mapping = mapping(text).await.unwrap();
        let client_roles = |role: &str| BTreeMap::from([("shop".to_owned(), vec![role.to_owned()])]);
        for (realm_role, client_role, given, expected) in [
            ("shop/clerk", "admin", 0, vec!["password: is missing", "roles: shop/clerk", "clientRoles: shop/admin"]),
            ("clerk", "x", 0, vec!["password: is missing", "roles: clerk", "clientRoles: shop/x"]),
            ("shop/admin", "clerk", 2, vec!["password: is missing"]),
        ] {
            let user =
                Record { roles: vec![realm_role.to_owned()], client_roles: client_roles(client_role), ..record("") };
            assert_eq!(mapping.unused().len(), 2);
            if given > 0 {
                mapping.note(&user);
                assert!(mapping.unused().is_empty());
            }
            let Mapped { user, left_out, .. } = mapping.map(user).unwrap();
            assert_eq!((user.roles.len(), left_out.iter().map(String::as_str).collect::<Vec<_>>()), (given, expected));
        }
    }

    /// A cell that has swallowed other records, or swapped columns.
    #[test]
    fn a_name_that_may_be_a_hash_is_not_shown() {
        let mapping = Mapping::of(&Written::default(), Format::Ndjson);
        let names = "[\"12 inch st4@example.com,$2b$10$hunter2\", \"$2b$hunter2\"]";
        let user = record(&format!(", \"passwordHash\": \"x\", \"groups\": {names}, \"roles\": [\"a\\nb\"]"));
        let Mapped { left_out, unmapped, .. } = mapping.map(user).unwrap();
        assert_eq!(left_out, ["roles: [not shown]", "groups: [not shown], [not shown]"]);
        assert_eq!(unmapped, ["groups: [not shown]", "roles: [not shown]"]);
    }

    #[tokio::test]
    async fn attributes_come_under_the_keys_of_the_mapping() {
        let named =
            mapping("withoutPassword: CREATE\nattributes:\n  - from: dept\n    key: costCentre\n  - from: floor\n")
                .await
                .unwrap();
        let user = || record(", \"attributes\": {\"dept\": \"4711\", \"floor\": 3, \"shoe\": 44}");
        let Mapped { user: mapped, left_out, .. } = named.map(user()).unwrap();
        assert_eq!(Value::Object(mapped.attributes), serde_json::json!({ "costCentre": "4711", "floor": 3 }));
        assert_eq!(left_out, ["password: is missing", "attributes: shoe"]);
        for (format, taken) in [(Format::Ndjson, 3), (Format::Keycloak, 0)] {
            let written = Written { without_password: WithoutPassword::Create, ..Written::default() };
            let Mapped { user: mapped, .. } = Mapping::of(&written, format).map(user()).unwrap();
            assert_eq!(mapped.attributes.len(), taken);
        }
    }

    #[test]
    fn without_a_mapping_roles_are_left_out_and_a_password_is_needed() {
        let mapping = Mapping::of(&Written::default(), Format::Ndjson);
        assert_eq!(errors(mapping.map(record(""))), ["passwordHash is missing"]);
        let many: Vec<String> = (0..9).map(|number| format!("\"{number}\"")).collect();
        let user = record(&format!(
            ", \"passwordHash\": \"x\", \"externalId\": \"7\", \"emailVerified\": true, \"roles\": [{}]",
            many.join(",")
        ));
        let Mapped { user, left_out, .. } = mapping.map(user.clone()).unwrap();
        assert_eq!(left_out, ["roles: 0, 1, 2, 3, 4 and 4 more"]);
        assert_eq!((user.external_id.as_deref(), user.is_email_verified), (Some("7"), true));
        // Another system says nothing about this installation.
        let foreign = Mapping::of(&Written::default(), Format::Keycloak);
        let Mapped { user, .. } =
            foreign.map(record(", \"passwordHash\": \"x\", \"externalId\": \"7\", \"emailVerified\": true")).unwrap();
        assert_eq!((user.external_id, user.is_email_verified), (None, false));
    }

    #[tokio::test]
    async fn a_role_that_no_rule_names_can_refuse_a_user() {
        let mapping = mapping("unmapped: REFUSE\n").await.unwrap();
        let user = Record { email: " ".into(), ..record(", \"passwordHash\": \"x\", \"groups\": [\"/a\"]") };
        assert_eq!(
            errors(mapping.map(user)),
            ["email is missing, and a user here has one", "groups are not in the mapping: /a"]
        );
    }

    #[tokio::test]
    async fn a_mistake_has_its_line() {
        for (text, part) in [
            ("role: []\n", ":1: role: is not a known field"),
            ("roles:\n  - from: a\n    role: NO_SUCH\n", ":3: roles[0].role: there is no role NO_SUCH"),
            (
                "groups:\n  - from: a\n    role: MEMBER\n    organization: south\n",
                ":4: groups[0].organization: there is no organization south",
            ),
            ("groups:\n  - from: a\n", ":2: groups[0]: must have a role, or home: true"),
            ("groups:\n  - from: a\n    home: true\n", ":2: groups[0]: must have an organization"),
            ("roles:\n  - role: MEMBER\n", ":2: roles[0]: missing field `from`"),
            (
                "attributes:\n  - from: a\n    key: x\n  - from: a\n    key: y\n",
                ":4: attributes[1].from: is in a rule above, too",
            ),
            (
                "attributes:\n  - from: a\n    key: x\n  - from: b\n    key: x\n",
                ":5: attributes[1].key: gives a key that a rule above gives, too",
            ),
            (
                "attributes:\n  - from: a\n    key: x\n  - from: x\n",
                ":4: attributes[1].from: gives a key that a rule above gives, too",
            ),
            ("attributes:\n  - from: a\n    key: 1bad\n", ":3: attributes[0].key: must "),
            ("attributes:\n  - from: a b\n", ":2: attributes[0].from: is the key here, too"),
            (
                "groups:\n  - from: a\n    client: shop\n    role: MEMBER\n",
                ":3: groups[0].client: is for rules of roles",
            ),
            ("withoutPassword: MAYBE\n", ":1: withoutPassword: "),
            ("roles:\n  - from: a\n    role: TENANT_ADMIN\n    organization: north\n", ":3: roles[0].role: "),
        ] {
            let Err(failure) = mapping(text).await else { panic!("{text}") };
            assert!(failure.to_string().contains(part), "{text}: {failure}");
        }
    }

    #[tokio::test]
    async fn a_key_that_the_tenant_refuses_is_a_mistake_with_its_line() {
        let (iam, caller) = service().await;
        let definitions = serde_json::json!([{ "key": "costCentre", "type": "STRING" }]);
        let patch = TenantPatch {
            user_attributes: Some(serde_json::from_value(definitions).unwrap()),
            unregistered_attributes: Some(UnregisteredAttributes::Refused),
            ..TenantPatch::default()
        };
        iam.tenants().update(&caller, caller.tenant(), patch).await.unwrap();
        mapping_in(&iam, &caller, "attributes:\n  - from: a\n    key: costCentre\n").await.unwrap();
        for (text, part) in [
            (
                "attributes:\n  - from: a\n    key: floor\n",
                ":3: attributes[0].key: is not an attribute that the tenant",
            ),
            ("attributes:\n  - from: floor\n", ":2: attributes[0].from: is not an attribute that the tenant"),
        ] {
            let Err(failure) = mapping_in(&iam, &caller, text).await else { panic!("{text}") };
            assert!(failure.to_string().contains(part), "{text}: {failure}");
        }
    }

    #[tokio::test]
    async fn a_rule_that_no_record_uses_has_a_warning() {
        let text = "withoutPassword: CREATE\nroles:\n  - from: admin\n    role: MEMBER\n  - from: Admin\n    role: MEMBER\n\
                    groups:\n  - from: /vip\n    role: MEMBER\nattributes:\n  - from: floor\n";
        let mut mapping = mapping(text).await.unwrap();
        let lines = |mapping: &Mapping| mapping.unused().iter().map(|warning| warning.line).collect::<Vec<_>>();
        assert_eq!(lines(&mapping), [3, 5, 8, 11]);
        let user =
            record(", \"roles\": [\"admin\"], \"groups\": [\"/a\", \"/a\", \"/b\"], \"attributes\": {\"floor\": 3}");
        mapping.note(&user);
        assert_eq!(lines(&mapping), [5, 8]);
        assert_eq!(mapping.map(user).unwrap().unmapped, ["groups: /a", "groups: /b"]);
    }
}
