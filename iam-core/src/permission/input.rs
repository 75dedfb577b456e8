use iam_model::permission::PermissionPattern;
use iam_model::validate::Fields;

/// Parses the field `permissions`, of at most `max` items. Returns the valid patterns, in the order of the input.
pub(crate) fn check_patterns(fields: &mut Fields, texts: &[String], max: usize) -> Vec<PermissionPattern> {
    if texts.len() > max {
        fields.reject("permissions", too_many(max));
        return Vec::new();
    }
    let parse = |(number, text): (usize, &String)| fields.check(&pattern_field(number), text.parse());
    texts.iter().enumerate().filter_map(parse).collect()
}

/// Returns the message for more than `max` items.
pub(crate) fn too_many(max: usize) -> String {
    format!("must have at most {max} items")
}

/// Returns the name of a pattern in errors.
pub(crate) fn pattern_field(number: usize) -> String {
    format!("permissions[{number}]")
}
