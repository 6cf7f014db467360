//! Models that a command runs: artifacts, and what is compiled to one that nobody keeps.

use std::path::Path;

use sutura_dialects::r#dyn::DimSpec;
use sutura_dialects::target::TargetDesc;
use sutura_ir::Context;
use sutura_run::artifacts::is_artifact;
use sutura_run::run::{Models, Ready};
use sutura_runtime::Model;

use crate::cli::CompileArgs;
use crate::compile;
use crate::dims::Dims;
use crate::failure::Failure;
use crate::files::TemporaryFolder;
use crate::kernels::{Given, Kernels};
use crate::machine::Wanted;
use crate::talk::Talk;

/// Takes artifacts and models.
#[derive(Clone, Debug, Default)]
pub(crate) struct Compiled {
    /// How models are compiled.
    pub(crate) kernels: Given<Kernels>,
}

impl Models for Compiled {
    fn artifact(&self, path: &Path, dims: &[DimSpec], talk: &Talk) -> Result<Ready, Failure> {
        // What is called an artifact is one, if maybe a damaged one.
        if is_artifact(path) || path.extension().is_some_and(|end| end == "sutura") {
            self.kernels.refuse_for_artifact()?;
            return Ok(Ready::given(path));
        }
        let folder = TemporaryFolder::new()?;
        let output = folder.path().join("model.sutura");
        let dims = Dims { dim: dims.to_vec(), dims: None };
        let kernels = self.kernels.options.clone();
        let (model, output_of) = (path.to_owned(), Some(output.clone()));
        let args = CompileArgs { model, output: output_of, dims, kernels, ..CompileArgs::default() };
        compile::compile(&args, &talk.without_stages())?;
        Ok(Ready::made(output, folder))
    }

    fn machine(&self, model: &Model, file: Option<&Path>, talk: &Talk) -> Result<TargetDesc, Failure> {
        let cx = Context::new(sutura_dialects::all());
        let compiled_for = model.manifest().target.description.as_str();
        let name = model.device().and(file.is_none().then_some(compiled_for));
        Ok(Wanted { name, file }.find(&cx, talk)?.0.desc)
    }
}
