#include "core/storage/store/resumed_read.hpp"

#include "core/base/buffer_pool.hpp"

namespace dash::storage {
namespace {

// The writer of a read's rest: position 0 is `begin` of `out`.
class RestWriter final : public RandomWriter {
 public:
  RestWriter(RandomWriter& out, std::uint64_t begin) : out_(out), begin_(begin) {}
  Result<void> write(std::uint64_t offset, std::string_view bytes) override {
    TRY(out_.write(begin_ + offset, bytes));
    written_ = offset + bytes.size();
    return {};
  }
  std::span<char> memory(ByteRange range) override {
    return out_.memory({begin_ + range.offset, range.size});
  }
  std::uint64_t written() const { return written_; }

 private:
  RandomWriter& out_;
  std::uint64_t begin_;
  std::uint64_t written_ = 0;
};

}  // namespace

Result<std::uint64_t> read_resumed(const net::Retry& retry, ByteRange range, RandomWriter& out,
                                   const RangeRead& read) {
  std::uint64_t done = 0;
  auto read_rest = [&](int) -> Result<std::uint64_t> {
    if (done > 0 && done == range.size) return done;  // only the end of the answer was lost
    RestWriter rest(out, done);
    auto got = read({range.offset + done, range.size - done}, rest);
    if (got) return done + *got;
    done += rest.written();
    return got;
  };
  for (;;) {
    auto before = done;
    auto got = retry.run(read_rest);
    if (got || !net::is_transient(got.error()) || done - before < kPartBytes) return got;
  }
}

}  // namespace dash::storage
