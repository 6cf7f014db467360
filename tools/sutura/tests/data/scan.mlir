// Running combinations: along the last dimension, the first and the one in the middle, both ways, of floats and integers.
!floats = tensor<?x?x?xf32, #dyn.shape<[A, B, C]>>
!ints = tensor<?x?x?xi32, #dyn.shape<[A, B, C]>>
!longs = tensor<?x?x?xi64, #dyn.shape<[A, B, C]>>
func.func @scan(%x: !floats, %i: !ints, %l: !longs)
    -> (!floats {graph.name = "last"}, !floats {graph.name = "last_before"}, !floats {graph.name = "middle_back"},
        !ints {graph.name = "ints_back"}, !ints {graph.name = "ints_first"}, !longs {graph.name = "longs_most"},
        !longs {graph.name = "longs_first"}) {
  %A = dyn.symbol "A" : index
  %B = dyn.symbol "B" : index
  %C = dyn.symbol "C" : index
  %last = graph.scan %x {axis = 2 : i64, combiner = "add"} : !floats -> !floats
  %last_before = graph.scan %x {axis = 2 : i64, combiner = "add", exclusive, reverse} : !floats -> !floats
  %middle_back = graph.scan %x {axis = 1 : i64, combiner = "max", reverse} : !floats -> !floats
  %ints_back = graph.scan %i {axis = 2 : i64, combiner = "add", reverse} : !ints -> !ints
  %ints_first = graph.scan %i {axis = 0 : i64, combiner = "add", exclusive} : !ints -> !ints
  %longs_most = graph.scan %l {axis = 2 : i64, combiner = "max"} : !longs -> !longs
  %longs_first = graph.scan %l {axis = 0 : i64, combiner = "mul", exclusive, reverse} : !longs -> !longs
  return %last, %last_before, %middle_back, %ints_back, %ints_first, %longs_most, %longs_first
    : !floats, !floats, !floats, !ints, !ints, !longs, !longs
}
