use iam_model::access::Coverage;
use iam_model::attribute::{AttributeDefinitions, AttributeFilter, Attributes, AttributesPatch, ChangedAttributes};
use iam_model::change::UserChange;
use iam_model::error::{Result, Unauthenticated};
use iam_model::id::UserId;
use iam_model::permission;
use iam_model::user::UserStatus;
use iam_model::validate::Fields;
use iam_model::version::{Precondition, Version};
use serde_json::{Map, Value};

use crate::access::require_for_user;
use crate::attribute::{FIELD, PARAMETER};
use crate::caller::Caller;
use crate::engine::require_version;
use crate::user::service::not_found;
use crate::user::{UserWithAttributes, Users};

impl Users<'_> {
    /// Returns one user with its attributes, as [`get`](Self::get) does.
    ///
    /// # Errors
    ///
    /// Those of [`get`](Self::get).
    pub async fn get_with_attributes(&self, caller: &Caller, id: UserId) -> Result<UserWithAttributes> {
        self.0.rights(caller).require_anywhere(&permission::USERS_READ)?;
        let found = self.0.store.user_with_attributes(caller.tenant(), id).await?;
        let (user, attributes) = found.ok_or_else(not_found)?;
        require_for_user(self.0, caller, &user, &permission::USERS_READ, Coverage::Part).await?;
        Ok(UserWithAttributes::new(user, attributes))
    }

    /// Returns the attributes that the tenant has defined for users. Needs `users:read`, as their values do.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`](iam_model::error::Error::Forbidden).
    pub async fn attribute_definitions(&self, caller: &Caller) -> Result<AttributeDefinitions> {
        self.0.rights(caller).require_anywhere(&permission::USERS_READ)?;
        Ok(self.0.attribute_rules(caller.tenant()).await?.users.clone())
    }

    /// Reads a filter by an attribute, `key:value`, for [`list`](Self::list). Needs `users:read`.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`](iam_model::error::Error::Forbidden);
    /// [`Error::Validation`](iam_model::error::Error::Validation) which names `attribute`, if the key is not one that
    /// the tenant has made searchable, or if the value is not of its type.
    pub async fn attribute_filter(&self, caller: &Caller, text: &str) -> Result<AttributeFilter> {
        self.0.rights(caller).visible_scope(&permission::USERS_READ)?;
        let rules = self.0.attribute_rules(caller.tenant()).await?;
        let mut fields = Fields::default();
        let filter = AttributeFilter::parse(&mut fields, PARAMETER, text, &rules.users);
        filter.ok_or_else(|| fields.into_error().into())
    }

    /// Changes attributes of the caller itself: those that the tenant lets persons change. Needs no permission, but a
    /// session: an API key cannot do it. A value of `null` removes a key. Each text has at most
    /// [`Attributes::MAX_PERSON_TEXT`] characters, and all that the person changes have at most
    /// [`Attributes::MAX_PERSON_BYTES`] together. Returns all attributes that the caller sees of itself.
    ///
    /// # Errors
    ///
    /// [`Forbidden::ApiKey`](iam_model::error::Forbidden::ApiKey) and
    /// [`Forbidden::NotAUser`](iam_model::error::Forbidden::NotAUser) for other callers,
    /// [`Error::Validation`](iam_model::error::Error::Validation) which names the keys,
    /// [`Forbidden::ReadOnly`](iam_model::error::Forbidden::ReadOnly).
    pub async fn update_own_attributes(&self, caller: &Caller, given: &Map<String, Value>) -> Result<Attributes> {
        Ok(self.update_own_attributes_if(caller, given, &Precondition::Exists).await?.1)
    }

    /// Changes attributes of the caller itself as [`update_own_attributes`](Self::update_own_attributes) does, if a
    /// precondition holds for the version of its user. It is checked under the lock of the change. Returns the version of
    /// the user, too.
    ///
    /// # Errors
    ///
    /// Those of [`update_own_attributes`](Self::update_own_attributes),
    /// [`Error::PreconditionFailed`](iam_model::error::Error::PreconditionFailed).
    pub async fn update_own_attributes_if(
        &self,
        caller: &Caller,
        given: &Map<String, Value>,
        precondition: &Precondition,
    ) -> Result<(Version, Attributes)> {
        let (id, _) = caller.require_user()?;
        let mut fields = Fields::default();
        let Some(patch) = AttributesPatch::check(&mut fields, FIELD, given) else {
            return Err(fields.into_error().into());
        };
        let mut work = self.0.begin(caller).await?;
        let before = work.reads().lock_user(id).await?.filter(|user| user.status == UserStatus::Active);
        let before = before.ok_or(Unauthenticated::InvalidToken)?;
        require_version(precondition, before.version)?;
        let rules = work.reads().attribute_rules().await?;
        let former = work.reads().attributes(id.into()).await?;
        let attributes = patch.applied_by_person(&former, rules.of_users(), FIELD)?;
        let seen = rules.seen_by_person(&attributes);
        let mut version = before.version;
        if attributes != former {
            let after = before.clone().changed(work.now());
            version = after.version;
            let changed = ChangedAttributes { before: former, after: attributes };
            let attributes = Some(Box::new(changed));
            work.apply(UserChange::Update { before, after, grants: None, attributes }).await?;
            work.commit().await?;
        }
        Ok((version, seen))
    }
}
