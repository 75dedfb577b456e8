//! Reviews withhold what groups give, and the sweeper gives again what has expired.

use chrono::TimeDelta;
use iam_core::access_review::{NewAccessReview, NewDecision, ReviewDecision, ReviewOutcome};
use iam_core::assignment::AssignmentPatch;
use iam_core::role::PlacedRole;
use iam_core::{AssignmentId, UserId};
use serde_json::json;

use crate::company::Company;
use crate::group::{ACCOUNT, tenant_wide};

impl Company {
    fn new_review(&self, grant: PlacedRole) -> NewAccessReview {
        NewAccessReview {
            name: "Spring".to_owned(),
            organization: None,
            roles: vec![grant.role_id],
            users: Vec::new(),
            due_at: self.iam.now() + TimeDelta::days(1),
        }
    }

    /// Revokes assignments of a role in a review.
    async fn review(&self, grant: PlacedRole, revoked: &[AssignmentId]) {
        let reviews = self.iam.access_reviews();
        let review = reviews.create(&self.ada, self.new_review(grant)).await.unwrap().review.id;
        for item in reviews.all_items(&self.ada, review, None).await.unwrap() {
            let id = item.item.subject.assignment().unwrap();
            let is_revoked = revoked.contains(&id);
            let decision = if is_revoked { ReviewDecision::Revoke } else { ReviewDecision::Keep };
            reviews.decide(&self.ada, review, id, NewDecision { decision, reason: None }).await.unwrap();
        }
        reviews.complete(&self.ada, review).await.unwrap();
    }

    async fn sweep(&self) -> u64 {
        self.iam.remove_expired_assignments().await.unwrap()
    }
}

#[tokio::test]
async fn what_a_review_revokes_comes_back_only_when_the_directory_removes_and_adds_the_member() {
    let company = Company::new().await;
    let staff = company.staff(&ACCOUNT).await;
    let (grace, alan) = (company.member(&staff, "grace").await, company.member(&staff, "alan").await);
    let (grant, other) =
        (tenant_wide(company.role(&["roles:read"]).await), tenant_wide(company.role(&["users:read"]).await));
    let group = company.mapped(&staff, "Sales", &[grace, alan], &[grant]).await;
    let second = company.mapped(&staff, "Board", &[grace], &[grant]).await;
    let given = company.only(grace).await;
    company.review(grant, &[given.id]).await;
    assert_eq!(company.last_of(given.id).await["reason"], json!("ACCESS_REVIEW"));
    assert_eq!((company.held(grace).await, company.given(alan).await), (vec![], vec![Some(group)]));
    // It stays a member, and nothing but the directory gives it the role again.
    assert_eq!(company.stored_group(&staff, group).await.members, 2);
    company.move_members(&staff, group, &[grace], &[]).await.unwrap();
    company.map(&staff, group, &[]).await.unwrap();
    company.map(&staff, group, &[grant, other]).await.unwrap();
    company.move_members(&staff, second, &[], &[grace]).await.unwrap();
    company.sweep().await;
    let held: Vec<PlacedRole> = company.held(grace).await.iter().map(|held| tenant_wide(held.role_id)).collect();
    assert_eq!(held, [other]);
    company.move_members(&staff, group, &[], &[grace]).await.unwrap();
    company.move_members(&staff, group, &[grace], &[]).await.unwrap();
    assert_eq!(company.given(grace).await, [Some(group), Some(group)]);
}

#[tokio::test]
async fn a_review_also_withholds_what_was_given_by_hand() {
    let company = Company::new().await;
    let staff = company.staff(&ACCOUNT).await;
    let (grace, grant) = (company.member(&staff, "grace").await, tenant_wide(company.role(&["roles:read"]).await));
    let by_hand = company.by_hand(grace, grant, None).await;
    let group = company.mapped(&staff, "Sales", &[grace], &[grant]).await;
    company.review(grant, &[by_hand]).await;
    assert_eq!(company.held(grace).await, []);
    // People may give the role again. If they revoke it, it does not become one of the group.
    let again = company.by_hand(grace, grant, None).await;
    company.iam.assignments().delete(&company.ada, again).await.unwrap();
    assert_eq!(company.held(grace).await, []);
    assert_eq!(company.stored_group(&staff, group).await.members, 1);
}

#[tokio::test]
async fn a_review_finds_an_assignment_that_another_group_gives_now() {
    let company = Company::new().await;
    let staff = company.staff(&ACCOUNT).await;
    let (grace, grant) = (company.member(&staff, "grace").await, tenant_wide(company.role(&["roles:read"]).await));
    let first = company.mapped(&staff, "First", &[grace], &[grant]).await;
    let second = company.mapped(&staff, "Second", &[grace], &[grant]).await;
    let (given, reviews) = (company.only(grace).await, company.iam.access_reviews());
    let review = reviews.create(&company.ada, company.new_review(grant)).await.unwrap().review.id;
    company.move_members(&staff, first, &[], &[grace]).await.unwrap();
    assert_eq!(company.given(grace).await, [Some(second)]);
    let revoke = NewDecision { decision: ReviewDecision::Revoke, reason: None };
    reviews.decide(&company.ada, review, given.id, revoke).await.unwrap();
    reviews.complete(&company.ada, review).await.unwrap();
    assert_eq!(company.held(grace).await, []);
    let item = reviews.all_items(&company.ada, review, None).await.unwrap().remove(0).item;
    assert_eq!((item.subject.directory_group(), item.outcome), (Some(first), Some(ReviewOutcome::Revoked)));
}

#[tokio::test]
async fn the_sweeper_gives_again_what_a_group_gives_and_the_account_covers() {
    let company = Company::new().await;
    let staff = company.staff(&["users:*", "role-assignments:*"]).await;
    let (grace, alan) = (company.member(&staff, "grace").await, company.member(&staff, "alan").await);
    let grant = tenant_wide(company.role(&["roles:read"]).await);
    let end = company.iam.now() + TimeDelta::hours(1);
    let cover = company.by_hand(staff.account, grant, Some(end)).await;
    // Alan holds the role by hand, for a shorter time.
    let by_hand = company.by_hand(alan, grant, Some(end - TimeDelta::minutes(30))).await;
    let group = company.mapped(&staff, "Sales", &[grace, alan], &[grant]).await;
    let (given, held) = (company.only(grace).await, async |user: UserId| company.held(user).await);
    company.clock.advance(TimeDelta::minutes(30));
    assert_eq!(company.sweep().await, 1);
    assert_eq!(company.last_of(by_hand).await["reason"], json!("EXPIRED"));
    let replaced = company.only(alan).await;
    assert_ne!(replaced.id, by_hand);
    assert_eq!((replaced.directory_group_id, replaced.expires_at, replaced.created_by), (Some(group), Some(end), None));

    // The account gets a longer right, so that its groups give for longer, too.
    let later = end + TimeDelta::hours(1);
    let patch = AssignmentPatch { expires_at: Some(Some(later)) };
    company.iam.assignments().update(&company.ada, cover, patch).await.unwrap();
    company.clock.advance(TimeDelta::minutes(30));
    assert_eq!((held(grace).await, held(alan).await), (vec![], vec![]));
    assert_eq!(company.sweep().await, 2);
    assert_eq!(company.last_of(given.id).await["reason"], json!("EXPIRED"));
    for user in [grace, alan] {
        let renewed = company.only(user).await;
        assert_eq!((renewed.directory_group_id, renewed.expires_at), (Some(group), Some(later)));
    }
    // Now it ends with the right of the account.
    company.clock.advance(TimeDelta::hours(1));
    assert_eq!(company.sweep().await, 3);
    assert_eq!((held(grace).await, held(alan).await), (vec![], vec![]));
    assert_eq!(company.sweep().await, 0);
}

/// A request that ends an expired assignment gives it again, as the sweeper would.
#[tokio::test]
async fn an_expired_assignment_that_is_revoked_is_given_again_by_a_group() {
    let company = Company::new().await;
    let staff = company.staff(&ACCOUNT).await;
    let (grace, grant) = (company.member(&staff, "grace").await, tenant_wide(company.role(&["roles:read"]).await));
    let by_hand = company.by_hand(grace, grant, Some(company.iam.now() + TimeDelta::seconds(1))).await;
    let group = company.mapped(&staff, "Sales", &[grace], &[grant]).await;
    company.tick();
    company.iam.assignments().delete(&company.ada, by_hand).await.unwrap();
    let given = company.only(grace).await;
    assert_eq!((given.directory_group_id, given.expires_at), (Some(group), None));
    assert_eq!(company.last_of(by_hand).await["reason"], json!("EXPIRED"));
}
