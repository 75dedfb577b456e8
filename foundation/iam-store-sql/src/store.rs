//! What the ports need from the store of an engine.
//!
//! Rust allows a crate to implement the ports of `iam-model` only for its own types. So each noun has a macro here, for
//! instance [`permission_ports!`](crate::permission_ports), which a store calls with its type and its statements. The
//! statements stay literals of the store, so that they are checked against its schema when it is compiled.
//!
//! Beside [`SqlStore`], the macros use these methods of the store and of its transaction:
//!
//! - `store.answer(query)` waits for the answer of the database and converts its error. `store.reads()` and
//!   `store.writes()` are the executors of statements that read and write.
//! - `transaction.connection()` is the connection, and `transaction.tenant()` the identifier of the tenant.
//! - `execute_audited!(transaction, statement, arguments…)` executes a statement of a change, and may write the audit
//!   entry of the change with it.

use iam_model::clock::Timestamp;
use iam_model::store_error::StoreError;

use crate::column::{StoredMoment, StoredMoments};

/// The store of an engine.
pub trait SqlStore {
    /// How the engine stores a moment.
    type Moment: StoredMoment;
    /// How the engine stores a list of moments.
    type Moments: StoredMoments;

    /// Converts a moment to the value of a column.
    fn stored(moment: Timestamp) -> Self::Moment;

    /// Converts moments to the value of a column.
    fn stored_list(moments: &[Timestamp]) -> Self::Moments;

    /// Converts an error of the driver.
    fn store_error(error: sqlx::Error) -> StoreError;
}
