//! Finding descriptions by name: a file that was named, `$SUTURA_TARGET_PATH`, the user's folder, those built in.

use std::fmt;
use std::path::{Path, PathBuf};

use sutura_grammar::{ParseOptions, parse_module};
use sutura_ir::diagnostics::{Diagnostic, Diagnostics, did_you_mean};
use sutura_ir::verify::{VerifyOptions, verify};
use sutura_ir::{Body, Builder, Context, IrMapping, Module, Op, OpRef};

use super::desc::TargetDesc;
use super::{machine_in, machine_of};

/// Descriptions that every build has: name and text.
const EMBEDDED: &[(&str, &str)] = &[
    ("x86_avx512", include_str!("../../../targets/x86_avx512.mlir")),
    ("x86_avx512_dot", include_str!("../../../targets/x86_avx512_dot.mlir")),
    ("x86_amx", include_str!("../../../targets/x86_amx.mlir")),
    ("x86_avx2", include_str!("../../../targets/x86_avx2.mlir")),
    ("generic", include_str!("../../../targets/generic.mlir")),
    ("aarch64", include_str!("../../../targets/aarch64.mlir")),
    ("riscv64", include_str!("../../../targets/riscv64.mlir")),
    ("sm_80", include_str!("../../../targets/sm_80.mlir")),
    ("sm_90", include_str!("../../../targets/sm_90.mlir")),
    ("sm_100", include_str!("../../../targets/sm_100.mlir")),
    ("gfx90a", include_str!("../../../targets/gfx90a.mlir")),
    ("gfx942", include_str!("../../../targets/gfx942.mlir")),
    ("gfx1100", include_str!("../../../targets/gfx1100.mlir")),
    ("vulkan", include_str!("../../../targets/vulkan.mlir")),
    ("cpu_fibers", include_str!("../../../targets/cpu_fibers.mlir")),
    ("lavapipe", include_str!("../../../targets/lavapipe.mlir")),
];

/// Names of the descriptions that every build has.
pub fn embedded_names() -> impl Iterator<Item = &'static str> {
    EMBEDDED.iter().map(|(name, _)| *name)
}

/// Variable that holds folders of descriptions, separated as in `PATH`.
pub const PATH_VARIABLE: &str = "SUTURA_TARGET_PATH";
/// The name that stands for the machine at hand.
pub const HOST: &str = "host";

/// Families of devices, by which a description may be called for: `cuda:sm_80` is `sm_80`, which must be for this
/// architecture.
const FAMILIES: &[(&str, &str)] = &[("cuda", "nvptx64"), ("rocm", "amdgcn")];

/// Where descriptions are looked for, in this order: `file`, `folders`, those built in.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Finder {
    /// A file with one description; it hides a description of the same name.
    pub file: Option<PathBuf>,
    /// Folders of files `name.mlir`.
    pub folders: Vec<PathBuf>,
}

/// Why there is no description.
#[derive(Debug)]
pub enum TargetError {
    /// Nothing has that name.
    Unknown {
        /// The name.
        name: String,
        /// One like it.
        close: Option<String>,
        /// All names.
        known: Vec<String>,
    },
    /// A file or folder cannot be read.
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A file is no text that is read.
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        error: sutura_input::InputError,
    },
    /// A file does not describe a machine.
    Malformed {
        /// Where the text came from.
        origin: String,
        /// What is wrong with it, at places in its text.
        diagnostics: Diagnostics,
    },
    /// No description fits the machine at hand.
    NoHost,
}

impl fmt::Display for TargetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name, close: Some(close), .. } => {
                write!(f, "there is no target '{name}'; did you mean '{close}'?")
            }
            Self::Unknown { name, known, .. } => {
                write!(f, "there is no target '{name}'; the targets are {}", known.join(", "))
            }
            Self::Unreadable { path, error } => write!(f, "cannot read '{}': {error}", path.display()),
            Self::Io { path, error } => write!(f, "cannot read '{}': {error}", path.display()),
            Self::Malformed { origin, diagnostics } => {
                let first = diagnostics.iter().next().map_or("it is malformed", |d| d.message.as_str());
                write!(f, "'{origin}' describes no target: {first}")
            }
            Self::NoHost => f.write_str("no target fits this machine"),
        }
    }
}
impl std::error::Error for TargetError {}

/// A description: a module that holds one `target.machine`.
#[derive(Debug)]
pub struct Target {
    /// The module.
    pub module: Module,
    /// What it says.
    pub desc: TargetDesc,
    /// Where it came from: a path, or `built in`.
    pub origin: String,
}

impl Finder {
    /// Looks in `file`, in the folders of `$SUTURA_TARGET_PATH` and in `sutura/targets` of the user's configuration.
    pub fn from_env(file: Option<PathBuf>) -> Self {
        let listed = std::env::var_os(PATH_VARIABLE);
        let mut folders: Vec<PathBuf> =
            listed.iter().flat_map(std::env::split_paths).filter(|p| !p.as_os_str().is_empty()).collect();
        let config = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|p| p.is_absolute());
        let home = || std::env::var_os("HOME").map(|home| Path::new(&home).join(".config"));
        folders.extend(config.or_else(home).map(|config| config.join("sutura").join("targets")));
        Self { file, folders }
    }

    /// The description called `name`, or `family:name`. Not for [`HOST`]: see [`Finder::host`].
    ///
    /// # Errors
    /// When there is none, it is of another family, or it is malformed.
    pub fn find(&self, cx: &Context, name: &str) -> Result<Target, TargetError> {
        let Some((family, chip)) = name.split_once(':') else { return self.find_plain(cx, name) };
        let Some((_, architecture)) = FAMILIES.iter().find(|(known, _)| *known == family) else {
            return Err(self.unknown(cx, name));
        };
        let target = match self.find_plain(cx, chip) {
            Err(TargetError::Unknown { close, known, .. }) => {
                let close = close.map(|close| format!("{family}:{close}"));
                return Err(TargetError::Unknown { name: name.to_owned(), close, known });
            }
            other => other?,
        };
        if target.desc.triple.split('-').next() == Some(architecture) {
            Ok(target)
        } else {
            Err(self.unknown(cx, name))
        }
    }

    fn find_plain(&self, cx: &Context, name: &str) -> Result<Target, TargetError> {
        if let Some(file) = &self.file {
            let target = from_file(cx, file)?;
            if target.desc.name == name {
                return Ok(target);
            }
        }
        for folder in &self.folders {
            let path = folder.join(format!("{name}.mlir"));
            if path.is_file() {
                let target = from_file(cx, &path)?;
                return if target.desc.name == name { Ok(target) } else { Err(misnamed(cx, &target, name)) };
            }
        }
        match EMBEDDED.iter().find(|(n, _)| *n == name) {
            Some((_, text)) => from_text(cx, &format!("{name}.mlir"), "built in", text),
            None => Err(self.unknown(cx, name)),
        }
    }

    /// The best description of the machine at hand's architecture all of whose features it has: the one with the widest
    /// vectors, of those the one that needs most features, of those the first by name. `features` holds LLVM's names,
    /// without sign.
    ///
    /// # Errors
    /// When none fits, or one is malformed.
    pub fn host(&self, cx: &Context, triple: &str, features: &[&str]) -> Result<Target, TargetError> {
        let architecture = |triple: &str| triple.split('-').next().unwrap_or_default().to_owned();
        let mut best: Option<Target> = None;
        for name in self.names(cx)? {
            let target = self.find(cx, &name)?;
            let rank = |t: &Target| (t.desc.vector_bytes(), t.desc.required_features().count());
            let same = architecture(&target.desc.triple) == architecture(triple);
            let fits = same && target.desc.required_features().all(|f| features.contains(&f));
            if fits && best.as_ref().is_none_or(|b| rank(&target) > rank(b)) {
                best = Some(target);
            }
        }
        best.ok_or(TargetError::NoHost)
    }

    /// Names of all descriptions, sorted.
    ///
    /// # Errors
    /// When a folder or the named file cannot be read. A folder that does not exist has no descriptions.
    pub fn names(&self, cx: &Context) -> Result<Vec<String>, TargetError> {
        let mut names: Vec<String> = EMBEDDED.iter().map(|(name, _)| (*name).to_owned()).collect();
        if let Some(file) = &self.file {
            names.push(from_file(cx, file)?.desc.name);
        }
        for folder in &self.folders {
            let failed = |error| TargetError::Io { path: folder.clone(), error };
            let entries = match std::fs::read_dir(folder) {
                Ok(entries) => entries,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => return Err(failed(error)),
            };
            for entry in entries {
                let path = entry.map_err(failed)?.path();
                if path.extension().is_some_and(|e| e == "mlir")
                    && let Some(name) = path.file_stem().and_then(|s| s.to_str())
                {
                    names.push(name.to_owned());
                }
            }
        }
        names.sort();
        names.dedup();
        Ok(names)
    }

    fn unknown(&self, cx: &Context, name: &str) -> TargetError {
        let mut known = self.names(cx).unwrap_or_else(|_| EMBEDDED.iter().map(|(n, _)| (*n).to_owned()).collect());
        known.push(HOST.to_owned());
        let close = did_you_mean(name, known.iter().map(String::as_str)).map(str::to_owned);
        TargetError::Unknown { name: name.to_owned(), close, known }
    }
}

/// A description of more bytes than these is none.
const MOST_TEXT: u64 = 16 << 20;

/// Reads the description in a file.
///
/// # Errors
/// When it cannot be read, is malformed or describes no machine.
pub fn from_file(cx: &Context, path: &Path) -> Result<Target, TargetError> {
    let text = sutura_input::text(path, MOST_TEXT).and_then(sutura_input::utf8);
    let text = text.map_err(|error| TargetError::Unreadable { path: path.to_owned(), error })?;
    let name = path.display().to_string();
    from_text(cx, &name, &name, &text)
}

/// Reads a description from the text of a file called `file`.
///
/// # Errors
/// When it is malformed or describes no machine.
pub fn from_text(cx: &Context, file: &str, origin: &str, text: &str) -> Result<Target, TargetError> {
    let mut diags = Diagnostics::default();
    let read = read(cx, file, text, &mut diags);
    match read {
        Some((module, desc)) => Ok(Target { module, desc, origin: origin.to_owned() }),
        None => Err(TargetError::Malformed { origin: file.to_owned(), diagnostics: diags }),
    }
}

fn read(cx: &Context, file: &str, text: &str, diags: &mut Diagnostics) -> Option<(Module, TargetDesc)> {
    let whole = cx.file_loc(file, 0, 0);
    let source = match cx.sources().add(file, text) {
        Ok(source) => source,
        Err(error) => {
            diags.error(whole, error.to_string());
            return None;
        }
    };
    let module = parse_module(cx, &source, &ParseOptions::default(), diags).ok()?;
    verify(module.op_ref(cx), VerifyOptions::default(), diags).ok()?;
    let machine = machine_of(module.op_ref(cx)).map_err(|message| diags.error(whole, message)).ok()?;
    let Some(machine) = machine else {
        diags.error(whole, "holds no target.machine");
        return None;
    };
    match TargetDesc::from_op(machine) {
        Ok(desc) => Some((module, desc)),
        Err(message) => {
            diags.error(whole, message);
            None
        }
    }
}

fn misnamed(cx: &Context, target: &Target, name: &str) -> TargetError {
    let mut diagnostics = Diagnostics::default();
    let loc = target.machine(cx).map_or_else(|| cx.file_loc(&target.origin, 0, 0), OpRef::place);
    diagnostics.error(loc, format!("describes @{}, where its name says '{name}'", target.desc.name));
    TargetError::Malformed { origin: target.origin.clone(), diagnostics }
}

impl Target {
    /// The machine.
    pub fn machine<'a>(&'a self, cx: &'a Context) -> Option<OpRef<'a>> {
        machine_of(self.module.op_ref(cx)).ok().flatten()
    }

    /// Puts the description at the start of a module, which then is for this machine. `body` is what lies in the module.
    /// A module that is for the same description already stays as it is.
    ///
    /// # Errors
    /// When it is for another, or has another symbol of the machine's name.
    pub fn attach(&self, cx: &Context, body: &mut Body) -> Result<Op, Box<Diagnostic>> {
        let name = &self.desc.name;
        let internal = |message: &str| Box::new(Diagnostic::error(sutura_ir::Loc::UNKNOWN, message));
        if let Some(other) = machine_in(cx, body).map_err(|message| internal(&message))? {
            let same = TargetDesc::from_op(other).is_ok_and(|desc| desc.hash == self.desc.hash);
            return if same { Ok(other.op) } else { Err(Box::new(self.differs_from(other))) };
        }
        let block = body.entry_block().ok_or_else(|| internal("the module has no body"))?;
        let mut ops = body.ops(block);
        if let Some(other) = ops.find(|op| OpRef::new(cx, body, *op).symbol_name() == Some(name)) {
            let other = OpRef::new(cx, body, other);
            return Err(Box::new(other.error(format!("has the name of the machine that the module is for, @{name}"))));
        }
        drop(ops);
        let machine = self.machine(cx).ok_or_else(|| internal("the description holds no machine"))?;
        let mut to = Builder::new(cx, body);
        to.set_to_start(block);
        IrMapping::new().clone_op(machine, &mut to).map_err(|_| internal("a machine has no operands"))
    }

    fn differs_from(&self, other: OpRef<'_>) -> Diagnostic {
        let name = &self.desc.name;
        let message = match other.symbol_name() {
            Some(same) if same == name => format!("describes another machine than the @{name} that is asked for"),
            _ => format!("is what the module is for, and @{name} is asked for"),
        };
        other.error(message).help("remove it, or do not ask for a machine")
    }
}
