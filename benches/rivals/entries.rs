//! All contestants.

use crate::contest::Entry;
use crate::{casbin, cedar, floor, ours};

pub(crate) const ENTRIES: [Entry; 7] = [
    Entry { name: "plain loop", load: floor::Floor::load },
    Entry { name: "`Snapshot::allows`", load: ours::Allowing::load },
    Entry { name: "`Snapshot::explain`", load: ours::Explaining::load },
    Entry { name: "Cedar, one policy for each user", load: cedar::Cedar::load },
    Entry { name: "Casbin, one enforcer for each user", load: casbin::PerUser::load },
    Entry { name: "Casbin, one enforcer, reversed", load: casbin::Reversed::load },
    Entry { name: "Casbin, one enforcer, as documented", load: casbin::Documented::load },
];
