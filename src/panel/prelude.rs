//! Names that most files of the panel use: egui, the widgets, style and number formats of the inspector, and a few of the lower modules.

pub(super) use bevy_egui::egui;
pub(super) use bevy_egui::egui::{
    Align, Align2, Color32, Context, DragValue, FontId, Frame, Galley, Id, Key, Label, Layout,
    Margin, Panel, Popup, ProgressBar, Rangef, Rect, RectAlign, Response, RichText, ScrollArea,
    Sense, Shape, Stroke, StrokeKind, Ui, UiBuilder, Vec2, WidgetInfo, WidgetType, pos2, vec2,
};
pub(super) use cubewire_inspector::words::{factor, grouped, rounded, short};

pub(super) use super::style::{
    BODY, BUTTON, CONTROL, GAP, LARGE, LINE, Look, MARGIN, ROW, SMALL, docked, free, over_views,
    page_left, row_from_right, row_in,
};
pub(super) use crate::controls::{Action, key_of};
pub(super) use crate::replication::{Accounting, Totals, rung_name};
pub(super) use crate::view::Side;
pub(super) use cubewire_inspector::memory::{Zoom, kept};
pub(super) use cubewire_inspector::widgets::{
    AXIS, At, BEYOND, Chart, Choice, Kind, Parameter, Row, Scale, Slide, balanced, button, card,
    chip, choices, divider, entry, field, figure, focus_ring, heading, key, key_figure, keys, line,
    list, named, note, opens, over_picture, parameter, picker, reserved, segmented, slider, swatch,
    switch, text, tick, triangle, unless, width, within, wrapped,
};
pub(super) use cubewire_scene::{CUBES, TICKS_PER_SECOND};
