//! What is computed once and then drawn in many frames.

use bevy_egui::egui::{Id, Ui};

/// What was computed for this key, or else what `compute` returns. One value is kept for each `id`.
pub fn kept<K, V>(ui: &Ui, id: Id, key: K, compute: impl FnOnce() -> V) -> V
where
    K: Clone + PartialEq + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    let before: Option<(K, V)> = ui.data(|data| data.get_temp(id));
    if let Some((_, value)) = before.filter(|(of, _)| *of == key) {
        return value;
    }
    let value = compute();
    ui.data_mut(|data| data.insert_temp(id, (key, value.clone())));
    value
}
