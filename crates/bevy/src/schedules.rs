//! The order of systems.

use bevy_app::{App, FixedPostUpdate, PreUpdate};
use bevy_ecs::prelude::*;

use crate::mailbox::CubewireSystems;

pub(crate) fn configure(app: &mut App) {
    use CubewireSystems::{Capture, Deliver, Flush, Play, Receive, Send};
    app.configure_sets(PreUpdate, (Receive, Deliver, Play).chain())
        .configure_sets(FixedPostUpdate, (Capture, Send, Flush).chain());
}
