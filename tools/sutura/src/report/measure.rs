//! `--report-measure`: the artifact runs at the report's sizes, and each launch gets its time.

use std::path::Path;
use std::time::{Duration, Instant};

use sutura_dialects::r#dyn::poly::Poly;
use sutura_ir::Loc;
use sutura_ir::diagnostics::{Diagnostic, RemarkKind};
use sutura_runtime::manifest::Dim;
use sutura_runtime::{LaunchProfile, Model, Options, Tensor};

use super::Report;
use super::kernels::{Figures, Host, Launch, Measured};
use crate::failure::Failure;
use crate::sizes::Size;
use crate::tensors;

/// What remarks say that they are from.
const NAME: &str = "report";
/// Runs go on for so long, and are at least and at most so many.
const ENOUGH: Duration = Duration::from_millis(500);
const RUNS: std::ops::RangeInclusive<u32> = 5..=500;

impl Report {
    /// Runs an artifact, on one thread or on its device, and notes what each launch of its program takes. Returns a remark for
    /// each.
    ///
    /// # Errors
    /// When it cannot be loaded or run.
    pub(crate) fn measure(&self, artifact: &Path) -> Result<Vec<Diagnostic>, Failure> {
        let mut found = self.found.borrow_mut();
        let Some(host) = found.hosts.first_mut() else { return Ok(vec![]) };
        let (profile, place) = profile(artifact, &host.sizes)?;
        assign(host, &profile);
        Ok((0..host.launches.len()).filter_map(|at| said(&host.launches[at..], &place)).collect())
    }
}

/// What a launch took, with the names of the kernels whose groups it ran.
struct Timed {
    kernels: String,
    times: LaunchProfile,
}

/// What the launches of a run take, in their order, and where they ran.
fn profile(artifact: &Path, sizes: &[Size]) -> Result<(Vec<Timed>, String), Failure> {
    let model = Model::load_with(artifact, Options::new().threads(1).profile(true))?;
    let size = |name: &str| sizes.iter().find(|s| s.name == name).map(|s| s.value);
    let dim = |dim: &Dim| match dim {
        Dim::Const(value) => Ok(*value),
        Dim::Symbol(name) => size(name).ok_or_else(|| Failure::internal(format!("the size {name} has no value"))),
        Dim::Expr(text) => {
            let value = Poly::parse(text).ok().and_then(|poly| poly.eval(&size));
            value.ok_or_else(|| Failure::internal(format!("the size {text} has no value")))
        }
    };
    let mut inputs: Vec<Tensor> = Vec::new();
    for input in model.inputs() {
        let dims = input.dims.iter().map(dim).collect::<Result<Vec<_>, _>>()?;
        inputs.push(tensors::filled(input.element_type, &dims)?);
    }
    let views: Vec<_> = inputs.iter().map(Tensor::view).collect();
    let dims: Vec<&[i64]> = inputs.iter().map(Tensor::dims).collect();
    let mut outputs = model.allocate_outputs(&dims)?;
    model.run_into(&views, &mut outputs.iter_mut().map(Tensor::view_mut).collect::<Vec<_>>())?;
    model.clear_profile();
    let start = Instant::now();
    for run in 0..*RUNS.end() {
        if run >= *RUNS.start() && start.elapsed() > ENOUGH {
            break;
        }
        let mut targets: Vec<_> = outputs.iter_mut().map(Tensor::view_mut).collect();
        model.run_into(&views, &mut targets)?;
    }
    let place = model.device().map_or_else(|| "one thread".to_owned(), |info| info.name.clone());
    let kernels = &model.manifest().kernels;
    let timed = model.profile().into_iter().filter_map(|times| {
        let kernel = kernels.iter().find(|kernel| Some(&kernel.symbol) == times.kernel.as_ref())?;
        Some(Timed { kernels: kernel.name.clone(), times })
    });
    Ok((timed.collect(), place))
}

/// Gives launches their times: both are in the order of the program. Launches of the program that did not run, because
/// they were folded when it was compiled, are passed over. Those that join another may have been launched apart.
fn assign(host: &mut Host, profile: &[Timed]) {
    let mut timed = profile.iter().peekable();
    let (launches, mut apart) = (&mut host.launches, false);
    for at in 0..launches.len() {
        if !launches[at].taken || (launches[at].joins && !apart) {
            continue;
        }
        let all = with_joining(&launches[at..]);
        let Some(next) = timed.peek() else { break };
        let together = all.len() > 1 && next.kernels == names(all, "");
        apart = !together && (launches[at].joins || all.len() > 1);
        if !together && next.kernels != launches[at].kernel {
            continue;
        }
        let limit_ns = sum(if together { all } else { &all[..1] }, |figures| figures.roofline_ns);
        let LaunchProfile { calls, total, least, .. } = next.times;
        timed.next();
        let ns = |time: Duration| time.as_secs_f64() * 1e9;
        let mean_ns = ns(total) / calls.max(1) as f64;
        launches[at].measured = Some(Measured { least_ns: ns(least), mean_ns, runs: calls, together, limit_ns });
    }
}

/// The names of launches' kernels.
fn names(launches: &[Launch], before: &str) -> String {
    let names: Vec<String> = launches.iter().map(|launch| format!("{before}{}", launch.kernel)).collect();
    names.join(" + ")
}

/// The first of some launches with those that join it.
fn with_joining(launches: &[Launch]) -> &[Launch] {
    let joining = launches.iter().skip(1).take_while(|launch| launch.joins).count();
    &launches[..launches.len().min(1 + joining)]
}

/// The sum of a figure, where all are known.
fn sum(launches: &[Launch], part: fn(&Figures) -> f64) -> Option<f64> {
    launches.iter().map(|launch| launch.figures.as_ref().ok().map(part)).sum()
}

/// What was predicted and measured of the first of some launches, with those that join it.
fn said(launches: &[Launch], place: &str) -> Option<Diagnostic> {
    let measured = launches.first()?.measured?;
    let all = if measured.together { with_joining(launches) } else { &launches[..1] };
    let micros = |ns: f64| format!("{:.2} us", ns / 1000.0);
    let known = sum(all, |f| f.ns).zip(measured.limit_ns).zip(measured.percent());
    let (predicted, limit) = match (known, all.iter().find_map(|launch| launch.figures.as_ref().err())) {
        (Some(((predicted, limit), percent)), _) => {
            let mut by: Vec<&str> = all.iter().filter_map(|launch| Some(launch.figures.as_ref().ok()?.limit)).collect();
            by.dedup();
            let by = by.join(" and ");
            (
                format!("predicted {}", micros(predicted)),
                format!("{percent:.0} % of the limit of {} by {by}", micros(limit)),
            )
        }
        (None, why) => ("not predicted".to_owned(), why.cloned().unwrap_or_default()),
    };
    let words = format!(
        "{}: {predicted}, measured {} (least of {} on {place}), {limit}",
        names(all, "@"),
        micros(measured.least_ns),
        measured.runs,
    );
    let mut remark = Diagnostic::remark(Loc::UNKNOWN, words).kind(RemarkKind::Analysis);
    remark.pass = Some(NAME);
    Some(remark)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(kernel: &str, taken: bool, joins: bool) -> Launch {
        let (guard, dims, figures) = (String::new(), vec![], Err(String::new()));
        Launch { kernel: kernel.to_owned(), version: None, guard, joins, taken, dims, figures, measured: None }
    }

    #[test]
    fn launches_get_the_times_of_their_kernels_in_order() {
        let launches = vec![
            launch("folded", true, false),
            launch("a", false, false),
            launch("a", true, false),
            launch("b", true, false),
            launch("c", true, true),
            launch("a", true, false),
        ];
        let mut host = Host { name: "h".into(), sizes: vec![], launches };
        let timed = |position, kernels: &str| Timed {
            kernels: kernels.to_owned(),
            times: LaunchProfile {
                position,
                kernel: Some("k".to_owned()),
                groups: 1,
                chunks: 1,
                calls: 2,
                total: Duration::from_nanos(40 * position as u64 + 40),
                least: Duration::from_nanos(10),
            },
        };
        let means = |host: &Host| -> Vec<_> {
            host.launches.iter().map(|l| l.measured.map(|m| (m.mean_ns.round(), m.together))).collect()
        };
        assign(&mut host, &[timed(0, "a"), timed(1, "b + c"), timed(2, "a")]);
        assert_eq!(means(&host), [None, None, Some((20.0, false)), Some((40.0, true)), None, Some((60.0, false))]);
        host.launches.iter_mut().for_each(|launch| launch.measured = None);
        assign(&mut host, &[timed(0, "a"), timed(1, "b"), timed(2, "c"), timed(3, "a")]);
        let apart = [None, None, Some((20.0, false)), Some((40.0, false)), Some((60.0, false)), Some((80.0, false))];
        assert_eq!(means(&host), apart);
    }
}
