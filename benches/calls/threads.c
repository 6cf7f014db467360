/* Latencies of 8 threads that call two models at mixed shapes, beside onnxruntime's in the same process, and the memory of
 * many calls: `threads LIBONNXRUNTIME MLP.onnx MLP.sutura ENCODER.onnx ENCODER.sutura`. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "ort.h"
#include "sutura.h"

enum { THREADS = 8, CALLS = 20000, TURNS = 20, WIDEST = 1 << 16, EARLY = 1000 };

enum { MOST_INPUTS = 2 };

/* The shape of a call: those of the inputs, then that of the output. */
typedef int64_t shape[MOST_INPUTS + 1][3];

/* A model, and its shapes by number. */
typedef struct model {
  int n_inputs, ranks[MOST_INPUTS + 1];
  void (*shape)(unsigned number, shape dims);
  const char *inputs[MOST_INPUTS], *output;
  sutura_model *ours;
  ort_object *theirs;
} model;

static void mlp_shape(unsigned number, shape dims) {
  dims[0][0] = dims[2][0] = 1 + number % 32;
  dims[0][1] = 64, dims[2][1] = 10;
}

static void encoder_shape(unsigned number, shape dims) {
  dims[0][0] = dims[1][0] = dims[2][0] = 1;
  dims[0][1] = dims[1][1] = dims[2][1] = 1 + number % 8;
  dims[0][2] = dims[2][2] = 256;
}

static model models[2] = {{.n_inputs = 1, .ranks = {2, 0, 2}, .shape = mlp_shape},
                          {.n_inputs = 2, .ranks = {3, 2, 3}, .shape = encoder_shape}};

static size_t elements(const int64_t *dims, int rank) {
  size_t n = 1;
  for (int i = 0; i < rank; i++) n *= (size_t)dims[i];
  return n;
}

static void fail(const char *what) {
  fprintf(stderr, "%s\n", what);
  exit(1);
}

/* The second input is a mask that hides nothing. */
static int64_t mask[WIDEST];

static void call_ours(const model *m, float *x, float *y, shape dims) {
  sutura_tensor from[MOST_INPUTS];
  for (int i = 0; i < m->n_inputs; i++) {
    void *data = i == 0 ? (void *)x : mask;
    from[i] = (sutura_tensor){i == 0 ? SUTURA_F32 : SUTURA_I64, m->ranks[i], dims[i], data};
  }
  const sutura_tensor to = {SUTURA_F32, m->ranks[MOST_INPUTS], dims[MOST_INPUTS], y};
  if (sutura_model_run(m->ours, from, m->n_inputs, &to, 1) != SUTURA_OK) fail(sutura_last_error());
}

static ort_object *value(const model *m, float *x, shape dims, int which) {
  size_t n = elements(dims[which], m->ranks[which]), rank = (size_t)m->ranks[which];
  if (which == 1) return ort_value(mask, n * sizeof *mask, ORT_I64, dims[which], rank);
  return ort_value(x, n * sizeof *x, ORT_F32, dims[which], rank);
}

static void call_theirs(const model *m, float *x, float *y, shape dims) {
  ort_object *from[MOST_INPUTS], *to = value(m, y, dims, MOST_INPUTS);
  for (int i = 0; i < m->n_inputs; i++) from[i] = value(m, x, dims, i);
  ort_check(ort_run(m->theirs, m->inputs, (const ort_object *const *)from, (size_t)m->n_inputs, &m->output, 1, &to), "run");
  for (int i = 0; i < m->n_inputs; i++) ort_release_value(from[i]);
  ort_release_value(to);
}

/* What threads do together: the calls from `next` up to `end`. */
static struct {
  void (*call)(const model *, float *, float *, shape);
  atomic_uint next;
  pthread_barrier_t all;
  unsigned end;
  double times[CALLS];
  long early_kib, late_kib;
} work;

/* The memory that the process has, in KiB. Counted from the tables of pages: `statm` lags behind by up to 128 pages for
 * each processor. */
static long resident_kib(void) {
  char line[256];
  long kib = -1;
  FILE *file = fopen("/proc/self/smaps_rollup", "r");
  if (file == NULL) fail("no /proc/self/smaps_rollup");
  while (kib < 0 && fgets(line, sizeof line, file) != NULL)
    if (sscanf(line, "Rss: %ld kB", &kib) != 1) kib = -1;
  fclose(file);
  if (kib < 0) fail("no `Rss` in /proc/self/smaps_rollup");
  return kib;
}

static void *caller(void *unused) {
  (void)unused;
  float *x = aligned_alloc(64, WIDEST * sizeof(float)), *y = aligned_alloc(64, WIDEST * sizeof(float));
  for (size_t i = 0; i < WIDEST; i++) x[i] = (float)(i % 13) * 0.1f, y[i] = 0.0f;
  pthread_barrier_wait(&work.all);
  for (unsigned number; (number = atomic_fetch_add(&work.next, 1)) < work.end;) {
    shape dims;
    /* Numbers that differ from call to call, the same for both. */
    unsigned mixed = number * 2654435761u >> 8;
    const model *m = &models[mixed & 1];
    m->shape(mixed >> 1, dims);
    double start = now_ns();
    work.call(m, x, y, dims);
    work.times[number] = now_ns() - start;
    if (number == EARLY && work.early_kib == 0) work.early_kib = resident_kib();
    if (number == CALLS - 1 && work.late_kib == 0) work.late_kib = resident_kib();
  }
  /* The last call is over, and no thread has gone. */
  pthread_barrier_wait(&work.all);
  free(x), free(y);
  return NULL;
}

static void run(void (*call)(const model *, float *, float *, shape), unsigned from, unsigned to) {
  pthread_t threads[THREADS];
  pthread_barrier_init(&work.all, NULL, THREADS);
  work.call = call;
  work.next = from;
  work.end = to;
  for (int i = 0; i < THREADS; i++)
    if (pthread_create(&threads[i], NULL, caller, NULL)) fail("no thread");
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  pthread_barrier_destroy(&work.all);
}

/* Both compute the same. */
static void compare(void) {
  static float x[WIDEST], y[WIDEST], z[WIDEST];
  for (size_t i = 0; i < WIDEST; i++) x[i] = (float)(i % 13) * 0.1f;
  for (int i = 0; i < 2; i++) {
    shape dims;
    models[i].shape(5, dims);
    call_ours(&models[i], x, y, dims), call_theirs(&models[i], x, z, dims);
    for (size_t k = 0; k < elements(dims[MOST_INPUTS], models[i].ranks[MOST_INPUTS]); k++)
      if (!(y[k] - z[k] < 1e-3f && z[k] - y[k] < 1e-3f)) fail("the results differ");
  }
}

int main(int argc, char **argv) {
  if (argc != 6) return 2;
  for (int i = 0; i < WIDEST; i++) mask[i] = 1;
  for (int i = 0; i < 2; i++) {
    sutura_value value;
    if (sutura_model_open(argv[3 + 2 * i], 1, &models[i].ours) != SUTURA_OK) fail(sutura_last_error());
    for (int k = 0; k < models[i].n_inputs; k++) {
      if (sutura_model_input(models[i].ours, k, &value) != SUTURA_OK) fail(sutura_last_error());
      models[i].inputs[k] = value.name;
    }
    if (sutura_model_output(models[i].ours, 0, &value) != SUTURA_OK) fail(sutura_last_error());
    models[i].output = value.name;
  }
  /* Memory that the benchmark writes to later. */
  for (int i = 0; i < CALLS; i++) work.times[i] = 1.0;
  /* What counts memory brings its own pages. */
  resident_kib();
  /* Before onnxruntime is loaded, whose memory is not ours. */
  run(call_ours, 0, CALLS);
  long more = work.late_kib - work.early_kib;
  printf("resident after call %d: %ld KiB; after call %d: %ld KiB (%+.2f %%)\n", EARLY, work.early_kib, CALLS,
         work.late_kib, 100.0 * (double)more / (double)work.early_kib);

  const char *version = ort_open(argv[1]);
  for (int i = 0; i < 2; i++) models[i].theirs = ort_session(argv[2 + 2 * i]);
  compare();
  static double ours[CALLS], theirs[CALLS];
  for (unsigned turn = 0; turn < TURNS; turn++) {
    unsigned from = turn * CALLS / TURNS, to = from + CALLS / TURNS;
    run(call_ours, from, to), memcpy(ours + from, work.times + from, (to - from) * sizeof(double));
    run(call_theirs, from, to), memcpy(theirs + from, work.times + from, (to - from) * sizeof(double));
  }
  printf("us of %d calls of %d threads, in %d turns; onnxruntime %s\n", CALLS, THREADS, TURNS, version);
  const double parts[] = {0.5, 0.9, 0.99, 0.999};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    double a = quantile(ours, CALLS, parts[i]) / 1e3, b = quantile(theirs, CALLS, parts[i]) / 1e3;
    printf("p%-5g  sutura %9.1f  onnxruntime %9.1f  ratio %.2f\n", parts[i] * 100, a, b, a / b);
  }
  for (int i = 0; i < 2; i++) sutura_model_close(models[i].ours);
  return 0;
}
