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
const HEIGHT: u64 = 64;
const MARK: u64 = 32;
/// From a place to the next one, with the gap between them.
const COLUMN: u64 = 280;
const ROW: u64 = 80;
/// How much of a name a place shows, in characters.
const NAME: usize = 24;

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
    zoom_out: String,
    zoom_in: String,
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
    let zoomed = |to: Option<u64>| {
        let (root, zoom) = (params.root.map(|id| id.to_string()).unwrap_or_default(), to.unwrap_or(zoom).to_string());
        format!("{}/organizations/map?{}", console.base(), query(&[("root", &*root), ("zoom", &*zoom)]))
    };
    let shown = MapPage {
        title: match &root {
            Some(root) => text::map_from(root.organization.name.as_str()),
            None => text::t("map-of-all").to_owned(),
        },
        script: format!("{}{}", frame.base, ASSETS.map.path),
        zoom_out: zoomed(at.checked_sub(1).and_then(step)),
        zoom_in: zoomed(step(at + 1)),
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
    counts: String,
    /// What is unusual about it.
    note: String,
    status: OrganizationStatus,
    /// The name of the map that begins here. Empty for a place that needs none.
    map: String,
}

impl Map {
    /// Reads everything below an organization, or all that the caller may see, level by level.
    async fn read(iam: &Iam, caller: &Caller, root: Option<&OrganizationWithDepth>) -> Result<Self, Error> {
        let organizations = iam.organizations();
        let top = match root {
            Some(root) => vec![root.clone()],
            None => topmost(iam, caller).await?,
        };
        let mut level = ids_of(&top);
        let mut drawn = level.clone();
        let mut below: BTreeMap<OrganizationId, Vec<OrganizationWithDepth>> = BTreeMap::new();
        while !level.is_empty() && drawn.len() < MAX {
            let rest = u32::try_from(MAX - drawn.len()).unwrap_or(u32::MAX);
            let children = organizations.children_of(caller, &level, rest, rest).await?;
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
        let place = Place {
            id: organization.id,
            left,
            top: middle.saturating_sub(HEIGHT / 2),
            title: said.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" · "),
            name: short(name),
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

/// Returns as much of a name as a place has room for.
fn short(name: &str) -> String {
    if name.chars().count() <= NAME {
        return name.to_owned();
    }
    name.chars().take(NAME - 1).chain(['…']).collect()
}
