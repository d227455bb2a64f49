// Reads folders of checkpoints, one a line, and answers with a line each: what is wrong, or
// "whole".
#include <exception>
#include <iostream>
#include <string>

#include "train/checkpoint_folder.h"

int main() {
  for (std::string folder; std::getline(std::cin, folder);) {
    const std::string problem = tandem::checkpoint_problem(folder);
    std::cout << (problem.empty() ? "whole" : problem) << std::endl;
  }
}
