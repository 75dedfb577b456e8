//! The floor: only the queries of a request, over HTTP, in a process with the same structure as the server.
//!
//! There is no authentication and no validation, and times are serialized as the database stores them.

mod postgres;
mod sqlite;

use std::fmt::Display;
use std::net::SocketAddr;

use argon2::PasswordHasher as _;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use iam_benches::{CHEAP, Outcome, argon2id};
use serde::{Deserialize, Serialize};
use sqlx::FromRow;
use tokio::net::TcpListener;
use uuid::Uuid;

use self::postgres::Postgres;
use self::sqlite::Sqlite;

/// The queries on a kind of database.
trait Queries: Clone + Send + Sync + 'static {
    /// The type of times in the database.
    type Time: Serialize + Send;

    /// A user by its primary key.
    fn user(&self, tenant: Uuid, id: Uuid) -> impl Future<Output = sqlx::Result<UserRow<Self::Time>>> + Send;

    /// The newest users.
    fn users(&self, tenant: Uuid, limit: i64) -> impl Future<Output = sqlx::Result<Vec<ListRow<Self::Time>>>> + Send;

    /// The number of users.
    fn count(&self, tenant: Uuid) -> impl Future<Output = sqlx::Result<i64>> + Send;

    /// The newest users, each with the total, which the database stores.
    fn users_and_count(
        &self,
        tenant: Uuid,
        limit: i64,
    ) -> impl Future<Output = sqlx::Result<Vec<CountedRow<Self::Time>>>> + Send;

    /// The newest role assignments that have not expired, with names, each with the total, which the database stores.
    fn assignments(
        &self,
        tenant: Uuid,
        limit: i64,
    ) -> impl Future<Output = sqlx::Result<Vec<AssignmentRow<Self::Time>>>> + Send;

    /// The children of an organization, newest first.
    fn children(
        &self,
        tenant: Uuid,
        parent: Uuid,
    ) -> impl Future<Output = sqlx::Result<Vec<OrganizationRow<Self::Time>>>> + Send;

    /// Inserts the rows of a new user in one transaction: the user, its credential and an audit entry.
    fn insert(
        &self,
        tenant: Uuid,
        id: Uuid,
        new: &NewUser,
        hash: &str,
    ) -> impl Future<Output = sqlx::Result<()>> + Send;
}

#[derive(FromRow, Serialize)]
#[serde(rename_all = "camelCase")]
struct UserRow<T> {
    tenant_id: Uuid,
    id: Uuid,
    email: String,
    first_name: String,
    last_name: String,
    status: String,
    last_login_at: Option<T>,
    created_at: T,
    updated_at: T,
}

#[derive(FromRow, Serialize)]
#[serde(rename_all = "camelCase")]
struct ListRow<T> {
    id: Uuid,
    email: String,
    first_name: String,
    last_name: String,
    status: String,
    last_login_at: Option<T>,
}

#[derive(FromRow)]
struct CountedRow<T> {
    total: i64,
    #[sqlx(flatten)]
    row: ListRow<T>,
}

#[derive(FromRow, Serialize)]
#[serde(rename_all = "camelCase")]
struct AssignmentRow<T> {
    #[serde(skip_serializing)]
    total: i64,
    id: Uuid,
    user_id: Uuid,
    role_id: Uuid,
    organization_id: Option<Uuid>,
    expires_at: Option<T>,
    created_at: T,
    email: String,
    role_name: String,
    organization_name: Option<String>,
}

#[derive(FromRow, Serialize)]
#[serde(rename_all = "camelCase")]
struct OrganizationRow<T> {
    tenant_id: Uuid,
    id: Uuid,
    name: String,
    slug: String,
    status: String,
    parent_id: Option<Uuid>,
    created_at: T,
    updated_at: T,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct NewUser {
    email: String,
    #[serde(skip_serializing)]
    password: String,
    first_name: String,
    last_name: String,
}

/// Serves until it is killed.
pub(crate) async fn serve(database_url: &str, listen: SocketAddr, tenant: Uuid) -> Outcome {
    if database_url.starts_with("sqlite:") {
        listen_on(listen, router(Sqlite::open(database_url).await?, tenant)).await
    } else {
        listen_on(listen, router(Postgres::connect(database_url).await?, tenant)).await
    }
}

async fn listen_on(address: SocketAddr, router: Router) -> Outcome {
    Ok(axum::serve(TcpListener::bind(address).await?, router).await?)
}

#[derive(Clone)]
struct Floor<Q> {
    queries: Q,
    tenant: Uuid,
}

fn router<Q: Queries>(queries: Q, tenant: Uuid) -> Router {
    Router::new()
        .route("/health/ready", get(async || ()))
        .route("/users/{id}", get(user::<Q>))
        .route("/users", get(users::<Q>).post(create::<Q>))
        .route("/users-by-one-statement", get(users_by_one_statement::<Q>))
        .route("/role-assignments", get(assignments::<Q>))
        .route("/organizations/{id}/children", get(children::<Q>))
        .route("/authz/check", post(async |Json(question): Json<Question>| Json(question)))
        .with_state(Floor { queries, tenant })
}

async fn user<Q: Queries>(
    State(floor): State<Floor<Q>>,
    Path(id): Path<Uuid>,
) -> Result<Json<UserRow<Q::Time>>, Failure> {
    Ok(Json(floor.queries.user(floor.tenant, id).await?))
}

#[derive(Deserialize)]
struct Limit {
    limit: i64,
}

#[derive(Serialize)]
struct Users<T> {
    data: Vec<ListRow<T>>,
    total: i64,
}

async fn users<Q: Queries>(
    State(floor): State<Floor<Q>>,
    Query(Limit { limit }): Query<Limit>,
) -> Result<Json<Users<Q::Time>>, Failure> {
    let total = floor.queries.count(floor.tenant).await?;
    let data = floor.queries.users(floor.tenant, limit).await?;
    Ok(Json(Users { data, total }))
}

async fn users_by_one_statement<Q: Queries>(
    State(floor): State<Floor<Q>>,
    Query(Limit { limit }): Query<Limit>,
) -> Result<Json<Users<Q::Time>>, Failure> {
    let rows = floor.queries.users_and_count(floor.tenant, limit).await?;
    let total = rows.first().map_or(0, |row| row.total);
    Ok(Json(Users { data: rows.into_iter().map(|counted| counted.row).collect(), total }))
}

#[derive(Serialize)]
struct Listed<R> {
    data: Vec<R>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<i64>,
}

async fn assignments<Q: Queries>(
    State(floor): State<Floor<Q>>,
    Query(Limit { limit }): Query<Limit>,
) -> Result<Json<Listed<AssignmentRow<Q::Time>>>, Failure> {
    let data = floor.queries.assignments(floor.tenant, limit).await?;
    Ok(Json(Listed { total: Some(data.first().map_or(0, |row| row.total)), data }))
}

async fn children<Q: Queries>(
    State(floor): State<Floor<Q>>,
    Path(parent): Path<Uuid>,
) -> Result<Json<Listed<OrganizationRow<Q::Time>>>, Failure> {
    Ok(Json(Listed { data: floor.queries.children(floor.tenant, parent).await?, total: None }))
}

/// A question, which is returned unchanged.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Question {
    permission: String,
    organization_id: Option<Uuid>,
}

#[derive(Serialize)]
struct Created {
    id: Uuid,
    #[serde(flatten)]
    user: NewUser,
}

async fn create<Q: Queries>(
    State(floor): State<Floor<Q>>,
    Json(user): Json<NewUser>,
) -> Result<(StatusCode, Json<Created>), Failure> {
    let id = Uuid::now_v7();
    let hash = argon2id(CHEAP)?.hash_password(user.password.as_bytes())?;
    floor.queries.insert(floor.tenant, id, &user, &hash.to_string()).await?;
    Ok((StatusCode::CREATED, Json(Created { id, user })))
}

/// A failure. It ends the run.
struct Failure(String);

impl<E: Display> From<E> for Failure {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        (StatusCode::INTERNAL_SERVER_ERROR, self.0).into_response()
    }
}
