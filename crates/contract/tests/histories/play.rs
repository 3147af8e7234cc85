//! Plays a history: objects change, the leader commits, clients look.

use lockstep_contract::board::Board;
use lockstep_resolution::View;
use lockstep_state::Command;
use serde_json::Value;

use crate::{
    hearing::{Checked, Hearing},
    history::{Event, History},
    seats::Seat,
    world::World,
};

/// How clients reach the service. A stream is known by the number of its opening.
pub(crate) trait Transport {
    /// What the service answers from.
    fn board(&self) -> &Board;

    /// Opens a stream.
    ///
    /// # Errors
    ///
    /// The name of the code with which it was refused.
    fn open(&mut self, stream: usize, seat: &Seat) -> Result<(), String>;

    /// The next message of an open stream, if there is one now.
    ///
    /// # Errors
    ///
    /// The stream has ended.
    fn next(&mut self, stream: usize) -> Result<Option<Value>, String>;

    /// Gives up a stream.
    fn close(&mut self, stream: usize);
}

/// A client with its open stream, if it has one.
struct Client {
    seat: &'static Seat,
    open: Option<Open>,
}

struct Open {
    stream: usize,
    hearing: Hearing,
}

struct Player<T> {
    world: World,
    transport: T,
    clients: Vec<Client>,
    /// How many streams were asked for.
    streams: usize,
}

/// Plays a history to its end.
///
/// # Errors
///
/// What was told, or not told, and should not have been so.
pub(crate) fn play(history: &History, transport: impl Transport) -> Checked {
    let (world, commands) = World::new(&history.rules, history.is_peopled);
    transport.board().change(commands);
    let clients = history.clients().into_iter();
    let mut player = Player {
        world,
        transport,
        clients: clients.map(|seat| Client { seat, open: None }).collect(),
        streams: 0,
    };
    for event in &history.events {
        player.happen(event)?;
    }
    player.end()
}

impl<T: Transport> Player<T> {
    fn happen(&mut self, event: &Event) -> Checked {
        match event {
            Event::Put { slot, turns } => self.world.put(*slot, turns),
            Event::Turn { slot, knob, to } => self.world.turn(*slot, *knob, *to),
            Event::Scene { scene } => self.world.play(*scene),
            Event::Delete { slot } => self.world.delete(*slot),
            Event::Again { slot } => self.world.again(*slot),
            Event::Stir { slot, way } => {
                self.commit();
                let commands = self.world.stir(*slot, *way)?;
                self.change(commands);
            }
            Event::Lose { slot } => self.world.lose(*slot),
            Event::Relist { slot } => self.world.relist(*slot),
            Event::Commit => self.commit(),
            Event::Look { client } => self.look(client % self.clients.len())?,
            Event::Settle => self.settle()?,
            Event::Read { client } => self.read(client % self.clients.len())?,
            Event::Reopen { client } => self.reopen(client % self.clients.len())?,
        }
        Ok(())
    }

    /// All is quiet: everything is known and committed, and everybody has looked.
    fn end(&mut self) -> Checked {
        self.world.recover();
        self.settle()?;
        let elsewhere = *self.transport.board().newest().position();
        self.world.is_at(&elsewhere)?;
        (0..self.clients.len()).try_for_each(|client| self.reopen(client))
    }

    fn settle(&mut self) -> Checked {
        self.commit();
        (0..self.clients.len()).try_for_each(|client| self.look(client))
    }

    fn commit(&mut self) {
        let commands = self.world.commit();
        self.change(commands);
    }

    fn change(&mut self, commands: Vec<Command>) {
        if commands.is_empty() {
            return;
        }
        self.transport.board().change(commands);
        for open in self.clients.iter_mut().filter_map(|it| it.open.as_mut()) {
            open.hearing.committed(self.world.committed());
        }
    }

    /// A client takes everything that there is; it opens a stream if it has none.
    fn look(&mut self, client: usize) -> Checked {
        if self.clients[client].open.is_none() {
            self.open(client)?;
        }
        match &mut self.clients[client].open {
            Some(open) => look(&mut self.transport, open),
            None => Ok(()),
        }
    }

    /// A client takes one message; if there is none, it has everything.
    fn read(&mut self, client: usize) -> Checked {
        let Some(open) = &mut self.clients[client].open else {
            return Ok(());
        };
        match self.transport.next(open.stream)? {
            Some(message) => open.hearing.hear(message),
            None => open.hearing.complete(),
        }
    }

    /// A client opens another stream, and gives up the one that it has.
    fn reopen(&mut self, client: usize) -> Checked {
        let old = self.clients[client].open.take();
        self.look(client)?;
        let Some(mut old) = old else {
            return Ok(());
        };
        look(&mut self.transport, &mut old)?;
        self.transport.close(old.stream);
        match &self.clients[client].open {
            Some(new) => old.hearing.agrees(&new.hearing),
            None => Ok(()),
        }
    }

    /// Opens the stream of a client, unless it is refused, and rightly.
    fn open(&mut self, client: usize) -> Checked {
        let now = self.world.committed();
        let Client { seat, open } = &mut self.clients[client];
        self.streams += 1;
        let stream = self.streams;
        let told = self.transport.open(stream, seat);
        match (told, Hearing::refused(seat, now)) {
            (Ok(()), None) => {
                let hearing = Hearing::new(seat, now);
                *open = Some(Open { stream, hearing });
                Ok(())
            }
            (Err(code), Some(right)) if code == right => Ok(()),
            (told, right) => {
                let Seat { name, path, .. } = seat;
                Err(format!("{name} ({path}): {told:?}, right is {right:?}"))
            }
        }
    }
}

fn look(transport: &mut impl Transport, open: &mut Open) -> Checked {
    while let Some(message) = transport.next(open.stream)? {
        open.hearing.hear(message)?;
    }
    open.hearing.complete()
}
