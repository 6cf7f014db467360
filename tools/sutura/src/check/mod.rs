//! `sutura check`: whether a model can be compiled, before anything is generated, and what it uses.

mod survey;
mod table;

use serde::Serialize;
pub(crate) use survey::Survey as ModelSurvey;

use crate::cli::{CheckArgs, CompileArgs};
use crate::compile;
use crate::failure::Failure;
use crate::files;
use crate::talk::Talk;

/// What is written with `--json`.
#[derive(Serialize)]
struct Told<'s> {
    model: String,
    targets: Vec<String>,
    supported: bool,
    #[serde(flatten)]
    survey: &'s ModelSurvey,
}

pub(crate) fn check(args: &CheckArgs, talk: &Talk) -> Result<(), Failure> {
    let compilation = args.as_compilation();
    let survey = if talk.is_quiet() && !args.json { None } else { Some(compile::surveyed(&compilation, talk)?) };
    let checked = compile::check(&compilation, &talk.without_stages());
    let Some(survey) = survey else { return checked.map(drop) };
    let targets = match &args.target[..] {
        [] if args.target_file.is_some() => vec!["the machine that is described".to_owned()],
        [] => vec!["this machine".to_owned()],
        names => names.to_vec(),
    };
    let (model, supported) = (args.model.display().to_string(), checked.is_ok());
    if talk.is_json() && !args.json {
        let told = serde_json::to_value(Told { model, targets, supported, survey: &survey });
        let fields = told.map_err(Failure::internal)?.as_object().cloned().unwrap_or_default();
        talk.result("check", fields)?;
        return checked.map(drop);
    }
    let text = match args.json {
        true => {
            let told = Told { model, targets, supported, survey: &survey };
            let text = serde_json::to_string_pretty(&told).map_err(|e| Failure::internal(e.to_string()))?;
            sutura_visible::json(&text).into_owned() + "\n"
        }
        false => {
            let mut text = table::of(&survey);
            if let Ok(ops) = &checked {
                let noun = if *ops == 1 { "operation" } else { "operations" };
                let line = format!("`{model}`: {ops} {noun}, all supported on {}", targets.join(", "));
                text += &format!("{}\n", sutura_visible::line(&line));
            }
            text
        }
    };
    files::write("-".as_ref(), text.as_bytes())?;
    checked.map(drop)
}

impl CheckArgs {
    /// The compilation that is checked.
    pub(crate) fn as_compilation(&self) -> CompileArgs {
        CompileArgs {
            model: self.model.clone(),
            target: self.target.clone(),
            target_file: self.target_file.clone(),
            dims: self.dims.clone(),
            kernels: self.kernels.clone(),
            reproducer: self.reproducer.clone(),
            reading: self.reading.clone(),
            ..CompileArgs::default()
        }
    }
}
