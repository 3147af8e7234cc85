//! Replays a recorded scenario in one process: no log, no API server, a real service.
//!
//! Each edit is a commit of its own and everything is said before the next one, as the
//! recorder's pauses have it.

use lockstep_model::Settings;

use crate::{
    board::Board,
    compare::Seen,
    corpus::{End, Entry, Scenario},
    mesh::{Mesh, MeshError},
    serve::Served,
    streams::{Heard, Streams},
};

/// Carries out every step and gives back what was heard; call within a runtime.
///
/// # Errors
///
/// An edit that cannot be made.
pub async fn replay(scenario: &Scenario, settings: Settings) -> Result<Seen, MeshError> {
    let mut mesh = Mesh::new(settings, scenario.objects.clone())?;
    let board = Board::with(Vec::new());
    board.change(mesh.commit());
    let served = Served::of(board).await;
    let mut streams = Streams::to(&served).await;
    let mut seen = Seen::new();
    for step in &scenario.script.steps {
        for edit in &step.edits {
            mesh.edit(edit.clone().into())?;
            let commands = mesh.commit();
            if !commands.is_empty() {
                served.board.change(commands);
            }
            streams.settle().await;
        }
        step.close.iter().for_each(|name| streams.close(name));
        for it in &step.open {
            let (path, token) = (&it.path, &it.context_token);
            streams.open(&it.stream, it.method, path, token).await;
        }
        streams.settle().await;
        for (stream, heard) in streams.take() {
            seen.entry(stream)
                .or_default()
                .push(entry(step.step, heard));
        }
    }
    Ok(seen)
}

/// What was heard, as a recording has it.
fn entry(after_step: u32, heard: Vec<Heard>) -> Entry {
    let mut messages = Vec::new();
    let mut end: Option<End> = None;
    for heard in heard {
        match heard {
            Heard::Message(message) => messages.push(message),
            Heard::End(ended) => end = Some(ended),
        }
    }
    Entry {
        after_step,
        messages,
        end,
    }
}
