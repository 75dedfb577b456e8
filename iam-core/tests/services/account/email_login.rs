//! Users log in by a link or a code in a message.

use iam_core::email_login::EmailProof;
use iam_core::secret::{ChallengeToken, OneTimeCode};
use iam_core::session::LoggedIn;
use iam_core::tenant::EmailLogin;
use iam_model::link::LinkPurpose;
use iam_model::store::LinkStore as _;

use super::*;

/// A tenant that wants logins by e-mail, whose administrator has a verified address.
async fn allowing() -> Fixture {
    let fixture = Fixture::new().await;
    set(&fixture, EmailLogin::On).await;
    let system = Caller::system(fixture.ada.tenant(), "test");
    fixture.iam.users().verify_email(&system, ADA).await.unwrap();
    fixture
}

async fn set(fixture: &Fixture, login: EmailLogin) {
    let system = Caller::system(fixture.ada.tenant(), "test");
    let patch = TenantPatch { email_login: Some(login), ..TenantPatch::default() };
    fixture.iam.tenants().update(&system, system.tenant(), patch).await.unwrap();
}

async fn request(fixture: &Fixture, tenant: Option<&str>) -> ChallengeToken {
    fixture.iam.email_logins().request(&RequestContext::default(), ADA, tenant).await.unwrap()
}

async fn finish(fixture: &Fixture, proof: EmailProof) -> Result<LoggedIn> {
    fixture.iam.email_logins().finish(&RequestContext::default(), &proof).await
}

/// The link and the code in the only message.
async fn opened(fixture: &Fixture) -> (LinkToken, OneTimeCode) {
    let mails = fixture.mails().await;
    assert_eq!(mails.iter().map(|mail| (mail.kind, mail.to.as_str())).collect::<Vec<_>>(), [(MailKind::Login, ADA)]);
    (token_in(&mails[0]), mails[0].accounts[0].link.as_ref().unwrap().code.clone().unwrap())
}

#[tokio::test]
async fn a_session_by_email_alone_is_not_fresh() {
    let fixture = allowing().await;
    let flow = request(&fixture, None).await;
    let (_, code) = opened(&fixture).await;
    let login = finish(&fixture, EmailProof::Code { flow, code }).await.unwrap();
    let caller = fixture.iam.authenticate(login.tokens.access.expose(), RequestContext::default()).await.unwrap();
    let stale = fixture.iam.sessions().require_fresh(&caller, TimeDelta::days(3_650)).await;
    assert!(matches!(stale, Err(Error::Unauthenticated(_))), "{stale:?}");
    let change = fixture.iam.credentials().change_password(&caller, PASSWORD.into(), NEW_PASSWORD.into()).await;
    assert!(matches!(change, Err(Error::Unauthenticated(_))), "{change:?}");
}

/// A reader of the tables can compute neither: both come from the key of the operator.
#[tokio::test]
async fn the_store_has_neither_the_token_nor_the_code() {
    let fixture = allowing().await;
    request(&fixture, None).await;
    let (token, code) = opened(&fixture).await;
    let user = fixture.ada.user().unwrap();
    let link = fixture.store.link(fixture.ada.tenant(), LinkPurpose::Login, user.as_uuid()).await.unwrap().unwrap();
    let row = format!("{link:?}");
    assert!(!row.contains(code.expose()) && !row.contains(token.expose()), "{row}");
    finish(&fixture, EmailProof::Link(token)).await.unwrap();
}

#[tokio::test]
async fn a_message_that_is_sent_again_has_the_same_link_and_code() {
    let fixture = allowing().await;
    fixture.answer(Answer::Lost);
    let flow = request(&fixture, None).await;
    let first = opened(&fixture).await;
    fixture.answer(Answer::Accepted);
    fixture.clock.advance(TimeDelta::minutes(1));
    let (token, code) = opened(&fixture).await;
    assert_eq!((token.expose(), code.expose()), (first.0.expose(), first.1.expose()));
    assert_eq!(fixture.entries_of("EMAIL_LOGIN_REQUESTED").await.len(), 1);
    finish(&fixture, EmailProof::Code { flow, code }).await.unwrap();
}

#[tokio::test]
async fn a_link_that_was_used_does_not_work_again_when_its_message_is_sent_again() {
    let fixture = allowing().await;
    fixture.answer(Answer::Lost);
    let flow = request(&fixture, None).await;
    let (used, used_code) = opened(&fixture).await;
    finish(&fixture, EmailProof::Link(used.clone())).await.unwrap();
    fixture.answer(Answer::Accepted);
    fixture.clock.advance(TimeDelta::minutes(1));
    let (_, code) = opened(&fixture).await;
    assert_ne!(code.expose(), used_code.expose());
    assert_eq!(fields(finish(&fixture, EmailProof::Link(used)).await), ["token"]);
    let again = EmailProof::Code { flow: flow.clone(), code: used_code };
    assert_eq!(fields(finish(&fixture, again).await), ["code"]);
    finish(&fixture, EmailProof::Code { flow, code }).await.unwrap();
}

/// Two requests before the first message is sent are one message, for the flow of the newer one.
#[tokio::test]
async fn a_request_that_overtakes_its_message_belongs_to_the_newer_flow() {
    let fixture = allowing().await;
    let older = request(&fixture, None).await;
    fixture.clock.advance(TimeDelta::seconds(1));
    let newer = request(&fixture, None).await;
    let (_, code) = opened(&fixture).await;
    let by = |flow: ChallengeToken| EmailProof::Code { flow, code: code.clone() };
    assert_eq!(fields(finish(&fixture, by(older)).await), ["code"]);
    finish(&fixture, by(newer)).await.unwrap();
}

#[tokio::test]
async fn a_late_message_does_not_replace_the_link_of_a_later_request() {
    let fixture = allowing().await;
    fixture.answer(Answer::Refused);
    request(&fixture, None).await;
    assert!(fixture.mails().await.is_empty());
    fixture.answer(Answer::Accepted);
    fixture.clock.advance(TimeDelta::seconds(30));
    let later = request(&fixture, Some(&fixture.ada.tenant().to_string())).await;
    let (_, code) = opened(&fixture).await;
    fixture.clock.advance(TimeDelta::seconds(30));
    let delivery = fixture.iam.deliver_mail().await.unwrap();
    assert_eq!((delivery.sent, delivery.dropped), (0, 1));
    finish(&fixture, EmailProof::Code { flow: later, code }).await.unwrap();
}

#[tokio::test]
async fn logins_by_email_are_offered_where_at_least_one_tenant_wants_them() {
    let fixture = Fixture::new().await;
    assert!(!fixture.iam.email_logins().are_offered().await.unwrap());
    set(&fixture, EmailLogin::On).await;
    assert!(fixture.iam.email_logins().are_offered().await.unwrap());
    let store: Arc<dyn Store> = Arc::<MemoryStore>::clone(&fixture.store);
    let without_mail = Iam::builder(store).settings(settings()).build().await.unwrap();
    assert!(!without_mail.email_logins().are_offered().await.unwrap());
    let refused = without_mail.email_logins().request(&RequestContext::default(), ADA, None).await;
    assert!(matches!(refused, Err(Error::MailOff)), "{refused:?}");
    set(&fixture, EmailLogin::Off).await;
    assert!(!fixture.iam.email_logins().are_offered().await.unwrap());
}

#[tokio::test]
async fn the_debug_texts_of_a_proof_show_no_secret() {
    let proof = EmailProof::Code { flow: "iamc_secret".into(), code: "12345678".into() };
    let shown = format!("{proof:?} {:?}", EmailProof::Link("iaml_secret".into()));
    assert!(!shown.contains("secret") && !shown.contains("12345678"), "{shown}");
}
