//! Every text that the console itself shows, in English. A translation replaces this file.
//!
//! Messages about a refused call come from the services, as in the API.

pub(crate) const CONSOLE: &str = "Console";
pub(crate) const SKIP: &str = "Skip to the content";
pub(crate) const NAVIGATION: &str = "Main";
pub(crate) const SIGNED_IN_AS: &str = "Signed in as";
pub(crate) const SIGN_OUT: &str = "Sign out";
pub(crate) const SIGN_OUT_EVERYWHERE: &str = "Sign out everywhere";

pub(crate) const OVERVIEW: &str = "Overview";
pub(crate) const WELCOME: &str = "Welcome";
pub(crate) const YOUR_TENANT: &str = "Your tenant";
pub(crate) const YOUR_ROLES: &str = "Your roles";
pub(crate) const YOUR_SESSION: &str = "Your session";
pub(crate) const SINCE: &str = "Since";
pub(crate) const FROM: &str = "From";
pub(crate) const NO_ROLES: &str = "You have no roles. Ask an administrator of your tenant for one.";
pub(crate) const WHOLE_TENANT: &str = "the whole tenant";

pub(crate) const SIGN_IN: &str = "Sign in";
pub(crate) const TENANT: &str = "Tenant";
pub(crate) const TENANT_HINT: &str =
    "Its short name, such as acme. Only needed if you have accounts in several tenants.";
pub(crate) const EMAIL: &str = "E-mail address";
pub(crate) const PASSWORD: &str = "Password";
pub(crate) const SEVERAL_TENANTS: &str =
    "You have an account in several tenants. Choose one and type your password again.";
pub(crate) const INCORRECT: &str =
    "The e-mail address or the password is not correct. If you have accounts in several tenants, name the tenant.";
pub(crate) const SESSION_ENDED: &str = "Your session has ended. Sign in again.";
pub(crate) const SIGNED_OUT: &str = "You are signed out.";
pub(crate) const FIRST_RUN: &str = "There is no tenant yet.";
pub(crate) const FIRST_RUN_CLOSED: &str =
    "There is no tenant yet, and registration is closed. The operator creates one with: iam-server tenant create";
pub(crate) const REGISTER_FIRST: &str = "Register the first tenant";
pub(crate) const CONTINUE: &str = "Continue";

pub(crate) const SECOND_FACTOR: &str = "Second step";
pub(crate) const CODE: &str = "Code of your authenticator app";
pub(crate) const RECOVERY_CODE: &str = "Recovery code";
pub(crate) const USE_RECOVERY_CODE: &str = "Use a recovery code instead";
pub(crate) const PASSKEY_ONLY: &str =
    "The console does not accept passkeys yet. Use another second factor or a recovery code.";
pub(crate) const START_AGAIN: &str = "Start again";

pub(crate) const REGISTER: &str = "Register a tenant";
pub(crate) const REGISTER_HINT: &str = "A tenant is a closed area with its own users, roles and log. \
     You become its first administrator.";
pub(crate) const TENANT_NAME: &str = "Name of the tenant";
pub(crate) const FIRST_NAME: &str = "First name";
pub(crate) const LAST_NAME: &str = "Last name";
pub(crate) const PASSWORD_HINT: &str =
    "At least 8 characters, with an upper-case and a lower-case letter, a digit and one of ! @ # $ % ^ & *";
pub(crate) const NOT_FIRST: &str = "There is a tenant already. Sign in.";

pub(crate) const CONFIRM_IDENTITY: &str = "Confirm that it is you";
pub(crate) const CONFIRM_IDENTITY_WHY: &str = "You signed in some time ago, and this action needs a recent proof of your identity. \
     After it, the action goes on by itself.";
pub(crate) const CANCEL: &str = "Cancel";

pub(crate) const FOREIGN_FORM: &str =
    "This form is not from this page, or is older than your session. Open the page again.";
pub(crate) const BACK: &str = "Back to the overview";
pub(crate) const CORRELATION: &str = "Correlation id";
pub(crate) const WRONG_PASSWORD: &str = "The password is not correct.";
