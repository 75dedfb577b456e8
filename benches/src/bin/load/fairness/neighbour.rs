//! A tenant with as much of everything as the server lets it have.

use iam_benches::{Outcome, email, iam, id};
use iam_core::RequestContext;
use iam_core::credential::HashingCost;
use iam_core::user::{ImportedUser, UserStatus};
use serde_json::{Value, json};

use super::attack::Attack;
use crate::api::{PREFIX, ask, credentials, text};
use crate::client::{Connection, authorization, request};
use crate::installation::{Installation, Tenant};
use crate::text::progress;

/// The number of permissions of a role, of role assignments of a user, and of imported hashes.
const PERMISSIONS: usize = 500;
const ASSIGNMENTS: u64 = 1_000;
const IMPORTED: u64 = 300;
const INVITATIONS: u64 = 1_000;
/// The number of users that open event streams, and how many each of them tries to open.
const STREAMERS: u64 = 5;
const STREAMS: usize = 40;
/// Argon2id with these numbers of KiB and passes, the most expensive first.
const COSTS: [(u32, u32); 8] =
    [(262_144, 4), (262_144, 1), (131_072, 1), (65_536, 2), (38_912, 2), (19_456, 4), (19_456, 3), (19_456, 2)];

pub(super) struct Neighbour<'a> {
    installation: &'a Installation,
    tenant: &'a Tenant,
    connection: Connection,
    token: String,
}

impl<'a> Neighbour<'a> {
    pub(super) async fn of(installation: &'a Installation, tenant: &'a Tenant) -> Outcome<Self> {
        let token = installation.token(tenant).await?;
        let connection = Connection::open(installation.server.address).await?;
        Ok(Self { installation, tenant, connection, token })
    }

    /// Sends a request of the administrator. Returns the body of the answer, or `None` if it is refused.
    async fn ask(&mut self, method: &str, path: &str, body: Option<&Value>) -> Outcome<Option<Value>> {
        let request = self.request(method, path, body);
        let answer = match self.connection.ask(&request).await {
            Ok(answer) => answer,
            // The server closes connections that are idle for long.
            Err(_) => {
                self.connection = Connection::open(self.installation.server.address).await?;
                self.connection.ask(&request).await?
            }
        };
        if !(200..300).contains(&answer.status) {
            return Ok(None);
        }
        if answer.body.is_empty() { Ok(Some(Value::Null)) } else { answer.json().map(Some) }
    }

    fn request(&self, method: &str, path: &str, body: Option<&Value>) -> Vec<u8> {
        let body = body.map(Value::to_string);
        request(method, &format!("{PREFIX}{path}"), &authorization(&self.token), body.as_deref())
    }

    fn user(&self, number: u64) -> u64 {
        self.tenant.administrator + 1 + number
    }

    /// A user with as many role assignments as possible, of a role with as many permissions as possible.
    pub(super) async fn wide_rights(&mut self) -> Outcome<WideRights> {
        let mut names = Vec::new();
        for number in 0..PERMISSIONS {
            let name = format!("application-{number:03}:read");
            if self.ask("POST", "/permissions", Some(&json!({ "name": name }))).await?.is_none() {
                break;
            }
            names.push(name);
        }
        let role = loop {
            let role = json!({ "name": "WIDE", "permissions": names });
            match self.ask("POST", "/roles", Some(&role)).await? {
                Some(role) => break text(&role, "/id")?,
                None if names.is_empty() => return Err("no role can be made".into()),
                None => names.truncate(names.len() / 2),
            }
        };
        let user = id(self.user(0)).to_string();
        let (mut assigned, mut chunk) = (0, 500);
        while assigned < ASSIGNMENTS && chunk > 0 {
            let items = assignments(&user, &role, assigned..(assigned + chunk).min(ASSIGNMENTS));
            match self.ask("POST", "/role-assignments/bulk", Some(&items)).await? {
                Some(_) => assigned += chunk,
                None => chunk /= 2,
            }
        }
        progress(&format!("a user has {assigned} assignments of a role with {} permissions", names.len()))?;
        Ok(WideRights { role, user, fewer: names.split_off(names.len() / 2) })
    }

    /// Previews of large changes.
    pub(super) fn previews(&self, wide: &WideRights) -> Attack {
        let other = id(self.user(1)).to_string();
        let requests = vec![
            self.request("POST", &format!("/users/{}/suspend?preview=true", wide.user), None),
            self.request("DELETE", &format!("/users/{}?preview=true", wide.user), None),
            self.request(
                "PATCH",
                &format!("/roles/{}?preview=true", wide.role),
                Some(&json!({ "permissions": wide.fewer })),
            ),
            self.request("POST", "/role-assignments/bulk?preview=true", Some(&assignments(&other, &wide.role, 0..500))),
        ];
        attack("previews", requests, 8)
    }

    /// The rights of the user itself.
    pub(super) async fn own_rights(&mut self) -> Outcome<Attack> {
        let token = self.log_in(0).await?;
        let me = request("GET", &format!("{PREFIX}/auth/me"), &authorization(&token), None);
        Ok(attack("`GET /auth/me` with wide rights", vec![me], 8))
    }

    async fn log_in(&mut self, number: u64) -> Outcome<String> {
        let login = credentials(self.user(number));
        text(&ask(&mut self.connection, "POST", "/auth/login", None, Some(login), 200).await?, "/accessToken")
    }

    /// Logins to accounts with imported hashes, as expensive as they may be.
    pub(super) async fn expensive_logins(&self) -> Outcome<Attack> {
        let iam = iam(self.installation.database.store().await?, HashingCost::default()).await?;
        let caller = iam.authenticate(&self.token, RequestContext::default()).await?;
        let mut import = iam.users().import(&caller)?;
        let mut requests = Vec::new();
        for (memory, passes) in COSTS {
            for number in 0..IMPORTED {
                let email = format!("imported{number}@example.com");
                let user = ImportedUser {
                    email: email.clone(),
                    first_name: "Grace".to_owned(),
                    last_name: "Hopper".to_owned(),
                    password_hash: hash(memory, passes).into(),
                    status: UserStatus::Active,
                    attributes: serde_json::Map::new(),
                };
                if import.add(user).await.is_err() {
                    break;
                }
                let wrong = json!({ "email": email, "password": "Wr0ng-password", "tenant": self.tenant.id });
                let from = "X-Forwarded-For: 198.51.100.1\r\n";
                requests.push(request("POST", &format!("{PREFIX}/auth/login"), from, Some(&wrong.to_string())));
            }
            if !requests.is_empty() {
                progress(&format!("{} hashes of {memory} KiB and {passes} passes are imported", requests.len()))?;
                break;
            }
        }
        Ok(attack("logins with imported hashes", requests, 32))
    }

    /// Event streams from the beginning of the log.
    pub(super) async fn streams(&mut self) -> Outcome<Attack> {
        let roles = self.ask("GET", "/roles", None).await?.unwrap_or_default();
        let roles = roles.get("data").and_then(Value::as_array).ok_or("there are no roles")?;
        let auditor = roles.iter().find(|role| role.get("name").is_some_and(|name| name == "AUDITOR"));
        let auditor = text(auditor.ok_or("there is no auditor")?, "/id")?;
        let mut requests = Vec::new();
        for number in 0..STREAMERS {
            let user = id(self.user(2 + number)).to_string();
            self.ask("POST", "/role-assignments", Some(&json!({ "userId": user, "roleId": auditor }))).await?;
            let headers = format!("{}Accept: text/event-stream\r\n", authorization(&self.log_in(2 + number).await?));
            let stream = request("GET", &format!("{PREFIX}/events"), &headers, None);
            requests.extend(std::iter::repeat_n(stream, STREAMS));
        }
        let clients = requests.len();
        Ok(attack("event streams", requests, clients))
    }

    /// One read that costs much, again and again.
    pub(super) fn long_reads(&self, wide: &WideRights) -> Vec<Attack> {
        const CLIENTS: usize = 12;
        let holders = format!("/authz/who?permission=application-001:read&limit=100&organizationId={}", id(0));
        let roles = format!("/users/{}/roles", wide.user);
        [
            ("holders of a permission", holders.as_str()),
            ("roles of a user", &roles),
            ("pages of events", "/events?after=0&limit=500"),
            ("events of a type that does not occur", "/events?after=0&types=USER.NOTHING"),
            ("exports", "/audit-logs/export"),
        ]
        .map(|(name, path)| attack(name, vec![self.request("GET", path, None)], CLIENTS))
        .into()
    }

    /// Lists, searches and exports that read much.
    pub(super) fn heavy_reads(&self, wide: &WideRights) -> Attack {
        let paths = [
            "/users?search=a&limit=100&page=100",
            "/users?search=e&sortBy=lastName&limit=100",
            "/users?limit=100&page=900",
            "/authz/who?permission=users:read&limit=100",
            "/audit-logs/export",
            "/audit-logs?resourceType=NOTHING&limit=100",
            "/audit-logs?limit=100&action=UPDATE",
            "/organizations?search=a&limit=100&page=50",
            "/role-assignments?limit=100",
            "/events?limit=500",
        ];
        let mut requests: Vec<_> = paths.iter().map(|path| self.request("GET", path, None)).collect();
        requests.push(self.request("GET", &format!("/organizations/{}/tree", id(0)), None));
        requests.push(self.request("GET", &format!("/users/{}/roles", wide.user), None));
        attack("lists, searches and exports", requests, 32)
    }

    /// Invites as many people as possible.
    pub(super) async fn invite(&mut self) -> Outcome {
        let mut invited = 0;
        for number in 0..INVITATIONS {
            let body = json!({ "email": format!("invited{number}@example.com") });
            if self.ask("POST", "/invitations", Some(&body)).await?.is_none() {
                break;
            }
            invited += 1;
        }
        progress(&format!("{invited} people are invited"))
    }

    /// The address of a user.
    pub(super) fn address(tenant: &Tenant, number: u64) -> String {
        email(tenant.administrator + 1 + number)
    }
}

pub(super) struct WideRights {
    role: String,
    user: String,
    /// A half of the permissions of the role.
    fewer: Vec<String>,
}

fn attack(name: &'static str, requests: Vec<Vec<u8>>, clients: usize) -> Attack {
    // The answer ends when the server closes the connection.
    let closing = |request: Vec<u8>| {
        let host = b"Host: localhost\r\n";
        let at = request.windows(host.len()).position(|part| part == host).unwrap_or_default();
        let (before, after) = request.split_at(at);
        [before, b"Connection: close\r\n", after].concat()
    };
    Attack { name, requests: requests.into_iter().map(closing).collect(), clients }
}

fn assignments(user: &str, role: &str, organizations: std::ops::Range<u64>) -> Value {
    let item = |number| json!({ "userId": user, "roleId": role, "organizationId": id(number) });
    json!({ "assignments": organizations.map(item).collect::<Vec<_>>() })
}

/// A hash of an unknown password at this cost.
fn hash(memory: u32, passes: u32) -> String {
    format!(
        "$argon2id$v=19$m={memory},t={passes},p=1$AAECAwQFBgcICQoLDA0ODw$Gt0SUk92S9Hllj+2Ruap8Zp7vtcbAoZrqx4OD9gt0/I"
    )
}
