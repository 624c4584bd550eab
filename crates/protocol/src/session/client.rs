//! The client's end of a session.

use std::sync::Arc;

use cubewire_codec::{DecodeError, Limits, Plan, Snapshot, decode_initial};
use log::debug;

use super::contract::{Contract, FallbackReason};
use super::message::{ClientMessage, Request, ServerMessage, Settings, one_line};

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

/// State of a session at the client.
#[derive(Clone, Debug, Default)]
pub struct ClientSession {
    has_said_hello: bool,
    is_welcomed: bool,
    fallback: Option<FallbackReason>,
    requested: Option<Request>,
    /// The answer to the last request.
    answer: Option<Result<Settings, String>>,
}

/// Outcome of a message from the server.
#[derive(Clone, Debug, PartialEq)]
pub enum ClientEvent {
    /// The client is accepted.
    Welcome(Box<Welcome>),
    /// [`ClientSession::answer`] may have changed.
    Answer,
    /// The server continues with this tick: see [`SnapshotReceiver::sync_tick`](crate::SnapshotReceiver::sync_tick).
    Tick(u64),
}

/// Reason why a session ends at the client.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SessionError {
    /// The server refused the client for this reason.
    #[error("{0}")]
    Refused(String),
    /// The message is not allowed in the current state.
    #[error("unexpected message from the server")]
    OutOfTurn,
    /// The tick is out of range.
    #[error("tick {0} in the welcome is above {MAX_TICK}")]
    Tick(u64),
    /// The initial state is malformed.
    #[error("invalid initial state in the welcome: {0}")]
    Initial(#[from] DecodeError),
}

impl ClientSession {
    /// Returns the client's first message, or `None` after the first call.
    #[must_use]
    pub fn hello<'a>(&mut self, contract: &'a Contract) -> Option<ClientMessage<'a>> {
        let has_said_hello = std::mem::replace(&mut self.has_said_hello, true);
        (!has_said_hello).then(|| ClientMessage::Hello(contract.hello()))
    }

    /// Handles a message from the server.
    ///
    /// # Errors
    /// [`SessionError`] if the server refused the client, or if the message is invalid.
    pub fn on_message(
        &mut self,
        contract: &Contract,
        message: ServerMessage<'_>,
        limits: Limits,
    ) -> Result<ClientEvent, SessionError> {
        let event = self.event(contract, message, limits);
        event.inspect_err(|error| debug!("session ended: {error}"))
    }

    fn event(
        &mut self,
        contract: &Contract,
        message: ServerMessage<'_>,
        limits: Limits,
    ) -> Result<ClientEvent, SessionError> {
        match message {
            ServerMessage::Refused(reason) => Err(SessionError::Refused(one_line(reason))),
            ServerMessage::Welcome { tick, fingerprint, initial } if !self.is_welcomed => {
                if tick > MAX_TICK {
                    return Err(SessionError::Tick(tick));
                }
                let welcome = Welcome {
                    plan: Arc::clone(contract.plan()),
                    tick,
                    initial: decode_initial(&initial, limits)?,
                };
                self.is_welcomed = true;
                debug!("admitted at tick {tick}");
                self.fallback = FallbackReason::between(fingerprint, contract.fingerprint);
                Ok(ClientEvent::Welcome(Box::new(welcome)))
            }
            ServerMessage::Granted(Request { number, settings }) if self.requested.is_some() => {
                Ok(self.take_answer(number, Ok(settings)))
            }
            ServerMessage::Declined { number, reason } if self.requested.is_some() => {
                Ok(self.take_answer(number, Err(one_line(reason))))
            }
            ServerMessage::Tick(tick) if self.is_welcomed => {
                debug!("resync: the server continues with tick {tick}");
                Ok(ClientEvent::Tick(tick))
            }
            _ => Err(SessionError::OutOfTurn),
        }
    }

    fn take_answer(&mut self, number: u16, answer: Result<Settings, String>) -> ClientEvent {
        // An answer to an earlier request is out of date.
        if self.requested.map(|last| last.number) == Some(number) {
            match &answer {
                Ok(settings) => debug!("server sends {}", settings.stages),
                Err(reason) => debug!("request declined: {reason}"),
            }
            self.answer = Some(answer);
        }
        ClientEvent::Answer
    }

    /// Returns the request for these settings. `None` if the last request had the same settings and was not declined.
    #[must_use]
    pub fn request(&mut self, settings: Settings) -> Option<ClientMessage<'static>> {
        let last = self.requested;
        let is_declined = matches!(self.answer, Some(Err(_)));
        if last.is_some_and(|last| last.settings == settings) && !is_declined {
            return None;
        }
        let number = last.map_or(0, |last| last.number).wrapping_add(1);
        let request = Request { number, settings };
        (self.requested, self.answer) = (Some(request), None);
        Some(ClientMessage::Request(request))
    }

    /// Whether the welcome has arrived.
    pub const fn is_welcomed(&self) -> bool {
        self.is_welcomed
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
        let asked = self.requested.map(|last| last.settings);
        let granted = self.answer()?.ok();
        granted.filter(|_| granted != asked)
    }
}
