#![doc = include_str!("../README.md")]
#![doc = include_str!("overview.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[macro_use]
mod doctest_setup;
pub mod access;
pub mod access_request;
pub mod access_review;
pub mod api_key;
pub mod assignment;
pub mod attribute;
pub mod audit;
mod authentication;
pub mod authzen;
mod bounded;
mod builder;
mod cache;
mod caller;
mod challenge_state;
pub mod credential;
pub mod directory;
mod directory_requests;
mod distinct;
pub mod domain;
mod due_tenants;
pub mod eligibility;
pub mod email_login;
mod engine;
pub mod factor;
pub mod federation;
mod federation_key;
mod grouped;
mod guard;
mod hashing;
pub mod history;
mod iam;
pub mod idempotency;
pub mod identity_provider;
mod introspection;
pub mod invitation;
mod joined;
mod known_providers;
pub mod legal_hold;
pub mod link;
mod link_pages;
pub mod mail;
pub mod maintenance;
pub mod manifest;
mod one_time;
pub mod organization;
mod own_password;
#[cfg(feature = "passkeys")]
mod passkey;
mod password;
mod patch;
pub mod permission;
pub mod recovery;
mod requested_link;
pub mod role;
mod secret_cipher;
mod services;
pub mod session;
mod settings;
mod signing_key;
pub mod tenant;
pub mod token;
mod told;
mod trial;
pub mod user;
pub mod verification;
pub mod webhook;

pub use builder::Builder;
pub use caller::Caller;
pub use engine::UnitOfWork;
pub use iam::Iam;
pub use iam_model::change::{AuditBatch, Change};
pub use iam_model::context::{Actor, Author, CorrelationId, Impersonator, RequestContext, UserAgent};
pub use iam_model::error::{Conflict, Error, Forbidden, Internal, Result, Rule, Unauthenticated};
pub use iam_model::id::{
    AccessRequestId, AccessReviewId, AccessReviewItemId, ApiKeyId, AssignmentId, AuditEntryId, DirectoryGroupId,
    DirectoryId, DomainId, EligibilityId, FactorId, IdentityId, IdentityProviderId, InvalidId, InvitationId, KeyId,
    LegalHoldId, LinkId, MessageId, OrganizationId, PermissionId, RoleId, SessionId, TenantId, TokenId, UserId,
    WebhookId,
};
pub use iam_model::store::{
    ChangeFeed, FeedNotification, HostTransaction, Schema, Store, Transaction, TransactionReads,
};
pub use iam_model::store_error::{BoxError, Constraint, StoreError};
pub use iam_model::validate::{
    AttributeKey, Description, Email, EmailKey, ExternalId, FieldError, Invalid, InvalidFields, Name, PersonName,
    Reason, RoleName, Slug, StoredText,
};
pub use iam_model::{brand, clock, observe, page, preview, random, search, secret, store, text, version};
pub use introspection::{IntrospectedToken, Introspection};
pub use joined::Joined;
pub use settings::Settings;
pub use trial::{MAX_PREVIEW_ROWS, Preview, Trial};
