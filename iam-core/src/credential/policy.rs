//! The password policy (`interface.md` §2.1, `decisions.md` §2).

use crate::random::Random;
use crate::secret::Password;
use crate::validate::Invalid;

const MIN: usize = 8;
const MAX: usize = 128;
const SPECIAL: &str = "!@#$%^&*";

/// What a made password takes from in turn, so that it always has one of each. Letters and digits that look alike are
/// left out, and of the special characters those that a shell takes for its own.
const LETTERS: [&str; 4] = ["ABCDEFGHJKLMNPQRSTUVWXYZ", "abcdefghijkmnpqrstuvwxyz", "23456789", "@%^#"];
const MADE: usize = 24;

/// A password that the policy accepts and nobody guesses: six from each of the [`LETTERS`], more than 80 bits.
pub(super) fn make_password(random: &dyn Random) -> Password {
    let bytes: [u8; MADE] = random.bytes();
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

/// Accepts a new password, or says everything that it lacks.
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
    use crate::random::SystemRandom;
    use proptest::prelude::*;

    #[test]
    fn a_made_password_is_accepted_and_not_made_twice() {
        let [one, other] = [(); 2].map(|()| make_password(&SystemRandom));
        assert_eq!(one.expose().len(), MADE);
        assert_ne!(one.expose(), other.expose());
        assert!(accept_password(one).is_ok());
    }

    fn complaint(text: &str) -> Option<String> {
        accept_password(text.into()).err().map(|invalid| invalid.to_string())
    }

    #[test]
    fn each_rule_by_itself() {
        assert_eq!(complaint("Passw0rd!"), None);
        assert_eq!(complaint("Pass0r!"), Some("must have 8 to 128 characters".to_owned()));
        assert_eq!(complaint("passw0rd!"), Some("must have an upper-case letter".to_owned()));
        assert_eq!(complaint("PASSW0RD!"), Some("must have a lower-case letter".to_owned()));
        assert_eq!(complaint("Password!"), Some("must have a digit".to_owned()));
        assert_eq!(complaint("Passw0rd?"), Some("must have one of ! @ # $ % ^ & *".to_owned()));
    }

    #[test]
    fn everything_that_is_missing_is_said_at_once() {
        assert_eq!(
            complaint("-"),
            Some(
                "must have 8 to 128 characters, an upper-case letter, a lower-case letter, a digit, one of ! @ # $ % ^ & *"
                    .to_owned()
            )
        );
    }

    #[test]
    fn length_is_counted_in_characters() {
        assert_eq!(complaint(&format!("Aa1!{}", "ü".repeat(124))), None);
        assert!(complaint(&format!("Aa1!{}", "ü".repeat(125))).is_some());
    }

    proptest! {
        #[test]
        fn whatever_has_all_five_is_accepted(filler in "[a-zA-Z0-9!@#$%^&* ]{4,124}") {
            let text = format!("Aa1!{}", filler);
            prop_assert_eq!(complaint(&text), None);
        }
    }
}
