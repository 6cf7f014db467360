//! The medians of a benchmark as a picture.

use std::path::Path;

use plotters::prelude::*;

use super::{Row, Times};
use crate::failure::Failure;

const SIZE: (u32, u32) = (800, 480);

/// One side of the comparison with one number of threads: medians in microseconds, by place or by size.
struct Line {
    name: String,
    points: Vec<(f64, f64)>,
}

/// An SVG picture: a line for each side and number of threads, over the size that varies or over the shapes in their order.
pub(super) fn svg(model: &Path, rows: &[Row], peer: Option<&str>) -> Result<String, Failure> {
    let (axis, place) = axis(rows);
    let lines = lines(rows, peer, &place);
    let points = || lines.iter().flat_map(|line| &line.points);
    let range = |values: &mut dyn Iterator<Item = f64>| {
        let (least, most) = values.fold((f64::INFINITY, 0.0f64), |(a, b), v| (a.min(v), b.max(v)));
        if least > most { 0.0..1.0 } else { least..if most > least { most } else { least + 1.0 } }
    };
    let x = range(&mut points().map(|point| point.0));
    let y = range(&mut points().map(|point| point.1));
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        draw(&root, &title(model), (&axis, x), y, &lines).map_err(|e| Failure::internal(format!("the plot: {e}")))?;
    }
    Ok(text)
}

fn title(model: &Path) -> String {
    let name = model.file_name().unwrap_or_default().to_string_lossy();
    sutura_visible::line(&name).into_owned()
}

/// What the horizontal axis shows, and where each row lies on it.
fn axis(rows: &[Row]) -> (String, Vec<f64>) {
    let first = rows.first().map(|row| row.sizes.clone());
    let varies = |name: &str, value: i64| rows.iter().any(|row| row.sizes.get(name) != Some(value));
    let varying: Vec<String> = first
        .iter()
        .flat_map(|sizes| sizes.iter().filter(|(n, v)| varies(n, *v)))
        .map(|(name, _)| name.to_owned())
        .collect();
    if let [one] = &varying[..] {
        let place = |row: &Row| row.sizes.get(one).unwrap_or(0) as f64;
        return (sutura_visible::line(one).into_owned(), rows.iter().map(place).collect());
    }
    // Rows of another number of threads are at the same shapes again.
    let shapes = rows.iter().take_while(|row| row.threads == rows[0].threads).count().max(1);
    ("shape, in the order of the table".to_owned(), (0..rows.len()).map(|at| (at % shapes) as f64 + 1.0).collect())
}

fn lines(rows: &[Row], peer: Option<&str>, place: &[f64]) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let mut add = |name: String, x: f64, times: &Times| {
        let point = (x, times.percentile(50.0) as f64 / 1e3);
        match lines.iter_mut().find(|line| line.name == name) {
            Some(line) => line.points.push(point),
            None => lines.push(Line { name, points: vec![point] }),
        }
    };
    for (row, x) in rows.iter().zip(place) {
        let threads = format!("{} {}", row.threads, if row.threads == 1 { "thread" } else { "threads" });
        add(format!("sutura, {threads}"), *x, &row.own);
        if let (Some(peer), Some(times)) = (peer, &row.peer) {
            add(format!("{peer}, {threads}"), *x, times);
        }
    }
    lines
}

fn draw(
    root: &DrawingArea<SVGBackend<'_>, plotters::coord::Shift>,
    title: &str,
    (axis, x): (&str, std::ops::Range<f64>),
    y: std::ops::Range<f64>,
    lines: &[Line],
) -> Result<(), Box<dyn std::error::Error>> {
    let failed = |error: DrawingAreaErrorKind<_>| error.to_string();
    root.fill(&WHITE).map_err(failed)?;
    let mut chart = ChartBuilder::on(root)
        .caption(title, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(70)
        .build_cartesian_2d(x, (y.start.max(0.001)..y.end).log_scale())
        .map_err(failed)?;
    chart.configure_mesh().x_desc(axis).y_desc("median latency, us").draw().map_err(failed)?;
    for (at, line) in lines.iter().enumerate() {
        let colour = Palette99::pick(at).to_rgba();
        chart
            .draw_series(LineSeries::new(line.points.iter().copied(), colour.stroke_width(2)).point_size(3))
            .map_err(failed)?
            .label(sutura_visible::line(&line.name))
            .legend(move |(x, y)| PathElement::new(vec![(x, y), (x + 20, y)], colour.stroke_width(2)));
    }
    chart.configure_series_labels().background_style(WHITE.mix(0.8)).border_style(BLACK).draw().map_err(failed)?;
    root.present().map_err(failed)?;
    Ok(())
}
