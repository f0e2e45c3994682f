#include "core/storage/store/azure_blob/codec.hpp"

#include <gtest/gtest.h>

#include "core/crypto/hash.hpp"
#include "tests/support/must.hpp"

namespace dash::storage::azure_blob {
namespace {

// The shape of the vendor's page "List Blobs".
constexpr std::string_view kList = R"(<?xml version="1.0" encoding="utf-8"?>
<EnumerationResults ServiceEndpoint="http://myaccount.blob.core.windows.net/" ContainerName="mycontainer">
  <Prefix>config-mgmt/</Prefix><MaxResults>2</MaxResults>
  <Blobs>
    <Blob><Name>config-mgmt/a &amp; b.yml</Name>
      <Properties><Last-Modified>Wed, 09 Sep 2009 09:20:02 GMT</Last-Modified><Etag>0x8CBFF45D8A29A19</Etag>
        <Content-Length>100</Content-Length><BlobType>BlockBlob</BlobType></Properties>
      <Metadata><dashctl_digest>p8:00</dashctl_digest></Metadata></Blob>
    <BlobPrefix><Name>x/</Name></BlobPrefix>
    <Blob><Name Encoded="true">config-mgmt/%EF%BF%BE.yml</Name>
      <Properties><Etag>0x2</Etag><Content-Length>0</Content-Length></Properties></Blob>
  </Blobs>
  <NextMarker>2!76!marker</NextMarker>
</EnumerationResults>)";

TEST(AzureWire, ReadsAListOfBlobs) {
  auto page = must(parse_list(kList));
  ASSERT_EQ(page.blobs.size(), 2u);
  EXPECT_EQ(page.blobs[0].name, "config-mgmt/a & b.yml");
  EXPECT_EQ(page.blobs[0].size, 100u);
  EXPECT_EQ(page.blobs[0].etag, "0x8CBFF45D8A29A19");
  EXPECT_EQ(page.blobs[0].modified, must(parse_iso("2009-09-09T09:20:02Z")));
  EXPECT_EQ(page.blobs[0].digest, "p8:00");
  EXPECT_EQ(page.blobs[1].name, "config-mgmt/\xEF\xBF\xBE.yml");
  EXPECT_EQ(page.blobs[1].digest, "");
  EXPECT_EQ(page.next_marker, "2!76!marker");
}

TEST(AzureWire, RefusesAListThatIsNone) {
  for (auto text :
       {"", "<html/>", "<EnumerationResults/>",
        "<EnumerationResults><Blobs><Blob/></Blobs></EnumerationResults>",
        "<EnumerationResults><Blobs><Blob><Name>x</Name><Properties><Content-Length>-1</Content-Length>"
        "</Properties></Blob></Blobs></EnumerationResults>",
        "<EnumerationResults><Blobs><Blob><Name Encoded=\"true\">%zz</Name><Properties><Content-Length>1"
        "</Content-Length></Properties></Blob></Blobs></EnumerationResults>"})
    EXPECT_EQ(parse_list(text).error().code, Code::upstream) << text;
}

TEST(AzureWire, BlockIdsTellTheUploadAndThePart) {
  std::string mine(32, 'a'), other(32, 'b');
  EXPECT_EQ(part_of(block_id(mine, 1), mine), 1u);
  EXPECT_EQ(part_of(block_id(mine, 50'000), mine), 50'000u);
  EXPECT_EQ(part_of(block_id(mine, 1), other), std::nullopt);
  EXPECT_EQ(part_of(crypto::to_base64("00000001"), mine), std::nullopt);
  EXPECT_EQ(part_of("not base64", mine), std::nullopt);
  EXPECT_EQ(block_id(mine, 1).size(), block_id(other, 50'000).size());
  EXPECT_LE(block_id(mine, 1).size(), 88u);  // base64 of the 64 bytes that the service allows
}

TEST(AzureWire, ReadsTheUncommittedBlocksAlone) {
  auto blocks = must(parse_blocks(R"(<?xml version="1.0"?><BlockList>
    <CommittedBlocks><Block><Name>QQ==</Name><Size>7</Size></Block></CommittedBlocks>
    <UncommittedBlocks><Block><Name>Qg==</Name><Size>8388608</Size></Block></UncommittedBlocks></BlockList>)"));
  ASSERT_EQ(blocks.size(), 1u);
  EXPECT_EQ(blocks[0].id, "Qg==");
  EXPECT_EQ(blocks[0].size, 8'388'608u);
  EXPECT_TRUE(must(parse_blocks("<BlockList><CommittedBlocks/></BlockList>")).empty());
  EXPECT_FALSE(parse_blocks("<BlockList><UncommittedBlocks><Block/></UncommittedBlocks></BlockList>"));
}

TEST(AzureWire, WritesABlockList) {
  EXPECT_EQ(block_list({"QQ==", "Qg=="}),
            "<?xml version=\"1.0\"?><BlockList><Uncommitted>QQ==</Uncommitted><Uncommitted>Qg==</Uncommitted>"
            "</BlockList>");
}

TEST(AzureWire, ReadsAnErrorWithoutItsRequestId) {
  auto error = parse_error(
      "\xEF\xBB\xBF<?xml version=\"1.0\" "
      "encoding=\"utf-8\"?><Error><Code>AuthenticationFailed</Code><Message>Server "
      "failed.\nRequestId:1\nTime:2</Message></Error>");
  EXPECT_EQ(error.code, "AuthenticationFailed");
  EXPECT_EQ(error.message, "Server failed.");
  EXPECT_EQ(parse_error("<html>proxy</html>").code, "");
}

}  // namespace
}  // namespace dash::storage::azure_blob
