//! State of a client's connection: received messages and snapshots, and the bodies that are shown.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use bevy_ecs::prelude::*;
use cubewire_codec::{Baseline, BitLedger, Life};
use cubewire_protocol::record::PacketRecord;
use cubewire_protocol::{
    ClientConnection, ClientEvent, FallbackReason, Interpolation, PacketOutcome, Settings,
    SnapshotReceiver,
};

use super::components::ReliableComponents;
use super::prediction::{Prediction, PredictionStats};
use super::{PlayoutDelay, SettingsRequest, VanishReason};
use crate::body::disconnect;
use crate::clock;
use crate::components::from_wire;
use crate::measure::Measure;
use crate::protocol::{Compiled, Protocol};
use crate::transport::{Connected, MessageBuffer, OrDisabled, Server};
use crate::wire::{BodyId, ReliableToClient, decode};

/// State of a client's connection, on the connection's entity.
#[derive(Component, Debug)]
#[component(clone_behavior = Ignore)]
pub struct ReplicationReceiver(
    /// `None` only while playout writes to the world, because observers that it triggers can end the connection.
    pub(super) Option<Box<Replica>>,
);

#[derive(Debug)]
pub(super) struct Replica {
    pub(super) connection: ClientConnection,
    pub(super) state: State,
}

/// The received bodies and components.
#[derive(Debug)]
pub(super) struct State {
    pub(super) protocol: Arc<Compiled>,
    /// Ticks of decoded snapshots that playout has not read yet.
    pub(super) decoded: BTreeSet<u64>,
    /// By slot.
    pub(super) slots: Vec<SlotState>,
    pub(super) components: ReliableComponents,
    /// Number of packets that could not be decoded.
    undecodable: u64,
    pub(super) interpolation: Interpolation,
    /// Tick of the snapshot that is being shown.
    pub(super) shown_tick: u64,
    /// After a change of the interpolation: first tick to show, so that bodies do not move back in time.
    pub(super) resume_tick: u64,
    /// Reason why the newest [`SettingsRequest`] is illegal and was not sent.
    unasked: Option<String>,
    pub(super) prediction: Prediction,
}

/// State of a slot: the received values, and the body that is shown.
#[derive(Clone, Debug, Default)]
pub(super) struct SlotState {
    /// The body in the slot, as of tick `as_of`.
    pub(super) life: Option<Life>,
    /// Tick of the newest values, at most the tick that is being shown.
    pub(super) as_of: Option<u64>,
    /// By field.
    pub(super) values: Vec<u32>,
    /// Bit by field: whether the value has changed since it was written to the entity.
    pub(super) changed: u32,
    /// By field: the entity that was written for the referenced body.
    pub(super) targets: Vec<Option<Entity>>,
    pub(super) shown: Option<DisplayedBody>,
    pub(super) gone: Option<Gone>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct DisplayedBody {
    pub(super) life: Life,
    pub(super) entity: Entity,
    /// Tick of the newest snapshot with the body.
    pub(super) alive_at: u64,
    /// Whether the entity existed when playout began. The client can have despawned it.
    pub(super) exists: bool,
}

/// The server's message that a body is no longer visible.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gone {
    pub(super) generation: u8,
    pub(super) tick: u64,
    pub(super) reason: VanishReason,
}

impl ReplicationReceiver {
    /// Returns the receiver of snapshots. `None` until the client is [`Connected`].
    pub fn receiver(&self) -> Option<&SnapshotReceiver> {
        self.0.as_ref()?.connection.receiver()
    }

    /// Returns the number of packets and components that could not be decoded. A packet is damaged, or its baseline is
    /// missing here. The log names the type of the first such component.
    pub fn undecodable(&self) -> u64 {
        self.0
            .as_ref()
            .map_or(0, |replica| replica.state.undecodable + replica.state.components.undecodable)
    }

    /// Returns the answer to the last [`SettingsRequest`]: the settings in use, or the reason why the request was declined.
    /// `None` until an answer arrives.
    pub fn answer(&self) -> Option<Result<Settings, &str>> {
        let Replica { connection, state } = &**self.0.as_ref()?;
        state.unasked.as_deref().map(Err).or_else(|| connection.answer())
    }

    /// Returns the reason why the server sends no arithmetic coding: the trained models or the calculated results differ.
    pub fn fallback(&self) -> Option<FallbackReason> {
        self.0.as_ref()?.connection.fallback()
    }

    /// Returns what was predicted and corrected since the connection began.
    pub fn prediction(&self) -> PredictionStats {
        self.0.as_ref().map_or_else(PredictionStats::default, |it| it.state.prediction.stats)
    }

    /// Returns the entity of the body in one of the server's slots, if it is shown.
    pub fn body(&self, slot: usize) -> Option<Entity> {
        Some(self.0.as_ref()?.state.slots.get(slot)?.shown?.entity)
    }
}

type NewConnection = (With<Server>, Without<ReplicationReceiver>, OrDisabled);

pub(super) fn begin(
    mut new: Query<(Entity, &mut MessageBuffer), NewConnection>,
    protocol: Res<Protocol>,
    mut commands: Commands,
) {
    for (server, mut buffer) in &mut new {
        let mut replica = Replica::new(&protocol);
        buffer.send_all(|| replica.connection.poll_message());
        commands.entity(server).try_insert(ReplicationReceiver(Some(Box::new(replica))));
    }
}

pub(super) fn deliver(
    world: &mut World,
    servers: &mut QueryState<Entity, (With<ReplicationReceiver>, OrDisabled)>,
    connections: &mut QueryState<
        (
            &'static mut ReplicationReceiver,
            &'static MessageBuffer,
            &'static PlayoutDelay,
            Option<&'static mut Measure>,
        ),
        OrDisabled,
    >,
) {
    let servers: Vec<_> = servers.iter(world).collect();
    for server in servers {
        let now = clock::now(world, server);
        let Some(mut buffer) = world.get_mut::<MessageBuffer>(server) else {
            continue;
        };
        let queue = std::mem::take(&mut buffer.incoming);
        for bytes in &queue.messages {
            if let Err(reason) = on_message(world, server, now, bytes) {
                disconnect(world, server, reason);
                break;
            }
        }
        if let Ok((mut replication, buffer, delay, measure)) = connections.get_mut(world, server)
            && let Some(replica) = &mut replication.0
        {
            let measure = measure.map(Mut::into_inner);
            let overhead = buffer.overhead_bytes;
            replica.on_snapshots(now, delay.fixed(), queue.datagrams, measure, overhead);
        }
    }
}

fn on_message(
    world: &mut World,
    server: Entity,
    now: Duration,
    bytes: &[u8],
) -> Result<(), String> {
    let malformed = "malformed message from the server";
    let mut replication = world.get_mut::<ReplicationReceiver>(server);
    let Some(replica) = replication.as_mut().and_then(|replication| replication.0.as_mut()) else {
        return Ok(());
    };
    match replica.connection.on_message(now, bytes).map_err(|error| error.to_string())? {
        ClientEvent::Welcome { .. } => {
            log::debug!("admitted by server {server}");
            world.entity_mut(server).insert(Connected);
        }
        ClientEvent::Answer | ClientEvent::Tick(_) => {}
        ClientEvent::Message(bytes) => {
            let message = decode(bytes).ok_or(malformed)?;
            let protocol = Arc::clone(&replica.state.protocol);
            if let ReliableToClient::Message { channel, bytes } = message {
                let entry = protocol.items.to_client.get(usize::from(channel)).ok_or(malformed)?;
                return entry.deliver(world, server, bytes, entity_from_wire, "server");
            }
            replica.state.on_message(message).ok_or(malformed)?;
        }
    }
    Ok(())
}

type NewRequest = (With<Connected>, Or<(Changed<SettingsRequest>, Added<Connected>)>, OrDisabled);

/// Requests settings after a change of [`SettingsRequest`], unless they are illegal.
pub(super) fn request(
    mut servers: Query<
        (&mut ReplicationReceiver, &mut MessageBuffer, &SettingsRequest),
        NewRequest,
    >,
) {
    for (mut replication, mut buffer, &SettingsRequest(settings)) in &mut servers {
        let Some(replica) = &mut replication.0 else {
            continue;
        };
        let State { protocol, unasked, .. } = &mut replica.state;
        *unasked = settings.check(&protocol.plan).err();
        if let Some(reason) = unasked {
            log::debug!("illegal settings are not requested: {reason}");
        } else {
            replica.connection.request(settings);
            buffer.send_all(|| replica.connection.poll_message());
        }
    }
}

impl Replica {
    fn new(protocol: &Protocol) -> Self {
        let connection = ClientConnection::new(Arc::clone(&protocol.0.contract));
        Self { connection, state: State::new(protocol) }
    }

    /// Decodes the received snapshots, and advances playout. `delay` is the fixed playout delay, or `None` for an adaptive one.
    /// `overhead` is the number of header bytes per packet.
    fn on_snapshots(
        &mut self,
        now: Duration,
        delay: Option<Duration>,
        packets: Vec<Vec<u8>>,
        mut measure: Option<&mut Measure>,
        overhead: usize,
    ) {
        let Some(receiver) = self.connection.receiver_mut() else {
            return;
        };
        let (stalls, starved) = (receiver.playout().stalls, receiver.playout().starved);
        if measure.is_some() != receiver.decoder().ledger().is_some() {
            receiver.set_ledger(measure.is_some().then(BitLedger::itemized));
        }
        if let Some(measure) = &mut measure
            && let Some(tick) = receiver.playout().clock().tick_at(now)
        {
            let rate = self.state.protocol.plan.schema().ticks_per_second;
            let bytes = packets.iter().map(|packet| packet.len() + overhead);
            measure.begin(tick as u64, rate).traffic.wire_bytes += bytes.sum::<usize>();
        }
        for datagram in packets {
            let packet = self.connection.packet(now, datagram);
            let Some(receiver) = self.connection.receiver_mut() else { return };
            match receiver.on_packet(now, &packet) {
                Ok(PacketOutcome::Decoded { tick, late, .. }) => {
                    self.state.decoded.insert(tick);
                    if let Some(measure) = &mut measure
                        && let Some(packet) = receiver.decoder().packet(packet)
                    {
                        let stages = receiver.get(tick).map(Baseline::stages).unwrap_or_default();
                        measure.count(PacketRecord::received(tick, &packet, stages, late));
                    }
                }
                Ok(_) => {}
                Err(_) => self.state.undecodable += 1,
            }
        }
        let Some(receiver) = self.connection.receiver_mut() else { return };
        receiver.advance_playout(now, delay);
        if let Some(sample) = measure.and_then(Measure::begun) {
            sample.stalls += (receiver.playout().stalls - stalls) as usize;
            sample.starved += receiver.playout().starved - starved;
        }
    }
}

impl State {
    fn new(protocol: &Protocol) -> Self {
        let protocol = Arc::clone(&protocol.0);
        let slots = protocol.plan.max_slots().unwrap_or(0);
        let fields = protocol.plan.schema().fields.len();
        let (values, targets) = (vec![0; fields], vec![None; fields]);
        Self {
            decoded: BTreeSet::new(),
            slots: vec![SlotState { values, targets, ..SlotState::default() }; slots],
            components: ReliableComponents::new(slots),
            undecodable: 0,
            interpolation: Interpolation::default(),
            shown_tick: 0,
            resume_tick: 0,
            unasked: None,
            prediction: Prediction::default(),
            protocol,
        }
    }

    /// Processes a message about bodies. Returns `None` if it is malformed.
    fn on_message(&mut self, message: ReliableToClient<'_>) -> Option<()> {
        match message {
            ReliableToClient::Gone { body, tick, is_hidden } => {
                self.components.leave(body, tick);
                let slot = self.slots.get_mut(usize::from(body.slot))?;
                let reason = if is_hidden { VanishReason::Hidden } else { VanishReason::Despawned };
                slot.gone = Some(Gone { generation: body.generation, tick, reason });
            }
            ReliableToClient::Interpolation(interpolation) => {
                self.interpolation = interpolation;
                self.resume_tick = self.shown_tick;
            }
            ReliableToClient::Components { body, part, components } => {
                let count = self.protocol.items.components.len();
                let is_known = |&(component, _): &(u8, _)| usize::from(component) < count;
                if usize::from(body.slot) >= self.slots.len() || !components.iter().all(is_known) {
                    return None;
                }
                self.components.take(body, part, &components, count);
            }
            ReliableToClient::Message { .. } => {}
        }
        Some(())
    }

    /// Writes the dirty components of a shown body.
    pub(super) fn write_components(&mut self, world: &mut World, at: BodyId, body: Entity) {
        let slots = &self.slots;
        // A new body is not in its slot yet, but its components can refer to it.
        let entity =
            |other: BodyId| (other == at).then_some(body).or_else(|| shown_body(slots, other));
        let registered = &self.protocol.items.components;
        self.components.write(world, usize::from(at.slot), body, registered, entity);
    }
}

/// Returns the entity of a body that is shown, also if it waits for the server's message that it has left.
pub(super) fn shown_body(slots: &[SlotState], body: BodyId) -> Option<Entity> {
    let shown = slots.get(usize::from(body.slot))?.shown?;
    (shown.life.generation == body.generation && shown.exists).then_some(shown.entity)
}

/// Returns the local entity for a wire entity that the server has sent.
fn entity_from_wire(world: &World, entity: Entity) -> Option<Entity> {
    let mut receivers = world.try_query_filtered::<&ReplicationReceiver, OrDisabled>()?;
    let replica = receivers.iter(world).next()?.0.as_ref()?;
    let body = shown_body(&replica.state.slots, from_wire(entity)?);
    body.filter(|&body| world.get_entity(body).is_ok())
}
