use iam_model::error::Result;
use iam_model::organization::{OrganizationFilter, OrganizationSort};
use iam_model::page::{Page, PageRequest};
use iam_model::permission;
use iam_model::permission::Permission;
use iam_model::user::User;

use crate::access::{Access, Holder};
use crate::authzen::request::{ORGANIZATION, Resource, Subject, USER, permission_of};
use crate::authzen::service::Authzen;
use crate::caller::Caller;

impl Authzen<'_> {
    /// A page of the subjects of a type that may do something with a resource, by the texts that name them. Those who
    /// are not ACTIVE may do nothing. Needs `role-assignments:read` tenant-wide.
    ///
    /// The total counts all of them. A page can have fewer items than its limit: if a text names two users, both are
    /// left out.
    ///
    /// # Errors
    ///
    /// [`Error::Forbidden`](iam_model::error::Error::Forbidden).
    pub async fn search_subjects(
        &self,
        caller: &Caller,
        kind: &str,
        action: &str,
        resource: Resource<'_>,
        page: PageRequest,
    ) -> Result<Page<String>> {
        self.0.rights(caller).require(&permission::ROLE_ASSIGNMENTS_READ)?;
        let asked = self.asked(caller, &[], &[resource]).await?;
        let place = asked.place(caller, resource, self.0.now()).filter(|_| kind == USER);
        let permission = self.registered_permission(caller, resource.kind, action).await?;
        let (Some(place), Some(permission)) = (place, permission) else { return Ok(nothing(page)) };
        let holders = Access(self.0).who(caller, permission, place.organization(), None, page).await?;
        let Page { items, total, request } = holders;
        let users: Vec<User> = items.into_iter().map(|Holder { user, .. }| user).collect();
        Ok(Page { items: self.0.texts_of_users(caller, &users).await?, total, request })
    }

    /// A page of the resources of a type with which a subject may do something, by the texts that name them, newest
    /// first. Only those of the type `organization` are known: those that are not INACTIVE.
    ///
    /// # Errors
    ///
    /// As [`evaluate`](Self::evaluate).
    pub async fn search_resources(
        &self,
        caller: &Caller,
        subject: Subject<'_>,
        action: &str,
        kind: &str,
        page: PageRequest,
    ) -> Result<Page<String>> {
        let asked = self.asked(caller, &[subject], &[]).await?;
        let authority = asked.authority(caller, subject).filter(|_| kind == ORGANIZATION);
        let permission = self.registered_permission(caller, kind, action).await?;
        let (Some(authority), Some(permission)) = (authority, permission) else { return Ok(nothing(page)) };
        let Some(scope) = authority.visible_scope(&permission, self.0.now()) else { return Ok(nothing(page)) };
        let _turn = self.0.long_list(caller, false, &scope, page).await?;
        let (filter, sort) = (OrganizationFilter::default(), OrganizationSort::default());
        let found = self.0.store.organizations(caller.tenant(), &filter, &scope, sort, page).await?;
        let Page { items, total, request } = found;
        Ok(Page { items: self.0.texts_of_organizations(caller, items).await?, total, request })
    }

    /// A page of the actions that a subject may do with a resource, in alphabetical order: those that are registered
    /// for its type.
    ///
    /// # Errors
    ///
    /// As [`evaluate`](Self::evaluate).
    pub async fn search_actions(
        &self,
        caller: &Caller,
        subject: Subject<'_>,
        resource: Resource<'_>,
        page: PageRequest,
    ) -> Result<Page<String>> {
        let now = self.0.now();
        let asked = self.asked(caller, &[subject], &[resource]).await?;
        let (authority, place) = (asked.authority(caller, subject), asked.place(caller, resource, now));
        // A type that is in no permission has no actions.
        let is_type = permission_of(resource.kind, "a").is_some();
        let (Some(authority), Some(place), true) = (authority, place, is_type) else { return Ok(nothing(page)) };
        let mut held = self.0.store.permissions_about(caller.tenant(), &[resource.kind]).await?;
        held.retain(|permission| asked.allows(authority, permission, place, now));
        held.sort_unstable();
        let actions = held.iter().map(|permission| permission.action().to_owned());
        let offset = usize::try_from(page.offset()).unwrap_or(usize::MAX);
        let items = actions.skip(offset).take(page.limit() as usize).collect();
        Ok(Page { items, total: held.len() as u64, request: page })
    }

    /// Returns the permission of an action on resources of a type, if it is registered.
    async fn registered_permission(&self, caller: &Caller, kind: &str, action: &str) -> Result<Option<Permission>> {
        let Some(permission) = permission_of(kind, action) else { return Ok(None) };
        let registered = self.registered(caller.tenant(), &[&permission]).await?;
        Ok(registered.contains(&permission).then_some(permission))
    }
}

fn nothing(request: PageRequest) -> Page<String> {
    Page { items: Vec::new(), total: 0, request }
}
