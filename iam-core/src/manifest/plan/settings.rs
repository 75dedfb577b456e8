use iam_model::attribute::AttributeDefinitions;
use iam_model::factor::GraceDays;
use iam_model::manifest::{ManifestAction, ManifestItemKind};
use iam_model::validate::Name;

use crate::manifest::document::ManifestSettings;
use crate::manifest::plan::planner::{Planner, differing, map};
use crate::manifest::step::{Operation, PlannedChange, Step};
use crate::tenant::TenantPatch;

impl Planner<'_> {
    pub(super) fn settings(&mut self, wanted: &ManifestSettings) {
        let tenant = &self.state.tenant;
        let name: Option<Name> = self.fields.check_optional("settings.name", wanted.name.as_deref());
        let days = wanted
            .second_factor_grace_days
            .and_then(|days| self.fields.check("settings.secondFactorGraceDays", GraceDays::try_from(days)));
        let users = wanted
            .user_attributes
            .as_deref()
            .and_then(|given| AttributeDefinitions::for_users(&mut self.fields, "settings.userAttributes", given));
        let organizations = wanted.organization_attributes.as_deref().and_then(|given| {
            AttributeDefinitions::for_organizations(&mut self.fields, "settings.organizationAttributes", given)
        });
        let patch = TenantPatch {
            name: name.filter(|name| *name != tenant.name).map(|name| name.to_string()),
            slug: None,
            password_policy: differing(wanted.password_policy, tenant.password_policy),
            second_factor: differing(wanted.second_factor, tenant.second_factor),
            second_factor_grace_days: differing(days, tenant.second_factor_grace_days).map(i64::from),
            password_login: differing(wanted.password_login, tenant.password_login),
            email_login: differing(wanted.email_login, tenant.email_login),
            authzen_identifiers: differing(wanted.authzen_identifiers, tenant.authzen_identifiers),
            user_attributes: users.filter(|users| *users != tenant.user_attributes).map(Vec::from),
            organization_attributes: organizations
                .filter(|organizations| *organizations != tenant.organization_attributes)
                .map(Vec::from),
            unregistered_attributes: differing(wanted.unregistered_attributes, tenant.unregistered_attributes),
        };
        let after = ManifestSettings {
            name: patch.name.clone(),
            password_policy: patch.password_policy,
            second_factor: patch.second_factor,
            second_factor_grace_days: patch.second_factor_grace_days,
            password_login: patch.password_login,
            email_login: patch.email_login,
            authzen_identifiers: patch.authzen_identifiers,
            user_attributes: patch.user_attributes.clone(),
            organization_attributes: patch.organization_attributes.clone(),
            unregistered_attributes: patch.unregistered_attributes,
        };
        if after.is_empty() {
            return;
        }
        let (mut before, after) = (map(&self.state.settings()), map(&after));
        before.retain(|field, _| after.contains_key(field));
        let change = PlannedChange {
            action: ManifestAction::Update,
            kind: ManifestItemKind::Settings,
            name: String::new(),
            id: None,
            before,
            after,
        };
        self.steps.push(Step { change, at: "settings".to_owned(), operation: Operation::Settings(patch) });
    }
}
