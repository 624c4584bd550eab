//! The client's end of a connection: the session, received snapshots, and sent inputs.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use cubewire_codec::schema::SchemaError;
use cubewire_codec::{DecodeError, InitialStateError, Plan, Snapshot, decode_initial};
use log::debug;

use super::contract::{Contract, FallbackReason};
use super::message::{ClientMessage, Request, SESSION, ServerMessage, Settings, one_line};
use super::report::InputReport;
use super::tick_inputs::TickInputs;
use super::upstream::{self, SentInputs};
use crate::delay::playout_delay;
use crate::engine::Engine;
use crate::receiver::{PacketOutcome, SnapshotReceiver};

/// Maximum tick. More than a hundred thousand years at 60 Hz, and far from an overflow in calculations with ticks.
pub(crate) const MAX_TICK: u64 = 1 << 48;

/// The initial state of a receiver, which may join at any tick.
#[derive(Clone, Debug, PartialEq)]
pub struct Welcome {
    /// The scene.
    pub plan: Arc<Plan>,
    /// The sender's tick at the time of the message, at most 2⁴⁸.
    pub tick: u64,
    /// The snapshot that the first packets are relative to.
    pub initial: Snapshot,
}

/// A client's end of the connection to its server.
///
/// Reliable messages from the server go to [`on_message`](Self::on_message), datagrams to [`on_datagram`](Self::on_datagram).
/// Messages for the server come from [`poll_message`](Self::poll_message), the first one at once; datagrams from
/// [`datagrams`](Self::datagrams) in each tick. An error of a datagram can be ignored. If a message is an error, the connection has ended: the reason is for the log, and
/// [`farewell`](Self::farewell) tells it to the server.
#[derive(Debug)]
pub struct ClientConnection {
    contract: Arc<Contract>,
    engine: fn() -> Box<dyn Engine>,
    fallback: Option<FallbackReason>,
    requested: Option<Request>,
    /// The answer to the last request.
    answer: Option<Result<Settings, String>>,
    /// `None` before the welcome.
    receiver: Option<SnapshotReceiver>,
    /// By channel.
    inputs: Vec<SentInputs>,
    /// Whether tick inputs wait for acks of the next tick.
    waits: bool,
    /// `None` if the contract has no tick inputs.
    tick_inputs: Option<Box<TickInputs>>,
    outgoing: VecDeque<Vec<u8>>,
}

/// A valid message from the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientEvent<'a> {
    /// The client is accepted, and its [receiver](ClientConnection::receiver) exists.
    Welcome {
        /// Number of bodies in the initial state.
        bodies: usize,
    },
    /// [`ClientConnection::answer`] may have changed.
    Answer,
    /// The server continues with this tick after a pause. The receiver's clock has been reset.
    Tick(u64),
    /// A message of the app.
    Message(&'a [u8]),
}

/// Reason why a connection ends at the client.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SessionError {
    /// The server refused the client for this reason.
    #[error("{0}")]
    Refused(String),
    /// The message cannot be decoded.
    #[error("malformed message from the server")]
    Malformed,
    /// The message is not allowed in the current state.
    #[error("unexpected message from the server")]
    OutOfTurn,
    /// The tick is out of range.
    #[error("tick {0} in the welcome is above {MAX_TICK}")]
    Tick(u64),
    /// The number of seats is out of range.
    #[error("invalid welcome: {0}")]
    Seats(#[from] SchemaError),
    /// The initial state is malformed.
    #[error("invalid initial state in the welcome: {0}")]
    Initial(#[from] DecodeError),
    /// The scene does not allow the initial state.
    #[error("invalid initial state in the welcome: {0}")]
    InitialState(#[from] InitialStateError),
}

impl ClientConnection {
    /// Creates the connection to a server. The first message is the hello.
    pub fn new(contract: Arc<Contract>) -> Self {
        let hello = ClientMessage::Hello(contract.hello()).encode();
        Self {
            engine: || Box::new(()),
            fallback: None,
            requested: None,
            answer: None,
            receiver: None,
            inputs: vec![SentInputs::default(); contract.channels()],
            waits: false,
            tick_inputs: contract.has_tick_inputs.then(Box::default),
            outgoing: VecDeque::from([hello]),
            contract,
        }
    }

    /// Sets what creates the engine that simulates the scene: see [`SnapshotReceiver::with_engine`].
    #[must_use]
    pub fn with_engine(mut self, engine: fn() -> Box<dyn Engine>) -> Self {
        self.engine = engine;
        self
    }

    /// Handles a reliable message from the server that arrived at `now`.
    ///
    /// # Errors
    /// [`SessionError`] if the server refused the client, or if the message is invalid.
    pub fn on_message<'a>(
        &mut self,
        now: Duration,
        bytes: &'a [u8],
    ) -> Result<ClientEvent<'a>, SessionError> {
        if bytes.first().is_some_and(|&first| first != SESSION) {
            return match self.is_welcomed() {
                true => Ok(ClientEvent::Message(bytes)),
                false => Err(SessionError::OutOfTurn),
            };
        }
        let event = ServerMessage::decode(bytes).ok_or(SessionError::Malformed);
        let event = event.and_then(|message| self.event(now, message));
        event.inspect_err(|error| debug!("session ended: {error}"))
    }

    fn event(
        &mut self,
        now: Duration,
        message: ServerMessage<'_>,
    ) -> Result<ClientEvent<'static>, SessionError> {
        match (message, &mut self.receiver) {
            (ServerMessage::Refused(reason), _) => Err(SessionError::Refused(one_line(reason))),
            (ServerMessage::Welcome { tick, fingerprint, seats, initial }, None) => {
                if tick > MAX_TICK {
                    return Err(SessionError::Tick(tick));
                }
                let limits = self.contract.limits();
                let plan = self.contract.plan().with_seats(seats)?;
                let rate = plan.schema().ticks_per_second;
                let welcome = Welcome { plan, tick, initial: decode_initial(&initial, limits)? };
                let bodies = welcome.initial.bodies.len();
                let delay = playout_delay(rate.into());
                let mut receiver = SnapshotReceiver::new(welcome, limits, delay, now)?;
                if let Some(field) = self.contract.teleports {
                    receiver = receiver.with_teleports(field);
                }
                self.receiver = Some(receiver.with_engine((self.engine)()));
                self.fallback = FallbackReason::between(fingerprint, self.contract.fingerprint);
                debug!("admitted at tick {tick}");
                Ok(ClientEvent::Welcome { bodies })
            }
            (ServerMessage::Granted(Request { number, settings }), _) => {
                self.take_answer(number, Ok(settings))
            }
            (ServerMessage::Declined { number, reason }, _) => {
                self.take_answer(number, Err(one_line(reason)))
            }
            (ServerMessage::Tick(tick), Some(receiver)) => {
                debug!("resync: the server continues with tick {tick}");
                receiver.sync_tick(now, tick);
                Ok(ClientEvent::Tick(tick))
            }
            _ => Err(SessionError::OutOfTurn),
        }
    }

    fn take_answer(
        &mut self,
        number: u16,
        answer: Result<Settings, String>,
    ) -> Result<ClientEvent<'static>, SessionError> {
        let last = self.requested.ok_or(SessionError::OutOfTurn)?;
        // An answer to an earlier request is out of date.
        if last.number == number {
            match &answer {
                Ok(settings) => debug!("server sends {}", settings.stages),
                Err(reason) => debug!("request declined: {reason}"),
            }
            self.answer = Some(answer);
        }
        Ok(ClientEvent::Answer)
    }

    /// Handles a datagram from the server that arrived at `now`. Before the welcome, datagrams are ignored.
    ///
    /// # Errors
    /// [`DecodeError`] as in [`SnapshotReceiver::on_packet`]. The connection remains usable.
    pub fn on_datagram(
        &mut self,
        now: Duration,
        bytes: &[u8],
    ) -> Result<Option<PacketOutcome>, DecodeError> {
        let packet = self.split(now, bytes);
        let receiver = self.receiver.as_mut();
        receiver.map(|it| it.on_packet(now, packet.as_deref().unwrap_or(bytes))).transpose()
    }

    /// Takes the [report](InputReport) off a datagram, if it has one. Returns the packet for [`SnapshotReceiver::on_packet`].
    pub fn packet(&mut self, now: Duration, datagram: Vec<u8>) -> Vec<u8> {
        self.split(now, &datagram).unwrap_or(datagram)
    }

    fn split(&mut self, now: Duration, datagram: &[u8]) -> Option<Vec<u8>> {
        let (inputs, receiver) = self.tick_inputs.as_mut().zip(self.receiver.as_ref())?;
        inputs.split(now, receiver.playout().clock(), datagram)
    }

    /// Requests settings, unless the last request had the same ones and was not declined.
    pub fn request(&mut self, settings: Settings) {
        let last = self.requested;
        let is_declined = matches!(self.answer, Some(Err(_)));
        if last.is_some_and(|last| last.settings == settings) && !is_declined {
            return;
        }
        let number = last.map_or(0, |last| last.number).wrapping_add(1);
        let request = Request { number, settings };
        (self.requested, self.answer) = (Some(request), None);
        self.outgoing.push_back(ClientMessage::Request(request).encode());
    }

    /// The settings of the last request.
    pub fn requested(&self) -> Option<Settings> {
        self.requested.map(|last| last.settings)
    }

    /// Adds an input of the app. It is sent with the next datagrams, and repeated in up to eight. At most eight inputs of a channel
    /// wait for the next datagrams: a further one replaces the oldest.
    ///
    /// # Panics
    /// If the [contract](Contract::with_input_channels) has no such channel.
    pub fn push_input(&mut self, channel: usize, input: Vec<u8>) {
        assert!(channel < self.contract.input_channels, "no channel {channel} for inputs");
        self.inputs[channel].push(input);
    }

    /// Returns the number of tick inputs that are due at `now`, to be [pushed](Self::push_tick_input) at once. Call this in each
    /// frame in which the client plays. Inputs are due at the rate of the server's ticks, and up to 5 % faster or slower to keep
    /// the server's queue as short as the jitter of the link allows. None are due before the welcome, while nothing arrives from
    /// the server, and if the [contract](Contract::with_tick_inputs) has no tick inputs.
    pub fn tick_inputs_due(&mut self, now: Duration) -> usize {
        let inputs = self.tick_inputs.as_mut().zip(self.receiver.as_ref());
        inputs.map_or(0, |(inputs, receiver)| inputs.due(now, receiver.playout().clock()))
    }

    /// Adds a tick input, which takes effect in one tick of the server, in order: see [`ServerConnection::take_tick_input`]. At
    /// most [`MAX_OWN_BYTES`](super::MAX_OWN_BYTES). It is sent like [other inputs](Self::push_input). Returns its number, from 1
    /// on, or 0 if the contract has no tick inputs.
    ///
    /// [`ServerConnection::take_tick_input`]: super::ServerConnection::take_tick_input
    pub fn push_tick_input(&mut self, now: Duration, input: Vec<u8>) -> u64 {
        let Some(inputs) = &mut self.tick_inputs else { return 0 };
        self.inputs[self.contract.input_channels].push(input.clone());
        inputs.push(now, input)
    }

    /// Returns the tick inputs with a higher number than `number`, oldest first. The last 256 are kept.
    pub fn tick_inputs_after(&self, number: u64) -> impl Iterator<Item = &[u8]> {
        self.tick_inputs.iter().flat_map(move |inputs| inputs.after(number))
    }

    /// Returns the newest report on tick inputs that came with a packet of `tick` or before. The last 256 are kept.
    pub fn input_report(&self, tick: u64) -> Option<&InputReport> {
        self.tick_inputs.as_ref()?.report(tick)
    }

    /// Returns how long ago the newest tick input was pushed that has its effect in the server's `tick`.
    pub fn input_age(&self, now: Duration, tick: u64) -> Option<Duration> {
        self.tick_inputs.as_ref()?.age(now, tick)
    }

    /// Returns how long ago the last tick input was pushed.
    pub fn newest_input_age(&self, now: Duration) -> Option<Duration> {
        self.tick_inputs.as_ref()?.newest_age(now)
    }

    /// Returns the next reliable message for the server. Call this until it returns `None`.
    pub fn poll_message(&mut self) -> Option<Vec<u8>> {
        self.outgoing.pop_front()
    }

    /// Takes the datagrams for the server: acks and inputs. Call this once per tick, also in ticks without a packet. Empty before
    /// the welcome.
    pub fn datagrams(&mut self) -> Vec<Vec<u8>> {
        let Some(receiver) = &mut self.receiver else {
            return Vec::new();
        };
        let feedback: Vec<_> = std::iter::from_fn(|| receiver.poll_feedback()).collect();
        let (apps, of_ticks) = self.inputs.split_at_mut(self.contract.input_channels);
        let is_alone = feedback.is_empty() && apps.iter().all(SentInputs::is_empty);
        // A datagram takes more bytes than its inputs, so they wait a tick for others.
        self.waits = is_alone && !self.waits && !of_ticks.iter().all(SentInputs::is_empty);
        match self.waits {
            true => Vec::new(),
            false => upstream::take(&feedback, &mut self.inputs),
        }
    }

    /// Returns the client's last message to the server, when it ends the connection.
    pub fn farewell(reason: &str) -> Vec<u8> {
        ClientMessage::Left(&one_line(reason)).encode()
    }

    /// Returns the receiver of snapshots. `None` before the welcome.
    pub const fn receiver(&self) -> Option<&SnapshotReceiver> {
        self.receiver.as_ref()
    }

    /// As [`receiver`](Self::receiver).
    pub const fn receiver_mut(&mut self) -> Option<&mut SnapshotReceiver> {
        self.receiver.as_mut()
    }

    /// Whether the welcome has arrived.
    pub const fn is_welcomed(&self) -> bool {
        self.receiver.is_some()
    }

    /// Returns the reason why the server does not send arithmetic coding, if the fingerprints differ.
    pub const fn fallback(&self) -> Option<FallbackReason> {
        self.fallback
    }

    /// The answer to the last request: the settings in use, or the reason why it was declined. `None` before it arrives.
    pub fn answer(&self) -> Option<Result<Settings, &str>> {
        let answer = self.answer.as_ref()?.as_ref();
        Some(answer.copied().map_err(String::as_str))
    }

    /// Returns the settings that the server uses in place of the requested ones. `None` if they are the same or not
    /// known yet.
    pub fn granted(&self) -> Option<Settings> {
        let granted = self.answer()?.ok();
        granted.filter(|_| granted != self.requested())
    }
}
