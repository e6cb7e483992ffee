import type { Random } from '../data/random-doc.ts'

/** Encodes a number in the variable-length format of lib0. */
export function varUint(value: number): number[] {
  const bytes: number[] = []
  let rest = value
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128)
  return [...bytes, rest]
}

/** Encodes a string with its length in front. */
export const varString = (value: string): number[] => [
  ...varUint(Buffer.byteLength(value)),
  ...Buffer.from(value),
]

export const bytesOf = (...parts: (number | readonly number[])[]): Uint8Array => Uint8Array.from(parts.flat())

type Clocks = ReadonlyMap<number, number>

interface Struct {
  readonly bytes: readonly number[]
  /** Length of the struct in clocks. */
  readonly length: number
}

const clients = [1, 2, 3, 4]
const json = ['1', 'null', '{"a":[]}', '"x"', '{"__proto__":{"a":1}}']
const anyValues = [[127], [126], [125, 1], [118, 1, 1, 97, 117, 0], [119, 1, 97], [116, 1, 0]]
const texts = ['abcdef', 'x', '😀😀', 'é漢', 'ab']

function list(random: Random, one: () => readonly number[]): Struct {
  const length = 1 + random.below(3)
  return { length, bytes: [length, ...Array.from({ length }, one).flat()] }
}

/** Functions that create random content, by the kind of the content in the encoding (1 to 8). */
const contents: Record<number, (random: Random) => Struct> = {
  1: (random) => {
    const length = 1 + random.below(4)
    return { length, bytes: [length] }
  },
  2: (random) => list(random, () => varString(random.pick(json))),
  3: () => ({ length: 1, bytes: [2, 1, 2] }),
  4: (random) => {
    const text = random.pick(texts)
    return { length: text.length, bytes: varString(text) }
  },
  5: (random) => ({ length: 1, bytes: varString(random.pick(json)) }),
  6: (random) => ({
    length: 1,
    bytes: [...varString(random.pick(['bold', '__proto__'])), ...varString(random.pick(json))],
  }),
  7: (random) => {
    const type = random.below(7)
    return { length: 1, bytes: type === 3 || type === 5 ? [type, ...varString('p')] : [type] }
  },
  8: (random) => list(random, () => random.pick(anyValues)),
}

/** Function that returns the id of a struct that may exist; null if there is none. */
type PickId = () => readonly number[] | null

function item(random: Random, pickId: PickId): Struct {
  const kind = random.below(3) === 0 ? 7 : 1 + random.below(8)
  const content = (contents[kind] as (random: Random) => Struct)(random)
  const place = random.below(6)
  const origin = place <= 1 ? pickId() : null
  const rightOrigin = place === 1 || place === 2 ? pickId() : null
  const keyed = random.below(4) === 0
  const info = kind | (origin ? 0x80 : 0) | (rightOrigin ? 0x40 : 0) | (keyed ? 0x20 : 0)
  const head = [info, ...(origin ?? []), ...(rightOrigin ?? [])]
  if (origin === null && rightOrigin === null) {
    const parent = place >= 4 ? pickId() : null
    head.push(...(parent ? [0, ...parent] : [1, ...varString(random.pick(['t', 'm', '']))]))
    if (keyed) head.push(...varString(random.pick(['a', 'b', '__proto__'])))
  }
  return { length: content.length, bytes: [...head, ...content.bytes] }
}

function anyStruct(random: Random, first: boolean, pickId: PickId): Struct {
  const what = random.below(20)
  const length = 1 + random.below(4)
  if (what === 0) return { length, bytes: [0, length] }
  if (what === 1 && !first) return { length, bytes: [10, length] }
  return item(random, pickId)
}

/**
 * Returns the start clock of a client's block. Usually this is the next clock of the client. Sometimes it is
 * lower, and rarely there is a gap.
 */
function startOf(known: number, random: Random): number {
  if (random.below(4) === 0) return Math.max(0, known - random.below(12))
  return random.below(15) === 0 ? known + random.below(3) : known
}

function block(client: number, ends: Map<number, number>, random: Random): readonly number[] {
  const start = startOf(ends.get(client) ?? 0, random)
  let clock = start
  const pickId = (): readonly number[] | null => {
    const of = random.below(2) === 0 ? client : random.pick(clients)
    const end = of === client ? clock : (ends.get(of) ?? 0) + (random.below(20) === 0 ? 2 : 0)
    if (end <= 0) return null
    return [of, ...varUint(random.below(3) === 0 ? end - 1 : random.below(end))]
  }
  const structs = Array.from({ length: 1 + random.below(5) }, (_, index) => {
    const struct = anyStruct(random, index === 0, pickId)
    clock += struct.length
    return struct.bytes
  })
  ends.set(client, Math.max(clock, ends.get(client) ?? 0))
  return [structs.length, client, ...varUint(start), ...structs.flat()]
}

function deletions(ends: Clocks, random: Random): readonly number[] {
  const blocks: number[][] = []
  for (const [client, end] of ends) {
    if (end === 0 || random.below(3) > 0) continue
    const ranges = Array.from({ length: 1 + random.below(3) }, () => {
      const from = random.below(end)
      const longest = random.below(3) === 0 ? end - from : Math.min(3, end - from)
      return [...varUint(from), ...varUint(1 + random.below(longest))]
    })
    blocks.push([client, ranges.length, ...ranges.flat()])
  }
  return [blocks.length, ...blocks.flat()]
}

/**
 * Returns an update with valid encoding and arbitrary meaning. It may have origins in other types or inside
 * runs, parents that are not types, keys in a text, different content for known ids, gaps, and deletions of
 * anything.
 */
export function craftUpdate(clocks: Clocks, random: Random): Uint8Array {
  const ends = new Map(clocks)
  const chosen = clients.filter(() => random.below(2) === 0)
  const blocks = (chosen.length > 0 ? chosen : [random.pick(clients)]).map((client) =>
    block(client, ends, random),
  )
  return bytesOf(blocks.length, blocks.flat(), deletions(ends, random))
}
