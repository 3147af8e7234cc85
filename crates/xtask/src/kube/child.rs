//! A started program that cannot outlive whoever started it.

use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{self, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

/// A running program; dropping it kills the program and waits for its end.
///
/// Killing is enough: etcd's file is safe against the death of its process and
/// the API server holds nothing.
pub(super) struct Child {
    process: process::Child,
    log: PathBuf,
    // Dropping the sender releases the thread that started the program.
    hold: Option<mpsc::Sender<()>>,
    starter: Option<JoinHandle<()>>,
}

impl Child {
    /// Starts `program`, with both outputs appended to the file `log`.
    pub(super) fn start(program: &Path, arguments: &[String], log: &Path) -> io::Result<Self> {
        let output = File::options().create(true).append(true).open(log)?;
        let command = |mut command: Command| -> io::Result<Command> {
            command.args(arguments).stdin(Stdio::null());
            command
                .stdout(output.try_clone()?)
                .stderr(output.try_clone()?);
            // Ctrl-C on the terminal is for us; we stop the children in order.
            command.process_group(0);
            Ok(command)
        };
        let mut leashed = Command::new("setpriv");
        leashed.args(["--pdeathsig", "KILL", "--"]).arg(program);
        let (leashed, bare) = (command(leashed)?, command(Command::new(program))?);
        let (process, hold, starter) = spawn_from_lasting_thread(leashed, bare)?;
        Ok(Self {
            process,
            log: log.to_path_buf(),
            hold: Some(hold),
            starter: Some(starter),
        })
    }

    /// The process id.
    pub(super) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// The file that holds what the program wrote.
    pub(super) fn log(&self) -> &Path {
        &self.log
    }

    /// The exit status, when the program has ended by itself.
    pub(super) fn ended(&mut self) -> Option<ExitStatus> {
        self.process.try_wait().ok().flatten()
    }

    /// Kills the program and returns when it is gone.
    pub(super) fn stop(&mut self) {
        // Both fail only when the program has ended already, which is the aim.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.stop();
        drop(self.hold.take());
        if let Some(starter) = self.starter.take() {
            let _ = starter.join();
        }
    }
}

/// What a started program and the thread that holds it are made of.
type Started = (process::Child, mpsc::Sender<()>, JoinHandle<()>);

/// Starts the program from a thread of its own, which lasts as long as the [`Child`].
///
/// The parent-death signal follows the *thread* that started the program. A
/// test that starts the server and hands it to another thread would otherwise
/// lose it when its own thread ends.
fn spawn_from_lasting_thread(mut leashed: Command, mut bare: Command) -> io::Result<Started> {
    let (send, receive) = mpsc::channel();
    let (hold, held) = mpsc::channel::<()>();
    let starter = thread::Builder::new()
        .name("starter".to_owned())
        .spawn(move || {
            let result = match leashed.spawn() {
                // Without setpriv the program is still killed on drop, only not on our own death.
                Err(error) if error.kind() == io::ErrorKind::NotFound => bare.spawn(),
                result => result,
            };
            // The commands hold the log file open; the wait below can be long.
            drop((leashed, bare));
            let _ = send.send(result);
            let _ = held.recv();
        })?;
    let process = receive.recv().map_err(io::Error::other)??;
    Ok((process, hold, starter))
}
