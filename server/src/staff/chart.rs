//! A chart as SVG: stacked bars, one for each hour. Its colours are classes of the stylesheet, as nothing may be styled inline.

use std::fmt::Write;

const WIDTH: u64 = 720;
const HEIGHT: u64 = 260;
/// Room for the numbers at the axis, and for the hours below.
const LEFT: u64 = 72;
const BELOW: u64 = 28;
const ABOVE: u64 = 12;
const GAP: u64 = 8;

/// Every third label is written, so that they can be read on a phone.
const LABELLED: usize = 3;

/// One part of each bar.
pub(super) struct Series {
    pub(super) name: &'static str,
    pub(super) values: Vec<u64>,
}

/// What the chart is called, for those who do not see it; the table beside it has the figures.
pub(super) fn bars(title: &str, labels: &[String], series: &[Series]) -> String {
    let heights = (0..labels.len()).map(|index| series.iter().filter_map(|one| one.values.get(index)).sum());
    let (top, step) = scale(heights.max().unwrap_or_default());
    let room = HEIGHT - ABOVE - BELOW;
    let of = |value: u64| value.saturating_mul(room) / top;
    let mut svg = format!(
        "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" preserveAspectRatio=\"xMinYMid\" role=\"img\"><title>{title}</title>\
         <desc>Stacked bars, one for each hour. The table has the figures.</desc>"
    );
    for value in (0..=top).step_by(usize::try_from(step).unwrap_or(1)) {
        let y = ABOVE + room - of(value);
        let _ = write!(
            svg,
            "<path class=\"grid\" d=\"M{LEFT} {y}H{WIDTH}\"/><text x=\"{}\" y=\"{}\" class=\"at-end\">{value}</text>",
            LEFT - 8,
            y + 5
        );
    }
    let slot = (WIDTH - LEFT) / (labels.len() as u64).max(1);
    for (index, label) in labels.iter().enumerate() {
        let x = LEFT + slot * index as u64;
        let mut y = ABOVE + room;
        for (number, one) in series.iter().enumerate() {
            let value = one.values.get(index).copied().unwrap_or_default();
            // What there is can be seen.
            let height = if value > 0 { of(value).max(2) } else { continue };
            y = y.saturating_sub(height);
            let (x, width, number) = (x + GAP / 2, slot - GAP, number + 1);
            let _ = write!(
                svg,
                "<rect class=\"series-{number}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>"
            );
        }
        if index % LABELLED > 0 {
            continue;
        }
        let (x, y) = (x + slot / 2, HEIGHT - 4);
        let _ = write!(svg, "<text x=\"{x}\" y=\"{y}\" class=\"at-middle\">{label}</text>");
    }
    svg.push_str("</svg>");
    svg
}

/// Where the axis ends, and the steps to there: whole and round ones, for four steps or a few more.
fn scale(tallest: u64) -> (u64, u64) {
    let rough = tallest.div_ceil(4).max(1);
    let mut power = 1_u64;
    while power.saturating_mul(10) <= rough {
        power = power.saturating_mul(10);
    }
    let step = [1, 2, 5, 10].map(|round| power.saturating_mul(round)).into_iter().find(|step| *step >= rough);
    let step = step.unwrap_or(rough);
    (tallest.div_ceil(step).max(1).saturating_mul(step), step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_has_round_steps_and_room_for_every_bar() {
        for (tallest, expected) in
            [(0, (1, 1)), (1, (1, 1)), (4, (4, 1)), (5, (6, 2)), (31, (40, 10)), (117_000, (150_000, 50_000))]
        {
            assert_eq!(scale(tallest), expected, "{tallest}");
        }
    }

    #[test]
    fn bars_stand_on_one_another_within_the_picture_and_nothing_is_styled_inline() {
        let series = |name, values: &[u64]| Series { name, values: values.to_vec() };
        let labels = ["00".to_owned(), "01".to_owned()];
        let svg = bars("Charged", &labels, &[series("a", &[30, 1]), series("b", &[10, 0])]);
        assert_eq!(svg.matches("<rect").count(), 3, "{svg}");
        let (bottom, top) = (ABOVE + (HEIGHT - ABOVE - BELOW) / 4, ABOVE);
        for (class, y) in [("series-1", bottom), ("series-2", top)] {
            assert!(svg.contains(&format!("class=\"{class}\" x=\"{}\" y=\"{y}\"", LEFT + GAP / 2)), "{y}: {svg}");
        }
        assert!(svg.contains("role=\"img\"><title>Charged</title>") && !svg.contains("style"), "{svg}");
        assert!(bars("Nothing", &[], &[]).ends_with("</svg>"));
    }
}
