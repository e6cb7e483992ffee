import { expect, test } from 'vitest'
import * as Y from 'yjs'
import type { EditRequest } from '../../../../../src/core/content/edit/check-edits.ts'
import { checkChange } from '../../../../../src/core/content/root-change.ts'
import { Random } from '../../../../support/data/random-doc.ts'
import { seed } from '../../../../support/data/seed.ts'
import { isEverythingAsked, times } from '../../../../support/time/full-run.ts'
import { loaded, updatesOf } from '../../support.ts'
import { mergeEdits, rejectionIn } from '../merge-support.ts'
import { randomEdit } from './random-edits.ts'
import { type Place, type ReadRoot, readBlocks } from './read-blocks.ts'
import { type RootKind, textRoots } from './roots.ts'
import { applyToBlocks, type Block, clone, ModelError, notModeled, resolve, type Unit } from './text-model.ts'

/** Number of edits of each kind of root. */
const editsPerRoot = times(500, 6_000)
const requestsPerDocument = 10
const clientId = 7

for (const [index, kind] of textRoots.entries()) {
  test(`[EDIT-73] edits ${kind.name} like a plain implementation on values, while clients type (seed ${seed})`, () => {
    const random = new Random(seed * 31 + index)
    const counts = { requests: 0, edits: 0, rejected: 0, merged: 0 }
    while (counts.edits < editsPerRoot) {
      const session = new Session(kind, random, counts)
      for (let request = 0; request < requestsPerDocument; request++) session.request()
    }
    if (isEverythingAsked) console.info(`${kind.name}, seed ${seed}: ${JSON.stringify(counts)}`)
  }, 600_000)
}

interface Counts {
  requests: number
  edits: number
  /** Requests that must be rejected. */
  rejected: number
  /** Requests with a base version, after which a client has typed. */
  merged: number
}

/** One document, with the server and one client. */
class Session {
  readonly #kind: RootKind
  readonly #random: Random
  readonly #counts: Counts
  readonly #server: Y.Doc
  readonly #client: Y.Doc

  constructor(kind: RootKind, random: Random, counts: Counts) {
    this.#kind = kind
    this.#random = random
    this.#counts = counts
    this.#server = kind.make(random)
    this.#client = loaded(this.#server, clientId)
  }

  request(): void {
    const before = this.#read(this.#server)
    const chosen = this.#choose(before.root)
    this.#counts.requests += 1
    this.#counts.edits += chosen.edits.length
    try {
      if (chosen.rejection === null) this.#accepted(before, chosen)
      else this.#rejected(before, chosen)
    } catch (error) {
      const problem = `request ${this.#counts.requests} for ${this.#kind.name} with seed ${seed}`
      const request = `${JSON.stringify(chosen.edits)} of ${JSON.stringify(shown(before.root))}`
      throw new Error(`${problem}: ${request}`, { cause: error })
    }
  }

  /** Chooses one to four edits. Each of them finds the content as the edits before it leave it. */
  #choose(root: Block): Chosen {
    const { rules, marks } = this.#kind
    const edits: EditRequest[] = []
    let expected = clone(root)
    for (let count = 1 + this.#random.below(4); count > 0; count--) {
      const { edit, text } = isEmpty(expected)
        ? { edit: { insert: { at: 'end', content: 'one two' } }, text: 'one two' }
        : randomEdit(this.#random, expected, rules, marks)
      const next = clone(expected)
      const space = this.#spaceOf(expected, edit)
      const rejection = space === null ? notModeled : errorOf(() => applyToBlocks(next, rules, edit, text))
      if (rejection === notModeled || (rejection !== null && this.#random.once(2))) continue
      edits.push(edit)
      if (rejection !== null) return { edits, expected, rejection, isLoose: false }
      expected = next
      if (space === 'any') return { edits, expected, rejection: null, isLoose: true }
    }
    return { edits, expected, rejection: null, isLoose: false }
  }

  #rejected({ root }: ReadRoot, { edits, rejection }: Chosen): void {
    this.#counts.rejected += 1
    const server = edits.length === 1 ? this.#server : loaded(this.#server)
    const { code, edit } = rejectionIn(() => this.#apply(server, edits))
    expect({ code, edit }).toEqual({ code: rejection, edit: edits.length - 1 })
    compare(this.#read(this.#server).root, root, false)
  }

  #accepted(before: ReadRoot, { edits, expected, isLoose }: Chosen): void {
    const typed = this.#random.once(3) ? null : this.#type(before, expected)
    const updates = updatesOf(this.#server, () => {
      if (typed !== null && this.#random.once(2)) this.#merge(edits, typed.update)
      else {
        this.#apply(this.#server, edits)
        if (typed !== null) Y.applyUpdate(this.#server, typed.update)
      }
    })
    for (const update of updates) Y.applyUpdate(this.#client, update)
    const after = this.#read(this.#server)
    compare(after.root, typed === null ? expected : typed.expected, isLoose)
    compare(this.#read(this.#client).root, after.root, false)
  }

  /** Merges edits of the version before the update of the client. */
  #merge(edits: EditRequest[], update: Uint8Array): void {
    const { key } = this.#kind
    this.#counts.merged += 1
    const base = loaded(this.#server)
    Y.applyUpdate(this.#server, update)
    mergeEdits(this.#server, base, key, edits)
    // Yjs removes formatting without effect after a merge, so that a mark can be written again.
    const isRepeatable = edits.every(
      ({ insert, mark, text }) =>
        insert === undefined && mark === undefined && (text === undefined || text.delete),
    )
    if (!isRepeatable || this.#random.below(3) > 0) return
    expect(mergeEdits(this.#server, base, key, edits)).toBe(false)
  }

  #apply(doc: Y.Doc, edits: EditRequest[]): void {
    if (edits.length > 0) checkChange({ contentKey: this.#kind.key, edits }).apply(doc)
  }

  /** Changes the client outside the target. Returns null if nothing is changed. */
  #type({ root, places }: ReadRoot, expected: Block): Typed | null {
    const pairs = keptPairs(root, expected).filter(([left]) => places.has(left.id as string))
    if (pairs.length === 0) return null
    const [left, right] = this.#random.pick(pairs)
    const clientPlaces = this.#read(this.#client).places
    const place = clientPlaces.get(left.id as string) as Place
    const after = clone(expected)
    // A quote is never deleted as a whole: it has whole words.
    const isDeletion = this.#random.once(4) && /[a-z]{2}/.test(left.character + right.character)
    const clock = Y.getState(this.#client.store, clientId)
    const [update] = updatesOf(this.#client, () => {
      if (isDeletion) Y.Text.prototype.delete.call(place.type, place.index, 1)
      else Y.Text.prototype.insert.call(place.type, place.index + 1, '#~')
    })
    for (const block of blocksIn(after)) {
      const units = block.units ?? []
      const at = units.findIndex(({ id }) => id === left.id)
      if (at === -1) continue
      expect(units[at + 1]?.id).toBe(right.id)
      if (isDeletion) units.splice(at, 1)
      else
        units.splice(
          at + 1,
          0,
          ...'#~'.split('').map((character, n) => ({
            character,
            marks: null,
            id: `${clientId}:${firstClock(this.#client, clock) + n}`,
          })),
        )
    }
    return { update: update as Uint8Array, expected: after }
  }

  /**
   * Returns which white space the new text of an edit may have. A replacement keeps the stored white space of its
   * quote. Null: the model does not determine the result.
   */
  #spaceOf(root: Block, { replace }: EditRequest): 'given' | 'any' | null {
    if (replace === undefined) return 'given'
    let text = ''
    const rejection = errorOf(() => {
      const target = resolve(root, this.#kind.rules, replace.find)
      if (target.is !== 'ranges') return
      const units = target.ranges.flatMap(({ block, start, end }) => (block.units ?? []).slice(start, end))
      text = units.map(({ character }) => character).join('')
    })
    if (rejection !== null) return 'given'
    return /\s{2}/.test(text) ? null : text.includes('\n') ? 'any' : 'given'
  }

  #read = (doc: Y.Doc): ReadRoot => readBlocks(doc, this.#kind.key, this.#kind.rules.kind)
}

interface Chosen {
  readonly edits: EditRequest[]
  readonly expected: Block
  /** Code of the error with which the last edit must be rejected; null if the request must be accepted. */
  readonly rejection: string | null
  /** Whether new text can have other white space. */
  readonly isLoose: boolean
}

interface Typed {
  readonly update: Uint8Array
  readonly expected: Block
}

/** Returns the clock of the first new character. */
function firstClock({ store }: Y.Doc, from: number): number {
  for (const item of store.clients.get(clientId) ?? [])
    if (
      item.id.clock + item.length > from &&
      item instanceof Y.Item &&
      item.content instanceof Y.ContentString
    )
      return Math.max(from, item.id.clock)
  return from
}

const blocksIn = (block: Block): Block[] => [block, ...block.blocks.flatMap(blocksIn)]

/** Returns the neighbors that an edit does not separate. */
function keptPairs(before: Block, after: Block): [Unit, Unit][] {
  const next = new Map<string, string | null>()
  for (const { units } of blocksIn(after))
    for (const [index, { id }] of (units ?? []).entries())
      if (id !== null) next.set(id, units?.[index + 1]?.id ?? null)
  return blocksIn(before).flatMap(({ units }) =>
    (units ?? []).flatMap((unit, index): [Unit, Unit][] => {
      const right = units?.[index + 1]
      const isPair = right !== undefined && next.get(unit.id as string) === right.id
      const isPlain = unit.isAtom !== true && unit.isEmbed !== true && !/[\ud800-\udbff]/.test(unit.character)
      return isPair && isPlain ? [[unit, right]] : []
    }),
  )
}

const isEmpty = (root: Block): boolean => root.blocks.length === 0 && (root.units ?? []).length === 0

function errorOf(act: () => void): string | null {
  try {
    act()
  } catch (error) {
    if (error instanceof ModelError) return error.code
    throw error
  }
  return null
}

const sorted = (value: object | null): string =>
  value === null ? '' : JSON.stringify(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))

/** Compares content with the content that the model expects. @param isLoose accepts any white space in new text */
function compare(actual: Block, expected: Block, isLoose: boolean): void {
  const isSame =
    actual.name === expected.name &&
    (expected.id === null || actual.id === expected.id) &&
    sameAttributes(actual.attributes, expected.attributes) &&
    sameUnits(actual.units ?? [], expected.units ?? [], isLoose) &&
    actual.blocks.length === expected.blocks.length
  // The assertion is expensive, and it shows the difference.
  if (!isSame) expect(described(actual)).toEqual(described(expected))
  expect(isSame).toBe(true)
  for (const [index, block] of actual.blocks.entries())
    compare(block, expected.blocks[index] as Block, isLoose)
}

const sameAttributes = (actual: object | null, expected: object | null): boolean =>
  actual === expected || sorted(actual) === sorted(expected)

const sameUnits = (actual: readonly Unit[], expected: readonly Unit[], isLoose: boolean): boolean =>
  actual.length === expected.length &&
  actual.every((unit, index) => {
    const wanted = expected[index] as Unit
    const isSpace = isLoose && wanted.id === null && /\s/.test(wanted.character) && /\s/.test(unit.character)
    return (
      (unit.character === wanted.character || isSpace) &&
      (wanted.id === null || wanted.id === unit.id) &&
      (wanted.marks === null || sameAttributes(unit.marks, wanted.marks))
    )
  })

const described = ({ name, id, attributes, units, blocks }: Block): unknown => ({
  block: `${name} ${id} ${sorted(attributes)}`,
  units: (units ?? []).map((unit) => `${JSON.stringify(unit.character)} ${sorted(unit.marks)} ${unit.id}`),
  blocks: blocks.map((block) => `${block.name} ${block.id}`),
})

/** The content for messages: texts by their formatting. */
function shown({ name, attributes, units, blocks }: Block): unknown {
  const runs: string[] = []
  let last = ''
  for (const { character, marks } of units ?? []) {
    const form = sorted(marks)
    if (form === last && runs.length > 0) runs[runs.length - 1] += character
    else runs.push(`${form === '[]' ? '' : form}${character}`)
    last = form
  }
  return [name, attributes, ...(units === null ? blocks.map(shown) : [runs])]
}
