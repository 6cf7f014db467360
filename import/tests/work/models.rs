//! Models made by hand, as protobuf messages.

use crate::proto::{
    AttributeProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, TensorProto, TensorShapeProto, TypeProto,
    ValueInfoProto, tensor_shape_proto, type_proto,
};

const FLOAT: i32 = 1;
const INT64: i32 = 7;

/// A model in the making.
#[derive(Default)]
pub(crate) struct Maker {
    graph: GraphProto,
}

impl Maker {
    /// An input of numbers, whose sizes are numbers or names.
    pub(crate) fn input(&mut self, name: &str, sizes: &[&str]) -> &mut Self {
        self.graph.input.push(value(name, FLOAT, Some(sizes)));
        self
    }

    /// An input of indices.
    pub(crate) fn indices(&mut self, name: &str, sizes: &[&str]) -> &mut Self {
        self.graph.input.push(value(name, INT64, Some(sizes)));
        self
    }

    /// An output of any shape.
    pub(crate) fn output(&mut self, name: &str) -> &mut Self {
        self.graph.output.push(value(name, FLOAT, None));
        self
    }

    /// A node.
    pub(crate) fn node(&mut self, op: &str, inputs: &[&str], output: &str) -> &mut Self {
        self.node_with(op, inputs, &[output], vec![])
    }

    /// A node with attributes.
    pub(crate) fn node_with(
        &mut self,
        op: &str,
        inputs: &[&str],
        outputs: &[&str],
        attribute: Vec<AttributeProto>,
    ) -> &mut Self {
        let names = |list: &[&str]| list.iter().map(|n| (*n).to_owned()).collect();
        let name = Some(format!("{op}{}", self.graph.node.len()));
        let (input, output) = (names(inputs), names(outputs));
        self.graph.node.push(NodeProto {
            op_type: Some(op.into()),
            name,
            input,
            output,
            attribute,
            ..Default::default()
        });
        self
    }

    /// A constant of numbers, all different.
    pub(crate) fn numbers(&mut self, name: &str, dims: &[i64]) -> &mut Self {
        let count = dims.iter().product::<i64>();
        let from = self.graph.initializer.len() as f32;
        let numbers = (0..count).flat_map(|i| (i as f32 + from / 1000.0).to_le_bytes()).collect::<Vec<u8>>();
        self.graph.initializer.push(TensorProto {
            name: Some(name.into()),
            data_type: Some(FLOAT),
            dims: dims.to_vec(),
            raw_data: Some(numbers.into()),
            ..Default::default()
        });
        self
    }

    /// A constant list of integers.
    pub(crate) fn ints(&mut self, name: &str, values: &[i64]) -> &mut Self {
        self.graph.initializer.push(TensorProto {
            name: Some(name.into()),
            data_type: Some(INT64),
            dims: vec![values.len() as i64],
            int64_data: values.to_vec(),
            ..Default::default()
        });
        self
    }

    /// The model, in opset 17.
    pub(crate) fn model(&mut self) -> ModelProto {
        let mut graph = std::mem::take(&mut self.graph);
        graph.name = Some("family".into());
        ModelProto {
            ir_version: Some(8),
            opset_import: vec![OperatorSetIdProto { domain: None, version: Some(17) }],
            graph: Some(graph),
            ..Default::default()
        }
    }
}

/// An attribute that is a list of integers.
pub(crate) fn list(name: &str, values: &[i64]) -> AttributeProto {
    AttributeProto { name: Some(name.into()), ints: values.to_vec(), r#type: Some(7), ..Default::default() }
}

/// An attribute that is an integer.
pub(crate) fn int(name: &str, value: i64) -> AttributeProto {
    AttributeProto { name: Some(name.into()), i: Some(value), r#type: Some(2), ..Default::default() }
}

fn value(name: &str, element: i32, sizes: Option<&[&str]>) -> ValueInfoProto {
    use tensor_shape_proto::{Dimension, dimension::Value};
    let dim = |size: &&str| size.parse().map_or_else(|_| Value::DimParam((*size).into()), Value::DimValue);
    let shape = sizes
        .map(|sizes| TensorShapeProto { dim: sizes.iter().map(|size| Dimension { value: Some(dim(size)) }).collect() });
    let tensor = type_proto::Tensor { elem_type: Some(element), shape };
    let value = Some(type_proto::Value::TensorType(tensor));
    ValueInfoProto { name: Some(name.into()), r#type: Some(TypeProto { value }) }
}
