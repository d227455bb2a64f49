#include "data/builtin/sentences.h"

namespace tandem::builtin {

std::vector<Construction> all_constructions() {
  std::vector<Construction> all;
  for (const auto part : {simple_constructions(), question_constructions(), quality_constructions(),
                          measure_constructions(), place_constructions(), complex_constructions(),
                          relative_constructions()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

Phrase finish(std::string en, std::string de, std::string_view mark) {
  return {capitalised(std::move(en)).append(mark), capitalised(std::move(de)).append(mark)};
}

Phrase tell(const Clause& clause, const Phrase& front) {
  return finish(join_words({front.en, english_statement(clause)}), german_main(clause, front.de));
}

}  // namespace tandem::builtin
