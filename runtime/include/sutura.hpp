// Running compiled models (.sutura artifacts) from C++17: sutura.h with objects that free themselves, exceptions and
// typed tensors. Header only; link as sutura.h says.
//
//   sutura::Model model("mlp.sutura");
//   std::vector<float> x(2 * 16), y(2 * 4);
//   model.run({sutura::tensor(x, {2, 16})}, {sutura::tensor(y, {2, 4})});
//
// Nothing is copied: a tensor is a view of memory that the caller owns and that lives until the call is over. Objects
// are moved, not copied; one that was moved from may only be destroyed or assigned to. A model may run on several
// threads at once. Functions that fail throw sutura::Error, which has the status and the message; destructors do not
// throw.
#ifndef SUTURA_HPP
#define SUTURA_HPP

#include <complex>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "sutura.h"

namespace sutura {

// What went wrong: what() is the message, status() of what kind it is.
class Error : public std::runtime_error {
 public:
  Error(sutura_status status, const std::string &message) : std::runtime_error(message), status_(status) {}
  sutura_status status() const noexcept { return status_; }

 private:
  sutura_status status_;
};

namespace detail {

inline void check(sutura_status status) {
  if (status != SUTURA_OK) throw Error(status, sutura_last_error());
}

// What a function returned that says by NULL or -1 that something is wrong with its arguments.
inline const char *check(const char *text) {
  return text != nullptr ? text : throw Error(SUTURA_USAGE, sutura_last_error());
}

inline int32_t check_count(int32_t count) {
  return count >= 0 ? count : throw Error(SUTURA_USAGE, sutura_last_error());
}

inline int32_t count(std::size_t n) {
  return n <= static_cast<std::size_t>(INT32_MAX) ? static_cast<int32_t>(n) : INT32_MAX;
}

// An object of the library and the function that gives it back.
template <typename T, void (*Free)(T *)>
struct Deleter {
  void operator()(T *object) const noexcept { Free(object); }
};
template <typename T, void (*Free)(T *)>
using Owner = std::unique_ptr<T, Deleter<T, Free>>;

template <typename T>
struct Unknown : std::false_type {};

// The element type of a C++ type.
template <typename T>
constexpr sutura_element_type element_type() {
  using U = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<U, bool>)
    return SUTURA_BOOL;
  else if constexpr (std::is_same_v<U, float>)
    return SUTURA_F32;
  else if constexpr (std::is_same_v<U, double>)
    return SUTURA_F64;
  else if constexpr (std::is_same_v<U, std::complex<float>>)
    return SUTURA_COMPLEX64;
  else if constexpr (std::is_same_v<U, std::complex<double>>)
    return SUTURA_COMPLEX128;
  else if constexpr (std::is_integral_v<U> && sizeof(U) == 1)
    return std::is_signed_v<U> ? SUTURA_I8 : SUTURA_U8;
  else if constexpr (std::is_integral_v<U> && sizeof(U) == 2)
    return std::is_signed_v<U> ? SUTURA_I16 : SUTURA_U16;
  else if constexpr (std::is_integral_v<U> && sizeof(U) == 4)
    return std::is_signed_v<U> ? SUTURA_I32 : SUTURA_U32;
  else if constexpr (std::is_integral_v<U> && sizeof(U) == 8)
    return std::is_signed_v<U> ? SUTURA_I64 : SUTURA_U64;
  else
    static_assert(Unknown<U>::value, "name the element type: sutura::raw(SUTURA_F16, data, bytes, dims)");
}

}  // namespace detail

// The dims of a tensor, the last varying fastest.
using Dims = std::vector<int64_t>;

// A view of contiguous row-major memory of the caller. As an input it is only read.
class Tensor {
 public:
  sutura_element_type element_type() const noexcept { return element_type_; }
  const Dims &dims() const noexcept { return dims_; }
  void *data() const noexcept { return data_; }

  // Of any element type. `bytes` is the size of the memory, which must be that of the elements.
  Tensor(sutura_element_type element_type, void *data, std::size_t bytes, Dims dims)
      : element_type_(element_type), dims_(std::move(dims)), data_(data) {
    std::size_t wanted = size_of(element_type);
    for (int64_t dim : dims_) {
      if (dim < 0) throw Error(SUTURA_INPUT, "a tensor has the negative dimension " + std::to_string(dim));
      if (dim > 0 && wanted > SIZE_MAX / static_cast<std::size_t>(dim))
        throw Error(SUTURA_INPUT, "a tensor is larger than memory");
      wanted *= static_cast<std::size_t>(dim);
    }
    if (wanted != bytes)
      throw Error(SUTURA_INPUT, "a tensor of these dims has " + std::to_string(wanted) + " bytes, but its memory has " +
                                    std::to_string(bytes));
  }

  // As C has it. It refers to this tensor's dims.
  sutura_tensor view() const noexcept {
    return {static_cast<int32_t>(element_type_), detail::count(dims_.size()), dims_.data(), data_};
  }

 private:
  static std::size_t size_of(sutura_element_type element_type) {
    int32_t size = sutura_element_size(element_type);
    if (size < 0)
      throw Error(SUTURA_USAGE, "there is no element type " + std::to_string(static_cast<int>(element_type)));
    return static_cast<std::size_t>(size);
  }

  sutura_element_type element_type_;
  Dims dims_;
  void *data_;
};

// A view of `size` elements at an address.
template <typename T>
Tensor tensor(T *data, std::size_t size, Dims dims) {
  auto *bytes = const_cast<void *>(static_cast<const void *>(data));
  return Tensor(detail::element_type<T>(), bytes, size * sizeof(T), std::move(dims));
}

// A view of what has data() and size(): a vector, an array, a span.
template <typename Container>
Tensor tensor(Container &&elements, Dims dims) {
  static_assert(std::is_lvalue_reference_v<Container>, "the memory must live until the call is over: name it");
  return tensor(elements.data(), elements.size(), std::move(dims));
}

// A view of bytes, for elements that C++ has no type for, such as SUTURA_F16.
inline Tensor raw(sutura_element_type element_type, void *data, std::size_t bytes, Dims dims) {
  return Tensor(element_type, data, bytes, std::move(dims));
}

// An input or an output as the model declares it.
struct Value {
  std::string name;
  sutura_element_type element_type;
  Dims dims;  // -1 where the dimension depends on the inputs
};

// The times of one launch of a model; see sutura_launch.
struct Launch {
  std::string kernel;  // empty if the code does not say
  int64_t groups, chunks;
  uint64_t calls, total_ns, least_ns;
  int32_t position;
};

// What a device is; see sutura_device_info.
struct DeviceInfo {
  std::string id, name, kind, driver, target;
  std::string problem;  // why it cannot run models; empty if it can
  uint64_t memory_bytes;
};

// The devices of this machine.
inline std::vector<DeviceInfo> devices() {
  sutura_device_list *made = nullptr;
  detail::check(sutura_devices_find(&made));
  detail::Owner<sutura_device_list, sutura_devices_free> list(made);
  std::vector<DeviceInfo> found;
  int32_t count = detail::check_count(sutura_devices_count(made));
  for (int32_t i = 0; i < count; i++) {
    sutura_device_info info;
    detail::check(sutura_devices_info(made, i, &info));
    found.push_back(
        {info.id, info.name, info.kind, info.driver, info.target, info.problem ? info.problem : "", info.memory_bytes});
  }
  return found;
}

// An open device.
class Device {
 public:
  // By a name as of sutura_device_open.
  explicit Device(const std::string &name) {
    sutura_device *made = nullptr;
    detail::check(sutura_device_open(name.c_str(), &made));
    device_.reset(made);
  }
  std::string name() const { return detail::check(sutura_device_name(get())); }
  const sutura_device *get() const noexcept { return device_.get(); }

 private:
  detail::Owner<sutura_device, sutura_device_close> device_;
};

// How a model is opened. `device_name` and `device` are as in sutura_options; at most one of them is given.
struct Options {
  int32_t threads = 0;
  std::string device_name = {};
  const Device *device = nullptr;
  bool trusted = false, profile = false;
};

// A loaded model.
class Model {
 public:
  // From a file.
  explicit Model(const std::string &path, const Options &options = {}) {
    sutura_options given = convert(options);
    open([&](sutura_model **made) { return sutura_model_open_with(path.c_str(), &given, made); });
  }

  // From memory, which is copied.
  Model(const void *bytes, std::size_t size, const Options &options = {}) {
    sutura_options given = convert(options);
    open([&](sutura_model **made) { return sutura_model_open_memory(bytes, size, &given, made); });
  }

  std::string signature() const { return detail::check(sutura_model_signature(get())); }
  std::string device() const { return detail::check(sutura_model_device(get())); }
  std::vector<Value> inputs() const { return values(sutura_model_input_count, sutura_model_input); }
  std::vector<Value> outputs() const { return values(sutura_model_output_count, sutura_model_output); }

  std::size_t input_index(const std::string &name) const { return index(sutura_model_input_index, name); }
  std::size_t output_index(const std::string &name) const { return index(sutura_model_output_index, name); }

  // The dims of an output for these inputs, without running; of those that data decide, the most that they may be.
  Dims output_dims(const std::vector<Tensor> &inputs, std::size_t output) const {
    auto views = convert(inputs);
    sutura_value value;
    detail::check(sutura_model_output(get(), detail::count(output), &value));
    Dims dims(static_cast<std::size_t>(value.rank));
    detail::check(
        sutura_model_output_dims(get(), views.data(), detail::count(views.size()), detail::count(output), dims.data()));
    return dims;
  }

  // Runs the model, inputs and outputs in the order of the signature.
  void run(const std::vector<Tensor> &inputs, const std::vector<Tensor> &outputs) const {
    auto in = convert(inputs), out = convert(outputs);
    detail::check(sutura_model_run(get(), in.data(), detail::count(in.size()), out.data(), detail::count(out.size())));
  }

  // The same, and the dims of the outputs, also where data decide them.
  std::vector<Dims> run_dims(const std::vector<Tensor> &inputs, const std::vector<Tensor> &outputs) const {
    auto in = convert(inputs), out = convert(outputs);
    std::size_t ranks = 0;
    for (const Tensor &output : outputs) ranks += output.dims().size();
    Dims all(ranks);
    detail::check(sutura_model_run_dims(get(), in.data(), detail::count(in.size()), out.data(),
                                        detail::count(out.size()), all.data()));
    std::vector<Dims> dims;
    auto next = all.cbegin();
    for (const Tensor &output : outputs) {
      auto end = next + static_cast<std::ptrdiff_t>(output.dims().size());
      dims.emplace_back(next, end);
      next = end;
    }
    return dims;
  }

  using Named = std::vector<std::pair<std::string, Tensor>>;

  // Runs the model on tensors by name.
  void run_by_name(const Named &inputs, const Named &outputs) const {
    auto [in_names, in] = convert(inputs);
    auto [out_names, out] = convert(outputs);
    detail::check(sutura_model_run_by_name(get(), in_names.data(), in.data(), detail::count(in.size()),
                                           out_names.data(), out.data(), detail::count(out.size())));
  }

  // The times of launches so far, of a model that was opened with the option profile.
  std::vector<Launch> profile() const {
    sutura_profile *made = nullptr;
    detail::check(sutura_model_profile(get(), &made));
    detail::Owner<sutura_profile, sutura_profile_free> owner(made);
    std::vector<Launch> launches;
    int32_t count = detail::check_count(sutura_profile_count(made));
    for (int32_t i = 0; i < count; i++) {
      sutura_launch launch;
      detail::check(sutura_profile_launch(made, i, &launch));
      launches.push_back({launch.kernel ? launch.kernel : "", launch.groups, launch.chunks, launch.calls,
                          launch.total_ns, launch.least_ns, launch.position});
    }
    return launches;
  }
  void clear_profile() const { detail::check(sutura_model_clear_profile(get())); }

  const sutura_model *get() const noexcept { return model_.get(); }

 private:
  template <typename Open>
  void open(Open how) {
    sutura_model *made = nullptr;
    detail::check(how(&made));
    model_.reset(made);
  }

  // It refers to the options.
  static sutura_options convert(const Options &options) {
    sutura_options given = SUTURA_OPTIONS_INIT;
    given.threads = options.threads;
    given.device_name = options.device_name.empty() ? nullptr : options.device_name.c_str();
    given.device = options.device ? options.device->get() : nullptr;
    given.trusted = options.trusted, given.profile = options.profile;
    return given;
  }

  static std::vector<sutura_tensor> convert(const std::vector<Tensor> &tensors) {
    std::vector<sutura_tensor> views;
    for (const Tensor &tensor : tensors) views.push_back(tensor.view());
    return views;
  }

  static std::pair<std::vector<const char *>, std::vector<sutura_tensor>> convert(const Named &tensors) {
    std::pair<std::vector<const char *>, std::vector<sutura_tensor>> both;
    for (const auto &[name, tensor] : tensors) both.first.push_back(name.c_str()), both.second.push_back(tensor.view());
    return both;
  }

  template <typename Count, typename Describe>
  std::vector<Value> values(Count count, Describe describe) const {
    std::vector<Value> all;
    int32_t n = detail::check_count(count(get()));
    for (int32_t i = 0; i < n; i++) {
      sutura_value value;
      detail::check(describe(get(), i, &value));
      all.push_back({value.name, static_cast<sutura_element_type>(value.element_type),
                     Dims(value.dims, value.dims + value.rank)});
    }
    return all;
  }

  template <typename Find>
  std::size_t index(Find find, const std::string &name) const {
    int32_t found = -1;
    detail::check(find(get(), name.c_str(), &found));
    return static_cast<std::size_t>(found);
  }

  detail::Owner<sutura_model, sutura_model_close> model_;
};

// A tensor in the memory of a device; it belongs to the session that made it.
class DeviceTensor {
 public:
  explicit DeviceTensor(sutura_device_tensor *tensor) noexcept : tensor_(tensor) {}
  Value describe() const {
    sutura_value value;
    detail::check(sutura_device_tensor_describe(get(), &value));
    return {"", static_cast<sutura_element_type>(value.element_type), Dims(value.dims, value.dims + value.rank)};
  }
  sutura_device_tensor *get() const noexcept { return tensor_.get(); }

 private:
  detail::Owner<sutura_device_tensor, sutura_device_tensor_free> tensor_;
};

// Runs on tensors that stay on a device; see "Sessions" in sutura.h.
class Session {
 public:
  explicit Session(const Device &device) {
    sutura_session *made = nullptr;
    detail::check(sutura_session_open(device.get(), &made));
    session_.reset(made);
  }

  // A tensor with any content.
  DeviceTensor tensor(sutura_element_type element_type, const Dims &dims) const {
    sutura_device_tensor *made = nullptr;
    detail::check(sutura_session_tensor(get(), element_type, detail::count(dims.size()), dims.data(), &made));
    return DeviceTensor(made);
  }

  DeviceTensor upload(const Tensor &from) const {
    sutura_tensor view = from.view();
    sutura_device_tensor *made = nullptr;
    detail::check(sutura_session_upload(get(), &view, &made));
    return DeviceTensor(made);
  }

  void download(const DeviceTensor &from, const Tensor &to) const {
    sutura_tensor view = to.view();
    detail::check(sutura_session_download(get(), from.get(), &view));
  }

  using Inputs = std::initializer_list<std::reference_wrapper<const DeviceTensor>>;

  // Enqueues a run; the outputs are new.
  std::vector<DeviceTensor> run(const Model &model, Inputs inputs) const {
    auto in = convert(inputs);
    std::vector<sutura_device_tensor *> made(
        static_cast<std::size_t>(detail::check_count(sutura_model_output_count(model.get()))));
    std::vector<DeviceTensor> outputs;
    outputs.reserve(made.size());
    detail::check(sutura_session_run(get(), model.get(), in.data(), detail::count(in.size()), made.data(),
                                     detail::count(made.size())));
    for (sutura_device_tensor *tensor : made) outputs.emplace_back(tensor);
    return outputs;
  }

  // Enqueues a run into tensors that are there.
  void run_into(const Model &model, Inputs inputs,
                std::initializer_list<std::reference_wrapper<DeviceTensor>> outputs) const {
    auto in = convert(inputs);
    std::vector<sutura_device_tensor *> out;
    for (DeviceTensor &tensor : outputs) out.push_back(tensor.get());
    detail::check(sutura_session_run_into(get(), model.get(), in.data(), detail::count(in.size()), out.data(),
                                          detail::count(out.size())));
  }

  void copy(const DeviceTensor &from, DeviceTensor &to) const {
    detail::check(sutura_session_copy(get(), from.get(), to.get()));
  }

  void synchronize() const { detail::check(sutura_session_synchronize(get())); }

  const sutura_session *get() const noexcept { return session_.get(); }

 private:
  static std::vector<const sutura_device_tensor *> convert(Inputs inputs) {
    std::vector<const sutura_device_tensor *> in;
    for (const DeviceTensor &tensor : inputs) in.push_back(tensor.get());
    return in;
  }

  detail::Owner<sutura_session, sutura_session_close> session_;
};

}  // namespace sutura

#endif
