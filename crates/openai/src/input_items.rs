//! The inputs of a part of a run as items of a response, by the page.

use palyra_types::RunId;
use palyra_types::client_tool::ClientCallId;
use palyra_types::event::{ClientToolsAnswered, RunEvent, TapeEvent};
use palyra_types::run::UserInput;
use palyra_types::tape::OrchestratorTapeRecord;
use serde_json::{Value, json};

use crate::identifiers::input_id;

/// Items of one page, at most.
pub const INPUT_ITEMS_MAX: usize = 100;

/// The order of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ItemOrder {
    /// Oldest first.
    Ascending,
    /// Newest first.
    #[default]
    Descending,
}

/// Gathers the inputs of a tape.
#[derive(Debug)]
pub struct InputItems {
    run: RunId,
    part: u32,
    reached: u32,
    items: Vec<Value>,
}

impl InputItems {
    /// Makes an empty list.
    #[must_use]
    pub fn new(run: RunId, part: u32) -> Self {
        Self { run, part, reached: 0, items: Vec::new() }
    }

    /// Takes an entry of the tape.
    pub fn read(&mut self, entry: &OrchestratorTapeRecord) {
        if let TapeEvent::Run(RunEvent::ClientToolsAnswered(answered)) = &entry.event {
            self.reached = self.reached.saturating_add(1);
            self.add_results(answered);
        }
        if self.reached != self.part {
            return;
        }
        if let TapeEvent::Run(RunEvent::Started(started)) = &entry.event {
            self.add(&started.input);
        } else if let TapeEvent::Run(RunEvent::InputReceived { input, .. }) = &entry.event {
            self.add(input);
        }
    }

    fn add_results(&mut self, answered: &ClientToolsAnswered) {
        if self.reached != self.part {
            return;
        }
        for (number, output) in answered.span.numbers().zip(&answered.outputs) {
            self.items.push(json!({
                "id": format!("fco_{}_c{number}", self.run),
                "type": "function_call_output",
                "call_id": ClientCallId { run: self.run, number }.to_string(),
                "status": "completed",
                "output": output.expose(),
            }));
        }
    }

    fn add(&mut self, input: &UserInput) {
        let index = u32::try_from(self.items.len()).unwrap_or(u32::MAX);
        let mut content = vec![json!({ "type": "input_text", "text": input.text.expose() })];
        for file in &input.attachments {
            let part = if file.is_image() {
                json!({ "type": "input_image", "detail": "auto", "file_id": null, "image_url": null })
            } else {
                json!({ "type": "input_file", "file_id": null, "filename": file.name.expose() })
            };
            content.push(part);
        }
        self.items.push(json!({
            "id": input_id(self.run, self.part, index),
            "type": "message",
            "role": "user",
            "status": "completed",
            "content": content,
        }));
    }

    /// Returns a page: at most `limit` items after the item `after`.
    #[must_use]
    pub fn page(mut self, order: ItemOrder, limit: usize, after: Option<&str>) -> Value {
        if order == ItemOrder::Descending {
            self.items.reverse();
        }
        let start = after.map_or(0, |after| {
            self.items.iter().position(|item| item["id"] == after).map_or(0, |place| place + 1)
        });
        let rest = self.items.get(start..).unwrap_or_default();
        let page = rest.get(..limit.min(rest.len())).unwrap_or_default();
        let id = |item: Option<&Value>| item.map_or(Value::Null, |item| item["id"].clone());
        json!({
            "object": "list",
            "data": page,
            "first_id": id(page.first()),
            "last_id": id(page.last()),
            "has_more": rest.len() > page.len(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tape_fixture::{TapeBuilder, run_id};

    #[test]
    fn a_page_has_an_order_a_length_and_a_place_where_it_begins() {
        let outputs = ["1", "2", "3"];
        let tape =
            TapeBuilder::new().asked().called(&["f", "g", "h"]).brought(&outputs).asked().text("x").done();
        let page = |order, limit, after: Option<&str>| {
            let mut items = InputItems::new(run_id(), 1);
            tape.iter().for_each(|entry| items.read(entry));
            let page = items.page(order, limit, after);
            let data = page["data"].as_array().unwrap();
            let outputs: Vec<String> =
                data.iter().map(|item| item["output"].as_str().unwrap().to_owned()).collect();
            let ends = data.first().zip(data.last()).map(|(first, last)| (&first["id"], &last["id"]));
            assert_eq!((&page["first_id"], &page["last_id"]), ends.unwrap_or((&Value::Null, &Value::Null)));
            assert_eq!(page["object"], "list");
            (outputs, page["has_more"].as_bool().unwrap(), page["last_id"].as_str().map(str::to_owned))
        };
        let (first, has_more, last) = page(ItemOrder::Ascending, 2, None);
        assert_eq!((first, has_more), (vec!["1".to_owned(), "2".to_owned()], true));
        let (second, has_more, last) = page(ItemOrder::Ascending, 2, last.as_deref());
        assert_eq!((second, has_more), (vec!["3".to_owned()], false));
        let behind = page(ItemOrder::Ascending, 2, last.as_deref());
        assert_eq!(behind, (Vec::new(), false, None));
        assert_eq!(page(ItemOrder::Descending, 1, None).0, ["3"]);
    }

    #[test]
    fn the_inputs_of_a_part_are_the_results_that_began_it() {
        let tape =
            TapeBuilder::new().asked().called(&["f", "g"]).brought(&["1", "2"]).asked().text("x").done();
        let page = |part| {
            let mut items = InputItems::new(run_id(), part);
            tape.iter().for_each(|entry| items.read(entry));
            items.page(ItemOrder::Ascending, 9, None)["data"].clone()
        };
        assert_eq!(page(0)[0]["content"][0]["text"], "what is asked");
        let results = page(1);
        assert_eq!(results.as_array().unwrap().len(), 2);
        assert_eq!(results[1]["call_id"], format!("call_{}_c2", run_id()));
        assert_eq!(
            (&results[1]["type"], &results[1]["output"]),
            (&json!("function_call_output"), &json!("2"))
        );
    }
}
