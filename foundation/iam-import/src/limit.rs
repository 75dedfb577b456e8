/// The bytes of the longest record of a file. A longer one is refused. In a file of JSON, the next one is read; in a CSV
/// file, it cannot be found.
pub const MAX_RECORD: usize = 1024 * 1024;
