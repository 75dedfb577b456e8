use iam_model::permission::PermissionPattern;
use iam_model::validate::Fields;

/// The maximum number of permissions of a role or an API key.
const MAX_PERMISSIONS: usize = 1000;

/// Parses the field `permissions`. Returns the valid patterns, in the order of the input.
pub(crate) fn check_patterns(fields: &mut Fields, texts: &[String]) -> Vec<PermissionPattern> {
    if texts.len() > MAX_PERMISSIONS {
        fields.reject("permissions", format!("must have at most {MAX_PERMISSIONS} items"));
        return Vec::new();
    }
    let parse = |(number, text): (usize, &String)| fields.check(&pattern_field(number), text.parse());
    texts.iter().enumerate().filter_map(parse).collect()
}

/// Returns the name of a pattern in errors.
pub(crate) fn pattern_field(number: usize) -> String {
    format!("permissions[{number}]")
}
