//! `--expect-legal`: what is left at the end must be of the dialects that a target reads.

use indexmap::IndexMap;
use sutura_ir::diagnostics::{codes, did_you_mean};
use sutura_ir::{Body, Diagnostic, Loc, Module};

use crate::Status;
use crate::session::Session;

/// Checks that the flag names dialects that there are.
///
/// # Errors
/// Reported: wrong usage.
pub(crate) fn check_names(session: &mut Session<'_>) -> Result<(), Status> {
    let registry = session.cx.registry();
    let unknown = |name: &&String| registry.dialect(name).is_none() && !session.config.allow_unregistered;
    let Some(name) = session.config.expect_legal.iter().flatten().find(unknown) else { return Ok(()) };
    let suggestion = did_you_mean(name, registry.dialects().map(|(name, _)| name));
    let hint = suggestion.map(|known| format!("; did you mean `{known}`?")).unwrap_or_default();
    session.voice.error(codes::FLAG_VALUE, &format!("`--expect-legal`: there is no dialect `{name}`{hint}"));
    Err(Status::Usage)
}

/// Reports, for each dialect that is not expected, how many of its operations are left and where the first one is.
///
/// # Errors
/// Reported: [`Status::NotLegal`].
pub(crate) fn check(session: &mut Session<'_>, module: &Module) -> Result<(), Status> {
    let Some(legal) = &session.config.expect_legal else { return Ok(()) };
    let left = count_others(session, module, legal);
    if left.is_empty() {
        return Ok(());
    }
    let list = match &legal[..] {
        [] => "none but the module itself".to_string(),
        names => names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", "),
    };
    for (dialect, (count, loc)) in left {
        let operations = if count == 1 { "1 operation".to_string() } else { format!("{count} operations") };
        let message = format!("{operations} of the dialect '{dialect}' left; legal dialects: {list}");
        let help = "convert them too, or name their dialect in `--expect-legal`";
        session.diagnostic(Diagnostic::error(loc, message).code(codes::NOT_LEGAL).help(help));
    }
    Err(Status::NotLegal)
}

/// Number and first place of the operations of each dialect that is not listed, in the order in which they are met. The
/// module around all is none of them.
fn count_others(session: &Session<'_>, module: &Module, legal: &[String]) -> IndexMap<String, (usize, Loc)> {
    let cx = session.cx;
    let mut left = IndexMap::new();
    let mut pending: Vec<&Body> = vec![module.body()];
    while let Some(body) = pending.pop() {
        for op in body.preorder() {
            let name = body.name(op);
            let dialect = name.dialect(cx);
            if name != cx.op_name("builtin.module") && !legal.iter().any(|name| name == dialect) {
                left.entry(dialect.to_string()).or_insert((0, body.loc(op))).0 += 1;
            }
            pending.extend(body.nested(op));
        }
    }
    left
}
