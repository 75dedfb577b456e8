### The texts of the console, in German. The notes are for translators; a person is addressed by "Sie".
###
### A text with variables and without a selector can also be for a script, which then fills in {name} in place of the
### variable.

## Texts that belong to no single area.

language-name = Deutsch
console = Konsole
menu = Menü
actions = Aktionen
skip = Zum Inhalt springen
navigation = Hauptnavigation
signed-in-as = Angemeldet als
you-act = Sie handeln als anderer Benutzer
acts-as = als
acting-reads-only = Diese Sitzung ist schreibgeschützt.
stop-acting = Beenden
sign-out = Abmelden
sign-out-everywhere = Überall abmelden
account = Konto
compact-lines = Kompakte Ansicht
comfortable-lines = Großzügige Ansicht
people = Personen
access-of-people = Zugriff
events = Ereignisse
# The time zone of all times on a page. A script names the one of the person.
utc-times = Zeiten sind in UTC angegeben.
in-your-zone = In Ihrer Zeitzone: { $time }
local-times = Zeiten sind in Ihrer Zeitzone angegeben ({ $zone }), sofern nicht als UTC gekennzeichnet.
save = Speichern
saved = Die Änderungen sind gespeichert.
cancel = Abbrechen
continue = Weiter
optional = optional
send-link = Link senden
nothing-is-saved = Es wurde nichts gespeichert. Korrigieren Sie die markierten Felder.
correct-fields = Korrigieren Sie die markierten Felder.
one-of-the-list = muss aus der Liste stammen
must-be-chosen = muss ausgewählt werden
must-be-given = muss angegeben werden
choose-again = muss aus der Liste ausgewählt werden
must-be-a-number = muss eine ganze Zahl sein
must-be-day = muss ein Datum sein, zum Beispiel 2026-01-31
must-be-cursor = muss von einer früheren Seite stammen
must-be-moment = muss ein Tag mit Uhrzeit sein, zum Beispiel 2026-01-31T09:15
no-such-page = Unter dieser Adresse gibt es keine Seite.
send-a-form = Senden Sie ein Formular.
changed-since = Seit Sie die Seite geöffnet haben, wurde hier etwas geändert; deshalb wurde nichts gespeichert. Öffnen Sie die Seite vor dem Speichern erneut.
open-again = Erneut öffnen
no-access = Diese Seite dürfen Sie nicht sehen
needs-permission = Dafür ist { $permission } nötig: Fragen Sie einen Administrator.
foreign-form = Dieses Formular stammt nicht von dieser Seite oder ist älter als Ihre Sitzung. Öffnen Sie die Seite erneut.
not-of-this-page = ist kein Parameter dieser Seite
given-twice = darf nur einmal angegeben werden
back = Zurück zur Übersicht
name = Name
profile = Profil
first-name = Vorname
last-name = Nachname
email = E-Mail-Adresse
verified = bestätigt
not-verified = nicht bestätigt
password = Passwort
show-password = Passwort anzeigen
show-secret = Geheimnis anzeigen
description = Beschreibung
external-id = Externe ID
slug = Kurzname
slug-hint = Aus Kleinbuchstaben, Ziffern und Bindestrichen, zum Beispiel filiale-nord
new-slug-hint = Aus Kleinbuchstaben, Ziffern und Bindestrichen. Leer: Er wird aus dem Namen gebildet.
where = Geltungsbereich
whole-tenant = gesamter Mandant
as-of-hint = Leer: jetzt.
asked-moment-hint = Leer: jetzt. Für einen Tag geben Sie seinen Mittag ein.
last-day = Letzter Tag (UTC)
pick-user = Geben Sie einen Teil des Namens oder der E-Mail-Adresse ein, und wählen Sie aus.
part-of-name-or-email = Teil von Name oder E-Mail
part-of-name = Teil des Namens
empty-whole-tenant = Leer: der gesamte Mandant
no-such-user = muss die E-Mail-Adresse oder der Name genau eines Benutzers sein: Wählen Sie einen Vorschlag aus
user-by-id = muss die ID eines Benutzers sein, da Sie keine Benutzer sehen dürfen
pick-organization = Geben Sie einen Teil des Namens ein, und wählen Sie aus.
organization-or-tenant = Geben Sie einen Teil des Namens ein, und wählen Sie aus. Leer: der gesamte Mandant.
no-such-organization = muss der Name genau einer Organisation sein: Wählen Sie einen Vorschlag aus
organization-by-id = muss die ID einer Organisation sein, da Sie keine Organisationen sehen dürfen
organization-required = muss ausgewählt werden: Diese Rolle gilt nur in einer Organisation
is-suspended = gesperrt
place-suspended = Diese Organisation ist gesperrt: Rollen in ihr gewähren nichts, bis sie wieder aktiv ist.
place-above-suspended = Eine übergeordnete Organisation ist gesperrt: Rollen hier gewähren nichts, bis sie wieder aktiv ist.
organization-refused = muss leer sein: Diese Rolle gilt nur im gesamten Mandanten
role-missing = darf nicht leer sein
no-such-role = muss der Name einer Rolle sein: Wählen Sie einen Vorschlag aus
role-by-id = muss die ID einer Rolle sein, da Sie keine Rollen sehen dürfen
one-more-role = Rolle hinzufügen
search = Suchen
filters = Filter
filters-in-force = Aktive Filter
remove-filter = Filter entfernen
remove-all-filters = Alle Filter entfernen
copy-link = Link kopieren
link-not-copied = Nicht kopiert: Ihr Browser lässt es nicht zu. Kopieren Sie die Adresse der Seite.
status = Status
every-status = Alle Status
identifier = ID
lines-of-page = Zeilen je Seite
selection = Auswahl
sort-order = Reihenfolge
pages = Seiten
previous = Zurück
next = Weiter
page = Seite
of = von
details = Details
above = Übergeordnet
active = Aktiv
suspended = Gesperrt
deleted = Gelöscht
pending = Ausstehend
switched-on = Ein
switched-off = Aus
created = Erstellt
changed = Geändert
since = Seit
until = bis
last-login = Letzte Anmeldung
never = Nie
never-in-line = nie
suspend = Sperren
reactivate = Reaktivieren
delete = Löschen
restore = Wiederherstellen
remove = Entfernen
revoke = Widerrufen
sessions = Sitzungen
this-session = diese Sitzung
last-used = Zuletzt verwendet
unknown-address = unbekannte Adresse
unknown-device = Unbekanntes Gerät
acted-by = Eine andere Person handelt als dieser Benutzer:
end-session = Beenden
session-was-ended = Die Sitzung wurde beendet.
copy = Kopieren
copied = Kopiert
not-copied = Nicht kopiert: Ihr Browser lässt es nicht zu. Markieren und kopieren Sie den Text.
download = Herunterladen
done = Fertig
who-gains-and-loses = Änderungen am Zugriff
what-you-gain = Zugriff, den Sie erhalten
gains = Erhält
loses = Verliert
from-moment = ab
show-effects = Auswirkungen anzeigen
change-it = Zurück
go-back = Zurück
in-the-log = Im Prüfprotokoll
all-about-it = alle Einträge zu dieser Ressource
correlation = Korrelations-ID

## Why a user may do something, who may do it, and who holds which roles.

access = Zugriff prüfen
why-may-user = Benutzer prüfen
requests-of-user = Zugriffsanträge dieses Benutzers
who-may = Inhaber einer Berechtigung
why-what = Wählen Sie eine Berechtigung und einen Benutzer. Die Antwort nennt die Rollen, die die Berechtigung verleihen.
who-what = Wählen Sie eine Berechtigung. Die Antwort nennt alle Benutzer, die sie haben, und den Grund dafür.
user-or-you = Benutzer (leer: Sie)
permission-hint = Name, zum Beispiel users:read, oder Wörter aus der Beschreibung
such-as-permission = Zum Beispiel users:read
only-elsewhere = Nicht im gesamten Mandanten, aber in diesen Organisationen
in-whole-tenant = im gesamten Mandanten
also-below = Benutzer, die eine dieser Rollen in einer einzelnen Organisation haben, dürfen es dort. Jede Rolle führt zu allen ihren Inhabern:
none-below = Kein anderer Benutzer darf es in einer einzelnen Organisation.
past-below = Benutzer, die es nur in einer einzelnen Organisation durften, stehen hier nicht: Wählen Sie die Organisation.
no-such-permission = muss eine Berechtigung sein: Wählen Sie einen Vorschlag aus, zum Beispiel users:read
at-moment = Stand (UTC)
ask = Prüfen
allowed = Erlaubt
not-allowed = Nicht erlaubt
allowed-because = Jede dieser Rollen genügt für sich allein:
inherited = geerbt
page-of-user = Alle Rollen dieses Benutzers
because-of = Verliehen durch
nobody-may = Dort hat kein Benutzer diese Berechtigung.
who-holds = Inhaber von Rollen
who-holds-what = Wählen Sie eine Organisation, oder lassen Sie das Feld für den gesamten Mandanten leer. Die Antwort nennt alle Benutzer, die dort Rollen haben.
held-here = Hier zugewiesen
held-above = Geerbt
held-from = von
no-role-here = Keine
holds-more = Hat mehr Rollen, als hier angezeigt werden.
no-role-holders = Dort hat kein Benutzer eine Rolle.
holders-what = Jede Rolle gilt auch für alles unterhalb ihres Geltungsbereichs. Benutzer, die nicht aktiv sind, und Rollen in nicht aktiven Organisationen fehlen hier: Sie verleihen nichts.

## Access requests: a user asks for a role for a time, and others decide.

access-requests = Zugriffsanträge
access-request = Zugriffsantrag
access-requests-what = Sie beantragen eine Rolle für begrenzte Zeit. Müssen andere genehmigen, sehen sie, was die Rolle erlaubt und wozu Sie sie brauchen. Die Rolle endet von selbst. Sie gilt weder für API-Schlüssel noch für Entscheidungen über den Zugriff anderer.
own-requests = Eigene
requests-to-decide = Zu entscheiden
requests-in-force = Aktiv
all-requests = Alle
days-of-requests = Datum des Antrags.
older-requests = Ältere Anträge im Prüfprotokoll
no-own-requests = Sie haben keinen Zugriff beantragt.
no-requests-to-decide = Kein Antrag wartet auf Ihre Entscheidung.
no-requests-in-force = Zurzeit ist kein beantragter Zugriff aktiv.
no-request-matches = Kein passender Zugriffsantrag.
show-all-requests = Alle Zugriffsanträge anzeigen
requested-by = Beantragt von
role-gone = eine nicht mehr vorhandene Rolle
yourself = Sie
when = Wann
request-approved = Genehmigt
request-in-force = Aktiv
request-ended = Beendet
request-denied = Abgelehnt
request-cancelled = Abgebrochen
request-lapsed = Abgelaufen
lapses = läuft ab
begins = beginnt
closed-on = geschlossen
cancelled-as-outdated = Vom System abgebrochen: Das Antragsrecht oder die Rolle wurde inzwischen geändert, oder eine Genehmigung zählt nicht mehr. Möglicherweise können Sie einen neuen Antrag stellen.
cancelled-as-not-eligible = Vom System abgebrochen: Die Person darf diese Rolle dort nicht mehr beantragen.
cancelled-as-role-held = Vom System abgebrochen: Die Person hat diese Rolle dort bereits auf anderem Weg.
cancelled-as-user-suspended = Vom System abgebrochen: Die Person wurde gesperrt.
cancelled-as-user-deleted = Vom System abgebrochen: Das Konto der Person wurde gelöscht.
ask-for-access = Zugriff beantragen
nothing-to-ask-for = Es gibt keine Rolle, die Sie beantragen dürfen. Ein Administrator Ihres Mandanten kann Ihnen das ermöglichen.
no-asking-as-another = Sie handeln als anderer Benutzer und können in dessen Namen keinen Zugriff beantragen.
at-most = Höchstdauer
approvals = Genehmigungen
has-open-request = Für diese Rolle haben Sie dort bereits einen offenen Antrag.
open-request = Ihr offener Antrag
ask-again = Erneut beantragen
recorded-reason-hint = Wird im Prüfprotokoll aufgezeichnet.
request-reason-hint = Für die Genehmiger sichtbar; wird im Prüfprotokoll aufgezeichnet.
ticket = Ticket
ticket-hint = Vorgang in einem anderen System, zum Beispiel OPS-42
begin-at = Beginn (UTC)
begin-at-hint = Leer: sobald genehmigt. Spätestens in 30 Tagen.
begin-at-once-hint = Leer: sofort. Spätestens in 30 Tagen.
send-request = Antrag senden
request-sent = Der Antrag ist gesendet.
approval-saved = Ihre Genehmigung ist gespeichert. Eine weitere Genehmigung ist nötig.
denial-saved = Der Antrag ist abgelehnt.
request-is-cancelled = Der Antrag ist abgebrochen.
access-has-ended = Der Zugriff ist beendet, ebenso alles, was durch ihn vergeben wurde.
access-ended-already = Der Zugriff ist bereits beendet.
request-changed-meanwhile = Der Antrag oder seine Rolle wurde geändert, seit Sie diese Seite geöffnet haben; deshalb wurde nichts gespeichert. Öffnen Sie die Seite erneut, und prüfen Sie, was die Rolle jetzt verleiht.
cancelled-meanwhile = Dieser Antrag wurde abgebrochen; deshalb wurde nichts gespeichert.
denied-meanwhile = Dieser Antrag wurde bereits abgelehnt; deshalb wurde nichts gespeichert.
approved-meanwhile = Dieser Antrag wurde bereits genehmigt; deshalb wurde nichts gespeichert.
ended-meanwhile = Der Zugriff aus diesem Antrag ist beendet; deshalb wurde nichts gespeichert.
lapsed-meanwhile = Dieser Antrag ist abgelaufen; deshalb wurde nichts gespeichert.
for-time-in-line = für
for-time = Dauer
who-decides = Genehmiger
who-may-update-requests = Benutzer, die dort über Zugriffsanträge entscheiden dürfen
asked = Beantragt
begins-at = Beginn
not-before = Frühester Beginn
began-at = Begonnen
was-to-begin = Geplanter Beginn
ends-at = Ende
was-to-end = Geplantes Ende
ends-at-the-latest = Spätestes Ende
lapses-at = Läuft ab
decisions = Entscheidungen
no-decisions = Bisher hat niemand entschieden.
has-approved = Genehmigt
has-denied = Abgelehnt
counts-no-more = zählt nicht mehr: Die Rolle wurde inzwischen geändert
approve-again = Ihre Genehmigung zählt nicht mehr: Die Rolle wurde inzwischen geändert. Prüfen Sie, was die Rolle jetzt verleiht, und entscheiden Sie erneut.
your-decision = Ihre Entscheidung
approve = Genehmigen
review-request = Prüfen
deny = Ablehnen
deny-what = Der Antrag wird geschlossen, und der Antragsteller sieht Ihre Begründung.
deny-confirm = Antrag ablehnen
must-say-why = muss angeben, warum Sie den Antrag ablehnen
decision-reason-hint = Für den Antragsteller sichtbar; wird im Prüfprotokoll aufgezeichnet.
needed-to-deny = Für eine Ablehnung erforderlich. Für den Antragsteller sichtbar; wird im Prüfprotokoll aufgezeichnet.
reason-of-end = Grund für das Ende
cancel-request = Antrag abbrechen
cancel-request-what = Danach kann er nicht mehr genehmigt werden. Ein neuer Antrag ist möglich.
cancel-request-confirm = Ja, diesen Antrag abbrechen
end-access = Zugriff beenden
end-access-what = Die Rolle geht sofort verloren, ebenso alles, was durch sie vergeben wurde. Sie kommt nicht zurück.
end-access-confirm = Ja, jetzt beenden
about-this-request = Verlauf dieses Antrags
comes-to-nothing = Dieser Antrag kann nicht mehr wirksam werden.
cancelled-by-decision = Er wird abgebrochen, sobald eine Person über ihn entscheidet.
obstacle-eligibility-ended = Das Antragsrecht, das dem Antrag zugrunde liegt, ist beendet.
obstacle-other-decisions = Das Antragsrecht verlangt jetzt mehr Genehmigungen oder solche von anderen.
obstacle-role-not-offered = Diese Rolle kann dort nicht mehr vergeben werden.
obstacle-not-eligible = Die Person darf diese Rolle dort nicht mehr beantragen.
obstacle-role-held = Die Person hat diese Rolle dort bereits auf anderem Weg.
close-request = Antrag schließen
# Why a request cannot become effective now. A sentence follows.
cannot-become-effective = Er kann derzeit nicht wirksam werden:
effects-unknown = Was die Rolle verleihen würde, lässt sich zurzeit nicht anzeigen. Öffnen Sie die Seite erneut, bevor Sie entscheiden.
access-for-a-time = Befristeter Zugriff
you = Sie
by-access-request = durch einen Zugriffsantrag
of-request-what = Diese Rolle wurde durch einen Zugriffsantrag verliehen oder von einer Person, die durch einen solchen Antrag eine Rolle hatte. Sie endet mit dem Antrag.

## Access reviews.

access-reviews = Zugriffsüberprüfungen
nav-access-reviews = Zugriffs­überprüfungen
new-review = Neue Überprüfung
begin-review = Überprüfung starten
review-what = Eine Überprüfung listet alle Rollenzuweisungen und Antragsrechte auf, die es in diesem Augenblick gibt. Für jeden Eintrag wird entschieden, ob er bestehen bleibt. Bis zum Abschluss der Überprüfung ändert sich nichts.
no-reviews = Keine passende Überprüfung.
no-reviews-yet = Es gibt noch keine Zugriffsüberprüfungen.
show-all-reviews = Alle Überprüfungen anzeigen
review-open = Offen
review-completed = Abgeschlossen
review-cancelled = Abgebrochen
all-reviews = Alle
due = Fällig
late = überfällig
due-day = Fälligkeitsdatum
due-hint = Die Überprüfung ist am Ende dieses Tages (UTC) fällig. Danach bleibt sie offen.
review-name-hint = Zum Beispiel: Vertrieb, Frühjahr
progress = Fortschritt
decided = entschieden
whole-tenant-option = Gesamter Mandant
where-hint = In einer Organisation umfasst die Überprüfung die Zuweisungen in ihr und darunter, nicht aber die für den gesamten Mandanten.
search-organizations = Organisationen nach Namen suchen
more-organizations = Es gibt weitere. Geben Sie einen Teil des Namens ein, um eine andere zu finden.
organizations-hidden = Sie dürfen die Organisationen nicht sehen.
which-roles = Rollen
which-roles-hint = Ohne Auswahl umfasst die Überprüfung alle Rollen.
all-roles = alle Rollen
choice-hidden = Sie dürfen die Rollen nicht sehen; deshalb umfasst die Überprüfung alle.
must-decide = muss „Behalten“ oder „Widerrufen“ sein
about-users = Benutzer
begun = Gestartet
closed = Geschlossen
overdue = Die Überprüfung ist überfällig.
review-begun = Die Überprüfung ist gestartet. Entscheiden Sie über jeden Eintrag.
review-decided = Die Entscheidung ist gespeichert.
review-is-completed = Die Überprüfung ist abgeschlossen. Bei jedem Eintrag steht das Ergebnis.
review-is-cancelled = Die Überprüfung ist abgebrochen. Es wurde nichts widerrufen.
items = Einträge
all-items = Alle
undecided = Nicht entschieden
keep = Behalten
to-keep = Zu behalten
to-revoke = Zu widerrufen
keep-selected = Ausgewählte behalten
decision = Entscheidung
reason = Grund
granted = Vergeben
# What the item of an eligibility says before the role.
may-ask-for = darf beantragen:
eligible-since = Antragsberechtigt seit
by = durch
by-the-service = durch das System
own-item = Das ist Ihre eigene Rolle oder eine, die Sie beantragen dürfen. Darüber muss eine andere Person entscheiden.
no-items = Diese Überprüfung umfasst weder eine Rollenzuweisung noch ein Antragsrecht. Brechen Sie sie ab, und starten Sie eine mit anderem Umfang.
no-item-matches = Kein passender Eintrag.
show-all-items = Alle Einträge anzeigen
as-csv = Als CSV herunterladen
decision-saved = Gespeichert:
complete = Überprüfung abschließen
complete-confirm = Ja, abschließen
cancel-review = Überprüfung abbrechen
cancel-review-what = Es wird nichts widerrufen. Die Überprüfung und ihre Entscheidungen bleiben erhalten und können nicht mehr geändert werden.
cancel-confirm = Ja, abbrechen
decisions-hidden = Sie dürfen diese Überprüfung sehen, aber nicht darin entscheiden.
outcome-kept = Behalten.
outcome-revoked = Widerrufen.
outcome-gone = War bereits beendet.

## The own account: its password, its address, its second factors and its linked accounts.

my-account = Mein Konto
change-password = Passwort ändern
change-password-what = Ihre anderen Sitzungen werden beendet.
current-password = Aktuelles Passwort
new-password = Neues Passwort
password-changed = Ihr Passwort ist geändert. Ihre anderen Sitzungen sind beendet.
change-email = E-Mail-Adresse ändern
change-email-what = Wir senden einen Link an die neue Adresse. Ihre Adresse ändert sich, wenn Sie den Link öffnen.
new-email = Neue E-Mail-Adresse
email-link-sent = Ein Link ist an die neue Adresse unterwegs. Öffnen Sie ihn, um die Änderung abzuschließen.
send-verification = Bestätigungslink senden
verification-sent = Ein Link ist an Ihre Adresse unterwegs.
end-other-sessions = Alle anderen Sitzungen beenden
no-other-sessions = Sie sind nirgendwo sonst angemeldet.
other-sessions-ended = Ihre anderen Sitzungen sind beendet.
second-factors = Zweite Faktoren
factor-required = Ihr Mandant verlangt einen zweiten Faktor. Richten Sie einen ein, um die anderen Seiten zu nutzen. Melden Sie sich danach erneut an, falls eine Seite dazu auffordert.
factor-unused = Ihr Mandant verlangt einen zweiten Faktor, und Sie haben Ihren in dieser Sitzung noch nicht verwendet. Verwenden Sie ihn, um fortzufahren.
use-factor = Zweiten Faktor verwenden
factor-required-soon = Ihr Mandant verlangt einen zweiten Faktor. Richten Sie einen ein, oder melden Sie sich mit einem vorhandenen erneut an, und zwar vor
you-have-no-factors = Ihr Konto ist nur durch Ihr Passwort geschützt. Fügen Sie eine Authenticator-App oder einen Passkey hinzu.
authenticator = Authenticator-App
passkey = Passkey
rename = Umbenennen
rename-factor = Faktor umbenennen
add-authenticator = Authenticator-App hinzufügen
authenticator-what = Eine App auf Ihrem Telefon zeigt alle 30 Sekunden einen neuen Code. Nach Ihrem Passwort geben Sie diesen Code ein.
authenticator-name-hint = Zum Beispiel der Name des Telefons
# The label of the first code of an app; an error continues it.
app-code = Code
scan = Scannen Sie diesen Code mit Ihrer App:
qr-code = QR-Code für Ihre Authenticator-App. Der geheime Schlüssel steht auch unten als Text.
or-type = Oder geben Sie diesen geheimen Schlüssel in Ihre App ein:
open-app = App auf diesem Gerät öffnen
confirm = Bestätigen
add-passkey = Passkey hinzufügen
passkey-what = Ihr Gerät bewahrt den Passkey auf und fragt nach Fingerabdruck, Gesicht oder PIN. Damit melden Sie sich ohne Passwort an.
passkey-name = Dieses Gerät
passkey-known = Auf diesem Gerät gibt es bereits einen Passkey für Ihr Konto.
passkey-go-on = Ihre Identität ist bestätigt. Fügen Sie jetzt den Passkey hinzu.
passkey-refused = Die Antwort des Passkeys wird nicht akzeptiert. Versuchen Sie es erneut.
factor-added = Der Faktor ist hinzugefügt. Ab jetzt melden Sie sich mit ihm an.
factor-removed = Der Faktor ist entfernt.
recovery-codes = Wiederherstellungscodes
recovery-codes-left = Verbleibende Codes
recovery-codes-once = Sie werden nur jetzt angezeigt: Kopieren Sie sie, bevor Sie diese Seite verlassen. Bewahren Sie sie sicher auf. Jeder Code funktioniert einmal anstelle eines zweiten Faktors.
new-codes = Neue Codes erzeugen
new-codes-what = Die alten Codes werden dadurch ungültig.
linked-accounts = Verknüpfte Konten
linked-what = Mit einem Konto bei einem dieser Anbieter melden Sie sich ohne ein Passwort dieser Konsole an.
nothing-linked = Mit Ihrem Konto ist kein anderes verknüpft.
no-providers = Ihr Mandant hat keinen Identitätsanbieter.
linked-since = Verknüpft
account-linked = Das Konto ist verknüpft. Ab jetzt können Sie sich damit anmelden.
link-removed = Das Konto ist nicht mehr mit Ihrem verknüpft.
return-late = Die Rückkehr vom Anbieter hat zu lange gedauert. Beginnen Sie von vorn.
export-own = Meine Daten herunterladen
export-own-what = Eine Seite mit allem, was über Sie gespeichert ist, und den Einträgen über Sie im Prüfprotokoll. Der Download wird protokolliert.

## Role assignments.

assignment = Zuweisung
assignments = Zuweisungen
assign = Zuweisen
assign-role = Rolle zuweisen
every-role = Alle Rollen
only-tenant = { " " }(gesamter Mandant)
only-organization = { " " }(in einer Organisation)
roles-unseen = Sie dürfen keine Rollen sehen: Geben Sie die ID einer Rolle ein.
choose = Auswählen …
held-at = Stand
as-of = Stand (UTC)
until-moment = Bis (UTC)
until-hint = Leer: unbefristet.
until-column = Bis
no-end = Unbefristet
no-assignment-matches = Keine passende Zuweisung.
show-all-assignments = Alle Zuweisungen anzeigen
ends-when = Endet
ends-any = Irgendwann oder nie
assigned-by = Zugewiesen durch
the-service = das System
not-in-force = nicht aktiv, daher verleiht die Rolle nichts
end-of-assignment = Ende
revoke-what = Der Benutzer verliert die Rolle sofort. Sie sehen zuerst, was er verliert.
role-assigned = Die Rolle ist zugewiesen.
role-revoked = Die Rolle ist widerrufen.
end-changed = Das Ende der Rolle ist geändert.

## Attributes of users and organizations.

attributes = Attribute
other-attributes = Weitere Attribute
other-attributes-hint = Ein JSON-Objekt. Was hier fehlt, wird entfernt.
attribute = Attribut
no-attribute = Keines
attribute-value = Wert des Attributs
attribute-value-hint = Der ganze Wert, genau wie gespeichert; true oder false bei einer Ja/Nein-Angabe
not-set = nicht festgelegt
must-be-any-number = muss eine Zahl sein
user-attributes = Benutzerattribute
user-attributes-hint = Eine Liste in JSON. Jede Definition hat einen key und einen type (STRING, NUMBER, BOOLEAN, STRINGS oder OBJECT) und kann searchable, personReads, personWrites und inToken haben.
organization-attributes = Organisationsattribute
organization-attributes-hint = Eine Liste in JSON. Jede Definition hat einen key und einen type und kann searchable haben.
unregistered-attributes = Attribute ohne Definition
has-no-field = ist kein definiertes Attribut
must-be-definitions = müssen eine Liste von Definitionen in JSON sein: Ab Zeile { $line }, Zeichen { $column } ist sie nicht lesbar
for-example = Zum Beispiel:
must-be-object = Sie muss ein Objekt mit Feldern sein, wie im Beispiel.
must-be-quoted = muss ein Text in Anführungszeichen sein
must-be-truth = muss true oder false sein
no-member = ist kein Feld einer Definition

## The audit log: its pages, the texts of its script, and what it records, in sentences.

audit-log = Prüfprotokoll
audit-entry = Protokolleintrag
entry-id = ID des Eintrags
resource = Ressourcentyp
every-resource = Alle Typen
action = Aktion
every-action = Alle Aktionen
from-day = Von (UTC)
until-day = Bis (UTC)
today = Heute
yesterday = Gestern
last-seven-days = Letzte 7 Tage
days-in-utc = Tage in UTC
resource-id = Ressourcen-ID
about-which = Ressource
about-which-hint = Ihre ID oder die E-Mail-Adresse eines Benutzers
acting-user = Akteur
must-be-correlation = muss eine Korrelations-ID sein
only-the-user-itself = Das sind die Änderungen am Benutzer selbst. Was mit Sitzungen, Rollen, zweiten Faktoren und Schlüsseln des Benutzers geschah, zeigt das Protokoll ohne diesen Filter.
no-entry-matches = Kein passender Eintrag.
show-all-entries = Alle Einträge anzeigen
field = Feld
before = Vorher
after = Nachher
field-added = hinzugefügt
field-changed = geändert
field-removed = entfernt
# Both values are secrets.
field-hidden = nicht angezeigt
field-same = unverändert
redacted-value = Geschwärzt: Das Protokoll enthält keine Geheimnisse.
erased-value = Gelöscht: Das Protokoll enthält diesen personenbezogenen Wert nicht mehr.
address = Adresse
device = Gerät
newest = Neueste
older = Ältere
check = Diesen Eintrag prüfen
check-log = Integrität prüfen
follow = Live verfolgen
service-acted = Das System
anonymous-acted = Eine nicht angemeldete Person

## Directories, their groups, and the roles that groups give.

directories = Verzeichnisse
directories-what = Über ein Verzeichnis schreibt der Identitätsanbieter Ihres Unternehmens, etwa Entra oder Okta, seine Personen und Gruppen per SCIM 2.0 in diesen Mandanten: Es legt Benutzer an, ändert sie, sperrt ausgeschiedene und pflegt die Mitglieder von Gruppen. Es darf nur, was sein Dienstkonto darf.
no-directories = Es gibt noch kein Verzeichnis.
new-directory = Neues Verzeichnis
create-directory = Verzeichnis anlegen
directory-created = Das Verzeichnis ist angelegt. Tragen Sie die Adresse unten und den API-Schlüssel beim Anbieter ein.
directory-without-key = Das Verzeichnis ist angelegt, aber es konnte kein API-Schlüssel erstellt werden. Erstellen Sie einen auf der Seite des Dienstkontos.
directory-removed = Das Verzeichnis ist entfernt.
directory-changed-meanwhile = Das Verzeichnis wurde bearbeitet, seit Sie diese Seite geöffnet haben; deshalb wurde nichts geändert. Öffnen Sie zuerst die Seite erneut.
about-this-directory = Änderungen an diesem Verzeichnis
by-its-account = Aktionen seines Dienstkontos
directory-settings = Einstellungen des Verzeichnisses
last-request = Letzte Anforderung
adopts = Übernimmt Benutzer
refused = Abgelehnt
yes = ja
no = nein
no-provider = Keiner: Personen melden sich auf anderem Weg an
provider-of-directory-hint = Der Anbieter, über den sich die Benutzer des Verzeichnisses anmelden. Um einen auszuwählen, brauchen Sie alle Berechtigungen.
providers-hidden = Sie dürfen die Identitätsanbieter nicht sehen.
adopt = Benutzer übernehmen, die eine Adresse des Verzeichnisses haben
adopt-warning = Von da an ändert, sperrt und löscht das Verzeichnis auch bereits vorhandene Benutzer. Es übernimmt nur Personen, deren Adresse zu einer bestätigten Domain gehört und die nicht mehr dürfen als sein Dienstkonto.
new-account = Ein neues, mit einem API-Schlüssel, der einmal angezeigt wird
account-with-new-key = Ein vorhandenes, mit einem neuen API-Schlüssel, der einmal angezeigt wird
account-with-key = Ein vorhandenes, mit einem API-Schlüssel, den Sie haben
account-that-exists = Vorhandenes Dienstkonto
pick-account = Geben Sie einen Teil des Namens ein, und wählen Sie aus. Es muss aktiv sein und darf kein anderes Verzeichnis haben.
no-such-account = muss der Name genau eines aktiven Dienstkontos sein: Wählen Sie einen Vorschlag aus
account-by-id = muss die ID eines Dienstkontos sein, da Sie keine Benutzer sehen dürfen
role-of-account = Rolle des Dienstkontos
role-of-account-hint = Für einen neuen Schlüssel. Das Konto erhält diese Rolle im gesamten Mandanten, und der Schlüssel erhält ihre Berechtigungen: users:* für Benutzer sowie role-assignments:create und role-assignments:delete für Gruppen, die Rollen verleihen. Eine Gruppe verleiht nur Rollen, deren Berechtigungen das Konto hat.
role-in-whole-tenant = muss eine Rolle sein, die im gesamten Mandanten gelten kann
role-without-permissions = muss eine Rolle mit Berechtigungen sein
last-day-of-key = Letzter Tag des Schlüssels (UTC)
key-must-be-later = darf nicht in der Vergangenheit liegen
key-must-be-earlier = darf höchstens 365 Tage in der Zukunft liegen
key-of-directory = API-Schlüssel des Verzeichnisses
key-of-directory-once = Kopieren Sie den Schlüssel jetzt, und tragen Sie ihn beim Anbieter ein. Er wird nicht noch einmal angezeigt. Die Adresse steht auf der nächsten Seite.
enter-at-provider = Einstellungen beim Anbieter
scim-url = Adresse (SCIM 2.0)
keys-of-account = Der Anbieter sendet mit jeder Anforderung einen API-Schlüssel des Dienstkontos. Dessen Schlüssel stehen auf seiner Seite:
entra = Microsoft Entra ID
entra-what = Legen Sie eine Anwendung außerhalb des Katalogs an, und tragen Sie diese Werte unter „Bereitstellung“ ein. Ordnen Sie externalId statt mailNickname die objectId zu. Weisen Sie zunächst eine Person und eine Gruppe zu, und sehen Sie hier nach, was angekommen ist.
okta = Okta
okta-what = Stellen Sie in der Anwendung unter „Provisioning“ SCIM ein, und tragen Sie diese Werte unter „Integration“ ein. Lassen Sie neue Benutzer, Profiländerungen und Gruppen übertragen.
what-arrived = Letzte Aktivität
nothing-arrived = Es ist noch keine Anforderung eingegangen. Wenn Sie Adresse und Schlüssel eingetragen haben, testen Sie die Verbindung beim Anbieter.
no-refusals = Keine seiner Anforderungen wurde abgelehnt.
refusals-what = Die neuesten 20 abgelehnten Anforderungen, die neueste zuerst.
request = Anforderung
why = Grund
time = Zeit
users-of-directory = Benutzer des Verzeichnisses
keep-users = Unverändert lassen
suspend-users = Aktive Benutzer sperren
remove-directory-what = Die Benutzer bleiben und gehören zu keinem Verzeichnis mehr. Die Rollen, die seine Gruppen verliehen haben, enden. Das Dienstkonto bleibt samt seinen Schlüsseln. Sie sehen zuerst, wer was verliert.
remove-directory = Verzeichnis entfernen
removal-keeps = Die Benutzer des Verzeichnisses bleiben, wie sie sind, außer bei den Rollen, die seine Gruppen verliehen haben.
removal-suspends = Die aktiven Benutzer des Verzeichnisses werden gesperrt und können sich nicht mehr anmelden.
groups = Gruppen
group = Gruppe
groups-what = Das Verzeichnis legt Gruppen an und pflegt ihre Mitglieder. Eine Gruppe verleiht unabhängig von ihrem Namen nichts, bis Sie ihr Rollen geben.
no-groups = Das Verzeichnis hat noch keine Gruppe gesendet.
no-group-matches = Keine passende Gruppe.
show-all-groups = Alle Gruppen anzeigen
search-groups-hint = Teil des Namens
group-members = Mitglieder
group-grants = Rollen der Mitglieder
no-grants = keine
group-gives-nothing = Die Gruppe verleiht keine Rolle.
group-grants-hint = Jedes Mitglied hat diese Rollen, solange das Verzeichnis es in der Gruppe lässt; neue Mitglieder erhalten sie ebenfalls. Leere Zeilen zählen nicht. Sie sehen zuerst, wer was erhält und wer was verliert.
group-grants-note = Auch Benutzer, die das Verzeichnis später in die Gruppe aufnimmt, erhalten diese Rollen.
group-changed-meanwhile = Die Gruppe wurde bearbeitet, seit Sie diese Seite geöffnet haben; deshalb wurde nichts geändert. Öffnen Sie zuerst die Seite erneut.
about-this-group = Änderungen an dieser Gruppe
by-a-group = durch eine Gruppe eines Verzeichnisses
of-group-what = Eine Gruppe eines Verzeichnisses verleiht diese Rolle. Sie endet, wenn das Verzeichnis den Benutzer aus der Gruppe entfernt oder wenn sich die Rollen der Gruppe ändern.
given = Verliehen

## Domains.

domains = Domains
domain = Domain
domains-what = Eine Domain weist nach, welche E-Mail-Adressen zu Ihrem Mandanten gehören. Identitätsanbieter sind für die Personen in ihr zuständig.
no-domains = Es gibt noch keine Domain.
new-domain = Neue Domain
add-domain = Domain hinzufügen
domain-hint = Zum Beispiel example.com. Eine Subdomain ist eine eigene Domain.
domain-verified = Bestätigt
verified-at = Bestätigt
checked-at = Zuletzt geprüft
domain-added = Die Domain ist hinzugefügt. Veröffentlichen Sie den Eintrag unten, und lassen Sie ihn prüfen.
domain-is-verified = Der Eintrag wurde gefunden. Die Domain ist bestätigt.
domain-removed = Die Domain ist entfernt.
about-this-domain = Änderungen an dieser Domain
record = DNS-Eintrag
record-what = Veröffentlichen Sie diesen Eintrag im DNS der Domain, und lassen Sie ihn dort stehen. Er wird täglich geprüft.
record-type = Typ
record-value = Wert
record-not-needed = Der Betreiber hat diese Domain bestätigt. Sie braucht keinen Eintrag.
record-absent = Der Eintrag fehlt. Nach sieben Tagen ohne ihn gilt die Domain wieder als ausstehend. Er fehlt seit
check-record = Eintrag jetzt prüfen
remove-domain-what = Ein anderer Mandant kann sie sofort bestätigen. Eine Domain, die ein Identitätsanbieter verwendet, kann nicht entfernt werden.
remove-domain-confirm = Ja, diese Domain entfernen

## Eligibilities: who may ask for which role.

eligibilities = Antragsrechte
eligibility = Antragsrecht
eligibilities-what = Wer welche Rolle für wie lange beantragen darf, und wer das genehmigt. Ein Antragsrecht verleiht für sich allein nichts. Um eines anzulegen, müssen Sie die Berechtigungen der Rolle selbst haben.
new-eligibility = Neues Antragsrecht
create-eligibility = Antragsrecht anlegen
create-first-eligibility = Erstes Antragsrecht anlegen
no-eligibilities = Es gibt noch kein Antragsrecht.
eligibility-created = Das Antragsrecht ist angelegt.
eligibility-removed = Das Antragsrecht ist entfernt. Bereits begonnener Zugriff läuft weiter.
eligibility-changed-meanwhile = Das Antragsrecht wurde bearbeitet, seit Sie diese Seite geöffnet haben; deshalb wurde nichts geändert. Öffnen Sie zuerst die Seite erneut.
who-may-ask = Antragsberechtigt
who-may-ask-hint = Inhaber einer Rolle sind antragsberechtigt, wenn sie die Rolle in diesem Geltungsbereich oder darüber haben. Beispiel: Bei einem Antragsrecht für den gesamten Mandanten kann ein Benutzer, der die Rolle nur in einer Organisation hat, keinen Antrag stellen.
eligible-user = Ein Benutzer
eligible-holders = Inhaber einer Rolle
held-role = Inhaber der Rolle
can-ask-now = Derzeit antragsberechtigt
can-decide-now = Derzeitige Genehmiger
deciders-verify = Nachrichten an Personen mit unbestätigter E-Mail-Adresse können bis zu einer Stunde später ankommen.
eligibility-has-ended = Dieses Antragsrecht ist beendet: Kein Benutzer kann es mehr nutzen.
user-cannot-ask = Der Benutzer kann derzeit keinen Antrag stellen, da sein Konto nicht aktiv ist.
too-few-decide = Zurzeit können zu wenige Benutzer entscheiden; deshalb kann kein Antrag alle nötigen Genehmigungen erhalten. Kein Benutzer entscheidet über seinen eigenen Antrag.
asked-role = Beantragte Rolle
longest = Höchstdauer
approver-role = Genehmigerrolle
approver-role-hint = Ihre Inhaber in diesem Geltungsbereich oder darüber entscheiden. Leer: Benutzer, die dort über Zugriffsanträge entscheiden dürfen.
expiry-hint = Leer: unbefristet. Zugriff, der vorher beginnt, endet spätestens dann. Wenn Sie dies später ändern, behält bereits begonnener Zugriff sein Ende.
change-eligibility-what = Ausstehende Anträge, die dann über das Erlaubte hinausgehen, werden abgebrochen, sobald eine Person über sie entscheidet oder sobald sie beginnen würden. Begonnener Zugriff läuft bis zu seinem eigenen Ende weiter.
remove-eligibility-what = Kein Benutzer kann es mehr nutzen. Ausstehende Anträge werden abgebrochen, sobald eine Person über sie entscheidet oder sobald sie beginnen würden. Begonnener Zugriff läuft bis zu seinem eigenen Ende weiter.
remove-eligibility-confirm = Ja, dieses Antragsrecht entfernen
about-this-eligibility = Änderungen an diesem Antragsrecht
requests-for-role-there = Anträge auf diese Rolle dort

## Find: its texts, and the words by which pages of the console are found.

find = Suchen
find-what = Wonach suchen Sie?
find-hint = Teil des Namens einer Seite, eines Benutzers, einer Rolle, einer Organisation oder einer Berechtigung, oder eine ID, auch die eines Protokolleintrags
find-short-hint = Seite, Benutzer, Rolle, Organisation oder ID
find-key-choose = auswählen
find-key-open = öffnen
close-find = Schließen
results = Ergebnisse
pages-of-console = Seiten der Konsole

## Identity providers.

identity-providers = Identitätsanbieter
identity-provider = Identitätsanbieter
identity-providers-what = Über einen Identitätsanbieter wie Entra, Okta, Google oder Keycloak melden sich Personen mit den Konten an, die sie bereits haben.
no-identity-providers = Es gibt noch keinen Identitätsanbieter.
new-identity-provider = Neuer Identitätsanbieter
create-identity-provider = Identitätsanbieter anlegen
identity-provider-created = Der Identitätsanbieter ist angelegt. Registrieren Sie die Adressen unten beim Anbieter.
identity-provider-removed = Der Identitätsanbieter ist entfernt.
identity-provider-changed-meanwhile = Der Identitätsanbieter wurde bearbeitet, seit Sie diese Seite geöffnet haben; deshalb wurde nichts geändert. Öffnen Sie zuerst die Seite erneut.
about-this-identity-provider = Änderungen an diesem Identitätsanbieter
identity-provider-read-only = Sie dürfen diesen Identitätsanbieter sehen, aber nicht ändern.
provider-settings = Einstellungen des Anbieters
issuer = Aussteller
issuer-hint = Zum Beispiel https://login.example.com, genau in der Schreibweise des Anbieters.
client-id = Client-ID
client-id-hint = Kennung dieses Dienstes beim Anbieter
client-secret = Client-Geheimnis
client-secret-hint = Leer lassen, wenn der Anbieter keines vergibt. Es wird nicht noch einmal angezeigt.
client-secret-kept = Es wird nie angezeigt. Leer lassen, um das gespeicherte Geheimnis zu behalten.
remove-secret = Geheimnis entfernen
secret-and-removed = muss leer sein, wenn das Geheimnis entfernt werden soll
scopes = Scopes
scopes-hint = Durch Leerzeichen getrennt. Einer davon muss openid sein.
provider-domains-hint = Der Anbieter ist für die Personen in diesen Domains zuständig. Eine ausstehende Domain hat keine Wirkung.
provider-needs-domain = Der Mandant hat keine Domain.
domains-hidden = Sie dürfen die Domains nicht sehen.
trusts-email = E-Mail-Adressen auch ohne Angabe des Anbieters als bestätigt ansehen
subject-claim = Subject-Claim
provisioning = Bereitstellung bei der ersten Anmeldung
provided-roles = Rollen neuer Benutzer
provided-roles-hint = Die Benutzer, die über den Anbieter angelegt werden, erhalten diese Rollen. Leere Zeilen zählen nicht. Keine Rolle darf alle Berechtigungen haben.
factor-is-trusted = Zweiten Faktoren des Anbieters vertrauen
provider-enabled = Anmeldung erlauben
addresses = Adressen dieses Dienstes
addresses-what = Registrieren Sie diese Adressen beim Anbieter.
callback-url = Callback-URL
logout-url = Back-Channel-Logout-URL
federation-off = Diese Installation stellt keine Verbindung zu Identitätsanbietern her. Der Betreiber kann die Föderation einschalten.
remove-provider-what = Verknüpfte Personen können sich nicht mehr über ihn anmelden, und ihre Verknüpfungen werden entfernt. Sitzungen laufen weiter.
remove-provider-confirm = Ja, diesen Identitätsanbieter entfernen

## The import of users.

import = Importieren
import-users = Benutzer importieren
import-what = Legt Benutzer aus einer CSV-Datei an, wie sie zum Beispiel Excel speichert. Prüfen Sie die Datei zuerst: Dabei wird nichts gespeichert. Importieren Sie sie danach. Zeilen mit Fehlern werden ausgelassen.
import-columns = Die erste Zeile nennt die Spalten, in beliebiger Reihenfolge:
import-template = Leere Datei mit dieser Zeile herunterladen
import-example = Darunter steht je Person eine Zeile, zum Beispiel:
import-invites = Jede Person erhält per E-Mail eine Einladung: einen Link, der 7 Tage gilt und mit dem sie ein Passwort wählt. Sie erhält keine Rolle.
import-hashes = Um Benutzer eines anderen Systems mit ihren Passwörtern zu übernehmen, ergänzen Sie diese Spalten:
import-hash-formats = Eine Zeile mit dem Hash eines Passworts legt sofort einen Benutzer an. Der Hash ist der des anderen Systems: Argon2 oder PBKDF2 mit geringem Prüfaufwand. Andere, etwa bcrypt, importiert der Betreiber. Der status ist ACTIVE oder SUSPENDED; ohne Angabe ACTIVE.
import-format = Format
format-csv = Standard-CSV
format-aspnet = ASP.NET Identity (Tabelle AspNetUsers)
import-format-hint = Dateien von Keycloak, Auth0, Firebase, Django und Devise sowie aufwendige Hashes, Rollen und Gruppen importiert der Betreiber mit einem Befehl.
row-left-out = Ausgelassen:
row-of-operator = kann nur der Betreiber importieren
csv-file = CSV-Datei
csv-text = Oder den Text einfügen
csv-hint = Lassen Sie diese Seite geöffnet, bis der Import beendet ist. Wenn Sie sie verlassen, werden die Zeilen nach der letzten angezeigten nicht importiert. Importieren Sie die Datei dann erneut: Bereits vorhandene oder eingeladene Personen werden abgelehnt und bleiben unverändert.
import-check = Prüfen
import-run = Importieren
import-result = Ergebnis je Zeile
import-progress = { $done } von { $total } Zeilen
import-checked = Benutzer, die angelegt werden können: { $created }. Personen, die eingeladen werden können: { $invited }. Zeilen mit Fehlern: { $bad }.
import-done = Angelegte Benutzer: { $created }. Eingeladene Personen: { $invited }. Abgelehnte Zeilen: { $bad }.
import-empty = Wählen Sie eine Datei, oder fügen Sie ihren Text ein: eine Zeile mit den Namen der Spalten, dann die Zeilen der Personen.
file-changed = Die Datei wurde geändert. Wählen Sie sie erneut aus, und prüfen Sie sie.
file-not-utf8 = Die Datei ist nicht in UTF-8. Speichern Sie sie in Excel als „CSV UTF-8“.
connection-lost = Der Server antwortet nicht.
check-not-done = Es wurde nichts geprüft.
check-not-whole = Nur die Zeilen unten wurden geprüft. Prüfen Sie erneut.
import-not-done = Es wurde nichts importiert.
import-not-whole = Nur die Zeilen unten wurden importiert. Importieren Sie erneut: Erledigte Zeilen werden abgelehnt und bleiben unverändert.
import-stopped = Der Import wurde hier unterbrochen.
line = Zeile
result = Ergebnis
the-file = Die Datei
too-many-rows = hat zu viele Zeilen für ein Formular; höchstens erlaubt:
row-valid = kann angelegt werden
row-created = angelegt
row-invitable = kann eingeladen werden
row-invited = eingeladen
row-needs-mail = Eine Zeile ohne passwordHash lädt die Person per E-Mail ein, aber diese Installation versendet keine E-Mails. Der Betreiber kann IAM_SMTP_URL oder IAM_MAIL_DIR setzen.
row-attributes-need-hash = muss in einer Zeile ohne passwordHash leer sein
row-only-active = muss in einer Zeile ohne passwordHash leer oder ACTIVE sein
row-not-tried = nicht importiert
row-repeated = Eine frühere Zeile hat dieselbe E-Mail-Adresse.

## Invitations.

invitations = Einladungen
invitation = Einladung
invite = Person einladen
invite-what = Die Person erhält per E-Mail einen Link, der 7 Tage gilt. Damit wählt sie ein Passwort und wird Benutzer.
no-mail-no-invitation = Diese Installation versendet keine E-Mails und kann deshalb keine Einladungen senden. Sie können stattdessen Benutzer mit einem ersten Passwort anlegen. Der Betreiber schaltet den Versand mit der Einstellung IAM_SMTP_URL ein, zum Ausprobieren auch mit IAM_MAIL_DIR.
invited-name = Ein Vorschlag, den die Person ändern kann
invited-until = Leer: unbefristet
send-invitation = Einladung senden
accepted = Angenommen
revoked = Widerrufen
expired = Abgelaufen
expires = Läuft ab
no-invitation-matches = Keine Einladungen.
show-all-invitations = Alle Einladungen anzeigen
invited-by = einladende Person anzeigen
invited-without-roles = Die Person erhält keine Rolle und hat deshalb zunächst keine Berechtigungen.
invite-another = Erneut einladen
resend = Neuen Link senden
resend-what = Sendet einen neuen Link, der 7 Tage gilt. Der alte Link wird damit ungültig.
revoke-invitation-what = Der Link wird ungültig. Die Einladung bleibt als widerrufene in der Liste.
revoke-confirm = Ja, diese Einladung widerrufen
invited = Die Einladung ist unterwegs.
invitation-resent = Ein neuer Link ist unterwegs, sofern die Adresse in der letzten Stunde nicht schon drei Nachrichten erhalten hat.
invitation-revoked = Die Einladung ist widerrufen.

## API keys.

api-keys = API-Schlüssel
no-keys = Es gibt keinen Schlüssel. Mit einem Schlüssel handelt ein Programm als dieser Benutzer.
keys-hidden = Sie dürfen die Schlüssel dieses Benutzers nicht sehen.
valid-until = Gültig bis
expired-at = Abgelaufen am
all-permissions = alle Berechtigungen des Benutzers
in-organization = in der Organisation
new-key = Neuer API-Schlüssel
create-key = Schlüssel erstellen
key-what = Ein Programm mit diesem Schlüssel darf innerhalb dieser Grenzen, was sein Benutzer in diesem Augenblick darf.
key-name-hint = Zum Beispiel der Name des Programms
key-permissions-hint = Angeboten wird nur, was Sie haben. Ohne Auswahl darf der Schlüssel alles, was Sie dürfen.
key-permissions-of-other-hint = Wählen Sie mindestens eine. Angeboten wird nur, was Sie als Ersteller des Schlüssels haben. Ein Schlüssel verleiht nichts, was sein Benutzer nicht hat.
key-needs-permissions = Wählen Sie mindestens eine Berechtigung für den Schlüssel eines anderen Benutzers.
key-organization-hint = Geben Sie einen Teil des Namens ein, und wählen Sie aus. Der Schlüssel gilt nur in ihr und darunter. Leer: überall
key-expiry-hint = Höchstens 365 Tage ab jetzt. Leer: 90 Tage ab jetzt
key-once = Kopieren Sie den Schlüssel jetzt. Er wird nicht noch einmal angezeigt. Ein Programm sendet ihn als Bearer-Token.
revoke-key = Schlüssel widerrufen
revoke-key-what = Ein Programm, das diesen Schlüssel verwendet, wird ab sofort abgewiesen.
key-revoked = Der Schlüssel ist widerrufen.

## Organizations.

organizations = Organisationen
organization = Organisation
new-organization = Neue Organisation
create-organization = Organisation anlegen
create-below = Untergeordnete Organisation anlegen
search-organizations-hint = Teil des Namens oder des Kurznamens
not-deleted = Nicht gelöscht
no-organizations = Es gibt keine Organisationen. Das sind Teile des Mandanten, in denen Rollen gelten können, zum Beispiel Filialen oder Teams.
no-organization-matches = Keine passende Organisation.
show-the-tree = Baum anzeigen
tree-hint = Um eine Organisation zu verschieben, ziehen Sie sie auf eine andere.
what-is-below = Untergeordnete Organisationen
nothing-below = Es gibt keine untergeordneten Organisationen.
more = Mehr
drop-here = Organisation hier ablegen, um sie auf die oberste Ebene zu verschieben.
below = Untergeordnete Organisationen
at-the-top = Oberste Ebene
parent = Übergeordnete Organisation
parent-or-top = Geben Sie einen Teil des Namens ein, und wählen Sie aus. Leer: oberste Ebene.
members = Rollenzuweisungen
members-hidden = Sie dürfen nicht sehen, wer hier eine Rolle hat.
no-members = In dieser Organisation selbst hat kein Benutzer eine Rolle. Rollen aus übergeordneten Organisationen gelten auch hier.
all-members = Alle Rollenzuweisungen
log-hidden = Sie dürfen das Prüfprotokoll nicht sehen.
no-entries = Das Protokoll enthält dazu keine Einträge.
about-this-organization = Alle Einträge zu dieser Organisation
organization-created = Die Organisation ist angelegt.
organization-moved = Die Organisation ist verschoben.
organization-active = Die Organisation ist wieder aktiv.
organization-suspended = Die Organisation ist gesperrt.
organization-deleted = Die Organisation ist gelöscht.
suspend-organization-what = Wenn Sie sie sperren, verleihen Rollen in ihr und darunter nichts, bis Sie sie reaktivieren.
reactivate-organization-what = Rollen in ihr und darunter gelten dann wieder.
restore-organization-what = Die Organisation wird ohne ihre früheren Rollenzuweisungen wiederhergestellt.
delete-organization-what = Die Rollenzuweisungen in ihr enden, und eine andere Organisation kann ihren Kurznamen erhalten. Untergeordnete Organisationen müssen vorher verschoben oder gelöscht werden. Sie können die Organisation später wiederherstellen.
move = Verschieben
move-what = Alle untergeordneten Organisationen werden mitverschoben. Sie sehen zuerst, wer was erhält und wer was verliert.
move-note = Alle untergeordneten Organisationen werden mitverschoben.
new-place = Neue Position
new-parent = Übergeordnete Organisation
below-another = Unter einer anderen Organisation
map = Karte
map-of-all = Organisationskarte
map-from-here = Karte ab hier
map-hint = Jede Organisation führt zu ihrer Seite. Die Markierung rechts daneben führt zu einer Karte, die dort beginnt.
map-keys = Mit + oder - vergrößern oder verkleinern Sie die Karte.
show-as-list = Als Liste anzeigen
zoom-in = Vergrößern
zoom-out = Verkleinern
zoom-fit = Einpassen

## The overview: what it shows of the tenant, of its sign-ins and of its log.

overview = Übersicht
welcome = Willkommen
your-roles = Ihre Rollen
signed-in-since = Angemeldet seit
from = von
no-roles-yet = Sie haben keine Rollen. Sie können eine beantragen:
no-roles = Sie haben keine Rollen. Bitten Sie einen Administrator Ihres Mandanten um eine.
needs-a-hand = Handlungsbedarf
nothing-needs-a-hand = Zurzeit besteht kein Handlungsbedarf. Hier erscheint, was auf eine Entscheidung wartet, bald endet oder fehlschlägt.
is-switched-off = ausgeschaltet
have-no-factor-what = Ihr Mandant verlangt einen. Wer nach Ablauf der Frist keinen hat, kann nichts anderes mehr tun.
linked-holders-what = Diese Benutzer haben alle Berechtigungen im gesamten Mandanten und können sich über einen Identitätsanbieter anmelden. Wer diesen kontrolliert, kann in ihrem Namen handeln. Sie können die Verknüpfung jeweils unter „Mein Konto“ entfernen.
linked-holders-cut = Es wurden nur 100 Inhaber aller Berechtigungen geprüft. Es gibt weitere.
charts = Diagramme
show-charts = Diagramme zu Anmeldungen und Personen anzeigen
no-charts = Für die Diagramme brauchen Sie die Berechtigung, das Prüfprotokoll zu lesen oder alle Benutzer zu sehen.
sign-ins-by-day = Anmeldungen der letzten 28 Tage
sign-ins = Anmeldungen
failures = Fehlversuche
people-by-week = Angemeldete Personen je Woche
week-from = Woche ab
days-are-utc = Tage in UTC
not-all-counted = Es wurden nur die neuesten 50.000 gezählt: Die ersten Tage oder Wochen haben keine Zahl oder fehlen
as-table = Als Tabelle
day = Tag
factor-share = Zweite Faktoren
with-factor = Mit zweitem Faktor
without-factor = Ohne zweiten Faktor
how-many = Anzahl
# A number that is not known.
unknown-number = –
entries-recorded = Einträge wurden aufgezeichnet.
no-entry-waits = Alle können geprüft werden.
log-late = Das dauert zu lange. Bitten Sie den Betreiber, im Protokoll des Servers nachzusehen.
log-fails = Das Prüfprotokoll erfordert den Betreiber
log-broken = Das Protokoll kann nicht angezeigt werden oder passt nicht zu seinem eigenen Prüfpunkt. Bitten Sie den Betreiber, diesen Befehl auszuführen: iam-server audit verify
oldest-entry = Der älteste
first-steps = Erste Schritte
step-organization = Organisation anlegen
step-invite = Person einladen
or = oder
step-import = Benutzer importieren
step-role = Rolle zuweisen
step-factor = Zweiten Faktor für Ihr Konto einrichten

## The catalogue of permissions.

new-permission = Neue Berechtigung
new-permission-what = Eine Berechtigung Ihrer Anwendung. Rollen verleihen sie Benutzern, und die Anwendung fragt ab, ob ein Benutzer sie hat.
permission-name-hint = Eine Ressource und eine Aktion aus Kleinbuchstaben, Ziffern und Bindestrichen, zum Beispiel orders:refund
permission-description-hint = Was sie einem Benutzer erlaubt, zum Beispiel: Geld zurückerstatten.
register-permission = Berechtigung registrieren
permission-created = Die Berechtigung ist registriert. Rollen mit einem Platzhalter für ihre Ressource haben sie sofort. Bearbeiten Sie andere Rollen, um sie dort hinzuzufügen.
permission-deleted = Die Berechtigung ist gelöscht.
no-permission-matches = Keine passende Berechtigung.
show-every-permission = Alle Berechtigungen anzeigen
built-in-permission-what = Vordefiniert: kann nicht gelöscht werden
own-permission-what = Eine Berechtigung Ihrer Anwendung
roles-with-it = Rollen mit dieser Berechtigung
roles-with-it-hidden = Sie dürfen keine Rollen sehen.
no-role-names-it = Keine Rolle enthält diese Berechtigung.
roles-by-wildcard = Über einen Platzhalter
give-to-role = Zu einer Rolle hinzufügen
give-to-new-role = Neue Rolle damit anlegen
delete-permission-what = Nur eine Berechtigung, die keine Rolle enthält, kann gelöscht werden.
delete-permission-note = Keine Rolle kann diese Berechtigung mehr erhalten. Rollen mit einem Platzhalter für ihre Ressource erlauben sie weiterhin.

## Roles, and the permissions that they have.

roles = Rollen
role = Rolle
new-role = Neue Rolle
edit = Bearbeiten
create-role = Rolle anlegen
role-created = Die Rolle ist angelegt. Bisher hat sie kein Benutzer.
role-deleted = Die Rolle ist gelöscht.
role-name-hint = Ein Name wie „Leitung Nord“ wird LEITUNG_NORD geschrieben.
search-roles-hint = Teil des Namens oder der Beschreibung
no-role-matches = Keine passende Rolle.
show-all-roles = Alle Rollen anzeigen
held-where = Geltungsbereich
scope-tenant = nur im gesamten Mandanten
scope-organization = nur in einer Organisation
scope-any = im gesamten Mandanten oder in einer Organisation
kind = Typ
built-in-role = Vordefiniert
own-role = Benutzerdefiniert
built-in-role-what = Vordefiniert: kann nur kopiert, nicht geändert werden
role-may = Berechtigungen
role-may-nothing = Keine Berechtigungen.
role-holders = Benutzer mit dieser Rolle
holders-hidden = Sie dürfen nicht sehen, wer diese Rolle hat.
no-holders = Kein Benutzer hat diese Rolle.
no-holders-seen = Kein Benutzer, den Sie sehen dürfen, hat diese Rolle.
all-holders = Alle Benutzer mit dieser Rolle
let-ask-for-role = Antragsrecht für diese Rolle anlegen
show-eligibilities = Antragsrechte anzeigen
decides-about-requests = Genehmigt Anträge auf
asked-for-by = Kann beantragt werden von
assign-this-role = Diese Rolle zuweisen
delete-role-what = Nur eine Rolle, die kein Benutzer hat, kann gelöscht werden.
delete-role-confirm = Ja, diese Rolle löschen
permission = Berechtigung
permissions = Berechtigungen
permissions-hint = Sie können nur Berechtigungen verleihen, die Sie selbst haben.
filter-permissions = Berechtigungen filtern
everything = Alles
may-everything = Alle Aktionen im Mandanten, auch solche, die später hinzukommen.
compare-roles = Rollen vergleichen
compare-with = Vergleichen mit
compare = Vergleichen
side-by-side = Nebeneinander
differences = Unterschiede
matrix-what = Welche Rolle welche Berechtigung hat
has-it = Ja
has-it-by = Ja, durch
has-it-not = Nein
has-it-legend = hat die Berechtigung
has-it-by-legend = hat sie durch einen Platzhalter wie users:*
has-it-not-legend = hat sie nicht
must-be-roles = müssen die IDs von höchstens 8 Rollen sein, durch Kommas getrennt
matrix-is-full = kann nicht hinzugefügt werden: Es werden höchstens 8 Rollen nebeneinander angezeigt
matrix-is-full-what = Es werden höchstens 8 Rollen angezeigt. Entfernen Sie eine, um eine andere hinzuzufügen.
role-of-link-is-gone = Eine Rolle aus diesem Link gibt es nicht mehr.
differences-what = Wählen Sie zwei Rollen. Die Antwort zeigt, was nur eine von ihnen erlaubt.
first-role = Erste Rolle
second-role = Zweite Rolle
show-only-differences = Nur die Unterschiede anzeigen
show-all-permissions = Alle Berechtigungen beider Rollen anzeigen

## Actions on many users or role assignments at once.

select = Auswählen
select-all = Alle auf dieser Seite auswählen
show-100 = 100 je Seite anzeigen
with-selected = Auswahl
count-selected = { $count } ausgewählt
clear-selection = Auswahl aufheben
preview-follows = Sie sehen zuerst, was geschehen würde. Sie können höchstens 100 auswählen.
assign-many = Rolle zuweisen …
suspend-many = Sperren …
reactivate-many = Reaktivieren …
end-sessions-many = Sitzungen beenden …
revoke-many = Widerrufen …
change-end-many = Ende ändern …
nothing-selected = darf nicht leer sein: Wählen Sie mindestens eine Zeile der Liste aus
not-selectable = müssen Zeilen der Liste sein
steps-taken = Änderungen
steps-left-out = Ausgelassen
nothing-to-do = Es gibt nichts zu tun.
decided-again = Über jede Zeile wird bei der Ausführung erneut entschieden. Wird eine abgelehnt, werden die anderen trotzdem ausgeführt.
preview-is-old = Es wurde nichts gestartet, da diese Vorschau zu alt ist. Prüfen Sie die aktuelle, und bestätigen Sie sie.
preview-is-of-another = Es wurde nichts gestartet, da Sie die Vorschau einer anderen Aktion gesehen haben. Prüfen Sie die aktuelle, und bestätigen Sie sie.
too-many-runs = Es wurde nichts gestartet, da zu viele Sammelaktionen laufen. Bestätigen Sie erneut, sobald eine davon beendet ist.
not-yourself = Das ist Ihr eigenes Konto.
suspended-already = Der Benutzer ist bereits gesperrt.
active-already = Der Benutzer ist bereits aktiv.
ends-then-already = Die Rolle hat bereits dieses Ende.
runs = Sammelaktionen
recent-runs = Letzte Sammelaktionen
close-hint = Hinweis schließen
no-runs = Sie haben in der letzten Stunde keine Sammelaktion gestartet, oder dieser Server kennt sie nicht mehr.
run-goes-on = Sie können diese Seite verlassen: Die Aktion läuft weiter, und jede Seite führt hierher zurück.
run-progress = Fortschritt
reload = Diese Seite neu laden
steps-done = Erledigt
steps-refused = Nicht erledigt
steps-untried = Nicht versucht
run-stopped = Die Aktion wurde angehalten: Ihre Sitzung ist beendet oder konnte nicht geprüft werden.
run-broke-off = Die Aktion wurde durch einen Fehler des Servers abgebrochen.
run-entries = Die Einträge dieser Aktion im Prüfprotokoll
try-the-rest = Rest erneut versuchen …
run-unknown = Dieser Server kennt die Sammelaktion nicht
run-unknown-what = Ihr Fortschritt bleibt eine Stunde lang für die Person erhalten, die sie gestartet hat, aber nicht über einen Neustart des Servers hinaus. Was sie bewirkt hat, steht im Prüfprotokoll. Sie können sie erneut starten: Bereits Erledigtes wird dann ausgelassen oder abgelehnt.

## Signing in, the registration of a tenant, and proofs of an identity.

sign-in = Anmelden
tenant-hint = Der Kurzname Ihres Unternehmens oder Ihrer Organisation, zum Beispiel acme. Nur nötig, wenn Sie Konten in mehreren Mandanten haben.
several-tenants = Sie haben Konten in mehreren Mandanten (Unternehmen oder Organisationen). Wählen Sie einen aus, und geben Sie Ihr Passwort erneut ein.
incorrect = Die E-Mail-Adresse oder das Passwort ist nicht richtig. Wenn Sie Konten in mehreren Mandanten haben, geben Sie den Mandanten an.
session-ended = Ihre Sitzung ist beendet. Melden Sie sich erneut an.
signed-out = Sie sind abgemeldet.
first-run = Es gibt noch keinen Mandanten.
first-run-closed = Es gibt noch keinen Mandanten, und die Registrierung ist geschlossen. Der Betreiber legt einen mit diesem Befehl an: iam-server tenant create
register-first = Ersten Mandanten registrieren
second-factor = Zweiter Schritt
code = Code Ihrer Authenticator-App
wrong-code = Der Code ist falsch oder wurde bereits verwendet.
recovery-code = Wiederherstellungscode
use-recovery-code = Stattdessen einen Wiederherstellungscode verwenden
code-is-none = Ein Code Ihrer App hat sechs Ziffern.
code-missing = Geben Sie den Code ein, den Ihre App gerade anzeigt.
recovery-code-missing = Geben Sie einen Wiederherstellungscode ein.
password-missing = Geben Sie Ihr Passwort ein.
wrong-password = Das Passwort ist nicht richtig.
forgot-password = Passwort vergessen?
new-password-by-mail = Neues Passwort wählen
forgot-what = Falls ein Benutzer diese Adresse hat, senden wir ihm eine Nachricht mit einem Link, um ein neues Passwort zu wählen.
forgot-sent = Falls ein Benutzer diese Adresse hat, ist die Nachricht unterwegs. Der Link darin gilt 30 Minuten.
sign-in-by-email = Per E-Mail anmelden
email-login-sent = Falls sich ein Benutzer mit dieser Adresse per E-Mail anmelden darf, ist eine Nachricht unterwegs. Geben Sie den Code daraus hier ein, oder öffnen Sie ihren Link. Beide gelten 10 Minuten.
# The label of the code; an error continues it.
email-code = Code aus der Nachricht
email-code-hint = Acht Ziffern.
email-login-late = Der Code aus der Nachricht kam zu spät. Beginnen Sie von vorn.
email-link-refused = Der Link funktioniert nicht: Er wurde bereits verwendet, durch einen neueren ersetzt oder ist abgelaufen. Melden Sie sich erneut an.
sign-in-by-passkey = Mit einem Passkey anmelden
use-passkey = Passkey verwenden
passkey-cancelled = Es wurde kein Passkey verwendet. Versuchen Sie es erneut, oder wählen Sie einen anderen Weg.
passkey-unusable = Der Browser hat keine Antwort eines Passkeys gesendet. Versuchen Sie es erneut.
passkey-needs-script = Ein Passkey braucht JavaScript. Erlauben Sie es für diese Seite.
sign-in-late = Der zweite Schritt kam zu spät. Melden Sie sich erneut an.
start-again = Von vorn beginnen
password-refused = Ihr Mandant lässt für Ihre Adresse keine Passwörter zu. Melden Sie sich mit dem Konto Ihres Unternehmens an.
password-of-administrator = Wenn Sie alle Berechtigungen in Ihrem Mandanten haben, können Sie sich auch mit Ihrem Passwort anmelden.
use-password = Passwort verwenden
form-too-long = Das gesendete Formular ist zu lang, um es aufzubewahren, während Sie beim Anbieter sind. Sie müssen es erneut ausfüllen.
provider-late = Die Anmeldung hat zu lange gedauert. Melden Sie sich erneut an.
provider-denied = Der Anbieter hat Sie nicht angemeldet. Versuchen Sie es erneut, oder wählen Sie einen anderen Weg.
provider-failed = Die Antwort des Anbieters wird nicht akzeptiert. Versuchen Sie es erneut. Hilft das nicht, wenden Sie sich an Ihren Administrator.
provider-not-linked = Mit Ihrem Konto beim Anbieter ist kein Benutzer verknüpft. Wählen Sie einen anderen Weg, oder wenden Sie sich an Ihren Administrator.
provider-unavailable = Der Anbieter antwortet nicht. Versuchen Sie es später erneut, oder wählen Sie einen anderen Weg.
register = Mandanten registrieren
register-hint = Ein Mandant hat eigene Benutzer, Rollen und ein eigenes Protokoll, die kein anderer Mandant sehen kann. Sie werden sein erster Administrator.
new-tenant-hint = Ihr Unternehmen oder Ihre Organisation. Wir nennen dies einen Mandanten.
not-first = Es gibt bereits einen Mandanten. Melden Sie sich an.
confirm-identity = Bestätigen Sie Ihre Identität
confirm-identity-why = Diese Aktion verlangt einen aktuellen Nachweis Ihrer Identität. Danach wird sie von selbst fortgesetzt.
confirm-by-own-factor = Diese Aktion verlangt einen aktuellen Nachweis mit Ihrem zweiten Faktor. Danach wird sie von selbst fortgesetzt.
another-way = Ein anderer Weg
confirm-by-factor = Ihr Mandant verlangt einen zweiten Faktor, und Sie haben Ihren in dieser Sitzung noch nicht verwendet. Danach wird die Aktion von selbst fortgesetzt.
confirm-at-what = Danach sehen Sie hier, was Sie gesendet haben, und senden es erneut.
began-otherwise = Diese Sitzung hat nicht über diesen Anbieter begonnen. Wählen Sie einen anderen Weg.
confirmed-by-other = Sie haben beim Anbieter ein Konto verwendet, das hier nicht mit Ihrem verknüpft ist. Es wurde nichts geändert. Verwenden Sie Ihr eigenes Konto.
provider-did-not-ask = Der Anbieter hat Sie nicht erneut zur Anmeldung aufgefordert; damit ist nichts nachgewiesen. Versuchen Sie es erneut, oder wählen Sie einen anderen Weg.
provider-is-not-enough = Sie haben hier einen zweiten Faktor, und das Konto beim Anbieter ersetzt ihn nicht. Verwenden Sie Ihren zweiten Faktor.
session-ended-form-kept = Ihre Sitzung ist beendet. Melden Sie sich erneut an. Ihre Eingaben bleiben erhalten, und Sie können sie danach senden.
send-again = Formular erneut senden?
send-again-why = Dieses Formular stammt aus einer früheren Sitzung; es wurde noch nichts geändert. Prüfen Sie seinen Inhalt, und senden Sie es erneut.
send-after-proof = Sie haben Ihre Identität bestätigt. Es wurde noch nichts geändert. Prüfen Sie den Inhalt des Formulars, und senden Sie es erneut.
send = Senden

## The tenant and its settings.

tenant-settings = Einstellungen
tenant = Mandant
general = Allgemein
at-sign-in = Anmeldung
tenant-name = Name des Mandanten
tenant-slug-hint = Kleinbuchstaben, Ziffern und Bindestriche. Personen mit Konten in mehreren Mandanten geben ihn ein.
tenant-hidden = Sie dürfen die Einstellungen des Mandanten nicht sehen.
about-this-tenant = Änderungen an diesen Einstellungen
tenant-changed-meanwhile = Der Mandant wurde geändert, seit Sie diese Seite geöffnet haben; deshalb wurde nichts gespeichert. Öffnen Sie die Seite vor dem Speichern erneut.
password-policy = Passwortrichtlinie
password-policy-hint = Für neue Passwörter. Gemischt: mit Ziffer, Sonderzeichen sowie Groß- und Kleinbuchstaben. Lang: NIST SP 800-63B-4; 8 Zeichen, wo zweite Faktoren verlangt werden. Einfach: OWASP ASVS 5.0. „Lang“ und „Einfach“ lehnen verbreitete Passwörter ab sowie solche, die aus dem Namen oder der E-Mail-Adresse der Person bestehen.
second-factors-hint = Werden sie verlangt, muss jede Person ohne zweiten Faktor innerhalb der unten genannten Tage einen einrichten. Danach kann sie nur noch einen einrichten.
grace-days = Einrichtungsfrist (Tage)
grace-days-hint = 0 bis 90, gerechnet ab dem Tag, an dem zweite Faktoren verlangt werden, oder ab dem Anlegen des Benutzers, falls dies später ist.
password-login = Anmeldung mit Passwort
password-login-hint = Wer alle Berechtigungen im gesamten Mandanten hat, darf immer das Passwort verwenden, damit ein ausgefallener Identitätsanbieter niemanden aussperrt.
email-login = Anmeldung per E-Mail
email-login-hint = Eine Person mit bestätigter Adresse darf sich mit einem Link oder Code aus einer Nachricht anmelden. Um ihr Passwort, ihre Adresse oder ihre zweiten Faktoren zu ändern, muss sie ihre Identität erneut nachweisen.
authzen-identifiers = AuthZEN-Kennungen
authzen-identifiers-hint = Wie ein Gateway Personen und Organisationen benennt, wenn es eine Entscheidung abfragt. Jeder andere Name wird abgelehnt.
retention = Aufbewahrung des Prüfprotokolls
retention-hidden = Sie dürfen nicht sehen, wie lange das Prüfprotokoll aufbewahrt wird.
retention-days = Tage
retention-hint = Leer: unbegrenzt. Eine längere Frist gilt sofort, eine kürzere nach 30 Tagen.
save-retention = Aufbewahrung speichern
entries-are-kept-forever = Alle Einträge werden unbegrenzt aufbewahrt.
apply-retention = Alte Einträge entfernen
apply-retention-what = Entfernt die Einträge, die älter als die Aufbewahrungsfrist sind. Die Nachweise aller anderen Einträge bleiben gültig.
apply-retention-confirm = Ja, alte Einträge entfernen
# The moment follows.
tenant-is-deleted-after = Der Betreiber wird diesen Mandanten mit allem, was er enthält, löschen nach dem

## Users.

users = Benutzer
user = Benutzer
new-user = Neuer Benutzer
create-user = Benutzer anlegen
search-users-hint = Teil des Namens oder der E-Mail-Adresse
no-user-matches = Kein passender Benutzer.
show-all-users = Alle Benutzer anzeigen
service-account = Dienstkonto
service-accounts = Dienstkonten
every-kind = Personen und Dienstkonten
may-change-only-in = Sie dürfen nur Benutzer ändern, deren Stammorganisation und sämtliche Rollen in einer dieser Organisationen oder darunter liegen:
on-this-page = Auf dieser Seite
what-user-may = Rollen und Berechtigungen
in-the-whole-tenant = Im gesamten Mandanten
held-everywhere = Diese Rollen gelten auch in jeder Organisation.
place-not-active = Diese Organisation oder eine übergeordnete ist nicht aktiv; deshalb verleihen die Rollen hier nichts.
permissions-behind = Berechtigungen
why-held = Warum?
time-line = Zeitleiste
time-line-what = Die neuesten Aktionen dieses Benutzers sowie Änderungen an seinem Konto, an seinen jetzigen Rollen und an seinen letzten Anträgen. Fehlgeschlagene Anmeldungen stehen hier nur, wenn sie unter den letzten 100 des Mandanten sind. Was andere an früheren Rollen, Sitzungen, zweiten Faktoren und Schlüsseln des Benutzers geändert haben, steht nur im Prüfprotokoll.
time-line-empty = Das Protokoll enthält keine Einträge über diesen Benutzer.
devices = Geräte
signed-in-from = Angemeldet von
user-has-no-roles = Dieser Benutzer hat keine Rolle und damit keine Berechtigungen. Weisen Sie eine zu.
deleted-has-no-roles = Dieser Benutzer hat keine Rolle.
roles-hidden = Sie dürfen die Rollen dieses Benutzers nicht sehen.
user-has-no-sessions = Dieser Benutzer ist nirgendwo angemeldet.
sessions-hidden = Sie dürfen die Sitzungen dieses Benutzers nicht sehen.
end-all-sessions = Alle Sitzungen beenden
act-as-user = Als dieser Benutzer handeln
act-as-user-what = Für begrenzte Zeit sehen und tun Sie, was dieser Benutzer sehen und tun darf. Er erhält eine Nachricht, und das Prüfprotokoll nennt Sie beide.
act-reason-hint = Für den Benutzer sichtbar; wird im Prüfprotokoll aufgezeichnet.
for-how-long = Dauer
act-read-only = Schreibgeschützt
suspend-what = Der Benutzer kann sich dann nicht mehr anmelden, bis Sie das Konto reaktivieren. Alle seine Sitzungen werden beendet. Auch seine Rollen aus Zugriffsanträgen enden, und seine wartenden Anträge werden abgebrochen: Beides kommt nicht von selbst zurück.
suspend-confirm = Benutzer sperren
send-reset = Link zum Zurücksetzen des Passworts senden
send-reset-what = Der Benutzer erhält per E-Mail einen Link, um ein neues Passwort zu wählen. Der Link gilt 30 Minuten.
reset-sent = Der Link ist gesendet.
end-all-sessions-what = Der Benutzer muss sich auf jedem Gerät erneut anmelden.
reactivate-what = Der Benutzer kann sich dann wieder anmelden, mit denselben Rollen wie zuvor.
changed-meanwhile = Der Benutzer wurde geändert, seit Sie diese Seite geöffnet haben; deshalb wurde nichts gespeichert. Öffnen Sie die Seite vor dem Speichern erneut.
delete-what = Der Benutzer verliert seine Rollen und Sitzungen und kann sich nicht anmelden. Sein Datensatz und seine E-Mail-Adresse bleiben bestehen.
delete-confirm = Ja, diesen Benutzer löschen
restore-what = Der Benutzer kann sich dann wieder anmelden, ohne Rollen.
user-created = Der Benutzer ist angelegt, ohne Rolle.
user-suspended = Der Benutzer ist gesperrt.
user-reactivated = Der Benutzer ist wieder aktiv.
user-deleted = Der Benutzer ist gelöscht.
user-restored = Der Benutzer ist wiederhergestellt, ohne Rolle.
sessions-ended = Alle Sitzungen des Benutzers sind beendet.
home = Stammorganisation
home-or-tenant = Ihre Administratoren dürfen dieses Konto verwalten, sofern auch alle seine Rollen dort liegen. Geben Sie einen Teil des Namens ein, und wählen Sie aus. Leer: der gesamte Mandant.
external-id-hint = Die ID dieser Person in einem anderen System, etwa einem Verzeichnis. Leer lassen, wenn es keine gibt.
about-this-user = Änderungen an diesem Benutzer
by-this-user = Aktionen dieses Benutzers
reset-factors = Alle zweiten Faktoren entfernen
reset-factors-after = Die Sitzungen des Benutzers werden beendet. Danach meldet sich die Person nur mit dem Passwort an, bis ein neuer Faktor eingerichtet ist.
reset-factors-confirm = Ja, die zweiten Faktoren entfernen
factors-reset = Der Benutzer hat jetzt keine zweiten Faktoren.
no-second-factor = Es ist kein zweiter Faktor eingerichtet.
factor = Zweiter Faktor
factor-any = Mit oder ohne
factor-yes = Eingerichtet
factor-no = Keiner
export-user = Benutzerdaten herunterladen
export-user-what = Eine Seite mit allem, was über den Benutzer gespeichert ist, und den Einträgen über ihn im Prüfprotokoll. Der Download wird protokolliert.

## Webhooks, and what they have sent.

webhooks = Webhooks
webhook = Webhook
webhooks-what = Ein Webhook sendet Ereignisse dieses Mandanten an ein anderes System, sobald sie im Prüfprotokoll stehen.
no-webhooks = Es gibt noch keinen Webhook.
new-webhook = Neuer Webhook
create-webhook = Webhook anlegen
webhook-url = Endpunkt-URL
webhook-url-hint = Wohin die Ereignisse gehen, zum Beispiel https://example.com/events. Die URL darf kein Geheimnis enthalten: Das Prüfprotokoll zeigt sie.
event-types = Ereignistypen
event-types-hint = Einer je Zeile, zum Beispiel USER.CREATE. USER.* steht für jede Aktion an Benutzern.
all-event-types = Alles, was das System aufzeichnet
other-event-types = Ereignisse Ihrer Anwendungen
other-event-types-hint = Ein Typ je Zeile, zum Beispiel INVOICE.SENT. INVOICE.* steht für jede Aktion.
needs-audit-log = Ein Webhook sendet Einträge des Prüfprotokolls. Da Sie es nicht lesen dürfen, können Sie weder die Endpunkt-URL noch die Ereignistypen ändern.
event-format = Format
webhook-enabled = Aktiviert
webhook-fails = Schlägt fehl
last-answer = Letzte Antwort
last-answer-removed = Die letzte Antwort ist nicht mehr gespeichert
next-attempt-of-webhook = nächster Versuch
last-accepted = zuletzt angenommen
webhook-deleted = Der Webhook ist gelöscht.
webhook-secret = Webhook-Geheimnis
webhook-changed-meanwhile = Der Webhook wurde bearbeitet, seit Sie diese Seite geöffnet haben; deshalb wurde nichts geändert. Öffnen Sie zuerst die Seite erneut.
what-it-sends = Einstellungen
about-this-webhook = Änderungen an diesem Webhook
secret = Geheimnis
secret-once = Der Empfänger prüft Anforderungen mit diesem Geheimnis. Kopieren Sie es jetzt: Es wird nicht noch einmal angezeigt.
rotate-secret = Geheimnis erneuern
rotate-what = Wenn Sie es erneuern, werden Anforderungen noch 24 Stunden lang auch mit dem alten Geheimnis signiert.
test = Test
test-what = Sendet sofort ein Ereignis des Typs WEBHOOK.TEST und zeigt hier die Antwort. Ein Test steht weder im Prüfprotokoll noch in den Zustellungen.
send-test = Test senden
delete-webhook-what = Er sendet keine Ereignisse mehr, und seine Zustellungen werden entfernt.
delete-webhook-confirm = Ja, diesen Webhook löschen
deliveries = Zustellungen
deliveries-what = Die neuesten 200, nach ihrem letzten Versuch. Beendete werden nach sieben Tagen entfernt.
no-deliveries = Es wurde noch kein Ereignis gesendet. Das nächste Ereignis dieser Typen wird gesendet. Tests stehen nicht in dieser Liste.
delivered = Zugestellt
delivery-pending = Wartet auf den nächsten Versuch
delivery-paused = Wartet, bis der Webhook eingeschaltet ist
delivery-failed = Fehlgeschlagen
receiver-answer = Antwort
no-answer = keine
attempt = Versuche
next-attempt = nächster Versuch:
sequence = Ereignisnummer
send-again-from-here = Dieses und alle späteren Ereignisse erneut senden
send-again-events = Alte Ereignisse erneut senden
from-sequence = Nummer des ersten Ereignisses
from-sequence-hint = Dieses Ereignis und alle späteren dieser Typen werden erneut gesendet. Die Nummer eines Ereignisses steht oben bei seiner Zustellung und auf der Seite seines Eintrags im Prüfprotokoll.
events-are-sent-again = Die Ereignisse werden erneut gesendet. Öffnen Sie diese Seite später, um die Antworten zu sehen.

## Texts with arguments: forms and common parts.

password-hint-seed = Mindestens { $length } Zeichen, mit Groß- und Kleinbuchstaben, einer Ziffer und einem von ! @ # $ % ^ & *
password-hint-nist = Mindestens { $length } beliebige Zeichen, zum Beispiel mehrere Wörter
password-hint-asvs = Mindestens { $length } beliebige Zeichen; 15 oder mehr sind besser
not-accepted = wird nicht akzeptiert: { $reason }
browser-on = { $browser } unter { $system }
users-affected =
    { $count ->
        [0] Kein Benutzer erhält oder verliert eine Berechtigung.
        [one] 1 Benutzer erhält oder verliert Berechtigungen:
       *[other] { $count } Benutzer erhalten oder verlieren Berechtigungen:
    }
users-gain =
    { $count ->
        [one] 1 Benutzer erhält Berechtigungen:
       *[other] { $count } Benutzer erhalten Berechtigungen:
    }
users-lose =
    { $count ->
        [one] 1 Benutzer verliert Berechtigungen:
       *[other] { $count } Benutzer verlieren Berechtigungen:
    }
others-affected =
    { $count ->
        [one] 1 davon wird hier nicht angezeigt.
       *[other] { $count } davon werden hier nicht angezeigt.
    }
permissions-in =
    { $count ->
        [one] 1 Berechtigung, Geltungsbereich:
       *[other] { $count } Berechtigungen, Geltungsbereich:
    }

## Lengths of time.

length-days =
    { $count ->
        [one] 1 Tag
       *[other] { $count } Tage
    }
length-hours =
    { $count ->
        [one] 1 Stunde
       *[other] { $count } Stunden
    }
length-minutes =
    { $count ->
        [one] 1 Minute
       *[other] { $count } Minuten
    }
length-seconds =
    { $count ->
        [one] 1 Sekunde
       *[other] { $count } Sekunden
    }

## Days below a chart, in the order of their months.

short-day-1 = { $day }. Jan.
short-day-2 = { $day }. Feb.
short-day-3 = { $day }. März
short-day-4 = { $day }. Apr.
short-day-5 = { $day }. Mai
short-day-6 = { $day }. Juni
short-day-7 = { $day }. Juli
short-day-8 = { $day }. Aug.
short-day-9 = { $day }. Sept.
short-day-10 = { $day }. Okt.
short-day-11 = { $day }. Nov.
short-day-12 = { $day }. Dez.

## Why a user may not do something.

denial-user-not-active = Der Benutzer ist nicht aktiv und darf deshalb nichts.
denial-expired = Eine Rolle, die diese Berechtigung verliehen hat, ist beendet.
denial-organization-not-active = Dort gibt es eine Rolle mit dieser Berechtigung, aber die Organisation oder eine übergeordnete ist nicht aktiv.
denial-held-elsewhere = Der Benutzer hat diese Berechtigung nur in anderen Organisationen.
denial-did-not-exist = Den Benutzer oder die Organisation gab es zu diesem Zeitpunkt nicht.
denial-not-held = Keine Rolle des Benutzers hat diese Berechtigung.

## Access requests, with arguments.

requests-found =
    { $count ->
        [one] 1 Zugriffsantrag
       *[other] { $count } Zugriffsanträge
    }
request-note-at-once = Es ist keine Genehmigung nötig: Sie haben die Rolle sofort.
request-note-later = Es ist keine Genehmigung nötig: Sie erhalten die Rolle zum Zeitpunkt unten.
request-note-one-at-once = Das haben Sie, sobald eine andere Person genehmigt hat. Die Zeit läuft ab der Genehmigung.
request-note-one-later = Das haben Sie, sobald eine andere Person genehmigt hat. Die Zeit läuft ab dem Zeitpunkt unten oder ab der Genehmigung, falls diese später kommt.
request-note-two-at-once = Das haben Sie, sobald zwei andere Personen genehmigt haben. Die Zeit läuft ab der zweiten Genehmigung.
request-note-two-later = Das haben Sie, sobald zwei andere Personen genehmigt haben. Die Zeit läuft ab dem Zeitpunkt unten oder ab der zweiten Genehmigung, falls diese später kommt.
administrators-are-told = Die Administratoren des Mandanten erhalten eine Nachricht darüber.
deciders-are-told = Die Genehmiger erhalten eine Nachricht über Ihren Antrag.
tell-deciders = Hier werden keine Nachrichten verschickt: Informieren Sie die Genehmiger selbst.
lasts = für { $time }
lasts-from-approval = für { $time } ab der Genehmigung
at-most-now = Derzeit höchstens { $time }.
obstacle-too-long = Das Antragsrecht erlaubt jetzt höchstens { $time }.
too-few-can-decide =
    { $needed ->
        [one] 1 Genehmigung ist nötig
       *[other] { $needed } Genehmigungen sind nötig
    }, aber { $others ->
        [0] kein anderer Benutzer kann
        [one] nur 1 anderer Benutzer kann
       *[other] nur { $others } andere Benutzer können
    } jetzt darüber entscheiden. Informieren Sie einen Administrator Ihres Mandanten.
ask-for = { $role } für { $time } beantragen (Geltungsbereich: { $place })
approvals-needed-none = keine Genehmigung
approvals-needed-one = 1 andere Person
approvals-needed-two = 2 andere Personen
cancelled-by = { $user } hat diesen Antrag abgebrochen; deshalb wurde nichts gespeichert.
denied-by = { $user } hat diesen Antrag bereits abgelehnt; deshalb wurde nichts gespeichert.
# A moment follows this text and the next three.
you-have = Sie haben { $role } bis
you-get = Es ist keine weitere Genehmigung nötig. Sie erhalten { $role } am
user-has = Ihre Genehmigung ist gespeichert: { $user } hat { $role } bis
user-gets = Ihre Genehmigung ist gespeichert: { $user } erhält { $role } am
approvals-of = { $count } von { $needed }
deleted-role = { $role } (gelöscht)
holders-of = die Inhaber von { $role }
requests-wait =
    { $count ->
        [one] 1 Zugriffsantrag wartet auf Ihre Entscheidung
       *[other] { $count } Zugriffsanträge warten auf Ihre Entscheidung
    }

## Access reviews, with arguments.

completion-all-stay = Alle Einträge bleiben bestehen: { $keep }. Das kann nicht rückgängig gemacht werden.
completion = Einträge, die widerrufen werden: { $revoke }. Einträge, die bestehen bleiben: { $keep }. Das kann nicht rückgängig gemacht werden.
completion-undecided =
    { $count ->
        [one] Ein Eintrag ist noch nicht entschieden. Entscheiden Sie über ihn, bevor Sie die Überprüfung abschließen.
       *[other] { $count } Einträge sind noch nicht entschieden. Entscheiden Sie über sie, bevor Sie die Überprüfung abschließen.
    }

## The own account, role assignments and attributes, with arguments.

link-with = Mit { $provider } verknüpfen
assignments-found =
    { $count ->
        [one] 1 Zuweisung
       *[other] { $count } Zuweisungen
    }
revoke-role = { $user } die Rolle { $role } entziehen
several-permissions = kann für mehrere Berechtigungen stehen, zum Beispiel { $names }: Wählen Sie einen Vorschlag aus
not-held-now = { $meaning } (Der Benutzer hat sie derzeit nicht.)
key-holds =
    { $held ->
        [0] Der Benutzer hat derzeit keine davon: Der Schlüssel erlaubt nichts.
       *[other] Der Benutzer hat derzeit { $held } von diesen { $all }. Die übrigen verleihen nichts.
    }
assign-role-to = { $user } die Rolle { $role } in { $organization } und darunter zuweisen
assign-role-in-tenant = { $user } die Rolle { $role } im gesamten Mandanten zuweisen
change-end-of = Ende der Rolle { $role } von { $user } ändern
attribute-hint-number = Eine Zahl
attribute-hint-strings = Einer je Zeile
has-a-field = darf { $key } nicht enthalten, das ein eigenes Feld hat
# What is wrong follows.
definition = Definition { $number }:
unregistered-allowed = Erlaubt, mit beliebigem Wert
unregistered-refused = Abgelehnt. Vorhandene bleiben, bis sie entfernt werden

## Directories, with arguments.

account-is-made = Das Dienstkonto ist angelegt und unten ausgewählt. Das Verzeichnis ist noch nicht angelegt. { $why }
the-address-above = die Adresse oben
key-of-the-account = ein API-Schlüssel des Dienstkontos
key-as-bearer-token = HTTP Header, mit einem API-Schlüssel des Dienstkontos als Bearer-Token
remove-directory-named = Verzeichnis { $name } entfernen
groups-found =
    { $count ->
        [one] 1 Gruppe
       *[other] { $count } Gruppen
    }
change-grants-of = Rollen der Gruppe { $group } ändern
role-in = { $role } · { $place }
account-lacks = Das Dienstkonto des Verzeichnisses hat nicht, was diese Rolle verleiht: Ihm fehlt dort { $permission }.
by-group = durch die Gruppe { $group } von { $directory }

## Eligibilities, with arguments.

no-holder-in-tenant = Kein Benutzer hat { $role } (Geltungsbereich: { $place }); deshalb kann derzeit kein Benutzer einen Antrag stellen. Rollen in Organisationen zählen nicht.
no-holder-in-organization = Kein Benutzer hat { $role } in { $place } oder darüber; deshalb kann derzeit kein Benutzer einen Antrag stellen. Rollen in Organisationen darunter zählen nicht.
requests-ask-too-much =
    { $count ->
        [one] 1 wartender Antrag geht über das hinaus, was dieses Antragsrecht jetzt erlaubt, und kann nicht mehr wirksam werden.
       *[other] { $count } wartende Anträge gehen über das hinaus, was dieses Antragsrecht jetzt erlaubt, und können nicht mehr wirksam werden.
    }
persons =
    { $count ->
        [one] 1 Person
       *[other] { $count } Personen
    }
approvals-choice-none = Keine: Der Zugriff beginnt sofort
approvals-choice-one = Eine andere Person
approvals-choice-two = Zwei andere Personen

## Find, with arguments; and other words by which the pages are found, beside their names.

results-found =
    { $count ->
        [0] Es wurde nichts gefunden, was Sie sehen dürfen.
        [one] 1 Ergebnis
       *[other] { $count } Ergebnisse
    }
words-overview = start startseite dashboard statistik anmeldungen
words-users = personen mitglieder mitarbeiter angestellte dienstkonten
words-service-accounts = api-schlüssel api keys maschinen programme roboter bots tokens
words-users-new = hinzufügen anlegen erstellen person konto
words-users-import = csv hochladen datei personen
words-invitations = eingeladene personen ausstehend
words-invitations-new = benutzer e-mail hinzufügen
words-roles = gruppen berechtigungen rechte
words-roles-new = anlegen erstellen hinzufügen berechtigungen
words-assignments = wer hat rollen rollenzuweisungen mitglieder
words-assignments-new = geben vergeben benutzer
words-runs = rückgängig erneut viele mehrere massenaktionen bulk benutzer zuweisungen
words-organizations = orte baum filialen einheiten abteilungen teams
words-organizations-new = anlegen erstellen hinzufügen ort filiale einheit abteilung team
words-access = warum berechtigung rechte erlaubt
words-access-who = berechtigung rechte inhaber erlaubt zugriff
words-access-requests = genehmigen ablehnen genehmigungen anträge just in time
words-access-requests-new = antrag rolle antragsrecht
words-eligibilities = wer darf beantragen genehmigungen anträge
words-eligibilities-new = anlegen erstellen hinzufügen wer darf beantragen
words-audit = audit verlauf ereignisse einträge änderungen
words-access-reviews = rezertifizierung zertifizierung kontrolle
words-access-reviews-new = starten beginnen rezertifizierung
words-webhooks = ereignisse benachrichtigungen integration
words-webhooks-new = anlegen erstellen hinzufügen ereignisse benachrichtigungen
words-domains = dns bestätigt e-mail
words-domains-new = hinzufügen dns
words-identity-providers = sso single sign-on openid oidc föderation entra okta google
words-identity-providers-new = anlegen erstellen hinzufügen sso single sign-on openid oidc föderation
words-directories = scim bereitstellung gruppen entra okta
words-directories-new = anlegen erstellen hinzufügen scim bereitstellung
words-tenant = mandant passwortrichtlinie aufbewahrung zweiter faktor attribute
words-account = profil ich sitzungen api-schlüssel passkey authenticator zweiter faktor wiederherstellungscodes
words-account-password = mein konto neu kennwort
words-account-email = mein konto neu mail


## Identity providers, with arguments.

claim-sub = sub: das Subject
claim-oid = oid: die Objektkennung von Entra
provisioning-off = Keine: Personen verknüpfen ihre Konten selbst.
provisioning-link = Den Benutzer mit der bestätigten Adresse der Person verknüpfen.
provisioning-create = Den Benutzer mit der bestätigten Adresse der Person verknüpfen oder einen neuen anlegen.

## Organizations, with arguments.

map-from = Karte ab { $name }
places-not-drawn =
    { $count ->
        [one] 1 Organisation ist nicht eingezeichnet. Beginnen Sie die Karte an einer übergeordneten Organisation, um sie zu sehen.
       *[other] { $count } Organisationen sind nicht eingezeichnet. Beginnen Sie die Karte an einer übergeordneten Organisation, um sie zu sehen.
    }
missing-below = { $count } darunter nicht eingezeichnet
members-counted =
    { $count ->
        [0] keine Mitglieder
        [one] 1 Mitglied
       *[other] { $count } Mitglieder
    }
counts-below = darunter: { $counts }
places-below = { $count } darunter
organizations-found =
    { $count ->
        [one] 1 Organisation
       *[other] { $count } Organisationen
    }
move-named = { $name } verschieben
move-below = { $name } unter { $parent } verschieben
move-to-top = { $name } auf die oberste Ebene verschieben
suspend-named = { $name } sperren
reactivate-named = { $name } reaktivieren
delete-named = { $name } löschen
restore-named = { $name } wiederherstellen
end-sessions-of = Alle Sitzungen von { $user } beenden
reset-factors-of = Alle zweiten Faktoren von { $user } entfernen
send-reset-to = Link für ein neues Passwort an { $user } senden
new-key-for = Neuer API-Schlüssel für { $user }
revoke-key-named = Schlüssel { $name } widerrufen

## The overview, with arguments.

directories-refused =
    { $count ->
        [one] In den letzten 7 Tagen wurden Anforderungen von 1 Verzeichnis abgelehnt
       *[other] In den letzten 7 Tagen wurden Anforderungen von { $count } Verzeichnissen abgelehnt
    }
requests-refused =
    { $count ->
        [one] 1 Anforderung
       *[other] { $count } Anforderungen
    }
webhooks-fail =
    { $count ->
        [one] 1 Webhook schlägt fehl: Sein Empfänger hat das letzte Ereignis nicht angenommen
       *[other] { $count } Webhooks schlagen fehl: Ihre Empfänger haben das letzte Ereignis nicht angenommen
    }
reviews-due =
    { $count ->
        [one] 1 Zugriffsüberprüfung mit nicht entschiedenen Einträgen ist überfällig oder innerhalb von 7 Tagen fällig
       *[other] { $count } Zugriffsüberprüfungen mit nicht entschiedenen Einträgen sind überfällig oder innerhalb von 7 Tagen fällig
    }
items-undecided = { $count } nicht entschieden
have-no-factor =
    { $count ->
        [one] 1 von { $people } aktiven Personen hat keinen zweiten Faktor
       *[other] { $count } von { $people } aktiven Personen haben keinen zweiten Faktor
    }
must-set-up-factor =
    { $count ->
        [one] Zurzeit hat 1 von { $people } aktiven Personen keinen: Wird er verlangt, muss sie ab der nächsten Anmeldung einen einrichten.
       *[other] Zurzeit haben { $count } von { $people } aktiven Personen keinen: Wird er verlangt, müssen sie ab der nächsten Anmeldung einen einrichten.
    }
within-days =
    { $days ->
        [one] binnen 1 Tag
       *[other] binnen { $days } Tagen
    }
# The text of the number may say that there are more.
keys-end =
    { $count ->
        [one] 1 API-Schlüssel läuft innerhalb von 30 Tagen ab
       *[other] { $number } API-Schlüssel laufen innerhalb von 30 Tagen ab
    }
own-keys-end =
    { $count ->
        [one] 1 Ihrer API-Schlüssel läuft innerhalb von 30 Tagen ab
       *[other] { $count } Ihrer API-Schlüssel laufen innerhalb von 30 Tagen ab
    }
assignments-end-next =
    { $count ->
        [one] 1 Rollenzuweisung endet innerhalb von 7 Tagen
       *[other] { $number } Rollenzuweisungen enden innerhalb von 7 Tagen
    }
assignments-end-soon =
    { $count ->
        [one] 1 Rollenzuweisung endet innerhalb von 30 Tagen
       *[other] { $number } Rollenzuweisungen enden innerhalb von 30 Tagen
    }
assignments-end-both =
    { $count ->
        [one] 1 Rollenzuweisung endet innerhalb von 7 Tagen, { $soon } innerhalb von 30 Tagen
       *[other] { $number } Rollenzuweisungen enden innerhalb von 7 Tagen, { $soon } innerhalb von 30 Tagen
    }
invitations-end =
    { $count ->
        [one] 1 unbeantwortete Einladung läuft innerhalb von 2 Tagen ab
       *[other] { $count } unbeantwortete Einladungen laufen innerhalb von 2 Tagen ab
    }
at-least-invitations-end = { $count } oder mehr unbeantwortete Einladungen laufen innerhalb von 2 Tagen ab
linked-holders =
    { $count ->
        [0] Nicht alle Administratoren wurden auf verknüpfte Konten geprüft
        [one] 1 Administrator hat ein verknüpftes Konto
       *[other] { $count } Administratoren haben ein verknüpftes Konto
    }
have-a-factor = Aktive Personen mit zweitem Faktor: { $with } von { $people }
all-entries-wait = Sie können innerhalb einer Minute geprüft werden.
entries-wait =
    { $count ->
        [one] Der neueste kann innerhalb einer Minute geprüft werden, die anderen jetzt.
       *[other] Die neuesten { $number } können innerhalb einer Minute geprüft werden, die anderen jetzt.
    }
entries-late = Einträge des Prüfprotokolls, die noch nicht geprüft werden können: { $number }
at-least = { $count } oder mehr

## Permissions and roles, with arguments.

delete-permission = Berechtigung { $name } löschen
permissions-found =
    { $count ->
        [one] 1 Berechtigung
       *[other] { $count } Berechtigungen
    }
only-in = Nur in { $role }
differences-found =
    { $count ->
        [0] Keine Unterschiede
        [one] 1 Unterschied
       *[other] { $count } Unterschiede
    }
may-everything-with = { $resource }: alle Aktionen, auch solche, die später hinzukommen.
edit-role = { $name } bearbeiten
change-role = Rolle { $name } ändern
chosen-of = { $chosen } von { $all }
roles-found =
    { $count ->
        [one] 1 Rolle
       *[other] { $count } Rollen
    }

## Actions on many, with arguments.

too-many-selected = dürfen höchstens { $max } Zeilen sein
run-assign =
    { $count ->
        [one] 1 Rollenzuweisung hinzufügen
       *[other] { $count } Rollenzuweisungen hinzufügen
    }
run-suspend = { $count } Benutzer sperren
run-reactivate = { $count } Benutzer reaktivieren
run-end-sessions =
    { $count ->
        [one] Sitzungen von 1 Benutzer beenden
       *[other] Sitzungen von { $count } Benutzern beenden
    }
run-revoke =
    { $count ->
        [one] 1 Zuweisung widerrufen
       *[other] { $count } Zuweisungen widerrufen
    }
run-change-end =
    { $count ->
        [one] Ende von 1 Zuweisung ändern
       *[other] Ende von { $count } Zuweisungen ändern
    }
run-assign-what = Jeder Benutzer erhält die Rolle sofort.
run-suspend-what = Die Benutzer können sich nicht mehr anmelden, bis ihre Konten reaktiviert werden. Alle Sitzungen und alle Rollen aus Zugriffsanträgen enden. Wartende Anträge werden abgebrochen.
run-reactivate-what = Die Benutzer können sich wieder anmelden, mit denselben Rollen wie zuvor.
run-end-sessions-what = Die Benutzer müssen sich auf jedem Gerät erneut anmelden.
run-revoke-what = Jeder Benutzer verliert die Rolle sofort.
run-change-end-what = Jeder Benutzer hat die Rolle bis zum neuen Ende.
undo-by-assign = Diese wieder zuweisen …
undo-by-suspend = Diese wieder sperren …
undo-by-reactivate = Diese reaktivieren …
undo-by-end-sessions = Diese Sitzungen beenden …
undo-by-revoke = Diese Zuweisungen widerrufen …
undo-by-change-end = Frühere Enden wiederherstellen …
run-done = { $done } von { $total } erledigt
run-done-and-refused = { $done } von { $total } erledigt, { $refused } nicht erledigt
runs-unseen =
    { $count ->
        [one] Eine Ihrer Sammelaktionen läuft noch oder ist beendet
       *[other] { $count } Ihrer Sammelaktionen laufen noch oder sind beendet
    }

## Signing in, the tenant, users and webhooks, with arguments.

sign-in-with = Mit { $provider } anmelden
confirm-at = Bei { $provider } bestätigen
entries-are-kept =
    { $days ->
        [one] Einträge werden 1 Tag aufbewahrt.
       *[other] Einträge werden { $days } Tage aufbewahrt.
    }
# A moment follows.
entries-will-be-kept =
    { $days ->
        [one] Sie werden 1 Tag aufbewahrt ab dem
       *[other] Sie werden { $days } Tage aufbewahrt ab dem
    }
entries-removed =
    { $count ->
        [0] Kein Eintrag ist älter als die Aufbewahrungsfrist.
        [one] 1 Eintrag wurde entfernt.
       *[other] { $count } Einträge wurden entfernt.
    }
policy-seed = Gemischt: mindestens 8 Zeichen
policy-nist = Lang: mindestens 15 Zeichen
policy-asvs = Einfach: mindestens 8 Zeichen
password-login-allowed = Erlaubt
password-login-federated = Nicht für Personen, deren Identitätsanbieter bekannt ist
email-login-off = Aus
email-login-on = Ein: für Personen mit bestätigter Adresse
authzen-id = IDs dieses Dienstes
authzen-name = Personen mit externer ID oder E-Mail-Adresse, Organisationen mit Kurznamen
factor-policy-off = Aus: Niemand kann einen einrichten
factor-policy-optional = Freiwillig: Jede Person entscheidet selbst
factor-policy-required = Pflicht für alle Personen
users-found = { $count } Benutzer
more-permissions =
    { $count ->
        [one] 1 weitere Berechtigung
       *[other] { $count } weitere Berechtigungen
    }
more-roles =
    { $count ->
        [one] 1 weitere Rolle
       *[other] { $count } weitere Rollen
    }
format-native = Einträge des Prüfprotokolls
format-ocsf = OCSF: das Open Cybersecurity Schema Framework, für ein SIEM
unknown-types = Der Dienst selbst zeichnet kein Ereignis dieses Typs auf: { $types }. Nur Ihre eigene Anwendung kann es aufzeichnen.
test-answered = Der Empfänger antwortete mit { $status } nach { $duration } ms
test-failed = Der Test ist nach { $duration } ms fehlgeschlagen
test-error = { $answer }: { $error }.
test-accepted = { $answer }. Der Test ist angenommen.

## The audit log, with arguments.

entries-shown =
    { $count ->
        [0] Kein passender Eintrag.
        [one] 1 Eintrag auf dieser Seite
       *[other] { $count } Einträge auf dieser Seite
    }
fields-unchanged =
    { $count ->
        [one] 1 unverändertes Feld
       *[other] { $count } unveränderte Felder
    }

## The actions of the audit log, and the types of resources in it.

log-action-create = Angelegt
log-action-read = Exportiert
log-action-update = Geändert
log-action-delete = Gelöscht
log-action-user-suspended = Benutzer gesperrt
log-action-user-reactivated = Benutzer reaktiviert
log-action-login = Angemeldet
log-action-login-failure = Anmeldung fehlgeschlagen
log-action-logout = Sitzung beendet
log-action-impersonation-started = Handeln als anderer Benutzer begonnen
log-action-impersonation-ended = Handeln als anderer Benutzer beendet
log-action-token-refresh = Sitzung fortgesetzt
log-action-email-verified = E-Mail-Adresse bestätigt
log-action-password-change = Passwort geändert
log-action-password-reset-requested = Link für ein neues Passwort gesendet
log-action-email-login-requested = Anmeldelink gesendet
log-action-recovery-code-used = Wiederherstellungscode verwendet
log-action-recovery-codes-issued = Wiederherstellungscodes ausgestellt
log-action-passkey-counter = Zähler eines Passkeys zurückgefallen
log-action-role-assigned = Rolle zugewiesen
log-action-role-revoked = Rolle entzogen
log-action-accepted = Einladung angenommen
log-action-completed = Zugriffsüberprüfung abgeschlossen
log-action-approved = Zugriffsantrag genehmigt
log-action-denied = Zugriffsantrag abgelehnt
log-action-cancelled = Zugriffsantrag abgebrochen
log-action-lapsed = Zugriffsantrag abgelaufen
log-action-ended = Beantragter Zugriff beendet
log-action-erase = Personenbezogene Daten gelöscht
log-resource-user = Benutzer
log-resource-organization = Organisation
log-resource-tenant = Mandant
log-resource-role = Rolle
log-resource-permission = Berechtigung
log-resource-role-assignment = Rollenzuweisung
log-resource-session = Sitzung
log-resource-audit-log = Prüfprotokoll
log-resource-invitation = Einladung
log-resource-factor = Zweiter Faktor
log-resource-api-key = API-Schlüssel
log-resource-webhook = Webhook
log-resource-access-review = Zugriffsüberprüfung
log-resource-domain = Domain
log-resource-identity-provider = Identitätsanbieter
log-resource-identity = Verknüpftes Konto
log-resource-directory = Verzeichnis
log-resource-directory-group = Gruppe eines Verzeichnisses
log-resource-eligibility = Antragsrecht
log-resource-access-request = Zugriffsantrag
log-resource-legal-hold = Aufbewahrungssperre

## The fields of entries of the audit log.

log-field-access-request-id = Zugriffsantrag
log-field-actor-id = Akteur
log-field-adopt = Übernimmt Benutzer
log-field-approvals = Genehmigungen
log-field-approvals-needed = Nötige Genehmigungen
log-field-approved-by = Genehmigt von
log-field-approver-role-id = Rolle der Entscheidenden
log-field-assignment-id = Rollenzuweisung
log-field-attributes = Attribute
log-field-authzen-identifiers = Bezeichner in AuthZEN-Anfragen
log-field-cause = Ursache
log-field-client-id = Client-ID
log-field-close-reason = Grund des Endes
log-field-decision = Entscheidung
log-field-decision-reason = Grund der Entscheidung
log-field-deletion-at = Endgültig gelöscht am
log-field-description = Beschreibung
log-field-directory-group-id = Gruppe eines Verzeichnisses
log-field-directory-id = Verzeichnis
log-field-display-name = Name
log-field-domain = Domain
log-field-domain-ids = Domains
log-field-due-at = Fällig
log-field-eligibility-id = Antragsrecht
log-field-email = E-Mail-Adresse
log-field-email-login = Anmeldung per E-Mail
log-field-email-verified-at = E-Mail-Adresse bestätigt am
log-field-enabled = Eingeschaltet
log-field-ends-at = Ende
log-field-expires-at = Läuft ab
log-field-external-id = Externe ID
log-field-factor-is-trusted = Seinem zweiten Faktor wird vertraut
log-field-first-name = Vorname
log-field-format = Format
log-field-former-until = Früheres Geheimnis gültig bis
log-field-grants = Rollen, die sie gibt
log-field-held-role-id = Inhaber der Rolle
log-field-home-organization-id = Stammorganisation
log-field-identity-provider-id = Identitätsanbieter
log-field-invitation-id = Einladung
log-field-is-rotated = Geheimnis ersetzt
log-field-is-trusted = Durch vertrauenswürdigen Code
log-field-issuer = Aussteller
log-field-item-id = Eintrag der Überprüfung
log-field-keeps-log = Behält das Protokoll
log-field-kind = Typ
log-field-lapses-at = Verfällt am
log-field-last-name = Nachname
log-field-max-seconds = Höchstens (Sekunden)
log-field-members = Mitglieder
log-field-members-added = Hinzugefügte Mitglieder
log-field-members-removed = Entfernte Mitglieder
log-field-method = Verfahren
log-field-name = Name
log-field-organization-attributes = Attribute von Organisationen
log-field-organization-id = Organisation
log-field-parent-id = Übergeordnete Organisation
log-field-password-login = Anmeldung mit Passwort
log-field-password-policy = Passwortrichtlinie
log-field-permissions = Berechtigungen
log-field-provider-id = Identitätsanbieter
log-field-provisioning = Personen ohne Benutzer
log-field-read-only = Nur Lesen
log-field-reason = Grund
log-field-release-reason = Grund der Aufhebung
log-field-replayed-from = Erneut gesendet ab Nummer
log-field-retention-days = Tage, für die Einträge aufbewahrt werden
log-field-role-id = Rolle
log-field-role-ids = Rollen
log-field-role-name = Name der Rolle
log-field-roles = Rollen
log-field-scope = Geltungsbereich
log-field-scopes = Scopes
log-field-second-factor = Zweiter Faktor
log-field-second-factor-grace-days = Schonfrist für den zweiten Faktor in Tagen
log-field-seconds = Dauer (Sekunden)
log-field-service-account-id = Dienstkonto
log-field-slug = Kurzname
log-field-starts-at = Beginn
log-field-status = Status
log-field-subject = Kennung beim Anbieter
log-field-subject-claim = Subject-Claim
log-field-target-user-id = Betroffener Benutzer
log-field-ticket = Ticket
log-field-trusts-email = Seinen E-Mail-Adressen wird vertraut
log-field-type = Typ
log-field-types = Ereignistypen
log-field-unregistered-attributes = Attribute ohne Definition
log-field-url = Adresse
log-field-user-attributes = Attribute von Benutzern
log-field-user-id = Benutzer
log-field-user-ids = Benutzer
log-field-user-name = Benutzername

## The texts of the script of the audit log.

audit-text-following = Neue Einträge erscheinen oben, alle paar Sekunden, solange diese Seite sichtbar ist.
audit-text-news = Neue Einträge: { $count }.
audit-text-gap = Seit dem Laden dieser Seite sind viele Einträge hinzugekommen. Laden Sie sie neu, und verfolgen Sie dann das Protokoll.
audit-text-long = Das Verfolgen wurde angehalten, weil es lange dauerte. Klicken Sie auf die Schaltfläche, um fortzufahren.
audit-text-stopped = Das Verfolgen wurde angehalten.
audit-text-ended = Ihre Sitzung ist beendet.
audit-text-good = Geprüft: Alles stimmt überein.
audit-text-bad = Geprüft: Etwas stimmt nicht überein.
audit-text-unknown = Dies konnte nicht geprüft werden.
audit-text-checking = Geprüfte Einträge: { $done } von { $count }.
audit-text-log-good = Das Protokoll wurde nicht verändert, seit dieser Browser es zuletzt geprüft hat ({ $time }).
audit-text-log-first = Das ist die erste Prüfung des Protokolls in diesem Browser.
audit-text-log-kept = Ob das Protokoll früher verändert wurde, ist nicht geprüft. Dieser Browser bewahrt auf, was er braucht, um eine spätere Veränderung zu erkennen.
audit-text-log-compared = Die Einträge auf dieser Seite wurden mit dem Protokoll verglichen und stimmen überein: { $count }. Einträge auf anderen Seiten wurden nicht gelesen.
audit-text-log-waiting = Nicht geprüfte Einträge auf dieser Seite: { $count }. Neue Einträge können nach einigen Sekunden geprüft werden. Der erste Grund: { $why }
audit-text-entry-differs = Der Eintrag „{ $sentence }“ stimmt nicht mit dem Protokoll überein.
audit-text-mark-good = ✓
audit-text-mark-bad = ✗
audit-text-mark-unknown = –
audit-text-how = Was geprüft wurde und was nicht
audit-text-included = Dieser Browser hat den Hash des Eintrags berechnet und daraus, mit { $hashes } weiteren Hashes, die Wurzel des Protokolls mit { $size } Einträgen. Sie ist die Wurzel im aktuellen Prüfpunkt.
audit-text-not-included = Die Wurzel, die dieser Browser aus dem Eintrag berechnet hat, ist nicht die Wurzel im aktuellen Prüfpunkt.
audit-text-signed = Der aktuelle Prüfpunkt ist mit dem Schlüssel signiert, den dieser Browser seit { $time } aufbewahrt.
audit-text-signed-first = Der aktuelle Prüfpunkt ist mit dem Schlüssel signiert, den der Server nennt. Dieser Browser bewahrt den Schlüssel ab jetzt auf.
audit-text-not-signed = Der aktuelle Prüfpunkt ist nicht mit dem Schlüssel des Protokolls signiert.
audit-text-signature-unknown = Die Signatur des Prüfpunkts wurde nicht geprüft, da dieser Browser Ed25519 nicht beherrscht.
audit-text-other-key = Das Protokoll hat einen anderen Schlüssel als den, den dieser Browser seit { $time } aufbewahrt.
audit-text-grown = Der Prüfpunkt, den dieser Browser am { $time } aufbewahrt hat, umfasst { $old } Einträge, und das heutige Protokoll beginnt mit denselben { $old } Einträgen. Keiner davon wurde verändert, entfernt oder verschoben.
audit-text-not-grown = Das heutige Protokoll beginnt nicht mit den { $old } Einträgen des Prüfpunkts, den dieser Browser am { $time } aufbewahrt hat. Einige davon wurden verändert, entfernt oder verschoben.
audit-text-personal = Die personenbezogenen Werte des Eintrags passen zu den Hashes in ihm.
audit-text-not-personal = Personenbezogene Werte des Eintrags passen nicht zu den Hashes in ihm.
audit-text-erased = Personenbezogene Werte des Eintrags wurden gelöscht und deshalb nicht geprüft. Ihre Hashes stehen im Eintrag.
audit-text-shown = Der nachgewiesene Eintrag hat die Aktion, den Typ und die Zeit, die diese Seite zeigt. Vergleichen Sie unten seine anderen Felder.
audit-text-not-shown = Der nachgewiesene Eintrag hat eine andere Aktion, einen anderen Typ oder eine andere Zeit, als diese Seite zeigt.
audit-text-protected = Der Eintrag stand am { $time } im Protokoll und wurde seitdem nicht verändert.
audit-text-newer = Der Eintrag ist neuer als die letzte Prüfung durch diesen Browser ({ $time }). Ob er früher verändert wurde, ist nicht geprüft. Eine spätere Veränderung wird erkannt.
audit-text-first = Dieser Browser hat das Protokoll noch nie geprüft. Ob der Eintrag früher verändert wurde, ist nicht geprüft. Eine spätere Veränderung wird erkannt.
audit-text-limit-truth = Nicht geprüft: ob die Einträge bei ihrer Aufzeichnung wahr waren.
audit-text-limit-others = Nicht geprüft: ob andere dasselbe Protokoll erhalten. Vergleichen Sie Ihren Prüfpunkt mit deren Prüfpunkten.
audit-text-limit-script = Das Programm dieser Prüfung kommt vom selben Server. Um davon unabhängig zu sein, bewahren Sie den Prüfpunkt unten auf, und prüfen Sie ihn mit einem eigenen Werkzeug.
audit-text-evidence = Der Prüfpunkt, der Schlüssel und, falls ein Eintrag geprüft wurde, der nachgewiesene Eintrag
audit-text-operator = Löschen Sie nicht die Daten dieses Browsers, und bitten Sie den Betreiber, diesen Befehl auszuführen: iam-server audit verify
audit-text-insecure = Ein Browser kann das Protokoll nur über HTTPS oder auf demselben Rechner prüfen.

## The entries of the log, in sentences. A name that is not known is empty; one that can be is written with its space
## before it, and the changed fields stand in brackets.

said-acting-as = { $by } als { $user }
said-of-user = { " " }von { $user }
said-user-create-invited = { $subject } hat eine Einladung angenommen und ist nun Benutzer
said-user-create = { $actor } hat den Benutzer{ $named } angelegt
said-user-update = { $actor } hat den Benutzer{ $named } geändert{ $fields }
said-user-delete = { $actor } hat den Benutzer{ $named } gelöscht
said-user-suspended = { $actor } hat { $subject } gesperrt
said-user-reactivated = { $actor } hat { $subject } reaktiviert
said-user-login-failure = Eine Anmeldung als { $subject } ist fehlgeschlagen
said-user-password-change = { $actor } hat das Passwort{ $of-user } geändert
said-user-password-reset-requested = Ein Link für ein neues Passwort wurde an { $subject } gesendet
said-user-email-login-requested = Ein Anmeldelink wurde an { $subject } gesendet
said-user-email-verified = Die E-Mail-Adresse von { $subject } wurde bestätigt
said-user-recovery-code-used = { $subject } hat einen Wiederherstellungscode verwendet
said-user-recovery-codes-issued = { $subject } hat neue Wiederherstellungscodes erhalten
said-user-read = { $actor } hat exportiert, was über { $subject } gespeichert ist
said-user-erase = { $actor } hat die personenbezogenen Daten von { $subject } im Protokoll gelöscht
said-organization-create = { $actor } hat die Organisation{ $named } angelegt
said-organization-update = { $actor } hat die Organisation{ $named } geändert{ $fields }
said-organization-delete = { $actor } hat die Organisation{ $named } gelöscht
said-tenant-create = { $actor } hat den Mandanten{ $named } angelegt
said-tenant-read = { $actor } hat den Inhalt des Mandanten exportiert
said-tenant-update = { $actor } hat die Einstellungen des Mandanten geändert{ $fields }
said-tenant-delete = { $actor } hat begonnen, den Mandanten zu löschen
said-role-create = { $actor } hat die Rolle{ $named } angelegt
said-role-update = { $actor } hat die Rolle{ $named } geändert{ $fields }
said-role-delete = { $actor } hat die Rolle{ $named } gelöscht
said-permission-create = { $actor } hat die Berechtigung{ $named } registriert
said-permission-delete = { $actor } hat die Berechtigung{ $named } entfernt
said-role-assigned-by-request = { $user } hat durch einen Zugriffsantrag die Rolle { $role } erhalten (Geltungsbereich: { $place })
said-role-assigned-by-group = { $actor } hat { $user } durch eine Gruppe die Rolle { $role } verliehen (Geltungsbereich: { $place })
said-role-got = { $user } hat die Rolle { $role } erhalten (Geltungsbereich: { $place })
said-role-assigned = { $actor } hat { $user } die Rolle { $role } zugewiesen (Geltungsbereich: { $place })
said-role-expired = Die Rolle { $role } von { $user } ist beendet (Geltungsbereich: { $place })
said-role-ended = { $actor } hat die Rolle { $role } von { $user } beendet, die durch einen Zugriffsantrag verliehen worden war (Geltungsbereich: { $place })
said-role-ended-by-group = { $actor } hat die Rolle { $role } von { $user } beendet, da keine Gruppe sie mehr verleiht (Geltungsbereich: { $place })
said-role-revoked = { $actor } hat { $user } die Rolle { $role } entzogen (Geltungsbereich: { $place })
said-assignment-to-group = { $actor } hat eine Rollenzuweisung an eine Gruppe übergeben (Geltungsbereich: { $place })
said-assignment-update = { $actor } hat das Ende einer Rollenzuweisung geändert (Geltungsbereich: { $place })
said-session-login = { $actor } hat sich angemeldet
said-session-token-refresh = { $actor } hat eine Sitzung fortgesetzt
said-session-impersonation-started = { $by } handelt jetzt als { $actor }
said-session-impersonation-ended = { $by } handelt nicht mehr als { $actor }
said-session-update = { $actor } hat die eigene Identität erneut nachgewiesen
said-session-logout-all = { $actor } hat sich überall abgemeldet
said-session-own-terminated = { $actor } hat eine eigene Sitzung beendet
said-session-logout = { $actor } hat sich abgemeldet
said-session-ended = Eine Sitzung von { $user } wurde beendet{ $because }
said-session-ended-by = { $actor } hat eine Sitzung von { $user } beendet{ $because }
said-because-password-change = , da das Passwort geändert wurde
said-because-token-reuse = , da ein Token dieser Sitzung zweimal verwendet wurde
said-because-user-suspended = , da der Benutzer gesperrt wurde
said-because-user-deleted = , da der Benutzer gelöscht wurde
said-because-tenant-suspended = , da der Mandant gesperrt wurde
said-because-identity-linked = , da eine Person über ihre Adresse mit dem Konto verknüpft wurde
said-because-factors-removed = , da die zweiten Faktoren entfernt wurden
said-audit-log-read = { $actor } hat das Prüfprotokoll exportiert
said-audit-log-update = { $actor } hat die Aufbewahrung des Prüfprotokolls geändert
said-audit-log-delete = { $actor } hat alte Einträge des Prüfprotokolls entfernt
said-invitation-create = { $actor } hat { $subject } eingeladen
said-invitation-update = { $actor } hat eine Einladung erneut gesendet
said-invitation-delete = { $actor } hat die Einladung von { $subject } widerrufen
said-invitation-accepted = Eine Einladung wurde angenommen
said-factor-create = { $actor } hat den zweiten Faktor{ $named }{ $of-user } hinzugefügt
said-factor-update = { $actor } hat den zweiten Faktor{ $named }{ $of-user } umbenannt
said-factor-delete = { $actor } hat den zweiten Faktor{ $named }{ $of-user } entfernt
said-factor-passkey-counter = Der Zähler eines Passkeys von { $user } ist zurückgefallen: Möglicherweise gibt es eine Kopie
said-api-key-create = { $actor } hat den API-Schlüssel{ $named }{ $of-user } erstellt
said-api-key-update = { $actor } hat den API-Schlüssel{ $named }{ $of-user } geändert{ $fields }
said-api-key-delete = { $actor } hat den API-Schlüssel{ $named }{ $of-user } widerrufen
said-webhook-create = { $actor } hat den Webhook{ $named } angelegt
said-webhook-update = { $actor } hat den Webhook{ $named } geändert{ $fields }
said-webhook-delete = { $actor } hat den Webhook{ $named } gelöscht
said-domain-create = { $actor } hat die Domain{ $named } hinzugefügt
said-domain-update = { $actor } hat die Domain{ $named } geändert{ $fields }
said-domain-delete = { $actor } hat die Domain{ $named } entfernt
said-legal-hold-create = { $actor } hat die Aufbewahrungssperre{ $named } gesetzt
said-legal-hold-delete = { $actor } hat die Aufbewahrungssperre{ $named } aufgehoben
said-identity-create = { $actor } hat ein Konto bei einem Identitätsanbieter mit { $user } verknüpft
said-identity-delete = { $actor } hat die Verknüpfung von { $user } mit einem Identitätsanbieter entfernt
said-identity-provider-create = { $actor } hat den Identitätsanbieter{ $named } angelegt
said-identity-provider-update = { $actor } hat den Identitätsanbieter{ $named } geändert{ $fields }
said-identity-provider-delete = { $actor } hat den Identitätsanbieter{ $named } gelöscht
said-directory-create = { $actor } hat das Verzeichnis{ $named } angelegt
said-directory-update = { $actor } hat das Verzeichnis{ $named } geändert{ $fields }
said-directory-delete = { $actor } hat das Verzeichnis{ $named } entfernt
said-directory-group-create = { $actor } hat die Gruppe{ $named } angelegt
said-directory-group-update = { $actor } hat die Gruppe{ $named } geändert{ $fields }
said-directory-group-delete = { $actor } hat die Gruppe{ $named } gelöscht
said-access-review-create = { $actor } hat die Zugriffsüberprüfung{ $named } gestartet
said-access-review-eligibility-decided = { $actor } hat in einer Zugriffsüberprüfung über ein Antragsrecht entschieden
said-access-review-role-decided = { $actor } hat in einer Zugriffsüberprüfung über eine Rolle von { $user } entschieden
said-access-review-update = { $actor } hat die Zugriffsüberprüfung{ $named } geändert{ $fields }
said-access-review-completed = { $actor } hat die Zugriffsüberprüfung{ $named } abgeschlossen
said-holders-of-a-role = Inhaber einer Rolle
said-eligibility-create = { $actor } hat ein Antragsrecht auf die Rolle { $role } angelegt (für: { $who }; Geltungsbereich: { $place })
said-eligibility-update = { $actor } hat ein Antragsrecht auf die Rolle { $role } geändert (für: { $who }; Geltungsbereich: { $place }){ $fields }
said-eligibility-delete = { $actor } hat ein Antragsrecht auf die Rolle { $role } entfernt (für: { $who }; Geltungsbereich: { $place })
said-eligibility-other = { $actor } hat { $action } für ein Antragsrecht aufgezeichnet
said-request-create = { $actor } hat die Rolle { $role } beantragt (Geltungsbereich: { $place })
said-request-approved = { $actor } hat { $user } die Rolle { $role } genehmigt (Geltungsbereich: { $place })
said-request-denied = { $actor } hat den Antrag von { $user } auf die Rolle { $role } abgelehnt (Geltungsbereich: { $place })
said-request-cancelled-because = Der Antrag von { $user } auf die Rolle { $role } (Geltungsbereich: { $place }) wurde abgebrochen: { $because }
said-cause-outdated = Er kann nicht mehr so gewährt werden, wie er gestellt wurde
said-cause-not-eligible = Der Benutzer darf die Rolle nicht mehr beantragen
said-cause-role-held = Der Benutzer hat die Rolle auf anderem Weg
said-cause-user-suspended = Der Benutzer wurde gesperrt
said-cause-user-deleted = Der Benutzer wurde gelöscht
said-cause-other = Seine Voraussetzungen haben sich geändert
said-request-cancelled = { $actor } hat den Antrag von { $user } auf die Rolle { $role } abgebrochen (Geltungsbereich: { $place })
said-request-lapsed = Der Antrag von { $user } auf die Rolle { $role } ist abgelaufen (Geltungsbereich: { $place })
said-request-expired = Die Zeit, für die { $user } die Rolle { $role } erhalten hat, ist abgelaufen (Geltungsbereich: { $place })
said-request-ended = { $actor } hat den Zugriff von { $user } durch die Rolle { $role } beendet (Geltungsbereich: { $place })
said-request-other = { $actor } hat { $action } für einen Zugriffsantrag aufgezeichnet
said-other = { $actor } hat { $resource } { $action } aufgezeichnet

## The titles of the resources of permissions.

resource-users = Benutzer
resource-role-assignments = Rollenzuweisungen
resource-roles = Rollen
resource-permissions = Berechtigungen
resource-organizations = Organisationen
resource-audit-logs = Prüfprotokoll
resource-tenants = Mandant
resource-sessions = Sitzungen
resource-invitations = Einladungen
resource-api-keys = API-Schlüssel
resource-webhooks = Webhooks
resource-access-reviews = Zugriffsüberprüfungen
resource-domains = Domains
resource-identity-providers = Identitätsanbieter
resource-directories = Verzeichnisse
resource-impersonations = Handeln als anderer Benutzer
resource-eligibilities = Antragsrechte
resource-access-requests = Zugriffsanträge
resource-iam-legal-holds = Aufbewahrungssperren

## The titles of problems, by their kinds.

problem-validation-error = Ungültige Eingabe
problem-validation = Ungültige Eingabe
problem-unauthorized = Nicht angemeldet
problem-second-factor-required = Zweiter Faktor erforderlich
problem-insufficient-authentication = Erneute Anmeldung erforderlich
problem-federation-required = Anmeldung über das Unternehmen erforderlich
problem-forbidden = Nicht erlaubt
problem-account-locked = Konto gesperrt
problem-not-found = Nicht gefunden
problem-conflict = Konflikt
problem-legal-hold = Aufbewahrungssperre
problem-gone = Nicht mehr vorhanden
problem-precondition-failed = Inzwischen geändert
problem-request-timeout = Zeitüberschreitung der Anforderung
problem-idempotency-key-reused = Idempotency-Key wiederverwendet
problem-payload-too-large = Anforderung zu groß
problem-unsupported-media-type = Medientyp nicht unterstützt
problem-method-not-allowed = Methode nicht erlaubt
problem-rate-limited = Zu viele Anforderungen
problem-internal = Interner Serverfehler
problem-unavailable = Dienst nicht verfügbar
problem-bad-request = Fehlerhafte Anforderung

## What the services say, in English. The console finds a text of a service by these patterns, and shows it in the
## language of the person. A text that is not here is shown in English.

core-error-second-factor-required = Dieses Konto braucht einen zweiten Faktor. Senden Sie ihn mit der Aufforderung.
core-error-federation-required = Melden Sie sich mit dem Konto Ihres Unternehmens an. Ihr Mandant lässt für Ihre Adresse keine Passwörter zu.
core-error-account-locked = Das Konto ist vorübergehend gesperrt. Versuchen Sie es in { $value } Sekunden erneut.
core-error-not-found = { $value } nicht gefunden.
core-error-precondition-failed = Die Ressource wurde seit dem Lesen geändert.
core-error-events-removed = Diese Einträge wurden nach Ablauf der Aufbewahrung entfernt. Der erste verbliebene hat die laufende Nummer { $first }.
core-error-idempotency-key-reused = Der Idempotency-Key wurde für eine andere Anforderung verwendet.
core-error-overloaded = Der Dienst ist ausgelastet. Versuchen Sie es in { $value } Sekunden erneut.
core-error-too-many-streams = Es sind { $first } Ereignisströme offen, mehr sind nicht erlaubt. Schließen Sie zuerst einen.
core-error-too-many-exports = Es läuft bereits ein Export. Versuchen Sie es erneut, wenn er beendet ist.
core-error-mail-off = Diese Installation versendet keine E-Mails. Der Betreiber kann den Versand einschalten.
core-error-passkeys-off = Diese Installation unterstützt keine Passkeys. Der Betreiber kann sie einschalten.
core-error-webhooks-off = Diese Installation sendet keine Webhooks. Der Betreiber kann sie einschalten.
core-error-federation-off = Diese Installation stellt keine Verbindung zu Identitätsanbietern her. Der Betreiber kann die Föderation einschalten.
core-error-provider-unavailable = Der Identitätsanbieter antwortet nicht. Versuchen Sie es später erneut.
core-error-resolver-off = Diese Installation fragt keine DNS-Einträge ab. Der Betreiber kann die Domain bestätigen.
core-error-internal = Ein interner Fehler ist aufgetreten.
core-unauthenticated-no-token = Eine Anmeldung ist erforderlich: Senden Sie ein Bearer-Token.
core-unauthenticated-invalid-token = Das Zugriffstoken ist ungültig.
core-unauthenticated-api-key = Der API-Schlüssel ist ungültig.
core-unauthenticated-expired-token = Das Zugriffstoken ist abgelaufen.
core-unauthenticated-credentials = Die E-Mail-Adresse oder das Passwort ist nicht richtig. Wenn Sie Konten in mehreren Mandanten haben, geben Sie den Mandanten an.
core-unauthenticated-refresh-token = Das Aktualisierungstoken ist ungültig oder abgelaufen.
core-unauthenticated-challenge = Die Aufforderung ist unbekannt, abgelaufen oder wurde bereits verwendet. Melden Sie sich erneut an.
core-unauthenticated-second-factor = Der zweite Faktor ist falsch oder wurde bereits verwendet.
core-unauthenticated-not-linked = Mit diesem Konto ist kein Benutzer verknüpft. Wenden Sie sich an einen Administrator.
core-unauthenticated-passkey = Der Passkey wird nicht akzeptiert.
core-unauthenticated-password-alone = Weisen Sie sich mit Ihrem zweiten Faktor aus. Das Passwort allein genügt nicht.
core-unauthenticated-by-email = Sie haben sich per E-Mail angemeldet. Um über Zugriff zu entscheiden, weisen Sie sich auf anderem Weg aus.
core-unauthenticated-not-fresh = Weisen Sie sich erneut aus: Das letzte Mal darf höchstens { $value } Sekunden her sein und muss mit einem zweiten Faktor erfolgt sein, falls Sie einen haben.
core-forbidden-permission = Fehlende Berechtigung: { $first }.
core-forbidden-escalation = Sie können keine höheren Rechte als Ihre eigenen vergeben oder übernehmen: { $first }.
core-forbidden-account-escalation = Das Dienstkonto des Verzeichnisses oder sein Schlüssel hat dort nicht, was die Rolle verleiht: { $value }.
core-forbidden-not-a-user = Das kann nur ein angemeldeter Benutzer.
core-forbidden-api-key = Das ist mit einem API-Schlüssel nicht möglich. Melden Sie sich an.
core-forbidden-impersonator = Sie handeln als anderer Benutzer und können das nicht in dessen Namen tun.
core-forbidden-read-only = Sie handeln als anderer Benutzer in einer Sitzung, die nichts ändern kann.
core-forbidden-not-impersonable = Sie können nur als eine andere Person handeln, und nicht als eine mit allen Berechtigungen.
core-forbidden-higher-rights = Sie können nicht als ein Benutzer handeln, der mehr darf als Sie: { $first }.
core-forbidden-no-directory = Dieser API-Schlüssel gehört zu keinem Verzeichnis.
core-forbidden-not-trusted = Das kann nur vertrauenswürdiger Code.
core-forbidden-own-email = Die eigene E-Mail-Adresse ändern Sie mit `POST /auth/email`, wofür Ihr Passwort nötig ist.
core-forbidden-own-external-id = Ihre eigene externe ID können Sie nicht ändern. Ein anderer Administrator kann es.
core-forbidden-own-access = Sie können weder über Ihre eigenen Rollen entscheiden noch eine Überprüfung abschließen oder abbrechen, die eine davon widerruft.
core-forbidden-not-eligible = Sie dürfen diese Rolle dort nicht beantragen.
core-forbidden-not-approver = Über diesen Antrag entscheiden nur die Inhaber seiner Genehmigerrolle. Eine befristete Rolle zählt nicht.
core-forbidden-own-request = Sie können nicht über Ihren eigenen Zugriffsantrag entscheiden.
core-forbidden-own-entries = Ihre eigenen Einträge können Sie nicht aus dem Prüfprotokoll löschen.
core-forbidden-own-legal-hold = Eine Aufbewahrungssperre auf Ihren eigenen Daten können Sie nicht aufheben.
core-forbidden-suspended = Das Konto ist gesperrt.
core-forbidden-tenant-suspended = Der Mandant ist gesperrt.
core-forbidden-second-factor-required = Ihr Mandant verlangt einen zweiten Faktor. Weisen Sie sich mit einem aus, oder richten Sie einen ein, wenn Sie keinen haben.
core-forbidden-registration-closed = Die Registrierung ist geschlossen.
core-rule-organization-required = Rollen für Organisationen brauchen eine Organisation.
core-rule-organization-refused = Rollen für den gesamten Mandanten haben keine Organisation.
core-rule-circular-parent = Zirkelbezug: Die übergeordnete Organisation ist die Organisation selbst oder liegt unter ihr.
core-rule-depth = Die größte erlaubte Tiefe von { $first } Ebenen ist überschritten.
core-rule-too-many-review-items = Eine Zugriffsüberprüfung hat höchstens { $first } Einträge. Grenzen Sie sie durch Organisation, Rollen oder Benutzer ein.
core-conflict-email-taken = Es gibt bereits einen Benutzer mit dieser E-Mail-Adresse.
core-conflict-email-of-deleted-user = Ein gelöschter Benutzer hat diese E-Mail-Adresse. Stellen Sie stattdessen ihn wieder her.
core-conflict-external-id-taken = Es gibt bereits einen Benutzer mit dieser externen ID.
core-conflict-external-id-is-email = Diese externe ID ist die E-Mail-Adresse eines anderen Benutzers.
core-conflict-slug-taken = Dieser Kurzname ist bereits vergeben.
core-conflict-user-inactive = Der Benutzer ist gelöscht. Er kann nur wiederhergestellt oder endgültig gelöscht werden.
core-conflict-user-not-active = Der Benutzer ist nicht aktiv.
core-conflict-service-account = Ein Dienstkonto hat weder ein Passwort noch einen zweiten Faktor noch eine E-Mail-Adresse.
core-conflict-role-held = Der Benutzer hat diese Rolle bereits in dieser Organisation oder im gesamten Mandanten.
core-conflict-role-name-taken = Es gibt bereits eine Rolle mit diesem Namen.
core-conflict-system-role = Vordefinierte Rollen können weder geändert noch gelöscht werden.
core-conflict-too-many-revocations = Damit würden mehr als { $first } Rollenzuweisungen enden. Widerrufen Sie zuerst einige davon.
core-conflict-too-many-access-reviews = Der Mandant hat { $first } offene Zugriffsüberprüfungen und damit sein Kontingent erreicht. Schließen Sie zuerst eine ab, oder brechen Sie eine ab.
core-conflict-role-in-use = Die Rolle ist mindestens einem Benutzer zugewiesen.
core-conflict-role-of-eligibility = Ein noch gültiges Antragsrecht verwendet die Rolle.
core-conflict-role-scope-in-use = Die Rolle hat Zuweisungen, die ihr neuer Geltungsbereich nicht erlaubt.
core-conflict-permission-name-taken = Es gibt bereits eine Berechtigung mit diesem Namen.
core-conflict-system-permission = Vordefinierte Berechtigungen können nicht gelöscht werden.
core-conflict-permission-in-use = Mindestens eine Rolle hat diese Berechtigung.
core-conflict-organization-inactive = Die Organisation ist gelöscht.
core-conflict-organization-has-children = Unter der Organisation liegen andere Organisationen.
core-conflict-too-many-homes = Die Organisation ist die Stammorganisation von mehr als { $first } Benutzern. Geben Sie einigen davon zuerst eine andere.
core-conflict-organization-too-deep = Die Organisation läge tiefer, als die Hierarchie erlaubt.
core-conflict-last-administrator = Der letzte aktive Administrator eines Mandanten kann weder gelöscht noch gesperrt werden und kann diese Rolle nicht verlieren.
core-conflict-not-sequenced = Der Eintrag hat noch keine laufende Nummer. Versuchen Sie es in einer Sekunde erneut.
core-conflict-still-running = Eine Anforderung mit diesem Idempotency-Key wird noch bearbeitet.
core-conflict-quota-exceeded = Der Mandant hat sein Kontingent erreicht: { $second } ({ $first }).
core-conflict-previews-running = Für diesen Mandanten werden gerade zwei Vorschauen berechnet. Versuchen Sie es erneut, wenn eine davon fertig ist.
core-conflict-already-invited = Diese Adresse ist bereits eingeladen.
core-conflict-invitation-not-pending = Die Einladung steht nicht mehr aus.
core-conflict-invitation-outdated = Der Benutzer, der die Einladung gesendet hat, kann diese Rollen nicht mehr vergeben. Bitten Sie um eine neue Einladung.
core-conflict-second-factor-off = Zweite Faktoren sind in diesem Mandanten ausgeschaltet.
core-conflict-last-factor = Ihr Mandant verlangt einen zweiten Faktor. Richten Sie zuerst einen anderen ein.
core-conflict-last-identity = Das ist der einzige Weg, auf dem sich der Benutzer anmelden kann. Er muss zuerst ein Passwort oder einen Passkey festlegen.
core-conflict-too-many-factors = Sie haben die höchste erlaubte Zahl von Faktoren.
core-conflict-too-many-api-keys = Der Benutzer hat die höchste erlaubte Zahl von API-Schlüsseln. Widerrufen Sie zuerst einen.
core-conflict-api-key-expired = Der API-Schlüssel ist abgelaufen. Erstellen Sie einen neuen.
core-conflict-too-many-webhooks = Der Mandant hat die höchste erlaubte Zahl von Webhooks. Entfernen Sie zuerst einen.
core-conflict-legal-hold = Eine Aufbewahrungssperre hält diese Daten fest. Sie muss zuerst aufgehoben werden.
core-conflict-tenant-deletion-scheduled = Die Löschung des Mandanten ist bereits geplant. Brechen Sie sie zuerst ab.
core-conflict-tenant-deletion-not-scheduled = Es ist keine Löschung des Mandanten geplant.
core-conflict-tenant-deletion-begun = Die Löschung des Mandanten hat begonnen.
core-conflict-too-many-legal-holds = Der Mandant hat die höchste erlaubte Zahl von Aufbewahrungssperren. Heben Sie zuerst eine auf.
core-conflict-domain-exists = Der Mandant hat diese Domain bereits.
core-conflict-too-many-domains = Der Mandant hat die höchste erlaubte Zahl von Domains. Entfernen Sie zuerst eine.
core-conflict-domain-verified-elsewhere = Die Domain ist in einem anderen Mandanten bestätigt. Sie kann hier eine Woche nach dem Wegfall ihres dortigen Eintrags bestätigt werden.
core-conflict-domain-in-use = Ein Identitätsanbieter verwendet diese Domain. Entfernen Sie sie zuerst bei ihm.
core-conflict-identity-linked = Dieses Konto gehört einem anderen Benutzer, oder Sie haben bei diesem Anbieter ein anderes Konto.
core-conflict-too-many-identity-providers = Der Mandant hat die höchste erlaubte Zahl von Identitätsanbietern. Entfernen Sie zuerst einen.
core-conflict-too-many-directories = Der Mandant hat die höchste erlaubte Zahl von Verzeichnissen. Entfernen Sie zuerst eines.
core-conflict-directory-account-taken = Das Dienstkonto gehört zu einem anderen Verzeichnis.
core-conflict-directory-user-name-taken = Ein anderer Benutzer des Verzeichnisses hat diesen Benutzernamen.
core-conflict-of-directory = Dieses Feld legt das Verzeichnis des Benutzers fest.
core-conflict-too-many-directory-users = Mehr als { $first } Benutzer des Verzeichnisses sind aktiv. Sperren Sie zuerst einige, oder behalten Sie sie.
core-conflict-directory-group-name-taken = Eine andere Gruppe des Verzeichnisses hat diesen Namen.
core-conflict-too-many-directory-groups = Das Verzeichnis hat die höchste erlaubte Zahl von Gruppen. Löschen Sie zuerst eine.
core-conflict-too-many-group-assignments = Es würden sich mehr als { $first } Rollenzuweisungen ändern. Ändern Sie die Rollen von weniger Gruppen auf einmal oder weniger davon.
core-conflict-assignment-of-group = Eine Gruppe eines Verzeichnisses verleiht diese Rolle. Ändern Sie die Mitglieder oder die Rollen der Gruppe.
core-conflict-assignment-of-access-request = Ein Zugriffsantrag verleiht diese Rolle und bestimmt ihr Ende. Beenden Sie stattdessen den Zugriff aus diesem Antrag.
core-conflict-too-many-given-by-request = Sie haben durch Ihren Zugriffsantrag { $first } Rollen vergeben; mehr sind nicht erlaubt.
core-conflict-too-many-eligibilities = Der Mandant hat die höchste erlaubte Zahl von Antragsrechten. Entfernen Sie zuerst eines.
core-conflict-access-request-open = Für diese Rolle haben Sie dort bereits einen offenen Antrag. Beenden Sie ihn zuerst, oder brechen Sie ihn ab.
core-conflict-too-many-access-requests = Sie haben die höchste erlaubte Zahl offener Zugriffsanträge. Brechen Sie zuerst einen ab.
core-conflict-access-request-not-pending = Der Zugriffsantrag steht nicht mehr aus.
core-conflict-decided-before = Sie haben über diesen Zugriffsantrag bereits entschieden.
core-conflict-access-request-not-waiting = Der Zugriffsantrag steht weder aus, noch ist er für später genehmigt.
core-conflict-access-request-not-active = Der Zugriffsantrag ist nicht aktiv.
core-conflict-access-request-outdated = Der Antrag ist abgebrochen: Wer diese Rolle dort beantragen darf, wie lange oder mit wessen Genehmigung, wurde inzwischen geändert.
core-conflict-service-accounts-named-alike = Mehrere Dienstkonten haben den Namen { $first }, mit dem ein Manifest sie nennt. Benennen Sie alle bis auf eines um.
core-conflict-webhooks-alike = Mehrere Webhooks haben die Adresse { $first }, mit der ein Manifest sie nennt. Entfernen Sie alle bis auf einen.
core-conflict-too-many-manifest-items = Der Mandant hat mehr als { $first } Berechtigungen, Rollen, Organisationen, Webhooks, Identitätsanbieter, Verzeichnisse und Dienstkonten samt Rollen; so viele kann ein Manifest nicht enthalten.
core-conflict-access-review-not-open = Die Zugriffsüberprüfung ist nicht offen.
core-conflict-access-review-undecided = Einträge der Zugriffsüberprüfung, die noch nicht entschieden sind: { $first }.
core-conflict-factor-confirmed = Der Faktor ist bereits bestätigt.
core-conflict-passkey-registered = Dieser Passkey ist bereits registriert.
core-conflict-no-factor = Richten Sie zuerst einen zweiten Faktor ein.
core-conflict-own-factors = Ihre eigenen Faktoren können Sie einzeln entfernen.
core-conflict-user-not-inactive = Nur ein gelöschter Benutzer kann aus dem Prüfprotokoll gelöscht werden: Löschen Sie zuerst den Benutzer.
core-conflict-several-tenants = Die Zugangsdaten passen zu Konten in mehreren Mandanten. Geben Sie einen dieser Mandanten an.
core-permission-users-create = Benutzer anlegen und gelöschte wiederherstellen.
core-permission-users-read = Benutzer sehen.
core-permission-users-update = Benutzer ändern, sperren und reaktivieren.
core-permission-users-delete = Benutzer löschen.
core-permission-role-assignments-create = Benutzern Rollen zuweisen.
core-permission-role-assignments-read = Sehen, wer welche Rolle hat, und abfragen, was andere dürfen.
core-permission-role-assignments-update = Das Ende von Rollenzuweisungen ändern.
core-permission-role-assignments-delete = Benutzern Rollen entziehen.
core-permission-roles-create = Rollen anlegen.
core-permission-roles-read = Rollen sehen und was sie erlauben.
core-permission-roles-update = Rollen ändern und was sie erlauben.
core-permission-roles-delete = Rollen löschen.
core-permission-permissions-create = Berechtigungen registrieren.
core-permission-permissions-read = Den Katalog der Berechtigungen sehen.
core-permission-permissions-update = Reserviert.
core-permission-permissions-delete = Berechtigungen aus dem Katalog entfernen.
core-permission-organizations-create = Organisationen anlegen.
core-permission-organizations-read = Organisationen sehen.
core-permission-organizations-update = Organisationen ändern, verschieben und sperren.
core-permission-organizations-delete = Organisationen löschen.
core-permission-audit-logs-create = Ereignisse der Anwendung aufzeichnen.
core-permission-audit-logs-read = Das Prüfprotokoll lesen.
core-permission-audit-logs-update = Die Aufbewahrung des Prüfprotokolls festlegen.
core-permission-audit-logs-delete = Alte Protokolleinträge entfernen und die Felder einer Person löschen.
core-permission-tenants-create = Reserviert: Mandanten entstehen durch Registrierung.
core-permission-tenants-read = Den Mandanten sehen.
core-permission-tenants-update = Den Mandanten ändern.
core-permission-sessions-create = Reserviert: Sitzungen entstehen durch Anmeldung.
core-permission-sessions-read = Die Sitzungen von Benutzern sehen.
core-permission-sessions-delete = Die Sitzungen von Benutzern beenden.
core-permission-invitations-create = Personen einladen.
core-permission-invitations-read = Einladungen sehen.
core-permission-invitations-update = Einladungen erneut senden.
core-permission-invitations-delete = Einladungen widerrufen.
core-permission-api-keys-create = API-Schlüssel für andere Benutzer erstellen.
core-permission-api-keys-read = Die API-Schlüssel anderer Benutzer sehen.
core-permission-api-keys-update = Die API-Schlüssel anderer Benutzer ändern und erneuern.
core-permission-api-keys-delete = Die API-Schlüssel anderer Benutzer widerrufen.
core-permission-webhooks-create = Webhooks anlegen.
core-permission-webhooks-read = Webhooks und ihre Zustellungen sehen.
core-permission-webhooks-update = Webhooks ändern, testen und erneut senden lassen sowie ihre Geheimnisse erneuern.
core-permission-webhooks-delete = Webhooks entfernen.
core-permission-access-reviews-create = Zugriffsüberprüfungen starten.
core-permission-access-reviews-read = Zugriffsüberprüfungen und ihre Einträge sehen.
core-permission-access-reviews-update = In Zugriffsüberprüfungen entscheiden, sie abschließen und abbrechen.
core-permission-domains-create = Domains hinzufügen.
core-permission-domains-read = Domains sehen.
core-permission-domains-update = Domains bestätigen.
core-permission-domains-delete = Domains entfernen.
core-permission-identity-providers-create = Identitätsanbieter anlegen; erfordert alle Berechtigungen.
core-permission-identity-providers-read = Identitätsanbieter sehen.
core-permission-identity-providers-update = Identitätsanbieter umbenennen; sie zu ändern, erfordert alle Berechtigungen.
core-permission-identity-providers-delete = Identitätsanbieter entfernen; erfordert alle Berechtigungen.
core-permission-directories-create = Verzeichnisse anlegen.
core-permission-directories-read = Verzeichnisse sehen.
core-permission-directories-update = Verzeichnisse ändern.
core-permission-directories-delete = Verzeichnisse entfernen.
core-permission-impersonations-create = Als andere Benutzer handeln, sofern man alle ihre Berechtigungen selbst hat.
core-permission-eligibilities-create = Benutzer Rollen beantragen lassen, deren Berechtigungen man selbst hat.
core-permission-eligibilities-read = Sehen, wer welche Rolle beantragen darf.
core-permission-eligibilities-update = Ändern, wer Rollen wie lange beantragen darf und wer entscheidet.
core-permission-eligibilities-delete = Benutzern das Recht nehmen, Rollen zu beantragen.
core-permission-access-requests-create = Reserviert: Benutzer stellen Anträge aufgrund von Antragsrechten.
core-permission-access-requests-read = Die Zugriffsanträge anderer Benutzer sehen.
core-permission-access-requests-update = Über die Zugriffsanträge anderer Benutzer entscheiden und sie abbrechen.
core-permission-iam-legal-holds-create = Aufbewahrungssperren setzen.
core-permission-iam-legal-holds-read = Aufbewahrungssperren sehen.
core-permission-iam-legal-holds-delete = Aufbewahrungssperren aufheben.
core-detail-validation-error = Die Anforderung ist ungültig.
core-detail-validation = Eine Regel lässt das nicht zu.
core-detail-unauthorized = Eine Anmeldung ist erforderlich.
core-detail-second-factor-required = Ein zweiter Faktor ist erforderlich.
core-detail-insufficient-authentication = Weisen Sie sich erneut aus.
core-detail-federation-required = Melden Sie sich über einen Identitätsanbieter an.
core-detail-forbidden = Das dürfen Sie nicht.
core-detail-account-locked = Das Konto ist vorübergehend gesperrt.
core-detail-not-found = Diese Ressource gibt es nicht.
core-detail-conflict = Der aktuelle Stand lässt das nicht zu.
core-detail-legal-hold = Eine Aufbewahrungssperre hält diese Daten fest.
core-detail-gone = Es wurde entfernt.
core-detail-request-timeout = Die Anforderung ist nicht rechtzeitig eingetroffen.
core-detail-payload-too-large = Die Anforderung darf höchstens 256 KiB groß sein.
core-detail-method-not-allowed = Dieser Pfad lässt diese Methode nicht zu.
core-detail-rate-limited = Zu viele Anforderungen.
core-detail-unsupported-media-type = Senden Sie die Anforderung als application/json.
core-error-validation = Ungültige Eingabe: { $fields }.
core-error-unavailable = Der Dienst ist vorübergehend nicht verfügbar.
core-shortfall = Ihnen fehlt dort { $permission }
core-shortfall-until = Sie haben dort { $permission } nur bis { $moment }
core-domain-no-record = Unter diesem Namen gibt es keinen Eintrag vom Typ TXT. Neue Einträge können eine Stunde brauchen.
core-domain-other-value = Der Eintrag hat einen anderen Wert: { $values }.
core-domain-unknown = Der Eintrag konnte nicht abgefragt werden: { $reason }.
core-problem-nothing = Unter diesem Pfad gibt es nichts.
core-problem-rate = Zu viele Anforderungen. Versuchen Sie es in { $seconds } Sekunden erneut.
core-quota-users = Benutzer
core-quota-organizations = Organisationen
core-quota-roles = Rollen
core-quota-assignments = Rollenzuweisungen
core-quota-permissions = Berechtigungen
core-quota-invitations = ausstehende Einladungen
core-quota-user-assignments = Rollenzuweisungen eines Benutzers
core-kind-user = Benutzer
core-kind-role-assignment = Rollenzuweisung
core-kind-role = Rolle
core-kind-permission = Berechtigung
core-kind-tenant = Mandant
core-kind-session = Sitzung
core-kind-audit-log = Prüfprotokoll
core-kind-audit-entry = Protokolleintrag
core-kind-invitation = Einladung
core-kind-factor = Faktor
core-kind-api-key = API-Schlüssel
core-kind-access-review = Zugriffsüberprüfung
core-kind-access-review-item = Eintrag der Zugriffsüberprüfung
core-kind-identity = Verknüpftes Konto
core-kind-identity-provider = Identitätsanbieter
core-kind-directory = Verzeichnis
core-kind-directory-group = Gruppe des Verzeichnisses
core-kind-eligibility = Antragsrecht
core-kind-access-request = Zugriffsantrag
core-kind-legal-hold = Aufbewahrungssperre
core-role-tenant-admin = Darf im Mandanten alles.
core-role-organization-admin = Verwaltet eine Organisation und alles darunter.
core-role-member = Sieht Benutzer und Organisationen.
core-role-auditor = Liest Benutzer, Rollen, Organisationen und das Prüfprotokoll, ohne etwas zu ändern.
core-field-empty = darf nicht leer sein
core-field-characters = muss 1 bis { $max } Zeichen lang sein
core-field-at-most-characters = darf höchstens { $max } Zeichen lang sein
core-field-at-most-controls = darf höchstens { $max } Zeichen lang sein, darunter kein Steuerzeichen
core-field-controls = darf weder Steuerzeichen enthalten noch Zeichen, die eine Zeile beenden oder die Textrichtung ändern
core-field-nul = darf das Zeichen U+0000 nicht enthalten
core-field-visible = muss ein sichtbares Zeichen enthalten
core-field-blank = darf nicht mit einem Leerzeichen beginnen oder enden
core-field-email = muss eine gültige E-Mail-Adresse sein
core-field-role-name = muss aus Großbuchstaben, Ziffern und Unterstrichen bestehen, zum Beispiel SCHICHTLEITUNG, mit höchstens { $max } Zeichen
core-field-slug = muss aus Kleinbuchstaben und Ziffern bestehen, verbunden durch einzelne Bindestriche, mit höchstens { $max } Zeichen
core-field-attribute-key = muss mit einem Buchstaben beginnen und darf höchstens { $max } Buchstaben, Ziffern und Zeichen aus „_.-“ haben
core-field-permission = muss die Form <Ressource>:<Aktion> haben, aus Kleinbuchstaben, Ziffern und Bindestrichen, mit höchstens { $max } Zeichen
core-field-pattern = muss die Form <Ressource>:<Aktion>, <Ressource>:* oder * haben
core-field-reserved = darf nicht mit { $prefix } beginnen, und die Ressource darf keine von diesen sein: { $resources }
core-field-registered = muss eine registrierte Berechtigung sein
core-field-domain = muss eine Domain aus mindestens zwei Teilen sein, zum Beispiel example.com, mit höchstens { $max } Zeichen
core-field-domain-of-tenant = muss eine Domain des Mandanten sein
core-field-one-of = muss einer dieser Werte sein: { $words }
core-field-uuid = muss eine UUID sein
core-field-future = muss in der Zukunft liegen
core-field-year = muss vor dem Jahr 10000 liegen
core-field-year-or-none = muss vor dem Jahr 10000 liegen; leer bedeutet unbefristet
core-field-days-from-now = darf höchstens { $days } Tage in der Zukunft liegen
core-field-not-later = darf nicht nach dem aktuellen Ende liegen
core-field-history = darf nicht vor { $moment } liegen, dem Beginn der Aufzeichnungen
core-field-before-eligibility = muss mehr als { $seconds } Sekunden vor dem Ende des Antragsrechts liegen
core-field-range = muss zwischen { $min } und { $max } liegen
core-field-from-to = muss zwischen { $min } und { $max } liegen
core-field-from-to-or-null = muss zwischen { $min } und { $max } liegen oder leer sein
core-field-zero-days = muss 0 bis { $max } Tage betragen
core-field-between = muss zwischen { $min } und { $max } liegen
core-field-at-least-1 = muss mindestens 1 sein
core-field-items = darf höchstens { $max } Einträge haben
core-field-some-items = muss 1 bis { $max } Einträge haben
core-field-words = darf höchstens { $max } Wörter haben
core-field-definitions = darf höchstens { $max } Definitionen haben
core-field-keys = darf höchstens { $max } Schlüssel haben
core-field-json-bytes = darf höchstens { $max } Bytes JSON umfassen
core-field-text-characters = darf je Text höchstens { $max } Zeichen haben
core-field-twice = ist doppelt definiert
core-field-same-item = ist schon weiter oben angegeben
core-field-same-in-item = ist schon weiter oben angegeben
core-field-undefined = ist kein Attribut, das der Mandant definiert hat
core-field-not-own = ist kein Attribut, das Sie selbst ändern können
core-field-users-only = gibt es nur bei Attributen von Benutzern
core-field-searchable = gibt es nur bei den Typen STRING, NUMBER und BOOLEAN
core-field-current-password = ist nicht das aktuelle Passwort
core-field-common-password = darf keines der verbreitetsten Passwörter sein
core-field-own-password = darf nicht aus Ihrer E-Mail-Adresse, Ihrem Namen oder dem Namen des Mandanten bestehen
core-field-breached-password = darf kein Passwort sein, das durch ein Datenleck bekannt ist
core-field-authenticator = ist nicht der aktuelle Code der Authenticator-App
core-field-six-digits = muss aus sechs Ziffern bestehen
core-field-eight-digits = muss aus acht Ziffern bestehen
core-field-code-invalid = ist ungültig: Er ist falsch, wurde bereits verwendet, durch einen neueren ersetzt oder ist abgelaufen
core-field-link-invalid = ist ungültig: Der Link wurde bereits verwendet, durch einen neueren ersetzt oder ist abgelaufen
core-field-key-permissions = ist für den Schlüssel eines anderen Benutzers erforderlich
core-field-more-than-key = { $permission } geht über die Berechtigungen des Schlüssels hinaus
core-field-full-role = darf keine Rolle mit allen Berechtigungen sein
core-field-service-account = muss ein aktives Dienstkonto sein
core-field-person = muss eine Person sein: Ein Dienstkonto meldet sich nicht an
core-field-openid = muss openid enthalten
core-field-https = muss mit https:// beginnen
core-field-fragment = darf kein Fragment enthalten
core-field-url-user = darf weder Benutzer noch Passwort enthalten
core-field-private-address = darf nicht zu einer privaten oder besonderen Adresse führen
core-field-hook = muss eine Adresse sein, zum Beispiel https://example.com/hook
core-field-url = muss eine URL sein
core-field-discovery = ist für das Discovery-Dokument nicht erreichbar: { $why }
core-field-event-type = muss aus Ressourcentyp und Aktion bestehen, zum Beispiel USER.CREATE oder USER.*
core-field-cursor = muss von einer früheren Seite stammen
core-field-version = muss eine Version sein
core-field-visible-ascii = muss aus 1 bis { $max } sichtbaren ASCII-Zeichen bestehen
core-field-scope = muss aus 1 bis 100 sichtbaren ASCII-Zeichen ohne Anführungszeichen und umgekehrte Schrägstriche bestehen
core-field-uuid-form = darf nicht die Form einer ID haben
core-field-active-or-suspended = muss ACTIVE oder SUSPENDED sein
core-field-hash-cheap = ist für Angreifer zu leicht zu erraten: Der Benutzer muss ein neues Passwort wählen
core-field-hash-expensive = ist aufwendiger zu prüfen als erlaubt
core-field-hash-format = ist kein Passwort-Hash in einem unterstützten Format (Argon2, bcrypt, PBKDF2, scrypt)
core-field-with-a-value = muss true oder false als Wert haben
core-field-with-a-number = muss eine Zahl als Wert haben
core-field-text = muss ein Text sein
core-field-number = muss eine Zahl sein
core-field-truth = muss true oder false sein
core-field-texts = muss eine Liste von Texten sein
core-field-object = muss ein Objekt sein
core-field-value-characters = darf einen Wert von höchstens { $max } Zeichen haben
core-field-searchable-attribute = muss ein Attribut nennen, das der Mandant durchsuchbar gemacht hat
core-field-levels = darf höchstens { $max } Ebenen tief verschachtelt sein
core-field-password-bytes = muss 1 bis { $max } Bytes lang sein
core-password-upper = einen Großbuchstaben
core-password-lower = einen Kleinbuchstaben
core-password-digit = eine Ziffer
core-password-special = eines der Zeichen ! @ # $ % ^ & *
core-password-length = { $min } bis { $max } Zeichen
core-file-first-line = muss mit einer Zeile beginnen, die die Spalten nennt, in UTF-8
core-file-utf8 = muss in UTF-8 sein
core-file-no-column = hat keine Spalte { $column }
core-file-unknown-column = hat eine unbekannte Spalte { $column }
core-file-column-twice = hat die Spalte { $column } doppelt
core-file-fields = muss so viele Felder haben wie die erste Zeile
core-file-wrong-type = hat einen Wert falschen Typs
core-file-moment = muss ein Zeitpunkt nach ISO 8601 sein, zum Beispiel 2030-12-31 23:59:59+00:00
core-field-passkey = beantwortet nicht die aktuelle Aufforderung, die einmal und fünf Minuten lang gilt
core-field-of-service-account = gibt es bei einem Dienstkonto nicht
# It comes last: each part is a text of its own, and other texts can begin like it.
core-field-password-parts = braucht { $parts }

## Colours, filters, and how long ago something was.

colours = Farben
theme-system = System
theme-light = Hell
theme-dark = Dunkel
more-filters = Weitere Filter
create-a-webhook = Einen Webhook anlegen
ago-moments = gerade eben
ago-minutes =
    { $count ->
        [one] vor 1 Minute
       *[other] vor { $count } Minuten
    }
ago-hours =
    { $count ->
        [one] vor 1 Stunde
       *[other] vor { $count } Stunden
    }
ago-days =
    { $count ->
        [one] vor 1 Tag
       *[other] vor { $count } Tagen
    }
ahead-minutes =
    { $count ->
        [one] in 1 Minute
       *[other] in { $count } Minuten
    }
ahead-hours =
    { $count ->
        [one] in 1 Stunde
       *[other] in { $count } Stunden
    }
ahead-days =
    { $count ->
        [one] in 1 Tag
       *[other] in { $count } Tagen
    }
