// What stays as it is, and what changes through reshapes and transpositions.

// RUN: sutura-opt %s --channels-last | FileCheck %s
// RUN: sutura-opt %s --channels-last --remarks -o /dev/null 2>&1 | FileCheck %s --check-prefix=SAID
// RUN: sutura-opt %s --channels-last --check-passes --strict -o /dev/null

#x = affine_map<(n, f, h, w, c, i, j) -> (n, c, h + i, w + j)>
#w = affine_map<(n, f, h, w, c, i, j) -> (f, c, i, j)>
#y = affine_map<(n, f, h, w, c, i, j) -> (n, f, h, w)>
#id = affine_map<(n, f, h, w) -> (n, f, h, w)>
#mean = affine_map<(n, f, h, w) -> (n, f)>
#back = affine_map<(n, f, h, w) -> (n, h, w, f)>
#groups = affine_map<(n, g, h, w, c, i, j) -> (n, g * 4 + c, h + i, w + j)>
#own = affine_map<(n, g, h, w, c, i, j) -> (g, c, i, j)>
#split = affine_map<(n, a, b, h, w) -> (n, a, b, h, w)>
#rest = affine_map<(n, a, b, h, w) -> (n, a, b)>
#window = affine_map<(n, c, h, w, i, j) -> (n, c, h + i, w + j)>
#places = affine_map<(n, c, h, w, i, j) -> (i, j)>
#left = affine_map<(n, c, h, w, i, j) -> (n, c, h, w)>

!x = tensor<1x8x6x6xf32>
!t = tensor<1x8x4x4xf32>

// A reshape that adds a dimension before the channels: both tensors change. One that splits them keeps what it reads.
// CHECK-LABEL: func.func @reshaped(
// CHECK: %[[A:.*]] = graph.compute {{.*}} -> tensor<1x4x4x8xf32>
// CHECK: graph.reshape %[[A]] : tensor<1x4x4x8xf32> -> tensor<1x1x4x4x8xf32>
// CHECK-LABEL: func.func @split(
// CHECK: %[[A:.*]] = graph.compute {{.*}} -> !t
// CHECK: graph.reshape %[[A]] : !t -> tensor<1x2x4x4x4xf32>
// SAID-DAG: %a lies as it did: a reshape splits its channels, or joins them with others
func.func @reshaped(%x: !x) -> tensor<1x1x8xf32> {
  %w = graph.constant dense<0.5> : tensor<8x8x3x3xf32>
  %a = graph.compute ins(%x, %w : !x, tensor<8x8x3x3xf32>) -> !t {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>,
    combiners = #graph.combiners<[add]>, maps = [#x, #w, #y]} {
  ^bb0(%e: f32, %g: f32):
    %p = arith.mulf %e, %g : f32
    graph.yield %p : f32
  }
  %b = graph.reshape %a : !t -> tensor<1x1x8x4x4xf32>
  %c = graph.compute ins(%b : tensor<1x1x8x4x4xf32>) -> tensor<1x1x8x4x4xf32> {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, parallel]>, maps = [#split, #split]} {
  ^bb0(%e: f32):
    %s = math.absf %e : f32
    graph.yield %s : f32
  }
  %d = graph.compute ins(%c : tensor<1x1x8x4x4xf32>) -> tensor<1x1x8xf32> {
    iterators = #graph.iterators<[parallel, parallel, parallel, reduce, reduce]>, combiners = #graph.combiners<[max]>,
    maps = [#split, #rest]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  return %d : tensor<1x1x8xf32>
}

func.func @split(%x: !x) -> tensor<1x2x4x4x4xf32> {
  %w = graph.constant dense<0.5> : tensor<8x8x3x3xf32>
  %a = graph.compute ins(%x, %w : !x, tensor<8x8x3x3xf32>) -> !t {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>,
    combiners = #graph.combiners<[add]>, maps = [#x, #w, #y]} {
  ^bb0(%e: f32, %g: f32):
    %p = arith.mulf %e, %g : f32
    graph.yield %p : f32
  }
  %b = graph.reshape %a : !t -> tensor<1x2x4x4x4xf32>
  %c = graph.compute ins(%b : tensor<1x2x4x4x4xf32>) -> tensor<1x2x4x4x4xf32> {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, parallel]>, maps = [#split, #split]} {
  ^bb0(%e: f32):
    %s = math.absf %e : f32
    graph.yield %s : f32
  }
  return %c : tensor<1x2x4x4x4xf32>
}

// A transposition behind a convolution becomes a copy.
// CHECK-LABEL: func.func @transposed(
// CHECK: %[[A:.*]] = graph.compute {{.*}} -> tensor<1x4x4x8xf32>
// CHECK: graph.compute ins(%[[A]] : tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> {{.*}}maps = [#[[SAME:.*]], #[[SAME]]]
func.func @transposed(%x: !x) -> tensor<1x4x4x8xf32> {
  %w = graph.constant dense<0.5> : tensor<8x8x3x3xf32>
  %a = graph.compute ins(%x, %w : !x, tensor<8x8x3x3xf32>) -> !t {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>,
    combiners = #graph.combiners<[add]>, maps = [#x, #w, #y]} {
  ^bb0(%e: f32, %g: f32):
    %p = arith.mulf %e, %g : f32
    graph.yield %p : f32
  }
  %b = graph.compute ins(%a : !t) -> tensor<1x4x4x8xf32> {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #back]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  return %b : tensor<1x4x4x8xf32>
}

// Groups of channels are read as they are, and so is what has few of them. Weights that are no constant say nothing.
// CHECK-LABEL: func.func @kept(
// CHECK: graph.compute {{.*}} -> !t
// CHECK: graph.compute {{.*}} -> tensor<1x2x2x2xf32>
// CHECK: graph.compute {{.*}} -> tensor<1x2x2x2xf32>
// CHECK-LABEL: func.func @no_constant(
// CHECK: graph.compute {{.*}} -> !t
// SAID-DAG: %in_groups lies as it did: channels are read in groups or steps, or at places that are computed
func.func @kept(%x: !x) -> tensor<1x2x2x2xf32> {
  %w = graph.constant dense<0.5> : tensor<8x8x3x3xf32>
  %k = graph.constant dense<0.5> : tensor<2x4x3x3xf32>
  %in_groups = graph.compute ins(%x, %w : !x, tensor<8x8x3x3xf32>) -> !t {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>,
    combiners = #graph.combiners<[add]>, maps = [#x, #w, #y]} {
  ^bb0(%e: f32, %g: f32):
    %p = arith.mulf %e, %g : f32
    graph.yield %p : f32
  }
  %b = graph.compute ins(%in_groups, %k : !t, tensor<2x4x3x3xf32>) -> tensor<1x2x2x2xf32> {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>,
    combiners = #graph.combiners<[add]>, maps = [#groups, #own, #y]} {
  ^bb0(%e: f32, %g: f32):
    %p = arith.mulf %e, %g : f32
    graph.yield %p : f32
  }
  %c = graph.compute ins(%b : tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32> {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%e: f32):
    %s = math.absf %e : f32
    graph.yield %s : f32
  }
  return %c : tensor<1x2x2x2xf32>
}

func.func @no_constant(%x: !x, %w: tensor<8x8x3x3xf32>) -> !t {
  %a = graph.compute ins(%x, %w : !x, tensor<8x8x3x3xf32>) -> !t {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>,
    combiners = #graph.combiners<[add]>, maps = [#x, #w, #y]} {
  ^bb0(%e: f32, %g: f32):
    %p = arith.mulf %e, %g : f32
    graph.yield %p : f32
  }
  %c = graph.compute ins(%a : !t) -> !t {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%e: f32):
    %s = math.absf %e : f32
    graph.yield %s : f32
  }
  return %c : !t
}

// What a window makes of a tensor that has changed is turned where it leaves; what it makes of an argument stays, and so does what is one
// kernel with it.
// CHECK-LABEL: func.func @pool(
// CHECK: %[[A:.*]] = graph.compute {{.*}} -> tensor<1x4x4x8xf32>
// CHECK: %[[P:.*]] = graph.compute ins(%[[A]], {{.*}} -> tensor<1x2x2x8xf32>
// CHECK: %[[BACK:.*]] = graph.compute ins(%[[P]] : tensor<1x2x2x8xf32>) -> tensor<1x8x2x2xf32>
// CHECK: return %[[BACK]]
// CHECK-LABEL: func.func @of_argument(
// CHECK: graph.compute {{.*}} -> tensor<1x8x8x8xf32>
// CHECK: graph.compute {{.*}} -> tensor<1x8x8x8xf32>
// CHECK: graph.compute {{.*}} -> tensor<1x6x6x8xf32>
// CHECK: graph.compute {{.*}} -> tensor<1x4x4x8xf32>
// SAID-DAG: %pooled lies as it did: a window reads a tensor that stays, and makes it
// SAID-DAG: %positive lies as it did: a window reads a tensor that stays, and makes it
func.func @pool(%x: !x, %k: tensor<3x3xi1>) -> tensor<1x8x2x2xf32> {
  %w = graph.constant dense<0.5> : tensor<8x8x3x3xf32>
  %a = graph.compute ins(%x, %w : !x, tensor<8x8x3x3xf32>) -> !t {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>,
    combiners = #graph.combiners<[add]>, maps = [#x, #w, #y]} {
  ^bb0(%e: f32, %g: f32):
    %p = arith.mulf %e, %g : f32
    graph.yield %p : f32
  }
  %b = graph.compute ins(%a, %k : !t, tensor<3x3xi1>) -> tensor<1x8x2x2xf32> {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce]>,
    combiners = #graph.combiners<[max]>, maps = [#window, #places, #left]} {
  ^bb0(%e: f32, %g: i1):
    graph.yield %e : f32
  }
  return %b : tensor<1x8x2x2xf32>
}

func.func @of_argument(%x: tensor<1x8x10x10xf32>, %k: tensor<3x3xi1>) -> tensor<1x8xf32> {
  %w = graph.constant dense<0.5> : tensor<8x8x3x3xf32>
  %pooled = graph.compute ins(%x, %k : tensor<1x8x10x10xf32>, tensor<3x3xi1>) -> tensor<1x8x8x8xf32> {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce]>,
    combiners = #graph.combiners<[max]>, maps = [#window, #places, #left]} {
  ^bb0(%e: f32, %g: i1):
    graph.yield %e : f32
  }
  %positive = graph.compute ins(%pooled : tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32> {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel]>, maps = [#id, #id]} {
  ^bb0(%e: f32):
    %s = math.absf %e : f32
    graph.yield %s : f32
  }
  %a = graph.compute ins(%positive, %w : tensor<1x8x8x8xf32>, tensor<8x8x3x3xf32>) -> tensor<1x8x6x6xf32> {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>,
    combiners = #graph.combiners<[add]>, maps = [#x, #w, #y]} {
  ^bb0(%e: f32, %g: f32):
    %p = arith.mulf %e, %g : f32
    graph.yield %p : f32
  }
  %b = graph.compute ins(%a, %w : tensor<1x8x6x6xf32>, tensor<8x8x3x3xf32>) -> !t {
    iterators = #graph.iterators<[parallel, parallel, parallel, parallel, reduce, reduce, reduce]>,
    combiners = #graph.combiners<[add]>, maps = [#x, #w, #y]} {
  ^bb0(%e: f32, %g: f32):
    %p = arith.mulf %e, %g : f32
    graph.yield %p : f32
  }
  %c = graph.compute ins(%b : !t) -> tensor<1x8xf32> {
    iterators = #graph.iterators<[parallel, parallel, reduce, reduce]>, combiners = #graph.combiners<[max]>, maps = [#id, #mean]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  return %c : tensor<1x8xf32>
}
