// Errors as values. Every core function that can fail returns Result<T>; TRY returns an error to the caller.
// One table (error.cpp) maps each Code to its HTTP status, its exit code and its word in JSON output.
#pragma once
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace dash {

enum class Code {
  invalid,             // the input is well-formed but wrong
  usage,               // the command line is wrong
  validation,          // a request body does not have the promised shape
  unauthenticated,     // no user is signed in
  forbidden,           // the user may not do it
  not_found,           //
  method_not_allowed,  //
  conflict,            // the state of the resource does not allow it
  precondition,        // If-Match and the like
  too_large,           //
  bad_range,           // Range cannot be satisfied
  throttled,           // too many attempts; see retry_after
  busy,                // out of a bounded resource; see retry_after
  unreachable,         // no answer from the other side
  tls,                 // a response from an untrusted server
  timeout,             //
  upstream,            // the other side answered with a failure
  integrity,           // bytes are not what they were, or a file is malformed
  drift,               // the target changed since the plan was made
  partial,             // some items failed
  differences,         // the exit code reports differences, and there are some
  policy_denied,       // a rule denied it
  change_window,       // outside of the workgroup's change window
  needs_approval,      // another user must approve first
  policy_unavailable,  // the engine or its rules are broken: fail closed
  unsupported,         //
  interrupted,         //
  internal,            // a bug, or a broken disk
};

struct CodeInfo {
  Code code;
  int http_status;
  int exit_code;
  std::string_view word;  // stable, for scripts
};

const CodeInfo& info(Code code);

struct Error {
  Code code = Code::internal;
  std::string message = {};  // may be shown to every user who may make the request; says what to do next
  std::string detail = {};   // for the log only
  std::optional<std::chrono::seconds> retry_after = {};
  // Replaces `message` as the HTTP body's "detail" where the API gives it a shape (the gate, 422).
  std::shared_ptr<const nlohmann::ordered_json> body = {};

  // Prefixes the message: "reading bundle.json: <message>".
  Error within(std::string_view context) &&;
};

template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using tl::expected<T, Error>::expected;
};

using Failure = tl::unexpected<Error>;

template <class... A>
Error make_error(Code code, fmt::format_string<A...> format, A&&... args) {
  return {.code = code, .message = fmt::format(format, std::forward<A>(args)...)};
}

template <class... A>
Failure fail(Code code, fmt::format_string<A...> format, A&&... args) {
  return Failure(make_error(code, format, std::forward<A>(args)...));
}

// `retry_after` becomes the Retry-After header.
template <class... A>
Error busy(std::chrono::seconds retry_after, fmt::format_string<A...> format, A&&... args) {
  auto error = make_error(Code::busy, format, std::forward<A>(args)...);
  error.retry_after = retry_after;
  return error;
}

template <class... A>
Error throttled(std::chrono::seconds retry_after, fmt::format_string<A...> format, A&&... args) {
  auto error = make_error(Code::throttled, format, std::forward<A>(args)...);
  error.retry_after = retry_after;
  return error;
}

template <class... A>
Error too_large(fmt::format_string<A...> format, A&&... args) {
  return make_error(Code::too_large, format, std::forward<A>(args)...);
}

// Returns the value of a successful result, moved out; void results return nothing.
template <class T>
T take(Result<T>&& result) {
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

// Adds context to an error and leaves a value alone: TRY(within("reading x", f())).
template <class T>
Result<T> within(std::string_view context, Result<T> result) {
  if (!result) return Failure(std::move(result).error().within(context));
  return result;
}

}  // namespace dash

// Yields the value of `expr`, or returns its error (a statement expression of g++ and clang++). The counter
// keeps a TRY inside of another's lambda from shadowing it.
#define DASH_TRY(expr, name)                                    \
  __extension__({                                               \
    auto name = (expr);                                         \
    if (!name) return ::dash::Failure(std::move(name).error()); \
    ::dash::take(std::move(name));                              \
  })
#define DASH_TRY_JOIN(a, b) a##b
#define DASH_TRY_NAME(n) DASH_TRY_JOIN(try_result_, n)
#define TRY(expr) DASH_TRY(expr, DASH_TRY_NAME(__COUNTER__))
