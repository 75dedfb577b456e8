//! The files of other systems, after their published formats, and what Django itself has written.
#![cfg(test)]

use iam_import::{Auth0Hashes, FirebaseParameters, ForeignPassword, Format, ReadError, Record, Row, Source, read};
use proptest::collection::vec;
use proptest::prelude::*;

fn rows(format: Format, text: &str, source: &Source) -> Vec<Row> {
    read(format, text.as_bytes(), source).unwrap().map(Result::unwrap).collect()
}

fn users(format: Format, text: &str) -> Vec<Record> {
    rows(format, text, &Source::default()).into_iter().map(|row| row.user.unwrap()).collect()
}

fn hash(user: &Record) -> &str {
    match &user.password {
        ForeignPassword::None => "",
        ForeignPassword::Hash(hash) => hash.expose(),
        ForeignPassword::Unusable(why) => why,
    }
}

const REALM: &str = include_str!("keycloak-realm.json");

#[test]
fn the_users_of_a_realm_of_keycloak_are_read() {
    let found = rows(Format::Keycloak, REALM, &Source::default());
    assert_eq!(found.iter().map(|row| row.line).collect::<Vec<_>>(), [5, 26, 33, 43]);
    let ada = found[0].user.as_ref().unwrap();
    assert_eq!(ada.foreign_id.as_deref(), Some("0f5d6b0e-57a5-4a0e-8f0d-6d2f1f1d0001"));
    assert_eq!((ada.email.as_str(), ada.is_email_verified), ("ada@example.com", true));
    assert_eq!((ada.first_name.as_str(), ada.last_name.as_str()), ("Ada", "Lovelace"));
    assert_eq!(ada.roles, ["default-roles-acme", "admin"]);
    assert_eq!(ada.client_roles["shop"], ["clerk"]);
    assert_eq!((ada.username.as_deref(), found[3].username.as_deref()), (Some("ada"), Some("jean")));
    assert_eq!(ada.groups, ["/customers/north"]);
    assert_eq!(ada.attributes["locale"], serde_json::json!(["en"]));
    assert_eq!(ada.left_out, ["username", "second factors: 2", "accounts of identity providers: 1"]);
    assert_eq!(
        hash(ada),
        "$pbkdf2-sha512$i=210000$AAECAwQFBgcICQoLDA0ODw$\
         AdIiMb6fiMOdrD4zcBXYl9GGr8tfdM9XIe+l6s0U2lWjFUtmyy7mh2TPV+IfZACd1BNKkt8doz+E5vWFZ3EWGQ"
    );
    let grace = found[1].user.as_ref().unwrap();
    assert_eq!(grace.status.as_str(), "SUSPENDED");
    assert_eq!((grace.first_name.as_str(), grace.last_name.as_str()), ("grace", "-"));
    assert_eq!(
        hash(grace),
        "$argon2id$v=19$m=7168,t=5,p=1$AAECAwQFBgcICQoLDA0ODw$azsIgzJYhufSytqVPi/xcE5Qfvqh/iWOpbBxX8a3QKA"
    );
    let client = found[2].user.as_ref().unwrap_err();
    assert_eq!((client.field.as_str(), found[2].foreign_id.is_some()), ("serviceAccountClientId", true));
    let jean = found[3].user.as_ref().unwrap();
    assert_eq!((jean.email.as_str(), hash(jean)), ("", "its credentialData or secretData cannot be read"));
}

#[test]
fn the_users_of_all_realms_of_keycloak_are_read() {
    let realms = format!("[{REALM}, {{\"realm\": \"empty\"}}, {REALM}]");
    let found = rows(Format::Keycloak, &realms, &Source::default());
    let emails: Vec<&str> = found.iter().map(|row| row.email.as_str()).collect();
    let of_one = ["ada@example.com", "grace@example.com", "", ""];
    assert_eq!(emails, [of_one, of_one].concat());
}

#[test]
fn a_temporary_password_of_keycloak_does_not_become_a_lasting_one() {
    let temporary =
        REALM.replace("\"requiredActions\": []", "\"requiredActions\": [\"VERIFY_EMAIL\", \"UPDATE_PASSWORD\"]");
    let ada = rows(Format::Keycloak, &temporary, &Source::default()).remove(0).user.unwrap();
    assert_eq!(hash(&ada), "it is temporary");
    assert_eq!(ada.left_out.last().unwrap(), "required actions: 2");
    let by_email = REALM.replace("\"username\": \"ada\"", "\"username\": \"ADA@example.com\"");
    let ada = rows(Format::Keycloak, &by_email, &Source::default()).remove(0).user.unwrap();
    assert!(!ada.left_out.contains(&"username".to_owned()), "{:?}", ada.left_out);
}

#[test]
fn a_user_of_keycloak_or_django_is_active_only_if_the_file_says_so() {
    for (enabled, status, left_out) in [
        ("\"enabled\": true", "ACTIVE", 0),
        ("\"enabled\": false", "SUSPENDED", 0),
        ("\"enabled\": null", "ACTIVE", 1),
        ("\"x\": 1", "ACTIVE", 1),
    ] {
        let of_keycloak = format!("{{\"users\": [{{\"email\": \"a@example.com\", {enabled}}}]}}");
        let fields = format!("{{\"email\": \"a@example.com\", \"password\": \"x\", {enabled}}}");
        let of_django = format!("[{{\"model\": \"shop.user\", \"fields\": {fields}}}]").replace("enabled", "is_active");
        for (format, text) in [(Format::Keycloak, of_keycloak), (Format::Django, of_django)] {
            let user = users(format, &text).remove(0);
            assert_eq!((user.status.as_str(), user.left_out.len()), (status, left_out), "{text}");
            assert!(user.left_out.iter().all(|text| text.ends_with(": not in the file")), "{:?}", user.left_out);
        }
    }
}

/// `cat realm-a.json realm-b.json` would lose the users of the second realm.
#[test]
fn a_second_document_in_a_file_is_an_error() {
    let of_django = include_str!("django.json");
    for (format, first, second) in [
        (Format::Keycloak, REALM, REALM),
        (Format::Firebase, "{\"users\": []}", "x"),
        (Format::Django, of_django, of_django),
        (Format::Auth0, "[]", "[]"),
    ] {
        let source = Source::default();
        let (text, line) = (format!("{}\n{second}", first.trim_end()), first.trim_end().lines().count() + 1);
        let error = read(format, text.as_bytes(), &source).unwrap().find_map(Result::err).unwrap().to_string();
        assert!(error.starts_with(&format!("line {line}: another text follows")), "{error}");
    }
}

#[test]
fn a_file_without_users_is_another_file() {
    for format in [Format::Keycloak, Format::Firebase] {
        let source = Source::default();
        let mut rows = read(format, &br#"{"realm": "acme", "users": null}"#[..], &source).unwrap();
        let error = rows.next().unwrap().unwrap_err().to_string();
        assert_eq!(error, "line 1: the object has no list users");
    }
}

#[test]
fn the_users_of_auth0_get_the_hashes_of_the_other_file() {
    let hashes = "{\"_id\":{\"$oid\":\"60425da93519d90068f82966\"},\"email_verified\":false,\"email\":\"ada@example.com\",\
                  \"passwordHash\":\"$2b$10$3YgK8Md6TdXO38UyoJXzn.czEMha5B8rpZbza7oOBYzwZIcqjHn6e\",\"tenant\":\"dev\"}\n";
    let source = Source { auth0: Auth0Hashes::read(hashes.as_bytes()).unwrap(), ..Source::default() };
    let text = "{\"user_id\":\"auth0|60425da93519d90068f82966\",\"email\":\"ada@example.com\",\"email_verified\":true,\
                \"given_name\":\"Ada\",\"family_name\":\"Lovelace\",\"app_metadata\":{\"roles\":[\"admin\"],\"plan\":\"x\",\
                \"authorization\":{\"groups\":[\"north\"]}},\"user_metadata\":{\"plan\":\"best\",\"roles\":[\"owner\"]},\"identities\":[{\"provider\":\"auth0\"},{\"provider\":\"google-oauth2\"}]}\n\
                {\"Id\":\"auth0|2\",\"Email\":\"grace@example.com\",\"Email Verified\":\"true\",\"Name\":\"grace@example.com\",\"blocked\":true,\
                \"multifactor\":[\"guardian\"]}\n";
    let found: Vec<Record> = rows(Format::Auth0, text, &source).into_iter().map(|row| row.user.unwrap()).collect();
    assert!(hash(&found[0]).starts_with("$2b$10$3YgK"));
    assert_eq!((&found[0].roles[..], &found[0].groups[..]), (&["admin".to_owned()][..], &["north".to_owned()][..]));
    // People edit their user_metadata.
    assert_eq!(
        found[0].attributes.keys().collect::<Vec<_>>(),
        ["app_metadata.plan", "user_metadata.plan", "user_metadata.roles"]
    );
    assert_eq!(found[0].attributes["app_metadata.plan"], "x");
    assert_eq!(found[0].left_out, ["accounts of identity providers: 1", "blocked: not in the file"]);
    assert_eq!((found[1].is_email_verified, found[1].status.as_str(), hash(&found[1])), (true, "SUSPENDED", ""));
    assert_eq!(
        (found[1].first_name.as_str(), &found[1].left_out[..]),
        ("grace", &["second factors: 1".to_owned()][..])
    );
    // The file of hashes alone has users, too.
    let alone = users(Format::Auth0, hashes);
    assert_eq!(alone[0].foreign_id.as_deref(), Some("auth0|60425da93519d90068f82966"));
    assert!(hash(&alone[0]).starts_with("$2b$10$3YgK"));
}

#[test]
fn a_user_of_auth0_is_active_only_if_the_file_says_so() {
    for (blocked, expected) in [
        ("true", Ok(("SUSPENDED", 0))),
        ("\"true\"", Ok(("SUSPENDED", 0))),
        ("false", Ok(("ACTIVE", 0))),
        ("\"false\"", Ok(("ACTIVE", 0))),
        ("null", Ok(("ACTIVE", 1))),
        ("\"\"", Ok(("ACTIVE", 1))),
        ("\"maybe\"", Err("blocked")),
    ] {
        let text = format!("{{\"email\":\"a@example.com\",\"blocked\":{blocked}}}");
        let user = rows(Format::Auth0, &text, &Source::default()).remove(0).user;
        let found = match &user {
            Ok(user) => Ok((user.status.as_str(), user.left_out.len())),
            Err(error) => Err(error.field.as_str()),
        };
        assert_eq!(found, expected, "{blocked}");
    }
}

#[test]
fn the_hashes_that_auth0_imports_are_read() {
    let custom = |algorithm: &str, rest: &str| {
        let text = format!(
            "[{{\"email\":\"a@example.com\",\"custom_password_hash\":{{\"algorithm\":\"{algorithm}\",{rest}}}}}]"
        );
        hash(&users(Format::Auth0, &text)[0]).to_owned()
    };
    assert_eq!(custom("argon2", "\"hash\":{\"value\":\"$argon2id$x\",\"encoding\":\"utf8\"}"), "$argon2id$x");
    let scrypt =
        "\"hash\":{\"value\":\"0001\",\"encoding\":\"hex\"},\"salt\":{\"value\":\"AAE=\",\"encoding\":\"base64\"}";
    assert_eq!(custom("scrypt", &format!("{scrypt},\"keylen\":2,\"cost\":32768")), "$scrypt$ln=15,r=8,p=1$AAE$AAE");
    assert!(custom("scrypt", &format!("{scrypt},\"keylen\":3")).contains("keylen"));
    assert!(custom("md5", "\"hash\":{\"value\":\"x\"}").contains("its algorithm"));
}

const FIREBASE: &str = "hash_config {\n  algorithm: SCRYPT,\n  base64_signer_key: a2V5,\n  base64_salt_separator: Bw==,\n  \
                        rounds: 8,\n  mem_cost: 14,\n}";

const FIREBASE_HASH: &str = "$firebase-scrypt$ln=14,r=8$42xEC+ixf3L2lwc$\
     lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ";

#[test]
fn the_users_of_firebase_are_read() {
    let source = Source { firebase: Some(FirebaseParameters::parse(FIREBASE).unwrap()), ..Source::default() };
    let json = r#"{"users": [
{"localId": "x1", "email": "ada@example.com", "emailVerified": true, "displayName": "Ada King Lovelace",
 "passwordHash": "lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==",
 "salt": "42xEC+ixf3L2lw==", "lastSignedInAt": "1", "createdAt": "1", "disabled": false,
 "customAttributes": "{\"admin\":true,\"role\":\"clerk\",\"plan\":\"x\"}",
 "photoUrl": "https://example.com/a.png", "providerUserInfo": []},
{"localId": "x2", "email": "grace@example.com", "emailVerified": false, "disabled": true,
 "providerUserInfo": [{"providerId": "google.com", "rawId": "7"}]}
]}"#;
    let found: Vec<Record> = rows(Format::Firebase, json, &source).into_iter().map(|row| row.user.unwrap()).collect();
    assert_eq!((found[0].first_name.as_str(), found[0].last_name.as_str()), ("Ada King", "Lovelace"));
    assert_eq!((hash(&found[0]), found[0].is_email_verified), (FIREBASE_HASH, true));
    assert_eq!(found[0].roles, ["admin", "clerk"]);
    assert_eq!(found[0].attributes.keys().collect::<Vec<_>>(), ["customAttributes.plan", "photoUrl"]);
    assert_eq!((found[1].foreign_id.as_deref(), found[1].status.as_str()), (Some("x2"), "SUSPENDED"));
    assert_eq!((hash(&found[1]), &found[1].left_out[..]), ("", &["accounts of identity providers: 1".to_owned()][..]));
    assert_eq!(hash(&users(Format::Firebase, json)[0]), "its parameters are not given");
}

#[test]
fn claims_of_firebase_that_are_no_object_refuse_their_user() {
    let user = |claims: &str| {
        let user = serde_json::json!({ "localId": "x1", "email": "ada@example.com", "customAttributes": claims });
        rows(Format::Firebase, &serde_json::json!({ "users": [user] }).to_string(), &Source::default()).remove(0)
    };
    assert!(user("").user.is_ok() && user("{}").user.is_ok());
    for claims in ["[\"admin\"]", "{\"admin\": tr", "admin"] {
        let row = user(claims);
        assert_eq!((row.email.as_str(), row.foreign_id.as_deref()), ("ada@example.com", Some("x1")));
        assert_eq!(row.user.unwrap_err().field, "customAttributes", "{claims}");
    }
}

/// A person has set a name that writes the columns after it, and a second record.
#[test]
fn the_csv_of_firebase_is_refused() {
    let written = "x1,ada@example.com,true,hash,salt,Ada,,,,,,,,,,,,,,,,,,1,1,,false,{\"admin\":true}\n\
                   x2,root@example.com,true,,,,,,,,,,,,,,,,,,,,,1,1,,false,\n";
    for text in [written, "", "\u{feff}x1,ada@example.com\n"] {
        let source = Source::default();
        let Err(error) = read(Format::Firebase, text.as_bytes(), &source).map(drop) else { panic!("{text}") };
        assert!(error.to_string().contains("export the users as JSON"), "{error}");
    }
    assert!(read(Format::Firebase, &b"\xEF\xBB\xBF {\"users\": []}"[..], &Source::default()).is_ok());
}

/// Django 5.2 has written the file: `manage.py dumpdata auth.group auth.user`.
#[test]
fn what_django_has_written_is_read() {
    let found = users(Format::Django, include_str!("django.json"));
    let hashes: Vec<&str> = found.iter().map(|user| hash(user).split('$').next().unwrap()).collect();
    assert_eq!(hashes, ["pbkdf2_sha256", "argon2", "bcrypt_sha256", "scrypt", ""]);
    let ada = &found[0];
    assert_eq!((ada.email.as_str(), ada.foreign_id.as_deref()), ("ada@example.com", Some("1")));
    assert_eq!((ada.first_name.as_str(), ada.last_name.as_str()), ("Ada", "Lovelace"));
    assert_eq!(
        (&ada.roles[..], &ada.groups[..]),
        (&["staff".to_owned(), "superuser".to_owned()][..], &["Editors".to_owned()][..])
    );
    assert_eq!(found[4].status.as_str(), "SUSPENDED");
    // The same, with one object in each line.
    let objects: Vec<serde_json::Value> = serde_json::from_str(include_str!("django.json")).unwrap();
    let lines: Vec<String> = objects.iter().map(ToString::to_string).collect();
    assert_eq!(users(Format::Django, &lines.join("\n")), found);
    // Without the groups, their names are not known.
    let alone = users(Format::Django, &lines[lines.len() - 5]);
    assert_eq!(alone[0].left_out, ["groups whose names are not in the file above the user: 1"]);
}

#[test]
fn the_table_of_devise_is_read() {
    let csv = "id,email,encrypted_password,confirmed_at,name,role,otp_secret,deleted_at,reset_password_token\n\
               7,ada@example.com,$2a$12$x,2026-01-01 00:00:00,Ada Lovelace,admin|clerk,ABC,,secret\n\
               8,grace@example.com,NULL,NULL,,,NULL,2026-01-01,NULL\n";
    let found = users(Format::Devise, csv);
    assert_eq!((hash(&found[0]), found[0].is_email_verified), ("$2a$12$x", true));
    assert_eq!(
        (&found[0].roles[..], &found[0].left_out[..]),
        (&["admin".to_owned(), "clerk".to_owned()][..], &["second factors: 1".to_owned()][..])
    );
    assert_eq!((hash(&found[1]), found[1].is_email_verified, found[1].status.as_str()), ("", false, "SUSPENDED"));
    let Err(ReadError::Malformed { message, .. }) = read(Format::Devise, &b"email\n"[..], &Source::default()).map(drop)
    else {
        panic!()
    };
    assert_eq!(message, "has no column encrypted_password");
}

/// A mark for inches in a column that is read has swallowed a record.
#[test]
fn a_value_of_several_lines_is_refused_only_in_columns_that_are_read() {
    let csv = "id,email,encrypted_password,bio,locked_at\n7,ada@example.com,x,\"two\nlines\",\"\n2026-01-01\"\n\
               8,grace@example.com,\"x,,\n9,jean@example.com,x\",,\n10,mary@example.com,x,,\"2\n3\"\n";
    let found = rows(Format::Devise, csv, &Source::default());
    let fields: Vec<Option<&str>> =
        found.iter().map(|row| row.user.as_ref().err().map(|error| error.field.as_str())).collect();
    assert_eq!(fields, [None, Some("encryptedpassword"), Some("lockedat")]);
}

/// The columns with a value that disables a user, as programs with Devise have them.
#[test]
fn a_user_of_devise_who_is_disabled_is_suspended() {
    let user = |column: &str, value: &str| {
        let csv = format!("id,email,encrypted_password,{column}\n7,ada@example.com,x,{value}\n");
        rows(Format::Devise, &csv, &Source::default()).remove(0)
    };
    let status = |column: &str, value: &str| user(column, value).user.unwrap().status.as_str();
    for column in ["locked_at", "banned_at", "deleted_at", "discarded_at", "suspended_at"] {
        assert_eq!(status(column, "2026-01-01 00:00:00"), "SUSPENDED", "{column}");
        assert_eq!((status(column, ""), status(column, "NULL")), ("ACTIVE", "ACTIVE"), "{column}");
    }
    for column in ["active", "approved"] {
        assert_eq!((status(column, "t"), status(column, "1")), ("ACTIVE", "ACTIVE"), "{column}");
        for value in ["f", "0", "FALSE", ""] {
            assert_eq!(status(column, value), "SUSPENDED", "{column} {value}");
        }
        let row = user(column, "maybe");
        assert_eq!((row.email.as_str(), row.foreign_id.as_deref()), ("ada@example.com", Some("7")));
        assert_eq!(row.user.unwrap_err().field, column);
    }
}

#[test]
fn a_lockout_of_aspnet_identity_suspends_until_its_end() {
    let now = "2030-06-01T00:00:00Z".parse().unwrap();
    let source = Source { now, ..Source::default() };
    for (enabled, end, expected) in [
        ("1", "9999-12-31 23:59:59.9999999 +00:00", Ok("SUSPENDED")),
        ("1", "2030-06-01 00:00:01", Ok("SUSPENDED")),
        ("1", "2030-06-01 02:00:00 +02:00", Ok("ACTIVE")),
        ("1", "2029-01-01", Ok("ACTIVE")),
        ("", "infinity", Ok("SUSPENDED")),
        ("1", "-infinity", Ok("ACTIVE")),
        ("1", "NULL", Ok("ACTIVE")),
        ("False", "9999-12-31", Ok("ACTIVE")),
        ("1", "31.12.9999 23:59:59", Err("LockoutEnd")),
        ("maybe", "9999-12-31", Err("LockoutEnabled")),
    ] {
        let csv = format!("Id,Email,PasswordHash,LockoutEnabled,LockoutEnd\na-1,ada@example.com,,{enabled},{end}\n");
        let row = rows(Format::Aspnet, &csv, &source).remove(0);
        assert_eq!((row.email.as_str(), row.foreign_id.as_deref()), ("ada@example.com", Some("a-1")));
        let found = match &row.user {
            Ok(user) => Ok(user.status.as_str()),
            Err(error) => Err(error.field.as_str()),
        };
        assert_eq!(found, expected, "{enabled} {end}");
    }
    // Version 2 has another name, and no column need say that lockouts count. The time of no reader is 1970.
    let csv = "Email,PasswordHash,LockoutEndDateUtc\nada@example.com,,2030-06-01 00:00:01\n";
    assert_eq!(users(Format::Aspnet, csv)[0].status.as_str(), "SUSPENDED");
}

#[test]
fn the_table_of_aspnet_identity_is_read() {
    let csv = "Id;UserName;Email;EmailConfirmed;PasswordHash;PhoneNumber;TwoFactorEnabled;LockoutEnd;Roles\n\
               a-1;ada;ada@example.com;1;AQAAAAEAACcQAAAAEAABAgMEBQYHCAkKCwwNDg8a3RJST3ZL0eWWP7ZG5qnxmnu+1xsChmurHg4P2C3T8g==;+1;True;NULL;Admin\n\
               a-2;grace;grace@example.com;False;NULL;NULL;0;9999-12-31 23:59:59.9999999 +00:00;\n";
    let found = users(Format::Aspnet, csv);
    assert_eq!(
        hash(&found[0]),
        "$pbkdf2-sha256$i=10000$AAECAwQFBgcICQoLDA0ODw$Gt0SUk92S9Hllj+2Ruap8Zp7vtcbAoZrqx4OD9gt0/I"
    );
    assert_eq!((found[0].is_email_verified, &found[0].roles[..]), (true, &["Admin".to_owned()][..]));
    assert_eq!((found[1].status.as_str(), hash(&found[1])), ("SUSPENDED", ""));
    assert_eq!(found[1].username.as_deref(), Some("grace"));
}

#[test]
fn no_error_contains_a_value_of_the_file() {
    for (format, text) in [
        (Format::Ndjson, "{\"email\": 5, \"passwordHash\": \"hunter2\"}\n{\"passwordHash\": \"hunter2\"\n"),
        (Format::Keycloak, "{\"users\": [{\"email\": [\"hunter2\"]}, {\"hunter2\": ]}"),
        (Format::Django, "[{\"model\": \"auth.user\", \"fields\": {\"email\": [\"hunter2\"]}}]"),
        (Format::Auth0, "{\"email\": {\"hunter2\": 1}}"),
        (Format::Ndjson, "{\"$2b$10$hunter2\": 1}"),
        (Format::Csv, "email,firstName,lastName\na@example.com,A,\"12 inch\nb@example.com,hunter2\"\""),
    ] {
        let source = Source::default();
        for row in read(format, text.as_bytes(), &source).unwrap() {
            let shown = match row {
                Ok(row) => format!("{:?}", row.user),
                Err(error) => format!("{error} {error:?}"),
            };
            assert!(!shown.contains("hunter2"), "{shown}");
        }
    }
}

proptest! {
    #[test]
    fn any_bytes_are_read_to_their_end(bytes in vec(any::<u8>(), 0..200)) {
        let source = Source::default();
        for format in [
            Format::Keycloak,
            Format::Auth0,
            Format::Firebase,
            Format::Django,
            Format::Devise,
            Format::Aspnet,
            Format::Csv,
            Format::Ndjson,
        ] {
            if let Ok(rows) = read(format, &bytes[..], &source) {
                assert!(rows.count() <= bytes.len() + 1);
            }
        }
    }
}

#[test]
fn a_record_of_great_depth_is_refused_and_the_next_one_is_read() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let text = format!("{{\"users\": [{{\"attributes\": {{\"a\": {deep}}}}}, {{\"email\": \"a@example.com\"}}]}}");
    let found = rows(Format::Keycloak, &text, &Source::default());
    assert_eq!(found[0].user.as_ref().unwrap_err().message, "is not valid JSON");
    assert_eq!(found[1].email, "a@example.com");
}
