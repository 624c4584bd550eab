#![doc = include_str!("../README.md")]

mod budget;
mod clock;
mod connection;
mod delay;
mod encode_budget;
mod encode_cost;
mod engine;
mod feedback;
mod inputs;
mod interpolation;
pub mod netcode;
mod pacer;
mod playout;
mod rate;
mod receiver;
pub mod record;
pub mod renet_guard;
mod ring;
mod schedule;
mod sender;
mod slots;
mod state_transfer;
mod sync;
mod tracks;

pub use budget::{AllowedSnapshot, BUDGETS_KBPS, RateLimiter, SendBudget, TransportState};
pub use clock::SenderClock;
pub use connection::{
    ClientConnection, ClientEvent, ClientMessage, Contract, Extras, FallbackReason, Hello,
    InputReport, MAX_OWN_BYTES, MAX_REPEATED_BYTES, PROTOCOL_VERSION, RateControl, Received,
    Request, SESSION, SendJob, SentPacket, ServerConnection, ServerEvent, ServerMessage,
    SessionError, Settings, Welcome, connect, encode_jobs, one_line,
};
pub use delay::{AdaptiveDelay, playout_delay};
pub use encode_budget::EncodeBudget;
pub use encode_cost::Throttle;
pub use engine::Engine;
pub use feedback::{Ack, Feedback, FeedbackError};
pub use inputs::InputHistory;
pub use interpolation::{Interpolation, MAX_EXTRAPOLATION_SECONDS};
pub use pacer::Pacer;
pub use playout::{Playout, PlayoutBuffer};
pub use rate::{AdaptiveRate, MAX_KBPS};
pub use receiver::{PacketOutcome, RECEIVER_RING, SnapshotReceiver};
pub use ring::BaselineRing;
pub use schedule::{LongestWait, MAX_WEIGHT_RATIO, PacketBudget, SendState, Wait, WaitHistory};
pub use sender::{
    BaselineChoice, CANDIDATES, MAX_BASELINE_AGE_TICKS, SendError, SharingKey, SnapshotSender,
};
pub use slots::{COOLDOWN, SlotTable, Visibility, apply_visibility};
pub use state_transfer::MAX_STATE_BYTES;
pub use sync::SyncStatus;
pub use tracks::PlayoutSnapshot;
