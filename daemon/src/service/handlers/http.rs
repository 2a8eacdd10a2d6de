use super::RequestError;
use crate::service::Service;
use abide_protocol::method::http::{
    AddTokenParams, AddTokenReply, ListTokensReply, RevokeTokenParams, RevokeTokenReply, StopHttpReply,
};

pub(super) fn stop(service: &Service) -> StopHttpReply {
    StopHttpReply { urls: service.http.close() }
}

pub(super) fn add_token(service: &Service, params: AddTokenParams) -> Result<AddTokenReply, RequestError> {
    Ok(service.http.add_token(params.name, params.access)?)
}

pub(super) fn list_tokens(service: &Service) -> Result<ListTokensReply, RequestError> {
    Ok(ListTokensReply { tokens: service.http.tokens()? })
}

pub(super) fn revoke_token(
    service: &Service,
    params: &RevokeTokenParams,
) -> Result<RevokeTokenReply, RequestError> {
    Ok(RevokeTokenReply { info: service.http.revoke_token(&params.name)? })
}
