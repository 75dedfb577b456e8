//! How a session ends in which a user acts as another one, and that nothing can be done in it afterwards.

use chrono::TimeDelta;
use iam_core::Caller;
use serde_json::{Value, json};

use super::REASON;
use crate::app::TestApp;
use crate::people::{PASSWORD, Person};

on_every_store![
    "the sessions of two users end in one transaction";
    it_ends_with_the_session_of_the_one_who_acts,
    another_session_of_the_one_who_acts_does_not_matter,
    it_ends_with_the_sessions_of_the_user,
    it_can_be_ended_alone,
    only_some_may_end_it,
    it_ends_by_itself,
    it_ends_with_the_rights_of_the_one_who_acts,
    it_ends_when_the_user_may_do_more,
    rights_that_both_get_change_nothing,
    another_replica_knows_at_once,
    its_end_is_recorded_with_both,
];

/// A company whose support acts as a user.
struct Company<'a> {
    app: &'a TestApp,
    ada: Person,
    support: Person,
    bob: Person,
    acting: Person,
}

/// What the one who acts holds.
const SUPPORT: [&str; 4] = ["impersonations:create", "users:read", "users:update", "roles:*"];

impl<'a> Company<'a> {
    async fn on(app: &'a TestApp) -> Self {
        let ada = app.register("ada@example.com").await;
        Self::of(app, ada, "company").await
    }

    /// The same in a tenant that exists, with users of their own.
    async fn of(app: &'a TestApp, ada: Person, name: &str) -> Self {
        let support = app.colleague_who_may(&ada, &format!("support@{name}.example"), &SUPPORT).await;
        let bob = app.colleague_who_may(&ada, &format!("bob@{name}.example"), &["users:read", "roles:create"]).await;
        let acting = app.acting(&support, &bob).await;
        Self { app, ada, support, bob, acting }
    }

    /// The only entry of the end of the session.
    async fn end(&self) -> Value {
        let about = [("action", "IMPERSONATION_ENDED"), ("resourceId", &*self.acting.session)];
        let [end]: [Value; 1] = self.app.audit(&self.ada, &about).await.try_into().unwrap();
        end
    }

    /// Checks that the session has ended by this cause.
    async fn has_ended(&self, cause: &str) {
        self.app.get("/auth/me").by(&self.acting).send().await.problem("unauthorized");
        assert_eq!(self.end().await["metadata"]["cause"], cause);
    }
}

async fn it_ends_with_the_session_of_the_one_who_acts(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for name in ["logout", "logout-all", "own", "by-another", "logout-user", "suspension", "deletion"] {
        let company = Company::of(&app, ada.clone(), name).await;
        let support = &company.support;
        let (session, user) = (format!("/sessions/{}", support.session), format!("/users/{}", support.user));
        let request = match name {
            "logout" => app.post("/auth/logout").by(support),
            "logout-all" => app.post("/auth/logout-all").by(support),
            "own" => app.delete(&session).by(support),
            "by-another" => app.delete(&session).by(&ada),
            "logout-user" => app.post(&format!("{user}/logout-all")).by(&ada),
            "suspension" => app.post(&format!("{user}/suspend")).by(&ada),
            _ => app.delete(&user).by(&ada),
        };
        let answer = request.send().await;
        assert!((200..300).contains(&answer.status()), "{name}: {}", answer.text());
        company.has_ended("ACTOR_SESSION").await;
        // Its user has nothing to do with it.
        assert!(app.knows(&company.bob).await, "{name}");
    }
    // A new password ends all other sessions.
    let company = Company::of(&app, ada, "password").await;
    let other = app.login(&company.support).await;
    let kept = app.acting(&other, &company.bob).await;
    let body = json!({ "currentPassword": PASSWORD, "newPassword": "N3w&Password" });
    app.post("/auth/password").by(&other).json(&body).send().await.no_content();
    company.has_ended("ACTOR_SESSION").await;
    assert!(app.knows(&kept).await);
}

async fn another_session_of_the_one_who_acts_does_not_matter(app: TestApp) {
    let company = Company::on(&app).await;
    let other = app.login(&company.support).await;
    app.post("/auth/logout").by(&other).send().await.no_content();
    assert!(app.knows(&company.acting).await);
}

async fn it_ends_with_the_sessions_of_the_user(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for (path, reason) in [("logout-all", "LOGOUT_ALL"), ("suspend", "USER_SUSPENDED")] {
        let company = Company::of(&app, ada.clone(), path).await;
        let answer = app.post(&format!("/users/{}/{path}", company.bob.user)).by(&ada).send().await;
        assert!((200..300).contains(&answer.status()), "{path}: {}", answer.text());
        company.has_ended(reason).await;
        assert!(app.knows(&company.support).await);
    }
    // The user throws everybody else out.
    let company = Company::of(&app, ada, "password").await;
    let body = json!({ "currentPassword": PASSWORD, "newPassword": "N3w&Password" });
    app.post("/auth/password").by(&company.bob).json(&body).send().await.no_content();
    company.has_ended("PASSWORD_CHANGE").await;
}

async fn it_can_be_ended_alone(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    for name in ["user", "support", "administrator"] {
        let company = Company::of(&app, ada.clone(), name).await;
        let by = match name {
            "user" => &company.bob,
            "support" => &company.support,
            _ => &company.ada,
        };
        app.delete(&format!("/sessions/{}", company.acting.session)).by(by).send().await.no_content();
        company.has_ended("TERMINATED").await;
        assert!(app.knows(&company.bob).await && app.knows(&company.support).await, "{name}");
    }
    let company = Company::of(&app, ada, "itself").await;
    app.post("/auth/logout").by(&company.acting).send().await.no_content();
    company.has_ended("LOGOUT").await;
    assert!(app.knows(&company.bob).await && app.knows(&company.support).await);
}

async fn only_some_may_end_it(app: TestApp) {
    let company = Company::on(&app).await;
    let delete = |by: &Person| app.delete(&format!("/sessions/{}", company.acting.session)).by(by);
    let stranger = app.colleague(&company.ada, "stranger@example.com").await;
    delete(&stranger).send().await.lacks("sessions:delete");
    // Another session in which a user acts ends none but itself.
    let other = app.acting(&company.support, &company.bob).await;
    delete(&other).send().await.problem("insufficient-authentication");
    for person in [&company.bob, &company.support] {
        app.age(person).await;
    }
    delete(&company.bob).send().await.problem("insufficient-authentication");
    assert!(app.knows(&company.acting).await);
    // Who acts may always stop.
    delete(&company.support).send().await.no_content();
    assert!(!app.knows(&company.acting).await);
}

async fn it_ends_by_itself(app: TestApp) {
    let company = Company::on(&app).await;
    // The times of a token are in whole seconds.
    app.pass(TimeDelta::seconds(599));
    assert!(app.knows(&company.acting).await);
    app.pass(TimeDelta::seconds(1));
    app.get("/auth/me").by(&company.acting).send().await.problem("unauthorized");
    let listed = app.get(&format!("/users/{}/sessions", company.bob.user)).by(&company.bob).send().await.ok();
    assert_eq!(listed["data"].as_array().unwrap().len(), 1);
}

async fn it_ends_with_the_rights_of_the_one_who_acts(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let bob = app.colleague_who_may(&ada, "bob@example.com", &["users:read"]).await;
    for (name, lost, kept) in
        [("permission", "impersonations:create", "users:read"), ("right", "users:read", "impersonations:create")]
    {
        let support = app.colleague_who_may(&ada, &format!("{name}@example.com"), &[kept]).await;
        let held = app.permit(&support, &[lost]).await;
        let acting = app.acting(&support, &bob).await;
        let company = Company { app: &app, ada: ada.clone(), support, bob: bob.clone(), acting };
        assert!(app.knows(&company.acting).await);
        app.delete(&format!("/role-assignments/{held}")).by(&ada).send().await.no_content();
        company.has_ended("ACTOR_RIGHTS").await;
        // It does not come back with the right.
        app.permit(&company.support, &[lost]).await;
        assert!(!app.knows(&company.acting).await && app.knows(&company.support).await);
    }
    // A right that ends by itself.
    let support = app.colleague_who_may(&ada, "until@example.com", &["impersonations:create"]).await;
    app.permit_until(&support, &["users:read"], None, Some(app.iam.now() + TimeDelta::minutes(1))).await;
    let acting = app.acting(&support, &bob).await;
    app.pass(TimeDelta::minutes(1) - TimeDelta::milliseconds(1));
    assert!(app.knows(&acting).await);
    app.pass(TimeDelta::milliseconds(1));
    assert!(!app.knows(&acting).await && app.knows(&support).await);
}

async fn it_ends_when_the_user_may_do_more(app: TestApp) {
    let ada = app.register("ada@example.com").await;
    let company = Company::of(&app, ada.clone(), "more").await;
    app.permit(&company.bob, &["audit-logs:read"]).await;
    company.has_ended("ACTOR_RIGHTS").await;
    assert!(app.knows(&company.bob).await && app.knows(&company.support).await);
    // Of all permissions, not even an administrator may make use in another name.
    let company = Company::of(&app, ada.clone(), "everything").await;
    let acting = app.acting(&ada, &company.bob).await;
    app.permit(&company.bob, &["*"]).await;
    assert!(!app.knows(&acting).await && app.knows(&company.bob).await);
    // A role of the user that becomes larger counts at once, too.
    let company = Company::of(&app, ada, "role").await;
    let role = app.role(&company.ada, "GROWING", &["users:read"]).await;
    app.assign(&company.ada, &company.bob.user, "GROWING", None, None).await;
    assert!(app.knows(&company.acting).await);
    let body = json!({ "permissions": ["users:read", "webhooks:read"] });
    app.patch(&format!("/roles/{role}")).by(&company.ada).json(&body).send().await.ok();
    company.has_ended("ACTOR_RIGHTS").await;
}

async fn rights_that_both_get_change_nothing(app: TestApp) {
    let company = Company::on(&app).await;
    app.permit(&company.support, &["audit-logs:read"]).await;
    app.permit(&company.bob, &["audit-logs:read"]).await;
    app.get("/audit-logs").by(&company.acting).send().await.ok();
}

async fn another_replica_knows_at_once(app: TestApp) {
    let company = Company::on(&app).await;
    let other = app.restarted().await;
    assert!(other.knows(&company.acting).await);
    app.post("/auth/logout").by(&company.support).send().await.no_content();
    assert!(!other.knows(&company.acting).await);
}

async fn its_end_is_recorded_with_both(app: TestApp) {
    let company = Company::on(&app).await;
    let path = format!("/users/{}/suspend", company.support.user);
    app.post(&path).by(&company.ada).send().await.ok();
    let end = company.end().await;
    assert_eq!((&end["resourceType"], &end["userId"]), (&json!("SESSION"), &json!(company.bob.user)));
    let expected = json!({
        "actorId": company.support.user, "reason": REASON, "readOnly": false,
        "cause": "ACTOR_SESSION", "endedBy": company.ada.user,
    });
    assert_eq!(end["metadata"], expected);
    // Trusted code is no person.
    let company = Company::of(&app, company.ada, "host").await;
    let host = Caller::system(company.ada.tenant.parse().unwrap(), "test");
    app.iam.sessions().terminate(&host, company.acting.session.parse().unwrap()).await.unwrap();
    let end = company.end().await;
    assert_eq!((&end["userId"], end["metadata"].get("endedBy")), (&json!(company.bob.user), None));
}
