//! The items of an answer: messages, reasoning and calls, by the pieces they come in and as they are when they are done.
//!
//! Invariant: each byte of text is given out once. Bounded: items, calls and the bytes of their arguments.

use palyra_types::Content;
use palyra_types::model::{
    ARGUMENTS_BYTES_MAX, ModelFailure, ModelPiece, PROPOSALS_MAX, RawToolProposal, ToolProposal,
};
use palyra_types::tool::ToolName;
use serde_json::{Map, Value};

use crate::wire_format::continuation::BlockKind;
use crate::wire_format::failure::malformed;
use crate::wire_format::names::check_call;

/// How many items one answer may have.
const ITEMS_MAX: usize = 1_024;
/// What of reasoning goes back with later requests: known fields only, for vendors refuse others.
const REASONING_FIELDS: [&str; 5] = ["type", "id", "summary", "content", "encrypted_content"];

/// The items of an answer in the making, in the order in which they began.
#[derive(Debug, Default)]
pub(super) struct OutputItems(Vec<OutputItem>);

/// A kind of item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ItemKind {
    Message,
    Reasoning,
    Call,
    /// Of an unknown kind.
    Other,
}

#[derive(Debug)]
struct OutputItem {
    kind: ItemKind,
    index: Option<u64>,
    id: String,
    is_done: bool,
    /// How many bytes of text or reasoning were given out.
    shown_bytes: usize,
    /// Reasoning as it goes back, once it is done.
    kept: Option<Value>,
    call: PartialCall,
}

#[derive(Debug, Default)]
struct PartialCall {
    id: String,
    name: String,
    arguments: String,
}

impl ItemKind {
    fn of(item: &Value) -> Self {
        match text(item, "type").unwrap_or_default() {
            "message" => Self::Message,
            "reasoning" => Self::Reasoning,
            "function_call" => Self::Call,
            _ => Self::Other,
        }
    }
}

impl OutputItems {
    /// Begins an item.
    pub(super) fn begin(&mut self, event: &Value, item: &Value) -> Result<(), ModelFailure> {
        let kind = ItemKind::of(item);
        let index = index(event);
        let id = text(item, "id").unwrap_or_default();
        // Another id in the same place is another item: some servers number none of them.
        let is_same = |known: &OutputItem| {
            let is_nameless = id.is_empty() || known.id.is_empty();
            (!id.is_empty() && known.id == id) || (index.is_some() && known.index == index && is_nameless)
        };
        if self.0.iter().any(|known| known.kind == kind && is_same(known)) {
            return Err(malformed("an item of the answer began twice"));
        }
        let at = self.push(kind, index, id)?;
        self.0[at].call.fill(item);
        self.check_arguments()
    }

    /// Takes a piece of an item; one that did not begin begins with it.
    pub(super) fn grow(
        &mut self,
        kind: ItemKind,
        event: &Value,
        out: &mut Vec<ModelPiece>,
    ) -> Result<(), ModelFailure> {
        let piece = text(event, "delta").or_else(|| event.pointer("/delta/text").and_then(Value::as_str));
        let piece = piece.unwrap_or_default();
        let at = self.item_of(kind, event)?;
        let item = &mut self.0[at];
        if kind == ItemKind::Call {
            item.call.arguments.push_str(piece);
            return self.check_arguments();
        }
        item.show(piece.to_owned(), out);
        Ok(())
    }

    /// Divides a summary of reasoning from the one before it.
    pub(super) fn divide_reasoning(&mut self, event: &Value, out: &mut Vec<ModelPiece>) {
        let id = text(event, "item_id").unwrap_or_default();
        let known = self.find(ItemKind::Reasoning, index(event), id);
        if let Some(item) = known.map(|at| &mut self.0[at]).filter(|item| item.shown_bytes > 0) {
            item.show("\n\n".to_owned(), out);
        }
    }

    /// Sets the arguments of a call as they are in the end.
    pub(super) fn set_arguments(&mut self, event: &Value) -> Result<(), ModelFailure> {
        let at = self.item_of(ItemKind::Call, event)?;
        self.0[at].call.fill(event);
        self.check_arguments()
    }

    /// Takes an item that is done.
    pub(super) fn complete(
        &mut self,
        event: &Value,
        item: &Value,
        out: &mut Vec<ModelPiece>,
    ) -> Result<(), ModelFailure> {
        let kind = ItemKind::of(item);
        let index = index(event);
        let id = text(item, "id").unwrap_or_default();
        let at = self.known_or_new(kind, index, id)?;
        self.0[at].is_done = true;
        self.fill(at, item, out)
    }

    /// Takes all items of a response at its end, in their order.
    pub(super) fn complete_all(
        &mut self,
        items: &[Value],
        out: &mut Vec<ModelPiece>,
    ) -> Result<(), ModelFailure> {
        for (place, item) in items.iter().enumerate() {
            let kind = ItemKind::of(item);
            let id = text(item, "id").unwrap_or_default();
            let in_place = || self.0.get(place).filter(|known| known.kind == kind).map(|_| place);
            let known = self.0.iter().position(|known| !id.is_empty() && known.id == id).or_else(in_place);
            let at = match known {
                Some(at) => at,
                // An item under another id in another place is there already.
                None if place < self.0.len() => continue,
                None => self.push(kind, Some(place as u64), id)?,
            };
            self.fill(at, item, out)?;
        }
        Ok(())
    }

    /// Returns what of the answer is where, for requests that come later.
    pub(super) fn places(&self) -> Vec<BlockKind> {
        let place = |item: &OutputItem| match item.kind {
            ItemKind::Message => (item.shown_bytes > 0).then_some(BlockKind::Text(item.shown_bytes)),
            ItemKind::Reasoning => item.kept.clone().map(BlockKind::Kept),
            ItemKind::Call => Some(BlockKind::Call),
            ItemKind::Other => None,
        };
        self.0.iter().filter_map(place).collect()
    }

    /// Returns the calls.
    pub(super) fn into_proposals(self) -> Result<Vec<RawToolProposal>, ModelFailure> {
        let calls = self.0.into_iter().filter(|item| item.kind == ItemKind::Call);
        calls.enumerate().map(|(at, item)| item.call.proposal(at + 1)).collect()
    }

    fn fill(&mut self, at: usize, item: &Value, out: &mut Vec<ModelPiece>) -> Result<(), ModelFailure> {
        let known = &mut self.0[at];
        match known.kind {
            ItemKind::Message | ItemKind::Reasoning if known.shown_bytes == 0 => {
                known.show(shown_text(item), out);
            }
            ItemKind::Message | ItemKind::Reasoning | ItemKind::Call | ItemKind::Other => {}
        }
        match known.kind {
            ItemKind::Reasoning => known.kept = kept(item).or_else(|| known.kept.take()),
            ItemKind::Call => {
                known.call.fill(item);
                self.check_arguments()?;
            }
            ItemKind::Message | ItemKind::Other => {}
        }
        Ok(())
    }

    /// Returns where the item of an event is, a new one where it did not begin.
    fn item_of(&mut self, kind: ItemKind, event: &Value) -> Result<usize, ModelFailure> {
        self.known_or_new(kind, index(event), text(event, "item_id").unwrap_or_default())
    }

    /// Returns where an item is. Without id and index it is the last of its kind that is not done.
    fn known_or_new(&mut self, kind: ItemKind, index: Option<u64>, id: &str) -> Result<usize, ModelFailure> {
        let is_nameless = index.is_none() && id.is_empty();
        let known = if is_nameless {
            self.0.iter().rposition(|known| known.kind == kind && !known.is_done)
        } else {
            self.find(kind, index, id)
        };
        known.map_or_else(|| self.push(kind, index, id), Ok)
    }

    /// Finds an item by its id, or else by its index: some servers have another id in each event.
    fn find(&self, kind: ItemKind, index: Option<u64>, id: &str) -> Option<usize> {
        let by_id = self.0.iter().rposition(|known| known.kind == kind && !id.is_empty() && known.id == id);
        by_id.or_else(|| {
            self.0.iter().rposition(|known| known.kind == kind && index.is_some() && known.index == index)
        })
    }

    fn push(&mut self, kind: ItemKind, index: Option<u64>, id: &str) -> Result<usize, ModelFailure> {
        if self.0.len() >= ITEMS_MAX {
            return Err(malformed("the answer holds too many items"));
        }
        let calls = self.0.iter().filter(|known| known.kind == ItemKind::Call).count();
        if kind == ItemKind::Call && calls >= PROPOSALS_MAX {
            return Err(malformed("the answer holds too many tool calls"));
        }
        let id = id.to_owned();
        let call = PartialCall::default();
        self.0.push(OutputItem { kind, index, id, is_done: false, shown_bytes: 0, kept: None, call });
        Ok(self.0.len() - 1)
    }

    fn check_arguments(&self) -> Result<(), ModelFailure> {
        let bytes: usize = self.0.iter().map(|item| item.call.arguments.len()).sum();
        if bytes > ARGUMENTS_BYTES_MAX {
            return Err(malformed("the arguments of the answer's calls are too large"));
        }
        Ok(())
    }
}

impl OutputItem {
    fn show(&mut self, words: String, out: &mut Vec<ModelPiece>) {
        if words.is_empty() {
            return;
        }
        self.shown_bytes += words.len();
        let words = Content::new(words);
        match self.kind {
            ItemKind::Reasoning => out.push(ModelPiece::Reasoning(words)),
            ItemKind::Message | ItemKind::Call | ItemKind::Other => out.push(ModelPiece::Text(words)),
        }
    }
}

impl PartialCall {
    /// Takes what an event or an item says of the call; what it leaves out stays.
    fn fill(&mut self, said: &Value) {
        for (kept, field) in [(&mut self.id, "call_id"), (&mut self.name, "name")] {
            if let Some(name) = text(said, field).filter(|name| !name.is_empty()) {
                name.clone_into(kept);
            }
        }
        match said.get("arguments") {
            Some(Value::String(whole)) if !whole.is_empty() => self.arguments.clone_from(whole),
            Some(whole @ Value::Object(_)) => self.arguments = whole.to_string(),
            _ => {}
        }
    }

    fn proposal(self, number: usize) -> Result<RawToolProposal, ModelFailure> {
        check_call(&self.id, &self.name)?;
        let id = if self.id.is_empty() { format!("call-{number}") } else { self.id };
        let arguments = if self.arguments.trim().is_empty() { "{}".to_owned() } else { self.arguments };
        Ok(ToolProposal {
            model_call_id: Content::new(id),
            tool: ToolName::new(&self.name),
            arguments: Content::new(arguments),
        })
    }
}

/// Returns reasoning as it goes back; `None` where the server has not encrypted it, and so does not want it.
fn kept(item: &Value) -> Option<Value> {
    text(item, "encrypted_content").filter(|encrypted| !encrypted.is_empty())?;
    let known = |field: &str| item.get(field).filter(|value| !value.is_null()).cloned();
    let mut fields: Map<String, Value> =
        REASONING_FIELDS.into_iter().filter_map(|field| Some((field.to_owned(), known(field)?))).collect();
    // An empty content is given out, but not taken.
    if fields.get("content").and_then(Value::as_array).is_some_and(Vec::is_empty) {
        fields.remove("content");
    }
    Some(Value::Object(fields))
}

/// Returns what an item says or thinks: its parts, and of reasoning the summaries where there is nothing else.
fn shown_text(item: &Value) -> String {
    let texts = |field: &str| {
        let parts = item.get(field).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let said = parts.iter().filter_map(|part| text(part, "text").or_else(|| text(part, "refusal")));
        said.collect::<Vec<_>>()
    };
    match item.get("content") {
        Some(Value::String(whole)) => whole.clone(),
        Some(Value::Array(parts)) if !parts.is_empty() => texts("content").concat(),
        _ => texts("summary").join("\n\n"),
    }
}

pub(super) fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name).and_then(Value::as_str)
}

fn index(value: &Value) -> Option<u64> {
    value.get("output_index").and_then(Value::as_u64)
}
