// make_model SRC TGT OUT [VOCABULARY [KEY=VALUE...]]: a vocabulary and a small model that knows the
// pairs of lines by heart, as a model folder. KEY: a setting of the section model. Tests of
// translate, evaluate, export and serve use it; nothing here is how models are trained.
#include <algorithm>
#include <exception>
#include <iostream>

#include "base/error.h"
#include "base/format.h"
#include "base/text_file.h"
#include "model/memorize.h"
#include "model/model_folder.h"

namespace tandem {
namespace {

std::vector<std::string> lines_of(const fs::path& path) {
  std::vector<std::string> lines;
  LineReader reader(path);
  for (std::string_view line; reader.next(line);) lines.emplace_back(line);
  return lines;
}

void set_model(RunConfig& config, std::span<const std::string> settings) {
  for (const std::string& setting : settings) {
    const auto split = setting.find('=');
    for (const Option& option : options_of(config)) {
      if (option.key != "model." + setting.substr(0, split)) continue;
      option.set(parse_value(option, setting.substr(split + 1)).value.value());
    }
  }
}

void run(const fs::path& src_path, const fs::path& tgt_path, const fs::path& out,
         std::int32_t pieces, std::span<const std::string> settings) {
  const auto src = lines_of(src_path), tgt = lines_of(tgt_path);
  if (src.empty() || src.size() != tgt.size()) throw UserError("needs as many lines on both sides");
  auto text = src;
  text.insert(text.end(), tgt.begin(), tgt.end());
  std::size_t next = 0;
  const auto vocab = Vocab::from_bytes(train_vocab({"bpe", pieces, 1.0},
                                                   [&](std::string& line) {
                                                     if (next == text.size()) return false;
                                                     line = text[next++];
                                                     return true;
                                                   }),
                                       "vocabulary");
  RunConfig config;
  config.model.d_model = 32;
  config.model.heads = 2;
  config.model.ffn = 64;
  config.model.encoder_layers = config.model.decoder_layers = 1;
  config.model.max_positions = 64;
  config.data.max_length = 48;
  set_model(config, settings);
  Transformer model(config.model, vocab->size(), at::kCPU);
  model.initialize(1);
  const double loss = memorize(model, batch_of_lines(*vocab, src, tgt), 0.02, 500);
  write_model_folder(out, config, model.params(), model.params().values(), vocab->model_bytes());
  std::cout << format("loss {:.4f} a token\n", loss);
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  try {
    if (argc < 4)
      throw tandem::UserError("usage: make_model SRC TGT OUT [VOCABULARY [KEY=VALUE...]]");
    const std::vector<std::string> settings(argv + std::min(argc, 5), argv + argc);
    tandem::run(argv[1], argv[2], argv[3], argc >= 5 ? std::stoi(argv[4]) : 120, settings);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "make_model: " << error.what() << '\n';
    return 1;
  }
}
