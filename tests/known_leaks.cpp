// known_leaks: what LeakSanitizer is not to report. PMIx, with which mpirun and srun start us,
// keeps a few bytes at its end; a team that failed keeps its connections on purpose
// (cli/run_team.cpp). Part of the programs of the preset asan.
extern "C" {

const char* __lsan_default_suppressions();
const char* __lsan_default_suppressions() {
  return "leak:libpmix\nleak:tandem::Team::Team\n";
}

const char* __lsan_default_options();
const char* __lsan_default_options() {
  return "print_suppressions=0";
}

}  // extern "C"
