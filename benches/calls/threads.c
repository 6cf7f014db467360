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

/* A model, and a shape of it by a number: what is in and out. */
typedef struct model {
  sutura_model *ours;
  ort_object *theirs;
  const char *input, *output;
  int rank, out_rank;
  void (*shape)(unsigned number, int64_t *in, int64_t *out);
} model;

static void mlp_shape(unsigned number, int64_t *in, int64_t *out) {
  in[0] = out[0] = 1 + number % 32, in[1] = 64, out[1] = 10;
}

static void encoder_shape(unsigned number, int64_t *in, int64_t *out) {
  in[0] = out[0] = 1, in[1] = out[1] = 1 + number % 8, in[2] = out[2] = 256;
}

static model models[2] = {{NULL, NULL, NULL, NULL, 2, 2, mlp_shape}, {NULL, NULL, NULL, NULL, 3, 3, encoder_shape}};

static size_t elements(const int64_t *dims, int rank) {
  size_t n = 1;
  for (int i = 0; i < rank; i++) n *= (size_t)dims[i];
  return n;
}

static void fail(const char *what) {
  fprintf(stderr, "%s\n", what);
  exit(1);
}

static void call_ours(const model *m, float *x, float *y, const int64_t *in, const int64_t *out) {
  const sutura_tensor from = {SUTURA_F32, m->rank, in, x}, to = {SUTURA_F32, m->out_rank, out, y};
  if (sutura_model_run(m->ours, &from, 1, &to, 1) != SUTURA_OK) fail(sutura_last_error());
}

static void call_theirs(const model *m, float *x, float *y, const int64_t *in, const int64_t *out) {
  ort_object *from = ort_value(x, elements(in, m->rank), in, (size_t)m->rank);
  ort_object *to = ort_value(y, elements(out, m->out_rank), out, (size_t)m->out_rank);
  const ort_object *const inputs[] = {from};
  ort_check(ort_run(m->theirs, &m->input, inputs, 1, &m->output, 1, &to), "run");
  ort_release_value(from), ort_release_value(to);
}

/* What threads do together: the calls from `next` up to `end`. */
static struct {
  void (*call)(const model *, float *, float *, const int64_t *, const int64_t *);
  atomic_uint next;
  unsigned end;
  double times[CALLS];
  long early_pages;
} work;

static long resident_pages(void) {
  long total = 0, resident = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%ld %ld", &total, &resident) != 2) fail("no /proc/self/statm");
  fclose(file);
  return resident;
}

static void *caller(void *unused) {
  (void)unused;
  float *x = aligned_alloc(64, WIDEST * sizeof(float)), *y = aligned_alloc(64, WIDEST * sizeof(float));
  for (size_t i = 0; i < WIDEST; i++) x[i] = (float)(i % 13) * 0.1f, y[i] = 0.0f;
  for (unsigned number; (number = atomic_fetch_add(&work.next, 1)) < work.end;) {
    int64_t in[3], out[3];
    /* Numbers that differ from call to call, the same for both. */
    unsigned mixed = number * 2654435761u >> 8;
    const model *m = &models[mixed & 1];
    m->shape(mixed >> 1, in, out);
    double start = now_ns();
    work.call(m, x, y, in, out);
    work.times[number] = now_ns() - start;
    if (number == EARLY && work.early_pages == 0) work.early_pages = resident_pages();
  }
  free(x), free(y);
  return NULL;
}

static void run(void (*call)(const model *, float *, float *, const int64_t *, const int64_t *), unsigned from,
                unsigned to) {
  pthread_t threads[THREADS];
  work.call = call;
  work.next = from;
  work.end = to;
  for (int i = 0; i < THREADS; i++)
    if (pthread_create(&threads[i], NULL, caller, NULL)) fail("no thread");
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
}

/* Both compute the same. */
static void compare(void) {
  static float x[WIDEST], y[WIDEST], z[WIDEST];
  for (size_t i = 0; i < WIDEST; i++) x[i] = (float)(i % 13) * 0.1f;
  for (int i = 0; i < 2; i++) {
    int64_t in[3], out[3];
    models[i].shape(5, in, out);
    call_ours(&models[i], x, y, in, out), call_theirs(&models[i], x, z, in, out);
    for (size_t k = 0; k < elements(out, models[i].out_rank); k++)
      if (!(y[k] - z[k] < 1e-3f && z[k] - y[k] < 1e-3f)) fail("the results differ");
  }
}

int main(int argc, char **argv) {
  if (argc != 6) return 2;
  for (int i = 0; i < 2; i++) {
    sutura_value input, output;
    if (sutura_model_open(argv[3 + 2 * i], 1, &models[i].ours) != SUTURA_OK ||
        sutura_model_input(models[i].ours, 0, &input) || sutura_model_output(models[i].ours, 0, &output))
      fail(sutura_last_error());
    models[i].input = input.name, models[i].output = output.name;
  }
  /* Before onnxruntime is loaded, whose memory is not ours. */
  run(call_ours, 0, CALLS);
  long late = resident_pages(), kib = sysconf(_SC_PAGESIZE) / 1024;
  printf("resident after call %d: %ld KiB; after call %d: %ld KiB (%+.2f %%)\n", EARLY, work.early_pages * kib, CALLS,
         late * kib, 100.0 * (double)(late - work.early_pages) / (double)work.early_pages);

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
