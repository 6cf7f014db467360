//! Where loops and nodes of a version are.

use sutura_ir::Context;

use super::names::{DimLoop, LoopName, Spot, What};
use super::pieces::Piece;
use crate::schedule::{Dim, Kernel, Loop, Node, Operand, Tile, Version, stage_text};

/// What is found, or why not.
pub(super) type Found<T> = Result<T, String>;

/// Where a node is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Path {
    /// Its launch, and its kernel there.
    pub(super) kernel: (usize, usize),
    /// Its number in each body around it, the outermost first, and then its own.
    pub(super) nodes: Vec<usize>,
}

/// A version whose tree is looked at.
#[derive(Clone, Copy)]
pub(super) struct View<'v> {
    pub(super) cx: &'v Context,
    pub(super) version: &'v Version,
}

/// The nodes in a node.
fn body_of(node: &Node) -> &[Node] {
    match node {
        Node::Loop(Loop { body, .. }) | Node::Operand(Operand { body, .. }) => body,
        Node::Place(_) | Node::Join(_) => &[],
    }
}

/// The tile of a node that is no loop.
pub(super) fn tile_of(node: &Node) -> Option<&Tile> {
    match node {
        Node::Place(place) | Node::Join(place) => Some(&place.tile),
        Node::Operand(operand) => Some(&operand.tile),
        Node::Loop(_) => None,
    }
}

fn is_at(node: &Node, spot: &Spot) -> bool {
    match (node, spot.what) {
        (Node::Place(place), What::Place) | (Node::Join(place), What::Join) => place.stage.number == spot.stage.number,
        (Node::Operand(operand), What::Input(input)) => {
            operand.stage.number == spot.stage.number && operand.input == input
        }
        _ => false,
    }
}

/// The paths of nodes; of an operand with a body that copies it, that of the outer one, or the inner one.
struct Search<'s> {
    spot: &'s Spot,
    inner: bool,
    path: Vec<usize>,
    found: Vec<Vec<usize>>,
}

impl Search<'_> {
    fn nodes(&mut self, nodes: &[Node]) {
        for (i, node) in nodes.iter().enumerate() {
            self.path.push(i);
            let (own, before) = (is_at(node, self.spot), self.found.len());
            if !own || self.inner {
                self.nodes(body_of(node));
            }
            if own && self.found.len() == before {
                self.found.push(self.path.clone());
            }
            self.path.pop();
        }
    }
}

impl<'v> View<'v> {
    /// The kernels with their places, in the order of launches.
    fn kernels(self) -> impl Iterator<Item = ((usize, usize), &'v Kernel)> {
        let launches = self.version.launches.iter().enumerate();
        launches.flat_map(|(l, launch)| launch.kernels.iter().enumerate().map(move |(k, kernel)| ((l, k), kernel)))
    }

    /// Where something is.
    pub(super) fn find(self, spot: &Spot) -> Found<Path> {
        self.search(spot, false)
    }

    fn search(self, spot: &Spot, inner: bool) -> Found<Path> {
        let mut all: Vec<(usize, Path)> = Vec::new();
        for (number, (place, kernel)) in self.kernels().enumerate() {
            if spot.kernel.is_some_and(|wanted| wanted != number) {
                continue;
            }
            let mut search = Search { spot, inner, path: Vec::new(), found: Vec::new() };
            search.nodes(&kernel.body);
            all.extend(search.found.into_iter().map(|nodes| (number, Path { kernel: place, nodes })));
        }
        match &all[..] {
            [(_, only)] => Ok(only.clone()),
            [] => Err(format!("{} {}", spot.title(self.cx), self.nowhere(spot))),
            [(first, _), .., (last, _)] if first != last => Err(format!(
                "{} is in the kernels {first} and {last}; '{} kernel {first}' is one of the two",
                spot.title(self.cx),
                spot.text(self.cx)
            )),
            [(kernel, _), ..] => Err(format!("{} is several times in kernel {kernel}", spot.title(self.cx))),
        }
    }

    fn nowhere(self, spot: &Spot) -> String {
        let is = match spot.what {
            What::Place => "is not placed",
            What::Join => "is not made",
            What::Input(_) => "is not brought or packed",
        };
        match spot.kernel {
            Some(kernel) if kernel >= self.kernels().count() => {
                format!("{is} in kernel {kernel}: there are {}", self.kernels().count())
            }
            Some(kernel) => format!("{is} in kernel {kernel}"),
            None => is.to_owned(),
        }
    }

    /// The nodes of the body that holds node `depth` of a path.
    pub(super) fn body(self, path: &Path, depth: usize) -> &'v [Node] {
        let mut nodes = &self.version.launches[path.kernel.0].kernels[path.kernel.1].body[..];
        for at in &path.nodes[..depth] {
            nodes = body_of(&nodes[*at]);
        }
        nodes
    }

    /// Node `depth` of a path.
    pub(super) fn node(self, path: &Path, depth: usize) -> &'v Node {
        &self.body(path, depth)[path.nodes[depth]]
    }

    /// The node at the end of a path.
    pub(super) fn end(self, path: &Path) -> &'v Node {
        self.node(path, path.nodes.len() - 1)
    }

    /// A loop of a path.
    pub(super) fn loop_at(self, path: &Path, depth: usize) -> Option<&'v Loop> {
        match self.node(path, depth) {
            Node::Loop(l) => Some(l),
            _ => None,
        }
    }

    /// The loops around the end of a path, by their depth.
    pub(super) fn loops(self, path: &Path) -> Vec<(usize, &'v Loop)> {
        (0..path.nodes.len() - 1).filter_map(|depth| Some((depth, self.loop_at(path, depth)?))).collect()
    }

    /// The path of what a loop is named by, and the loops over a dim around it; of an operand that loops copy, these too.
    pub(super) fn over(self, spot: &Spot, dim: Dim) -> Found<(Path, Vec<usize>)> {
        let path = self.search(spot, true)?;
        let over = self.loops(&path).into_iter().filter(|(_, l)| l.dim == dim).map(|(depth, _)| depth).collect();
        Ok((path, over))
    }

    /// A path through a loop, and the depth of the loop.
    pub(super) fn find_loop(self, own: DimLoop, spot: &Spot) -> Found<(Path, usize)> {
        let (path, over) = self.over(spot, own.dim)?;
        match over.get(own.number) {
            Some(depth) => Ok((path, *depth)),
            None => Err(self.no_loop(own, spot, over.len())),
        }
    }

    /// The same of a name.
    pub(super) fn named_loop(self, name: &LoopName) -> Found<(Path, usize)> {
        self.find_loop(name.own, &name.spot)
    }

    /// Why there is no such loop.
    pub(super) fn no_loop(self, own: DimLoop, spot: &Spot, count: usize) -> String {
        let (dim, title) = (own.dim, spot.title(self.cx));
        match count {
            0 => format!("no loop over {dim} lies around {title}"),
            1 => format!("only one loop over {dim} lies around {title}: there is no '{}'", own.text(self.cx)),
            _ => format!("{count} loops over {dim} lie around {title}: there is no '{}'", own.text(self.cx)),
        }
    }

    /// `stage 'e:0'`, `operand 'p:0.1'`, `the loop over d0`
    pub(super) fn title(self, node: &Node) -> String {
        match node {
            Node::Loop(l) => format!("the loop over {}", l.dim),
            Node::Place(place) => format!("stage '{}'", stage_text(self.cx, &place.stage)),
            Node::Join(place) => format!("the join of stage '{}'", stage_text(self.cx, &place.stage)),
            Node::Operand(operand) => format!("operand '{}.{}'", stage_text(self.cx, &operand.stage), operand.input),
        }
    }
}

/// The nodes of the body that holds node `depth` of a path, to be changed.
pub(super) fn body_mut<'v>(version: &'v mut Version, path: &Path, depth: usize) -> &'v mut Vec<Node> {
    let mut nodes = &mut version.launches[path.kernel.0].kernels[path.kernel.1].body;
    for at in &path.nodes[..depth] {
        nodes = match &mut nodes[*at] {
            Node::Loop(Loop { body, .. }) | Node::Operand(Operand { body, .. }) => body,
            Node::Place(_) | Node::Join(_) => unreachable!("a path goes through nodes with bodies"),
        };
    }
    nodes
}

/// Node `depth` of a path, to be changed.
pub(super) fn node_mut<'v>(version: &'v mut Version, path: &Path, depth: usize) -> &'v mut Node {
    &mut body_mut(version, path, depth)[path.nodes[depth]]
}

/// The node at the end of a path, to be changed.
pub(super) fn end_mut<'v>(version: &'v mut Version, path: &Path) -> &'v mut Node {
    node_mut(version, path, path.nodes.len() - 1)
}

/// The tile of a node, to be changed.
pub(super) fn tile_mut(node: &mut Node) -> Option<&mut Tile> {
    match node {
        Node::Place(place) | Node::Join(place) => Some(&mut place.tile),
        Node::Operand(operand) => Some(&mut operand.tile),
        Node::Loop(_) => None,
    }
}

/// Takes a node away, and what is left empty by that: loops around it, its kernel, its launch.
///
/// # Errors
/// When what computes an operand would be gone.
pub(super) fn remove(cx: &Context, version: &mut Version, path: &Path) -> Found<()> {
    let mut depth = path.nodes.len() - 1;
    loop {
        let body = body_mut(version, path, depth);
        body.remove(path.nodes[depth]);
        if !body.is_empty() {
            return Ok(());
        }
        if depth == 0 {
            break;
        }
        depth -= 1;
        let view = View { cx, version };
        let around = view.node(path, depth);
        if let Node::Operand(_) = around {
            let title = view.title(around);
            return Err(format!("nothing would be left in the body of {title}"));
        }
    }
    let (launch, kernel) = path.kernel;
    version.launches[launch].kernels.remove(kernel);
    if version.launches[launch].kernels.is_empty() {
        version.launches.remove(launch);
    }
    Ok(())
}
