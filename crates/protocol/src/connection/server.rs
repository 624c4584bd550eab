//! The server's end of a connection: the session, and every rule for the client.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use cubewire_codec::ladder::{LADDER, PREDICTED};
use cubewire_codec::stages::Delta;
use cubewire_codec::{InitialStateError, Snapshot, Stages, encode_initial};
use log::debug;

use super::contract::{Contract, FallbackReason};
use super::input_queue::InputQueue;
use super::message::{ClientMessage, Request, SESSION, ServerMessage, Settings, one_line};
use super::report::MAX_OWN_BYTES;
use super::sending::{RateControl, Sending};
use super::upstream::Upstream;
use crate::encode_cost::EncodeCost;
use crate::feedback::{Ack, Feedback};
use crate::sender::SnapshotSender;
use crate::sync::SyncStatus;

/// A server's end of the connection to one client.
///
/// In each frame: [`on_message`](Self::on_message) for all reliable messages, [`on_datagram`](Self::on_datagram) for all datagrams,
/// [`check`](Self::check), [`grant`](Self::grant), and [`poll_message`](Self::poll_message). The app sends these messages before its
/// own. In each tick: [`on_tick`](Self::on_tick), [`EncodeBudget::begin_tick`](crate::EncodeBudget::begin_tick) if there is a limit of
/// processor time, [`allow`](Self::allow), and if the tick [is due](Self::is_due), [`prepare`](Self::prepare),
/// [`encode_jobs`](crate::encode_jobs) and [`finish`](crate::SendJob::finish).
///
/// The settings come from the client ([`ServerEvent::Request`]) or from the app: [`set_settings`](Self::set_settings).
///
/// If `on_message`, `on_datagram` or `check` fails, the connection has ended, and the same error is returned from then on. The app
/// logs the reason, sends it with [`farewell`](Self::farewell), and closes the transport, which must also detect a silent client.
/// All times of a connection are of one monotonic clock.
#[derive(Debug)]
pub struct ServerConnection {
    pub(super) contract: Arc<Contract>,
    rate_control: RateControl,
    /// When the client connected.
    since: Duration,
    /// `None` before the hello.
    open: Option<Open>,
    has_left: bool,
    /// The reason of the end.
    ended: Option<String>,
    /// Settings from before the welcome.
    early: Option<Settings>,
    /// `None` before the welcome.
    pub(super) sending: Option<Box<Sending>>,
    outgoing: VecDeque<Vec<u8>>,
    /// By channel: number of the last received input.
    inputs: Vec<u64>,
    pub(super) tick_inputs: InputQueue,
    invalid_datagrams: u32,
    /// Number of items that the client may still send in this frame.
    items_left: usize,
    offers_state: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Open {
    fallback: Option<FallbackReason>,
    /// Number of the last request.
    requested: Option<u16>,
    /// Whether the last request was declined.
    is_declined: bool,
    /// The last grant, and its time.
    granted: Option<(Request, Duration)>,
    /// The last tick, and its time. The welcome sets the first one.
    tick: Option<(u64, Duration)>,
}

/// A valid message from a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerEvent<'a> {
    /// The hello is accepted. The client waits for the [welcome](ServerConnection::welcome).
    Hello,
    /// The client requests these settings, which the scene supports. The app calls
    /// [`set_settings`](ServerConnection::set_settings) or [`decline`](ServerConnection::decline).
    Request(Settings),
    /// The server cannot use the requested settings for this reason, and has declined them.
    Declined,
    /// A message of the app.
    Message(&'a [u8]),
}

/// Contents of a valid datagram from a client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Received<'a> {
    /// Acks of snapshots.
    pub acks: Vec<Ack>,
    /// New inputs with their channels, in order.
    pub inputs: Vec<(usize, &'a [u8])>,
}

impl ServerConnection {
    /// Time limit for a client's first message.
    pub const PATIENCE: Duration = Duration::from_secs(5);

    /// Time limit for a client's first request, if the app sets no [settings](Self::set_settings) itself. On a bad network
    /// the first request takes a few seconds.
    pub const REQUEST_PATIENCE: Duration = Duration::from_secs(10);

    /// Number of invalid acks and datagrams that are ignored. Damage on the way can cause a few.
    pub const MAX_INVALID: u32 = 16;

    /// Limit of a client's acks and new inputs between two calls of [`check`](Self::check): as many as in eight seconds at
    /// 240 Hz. Further ones are dropped.
    pub const MAX_ITEMS: usize = 4096;

    /// Creates the connection to a client that connected at `now`.
    pub fn new(contract: Arc<Contract>, rate_control: RateControl, now: Duration) -> Self {
        Self {
            rate_control,
            since: now,
            open: None,
            has_left: false,
            ended: None,
            early: None,
            sending: None,
            outgoing: VecDeque::new(),
            inputs: vec![0; contract.channels()],
            tick_inputs: InputQueue::default(),
            invalid_datagrams: 0,
            items_left: Self::MAX_ITEMS,
            offers_state: true,
            contract,
        }
    }

    /// Handles a reliable message from the client.
    ///
    /// # Errors
    /// The reason why the client is refused or has left.
    pub fn on_message<'a>(&mut self, bytes: &'a [u8]) -> Result<ServerEvent<'a>, String> {
        let event = self.ended.clone().map_or_else(|| self.event(bytes), Err);
        event.map_err(|reason| self.end(reason))
    }

    fn end(&mut self, reason: String) -> String {
        if self.ended.is_none() {
            debug!("client refused: {reason}");
        }
        self.ended.get_or_insert(reason).clone()
    }

    fn event<'a>(&mut self, bytes: &'a [u8]) -> Result<ServerEvent<'a>, String> {
        let unexpected = || Err("unexpected message from the client".to_owned());
        if bytes.first().is_some_and(|&first| first != SESSION) {
            return if self.is_welcomed() { Ok(ServerEvent::Message(bytes)) } else { unexpected() };
        }
        let message = ClientMessage::decode(bytes).ok_or("malformed message from the client")?;
        match (message, &mut self.open) {
            (ClientMessage::Hello(hello), None) => {
                if let Some(reason) = self.contract.refusal(&hello) {
                    return Err(reason);
                }
                let fallback =
                    FallbackReason::between(hello.fingerprint, self.contract.fingerprint);
                self.open = Some(Open { fallback, ..Open::default() });
                debug!("client admitted");
                Ok(ServerEvent::Hello)
            }
            (ClientMessage::Request(Request { number, settings }), Some(open)) => {
                (open.requested, open.is_declined) = (Some(number), false);
                debug!("client requests {}", settings.stages);
                Ok(match settings.check(self.contract.plan()) {
                    Ok(()) => ServerEvent::Request(settings),
                    Err(reason) => {
                        self.decline(&reason);
                        ServerEvent::Declined
                    }
                })
            }
            (ClientMessage::Left(reason), _) => {
                self.has_left = true;
                Err(format!("the client has left: {}", one_line(reason)))
            }
            _ => unexpected(),
        }
    }

    /// Answers a hello with the server's tick and the snapshot that the first packets are relative to. Has no effect before the
    /// hello and after the first welcome.
    ///
    /// # Errors
    /// [`InitialStateError`] as in [`encode_initial`].
    pub fn welcome(
        &mut self,
        now: Duration,
        tick: u64,
        initial: &Snapshot,
    ) -> Result<(), InitialStateError> {
        let Some(open) = self.open.as_mut().filter(|open| open.tick.is_none()) else {
            return Ok(());
        };
        let mut bytes = Vec::new();
        encode_initial(initial, &mut bytes)?;
        let sending = Sending::new(&self.contract, self.rate_control, initial.clone())?;
        open.tick = Some((tick, now));
        self.sending = Some(Box::new(sending));
        if let Some(settings) = self.early.take() {
            self.set_settings(settings);
        }
        let (fingerprint, seats) = (self.contract.fingerprint, self.contract.plan().schema().seats);
        self.say(&ServerMessage::Welcome { tick, fingerprint, seats, initial: Cow::Owned(bytes) });
        Ok(())
    }

    /// Handles a datagram from the client. The age of its acks is counted from `tick`, the server's tick. Before the welcome,
    /// datagrams are ignored.
    ///
    /// # Errors
    /// The reason why the client is refused: more than [`MAX_INVALID`](Self::MAX_INVALID) datagrams were malformed, or acked a
    /// snapshot that was not sent.
    pub fn on_datagram<'a>(&mut self, tick: u64, bytes: &'a [u8]) -> Result<Received<'a>, String> {
        if let Some(reason) = &self.ended {
            return Err(reason.clone());
        }
        let Some(sending) = &mut self.sending else {
            return Ok(Received::default());
        };
        let mut received = Received::default();
        let channels = self.inputs.len();
        let upstream = Upstream::decode(bytes)
            .filter(|upstream| upstream.inputs.iter().all(|run| run.channel < channels));
        let mut is_valid = upstream.is_some();
        let upstream = upstream.unwrap_or_default();
        for feedback in upstream.feedback.into_iter().take(self.items_left) {
            self.items_left -= 1;
            if sending.sender.on_feedback(feedback).is_err() {
                is_valid = false;
                continue;
            }
            if let Some(budget) = &mut sending.budget {
                budget.on_feedback(tick, &feedback);
            }
            if let Feedback::Ack(ack) = feedback {
                received.acks.push(ack);
            }
        }
        for run in &upstream.inputs {
            let seen = &mut self.inputs[run.channel];
            for (number, input) in run.after(*seen).take(self.items_left) {
                self.items_left -= 1;
                match run.channel < self.contract.input_channels {
                    true => received.inputs.push((run.channel, input)),
                    false if input.len() <= MAX_OWN_BYTES => self.tick_inputs.push(number, input),
                    false => is_valid = false,
                }
            }
            *seen = (*seen).max(run.newest);
        }
        self.invalid_datagrams += u32::from(!is_valid);
        match self.invalid_datagrams > Self::MAX_INVALID {
            true => Err(self.end(format!("more than {} invalid datagrams", Self::MAX_INVALID))),
            false => Ok(received),
        }
    }

    /// Takes the client's input for a tick of the server. Call this once per tick. Each input is returned once, in order. If none
    /// has arrived in time, the last one is repeated for up to six ticks. If more than 30 wait, the oldest are dropped, and after a
    /// [pause](Self::on_tick) all.
    pub fn take_tick_input(&mut self) -> Option<&[u8]> {
        self.tick_inputs.take()
    }

    /// Applies the limits of time and memory, and allows the client [`MAX_ITEMS`](Self::MAX_ITEMS) again. `backlog_bytes` is the size of the reliable messages that
    /// the client has not acked, at most `max_backlog_bytes`.
    ///
    /// # Errors
    /// The reason why the client is refused.
    pub fn check(
        &mut self,
        now: Duration,
        backlog_bytes: usize,
        max_backlog_bytes: usize,
    ) -> Result<(), String> {
        self.items_left = Self::MAX_ITEMS;
        let is_over = |patience| now > self.since + patience;
        let has_settings = self.sending.as_ref().is_some_and(|sending| sending.settings.is_some());
        let reason = if let Some(reason) = &self.ended {
            reason.clone()
        } else if backlog_bytes > max_backlog_bytes {
            format!(
                "{backlog_bytes} bytes of reliable messages wait for its acks, limit {max_backlog_bytes}"
            )
        } else if self.open.is_none() && is_over(Self::PATIENCE) {
            "no hello from the client".to_owned()
        } else if !has_settings && is_over(Self::REQUEST_PATIENCE) {
            match self.open.is_some_and(|open| open.is_declined) {
                true => "no request from the client that can be granted".to_owned(),
                false => "no request from the client".to_owned(),
            }
        } else {
            return Ok(());
        };
        Err(self.end(reason))
    }

    /// Puts settings to use from the next packet on, or from the welcome. The client gets them as the answer to its last request.
    /// They are not [checked](Settings::check): a packet with stages that the scene does not have is an error of
    /// [`finish`](crate::SendJob::finish).
    pub fn set_settings(&mut self, settings: Settings) {
        let stages = self.stages_instead_of(settings.stages).unwrap_or(settings.stages);
        let settings = Some(Settings { stages, ..settings });
        match &mut self.sending {
            Some(sending) => sending.settings = settings,
            None => self.early = settings,
        }
    }

    /// Returns the settings in use after the limits of time and rate. `None` before the first
    /// [`set_settings`](Self::set_settings). While the client [awaits a reset](Self::awaits_reset), the stages are `predicted`.
    pub fn settings(&self) -> Option<Settings> {
        let settings = self.sending.as_ref()?.granted()?;
        match self.awaits_reset() {
            true => Some(Settings { stages: PREDICTED.stages, ..settings }),
            false => Some(settings),
        }
    }

    /// Whether the app sends its state to a client that has lost a simulated scene, as [`Extras::state`](crate::Extras). True
    /// if this is not called.
    pub fn set_offers_state(&mut self, offers_state: bool) {
        self.offers_state = offers_state;
    }

    /// Whether the client asked for a simulated scene that it does not have, and the app does not send the state. Its packets are
    /// coded as on `predicted`, until the scene is reset.
    pub fn awaits_reset(&self) -> bool {
        self.sending.as_ref().filter(|_| !self.offers_state).is_some_and(|sending| {
            let sender = &sending.sender;
            let is_simulated =
                |settings: Settings| settings.stages.delta == Delta::ArithmeticSimulated;
            // Before the first ack it is open whether the client can start with the initial state.
            sending.settings.is_some_and(is_simulated)
                && sender.newest_acked().is_some()
                && sender.sync() == SyncStatus::Desynced
        })
    }

    /// Tells the client the settings in use if that is due: at once after a request, and at most once a second when they have
    /// changed. Call this in each frame.
    pub fn grant(&mut self, now: Duration) {
        let Some((settings, open)) = self.settings().zip(self.open.as_mut()) else {
            return;
        };
        let Some(number) = open.requested else {
            return;
        };
        let grant = Request { number, settings };
        let is_due = open.granted.is_none_or(|(last, at)| {
            last.number != number || last != grant && now >= at + GRANT_INTERVAL
        });
        if is_due {
            debug!("granted {}, {:?} kbps", settings.stages, settings.budget_kbps);
            open.granted = Some((grant, now));
            self.say(&ServerMessage::Granted(grant));
        }
    }

    /// Declines the last request, unless it was answered with a decline already. The settings stay as they are. The client is not told
    /// of further changes before its next request.
    pub fn decline(&mut self, reason: &str) {
        let Some(open) = &mut self.open else {
            return;
        };
        if let Some(number) = open.requested.take() {
            debug!("request declined: {reason}");
            open.is_declined = true;
            self.say(&ServerMessage::Declined { number, reason });
        }
    }

    /// Records the server's tick. Tells the client the tick if the ticks have paused, because half
    /// the range of sequence numbers is only nine minutes at 60 Hz.
    pub fn on_tick(&mut self, now: Duration, tick: u64) {
        let Some(open) = &mut self.open else {
            return;
        };
        let Some((last, at)) = open.tick.filter(|&(last, _)| last != tick) else {
            return;
        };
        open.tick = Some((tick, now));
        if now > at + PAUSE {
            debug!(
                "resync of the client's clock: tick {tick} after {last} and a pause of {:?}",
                now - at
            );
            self.say(&ServerMessage::Tick(tick));
            self.tick_inputs.stop();
        }
    }

    /// Returns the next reliable message for the client. Call this until it returns `None`.
    pub fn poll_message(&mut self) -> Option<Vec<u8>> {
        self.outgoing.pop_front()
    }

    /// Returns the server's last message to the client. It gives the reason for the end of the connection.
    pub fn farewell(reason: &str) -> Vec<u8> {
        ServerMessage::Refused(&one_line(reason)).encode()
    }

    /// Whether the client has said hello and got its welcome.
    pub const fn is_welcomed(&self) -> bool {
        self.sending.is_some()
    }

    /// Whether the client has ended the connection.
    pub const fn has_left(&self) -> bool {
        self.has_left
    }

    /// Returns the reason why the client does not get arithmetic coding, if the fingerprints differ.
    pub fn fallback(&self) -> Option<FallbackReason> {
        self.open?.fallback
    }

    /// Returns the stages to send in place of arithmetic `stages` during a [`fallback`](Self::fallback):
    /// [`FallbackReason::instead_of`], or the next lower rung that the scene supports. `None` without a fallback or for other
    /// stages.
    pub fn stages_instead_of(&self, stages: Stages) -> Option<Stages> {
        self.fallback()?;
        let instead = FallbackReason::instead_of(stages)?;
        let lower = LADDER.iter().rev().skip_while(|rung| rung.stages != instead);
        lower.flat_map(|rung| self.contract.plan().legal(*rung.stages)).next()
    }

    /// Number of datagrams that were malformed or acked a snapshot that was not sent.
    pub const fn invalid_datagrams(&self) -> u32 {
        self.invalid_datagrams
    }

    /// Returns the sender of snapshots. `None` before the welcome.
    pub fn sender(&self) -> Option<&SnapshotSender> {
        Some(&self.sending.as_ref()?.sender)
    }

    /// As [`sender`](Self::sender).
    pub fn sender_mut(&mut self) -> Option<&mut SnapshotSender> {
        Some(&mut self.sending.as_mut()?.sender)
    }

    /// Returns the cost of encoding and its demand. `None` before the first settings.
    pub(crate) fn cost(&mut self) -> Option<(&mut EncodeCost, [Duration; 2])> {
        let sending = self.sending.as_mut()?;
        let settings = sending.settings?;
        let demand = sending.cost.demand(settings.baseline, settings.send_interval_ticks);
        Some((&mut sending.cost, demand))
    }

    fn say(&mut self, message: &ServerMessage<'_>) {
        self.outgoing.push_back(message.encode());
    }
}

/// Minimum time between two grants for the same request.
const GRANT_INTERVAL: Duration = Duration::from_secs(1);

/// Clients get the current tick after a longer pause.
const PAUSE: Duration = Duration::from_secs(1);
