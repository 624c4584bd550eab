#![doc = include_str!("../README.md")]

#[doc(hidden)]
pub mod graph;
#[doc(hidden)]
pub mod kinds;
#[doc(hidden)]
pub mod memory;
#[doc(hidden)]
pub mod names;
#[doc(hidden)]
pub mod packet;
#[doc(hidden)]
pub mod playing;
mod plugin;
#[doc(hidden)]
pub mod prelude;
#[doc(hidden)]
pub mod style;
mod view;
#[doc(hidden)]
pub mod waiting;
#[doc(hidden)]
pub mod widgets;
#[doc(hidden)]
pub mod words;

pub use bevy_egui::egui::Key;

pub use plugin::{Inspector, InspectorPlugin, Selected};
