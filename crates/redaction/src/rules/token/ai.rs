//! Models and what serves them.

use super::TokenRule;

const fn token(kind: &'static str, start: &'static str, body: &'static str) -> TokenRule {
    TokenRule::new(kind, start, body)
}

pub(super) static TOKENS: [TokenRule; 26] = [
    token("anthropic-key", "sk-ant-", "[A-Za-z0-9_-]{24,}"),
    token("openai-key", "sk-proj-", "[A-Za-z0-9_-]{24,}"),
    token("openai-key", "sk-svcacct-", "[A-Za-z0-9_-]{24,}"),
    token("openai-key", "sk-admin-", "[A-Za-z0-9_-]{24,}"),
    token("openrouter-key", "sk-or-", "[A-Za-z0-9_-]{24,}"),
    token("model-api-key", "sk-", "(?:[a-z0-9]{2,8}-){0,3}[A-Za-z0-9_]{18,}[A-Za-z0-9_-]*")
        .with_digit()
        .entropy(3.0),
    token("huggingface-token", "hf_", "[A-Za-z0-9]{30,}"),
    token("huggingface-token", "api_org_", "[A-Za-z0-9]{30,}"),
    token("perplexity-key", "pplx-", "[A-Za-z0-9]{40,}"),
    token("groq-key", "gsk_", "[A-Za-z0-9]{40,}"),
    token("replicate-token", "r8_", "[A-Za-z0-9]{30,}"),
    token("xai-key", "xai-", "[A-Za-z0-9]{60,}"),
    token("fireworks-key", "fw_", "[A-Za-z0-9]{20,}").with_digit(),
    token("together-key", "tgp_v1_", "[A-Za-z0-9_-]{30,}"),
    token("nvidia-key", "nvapi-", "[A-Za-z0-9_-]{40,}"),
    token("langsmith-key", "lsv2_", "(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}"),
    token("pinecone-key", "pcsk_", "[A-Za-z0-9_]{40,}"),
    token("elevenlabs-key", "sk_", "[a-f0-9]{48}"),
    token("freemius-key", "sk_", "[A-Za-z0-9.~_%*+-]{29}").with_digit().entropy(3.5),
    token("voyage-key", "pa-", "[A-Za-z0-9_-]{40,}").with_digit().entropy(3.5),
    token("cerebras-key", "csk-", "[a-z0-9]{40,}"),
    token("jina-key", "jina_", "[A-Za-z0-9_-]{40,}"),
    token("tavily-key", "tvly-", "[A-Za-z0-9-]{28,}"),
    token("e2b-key", "e2b_", "[a-f0-9]{40}"),
    token("llama-cloud-key", "llx-", "[A-Za-z0-9]{40,}"),
    token("palyra-token", "palyra_", "[a-f0-9]{64}"),
];
