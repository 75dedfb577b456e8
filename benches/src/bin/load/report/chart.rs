//! A chart with a bar for each goal. The length of a bar shows how much of its goal was reached.
//!
//! The SVG is written by hand, so that its colours follow the reader's choice between light and dark. A plotting
//! library gives every text and bar a fixed colour. The background is drawn, too, because the page around the chart
//! may use the other choice.

use std::fmt::Write as _;

/// A bar of the chart.
pub(super) struct Bar {
    pub(super) label: String,
    pub(super) text: String,
    /// From 1 on, the goal is reached.
    pub(super) degree: f64,
}

const LABELS: u32 = 400;
/// The length of a bar that exactly reaches its goal.
const GOAL: u32 = 140;
/// The greatest degree that a bar shows. Longer bars are cut off.
const MOST: f64 = 2.0;
const TEXTS: u32 = 270;
const TOP: u32 = 56;
const ROW: u32 = 28;

const STYLE: &str = "
    .page { fill: #ffffff; }
    text { font: 13px system-ui, sans-serif; fill: #24292f; }
    .title { font-weight: 600; font-size: 15px; }
    .missed { fill: #bf5b2c; }
    .reached { fill: #2c7a4b; }
    .goal { stroke: #57606a; stroke-dasharray: 4 3; }
    @media (prefers-color-scheme: dark) {
        .page { fill: #0d1117; }
        text { fill: #d8dee4; }
        .missed { fill: #e0854f; }
        .reached { fill: #4fb477; }
        .goal { stroke: #9198a1; }
    }
";

pub(super) fn draw(title: &str, bars: &[Bar]) -> String {
    let rows = u32::try_from(bars.len()).unwrap_or(u32::MAX);
    let (width, height) = (LABELS + 2 * GOAL + TEXTS, TOP + ROW.saturating_mul(rows) + 8);
    let goal = LABELS + GOAL;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" role=\"img\">\n<title>{}</title>\n<style>{STYLE}</style>\n\
         <rect class=\"page\" width=\"100%\" height=\"100%\"/>\n",
        escaped(title)
    );
    let mut text = |x: u32, y: u32, attributes: &str, text: &str| {
        // Writing to a `String` does not fail.
        let _ = writeln!(svg, "<text x=\"{x}\" y=\"{y}\"{attributes}>{}</text>", escaped(text));
    };
    text(8, 22, " class=\"title\"", title);
    text(goal, TOP - 8, " text-anchor=\"middle\"", "target");
    for (bar, y) in bars.iter().zip((TOP..).step_by(ROW as usize)) {
        text(LABELS - 8, y + 18, " text-anchor=\"end\"", &bar.label);
        text(LABELS + 2 * GOAL + 12, y + 18, "", &bar.text);
    }
    for (bar, y) in bars.iter().zip((TOP..).step_by(ROW as usize)) {
        let class = if bar.degree >= 1.0 { "reached" } else { "missed" };
        let length = bar.degree.clamp(0.0, MOST) * f64::from(GOAL);
        let _ = writeln!(
            svg,
            "<rect class=\"{class}\" x=\"{LABELS}\" y=\"{}\" width=\"{length:.1}\" height=\"{}\" rx=\"2\"/>",
            y + 4,
            ROW - 8
        );
    }
    let bottom = height - 8;
    let _ = writeln!(svg, "<line class=\"goal\" x1=\"{goal}\" y1=\"{TOP}\" x2=\"{goal}\" y2=\"{bottom}\"/>\n</svg>");
    svg
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(label: &str, degree: f64) -> Bar {
        Bar { label: label.to_owned(), text: "0.5 of ≥ 1".to_owned(), degree }
    }

    #[test]
    fn a_chart_is_well_formed_xml_with_any_label() {
        let svg = draw("A & B", &[bar("<1 ms", 0.5), bar("\"quoted\" & more", f64::INFINITY)]);
        let document = roxmltree::Document::parse(&svg).unwrap();
        let texts = document.descendants().filter(|node| node.has_tag_name("text")).filter_map(|node| node.text());
        let texts: Vec<&str> = texts.collect();
        assert!(["A & B", "target", "<1 ms", "\"quoted\" & more"].iter().all(|text| texts.contains(text)), "{texts:?}");
    }

    #[test]
    fn the_length_of_a_bar_is_its_degree_up_to_twice_the_goal() {
        let svg = draw("title", &[bar("half", 0.5), bar("just", 1.0), bar("far", 9.0), bar("nothing", 0.0)]);
        let document = roxmltree::Document::parse(&svg).unwrap();
        let bars = document.descendants().filter(|node| node.has_tag_name("rect")).skip(1);
        let bars: Vec<_> = bars.map(|bar| (bar.attribute("class").unwrap(), bar.attribute("width").unwrap())).collect();
        assert_eq!(bars, [("missed", "70.0"), ("reached", "140.0"), ("reached", "280.0"), ("missed", "0.0")]);
    }
}
