#include "core/storage/upload/inline_body.hpp"

#include <gtest/gtest.h>

#include <random>

#include "core/crypto/hash.hpp"
#include "core/storage/store/part_layout.hpp"
#include "tests/support/inline_reference.hpp"

namespace dash::storage {
namespace {

std::string body_of(std::string_view name, std::string_view content) {
  return fmt::format(R"({{"filename":"{}","content_b64":"{}"}})", name, crypto::to_base64(content));
}

Code code_of(std::string_view body, std::uint64_t ceiling = kMaxInlineBytes) {
  auto read = read_inline_in_pieces(body, 3, ceiling);
  return read ? Code::interrupted : read.error().code;  // interrupted: no error
}

}  // namespace

TEST(InlineBody, DecodesWhateverThePiecesAre) {
  std::string content;
  for (int i = 0; i < 1000; ++i) content += static_cast<char>(i * 7);
  auto body = body_of("site.yml", content);
  for (std::size_t size : {1u, 2u, 3u, 5u, 64u, 4096u}) {
    auto read = read_inline_in_pieces(body, size, kMaxInlineBytes).value();
    EXPECT_EQ(read.filename, "site.yml");
    EXPECT_EQ(read.content, content);
  }
}

TEST(InlineBody, TakesMembersInAnyOrderAndDropsOthers) {
  auto read =
      read_inline_in_pieces(
          R"( { "content_b64" : "YWI=" , "x": {"a":[1,{"b":"}]\""}]}, "y": null, "z":-1.5e3 , "filename":"\u0061.sh" } )",
          1, kMaxInlineBytes)
          .value();
  EXPECT_EQ(read.filename, "a.sh");
  EXPECT_EQ(read.content, "ab");
}

TEST(InlineBody, TakesTheEscapesThatWritersMakeOfSlashAndPlus) {
  auto read =
      read_inline_in_pieces(R"({"filename":"a.sh","content_b64":"+\/\u002B\u002f"})", 1, kMaxInlineBytes)
          .value();
  EXPECT_EQ(read.content, crypto::from_base64("+/+/").value());
}

TEST(InlineBody, TakesAnEmptyFile) {
  EXPECT_EQ(read_inline_in_pieces(body_of("a.sh", ""), 4, kMaxInlineBytes).value().content, "");
}

TEST(InlineBody, RefusesBase64ThatIsNotStrict) {
  for (auto text : {"abc", "a===", "YQ=", "YR==", "YWJ=", "%%%!!", "LSBo\\nb3N0", "-_-_YWJj",
                    "YQ==YQ==", "YQ= =", "====", "YWI=x"})
    EXPECT_EQ(code_of(fmt::format(R"({{"filename":"a.yml","content_b64":"{}"}})", text)), Code::invalid)
        << text;
}

TEST(InlineBody, RefusesWhatIsNotTheObject) {
  for (auto body :
       {"", "{", "[]", "{}x",
        R"({"filename":"a"})"
        "{}",
        R"({"filename":"a.sh" "content_b64":""})", R"({"filename":"a.sh","content_b64":""}})",
        R"({"filename":"a.sh","content_b64":"",})", R"({"filename":"a.sh","content_b64":"YQ==","x":[})",
        R"({"filename":"a.sh","content_b64":"Y\x"})",
        R"({"filename":"a.sh","filename":"b.sh","content_b64":""})",
        R"({"filename":"a.sh","content_b64":"","content_b64":""})", R"({,"filename":"a.sh"})", "null",
        R"({"filename":"\ud800.sh","content_b64":""})"})
    EXPECT_EQ(code_of(body), Code::validation) << body;
}

TEST(InlineBody, NamesAMissingOrMistypedMember) {
  for (auto body : {"{}", R"({"filename":"a.sh"})", R"({"content_b64":""})",
                    R"({"filename":7,"content_b64":""})", R"({"filename":"a.sh","content_b64":null})"})
    EXPECT_EQ(code_of(body), Code::validation) << body;
  auto error = read_inline_in_pieces(R"({"filename":"a.sh"})", 8, kMaxInlineBytes).error();
  ASSERT_TRUE(error.body);
  EXPECT_EQ((*error.body)[0]["loc"][1], "content_b64");
  EXPECT_EQ((*error.body)[0]["type"], "missing");
}

TEST(InlineBody, AcceptsExactlyTheCeilingOfDecodedBytes) {
  EXPECT_EQ(code_of(body_of("a.sh", std::string(1000, 'x')), 1000), Code::interrupted);
  EXPECT_EQ(code_of(body_of("a.sh", std::string(1001, 'x')), 1000), Code::too_large);
}

TEST(InlineBody, BoundsWhatItKeeps) {
  auto many = [](std::size_t n, std::string_view open) {
    std::string text;
    for (std::size_t i = 0; i < n; ++i) text += open;
    return text;
  };
  EXPECT_EQ(code_of(R"({"x":")" + std::string(1 << 20, 'x') + R"("})"), Code::validation);
  EXPECT_EQ(code_of(R"({"filename":")" + std::string(1 << 20, 'x') + R"("})"), Code::validation);
  EXPECT_EQ(code_of(R"({"x":)" + many(100000, "[")), Code::validation);
  EXPECT_EQ(code_of(R"({"x":)" + many(63, "[") + many(63, "]") + R"(,"filename":"a.sh","content_b64":""})"),
            Code::interrupted);
  EXPECT_EQ(code_of(R"({"x":)" + many(64, "[") + many(64, "]") + R"(,"filename":"a.sh","content_b64":""})"),
            Code::validation);
}

TEST(InlineBody, HandsTheContentOnInSmallPieces) {
  std::size_t largest = 0;
  FunctionSink content([&](std::string_view decoded) -> Result<void> {
    largest = std::max(largest, decoded.size());
    return {};
  });
  InlineBody body(kMaxInlineBytes, content);
  ASSERT_TRUE(body.write(body_of("a.sh", std::string(1 << 20, 'x'))));
  EXPECT_LE(largest, 64u << 10);
  EXPECT_EQ(body.size(), 1u << 20);
}

// Every mutilation of a good body gets the same verdict as from a reader of the whole body.
TEST(InlineBody, AgreesWithTheReaderOfTheWholeBody) {
  std::mt19937 random(7);
  auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  constexpr std::string_view odd = "{}[]\",:\\/=+u0aZ \n-.e\x01\x80\xc3";
  for (int round = 0; round < 20000; ++round) {
    std::string content(below(40), ' ');
    for (auto& c : content) c = static_cast<char>(below(256));
    auto body = round % 2 ? body_of("a.sh", content)
                          : fmt::format(R"({{"content_b64":"{}","o":[1,"\\"],"filename":"\u0061b.yml"}})",
                                        crypto::to_base64(content));
    for (auto edits = below(4); edits > 0; --edits) {
      auto at = below(body.size());
      if (below(2))
        body[at] = odd[below(odd.size())];
      else
        body.erase(at, 1);
    }
    ASSERT_TRUE(same_reading(body, 1 + below(9))) << body;
  }
}

}  // namespace dash::storage
