//! Reads the secrets that a manifest names from the environment and from files.

use std::env::{self, VarError};
use std::path::Path;

use serde_json::Value as Json;

use crate::command::document::content_of;

/// The maximum size of a secret with the end of its line, in bytes: more than the characters that a service accepts.
const MAX_SECRET: usize = 4 * 1024;

/// A field, and what is wrong with it.
pub(super) type Problem = (String, String);

/// Puts each secret in the place of its name, which is `{ env: NAME }` or `{ file: PATH }`. A path is relative to the
/// folder of the manifest. No secret is in the variable of the API key.
///
/// # Errors
///
/// The field, and what is wrong with it. The text has neither the secret nor its name, in place of which a secret may
/// stand by mistake.
pub(super) fn resolve(manifest: &mut Json, folder: &Path, api_key_env: Option<&str>) -> Result<(), Problem> {
    let providers = manifest.get_mut("identityProviders").and_then(Json::as_array_mut);
    for (number, provider) in providers.into_iter().flatten().enumerate() {
        if let Some(named) = provider.get_mut("clientSecret") {
            let secret = secret_of(named, folder, api_key_env);
            let secret = secret.map_err(|problem| (format!("identityProviders[{number}].clientSecret"), problem))?;
            *named = Json::String(secret);
        }
    }
    Ok(())
}

fn secret_of(named: &Json, folder: &Path, api_key_env: Option<&str>) -> Result<String, String> {
    let only = named.as_object().filter(|entries| entries.len() == 1).and_then(|entries| entries.iter().next());
    match only.map(|(kind, name)| (kind.as_str(), name.as_str())) {
        Some(("env", Some(name))) => in_environment(name, api_key_env),
        Some(("file", Some(path))) => in_file(&folder.join(path)),
        _ => Err("must be { env: NAME } or { file: PATH }, because no manifest has a secret".to_owned()),
    }
}

fn in_environment(name: &str, api_key_env: Option<&str>) -> Result<String, String> {
    // These are the settings of the server. A provider must not get the password of its database.
    if name.to_ascii_uppercase().starts_with("IAM_") {
        return Err("must not name a variable that begins with IAM_".to_owned());
    }
    if name.eq_ignore_ascii_case("DATABASE_URL") {
        return Err("must not name DATABASE_URL, which is a setting of the server".to_owned());
    }
    if api_key_env.is_some_and(|variable| name.eq_ignore_ascii_case(variable)) {
        return Err("must not name the variable of --api-key-env".to_owned());
    }
    let secret = env::var(name).map_err(|error| match error {
        VarError::NotPresent => "names a variable that is not set".to_owned(),
        VarError::NotUnicode(_) => "names a variable that is not valid UTF-8".to_owned(),
    })?;
    if secret.len() > MAX_SECRET { Err(too_long()) } else { Ok(secret) }
}

/// Reads a file without the end of its last line.
fn in_file(path: &Path) -> Result<String, String> {
    let content = content_of(path, MAX_SECRET as u64);
    let content = content.map_err(|error| format!("names a file that cannot be read: {error}"))?;
    if content.len() > MAX_SECRET {
        return Err(too_long());
    }
    let mut secret = String::from_utf8(content).map_err(|_| "names a file that is not valid UTF-8".to_owned())?;
    if secret.ends_with('\n') {
        secret.pop();
        if secret.ends_with('\r') {
            secret.pop();
        }
    }
    without_controls(secret)
}

/// Refuses control characters: a file that has them is another file, such as the variables of a process.
fn without_controls(secret: String) -> Result<String, String> {
    if secret.contains(char::is_control) {
        Err("names a secret with control characters".to_owned())
    } else {
        Ok(secret)
    }
}

fn too_long() -> String {
    format!("names a secret of more than {MAX_SECRET} bytes")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn resolved(named: &Json, folder: &Path) -> Result<Json, String> {
        let mut manifest = json!({ "identityProviders": [{ "slug": "a" }, { "slug": "b", "clientSecret": named }] });
        resolve(&mut manifest, folder, Some("DEPLOY_KEY")).map_err(|(field, problem)| {
            assert_eq!(field, "identityProviders[1].clientSecret");
            problem
        })?;
        Ok(manifest["identityProviders"][1]["clientSecret"].clone())
    }

    #[test]
    fn a_secret_is_read_from_a_variable_or_from_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, content: &[u8]| std::fs::write(folder.path().join(name), content).unwrap();
        write("plain", b"very-secret");
        write("line", b" very-secret\r\n");
        write("lines", b"very\nsecret\n");
        write("variables", b"HOME=/\0USER=iam");
        write("long", &[b'x'; MAX_SECRET + 1]);
        write("binary", &[0xff]);
        let file = |name: &str| resolved(&json!({ "file": name }), folder.path());
        assert_eq!(file("plain"), Ok(json!("very-secret")));
        assert_eq!(file("line"), Ok(json!(" very-secret")));
        for name in ["lines", "variables"] {
            assert_eq!(file(name).unwrap_err(), "names a secret with control characters");
        }
        assert_eq!(file("long").unwrap_err(), "names a secret of more than 4096 bytes");
        assert_eq!(file("binary").unwrap_err(), "names a file that is not valid UTF-8");
        assert!(file("absent").unwrap_err().starts_with("names a file that cannot be read: "));
        let absolute = folder.path().join("plain");
        assert_eq!(resolved(&json!({ "file": absolute }), Path::new("elsewhere")), Ok(json!("very-secret")));
        // Every test of Cargo has this variable.
        let variable = resolved(&json!({ "env": "CARGO_MANIFEST_DIR" }), folder.path());
        assert_eq!(variable, Ok(json!(env!("CARGO_MANIFEST_DIR"))));
    }

    #[test]
    fn what_names_no_secret_is_refused_and_not_repeated() {
        let form = "must be { env: NAME } or { file: PATH }, because no manifest has a secret";
        for (named, expected) in [
            (json!("very-secret"), form),
            (json!(7), form),
            (json!({}), form),
            (json!({ "env": 7 }), form),
            (json!({ "vault": "very-secret" }), form),
            (json!({ "env": "A", "file": "b" }), form),
            (json!({ "env": "IAM_DATABASE_URL" }), "must not name a variable that begins with IAM_"),
            (json!({ "env": "iam_other" }), "must not name a variable that begins with IAM_"),
            (json!({ "env": "DATABASE_URL" }), "must not name DATABASE_URL, which is a setting of the server"),
            (json!({ "env": "DEPLOY_KEY" }), "must not name the variable of --api-key-env"),
            (json!({ "file": "." }), "names a file that cannot be read: it is not a regular file"),
            (json!({ "env": "very-secret" }), "names a variable that is not set"),
            (json!({ "env": "" }), "names a variable that is not set"),
            (json!({ "env": "A=\0" }), "names a variable that is not set"),
        ] {
            assert_eq!(resolved(&named, Path::new("")).unwrap_err(), expected, "{named}");
        }
    }

    #[test]
    fn a_manifest_without_secrets_stays_as_it_is() {
        for mut manifest in [
            json!({}),
            json!({ "identityProviders": "x" }),
            json!({ "identityProviders": ["x", { "slug": "a" }] }),
            json!([1]),
        ] {
            let before = manifest.clone();
            resolve(&mut manifest, Path::new(""), None).unwrap();
            assert_eq!(manifest, before);
        }
    }
}
