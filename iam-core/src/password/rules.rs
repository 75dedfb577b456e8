//! The rules that need no file (`docs/operating.md#password-policies`).

use iam_model::random::Random;
use iam_model::secret::Password;
use iam_model::tenant::PasswordPolicy;
use iam_model::text::folded;
use iam_model::user::User;

use crate::password::common::is_common;

const SPECIAL: &str = "!@#$%^&*";

/// The sets from which a generated password takes its characters in rotation, so that it has characters of every kind.
/// Letters and digits that look alike are left out, and so are special characters that have a meaning in a shell.
const LETTERS: [&str; 4] = ["ABCDEFGHJKLMNPQRSTUVWXYZ", "abcdefghijkmnpqrstuvwxyz", "23456789", "@%^#"];

const GENERATED_LENGTH: usize = 24;

/// Generates a password that every policy accepts: six characters from each of the [`LETTERS`], with more than 80 bits
/// of entropy.
pub(crate) fn make_password(random: &dyn Random) -> Password {
    let bytes: [u8; GENERATED_LENGTH] = random.bytes();
    let letter = |(letters, byte): (&&str, &u8)| letters.chars().nth(usize::from(*byte) % letters.len());
    LETTERS.iter().cycle().zip(&bytes).filter_map(letter).collect::<String>().into()
}

/// Returns every rule of a policy that a password breaks: what it must have. It must have at least `min` characters.
pub(super) fn missing(policy: PasswordPolicy, min: usize, password: &str) -> Vec<String> {
    let length = password.chars().count();
    let max = PasswordPolicy::MAX_LENGTH;
    let has = |wanted: fn(char) -> bool| password.chars().any(wanted);
    let kinds = [
        (has(char::is_uppercase), "an upper-case letter"),
        (has(char::is_lowercase), "a lower-case letter"),
        (has(|c| c.is_ascii_digit()), "a digit"),
        (has(|c| SPECIAL.contains(c)), "one of ! @ # $ % ^ & *"),
    ];
    let of_length = (!(min..=max).contains(&length)).then(|| format!("{min} to {max} characters"));
    let of_kind = kinds.iter().filter(|(holds, _)| policy == PasswordPolicy::Seed && !holds);
    of_length.into_iter().chain(of_kind.map(|(_, rule)| (*rule).to_owned())).collect()
}

/// The facts of an account that an attacker knows, as typed.
#[derive(Clone, Copy, Default)]
pub(crate) struct Owner<'a> {
    pub(crate) email: &'a str,
    pub(crate) first_name: &'a str,
    pub(crate) last_name: &'a str,
    pub(crate) tenant: &'a str,
}

impl<'a> From<&'a User> for Owner<'a> {
    fn from(user: &'a User) -> Self {
        let (first_name, last_name) = (user.first_name.as_str(), user.last_name.as_str());
        Self { email: user.email.as_str(), first_name, last_name, tenant: "" }
    }
}

/// Words of fewer letters are part of too many good passwords.
const SHORTEST_WORD: usize = 4;

/// A password with more characters beside the words of its owner is not guessed from these.
const FEW: usize = 4;

/// Returns why a password is easy to guess: what it must not be.
pub(super) fn guessable(password: &str, owner: Owner<'_>) -> Option<&'static str> {
    if is_common(password) {
        Some("must not be one of the most common passwords")
    } else if is_made_of_words(password, owner) {
        Some("must not consist of your e-mail address, your name or the name of the tenant")
    } else {
        None
    }
}

/// Returns whether few characters remain of a password without the words of its owner.
fn is_made_of_words(password: &str, owner: Owner<'_>) -> bool {
    let Owner { email, first_name, last_name, tenant } = owner;
    let text = folded(&[email, first_name, last_name, tenant].join(" "));
    let mut words: Vec<&str> = text
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| word.chars().count() >= SHORTEST_WORD)
        .collect();
    // The longest first: a word may be part of another one.
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    let password = folded(password);
    // A separator remains, so that the rests on both sides of a word do not form another one.
    let rest = words.iter().fold(password.clone(), |rest, word| rest.replace(word, "\0"));
    rest != password && rest.chars().filter(|letter| *letter != '\0').count() <= FEW
}

#[cfg(test)]
mod tests {
    use super::*;
    use iam_model::random::SystemRandom;
    use proptest::prelude::*;

    #[test]
    fn generated_passwords_satisfy_every_policy_and_differ() {
        let [one, other] = [(); 2].map(|()| make_password(&SystemRandom));
        assert_eq!(one.expose().len(), GENERATED_LENGTH);
        assert_ne!(one.expose(), other.expose());
        for policy in [PasswordPolicy::Seed, PasswordPolicy::Nist, PasswordPolicy::Asvs] {
            assert!(missing(policy, 15, one.expose()).is_empty());
        }
        assert_eq!(guessable(one.expose(), Owner::default()), None);
    }

    fn seed(text: &str) -> Vec<String> {
        missing(PasswordPolicy::Seed, 8, text)
    }

    #[test]
    fn each_rule_is_enforced_alone() {
        assert!(seed("Passw0rd!").is_empty());
        assert_eq!(seed("Pass0r!"), ["8 to 128 characters"]);
        assert_eq!(seed("passw0rd!"), ["an upper-case letter"]);
        assert_eq!(seed("PASSW0RD!"), ["a lower-case letter"]);
        assert_eq!(seed("Password!"), ["a digit"]);
        assert_eq!(seed("Passw0rd?"), ["one of ! @ # $ % ^ & *"]);
    }

    #[test]
    fn all_broken_rules_are_named_at_once() {
        let all =
            ["8 to 128 characters", "an upper-case letter", "a lower-case letter", "a digit", "one of ! @ # $ % ^ & *"];
        assert_eq!(seed("-"), all);
    }

    #[test]
    fn length_is_counted_in_characters() {
        assert!(seed(&format!("Aa1!{}", "ü".repeat(124))).is_empty());
        assert_eq!(seed(&format!("Aa1!{}", "ü".repeat(125))), ["8 to 128 characters"]);
    }

    #[test]
    fn the_other_policies_have_no_rule_but_the_length() {
        for (policy, shortest, rule) in
            [(PasswordPolicy::Nist, 15, "15 to 128 characters"), (PasswordPolicy::Asvs, 8, "8 to 128 characters")]
        {
            let missing = |length| missing(policy, shortest, &"ü".repeat(length));
            assert_eq!(missing(shortest - 1), [rule]);
            assert!(missing(shortest).is_empty());
            assert!(missing(128).is_empty());
            assert_eq!(missing(129), [rule]);
        }
    }

    #[test]
    fn a_password_is_not_made_of_the_words_of_its_owner() {
        let owner = Owner {
            email: "grace.hopper@navy.example",
            first_name: "Grace",
            last_name: "O'Murray-Hopper",
            tenant: "Analytical Engines",
        };
        let reason = Some("must not consist of your e-mail address, your name or the name of the tenant");
        for bad in [
            "gracehopper",
            "GraceHopper2024",
            "hopper.grace!",
            "grace+grace",
            "navy2024",
            "12analyticalENGINES34",
            "murraynavy",
            "1234hopper",
            "12hopper34",
        ] {
            assert_eq!(guessable(bad, owner), reason, "{bad}");
        }
        for good in
            ["12345hopper-x", "hopper12345", "grahopperce1", "graceful-hop", "a quite different text", "engine-room-9"]
        {
            assert_eq!(guessable(good, owner), None, "{good}");
        }
        // Short words, such as a domain, are part of many passwords.
        assert_eq!(guessable("ada-li-org", Owner { email: "ada@li.org", ..Owner::default() }), None);
    }

    #[test]
    fn a_common_password_is_named_as_such() {
        let reason = Some("must not be one of the most common passwords");
        assert_eq!(guessable("Password123", Owner::default()), reason);
    }

    proptest! {
        #[test]
        fn a_password_that_follows_all_five_rules_is_accepted(filler in "[a-zA-Z0-9!@#$%^&* ]{4,124}") {
            let text = format!("Aa1!{}", filler);
            prop_assert!(seed(&text).is_empty());
        }
    }
}
