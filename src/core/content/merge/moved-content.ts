import * as Y from 'yjs'
import { addTo } from '../../base/maps.ts'
import { toJson } from '../json/json.ts'
import type { IdRange } from '../yjs/range-index.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'
import { formOfItem, plainValues } from '../yjs/sequence-content.ts'
import type { MergeVersions, VersionName } from './merge-versions.ts'
import type { MergeSide } from './overlap.ts'
import { inBase, inMine, inTheirs } from './sequence-clusters.ts'

type SomeIds = readonly [IdRange, ...IdRange[]]

/** The ids of content that a side has deleted at one place, and inserted at another place. */
interface MovedContent {
  /** First the content, then the elements that contained it, if the side has deleted them. */
  readonly from: SomeIds
  readonly to: SomeIds
}

/** An element, a value or a text that a side has deleted or inserted. */
interface Piece {
  readonly ranges: SomeIds
  /** The words; without any, the whole content. */
  readonly form: string
  readonly isText: boolean
  /** The piece that contains this one. */
  readonly parent: Piece | null
}

/**
 * Finds content that a side has moved. A word in a text is moved only if it was an element, or if it is one now, because
 * other words can be equal by chance.
 */
export function movesOf(side: MergeSide, versions: MergeVersions): readonly MovedContent[] {
  const bit = side === 'mine' ? inMine : inTheirs
  const deleted = new Map<string, Piece[]>()
  for (const piece of new PieceReader(versions, 'base', { having: inBase, lacking: bit }).pieces)
    addTo(deleted, isWord(piece) ? wordKey(piece) : piece.form, piece)
  if (deleted.size === 0) return []
  const moves: MovedContent[] = []
  const moved = new Set<Piece>()
  for (const to of new PieceReader(versions, side, { having: bit, lacking: inBase }).pieces) {
    if (withParents(to).some((piece) => moved.has(piece))) continue
    const from = deleted.get(to.form)?.pop() ?? (to.isText ? undefined : deleted.get(wordKey(to))?.pop())
    if (from === undefined) continue
    moved.add(to)
    const parents = withParents(from).slice(1)
    moves.push({ from: [...from.ranges, ...parents.flatMap(({ ranges }) => ranges)], to: to.ranges })
  }
  return moves
}

const isWord = ({ isText, form }: Piece): boolean => isText && !form.includes(' ')
const wordKey = ({ form }: Piece): string => ` ${form}`

function withParents(piece: Piece): readonly Piece[] {
  const pieces: Piece[] = []
  for (let each: Piece | null = piece; each !== null; each = each.parent) pieces.push(each)
  return pieces
}

interface Bits {
  readonly having: number
  readonly lacking: number
}

/** Finds the pieces of a version with some bits and without others. An element comes before the elements in it. */
class PieceReader {
  readonly pieces: Piece[] = []
  readonly #versions: MergeVersions
  readonly #bits: Bits

  constructor(versions: MergeVersions, version: VersionName, bits: Bits) {
    this.#versions = versions
    this.#bits = bits
    for (const type of versions.doc(version).share.values()) this.#visit(type, null)
  }

  #visit(type: SharedRoot, parent: Piece | null): void {
    for (const item of type._map.values()) if (!item.deleted) this.#element(item, item.length - 1, parent)
    let ranges: IdRange[] = []
    let text = ''
    const endRun = (): void => {
      const form = wordsOf(text)
      const [first, ...more] = ranges
      if (form !== '' && first !== undefined)
        this.pieces.push({ ranges: [first, ...more], form, isText: true, parent })
      ranges = []
      text = ''
    }
    for (let item = type._start; item !== null; item = item.right) {
      if (item.deleted || item.content instanceof Y.ContentFormat) continue
      for (let offset = 0; offset < item.length; ) {
        const id = { client: item.id.client, clock: item.id.clock + offset }
        const isText = item.content instanceof Y.ContentString
        const length = isText ? Math.min(item.length - offset, this.#versions.at(id).end - id.clock) : 1
        // The text of an element is not a piece of its own.
        if (isText && parent === null && this.#has(id)) {
          ranges.push({ ...id, length })
          text += (item.content as Y.ContentString).str.slice(offset, offset + length)
        } else endRun()
        if (!isText) this.#element(item, offset, parent)
        offset += length
      }
    }
    endRun()
  }

  #element({ id: { client, clock }, content }: Y.Item, offset: number, parent: Piece | null): void {
    const range = { client, clock: clock + offset, length: 1 }
    const form = this.#has(range) ? formOf(content, offset) : ''
    const piece: Piece | null = form === '' ? parent : { ranges: [range], form, isText: false, parent }
    if (piece !== null && piece !== parent) this.pieces.push(piece)
    if (content instanceof Y.ContentType) this.#visit(content.type, piece)
  }

  #has(id: Pick<IdRange, 'client' | 'clock'>): boolean {
    const { having, lacking } = this.#bits
    return (this.#versions.at(id).bits & (having | lacking)) === having
  }
}

/** Returns the form of an element or a value; empty if it is often equal by chance. */
function formOf(content: Y.Item['content'], offset: number): string {
  if (content instanceof Y.ContentType) {
    const { type } = content
    const isEmpty = type._start === null && type._map.size === 0
    return wordsOf(textOf(type)) || (isEmpty || type._item === null ? '' : formOfItem(type._item))
  }
  const [value] = plainValues(content, offset, 1)
  const isLong = typeof value === 'string' || (typeof value === 'object' && value !== null)
  return isLong ? JSON.stringify(toJson(value)) : ''
}

/** Returns the words of a text in a fixed order, because a difference can start at another word of the moved text. */
const wordsOf = (text: string): string => text.trim().split(/\s+/).sort().join(' ')

function textOf(type: SharedRoot): string {
  let text = ''
  for (let item = type._start; item !== null; item = item.right)
    if (item.deleted) continue
    else if (item.content instanceof Y.ContentString) text += item.content.str
    else if (item.content instanceof Y.ContentType) text += textOf(item.content.type)
  return text
}
