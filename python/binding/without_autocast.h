// Computing in full precision while somebody trains in less.
#pragma once

#include <ATen/autocast_mode.h>

namespace anesi::python {

// Whoever trains in reduced precision does so with perception; what is known is computed as it always is.
class WithoutAutocast {
  c10::impl::ExcludeDispatchKeyGuard guard_{at::autocast_dispatch_keyset};
};

}  // namespace anesi::python
