//! Signing keys.

use std::sync::Arc;

use chrono::TimeDelta;
use iam_model::signing_key::{KeyPurpose, PrivateKey, SigningKey};
use iam_model::store::Store;
use iam_model::store_error::{Constraint, StoreError};

use crate::world::World;

/// Keys are read back, oldest generation first, encrypted or not.
pub async fn keys_are_read_back(store: Arc<dyn Store>) {
    let world = World::new(store);
    let second = key(&world, 2, PrivateKey::Encrypted(vec![0, 255, 7]));
    let first = key(&world, 1, PrivateKey::Plain(vec![1; 32]));
    for key in [&second, &first] {
        world.store.insert_signing_key(key).await.unwrap();
    }
    assert_eq!(world.store.signing_keys(KeyPurpose::AccessTokens).await.unwrap(), [first, second]);
}

/// A generation has one key: two replicas cannot both add the next one.
pub async fn a_generation_has_one_key(store: Arc<dyn Store>) {
    let world = World::new(store);
    let first = key(&world, 1, PrivateKey::Plain(vec![1; 32]));
    world.store.insert_signing_key(&first).await.unwrap();
    let late = key(&world, 1, PrivateKey::Plain(vec![2; 32]));
    let refused = world.store.insert_signing_key(&late).await;
    assert!(matches!(refused, Err(StoreError::Conflict(Constraint::SigningKeyGeneration))), "{refused:?}");
    assert_eq!(world.store.signing_keys(KeyPurpose::AccessTokens).await.unwrap(), [first]);
}

/// Keys for different purposes do not mix, and each purpose counts its own generations.
pub async fn keys_of_different_purposes_do_not_mix(store: Arc<dyn Store>) {
    let world = World::new(store);
    let tokens = key(&world, 1, PrivateKey::Plain(vec![1; 32]));
    let checkpoints = [1, 2].map(|generation| SigningKey {
        purpose: KeyPurpose::Checkpoints,
        ..key(&world, generation, PrivateKey::Plain(vec![2; 32]))
    });
    for key in [&checkpoints[1], &tokens, &checkpoints[0]] {
        world.store.insert_signing_key(key).await.unwrap();
    }
    assert_eq!(world.store.signing_keys(KeyPurpose::AccessTokens).await.unwrap(), [tokens]);
    assert_eq!(world.store.signing_keys(KeyPurpose::Checkpoints).await.unwrap(), checkpoints);
    let late = SigningKey { id: world.id(), ..checkpoints[0].clone() };
    let refused = world.store.insert_signing_key(&late).await;
    assert!(matches!(refused, Err(StoreError::Conflict(Constraint::SigningKeyGeneration))), "{refused:?}");
}

/// A private key is replaced by another form of it, only if the stored form is the one that the caller expects.
pub async fn private_keys_are_replaced(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (plain, encrypted) = (PrivateKey::Plain(vec![1; 32]), PrivateKey::Encrypted(vec![1; 32]));
    let [one, other] = [1, 2].map(|generation| key(&world, generation, plain.clone()));
    for key in [&one, &other] {
        world.store.insert_signing_key(key).await.unwrap();
    }
    for (id, before, is_replaced) in
        [(world.id(), &plain, false), (one.id, &encrypted, false), (one.id, &plain, true), (one.id, &plain, false)]
    {
        assert_eq!(world.store.replace_private_key(id, before, &encrypted).await.unwrap(), is_replaced);
    }
    let expected = [SigningKey { private: encrypted, ..one }, other];
    assert_eq!(world.store.signing_keys(KeyPurpose::AccessTokens).await.unwrap(), expected);
}

/// A key that signs access tokens is revoked once, and loses its private half. Other keys, and keys for another
/// purpose, stay unchanged.
pub async fn a_key_is_revoked_once(store: Arc<dyn Store>) {
    let world = World::new(store);
    let [one, other] = [1, 2].map(|generation| key(&world, generation, PrivateKey::Encrypted(vec![1; 60])));
    let checkpoints = SigningKey { purpose: KeyPurpose::Checkpoints, ..key(&world, 1, PrivateKey::Plain(vec![2; 32])) };
    for key in [&one, &other, &checkpoints] {
        world.store.insert_signing_key(key).await.unwrap();
    }
    for (id, is_revoked) in [(world.id(), false), (checkpoints.id, false), (one.id, true), (one.id, false)] {
        assert_eq!(world.store.revoke_signing_key(id, world.now()).await.unwrap(), is_revoked);
        world.tick();
    }
    let revoked_at = Some(world.now() - TimeDelta::seconds(2));
    let expected = [SigningKey { private: PrivateKey::Erased, revoked_at, ..one }, other.clone()];
    assert_eq!(world.store.signing_keys(KeyPurpose::AccessTokens).await.unwrap(), expected);
    assert_eq!(world.store.signing_keys(KeyPurpose::Checkpoints).await.unwrap(), [checkpoints]);
    assert!(world.store.replace_private_key(other.id, &other.private, &PrivateKey::Erased).await.unwrap());
    let keys = world.store.signing_keys(KeyPurpose::AccessTokens).await.unwrap();
    assert_eq!(keys[1], SigningKey { private: PrivateKey::Erased, ..other });
}

fn key(world: &World, generation: i64, private: PrivateKey) -> SigningKey {
    SigningKey {
        purpose: KeyPurpose::AccessTokens,
        id: world.id(),
        generation,
        public: vec![9; 32],
        private,
        created_at: world.now(),
        signs_from: world.now() + TimeDelta::seconds(60),
        revoked_at: None,
    }
}
