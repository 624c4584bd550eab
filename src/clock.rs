//! The clock of the machine, for measuring how long work takes.

use bevy::platform::time::Instant;

/// Returns the present moment. The clock of `std` panics in a browser, and Bevy's does not.
#[allow(
    clippy::disallowed_methods,
    reason = "Bevy's clock works in a browser, too"
)]
pub(crate) fn now() -> Instant {
    Instant::now()
}
