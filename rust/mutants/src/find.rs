//! Finds the mutants of a source file.

use std::ops::Range;

use quote::ToTokens;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, BinOp, Block, Expr, Pat, Signature, UnOp};

use crate::values;

/// A place in a file, with the mutants of which one at most is on.
pub(crate) struct Site {
    /// Bytes of the file.
    pub(crate) range: Range<usize>,
    pub(crate) kind: Kind,
    /// Line in the file, from 1.
    pub(crate) line: usize,
    /// The function around it, with the type it belongs to.
    pub(crate) function: String,
    pub(crate) changes: Vec<Change>,
}

/// How the mutants of a site are written into the source.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The changed text is returned at the start of a function; the range is empty.
    Return,
    /// The changed text is evaluated in place of an expression.
    Expression,
    /// A match arm without guard never matches; the range is empty, behind its pattern.
    Arm,
    /// A guard is always true, always false, or its arm never matches.
    Guard,
}

/// One mutant of a site.
pub(crate) struct Change {
    /// Such as "replace + with -".
    pub(crate) what: String,
    /// What is evaluated in place of the original.
    pub(crate) text: String,
}

/// The sites of a file, outermost first, and how many functions were left out because they are
/// evaluated by the compiler.
pub(crate) fn sites(source: &str) -> syn::Result<(Vec<Site>, usize)> {
    let file = syn::parse_file(source)?;
    let mut finder = Finder {
        source,
        owner: String::new(),
        function: String::new(),
        sites: vec![],
        constant: 0,
    };
    finder.visit_file(&file);
    Ok((finder.sites, finder.constant))
}

/// Names of the modules that a file declares for tests alone.
pub(crate) fn test_modules(source: &str) -> syn::Result<Vec<String>> {
    let items = syn::parse_file(source)?.items;
    let name = |item: syn::Item| match item {
        syn::Item::Mod(module) if module.content.is_none() && is_test(&module.attrs) => {
            Some(module.ident.to_string())
        }
        _ => None,
    };
    Ok(items.into_iter().filter_map(name).collect())
}

struct Finder<'a> {
    source: &'a str,
    owner: String,
    function: String,
    sites: Vec<Site>,
    constant: usize,
}

impl Finder<'_> {
    fn text(&self, of: &impl Spanned) -> &str {
        &self.source[of.span().byte_range()]
    }

    fn push(&mut self, range: Range<usize>, line: usize, kind: Kind, changes: Vec<Change>) {
        if !self.function.is_empty() && !changes.is_empty() {
            let function = self.function.clone();
            self.sites.push(Site { range, kind, line, function, changes });
        }
    }

    /// The mutants of a function: those of its value, then those inside.
    fn function(&mut self, attributes: &[Attribute], signature: &Signature, block: &Block) {
        if is_test(attributes) || signature.unsafety.is_some() {
            return;
        }
        if signature.constness.is_some() {
            self.constant += 1;
            return;
        }
        let name = match self.owner.as_str() {
            "" => signature.ident.to_string(),
            owner => format!("{owner}::{}", signature.ident),
        };
        let outer = std::mem::replace(&mut self.function, name);
        let body: String = block.stmts.iter().map(|it| it.to_token_stream().to_string()).collect();
        let of_default = signature.ident == "default" && self.owner.contains("Default for");
        if !block.stmts.is_empty() && !of_default {
            let same = |value: &str| squeezed(value) == squeezed(&body);
            let changes = values::of_return(&signature.output)
                .into_iter()
                .filter(|value| !same(value))
                .map(|text| Change { what: format!("replace the body with {text}"), text })
                .collect();
            let at = block.brace_token.span.open().byte_range().end;
            self.push(at..at, signature.ident.span().start().line, Kind::Return, changes);
        }
        visit::visit_block(self, block);
        self.function = outer;
    }
}

/// Without white space, in which texts of tokens and of sources differ.
fn squeezed(text: &str) -> String {
    text.chars().filter(|character| !character.is_whitespace()).collect()
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let text = squeezed(&attribute.meta.to_token_stream().to_string());
        text == "test" || text == "cfg(test)"
    })
}

/// Whether an operand of `&&` binds names, which no parenthesis may stand around.
fn binds(expression: &Expr) -> bool {
    match expression {
        Expr::Let(_) => true,
        Expr::Binary(binary) => binds(&binary.left) || binds(&binary.right),
        _ => false,
    }
}

/// What takes the place of an operator: the pairs that cargo-mutants has.
fn other_operators(operator: &BinOp) -> &'static [&'static str] {
    match operator {
        BinOp::Add(_) => &["-", "*"],
        BinOp::Sub(_) | BinOp::Mul(_) => &["+", "/"],
        BinOp::Div(_) => &["%", "*"],
        BinOp::Rem(_) => &["/", "+"],
        BinOp::And(_) => &["||"],
        BinOp::Or(_) => &["&&"],
        BinOp::BitXor(_) => &["|", "&"],
        BinOp::BitAnd(_) => &["|", "^"],
        BinOp::BitOr(_) => &["&", "^"],
        BinOp::Shl(_) => &[">>"],
        BinOp::Shr(_) => &["<<"],
        BinOp::Eq(_) => &["!="],
        BinOp::Ne(_) => &["=="],
        BinOp::Lt(_) => &["==", ">", "<="],
        BinOp::Gt(_) => &["==", "<", ">="],
        BinOp::Le(_) => &[">"],
        BinOp::Ge(_) => &["<"],
        BinOp::AddAssign(_) => &["-=", "*="],
        BinOp::SubAssign(_) | BinOp::MulAssign(_) => &["+=", "/="],
        BinOp::DivAssign(_) => &["%=", "*="],
        BinOp::RemAssign(_) => &["/=", "+="],
        BinOp::BitXorAssign(_) => &["|=", "&="],
        BinOp::BitAndAssign(_) => &["|=", "^="],
        BinOp::BitOrAssign(_) => &["&=", "^="],
        BinOp::ShlAssign(_) => &[">>="],
        BinOp::ShrAssign(_) => &["<<="],
        _ => &[],
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if is_test(&item.attrs) {
            return;
        }
        let of = squeezed(self.text(&*item.self_ty));
        let owner = match &item.trait_ {
            Some((_, path, _)) => format!("<{} for {of}>", squeezed(self.text(path))),
            None => of,
        };
        let outer = std::mem::replace(&mut self.owner, owner);
        visit::visit_item_impl(self, item);
        self.owner = outer;
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        let outer = std::mem::replace(&mut self.owner, item.ident.to_string());
        visit::visit_item_trait(self, item);
        self.owner = outer;
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.function(&item.attrs, &item.sig, &item.block);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.attrs, &item.sig, &item.block);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.function(&item.attrs, &item.sig, block);
        }
    }

    fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
        if !binds(&binary.left) && !binds(&binary.right) {
            let (left, right) = (self.text(&*binary.left), self.text(&*binary.right));
            let operator = self.text(&binary.op).to_owned();
            let changes = other_operators(&binary.op)
                .iter()
                .map(|other| Change {
                    what: format!("replace {operator} with {other}"),
                    text: if other.ends_with('=') && !["==", "!=", "<=", ">="].contains(other) {
                        format!("{left} {other} {right}")
                    } else {
                        format!("({left}) {other} ({right})")
                    },
                })
                .collect();
            let line = binary.op.span().start().line;
            self.push(binary.span().byte_range(), line, Kind::Expression, changes);
        }
        visit::visit_expr_binary(self, binary);
    }

    fn visit_expr_unary(&mut self, unary: &'ast syn::ExprUnary) {
        if matches!(unary.op, UnOp::Not(_) | UnOp::Neg(_)) {
            let what = format!("delete {}", self.text(&unary.op));
            let text = self.text(&*unary.expr).to_owned();
            let line = unary.span().start().line;
            let changes = vec![Change { what, text }];
            self.push(unary.span().byte_range(), line, Kind::Expression, changes);
        }
        visit::visit_expr_unary(self, unary);
    }

    fn visit_expr_match(&mut self, of: &'ast syn::ExprMatch) {
        let rest = of.arms.iter().any(|arm| matches!(arm.pat, Pat::Wild(_)) && arm.guard.is_none());
        for arm in &of.arms {
            let pattern = squeezed(self.text(&arm.pat));
            let line = arm.pat.span().start().line;
            let delete =
                Change { what: format!("delete match arm {pattern}"), text: "false".to_owned() };
            match &arm.guard {
                None if rest && !matches!(arm.pat, Pat::Wild(_)) => {
                    let at = arm.pat.span().byte_range().end;
                    self.push(at..at, line, Kind::Arm, vec![delete]);
                }
                Some((_, guard)) if !binds(guard) => {
                    let mut changes: Vec<Change> = ["true", "false"]
                        .into_iter()
                        .map(|text| Change {
                            what: format!("replace match guard of {pattern} with {text}"),
                            text: text.to_owned(),
                        })
                        .collect();
                    // Where other arms take what this one leaves, "false" deletes it.
                    changes.truncate(if rest { 2 } else { 1 });
                    self.push(guard.span().byte_range(), line, Kind::Guard, changes);
                }
                _ => {}
            }
        }
        visit::visit_expr_match(self, of);
    }

    // What the compiler evaluates, and what is no expression.

    fn visit_expr_repeat(&mut self, repeat: &'ast syn::ExprRepeat) {
        self.visit_expr(&repeat.expr);
    }

    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}
    fn visit_item_static(&mut self, _: &'ast syn::ItemStatic) {}
    fn visit_impl_item_const(&mut self, _: &'ast syn::ImplItemConst) {}
    fn visit_trait_item_const(&mut self, _: &'ast syn::TraitItemConst) {}
    fn visit_expr_const(&mut self, _: &'ast syn::ExprConst) {}
    fn visit_generic_argument(&mut self, _: &'ast syn::GenericArgument) {}
    fn visit_type(&mut self, _: &'ast syn::Type) {}
    fn visit_attribute(&mut self, _: &'ast Attribute) {}

    fn visit_pat(&mut self, _: &'ast Pat) {}
}
