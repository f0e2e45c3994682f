// Feeds every file of a corpus to a fuzz target, as a plain test. An empty corpus is a failure: it would test
// nothing.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: %s CORPUS\n", argv[0]), 2;
  std::error_code ec;
  int inputs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1], ec)) {
    std::ifstream file(entry.path(), std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(file), {}};
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    ++inputs;
  }
  if (inputs == 0) return std::fprintf(stderr, "no inputs in %s\n", argv[1]), 1;
  return 0;
}
