"""The small languages inside an operation: attributes, types, layouts, locations."""

from __future__ import annotations

import pytest

from fencepost.hosts.triton.mlir import (
    UNIT,
    Attribute,
    Dense,
    Encoding,
    Location,
    MemDesc,
    Opaque,
    Symbol,
    Tensor,
    parse_attribute,
    parse_encoding,
    parse_type,
)
from fencepost.hosts.triton.mlir.locations import LocationTable
from fencepost.hosts.triton.mlir.types import element_bits

ALIASES = {"#s": "#ttg.swizzled_shared<{vec = 8, order = [1, 0]}>", "#smem": "#ttg.shared_memory"}


@pytest.mark.parametrize(
    "text,value",
    [
        ("4 : i32", 4),
        ("-1 : i64", -1),
        ("7", 7),
        ("3 : index", 3),
        ("true", True),
        ("unit", UNIT),
        ("0.000000e+00 : f32", 0.0),
        ("-1.5 : f16", -1.5),
        ('"x = {1, 2}"', "x = {1, 2}"),
        ('"a\\22b\\5Cc\\0A\\C3\\A9" : !tt.str', 'a"b\\c\né'),
        ("[1, [2, 3], 4 : i32]", (1, (2, 3), 4)),
        ("[]", ()),
        ('{a = 1, "b-c" = "x, y", d}', {"a": 1, "b-c": "x, y", "d": UNIT}),
        ("array<i32: 1, 2, -3>", (1, 2, -3)),
        ("array<i32>", ()),
        ("array<i1: true, false>", (True, False)),
        ("@kernel", Symbol("kernel")),
        ("@a::@b", Symbol("a::@b")),
        ("dense<0> : tensor<4xi32>", Dense(0, "tensor<4xi32>")),
        ("dense<[1, 2]> : tensor<2xi32, #b>", Dense((1, 2), "tensor<2xi32, #b>")),
        ("dense<1.0> : tensor<4xf32>", Dense(1.0, "tensor<4xf32>")),
        ("0xFF800000 : f32", Opaque("0xFF800000 : f32")),
        ("#arith.overflow<none>", Opaque("#arith.overflow<none>")),
        ("(i32, i64) -> ()", Opaque("(i32, i64) -> ()")),
        ("i32", Opaque("i32")),
    ],
)
def test_attributes(text: str, value: Attribute) -> None:
    found = parse_attribute(text)
    assert found == value
    assert type(found) is type(value) or isinstance(value, dict)


def test_a_dense_constant_has_one_value_or_several() -> None:
    assert parse_attribute("dense<0> : tensor<4xi32>") == Dense(0, "tensor<4xi32>")
    assert parse_attribute("dense<[0, 1]> : tensor<2xi32>") == Dense((0, 1), "tensor<2xi32>")


def test_a_view_of_shared_memory() -> None:
    found = parse_type("!ttg.memdesc<64x32xf16, #s, #smem, mutable, 3x64x32>", ALIASES)
    assert isinstance(found, MemDesc)
    assert (found.shape, found.alloc_shape) == ((64, 32), (3, 64, 32))
    assert (found.element, found.bits, found.elements) == ("f16", 16, 64 * 32)
    assert found.encoding == ALIASES["#s"]
    assert found.shared and found.mutable


def test_an_allocation_is_cut_from_nothing_but_itself() -> None:
    found = parse_type("!ttg.memdesc<3x64x32xf8E4M3FN, #s, #smem>", ALIASES)
    assert isinstance(found, MemDesc)
    assert (found.shape, found.alloc_shape, found.bits) == ((3, 64, 32), (3, 64, 32), 8)
    assert not found.mutable


def test_memory_of_the_tensor_core_is_not_shared() -> None:
    found = parse_type("!ttg.memdesc<128x128xf32, #t, #ttng.tensor_memory, mutable>", {})
    assert isinstance(found, MemDesc)
    assert not found.shared


def test_tensors() -> None:
    assert parse_type("tensor<64x?xf32>", {}) == Tensor((64, None), "f32", 32, "")
    assert parse_type("tensor<i1>", {}) == Tensor((), "i1", 1, "")
    pointers = parse_type("tensor<64x1x!tt.ptr<f16>, #ttg.slice<{dim = 1, parent = #s}>>", ALIASES)
    inner = f"#ttg.slice<{{dim = 1, parent = {ALIASES['#s']}}}>"
    assert pointers == Tensor((64, 1), "!tt.ptr<f16>", 64, inner)


def test_other_types_stay_text() -> None:
    assert parse_type("!ttg.async.token", {}) is None
    assert parse_type("i32", {}) is None


@pytest.mark.parametrize(
    "element,bits",
    [("i1", 1), ("bf16", 16), ("f8E5M2", 8), ("f4E2M1FN", 4), ("tf32", 32), ("index", 64), ("!x.y", None)],
)
def test_sizes_of_elements(element: str, bits: int | None) -> None:
    assert element_bits(element) == bits


def test_layouts() -> None:
    assert parse_encoding(ALIASES["#s"]) == Encoding("ttg.swizzled_shared", {"vec": 8, "order": (1, 0)})
    padded = parse_encoding("#ttg.padded_shared<[128:+8] {order = [1, 0], shape = [64, 64]}>")
    expected = {"order": (1, 0), "shape": (64, 64)}
    assert padded == Encoding("ttg.padded_shared", expected, "[128:+8]")
    assert parse_encoding("#ttg.shared_memory") == Encoding("ttg.shared_memory")
    assert parse_encoding("i32") is None


LOCATIONS = LocationTable(
    {
        "#loc": 'loc("k.py":3:1)',
        "#loc1": 'loc("x"(#loc))',
        "#loc2": 'loc(callsite(#loc1 at "main.py":9:5))',
        "#loc3": 'loc(callsite(#loc2 at fused<"tag">[unknown, "other.py":1:2]))',
        "#round": "loc(#round)",
    }
)


def test_a_file_location() -> None:
    assert LOCATIONS.parse("#loc") == Location("file", "k.py", 3, 1)
    assert LOCATIONS.parse('"k.py":3:1 to :9') == Location("file", "k.py", 3, 1)


def test_a_name_around_a_place() -> None:
    found = LOCATIONS.parse("#loc1")
    assert (found.kind, found.name, str(found)) == ("name", "x", "k.py:3:1")


def test_a_call_is_placed_at_the_callee_and_remembers_its_callers() -> None:
    found = LOCATIONS.parse("#loc3")
    assert str(found) == "k.py:3:1"
    assert [str(place) for place in found.calls()] == ["main.py:9:5", "other.py:1:2"]


def test_the_word_at_inside_a_name_divides_nothing() -> None:
    found = LOCATIONS.parse('callsite("look at me"("a at b.py":1:2) at #loc)')
    assert str(found) == "a at b.py:1:2"
    assert [str(place) for place in found.calls()] == ["k.py:3:1"]


@pytest.mark.parametrize("text", ["unknown", "", "#nowhere", "#round", "callsite(1", "something(new)"])
def test_a_location_that_tells_nothing_does_no_harm(text: str) -> None:
    assert LOCATIONS.parse(text).place() is None
