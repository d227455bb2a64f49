// cut_files: a mapped file that is cut short, or whose disk fails, while it is read ends a process
// by SIGBUS. After this call it ends with exit code 3 and a sentence that names the file.
#pragma once

namespace tandem {

void name_cut_files();

}  // namespace tandem
