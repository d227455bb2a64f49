// html: text that becomes part of a page. Everything from outside goes through one of these.
#pragma once

#include <string>
#include <string_view>

namespace tandem {

// For element text and quoted attributes. Control characters, which no browser shows, become the
// replacement character; text longer than most bytes is cut.
std::string html_text(std::string_view text, std::size_t most = 20000);

// JSON inside a <script>: no "<" is left that could end it.
std::string script_json(std::string_view json);

// 'sha256-...' of a script, for the page's policy.
std::string policy_hash(std::string_view script);

}  // namespace tandem
