//! Strongly connected components: the circles of a graph, by Tarjan's algorithm.

use std::collections::BTreeMap;

use crate::source::Module;

/// Every circle of two files or more, each as the sorted names of its files.
pub fn circles(edges: &BTreeMap<Module, Vec<Module>>) -> Vec<Vec<String>> {
    let mut search = Search { edges, number: BTreeMap::new(), stack: Vec::new(), found: Vec::new() };
    for module in edges.keys() {
        if !search.number.contains_key(module) {
            search.visit(module);
        }
    }
    search.found
}

struct Search<'a> {
    edges: &'a BTreeMap<Module, Vec<Module>>,
    /// In the order of the visits; `usize::MAX` once it is known which circle a module belongs to.
    number: BTreeMap<&'a Module, usize>,
    stack: Vec<&'a Module>,
    found: Vec<Vec<String>>,
}

impl<'a> Search<'a> {
    /// The lowest number that can be reached from here.
    fn visit(&mut self, module: &'a Module) -> usize {
        let own = self.number.len();
        self.number.insert(module, own);
        self.stack.push(module);
        let mut lowest = own;
        for next in self.edges.get(module).into_iter().flatten() {
            let reached = match self.number.get(next) {
                Some(known) => *known,
                None => self.visit(next),
            };
            lowest = lowest.min(reached);
        }
        if lowest == own {
            self.close(module);
        }
        lowest
    }

    fn close(&mut self, first: &Module) {
        let mut circle = Vec::new();
        while let Some(module) = self.stack.pop() {
            self.number.insert(module, usize::MAX);
            circle.push(module.join("::"));
            if module == first {
                break;
            }
        }
        if circle.len() > 1 {
            circle.sort();
            self.found.push(circle);
        }
    }
}
