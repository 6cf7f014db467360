/* What a call costs that computes next to nothing, beside onnxruntime's C interface in the same process:
 * `overhead LIBONNXRUNTIME MODEL.onnx MODEL.sutura`. The model is one elementwise operation on a tensor of 1x1. */
#define _GNU_SOURCE
#include "clock.h"
#include "ort.h"
#include "sutura.h"

enum { ROUNDS = 61, CALLS = 20000 };

int main(int argc, char **argv) {
  if (argc != 4) return 2;
  const char *version = ort_open(argv[1]);
  static _Alignas(64) float x[16] = {-2.0f}, y[16], z[16], w[16];
  const int64_t dims[] = {1, 1};
  sutura_model *model = NULL;
  if (sutura_model_open(argv[3], 1, &model) != SUTURA_OK) {
    fprintf(stderr, "%s\n", sutura_last_error());
    return 1;
  }
  const sutura_tensor in = {SUTURA_F32, 2, dims, x}, out = {SUTURA_F32, 2, dims, y};
  ort_object *session = ort_session(argv[2]);
  const char *in_name = "x", *out_name = "y";
  ort_object *ort_in = ort_value(x, sizeof *x, ORT_F32, dims, 2), *ort_out = ort_value(z, sizeof *z, ORT_F32, dims, 2);
  ort_object *binding = ort_bind(session, in_name, ort_in, out_name, ort_value(w, sizeof *w, ORT_F32, dims, 2));
  double ours[ROUNDS], run[ROUNDS], bound[ROUNDS], to_run[ROUNDS], to_bound[ROUNDS];
  for (int round = 0; round < ROUNDS; round++) {
    double start = now_ns();
    for (int i = 0; i < CALLS; i++)
      if (sutura_model_run(model, &in, 1, &out, 1) != SUTURA_OK) return 1;
    double first = now_ns();
    const ort_object *const inputs[] = {ort_in};
    for (int i = 0; i < CALLS; i++) ort_check(ort_run(session, &in_name, inputs, 1, &out_name, 1, &ort_out), "run");
    double second = now_ns();
    for (int i = 0; i < CALLS; i++) ort_check(ort_run_bound(session, binding), "run");
    double third = now_ns();
    ours[round] = (first - start) / CALLS, run[round] = (second - first) / CALLS, bound[round] = (third - second) / CALLS;
    to_run[round] = ours[round] / run[round], to_bound[round] = ours[round] / bound[round];
  }
  if (y[0] != 2.0f || z[0] != 2.0f || w[0] != 2.0f) {
    fprintf(stderr, "wrong results: %g, %g, %g\n", y[0], z[0], w[0]);
    return 1;
  }
  printf("ns per call, medians of %d rounds of %d calls, taken in turns; onnxruntime %s\n", ROUNDS, CALLS, version);
  printf("sutura_model_run  %7.0f\n", quantile(ours, ROUNDS, 0.5));
  printf("Run               %7.0f  ratio %.2f\n", quantile(run, ROUNDS, 0.5), quantile(to_run, ROUNDS, 0.5));
  printf("RunWithBinding    %7.0f  ratio %.2f\n", quantile(bound, ROUNDS, 0.5), quantile(to_bound, ROUNDS, 0.5));
  sutura_model_close(model);
  return 0;
}
