//! API keys.

pub(crate) const API_KEYS: &str = "API keys";
pub(crate) const NO_KEYS: &str = "There is no key. With a key, a program acts as this user.";
pub(crate) const KEYS_HIDDEN: &str = "You may not see the keys of this user.";
pub(crate) const VALID_UNTIL: &str = "Valid until";
pub(crate) const EXPIRED_AT: &str = "Expired at";
pub(crate) const ALL_PERMISSIONS: &str = "all permissions of the user";
pub(crate) const IN_ORGANIZATION: &str = "in organization";
pub(crate) const NEW_KEY: &str = "New API key";
pub(crate) const CREATE_KEY: &str = "Create the key";
pub(crate) const KEY_WHAT: &str = "A program that has the key may do what the user may do, within these limits.";
pub(crate) const KEY_NAME_HINT: &str = "Such as the name of the program";
pub(crate) const KEY_PERMISSIONS: &str = "Only these permissions";
pub(crate) const KEY_PERMISSIONS_HINT: &str =
    "Such as users:read or roles:*, with spaces between them. Empty: all permissions of the user";
pub(crate) const KEY_PERMISSIONS_OF_OTHER_HINT: &str =
    "Such as users:read or roles:*, with spaces between them. You must hold them yourself";
pub(crate) const KEY_ORGANIZATION_HINT: &str =
    "Type a part of the name, and choose. The key works only in it and below it. Empty: everywhere";
pub(crate) const KEY_EXPIRY_HINT: &str = "At most 365 days from now. Empty: 90 days from now";
pub(crate) const KEY_ONCE: &str = "Copy the key now. It is not shown again. A program sends it as a bearer token.";
pub(crate) const REVOKE_KEY: &str = "Revoke this key";
pub(crate) const REVOKE_KEY_WHAT: &str = "A program that uses this key is refused from now on.";
pub(crate) const KEY_REVOKED: &str = "The key is revoked.";
