//! Rows, which redb does not have. Each row is one JSON document under a key that starts with its tenant.

use std::ops::{ControlFlow, Range};

use iam_model::id::TenantId;
use iam_model::store_error::StoreError;
use redb::{ReadTransaction, ReadableTable, TableDefinition, TableHandle as _, WriteTransaction};
use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

/// A type of row.
pub(crate) trait Row: Serialize + DeserializeOwned {
    /// The name of the table.
    const TABLE: &'static str;

    /// The key of the row within its tenant.
    fn key(&self) -> Vec<u8>;

    /// Sets the tenant of the row to the one in which it is written. The tenant inside the row is not trusted.
    fn belong_to(&mut self, _tenant: TenantId) {}
}

/// The key of a row that has an identifier.
pub(crate) fn key(id: impl Into<Uuid>) -> Vec<u8> {
    id.into().as_bytes().to_vec()
}

fn key_in(tenant: TenantId, key: &[u8]) -> Vec<u8> {
    [tenant.as_uuid().as_bytes(), key].concat()
}

fn table(name: &str) -> TableDefinition<'_, &'static [u8], &'static [u8]> {
    TableDefinition::new(name)
}

type Visit<'a> = dyn FnMut(&[u8], &[u8]) -> Result<ControlFlow<()>, StoreError> + 'a;

/// A source of rows: the committed data, or the data as a unit of work has changed it.
pub(crate) trait Rows {
    fn find(&self, name: &str, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError>;
    fn walk(&self, name: &str, keys: Range<&[u8]>, backwards: bool, visit: &mut Visit<'_>) -> Result<(), StoreError>;
}

// Both types of transaction have the same methods, but they share no trait.
macro_rules! rows {
    ($($transaction:ty),+) => {$(
        impl Rows for $transaction {
            fn find(&self, name: &str, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
                let table = self.open_table(table(name)).map_err(failed)?;
                Ok(table.get(key).map_err(failed)?.map(|value| value.value().to_vec()))
            }

            fn walk(
                &self,
                name: &str,
                keys: Range<&[u8]>,
                backwards: bool,
                visit: &mut Visit<'_>,
            ) -> Result<(), StoreError> {
                let table = self.open_table(table(name)).map_err(failed)?;
                let mut range = table.range::<&[u8]>(keys).map_err(failed)?;
                while let Some(found) = if backwards { range.next_back() } else { range.next() } {
                    let (key, value) = found.map_err(failed)?;
                    if visit(key.value(), value.value())?.is_break() {
                        break;
                    }
                }
                Ok(())
            }
        }
    )+};
}

rows! { ReadTransaction, WriteTransaction }

/// The rows of one tenant.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    rows: &'a dyn Rows,
    pub(crate) tenant: TenantId,
}

impl<'a> View<'a> {
    pub(crate) fn new(rows: &'a dyn Rows, tenant: TenantId) -> Self {
        Self { rows, tenant }
    }

    /// The rows of another tenant, for the few rows that do not belong to the tenant of this view.
    pub(crate) fn of(self, tenant: TenantId) -> Self {
        Self { tenant, ..self }
    }

    pub(crate) fn get<T: Row>(self, key: &[u8]) -> Result<Option<T>, StoreError> {
        self.rows.find(T::TABLE, &key_in(self.tenant, key))?.map(|json| parse(&json)).transpose()
    }

    pub(crate) fn has<T: Row>(self, key: &[u8]) -> Result<bool, StoreError> {
        Ok(self.rows.find(T::TABLE, &key_in(self.tenant, key))?.is_some())
    }

    pub(crate) fn all<T: Row>(self) -> Result<Vec<T>, StoreError> {
        self.select(|_| true)
    }

    /// The rows that match, in the order of their keys.
    pub(crate) fn select<T: Row>(self, passes: impl Fn(&T) -> bool) -> Result<Vec<T>, StoreError> {
        self.take(Keys::all(), u32::MAX, passes)
    }

    pub(crate) fn any<T: Row>(self, passes: impl Fn(&T) -> bool) -> Result<bool, StoreError> {
        Ok(!self.take(Keys::all(), 1, passes)?.is_empty())
    }

    /// The first `limit` rows in this range of keys that match.
    pub(crate) fn take<T: Row>(
        self,
        keys: Keys,
        limit: u32,
        passes: impl Fn(&T) -> bool,
    ) -> Result<Vec<T>, StoreError> {
        let from = key_in(self.tenant, &keys.from);
        let until = match &keys.until {
            Some(until) => key_in(self.tenant, until),
            None => self.tenant.as_uuid().as_u128().saturating_add(1).to_be_bytes().to_vec(),
        };
        let mut found = Vec::new();
        if limit == 0 || from >= until {
            return Ok(found);
        }
        self.rows.walk(T::TABLE, &from..&until, keys.backwards, &mut |_, json| {
            let row = parse(json)?;
            if passes(&row) {
                found.push(row);
            }
            Ok(if found.len() < limit as usize { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        })?;
        Ok(found)
    }
}

/// A range of keys, and the direction in which to read it.
#[derive(Default)]
pub(crate) struct Keys {
    from: Vec<u8>,
    until: Option<Vec<u8>>,
    backwards: bool,
}

impl Keys {
    pub(crate) fn all() -> Self {
        Self::default()
    }

    pub(crate) fn from(from: Vec<u8>) -> Self {
        Self { from, ..Self::default() }
    }

    /// The keys before this one, or all keys, from the last to the first.
    pub(crate) fn backwards_from(until: Option<Vec<u8>>) -> Self {
        Self { until, backwards: true, ..Self::default() }
    }
}

/// The rows of all tenants, each with its tenant, in the order of their keys.
pub(crate) fn everywhere<T: Row>(rows: &dyn Rows) -> Result<Vec<(TenantId, T)>, StoreError> {
    // No tenant has an identifier in which all bits are one.
    let (first, last): (&[u8], &[u8]) = (&[], &[0xff; 16]);
    let mut found = Vec::new();
    rows.walk(T::TABLE, first..last, false, &mut |key, json| {
        let tenant = key.get(..16).and_then(|bytes| Uuid::from_slice(bytes).ok());
        let tenant = tenant.ok_or_else(|| StoreError::corrupt(T::TABLE, "the key is too short"))?;
        found.push((TenantId::from(tenant), parse(json)?));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

/// The rows of one tenant, for writing.
#[derive(Clone, Copy)]
pub(crate) struct Draft<'a> {
    rows: &'a WriteTransaction,
    pub(crate) tenant: TenantId,
}

impl<'a> Draft<'a> {
    pub(crate) fn new(rows: &'a WriteTransaction, tenant: TenantId) -> Self {
        Self { rows, tenant }
    }

    pub(crate) fn view(self) -> View<'a> {
        View::new(self.rows, self.tenant)
    }

    /// The same for another tenant, for the few rows that do not belong to the tenant of the unit of work.
    pub(crate) fn of(self, tenant: TenantId) -> Self {
        Self { tenant, ..self }
    }

    pub(crate) fn rows(self) -> &'a dyn Rows {
        self.rows
    }

    /// Writes a row. It replaces a row with the same key.
    pub(crate) fn put<T: Row>(self, mut row: T) -> Result<(), StoreError> {
        row.belong_to(self.tenant);
        let json = serde_json::to_vec(&row).map_err(|cause| StoreError::Failed(cause.into()))?;
        let mut table = self.rows.open_table(table(T::TABLE)).map_err(failed)?;
        table.insert(&*key_in(self.tenant, &row.key()), &*json).map_err(failed)?;
        Ok(())
    }

    /// Removes a row. Returns whether it existed.
    pub(crate) fn remove<T: Row>(self, key: &[u8]) -> Result<bool, StoreError> {
        let mut table = self.rows.open_table(table(T::TABLE)).map_err(failed)?;
        let removed = table.remove(&*key_in(self.tenant, key)).map_err(failed)?;
        Ok(removed.is_some())
    }
}

impl Draft<'_> {
    /// Removes at most `limit` rows of the tenant, in all tables but these. Returns how many.
    pub(crate) fn clear(self, except: &[&str], limit: u32) -> Result<u64, StoreError> {
        let tables = self.rows.list_tables().map_err(failed)?.map(|table| table.name().to_owned());
        let tables: Vec<String> = tables.filter(|name| !except.contains(&name.as_str())).collect();
        // No tenant has an identifier in which all bits are one.
        let tenant = self.tenant.as_uuid();
        let next = tenant.as_u128().saturating_add(1).to_be_bytes();
        let (first, last): (&[u8], &[u8]) = (tenant.as_bytes(), &next);
        let mut removed = 0;
        for name in tables {
            let mut keys = Vec::new();
            self.rows.walk(&name, first..last, false, &mut |key, _| {
                keys.push(key.to_vec());
                let is_full = removed + keys.len() as u64 >= u64::from(limit);
                Ok(if is_full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            })?;
            let mut table = self.rows.open_table(table(&name)).map_err(failed)?;
            for key in &keys {
                table.remove(&**key).map_err(failed)?;
            }
            removed += keys.len() as u64;
            if removed >= u64::from(limit) {
                break;
            }
        }
        Ok(removed)
    }
}

/// Creates a table if it does not exist.
pub(crate) fn create<T: Row>(rows: &WriteTransaction) -> Result<(), StoreError> {
    rows.open_table(table(T::TABLE)).map(drop).map_err(failed)
}

fn parse<T: Row>(json: &[u8]) -> Result<T, StoreError> {
    serde_json::from_slice(json).map_err(|cause| StoreError::corrupt(T::TABLE, cause))
}

/// Converts an error of redb.
pub(crate) fn failed(error: impl Into<redb::Error>) -> StoreError {
    StoreError::Failed(Box::new(error.into()))
}
