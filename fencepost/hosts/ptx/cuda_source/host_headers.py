"""What host code uses around its launches, declared for the device: `compiled_launches` compiles it there.

What is not declared is left out with all that depends on it, in the end with the launches. Nothing of this is
ever run.
"""

from __future__ import annotations

HOST_HEADER = "fencepost/host"
_C = """
int atoi(const char *); long atol(const char *); long long atoll(const char *); double atof(const char *);
long strtol(const char *, char **, int); unsigned long strtoul(const char *, char **, int);
double strtod(const char *, char **); float strtof(const char *, char **);
int rand(); void srand(unsigned); double drand48(); long lrand48(); void srand48(long);
void exit(int); void abort(); char *getenv(const char *);
int strcmp(const char *, const char *); unsigned long strlen(const char *);
struct FILE; extern FILE *stdin, *stdout, *stderr;
template <class... A> int fprintf(FILE *, const char *, A...);
template <class... A> int scanf(const char *, A...);
template <class... A> int sscanf(const char *, const char *, A...);
template <class... A> void *calloc(A...);
template <class... A> void *realloc(A...);
template <class... A> void qsort(A...);
"""
_CUDA = """
template <typename T> static __inline__ __device__ cudaError_t cudaMalloc(T **, size_t) { return cudaError_t(); }
"""
_VARIADIC = """
cudaLaunchKernel cudaLaunchCooperativeKernel cudaLaunchKernelEx cudaLaunchKernelExC cudaFuncSetCacheConfig
cudaFuncSetSharedMemConfig cudaMallocHost cudaMallocManaged cudaMallocPitch cudaMallocAsync cudaHostAlloc cudaMemcpy
cudaMemset cudaMemcpyToSymbol cudaMemcpyFromSymbol cudaSetDevice cudaStreamCreate cudaStreamSynchronize
cudaEventCreate cudaEventSynchronize cudaEventElapsedTime cudaDeviceReset cudaFreeHost cudaMemGetInfo
cudaDeviceSynchronize cudaGetDeviceProperties cudaMemPrefetchAsync cudaOccupancyMaxPotentialBlockSize
"""
"""Functions of CUDA that the device does not have, or has with other arguments."""
_STANDARD = """
namespace std {
using ::atoi; using ::atol; using ::atoll; using ::atof; using ::strtol; using ::strtod; using ::rand; using ::srand;
using ::exit; using ::abort; using ::getenv; using ::strcmp; using ::strlen; using ::printf; using ::fprintf;
using ::malloc; using ::free; using ::memset; using ::memcpy;
template <class T, class = void> struct vector {
  typedef T value_type;
  typedef T *iterator;
  vector();
  template <class... A> vector(A...);
  T *data() const; T *begin() const; T *end() const; T *cbegin() const; T *cend() const;
  T &operator[](long) const; T &at(long) const; T &front() const; T &back() const;
  unsigned long size() const; unsigned long capacity() const; bool empty() const; void clear(); void pop_back();
  template <class... A> void resize(A...); template <class... A> void reserve(A...);
  template <class... A> void push_back(A...); template <class... A> void emplace_back(A...);
  template <class... A> void assign(A...); template <class... A> void insert(A...);
};
struct string {
  string();
  template <class... A> string(A...);
  const char *c_str() const; const char *data() const; char &operator[](long) const; unsigned long size() const;
  unsigned long length() const; bool empty() const; char *begin() const; char *end() const;
  template <class... A> string substr(A...) const; template <class... A> unsigned long find(A...) const;
  template <class A> string operator+(A) const; template <class A> bool operator==(A) const;
};
template <class A> string to_string(A);
template <class... A> int stoi(A...); template <class... A> long stol(A...); template <class... A> float stof(A...);
template <class... A> double stod(A...); template <class... A> unsigned long stoul(A...);
struct ostream { template <class A> const ostream &operator<<(A) const; };
extern ostream cout, cerr, clog;
extern int endl, flush, fixed, scientific;
template <class... A> int setw(A...); template <class... A> int setprecision(A...);
template <class T, class = void> struct unique_ptr {
  unique_ptr(); template <class... A> unique_ptr(A...);
  T *get() const; T *operator->() const; T &operator*() const; T &operator[](long) const;
};
template <class T> struct unique_ptr<T[], void> {
  unique_ptr(); template <class... A> unique_ptr(A...);
  T *get() const; T &operator[](long) const;
};
template <class T> struct shared_ptr : unique_ptr<T> { using unique_ptr<T>::unique_ptr; };
template <class T, class... A> unique_ptr<T> make_unique(A...);
template <class T, class... A> shared_ptr<T> make_shared(A...);
template <class F> struct function;
template <class R, class... A> struct function<R(A...)> {
  function(); template <class F> function(F); R operator()(A...) const;
};
}
namespace thrust {
template <class T> struct device_ptr { T *get() const; };
template <class T> struct device_vector : std::vector<T> {
  using std::vector<T>::vector;
  device_ptr<T> data() const;
};
template <class T> struct host_vector : std::vector<T> { using std::vector<T>::vector; };
template <class T> T *raw_pointer_cast(device_ptr<T>);
template <class T> T *raw_pointer_cast(T *);
}
"""


def host_header() -> str:
    """The text of the header."""
    variadic = "".join(f"template <class... A> cudaError_t {name}(A...);\n" for name in _VARIADIC.split())
    return f"#pragma once\n{_C}{_CUDA}{variadic}{_STANDARD}"
