//! The generated item: the view type, its table and its accessors.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::Path;
use syn::ext::IdentExt;

use crate::builders;
use crate::model::{Arity, Constraint, Field, FieldKind, OpModel};

pub(crate) fn expand(op: &OpModel) -> TokenStream {
    let (vis, ident, docs) = (&op.vis, &op.ident, &op.docs);
    let table = table(op);
    let accessors = accessors(op);
    let constructors = builders::constructors(op);
    let operands = op.operands().map(|(_, arity, _)| arity_tokens(arity));
    let results = op.results().map(|(_, arity, _)| arity_tokens(arity));
    quote! {
        #(#docs)*
        #[derive(Clone, Copy)]
        #vis struct #ident<'a>(::sutura_ir::OpRef<'a>);

        impl<'a> ::sutura_ir::op_def::OpView<'a> for #ident<'a> {
            const OPERANDS: &'static [::sutura_ir::op_def::Arity] = &[#(#operands),*];
            const RESULTS: &'static [::sutura_ir::op_def::Arity] = &[#(#results),*];
            fn def() -> &'static ::sutura_ir::op_def::OpDef {
                static DEF: ::sutura_ir::op_def::OpDef = #table;
                &DEF
            }
            fn from_ref(op: ::sutura_ir::OpRef<'a>) -> Self {
                Self(op)
            }
            fn op_ref(&self) -> ::sutura_ir::OpRef<'a> {
                self.0
            }
        }

        #[allow(dead_code, unreachable_pub, clippy::too_many_arguments)]
        impl<'a> #ident<'a> {
            #accessors
            #constructors
        }
    }
}

// ---- the table

fn table(op: &OpModel) -> TokenStream {
    let name = &op.args.name;
    let summary = op.doc_text.lines().next().unwrap_or_default().trim();
    let description = &op.doc_text;
    let vars = op.vars.iter().map(|v| {
        let (name, constraint) = (v.ident.to_string(), type_constraint(&v.constraint));
        quote! { ::sutura_ir::op_def::TypeVarDef { name: #name, constraint: #constraint } }
    });
    let operands = op.operands().map(|(f, a, c)| value_def(op, f, a, c));
    let results = op.results().map(|(f, a, c)| value_def(op, f, a, c));
    let attrs = op.fields.iter().filter_map(attr_def);
    let regions = op.fields.iter().filter_map(|f| match f.kind {
        FieldKind::Region(a) => Some(group_def("RegionDef", f, a)),
        _ => None,
    });
    let successors = op.fields.iter().filter_map(|f| match f.kind {
        FieldKind::Successor(a) => Some(group_def("SuccessorDef", f, a)),
        _ => None,
    });
    let traits = op.args.traits.iter();
    let parents = &op.args.parents;
    let format = option(op.args.format.as_ref());
    let default_dialect = option(op.args.default_dialect.as_ref());
    let implicit_terminator = option(op.args.implicit_terminator.as_ref());
    let [verify, verify_regions, fold, infer, canonicalize] = hooks(op);
    quote! {
        ::sutura_ir::op_def::OpDef {
            name: #name,
            summary: #summary,
            description: #description,
            type_vars: &[#(#vars),*],
            operands: &[#(#operands),*],
            results: &[#(#results),*],
            attrs: &[#(#attrs),*],
            regions: &[#(#regions),*],
            successors: &[#(#successors),*],
            traits: ::sutura_ir::op_def::Traits::NONE #(.with(::sutura_ir::op_def::Traits::#traits))*,
            parents: &[#(#parents),*],
            default_dialect: #default_dialect,
            implicit_terminator: #implicit_terminator,
            format: #format,
            verify: #verify,
            verify_regions: #verify_regions,
            fold: #fold,
            infer: #infer,
            canonicalize: #canonicalize,
        }
    }
}

fn option<T: quote::ToTokens>(value: Option<T>) -> TokenStream {
    match value {
        Some(value) => quote! { ::core::option::Option::Some(#value) },
        None => quote! { ::core::option::Option::None },
    }
}

fn hooks(op: &OpModel) -> [TokenStream; 5] {
    let ident = &op.ident;
    [
        ("verify", "Verify", "verify"),
        ("verify_regions", "VerifyRegions", "verify_regions"),
        ("fold", "Fold", "fold"),
        ("infer", "InferTypes", "infer"),
        ("canonicalize", "Canonicalize", "patterns"),
    ]
    .map(|(flag, interface, method)| {
        let found = op.args.hooks.iter().find(|h| *h == flag);
        option(found.map(|hook| {
            // The flag's span, so that a missing implementation is reported there.
            let interface = syn::Ident::new(interface, hook.span());
            let method = syn::Ident::new(method, hook.span());
            let of_op = quote! { <#ident<'static> as ::sutura_ir::op_def::#interface> };
            match flag {
                "infer" => quote! {
                    ::sutura_ir::op_def::InferDef { types: #of_op::infer, compatible: #of_op::are_compatible }
                },
                _ => quote! { #of_op::#method },
            }
        }))
    })
}

fn type_constraint(path: &Path) -> TokenStream {
    quote! { <#path as ::sutura_ir::op_def::TypeConstraintDef>::CONSTRAINT }
}

fn attr_constraint(path: &Path) -> TokenStream {
    quote! { <#path as ::sutura_ir::op_def::AttrConstraintDef>::CONSTRAINT }
}

fn arity_tokens(arity: Arity) -> TokenStream {
    match arity {
        Arity::Single => quote! { ::sutura_ir::op_def::Arity::Single },
        Arity::Optional => quote! { ::sutura_ir::op_def::Arity::Optional },
        Arity::Variadic => quote! { ::sutura_ir::op_def::Arity::Variadic },
    }
}

fn value_def(op: &OpModel, field: &Field, arity: Arity, constraint: &Constraint) -> TokenStream {
    let name = &field.name;
    let arity = arity_tokens(arity);
    let (path, var) = match constraint {
        Constraint::Named(path) => (path, None),
        Constraint::Var(i) => (&op.vars[*i].constraint, Some(*i)),
    };
    let (constraint, var) = (type_constraint(path), option(var));
    quote! { ::sutura_ir::op_def::ValueDef { name: #name, arity: #arity, constraint: #constraint, var: #var } }
}

fn attr_def(field: &Field) -> Option<TokenStream> {
    let name = &field.name;
    let (constraint, optional, default, elide_default) = match &field.kind {
        FieldKind::Attr { constraint, optional, default, elide_default, .. } => {
            (constraint.clone(), *optional, default.as_deref(), *elide_default)
        }
        FieldKind::Flag { .. } => (unit_attr(), true, None, false),
        _ => return None,
    };
    let default = option(default.map(|expr| {
        quote! {
            |cx: &::sutura_ir::Context| -> ::sutura_ir::Attr {
                <#constraint as ::sutura_ir::op_def::AttrConstraintDef>::set(cx, #expr)
            }
        }
    }));
    let constraint = attr_constraint(&constraint);
    Some(quote! {
        ::sutura_ir::op_def::AttrDef {
            name: #name,
            constraint: #constraint,
            optional: #optional,
            default: #default,
            elide_default: #elide_default,
        }
    })
}

pub(crate) fn unit_attr() -> Path {
    syn::parse_quote! { ::sutura_ir::constraints::UnitAttr }
}

fn group_def(kind: &str, field: &Field, arity: Arity) -> TokenStream {
    let (kind, name, arity) = (format_ident!("{kind}"), &field.name, arity_tokens(arity));
    quote! { ::sutura_ir::op_def::#kind { name: #name, arity: #arity } }
}

// ---- accessors

/// Where the next group of each kind stands, while going through the fields.
#[derive(Default)]
struct Position {
    operands: Groups,
    results: Groups,
    attrs: usize,
    regions: usize,
    successors: usize,
}

/// Groups met so far, and whether all were single, so that the group's number is the value's.
#[derive(Default)]
struct Groups {
    count: usize,
    open: bool,
}

impl Groups {
    /// Number of the group, and true when its place follows from the declaration alone.
    fn next(&mut self, arity: Arity) -> (usize, bool) {
        let at = (self.count, !self.open);
        self.count += 1;
        self.open |= arity != Arity::Single;
        at
    }
}

fn accessors(op: &OpModel) -> TokenStream {
    let mut at = Position::default();
    op.fields.iter().map(|field| accessor(field, &mut at)).collect()
}

fn accessor(field: &Field, at: &mut Position) -> TokenStream {
    let (ident, docs) = (&field.ident, &field.docs);
    let body = match &field.kind {
        FieldKind::Operand(arity, _) => {
            let (group, fixed) = at.operands.next(*arity);
            values("operand", *arity, group, fixed, field)
        }
        FieldKind::Result(arity, _) => {
            let (group, fixed) = at.results.next(*arity);
            values("result", *arity, group, fixed, field)
        }
        FieldKind::Attr { constraint, optional, default, .. } => {
            at.attrs += 1;
            attr(constraint, *optional, default.as_deref(), at.attrs - 1, field)
        }
        FieldKind::Flag { .. } => {
            at.attrs += 1;
            let index = at.attrs - 1;
            quote! { pub fn #ident(self) -> bool { self.0.prop_at(#index).is_some() } }
        }
        FieldKind::Region(arity) => {
            at.regions += 1;
            region(*arity, at.regions - 1, field)
        }
        FieldKind::Successor(arity) => {
            at.successors += 1;
            successor(*arity, at.successors - 1, field)
        }
    };
    quote! { #(#docs)* #body }
}

fn values(what: &str, arity: Arity, group: usize, fixed: bool, field: &Field) -> TokenStream {
    let ident = &field.ident;
    let one = format_ident!("{what}");
    let first = format_ident!("{what}_of");
    let many = format_ident!("{what}s_of");
    match arity {
        Arity::Single if fixed => quote! { pub fn #ident(self) -> ::sutura_ir::Value { self.0.#one(#group) } },
        Arity::Single => quote! {
            pub fn #ident(self) -> ::sutura_ir::Value {
                self.0.#first(#group).expect("the op fits its declaration")
            }
        },
        Arity::Optional => quote! {
            pub fn #ident(self) -> ::core::option::Option<::sutura_ir::Value> { self.0.#first(#group) }
        },
        Arity::Variadic => quote! {
            pub fn #ident(
                self,
            ) -> impl ::core::iter::ExactSizeIterator<Item = ::sutura_ir::Value>
                + ::core::iter::DoubleEndedIterator
                + ::core::clone::Clone
                + 'a {
                self.0.#many(#group)
            }
        },
    }
}

fn attr(constraint: &Path, optional: bool, default: Option<&syn::Expr>, index: usize, field: &Field) -> TokenStream {
    let ident = &field.ident;
    let raw = format_ident!("{}_attr", ident.unraw());
    let def = quote! { <#constraint as ::sutura_ir::op_def::AttrConstraintDef> };
    let raw_doc = format!("The attribute `{}` itself.", field.name);
    if optional {
        return quote! {
            pub fn #ident(self) -> ::core::option::Option<#def::Get<'a>> {
                #def::get(self.0.cx, self.0.prop_at(#index)?)
            }
            #[doc = #raw_doc]
            pub fn #raw(self) -> ::core::option::Option<::sutura_ir::Attr> {
                self.0.prop_at(#index)
            }
        };
    }
    let value = match default {
        Some(expr) => quote! { self.0.prop_at(#index).unwrap_or_else(|| #def::set(self.0.cx, #expr)) },
        None => quote! { self.0.prop_at(#index).expect("the op fits its declaration") },
    };
    quote! {
        pub fn #ident(self) -> #def::Get<'a> {
            #def::get(self.0.cx, self.#raw()).expect("the op fits its declaration")
        }
        #[doc = #raw_doc]
        pub fn #raw(self) -> ::sutura_ir::Attr {
            #value
        }
    }
}

fn region(arity: Arity, index: usize, field: &Field) -> TokenStream {
    let ident = &field.ident;
    if arity == Arity::Single {
        return quote! {
            pub fn #ident(self) -> ::sutura_ir::RegionRef<'a> {
                self.0.region(#index).expect("the op fits its declaration")
            }
        };
    }
    quote! {
        pub fn #ident(
            self,
        ) -> impl ::core::iter::Iterator<Item = ::sutura_ir::RegionRef<'a>> + ::core::clone::Clone + 'a {
            self.0.regions().skip(#index)
        }
    }
}

fn successor(arity: Arity, index: usize, field: &Field) -> TokenStream {
    let ident = &field.ident;
    if arity == Arity::Single {
        return quote! { pub fn #ident(self) -> ::sutura_ir::Block { self.0.successors()[#index] } };
    }
    quote! { pub fn #ident(self) -> &'a [::sutura_ir::Block] { &self.0.successors()[#index..] } }
}
