//! Tests of `cubewire-files`.

mod killed;
mod places;
