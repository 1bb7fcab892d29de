//! The registry: one line a family, from which everything that concerns all of them is made.

use super::declaration::FamilyTable;

/// Which families are folded.
#[derive(Debug, Clone, Default)]
pub enum FamilySelection {
    /// Every one.
    #[default]
    All,
    /// Those with these tables.
    Only(Vec<&'static FamilyTable>),
}

impl FamilySelection {
    /// Returns whether a family is folded.
    #[must_use]
    pub fn has(&self, table: &'static FamilyTable) -> bool {
        match self {
            Self::All => true,
            Self::Only(tables) => tables.iter().any(|selected| selected.name == table.name),
        }
    }
}

/// Makes `FAMILIES`, the declarations in order, and `FamilySet`, the rows in use of each.
macro_rules! families {
    ($($field:ident: $family:ty $(=> $later:ty)?,)*) => {
        /// The declaration of every family, in the order in which entries are folded.
        pub const FAMILIES: &[&$crate::family::FamilyTable] =
            &[$(<$family as $crate::family::Family>::TABLE),*];

        /// Families that pass results of an entry to a later one, each with that one.
        const PASSES: &[(&$crate::family::FamilyTable, &$crate::family::FamilyTable)] = &[$($((
            <$family as $crate::family::Family>::TABLE,
            <$later as $crate::family::Family>::TABLE,
        ),)?)*];

        /// Returns these families and all that pass results to them or take results from them, in the order in which
        /// entries are folded: they can only be made again together.
        #[must_use]
        pub fn with_linked_families(
            tables: &[&'static $crate::family::FamilyTable],
        ) -> Vec<&'static $crate::family::FamilyTable> {
            let mut names: Vec<&str> = tables.iter().map(|table| table.name).collect();
            loop {
                let count = names.len();
                for (from, to) in PASSES {
                    if names.contains(&from.name) != names.contains(&to.name) {
                        names.extend([from.name, to.name]);
                    }
                }
                if names.len() == count {
                    return FAMILIES.iter().copied().filter(|table| names.contains(&table.name)).collect();
                }
            }
        }

        /// The rows in use of every family.
        #[derive(Default)]
        pub struct FamilySet {
            selection: $crate::family::FamilySelection,
            $(
                /// The rows in use of this family.
                pub $field: $crate::family::RowCache<$family>,
            )*
        }

        impl FamilySet {
            /// Makes a set over empty tables, which folds only some families.
            #[must_use]
            pub fn of_empty_tables(selection: $crate::family::FamilySelection) -> Self {
                Self { selection, $($field: $crate::family::RowCache::of_empty_table(),)* }
            }

            /// Folds an entry into the families, and returns what they passed to later ones.
            ///
            /// # Errors
            /// [`StoreFault`]($crate::family::StoreFault) when the store fails; so for every method.
            pub fn fold(
                &mut self,
                store: &mut dyn $crate::family::RowStore,
                entry: &$crate::family::FoldedEntry<'_>,
            ) -> Result<$crate::family::PassedChanges, $crate::family::StoreFault> {
                let mut passed = $crate::family::PassedChanges::default();
                $(if self.selection.has(<$family as $crate::family::Family>::TABLE) {
                    self.$field.fold(store, entry, &mut passed)?;
                })*
                Ok(passed)
            }

            /// Writes what changed.
            ///
            /// # Errors
            /// See [`FamilySet::fold`].
            pub fn flush(
                &mut self,
                store: &mut dyn $crate::family::RowStore,
            ) -> Result<(), $crate::family::StoreFault> {
                $(self.$field.flush(store)?;)*
                Ok(())
            }

            /// Returns whether so many rows of a family are cached that they should be written.
            #[must_use]
            pub fn is_full(&self) -> bool {
                false $(|| self.$field.is_full())*
            }

            /// Returns how many rows wait to be written.
            #[must_use]
            pub fn changed_rows(&self) -> usize {
                0 $(+ self.$field.changed_rows())*
            }

            /// Drops what is cached after a rollback or an erasure.
            pub fn forget(&mut self) {
                $(self.$field.forget();)*
            }

            /// Clears the content that comes from these entries, which are ascending and apart. Nothing that is cached
            /// may be unwritten.
            ///
            /// # Errors
            /// See [`FamilySet::fold`].
            pub fn erase_content(
                &mut self,
                store: &mut dyn $crate::family::RowStore,
                ranges: &[palyra_types::proof::SeqRange],
            ) -> Result<(), $crate::family::StoreFault> {
                $($crate::family::erase_content::<$family>(store, ranges)?;)*
                self.forget();
                Ok(())
            }
        }
    };
}
pub(crate) use families;
