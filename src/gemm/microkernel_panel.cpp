#include "gemm/microkernel_panel.hpp"

#include <algorithm>

#include "evaluator/quotient_up.hpp"

namespace postlude {
namespace detail {
namespace {

/// Rows of w for a block of K, contiguous along k.
struct BlockOfW {
  const float* data = nullptr;
  std::int64_t row = 0;
};

class PanelProduct {
 public:
  explicit PanelProduct(const PanelOfY& panel)
      : panel_(panel),
        is_copied_(panel.w.block_rows == 0 && must_copy_w(panel.depth, panel.w.column)),
        lanes_(quotient_up(panel.rows, avx512_width) * avx512_width),
        slivers_(quotient_up(lanes_, sliver_lanes)),
        groups_(quotient_up(panel.columns, most_tile_rows)) {}

  void multiply() const {
    for (std::int64_t k = 0; k < panel_.depth; k += microkernel_depth) multiply_block(k);
    store();
  }

 private:
  std::int64_t depth_of(std::int64_t k) const {
    return std::min(microkernel_depth, panel_.depth - k);
  }

  /// Rows of w are multiplied in groups of nearly the same size, so that none is of one or two.
  std::int64_t row_of(std::int64_t group) const { return group * panel_.columns / groups_; }

  /// Where w has the block that begins with k; null behind the last.
  BlockOfW block_at(std::int64_t k) const {
    const RowsOfW& w = panel_.w;
    if (k >= panel_.depth) return {};
    if (w.block_rows == 0) return {w.data + k * w.column, w.row};
    return {w.data + k * w.block_rows + w.first * depth_of(k), depth_of(k)};
  }

  BlockOfW copy_of(const BlockOfW& block, std::int64_t depth) const {
    MatrixCopy copy;
    copy.rows = panel_.columns;
    copy.columns = copy.padded_columns = copy.to_row = depth;
    copy.from = block.data;
    copy.from_row = panel_.w.row;
    copy.from_column = panel_.w.column;
    copy.to = panel_.copied;
    copy_matrix_avx512(copy);
    return {panel_.copied, depth};
  }

  void multiply_block(std::int64_t k) const {
    const std::int64_t depth = depth_of(k);
    const BlockOfW block = is_copied_ ? copy_of(block_at(k), depth) : block_at(k);
    const BlockOfW next = is_copied_ ? BlockOfW() : block_at(k + depth);
    for (std::int64_t group = 0; group < groups_; ++group) {
      // The rows that follow come from memory meanwhile.
      BlockOfW ahead = block;
      std::int64_t first = row_of(group + 1), last = row_of(group + 2);
      if (group + 1 == groups_) {
        ahead = next;
        first = 0;
        last = row_of(1);
      }
      // The last block's rows may be shorter, and then lie closer together.
      if (is_copied_ || ahead.data == nullptr || ahead.row != block.row) last = first;
      multiply_group(k, group, block, ahead, first, last);
    }
  }

  /// A group of rows of w with all of x, sliver by sliver.
  void multiply_group(std::int64_t k, std::int64_t group, const BlockOfW& block,
                      const BlockOfW& ahead, std::int64_t ahead_first,
                      std::int64_t ahead_last) const {
    const std::int64_t row = row_of(group);
    const auto rows = static_cast<int>(row_of(group + 1) - row);
    TileProduct tile;
    tile.depth = depth_of(k);
    tile.adds = k > 0;
    tile.w = block.data + row * block.row;
    tile.w_row = block.row;
    tile.sums_row = lanes_;
    for (std::int64_t sliver = 0; sliver < slivers_; ++sliver) {
      const std::int64_t lane = sliver * sliver_lanes;
      const std::int64_t wanted = ahead_last - ahead_first;
      const std::int64_t begin = sliver * wanted / slivers_;
      tile.ahead = wanted > 0 ? ahead.data + (ahead_first + begin) * ahead.row : tile.w;
      tile.ahead_rows = static_cast<int>((sliver + 1) * wanted / slivers_ - begin);
      tile.x = panel_.x + k * lanes_ + lane * tile.depth;
      tile.sums = panel_.sums + row * lanes_ + lane;
      multiply_tile_avx512(
          rows, static_cast<int>(std::min(sliver_lanes, lanes_ - lane) / avx512_width), tile);
    }
  }

  /// The sums, of which a row has a column of y, to y.
  void store() const {
    const MatrixStrides& strides = panel_.strides;
    MatrixCopy copy;
    copy.from = panel_.sums;
    copy.to = panel_.y;
    if (strides.column == 1 || panel_.columns == 1) {
      copy.rows = panel_.rows;
      copy.columns = copy.padded_columns = panel_.columns;
      copy.from_row = 1;
      copy.from_column = lanes_;
      copy.to_row = strides.row;
      copy_matrix_avx512(copy);
    } else if (strides.row == 1 || panel_.rows == 1) {
      copy.rows = panel_.columns;
      copy.columns = copy.padded_columns = panel_.rows;
      copy.from_row = lanes_;
      copy.from_column = 1;
      copy.to_row = strides.column;
      copy_matrix_avx512(copy);
    } else {
      for (std::int64_t row = 0; row < panel_.rows; ++row)
        for (std::int64_t column = 0; column < panel_.columns; ++column)
          panel_.y[row * strides.row + column * strides.column] =
              panel_.sums[column * lanes_ + row];
    }
  }

  const PanelOfY& panel_;
  bool is_copied_;
  std::int64_t lanes_;    ///< rows of x in whole vectors
  std::int64_t slivers_;  ///< of these
  std::int64_t groups_;   ///< of rows of w
};

}  // namespace

void multiply_panel(const PanelOfY& panel) { PanelProduct(panel).multiply(); }

}  // namespace detail
}  // namespace postlude
