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
  USAGE(RUN(), "the buffer of output `y` is not aligned to 64 bytes");
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
  printf("%d of %d wrong\n", failures, cases);
  return failures != 0;
}
