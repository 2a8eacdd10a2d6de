//! The table of routes.

use super::refusal::Refusal;
use abide_protocol::{ErrorKind, method::Access};

/// What a request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Endpoint {
    Home,
    PageStyle,
    PageScript,
    Health,
    Overview,
    Inbox,
    CreateSession,
    ListSessions,
    GetSession,
    Messages,
    Chat,
    Comment,
    Stream,
    Approve,
    Answer,
    Stop,
    Resume,
    AgentStream,
    AgentTree,
    GetAgent,
    Intervene,
    AnswerAgent,
    Socket,
}

/// A route. What stands in braces in its path is any one segment.
#[derive(Debug)]
pub(super) struct Route {
    method: &'static str,
    path: &'static str,
    /// What a token must allow; `None`: open without a token.
    pub(super) access: Option<Access>,
    pub(super) endpoint: Endpoint,
}

const fn route(
    method: &'static str,
    path: &'static str,
    access: Option<Access>,
    endpoint: Endpoint,
) -> Route {
    Route { method, path, access, endpoint }
}

const READ: Option<Access> = Some(Access::Read);
const ACT: Option<Access> = Some(Access::Act);

const ROUTES: &[Route] = &[
    route("GET", "/", None, Endpoint::Home),
    route("GET", "/page.css", None, Endpoint::PageStyle),
    route("GET", "/page.js", None, Endpoint::PageScript),
    route("GET", "/health", None, Endpoint::Health),
    route("GET", "/api/stream", READ, Endpoint::Overview),
    route("GET", "/api/inbox", READ, Endpoint::Inbox),
    route("POST", "/api/sessions", ACT, Endpoint::CreateSession),
    route("GET", "/api/sessions", READ, Endpoint::ListSessions),
    route("GET", "/api/sessions/{id}", READ, Endpoint::GetSession),
    route("GET", "/api/sessions/{id}/messages", READ, Endpoint::Messages),
    route("POST", "/api/sessions/{id}/chat", ACT, Endpoint::Chat),
    route("POST", "/api/sessions/{id}/comment", ACT, Endpoint::Comment),
    route("GET", "/api/sessions/{id}/stream", READ, Endpoint::Stream),
    route("POST", "/api/sessions/{id}/approvals/{callId}", ACT, Endpoint::Approve),
    route("POST", "/api/sessions/{id}/answers/{questionId}", ACT, Endpoint::Answer),
    route("POST", "/api/sessions/{id}/stop", ACT, Endpoint::Stop),
    route("POST", "/api/sessions/{id}/resume", ACT, Endpoint::Resume),
    // It starts a task.
    route("GET", "/agent/stream", ACT, Endpoint::AgentStream),
    route("POST", "/agent/stream", ACT, Endpoint::AgentStream),
    route("GET", "/agent/tree", READ, Endpoint::AgentTree),
    route("GET", "/agent/{id}", READ, Endpoint::GetAgent),
    route("POST", "/agent/{id}/intervene", ACT, Endpoint::Intervene),
    route("POST", "/agent/{id}/answer", ACT, Endpoint::AnswerAgent),
    // Each method that it is asked for has its own access.
    route("GET", "/ws", READ, Endpoint::Socket),
];

impl Route {
    /// The segments that stand for those in braces, if the path is this route's.
    fn matched<'a>(&self, path: &'a str) -> Option<Vec<&'a str>> {
        let (mut own, mut asked) = (self.path.split('/'), path.split('/'));
        let mut named = Vec::new();
        loop {
            match (own.next(), asked.next()) {
                (None, None) => return Some(named),
                (Some(own), Some(asked)) if own.starts_with('{') && !asked.is_empty() => named.push(asked),
                (Some(own), Some(asked)) if own == asked => {}
                _ => return None,
            }
        }
    }
}

/// The route of a request, and the segments that its path names.
pub(super) fn find<'a>(method: &str, path: &'a str) -> Result<(&'static Route, Vec<&'a str>), Refusal> {
    let of_path = || ROUTES.iter().filter_map(|route| Some((route, route.matched(path)?)));
    if let Some(found) = of_path().find(|(route, _)| route.method == method) {
        return Ok(found);
    }
    let allowed: Vec<_> = of_path().map(|(route, _)| route.method).collect();
    Err(match allowed.is_empty() {
        true => Refusal::new(ErrorKind::NotFound, format!("there is nothing at {path}")),
        false => Refusal::wrong_method(&allowed.join(", ")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_page_and_the_health_are_open_without_a_token() {
        let open: Vec<_> = ROUTES.iter().filter(|route| route.access.is_none()).map(|r| r.path).collect();
        assert_eq!(open, ["/", "/page.css", "/page.js", "/health"]);
        for route in ROUTES {
            assert!(route.access < Some(Access::Administer), "{}", route.path);
            assert!(route.method == "GET" || route.access == ACT, "{} changes something", route.path);
        }
    }

    #[test]
    fn a_path_has_one_route_for_each_method() {
        for route in ROUTES {
            let path = route.path.replace("{id}", "a").replace("{callId}", "b").replace("{questionId}", "b");
            let (found, named) = find(route.method, &path).unwrap();
            assert_eq!((found.endpoint, named.len()), (route.endpoint, route.path.matches('{').count()));
        }
        let status = |method, path| find(method, path).unwrap_err().status.as_u16();
        let table = [
            ("GET", "/nothing", 404),
            ("GET", "", 404),
            ("GET", "//", 404),
            ("GET", "/api/sessions/", 404),
            ("GET", "/api/sessions/a/b", 404),
            ("GET", "/api/sessions//stream", 404),
            ("GET", "/API/sessions", 404),
            ("DELETE", "/api/sessions", 405),
            ("GET", "/api/sessions/a/chat", 405),
            ("POST", "/agent/tree", 405),
            ("GET", "/agent/a/answer", 405),
            ("OPTIONS", "/health", 405),
        ];
        for (method, path, expected) in table {
            assert_eq!(status(method, path), expected, "{method} {path}");
        }
    }
}
