//! Inputs of clients for the bodies that they control, and what each client is told of its body.

use std::collections::HashMap;
use std::sync::Arc;

use bevy_ecs::prelude::*;

use super::capture::{Bodies, InSlot};
use super::sender::ReplicationSender;
use crate::body::disconnect;
use crate::predicted::{ControlledBy, PredictTick};
use crate::protocol::OwnBody;
use crate::transport::OrDisabled;
use crate::wire::BodyId;

/// Gives each controlled body the input of its client, and runs the tick of the predictable bodies.
pub(super) fn control(
    world: &mut World,
    clients: &mut QueryState<(Entity, &'static mut ReplicationSender), OrDisabled>,
    bodies: &mut QueryState<(Entity, &'static ControlledBy)>,
) {
    let protocol = Arc::clone(&world.resource::<Bodies>().protocol);
    let Some(entry) = &protocol.items.tick_input else { return };
    let inputs = clients.iter_mut(world).filter_map(|(client, sender)| {
        let input = sender.into_inner().connection.take_tick_input()?;
        Some((client, input.to_vec()))
    });
    let inputs: HashMap<_, _> = inputs.collect();
    let controlled: Vec<_> = bodies.iter(world).map(|(body, by)| (body, by.0)).collect();
    for (body, client) in controlled {
        if !(entry.set)(world, body, inputs.get(&client).map(Vec::as_slice)) {
            let name = entry.name;
            disconnect(world, client, format!("malformed input from the client (`{name}`)"));
        }
    }
    world.run_schedule(PredictTick);
}

/// Notes for each client the body that it controls.
pub(super) fn report(
    world: &mut World,
    bodies: &mut QueryState<(EntityRef<'static>, &'static ControlledBy, &'static InSlot)>,
    clients: &mut QueryState<&'static mut ReplicationSender, OrDisabled>,
) {
    let protocol = Arc::clone(&world.resource::<Bodies>().protocol);
    if protocol.items.tick_input.is_none() {
        return;
    }
    let reports = bodies.iter(world).map(|(body, by, at)| {
        let id = BodyId::new(at.slot, at.life);
        (by.0, OwnBody::encode(&protocol, id, body))
    });
    let mut reports: HashMap<_, _> = reports.collect();
    for mut sender in clients.iter_mut(world) {
        sender.view.own.clear();
    }
    for (client, own) in reports.drain() {
        if let Ok(mut sender) = clients.get_mut(world, client) {
            sender.view.own = own;
        }
    }
}
