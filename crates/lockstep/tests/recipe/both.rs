//! A client of the leader and one of a follower, which must end equal.

use std::{collections::BTreeSet, net::SocketAddr};
use tonic::Status;

use super::{
    listener::{Listener, Said},
    stage::Sides,
};

/// The same question on both sides.
pub struct Both {
    pub leader: Listener,
    pub follower: Listener,
}

impl Both {
    /// Nothing is asked yet.
    pub fn new(sides: &Sides, path: &str, token: &str) -> Self {
        Self {
            leader: Listener::new(&sides.leader, path, token),
            follower: Listener::new(&sides.follower, path, token),
        }
    }

    pub async fn open(sides: &Sides, path: &str, token: &str) -> Result<Self, Status> {
        let mut both = Self::new(sides, path, token);
        both.reopen().await?;
        Ok(both)
    }

    pub async fn reopen(&mut self) -> Result<(), Status> {
        self.leader.open().await?;
        self.follower.open().await
    }

    pub fn hang_up(&mut self) {
        self.leader.hang_up();
        self.follower.hang_up();
    }

    pub fn each(&mut self) -> [&mut Listener; 2] {
        [&mut self.leader, &mut self.follower]
    }

    /// The next message is this one.
    pub async fn hear(&mut self, expected: &Said) {
        for listener in self.each() {
            assert_eq!(Said::from(&listener.next().await), *expected);
        }
        self.assert_equal();
    }

    /// Follows until both hold these addresses; `check` sees what is held after each message.
    pub async fn until(&mut self, expected: &BTreeSet<SocketAddr>, check: impl Fn(&Listener)) {
        for listener in self.each() {
            while listener.addresses().as_ref() != Some(expected) {
                listener.next().await;
                check(listener);
            }
        }
    }

    /// Whole endpoints, labels included.
    pub fn assert_equal(&self) {
        assert_eq!(self.leader.held(), self.follower.held());
    }
}
