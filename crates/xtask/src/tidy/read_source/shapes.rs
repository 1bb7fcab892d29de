//! The walk that collects syntax that could hide from a cap.
//!
//! Owns which syntax becomes which [`CodeShape`]. The bodies of macro calls are tokens and are not read.
//! Begin at [`shapes`].

use std::collections::BTreeSet;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Expr, FnArg, Pat, ReturnType, Signature, Type};

use super::nodes::{TypeIdents, is_open, type_name};
use crate::tidy::shapes::{CodeShape, CodeShapes, FunctionShape};

/// Returns the shapes of a file, without those on the lines of tests.
pub(super) fn shapes(file: &syn::File, is_test: &dyn Fn(usize) -> bool) -> CodeShapes {
    let mut walk = ShapeWalk::default();
    walk.visit_file(file);
    let mut found = walk.found;
    for shapes in [
        &mut found.tuple_parameters,
        &mut found.extra_closures,
        &mut found.tuple_lets,
        &mut found.handle_accessors,
        &mut found.types,
        &mut found.literals,
    ] {
        shapes.retain(|shape| !is_test(shape.line));
    }
    found.functions.retain(|function| !is_test(function.line));
    found
}

#[derive(Default)]
struct ShapeWalk {
    found: CodeShapes,
    block: BlockState,
    function: BodyState,
}

/// The impl block or the trait that is being walked.
#[derive(Default)]
struct BlockState {
    owner: Option<String>,
    /// The trait that an impl block implements.
    of_trait: Option<String>,
}

/// The function whose body is being walked.
#[derive(Default)]
struct BodyState {
    name: String,
    named_closures: usize,
}

impl ShapeWalk {
    fn signature(&mut self, signature: &Signature) {
        // The parameters of a foreign trait are not chosen here; a conversion's are.
        let is_chosen = match self.block.of_trait.as_deref() {
            None => true,
            Some(name) => matches!(name, "From" | "TryFrom"),
        };
        if !is_chosen {
            return;
        }
        let line = signature.ident.span().start().line;
        let name = signature.ident.to_string();
        let mut parameters = 0;
        let mut passed = BTreeSet::new();
        for input in &signature.inputs {
            let FnArg::Typed(typed) = input else {
                parameters += 1;
                continue;
            };
            let elements = tuple_elements(&typed.ty);
            parameters += elements.max(1);
            if elements > 0 {
                self.found
                    .tuple_parameters
                    .push(CodeShape { line: typed.span().start().line, name: name.clone() });
            }
            let mut idents = TypeIdents::default();
            idents.visit_type(&typed.ty);
            passed.extend(idents.0);
        }
        let passed_types = passed.into_iter().collect();
        self.found.functions.push(FunctionShape { line, name, parameters, passed_types });
    }

    fn inside_block(&mut self, block: BlockState, walk: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.block, block);
        walk(self);
        self.block = outer;
    }

    /// Walks a body as a function of its own, with no closures counted yet.
    fn inside(&mut self, name: &syn::Ident, walk: impl FnOnce(&mut Self)) {
        let state = BodyState { name: name.to_string(), named_closures: 0 };
        let outer = std::mem::replace(&mut self.function, state);
        walk(self);
        self.function = outer;
    }

    fn accessor(&mut self, signature: &Signature) {
        let Some(owner) = self.block.owner.as_deref().filter(|owner| is_handle(owner)) else { return };
        let only_self = signature.inputs.len() == 1 && signature.receiver().is_some();
        let ReturnType::Type(_, of) = &signature.output else { return };
        if only_self && names_handle(of) {
            let line = signature.ident.span().start().line;
            let name = format!("{owner}::{}", signature.ident);
            self.found.handle_accessors.push(CodeShape { line, name });
        }
    }

    fn declared(&mut self, name: &syn::Ident) {
        self.found.types.push(CodeShape { line: name.span().start().line, name: name.to_string() });
    }
}

/// Returns how many elements a tuple has as a parameter, also behind a reference or in an `Option`; none for other types.
fn tuple_elements(of: &Type) -> usize {
    match of {
        Type::Tuple(tuple) => tuple.elems.iter().map(|element| tuple_elements(element).max(1)).sum(),
        Type::Reference(reference) => tuple_elements(&reference.elem),
        Type::Paren(inner) => tuple_elements(&inner.elem),
        Type::Group(inner) => tuple_elements(&inner.elem),
        Type::Path(path) => {
            let last = path.path.segments.last().filter(|last| last.ident == "Option");
            let Some(syn::PathArguments::AngleBracketed(inner)) = last.map(|last| &last.arguments) else {
                return 0;
            };
            inner.args.iter().map(generic_elements).sum()
        }
        _ => 0,
    }
}

fn generic_elements(argument: &syn::GenericArgument) -> usize {
    match argument {
        syn::GenericArgument::Type(of) => tuple_elements(of),
        _ => 0,
    }
}

fn is_handle(name: &str) -> bool {
    name.ends_with("Handle") || name.ends_with("Handles")
}

fn names_handle(of: &Type) -> bool {
    let mut idents = TypeIdents::default();
    idents.visit_type(of);
    idents.0.iter().any(|ident| is_handle(ident))
}

/// Returns the expression behind references and parentheses.
fn bare(expression: &Expr) -> &Expr {
    match expression {
        Expr::Reference(reference) => bare(&reference.expr),
        Expr::Paren(inner) => bare(&inner.expr),
        Expr::Group(inner) => bare(&inner.expr),
        _ => expression,
    }
}

fn bare_pattern(pattern: &Pat) -> &Pat {
    match pattern {
        Pat::Type(typed) => bare_pattern(&typed.pat),
        Pat::Paren(inner) => bare_pattern(&inner.pat),
        _ => pattern,
    }
}

impl<'ast> Visit<'ast> for ShapeWalk {
    fn visit_item_struct(&mut self, node: &'ast syn::ItemStruct) {
        self.declared(&node.ident);
        if is_handle(&node.ident.to_string()) {
            for field in node.fields.iter().filter(|field| is_open(&field.vis) && names_handle(&field.ty)) {
                let name = field.ident.as_ref().map_or_else(|| "0".to_owned(), ToString::to_string);
                let line = field.span().start().line;
                let name = format!("{}.{name}", node.ident);
                self.found.handle_accessors.push(CodeShape { line, name });
            }
        }
        visit::visit_item_struct(self, node);
    }

    fn visit_item_enum(&mut self, node: &'ast syn::ItemEnum) {
        self.declared(&node.ident);
        visit::visit_item_enum(self, node);
    }

    fn visit_item_union(&mut self, node: &'ast syn::ItemUnion) {
        self.declared(&node.ident);
        visit::visit_item_union(self, node);
    }

    fn visit_item_type(&mut self, node: &'ast syn::ItemType) {
        self.declared(&node.ident);
        visit::visit_item_type(self, node);
    }

    fn visit_item_trait(&mut self, node: &'ast syn::ItemTrait) {
        self.declared(&node.ident);
        let block = BlockState { owner: Some(node.ident.to_string()), of_trait: None };
        self.inside_block(block, |walk| visit::visit_item_trait(walk, node));
    }

    fn visit_item_impl(&mut self, node: &'ast syn::ItemImpl) {
        let of_trait = node.trait_.as_ref().and_then(|(_, path, _)| path.segments.last());
        let of_trait = of_trait.map(|last| last.ident.to_string());
        let block = BlockState { owner: Some(type_name(&node.self_ty)), of_trait };
        self.inside_block(block, |walk| visit::visit_item_impl(walk, node));
    }

    fn visit_item_fn(&mut self, node: &'ast syn::ItemFn) {
        self.inside_block(BlockState::default(), |walk| {
            walk.signature(&node.sig);
            walk.inside(&node.sig.ident, |walk| visit::visit_item_fn(walk, node));
        });
    }

    fn visit_impl_item_fn(&mut self, node: &'ast syn::ImplItemFn) {
        self.signature(&node.sig);
        if self.block.of_trait.is_none() {
            self.accessor(&node.sig);
        }
        self.inside(&node.sig.ident, |walk| visit::visit_impl_item_fn(walk, node));
    }

    fn visit_trait_item_fn(&mut self, node: &'ast syn::TraitItemFn) {
        self.signature(&node.sig);
        self.accessor(&node.sig);
        self.inside(&node.sig.ident, |walk| visit::visit_trait_item_fn(walk, node));
    }

    fn visit_local(&mut self, node: &'ast syn::Local) {
        let line = node.span().start().line;
        let value = node.init.as_ref().map(|init| bare(&init.expr));
        if matches!(value, Some(Expr::Closure(_))) {
            self.function.named_closures += 1;
            if self.function.named_closures > 1 {
                self.found.extra_closures.push(CodeShape { line, name: self.function.name.clone() });
            }
        }
        // With `else`, both sides are compared at once, which has no other form.
        let binds_at_once = node.init.as_ref().is_some_and(|init| init.diverge.is_none());
        if binds_at_once
            && matches!(bare_pattern(&node.pat), Pat::Tuple(_))
            && matches!(value, Some(Expr::Tuple(_)))
        {
            self.found.tuple_lets.push(CodeShape { line, name: self.function.name.clone() });
        }
        visit::visit_local(self, node);
    }

    fn visit_expr_assign(&mut self, node: &'ast syn::ExprAssign) {
        if matches!(bare(&node.left), Expr::Tuple(_)) && matches!(bare(&node.right), Expr::Tuple(_)) {
            let line = node.span().start().line;
            self.found.tuple_lets.push(CodeShape { line, name: self.function.name.clone() });
        }
        visit::visit_expr_assign(self, node);
    }

    fn visit_expr_struct(&mut self, node: &'ast syn::ExprStruct) {
        if let Some(last) = node.path.segments.last() {
            let name = match (&self.block.owner, last.ident == "Self") {
                (Some(owner), true) => owner.clone(),
                _ => last.ident.to_string(),
            };
            self.found.literals.push(CodeShape { line: last.ident.span().start().line, name });
        }
        visit::visit_expr_struct(self, node);
    }
}
