//! The program and the system that a user agent names, in a few words.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use iam_core::clock::Timestamp;
use iam_core::session::Session;
use iam_core::user::User;

use crate::text;

/// The browsers, by the words that only their user agents have: most of them also name Chrome and Safari.
const BROWSERS: [(&str, &str); 11] = [
    ("Edg/", "Edge"),
    ("EdgA/", "Edge"),
    ("EdgiOS/", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("HeadlessChrome/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
];

/// The systems. An iPhone also names macOS, and Android also names Linux.
const SYSTEMS: [(&str, &str); 8] = [
    ("Windows", "Windows"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("CrOS", "ChromeOS"),
    ("Mac OS X", "macOS"),
    ("Linux", "Linux"),
    ("X11", "Unix"),
];

/// How much of an unknown user agent is shown.
const MAX: usize = 60;

/// Describes a user agent, such as `Chrome on Linux`. Returns the beginning of one that names no known browser.
pub(crate) fn describe(agent: &str) -> String {
    let named =
        |known: &[(&str, &'static str)]| known.iter().find(|(token, _)| agent.contains(token)).map(|(_, name)| *name);
    match (named(&BROWSERS), named(&SYSTEMS)) {
        (Some(browser), Some(system)) => text::browser_on(browser, system),
        (Some(browser), None) => browser.to_owned(),
        (None, _) if agent.chars().count() > MAX => agent.chars().take(MAX).chain(['…']).collect(),
        (None, _) => agent.to_owned(),
    }
}

/// The sessions of a user whose user agents have the same description.
pub(crate) struct Device {
    pub(crate) name: String,
    pub(crate) last_used_at: Timestamp,
    /// Each with the user who acts in it, if that is another one.
    pub(crate) sessions: Vec<(Session, Option<User>)>,
}

/// Returns the devices of sessions, the one that was used last first.
pub(crate) fn devices(sessions: Vec<(Session, Option<User>)>) -> Vec<Device> {
    let mut named: BTreeMap<String, Vec<(Session, Option<User>)>> = BTreeMap::new();
    for (session, actor) in sessions {
        let agent = session.user_agent.as_ref().map(|agent| describe(agent.as_str()));
        named.entry(agent.unwrap_or_else(|| text::t("unknown-device").to_owned())).or_default().push((session, actor));
    }
    let devices = named.into_iter().filter_map(|(name, sessions)| {
        let last_used_at = sessions.iter().map(|(session, _)| session.last_used_at).max()?;
        Some(Device { name, last_used_at, sessions })
    });
    let mut devices: Vec<Device> = devices.collect();
    devices.sort_by_key(|device| Reverse(device.last_used_at));
    devices
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_and_systems_are_known_by_their_tokens() {
        for (agent, expected) in [
            (
                "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
                "Chrome on Linux",
            ),
            (
                "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/140.0.0.0 \
                 Safari/537.36",
                "Chrome on Linux",
            ),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 \
                 Safari/537.36 Edg/140.0.0.0",
                "Edge on Windows",
            ),
            (
                "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 \
                 Safari/605.1.15",
                "Safari on macOS",
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) \
                 Version/18.5 Mobile/15E148 Safari/604.1",
                "Safari on iPhone",
            ),
            (
                "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/28.0 \
                 Chrome/130.0.0.0 Mobile Safari/537.36",
                "Samsung Internet on Android",
            ),
            ("Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0", "Firefox on Linux"),
            ("Firefox/143.0", "Firefox"),
            ("curl/8.14.1", "curl/8.14.1"),
            ("", ""),
        ] {
            assert_eq!(describe(agent), expected, "{agent}");
        }
    }

    #[test]
    fn a_long_unknown_agent_is_cut() {
        let unknown = "ä".repeat(60);
        assert_eq!(describe(&unknown), unknown);
        assert_eq!(describe(&format!("{unknown}ä")), format!("{unknown}…"));
    }
}
