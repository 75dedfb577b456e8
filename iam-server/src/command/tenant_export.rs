//! The command `tenant export`.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use iam_core::access_request::AccessRequestFilter;
use iam_core::assignment::AssignmentFilter;
use iam_core::attribute::Attributes;
use iam_core::audit::{AuditFilter, ShownEntry};
use iam_core::clock::shown;
use iam_core::invitation::InvitationFilter;
use iam_core::organization::{OrganizationFilter, OrganizationSort, OrganizationStatus};
use iam_core::page::{MAX_LIMIT, Page, PageRequest, SortOrder};
use iam_core::tenant::{ExportedPassword, TenantExport};
use iam_core::user::{User, UserFilter, UserSort, UserStatus};
use iam_core::webhook::Webhook;
use iam_core::{BoxError, Caller, Error, Iam};
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::command::output::{print, refused};
use crate::failure::Failure;

#[derive(Clone, Args)]
pub(crate) struct Export {
    /// The tenant, by its id or slug
    #[arg(long, value_name = "TENANT")]
    pub(super) tenant: String,
    /// Also write the hashes of passwords, in a file for `import --from ndjson`
    #[arg(long)]
    with_credentials: bool,
    /// The directory; it must not exist
    #[arg(value_name = "DIRECTORY")]
    directory: PathBuf,
}

impl Export {
    pub(super) async fn run(self, iam: &Iam, caller: &Caller) -> Result<(), Failure> {
        // Without a separator at the end.
        let directory: PathBuf = self.directory.components().collect();
        if directory.exists() {
            return Err(Failure(format!("{} exists", directory.display())));
        }
        let part = part_of(&directory);
        create_directory(&part).map_err(|error| not_created(&part, &error))?;
        let mut draft = Draft { iam, caller, directory: part, files: Vec::new(), without_hash: None };
        let written = self.write(&mut draft).await.and_then(|()| {
            let renamed = fs::rename(&draft.directory, &directory);
            renamed.map_err(|error| Failure::new(format!("creating {}", directory.display()), &error))
        });
        if written.is_err() {
            // The first error is the one that counts.
            let _ = fs::remove_dir_all(&draft.directory);
        }
        written?;
        print(&format!("Tenant {} is exported into {}.", self.tenant, directory.display()))?;
        match draft.without_hash {
            None | Some(WithoutHash { bound: 0, .. }) => Ok(()),
            Some(WithoutHash { bound, .. }) => print(&format!(
                "{bound} users are exported without the hash of their password, which no other installation accepts. After \
                 their next login here, they have one that can be exported."
            )),
        }
    }

    async fn write(&self, draft: &mut Draft<'_>) -> Result<(), Failure> {
        let doing = || format!("exporting the tenant {}", self.tenant);
        let export = draft.iam.tenants().export(draft.caller, self.with_credentials).await;
        let export = export.map_err(|error| refused(doing(), &error))?;
        let written = draft.write(export, self.with_credentials).await;
        written.map_err(|error| Failure::new(doing(), &*error))
    }
}

/// Returns the name of the directory until all files are complete.
fn part_of(directory: &Path) -> PathBuf {
    let mut name = directory.as_os_str().to_owned();
    name.push(".part");
    name.into()
}

fn not_created(part: &Path, error: &io::Error) -> Failure {
    let part = part.display();
    match error.kind() {
        io::ErrorKind::AlreadyExists => Failure(format!(
            "{part} exists: another export is running, or an earlier one was interrupted. If none is running, remove it"
        )),
        _ => Failure::new(format!("creating {part}"), error),
    }
}

/// Creates a directory that only its owner can enter.
fn create_directory(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(false).create(path)
}

/// An export that is being written.
struct Draft<'a> {
    iam: &'a Iam,
    caller: &'a Caller,
    directory: PathBuf,
    /// What the index says of the files that are complete.
    files: Vec<Value>,
    /// `None` without the file with hashes.
    without_hash: Option<WithoutHash>,
}

/// How many users in the file with hashes have none.
#[derive(Clone, Copy, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct WithoutHash {
    /// They have no password.
    no_password: u64,
    /// No other installation accepts their hash.
    bound: u64,
}

/// A row with the attributes of what it shows.
#[derive(Serialize)]
struct WithAttributes<T> {
    #[serde(flatten)]
    item: T,
    #[serde(skip_serializing_if = "Attributes::is_empty")]
    attributes: Attributes,
}

impl Draft<'_> {
    async fn write(&mut self, export: TenantExport, with_credentials: bool) -> Result<(), BoxError> {
        let (iam, caller) = (self.iam, self.caller);
        let tenant = iam.tenants().get(caller, caller.tenant()).await?;
        self.list("tenant.ndjson", [&tenant])?;
        self.users(export, with_credentials).await?;
        self.organizations(export).await?;
        self.settings().await?;
        self.access().await?;
        self.log().await?;
        let index = json!({
            "tenantId": tenant.id,
            "slug": tenant.slug,
            "exportedAt": shown(iam.now()),
            "withCredentials": with_credentials,
            "withoutHash": self.without_hash,
            "files": self.files,
        });
        let mut lines = self.lines("index.json")?;
        lines.write(format!("{index:#}\n").as_bytes())?;
        lines.finish()?;
        Ok(())
    }

    /// Writes the users, and in other files what belongs to each of them.
    async fn users(&mut self, export: TenantExport, with_credentials: bool) -> Result<(), BoxError> {
        let (iam, caller) = (self.iam, self.caller);
        // A user who is created meanwhile comes last, and moves no other user to another page.
        let sort = UserSort { order: SortOrder::Ascending, ..UserSort::default() };
        let mut users = self.lines("users.ndjson")?;
        let mut identities = self.lines("identities.ndjson")?;
        let mut passwords = if with_credentials { Some(self.lines("passwords.ndjson")?) } else { None };
        let mut without_hash = WithoutHash::default();
        for number in 1.. {
            let page = iam.users().list(caller, &UserFilter::default(), sort, nth_page(number)?).await?;
            for user in &page.items {
                let attributes = export.attributes(iam, user.id).await?;
                for identity in iam.federation().identities(caller, user.id).await? {
                    identities.add(&identity)?;
                }
                if let Some(passwords) = passwords.as_mut().filter(|_| can_be_imported(user)) {
                    let password = export.password(iam, user).await?;
                    without_hash.count(&password);
                    passwords.add(&importable(user, &attributes, password))?;
                }
                users.add(&WithAttributes { item: user, attributes })?;
            }
            if !page.has_next() {
                break;
            }
        }
        self.keep(users)?;
        self.keep(identities)?;
        if let Some(passwords) = passwords {
            self.keep(passwords)?;
            self.without_hash = Some(without_hash);
        }
        Ok(())
    }

    async fn organizations(&mut self, export: TenantExport) -> Result<(), BoxError> {
        let (iam, caller) = (self.iam, self.caller);
        let sort = OrganizationSort { order: SortOrder::Ascending, ..OrganizationSort::default() };
        let mut lines = self.lines("organizations.ndjson")?;
        // By default, deleted organizations are not in the list.
        for status in [None, Some(OrganizationStatus::Inactive)] {
            let filter = OrganizationFilter { status, ..OrganizationFilter::default() };
            let adding = lines.add_pages(async |page| {
                let found = iam.organizations().list(caller, &filter, sort, page).await?;
                let mut items = Vec::with_capacity(found.items.len());
                for listed in found.items {
                    let attributes = export.attributes(iam, listed.organization.id).await?;
                    items.push(WithAttributes { item: listed.organization, attributes });
                }
                Ok(Page { items, total: found.total, request: found.request })
            });
            adding.await?;
        }
        self.keep(lines)?;
        Ok(())
    }

    /// Writes what decides how users log in, and where events go.
    async fn settings(&mut self) -> Result<(), BoxError> {
        let (iam, caller) = (self.iam, self.caller);
        self.list("domains.ndjson", iam.domains().list(caller).await?)?;
        self.list("identity-providers.ndjson", iam.identity_providers().list(caller).await?)?;
        let directories = iam.directories().list(caller).await?;
        self.list("directories.ndjson", directories.into_iter().map(|(directory, _)| directory))?;
        let webhooks = iam.webhooks().list(caller).await?;
        self.list("webhooks.ndjson", webhooks.iter().map(without_salt))?;
        self.pages("legal-holds.ndjson", async |page| iam.legal_holds().list(caller, page).await).await
    }

    /// Writes who may do what.
    async fn access(&mut self) -> Result<(), BoxError> {
        let (iam, caller) = (self.iam, self.caller);
        self.pages("permissions.ndjson", async |page| iam.permissions().list(caller, page).await).await?;
        self.pages("roles.ndjson", async |page| iam.roles().list(caller, page).await).await?;
        let assignments = self.pages("role-assignments.ndjson", async |page| {
            let found = iam.assignments().list(caller, &AssignmentFilter::default(), page).await?;
            Ok(only(found, |listed| listed.assignment))
        });
        assignments.await?;
        let eligibilities = self.pages("eligibilities.ndjson", async |page| {
            let found = iam.eligibilities().list(caller, page).await?;
            Ok(only(found, |listed| listed.eligibility))
        });
        eligibilities.await?;
        let requests = self.pages("access-requests.ndjson", async |page| {
            let found = iam.access_requests().list(caller, &AccessRequestFilter::default(), page).await?;
            Ok(only(found, |listed| listed.request))
        });
        requests.await?;
        let invitations = self.pages("invitations.ndjson", async |page| {
            iam.invitations().list(caller, &InvitationFilter::default(), page).await
        });
        invitations.await
    }

    /// Writes the audit log, newest first, and then the checkpoint, which is under all entries of the file.
    async fn log(&mut self) -> Result<(), BoxError> {
        let (iam, caller) = (self.iam, self.caller);
        let mut lines = self.lines("audit-log.ndjson")?;
        let mut export = iam.audit().export(caller, AuditFilter::default(), None, "application/x-ndjson").await?;
        loop {
            let entries = export.next(iam).await?;
            if entries.is_empty() {
                break;
            }
            for entry in &entries {
                lines.add(&ShownEntry::from(entry))?;
            }
        }
        self.keep(lines)?;
        // Without a running server, no other process sequences what is pending, such as the entry of this export.
        while iam.sequence_audit_logs().await?.more {}
        let signed = iam.audit().checkpoint(caller).await?.signed;
        let mut lines = self.lines(&format!("{}-{}.checkpoint", caller.tenant(), signed.checkpoint.size))?;
        lines.write(signed.note.as_bytes())?;
        self.keep(lines)?;
        Ok(())
    }

    /// Writes a file with the items of all pages.
    async fn pages<T: Serialize>(
        &mut self,
        name: &str,
        read: impl AsyncFn(PageRequest) -> iam_core::Result<Page<T>>,
    ) -> Result<(), BoxError> {
        let mut lines = self.lines(name)?;
        lines.add_pages(read).await?;
        self.keep(lines)?;
        Ok(())
    }

    /// Writes a file with these items.
    fn list(&mut self, name: &str, items: impl IntoIterator<Item = impl Serialize>) -> io::Result<()> {
        let mut lines = self.lines(name)?;
        for item in items {
            lines.add(&item)?;
        }
        self.keep(lines)
    }

    fn lines(&self, name: &str) -> io::Result<Lines> {
        Lines::create(&self.directory, name)
    }

    fn keep(&mut self, lines: Lines) -> io::Result<()> {
        self.files.push(lines.finish()?);
        Ok(())
    }
}

fn nth_page(number: u64) -> Result<PageRequest, Error> {
    Ok(PageRequest::new(number, MAX_LIMIT)?)
}

/// Returns a page with a part of each item.
fn only<T, U>(page: Page<T>, part: impl Fn(T) -> U) -> Page<U> {
    Page { items: page.items.into_iter().map(part).collect(), total: page.total, request: page.request }
}

/// Returns a webhook without what its secret is derived from.
fn without_salt(webhook: &Webhook) -> Value {
    json!({
        "id": webhook.id,
        "tenantId": webhook.tenant_id,
        "url": webhook.url,
        "types": webhook.types,
        "format": webhook.format,
        "description": webhook.description,
        "enabled": webhook.enabled,
        "createdAt": webhook.created_at,
        "createdBy": webhook.created_by,
        "version": webhook.version,
    })
}

impl WithoutHash {
    fn count(&mut self, password: &ExportedPassword) {
        match password {
            ExportedPassword::Hash(_) => {}
            ExportedPassword::None => self.no_password += 1,
            _ => self.bound += 1,
        }
    }
}

/// Whether `import` makes such a user: no deleted one, and no service account.
fn can_be_imported(user: &User) -> bool {
    user.status != UserStatus::Inactive && user.service_name().is_none()
}

/// Returns a user as a row of `import --from ndjson`.
fn importable(user: &User, attributes: &Attributes, password: ExportedPassword) -> Value {
    let hash = match password {
        ExportedPassword::Hash(hash) => Some(hash),
        _ => None,
    };
    json!({
        "email": user.email,
        "firstName": user.first_name,
        "lastName": user.last_name,
        "status": user.status,
        "externalId": user.external_id,
        "emailVerified": user.email_verified_at.is_some(),
        "attributes": attributes,
        // An empty hash is none.
        "passwordHash": hash.as_ref().map_or("", |hash| hash.expose()),
    })
}

/// A file that is being written.
struct Lines {
    name: String,
    file: BufWriter<File>,
    digest: Sha256,
    count: usize,
}

impl Lines {
    /// Creates a file that only its owner can read.
    fn create(directory: &Path, name: &str) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = BufWriter::new(options.open(directory.join(name))?);
        Ok(Self { name: name.to_owned(), file, digest: Sha256::new(), count: 0 })
    }

    fn add(&mut self, item: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(item)?;
        line.push(b'\n');
        self.write(&line)
    }

    async fn add_pages<T: Serialize>(
        &mut self,
        read: impl AsyncFn(PageRequest) -> iam_core::Result<Page<T>>,
    ) -> Result<(), BoxError> {
        for number in 1.. {
            let page = read(nth_page(number)?).await?;
            for item in &page.items {
                self.add(item)?;
            }
            if !page.has_next() {
                break;
            }
        }
        Ok(())
    }

    fn write(&mut self, text: &[u8]) -> io::Result<()> {
        self.digest.update(text);
        self.count += text.iter().filter(|byte| **byte == b'\n').count();
        self.file.write_all(text)
    }

    /// Completes the file, durably. Returns what the index says of it.
    fn finish(self) -> io::Result<Value> {
        self.file.into_inner().map_err(io::Error::from)?.sync_all()?;
        let digest: String = self.digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(json!({ "name": self.name, "lines": self.count, "sha256": digest }))
    }
}
