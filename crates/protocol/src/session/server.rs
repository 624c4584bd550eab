//! The server's end of a session.

use std::borrow::Cow;
use std::time::Duration;

use cubewire_codec::{InitialStateError, Snapshot, Stages, encode_initial};
use log::debug;

use super::contract::{Contract, FallbackReason};
use super::message::{ClientMessage, Request, ServerMessage, Settings, one_line};

/// State of a session at the server.
#[derive(Clone, Debug)]
pub struct ServerSession {
    /// `None` before the hello.
    open: Option<Open>,
    has_left: bool,
    /// When the client connected.
    since: Duration,
}

#[derive(Clone, Copy, Debug, Default)]
struct Open {
    fallback: Option<FallbackReason>,
    /// Number of the last request.
    requested: Option<u16>,
    /// The last grant, and its time.
    granted: Option<(Request, Duration)>,
    /// The last tick, and its time. The welcome sets the first one.
    tick: Option<(u64, Duration)>,
}

/// Outcome of a message from a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerEvent {
    /// The hello is accepted. The client waits for the [welcome](ServerSession::welcome).
    Welcome,
    /// The client requests these settings. The scene supports their stages.
    Settings(Settings),
}

impl ServerSession {
    /// Time limit for a client's first message.
    pub const PATIENCE: Duration = Duration::from_secs(5);

    /// Creates the session of a client that connected at `now`.
    pub const fn new(now: Duration) -> Self {
        Self { open: None, has_left: false, since: now }
    }

    /// Handles a message from the client. The app decides whether clients may request settings.
    ///
    /// # Errors
    /// The reason why the client is refused or has left. The caller ends the connection. A refused client is sent the reason.
    pub fn on_message(
        &mut self,
        contract: &Contract,
        message: ClientMessage<'_>,
    ) -> Result<ServerEvent, String> {
        let event = self.event(contract, message);
        event.inspect_err(|reason| debug!("client refused: {reason}"))
    }

    fn event(
        &mut self,
        contract: &Contract,
        message: ClientMessage<'_>,
    ) -> Result<ServerEvent, String> {
        match (message, &mut self.open) {
            (ClientMessage::Hello(hello), None) => {
                if let Some(reason) = contract.refusal(&hello) {
                    return Err(reason);
                }
                let fallback = FallbackReason::between(hello.fingerprint, contract.fingerprint);
                self.open = Some(Open { fallback, ..Open::default() });
                debug!("client admitted");
                Ok(ServerEvent::Welcome)
            }
            (ClientMessage::Request(Request { number, settings }), Some(open)) => {
                settings
                    .check(contract.plan())
                    .map_err(|reason| format!("invalid request: {reason}"))?;
                open.requested = Some(number);
                debug!("client requests {}", settings.stages);
                Ok(ServerEvent::Settings(settings))
            }
            (ClientMessage::Left(reason), _) => {
                self.has_left = true;
                Err(format!("the client has left: {}", one_line(reason)))
            }
            _ => Err("unexpected message from the client".to_owned()),
        }
    }

    /// Returns the answer to a hello, with the server's tick and the snapshot that the first packets are relative to.
    ///
    /// # Errors
    /// [`InitialStateError`] as in [`encode_initial`].
    pub fn welcome(
        &mut self,
        contract: &Contract,
        now: Duration,
        tick: u64,
        initial: &Snapshot,
    ) -> Result<ServerMessage<'static>, InitialStateError> {
        let mut bytes = Vec::new();
        encode_initial(initial, &mut bytes)?;
        if let Some(open) = &mut self.open {
            open.tick = Some((tick, now));
        }
        Ok(ServerMessage::Welcome {
            tick,
            fingerprint: contract.fingerprint,
            initial: Cow::Owned(bytes),
        })
    }

    /// Whether the client has ended the connection.
    pub const fn has_left(&self) -> bool {
        self.has_left
    }

    /// Whether the client said hello.
    pub const fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Whether a client has been silent for longer than [`PATIENCE`](Self::PATIENCE).
    pub fn is_overdue(&self, now: Duration) -> bool {
        !self.is_open() && now > self.since + Self::PATIENCE
    }

    /// Returns the reason why the client does not get arithmetic coding, if the fingerprints differ.
    pub fn fallback(&self) -> Option<FallbackReason> {
        self.open?.fallback
    }

    /// Returns the stages to send in place of arithmetic `stages` during a [`fallback`](Self::fallback): see
    /// [`FallbackReason::instead_of`]. `None` without a fallback, for other stages, or if the scene does not support
    /// them.
    pub fn stages_instead_of(&self, contract: &Contract, stages: Stages) -> Option<Stages> {
        self.fallback()?;
        let instead = FallbackReason::instead_of(stages)?;
        contract.plan().legal(*instead).ok()
    }

    /// Returns the message with the settings in use if it is due: at once after a request, and at most once a second
    /// when the settings have changed.
    #[must_use]
    pub fn grant(&mut self, now: Duration, settings: Settings) -> Option<ServerMessage<'static>> {
        let open = self.open.as_mut()?;
        let grant = Request { number: open.requested?, settings };
        let is_due = open.granted.is_none_or(|(last, at)| {
            last.number != grant.number || last != grant && now >= at + GRANT_INTERVAL
        });
        is_due.then(|| {
            debug!("granted {}, {:?} kbps", settings.stages, settings.budget_kbps);
            open.granted = Some((grant, now));
            ServerMessage::Granted(grant)
        })
    }

    /// Returns the message that declines the last request, once.
    #[must_use]
    pub fn decline<'a>(&mut self, reason: &'a str) -> Option<ServerMessage<'a>> {
        let open = self.open.as_mut()?;
        let number = open.requested.take()?;
        debug!("request declined: {reason}");
        Some(ServerMessage::Declined { number, reason })
    }

    /// Records the server's tick. Call this every tick or frame. Returns a message that resets the client's clock if
    /// the ticks have paused.
    #[must_use]
    pub fn on_tick(&mut self, now: Duration, tick: u64) -> Option<ServerMessage<'static>> {
        let open = self.open.as_mut()?;
        let (last, at) = open.tick?;
        if last == tick {
            return None;
        }
        open.tick = Some((tick, now));
        (now > at + PAUSE).then(|| {
            debug!("resync of the client's clock: tick {tick} after a pause of {:?}", now - at);
            ServerMessage::Tick(tick)
        })
    }
}

/// Minimum time between two grants for the same request.
const GRANT_INTERVAL: Duration = Duration::from_secs(1);

/// Clients get the current tick after a longer pause, because half the range of sequence numbers is only nine minutes
/// at 60 Hz.
const PAUSE: Duration = Duration::from_secs(1);
