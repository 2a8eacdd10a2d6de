use abide_protocol::{
    Error, ErrorKind,
    method::{Access, Request},
};

/// Who sends the requests of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    pub via: Via,
    /// What the client calls itself. It may be empty, and anything.
    pub name: String,
    /// Methods that need more are refused.
    pub may: Access,
}

/// The face a caller comes by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Via {
    /// The local socket: the same user.
    Socket,
}

impl Caller {
    /// Refuses a request whose method needs more than this caller may.
    ///
    /// # Errors
    /// [`ErrorKind::Forbidden`]
    pub fn allowed(&self, request: &Request) -> Result<(), Error> {
        if request.access() <= self.may {
            return Ok(());
        }
        let words = format!("{} is not open to this caller", request.name());
        Err(Error::new(ErrorKind::Forbidden, words))
    }
}

#[cfg(test)]
mod tests {
    use super::{Caller, Via};
    use abide_protocol::{
        ErrorKind,
        method::{
            Access, Request,
            daemon::{ShutdownParams, StatusParams},
            task::TaskParams,
        },
    };

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
