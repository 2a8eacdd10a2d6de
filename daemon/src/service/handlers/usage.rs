use super::RequestError;
use crate::service::Service;
use abide_protocol::{
    Error, ErrorKind,
    method::usage::{UsageParams, UsageReply},
};
use abide_store::UsageQuery;

pub(super) async fn usage(service: &Service, params: UsageParams) -> Result<UsageReply, RequestError> {
    let UsageParams { since, since_day } = params;
    if let Some(day) = since_day.as_deref().filter(|day| !is_day(day)) {
        let words = format!("{day:?} is not a day; write it as 2026-11-27");
        return Err(Error::new(ErrorKind::InvalidParams, words).into());
    }
    Ok(service.store.usage(UsageQuery { since, since_day }).await?)
}

/// Days are compared as texts, so all digits have to be there.
fn is_day(text: &str) -> bool {
    let mut parts = text.split('-').map(|part| (part.len(), part.parse::<u32>().ok()));
    let mut part = |digits| parts.next().filter(|(length, _)| *length == digits).and_then(|(_, n)| n);
    let (year, month, day) = (part(4), part(2), part(2));
    let in_range = |number: Option<u32>, most| number.is_some_and(|n| (1..=most).contains(&n));
    year.is_some() && in_range(month, 12) && in_range(day, 31) && parts.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::is_day;

    #[test]
    fn a_day_has_all_its_digits() {
        assert!(is_day("2026-11-27"));
        for wrong in
            ["", "2026-11", "2026-11-27-1", "26-11-27", "2026-1-27", "2026-13-01", "2026-11-00", "yesterday"]
        {
            assert!(!is_day(wrong), "{wrong}");
        }
    }
}
