//! The page: the inbox and the conversations in a browser. It is a part of the program, and uses nothing but
//! the routes that any client has.

use super::answer::{Body, response};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::{
    HeaderMap, Response, StatusCode,
    header::{
        ACCEPT, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, REFERRER_POLICY, VARY, X_FRAME_OPTIONS,
    },
};

/// It loads nothing from elsewhere, runs no script but its own, makes no HTML of text, and is in no frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
                      img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
                      require-trusted-types-for 'script'; trusted-types 'none'";

/// One module, from its parts.
const SCRIPT: &str = concat!(
    include_str!("page/text.js"),
    include_str!("page/interface.js"),
    include_str!("page/cards.js"),
    include_str!("page/conversation.js"),
    include_str!("page/page.js"),
);

/// A page of another origin gets no hold of its window.
const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");

/// Whether a browser asks, and no program.
pub(super) fn is_wanted(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(ACCEPT).iter().filter_map(|accepted| accepted.to_str().ok());
    accepted.flat_map(|accepted| accepted.split(',')).any(|kind| kind.trim().starts_with("text/html"))
}

pub(super) fn page() -> Response<Body> {
    file("text/html; charset=utf-8", include_str!("page/page.html"))
}

pub(super) fn style() -> Response<Body> {
    file("text/css; charset=utf-8", include_str!("page/page.css"))
}

pub(super) fn script() -> Response<Body> {
    file("text/javascript; charset=utf-8", SCRIPT)
}

fn file(content_type: &'static str, text: &'static str) -> Response<Body> {
    let mut file = response(StatusCode::OK, content_type, Full::new(Bytes::from(text)).boxed_unsync());
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, POLICY),
        (REFERRER_POLICY, "no-referrer"),
        (X_FRAME_OPTIONS, "DENY"),
        (OPENER_POLICY, "same-origin"),
        (VARY, "accept"),
    ] {
        file.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    file
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_gets_the_page_and_a_program_does_not() {
        let table = [
            ("text/html,application/xhtml+xml,*/*;q=0.8", true),
            ("application/xhtml+xml, text/html;q=0.9", true),
            ("*/*", false),
            ("application/json", false),
            ("", false),
        ];
        for (accepted, expected) in table {
            let headers = HeaderMap::from_iter([(ACCEPT, HeaderValue::from_static(accepted))]);
            assert_eq!(is_wanted(&headers), expected, "{accepted}");
        }
        assert!(!is_wanted(&HeaderMap::new()));
    }

    #[test]
    fn it_is_small_and_makes_no_html_of_text() {
        let files = [include_str!("page/page.html"), include_str!("page/page.css"), SCRIPT];
        assert!(files.iter().map(|file| file.len()).sum::<usize>() <= 40_000);
        let [html, _, js] = files;
        for way in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function("] {
            assert!(!js.contains(way), "{way}");
        }
        // The policy allows neither: they would have no effect.
        for way in ["<style", "style=", " onclick", "javascript:", "http://", "https://"] {
            assert!(!html.contains(way), "{way}");
        }
    }
}
