//! The generated constructors: `state`, `build` and `value`.

use proc_macro2::{Span, TokenStream};
use syn::Path;

use crate::expand::unit_attr;
use crate::model::{Arity, Constraint, Field, FieldKind, OpModel};

/// Quotes with names that cannot clash with the user's: a field may well be called `b` or `loc`.
macro_rules! quote {
    ($($tokens:tt)*) => { quote::quote_spanned! { Span::mixed_site() => $($tokens)* } };
}

/// Constraints of the library that only one type fulfils, so that a result's type need not be given. The generated
/// code checks at compile time that the constraint does name its only type.
const SINGLE_TYPE: [&str; 10] = ["Index", "I1", "I8", "I16", "I32", "I64", "F16", "BF16", "F32", "F64"];

pub(crate) fn constructors(op: &OpModel) -> TokenStream {
    let inference = Inference::new(op);
    let params: Vec<TokenStream> = op.fields.iter().filter_map(|f| parameter(op, f, &inference)).collect();
    let names: Vec<&syn::Ident> =
        op.fields.iter().filter(|f| parameter(op, f, &inference).is_some()).map(|f| &f.ident).collect();
    let steps = steps(op, &inference);
    let needs_value = op.results().count() == 1 && op.results().all(|(_, a, _)| a == Arity::Single);
    let name = op.args.name.value();
    let (state_doc, build_doc) = (
        format!("All that makes a `{name}`, for [`::sutura_ir::Builder::create`]."),
        format!("Creates a `{name}` at the insertion point."),
    );
    let value_fn = needs_value.then(|| {
        let doc = format!("Creates a `{name}` at the insertion point and returns its result.");
        quote! {
            #[doc = #doc]
            pub fn value(
                b: &mut ::sutura_ir::Builder<'_>,
                loc: ::sutura_ir::Loc,
                #(#params),*
            ) -> ::sutura_ir::Value {
                let op = Self::build(b, loc, #(#names),*);
                b.body().result(op, 0)
            }
        }
    });
    quote! {
        #[doc = #state_doc]
        pub fn state(
            b: &::sutura_ir::Builder<'_>,
            loc: ::sutura_ir::Loc,
            #(#params),*
        ) -> ::sutura_ir::OpState {
            #[allow(unused_variables)]
            let cx = b.cx();
            #[allow(unused_mut)]
            let mut state = ::sutura_ir::OpState::of(cx, <Self as ::sutura_ir::op_def::OpView<'_>>::def(), loc);
            #steps
            state
        }

        #[doc = #build_doc]
        pub fn build(
            b: &mut ::sutura_ir::Builder<'_>,
            loc: ::sutura_ir::Loc,
            #(#params),*
        ) -> ::sutura_ir::Op {
            let state = Self::state(b, loc, #(#names),*);
            b.create(state)
        }

        #value_fn
    }
}

/// Where result types come from.
enum Source {
    /// The type of this operand.
    Operand(syn::Ident),
    /// The constraint's only type.
    Only(Path),
    /// A parameter.
    Given,
}

struct Inference {
    /// The op's own inference (or that of a trait) gives all result types.
    whole: bool,
    /// One entry per result group.
    sources: Vec<Source>,
}

/// True when the attribute `value` has a type, which then is that of the constant.
fn has_typed_value(op: &OpModel) -> bool {
    op.fields.iter().any(|f| match &f.kind {
        FieldKind::Attr { constraint, .. } if f.name == "value" => {
            constraint.segments.last().is_some_and(|s| s.ident == "TypedAttr" || s.ident == "ElementsAttr")
        }
        _ => false,
    })
}

impl Inference {
    fn new(op: &OpModel) -> Self {
        let whole = op.args.has_hook("infer") || (op.args.has_trait("ConstantLike") && has_typed_value(op));
        let sources = op.results().map(|(_, arity, constraint)| Self::source(op, arity, constraint)).collect();
        Self { whole, sources }
    }

    fn source(op: &OpModel, arity: Arity, constraint: &Constraint) -> Source {
        if arity != Arity::Single {
            return Source::Given;
        }
        let single = |(f, a, _): &(&Field, Arity, &Constraint)| (*a == Arity::Single).then(|| f.ident.clone());
        let same_type = op.args.has_trait("SameOperandsAndResultType");
        match constraint {
            Constraint::Var(var) => op
                .operands()
                .filter(|(_, _, c)| matches!(c, Constraint::Var(v) if v == var))
                .find_map(|o| single(&o))
                .map_or(Source::Given, Source::Operand),
            Constraint::Named(path)
                if path.segments.last().is_some_and(|s| SINGLE_TYPE.iter().any(|n| s.ident == n)) =>
            {
                Source::Only(path.clone())
            }
            Constraint::Named(_) if same_type => {
                op.operands().find_map(|o| single(&o)).map_or(Source::Given, Source::Operand)
            }
            Constraint::Named(_) => Source::Given,
        }
    }

    /// True when the caller gives the types of result group `ident`.
    fn is_given(&self, op: &OpModel, ident: &syn::Ident) -> bool {
        let at = op.results().position(|(f, ..)| f.ident == *ident);
        !self.whole && at.is_some_and(|i| matches!(self.sources[i], Source::Given))
    }
}

/// The parameter of a field, if it has one.
fn parameter(op: &OpModel, field: &Field, inference: &Inference) -> Option<TokenStream> {
    let ident = &field.ident;
    let ty = match &field.kind {
        FieldKind::Operand(arity, _) => group_type(*arity, &quote! { ::sutura_ir::Value }),
        FieldKind::Result(arity, _) if inference.is_given(op, ident) => {
            group_type(*arity, &quote! { ::sutura_ir::Type })
        }
        FieldKind::Attr { constraint, optional, given: true, .. } => {
            let ty = quote! { <#constraint as ::sutura_ir::op_def::AttrConstraintDef>::Set<'_> };
            if *optional {
                quote! { ::core::option::Option<#ty> }
            } else {
                ty
            }
        }
        FieldKind::Flag { given: true } => quote! { bool },
        FieldKind::Region(Arity::Variadic) => quote! { usize },
        FieldKind::Successor(arity) => group_type(*arity, &quote! { ::sutura_ir::Block }),
        FieldKind::Result(..) | FieldKind::Attr { .. } | FieldKind::Flag { .. } | FieldKind::Region(_) => return None,
    };
    Some(quote! { #ident: #ty })
}

fn group_type(arity: Arity, one: &TokenStream) -> TokenStream {
    match arity {
        Arity::Single => one.clone(),
        Arity::Optional => quote! { ::core::option::Option<#one> },
        Arity::Variadic => quote! { &[#one] },
    }
}

/// The parameter as something that `extend` takes.
fn group_values(arity: Arity, ident: &syn::Ident) -> TokenStream {
    match arity {
        Arity::Single => quote! { ::core::iter::once(#ident) },
        Arity::Optional => quote! { #ident },
        Arity::Variadic => quote! { #ident.iter().copied() },
    }
}

/// The parameter's length as `i32`.
fn group_len(arity: Arity, ident: &syn::Ident) -> TokenStream {
    match arity {
        Arity::Single => quote! { 1 },
        Arity::Optional => quote! { i32::from(#ident.is_some()) },
        Arity::Variadic => quote! { i32::try_from(#ident.len()).expect("fewer than 2^31 values") },
    }
}

/// Statements that fill `state`.
fn steps(op: &OpModel, inference: &Inference) -> TokenStream {
    let fields = op.fields.iter().map(field_step);
    let segments = segment_step(op, "AttrSizedOperandSegments", "operandSegmentSizes", |k| match k {
        FieldKind::Operand(arity, _) => Some(*arity),
        _ => None,
    });
    let result_segments = (!inference.whole).then(|| {
        segment_step(op, "AttrSizedResultSegments", "resultSegmentSizes", |k| match k {
            FieldKind::Result(arity, _) => Some(*arity),
            _ => None,
        })
    });
    let regions = region_step(op);
    let results = result_steps(op, inference);
    quote! { #(#fields)* #segments #result_segments #regions #results }
}

fn field_step(field: &Field) -> TokenStream {
    let (ident, name) = (&field.ident, &field.name);
    match &field.kind {
        FieldKind::Operand(arity, _) => {
            let values = group_values(*arity, ident);
            quote! { state.operands.extend(#values); }
        }
        FieldKind::Attr { constraint, optional, given: true, .. } => attr_step(constraint, name, ident, *optional),
        FieldKind::Flag { given: true } => {
            let unit = unit_attr();
            let set = attr_step(&unit, name, &syn::Ident::new("unit", Span::mixed_site()), false);
            quote! { if #ident { let unit = (); #set } }
        }
        FieldKind::Successor(arity) => {
            let values = group_values(*arity, ident);
            quote! { state.successors.extend(#values); }
        }
        FieldKind::Attr { .. } | FieldKind::Flag { .. } | FieldKind::Result(..) | FieldKind::Region(_) => {
            TokenStream::new()
        }
    }
}

fn attr_step(constraint: &Path, name: &str, ident: &syn::Ident, optional: bool) -> TokenStream {
    let set = quote! {
        state = state.prop(
            cx.ident(#name),
            <#constraint as ::sutura_ir::op_def::AttrConstraintDef>::set(cx, #ident),
        );
    };
    if optional {
        quote! { if let ::core::option::Option::Some(#ident) = #ident { #set } }
    } else {
        set
    }
}

fn segment_step(op: &OpModel, needs: &str, name: &str, group: fn(&FieldKind) -> Option<Arity>) -> Option<TokenStream> {
    if !op.args.has_trait(needs) {
        return None;
    }
    let sizes = op.fields.iter().filter_map(|f| Some(group_len(group(&f.kind)?, &f.ident)));
    Some(quote! {
        let sizes: &[i32] = &[#(#sizes),*];
        state = state.prop(cx.ident(#name), cx.i32_array(sizes));
    })
}

fn region_step(op: &OpModel) -> Option<TokenStream> {
    let mut fixed = 0usize;
    let mut more = None;
    for field in &op.fields {
        match field.kind {
            FieldKind::Region(Arity::Variadic) => {
                let ident = &field.ident;
                more = Some(quote! { + #ident });
            }
            FieldKind::Region(_) => fixed += 1,
            _ => {}
        }
    }
    (fixed > 0 || more.is_some()).then(|| quote! { state.n_regions = #fixed #more; })
}

fn result_steps(op: &OpModel, inference: &Inference) -> TokenStream {
    if op.results().next().is_none() {
        return TokenStream::new();
    }
    if inference.whole {
        let name = op.args.name.value();
        let message = format!("building `{name}`: {{}}");
        return quote! {
            state.result_types =
                b.infer_result_types(&state).unwrap_or_else(|reason| panic!(#message, reason)).into_iter().collect();
        };
    }
    let steps = op.results().zip(&inference.sources).map(|((field, arity, _), source)| match source {
        Source::Operand(operand) => quote! { state.result_types.push(b.body().ty(#operand)); },
        Source::Only(constraint) => {
            let constraint = quote! { <#constraint as ::sutura_ir::op_def::TypeConstraintDef>::CONSTRAINT };
            quote! {
                state.result_types.push(const {
                    match #constraint.only {
                        ::core::option::Option::Some(ty) => ty,
                        ::core::option::Option::None => panic!("the constraint does not name its only type"),
                    }
                });
            }
        }
        Source::Given => {
            let types = group_values(arity, &field.ident);
            quote! { state.result_types.extend(#types); }
        }
    });
    quote! { #(#steps)* }
}
