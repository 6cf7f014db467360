//! From the protobuf messages to the typed model.

use bytes::Bytes;
use indexmap::{IndexMap, map::Entry};
use prost::Message;
use rustc_hash::FxHashSet;

use super::{
    IR_VERSIONS, OPSETS,
    error::{OnnxError, Problem},
    external::{ExternalData, Origin},
    functions::{Functions, Refusal},
    model::{Attribute, AttributeKind, Dim, FunctionName, Graph, Node, OnnxModel, ValueInfo, ValueType},
    proto::{self, tensor_shape_proto::dimension, type_proto},
    sniff,
    tensor::{ElementType, Tensor, TensorData, element_count},
    validate,
};

/// Graphs in each other, as nodes of functions may have them; fewer than that are in one protobuf message.
const MOST_GRAPHS: usize = 64;
/// Problems with which no more functions are read.
const MOST_PROBLEMS: usize = 1_000;

/// Decodes and checks a whole model.
pub(super) fn model(bytes: Bytes, origin: Option<&Origin>) -> Result<OnnxModel, OnnxError> {
    let message = message(bytes)?;
    let mut decoder = Decoder::new(origin);
    let model = decoder.model(message);
    if let Some(error) = decoder.external.too_large() {
        return Err(error);
    }
    let mut problems = decoder.problems;
    validate::graph(&model.graph, &decoder.broken, &mut problems);
    match (problems.is_empty(), decoder.unsupported.is_empty()) {
        (true, true) => Ok(model),
        (true, false) => Err(OnnxError::Unsupported(decoder.unsupported)),
        (false, _) => Err(OnnxError::Invalid(problems)),
    }
}

/// Checks a tensor that belongs to no model.
pub(super) fn lone_tensor(message: proto::TensorProto) -> Result<Tensor, String> {
    Decoder::new(None).try_tensor(message)
}

/// The outermost message, or what the bytes are instead.
fn message(bytes: Bytes) -> Result<proto::ModelProto, OnnxError> {
    if bytes.is_empty() {
        return Err(OnnxError::Empty);
    }
    let other = |error: OnnxError| match sniff::file_kind(&bytes) {
        Some(kind) => OnnxError::OtherFormat { kind },
        None => error,
    };
    sniff::check_wire(&bytes).map_err(other)?;
    let message = proto::ModelProto::decode(bytes.clone()).map_err(|e| other(e.into()))?;
    // Some other files happen to be made of unknown fields.
    if message.graph.is_none() && message.ir_version.is_none() {
        return Err(other(OnnxError::NotProtobuf { offset: 0 }));
    }
    Ok(message)
}

struct Decoder<'a> {
    external: ExternalData<'a>,
    /// Initializers that were dropped because of a problem; their uses are
    /// none.
    broken: FxHashSet<String>,
    problems: Vec<Problem>,
    /// Versions that are not read; others may be right.
    unsupported: Vec<Problem>,
    warnings: Vec<Problem>,
    functions: Functions,
    /// Versions of operators that nodes are of, by domain.
    opsets: IndexMap<String, i64>,
    /// Graphs around what is decoded.
    depth: usize,
}

impl<'a> Decoder<'a> {
    fn new(origin: Option<&'a Origin>) -> Self {
        Self {
            external: ExternalData::new(origin),
            broken: FxHashSet::default(),
            problems: Vec::new(),
            unsupported: Vec::new(),
            warnings: Vec::new(),
            functions: Functions::default(),
            opsets: IndexMap::new(),
            depth: 0,
        }
    }

    fn problem(&mut self, place: &str, message: impl Into<String>) {
        self.problems.push(Problem::new(place, message));
    }

    fn warning(&mut self, place: &str, message: impl Into<String>) {
        self.warnings.push(Problem::new(place, message));
    }

    fn model(&mut self, mut m: proto::ModelProto) -> OnnxModel {
        let ir_version = m.ir_version();
        if !IR_VERSIONS.contains(&ir_version) {
            let (first, last) = IR_VERSIONS.into_inner();
            let message = format!("ir_version {ir_version} is not supported ({first} to {last} are)");
            self.unsupported.push(Problem::new("model", message));
        }
        if !m.training_info.is_empty() {
            self.warning("model", "training information is ignored");
        }
        if m.opset_import.is_empty() && (1..3).contains(&ir_version) {
            m.opset_import.push(proto::OperatorSetIdProto { domain: None, version: Some(1) });
        }
        let (functions, twice) = Functions::new(std::mem::take(&mut m.functions), m.graph.as_ref());
        for function in twice {
            self.problem(&function, "is defined twice");
        }
        let uses_own = |n: &proto::NodeProto| domain(n.domain()).is_empty() && functions.called_by(n).is_none();
        let uses_own = m.graph.as_ref().is_some_and(|g| g.node.iter().any(uses_own));
        let opsets = self.opsets(&m.opset_import, "model", uses_own);
        self.opsets = opsets.clone();
        let names = functions.keys().cloned();
        let names = names.map(|(domain, name, overload)| FunctionName { domain, name, overload }).collect();
        self.functions = functions;
        let producer = format!("{} {}", m.producer_name(), m.producer_version());
        let graph = match m.graph {
            Some(graph) => self.graph(graph, true),
            None => {
                self.problem("model", "has no graph");
                Graph::default()
            }
        };
        self.defaults(&graph, ir_version);
        OnnxModel {
            ir_version,
            producer: producer.trim().to_owned(),
            opsets,
            functions: names,
            graph,
            extension: None,
            warnings: std::mem::take(&mut self.warnings),
        }
    }

    /// The operator sets of a model or a function; `uses_own`: some node is an operator of ONNX's own.
    fn opsets(&mut self, imports: &[proto::OperatorSetIdProto], place: &str, uses_own: bool) -> IndexMap<String, i64> {
        let mut opsets = IndexMap::new();
        for import in imports {
            let domain = domain(import.domain());
            let old = opsets.insert(domain.to_owned(), import.version());
            if old.is_some_and(|old| old != import.version()) {
                self.problem(place, format!("imports two versions of operator set `{domain}`"));
            }
        }
        match opsets.get("") {
            // It need not say so where it uses none of them.
            None if !uses_own && (!opsets.is_empty() || place != "model") => {
                opsets.insert(String::new(), *OPSETS.end());
            }
            None => self.problem(place, "does not say which version of ONNX's operators it uses"),
            Some(version) if *version < 1 => {
                let message = format!("there is no opset {version}");
                self.problem(place, message);
            }
            Some(version) if !OPSETS.contains(version) => {
                let (first, last) = OPSETS.into_inner();
                let message = format!(
                    "opset {version} is not supported ({first} to {last} are); \
                     onnx.version_converter can convert the model"
                );
                self.unsupported.push(Problem::new(place, message));
            }
            Some(_) => {}
        }
        opsets
    }

    /// Recursion is bounded by the protobuf decoder's limit on nesting, and where functions are called in it by that of graphs.
    fn graph(&mut self, mut g: proto::GraphProto, outermost: bool) -> Graph {
        if self.depth >= MOST_GRAPHS {
            let message = format!("has graphs in each other, more than {MOST_GRAPHS}, with those of functions");
            self.unsupported.push(Problem::new("model", message));
            return Graph::default();
        }
        let mut infos = |list: Vec<proto::ValueInfoProto>, what: &str| -> Vec<ValueInfo> {
            list.into_iter().map(|v| self.value_info(v, what)).collect()
        };
        let inputs = infos(g.input, "input");
        let outputs = infos(g.output, "output");
        let value_info = infos(g.value_info, "value");
        if outermost {
            for input in inputs.iter().filter(|i| i.ty == ValueType::Unknown) {
                self.problem(&format!("input `{}`", input.name), "has no type");
            }
        }
        let mut initializers = IndexMap::with_capacity(g.initializer.len());
        for tensor in g.initializer {
            let place = format!("initializer `{}`", tensor.name());
            if tensor.name().is_empty() {
                self.problem("initializer", "has no name");
                continue;
            }
            let name = tensor.name().to_owned();
            let Some(tensor) = self.tensor(tensor, &place) else {
                self.broken.insert(name);
                continue;
            };
            match initializers.entry(name) {
                Entry::Occupied(_) => self.problem(&place, "is given twice"),
                Entry::Vacant(entry) => {
                    entry.insert(tensor);
                }
            }
        }
        self.depth += 1;
        let mut nodes = Vec::with_capacity(g.node.len());
        self.nodes(std::mem::take(&mut g.node), &mut nodes);
        self.depth -= 1;
        let sparse = g.sparse_initializer.iter();
        let sparse_initializers = sparse.map(|s| s.values.as_ref().map_or("", |v| v.name()).to_owned());
        Graph {
            name: g.name.unwrap_or_default(),
            sparse_initializers: sparse_initializers.collect(),
            nodes,
            inputs,
            outputs,
            value_info,
            initializers,
        }
    }

    /// Inputs that have an initializer. ONNX calls it a default value; up to IR
    /// version 3 every weight had to be listed so.
    fn defaults(&mut self, graph: &Graph, ir_version: i64) {
        let mut fixed = Vec::new();
        for input in &graph.inputs {
            if let Some(tensor) = graph.initializers.get(&input.name) {
                if agrees(&input.ty, tensor) {
                    fixed.push(format!("`{}`", input.name));
                } else {
                    let place = format!("input `{}`", input.name);
                    self.problem(&place, "has an initializer of another type or shape");
                }
            }
        }
        if ir_version > 3 && !fixed.is_empty() {
            let message = format!(
                "inputs with an initializer become constants and cannot be given at run time: {}",
                fixed.join(", ")
            );
            self.warning("model", message);
        }
    }

    fn value_info(&mut self, v: proto::ValueInfoProto, what: &str) -> ValueInfo {
        let name = v.name.unwrap_or_default();
        let place = format!("{what} `{name}`");
        if name.is_empty() {
            self.problem(what, "has no name");
        }
        let ty = self.value_type(v.r#type, &place);
        ValueInfo { name, ty }
    }

    /// Recursion is bounded by the protobuf decoder's limit on nesting.
    fn value_type(&mut self, ty: Option<proto::TypeProto>, place: &str) -> ValueType {
        use type_proto::Value;
        let mut inner = |ty: Option<Box<proto::TypeProto>>| Box::new(self.value_type(ty.map(|ty| *ty), place));
        match ty.and_then(|t| t.value) {
            None => ValueType::Unknown,
            Some(Value::TensorType(t)) => self.tensor_type(t, place),
            Some(Value::SequenceType(t)) => ValueType::Sequence { of: inner(t.elem_type), tensors: None },
            Some(Value::OptionalType(t)) => ValueType::Optional { of: inner(t.elem_type), there: None },
            Some(Value::MapType(_)) => ValueType::Other("map"),
            Some(Value::SparseTensorType(_)) => ValueType::Other("sparse tensor"),
            Some(Value::OpaqueType(_)) => ValueType::Other("opaque"),
        }
    }

    fn tensor_type(&mut self, t: type_proto::Tensor, place: &str) -> ValueType {
        let Some(element) = ElementType::from_code(t.elem_type().into()) else {
            self.problem(place, format!("has unknown element type {}", t.elem_type()));
            return ValueType::Unknown;
        };
        let dims = t.shape.map(|s| s.dim.into_iter().enumerate());
        let shape = dims.map(|dims| dims.map(|(axis, d)| self.dim(d, axis, place)).collect());
        ValueType::Tensor { element, shape }
    }

    fn dim(&mut self, d: proto::tensor_shape_proto::Dimension, axis: usize, place: &str) -> Dim {
        match d.value {
            None => Dim::Unknown,
            Some(dimension::Value::DimParam(name)) if name.is_empty() => Dim::Unknown,
            Some(dimension::Value::DimParam(name)) => Dim::Named(name),
            Some(dimension::Value::DimValue(-1)) => {
                self.warning(place, format!("dim {axis} is -1, taken as dynamic"));
                Dim::Unknown
            }
            Some(dimension::Value::DimValue(n)) => match u64::try_from(n) {
                Ok(n) => Dim::Known(n),
                Err(_) => {
                    self.problem(place, format!("dim {axis} is {n}"));
                    Dim::Unknown
                }
            },
        }
    }

    /// Adds nodes, those of a function in the place of its call.
    fn nodes(&mut self, list: Vec<proto::NodeProto>, nodes: &mut Vec<Node>) {
        for node in list {
            match self.functions.called_by(&node) {
                Some(function) => self.call(function, &node, nodes),
                None => {
                    let node = self.node(nodes.len(), node);
                    nodes.push(node);
                }
            }
        }
    }

    /// Adds the nodes of a function that `call` calls.
    fn call(&mut self, index: usize, call: &proto::NodeProto, nodes: &mut Vec<Node>) {
        let made = match self.problems.len() < MOST_PROBLEMS {
            true => self.functions.enter(index, call, nodes.len()),
            false => Err(Refusal::Before),
        };
        let inner = match made {
            Ok(inner) => inner,
            Err(refusal) => {
                // Uses of what it would have made are no problems of their own.
                self.broken.extend(call.output.iter().cloned());
                let place = format!("node `{}` ({})", call.name(), call.op_type());
                match refusal {
                    Refusal::Call(message) => self.problem(&place, message),
                    Refusal::Limit(message) => self.unsupported.push(Problem::new(place, message)),
                    Refusal::Function { name, problems } => {
                        problems.into_iter().for_each(|problem| self.problem(&name, problem));
                    }
                    Refusal::Before => {}
                }
                return;
            }
        };
        let function = self.functions.function(index);
        let own = |n: &proto::NodeProto| domain(n.domain()).is_empty() && self.functions.called_by(n).is_none();
        let uses_own = function.node.iter().any(own);
        let label = self.functions.label(index);
        let found = self.problems.len() + self.unsupported.len();
        let opsets = self.opsets(&function.opset_import, &label, uses_own);
        if self.problems.len() + self.unsupported.len() > found {
            self.functions.is_broken(index);
        }
        let outer = std::mem::replace(&mut self.opsets, opsets);
        self.nodes(inner, nodes);
        self.opsets = outer;
        self.functions.leave();
    }

    fn node(&mut self, index: usize, n: proto::NodeProto) -> Node {
        let optional = |names: Vec<String>| {
            let names = names.into_iter().map(|n| Some(n).filter(|n| !n.is_empty()));
            names.collect::<Vec<_>>()
        };
        let domain = domain(n.domain.as_deref().unwrap_or_default()).to_owned();
        let newest = Some(*OPSETS.end()).filter(|_| domain.is_empty());
        let mut node = Node {
            name: n.name.unwrap_or_default(),
            index,
            op_type: n.op_type.unwrap_or_default(),
            opset: self.opsets.get(&domain).copied().or(newest),
            domain,
            inputs: optional(n.input),
            outputs: optional(n.output),
            attributes: IndexMap::with_capacity(n.attribute.len()),
        };
        let place = node.to_string();
        if node.op_type.is_empty() {
            self.problem(&place, "has no operator");
        }
        for attribute in n.attribute {
            let name = attribute.name().to_owned();
            if name.is_empty() {
                self.problem(&place, "has an attribute without a name");
            } else if node.attributes.contains_key(&name) {
                self.problem(&place, format!("has attribute `{name}` twice"));
            } else if let Some(value) = self.attribute(attribute, &place) {
                node.attributes.insert(name, value);
            }
        }
        node
    }

    fn attribute(&mut self, a: proto::AttributeProto, node: &str) -> Option<Attribute> {
        let place = format!("{node}, attribute `{}`", a.name());
        if let Some(reference) = a.ref_attr_name.as_deref().filter(|r| !r.is_empty()) {
            self.problem(&place, format!("refers to function attribute `{reference}` outside a function"));
            return None;
        }
        let code = a.r#type.unwrap_or(0);
        let kind = match AttributeKind::from_code(code) {
            Some(kind) => kind,
            None if code == 0 => match implied_kind(&a) {
                Some(kind) => kind,
                None => {
                    self.problem(&place, "has neither a type nor a value");
                    return None;
                }
            },
            None => {
                self.problem(&place, format!("has unknown attribute type {code}"));
                return None;
            }
        };
        if let Some(other) = implied_kind(&a).filter(|&k| k != kind) {
            self.problem(&place, format!("says it is {kind} but holds {other}"));
            return None;
        }
        self.attribute_value(a, kind, &place)
    }

    /// The value of an attribute of kind `kind`. Scalars that are left out are
    /// zero and lists empty, as protobuf has it.
    fn attribute_value(&mut self, a: proto::AttributeProto, kind: AttributeKind, place: &str) -> Option<Attribute> {
        Some(match kind {
            AttributeKind::Float => Attribute::Float(a.f()),
            AttributeKind::Int => Attribute::Int(a.i()),
            AttributeKind::String => Attribute::String(a.s.unwrap_or_default()),
            AttributeKind::Floats => Attribute::Floats(a.floats),
            AttributeKind::Ints => Attribute::Ints(a.ints),
            AttributeKind::Strings => Attribute::Strings(a.strings),
            AttributeKind::Tensor => match a.t {
                Some(t) => Attribute::Tensor(self.tensor(t, place)?),
                None => {
                    self.problem(place, "says it is tensor but holds none");
                    return None;
                }
            },
            AttributeKind::Graph => match a.g {
                Some(g) => Attribute::Graph(Box::new(self.graph(g, false))),
                None => {
                    self.problem(place, "says it is graph but holds none");
                    return None;
                }
            },
            AttributeKind::Tensors => {
                let tensors = a.tensors.into_iter();
                Attribute::Tensors(tensors.filter_map(|t| self.tensor(t, place)).collect())
            }
            AttributeKind::Graphs => {
                let graphs = a.graphs.into_iter();
                Attribute::Graphs(graphs.map(|g| self.graph(g, false)).collect())
            }
            AttributeKind::SparseTensor
            | AttributeKind::SparseTensors
            | AttributeKind::TypeProto
            | AttributeKind::TypeProtos => Attribute::Opaque(kind),
        })
    }

    fn tensor(&mut self, t: proto::TensorProto, place: &str) -> Option<Tensor> {
        match self.try_tensor(t) {
            Ok(tensor) => Some(tensor),
            Err(message) => {
                self.problem(place, message);
                None
            }
        }
    }

    fn try_tensor(&mut self, t: proto::TensorProto) -> Result<Tensor, String> {
        let element = ElementType::from_code(t.data_type().into())
            .ok_or_else(|| format!("has unknown element type {}", t.data_type()))?;
        let dims = t.dims.iter().map(|&d| u64::try_from(d));
        let dims: Vec<u64> =
            dims.collect::<Result<_, _>>().map_err(|_| format!("has a negative dim in its shape {:?}", t.dims))?;
        let elements = element_count(&dims).ok_or_else(|| format!("has too many elements: its shape is {dims:?}"))?;
        if t.segment.is_some() {
            return Err("is stored in segments, which is not supported".into());
        }
        let data = self.tensor_data(&t, element, elements)?;
        Ok(Tensor { name: t.name.unwrap_or_default(), element, dims, data })
    }

    fn tensor_data(
        &mut self,
        t: &proto::TensorProto,
        element: ElementType,
        elements: u64,
    ) -> Result<TensorData, String> {
        if element == ElementType::String {
            return count(t.string_data.len(), elements).map(|()| TensorData::Strings(t.string_data.clone()));
        }
        let size = element.byte_len(elements).ok_or_else(|| format!("has too many elements: {elements}"))?;
        let external = proto::tensor_proto::DataLocation::External as i32;
        let bytes = if t.data_location() == external {
            if has_own_data(t) {
                return Err("holds data, and says that they are in a file".to_owned());
            }
            self.external.read(&t.external_data, size)?
        } else if let Some(raw) = &t.raw_data {
            raw.clone()
        } else {
            packed_fields(t, element, elements)?
        };
        if bytes.len() as u64 != size {
            return Err(format!("holds {} bytes, but {elements} elements of {element} take {size}", bytes.len()));
        }
        Ok(TensorData::Packed(bytes))
    }
}

/// Whether the tensor has data of its own, in whatever form.
fn has_own_data(t: &proto::TensorProto) -> bool {
    t.raw_data.as_ref().is_some_and(|raw| !raw.is_empty())
        || !t.float_data.is_empty()
        || !t.int32_data.is_empty()
        || !t.int64_data.is_empty()
        || !t.double_data.is_empty()
        || !t.uint64_data.is_empty()
        || !t.string_data.is_empty()
}

/// `ai.onnx` is another name of the default domain.
fn domain(name: &str) -> &str {
    if name == "ai.onnx" { "" } else { name }
}

/// Whether a stated type admits the tensor.
fn agrees(ty: &ValueType, tensor: &Tensor) -> bool {
    let ValueType::Tensor { element, shape } = ty else {
        return false;
    };
    *element == tensor.element
        && shape.as_ref().is_none_or(|shape| {
            shape.len() == tensor.dims.len()
                && (shape.iter().zip(&tensor.dims)).all(|(s, &d)| !matches!(s, Dim::Known(n) if *n != d))
        })
}

/// The kind of the one field that holds a value, if just one does.
fn implied_kind(a: &proto::AttributeProto) -> Option<AttributeKind> {
    let held = [
        (a.f.is_some(), AttributeKind::Float),
        (a.i.is_some(), AttributeKind::Int),
        (a.s.is_some(), AttributeKind::String),
        (a.t.is_some(), AttributeKind::Tensor),
        (a.g.is_some(), AttributeKind::Graph),
        (!a.floats.is_empty(), AttributeKind::Floats),
        (!a.ints.is_empty(), AttributeKind::Ints),
        (!a.strings.is_empty(), AttributeKind::Strings),
        (!a.tensors.is_empty(), AttributeKind::Tensors),
        (!a.graphs.is_empty(), AttributeKind::Graphs),
        (a.sparse_tensor.is_some(), AttributeKind::SparseTensor),
        (!a.sparse_tensors.is_empty(), AttributeKind::SparseTensors),
        (a.tp.is_some(), AttributeKind::TypeProto),
        (!a.type_protos.is_empty(), AttributeKind::TypeProtos),
    ];
    let mut held = held.into_iter().filter(|h| h.0).map(|h| h.1);
    match (held.next(), held.next()) {
        (Some(kind), None) => Some(kind),
        _ => None,
    }
}

fn count(present: usize, wanted: u64) -> Result<(), String> {
    if present as u64 == wanted { Ok(()) } else { Err(format!("holds {present} elements, its shape takes {wanted}")) }
}

/// Little-endian bytes of a tensor stored in the fields for its type.
fn packed_fields(t: &proto::TensorProto, element: ElementType, elements: u64) -> Result<Bytes, String> {
    use ElementType as E;
    macro_rules! pack {
        ($field:expr, $per_element:expr) => {{
            count($field.len(), elements.saturating_mul($per_element))?;
            Ok($field.iter().flat_map(|v| v.to_le_bytes()).collect())
        }};
    }
    /// Packs each number as `$t`, in whose range it must be.
    macro_rules! narrow {
        ($field:expr, $t:ty, $count:expr) => {{
            count($field.len(), $count)?;
            let mut bytes = Vec::with_capacity($field.len() * size_of::<$t>());
            for &v in $field {
                let v = <$t>::try_from(v).map_err(|_| format!("holds {v}, which is out of the range of {element}"))?;
                bytes.extend_from_slice(&v.to_le_bytes());
            }
            Ok(bytes.into())
        }};
    }
    match element {
        E::F32 => pack!(t.float_data, 1),
        E::Complex64 => pack!(t.float_data, 2),
        E::F64 => pack!(t.double_data, 1),
        E::Complex128 => pack!(t.double_data, 2),
        E::I64 => pack!(t.int64_data, 1),
        E::U64 => pack!(t.uint64_data, 1),
        E::U32 => narrow!(&t.uint64_data, u32, elements),
        E::I32 => pack!(t.int32_data, 1),
        E::I16 => narrow!(&t.int32_data, i16, elements),
        E::I8 => narrow!(&t.int32_data, i8, elements),
        E::U16 | E::F16 | E::BF16 => narrow!(&t.int32_data, u16, elements),
        E::Bool => {
            if let Some(v) = t.int32_data.iter().find(|v| !(0..=1).contains(*v)) {
                return Err(format!("holds {v}, which is out of the range of bool"));
            }
            narrow!(&t.int32_data, u8, elements)
        }
        E::U8 | E::F8E4M3FN | E::F8E4M3FNUZ | E::F8E5M2 | E::F8E5M2FNUZ | E::F8E8M0FNU => {
            narrow!(&t.int32_data, u8, elements)
        }
        E::U4 | E::I4 | E::F4E2M1FN => narrow!(&t.int32_data, u8, elements.div_ceil(2)),
        E::U2 | E::I2 => narrow!(&t.int32_data, u8, elements.div_ceil(4)),
        E::F6E2M3FN | E::F6E3M2FN => Err(format!("stores {element} outside raw_data, which is not supported")),
        E::String => unreachable!("strings are handled by the caller"),
    }
}
