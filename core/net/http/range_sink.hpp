// The body of a response to a request for a range of bytes (RFC 9110 §14), written to its destination.
#pragma once
#include <string>

#include "core/base/stream.hpp"

namespace dash::net {

// Writes from position 0 of `out` on, in order. More than `max_bytes` are Code::upstream with a message that
// names the `peer`.
class RangeSink final : public Sink {
 public:
  RangeSink(RandomWriter& out, std::uint64_t max_bytes, std::string peer)
      : out_(out), max_bytes_(max_bytes), peer_(std::move(peer)) {}

  Result<void> write(std::string_view bytes) override {
    if (bytes.size() > max_bytes_ - written_)
      return fail(Code::upstream, "{} sent more bytes than were requested", peer_);
    TRY(out_.write(written_, bytes));
    written_ += bytes.size();
    return {};
  }

 private:
  RandomWriter& out_;
  std::uint64_t max_bytes_;
  std::uint64_t written_ = 0;
  std::string peer_;
};

}  // namespace dash::net
