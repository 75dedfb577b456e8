//! The messages about access requests (`docs/access-requests.md#messages`).

use chrono::TimeDelta;
use iam_core::mail::{Mail, MailKind};
use serde_json::json;

use super::Shop;
use crate::app::TestApp;
use crate::mail::kinds;

in_memory_with_mail![
    a_new_request_is_told_to_those_who_may_decide,
    at_most_twenty_are_told,
    at_most_three_requests_by_an_eligibility_are_told_in_an_hour,
    the_decision_is_told_to_the_user,
    what_others_close_is_told_to_the_user,
    without_approvals_the_administrators_are_told,
];

/// Verifies the addresses of users, whose limits then depend on no other tenant, and forgets the messages so far.
async fn verify(shop: &Shop<'_>, emails: &[&str]) {
    let system = iam_core::Caller::system(shop.ada.tenant.parse().unwrap(), "test");
    for email in emails {
        shop.app.iam.users().verify_email(&system, email).await.unwrap();
    }
    shop.app.mails().await;
}

/// The addresses of the messages of a kind, in alphabetical order.
fn told(mails: &[Mail], kind: MailKind) -> Vec<&str> {
    let mut told: Vec<&str> = mails.iter().filter(|mail| mail.kind == kind).map(|mail| mail.to.as_str()).collect();
    told.sort_unstable();
    told
}

async fn a_new_request_is_told_to_those_who_may_decide(app: TestApp) {
    let shop = Shop::of(&app).await;
    // Who only reads requests, who may decide elsewhere, and who asks.
    app.colleague_who_may(&shop.ada, "reader@example.com", &["access-requests:read"]).await;
    let branch = app.organization(&shop.ada, "branch").await;
    app.colleague_in(&shop.ada, branch, "branch@example.com", &["access-requests:update"]).await;
    app.permit(&shop.grace, &["access-requests:update"]).await;
    let all = ["ada@example.com", "carol@example.com", "reader@example.com", "branch@example.com", "grace@example.com"];
    verify(&shop, &all).await;
    shop.ask().await;
    let mails = app.mails().await;
    assert_eq!(told(&mails, MailKind::AccessRequested), ["ada@example.com", "carol@example.com"]);
    assert_eq!(mails.len(), 2);
    // The holders of the approver role, where there is one.
    let approver = app.role(&shop.ada, "APPROVER", &[]).await;
    let holder = app.colleague(&shop.ada, "holder@example.com").await;
    app.assign(&shop.ada, &holder.user, "APPROVER", None, None).await;
    verify(&shop, &["holder@example.com"]).await;
    let body = json!({ "roleId": shop.role, "userId": shop.grace.user, "approverRoleId": approver });
    let eligibility = app.eligibility(&shop.ada, &body).await;
    app.access_request(&shop.grace, &eligibility).await;
    assert_eq!(kinds(&app.mails().await), [(MailKind::AccessRequested, "holder@example.com")]);
}

async fn at_most_twenty_are_told(app: TestApp) {
    let shop = Shop::of(&app).await;
    app.role(&shop.ada, "APPROVER", &[]).await;
    let mut emails = Vec::new();
    for number in 0..22 {
        let email = format!("approver{number}@example.com");
        let user = app.add_user(&shop.ada, &email).await;
        app.assign(&shop.ada, &user, "APPROVER", None, None).await;
        emails.push(email);
    }
    let emails: Vec<&str> = emails.iter().map(String::as_str).collect();
    verify(&shop, &emails).await;
    let approver = app.role_id(&shop.ada, "APPROVER").await;
    let body = json!({ "roleId": shop.role, "userId": shop.grace.user, "approverRoleId": approver });
    let eligibility = app.eligibility(&shop.ada, &body).await;
    app.access_request(&shop.grace, &eligibility).await;
    assert_eq!(told(&app.mails().await, MailKind::AccessRequested).len(), 20);
}

async fn at_most_three_requests_by_an_eligibility_are_told_in_an_hour(app: TestApp) {
    let shop = Shop::of(&app).await;
    verify(&shop, &["carol@example.com"]).await;
    let mut sent = Vec::new();
    for _ in 0..4 {
        let request = shop.ask().await;
        sent.push(told(&app.mails().await, MailKind::AccessRequested).contains(&"carol@example.com"));
        app.closes(&shop.grace, &request, "cancel").send().await.ok();
    }
    assert_eq!(sent, [true, true, true, false]);
    // The fourth waits.
    app.pass(TimeDelta::hours(1));
    assert!(told(&app.mails().await, MailKind::AccessRequested).contains(&"carol@example.com"));
}

async fn the_decision_is_told_to_the_user(app: TestApp) {
    let shop = Shop::with(&app, &json!({ "approvals": 2 })).await;
    verify(&shop, &["grace@example.com"]).await;
    for (how, kind) in [("approve", MailKind::AccessApproved), ("deny", MailKind::AccessDenied)] {
        let request = shop.ask().await;
        app.mails().await;
        app.decides(&shop.carol, &request, "approve").send().await.ok();
        // The first of two approvals decides nothing.
        assert!(app.mails().await.is_empty());
        app.decides(&shop.ada, &request, how).send().await.ok();
        let mails = app.mails().await;
        assert_eq!(kinds(&mails), [(kind, "grace@example.com")]);
        // A message leads to nothing by itself.
        assert!(mails[0].accounts.iter().all(|account| account.link.is_none()));
        if how == "approve" {
            app.closes(&shop.grace, &request, "end").send().await.ok();
        }
    }
}

async fn what_others_close_is_told_to_the_user(app: TestApp) {
    let shop = Shop::of(&app).await;
    verify(&shop, &["grace@example.com"]).await;
    for (how, kind) in [("cancel", MailKind::AccessDenied), ("end", MailKind::AccessEnded)] {
        for by in [&shop.grace, &shop.ada] {
            let request = shop.ask().await;
            if how == "end" {
                app.decides(&shop.carol, &request, "approve").send().await.ok();
            }
            app.mails().await;
            app.closes(by, &request, how).send().await.ok();
            let mails = app.mails().await;
            let is_another = by.user == shop.ada.user;
            let expected = if is_another { vec![(kind, "grace@example.com")] } else { Vec::new() };
            assert_eq!(kinds(&mails), expected, "{how}");
        }
    }
}

async fn without_approvals_the_administrators_are_told(app: TestApp) {
    let shop = Shop::with(&app, &json!({ "approvals": 0 })).await;
    let other = app.administrator_beside(&shop.ada).await;
    verify(&shop, &["ada@example.com", "carol@example.com", &other.email]).await;
    let made = app.asks(&shop.grace, &shop.eligibility, &json!({})).send().await.created();
    assert_eq!(made["status"], json!("ACTIVE"));
    let mails = app.mails().await;
    let mut expected = ["ada@example.com", &*other.email];
    expected.sort_unstable();
    assert_eq!(told(&mails, MailKind::AccessActivated), expected);
    assert_eq!(mails.len(), 2);
}
