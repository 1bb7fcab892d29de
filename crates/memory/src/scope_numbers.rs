//! Numbers of scopes, which the word index and the scan compare in place of the scopes.
//!
//! Owns that a scope has one number as long as an item has the scope, and that no number is given twice.

use std::collections::HashMap;

use crate::item::MemoryScope;

/// The scopes of the items of an index.
#[derive(Debug, Default)]
pub(crate) struct ScopeNumbers {
    by_scope: HashMap<MemoryScope, NumberedScope>,
    next: u32,
}

#[derive(Debug)]
struct NumberedScope {
    number: u32,
    items_count: usize,
}

impl ScopeNumbers {
    /// Counts one more item of a scope and returns the scope's number.
    pub(crate) fn add(&mut self, scope: &MemoryScope) -> u32 {
        if let Some(known) = self.by_scope.get_mut(scope) {
            known.items_count += 1;
            return known.number;
        }
        let number = self.next;
        self.next = self.next.saturating_add(1);
        self.by_scope.insert(scope.clone(), NumberedScope { number, items_count: 1 });
        number
    }

    /// Counts one item of a scope less, and forgets a scope without items.
    pub(crate) fn remove(&mut self, number: u32) {
        if let Some(known) = self.by_scope.values_mut().find(|known| known.number == number) {
            known.items_count -= 1;
            if known.items_count == 0 {
                self.by_scope.retain(|_, known| known.number != number);
            }
        }
    }

    /// Returns the number of a scope that has items.
    pub(crate) fn get(&self, scope: &MemoryScope) -> Option<u32> {
        self.by_scope.get(scope).map(|known| known.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::ScopeName;

    #[test]
    fn a_scope_is_forgotten_with_its_last_item() {
        let heron = MemoryScope::Workspace(ScopeName::new("heron").unwrap());
        let mut scopes = ScopeNumbers::default();
        let number = scopes.add(&heron);
        assert_eq!(scopes.add(&heron), number);
        scopes.remove(number);
        assert_eq!(scopes.get(&heron), Some(number));
        scopes.remove(number);
        assert_eq!(scopes.get(&heron), None);
        assert_ne!(scopes.add(&heron), number);
    }
}
