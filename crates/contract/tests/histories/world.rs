//! The objects of a history, what the leader was told of them, and what is committed.

use lockstep_contract::{
    edit::{Delete, Edit, Patch},
    mesh::Mesh,
};
use lockstep_model::{FactKey, FactKind, Settings, TransportMode};
use lockstep_position::Position;
use lockstep_state::Command;
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use crate::{
    hearing::Checked,
    oracle::{Oracle, Rules},
    scenes,
    universe::{Slot, slots},
};

/// The objects, and the leader.
pub(crate) struct World {
    rules: Rules,
    slots: Vec<Slot>,
    /// How the knobs of each object are turned.
    turns: Vec<Vec<u8>>,
    mesh: Mesh,
    /// The objects as the leader was told of them.
    told: BTreeMap<FactKey, Value>,
    lost: BTreeSet<FactKind>,
    committed: Rc<Oracle>,
}

impl World {
    /// A world with the usual objects, or none, and the commands of its first commit.
    pub(crate) fn new(rules: &Rules, is_peopled: bool) -> (Self, Vec<Command>) {
        let slots = slots();
        let usual = slots.iter().filter(|slot| is_peopled && slot.is_usual);
        let objects = usual.map(|slot| slot.object(&[])).collect();
        let mesh = Mesh::new(settings(rules), objects).expect("objects");
        let mut world = Self {
            rules: rules.clone(),
            turns: slots.iter().map(|slot| vec![0; slot.knobs.len()]).collect(),
            slots,
            told: mesh.objects().clone(),
            mesh,
            lost: BTreeSet::new(),
            committed: Rc::default(),
        };
        let commands = world.commit();
        (world, commands)
    }

    /// What is right by what is committed.
    pub(crate) fn committed(&self) -> &Rc<Oracle> {
        &self.committed
    }

    /// Commits what was observed.
    pub(crate) fn commit(&mut self) -> Vec<Command> {
        if self.lost.is_empty() {
            self.committed = Rc::new(Oracle::new(&self.rules, self.told.values()));
        }
        self.mesh.commit()
    }

    pub(crate) fn put(&mut self, slot: usize, turns: &[u8]) {
        let known = &mut self.turns[slot];
        for (turn, new) in known.iter_mut().zip(turns) {
            *turn = *new;
        }
        let object = self.slots[slot].object(&self.turns[slot]);
        self.edit(slot, Edit::Apply(object));
    }

    pub(crate) fn turn(&mut self, slot: usize, knob: u8, to: u8) {
        let turns = &mut self.turns[slot];
        let knob = usize::from(knob) % turns.len();
        turns[knob] = to;
        let object = self.slots[slot].object(turns);
        self.edit(slot, Edit::Apply(object));
    }

    pub(crate) fn play(&mut self, scene: usize) {
        for (slot, knob, to) in scenes::turns(scene, &self.slots) {
            self.turn(slot, knob, to);
        }
    }

    pub(crate) fn delete(&mut self, slot: usize) {
        let Slot {
            kind,
            namespace,
            name,
            ..
        } = self.slots[slot];
        let delete = Delete {
            kind: kind.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            grace: 0,
            unseen: false,
        };
        self.edit(slot, Edit::Delete(delete));
    }

    /// Tells again of an object that is there.
    pub(crate) fn again(&mut self, slot: usize) {
        let known = self.mesh.objects().get(&key(&self.slots[slot])).cloned();
        if let Some(object) = known {
            self.edit(slot, Edit::Apply(object));
        }
    }

    /// Writes what shows in no answer. Call when all that was observed is committed.
    ///
    /// # Errors
    ///
    /// It made a revision.
    pub(crate) fn stir(&mut self, slot: usize, way: u8) -> Result<Vec<Command>, String> {
        let before = position(&self.mesh);
        let merge = match way % 4 {
            0 => json!({"metadata": {"resourceVersion": way.to_string(), "generation": way}}),
            1 => json!({"metadata": {"annotations": {"note": way.to_string()}}}),
            2 => json!({"metadata": {"labels": {"note": way.to_string()}}}),
            _ => json!({"status": {"conditions": [{"type": "Noted", "status": "True"}]}}),
        };
        let Slot {
            kind,
            namespace,
            name,
            ..
        } = self.slots[slot];
        let patch = Patch {
            kind: kind.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            merge,
        };
        self.edit(slot, Edit::Patch(patch));
        let commands = self.commit();
        let after = position(&self.mesh);
        if before != after {
            return Err(format!(
                "what shows in no answer made a revision: {commands:?}"
            ));
        }
        Ok(commands)
    }

    pub(crate) fn lose(&mut self, slot: usize) {
        let kind = key(&self.slots[slot]).kind;
        self.mesh.lose(kind);
        self.lost.insert(kind);
    }

    pub(crate) fn relist(&mut self, slot: usize) {
        let Slot { kind, .. } = self.slots[slot];
        let found = key(&self.slots[slot]).kind;
        let edit = Edit::Relist(kind.to_owned());
        self.mesh.edit(edit).expect("a watched kind");
        self.lost.remove(&found);
        self.told.retain(|key, _| key.kind != found);
        let listed = self
            .mesh
            .objects()
            .iter()
            .filter(|(key, _)| key.kind == found);
        let listed = listed.map(|(key, object)| (key.clone(), object.clone()));
        self.told.extend(listed);
    }

    /// Lists anew what is lost.
    pub(crate) fn recover(&mut self) {
        for slot in 0..self.slots.len() {
            if self.lost.contains(&key(&self.slots[slot]).kind) {
                self.relist(slot);
            }
        }
    }

    /// Whether the mesh's state is the one that its commands make elsewhere.
    pub(crate) fn is_at(&self, elsewhere: &Position) -> Checked {
        let own = self.mesh.state().position();
        match own.state_digest == elsewhere.state_digest {
            true => Ok(()),
            false => Err(format!("{own:?} is not {elsewhere:?}")),
        }
    }

    /// An object that is not there cannot be changed, which is no fault.
    fn edit(&mut self, slot: usize, edit: Edit) {
        if self.mesh.edit(edit).is_err() {
            return;
        }
        let key = key(&self.slots[slot]);
        if self.lost.contains(&key.kind) {
            return;
        }
        match self.mesh.objects().get(&key) {
            Some(object) => self.told.insert(key, object.clone()),
            None => self.told.remove(&key),
        };
    }
}

fn position(mesh: &Mesh) -> (String, String) {
    let position = mesh.state().position();
    (
        position.revision.to_string(),
        position.state_digest.to_string(),
    )
}

fn key(slot: &Slot) -> FactKey {
    let resource = format!("{}s", slot.kind.to_lowercase());
    let mut kinds = FactKind::ALL.into_iter();
    let kind = kinds.find(|kind| kind.resource() == resource);
    FactKey::named(kind.expect("a kind"), slot.namespace, slot.name)
}

fn settings(rules: &Rules) -> Settings {
    let chart = lockstep_contract::corpus::Instance::Chart.settings();
    Settings {
        transport_mode: match rules.transport_header {
            true => TransportMode::TransportHeader,
            false => TransportMode::Transparent,
        },
        h2_upgrade: rules.h2_upgrade,
        ipv6: rules.ipv6,
        zone_weights: rules.zone_weights,
        meshed_http2: chart.meshed_http2.filter(|_| rules.http2),
        node_hints: rules.node_hints,
        serve_terminating: rules.serve_terminating,
        ..Settings::default()
    }
}
