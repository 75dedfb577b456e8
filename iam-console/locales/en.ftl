### The texts of the console, in English.
###
### A text with variables and without a selector can also be for a script, which then fills in {name} in place of the
### variable.

## Texts that belong to no single area.

language-name = English
console = Console
menu = Menu
skip = Skip to the content
navigation = Main
signed-in-as = Signed in as
you-act = You act as another user
acts-as = as
acting-reads-only = Nothing can be changed.
stop-acting = Stop
sign-out = Sign out
sign-out-everywhere = Sign out everywhere
account = Account
compact-lines = Compact lines
comfortable-lines = Comfortable lines
people = People
access-of-people = Access
events = Events
# The time zone of all times on a page. A script names the one of the person.
utc-times = Times are in UTC.
in-your-zone = In your time zone: { $time }
local-times = Times are in your time zone ({ $zone }), except where a text says UTC.
save = Save
saved = The changes are saved.
cancel = Cancel
continue = Continue
optional = optional
send-link = Send the link
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
description = Description
external-id = External identifier
slug = Short name
slug-hint = In lower-case letters, digits and hyphens, such as north-branch
new-slug-hint = In lower-case letters, digits and hyphens. Leave it empty for one that is made from the name.
where = Where
whole-tenant = the whole tenant
as-of-hint = Empty: the present.
asked-moment-hint = A moment, not a whole day: for a day, ask about its noon. Empty: the present.
last-day = Last day (in UTC)
pick-user = Type a part of a name or of an e-mail address, and choose.
no-such-user = must be the e-mail address or the name of one user: choose one that is offered
user-by-id = must be the id of a user, because you may not see users
pick-organization = Type a part of the name, and choose.
organization-or-tenant = Type a part of the name, and choose. Leave it empty for the whole tenant.
no-such-organization = must be the name of one organization: choose one that is offered
organization-by-id = must be the id of an organization, because you may not see organizations
organization-required = must be chosen: this role is only held in an organization
organization-refused = must be empty: this role is only held in the whole tenant
role-missing = must not be empty
no-such-role = must be the name of a role: choose one that is offered
role-by-id = must be the id of a role, because you may not see roles
one-more-role = Add a role
search = Search
filters = Filters
filters-in-force = Filters in force
remove-filter = Remove the filter
remove-all-filters = Remove all filters
copy-link = Copy the link
link-not-copied = Not copied: your browser does not allow it. Copy the address of the page.
status = Status
every-status = Every status
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
acted-by = In it, another person acts as this user:
end-session = End
session-was-ended = The session has ended.
copy = Copy
copied = Copied
not-copied = Not copied: your browser does not allow it. Mark the text and copy it.
download = Download
done = Done
who-gains-and-loses = Who gains and who loses what
what-you-gain = What you gain
gains = Gains
loses = Loses
from-moment = from
show-effects = Show the effects
change-it = Change it
go-back = Go back
in-the-log = In the audit log
all-about-it = all entries about it
correlation = Correlation id

## Why a user may do something, who may do it, and who holds which roles.

access = Check access
why-may-user = Why may a user do something?
requests-of-user = Access requests of this user
who-may = Who may do something?
why-what = Choose a permission, and a user. The answer names the roles that give the permission.
who-what = Choose a permission. The answer names all users who hold it, and why.
user-or-you = User (empty for yourself)
permission-hint = Its name, such as users:read, or words of its meaning
only-elsewhere = Not in the whole tenant, but in these organizations
in-whole-tenant = in the whole tenant
only-whole-tenant = These users may do it in the whole tenant. Other users may do it in single organizations. The roles with this permission, each with all who hold it:
no-such-permission = must be a permission: choose one that is offered, such as users:read
several-permissions = means several permissions: choose one that is offered
at-moment = At (UTC)
ask = Ask
allowed = Yes
not-allowed = No
allowed-because = Each of these roles is enough by itself:
inherited = inherited from above
page-of-user = All roles of this user
because-of = Because of
nobody-may = No user holds this permission there.
who-holds = Who holds which roles?
who-holds-what = Choose an organization, or leave it empty for the whole tenant. The answer names all users who hold roles there.
held-here = Assigned here
held-above = Inherited
held-from = from
no-role-here = None
holds-more = Holds more roles than are shown here.
no-role-holders = No user holds a role there.
holders-what = Each role also counts in everything below its place. Users who are not active, and roles in organizations that are not active, are left out: they give nothing.

## Access requests: a user asks for a role for a time, and others decide.

access-requests = Access requests
access-request = Access request
access-requests-what = You ask for a role for a time. If others have to approve, they see what it lets you do and why you need it. The role ends by itself, and does not count for API keys, nor to decide about the access of others.
own-requests = Mine
requests-to-decide = To decide
requests-in-force = In force
all-requests = All
days-of-requests = When it was asked. Among the newest 1,000 requests.
older-requests = Older requests, in the audit log
no-own-requests = You have not asked for access.
no-requests-to-decide = No request waits for your decision.
no-requests-in-force = No access by a request is in force.
no-request-matches = No access request matches.
show-all-requests = Show all access requests
requested-by = Asked by
role-gone = a role that is gone
yourself = you
when = When
request-approved = Approved
request-in-force = In force
request-ended = Ended
request-denied = Refused
request-cancelled = Cancelled
request-lapsed = Lapsed
lapses = lapses
begins = begins
ends = ends
closed-on = closed
cancelled-as-outdated = Cancelled by the service: the eligibility or the role has changed since, or an approval does not count any more. A new request may be possible.
cancelled-as-not-eligible = Cancelled by the service: the person may not ask for this role there any more.
cancelled-as-role-held = Cancelled by the service: the person holds this role there already, by other means.
cancelled-as-user-suspended = Cancelled by the service: the person was suspended.
cancelled-as-user-deleted = Cancelled by the service: the account of the person was deleted.
ask-for-access = Ask for access
nothing-to-ask-for = There is no role for which you may ask. An administrator of your tenant can let you ask for one.
no-asking-as-another = You act as another user, and cannot ask for access in its name.
at-most = At most
approvals = Approvals
has-open-request = You have an open request for this role there.
open-request = Your open request
ask-again = Ask again
recorded-reason-hint = The audit log has it.
request-reason-hint = Those who decide and the audit log see it.
ticket = Ticket
ticket-hint = What another system calls the reason, such as OPS-42
begin-at = Begin at (UTC)
begin-at-hint = Empty: as soon as it is approved. At most 30 days from now.
begin-at-once-hint = Empty: at once. At most 30 days from now.
send-request = Send the request
request-sent = The request is sent.
approval-saved = Your approval is saved. One more approval is needed.
denial-saved = The request is refused.
request-is-cancelled = The request is cancelled.
access-has-ended = The access has ended, with everything that was given by it.
access-ended-already = The access has ended already.
request-changed-meanwhile = The request or its role has changed since you opened this page, so nothing is saved. Open the page again, and look at what the role gives now.
cancelled-meanwhile = This request is cancelled, so nothing is saved.
denied-meanwhile = This request is refused already, so nothing is saved.
approved-meanwhile = This request is approved already, so nothing is saved.
ended-meanwhile = The access by this request has ended, so nothing is saved.
lapsed-meanwhile = This request has lapsed, so nothing is saved.
for-time-in-line = for
for-time = For
who-decides = Who decides
who-may-update-requests = those who may decide about access requests there
asked = Asked
begins-at = Begins
not-before = Not before
began-at = Began
was-to-begin = Was to begin
ends-at = Ends
was-to-end = Was to end
ends-at-the-latest = Ends at the latest
lapses-at = Lapses
decisions = Decisions
no-decisions = No person has decided yet.
has-approved = Approved
has-denied = Refused
counts-no-more = does not count any more: the role has changed since
approve-again = Your approval does not count any more: the role has changed since. Look at what the role gives now, and decide again.
your-decision = Your decision
approve = Approve
deny = Refuse
deny-what = The request is closed, and the person who asks reads your reason.
deny-confirm = Refuse the request
must-say-why = must say why you refuse
decision-reason-hint = The person who asks and the audit log see it.
needed-to-deny = A refusal needs one. The person who asks and the audit log see it.
reason-of-end = Reason for the end
cancel-request = Cancel the request
cancel-request-what = Then it cannot be approved any more. A new request is possible.
cancel-request-confirm = Yes, cancel this request
end-access = End the access
end-access-what = The role is lost at once, with everything that was given by it. It does not come back.
end-access-confirm = Yes, end it now
about-this-request = what was done about this request
comes-to-nothing = This request cannot become effective any more.
cancelled-by-decision = It is cancelled as soon as a person decides about it.
obstacle-eligibility-ended = The eligibility by which the person asked has ended.
obstacle-other-decisions = The eligibility needs more approvals now, or those of others.
obstacle-role-not-offered = The role cannot be held there any more.
obstacle-not-eligible = The person may not ask for this role there any more.
obstacle-role-held = The person has the role there already, by other means.
close-request = Close it
# Why a request cannot become effective now. A sentence follows.
cannot-become-effective = It cannot become effective now:
effects-unknown = What the role would give cannot be shown at this moment. Open the page again before you decide.
access-for-a-time = Access for a time
you = You
by-access-request = by an access request
of-request-what = An access request has given this role, or a person who held a role by one. It ends with the request.

## Access reviews.

access-reviews = Access reviews
new-review = New review
begin-review = Begin the review
review-what = A review lists the role assignments and the eligibilities of this moment. People decide about each of them whether it stays. Nothing changes before the review is completed.
no-reviews = There is no such review.
show-all-reviews = Show all reviews
review-open = Open
review-completed = Completed
review-cancelled = Cancelled
all-reviews = All
due = Due
late = late
due-day = Due day
due-hint = The review is due at the end of this day, in UTC. It stays open afterwards.
review-name-hint = For example: Sales, spring
progress = Progress
decided = decided
whole-tenant-option = The whole tenant
where-hint = In an organization, the review is about the assignments in it and below it, and not about tenant-wide ones.
search-organizations = Search organizations by name
more-organizations = There are more. Type a part of the name to find another one.
organizations-hidden = You may not see the organizations.
which-roles = Which roles
which-roles-hint = Without a choice, the review is about all roles.
all-roles = all roles
choice-hidden = You may not see the roles, so the review is about all of them.
must-decide = must be to keep or to revoke
about-users = Users
begun = Begun
closed = Closed
overdue = The review is late.
review-begun = The review has begun. Decide about each item.
review-decided = The decision is saved.
review-is-completed = The review is completed. Each item shows what became of it.
review-is-cancelled = The review is cancelled. Nothing was revoked.
items = Items
all-items = All
undecided = Undecided
keep = Keep
decision = Decision
reason = Reason
granted = Granted
# What the item of an eligibility says before the role.
may-ask-for = may ask for
eligible-since = Eligible since
by = by
by-the-service = by the service itself
own-item = This is your own role, or one for which you may ask. Another person must decide about it.
no-items = No role assignment and no eligibility is in the scope of this review. Cancel it, and begin one with another scope.
no-item-matches = No item matches.
show-all-items = Show all items
as-csv = Download as CSV
decision-saved = Saved:
complete = Complete the review
complete-confirm = Yes, complete it
cancel-review = Cancel the review
cancel-review-what = Nothing is revoked. The review and its decisions stay, and cannot be changed any more.
cancel-confirm = Yes, cancel it
decisions-hidden = You may see this review, and may not decide in it.
outcome-kept = It stays.
outcome-revoked = It is revoked.
outcome-gone = It had ended before.

## The own account: its password, its address, its second factors and its linked accounts.

my-account = My account
change-password = Change the password
change-password-what = Your other sessions end.
current-password = Current password
new-password = New password
password-changed = Your password is changed. Your other sessions have ended.
change-email = Change the e-mail address
change-email-what = We send a link to the new address. Your address changes when you open the link.
new-email = New e-mail address
email-link-sent = A link is on its way to the new address. Open it to change your address.
send-verification = Send a link to verify the address
verification-sent = A link is on its way to your address.
end-other-sessions = End all other sessions
no-other-sessions = You are not signed in anywhere else.
other-sessions-ended = Your other sessions have ended.
second-factors = Second factors
factor-required = Your tenant requires a second factor. Set one up to use the other pages. Then sign in again if a page asks for it.
factor-unused = Your tenant requires a second factor, and you have not used yours in this session. Use it to go on.
use-factor = Use your second factor
factor-required-soon = Your tenant requires a second factor. Set one up, or sign in again with the one that you have, before
you-have-no-factors = Your password alone protects your account. Add an authenticator app or a passkey.
authenticator = Authenticator app
passkey = Passkey
rename = Rename
rename-factor = Rename the factor
add-authenticator = Add an authenticator app
authenticator-what = An app on your phone shows a new code every 30 seconds. After your password, you type the code.
authenticator-name-hint = Such as the name of the phone
# The label of the first code of an app; an error continues it.
app-code = Code
scan = Scan this code with your app:
qr-code = QR code for your authenticator app. The secret is also below, as text.
or-type = Or type this secret into your app:
open-app = Open the app on this device
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
recovery-codes-left = Codes that are left
recovery-codes-once = They are shown only now: copy them before you leave this page. Keep them in a safe place. Each works once, in place of a second factor.
new-codes = Get new codes
new-codes-what = With new codes, the old ones stop working.
linked-accounts = Linked accounts
linked-what = With an account at one of these providers, you sign in without a password of this console.
nothing-linked = No account is linked to yours.
no-providers = Your tenant has no provider of accounts.
linked-since = Linked
account-linked = The account is linked. From now on, you can sign in with it.
link-removed = The account is no longer linked to yours.
return-late = It took too long to come back from the provider. Begin again.
export-own = Download my data
export-own-what = A page with everything that is held about you, and what the log has of you. The download is recorded.

## Role assignments.

assignment = Assignment
assignments = Assignments
assign = Assign
assign-role = Assign a role
every-role = Every role
only-tenant = {" "}(whole tenant)
only-organization = {" "}(in an organization)
roles-unseen = You may not see roles: type the id of one.
choose = Choose …
held-at = Held at
as-of = Held at (UTC)
until-moment = Until (UTC)
until-hint = Empty: no end.
until-column = Until
no-end = No end
no-assignment-matches = No assignment matches.
show-all-assignments = Show all assignments
assigned-by = Assigned by
the-service = the service
not-in-force = not active, so the role gives nothing
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
attribute-value = Value of the attribute
attribute-value-hint = The whole value, letter by letter; true or false for a choice
not-set = not set
must-be-any-number = must be a number
user-attributes = Attributes of users
user-attributes-hint = A list in JSON. Each definition has a key and a type (STRING, NUMBER, BOOLEAN, STRINGS or OBJECT), and may have searchable, personReads, personWrites and inToken.
organization-attributes = Attributes of organizations
organization-attributes-hint = A list in JSON. Each definition has a key and a type, and may have searchable.
unregistered-attributes = Attributes without a definition
has-no-field = is not an attribute that is defined
must-be-definitions = must be a list of definitions in JSON

## The audit log: its pages, the texts of its script, and what it records, in sentences.

audit-log = Audit log
audit-entry = Entry of the log
entry-id = Id of the entry
resource = About
every-resource = Everything
action = Action
every-action = Every action
from-day = From (day in UTC)
until-day = Until (day in UTC)
resource-id = Id of the resource
about-which = About which one
about-which-hint = Its id, or the e-mail address of a user
acting-user = Acting user
must-be-correlation = must be a correlation id
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
check = Check
check-log = Check the log
follow = Follow live
service-acted = The service
anonymous-acted = A person who was not signed in

## Directories, their groups, and the roles that groups give.

directories = Directories
directories-what = By a directory, the identity provider of your company, such as Entra or Okta, writes its people and groups into this tenant, by SCIM 2.0: it makes users, changes them, suspends those who leave, and adds and removes the members of groups. It may do what its service account may do, and no more.
no-directories = There is no directory yet.
new-directory = New directory
create-directory = Create the directory
directory-created = The directory is created. Enter the address below and the API key at the provider.
directory-without-key = The directory is created, but no API key could be made. Make one on the page of the service account.
directory-removed = The directory is removed.
directory-changed-meanwhile = The directory has changed since you opened this page, so nothing is changed. Open the page again first.
about-this-directory = what was done to this directory
by-its-account = what it did
directory-settings = Settings of the directory
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
account-that-exists = Service account that exists
pick-account = Type a part of the name, and choose. It is active and has no other directory.
no-such-account = must be the name of one active service account: choose one that is offered
account-by-id = must be the id of a service account, because you may not see users
role-of-account = Role of the service account
role-of-account-hint = For a new key. The account gets this role in the whole tenant, and the key gets its permissions: users:* for users, and role-assignments:create and role-assignments:delete for groups that give roles. A group gives only roles whose permissions the account holds.
role-in-whole-tenant = must be a role that can be held in the whole tenant
role-without-permissions = must be a role that has permissions
last-day-of-key = Last day of the key (in UTC)
key-must-be-later = must not be in the past
key-must-be-earlier = must be at most 365 days from now
key-of-directory = API key of the directory
key-of-directory-once = Copy the key now, and enter it at the provider. It is not shown again. The next page has the address.
enter-at-provider = What to enter at the provider
scim-url = Address (SCIM 2.0)
keys-of-account = The provider sends an API key of the service account with each request. Its keys are on its page:
entra = Microsoft Entra ID
entra-what = Make an application that is not in the gallery, and enter these under Provisioning. Let objectId become externalId, in place of mailNickname. Assign one person and one group first, and look here at what arrived.
okta = Okta
okta-what = Set Provisioning to SCIM in the application, and enter these under Integration. Choose to push new users, profile updates and groups.
what-arrived = What arrived last
nothing-arrived = No request has arrived yet. After you have entered the address and the key, test the connection at the provider.
no-refusals = None of its requests was refused.
refusals-what = The newest 20 requests that were refused, newest first.
request = Request
why = Why
time = Time
users-of-directory = Its users
keep-users = They stay as they are
suspend-users = Those who are active are suspended
remove-directory-what = The users stay, and belong to no directory. The roles that its groups gave end. The service account stays, with its keys. You first see who loses what.
remove-directory = Remove the directory
removal-keeps = The users of the directory stay as they are, except for the roles that its groups gave.
removal-suspends = The users of the directory who are active are suspended, and can no longer sign in.
groups = Groups
group = Group
groups-what = The directory makes groups, and adds and removes their members. A group gives nothing, whatever its name is, until you give it roles.
no-groups = The directory has sent no group yet.
no-group-matches = No group matches.
show-all-groups = Show all groups
search-groups-hint = A part of the name
group-members = Members
group-grants = Roles of its members
no-grants = none
group-gives-nothing = The group gives no role.
group-grants-hint = Each member holds these roles as long as the directory leaves it in the group, and new members get them. An empty row counts for nothing. You see first who gains and who loses what.
group-grants-note = Users whom the directory adds to the group later get these roles, too.
group-changed-meanwhile = The group has changed since you opened this page, so nothing is changed. Open the page again first.
about-this-group = what was done to this group
by-a-group = by a group of a directory
of-group-what = A group of a directory gives this role. It ends when the directory removes the user from the group, or when the roles of the group change.
given = Given

## Domains.

domains = Domains
domain = Domain
domains-what = A domain proves which e-mail addresses are those of your tenant. Identity providers speak for the people in it.
no-domains = There is no domain yet.
new-domain = New domain
add-domain = Add the domain
domain-hint = Such as example.com. A subdomain is a domain of its own.
domain-verified = Verified
verified-at = Verified at
checked-at = Checked at
domain-added = The domain is added. Publish the record below, and check it.
domain-is-verified = The record was found. The domain is verified.
domain-removed = The domain is removed.
about-this-domain = what was done to this domain
record = Record to publish
record-what = Publish this record in the DNS of the domain, and leave it there. It is looked for again each day.
record-type = Type
record-value = Value
record-not-needed = The operator has verified this domain. It needs no record.
record-absent = The record is absent. After seven days without it, the domain is pending again. Absent since
check-record = Check the record now
remove-domain-what = Another tenant can verify it at once. A domain that an identity provider names cannot be removed.
remove-domain-confirm = Yes, remove this domain

## Eligibilities: who may ask for which role.

eligibilities = Eligibilities
eligibility = Eligibility
eligibilities-what = An eligibility lets a user, or the holders of a role, ask for a role for a time. It gives nothing by itself. You need what the role permits yourself.
new-eligibility = New eligibility
create-eligibility = Create the eligibility
create-first-eligibility = Create the first eligibility
no-eligibilities = There is no eligibility yet.
eligibility-created = The eligibility is created.
eligibility-removed = The eligibility is removed. What was asked for by it and has begun goes on.
eligibility-changed-meanwhile = The eligibility has changed since you opened this page, so nothing is changed. Open the page again first.
who-may-ask = Who may ask
who-may-ask-hint = Choose one of the two. Of a role, those holders may ask who hold it in that place or above it. Example: by an eligibility for the whole tenant, a user who holds the role in one organization only cannot ask.
held-role = Holders of the role
eligible-missing = must be chosen, or else a role whose holders may ask
can-ask-now = Can ask now
can-decide-now = Can decide now
deciders-verify = Messages to persons who have not verified their e-mail address can come late, up to an hour.
eligibility-has-ended = This eligibility has ended: no user can ask by it.
user-cannot-ask = The user cannot ask now, because its account is not active.
too-few-decide = Too few users can decide now, so no request can get its approvals. No user decides about its own request.
eligible-twice = must be empty if a user is chosen
asked-role = Role to ask for
longest = For how long at most
approver-role = Role of those who decide
approver-role-hint = Its holders in that place or above it decide. Empty: those who may decide about access requests there.
expiry-hint = Empty: no end. Access that begins before ends then at the latest. If you change this later, access that has begun keeps its end.
change-eligibility-what = Requests that wait and ask for more than is allowed then are cancelled as soon as a person decides about them, or when they would begin. Access that has begun goes on until its own end.
remove-eligibility-what = No user can ask by it any more. Requests that wait are cancelled as soon as a person decides about them, or when they would begin. Access that has begun goes on until its own end.
remove-eligibility-confirm = Yes, remove this eligibility
about-this-eligibility = what was done to this eligibility
requests-for-role-there = requests for this role there

## Find: its texts, and the words by which pages of the console are found.

find = Find
find-what = What are you looking for?
find-hint = A part of the name of a page, a user, a role, an organization or a permission, or an id, also of an entry of the log
close-find = Close
results = Results
pages-of-console = Pages of the console

## Identity providers.

identity-providers = Identity providers
identity-provider = Identity provider
identity-providers-what = By an identity provider, such as Entra, Okta, Google or Keycloak, people sign in with the accounts that they have.
no-identity-providers = There is no identity provider yet.
new-identity-provider = New identity provider
create-identity-provider = Create the identity provider
identity-provider-created = The identity provider is created. Register the addresses below at the provider.
identity-provider-removed = The identity provider is removed.
identity-provider-changed-meanwhile = The identity provider has changed since you opened this page, so nothing is changed. Open the page again first.
about-this-identity-provider = what was done to this identity provider
identity-provider-read-only = You may see this identity provider, and may not change it.
provider-settings = Settings of the provider
issuer = Issuer
issuer-hint = Such as https://login.example.com, to the letter as the provider names itself.
client-id = Client id
client-id-hint = How the provider names this service
client-secret = Client secret
client-secret-hint = Leave it empty if the provider gives none. It is never shown again.
client-secret-kept = It is never shown. Leave it empty to keep the secret that is stored.
remove-secret = Remove the secret
secret-and-removed = must be empty if the secret is to be removed
scopes = Scopes
scopes-hint = What the provider is asked for, with spaces between them. One of them is openid.
provider-domains-hint = The provider speaks for the people in these domains. A pending domain has no effect.
provider-needs-domain = The tenant has no domain.
domains-hidden = You may not see the domains.
trusts-email = An e-mail address counts as verified, although the provider does not say so
subject-claim = What names a person
provisioning = Accounts of people who sign in for the first time
provided-roles = Roles of new users
provided-roles-hint = The users that the provider makes get these roles. An empty row counts for nothing. No role may have all permissions.
factor-is-trusted = A second factor at the provider counts here
provider-enabled = People sign in by it
addresses = Addresses of this service
addresses-what = Register these addresses at the provider.
callback-url = Callback
logout-url = Back-channel logout
federation-off = This installation reaches no identity providers. The operator can turn federation on.
remove-provider-what = Linked persons cannot sign in by it any more, and their links are removed. Sessions go on.
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
import-format = Columns
format-csv = those above
format-aspnet = of the table AspNetUsers of ASP.NET Identity
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
invited-name = A proposal, which the person can change
invited-until = Empty: the role has no end
send-invitation = Send the invitation
accepted = Accepted
revoked = Revoked
expired = Expired
expires = Expires
no-invitation-matches = There is no invitation here.
show-all-invitations = Show all invitations
invited-by = who invited
invited-without-roles = The person gets no role, and so may do nothing at first.
invite-another = Invite again
resend = Send a new link
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
create-key = Create the key
key-what = A program that has the key may do what the user may do, within these limits.
key-name-hint = Such as the name of the program
key-permissions = Only these permissions
key-permissions-hint = Such as users:read or roles:*, with spaces between them. Empty: all permissions of the user
key-permissions-of-other-hint = Such as users:read or roles:*, with spaces between them. You must hold them yourself
key-organization-hint = Type a part of the name, and choose. The key works only in it and below it. Empty: everywhere
key-expiry-hint = At most 365 days from now. Empty: 90 days from now
key-once = Copy the key now. It is not shown again. A program sends it as a bearer token.
revoke-key = Revoke this key
revoke-key-what = A program that uses this key is refused from now on.
key-revoked = The key is revoked.

## Organizations.

organizations = Organizations
organization = Organization
new-organization = New organization
create-organization = Create the organization
create-below = Create an organization below it
search-organizations-hint = A part of the name or of the short name
not-deleted = Not deleted
no-organizations = There are no organizations. They are parts of the tenant in which roles can be held, such as branches or teams.
no-organization-matches = No organization matches.
show-the-tree = Show the tree
tree-hint = Press a line with a triangle to show or hide the organizations below it. Details leads to the page of an organization. To move an organization, drag it onto another one, or use Move on its page.
what-is-below = What is below
nothing-below = No organization is below it.
more = More
drop-here = Drop an organization here to move it to the top.
below = Below it
at-the-top = At the top
parent = Below
parent-or-top = Type a part of the name, and choose. Leave it empty for the top.
members = Roles held in it
members-hidden = You may not see who holds a role here.
no-members = No user holds a role in this organization itself. Roles from above apply here too.
all-members = All roles held in it
log-hidden = You may not see the audit log.
no-entries = The log has no entries about it.
about-this-organization = What was changed in this organization
organization-created = The organization is created.
organization-moved = The organization is moved.
organization-active = The organization is active again.
organization-suspended = The organization is suspended.
organization-deleted = The organization is deleted.
suspend-organization-what = Roles that are held in it or below it then give nothing until you reactivate it.
reactivate-organization-what = Roles that are held in it and below it are then in force again.
restore-organization-what = The organization comes back without the roles that were held in it.
delete-organization-what = Roles that are held in it end, and another organization can get its short name. Organizations below it must be moved or deleted first. You can restore it later.
move = Move
move-what = It moves with everything below it. You see first who gains and who loses what.
move-note = It moves with everything below it.
new-place = New place
new-parent = Organization above
below-another = Below another organization
map = Map
map-of-all = Map of the organizations
map-from-here = Map from here
map-hint = Each place leads to its page. The mark at its right side leads to a map that begins there.
map-keys = Press + or - inside the map to zoom.
show-as-list = Show as a list
zoom-in = Zoom in
zoom-out = Zoom out

## The overview: what it shows of the tenant, of its sign-ins and of its log.

overview = Overview
welcome = Welcome
your-tenant = Your tenant
your-roles = Your roles
your-session = Your session
from = From
no-roles-yet = You have no roles. You can ask for one:
no-roles = You have no roles. Ask an administrator of your tenant for one.
needs-a-hand = What needs a hand
nothing-needs-a-hand = Nothing needs a hand now. What waits for a decision, ends soon or fails will be listed here.
is-switched-off = switched off
have-no-factor-what = Your tenant requires one. A person without one can do nothing else after the days of grace.
linked-holders-what = These users hold all permissions in the whole tenant, and can sign in by an identity provider. Who controls it can act as them. Each of them can remove the link on "My account".
linked-holders-cut = Only 100 holders of all permissions were looked at. There are more.
charts = Charts
show-charts = Show the charts of sign-ins and people
no-charts = The charts need the right to read the audit log, or all users.
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
how-many = How many
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
new-permission-what = A permission of your application. Roles give it to users, and the application asks whether a user has it.
permission-name-hint = A resource and an action in lower-case letters, digits and hyphens, such as orders:refund
permission-description-hint = What it lets a user do, such as Give money back.
register-permission = Register the permission
permission-created = The permission is registered. Roles with a wildcard of its resource have it at once. Edit other roles to give it to them.
permission-deleted = The permission is deleted.
no-permission-matches = No permission matches.
show-every-permission = Show all permissions
built-in-permission-what = Built in: it cannot be deleted
own-permission-what = A permission of your application
roles-with-it = Roles with this permission
roles-with-it-hidden = You may not see roles.
no-role-names-it = No role names this permission.
roles-by-wildcard = By a wildcard
give-to-role = Give it to a role
give-to-new-role = A new role with it
delete-permission-what = Only a permission that no role names can be deleted.
delete-permission-note = No role can get this permission any more. Roles with a wildcard of its resource still permit it.

## Roles, and the permissions that they have.

roles = Roles
role = Role
new-role = New role
edit = Edit
edit-role = Edit the role
create-role = Create the role
role-created = The role is created. No user holds it yet.
role-deleted = The role is deleted.
role-name-hint = A name such as Shift lead is written SHIFT_LEAD.
search-roles-hint = A part of the name or of the description
no-role-matches = No role matches.
show-all-roles = Show all roles
held-where = Can be held
scope-tenant = in the whole tenant only
scope-organization = in an organization only
scope-any = in the whole tenant or in an organization
kind = Kind
built-in-role = Built in
own-role = Own
built-in-role-what = Built in: it cannot be changed, only copied
role-may = What this role lets its holders do
role-may-nothing = No permissions.
role-holders = Who holds it
holders-hidden = You may not see who holds this role.
no-holders = No user holds this role.
no-holders-seen = No user whom you may see holds this role.
all-holders = All who hold it
let-ask-for-role = Let people ask for this role
show-eligibilities = Show the eligibilities
decides-about-requests = Decides about requests for
asked-for-by = Can be asked for by
assign-this-role = Assign this role
delete-role-what = Only a role that no user holds can be deleted.
delete-role-confirm = Yes, delete this role
permission = Permission
permissions = Permissions
permissions-hint = You can give only what you may do yourself.
filter-permissions = Show only permissions with
everything = Everything
may-everything = Do everything in the tenant, also what is added later.
compare-roles = Compare roles
compare-with = Compare with
compare = Compare
side-by-side = Side by side
differences = Differences of two roles
difference = Difference
no-difference = None
matrix-what = Which role has which permission
has-it = Yes
has-it-by = Yes, by
has-it-not = No
must-be-roles = must be the ids of at most 8 roles, with commas between them
matrix-is-full = cannot be added: at most 8 roles are shown side by side
matrix-is-full-what = At most 8 roles are shown. Remove one to add another one.
role-of-link-is-gone = A role of this link does not exist any more.
differences-what = Choose two roles. The answer shows what only one of them permits.
first-role = First role
second-role = Second role
show-only-differences = Show only the differences
show-all-permissions = Show all permissions of both roles

## Actions on many users or role assignments at once.

select = Select
select-all = Select all on this page
show-100 = Show 100 on a page
with-selected = With the selected ones
none-selected = Nothing is selected.
count-selected = { $count } selected
preview-follows = You first see what would happen. At most 100 can be selected.
assign-many = Assign a role…
suspend-many = Suspend…
reactivate-many = Reactivate…
end-sessions-many = End sessions…
revoke-many = Revoke…
change-end-many = Change the end…
nothing-selected = must not be empty: select at least one line of the list
not-selectable = must be lines of the list
steps-taken = What happens to whom
steps-left-out = Left out
nothing-to-do = There is nothing to do.
decided-again = Each one is decided again when it is done. If one is refused, the others are done nevertheless.
preview-is-old = Nothing was begun, because this preview is too old. Look at the present one, and confirm it.
preview-is-of-another = Nothing was begun, because you have seen the preview of something else. Look at the present one, and confirm it.
too-many-runs = Nothing was begun, because too many bulk actions go on. Confirm it when one of them has ended.
not-yourself = This is your own account.
suspended-already = The user is suspended already.
active-already = The user is active already.
ends-then-already = The role has this end already.
runs = Bulk actions
close-hint = Close this hint
no-runs = You have begun no bulk action within the last hour, or this server does not know it any more.
run-goes-on = You can leave this page: it goes on, and each page leads back here.
run-progress = Progress
reload = Load this page again
steps-done = Done
steps-refused = Not done
steps-untried = Not tried
run-stopped = It has stopped: your session has ended, or could not be checked.
run-broke-off = It has broken off by an error of the server.
run-entries = The entries of this action in the audit log
try-the-rest = Try the rest again…
run-unknown = This server does not know the bulk action
run-unknown-what = Its progress is kept for an hour, for the person who began it, and not after a restart of the server. What it has done stands in the audit log. You can begin it again: what was done before is then left out, or refused.

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
code = Code of your authenticator app
wrong-code = The code is wrong, or was used before.
recovery-code = Recovery code
use-recovery-code = Use a recovery code instead
code-is-none = A code of your app has six digits.
code-missing = Type the code that your app shows now.
recovery-code-missing = Type a recovery code.
password-missing = Type your password.
wrong-password = The password is not correct.
forgot-password = I have forgotten my password
new-password-by-mail = Choose a new password
forgot-what = If a user has this address, a message with a link to choose a new password is sent to it.
forgot-sent = If a user has this address, the message is on its way. The link in it works for 30 minutes.
sign-in-by-email = Sign in by e-mail
email-login-sent = If a user with this address may sign in by e-mail, a message is on its way. Type the code in it here, or open its link. Both work for 10 minutes.
# The label of the code; an error continues it.
email-code = Code of the message
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
provider-denied = You were not let in at the provider. Try again, or choose another way.
provider-failed = The answer of the provider is not accepted. Try again. If that does not help, ask your administrator.
provider-not-linked = No user is linked to your account at the provider. Choose another way, or ask your administrator.
provider-unavailable = The provider does not answer. Try again later, or choose another way.
register = Register a tenant
register-hint = A tenant has its own users, roles and log, which no other tenant can see. You become its first administrator.
new-tenant-hint = Your company or organization. We call it a tenant.
not-first = There is a tenant already. Sign in.
confirm-identity = Confirm that it is you
confirm-identity-why = This action needs a recent proof of your identity. After it, the action goes on by itself.
confirm-by-own-factor = This action needs a recent proof by your second factor. After it, the action goes on by itself.
another-way = Another way
confirm-by-factor = Your tenant requires a second factor, and you have not used yours in this session. After it, the action goes on by itself.
confirm-at-what = After that, you see here what you sent, and send it again.
began-otherwise = This session did not begin by that provider. Choose another way.
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
tenant-name = Name of the tenant
tenant-slug-hint = Lower-case letters, digits and hyphens. People with accounts in several tenants type it.
tenant-hidden = You may not see the settings of the tenant.
about-this-tenant = what was changed here
tenant-changed-meanwhile = The tenant has changed since you opened this page, so nothing is saved. Open the page again before you save.
password-policy = Password policy
password-policy-hint = For new passwords. Mixed: with a digit, a special character, and letters in upper and lower case. Long: NIST SP 800-63B-4; 8 characters where second factors are required. Simple: OWASP ASVS 5.0. Long and Simple refuse common passwords, and those that consist of the name or the e-mail address of the person.
second-factors-hint = If they are required, each person without one must set one up within the days below. After these days, the person can only set one up.
grace-days = Days to set one up
grace-days-hint = 0 to 90, counted from the day on which second factors are required, or on which the user is created if it is later.
password-login = Sign-in by password
password-login-hint = Who has all permissions in the whole tenant may always use the password, so that a failing identity provider locks no person out.
email-login = Sign-in by e-mail
email-login-hint = A person with a verified address may sign in by a link or a code in a message. To change its password, its address or its second factors, it must prove who it is again.
authzen-identifiers = Names for gateways (AuthZEN)
authzen-identifiers-hint = How a gateway names persons and organizations when it asks for a decision. Any other name is denied.
retention = Retention of the audit log
retention-hidden = You may not see how long the audit log is kept.
retention-days = Days
retention-hint = Empty means forever. A longer time is in force at once, a shorter one after 30 days.
save-retention = Save the retention
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
create-user = Create the user
search-users-hint = A part of a name or of an e-mail address
no-user-matches = No user matches.
show-all-users = Show all users
service-account = Service account
may-change-only-in = You may change only users whose home, and all of whose roles, are in one of these organizations or below:
on-this-page = On this page
what-user-may = What this user may do
in-the-whole-tenant = In the whole tenant
held-everywhere = These roles apply in every organization, too.
place-not-active = This organization or one above it is not active, so the roles give nothing here.
permissions-behind = Permissions
why-held = Why?
time-line = Time line
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
act-reason-hint = The user and the log see it.
for-how-long = For how long
act-read-only = Only look: nothing can be changed
suspend-what = The user can then no longer sign in until you reactivate the account. All sessions of the user end.
suspend-confirm = Suspend this user
send-reset = Send a link for a new password
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
home = Home
home-or-tenant = The organization whose administrators may manage this account, if all roles of the account are there, too. Type a part of the name, and choose. Leave it empty for the whole tenant.
external-id-hint = How another system, such as a directory, names this person. Leave it empty if none does.
about-this-user = what was done to this user
by-this-user = what this user did
reset-factors = Remove all second factors
reset-factors-what = For a person who has lost the phone or the passkey, and the recovery codes.
reset-factors-after = The sessions of the user end. Then the person signs in with the password alone, until a new factor is set up.
reset-factors-confirm = Yes, remove the second factors
factors-reset = The user has no second factors now.
export-user = Download what is held about this user
export-user-what = A page with everything that is held about the user, and what the log has of it. The download is recorded.

## Webhooks, and what they have sent.

webhooks = Webhooks
webhook = Webhook
webhooks-what = A webhook sends events of this tenant to another system, as soon as they are in the audit log.
no-webhooks = There is no webhook yet.
new-webhook = New webhook
create-webhook = Create the webhook
webhook-url = Address
webhook-url-hint = Where the events go, such as https://example.com/events. It must contain no secret: the audit log shows it.
event-types = Types of events
event-types-hint = One on each line, such as USER.CREATE. USER.* means every action on users.
event-catalogue = All types of events
needs-audit-log = A webhook sends entries of the audit log. You may not read it, so you can change neither the address nor the types.
event-format = How it writes events
webhook-enabled = It sends events
webhook-deleted = The webhook is deleted.
webhook-secret = Secret of the webhook
webhook-changed-meanwhile = The webhook has changed since you opened this page, so nothing is changed. Open the page again first.
what-it-sends = What it sends
about-this-webhook = what was done to this webhook
secret = Secret
secret-once = The receiver verifies requests with this secret. Copy it now: it is not shown again.
rotate-secret = Make a new secret
rotate-what = Requests are then signed with the old secret too, for 24 hours.
test = Test
test-what = Sends an event of the type WEBHOOK.TEST at once, and shows the answer here. A test is neither in the audit log nor in the deliveries.
send-test = Send a test
delete-webhook-what = It sends no more events, and its deliveries are removed.
delete-webhook-confirm = Yes, delete this webhook
deliveries = Deliveries
deliveries-what = The newest 200, by their last attempt. Those that have ended are removed after seven days.
no-deliveries = No event was sent yet. The next event of these types is. Tests are not listed here.
delivered = Delivered
delivery-pending = Waiting for the next attempt
delivery-paused = Waiting until the webhook is on
delivery-failed = Failed
receiver-answer = Answer
no-answer = none
attempt = Attempts
next-attempt = the next one at
sequence = Number of the event
send-again-from-here = Send again, with all later events
send-again-events = Send old events again
from-sequence = Number of the event to begin with
from-sequence-hint = This event and all later ones of these types are sent again.
events-are-sent-again = The events are sent again. Open this page later to see the answers.

## Texts with arguments: forms and common parts.

password-hint-seed = At least { $length } characters, with an upper-case and a lower-case letter, a digit and one of ! @ # $ % ^ & *
password-hint-nist = At least { $length } characters of any kind, such as several words
password-hint-asvs = At least { $length } characters of any kind; 15 or more are better
not-accepted = is not accepted: { $reason }
browser-on = { $browser } on { $system }
users-affected =
    { $count ->
        [0] No user gains or loses a right.
        [one] 1 user gains or loses rights:
       *[other] { $count } users gain or lose rights:
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
deciders-are-told = Those who can approve get a message about your request.
tell-deciders = No messages are sent here: tell those who can approve.
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
ask-for = Ask for { $role } in { $place } for { $time }
approvals-needed-none = no approval
approvals-needed-one = 1 other person
approvals-needed-two = 2 other people
cancelled-by = { $user } has cancelled this request, so nothing is saved.
denied-by = { $user } has refused this request already, so nothing is saved.
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
assign-role-to = Assign { $role } to { $user } in { $organization } and below
assign-role-in-tenant = Assign { $role } to { $user } in the whole tenant
change-end-of = Change the end of { $role } of { $user }
attribute-hint-number = A number
attribute-hint-strings = One in each line
has-a-field = must not contain { $key }, which has a field of its own
# What is wrong follows.
definition = Definition { $number }:
unregistered-allowed = Allowed, with any value
unregistered-refused = Refused. Those that exist stay until they are removed

## Directories, with arguments.

account-is-made = The service account is made, and chosen below. The directory is not created yet. { $why }
the-address-above = the address above
key-of-the-account = an API key of the service account
key-as-bearer-token = HTTP Header, with an API key of the service account as the bearer token
remove-directory-named = Remove the directory { $name }
groups-found =
    { $count ->
        [one] 1 group
       *[other] { $count } groups
    }
change-grants-of = Change the roles of the group { $group }
role-in = { $role } · { $place }
account-lacks = The service account of the directory does not hold what this role gives: it lacks { $permission } there.
by-group = by group { $group } of { $directory }

## Eligibilities, with arguments.

no-holder-in-tenant = No user holds { $role } in { $place }, so no user can ask now. Roles in organizations do not count.
no-holder-in-organization = No user holds { $role } in { $place } or above it, so no user can ask now. Roles in organizations below it do not count.
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
approvals-choice-none = None: the access begins at once
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
words-users-new = add create person people account
words-users-import = csv upload file people
words-invitations = invited people pending
words-invitations-new = user mail add
words-roles = groups permissions rights
words-roles-new = create add permissions
words-assignments = who holds roles grants members
words-assignments-new = give grant user
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
provisioning-off = Nothing happens: people link their own accounts.
provisioning-link = The user with the verified address of the person is linked.
provisioning-create = The user with the verified address of the person is linked, or a new user is made.

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
move-to-top = Move { $name } to the top
suspend-named = Suspend { $name }
reactivate-named = Reactivate { $name }
delete-named = Delete { $name }

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
assignments-ending = Role assignments that end within 7 days: { $next }; within 30 days: { $soon }
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
may-everything-with = Do everything with { $resource }, also what is added later.
change-role = Change the role { $name }
roles-found =
    { $count ->
        [one] 1 role
       *[other] { $count } roles
    }

## Actions on many, with arguments.

too-many-selected = must be at most { $max } lines
run-assign =
    { $count ->
        [one] Make 1 assignment
       *[other] Make { $count } assignments
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
run-suspend-what = Each user can no longer sign in until the account is reactivated. All sessions end.
run-reactivate-what = Each user can sign in again, with the same roles as before.
run-end-sessions-what = Each user must sign in again on every device.
run-revoke-what = Each user loses the role at once.
run-change-end-what = Each user holds the role until the new end.
undo-by-assign = Assign these again…
undo-by-suspend = Suspend these again…
undo-by-reactivate = Reactivate these…
undo-by-end-sessions = End these sessions…
undo-by-revoke = Revoke these assignments…
undo-by-change-end = Set the earlier ends again…
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
authzen-id = Their identifiers here
authzen-name = Persons by external identifier or e-mail address, organizations by short name
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
format-native = As entries of the audit log
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
        [one] 1 entry
       *[other] { $count } entries
    }
fields-unchanged =
    { $count ->
        [one] 1 unchanged field
       *[other] { $count } unchanged fields
    }

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
said-tenant-delete = { $actor } began to delete the tenant
said-role-create = { $actor } created the role{ $named }
said-role-update = { $actor } changed the role{ $named }{ $fields }
said-role-delete = { $actor } deleted the role{ $named }
said-permission-create = { $actor } registered the permission{ $named }
said-permission-delete = { $actor } removed the permission{ $named }
said-role-assigned-by-request = { $user } got the role { $role } in { $place } by an access request
said-role-assigned-by-group = { $actor } gave the role { $role } to { $user } in { $place } by a group
said-role-got = { $user } got the role { $role } in { $place }
said-role-assigned = { $actor } assigned the role { $role } to { $user } in { $place }
said-role-expired = The role { $role } of { $user } in { $place } ended
said-role-ended = { $actor } ended the role { $role } of { $user } in { $place }, which an access request had given
said-role-ended-by-group = { $actor } ended the role { $role } of { $user } in { $place }, because no group gives it any more
said-role-revoked = { $actor } revoked the role { $role } of { $user } in { $place }
said-assignment-to-group = { $actor } handed a role assignment in { $place } over to a group
said-assignment-update = { $actor } changed the end of a role assignment in { $place }
said-session-login = { $actor } signed in
said-session-token-refresh = { $actor } continued a session
said-session-impersonation-started = { $by } began to act as { $actor }
said-session-impersonation-ended = { $by } no longer acts as { $actor }
said-session-update = { $actor } proved its identity again
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
said-access-review-create = { $actor } began the access review{ $named }
said-access-review-eligibility-decided = { $actor } decided about an eligibility in an access review
said-access-review-role-decided = { $actor } decided about a role of { $user } in an access review
said-access-review-update = { $actor } changed the access review{ $named }{ $fields }
said-access-review-completed = { $actor } completed the access review{ $named }
said-holders-of-a-role = the holders of a role
said-eligibility-create = { $actor } let { $who } ask for the role { $role } in { $place }
said-eligibility-update = { $actor } changed how { $who } may ask for the role { $role } in { $place }{ $fields }
said-eligibility-delete = { $actor } no longer lets { $who } ask for the role { $role } in { $place }
said-eligibility-other = { $actor } recorded { $action } of an eligibility
said-request-create = { $actor } asked for the role { $role } in { $place }
said-request-approved = { $actor } approved that { $user } gets the role { $role } in { $place }
said-request-denied = { $actor } refused that { $user } gets the role { $role } in { $place }
said-request-cancelled-because = The request of { $user } for the role { $role } in { $place } was cancelled, because { $because }
said-cause-outdated = it can no longer be granted as it was asked for
said-cause-not-eligible = the user may no longer ask for it
said-cause-role-held = the user holds the role by other means
said-cause-user-suspended = the user was suspended
said-cause-user-deleted = the user was deleted
said-cause-other = what it needs has changed
said-request-cancelled = { $actor } cancelled the request of { $user } for the role { $role } in { $place }
said-request-lapsed = The request of { $user } for the role { $role } in { $place } lapsed
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
resource-audit-logs = Audit logs
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
resource-iam-legal-holds = Iam legal holds

## The titles of problems, by their kinds.

problem-validation-error = Validation Error
problem-validation = Validation Error
problem-unauthorized = Unauthorized
problem-second-factor-required = Second Factor Required
problem-insufficient-authentication = Insufficient Authentication
problem-federation-required = Federation Required
problem-forbidden = Forbidden
problem-account-locked = Account Locked
problem-not-found = Not Found
problem-conflict = Conflict
problem-legal-hold = Legal Hold
problem-gone = Gone
problem-precondition-failed = Precondition Failed
problem-request-timeout = Request Timeout
problem-idempotency-key-reused = Idempotency Key Reused
problem-payload-too-large = Payload Too Large
problem-unsupported-media-type = Unsupported Media Type
problem-method-not-allowed = Method Not Allowed
problem-rate-limited = Too Many Requests
problem-internal = Internal Server Error
problem-unavailable = Service Unavailable
problem-bad-request = Bad Request

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
