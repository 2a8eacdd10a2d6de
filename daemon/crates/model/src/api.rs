//! The APIs that model servers speak. Each is implemented by a module, which [`wire`](crate::wire) names.

use abide_protocol::provider;
use std::str::FromStr;

/// The API that a provider speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// OpenAI Chat Completions, and the many servers that imitate it.
    OpenaiChat,
    OpenaiResponses,
    /// Anthropic Messages.
    Anthropic,
    /// A file of replies, for demo, tests and replay.
    Scripted,
}

/// Where the providers of an API are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerLocation {
    /// At an address, over HTTP.
    Address {
        /// The vendor's own address.
        vendor_url: &'static str,
        /// Other servers speak it too: a provider that is not named after a vendor must give its address.
        is_imitated: bool,
        /// Describes the right `base_url`, for a person who has set another.
        base_url: &'static str,
    },
    /// In a file on this machine, without address and key.
    File,
}

impl Api {
    const ALL: [Self; 4] = [Self::OpenaiChat, Self::OpenaiResponses, Self::Anthropic, Self::Scripted];

    /// Its name in configuration, replies and lists.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenaiChat => "openai-chat",
            Self::OpenaiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Scripted => "scripted",
        }
    }

    /// Whether its providers are at an address or in a file.
    #[must_use]
    pub const fn location(self) -> ServerLocation {
        match self {
            Self::OpenaiChat => ServerLocation::Address {
                vendor_url: provider::OPENAI.base_url,
                is_imitated: true,
                base_url: "It is what comes before /chat/completions, and mostly ends in /v1",
            },
            Self::OpenaiResponses => ServerLocation::Address {
                vendor_url: provider::OPENAI.base_url,
                is_imitated: true,
                base_url: "It is what comes before /responses, and mostly ends in /v1",
            },
            Self::Anthropic => ServerLocation::Address {
                vendor_url: provider::ANTHROPIC.base_url,
                is_imitated: false,
                base_url: "It is what comes before /v1/messages",
            },
            Self::Scripted => ServerLocation::File,
        }
    }
}

/// A name in the configuration that is no API.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no api {name:?}; it is one of `{}`", Api::ALL.map(Api::name).join("`, `"))]
pub struct UnknownApi {
    pub name: String,
}

impl FromStr for Api {
    type Err = UnknownApi;

    fn from_str(name: &str) -> Result<Self, UnknownApi> {
        let named = Self::ALL.into_iter().find(|api| api.name() == name);
        named.ok_or_else(|| UnknownApi { name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::Api;

    #[test]
    fn each_is_found_by_its_name() {
        for api in Api::ALL {
            assert_eq!(api.name().parse(), Ok(api));
        }
        let unknown = "echo".parse::<Api>().unwrap_err().to_string();
        assert!(unknown.ends_with("`openai-chat`, `openai-responses`, `anthropic`, `scripted`"), "{unknown}");
    }
}
