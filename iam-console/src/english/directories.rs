//! Directories, their groups, and the roles that groups give.

pub(crate) const DIRECTORIES: &str = "Directories";
pub(crate) const DIRECTORIES_WHAT: &str = "By a directory, the identity provider of your company, such as Entra or \
     Okta, writes its people and groups into this tenant, by SCIM 2.0: it makes users, changes them, suspends those \
     who leave, and adds and removes the members of groups. It may do what its service account may do, and no more.";
pub(crate) const NO_DIRECTORIES: &str = "There is no directory yet.";
pub(crate) const NEW_DIRECTORY: &str = "New directory";
pub(crate) const CREATE_DIRECTORY: &str = "Create the directory";
pub(crate) const DIRECTORY_CREATED: &str =
    "The directory is created. Enter the address below and the API key at the provider.";
pub(crate) const DIRECTORY_WITHOUT_KEY: &str =
    "The directory is created, but no API key could be made. Make one on the page of the service account.";
pub(crate) const DIRECTORY_REMOVED: &str = "The directory is removed.";
pub(crate) const DIRECTORY_CHANGED_MEANWHILE: &str =
    "The directory has changed since you opened this page, so nothing is changed. Open the page again first.";
pub(crate) const ABOUT_THIS_DIRECTORY: &str = "what was done to this directory";
pub(crate) const BY_ITS_ACCOUNT: &str = "what it did";
pub(crate) const DIRECTORY_SETTINGS: &str = "Settings of the directory";

pub(crate) const LAST_REQUEST: &str = "Last request";
pub(crate) const ADOPTS: &str = "Takes over users";
pub(crate) const REFUSED: &str = "Refused";
pub(crate) const YES: &str = "yes";
pub(crate) const NO: &str = "no";
pub(crate) const NO_PROVIDER: &str = "None: people sign in by other means";
pub(crate) const PROVIDER_OF_DIRECTORY_HINT: &str =
    "The provider by which the users of the directory sign in. To choose one takes all permissions.";
pub(crate) const PROVIDERS_HIDDEN: &str = "You may not see the identity providers.";
pub(crate) const ADOPT: &str = "Take over users who have an address of the directory";
pub(crate) const ADOPT_WARNING: &str = "From then on, the directory changes, suspends and deletes users who exist \
     already. It takes over only people whose address is in a verified domain, and who may do nothing that its service \
     account may not do.";

// The service account of a new directory, and its key.
pub(crate) const NEW_ACCOUNT: &str = "A new one, with an API key that is shown once";
pub(crate) const ACCOUNT_WITH_NEW_KEY: &str = "One that exists, with a new API key that is shown once";
pub(crate) const ACCOUNT_WITH_KEY: &str = "One that exists, with an API key that you have";
pub(crate) const ACCOUNT_THAT_EXISTS: &str = "Service account that exists";
pub(crate) const PICK_ACCOUNT: &str = "Type a part of the name, and choose. It is active and has no other directory.";
pub(crate) const NO_SUCH_ACCOUNT: &str = "must be the name of one active service account: choose one that is offered";
pub(crate) const ACCOUNT_BY_ID: &str = "must be the id of a service account, because you may not see users";
pub(crate) const ROLE_OF_ACCOUNT: &str = "Role of the service account";
pub(crate) const ROLE_OF_ACCOUNT_HINT: &str = "For a new key. The account gets this role in the whole tenant, and the \
     key gets its permissions: users:* for users, and role-assignments:create and role-assignments:delete for groups \
     that give roles. A group gives only roles whose permissions the account holds.";
pub(crate) const ROLE_IN_WHOLE_TENANT: &str = "must be a role that can be held in the whole tenant";
pub(crate) const ROLE_WITHOUT_PERMISSIONS: &str = "must be a role that has permissions";
pub(crate) const LAST_DAY_OF_KEY: &str = "Last day of the key (in UTC)";
pub(crate) const KEY_MUST_BE_LATER: &str = "must not be in the past";
pub(crate) const KEY_MUST_BE_EARLIER: &str = "must be at most 365 days from now";
pub(crate) const KEY_OF_DIRECTORY: &str = "API key of the directory";
pub(crate) const KEY_OF_DIRECTORY_ONCE: &str =
    "Copy the key now, and enter it at the provider. It is not shown again. The next page has the address.";

/// Why a directory is not created although its service account is.
pub(crate) fn account_is_made(why: &str) -> String {
    format!("The service account is made, and chosen below. The directory is not created yet. {why}")
}

// What to enter at the provider.
pub(crate) const ENTER_AT_PROVIDER: &str = "What to enter at the provider";
pub(crate) const SCIM_URL: &str = "Address (SCIM 2.0)";
pub(crate) const KEYS_OF_ACCOUNT: &str =
    "The provider sends an API key of the service account with each request. Its keys are on its page:";
pub(crate) const ENTRA: &str = "Microsoft Entra ID";
pub(crate) const ENTRA_FIELDS: [(&str, &str); 2] =
    [("Tenant URL", "the address above"), ("Secret token", "an API key of the service account")];
pub(crate) const ENTRA_WHAT: &str = "Make an application that is not in the gallery, and enter these under \
     Provisioning. Let objectId become externalId, in place of mailNickname. Assign one person and one group first, \
     and look here at what arrived.";
pub(crate) const OKTA: &str = "Okta";
pub(crate) const OKTA_FIELDS: [(&str, &str); 3] = [
    ("SCIM connector base URL", "the address above"),
    ("Unique identifier field for users", "userName"),
    ("Authentication mode", "HTTP Header, with an API key of the service account as the bearer token"),
];
pub(crate) const OKTA_WHAT: &str = "Set Provisioning to SCIM in the application, and enter these under Integration. \
     Choose to push new users, profile updates and groups.";

// What a directory has sent.
pub(crate) const WHAT_ARRIVED: &str = "What arrived last";
pub(crate) const NOTHING_ARRIVED: &str =
    "No request has arrived yet. After you have entered the address and the key, test the connection at the provider.";
pub(crate) const NO_REFUSALS: &str = "None of its requests was refused.";
pub(crate) const REFUSALS_WHAT: &str = "The newest 20 requests that were refused, newest first.";
pub(crate) const REQUEST: &str = "Request";
pub(crate) const WHY: &str = "Why";
pub(crate) const TIME: &str = "Time";

// Removal.
pub(crate) const USERS_OF_DIRECTORY: &str = "Its users";
pub(crate) const KEEP_USERS: &str = "They stay as they are";
pub(crate) const SUSPEND_USERS: &str = "Those who are active are suspended";
pub(crate) const REMOVE_DIRECTORY_WHAT: &str = "The users stay, and belong to no directory. The roles that its groups \
     gave end. The service account stays, with its keys. You first see who loses what.";
pub(crate) const REMOVE_DIRECTORY: &str = "Remove the directory";
pub(crate) const REMOVAL_KEEPS: &str =
    "The users of the directory stay as they are, except for the roles that its groups gave.";
pub(crate) const REMOVAL_SUSPENDS: &str =
    "The users of the directory who are active are suspended, and can no longer sign in.";

pub(crate) fn remove_directory(name: &str) -> String {
    format!("Remove the directory {name}")
}

// Groups.
pub(crate) const GROUPS: &str = "Groups";
pub(crate) const GROUP: &str = "Group";
pub(crate) const GROUPS_WHAT: &str = "The directory makes groups, and adds and removes their members. A group gives \
     nothing, whatever its name is, until you give it roles.";
pub(crate) const NO_GROUPS: &str = "The directory has sent no group yet.";
pub(crate) const NO_GROUP_MATCHES: &str = "No group matches.";
pub(crate) const SHOW_ALL_GROUPS: &str = "Show all groups";
pub(crate) const SEARCH_GROUPS_HINT: &str = "A part of the name";
pub(crate) const GROUP_MEMBERS: &str = "Members";
pub(crate) const GROUP_GRANTS: &str = "Roles of its members";
pub(crate) const NO_GRANTS: &str = "none";
pub(crate) const GROUP_GIVES_NOTHING: &str = "The group gives no role.";
pub(crate) const GROUP_GRANTS_HINT: &str = "Each member holds these roles as long as the directory leaves it in the \
     group, and new members get them. An empty row counts for nothing. You see first who gains and who loses what.";
pub(crate) const GROUP_GRANTS_NOTE: &str = "Users whom the directory adds to the group later get these roles, too.";
pub(crate) const GROUP_CHANGED_MEANWHILE: &str =
    "The group has changed since you opened this page, so nothing is changed. Open the page again first.";
pub(crate) const ABOUT_THIS_GROUP: &str = "what was done to this group";

pub(crate) fn groups_found(count: u64) -> String {
    if count == 1 { "1 group".to_owned() } else { format!("{count} groups") }
}

pub(crate) fn change_grants_of(group: &str) -> String {
    format!("Change the roles of the group {group}")
}

/// A role with where it is held.
pub(crate) fn role_in(role: &str, place: &str) -> String {
    format!("{role} · {place}")
}

/// Why the service account of a directory cannot give a role.
pub(crate) fn account_lacks(permission: &str) -> String {
    format!("The service account of the directory does not hold what this role gives: it lacks {permission} there.")
}

// Role assignments that a group gives.
pub(crate) const BY_A_GROUP: &str = "by a group of a directory";
pub(crate) const OF_GROUP_WHAT: &str = "A group of a directory gives this role. It ends when the directory removes the \
     user from the group, or when the roles of the group change.";
pub(crate) const GIVEN: &str = "Given";

/// Names the group that gives a role.
pub(crate) fn by_group(group: &str, directory: &str) -> String {
    format!("by group {group} of {directory}")
}
