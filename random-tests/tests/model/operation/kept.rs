//! What a tenant keeps of its users: attributes, legal holds, and erasures, with their random choice.

use serde_json::{Value, json};

use super::{Chooser, Operation, Read, Ref};
use crate::state::{Attributes, Definition, Kind, Rules, Status, Tenant};

/// The keys of attributes.
pub(crate) const KEYS: &[&str] = &["desk", "floor", "nick"];

/// The texts of searches.
const SEARCHED: &[&str] = &["x", "y", "7", "7.0", "2.5", "true"];

impl Chooser<'_> {
    fn attribute_key(&mut self) -> &'static str {
        KEYS[self.random.usize(..KEYS.len())]
    }

    fn attribute_value(&mut self) -> Value {
        match self.random.u8(..10) {
            0..2 => json!("x"),
            2 => json!("y"),
            3..5 => json!(7),
            5 => json!(2.5),
            6 => json!(true),
            7 => json!(["x", "y"]),
            8 => json!({ "x": [1, null] }),
            _ => Value::Null,
        }
    }

    pub(super) fn attributes(&mut self) -> Attributes {
        let count = self.random.usize(1..=2);
        (0..count).map(|_| (self.attribute_key(), self.attribute_value())).collect()
    }

    pub(super) fn search(&mut self) -> Read {
        Read::WithAttribute(self.attribute_key(), SEARCHED[self.random.usize(..SEARCHED.len())])
    }

    /// Chooses rules with a definition for most keys. Now and then, one of them is not valid.
    fn rules(&mut self) -> Rules {
        let mut definitions = Vec::new();
        for &key in KEYS {
            let kind = [Kind::Text, Kind::Text, Kind::Number, Kind::Number, Kind::Truth, Kind::Texts, Kind::Object]
                [self.random.usize(..7)];
            let can_be_searched = !matches!(kind, Kind::Texts | Kind::Object) || self.random.u8(..8) == 0;
            let searchable = can_be_searched && self.random.u8(..4) > 0;
            let (person_reads, person_writes) = (self.random.u8(..3) == 0, self.random.u8(..2) == 0);
            if self.random.u8(..4) > 0 {
                definitions.push(Definition { key, kind, searchable, person_reads, person_writes });
            }
        }
        Rules { definitions, refuses_others: self.random.u8(..3) == 0 }
    }

    /// Chooses a hold, most often one that is in force. `None` if there is none.
    fn hold(&mut self) -> Option<Ref> {
        let found = self
            .good(|tenant| tenant.holds.len(), |tenant, hold| tenant.holds.get(hold).is_some_and(|found| !found.gone));
        (found.index < self.tenants[found.tenant].holds.len()).then_some(found)
    }

    /// Chooses whose data is held, seldom that of the whole tenant, because nothing of it can be destroyed then.
    fn place_hold(&mut self) -> Operation {
        let user = (self.random.u8(..6) > 0).then(|| self.user());
        Operation::PlaceHold { user }
    }

    /// Chooses what only a few callers may do.
    pub(crate) fn keep(&mut self) -> Operation {
        match (self.random.u8(..10), self.hold()) {
            (0..4, _) => Operation::DefineAttributes { rules: self.rules() },
            (4..8, Some(hold)) if self.random.u8(..5) > 1 => Operation::ReleaseHold { hold },
            (4..8, _) => self.place_hold(),
            _ => {
                let is_inactive = |tenant: &Tenant, user: usize| tenant.users[user].status == Status::Inactive;
                Operation::Erase { user: self.good(|tenant| tenant.users.len(), is_inactive) }
            }
        }
    }
}
