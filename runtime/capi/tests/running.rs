//! Runs docs/running.md: every block of it, in order, in one folder.
//!
//! How blocks are marked, behind the three accents:
//!
//! * `LANGUAGE file=PATH`: the text of a file, which is written;
//! * `sh`: commands, which must succeed; with `needs=namespaces` they are left out where the system has none;
//! * `text`: what the commands before print, on both streams; commands without such a block print nothing. With
//!   `if=x86_64-debian` it holds on such systems only;
//! * `dockerfile`: a folder is made as it says, and its command runs there with `chroot`;
//! * `LANGUAGE run=PATH`: another test runs it: that file, which names `running.md`.
//!
//! The folder `sutura` of the page stands for this repository, with what is built already: `cargo` is a program of this test,
//! which knows the page's commands. The Rust program is `runtime/examples/call.rs`, which Cargo builds,
//! but for its lints.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

type Result<T, E = String> = std::result::Result<T, E>;

/// A block of the page.
#[derive(Debug, Default)]
struct Block {
    line: usize,
    language: String,
    /// By `key=value` behind the language.
    marks: Vec<(String, String)>,
    text: String,
}

impl Block {
    fn mark(&self, key: &str) -> Option<&str> {
        self.marks.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    fn wrong(&self, what: impl std::fmt::Display) -> String {
        format!("line {}: {what}", self.line)
    }
}

fn blocks(page: &str) -> Result<Vec<Block>> {
    let mut found = Vec::new();
    let mut open: Option<Block> = None;
    for (number, line) in page.lines().enumerate() {
        match (line.strip_prefix("```"), &mut open) {
            (None, Some(block)) => writeln!(block.text, "{line}").map_err(|error| error.to_string())?,
            (None, None) => {}
            (Some(_), Some(_)) => found.extend(open.take()),
            (Some(info), None) => {
                let mut words = info.split_whitespace().map(str::to_owned);
                let language = words.next().unwrap_or_default();
                let marks = words.filter_map(|word| word.split_once('=').map(|(k, v)| (k.to_owned(), v.to_owned())));
                open = Some(Block { line: number + 1, language, marks: marks.collect(), text: String::new() });
            }
        }
    }
    match open {
        Some(block) => Err(block.wrong("the block does not end")),
        None => Ok(found),
    }
}

/// Where the page is run.
struct Place {
    folder: tempfile::TempDir,
    /// What the commands before printed, until a block says what that is.
    printed: Option<String>,
}

impl Place {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), printed: None }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn run(&mut self, page: &str) -> Result<()> {
        for block in blocks(page)? {
            self.run_block(&block)?;
        }
        self.nothing_left("the page ends")
    }

    fn run_block(&mut self, block: &Block) -> Result<()> {
        if block.language == "text" {
            let printed = self.printed.take().ok_or_else(|| block.wrong("nothing was printed"))?;
            let applies = block.mark("if").is_none_or(|system| system == this_system());
            // What was left out printed nothing.
            if !applies || printed == LEFT_OUT || printed == block.text {
                return Ok(());
            }
            return Err(block.wrong(format!("the page says\n{}but this was printed:\n{printed}", block.text)));
        }
        self.nothing_left(&block.wrong("a block begins"))?;
        match (block.mark("file"), block.mark("run"), block.language.as_str()) {
            (Some(file), ..) => self.write(block, file),
            (_, Some(test), _) => {
                let text =
                    fs::read_to_string(repository().join(test)).map_err(|e| block.wrong(format!("{test}: {e}")))?;
                if text.contains("running.md") { Ok(()) } else { Err(block.wrong(format!("{test} does not run it"))) }
            }
            (.., "sh") => self.shell(block),
            (.., "dockerfile") => self.container(block),
            (.., other) => Err(block.wrong(format!("no test runs a block of `{other}`"))),
        }
    }

    fn nothing_left(&mut self, what: &str) -> Result<()> {
        match self.printed.take() {
            Some(printed) if !printed.is_empty() && printed != LEFT_OUT => {
                Err(format!("{what}, and the page does not say that this was printed:\n{printed}"))
            }
            _ => Ok(()),
        }
    }

    fn write(&self, block: &Block, file: &str) -> Result<()> {
        let path = self.path().join(file);
        let written = fs::create_dir_all(path.parent().unwrap()).and_then(|()| fs::write(&path, &block.text));
        written.map_err(|error| block.wrong(format!("{file}: {error}")))
    }

    fn shell(&mut self, block: &Block) -> Result<()> {
        match block.mark("needs") {
            Some("namespaces") if !has_namespaces() => {
                self.printed = Some(LEFT_OUT.to_owned());
                return Ok(());
            }
            Some("namespaces") | None => {}
            Some(other) => return Err(block.wrong(format!("the test does not know the need `{other}`"))),
        }
        self.command(block, &block.text)
    }

    /// Runs commands, and keeps what they print.
    fn command(&mut self, block: &Block, text: &str) -> Result<()> {
        let path = format!("{}:{}", self.path().join("bin").display(), std::env::var("PATH").unwrap_or_default());
        let mut shell = Command::new("sh");
        shell.args(["-eu", "-c", &format!("exec 2>&1\n{text}")]).current_dir(self.path()).env("PATH", path);
        shell.env_remove("SUTURA_THREADS").stdin(Stdio::null());
        let done = shell.output().map_err(|error| block.wrong(error))?;
        let printed = String::from_utf8_lossy(&done.stdout).into_owned();
        if !done.status.success() {
            return Err(block.wrong(format!("{} of\n{text}{printed}", done.status)));
        }
        self.printed = Some(printed);
        Ok(())
    }

    /// Makes the folder that a file for Docker says, and runs its command there.
    fn container(&mut self, block: &Block) -> Result<()> {
        let mut steps = vec!["rm -rf image && mkdir -p image/proc".to_owned()];
        for line in block.text.lines() {
            steps.push(match line.split_once(' ') {
                Some(("FROM", "scratch")) => continue,
                Some(("COPY", places)) if places.ends_with(" /") => {
                    format!("cp -a {}/. image/", places.trim_end_matches(" /"))
                }
                Some(("CMD", words)) => {
                    let words: Vec<String> = serde_json::from_str(words).map_err(|error| block.wrong(error))?;
                    format!(
                        "unshare -r -m sh -c 'mount --rbind /proc image/proc && exec chroot image {}'",
                        words.join(" ")
                    )
                }
                _ => return Err(block.wrong(format!("the test does not know `{line}`"))),
            });
        }
        if !has_namespaces() {
            self.printed = Some(LEFT_OUT.to_owned());
            return Ok(());
        }
        self.command(block, &steps.join("\n"))
    }
}

/// What commands print that were left out.
const LEFT_OUT: &str = "\0left out";

fn this_system() -> String {
    let debian = if Path::new("/etc/debian_version").exists() { "debian" } else { "other" };
    format!("{}-{debian}", std::env::consts::ARCH)
}

/// Whether programs may be run in a folder of their own; says that not, if not.
fn has_namespaces() -> bool {
    let script = "mkdir -p proc && mount --rbind /proc proc && chroot / true";
    let folder = tempfile::tempdir().unwrap();
    let done = Command::new("unshare").args(["-r", "-m", "sh", "-c", script]).current_dir(folder.path()).output();
    let refused = match done {
        Ok(done) if done.status.success() => return true,
        Ok(done) => String::from_utf8_lossy(&done.stderr).trim().to_owned(),
        Err(error) => error.to_string(),
    };
    sutura_skip::skipped(sutura_skip::Need::Namespaces, format_args!("no folder can stand for a container: {refused}"));
    false
}

/// The tools of the page.
const TOOLS: [&str; 2] = ["sutura", "sutura-run"];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The folder of the page: the repository with what is built, and the `cargo` that knows the page's commands. None where the
/// compiler is not built, which needs LLVM.
fn prepare(place: &Place) -> Option<()> {
    let deps = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let built = deps.parent().unwrap();
    if let Some(tool) = TOOLS.iter().find(|tool| !built.join(tool).exists()) {
        sutura_skip::skipped(sutura_skip::Need::Llvm, format_args!("the tool `{tool}` is not built"));
        return None;
    }
    let example = built.join("examples/call");
    // Where all of the workspace is tested it is there, and is not built again with the features of one crate.
    if !example.exists() {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(["build", "-q", "-p", "sutura-runtime", "--example", "call"]).current_dir(repository());
        let done = cargo.args(built.ends_with("release").then_some("--release")).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
    let sutura = place.path().join("sutura");
    fs::create_dir_all(sutura.join("target/release")).unwrap();
    for name in ["Cargo.toml", "runtime", "examples"] {
        symlink(repository().join(name), sutura.join(name)).unwrap();
    }
    for tool in TOOLS {
        symlink(built.join(tool), sutura.join("target/release").join(tool)).unwrap();
    }
    for library in ["libsutura_rt.so", "libsutura_rt.a"] {
        symlink(deps.join(library), sutura.join("target/release").join(library)).unwrap();
    }
    fs::create_dir(place.path().join("bin")).unwrap();
    let script = format!(
        "#!/bin/sh
case \"$*\" in
  'build -q --release --manifest-path sutura/Cargo.toml -p sutura -p sutura-capi') exit 0 ;;
  'build -q --release --manifest-path sutura/Cargo.toml -p sutura-run') exit 0 ;;
  'run -q --manifest-path call-rust/Cargo.toml -- mlp.sutura')
    grep -q 'path = \"../sutura/runtime\"' call-rust/Cargo.toml && test -f call-rust/../sutura/runtime/Cargo.toml &&
      grep -v '^#!' sutura/runtime/examples/call.rs | cmp - call-rust/src/main.rs && exec '{}' mlp.sutura ;;
  *) echo \"the test does not know: cargo $*\" ;;
esac
exit 1
",
        example.display()
    );
    let cargo = place.path().join("bin/cargo");
    fs::write(&cargo, script).unwrap();
    fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755)).unwrap();
    Some(())
}

#[test]
fn the_page_says_what_is_so() {
    let mut place = Place::new();
    if prepare(&place).is_none() {
        return;
    }
    let page = fs::read_to_string(repository().join("docs/running.md")).unwrap();
    if let Err(wrong) = place.run(&page) {
        panic!("docs/running.md, {wrong}");
    }
}

/// A page with one fault, and words of what is said of it.
#[test]
fn wrong_pages_are_found() {
    let good = "Words.\n```sh file=a\necho a\n```\n```sh\nsh a\n```\n```text\na\n```\n";
    assert_eq!(Place::new().run(good), Ok(()));
    let cases = [
        (good.replace("```text\na", "```text\nb"), "line 8: the page says\nb\nbut this was printed:\na\n"),
        (good.replace("```sh\nsh a", "```sh\nsh a >&2; false"), "line 5: exit status: 1 of"),
        (good.replace("file=a", "file=b"), "line 5: exit status"),
        (good.replace("```text\na\n```\n", ""), "does not say that this was printed:\na\n"),
        (good.replace("```text", "```c"), "does not say that this was printed:\na\n"),
        (good.replace("```sh file=a", "```c"), "line 2: no test runs a block of `c`"),
        (good.replace("```sh file=a", "```"), "line 2: no test runs a block of ``"),
        (good.replace("```sh file=a", "```c run=Cargo.toml"), "line 2: Cargo.toml does not run it"),
        (good.replace("```sh file=a", "```c run=absent"), "line 2: absent: "),
        (good.replace("```sh\n", "```sh needs=luck\n"), "the test does not know the need `luck`"),
        (good.replace("```sh\nsh a", "```dockerfile\nRUN make"), "the test does not know `RUN make`"),
        (good.replace("a\n```\n```sh\n", "a\n"), "nothing was printed"),
        (good.trim_end().trim_end_matches('`').to_owned(), "line 8: the block does not end"),
    ];
    for (page, words) in cases {
        let found = Place::new().run(&page);
        assert!(found.as_ref().is_err_and(|wrong| wrong.contains(words)), "{page}\n{found:?}");
    }
}
