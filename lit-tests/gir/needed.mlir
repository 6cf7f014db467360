// What a window needs of a tensor: indices from the largest of two numbers on, and before the least of several.
// RUN: sutura-opt %s --split-input-file --verify-diagnostics

#start = affine_map<(d0) -> (d0 * 7 - 1)>
#missing = affine_map<(d0) -> (0, d0)>
#first = affine_map<(d0) -> (-d0)>
#end = affine_map<(d0) -> (9, -d0 + 28)>
#sum = affine_map<(d0, d1) -> (d0 + d1)>
gir.kernel @inside(%x : !gir.view<dram, f32, [28, 16]> in, %y : !gir.view<dram, f32, [4, 16]> out) dims() grid(%g = 4) units(1) {
  %c0 = arith.constant 0 : index
  %near = gir.alloc owner("unit") : !gir.view<l1, f32, [9, 16]>
  %start = gir.index #start(%g)
  %missing = gir.index #missing(%start)
  %first = gir.index #first(%missing)
  %end = gir.index #end(%start)
  gir.for %t = %first to %end {
    %i = gir.index #sum(%t, %start)
    %from = gir.slice %x[%i, %c0] cols(1) : !gir.view<dram, f32, [28, 16]> -> !gir.slice<dram, f32, [1, 16]>
    %line = gir.load %from : !gir.slice<dram, f32, [1, 16]> -> !gir.tile<vec, f32, [1, 16]>
    %to = gir.slice %near[%t, %c0] cols(1) : !gir.view<l1, f32, [9, 16]> -> !gir.slice<l1, f32, [1, 16]>
    gir.store %line, %to : !gir.tile<vec, f32, [1, 16]>, !gir.slice<l1, f32, [1, 16]>
  }
  %zero = gir.fill 0.0 : f32 : !gir.tile<vec, f32, [1, 16]>
  %c9 = arith.constant 9 : index
  gir.for %t = %end to %c9 {
    %to = gir.slice %near[%t, %c0] cols(1) : !gir.view<l1, f32, [9, 16]> -> !gir.slice<l1, f32, [1, 16]>
    gir.store %zero, %to : !gir.tile<vec, f32, [1, 16]>, !gir.slice<l1, f32, [1, 16]>
  }
  %out = gir.slice %y[%g, %c0] cols(1) : !gir.view<dram, f32, [4, 16]> -> !gir.slice<dram, f32, [1, 16]>
  gir.store %zero, %out : !gir.tile<vec, f32, [1, 16]>, !gir.slice<dram, f32, [1, 16]>
}

// -----

// One index more lies behind the end.
#start = affine_map<(d0) -> (d0 * 7 - 1)>
#missing = affine_map<(d0) -> (0, d0)>
#first = affine_map<(d0) -> (-d0)>
#end = affine_map<(d0) -> (9, -d0 + 29)>
#sum = affine_map<(d0, d1) -> (d0 + d1)>
gir.kernel @behind(%x : !gir.view<dram, f32, [28, 16]> in, %y : !gir.view<dram, f32, [4, 16]> out) dims() grid(%g = 4) units(1) {
  %c0 = arith.constant 0 : index
  %near = gir.alloc owner("unit") : !gir.view<l1, f32, [9, 16]>
  %start = gir.index #start(%g)
  %missing = gir.index #missing(%start)
  %first = gir.index #first(%missing)
  %end = gir.index #end(%start)
  gir.for %t = %first to %end {
    %i = gir.index #sum(%t, %start)
    // expected-error @below {{'gir.slice' op has index 7*%g + %t - 1 of dimension 0 of %x, which is not proven below its size 28: -1 may be negative}}
    %from = gir.slice %x[%i, %c0] cols(1) : !gir.view<dram, f32, [28, 16]> -> !gir.slice<dram, f32, [1, 16]>
    %line = gir.load %from : !gir.slice<dram, f32, [1, 16]> -> !gir.tile<vec, f32, [1, 16]>
    %to = gir.slice %near[%t, %c0] cols(1) : !gir.view<l1, f32, [9, 16]> -> !gir.slice<l1, f32, [1, 16]>
    gir.store %line, %to : !gir.tile<vec, f32, [1, 16]>, !gir.slice<l1, f32, [1, 16]>
  }
  %zero = gir.fill 0.0 : f32 : !gir.tile<vec, f32, [1, 16]>
  %c9 = arith.constant 9 : index
  gir.for %t = %end to %c9 {
    %to = gir.slice %near[%t, %c0] cols(1) : !gir.view<l1, f32, [9, 16]> -> !gir.slice<l1, f32, [1, 16]>
    gir.store %zero, %to : !gir.tile<vec, f32, [1, 16]>, !gir.slice<l1, f32, [1, 16]>
  }
  %out = gir.slice %y[%g, %c0] cols(1) : !gir.view<dram, f32, [4, 16]> -> !gir.slice<dram, f32, [1, 16]>
  gir.store %zero, %out : !gir.tile<vec, f32, [1, 16]>, !gir.slice<dram, f32, [1, 16]>
}

// -----

// The first index lies before the tensor.
#start = affine_map<(d0) -> (d0 * 7 - 1)>
#missing = affine_map<(d0) -> (0, d0 + 1)>
#first = affine_map<(d0) -> (-d0)>
#end = affine_map<(d0) -> (9, -d0 + 28)>
#sum = affine_map<(d0, d1) -> (d0 + d1)>
gir.kernel @before(%x : !gir.view<dram, f32, [28, 16]> in, %y : !gir.view<dram, f32, [4, 16]> out) dims() grid(%g = 4) units(1) {
  %c0 = arith.constant 0 : index
  %near = gir.alloc owner("unit") : !gir.view<l1, f32, [9, 16]>
  %start = gir.index #start(%g)
  %missing = gir.index #missing(%start)
  %first = gir.index #first(%missing)
  %end = gir.index #end(%start)
  gir.for %t = %first to %end {
    %i = gir.index #sum(%t, %start)
    // expected-error @below {{'gir.slice' op has index 7*%g + %t - 1 of dimension 0 of %x, which may be negative}}
    %from = gir.slice %x[%i, %c0] cols(1) : !gir.view<dram, f32, [28, 16]> -> !gir.slice<dram, f32, [1, 16]>
    %line = gir.load %from : !gir.slice<dram, f32, [1, 16]> -> !gir.tile<vec, f32, [1, 16]>
    %to = gir.slice %near[%t, %c0] cols(1) : !gir.view<l1, f32, [9, 16]> -> !gir.slice<l1, f32, [1, 16]>
    gir.store %line, %to : !gir.tile<vec, f32, [1, 16]>, !gir.slice<l1, f32, [1, 16]>
  }
  %zero = gir.fill 0.0 : f32 : !gir.tile<vec, f32, [1, 16]>
  %c9 = arith.constant 9 : index
  gir.for %t = %end to %c9 {
    %to = gir.slice %near[%t, %c0] cols(1) : !gir.view<l1, f32, [9, 16]> -> !gir.slice<l1, f32, [1, 16]>
    gir.store %zero, %to : !gir.tile<vec, f32, [1, 16]>, !gir.slice<l1, f32, [1, 16]>
  }
  %out = gir.slice %y[%g, %c0] cols(1) : !gir.view<dram, f32, [4, 16]> -> !gir.slice<dram, f32, [1, 16]>
  gir.store %zero, %out : !gir.tile<vec, f32, [1, 16]>, !gir.slice<dram, f32, [1, 16]>
}

// -----

// There is room for one less.
#start = affine_map<(d0) -> (d0 * 7 - 1)>
#missing = affine_map<(d0) -> (0, d0)>
#first = affine_map<(d0) -> (-d0)>
#end = affine_map<(d0) -> (9, -d0 + 28)>
#sum = affine_map<(d0, d1) -> (d0 + d1)>
gir.kernel @room(%x : !gir.view<dram, f32, [28, 16]> in, %y : !gir.view<dram, f32, [4, 16]> out) dims() grid(%g = 4) units(1) {
  %c0 = arith.constant 0 : index
  %near = gir.alloc owner("unit") : !gir.view<l1, f32, [8, 16]>
  %start = gir.index #start(%g)
  %missing = gir.index #missing(%start)
  %first = gir.index #first(%missing)
  %end = gir.index #end(%start)
  gir.for %t = %first to %end {
    %i = gir.index #sum(%t, %start)
    %from = gir.slice %x[%i, %c0] cols(1) : !gir.view<dram, f32, [28, 16]> -> !gir.slice<dram, f32, [1, 16]>
    %line = gir.load %from : !gir.slice<dram, f32, [1, 16]> -> !gir.tile<vec, f32, [1, 16]>
    // expected-error @below {{'gir.slice' op has index %t of dimension 0 of %near, which is not proven below its size 8: -1 may be negative}}
    %to = gir.slice %near[%t, %c0] cols(1) : !gir.view<l1, f32, [8, 16]> -> !gir.slice<l1, f32, [1, 16]>
    gir.store %line, %to : !gir.tile<vec, f32, [1, 16]>, !gir.slice<l1, f32, [1, 16]>
  }
  %zero = gir.fill 0.0 : f32 : !gir.tile<vec, f32, [1, 16]>
  %c9 = arith.constant 9 : index
  gir.for %t = %end to %c9 {
    // expected-error @below {{'gir.slice' op has index %t_ of dimension 0 of %near, which is not proven below its size 8: -1 may be negative}}
    %to = gir.slice %near[%t, %c0] cols(1) : !gir.view<l1, f32, [8, 16]> -> !gir.slice<l1, f32, [1, 16]>
    gir.store %zero, %to : !gir.tile<vec, f32, [1, 16]>, !gir.slice<l1, f32, [1, 16]>
  }
  %out = gir.slice %y[%g, %c0] cols(1) : !gir.view<dram, f32, [4, 16]> -> !gir.slice<dram, f32, [1, 16]>
  gir.store %zero, %out : !gir.tile<vec, f32, [1, 16]>, !gir.slice<dram, f32, [1, 16]>
}

// -----

// The least of two may be negative.
#start = affine_map<(d0) -> (d0 * 7 - 1)>
#missing = affine_map<(d0) -> (0, d0)>
#first = affine_map<(d0) -> (-d0)>
#end = affine_map<(d0) -> (9, -d0 + 19)>
#sum = affine_map<(d0, d1) -> (d0 + d1)>
gir.kernel @negative(%x : !gir.view<dram, f32, [28, 16]> in, %y : !gir.view<dram, f32, [4, 16]> out) dims() grid(%g = 4) units(1) {
  %c0 = arith.constant 0 : index
  %near = gir.alloc owner("unit") : !gir.view<l1, f32, [9, 16]>
  %start = gir.index #start(%g)
  %missing = gir.index #missing(%start)
  %first = gir.index #first(%missing)
  %end = gir.index #end(%start)
  gir.for %t = %first to %end {
    %i = gir.index #sum(%t, %start)
    %from = gir.slice %x[%i, %c0] cols(1) : !gir.view<dram, f32, [28, 16]> -> !gir.slice<dram, f32, [1, 16]>
    %line = gir.load %from : !gir.slice<dram, f32, [1, 16]> -> !gir.tile<vec, f32, [1, 16]>
    %to = gir.slice %near[%t, %c0] cols(1) : !gir.view<l1, f32, [9, 16]> -> !gir.slice<l1, f32, [1, 16]>
    gir.store %line, %to : !gir.tile<vec, f32, [1, 16]>, !gir.slice<l1, f32, [1, 16]>
  }
  %zero = gir.fill 0.0 : f32 : !gir.tile<vec, f32, [1, 16]>
  %c9 = arith.constant 9 : index
  gir.for %t = %end to %c9 {
    // expected-error @below {{'gir.slice' op has index %t_ of dimension 0 of %near, which may be negative}}
    %to = gir.slice %near[%t, %c0] cols(1) : !gir.view<l1, f32, [9, 16]> -> !gir.slice<l1, f32, [1, 16]>
    gir.store %zero, %to : !gir.tile<vec, f32, [1, 16]>, !gir.slice<l1, f32, [1, 16]>
  }
  %out = gir.slice %y[%g, %c0] cols(1) : !gir.view<dram, f32, [4, 16]> -> !gir.slice<dram, f32, [1, 16]>
  gir.store %zero, %out : !gir.tile<vec, f32, [1, 16]>, !gir.slice<dram, f32, [1, 16]>
}
