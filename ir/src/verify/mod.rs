//! The verifier: everything that later code relies on, checked in one place.
//!
//! The invariants are numbered in `docs/invariants.md`; the code below cites them. Wording and places of messages are
//! MLIR's, so that tests and users' habits carry over, but one run reports the errors of all ops, not only the first.
//!
//! Bodies are verified in parallel, level by level, and reported in the order of the text. An op that is wrong is not
//! looked into: checks of what it holds may rely on it.

mod declaration;
mod known;
mod region;
mod traits;

use rayon::prelude::*;
use smallvec::SmallVec;

use crate::analysis::DominanceInfo;
use crate::asm::print::type_text;
use crate::body::{Body, Op, ValueKind};
use crate::context::Context;
use crate::diagnostics::{Diagnostic, Diagnostics, Reported, codes};
use crate::interfaces::{CastLike, SymbolUser};
use crate::location::Loc;
use crate::op_def::Traits;
use crate::op_ref::OpRef;
use crate::registry::OpInfo;
use crate::symbols::{BodyNode, SymbolTables};
use crate::types::Type;
use crate::work::Counter;

pub use known::Verified;

/// What the verifier lets pass.
#[derive(Clone, Copy, Debug, Default)]
pub struct VerifyOptions {
    /// Ops that are not registered are fine.
    pub allow_unregistered: bool,
}

/// Verifies `root`, which owns a body, and all that lies in it.
///
/// # Errors
/// After at least one error was reported.
pub fn verify(root: OpRef<'_>, options: VerifyOptions, diags: &mut Diagnostics) -> Result<(), Reported> {
    verify_changed(root, options, &mut Verified::default(), diags)
}

/// Verifies of `root`, which owns a body, and of all that lies in it what has changed since it was `verified`, and what depends on that.
///
/// # Errors
/// After at least one error was reported.
pub fn verify_changed(
    root: OpRef<'_>,
    options: VerifyOptions,
    verified: &mut Verified,
    diags: &mut Diagnostics,
) -> Result<(), Reported> {
    let mut top = Report::default();
    let top_ok = verify_op(root, None, options, &mut top);
    diags.append(std::mem::take(&mut top.diags));
    if !top_ok {
        return Err(Reported);
    }
    let (nodes, mut reports) = verify_bodies(root, options, verified);
    let order = preorder(&nodes);
    let failed = reports.iter().any(|r| r.diags.errors() > 0);
    if !failed {
        verify_isolated_exits(&nodes, &mut reports, verified);
    }
    let owners: Vec<OpRef<'_>> = nodes.iter().map(|node| node.owner).collect();
    let mut own = Diagnostics::default();
    for node in order {
        let mut found = std::mem::take(&mut reports[node].diags);
        found.default_around(root.cx, || place_of(&nodes, node));
        own.append(found);
    }
    if own.errors() == 0 {
        verify_symbol_uses(nodes, &reports, &mut own);
    }
    if own.is_empty() {
        owners.into_iter().zip(reports).for_each(|(owner, report)| verified.note(owner, report));
    }
    let result = own.check();
    diags.append(own);
    result
}

/// What verifying one body found.
#[derive(Default)]
struct Report {
    diags: Diagnostics,
    /// Isolated ops whose own declaration holds: their bodies come next.
    isolated: Vec<Op>,
    /// Ops that refer to symbols.
    symbol_users: Vec<Op>,
    /// Ops whose checks need the ops in their regions verified, in pre-order.
    exits: Vec<Op>,
}

impl Report {
    fn error(&mut self, diagnostic: Diagnostic) {
        self.diags.report(diagnostic);
    }
}

/// Verifies all bodies below `root`, level by level. Parents stand before children, siblings in text order.
fn verify_bodies<'a>(root: OpRef<'a>, options: VerifyOptions, verified: &Verified) -> (Vec<BodyNode<'a>>, Vec<Report>) {
    let mut nodes = vec![BodyNode { owner: root, parent: None }];
    let mut reports: Vec<Report> = Vec::new();
    while reports.len() < nodes.len() {
        let from = reports.len();
        let level = &nodes[from..];
        let one = |node: &BodyNode<'_>| match verified.report(node.owner) {
            Some(report) => verify_owners(node.owner, options, verified, report),
            None => verify_body(node.owner, options),
        };
        let found: Vec<Report> = level.par_iter().map(one).collect();
        reports.extend(found);
        for index in from..reports.len() {
            let owner = nodes[index].owner;
            let body = owner.inside();
            let children = reports[index].isolated.iter();
            nodes.extend(children.map(|op| BodyNode { owner: OpRef::new(owner.cx, body, *op), parent: Some(index) }));
        }
    }
    (nodes, reports)
}

/// Where the body of a node is: the place of the closest owner around that has one.
fn place_of(nodes: &[BodyNode<'_>], node: usize) -> Loc {
    let around = std::iter::successors(Some(node), |node| nodes[*node].parent);
    let mut places = around.map(|node| nodes[node].owner).map(|owner| (owner.cx, owner.place()));
    places.find(|(cx, loc)| cx.has_place(*loc)).map_or(Loc::UNKNOWN, |(_, loc)| loc)
}

/// Indices of nodes given level by level, in the order of the text.
fn preorder(nodes: &[BodyNode<'_>]) -> Vec<usize> {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    for (index, node) in nodes.iter().enumerate() {
        if let Some(parent) = node.parent {
            children[parent].push(index);
        }
    }
    let mut order = Vec::with_capacity(nodes.len());
    let mut pending = vec![0];
    while let Some(index) = pending.pop() {
        order.push(index);
        pending.extend(children[index].iter().rev());
    }
    order
}

static OPS_VERIFIED: Counter = Counter::new("ops verified");

/// Of a body that has not changed, verifies the ops in which something has.
fn verify_owners(owner: OpRef<'_>, options: VerifyOptions, verified: &Verified, mut report: Report) -> Report {
    let (body, isolated) = (owner.inside(), std::mem::take(&mut report.isolated));
    let mut again = Report::default();
    for op in isolated {
        let inside = OpRef::new(owner.cx, body, op);
        if verified.all_of(inside) || verify_op(inside, Some(owner), options, &mut again) {
            report.isolated.push(op);
        }
    }
    report.diags = again.diags;
    report
}

/// Verifies the inside of `owner`.
fn verify_body(owner: OpRef<'_>, options: VerifyOptions) -> Report {
    let (mut report, mut visited) = (Report::default(), 0);
    let (cx, body) = (owner.cx, owner.inside());
    let mut walk: Vec<Visit> = body.owner_regions().rev().map(Visit::Region).collect();
    while let Some(visit) = walk.pop() {
        match visit {
            Visit::Region(region) => {
                walk.extend(body.region_entry(region).map(Visit::Block));
            }
            Visit::Block(block) => {
                walk.extend(body.next_block(block).map(Visit::Block));
                region::verify_block(owner, block, &mut report);
                walk.extend(body.first_op(block).map(Visit::Op));
            }
            Visit::Op(op) => {
                visited += 1;
                walk.extend(body.next_op(op).map(Visit::Op));
                if verify_op(OpRef::new(cx, body, op), Some(owner), options, &mut report) {
                    walk.extend(body.regions(op).rev().map(Visit::Region));
                }
            }
        }
    }
    OPS_VERIFIED.add(visited);
    if report.diags.errors() == 0 {
        verify_exits(cx, body, &mut report);
    }
    // A broken graph of blocks has no dominator tree.
    if report.diags.errors() == 0 {
        verify_dominance(owner, &mut report);
    }
    report
}

enum Visit {
    Region(crate::body::Region),
    Block(crate::body::Block),
    Op(Op),
}

/// Verifies an op apart from the ops in its regions, and notes what has to be looked at later. `owner` owns the body
/// that holds the op. True when the op holds.
fn verify_op(op: OpRef<'_>, owner: Option<OpRef<'_>>, options: VerifyOptions, report: &mut Report) -> bool {
    let errors = report.diags.errors();
    let checked = match op.info() {
        None if !options.allow_unregistered => Err(unregistered(op).code(codes::UNKNOWN_OP)),
        None => verify_params(op).and_then(|()| region::verify_regions(op)),
        // Constraints and checks of a subset do not know what is beyond it.
        Some(info) if options.allow_unregistered && op.is_beyond_subset() => verify_params(op)
            .and_then(|()| declaration::verify_structure(op, info.def))
            .and_then(|()| region::verify_regions(op)),
        Some(info) => verify_registered(op, owner, info, report),
    };
    if let Err(error) = checked {
        let error = error.or_code(codes::OP_RULE);
        report.error(if op.cx.has_place(error.loc) { error } else { error.around(op.place()) });
    }
    let ok = report.diags.errors() == errors;
    if ok && op.body.nested(op.op).is_some() {
        report.isolated.push(op.op);
    }
    ok
}

fn verify_registered(
    op: OpRef<'_>,
    owner: Option<OpRef<'_>>,
    info: &OpInfo,
    report: &mut Report,
) -> Result<(), Diagnostic> {
    let def = info.def;
    verify_params(op)?;
    declaration::verify(op, info)?;
    traits::verify(op, owner, def)?;
    if let Some(verify) = def.verify {
        let (errors, from) = (report.diags.errors(), report.diags.len());
        if verify(op, &mut report.diags).is_err() {
            report.diags.default_code(from, codes::OP_RULE);
            return if report.diags.errors() == errors { Err(silent_failure(op, "verify")) } else { Ok(()) };
        }
    }
    if let Some(infer) = def.infer {
        declaration::verify_inferred(op, infer)?;
    }
    if let Some(cast) = info.interface::<dyn CastLike>() {
        verify_cast(op, cast)?;
    }
    let has_exit = def.verify_regions.is_some() || def.implicit_terminator.is_some();
    if has_exit || def.traits.has(Traits::SymbolTable) {
        report.exits.push(op.op);
    }
    if info.interface::<dyn SymbolUser>().is_some() {
        report.symbol_users.push(op.op);
    }
    region::verify_regions(op)
}

fn verify_cast(op: OpRef<'_>, cast: &dyn CastLike) -> Result<(), Diagnostic> {
    let from: SmallVec<[Type; 2]> = op.operand_types().collect();
    let to: SmallVec<[Type; 2]> = op.result_types().collect();
    if cast.are_compatible(op.cx, &from, &to) {
        return Ok(());
    }
    let list = |types: &[Type]| {
        let types: Vec<String> = types.iter().map(|ty| format!("'{}'", type_text(op.cx, *ty))).collect();
        types.join(", ")
    };
    let s = if from.len() == 1 && to.len() == 1 { "" } else { "s" };
    let (from, to) = (list(&from), list(&to));
    Err(op.error(format!("operand type{s} {from} and result type{s} {to} are cast incompatible")))
}

/// The checks of ops that are not isolated and need what they hold verified: innermost first.
fn verify_exits(cx: &Context, body: &Body, report: &mut Report) {
    for op in std::mem::take(&mut report.exits).into_iter().rev() {
        let op = OpRef::new(cx, body, op);
        if op.body.nested(op.op).is_none() {
            verify_exit(op, &mut report.diags);
        } else {
            report.exits.push(op.op);
        }
    }
}

/// The same for isolated ops and the top-level op, once all bodies are verified.
fn verify_isolated_exits(nodes: &[BodyNode<'_>], reports: &mut [Report], verified: &Verified) {
    for (node, report) in nodes.iter().zip(reports).rev() {
        let op = node.owner;
        if op.def().is_some() && !verified.all_of(op) {
            verify_exit(op, &mut report.diags);
        }
    }
}

fn verify_exit(op: OpRef<'_>, diags: &mut Diagnostics) {
    let Some(def) = op.def() else { return };
    if let Err(error) = region::verify_on_exit(op, def) {
        diags.report(error);
        return;
    }
    let (errors, from) = (diags.errors(), diags.len());
    if let Some(verify) = def.verify_regions
        && verify(op, diags).is_err()
    {
        if diags.errors() == errors {
            diags.report(silent_failure(op, "verify_regions"));
        }
        diags.default_code(from, codes::OP_RULE);
    }
}

/// INV-30: every use is dominated by the definition.
fn verify_dominance(owner: OpRef<'_>, report: &mut Report) {
    let (cx, body) = (owner.cx, owner.inside());
    let info = DominanceInfo::new(cx, owner.name(), body);
    for op in body.preorder() {
        let reachable = body.op_block(op).is_some_and(|b| info.is_reachable(b));
        if !reachable {
            continue;
        }
        for (index, value) in body.operands(op).enumerate() {
            if !info.value_dominates(body, value, op) {
                report.error(region::dominance_error(owner, op, index, value));
                break;
            }
        }
    }
}

fn verify_symbol_uses(nodes: Vec<BodyNode<'_>>, reports: &[Report], diags: &mut Diagnostics) {
    if reports.iter().all(|r| r.symbol_users.is_empty()) {
        return;
    }
    let tables = SymbolTables::from_nodes(nodes);
    for node in preorder(tables.nodes()) {
        let owner = tables.nodes()[node].owner;
        let scope = tables.scope(node);
        for &user in &reports[node].symbol_users {
            // INV-42: what lies in an op that is not registered is not judged; it could be a symbol table.
            if !scope.is_known(user) {
                continue;
            }
            let op = OpRef::new(owner.cx, owner.inside(), user);
            let user = op.interface::<dyn SymbolUser>().expect("noted for this interface");
            let (errors, from) = (diags.errors(), diags.len());
            if user.verify_symbol_uses(op, &scope, diags).is_err() && diags.errors() == errors {
                diags.report(silent_failure(op, "verify_symbol_uses"));
            }
            diags.default_code(from, codes::SYMBOL_USE);
            if diags.errors() == errors {
                continue;
            }
            let references = op.cx.entries(op.body.props(op.op)).iter();
            if let Some(meant) = references.filter_map(|e| scope.suggest(op.op, e.value)).next() {
                diags.help_since(from, &format!("did you mean `{meant}`?"));
            }
        }
    }
}

/// INV-03 and INV-04: operands are defined; parameters of dialects' types and attributes fit each other.
fn verify_params(op: OpRef<'_>) -> Result<(), Diagnostic> {
    if op.operands().any(|v| op.body.value_kind(v) == ValueKind::Placeholder) {
        return Err(op.error("uses a value that is not defined").code(codes::UNDEFINED_VALUE));
    }
    for value in op.results() {
        op.cx
            .verify_type(op.ty(value))
            .map_err(|reason| params(op, format!("has an invalid result type: {reason}")))?;
    }
    for dict in [op.body.props(op.op), op.body.attrs(op.op)] {
        for entry in op.cx.entries(dict) {
            op.cx.verify_attr(entry.value).map_err(|reason| {
                params(op, format!("has an invalid attribute '{}': {reason}", op.cx.str(entry.name)))
            })?;
        }
    }
    Ok(())
}

fn params(op: OpRef<'_>, message: String) -> Diagnostic {
    op.error(message).code(codes::PARAMS)
}

/// INV-02: ops are registered unless the caller allows others.
fn unregistered(op: OpRef<'_>) -> Diagnostic {
    let name = op.name_str();
    let dialect = op.name().dialect(op.cx);
    let Some(info) = op.cx.registry().dialect(dialect) else {
        return op.error(
            "created with unregistered dialect. If this is intended, please call allowUnregisteredDialects() on the \
             MLIRContext, or use -allow-unregistered-dialect with the MLIR opt tool used",
        );
    };
    let message = format!(
        "unregistered operation '{name}' found in dialect ('{dialect}') that does not allow unknown operations"
    );
    let error = Diagnostic::error(op.loc(), message);
    match crate::diagnostics::did_you_mean(name, info.ops.iter().copied()) {
        Some(close) => error.help(format!("did you mean `{close}`?")),
        None => error,
    }
}

fn silent_failure(op: OpRef<'_>, hook: &str) -> Diagnostic {
    op.error(format!("failed to verify, and its `{hook}` hook does not say why: an internal error"))
        .code(codes::INTERNAL)
}
