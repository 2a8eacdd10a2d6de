/// A new `clientMessageId`: a request that is sent again with it starts nothing twice.
#[expect(clippy::disallowed_methods, reason = "the one source of a client's ids")]
#[must_use]
pub fn request_id() -> String {
    uuid::Uuid::now_v7().to_string()
}
