#![cfg(test)]

use axum::http::{HeaderValue, StatusCode};
use iam_core::Caller;
use iam_core::assignment::NewAssignment;
use iam_core::invitation::{InvitationFilter, NewInvitation};
use iam_core::role::NewRole;
use iam_core::user::{UserFilter, UserSort};

use crate::app::{Answer, App, EMAIL, form, person};

const PATH: &str = "/console/users/import";
const HEADER: &str = "email,firstName,lastName,passwordHash,status";
/// The hash of `hash imported`, with a comma in it.
const HASH: &str =
    r#""$pbkdf2-sha256$i=10000,l=32$AAECAwQFBgcICQoLDA0ODw$Gt0SUk92S9Hllj+2Ruap8Zp7vtcbAoZrqx4OD9gt0/I""#;

async fn count(app: &App, caller: &Caller) -> u64 {
    app.iam.users().list(caller, &UserFilter::default(), UserSort::default(), Default::default()).await.unwrap().total
}

async fn signed() -> (App, Caller, String) {
    signed_at(App::empty().await).await
}

/// Signs in at an installation that sends mail.
async fn signed_with_mail() -> (App, Caller, String) {
    signed_at(App::with_mail().await).await
}

async fn signed_at(app: App) -> (App, Caller, String) {
    let ada = app.register(EMAIL).await;
    let cookie = app.sign_in(EMAIL).await;
    (app, ada, cookie)
}

/// Returns the line, the e-mail and the result of each row.
fn rows(answer: &Answer) -> Vec<[String; 3]> {
    let text = |cell: &str| {
        let mut plain = String::new();
        let mut is_tag = false;
        for char in cell.chars() {
            match char {
                '<' => is_tag = true,
                '>' => is_tag = false,
                char if !is_tag => plain.push(char),
                _ => {}
            }
        }
        plain
    };
    let rows = answer.body.split("<tr").skip(1).filter(|row| row.contains("data-email"));
    rows.map(|row| {
        let cells: Vec<String> =
            row.split("<td>").skip(1).map(|cell| text(cell.split("</td>").next().unwrap())).collect();
        cells.try_into().unwrap()
    })
    .collect()
}

#[tokio::test]
async fn a_check_says_what_would_happen_to_each_row_and_saves_nothing() {
    let (app, ada, cookie) = signed().await;
    let csv = [
        HEADER,
        &format!("grace@example.com,Grace,Hopper,{HASH},"),
        &format!("alan,Alan,,{HASH},ACTIVE"),
        &format!("{EMAIL},Ada,Lovelace,{HASH},SUSPENDED"),
        "",
        &format!("\"x@example.com\",\"Line\nbreak\",X,{HASH},GONE"),
        "y@example.com,too,few",
        &format!("GRACE@example.com,Grace,Hopper,{HASH},"),
        "z@example.com,Zoe,Z,secret-in-plain-text,",
    ];
    let answer = app.post_signed(PATH, &cookie, &[("csv", &csv.join("\n")), ("run", "check")]).await;
    assert_eq!(answer.status, StatusCode::OK);
    let found = rows(&answer);
    let expected = [
        ("2", "grace@example.com", "can be created"),
        ("3", "alan", "email "),
        ("4", EMAIL, "already exists"),
        ("6", "x@example.com", "firstName has an end of a line"),
        ("8", "", "as many fields"),
        ("9", "GRACE@example.com", "already exists"),
        ("10", "z@example.com", "passwordHash "),
    ];
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for ([line, email, result], (expected_line, expected_email, part)) in found.iter().zip(expected) {
        assert_eq!((line.as_str(), email.as_str()), (expected_line, expected_email), "{result}");
        assert!(result.contains(part), "{line}: {result}");
    }
    assert!(found[1][2].contains("lastName"), "all fields are named: {:?}", found[1]);
    assert!(
        answer.body.contains("can be created: 1. People who can be invited: 0. Rows with errors: 6."),
        "{}",
        answer.body
    );
    // What was typed is still there, and the next step is offered.
    assert!(answer.body.contains("GRACE@example.com,Grace"), "{}", answer.body);
    assert!(!answer.body.contains(r#"value="import" class="plain" hidden"#), "{}", answer.body);
    assert_eq!(count(&app, &ada).await, 1);
}

#[tokio::test]
async fn an_import_creates_users_who_sign_in_with_their_passwords() {
    let (app, ada, cookie) = signed().await;
    let csv =
        format!("lastName,firstName,email,passwordHash\r\nHopper,Grace,grace@example.com,{HASH}\r\nX,Y,bad,{HASH}\r\n");
    let answer = app.post_signed(PATH, &cookie, &[("csv", &csv), ("run", "import")]).await;
    assert!(
        answer.body.contains("created: 1. People who were invited: 0. Rows that were refused: 1."),
        "{}",
        answer.body
    );
    assert_eq!(count(&app, &ada).await, 2);
    // The same file again changes nothing.
    let answer = app.post_signed(PATH, &cookie, &[("csv", &csv), ("run", "import")]).await;
    assert!(rows(&answer)[0][2].contains("already exists"), "{}", answer.body);
    assert_eq!(count(&app, &ada).await, 2);
}

#[tokio::test]
async fn a_part_of_a_file_is_answered_by_its_rows_with_the_lines_of_the_file() {
    let (app, ada, cookie) = signed().await;
    let token = app.form_token(&cookie).await;
    let csv = format!("{HEADER}\ngrace@example.com,<b>Grace</b>,Hopper,{HASH},\n<i>@example.com,A,B,{HASH},");
    let fields = [("csv", csv.as_str()), ("run", "import"), ("firstLine", "102"), ("form-token", token.as_str())];
    let mut sent = form(PATH, &cookie, &fields);
    sent.headers_mut().insert("hx-request", HeaderValue::from_static("true"));
    let answer = app.send(sent).await;
    assert!(!answer.body.contains("<html") && !answer.body.contains("<i>@"), "{}", answer.body);
    let found = rows(&answer);
    assert_eq!((&*found[0][0], &*found[0][2], &*found[1][0]), ("102", "created", "103"), "{found:?}");
    assert_eq!(count(&app, &ada).await, 2);
    let mut sent = form(PATH, &cookie, &[("csv", "email\nx"), ("run", "import"), ("form-token", &token)]);
    sent.headers_mut().insert("hx-request", HeaderValue::from_static("true"));
    let answer = app.send(sent).await;
    assert_eq!(
        (answer.status, &*answer.body),
        (StatusCode::BAD_REQUEST, "<p class=\"error\">The file has no column firstName.</p>")
    );
}

#[tokio::test]
async fn a_file_that_cannot_be_read_is_refused_at_its_field_and_stays() {
    let (app, ada, cookie) = signed().await;
    let many = format!("{HEADER}\n{}", "a,b,c,d,e\n".repeat(501));
    let cases = [
        ("", "must begin with a line"),
        ("grace@example.com,Grace", "has no column email"),
        ("email,firstName,lastName,passwordHash,<u>role</u>\nx,x,x,x,x", "has an unknown column &#60;u&#62;role"),
        (&*many, "the maximum is 500"),
    ];
    for (csv, expected) in cases {
        let answer = app.post_signed(PATH, &cookie, &[("csv", csv), ("run", "import")]).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{expected}");
        assert!(
            answer.body.contains(expected) && answer.body.contains(r#"aria-describedby="csv-error"#),
            "{}",
            answer.body
        );
        let line = csv.lines().next().unwrap_or_default().replace('<', "&#60;").replace('>', "&#62;");
        assert!(answer.body.contains(&line), "{}", answer.body);
    }
    assert_eq!(count(&app, &ada).await, 1);
}

#[tokio::test]
async fn only_callers_who_may_create_users_import_them() {
    let (app, ada, _) = signed().await;
    app.iam.users().create(&ada, person("grace@example.com", "Grace")).await.unwrap();
    let cookie = app.sign_in("grace@example.com").await;
    let csv = format!("{HEADER}\nx@example.com,X,Y,{HASH},");
    for run in ["check", "import"] {
        let answer = app.post_signed(PATH, &cookie, &[("csv", &csv), ("run", run)]).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN);
        assert!(answer.body.contains("users:create") && answer.body.contains("x@example.com"), "{}", answer.body);
    }
    assert_eq!(app.post(PATH, &cookie, &[("csv", &csv), ("run", "import")]).await.status, StatusCode::FORBIDDEN);
    assert_eq!(count(&app, &ada).await, 2);
    // A user of another tenant with the same address is no obstacle, and is not seen.
    app.register("eve@example.org").await;
    let eve = app.sign_in("eve@example.org").await;
    let csv = format!("{HEADER}\n{EMAIL},X,Y,{HASH},");
    let answer = app.post_signed(PATH, &eve, &[("csv", &csv), ("run", "check")]).await;
    assert_eq!(rows(&answer)[0][2], "can be created");
    assert_eq!(count(&app, &ada).await, 2);
}

#[tokio::test]
async fn a_hash_that_costs_too_much_is_refused() {
    let (app, _, cookie) = signed().await;
    let rest = "$c2FsdHNhbHRzYWx0$MTIzNDU2Nzg5MDEyMzQ1Ng";
    let row = |number: usize, hash: &str| format!("user-{number}@example.com,Ada,X,\"{hash}{rest}\",");
    let hashes = ["$argon2id$v=19$m=262144,t=4,p=1", "$argon2id$v=19$m=19456,t=2,p=1", "$pbkdf2-sha256$600000"];
    let rows_of_file = hashes.iter().enumerate().map(|(number, hash)| row(number, hash));
    // All hashes of Devise are of bcrypt, which costs more than that from the minimum on.
    assert!(!app.get(PATH, &cookie).await.body.contains("value=\"devise\""));
    let csv = [HEADER.to_owned()].into_iter().chain(rows_of_file).collect::<Vec<_>>().join("\n");
    for run in ["check", "import"] {
        let answer = app.post_signed(PATH, &cookie, &[("csv", &csv), ("run", run)]).await;
        let results: Vec<bool> =
            rows(&answer).iter().map(|[.., result]| result.contains("only its operator")).collect();
        assert_eq!(results, [true, false, true], "{}", answer.body);
    }
}

#[tokio::test]
async fn a_quota_stops_the_import_and_the_rows_before_stay() {
    let app = App::with(|settings| settings.quota.users = 2).await;
    let ada = app.register(EMAIL).await;
    let cookie = app.sign_in(EMAIL).await;
    let rows_of =
        |names: &[&str]| names.iter().map(|name| format!("\n{name}@example.com,{name},X,{HASH},")).collect::<String>();
    let csv = format!("{HEADER}{}", rows_of(&["a", "b", "c"]));
    let answer = app.post_signed(PATH, &cookie, &[("csv", &csv), ("run", "import")]).await;
    let found = rows(&answer);
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!((&*found[0][2], &*found[1][2]), ("created", "not imported"));
    assert!(answer.body.contains("data-stopped") && answer.body.contains("quota"), "{}", answer.body);
    assert_eq!(count(&app, &ada).await, 2);
}

#[tokio::test]
async fn each_row_counts_against_the_rate_limit_of_its_user() {
    let app = App::empty().await.limited(200);
    let ada = app.register(EMAIL).await;
    let cookie = app.sign_in(EMAIL).await;
    let rows_of = |first: u32| {
        let rows = (first..first + 150).map(|number| format!("\nu{number}@example.com,A,B,{HASH},"));
        format!("{HEADER}{}", rows.collect::<String>())
    };
    assert_eq!(app.post_signed(PATH, &cookie, &[("csv", &rows_of(0)), ("run", "import")]).await.status, StatusCode::OK);
    let token = app.form_token(&cookie).await;
    let second = rows_of(150);
    let mut sent = form(PATH, &cookie, &[("csv", &second), ("run", "import"), ("form-token", &token)]);
    sent.headers_mut().insert("hx-request", HeaderValue::from_static("true"));
    let answer = app.send(sent).await;
    assert_eq!(answer.status, StatusCode::TOO_MANY_REQUESTS, "{}", answer.body);
    assert!(answer.headers.contains_key("retry-after"));
    assert_eq!(count(&app, &ada).await, 151, "nothing of a refused part is imported");
}

/// Returns the addresses and the numbers of roles of the invitations.
async fn invited(app: &App, caller: &Caller) -> Vec<(String, usize)> {
    let found = app.iam.invitations().list(caller, &InvitationFilter::default(), Default::default()).await.unwrap();
    let mut found: Vec<_> =
        found.items.into_iter().map(|one| (one.email.as_str().to_owned(), one.roles.len())).collect();
    found.sort();
    found
}

#[tokio::test]
async fn a_row_without_a_hash_invites_the_person() {
    let (app, ada, cookie) = signed_with_mail().await;
    let taken = NewInvitation { email: "kate@example.com".into(), ..NewInvitation::default() };
    app.iam.invitations().create(&ada, taken).await.unwrap();
    let csv = format!(
        "{HEADER}\ngrace@example.com,<b>Grace,Hopper,,\nalan,Alan,,,\n{EMAIL},Ada,Lovelace,,ACTIVE\n\
         mary@example.com,Mary,M,,SUSPENDED\nGRACE@example.com,Grace,Hopper,,\njoan@example.com,Joan,J,{HASH},"
    );
    let results = async |run| {
        let answer = app.post_signed(PATH, &cookie, &[("csv", &csv), ("run", run)]).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
        let results: Vec<String> = rows(&answer).into_iter().map(|[_, _, result]| result).collect();
        (answer, results)
    };
    let (answer, results_of_check) = results("check").await;
    assert!(
        results_of_check[1].contains("email ") && results_of_check[1].contains("lastName "),
        "{results_of_check:?}"
    );
    assert!(results_of_check[2].contains("already exists"), "{results_of_check:?}");
    assert_eq!(results_of_check[3], "status must be empty or ACTIVE in a row without passwordHash.");
    let found = [&results_of_check[0], &results_of_check[4], &results_of_check[5]];
    assert!(found[0] == "can be invited" && found[1].contains("already exists") && found[2] == "can be created");
    let summary = "can be created: 1. People who can be invited: 1. Rows with errors: 4.";
    assert!(answer.body.contains(summary) && answer.body.contains(r#"data-good="invited""#), "{}", answer.body);
    assert_eq!((invited(&app, &ada).await.len(), count(&app, &ada).await), (1, 1), "a check changes nothing");

    let (answer, results_of_import) = results("import").await;
    assert!(results_of_import[0] == "invited" && results_of_import[5] == "created", "{results_of_import:?}");
    assert!(results_of_import[4].contains("invit"), "{results_of_import:?}");
    assert!(answer.body.contains("/console/invitations/"), "{}", answer.body);
    let expected = [("grace@example.com".to_owned(), 0), ("kate@example.com".to_owned(), 0)];
    assert_eq!((invited(&app, &ada).await, count(&app, &ada).await), (expected.to_vec(), 2));
}

#[tokio::test]
async fn the_columns_and_the_delimiter_are_those_of_an_office_program() {
    let (app, ada, cookie) = signed_with_mail().await;
    let files = [
        "\u{feff}email;firstName;lastName\r\na@example.com;\"A; B\";C\r\n",
        "lastName\temail\tfirstName\nC\tb@example.com\tA, B\n",
        "\"email\",\"firstName\",\"lastName\"\nc@example.com,A,B\n",
    ];
    for csv in files {
        let answer = app.post_signed(PATH, &cookie, &[("csv", csv), ("run", "import")]).await;
        let found = rows(&answer);
        assert_eq!((found.len(), &*found[0][0], &*found[0][2]), (1, "2", "invited"), "{found:?}");
    }
    assert_eq!(invited(&app, &ada).await.len(), files.len());
    let page = app.get(PATH, &cookie).await.body;
    let template = page.split('"').find(|text| text.ends_with("/users.csv")).expect("a file to begin with");
    let file = app.get(template, "").await;
    assert_eq!((file.status, &*file.body), (StatusCode::OK, "\u{feff}email,firstName,lastName\r\n"));
}

#[tokio::test]
async fn a_row_without_a_hash_says_why_nobody_can_be_invited() {
    let (app, ada, cookie) = signed().await;
    let page = app.get(PATH, &cookie).await.body;
    assert!(page.contains("This installation sends no mail"), "{page}");
    let csv = format!("{HEADER}\ngrace@example.com,Grace,Hopper,,\njoan@example.com,Joan,J,{HASH},");
    for run in ["check", "import"] {
        let answer = app.post_signed(PATH, &cookie, &[("csv", &csv), ("run", run)]).await;
        let found = rows(&answer);
        assert!(found[0][2].contains("sends no mail") && found[0][2].contains("IAM_SMTP_URL"), "{found:?}");
        assert!(["can be created", "created"].contains(&&*found[1][2]), "{found:?}");
    }
    assert_eq!(count(&app, &ada).await, 2);
}

#[tokio::test]
async fn only_callers_who_may_invite_import_rows_without_a_hash() {
    let (app, ada, _) = signed_with_mail().await;
    let grace = app.iam.users().create(&ada, person("grace@example.com", "Grace")).await.unwrap();
    let permissions = vec!["users:create".to_owned()];
    let role = app.iam.roles().create(&ada, NewRole { name: "DESK".into(), permissions, ..NewRole::default() }).await;
    let new = NewAssignment { user: grace.id, role: role.unwrap().id, organization: None, expires_at: None };
    app.iam.assignments().create(&ada, new).await.unwrap();
    let cookie = app.sign_in("grace@example.com").await;
    let csv = "email,firstName,lastName\nmary@example.com,Mary,M";
    for run in ["check", "import"] {
        let answer = app.post_signed(PATH, &cookie, &[("csv", csv), ("run", run)]).await;
        assert!(rows(&answer)[0][2].contains("invitations:create"), "{}", answer.body);
    }
    assert_eq!(invited(&app, &ada).await, []);
}

#[tokio::test]
async fn a_table_of_another_system_is_imported_without_what_only_the_operator_takes_over() {
    let (app, ada, cookie) = signed().await;
    // The hash of "Passw0rd!" in the layout of ASP.NET Identity.
    let hash = "AQAAAAEAACcQAAAAEAABAgMEBQYHCAkKCwwNDg8a3RJST3ZL0eWWP7ZG5qnxmnu+1xsChmurHg4P2C3T8g==";
    let csv = format!(
        "Id,Email,EmailConfirmed,PasswordHash,Name,TwoFactorEnabled,Roles,Groups,PhoneNumber\n\
         1,grace@example.com,1,{hash},Grace Hopper,1,Admin|Clerk,north,+1\n2,x@example.com,0,cut,X,0,,,\n"
    );
    for (run, expected) in [("check", "can be created"), ("import", "created")] {
        let fields = [("format", "aspnet"), ("csv", csv.as_str()), ("run", run)];
        let answer = app.post_signed(PATH, &cookie, &fields).await;
        let found = rows(&answer);
        let left_out = "second factors: 1; roles: Admin, Clerk; groups: north; attributes: PhoneNumber";
        assert_eq!(found[0][2], format!("{expected} Left out: {left_out}"), "{}", answer.body);
        assert!(found[1][2].contains("passwordHash"), "{found:?}");
        assert!(answer.body.contains(r#"<option value="aspnet" selected>"#), "{}", answer.body);
    }
    let filter = UserFilter { search: Some("grace".to_owned()), ..UserFilter::default() };
    let grace = app.iam.users().list(&ada, &filter, UserSort::default(), Default::default()).await.unwrap();
    assert_eq!((grace.items[0].email_verified_at, &grace.items[0].external_id), (None, &None));
    assert!(app.iam.assignments().of_user(&ada, grace.items[0].id).await.unwrap().is_empty());

    // In a file that is written for this service, they are refused.
    let csv =
        format!("{HEADER},emailVerified,roles\na@example.com,A,B,{HASH},,true,\nb@example.com,A,B,{HASH},,,Admin\n");
    let found = rows(&app.post_signed(PATH, &cookie, &[("csv", &csv), ("run", "import")]).await);
    assert!(found[0][2].contains("emailVerified") && found[1][2].contains("roles"), "{found:?}");
}
