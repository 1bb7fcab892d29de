//! Sentences about the model itself and the project, and talk.

use serde_json::json;

use super::super::intent::{ClauseIntent, IntendedCall, ToolAbility, ToolGoal};
use super::super::questions::question_of;
use super::row::PatternRow;

pub(super) const ROWS: &[PatternRow] = &[
    PatternRow {
        says: &[
            "hi|hello|hey|greetings|moin|hallo|bonjour|hola|ciao|servus|howdy|yo [palyra|demo|all|everyone|world|again]",
            "good morning|evening|day|afternoon|night [palyra|demo]",
            "guten tag|morgen|abend",
            "buenos dias|días",
        ],
        means: |_| Some(ClauseIntent::Greeting),
    },
    PatternRow {
        says: &[
            "thanks|thx|cheers|bye|goodbye|danke|merci [a] [lot|bunch] [palyra|demo]",
            "thank you [very|so] [much] [palyra]",
            "many thanks",
            "merci beaucoup",
            "danke schön|sehr|dir",
            "vielen dank",
            "gracias|grazie|obrigado|bedankt|ta",
            "muchas gracias",
            "ok|okay|alright|fine|got|i [it|see|thanks]",
            "great|nice|cool|perfect|awesome|excellent|good [job|work|thanks]",
            "well done",
        ],
        means: |_| Some(ClauseIntent::Thanks),
    },
    PatternRow {
        says: &[
            "help [me|please]",
            "what|how else can|do|could you do|help [here|for|me] [me]",
            "what can|could you do|help [for|with|me] [me|us|here|with]",
            "what can i|we do|ask|say|type [you|here|with] [palyra|this|it|you]",
            "what you can do",
            "what do you do|know|understand",
            "what are you [able|capable|good] [to|of|at|for] [do|doing]",
            "who are|is you|this|palyra",
            "what is|are your name|abilities|capabilities|skills|tools|commands",
            "what is your name",
            "which|what model are|is you|this",
            "what is|are palyra|this [demo|tool|thing|program]",
            "are you chatgpt|claude|gpt|gpt-4|ai|an|human|real|robot|llm|gemini|bot|alive [ai|llm|bot|model|person|human|robot]",
            "are you real|language [ai|llm|model|person|human|robot]",
            "how do you work",
            "how does this|palyra|it work",
            "how can|could you help [me]",
            "how do|can i|we use this|you|palyra|it",
            "which|what tools|commands|sentences do|can|are you|i|there [have|know|use|understand|say|type]",
            "tell about yourself",
            "introduce yourself",
            "list|show commands|tools|help|examples|abilities",
            "can you help [me]",
            "how do i start|begin",
            "getting started",
        ],
        means: |_| Some(ClauseIntent::Abilities),
    },
    PatternRow {
        says: &[
            "what is project|repo|repository|codebase|code|program [about|for|here]",
            "what is project|repo|repository|codebase [about|for]",
            "what does project|repo|repository|codebase|code|program|software|it do",
            "what is it about|for",
            "what is this about",
            "what am i looking at",
            "tell what project|repo|repository|codebase|code|program does|is",
            "tell what project|repo|repository|codebase is about|for",
            "tell|read about project|repo|repository|codebase",
            "describe|explain|summarize|summarise project|repo|repository|codebase",
            "find out what project|repo|repository|codebase does|is|is [about]",
            "give|show overview|summary|description of project|repo|repository|codebase",
            "overview|summary of project|repo|repository|codebase",
            "how does project|repo|repository|codebase work",
        ],
        means: |_| Some(ClauseIntent::Project),
    },
    PatternRow {
        says: &[
            "tell|say|explain|report|summarize|summarise|describe [about] [it|them|result|results|what|answer|matches] [it|they|is|are|you] [says|say|does|do|is|about|found|find|contains|contain|for] [about]",
            "tell what you|fails|failed|happened|went|they [found|find|see|say|wrong]",
            "tell result|results|how [it|they] [went|look|looks]",
            "give summary|overview",
            "what is it [about]",
            "what does it say|do|contain|mean",
            "what is in it",
            "report back",
            "tell|say|show|report which|what [ones|one|tests|test|of] [them] fail|failed|fails|failing|pass|passed|broke|break|are|is [failing|broken|passing]",
            "tell|say if|whether it|they|tests|all [they|tests] pass|passed|fail|failed|fails|works|work|worked|succeeded",
            "tell|say|explain|describe what they|it|tests check|checks|test|tests|cover|covers|verify|do|does|are|mean|means",
            "tell|say how many [there|of|are|lines|them|matches|files|tests] [there|are|is|fail|pass]",
            "tell|say what you see|found|find|think|learn",
            "tell about them|it",
            "what it|they does|do|says|say",
            "show them|result|results|output [to]",
            "show|print|display|give|paste|see [all] [of] [their|its] [whole|full|complete|entire|test] output|outputs|result|results",
            "show|tell|say|see what they|it|tests|test|build|program|command|script|make [print|prints|printed|say|says|said|output|outputs|write|writes]",
            "answer|summarize|summarise|explain|describe",
        ],
        means: |_| Some(ClauseIntent::Aside),
    },
    PatternRow {
        says: &[
            "don't|dont|do|never [not] change|modify|touch|edit|write|alter|delete [anything|any|files|file|something|it] [files|file|yet]",
            "no changes",
        ],
        means: |found| {
            let forbids = ["don't", "dont", "not", "never", "no"].iter().any(|word| found.says(word));
            forbids.then_some(ClauseIntent::NoChange)
        },
    },
    PatternRow {
        says: &[
            "what does|do|is|are|did [in|on|about] attached|attachment|attachments [file|files|image|picture|document|text] [say|contain|show|about|in|called]",
            "what is|are in|on [this|the] attached|attachment|attachments|image|picture|photo|screenshot [file|files|image|picture|document]",
            "what is|are in|inside these|this|them",
            "what is|are attached",
            "what did|have i attach|attached|sent|send",
            "read|show|open|describe|summarize|summarise|explain|print|check|see attached|attachment|attachments [file|files|image|picture|document|text]",
            "look at attached|attachment|attachments [file|files|image|picture]",
            "list attachments",
            "do|can you see|read attached|attachment|attachments|image|picture [file|files|image|picture]",
        ],
        means: |_| Some(ClauseIntent::Attachments),
    },
    PatternRow { says: &["ask {text}"], means: |found| question_of(found.text_words(0)) },
    PatternRow { says: &["ask [me|us]"], means: |_| Some(ClauseIntent::Incomplete(ToolAbility::Ask)) },
    PatternRow {
        says: &[
            "remember|memorize|memorise|note [that|this|down] {text}",
            "keep [that|this|it] in mind {text}",
            "don't forget {text}",
            "make note [that|of] {text}",
        ],
        means: |found| {
            let text = found.text(0);
            let call = IntendedCall::new(ToolAbility::Remember, &[]).with("text", json!(text));
            Some(ClauseIntent::Goal(ToolGoal::one(call)))
        },
    },
    PatternRow {
        says: &[
            "what do|can you remember|recall about|of {text}",
            "search|look [in|into|through] memory|memories for {text}",
            "do you remember anything about {text}",
        ],
        means: |found| {
            let text = found.text(0);
            let text = text.trim_end_matches(['?', '.', '!']);
            let call = IntendedCall::new(ToolAbility::Recollect, &[]).with("query", json!(text));
            Some(ClauseIntent::Goal(ToolGoal::one(call)))
        },
    },
    PatternRow {
        says: &["what do|can you remember", "list|show [my|your] memory|memories"],
        means: |_| {
            let call = IntendedCall::new(ToolAbility::Recollect, &[]);
            Some(ClauseIntent::Goal(ToolGoal::one(call)))
        },
    },
];
