//! One part of the input: parse, verify, run passes, print.

use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use sutura_dialects::graph::operator::{self, LibraryError};
use sutura_fmt::Comments;
use sutura_grammar::KeepLayout;
use sutura_ir::asm::print::{PrintOptions, module_text, module_text_and_places, write_module};
use sutura_ir::diagnostics::codes;
use sutura_ir::location::SourceText;
use sutura_ir::pass::PassRegistry;
use sutura_ir::verify::{VerifyOptions, verify};
use sutura_ir::{Diagnostic, Diagnostics, Module, Reported};

use crate::Status;
use crate::fill;
use crate::legal;
use crate::passes;
use crate::session::Session;
use crate::split::Part;

/// How far the work on a part has come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Reading,
    Passes,
    Writing,
}

/// Why a part is not done.
enum Stop {
    /// As reported.
    Status(Status),
    /// The output cannot be written.
    Write(io::Error),
}

impl From<Status> for Stop {
    fn from(status: Status) -> Self {
        Self::Status(status)
    }
}

/// Works on a part.
///
/// # Errors
/// When the output cannot be written.
pub(crate) fn process(
    session: &mut Session<'_>,
    passes: &PassRegistry,
    part: Part<'_>,
    output: &mut dyn Write,
) -> io::Result<Status> {
    let mut stage = Stage::Reading;
    let done = catch_unwind(AssertUnwindSafe(|| try_process(session, passes, part, output, &mut stage)));
    match done {
        Ok(Ok(())) => Ok(Status::Ok),
        Ok(Err(Stop::Status(status))) => Ok(status),
        Ok(Err(Stop::Write(error))) => Err(error),
        Err(panic) => {
            let text = crate::panic_text(&*panic);
            session.voice.error(codes::INTERNAL, &format!("internal error: {text}; please report it with the input"));
            // What fails while it is read is its own reproducer.
            if stage != Stage::Reading {
                passes::reproduce_given(session, part);
            }
            Ok(Status::Internal)
        }
    }
}

fn try_process(
    session: &mut Session<'_>,
    registry: &PassRegistry,
    part: Part<'_>,
    output: &mut dyn Write,
    stage: &mut Stage,
) -> Result<(), Stop> {
    let mut module = parse(session, part)?;
    if let Some(fill) = session.config.fill_elided {
        fill::fill(session, &mut module, fill)?;
    }
    let comments = comments(session, part, &module);
    *stage = Stage::Passes;
    passes::run(session, registry, part, &mut module)?;
    legal::check(session, &module)?;
    *stage = Stage::Writing;
    let options = print_options(session);
    if session.config.verify_roundtrip {
        check_roundtrip(session, &module, &options)?;
    }
    let cx = session.cx;
    if let Some(comments) = comments {
        return write_with_comments(session, part, &module, comments, output);
    }
    session.timing.step("Output", || write_module(cx, &module, &options, output)).map_err(Stop::Write)
}

/// With `--keep-comments`: the comments of a part, beside what of it would be printed now.
fn comments(session: &Session<'_>, part: Part<'_>, module: &Module) -> Option<Comments> {
    let layout = module.text().layout.as_deref()?;
    let (_, printed) = module_text_and_places(session.cx, module, &print_options(session));
    Some(Comments::collect(part.text, layout, &printed))
}

fn write_with_comments(
    session: &mut Session<'_>,
    part: Part<'_>,
    module: &Module,
    comments: Comments,
    output: &mut dyn Write,
) -> Result<(), Stop> {
    let (cx, options) = (session.cx, print_options(session));
    let woven = session.timing.step("Output", || {
        let (text, printed) = module_text_and_places(cx, module, &options);
        comments.weave(&text, &printed)
    });
    if let Some(first) = woven.first_gone {
        let before = &part.text[..first as usize];
        let line = part.first_line + before.bytes().filter(|b| *b == b'\n').count() as u32;
        let column = first as usize - before.rfind('\n').map_or(0, |n| n + 1) + 1;
        let loc = cx.file_loc(session.file, line, column as u32);
        let what = match woven.gone {
            1 => "a comment is gone with what it stood beside".to_string(),
            n => format!("{n} comments are gone with what they stood beside; this is the first"),
        };
        session.diagnostic(Diagnostic::warning(loc, what).code(codes::COMMENTS_GONE));
    }
    output.write_all(woven.text.as_bytes()).map_err(Stop::Write)
}

fn report(session: &mut Session<'_>, mut diags: Diagnostics) {
    diags.take().into_iter().for_each(|d| session.diagnostic(d));
}

pub(crate) fn verify_options(session: &Session<'_>) -> VerifyOptions {
    VerifyOptions { allow_unregistered: session.config.allow_unregistered }
}

fn parse_options(session: &Session<'_>) -> sutura_grammar::ParseOptions {
    sutura_grammar::ParseOptions {
        allow_unregistered: session.config.allow_unregistered,
        no_implicit_module: session.config.no_implicit_module,
        threads: rayon::current_num_threads(),
        layout: if session.config.keep_comments { KeepLayout::Comments } else { KeepLayout::No },
    }
}

/// Parses and verifies a part.
fn parse(session: &mut Session<'_>, part: Part<'_>) -> Result<Module, Status> {
    let (cx, config) = (session.cx, session.config);
    let text = SourceText::part(&session.text, part.start..part.start + part.text.len());
    let source = cx.sources().add_part(session.file, text, part.first_line).map_err(|error| {
        session.voice.error(codes::CANNOT_READ, &error.to_string());
        Status::Input
    })?;
    let mut diags = Diagnostics::default();
    let options = parse_options(session);
    let parsed = session.timing.step("Parser", || sutura_grammar::parse_module(cx, &source, &options, &mut diags));
    let verified = parsed.and_then(|mut module| {
        let options = verify_options(session);
        declare_operators(session, &mut module, &mut diags)?;
        if !config.skip_first_verifier {
            session.timing.step("Verifier", || verify(module.op_ref(cx), options, &mut diags))?;
        }
        Ok(module)
    });
    if verified.is_err() && diags.errors() == 0 {
        session.voice.error(codes::INTERNAL, "the input was refused without a reason");
        return Err(Status::Internal);
    }
    report(session, diags);
    verified.map_err(|_| Status::Input)
}

/// Puts operators that the input applies into it, from where `--operators` says.
fn declare_operators(session: &Session<'_>, module: &mut Module, diags: &mut Diagnostics) -> Result<(), Reported> {
    let cx = session.cx;
    for name in &session.config.operators {
        let missing = operator::missing(module.op_ref(cx));
        let read = match name.as_str() {
            "builtin" => Ok(operator::library(cx, &|operator| missing.contains(operator))),
            file => operator::from_file(cx, Path::new(file)).map(|module| vec![module]),
        };
        match read {
            Ok(found) => operator::link(cx, &found, &|operator| missing.contains(operator), module.body_mut())
                .map_err(|error| diags.error(cx.file_loc(name, 0, 0), error))?,
            Err(LibraryError::Malformed { diagnostics, .. }) => {
                for diagnostic in diagnostics.iter() {
                    diags.report(diagnostic.clone());
                }
                return Err(diags.error(cx.file_loc(name, 0, 0), "the operators of this file cannot be used"));
            }
            Err(error) => return Err(diags.error(cx.file_loc(name, 0, 0), error.to_string())),
        }
    }
    Ok(())
}

pub(crate) fn print_options(session: &Session<'_>) -> PrintOptions {
    let config = session.config;
    PrintOptions {
        generic: config.generic,
        debug_info: config.debug_info,
        pretty_locations: config.pretty_locations,
        as_written: false,
        local_scope: config.local_scope,
        discard_value_names: config.discard_names,
        names_from_locations: config.names_from_locations,
        unique_value_ids: config.unique_ids,
        value_users: config.value_users,
        skip_regions: config.skip_regions,
        elide_elements_larger_than: config.elide_elements,
        hex_elements_larger_than: config.hex_elements,
        elide_resource_strings_larger_than: config.elide_resources,
    }
}

// ---- round trip

/// Checks that custom and generic form parse back to what they were printed from.
///
/// Locations count in the generic form only: a custom form leaves out operations, such as terminators without operands,
/// and arguments of blocks, that then are where the text was read. Names of values count in each form as it writes them:
/// the custom form names values that have no name of their own.
fn check_roundtrip(session: &mut Session<'_>, module: &Module, options: &PrintOptions) -> Result<(), Status> {
    let cx = session.cx;
    for form in ["generic", "custom"] {
        // Forms that are for people do not parse back.
        let (generic, debug_info) = (form == "generic", true);
        let options =
            PrintOptions { generic, debug_info, pretty_locations: false, skip_regions: false, ..options.clone() };
        let own_form = PrintOptions { debug_info: options.generic, ..options.clone() };
        let nameless = PrintOptions { generic: true, discard_value_names: true, ..own_form.clone() };
        let text = module_text(cx, module, &options);
        let name = format!("<{form} form of {}>", session.file);
        let source = cx.sources().add(name, text).map_err(|error| {
            session.voice.error(codes::CANNOT_READ, &error.to_string());
            Status::Input
        })?;
        let parse_options = parse_options(session);
        let mut diags = Diagnostics::default();
        let parsed = sutura_grammar::parse_module(cx, &source, &parse_options, &mut diags);
        report(session, diags);
        let same = parsed.is_ok_and(|back| {
            [&own_form, &nameless].iter().all(|form| module_text(cx, &back, form) == module_text(cx, module, form))
        });
        if !same {
            let loc = module.op_ref(cx).loc();
            let error = Diagnostic::error(loc, format!("the {form} form does not parse back to the same"));
            session.diagnostic(error.code(codes::ROUND_TRIP));
            return Err(Status::Internal);
        }
    }
    Ok(())
}
