//! The services of an [`Iam`], and its answers about itself.

use iam_model::clock::Timestamp;
use iam_model::error::Result;
use iam_model::store_error::StoreError;

use crate::access::Access;
use crate::access_request::AccessRequests;
use crate::access_review::AccessReviews;
use crate::api_key::ApiKeys;
use crate::assignment::Assignments;
use crate::audit::Audit;
use crate::authzen::Authzen;
use crate::caller::Caller;
use crate::credential::Credentials;
use crate::directory::{Directories, Provisioning};
use crate::domain::Domains;
use crate::eligibility::Eligibilities;
use crate::email_login::EmailLogins;
use crate::factor::Factors;
use crate::federation::Federation;
use crate::iam::Iam;
use crate::identity_provider::IdentityProviders;
use crate::invitation::Invitations;
use crate::legal_hold::LegalHolds;
use crate::manifest::Manifests;
use crate::organization::Organizations;
use crate::permission::Permissions;
use crate::recovery::Recovery;
use crate::role::Roles;
use crate::session::Sessions;
use crate::settings::Settings;
use crate::tenant::Tenants;
use crate::user::Users;
use crate::verification::Verification;
use crate::webhook::Webhooks;

impl Iam {
    /// The service for tenants: creates, reads and changes them.
    #[must_use]
    pub fn tenants(&self) -> Tenants<'_> {
        Tenants(&self.0)
    }

    /// The service for users: creates, reads, changes and deletes them.
    #[must_use]
    pub fn users(&self) -> Users<'_> {
        Users(&self.0)
    }

    /// The service for passwords: changes and resets them.
    #[must_use]
    pub fn credentials(&self) -> Credentials<'_> {
        Credentials(&self.0)
    }

    /// The service for second factors: sets them up and removes them.
    #[must_use]
    pub fn factors(&self) -> Factors<'_> {
        Factors(&self.0)
    }

    /// The service for API keys: makes, reads, changes and revokes them.
    #[must_use]
    pub fn api_keys(&self) -> ApiKeys<'_> {
        ApiKeys(&self.0)
    }

    /// The service for webhooks: makes, reads, changes, tests and removes them.
    #[must_use]
    pub fn webhooks(&self) -> Webhooks<'_> {
        Webhooks(&self.0)
    }

    /// The service for domains: adds, verifies and removes them.
    #[must_use]
    pub fn domains(&self) -> Domains<'_> {
        Domains(&self.0)
    }

    /// The service for directories: makes, reads, changes and removes them, and maps their groups to roles.
    #[must_use]
    pub fn directories(&self) -> Directories<'_> {
        Directories(&self.0)
    }

    /// The service for what directories write: makes, reads, changes and deletes their users and groups.
    #[must_use]
    pub fn provisioning(&self) -> Provisioning<'_> {
        Provisioning(&self.0)
    }

    /// The service for federation: logs people in by identity providers, and links their accounts.
    #[must_use]
    pub fn federation(&self) -> Federation<'_> {
        Federation(&self.0)
    }

    /// The service for identity providers: makes, reads, changes and removes them.
    #[must_use]
    pub fn identity_providers(&self) -> IdentityProviders<'_> {
        IdentityProviders(&self.0)
    }

    /// The service for the verification of e-mail addresses: sends links, and changes addresses.
    #[must_use]
    pub fn verification(&self) -> Verification<'_> {
        Verification(&self.0)
    }

    /// The service for recovery: sends links with which users choose a new password.
    #[must_use]
    pub fn recovery(&self) -> Recovery<'_> {
        Recovery(&self.0)
    }

    /// The service for logins by e-mail: sends links and codes with which users log in.
    #[must_use]
    pub fn email_logins(&self) -> EmailLogins<'_> {
        EmailLogins(&self.0)
    }

    /// The service for invitations: invites people, and makes them users.
    #[must_use]
    pub fn invitations(&self) -> Invitations<'_> {
        Invitations(&self.0)
    }

    /// The service for sessions: begins, refreshes, lists and ends them.
    #[must_use]
    pub fn sessions(&self) -> Sessions<'_> {
        Sessions(&self.0)
    }

    /// The service for permissions: registers, reads and removes them.
    #[must_use]
    pub fn permissions(&self) -> Permissions<'_> {
        Permissions(&self.0)
    }

    /// The service for roles: creates, reads, changes and deletes them.
    #[must_use]
    pub fn roles(&self) -> Roles<'_> {
        Roles(&self.0)
    }

    /// The service for organizations: creates, reads, changes, moves and deletes them.
    #[must_use]
    pub fn organizations(&self) -> Organizations<'_> {
        Organizations(&self.0)
    }

    /// The service for access checks: answers whether a user has a permission.
    #[must_use]
    pub fn access(&self) -> Access<'_> {
        Access(&self.0)
    }

    /// The service for AuthZEN: evaluates and searches as its Authorization API 1.0 says.
    #[must_use]
    pub fn authzen(&self) -> Authzen<'_> {
        Authzen(&self.0)
    }

    /// The service for manifests: makes a tenant what one document says, and writes that document.
    #[must_use]
    pub fn manifests(&self) -> Manifests<'_> {
        Manifests(&self.0)
    }

    /// The service for role assignments: gives roles to users and takes them away.
    #[must_use]
    pub fn assignments(&self) -> Assignments<'_> {
        Assignments(&self.0)
    }

    /// The service for access reviews: begins, decides, completes and cancels them.
    #[must_use]
    pub fn access_reviews(&self) -> AccessReviews<'_> {
        AccessReviews(&self.0)
    }

    /// The service for eligibilities: lets users ask for roles for a time.
    #[must_use]
    pub fn eligibilities(&self) -> Eligibilities<'_> {
        Eligibilities(&self.0)
    }

    /// The service for access requests: asks for roles for a time, decides, and ends what was given.
    #[must_use]
    pub fn access_requests(&self) -> AccessRequests<'_> {
        AccessRequests(&self.0)
    }

    /// The service for legal holds: places, reads and releases them.
    #[must_use]
    pub fn legal_holds(&self) -> LegalHolds<'_> {
        LegalHolds(&self.0)
    }

    /// The service for the audit log.
    #[must_use]
    pub fn audit(&self) -> Audit<'_> {
        Audit(&self.0)
    }

    /// Returns the number of passwords that wait to be hashed in this process.
    #[must_use]
    pub fn passwords_waiting(&self) -> usize {
        self.0.passwords.waiting()
    }

    /// Whether this installation sends mail. Without it, calls that need mail fail with
    /// [`Error::MailOff`](crate::Error::MailOff).
    #[must_use]
    pub fn sends_mail(&self) -> bool {
        self.0.mail.is_some()
    }

    /// Returns the settings of this `Iam`.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// Returns the present moment of its clock, cut to milliseconds.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.0.now()
    }

    /// Lets the store prepare for the near future, for instance for next month's entries of the audit log. Call it
    /// once a day or more often.
    ///
    /// # Errors
    ///
    /// The errors of the store.
    pub async fn prepare_store(&self) -> Result<(), StoreError> {
        self.0.store.prepare(self.0.now()).await
    }

    /// Computes something that takes longer than some milliseconds, for instance the text of a long answer, and waits
    /// for the result. It is computed beside the threads of the async runtime, so that other requests go on. A tenant
    /// uses at most half of the cores for such computations and long reads. If this future is dropped before the
    /// computation begins, it does not begin.
    ///
    /// ```
    #[doc = doctest_setup!()]
    /// let held = iam.assignments().of_user(&ada, ada.user().ok_or("she is a user")?).await?;
    /// let names = move || held.iter().map(|grant| grant.role.name.to_string()).collect::<Vec<_>>().join(", ");
    /// assert_eq!(iam.compute(&ada, names).await?, "TENANT_ADMIN");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Overloaded`](iam_model::error::Error::Overloaded) if the tenant's turn does not come within five seconds;
    /// [`Error::Internal`](iam_model::error::Error::Internal) if the computation panics.
    pub async fn compute<T: Send + 'static>(
        &self,
        caller: &Caller,
        compute: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        self.0.compute(caller.tenant(), compute).await
    }

    /// Checks that the store answers.
    ///
    /// # Errors
    ///
    /// The errors of the store.
    pub async fn ping(&self) -> Result<(), StoreError> {
        self.0.store.ping().await
    }

    /// Whether there is no tenant yet.
    ///
    /// # Errors
    ///
    /// The errors of the store.
    pub async fn is_empty(&self) -> Result<bool, StoreError> {
        self.0.store.is_empty().await
    }

    /// Returns the kind of the store, as a word for people.
    #[must_use]
    pub fn store_kind(&self) -> &'static str {
        self.0.store.kind()
    }

    /// Ends every wait for [events](crate::audit::EventFeed), now and later, without an error. For a program that stops: a
    /// request that waits for events would hold up its end for as long as it waits.
    pub fn end_feeds(&self) {
        self.0.event_streams.end();
    }

    /// Closes the store: waits until its resources are unused, and releases them.
    pub async fn close(&self) {
        self.0.store.close().await;
    }

    /// Whether every migration that this program knows has run.
    ///
    /// # Errors
    ///
    /// The errors of the store.
    pub async fn is_migrated(&self) -> Result<bool, StoreError> {
        self.0.store.is_migrated().await
    }
}
