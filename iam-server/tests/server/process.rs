//! Starts the server's binary, reads its output and ends it.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read, Seek as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use tempfile::TempDir;

use crate::client::Client;

/// How long a test waits before it fails. This is far more than any wait needs, even on a busy machine.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(30);

/// Calls `ask` until it returns an answer.
pub(crate) fn wait_for<T>(what: &str, limit: Duration, mut ask: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + limit;
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(Instant::now() < deadline, "waited {} seconds for {what}", limit.as_secs());
        thread::sleep(Duration::from_millis(20));
    }
}

/// Returns a command whose environment has only the `PATH` of this process.
pub(crate) fn clean_command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A working directory for servers. It is deleted when this is dropped.
pub(crate) struct Home(TempDir);

impl Home {
    pub(crate) fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Returns the sorted names of its files.
    pub(crate) fn files(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Prepares a run of the server's binary in this directory.
    pub(crate) fn iam_server(&self) -> Launch {
        let mut command = clean_command(Path::new(env!("CARGO_BIN_EXE_iam-server")));
        command.current_dir(self.0.path());
        Launch(command)
    }

    /// Starts a server with the default settings, except for the port and the rate limits.
    pub(crate) fn serve(&self) -> Server {
        self.iam_server().serve()
    }
}

/// A command to run, with its settings.
pub(crate) struct Launch(Command);

impl Launch {
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Self {
        self.0.env(name, value);
        self
    }

    pub(crate) fn args<A: AsRef<std::ffi::OsStr>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.0.args(arguments);
        self
    }

    /// Sets what the command reads from its standard input.
    pub(crate) fn input(mut self, text: &str) -> Self {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file.rewind().unwrap();
        self.0.stdin(file);
        self
    }

    /// Runs the command to its end, with a standard output that no process reads.
    pub(crate) fn run_unread(mut self) -> Ended {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let ended = self.0.stdout(writer).output().unwrap();
        Ended { code: ended.status.code(), output: String::new(), log: String::from_utf8(ended.stderr).unwrap() }
    }

    /// Runs the command to its end, with a terminal as its error output. Returns what it writes there.
    pub(crate) fn run_on_terminal(mut self) -> String {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&controller).unwrap();
        unlockpt(&controller).unwrap();
        let path = ptsname(&controller, Vec::new()).unwrap().into_string().unwrap();
        self.0.stdout(Stdio::null()).stderr(File::options().read(true).write(true).open(path).unwrap());
        let mut child = self.0.spawn().unwrap();
        // The other end is closed when its last handle is dropped, and this command has one.
        drop(self);
        let mut written = Vec::new();
        // Linux returns EIO at the end.
        let _ = File::from(controller).read_to_end(&mut written);
        assert!(child.wait().unwrap().success());
        String::from_utf8(written).unwrap()
    }

    /// Runs the command to its end.
    pub(crate) fn run(self) -> Ended {
        let mut process = Process::start(self.0);
        let status = process.wait();
        Ended { code: status.code(), output: process.output.text(), log: process.log.text() }
    }

    /// Starts a server on a port of its own and waits until it listens.
    pub(crate) fn serve(self) -> Server {
        self.start().ready()
    }

    /// Starts a server on a port of its own, and waits until it answers. Its services may not be ready yet.
    pub(crate) fn start_answering(self) -> Server {
        self.env("IAM_LOG", "iam_server=debug").start().ready_at("starting at http")
    }

    /// Starts a server on a port of its own, without waiting until it listens.
    pub(crate) fn start(self) -> Starting {
        self.start_at(0)
    }

    /// Starts a server on this port and waits until it listens.
    pub(crate) fn serve_at(self, port: u16) -> Server {
        self.start_at(port).ready()
    }

    fn start_at(mut self, port: u16) -> Starting {
        // Tests send more requests than users do.
        if !self.0.get_envs().any(|(name, _)| name == "IAM_RATE_LIMITS") {
            self.0.env("IAM_RATE_LIMITS", "off");
        }
        self.0.args(["--listen", &format!("127.0.0.1:{port}")]);
        Starting(Process::start(self.0))
    }
}

/// A process that ended by itself.
#[derive(Debug)]
pub(crate) struct Ended {
    /// `None` if a signal ended it.
    pub(crate) code: Option<i32>,
    /// What it wrote to its standard output.
    pub(crate) output: String,
    /// What it wrote to its error output.
    pub(crate) log: String,
}

/// A server that does not listen yet.
pub(crate) struct Starting(Process);

impl Starting {
    pub(crate) fn ready(self) -> Server {
        self.ready_at("listening on http")
    }

    fn ready_at(self, said: &str) -> Server {
        let line = self.0.log.wait_for_line(said);
        let (_, url) = line.split_once("://").unwrap();
        let address = url.split('/').next().unwrap().parse();
        let address = address.unwrap_or_else(|error| panic!("{error}: there is no address in {line}"));
        Server { process: self.0, address }
    }
}

/// A server that listens. It is killed when this is dropped.
pub(crate) struct Server {
    process: Process,
    pub(crate) address: SocketAddr,
}

impl Server {
    /// A client that is not logged in.
    pub(crate) fn client(&self) -> Client {
        Client::of(self.address)
    }

    pub(crate) fn log(&self) -> &Lines {
        &self.process.log
    }

    /// Kills the process (`kill -9`), and returns when it has ended.
    pub(crate) fn kill(mut self) {
        self.process.child.kill().unwrap();
        self.process.child.wait().unwrap();
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.process.pid(), signal).unwrap();
    }

    /// Waits until the server has ended by itself.
    pub(crate) fn end(mut self) -> Ended {
        let status = self.process.wait();
        Ended { code: status.code(), output: self.process.output.text(), log: self.process.log.text() }
    }

    /// Sends SIGTERM, and waits until the server has ended.
    pub(crate) fn stop(self) -> Ended {
        self.signal(Signal::TERM);
        self.end()
    }
}

/// An address that has no listener, for a test or for a server that is about to start. It is not 127.0.0.1, whose ports
/// any outgoing connection may take at any moment.
pub(crate) fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.53:0").unwrap().local_addr().unwrap()
}

/// A running process. It is killed when this is dropped.
pub(crate) struct Process {
    child: Child,
    pub(crate) output: Lines,
    log: Lines,
}

impl Process {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{:?}: {error}", command.get_program()));
        let output = Lines::of(child.stdout.take().unwrap());
        let log = Lines::of(child.stderr.take().unwrap());
        Self { child, output, log }
    }

    pub(crate) fn log(&self) -> &Lines {
        &self.log
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    fn wait(&mut self) -> ExitStatus {
        let deadline = Instant::now() + 2 * TIMEOUT;
        while Instant::now() < deadline {
            if let Some(status) = self.child.try_wait().unwrap() {
                self.output.wait_for_end();
                self.log.wait_for_end();
                return status;
            }
            thread::sleep(Duration::from_millis(5));
        }
        panic!("the process did not end; its log:\n{}", self.log.text());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if thread::panicking() {
            // The log of this process may explain why the test failed.
            println!("a process with the status {:?} wrote:\n{}", self.child.try_wait(), self.log.text());
        }
        // This fails if the process has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The lines that a process writes, as they arrive.
pub(crate) struct Lines(Arc<(Mutex<Written>, Condvar)>);

#[derive(Default)]
struct Written {
    lines: Vec<String>,
    is_closed: bool,
}

impl Lines {
    /// Reads all the time, even if no test waits for a line: a full pipe would stop the process.
    fn of(stream: impl Read + Send + 'static) -> Self {
        let shared = Arc::new((Mutex::new(Written::default()), Condvar::new()));
        let writer = Arc::clone(&shared);
        thread::spawn(move || {
            let (written, changed) = &*writer;
            for line in BufReader::new(stream).split(b'\n').map_while(Result::ok) {
                written.lock().unwrap().lines.push(String::from_utf8_lossy(&line).into_owned());
                changed.notify_all();
            }
            written.lock().unwrap().is_closed = true;
            changed.notify_all();
        });
        Self(shared)
    }

    pub(crate) fn text(&self) -> String {
        self.0.0.lock().unwrap().lines.join("\n")
    }

    /// Waits for the first line that contains `part`, and returns it.
    pub(crate) fn wait_for_line(&self, part: &str) -> String {
        self.wait_for_any(&[part])
    }

    /// Waits for the first line that contains one of these parts, and returns it.
    pub(crate) fn wait_for_any(&self, parts: &[&str]) -> String {
        let is_wanted = |line: &&String| parts.iter().any(|part| line.contains(part));
        let find = |written: &Written| written.lines.iter().find(is_wanted).cloned();
        let written = self.wait_while(|written| find(written).is_none() && !written.is_closed);
        let (found, is_closed) = (find(&written), written.is_closed);
        // A panic with the lock would poison it, and the end of this process reads the log once more.
        drop(written);
        found.unwrap_or_else(|| {
            let end = if is_closed { "ended" } else { "still runs" };
            panic!("the process {end} and did not write any of {parts:?}; it wrote:\n{}", self.text())
        })
    }

    /// Waits until the pipe is closed, but not for ever: a child of the process may have inherited the pipe.
    fn wait_for_end(&self) {
        drop(self.wait_while(|written| !written.is_closed));
    }

    fn wait_while(&self, is_missing: impl Fn(&Written) -> bool) -> std::sync::MutexGuard<'_, Written> {
        let (written, changed) = &*self.0;
        changed.wait_timeout_while(written.lock().unwrap(), TIMEOUT, |written| is_missing(written)).unwrap().0
    }
}
