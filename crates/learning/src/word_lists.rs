//! The words that the rules know. English only: what is said in another language is found by a model, if one is asked.

/// Marks of a text that speaks for another person than its author.
pub(crate) const FICTION: &[&str] = &[
    "pretend",
    "imagine",
    "role play",
    "role-play",
    "roleplay",
    "persona",
    "continue the story",
    "write as me",
    "write a story",
    "a poem",
    "haiku",
    "lyrics",
    "example sentence",
    "for example",
    "e.g.",
    "correct this sentence",
    "rhyme with",
    "test fixture",
    "translate this",
    "in the style of",
];

/// Marks of a sentence that reports what another text or person says.
pub(crate) const REPORTS: &[&str] = &[
    " wrote",
    " writes",
    " said",
    " says",
    "according to",
    " asks me",
    " asked me",
    "the page ",
    "the mail ",
    "the website",
    " filled in",
    " reads ",
    "who says",
    "who said",
    " claims",
];

/// Words behind which a colon is followed by the author's own words.
pub(crate) const MATERIAL_COLON_KEEPS: &[&str] = &[
    "remember",
    "notes",
    "record",
    "fyi",
    "note",
    "please",
    "mind",
    "rule",
    "preference",
    "now on",
    "ps",
    "future",
];

/// Words that say that a statement is to be kept.
pub(crate) const KEEP_MARKS: &[&str] = &[
    "remember that",
    "remember:",
    "please remember",
    "keep in mind",
    "keep that in mind",
    "for your notes",
    "for the record",
    "note that",
    "fyi",
    "for future reference",
    "make a note",
];

/// Words that say that an instruction lasts.
pub(crate) const LASTING_MARKS: &[&str] = &[
    "from now on",
    "from here on",
    "going forward",
    "in future",
    "in the future",
    "by default",
    "as a rule",
    "every time",
    "each time",
    "any more",
    "anymore",
    "always",
    "never",
    "don't ever",
    "do not ever",
];

/// Words that make a statement uncertain, past or one of many possible ones.
pub(crate) const HEDGES: &[&str] = &[
    "i think",
    "maybe",
    "might",
    "perhaps",
    "probably",
    "possibly",
    "i guess",
    "used to",
    "i wonder",
    "suppose",
    "i'm not sure",
    "what if",
    "would have",
];

/// Words that tie a statement to this moment or to this piece of work.
pub(crate) const PASSING: &[&str] = &[
    "today",
    "tonight",
    "tomorrow",
    "this time",
    "for now",
    "right now",
    "this week",
    "this month",
    "at the moment",
    "this conversation",
    "this chat",
    "this session",
    "this thread",
    "in this ",
    "this file",
    "this contract",
    "this document",
    "this one",
    "this text",
    "just once",
    "this once",
    "does not matter",
    "doesn't matter",
    "next week",
    "next year",
];

/// Words that point at something said before.
pub(crate) const POINTERS: &[&str] = &[
    "the first",
    "the second",
    "the third",
    "the last",
    "the other",
    "the former",
    "the latter",
    "that one",
    "the same",
    "like that",
    "like this",
    "it when",
    "the one ",
];

/// Words that begin no instruction.
pub(crate) const NOT_A_VERB: &[&str] = &[
    "i", "i'm", "i'd", "i've", "we", "you", "he", "she", "it", "they", "there", "this", "that", "these",
    "those", "the", "a", "an", "my", "our", "your", "his", "her", "their", "its", "is", "are", "was", "were",
    "am", "do", "does", "did", "can", "could", "should", "would", "will", "shall", "may", "must", "have",
    "has", "had", "if", "what", "how", "why", "which", "who", "whose", "where", "because", "and", "but",
    "or", "so", "in", "on", "at", "of", "for", "to", "with", "from", "by", "as", "no", "not", "some", "any",
    "all", "one", "agents",
];

/// Words that carry no meaning of their own.
pub(crate) const EMPTY_WORDS: &[&str] = &[
    "do", "it", "that", "this", "like", "so", "please", "always", "never", "from", "now", "on", "yes", "ok",
    "okay", "by", "default", "in", "future", "going", "forward", "as", "a", "rule", "the", "i", "you", "me",
    "prefer", "want", "every", "time", "be", "to", "and", "then", "way", "thanks", "way,", "should", "is",
    "are", "any", "more", "remember", "these", "those", "them", "same", "just", "keep", "mind",
];

/// Verbs behind `I never` or `I always` that tell of a moment and no habit.
pub(crate) const NOT_A_HABIT: &[&str] = &[
    "know",
    "knew",
    "understand",
    "understood",
    "forget",
    "forgot",
    "get",
    "got",
    "said",
    "thought",
    "had",
    "was",
    "did",
    "saw",
    "heard",
    "meant",
    "will",
    "would",
    "end",
];

/// What people have that is a fact about them.
pub(crate) const CONDITIONS: &[&str] = &[
    "asthma",
    "diabetes",
    "epilepsy",
    "celiac",
    "coeliac",
    "hay fever",
    "migraine",
    "dyslexia",
    "adhd",
    "a dog",
    "a cat",
    "a daughter",
    "a son",
    "two kids",
    "three kids",
    "kids",
    "two children",
    "children",
    "a twin",
];

/// What people are that is a fact about them.
pub(crate) const TRAITS: &[&str] = &[
    "allergic to",
    "vegetarian",
    "vegan",
    "diabetic",
    "coeliac",
    "celiac",
    "lactose intolerant",
    "left-handed",
    "colour-blind",
    "color-blind",
    "colorblind",
    "dyslexic",
    "deaf",
    "from ",
    "based in",
    "married",
    "retired",
];

/// Heads of `my X is Y` that last.
pub(crate) const OWN_THINGS: &[&str] = &[
    "name", "birthday", "language", "zone", "timezone", "shell", "phone", "number", "address", "wife",
    "husband", "partner", "boss", "manager", "employer", "company", "dog", "cat", "car", "kids", "children",
    "daughter", "son", "height", "job", "lead", "supplier", "landlord", "doctor", "bank", "school", "office",
    "server", "servers",
];

/// Words near which a text may have a secret.
pub(crate) const SECRET_WORDS: &[&str] = &[
    "password",
    "passwort",
    "passphrase",
    "api key",
    "apikey",
    "secret",
    "token",
    "pin code",
    "my pin",
    "iban",
    "credit card",
    "card number",
    "cvv",
    "private key",
    "recovery code",
    "account number",
    "ssn",
    "social security",
    "login:",
];

/// Words that begin a question.
pub(crate) const QUESTION_WORDS: &[&str] = &[
    "is", "are", "was", "were", "do", "does", "did", "can", "could", "should", "would", "will", "shall",
    "may", "what", "how", "why", "which", "who", "whose", "where", "when", "if", "am", "has", "have", "any",
    "what's", "who's", "where's", "isn't", "don't", "doesn't",
];

/// What makes `my X is Y` a matter of the moment.
pub(crate) const PASSING_STATES: &[&str] = &[
    "broken", "not", "down", "failing", "too", "so", "very", "empty", "wrong", "full", "slow", "gone",
    "missing", "off", "offline", "ill", "sick", "late", "dead", "busy", "away", "there", "back", "asleep",
    "ready",
];
