//! Functions that the page provides to the game, from `crates/web/page/page.js`.

use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen(raw_module = "./page.js")]
extern "C" {
    /// Offers a file as a download under this name.
    pub(crate) fn download(name: &str, bytes: &[u8]);

    /// Sets the page's `cubewire.report` to a text.
    pub(crate) fn publish(text: &str);

    /// Returns the text that the browser stores under this name.
    pub(crate) fn recall(name: &str) -> Option<String>;

    /// Stores a text in the browser under this name.
    pub(crate) fn remember(name: &str, text: &str);

    /// Copies a text to the clipboard.
    pub(crate) fn copy(text: &str);

    /// Opens an address in another tab.
    pub(crate) fn browse(address: &str);

    /// Returns the address of the page without parameters.
    pub(crate) fn address() -> String;

    /// Whether there is a WebGPU adapter. Known before the game starts.
    #[wasm_bindgen(js_name = hasWebGpu)]
    pub(crate) fn has_web_gpu() -> bool;

    /// Whether the main input of the device is touch and not a mouse.
    #[wasm_bindgen(js_name = hasTouch)]
    pub(crate) fn has_touch() -> bool;

    /// Reports that the first frame was drawn.
    pub(crate) fn drawn();

    /// Reports that the game ended as requested.
    pub(crate) fn ended();

    /// Reports that the game ended because of an error.
    pub(crate) fn failed();
}
