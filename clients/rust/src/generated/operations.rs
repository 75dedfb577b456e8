// Written by scripts/rust-client from docs/openapi.json. Change neither by hand.

//! The operations.

use reqwest::Method;
use uuid::Uuid;

use super::models::*;
use super::queries::*;
use crate::call::{Call, Request};
use crate::client::Client;
use crate::export::Lines;
use crate::page::{Collection, List};

impl Client {
    /// Get the configuration of AuthZEN.
    ///
    /// The metadata of this policy decision point (AuthZEN Authorization API 1.0, section 9). It does not exist if the
    /// operator has set no public URL.
    ///
    /// `GET /.well-known/authzen-configuration`.
    pub fn get_authzen_configuration(&self) -> Request<AuthzenConfiguration> {
        self.send(Call::new(Method::GET, "/.well-known/authzen-configuration").at_root().public())
    }

    /// List access requests.
    ///
    /// Newest first: those of the caller, those about which it may decide, and those in the places in which it holds
    /// `access-requests:read`.
    ///
    /// `GET /access-requests`. Needs a session.
    pub fn list_access_requests(&self, query: &ListAccessRequests) -> Request<Collection<ListedAccessRequest>> {
        self.send(Call::new(Method::GET, "/access-requests").query(query))
    }

    /// Ask for a role.
    ///
    /// The caller asks by one of its eligibilities, in a session that has authenticated within the last ten minutes. No API
    /// key can do it. Those who decide are told by mail. Without approvals, the user holds the role at once, or from the
    /// wanted start. A user has one open request by each eligibility, and at most 20.
    ///
    /// The preview shows what the caller would gain, as if all approvals were there.
    ///
    /// `POST /access-requests`. Needs a session.
    pub fn create_access_request(&self, body: &NewAccessRequest) -> Request<AccessRequest> {
        self.send(Call::new(Method::POST, "/access-requests").keyed().json(body))
    }

    /// Shows what [`Self::create_access_request`] would do, and changes nothing.
    pub fn preview_create_access_request(&self, body: &NewAccessRequest) -> Request<Preview> {
        self.send(Call::new(Method::POST, "/access-requests").keyed().json(body).preview())
    }

    /// Get an access request.
    ///
    /// The caller asks itself, may decide about it, or holds `access-requests:read` in its place.
    ///
    /// The entity tag changes with the permissions of the role, too.
    ///
    /// `GET /access-requests/{id}`. Needs a session.
    pub fn get_access_request(&self, id: Uuid) -> Request<ListedAccessRequest> {
        self.send(Call::new(Method::GET, format!("/access-requests/{id}")))
    }

    /// Approve an access request.
    ///
    /// With the last approval that it needs, the user holds the role at once, or from the wanted start. If the eligibility
    /// has named an approver role, the caller needs this role in the place of the request or above, and not the permission.
    /// The session must have authenticated within the last ten minutes, and not by a message to the user, also not together
    /// with a second factor. What the caller holds by an access request does not count, and no caller decides about its own
    /// request.
    ///
    /// If the eligibility was removed or narrowed, or the user is not eligible any more, the response is 409, and the
    /// request is CANCELLED. `If-Match` refuses a decision about a role whose permissions have changed since they were read.
    ///
    /// `POST /access-requests/{id}/approve`. Needs `access-requests:update`.
    pub fn approve_access_request(&self, id: Uuid, body: &NewAccessDecision) -> Request<ListedAccessRequest> {
        self.send(Call::new(Method::POST, format!("/access-requests/{id}/approve")).json(body))
    }

    /// Cancel an access request.
    ///
    /// Takes back a request that is PENDING or APPROVED. The user who asks needs no permission. If another user cancels it,
    /// the user who asks is told by mail.
    ///
    /// `POST /access-requests/{id}/cancel`. Needs `access-requests:update`.
    pub fn cancel_access_request(&self, id: Uuid, body: &AccessRequestClosing) -> Request<ListedAccessRequest> {
        self.send(Call::new(Method::POST, format!("/access-requests/{id}/cancel")).json(body))
    }

    /// Deny an access request.
    ///
    /// One denial ends it. The caller needs what an approval needs.
    ///
    /// `POST /access-requests/{id}/deny`. Needs `access-requests:update`.
    pub fn deny_access_request(&self, id: Uuid, body: &NewAccessDecision) -> Request<ListedAccessRequest> {
        self.send(Call::new(Method::POST, format!("/access-requests/{id}/deny")).json(body))
    }

    /// End what an access request gives.
    ///
    /// The user loses the role before its time, and everything that was given by it is revoked. The user who holds it needs
    /// no permission. If another user ends it, the user who holds it is told by mail.
    ///
    /// `POST /access-requests/{id}/end`. Needs `role-assignments:delete`.
    pub fn end_access_request(&self, id: Uuid, body: &AccessRequestClosing) -> Request<ListedAccessRequest> {
        self.send(Call::new(Method::POST, format!("/access-requests/{id}/end")).json(body))
    }

    /// List access reviews.
    ///
    /// Newest first. If the caller holds the permission in organizations only, the list has only the reviews of these
    /// organizations and of those below them.
    ///
    /// `GET /access-reviews`. Needs `access-reviews:read`.
    pub fn list_access_reviews(&self, query: &ListAccessReviews) -> Request<Collection<AccessReview>> {
        self.send(Call::new(Method::GET, "/access-reviews").query(query))
    }

    /// Begin an access review.
    ///
    /// The role assignments and the eligibilities that have not expired, in the organization and below it or in the whole
    /// tenant, are frozen as the items of the review, at most 10,000. Then people decide about them, one by one. The caller
    /// needs `role-assignments:read` there, too.
    ///
    /// `POST /access-reviews`. Needs `access-reviews:create`.
    pub fn create_access_review(&self, body: &NewAccessReview) -> Request<AccessReview> {
        self.send(Call::new(Method::POST, "/access-reviews").keyed().json(body))
    }

    /// Get an access review.
    ///
    /// Shows what it is about, its status, and how many of its items are decided.
    ///
    /// `GET /access-reviews/{id}`. Needs `access-reviews:read`.
    pub fn get_access_review(&self, id: Uuid) -> Request<AccessReview> {
        self.send(Call::new(Method::GET, format!("/access-reviews/{id}")))
    }

    /// Cancel an access review.
    ///
    /// Nothing is revoked. The review and its decisions stay.
    ///
    /// `POST /access-reviews/{id}/cancel`. Needs `access-reviews:update`.
    pub fn cancel_access_review(&self, id: Uuid) -> Request<AccessReview> {
        self.send(Call::new(Method::POST, format!("/access-reviews/{id}/cancel")))
    }

    /// Complete an access review.
    ///
    /// Every item must be decided. All assignments that are to be revoked are revoked, and all such eligibilities removed, or
    /// none: if one cannot be revoked, `errors` names its item. Those that have ended meanwhile are skipped. The caller needs
    /// `role-assignments:delete` for each assignment and `eligibilities:delete` for each eligibility, too.
    ///
    /// `POST /access-reviews/{id}/complete`. Needs `access-reviews:update`.
    pub fn complete_access_review(&self, id: Uuid) -> Request<AccessReview> {
        self.send(Call::new(Method::POST, format!("/access-reviews/{id}/complete")))
    }

    /// List the items of an access review.
    ///
    /// By their identifiers. If `Accept` prefers `text/csv`, the response has all items that pass the filter,
    /// and no pages.
    ///
    /// CSV follows RFC 4180, in UTF-8 with a byte order mark and a header line. A null value is an empty cell; `user` is the
    /// e-mail, or the name of a service account. A cell that starts with one of `= + - @`, a tab, a carriage return, a line
    /// feed or an apostrophe gets an apostrophe in front, so that no spreadsheet takes it for a formula.
    ///
    /// `GET /access-reviews/{id}/items`. Needs `access-reviews:read`.
    pub fn list_access_review_items(
        &self,
        id: Uuid,
        query: &ListAccessReviewItems,
    ) -> Request<Collection<AccessReviewItem>> {
        self.send(Call::new(Method::GET, format!("/access-reviews/{id}/items")).query(query))
    }

    /// Decide about an item of an access review.
    ///
    /// The decision replaces an earlier one. It has no effect before the review is completed, and can be changed until then.
    /// A user cannot decide about its own roles, nor about those for which it may ask.
    ///
    /// `PATCH /access-reviews/{id}/items/{itemId}`. Needs `access-reviews:update`.
    pub fn decide_access_review_item(
        &self,
        id: Uuid,
        item_id: Uuid,
        body: &NewAccessReviewDecision,
    ) -> Request<AccessReviewItem> {
        self.send(Call::new(Method::PATCH, format!("/access-reviews/{id}/items/{item_id}")).json(body))
    }

    /// Evaluate access.
    ///
    /// Tells whether a subject may do something with a resource, and why (AuthZEN Authorization API 1.0, section 6). A user
    /// in a session needs no permission for questions about itself.
    ///
    /// `POST /access/v1/evaluation`. Needs `role-assignments:read`.
    pub fn evaluate(&self, body: &AuthzenEvaluation) -> Request<AuthzenDecision> {
        self.send(Call::new(Method::POST, "/access/v1/evaluation").reads().json(body))
    }

    /// Evaluate access several times.
    ///
    /// Answers up to 100 questions, in order (AuthZEN Authorization API 1.0, section 7). A user in a session needs no
    /// permission for questions about itself.
    ///
    /// `POST /access/v1/evaluations`. Needs `role-assignments:read`.
    pub fn evaluate_all(&self, body: &AuthzenEvaluations) -> Request<AuthzenAnswer> {
        self.send(Call::new(Method::POST, "/access/v1/evaluations").reads().json(body))
    }

    /// Search actions.
    ///
    /// Returns what a subject may do with a resource: the registered actions of its type (AuthZEN Authorization API 1.0,
    /// section 8.6). A user in a session needs no permission for questions about itself.
    ///
    /// `POST /access/v1/search/action`. Needs `role-assignments:read`.
    pub fn search_actions(&self, body: &AuthzenActionSearch) -> Request<AuthzenResultsAuthzenFoundAction> {
        self.send(Call::new(Method::POST, "/access/v1/search/action").reads().json(body))
    }

    /// Search resources.
    ///
    /// Returns the organizations with which a subject may do something (AuthZEN Authorization API 1.0, section 8.5). A user
    /// in a session needs no permission for questions about itself.
    ///
    /// `POST /access/v1/search/resource`. Needs `role-assignments:read`.
    pub fn search_resources(&self, body: &AuthzenResourceSearch) -> Request<AuthzenResultsAuthzenEntity> {
        self.send(Call::new(Method::POST, "/access/v1/search/resource").reads().json(body))
    }

    /// Search subjects.
    ///
    /// Returns those who may do something with a resource (AuthZEN Authorization API 1.0, section 8.4).
    ///
    /// `POST /access/v1/search/subject`. Needs `role-assignments:read`.
    pub fn search_subjects(&self, body: &AuthzenSubjectSearch) -> Request<AuthzenResultsAuthzenEntity> {
        self.send(Call::new(Method::POST, "/access/v1/search/subject").reads().json(body))
    }

    /// Get an API key.
    ///
    /// A user can always read its own keys in a session. To read that of another user, the caller needs the permission.
    ///
    /// `GET /api-keys/{id}`. Needs `api-keys:read`.
    pub fn get_api_key(&self, id: Uuid) -> Request<ApiKey> {
        self.send(Call::new(Method::GET, format!("/api-keys/{id}")))
    }

    /// Revoke an API key.
    ///
    /// The key is refused at once by the replica that revokes it, and within a second by all others. A user revokes its own
    /// keys in a session that has authenticated within the last ten minutes. To revoke that of another user, the caller
    /// needs the permission.
    ///
    /// `DELETE /api-keys/{id}`. Needs `api-keys:delete`.
    pub fn delete_api_key(&self, id: Uuid) -> Request<()> {
        self.send(Call::new(Method::DELETE, format!("/api-keys/{id}")))
    }

    /// Change an API key.
    ///
    /// A key can get another name, fewer permissions and an earlier expiry. A user changes its own keys in a session that
    /// has authenticated within the last ten minutes. To change that of another user, the caller needs the permission, and
    /// must hold the permissions that the key then has, there and as long as it lasts.
    ///
    /// `PATCH /api-keys/{id}`. Needs `api-keys:update`.
    pub fn update_api_key(&self, id: Uuid, body: &ApiKeyPatch) -> Request<ApiKey> {
        self.send(Call::new(Method::PATCH, format!("/api-keys/{id}")).json(body))
    }

    /// Rotate an API key.
    ///
    /// The key gets a new secret and keeps its id. The response has the new text of the key, which is never shown again.
    /// The former one is accepted for some time, if the request says so. The session must have authenticated within the last
    /// ten minutes. To rotate the key of another user, the caller needs the permission, and must hold the permissions of the
    /// key, there and as long as it lasts.
    ///
    /// `POST /api-keys/{id}/rotate`. Needs `api-keys:update`.
    pub fn rotate_api_key(&self, id: Uuid, body: &ApiKeyRotation) -> Request<IssuedApiKey> {
        self.send(Call::new(Method::POST, format!("/api-keys/{id}/rotate")).keyed().json(body))
    }

    /// List audit entries.
    ///
    /// Returns a page of entries, newest first. To get the next page, send the `nextCursor` of this page as `cursor`.
    ///
    /// `GET /audit-logs`. Needs `audit-logs:read`.
    pub fn list_audit_logs(&self, query: &ListAuditLogs) -> Request<AuditLog> {
        self.send(Call::new(Method::GET, "/audit-logs").query(query))
    }

    /// Record an event.
    ///
    /// Records an event of an application, in addition to the entries that the service itself records. The service's own
    /// entries cannot be forged: its actions on its own resource types, as the catalogue lists them, are refused (400).
    /// On any resource type, LOGIN, LOGOUT, LOGIN_FAILURE, TOKEN_REFRESH, PASSWORD_CHANGE, ROLE_ASSIGNED, ROLE_REVOKED,
    /// USER_SUSPENDED, USER_REACTIVATED, SUSPEND, REACTIVATE and ERASE are refused, too.
    ///
    /// `POST /audit-logs`. Needs `audit-logs:create`.
    pub fn create_audit_log(&self, body: &NewAuditEvent) -> Request<AuditEntry> {
        self.send(Call::new(Method::POST, "/audit-logs").keyed().json(body))
    }

    /// List the actions.
    ///
    /// Returns the commonest actions. `GET /audit-logs/catalogue` lists all of them.
    ///
    /// `GET /audit-logs/actions`. Needs `audit-logs:read`.
    pub fn list_audit_actions(&self) -> Request<Vec<String>> {
        self.send(Call::new(Method::GET, "/audit-logs/actions"))
    }

    /// List all that the service records.
    ///
    /// Returns all resource types, each with its actions. The names are those that are stored, and that the filters of
    /// the list accept.
    ///
    /// `GET /audit-logs/catalogue`. Needs `audit-logs:read`.
    pub fn list_audit_catalogue(&self) -> Request<List<Recorded>> {
        self.send(Call::new(Method::GET, "/audit-logs/catalogue"))
    }

    /// Get the present checkpoint.
    ///
    /// Every entry becomes a leaf of the tenant's Merkle tree (RFC 6962 §2.1) within about a second. The checkpoint gives
    /// the number of leaves and the root hash of the tree. It is a note with an Ed25519 signature
    /// (<https://c2sp.org/signed-note>) and three lines of text (<https://c2sp.org/tlog-checkpoint>): the origin, the
    /// size, and the root hash in base64. The key's name is the origin. With `Accept: text/plain`, the response is the
    /// note alone.
    ///
    /// Keep checkpoints in a place where a person who can change the database cannot change them. Then you can find out
    /// later whether an entry under a checkpoint was changed, removed, inserted or moved: check the proof of the entry,
    /// and the consistency proof from that checkpoint to the present one. Entries that are newer than the newest
    /// checkpoint that you keep are not protected.
    ///
    /// `GET /audit-logs/checkpoint`. Needs `audit-logs:read`.
    pub fn get_audit_checkpoint(&self) -> Request<AuditCheckpoint> {
        self.send(Call::new(Method::GET, "/audit-logs/checkpoint"))
    }

    /// Prove that the log only grew.
    ///
    /// Proves that the tree of the first `to` entries starts with the tree of the first `from` entries: no entry under
    /// the older checkpoint was changed, removed, inserted or moved. `hashes` is the proof of RFC 6962 §2.1.2. It is
    /// empty in two cases:
    ///
    /// - `from` is 0: every log continues the empty log.
    /// - `from` equals `to`: the two root hashes must be equal.
    ///
    /// Check any other proof in these steps, which RFC 9162 §2.1.4.2 also describes. node(*left*, *right*) is as in the
    /// proof of an entry. All halves are rounded down.
    ///
    /// 1. If `from` is a power of two, put the older root hash in front of `hashes`.
    /// 2. Begin with *a* = *b* = the first hash, *i* = `from` − 1 and *n* = `to` − 1. While *i* is odd, halve *i* and
    ///    *n*.
    /// 3. For each further hash *h*:
    ///
    ///    - Check that *n* is not 0.
    ///    - If *i* is odd or *i* = *n*, set *a* = node(*h*, *a*) and *b* = node(*h*, *b*); then, while *i* is even and
    ///      not 0, halve *i* and *n*.
    ///    - Otherwise set *b* = node(*b*, *h*).
    ///    - In both cases, halve *i* and *n* now.
    /// 4. In the end, *n* must be 0, *a* must be the older root hash, and *b* the newer one.
    ///
    /// `GET /audit-logs/consistency-proof`. Needs `audit-logs:read`.
    pub fn prove_audit_consistency(&self, query: &ProveAuditConsistency) -> Request<AuditConsistencyProof> {
        self.send(Call::new(Method::GET, "/audit-logs/consistency-proof").query(query))
    }

    /// Erase a person from the audit log.
    ///
    /// Makes the personal fields of one INACTIVE user (e-mail, names, address, …) unreadable for good: `[ERASED]`
    /// replaces them. This applies to every entry about that user, and to every other entry that contains the user's
    /// e-mail or full name and is not about another user. Entries of what the user did lose the client's address and user
    /// agent. The erasure is recorded as ERASE on the user. Every proof still holds; only the openings of the erased
    /// values are gone.
    ///
    /// The user record itself stays as it is: change the fields that the tenant should not know any more. If the user is
    /// not INACTIVE, the response is a conflict (409). Callers cannot erase their own entries (403). A repeated erasure
    /// finds nothing and records nothing. The session must have authenticated within the last ten minutes; an API key cannot
    /// do this.
    ///
    /// `POST /audit-logs/erasures`. Needs `audit-logs:delete`.
    pub fn erase_from_audit_logs(&self, body: &NewErasure) -> Request<Erasure> {
        self.send(Call::new(Method::POST, "/audit-logs/erasures").json(body))
    }

    /// Export audit entries.
    ///
    /// Returns all entries that pass the filter, newest first, in any number. The response is a stream of lines:
    /// `application/x-ndjson`, or `text/csv` if `Accept` prefers it. The last field of every line is `cursor`. To
    /// continue after a line, for instance when a transfer broke off, send its `cursor` with the same filter.
    ///
    /// The service checks the caller's permission repeatedly during the export. Entries that are recorded during the
    /// export do not appear in it. An export that fails breaks off the transfer, without the end that chunked transfer
    /// coding requires. Every export is recorded before its first byte, as READ on AUDIT_LOG with its filter. This entry
    /// may be the first line of the export.
    ///
    /// NDJSON has one entry in each line, as the list shows it. With `format=ocsf`, each line is an event of the Open
    /// Cybersecurity Schema Framework 1.6.0 instead, without regard to `Accept`. Its `unmapped` is the line of NDJSON, with the
    /// `cursor`.
    ///
    /// CSV follows RFC 4180, in UTF-8 with a byte order mark, and has a header line. The columns are the same fields in the same order. `oldValue`,
    /// `newValue` and `metadata` are JSON texts. A null value is an empty cell. A cell that starts with one of `= + - @`,
    /// a tab, a carriage return, a line feed or an apostrophe gets an apostrophe in front, so that no spreadsheet takes
    /// it for a formula. To restore the text, remove one apostrophe from every cell that starts with one. The `cursor`
    /// never gets an apostrophe.
    ///
    /// `GET /audit-logs/export`. Needs `audit-logs:read`.
    pub fn export_audit_logs(&self, query: &ExportAuditLogs) -> Request<Lines<ExportedAuditEntry>> {
        self.send(Call::new(Method::GET, "/audit-logs/export").query(query))
    }

    /// List the resource types.
    ///
    /// Returns the resource types of the commonest entries. `GET /audit-logs/catalogue` lists all of them.
    ///
    /// `GET /audit-logs/resource-types`. Needs `audit-logs:read`.
    pub fn list_audit_resource_types(&self) -> Request<Vec<String>> {
        self.send(Call::new(Method::GET, "/audit-logs/resource-types"))
    }

    /// Get the retention.
    ///
    /// Returns how many days the tenant keeps its entries.
    ///
    /// `GET /audit-logs/retention`. Needs `audit-logs:read`.
    pub fn get_audit_retention(&self) -> Request<AuditRetention> {
        self.send(Call::new(Method::GET, "/audit-logs/retention"))
    }

    /// Set the retention.
    ///
    /// This removes no entries. A retention that is longer than the one in force takes effect at once. A shorter one
    /// takes effect after 30 days, and is `pending` until then. The operator sets the minimum. A change is recorded as
    /// UPDATE on AUDIT_LOG. The session must have authenticated within the last ten minutes; an API key cannot do this.
    ///
    /// `PUT /audit-logs/retention`. Needs `audit-logs:update`.
    pub fn set_audit_retention(&self, body: &NewAuditRetention) -> Request<AuditRetention> {
        self.send(Call::new(Method::PUT, "/audit-logs/retention").json(body))
    }

    /// Apply the retention.
    ///
    /// Removes the entries that are older than the retention, in the order of their sequence numbers. Pending entries,
    /// which have no sequence number yet, are not removed. The removal is recorded as DELETE on AUDIT_LOG, with the
    /// sequence number up to which the entries are removed (`metadata.until`). The leaves of these entries stay in the
    /// tree, so that all other entries can still be proven. If there is nothing to remove, nothing is recorded. The session
    /// must have authenticated within the last ten minutes; an API key cannot do this.
    ///
    /// `POST /audit-logs/retention/apply`. Needs `audit-logs:delete`.
    pub fn apply_audit_retention(&self) -> Request<RemovedEntries> {
        self.send(Call::new(Method::POST, "/audit-logs/retention/apply"))
    }

    /// Get an audit entry.
    ///
    /// The entry shows the values before and after the change, without secrets.
    ///
    /// `GET /audit-logs/{id}`. Needs `audit-logs:read`.
    pub fn get_audit_log(&self, id: Uuid) -> Request<AuditEntry> {
        self.send(Call::new(Method::GET, format!("/audit-logs/{id}")))
    }

    /// Prove that an entry is in the log.
    ///
    /// To check the proof, you need SHA-256, base64 and a checkpoint of size `treeSize`:
    ///
    /// 1. Compute the digest of the entry: SHA-256 of the bytes of `statement`.
    /// 2. Compute the leaf hash: SHA-256 of the byte 0x00, `leafIndex` as 8 bytes big-endian, and the digest.
    /// 3. Compute the root hash from the leaf hash and `hashes`, which lead from the leaf to the root as in RFC 6962
    ///    §2.1.1. RFC 9162 §2.1.3.2 describes the same steps. node(*left*, *right*), the hash of an inner node, is
    ///    SHA-256 of the byte 0x01, the left hash and the right hash. All halves are rounded down. Begin with *r* = the
    ///    leaf hash, *i* = `leafIndex` and *n* = `treeSize` − 1. For each hash *h* in `hashes`:
    ///
    ///    - Check that *n* is not 0.
    ///    - If *i* is odd or *i* = *n*, set *r* = node(*h*, *r*); then, while *i* is even and not 0, halve *i* and *n*.
    ///    - Otherwise set *r* = node(*r*, *h*).
    ///    - In both cases, halve *i* and *n* now.
    ///
    ///    In the end *n* must be 0, and *r* is the root hash.
    /// 4. Check that the root hash is the one in the checkpoint, and that the checkpoint is signed with the key of the
    ///    log.
    ///
    /// **The statement** is JSON without blanks, with sorted keys: `action`, `correlationId`, `createdAt`, `details`,
    /// `id`, `metadata`, `newValue`, `oldValue`, `organizationId`, `origin`, `resourceId`, `resourceType`, `tenantId`,
    /// `userId` and `version`. `details` and `origin` are commitments, `organizationId` is the value that the filter of
    /// that name compares, and `version` is 1. The other fields are as the entry shows them, except for withheld values.
    ///
    /// Two groups of values are withheld in the statement. Each group can be erased from the entry: then its opening is
    /// null, the entry shows `[ERASED]` or null in place of the values, and the statement and all its proofs stay the
    /// same.
    ///
    /// - `details` commits to the personal values: those of fields that are named `email`, `firstName`, `lastName`,
    ///   `fullName`, `displayName`, `phone`, `phoneNumber`, `address` or `ipAddress`, in any case and with any
    ///   underscores; in entries about a TENANT also those of `name` and `slug`; and in the old and new values of entries
    ///   about a FACTOR or an API_KEY also that of `name`. In the statement, `[PERSONAL]` replaces each of these values, at
    ///   any depth. The order of the values is `metadata`, `newValue`, `oldValue`, and
    ///   within each of them from start to end.
    /// - `origin` commits to the client's address and user agent, which are not in the statement.
    ///
    /// **A commitment** is SHA-256, in hexadecimal digits, of the 16 bytes of the opening's `salt`, followed by the
    /// canonical JSON array of its `values`. Canonical JSON has no blanks. The keys of objects are sorted by code points.
    /// Strings are escaped only where necessary, as in RFC 8785 §3.2.2.2. A number without fraction and exponent is
    /// written as it is. Any other number is written in scientific form, with the fewest digits that distinguish it from
    /// every other double: `1.5e-7`, `1e0`.
    ///
    /// If the entry is pending, which means that it has no leaf in the tree yet, the response is a 409: try again in a
    /// second. `treeSize` must be greater than `leafIndex`.
    ///
    /// `GET /audit-logs/{id}/proof`. Needs `audit-logs:read`.
    pub fn prove_audit_log(&self, id: Uuid, query: &ProveAuditLog) -> Request<AuditInclusionProof> {
        self.send(Call::new(Method::GET, format!("/audit-logs/{id}/proof")).query(query))
    }

    /// List one's own eligibilities.
    ///
    /// Returns the eligibilities by which the caller can ask now, newest first.
    ///
    /// `GET /auth/eligibilities`. Needs a session.
    pub fn list_own_eligibilities(&self) -> Request<List<ListedEligibility>> {
        self.send(Call::new(Method::GET, "/auth/eligibilities"))
    }

    /// Change the caller's own address.
    ///
    /// Sends a link to the new address. The caller keeps its address until that link is used; then the former address is
    /// told. The response is the same if another user has the new address. A wrong current password counts like a failed
    /// login.
    ///
    /// `POST /auth/email`. Needs a session.
    pub fn change_email(&self, body: &EmailChange) -> Request<()> {
        self.send(Call::new(Method::POST, "/auth/email").json(body))
    }

    /// Send a link and a code with which a person can log in.
    ///
    /// The response is the same whether or not an account has the address. A message goes to verified addresses only, in
    /// tenants whose `emailLogin` is `ON`. The link and the code work once, for 10 minutes, and only those of the newest
    /// message. At most three messages are sent to an address in an hour.
    ///
    /// `POST /auth/email-login`.
    pub fn start_email_login(&self, body: &EmailLogin) -> Request<StartedEmailLogin> {
        self.send(Call::new(Method::POST, "/auth/email-login").public().json(body))
    }

    /// Log in by e-mail.
    ///
    /// Takes the token of the link, or the flow with the code. Everything that does not log in is the same 400. A wrong
    /// code counts like a wrong password; the fifth one ends the message. If the user has a second factor, the response is
    /// 401 `second-factor-required` as for `POST /auth/login`. The session must authenticate again before it changes
    /// credentials.
    ///
    /// `POST /auth/email-login/finish`.
    pub fn finish_email_login(&self, body: &EmailLoginFinish) -> Request<LoggedIn> {
        self.send(Call::new(Method::POST, "/auth/email-login/finish").public().keeps_tokens().json(body))
    }

    /// Send a link that verifies the caller's address.
    ///
    /// The link works for 24 hours, and ends the one that was sent before. Nothing is sent if the address is verified
    /// already, or after three messages in an hour.
    ///
    /// `POST /auth/email/verification`. Needs a session.
    pub fn request_email_verification(&self) -> Request<()> {
        self.send(Call::new(Method::POST, "/auth/email/verification"))
    }

    /// Verify an address.
    ///
    /// Takes the token of a link that was sent to the address. If the link was sent to a new address, it replaces the
    /// former one. A token can be used once.
    ///
    /// `POST /auth/email/verify`.
    pub fn verify_email(&self, body: &EmailVerification) -> Request<()> {
        self.send(Call::new(Method::POST, "/auth/email/verify").public().json(body))
    }

    /// List the caller's second factors.
    ///
    /// Factors that are not confirmed are left out.
    ///
    /// `GET /auth/factors`. Needs a session.
    pub fn list_factors(&self) -> Request<Factors> {
        self.send(Call::new(Method::GET, "/auth/factors"))
    }

    /// Register a passkey.
    ///
    /// Takes what a browser answers to the options. If the user has no recovery codes, the response has some, once.
    ///
    /// `POST /auth/factors/passkeys`. Needs a session.
    pub fn add_passkey(&self, body: &NewPasskey) -> Request<RegisteredPasskey> {
        self.send(Call::new(Method::POST, "/auth/factors/passkeys").keyed().json(body))
    }

    /// Get the options to register a passkey.
    ///
    /// The options work once, for five minutes.
    ///
    /// `POST /auth/factors/passkeys/options`. Needs a session.
    pub fn get_passkey_registration_options(&self) -> Request<PasskeyOptions> {
        self.send(Call::new(Method::POST, "/auth/factors/passkeys/options"))
    }

    /// Get new recovery codes.
    ///
    /// The new set ends the former one.
    ///
    /// `POST /auth/factors/recovery-codes`. Needs a session.
    pub fn issue_recovery_codes(&self) -> Request<RecoveryCodes> {
        self.send(Call::new(Method::POST, "/auth/factors/recovery-codes").keyed())
    }

    /// Set up an authenticator app.
    ///
    /// The app proves nothing until its first code is confirmed. It replaces an app that was not confirmed.
    ///
    /// `POST /auth/factors/totp`. Needs a session.
    pub fn add_totp(&self, body: &NewFactor) -> Request<TotpSetup> {
        self.send(Call::new(Method::POST, "/auth/factors/totp").keyed().json(body))
    }

    /// Confirm an authenticator app.
    ///
    /// Takes the present code of the app. If the user has no recovery codes, the response has some, once.
    ///
    /// `POST /auth/factors/totp/{id}/confirm`. Needs a session.
    pub fn confirm_totp(&self, id: Uuid, body: &TotpConfirmation) -> Request<ConfirmedFactor> {
        self.send(Call::new(Method::POST, format!("/auth/factors/totp/{id}/confirm")).keyed().json(body))
    }

    /// Remove a factor.
    ///
    /// The recovery codes end with the last factor. Where the tenant requires a factor, the last one cannot be removed.
    ///
    /// `DELETE /auth/factors/{id}`. Needs a session.
    pub fn delete_factor(&self, id: Uuid) -> Request<()> {
        self.send(Call::new(Method::DELETE, format!("/auth/factors/{id}")))
    }

    /// Rename a factor.
    ///
    /// The other members of a factor cannot be changed.
    ///
    /// `PATCH /auth/factors/{id}`. Needs a session.
    pub fn update_factor(&self, id: Uuid, body: &FactorPatch) -> Request<Factor> {
        self.send(Call::new(Method::PATCH, format!("/auth/factors/{id}")).json(body))
    }

    /// Find the providers for an address.
    ///
    /// By the domain of the address alone: the answer says nothing about a person.
    ///
    /// `POST /auth/federation/discover`.
    pub fn discover_federation(&self, body: &Discovery) -> Request<Discovered> {
        self.send(Call::new(Method::POST, "/auth/federation/discover").public().reads().json(body))
    }

    /// Finish a login by a provider.
    ///
    /// The code works once, for a minute; a wrong verifier spends it. If the user has a second factor, the response is 401
    /// `second-factor-required` as for `POST /auth/login`. For a link or a step-up, which the same session has begun, the
    /// response is 204.
    ///
    /// `POST /auth/federation/finish`.
    pub fn finish_federation(&self, body: &FederationFinish) -> Request<Option<LoggedIn>> {
        self.send(Call::new(Method::POST, "/auth/federation/finish").public().keeps_tokens().json(body))
    }

    /// List the providers of a tenant.
    ///
    /// Those by which people log in, by name. A tenant that does not exist has none.
    ///
    /// `GET /auth/federation/providers`.
    pub fn list_federation_providers(&self, query: &ListFederationProviders) -> Request<List<ProviderSummary>> {
        self.send(Call::new(Method::GET, "/auth/federation/providers").public().query(query))
    }

    /// Begin a login by a provider.
    ///
    /// The browser goes to `authorizationUrl`, and comes back to `redirectUri` with `code` or with `error`: `access_denied`,
    /// `login_failed`, `not_linked` or `unavailable`. The code challenge binds the result to this client. With `stepUp`, the
    /// caller's session authenticates again: it finishes by `POST /auth/federation/finish`, which then answers 204.
    ///
    /// `POST /auth/federation/start`.
    pub fn start_federation(&self, body: &FederationStart) -> Request<StartedFederation> {
        self.send(Call::new(Method::POST, "/auth/federation/start").public().json(body))
    }

    /// Begin to link an account at a provider.
    ///
    /// To the caller's own user. The session must have authenticated within the last ten minutes, and finishes by
    /// `POST /auth/federation/finish`.
    ///
    /// `POST /auth/identities/start`. Needs a session.
    pub fn start_identity(&self, body: &FederationStart) -> Request<StartedFederation> {
        self.send(Call::new(Method::POST, "/auth/identities/start").json(body))
    }

    /// Introspect a token.
    ///
    /// Tells a service that cannot verify tokens itself, or wants to know of ended sessions, what a token is (RFC 7662).
    /// The answer is `{"active": false}` for everything that is not a live access token or API key of the caller's tenant,
    /// a refresh token too. The caller needs the permission in the whole tenant.
    ///
    /// `POST /auth/introspect`. Needs `sessions:read`.
    pub fn introspect(&self, body: &IntrospectionRequest) -> Request<Introspection> {
        self.send(Call::new(Method::POST, "/auth/introspect").reads().json(body))
    }

    /// Log in.
    ///
    /// Without `tenant`, the e-mail and the password decide. If they fit users of several tenants, the response is 409 and
    /// lists these tenants. If the user has a second factor, the response is 401 `second-factor-required` with a challenge,
    /// which `POST /auth/login/second-factor` takes. Too many failed attempts lock the account for a while.
    ///
    /// `POST /auth/login`.
    pub fn login(&self, body: &Login) -> Request<LoggedIn> {
        self.send(Call::new(Method::POST, "/auth/login").public().keeps_tokens().json(body))
    }

    /// Finish a login by a second factor.
    ///
    /// Takes the challenge of the 401 `second-factor-required` that the login has answered. A wrong proof counts like a
    /// wrong password. A challenge can be answered once, for five minutes, and ends with the fifth wrong proof.
    ///
    /// `POST /auth/login/second-factor`.
    pub fn finish_login(&self, body: &SecondFactor) -> Request<LoggedIn> {
        self.send(Call::new(Method::POST, "/auth/login/second-factor").public().keeps_tokens().json(body))
    }

    /// Get the options to finish a login by a passkey.
    ///
    /// Takes the challenge of the 401 `second-factor-required`. Newer options end the older ones.
    ///
    /// `POST /auth/login/second-factor/options`.
    pub fn get_second_factor_options(&self, body: &LoginChallenge) -> Request<PasskeyOptions> {
        self.send(Call::new(Method::POST, "/auth/login/second-factor/options").public().json(body))
    }

    /// Log out.
    ///
    /// Ends the session of this request. Its access token stops working within a second.
    ///
    /// `POST /auth/logout`. Needs a session.
    pub fn logout(&self) -> Request<()> {
        self.send(Call::new(Method::POST, "/auth/logout").forgets_tokens())
    }

    /// Log out everywhere.
    ///
    /// Ends all sessions of the caller. The session must have authenticated within the last ten minutes.
    ///
    /// `POST /auth/logout-all`. Needs a session.
    pub fn logout_all(&self) -> Request<()> {
        self.send(Call::new(Method::POST, "/auth/logout-all").forgets_tokens())
    }

    /// Get the caller.
    ///
    /// Returns the caller's user, tenant, and session or API key, with its current roles and permissions. For an API key,
    /// these are what the key may do.
    ///
    /// `GET /auth/me`. Needs a session.
    pub fn get_me(&self) -> Request<Me> {
        self.send(Call::new(Method::GET, "/auth/me"))
    }

    /// Change the caller.
    ///
    /// Changes attributes that the tenant lets persons change themselves. The user and its version change as by
    /// `PATCH /users/{id}`, and `If-Match` is compared with the tag of the user. An API key of the user cannot do it.
    ///
    /// `PATCH /auth/me`. Needs a session.
    pub fn update_me(&self, body: &MePatch) -> Request<OwnAttributes> {
        self.send(Call::new(Method::PATCH, "/auth/me").json(body))
    }

    /// Log in by a passkey.
    ///
    /// Takes what a browser answers to the options. The passkey verifies its user, so it counts as two factors. The lock
    /// that wrong passwords cause does not refuse it.
    ///
    /// `POST /auth/passkeys/login`.
    pub fn log_in_by_passkey(&self, body: &PasskeyLogin) -> Request<LoggedIn> {
        self.send(Call::new(Method::POST, "/auth/passkeys/login").public().keeps_tokens().json(body))
    }

    /// Get the options to log in by a passkey.
    ///
    /// No name is needed: the passkey tells who the user is. The options work once, for five minutes.
    ///
    /// `POST /auth/passkeys/options`.
    pub fn get_passkey_options(&self, body: &PasskeyLoginOptions) -> Request<PasskeyOptions> {
        self.send(Call::new(Method::POST, "/auth/passkeys/options").public().json(body))
    }

    /// Change the caller's own password.
    ///
    /// Ends the caller's other sessions. A wrong current password counts like a failed login.
    ///
    /// `POST /auth/password`. Needs a session.
    pub fn change_password(&self, body: &PasswordChange) -> Request<()> {
        self.send(Call::new(Method::POST, "/auth/password").json(body))
    }

    /// Send a link with which a password can be reset.
    ///
    /// The response is the same whether or not an account has the address. The link works for 30 minutes. At most three
    /// messages are sent to an address in an hour.
    ///
    /// `POST /auth/password/forgot`.
    pub fn forgot_password(&self, body: &ForgottenPassword) -> Request<()> {
        self.send(Call::new(Method::POST, "/auth/password/forgot").public().json(body))
    }

    /// Reset a password.
    ///
    /// Takes the token of a link. Ends all sessions and the lockout of the user, and verifies its address. Log in
    /// afterwards.
    ///
    /// `POST /auth/password/reset`.
    pub fn reset_password(&self, body: &PasswordReset) -> Request<()> {
        self.send(Call::new(Method::POST, "/auth/password/reset").public().json(body))
    }

    /// Register a tenant.
    ///
    /// Creates a tenant with its built-in roles, and its first user as TENANT_ADMIN. Logs that user in. A repeat under the
    /// same `Idempotency-Key` logs in again; if the user has a second factor by then, the response is 401
    /// `second-factor-required`.
    ///
    /// `POST /auth/register`.
    pub fn register(&self, body: &Registration) -> Request<Registered> {
        self.send(Call::new(Method::POST, "/auth/register").public().keyed().keeps_tokens().json(body))
    }

    /// Authenticate again.
    ///
    /// For operations that need a recent authentication. A user with a second factor authenticates by that; a password
    /// alone is 401. A wrong proof counts like a failed login.
    ///
    /// `POST /auth/step-up`. Needs a session.
    pub fn step_up(&self, body: &StepUp) -> Request<()> {
        self.send(Call::new(Method::POST, "/auth/step-up").json(body))
    }

    /// Get the options to authenticate again by a passkey.
    ///
    /// `POST /auth/step-up` takes the response of the browser.
    ///
    /// `POST /auth/step-up/options`. Needs a session.
    pub fn get_step_up_options(&self) -> Request<PasskeyOptions> {
        self.send(Call::new(Method::POST, "/auth/step-up/options"))
    }

    /// Check a permission.
    ///
    /// Tells whether the caller holds a permission, and why. A caller with `role-assignments:read` can also check another
    /// user.
    ///
    /// `POST /authz/check`. Needs a session.
    pub fn check(&self, body: &PermissionCheck) -> Request<Decision> {
        self.send(Call::new(Method::POST, "/authz/check").reads().json(body))
    }

    /// Check several permissions.
    ///
    /// Answers 1–100 questions, in order.
    ///
    /// `POST /authz/check/bulk`. Needs a session.
    pub fn check_all(&self, body: &PermissionChecks) -> Request<List<Decision>> {
        self.send(Call::new(Method::POST, "/authz/check/bulk").reads().json(body))
    }

    /// List who holds a permission.
    ///
    /// Returns the users for whom a check of the permission is positive, with the role assignments that grant it. The
    /// caller needs the permission in the organization, or tenant-wide if none is given.
    ///
    /// `GET /authz/who`. Needs `role-assignments:read`.
    pub fn list_permission_holders(&self, query: &ListPermissionHolders) -> Request<Collection<PermissionHolder>> {
        self.send(Call::new(Method::GET, "/authz/who").query(query))
    }

    /// List the directories.
    ///
    /// By name, with what each has sent last. A tenant has 10 directories at most.
    ///
    /// `GET /directories`. Needs `directories:read`.
    pub fn list_directories(&self) -> Request<List<Directory>> {
        self.send(Call::new(Method::GET, "/directories"))
    }

    /// Make a directory.
    ///
    /// A directory may do what its service account may do. With `adopt`, it takes over users of the tenant, so the caller then
    /// also needs `directories:update` and `users:update`. The provider that it names logs people in as its users, so to name
    /// one takes all permissions. Both take a session that has authenticated within the last ten minutes. A tenant has 10
    /// directories at most.
    ///
    /// `POST /directories`. Needs `directories:create`.
    pub fn create_directory(&self, body: &NewDirectory) -> Request<Directory> {
        self.send(Call::new(Method::POST, "/directories").keyed().json(body))
    }

    /// Get a directory.
    ///
    /// With what it has sent last.
    ///
    /// `GET /directories/{id}`. Needs `directories:read`.
    pub fn get_directory(&self, id: Uuid) -> Request<Directory> {
        self.send(Call::new(Method::GET, format!("/directories/{id}")))
    }

    /// Remove a directory.
    ///
    /// What it has said of its users is removed, and so are its groups with the roles that they give. Its service account
    /// and the users stay. To suspend the users, the caller also needs `users:update`, and everything that those who are
    /// ACTIVE may do.
    ///
    /// `DELETE /directories/{id}`. Needs `directories:delete`.
    pub fn delete_directory(&self, id: Uuid, query: &DeleteDirectory) -> Request<()> {
        self.send(Call::new(Method::DELETE, format!("/directories/{id}")).query(query))
    }

    /// Change a directory.
    ///
    /// Its service account stays the same. To let it adopt, the caller also needs `users:update`; to name another provider, all
    /// permissions. Both take a session that has authenticated within the last ten minutes.
    ///
    /// `PATCH /directories/{id}`. Needs `directories:update`.
    pub fn update_directory(&self, id: Uuid, body: &DirectoryPatch) -> Request<UpdatedDirectory> {
        self.send(Call::new(Method::PATCH, format!("/directories/{id}")).json(body))
    }

    /// List the groups of a directory.
    ///
    /// By name.
    ///
    /// `GET /directories/{id}/groups`. Needs `directories:read`.
    pub fn list_directory_groups(&self, id: Uuid, query: &ListDirectoryGroups) -> Request<Collection<DirectoryGroup>> {
        self.send(Call::new(Method::GET, format!("/directories/{id}/groups")).query(query))
    }

    /// Get a group of a directory.
    ///
    /// With the number of its members, and the roles that they hold by it.
    ///
    /// `GET /directories/{id}/groups/{groupId}`. Needs `directories:read`.
    pub fn get_directory_group(&self, id: Uuid, group_id: Uuid) -> Request<DirectoryGroup> {
        self.send(Call::new(Method::GET, format!("/directories/{id}/groups/{group_id}")))
    }

    /// Map a group of a directory to roles.
    ///
    /// The members of the group hold these roles as long as they are members. For each new one, the caller needs
    /// `role-assignments:create` in its organization, or tenant-wide if it has none. There, the caller and the service
    /// account of the directory must also hold all permissions of the role. At most 5,000 role assignments begin and end
    /// by one change.
    ///
    /// A role that can change what protects the tenant is given tenant-wide only in a session that has authenticated within
    /// the last ten minutes, and by no API key.
    ///
    /// `PUT /directories/{id}/groups/{groupId}/grants`. Needs `directories:update`.
    pub fn set_directory_group_grants(
        &self,
        id: Uuid,
        group_id: Uuid,
        body: &NewDirectoryGroupGrants,
    ) -> Request<DirectoryGroup> {
        self.send(Call::new(Method::PUT, format!("/directories/{id}/groups/{group_id}/grants")).json(body))
    }

    /// Shows what [`Self::set_directory_group_grants`] would do, and changes nothing.
    pub fn preview_set_directory_group_grants(
        &self,
        id: Uuid,
        group_id: Uuid,
        body: &NewDirectoryGroupGrants,
    ) -> Request<Preview> {
        self.send(Call::new(Method::PUT, format!("/directories/{id}/groups/{group_id}/grants")).json(body).preview())
    }

    /// List the domains.
    ///
    /// By name. A tenant has 50 domains at most.
    ///
    /// `GET /domains`. Needs `domains:read`.
    pub fn list_domains(&self) -> Request<List<Domain>> {
        self.send(Call::new(Method::GET, "/domains"))
    }

    /// Add a domain.
    ///
    /// It is PENDING, and has no effect until it is verified: publish the record in the DNS of the domain, then ask to verify
    /// it. A tenant has 50 domains at most.
    ///
    /// `POST /domains`. Needs `domains:create`.
    pub fn create_domain(&self, body: &NewDomain) -> Request<Domain> {
        self.send(Call::new(Method::POST, "/domains").keyed().json(body))
    }

    /// Get a domain.
    ///
    /// The answer has the record to publish.
    ///
    /// `GET /domains/{id}`. Needs `domains:read`.
    pub fn get_domain(&self, id: Uuid) -> Request<Domain> {
        self.send(Call::new(Method::GET, format!("/domains/{id}")))
    }

    /// Remove a domain.
    ///
    /// Another tenant can verify it at once. 409 while an identity provider names it.
    ///
    /// `DELETE /domains/{id}`. Needs `domains:delete`.
    pub fn delete_domain(&self, id: Uuid) -> Request<()> {
        self.send(Call::new(Method::DELETE, format!("/domains/{id}")))
    }

    /// Verify a domain.
    ///
    /// Looks for the record in the DNS. Without it, the answer is 409 and says what was found instead. A VERIFIED domain is
    /// checked again each day; without its record for seven days, it is PENDING again. A domain is VERIFIED in one tenant of
    /// the installation at a time.
    ///
    /// `POST /domains/{id}/verify`. Needs `domains:update`.
    pub fn verify_domain(&self, id: Uuid) -> Request<Domain> {
        self.send(Call::new(Method::POST, format!("/domains/{id}/verify")))
    }

    /// List eligibilities.
    ///
    /// Newest first, also expired ones. If the caller holds the permission in organizations only, the list has only the
    /// eligibilities in these organizations and in those below them.
    ///
    /// `GET /eligibilities`. Needs `eligibilities:read`.
    pub fn list_eligibilities(&self, query: &ListEligibilities) -> Request<Collection<ListedEligibility>> {
        self.send(Call::new(Method::GET, "/eligibilities").query(query))
    }

    /// Let users ask for a role.
    ///
    /// An eligibility names a user, or a role whose standing holders may ask, in the same place or above. The caller needs
    /// everything that the role permits, there and until the eligibility expires, as if it assigned the role. What the
    /// caller holds by an access request does not count. The session must have authenticated within the last ten minutes.
    /// No API key can do it.
    ///
    /// `POST /eligibilities`. Needs `eligibilities:create`.
    pub fn create_eligibility(&self, body: &NewEligibility) -> Request<Eligibility> {
        self.send(Call::new(Method::POST, "/eligibilities").keyed().json(body))
    }

    /// Get an eligibility.
    ///
    /// Also an expired one.
    ///
    /// `GET /eligibilities/{id}`. Needs `eligibilities:read`.
    pub fn get_eligibility(&self, id: Uuid) -> Request<ListedEligibility> {
        self.send(Call::new(Method::GET, format!("/eligibilities/{id}")))
    }

    /// Remove an eligibility.
    ///
    /// Requests that wait are cancelled when they are to be decided or to begin. What has begun goes on.
    ///
    /// `DELETE /eligibilities/{id}`. Needs `eligibilities:delete`.
    pub fn delete_eligibility(&self, id: Uuid) -> Request<()> {
        self.send(Call::new(Method::DELETE, format!("/eligibilities/{id}")))
    }

    /// Change an eligibility.
    ///
    /// A change that gives more is allowed as a new eligibility is: one for longer, with fewer approvals, or with other
    /// people who decide. Requests that wait and for which it is too narrow then are cancelled when they are to be decided
    /// or to begin. What has begun goes on.
    ///
    /// `PATCH /eligibilities/{id}`. Needs `eligibilities:update`.
    pub fn update_eligibility(&self, id: Uuid, body: &EligibilityPatch) -> Request<Eligibility> {
        self.send(Call::new(Method::PATCH, format!("/eligibilities/{id}")).json(body))
    }

    /// Get the service's health.
    ///
    /// Shows the name, the version, the environment and the time of the service.
    ///
    /// `GET /health`.
    pub fn get_health(&self) -> Request<Health> {
        self.send(Call::new(Method::GET, "/health").public())
    }

    /// Check whether the process is alive.
    ///
    /// Answers as long as the process can answer requests at all. It does not depend on the database.
    ///
    /// `GET /health/live`.
    pub fn get_liveness(&self) -> Request<Live> {
        self.send(Call::new(Method::GET, "/health/live").public())
    }

    /// Check whether the service is ready.
    ///
    /// Asks the database. Until it answers and every migration has run, the response is a 503 with the same `checks`.
    ///
    /// `GET /health/ready`.
    pub fn get_readiness(&self) -> Request<Ready> {
        self.send(Call::new(Method::GET, "/health/ready").public())
    }

    /// Remove an identity.
    ///
    /// A user can always remove its own in a session. For another user's, the caller needs everything that the user's roles
    /// permit. The session must have authenticated within the last ten minutes. The only way to log in stays: 409.
    ///
    /// `DELETE /identities/{id}`. Needs `users:update`.
    pub fn delete_identity(&self, id: Uuid) -> Request<()> {
        self.send(Call::new(Method::DELETE, format!("/identities/{id}")))
    }

    /// List the identity providers.
    ///
    /// By name. A tenant has 20 identity providers at most.
    ///
    /// `GET /identity-providers`. Needs `identity-providers:read`.
    pub fn list_identity_providers(&self) -> Request<List<IdentityProvider>> {
        self.send(Call::new(Method::GET, "/identity-providers"))
    }

    /// Make an identity provider.
    ///
    /// It speaks for everybody in its domains. So the caller also needs `*` tenant-wide, and a session that has
    /// authenticated within the last ten minutes. The discovery document of the issuer is read, and a provider that cannot
    /// be used is refused. A tenant has 20 identity providers at most.
    ///
    /// `POST /identity-providers`. Needs `identity-providers:create`.
    pub fn create_identity_provider(&self, body: &NewIdentityProvider) -> Request<IdentityProvider> {
        self.send(Call::new(Method::POST, "/identity-providers").keyed().json(body))
    }

    /// Get an identity provider.
    ///
    /// Its secret is not shown.
    ///
    /// `GET /identity-providers/{id}`. Needs `identity-providers:read`.
    pub fn get_identity_provider(&self, id: Uuid) -> Request<IdentityProvider> {
        self.send(Call::new(Method::GET, format!("/identity-providers/{id}")))
    }

    /// Remove an identity provider.
    ///
    /// The caller also needs `*` tenant-wide, and a session that has authenticated within the last ten minutes. Sessions go
    /// on.
    ///
    /// `DELETE /identity-providers/{id}`. Needs `identity-providers:delete`.
    pub fn delete_identity_provider(&self, id: Uuid) -> Request<()> {
        self.send(Call::new(Method::DELETE, format!("/identity-providers/{id}")))
    }

    /// Change an identity provider.
    ///
    /// To change more than the name, the caller also needs `*` tenant-wide, and a session that has authenticated within the
    /// last ten minutes. A new issuer is checked like that of a new provider.
    ///
    /// `PATCH /identity-providers/{id}`. Needs `identity-providers:update`.
    pub fn update_identity_provider(&self, id: Uuid, body: &IdentityProviderPatch) -> Request<IdentityProvider> {
        self.send(Call::new(Method::PATCH, format!("/identity-providers/{id}")).json(body))
    }

    /// List invitations.
    ///
    /// If the caller holds the permission in organizations only, the list has only the invitations whose roles are all in
    /// these organizations or below them.
    ///
    /// `GET /invitations`. Needs `invitations:read`.
    pub fn list_invitations(&self, query: &ListInvitations) -> Request<Collection<Invitation>> {
        self.send(Call::new(Method::GET, "/invitations").query(query))
    }

    /// Invite a person.
    ///
    /// Sends a link with which the person becomes a user with these roles; the link works for 7 days. The caller must also
    /// hold all permissions of the roles, where they apply and for as long. That is checked again when the person accepts.
    /// If the caller holds the permission in organizations only, the invitation needs at least one role, and all of them in
    /// these organizations or below.
    ///
    /// `POST /invitations`. Needs `invitations:create`.
    pub fn create_invitation(&self, body: &NewInvitation) -> Request<Invitation> {
        self.send(Call::new(Method::POST, "/invitations").keyed().json(body))
    }

    /// Accept an invitation.
    ///
    /// Creates the user with its roles and logs it in. Its address is verified. The response is 409 if the user who invited
    /// could not invite with these roles any more; then the token can still be used.
    ///
    /// `POST /invitations/accept`.
    pub fn accept_invitation(&self, body: &InvitationAcceptance) -> Request<Registered> {
        self.send(Call::new(Method::POST, "/invitations/accept").public().keyed().keeps_tokens().json(body))
    }

    /// Look up an invitation.
    ///
    /// Shows a page what it needs to ask for a password. The token can still be used afterwards.
    ///
    /// `POST /invitations/lookup`.
    pub fn look_up_invitation(&self, body: &InvitationToken) -> Request<InvitationDetails> {
        self.send(Call::new(Method::POST, "/invitations/lookup").public().reads().json(body))
    }

    /// Get an invitation.
    ///
    /// Shows the roles that are offered, the status, and until when the link in the last message works.
    ///
    /// `GET /invitations/{id}`. Needs `invitations:read`.
    pub fn get_invitation(&self, id: Uuid) -> Request<Invitation> {
        self.send(Call::new(Method::GET, format!("/invitations/{id}")))
    }

    /// Revoke an invitation.
    ///
    /// Its link stops working, and its record stays.
    ///
    /// `DELETE /invitations/{id}`. Needs `invitations:delete`.
    pub fn delete_invitation(&self, id: Uuid) -> Request<()> {
        self.send(Call::new(Method::DELETE, format!("/invitations/{id}")))
    }

    /// Send an invitation again.
    ///
    /// Sends a new link, which works for 7 days, and ends the one that was sent before. Nothing is sent after three
    /// messages in an hour.
    ///
    /// `POST /invitations/{id}/resend`. Needs `invitations:update`.
    pub fn resend_invitation(&self, id: Uuid) -> Request<()> {
        self.send(Call::new(Method::POST, format!("/invitations/{id}/resend")))
    }

    /// List legal holds.
    ///
    /// Newest first. Those that were released are in the audit log alone.
    ///
    /// `GET /legal-holds`. Needs `iam-legal-holds:read`.
    pub fn list_legal_holds(&self, query: &ListLegalHolds) -> Request<Collection<LegalHold>> {
        self.send(Call::new(Method::GET, "/legal-holds").query(query))
    }

    /// Place a legal hold.
    ///
    /// A hold on the tenant refuses the deletion of users and directories, the erasure of persons and the removal of old
    /// entries of the audit log. A hold on a user refuses the deletion and the erasure of that user, the deletion of any
    /// directory, and the removal of old entries: entries cannot be kept apart by person. The refused operations answer
    /// `legal-hold` (409). A user who is held can still be suspended. A tenant has 1,000 holds at most.
    ///
    /// `POST /legal-holds`. Needs `iam-legal-holds:create`.
    pub fn create_legal_hold(&self, body: &NewLegalHold) -> Request<LegalHold> {
        self.send(Call::new(Method::POST, "/legal-holds").keyed().json(body))
    }

    /// Get a legal hold.
    ///
    /// One that was released is not found.
    ///
    /// `GET /legal-holds/{id}`. Needs `iam-legal-holds:read`.
    pub fn get_legal_hold(&self, id: Uuid) -> Request<LegalHold> {
        self.send(Call::new(Method::GET, format!("/legal-holds/{id}")))
    }

    /// Release a legal hold.
    ///
    /// What it kept can be destroyed again. The release is recorded as DELETE on LEGAL_HOLD, with both reasons. A user
    /// cannot release a hold on its own data (403). The session must have authenticated within the last ten minutes; an API
    /// key cannot do this.
    ///
    /// `POST /legal-holds/{id}/release`. Needs `iam-legal-holds:delete`.
    pub fn release_legal_hold(&self, id: Uuid, body: &LegalHoldRelease) -> Request<()> {
        self.send(Call::new(Method::POST, format!("/legal-holds/{id}/release")).json(body))
    }

    /// List organizations.
    ///
    /// A caller who holds the permission only in some organizations sees these organizations and everything below them.
    ///
    /// `GET /organizations`. Needs `organizations:read`.
    pub fn list_organizations(&self, query: &ListOrganizations) -> Request<Collection<Organization>> {
        self.send(Call::new(Method::GET, "/organizations").query(query))
    }

    /// Create an organization.
    ///
    /// To create an organization below another one, the caller needs the permission there. To create a root, the caller
    /// needs the permission tenant-wide.
    ///
    /// `POST /organizations`. Needs `organizations:create`.
    pub fn create_organization(&self, body: &NewOrganization) -> Request<Organization> {
        self.send(Call::new(Method::POST, "/organizations").keyed().json(body))
    }

    /// Shows what [`Self::create_organization`] would do, and changes nothing.
    pub fn preview_create_organization(&self, body: &NewOrganization) -> Request<Preview> {
        self.send(Call::new(Method::POST, "/organizations").keyed().json(body).preview())
    }

    /// Get an organization.
    ///
    /// If the caller holds no role in the organization or above it, the response is 404.
    ///
    /// `GET /organizations/{id}`. Needs `organizations:read`.
    pub fn get_organization(&self, id: Uuid) -> Request<Organization> {
        self.send(Call::new(Method::GET, format!("/organizations/{id}")))
    }

    /// Delete an organization.
    ///
    /// The organization becomes INACTIVE. The roles that are held in it end. Its slug becomes free. Its record stays.
    ///
    /// `DELETE /organizations/{id}`. Needs `organizations:delete`.
    pub fn delete_organization(&self, id: Uuid) -> Request<()> {
        self.send(Call::new(Method::DELETE, format!("/organizations/{id}")))
    }

    /// Shows what [`Self::delete_organization`] would do, and changes nothing.
    pub fn preview_delete_organization(&self, id: Uuid) -> Request<Preview> {
        self.send(Call::new(Method::DELETE, format!("/organizations/{id}")).preview())
    }

    /// Change or move an organization.
    ///
    /// To move an organization, the caller also needs the permission in the new parent, or tenant-wide to make the
    /// organization a root. If roles take effect in more organizations because of the move, the caller must hold all
    /// permissions of these roles there.
    ///
    /// `PATCH /organizations/{id}`. Needs `organizations:update`.
    pub fn update_organization(&self, id: Uuid, body: &OrganizationPatch) -> Request<Organization> {
        self.send(Call::new(Method::PATCH, format!("/organizations/{id}")).json(body))
    }

    /// Shows what [`Self::update_organization`] would do, and changes nothing.
    pub fn preview_update_organization(&self, id: Uuid, body: &OrganizationPatch) -> Request<Preview> {
        self.send(Call::new(Method::PATCH, format!("/organizations/{id}")).json(body).preview())
    }

    /// List an organization's ancestors.
    ///
    /// Returns the organizations above it that the caller may read, from the root down.
    ///
    /// `GET /organizations/{id}/ancestors`. Needs `organizations:read`.
    pub fn list_organization_ancestors(&self, id: Uuid) -> Request<List<Organization>> {
        self.send(Call::new(Method::GET, format!("/organizations/{id}/ancestors")))
    }

    /// List an organization's children.
    ///
    /// Returns the organizations directly below it that are not INACTIVE.
    ///
    /// `GET /organizations/{id}/children`. Needs `organizations:read`.
    pub fn list_organization_children(&self, id: Uuid) -> Request<List<ChildOrganization>> {
        self.send(Call::new(Method::GET, format!("/organizations/{id}/children")))
    }

    /// Get an organization's tree.
    ///
    /// Returns the organization with everything below it that is not INACTIVE.
    ///
    /// `GET /organizations/{id}/tree`. Needs `organizations:read`.
    pub fn get_organization_tree(&self, id: Uuid) -> Request<TreeNode> {
        self.send(Call::new(Method::GET, format!("/organizations/{id}/tree")))
    }

    /// List permissions.
    ///
    /// Returns the catalogue: the built-in permissions and those of the application. It is enough that the caller holds
    /// the permission in any organization.
    ///
    /// `GET /permissions`. Needs `permissions:read`.
    pub fn list_permissions(&self, query: &ListPermissions) -> Request<Collection<Permission>> {
        self.send(Call::new(Method::GET, "/permissions").query(query))
    }

    /// Register a permission.
    ///
    /// A role that holds `*` or `<resource>:*` holds the new permission at once. If a role holds `<resource>:*`, the caller
    /// must hold the new permission, too, because the users of that role get it.
    ///
    /// `POST /permissions`. Needs `permissions:create`.
    pub fn create_permission(&self, body: &NewPermission) -> Request<Permission> {
        self.send(Call::new(Method::POST, "/permissions").keyed().json(body))
    }

    /// Delete a permission.
    ///
    /// Only a permission of the application that no role holds can be deleted.
    ///
    /// `DELETE /permissions/{id}`. Needs `permissions:delete`.
    pub fn delete_permission(&self, id: Uuid) -> Request<()> {
        self.send(Call::new(Method::DELETE, format!("/permissions/{id}")))
    }

    /// List role assignments.
    ///
    /// A caller who holds the permission only in some organizations sees the assignments in these organizations and below
    /// them.
    ///
    /// `GET /role-assignments`. Needs `role-assignments:read`.
    pub fn list_role_assignments(&self, query: &ListRoleAssignments) -> Request<Collection<ListedRoleAssignment>> {
        self.send(Call::new(Method::GET, "/role-assignments").query(query))
    }

    /// Assign a role.
    ///
    /// The caller needs `role-assignments:create` in the organization of the assignment, or tenant-wide if it has none.
    /// There the caller must also hold all permissions of the role, for at least as long as the assignment lasts. The
    /// `scope` of the role must allow the place.
    ///
    /// A role that can change what protects the tenant (`tenants:update`, `audit-logs:update`, `audit-logs:delete`) is given
    /// tenant-wide only in a session that has authenticated within the last ten minutes, and by no API key. The same holds
    /// for a later expiry.
    ///
    /// `POST /role-assignments`. Needs `role-assignments:create`.
    pub fn create_role_assignment(&self, body: &NewRoleAssignment) -> Request<RoleAssignment> {
        self.send(Call::new(Method::POST, "/role-assignments").keyed().json(body))
    }

    /// Shows what [`Self::create_role_assignment`] would do, and changes nothing.
    pub fn preview_create_role_assignment(&self, body: &NewRoleAssignment) -> Request<Preview> {
        self.send(Call::new(Method::POST, "/role-assignments").keyed().json(body).preview())
    }

    /// Assign several roles.
    ///
    /// Assigns 1–500 roles, all or none. Every item is checked like a single assignment.
    ///
    /// `POST /role-assignments/bulk`. Needs `role-assignments:create`.
    pub fn create_role_assignments(&self, body: &NewRoleAssignments) -> Request<CreatedRoleAssignments> {
        self.send(Call::new(Method::POST, "/role-assignments/bulk").keyed().json(body))
    }

    /// Shows what [`Self::create_role_assignments`] would do, and changes nothing.
    pub fn preview_create_role_assignments(&self, body: &NewRoleAssignments) -> Request<Preview> {
        self.send(Call::new(Method::POST, "/role-assignments/bulk").keyed().json(body).preview())
    }

    /// Revoke a role.
    ///
    /// The user loses the role at once. The last administrator of a tenant keeps its role: the response is then 409.
    ///
    /// `DELETE /role-assignments/{id}`. Needs `role-assignments:delete`.
    pub fn delete_role_assignment(&self, id: Uuid) -> Request<()> {
        self.send(Call::new(Method::DELETE, format!("/role-assignments/{id}")))
    }

    /// Shows what [`Self::delete_role_assignment`] would do, and changes nothing.
    pub fn preview_delete_role_assignment(&self, id: Uuid) -> Request<Preview> {
        self.send(Call::new(Method::DELETE, format!("/role-assignments/{id}")).preview())
    }

    /// Change when an assignment expires.
    ///
    /// For a later expiry, the caller must hold all permissions of the role where the role is held, until the new expiry.
    ///
    /// `PATCH /role-assignments/{id}`. Needs `role-assignments:update`.
    pub fn update_role_assignment(&self, id: Uuid, body: &RoleAssignmentPatch) -> Request<RoleAssignment> {
        self.send(Call::new(Method::PATCH, format!("/role-assignments/{id}")).json(body))
    }

    /// Shows what [`Self::update_role_assignment`] would do, and changes nothing.
    pub fn preview_update_role_assignment(&self, id: Uuid, body: &RoleAssignmentPatch) -> Request<Preview> {
        self.send(Call::new(Method::PATCH, format!("/role-assignments/{id}")).json(body).preview())
    }

    /// List roles.
    ///
    /// It is enough that the caller holds the permission in any organization.
    ///
    /// `GET /roles`. Needs `roles:read`.
    pub fn list_roles(&self, query: &ListRoles) -> Request<Collection<Role>> {
        self.send(Call::new(Method::GET, "/roles").query(query))
    }

    /// Create a role.
    ///
    /// The role gives nothing until it is assigned. Its name is unique in the tenant.
    ///
    /// `POST /roles`. Needs `roles:create`.
    pub fn create_role(&self, body: &NewRole) -> Request<Role> {
        self.send(Call::new(Method::POST, "/roles").keyed().json(body))
    }

    /// Shows what [`Self::create_role`] would do, and changes nothing.
    pub fn preview_create_role(&self, body: &NewRole) -> Request<Preview> {
        self.send(Call::new(Method::POST, "/roles").keyed().json(body).preview())
    }

    /// Get a role.
    ///
    /// It is enough that the caller holds the permission in any organization.
    ///
    /// `GET /roles/{id}`. Needs `roles:read`.
    pub fn get_role(&self, id: Uuid) -> Request<Role> {
        self.send(Call::new(Method::GET, format!("/roles/{id}")))
    }

    /// Delete a role.
    ///
    /// Only a role that no user holds can be deleted.
    ///
    /// `DELETE /roles/{id}`. Needs `roles:delete`.
    pub fn delete_role(&self, id: Uuid) -> Request<()> {
        self.send(Call::new(Method::DELETE, format!("/roles/{id}")))
    }

    /// Shows what [`Self::delete_role`] would do, and changes nothing.
    pub fn preview_delete_role(&self, id: Uuid) -> Request<Preview> {
        self.send(Call::new(Method::DELETE, format!("/roles/{id}")).preview())
    }

    /// Change a role.
    ///
    /// The change takes effect at once, for every user who holds the role. Built-in roles cannot be changed.
    ///
    /// `PATCH /roles/{id}`. Needs `roles:update`.
    pub fn update_role(&self, id: Uuid, body: &RolePatch) -> Request<Role> {
        self.send(Call::new(Method::PATCH, format!("/roles/{id}")).json(body))
    }

    /// Shows what [`Self::update_role`] would do, and changes nothing.
    pub fn preview_update_role(&self, id: Uuid, body: &RolePatch) -> Request<Preview> {
        self.send(Call::new(Method::PATCH, format!("/roles/{id}")).json(body).preview())
    }

    /// Create a service account.
    ///
    /// A user that is a program. It holds roles as a person does, but has no e-mail, no password and no second factor, and
    /// never logs in. Programs act as it by API keys.
    ///
    /// `POST /service-accounts`. Needs `users:create`.
    pub fn create_service_account(&self, body: &NewServiceAccount) -> Request<User> {
        self.send(Call::new(Method::POST, "/service-accounts").keyed().json(body))
    }

    /// End a session.
    ///
    /// A user can always end its own sessions, and those in which it acts as another user. To end other sessions of another
    /// user, the caller needs the permission. To end another session than that of this request, or one in which the caller
    /// acts as another user, the session must have authenticated within the last ten minutes.
    ///
    /// `DELETE /sessions/{id}`. Needs `sessions:delete`.
    pub fn delete_session(&self, id: Uuid) -> Request<()> {
        self.send(Call::new(Method::DELETE, format!("/sessions/{id}")))
    }

    /// Get the tenant.
    ///
    /// Callers can get only their own tenant.
    ///
    /// `GET /tenants/{id}`. Needs `tenants:read`.
    pub fn get_tenant(&self, id: Uuid) -> Request<Tenant> {
        self.send(Call::new(Method::GET, format!("/tenants/{id}")))
    }

    /// Change the tenant.
    ///
    /// Callers can change only their own tenant. To change the policies of passwords, second factors and logins, the
    /// session must have authenticated within the last ten minutes; an API key cannot change them.
    ///
    /// `PATCH /tenants/{id}`. Needs `tenants:update`.
    pub fn update_tenant(&self, id: Uuid, body: &TenantPatch) -> Request<Tenant> {
        self.send(Call::new(Method::PATCH, format!("/tenants/{id}")).json(body))
    }

    /// Apply a manifest.
    ///
    /// Makes the tenant what the manifest says, by all changes or by none. To apply it again changes nothing. The caller also
    /// needs the permission to read what the manifest names, and everything that the changes need one by one: their
    /// permissions, and the rights that they give. A refused change is named in `errors`. No API key makes or changes an
    /// identity provider.
    ///
    /// `POST /tenants/{id}/apply`. Needs `tenants:read`.
    pub fn apply_manifest(&self, id: Uuid, body: &Manifest, query: &ApplyManifest) -> Request<AppliedManifest> {
        self.send(Call::new(Method::POST, format!("/tenants/{id}/apply")).json(body).query(query))
    }

    /// Get the deletion of the tenant.
    ///
    /// The operator schedules the deletion of tenants, which waits and can be called off. Callers can get that of their own
    /// tenant only.
    ///
    /// `GET /tenants/{id}/deletion`. Needs `tenants:read`.
    pub fn get_tenant_deletion(&self, id: Uuid) -> Request<TenantDeletion> {
        self.send(Call::new(Method::GET, format!("/tenants/{id}/deletion")))
    }

    /// Get the manifest.
    ///
    /// It names everything that a manifest can name, so to apply it changes nothing. Not in it are built-in permissions and
    /// roles, people, and the roles that service accounts hold by access requests or by groups of directories. The caller
    /// also needs `permissions:read`, `roles:read`, `organizations:read`, `users:read`, `role-assignments:read`,
    /// `webhooks:read`, `directories:read`, `identity-providers:read` and `domains:read`.
    ///
    /// `GET /tenants/{id}/manifest`. Needs `tenants:read`.
    pub fn export_manifest(&self, id: Uuid) -> Request<Manifest> {
        self.send(Call::new(Method::GET, format!("/tenants/{id}/manifest")))
    }

    /// List users.
    ///
    /// If the caller holds the permission in organizations only, the list has only their members: the users who have their
    /// home or hold a role there.
    ///
    /// `GET /users`. Needs `users:read`.
    pub fn list_users(&self, query: &ListUsers) -> Request<Collection<UserListItem>> {
        self.send(Call::new(Method::GET, "/users").query(query))
    }

    /// Create a user.
    ///
    /// The user is ACTIVE and has no roles. Its e-mail and its external identifier are unique in the tenant, also among
    /// deleted users.
    ///
    /// `POST /users`. Needs `users:create`.
    pub fn create_user(&self, body: &NewUser) -> Request<User> {
        self.send(Call::new(Method::POST, "/users").keyed().json(body))
    }

    /// Get a user.
    ///
    /// Users of every status are found. If the caller holds the permission in organizations only, it gets only their
    /// members.
    ///
    /// `GET /users/{id}`. Needs `users:read`.
    pub fn get_user(&self, id: Uuid) -> Request<User> {
        self.send(Call::new(Method::GET, format!("/users/{id}")))
    }

    /// Delete a user.
    ///
    /// The user becomes INACTIVE. Its sessions and roles end. Its record stays.
    ///
    /// `DELETE /users/{id}`. Needs `users:delete`.
    pub fn delete_user(&self, id: Uuid) -> Request<()> {
        self.send(Call::new(Method::DELETE, format!("/users/{id}")))
    }

    /// Shows what [`Self::delete_user`] would do, and changes nothing.
    pub fn preview_delete_user(&self, id: Uuid) -> Request<Preview> {
        self.send(Call::new(Method::DELETE, format!("/users/{id}")).preview())
    }

    /// Change a user.
    ///
    /// A new e-mail is not verified. It needs a session that has authenticated within the last ten minutes, and so does
    /// another external identifier. A user that is suspended or deleted loses its sessions. A caller that holds the
    /// permission in organizations only can change users whose home and all of whose roles are there.
    ///
    /// `PATCH /users/{id}`. Needs `users:update`.
    pub fn update_user(&self, id: Uuid, body: &UserPatch) -> Request<UpdatedUser> {
        self.send(Call::new(Method::PATCH, format!("/users/{id}")).json(body))
    }

    /// Shows what [`Self::update_user`] would do, and changes nothing.
    pub fn preview_update_user(&self, id: Uuid, body: &UserPatch) -> Request<Preview> {
        self.send(Call::new(Method::PATCH, format!("/users/{id}")).json(body).preview())
    }

    /// List a user's API keys.
    ///
    /// Shows expired keys, too, newest first. A user can always list its own keys in a session. To list those of another
    /// user, the caller needs the permission.
    ///
    /// `GET /users/{id}/api-keys`. Needs `api-keys:read`.
    pub fn list_api_keys(&self, id: Uuid) -> Request<List<ApiKey>> {
        self.send(Call::new(Method::GET, format!("/users/{id}/api-keys")))
    }

    /// Make an API key.
    ///
    /// The response has the key, which is never shown again. At each request, the key may do what its user may do at that
    /// moment, and no more than its own permissions, in its own organization. It cannot log in, change passwords or second
    /// factors, or make keys. The session must have authenticated within the last ten minutes. A user needs no permission for
    /// its own keys. The key of another user names its permissions, and the caller must hold each of them itself, there and
    /// as long as the key lasts, whether or not the user holds it. A person is told of a new key by mail. A user has 20 keys
    /// at most.
    ///
    /// `POST /users/{id}/api-keys`. Needs `api-keys:create`.
    pub fn create_api_key(&self, id: Uuid, body: &NewApiKey) -> Request<IssuedApiKey> {
        self.send(Call::new(Method::POST, format!("/users/{id}/api-keys")).keyed().json(body))
    }

    /// Export what is held about a user.
    ///
    /// The user with all of its attributes, how it logs in (without secrets), its sessions with addresses and devices, its API
    /// keys, the roles that it holds, held and may ask for, its access requests, its invitations, what a directory says of it,
    /// and the entries of the audit log that concern it. As JSON, or as an HTML page for people if `Accept` prefers it or
    /// `format` is `html`.
    ///
    /// A user can export what is held about itself, also attributes that it does not see elsewhere. For another one, the caller needs `users:read` for the whole of that
    /// user, and `audit-logs:read`. A user without `audit-logs:read` sees the entries about itself, but not the addresses of
    /// others, and of what it did to others only that it did it. The session must have authenticated within the last ten
    /// minutes; an API key cannot do this, nor a user who acts as another one.
    ///
    /// The export is recorded as READ of the user before its first byte. The parts are read one after the other, and the whole
    /// log is searched, which takes long in a tenant with millions of entries. An export that fails breaks off the transfer. A
    /// user runs one export about itself at a time and one about others, and a tenant four about others (429).
    ///
    /// `GET /users/{id}/export`. Needs `users:read`.
    pub fn export_user(&self, id: Uuid) -> Request<UserExport> {
        self.send(Call::new(Method::GET, format!("/users/{id}/export")))
    }

    /// Remove all factors of a user.
    ///
    /// For a user that has lost its factors. Ends the sessions of the user, and tells it by mail. The caller also needs
    /// every permission that the user's roles give.
    ///
    /// `DELETE /users/{id}/factors`. Needs `users:update`.
    pub fn delete_user_factors(&self, id: Uuid) -> Request<()> {
        self.send(Call::new(Method::DELETE, format!("/users/{id}/factors")))
    }

    /// List a user's identities.
    ///
    /// A user can always list its own in a session.
    ///
    /// `GET /users/{id}/identities`. Needs `users:read`.
    pub fn list_identities(&self, id: Uuid) -> Request<List<Identity>> {
        self.send(Call::new(Method::GET, format!("/users/{id}/identities")))
    }

    /// Act as another user.
    ///
    /// Begins a session of the user, in which the caller acts as that user, and which cannot be refreshed. The caller needs
    /// everything that the user may do, also at each request of the session. The user must be a person and must not hold
    /// all permissions; it is told by mail, and sees the session among its own. The session ends with the caller's. It is
    /// never fresh, and cannot change how the user logs in, or give rights. Every entry of the audit log names both. The
    /// caller's session must have authenticated within the last ten minutes.
    ///
    /// `POST /users/{id}/impersonations`. Needs `impersonations:create`.
    pub fn create_impersonation(&self, id: Uuid, body: &NewImpersonation) -> Request<Impersonation> {
        self.send(Call::new(Method::POST, format!("/users/{id}/impersonations")).keyed().json(body))
    }

    /// Log a user out everywhere.
    ///
    /// Ends all sessions of a user. A user can always end its own sessions. To end those of another user, the caller needs
    /// the permission. The session must have authenticated within the last ten minutes. The access tokens of the ended
    /// sessions stop working within a second.
    ///
    /// `POST /users/{id}/logout-all`. Needs `sessions:delete`.
    pub fn logout_user(&self, id: Uuid) -> Request<()> {
        self.send(Call::new(Method::POST, format!("/users/{id}/logout-all")))
    }

    /// Send a user a link with which it can reset its password.
    ///
    /// The caller also needs every permission that the user's roles give.
    ///
    /// `POST /users/{id}/password-reset`. Needs `users:update`.
    pub fn start_password_reset(&self, id: Uuid) -> Request<()> {
        self.send(Call::new(Method::POST, format!("/users/{id}/password-reset")))
    }

    /// Reactivate a user.
    ///
    /// Reactivating an active user does nothing. A user who may change the protections of the tenant becomes active only by a
    /// session that has authenticated recently.
    ///
    /// `POST /users/{id}/reactivate`. Needs `users:update`.
    pub fn reactivate_user(&self, id: Uuid) -> Request<UpdatedUser> {
        self.send(Call::new(Method::POST, format!("/users/{id}/reactivate")))
    }

    /// Shows what [`Self::reactivate_user`] would do, and changes nothing.
    pub fn preview_reactivate_user(&self, id: Uuid) -> Request<Preview> {
        self.send(Call::new(Method::POST, format!("/users/{id}/reactivate")).preview())
    }

    /// List a user's roles.
    ///
    /// Returns the assignments that have not expired. A user can always list its own. To list those of another user, the
    /// caller needs the permission. If the caller holds it only in some organizations, the list shows the assignments in
    /// these organizations and below them.
    ///
    /// `GET /users/{id}/roles`. Needs `role-assignments:read`.
    pub fn list_user_roles(&self, id: Uuid, query: &ListUserRoles) -> Request<List<UserRole>> {
        self.send(Call::new(Method::GET, format!("/users/{id}/roles")).query(query))
    }

    /// List a user's sessions.
    ///
    /// A user can always list its own sessions, among them those in which other users act as it. To list those of another
    /// user, the caller needs the permission.
    ///
    /// `GET /users/{id}/sessions`. Needs `sessions:read`.
    pub fn list_user_sessions(&self, id: Uuid) -> Request<List<Session>> {
        self.send(Call::new(Method::GET, format!("/users/{id}/sessions")))
    }

    /// Suspend a user.
    ///
    /// The user's sessions end at once. Suspending a suspended user does nothing.
    ///
    /// `POST /users/{id}/suspend`. Needs `users:update`.
    pub fn suspend_user(&self, id: Uuid) -> Request<UpdatedUser> {
        self.send(Call::new(Method::POST, format!("/users/{id}/suspend")))
    }

    /// Shows what [`Self::suspend_user`] would do, and changes nothing.
    pub fn preview_suspend_user(&self, id: Uuid) -> Request<Preview> {
        self.send(Call::new(Method::POST, format!("/users/{id}/suspend")).preview())
    }

    /// List the webhooks.
    ///
    /// Newest first. A tenant has 20 webhooks at most.
    ///
    /// `GET /webhooks`. Needs `webhooks:read`.
    pub fn list_webhooks(&self) -> Request<List<Webhook>> {
        self.send(Call::new(Method::GET, "/webhooks"))
    }

    /// Make a webhook.
    ///
    /// It sends the events from now on, each one at least once, in the order of the log until one fails. The response has
    /// the secret, which is never shown again. The caller needs `audit-logs:read`, too, because the receiver gets entries
    /// of the audit log. The webhook belongs to the tenant: it sends events until it is removed or switched off. A tenant
    /// has 20 webhooks at most.
    ///
    /// With the format `native`, a request has the entry in `data`, beside its `type` and its `timestamp`. With `ocsf`, its
    /// body is the entry as an event of the Open Cybersecurity Schema Framework 1.6.0.
    ///
    /// `POST /webhooks`. Needs `webhooks:create`.
    pub fn create_webhook(&self, body: &NewWebhook) -> Request<IssuedWebhook> {
        self.send(Call::new(Method::POST, "/webhooks").keyed().json(body))
    }

    /// Get a webhook.
    ///
    /// Its secret is not shown.
    ///
    /// `GET /webhooks/{id}`. Needs `webhooks:read`.
    pub fn get_webhook(&self, id: Uuid) -> Request<Webhook> {
        self.send(Call::new(Method::GET, format!("/webhooks/{id}")))
    }

    /// Remove a webhook.
    ///
    /// Its deliveries are removed, too. An attempt in progress is not cancelled.
    ///
    /// `DELETE /webhooks/{id}`. Needs `webhooks:delete`.
    pub fn delete_webhook(&self, id: Uuid) -> Request<()> {
        self.send(Call::new(Method::DELETE, format!("/webhooks/{id}")))
    }

    /// Change a webhook.
    ///
    /// To change the address or the types, or to switch the webhook on, the caller needs `audit-logs:read`, too.
    ///
    /// `PATCH /webhooks/{id}`. Needs `webhooks:update`.
    pub fn update_webhook(&self, id: Uuid, body: &WebhookPatch) -> Request<Webhook> {
        self.send(Call::new(Method::PATCH, format!("/webhooks/{id}")).json(body))
    }

    /// List the deliveries of a webhook.
    ///
    /// The newest 200, by the last attempt. Those that have ended are removed after seven days.
    ///
    /// `GET /webhooks/{id}/deliveries`. Needs `webhooks:read`.
    pub fn list_deliveries(&self, id: Uuid) -> Request<List<Delivery>> {
        self.send(Call::new(Method::GET, format!("/webhooks/{id}/deliveries")))
    }

    /// Send events again.
    ///
    /// The webhook sends the events again from this one on. The caller needs `audit-logs:read`, too, because the receiver
    /// gets entries of the audit log. If retention has removed it, the response is 410, and
    /// `firstSequence` is the number of the first event that is left.
    ///
    /// `POST /webhooks/{id}/replay`. Needs `webhooks:update`.
    pub fn replay_webhook(&self, id: Uuid, body: &WebhookReplay) -> Request<()> {
        self.send(Call::new(Method::POST, format!("/webhooks/{id}/replay")).json(body))
    }

    /// Rotate the secret of a webhook.
    ///
    /// The response has the new secret, which is never shown again. For 24 hours, requests are signed with the former
    /// secret, too.
    ///
    /// `POST /webhooks/{id}/rotate-secret`. Needs `webhooks:update`.
    pub fn rotate_webhook_secret(&self, id: Uuid) -> Request<IssuedWebhook> {
        self.send(Call::new(Method::POST, format!("/webhooks/{id}/rotate-secret")).keyed())
    }

    /// Test a webhook.
    ///
    /// Sends an event of the type `WEBHOOK.TEST`, which is not in the log, and shows what the receiver has answered. A
    /// webhook that is switched off can be tested, too. A tenant makes four tests at the same time at most.
    ///
    /// `POST /webhooks/{id}/test`. Needs `webhooks:update`.
    pub fn test_webhook(&self, id: Uuid) -> Request<WebhookTest> {
        self.send(Call::new(Method::POST, format!("/webhooks/{id}/test")))
    }
}
