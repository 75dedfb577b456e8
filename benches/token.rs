//! The cost of authentication at the start of a request: `Iam::authenticate` on the store in memory, for a new token
//! and for a cached one, compared with the bare verification of a token's signature.

use std::hint::black_box;
use std::time::{Duration, Instant};

use aws_lc_rs::signature::{ED25519, UnparsedPublicKey};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use criterion::Criterion;
use iam_benches::{CHEAP, Outcome, iam, register, sure};
use iam_core::session::Tokens;
use iam_core::token::PublicKey;
use iam_core::{Iam, RequestContext};
use jsonwebtoken::{Algorithm, DecodingKey, Validation, decode};
use serde::Deserialize;
use test_support::TestStore;
use tokio::runtime::Runtime;
use tokio::sync::Mutex;
use uuid::Uuid;

fn main() -> Outcome {
    let criterion = Criterion::default().without_plots();
    let criterion = criterion.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(3));
    let mut criterion = criterion.configure_from_args();
    let runtime = Runtime::new()?;
    let (iam, tokens) = runtime.block_on(logged_in())?;
    let token = tokens.access.expose();
    let key = runtime.block_on(iam.public_keys())?.pop().ok_or("there is no key")?;

    measure_cached(&mut criterion, &runtime, &iam, token);
    measure_new(&mut criterion, &runtime, &iam, tokens.clone());
    measure_decoding(&mut criterion, &key, token);
    measure_signature(&mut criterion, &key, token)?;
    criterion.final_summary();
    Ok(())
}

async fn logged_in() -> Outcome<(Iam, Tokens)> {
    let iam = iam(TestStore::memory().store(), CHEAP).await?;
    let tokens = register(&iam).await?.login.tokens;
    Ok((iam, tokens))
}

fn measure_cached(criterion: &mut Criterion, runtime: &Runtime, iam: &Iam, token: &str) {
    criterion.bench_function("token/Iam::authenticate, cached", |bencher| {
        bencher
            .to_async(runtime)
            .iter(|| async { sure(iam.authenticate(black_box(token), RequestContext::default()).await) });
    });
}

fn measure_new(criterion: &mut Criterion, runtime: &Runtime, iam: &Iam, tokens: Tokens) {
    let last = Mutex::new(tokens);
    criterion.bench_function("token/Iam::authenticate, new", |bencher| {
        bencher.to_async(runtime).iter_custom(async |count| sure(time_new(iam, &last, count).await));
    });
}

/// The time to authenticate with this number of tokens. Each token is new.
async fn time_new(iam: &Iam, last: &Mutex<Tokens>, count: u64) -> Outcome<Duration> {
    let mut elapsed = Duration::ZERO;
    let mut last = last.lock().await;
    for _ in 0..count {
        *last = iam.sessions().refresh(&RequestContext::default(), &last.refresh).await?;
        let began = Instant::now();
        black_box(iam.authenticate(last.access.expose(), RequestContext::default()).await?);
        elapsed += began.elapsed();
    }
    Ok(elapsed)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "only their decoding is measured")]
struct Claims {
    sub: Uuid,
    sid: Uuid,
    jti: Uuid,
    tenant_id: Uuid,
}

fn measure_decoding(criterion: &mut Criterion, key: &PublicKey, token: &str) {
    let decoding_key = DecodingKey::from_ed_der(&key.bytes);
    let mut validation = Validation::new(Algorithm::EdDSA);
    validation.set_issuer(&["iam"]);
    validation.set_audience(&["iam"]);
    criterion.bench_function("token/floor: jsonwebtoken", |bencher| {
        bencher.iter(|| sure(decode::<Claims>(black_box(token), &decoding_key, &validation)));
    });
}

fn measure_signature(criterion: &mut Criterion, key: &PublicKey, token: &str) -> Outcome {
    let (message, signature) = token.rsplit_once('.').ok_or("the token is no JWT")?;
    let signature = URL_SAFE_NO_PAD.decode(signature)?;
    let key = UnparsedPublicKey::new(&ED25519, &key.bytes);
    criterion.bench_function("token/floor: Ed25519", |bencher| {
        bencher.iter(|| sure(key.verify(black_box(message).as_bytes(), &signature)));
    });
    Ok(())
}
