//! What the workspace says of itself.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{Failure, tidy};

/// Where passes are.
const SOURCES: &str = "passes/src";
/// Has a pass in each file or folder of it.
const GENERIC: &str = "generic";

/// Everything that the choice of tests depends on, beside the paths that changed.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    pub(super) packages: Vec<Package>,
    pub(super) ideas: Vec<Idea>,
    /// The test programs of the crate of passes, with their text.
    pub(super) pass_suites: Vec<(String, String)>,
    /// Files of `lit-tests`, with their text.
    pub(super) lits: Vec<(String, String)>,
}

/// A crate of the workspace.
#[derive(Clone, Debug)]
pub(super) struct Package {
    pub(super) name: String,
    /// Below the workspace.
    pub(super) folder: String,
    /// Crates that it needs, also for its tests.
    pub(super) needs: Vec<String>,
}

/// A folder or file of passes: an idea of its own.
#[derive(Clone, Debug)]
pub(super) struct Idea {
    /// Below [`SOURCES`], without a suffix.
    pub(super) path: String,
    /// Names of its passes.
    pub(super) arguments: Vec<String>,
    /// All its code.
    pub(super) text: String,
}

impl Idea {
    /// How the names of its unit tests begin.
    pub(super) fn filter(&self) -> String {
        format!("{}::", self.path.replace('/', "::"))
    }

    /// Whether a file is part of it.
    pub(super) fn holds(&self, path: &str) -> bool {
        let inner = path.strip_prefix(SOURCES).and_then(|rest| rest.strip_prefix('/'));
        let rest = inner.and_then(|inner| inner.strip_prefix(self.path.as_str()));
        rest.is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
    }

    /// Whether its code uses another idea's: a path through that one's module.
    fn uses(&self, other: &Self) -> bool {
        let module = other.path.rsplit('/').next().unwrap_or(&other.path);
        let path = format!("{module}::");
        let in_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        self.text.match_indices(&path).any(|(at, _)| !self.text[..at].ends_with(in_name))
    }
}

impl Facts {
    /// The crate that a path lies in.
    pub(super) fn package_of(&self, path: &str) -> Option<&str> {
        let holds = |package: &&Package| path.strip_prefix(package.folder.as_str()).is_some_and(|p| p.starts_with('/'));
        let found = self.packages.iter().filter(holds).max_by_key(|package| package.folder.len());
        found.map(|package| package.name.as_str())
    }

    /// A crate and those that need it, directly or not.
    pub(super) fn with_users(&self, name: &str) -> BTreeSet<String> {
        let mut found = BTreeSet::from([name.to_owned()]);
        loop {
            let needs_one = |package: &&Package| package.needs.iter().any(|need| found.contains(need));
            let more: Vec<String> =
                self.packages.iter().filter(needs_one).map(|package| package.name.clone()).collect();
            let before = found.len();
            found.extend(more);
            if found.len() == before {
                return found;
            }
        }
    }

    /// An idea and those whose code uses it, directly or not.
    pub(super) fn users_of_idea<'f>(&'f self, idea: &'f Idea) -> Vec<&'f Idea> {
        let mut found = vec![idea];
        let mut at = 0;
        while at < found.len() {
            let used = found[at];
            let users = self.ideas.iter().filter(|other| other.uses(used));
            let new: Vec<&Idea> = users.filter(|user| found.iter().all(|known| known.path != user.path)).collect();
            found.extend(new);
            at += 1;
        }
        found
    }
}

/// Reads them below `root`, the workspace.
pub(super) fn collect(root: &Path) -> Result<Facts, Failure> {
    let (ideas, pass_suites, lits) = (ideas(root)?, pass_suites(root)?, lits(root)?);
    Ok(Facts { packages: packages(&tidy::metadata()?)?, ideas, pass_suites, lits })
}

fn packages(metadata: &Value) -> Result<Vec<Package>, Failure> {
    let root = metadata["workspace_root"].as_str().ok_or("cargo metadata names no workspace")?;
    let package = |package: &Value| {
        let manifest = Path::new(package["manifest_path"].as_str()?);
        let needs = package["dependencies"].as_array()?.iter();
        Some(Package {
            name: package["name"].as_str()?.to_owned(),
            folder: manifest.parent()?.strip_prefix(root).ok()?.to_str()?.to_owned(),
            needs: needs.filter_map(|need| need["name"].as_str().map(ToOwned::to_owned)).collect(),
        })
    };
    let all = metadata["packages"].as_array().ok_or("cargo metadata lists no packages")?;
    all.iter()
        .map(package)
        .collect::<Option<_>>()
        .ok_or_else(|| "cargo metadata describes a package otherwise".to_owned())
}

fn ideas(root: &Path) -> Result<Vec<Idea>, Failure> {
    // What is no idea of its own belongs to the crate as a whole.
    const OTHERS: [&str; 4] = ["lib", "stages", "testing", GENERIC];
    let mut ideas = Vec::new();
    for (folder, prefix) in [(SOURCES.to_owned(), ""), (format!("{SOURCES}/{GENERIC}"), "generic/")] {
        for entry in entries(&root.join(folder))? {
            let name = entry.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let whole = prefix.is_empty() && OTHERS.contains(&name.as_str()) || name == "mod";
            if !whole {
                let text = code(&entry)?;
                ideas.push(Idea { path: format!("{prefix}{name}"), arguments: arguments(&text), text });
            }
        }
    }
    Ok(ideas)
}

/// The names of the passes that some code declares: `argument: "name"`.
fn arguments(text: &str) -> Vec<String> {
    let declared = text.split("argument: \"").skip(1).filter_map(|rest| rest.split('"').next());
    declared.map(ToOwned::to_owned).collect()
}

fn pass_suites(root: &Path) -> Result<Vec<(String, String)>, Failure> {
    let mut suites = Vec::new();
    for entry in entries(&root.join("passes/tests"))? {
        let name = entry.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        suites.push((name, code(&entry)?));
    }
    Ok(suites)
}

fn lits(root: &Path) -> Result<Vec<(String, String)>, Failure> {
    let mut files = Vec::new();
    walk(&root.join("lit-tests"), &mut files)?;
    let is_test = |path: &&PathBuf| path.extension().is_some_and(|e| e == "mlir" || e == "test");
    let tests = files.iter().filter(is_test).filter(|path| path.components().all(|c| c.as_os_str() != "Inputs"));
    // A file that is no UTF-8 names its passes in ASCII all the same.
    let read = |path: &PathBuf| {
        let bytes = fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let name = path.strip_prefix(root).unwrap_or(path);
        Ok((name.to_string_lossy().into_owned(), String::from_utf8_lossy(&bytes).into_owned()))
    };
    tests.map(read).collect()
}

/// The code of a file, or of all files in a folder.
fn code(path: &Path) -> Result<String, Failure> {
    let mut files = Vec::new();
    if path.is_dir() {
        walk(path, &mut files)?;
    } else {
        files.push(path.to_owned());
    }
    let mut text = String::new();
    for file in files.iter().filter(|file| file.extension().is_some_and(|e| e == "rs")) {
        text += &fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
    }
    Ok(text)
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    for entry in entries(folder)? {
        if entry.is_dir() {
            walk(&entry, files)?;
        } else {
            files.push(entry);
        }
    }
    Ok(())
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let fail = |e: std::io::Error| format!("{}: {e}", folder.display());
    let entries = fs::read_dir(folder).map_err(fail)?;
    let mut paths = entries.map(|entry| entry.map(|e| e.path()).map_err(fail)).collect::<Result<Vec<_>, _>>()?;
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On the workspace as it is: names of crates, folders of passes and their names are found.
    #[test]
    fn the_workspace_is_described() {
        let facts = collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).unwrap();
        assert!(facts.lits.iter().all(|(path, _)| path.starts_with("lit-tests/")));
        assert_eq!(facts.package_of("runtime/capi/src/lib.rs"), Some("sutura-capi"));
        assert!(facts.with_users("sutura-ir").contains("sutura-codegen"));
        let idea = |path: &str| facts.ideas.iter().find(|idea| idea.path == path).unwrap();
        assert_eq!(idea("stitch").arguments, ["stitch"]);
        assert_eq!(idea("generic/licm").filter(), "generic::licm::");
        assert!(idea("gir_lowering").holds("passes/src/gir_lowering/cpu/mod.rs"));
        assert!(!idea("gir").holds("passes/src/gir_lowering/cpu/mod.rs"));
        assert!(facts.lits.len() > 100 && facts.pass_suites.iter().any(|(name, _)| name == "documented"));
        // Code that others use is seen to be used.
        assert!(facts.users_of_idea(idea("region")).len() > 1);
    }
}
