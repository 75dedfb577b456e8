//! Jobs that only one replica at a time may do.

use iam_core::Store as _;
use iam_core::maintenance::MaintenanceStore as _;
use test_support::postgres::TestDatabase;

#[tokio::test]
async fn one_of_several_replicas_has_a_job_until_its_turn_ends() {
    let database = TestDatabase::create().await;
    let one = database.store().await;
    let other = database.store().await;
    let turn = one.take_turn("sweep").await.unwrap().unwrap();
    assert!(other.take_turn("sweep").await.unwrap().is_none());
    assert!(one.take_turn("sweep").await.unwrap().is_none(), "another task of the same process does not get it either");
    other.take_turn("another").await.unwrap().unwrap().end().await;
    turn.end().await;
    let turn = other.take_turn("sweep").await.unwrap().unwrap();
    // For the database, a killed process looks like this.
    drop(turn);
    other.close().await;
    one.take_turn("sweep").await.unwrap().unwrap().end().await;
}
