//! How a form names an organization or a role: by its short name, its name or its id, with suggestions.

use askama::Template;
use iam_core::organization::{OrganizationFilter, OrganizationSort, OrganizationSortKey};
use iam_core::page::{MAX_LIMIT, PageRequest};
use iam_core::{Caller, Error, Iam, OrganizationId, RoleId};

use crate::problem::if_allowed;

/// What a browser suggests while a person types: the first ones. A form also takes those that are not suggested.
#[derive(Template)]
#[template(path = "suggestions.html")]
pub(crate) struct Suggestions {
    id: &'static str,
    /// Each value, with what it means.
    choices: Vec<(String, String)>,
}

impl Suggestions {
    /// Suggests organizations that the caller may see, by their short names.
    pub(crate) async fn of_organizations(iam: &Iam, caller: &Caller) -> Result<Self, Error> {
        let sort = OrganizationSort { by: OrganizationSortKey::Name, ..OrganizationSort::default() };
        let request = PageRequest::new(1, MAX_LIMIT)?;
        let found = iam.organizations().list(caller, &OrganizationFilter::default(), sort, request).await;
        let found = found.map(|page| page.items.into_iter().map(|item| item.organization));
        let named = found.map(|found| {
            found.map(|organization| (organization.slug.to_string(), organization.name.to_string())).collect()
        });
        Ok(Self { id: "organizations", choices: if_allowed(named)?.unwrap_or_default() })
    }

    /// Suggests roles that the caller may see, by their names.
    pub(crate) async fn of_roles(iam: &Iam, caller: &Caller) -> Result<Self, Error> {
        let found = iam.roles().list(caller, PageRequest::new(1, MAX_LIMIT)?).await;
        let named = found.map(|page| {
            page.items.into_iter().map(|role| (role.name.to_string(), role.scope.as_str().to_owned())).collect()
        });
        Ok(Self { id: "roles", choices: if_allowed(named)?.unwrap_or_default() })
    }
}

/// Returns the organization with this short name or this id. Whether an id exists is for the service to say.
pub(crate) async fn find_organization(
    iam: &Iam,
    caller: &Caller,
    typed: &str,
) -> Result<Option<OrganizationId>, Error> {
    if let Ok(id) = typed.parse() {
        return Ok(Some(id));
    }
    let filter = OrganizationFilter { search: Some(typed.to_owned()), ..OrganizationFilter::default() };
    let request = PageRequest::new(1, MAX_LIMIT)?;
    let found = iam.organizations().list(caller, &filter, OrganizationSort::default(), request).await;
    let found = if_allowed(found)?.map(|page| page.items).unwrap_or_default();
    let named = found.into_iter().find(|item| item.organization.slug.as_str().eq_ignore_ascii_case(typed));
    Ok(named.map(|item| item.organization.id))
}

/// Returns the role with this name or this id. Whether an id exists is for the service to say.
pub(crate) async fn find_role(iam: &Iam, caller: &Caller, typed: &str) -> Result<Option<RoleId>, Error> {
    if let Ok(id) = typed.parse() {
        return Ok(Some(id));
    }
    let found = if_allowed(iam.roles().by_name(caller, typed).await)?.flatten();
    Ok(found.map(|role| role.id))
}
