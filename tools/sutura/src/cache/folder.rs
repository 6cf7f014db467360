//! Where entries lie, and how much place they may take.

use std::env;
use std::ffi::OsString;
use std::fs::{self, DirBuilder, Metadata};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sutura_input::parse_size;

/// Names a folder for the cache itself; empty for none.
const FOLDER: &str = "SUTURA_CACHE_DIR";
/// How much it may hold.
const SIZE: &str = "SUTURA_CACHE_SIZE";
/// What it may hold by default.
const USUAL_SIZE: u64 = 2 << 30;
/// Most entries, so that to look at all of them is cheap.
const MOST: usize = 20_000;
/// A file that somebody was writing is finished, or left over, after this.
const UNFINISHED: Duration = Duration::from_secs(24 * 60 * 60);

/// A folder of entries.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    folder: PathBuf,
    limit: u64,
    most: usize,
}

/// Why there is no cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoPlace {
    /// Nobody wants one, or has a place for it.
    Unwanted(String),
    /// What is asked for cannot be.
    Wrong(String),
}

impl Place {
    /// What the environment says.
    ///
    /// # Errors
    /// Why there is none.
    pub(crate) fn of_user() -> Result<Self, NoPlace> {
        let variable = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
        let own = env::var_os(FOLDER);
        let named = own.is_some();
        let folder = match own {
            Some(own) if own.is_empty() => return Err(NoPlace::Unwanted(format!("{FOLDER} is empty"))),
            own => folder(own, variable("XDG_CACHE_HOME"), variable("HOME")).map_err(NoPlace::Unwanted)?,
        };
        let limit = variable(SIZE).map_or(Ok(USUAL_SIZE), |text| parse_size(&text.to_string_lossy()));
        let limit = limit.map_err(|why| NoPlace::Wrong(format!("{SIZE}: {why}")))?;
        if limit == 0 {
            return Err(NoPlace::Unwanted(format!("{SIZE} is 0")));
        }
        if let Ok(meta) = fs::metadata(&folder) {
            check(&folder, &meta).map_err(NoPlace::Wrong)?;
        }
        let place = Self { folder, limit, most: MOST };
        // Who names a folder expects it to be used.
        let made = if named { place.create() } else { Ok(()) };
        let refused = |why| format!("{FOLDER}: cannot make the folder `{}`: {why}", place.folder.display());
        made.map_err(|why| NoPlace::Wrong(refused(why)))?;
        Ok(place)
    }

    #[cfg(test)]
    pub(crate) fn at(folder: PathBuf, limit: u64) -> Self {
        Self { folder, limit, most: MOST }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    /// Makes the folder where there is none. It is nobody else's: what is in it is run.
    pub(crate) fn create(&self) -> io::Result<()> {
        if self.folder.is_dir() {
            return Ok(());
        }
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)
    }

    /// Removes the entries that were not used for longest until a tenth of the place is free again, where there is too much,
    /// and files that somebody began and never finished.
    pub(crate) fn sweep(&self) {
        let Ok(listed) = fs::read_dir(&self.folder) else { return };
        let (mut entries, mut total) = (Vec::new(), 0);
        for file in listed.filter_map(Result::ok) {
            let Ok(meta) = file.metadata() else { continue };
            if !meta.is_file() {
                continue;
            }
            let (path, used) = (file.path(), used(&meta));
            if file.file_name().to_string_lossy().starts_with('.') {
                let age = SystemTime::now().duration_since(used).unwrap_or_default();
                if age > UNFINISHED {
                    let _ = fs::remove_file(path);
                }
                continue;
            }
            total += meta.len();
            entries.push((used, path, meta.len()));
        }
        if total <= self.limit && entries.len() <= self.most {
            return;
        }
        entries.sort();
        let (enough, few) = (self.limit / 10 * 9, self.most / 10 * 9);
        let mut left = entries.len();
        for (_, path, size) in entries {
            if total <= enough && left <= few {
                break;
            }
            // Another process may have removed it.
            let _ = fs::remove_file(path);
            total -= size;
            left -= 1;
        }
    }
}

/// When an entry was made, or last asked for.
fn used(meta: &Metadata) -> SystemTime {
    let times = [meta.modified(), meta.accessed()];
    times.into_iter().filter_map(Result::ok).max().unwrap_or(SystemTime::UNIX_EPOCH)
}

/// The folder by what the environment says: `own`, or one below a base, of which those that are not absolute count as not given.
fn folder(own: Option<OsString>, base: Option<OsString>, home: Option<OsString>) -> Result<PathBuf, String> {
    if let Some(own) = own {
        return Ok(own.into());
    }
    let absolute = |path: Option<OsString>| path.map(PathBuf::from).filter(|path| path.is_absolute());
    let base = absolute(base).or_else(|| absolute(home).map(|home| home.join(".cache")));
    base.map(|base| base.join("sutura")).ok_or_else(|| "neither XDG_CACHE_HOME nor HOME is an absolute path".to_owned())
}

/// Whether what is in a folder is the user's own: it is run.
fn check(folder: &Path, meta: &Metadata) -> Result<(), String> {
    let folder = folder.display();
    if !meta.is_dir() {
        return Err(format!("`{folder}` is no folder"));
    }
    if meta.mode() & 0o022 != 0 {
        return Err(format!("others may write to `{folder}`"));
    }
    match fs::metadata("/proc/self").map(|own| own.uid()) {
        Ok(own) if own != meta.uid() => Err(format!("`{folder}` is another user's")),
        _ => Ok(()),
    }
}
