//! Blocks for the shell, on a throwaway server or in a rehearsal.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::documents::block::{Block, is_foreign, repository};
use crate::process::{Home, clean_command};

/// The end of the output of one block, between the outputs of several blocks.
const END: &str = "\u{1e}";

const SERVER: &str = env!("CARGO_BIN_EXE_iam-server");

/// A bash in a directory, with variables. Except in a rehearsal, `iam-server` is the real program.
pub(super) struct Shell {
    directory: PathBuf,
    path: OsString,
    variables: Vec<(&'static str, String)>,
}

impl Shell {
    pub(super) fn new(directory: &Path) -> Self {
        let mut path = Path::new(SERVER).parent().unwrap().as_os_str().to_owned();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap());
        Self { directory: directory.to_owned(), path, variables: Vec::new() }
    }

    pub(super) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.variables.push((name, value.into()));
        self
    }

    /// Runs a text, all of whose commands must succeed. Returns its output.
    pub(super) fn run(&self, text: &str) -> String {
        self.try_run(text).unwrap_or_else(|output| panic!("this fails:\n{text}\n{output}"))
    }

    /// Runs a text. Returns its output, or if it fails, its output and its error output as an error.
    pub(super) fn try_run(&self, text: &str) -> Result<String, String> {
        let mut bash = clean_command(Path::new("bash"));
        bash.current_dir(&self.directory).env("PATH", &self.path).envs(self.variables.iter().cloned());
        let ended = bash.args(["-euo", "pipefail", "-c", text]).output().unwrap();
        let [output, errors] = [ended.stdout, ended.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        if ended.status.success() { Ok(output) } else { Err(output + &errors) }
    }

    /// Runs all blocks in one shell, so that they share variables and functions. Returns the output of each block.
    pub(super) fn run_all<'a>(&self, blocks: impl IntoIterator<Item = &'a Block>) -> Vec<String> {
        let texts: Vec<String> = blocks.into_iter().map(|block| format!("{}\nprintf '{END}'\n", block.text)).collect();
        let output = self.run(&texts.concat());
        output.split_terminator(END).map(str::to_owned).collect()
    }
}

/// A copy of the repository, for blocks that need a machine. The programs that they call only check their arguments.
pub(super) struct Rehearsal {
    home: Home,
    shell: Shell,
}

/// Programs that do their real work in a rehearsal.
const REAL: [&str; 12] =
    ["bash", "cat", "chmod", "cp", "env", "grep", "install", "ln", "mkdir", "openssl", "sed", "uname"];

/// Programs that `stand-in` replaces.
const STAND_INS: [&str; 15] = [
    "apt-get",
    "cargo",
    "curl",
    "docker",
    "git",
    "helm",
    "iam-server",
    "kubectl",
    "npm",
    "python3",
    "runuser",
    "sha256sum",
    "ssh-keygen",
    "systemctl",
    "tar",
];

impl Rehearsal {
    pub(super) fn new() -> Self {
        let home = Home::new();
        let copy = home.path().join("copy");
        copy_directory(&repository(), &copy);
        let stand_in = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/server/documents/stand-in");
        let programs = home.path().join("programs");
        fs::create_dir(&programs).unwrap();
        for name in STAND_INS {
            symlink(&stand_in, programs.join(name)).unwrap();
        }
        let path = std::env::var_os("PATH").unwrap();
        for name in REAL {
            let found = std::env::split_paths(&path).map(|directory| directory.join(name)).find(|file| file.exists());
            symlink(found.unwrap_or_else(|| panic!("there is no {name}")), programs.join(name)).unwrap();
        }
        for directory in ["scripts", ".ci"] {
            fs::create_dir(copy.join(directory)).unwrap();
            for entry in fs::read_dir(repository().join(directory)).unwrap() {
                symlink(&stand_in, copy.join(directory).join(entry.unwrap().file_name())).unwrap();
            }
        }
        let shell = Shell { directory: copy, path: programs.into(), variables: Vec::new() };
        let shell = shell.with("SERVER", SERVER).with("REPOSITORY", repository().to_str().unwrap());
        Self { home, shell }
    }

    /// The copy of the repository.
    pub(super) fn directory(&self) -> &Path {
        &self.shell.directory
    }

    pub(super) fn run(&self, block: &Block) {
        self.run_as(block, &block.text);
    }

    /// Runs another text instead of the block, in which paths lead into the copy.
    pub(super) fn run_as(&self, block: &Block, text: &str) {
        if let Err(output) = self.shell.try_run(text) {
            panic!("{}, rehearsed in {:?}: {output}", block.place, self.home.path());
        }
    }
}

/// Copies a directory, without build results and without the scripts.
fn copy_directory(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if is_foreign(name) || name == "scripts" {
            continue;
        }
        if path.is_dir() {
            copy_directory(&path, &to.join(name));
        } else {
            fs::copy(&path, to.join(name)).unwrap();
        }
    }
}
