//! What is known by name: dialects with their operations, types, attributes and interfaces.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use crate::asm::format::Format;
use crate::asm::parse::{DirectiveDef, ParamParser};
use crate::attrs::{Attr, NamedAttr};
use crate::body::{Op, Value};
use crate::builder::Builder;
use crate::context::{Context, Ident};
use crate::diagnostics::{Reported, did_you_mean};
use crate::ext::{DialectAttr, DialectType, ParamDef};
use crate::handle::interned_handle;
use crate::interfaces::WrittenDefaults;
use crate::location::Loc;
use crate::op_def::{AttrDef, OpDef, OpView, Traits};
use crate::types::Type;

interned_handle! {
    /// Name of an operation, registered or not.
    OpName;
}

/// Parses what follows `!dialect.name`.
pub type TypeParser = fn(&mut dyn ParamParser) -> Result<Type, Reported>;
/// Parses what follows `#dialect.name`.
pub type AttrParser = fn(&mut dyn ParamParser) -> Result<Attr, Reported>;
/// Builds the op that stands for a constant of a dialect.
pub type MaterializeFn = fn(&mut Builder<'_>, Loc, Attr, Type) -> Option<Op>;

/// A family of operations, types and attributes under one name.
pub trait Dialect: Send + Sync + 'static {
    /// Prefix of its names.
    const NAME: &'static str;

    /// Adds what the dialect defines.
    fn register(d: &mut DialectBuilder<'_>);
}

/// What is registered about a dialect.
#[derive(Default)]
pub struct DialectInfo {
    /// One paragraph of documentation.
    pub description: &'static str,
    /// True for a subset of a dialect of MLIR: where foreign names are accepted at all, its others are too.
    pub partial: bool,
    /// Operations, by full name, in registration order.
    pub ops: Vec<&'static str>,
    /// Types by mnemonic.
    pub types: IndexMap<&'static str, TypeParser>,
    /// Attributes by mnemonic.
    pub attrs: IndexMap<&'static str, AttrParser>,
    /// Types declared with `#[ty]`.
    pub type_defs: Vec<ParamDef>,
    /// Attributes declared with `#[attr]`.
    pub attr_defs: Vec<ParamDef>,
    /// Custom assembly directives by name.
    pub directives: IndexMap<&'static str, DirectiveDef>,
    /// Builds constants for folded results.
    pub materialize: Option<MaterializeFn>,
    interfaces: Vec<InterfaceEntry>,
}

impl DialectInfo {
    /// The dialect's implementation of an interface: `info.interface::<dyn Inliner>()`.
    pub fn interface<I: ?Sized + Send + Sync + 'static>(&self) -> Option<&'static I> {
        find_interface(&self.interfaces)
    }
}

fn find_interface<I: ?Sized + Send + Sync + 'static>(entries: &[InterfaceEntry]) -> Option<&'static I> {
    let entry = entries.iter().find(|entry| entry.id == TypeId::of::<I>())?;
    entry.implementation.downcast_ref::<&'static I>().copied()
}

/// An interface and its implementation.
#[derive(Clone)]
struct InterfaceEntry {
    id: TypeId,
    /// Its name, for errors.
    name: &'static str,
    implementation: Arc<dyn Any + Send + Sync>,
}

impl InterfaceEntry {
    fn of<I: ?Sized + Send + Sync + 'static>(implementation: &'static I) -> Self {
        Self { id: TypeId::of::<I>(), name: interface_name::<I>(), implementation: Arc::new(implementation) }
    }

    /// Adds it to those of an op or a dialect; a later one of the same interface takes the place of an earlier one.
    fn add_to(self, entries: &mut Vec<Self>) {
        entries.retain(|entry| entry.id != self.id);
        entries.push(self);
    }
}

/// `MemoryEffects` for `dyn sutura_ir::interfaces::MemoryEffects`.
fn interface_name<I: ?Sized>() -> &'static str {
    let path = std::any::type_name::<I>();
    let path = path.split('<').next().unwrap_or(path);
    path.rsplit([':', ' ']).next().unwrap_or(path)
}

#[derive(Default, Clone)]
struct OpEntry {
    def: Option<&'static OpDef>,
    /// Declared by no dialect, and this is meant.
    foreign: bool,
    interfaces: Vec<InterfaceEntry>,
}

/// What is wrong with a [`Registry`]: a mistake in the source of a dialect or of a tool.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RegistryError {
    /// One sentence for each mistake, in the order of registration.
    pub mistakes: Vec<String>,
}

impl std::fmt::Display for RegistryError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.mistakes.join("\n"))
    }
}

impl std::error::Error for RegistryError {}

/// What a [`Context`] will know. A value: `Registry::default().with::<MyDialect>()`.
pub struct Registry {
    dialects: IndexMap<&'static str, DialectInfo>,
    ops: IndexMap<&'static str, OpEntry, FxBuildHasher>,
    /// Dialects that were given an interface, named second, and that were not registered then.
    unknown_dialects: Vec<(String, &'static str)>,
}

impl Default for Registry {
    /// The builtin dialect.
    fn default() -> Self {
        Self::empty().with::<crate::builtin::BuiltinDialect>()
    }
}

impl Registry {
    pub(crate) fn empty() -> Self {
        Self { dialects: IndexMap::new(), ops: IndexMap::default(), unknown_dialects: Vec::new() }
    }

    /// Adds a dialect; one that is there already is not added twice.
    #[must_use]
    pub fn with<D: Dialect>(mut self) -> Self {
        self.add::<D>();
        self
    }

    /// Adds a dialect; one that is there already is not added twice.
    pub fn add<D: Dialect>(&mut self) {
        if !self.dialects.contains_key(D::NAME) {
            self.dialects.insert(D::NAME, DialectInfo::default());
            D::register(&mut DialectBuilder { registry: self, dialect: D::NAME });
        }
    }

    /// Attaches an interface to an op of a dialect, defined there or elsewhere: `attach::<AddOp, dyn Interpret>(&I)`.
    pub fn attach<T, I>(&mut self, implementation: &'static I)
    where
        T: OpView<'static>,
        I: ?Sized + Send + Sync + 'static,
    {
        self.attach_named(T::def().name, implementation);
    }

    /// Attaches an interface to the op called `name`. That a dialect declares it is checked when a context is made: the
    /// dialect may be added later.
    pub fn attach_named<I: ?Sized + Send + Sync + 'static>(&mut self, name: &'static str, implementation: &'static I) {
        InterfaceEntry::of(implementation).add_to(&mut self.ops.entry(name).or_default().interfaces);
    }

    /// Attaches an interface to ops called `name`, which no dialect declares: foreign ones, such as an interpreter is to
    /// run in a test. Only what asks the registry by name finds it.
    pub fn attach_foreign<I: ?Sized + Send + Sync + 'static>(
        &mut self,
        name: &'static str,
        implementation: &'static I,
    ) {
        self.attach_named(name, implementation);
        self.ops.entry(name).or_default().foreign = true;
    }

    /// The interface attached to the op called `name`, declared or not.
    pub fn interface<I: ?Sized + Send + Sync + 'static>(&self, name: &str) -> Option<&'static I> {
        find_interface(&self.ops.get(name)?.interfaces)
    }

    /// Attaches an interface to a dialect that is registered already; that it is is checked when a context is made.
    pub fn attach_to_dialect<I: ?Sized + Send + Sync + 'static>(&mut self, name: &str, implementation: &'static I) {
        let entry = InterfaceEntry::of(implementation);
        match self.dialects.get_mut(name) {
            Some(info) => entry.add_to(&mut info.interfaces),
            None => self.unknown_dialects.push((name.to_string(), entry.name)),
        }
    }

    /// Says whether each interface is attached to something that is there.
    ///
    /// # Errors
    /// Names each interface that is not, and what it is attached to. [`Context::try_new`] returns this error,
    /// [`Context::new`] panics with it.
    pub fn check(&self) -> Result<(), RegistryError> {
        let ops = self.ops.iter().filter(|(_, entry)| entry.foreign == entry.def.is_some());
        let of_ops =
            ops.flat_map(|(name, entry)| entry.interfaces.iter().map(|i| self.misattached(name, entry, i.name)));
        let of_dialects = self.unknown_dialects.iter().map(|(name, interface)| {
            let hint = hint(did_you_mean(name, self.dialects.keys().copied()));
            format!(
                "interface `{interface}` is attached to the dialect `{name}`, which is not registered before it{hint}"
            )
        });
        let mistakes: Vec<String> = of_ops.chain(of_dialects).collect();
        if mistakes.is_empty() { Ok(()) } else { Err(RegistryError { mistakes }) }
    }

    fn misattached(&self, name: &str, entry: &OpEntry, interface: &str) -> String {
        let dialect = name.split_once('.').map_or("", |(dialect, _)| dialect);
        if entry.def.is_some() {
            return format!(
                "interface `{interface}` is attached to `{name}` as a foreign operation, but the dialect `{dialect}` \
                 declares it: use `attach_named`"
            );
        }
        let declared = self.op_defs().map(|def| def.name);
        let why = match (did_you_mean(name, declared), self.dialects.contains_key(dialect)) {
            (Some(close), _) => format!("which no dialect declares (did you mean `{close}`?)"),
            (None, true) => format!("which the dialect `{dialect}` does not declare"),
            (None, false) if dialect.is_empty() => "whose name begins with no dialect".to_string(),
            (None, false) => format!("but no dialect `{dialect}` is registered"),
        };
        format!("interface `{interface}` is attached to the operation `{name}`, {why}")
    }

    /// Registered dialects, in registration order.
    pub fn dialects(&self) -> impl Iterator<Item = (&'static str, &DialectInfo)> {
        self.dialects.iter().map(|(name, info)| (*name, info))
    }

    /// A dialect by name.
    pub fn dialect(&self, name: &str) -> Option<&DialectInfo> {
        self.dialects.get(name)
    }

    /// Declarations of all registered operations, in registration order.
    pub fn op_defs(&self) -> impl Iterator<Item = &'static OpDef> {
        self.ops.values().filter_map(|entry| entry.def)
    }

    /// Compiles an op's assembly format; a wrong one is a mistake in the dialect's source.
    fn compile_format(&self, def: &OpDef, text: &str) -> Format {
        let directives = self.dialects.get(def.dialect()).map(|info| &info.directives);
        let compiled = Format::compile(def, text).and_then(|mut format| {
            format.bind(directives.unwrap_or(&IndexMap::new()))?;
            Ok(format)
        });
        compiled.unwrap_or_else(|e| panic!("assembly format of `{}`: {e}", def.name))
    }

    /// The declaration of the operation called `name`.
    pub fn op_def(&self, name: &str) -> Option<&'static OpDef> {
        self.ops.get(name)?.def
    }

    /// Moves the registry into a context and fills its table of operations.
    pub(crate) fn freeze_into(self, cx: &mut Context) {
        for (name, entry) in &self.ops {
            let Some(def) = entry.def else { continue };
            let index = cx.op_names.intern(cx.ident(name));
            let default = |a: &AttrDef| Some(NamedAttr { name: cx.ident(a.name), value: a.default?(cx) });
            let shown = def.attrs.iter().filter(|a| !a.elide_default);
            let shown: BTreeMap<&str, _> = shown.filter_map(|a| Some((a.name, default(a)?))).collect();
            let info = OpInfo {
                def,
                attr_names: def.attrs.iter().map(|a| cx.ident(a.name)).collect(),
                defaults: def.attrs.iter().filter_map(default).collect(),
                generic_defaults: shown.into_values().collect(),
                written_defaults: self
                    .interface::<dyn WrittenDefaults>(def.name)
                    .map(|written| written.defaults(cx))
                    .unwrap_or_default(),
                format: OnceLock::new(),
                interfaces: entry.interfaces.clone(),
            };
            assert_eq!(cx.op_infos.push(info), index, "registered operations come first");
        }
        cx.registry = self;
        if cfg!(debug_assertions) {
            let infos = cx.registry.op_defs().filter_map(|def| cx.op_name(def.name).info(cx));
            infos.for_each(|info| {
                info.format(cx);
            });
        }
    }
}

/// ` (did you mean …?)`, if something is close.
fn hint(close: Option<&str>) -> String {
    close.map(|close| format!(" (did you mean `{close}`?)")).unwrap_or_default()
}

/// Adds definitions to a dialect.
pub struct DialectBuilder<'r> {
    registry: &'r mut Registry,
    dialect: &'static str,
}

impl DialectBuilder<'_> {
    fn info(&mut self) -> &mut DialectInfo {
        self.registry.dialects.get_mut(self.dialect).expect("added before its definitions")
    }

    /// One paragraph of documentation.
    pub fn description(&mut self, text: &'static str) -> &mut Self {
        self.info().description = text;
        self
    }

    /// Says that this is a subset of a dialect of MLIR, whose other operations, types and attributes are foreign.
    pub fn partial(&mut self) -> &mut Self {
        self.info().partial = true;
        self
    }

    /// Adds an operation.
    ///
    /// # Panics
    /// When its name has another prefix than the dialect, or is taken.
    pub fn op<'a, T: OpView<'a>>(&mut self) -> &mut Self {
        self.op_def(T::def())
    }

    /// Adds an operation by its table.
    ///
    /// # Panics
    /// When its name has another prefix than the dialect, or is taken.
    pub fn op_def(&mut self, def: &'static OpDef) -> &mut Self {
        assert_eq!(def.dialect(), self.dialect, "`{}` does not belong to dialect `{}`", def.name, self.dialect);
        let entry = self.registry.ops.entry(def.name).or_default();
        assert!(entry.def.is_none(), "operation `{}` is registered twice", def.name);
        entry.def = Some(def);
        self.info().ops.push(def.name);
        self
    }

    /// Adds a type by mnemonic (without the dialect's name).
    pub fn ty(&mut self, mnemonic: &'static str, parse: TypeParser) -> &mut Self {
        let old = self.info().types.insert(mnemonic, parse);
        assert!(old.is_none(), "type `{}.{mnemonic}` is registered twice", self.dialect);
        self
    }

    /// Adds an attribute by mnemonic (without the dialect's name).
    pub fn attr(&mut self, mnemonic: &'static str, parse: AttrParser) -> &mut Self {
        let old = self.info().attrs.insert(mnemonic, parse);
        assert!(old.is_none(), "attribute `{}.{mnemonic}` is registered twice", self.dialect);
        self
    }

    /// Adds a type declared with `#[ty]`.
    ///
    /// # Panics
    /// When its name has another prefix than the dialect, or is taken.
    pub fn define_type<T: DialectType>(&mut self) -> &mut Self {
        let def = T::DEF;
        assert_eq!(def.dialect(), self.dialect, "`{}` does not belong to dialect `{}`", def.name, self.dialect);
        self.info().type_defs.push(def);
        self.ty(def.mnemonic(), T::parse)
    }

    /// Adds an attribute declared with `#[attr]`.
    ///
    /// # Panics
    /// When its name has another prefix than the dialect, or is taken.
    pub fn define_attr<T: DialectAttr>(&mut self) -> &mut Self {
        let def = T::DEF;
        assert_eq!(def.dialect(), self.dialect, "`{}` does not belong to dialect `{}`", def.name, self.dialect);
        self.info().attr_defs.push(def);
        self.attr(def.mnemonic(), T::parse)
    }

    /// Adds a custom assembly directive, `custom<Name>(…)` in the formats of this dialect's ops.
    pub fn directive(&mut self, name: &'static str, directive: DirectiveDef) -> &mut Self {
        let old = self.info().directives.insert(name, directive);
        assert!(old.is_none(), "directive `{name}` of `{}` is registered twice", self.dialect);
        self
    }

    /// How constants of this dialect are built when an op folds.
    pub fn materialize(&mut self, build: MaterializeFn) -> &mut Self {
        self.info().materialize = Some(build);
        self
    }

    /// Attaches an interface to an op: `d.op_interface::<AddOp<'_>, dyn MemoryEffects>(&implementation)`.
    pub fn op_interface<'a, T: OpView<'a>, I: ?Sized + Send + Sync + 'static>(
        &mut self,
        implementation: &'static I,
    ) -> &mut Self {
        self.interface(T::def().name, implementation)
    }

    /// Attaches an interface to an op by full name: one that this dialect has no Rust type for.
    pub fn interface<I: ?Sized + Send + Sync + 'static>(
        &mut self,
        op: &'static str,
        implementation: &'static I,
    ) -> &mut Self {
        self.registry.attach_named(op, implementation);
        self
    }

    /// Attaches an interface to the dialect itself.
    pub fn dialect_interface<I: ?Sized + Send + Sync + 'static>(&mut self, implementation: &'static I) -> &mut Self {
        self.registry.attach_to_dialect(self.dialect, implementation);
        self
    }
}

/// A registered operation as the context knows it.
pub struct OpInfo {
    /// The declaration.
    pub def: &'static OpDef,
    /// Interned names of the inherent attributes, in order of declaration.
    pub attr_names: Vec<Ident>,
    format: OnceLock<Format>,
    /// Attributes whose absence stands for a value, with that value.
    defaults: Vec<NamedAttr>,
    /// Those of them that the generic form writes, sorted by name.
    generic_defaults: Vec<NamedAttr>,
    /// Attributes that are never absent, with the value that they have when none is given.
    written_defaults: Vec<NamedAttr>,
    interfaces: Vec<InterfaceEntry>,
}

impl OpInfo {
    /// The assembly format, which is compiled when it is first asked for: a run needs few of them. Debug builds compile
    /// all of them when the context is made.
    ///
    /// # Panics
    /// When it is wrong, a mistake in the dialect's source.
    pub fn format(&self, cx: &Context) -> Option<&Format> {
        let text = self.def.format?;
        Some(self.format.get_or_init(|| cx.registry().compile_format(self.def, text)))
    }

    /// Attributes that the generic form writes though they are absent, with the value that absence stands for, sorted
    /// by name.
    pub fn generic_defaults(&self) -> &[NamedAttr] {
        &self.generic_defaults
    }

    /// The dictionary of inherent attributes as ops hold it: without those that have their default value, so that
    /// there is one way only to write it, absence; and with those that are never absent
    /// ([`WrittenDefaults`]).
    pub fn normal_props(&self, cx: &Context, props: Attr) -> Attr {
        let entries = cx.entries(props);
        let missing = |e: &&NamedAttr| entries.iter().all(|given| given.name != e.name);
        let is_default = |e: &NamedAttr| self.defaults.contains(e);
        if !entries.iter().any(is_default) && self.written_defaults.iter().all(|e| !missing(&e)) {
            return props;
        }
        let kept = entries.iter().filter(|e| !is_default(e)).chain(self.written_defaults.iter().filter(missing));
        cx.dict(&kept.copied().collect::<Vec<NamedAttr>>())
    }

    /// The op's implementation of an interface: `info.interface::<dyn MemoryEffects>()`.
    pub fn interface<I: ?Sized + Send + Sync + 'static>(&self) -> Option<&'static I> {
        find_interface(&self.interfaces)
    }
}

impl OpName {
    pub(crate) fn intern(cx: &Context, name: &str) -> Self {
        Self::from_index(cx.op_names.intern(cx.ident(name)))
    }

    /// The full name.
    pub fn as_str(self, cx: &Context) -> &str {
        cx.str(*cx.op_names.get(self.index()))
    }

    /// The dialect's name: what stands before the first dot, or nothing.
    pub fn dialect(self, cx: &Context) -> &str {
        self.as_str(cx).split_once('.').map_or("", |(dialect, _)| dialect)
    }

    /// What is registered under this name.
    pub fn info(self, cx: &Context) -> Option<&OpInfo> {
        cx.op_infos.try_get(self.index())
    }

    /// The declaration registered under this name.
    pub fn def(self, cx: &Context) -> Option<&'static OpDef> {
        self.info(cx).map(|info| info.def)
    }

    /// Traits of the operation; an unregistered one has none.
    pub fn traits(self, cx: &Context) -> Traits {
        self.def(cx).map_or(Traits::NONE, |def| def.traits)
    }

    /// True when this is the op that `T` declares.
    pub fn is<'a, T: OpView<'a>>(self, cx: &Context) -> bool {
        self.def(cx).is_some_and(|def| std::ptr::eq(def, T::def()))
    }
}

/// Value of an op that is a constant.
pub fn constant_value(op: crate::op_ref::OpRef<'_>) -> Option<Attr> {
    op.has_trait(Traits::ConstantLike).then(|| op.prop("value")).flatten()
}

/// Constant that defines `value`, if one does.
pub fn constant_of(body: &crate::body::Body, cx: &Context, value: Value) -> Option<Attr> {
    let op = body.defining_op(value)?;
    constant_value(crate::op_ref::OpRef::new(cx, body, op))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interfaces::{CastLike, Inliner, MemoryEffects};

    struct Casts;
    impl CastLike for Casts {
        fn are_compatible(&self, _: &Context, _: &[Type], _: &[Type]) -> bool {
            true
        }
    }

    const CAST: &str = "builtin.unrealized_conversion_cast";

    fn mistakes(registry: Registry) -> Vec<String> {
        let found = registry.check().err().map(|error| error.mistakes).unwrap_or_default();
        assert_eq!(Context::try_new(registry).err().map(|error| error.mistakes).unwrap_or_default(), found);
        found
    }

    fn attached(name: &'static str) -> Vec<String> {
        let mut registry = Registry::default();
        registry.attach_named::<dyn CastLike>(name, &Casts);
        mistakes(registry)
    }

    #[test]
    fn an_interface_for_an_unknown_op_is_an_error() {
        assert!(attached(CAST).is_empty());
        let cases = [
            (
                "builtin.unrealized_convertion_cast",
                "which no dialect declares (did you mean `builtin.unrealized_conversion_cast`?)",
            ),
            ("builtin.nothing_like_it", "which the dialect `builtin` does not declare"),
            ("far.convert", "but no dialect `far` is registered"),
            ("nodot", "whose name begins with no dialect"),
        ];
        for (name, why) in cases {
            assert_eq!(attached(name), [format!("interface `CastLike` is attached to the operation `{name}`, {why}")]);
        }
    }

    #[test]
    fn foreign_operations_are_named_as_such() {
        let mut registry = Registry::default();
        registry.attach_foreign::<dyn CastLike>("far.convert", &Casts);
        assert!(registry.interface::<dyn CastLike>("far.convert").is_some());
        assert!(mistakes(registry).is_empty());
        let mut registry = Registry::default();
        registry.attach_foreign::<dyn CastLike>(CAST, &Casts);
        let found = mistakes(registry);
        assert!(found[0].contains("as a foreign operation, but the dialect `builtin` declares it"), "{found:?}");
    }

    #[test]
    fn an_interface_for_an_unknown_dialect_is_an_error() {
        struct Lets;
        impl Inliner for Lets {}
        let mut registry = Registry::default();
        registry.attach_to_dialect::<dyn Inliner>("buitlin", &Lets);
        let expected = "interface `Inliner` is attached to the dialect `buitlin`, which is not registered before it \
                        (did you mean `builtin`?)";
        assert_eq!(mistakes(registry), [expected]);
    }

    #[test]
    fn interfaces_have_short_names() {
        assert_eq!(interface_name::<dyn MemoryEffects>(), "MemoryEffects");
    }

    #[test]
    #[should_panic(expected = "interface `CastLike` is attached to the operation `far.convert`")]
    fn a_context_is_not_made_of_a_wrong_registry() {
        let mut registry = Registry::default();
        registry.attach_named::<dyn CastLike>("far.convert", &Casts);
        Context::new(registry);
    }
}
