//! Signing in, the registration of a tenant, and proofs of an identity.

pub(crate) const SIGN_IN: &str = "Sign in";
pub(crate) const TENANT_HINT: &str = "The short name of your company or organization, such as acme. Only needed if you have accounts in several tenants.";
pub(crate) const SEVERAL_TENANTS: &str =
    "You have accounts in several tenants (companies or organizations). Choose one and type your password again.";
pub(crate) const INCORRECT: &str =
    "The e-mail address or the password is not correct. If you have accounts in several tenants, name the tenant.";
pub(crate) const SESSION_ENDED: &str = "Your session has ended. Sign in again.";
pub(crate) const SIGNED_OUT: &str = "You are signed out.";
pub(crate) const FIRST_RUN: &str = "There is no tenant yet.";
pub(crate) const FIRST_RUN_CLOSED: &str =
    "There is no tenant yet, and registration is closed. The operator creates one with: iam-server tenant create";
pub(crate) const REGISTER_FIRST: &str = "Register the first tenant";

pub(crate) const SECOND_FACTOR: &str = "Second step";
pub(crate) const CODE: &str = "Code of your authenticator app";
pub(crate) const WRONG_CODE: &str = "The code is wrong, or was used before.";
pub(crate) const RECOVERY_CODE: &str = "Recovery code";
pub(crate) const USE_RECOVERY_CODE: &str = "Use a recovery code instead";
pub(crate) const CODE_IS_NONE: &str = "A code of your app has six digits.";
pub(crate) const CODE_MISSING: &str = "Type the code that your app shows now.";
pub(crate) const RECOVERY_CODE_MISSING: &str = "Type a recovery code.";
pub(crate) const PASSWORD_MISSING: &str = "Type your password.";
pub(crate) const WRONG_PASSWORD: &str = "The password is not correct.";
pub(crate) const FORGOT_PASSWORD: &str = "I have forgotten my password";
pub(crate) const NEW_PASSWORD_BY_MAIL: &str = "Choose a new password";
pub(crate) const FORGOT_WHAT: &str =
    "If a user has this address, a message with a link to choose a new password is sent to it.";
pub(crate) const FORGOT_SENT: &str =
    "If a user has this address, the message is on its way. The link in it works for 30 minutes.";
pub(crate) const SIGN_IN_BY_EMAIL: &str = "Sign in by e-mail";
pub(crate) const EMAIL_LOGIN_SENT: &str = "If a user with this address may sign in by e-mail, a message is on its way. Type the code in it here, or open \
     its link. Both work for 10 minutes.";
/// The label of the code; an error continues it.
pub(crate) const EMAIL_CODE: &str = "Code of the message";
pub(crate) const EMAIL_CODE_HINT: &str = "Eight digits.";
pub(crate) const EMAIL_LOGIN_LATE: &str = "The code of the message came too late. Begin again.";
pub(crate) const EMAIL_LINK_REFUSED: &str =
    "The link does not work: it was used, was replaced by a newer one, or has expired. Sign in again.";
pub(crate) const SIGN_IN_BY_PASSKEY: &str = "Sign in with a passkey";
pub(crate) const USE_PASSKEY: &str = "Use a passkey";
pub(crate) const PASSKEY_CANCELLED: &str = "No passkey was used. Try again, or choose another way.";
pub(crate) const PASSKEY_UNUSABLE: &str = "The browser has sent no answer of a passkey. Try again.";
pub(crate) const PASSKEY_NEEDS_SCRIPT: &str = "A passkey needs JavaScript. Allow it for this page.";
pub(crate) const SIGN_IN_LATE: &str = "The second step came too late. Sign in again.";
pub(crate) const START_AGAIN: &str = "Start again";

/// The button that leads to an identity provider.
pub(crate) fn sign_in_with(provider: &str) -> String {
    format!("Sign in with {provider}")
}

pub(crate) const PASSWORD_REFUSED: &str =
    "Your tenant does not allow passwords for your address. Sign in with the account of your company.";
pub(crate) const PASSWORD_OF_ADMINISTRATOR: &str =
    "If you hold all permissions in your tenant, you can also sign in with your password.";
pub(crate) const USE_PASSWORD: &str = "Use your password";
pub(crate) const FORM_TOO_LONG: &str =
    "The form that you sent is too long to be kept while you are at the provider. You must fill it in again.";
pub(crate) const PROVIDER_LATE: &str = "The sign-in took too long. Sign in again.";
pub(crate) const PROVIDER_DENIED: &str = "You were not let in at the provider. Try again, or choose another way.";
pub(crate) const PROVIDER_FAILED: &str =
    "The answer of the provider is not accepted. Try again. If that does not help, ask your administrator.";
pub(crate) const PROVIDER_NOT_LINKED: &str =
    "No user is linked to your account at the provider. Choose another way, or ask your administrator.";
pub(crate) const PROVIDER_UNAVAILABLE: &str = "The provider does not answer. Try again later, or choose another way.";

pub(crate) const REGISTER: &str = "Register a tenant";
pub(crate) const REGISTER_HINT: &str = "A tenant has its own users, roles and log, which no other tenant can see. \
     You become its first administrator.";
pub(crate) const NEW_TENANT_HINT: &str = "Your company or organization. We call it a tenant.";
pub(crate) const NOT_FIRST: &str = "There is a tenant already. Sign in.";

pub(crate) const CONFIRM_IDENTITY: &str = "Confirm that it is you";
pub(crate) const CONFIRM_IDENTITY_WHY: &str =
    "This action needs a recent proof of your identity. After it, the action goes on by itself.";
pub(crate) const CONFIRM_BY_OWN_FACTOR: &str =
    "This action needs a recent proof by your second factor. After it, the action goes on by itself.";
pub(crate) const ANOTHER_WAY: &str = "Another way";
pub(crate) const CONFIRM_BY_FACTOR: &str = "Your tenant requires a second factor, and you have not used yours in this session. After it, the action goes on by \
     itself.";

/// The button that leads to the identity provider of a session to authenticate again.
pub(crate) fn confirm_at(provider: &str) -> String {
    format!("Confirm at {provider}")
}

pub(crate) const CONFIRM_AT_WHAT: &str = "After that, you see here what you sent, and send it again.";
pub(crate) const BEGAN_OTHERWISE: &str = "This session did not begin by that provider. Choose another way.";
pub(crate) const CONFIRMED_BY_OTHER: &str =
    "You used an account at the provider that is not linked to you here. Nothing is changed. Use your own account.";
pub(crate) const PROVIDER_DID_NOT_ASK: &str =
    "The provider did not ask you to sign in again, so nothing is proven. Try again, or choose another way.";
pub(crate) const PROVIDER_IS_NOT_ENOUGH: &str =
    "You have a second factor here, and the account at the provider does not replace it. Use your second factor.";

pub(crate) const SESSION_ENDED_FORM_KEPT: &str =
    "Your session has ended. Sign in again. What you typed is kept, and you can send it after that.";
pub(crate) const SEND_AGAIN: &str = "Send the form again?";
pub(crate) const SEND_AGAIN_WHY: &str =
    "This form is from an earlier session, so nothing is changed yet. Check what it has, and send it again.";
pub(crate) const SEND_AFTER_PROOF: &str =
    "You have confirmed that it is you. Nothing is changed yet. Check what the form has, and send it again.";
pub(crate) const SEND: &str = "Send";
