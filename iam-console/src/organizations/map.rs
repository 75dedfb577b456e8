use std::collections::BTreeMap;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use iam_axum::Problem;
use iam_core::organization::{
    MAX_ASKED, OrganizationCounts, OrganizationFilter, OrganizationStatus, OrganizationWithDepth, ParentFilter,
};
use iam_core::page::{MAX_LIMIT, PageRequest};
use iam_core::permission::ORGANIZATIONS_READ;
use iam_core::{Caller, Error, Iam, OrganizationId};
use serde::Deserialize;

use crate::assets::ASSETS;
use crate::organizations::tree::{ids_of, own};
use crate::picker::by_name;
use crate::query::Query;
use crate::rights::held;
use crate::session::SignedIn;
use crate::state::Console;
use crate::text;
use crate::view::{Frame, page, query};

/// How many places are drawn at most.
const MAX: usize = MAX_ASKED;

/// The steps of the zoom, in per cent.
const ZOOMS: [u64; 5] = [50, 75, 100, 150, 200];
const USUAL_ZOOM: u64 = 100;

// The sizes of the drawing. The tree grows to the right, and each place without others below it has a row.

const MARGIN: u64 = 16;
/// A place, and the mark at its right side that leads to another map.
const WIDTH: u64 = 232;
const HEIGHT: u64 = 72;
const MARK: u64 = 32;
/// From a place to the next one, with the gap between them.
const COLUMN: u64 = 280;
const ROW: u64 = 88;
/// From a line of a name to the next one.
const LINE: u64 = 14;
/// How much of a name a line of a place shows, in characters.
const NAME: usize = 22;
/// How many rows can still be read when all of them are in sight.
const LOW: u64 = 20;

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Params {
    root: Option<OrganizationId>,
    zoom: Option<u64>,
}

#[derive(Template)]
#[template(path = "organization-map.html")]
struct MapPage {
    frame: Frame,
    title: String,
    /// `None` on the map of all organizations.
    root: Option<OrganizationWithDepth>,
    map: Map,
    zoom: u64,
    /// Whether the drawing gets smaller until it has room in the window. The style does that, on wide windows.
    fits: bool,
    zoom_out: String,
    zoom_in: String,
    zoom_fit: String,
    script: String,
}

impl MapPage {
    /// The width of the drawing in the page.
    fn width(&self) -> u64 {
        self.map.width() * self.zoom / USUAL_ZOOM
    }

    fn height(&self) -> u64 {
        self.map.height() * self.zoom / USUAL_ZOOM
    }

    /// Whether the drawing can be read when its whole height is in sight.
    fn is_low(&self) -> bool {
        self.map.rows <= LOW
    }

    /// The steps of the zoom, for the script.
    fn steps(&self) -> String {
        ZOOMS.map(|step| step.to_string()).join(" ")
    }
}

pub(super) async fn show(
    State(console): State<Console>,
    signed_in: SignedIn,
    Query(params): Query<Params>,
) -> Result<Response, Problem> {
    let (iam, caller) = (&console.iam, &signed_in.caller);
    let root = match params.root {
        Some(id) => Some(iam.organizations().get(caller, id).await?),
        None => None,
    };
    let map = Map::read(iam, caller, root.as_ref()).await?;
    let frame = signed_in.frame(&console).await?;
    let wanted = params.zoom.unwrap_or(USUAL_ZOOM);
    let at = ZOOMS.iter().rposition(|step| *step <= wanted).unwrap_or(0);
    let step = |at: usize| ZOOMS.get(at).copied();
    let zoom = step(at).unwrap_or(USUAL_ZOOM);
    let of_root = params.root.map(|id| id.to_string()).unwrap_or_default();
    let address =
        |zoom: &str| format!("{}/organizations/map?{}", console.base(), query(&[("root", &*of_root), ("zoom", zoom)]));
    let zoomed = |to: Option<u64>| address(&to.unwrap_or(zoom).to_string());
    let shown = MapPage {
        title: match &root {
            Some(root) => text::map_from(root.organization.name.as_str()),
            None => text::t("map-of-all").to_owned(),
        },
        script: format!("{}{}", frame.base, ASSETS.map.path),
        zoom_out: zoomed(at.checked_sub(1).and_then(step)),
        zoom_in: zoomed(step(at + 1)),
        zoom_fit: address(""),
        fits: params.zoom.is_none(),
        frame,
        root,
        map,
        zoom,
    };
    page(StatusCode::OK, &shown)
}

/// The drawing of a tree, or of a part of it.
#[derive(Default)]
struct Map {
    places: Vec<Place>,
    /// The lines from places to those below them, as paths.
    lines: Vec<String>,
    rows: u64,
    columns: u64,
    /// How many organizations are not drawn.
    missing: u64,
}

struct Place {
    id: OrganizationId,
    left: u64,
    top: u64,
    /// Its whole name with all that the place shows.
    title: String,
    name: String,
    /// The second line of its name. Empty for a short one.
    rest: String,
    counts: String,
    /// What is unusual about it.
    note: String,
    status: OrganizationStatus,
    /// The name of the map that begins here. Empty for a place that needs none.
    map: String,
}

impl Place {
    /// Returns the height of a text that stands below the name.
    fn below_name(&self, height: u64) -> u64 {
        if self.rest.is_empty() { height } else { height + LINE }
    }
}

impl Map {
    /// Reads everything below an organization, or all that the caller may see, level by level.
    async fn read(iam: &Iam, caller: &Caller, root: Option<&OrganizationWithDepth>) -> Result<Self, Error> {
        let organizations = iam.organizations();
        let mut top = match root {
            Some(root) => vec![root.clone()],
            None => topmost(iam, caller).await?,
        };
        sort(&mut top);
        let mut level = ids_of(&top);
        let mut drawn = level.clone();
        let mut below: BTreeMap<OrganizationId, Vec<OrganizationWithDepth>> = BTreeMap::new();
        while !level.is_empty() && drawn.len() < MAX {
            let rest = u32::try_from(MAX - drawn.len()).unwrap_or(u32::MAX);
            let mut children = organizations.children_of(caller, &level, rest, rest).await?;
            sort(&mut children);
            level = ids_of(&children);
            drawn.extend(&level);
            for child in children {
                if let Some(parent) = child.organization.parent_id {
                    below.entry(parent).or_default().push(child);
                }
            }
        }
        let counts = organizations.counts(caller, &drawn).await?;
        let total = match root {
            Some(root) => counts.get(&root.organization.id).map_or(0, |counts| counts.below + 1),
            None => {
                let filter = OrganizationFilter::default();
                organizations.list(caller, &filter, by_name(), PageRequest::new(1, 1)?).await?.total
            }
        };
        let missing = total.saturating_sub(drawn.len() as u64);
        let mut drawing = Drawing { below, counts, map: Self { missing, ..Self::default() } };
        for organization in top {
            drawing.draw(organization, 0, root.is_some());
        }
        Ok(drawing.map)
    }

    fn width(&self) -> u64 {
        (self.columns * COLUMN).saturating_sub(COLUMN - WIDTH) + 2 * MARGIN
    }

    fn height(&self) -> u64 {
        (self.rows * ROW).saturating_sub(ROW - HEIGHT) + 2 * MARGIN
    }
}

/// Returns the topmost organizations that the caller may see, by name: at most [`MAX`].
async fn topmost(iam: &Iam, caller: &Caller) -> Result<Vec<OrganizationWithDepth>, Error> {
    let [sees_all] = held(iam, caller, None, [ORGANIZATIONS_READ]).await?;
    let mut top = Vec::new();
    if sees_all {
        let filter = OrganizationFilter { parent: Some(ParentFilter::Root), ..OrganizationFilter::default() };
        let mut number = 1;
        while top.len() < MAX {
            let found =
                iam.organizations().list(caller, &filter, by_name(), PageRequest::new(number, MAX_LIMIT)?).await?;
            let has_next = found.has_next();
            top.extend(found.items);
            number += 1;
            if !has_next {
                break;
            }
        }
    } else {
        top = own(iam, caller).await?;
    }
    top.truncate(MAX);
    Ok(top)
}

/// A map while it is drawn.
struct Drawing {
    /// The organizations below each one that are still to be drawn.
    below: BTreeMap<OrganizationId, Vec<OrganizationWithDepth>>,
    counts: BTreeMap<OrganizationId, OrganizationCounts>,
    map: Map,
}

impl Drawing {
    /// Draws an organization in the middle of those below it. Returns the height of its middle, and how many places are
    /// drawn. The recursion is as deep as the tree, whose depth is limited.
    fn draw(&mut self, placed: OrganizationWithDepth, column: u64, is_root: bool) -> (u64, u64) {
        let organization = placed.organization;
        // Before those below it, so that the keyboard reaches it first.
        let at = self.map.places.len();
        let (mut middles, mut drawn) = (Vec::new(), 1);
        for child in self.below.remove(&organization.id).unwrap_or_default() {
            let (middle, places) = self.draw(child, column + 1, false);
            middles.push(middle);
            drawn += places;
        }
        let middle = match (middles.first(), middles.last()) {
            (Some(first), Some(last)) => (first + last) / 2,
            _ => MARGIN + self.row() * ROW + HEIGHT / 2,
        };
        let left = MARGIN + column * COLUMN;
        let (right, bend) = (left + WIDTH, left + (WIDTH + COLUMN) / 2);
        let line = |end: u64| format!("M{right} {middle}H{bend}V{end}H{}", left + COLUMN);
        self.map.lines.extend(middles.into_iter().map(line));
        self.map.columns = self.map.columns.max(column + 1);
        let counts = self.counts.get(&organization.id);
        let below = counts.map_or(0, |counts| counts.below);
        let missing = (below + 1).saturating_sub(drawn);
        let name = organization.name.as_str();
        let status = super::text_of(&organization.status);
        let is_usual = organization.status == OrganizationStatus::Active;
        let notes = [(!is_usual).then(|| status.to_owned()), (missing > 0).then(|| text::missing_below(missing))];
        let note = notes.into_iter().flatten().collect::<Vec<_>>().join(" · ");
        let counted = counts.map(text::organization_counts).unwrap_or_default();
        let said = [name, counted.as_str(), note.as_str()];
        let (first, rest) = lines(name);
        let place = Place {
            id: organization.id,
            left,
            top: middle.saturating_sub(HEIGHT / 2),
            title: said.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" · "),
            name: first,
            rest,
            counts: counts.map(text::place_counts).unwrap_or_default(),
            note,
            status: organization.status,
            map: if below > 0 && !is_root { text::map_from(name) } else { String::new() },
        };
        self.map.places.insert(at, place);
        (middle, drawn)
    }

    /// Begins a row, and returns its number.
    fn row(&mut self) -> u64 {
        let row = self.map.rows;
        self.map.rows += 1;
        row
    }
}

/// Sorts organizations as people do: 2 is before 10.
fn sort(organizations: &mut [OrganizationWithDepth]) {
    organizations.sort_by_cached_key(|found| natural(found.organization.name.as_str()));
}

/// Returns a key that sorts names by the numbers in them: each number has the same length.
fn natural(name: &str) -> String {
    let is_no_digit = |char: char| !char.is_ascii_digit();
    let name = name.to_lowercase();
    let padded = name.split_inclusive(is_no_digit).map(|part| match part.trim_end_matches(is_no_digit) {
        "" => part.to_owned(),
        number => format!("{number:0>20}{}", part.trim_start_matches(number)),
    });
    padded.collect()
}

/// Returns the two lines of a name that a place has room for. The end of a long name is shown: names that begin alike
/// often differ there.
fn lines(name: &str) -> (String, String) {
    if name.chars().count() <= NAME {
        return (name.to_owned(), String::new());
    }
    // One more character, so that a word that ends there stays whole.
    let start: String = name.chars().take(NAME + 1).collect();
    let first: String = match start.rsplit_once(' ') {
        Some((words, _)) if !words.is_empty() => words.to_owned(),
        _ => start.chars().take(NAME).collect(),
    };
    let rest = name.strip_prefix(&*first).unwrap_or_default().trim_start();
    let left_out = rest.chars().count().saturating_sub(NAME);
    if left_out == 0 {
        return (first, rest.to_owned());
    }
    (first, ['…'].into_iter().chain(rest.chars().skip(left_out + 1)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_by_the_numbers_in_them() {
        let mut names = ["Office 10", "office 9", "Annex", "Office 10b", "Office 2"];
        names.sort_by_cached_key(|name| natural(name));
        assert_eq!(names, ["Annex", "Office 2", "office 9", "Office 10", "Office 10b"]);
    }

    #[test]
    fn a_long_name_has_two_lines_with_its_start_and_its_end() {
        for (name, expected) in [
            ("North", ["North", ""]),
            ("Regional office number 12", ["Regional office number", "12"]),
            ("Regional offices of the northern and eastern part 7", ["Regional offices of", "…rn and eastern part 7"]),
            ("Donaudampfschifffahrtsgesellschaft", ["Donaudampfschifffahrts", "gesellschaft"]),
        ] {
            let (first, rest) = lines(name);
            assert_eq!([&*first, &*rest], expected);
            assert!(first.chars().count() <= NAME && rest.chars().count() <= NAME, "{name}");
        }
    }
}
