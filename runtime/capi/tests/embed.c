/* Uses every function of sutura.h; prints what it sees, for the test to compare. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sutura.h"

static void error(const char *what, sutura_status status) { printf("%s: %d %s\n", what, status, sutura_last_error()); }

static void print_value(const char *role, const sutura_value *value) {
  printf("%s %s: type %d, dims", role, value->name, value->element_type);
  for (int32_t i = 0; i < value->rank; i++) printf(" %lld", (long long)value->dims[i]);
  printf("\n");
}

static float *buffer(size_t n) {
  size_t bytes = (n * sizeof(float) + SUTURA_BUFFER_ALIGNMENT) / SUTURA_BUFFER_ALIGNMENT * SUTURA_BUFFER_ALIGNMENT;
  float *data = aligned_alloc(SUTURA_BUFFER_ALIGNMENT, bytes);
  memset(data, 0, bytes);
  return data;
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  sutura_model *model = NULL;
  printf("before: '%s', version %s\n", sutura_last_error(), sutura_version());
  error("absent", sutura_model_open(argv[2], 1, &model));
  error("threads", sutura_model_open(argv[1], -3, &model));
  error("environment", sutura_model_open(argv[1], 0, &model));
  error("null", sutura_model_open(argv[1], 1, NULL));
  if (model != NULL) return 3;
  if (sutura_model_open(argv[1], 2, &model) != SUTURA_OK) {
    error("open", 0);
    return 4;
  }
  printf("%s\n", sutura_model_signature(model));
  printf("%d inputs, %d outputs\n", sutura_model_input_count(model), sutura_model_output_count(model));
  sutura_value value;
  for (int32_t i = 0; i < 2; i++) {
    if (sutura_model_input(model, i, &value) == SUTURA_OK) print_value("input", &value);
    if (sutura_model_output(model, i, &value) == SUTURA_OK) print_value("output", &value);
  }
  error("index", sutura_model_input(model, 2, &value));

  int64_t x_dims[] = {2, 3}, bias_dims[] = {3}, sums_dims[] = {2}, solved[2] = {0, 0};
  float *x = buffer(6), *bias = buffer(3), *y = buffer(6), *sums = buffer(2);
  for (int i = 0; i < 6; i++) x[i] = (float)i;
  for (int i = 0; i < 3; i++) bias[i] = 10.0f * (float)i;
  sutura_tensor inputs[] = {{SUTURA_F32, 2, x_dims, x}, {SUTURA_F32, 1, bias_dims, bias}};
  sutura_tensor outputs[] = {{SUTURA_F32, 2, x_dims, y}, {SUTURA_F32, 1, sums_dims, sums}};
  if (sutura_model_output_dims(model, inputs, 2, 0, solved) != SUTURA_OK) return 5;
  printf("solved %lld %lld\n", (long long)solved[0], (long long)solved[1]);
  if (sutura_model_run(model, inputs, 2, outputs, 2) != SUTURA_OK) {
    error("run", 0);
    return 6;
  }
  for (int i = 0; i < 6; i++) printf("%g ", y[i]);
  printf("| %g %g\n", sums[0], sums[1]);

  bias_dims[0] = 4;
  error("dims", sutura_model_run(model, inputs, 2, outputs, 2));
  bias_dims[0] = 3;
  error("count", sutura_model_run(model, inputs, 1, outputs, 2));
  inputs[1].element_type = 99;
  error("type", sutura_model_run(model, inputs, 2, outputs, 2));
  inputs[1].element_type = SUTURA_F32;
  inputs[1].data = NULL;
  error("data", sutura_model_run(model, inputs, 2, outputs, 2));
  inputs[1].data = bias;
  outputs[0].data = x;
  error("overlap", sutura_model_run(model, inputs, 2, outputs, 2));
  outputs[0].data = (char *)y + 4;
  memset(y, 0, 6 * sizeof(float));
  error("aligned", sutura_model_run(model, inputs, 2, outputs, 2));
  for (int i = 1; i < 7; i++) printf("%g ", y[i]);
  outputs[0].data = (char *)y + 2;
  error("| elements", sutura_model_run(model, inputs, 2, outputs, 2));
  outputs[0].data = y;
  sutura_model_close(model);

  /* From memory, which is not needed any more then, with options. */
  FILE *file = fopen(argv[1], "rb");
  static char bytes[1 << 20];
  size_t size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  sutura_options options = SUTURA_OPTIONS_INIT;
  options.threads = 2, options.profile = 1, options.device_name = "cpu";
  if (sutura_model_open_memory(bytes, size, &options, &model) != SUTURA_OK) {
    error("memory", 0);
    return 7;
  }
  memset(bytes, 0, sizeof bytes);
  int32_t at[2] = {-1, -1};
  sutura_model_input_index(model, "bias", &at[0]), sutura_model_output_index(model, "sums", &at[1]);
  printf("on %s, bias %d, sums %d\n", sutura_model_device(model), at[0], at[1]);
  error("name", sutura_model_input_index(model, "bia", &at[0]));
  const char *in_names[] = {"bias", "x"}, *out_names[] = {"sums", "y"};
  sutura_tensor swapped_in[] = {inputs[1], inputs[0]}, swapped_out[] = {outputs[1], outputs[0]};
  memset(y, 0, 6 * sizeof(float));
  if (sutura_model_run_by_name(model, in_names, swapped_in, 2, out_names, swapped_out, 2) != SUTURA_OK) {
    error("by name", 0);
    return 8;
  }
  for (int i = 0; i < 6; i++) printf("%g ", y[i]);
  printf("| %g %g\n", sums[0], sums[1]);
  sutura_profile *profile = NULL;
  sutura_launch launch;
  if (sutura_model_profile(model, &profile) != SUTURA_OK) return 9;
  for (int32_t i = 0; i < sutura_profile_count(profile); i++)
    if (sutura_profile_launch(profile, i, &launch) == SUTURA_OK)
      printf("%d %s: %lld groups, %llu calls, %s\n", launch.position, launch.kernel ? launch.kernel : "a kernel", (long long)launch.groups,
             (unsigned long long)launch.calls, launch.total_ns > 0 && launch.least_ns <= launch.total_ns ? "timed" : "?");
  sutura_model_clear_profile(model);
  printf("%d launches kept, ", sutura_profile_count(profile));
  sutura_profile_free(profile);
  if (sutura_model_profile(model, &profile) != SUTURA_OK) return 10;
  printf("%d after clearing\n", sutura_profile_count(profile));
  sutura_profile_free(profile);
  printf("%s has %d bytes\n", sutura_element_name(SUTURA_COMPLEX64), sutura_element_size(SUTURA_COMPLEX64));
  error("model", sutura_model_run(NULL, inputs, 2, outputs, 2));
  printf("%d %d\n", sutura_model_input_count(NULL), sutura_model_signature(NULL) == NULL);
  sutura_model_close(model);
  sutura_model_close(NULL);
  free(x), free(bias), free(y), free(sums);
  return 0;
}
