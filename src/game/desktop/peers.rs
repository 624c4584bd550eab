//! Windows of a server and of a viewer.

use bevy::prelude::*;
use cubewire_bevy::EncodeLimit;
use cubewire_bevy::udp::UdpServer;

use crate::game::Failure;
use crate::game::window::{self, WindowSettings};
use crate::panel::{Page, PanelState};
use crate::recording::{HeldKeysPlugin, Script};
use crate::replication::{DisplayedState, Rebuilds, Seats, ViewerPlugin, spawn_receiving_lane};
use crate::simulation::CubeWorld;
use crate::transport::udp::UdpViewer;
use crate::transport::{UdpServerPlugin, UdpViewerPlugin};
use crate::view::{Selected, Side, ViewMode};

pub fn serve(
    settings: WindowSettings,
    server: UdpServer,
    players: usize,
    never_rebuilds: bool,
) -> Result<(), Failure> {
    let mut app = window::open(&settings);
    add_server(&mut app, settings, server, players)?;
    app.world_mut().resource_mut::<Rebuilds>().never = never_rebuilds;
    window::run_app(app)
}

pub fn view(settings: &WindowSettings, viewer: UdpViewer) -> Result<(), Failure> {
    let mut app = window::open(settings);
    add_viewer(&mut app, settings, viewer);
    window::run_app(app)
}

/// Adds everything for a server's window except Bevy's default plugins.
pub fn add_server(
    app: &mut App,
    settings: WindowSettings,
    server: UdpServer,
    players: usize,
) -> Result<(), Failure> {
    window::add_frame(app, &settings);
    open_peers_tab(app);
    let hosts = settings.script.as_ref().map_or(1, Script::players);
    app.insert_resource(CubeWorld::with_players(players));
    window::add_play(app, settings)?;
    app.add_plugins(UdpServerPlugin(server))
        .insert_resource(Seats::new(players, hosts))
        .init_resource::<EncodeLimit>();
    Ok(())
}

/// Adds everything for a viewer's window except Bevy's default plugins. It shows only the viewer's lane.
pub fn add_viewer(app: &mut App, settings: &WindowSettings, viewer: UdpViewer) {
    window::add_frame(app, settings);
    open_peers_tab(app);
    app.add_plugins((ViewerPlugin, UdpViewerPlugin, HeldKeysPlugin))
        .insert_resource(viewer)
        .insert_resource(ViewMode::Right);
    let lane = spawn_receiving_lane(app.world_mut(), settings.right.clone());
    app.world_mut().entity_mut(lane).insert((Side::Right, Selected, DisplayedState::default()));
}

fn open_peers_tab(app: &mut App) {
    app.world_mut().resource_mut::<PanelState>().page = Page::Link;
}
