//! The whole way from facts to answers, with what must hold along it.
//!
//! ```text
//! facts ─list─▶ catalogue ─reconcile─▶ commands ─encode, decode─▶ batch ─apply─▶ state
//!                                                        answers ◀─ image ◀─┘
//! ```

use lockstep_catalog::{Catalog, Listed, SourceEvent};
use lockstep_model::{Cursor, ENTRY_BYTES_MAX, Fact, FactKey, FactKind, Settings};
use lockstep_position::{HistoryId, LogId, Term};
use lockstep_state::{Batch, Command, State, codec};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::served;

const TERM: Term = Term::from_u64(1);
const HISTORY: HistoryId = HistoryId::from_u128(0xabc);

/// Joins facts, and answers from what came of it.
pub(crate) fn check(facts: BTreeMap<FactKey, Fact>) {
    let mut leader = Leader::listing(facts);
    leader.commit();
    check_state(&leader.state);
}

/// A mesh in which one fact comes and goes ends as one that always had it, or never.
pub(crate) fn check_arrival(facts: BTreeMap<FactKey, Fact>, key: FactKey, fact: Fact) {
    let (mut others, mut with) = (facts.clone(), facts);
    others.remove(&key);
    with.insert(key.clone(), fact.clone());
    let mut always = Leader::listing(with);
    always.commit();
    let mut leader = Leader::listing(others);
    leader.commit();
    let never = leader.state.content().digest();
    leader.observe(&key, Some(fact));
    leader.commit();
    let digests = [&leader, &always].map(|it| it.state.content().digest());
    assert_eq!(digests[0], digests[1], "it came, or was always there");
    check_state(&leader.state);
    leader.observe(&key, None);
    leader.commit();
    let digest = leader.state.content().digest();
    assert_eq!(digest, never, "it went, or was never there");
}

/// What must hold for every state, however it came about.
pub(crate) fn check_state(state: &State) {
    let image = written(state);
    let read = State::from_image(&mut image.as_slice());
    let read = read.map_err(|error| error.to_string());
    assert_eq!(read.as_ref().err(), None);
    assert_eq!(read.ok().as_ref().map(written), Some(image));
    served::ask_everything(state);
}

/// The image of a state.
pub(crate) fn written(state: &State) -> Vec<u8> {
    let mut bytes = Vec::new();
    let result = state.image().write(&mut bytes);
    assert!(result.is_ok(), "{result:?}");
    bytes
}

/// A leader that has listed every kind.
struct Leader {
    catalog: Catalog,
    state: State,
    settings: Arc<Settings>,
    events: u64,
}

impl Leader {
    fn listing(facts: BTreeMap<FactKey, Fact>) -> Self {
        let (state, settings) = (State::default(), Arc::<Settings>::default());
        let mut leader = Self {
            catalog: Catalog::resume(&state, settings.clone(), HISTORY),
            state,
            settings,
            events: 0,
        };
        for kind in FactKind::ALL {
            let of_kind = facts.iter().filter(|(key, _)| key.kind == kind);
            let listed = Listed {
                kind,
                facts: of_kind.map(|(k, v)| (k.clone(), v.clone())).collect(),
                unread: BTreeSet::new(),
                cursor: leader.cursor(),
            };
            leader.catalog.observe(SourceEvent::Listed(listed));
        }
        leader
    }

    fn observe(&mut self, key: &FactKey, fact: Option<Fact>) {
        let (key, cursor) = (key.clone(), self.cursor());
        self.catalog
            .observe(SourceEvent::Changed { key, fact, cursor });
    }

    /// Commits what the catalogue wants; afterwards neither it nor a new leader wants more.
    fn commit(&mut self) {
        let commands = self.catalog.reconcile(&self.state);
        for command in &commands {
            let size = codec::size(command);
            assert!(size <= ENTRY_BYTES_MAX, "a command of {size} bytes");
        }
        let batch = Batch::whole(TERM, commands);
        let read = codec::decode_batch(&codec::encode_batch(&batch));
        assert_eq!(read.as_ref(), Ok(&batch));
        let index = self.events;
        self.state.apply(LogId { term: TERM, index }, batch);
        assert_eq!(self.catalog.reconcile(&self.state), NOTHING);
        let mut next = Catalog::resume(&self.state, self.settings.clone(), HISTORY);
        assert_eq!(next.reconcile(&self.state), NOTHING);
    }

    fn cursor(&mut self) -> Cursor {
        self.events += 1;
        Cursor(self.events.to_string().into())
    }
}

const NOTHING: &[Command] = &[];
