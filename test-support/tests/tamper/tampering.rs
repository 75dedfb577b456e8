//! What a superuser may do to a log, from the clumsy to the perfect.

#![cfg(test)]

use fastrand::Rng;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::ground::{Cell, ENTRIES, Kind, Row, TENANT, entry, head, leaf, node, unsealed};
use crate::log::{Log, SKILLS, Sealed, Skill, Waiting, hex, id, leaf_hash, number, read_entry, stranger, unhex};

/// What verification must find out.
#[derive(Clone, Debug)]
pub(crate) enum Expected {
    /// First of all this entry, at this place.
    Entry(usize, Uuid),
    /// First of all this entry, which has no place.
    Unplaced(Uuid),
    /// First of all something at this place alone.
    Place(usize),
    /// First of all something at one of these places alone.
    OneOf([usize; 2]),
    /// Something at this place alone. What its record excused before may come first.
    Record(usize),
    /// Something at this place alone. What records excused that are out of place now may come first.
    Displaced(usize),
    /// First of all something about places among which this one is.
    Around(usize),
    /// The same, or that the log is shorter than it was.
    Shortened(usize),
    /// That the checkpoint is not one of this log's key.
    OtherKey,
    /// That something cannot be read, or first of all this place.
    Unreadable(usize),
}

/// What there is to tamper with: the part of the log that a kept checkpoint covers.
pub(crate) struct Scene<'a> {
    pub(crate) log: Log,
    /// The size of the kept checkpoint.
    pub(crate) kept: usize,
    /// Retention has removed the entries before this place.
    pub(crate) purged: usize,
    /// The same log, as it was before.
    pub(crate) older: &'a [Log],
    /// Whether an entry that waits to be sealed stands in the queue itself, so that who takes one takes the other.
    pub(crate) queue_holds_entries: bool,
    pub(crate) random: Rng,
    /// Whether the log was made to look right with the installation's key.
    pub(crate) is_perfect: bool,
}

/// What it is called, and how it is done.
type Deed = (&'static str, fn(&mut Scene) -> Expected);

pub(crate) const DEEDS: &[Deed] = &[
    ("edit a column", edit),
    ("edit a column of many entries", edit_many),
    ("edit a record", edit_record),
    ("edit an erased entry", edit_erased),
    ("blank personal fields", blank),
    ("edit something that cannot be read", make_unreadable),
    ("rewrite an entry", rewrite),
    ("edit a leaf", edit_leaf),
    ("edit a leaf whose entry is gone", edit_bare_leaf),
    ("delete an entry", delete),
    ("delete many entries and edit others", delete_and_edit_many),
    ("delete an entry and its leaf", delete_with_leaf),
    ("delete an entry, its leaf, and renumber", delete_and_renumber),
    ("delete an entry and forge the rest", delete_and_forge),
    ("insert an entry", insert),
    ("insert an entry with a leaf at the end", insert_at_end),
    ("insert an entry with a leaf, and renumber", insert_and_renumber),
    ("insert an entry and forge the rest", insert_and_forge),
    ("swap contents", swap_contents),
    ("swap the entries of leaves", swap_entries_of_leaves),
    ("swap leaves", swap_leaves),
    ("swap times", swap_times),
    ("reverse some", reverse),
    ("reorder and forge the rest", reorder_and_forge),
    ("cut off the end", cut_off),
    ("cut off the end, and make it wait again", cut_off_to_queue),
    ("cut off the end and forge the rest", cut_off_and_forge),
    ("truncate the entries", truncate_entries),
    ("truncate the leaves", truncate_leaves),
    ("truncate everything", truncate_everything),
    ("delete the head", delete_head),
    ("edit the head", edit_head),
    ("edit a node", edit_node),
    ("give up without a record", give_up),
    ("mark as given up without a record", mark_as_given_up),
    ("account for it with a record that nobody signed", account_for_it),
    ("put back what was erased", put_back),
    ("roll back", roll_back),
    ("roll back and go on", roll_back_and_go_on),
    ("replace the key", replace_key),
    ("edit an entry and delete the head", edit_without_head),
    ("edit an entry and then something after it", edit_before),
    ("edit what waits", edit_waiting),
    ("delete what waits", delete_waiting),
    ("take something out of the queue", take_out_of_queue),
    ("queue a sealed entry again", queue_again),
];

impl Scene<'_> {
    fn below(&mut self, limit: usize) -> usize {
        self.random.usize(0..limit)
    }

    fn is_ordinary(&self, place: usize) -> bool {
        self.log.sealed[place].entry.as_ref().is_some_and(|entry| !is_record(entry))
    }

    /// A place under the kept checkpoint with an entry that excuses nothing.
    fn place(&mut self) -> usize {
        let places: Vec<usize> = (0..self.kept).filter(|place| self.is_ordinary(*place)).collect();
        *self.random.choice(&places).unwrap()
    }

    /// Different places of that kind, in order.
    fn places(&mut self, many: usize) -> Vec<usize> {
        let places = (0..self.kept).filter(|place| self.is_ordinary(*place)).collect::<Vec<_>>();
        let mut places = self.random.choose_multiple(places, many);
        places.sort_unstable();
        places
    }

    fn entry(&mut self, place: usize) -> &mut Row {
        self.log.sealed[place].entry.as_mut().unwrap()
    }

    fn id(&self, place: usize) -> Uuid {
        id(&self.log.sealed[place].leaf[leaf::ENTRY_ID]).unwrap()
    }

    fn named(&self, place: usize) -> Expected {
        Expected::Entry(place, self.id(place))
    }

    /// What is gone in a row with what retention has removed is known by its place alone.
    fn removed(&self, place: usize) -> Expected {
        if place == self.purged { Expected::Place(place) } else { self.named(place) }
    }

    fn uuid(&mut self) -> String {
        Uuid::from_u128(self.random.u128(..)).simple().to_string()
    }

    fn bytes(&mut self, length: usize) -> String {
        hex(&std::iter::repeat_with(|| self.random.u8(..)).take(length).collect::<Vec<_>>())
    }

    /// An entry that never was, like one that is.
    fn invented(&mut self) -> Row {
        let mut row = loop {
            let place = self.place();
            let row = self.entry(place);
            // The forger would need an erasure that accounts for another one.
            if [entry::DETAILS_SALT, entry::ORIGIN_SALT].iter().all(|salt| row[*salt].as_ref().unwrap().len() == 32) {
                break row.clone();
            }
        };
        row[entry::ID] = Some(self.uuid());
        if self.random.bool() {
            shift(&mut row[entry::CREATED_AT], self.random.i64(-1000..1000));
        }
        row[entry::ACTION] = Some("FORGED".to_owned());
        row
    }

    fn skill(&mut self) -> Skill {
        let skill = *self.random.choice(&SKILLS).unwrap();
        self.is_perfect = skill == Skill::Key;
        skill
    }

    fn forge(&mut self) {
        let skill = self.skill();
        self.log.forge(skill);
    }

    /// What is found of a log that was forged from this place on.
    fn forged(&self, place: usize) -> Expected {
        if self.log.size() < self.kept { Expected::Shortened(place) } else { Expected::Around(place) }
    }

    /// Changes a column of an entry; tells what is found.
    fn edit_column(&mut self, place: usize, column: usize) -> Expected {
        let mut row = self.entry(place).clone();
        self.change(&mut row, column);
        let is_moved = column <= entry::ID;
        *self.entry(place) = row;
        if is_moved { self.removed(place) } else { self.named(place) }
    }

    /// Puts something else into a column, that can be read.
    fn change(&mut self, row: &mut Row, column: usize) {
        let before = row[column].clone();
        while row[column] == before {
            row[column] = self.other(row, column);
        }
    }

    fn other(&mut self, row: &Row, column: usize) -> Cell {
        let (name, kind) = ENTRIES.columns[column];
        let is_optional = matches!(
            column,
            entry::RESOURCE_ID
                | entry::ORGANIZATION_ID
                | entry::USER_ID
                | entry::OLD_VALUE
                | entry::NEW_VALUE
                | entry::CORRELATION_ID
                | entry::IP_ADDRESS
                | entry::USER_AGENT
        );
        if is_optional && self.random.u8(0..3) == 0 {
            return None;
        }
        match kind {
            Kind::Id => Some(self.uuid()),
            Kind::Bytes if self.random.u8(0..3) == 0 => Some(self.bytes(16)),
            Kind::Bytes if self.random.u8(0..3) == 0 => Some(self.bytes(32)),
            Kind::Bytes => Some(self.flipped(&row[column])),
            Kind::Number => unreachable!("no column of an entry is a number"),
            Kind::Moment => {
                let mut moment = row[column].clone();
                // A few days at most: the month has a partition, others may have none.
                shift(&mut moment, self.random.i64(-200_000_000..200_000_000) >> self.random.u8(0..28));
                moment
            }
            Kind::Json => {
                let before =
                    row[column].as_deref().map_or_else(|| json!({}), |text| serde_json::from_str(text).unwrap());
                let mut after = before.clone();
                while after == before {
                    self.mutate(&mut after);
                }
                Some(after.to_string())
            }
            Kind::Text if name == "ip_address" => Some(format!("198.51.100.{}", self.random.u8(..))),
            Kind::Text if self.random.bool() => Some(format!("X{}", self.random.u16(..))),
            Kind::Text => Some(format!("{}X", row[column].as_deref().unwrap_or_default())),
        }
    }

    fn flipped(&mut self, cell: &Cell) -> String {
        let mut bytes = unhex(cell);
        let at = self.below(bytes.len());
        bytes[at] ^= 1 << self.random.u8(0..8);
        hex(&bytes)
    }

    fn mutate(&mut self, value: &mut Value) {
        let go_deeper = self.random.u8(0..4) > 0;
        match value {
            Value::Object(fields) if go_deeper && !fields.is_empty() => {
                let field = self.random.usize(0..fields.len());
                self.mutate(fields.values_mut().nth(field).unwrap());
            }
            Value::Array(items) if go_deeper && !items.is_empty() => {
                let item = self.random.usize(0..items.len());
                self.mutate(&mut items[item]);
            }
            Value::Object(fields) => self.mutate_fields(fields),
            Value::Array(items) if self.random.bool() => drop(items.pop()),
            Value::Array(items) => items.push(json!(self.random.u8(..))),
            Value::String(text) if self.random.bool() => text.push('x'),
            value => {
                let others = [json!(null), json!(true), json!("other"), json!(self.random.u16(..)), json!({ "a": 1 })];
                *value = others[self.random.usize(0..others.len())].clone();
            }
        }
    }

    fn mutate_fields(&mut self, fields: &mut Map<String, Value>) {
        let name = fields.keys().nth(self.random.usize(0..fields.len().max(1))).cloned();
        let new = ["email", "added", "lastName", "until", "details"][self.random.usize(0..5)].to_owned();
        match (name, self.random.u8(0..3)) {
            (Some(name), 0) => drop(fields.remove(&name)),
            (Some(name), 1) => {
                let value = fields.remove(&name).unwrap();
                fields.insert(new, value);
            }
            _ => drop(fields.insert(new, json!("added"))),
        }
    }
}

/// Whether the entry says why something else is missing.
fn is_record(row: &Row) -> bool {
    let word = |column: usize| row[column].as_deref().unwrap();
    word(entry::ACTION) == "ERASE" || (word(entry::ACTION), word(entry::RESOURCE_TYPE)) == ("DELETE", "AUDIT_LOG")
}

fn shift(moment: &mut Cell, millis: i64) {
    let micros: i64 = moment.as_deref().unwrap().parse().unwrap();
    *moment = Some((micros + millis * 1000).to_string());
}

fn edit(scene: &mut Scene) -> Expected {
    let (place, column) = (scene.place(), scene.below(ENTRIES.columns.len()));
    scene.edit_column(place, column)
}

fn edit_many(scene: &mut Scene) -> Expected {
    let many = scene.random.usize(2..300);
    let places = scene.places(many);
    let expected: Vec<Expected> = places
        .into_iter()
        .map(|place| {
            let column = scene.below(ENTRIES.columns.len());
            scene.edit_column(place, column)
        })
        .collect();
    expected[0].clone()
}

fn edit_record(scene: &mut Scene) -> Expected {
    let is_record_at = |place: &usize| scene.log.sealed[*place].entry.as_ref().is_some_and(is_record);
    let places: Vec<usize> = (0..scene.log.size()).filter(is_record_at).collect();
    let Some(place) = scene.random.choice(&places).copied() else { return edit(scene) };
    let column = scene.below(ENTRIES.columns.len());
    scene.edit_column(place, column);
    Expected::Record(place)
}

fn edit_erased(scene: &mut Scene) -> Expected {
    let salts =
        |row: &Row| (row[entry::DETAILS_SALT].as_ref().unwrap().len(), row[entry::ORIGIN_SALT].as_ref().unwrap().len());
    let is_erased = |place: &usize| {
        scene.is_ordinary(*place) && salts(scene.log.sealed[*place].entry.as_ref().unwrap()) != (32, 32)
    };
    let places: Vec<usize> = (0..scene.kept).filter(is_erased).collect();
    let Some(place) = scene.random.choice(&places).copied() else { return edit(scene) };
    let mut row = scene.entry(place).clone();
    let is_of_details = salts(&row).0 == 64;
    let columns: &[usize] = if is_of_details {
        &[entry::OLD_VALUE, entry::NEW_VALUE, entry::METADATA, entry::DETAILS_SALT]
    } else {
        &[entry::IP_ADDRESS, entry::USER_AGENT, entry::ORIGIN_SALT]
    };
    if is_of_details && scene.random.bool() {
        // As if it had never been erased, or somebody else had been.
        let is_filled = |column: &usize| row[*column].as_ref().is_some_and(|text| text.contains("[ERASED]"));
        if let Some(column) = [entry::METADATA, entry::NEW_VALUE, entry::OLD_VALUE].into_iter().find(is_filled) {
            row[column] = Some(row[column].as_ref().unwrap().replacen("[ERASED]", "eve@example.com", 1));
            if scene.random.bool() {
                row[entry::DETAILS_SALT] = Some(scene.bytes(16));
            }
            *scene.entry(place) = row;
            return scene.named(place);
        }
    }
    let column = columns[scene.random.usize(0..columns.len())];
    scene.edit_column(place, column)
}

/// As an erasure would, but nobody says so.
fn blank(scene: &mut Scene) -> Expected {
    let intact = |row: &Row, column: usize| row[column].as_ref().unwrap().len() == 32;
    let place = scene.place();
    let mut row = scene.entry(place).clone();
    let statement: Value = serde_json::from_str(&read_entry(&row).statement()).unwrap();
    let commitment = |part: &str| statement[part].as_str().map(str::to_owned);
    let (details, origin) = (intact(&row, entry::DETAILS_SALT), intact(&row, entry::ORIGIN_SALT));
    if !details && !origin {
        return edit(scene);
    }
    if details && (!origin || scene.random.bool()) {
        for (column, field) in
            [(entry::OLD_VALUE, "oldValue"), (entry::NEW_VALUE, "newValue"), (entry::METADATA, "metadata")]
        {
            let erased = statement[field].to_string().replace("\"[PERSONAL]\"", "\"[ERASED]\"");
            row[column] = row[column].as_ref().map(|_| erased);
        }
        row[entry::DETAILS_SALT] = commitment("details");
    } else {
        (row[entry::IP_ADDRESS], row[entry::USER_AGENT]) = (None, None);
        row[entry::ORIGIN_SALT] = commitment("origin");
    }
    assert_eq!(read_entry(&row).digest(), read_entry(scene.entry(place)).digest(), "it is blanked as erasing would");
    *scene.entry(place) = row;
    scene.named(place)
}

fn make_unreadable(scene: &mut Scene) -> Expected {
    let place = scene.place();
    let (column, text) = *scene
        .random
        .choice(&[
            (entry::IP_ADDRESS, "nowhere"),
            (entry::CORRELATION_ID, ""),
            (entry::METADATA, "[]"),
            (entry::OLD_VALUE, "7"),
            (entry::DETAILS_SALT, "0102"),
            (entry::ORIGIN_SALT, ""),
        ])
        .unwrap();
    scene.entry(place)[column] = Some(text.to_owned());
    Expected::Unreadable(place)
}

fn rewrite(scene: &mut Scene) -> Expected {
    let (place, column) = (scene.place(), scene.random.usize(entry::CREATED_AT..entry::DETAILS_SALT));
    scene.edit_column(place, column);
    scene.forge();
    Expected::Around(place)
}

fn edit_leaf(scene: &mut Scene) -> Expected {
    let place = scene.place();
    let mut row = scene.log.sealed[place].leaf.clone();
    match scene.random.u8(0..4) {
        0 => {
            row[TENANT] = Some(scene.uuid());
            scene.log.sealed[place].leaf = row;
            return Expected::Place(place);
        }
        1 => shift(&mut row[leaf::CREATED_AT], 1),
        2 => row[leaf::ENTRY_ID] = Some(scene.uuid()),
        _ => row[leaf::HASH] = Some(scene.flipped(&row[leaf::HASH])),
    }
    scene.log.sealed[place].leaf = row;
    Expected::Place(place)
}

fn edit_bare_leaf(scene: &mut Scene) -> Expected {
    if scene.purged == 0 {
        return edit_leaf(scene);
    }
    let place = scene.below(scene.purged.min(scene.kept));
    scene.log.sealed[place].leaf[leaf::HASH] = Some(scene.bytes(32));
    Expected::Around(place)
}

fn delete(scene: &mut Scene) -> Expected {
    let place = scene.place();
    scene.log.sealed[place].entry = None;
    scene.removed(place)
}

fn delete_and_edit_many(scene: &mut Scene) -> Expected {
    let many = scene.random.usize(2..300);
    let places = scene.places(many);
    let expected: Vec<Expected> = places
        .into_iter()
        .map(|place| {
            if scene.random.u8(0..10) == 0 {
                scene.log.sealed[place].entry = None;
                scene.removed(place)
            } else {
                scene.edit_column(place, entry::ACTION)
            }
        })
        .collect();
    expected[0].clone()
}

fn delete_with_leaf(scene: &mut Scene) -> Expected {
    let place = scene.place();
    let sealed = scene.log.sealed.remove(place);
    if scene.random.bool() {
        scene.log.strays.extend(sealed.entry);
    }
    Expected::Place(place)
}

fn delete_and_renumber(scene: &mut Scene) -> Expected {
    let place = scene.place();
    scene.log.sealed.remove(place);
    scene.log.renumber();
    Expected::Place(place)
}

fn delete_and_forge(scene: &mut Scene) -> Expected {
    let place = scene.place();
    scene.log.sealed.remove(place);
    scene.forge();
    scene.forged(place)
}

fn insert(scene: &mut Scene) -> Expected {
    let row = scene.invented();
    let id = id(&row[entry::ID]).unwrap();
    scene.log.strays.push(row);
    Expected::Unplaced(id)
}

fn sealed(row: Row, place: usize, hash: [u8; 32]) -> Sealed {
    let mut leaf = vec![row[TENANT].clone(), None, None, None, None];
    leaf[leaf::SEQUENCE] = Some(place.to_string());
    leaf[leaf::CREATED_AT].clone_from(&row[entry::CREATED_AT]);
    leaf[leaf::ENTRY_ID].clone_from(&row[entry::ID]);
    leaf[leaf::HASH] = Some(hex(&hash));
    Sealed { leaf, entry: Some(row) }
}

fn insert_at_end(scene: &mut Scene) -> Expected {
    let (row, place) = (scene.invented(), scene.log.size());
    let hash = leaf_hash(place, &read_entry(&row).digest().0);
    scene.log.sealed.push(sealed(row, place, hash));
    Expected::Around(place)
}

fn insert_and_renumber(scene: &mut Scene) -> Expected {
    let (row, place) = (scene.invented(), scene.place());
    let is_right = scene.random.bool();
    let hash = if is_right { leaf_hash(place, &read_entry(&row).digest().0) } else { [7; 32] };
    scene.log.sealed.insert(place, sealed(row, place, hash));
    scene.log.renumber();
    // What was inserted is right where it stands: only what it has moved is not.
    if is_right { Expected::OneOf([place, place + 1]) } else { Expected::Place(place) }
}

fn insert_and_forge(scene: &mut Scene) -> Expected {
    let (row, place) = (scene.invented(), scene.place());
    scene.log.sealed.insert(place, sealed(row, place, [0; 32]));
    scene.forge();
    Expected::Around(place)
}

fn two(scene: &mut Scene) -> (usize, usize) {
    let places = scene.places(2);
    (places[0], places[1])
}

fn swap_contents(scene: &mut Scene) -> Expected {
    let (first, second) = two(scene);
    let (mut one, mut other) = (scene.entry(first).clone(), scene.entry(second).clone());
    one[entry::ACTION..].swap_with_slice(&mut other[entry::ACTION..]);
    (*scene.entry(first), *scene.entry(second)) = (one, other);
    scene.named(first)
}

fn swap_entries_of_leaves(scene: &mut Scene) -> Expected {
    let (first, second) = two(scene);
    scene.log.sealed.swap(first, second);
    let hash = scene.log.sealed[first].leaf[leaf::HASH].clone();
    let other = std::mem::replace(&mut scene.log.sealed[second].leaf[leaf::HASH], hash);
    scene.log.sealed[first].leaf[leaf::HASH] = other;
    scene.log.renumber();
    Expected::Place(first)
}

fn swap_leaves(scene: &mut Scene) -> Expected {
    let (first, second) = two(scene);
    scene.log.sealed.swap(first, second);
    scene.log.renumber();
    Expected::Place(first)
}

fn swap_times(scene: &mut Scene) -> Expected {
    let (first, second) = two(scene);
    let (one, other) = (scene.entry(first).clone(), scene.entry(second).clone());
    if one[entry::CREATED_AT] == other[entry::CREATED_AT] {
        return swap_contents(scene);
    }
    scene.entry(first)[entry::CREATED_AT].clone_from(&other[entry::CREATED_AT]);
    scene.entry(second)[entry::CREATED_AT].clone_from(&one[entry::CREATED_AT]);
    scene.removed(first)
}

fn reverse(scene: &mut Scene) -> Expected {
    let (first, second) = two(scene);
    scene.log.sealed[first..=second].reverse();
    scene.log.renumber();
    Expected::Displaced(first)
}

fn reorder_and_forge(scene: &mut Scene) -> Expected {
    let (first, second) = two(scene);
    match scene.random.u8(0..3) {
        0 => scene.log.sealed.swap(first, second),
        1 => scene.log.sealed[first..=second].reverse(),
        _ => scene.log.sealed[first..=second].rotate_left(1),
    }
    scene.forge();
    Expected::Around(first)
}

fn cut_off(scene: &mut Scene) -> Expected {
    let place = scene.place();
    for sealed in scene.log.sealed.split_off(place) {
        if scene.random.bool() {
            scene.log.strays.extend(sealed.entry);
        }
    }
    Expected::Place(place)
}

fn cut_off_to_queue(scene: &mut Scene) -> Expected {
    let place = scene.place();
    for sealed in scene.log.sealed.split_off(place) {
        let Some(row) = sealed.entry else { continue };
        scene.log.waiting.push(Waiting { queued: Some(queued(&row)), entry: Some(row) });
    }
    if scene.random.bool() {
        scene.forge();
        return Expected::Shortened(place);
    }
    Expected::Place(place)
}

/// What the queue holds of an entry.
fn queued(row: &Row) -> Row {
    let mut queued = vec![row[TENANT].clone(), row[entry::CREATED_AT].clone(), row[entry::ID].clone(), None];
    queued[unsealed::DIGEST] = Some(hex(&read_entry(row).digest().0));
    queued
}

fn cut_off_and_forge(scene: &mut Scene) -> Expected {
    let place = scene.place();
    scene.log.sealed.truncate(place);
    scene.forge();
    Expected::Shortened(place)
}

fn truncate_entries(scene: &mut Scene) -> Expected {
    scene.log.sealed.iter_mut().for_each(|sealed| sealed.entry = None);
    if scene.random.bool() {
        scene.log.waiting.iter_mut().for_each(|waiting| waiting.entry = None);
    }
    // Nobody says any more that the first ones were given up.
    Expected::OneOf([0, scene.purged])
}

fn truncate_leaves(scene: &mut Scene) -> Expected {
    let sealed = std::mem::take(&mut scene.log.sealed);
    scene.log.strays.extend(sealed.into_iter().filter_map(|sealed| sealed.entry));
    Expected::Place(0)
}

fn truncate_everything(scene: &mut Scene) -> Expected {
    scene.log.sealed.clear();
    scene.log.waiting.clear();
    scene.log.nodes.clear();
    scene.log.head = None;
    Expected::Around(0)
}

fn delete_head(scene: &mut Scene) -> Expected {
    scene.log.head = None;
    Expected::Around(0)
}

fn edit_head(scene: &mut Scene) -> Expected {
    let column = scene.random.usize(head::SIZE..=head::NOTE);
    let mut row = scene.log.head.clone().unwrap();
    match column {
        head::SIZE => row[column] = Some(scene.below(2 * scene.log.size()).to_string()),
        head::PEAKS if scene.random.bool() => row[column] = Some(scene.bytes(32)),
        head::PEAKS => row[column] = Some(scene.flipped(&row[column])),
        _ if scene.random.bool() => row[column] = Some(String::new()),
        _ => row[column] = scene.older[scene.random.usize(0..scene.older.len())].head.clone().unwrap()[column].clone(),
    }
    if Some(&row) == scene.log.head.as_ref() {
        return delete_head(scene);
    }
    scene.log.head = Some(row);
    Expected::Around(0)
}

fn edit_node(scene: &mut Scene) -> Expected {
    if scene.log.nodes.is_empty() {
        return edit_head(scene);
    }
    let node = scene.below(scene.log.nodes.len());
    if scene.random.bool() {
        let row = scene.log.nodes.remove(node);
        return Expected::Around(256 * number(&row[node::POSITION]));
    }
    let hash = scene.bytes(32);
    let row = &mut scene.log.nodes[node];
    row[node::HASH] = Some(hash);
    Expected::Around(256 * number(&row[node::POSITION]))
}

fn give_up(scene: &mut Scene) -> Expected {
    let until = scene.random.usize(scene.purged + 1..=scene.kept);
    scene.log.head_mut()[head::REMOVED] = Some(until.to_string());
    scene.log.sealed[scene.purged..until].iter_mut().for_each(|sealed| sealed.entry = None);
    // The record of what was given up before may be among them.
    Expected::OneOf([0, scene.purged])
}

fn mark_as_given_up(scene: &mut Scene) -> Expected {
    let until = scene.random.usize(scene.purged + 1..=scene.kept);
    scene.log.head_mut()[head::REMOVED] = Some(until.to_string());
    Expected::Around(scene.purged)
}

/// As retention or an erasure would, with a record that would account for all of it.
fn account_for_it(scene: &mut Scene) -> Expected {
    let sealed = scene.log.sealed.iter().filter_map(|sealed| sealed.entry.as_ref());
    let waiting = scene.log.waiting.iter().filter_map(|waiting| waiting.entry.as_ref());
    let records = sealed.chain(waiting).filter(|row| is_record(row));
    let records: Vec<Value> =
        records.map(|row| serde_json::from_str(row[entry::METADATA].as_deref().unwrap()).unwrap()).collect();
    let signature = scene.random.choice(&records).map_or(json!(""), |metadata| metadata["signature"].clone());
    let mut record = scene.invented();
    let (expected, action, resource_type, metadata) = if scene.random.bool() {
        (delete(scene), "DELETE", "AUDIT_LOG", json!({ "until": scene.log.size(), "signature": signature }))
    } else {
        let ids: Vec<Uuid> = (0..scene.log.size()).map(|place| scene.id(place)).collect();
        (blank(scene), "ERASE", "USER", json!({ "details": ids, "origins": ids, "signature": signature }))
    };
    record[entry::ACTION] = Some(action.to_owned());
    record[entry::RESOURCE_TYPE] = Some(resource_type.to_owned());
    record[entry::METADATA] = Some(metadata.to_string());
    scene.log.waiting.push(Waiting { queued: Some(queued(&record)), entry: Some(record) });
    expected
}

/// From an older copy, with which the digest is right again.
fn put_back(scene: &mut Scene) -> Expected {
    let parts = [
        (entry::DETAILS_SALT, &[entry::OLD_VALUE, entry::NEW_VALUE, entry::METADATA][..]),
        (entry::ORIGIN_SALT, &[entry::IP_ADDRESS, entry::USER_AGENT][..]),
    ];
    let is_destroyed = |row: &Row, salt: usize| row[salt].as_ref().unwrap().len() == 64;
    let mut erased = Vec::new();
    for place in (0..scene.kept).filter(|place| scene.is_ordinary(*place)) {
        for (before, part) in scene.older.iter().flat_map(|log| parts.map(|part| (log, part))) {
            let before = before.sealed.get(place).and_then(|sealed| sealed.entry.as_ref());
            let before = before.filter(|before| !is_destroyed(before, part.0));
            let now = scene.log.sealed[place].entry.as_ref().unwrap();
            erased.extend(before.filter(|_| is_destroyed(now, part.0)).map(|before| (place, part, before.clone())));
        }
    }
    let Some((place, (salt, columns), before)) = scene.random.choice(&erased).cloned() else { return edit(scene) };
    let row = scene.entry(place);
    let digest = read_entry(row).digest();
    for column in columns.iter().copied().chain([salt]) {
        row[column].clone_from(&before[column]);
    }
    assert_eq!(read_entry(row).digest(), digest, "it is what it was");
    scene.named(place)
}

fn older(scene: &mut Scene) -> Option<Log> {
    let older: Vec<&Log> = scene.older.iter().filter(|log| log.size() < scene.kept).collect();
    scene.random.choice(&older).map(|log| (*log).clone())
}

fn roll_back(scene: &mut Scene) -> Expected {
    let Some(older) = older(scene) else { return truncate_everything(scene) };
    scene.log = older;
    Expected::Around(scene.log.size())
}

fn roll_back_and_go_on(scene: &mut Scene) -> Expected {
    let Some(mut older) = older(scene) else { return truncate_everything(scene) };
    let place = older.size();
    let target = scene.kept + scene.random.usize(0..40);
    while older.size() < target {
        let row = scene.invented();
        let place = older.size();
        older.sealed.push(sealed(row, place, [0; 32]));
    }
    scene.log = older;
    scene.log.forge(Skill::Key);
    scene.is_perfect = true;
    Expected::Around(place)
}

fn replace_key(scene: &mut Scene) -> Expected {
    if scene.random.bool() {
        scene.log.key = stranger(&scene.log.key);
    } else {
        scene.log.key.id = scene.uuid();
    }
    if scene.random.bool() {
        let place = scene.place();
        scene.edit_column(place, entry::ACTION);
    }
    scene.log.forge(Skill::Key);
    scene.is_perfect = true;
    Expected::OtherKey
}

fn edit_without_head(scene: &mut Scene) -> Expected {
    let place = scene.place();
    scene.log.head = None;
    scene.edit_column(place, entry::ACTION)
}

fn edit_before(scene: &mut Scene) -> Expected {
    let places = scene.places(2);
    let expected = scene.edit_column(places[0], entry::USER_ID);
    match scene.random.u8(0..3) {
        0 => drop(scene.log.sealed.remove(places[1])),
        1 => drop(scene.log.sealed.split_off(places[1])),
        _ => {
            scene.log.sealed.remove(places[1]);
            scene.log.renumber();
        }
    }
    expected
}

fn waiting(scene: &mut Scene) -> Option<usize> {
    let is_ordinary = |waiting: &Waiting| waiting.entry.as_ref().is_some_and(|entry| !is_record(entry));
    let places: Vec<usize> = (0..scene.log.waiting.len()).filter(|at| is_ordinary(&scene.log.waiting[*at])).collect();
    scene.random.choice(&places).copied()
}

fn waiting_id(scene: &Scene, at: usize) -> Uuid {
    id(&scene.log.waiting[at].queued.as_ref().unwrap()[unsealed::ID]).unwrap()
}

fn edit_waiting(scene: &mut Scene) -> Expected {
    let Some(at) = waiting(scene) else { return edit(scene) };
    let id = waiting_id(scene, at);
    if scene.random.bool() {
        let digest = scene.bytes(32);
        scene.log.waiting[at].queued.as_mut().unwrap()[unsealed::DIGEST] = Some(digest);
    } else {
        let (mut row, column) =
            (scene.log.waiting[at].entry.clone().unwrap(), scene.random.usize(entry::ACTION..ENTRIES.columns.len()));
        scene.change(&mut row, column);
        scene.log.waiting[at].entry = Some(row);
    }
    Expected::Unplaced(id)
}

fn delete_waiting(scene: &mut Scene) -> Expected {
    let waiting = if scene.queue_holds_entries { None } else { waiting(scene) };
    let Some(at) = waiting else { return delete(scene) };
    scene.log.waiting[at].entry = None;
    Expected::Unplaced(waiting_id(scene, at))
}

fn take_out_of_queue(scene: &mut Scene) -> Expected {
    let Some(at) = waiting(scene) else { return insert(scene) };
    let id = waiting_id(scene, at);
    scene.log.waiting[at].queued = None;
    Expected::Unplaced(id)
}

fn queue_again(scene: &mut Scene) -> Expected {
    let place = scene.place();
    let queued = queued(scene.entry(place));
    scene.log.waiting.push(Waiting { queued: Some(queued), entry: None });
    Expected::Unplaced(scene.id(place))
}
