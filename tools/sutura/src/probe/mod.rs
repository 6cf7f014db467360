//! `sutura target probe`: what this machine is and does, as a description that plans are made with.
//!
//! The description that fits the machine best gives features, registers and intrinsics; sizes and speeds are measured. Other work
//! on the machine makes it look slower than it is, never faster: each number is the best of several rounds.

mod copies;
mod programs;

use std::path::Path;
use std::time::{Duration, Instant};

use sutura_dialects::target::constraints::{Class, Owner};
use sutura_dialects::target::ops::{MachineOp, SpaceOp};
use sutura_dialects::target::{TargetDesc, from_text};
use sutura_ir::asm::print::{PrintOptions, module_text};
use sutura_ir::{Context, Module, Op, OpRef, Rewriter, Type};
use sutura_runtime::{Model, Options, Tensor};

use crate::cli::CompileArgs;
use crate::compile::compile;
use crate::failure::Failure;
use crate::files;
use crate::machine::Wanted;
use crate::talk::Talk;

/// Rounds of a measurement.
const ROUNDS: u32 = 9;
/// How long one program is run.
const LONGEST: Duration = Duration::from_millis(500);
/// Launches in the longer of two programs, whose difference is what launches cost.
const LAUNCHES: usize = 64;
/// Bytes of which lines that nothing reads ahead are measured: as many as a large tensor has that a shared cache holds.
const LINES_APART: usize = 16 << 20;
/// Bytes that lie in no cache.
const FAR: usize = 512 << 20;

/// Measures this machine, and writes what it finds as a description called `name`.
pub(crate) fn probe(cx: &Context, wanted: Wanted<'_>, output: &Path, name: &str, talk: &Talk) -> Result<(), Failure> {
    if !sutura_ir::asm::print::is_bare_identifier(name) {
        return Err(Failure::usage(format!("`{name}` is no name for a machine")).hint("use letters, digits and `_`"));
    }
    if output.as_os_str() != "-" {
        files::writable(output)?;
    }
    let (_, base) = wanted.host(cx, talk)?;
    talk.note(&format!("features, registers and intrinsics are those of {}", base.desc.name));
    let found = measure(&base.desc, talk)?;
    let text = described(cx, base.module, name, &found);
    // What is written can be read.
    from_text(cx, "probe", "the description", &text)
        .map_err(|e| Failure::internal(format!("the description is wrong: {e}")))?;
    files::write(output, text.as_bytes())
}

/// A memory space: its name, its size where the system says, and the gigabytes per second that a thread moves.
struct Space {
    name: String,
    bytes: Option<u64>,
    gbps: u64,
}

/// What was measured.
struct Found {
    summary: String,
    spaces: Vec<Space>,
    gflops: u64,
    gops: u64,
    line_ps: u64,
    call_ns: u64,
    /// `None` for a machine that runs one thread.
    launch_ns: Option<u64>,
    /// Further numbers, for people.
    notes: Vec<String>,
}

fn measure(desc: &TargetDesc, talk: &Talk) -> Result<Found, Failure> {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut notes = vec![format!("{threads} threads, vectors of {} bytes", desc.vector_bytes())];
    let mut spaces = Vec::new();
    for (level, space) in desc.caches().enumerate() {
        let bytes = cache_bytes(Path::new("/sys/devices/system/cpu/cpu0/cache"), level + 1).or(space.bytes);
        let Some(bytes) = bytes else { continue };
        // Half of it: the rest holds what else a core needs. A cache that is shared is measured where it begins to serve.
        let part = if space.owner == Owner::All { bytes.min(16 << 20) } else { bytes / 2 };
        let gbps = copies::bandwidth(usize::try_from(part).unwrap_or(usize::MAX), 1, 5 * ROUNDS);
        notes.push(format!("{}: {} KiB, {gbps:.1} GB/s", space.name, bytes >> 10));
        spaces.push(Space { name: space.name.clone(), bytes: Some(bytes), gbps: whole(gbps) });
    }
    for count in counts(threads) {
        let gbps = copies::bandwidth(FAR / count, count, ROUNDS);
        notes.push(format!("main memory: {gbps:.1} GB/s by {}", words(count)));
        if let (1, Some(space)) = (count, desc.of_class(Class::Dram).next()) {
            spaces.push(Space { name: space.name.clone(), bytes: None, gbps: whole(gbps) });
        }
    }
    let line_ns = launch(&programs::columns(desc.lanes(32)), 1, LINES_APART / 4)? / (LINES_APART / 64) as f64;
    notes.push(format!("a line of {} KiB that nothing reads ahead: {line_ns:.2} ns", LINES_APART >> 10));
    let gflops = 2.0 * arithmetic(desc, &programs::PRODUCTS)?;
    notes.push(format!("multiplication and addition: {gflops:.1} Gflop/s by 1 thread"));
    let gops = arithmetic(desc, &programs::MIXED)?;
    notes.push(format!("operations of functions and sums: {gops:.1} Gop/s by 1 thread"));
    let call =
        (launch(&programs::launches(1 + LAUNCHES), 1, 1)? - launch(&programs::launches(1), 1, 1)?) / LAUNCHES as f64;
    notes.push(format!("a launch on 1 thread: {call:.0} ns"));
    let launch_ns = match threads {
        1 => None,
        _ => {
            let (text, groups) = (programs::split(), 1024);
            Some((launch(&text, threads, groups)? - launch(&text, 1, groups)?).max(1.0))
        }
    };
    if let Some(ns) = launch_ns {
        notes.push(format!("waking {} and waiting for them: {ns:.0} ns", words(threads)));
    }
    notes.iter().for_each(|note| talk.note(note));
    let summary = format!("{} as measured", desc.summary);
    Ok(Found {
        summary,
        spaces,
        gflops: whole(gflops),
        gops: whole(gops),
        line_ps: whole(line_ns * 1000.0),
        call_ns: whole(call),
        launch_ns: launch_ns.map(whole),
        notes,
    })
}

/// 1, 2, 4, … and all threads.
fn counts(threads: usize) -> Vec<usize> {
    let mut counts: Vec<usize> = std::iter::successors(Some(1), |n| Some(n * 2)).take_while(|n| *n < threads).collect();
    counts.push(threads);
    counts
}

fn words(threads: usize) -> String {
    if threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") }
}

/// A description holds whole numbers, of at least 1.
fn whole(value: f64) -> u64 {
    value.round().max(1.0) as u64
}

/// Bytes of the data cache of a level, as Linux says.
fn cache_bytes(folder: &Path, level: usize) -> Option<u64> {
    let read = |index: usize, what: &str| {
        let text = std::fs::read_to_string(folder.join(format!("index{index}")).join(what)).ok()?;
        Some(text.trim().to_owned())
    };
    let of_level =
        |i: &usize| read(*i, "level") == Some(level.to_string()) && read(*i, "type").as_deref() != Some("Instruction");
    let text = read((0..8).find(of_level)?, "size")?;
    let kib: u64 = text.strip_suffix('K')?.parse().ok()?;
    Some(kib << 10).filter(|bytes| *bytes > 0)
}

/// Operations on elements per nanosecond of a thread that does nothing else, these in turns.
fn arithmetic(desc: &TargetDesc, steps: &[programs::Step]) -> Result<f64, Failure> {
    let lanes = desc.lanes(32);
    let elements = 100;
    let ns = launch(&programs::arithmetic(lanes, steps, desc.has_fma()), 1, elements)?;
    let operations = lanes * (programs::SUMS * steps.len()) as u64 * programs::ROUNDS * elements as u64;
    Ok(operations as f64 / ns)
}

/// Nanoseconds that a program takes on so many threads, with an input of so many elements.
fn launch(text: &str, threads: usize, elements: usize) -> Result<f64, Failure> {
    let folder = files::TemporaryFolder::new()?;
    let (model, artifact) = (folder.path().join("probe.mlir"), folder.path().join("probe.sutura"));
    std::fs::write(&model, text).map_err(|e| Failure::io("write", &model, &e))?;
    let args = CompileArgs { model, output: Some(artifact.clone()), ..CompileArgs::default() };
    compile(&args, &Talk::silent())?;
    let model = Model::load_with(&artifact, Options::new().threads(threads))?;
    // Pages that hold nothing but zeros may all be one page.
    let input = Tensor::from_slice(&[elements as i64], &vec![1f32; elements])?;
    let mut output = model.run(std::slice::from_ref(&input))?;
    let mut best = f64::INFINITY;
    // Short runs are repeated more often: what interrupts them is rare.
    let begun = Instant::now();
    for round in 0..ROUNDS * 200 {
        if round > ROUNDS && begun.elapsed() > LONGEST {
            break;
        }
        let mut targets: Vec<_> = output.iter_mut().map(Tensor::view_mut).collect();
        let start = Instant::now();
        model.run_into(&[input.view()], &mut targets)?;
        best = best.min(start.elapsed().as_secs_f64() * 1e9);
    }
    Ok(best)
}

/// The base description with what was found in the place of its numbers.
fn described(cx: &Context, mut module: Module, name: &str, found: &Found) -> String {
    let number = |n: u64| Some(cx.int_attr(i64::try_from(n).unwrap_or(i64::MAX), Type::I64));
    let block = module.body().entry_block();
    let ops: Vec<Op> = block.into_iter().flat_map(|b| module.body().ops(b)).collect();
    let machine = ops.into_iter().find(|op| OpRef::new(cx, module.body(), *op).is::<MachineOp<'_>>());
    let Some(machine) = machine else { return String::new() };
    let mut rewriter = Rewriter::new(cx, module.body_mut());
    rewriter.set_prop(machine, "sym_name", Some(cx.string_attr(name)));
    rewriter.set_prop(machine, "summary", Some(cx.string_attr(&found.summary)));
    rewriter.set_prop(machine, "gflops", number(found.gflops));
    rewriter.set_prop(machine, "gops", number(found.gops));
    rewriter.set_prop(machine, "line_ps", number(found.line_ps));
    rewriter.set_prop(machine, "call_ns", number(found.call_ns));
    if let Some(ns) = found.launch_ns {
        rewriter.set_prop(machine, "launch_ns", number(ns));
    }
    if let Some(body) = module.body_mut().nested_mut(machine) {
        let inner: Vec<Op> = body.entry_block().into_iter().flat_map(|b| body.ops(b)).collect();
        let mut rewriter = Rewriter::new(cx, body);
        for op in inner {
            let called = rewriter.op_ref(op).as_::<SpaceOp<'_>>().map(|s| s.sym_name().to_owned());
            let Some(space) = found.spaces.iter().find(|s| Some(&s.name) == called.as_ref()) else { continue };
            rewriter.set_prop(op, "gbps", number(space.gbps));
            if let Some(bytes) = space.bytes {
                rewriter.set_prop(op, "bytes", number(bytes));
            }
        }
    }
    let notes: String = found.notes.iter().map(|note| format!("// {note}\n")).collect();
    format!("// Measured by `sutura target probe`.\n{notes}\n{}", module_text(cx, &module, &PrintOptions::default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_found_takes_the_place_of_the_numbers_and_of_nothing_else() {
        let cx = Context::new(sutura_dialects::all());
        let base = sutura_dialects::target::Finder::default().find(&cx, "x86_avx2").unwrap();
        let before = base.desc.clone();
        let space = |name: &str, bytes, gbps| Space { name: name.into(), bytes, gbps };
        let found = Found {
            summary: "mine".into(),
            spaces: vec![space("l1", Some(49152), 123), space("dram", None, 7)],
            gflops: 77,
            gops: 55,
            line_ps: 900,
            call_ns: 33,
            launch_ns: None,
            notes: vec!["a note".into()],
        };
        let text = described(&cx, base.module, "my_machine", &found);
        assert!(text.contains("// a note\n"), "{text}");
        let after = from_text(&cx, "test", "test", &text).unwrap().desc;
        assert_eq!((after.name.as_str(), after.summary.as_str()), ("my_machine", "mine"));
        assert_eq!((after.gflops, after.gops, after.line_ps), (77, 55, 900));
        assert_eq!((after.call_ns, after.launch_ns), (33, before.launch_ns));
        let l1 = after.space("l1").unwrap();
        assert_eq!((l1.bytes, l1.gbps, l1.align), (Some(49152), Some(123), 64));
        assert_eq!((after.dram_gbps(), after.space("l2")), (7, before.space("l2")));
        assert_eq!((after.register_tiles, after.features), (before.register_tiles, before.features));
    }

    #[test]
    fn sizes_of_caches_are_read_where_the_system_says_them() {
        let folder = tempfile::tempdir().unwrap();
        let write = |index: usize, entries: [(&str, &str); 3]| {
            let at = folder.path().join(format!("index{index}"));
            std::fs::create_dir(&at).unwrap();
            entries.iter().for_each(|(name, text)| std::fs::write(at.join(name), text).unwrap());
        };
        write(0, [("level", "1\n"), ("type", "Instruction\n"), ("size", "32K\n")]);
        write(1, [("level", "1\n"), ("type", "Data\n"), ("size", "48K\n")]);
        write(2, [("level", "2\n"), ("type", "Unified\n"), ("size", "much\n")]);
        assert_eq!(cache_bytes(folder.path(), 1), Some(48 << 10));
        assert_eq!((cache_bytes(folder.path(), 2), cache_bytes(folder.path(), 3)), (None, None));
    }

    #[test]
    fn threads_are_doubled_up_to_all() {
        assert_eq!((counts(1), counts(2), counts(6)), (vec![1], vec![1, 2], vec![1, 2, 4, 6]));
        assert_eq!((whole(0.2), whole(12.6)), (1, 13));
    }
}
