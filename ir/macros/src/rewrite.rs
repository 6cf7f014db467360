//! `rewrite!`: rewrites written as a pattern and what takes its place.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Error, Expr, Ident, Pat, Path, Result, Token, braced, parenthesized, token};

/// Quotes with names that cannot clash with the user's.
macro_rules! quote {
    ($($tokens:tt)*) => { quote_spanned! { Span::mixed_site() => $($tokens)* } };
}

pub(crate) struct Rules(Vec<Rule>);

/// `fn name(rw) { pattern clauses => replacement }`
struct Rule {
    attrs: Vec<syn::Attribute>,
    vis: syn::Visibility,
    name: Ident,
    rw: Ident,
    pattern: Node,
    clauses: Vec<Clause>,
    lets: Vec<(Ident, Build)>,
    results: Vec<Build>,
}

/// `name @ Op(operands) { attributes } -> ty`
struct Node {
    binding: Option<Ident>,
    op: Path,
    operands: Vec<Operand>,
    /// `..` stands after the operands.
    open: bool,
    attrs: Vec<(Ident, Pat)>,
    ty: Option<Ident>,
}

/// What is said of an operand, and the name for its type.
struct Operand {
    kind: OperandKind,
    ty: Option<Ident>,
}

enum OperandKind {
    Any,
    Value(Ident),
    /// The name of the value, if it has one, and of its attribute.
    Constant(Option<Ident>, Ident),
    Op(Box<Node>),
}

enum Clause {
    Let(Box<Pat>, Box<Expr>),
    If(Box<Expr>),
}

/// What takes the place of a result.
enum Build {
    Op(Path, Vec<Build>),
    Expr(Box<Expr>),
}

// ---- reading

impl Parse for Rules {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut rules = Vec::new();
        while !input.is_empty() {
            rules.push(input.parse()?);
        }
        Ok(Self(rules))
    }
}

impl Parse for Rule {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let (attrs, vis) = (input.call(syn::Attribute::parse_outer)?, input.parse()?);
        input.parse::<Token![fn]>()?;
        let name = input.parse()?;
        let (argument, inside);
        parenthesized!(argument in input);
        let rw =
            argument.parse().map_err(|e| Error::new(e.span(), "expected a name for the rewriter, as in `(rw)`"))?;
        braced!(inside in input);
        let pattern = inside.parse()?;
        let clauses = clauses(&inside)?;
        inside.parse::<Token![=>]>()?;
        let mut lets = Vec::new();
        while inside.peek(Token![let]) {
            inside.parse::<Token![let]>()?;
            let name = inside.parse()?;
            inside.parse::<Token![=]>()?;
            lets.push((name, inside.parse()?));
            inside.parse::<Token![;]>()?;
        }
        let results = results(&inside)?;
        if !inside.is_empty() {
            return Err(inside.error("expected the end of the rule"));
        }
        Ok(Self { attrs, vis, name, rw, pattern, clauses, lets, results })
    }
}

fn clauses(input: ParseStream<'_>) -> Result<Vec<Clause>> {
    let mut clauses = Vec::new();
    loop {
        if input.peek(Token![let]) {
            input.parse::<Token![let]>()?;
            let pat = Pat::parse_multi(input)?;
            input.parse::<Token![=]>()?;
            clauses.push(Clause::Let(Box::new(pat), input.parse()?));
            input.parse::<Token![;]>()?;
        } else if input.peek(Token![if]) {
            input.parse::<Token![if]>()?;
            clauses.push(Clause::If(input.parse()?));
        } else {
            return Ok(clauses);
        }
    }
}

/// One replacement, or `(a, b, …)` for several results, `()` for none.
fn results(input: ParseStream<'_>) -> Result<Vec<Build>> {
    if input.peek(token::Paren) {
        let fork = input.fork();
        let inside;
        parenthesized!(inside in fork);
        let list = inside.parse_terminated(Build::parse, Token![,]);
        if let Ok(list) = list
            && list.len() != 1
            && fork.is_empty()
        {
            let inside;
            parenthesized!(inside in input);
            return Ok(inside.parse_terminated(Build::parse, Token![,])?.into_iter().collect());
        }
    }
    Ok(vec![input.parse()?])
}

impl Parse for Node {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut binding = None;
        if input.peek(Ident) && input.peek2(Token![@]) {
            binding = Some(input.parse()?);
            input.parse::<Token![@]>()?;
        }
        let op = input.call(Path::parse_mod_style)?;
        if !input.peek(token::Paren) {
            return Err(input.error("expected the operands, in parentheses"));
        }
        let inside;
        parenthesized!(inside in input);
        let (mut operands, mut open) = (Vec::new(), false);
        while !inside.is_empty() {
            if inside.peek(Token![..]) {
                inside.parse::<Token![..]>()?;
                open = true;
                break;
            }
            operands.push(inside.parse()?);
            if !inside.is_empty() {
                inside.parse::<Token![,]>()?;
            }
        }
        if !inside.is_empty() {
            return Err(inside.error("`..` stands last"));
        }
        let mut attrs = Vec::new();
        if input.peek(token::Brace) {
            let inside;
            braced!(inside in input);
            while !inside.is_empty() {
                let name = inside.parse()?;
                inside.parse::<Token![:]>()?;
                attrs.push((name, Pat::parse_multi(&inside)?));
                if !inside.is_empty() {
                    inside.parse::<Token![,]>()?;
                }
            }
        }
        let mut ty = None;
        if input.peek(Token![->]) {
            input.parse::<Token![->]>()?;
            ty = Some(input.parse()?);
        }
        Ok(Self { binding, op, operands, open, attrs, ty })
    }
}

impl Parse for Operand {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let kind = if input.peek(Token![_]) {
            input.parse::<Token![_]>()?;
            OperandKind::Any
        } else if input.peek(Token![#]) {
            input.parse::<Token![#]>()?;
            OperandKind::Constant(None, input.parse()?)
        } else if input.peek(Ident) && input.peek2(Token![@]) && input.peek3(Token![#]) {
            let value = input.parse()?;
            input.parse::<Token![@]>()?;
            input.parse::<Token![#]>()?;
            OperandKind::Constant(Some(value), input.parse()?)
        } else if input.peek(Ident) && !(input.peek2(token::Paren) || input.peek2(Token![::]) || input.peek2(Token![@]))
        {
            OperandKind::Value(input.parse()?)
        } else {
            OperandKind::Op(Box::new(input.parse()?))
        };
        let mut ty = None;
        if input.peek(Token![:]) {
            input.parse::<Token![:]>()?;
            ty = Some(input.parse()?);
        }
        Ok(Self { kind, ty })
    }
}

impl Parse for Build {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let fork = input.fork();
        if let Ok(path) = fork.call(Path::parse_mod_style)
            && fork.peek(token::Paren)
            && is_camel_case(&path)
        {
            let op = input.call(Path::parse_mod_style)?;
            let inside;
            parenthesized!(inside in input);
            return Ok(Self::Op(op, inside.parse_terminated(Self::parse, Token![,])?.into_iter().collect()));
        }
        Ok(Self::Expr(input.parse()?))
    }
}

fn is_camel_case(path: &Path) -> bool {
    path.segments.last().is_some_and(|s| s.ident.unraw().to_string().starts_with(|c: char| c.is_ascii_uppercase()))
}

// ---- writing

pub(crate) fn expand(rules: &Rules) -> Result<TokenStream> {
    rules.0.iter().map(expand_rule).collect()
}

/// Statements of the match, while they are gathered, and what they bind.
struct Match<'r> {
    rw: &'r Ident,
    steps: Vec<TokenStream>,
    bound: Vec<Ident>,
    nodes: usize,
}

fn expand_rule(rule: &Rule) -> Result<TokenStream> {
    let mut matching = Match { rw: &rule.rw, steps: Vec::new(), bound: Vec::new(), nodes: 0 };
    matching.node(&rule.pattern, &quote! { op }, None);
    for clause in &rule.clauses {
        matching.clause(clause);
    }
    let Match { steps, bound, .. } = matching;
    let (attrs, vis, name, rw) = (&rule.attrs, &rule.vis, &rule.name, &rule.rw);
    let root = &rule.pattern.op;
    let mut build = Vec::new();
    for (name, node) in &rule.lets {
        let value = node.steps(rw, &mut build);
        build.push(quote! { let #name = #value; });
    }
    let results: Vec<TokenStream> = rule.results.iter().map(|node| node.steps(rw, &mut build)).collect();
    let count = results.len();
    let check = quote_spanned! { root.span() =>
        const { ::sutura_ir::pattern::expect_results(<#root as ::sutura_ir::op_def::OpView<'_>>::RESULTS, #count) };
    };
    Ok(quote! {
        #(#attrs)*
        #[allow(clippy::let_and_return, clippy::question_mark, unused_parens)]
        #vis fn #name(op: ::sutura_ir::Op, #rw: &mut ::sutura_ir::Rewriter<'_>) -> ::core::option::Option<()> {
            #check
            #[allow(unused_variables)]
            let matched = {
                let #rw: &::sutura_ir::Rewriter<'_> = #rw;
                (|| -> ::core::result::Result<_, &'static str> {
                    #(#steps)*
                    ::core::result::Result::Ok((#(#bound,)*))
                })()
            };
            #[allow(unused_variables)]
            let (#(#bound,)*) = match matched {
                ::core::result::Result::Ok(matched) => matched,
                ::core::result::Result::Err(reason) => {
                    return #rw.notify_match_failure(op, || ::std::string::String::from(reason));
                }
            };
            #rw.set_before(op);
            #[allow(unused_variables)]
            let loc = #rw.body().loc(op);
            #(#build)*
            #rw.replace_op(op, &[#(#results),*]);
            ::core::option::Option::Some(())
        }
    })
}

impl Match<'_> {
    /// Matches the op in the variable `at`, which defines `operand` of another one.
    fn node(&mut self, node: &Node, at: &TokenStream, operand: Option<&str>) {
        let (rw, op) = (self.rw, &node.op);
        let (count, open) = (node.operands.len(), node.open);
        let name = last_name(op);
        let view = format_ident!("view{}", self.nodes, span = Span::mixed_site());
        let this = format_ident!("op{}", self.nodes, span = Span::mixed_site());
        self.nodes += 1;
        let reason = match operand {
            Some(operand) => not_made_by(operand, &name),
            None => format!("it is no `{name}`"),
        };
        // The span of the op's name, so that errors of the compiler point at it.
        self.steps.push(quote_spanned! { op.span() =>
            const { ::sutura_ir::pattern::expect_operands(<#op as ::sutura_ir::op_def::OpView<'_>>::OPERANDS, #count, #open) };
        });
        self.steps.push(quote! {
            let #this: ::sutura_ir::Op = #at;
            let ::core::option::Option::Some(#view) = #rw.view::<#op>(#this) else {
                return ::core::result::Result::Err(#reason);
            };
        });
        if let Some(binding) = &node.binding {
            self.bind(binding, &quote! { #this }, &format!("`{binding}` is another op"));
        }
        if let Some(ty) = &node.ty {
            let value = quote! { #rw.body().ty(#rw.body().result(#this, 0)) };
            self.bind(ty, &value, &format!("the result of `{name}` has another type than `{ty}`"));
        }
        for (attr, pat) in &node.attrs {
            self.attr(&view, attr, pat, &name);
        }
        for (i, operand) in node.operands.iter().enumerate() {
            self.operand(operand, i, &this, &name);
        }
    }

    fn attr(&mut self, view: &Ident, attr: &Ident, pat: &Pat, op: &str) {
        let reason = format!("`{attr}` of `{op}` is another one");
        if let Pat::Ident(simple) = pat
            && simple.subpat.is_none()
            && is_lower(&simple.ident)
        {
            self.bind(&simple.ident, &quote! { #view.#attr() }, &reason);
            return;
        }
        self.bind_pattern(pat, &quote! { #view.#attr() }, &quote! { #reason });
    }

    fn operand(&mut self, operand: &Operand, index: usize, this: &Ident, op: &str) {
        let rw = self.rw;
        let value = quote! { #rw.body().operand(#this, #index) };
        if let Some(ty) = &operand.ty {
            let reason = format!("operand #{index} of `{op}` has another type than `{ty}`");
            self.bind(ty, &quote! { #rw.body().ty(#value) }, &reason);
        }
        match &operand.kind {
            OperandKind::Any => {}
            OperandKind::Value(name) => {
                self.bind(name, &value, &format!("operand #{index} of `{op}` is not `{name}`"));
            }
            OperandKind::Constant(named, name) => {
                if let Some(named) = named {
                    self.bind(named, &value, &format!("operand #{index} of `{op}` is not `{named}`"));
                }
                let reason = format!("operand #{index} of `{op}` is no constant");
                let found = format_ident!("constant", span = Span::mixed_site());
                self.steps.push(quote! {
                    let ::core::option::Option::Some(#found) = #rw.op_ref(#this).constant(#value) else {
                        return ::core::result::Result::Err(#reason);
                    };
                });
                let reason = format!("operand #{index} of `{op}` is another constant than `{name}`");
                self.bind(name, &quote! { #found }, &reason);
            }
            OperandKind::Op(node) => {
                let operand = format!("operand #{index} of `{op}`");
                let reason = not_made_by(&operand, &last_name(&node.op));
                let found = format_ident!("definition", span = Span::mixed_site());
                self.steps.push(quote! {
                    let ::core::option::Option::Some(#found) = #rw.body().defining_op(#value) else {
                        return ::core::result::Result::Err(#reason);
                    };
                });
                self.node(node, &quote! { #found }, Some(&operand));
            }
        }
    }

    /// Binds a name, or compares when it is bound already.
    fn bind(&mut self, name: &Ident, value: &TokenStream, reason: &str) {
        if self.bound.contains(name) {
            self.steps.push(quote! { if #name != #value { return ::core::result::Result::Err(#reason); } });
        } else {
            self.steps.push(quote! { let #name = #value; });
            self.bound.push(name.clone());
        }
    }

    fn bind_pattern(&mut self, pat: &Pat, value: &TokenStream, reason: &TokenStream) {
        self.steps.push(quote! {
            #[allow(irrefutable_let_patterns)]
            let #pat = #value else { return ::core::result::Result::Err(#reason); };
        });
        let mut names = Vec::new();
        names_of(pat, &mut names);
        for name in names {
            if !self.bound.contains(&name) {
                self.bound.push(name);
            }
        }
    }

    fn clause(&mut self, clause: &Clause) {
        match clause {
            Clause::Let(pat, expr) => {
                // The rule's own words are what its author looks for.
                let reason = quote! {
                    ::core::concat!("`let ", ::core::stringify!(#pat), " = ", ::core::stringify!(#expr), "` does not match")
                };
                self.bind_pattern(pat, &quote! { #expr }, &reason);
            }
            Clause::If(expr) => {
                let reason = quote! { ::core::concat!("`if ", ::core::stringify!(#expr), "` does not hold") };
                self.steps.push(quote! { if !(#expr) { return ::core::result::Result::Err(#reason); } });
            }
        }
    }
}

fn last_name(path: &Path) -> String {
    path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default()
}

fn not_made_by(operand: &str, op: &str) -> String {
    format!("{operand} is not the result of `{op}`")
}

fn is_lower(ident: &Ident) -> bool {
    ident.unraw().to_string().starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
}

/// Names that a Rust pattern binds.
fn names_of(pat: &Pat, out: &mut Vec<Ident>) {
    match pat {
        Pat::Ident(p) => {
            if is_lower(&p.ident) {
                out.push(p.ident.clone());
            }
            if let Some((_, inner)) = &p.subpat {
                names_of(inner, out);
            }
        }
        Pat::Tuple(p) => p.elems.iter().for_each(|p| names_of(p, out)),
        Pat::TupleStruct(p) => p.elems.iter().for_each(|p| names_of(p, out)),
        Pat::Slice(p) => p.elems.iter().for_each(|p| names_of(p, out)),
        Pat::Struct(p) => p.fields.iter().for_each(|f| names_of(&f.pat, out)),
        Pat::Reference(p) => names_of(&p.pat, out),
        Pat::Paren(p) => names_of(&p.pat, out),
        Pat::Type(p) => names_of(&p.pat, out),
        // All sides bind the same names.
        Pat::Or(p) => p.cases.first().into_iter().for_each(|p| names_of(p, out)),
        _ => {}
    }
}

impl Build {
    /// Adds the statements that make it; the result is an expression for the value.
    fn steps(&self, rw: &Ident, out: &mut Vec<TokenStream>) -> TokenStream {
        match self {
            Self::Expr(expr) => quote! { (#expr) },
            Self::Op(op, args) => {
                let values: Vec<TokenStream> = args
                    .iter()
                    .map(|arg| {
                        let value = arg.steps(rw, out);
                        let name = format_ident!("built{}", out.len(), span = Span::mixed_site());
                        out.push(quote! { let #name = #value; });
                        quote! { #name }
                    })
                    .collect();
                let name = format_ident!("built{}", out.len(), span = Span::mixed_site());
                // The span of the op's name: a wrong number of arguments is reported there.
                let make = quote_spanned! { op.span() => #op::value };
                out.push(quote! { let #name = #make(#rw, loc #(, #values)*); });
                quote! { #name }
            }
        }
    }
}
