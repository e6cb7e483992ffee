import { firstIndex } from '../../base/search.ts'
import type { IdRange, StoredId } from '../yjs/range-index.ts'
import type { Overlap } from './overlap.ts'
import { elementUnit, inBase, inMine, inTheirs, type MergedUnits } from './sequence-clusters.ts'

/** Units with consecutive ids that the same versions have. */
export interface LabeledPart extends StoredId {
  /** One UTF-16 unit for each id: the character, or `elementUnit`. */
  readonly text: string
  /** The versions that have the units, as bits. */
  readonly bits: number
}

interface Part extends StoredId {
  /** Index of the first unit. */
  readonly start: number
}

/** The units of all versions of a sequence, in their order. */
export class LabeledUnits {
  readonly text: string
  readonly bits: Uint8Array
  readonly #parts: Part[] = []

  constructor(parts: Iterable<LabeledPart>) {
    const texts: string[] = []
    const all: number[] = []
    for (const { client, clock, text, bits } of parts) {
      this.#parts.push({ client, clock, start: all.length })
      texts.push(text)
      for (let at = 0; at < text.length; at++) all.push(bits)
    }
    this.text = texts.join('')
    this.bits = Uint8Array.from(all)
  }

  idAt(index: number): StoredId {
    const part = this.#parts[this.#partAt(index)] as Part
    return { client: part.client, clock: part.clock + index - part.start }
  }

  ranges(indexes: readonly number[]): readonly IdRange[] {
    const ranges: { client: number; clock: number; length: number }[] = []
    for (const index of indexes) {
      const { client, clock } = this.idAt(index)
      const last = ranges.at(-1)
      if (last?.client === client && last.clock + last.length === clock) last.length += 1
      else ranges.push({ client, clock, length: 1 })
    }
    return ranges
  }

  #partAt(index: number): number {
    return firstIndex(this.#parts.length, (at) => (this.#parts[at] as Part).start > index) - 1
  }
}

const bitOf = { base: inBase, theirs: inTheirs, mine: inMine } as const

/** Units of which only the text is compared. An element is equal only to itself. */
export class TextUnits extends LabeledUnits implements MergedUnits {
  idOf = (): null => null

  formOf = (index: number): string => `${elementUnit}${index}`

  /** Returns the ids of the units that all versions of `bits` have, and no version of `lacking`. */
  having(indexes: readonly number[], bits: number, lacking = 0): readonly IdRange[] {
    return this.ranges(indexes.filter((at) => ((this.bits[at] as number) & (bits | lacking)) === bits))
  }

  /** Returns the text of units in each version, without empty texts. */
  shown(indexes: readonly number[]): Pick<Overlap, keyof typeof bitOf> {
    const texts = Object.entries(bitOf).map(([version, bit]) => {
      const has = indexes.filter((at) => ((this.bits[at] as number) & bit) !== 0)
      return [version, has.map((at) => this.text[at]).join('')] as const
    })
    return Object.fromEntries(texts.filter(([, text]) => text !== ''))
  }
}
