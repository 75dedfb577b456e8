//! The effects of a change on the rights of users, as a person reads them.

use std::collections::{BTreeMap, BTreeSet};

use askama::Template;
use iam_core::access::Until;
use iam_core::clock::Timestamp;
use iam_core::preview::{Direction, RightChange};
use iam_core::{Caller, Error, Iam, OrganizationId, Preview, UserId};

use crate::catalogue::Catalogue;
use crate::names::Names;
use crate::text;
use crate::time::Time;

/// How many users a preview names.
const NAMED: usize = 20;

/// Who would gain or lose what.
#[derive(Template)]
#[template(path = "effects.html")]
pub(crate) struct Effects {
    base: String,
    title: &'static str,
    /// How many users would gain or lose a right.
    summary: String,
    affected: Vec<Affected>,
    /// How many of the users are not named. Empty if all are.
    others: String,
    /// What stands in place of the moments at which that ends which is gained. Empty if they are known.
    lasting: String,
}

/// A user with the rights that it would gain or lose.
struct Affected {
    /// The page of the user, below the path of the console. Empty if the caller may not see it.
    address: String,
    name: String,
    rights: Vec<Rights>,
}

/// Permissions that would change together.
struct Rights {
    is_gain: bool,
    /// Each with its meaning.
    permissions: Vec<(String, String)>,
    place: String,
    /// From when on, if not at once.
    from: Option<Timestamp>,
    /// Until when, if there is an end.
    until: Option<Timestamp>,
}

type Group = (bool, Option<OrganizationId>, Timestamp, Option<Timestamp>);

/// How many permissions a page lists without being asked.
const LISTED: usize = 8;

impl Rights {
    fn is_short(&self) -> bool {
        self.permissions.len() <= LISTED
    }
}

impl Effects {
    /// Returns the effects below another title.
    pub(crate) fn titled(self, title: &'static str) -> Self {
        Self { title, ..self }
    }

    /// Returns the effects of a change that comes later than now: what is gained lasts so long as a text says.
    pub(crate) fn lasting(self, lasting: String) -> Self {
        Self { lasting, ..self }
    }

    /// Names what the caller may see, and what is `known` to the page.
    pub(crate) async fn of(
        iam: &Iam,
        caller: &Caller,
        base: &str,
        preview: Preview,
        known: &Names,
    ) -> Result<Self, Error> {
        let now = iam.now();
        let summary = summary(&preview);
        let mut by_user: BTreeMap<UserId, BTreeMap<Group, Vec<String>>> = BTreeMap::new();
        for change in preview.changes {
            let RightChange { user, organization, permission, direction, from, until, .. } = change;
            if by_user.len() == NAMED && !by_user.contains_key(&user) {
                continue;
            }
            let end = match until {
                Until::Moment(moment) => Some(moment),
                Until::Forever => None,
            };
            let group = (direction == Direction::Gained, organization, from, end);
            by_user.entry(user).or_default().entry(group).or_default().push(permission.to_string());
        }
        let people: Vec<UserId> = by_user.keys().copied().collect();
        let places = by_user.values().flat_map(BTreeMap::keys).filter_map(|(_, place, ..)| *place);
        let places: Vec<OrganizationId> = places.collect();
        let seen = Names::read(iam, caller, people, places).await?;
        let own = caller.user();
        let address_of = |id: UserId| match seen.known_user(id) {
            Some(_) => format!("/users/{id}"),
            // Who may not see users can be affected itself.
            None if own == Some(id) => "/account".to_owned(),
            None => String::new(),
        };
        let addresses: BTreeMap<UserId, String> = by_user.keys().map(|id| (*id, address_of(*id))).collect();
        let names = seen.or(known);
        let catalogue = Catalogue::read(iam, caller).await?;
        let described = |name: String| (catalogue.sentence(&name), name);
        let rights = |((is_gain, place, from, until), permissions): (Group, Vec<String>)| Rights {
            is_gain,
            permissions: permissions.into_iter().map(described).collect(),
            place: place.map_or_else(|| text::t("whole-tenant").to_owned(), |id| names.organization(id)),
            from: Some(from).filter(|from| *from > now),
            until,
        };
        let affected = by_user.into_iter().map(|(id, groups)| {
            let address = addresses.get(&id).cloned().unwrap_or_default();
            let is_unseen = own == Some(id) && !address.starts_with("/users");
            Affected {
                name: if is_unseen { text::t("you").to_owned() } else { names.user(id) },
                address,
                rights: groups.into_iter().map(rights).collect(),
            }
        });
        let affected: Vec<Affected> = affected.collect();
        let others = preview.users.saturating_sub(affected.len().try_into().unwrap_or(u64::MAX));
        let others = if others == 0 { String::new() } else { text::others_affected(others) };
        let title = text::t("who-gains-and-loses");
        Ok(Self { base: base.to_owned(), title, summary, affected, others, lasting: String::new() })
    }
}

/// Returns how many users would gain or lose a right. It says only one of the two if no user has the other, as far as
/// the caller may see it.
fn summary(preview: &Preview) -> String {
    let is_there = |direction: Direction| preview.changes.iter().any(|change| change.direction == direction);
    let users: BTreeSet<UserId> = preview.changes.iter().map(|change| change.user).collect();
    // Of the others, the direction is not known.
    let are_all = !preview.truncated && u64::try_from(users.len()) == Ok(preview.users);
    let (gains, losses) = (is_there(Direction::Gained), is_there(Direction::Lost));
    text::users_affected(preview.users, gains || !are_all, losses || !are_all)
}
