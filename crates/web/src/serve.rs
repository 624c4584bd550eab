//! A small server for trying the page. Any other that serves static files does as well.

use std::net::Ipv4Addr;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use axum::Router;
use axum::http::{HeaderName, HeaderValue};
use tokio::net::TcpListener;
use tokio::runtime;
use tower_http::services::ServeDir;
use tower_http::set_header::SetResponseHeaderLayer;

/// Serves a folder to browsers on this machine until the process ends.
///
/// # Errors
/// If there is no page in the folder, or the port is not free.
pub(crate) fn serve(folder: &Path, port: u16) -> Result<()> {
    ensure!(
        folder.join("index.html").is_file(),
        "{}: there is no page in this folder: `cargo web build` makes one",
        folder.display()
    );
    let files = ServeDir::new(folder)
        .precompressed_br()
        .precompressed_gzip();
    // A page that was built again is loaded again.
    let fresh = SetResponseHeaderLayer::overriding(
        HeaderName::from_static("cache-control"),
        HeaderValue::from_static("no-cache"),
    );
    let router = Router::new().fallback_service(files).layer(fresh);
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await;
        let listener = listener.with_context(|| format!("127.0.0.1:{port}"))?;
        let address = listener.local_addr()?;
        println!("http://{address}/ plays Cubewire. Ctrl-C ends it.");
        Ok(axum::serve(listener, router).await?)
    })
}
