//! What a file refers to by a path: `use` trees, and paths in types and expressions. Tests are left out, and
//! declarations of modules, which are no use of them.

use syn::{
    Attribute, File, Item, ItemUse, Path, UseTree,
    visit::{self, Visit},
};

/// Every path in a file that begins with `crate`, `self` or `super`, as its segments.
pub fn of(file: &File) -> Vec<Vec<String>> {
    let mut references = References::default();
    references.visit_file(file);
    references.0
}

#[derive(Default)]
struct References(Vec<Vec<String>>);

impl<'ast> Visit<'ast> for References {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes: &[Attribute] = match item {
            Item::Fn(item) => &item.attrs,
            Item::Impl(item) => &item.attrs,
            Item::Mod(item) => &item.attrs,
            Item::Struct(item) => &item.attrs,
            Item::Use(item) => &item.attrs,
            _ => &[],
        };
        if !attributes.iter().any(is_for_tests) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.add_tree(&mut Vec::new(), &item.tree);
    }

    fn visit_path(&mut self, path: &'ast Path) {
        self.add(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {
        // `pub(crate)` holds a path, and refers to nothing.
    }
}

impl References {
    fn add_tree(&mut self, before: &mut Vec<String>, tree: &UseTree) {
        match tree {
            UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.add_tree(before, &path.tree);
                before.pop();
            }
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.add_tree(before, tree)),
            UseTree::Name(name) => self.add([before.as_slice(), &[name.ident.to_string()]].concat()),
            UseTree::Rename(rename) => self.add([before.as_slice(), &[rename.ident.to_string()]].concat()),
            UseTree::Glob(_) => self.add(before.clone()),
        }
    }

    fn add(&mut self, path: Vec<String>) {
        if path.len() > 1 && matches!(path[0].as_str(), "crate" | "self" | "super") {
            self.0.push(path);
        }
    }
}

/// `#[cfg(test)]`: what other builds may have as well, such as a feature's, counts.
pub fn is_for_tests(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg")
        && attribute.meta.require_list().is_ok_and(|list| list.tokens.to_string().trim() == "test")
}
