//! The clock of the machine, for measuring how long work takes.

use bevy::platform::time::Instant;

/// This moment. Natively, Bevy's clock is that of `std`, which panics in a browser.
#[allow(
    clippy::disallowed_methods,
    reason = "Bevy's clock works in a browser, too"
)]
pub(crate) fn now() -> Instant {
    Instant::now()
}
