//! Names that most files of the panel use: the inspector's names, and a few of the lower modules.

pub(super) use cubewire_inspector::prelude::*;
pub(super) use cubewire_scene::{CUBES, TICKS_PER_SECOND};

pub(super) use super::style::{docked, free, over_views};
pub(super) use crate::controls::{Action, key_of};
pub(super) use crate::replication::{Accounting, Totals, rung_name};
pub(super) use crate::view::Side;
