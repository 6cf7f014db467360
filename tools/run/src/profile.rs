//! `sutura run --profile`: what each kernel takes of a run, and how far that is from what the machine can do.

use std::time::Duration;

use serde_json::{Value as Json, json};
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::target::TargetDesc;
use sutura_runtime::manifest::Kernel;
use sutura_runtime::{LaunchProfile, Model, TensorView};

use crate::failure::Failure;

/// Launches of one kernel in all runs.
#[derive(Debug, PartialEq)]
struct Row {
    kernel: String,
    /// Launches of a run.
    launches: u64,
    /// Nanoseconds in a run, on average.
    mean_ns: f64,
    /// Nanoseconds in a run, where each launch takes its shortest time.
    least_ns: f64,
    /// The shortest time that the machine, or one thread of a processor, needs for a run's launches, and what that is due to.
    limit: Option<(f64, &'static str)>,
}

/// What launches took of runs.
pub struct Profile {
    rows: Vec<Row>,
    /// Nanoseconds of a run, on average.
    run_ns: f64,
    /// What the limits are those of.
    machine: String,
    /// What the time is that no kernel takes.
    rest_of: &'static str,
}

impl Profile {
    /// What the launches of `runs` runs took, which took `total` together.
    ///
    /// # Errors
    /// When the inputs do not fit the model.
    pub fn new(
        model: &Model,
        views: &[TensorView<'_>],
        (runs, total): (u32, Duration),
        desc: &TargetDesc,
    ) -> Result<Self, Failure> {
        let dims: Vec<&[i64]> = views.iter().map(TensorView::dims).collect();
        let symbols = model.infer_shapes(&dims)?.symbols;
        let named = model.manifest().symbols.iter().map(|s| s.name.as_str()).zip(symbols).collect::<Vec<_>>();
        let size = |name: &str| named.iter().find(|(own, _)| *own == name).map(|(_, value)| *value);
        let rows = rows(&model.profile(), runs, &model.manifest().kernels, desc, &size);
        let run_ns = total.as_secs_f64() * 1e9 / f64::from(runs.max(1));
        let (machine, rest_of) = match model.device() {
            Some(_) => (desc.name.clone(), "transfers, and between launches"),
            None => (format!("one thread of {}", desc.name), "between launches"),
        };
        Ok(Self { rows, run_ns, machine, rest_of })
    }

    /// A table.
    pub fn lines(&self) -> Vec<String> {
        table(&self.rows, self.run_ns, &self.machine, self.rest_of)
    }

    /// The same for programs.
    pub fn json(&self) -> Json {
        let row = |row: &Row| {
            json!({
                "kernel": row.kernel,
                "launches": row.launches,
                "mean_ns": row.mean_ns,
                "least_ns": row.least_ns,
                "limit_ns": row.limit.map(|(ns, _)| ns),
                "limited_by": row.limit.map(|(_, by)| by),
            })
        };
        json!({
            "machine": self.machine,
            "run_ns": self.run_ns,
            "rest_ns": self.rest_ns(),
            "kernels": self.rows.iter().map(row).collect::<Vec<_>>(),
        })
    }

    fn rest_ns(&self) -> f64 {
        rest(&self.rows, self.run_ns)
    }
}

/// The part of a run that no kernel takes.
fn rest(rows: &[Row], run_ns: f64) -> f64 {
    (run_ns - rows.iter().map(|row| row.mean_ns).sum::<f64>()).max(0.0)
}

/// A row for each kernel, the one that takes longest first.
fn rows(
    profile: &[LaunchProfile],
    runs: u32,
    kernels: &[Kernel],
    desc: &TargetDesc,
    size: &dyn Fn(&str) -> Option<i64>,
) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let runs = f64::from(runs.max(1));
    for launch in profile {
        let symbol = launch.kernel.as_deref();
        let kernel = kernels.iter().find(|k| Some(k.symbol.as_str()) == symbol);
        // Of kernels in one launch the manifest names all.
        let name = kernel.map(|k| k.name.as_str()).or(symbol).unwrap_or("a kernel without a name");
        let at = rows.iter().position(|row| row.kernel == name).unwrap_or_else(|| {
            let limit = kernel.and_then(|kernel| limit(kernel, desc, size));
            rows.push(Row { kernel: name.to_owned(), launches: 0, mean_ns: 0.0, least_ns: 0.0, limit });
            rows.len() - 1
        });
        let row = &mut rows[at];
        row.launches += 1;
        row.mean_ns += launch.total.as_secs_f64() * 1e9 / runs;
        row.least_ns += launch.least.as_secs_f64() * 1e9;
    }
    for row in &mut rows {
        row.limit = row.limit.map(|(ns, by)| (ns * row.launches as f64, by));
    }
    rows.sort_by(|a, b| b.mean_ns.total_cmp(&a.mean_ns));
    rows
}

/// The shortest time of a launch on one thread, or on a device: of moving each tensor once at the bandwidth of the level that holds them all,
/// or of computing at the machine's peak. `None` for a kernel of which the artifact does not say enough.
fn limit(kernel: &Kernel, desc: &TargetDesc, size: &dyn Fn(&str) -> Option<i64>) -> Option<(f64, &'static str)> {
    let value = |text: &str| u64::try_from(Poly::parse(text).ok()?.eval(size)?).ok();
    let bytes = value(kernel.bytes.as_deref()?)?;
    let holds = desc.caches().find(|cache| cache.bytes.is_none_or(|b| b >= bytes));
    let gbps = holds.map_or(Some(desc.dram_gbps()), |cache| cache.gbps)?;
    let moving = bytes as f64 / gbps.max(1) as f64;
    let flops = kernel.flops.as_deref().and_then(value).unwrap_or(0);
    let computing = flops as f64 / desc.gflops.max(1) as f64;
    Some(if computing > moving { (computing, "arithmetic") } else { (moving, "bandwidth") })
}

/// A line for each row, and one for the rest of a run's time.
fn table(rows: &[Row], run_ns: f64, machine: &str, rest_of: &str) -> Vec<String> {
    let width = rows.iter().map(|row| row.kernel.chars().count()).max().unwrap_or(0).max(rest_of.len());
    let mut lines = vec![
        format!("percent of the limit: of {machine}, for moving every tensor once, or for arithmetic"),
        format!(
            "{:width$}  {:>8}  {:>11}  {:>6}  {:>11}  {:>5}  limited by",
            "kernel", "launches", "us/run", "share", "least us", "limit"
        ),
    ];
    let share = |ns: f64| if run_ns > 0.0 { 100.0 * ns / run_ns } else { 0.0 };
    for row in rows {
        let (percent, by) = match row.limit {
            Some((ns, by)) if row.least_ns > 0.0 => (format!("{:.0} %", 100.0 * ns / row.least_ns), by),
            _ => ("-".to_owned(), "-"),
        };
        let (mean, least) = (row.mean_ns / 1000.0, row.least_ns / 1000.0);
        lines.push(format!(
            "{:width$}  {:>8}  {mean:>11.2}  {:>4.1} %  {least:>11.2}  {percent:>5}  {by}",
            row.kernel,
            row.launches,
            share(row.mean_ns)
        ));
    }
    let rest = rest(rows, run_ns);
    lines.push(format!("{rest_of:width$}  {:>8}  {:>11.2}  {:>4.1} %", "", rest / 1000.0, share(rest)));
    lines
}

#[cfg(test)]
mod tests {
    use sutura_dialects::target::Finder;

    use super::*;

    fn kernel(bytes: Option<&str>, flops: Option<&str>) -> Kernel {
        let text = |text: Option<&str>| text.map(str::to_owned);
        Kernel {
            symbol: "k".into(),
            name: "k".into(),
            guard: None,
            ops: vec![],
            bytes: text(bytes),
            flops: text(flops),
            groups_of_block: None,
        }
    }

    #[test]
    fn limits_are_those_of_the_level_that_holds_the_tensors_or_of_arithmetic() {
        let cx = sutura_ir::Context::new(sutura_dialects::all());
        let desc = Finder::default().find(&cx, "x86_avx2").unwrap().desc;
        let size = |name: &str| (name == "M").then_some(1000);
        let near = desc.caches().next().unwrap().gbps.unwrap() as f64;
        let limit = |bytes, flops| limit(&kernel(bytes, flops), &desc, &size);
        assert_eq!(limit(Some("8*M"), Some("M")), Some((8000.0 / near, "bandwidth")));
        assert_eq!(limit(Some("M*M*M"), None), Some((1e9 / desc.dram_gbps() as f64, "bandwidth")));
        assert_eq!(limit(Some("8"), Some("M*M")), Some((1e6 / desc.gflops as f64, "arithmetic")));
        assert_eq!((limit(None, Some("M")), limit(Some("K"), None)), (None, None));
    }

    #[test]
    fn kernels_are_sorted_by_time_and_launches_of_one_are_added() {
        let launch = |position, name: Option<&str>, total, least| LaunchProfile {
            position,
            kernel: name.map(str::to_owned),
            groups: 1,
            chunks: 1,
            calls: 2,
            total: Duration::from_nanos(total),
            least: Duration::from_nanos(least),
        };
        let cx = sutura_ir::Context::new(sutura_dialects::all());
        let desc = Finder::default().find(&cx, "generic").unwrap().desc;
        let profile = [launch(0, Some("a"), 200, 90), launch(1, None, 2000, 900), launch(2, Some("a"), 400, 150)];
        let rows = rows(&profile, 2, &[], &desc, &|_| None);
        let told: Vec<_> = rows.iter().map(|r| (r.kernel.as_str(), r.launches, r.mean_ns, r.least_ns)).collect();
        assert_eq!(told, [("a kernel without a name", 1, 1000.0, 900.0), ("a", 2, 300.0, 240.0)]);
        let lines = table(&rows, 2000.0, "one thread of generic", "between launches");
        assert!(lines[0].contains("of one thread of generic, for"), "{lines:#?}");
        assert!(lines[2].ends_with("1.00  50.0 %         0.90      -  -"), "{lines:#?}");
        assert!(lines[4].starts_with("between launches") && lines[4].ends_with("0.70  35.0 %"), "{lines:#?}");
    }
}
