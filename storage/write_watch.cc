#include "storage/write_watch.h"

#include "storage/sequencer.h"

namespace annals::storage {

WriteWatch::~WriteWatch() {
    sequencer_.end_watch(*this);
}

}  // namespace annals::storage
