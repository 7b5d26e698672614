"""Regions, blocks, the names that are in sight in them, and the branches between them."""

from __future__ import annotations

from tests.hosts.triton.test_reader import first, in_function


def test_regions_blocks_and_arguments() -> None:
    module = in_function("""
    %n = "test.make"() : () -> index
    %r = "scf.for"(%n, %n) ({
    ^bb0(%i: index loc("i"), %x: tensor<4xf32, #ttg.slice<{dim = 0, parent = #b}>>):
      "scf.yield"(%i) : (index) -> ()
    }, {
    }) : (index, index) -> index
""")
    loop = first(module, "scf.for")
    assert [len(region.blocks) for region in loop.regions] == [1, 0]
    (block,) = loop.regions[0].blocks
    assert [value.type for value in block.arguments] == [
        "index",
        "tensor<4xf32, #ttg.slice<{dim = 0, parent = #b}>>",
    ]
    assert block.arguments[0].location.name == "i"
    assert block.arguments[0].owner is block
    inner = block.operations[0]
    assert inner.operands == (block.arguments[0],)
    assert inner.parent is loop
    assert loop.result_types == ("index",)


def test_names_belong_to_their_region() -> None:
    module = in_function("""
    %c = "test.make"() : () -> i1
    "scf.if"(%c) ({
      %0 = "test.then"() : () -> i32
      "test.use"(%0) : (i32) -> ()
    }, {
      %0 = "test.else"() : () -> i64
      "test.use"(%0) : (i64) -> ()
    }) : (i1) -> ()
""")
    then, other = [op for op in module.walk() if op.name == "test.use"]
    assert [op.operands[0].type for op in (then, other)] == ["i32", "i64"]
    assert other.operands[0].defining_operation is first(module, "test.else")


def test_an_isolated_region_sees_nothing_from_outside() -> None:
    module = in_function("""
    %0 = "test.outer"() : () -> i32
    "ttg.warp_specialize.partitions"() ({
      "cf.br"()[^bb2] : () -> ()
    ^bb1:
      "test.use"(%0) : (i64) -> ()
      "test.end"() : () -> ()
    ^bb2:
      %0 = "test.inner"() : () -> i64
      "cf.br"()[^bb1] : () -> ()
    }) : () -> ()
    "test.after"(%0) : (i32) -> ()
""")
    assert first(module, "test.use").operands == first(module, "test.inner").results
    assert first(module, "test.after").operands == first(module, "test.outer").results


def test_a_value_may_be_used_above_its_definition() -> None:
    module = in_function("""
    "cf.br"()[^bb2] : () -> ()
  ^bb1:  // pred: ^bb2
    "test.use"(%1#1) : (i32) -> ()
    "test.end"() : () -> ()
  ^bb2:  // pred: ^bb0
    %1:2 = "test.make"() : () -> (i64, i32)
    "cf.br"()[^bb1] : () -> ()
  ^bb3:
""")
    make = first(module, "test.make")
    assert first(module, "test.use").operands == make.results[1:]
    assert make.results[1].type == "i32"
    assert make.results[1].defining_operation is make


def test_successors_know_what_is_forwarded_to_them() -> None:
    module = in_function("""
    %c, %x, %y = "test.make"() : () -> (i1, i32, i64)
    "cf.cond_br"(%c, %x, %y, %y)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 1, 2>}> : (i1, i32, i64, i64) -> ()
  ^bb1(%p: i32):
    "cf.br"(%y, %y)[^bb2] : (i64, i64) -> ()
  ^bb2(%q: i64, %r: i64):
    "cf.switch"(%x, %y, %y)[^bb3, ^bb4, ^bb5] <{case_operand_segments = array<i32: 0, 1>, \
case_values = dense<[1, 2]> : vector<2xi32>, operandSegmentSizes = array<i32: 1, 1, 1>}> : (i32, i64, i64) -> ()
  ^bb3(%s: i64):
  ^bb4:
  ^bb5(%t: i64):
""")
    make = first(module, "test.make")
    _, x, y = make.results
    to_one, to_two = first(module, "cf.cond_br").successors
    assert (to_one.block.label, to_one.arguments) == ("bb1", (x,))
    assert (to_two.block.label, to_two.arguments) == ("bb2", (y, y))
    assert first(module, "cf.br").successors[0].arguments == (y, y)
    assert [each.arguments for each in first(module, "cf.switch").successors] == [(y,), (), (y,)]
