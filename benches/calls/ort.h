/* The few functions of onnxruntime's C interface that the benchmarks here call: its wheel has the library, and no header. The
 * interface is a table of functions that only grows at its end, so a function's number in it stays what it is. */
#ifndef ORT_H
#define ORT_H

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct ort_status ort_status;
typedef struct ort_object ort_object;

typedef struct ort_base {
  const void *const *(*get_api)(uint32_t version);
  const char *(*version)(void);
} ort_base;

enum { ORT_API_VERSION = 17, ORT_ALL_OPTIMIZATIONS = 99, ORT_ARENA = 1, ORT_DEFAULT_MEMORY = 0, ORT_QUIET = 3 };
/* Element types. */
enum { ORT_F32 = 1, ORT_I64 = 7 };

static const void *const *ort_table;

#define ORT_AT(number, ...) ((ort_status * (*)(__VA_ARGS__)) ort_table[number])

static inline void ort_check(ort_status *status, const char *what) {
  if (status == NULL) return;
  const char *(*message)(const ort_status *) = (const char *(*)(const ort_status *))ort_table[2];
  fprintf(stderr, "onnxruntime: %s: %s\n", what, message(status));
  exit(1);
}

/* Run: a session, options, names and values of inputs, names and values of outputs. */
static inline ort_status *ort_run(ort_object *session, const char *const *input_names, const ort_object *const *inputs,
                                  size_t n_inputs, const char *const *output_names, size_t n_outputs,
                                  ort_object **outputs) {
  return ORT_AT(9, ort_object *, const void *, const char *const *, const ort_object *const *, size_t,
                const char *const *, size_t, ort_object **)(session, NULL, input_names, inputs, n_inputs, output_names,
                                                            n_outputs, outputs);
}

static inline ort_status *ort_run_bound(ort_object *session, const ort_object *binding) {
  return ORT_AT(133, ort_object *, const void *, const ort_object *)(session, NULL, binding);
}

static inline void ort_release_value(ort_object *value) { ((void (*)(ort_object *))ort_table[96])(value); }

/* Opens the library; its version. */
static inline const char *ort_open(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  const ort_base *(*base)(void) = library ? (const ort_base *(*)(void))(uintptr_t)dlsym(library, "OrtGetApiBase") : NULL;
  if (base == NULL) {
    fprintf(stderr, "onnxruntime: %s\n", dlerror());
    exit(1);
  }
  ort_table = base()->get_api(ORT_API_VERSION);
  return base()->version();
}

/* A session on one thread, with all optimizations. */
static inline ort_object *ort_session(const char *model) {
  static ort_object *env = NULL;
  ort_object *options = NULL, *session = NULL;
  if (env == NULL) ort_check(ORT_AT(3, int, const char *, ort_object **)(ORT_QUIET, "benchmark", &env), "environment");
  ort_check(ORT_AT(10, ort_object **)(&options), "options");
  ort_check(ORT_AT(23, ort_object *, int)(options, ORT_ALL_OPTIMIZATIONS), "optimizations");
  ort_check(ORT_AT(24, ort_object *, int)(options, 1), "threads");
  ort_check(ORT_AT(25, ort_object *, int)(options, 1), "threads");
  ort_check(ORT_AT(7, ort_object *, const char *, ort_object *, ort_object **)(env, model, options, &session), model);
  return session;
}

/* A value on memory of the caller. */
static inline ort_object *ort_value(void *data, size_t bytes, int type, const int64_t *dims, size_t rank) {
  static ort_object *memory = NULL;
  if (memory == NULL) ort_check(ORT_AT(69, int, int, ort_object **)(ORT_ARENA, ORT_DEFAULT_MEMORY, &memory), "memory");
  ort_object *value = NULL;
  ort_check(ORT_AT(49, const ort_object *, void *, size_t, const int64_t *, size_t, int, ort_object **)(
                memory, data, bytes, dims, rank, type, &value),
            "a value");
  return value;
}

/* A binding of one input and one output. */
static inline ort_object *ort_bind(ort_object *session, const char *input, ort_object *x, const char *output,
                                   ort_object *y) {
  ort_object *binding = NULL;
  ort_check(ORT_AT(134, ort_object *, ort_object **)(session, &binding), "a binding");
  ort_check(ORT_AT(136, ort_object *, const char *, const ort_object *)(binding, input, x), "an input");
  ort_check(ORT_AT(137, ort_object *, const char *, const ort_object *)(binding, output, y), "an output");
  return binding;
}

#endif
