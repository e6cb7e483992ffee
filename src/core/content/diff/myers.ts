/**
 * Remaining work of a whole replacement. Each visited diagonal and each compared token takes about one step.
 */
export interface DiffBudget {
  steps: number
}

/**
 * Minimum of `splitCostMax`, the number of edits up to which a split searches for the best point. With more
 * edits, a split uses the furthest point that it has reached.
 */
const splitCostMin = 256
const unreachable = -(2 ** 30)

interface Side {
  readonly tokens: Int32Array
  /** Contains 1 for each token that is deleted or inserted, and 0 for each token that stays. */
  readonly changed: Uint8Array
}

interface Box {
  readonly aStart: number
  readonly aEnd: number
  readonly bStart: number
  readonly bEnd: number
}

/**
 * The positions that paths have reached on each diagonal. The number of a diagonal is the position in a minus
 * the position in b. Both arrays have a margin of one cell at each end.
 */
interface Frontiers {
  readonly forward: Int32Array
  readonly backward: Int32Array
  /** Index of diagonal 0. */
  readonly origin: number
  readonly splitCostMax: number
}

/**
 * Marks the changes between two token sequences in linear space: E. W. Myers, "An O(ND) Difference Algorithm
 * and Its Variations" (1986), section 4b. The result is always correct. It is minimal while each split needs
 * at most max(256, √n) edits and the budget lasts; beyond that, it is coarser. An explicit stack allows input
 * of any depth.
 */
export function markChanges(a: Side, b: Side, budget: DiffBudget): void {
  const size = a.tokens.length + b.tokens.length
  const frontiers: Frontiers = {
    forward: new Int32Array(size + 3),
    backward: new Int32Array(size + 3),
    origin: b.tokens.length + 1,
    splitCostMax: Math.max(splitCostMin, Math.floor(Math.sqrt(size))),
  }
  const boxes: Box[] = [{ aStart: 0, aEnd: a.tokens.length, bStart: 0, bEnd: b.tokens.length }]
  for (let next = boxes.pop(); next !== undefined; next = boxes.pop()) {
    const box = trimmed(next, a.tokens, b.tokens)
    if (box.aStart === box.aEnd || box.bStart === box.bEnd || budget.steps <= 0) {
      a.changed.fill(1, box.aStart, box.aEnd)
      b.changed.fill(1, box.bStart, box.bEnd)
      continue
    }
    const [x, y] = split(box, a.tokens, b.tokens, frontiers, budget)
    boxes.push({ ...box, aEnd: x, bEnd: y }, { ...box, aStart: x, bStart: y })
  }
}

function trimmed({ aStart, aEnd, bStart, bEnd }: Box, a: Int32Array, b: Int32Array): Box {
  while (aStart < aEnd && bStart < bEnd && a[aStart] === b[bStart]) {
    aStart += 1
    bStart += 1
  }
  while (aStart < aEnd && bStart < bEnd && a[aEnd - 1] === b[bEnd - 1]) {
    aEnd -= 1
    bEnd -= 1
  }
  return { aStart, aEnd, bStart, bEnd }
}

type Point = readonly [x: number, y: number]

/**
 * Returns a point of a shortest path through the box. Searches alternately from both corners. If the search
 * needs too many edits or the budget ends, returns the furthest point that it has reached.
 */
function split(box: Box, a: Int32Array, b: Int32Array, frontiers: Frontiers, budget: DiffBudget): Point {
  const { forward, backward, origin } = frontiers
  const [first, last] = [box.aStart - box.bStart, box.aEnd - box.bEnd]
  const [lowest, highest] = [box.aStart - box.bEnd, box.aEnd - box.bStart]
  const odd = ((first - last) & 1) !== 0
  forward[origin + first] = box.aStart
  backward[origin + last] = box.aEnd
  forward[origin + lowest - 1] = forward[origin + highest + 1] = unreachable
  backward[origin + lowest - 1] = backward[origin + highest + 1] = -unreachable
  for (let cost = 1; ; cost++) {
    const ahead = rangeOf(first, cost, lowest, highest)
    const behind = rangeOf(last, cost, lowest, highest)
    fence(forward, origin, first, cost, lowest, highest, unreachable)
    const met = stepForward(
      box,
      a,
      b,
      frontiers,
      ahead,
      odd ? rangeOf(last, cost - 1, lowest, highest) : null,
      budget,
    )
    if (met !== null) return met
    fence(backward, origin, last, cost, lowest, highest, -unreachable)
    const joined = stepBackward(box, a, b, frontiers, behind, odd ? null : ahead, budget)
    if (joined !== null) return joined
    if (cost >= frontiers.splitCostMax || budget.steps <= 0) return furthest(box, frontiers, ahead, behind)
  }
}

/**
 * The diagonals in the box that can be reached with `cost` edits from `middle`. Only every second diagonal is
 * in the range.
 */
type Range = readonly [from: number, to: number]

function rangeOf(middle: number, cost: number, lowest: number, highest: number): Range {
  const from = middle - cost < lowest ? lowest + ((middle - cost - lowest) & 1) : middle - cost
  const to = middle + cost > highest ? highest - ((middle + cost - highest) & 1) : middle + cost
  return [from, to]
}

/**
 * Marks the next diagonal on each side of the reached range as unreachable, because its cell contains a value
 * of an earlier box.
 */
function fence(
  reach: Int32Array,
  origin: number,
  middle: number,
  cost: number,
  lowest: number,
  highest: number,
  never: number,
): void {
  if (middle - cost - 1 >= lowest - 1) reach[origin + middle - cost - 1] = never
  if (middle + cost + 1 <= highest + 1) reach[origin + middle + cost + 1] = never
}

function stepForward(
  box: Box,
  a: Int32Array,
  b: Int32Array,
  { forward, backward, origin }: Frontiers,
  [from, to]: Range,
  opposite: Range | null,
  budget: DiffBudget,
): Point | null {
  for (let diagonal = from; diagonal <= to; diagonal += 2) {
    const at = origin + diagonal
    const right = (forward[at - 1] as number) + 1
    const down = forward[at + 1] as number
    let x = right <= box.aEnd && (right > down || down - diagonal > box.bEnd) ? right : down
    let y = x - diagonal
    if (x < box.aStart || y > box.bEnd) x = unreachable
    else {
      const start = x
      while (x < box.aEnd && y < box.bEnd && a[x] === b[y]) {
        x += 1
        y += 1
      }
      budget.steps -= 1 + x - start
    }
    forward[at] = x
    if (
      opposite !== null &&
      diagonal >= opposite[0] &&
      diagonal <= opposite[1] &&
      x >= (backward[at] as number)
    ) {
      return [x, y]
    }
  }
  return null
}

function stepBackward(
  box: Box,
  a: Int32Array,
  b: Int32Array,
  { forward, backward, origin }: Frontiers,
  [from, to]: Range,
  opposite: Range | null,
  budget: DiffBudget,
): Point | null {
  for (let diagonal = from; diagonal <= to; diagonal += 2) {
    const at = origin + diagonal
    const left = (backward[at + 1] as number) - 1
    const up = backward[at - 1] as number
    let x = left >= box.aStart && (left < up || up - diagonal < box.bStart) ? left : up
    let y = x - diagonal
    if (x > box.aEnd || y < box.bStart) x = -unreachable
    else {
      const start = x
      while (x > box.aStart && y > box.bStart && a[x - 1] === b[y - 1]) {
        x -= 1
        y -= 1
      }
      budget.steps -= 1 + start - x
    }
    backward[at] = x
    if (
      opposite !== null &&
      diagonal >= opposite[0] &&
      diagonal <= opposite[1] &&
      x <= (forward[at] as number)
    ) {
      return [x, y]
    }
  }
  return null
}

/** Returns the reached point with the least remaining work: the best end of all paths from both corners. */
function furthest(box: Box, { forward, backward, origin }: Frontiers, ahead: Range, behind: Range): Point {
  const corner = { start: box.aStart + box.bStart, end: box.aEnd + box.bEnd }
  let [best, progress]: [Point, number] = [[box.aStart, box.bEnd], 0]
  for (let diagonal = ahead[0]; diagonal <= ahead[1]; diagonal += 2) {
    const x = forward[origin + diagonal] as number
    if (x < box.aStart || 2 * x - diagonal - corner.start <= progress) continue
    ;[best, progress] = [[x, x - diagonal], 2 * x - diagonal - corner.start]
  }
  for (let diagonal = behind[0]; diagonal <= behind[1]; diagonal += 2) {
    const x = backward[origin + diagonal] as number
    if (x > box.aEnd || corner.end - (2 * x - diagonal) <= progress) continue
    ;[best, progress] = [[x, x - diagonal], corner.end - (2 * x - diagonal)]
  }
  return best
}
