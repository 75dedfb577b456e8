//! The import of users.

pub(crate) const IMPORT: &str = "Import";
pub(crate) const IMPORT_USERS: &str = "Import users";
pub(crate) const IMPORT_WHAT: &str = "Creates users from a CSV file, such as one that Excel saves. \
     First check the file: nothing is saved. Then import it. Rows with errors are left out.";
pub(crate) const IMPORT_COLUMNS: &str = "The first line names the columns, in any order:";
pub(crate) const IMPORT_TEMPLATE: &str = "Download an empty file with this line";
pub(crate) const IMPORT_EXAMPLE: &str = "Each person is a line below it, for example:";
pub(crate) const IMPORT_INVITES: &str = "Each person gets an invitation by e-mail: a link that works for 7 days, with which the person chooses a password. \
     The person gets no role.";
pub(crate) const IMPORT_HASHES: &str = "To take over users of another system with their passwords, add these columns:";
pub(crate) const IMPORT_HASH_FORMATS: &str = "A row with the hash of a password creates a user at once. The hash is as the other system stored it: Argon2 or PBKDF2 \
     that costs little to verify. The operator imports the others, such as bcrypt. \
     The status is ACTIVE or SUSPENDED; without it, ACTIVE.";
pub(crate) const IMPORT_FORMAT: &str = "Columns";
pub(crate) const FORMAT_CSV: &str = "those above";
pub(crate) const FORMAT_ASPNET: &str = "of the table AspNetUsers of ASP.NET Identity";
pub(crate) const IMPORT_FORMAT_HINT: &str = "The operator imports the files of Keycloak, Auth0, Firebase, Django and Devise, \
     and expensive hashes, roles and groups, by a command.";
pub(crate) const ROW_LEFT_OUT: &str = "Left out:";
pub(crate) const ROW_OF_OPERATOR: &str = "can only be imported by the operator";
pub(crate) const CSV_FILE: &str = "CSV file";
pub(crate) const CSV_TEXT: &str = "Or paste its text";
pub(crate) const CSV_HINT: &str = "Keep this page open until the import has ended. If you leave it, the rows after the last \
     one shown are not imported. Then import the file again: people who are users or invited already are refused, and stay as they are.";
pub(crate) const IMPORT_CHECK: &str = "Check";
pub(crate) const IMPORT_RUN: &str = "Import";
pub(crate) const IMPORT_RESULT: &str = "Result of each row";
pub(crate) const IMPORT_PROGRESS: &str = "{done} of {total} rows";
pub(crate) const IMPORT_CHECKED: &str =
    "Users that can be created: {created}. People who can be invited: {invited}. Rows with errors: {bad}.";
pub(crate) const IMPORT_DONE: &str =
    "Users that were created: {created}. People who were invited: {invited}. Rows that were refused: {bad}.";
pub(crate) const IMPORT_EMPTY: &str =
    "Choose a file, or paste its text: a line with the names of the columns, and rows.";
pub(crate) const FILE_CHANGED: &str = "The file has changed. Choose it again, and check it.";
pub(crate) const FILE_NOT_UTF8: &str = "The file is not in UTF-8. In Excel, save it as \u{201c}CSV UTF-8\u{201d}.";
pub(crate) const CONNECTION_LOST: &str = "The server does not answer.";
pub(crate) const CHECK_NOT_DONE: &str = "Nothing was checked.";
pub(crate) const CHECK_NOT_WHOLE: &str = "Only the rows below were checked. Check again.";
pub(crate) const IMPORT_NOT_DONE: &str = "Nothing was imported.";
pub(crate) const IMPORT_NOT_WHOLE: &str =
    "Only the rows below were imported. Import again: rows that are done are refused, and stay as they are.";
pub(crate) const IMPORT_STOPPED: &str = "The import has stopped here.";
pub(crate) const LINE: &str = "Line";
pub(crate) const RESULT: &str = "Result";
pub(crate) const THE_FILE: &str = "The file";
pub(crate) const TOO_MANY_ROWS: &str = "has too many rows for one form; the maximum is";
pub(crate) const ROW_VALID: &str = "can be created";
pub(crate) const ROW_CREATED: &str = "created";
pub(crate) const ROW_INVITABLE: &str = "can be invited";
pub(crate) const ROW_INVITED: &str = "invited";
pub(crate) const ROW_NEEDS_MAIL: &str = "A row without passwordHash invites the person by e-mail, and this installation sends no mail. The operator can set \
     IAM_SMTP_URL or IAM_MAIL_DIR.";
pub(crate) const ROW_ATTRIBUTES_NEED_HASH: &str = "must be empty in a row without passwordHash";
pub(crate) const ROW_ONLY_ACTIVE: &str = "must be empty or ACTIVE in a row without passwordHash";
pub(crate) const ROW_NOT_TRIED: &str = "not imported";
pub(crate) const ROW_REPEATED: &str = "A row before it has the same e-mail address.";
