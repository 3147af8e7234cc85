//! Those who look: an observer and a client of every service, on each replica.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::sleep;

use super::sightings::Sightings;
use crate::proxy::Proxy;
use lockstep_jepsen_gear::operator::Operator;
use lockstep_jepsen_gear::replica::Plan;
use lockstep_jepsen_gear::world::World;

/// How often a replica is asked where it is.
const OBSERVE_EVERY: Duration = Duration::from_millis(5);
/// How long whoever was refused waits.
const PAUSE: Duration = Duration::from_millis(50);

/// Looks at one replica until dropped, whether or not it runs. Must run in the group's room.
pub(super) async fn watch(plan: Plan, world: Arc<Mutex<World>>, sightings: Sightings) {
    let authorities = world
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .authorities();
    let mut all = JoinSet::new();
    all.spawn(observe(plan.clone(), sightings.clone()));
    let Ok(proxy) = Proxy::new(plan.listens.proxy) else {
        return;
    };
    for authority in authorities {
        let (proxy, name) = (proxy.clone(), plan.name.clone());
        all.spawn(follow(proxy, (name, authority), sightings.clone()));
    }
    while all.join_next().await.is_some() {}
}

async fn observe(plan: Plan, sightings: Sightings) {
    let Ok(mut operator) = Operator::new(plan.listens.admin) else {
        return;
    };
    loop {
        if let Ok(status) = operator.status().await {
            sightings.term(status.term);
            if let Some(position) = &status.position {
                sightings.position(&plan.name, position);
            }
        }
        if let Ok(positions) = operator.digests(sightings.revision()).await {
            for position in &positions {
                sightings.position(&plan.name, position);
            }
        }
        sleep(OBSERVE_EVERY).await;
    }
}

/// A client of one service, which comes again when its stream ends.
async fn follow(proxy: Proxy, (replica, authority): (String, String), sightings: Sightings) {
    loop {
        if let Ok(mut stream) = proxy.open(&authority).await {
            while stream.next().await.is_ok() {
                sightings.told(&authority, stream.held().into_iter());
            }
            for violation in stream.violations() {
                sightings.violation(format!("{replica} told of {authority}: {violation:?}"));
            }
        }
        sleep(PAUSE).await;
    }
}
