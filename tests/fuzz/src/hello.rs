use crate::{message::first_line, meter::measured};
use abide_protocol::codec::json::{decode_hello, decode_hello_reply, encode_hello, encode_hello_reply};

/// Decodes the first line of a connection as each side does.
pub fn hello(bytes: &[u8]) {
    let bytes = first_line(bytes);
    let (id, hello) = measured(|| decode_hello(bytes));
    if let Ok(params) = &hello {
        let line = encode_hello(params).expect("what was read can be written");
        assert_eq!(decode_hello(&line).1.as_ref(), Ok(params));
    }
    if let Err(error) = hello {
        let line = encode_hello_reply(&id, &Err(error.clone())).expect("every error can be told");
        assert_eq!(line.iter().position(|byte| *byte == b'\n'), Some(line.len() - 1), "one line");
        assert_eq!(decode_hello_reply(&line).expect("it is a reply"), Err(error));
    }
    if let Ok(Ok(reply)) = measured(|| decode_hello_reply(bytes)) {
        let line = encode_hello_reply(&id, &Ok(reply.clone())).expect("what was read can be written");
        assert_eq!(decode_hello_reply(&line).expect("it is a reply"), Ok(reply));
    }
}
