//! The walk over one file's syntax tree.
//!
//! Owns which node becomes which fact. Invariant: an item under `#[cfg(test)]` is measured, not entered.

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, ImplItem, Item as SynItem, Signature, UseTree, Visibility};

use super::nodes::{
    TypeIdents, bool_parameter, is_cfg_test, is_open, item_attributes, item_ident, literals, logic, type_name,
};
use crate::tidy::source::{
    Field, FunctionFacts, Import, NamedItem, Reference, SourceFile, Struct, TextPassage,
};

/// Collects facts while it walks.
pub(super) struct Visitor<'a> {
    file: &'a mut SourceFile,
    lines: Vec<&'a str>,
    module: Vec<String>,
    /// The type whose impl block is being walked, and whether that block implements a trait.
    inside_impl: Option<(String, ImplKind)>,
    test_ranges: Vec<(usize, usize)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ImplKind {
    Inherent,
    OfTrait,
}

impl<'a> Visitor<'a> {
    pub(super) fn new(file: &'a mut SourceFile, text: &'a str) -> Self {
        let module = file.module.clone();
        Self { file, lines: text.lines().collect(), module, inside_impl: None, test_ranges: Vec::new() }
    }

    /// Returns how many lines stand under `#[cfg(test)]`.
    pub(super) fn test_lines(&self) -> usize {
        self.test_ranges.iter().map(|(first, last)| last - first + 1).sum()
    }

    /// Returns whether a line is under `#[cfg(test)]`.
    pub(super) fn is_test_line(&self, line: usize) -> bool {
        self.test_ranges.iter().any(|(first, last)| (*first..=*last).contains(&line))
    }

    /// Notes the string literals of several words in the tokens of a macro call or an attribute.
    fn messages_in(&mut self, tokens: proc_macro2::TokenStream) {
        for literal in literals(tokens) {
            self.message(&literal);
        }
    }

    fn message(&mut self, literal: &syn::LitStr) {
        let text = literal.value();
        if text.split_whitespace().nth(1).is_some() {
            self.file.messages.push(TextPassage { line: literal.span().start().line, text });
        }
    }

    fn type_function(&mut self, owner: Option<String>, function: &proc_macro2::Ident) {
        let Some(owner) = owner else { return };
        let own = self.inside_impl.as_ref().map(|(own, _)| own.clone());
        let owner = if owner == "Self" { own.unwrap_or(owner) } else { owner };
        self.file.type_functions.push((function.span().start().line, owner, function.to_string()));
    }

    /// Notes paths such as `Type::function` and `Type::<T>::function` in the tokens of a macro call.
    fn type_functions_in(&mut self, tokens: proc_macro2::TokenStream) {
        let mut owner = None;
        let mut colons = 0;
        let mut angles = 0_usize;
        for tree in tokens {
            match tree {
                proc_macro2::TokenTree::Group(group) => {
                    self.type_functions_in(group.stream());
                    owner = None;
                }
                proc_macro2::TokenTree::Punct(punct) if punct.as_char() == '<' && colons == 2 => angles += 1,
                proc_macro2::TokenTree::Punct(punct) if punct.as_char() == '<' && angles > 0 => angles += 1,
                proc_macro2::TokenTree::Punct(punct) if punct.as_char() == '>' && angles > 0 => angles -= 1,
                proc_macro2::TokenTree::Punct(punct) if punct.as_char() == ':' => {
                    colons += 1;
                    continue;
                }
                proc_macro2::TokenTree::Ident(ident) if angles == 0 => {
                    if colons == 2 {
                        self.type_function(owner.take(), &ident);
                    }
                    owner = Some(ident.to_string());
                }
                _ => {}
            }
            colons = 0;
        }
    }

    fn skip_test(&mut self, node: &impl Spanned, attributes: &[Attribute]) -> bool {
        let is_test = attributes.iter().any(is_cfg_test);
        if is_test {
            let span = node.span();
            self.test_ranges.push((span.start().line, span.end().line));
        }
        is_test
    }

    fn function(&mut self, signature: &Signature, body: Option<&syn::Block>, public: bool) {
        let lines = body.map_or(0, |body| {
            let (open, close) = (body.brace_token.span.open(), body.brace_token.span.close());
            self.code_lines(open.start().line, close.end().line)
        });
        let name = signature.ident.to_string();
        let bools = signature.inputs.iter().filter_map(bool_parameter);
        self.file.functions.push(FunctionFacts {
            name: name.clone(),
            line: signature.ident.span().start().line,
            lines,
            parameters: signature.inputs.len(),
            public_bools: if public { bools.collect() } else { Vec::new() },
        });
        let name = match &self.inside_impl {
            Some((owner, _)) => format!("{owner}::{name}"),
            None => name,
        };
        self.item(name, signature.ident.span().start().line);
    }

    fn code_lines(&self, open: usize, close: usize) -> usize {
        let inner = self.lines.get(open..close.saturating_sub(1)).unwrap_or_default();
        inner.iter().map(|l| l.trim()).filter(|l| !l.is_empty() && !l.starts_with("//")).count()
    }

    fn item(&mut self, name: String, line: usize) {
        self.file.items.push(NamedItem { module: self.module.clone(), name, line });
    }

    fn structure(&mut self, node: &syn::ItemStruct) {
        let public = matches!(node.vis, Visibility::Public(_));
        let fields = node.fields.iter().filter_map(|field| {
            let name = field.ident.as_ref()?;
            let mut idents = TypeIdents::default();
            idents.visit_type(&field.ty);
            Some(Field {
                name: name.to_string(),
                line: name.span().start().line,
                public: public && matches!(field.vis, Visibility::Public(_)),
                type_idents: idents.0,
            })
        });
        let fields = fields.collect();
        let line = node.ident.span().start().line;
        self.file.structs.push(Struct { name: node.ident.to_string(), line, fields });
    }

    fn use_tree(&mut self, tree: &UseTree, prefix: &[String]) {
        let mut segments = prefix.to_vec();
        match tree {
            UseTree::Path(path) => {
                segments.push(path.ident.to_string());
                self.use_tree(&path.tree, &segments);
            }
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.use_tree(tree, prefix)),
            UseTree::Name(name) => {
                let ident = name.ident.to_string();
                if ident != "self" {
                    segments.push(ident);
                }
                self.import(segments.last().cloned().unwrap_or_default(), segments, name.span().start().line);
            }
            UseTree::Rename(rename) => {
                let ident = rename.ident.to_string();
                if ident != "self" {
                    segments.push(ident);
                }
                self.import(rename.rename.to_string(), segments, rename.span().start().line);
            }
            UseTree::Glob(glob) => self.import("*".to_owned(), segments, glob.span().start().line),
        }
    }

    fn import(&mut self, name: String, segments: Vec<String>, line: usize) {
        let module = self.module.clone();
        let capitals = segments.iter().filter(|s| starts_with_capital(s));
        self.file.capital_idents.extend(capitals.map(|s| (line, s.clone())));
        self.file.imports.push(Import { module: module.clone(), name, segments: segments.clone() });
        self.file.references.push(Reference { module, segments, line });
    }

    fn inline_module(&mut self, node: &syn::ItemMod) {
        let mut module = self.module.clone();
        module.push(node.ident.to_string());
        if node.content.is_some() {
            self.file.inline_modules.push(module.clone());
            let outer = std::mem::replace(&mut self.module, module);
            visit::visit_item_mod(self, node);
            self.module = outer;
        }
    }

    fn test_module(&mut self, node: &syn::ItemMod) {
        let mut module = self.module.clone();
        module.push(node.ident.to_string());
        if node.content.is_some() {
            let span = node.span();
            let length = span.end().line - span.start().line + 1;
            self.file.inline_test_lines = self.file.inline_test_lines.max(length);
        } else {
            self.file.test_modules.push(module);
        }
    }
}

impl<'ast> Visit<'ast> for Visitor<'_> {
    fn visit_file(&mut self, node: &'ast syn::File) {
        for item in &node.items {
            let attributes = item_attributes(item);
            if !attributes.iter().any(is_cfg_test)
                && let Some(kind) = logic(item)
            {
                self.file.logic.push((item.span().start().line, kind.to_owned()));
            }
        }
        visit::visit_file(self, node);
    }

    fn visit_item(&mut self, node: &'ast SynItem) {
        if self.skip_test(node, item_attributes(node)) {
            if let SynItem::Mod(module) = node {
                self.test_module(module);
            }
            return;
        }
        if let Some(ident) = item_ident(node) {
            self.item(ident.to_string(), ident.span().start().line);
        }
        match node {
            SynItem::Mod(module) => return self.inline_module(module),
            SynItem::Struct(structure) => self.structure(structure),
            _ => {}
        }
        visit::visit_item(self, node);
    }

    fn visit_item_use(&mut self, node: &'ast syn::ItemUse) {
        self.use_tree(&node.tree, &[]);
    }

    fn visit_item_impl(&mut self, node: &'ast syn::ItemImpl) {
        let owner = type_name(&node.self_ty);
        self.file.impls.push((node.impl_token.span.start().line, owner.clone()));
        let block = if node.trait_.is_some() { ImplKind::OfTrait } else { ImplKind::Inherent };
        let outer = self.inside_impl.replace((owner, block));
        visit::visit_item_impl(self, node);
        self.inside_impl = outer;
    }

    fn visit_impl_item(&mut self, node: &'ast ImplItem) {
        let attributes = match node {
            ImplItem::Fn(function) => &function.attrs[..],
            ImplItem::Const(constant) => &constant.attrs,
            _ => &[],
        };
        if !self.skip_test(node, attributes) {
            visit::visit_impl_item(self, node);
        }
    }

    fn visit_item_fn(&mut self, node: &'ast syn::ItemFn) {
        let outer = self.inside_impl.take();
        self.function(&node.sig, Some(&node.block), is_open(&node.vis));
        visit::visit_item_fn(self, node);
        self.inside_impl = outer;
    }

    fn visit_impl_item_fn(&mut self, node: &'ast syn::ImplItemFn) {
        let own_shape = !matches!(self.inside_impl, Some((_, ImplKind::OfTrait)));
        self.function(&node.sig, Some(&node.block), own_shape && is_open(&node.vis));
        visit::visit_impl_item_fn(self, node);
    }

    fn visit_item_trait(&mut self, node: &'ast syn::ItemTrait) {
        let outer = self.inside_impl.replace((node.ident.to_string(), ImplKind::Inherent));
        visit::visit_item_trait(self, node);
        self.inside_impl = outer;
    }

    fn visit_trait_item_fn(&mut self, node: &'ast syn::TraitItemFn) {
        self.function(&node.sig, node.default.as_ref(), true);
        visit::visit_trait_item_fn(self, node);
    }

    fn visit_expr_path(&mut self, node: &'ast syn::ExprPath) {
        if let Some(function) = node.path.segments.last() {
            let before = node.path.segments.iter().rev().nth(1).map(|segment| segment.ident.to_string());
            let owner = node.qself.as_ref().map(|qself| type_name(&qself.ty)).or(before);
            self.type_function(owner, &function.ident);
        }
        visit::visit_expr_path(self, node);
    }

    fn visit_item_type(&mut self, node: &'ast syn::ItemType) {
        self.file.type_aliases.push((node.ident.to_string(), type_name(&node.ty)));
        visit::visit_item_type(self, node);
    }

    fn visit_path(&mut self, node: &'ast syn::Path) {
        let segments: Vec<String> = node.segments.iter().map(|s| s.ident.to_string()).collect();
        if segments.len() > 1 && matches!(segments[0].as_str(), "crate" | "self" | "super") {
            let line = node.segments[0].ident.span().start().line;
            self.file.references.push(Reference { module: self.module.clone(), segments, line });
        }
        visit::visit_path(self, node);
    }

    fn visit_lit_str(&mut self, node: &'ast syn::LitStr) {
        self.message(node);
    }

    fn visit_macro(&mut self, node: &'ast syn::Macro) {
        self.messages_in(node.tokens.clone());
        self.type_functions_in(node.tokens.clone());
        visit::visit_macro(self, node);
    }

    fn visit_attribute(&mut self, node: &'ast Attribute) {
        let path = node.path();
        if ["doc", "expect", "allow", "cfg", "deprecated"].iter().any(|name| path.is_ident(name)) {
            return;
        }
        if let syn::Meta::List(list) = &node.meta {
            if path.is_ident("error") {
                self.file.error_texts.extend(literals(list.tokens.clone()).first().map(syn::LitStr::value));
            }
            self.messages_in(list.tokens.clone());
        }
        visit::visit_attribute(self, node);
    }

    fn visit_ident(&mut self, node: &'ast proc_macro2::Ident) {
        let name = node.to_string();
        if starts_with_capital(&name) {
            self.file.capital_idents.push((node.span().start().line, name));
        }
    }
}

fn starts_with_capital(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase())
}
