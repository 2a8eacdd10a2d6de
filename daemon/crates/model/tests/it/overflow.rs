//! A conversation that is longer than the model's context, in the words of many servers.

use crate::{
    ask::{ask_once, stream},
    errors::{WIRES, error_event, refusal},
};
use abide_protocol::record::ModelErrorKind as Kind;

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "a table")]
async fn an_overflow_is_known_by_its_words_whatever_the_status() {
    for (server, words) in [
        (
            "OpenAI",
            "Your input exceeds the context window of this model. Please adjust your input and try again.",
        ),
        (
            "OpenAI",
            "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens.",
        ),
        (
            "OpenAI",
            "This model's maximum context length is 16384 tokens. However, you requested 122946 tokens (112946 in the messages, 10000 in the completion).",
        ),
        ("Anthropic", "prompt is too long: 210000 tokens > 200000 maximum"),
        (
            "Anthropic",
            "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again",
        ),
        (
            "vLLM",
            "This model's maximum context length is 262144 tokens. However, you requested 0 output tokens and your prompt contains at least 262145 input tokens",
        ),
        (
            "vLLM",
            "You passed 5000 input tokens and requested 1000 output tokens. However, the model's context length is only 4096 tokens",
        ),
        (
            "vLLM",
            "The prompt (total length 25938) is too long to fit into the model (context length 4096). Make sure that `max_model_len` is no smaller",
        ),
        ("vLLM", "The decoder prompt (length 5000) is longer than the maximum model length of 4096."),
        ("vLLM", "max_tokens must be at least 1, got -904."),
        (
            "vLLM",
            "'max_tokens' or 'max_completion_tokens' is too large: 2000. This model's maximum context length is 32768 tokens and your request has 31000 input tokens (2000 > 32768 - 31000).",
        ),
        (
            "LM Studio",
            "Trying to keep the first 15857 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.",
        ),
        (
            "LM Studio",
            "The number of tokens to keep from the initial prompt is greater than the context length.",
        ),
        ("LM Studio", "Cannot truncate prompt with n_keep (5000) >= n_ctx (4096)"),
        ("Ollama", "prompt too long; exceeded max context length by 123 tokens"),
        ("Ollama", "the input length exceeds the context length"),
        ("SGLang", "The input (5000 tokens) is longer than the model's context length (4096 tokens)."),
        (
            "SGLang",
            "Requested token count exceeds the model's maximum context length of 262144 tokens. You requested a total of 270128 tokens: 261936 tokens from the input messages and 8192 tokens for the completion.",
        ),
        (
            "TGI",
            "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 100 `max_new_tokens`",
        ),
        ("TGI", "Input validation error: `inputs` must have less than 1024 tokens. Given: 5000"),
        (
            "llama.cpp",
            "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it",
        ),
        ("llama.cpp", "Context size has been exceeded."),
        ("llama-cpp-python", "Requested tokens (5000) exceed context window of 4096"),
        ("xAI", "This model's maximum prompt length is 131072 but the request contains 200000 tokens."),
        ("GitHub Copilot", "prompt token count of 139639 exceeds the limit of 128000"),
        (
            "Mistral",
            "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
        ),
        ("Groq", "Please reduce the length of the messages or completion."),
        (
            "Together",
            "This model's maximum context length is 8193 tokens. However, your input is 9000 tokens",
        ),
        ("Fireworks", "The prompt is too long: 140000, model maximum context length: 131071"),
        ("Bedrock", "Input is too long for requested model."),
        ("Bedrock", "Too many input tokens. Max input tokens: 8192, request input token count: 9000"),
        ("Gemini", "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."),
        (
            "Cohere",
            "too many tokens: size limit exceeded by 19296 tokens. Try using shorter or fewer inputs.",
        ),
        (
            "DeepSeek",
            "This model's maximum context length is 65536 tokens. However, you requested 70000 tokens (66000 in the messages, 4000 in the completion).",
        ),
        (
            "DashScope",
            "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]",
        ),
        (
            "OpenRouter",
            "This endpoint's maximum context length is 131072 tokens. However, you requested about 140000 tokens (135000 of text input, 5000 in the output).",
        ),
        ("Moonshot", "Invalid request: Your request exceeded model token limit: 8192"),
        ("Zhipu", "Prompt exceeds max length"),
        ("MiniMax", "invalid params, context window exceeds limit (2013)"),
        ("TabbyAPI", "Prompt length 5000 is greater than max_seq_len 4096"),
        ("TensorRT", "Prompt length (5000) exceeds maximum input length (4096)"),
        ("LiteLLM", "litellm.ContextWindowExceededError: litellm.BadRequestError: OpenAIException"),
    ] {
        let error = format!(r#"{{"message":"{words}"}}"#);
        for api in WIRES {
            for status in [400, 413, 422, 500] {
                let whole =
                    ask_once(api, refusal(status, &[], &format!(r#"{{"error":{error}}}"#))).await.error();
                assert_eq!(whole.kind, Kind::ContextOverflow, "{server} {status}: {whole}");
            }
            let event = ask_once(api, stream(&[&error_event(api, &error)])).await.error();
            assert_eq!(event.kind, Kind::ContextOverflow, "{server}, in a stream: {event}");
        }
    }
}

/// A shorter conversation would not help.
#[tokio::test]
async fn a_reply_length_that_is_too_large_is_no_overflow() {
    for (status, words, kind) in [
        (
            400,
            "max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000.",
            Kind::BadRequest,
        ),
        (
            400,
            "max_tokens: 100000 > 8192, which is the maximum allowed number of output tokens for claude-x",
            Kind::BadRequest,
        ),
        (
            400,
            "`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the `context_window` for this model",
            Kind::BadRequest,
        ),
        (
            400,
            "'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is 32768 tokens and your request has 5000 input tokens (32000 > 32768 - 5000).",
            Kind::BadRequest,
        ),
        (
            400,
            "This model's maximum context length is 4096 tokens. However, you requested 40050 tokens (50 in the messages, 40000 in the completion).",
            Kind::BadRequest,
        ),
        (400, "max_tokens (200000) exceeds the model's maximum context length", Kind::BadRequest),
        (400, "Range of max_tokens should be [1, 8192]", Kind::BadRequest),
        (400, "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", Kind::BadRequest),
        (
            429,
            "Rate limit reached on input tokens per minute; your prompt is too long for now",
            Kind::RateLimited,
        ),
        (401, "no access to a model with a larger context window", Kind::Auth),
    ] {
        for api in WIRES {
            let body = format!(r#"{{"error":{{"message":"{words}"}}}}"#);
            let error = ask_once(api, refusal(status, &[], &body)).await.error();
            assert_eq!(error.kind, kind, "{error}");
        }
    }
}
