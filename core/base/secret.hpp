// A string that never prints itself and is wiped when it is destroyed. Reading it is called expose(), so that
// a reviewer finds each use.
#pragma once
#include <string.h>

#include <string>
#include <string_view>
#include <utility>

namespace dash {

class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string text) : text_(std::move(text)) {}
  Secret(const Secret&) = default;
  Secret(Secret&& other) noexcept : text_(other.text_) { other.wipe(); }
  Secret& operator=(const Secret&) = default;
  Secret& operator=(Secret&& other) noexcept {
    if (this != &other) {
      wipe();
      text_ = other.text_;
      other.wipe();
    }
    return *this;
  }
  ~Secret() { wipe(); }

  const std::string& expose() const { return text_; }
  bool empty() const { return text_.empty(); }

 private:
  void wipe() noexcept {
    explicit_bzero(text_.data(), text_.size());
    text_.clear();
  }
  std::string text_;
};

}  // namespace dash
