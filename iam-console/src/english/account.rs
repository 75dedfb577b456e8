//! The own account: its password, its address, its second factors and its linked accounts.

pub(crate) const MY_ACCOUNT: &str = "My account";

pub(crate) const CHANGE_PASSWORD: &str = "Change the password";
pub(crate) const CHANGE_PASSWORD_WHAT: &str = "Your other sessions end.";
pub(crate) const CURRENT_PASSWORD: &str = "Current password";
pub(crate) const NEW_PASSWORD: &str = "New password";
pub(crate) const PASSWORD_CHANGED: &str = "Your password is changed. Your other sessions have ended.";
pub(crate) const CHANGE_EMAIL: &str = "Change the e-mail address";
pub(crate) const CHANGE_EMAIL_WHAT: &str =
    "We send a link to the new address. Your address changes when you open the link.";
pub(crate) const NEW_EMAIL: &str = "New e-mail address";
pub(crate) const EMAIL_LINK_SENT: &str = "A link is on its way to the new address. Open it to change your address.";
pub(crate) const SEND_VERIFICATION: &str = "Send a link to verify the address";
pub(crate) const VERIFICATION_SENT: &str = "A link is on its way to your address.";
pub(crate) const END_OTHER_SESSIONS: &str = "End all other sessions";
pub(crate) const NO_OTHER_SESSIONS: &str = "You are not signed in anywhere else.";
pub(crate) const OTHER_SESSIONS_ENDED: &str = "Your other sessions have ended.";

pub(crate) const SECOND_FACTORS: &str = "Second factors";
pub(crate) const FACTOR_REQUIRED: &str = "Your tenant requires a second factor. Set one up to use the other pages. Then sign in again if a page asks for it.";
pub(crate) const FACTOR_UNUSED: &str =
    "Your tenant requires a second factor, and you have not used yours in this session. Use it to go on.";
pub(crate) const USE_FACTOR: &str = "Use your second factor";
pub(crate) const FACTOR_REQUIRED_SOON: &str =
    "Your tenant requires a second factor. Set one up, or sign in again with the one that you have, before";
pub(crate) const YOU_HAVE_NO_FACTORS: &str =
    "Your password alone protects your account. Add an authenticator app or a passkey.";
pub(crate) const AUTHENTICATOR: &str = "Authenticator app";
pub(crate) const PASSKEY: &str = "Passkey";
pub(crate) const RENAME: &str = "Rename";
pub(crate) const RENAME_FACTOR: &str = "Rename the factor";
pub(crate) const ADD_AUTHENTICATOR: &str = "Add an authenticator app";
pub(crate) const AUTHENTICATOR_WHAT: &str =
    "An app on your phone shows a new code every 30 seconds. After your password, you type the code.";
pub(crate) const AUTHENTICATOR_NAME_HINT: &str = "Such as the name of the phone";
/// The label of the first code of an app; an error continues it.
pub(crate) const APP_CODE: &str = "Code";
pub(crate) const SCAN: &str = "Scan this code with your app:";
pub(crate) const QR_CODE: &str = "QR code for your authenticator app. The secret is also below, as text.";
pub(crate) const OR_TYPE: &str = "Or type this secret into your app:";
pub(crate) const OPEN_APP: &str = "Open the app on this device";
pub(crate) const CONFIRM: &str = "Confirm";
pub(crate) const ADD_PASSKEY: &str = "Add a passkey";
pub(crate) const PASSKEY_WHAT: &str = "Your device keeps the passkey, and asks for your finger, your face or a PIN. With it you sign in without a password.";
pub(crate) const PASSKEY_NAME: &str = "This device";
pub(crate) const PASSKEY_KNOWN: &str = "This device has a passkey of your account already.";
pub(crate) const PASSKEY_GO_ON: &str = "Your identity is confirmed. Add the passkey now.";
pub(crate) const PASSKEY_REFUSED: &str = "The answer of the passkey is not accepted. Try again.";
pub(crate) const FACTOR_ADDED: &str = "The factor is added. From now on, you sign in with it.";
pub(crate) const FACTOR_REMOVED: &str = "The factor is removed.";
pub(crate) const RECOVERY_CODES: &str = "Recovery codes";
pub(crate) const RECOVERY_CODES_LEFT: &str = "Codes that are left";
pub(crate) const RECOVERY_CODES_ONCE: &str = "They are shown only now: copy them before you leave this page. Keep them in a safe place. Each works once, in place of a second factor.";
pub(crate) const NEW_CODES: &str = "Get new codes";
pub(crate) const NEW_CODES_WHAT: &str = "With new codes, the old ones stop working.";

pub(crate) const LINKED_ACCOUNTS: &str = "Linked accounts";
pub(crate) const LINKED_WHAT: &str =
    "With an account at one of these providers, you sign in without a password of this console.";
pub(crate) const NOTHING_LINKED: &str = "No account is linked to yours.";
pub(crate) const NO_PROVIDERS: &str = "Your tenant has no provider of accounts.";
pub(crate) const LINKED_SINCE: &str = "Linked";
pub(crate) const ACCOUNT_LINKED: &str = "The account is linked. From now on, you can sign in with it.";
pub(crate) const LINK_REMOVED: &str = "The account is no longer linked to yours.";
pub(crate) const RETURN_LATE: &str = "It took too long to come back from the provider. Begin again.";
pub(crate) const EXPORT_OWN: &str = "Download my data";
pub(crate) const EXPORT_OWN_WHAT: &str =
    "A page with everything that is held about you, and what the log has of you. The download is recorded.";

/// The button that leads to an identity provider to link an account there.
pub(crate) fn link_with(provider: &str) -> String {
    format!("Link {provider}")
}
