//! The attacks of a superuser on a log, from simple edits to perfect forgeries.

#![cfg(test)]

use fastrand::Rng;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::ground::{Cell, ENTRIES, Kind, Row, TENANT, entry, head, leaf, node, pending};
use crate::log::{Log, Pending, SKILLS, Sequenced, Skill, hex, id, leaf_hash, number, read_entry, stranger, unhex};

/// The finding that a verification must have.
#[derive(Clone, Debug)]
pub(crate) enum Expected {
    /// The first finding names this entry and only this position.
    Entry(usize, Uuid),
    /// The first finding names this entry and no position.
    Unsequenced(Uuid),
    /// The first finding names only this position.
    Position(usize),
    /// The first finding names only one of these two positions.
    OneOf([usize; 2]),
    /// A finding names only this position. The findings that its record excused before may come first.
    Record(usize),
    /// A finding names only this position. Findings may come first that were excused by records which have moved.
    Displaced(usize),
    /// The first finding names a range of positions that includes this one.
    Around(usize),
    /// The same, or the first finding is that the log is shorter than before.
    Shortened(usize),
    /// The kept checkpoint is refused, because it is not signed with this log's key.
    OtherKey,
    /// The log cannot be read, or the first finding names only this position.
    Unreadable(usize),
}

/// The target of an attack: the part of the log that a kept checkpoint covers.
pub(crate) struct AttackTarget<'a> {
    pub(crate) log: Log,
    /// The size of the kept checkpoint.
    pub(crate) kept: usize,
    /// The retention has removed the entries before this position.
    pub(crate) purged: usize,
    /// The same log at earlier times.
    pub(crate) older: &'a [Log],
    /// Whether the queue row of a pending entry contains the entry itself, so that both can only be deleted together.
    pub(crate) queue_holds_entries: bool,
    pub(crate) random: Rng,
    /// Whether the log was forged with the installation's key.
    pub(crate) is_perfect: bool,
}

/// The name of an attack, and its function.
type Attack = (&'static str, fn(&mut AttackTarget) -> Expected);

pub(crate) const ATTACKS: &[Attack] = &[
    ("edit a column", edit),
    ("edit a column of many entries", edit_many),
    ("edit a record", edit_record),
    ("edit an erased entry", edit_erased),
    ("blank personal fields", blank),
    ("make an entry unreadable", make_unreadable),
    ("rewrite an entry", rewrite),
    ("edit a leaf", edit_leaf),
    ("edit a leaf without an entry", edit_bare_leaf),
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
    ("reverse a range of leaves", reverse),
    ("reorder and forge the rest", reorder_and_forge),
    ("cut off the end", cut_off),
    ("cut off the end, and queue it again", cut_off_to_queue),
    ("cut off the end and forge the rest", cut_off_and_forge),
    ("truncate the entries", truncate_entries),
    ("truncate the leaves", truncate_leaves),
    ("truncate everything", truncate_everything),
    ("delete the head", delete_head),
    ("edit the head", edit_head),
    ("edit a node", edit_node),
    ("remove entries as the retention does, without a record", remove_without_record),
    ("mark entries as removed, without a record", mark_as_removed),
    ("excuse a change with a record that is not signed", excuse_with_unsigned_record),
    ("restore erased values", restore_erased),
    ("restore an older log", restore_older_log),
    ("restore an older log and extend it", restore_older_log_and_extend),
    ("replace the key", replace_key),
    ("edit an entry and delete the head", edit_without_head),
    ("edit an entry and then a later one", edit_before),
    ("edit a pending entry", edit_pending),
    ("delete a pending entry", delete_pending),
    ("delete a queue row", take_out_of_queue),
    ("queue a sequenced entry again", queue_again),
];

impl AttackTarget<'_> {
    fn below(&mut self, limit: usize) -> usize {
        self.random.usize(0..limit)
    }

    fn is_ordinary(&self, position: usize) -> bool {
        self.log.sequenced[position].entry.as_ref().is_some_and(|entry| !is_record(entry))
    }

    /// Chooses a position that the kept checkpoint covers, with an entry that is not a record.
    fn position(&mut self) -> usize {
        let positions: Vec<usize> = (0..self.kept).filter(|position| self.is_ordinary(*position)).collect();
        *self.random.choice(&positions).unwrap()
    }

    /// Chooses different positions of that kind, in order.
    fn positions(&mut self, many: usize) -> Vec<usize> {
        let positions = (0..self.kept).filter(|position| self.is_ordinary(*position)).collect::<Vec<_>>();
        let mut positions = self.random.choose_multiple(positions, many);
        positions.sort_unstable();
        positions
    }

    fn entry(&mut self, position: usize) -> &mut Row {
        self.log.sequenced[position].entry.as_mut().unwrap()
    }

    fn id(&self, position: usize) -> Uuid {
        id(&self.log.sequenced[position].leaf[leaf::ENTRY_ID]).unwrap()
    }

    fn named(&self, position: usize) -> Expected {
        Expected::Entry(position, self.id(position))
    }

    /// The finding of a removed entry. Directly after the entries that the retention has removed, it names only the
    /// position.
    fn removed(&self, position: usize) -> Expected {
        if position == self.purged { Expected::Position(position) } else { self.named(position) }
    }

    fn uuid(&mut self) -> String {
        Uuid::from_u128(self.random.u128(..)).simple().to_string()
    }

    fn bytes(&mut self, length: usize) -> String {
        hex(&std::iter::repeat_with(|| self.random.u8(..)).take(length).collect::<Vec<_>>())
    }

    /// Invents an entry that resembles an existing one.
    fn invented(&mut self) -> Row {
        let mut row = loop {
            let position = self.position();
            let row = self.entry(position);
            // An erased entry is no model: the forger would also need a record of its erasure.
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

    /// The finding of a log that was forged from this position on.
    fn forged(&self, position: usize) -> Expected {
        if self.log.size() < self.kept { Expected::Shortened(position) } else { Expected::Around(position) }
    }

    /// Changes a column of an entry. Returns the expected finding.
    fn edit_column(&mut self, position: usize, column: usize) -> Expected {
        let mut row = self.entry(position).clone();
        self.change(&mut row, column);
        let is_moved = column <= entry::ID;
        *self.entry(position) = row;
        if is_moved { self.removed(position) } else { self.named(position) }
    }

    /// Replaces the value of a column by another readable value.
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
                // A few days at most: this month has a partition, another month may have none.
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

/// Whether the entry is a record that excuses missing values or entries.
fn is_record(row: &Row) -> bool {
    let word = |column: usize| row[column].as_deref().unwrap();
    word(entry::ACTION) == "ERASE" || (word(entry::ACTION), word(entry::RESOURCE_TYPE)) == ("DELETE", "AUDIT_LOG")
}

fn shift(moment: &mut Cell, millis: i64) {
    let micros: i64 = moment.as_deref().unwrap().parse().unwrap();
    *moment = Some((micros + millis * 1000).to_string());
}

fn edit(target: &mut AttackTarget) -> Expected {
    let (position, column) = (target.position(), target.below(ENTRIES.columns.len()));
    target.edit_column(position, column)
}

fn edit_many(target: &mut AttackTarget) -> Expected {
    let many = target.random.usize(2..300);
    let positions = target.positions(many);
    let expected: Vec<Expected> = positions
        .into_iter()
        .map(|position| {
            let column = target.below(ENTRIES.columns.len());
            target.edit_column(position, column)
        })
        .collect();
    expected[0].clone()
}

fn edit_record(target: &mut AttackTarget) -> Expected {
    let is_record_at = |position: &usize| target.log.sequenced[*position].entry.as_ref().is_some_and(is_record);
    let positions: Vec<usize> = (0..target.log.size()).filter(is_record_at).collect();
    let Some(position) = target.random.choice(&positions).copied() else { return edit(target) };
    let column = target.below(ENTRIES.columns.len());
    target.edit_column(position, column);
    Expected::Record(position)
}

fn edit_erased(target: &mut AttackTarget) -> Expected {
    let salts =
        |row: &Row| (row[entry::DETAILS_SALT].as_ref().unwrap().len(), row[entry::ORIGIN_SALT].as_ref().unwrap().len());
    let is_erased = |position: &usize| {
        target.is_ordinary(*position) && salts(target.log.sequenced[*position].entry.as_ref().unwrap()) != (32, 32)
    };
    let positions: Vec<usize> = (0..target.kept).filter(is_erased).collect();
    let Some(position) = target.random.choice(&positions).copied() else { return edit(target) };
    let mut row = target.entry(position).clone();
    let is_of_details = salts(&row).0 == 64;
    let columns: &[usize] = if is_of_details {
        &[entry::OLD_VALUE, entry::NEW_VALUE, entry::METADATA, entry::DETAILS_SALT]
    } else {
        &[entry::IP_ADDRESS, entry::USER_AGENT, entry::ORIGIN_SALT]
    };
    if is_of_details && target.random.bool() {
        // As if the value had never been erased, or another value had been erased.
        let is_filled = |column: &usize| row[*column].as_ref().is_some_and(|text| text.contains("[ERASED]"));
        if let Some(column) = [entry::METADATA, entry::NEW_VALUE, entry::OLD_VALUE].into_iter().find(is_filled) {
            row[column] = Some(row[column].as_ref().unwrap().replacen("[ERASED]", "eve@example.com", 1));
            if target.random.bool() {
                row[entry::DETAILS_SALT] = Some(target.bytes(16));
            }
            *target.entry(position) = row;
            return target.named(position);
        }
    }
    let column = columns[target.random.usize(0..columns.len())];
    target.edit_column(position, column)
}

/// Removes personal values as an erasure does, but without a record.
fn blank(target: &mut AttackTarget) -> Expected {
    let intact = |row: &Row, column: usize| row[column].as_ref().unwrap().len() == 32;
    let position = target.position();
    let mut row = target.entry(position).clone();
    let statement: Value = serde_json::from_str(&read_entry(&row).statement()).unwrap();
    let commitment = |part: &str| statement[part].as_str().map(str::to_owned);
    let (details, origin) = (intact(&row, entry::DETAILS_SALT), intact(&row, entry::ORIGIN_SALT));
    if !details && !origin {
        return edit(target);
    }
    if details && (!origin || target.random.bool()) {
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
    assert_eq!(
        read_entry(&row).digest(),
        read_entry(target.entry(position)).digest(),
        "the digest is the same, as after an erasure"
    );
    *target.entry(position) = row;
    target.named(position)
}

fn make_unreadable(target: &mut AttackTarget) -> Expected {
    let position = target.position();
    let (column, text) = *target
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
    target.entry(position)[column] = Some(text.to_owned());
    Expected::Unreadable(position)
}

fn rewrite(target: &mut AttackTarget) -> Expected {
    let (position, column) = (target.position(), target.random.usize(entry::CREATED_AT..entry::DETAILS_SALT));
    target.edit_column(position, column);
    target.forge();
    Expected::Around(position)
}

fn edit_leaf(target: &mut AttackTarget) -> Expected {
    let position = target.position();
    let mut row = target.log.sequenced[position].leaf.clone();
    match target.random.u8(0..4) {
        0 => {
            row[TENANT] = Some(target.uuid());
            target.log.sequenced[position].leaf = row;
            return Expected::Position(position);
        }
        1 => shift(&mut row[leaf::CREATED_AT], 1),
        2 => row[leaf::ENTRY_ID] = Some(target.uuid()),
        _ => row[leaf::HASH] = Some(target.flipped(&row[leaf::HASH])),
    }
    target.log.sequenced[position].leaf = row;
    Expected::Position(position)
}

fn edit_bare_leaf(target: &mut AttackTarget) -> Expected {
    if target.purged == 0 {
        return edit_leaf(target);
    }
    let position = target.below(target.purged.min(target.kept));
    target.log.sequenced[position].leaf[leaf::HASH] = Some(target.bytes(32));
    Expected::Around(position)
}

fn delete(target: &mut AttackTarget) -> Expected {
    let position = target.position();
    target.log.sequenced[position].entry = None;
    target.removed(position)
}

fn delete_and_edit_many(target: &mut AttackTarget) -> Expected {
    let many = target.random.usize(2..300);
    let positions = target.positions(many);
    let expected: Vec<Expected> = positions
        .into_iter()
        .map(|position| {
            if target.random.u8(0..10) == 0 {
                target.log.sequenced[position].entry = None;
                target.removed(position)
            } else {
                target.edit_column(position, entry::ACTION)
            }
        })
        .collect();
    expected[0].clone()
}

fn delete_with_leaf(target: &mut AttackTarget) -> Expected {
    let position = target.position();
    let sequenced = target.log.sequenced.remove(position);
    if target.random.bool() {
        target.log.strays.extend(sequenced.entry);
    }
    Expected::Position(position)
}

fn delete_and_renumber(target: &mut AttackTarget) -> Expected {
    let position = target.position();
    target.log.sequenced.remove(position);
    target.log.renumber();
    Expected::Position(position)
}

fn delete_and_forge(target: &mut AttackTarget) -> Expected {
    let position = target.position();
    target.log.sequenced.remove(position);
    target.forge();
    target.forged(position)
}

fn insert(target: &mut AttackTarget) -> Expected {
    let row = target.invented();
    let id = id(&row[entry::ID]).unwrap();
    target.log.strays.push(row);
    Expected::Unsequenced(id)
}

fn sequenced(row: Row, position: usize, hash: [u8; 32]) -> Sequenced {
    let mut leaf = vec![row[TENANT].clone(), None, None, None, None];
    leaf[leaf::SEQUENCE] = Some(position.to_string());
    leaf[leaf::CREATED_AT].clone_from(&row[entry::CREATED_AT]);
    leaf[leaf::ENTRY_ID].clone_from(&row[entry::ID]);
    leaf[leaf::HASH] = Some(hex(&hash));
    Sequenced { leaf, entry: Some(row) }
}

fn insert_at_end(target: &mut AttackTarget) -> Expected {
    let (row, position) = (target.invented(), target.log.size());
    let hash = leaf_hash(position, &read_entry(&row).digest().0);
    target.log.sequenced.push(sequenced(row, position, hash));
    Expected::Around(position)
}

fn insert_and_renumber(target: &mut AttackTarget) -> Expected {
    let (row, position) = (target.invented(), target.position());
    let is_right = target.random.bool();
    let hash = if is_right { leaf_hash(position, &read_entry(&row).digest().0) } else { [7; 32] };
    target.log.sequenced.insert(position, sequenced(row, position, hash));
    target.log.renumber();
    // With the right hash, the inserted leaf is correct at its position, and only the moved leaves are wrong.
    if is_right { Expected::OneOf([position, position + 1]) } else { Expected::Position(position) }
}

fn insert_and_forge(target: &mut AttackTarget) -> Expected {
    let (row, position) = (target.invented(), target.position());
    target.log.sequenced.insert(position, sequenced(row, position, [0; 32]));
    target.forge();
    Expected::Around(position)
}

fn two(target: &mut AttackTarget) -> (usize, usize) {
    let positions = target.positions(2);
    (positions[0], positions[1])
}

fn swap_contents(target: &mut AttackTarget) -> Expected {
    let (first, second) = two(target);
    let (mut one, mut other) = (target.entry(first).clone(), target.entry(second).clone());
    one[entry::ACTION..].swap_with_slice(&mut other[entry::ACTION..]);
    (*target.entry(first), *target.entry(second)) = (one, other);
    target.named(first)
}

fn swap_entries_of_leaves(target: &mut AttackTarget) -> Expected {
    let (first, second) = two(target);
    target.log.sequenced.swap(first, second);
    let hash = target.log.sequenced[first].leaf[leaf::HASH].clone();
    let other = std::mem::replace(&mut target.log.sequenced[second].leaf[leaf::HASH], hash);
    target.log.sequenced[first].leaf[leaf::HASH] = other;
    target.log.renumber();
    Expected::Position(first)
}

fn swap_leaves(target: &mut AttackTarget) -> Expected {
    let (first, second) = two(target);
    target.log.sequenced.swap(first, second);
    target.log.renumber();
    Expected::Position(first)
}

fn swap_times(target: &mut AttackTarget) -> Expected {
    let (first, second) = two(target);
    let (one, other) = (target.entry(first).clone(), target.entry(second).clone());
    if one[entry::CREATED_AT] == other[entry::CREATED_AT] {
        return swap_contents(target);
    }
    target.entry(first)[entry::CREATED_AT].clone_from(&other[entry::CREATED_AT]);
    target.entry(second)[entry::CREATED_AT].clone_from(&one[entry::CREATED_AT]);
    target.removed(first)
}

fn reverse(target: &mut AttackTarget) -> Expected {
    let (first, second) = two(target);
    target.log.sequenced[first..=second].reverse();
    target.log.renumber();
    Expected::Displaced(first)
}

fn reorder_and_forge(target: &mut AttackTarget) -> Expected {
    let (first, second) = two(target);
    match target.random.u8(0..3) {
        0 => target.log.sequenced.swap(first, second),
        1 => target.log.sequenced[first..=second].reverse(),
        _ => target.log.sequenced[first..=second].rotate_left(1),
    }
    target.forge();
    Expected::Around(first)
}

fn cut_off(target: &mut AttackTarget) -> Expected {
    let position = target.position();
    for sequenced in target.log.sequenced.split_off(position) {
        if target.random.bool() {
            target.log.strays.extend(sequenced.entry);
        }
    }
    Expected::Position(position)
}

fn cut_off_to_queue(target: &mut AttackTarget) -> Expected {
    let position = target.position();
    for sequenced in target.log.sequenced.split_off(position) {
        let Some(row) = sequenced.entry else { continue };
        target.log.pending.push(Pending { queued: Some(queued(&row)), entry: Some(row) });
    }
    if target.random.bool() {
        target.forge();
        return Expected::Shortened(position);
    }
    Expected::Position(position)
}

/// The queue row of an entry.
fn queued(row: &Row) -> Row {
    let mut queued = vec![row[TENANT].clone(), row[entry::CREATED_AT].clone(), row[entry::ID].clone(), None];
    queued[pending::DIGEST] = Some(hex(&read_entry(row).digest().0));
    queued
}

fn cut_off_and_forge(target: &mut AttackTarget) -> Expected {
    let position = target.position();
    target.log.sequenced.truncate(position);
    target.forge();
    Expected::Shortened(position)
}

fn truncate_entries(target: &mut AttackTarget) -> Expected {
    target.log.sequenced.iter_mut().for_each(|sequenced| sequenced.entry = None);
    if target.random.bool() {
        target.log.pending.iter_mut().for_each(|pending| pending.entry = None);
    }
    // The record for the entries that the retention has removed is also gone.
    Expected::OneOf([0, target.purged])
}

fn truncate_leaves(target: &mut AttackTarget) -> Expected {
    let sequenced = std::mem::take(&mut target.log.sequenced);
    target.log.strays.extend(sequenced.into_iter().filter_map(|sequenced| sequenced.entry));
    Expected::Position(0)
}

fn truncate_everything(target: &mut AttackTarget) -> Expected {
    target.log.sequenced.clear();
    target.log.pending.clear();
    target.log.nodes.clear();
    target.log.head = None;
    Expected::Around(0)
}

fn delete_head(target: &mut AttackTarget) -> Expected {
    target.log.head = None;
    Expected::Around(0)
}

fn edit_head(target: &mut AttackTarget) -> Expected {
    let column = target.random.usize(head::SIZE..=head::NOTE);
    let mut row = target.log.head.clone().unwrap();
    match column {
        head::SIZE => row[column] = Some(target.below(2 * target.log.size()).to_string()),
        head::PEAKS if target.random.bool() => row[column] = Some(target.bytes(32)),
        head::PEAKS => row[column] = Some(target.flipped(&row[column])),
        _ if target.random.bool() => row[column] = Some(String::new()),
        _ => {
            row[column] = target.older[target.random.usize(0..target.older.len())].head.clone().unwrap()[column].clone()
        }
    }
    if Some(&row) == target.log.head.as_ref() {
        return delete_head(target);
    }
    target.log.head = Some(row);
    Expected::Around(0)
}

fn edit_node(target: &mut AttackTarget) -> Expected {
    if target.log.nodes.is_empty() {
        return edit_head(target);
    }
    let node = target.below(target.log.nodes.len());
    if target.random.bool() {
        let row = target.log.nodes.remove(node);
        return Expected::Around(256 * number(&row[node::POSITION]));
    }
    let hash = target.bytes(32);
    let row = &mut target.log.nodes[node];
    row[node::HASH] = Some(hash);
    Expected::Around(256 * number(&row[node::POSITION]))
}

fn remove_without_record(target: &mut AttackTarget) -> Expected {
    let until = target.random.usize(target.purged + 1..=target.kept);
    target.log.head_mut()[head::REMOVED] = Some(until.to_string());
    target.log.sequenced[target.purged..until].iter_mut().for_each(|sequenced| sequenced.entry = None);
    // The record of an earlier removal may be among the removed entries.
    Expected::OneOf([0, target.purged])
}

fn mark_as_removed(target: &mut AttackTarget) -> Expected {
    let until = target.random.usize(target.purged + 1..=target.kept);
    target.log.head_mut()[head::REMOVED] = Some(until.to_string());
    Expected::Around(target.purged)
}

/// Changes the log as the retention or an erasure does, with a record that would excuse all of it.
fn excuse_with_unsigned_record(target: &mut AttackTarget) -> Expected {
    let sequenced = target.log.sequenced.iter().filter_map(|sequenced| sequenced.entry.as_ref());
    let pending = target.log.pending.iter().filter_map(|pending| pending.entry.as_ref());
    let records = sequenced.chain(pending).filter(|row| is_record(row));
    let records: Vec<Value> =
        records.map(|row| serde_json::from_str(row[entry::METADATA].as_deref().unwrap()).unwrap()).collect();
    let signature = target.random.choice(&records).map_or(json!(""), |metadata| metadata["signature"].clone());
    let mut record = target.invented();
    let (expected, action, resource_type, metadata) = if target.random.bool() {
        (delete(target), "DELETE", "AUDIT_LOG", json!({ "until": target.log.size(), "signature": signature }))
    } else {
        let ids: Vec<Uuid> = (0..target.log.size()).map(|position| target.id(position)).collect();
        (blank(target), "ERASE", "USER", json!({ "details": ids, "origins": ids, "signature": signature }))
    };
    record[entry::ACTION] = Some(action.to_owned());
    record[entry::RESOURCE_TYPE] = Some(resource_type.to_owned());
    record[entry::METADATA] = Some(metadata.to_string());
    target.log.pending.push(Pending { queued: Some(queued(&record)), entry: Some(record) });
    expected
}

/// Restores erased values from an older copy of the log. The digest is the same as before.
fn restore_erased(target: &mut AttackTarget) -> Expected {
    let parts = [
        (entry::DETAILS_SALT, &[entry::OLD_VALUE, entry::NEW_VALUE, entry::METADATA][..]),
        (entry::ORIGIN_SALT, &[entry::IP_ADDRESS, entry::USER_AGENT][..]),
    ];
    let is_destroyed = |row: &Row, salt: usize| row[salt].as_ref().unwrap().len() == 64;
    let mut erased = Vec::new();
    for position in (0..target.kept).filter(|position| target.is_ordinary(*position)) {
        for (before, part) in target.older.iter().flat_map(|log| parts.map(|part| (log, part))) {
            let before = before.sequenced.get(position).and_then(|sequenced| sequenced.entry.as_ref());
            let before = before.filter(|before| !is_destroyed(before, part.0));
            let now = target.log.sequenced[position].entry.as_ref().unwrap();
            erased.extend(before.filter(|_| is_destroyed(now, part.0)).map(|before| (position, part, before.clone())));
        }
    }
    let Some((position, (salt, columns), before)) = target.random.choice(&erased).cloned() else { return edit(target) };
    let row = target.entry(position);
    let digest = read_entry(row).digest();
    for column in columns.iter().copied().chain([salt]) {
        row[column].clone_from(&before[column]);
    }
    assert_eq!(read_entry(row).digest(), digest, "the digest is the same as before");
    target.named(position)
}

fn older(target: &mut AttackTarget) -> Option<Log> {
    let older: Vec<&Log> = target.older.iter().filter(|log| log.size() < target.kept).collect();
    target.random.choice(&older).map(|log| (*log).clone())
}

fn restore_older_log(target: &mut AttackTarget) -> Expected {
    let Some(older) = older(target) else { return truncate_everything(target) };
    target.log = older;
    Expected::Around(target.log.size())
}

fn restore_older_log_and_extend(target: &mut AttackTarget) -> Expected {
    let Some(mut older) = older(target) else { return truncate_everything(target) };
    let position = older.size();
    let size = target.kept + target.random.usize(0..40);
    while older.size() < size {
        let row = target.invented();
        let position = older.size();
        older.sequenced.push(sequenced(row, position, [0; 32]));
    }
    target.log = older;
    target.log.forge(Skill::Key);
    target.is_perfect = true;
    Expected::Around(position)
}

fn replace_key(target: &mut AttackTarget) -> Expected {
    if target.random.bool() {
        target.log.key = stranger(&target.log.key);
    } else {
        target.log.key.id = target.uuid();
    }
    if target.random.bool() {
        let position = target.position();
        target.edit_column(position, entry::ACTION);
    }
    target.log.forge(Skill::Key);
    target.is_perfect = true;
    Expected::OtherKey
}

fn edit_without_head(target: &mut AttackTarget) -> Expected {
    let position = target.position();
    target.log.head = None;
    target.edit_column(position, entry::ACTION)
}

fn edit_before(target: &mut AttackTarget) -> Expected {
    let positions = target.positions(2);
    let expected = target.edit_column(positions[0], entry::USER_ID);
    match target.random.u8(0..3) {
        0 => drop(target.log.sequenced.remove(positions[1])),
        1 => drop(target.log.sequenced.split_off(positions[1])),
        _ => {
            target.log.sequenced.remove(positions[1]);
            target.log.renumber();
        }
    }
    expected
}

fn pending(target: &mut AttackTarget) -> Option<usize> {
    let is_ordinary = |pending: &Pending| pending.entry.as_ref().is_some_and(|entry| !is_record(entry));
    let positions: Vec<usize> =
        (0..target.log.pending.len()).filter(|at| is_ordinary(&target.log.pending[*at])).collect();
    target.random.choice(&positions).copied()
}

fn pending_id(target: &AttackTarget, at: usize) -> Uuid {
    id(&target.log.pending[at].queued.as_ref().unwrap()[pending::ID]).unwrap()
}

fn edit_pending(target: &mut AttackTarget) -> Expected {
    let Some(at) = pending(target) else { return edit(target) };
    let id = pending_id(target, at);
    if target.random.bool() {
        let digest = target.bytes(32);
        target.log.pending[at].queued.as_mut().unwrap()[pending::DIGEST] = Some(digest);
    } else {
        let (mut row, column) =
            (target.log.pending[at].entry.clone().unwrap(), target.random.usize(entry::ACTION..ENTRIES.columns.len()));
        target.change(&mut row, column);
        target.log.pending[at].entry = Some(row);
    }
    Expected::Unsequenced(id)
}

fn delete_pending(target: &mut AttackTarget) -> Expected {
    let pending = if target.queue_holds_entries { None } else { pending(target) };
    let Some(at) = pending else { return delete(target) };
    target.log.pending[at].entry = None;
    Expected::Unsequenced(pending_id(target, at))
}

fn take_out_of_queue(target: &mut AttackTarget) -> Expected {
    let Some(at) = pending(target) else { return insert(target) };
    let id = pending_id(target, at);
    target.log.pending[at].queued = None;
    Expected::Unsequenced(id)
}

fn queue_again(target: &mut AttackTarget) -> Expected {
    let position = target.position();
    let queued = queued(target.entry(position));
    target.log.pending.push(Pending { queued: Some(queued), entry: None });
    Expected::Unsequenced(target.id(position))
}
