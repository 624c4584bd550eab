//! A small server for trying the page. Any other that serves static files does as well.

use std::net::Ipv4Addr;
use std::path::Path;

use axum::Router;
use axum::http::{HeaderName, HeaderValue};
use tokio::net::TcpListener;
use tokio::runtime;
use tower_http::services::ServeDir;
use tower_http::set_header::SetResponseHeaderLayer;

use crate::error::WebError;

/// Serves a folder to browsers on this machine until the process ends.
///
/// # Errors
/// If there is no page in the folder, or the port is not free.
pub(crate) fn serve(folder: &Path, port: u16) -> Result<(), WebError> {
    if !folder.join("index.html").is_file() {
        return Err(WebError::NoPage(folder.to_owned()));
    }
    let failed = |source| WebError::Port { port, source };
    let files = ServeDir::new(folder)
        .precompressed_br()
        .precompressed_gzip();
    // A page that was built again is loaded again.
    let fresh = SetResponseHeaderLayer::overriding(
        HeaderName::from_static("cache-control"),
        HeaderValue::from_static("no-cache"),
    );
    let router = Router::new().fallback_service(files).layer(fresh);
    let runtime = runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(failed)?.block_on(async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port));
        let listener = listener.await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        println!("http://{address}/ plays Cubewire. Ctrl-C ends it.");
        axum::serve(listener, router).await.map_err(failed)
    })
}
