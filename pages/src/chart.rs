//! Charts as SVG. Their colours are placeholders that the stylesheet replaces by the tokens of the theme, because
//! the pages allow no inline styles.

use std::fmt::Display;

use charts_rs::{BarChart, Box, HorizontalBarChart, Position, Series, svg_with_accessibility};

/// Colours of the series in the chart; `frame.css` maps them to the theme.
const SERIES: [&str; 5] = ["#010101", "#010102", "#010103", "#010104", "#010105"];
const TEXT: &str = "#010110";
const GRID: &str = "#010111";

const WIDTH: f32 = 960.0;
const FONT_SIZE: f32 = 13.0;

/// One series.
pub struct Values<'a> {
    /// Its name.
    pub name: &'a str,
    /// The number of its colour, from 0 to 4: in the stylesheet `--series-1` to `--series-5`.
    pub color: usize,
    /// One for each label.
    pub values: Vec<f32>,
}

/// The subject of a chart, for people who cannot see it. The table next to it has the figures.
pub struct About<'a> {
    /// Its name.
    pub title: &'a str,
    /// How to read it.
    pub description: &'a str,
}

fn series(values: Vec<Values<'_>>) -> Vec<Series> {
    values
        .into_iter()
        .map(|one| {
            let mut series = Series::new(one.name.to_owned(), one.values);
            series.index = Some(one.color);
            series.stack = Some("all".to_owned());
            series
        })
        .collect()
}

/// Stacked bars over time, as SVG; empty if it cannot be drawn.
///
/// ```
/// use kassa_pages::chart::{About, Values, bars};
///
/// let about = About { title: "Payments", description: "Bars, one for each day." };
/// let svg = bars(&about, vec!["1 Nov".into(), "2 Nov".into()], vec![Values { name: "Charged", color: 0, values: vec![3.0, 5.0] }]);
/// assert!(svg.starts_with("<svg class=\"chart\""));
/// ```
pub fn bars(about: &About<'_>, labels: Vec<String>, values: Vec<Values<'_>>) -> String {
    let mut chart = BarChart::new(Vec::new(), labels);
    let (largest, parts) = scale(&values);
    chart.base.series_list = series(values);
    dress(&mut chart.base, 280.0);
    for axis in &mut chart.y_axis_configs {
        axis.font.color = TEXT.into();
        axis.font.size = FONT_SIZE;
        axis.stroke_color = GRID.into();
        axis.formatter = Some("{t}".to_owned());
        axis.min = Some(0.0);
        axis.max = Some(largest);
        axis.split_number = parts;
    }
    chart.radius = Some(2.0);
    finish(about, chart.svg())
}

/// Bars from left to right, the value written at the end of each, as SVG; nothing if it cannot be drawn.
pub fn ranking(about: &About<'_>, labels: Vec<String>, values: Values<'_>) -> String {
    let height = 40.0 + 34.0 * f32::from(u16::try_from(labels.len()).unwrap_or(u16::MAX));
    let mut chart = HorizontalBarChart::new(Vec::new(), labels);
    chart.base.series_list = series(vec![values]);
    for one in &mut chart.base.series_list {
        one.label_show = true;
        one.stack = None;
    }
    dress(&mut chart.base, height);
    chart.base.series.label.formatter = "{t}".to_owned();
    chart.base.series.label.font.color = TEXT.into();
    chart.base.series.label.font.size = FONT_SIZE;
    chart.series_label_position = Some(Position::Right);
    for axis in &mut chart.y_axis_configs {
        axis.font.color = TEXT.into();
        axis.font.size = FONT_SIZE;
        axis.stroke_color = GRID.into();
    }
    finish(about, chart.svg())
}

/// Where the axis ends, and in how many parts: whole and round steps, a little above the tallest bar.
fn scale(values: &[Values<'_>]) -> (f32, usize) {
    let length = values.iter().map(|one| one.values.len()).max().unwrap_or_default();
    let height = |index: usize| values.iter().filter_map(|one| one.values.get(index)).sum::<f32>();
    let tallest = (0..length).map(height).fold(0.0, f32::max).max(4.0);
    let rough = tallest / 4.0;
    let power = 10_f32.powf(rough.log10().floor());
    let round = [1.0, 2.0, 5.0, 10.0].into_iter().find(|round| rough <= round * power).unwrap_or(10.0);
    let step = round * power;
    let parts = (tallest / step).ceil();
    (step * parts, parts as usize)
}

fn dress(base: &mut charts_rs::ChartBase, height: f32) {
    base.width = WIDTH;
    base.height = height;
    base.margin = Box { left: 4.0, top: 8.0, right: 16.0, bottom: 4.0 };
    // Transparent: the card below it has the colour of the theme.
    base.background_color = (0, 0, 0, 0).into();
    base.font_family = "inherit".to_owned();
    base.series.colors = SERIES.map(Into::into).to_vec();
    base.grid.stroke_color = GRID.into();
    base.x_axis.font.color = TEXT.into();
    base.x_axis.font.size = FONT_SIZE;
    base.x_axis.stroke_color = GRID.into();
    // The page has a legend, which grows with the reader's font size.
    base.legend.show = Some(false);
}

/// The picture with a name and a description, scaled to its container; empty if it cannot be drawn: the table is there.
fn finish(about: &About<'_>, drawn: Result<String, impl Display>) -> String {
    match drawn {
        Ok(svg) => {
            let svg = svg_with_accessibility(&svg, about.title, about.description);
            svg.replacen("<svg ", "<svg class=\"chart\" ", 1)
        }
        Err(error) => {
            tracing::error!(%error, "a chart could not be drawn");
            String::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about() -> About<'static> {
        About { title: "A <title>", description: "What it shows" }
    }

    #[test]
    fn chart_has_a_name_and_nothing_inline_and_only_colours_that_the_style_knows() {
        let values = |name, color| Values { name, color, values: vec![1.0, 2.0] };
        let labels = vec!["1 <Nov".to_owned(), "2 Nov".to_owned()];
        let drawn = [
            bars(&about(), labels.clone(), vec![values("Charged", 0), values("Rejected", 1)]),
            ranking(&about(), labels, values("Reasons", 2)),
        ];
        let style = include_str!("../assets/frame.css");
        for svg in drawn {
            assert!(svg.contains("role=\"img\"") && svg.contains("<title>A &lt;title&gt;</title>"), "{svg}");
            assert!(svg.contains("1 &lt;Nov"), "{svg}");
            for inline in ["<style", "style=", "<script", "href"] {
                assert!(!svg.contains(inline), "{inline} in {svg}");
            }
            for color in svg.split("=\"#").skip(1).map(|rest| rest.split('"').next().unwrap_or_default()) {
                assert!(style.contains(&format!("#{color}")), "#{color} in {svg}");
            }
        }
    }

    #[test]
    fn axis_has_round_steps_and_room_for_every_bar() {
        let stacked =
            |one: f32, other: f32| [one, other].map(|value| Values { name: "", color: 0, values: vec![value, 1.0] });
        for (one, other, expected) in
            [(30.0, 28.0, (60.0, 3)), (1.0, 0.0, (4.0, 4)), (100_000.0, 17_000.0, (150_000.0, 3))]
        {
            assert_eq!(scale(&stacked(one, other)), expected);
        }
        assert_eq!(scale(&[]), (4.0, 4));
    }

    #[test]
    fn nothing_to_show_is_a_chart_too() {
        assert!(bars(&about(), Vec::new(), Vec::new()).starts_with("<svg"));
    }
}
