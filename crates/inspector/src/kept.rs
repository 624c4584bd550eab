//! Caching of computed values between frames.

use bevy_egui::egui::{Id, Ui};

/// Returns the cached value for `id` if its key is equal, otherwise calls `compute` and caches the result. Each `id`
/// has one value.
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
