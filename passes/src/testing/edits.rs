//! Random edits of schedules, sensible ones and others.

use sutura_dialects::r#dyn::Poly;
use sutura_dialects::schedule::{
    Bring, Dim, Kernel, Launch, Loop, Node, Operand, Place, Prefetch, Rewrite, Runs, Split, StageName, Stored, Tile,
    TreeAttr,
};

/// Random numbers of a seed (splitmix64).
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`, which is not 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    pub(crate) fn yes(&mut self) -> bool {
        self.below(2) == 0
    }

    pub(crate) fn of<'l, T>(&mut self, list: &'l [T]) -> &'l T {
        &list[self.below(list.len())]
    }

    pub(crate) fn dim(&mut self) -> Dim {
        Dim(self.below(5))
    }

    pub(crate) fn split(&mut self) -> Split {
        match self.below(5) {
            0 | 1 => Split::One,
            2 | 3 => Split::By(*self.of(&[1, 2, 3, 4, 5, 8, 16, 32, 4096])),
            _ => Split::Even(*self.of(&[1, 2, 3, 7])),
        }
    }
}

/// Changes something of a tree.
pub(crate) fn edit(tree: &mut TreeAttr, dice: &mut Dice) {
    if dice.below(5) == 0 {
        return edit_program(tree, dice);
    }
    let mut kernels: Vec<&mut Kernel> =
        tree.versions.iter_mut().flat_map(|v| &mut v.launches).flat_map(|l| &mut l.kernels).collect();
    if kernels.is_empty() {
        return;
    }
    let at = dice.below(kernels.len());
    let body = &mut kernels[at].body;
    let mut bodies = 0;
    each_body(body, &mut |_| bodies += 1);
    let chosen = dice.below(bodies);
    let mut number = 0;
    each_body(body, &mut |nodes| {
        if number == chosen {
            edit_nodes(nodes, dice);
        }
        number += 1;
    });
}

/// Visits lists of nodes, the outermost first.
fn each_body(nodes: &mut Vec<Node>, visit: &mut dyn FnMut(&mut Vec<Node>)) {
    visit(nodes);
    for node in nodes {
        match node {
            Node::Loop(Loop { body, .. }) => each_body(body, visit),
            Node::Operand(Operand { body, .. }) if !body.is_empty() => each_body(body, visit),
            _ => {}
        }
    }
}

fn edit_program(tree: &mut TreeAttr, dice: &mut Dice) {
    let at = dice.below(tree.versions.len());
    let last = at + 1 == tree.versions.len();
    let version = &mut tree.versions[at];
    let launches = &mut version.launches;
    let launch = if launches.is_empty() { return } else { dice.below(launches.len()) };
    let next = (launch + 1) % launches.len();
    match dice.below(10) {
        9 => launches[launch].kernels[0].threads = Some(*dice.of(&[1, 32, 48, 1024])),
        0 => drop(launches.remove(launch)),
        1 => launches.insert(launch, launches[launch].clone()),
        2 => launches.swap(launch, next),
        3 if launch != next => {
            let kernels = launches.remove(next).kernels;
            let launch = launch.min(launches.len() - 1);
            launches[launch].kernels.extend(kernels);
        }
        4 if launches[launch].kernels.len() > 1 => {
            let kernel = launches[launch].kernels.pop().expect("more than one");
            launches.insert(next, Launch { kernels: vec![kernel] });
        }
        5 => drop(version.rewrites.pop()),
        6 => {
            let (a, b) = (dice.dim(), dice.dim());
            let stage = |dim: Dim| StageName { number: dim.0, name: String::new() };
            version.rewrites.push(match dice.below(4) {
                0 => Rewrite::Join(a, b),
                1 => Rewrite::Fuse(a, b),
                _ => Rewrite::Hoist(stage(a), stage(b)),
            });
        }
        7 if !last => drop(tree.versions.remove(at)),
        8 if launch != next => {
            // One kernel that does what two did.
            let kernels = launches.remove(next).kernels;
            let launch = launch.min(launches.len() - 1);
            let nodes = kernels.into_iter().flat_map(|kernel| kernel.body);
            launches[launch].kernels[0].body.extend(nodes);
        }
        _ => {}
    }
}

fn edit_nodes(nodes: &mut Vec<Node>, dice: &mut Dice) {
    if nodes.is_empty() {
        return;
    }
    let at = dice.below(nodes.len());
    let other = dice.below(nodes.len());
    match dice.below(12) {
        0 => drop(nodes.remove(at)),
        1 => nodes.insert(other, nodes[at].clone()),
        2 => nodes.swap(at, other),
        3 => {
            let end = at + 1 + dice.below(nodes.len() - at);
            let body: Vec<Node> = nodes.drain(at..end).collect();
            let runs = *dice.of(&[Runs::InTurn, Runs::InTurn, Runs::InTurn, Runs::InTurn, Runs::Grid, Runs::Units]);
            let (dim, split) = (dice.dim(), dice.split());
            nodes.insert(at, Node::Loop(Loop::new(dim, split, runs, body)));
        }
        4 => {
            if let Node::Loop(inner) = &mut nodes[at] {
                let body = std::mem::take(&mut inner.body);
                nodes.splice(at..=at, body);
            }
        }
        5 if at != other => {
            let node = nodes.remove(at);
            let other = other.min(nodes.len() - 1);
            match &mut nodes[other] {
                Node::Loop(inner) if dice.yes() => inner.body.push(node),
                Node::Loop(inner) => inner.body.insert(0, node),
                _ => nodes.insert(other, node),
            }
        }
        6 => {
            if let Node::Loop(inner) = &mut nodes[at]
                && !inner.body.is_empty()
            {
                let node = if dice.yes() { inner.body.remove(0) } else { inner.body.pop().expect("it has some") };
                let place = if dice.yes() { at } else { at + 1 };
                nodes.insert(place, node);
            }
        }
        7 => {
            // Two loops in each other change places.
            if let Node::Loop(outer) = &mut nodes[at]
                && let [Node::Loop(inner)] = &mut outer.body[..]
            {
                std::mem::swap(&mut outer.dim, &mut inner.dim);
                std::mem::swap(&mut outer.split, &mut inner.split);
            }
        }
        _ => edit_node(&mut nodes[at], dice),
    }
}

fn edit_node(node: &mut Node, dice: &mut Dice) {
    match node {
        Node::Loop(inner) => match dice.below(8) {
            3 => inner.unroll = Some(*dice.of(&[1, 2, 4, 64])),
            4 => inner.inside = !inner.inside,
            0 => inner.dim = dice.dim(),
            1 => inner.runs = *dice.of(&[Runs::InTurn, Runs::Grid, Runs::Units]),
            2 => inner.online = dice.yes().then(|| StageName { number: dice.below(6), name: String::new() }),
            _ => inner.split = dice.split(),
        },
        Node::Place(place) | Node::Join(place) if dice.below(3) == 0 => edit_place(place, dice),
        Node::Place(place) if dice.below(5) == 0 => *node = Node::Join(place.clone()),
        Node::Join(place) if dice.below(3) == 0 => *node = Node::Place(place.clone()),
        Node::Place(place) if dice.below(8) == 0 => place.columnwise = !place.columnwise,
        Node::Place(place) | Node::Join(place) => edit_tile(&mut place.tile, dice),
        Node::Operand(operand) => match dice.below(8) {
            5 => {
                operand.prefetch =
                    dice.yes().then(|| Prefetch { bytes: Some(64), next: dice.yes().then(|| when(dice)) })
            }
            3 => operand.pitch = dice.yes().then(|| *dice.of(&[1, 4, 12, 20, 32, 36, 40])),
            4 if dice.yes() => operand.asynchronous = !operand.asynchronous,
            4 => operand.ahead = !operand.ahead,
            0 => operand.input = dice.below(3),
            1 => operand.stage.number = dice.below(6),
            2 => operand.to = *dice.of(&[Bring::Tile, Bring::Cache, Bring::Pack]),
            _ => edit_tile(&mut operand.tile, dice),
        },
    }
}

/// Sizes that decide where a clause holds.
fn when(dice: &mut Dice) -> Vec<Poly> {
    let size = *dice.of(&["M - 2", "-N + 9", "4*M - 7", "K"]);
    vec![Poly::parse(size).expect("a size")]
}

fn edit_place(place: &mut Place, dice: &mut Dice) {
    match dice.below(6) {
        3 => place.home = dice.yes().then(|| StageName { number: dice.below(6), name: String::new() }),
        4 => place.store = Some(Stored::Stream { when: when(dice), defer: dice.yes() }),
        5 => place.store = dice.yes().then_some(Stored::Kept),
        0 => place.contract = !place.contract,
        _ => place.stage.number = dice.below(8),
    }
}

fn edit_tile(tile: &mut Tile, dice: &mut Dice) {
    match dice.below(6) {
        0 => tile.rows = dice.yes().then(|| dice.dim()),
        1 => tile.cols = dice.yes().then(|| dice.dim()),
        2 => std::mem::swap(&mut tile.rows, &mut tile.cols),
        3 => tile.space = (*dice.of(&["l1", "vec", "", "dram", "shared", "?"])).to_owned(),
        _ => tile.padded = !tile.padded,
    }
}
