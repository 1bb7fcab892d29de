//! Questions about single nodes of the syntax tree.
//!
//! Owns no state; each function answers one question that the walk asks.

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::Visit;
use syn::{Attribute, Expr, FnArg, Item as SynItem, Pat, Type, Visibility};

/// Every identifier of a type, outermost first.
#[derive(Default)]
pub(super) struct TypeIdents(pub(super) Vec<String>);

impl<'ast> Visit<'ast> for TypeIdents {
    fn visit_ident(&mut self, node: &'ast proc_macro2::Ident) {
        self.0.push(node.to_string());
    }
}

/// Returns the string literals among tokens, at any depth, in order.
pub(super) fn literals(tokens: TokenStream) -> Vec<syn::LitStr> {
    let mut found = Vec::new();
    for tree in tokens {
        match tree {
            TokenTree::Group(group) => found.extend(literals(group.stream())),
            TokenTree::Literal(literal) => found.extend(syn::parse2(TokenTree::from(literal).into()).ok()),
            TokenTree::Ident(_) | TokenTree::Punct(_) => {}
        }
    }
    found
}

/// Returns whether an attribute makes its item part of tests only.
pub(super) fn is_cfg_test(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg")
        && attribute.meta.require_list().is_ok_and(|list| is_test_attribute(list.tokens.clone()))
}

fn is_test_attribute(tokens: TokenStream) -> bool {
    let mut trees = tokens.into_iter();
    match (trees.next(), trees.next()) {
        (Some(TokenTree::Ident(only)), None) => only == "test",
        (Some(TokenTree::Ident(all)), Some(TokenTree::Group(group))) if all == "all" => {
            group.stream().into_iter().any(|tree| matches!(tree, TokenTree::Ident(ident) if ident == "test"))
        }
        _ => false,
    }
}

/// Returns whether anything outside the module may name the item.
pub(super) fn is_open(visibility: &Visibility) -> bool {
    !matches!(visibility, Visibility::Inherited)
}

/// Returns the name of a parameter that is a plain `bool`.
pub(super) fn bool_parameter(argument: &FnArg) -> Option<String> {
    let FnArg::Typed(typed) = argument else { return None };
    let Type::Path(path) = &*typed.ty else { return None };
    if !path.path.is_ident("bool") {
        return None;
    }
    match &*typed.pat {
        Pat::Ident(name) => Some(name.ident.to_string()),
        _ => Some("_".to_owned()),
    }
}

/// Returns the last name in a path type, looking through references.
pub(super) fn type_name(of: &Type) -> String {
    match of {
        Type::Path(path) => path.path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default(),
        Type::Reference(reference) => type_name(&reference.elem),
        _ => String::new(),
    }
}

/// Returns the name an item declares; functions are told apart by their owner elsewhere.
pub(super) fn item_ident(item: &SynItem) -> Option<&proc_macro2::Ident> {
    Some(match item {
        SynItem::Struct(i) => &i.ident,
        SynItem::Enum(i) => &i.ident,
        SynItem::Union(i) => &i.ident,
        SynItem::Trait(i) => &i.ident,
        SynItem::Type(i) => &i.ident,
        SynItem::Const(i) => &i.ident,
        SynItem::Static(i) => &i.ident,
        SynItem::Mod(i) => &i.ident,
        SynItem::Macro(i) => i.ident.as_ref()?,
        _ => return None,
    })
}

/// Returns the attributes of an item of any kind that may stand under `#[cfg(test)]`.
pub(super) fn item_attributes(item: &SynItem) -> &[Attribute] {
    match item {
        SynItem::Struct(i) => &i.attrs,
        SynItem::Enum(i) => &i.attrs,
        SynItem::Trait(i) => &i.attrs,
        SynItem::Type(i) => &i.attrs,
        SynItem::Const(i) => &i.attrs,
        SynItem::Static(i) => &i.attrs,
        SynItem::Mod(i) => &i.attrs,
        SynItem::Fn(i) => &i.attrs,
        SynItem::Impl(i) => &i.attrs,
        SynItem::Use(i) => &i.attrs,
        SynItem::Macro(i) => &i.attrs,
        _ => &[],
    }
}

/// Returns what kind of logic a top-level item is, or nothing for modules, imports and includes.
pub(super) fn logic(item: &SynItem) -> Option<&'static str> {
    Some(match item {
        SynItem::Mod(module) => {
            let (_, items) = module.content.as_ref()?;
            return items.iter().find_map(logic);
        }
        SynItem::Use(_) | SynItem::ExternCrate(_) => return None,
        SynItem::Macro(call) if is_include(&call.mac) => return None,
        SynItem::Macro(_) => "a macro",
        SynItem::Const(constant) if matches!(&*constant.expr, Expr::Macro(call) if is_include(&call.mac)) => {
            return None;
        }
        SynItem::Fn(_) => "a function",
        SynItem::Struct(_) => "a struct",
        SynItem::Enum(_) => "an enum",
        SynItem::Trait(_) => "a trait",
        SynItem::Impl(_) => "an impl block",
        SynItem::Const(_) | SynItem::Static(_) => "a constant",
        _ => "an item",
    })
}

/// Returns whether a macro call brings in a file that was generated.
fn is_include(call: &syn::Macro) -> bool {
    call.path.segments.last().is_some_and(|segment| segment.ident.to_string().starts_with("include"))
}
