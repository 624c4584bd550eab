//! Names that most files of the crate and of the panel use.

pub use std::ops::{Range, RangeInclusive};
pub use std::sync::Arc;

pub use bevy_egui::egui;
pub use bevy_egui::egui::{
    Align, Align2, Button, Color32, ComboBox, Context, DragValue, FontId, Frame, Galley, Id, Key,
    Label, Layout, Margin, Modifiers, Painter, Panel, Popup, Pos2, ProgressBar, Rangef, Rect,
    RectAlign, Response, RichText, ScrollArea, Sense, Shape, Stroke, StrokeKind, TextWrapMode, Ui,
    UiBuilder, Vec2, Widget, WidgetInfo, WidgetType, pos2, vec2,
};

pub use crate::memory::{Zoom, kept};
pub use crate::names::{Highlight, Names};
pub use crate::style::{
    BODY, BUTTON, CONTROL, GAP, LARGE, LINE, Look, MARGIN, ROW, SMALL, egui_color, page_left,
    row_in,
};
pub use crate::widgets::*;
pub use crate::words::{capital, factor, grouped, rounded, short, ticks};
