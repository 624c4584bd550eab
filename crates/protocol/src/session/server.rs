//! The server's end of a session.

use std::borrow::Cow;
use std::time::Duration;

use cubewire_codec::{InitialStateError, Snapshot, Stages, encode_initial};

use super::contract::Contract;
use super::message::{ClientMessage, Request, ServerMessage, Settings};
use crate::fallback::FallbackReason;

/// State of a session at a server.
#[derive(Clone, Debug)]
pub struct ServerSession {
    state: State,
    since: Duration,
}

#[derive(Clone, Debug)]
enum State {
    Silent,
    Open(Open),
    Refused,
}

#[derive(Clone, Copy, Debug, Default)]
struct Open {
    fallback: Option<FallbackReason>,
    /// Number of the last request.
    requested: Option<u16>,
    /// What was granted last, and when.
    granted: Option<(Request, Duration)>,
    /// The last tick, and when it was. The first one is told in the welcome.
    tick: Option<(u64, Duration)>,
}

/// Outcome of a message of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// The hello is accepted: the client waits for the [welcome](ServerSession::welcome).
    Welcome,
    /// The client asks for these settings. The scene has their stages.
    Settings(Settings),
}

impl ServerSession {
    /// Time for which a client may say nothing, and a refused one may stay to read the reason.
    pub const PATIENCE: Duration = Duration::from_secs(5);

    /// The session of a client that has connected at `now`.
    #[must_use]
    pub const fn new(now: Duration) -> Self {
        Self {
            state: State::Silent,
            since: now,
        }
    }

    /// Takes a message. The app decides whether clients may ask for settings.
    ///
    /// # Errors
    /// The reason why the client is refused. The caller sends it to the client, and then calls [`refuse`](Self::refuse).
    pub fn on_message(
        &mut self,
        contract: &Contract,
        message: ClientMessage<'_>,
    ) -> Result<Asked, String> {
        match (message, &mut self.state) {
            (ClientMessage::Hello(hello), State::Silent) => {
                if let Some(reason) = contract.refusal(&hello) {
                    return Err(reason);
                }
                self.state = State::Open(Open {
                    fallback: FallbackReason::between(hello.fingerprint, contract.fingerprint),
                    ..Open::default()
                });
                Ok(Asked::Welcome)
            }
            (ClientMessage::Request(Request { number, settings }), State::Open(open)) => {
                settings
                    .check(contract.plan())
                    .map_err(|reason| format!("a request that cannot be served: {reason}"))?;
                open.requested = Some(number);
                Ok(Asked::Settings(settings))
            }
            _ => Err("the client sent a message out of turn".to_owned()),
        }
    }

    /// Returns the answer to a hello, with the server's tick and the snapshot that the first packets are relative to.
    ///
    /// # Errors
    /// [`InitialStateError`] as [`encode_initial`].
    pub fn welcome(
        &mut self,
        contract: &Contract,
        now: Duration,
        tick: u64,
        initial: &Snapshot,
    ) -> Result<ServerMessage<'static>, InitialStateError> {
        let mut bytes = Vec::new();
        encode_initial(initial, &mut bytes)?;
        if let State::Open(open) = &mut self.state {
            open.tick = Some((tick, now));
        }
        Ok(ServerMessage::Welcome {
            tick,
            fingerprint: contract.fingerprint,
            initial: Cow::Owned(bytes),
        })
    }

    /// Records that the client was told that it is refused.
    pub fn refuse(&mut self, now: Duration) {
        (self.state, self.since) = (State::Refused, now);
    }

    /// Whether the client said hello, and was not refused.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        matches!(self.state, State::Open(_))
    }

    /// Whether the client was refused.
    #[must_use]
    pub const fn is_refused(&self) -> bool {
        matches!(self.state, State::Refused)
    }

    /// Whether a client has said nothing, or has been refused, for more than [`PATIENCE`](Self::PATIENCE).
    #[must_use]
    pub fn is_overdue(&self, now: Duration) -> bool {
        !self.is_open() && now > self.since + Self::PATIENCE
    }

    /// Reason why the client is sent no arithmetic coding, if the fingerprints differ.
    #[must_use]
    pub fn fallback(&self) -> Option<FallbackReason> {
        match &self.state {
            State::Open(open) => open.fallback,
            _ => None,
        }
    }

    /// Stages to send [instead](FallbackReason::instead_of) of these, if they use arithmetic coding and there is a
    /// [`fallback`](Self::fallback).
    #[must_use]
    pub fn stages_instead_of(&self, contract: &Contract, stages: Stages) -> Option<Stages> {
        self.fallback()?;
        let instead = FallbackReason::instead_of(stages)?;
        contract.plan().legal(*instead).ok()
    }

    /// Returns the message with the settings in use, if one is due: at once after a request, and at most once a second when they
    /// have changed.
    #[must_use]
    pub fn grant(&mut self, now: Duration, settings: Settings) -> Option<ServerMessage<'static>> {
        let State::Open(open) = &mut self.state else {
            return None;
        };
        let grant = Request {
            number: open.requested?,
            settings,
        };
        let is_due = open.granted.is_none_or(|(last, at)| {
            last.number != grant.number || last != grant && now >= at + GRANT_INTERVAL
        });
        is_due.then(|| {
            open.granted = Some((grant, now));
            ServerMessage::Granted(grant)
        })
    }

    /// Returns the message that declines the last request, once.
    #[must_use]
    pub fn decline<'a>(&mut self, reason: &'a str) -> Option<ServerMessage<'a>> {
        let State::Open(open) = &mut self.state else {
            return None;
        };
        let number = open.requested.take()?;
        Some(ServerMessage::Declined { number, reason })
    }

    /// Takes the server's tick, in every tick or frame. Returns the message that resets the client's clock after a pause of the
    /// ticks.
    #[must_use]
    pub fn on_tick(&mut self, now: Duration, tick: u64) -> Option<ServerMessage<'static>> {
        let State::Open(open) = &mut self.state else {
            return None;
        };
        let (last, at) = open.tick?;
        if last == tick {
            return None;
        }
        open.tick = Some((tick, now));
        (now > at + PAUSE).then_some(ServerMessage::Tick(tick))
    }
}

/// Time from one change of what is granted to the next.
const GRANT_INTERVAL: Duration = Duration::from_secs(1);

/// After a pause that is longer, clients are told which tick it is: half the range of their numbers is nine minutes at 60 Hz.
const PAUSE: Duration = Duration::from_secs(1);
