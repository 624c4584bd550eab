//! What a viewer and its server have said to each other, from the welcome on.

use std::net::SocketAddr;
use std::time::Duration;

use cubewire_codec::schema::{CUBES as CUBES_SCHEMA, first_difference};
use cubewire_codec::{Limits, Sequence};
use cubewire_protocol::{FallbackReason, Request, RequestAck, Welcome};
use cubewire_scene::CUBES;

use super::error::ViewError;
use crate::replication::SenderSettings;

#[derive(Debug, Default)]
pub(super) struct Session {
    pub(super) is_welcomed: bool,
    requested: Option<Requested>,
}

/// The last request.
#[derive(Clone, Copy, Debug)]
struct Requested {
    request: Request,
    /// The newest ack of it.
    ack: Option<RequestAck>,
    /// Whether it was acked since it was last sent.
    is_acked: bool,
    /// Time since it was last sent.
    since: Duration,
}

/// What the server has said.
pub(super) enum Heard {
    /// The first message.
    Welcome(Box<Welcome>),
    /// The others are acks of requests, with the tick that the server was at; none if the request had to be sent again for so
    /// long that it is old.
    Ack(Option<u64>),
}

impl Session {
    /// Takes the next message of a server.
    pub(super) fn hear(&mut self, server: SocketAddr, message: &[u8]) -> Result<Heard, ViewError> {
        if !self.is_welcomed {
            let welcome = welcome(server, message)?;
            self.is_welcomed = true;
            return Ok(Heard::Welcome(Box::new(welcome)));
        }
        let ack = RequestAck::decode(message).map_err(|hostile| ViewError::Hostile {
            server,
            reason: hostile.to_string(),
        })?;
        let last = self.requested.as_mut();
        let tick = last
            .filter(|last| ack.number == last.request.number)
            .and_then(|last| {
                (last.ack, last.is_acked) = (Some(ack), true);
                (last.since <= MAX_TICK_AGE).then_some(ack.tick)
            });
        Ok(Heard::Ack(tick))
    }

    /// What the server sends, if that is less than what was requested.
    pub(super) fn granted(&self) -> Option<SenderSettings> {
        let Requested {
            request,
            ack: Some(ack),
            ..
        } = self.requested?
        else {
            return None;
        };
        let is_less = ack.send_interval_ticks > request.send_interval_ticks
            || ack.baseline != request.baseline
            || ack.budget_kbps != request.budget_kbps;
        is_less.then(|| SenderSettings {
            stages: request.stages,
            send_interval_ticks: ack.send_interval_ticks.into(),
            baseline: ack.baseline,
            budget: ack.budget_kbps,
        })
    }

    /// The message that requests the lane's sender settings, when they change, and again from time to time, as each ack says
    /// what the server sends and its tick; with a fallback, stages without arithmetic coding.
    pub(super) fn request(
        &mut self,
        settings: &SenderSettings,
        fallback: Option<FallbackReason>,
        delta: Duration,
    ) -> Option<Vec<u8>> {
        let last = self.requested.map(|requested| requested.request);
        let number = last.map_or(Sequence(0), |last| last.number);
        let stages = settings.stages;
        let instead = fallback.and(FallbackReason::instead_of(stages));
        let wanted = Request {
            number,
            stages: instead.unwrap_or(stages),
            send_interval_ticks: settings.send_interval_ticks.clamp(1, 255) as u8,
            baseline: settings.baseline,
            fallback: instead.and(fallback),
            budget_kbps: settings.budget,
        };
        let requested = match &mut self.requested {
            Some(last) if last.request == wanted => {
                last.since += delta;
                if !last.is_acked || last.since < REQUEST_INTERVAL {
                    return None;
                }
                (last.is_acked, last.since) = (false, Duration::ZERO);
                last
            }
            requested => requested.insert(Requested {
                request: Request {
                    number: number.next(),
                    ..wanted
                },
                ack: None,
                is_acked: false,
                since: Duration::ZERO,
            }),
        };
        Some(requested.request.encode())
    }
}

/// Reads the welcome, which must be of this program's scene.
fn welcome(server: SocketAddr, message: &[u8]) -> Result<Welcome, ViewError> {
    let welcome = Welcome::decode(message, Limits::default())?;
    let (theirs, ours) = (welcome.plan.schema().text(), CUBES_SCHEMA.text());
    if let Some(lines) = first_difference(&theirs, &ours) {
        let [theirs, ours] = lines.map(str::to_owned);
        return Err(ViewError::OtherScene {
            server,
            theirs,
            ours,
        });
    }
    match welcome.initial.bodies.len() {
        CUBES => Ok(welcome),
        cubes => Err(ViewError::OtherCubes { server, cubes }),
    }
}

/// Time from a request to the next, once it is acked.
const REQUEST_INTERVAL: Duration = Duration::from_secs(1);

/// The age at which a tick would be taken for that of a server that has paused: see
/// [`sync_tick`](cubewire_protocol::SnapshotReceiver::sync_tick).
const MAX_TICK_AGE: Duration = Duration::from_secs(1);
