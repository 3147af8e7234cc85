//! What each sort of change does, in the order in which controllers write.

use fastrand::Rng;

use super::{Change, Member, Service, World, Write, object};

/// Endpoints that a mass event replaces.
const MASS: usize = 50;
/// Slices that a new service may have.
const NEW_SLICES_MAX: usize = 2;

// === changes of World ===

impl World {
    /// Makes a change. One that is not possible as the cluster is now becomes another one.
    pub(super) fn make(&mut self, change: Change, dice: &mut Rng) -> Vec<Write> {
        let busy = self.services.len() - self.shape.idle;
        match change {
            Change::Create if busy < self.shape.services * 3 / 2 => {
                let name = self.new_name();
                self.create(&name, dice)
            }
            Change::Delete if busy > self.shape.services / 2 => {
                let name = self.choose(dice);
                self.delete(&name)
            }
            Change::Recreate => {
                let name = self.choose(dice);
                let mut writes = self.delete(&name);
                writes.extend(self.create(&name, dice));
                writes
            }
            Change::Move => self.move_endpoint(dice),
            Change::Split => self.split_or_merge(dice),
            Change::Mass => (0..MASS).flat_map(|_| self.update(dice)).collect(),
            Change::Update | Change::Create | Change::Delete => self.update(dice),
        }
    }

    /// Four of five changes meet the first fifth of the services: some are hot.
    fn choose(&self, dice: &mut Rng) -> String {
        let names: Vec<&String> = self.services.keys().collect();
        let busy = names.get(self.shape.idle..).unwrap_or_default();
        let hot = busy.get(..busy.len().div_ceil(5)).unwrap_or_default();
        let among = if dice.u8(0..5) < 4 { hot } else { busy };
        dice.choice(among)
            .map_or_else(String::new, |name| (*name).clone())
    }

    pub(super) fn create(&mut self, name: &str, dice: &mut Rng) -> Vec<Write> {
        let mut writes = vec![object::service(name)];
        let mut service = Service {
            pods: self.shape.has_pods && dice.bool(),
            ..Service::default()
        };
        for _ in 0..dice.usize(1..=NEW_SLICES_MAX) {
            let count = dice.usize(1..=self.shape.endpoints_max);
            let members: Vec<Member> = (0..count).map(|_| self.member()).collect();
            if service.pods {
                writes.extend(members.iter().map(|member| object::pod(*member)));
            }
            let slice = service.new_slice(name);
            writes.push(object::slice(&slice, name, (&members, service.pods)));
            service.slices.insert(slice, members);
        }
        self.services.insert(name.to_owned(), service);
        writes
    }

    fn delete(&mut self, name: &str) -> Vec<Write> {
        let Some(service) = self.services.remove(name) else {
            return Vec::new();
        };
        let mut writes = Vec::new();
        for (slice, members) in &service.slices {
            writes.push(object::delete("EndpointSlice", slice));
            if service.pods {
                writes.extend(members.iter().map(|member| object::delete_pod(*member)));
            }
        }
        writes.push(object::delete("Service", name));
        writes
    }

    /// A new endpoint takes the place of one that goes.
    fn update(&mut self, dice: &mut Rng) -> Vec<Write> {
        let name = self.choose(dice);
        let new = self.member();
        let Some(service) = self.services.get_mut(&name) else {
            return Vec::new();
        };
        let pods = service.pods;
        let slices = service.slices.iter_mut();
        let Some((slice, members)) = dice.choice(slices.collect::<Vec<_>>()) else {
            return Vec::new();
        };
        let old = (!members.is_empty()).then(|| members.swap_remove(dice.usize(..members.len())));
        members.push(new);
        let mut writes = Vec::new();
        if pods {
            writes.push(object::pod(new));
        }
        writes.push(object::slice(slice, &name, (members, pods)));
        if let Some(old) = old.filter(|_| pods) {
            writes.push(object::delete_pod(old));
        }
        writes
    }

    /// Added to the one before it is removed from the other, as the slice controller does.
    fn move_endpoint(&mut self, dice: &mut Rng) -> Vec<Write> {
        let name = self.choose(dice);
        let Some(service) = self.services.get_mut(&name) else {
            return Vec::new();
        };
        let pods = service.pods;
        let mut slices: Vec<_> = service.slices.iter_mut().collect();
        dice.shuffle(&mut slices);
        let [(from, moved_from), (to, moved_to), ..] = slices.as_mut_slice() else {
            return self.split_or_merge(dice);
        };
        let Some(member) = moved_from.pop() else {
            return self.update(dice);
        };
        moved_to.push(member);
        vec![
            object::slice(to, &name, (moved_to, pods)),
            object::slice(from, &name, (moved_from, pods)),
        ]
    }

    fn split_or_merge(&mut self, dice: &mut Rng) -> Vec<Write> {
        let name = self.choose(dice);
        let Some(service) = self.services.get_mut(&name) else {
            return Vec::new();
        };
        if service.slices.len() > 1 {
            service.merge(&name)
        } else {
            service.split(&name)
        }
    }
}

// === impl Service ===

impl Service {
    /// The name of a slice that the service never had, in the life of this object.
    fn new_slice(&mut self, name: &str) -> String {
        self.next_slice += 1;
        format!("{name}-{}", self.next_slice)
    }

    /// All members go to a new slice, and the old ones go.
    fn merge(&mut self, name: &str) -> Vec<Write> {
        let old = std::mem::take(&mut self.slices);
        let members: Vec<Member> = old.values().flatten().copied().collect();
        let slice = self.new_slice(name);
        let mut writes = vec![object::slice(&slice, name, (&members, self.pods))];
        writes.extend(old.keys().map(|old| object::delete("EndpointSlice", old)));
        self.slices.insert(slice, members);
        writes
    }

    /// Half of the members of the only slice go to a new one.
    fn split(&mut self, name: &str) -> Vec<Write> {
        let slice = self.new_slice(name);
        let Some((old, members)) = self.slices.iter_mut().next() else {
            return Vec::new();
        };
        let half = members.split_off(members.len() / 2);
        let writes = vec![
            object::slice(&slice, name, (&half, self.pods)),
            object::slice(old, name, (members, self.pods)),
        ];
        self.slices.insert(slice, half);
        writes
    }
}
