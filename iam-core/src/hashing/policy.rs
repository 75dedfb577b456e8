//! The password policy (`interface.md` §2.1, `decisions.md` §2).

use iam_model::random::Random;
use iam_model::secret::Password;
use iam_model::validate::Invalid;

const MIN: usize = 8;

const MAX: usize = 128;

const SPECIAL: &str = "!@#$%^&*";

/// The sets from which a generated password takes its characters in rotation, so that it has characters of every kind.
/// Letters and digits that look alike are left out, and so are special characters that have a meaning in a shell.
const LETTERS: [&str; 4] = ["ABCDEFGHJKLMNPQRSTUVWXYZ", "abcdefghijkmnpqrstuvwxyz", "23456789", "@%^#"];

const GENERATED_LENGTH: usize = 24;

/// Generates a password that the policy accepts: six characters from each of the [`LETTERS`], with more than 80 bits
/// of entropy.
pub(crate) fn make_password(random: &dyn Random) -> Password {
    let bytes: [u8; GENERATED_LENGTH] = random.bytes();
    let letter = |(letters, byte): (&&str, &u8)| letters.chars().nth(usize::from(*byte) % letters.len());
    LETTERS.iter().cycle().zip(&bytes).filter_map(letter).collect::<String>().into()
}

/// A password that the policy accepts.
pub(crate) struct AcceptedPassword(Password);

impl AcceptedPassword {
    pub(crate) fn password(&self) -> &Password {
        &self.0
    }
}

/// Accepts a new password, or names every rule that it breaks.
pub(crate) fn accept_password(password: Password) -> Result<AcceptedPassword, Invalid> {
    let text = password.expose();
    let length = text.chars().count();
    let has = |wanted: fn(char) -> bool| text.chars().any(wanted);
    let rules = [
        ((MIN..=MAX).contains(&length), "8 to 128 characters"),
        (has(char::is_uppercase), "an upper-case letter"),
        (has(char::is_lowercase), "a lower-case letter"),
        (has(|c| c.is_ascii_digit()), "a digit"),
        (has(|c| SPECIAL.contains(c)), "one of ! @ # $ % ^ & *"),
    ];
    let missing: Vec<&str> = rules.iter().filter(|(holds, _)| !holds).map(|(_, rule)| *rule).collect();
    if missing.is_empty() {
        Ok(AcceptedPassword(password))
    } else {
        Err(Invalid::new(format!("must have {}", missing.join(", "))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iam_model::random::SystemRandom;
    use proptest::prelude::*;

    #[test]
    fn generated_passwords_satisfy_the_policy_and_differ() {
        let [one, other] = [(); 2].map(|()| make_password(&SystemRandom));
        assert_eq!(one.expose().len(), GENERATED_LENGTH);
        assert_ne!(one.expose(), other.expose());
        assert!(accept_password(one).is_ok());
    }

    fn refusal(text: &str) -> Option<String> {
        accept_password(text.into()).err().map(|invalid| invalid.to_string())
    }

    #[test]
    fn each_rule_is_enforced_alone() {
        assert_eq!(refusal("Passw0rd!"), None);
        assert_eq!(refusal("Pass0r!"), Some("must have 8 to 128 characters".to_owned()));
        assert_eq!(refusal("passw0rd!"), Some("must have an upper-case letter".to_owned()));
        assert_eq!(refusal("PASSW0RD!"), Some("must have a lower-case letter".to_owned()));
        assert_eq!(refusal("Password!"), Some("must have a digit".to_owned()));
        assert_eq!(refusal("Passw0rd?"), Some("must have one of ! @ # $ % ^ & *".to_owned()));
    }

    #[test]
    fn an_error_names_all_broken_rules_at_once() {
        assert_eq!(
            refusal("-"),
            Some(
                "must have 8 to 128 characters, an upper-case letter, a lower-case letter, a digit, one of ! @ # $ % ^ & *"
                    .to_owned()
            )
        );
    }

    #[test]
    fn length_is_counted_in_characters() {
        assert_eq!(refusal(&format!("Aa1!{}", "ü".repeat(124))), None);
        assert!(refusal(&format!("Aa1!{}", "ü".repeat(125))).is_some());
    }

    proptest! {
        #[test]
        fn a_password_that_follows_all_five_rules_is_accepted(filler in "[a-zA-Z0-9!@#$%^&* ]{4,124}") {
            let text = format!("Aa1!{}", filler);
            prop_assert_eq!(refusal(&text), None);
        }
    }
}
