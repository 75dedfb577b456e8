//! The feed of events: its pages, its patterns, and when a reader that waits gets an answer.

use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use iam_conformance::World;
use iam_core::api_key::NewApiKey;
use iam_core::audit::{EventPage, NewEvent};
use iam_core::{Caller, Error, Iam, RequestContext};
use iam_store_memory::MemoryStore;
use tokio::time::{Instant, sleep};

struct Log {
    world: World,
    iam: Iam,
    caller: Caller,
}

impl Log {
    /// A log with the entry of the making of its tenant.
    async fn new() -> Self {
        let world = World::new(Arc::new(MemoryStore::new()));
        let (tenant, iam) = (world.tenant("acme").await, world.iam().await);
        let log = Self { caller: Caller::system(tenant.id, "test"), world, iam };
        log.sequence().await;
        log
    }

    async fn record(&self, kinds: &[&str]) {
        for kind in kinds {
            let (action, resource_type) = ("SENT".to_owned(), (*kind).to_owned());
            let event = NewEvent { action, resource_type, ..NewEvent::default() };
            self.iam.audit().log(&self.caller, event).await.unwrap();
        }
        self.sequence().await;
    }

    async fn sequence(&self) {
        while self.iam.sequence_audit_logs().await.unwrap().more {}
    }

    /// Waits for the next page. Returns how long it took, too.
    async fn wait(&self, after: u64, seconds: u64) -> (EventPage, Duration) {
        let began = Instant::now();
        let mut feed = self.iam.audit().follow(&self.caller, Some(after), 100);
        let page = feed.next_within(Duration::from_secs(seconds)).await.unwrap();
        (page, began.elapsed())
    }
}

fn sequences(page: &EventPage) -> Vec<u64> {
    page.events.iter().map(|event| event.sequence).collect()
}

#[tokio::test]
async fn pages_follow_each_other() {
    let log = Log::new().await;
    log.record(&["LETTER"; 4]).await;
    let mut feed = log.iam.audit().follow(&log.caller, None, 2);
    for expected in [vec![1, 2], vec![3, 4], vec![5], vec![]] {
        let page = feed.next_within(Duration::ZERO).await.unwrap();
        assert_eq!((sequences(&page), page.next), (expected.clone(), expected.last().copied().unwrap_or(5)));
    }
    // As many events as the page may have, and the log has no more.
    let page = log.iam.audit().follow(&log.caller, Some(3), 2).next().await.unwrap();
    assert_eq!((sequences(&page), page.next), (vec![4, 5], 5));
    for limit in [0, 501] {
        let refused = log.iam.audit().follow(&log.caller, None, limit).next().await;
        let Err(Error::Validation(fields)) = refused else { panic!("{refused:?}") };
        assert_eq!(fields[0].field, "limit");
    }
    assert_eq!(sequences(&log.iam.audit().follow(&log.caller, Some(3), 500).next().await.unwrap()), [4, 5]);
}

#[tokio::test]
async fn patterns_select_events_of_the_whole_log() {
    let log = Log::new().await;
    // More than are read from the store at once.
    log.record(&["LETTER"; 110]).await;
    log.record(&["PARCEL", "LETTER", "CARD"]).await;
    let only = |patterns: &[&str], after| {
        let patterns = patterns.iter().map(|pattern| pattern.parse().unwrap()).collect();
        log.iam.audit().follow(&log.caller, Some(after), 100).only(patterns)
    };
    for (patterns, expected) in [
        (&["PARCEL.*"][..], &[112][..]),
        (&["CARD.SENT", "PARCEL.SENT"], &[112, 114]),
        (&["CARD.CREATE", "PARCEL.SENT"], &[112]),
    ] {
        let page = only(patterns, 0).next_within(Duration::ZERO).await.unwrap();
        assert_eq!((sequences(&page), page.next), (expected.to_vec(), 114), "{patterns:?}");
    }
    let page = only(&["STAMP.*"], 3).next_within(Duration::ZERO).await.unwrap();
    assert_eq!((sequences(&page), page.next), (vec![], 3), "an empty page starts at the same place again");
}

#[tokio::test]
async fn a_page_skips_10_000_entries_at_most() {
    let log = Log::new().await;
    let tenant = log.caller.tenant();
    log.world.record(log.world.new_entries(tenant, 10_150)).await;
    log.sequence().await;
    log.record(&["LETTER"]).await;
    let letters = vec!["LETTER.*".parse().unwrap()];
    let mut feed = log.iam.audit().follow(&log.caller, None, 100).only(letters);
    let page = feed.next_within(Duration::from_secs(60)).await.unwrap();
    assert_eq!((sequences(&page), page.next), (vec![], 10_000));
    let page = feed.next_within(Duration::from_secs(60)).await.unwrap();
    assert_eq!((sequences(&page), page.next), (vec![10_152], 10_152));
}

#[tokio::test(start_paused = true)]
async fn a_reader_waits_until_there_is_an_event_or_the_time_has_passed() {
    let log = Log::new().await;
    let (page, took) = log.wait(0, 30).await;
    assert_eq!((sequences(&page), took), (vec![1], Duration::ZERO));
    let (page, took) = log.wait(1, 30).await;
    assert_eq!((sequences(&page), page.next, took.as_secs()), (vec![], 1, 30));
    let later = async {
        sleep(Duration::from_millis(4_250)).await;
        log.record(&["LETTER"]).await;
    };
    let ((page, took), ()) = futures_util::join!(log.wait(1, 30), later);
    assert_eq!((sequences(&page), page.next, took.as_millis() / 10), (vec![2], 2, 425));
    let later = async {
        sleep(Duration::from_millis(70_250)).await;
        log.record(&["LETTER"]).await;
    };
    let began = Instant::now();
    let mut feed = log.iam.audit().follow(&log.caller, Some(2), 100);
    let (page, ()) = futures_util::join!(feed.next(), later);
    assert_eq!((sequences(&page.unwrap()), began.elapsed().as_millis() / 10), (vec![3], 7_025));
}

#[tokio::test(start_paused = true)]
async fn no_reader_waits_while_the_program_stops() {
    let log = Log::new().await;
    let stop = async {
        sleep(Duration::from_secs(4)).await;
        log.iam.end_feeds();
    };
    let ((page, took), ()) = futures_util::join!(log.wait(1, 30), stop);
    assert_eq!((sequences(&page), page.next, page.has_ended, took.as_secs()), (vec![], 1, true, 4));
    let (page, took) = log.wait(1, 30).await;
    assert_eq!((page.has_ended, took), (true, Duration::ZERO));
    let page = log.iam.audit().follow(&log.caller, Some(1), 100).next().await.unwrap();
    assert_eq!((sequences(&page), page.has_ended), (vec![], true));
    // What is there is still read.
    assert_eq!(sequences(&log.wait(0, 30).await.0), [1]);
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_waits_needs_the_permission_all_the_time() {
    let log = Log::new().await;
    let tenant = iam_core::tenant::Tenant { id: log.caller.tenant(), ..log.world.new_tenant("acme") };
    let user = log.world.user(&tenant, "ada@example.com").await;
    let reader = log.world.role(&tenant, "READER", &["audit-logs:read"]).await;
    let new = || NewApiKey { name: "reader".to_owned(), ..NewApiKey::default() };
    let issued = log.iam.api_keys().create(&log.caller, user.id, new()).await.unwrap();
    let by_key = || log.iam.authenticate(issued.token.expose(), RequestContext::default());
    let caller = by_key().await.unwrap();
    let refused = log.iam.audit().follow(&caller, None, 100).next().await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    log.world.give(&user, &reader, None).await;
    let caller = by_key().await.unwrap();
    log.sequence().await;
    let mut feed = log.iam.audit().follow(&caller, None, 100);
    feed.next().await.unwrap();
    let later = async {
        sleep(Duration::from_secs(7)).await;
        log.iam.api_keys().delete(&log.caller, issued.key.id).await.unwrap();
    };
    let began = Instant::now();
    let (refused, ()) = futures_util::join!(feed.next(), later);
    assert!(matches!(refused, Err(Error::Unauthenticated(_))), "{refused:?}");
    assert!(began.elapsed() <= Duration::from_secs(13), "{:?}", began.elapsed());
}

#[tokio::test]
async fn events_that_retention_has_removed_are_an_error() {
    let log = Log::new().await;
    log.record(&["LETTER"; 2]).await;
    log.iam.audit().set_retention(&log.caller, Some(30)).await.unwrap();
    log.sequence().await;
    log.world.clock.advance(TimeDelta::days(31));
    log.record(&["LETTER"]).await;
    log.iam.audit().apply_retention(&log.caller).await.unwrap();
    for after in [0, 3] {
        let gone = log.iam.audit().follow(&log.caller, Some(after), 100).next().await;
        assert!(matches!(gone, Err(Error::EventsRemoved { first: 5 })), "{gone:?}");
    }
    for after in [None, Some(4)] {
        let page = log.iam.audit().follow(&log.caller, after, 100).next().await.unwrap();
        assert_eq!(sequences(&page), [5], "{after:?}");
    }
}
