//! Names that most files of the crate use.

pub(crate) use bevy_egui::egui;
pub(crate) use bevy_egui::egui::{
    Align, Align2, Button, Color32, ComboBox, DragValue, FontId, Galley, Id, Key, Label, Layout,
    Modifiers, Painter, Pos2, Rect, Response, RichText, ScrollArea, Sense, Shape, Stroke,
    StrokeKind, TextWrapMode, Ui, UiBuilder, Vec2, Widget, WidgetInfo, WidgetType, pos2, vec2,
};

pub(crate) use crate::style::{
    BODY, BUTTON, CONTROL, GAP, LARGE, LINE, Look, MARGIN, ROW, SMALL, egui_color, page_left,
    row_from_right, row_in,
};
pub(crate) use crate::widgets::{
    AXIS, At, Chart, Row, Scale, chip, choices, divider, field, figure, focus_ring, heading,
    laid_out, legend, legend_width, line, list, note, segmented, stack, swatch, text, triangle,
    width, within, wrapped,
};
pub(crate) use crate::words::{capital, grouped, rounded, short};
