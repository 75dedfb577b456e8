//! The command that ends sessions.

use serde_json::{Value, json};

use crate::client::{Client, PASSWORD, Session, text};
use crate::process::Ended;
use crate::revocation::{READ, wait_until_refused};
use crate::settings::role;
use crate::store::Store;
use crate::user::{reason, tenant_of};

const ADA: &str = "ada@example.com";
const GRACE: &str = "grace@example.com";

fn end_all(store: &Store, arguments: &[&str]) -> Ended {
    store.iam_server().args(["session", "end-all"]).args(arguments).run()
}

#[track_caller]
fn assert_ended(ended: &Ended, number: usize) {
    let expected = format!("Sessions ended: {number}");
    assert_eq!((ended.code, ended.output.as_str()), (Some(0), expected.as_str()), "{ended:?}");
}

/// A user with a session.
struct Member {
    session: Session,
    client: Client,
}

impl Member {
    fn of(client: &Client, session: Session) -> Self {
        let member = Self { client: client.with_token(&session.access), session };
        member.assert_in();
        member
    }

    #[track_caller]
    fn assert_in(&self) {
        self.client.get("/api/v1/auth/me").expect(200);
    }

    /// Starts with a request that does not read the session itself.
    fn wait_until_out(&self) {
        wait_until_refused(&self.client);
        self.client.get("/api/v1/auth/me").expect(401);
        self.client.refresh(&self.session).expect(401);
    }
}

#[test]
fn all_sessions_of_a_user_a_tenant_or_all_tenants_can_be_ended() {
    for store in [Store::sqlite(), Store::postgres()] {
        let server = store.serve();
        let client = server.client();
        let first = Member::of(&client, client.register(ADA));
        let second = Member::of(&client, client.log_in(ADA));
        let grace = json!({ "email": GRACE, "password": PASSWORD, "firstName": "Grace", "lastName": "Hopper" });
        let id = text(&first.client.post("/api/v1/users", &grace).expect(201)["id"]);
        // Reading roles needs a role.
        let assignment = json!({ "userId": id, "roleId": role(&first.client, "TENANT_ADMIN") });
        first.client.post("/api/v1/role-assignments", &assignment).expect(201);
        let [grace, grace_elsewhere] = [(); 2].map(|()| Member::of(&client, client.log_in(GRACE)));
        let stranger = Member::of(&client, client.register("jean@example.com"));
        let tenant = tenant_of(&first.client);
        for member in [&first, &second, &grace, &grace_elsewhere, &stranger] {
            member.client.get(READ).expect(200);
        }

        assert_ended(&end_all(&store, &["--tenant", &text(&tenant["slug"]), "--email", "GRACE@example.com"]), 2);
        [&grace, &grace_elsewhere].into_iter().for_each(Member::wait_until_out);
        [&first, &second, &stranger].into_iter().for_each(Member::assert_in);

        let grace = Member::of(&client, client.log_in(GRACE));
        assert_ended(&end_all(&store, &["--tenant", &text(&tenant["id"])]), 3);
        [&first, &second, &grace].into_iter().for_each(Member::wait_until_out);
        stranger.assert_in();

        let last = Member::of(&client, client.log_in(ADA));
        assert_ended(&end_all(&store, &[]), 2);
        [&last, &stranger].into_iter().for_each(Member::wait_until_out);
        assert_ended(&end_all(&store, &[]), 0);

        let ada = Member::of(&client, client.log_in(ADA));
        let entries = ada.client.audit_entries("&action=LOGOUT");
        assert_eq!(entries.len(), 6, "{entries:?}");
        let by = |entry: &Value| (text(&entry["metadata"]["system"]), text(&entry["metadata"]["reason"]));
        let expected = ("session end-all command".to_owned(), "TERMINATED".to_owned());
        assert!(entries.iter().all(|entry| by(entry) == expected && entry["userId"].is_null()), "{entries:?}");
    }
}

#[test]
fn an_unknown_user_or_tenant_causes_a_one_line_error_and_ends_no_session() {
    let store = Store::sqlite();
    let server = store.serve();
    let ada = Member::of(&server.client(), server.client().register(ADA));
    let tenant = text(&tenant_of(&ada.client)["slug"]);
    for arguments in [vec!["--tenant", "nowhere"], vec!["--tenant", "nowhere", "--email", ADA]] {
        assert_eq!(reason(&end_all(&store, &arguments)), "iam-server: there is no tenant nowhere");
    }
    let unknown = end_all(&store, &["--tenant", &tenant, "--email", GRACE]);
    assert_eq!(reason(&unknown), format!("iam-server: ending the sessions of {GRACE}: User not found."));
    let none = end_all(&store, &["--tenant", &tenant, "--email", "ada"]);
    assert!(reason(&none).starts_with("iam-server: ending the sessions of ada: email must"), "{none:?}");
    // An e-mail without a tenant.
    let anywhere = end_all(&store, &["--email", ADA]);
    assert_eq!((anywhere.code, anywhere.output.as_str()), (Some(2), ""), "{anywhere:?}");
    assert!(anywhere.log.contains("--tenant <TENANT>"), "{anywhere:?}");
    ada.assert_in();
}
