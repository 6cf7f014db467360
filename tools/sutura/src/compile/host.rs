//! The host's code, or all code of the processor: from upstream operations to the shared object.

use std::time::Instant;

use sutura_codegen as codegen;

use super::{Job, Lowered, Ready};
use crate::failure::{Failure, Kind, of_codegen};
use crate::files;
use crate::host::{Batch, Host, Making, batches};
use crate::pipeline::Emit;

/// Code that was accepted.
pub(super) enum Code {
    /// One module, which a library is joined with.
    Whole(Box<codegen::Accepted>),
    /// What is linked.
    Batches(Host),
}

impl Job<'_> {
    /// Takes the host's code as far as it can be refused.
    pub(super) fn accept_host(
        &self,
        lowered: &Lowered,
        warnings: &mut Vec<codegen::Diagnostic>,
    ) -> Result<Code, Failure> {
        let (name, target) = (self.args.model.display().to_string(), self.host_target(lowered));
        let text = || lowered.text(self.compilation);
        if self.makes_library() {
            let accept = |text: &str| codegen::accept(text, &name, &target, warnings);
            let mut whole = self.with_places(text(), &lowered.program, accept)?;
            whole.check_defined().map_err(of_codegen)?;
            return Ok(Code::Whole(Box::new(whole)));
        }
        // Who asks for an object may link what it calls.
        let open = self.args.emit == Some(Emit::Obj);
        let making = Making { name: &name, target: &target, cache: self.compilation.cache.as_ref(), open };
        let split = batches(&self.compilation.cx, &lowered.program.module);
        let batches = split.unwrap_or_else(|| vec![Batch { text: text().to_owned(), elsewhere: Vec::new() }]);
        match making.accept(&batches, warnings) {
            Ok(host) => Ok(Code::Batches(host)),
            // What is refused is refused in the words for the whole program.
            Err(codegen::Error::Rejected { .. }) => {
                let accept = |text: &str| codegen::accept(text, &name, &target, warnings).map(drop);
                self.with_places(text(), &lowered.program, accept)?;
                Err(Failure::internal("a part of the program was refused, and the whole was not"))
            }
            Err(error) => Err(of_codegen(error)),
        }
    }

    /// Generates code, and says so.
    pub(super) fn objects(&self, code: Option<Code>) -> Result<Vec<Vec<u8>>, Failure> {
        let (mut warnings, start) = (Vec::new(), Instant::now());
        self.talk.begin_parts("codegen", codegen::progress::emitted);
        let cache = self.compilation.cache.as_ref();
        let (known, objects) = match code.ok_or_else(|| Failure::internal("the code was accepted and is gone"))? {
            Code::Batches(host) => (host.known(), host.into_objects(cache, &mut warnings)),
            Code::Whole(whole) => ((0, 1), whole.into_object(&mut warnings).map(|object| vec![object])),
        };
        let objects = objects.map_err(of_codegen)?;
        self.warn(&warnings);
        if let (Some(cache), (known, all)) = (cache, known) {
            cache.tell(self.talk);
            self.talk.detail(&format!("the cache had {known} of {all} batches of code"));
        }
        let bytes: usize = objects.iter().map(Vec::len).sum();
        self.talk.stage("codegen", &format!("{bytes} bytes of object code"), start.elapsed());
        Ok(objects)
    }

    /// From accepted code to the shared object; none where an object or the shared object is the product.
    pub(super) fn shared_object(&self, ready: &mut Ready) -> Result<Option<Vec<u8>>, Failure> {
        let objects = self.objects(ready.host.take())?;
        if self.args.emit == Some(Emit::Obj) || self.args.emit_dir.is_some() {
            let object = codegen::link_object(&objects).map_err(of_codegen)?;
            self.keep(Emit::Obj, &object)?;
            if self.args.emit == Some(Emit::Obj) {
                return files::write(self.output, &object).map(|()| None);
            }
        }
        let start = Instant::now();
        let host = link(&objects)?;
        self.talk.stage("link", &format!("{} bytes", host.len()), start.elapsed());
        self.keep(Emit::So, &host)?;
        if self.args.emit == Some(Emit::So) {
            return files::write(self.output, &host).map(|()| None);
        }
        Ok(Some(host))
    }
}

/// The bytes of the shared object.
pub(super) fn link(objects: &[Vec<u8>]) -> Result<Vec<u8>, Failure> {
    // The folder is gone again before an interrupt can end the process.
    let _guard = files::uninterrupted();
    let failed = |e: std::io::Error| Failure::new(Kind::System, format!("cannot use a temporary folder: {e}"));
    let folder = tempfile::tempdir().map_err(failed)?;
    let path = folder.path().join("host.so");
    codegen::link_shared(objects, &path).map_err(of_codegen)?;
    std::fs::read(&path).map_err(failed)
}
