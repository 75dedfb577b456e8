/// Returns whether a field has this name, which is in lower case and without underscores. Camel case, snake case and
/// upper case are the same.
pub(super) fn is_folded(name: &str, folded: &str) -> bool {
    name.chars().filter(|c| *c != '_').flat_map(char::to_lowercase).eq(folded.chars())
}
