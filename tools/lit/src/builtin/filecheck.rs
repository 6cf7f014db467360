//! `FileCheck`, in process.

use sutura_filecheck::tool::{Invocation, run as filecheck};

use crate::tool::Call;

pub(super) fn run(call: &mut Call<'_>) -> i32 {
    filecheck(Invocation {
        args: call.args,
        environment_options: call.env.get("FILECHECK_OPTS").map(String::as_str),
        directory: call.cwd,
        stdin: &mut &*call.stdin,
        stdout: call.stdout,
        stderr: call.stderr,
    })
}
