//! The machine's clock, to measure the duration of work.

use bevy::platform::time::Instant;

/// Returns the current time. In a browser the clock of `std` panics, and Bevy's works.
#[allow(clippy::disallowed_methods, reason = "Bevy's clock works in a browser, too")]
pub(crate) fn now() -> Instant {
    Instant::now()
}
