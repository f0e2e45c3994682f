#include "core/base/error.hpp"

#include <array>

namespace dash {
namespace {

// Exit codes are documented in `dashctl --help` and README.md.
constexpr std::array kCodes = {
    CodeInfo{Code::invalid, 400, 1, "invalid"},
    CodeInfo{Code::usage, 400, 2, "usage"},
    CodeInfo{Code::validation, 422, 1, "validation"},
    CodeInfo{Code::unauthenticated, 401, 8, "unauthenticated"},
    CodeInfo{Code::forbidden, 403, 8, "forbidden"},
    CodeInfo{Code::not_found, 404, 1, "not_found"},
    CodeInfo{Code::method_not_allowed, 405, 1, "method_not_allowed"},
    CodeInfo{Code::conflict, 409, 12, "conflict"},
    CodeInfo{Code::precondition, 412, 12, "precondition"},
    CodeInfo{Code::too_large, 413, 1, "too_large"},
    CodeInfo{Code::bad_range, 416, 1, "bad_range"},
    CodeInfo{Code::throttled, 429, 8, "throttled"},
    CodeInfo{Code::busy, 503, 1, "busy"},
    CodeInfo{Code::unreachable, 502, 7, "unreachable"},
    CodeInfo{Code::tls, 502, 7, "tls"},
    CodeInfo{Code::timeout, 504, 7, "timeout"},
    CodeInfo{Code::upstream, 502, 1, "upstream"},
    CodeInfo{Code::integrity, 500, 9, "integrity"},
    CodeInfo{Code::drift, 409, 11, "drift"},
    CodeInfo{Code::partial, 500, 5, "partial"},
    CodeInfo{Code::differences, 409, 6, "differences"},
    CodeInfo{Code::policy_denied, 403, 3, "policy_denied"},
    CodeInfo{Code::change_window, 403, 3, "change_window"},
    CodeInfo{Code::needs_approval, 403, 4, "needs_approval"},
    CodeInfo{Code::policy_unavailable, 403, 10, "policy_unavailable"},
    CodeInfo{Code::unsupported, 501, 1, "unsupported"},
    CodeInfo{Code::interrupted, 499, 130, "interrupted"},
    CodeInfo{Code::internal, 500, 1, "internal"},
};

constexpr bool is_in_enum_order() {
  for (std::size_t i = 0; i < kCodes.size(); ++i)
    if (static_cast<std::size_t>(kCodes[i].code) != i) return false;
  return true;
}
static_assert(is_in_enum_order());

}  // namespace

const CodeInfo& info(Code code) { return kCodes.at(static_cast<std::size_t>(code)); }

Error Error::within(std::string_view context) && {
  message = fmt::format("{}: {}", context, message);
  return std::move(*this);
}

}  // namespace dash
