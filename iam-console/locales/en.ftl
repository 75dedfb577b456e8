### The texts of the console, in English.
###
### A text with variables and without a selector can also be for a script, which then fills in {name} in place of the
### variable.

## Texts that belong to no single area.

language-name = English
console = Console
menu = Menu
actions = Actions
skip = Skip to content
navigation = Main
signed-in-as = Signed in as
you-act = You are acting as another user
acts-as = as
acting-reads-only = This session is read-only.
stop-acting = Stop
sign-out = Sign out
sign-out-everywhere = Sign out everywhere
account = Account
compact-lines = Compact view
comfortable-lines = Comfortable view
people = People
access-of-people = Access
events = Events
# The time zone of all times on a page. A script names the one of the person.
utc-times = Times are in UTC.
in-your-zone = In your time zone: { $time }
local-times = Times are in your time zone ({ $zone }), unless marked as UTC.
save = Save
saved = The changes are saved.
cancel = Cancel
continue = Continue
optional = optional
send-link = Send link
nothing-is-saved = Nothing is saved. Correct the marked fields.
correct-fields = Correct the marked fields.
one-of-the-list = must be one of the list
must-be-chosen = must be chosen
must-be-given = must be given
choose-again = must be chosen from the list
must-be-a-number = must be a whole number
must-be-day = must be a day, such as 2026-01-31
must-be-cursor = must be that of an earlier page
must-be-moment = must be a day and a time, such as 2026-01-31T09:15
no-such-page = There is no page at this address.
send-a-form = Send a form.
changed-since = This has changed since you opened the page, so nothing is saved. Open the page again before you save.
open-again = Open it again
no-access = You may not see this page
needs-permission = It needs { $permission }: ask an administrator.
foreign-form = This form is not from this page, or is older than your session. Open the page again.
not-of-this-page = is not a parameter of this page
given-twice = must be given once
back = Back to the overview
name = Name
profile = Profile
first-name = First name
last-name = Last name
email = E-mail address
verified = verified
not-verified = not verified
password = Password
show-password = Show password
show-secret = Show secret
description = Description
external-id = External ID
slug = Short name
slug-hint = In lower-case letters, digits and hyphens, such as north-branch
new-slug-hint = In lower-case letters, digits and hyphens. Leave it empty for one that is made from the name.
where = Scope
whole-tenant = the whole tenant
as-of-hint = Empty: now.
asked-moment-hint = Empty: now. For a day, enter its noon.
last-day = Last day (UTC)
pick-user = Type part of a name or e-mail address, and choose.
part-of-name-or-email = Part of a name or e-mail
part-of-name = Part of the name
empty-whole-tenant = Empty: the whole tenant
no-such-user = must be the e-mail address or the name of one user: choose one that is offered
user-by-id = must be the ID of a user, because you may not see users
pick-organization = Type part of the name, and choose.
organization-or-tenant = Type part of the name, and choose. Leave it empty for the whole tenant.
no-such-organization = must be the name of one organization: choose one that is offered
organization-by-id = must be the ID of an organization, because you may not see organizations
organization-required = must be chosen: this role is only held in an organization
is-suspended = suspended
place-suspended = This organization is suspended: roles in it give nothing until it is active again.
place-above-suspended = An organization above this one is suspended: roles here give nothing until it is active again.
organization-refused = must be empty: this role is only held in the whole tenant
role-missing = must not be empty
no-such-role = must be the name of a role: choose one that is offered
role-by-id = must be the ID of a role, because you may not see roles
one-more-role = Add a role
search = Search
filters = Filters
filters-in-force = Active filters
remove-filter = Remove filter
remove-all-filters = Remove all filters
copy-link = Copy link
link-not-copied = Not copied: your browser does not allow it. Copy the address of the page.
status = Status
every-status = All statuses
identifier = Id
lines-of-page = Lines of a page
selection = Selection
sort-order = Order
pages = Pages
previous = Previous
next = Next
page = Page
of = of
details = Details
above = Above
active = Active
suspended = Suspended
deleted = Deleted
pending = Pending
switched-on = On
switched-off = Off
created = Created
changed = Changed
since = Since
until = until
last-login = Last sign-in
never = Never
never-in-line = never
suspend = Suspend
reactivate = Reactivate
delete = Delete
restore = Restore
remove = Remove
revoke = Revoke
sessions = Sessions
this-session = this session
last-used = Last used
unknown-address = unknown address
unknown-device = Unknown device
acted-by = Another person is acting as this user:
end-session = End
session-was-ended = The session has ended.
copy = Copy
copied = Copied
not-copied = Not copied: your browser does not allow it. Select the text and copy it.
download = Download
done = Done
who-gains-and-loses = Changes in access
what-you-gain = Access that you gain
gains = Gains
loses = Loses
from-moment = from
show-effects = Show the effects
change-it = Back
go-back = Back
in-the-log = In the audit log
all-about-it = all entries about this resource
correlation = Correlation ID

## Why a user may do something, who may do it, and who holds which roles.

access = Check access
why-may-user = Check a user
requests-of-user = Access requests of this user
who-may = Permission holders
why-what = Choose a permission and a user. The answer names the roles that grant the permission.
who-what = Choose a permission. The answer names all users who hold it, and why.
user-or-you = User (empty for yourself)
permission-hint = Name, such as users:read, or words from its description
such-as-permission = Such as users:read
only-elsewhere = Not in the whole tenant, but in these organizations
in-whole-tenant = in the whole tenant
also-below = Users who hold one of these roles in a single organization may do it there. Each role leads to all who hold it:
none-below = No other user may do it in a single organization.
past-below = Users who could do it in a single organization only are not listed: choose the organization.
no-such-permission = must be a permission: choose one that is offered, such as users:read
at-moment = As of (UTC)
ask = Check
allowed = Allowed
not-allowed = Not allowed
allowed-because = Each of these roles is sufficient:
inherited = inherited from above
page-of-user = All roles of this user
because-of = Granted by
nobody-may = No user holds this permission there.
who-holds = Role holders
who-holds-what = Choose an organization, or leave it empty for the whole tenant. The answer names all users who hold roles there.
held-here = Assigned here
held-above = Inherited
held-from = from
no-role-here = None
holds-more = Holds more roles than are shown here.
no-role-holders = No user holds a role there.
holders-what = Each role also counts in everything below its scope. Users who are not active, and roles in organizations that are not active, are left out: they grant nothing.

## Access requests: a user asks for a role for a time, and others decide.

access-requests = Access requests
access-request = Access request
access-requests-what = Request a role for a limited time. If others must approve, they see what the role lets you do and why you need it. The role ends by itself. It does not count for API keys, nor for decisions about the access of others.
own-requests = Mine
requests-to-decide = To decide
requests-in-force = Active
all-requests = All
days-of-requests = Date of the request.
older-requests = Older requests in the audit log
no-own-requests = You have not requested access.
no-requests-to-decide = No request waits for your decision.
no-requests-in-force = No access by a request is active.
no-request-matches = No access request matches.
show-all-requests = Show all access requests
requested-by = Requested by
role-gone = a role that no longer exists
yourself = you
when = When
request-approved = Approved
request-in-force = Active
request-ended = Ended
request-denied = Denied
request-cancelled = Cancelled
request-lapsed = Expired
lapses = expires
begins = starts
closed-on = closed
cancelled-as-outdated = Cancelled by the service: the eligibility or the role has changed since, or an approval does not count any more. A new request may be possible.
cancelled-as-not-eligible = Cancelled by the service: the person is no longer eligible for this role there.
cancelled-as-role-held = Cancelled by the service: the person holds this role there already, by other means.
cancelled-as-user-suspended = Cancelled by the service: the person was suspended.
cancelled-as-user-deleted = Cancelled by the service: the account of the person was deleted.
ask-for-access = Request access
nothing-to-ask-for = There is no role that you can request. An administrator of your tenant can make you eligible for one.
no-asking-as-another = You are acting as another user, and cannot request access in its name.
at-most = Maximum duration
approvals = Approvals
has-open-request = You have an open request for this role there.
open-request = Your open request
ask-again = Request again
recorded-reason-hint = Recorded in the audit log.
request-reason-hint = Visible to the approvers, and recorded in the audit log.
ticket = Ticket
ticket-hint = Reference in another system, such as OPS-42
begin-at = Start (UTC)
begin-at-hint = Empty: as soon as it is approved. At most 30 days from now.
begin-at-once-hint = Empty: at once. At most 30 days from now.
send-request = Send request
request-sent = The request is sent.
approval-saved = Your approval is saved. One more approval is needed.
denial-saved = The request is denied.
request-is-cancelled = The request is cancelled.
access-has-ended = The access has ended, with everything that was given by it.
access-ended-already = The access has ended already.
request-changed-meanwhile = The request or its role has changed since you opened this page, so nothing is saved. Open the page again, and look at what the role grants now.
cancelled-meanwhile = This request is cancelled, so nothing is saved.
denied-meanwhile = This request is denied already, so nothing is saved.
approved-meanwhile = This request is approved already, so nothing is saved.
ended-meanwhile = The access by this request has ended, so nothing is saved.
lapsed-meanwhile = This request has expired, so nothing is saved.
for-time-in-line = for
for-time = Duration
who-decides = Approvers
who-may-update-requests = users who may decide about access requests there
asked = Requested
begins-at = Starts
not-before = Not before
began-at = Started
was-to-begin = Planned start
ends-at = Ends
was-to-end = Planned end
ends-at-the-latest = Ends at the latest
lapses-at = Expires
decisions = Decisions
no-decisions = No person has decided yet.
has-approved = Approved
has-denied = Denied
counts-no-more = does not count any more: the role has changed since
approve-again = Your approval does not count any more: the role has changed since. Look at what the role grants now, and decide again.
your-decision = Your decision
approve = Approve
review-request = Review
deny = Deny
deny-what = The request is closed, and the requester sees your reason.
deny-confirm = Deny request
must-say-why = must say why you deny the request
decision-reason-hint = Visible to the requester, and recorded in the audit log.
needed-to-deny = Required to deny. The requester and the audit log see it.
reason-of-end = Reason for the end
cancel-request = Cancel request
cancel-request-what = It can then no longer be approved. A new request is possible.
cancel-request-confirm = Yes, cancel this request
end-access = End access
end-access-what = The role is lost at once, with everything that was given by it. It does not come back.
end-access-confirm = Yes, end it now
about-this-request = history of this request
comes-to-nothing = This request can no longer take effect.
cancelled-by-decision = It is cancelled as soon as a person decides about it.
obstacle-eligibility-ended = The eligibility by which the person asked has ended.
obstacle-other-decisions = The eligibility needs more approvals now, or those of others.
obstacle-role-not-offered = The role cannot be held there any more.
obstacle-not-eligible = The person may not ask for this role there any more.
obstacle-role-held = The person has the role there already, by other means.
close-request = Close request
# Why a request cannot become effective now. A sentence follows.
cannot-become-effective = It cannot take effect now:
effects-unknown = What the role would grant cannot be shown at this moment. Open the page again before you decide.
access-for-a-time = Temporary access
you = You
by-access-request = by an access request
of-request-what = An access request has granted this role, or a person who held a role by one. It ends with the request.

## Access reviews.

access-reviews = Access reviews
nav-access-reviews = Access reviews
new-review = New review
begin-review = Start review
review-what = A review lists the role assignments and the eligibilities of this moment. People decide about each of them whether it stays. Nothing changes before the review is completed.
no-reviews = There is no such review.
no-reviews-yet = There are no access reviews yet.
show-all-reviews = Show all reviews
review-open = Open
review-completed = Completed
review-cancelled = Cancelled
all-reviews = All
due = Due
late = late
due-day = Due date
due-hint = The review is due at the end of this day, in UTC. It stays open afterwards.
review-name-hint = For example: Sales, spring
progress = Progress
decided = decided
whole-tenant-option = The whole tenant
where-hint = In an organization, the review covers the assignments in it and below it, and not tenant-wide ones.
search-organizations = Search organizations by name
more-organizations = There are more. Type a part of the name to find another one.
organizations-hidden = You may not see the organizations.
which-roles = Roles
which-roles-hint = Without a choice, the review covers all roles.
all-roles = all roles
choice-hidden = You may not see the roles, so the review covers all of them.
must-decide = must be Keep or Revoke
about-users = Users
begun = Started
closed = Closed
overdue = The review is late.
review-begun = The review has started. Decide about each item.
review-decided = The decision is saved.
review-is-completed = The review is completed. Each item shows what became of it.
review-is-cancelled = The review is cancelled. Nothing was revoked.
items = Items
all-items = All
undecided = Undecided
keep = Keep
to-keep = To keep
to-revoke = To revoke
keep-selected = Keep the selected ones
decision = Decision
reason = Reason
granted = Granted
# What the item of an eligibility says before the role.
may-ask-for = eligible for
eligible-since = Eligible since
by = by
by-the-service = by the service itself
own-item = This is your own role, or one for which you are eligible. Another person must decide about it.
no-items = No role assignment and no eligibility is in the scope of this review. Cancel it, and start one with another scope.
no-item-matches = No item matches.
show-all-items = Show all items
as-csv = Download as CSV
decision-saved = Saved:
complete = Complete review
complete-confirm = Yes, complete it
cancel-review = Cancel review
cancel-review-what = Nothing is revoked. The review and its decisions stay, and cannot be changed any more.
cancel-confirm = Yes, cancel it
decisions-hidden = You may see this review, and may not decide in it.
outcome-kept = Kept.
outcome-revoked = Revoked.
outcome-gone = Had already ended.

## The own account: its password, its address, its second factors and its linked accounts.

my-account = My account
change-password = Change password
change-password-what = Your other sessions end.
current-password = Current password
new-password = New password
password-changed = Your password is changed. Your other sessions have ended.
change-email = Change e-mail address
change-email-what = We send a link to the new address. Your address changes when you open the link.
new-email = New e-mail address
email-link-sent = A link is on its way to the new address. Open it to change your address.
send-verification = Send verification link
verification-sent = A link is on its way to your address.
end-other-sessions = End all other sessions
no-other-sessions = You are not signed in anywhere else.
other-sessions-ended = Your other sessions have ended.
second-factors = Second factors
factor-required = Your tenant requires a second factor. Set one up to use the other pages. Then sign in again if a page asks for it.
factor-unused = Your tenant requires a second factor, and you have not used yours in this session. Use it to go on.
use-factor = Use second factor
factor-required-soon = Your tenant requires a second factor. Set one up, or sign in again with the one that you have, before
you-have-no-factors = Your password alone protects your account. Add an authenticator app or a passkey.
authenticator = Authenticator app
passkey = Passkey
rename = Rename
rename-factor = Rename factor
add-authenticator = Add an authenticator app
authenticator-what = An app on your phone shows a new code every 30 seconds. After your password, you type the code.
authenticator-name-hint = Such as the name of the phone
# The label of the first code of an app; an error continues it.
app-code = Code
scan = Scan this code with your app:
qr-code = QR code for your authenticator app. The secret is also below, as text.
or-type = Or type this secret into your app:
open-app = Open app on this device
confirm = Confirm
add-passkey = Add a passkey
passkey-what = Your device keeps the passkey, and asks for your finger, your face or a PIN. With it you sign in without a password.
passkey-name = This device
passkey-known = This device has a passkey of your account already.
passkey-go-on = Your identity is confirmed. Add the passkey now.
passkey-refused = The answer of the passkey is not accepted. Try again.
factor-added = The factor is added. From now on, you sign in with it.
factor-removed = The factor is removed.
recovery-codes = Recovery codes
recovery-codes-left = Remaining codes
recovery-codes-once = They are shown only now: copy them before you leave this page. Keep them in a safe place. Each works once, in place of a second factor.
new-codes = Generate new codes
new-codes-what = With new codes, the old ones stop working.
linked-accounts = Linked accounts
linked-what = With an account at one of these providers, you sign in without a password of this console.
nothing-linked = No account is linked to yours.
no-providers = Your tenant has no identity provider.
linked-since = Linked
account-linked = The account is linked. From now on, you can sign in with it.
link-removed = The account is no longer linked to yours.
return-late = It took too long to come back from the provider. Begin again.
export-own = Download my data
export-own-what = A page with everything that is held about you, and the entries about you in the audit log. The download is recorded.

## Role assignments.

assignment = Assignment
assignments = Assignments
assign = Assign
assign-role = Assign a role
every-role = All roles
only-tenant = {" "}(whole tenant)
only-organization = {" "}(in an organization)
roles-unseen = You may not see roles: type the ID of one.
choose = Choose …
held-at = As of
as-of = As of (UTC)
until-moment = Until (UTC)
until-hint = Empty: no end.
until-column = Until
no-end = No end
no-assignment-matches = No assignment matches.
show-all-assignments = Show all assignments
ends-when = Ends
ends-any = At any time, or never
assigned-by = Assigned by
the-service = the service
not-in-force = not active, so the role grants nothing
end-of-assignment = End
revoke-what = The user loses the role at once. You first see what the user loses.
role-assigned = The role is assigned.
role-revoked = The role is revoked.
end-changed = The end of the role is changed.

## Attributes of users and organizations.

attributes = Attributes
other-attributes = Other attributes
other-attributes-hint = A JSON object. What is left out here is removed.
attribute = Attribute
no-attribute = None
attribute-value = Attribute value
attribute-value-hint = The whole value, exactly as it is written; true or false for a choice
not-set = not set
must-be-any-number = must be a number
user-attributes = User attributes
user-attributes-hint = A list in JSON. Each definition has a key and a type (STRING, NUMBER, BOOLEAN, STRINGS or OBJECT), and may have searchable, personReads, personWrites and inToken.
organization-attributes = Organization attributes
organization-attributes-hint = A list in JSON. Each definition has a key and a type, and may have searchable.
unregistered-attributes = Attributes without a definition
has-no-field = is not an attribute that is defined
must-be-definitions = must be a list of definitions in JSON: it cannot be read from line { $line }, character { $column } on
for-example = For example:
must-be-object = It must be an object with members, as in the example.
must-be-quoted = must be a text in quotation marks
must-be-truth = must be true or false
no-member = is not a member that a definition has

## The audit log: its pages, the texts of its script, and what it records, in sentences.

audit-log = Audit log
audit-entry = Audit entry
entry-id = Entry ID
resource = Resource type
every-resource = All types
action = Action
every-action = All actions
from-day = From (UTC)
until-day = Until (UTC)
today = Today
yesterday = Yesterday
last-seven-days = Last 7 days
days-in-utc = Days in UTC
resource-id = Resource ID
about-which = Resource
about-which-hint = Its ID, or the e-mail address of a user
acting-user = Actor
must-be-correlation = must be a correlation ID
only-the-user-itself = These are the changes of the user itself. What happened to sessions, roles, second factors and keys of the user is in the log without this filter.
no-entry-matches = No entry matches.
show-all-entries = Show all entries
field = Field
before = Before
after = After
field-added = added
field-changed = changed
field-removed = removed
# Both values are secrets.
field-hidden = not shown
field-same = unchanged
redacted-value = Redacted: the log keeps no secrets.
erased-value = Erased: the log no longer has this personal value.
address = Address
device = Device
newest = Newest
older = Older
check = Verify this entry
check-log = Verify integrity
follow = Follow live
service-acted = The service
anonymous-acted = A person who was not signed in

## Directories, their groups, and the roles that groups give.

directories = Directories
directories-what = Through a directory, the identity provider of your company, such as Entra or Okta, writes its people and groups into this tenant by SCIM 2.0: it creates users, changes them, suspends those who leave, and adds and removes the members of groups. It may do what its service account may do, and no more.
no-directories = There is no directory yet.
new-directory = New directory
create-directory = Create directory
directory-created = The directory is created. Enter the address below and the API key at the provider.
directory-without-key = The directory is created, but no API key could be made. Make one on the page of the service account.
directory-removed = The directory is removed.
directory-changed-meanwhile = The directory has changed since you opened this page, so nothing is changed. Open the page again first.
about-this-directory = changes to this directory
by-its-account = actions of its service account
directory-settings = Directory settings
last-request = Last request
adopts = Takes over users
refused = Refused
yes = yes
no = no
no-provider = None: people sign in by other means
provider-of-directory-hint = The provider by which the users of the directory sign in. To choose one takes all permissions.
providers-hidden = You may not see the identity providers.
adopt = Take over users who have an address of the directory
adopt-warning = From then on, the directory changes, suspends and deletes users who exist already. It takes over only people whose address is in a verified domain, and who may do nothing that its service account may not do.
new-account = A new one, with an API key that is shown once
account-with-new-key = One that exists, with a new API key that is shown once
account-with-key = One that exists, with an API key that you have
account-that-exists = Existing service account
pick-account = Type part of the name, and choose. The account must be active and have no other directory.
no-such-account = must be the name of one active service account: choose one that is offered
account-by-id = must be the ID of a service account, because you may not see users
role-of-account = Role of the service account
role-of-account-hint = For a new key. The account gets this role in the whole tenant, and the key gets its permissions: users:* for users, and role-assignments:create and role-assignments:delete for groups that grant roles. A group grants only roles whose permissions the account holds.
role-in-whole-tenant = must be a role that can be held in the whole tenant
role-without-permissions = must be a role that has permissions
last-day-of-key = Last day of the key (UTC)
key-must-be-later = must not be in the past
key-must-be-earlier = must be at most 365 days from now
key-of-directory = API key of the directory
key-of-directory-once = Copy the key now, and enter it at the provider. It is not shown again. The next page has the address.
enter-at-provider = Settings for the provider
scim-url = Address (SCIM 2.0)
keys-of-account = The provider sends an API key of the service account with each request. Its keys are on its page:
entra = Microsoft Entra ID
entra-what = Make an application that is not in the gallery, and enter these under Provisioning. Let objectId become externalId, in place of mailNickname. Assign one person and one group first, and look here at what arrived.
okta = Okta
okta-what = Set Provisioning to SCIM in the application, and enter these under Integration. Choose to push new users, profile updates and groups.
what-arrived = Last activity
nothing-arrived = No request has arrived yet. After you have entered the address and the key, test the connection at the provider.
no-refusals = None of its requests was refused.
refusals-what = The newest 20 requests that were refused, newest first.
request = Request
why = Reason
time = Time
users-of-directory = Users of the directory
keep-users = Keep them as they are
suspend-users = Suspend those who are active
remove-directory-what = The users stay, and belong to no directory. The roles that its groups granted end. The service account stays, with its keys. You first see who loses what.
remove-directory = Remove directory
removal-keeps = The users of the directory stay as they are, except for the roles that its groups granted.
removal-suspends = The users of the directory who are active are suspended, and can no longer sign in.
groups = Groups
group = Group
groups-what = The directory creates groups, and adds and removes their members. A group grants nothing, whatever its name is, until you give it roles.
no-groups = The directory has sent no group yet.
no-group-matches = No group matches.
show-all-groups = Show all groups
search-groups-hint = Part of the name
group-members = Members
group-grants = Roles of the members
no-grants = none
group-gives-nothing = The group grants no role.
group-grants-hint = Each member holds these roles as long as the directory leaves it in the group, and new members get them. An empty row counts for nothing. You see first who gains and who loses what.
group-grants-note = Users whom the directory adds to the group later get these roles, too.
group-changed-meanwhile = The group has changed since you opened this page, so nothing is changed. Open the page again first.
about-this-group = changes to this group
by-a-group = by a group of a directory
of-group-what = A group of a directory grants this role. It ends when the directory removes the user from the group, or when the roles of the group change.
given = Granted

## Domains.

domains = Domains
domain = Domain
domains-what = A domain proves which e-mail addresses are those of your tenant. Identity providers speak for the people in it.
no-domains = There is no domain yet.
new-domain = New domain
add-domain = Add domain
domain-hint = Such as example.com. A subdomain is a domain of its own.
domain-verified = Verified
verified-at = Verified
checked-at = Last checked
domain-added = The domain is added. Publish the record below, and check it.
domain-is-verified = The record was found. The domain is verified.
domain-removed = The domain is removed.
about-this-domain = changes to this domain
record = DNS record
record-what = Publish this record in the DNS of the domain, and leave it there. It is looked for again each day.
record-type = Type
record-value = Value
record-not-needed = The operator has verified this domain. It needs no record.
record-absent = The record is absent. After seven days without it, the domain is pending again. Absent since
check-record = Check record now
remove-domain-what = Another tenant can verify it at once. A domain that an identity provider names cannot be removed.
remove-domain-confirm = Yes, remove this domain

## Eligibilities: who may ask for which role.

eligibilities = Eligibilities
eligibility = Eligibility
eligibilities-what = Who may ask for which role, for how long, and who approves it. An eligibility gives nothing by itself. To create one, you need what the role permits yourself.
new-eligibility = New eligibility
create-eligibility = Create eligibility
create-first-eligibility = Create the first eligibility
no-eligibilities = There is no eligibility yet.
eligibility-created = The eligibility is created.
eligibility-removed = The eligibility is removed. Access that has started goes on.
eligibility-changed-meanwhile = The eligibility has changed since you opened this page, so nothing is changed. Open the page again first.
who-may-ask = Eligible
who-may-ask-hint = The holders of a role are eligible if they hold it in that scope or above it. Example: by an eligibility for the whole tenant, a user who holds the role in one organization only cannot request access.
eligible-user = A user
eligible-holders = Holders of a role
held-role = Holders of the role
can-ask-now = Eligible now
can-decide-now = Approvers now
deciders-verify = Messages to persons who have not verified their e-mail address can come late, up to an hour.
eligibility-has-ended = This eligibility has ended: no user can request access by it.
user-cannot-ask = The user cannot request access now, because its account is not active.
too-few-decide = Too few users can decide now, so no request can get its approvals. No user decides about its own request.
asked-role = Requested role
longest = Maximum duration
approver-role = Approver role
approver-role-hint = Its holders in that scope or above it decide. Empty: users who may decide about access requests there.
expiry-hint = Empty: no end. Access that starts before ends then at the latest. If you change this later, access that has started keeps its end.
change-eligibility-what = Pending requests for more than is then allowed are cancelled as soon as a person decides about them, or when they would start. Access that has started goes on until its own end.
remove-eligibility-what = No user can request access by it any more. Pending requests are cancelled as soon as a person decides about them, or when they would start. Access that has started goes on until its own end.
remove-eligibility-confirm = Yes, remove this eligibility
about-this-eligibility = changes to this eligibility
requests-for-role-there = requests for this role there

## Find: its texts, and the words by which pages of the console are found.

find = Find
find-what = What are you looking for?
find-hint = Part of the name of a page, user, role, organization or permission, or an ID, also of an audit entry
find-short-hint = A page, user, role, organization or ID
find-key-choose = choose
find-key-open = open
close-find = Close
results = Results
pages-of-console = Pages of the console

## Identity providers.

identity-providers = Identity providers
identity-provider = Identity provider
identity-providers-what = Through an identity provider, such as Entra, Okta, Google or Keycloak, people sign in with the accounts that they have.
no-identity-providers = There is no identity provider yet.
new-identity-provider = New identity provider
create-identity-provider = Create identity provider
identity-provider-created = The identity provider is created. Register the addresses below at the provider.
identity-provider-removed = The identity provider is removed.
identity-provider-changed-meanwhile = The identity provider has changed since you opened this page, so nothing is changed. Open the page again first.
about-this-identity-provider = changes to this identity provider
identity-provider-read-only = You may see this identity provider, and may not change it.
provider-settings = Provider settings
issuer = Issuer
issuer-hint = Such as https://login.example.com, exactly as the provider writes it.
client-id = Client ID
client-id-hint = Identifies this service at the provider
client-secret = Client secret
client-secret-hint = Leave it empty if the provider gives none. It is never shown again.
client-secret-kept = It is never shown. Leave it empty to keep the secret that is stored.
remove-secret = Remove secret
secret-and-removed = must be empty if the secret is to be removed
scopes = Scopes
scopes-hint = With spaces between them. One of them must be openid.
provider-domains-hint = The provider speaks for the people in these domains. A pending domain has no effect.
provider-needs-domain = The tenant has no domain.
domains-hidden = You may not see the domains.
trusts-email = Trust e-mail addresses as verified, although the provider does not say so
subject-claim = Subject claim
provisioning = Provisioning at the first sign-in
provided-roles = Roles of new users
provided-roles-hint = The users that the provider makes get these roles. An empty row counts for nothing. No role may have all permissions.
factor-is-trusted = Trust second factors of the provider
provider-enabled = Allow sign-in
addresses = Addresses of this service
addresses-what = Register these addresses at the provider.
callback-url = Callback URL
logout-url = Back-channel logout URL
federation-off = This installation does not connect to identity providers. The operator can turn federation on.
remove-provider-what = Linked persons cannot sign in through it any more, and their links are removed. Sessions go on.
remove-provider-confirm = Yes, remove this identity provider

## The import of users.

import = Import
import-users = Import users
import-what = Creates users from a CSV file, such as one that Excel saves. First check the file: nothing is saved. Then import it. Rows with errors are left out.
import-columns = The first line names the columns, in any order:
import-template = Download an empty file with this line
import-example = Each person is a line below it, for example:
import-invites = Each person gets an invitation by e-mail: a link that works for 7 days, with which the person chooses a password. The person gets no role.
import-hashes = To take over users of another system with their passwords, add these columns:
import-hash-formats = A row with the hash of a password creates a user at once. The hash is as the other system stored it: Argon2 or PBKDF2 that costs little to verify. The operator imports the others, such as bcrypt. The status is ACTIVE or SUSPENDED; without it, ACTIVE.
import-format = Format
format-csv = Standard CSV
format-aspnet = ASP.NET Identity (table AspNetUsers)
import-format-hint = The operator imports the files of Keycloak, Auth0, Firebase, Django and Devise, and expensive hashes, roles and groups, by a command.
row-left-out = Left out:
row-of-operator = can only be imported by the operator
csv-file = CSV file
csv-text = Or paste its text
csv-hint = Keep this page open until the import has ended. If you leave it, the rows after the last one shown are not imported. Then import the file again: people who are users or invited already are refused, and stay as they are.
import-check = Check
import-run = Import
import-result = Result of each row
import-progress = { $done } of { $total } rows
import-checked = Users that can be created: { $created }. People who can be invited: { $invited }. Rows with errors: { $bad }.
import-done = Users that were created: { $created }. People who were invited: { $invited }. Rows that were refused: { $bad }.
import-empty = Choose a file, or paste its text: a line with the names of the columns, and rows.
file-changed = The file has changed. Choose it again, and check it.
file-not-utf8 = The file is not in UTF-8. In Excel, save it as “CSV UTF-8”.
connection-lost = The server does not answer.
check-not-done = Nothing was checked.
check-not-whole = Only the rows below were checked. Check again.
import-not-done = Nothing was imported.
import-not-whole = Only the rows below were imported. Import again: rows that are done are refused, and stay as they are.
import-stopped = The import has stopped here.
line = Line
result = Result
the-file = The file
too-many-rows = has too many rows for one form; the maximum is
row-valid = can be created
row-created = created
row-invitable = can be invited
row-invited = invited
row-needs-mail = A row without passwordHash invites the person by e-mail, and this installation sends no mail. The operator can set IAM_SMTP_URL or IAM_MAIL_DIR.
row-attributes-need-hash = must be empty in a row without passwordHash
row-only-active = must be empty or ACTIVE in a row without passwordHash
row-not-tried = not imported
row-repeated = A row before it has the same e-mail address.

## Invitations.

invitations = Invitations
invitation = Invitation
invite = Invite a person
invite-what = The person gets a link by e-mail, which works for 7 days. With it, the person chooses a password and becomes a user.
no-mail-no-invitation = This installation sends no mail, so it cannot send invitations. You can create users with a first password instead. The operator turns mail on with the setting IAM_SMTP_URL, or IAM_MAIL_DIR to try it out.
invited-name = A suggestion that the person can change
invited-until = Empty: no end
send-invitation = Send invitation
accepted = Accepted
revoked = Revoked
expired = Expired
expires = Expires
no-invitation-matches = There is no invitation here.
show-all-invitations = Show all invitations
invited-by = show who invited
invited-without-roles = The person gets no role, and so has no permissions at first.
invite-another = Invite again
resend = Send new link
resend-what = Sends a new link, which works for 7 days. The old link then stops working.
revoke-invitation-what = The link stops working. The invitation stays in the list, as a revoked one.
revoke-confirm = Yes, revoke this invitation
invited = The invitation is on its way.
invitation-resent = A new link is on its way, unless the address got three messages in the last hour.
invitation-revoked = The invitation is revoked.

## API keys.

api-keys = API keys
no-keys = There is no key. With a key, a program acts as this user.
keys-hidden = You may not see the keys of this user.
valid-until = Valid until
expired-at = Expired at
all-permissions = all permissions of the user
in-organization = in organization
new-key = New API key
create-key = Create key
key-what = A program that has the key may do what its user may do at that moment, within these limits.
key-name-hint = Such as the name of the program
key-permissions-hint = Only what you hold is offered. Choose nothing for a key that may do all that you may do.
key-permissions-of-other-hint = Choose at least one. Only what you, who make the key, hold is offered. A key gives nothing that its user does not hold.
key-needs-permissions = Choose at least one permission for the key of another user.
key-organization-hint = Type part of the name, and choose. The key works only in it and below it. Empty: everywhere
key-expiry-hint = At most 365 days from now. Empty: 90 days from now
key-once = Copy the key now. It is not shown again. A program sends it as a bearer token.
revoke-key = Revoke key
revoke-key-what = A program that uses this key is refused from now on.
key-revoked = The key is revoked.

## Organizations.

organizations = Organizations
organization = Organization
new-organization = New organization
create-organization = Create organization
create-below = Create a child organization
search-organizations-hint = Part of the name or of the short name
not-deleted = Not deleted
no-organizations = There are no organizations. They are parts of the tenant in which roles can be held, such as branches or teams.
no-organization-matches = No organization matches.
show-the-tree = Show tree
tree-hint = Drag an organization onto another one to move it.
what-is-below = Child organizations
nothing-below = There are no child organizations.
more = More
drop-here = Drop an organization here to move it to the top level.
below = Child organizations
at-the-top = Top level
parent = Parent organization
parent-or-top = Type part of the name, and choose. Leave it empty for the top level.
members = Role assignments
members-hidden = You may not see who holds a role here.
no-members = No user holds a role in this organization itself. Roles from above apply here too.
all-members = All role assignments
log-hidden = You may not see the audit log.
no-entries = The log has no entries about it.
about-this-organization = All entries about this organization
organization-created = The organization is created.
organization-moved = The organization is moved.
organization-active = The organization is active again.
organization-suspended = The organization is suspended.
organization-deleted = The organization is deleted.
suspend-organization-what = If you suspend it, roles in it and below it grant nothing until you reactivate it.
reactivate-organization-what = Roles in it and below it are then active again.
restore-organization-what = The organization comes back without its earlier role assignments.
delete-organization-what = Role assignments in it end, and another organization can get its short name. Child organizations must be moved or deleted first. You can restore it later.
move = Move
move-what = It moves with everything below it. You see first who gains and who loses what.
move-note = It moves with everything below it.
new-place = New position
new-parent = Parent organization
below-another = Below another organization
map = Map
map-of-all = Organization map
map-from-here = Map from here
map-hint = Each organization leads to its page. The mark at its right side leads to a map that starts there.
map-keys = Press + or - inside the map to zoom.
show-as-list = Show as a list
zoom-in = Zoom in
zoom-out = Zoom out
zoom-fit = Fit

## The overview: what it shows of the tenant, of its sign-ins and of its log.

overview = Overview
welcome = Welcome
your-roles = Your roles
signed-in-since = Signed in since
from = from
no-roles-yet = You have no roles. You can request one:
no-roles = You have no roles. Ask an administrator of your tenant for one.
needs-a-hand = Needs attention
nothing-needs-a-hand = Nothing needs your attention. What waits for a decision, ends soon or fails is listed here.
is-switched-off = switched off
have-no-factor-what = Your tenant requires one. A person without one can do nothing else after the grace period.
linked-holders-what = These users hold all permissions in the whole tenant, and can sign in by an identity provider. Who controls it can act as them. Each of them can remove the link on "My account".
linked-holders-cut = Only 100 holders of all permissions were looked at. There are more.
charts = Charts
show-charts = Show charts of sign-ins and people
no-charts = The charts need the permission to read the audit log or all users.
sign-ins-by-day = Sign-ins of the last 28 days
sign-ins = Sign-ins
failures = Failed attempts
people-by-week = People who signed in, by week
week-from = Week from
days-are-utc = Days in UTC
not-all-counted = Only the newest 50,000 were counted: the first days or weeks have no number, or are left out
as-table = As a table
day = Day
factor-share = Second factors
with-factor = With a second factor
without-factor = Without one
how-many = Number
# A number that is not known.
unknown-number = –
entries-recorded = entries were recorded.
no-entry-waits = All of them can be checked.
log-late = This takes too long. Ask the operator to look at the log of the server.
log-fails = The audit log needs the operator
log-broken = The log cannot be shown, or does not match its own checkpoint. Ask the operator to run: iam-server audit verify
oldest-entry = The oldest
first-steps = First steps
step-organization = Create an organization
step-invite = Invite a person
or = or
step-import = import users
step-role = Assign a role
step-factor = Set up a second factor for your account

## The catalogue of permissions.

new-permission = New permission
new-permission-what = A permission of your application. Roles grant it to users, and the application asks whether a user has it.
permission-name-hint = A resource and an action in lower-case letters, digits and hyphens, such as orders:refund
permission-description-hint = What it lets a user do, such as Refund money.
register-permission = Register permission
permission-created = The permission is registered. Roles with a wildcard for its resource have it at once. Edit other roles to add it to them.
permission-deleted = The permission is deleted.
no-permission-matches = No permission matches.
show-every-permission = Show all permissions
built-in-permission-what = Built in: it cannot be deleted
own-permission-what = A permission of your application
roles-with-it = Roles with this permission
roles-with-it-hidden = You may not see roles.
no-role-names-it = No role names this permission.
roles-by-wildcard = By wildcard
give-to-role = Add it to a role
give-to-new-role = Create a role with it
delete-permission-what = Only a permission that no role names can be deleted.
delete-permission-note = No role can get this permission any more. Roles with a wildcard of its resource still permit it.

## Roles, and the permissions that they have.

roles = Roles
role = Role
new-role = New role
edit = Edit
create-role = Create role
role-created = The role is created. No user holds it yet.
role-deleted = The role is deleted.
role-name-hint = A name such as Shift lead is written SHIFT_LEAD.
search-roles-hint = Part of the name or of the description
no-role-matches = No role matches.
show-all-roles = Show all roles
held-where = Scope
scope-tenant = whole tenant only
scope-organization = organization only
scope-any = whole tenant or organization
kind = Type
built-in-role = Built in
own-role = Custom
built-in-role-what = Built in: it cannot be changed, only copied
role-may = Permissions
role-may-nothing = No permissions.
role-holders = Users with this role
holders-hidden = You may not see who holds this role.
no-holders = No user holds this role.
no-holders-seen = No user whom you may see holds this role.
all-holders = All users with this role
let-ask-for-role = Make users eligible for this role
show-eligibilities = Show eligibilities
decides-about-requests = Decides about requests for
asked-for-by = Can be requested by
assign-this-role = Assign this role
delete-role-what = Only a role that no user holds can be deleted.
delete-role-confirm = Yes, delete this role
permission = Permission
permissions = Permissions
permissions-hint = You can grant only permissions that you hold yourself.
filter-permissions = Filter permissions
everything = Everything
may-everything = All actions in the tenant, including those that are added later.
compare-roles = Compare roles
compare-with = Compare with
compare = Compare
side-by-side = Side by side
differences = Differences
matrix-what = Which role has which permission
has-it = Yes
has-it-by = Yes, by
has-it-not = No
has-it-legend = has the permission
has-it-by-legend = has it by a wildcard, such as users:*
has-it-not-legend = does not have it
must-be-roles = must be the IDs of at most 8 roles, with commas between them
matrix-is-full = cannot be added: at most 8 roles are shown side by side
matrix-is-full-what = At most 8 roles are shown. Remove one to add another one.
role-of-link-is-gone = A role of this link does not exist any more.
differences-what = Choose two roles. The answer shows what only one of them permits.
first-role = First role
second-role = Second role
show-only-differences = Show only differences
show-all-permissions = Show all permissions of both roles

## Actions on many users or role assignments at once.

select = Select
select-all = Select all on this page
show-100 = Show 100 on a page
with-selected = With selected
count-selected = { $count } selected
clear-selection = Clear the selection
preview-follows = You first see what would happen. At most 100 can be selected.
assign-many = Assign role…
suspend-many = Suspend…
reactivate-many = Reactivate…
end-sessions-many = End sessions…
revoke-many = Revoke…
change-end-many = Change end…
nothing-selected = must not be empty: select at least one line of the list
not-selectable = must be lines of the list
steps-taken = Changes
steps-left-out = Left out
nothing-to-do = There is nothing to do.
decided-again = Each one is decided again when it is done. If one is refused, the others are done nevertheless.
preview-is-old = Nothing was started, because this preview is too old. Check the current one, and confirm it.
preview-is-of-another = Nothing was started, because you have seen the preview of something else. Check the current one, and confirm it.
too-many-runs = Nothing was started, because too many bulk actions are running. Confirm it when one of them has ended.
not-yourself = This is your own account.
suspended-already = The user is suspended already.
active-already = The user is active already.
ends-then-already = The role has this end already.
runs = Bulk actions
recent-runs = Recent bulk actions
close-hint = Close hint
no-runs = You have started no bulk action within the last hour, or this server does not know it any more.
run-goes-on = You can leave this page: the action goes on, and each page leads back here.
run-progress = Progress
reload = Reload this page
steps-done = Done
steps-refused = Not done
steps-untried = Not tried
run-stopped = It has stopped: your session has ended, or could not be checked.
run-broke-off = It was stopped by an error of the server.
run-entries = Audit log entries of this action
try-the-rest = Try the rest again…
run-unknown = This server does not know the bulk action
run-unknown-what = Its progress is kept for an hour, for the person who started it, and not after a restart of the server. What it has done is in the audit log. You can start it again: what was done before is then left out, or refused.

## Signing in, the registration of a tenant, and proofs of an identity.

sign-in = Sign in
tenant-hint = The short name of your company or organization, such as acme. Only needed if you have accounts in several tenants.
several-tenants = You have accounts in several tenants (companies or organizations). Choose one and type your password again.
incorrect = The e-mail address or the password is not correct. If you have accounts in several tenants, name the tenant.
session-ended = Your session has ended. Sign in again.
signed-out = You are signed out.
first-run = There is no tenant yet.
first-run-closed = There is no tenant yet, and registration is closed. The operator creates one with: iam-server tenant create
register-first = Register the first tenant
second-factor = Second step
code = Code from your authenticator app
wrong-code = The code is wrong, or was used before.
recovery-code = Recovery code
use-recovery-code = Use a recovery code instead
code-is-none = A code of your app has six digits.
code-missing = Type the code that your app shows now.
recovery-code-missing = Type a recovery code.
password-missing = Type your password.
wrong-password = The password is not correct.
forgot-password = Forgot your password?
new-password-by-mail = Choose a new password
forgot-what = If a user has this address, a message with a link to choose a new password is sent to it.
forgot-sent = If a user has this address, the message is on its way. The link in it works for 30 minutes.
sign-in-by-email = Sign in by e-mail
email-login-sent = If a user with this address may sign in by e-mail, a message is on its way. Type the code in it here, or open its link. Both work for 10 minutes.
# The label of the code; an error continues it.
email-code = Code from the message
email-code-hint = Eight digits.
email-login-late = The code of the message came too late. Begin again.
email-link-refused = The link does not work: it was used, was replaced by a newer one, or has expired. Sign in again.
sign-in-by-passkey = Sign in with a passkey
use-passkey = Use a passkey
passkey-cancelled = No passkey was used. Try again, or choose another way.
passkey-unusable = The browser has sent no answer of a passkey. Try again.
passkey-needs-script = A passkey needs JavaScript. Allow it for this page.
sign-in-late = The second step came too late. Sign in again.
start-again = Start again
password-refused = Your tenant does not allow passwords for your address. Sign in with the account of your company.
password-of-administrator = If you hold all permissions in your tenant, you can also sign in with your password.
use-password = Use your password
form-too-long = The form that you sent is too long to be kept while you are at the provider. You must fill it in again.
provider-late = The sign-in took too long. Sign in again.
provider-denied = The provider did not sign you in. Try again, or choose another way.
provider-failed = The answer of the provider is not accepted. Try again. If that does not help, ask your administrator.
provider-not-linked = No user is linked to your account at the provider. Choose another way, or ask your administrator.
provider-unavailable = The provider does not answer. Try again later, or choose another way.
register = Register a tenant
register-hint = A tenant has its own users, roles and log, which no other tenant can see. You become its first administrator.
new-tenant-hint = Your company or organization. We call it a tenant.
not-first = There is a tenant already. Sign in.
confirm-identity = Confirm that it is you
confirm-identity-why = This action needs a recent proof of your identity. Then the action goes on by itself.
confirm-by-own-factor = This action needs a recent proof by your second factor. Then the action goes on by itself.
another-way = Another way
confirm-by-factor = Your tenant requires a second factor, and you have not used yours in this session. After it, the action goes on by itself.
confirm-at-what = After that, you see here what you sent, and send it again.
began-otherwise = This session did not start at that provider. Choose another way.
confirmed-by-other = You used an account at the provider that is not linked to you here. Nothing is changed. Use your own account.
provider-did-not-ask = The provider did not ask you to sign in again, so nothing is proven. Try again, or choose another way.
provider-is-not-enough = You have a second factor here, and the account at the provider does not replace it. Use your second factor.
session-ended-form-kept = Your session has ended. Sign in again. What you typed is kept, and you can send it after that.
send-again = Send the form again?
send-again-why = This form is from an earlier session, so nothing is changed yet. Check what it has, and send it again.
send-after-proof = You have confirmed that it is you. Nothing is changed yet. Check what the form has, and send it again.
send = Send

## The tenant and its settings.

tenant-settings = Settings
tenant = Tenant
general = General
at-sign-in = Sign-in
tenant-name = Tenant name
tenant-slug-hint = Lower-case letters, digits and hyphens. People with accounts in several tenants type it.
tenant-hidden = You may not see the settings of the tenant.
about-this-tenant = changes to these settings
tenant-changed-meanwhile = The tenant has changed since you opened this page, so nothing is saved. Open the page again before you save.
password-policy = Password policy
password-policy-hint = For new passwords. Mixed: with a digit, a special character, and letters in upper and lower case. Long: NIST SP 800-63B-4; 8 characters where second factors are required. Simple: OWASP ASVS 5.0. Long and Simple refuse common passwords, and those that consist of the name or the e-mail address of the person.
second-factors-hint = If they are required, each person without one must set one up within the days below. After these days, the person can only set one up.
grace-days = Grace period (days)
grace-days-hint = 0 to 90, counted from the day on which second factors are required, or on which the user is created if it is later.
password-login = Password sign-in
password-login-hint = Users who hold all permissions in the whole tenant may always use the password, so that a failing identity provider locks no person out.
email-login = E-mail sign-in
email-login-hint = A person with a verified address may sign in by a link or a code in a message. To change its password, its address or its second factors, it must prove who it is again.
authzen-identifiers = AuthZEN identifiers
authzen-identifiers-hint = How a gateway names persons and organizations when it asks for a decision. Any other name is denied.
retention = Audit log retention
retention-hidden = You may not see how long the audit log is kept.
retention-days = Days
retention-hint = Empty means forever. A longer time is in force at once, a shorter one after 30 days.
save-retention = Save retention
entries-are-kept-forever = All entries are kept forever.
apply-retention = Remove old entries
apply-retention-what = Removes the entries that are older than the retention. Proofs of all other entries stay valid.
apply-retention-confirm = Yes, remove old entries
# The moment follows.
tenant-is-deleted-after = The operator will delete this tenant with everything in it after

## Users.

users = Users
user = User
new-user = New user
create-user = Create user
search-users-hint = Part of a name or of an e-mail address
no-user-matches = No user matches.
show-all-users = Show all users
service-account = Service account
service-accounts = Service accounts
every-kind = People and service accounts
may-change-only-in = You may change only users whose home organization and all of whose roles are in one of these organizations or below:
on-this-page = On this page
what-user-may = Roles and permissions
in-the-whole-tenant = In the whole tenant
held-everywhere = These roles apply in every organization, too.
place-not-active = This organization or one above it is not active, so the roles grant nothing here.
permissions-behind = Permissions
why-held = Why?
time-line = Timeline
time-line-what = The newest of what this user did, and of what was done to its account, to the roles that it holds and to its last access requests. Of failed sign-ins, those among the last 100 of the tenant are here. What others did to earlier roles, sessions, second factors and keys of the user is only in the audit log.
time-line-empty = The log has no entries about this user.
devices = Devices
signed-in-from = Signed in from
user-has-no-roles = This user holds no role, and so may do nothing. Assign one.
deleted-has-no-roles = This user holds no role.
roles-hidden = You may not see the roles of this user.
user-has-no-sessions = This user is not signed in anywhere.
sessions-hidden = You may not see the sessions of this user.
end-all-sessions = End all sessions
act-as-user = Act as this user
act-as-user-what = You see and do what this user may see and do, for a limited time. The user gets a message, and the log names both of you.
act-reason-hint = Visible to the user, and recorded in the audit log.
for-how-long = Duration
act-read-only = Read-only
suspend-what = The user can then no longer sign in until you reactivate the account. All sessions of the user end. So do the roles that it has by access requests, and its requests that wait are cancelled: neither comes back by itself.
suspend-confirm = Suspend user
send-reset = Send password reset link
send-reset-what = The user gets a link by e-mail to choose a new password. The link works for 30 minutes.
reset-sent = The link is sent.
end-all-sessions-what = The user must sign in again on every device.
reactivate-what = The user can then sign in again, with the same roles as before.
changed-meanwhile = The user has changed since you opened this page, so nothing is saved. Open the page again before you save.
delete-what = The user loses its roles and sessions and cannot sign in. Its record and its e-mail address stay.
delete-confirm = Yes, delete this user
restore-what = The user can then sign in again, without roles.
user-created = The user is created, without a role.
user-suspended = The user is suspended.
user-reactivated = The user is active again.
user-deleted = The user is deleted.
user-restored = The user is restored, without a role.
sessions-ended = All sessions of the user have ended.
home = Home organization
home-or-tenant = Its administrators may manage this account, if all roles of the account are there, too. Type part of the name, and choose. Leave it empty for the whole tenant.
external-id-hint = The ID of this person in another system, such as a directory. Leave it empty if there is none.
about-this-user = changes to this user
by-this-user = actions of this user
reset-factors = Remove all second factors
reset-factors-after = The sessions of the user end. Then the person signs in with the password alone, until a new factor is set up.
reset-factors-confirm = Yes, remove the second factors
factors-reset = The user has no second factors now.
no-second-factor = No second factor is set up.
factor = Second factor
factor-any = With or without
factor-yes = Set up
factor-no = None
export-user = Download user data
export-user-what = A page with everything that is held about the user, and the entries about the user in the audit log. The download is recorded.

## Webhooks, and what they have sent.

webhooks = Webhooks
webhook = Webhook
webhooks-what = A webhook sends events of this tenant to another system, as soon as they are in the audit log.
no-webhooks = There is no webhook yet.
new-webhook = New webhook
create-webhook = Create webhook
webhook-url = Endpoint URL
webhook-url-hint = Where the events go, such as https://example.com/events. It must contain no secret: the audit log shows it.
event-types = Event types
event-types-hint = One per line, such as USER.CREATE. USER.* means every action on users.
all-event-types = Everything that the service records
other-event-types = Events of your applications
other-event-types-hint = One type on each line, such as INVOICE.SENT. INVOICE.* means every action.
needs-audit-log = A webhook sends entries of the audit log. You may not read it, so you can change neither the endpoint URL nor the event types.
event-format = Format
webhook-enabled = Enabled
webhook-fails = Failing
last-answer = Last answer
last-answer-removed = The last answer is not kept any more
next-attempt-of-webhook = next attempt
last-accepted = last accepted
webhook-deleted = The webhook is deleted.
webhook-secret = Webhook secret
webhook-changed-meanwhile = The webhook has changed since you opened this page, so nothing is changed. Open the page again first.
what-it-sends = Settings
about-this-webhook = changes to this webhook
secret = Secret
secret-once = The receiver verifies requests with this secret. Copy it now: it is not shown again.
rotate-secret = Rotate secret
rotate-what = If you rotate it, requests are signed with the old secret too, for 24 hours.
test = Test
test-what = Sends an event of the type WEBHOOK.TEST at once, and shows the answer here. A test is neither in the audit log nor in the deliveries.
send-test = Send test
delete-webhook-what = It sends no more events, and its deliveries are removed.
delete-webhook-confirm = Yes, delete this webhook
deliveries = Deliveries
deliveries-what = The newest 200, by their last attempt. Those that have ended are removed after seven days.
no-deliveries = No event was sent yet. The next event of these types is. Tests are not listed here.
delivered = Delivered
delivery-pending = Waiting for the next attempt
delivery-paused = Waiting until the webhook is on
delivery-failed = Failed
receiver-answer = Response
no-answer = none
attempt = Attempts
next-attempt = the next one at
sequence = Event number
send-again-from-here = Resend this and all later events
send-again-events = Resend old events
from-sequence = First event number
from-sequence-hint = This event and all later ones of these types are sent again. The number of an event stands at its delivery above, and on the page of its entry in the audit log.
events-are-sent-again = The events are sent again. Open this page later to see the answers.

## Texts with arguments: forms and common parts.

password-hint-seed = At least { $length } characters, with an upper-case and a lower-case letter, a digit and one of ! @ # $ % ^ & *
password-hint-nist = At least { $length } characters of any kind, such as several words
password-hint-asvs = At least { $length } characters of any kind; 15 or more are better
not-accepted = is not accepted: { $reason }
browser-on = { $browser } on { $system }
users-affected =
    { $count ->
        [0] No user gains or loses a permission.
        [one] 1 user gains or loses permissions:
       *[other] { $count } users gain or lose permissions:
    }
users-gain =
    { $count ->
        [one] 1 user gains permissions:
       *[other] { $count } users gain permissions:
    }
users-lose =
    { $count ->
        [one] 1 user loses permissions:
       *[other] { $count } users lose permissions:
    }
others-affected =
    { $count ->
        [one] 1 of them is not shown here.
       *[other] { $count } of them are not shown here.
    }
permissions-in =
    { $count ->
        [one] 1 permission in
       *[other] { $count } permissions in
    }

## Lengths of time.

length-days =
    { $count ->
        [one] 1 day
       *[other] { $count } days
    }
length-hours =
    { $count ->
        [one] 1 hour
       *[other] { $count } hours
    }
length-minutes =
    { $count ->
        [one] 1 minute
       *[other] { $count } minutes
    }
length-seconds =
    { $count ->
        [one] 1 second
       *[other] { $count } seconds
    }

## Days below a chart, in the order of their months.

short-day-1 = { $day } Jan
short-day-2 = { $day } Feb
short-day-3 = { $day } Mar
short-day-4 = { $day } Apr
short-day-5 = { $day } May
short-day-6 = { $day } Jun
short-day-7 = { $day } Jul
short-day-8 = { $day } Aug
short-day-9 = { $day } Sep
short-day-10 = { $day } Oct
short-day-11 = { $day } Nov
short-day-12 = { $day } Dec

## Why a user may not do something.

denial-user-not-active = The user is not active, and so may do nothing.
denial-expired = A role that gave this permission has ended.
denial-organization-not-active = A role with this permission is held there, but the organization or one above it is not active.
denial-held-elsewhere = The user holds this permission in other organizations only.
denial-did-not-exist = The user or the organization did not exist at that moment.
denial-not-held = No role of the user has this permission.

## Access requests, with arguments.

requests-found =
    { $count ->
        [one] 1 access request
       *[other] { $count } access requests
    }
request-note-at-once = No approval is needed: you have the role at once.
request-note-later = No approval is needed: you get the role at the moment below.
request-note-one-at-once = This is what you have after another person has approved. The time runs from the approval.
request-note-one-later = This is what you have after another person has approved. The time runs from the moment below, or from the approval if that is later.
request-note-two-at-once = This is what you have after two other people have approved. The time runs from the second approval.
request-note-two-later = This is what you have after two other people have approved. The time runs from the moment below, or from the second approval if that is later.
administrators-are-told = The administrators of the tenant get a message about it.
deciders-are-told = The approvers get a message about your request.
tell-deciders = No messages are sent here: tell the approvers yourself.
lasts = for { $time }
lasts-from-approval = for { $time } from the approval
at-most-now = At most { $time } now.
obstacle-too-long = The eligibility allows at most { $time } now.
too-few-can-decide =
    { $needed ->
        [one] 1 approval is needed
       *[other] { $needed } approvals are needed
    }, but { $others ->
        [0] no other user can
        [one] only 1 other user can
       *[other] only { $others } other users can
    } decide about it now. Tell an administrator of your tenant.
ask-for = Request { $role } in { $place } for { $time }
approvals-needed-none = no approval
approvals-needed-one = 1 other person
approvals-needed-two = 2 other people
cancelled-by = { $user } has cancelled this request, so nothing is saved.
denied-by = { $user } has denied this request already, so nothing is saved.
# A moment follows this text and the next three.
you-have = You have { $role } until
you-get = No more approval is needed. You get { $role } on
user-has = Your approval is saved: { $user } has { $role } until
user-gets = Your approval is saved: { $user } gets { $role } on
approvals-of = { $count } of { $needed }
deleted-role = { $role } (deleted)
holders-of = the holders of { $role }
requests-wait =
    { $count ->
        [one] 1 access request waits for your decision
       *[other] { $count } access requests wait for your decision
    }

## Access reviews, with arguments.

completion-all-stay = All items stay: { $keep }. This cannot be undone.
completion = Items that are revoked: { $revoke }. Those that stay: { $keep }. This cannot be undone.
completion-undecided =
    { $count ->
        [one] One item has no decision yet. Decide about it before you complete the review.
       *[other] { $count } items have no decision yet. Decide about them before you complete the review.
    }

## The own account, role assignments and attributes, with arguments.

link-with = Link { $provider }
assignments-found =
    { $count ->
        [one] 1 assignment
       *[other] { $count } assignments
    }
revoke-role = Revoke { $role } of { $user }
several-permissions = can mean several permissions, such as { $names }: choose one that is offered
not-held-now = { $meaning } (The user does not hold it now.)
key-holds =
    { $held ->
        [0] The user holds none of these now, so the key allows nothing.
       *[other] The user now holds { $held } of these { $all }. The others give nothing.
    }
assign-role-to = Assign { $role } to { $user } in { $organization } and below
assign-role-in-tenant = Assign { $role } to { $user } in the whole tenant
change-end-of = Change the end of { $role } of { $user }
attribute-hint-number = A number
attribute-hint-strings = One per line
has-a-field = must not contain { $key }, which has a field of its own
# What is wrong follows.
definition = Definition { $number }:
unregistered-allowed = Allowed, with any value
unregistered-refused = Refused. Those that exist stay until they are removed

## Directories, with arguments.

account-is-made = The service account is created, and chosen below. The directory is not created yet. { $why }
the-address-above = the address above
key-of-the-account = an API key of the service account
key-as-bearer-token = HTTP Header, with an API key of the service account as the bearer token
remove-directory-named = Remove directory { $name }
groups-found =
    { $count ->
        [one] 1 group
       *[other] { $count } groups
    }
change-grants-of = Change the roles of group { $group }
role-in = { $role } · { $place }
account-lacks = The service account of the directory does not hold what this role grants: it lacks { $permission } there.
by-group = by group { $group } of { $directory }

## Eligibilities, with arguments.

no-holder-in-tenant = No user holds { $role } in { $place }, so no user can request access now. Roles in organizations do not count.
no-holder-in-organization = No user holds { $role } in { $place } or above it, so no user can request access now. Roles in organizations below it do not count.
requests-ask-too-much =
    { $count ->
        [one] 1 waiting request asks for more than this eligibility allows now, and cannot become effective any more.
       *[other] { $count } waiting requests ask for more than this eligibility allows now, and cannot become effective any more.
    }
persons =
    { $count ->
        [one] 1 person
       *[other] { $count } people
    }
approvals-choice-none = None: the access starts at once
approvals-choice-one = One other person
approvals-choice-two = Two other people

## Find, with arguments; and other words by which the pages are found, beside their names.

results-found =
    { $count ->
        [0] Nothing is found that you may see.
        [one] 1 result
       *[other] { $count } results
    }
words-overview = home start dashboard statistics sign-ins
words-users = people persons members employees service accounts
words-service-accounts = api keys machines programs robots bots tokens
words-users-new = add create person people account
words-users-import = csv upload file people
words-invitations = invited people pending
words-invitations-new = user mail add
words-roles = groups permissions rights
words-roles-new = create add permissions
words-assignments = who holds roles grants members
words-assignments-new = give grant user
words-runs = undo again many several mass users assignments
words-organizations = places tree branches units departments teams
words-organizations-new = create add place branch unit department team
words-access = why permission rights allowed
words-access-who = permission rights holders allowed access
words-access-requests = approve deny approvals elevation just in time
words-access-requests-new = request role elevation
words-eligibilities = who may ask approvals elevation
words-eligibilities-new = create add who may ask
words-audit = history events entries changes
words-access-reviews = recertification certification attestation
words-access-reviews-new = begin start recertification
words-webhooks = events notifications integration
words-webhooks-new = create add events notifications
words-domains = dns verified e-mail
words-domains-new = add dns
words-identity-providers = sso single sign-on openid oidc federation entra okta google
words-identity-providers-new = create add sso single sign-on openid oidc federation
words-directories = scim provisioning groups entra okta
words-directories-new = create add scim provisioning
words-tenant = tenant password policy retention second factor attributes
words-account = profile me sessions api keys passkey authenticator second factor recovery codes
words-account-password = my account new
words-account-email = my account new mail


## Identity providers, with arguments.

claim-sub = sub: the subject
claim-oid = oid: the object identifier of Entra
provisioning-off = None: people link their own accounts.
provisioning-link = Link the user with the verified address of the person.
provisioning-create = Link the user with the verified address of the person, or create a new user.

## Organizations, with arguments.

map-from = Map from { $name }
places-not-drawn =
    { $count ->
        [one] 1 organization is not drawn. To see them, begin the map at a place above them.
       *[other] { $count } organizations are not drawn. To see them, begin the map at a place above them.
    }
missing-below = { $count } below not drawn
members-counted =
    { $count ->
        [0] no members
        [one] 1 member
       *[other] { $count } members
    }
counts-below = below it: { $counts }
places-below = { $count } below
organizations-found =
    { $count ->
        [one] 1 organization
       *[other] { $count } organizations
    }
move-named = Move { $name }
move-below = Move { $name } below { $parent }
move-to-top = Move { $name } to the top level
suspend-named = Suspend { $name }
reactivate-named = Reactivate { $name }
delete-named = Delete { $name }
restore-named = Restore { $name }
end-sessions-of = End all sessions of { $user }
reset-factors-of = Remove all second factors of { $user }
send-reset-to = Send a link for a new password to { $user }
new-key-for = New API key for { $user }
revoke-key-named = Revoke the key { $name }

## The overview, with arguments.

directories-refused =
    { $count ->
        [one] Requests of 1 directory were refused within the last 7 days
       *[other] Requests of { $count } directories were refused within the last 7 days
    }
requests-refused =
    { $count ->
        [one] 1 request
       *[other] { $count } requests
    }
webhooks-fail =
    { $count ->
        [one] 1 webhook fails: its receiver did not accept the last event
       *[other] { $count } webhooks fail: their receivers did not accept the last event
    }
reviews-due =
    { $count ->
        [one] 1 access review with undecided items is late, or due within 7 days
       *[other] { $count } access reviews with undecided items are late, or due within 7 days
    }
items-undecided = { $count } undecided
have-no-factor =
    { $count ->
        [one] 1 of { $people } active people has no second factor
       *[other] { $count } of { $people } active people have no second factor
    }
must-set-up-factor =
    { $count ->
        [one] Now, 1 of { $people } active people has none: where it is required, this person must set one up, from the next sign-in on.
       *[other] Now, { $count } of { $people } active people have none: where it is required, they must set one up, from their next sign-in on.
    }
within-days =
    { $days ->
        [one] within 1 day
       *[other] within { $days } days
    }
# The text of the number may say that there are more.
keys-end =
    { $count ->
        [one] 1 API key ends within 30 days
       *[other] { $number } API keys end within 30 days
    }
own-keys-end =
    { $count ->
        [one] 1 of your API keys ends within 30 days
       *[other] { $count } of your API keys end within 30 days
    }
assignments-end-next =
    { $count ->
        [one] 1 role assignment ends within 7 days
       *[other] { $number } role assignments end within 7 days
    }
assignments-end-soon =
    { $count ->
        [one] 1 role assignment ends within 30 days
       *[other] { $number } role assignments end within 30 days
    }
assignments-end-both =
    { $count ->
        [one] 1 role assignment ends within 7 days, { $soon } within 30 days
       *[other] { $number } role assignments end within 7 days, { $soon } within 30 days
    }
invitations-end =
    { $count ->
        [one] 1 invitation ends within 2 days without an answer
       *[other] { $count } invitations end within 2 days without an answer
    }
at-least-invitations-end = { $count } or more invitations end within 2 days without an answer
linked-holders =
    { $count ->
        [0] Not all administrators were looked at for linked accounts
        [one] 1 administrator has a linked account
       *[other] { $count } administrators have a linked account
    }
have-a-factor = Active people with a second factor: { $with } of { $people }
all-entries-wait = They can be checked within a minute.
entries-wait =
    { $count ->
        [one] The newest one can be checked within a minute, the others now.
       *[other] The newest { $number } can be checked within a minute, the others now.
    }
entries-late = Entries of the audit log that cannot be checked yet: { $number }
at-least = { $count } or more

## Permissions and roles, with arguments.

delete-permission = Delete the permission { $name }
permissions-found =
    { $count ->
        [one] 1 permission
       *[other] { $count } permissions
    }
only-in = Only in { $role }
differences-found =
    { $count ->
        [0] No differences
        [one] 1 difference
       *[other] { $count } differences
    }
may-everything-with = { $resource }: all actions, including those that are added later.
edit-role = Edit { $name }
change-role = Change role { $name }
chosen-of = { $chosen } of { $all }
roles-found =
    { $count ->
        [one] 1 role
       *[other] { $count } roles
    }

## Actions on many, with arguments.

too-many-selected = must be at most { $max } lines
run-assign =
    { $count ->
        [one] Add 1 role assignment
       *[other] Add { $count } role assignments
    }
run-suspend =
    { $count ->
        [one] Suspend 1 user
       *[other] Suspend { $count } users
    }
run-reactivate =
    { $count ->
        [one] Reactivate 1 user
       *[other] Reactivate { $count } users
    }
run-end-sessions =
    { $count ->
        [one] End the sessions of 1 user
       *[other] End the sessions of { $count } users
    }
run-revoke =
    { $count ->
        [one] Revoke 1 assignment
       *[other] Revoke { $count } assignments
    }
run-change-end =
    { $count ->
        [one] Change the end of 1 assignment
       *[other] Change the end of { $count } assignments
    }
run-assign-what = Each user gets the role at once.
run-suspend-what = Each user can no longer sign in until the account is reactivated. All sessions end, and so do the roles by access requests. Requests that wait are cancelled.
run-reactivate-what = Each user can sign in again, with the same roles as before.
run-end-sessions-what = Each user must sign in again on every device.
run-revoke-what = Each user loses the role at once.
run-change-end-what = Each user holds the role until the new end.
undo-by-assign = Assign these again…
undo-by-suspend = Suspend these again…
undo-by-reactivate = Reactivate these…
undo-by-end-sessions = End these sessions…
undo-by-revoke = Revoke these assignments…
undo-by-change-end = Restore the earlier ends…
run-done = { $done } of { $total } done
run-done-and-refused = { $done } of { $total } done, { $refused } not done
runs-unseen =
    { $count ->
        [one] A bulk action of yours goes on, or has ended
       *[other] { $count } bulk actions of yours go on, or have ended
    }

## Signing in, the tenant, users and webhooks, with arguments.

sign-in-with = Sign in with { $provider }
confirm-at = Confirm at { $provider }
entries-are-kept =
    { $days ->
        [one] Entries are kept for 1 day.
       *[other] Entries are kept for { $days } days.
    }
# A moment follows.
entries-will-be-kept =
    { $days ->
        [one] They are kept for 1 day from
       *[other] They are kept for { $days } days from
    }
entries-removed =
    { $count ->
        [0] No entry is older than the retention.
        [one] 1 entry is removed.
       *[other] { $count } entries are removed.
    }
policy-seed = Mixed: at least 8 characters
policy-nist = Long: at least 15 characters
policy-asvs = Simple: at least 8 characters
password-login-allowed = Allowed
password-login-federated = Not for persons whose identity provider is known
email-login-off = Off
email-login-on = On: for persons whose address is verified
authzen-id = IDs of this service
authzen-name = Persons by external ID or e-mail address, organizations by short name
factor-policy-off = Off: no person can set one up
factor-policy-optional = Optional: each person decides
factor-policy-required = Required for all persons
users-found =
    { $count ->
        [one] 1 user
       *[other] { $count } users
    }
more-permissions =
    { $count ->
        [one] 1 more permission
       *[other] { $count } more permissions
    }
more-roles =
    { $count ->
        [one] 1 more role
       *[other] { $count } more roles
    }
format-native = Audit log entries
format-ocsf = OCSF: the Open Cybersecurity Schema Framework, for a SIEM
unknown-types = The service itself records no event of this type: { $types }. Only your own application can record it.
test-answered = The receiver answered { $status } after { $duration } ms
test-failed = The test failed after { $duration } ms
test-error = { $answer }: { $error }.
test-accepted = { $answer }. The test is accepted.

## The audit log, with arguments.

entries-shown =
    { $count ->
        [0] No entry matches.
        [one] 1 entry on this page
       *[other] { $count } entries on this page
    }
fields-unchanged =
    { $count ->
        [one] 1 unchanged field
       *[other] { $count } unchanged fields
    }

## The actions of the audit log, and the types of resources in it.

log-action-create = Created
log-action-read = Exported
log-action-update = Changed
log-action-delete = Deleted
log-action-user-suspended = User suspended
log-action-user-reactivated = User reactivated
log-action-login = Signed in
log-action-login-failure = Sign-in failed
log-action-logout = Session ended
log-action-impersonation-started = Acting as another user began
log-action-impersonation-ended = Acting as another user ended
log-action-token-refresh = Session continued
log-action-email-verified = E-mail address verified
log-action-password-change = Password changed
log-action-password-reset-requested = Link for a new password sent
log-action-email-login-requested = Link for signing in sent
log-action-recovery-code-used = Recovery code used
log-action-recovery-codes-issued = Recovery codes issued
log-action-passkey-counter = Counter of a passkey fell back
log-action-role-assigned = Role assigned
log-action-role-revoked = Role revoked
log-action-accepted = Invitation accepted
log-action-completed = Access review completed
log-action-approved = Access request approved
log-action-denied = Access request denied
log-action-cancelled = Access request cancelled
log-action-lapsed = Access request lapsed
log-action-ended = Requested access ended
log-action-erase = Personal values erased
log-resource-user = User
log-resource-organization = Organization
log-resource-tenant = Tenant
log-resource-role = Role
log-resource-permission = Permission
log-resource-role-assignment = Role assignment
log-resource-session = Session
log-resource-audit-log = Audit log
log-resource-invitation = Invitation
log-resource-factor = Second factor
log-resource-api-key = API key
log-resource-webhook = Webhook
log-resource-access-review = Access review
log-resource-domain = Domain
log-resource-identity-provider = Identity provider
log-resource-identity = Linked account
log-resource-directory = Directory
log-resource-directory-group = Group of a directory
log-resource-eligibility = Eligibility
log-resource-access-request = Access request
log-resource-legal-hold = Legal hold

## The fields of entries of the audit log.

log-field-access-request-id = Access request
log-field-actor-id = Actor
log-field-adopt = Takes over users
log-field-approvals = Approvals
log-field-approvals-needed = Approvals needed
log-field-approved-by = Approved by
log-field-approver-role-id = Role of those who decide
log-field-assignment-id = Role assignment
log-field-attributes = Attributes
log-field-authzen-identifiers = Names in requests of AuthZEN
log-field-cause = Cause
log-field-client-id = Client ID
log-field-close-reason = Reason for the end
log-field-decision = Decision
log-field-decision-reason = Reason for the decision
log-field-deletion-at = Deleted for good at
log-field-description = Description
log-field-directory-group-id = Group of a directory
log-field-directory-id = Directory
log-field-display-name = Name
log-field-domain = Domain
log-field-domain-ids = Domains
log-field-due-at = Due
log-field-eligibility-id = Eligibility
log-field-email = E-mail address
log-field-email-login = Sign-in by e-mail
log-field-email-verified-at = E-mail address verified at
log-field-enabled = Switched on
log-field-ends-at = End
log-field-expires-at = Expires
log-field-external-id = External ID
log-field-factor-is-trusted = Its second factor is trusted
log-field-first-name = First name
log-field-format = Format
log-field-former-until = Former secret valid until
log-field-grants = Roles that it gives
log-field-held-role-id = Holders of the role
log-field-home-organization-id = Home organization
log-field-identity-provider-id = Identity provider
log-field-invitation-id = Invitation
log-field-is-rotated = Secret replaced
log-field-is-trusted = By trusted code
log-field-issuer = Issuer
log-field-item-id = Item of the review
log-field-keeps-log = Keeps the log
log-field-kind = Type
log-field-lapses-at = Lapses at
log-field-last-name = Last name
log-field-max-seconds = At most (seconds)
log-field-members = Members
log-field-members-added = Members added
log-field-members-removed = Members removed
log-field-method = Method
log-field-name = Name
log-field-organization-attributes = Attributes of organizations
log-field-organization-id = Organization
log-field-parent-id = Parent organization
log-field-password-login = Sign-in by password
log-field-password-policy = Password policy
log-field-permissions = Permissions
log-field-provider-id = Identity provider
log-field-provisioning = Persons without a user
log-field-read-only = Only reading
log-field-reason = Reason
log-field-release-reason = Reason for the release
log-field-replayed-from = Sent again from the number
log-field-retention-days = Days for which entries are kept
log-field-role-id = Role
log-field-role-ids = Roles
log-field-role-name = Name of the role
log-field-roles = Roles
log-field-scope = Scope
log-field-scopes = Scopes
log-field-second-factor = Second factor
log-field-second-factor-grace-days = Days of grace for the second factor
log-field-seconds = Time (seconds)
log-field-service-account-id = Service account
log-field-slug = Short name
log-field-starts-at = Start
log-field-status = Status
log-field-subject = Identifier at the provider
log-field-subject-claim = Subject claim
log-field-target-user-id = User concerned
log-field-ticket = Ticket
log-field-trusts-email = Its e-mail addresses are trusted
log-field-type = Type
log-field-types = Types of events
log-field-unregistered-attributes = Attributes without a definition
log-field-url = Address
log-field-user-attributes = Attributes of users
log-field-user-id = User
log-field-user-ids = Users
log-field-user-name = User name

## The texts of the script of the audit log.

audit-text-following = New entries appear at the top, every few seconds while this page is visible.
audit-text-news = New entries: { $count }.
audit-text-gap = Many entries came since this page was loaded. Load it again, then follow.
audit-text-long = Following has stopped, because it took long. Press the button to go on.
audit-text-stopped = Following has stopped.
audit-text-ended = Your session has ended.
audit-text-good = Checked: everything matches.
audit-text-bad = Checked: something does not match.
audit-text-unknown = This could not be checked.
audit-text-checking = Checked entries: { $done } of { $count }.
audit-text-log-good = The log was not changed since this browser last checked it, on { $time }.
audit-text-log-first = This is the first check of the log in this browser.
audit-text-log-kept = Whether the log was changed before now was not checked. This browser keeps what it needs to find a later change.
audit-text-log-compared = The entries on this page were compared with the log, and match: { $count }. Entries on other pages were not read.
audit-text-log-waiting = Entries on this page that were not checked: { $count }. New entries can be checked after a few seconds. The first reason: { $why }
audit-text-entry-differs = The entry “{ $sentence }” is not as the log has it.
audit-text-mark-good = ✓
audit-text-mark-bad = ✗
audit-text-mark-unknown = –
audit-text-how = What was checked, and what was not
audit-text-included = This browser computed the hash of the entry, and from it and { $hashes } other hashes the root of the log with { $size } entries. It is the root in the present checkpoint.
audit-text-not-included = The root that this browser computed from the entry is not the root in the present checkpoint.
audit-text-signed = The present checkpoint is signed with the key that this browser has kept since { $time }.
audit-text-signed-first = The present checkpoint is signed with the key that the server names. This browser keeps the key from now on.
audit-text-not-signed = The present checkpoint is not signed with the key of the log.
audit-text-signature-unknown = The signature of the checkpoint was not checked, because this browser does not have Ed25519.
audit-text-other-key = The log has another key than the one that this browser has kept since { $time }.
audit-text-grown = The checkpoint that this browser kept on { $time } has { $old } entries, and the log of now starts with the same { $old } entries. None of them was changed, removed or moved.
audit-text-not-grown = The log of now does not start with the { $old } entries of the checkpoint that this browser kept on { $time }. Some of them were changed, removed or moved.
audit-text-personal = The personal values of the entry match the hashes in it.
audit-text-not-personal = Personal values of the entry do not match the hashes in it.
audit-text-erased = Personal values of the entry were erased, so they were not checked. Their hashes are in the entry.
audit-text-shown = The proven entry has the action, the type and the time that this page shows. Compare its other fields below.
audit-text-not-shown = The proven entry has another action, type or time than this page shows.
audit-text-protected = The entry was in the log on { $time }, and has not changed since.
audit-text-newer = The entry is newer than the last check of this browser, on { $time }. Whether it was changed before now was not checked. A later change will be found.
audit-text-first = This browser has not checked the log before. Whether the entry was changed before now was not checked. A later change will be found.
audit-text-limit-truth = Not checked: whether the entries were true when they were written.
audit-text-limit-others = Not checked: whether other people get the same log. Compare your checkpoint with theirs.
audit-text-limit-script = The program of this check comes from the same server. To be independent of it, keep the checkpoint below, and check it with a tool of your own.
audit-text-evidence = The checkpoint, the key, and the proven entry if one was checked
audit-text-operator = Do not clear the data of this browser, and ask the operator to run: iam-server audit verify
audit-text-insecure = A browser can check the log only over HTTPS, or on the same machine.

## The entries of the log, in sentences. A name that is not known is empty; one that can be is written with its space
## before it, and the changed fields stand in brackets.

said-acting-as = { $by } as { $user }
said-of-user = { " " }of { $user }
said-user-create-invited = { $subject } accepted an invitation and became a user
said-user-create = { $actor } created the user{ $named }
said-user-update = { $actor } changed the user{ $named }{ $fields }
said-user-delete = { $actor } deleted the user{ $named }
said-user-suspended = { $actor } suspended { $subject }
said-user-reactivated = { $actor } reactivated { $subject }
said-user-login-failure = A sign-in as { $subject } failed
said-user-password-change = { $actor } changed the password{ $of-user }
said-user-password-reset-requested = A link for a new password was sent to { $subject }
said-user-email-login-requested = A link to sign in was sent to { $subject }
said-user-email-verified = The e-mail address of { $subject } was verified
said-user-recovery-code-used = { $subject } used a recovery code
said-user-recovery-codes-issued = { $subject } got new recovery codes
said-user-read = { $actor } exported what is held about { $subject }
said-user-erase = { $actor } erased the personal data of { $subject } in the log
said-organization-create = { $actor } created the organization{ $named }
said-organization-update = { $actor } changed the organization{ $named }{ $fields }
said-organization-delete = { $actor } deleted the organization{ $named }
said-tenant-create = { $actor } created the tenant{ $named }
said-tenant-read = { $actor } exported what the tenant has
said-tenant-update = { $actor } changed the settings of the tenant{ $fields }
said-tenant-delete = { $actor } started to delete the tenant
said-role-create = { $actor } created the role{ $named }
said-role-update = { $actor } changed the role{ $named }{ $fields }
said-role-delete = { $actor } deleted the role{ $named }
said-permission-create = { $actor } registered the permission{ $named }
said-permission-delete = { $actor } removed the permission{ $named }
said-role-assigned-by-request = { $user } got the role { $role } in { $place } by an access request
said-role-assigned-by-group = { $actor } granted the role { $role } to { $user } in { $place } by a group
said-role-got = { $user } got the role { $role } in { $place }
said-role-assigned = { $actor } assigned the role { $role } to { $user } in { $place }
said-role-expired = The role { $role } of { $user } in { $place } ended
said-role-ended = { $actor } ended the role { $role } of { $user } in { $place }, which an access request had granted
said-role-ended-by-group = { $actor } ended the role { $role } of { $user } in { $place }, because no group grants it any more
said-role-revoked = { $actor } revoked the role { $role } of { $user } in { $place }
said-assignment-to-group = { $actor } handed a role assignment in { $place } over to a group
said-assignment-update = { $actor } changed the end of a role assignment in { $place }
said-session-login = { $actor } signed in
said-session-token-refresh = { $actor } continued a session
said-session-impersonation-started = { $by } started to act as { $actor }
said-session-impersonation-ended = { $by } no longer acts as { $actor }
said-session-update = { $actor } confirmed its identity again
said-session-logout-all = { $actor } signed out everywhere
said-session-own-terminated = { $actor } ended a session of its own
said-session-logout = { $actor } signed out
said-session-ended = A session of { $user } ended{ $because }
said-session-ended-by = { $actor } ended a session of { $user }{ $because }
said-because-password-change = , because the password was changed
said-because-token-reuse = , because a token of it was used twice
said-because-user-suspended = , because the user was suspended
said-because-user-deleted = , because the user was deleted
said-because-tenant-suspended = , because the tenant was suspended
said-because-identity-linked = , because a person was linked to the account by its address
said-because-factors-removed = , because the second factors were removed
said-audit-log-read = { $actor } exported the audit log
said-audit-log-update = { $actor } changed the retention of the audit log
said-audit-log-delete = { $actor } removed old entries of the audit log
said-invitation-create = { $actor } invited { $subject }
said-invitation-update = { $actor } sent an invitation again
said-invitation-delete = { $actor } revoked the invitation of { $subject }
said-invitation-accepted = An invitation was accepted
said-factor-create = { $actor } added the second factor{ $named }{ $of-user }
said-factor-update = { $actor } renamed the second factor{ $named }{ $of-user }
said-factor-delete = { $actor } removed the second factor{ $named }{ $of-user }
said-factor-passkey-counter = The counter of a passkey of { $user } fell back: there may be a copy of it
said-api-key-create = { $actor } created the API key{ $named }{ $of-user }
said-api-key-update = { $actor } changed the API key{ $named }{ $of-user }{ $fields }
said-api-key-delete = { $actor } revoked the API key{ $named }{ $of-user }
said-webhook-create = { $actor } created the webhook{ $named }
said-webhook-update = { $actor } changed the webhook{ $named }{ $fields }
said-webhook-delete = { $actor } deleted the webhook{ $named }
said-domain-create = { $actor } added the domain{ $named }
said-domain-update = { $actor } changed the domain{ $named }{ $fields }
said-domain-delete = { $actor } removed the domain{ $named }
said-legal-hold-create = { $actor } placed the legal hold{ $named }
said-legal-hold-delete = { $actor } released the legal hold{ $named }
said-identity-create = { $actor } linked an account at an identity provider to { $user }
said-identity-delete = { $actor } removed the link of { $user } to an identity provider
said-identity-provider-create = { $actor } created the identity provider{ $named }
said-identity-provider-update = { $actor } changed the identity provider{ $named }{ $fields }
said-identity-provider-delete = { $actor } deleted the identity provider{ $named }
said-directory-create = { $actor } created the directory{ $named }
said-directory-update = { $actor } changed the directory{ $named }{ $fields }
said-directory-delete = { $actor } removed the directory{ $named }
said-directory-group-create = { $actor } created the group{ $named }
said-directory-group-update = { $actor } changed the group{ $named }{ $fields }
said-directory-group-delete = { $actor } deleted the group{ $named }
said-access-review-create = { $actor } started the access review{ $named }
said-access-review-eligibility-decided = { $actor } decided about an eligibility in an access review
said-access-review-role-decided = { $actor } decided about a role of { $user } in an access review
said-access-review-update = { $actor } changed the access review{ $named }{ $fields }
said-access-review-completed = { $actor } completed the access review{ $named }
said-holders-of-a-role = the holders of a role
said-eligibility-create = { $actor } made { $who } eligible for the role { $role } in { $place }
said-eligibility-update = { $actor } changed the eligibility of { $who } for the role { $role } in { $place }{ $fields }
said-eligibility-delete = { $actor } removed the eligibility of { $who } for the role { $role } in { $place }
said-eligibility-other = { $actor } recorded { $action } of an eligibility
said-request-create = { $actor } requested the role { $role } in { $place }
said-request-approved = { $actor } approved the role { $role } in { $place } for { $user }
said-request-denied = { $actor } denied the role { $role } in { $place } to { $user }
said-request-cancelled-because = The request of { $user } for the role { $role } in { $place } was cancelled, because { $because }
said-cause-outdated = it can no longer be granted as it was requested
said-cause-not-eligible = the user is no longer eligible for it
said-cause-role-held = the user holds the role by other means
said-cause-user-suspended = the user was suspended
said-cause-user-deleted = the user was deleted
said-cause-other = what it needs has changed
said-request-cancelled = { $actor } cancelled the request of { $user } for the role { $role } in { $place }
said-request-lapsed = The request of { $user } for the role { $role } in { $place } expired
said-request-expired = The time for which { $user } got the role { $role } in { $place } is over
said-request-ended = { $actor } ended the access of { $user } by the role { $role } in { $place }
said-request-other = { $actor } recorded { $action } of an access request
said-other = { $actor } recorded { $resource } { $action }

## The titles of the resources of permissions.

resource-users = Users
resource-role-assignments = Role assignments
resource-roles = Roles
resource-permissions = Permissions
resource-organizations = Organizations
resource-audit-logs = Audit log
resource-tenants = Tenants
resource-sessions = Sessions
resource-invitations = Invitations
resource-api-keys = API keys
resource-webhooks = Webhooks
resource-access-reviews = Access reviews
resource-domains = Domains
resource-identity-providers = Identity providers
resource-directories = Directories
resource-impersonations = Impersonations
resource-eligibilities = Eligibilities
resource-access-requests = Access requests
resource-iam-legal-holds = Legal holds

## The titles of problems, by their kinds.

problem-validation-error = Validation error
problem-validation = Validation error
problem-unauthorized = Unauthorized
problem-second-factor-required = Second factor required
problem-insufficient-authentication = Insufficient authentication
problem-federation-required = Federation required
problem-forbidden = Forbidden
problem-account-locked = Account locked
problem-not-found = Not found
problem-conflict = Conflict
problem-legal-hold = Legal hold
problem-gone = Gone
problem-precondition-failed = Precondition failed
problem-request-timeout = Request timeout
problem-idempotency-key-reused = Idempotency key reused
problem-payload-too-large = Payload too large
problem-unsupported-media-type = Unsupported media type
problem-method-not-allowed = Method not allowed
problem-rate-limited = Too many requests
problem-internal = Internal server error
problem-unavailable = Service unavailable
problem-bad-request = Bad request

## What the services say, in English. The console finds a text of a service by these patterns, and shows it in the
## language of the person. A text that is not here is shown in English.

core-error-second-factor-required = This account needs a second factor. Send it with the challenge.
core-error-federation-required = Log in by your company's account. Your tenant does not allow passwords for your address.
core-error-account-locked = The account is temporarily locked. Try again in { $value } seconds.
core-error-not-found = { $value } not found.
core-error-precondition-failed = The resource has changed since it was read.
core-error-events-removed = Retention has removed these entries. The first one that is left has the sequence number { $first }.
core-error-idempotency-key-reused = The Idempotency-Key was used for another request.
core-error-overloaded = The service is busy. Try again in { $value } seconds.
core-error-too-many-streams = There are { $first } open streams of events, and there may be no more. Close one first.
core-error-too-many-exports = Another export is running. Try again when it has ended.
core-error-mail-off = This installation sends no mail. The operator can turn it on.
core-error-passkeys-off = This installation accepts no passkeys. The operator can turn them on.
core-error-webhooks-off = This installation sends no webhooks. The operator can turn them on.
core-error-federation-off = This installation reaches no identity providers. The operator can turn federation on.
core-error-provider-unavailable = The identity provider does not answer. Try again later.
core-error-resolver-off = This installation looks up no records of the DNS. The operator can verify the domain.
core-error-internal = An internal error occurred.
core-unauthenticated-no-token = Authentication is required: send a bearer access token.
core-unauthenticated-invalid-token = The access token is invalid.
core-unauthenticated-api-key = The API key is invalid.
core-unauthenticated-expired-token = The access token has expired.
core-unauthenticated-credentials = Incorrect e-mail or password. If you have accounts in several tenants, name the `tenant` that you mean.
core-unauthenticated-refresh-token = The refresh token is invalid or expired.
core-unauthenticated-challenge = The challenge is unknown, used or expired. Log in again.
core-unauthenticated-second-factor = The second factor is wrong or was used before.
core-unauthenticated-not-linked = No user is linked to this account. Ask an administrator.
core-unauthenticated-passkey = The passkey is not accepted.
core-unauthenticated-password-alone = Authenticate with your second factor. The password alone is not enough.
core-unauthenticated-by-email = You have logged in by e-mail. To decide about access, authenticate by other means.
core-unauthenticated-not-fresh = Authenticate again: the last time must be at most { $value } seconds ago, and by a second factor if you have one.
core-forbidden-permission = Missing permission: { $first }.
core-forbidden-escalation = You cannot give or take over higher privileges than your own: { $first }.
core-forbidden-account-escalation = The service account of the directory does not hold what the role gives there, or its key does not: { $value }.
core-forbidden-not-a-user = Only a logged-in user can do this.
core-forbidden-api-key = An API key cannot do this. Log in.
core-forbidden-impersonator = You act as another user, and cannot do this in its name.
core-forbidden-read-only = You act as another user in a session that can change nothing.
core-forbidden-not-impersonable = You can act only as another person, and as none who holds all permissions.
core-forbidden-higher-rights = You cannot act as a user who may do more than you: { $first }.
core-forbidden-no-directory = This API key belongs to no directory.
core-forbidden-not-trusted = Only trusted code can do this.
core-forbidden-own-email = Change your own e-mail by `POST /auth/email`, which needs your password.
core-forbidden-own-external-id = You cannot change your own external identifier. Another administrator can.
core-forbidden-own-access = You cannot decide about your own roles, nor complete or cancel a review that revokes one of them.
core-forbidden-not-eligible = You are not eligible for this role there.
core-forbidden-not-approver = Only the holders of its approver role decide about this request. An elevation does not count.
core-forbidden-own-request = You cannot decide about your own access request.
core-forbidden-own-entries = You cannot erase your own entries from the audit log.
core-forbidden-own-legal-hold = You cannot release a legal hold on your own data.
core-forbidden-suspended = The account is suspended.
core-forbidden-tenant-suspended = The tenant is suspended.
core-forbidden-second-factor-required = Your tenant requires a second factor. Authenticate by one, or set one up if you have none.
core-forbidden-registration-closed = Registration is closed.
core-rule-organization-required = Organization-scoped roles require an organizationId.
core-rule-organization-refused = Tenant-scoped roles do not take an organizationId.
core-rule-circular-parent = Circular reference: the parent is the organization itself or is below it.
core-rule-depth = Maximum hierarchy depth of { $first } exceeded.
core-rule-too-many-review-items = An access review has at most { $first } items. Name an organization, roles or users to narrow it.
core-conflict-email-taken = A user with this e-mail already exists.
core-conflict-email-of-deleted-user = A deleted user has this e-mail. Restore that user instead.
core-conflict-external-id-taken = A user with this external identifier already exists.
core-conflict-external-id-is-email = This external identifier is the e-mail of another user.
core-conflict-slug-taken = This slug is already taken.
core-conflict-user-inactive = The user is inactive. It can only be restored or erased.
core-conflict-user-not-active = The user is not active.
core-conflict-service-account = A service account has no password, second factor or mail.
core-conflict-role-held = The user already holds this role in this organization, or tenant-wide.
core-conflict-role-name-taken = A role with this name already exists.
core-conflict-system-role = Built-in roles can be neither changed nor deleted.
core-conflict-too-many-revocations = This would end more than { $first } role assignments. Revoke some of them first.
core-conflict-too-many-access-reviews = The tenant has { $first } open access reviews, which is its quota. Complete or cancel one first.
core-conflict-role-in-use = The role is assigned to at least one user.
core-conflict-role-of-eligibility = An eligibility that has not expired names the role.
core-conflict-role-scope-in-use = The role has assignments that its new scope does not allow.
core-conflict-permission-name-taken = A permission with this name already exists.
core-conflict-system-permission = Built-in permissions cannot be deleted.
core-conflict-permission-in-use = A role has this permission.
core-conflict-organization-inactive = The organization is inactive.
core-conflict-organization-has-children = The organization has children.
core-conflict-too-many-homes = The organization is the home of more than { $first } users. Give some of them another home first.
core-conflict-organization-too-deep = The organization would be deeper than the hierarchy allows.
core-conflict-last-administrator = The last active administrator of a tenant cannot be deleted or suspended, and cannot lose this role.
core-conflict-not-sequenced = The entry has no sequence number yet. Try again in a second.
core-conflict-still-running = A request with this Idempotency-Key is still being processed.
core-conflict-quota-exceeded = The tenant has reached its quota of { $second } { $first }.
core-conflict-previews-running = Two previews of this tenant are being computed. Try again when one of them has ended.
core-conflict-already-invited = This address is invited already.
core-conflict-invitation-not-pending = The invitation is not pending.
core-conflict-invitation-outdated = The user who sent the invitation cannot give these roles any more. Ask for a new invitation.
core-conflict-second-factor-off = Second factors are turned off in this tenant.
core-conflict-last-factor = Your tenant requires a second factor. Set up another one first.
core-conflict-last-identity = This is the only way to log in that the user has. The user must set a password or a passkey first.
core-conflict-too-many-factors = You have the maximum number of factors.
core-conflict-too-many-api-keys = The user has the maximum number of API keys. Revoke one first.
core-conflict-api-key-expired = The API key has expired. Make a new one.
core-conflict-too-many-webhooks = The tenant has the maximum number of webhooks. Remove one first.
core-conflict-legal-hold = A legal hold keeps this data. It must be released first.
core-conflict-tenant-deletion-scheduled = The deletion of the tenant is scheduled already. Cancel it first.
core-conflict-tenant-deletion-not-scheduled = No deletion of the tenant is scheduled.
core-conflict-tenant-deletion-begun = The deletion of the tenant has begun.
core-conflict-too-many-legal-holds = The tenant has the maximum number of legal holds. Release one first.
core-conflict-domain-exists = The tenant has this domain already.
core-conflict-too-many-domains = The tenant has the maximum number of domains. Remove one first.
core-conflict-domain-verified-elsewhere = The domain is verified in another tenant. It can be verified here a week after its record is gone there.
core-conflict-domain-in-use = An identity provider names this domain. Remove the domain from it first.
core-conflict-identity-linked = This account belongs to another user, or you have another account at this provider.
core-conflict-too-many-identity-providers = The tenant has the maximum number of identity providers. Remove one first.
core-conflict-too-many-directories = The tenant has the maximum number of directories. Remove one first.
core-conflict-directory-account-taken = The service account belongs to another directory.
core-conflict-directory-user-name-taken = Another user of the directory has this user name.
core-conflict-of-directory = The directory of this user sets this field.
core-conflict-too-many-directory-users = More than { $first } users of the directory are active. Suspend some of them first, or keep them.
core-conflict-directory-group-name-taken = Another group of the directory has this name.
core-conflict-too-many-directory-groups = The directory has the maximum number of groups. Delete one first.
core-conflict-too-many-group-assignments = More than { $first } role assignments would change. Change the grants of fewer groups, or fewer of them, at once.
core-conflict-assignment-of-group = A group of a directory gives this role. Change the members or the grants of the group.
core-conflict-assignment-of-access-request = An access request gives this role, and sets when it ends. End the request instead.
core-conflict-too-many-given-by-request = You have given { $first } roles by your access request, which is the maximum.
core-conflict-too-many-eligibilities = The tenant has the maximum number of eligibilities. Remove one first.
core-conflict-access-request-open = You have an open request for this role there. End or cancel it first.
core-conflict-too-many-access-requests = You have the maximum number of open access requests. Cancel one first.
core-conflict-access-request-not-pending = The access request is not pending.
core-conflict-decided-before = You have decided about this access request already.
core-conflict-access-request-not-waiting = The access request is neither pending nor approved for later.
core-conflict-access-request-not-active = The access request is not active.
core-conflict-access-request-outdated = The request is cancelled: who may ask for this role there, for how long or of whom has changed since.
core-conflict-service-accounts-named-alike = Several service accounts have the name { $first }, by which a manifest names them. Rename all but one.
core-conflict-webhooks-alike = Several webhooks have the address { $first }, by which a manifest names them. Remove all but one.
core-conflict-too-many-manifest-items = The tenant has more than { $first } permissions, roles, organizations, webhooks, identity providers, directories and service accounts with their roles, which a manifest cannot name.
core-conflict-access-review-not-open = The access review is not open.
core-conflict-access-review-undecided = { $first } items of the access review are undecided.
core-conflict-factor-confirmed = The factor is confirmed already.
core-conflict-passkey-registered = This passkey is registered already.
core-conflict-no-factor = Set up a second factor first.
core-conflict-own-factors = You can remove your own factors one by one.
core-conflict-user-not-inactive = Only an inactive user can be erased from the audit log: delete the user first.
core-conflict-several-tenants = The credentials match accounts in several tenants. Name one of these tenants in `tenant`.
core-permission-users-create = Make users, and restore deleted ones.
core-permission-users-read = See users.
core-permission-users-update = Change, suspend and reactivate users.
core-permission-users-delete = Delete users.
core-permission-role-assignments-create = Give roles to users.
core-permission-role-assignments-read = See who holds which role, and ask what others may do.
core-permission-role-assignments-update = Change when role assignments expire.
core-permission-role-assignments-delete = Take roles from users.
core-permission-roles-create = Make roles.
core-permission-roles-read = See roles and what they permit.
core-permission-roles-update = Change roles and what they permit.
core-permission-roles-delete = Delete roles.
core-permission-permissions-create = Register permissions.
core-permission-permissions-read = See the catalogue of permissions.
core-permission-permissions-update = Reserved.
core-permission-permissions-delete = Remove permissions from the catalogue.
core-permission-organizations-create = Make organizations.
core-permission-organizations-read = See organizations.
core-permission-organizations-update = Change, move and suspend organizations.
core-permission-organizations-delete = Delete organizations.
core-permission-audit-logs-create = Record events of the application.
core-permission-audit-logs-read = Read the audit log.
core-permission-audit-logs-update = Set how long audit entries are kept.
core-permission-audit-logs-delete = Remove old audit entries, erase a person's fields.
core-permission-tenants-create = Reserved: tenants are made by registering.
core-permission-tenants-read = See the tenant.
core-permission-tenants-update = Change the tenant.
core-permission-sessions-create = Reserved: sessions are made by logging in.
core-permission-sessions-read = See the sessions of users.
core-permission-sessions-delete = End the sessions of users.
core-permission-invitations-create = Invite people.
core-permission-invitations-read = See invitations.
core-permission-invitations-update = Send invitations again.
core-permission-invitations-delete = Revoke invitations.
core-permission-api-keys-create = Make API keys for other users.
core-permission-api-keys-read = See the API keys of other users.
core-permission-api-keys-update = Change and rotate the API keys of other users.
core-permission-api-keys-delete = Revoke the API keys of other users.
core-permission-webhooks-create = Make webhooks.
core-permission-webhooks-read = See webhooks and their deliveries.
core-permission-webhooks-update = Change, test and replay webhooks, and rotate their secrets.
core-permission-webhooks-delete = Remove webhooks.
core-permission-access-reviews-create = Begin access reviews.
core-permission-access-reviews-read = See access reviews and their items.
core-permission-access-reviews-update = Decide in access reviews, complete and cancel them.
core-permission-domains-create = Add domains.
core-permission-domains-read = See domains.
core-permission-domains-update = Verify domains.
core-permission-domains-delete = Remove domains.
core-permission-identity-providers-create = Make identity providers, with all permissions.
core-permission-identity-providers-read = See identity providers.
core-permission-identity-providers-update = Rename identity providers; change them, with all permissions.
core-permission-identity-providers-delete = Remove identity providers, with all permissions.
core-permission-directories-create = Make directories.
core-permission-directories-read = See directories.
core-permission-directories-update = Change directories.
core-permission-directories-delete = Remove directories.
core-permission-impersonations-create = Act as other users, with all of their permissions oneself.
core-permission-eligibilities-create = Let users ask for roles, with all permissions of these oneself.
core-permission-eligibilities-read = See who may ask for which role.
core-permission-eligibilities-update = Change who may ask for roles for how long, and who decides.
core-permission-eligibilities-delete = Remove the right of users to ask for roles.
core-permission-access-requests-create = Reserved: users ask by eligibilities.
core-permission-access-requests-read = See the access requests of other users.
core-permission-access-requests-update = Decide about the access requests of other users, and cancel them.
core-permission-iam-legal-holds-create = Place legal holds.
core-permission-iam-legal-holds-read = See legal holds.
core-permission-iam-legal-holds-delete = Release legal holds.
core-detail-validation-error = The request is invalid.
core-detail-validation = A rule does not allow this.
core-detail-unauthorized = Authentication is required.
core-detail-second-factor-required = A second factor is required.
core-detail-insufficient-authentication = Authenticate again.
core-detail-federation-required = Log in by an identity provider.
core-detail-forbidden = You may not do this.
core-detail-account-locked = The account is temporarily locked.
core-detail-not-found = There is no such resource.
core-detail-conflict = The present state does not allow this.
core-detail-legal-hold = A legal hold keeps this data.
core-detail-gone = It was removed.
core-detail-request-timeout = The request body took too long to arrive.
core-detail-payload-too-large = The request body may have 256 KiB at most.
core-detail-method-not-allowed = This path does not allow this method; see the Allow header.
core-detail-rate-limited = Too many requests.
core-detail-unsupported-media-type = Send a body as application/json.
core-error-validation = Invalid input: { $fields }.
core-error-unavailable = The service is temporarily unavailable.
core-shortfall = you do not hold { $permission } there
core-shortfall-until = you hold { $permission } there until { $moment } only
core-domain-no-record = There is no record of type TXT with this name. New records may take an hour.
core-domain-other-value = The record has another value: { $values }.
core-domain-unknown = The record could not be looked up: { $reason }.
core-problem-nothing = There is nothing at this path.
core-problem-rate = Too many requests. Try again in { $seconds } seconds.
core-quota-users = users
core-quota-organizations = organizations
core-quota-roles = roles
core-quota-assignments = role assignments
core-quota-permissions = permissions
core-quota-invitations = pending invitations
core-quota-user-assignments = role assignments of one user
core-kind-user = User
core-kind-role-assignment = Role assignment
core-kind-role = Role
core-kind-permission = Permission
core-kind-tenant = Tenant
core-kind-session = Session
core-kind-audit-log = Audit log
core-kind-audit-entry = Audit entry
core-kind-invitation = Invitation
core-kind-factor = Factor
core-kind-api-key = Api key
core-kind-access-review = Access review
core-kind-access-review-item = Access review item
core-kind-identity = Identity
core-kind-identity-provider = Identity provider
core-kind-directory = Directory
core-kind-directory-group = Directory group
core-kind-eligibility = Eligibility
core-kind-access-request = Access request
core-kind-legal-hold = Legal hold
core-role-tenant-admin = May do everything in the tenant.
core-role-organization-admin = Administers an organization and everything below it.
core-role-member = Sees users and organizations.
core-role-auditor = Reads users, roles, organizations and the audit log, and changes nothing.
core-field-empty = must not be empty
core-field-characters = must be 1 to { $max } characters
core-field-at-most-characters = must be at most { $max } characters
core-field-at-most-controls = must be at most { $max } characters, none of them a control character
core-field-controls = must not contain control characters, nor any that ends a line or turns text around
core-field-nul = must not contain the character U+0000
core-field-visible = must have a visible character
core-field-blank = must not begin or end with a blank
core-field-email = must be a valid e-mail address
core-field-role-name = must be upper snake case, such as SHIFT_LEADER, at most { $max } characters
core-field-slug = must be lower-case letters and digits joined by single hyphens, at most { $max } characters
core-field-attribute-key = must begin with a letter, and have at most { $max } letters, digits, and characters of "_.-"
core-field-permission = must be <resource>:<action> in lower-case letters, digits and hyphens, at most { $max } characters
core-field-pattern = must be <resource>:<action>, <resource>:* or *
core-field-reserved = must not begin with { $prefix }, and its resource must not be one of { $resources }
core-field-registered = must be a registered permission
core-field-domain = must be a domain of two labels or more, such as example.com, at most { $max } characters
core-field-domain-of-tenant = must be a domain of the tenant
core-field-one-of = must be one of { $words }
core-field-uuid = must be a UUID
core-field-future = must be in the future
core-field-year = must be before the year 10000
core-field-year-or-none = must be before the year 10000; leave it out for no expiry
core-field-days-from-now = must be at most { $days } days from now
core-field-not-later = must not be later than the present expiry
core-field-history = must not be before { $moment }, where the history begins
core-field-before-eligibility = must be more than { $seconds } seconds before the eligibility expires
core-field-range = must be { $min } to { $max }
core-field-from-to = must be from { $min } to { $max }
core-field-from-to-or-null = must be from { $min } to { $max }, or null
core-field-zero-days = must be 0 to { $max } days
core-field-between = must be between { $min } and { $max }
core-field-at-least-1 = must be at least 1
core-field-items = must have at most { $max } items
core-field-some-items = must have 1 to { $max } items
core-field-words = must have at most { $max } words
core-field-definitions = must have at most { $max } definitions
core-field-keys = must have at most { $max } keys
core-field-json-bytes = must be at most { $max } bytes of JSON
core-field-text-characters = must have at most { $max } characters in each text
core-field-twice = is defined twice
core-field-same-item = is the same as an item before it
core-field-same-in-item = is the same as in an item before it
core-field-undefined = is not an attribute that the tenant has defined
core-field-not-own = is not an attribute that you can change yourself
core-field-users-only = is only for attributes of users
core-field-searchable = is only for the types STRING, NUMBER and BOOLEAN
core-field-current-password = is not the current password
core-field-common-password = must not be one of the most common passwords
core-field-own-password = must not consist of your e-mail address, your name or the name of the tenant
core-field-breached-password = must not be a password that is known from a data breach
core-field-authenticator = is not the present code of the authenticator app
core-field-six-digits = must be six digits
core-field-eight-digits = must be eight digits
core-field-code-invalid = is not valid: it is wrong, was used, was replaced by a newer one, or has expired
core-field-link-invalid = is not valid: the link was used, was replaced by a newer one, or has expired
core-field-key-permissions = is required for the key of another user
core-field-more-than-key = { $permission } is more than the key has
core-field-full-role = must not be a role with all permissions
core-field-service-account = must be a service account that is ACTIVE
core-field-person = must be a person: a service account does not log in
core-field-openid = must contain openid
core-field-https = must begin with https://
core-field-fragment = must not contain a fragment
core-field-url-user = must not contain a user or a password
core-field-private-address = must not lead to a private or special address
core-field-hook = must be an address such as https://example.com/hook
core-field-url = must be a URL
core-field-discovery = cannot be reached for its discovery document: { $why }
core-field-event-type = must be a resource type and an action, such as USER.CREATE or USER.*
core-field-cursor = must be a cursor from an earlier page
core-field-version = must be a version
core-field-visible-ascii = must be 1 to { $max } visible characters of ASCII
core-field-scope = must be 1 to 100 visible characters of ASCII without quotation marks and backslashes
core-field-uuid-form = must not have the form of an identifier
core-field-active-or-suspended = must be ACTIVE or SUSPENDED
core-field-hash-cheap = costs an attacker too little to guess: the user must set a new password
core-field-hash-expensive = costs more to verify than is allowed
core-field-hash-format = is no password hash in a supported format (Argon2, bcrypt, PBKDF2, scrypt)
core-field-with-a-value = must have true or false as the value
core-field-with-a-number = must have a number as the value
core-field-text = must be a text
core-field-number = must be a number
core-field-truth = must be true or false
core-field-texts = must be a list of texts
core-field-object = must be an object
core-field-value-characters = must have a value of at most { $max } characters
core-field-searchable-attribute = must name an attribute that the tenant has made searchable
core-field-levels = must be nested at most { $max } levels deep
core-field-password-bytes = must be 1 to { $max } bytes
core-password-upper = an upper-case letter
core-password-lower = a lower-case letter
core-password-digit = a digit
core-password-special = one of ! @ # $ % ^ & *
core-password-length = { $min } to { $max } characters
core-file-first-line = must begin with a line that names the columns, in UTF-8
core-file-utf8 = must be UTF-8
core-file-no-column = has no column { $column }
core-file-unknown-column = has an unknown column { $column }
core-file-column-twice = has the column { $column } twice
core-file-fields = must have as many fields as the first line
core-file-wrong-type = has a value of a wrong type
core-file-moment = must be a moment as ISO 8601 has it, such as 2030-12-31 23:59:59+00:00
core-field-passkey = does not answer your options, which work once for five minutes
core-field-of-service-account = a service account has no such field
# It comes last: each part is a text of its own, and other texts can begin like it.
core-field-password-parts = must have { $parts }

## Colours, filters, and how long ago something was.

colours = Colours
theme-system = System
theme-light = Light
theme-dark = Dark
more-filters = More filters
create-a-webhook = Create a webhook
ago-moments = just now
ago-minutes =
    { $count ->
        [one] 1 minute ago
       *[other] { $count } minutes ago
    }
ago-hours =
    { $count ->
        [one] 1 hour ago
       *[other] { $count } hours ago
    }
ago-days =
    { $count ->
        [one] 1 day ago
       *[other] { $count } days ago
    }
ahead-minutes =
    { $count ->
        [one] in 1 minute
       *[other] in { $count } minutes
    }
ahead-hours =
    { $count ->
        [one] in 1 hour
       *[other] in { $count } hours
    }
ahead-days =
    { $count ->
        [one] in 1 day
       *[other] in { $count } days
    }
