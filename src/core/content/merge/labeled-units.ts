import { firstIndex } from '../../base/search.ts'
import type { IdRange, StoredId } from '../../update/range-index.ts'
import type { Overlap } from './overlap.ts'
import { bitOf, elementUnit, type MergedUnits } from './sequence-clusters.ts'

/** Units with consecutive ids that the same versions have. */
export interface LabeledPart extends StoredId {
  /** One UTF-16 unit for each id: the character, or `elementUnit`. */
  readonly text: string
  /** The versions that have the units, as bits. */
  readonly bits: number
}

/** Text and XML in a readable form, or a value. */
export type ShownUnit = string | { readonly value: unknown }

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

  /** Returns whether a unit has one of the bits. */
  has(index: number, bits: number): boolean {
    return ((this.bits[index] as number) & bits) !== 0
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

  /** Returns units in a readable form: text and XML as a string, all other content as a list. */
  protected list(indexes: readonly number[], showElement: (index: number) => ShownUnit): unknown {
    const parts: ShownUnit[] = []
    for (const index of indexes) {
      const part = this.text[index] === elementUnit ? showElement(index) : (this.text[index] as string)
      const last = parts.at(-1)
      if (typeof part === 'string' && typeof last === 'string') parts[parts.length - 1] = last + part
      else parts.push(part)
    }
    return parts.every((part) => typeof part === 'string')
      ? parts.join('')
      : parts.map((part) => (typeof part === 'string' ? part : part.value))
  }

  #partAt(index: number): number {
    return firstIndex(this.#parts.length, (at) => (this.#parts[at] as Part).start > index) - 1
  }
}

/** Units of which only the text is compared and shown. An element is equal only to itself. */
export class TextUnits extends LabeledUnits implements MergedUnits {
  idOf = (): null => null

  formOf(index: number): string {
    return `${elementUnit}${index}`
  }

  protected showElement(_index: number): ShownUnit {
    return elementUnit
  }

  /** Returns the ids of the units that all versions of `bits` have, and no version of `lacking`. */
  having(indexes: readonly number[], bits: number, lacking = 0): readonly IdRange[] {
    return this.ranges(indexes.filter((at) => ((this.bits[at] as number) & (bits | lacking)) === bits))
  }

  /** Returns units in each version that has some of them, in a readable form. */
  shown(indexes: readonly number[]): Pick<Overlap, keyof typeof bitOf> {
    const shown = Object.entries(bitOf).map(([version, bit]) => {
      const units = indexes.filter((at) => this.has(at, bit))
      return [version, this.list(units, (at) => this.showElement(at))] as const
    })
    return Object.fromEntries(shown.filter(([, value]) => value !== ''))
  }
}
