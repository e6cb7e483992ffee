import * as Y from 'yjs'
import { memoized } from '../../base/maps.ts'
import type { StoredId } from '../../update/range-index.ts'
import { toJson } from '../json/json.ts'
import { idTokenOf } from '../values/match-elements.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'
import { formOfItem, plainValues } from '../yjs/sequence-content.ts'
import { type LabeledPart, LabeledUnits, type ShownUnit } from './labeled-units.ts'
import type { ThreeWay } from './merge-values.ts'
import type { MergeVersions, VersionName } from './merge-versions.ts'
import type { MergeSide } from './overlap.ts'
import { bitOf, elementUnit, inBase, inMine, inTheirs, type MergedUnits } from './sequence-clusters.ts'

const everywhere = inBase | inTheirs | inMine

/** The units of a sequence into which an update was integrated. */
export class MergedSequence extends LabeledUnits implements MergedUnits {
  readonly type: SharedRoot
  readonly #versions: MergeVersions
  /** For each kind of unit that was asked for, the number of its units before each index. */
  readonly #counts = new Map<string, Int32Array>()

  /** @param edited the bits of elements that one side has deleted and the other one has changed, by `idName` */
  constructor(type: SharedRoot, versions: MergeVersions, edited: ReadonlyMap<string, number>) {
    super(partsOf(type, versions, edited))
    this.type = type
    this.#versions = versions
  }

  /** Returns whether a unit is in the document after the integration. */
  isLive(index: number): boolean {
    const bits = (this.bits[index] as number) & everywhere
    return bits === everywhere || (bits & inBase) === 0
  }

  /** Returns whether no unit is in the document after the integration, although each side has units. */
  isEmptied(): boolean {
    const isIn = (bit: number): boolean => this.bits.some((bits) => (bits & bit) !== 0)
    return !this.bits.some((_, at) => this.isLive(at)) && isIn(inTheirs) && isIn(inMine)
  }

  /** Returns the number of units before `index` that are in the document after the integration. */
  liveBefore(index: number): number {
    return this.#countBefore(index, 'live', (at) => this.isLive(at))
  }

  /** Returns the unit of a cluster to which a side has moved its only item; null if the side has not moved an item. */
  movedTo(indexes: readonly number[], side: MergeSide): number | null {
    const from = indexes.filter((at) => this.has(at, inBase))
    const to = indexes.filter((at) => this.has(at, bitOf[side]))
    if (from.length !== 1 || to.length !== 1) return null
    const [before, after] = [from, to].map(([at]) =>
      this.#countBefore(at as number, side, (each) => this.has(each, inBase) && this.has(each, bitOf[side])),
    )
    return before === after ? null : (to[0] as number)
  }

  #countBefore(index: number, name: string, isCounted: (index: number) => boolean): number {
    const counts = memoized(this.#counts, name, () => {
      let count = 0
      return Int32Array.from(this.bits, (_, at) => (isCounted(at) ? count++ : count))
    })
    return counts[index] as number
  }

  idOf = (index: number): string | null => {
    if (this.text[index] !== elementUnit) return null
    const version = (['base', 'theirs', 'mine'] as const).find((each) => this.has(index, bitOf[each]))
    if (version === undefined) return null
    const item = this.#versions.item(version, this.idAt(index))
    return item === null || !isPlain(item.content) ? null : idTokenOf(this.#valueAt(index, version))
  }

  formOf = (index: number, side: VersionName): string => {
    const item = this.#versions.item(side, this.idAt(index))
    if (item === null) return ''
    return isPlain(item.content)
      ? JSON.stringify(toJson(this.#valueAt(index, side)) ?? null)
      : formOfItem(item)
  }

  /** Returns units as lists of plain values; null if one of them is not a plain value. */
  plainLists(indexes: readonly number[]): ThreeWay<readonly unknown[]> | null {
    const lists: Record<VersionName, unknown[]> = { base: [], theirs: [], mine: [] }
    for (const index of indexes) {
      if (this.text[index] !== elementUnit) return null
      for (const version of ['base', 'theirs', 'mine'] as const) {
        if (!this.has(index, bitOf[version])) continue
        const item = this.#versions.item(version, this.idAt(index))
        if (item === null || !isPlain(item.content)) return null
        lists[version].push(this.#valueAt(index, version))
      }
    }
    return lists
  }

  /** Returns the units of a version in a readable form. */
  show(indexes: readonly number[], version: VersionName): unknown {
    const units = indexes.filter((index) => this.has(index, bitOf[version]))
    return this.list(units, (index) => this.#showElement(index, version))
  }

  #showElement(index: number, version: VersionName): ShownUnit {
    const item = this.#versions.item(version, this.idAt(index))
    return item === null ? { value: null } : showUnit(item, this.idAt(index))
  }

  #valueAt(index: number, version: VersionName): unknown {
    const id = this.idAt(index)
    const item = this.#versions.item(version, id)
    return item === null ? undefined : plainValues(item.content, id.clock - item.id.clock, 1)[0]
  }
}

function* partsOf(
  type: SharedRoot,
  versions: MergeVersions,
  edited: ReadonlyMap<string, number>,
): Generator<LabeledPart> {
  for (let item = type._start; item !== null; item = item.right)
    for (let offset = 0; offset < item.length; ) {
      const id = { client: item.id.client, clock: item.id.clock + offset }
      const { bits, end } = versions.at(id)
      const visible = bits === 0 ? null : visibleIn(versions, item, offset)
      const length = Math.min(
        item.length - offset,
        end - id.clock,
        visible?.text.length ?? Number.POSITIVE_INFINITY,
      )
      offset += length
      if (visible === null || !visible.isUnit) continue
      const mark = edited.size === 0 ? 0 : (edited.get(idName(id)) ?? 0)
      yield { ...id, text: visible.text.slice(0, length), bits: bits | mark }
    }
}

/** Returns the text of an item from an offset. If others have deleted the content, only the base has it. */
function visibleIn(versions: MergeVersions, { id, content, length }: Y.Item, offset: number): VisiblePart {
  if (!(content instanceof Y.ContentDeleted)) return visiblePart(content, offset, length)
  const clock = id.clock + offset
  const item = versions.item('base', { client: id.client, clock })
  if (item === null) return { text: elementUnit, isUnit: false }
  return visiblePart(item.content, clock - item.id.clock, item.length)
}

interface VisiblePart {
  readonly text: string
  /** False for formatting, which is not a unit. */
  readonly isUnit: boolean
}

const visiblePart = (content: Y.Item['content'], offset: number, length: number): VisiblePart => ({
  text: content instanceof Y.ContentString ? content.str.slice(offset) : elementUnit.repeat(length - offset),
  isUnit: !(content instanceof Y.ContentFormat),
})

/** Returns the name of an id as a key of a map. */
export const idName = ({ client, clock }: StoredId): string => `${client} ${clock}`

const isPlain = (content: Y.Item['content']): boolean =>
  content instanceof Y.ContentAny || content instanceof Y.ContentJSON

/** Returns a unit of an item, which is not text, in a readable form. */
export function showUnit({ id, content }: Y.Item, { clock }: StoredId): ShownUnit {
  if (!(content instanceof Y.ContentType))
    return { value: toJson(plainValues(content, clock - id.clock, 1)[0]) ?? null }
  const value = showType(content.type)
  return typeof value === 'string' ? value : { value }
}

/** Returns a shared value in a readable form. */
export const showType = (type: SharedRoot): unknown =>
  type instanceof Y.XmlFragment || type instanceof Y.Text ? type.toString() : toJson(type.toJSON())
