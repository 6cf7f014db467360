// Uses all of sutura.hpp: `embed ROWS` on the processor, `embed CHAIN device` on a device. Ends with 0 if all is as it
// should be.
#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <type_traits>

#include "sutura.hpp"

#define EXPECT(condition)                                           \
  do {                                                              \
    if (!(condition)) {                                             \
      std::printf("line %d: %s is not so\n", __LINE__, #condition); \
      return 1;                                                     \
    }                                                               \
  } while (0)

// Whether a call throws an error of this status with these words.
template <typename Call>
static bool throws(sutura_status status, const char *words, Call call) {
  try {
    call();
  } catch (const sutura::Error &error) {
    if (error.status() == status && std::strstr(error.what(), words)) return true;
    std::printf("%d '%s' instead of %d '%s'\n", error.status(), error.what(), status, words);
    return false;
  }
  std::printf("no error instead of '%s'\n", words);
  return false;
}

template <typename T>
constexpr bool moves_only = std::is_nothrow_move_constructible_v<T> && std::is_nothrow_move_assignable_v<T> &&
                            !std::is_copy_constructible_v<T> && !std::is_copy_assignable_v<T>;
static_assert(moves_only<sutura::Model> && moves_only<sutura::Device> && moves_only<sutura::Session>);
static_assert(moves_only<sutura::DeviceTensor>);
static_assert(sutura::detail::element_type<const long long>() == SUTURA_I64);
static_assert(sutura::detail::element_type<unsigned char>() == SUTURA_U8);
static_assert(sutura::detail::element_type<std::complex<double>>() == SUTURA_COMPLEX128);

static int on_processor(const std::string &path) {
  using sutura::tensor;
  sutura::Model first(path, {2, {}, nullptr, false, true});
  sutura::Model model = std::move(first);
  EXPECT(throws(SUTURA_USAGE, "null pointer: model", [&] { first.signature(); }));
  EXPECT(model.signature() == "rows(x: f32[rows, cols], bias: f32[cols]) -> (y: f32[rows, cols], sums: f32[rows])");
  EXPECT(model.device() == "cpu");
  auto inputs = model.inputs();
  EXPECT(inputs.size() == 2 && inputs[1].name == "bias" && inputs[0].dims == sutura::Dims({-1, -1}));
  EXPECT(model.outputs()[1].element_type == SUTURA_F32);
  EXPECT(model.input_index("bias") == 1 && model.output_index("y") == 0);
  EXPECT(throws(SUTURA_USAGE, "did you mean `bias`?", [&] { model.input_index("bia"); }));

  std::vector<float> x(6), y(6), again(6);
  const std::array<float, 3> bias = {0, 10, 20};
  float sums[2];
  for (int i = 0; i < 6; i++) x[static_cast<std::size_t>(i)] = static_cast<float>(i);
  auto in = std::vector{tensor(x, {2, 3}), tensor(bias, {3})};
  EXPECT(model.output_dims(in, 0) == sutura::Dims({2, 3}));
  EXPECT(throws(SUTURA_USAGE, "there is no output 7", [&] { model.output_dims(in, 7); }));
  model.run(in, {tensor(y, {2, 3}), tensor(sums, 2, {2})});
  EXPECT(y == std::vector<float>({-3, 8.5, 20, -7.5, 4, 15.5}) && sums[0] == 3 && sums[1] == 12);
  model.run_by_name({{"bias", in[1]}, {"x", in[0]}}, {{"sums", tensor(sums, 2, {2})}, {"y", tensor(again, {2, 3})}});
  EXPECT(again == y);
  auto dims = model.run_dims(in, {tensor(y, {2, 3}), tensor(sums, 2, {2})});
  EXPECT(dims.size() == 2 && dims[0] == sutura::Dims({2, 3}) && dims[1] == sutura::Dims({2}));
  auto launches = model.profile();
  EXPECT(launches.size() == 2 && launches[0].calls == 3 && launches[1].position == 1);
  model.clear_profile();
  EXPECT(model.profile().empty());

  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  model = sutura::Model(bytes.data(), bytes.size());
  model.run(in, {tensor(again, {2, 3}), tensor(sums, 2, {2})});
  EXPECT(again == y);

  std::vector<int32_t> wrong(6);
  EXPECT(throws(SUTURA_USAGE, "the model has 2 outputs", [&] { model.run(in, {}); }));
  EXPECT(throws(SUTURA_INPUT, "`x` has element type i32",
                [&] { model.run({tensor(wrong, {2, 3}), in[1]}, {tensor(again, {2, 3}), tensor(sums, 2, {2})}); }));
  EXPECT(throws(SUTURA_INPUT, "has 28 bytes, but its memory has 24", [&] { tensor(x, {7}); }));
  EXPECT(throws(SUTURA_INPUT, "negative dimension -2", [&] { tensor(x, {-2, -3}); }));
  EXPECT(throws(SUTURA_INPUT, "larger than memory", [&] { tensor(x, {INT64_MAX, INT64_MAX}); }));
  EXPECT(throws(SUTURA_USAGE, "no element type 31",
                [&] { sutura::raw(static_cast<sutura_element_type>(31), nullptr, 0, {}); }));
  EXPECT(throws(SUTURA_SYSTEM, "cannot read `absent.sutura`", [] { sutura::Model("absent.sutura"); }));
  EXPECT(throws(SUTURA_CORRUPT, "`memory`", [] { sutura::Model("nonsense", 8); }));
  EXPECT(throws(SUTURA_USAGE, "no such device", [] { sutura::Device("no such device"); }));
  EXPECT(!sutura::devices().empty());
  return 0;
}

static int on_device(const std::string &path) {
  sutura::Device device("cuda");
  sutura::Model model(path, {0, {}, &device, false, false});
  EXPECT(model.device() == device.name());
  std::vector<float> x(70), y(70), z(70), back(70);
  for (int i = 0; i < 70; i++) x[static_cast<std::size_t>(i)] = static_cast<float>(i);
  model.run({sutura::tensor(x, {70})}, {sutura::tensor(y, {70}), sutura::tensor(z, {70})});
  sutura::Session session(device);
  auto in = session.upload(sutura::tensor(x, {70}));
  EXPECT(in.describe().dims == sutura::Dims({70}));
  auto out = session.run(model, {in});
  EXPECT(out.size() == 2);
  session.download(out[1], sutura::tensor(back, {70}));
  EXPECT(back == z);
  auto kept = session.tensor(SUTURA_F32, {70});
  session.run_into(model, {in}, {kept, out[1]});
  session.copy(kept, out[0]);
  session.synchronize();
  session.download(out[0], sutura::tensor(back, {70}));
  EXPECT(back == y);
  EXPECT(throws(SUTURA_USAGE, "output 0 is also input 0", [&] { session.run_into(model, {in}, {in, kept}); }));
  return 0;
}

int main(int argc, char **argv) {
  try {
    return argc == 3 ? on_device(argv[1]) : argc == 2 ? on_processor(argv[1]) : 2;
  } catch (const std::exception &error) {
    std::printf("%s\n", error.what());
    return 3;
  }
}
