//! Binary frames with wrong lengths, cut frames, and frames with bytes left over.

use crate::samples::{self, ID, Sample};
use abide_protocol::{
    ErrorKind,
    codec::{Codec, DecodeError, EncodeError, Outgoing, Received, RequestId},
    hello::MAX_FRAME,
    method::{Request, task::StartTaskParams},
};

fn envelope(id: u64, kind: u32, flags: u32, body: &[u8]) -> Vec<u8> {
    let length = u64::try_from(body.len()).unwrap();
    [&id.to_le_bytes()[..], &kind.to_le_bytes(), &flags.to_le_bytes(), &length.to_le_bytes(), body].concat()
}

fn refused(frame: &[u8]) -> (Option<RequestId>, ErrorKind) {
    let incoming = Codec::Binary.decode_incoming(frame);
    (incoming.id, incoming.request.expect_err("a refusal").kind())
}

const STOP_TASK: u32 = 2;

#[test]
fn the_envelope_is_what_it_says() {
    let body = [&3u64.to_le_bytes()[..], b"abc"].concat();
    let incoming = Codec::Binary.decode_incoming(&envelope(ID, STOP_TASK, 0, &body));
    assert_eq!(incoming.id, Some(RequestId::Number(ID)));
    let Ok(Request::StopTask(params)) = incoming.request else { panic!("{incoming:?}") };
    assert_eq!(params.task_id, "abc");
}

#[test]
fn a_cut_frame_is_refused_wherever_it_is_cut() {
    for sample in samples::all() {
        match sample {
            Sample::Request(name, request) => {
                let frame = Codec::Binary.encode_request(ID, &request).unwrap();
                for end in 0..frame.len() {
                    assert_eq!(refused(&frame[..end]), (None, ErrorKind::Parse), "{name} cut at {end}");
                }
            }
            Sample::Outgoing(name, outgoing) => {
                let frame = Codec::Binary.encode_outgoing(&outgoing).unwrap();
                for end in 0..frame.len() {
                    let cut = Codec::Binary.decode_received(&frame[..end]);
                    assert!(matches!(cut, Err(DecodeError::Binary(_))), "{name} cut at {end}: {cut:?}");
                }
            }
        }
    }
}

#[test]
fn a_cut_body_is_refused_wherever_it_is_cut() {
    for sample in samples::all() {
        let Sample::Request(name, request) = sample else { continue };
        let frame = Codec::Binary.encode_request(ID, &request).unwrap();
        let body = &frame[24..];
        for end in 0..body.len() {
            let frame = envelope(ID, request.kind(), 0, &body[..end]);
            let expected = (Some(RequestId::Number(ID)), ErrorKind::InvalidParams);
            assert_eq!(refused(&frame), expected, "{name} cut at {end}");
        }
    }
}

#[test]
fn left_over_bytes_are_refused_after_the_envelope_and_after_the_body() {
    let body = [&1u64.to_le_bytes()[..], b"a"].concat();
    let frame = envelope(ID, STOP_TASK, 0, &body);
    assert_eq!(refused(&[&frame[..], &[0]].concat()), (None, ErrorKind::Parse));
    let longer = envelope(ID, STOP_TASK, 0, &[&body[..], &[0]].concat());
    assert_eq!(refused(&longer), (Some(RequestId::Number(ID)), ErrorKind::InvalidParams));
}

/// Without a limit the first of these would end the process.
#[test]
fn a_false_length_is_refused_without_allocating() {
    for length in [u64::MAX, 1 << 63, (1 << 63) - 1, 1 << 40, 1 << 32, MAX_FRAME as u64, 2] {
        let body = [&length.to_le_bytes()[..], b"a"].concat();
        let frame = envelope(ID, STOP_TASK, 0, &body);
        assert_eq!(refused(&frame), (Some(RequestId::Number(ID)), ErrorKind::InvalidParams), "{length}");
        let mut frame = envelope(ID, STOP_TASK, 0, b"a");
        frame[16..24].copy_from_slice(&length.to_le_bytes());
        assert_eq!(refused(&frame), (None, ErrorKind::Parse), "{length}");
        // The same for a list: before `tools` come no id, an empty message and four absent options.
        let body = [&[0][..], &0u64.to_le_bytes(), &[0; 4], &[1], &length.to_le_bytes(), b"a"].concat();
        let frame = envelope(ID, 1, 0, &body);
        assert_eq!(refused(&frame), (Some(RequestId::Number(ID)), ErrorKind::InvalidParams), "{length}");
    }
}

#[test]
fn values_that_do_not_exist_are_refused() {
    let expected = || (Some(RequestId::Number(ID)), ErrorKind::InvalidParams);
    let no_bool = envelope(ID, 80, 0, &[2]);
    assert_eq!(refused(&no_bool), expected());
    let no_option = envelope(ID, 82, 0, &[2]);
    assert_eq!(refused(&no_option), expected());
    let no_variant = envelope(ID, 60, 0, &[9, 0, 0, 0, 0]);
    assert_eq!(refused(&no_variant), expected());
    let not_utf8 = envelope(ID, STOP_TASK, 0, &[&1u64.to_le_bytes()[..], &[0xff]].concat());
    assert_eq!(refused(&not_utf8), expected());
    // `metadata` that is not JSON.
    let request = Request::StartTask(StartTaskParams {
        metadata: Some(samples::json(r#""xyz""#)),
        ..StartTaskParams::default()
    });
    let mut frame = Codec::Binary.encode_request(ID, &request).unwrap();
    let at = frame.windows(5).position(|w| w == br#""xyz""#).unwrap();
    frame[at] = b'x';
    assert_eq!(refused(&frame), expected());
}

#[test]
fn an_unknown_kind_is_an_error_for_a_request_and_skipped_in_a_notification() {
    assert_eq!(
        refused(&envelope(ID, 999, 0, b"?")),
        (Some(RequestId::Number(ID)), ErrorKind::MethodNotFound)
    );
    assert_eq!(Codec::Binary.decode_received(&envelope(0, 1999, 0, b"?")).unwrap(), Received::Unknown);
}

#[test]
fn a_message_may_be_as_long_as_the_limit_and_no_longer() {
    let request = |bytes| {
        Request::StartTask(StartTaskParams { message: "x".repeat(bytes), ..StartTaskParams::default() })
    };
    for codec in [Codec::Json, Codec::Binary] {
        let overhead = codec.encode_request(ID, &request(0)).unwrap().len();
        let fits = request(MAX_FRAME - overhead);
        let bytes = codec.encode_request(ID, &fits).unwrap();
        assert_eq!(bytes.len(), MAX_FRAME);
        assert!(codec.decode_incoming(&bytes).request == Ok(fits), "{codec:?}");
        let too_long = codec.encode_request(ID, &request(MAX_FRAME - overhead + 1));
        assert!(matches!(too_long, Err(EncodeError::TooLarge(_))), "{codec:?}");
    }
}

#[test]
fn a_binary_reply_to_an_id_that_is_no_number_has_id_0() {
    let outgoing = Outgoing::Reply {
        id: RequestId::Other("\"a\"".to_owned()),
        reply: Err(abide_protocol::Error::new(ErrorKind::Internal, "x")),
        warnings: Vec::new(),
    };
    let bytes = Codec::Binary.encode_outgoing(&outgoing).unwrap();
    assert!(matches!(Codec::Binary.decode_received(&bytes).unwrap(), Received::Reply { id: 0, .. }));
}
