//! What every run against real replicas uses.
//!
//! ```text
//! debt      what a run owes to undo, and who undoes it when the run is killed
//! doctor    what this machine can do, found out by doing it
//! room      a thread in a network namespace;  process, program: what runs
//! disk      a file system of one's own;  power: its end
//! replica   the process that is tested;  operator: who asks it;  outcome: what came of it
//! world     a cluster that changes;  api_server: where it is written
//! ```

pub mod api_server;
pub mod debt;
pub mod disk;
pub mod doctor;
pub mod operator;
pub mod outcome;
pub mod power;
pub mod process;
pub mod program;
pub mod replica;
pub mod room;
pub mod run_id;
pub mod world;
