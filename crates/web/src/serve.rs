//! A small web server for testing the page. Any static file server works as well.

use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use percent_encoding::percent_decode_str;
use tokio::net::TcpListener;
use tokio::runtime;
use tower_http::services::ServeDir;
use tower_http::set_header::SetResponseHeaderLayer;

/// Serves a folder to browsers on this machine until the process ends.
///
/// # Errors
/// If the folder has no page, or the port is in use.
pub(crate) fn serve(folder: &Path, port: u16) -> Result<()> {
    ensure!(
        folder.join("index.html").is_file(),
        "{}: no page in this folder: build it with `cargo web build`",
        folder.display()
    );
    let router = router(folder)?;
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await;
        let listener = listener.with_context(|| format!("127.0.0.1:{port}"))?;
        let address = listener.local_addr()?;
        println!("http://{address}/ plays Cubewire. Press Ctrl-C to stop.");
        Ok(axum::serve(listener, router).await?)
    })
}

fn router(folder: &Path) -> Result<Router> {
    let files = ServeDir::new(folder).precompressed_br().precompressed_gzip();
    // Browsers must load a rebuilt page again.
    let fresh = SetResponseHeaderLayer::overriding(
        HeaderName::from_static("cache-control"),
        HeaderValue::from_static("no-cache"),
    );
    let folder: Arc<Path> = folder.canonicalize()?.into();
    let only_page = middleware::from_fn_with_state(folder, only_page);
    let router = Router::new().fallback_service(files);
    Ok(router.layer(only_page).layer(fresh))
}

/// Answers 404 for paths outside the page and for unreadable files.
async fn only_page(State(folder): State<Arc<Path>>, request: Request, next: Next) -> Response {
    if is_of_page(&folder, request.uri().path()) {
        let response = next.run(request).await;
        if !response.status().is_server_error() {
            return response;
        }
    }
    StatusCode::NOT_FOUND.into_response()
}

/// Whether no part of a path is hidden, and no link leads out of `folder`, which is a canonical path.
fn is_of_page(folder: &Path, path: &str) -> bool {
    let Ok(path) = percent_decode_str(path).decode_utf8() else {
        return false;
    };
    if path.split('/').any(|part| part.starts_with('.')) {
        return false;
    }
    let mut name = path.trim_matches('/').to_owned();
    if folder.join(&name).is_dir() {
        name.push_str("/index.html");
    }
    let name = name.trim_start_matches('/');
    // Check the file and its compressed versions.
    ["", ".br", ".gz"].iter().all(|end| {
        let file = folder.join(format!("{name}{end}")).canonicalize();
        file.map_or(true, |file| file.starts_with(folder))
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use axum::body::Body;
    use tower::ServiceExt;

    use super::*;

    /// Returns the status code for a request.
    fn get(folder: &Path, path: &str) -> u16 {
        let request = Request::get(path).body(Body::empty()).unwrap();
        let runtime = runtime::Builder::new_current_thread().build().unwrap();
        let router = router(folder).unwrap();
        let response = runtime.block_on(router.oneshot(request)).unwrap();
        assert_eq!(response.headers()["cache-control"], "no-cache");
        response.status().as_u16()
    }

    #[test]
    fn only_the_page_is_served() {
        let parent = tempfile::tempdir().unwrap();
        let folder = parent.path().join("page");
        fs::create_dir_all(folder.join("part/.git")).unwrap();
        fs::create_dir_all(folder.join("linked")).unwrap();
        for file in ["index.html", "a b.js", ".env", "part/index.html", "part/.git/HEAD"] {
            fs::write(folder.join(file), "here").unwrap();
        }
        fs::write(parent.path().join("secret"), "there").unwrap();
        for (link, to) in
            [("out.js", "../secret"), ("a b.js.br", "../secret"), ("up", ".."), ("in.js", "a b.js")]
        {
            std::os::unix::fs::symlink(to, folder.join(link)).unwrap();
        }
        std::os::unix::fs::symlink("../../secret", folder.join("linked/index.html")).unwrap();
        for path in ["/", "/index.html", "/part/", "/in.js"] {
            assert_eq!(get(&folder, path), 200, "{path}");
        }
        let long = format!("/{}", "a".repeat(5_000));
        for path in [
            "/out.js",
            "/a%20b.js",
            "/up/secret",
            "/linked/",
            "/.env",
            "/%2eenv",
            "/part/.git/HEAD",
            "/../secret",
            "/%2e%2e/secret",
            "/..%2fsecret",
            "/index.html/more",
            "/nothing",
            "/%00",
            "/%ff",
            &long,
        ] {
            assert_eq!(get(&folder, path), 404, "{path}");
        }
    }
}
