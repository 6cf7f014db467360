//! The last step to a static library or its header.

use std::time::Instant;

use super::host::Code;
use super::{Job, Ready};
use crate::artifact;
use crate::failure::Failure;
use crate::files;
use crate::library::Library;
use crate::pipeline::Emit;

impl Job<'_> {
    /// Whether a library or its header is asked for.
    pub(super) fn makes_library(&self) -> bool {
        self.args.emit.is_some_and(Emit::of_library)
    }

    /// Writes it.
    pub(super) fn library(&self, ready: Ready) -> Result<(), Failure> {
        let gone = || Failure::internal("the interface was checked and is gone");
        let (interface, manifest) = ready.artifact.as_ref().ok_or_else(gone)?;
        let library = Library::of(manifest, self.args.prefix.as_deref())?;
        if self.args.emit == Some(Emit::CHeader) {
            return files::write(self.output, library.header().as_bytes());
        }
        let module = &ready.lowered.program.module;
        let owned = artifact::all_constants(&self.compilation.cx, module, interface)?;
        let constants: Vec<&[u8]> = owned.iter().map(AsRef::as_ref).collect();
        let (mut warnings, start) = (Vec::new(), Instant::now());
        let Some(Code::Whole(whole)) = ready.host else { return Err(gone()) };
        let object = library.object(*whole, &constants, &mut warnings)?;
        self.warn(&warnings);
        self.talk.stage("codegen", &format!("{} bytes of object code", object.len()), start.elapsed());
        self.keep(Emit::Obj, &object)?;
        let unchanged = || {
            let changed = |what| Failure::new(crate::failure::Kind::System, what).hint("compile it again");
            self.compilation.files.check().map_err(changed)
        };
        library.write(self.output, &object, &constants, unchanged)
    }
}
