#include "config/yaml_reader.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

#include "base/format.h"
#include "base/utf8.h"
#include "config/option.h"

namespace tandem {
namespace {

// Follows the parser's events. A settings file has two levels, so the state is small: the section
// we are in, the key whose value comes next, and how deep inside something unwanted we are.
class Collector final : public YAML::EventHandler {
 public:
  Collector(std::string place, Assignments& out) : place_(std::move(place)), out_(out) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (!std::exchange(started_, true)) return;
    problem(mark, "a second document (after ---) is not allowed; give it as a second file");
    skipped_ = 1;  // the rest of the file
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor);
    scalar(mark, std::nullopt);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    scalar(mark, text);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    problem(mark, "an alias (*name) is not allowed in settings; write the value itself");
    if (skipped_ == 0) value_done();
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    if (skipped_++ == 0 && !orphan_) {
      problem(mark, key_ ? format("{} is a list, but one value is expected", in_quotes(path()))
                         : "a list is not a key; settings are \"section: {key: value}\"");
    }
  }
  void OnSequenceEnd() override { leave(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    if (skipped_ > 0 || orphan_) {
      ++skipped_;
    } else if (!inside_) {
      inside_ = true;
    } else if (key_ && !section_) {
      check_first(mark, *key_);
      section_ = std::move(key_);
      key_.reset();
    } else {
      ++skipped_;
      problem(mark, key_ ? format("{} is a section, but one value is expected", in_quotes(path()))
                         : "a section is not a key; settings are \"section: {key: value}\"");
    }
  }
  void OnMapEnd() override {
    if (skipped_ > 0) {
      leave();
    } else if (section_) {
      section_.reset();
    } else {
      inside_ = false;
    }
  }

 private:
  std::string at(const YAML::Mark& mark) const { return format("{}:{}", place_, mark.line + 1); }
  std::string path() const { return section_ ? *section_ + "." + *key_ : *key_; }

  void problem(const YAML::Mark& mark, std::string message) {
    out_.problems.push_back({{}, std::move(message), at(mark)});
  }
  void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != 0) problem(mark, "an anchor (&name) is not allowed in settings; remove it");
  }
  void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    // "?" and "!" are what the parser calls plain and quoted scalars without a tag.
    if (tag != "?" && tag != "!" && !tag.empty()) {
      problem(mark, format("the tag {} is not allowed in settings; remove it", in_quotes(tag)));
    }
  }

  void leave() {
    if (--skipped_ == 0) value_done();
  }
  // After something that is no scalar: it was a value, or it stood where a key belongs; then the
  // value behind it has no key and goes with it.
  void value_done() {
    orphan_ = !key_ && !orphan_;
    key_.reset();
  }

  // False, and a problem, when the name occurred before.
  bool check_first(const YAML::Mark& mark, const std::string& name) {
    const auto [first, is_new] = first_line_.try_emplace(name, mark.line + 1);
    if (!is_new) {
      problem(mark, format("{} is given twice, first in line {}", in_quotes(name), first->second));
    }
    return is_new;
  }

  void scalar(const YAML::Mark& mark, std::optional<std::string> text) {
    if (skipped_ > 0) return;
    if (!inside_) {
      if (text) problem(mark, "settings are \"section: {key: value}\", not a single value");
      return;
    }
    if (std::exchange(orphan_, false)) return;
    if (!key_) {
      key_ = text.value_or("null");
      return;
    }
    if (check_first(mark, path())) out_.items.push_back({path(), std::move(text), at(mark)});
    key_.reset();
  }

  std::string place_;
  Assignments& out_;
  bool started_ = false;
  bool inside_ = false;
  std::optional<std::string> section_, key_;
  bool orphan_ = false;      // the next value belongs to what was refused as a key
  std::size_t skipped_ = 0;  // lists and sections open around us that are passed over
  std::map<std::string, int> first_line_;
};

}  // namespace

Assignments read_yaml(const std::string& text, const std::string& place) {
  Assignments result;
  Collector collector(place, result);
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    if (parser.HandleNextDocument(collector)) parser.HandleNextDocument(collector);
  } catch (const YAML::Exception& error) {
    const std::string at = format("{}:{}", place, std::max(error.mark.line, 0) + 1);
    // What was read of a line that cannot be read would only be a second complaint about it.
    std::erase_if(result.items, [&](const Assignment& item) { return item.place == at; });
    result.problems.push_back({{}, format("this is not valid YAML: {}", error.msg), at});
  }
  return result;
}

}  // namespace tandem
