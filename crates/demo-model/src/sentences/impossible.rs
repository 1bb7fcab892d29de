//! What people ask for and the demo model cannot do: compared last, so that every row here yields to one that does it.

use super::super::intent::{ClauseIntent, MissingAbility};
use super::super::words::WordToken;
use super::row::PatternRow;

pub(super) const ROWS: &[PatternRow] = &[
    PatternRow {
        says: &[
            "what|which did|have|was|were i|we [just] ask|asked|say|said|tell|told|want|wanted|type|typed {text}",
            "what|which did|have i|we [just] ask|asked|say|said|type|typed [before|earlier]",
            "what was my|the|our last|previous|first question|sentence|message|request [before]",
            "what were my|our [last|previous|earlier] questions|inputs|messages|requests [before]",
            "show|list my|our [last|previous|earlier] questions|inputs|messages|requests|prompts",
            "repeat|show [me] my last|previous question|input|message|request",
            "do you remember what i asked|said|typed|wanted [you] [before|earlier] [to] [do]",
            "what have we done|talked|discussed [so|about] [far]",
        ],
        means: |_| Some(ClauseIntent::Recall),
    },
    PatternRow {
        says: &[
            "remember|memorize [this|that]",
            "do you remember {text}",
            "what do|did you|i remember|tell|say {text}",
        ],
        means: |_| Some(ClauseIntent::Cannot(MissingAbility::Memory)),
    },
    PatternRow {
        says: &["do you know|remember what|who|my {text}"],
        means: |_| Some(ClauseIntent::Cannot(MissingAbility::Memory)),
    },
    PatternRow {
        says: &[
            "undo [that|it|this|last|everything|change|changes|your] [change|changes|edit|step|thing|one]",
            "revert [that|it|this|last|everything] [change|changes|edit]",
            "take it|that back",
            "go back",
            "roll [it|that] back",
            "rollback",
        ],
        means: |_| Some(ClauseIntent::Cannot(MissingAbility::Undo)),
    },
    PatternRow {
        says: &[
            "how are you [doing|today]",
            "how is it going",
            "what is up",
            "tell [me] joke|story|poem|secret [about] [it]",
            "tell joke about {text}",
            "what is weather|temperature|news [like] [in|today|for|at] [today]",
            "what is weather|temperature|news [like] in|at|for {text}",
            "what is meaning of life",
            "what is my|password|name|age|email|ip [password|address]",
            "send|write|post email|mail|message|tweet [to] {text}",
            "set|create|add|make reminder|alarm|timer|appointment {text}",
            "remind {text}",
            "play music|song|game {text}",
            "order|buy|book {text}",
        ],
        means: |_| Some(ClauseIntent::Cannot(MissingAbility::World)),
    },
    PatternRow {
        says: &[
            "how do|can|should|would|could i|we|you|one run|start|launch|execute|use|install|build|compile|test|try [it|this|that|them|project|program|code|app|tests|tool|repo|everything] [here|now]",
            "how is|are it|this|that|project|program|tests run|started|built|installed|used|tested",
        ],
        means: |_| Some(ClauseIntent::Cannot(MissingAbility::Usage)),
    },
    PatternRow {
        says: &[
            "[but|and|so] why [not|so|that|then]",
            "why did|was it|this|that [denied|refused|fail|failed]",
        ],
        means: |_| Some(ClauseIntent::Cannot(MissingAbility::Reasons)),
    },
    PatternRow {
        says: &[
            "fix|debug|solve|repair|find [the|this|that|all] [bug|bugs|issue|issues|problem|problems|error|errors|mistake|mistakes|typo|typos|build|code|tests|test|it|warnings] [in|of] [it|code|project]",
            "fix [typo|typos|bug|bugs|error|errors] in {path}",
            "review|audit|check|improve|optimize|optimise|refactor|clean|simplify|analyze|analyse|format|lint|document [up] [code|project|repo|changes|it|this|quality|everything|codebase]",
            "review|audit|improve|optimize|optimise|refactor|clean|simplify|format|lint|document|debug|fix|comment|modernize|test [up] {paths}",
            "make it|this|code|app faster|better|prettier|work|pretty|shorter|cleaner|simpler",
            "why does|is|do|are|did {text}",
            "how do|can|should|would i|we|you {text}",
            "explain {text}",
            "translate {text}",
            "convert {text}",
            "is {text} good|correct|right|ok|okay|secure|safe|clean|any",
            "which functions|methods|code {text} never|unused|dead {text}",
        ],
        means: |_| Some(ClauseIntent::Cannot(MissingAbility::Understand)),
    },
    PatternRow {
        says: &[
            "fix|debug|solve|repair|review|audit|improve|optimize|optimise|refactor|simplify|analyze|analyse|clean|modernize|document|lint|polish|rewrite|rephrase|redesign|restructure|reorganize|extend|complete|finish|handle|support|ensure|suggest|propose|recommend|compare|judge|evaluate|rate|proofread|shorten|update|upgrade|port|migrate|split|merge|reformat|indent|speed|correct|validate|investigate|diagnose|check|summarize|summarise|comment {text}",
            "make {word} handle|support|return|work|accept|use|faster|async|shorter|clearer|better|nicer|safer|thread-safe|configurable {text}",
            "make {text} faster|async|shorter|clearer|better|nicer|safer|configurable|simpler|cleaner|readable|robust|work",
            "is|are there [any|a|some|obvious] bug|bugs|error|errors|mistake|mistakes|problem|problems|issue|issues|typo|typos|leak|leaks|vulnerability|vulnerabilities {text}",
            "is|are there [any|a|some|obvious] bug|bugs|error|errors|mistake|mistakes|problem|problems|issue|issues|typo|typos",
            "what is wrong|broken|missing|bad|good {text}",
            "what is wrong|broken|missing",
            "what would|should|could happen|i|we|you|be {text}",
            "what do you think [about|of] {text}",
            "why {text}",
            "can|could you|this explain {text}",
            "use {text} instead of {text}",
            "sort|order|group|deduplicate {text}",
        ],
        means: |_| Some(ClauseIntent::Cannot(MissingAbility::Understand)),
    },
    PatternRow {
        says: &[
            "add|write|insert|put [a|an|some|more|missing|proper|new] [unit|type|error|module] docstring|docstrings|comment|comments|documentation|types|hints|annotations|logging|handling|validation|test|tests|explanation|support|feature|function|method|class|example|examples|option|flag|argument|parameter|caching {text}",
            "add|write [a|an|some|more|missing|new] [unit|type|error|module] docstring|docstrings|comment|comments|documentation|types|hints|annotations|logging|handling|validation|test|tests|explanation|example|examples",
        ],
        means: |found| {
            let given = found.text_words(0).iter().any(WordToken::is_quoted);
            (!given).then_some(ClauseIntent::Cannot(MissingAbility::Compose))
        },
    },
    PatternRow {
        says: &[
            "write|create|make|generate|add|implement|build|develop|design|draft|compose [me] [new] poem|story|essay|function|class|method|website|web|app|game|api|script|program|test|tests|unit|documentation|docs|comments|summary|report|letter|email|song|haiku|feature|page|site|server|bot|module|logging|types|tool|cli|code|readme {text}",
            "write|create|generate|add|implement|draft [unit|some|more] poem|story|essay|tests|test|documentation|docs|comments|code|readme|function|report|summary|website|app|game|feature",
            "write|generate|draft readme|documentation|docs|tests|comments for {text}",
            "implement {text}",
        ],
        means: |found| {
            // A text in quotation marks is one that was given.
            let given = found.text_words(0).iter().any(WordToken::is_quoted);
            (!given).then_some(ClauseIntent::Cannot(MissingAbility::Compose))
        },
    },
];
