//! `cargo xtask zoo`: networks of torchvision, timm and transformers, exported by PyTorch with random weights, compiled once and
//! compared with onnxruntime at several sizes. The list is `import/zoo/models.txt`, the work is done by `import/zoo/zoo.py`.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use crate::{Failure, process, venv};

const ZOO: &str = "import/zoo/zoo.py";
const PACKAGES: &str = "import/zoo/requirements.txt";

/// Runs the zoo. `--venv DIR` names a Python environment that has the packages; without it one is made below the target folder.
/// All other arguments go to the program.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode, Failure> {
    let request = Request::of(arguments)?;
    let folder = process::target_folder().join("zoo");
    let python = match &request.venv {
        Some(venv) => venv.join("bin/python"),
        None => venv::python_with(&folder.join("venv"), PACKAGES, &["--no-cache-dir"])?,
    };
    let only_shows = request.rest.iter().any(|argument| ["--list", "--help", "-h"].contains(&argument.as_str()));
    if !only_shows && !request.has("--sutura") {
        process::run(process::cargo().args(["build", "--release", "--package", "sutura", "--bins"]))?;
    }
    let mut command = Command::new(&python);
    command.args(["-B", ZOO]);
    if !request.has("--sutura") {
        command.arg("--sutura").arg(process::target_folder().join("release/sutura"));
    }
    if !request.has("--folder") {
        command.arg("--folder").arg(folder.join("models"));
    }
    let status = command.args(&request.rest).status();
    let status = status.map_err(|error| format!("cannot run {}: {error}", python.display()))?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What is asked for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Request {
    venv: Option<PathBuf>,
    rest: Vec<String>,
}

impl Request {
    fn of(arguments: &[String]) -> Result<Self, Failure> {
        let mut request = Self::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            match argument.split_once('=') {
                Some(("--venv", folder)) => request.venv = Some(folder.into()),
                _ if argument == "--venv" => {
                    let folder = rest.next().ok_or_else(|| "`--venv` needs a folder".to_owned())?;
                    request.venv = Some(folder.into());
                }
                _ => request.rest.push(argument.clone()),
            }
        }
        Ok(request)
    }

    fn has(&self, option: &str) -> bool {
        self.rest.iter().any(|argument| argument.split('=').next() == Some(option))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn request(arguments: &[&str]) -> Result<Request, Failure> {
        Request::of(&arguments.iter().map(|&argument| argument.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn the_environment_is_ours_and_the_rest_goes_on() {
        let asked = request(&["--only", "bert", "--venv", "there", "--json=x"]).unwrap();
        assert_eq!(asked.venv, Some("there".into()));
        assert_eq!(asked.rest, ["--only", "bert", "--json=x"]);
        assert!(asked.has("--json") && !asked.has("--sutura"));
        assert_eq!(request(&["--venv=there"]).unwrap().venv, Some("there".into()));
        assert!(request(&["--venv"]).unwrap_err().contains("folder"));
    }

    #[test]
    fn the_list_has_80_networks_of_three_packages() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../import/zoo/models.txt");
        let text = std::fs::read_to_string(path).unwrap();
        let of = |package: &str| text.lines().filter(|line| line.starts_with(&format!("{package} "))).count();
        assert_eq!([of("torchvision"), of("timm"), of("transformers")], [30, 30, 20]);
    }
}
