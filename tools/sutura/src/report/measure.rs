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
    /// Runs an artifact, on one thread, and notes what each launch of its program takes. Returns a remark for each.
    ///
    /// # Errors
    /// When it cannot be loaded or run.
    pub(crate) fn measure(&self, artifact: &Path) -> Result<Vec<Diagnostic>, Failure> {
        let mut found = self.found.borrow_mut();
        let Some(host) = found.hosts.first_mut() else { return Ok(vec![]) };
        let profile = profile(artifact, &host.sizes)?;
        assign(host, &profile);
        Ok((0..host.launches.len()).filter_map(|at| said(&host.launches[at..])).collect())
    }
}

/// What the launches of a run take, in their order.
fn profile(artifact: &Path, sizes: &[Size]) -> Result<Vec<LaunchProfile>, Failure> {
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
    let mut outputs = model.run(&inputs)?;
    model.clear_profile();
    let views: Vec<_> = inputs.iter().map(Tensor::view).collect();
    let start = Instant::now();
    for run in 0..*RUNS.end() {
        if run >= *RUNS.start() && start.elapsed() > ENOUGH {
            break;
        }
        let mut targets: Vec<_> = outputs.iter_mut().map(Tensor::view_mut).collect();
        model.run_into(&views, &mut targets)?;
    }
    Ok(model.profile())
}

/// Gives launches their times: both are in the order of the program. Launches of the program that did not run, because
/// they were folded when it was compiled, are passed over.
fn assign(host: &mut Host, profile: &[LaunchProfile]) {
    let mut timed = profile.iter().peekable();
    let launches = &mut host.launches;
    for at in 0..launches.len() {
        if !launches[at].taken || launches[at].joins {
            continue;
        }
        let together = launches.get(at + 1).is_some_and(|next| next.joins);
        let names = |kernel: &str| kernel == launches[at].kernel || (together && kernel.starts_with("sutura_packed"));
        let Some(time) = timed.next_if(|launch| launch.kernel.as_deref().is_some_and(names)) else { continue };
        let ns = |time: Duration| time.as_secs_f64() * 1e9;
        let mean_ns = ns(time.total) / time.calls.max(1) as f64;
        launches[at].measured = Some(Measured { least_ns: ns(time.least), mean_ns, runs: time.calls, together });
    }
}

/// What was predicted and measured of the first of some launches, with those that join it.
fn said(launches: &[Launch]) -> Option<Diagnostic> {
    let (first, rest) = launches.split_first()?;
    let (measured, limit) = (first.measured?, first.figures.as_ref().ok()?.limit);
    let all: Vec<&Launch> = std::iter::once(first).chain(rest.iter().take_while(|launch| launch.joins)).collect();
    let sum = |part: fn(&Figures) -> f64| {
        all.iter().map(|launch| launch.figures.as_ref().ok().map(part)).sum::<Option<f64>>().map(|ns| ns / 1000.0)
    };
    let (predicted, roofline, least) = (sum(|f| f.ns)?, sum(|f| f.roofline_ns)?, measured.least_ns / 1000.0);
    let names: Vec<String> = all.iter().map(|launch| format!("@{}", launch.kernel)).collect();
    let words = format!(
        "{}: predicted {predicted:.2} us, measured {least:.2} us (least of {} on one thread), {:.0} % of the limit of \
         {roofline:.2} us by {limit}",
        names.join(" + "),
        measured.runs,
        100.0 * roofline / least.max(f64::MIN_POSITIVE),
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
        let timed = |position, kernel: &str| LaunchProfile {
            position,
            kernel: Some(kernel.to_owned()),
            groups: 1,
            chunks: 1,
            calls: 2,
            total: Duration::from_nanos(40 * position as u64 + 40),
            least: Duration::from_nanos(10),
        };
        assign(&mut host, &[timed(0, "a"), timed(1, "sutura_packed0"), timed(2, "a")]);
        let means: Vec<_> = host.launches.iter().map(|l| l.measured.map(|m| (m.mean_ns.round(), m.together))).collect();
        assert_eq!(means, [None, None, Some((20.0, false)), Some((40.0, true)), None, Some((60.0, false))]);
    }
}
