//! Captured datagrams, sent again without changes from the same address and from others.

use std::io;
use std::time::Instant;

use super::{Field, Outcome};

pub(super) fn run(field: &mut Field, until: Instant) -> io::Result<Outcome> {
    field.send_captured(until, 0.5, |_, datagram| Some(datagram))
}
