// known_leaks: what LeakSanitizer is not to report, since it is a library's: PMIx, which mpirun and
// srun start us with, keeps a few bytes at its end. Part of the programs of the preset asan that
// use it.
extern "C" {

const char* __lsan_default_suppressions();
const char* __lsan_default_suppressions() {
  return "leak:libpmix\n";
}

const char* __lsan_default_options();
const char* __lsan_default_options() {
  return "print_suppressions=0";
}

}  // extern "C"
