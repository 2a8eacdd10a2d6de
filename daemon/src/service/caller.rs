use abide_protocol::{
    Error, ErrorKind,
    limits::MAX_CLIENT_NAME,
    method::{Access, Request},
    record::{By, Via},
    task::Approvals,
};

/// The sender of a line's requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    pub via: Via,
    /// The client's own name for itself; may be empty or anything.
    pub name: String,
    /// Methods that need more access are refused.
    pub may: Access,
}

impl Caller {
    /// The caller as records name it; the name is cut at a whole character.
    #[must_use]
    pub fn by(&self) -> By {
        let name = &self.name[..self.name.floor_char_boundary(MAX_CLIENT_NAME)];
        By { via: self.via, name: name.to_owned() }
    }

    /// Refuses a request whose method needs more access than the caller has.
    ///
    /// # Errors
    /// [`ErrorKind::Forbidden`]
    pub fn allowed(&self, request: &Request) -> Result<(), Error> {
        if request.access() <= self.may {
            return self.allowed_from_afar(request);
        }
        let words = format!("{} is not open to this caller", request.name());
        Err(Error::new(ErrorKind::Forbidden, words))
    }

    /// What a task may do unasked, and what its tools are given, is said only on this machine.
    fn allowed_from_afar(&self, request: &Request) -> Result<(), Error> {
        let Request::StartTask(params) = request else { return Ok(()) };
        if self.via != Via::Http || params.approvals == Approvals::Ask && params.environment.is_empty() {
            return Ok(());
        }
        let words = "approvals in advance and an environment are not taken by HTTP";
        Err(Error::new(ErrorKind::Forbidden, words))
    }
}

#[cfg(test)]
mod tests {
    use super::Caller;
    use abide_protocol::{
        ErrorKind,
        method::{
            Access, Request,
            daemon::{ShutdownParams, StatusParams},
            task::TaskParams,
        },
        record::{By, Via},
    };

    #[test]
    fn a_long_client_name_is_cut_at_a_whole_character() {
        let by = |name: String| Caller { via: Via::Socket, name, may: Access::Read }.by();
        assert_eq!(by("abide".to_owned()), By { via: Via::Socket, name: "abide".to_owned() });
        assert_eq!(by("ä".repeat(40)).name, "ä".repeat(32));
        assert_eq!(by(format!("x{}", "ä".repeat(40))).name, format!("x{}", "ä".repeat(31)));
    }

    #[test]
    fn a_caller_may_use_methods_up_to_its_access() {
        let requests = [
            Request::Status(StatusParams::default()),
            Request::StopTask(TaskParams { task_id: "1".to_owned() }),
            Request::Shutdown(ShutdownParams::default()),
        ];
        let refused = |may: Access| {
            let caller = Caller { via: Via::Socket, name: String::new(), may };
            let errors = requests.iter().filter_map(|request| caller.allowed(request).err());
            errors.map(|error| (error.kind(), error.message)).collect::<Vec<_>>()
        };
        let refusal = |name: &str| (ErrorKind::Forbidden, format!("{name} is not open to this caller"));
        assert_eq!(refused(Access::Administer), []);
        assert_eq!(refused(Access::Act), [refusal("shutdown")]);
        assert_eq!(refused(Access::Read), [refusal("stopTask"), refusal("shutdown")]);
    }
}
