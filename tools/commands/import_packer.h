// ImportPacker: sorts what is read into packs, and the packs onto lanes.
//
// Layer:   tools.
// Threads: one.

#pragma once

#include "codec/json/document.h"
#include "core/interactions/history_bundle_entry.h"
#include "tools/commands/import_lane.h"

#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace annals::tools {

/// Takes resources, history entries and Bundles of every type.
///
/// Resources of one id go onto one lane, in order. History stays in the order of the input, on the first
/// lane, after all that was read before it. A Bundle of type batch, transaction or history is carried out;
/// of a collection, searchset or response the contained resources are taken; a document or message is stored
/// as the Bundle that it is.
class ImportPacker {
  public:
    /// Lifetime: lanes and report outlive the packer.
    ImportPacker(std::vector<std::unique_ptr<ImportLane>>& lanes, ImportReport& report);

    /// Takes one text. `bundles_are_resources`: as they were exported, from Bundle.ndjson.
    void take(std::string_view text, const Origin& origin, bool bundles_are_resources);

    /// Pushes what is not full yet, and waits until everything is answered.
    void finish();

  private:
    void take_bundle(json::Value bundle, const Origin& origin);
    void take_history_bundle(json::Value bundle, const Origin& origin);
    void take_resource(json::Value resource, const Origin& origin);
    void take_history_entry(std::string entry, const Origin& origin);
    void add(std::size_t lane, Pack::Kind kind, std::string text, const Origin& origin);
    void push(std::size_t lane);
    void leave_history(bool history);

    std::vector<std::unique_ptr<ImportLane>>& lanes_;
    ImportReport& report_;
    json::Parser parser_{core::kLineDepthMax};
    std::vector<Pack> open_;
    std::size_t next_lane_ = 0;
    std::string last_instant_;                     ///< of the versions in history Bundles
    std::unordered_set<std::uint64_t> deletions_;  ///< in history Bundles: hashes of their entries
    bool in_history_ = false;
};

}  // namespace annals::tools
