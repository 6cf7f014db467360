//! Shapes of vectors, scalable dimensions included.

use sutura_ir::{Context, Type, TypeData};

/// Sizes and scalability of a vector type's dimensions, with its element type; a scalar has none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct VectorShape {
    pub(super) sizes: Vec<i64>,
    pub(super) scalable: Vec<i64>,
    pub(super) elem: Type,
}

impl VectorShape {
    pub(super) fn of(cx: &Context, ty: Type) -> Self {
        match cx.type_data(ty) {
            TypeData::Vector { shape, scalable, elem } => {
                Self { sizes: cx.ints(shape).to_vec(), scalable: cx.ints(scalable).to_vec(), elem }
            }
            _ => Self { sizes: Vec::new(), scalable: Vec::new(), elem: ty },
        }
    }

    pub(super) fn rank(&self) -> usize {
        self.sizes.len()
    }

    /// Without the first `count` dimensions.
    pub(super) fn drop_front(mut self, count: usize) -> Self {
        self.sizes.drain(..count);
        self.scalable.drain(..count);
        self
    }

    /// The vector type; of rank zero too.
    pub(super) fn vector(&self, cx: &Context) -> Type {
        let (shape, scalable) = (cx.int_list(&self.sizes), cx.int_list(&self.scalable));
        cx.ty(TypeData::Vector { shape, scalable, elem: self.elem })
    }

    /// The vector type, or the element type when no dimension is left.
    pub(super) fn vector_or_element(&self, cx: &Context) -> Type {
        if self.sizes.is_empty() { self.elem } else { self.vector(cx) }
    }
}
