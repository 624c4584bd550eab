//! The items that most games use: `use cubewire_bevy::prelude::*;`.

#[cfg(feature = "memory")]
pub use crate::MemoryNetwork;
#[cfg(feature = "udp")]
pub use crate::udp::{ClientAddress, ClientId, Key, UdpClient, UdpServer};
#[cfg(feature = "server")]
pub use crate::{
    Bodies, ByteBudget, ClientRequests, ConnectionSettings, Interest, ReplicationStats, SendGroup,
    SendPriority, ServerPlugin, VisibilityAppExt, VisibilityFilter, WhenHidden,
};
pub use crate::{
    BodyKind, Client, Connected, CubewireAppExt, CubewirePlugin, CubewireSystems, Disconnected,
    Field, FromClient, FromServer, Measure, MessageBuffer, Pose, Protocol, Remote, Replicated,
    Server, Shape, Teleport, ToClient, ToServer, connected,
};
#[cfg(feature = "client")]
pub use crate::{
    ClientPlugin, KeepVanished, PlayoutDelay, PredictsBodies, SettingsRequest, VanishReason,
    Vanished,
};
pub use crate::{ControlledBy, NextInput, PredictTick, Predicted, TickInput, VisualOffset};
