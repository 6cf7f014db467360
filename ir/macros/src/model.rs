//! What the user wrote: arguments and fields of a declaration, checked and sorted.

use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Error, Expr, Ident, LitStr, Path, Result, Token};

/// `"dialect.name", key = …, key(…), flag`
pub(crate) struct OpArgs {
    pub(crate) name: LitStr,
    pub(crate) traits: Vec<Ident>,
    pub(crate) parents: Vec<LitStr>,
    pub(crate) format: Option<LitStr>,
    pub(crate) default_dialect: Option<LitStr>,
    pub(crate) implicit_terminator: Option<LitStr>,
    pub(crate) hooks: Vec<Ident>,
}

/// Flags that stand for a hand-written implementation of a trait.
const HOOKS: [&str; 5] = ["verify", "verify_regions", "fold", "infer", "canonicalize"];

impl Parse for OpArgs {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let name: LitStr =
            input.parse().map_err(|e| Error::new(e.span(), "expected the op's name, as in \"arith.addi\""))?;
        check_op_name(&name)?;
        let mut args = Self {
            name,
            traits: Vec::new(),
            parents: Vec::new(),
            format: None,
            default_dialect: None,
            implicit_terminator: None,
            hooks: Vec::new(),
        };
        let mut seen: Vec<Ident> = Vec::new();
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if input.is_empty() {
                break;
            }
            let key: Ident = input.parse()?;
            if seen.contains(&key) {
                return Err(Error::new(key.span(), format!("`{key}` is given twice")));
            }
            args.argument(&key, input)?;
            seen.push(key);
        }
        Ok(args)
    }
}

impl OpArgs {
    fn argument(&mut self, key: &Ident, input: ParseStream<'_>) -> Result<()> {
        match key.to_string().as_str() {
            "traits" => self.traits = list(input)?,
            "parents" => self.parents = list(input)?,
            "format" => self.format = Some(value(input)?),
            "default_dialect" => self.default_dialect = Some(value(input)?),
            "implicit_terminator" => self.implicit_terminator = Some(value(input)?),
            flag if HOOKS.contains(&flag) => self.hooks.push(key.clone()),
            _ => {
                return Err(Error::new(
                    key.span(),
                    format!(
                        "unknown argument `{key}`; known are `traits`, `format`, `parents`, `default_dialect`, \
                         `implicit_terminator` and the flags `{}`",
                        HOOKS.join("`, `")
                    ),
                ));
            }
        }
        Ok(())
    }

    pub(crate) fn has_trait(&self, name: &str) -> bool {
        self.traits.iter().any(|t| t == name)
    }

    pub(crate) fn has_hook(&self, name: &str) -> bool {
        self.hooks.iter().any(|h| h == name)
    }
}

fn list<T: Parse>(input: ParseStream<'_>) -> Result<Vec<T>> {
    let inside;
    syn::parenthesized!(inside in input);
    Ok(Punctuated::<T, Token![,]>::parse_terminated(&inside)?.into_iter().collect())
}

fn value(input: ParseStream<'_>) -> Result<LitStr> {
    input.parse::<Token![=]>()?;
    input.parse()
}

pub(crate) fn check_op_name(name: &LitStr) -> Result<()> {
    let text = name.value();
    let words = |s: &str| !s.is_empty() && s.chars().all(|c| c.is_ascii_alphanumeric() || "_.$".contains(c));
    match text.split_once('.') {
        Some((dialect, op)) if words(dialect) && words(op) => Ok(()),
        _ => Err(Error::new(name.span(), format!("`{text}` is no name: expected \"dialect.name\""))),
    }
}

/// How many values, regions or successors a field stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Arity {
    Single,
    Optional,
    Variadic,
}

/// What a type field must fulfil: a constraint, or the variable of that index.
pub(crate) enum Constraint {
    Named(Path),
    Var(usize),
}

pub(crate) enum FieldKind {
    Operand(Arity, Constraint),
    Result(Arity, Constraint),
    /// Constructors take it when it is `given`.
    Attr {
        constraint: Path,
        optional: bool,
        default: Option<Box<Expr>>,
        /// The generic form leaves the default out.
        elide_default: bool,
        given: bool,
    },
    Flag {
        given: bool,
    },
    Region(Arity),
    Successor(Arity),
}

pub(crate) struct Field {
    /// Name of accessor and parameter.
    pub(crate) ident: Ident,
    /// Name in the text.
    pub(crate) name: String,
    pub(crate) docs: Vec<syn::Attribute>,
    pub(crate) kind: FieldKind,
}

/// A constraint variable: a generic parameter with its bound.
pub(crate) struct TypeVar {
    pub(crate) ident: Ident,
    pub(crate) constraint: Path,
}

/// A whole declaration.
pub(crate) struct OpModel {
    pub(crate) args: OpArgs,
    pub(crate) vis: syn::Visibility,
    pub(crate) ident: Ident,
    pub(crate) docs: Vec<syn::Attribute>,
    pub(crate) doc_text: String,
    pub(crate) vars: Vec<TypeVar>,
    pub(crate) fields: Vec<Field>,
}

impl OpModel {
    pub(crate) fn new(args: OpArgs, item: syn::ItemStruct) -> Result<Self> {
        let (docs, doc_text) = documentation(&item)?;
        let vars = type_vars(&item.generics)?;
        let fields: Vec<Field> = match item.fields {
            syn::Fields::Named(named) => named.named.into_iter().map(|f| field(f, &vars)).collect::<Result<_>>()?,
            syn::Fields::Unit => Vec::new(),
            syn::Fields::Unnamed(other) => {
                return Err(Error::new(
                    other.span(),
                    "operands, results and attributes need names: write `{ lhs: Operand<…>, … }`",
                ));
            }
        };
        check_unused_vars(&vars, &fields)?;
        check_names(&fields)?;
        check_groups(&args, &fields)?;
        Ok(Self { args, vis: item.vis, ident: item.ident, docs, doc_text, vars, fields })
    }

    /// Operand groups, in order.
    pub(crate) fn operands(&self) -> impl Iterator<Item = (&Field, Arity, &Constraint)> {
        self.fields.iter().filter_map(|f| match &f.kind {
            FieldKind::Operand(arity, c) => Some((f, *arity, c)),
            _ => None,
        })
    }

    /// Result groups, in order.
    pub(crate) fn results(&self) -> impl Iterator<Item = (&Field, Arity, &Constraint)> {
        self.fields.iter().filter_map(|f| match &f.kind {
            FieldKind::Result(arity, c) => Some((f, *arity, c)),
            _ => None,
        })
    }
}

/// Doc comments of the struct and their text; any other attribute is refused.
pub(crate) fn documentation(item: &syn::ItemStruct) -> Result<(Vec<syn::Attribute>, String)> {
    let mut text = String::new();
    for attr in &item.attrs {
        let Some(line) = doc_line(attr) else {
            return Err(Error::new(attr.span(), "only doc comments may stand on a declaration"));
        };
        text.push_str(line.strip_prefix(' ').unwrap_or(&line));
        text.push('\n');
    }
    if text.trim().is_empty() {
        return Err(Error::new(
            item.ident.span(),
            "a declaration needs a doc comment: its first line is the summary that tools show",
        ));
    }
    Ok((item.attrs.clone(), text.trim().to_string()))
}

pub(crate) fn doc_line(attr: &syn::Attribute) -> Option<String> {
    let syn::Meta::NameValue(meta) = &attr.meta else { return None };
    let Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = &meta.value else { return None };
    meta.path.is_ident("doc").then(|| text.value())
}

fn type_vars(generics: &syn::Generics) -> Result<Vec<TypeVar>> {
    let vars = generics.params.iter().map(|param| {
        let syn::GenericParam::Type(param) = param else {
            return Err(Error::new(
                param.span(),
                "only constraint variables (`T: Constraint`) may be parameters of an op",
            ));
        };
        let mut bounds = param.bounds.iter();
        match (bounds.next(), bounds.next()) {
            (Some(syn::TypeParamBound::Trait(bound)), None) => {
                Ok(TypeVar { ident: param.ident.clone(), constraint: bound.path.clone() })
            }
            _ => Err(Error::new(
                param.ident.span(),
                format!("a constraint variable needs exactly one bound, as in `{}: AnyType`", param.ident),
            )),
        }
    });
    vars.collect()
}

fn field(field: syn::Field, vars: &[TypeVar]) -> Result<Field> {
    let ident = field.ident.clone().expect("fields are named");
    let (mut docs, mut name, mut default, mut absent) = (Vec::new(), None, None, None);
    for attr in field.attrs {
        if attr.path().is_ident("name") {
            name = Some(attr.parse_args::<LitStr>()?.value());
        } else if attr.path().is_ident("absent") {
            attr.meta.require_path_only()?;
            absent = Some(attr.span());
        } else if attr.path().is_ident("default") {
            default = Some((attr.span(), attr.parse_args::<Expr>()?));
        } else if doc_line(&attr).is_some() {
            docs.push(attr);
        } else {
            return Err(Error::new(
                attr.span(),
                "expected `#[name(\"…\")]`, `#[default(…)]`, `#[absent]` or a doc comment",
            ));
        }
    }
    let mut kind = field_kind(&field.ty, vars)?;
    if let Some((span, expr)) = default {
        set_default(&mut kind, span, expr)?;
    }
    if let Some(span) = absent {
        set_absent(&mut kind, span)?;
    }
    let name = name.unwrap_or_else(|| ident.unraw().to_string());
    Ok(Field { ident, name, docs, kind })
}

fn set_default(kind: &mut FieldKind, span: Span, expr: Expr) -> Result<()> {
    match kind {
        FieldKind::Attr { optional: false, default, given, .. } => {
            (*default, *given) = (Some(Box::new(expr)), false);
            Ok(())
        }
        _ => Err(Error::new(span, "`#[default(…)]` belongs on an `Attr<…>` field")),
    }
}

fn set_absent(kind: &mut FieldKind, span: Span) -> Result<()> {
    match kind {
        FieldKind::Attr { optional: true, given, .. } | FieldKind::Flag { given } => {
            *given = false;
            Ok(())
        }
        FieldKind::Attr { default: Some(_), elide_default, .. } => {
            *elide_default = true;
            Ok(())
        }
        _ => Err(Error::new(span, "`#[absent]` belongs on an `OptAttr<…>`, a `Flag` or beside `#[default(…)]`")),
    }
}

fn field_kind(ty: &syn::Type, vars: &[TypeVar]) -> Result<FieldKind> {
    let (head, argument) = split_type(ty)?;
    let values = |arity, make: fn(Arity, Constraint) -> FieldKind| {
        let path = needed(&head, argument.clone())?;
        let var = path.get_ident().and_then(|i| vars.iter().position(|v| v.ident == *i));
        Ok::<_, Error>(make(arity, var.map_or(Constraint::Named(path), Constraint::Var)))
    };
    let kind = match head.to_string().as_str() {
        "Operand" => values(Arity::Single, FieldKind::Operand)?,
        "OptOperand" => values(Arity::Optional, FieldKind::Operand)?,
        "Operands" => values(Arity::Variadic, FieldKind::Operand)?,
        "Res" => values(Arity::Single, FieldKind::Result)?,
        "OptRes" => values(Arity::Optional, FieldKind::Result)?,
        "Results" => values(Arity::Variadic, FieldKind::Result)?,
        "Attr" => FieldKind::Attr {
            constraint: needed(&head, argument)?,
            optional: false,
            default: None,
            elide_default: false,
            given: true,
        },
        "OptAttr" => FieldKind::Attr {
            constraint: needed(&head, argument)?,
            optional: true,
            default: None,
            elide_default: false,
            given: true,
        },
        "Flag" => none(FieldKind::Flag { given: true }, argument)?,
        "Region" => none(FieldKind::Region(Arity::Single), argument)?,
        "Regions" => none(FieldKind::Region(Arity::Variadic), argument)?,
        "Successor" => none(FieldKind::Successor(Arity::Single), argument)?,
        "Successors" => none(FieldKind::Successor(Arity::Variadic), argument)?,
        other => {
            return Err(Error::new(
                head.span(),
                format!(
                    "unknown kind of field `{other}`; known are Operand, OptOperand, Operands, Res, OptRes, Results, \
                     Attr, OptAttr, Flag, Region, Regions, Successor, Successors"
                ),
            ));
        }
    };
    Ok(kind)
}

/// `Kind<Constraint>` or `Kind`.
fn split_type(ty: &syn::Type) -> Result<(Ident, Option<Path>)> {
    let wrong = || Error::new(ty.span(), "expected a kind of field, such as `Operand<AnyType>`");
    let syn::Type::Path(path) = ty else { return Err(wrong()) };
    let segment = path.path.segments.last().ok_or_else(wrong)?;
    let argument = match &segment.arguments {
        syn::PathArguments::None => None,
        syn::PathArguments::AngleBracketed(list) if list.args.len() == 1 => match list.args.first() {
            Some(syn::GenericArgument::Type(syn::Type::Path(p))) => Some(p.path.clone()),
            _ => return Err(Error::new(list.span(), "expected the name of a constraint")),
        },
        other => return Err(Error::new(other.span(), "expected exactly one constraint")),
    };
    Ok((segment.ident.clone(), argument))
}

fn needed(head: &Ident, argument: Option<Path>) -> Result<Path> {
    argument.ok_or_else(|| Error::new(head.span(), format!("`{head}` needs a constraint: `{head}<AnyType>`")))
}

fn none(kind: FieldKind, argument: Option<Path>) -> Result<FieldKind> {
    match argument {
        Some(path) => Err(Error::new(path.span(), "this kind of field takes no constraint")),
        None => Ok(kind),
    }
}

fn check_unused_vars(vars: &[TypeVar], fields: &[Field]) -> Result<()> {
    for (i, var) in vars.iter().enumerate() {
        let used = fields.iter().any(|f| {
            matches!(f.kind, FieldKind::Operand(_, Constraint::Var(v)) | FieldKind::Result(_, Constraint::Var(v)) if v == i)
        });
        if !used {
            return Err(Error::new(
                var.ident.span(),
                format!("no operand or result uses constraint variable `{}`", var.ident),
            ));
        }
    }
    Ok(())
}

/// Names that generated functions take.
const RESERVED: [&str; 6] = ["build", "value", "state", "def", "from_ref", "op_ref"];

fn check_names(fields: &[Field]) -> Result<()> {
    for (i, field) in fields.iter().enumerate() {
        let ident = field.ident.unraw().to_string();
        if RESERVED.contains(&ident.as_str()) {
            return Err(Error::new(
                field.ident.span(),
                format!("`{ident}` is the name of a generated function; use another one with `#[name(\"{ident}\")]`"),
            ));
        }
        if fields[..i].iter().any(|f| f.name == field.name) {
            return Err(Error::new(field.ident.span(), format!("`{}` is declared twice", field.name)));
        }
    }
    Ok(())
}

/// Groups of unknown length must be told apart by segment sizes; regions and successors have none.
fn check_groups(args: &OpArgs, fields: &[Field]) -> Result<()> {
    let several = |which: fn(&FieldKind) -> Option<Arity>| {
        let mut open = fields.iter().filter(|f| which(&f.kind).is_some_and(|a| a != Arity::Single));
        open.nth(1)
    };
    let operand = |k: &FieldKind| if let FieldKind::Operand(a, _) = k { Some(*a) } else { None };
    let result = |k: &FieldKind| if let FieldKind::Result(a, _) = k { Some(*a) } else { None };
    for (what, which, segments) in [
        ("operand", operand as fn(&FieldKind) -> Option<Arity>, "AttrSizedOperandSegments"),
        ("result", result, "AttrSizedResultSegments"),
    ] {
        if let Some(field) = several(which)
            && !args.has_trait(segments)
        {
            return Err(Error::new(
                field.ident.span(),
                format!("a second {what} group of variable length needs `traits({segments})`"),
            ));
        }
    }
    let region = |k: &FieldKind| if let FieldKind::Region(a) = k { Some(*a) } else { None };
    let successor = |k: &FieldKind| if let FieldKind::Successor(a) = k { Some(*a) } else { None };
    for (what, which) in [("Regions", region as fn(&FieldKind) -> Option<Arity>), ("Successors", successor)] {
        let groups: Vec<&Field> = fields.iter().filter(|f| which(&f.kind).is_some()).collect();
        let before_last = groups.len().saturating_sub(1);
        if let Some(field) = groups[..before_last].iter().find(|f| which(&f.kind) == Some(Arity::Variadic)) {
            return Err(Error::new(field.ident.span(), format!("`{what}` must come last among its kind")));
        }
    }
    Ok(())
}
