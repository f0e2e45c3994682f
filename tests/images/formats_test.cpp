#include "core/images/formats.hpp"

#include <gtest/gtest.h>

namespace dash::images {
namespace {

using namespace std::string_literals;

constexpr std::uint64_t kSize = 1u << 20;

std::string with(std::size_t size, std::size_t offset, std::string_view bytes) {
  std::string out(size, '\0');
  return out.replace(offset, bytes.size(), bytes);
}

std::string qcow2(char version, std::size_t offset = 0, char value = 0) {
  auto header = with(512, 0, "QFI\xfb\0\0\0"s + version);
  if (offset) header[offset] = value;
  return header;
}

std::string tar_header(std::string_view name, char type, std::string_view size = "00000000000") {
  auto header = with(512, 0, name);
  header.replace(124, size.size(), size);
  header[156] = type;
  return header.replace(257, 5, "ustar");
}

Code code_of(std::string_view name, std::string_view front, std::string_view end = "",
             std::uint64_t size = kSize) {
  auto checked = check_format(name, size, marks_of_front(front) + marks_of_end(end));
  return checked ? Code::partial : checked.error().code;  // `partial` is never this function's
}
constexpr Code kGood = Code::partial;

const std::string kFooter = with(512, 0, "conectix");

TEST(ImageFormats, TakeWhatIsWhatItsNameSays) {
  EXPECT_EQ(code_of("a.vhd", "boot", kFooter), kGood);
  EXPECT_EQ(code_of("A.VHD", kFooter + "boot", kFooter), kGood);  // a dynamic one has a copy in front
  EXPECT_EQ(code_of("a.vhdx", "vhdxfile and more"), kGood);
  EXPECT_EQ(code_of("a.qcow2", qcow2(2)), kGood);
  EXPECT_EQ(code_of("a.qcow2", qcow2(3)), kGood);
  EXPECT_EQ(code_of("a.ova", tar_header("box.ovf", '0')), kGood);
  EXPECT_EQ(code_of("a.raw", "boot"), kGood);
  EXPECT_EQ(code_of("a.img", "boot"), kGood);
}

TEST(ImageFormats, RefuseEveryOtherFormatUnderAName) {
  const std::string fronts[] = {"vhdxfile", qcow2(3), tar_header("box.ovf", '0')};
  const std::string names[] = {"a.vhdx", "a.qcow2", "a.ova"};
  for (std::size_t front = 0; front < 3; ++front) {
    for (std::size_t name = 0; name < 3; ++name) {
      EXPECT_EQ(code_of(names[name], fronts[front]), front == name ? kGood : Code::invalid);
    }
    EXPECT_EQ(code_of("a.raw", fronts[front]), Code::invalid);
    EXPECT_EQ(code_of("a.img", fronts[front]), Code::invalid);
    EXPECT_EQ(code_of("a.vhd", fronts[front]), Code::invalid);
    EXPECT_EQ(code_of("a.vhd", fronts[front], kFooter), Code::invalid);       // two formats at once
    EXPECT_EQ(code_of(names[front], fronts[front], kFooter), Code::invalid);  // and the other way round
  }
  EXPECT_EQ(code_of("a.raw", "boot", kFooter), Code::invalid);
  EXPECT_EQ(code_of("a.raw", kFooter, "end"), Code::invalid);
  EXPECT_EQ(code_of("a.vhd", kFooter, with(512, 1, "conectix")), Code::invalid);  // cut behind the front
  EXPECT_EQ(code_of("a.vhdx", "vhdxfil"), Code::invalid);
  EXPECT_EQ(code_of("a.qcow2", "QFI"), Code::invalid);
  EXPECT_EQ(code_of("a.qcow2", ""), Code::invalid);
}

TEST(ImageFormats, RefuseImagesThatNeedAnotherFile) {
  EXPECT_EQ(code_of("a.qcow2", qcow2(2, 15, 1)), Code::invalid);  // backing file, lowest byte of its offset
  EXPECT_EQ(code_of("a.qcow2", qcow2(3, 8, '\x80')), Code::invalid);  // highest
  EXPECT_EQ(code_of("a.qcow2", qcow2(3, 79, 4)), Code::invalid);      // external data file
  EXPECT_EQ(code_of("a.qcow2", qcow2(3, 79, 3)), kGood);              // dirty, corrupt: other bits
  EXPECT_EQ(code_of("a.qcow2", qcow2(2, 79, 4)), kGood);              // version 2 has no feature bits
  EXPECT_EQ(code_of("a.qcow2", qcow2(3).substr(0, 79)), Code::invalid);
  EXPECT_EQ(code_of("a.qcow2", qcow2(2).substr(0, 71)), Code::invalid);
  auto child = kFooter;
  child[63] = 4;
  EXPECT_EQ(code_of("a.vhd", "boot", child), Code::invalid);
}

TEST(ImageFormats, FindTheFirstMemberOfAnArchive) {
  auto pax = tar_header("PaxHeaders/box.ovf", 'x', "00000000400") + std::string(512, 'm');
  EXPECT_EQ(code_of("a.ova", pax + tar_header("box.OVF", '\0')), kGood);
  EXPECT_EQ(code_of("a.ova", pax + tar_header("box.vmdk", '0')), Code::invalid);
  EXPECT_EQ(code_of("a.ova", pax), Code::invalid);
  EXPECT_EQ(code_of("a.ova", tar_header("box.vmdk", '0') + tar_header("box.ovf", '0')), Code::invalid);
  EXPECT_EQ(code_of("a.ova", tar_header("box.ovf", '2')), Code::invalid);  // a link
  EXPECT_EQ(code_of("a.ova", tar_header("box.ovf", '0').substr(0, 511)), Code::invalid);
  for (auto size : {"77777777777", "9", "\x80\xff"})
    EXPECT_EQ(code_of("a.ova", tar_header("p", 'x', size) + tar_header("box.ovf", '0')), Code::invalid);
  std::string endless;
  while (endless.size() < 2 * kFrontBytes) endless += tar_header("p", 'x');
  EXPECT_EQ(code_of("a.ova", endless), Code::invalid);
}

TEST(ImageFormats, RefuseNamesAndSizesThatNoImageHas) {
  for (auto name : {"a.vmdk", "a", "", "../a.raw", ".raw", "a/b.raw", "a.raw.sh", "a\n.raw"})
    EXPECT_EQ(code_of(name, "boot"), Code::invalid) << name;
  EXPECT_EQ(code_of("a.raw", "boot", "", 513), Code::invalid);
  EXPECT_EQ(code_of("a.qcow2", qcow2(3), "", 513), kGood);
  EXPECT_TRUE(check_image_size(kMaxImageBytes));
  EXPECT_EQ(check_image_size(kMaxImageBytes + 1).error().code, Code::too_large);
  EXPECT_EQ(check_image_size(0).error().code, Code::invalid);
}

}  // namespace
}  // namespace dash::images
