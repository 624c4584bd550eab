//! A viewer without a window, on a manual clock.

use bevy::app::Plugins;
use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;

use crate::game::headless::finish;
use crate::replication::{LaneMeter, LaneSettings, ServerLink, ViewerPlugin, spawn_receiving_lane};
use crate::transport::UdpViewerPlugin;
use crate::transport::udp::UdpViewer;

/// A viewer that steps one tick per update.
pub struct HeadlessViewer {
    pub app: App,
    pub lane: Entity,
}

impl HeadlessViewer {
    /// Creates a viewer. It connects during the following updates.
    pub fn with_plugins<M>(
        viewer: UdpViewer,
        settings: LaneSettings,
        plugins: impl Plugins<M>,
    ) -> Self {
        let mut app = App::new();
        app.add_plugins((MinimalPlugins, ViewerPlugin, UdpViewerPlugin))
            .add_plugins(plugins)
            .insert_resource(TimeUpdateStrategy::FixedTimesteps(1))
            .insert_resource(viewer);
        finish(&mut app);
        let lane = spawn_receiving_lane(app.world_mut(), settings);
        // The first update only starts the clock.
        app.update();
        Self { app, lane }
    }

    pub fn connection(&self) -> ServerLink {
        self.app.world().resource::<ServerLink>().clone()
    }

    /// Measurements since the server's welcome.
    pub fn meter(&self) -> &LaneMeter {
        let meter = self.app.world().get::<LaneMeter>(self.lane);
        meter.expect("the lane has a meter")
    }
}
