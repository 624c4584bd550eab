//! Errors of the commands, each a one-line message.

use std::error::Error;
use std::fmt::Display;
use std::path::Path;

/// Reason why a command failed. Only an error of standard output is an [`std::io::Error`].
pub(crate) type Failure = Box<dyn Error + Send + Sync>;

/// Returns a function that wraps the error of a file: it `cannot be` read, for example.
pub(crate) fn cannot_be<E: Display>(
    done: &str,
    path: impl AsRef<Path>,
) -> impl FnOnce(E) -> Failure {
    move |error| format!("{}: cannot be {done}: {error}", path.as_ref().display()).into()
}
