#include <fmt/format.h>

int main() {
  fmt::print("dashctl {}\n", DASH_VERSION);
  return 0;
}
