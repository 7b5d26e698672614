"""What the reader makes of the generic form: one small module for each thing that it has to know."""

from __future__ import annotations

from fencepost.hosts.triton.mlir import Module, Opaque, Operation, read_module


def in_function(body: str, head: str = "") -> Module:
    """A module with one function around `body`."""
    return read_module(f"""{head}
"builtin.module"() ({{
  "tt.func"() <{{function_type = () -> (), sym_name = "f"}}> ({{
{body}
    "tt.return"() : () -> ()
  }}) {{noinline = false}} : () -> ()
}}) {{"ttg.num-warps" = 4 : i32}} : () -> ()
""")


def first(module: Module, name: str) -> Operation:
    return next(op for op in module.walk() if op.name == name)


def test_an_operation_has_a_name_operands_results_and_types() -> None:
    module = in_function("""
    %0 = "test.make"() : () -> i32
    %1 = "test.add"(%0, %0) : (i32, i32) -> i64
""")
    make, add = first(module, "test.make"), first(module, "test.add")
    assert add.operands == (make.results[0], make.results[0])
    assert add.operand_types == ("i32", "i32")
    assert add.result_types == ("i64",)
    assert add.results[0].defining_operation is add
    assert repr(add) == "<%1 = test.add(%0, %0)>"


def test_results_in_groups_are_numbered() -> None:
    module = in_function("""
    %a:2, %b = "test.make"() : () -> (i1, i2, i3)
    "test.use"(%b, %a#1, %a#0) : (i3, i2, i1) -> ()
    %c = "test.one"() : () -> i4
    "test.again"(%c#0, %a) : (i4, i1) -> ()
""")
    make = first(module, "test.make")
    assert [value.name for value in make.results] == ["%a#0", "%a#1", "%b"]
    assert first(module, "test.use").operands == make.results[::-1]
    assert first(module, "test.again").operands == (first(module, "test.one").results[0], make.results[0])


def test_properties_and_attributes_are_one_dictionary() -> None:
    op = first(in_function('    "test.op"() <{a = 1 : i32}> {b = "x", c} : () -> ()'), "test.op")
    assert dict(op.attributes).keys() == {"a", "b", "c"}
    assert (op.integer("a"), op.string("b"), op.flag("c")) == (1, "x", True)
    assert (op.integer("b"), op.string("a"), op.flag("a"), op.integers("a")) == (None, None, False, None)


def test_an_attribute_may_be_asked_for_before_the_others_are_read() -> None:
    module = in_function('    "test.op"() {a = dense<1> : tensor<4xi32, #b>, "b\\2Dc" = 2 : i32} : () -> ()')
    op = first(module, "test.op")
    assert (op.integer("b-c"), op.integer("c"), op.integer("a")) == (2, None, None)
    assert op.attributes.keys() == {"a", "b-c"}


def test_a_line_is_read_like_the_same_operation_on_several() -> None:
    line = '%c = "test.op"(%a, %b)[^b] <{p = array<i32: 1, 1>}> {q = 1 : i32} : (i1, i2) -> tensor<4xi32> loc(#l)'
    several = line.replace(" ", "\n  ").replace("=\n  array<i32:\n  1", "= array<i32: 1")
    found = []
    for text in (line, several):
        module = in_function(
            f'%a, %b = "test.make"() : () -> (i1, i2)\n{text}\n^b:', head='#l = loc("k.py":1:2)'
        )
        op = first(module, "test.op")
        where = op.extent
        places = [
            module.text[at:].split(maxsplit=1)[0]
            for at in (
                where.start,
                where.head_end,
                where.properties_at,
                where.attributes_at,
                where.signature_at,
            )
        ]
        names = [value.name for value in op.operands + op.results]
        found.append((names, op.result_types, dict(op.attributes), str(op.location), places))
        assert module.text[: where.end].endswith("loc(#l)")
        assert [way.block.label for way in op.successors] == ["b"]
    assert found[0] == found[1]
    assert found[0][-1] == ["%c", "<{p", "<{p", "{q", ":"]


def test_dictionaries_may_contain_braces_and_strings_that_look_like_them() -> None:
    op = first(in_function('    "test.op"() <{a = {b = "}>"}, c = #x.y<{d = 1}>}> : () -> ()'), "test.op")
    assert op.attributes["a"] == {"b": "}>"}
    assert op.attributes["c"] == Opaque("#x.y<{d = 1}>")


def test_types_may_contain_parentheses_and_arrows() -> None:
    module = in_function("""
    %0 = "test.make"() : () -> ((i32, i32) -> i64)
    %1 = "test.make"() : () -> (i32) -> i64
    %2:2 = "test.use"(%0) : ((i32, i32) -> i64) -> (!llvm.struct<(i32, i8)>, () -> ()) loc("a (b)":1:2)
""")
    one, two = [op for op in module.walk() if op.name == "test.make"]
    assert one.result_types == ("(i32, i32) -> i64",)
    assert two.result_types == ("(i32) -> i64",)
    use = first(module, "test.use")
    assert use.result_types == ("!llvm.struct<(i32, i8)>", "() -> ()")
    assert str(use.location) == "a (b):1:2"


def test_layout_of_the_text_does_not_matter() -> None:
    module = read_module(
        '"builtin.module" ( ) ( { // a comment with "quotes\n"tt.func"() ({ "test.a"() : ()->() "tt.return"()'
        " : () -> () // done\n }) : () -> () loc(unknown) }) : () -> ()"
    )
    assert [op.name for op in module.walk()] == ["builtin.module", "tt.func", "test.a", "tt.return"]


def test_aliases_are_kept_and_spelled_out() -> None:
    module = in_function(
        '    %0 = "test.make"() : () -> tensor<4xf32, #outer>',
        head="#inner = #ttg.blocked<{order = [0]}>\n"
        "#outer = #ttg.slice<{dim = 1, parent = #inner}>\n"
        "#loc = loc(unknown)",
    )
    assert set(module.aliases) == {"#inner", "#outer"}
    spelled = "#ttg.slice<{dim = 1, parent = #ttg.blocked<{order = [0]}>}>"
    assert module.resolve("#outer") == spelled
    tensor = module.type_of(first(module, "test.make").results[0])
    assert tensor is not None
    assert tensor.encoding == spelled


def test_every_operation_knows_its_text() -> None:
    module = in_function("""
    %c = "test.make"() {a = 1 : i32} : () -> i1 loc("here")
    "scf.if"(%c) <{p}> ({
      "test.inner"() : () -> ()
    }) : (i1) -> ()
""")
    make, branch = first(module, "test.make"), first(module, "scf.if")
    text = module.text
    assert text[make.start : make.extent.end] == '%c = "test.make"() {a = 1 : i32} : () -> i1 loc("here")'
    assert text[branch.start : branch.extent.end].startswith('"scf.if"(%c)')
    assert text[branch.start : branch.extent.end].endswith("}) : (i1) -> ()")
    assert text[make.extent.attributes_at :].startswith("{a = 1")
    assert text[branch.extent.properties_at :].startswith("<{p}>")
    assert text[branch.extent.signature_at :].startswith(": (i1)")


def test_walking_goes_in_the_order_of_the_text() -> None:
    module = in_function(
        '    "a"() ({ "b"() : () -> () }, { "c"() : () -> () }) : () -> ()\n    "d"() : () -> ()'
    )
    names = [op.name for op in module.walk()]
    assert names == ["builtin.module", "tt.func", "a", "b", "c", "d", "tt.return"]
    assert [op.start for op in module.walk()] == sorted(op.start for op in module.walk())


def test_deep_nesting_is_no_danger() -> None:
    depth = 5000
    body = '"r"() ({ ' * depth + '"x"() : () -> ()' + " }) : () -> ()" * depth
    assert sum(1 for _ in in_function(body).walk()) == depth + 4


def test_an_empty_module_has_an_empty_body() -> None:
    assert read_module('"builtin.module"() ({\n}) : () -> ()').body.operations == []
