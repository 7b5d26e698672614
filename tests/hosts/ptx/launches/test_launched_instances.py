"""Which instances of kernel templates a CUDA file launches."""

from __future__ import annotations

import pytest

from fencepost.hosts.ptx.launches.launched_instances import launched_instances, undeclared_launches


def test_the_instances_of_templates_that_are_launched() -> None:
    text = """
    void run() {
        reduce<256><<<1, 256>>>(x);
        sort<128, float> <<<n, 128>>>(y);  // scan<1><<<1, 1>>>
        reduce<256><<<2, 256>>>(x);
        plain<<<1, 1>>>();
        if (a < b) plain<<<1, 1>>>();
    }
    """
    assert launched_instances(text) == ("reduce<256>", "sort<128, float>")


@pytest.mark.parametrize(
    ("callers", "instances"),
    [
        ("run<double, 4>(x);", ("sort<double, 4>",)),
        ("run<double, 4>(x); run<int, 8>(y);", ("sort<double, 4>", "sort<int, 8>")),
        ("again<short>(x);", ("sort<short, 2>",)),
        # No caller says how many, and no number is more likely than another.
        ("run(x);", ()),
    ],
)
def test_a_template_of_the_host_around_a_launch(callers: str, instances: tuple[str, ...]) -> None:
    text = f"""
    template <typename T, int N> void run(T *data) {{ sort<T, N><<<1, N>>>(data); }}
    template <class U> void again(U *data) {{ run<U, 2>(data); }}
    int main() {{ {callers} }}
    """
    assert (
        tuple(each for each in launched_instances(text) if "U" not in each and "float" not in each)
        == instances
    )


def test_a_type_that_no_caller_names_is_the_usual_one() -> None:
    text = "template <typename T> void run(T *data) { sort<T, 4><<<1, 4>>>(data); }\nint main() { run(x); }"
    assert launched_instances(text) == ("sort<float, 4>",)


def test_a_kernel_whose_types_are_deduced() -> None:
    text = """
    template <typename T, class U> __global__ void sort(T *data, U *other) { }
    template <int N> __global__ void scan(int (&data)[N]) { }
    int main() { sort<<<1, 4>>>(x, y); scan<<<1, 4>>>(x); }
    """
    assert launched_instances(text) == ("sort<float, float>",)


def test_a_kernel_in_namespaces() -> None:
    text = """
    namespace a { namespace { namespace b::c {
    template <int N> __global__ void scan(int *data) { }
    } }
    void run() { b::c::scan<4><<<1, 4>>>(x); using namespace b::c; scan<8><<<1, 8>>>(x); }
    }
    """
    assert launched_instances(text) == ("b::c::scan<4>", "a::b::c::scan<8>")


def test_types_of_function_objects_that_are_made_for_a_call() -> None:
    text = """
    struct Square { __device__ float operator()(float x) const { return x * x; } };
    struct Scale { float by; __device__ float operator()(float x) const { return by * x; } };
    template <typename T, typename Op> __global__ void map(T *data, Op op) { *data = op(*data); }
    template <typename Op> void run(float *data, int n, const Op &op) { map<float, Op><<<n / 256, 256>>>(data, op); }
    int main() { run(nullptr, 256, Square{}); run(nullptr, 256, Scale{2.0f}); run(nullptr, f(1, 2), Square()); }
    """
    assert launched_instances(text) == ("map<float, Square>", "map<float, Scale>")


def test_launches_in_macros_and_through_pointers() -> None:
    text = """
    template <typename T, int N> __global__ void k(T *data) { data[0] = N; }
    #define LAUNCH(n) case n: k<float, n><<<1, n>>>(nullptr); break
    int main(int argc, char **) {
        switch (argc) { LAUNCH(64); LAUNCH(128); }
        auto kernel = k<double, 32>;
        kernel<<<1, 32>>>(nullptr);
    }
    """
    assert launched_instances(text) == ("k<float, 64>", "k<float, 128>", "k<double, 32>")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("__global__ void k(int *a) { }\nint main() { k<<<1, 1>>>(0); }", ()),
        ("MAKE(k16)\nint main() { k16<<<1, 1>>>(0); other<4> <<<1, 1>>>(0); }", ("k16", "other")),
        ("#define NAME k\n__global__ void k() { }\nint main() { NAME<<<1, 1>>>(); }", ()),
        ("void run(void (*kernel)(int *)) { kernel<<<1, 1>>>(0); }", ()),
        ("template <class F> void run(F kernel) { kernel<<<1, 1>>>(0); }", ()),
        ("int main() { auto kernel = choose(); kernel<<<1, 1>>>(0); kernels[0]<<<1, 1>>>(0); }", ()),
        ("// gone<<<1, 1>>>();\nint main() { object.kernel<<<1, 1>>>(); }", ()),
    ],
)
def test_kernels_that_are_launched_and_declared_nowhere(text: str, names: tuple[str, ...]) -> None:
    assert undeclared_launches(text) == names
