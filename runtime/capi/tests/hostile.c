/* Calls the library in every wrong way that it promises to refuse. Pointers that must not be followed lead to memory that
 * cannot be read, so a test that follows one ends with a signal. Prints a line for each wrong answer. */
#define _DEFAULT_SOURCE
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sutura.h"

static int failures = 0, cases = 0;

/* The call has to be refused with this status, and words of the message. */
static void refused_at(int line, sutura_status status, sutura_status expected, const char *words) {
  cases++;
  if (status == expected && strstr(sutura_last_error(), words)) return;
  failures++;
  printf("line %d: status %d instead of %d, '%s' instead of '%s'\n", line, status, expected, sutura_last_error(), words);
}

static void fine_at(int line, sutura_status status) {
  cases++;
  if (status == SUTURA_OK) return;
  failures++;
  printf("line %d: status %d, '%s'\n", line, status, sutura_last_error());
}

static void holds_at(int line, int condition, const char *what) {
  cases++;
  if (condition) return;
  failures++;
  printf("line %d: %s is not so\n", line, what);
}

#define USAGE(call, words) refused_at(__LINE__, call, SUTURA_USAGE, words)
#define INPUT(call, words) refused_at(__LINE__, call, SUTURA_INPUT, words)
#define FINE(call) fine_at(__LINE__, call)
#define HOLDS(condition) holds_at(__LINE__, condition, #condition)

/* Memory of this many bytes, the end of it at the end of what can be read. */
static void *at_end(size_t bytes) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (bytes + page - 1) / page;
  char *memory = mmap(NULL, (pages + 1) * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || mprotect(memory + pages * page, page, PROT_NONE)) exit(3);
  return memory + pages * page - bytes;
}

/* An address that cannot be read. */
static void *nowhere(void) { return at_end(0); }

static void *odd(const void *pointer) { return (char *)pointer + 1; }

/* Of a model "rows(x: f32[rows, cols], bias: f32[cols]) -> (y: f32[rows, cols], sums: f32[rows])". */
static void rows(const char *path) {
  sutura_model *model = NULL;
  FINE(sutura_model_open(path, 2, &model));
  sutura_value value;
  void *bad = nowhere();

  /* Numbers are compared before anything is read. */
  int32_t counts[] = {INT_MAX, INT_MIN, -1, 0, 1, 3, 1000};
  int64_t *dims = at_end(sizeof(int64_t[2]));
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    USAGE(sutura_model_run(model, bad, counts[i], bad, 2), "the model has 2 inputs (`x`, `bias`), but");
    USAGE(sutura_model_run(model, NULL, counts[i], NULL, 2), "the model has 2 inputs");
    USAGE(sutura_model_run(model, bad, 2, bad, counts[i]), "the model has 2 outputs (`y`, `sums`), but");
    USAGE(sutura_model_output_dims(model, bad, counts[i], 0, dims), "the model has 2 inputs");
  }
  int32_t places[] = {INT_MAX, INT_MIN, -1, 2};
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    USAGE(sutura_model_output_dims(model, bad, 2, places[i], dims), "there is no output");
    USAGE(sutura_model_input(model, places[i], &value), "there is no input");
    USAGE(sutura_model_output(model, places[i], bad), "there is no output");
  }

  /* Arrays without a tensor too many. */
  sutura_tensor *in = at_end(sizeof(sutura_tensor[2])), *out = at_end(sizeof(sutura_tensor[2]));
  int64_t *x_dims = at_end(sizeof(int64_t[2])), *bias_dims = at_end(sizeof(int64_t[1]));
  int64_t *y_dims = at_end(sizeof(int64_t[2])), *sums_dims = at_end(sizeof(int64_t[1]));
  float *x = at_end(64), *bias = at_end(64), *y = at_end(64), *sums = at_end(64);
  memset(x, 0, 64), memset(bias, 0, 64);
  x_dims[0] = y_dims[0] = sums_dims[0] = 2, x_dims[1] = y_dims[1] = bias_dims[0] = 3;
  const sutura_tensor good_in[] = {{SUTURA_F32, 2, x_dims, x}, {SUTURA_F32, 1, bias_dims, bias}};
  const sutura_tensor good_out[] = {{SUTURA_F32, 2, y_dims, y}, {SUTURA_F32, 1, sums_dims, sums}};
#define RESET() (memcpy(in, good_in, sizeof good_in), memcpy(out, good_out, sizeof good_out))
#define RUN() sutura_model_run(model, in, 2, out, 2)
#define DIMS(to) sutura_model_output_dims(model, in, 2, 0, to)
  RESET();
  FINE(RUN());
  FINE(DIMS(dims));
  HOLDS(dims[0] == 2 && dims[1] == 3);

  /* Null and misaligned arrays, handles, results, strings. */
  USAGE(sutura_model_run(model, NULL, 2, out, 2), "null pointer: inputs");
  USAGE(sutura_model_run(model, in, 2, NULL, 2), "null pointer: outputs");
  USAGE(sutura_model_run(model, odd(in), 2, out, 2), "misaligned pointer: inputs");
  USAGE(sutura_model_run(model, in, 2, odd(out), 2), "misaligned pointer: outputs");
  USAGE(sutura_model_output_dims(model, NULL, 2, 0, dims), "null pointer: inputs");
  USAGE(sutura_model_output_dims(model, odd(in), 2, 0, dims), "misaligned pointer: inputs");
  USAGE(DIMS(NULL), "null pointer: dims");
  USAGE(DIMS(odd(dims)), "misaligned pointer: dims");
  USAGE(sutura_model_run(NULL, in, 2, out, 2), "null pointer: model");
  USAGE(sutura_model_run(odd(model), in, 2, out, 2), "misaligned pointer: model");
  USAGE(sutura_model_output_dims(NULL, in, 2, 0, dims), "null pointer: model");
  USAGE(sutura_model_output_dims(odd(model), in, 2, 0, dims), "misaligned pointer: model");
  USAGE(sutura_model_input(NULL, 0, &value), "null pointer: model");
  USAGE(sutura_model_input(model, 0, NULL), "null pointer: value");
  USAGE(sutura_model_input(model, 0, odd(&value)), "misaligned pointer: value");
  USAGE(sutura_model_output(NULL, 0, &value), "null pointer: model");
  USAGE(sutura_model_output(model, 0, NULL), "null pointer: value");
  USAGE(sutura_model_output(model, 0, odd(&value)), "misaligned pointer: value");
  HOLDS(sutura_model_signature(NULL) == NULL && sutura_model_signature(odd(model)) == NULL);
  HOLDS(sutura_model_input_count(NULL) == -1 && sutura_model_input_count(odd(model)) == -1);
  HOLDS(sutura_model_output_count(NULL) == -1 && sutura_model_output_count(odd(model)) == -1);
  sutura_model_close(NULL);
  sutura_model_close(odd(model));
  sutura_model *other = NULL, *space[2] = {NULL, NULL};
  USAGE(sutura_model_open(NULL, 1, &other), "null pointer: path");
  USAGE(sutura_model_open(path, 1, NULL), "null pointer: model");
  USAGE(sutura_model_open(path, 1, odd(space)), "misaligned pointer: model");
  USAGE(sutura_model_open(path, -1, &other), "the number of threads is negative: -1");
  USAGE(sutura_model_open(path, INT_MIN, &other), "the number of threads is negative");
  USAGE(sutura_model_open(path, INT_MAX, &other), "must be a whole number from 1 to 1024");
  USAGE(sutura_model_open_trusted(NULL, 1, &other), "null pointer: path");
  USAGE(sutura_model_open_trusted(path, 1, NULL), "null pointer: model");
  USAGE(sutura_model_open_trusted(path, 1, odd(space)), "misaligned pointer: model");
  refused_at(__LINE__, sutura_model_open("", 1, &other), SUTURA_SYSTEM, "cannot read ``");
  refused_at(__LINE__, sutura_model_open("/dev/zero", 1, &other), SUTURA_CORRUPT, "a device, not a file");
  refused_at(__LINE__, sutura_model_open("/", 1, &other), SUTURA_CORRUPT, "a folder, not a file");
  HOLDS(other == NULL);
  FINE(sutura_model_open_trusted(path, 1, &other));
  sutura_model_close(other);

  /* A tensor's rank is compared before its dims are read; then each tensor in turn. */
  sutura_tensor *tensors[] = {&in[0], &in[1], &out[0], &out[1]};
  const char *names[] = {"input `x`", "input `bias`", "output `y`", "output `sums`"};
  for (int t = 0; t < 4; t++) {
    char words[80];
#define OF(format) (snprintf(words, sizeof words, format, names[t]), words)
    int32_t ranks[] = {INT_MAX, INT_MIN, -1, 0, 3, 64, 65};
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
      RESET();
      tensors[t]->rank = ranks[i], tensors[t]->dims = bad, tensors[t]->data = bad;
      INPUT(RUN(), OF("%s has rank"));
      if (t < 2) INPUT(DIMS(dims), OF("%s has rank"));
      tensors[t]->dims = NULL;
      INPUT(RUN(), OF("%s has rank"));
    }
    int32_t types[] = {INT_MAX, INT_MIN, -1, SUTURA_COMPLEX128 + 1, 99};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
      RESET();
      tensors[t]->element_type = types[i], tensors[t]->dims = bad;
      USAGE(RUN(), "there is no element type");
    }
    RESET();
    tensors[t]->element_type = SUTURA_I64;
    INPUT(RUN(), OF("%s has element type i64"));
    RESET();
    tensors[t]->dims = NULL, tensors[t]->data = bad;
    USAGE(RUN(), OF("null pointer: dims of %s"));
    tensors[t]->dims = odd(good_in[0].dims);
    USAGE(RUN(), OF("misaligned pointer: dims of %s"));
    RESET();
    tensors[t]->data = NULL;
    USAGE(RUN(), OF("null pointer: data of %s"));
    tensors[t]->data = odd(bad);
    USAGE(RUN(), OF("misaligned pointer: data of %s"));
    tensors[t]->data = (char *)bad + 2;
    USAGE(RUN(), OF("misaligned pointer: data of %s"));
    /* The last bytes that have addresses. */
    tensors[t]->data = (void *)(UINTPTR_MAX - 3);
    USAGE(RUN(), OF("data of %s reach beyond the end of memory"));
  }

  /* Dims that are none, or more than memory. */
  int64_t *all_dims[] = {x_dims, bias_dims, y_dims, sums_dims};
  int64_t wrong[] = {-1, INT64_MIN, INT64_MAX, INT64_MAX / 4 + 1, INT64_C(1) << 62, INT64_C(1) << 33, 7};
  for (int t = 0; t < 4; t++)
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
      RESET();
      int64_t was = all_dims[t][0];
      all_dims[t][0] = wrong[i];
      sutura_status status = RUN();
      HOLDS(status == SUTURA_INPUT || status == SUTURA_USAGE);
      if (wrong[i] < 0) INPUT(status, "negative dimension");
      if (t < 2) {
        status = DIMS(dims);
        HOLDS(status == SUTURA_OK ? wrong[i] == 7 : status == SUTURA_INPUT);
      }
      all_dims[t][0] = was;
    }
  x_dims[0] = INT64_MAX, x_dims[1] = 0, bias_dims[0] = 0;
  INPUT(RUN(), "dimension `rows`");
  x_dims[0] = 2, x_dims[1] = 3, bias_dims[0] = 3;

  /* Buffers that overlap: outputs each other, an output an input, wholly and by a byte. */
  float *shared;
  if (posix_memalign((void **)&shared, SUTURA_BUFFER_ALIGNMENT, 4096)) exit(3);
  memset(shared, 0, 4096);
  RESET();
  out[0].data = out[1].data = shared;
  USAGE(RUN(), "the buffers of output `sums` and output `y` overlap");
  RESET();
  out[0].data = x;
  USAGE(RUN(), "the buffers of output `y` and input `x` overlap");
  RESET();
  out[1].data = bias;
  USAGE(RUN(), "the buffers of output `sums` and input `bias` overlap");
  RESET();
  in[0].data = (char *)shared + 4, out[1].data = shared;
  USAGE(RUN(), "the buffers of output `sums` and input `x` overlap");
  RESET();
  out[0].data = (char *)y + 4;
  FINE(RUN());
  /* Both inputs may be one, at any place that is aligned to elements. */
  RESET();
  in[0].data = in[1].data = shared + 1;
  FINE(RUN());
  /* An output where the caller keeps the dims: they were read before. */
  int64_t *kept = (int64_t *)shared;
  kept[0] = 2, kept[1] = 3;
  RESET();
  in[0].dims = out[0].dims = kept, out[0].data = shared;
  FINE(RUN());
  HOLDS(kept[0] == 0 && kept[1] == 0);

  /* Tensors without elements need no memory. */
  x_dims[0] = y_dims[0] = sums_dims[0] = 0;
  RESET();
  in[0].data = out[0].data = out[1].data = NULL;
  FINE(RUN());
  in[0].data = out[0].data = out[1].data = odd(bad);
  FINE(RUN());
  sutura_model_close(model);
  free(shared);
}

/* Names of inputs and outputs, and tensors by name. */
static void names(const char *path) {
  sutura_model *model = NULL;
  FINE(sutura_model_open(path, 1, &model));
  void *bad = nowhere();
  int32_t at = -7, space[2];
  USAGE(sutura_model_input_index(NULL, "x", &at), "null pointer: model");
  USAGE(sutura_model_input_index(odd(model), "x", &at), "misaligned pointer: model");
  USAGE(sutura_model_input_index(model, NULL, &at), "null pointer: name");
  USAGE(sutura_model_input_index(model, "x", NULL), "null pointer: index");
  USAGE(sutura_model_input_index(model, "x", odd(space)), "misaligned pointer: index");
  USAGE(sutura_model_input_index(model, "", &at), "the model has no input ``");
  USAGE(sutura_model_input_index(model, "y", &at), "the model has no input `y`");
  USAGE(sutura_model_input_index(model, "\xff\xfe", &at), "name is not UTF-8");
  USAGE(sutura_model_output_index(model, "x", &at), "the model has no output `x`");
  USAGE(sutura_model_output_index(model, "sum", &at), "did you mean `sums`?");
  HOLDS(at == -7);
  FINE(sutura_model_output_index(model, "sums", &at));
  HOLDS(at == 1);
  HOLDS(sutura_element_size(-1) == -1 && sutura_element_size(25) == -1 && sutura_element_size(INT_MIN) == -1);
  HOLDS(sutura_element_name(-1) == NULL && sutura_element_name(25) == NULL && sutura_element_name(INT_MAX) == NULL);
  HOLDS(sutura_element_size(SUTURA_COMPLEX128) == 16 && !strcmp(sutura_element_name(SUTURA_U4), "u4"));

  int64_t x_dims[] = {2, 3}, bias_dims[] = {3}, sums_dims[] = {2};
  float *x = at_end(24), *bias = at_end(12), *y = at_end(24), *sums = at_end(8);
  memset(x, 0, 24), memset(bias, 0, 12);
  sutura_tensor *in = at_end(sizeof(sutura_tensor[2])), *out = at_end(sizeof(sutura_tensor[2]));
  const char **in_names = at_end(sizeof(char *[2])), **out_names = at_end(sizeof(char *[2]));
  in[0] = (sutura_tensor){SUTURA_F32, 1, bias_dims, bias}, in[1] = (sutura_tensor){SUTURA_F32, 2, x_dims, x};
  out[0] = (sutura_tensor){SUTURA_F32, 1, sums_dims, sums}, out[1] = (sutura_tensor){SUTURA_F32, 2, x_dims, y};
  in_names[0] = "bias", in_names[1] = "x", out_names[0] = "sums", out_names[1] = "y";
#define NAMED(i, o) sutura_model_run_by_name(model, i, in, 2, o, out, 2)
  FINE(NAMED(in_names, out_names));
  USAGE(sutura_model_run_by_name(NULL, in_names, in, 2, out_names, out, 2), "null pointer: model");
  USAGE(sutura_model_run_by_name(model, bad, bad, 3, bad, bad, 2), "the model has 2 inputs");
  USAGE(sutura_model_run_by_name(model, bad, bad, 2, bad, bad, -1), "the model has 2 outputs");
  USAGE(NAMED(NULL, out_names), "null pointer: names of inputs");
  USAGE(NAMED(odd(in_names), out_names), "misaligned pointer: names of inputs");
  USAGE(NAMED(in_names, NULL), "null pointer: names of outputs");
  USAGE(sutura_model_run_by_name(model, in_names, NULL, 2, out_names, out, 2), "null pointer: inputs");
  USAGE(sutura_model_run_by_name(model, in_names, in, 2, out_names, odd(out), 2), "misaligned pointer: outputs");
  in_names[1] = NULL;
  USAGE(NAMED(in_names, out_names), "null pointer: name of input 1");
  in_names[1] = "bias";
  USAGE(NAMED(in_names, out_names), "input `bias` is given twice");
  in_names[1] = "y";
  USAGE(NAMED(in_names, out_names), "the model has no input `y`");
  in_names[1] = "x", out_names[0] = "y";
  USAGE(NAMED(in_names, out_names), "output `y` is given twice");
  out_names[0] = "sums";
  in[0].rank = 2, in[0].dims = bad;
  INPUT(NAMED(in_names, out_names), "input `bias` has rank 2");
  sutura_model_close(model);
}

/* Options, and artifacts in memory. */
static void options(const char *path) {
  sutura_model *model = NULL;
  void *bad = nowhere();
  sutura_options *given = at_end(sizeof *given);
  const sutura_options fresh = SUTURA_OPTIONS_INIT;
#define WITH(change) (*given = fresh, change, sutura_model_open_with(path, given, &model))
  size_t sizes[] = {0, 1, sizeof *given - 1, sizeof *given + 1, SIZE_MAX};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) USAGE(WITH(given->size = sizes[i]), "SUTURA_OPTIONS_INIT");
  size_t *only_size = at_end(sizeof *only_size);
  *only_size = sizeof *only_size;
  USAGE(sutura_model_open_with(path, (void *)only_size, &model), "their size is 8");
  USAGE(WITH(given->threads = -1), "the number of threads is negative: -1");
  USAGE(WITH(given->threads = INT_MAX), "must be a whole number from 1 to 1024");
  USAGE(WITH(given->trusted = 2), "option trusted is 2");
  USAGE(WITH(given->profile = -1), "option profile is -1");
  USAGE(WITH(given->reserved = 1), "option reserved is 1");
  USAGE(WITH(given->device = odd(given)), "misaligned pointer: device");
  USAGE(WITH((given->device = bad, given->device_name = "cpu")), "both a device and a device_name");
  USAGE(WITH(given->device_name = "\xff"), "device_name is not UTF-8");
  refused_at(__LINE__, WITH(given->device_name = "no such device"), SUTURA_UNSUPPORTED, "no such device");
  refused_at(__LINE__, WITH(given->device_name = ""), SUTURA_UNSUPPORTED, "compiled for the processor");
  refused_at(__LINE__, WITH(given->device_name = "cpu-fibers"), SUTURA_UNSUPPORTED, "compiled for the processor");
  USAGE(sutura_model_open_with(path, odd(given), &model), "misaligned pointer: options");
  USAGE(sutura_model_open_with(NULL, given, &model), "null pointer: path");
  USAGE(sutura_model_open_with(path, NULL, NULL), "null pointer: model");
  HOLDS(model == NULL);
  FINE(WITH((given->device_name = "cpu", given->threads = 1, given->trusted = 1)));
  HOLDS(!strcmp(sutura_model_device(model), "cpu") && sutura_model_device(NULL) == NULL);
  sutura_profile *profile = NULL;
  USAGE(sutura_model_profile(model, &profile), "open it with the option profile = 1");
  USAGE(sutura_model_profile(NULL, &profile), "null pointer: model");
  USAGE(sutura_model_profile(model, NULL), "null pointer: profile");
  USAGE(sutura_model_clear_profile(NULL), "null pointer: model");
  sutura_model_close(model), model = NULL;
  FINE(WITH(given->profile = 1));
  FINE(sutura_model_profile(model, &profile));
  sutura_launch launch;
  HOLDS(sutura_profile_count(profile) == 0 && sutura_profile_count(NULL) == -1 && sutura_profile_count(odd(bad)) == -1);
  USAGE(sutura_profile_launch(profile, 0, &launch), "there is no launch 0: the profile has 0");
  USAGE(sutura_profile_launch(profile, INT_MIN, bad), "there is no launch");
  USAGE(sutura_profile_launch(NULL, 0, &launch), "null pointer: profile");
  sutura_profile_free(profile), sutura_profile_free(NULL), sutura_profile_free(odd(bad));
  sutura_model_close(model), model = NULL;

  FILE *file = fopen(path, "rb");
  if (file == NULL || fseek(file, 0, SEEK_END)) exit(3);
  size_t size = (size_t)ftell(file);
  rewind(file);
  char *bytes = at_end(size);
  if (fread(bytes, 1, size, file) != size) exit(3);
  fclose(file);
#define MEMORY(bytes, size) sutura_model_open_memory(bytes, size, NULL, &model)
#define BROKEN(call, words) refused_at(__LINE__, call, SUTURA_CORRUPT, words)
  USAGE(MEMORY(NULL, size), "null pointer: bytes");
  USAGE(MEMORY(bytes, SIZE_MAX), "reach beyond the end of memory");
  USAGE(MEMORY(bytes, (size_t)1 << 63), "reach beyond the end of memory");
  USAGE(MEMORY((void *)(UINTPTR_MAX - 5), 100), "reach beyond the end of memory");
  USAGE(sutura_model_open_memory(bytes, size, NULL, NULL), "null pointer: model");
  USAGE(sutura_model_open_memory(bytes, size, bad ? odd(given) : NULL, &model), "misaligned pointer: options");
  BROKEN(MEMORY(NULL, 0), "`memory`");
  BROKEN(MEMORY(bad, 0), "`memory`");
  BROKEN(MEMORY("not an artifact", 15), "`memory`");
  for (size_t cut = 1; cut < size; cut += size / 9 + 1) BROKEN(MEMORY(bytes, size - cut), "`memory`");
  bytes[size / 2] ^= 1;
  BROKEN(MEMORY(bytes, size), "`memory`");
  bytes[size / 2] ^= 1;
  HOLDS(model == NULL);
  FINE(MEMORY(bytes, size));
  memset(bytes, 0, size);
  HOLDS(sutura_model_input_count(model) == 2);
  sutura_model_close(model);
}

/* Devices, and sessions without one. */
static void devices(void) {
  void *bad = nowhere();
  sutura_device_list *list = NULL;
  USAGE(sutura_devices_find(NULL), "null pointer: list");
  USAGE(sutura_devices_find(odd(bad)), "misaligned pointer: list");
  FINE(sutura_devices_find(&list));
  int32_t count = sutura_devices_count(list);
  HOLDS(count >= 1 && sutura_devices_count(NULL) == -1 && sutura_devices_count(odd(list)) == -1);
  sutura_device_info info;
  /* However many the machine has, it is one case. */
  int told = 1;
  for (int32_t i = 0; i < count; i++)
    told &= sutura_devices_info(list, i, &info) == SUTURA_OK && *info.id && *info.name && *info.kind && *info.target;
  HOLDS(told);
  USAGE(sutura_devices_info(list, count, &info), "there is no device");
  USAGE(sutura_devices_info(list, -1, bad), "there is no device -1");
  USAGE(sutura_devices_info(NULL, 0, &info), "null pointer: list");
  USAGE(sutura_devices_info(list, 0, NULL), "null pointer: info");
  HOLDS(sutura_devices_absent(list, INT_MAX) == NULL && sutura_devices_absent(NULL, 0) == NULL);
  sutura_devices_free(list), sutura_devices_free(NULL), sutura_devices_free(odd(bad));

  sutura_device *device = NULL;
  USAGE(sutura_device_open(NULL, &device), "null pointer: name");
  USAGE(sutura_device_open("cpu-fibers", NULL), "null pointer: device");
  USAGE(sutura_device_open("\xff", &device), "name is not UTF-8");
  USAGE(sutura_device_open("cpu", &device), "`cpu` is the processor");
  USAGE(sutura_device_open("cuda:999", &device), "there is no device `cuda:999`");
  USAGE(sutura_device_open("", &device), "there is no device ``");
  HOLDS(device == NULL && sutura_device_name(NULL) == NULL && sutura_device_name(odd(bad)) == NULL);
  sutura_device_close(NULL), sutura_device_close(odd(bad));
  sutura_session *session = NULL;
  USAGE(sutura_session_open(NULL, &session), "null pointer: device");
  sutura_session_close(NULL), sutura_session_close(odd(bad));
  sutura_device_tensor_free(NULL), sutura_device_tensor_free(odd(bad));
  USAGE(sutura_session_synchronize(NULL), "null pointer: session");
  USAGE(sutura_session_run(NULL, NULL, NULL, 0, NULL, 0), "null pointer: session");
  USAGE(sutura_session_run_into(odd(bad), NULL, NULL, 0, NULL, 0), "misaligned pointer: session");
  USAGE(sutura_session_upload(NULL, NULL, NULL), "null pointer: session");
  USAGE(sutura_session_download(NULL, NULL, NULL), "null pointer: session");
  USAGE(sutura_session_tensor(NULL, SUTURA_F32, 0, NULL, NULL), "null pointer: session");
  USAGE(sutura_session_copy(NULL, NULL, NULL), "null pointer: session");
  USAGE(sutura_device_tensor_describe(NULL, NULL), "null pointer: tensor");
}

/* Of a model "nothing() -> (s: f32[], e: f32[0])". */
static void nullary(const char *path) {
  sutura_model *model = NULL;
  FINE(sutura_model_open(path, 1, &model));
  HOLDS(sutura_model_input_count(model) == 0);
  void *bad = nowhere();
  float *s = at_end(64);
  int64_t zero = 0;
  sutura_tensor out[] = {{SUTURA_F32, 0, NULL, s}, {SUTURA_F32, 1, &zero, NULL}};
  FINE(sutura_model_run(model, NULL, 0, out, 2));
  HOLDS(*s == 42);
  out[0].dims = bad;
  FINE(sutura_model_run(model, odd(bad), 0, out, 2));
  USAGE(sutura_model_run(model, NULL, 1, out, 2), "the model has 0 inputs, but 1 was given");
  USAGE(sutura_model_run(model, bad, INT_MAX, out, 2), "the model has 0 inputs");
  USAGE(sutura_model_run(model, NULL, 0, NULL, 0), "the model has 2 outputs");
  FINE(sutura_model_output_dims(model, NULL, 0, 0, NULL));
  FINE(sutura_model_output_dims(model, bad, 0, 0, bad));
  USAGE(sutura_model_output_dims(model, NULL, 0, 1, NULL), "null pointer: dims");
  zero = 9;
  FINE(sutura_model_output_dims(model, NULL, 0, 1, &zero));
  HOLDS(zero == 0);
  sutura_model_close(model);
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  rows(argv[1]);
  nullary(argv[2]);
  names(argv[1]);
  options(argv[1]);
  devices();
  printf("%d of %d wrong\n", failures, cases);
  return failures != 0;
}
