//! `cubewire key`

use std::io::Write;

use super::CommandError;
use crate::transport::udp::Key;

/// Prints a new key.
///
/// # Errors
/// If it cannot be printed.
pub fn run(out: &mut impl Write) -> Result<(), CommandError> {
    Ok(writeln!(out, "{}", Key::random().to_hex())?)
}
