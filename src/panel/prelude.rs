//! Names that most files of the panel use: the inspector's, a few of the lower modules, and the panel's own types.

pub(super) use std::time::Duration;

pub(super) use cubewire_codec::ladder::{self, LADDER, Rung};
pub(super) use cubewire_codec::{BitKind, StageOptions, Stages};
pub(super) use cubewire_inspector::prelude::*;
pub(super) use cubewire_scene::{CUBES, TICKS_PER_SECOND};

pub(super) use super::lane::{LaneView, Measured, Status};
pub(super) use super::settings::{Column, Page, PanelSize, PanelState};
pub(super) use super::style::{docked, free, over_views};
pub(super) use super::terms;
pub(super) use crate::controls::{Action, key_of};
pub(super) use crate::history::Selection;
pub(super) use crate::replication::{
    Accounting, LaneMeter, LaneSettings, PacketRecord, Part, Sample, SenderSettings, TARGET_KBPS,
    Totals, rung_name,
};
pub(super) use crate::view::{CubeColors, Inset, Side, ViewMode};
