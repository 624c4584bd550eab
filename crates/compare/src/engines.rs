//! The libraries, each configured as its users would.

mod cubewire;
mod delta_pack;
mod lightyear;
mod replicon;
mod sdec;

use crate::engine::Variant;

pub const ALL: [&[Variant]; 5] = [
    cubewire::VARIANTS,
    replicon::VARIANTS,
    lightyear::VARIANTS,
    sdec::VARIANTS,
    delta_pack::VARIANTS,
];
