//! What ends a command, of the crates that only this tool uses.

use sutura_ir::diagnostics::codes;
pub(crate) use sutura_run::failure::{Failure, Kind};

/// What code generation refuses.
pub(crate) fn of_codegen(error: sutura_codegen::Error) -> Failure {
    use sutura_codegen::Error as Codegen;
    if let Codegen::Undefined { symbols } = &error
        && symbols.iter().all(|s| matches!(s.as_str(), "fma" | "fmaf"))
    {
        let message = "kernels need fused multiplication and addition, which the target has no instruction for";
        return Failure::new(Kind::Unsupported, message).hint("choose a target with the feature `fma`");
    }
    let kind = match &error {
        Codegen::NoLinker { .. } | Codegen::Io { .. } | Codegen::Thread { .. } => Kind::System,
        Codegen::Cpu { .. }
        | Codegen::Feature { .. }
        | Codegen::FeatureSign { .. }
        | Codegen::Triple { .. }
        | Codegen::Architecture { .. } => Kind::Unsupported,
        Codegen::Rejected { .. } | Codegen::Undefined { .. } => Kind::Rejected,
        Codegen::NestedTooDeep { .. } => Kind::Unsupported,
        _ => Kind::Internal,
    };
    Failure::new(kind, error)
}

/// A model that is not read.
pub(crate) fn of_onnx(error: sutura_import::onnx::OnnxError) -> Failure {
    use sutura_import::onnx::OnnxError as Onnx;
    match error {
        Onnx::Read { path, source } => Failure::reading(&path, &source),
        error @ Onnx::Invalid(_) => invalid_model(error),
        error @ Onnx::Unsupported(_) => Failure::new(Kind::Unsupported, error),
        error => Failure::new(Kind::Input, error),
    }
}

/// Operators that the importer does not take.
pub(crate) fn of_operators(error: sutura_import::onnx::UnsupportedOps) -> Failure {
    match error.is_invalid() {
        true => invalid_model(error),
        false => Failure::new(Kind::Unsupported, error),
    }
}

fn invalid_model(error: impl std::fmt::Display) -> Failure {
    Failure { code: Some(codes::INVALID_MODEL), ..Failure::new(Kind::Input, error) }
}
