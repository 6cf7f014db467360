//! The tree of a regular expression, and what can be read off it.

/// A set of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct ByteSet([u64; 4]);

impl ByteSet {
    pub(crate) fn insert(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }

    pub(crate) fn remove(&mut self, byte: u8) {
        self.0[usize::from(byte >> 6)] &= !(1 << (byte & 63));
    }

    pub(crate) fn contains(&self, byte: u8) -> bool {
        self.0[usize::from(byte >> 6)] & (1 << (byte & 63)) != 0
    }

    pub(crate) fn insert_where(&mut self, wanted: impl Fn(u8) -> bool) {
        for byte in 0..=u8::MAX {
            if wanted(byte) {
                self.insert(byte);
            }
        }
    }

    pub(crate) fn invert(&mut self) {
        for word in &mut self.0 {
            *word = !*word;
        }
    }

    /// Adds the other case of every ASCII letter in the set.
    pub(crate) fn close_under_case(&mut self) {
        for lower in b'a'..=b'z' {
            let upper = lower.to_ascii_uppercase();
            if self.contains(lower) || self.contains(upper) {
                self.insert(lower);
                self.insert(upper);
            }
        }
    }

    /// Every byte but a newline: what `.` matches.
    pub(crate) fn any() -> Self {
        let mut set = Self::default();
        set.invert();
        set.remove(b'\n');
        set
    }
}

impl std::fmt::Debug for ByteSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let members = (0..=u8::MAX).filter(|&byte| self.contains(byte));
        f.debug_set().entries(members.map(|byte| byte.escape_ascii().to_string())).finish()
    }
}

/// A condition on the place between two bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Assertion {
    LineStart,
    LineEnd,
    WordStart,
    WordEnd,
}

impl Assertion {
    /// Whether the condition holds in `text` before the byte at `at`.
    pub(crate) fn holds(self, text: &[u8], at: usize) -> bool {
        let is_word = |byte: u8| byte == b'_' || byte.is_ascii_alphanumeric();
        let before = at.checked_sub(1).map(|i| text[i]);
        let after = text.get(at).copied();
        match self {
            Self::LineStart => before.is_none_or(|b| b == b'\n'),
            Self::LineEnd => after.is_none_or(|b| b == b'\n'),
            Self::WordStart => !before.is_some_and(is_word) && after.is_some_and(is_word),
            Self::WordEnd => before.is_some_and(is_word) && !after.is_some_and(is_word),
        }
    }
}

/// A regular expression.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    /// Matches the empty string.
    Empty,
    Bytes(Vec<u8>),
    Set(ByteSet),
    Assert(Assertion),
    Concat(Vec<Node>),
    Alt(Vec<Node>),
    Repeat {
        node: Box<Node>,
        min: u32,
        max: Option<u32>,
    },
    /// A numbered group; numbers start at 1 and follow the opening parentheses.
    Group(u32, Box<Node>),
    Backref(u32),
    /// Text known only when the pattern is matched: the value of the
    /// substitution with this index.
    Hole(usize),
}

impl Node {
    /// The tree with every hole filled with its value.
    pub(crate) fn fill(&self, values: &[Vec<u8>]) -> Node {
        match self {
            Node::Hole(index) => Node::Bytes(values[*index].clone()),
            Node::Concat(nodes) => Node::Concat(nodes.iter().map(|n| n.fill(values)).collect()),
            Node::Alt(nodes) => Node::Alt(nodes.iter().map(|n| n.fill(values)).collect()),
            Node::Group(group, node) => Node::Group(*group, Box::new(node.fill(values))),
            Node::Repeat { node, min, max } => Node::Repeat { node: Box::new(node.fill(values)), min: *min, max: *max },
            other => other.clone(),
        }
    }

    /// The number of bytes every match has, if they all agree.
    pub(crate) fn width(&self) -> Option<usize> {
        match self {
            Node::Empty | Node::Assert(_) => Some(0),
            Node::Bytes(bytes) => Some(bytes.len()),
            Node::Set(_) => Some(1),
            Node::Concat(nodes) => nodes.iter().map(Node::width).sum(),
            Node::Alt(nodes) => {
                let first = nodes.first()?.width()?;
                nodes.iter().all(|n| n.width() == Some(first)).then_some(first)
            }
            Node::Repeat { node, min, max } if *max == Some(*min) => node.width()?.checked_mul(*min as usize),
            Node::Repeat { .. } | Node::Backref(_) | Node::Hole(_) => None,
            Node::Group(_, node) => node.width(),
        }
    }

    /// Whether the empty string may match.
    pub(crate) fn nullable(&self) -> bool {
        match self {
            Node::Empty | Node::Assert(_) => true,
            Node::Bytes(bytes) => bytes.is_empty(),
            Node::Set(_) => false,
            Node::Concat(nodes) => nodes.iter().all(Node::nullable),
            Node::Alt(nodes) => nodes.iter().any(Node::nullable),
            Node::Repeat { node, min, .. } => *min == 0 || node.nullable(),
            Node::Group(_, node) => node.nullable(),
            Node::Backref(_) | Node::Hole(_) => true,
        }
    }

    /// Whether a match may contain a newline.
    pub(crate) fn spans_lines(&self) -> bool {
        match self {
            Node::Empty | Node::Assert(_) => false,
            Node::Bytes(bytes) => bytes.contains(&b'\n'),
            Node::Set(set) => set.contains(b'\n'),
            Node::Concat(nodes) | Node::Alt(nodes) => nodes.iter().any(Node::spans_lines),
            Node::Repeat { node, .. } | Node::Group(_, node) => node.spans_lines(),
            Node::Backref(_) => false,
            Node::Hole(_) => true,
        }
    }

    pub(crate) fn has_backref(&self) -> bool {
        match self {
            Node::Backref(_) => true,
            Node::Concat(nodes) | Node::Alt(nodes) => nodes.iter().any(Node::has_backref),
            Node::Repeat { node, .. } | Node::Group(_, node) => node.has_backref(),
            _ => false,
        }
    }

    /// Calls `found` with every group, outer ones first.
    pub(crate) fn visit_groups<'a>(&'a self, found: &mut impl FnMut(u32, &'a Node)) {
        match self {
            Node::Concat(nodes) | Node::Alt(nodes) => {
                for node in nodes {
                    node.visit_groups(found);
                }
            }
            Node::Repeat { node, .. } => node.visit_groups(found),
            Node::Group(group, node) => {
                found(*group, node);
                node.visit_groups(found);
            }
            _ => {}
        }
    }

    /// The runs of literal bytes that every match contains in this order;
    /// adjacent literals are joined across groups. The flag says whether the
    /// first run starts the match.
    pub(crate) fn literals(&self) -> (Vec<Vec<u8>>, bool) {
        let mut runs = Runs::default();
        runs.add(self);
        runs.cut();
        (runs.done, runs.first_is_prefix)
    }
}

/// Collects the mandatory literals of a tree.
#[derive(Default)]
struct Runs {
    done: Vec<Vec<u8>>,
    open: Vec<u8>,
    seen_other: bool,
    first_is_prefix: bool,
}

impl Runs {
    fn add(&mut self, node: &Node) {
        match node {
            Node::Empty => {}
            Node::Bytes(bytes) => {
                if self.done.is_empty() && self.open.is_empty() && !bytes.is_empty() {
                    self.first_is_prefix = !self.seen_other;
                }
                self.open.extend_from_slice(bytes);
            }
            Node::Concat(nodes) => nodes.iter().for_each(|n| self.add(n)),
            Node::Group(_, node) => self.add(node),
            // An assertion takes no bytes but must hold, so a scan for the
            // literals around it stays valid.
            Node::Assert(_) => {}
            _ => {
                self.cut();
                self.seen_other = true;
            }
        }
    }

    fn cut(&mut self) {
        if !self.open.is_empty() {
            self.done.push(std::mem::take(&mut self.open));
        }
    }
}
