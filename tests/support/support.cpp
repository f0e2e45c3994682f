#include "tests/support/fake_clock.hpp"
