// serve_assets: the page of `tandem serve`, put into the program by cmake/assets.cmake.
#pragma once

#include <string_view>

namespace tandem::assets {

extern const std::string_view serve_html, serve_css, serve_js;

}  // namespace tandem::assets
