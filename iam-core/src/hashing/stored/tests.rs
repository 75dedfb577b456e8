use argon2::Block;

use super::*;

fn is_right(hash: &str, password: &str) -> bool {
    is_right_with(hash, None, password)
}

fn is_right_with(hash: &str, secret: Option<&str>, password: &str) -> bool {
    let secret = secret.map(HashSecret::from);
    let StoredHash { function, salt, expected } = StoredHash::parse(hash, secret.as_ref()).unwrap();
    let mut memory = vec![Block::default(); function.blocks()];
    function.output(&password.into(), &salt, &mut memory).unwrap() == expected
}

fn refusal(hash: &str) -> String {
    StoredHash::parse(hash, None).err().expect(hash).to_string()
}

/// The vectors are from the reference implementation, crypt_blowfish.
#[cfg(feature = "bcrypt")]
#[test]
fn imported_bcrypt_hashes_are_verified() {
    let long = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    for (hash, password) in [
        ("$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW", "U*U"),
        ("$2b$05$CCCCCCCCCCCCCCCCCCCCC.VGOzA784oUp/Z0DY336zx7pLYAy0lwK", "U*U*"),
        ("$2y$05$XXXXXXXXXXXXXXXXXXXXXOAcXxm9kjPGEMsLznoKqmqw7tc8WCx4a", "U*U*U"),
        ("$2a$05$abcdefghijklmnopqrstuu5s2v8.iXieOjg/.AySBTTZIIVFJeBui", long),
        ("$2a$05$abcdefghijklmnopqrstuu5s2v8.iXieOjg/.AySBTTZIIVFJeBui", &format!("{long}is not looked at")),
    ] {
        assert!(is_right(hash, password), "{hash}");
        assert!(!is_right(hash, "u*u"), "{hash}");
    }
}

/// The vectors are from Python's hashlib, in the formats of the PHC, of passlib and of Django.
#[test]
fn imported_pbkdf2_hashes_are_verified() {
    for hash in [
        "$pbkdf2-sha256$i=1200,l=32$AAECAwQFBgcICQoLDA0ODw$M1w1HNSutl+q2tPWS7ejhzxW7bIM4CBZ/OFYO3LKkMo",
        "$pbkdf2-sha512$i=1200$AAECAwQFBgcICQoLDA0ODw$BewofhsmGxDWz9aWBHHnfy+tjLUVwDLgJ6A4OWgGSII+e+BlKY3a7hP11xqoEVL0+3pGTUmeHPcW7a3CuvM9Uw",
        "$pbkdf2-sha512$1200$AAECAwQFBgcICQoLDA0ODw$BewofhsmGxDWz9aWBHHnfy.tjLUVwDLgJ6A4OWgGSII.e.BlKY3a7hP11xqoEVL0.3pGTUmeHPcW7a3CuvM9Uw",
        "$pbkdf2$1200$AAECAwQFBgcICQoLDA0ODw$V1Uj4sMq5YkJt/j67oKaOBYma3A",
        "pbkdf2_sha256$1200$aBcD_12+/.salt$iHETL0nku48Iyo0mfmtWfFh5M8ZWeM4Z5PipbZA6By8=",
    ] {
        assert!(is_right(hash, "Passw0rd!"), "{hash}");
        assert!(!is_right(hash, "Passw0rd?"), "{hash}");
    }
}

/// The vectors are from Python's hashlib, in the formats of passlib and of Django.
#[test]
fn imported_scrypt_hashes_are_verified() {
    for hash in [
        "$scrypt$ln=4,r=8,p=1$AAECAwQFBgcICQoLDA0ODw$zqOzPzQQK0yTFY5g6gNJJh8Zaeu+S8ZsvIRSa/Ea1zc",
        "scrypt$16$aBcD_12+/.salt$8$2$iH54ev7B9nRsnBq5NjxCeOB1BiDQ67YUzTytYkL7JuV75+oq+JPWaXfzkd6AARXv2KcxQPYR+rsLvchBDVOXkQ==",
    ] {
        assert!(is_right(hash, "Passw0rd!"), "{hash}");
        assert!(!is_right(hash, "Passw0rd?"), "{hash}");
    }
}

/// The hashes are what Django 5.2 wrote.
#[test]
fn hashes_of_django_are_verified() {
    let hashes = [
        "pbkdf2_sha1$1000000$YPDRVfmuV1V2ruFmxVy3Ej$hEC+WlqnX5A+aXb+c+zY3vWE8ew=",
        "argon2$argon2id$v=19$m=102400,t=2,p=8$YWdldmh6czJ3TjJ4WFpINVhBdEx2UA$jWDVuBRnoDOlxQ99+Ab2PoUpwzCt9CfHcTVjRgBXUso",
        "scrypt$16384$ROHFDSeEfmXjB0YpcwL49t$8$5$I/KOhvEVCGY3FkJzREWYrF0prIKzja6gfpCZEceAw4AY7qEoAw7VwWjVUNv22itOgpRpVTwHphKsb0Avh0IK2g==",
        #[cfg(feature = "bcrypt")]
        "bcrypt_sha256$$2b$12$RW0nVceNYEcUsIvjbE6FHOlhQdQTolVRuyeF6Rnaq3EZpdff4QOvG",
        #[cfg(feature = "bcrypt")]
        "bcrypt$$2b$12$3YgK8Md6TdXO38UyoJXzn.czEMha5B8rpZbza7oOBYzwZIcqjHn6e",
    ];
    for hash in hashes {
        assert!(is_right(hash, "Passw0rd!"), "{hash}");
        accept_hash(hash.into(), None, None).unwrap();
    }
}

/// The first hash is the example that Firebase publishes; the second one is from Python's hashlib and cryptography.
#[test]
fn hashes_of_firebase_are_verified_with_the_signer_key_of_the_project() {
    let published = "jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==";
    let other = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8gISIjJCUmJygpKissLS4vMDEyMzQ1Njc4OTo7PD0+Pw==";
    let cheap = "$firebase-scrypt$ln=4,r=8$AAECAwQFBgcICQoLDA0ODw$u2fb4asLnf9EgVxXtzW9cxqL0ku0tRn/fdb1ON90BgPgjZTI2lZfAKJ/29t8Bey2XvVNuOftWkK+wwvC+9URrg";
    let usual = "$firebase-scrypt$ln=14,r=8$42xEC+ixf3L2lwc$lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ";
    assert!(is_right_with(usual, Some(published), "user1password"));
    assert!(is_right_with(cheap, Some(other), "Passw0rd!"));
    assert!(!is_right_with(cheap, Some(other), "Passw0rd?"));
    assert!(!is_right_with(cheap, Some(published), "Passw0rd!"));
    accept_hash(usual.into(), Some(&published.into()), None).unwrap();
    let refusal = |hash: &str, key: Option<&str>| {
        let key = key.map(HashSecret::from);
        accept_hash(hash.into(), key.as_ref(), None).unwrap_err().to_string()
    };
    assert!(refusal(cheap, Some(other)).contains("too little"));
    assert!(refusal(usual, None).contains("without the signer key"));
    for key in ["", "!", "AAECAwQFBgcICQoLDA0ODw=="] {
        assert!(refusal(usual, Some(key)).contains("a signer key in base64"), "{key}");
    }
    assert!(
        refusal("pbkdf2_sha1$1000000$YPDRVfmuV1V2ruFmxVy3Ej$hEC+WlqnX5A+aXb+c+zY3vWE8ew=", Some("x"))
            .contains("no secret")
    );
}

#[test]
fn an_invalid_hash_is_refused_and_the_error_does_not_show_it() {
    for hash in [
        "",
        "hunter2",
        "$",
        "$2b$10$x",
        "$2b$03$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW",
        "$2x$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW",
        "$2b$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOe\u{fc}",
        "$argon2id$v=19$m=64,t=1,p=1",
        "$argon2id$v=19$m=64,t=1,p=1$c2FsdHNhbHRzYWx0",
        "$argon2x$v=19$m=64,t=1,p=1$c2FsdHNhbHRzYWx0$MTIzNDU2Nzg5MDEyMzQ1Ng",
        "$pbkdf2-sha256$i=0$AAECAwQFBgc$MTIzNDU2Nzg5MDEyMzQ1Ng",
        "$pbkdf2-sha256$1200$AAECAwQFBgc$",
        "$pbkdf2-sha256$1200$AAECAwQFBgc$MTIzNDU2Nzg5MDEyMzQ1Ng$more",
        "$pbkdf2-md5$1200$AAECAwQFBgc$MTIzNDU2Nzg5MDEyMzQ1Ng",
        "$scrypt$r=8,p=1$AAECAwQFBgc$MTIzNDU2Nzg5MDEyMzQ1Ng",
        "$scrypt$ln=0,r=8,p=1$AAECAwQFBgc$MTIzNDU2Nzg5MDEyMzQ1Ng",
        "$scrypt$ln=14,r=8,p=0$AAECAwQFBgc$MTIzNDU2Nzg5MDEyMzQ1Ng",
        "$scrypt$ln=14,r=8,x=1$AAECAwQFBgc$MTIzNDU2Nzg5MDEyMzQ1Ng",
        "scrypt$16383$salt$8$1$MTIzNDU2Nzg5MDEyMzQ1Ng==",
        "bcrypt_sha256$$pbkdf2$10000$AAECAwQFBgc$MTIzNDU2Nzg5MDEyMzQ1Ng",
        "bcrypt_sha256$bcrypt_sha256$$2b$10$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW",
        "argon2$scrypt$ln=14,r=8,p=1$AAECAwQFBgc$MTIzNDU2Nzg5MDEyMzQ1Ng",
        "$firebase-scrypt$ln=14,r=8$42xEC+ixf3L2lwc$MTIzNDU2Nzg5MDEyMzQ1Ng",
        "$argon2id$v=19$m=4194304,m=65536,t=3,p=1$c2FsdHNhbHRzYWx0$MTIzNDU2Nzg5MDEyMzQ1Ng",
        "$argon2id$v=19$m=65536,t=3,p=1,p=1$c2FsdHNhbHRzYWx0$MTIzNDU2Nzg5MDEyMzQ1Ng",
        "$argon2id$v=19$m=65536,t=3,p=1,keyid=AAAA$c2FsdHNhbHRzYWx0$MTIzNDU2Nzg5MDEyMzQ1Ng",
        "$argon2id$v=19$m=65536,t=3,p=1,data=AAAA$c2FsdHNhbHRzYWx0$MTIzNDU2Nzg5MDEyMzQ1Ng",
        "$argon2id$v=19$m=65536,t=3$c2FsdHNhbHRzYWx0$MTIzNDU2Nzg5MDEyMzQ1Ng",
        "$pbkdf2-sha256$i=20000,i=90000000$AAECAwQFBgc$MTIzNDU2Nzg5MDEyMzQ1Ng",
        "$pbkdf2-sha256$i=20000,l=16,l=16$AAECAwQFBgc$MTIzNDU2Nzg5MDEyMzQ1Ng",
        "$pbkdf2-sha256$i=20000,x=1$AAECAwQFBgc$MTIzNDU2Nzg5MDEyMzQ1Ng",
        "$pbkdf2-sha256$l=16$AAECAwQFBgc$MTIzNDU2Nzg5MDEyMzQ1Ng",
        "$scrypt$ln=24,ln=17,r=8,p=1$AAECAwQFBgc$MTIzNDU2Nzg5MDEyMzQ1Ng",
        "$scrypt$ln=14,r=8,p=1,p=1$AAECAwQFBgc$MTIzNDU2Nzg5MDEyMzQ1Ng",
        "$keyed$AAAA$2b$10$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW",
    ] {
        let refusal = refusal(hash);
        assert!(hash.len() < 2 || !refusal.contains(hash), "{refusal}");
    }
}

#[test]
fn a_hash_below_the_minimum_cost_is_not_accepted() {
    let rest = "$c2FsdHNhbHRzYWx0$MTIzNDU2Nzg5MDEyMzQ1Ng";
    let argon2 = |cost: &str| accept_hash(format!("$argon2id$v=19${cost}{rest}").as_str().into(), None, None);
    let pbkdf2 = |rounds: &str| accept_hash(format!("$pbkdf2-sha256${rounds}{rest}").as_str().into(), None, None);
    for refused in [argon2("m=12287,t=1,p=1"), argon2("m=4095,t=3,p=1"), pbkdf2("9999")] {
        assert!(refused.unwrap_err().to_string().contains("too little"));
    }
    let scrypt = |cost: &str| accept_hash(format!("$scrypt${cost}{rest}").as_str().into(), None, None);
    for refused in [scrypt("ln=13,r=8,p=1"), scrypt("ln=14,r=7,p=1"), scrypt("ln=4,r=8,p=1")] {
        assert!(refused.unwrap_err().to_string().contains("too little"));
    }
    scrypt("ln=14,r=8,p=1").unwrap();
    scrypt("ln=12,r=8,p=4").unwrap();
    for accepted in [argon2("m=12288,t=1,p=1"), argon2("m=4096,t=3,p=1"), pbkdf2("10000")] {
        accepted.unwrap();
    }
    assert!(accept_hash("hunter2".into(), None, None).unwrap_err().to_string().contains("no password hash"));
    #[cfg(feature = "bcrypt")]
    {
        let bcrypt = |cost| {
            let hash = format!("$2b${cost}$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW");
            accept_hash(hash.as_str().into(), None, None)
        };
        bcrypt("10").unwrap();
        assert!(bcrypt("09").unwrap_err().to_string().contains("too little"));
    }
}

#[test]
fn a_hash_that_a_tenant_imports_costs_at_most_twice_one_of_the_installation() {
    let rest = "$c2FsdHNhbHRzYWx0$MTIzNDU2Nzg5MDEyMzQ1Ng";
    let cheap = Params::new(64, 1, 1, None).unwrap();
    let (usual, dear) = (Params::default(), Params::new(128 * 1024, 3, 1, None).unwrap());
    for (own, hash, is_accepted) in [
        (&usual, "$argon2id$v=19$m=19456,t=4,p=1", true),
        (&usual, "$argon2id$v=19$m=47104,t=1,p=1", true),
        (&usual, "$argon2id$v=19$m=19456,t=5,p=1", false),
        (&usual, "$argon2id$v=19$m=65537,t=1,p=1", false),
        (&usual, "$argon2id$v=19$m=262144,t=1,p=1", false),
        (&cheap, "$argon2id$v=19$m=19456,t=4,p=1", true),
        (&cheap, "$argon2id$v=19$m=19456,t=5,p=1", false),
        (&dear, "$argon2id$v=19$m=131072,t=6,p=1", true),
        (&dear, "$argon2id$v=19$m=131072,t=7,p=1", false),
        (&dear, "$argon2id$v=19$m=131073,t=1,p=1", false),
        (&usual, "$pbkdf2-sha256$38912", true),
        (&usual, "$pbkdf2-sha256$38913", false),
        (&usual, "$pbkdf2-sha512$25941", true),
        (&usual, "$pbkdf2-sha512$25942", false),
        (&usual, "$pbkdf2$38913", false),
        (&usual, "$scrypt$ln=14,r=8,p=1", false),
        (&dear, "$scrypt$ln=14,r=8,p=8", true),
        (&dear, "$scrypt$ln=14,r=8,p=9", false),
        (&dear, "$scrypt$ln=17,r=8,p=1", false),
    ] {
        let hash = PasswordHash::from(format!("{hash}{rest}").as_str());
        accept_hash(hash.clone(), None, None).unwrap();
        let accepted = accept_hash(hash.clone(), None, Some(ImportLimit::of_tenant(own)));
        assert_eq!(accepted.is_ok(), is_accepted, "{own:?} {}", hash.expose());
    }
    #[cfg(feature = "bcrypt")]
    {
        let hash = PasswordHash::from("$2b$10$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW");
        let refused = accept_hash(hash.clone(), None, Some(ImportLimit::of_tenant(&usual))).unwrap_err();
        assert!(refused.to_string().contains("only its operator"), "{refused}");
        accept_hash(hash, None, Some(ImportLimit::of_tenant(&dear))).unwrap();
    }
}

#[test]
fn a_hash_above_the_maximum_cost_is_refused() {
    let argon2 = |cost: &str| refusal(&format!("$argon2id$v=19${cost}$c2FsdHNhbHRzYWx0$MTIzNDU2Nzg5MDEyMzQ1Ng"));
    for cost in ["m=262145,t=1,p=1", "m=64,t=17,p=1", "m=256,t=1,p=17", "m=262144,t=5,p=1"] {
        assert!(argon2(cost).contains("costs more"), "{cost}");
    }
    let scrypt = |cost: &str| refusal(&format!("$scrypt${cost}$AAECAwQFBgc$MTIzNDU2Nzg5MDEyMzQ1Ng"));
    for cost in [
        "ln=18,r=9,p=1",
        "ln=17,r=8,p=3",
        "ln=25,r=1,p=1",
        "ln=4294967295,r=8,p=1",
        "ln=1,r=4294967295,p=1",
        "ln=1,r=262144,p=16",
        "ln=14,r=1,p=17",
    ] {
        assert!(scrypt(cost).contains("costs more"), "{cost}");
    }
    assert!(refusal("scrypt$9223372036854775808$salt$8$1$MTIzNDU2Nzg5MDEyMzQ1Ng").contains("costs more"));
    let long = format!("$scrypt$ln=14,r=8,p=1${}$MTIzNDU2Nzg5MDEyMzQ1Ng", "A".repeat(1024));
    assert!(accept_hash(long.as_str().into(), None, None).unwrap_err().to_string().contains("no password hash"));
    let pbkdf2 = |rounds: &str| refusal(&format!("$pbkdf2-sha256${rounds}$AAECAwQFBgc$MTIzNDU2Nzg5MDEyMzQ1Ng"));
    assert!(pbkdf2("2000001").contains("costs more"));
    let long = "MTIzNDU2Nzg5MDEyMzQ1NjEyMzQ1Njc4OTAxMjM0NTYxMjM";
    assert!(refusal(&format!("$pbkdf2-sha256$1000001$AAECAwQFBgc${long}")).contains("costs more"));
    assert!(pbkdf2("4294967296").contains("no password hash"));
    #[cfg(feature = "bcrypt")]
    assert!(refusal("$2b$15$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW").contains("costs more"));
}
