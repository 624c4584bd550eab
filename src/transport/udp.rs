//! What a [server](UdpServerPlugin) and its [viewers](UdpViewer) say to each other over UDP.
//!
//! Here every viewer has the server's key and makes its own connect token; a game would keep the key on its servers and hand
//! out tokens.

mod server;
mod viewer;

pub use server::{MAX_VIEWERS, UdpServerPlugin, ViewerBudget, Viewers};
pub use viewer::{UdpViewer, UdpViewerPlugin, ViewError, ViewerSettings};

/// The data of a connect token: the version of the protocol that its maker has. The protocol's number in netcode does not
/// contain it: netcode drops what does not match silently, and a version that does not match should be reported.
fn token_data(version: u16) -> [u8; 256] {
    let mut data = [0; 256];
    data[..2].copy_from_slice(&version.to_be_bytes());
    data
}

fn token_version(data: &[u8; 256]) -> u16 {
    u16::from_be_bytes([data[0], data[1]])
}
