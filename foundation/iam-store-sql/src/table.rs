//! One list of columns for each table that several statements read.
//!
//! A macro such as [`with_user_columns!`](crate::with_user_columns) contains the list, and passes it to one of the
//! macros of this file. A line of the list has the field of the row type, its type, how it is converted, the column as
//! a statement selects it, and the field and the column of a join, where the row may be missing. A second list, such as
//! [`with_written_user_columns!`](crate::with_written_user_columns), has the columns that changes write.

/// Declares the row type of a table, and its conversion.
#[doc(hidden)]
#[macro_export]
macro_rules! row_type {
    (
        ($(#[$attribute:meta])* $row:ident, $value:ident, $table:literal)
        $(($field:ident: $type:ty, $conversion:ident, $column:literal, $joined:ident, $joined_column:literal))+
    ) => {
        $(#[$attribute])*
        #[expect(missing_docs, reason = "the migrations document the columns")]
        #[derive(Debug, sqlx::FromRow)]
        pub struct $row<T> {
            $(pub $field: $type,)+
        }

        impl<T: $crate::column::StoredMoment> TryFrom<$row<T>> for $value {
            type Error = iam_model::store_error::StoreError;

            fn try_from(row: $row<T>) -> Result<Self, Self::Error> {
                Ok(Self {
                    $($field: $crate::convert!($conversion, concat!($table, ".", stringify!($field)), row.$field),)+
                })
            }
        }
    };
}

/// Converts a column to a field.
#[doc(hidden)]
#[macro_export]
macro_rules! convert {
    (into, $name:expr, $column:expr) => {
        $column.into()
    };
    ($conversion:ident, $name:expr, $column:expr) => {
        $crate::column::$conversion($name, $column)?
    };
}

/// Returns the columns as one text.
#[doc(hidden)]
#[macro_export]
macro_rules! column_text {
    (
        ()
        ($first:ident: $first_type:ty, $first_conversion:ident, $first_column:literal, $($first_joined:tt)+)
        $(($field:ident: $type:ty, $conversion:ident, $column:literal, $($joined:tt)+))+
    ) => {
        concat!($first_column $(, ", ", $column)+)
    };
}

/// Selects rows.
#[doc(hidden)]
#[macro_export]
macro_rules! select_columns {
    (
        ($row:ident, $which:literal, $($argument:expr),+)
        ($first:ident: $first_type:ty, $first_conversion:ident, $first_column:literal, $($first_joined:tt)+)
        $(($field:ident: $type:ty, $conversion:ident, $column:literal, $($joined:tt)+))+
    ) => {
        sqlx::query_as!($row, "SELECT " + $first_column $(+ ", " + $column)+ + " " + $which, $($argument),+)
    };
}

/// Makes a row type of the columns of a join, if the row is not missing.
#[doc(hidden)]
#[macro_export]
macro_rules! joined_row {
    (
        (($($type:tt)+), $row:ident)
        $(($field:ident: $field_type:ty, $conversion:ident, $column:literal, $joined:ident, $joined_column:literal))+
    ) => {
        $($type)+ { $($field: $crate::joined_field!($conversion, $row.$joined),)+ }
    };
}

/// Returns the column of a join, which is NULL if the row is missing.
#[doc(hidden)]
#[macro_export]
macro_rules! joined_field {
    (moment_optional, $column:expr) => {
        $column
    };
    ($conversion:ident, $column:expr) => {
        $column?
    };
}

/// Selects a user and its tenant, each of which may be missing, beside other columns. The literals are the statement
/// before and after the columns of both.
#[doc(hidden)]
#[macro_export]
macro_rules! select_with_user_and_tenant {
    ($before:literal $(+ $more:literal)*, $after:literal, $($argument:expr),+) => {
        $crate::with_user_columns!(select_with_user (($before $(+ $more)*), $after, $($argument),+))
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! select_with_user {
    (
        (($($before:tt)+), $($rest:tt)+)
        $(($field:ident: $type:ty, $conversion:ident, $column:literal, $joined:ident, $joined_column:literal))+
    ) => {
        $crate::with_tenant_columns!(select_with_tenant (($($before)+ $(+ ", " + $joined_column)+), $($rest)+))
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! select_with_tenant {
    (
        (($($before:tt)+), $after:literal, $($argument:expr),+)
        $(($field:ident: $type:ty, $conversion:ident, $column:literal, $joined:ident, $joined_column:literal))+
    ) => {
        sqlx::query!($($before)+ $(+ ", " + $joined_column)+ + " " + $after, $($argument),+)
    };
}

/// Takes the user and the tenant out of a row of [`select_with_user_and_tenant!`], if the row has them.
#[doc(hidden)]
#[macro_export]
macro_rules! user_and_tenant {
    ($row:ident) => {
        (|| {
            let user = $crate::with_user_columns!(joined_row(($crate::user::UserRow), $row));
            let tenant = $crate::with_tenant_columns!(joined_row(($crate::tenant::TenantRow), $row));
            Some((user, tenant))
        })()
    };
}

/// Inserts a row. The literals of the statement stand before the columns, between them and their parameters, and after
/// these. More values may follow.
#[doc(hidden)]
#[macro_export]
macro_rules! insert_columns {
    (
        (
            ($($head:tt)*),
            ($before:literal columns $middle:literal parameters $after:literal),
            $transaction:expr,
            $id:expr
            $(, $more:expr)*
        )
        $(($column:literal, $parameter:literal, $assignment:literal, $value:expr))+
        ;
        $(($other_column:literal, $other_parameter:literal, $other_value:expr))*
    ) => {
        execute_audited!(
            $transaction,
            $($head)*
            $before + "tenant_id, id" $(+ ", " + $column)+ $(+ ", " + $other_column)*
                + $middle + "$1, $2" $(+ ", " + $parameter)+ $(+ ", " + $other_parameter)*
                + $after,
            $transaction.tenant(),
            $id.as_uuid(),
            $($value,)+
            $($other_value),*
            $(, $more)*
        )
    };
}

/// Updates a row. The literals of the statement stand before and after the assignments.
#[doc(hidden)]
#[macro_export]
macro_rules! update_columns {
    (
        (($(entry: $entry:literal,)? $before:literal assignments $after:literal), $transaction:expr, $id:expr)
        $(($column:literal, $parameter:literal, $assignment:literal, $value:expr))+
        ;
        $($insert_only:tt)*
    ) => {
        execute_audited!(
            $transaction,
            $($entry,)?
            $before $(+ $assignment + ", ")+ + $after,
            $transaction.tenant(),
            $id.as_uuid(),
            $($value),+
        )
    };
}
