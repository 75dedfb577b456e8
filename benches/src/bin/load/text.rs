//! Text for the person who runs the program.

use std::io::{Write as _, stderr};

use iam_benches::Outcome;

/// Prints the current step, because a run takes long.
pub(crate) fn progress(what: &str) -> Outcome {
    Ok(writeln!(stderr(), "{what}")?)
}

/// A number with commas between thousands.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}
