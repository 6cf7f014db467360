//! The report as a page.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::kernels::{Figures, Host, Kernel, Launch};
use super::plan::{Region, Schedule};
use super::text::marked;
use super::{Level, Page};
use crate::resources::{Resources, filled};

/// Nothing may be fetched, whatever the page holds.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

pub(super) fn page(page: &Page<'_>) -> String {
    let title = format!("{} – compilation report", page.model);
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { (title) }
                nav {
                    a href="#plan" { "Plan" } a href="#launches" { "Launches" } a href="#kernels" { "Kernels" }
                    @if !page.device_code.is_empty() { a href="#device" { "Device code" } }
                    a href="#remarks" { "Remarks" } a href="#levels" { "Levels" }
                }
                (about(page)) (plan(page)) (launches(page)) (kernels(page)) (device_code(page)) (remarks(page)) (levels(page.levels))
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    markup.into_string()
}

fn about(page: &Page<'_>) -> Markup {
    html! {
        table {
            tr { th { "Model" } td { (page.model) " " span.faint { (page.hash) } } }
            tr { th { "Compiled by" } td { "sutura " (env!("CARGO_PKG_VERSION")) } }
            tr { th { "Machine" } td { (page.machine) } }
            tr { th { "Its limits" } td { (page.limits) } }
            @if let Some(stopped) = page.stopped { tr { th { "Stopped at" } td { (stopped) ", as --emit says" } } }
        }
    }
}

fn plan(page: &Page<'_>) -> Markup {
    html! {
        h2 #plan { "Plan" }
        @if page.regions.is_empty() {
            p { "There is no plan: the program came at a lower level, or the compilation ended before." }
        } @else {
            p {
                "Each region becomes one kernel, or versions of it for different sizes. Costs are those that the planner "
                "compared, at likely sizes."
            }
            .wide { table {
                thead { tr { th { "#" } th { "Rule" } th { "Operations" } th { "Bytes, time" } th { "Schedule" } th { "Not fused, and why" } } }
                tbody { @for (i, region) in page.regions.iter().enumerate() { (region_row(i, region)) } }
            } }
        }
    }
}

fn region_row(i: usize, region: &Region) -> Markup {
    html! {
        tr {
            td.n { (i + 1) }
            td { (region.rule) br; span.faint { "@" (region.function) } }
            td { @for (name, inside, node) in &region.ops {
                code { (name) } @if !inside.is_empty() { ": " code { (inside) } } @if !node.is_empty() { " " span.faint { (node) } } br;
            } }
            td { @match &region.cost { Some(cost) => (cost), None => span.faint { "not planned here" } } }
            td { @if let Some(schedule) = &region.schedule { (schedule_cell(&region.rule, schedule)) } }
            td { @if region.reasons.is_empty() { span.faint { "reads no other region" } } @else {
                ul.reasons { @for reason in &region.reasons { li { (reason) } } }
            } }
        }
    }
}

/// The rule that wrote a schedule, its price, the runner-up with its price, and the tree.
fn schedule_cell(rule: &str, schedule: &Schedule) -> Markup {
    html! {
        @match &schedule.text {
            Some(text) => details {
                summary { "by the rule " (rule) }
                pre { (marked(text)) }
            },
            None => span.faint { "none: its operations are lowered one by one" },
        }
        @if let Some(ns) = schedule.predicted_ns { "predicted " (microseconds(ns)) br; }
        span.faint { @match &schedule.runner_up {
            Some((name, ns)) => { "runner-up " (name) ", " (microseconds(*ns)) }
            None => "no other is known at these sizes",
        } }
    }
}

fn launches(page: &Page<'_>) -> Markup {
    html! {
        h2 #launches { "Launches" }
        @if page.hosts.is_empty() { p { "There is no host program: the compilation ended before." } }
        @for host in page.hosts { (host_launches(host)) }
        @if !page.memory.is_empty() {
            h3 { "Memory of a run, beside the weights" }
            ul { @for line in page.memory { li { (line) } } }
        }
    }
}

fn host_launches(host: &Host) -> Markup {
    let taken = || host.launches.iter().filter(|l| l.taken);
    let figures = || taken().filter_map(|l| l.figures.as_ref().ok());
    let sum = |of: fn(&Figures) -> u64| figures().map(of).fold(0u64, u64::saturating_add);
    html! {
        h3 { "@" (host.name) }
        @if host.sizes.is_empty() { p { "All sizes are fixed." } } @else {
            table {
                thead { tr { th { "Size" } th { "Value" } th { "Why" } th { "Allowed" } } }
                tbody { @for size in &host.sizes { tr {
                    td { code { (size.name) } } td.n { (size.value) } td { (size.origin) } td { (size.range) }
                } } }
            }
        }
        p {
            "At these sizes: " (counted(taken().filter(|l| !l.joins).count(), "launch", "launches")) ", " (bytes(sum(|f| f.compulsory))) " that must be moved, "
            (grouped(sum(|f| f.flops))) " float operations, "
            (microseconds(figures().map(|f| f.ns).sum())) " predicted on one thread. "
            "Percent of the limit compares the prediction with the longer of moving each tensor once at the machine's "
            "bandwidth and computing at its peak."
        }
        .wide { table {
            thead { tr {
                th { "Kernel" } th { "Runs" } th { "Sizes" } th { "Compulsory" } th { "Moved" } th { "Flops" } th { "Predicted" }
                th { "Bound by" } th { "Of the limit" } th { "Measured" }
            } }
            tbody { @for launch in &host.launches { (launch_row(launch)) } }
        } }
    }
}

fn launch_row(launch: &Launch) -> Markup {
    html! {
        tr.off[!launch.taken] {
            td { a href={ "#kernel-" (launch.kernel) } { code { "@" (launch.kernel) } } }
            td { @match launch.version {
                None => "always",
                Some((i, of)) => {
                    "version " (i) " of " (of) @if launch.taken { ", taken" } br; span.faint { "if " (launch.guard) }
                },
            } @if launch.joins { br; span.faint { "one launch with the one above" } } }
            td { @for (dim, formula, value) in &launch.dims {
                code { (dim) " = " (formula) }
                @if let Some(value) = value { @if *formula != value.to_string() { " = " (value) } } br;
            } }
            @match &launch.figures {
                Err(why) if launch.measured.is_none() => td colspan="7" { span.faint { (why) } },
                Err(why) => { td colspan="6" { span.faint { (why) } } (measured(launch)) },
                Ok(f) => {
                    td.n { (bytes(f.compulsory)) }
                    td.n { @for (space, read, written) in &f.spaces {
                        (space) ": " (bytes(*read)) " read, " (bytes(*written)) " written" br;
                    } @for (space, count) in &f.served { span.faint { "served by " (space) ": " (bytes(*count)) } br; } }
                    td.n { (grouped(f.flops)) br; span.faint { (grouped(f.groups)) " groups" } }
                    td.n { (microseconds(f.ns)) br; span.faint { "arithmetic " (microseconds(f.compute_ns)) } }
                    td { (f.bound) }
                    td.n { (format!("{:.0} %", f.percent_of(f.ns))) br;
                        span.faint { (microseconds(f.roofline_ns)) " by " (f.limit) } }
                    (measured(launch))
                },
            }
        }
    }
}

fn measured(launch: &Launch) -> Markup {
    let Some(m) = &launch.measured else {
        let why = if launch.joins { "with the one above" } else { "not measured" };
        return html! { td.faint { (why) } };
    };
    html! {
        td.n {
            (microseconds(m.least_ns)) br;
            @if let Some(percent) = m.percent() { (format!("{percent:.0} % of the limit")) br; }
            @if m.together { span.faint { "with those that join it" } br; }
            span.faint { "least of " (m.runs) ", mean " (microseconds(m.mean_ns)) }
        }
    }
}

fn kernels(page: &Page<'_>) -> Markup {
    html! {
        h2 #kernels { "Kernels" }
        p { "What a kernel moves between spaces and computes, as formulas of its sizes." }
        @for kernel in page.kernels { (kernel_card(kernel)) }
    }
}

fn kernel_card(kernel: &Kernel) -> Markup {
    let formula = |text: &Option<String>| match text {
        Some(text) => html! { code { (text) } },
        None => html! { span.faint { "no polynomial: edges of tiles are counted at given sizes only" } },
    };
    html! {
        h3 id={ "kernel-" (kernel.name) } { code { "@" (kernel.name) } }
        @if !kernel.ops.is_empty() { p { "Computes " (kernel.ops.join(", ")) "." } }
        @if !kernel.dims.is_empty() {
            p { "Sizes: " @for (i, (name, range)) in kernel.dims.iter().enumerate() {
                @if i > 0 { "; " } code { (name) } ", " (range)
            } }
        }
        @match &kernel.formulas {
            Err(why) => p { "Its cost is not known: " (why) },
            Ok(formulas) => .wide { table { tbody {
                @for (space, read, written) in &formulas.spaces {
                    tr { th { "bytes read from " (space) } td { (formula(read)) } }
                    tr { th { "bytes written to " (space) } td { (formula(written)) } }
                }
                tr { th { "float operations" } td { (formula(&formulas.flops)) } }
            } } },
        }
    }
}

/// What kernels take of a GPU; nothing for the processor.
fn device_code(page: &Page<'_>) -> Markup {
    if page.device_code.is_empty() {
        return html! {};
    }
    html! {
        h2 #device { "Device code" }
        p { "What the vendor's compiler made of the kernels, and how many blocks a processor of the device holds then." }
        .wide { table {
            thead { tr {
                th { "Kernel" } th { "Runs" } th { "Threads of a block" } th { "Registers" } th { "Spills" } th { "Block's memory" }
                th { "A processor holds" }
            } }
            tbody { @for kernel in page.device_code { (device_row(kernel)) } }
        } }
    }
}

fn device_row(resources: &Resources) -> Markup {
    let kernel = &resources.kernel;
    html! {
        tr {
            td { code { "@" (kernel.name) } }
            td { @match &kernel.guard { Some(guard) => { "if " (guard) }, None => "where it is launched" } }
            td.n { (kernel.threads) }
            @match &resources.compiled {
                Ok(own) => {
                    td.n { (own.registers) @if let Some((scalar, _)) = own.scalar { br; span.faint { (scalar) " scalar" } } }
                    td { (own.spills()) }
                },
                Err(why) => td colspan="2" { span.faint { "not known: " (why) } },
            }
            td.n { (bytes(kernel.shared_bytes)) }
            td { @match &resources.occupancy { Ok(o) => (filled(o)), Err(why) => span.faint { "not known: " (why) } } }
        }
    }
}

fn remarks(page: &Page<'_>) -> Markup {
    html! {
        h2 #remarks { "Remarks" }
        input #find.script type="search" placeholder="Find in remarks" hidden;
        details {
            summary { (counted(page.remarks.len(), "remark", "remarks")) " of passes" }
            .wide { table {
                thead { tr { th { "Pass" } th { "Kind" } th { "Place" } th { "Remark" } } }
                tbody { @for remark in page.remarks { tr {
                    td { (remark.pass) } td { (remark.kind) } td { code { (remark.place) } } td { (remark.message) }
                } } }
            } }
        }
    }
}

fn levels(levels: &[Level]) -> Markup {
    html! {
        h2 #levels { "Levels" }
        p { "The module on its way down. Elements of large constants are left out." }
        @for level in levels {
            details {
                summary { (level.name) " – " (level.what) " " span.faint { (bytes(level.text.len() as u64)) } }
                pre { (marked(&level.text)) }
            }
        }
    }
}

fn counted(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// A number with spaces between groups of three digits.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}

fn bytes(n: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match UNITS.into_iter().find(|(size, _)| n >= *size) {
        Some((size, unit)) => format!("{:.1} {unit}", n as f64 / size as f64),
        None => format!("{n} B"),
    }
}

fn microseconds(ns: f64) -> String {
    format!("{:.2} µs", ns / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!((bytes(1023), bytes(1536)), ("1023 B".to_owned(), "1.5 KiB".to_owned()));
        assert_eq!(microseconds(1500.0), "1.50 µs");
    }
}
