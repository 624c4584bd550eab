//! The page around the game: what it does for the game, in `crates/web/page/page.js`.

use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen(raw_module = "./page.js")]
extern "C" {
    /// Offers a file to the person who plays, under this name.
    pub(crate) fn download(name: &str, bytes: &[u8]);

    /// Makes a text the page's `cubewire.report`.
    pub(crate) fn publish(text: &str);

    /// The text that the browser keeps under this name.
    pub(crate) fn recall(name: &str) -> Option<String>;

    /// Lets the browser keep a text under this name.
    pub(crate) fn remember(name: &str, text: &str);

    /// Copies a text to the clipboard.
    pub(crate) fn copy(text: &str);

    /// Opens an address in another tab.
    pub(crate) fn browse(address: &str);

    /// The address of the page without its parameters.
    pub(crate) fn address() -> String;

    /// Whether there is a WebGPU adapter. Known before the game starts.
    #[wasm_bindgen(js_name = hasWebGpu)]
    pub(crate) fn has_web_gpu() -> bool;

    /// Whether people touch the page rather than use a mouse.
    #[wasm_bindgen(js_name = hasTouch)]
    pub(crate) fn has_touch() -> bool;

    /// The first frame has been drawn.
    pub(crate) fn drawn();

    /// The game has ended, as it was asked to.
    pub(crate) fn ended();

    /// The game has ended because it cannot go on.
    pub(crate) fn failed();
}
