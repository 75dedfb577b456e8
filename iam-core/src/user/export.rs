//! All that is held about one user, part by part (`docs/operating.md#what-is-held-about-a-person`).

use iam_model::access::{Coverage, VisibleScope};
use iam_model::access_request::{AccessRequest, AccessRequestFilter, AccessRequestScope};
use iam_model::api_key::ApiKey;
use iam_model::assignment::{Assignment, Grant};
use iam_model::attribute::Attributes;
use iam_model::audit::{AuditEntry, AuditFilter, Cursor, ResourceType};
use iam_model::change::AuditChange;
use iam_model::clock::Timestamp;
use iam_model::context::RequestContext;
use iam_model::credential::LoginAttempts;
use iam_model::directory::{Condition, DirectoryGroup, DirectoryUser, GroupSortField, GroupTest};
use iam_model::eligibility::Eligibility;
use iam_model::error::{Error, Result};
use iam_model::factor::Factor;
use iam_model::history::Past;
use iam_model::id::{RoleId, UserId};
use iam_model::identity::Identity;
use iam_model::invitation::{Invitation, InvitationFilter};
use iam_model::page::{MAX_LIMIT, PageRequest, SortOrder};
use iam_model::permission;
use iam_model::session::Session;
use iam_model::user::User;

use crate::access::require_for_user;
use crate::audit::person::{Concern, Person};
use crate::caller::Caller;
use crate::distinct::distinct;
use crate::engine::{Engine, Exporter, RunningExport};
use crate::iam::Iam;
use crate::user::Users;

/// How many entries of the log are read at once.
const READ: u32 = 500;

impl Users<'_> {
    /// Begins an export of all that is held about a user, in any status, and records it as READ of the user. `format` is
    /// only recorded, for instance `text/html`.
    ///
    /// A user exports what is held about itself, in its session: also attributes that it does not see elsewhere. For
    /// another one, the caller needs `users:read` over the whole of that user, and `audit-logs:read` tenant-wide. The
    /// session must have authenticated within the last ten minutes. A user runs one export about itself
    /// at a time and one about others, and all users of a tenant four about others, in this process.
    ///
    /// ```
    #[doc = doctest_setup!()]
    /// use iam_core::user::UserData;
    ///
    /// let own = ada.user().ok_or("she is a user")?;
    /// let mut export = iam.users().export(&ada, own, "application/json").await?;
    /// while let Some(data) = export.next(&iam).await? {
    ///     if let UserData::Sessions(sessions) = data {
    ///         assert_eq!(sessions.len(), 1);
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`], also for a caller by an API key and for a user who acts as another one,
    /// [`Error::NotFound`], [`Error::TooManyExports`],
    /// [`Unauthenticated::NotFresh`](iam_model::error::Unauthenticated::NotFresh).
    pub async fn export(&self, caller: &Caller, id: UserId, format: &str) -> Result<UserExport> {
        let iam = self.0;
        caller.refuse_impersonator()?;
        let user = exportable(iam, caller, id).await?;
        iam.require_fresh(caller).await?;
        let is_own = caller.is_in_session_of(id);
        let exporter = caller.user().map(|user| Exporter { tenant: caller.tenant(), user, is_own });
        let running = iam.user_exports.begin(exporter)?;
        let mut work = iam.begin(caller).await?;
        work.apply(AuditChange::ExportUser { user: id, format: format.to_owned() }).await?;
        work.commit().await?;
        Ok(UserExport {
            caller: caller.clone(),
            oldest: user.created_at,
            person: Person::of(&user),
            user: id,
            next: Some(Part::Profile),
            _running: running,
        })
    }
}

/// Returns a user, if the caller may export all that is held about it.
async fn exportable(iam: &Engine, caller: &Caller, id: UserId) -> Result<User> {
    let not_found = || Error::NotFound(ResourceType::USER);
    if caller.is_in_session_of(id) {
        return iam.store.user(caller.tenant(), id).await?.ok_or_else(not_found);
    }
    let rights = iam.rights(caller);
    rights.require_anywhere(&permission::USERS_READ)?;
    let user = iam.store.user(caller.tenant(), id).await?.ok_or_else(not_found)?;
    require_for_user(iam, caller, &user, &permission::USERS_READ, Coverage::Whole).await?;
    rights.require(&permission::AUDIT_LOGS_READ)?;
    Ok(user)
}

/// What is held about a user. An export has several items of most kinds, and none of a kind of which there is nothing
/// more.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum UserData {
    /// The user itself: the first item.
    Profile(Box<Profile>),
    /// Its second factors and passkeys, without their keys.
    Factors(Vec<Factor>),
    /// Its accounts at identity providers.
    Identities(Vec<Identity>),
    /// Its sessions that have not ended.
    Sessions(Vec<Session>),
    /// Its API keys, without their secrets.
    ApiKeys(Vec<ApiKey>),
    /// The roles that it holds.
    Assignments(Vec<Grant>),
    /// The roles that it held, as far as the history goes.
    PastAssignments(Vec<Past<Assignment>>),
    /// The roles for which it may ask.
    Eligibilities(Vec<Eligibility>),
    /// The roles for which it has asked.
    AccessRequests(Vec<AccessRequest>),
    /// The invitations of its present address.
    Invitations(Vec<Invitation>),
    /// What a directory says of it.
    Directory(Box<DirectoryUser>),
    /// The groups of the directory in which it is a member.
    Groups(Vec<DirectoryGroup>),
    /// The entries of the log that concern it, newest first. There are also items without an entry, because most entries
    /// of the log concern others.
    Entries(Vec<AuditEntry>),
}

/// A user, its attributes, and what is held to let it log in, without the secrets.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Profile {
    /// The user.
    pub user: User,
    /// All of its attributes.
    pub attributes: Attributes,
    /// Whether it has a password.
    pub has_password: bool,
    /// How many recovery codes it has left.
    pub recovery_codes_left: u64,
    /// The failed logins with its address that count now.
    pub attempts: LoginAttempts,
}

/// A recorded export of all that is held about a user. Only one item is in memory at a time.
///
/// The parts are read one after the other, not at one moment. What is written meanwhile may be missing.
pub struct UserExport {
    caller: Caller,
    user: UserId,
    person: Person,
    /// No entry that concerns the user is older: it was created then, or invited.
    oldest: Timestamp,
    next: Option<Part>,
    _running: RunningExport,
}

/// What is read next.
#[derive(Clone, Copy, Debug)]
enum Part {
    Profile,
    Factors,
    Identities,
    Sessions,
    ApiKeys,
    Assignments,
    PastAssignments,
    Eligibilities,
    /// From this page on.
    AccessRequests(u64),
    /// From this page on.
    Invitations(u64),
    Directory,
    /// From after this number on.
    Groups(u64),
    /// The names and addresses of the user in the entries about it, from after this entry on.
    Names(Option<Cursor>),
    /// From after this entry on.
    Entries(Option<Cursor>),
}

impl UserExport {
    /// Returns what is held, item by item; `None` at the end. The caller's session must still be valid and permit the
    /// export.
    ///
    /// # Errors
    ///
    /// [`Error::Unauthenticated`], [`Error::Forbidden`], [`Error::NotFound`], [`Error::Overloaded`], [`Error::Store`].
    pub async fn next(&mut self, iam: &Iam) -> Result<Option<UserData>> {
        let Some(part) = self.next else { return Ok(None) };
        let iam = &*iam.0;
        let caller = iam.renewed(&self.caller).await?;
        let user = exportable(iam, &caller, self.user).await?;
        let _turn = iam.long_read(&caller).await?;
        let data = match part {
            Part::Profile | Part::Factors | Part::Identities | Part::Sessions | Part::ApiKeys => {
                self.credentials(iam, part, user).await?
            }
            Part::Assignments | Part::PastAssignments | Part::Eligibilities | Part::AccessRequests(_) => {
                self.access(iam, part).await?
            }
            Part::Invitations(_) | Part::Directory | Part::Groups(_) => self.membership(iam, part, &user).await?,
            Part::Names(after) => self.names(iam, &caller, after).await?,
            Part::Entries(after) => self.entries(iam, &caller, after).await?,
        };
        Ok(Some(data))
    }

    /// The user, and how it proves who it is.
    async fn credentials(&mut self, iam: &Engine, part: Part, user: User) -> Result<UserData> {
        let (tenant, id) = (self.caller.tenant(), self.user);
        let (data, next) = match part {
            Part::Factors => (UserData::Factors(iam.store.factors(tenant, id).await?), Part::Identities),
            Part::Identities => (UserData::Identities(iam.store.identities(tenant, id).await?), Part::Sessions),
            Part::Sessions => (UserData::Sessions(iam.store.sessions_of(tenant, id).await?), Part::ApiKeys),
            Part::ApiKeys => (UserData::ApiKeys(iam.store.api_keys_of(tenant, id).await?), Part::Assignments),
            _ => {
                let guarded = iam.store.guarded_account(tenant, &user.email.key()).await?;
                let has_password = guarded.account.is_some_and(|account| !account.password.is_unset());
                let recovery_codes_left = iam.store.recovery_codes_left(tenant, id).await?;
                let attributes = iam.store.attributes(tenant, id.into()).await?;
                let attempts = guarded.attempts;
                let profile = Profile { user, attributes, has_password, recovery_codes_left, attempts };
                (UserData::Profile(Box::new(profile)), Part::Factors)
            }
        };
        self.next = Some(next);
        Ok(data)
    }

    /// What it may do, might do, and has asked for.
    async fn access(&mut self, iam: &Engine, part: Part) -> Result<UserData> {
        let (tenant, id) = (self.caller.tenant(), self.user);
        let (data, next) = match part {
            Part::PastAssignments => {
                let past = iam.store.past_assignments_of(tenant, &[id], Timestamp::UNIX_EPOCH).await?;
                (UserData::PastAssignments(past), Part::Eligibilities)
            }
            Part::Eligibilities => {
                let grants = iam.store.grants_of(tenant, &[id]).await?;
                let roles: Vec<RoleId> = distinct(grants.iter().map(|grant| grant.role.id));
                let eligibilities = iam.store.eligibilities_of(tenant, id, &roles).await?;
                (UserData::Eligibilities(eligibilities), Part::AccessRequests(1))
            }
            Part::AccessRequests(number) => {
                let filter = AccessRequestFilter { user: Some(id), ..AccessRequestFilter::default() };
                let scope =
                    AccessRequestScope { user: Some(id), read: Some(VisibleScope::Tenant), deciding: Vec::new() };
                let page = PageRequest::new(number, MAX_LIMIT)?;
                let page = iam.store.access_requests(tenant, &filter, &scope, page, iam.now()).await?;
                let next = if page.has_next() { Part::AccessRequests(number + 1) } else { Part::Invitations(1) };
                (UserData::AccessRequests(page.items), next)
            }
            _ => (UserData::Assignments(iam.store.grants_of(tenant, &[id]).await?), Part::PastAssignments),
        };
        self.next = Some(next);
        Ok(data)
    }

    /// How it came here, and what a directory says of it.
    async fn membership(&mut self, iam: &Engine, part: Part, user: &User) -> Result<UserData> {
        let (tenant, id) = (self.caller.tenant(), self.user);
        let (data, next) = match part {
            Part::Invitations(number) => {
                let filter = InvitationFilter { status: None, email: Some(user.email.key()) };
                let page = PageRequest::new(number, MAX_LIMIT)?;
                let page = iam.store.invitations(tenant, &filter, &VisibleScope::Tenant, page, iam.now()).await?;
                let oldest = page.items.iter().map(|invitation| invitation.created_at).min();
                self.oldest = oldest.map_or(self.oldest, |oldest| oldest.min(self.oldest));
                let next = if page.has_next() { Part::Invitations(number + 1) } else { Part::Directory };
                (UserData::Invitations(page.items), next)
            }
            Part::Groups(first) => match iam.store.directory_user(tenant, id).await? {
                Some(entry) => {
                    let is_member = Condition::Test(GroupTest::Member(id.to_string()));
                    let sort = (GroupSortField::Created, SortOrder::Ascending);
                    let (groups, total) = iam
                        .store
                        .directory_groups(tenant, entry.directory_id, &is_member, sort, first, MAX_LIMIT)
                        .await?;
                    let read = first + groups.len() as u64;
                    let is_last = groups.is_empty() || read >= total;
                    (UserData::Groups(groups), if is_last { Part::Names(None) } else { Part::Groups(read) })
                }
                None => (UserData::Groups(Vec::new()), Part::Names(None)),
            },
            _ => match iam.store.directory_user(tenant, id).await? {
                Some(entry) => (UserData::Directory(Box::new(entry)), Part::Groups(0)),
                None => (UserData::Groups(Vec::new()), Part::Names(None)),
            },
        };
        self.next = Some(next);
        Ok(data)
    }

    /// Learns the names and addresses of the user from the entries about it: they show which failed logins were attempts
    /// to log in as the user.
    async fn names(&mut self, iam: &Engine, caller: &Caller, after: Option<Cursor>) -> Result<UserData> {
        let about = self.person.entries_about();
        let entries = iam.store.audit_entries(caller.tenant(), &about, after, READ).await?;
        entries.iter().for_each(|entry| self.person.learn(entry));
        self.next = Some(if entries.len() < READ as usize {
            iam.find_other_holders(caller, &mut self.person).await?;
            Part::Entries(None)
        } else {
            Part::Names(entries.last().map(Cursor::after))
        });
        Ok(UserData::Entries(Vec::new()))
    }

    /// Reads entries, and keeps those that concern the user.
    async fn entries(&mut self, iam: &Engine, caller: &Caller, after: Option<Cursor>) -> Result<UserData> {
        let shows_log = iam.rights(caller).require(&permission::AUDIT_LOGS_READ).is_ok();
        let filter = AuditFilter { from: Some(self.oldest), ..AuditFilter::default() };
        let mut entries = iam.store.audit_entries(caller.tenant(), &filter, after, READ).await?;
        self.next = (entries.len() == READ as usize).then(|| Part::Entries(entries.last().map(Cursor::after)));
        entries.retain_mut(|entry| match self.person.concern(entry) {
            None => false,
            Some(_) if shows_log => true,
            // A user does not learn from this that its data is held.
            Some(Concern::About) if entry.resource_type == ResourceType::LEGAL_HOLD => false,
            Some(concern) => {
                show_to_the_user(entry, concern, self.person.is_client_of(entry));
                true
            }
        });
        Ok(UserData::Entries(entries))
    }
}

/// Leaves in an entry what a user without `audit-logs:read` sees of it: not where another one was, and not what it did
/// to others.
fn show_to_the_user(entry: &mut AuditEntry, concern: Concern, is_client: bool) {
    if !is_client {
        let correlation_id = entry.context.correlation_id.take();
        entry.context = RequestContext { correlation_id, ..RequestContext::default() };
    }
    if concern == Concern::Caused {
        entry.old_value = None;
        entry.new_value = None;
        entry.metadata = serde_json::Map::new();
    }
}
