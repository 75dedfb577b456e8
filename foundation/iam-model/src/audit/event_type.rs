use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::audit::AuditEntry;
use crate::audit::event::check_word;
use crate::validate::Invalid;

/// Which events of a log are meant: one action on a resource type (`USER.CREATE`), or every action on it (`USER.*`).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventPattern {
    resource_type: Box<str>,
    /// `None` for every action.
    action: Option<Box<str>>,
}

impl EventPattern {
    /// Whether an entry is such an event.
    #[must_use]
    pub fn matches(&self, entry: &AuditEntry) -> bool {
        *self.resource_type == *entry.resource_type.as_str()
            && self.action.as_deref().is_none_or(|action| *action == *entry.action)
    }
}

impl Serialize for EventPattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for EventPattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl FromStr for EventPattern {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let invalid = || Invalid::new("must be a resource type and an action, such as USER.CREATE or USER.*");
        let (resource_type, action) = text.split_once('.').ok_or_else(invalid)?;
        let action = (action != "*").then_some(action);
        for word in [Some(resource_type), action].into_iter().flatten() {
            check_word(word).map_err(|_| invalid())?;
        }
        Ok(Self { resource_type: resource_type.into(), action: action.map(Box::from) })
    }
}

impl fmt::Display for EventPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.resource_type, self.action.as_deref().unwrap_or("*"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::testing;
    use serde_json::json;

    #[test]
    fn a_pattern_is_a_resource_type_and_an_action_or_all_actions() {
        for text in ["USER.CREATE", "USER.*", "A.B", "A1_.B2_", "ROLE_ASSIGNMENT.*"] {
            assert_eq!(text.parse::<EventPattern>().unwrap().to_string(), text);
        }
        for text in ["", "USER", "USER.", ".CREATE", "*", "*.*", "*.CREATE", "user.CREATE", "USER.CREATE.X", "USER.**"]
        {
            assert!(text.parse::<EventPattern>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_pattern_matches_its_own_events() {
        let entry = testing::entry(json!({}));
        let matches = |pattern: String| pattern.parse::<EventPattern>().unwrap().matches(&entry);
        let (resource_type, action) = (entry.resource_type.as_str(), &entry.action);
        assert!(matches(format!("{resource_type}.{action}")) && matches(format!("{resource_type}.*")));
        assert!(!matches(format!("{resource_type}.{action}X")) && !matches(format!("X{resource_type}.*")));
        assert_eq!(entry.event_type(), format!("{resource_type}.{action}"));
    }
}
