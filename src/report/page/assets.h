// assets: the fixed parts of the page, put into the program by cmake/assets.cmake.
#pragma once

#include <string_view>

namespace tandem::assets {

extern const std::string_view page_html, page_css, page_js;
extern const std::string_view plot_js;  // dygraphs

}  // namespace tandem::assets
