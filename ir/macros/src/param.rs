//! `#[ty]` and `#[attr]`: a dialect's type or attribute declared as a struct of its parameters.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Error, Expr, Ident, LitStr, Result, Token};

use crate::model::{check_op_name, doc_line, documentation};
use crate::param_format::{Element, Format};

/// Quotes with names that cannot clash with the user's.
macro_rules! quote {
    ($($tokens:tt)*) => { quote_spanned! { Span::mixed_site() => $($tokens)* } };
}

/// What is declared.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Type,
    Attr,
}

/// `"dialect.name", format = "…", property = "…", verify`
pub(crate) struct Args {
    name: LitStr,
    format: Option<LitStr>,
    property: Option<LitStr>,
    verify: Option<Ident>,
}

impl Parse for Args {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let name: LitStr =
            input.parse().map_err(|e| Error::new(e.span(), "expected the name, as in \"dialect.name\""))?;
        check_op_name(&name)?;
        let mut args = Self { name, format: None, property: None, verify: None };
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if input.is_empty() {
                break;
            }
            let key: Ident = input.parse()?;
            match key.to_string().as_str() {
                "format" if args.format.is_none() => {
                    input.parse::<Token![=]>()?;
                    args.format = Some(input.parse()?);
                }
                "property" if args.property.is_none() => {
                    input.parse::<Token![=]>()?;
                    args.property = Some(input.parse()?);
                }
                "verify" if args.verify.is_none() => args.verify = Some(key),
                "format" | "property" | "verify" => {
                    return Err(Error::new(key.span(), format!("`{key}` is given twice")));
                }
                _ => {
                    let message =
                        format!("unknown argument `{key}`; known are `format`, `property` and the flag `verify`");
                    return Err(Error::new(key.span(), message));
                }
            }
        }
        Ok(args)
    }
}

/// A parameter.
pub(crate) struct Param {
    pub(crate) ident: Ident,
    pub(crate) name: String,
    ty: syn::Type,
    docs: Vec<syn::Attribute>,
    doc_text: String,
    pub(crate) absence: Absence,
}

/// What it means that a parameter is not written.
pub(crate) enum Absence {
    /// It must be written.
    No,
    /// `None`, of the `Option` of this type.
    None(Box<syn::Type>),
    /// A list without elements.
    Empty,
    /// This value.
    Default(Box<Expr>),
}

pub(crate) fn expand(kind: Kind, args: &Args, item: syn::ItemStruct) -> Result<TokenStream> {
    let (docs, doc_text) = documentation(&item)?;
    if let Some(property) = args.property.as_ref().filter(|_| kind == Kind::Type) {
        return Err(Error::new(property.span(), "only an attribute can be a property of tensor types"));
    }
    let params: Vec<Param> = match item.fields {
        syn::Fields::Named(named) => named.named.into_iter().map(param).collect::<Result<_>>()?,
        syn::Fields::Unit => Vec::new(),
        syn::Fields::Unnamed(other) => {
            return Err(Error::new(other.span(), "parameters need names: write `{ elem: Type, … }`"));
        }
    };
    let default_format = LitStr::new(if params.is_empty() { "" } else { "`<` params `>`" }, args.name.span());
    let text = args.format.as_ref().unwrap_or(&default_format);
    let format = Format::parse(text, &params)?;
    let (vis, ident) = (&item.vis, &item.ident);
    let fields = params.iter().map(|p| {
        let (docs, ident, ty) = (&p.docs, &p.ident, &p.ty);
        quote! { #(#docs)* pub #ident: #ty }
    });
    let param_value = param_value(args, ident, &format, &params);
    let parse = parse_fn(ident, &format, &params);
    let constraint = constraint(kind, ident, &args.name);
    let get = get_fn(kind, ident, &params);
    let def = def(kind, &args.name, ident, &doc_text, text, &params);
    Ok(quote! {
        #(#docs)*
        #[derive(Clone, PartialEq, Eq, Hash, Debug)]
        #vis struct #ident { #(#fields),* }

        #param_value
        #constraint
        #def

        #[allow(dead_code, unreachable_pub, clippy::too_many_arguments)]
        impl #ident {
            #get
            #parse
        }
    })
}

fn param(field: syn::Field) -> Result<Param> {
    let ident = field.ident.clone().expect("fields are named");
    let (mut docs, mut doc_text, mut default) = (Vec::new(), String::new(), None);
    for attr in field.attrs {
        if attr.path().is_ident("default") {
            default = Some(attr.parse_args::<Expr>()?);
        } else if let Some(line) = doc_line(&attr) {
            doc_text.push_str(line.trim());
            doc_text.push(' ');
            docs.push(attr);
        } else {
            return Err(Error::new(attr.span(), "expected `#[default(…)]` or a doc comment"));
        }
    }
    let absence = match (default, generic(&field.ty)) {
        (Some(default), _) => Absence::Default(Box::new(default)),
        (None, Some((head, inner))) if head == "Option" => Absence::None(Box::new(inner)),
        (None, Some((head, _))) if head == "Vec" => Absence::Empty,
        _ => Absence::No,
    };
    let name = ident.unraw().to_string();
    Ok(Param { ident, name, ty: field.ty, docs, doc_text: doc_text.trim().to_string(), absence })
}

/// `Head<Inner>`
fn generic(ty: &syn::Type) -> Option<(Ident, syn::Type)> {
    let syn::Type::Path(path) = ty else { return None };
    let segment = path.path.segments.last()?;
    let syn::PathArguments::AngleBracketed(list) = &segment.arguments else { return None };
    match list.args.first()? {
        syn::GenericArgument::Type(inner) if list.args.len() == 1 => Some((segment.ident.clone(), inner.clone())),
        _ => None,
    }
}

impl Param {
    /// The type that is read and written.
    fn inner(&self) -> &syn::Type {
        match &self.absence {
            Absence::None(inner) => inner,
            _ => &self.ty,
        }
    }

    /// Whether it is written, of the place `value`.
    fn present(&self, value: &TokenStream) -> TokenStream {
        match &self.absence {
            Absence::No => quote! { true },
            Absence::None(_) => quote! { #value.is_some() },
            Absence::Empty => quote! { !#value.is_empty() },
            Absence::Default(default) => quote! { #value != #default },
        }
    }
}

fn param_value(args: &Args, ident: &Ident, format: &Format, params: &[Param]) -> TokenStream {
    let name = &args.name;
    let print: Vec<TokenStream> = format.elements.iter().map(|e| print_step(e, params)).collect();
    let verify = args.verify.as_ref().map(|flag| {
        // The flag's span, so that a missing implementation is reported there.
        let interface = quote_spanned! { flag.span() => ::sutura_ir::ext::VerifyParams };
        let call = quote! { <Self as #interface>::verify_params(self, cx) };
        quote! {
            fn verify(&self, cx: &::sutura_ir::Context) -> ::core::result::Result<(), ::std::string::String> { #call }
        }
    });
    let property = args.property.as_ref().map(|property| {
        quote! {
            const PROPERTY: ::core::option::Option<&'static str> = ::core::option::Option::Some(#property);
        }
    });
    quote! {
        impl ::sutura_ir::ext::ParamValue for #ident {
            const NAME: &'static str = #name;
            #property

            #[allow(unused_variables)]
            fn print(&self, cx: &::sutura_ir::Context, out: &mut dyn ::core::fmt::Write) -> ::core::fmt::Result {
                #(#print)*
                ::core::result::Result::Ok(())
            }
            #verify
        }
    }
}

fn blank(before: bool) -> Option<TokenStream> {
    before.then(|| quote! { out.write_char(' ')?; })
}

fn print_step(element: &Element, params: &[Param]) -> TokenStream {
    match element {
        Element::Literal { text, blank: before } => {
            let blank = blank(*before);
            quote! { #blank out.write_str(#text)?; }
        }
        Element::Param { index, blank: before } => {
            let (blank, value) = (blank(*before), print_param(&params[*index]));
            quote! { #blank #value }
        }
        Element::Group { elements, anchor } => {
            let (ident, steps) = (&params[*anchor].ident, elements.iter().map(|e| print_step(e, params)));
            let present = params[*anchor].present(&quote! { self.#ident });
            quote! { if #present { #(#steps)* } }
        }
        Element::Struct { params: list, blank: before } => {
            let blank = blank(*before);
            let fields = list.iter().map(|i| {
                let param = &params[*i];
                let (ident, name, value) = (&param.ident, format!("{} = ", param.name), print_param(param));
                let present = param.present(&quote! { self.#ident });
                quote! {
                    if #present {
                        if !::core::mem::take(&mut first) { out.write_str(", ")?; }
                        out.write_str(#name)?;
                        #value
                    }
                }
            });
            quote! { #blank { let mut first = true; #(#fields)* } }
        }
    }
}

fn print_param(param: &Param) -> TokenStream {
    let (ident, ty) = (&param.ident, param.inner());
    let print = quote_spanned! { ty.span() => <#ty as ::sutura_ir::ext::Param>::print };
    match param.absence {
        Absence::None(_) => quote! {
            if let ::core::option::Option::Some(value) = &self.#ident { #print(value, cx, out)?; }
        },
        _ => quote! { #print(&self.#ident, cx, out)?; },
    }
}

fn parse_fn(ident: &Ident, format: &Format, params: &[Param]) -> TokenStream {
    let locals: Vec<Ident> =
        params.iter().map(|p| Ident::new(&format!("param_{}", p.name), Span::mixed_site())).collect();
    let declare = params.iter().zip(&locals).map(|(param, local)| {
        let ty = param.inner();
        quote! { #[allow(unused_assignments)] let mut #local: ::core::option::Option<#ty> = ::core::option::Option::None; }
    });
    let steps = format.elements.iter().map(|e| parse_step(e, params, &locals));
    let values = params.iter().zip(&locals).map(|(param, local)| {
        let ident = &param.ident;
        let value = match &param.absence {
            Absence::No => quote! { #local.expect("the format writes it") },
            Absence::None(_) => quote! { #local },
            Absence::Empty => quote! { #local.unwrap_or_default() },
            Absence::Default(default) => quote! { #local.unwrap_or_else(|| #default) },
        };
        quote! { #ident: #value }
    });
    quote! {
        /// Reads the parameters, as its format says, and checks them.
        ///
        /// # Errors
        /// When they are malformed, or do not fit each other.
        pub fn parse_params(
            p: &mut dyn ::sutura_ir::asm::parse::ParamParser,
        ) -> ::core::result::Result<Self, ::sutura_ir::Reported> {
            #(#declare)*
            #(#steps)*
            let value = #ident { #(#values),* };
            let (start, checked) = (p.start(), ::sutura_ir::ext::ParamValue::verify(&value, p.cx()));
            match checked {
                ::core::result::Result::Ok(()) => ::core::result::Result::Ok(value),
                ::core::result::Result::Err(message) => ::core::result::Result::Err(p.error_at(start, &message)),
            }
        }
    }
}

fn parse_step(element: &Element, params: &[Param], locals: &[Ident]) -> TokenStream {
    let read = |index: usize| {
        let (ty, local) = (params[index].inner(), &locals[index]);
        let parse = quote_spanned! { ty.span() => <#ty as ::sutura_ir::ext::Param>::parse };
        quote! { #local = ::core::option::Option::Some(#parse(p)?); }
    };
    match element {
        Element::Literal { text, .. } if is_word(text) => quote! { p.keyword(#text)?; },
        Element::Literal { text, .. } => quote! { p.punct(#text)?; },
        Element::Param { index, .. } => read(*index),
        Element::Group { elements, .. } => {
            let rest = elements[1..].iter().map(|e| parse_step(e, params, locals));
            match &elements[0] {
                Element::Literal { text, .. } => {
                    let there = if is_word(text) {
                        quote! { p.opt_keyword(#text) }
                    } else {
                        quote! { p.opt_punct(#text) }
                    };
                    quote! { if #there { #(#rest)* } }
                }
                Element::Param { index, .. } => {
                    let (ty, local) = (params[*index].inner(), &locals[*index]);
                    quote! {
                        #local = <#ty as ::sutura_ir::ext::Param>::opt_parse(p)?;
                        if #local.is_some() { #(#rest)* }
                    }
                }
                // The format's check lets no other element begin a group.
                Element::Group { .. } | Element::Struct { .. } => TokenStream::new(),
            }
        }
        Element::Struct { params: list, .. } => parse_struct(list, params, locals),
    }
}

/// `name = value` in any order, separated by commas.
fn parse_struct(list: &[usize], params: &[Param], locals: &[Ident]) -> TokenStream {
    let arms = list.iter().map(|i| {
        let (ty, local, name) = (params[*i].inner(), &locals[*i], &params[*i].name);
        let twice = format!("parameter '{name}' is given twice");
        quote! {
            #name => {
                if #local.is_some() {
                    return ::core::result::Result::Err(p.error_at(loc, #twice));
                }
                p.punct("=")?;
                #local = ::core::option::Option::Some(<#ty as ::sutura_ir::ext::Param>::parse(p)?);
            }
        }
    });
    let needed = list.iter().filter(|i| matches!(params[**i].absence, Absence::No)).map(|i| {
        let (local, message) = (&locals[*i], format!("parameter '{}' is missing", params[*i].name));
        quote! { if #local.is_none() { return ::core::result::Result::Err(p.error(#message)); } }
    });
    let known: Vec<&str> = list.iter().map(|i| params[*i].name.as_str()).collect();
    let unknown = format!("expected one of the parameters: {}", known.join(", "));
    quote! {
        let mut first = true;
        loop {
            let loc = p.loc();
            let ::core::option::Option::Some(name) = p.opt_any_keyword() else {
                if first { break; }
                return ::core::result::Result::Err(p.error_at(loc, #unknown));
            };
            first = false;
            match name.as_str() {
                #(#arms)*
                _ => return ::core::result::Result::Err(p.error_at(loc, #unknown)),
            }
            if !p.opt_punct(",") { break; }
        }
        #(#needed)*
    }
}

pub(crate) fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic())
}

fn get_fn(kind: Kind, ident: &Ident, params: &[Param]) -> TokenStream {
    let (handle, intern, read) = match kind {
        Kind::Type => (quote! { ::sutura_ir::Type }, quote! { ext_type }, quote! { type_as }),
        Kind::Attr => (quote! { ::sutura_ir::Attr }, quote! { ext_attr }, quote! { attr_as }),
    };
    let (names, types): (Vec<&Ident>, Vec<&syn::Type>) = params.iter().map(|p| (&p.ident, &p.ty)).unzip();
    quote! {
        /// The interned value with these parameters, which are not checked.
        pub fn get(cx: &::sutura_ir::Context, #(#names: #types),*) -> #handle {
            cx.#intern(#ident { #(#names),* })
        }

        /// The parameters, if it is one.
        pub fn of(cx: &::sutura_ir::Context, handle: #handle) -> ::core::option::Option<&Self> {
            cx.#read::<Self>(handle)
        }
    }
}

/// Lets the type name its own constraint.
fn constraint(kind: Kind, ident: &Ident, name: &LitStr) -> TokenStream {
    let rust_name = ident.to_string();
    match kind {
        Kind::Type => {
            let description = format!("!{}", name.value());
            quote! {
                impl ::sutura_ir::op_def::TypeConstraintDef for #ident {
                    const CONSTRAINT: ::sutura_ir::op_def::TypeConstraint = ::sutura_ir::op_def::TypeConstraint {
                        name: #rust_name,
                        description: #description,
                        check: |cx, ty| cx.type_as::<#ident>(ty).is_some(),
                        only: ::core::option::Option::None,
                    };
                }
            }
        }
        Kind::Attr => {
            let description = format!("#{} attribute", name.value());
            quote! {
                impl ::sutura_ir::op_def::AttrConstraintDef for #ident {
                    type Get<'a> = &'a #ident;
                    type Set<'a> = #ident;
                    const CONSTRAINT: ::sutura_ir::op_def::AttrConstraint = ::sutura_ir::op_def::AttrConstraint {
                        name: #rust_name,
                        description: #description,
                        check: |cx, attr| cx.attr_as::<#ident>(attr).is_some(),
                        syntax: ::sutura_ir::op_def::AttrSyntax::Plain,
                    };
                    fn get(cx: &::sutura_ir::Context, attr: ::sutura_ir::Attr) -> ::core::option::Option<&#ident> {
                        cx.attr_as::<#ident>(attr)
                    }
                    fn set(cx: &::sutura_ir::Context, value: #ident) -> ::sutura_ir::Attr {
                        cx.ext_attr(value)
                    }
                }
            }
        }
    }
}

fn def(kind: Kind, name: &LitStr, ident: &Ident, doc: &str, format: &LitStr, params: &[Param]) -> TokenStream {
    let summary = doc.lines().next().unwrap_or_default().trim();
    let params = params.iter().map(|p| {
        let (name, doc, ty) = (&p.name, &p.doc_text, &p.ty);
        let (ty, optional) = (quote::quote! { #ty }.to_string().replace(' ', ""), !matches!(p.absence, Absence::No));
        quote! { ::sutura_ir::ext::ParamInfo { name: #name, ty: #ty, description: #doc, optional: #optional } }
    });
    let (interface, handle, intern) = match kind {
        Kind::Type => (quote! { DialectType }, quote! { ::sutura_ir::Type }, quote! { ext_type }),
        Kind::Attr => (quote! { DialectAttr }, quote! { ::sutura_ir::Attr }, quote! { ext_attr }),
    };
    quote! {
        impl ::sutura_ir::ext::#interface for #ident {
            const DEF: ::sutura_ir::ext::ParamDef = ::sutura_ir::ext::ParamDef {
                name: #name,
                summary: #summary,
                description: #doc,
                format: #format,
                params: &[#(#params),*],
            };
            fn parse(
                p: &mut dyn ::sutura_ir::asm::parse::ParamParser,
            ) -> ::core::result::Result<#handle, ::sutura_ir::Reported> {
                let value = #ident::parse_params(p)?;
                ::core::result::Result::Ok(p.cx().#intern(value))
            }
        }
    }
}
